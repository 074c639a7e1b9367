/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Step search: ever finer grids round the best so far. */
#include "cuda/motion/cpu/search.h"

static void
step_visit_grid (MotionCpuSearch *s, gint32 half, gint32 spacing)
{
  MotionPoint centre = s->best;

  for (gint32 j = -half; j <= half; j++)
    for (gint32 i = -half; i <= half; i++)
      if (i != 0 || j != 0)
        motion_search_visit (s, centre.x + i * spacing, centre.y + j * spacing);
}

void
MOTION_CPU (step) (MotionCpuSearch *s)
{
  const MotionConfig *config = &s->params->config;
  MotionGranularity granularity = config->granularity;
  gint32 half = motion_step_half (granularity);
  gint32 spacing = motion_step_first (granularity, config->range);

  motion_search_visit (s, 0, 0);
  for (; spacing > 0; spacing = motion_step_next (granularity, spacing))
    step_visit_grid (s, half, spacing);
}
