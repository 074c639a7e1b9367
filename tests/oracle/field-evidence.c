/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What the CPU backend finds with method=field, for
 * tests/bench/motion/motion_confidence.py.
 *
 *   field-evidence width=W height=H <luma
 *
 * Reads pairs of frames of 8 bits, the reference first. Writes the vector (two gint32)
 * and the evidence (MotionFieldEvidence) of each block of 16 x 16, at quarter
 * pixels and a range of 64. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/motion/backend.h"
#include "cuda/motion/cpu/cpu.h"

static gboolean
read_picture (const MotionCpuParams *params, MotionCpuPicture *picture,
    CvisPool *pool, guint8 *luma)
{
  const MotionConfig *config = &params->config;
  MotionJob job = { .luma = luma, .stride = config->width };

  if (fread (luma, config->width, config->height, stdin) != config->height)
    return FALSE;
  motion_cpu_picture_load (params, picture, &job);
  motion_cpu_field_picture_prepare (picture->field, pool);
  return TRUE;
}

int
main (int argc, char **argv)
{
  MotionConfig config;
  MotionCpuParams params;
  MotionCpuPicture reference, current;
  MotionCpuField *field;
  CvisPool *pool = cvis_pool_new (1);
  guint8 *luma;

  motion_config_init (&config);
  config.method = MOTION_METHOD_FIELD;
  config.block_size = 16;
  config.subpel = MOTION_SUBPEL_QUARTER;
  if (argc != 3 || sscanf (argv[1], "width=%u", &config.width) != 1
      || sscanf (argv[2], "height=%u", &config.height) != 1
      || !motion_config_check (&config, NULL)) {
    fprintf (stderr, "usage: field-evidence width=W height=H <luma\n");
    return 2;
  }
  motion_cpu_params_init (&params, &config, 1);
  field = motion_cpu_field_new (&config, NULL);
  luma = g_malloc ((gsize) config.width * config.height);
  if (field == NULL || !motion_cpu_picture_init (&params, &reference, NULL)
      || !motion_cpu_picture_init (&params, &current, NULL))
    return 1;
  while (read_picture (&params, &reference, pool, luma)) {
    if (!read_picture (&params, &current, pool, luma))
      return 1;
    motion_cpu_field_search (field, current.field, reference.field, pool);
    for (gint32 i = 0; i < field->grids[0].n; i++)
      if (fwrite (&field->grids[0].vectors[i], sizeof (MotionFieldVector), 1,
              stdout)
              != 1
          || fwrite (
                 &field->evidence[i], sizeof (MotionFieldEvidence), 1, stdout)
                 != 1)
        return 1;
  }
  motion_cpu_picture_clear (&reference);
  motion_cpu_picture_clear (&current);
  motion_cpu_field_free (field);
  motion_cpu_params_clear (&params);
  cvis_pool_free (pool);
  g_free (luma);
  return 0;
}
