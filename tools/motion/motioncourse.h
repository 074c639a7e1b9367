/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lengths of motion vectors over the frames of a video and as a histogram, from the
 * packets of cudamotionest. One thread. */
#pragma once

#include "cuda/records/motionrecord.h"
#include "tools/report.h"

G_BEGIN_DECLS

typedef struct _MotionCourse MotionCourse;

MotionCourse *motion_course_new (void);
void motion_course_free (MotionCourse *course);
void motion_course_add (MotionCourse *course, const CvisMotionPacket *packet);

/* Mean length of all vectors, pixels; NaN without one */
gdouble motion_course_get_mean (const MotionCourse *course);
/* Adds the plots. */
void motion_course_report (const MotionCourse *course, Report *report);

G_END_DECLS
