/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Launches of the low-pass filters on the device, and their tables. */
#include <type_traits>

#include "cuda/core/device/arena.cuh"
#include "cuda/lifting/cuda/device.cuh"
#include "cuda/lifting/cuda/launch.cuh"

#include "cuda/lifting/cuda/smoothcolumns.cuh"

namespace {

/* A kernel that runs FUNCTION of its task. */
template <typename Task, void (*FUNCTION) (const Task &)>
__global__ void
__launch_bounds__ (LWT_SMOOTH_THREADS)
    smooth_kernel (LWT_PARAMETER (Task, task))
{
  lwt_wait_for_previous ();
  FUNCTION (task);
}

/* Five blocks share a multiprocessor, so that they wait at different barriers; doubles
 * need more registers. */
template <typename T, typename Task, void (*FUNCTION) (const Task &, T *)>
__global__ void
__launch_bounds__ (LWT_SMOOTH_THREADS, sizeof (T) == 4 ? 5 : 2)
    smooth_shared_kernel (LWT_PARAMETER (Task, task))
{
  lwt_wait_for_previous ();
  FUNCTION (task, (T *) LWT_SHARED);
}

/* Blocks that share the registers of a multiprocessor */
constexpr int
count_column_blocks (gsize element)
{
  return element == 4 ? 3 : 2;
}

template <typename T, typename Task, void (*FUNCTION) (const Task &)>
__global__ void
__launch_bounds__ (LWT_SMOOTH_COLUMN_THREADS, count_column_blocks (sizeof (T)))
    smooth_columns_kernel (LWT_PARAMETER (Task, task))
{
  lwt_wait_for_previous ();
  FUNCTION (task);
}

/* Starts a kernel with @bytes of shared memory. */
template <typename Task>
gboolean
start_shared (void (*kernel) (Task), const Task &task, dim3 grid, gsize bytes,
    cudaStream_t stream, GError **error)
{
  return (bytes <= 49152
             || CVIS_CUDA (
                 cudaFuncSetAttribute ((const void *) kernel,
                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes),
                 error))
         && lwt_launch (kernel, "a filter's kernel", grid, LWT_SMOOTH_THREADS,
             bytes, stream, task, error);
}

} // namespace

#define SMOOTH_START_SHARED(                                                   \
    kernel, element, task, blocks, rows, bytes, stream, error)                 \
  start_shared (smooth_shared_kernel<element,                                  \
                    typename std::decay<decltype (task)>::type, kernel>,       \
      task, dim3 ((guint) (blocks), (guint) MIN ((rows), MOST_BLOCK_ROWS)),    \
      (bytes), (stream), (error))

#define SMOOTH_START(kernel, task, threads, rows, stream, error)               \
  lwt_launch (                                                                 \
      smooth_kernel<typename std::decay<decltype (task)>::type, kernel>,       \
      "a filter's kernel", get_smooth_grid ((gsize) (threads), (gint) (rows)), \
      LWT_SMOOTH_THREADS, 0, (stream), (task), (error))

#define SMOOTH_START_COLUMNS(                                                  \
    kernel, element, task, columns, rows, stream, error)                       \
  lwt_launch (smooth_columns_kernel<element,                                   \
                  typename std::decay<decltype (task)>::type, kernel>,         \
      "a filter's kernel", get_column_grid ((gint) (columns), (gint) (rows)),  \
      LWT_SMOOTH_COLUMN_THREADS, 0, (stream), (task), (error))

#include "cuda/lifting/cuda/smoothsteps.cuh"

namespace {

gboolean
copy_table (const LwtDeviceSmoother *s, const Table *table, cudaStream_t stream,
    GError **error)
{
  const gsize size = lwt_type_get_size (s->plan->config.type);
  gpointer values = g_malloc0 (table->padded * size);
  gboolean ok;

  for (gsize i = 0; i < table->n; i++)
    if (size == sizeof (gfloat))
      ((gfloat *) values)[i] = (gfloat) table->values[i];
    else
      ((gdouble *) values)[i] = table->values[i];
  ok = CVIS_CUDA (cudaMemcpyAsync (*table->device, values, table->padded * size,
                      cudaMemcpyHostToDevice, stream),
           error)
       && CVIS_CUDA (cudaStreamSynchronize (stream), error);
  g_free (values);
  return ok;
}

} // namespace

extern "C" gboolean
lwt_device_smoother_fill (
    LwtDeviceSmoother *s, cudaStream_t stream, GError **error)
{
  Table tables[N_TABLES];
  int device, multiprocessors;

  if (!CVIS_CUDA (cudaGetDevice (&device), error)
      || !CVIS_CUDA (cudaDeviceGetAttribute (&multiprocessors,
                         cudaDevAttrMultiProcessorCount, device),
          error))
    return FALSE;
  s->column_blocks =
      multiprocessors
      * count_column_blocks (lwt_type_get_size (s->plan->config.type));
  for (guint which = 0; which < 3; which++)
    for (guint axis = 0; axis < 2; axis++) {
      list_tables (s, which, axis, tables);
      for (guint i = 0; i < N_TABLES; i++)
        if (tables[i].values != NULL && tables[i].padded > 0
            && !copy_table (s, &tables[i], stream, error))
          return FALSE;
    }
  return TRUE;
}
