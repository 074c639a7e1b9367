/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The results of a frame that need only its fields and those of the frames before:
 * constant blocks, summaries, duplicates. The same code for every backend; called by the
 * engine, or in chunks by the user of a fleet. */
#pragma once

#include "cuda/motion/constant.h"

G_BEGIN_DECLS

/* Call it once for each frame that has been searched, in the order of the stream.
 * @constant: of the stream; the flags of @job tell where a stream begins */
void motion_finish (
    const MotionConfig *config, MotionConstant *constant, MotionJob *job);

G_END_DECLS
