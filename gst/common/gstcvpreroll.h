/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A word about pipelines that cannot start. An element that pushes several pads
 * from one thread stands still when a sink behind one of them, with no queue
 * between, keeps its first buffer until the sink behind the next one has its
 * own: silence, were it not remarked on. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Call before the first push on @pad. A warning is posted if the push takes
 * long, the pipeline is not through its preroll and @next, which is pushed
 * after it, is linked. */
GstClockID gst_cv_preroll_watch (GstPad *pad, GstPad *next);
/* Call after the push. Takes @watch. */
void gst_cv_preroll_unwatch (GstClockID watch);

G_END_DECLS
