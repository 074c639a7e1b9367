/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sends results to the machine: a UDP datagram of 896 bytes for each record, sent
 * at once by the thread that receives it from the engine. */
#pragma once

#include <gst/gst.h>
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

typedef struct _GstPbfResultLink GstPbfResultLink;

/* Returns: %NULL with @error if @host has no address or no socket can be made */
GstPbfResultLink *gst_pbf_result_link_new (
    const gchar *host, guint port, GError **error);
void gst_pbf_result_link_free (GstPbfResultLink *link);

/* Never waits: records that the network does not accept at once are dropped.
 * Returns: how many have been sent */
guint gst_pbf_result_link_send (
    GstPbfResultLink *link, const CvisPbfResult *results, guint n);

G_END_DECLS
