/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/summary.h"

#include <math.h>

#include "cuda/motion/constant.h"

/* Zero; 1; 2 to 3; 4 to 7; ... */
static guint
histogram_bin (const CvisMotionVector *vector)
{
  guint length = (guint) MAX (ABS ((gint) vector->x), ABS ((gint) vector->y));

  return length == 0 ? 0
                     : MIN (g_bit_storage (length),
                         (guint) CVIS_MOTION_HISTOGRAM_BINS - 1);
}

static gdouble
psnr (const MotionConfig *config, guint64 samples, guint64 sse)
{
  gdouble peak = (1 << config->depth) - 1;

  return sse == 0 ? INFINITY
                  : 10.0 * log10 (peak * peak * (gdouble) samples / sse);
}

void
motion_summarise (const MotionConfig *config, MotionField *field)
{
  guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);
  guint64 unexplained = 0, samples;
  CvisMotionSummary s = { 0 };

  for (guint i = 0; i < n; i++) {
    const CvisMotionBlock *block = &field->blocks[i];

    if (block->flags & CVIS_MOTION_BLOCK_CONSTANT)
      continue;
    s.residue += block->sad;
    s.zero_residue += block->zero_sad;
    s.intra += block->intra;
    s.sse += block->sse;
    s.static_blocks += (block->flags & CVIS_MOTION_BLOCK_STATIC) != 0;
    s.intra_blocks += (block->flags & CVIS_MOTION_BLOCK_INTRA_LIKE) != 0;
    s.histogram[histogram_bin (&field->vectors[i])]++;
    unexplained += MIN (block->sad, block->intra);
  }
  motion_count_used (config, field, &samples);
  s.psnr = psnr (config, samples, s.sse);
  s.scene_score = s.intra > 0 ? (gdouble) unexplained / s.intra : 0.0;
  motion_find_global (config, field, &s);
  field->summary = s;
}
