/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The regularised field (method=field): memory and the order of the launches. Nothing
 * returns to the host before the results. */
#include "cuda/motion/cuda/engine.cuh"

namespace {

/* Places @n elements; each array begins at a multiple of 16 bytes. */
template <typename T>
void
cut_array (guint8 *memory, gsize *size, gsize n, T **array)
{
  *array = (T *) (memory + *size);
  *size += (n * sizeof (T) + 15) / 16 * 16;
}

void
cut_grid (const MotionConfig *config, guint level, guint8 *memory, gsize *size,
    MotionFieldGrid *grid)
{
  gsize n;

  grid->columns = motion_field_blocks (config, config->width, level);
  grid->rows = motion_field_blocks (config, config->height, level);
  grid->n = grid->columns * grid->rows;
  n = (gsize) grid->n;
  for (guint i = 0; i < 3; i++)
    cut_array (memory, size, n, &grid->vectors[i]);
  cut_array (memory, size, n, &grid->inherited);
  cut_array (memory, size, n, &grid->expected);
  cut_array (memory, size, n, &grid->weights);
}

/* Squares of all sizes above a block. */
gsize
count_cells (gint32 columns, gint32 rows)
{
  gsize n = 0;

  while (columns > 1 || rows > 1) {
    columns = (columns + 1) / 2;
    rows = (rows + 1) / 2;
    n += (gsize) columns * (gsize) rows;
  }
  return n;
}

} // namespace

gsize
motion_field_memory_cut (
    const MotionConfig *config, guint8 *memory, MotionFieldMemory *result)
{
  const gsize side =
      (gsize) (2 * motion_field_range (config, MOTION_FIELD_COARSEST) + 1);
  gsize cells = 0, size = 0;
  MotionFieldMemory m;

  for (guint i = 0; i < MOTION_FIELD_LEVELS; i++) {
    cut_grid (config, i, memory, &size, &m.grids[i]);
    cells = MAX (cells, count_cells (m.grids[i].columns, m.grids[i].rows));
  }
  cut_array (memory, &size, 1, &m.state);
  cut_array (memory, &size,
      (gsize) m.grids[MOTION_FIELD_COARSEST].n * side * side, &m.costs);
  cut_array (memory, &size, side * side, &m.sums);
  cut_array (memory, &size, cells, &m.cells);
  cut_array (memory, &size, (gsize) m.grids[1].n, &m.means);
  cut_array (memory, &size, (gsize) m.grids[MOTION_FIELD_AMBIGUITY_LEVEL].n,
      &m.ambiguities);
  cut_array (memory, &size, (gsize) m.grids[0].n, &m.gains);
  cut_array (memory, &size, (gsize) m.grids[0].n, &m.queue);
  m.stride = size;
  if (result != NULL)
    *result = m;
  return size;
}

cudaError_t
motion_launch_field_above (
    const MotionDeviceTask *task, guint *vectors, cudaStream_t stream)
{
  cudaError_t code = motion_launch_field_coarsest (task, stream);

  *vectors = (MOTION_FIELD_COARSEST_PASSES - 1) % 2;
  for (guint level = MOTION_FIELD_COARSEST - 1; level > 0; level--) {
    if (code == cudaSuccess)
      code = motion_launch_field_level (task, level, *vectors, vectors, stream);
    if (code == cudaSuccess && level == MOTION_FIELD_AMBIGUITY_LEVEL)
      code = motion_launch_field_ambiguity (task, *vectors, stream);
  }
  return code == cudaSuccess
             ? motion_launch_field_light (task, *vectors, stream)
             : code;
}

cudaError_t
motion_launch_field (const MotionDeviceTask *task, cudaStream_t stream)
{
  guint vectors;
  cudaError_t code = motion_launch_field_above (task, &vectors, stream);

  if (code == cudaSuccess)
    code = motion_launch_field_level (task, 0, vectors, &vectors, stream);
  return code == cudaSuccess
             ? motion_launch_field_finish (task, vectors, stream)
             : code;
}
