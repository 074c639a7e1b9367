/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/finish.h"

#include "cuda/motion/summary.h"

/* Whether all samples equal those of the reference. */
static gboolean
is_unchanged (const MotionConfig *config, const MotionField *field)
{
  guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);

  for (guint i = 0; i < n; i++)
    if (field->blocks[i].zero_sad > 0)
      return FALSE;
  return TRUE;
}

void
motion_finish (
    const MotionConfig *config, MotionConstant *constant, MotionJob *job)
{
  if (job->flags & CVIS_MOTION_FRAME_FIRST)
    motion_constant_restart (constant);
  motion_constant_mark (constant, job->fields, job->n_fields);
  for (guint i = 0; i < job->n_fields; i++) {
    motion_summarise (config, &job->fields[i]);
    if (job->fields[i].distance == -1 && is_unchanged (config, &job->fields[i]))
      job->flags |= CVIS_MOTION_FRAME_DUPLICATE;
  }
}
