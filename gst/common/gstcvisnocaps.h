/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The error about buffers that come without caps, for elements that need caps:
 * most often they are an encoded file without its decoder. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Posts an error of @element about @buffer, the first of the stream. If the format
 * of its bytes is known, the error names it and the element that decodes it, or
 * the package of this element. */
void gst_cvis_post_no_caps (GstElement *element, GstBuffer *buffer);

G_END_DECLS
