/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Base class of the sources of melt-pool frames: a GstBaseSrc that pushes buffer
 * lists, with frames in downstream's pool.
 *
 * gst_base_src_submit_buffer_list() is not used: in GStreamer 1.22 the base class
 * unrefs a NULL buffer if EOS or a change of state comes between create() and the
 * push. Here create() returns the first buffer of a list, and a probe on the source
 * pad pushes the list in its place. */
#pragma once

#include <gst/base/gstbasesrc.h>
#include <gst/cudavision/gstpbfmeta.h>
#include "cuda/camera/signallayout.h"

G_BEGIN_DECLS

#define GST_TYPE_PBF_LIST_SRC (gst_pbf_list_src_get_type ())
G_DECLARE_DERIVABLE_TYPE (
    GstPbfListSrc, gst_pbf_list_src, GST, PBF_LIST_SRC, GstBaseSrc)

struct _GstPbfListSrcClass {
  GstBaseSrcClass parent_class;
};

/* For create(): @buffer is the first of @list, which is pushed when create() has
 * returned OK.
 * @list: (transfer full): at least one buffer */
void gst_pbf_list_src_hand_out (
    GstPbfListSrc *self, GstBufferList *list, GstBuffer **buffer);

/* For the beginning of create(), and stop(): drops a list that was not pushed. */
void gst_pbf_list_src_forget (GstPbfListSrc *self);

/* For decide_allocation(): chooses downstream's pool if it can hold @needed buffers
 * of @size bytes, else a new pool without a limit. Posts an error if there is
 * none. */
gboolean gst_pbf_list_src_decide_pool (
    GstPbfListSrc *self, GstQuery *query, guint size, guint needed);

/* The meta of @buffer, added if there is none. It stays on buffers of a pool, so
 * that it is allocated once. */
GstCvisPbfSignalMeta *gst_pbf_list_src_signal_meta (GstBuffer *buffer);
/* For start(): sets the layout @text of the property signal-layout; empty: records
 * of the camera link. Posts an error and returns FALSE if it is invalid. */
gboolean gst_pbf_list_src_set_layout (GstPbfListSrc *self, const gchar *text);
/* Sets the meta from the 64 bytes that came with a frame; NULL: @buffer has none.
 * @frame: frame_counter, t_ns, width and height for vectors of another layout */
void gst_pbf_list_src_set_signal (GstPbfListSrc *self, GstBuffer *buffer,
    const guint8 *bytes, const CvisPbfSignal *frame);
/* The same with a @layout; NULL: records of the camera link. */
void gst_pbf_list_src_read_signal (const PbfSignalLayout *layout,
    GstBuffer *buffer, const guint8 *bytes, const CvisPbfSignal *frame);
/* The layout of signal-layout; NULL: records of the camera link. */
const PbfSignalLayout *gst_pbf_list_src_get_layout (GstPbfListSrc *self);
/* Keeps @meta on @buffer, if that comes from a pool. */
void gst_pbf_list_src_keep_meta (GstBuffer *buffer, GstMeta *meta);

G_END_DECLS
