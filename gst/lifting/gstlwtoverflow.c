/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlwtoverflow.h"

#include <math.h>

/* samples that are tested along a side */
#define LOOKS 64

/**
 * Grid: the samples that are tested
 * @n: number of them along x and y
 * @of: size of the raster that they are spread over
 * @step: distance of that raster's samples in the component
 */
typedef struct {
  guint n[2], of[2], step[2];
} Grid;

static void
set_side (Grid *grid, guint axis, guint of, guint step)
{
  grid->n[axis] = MIN (of, LOOKS);
  grid->of[axis] = of;
  grid->step[axis] = step;
}

static guint
get_place (const Grid *grid, guint axis, guint i)
{
  const guint64 middle = (2 * (guint64) i + 1) * grid->of[axis];

  return (guint) (middle / (2 * grid->n[axis])) * grid->step[axis];
}

/* The grid of the last low band, to which every level contributes. */
static Grid
bands_grid (const LwtConfig *config)
{
  guint sides[2];
  Grid grid;

  lwt_config_get_bands_size (config, &sides[0], &sides[1]);
  for (guint axis = 0; axis < 2; axis++) {
    const guint levels = config->levels[axis];

    set_side (&grid, axis, (sides[axis] + (1u << levels) - 1) >> levels,
        config->layout == LWT_LAYOUT_INTERLEAVED ? 1u << levels : 1);
  }
  return grid;
}

static gboolean
is_finite (const LwtPlane *plane, LwtType type, guint x, guint y)
{
  const guint8 *row = (const guint8 *) plane->data + y * plane->stride;

  return type == LWT_TYPE_F64 ? isfinite (((const gdouble *) row)[x])
                              : isfinite (((const gfloat *) row)[x]);
}

/* Whether a sample is finite; integers always are. */
static gboolean
is_there (const LwtJob *job, LwtSample sample, guint x, guint y)
{
  const guint8 *row = (const guint8 *) job->data + y * job->stride;

  if (sample == LWT_SAMPLE_F64)
    return isfinite (((const gdouble *) row)[x]);
  return sample != LWT_SAMPLE_F32 || isfinite (((const gfloat *) row)[x]);
}

static gboolean
overflows (const LwtJob *job, const LwtConfig *config, CvisSurfacePart part)
{
  const gboolean bands = part == CVIS_SURFACE_PART_BANDS;
  Grid grid;

  if (bands) {
    grid = bands_grid (config);
  } else {
    set_side (&grid, 0, config->width, 1);
    set_side (&grid, 1, config->height, 1);
  }
  for (guint j = 0; j < grid.n[1]; j++)
    for (guint i = 0; i < grid.n[0]; i++) {
      const guint x = get_place (&grid, 0, i), y = get_place (&grid, 1, j);

      /* bands have no missing points */
      if (!is_finite (&job->parts[part], config->type, x, y)
          && (bands || is_there (job, config->sample, x, y)))
        return TRUE;
    }
  return FALSE;
}

gboolean
gst_lwt_frame_find_overflow (
    const GstLwtFrame *frame, const LwtConfig *config, CvisSurfacePart *part)
{
  if (config->type == LWT_TYPE_I32
      || config->operation == LWT_OPERATION_INVERSE)
    return FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const LwtJob *job = &frame->job;

    if (job->parts[i].data != NULL
            ? overflows (job, config, (CvisSurfacePart) i)
            : (job->measured & (1u << i)) != 0
                  && !isfinite (job->parameters[i].mean)) {
      *part = (CvisSurfacePart) i;
      return TRUE;
    }
  }
  return FALSE;
}
