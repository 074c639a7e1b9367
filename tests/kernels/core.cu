/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Pinned memory: data comes back unchanged, by copy engine and read in
 * place. Pageable memory by way of bounce buffers. */
#include "harness.h"

#include <string.h>

#include "cuda/core/device/bounce.cuh"

static void
check_round_trip (Harness *h)
{
  for (guint i = 0; i < 60; i++) {
    guint n = harness_size (h, 8 << 20);
    gpointer in, out, device;

    harness_case (h, "n=%u", n);
    in = harness_pinned (h, n);
    out = harness_pinned (h, n);
    device = harness_device (h, n);
    harness_fill (h, in, n);
    HARNESS_CUDA (h, cudaMemcpyAsync (device, in, n, cudaMemcpyHostToDevice,
                         harness_stream (h)));
    HARNESS_CUDA (h, cudaMemcpyAsync (out, device, n, cudaMemcpyDeviceToHost,
                         harness_stream (h)));
    HARNESS_CUDA (h, cudaStreamSynchronize (harness_stream (h)));
    harness_equal (h, "bytes", HARNESS_U8, in, out, n);
  }
}

static __global__ void
invert_kernel (const guint8 *in, guint8 *out, guint n)
{
  guint i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n)
    out[i] = (guint8) ~in[i];
}

/* a kernel reads and writes pinned memory at the host's addresses */
static void
check_in_place (Harness *h)
{
  for (guint i = 0; i < 40; i++) {
    guint n = harness_size (h, 1 << 20);
    guint8 *in, *out, *expected;

    harness_case (h, "n=%u", n);
    in = (guint8 *) harness_pinned (h, n);
    out = (guint8 *) harness_pinned (h, n);
    expected = (guint8 *) harness_host (h, n);
    harness_fill (h, in, n);
    for (guint k = 0; k < n; k++)
      expected[k] = (guint8) ~in[k];
    invert_kernel<<<(n + 255) / 256, 256, 0, harness_stream (h)>>> (in, out, n);
    HARNESS_CUDA (h, cudaGetLastError ());
    HARNESS_CUDA (h, cudaStreamSynchronize (harness_stream (h)));
    harness_equal (h, "bytes", HARNESS_U8, expected, out, n);
  }
}

static void
check_alignment (Harness *h)
{
  for (guint i = 0; i < 20; i++) {
    guint n = harness_size (h, 100000);
    GError *error = NULL;
    gpointer memory = cvis_pinned_alloc (harness_context (h), n, &error);

    harness_case (h, "n=%u", n);
    if (memory == NULL) {
      harness_fail (h, "%s", error->message);
      g_clear_error (&error);
    } else if ((gsize) memory & 255) {
      harness_fail (h, "address %p is not aligned to 256 bytes", memory);
    }
    cvis_pinned_free (harness_context (h), memory);
  }
}

/* Arrays one after the other, from memory that is overwritten meanwhile, up and down */
static void
check_bounce (Harness *h)
{
  static const guint elements[] = { 1, 4, 16, 4096, 100000 };

  for (guint i = 0; i < 15; i++) {
    const guint pieces = 2 + i % 3, bytes = elements[i / 3];
    GError *error = NULL;
    CvisBounce *bounce;

    harness_case (h, "bytes=%u pieces=%u threads=%u", bytes, pieces, i % 4);
    bounce = cvis_bounce_new (1 << 20, pieces, i % 4, &error);
    for (guint k = 0; k < 4 && error == NULL; k++) {
      const guint n = harness_size (h, (9 << 20) / bytes), size = n * bytes;
      gpointer in = harness_host (h, size), expected = harness_host (h, size);
      gpointer device = harness_device (h, size), out = harness_host (h, size);
      CvisRows rows = { in, bytes, device, bytes, bytes, n, FALSE, TRUE };

      harness_fill (h, in, size);
      memcpy (expected, in, size);
      if (cvis_bounce_up (bounce, &rows, harness_stream (h), &error)) {
        memset (in, 0, size);
        rows.host = out;
        if (cvis_bounce_down (bounce, &rows, harness_stream (h), &error))
          harness_equal (h, "bytes", HARNESS_U8, expected, out, size);
      }
    }
    if (error != NULL)
      harness_fail (h, "%s", error->message);
    g_clear_error (&error);
    cvis_bounce_free (bounce);
  }
}

#define TURNS 4

typedef struct {
  gsize size;
  gpointer host[TURNS], device[TURNS];
  gboolean to_device;
} Copies;

static void
copy_round (cudaStream_t stream, guint round, gpointer user_data)
{
  Copies *copies = (Copies *) user_data;
  guint turn = round % TURNS;

  if (copies->to_device)
    cudaMemcpyAsync (copies->device[turn], copies->host[turn], copies->size,
        cudaMemcpyHostToDevice, stream);
  else
    cudaMemcpyAsync (copies->host[turn], copies->device[turn], copies->size,
        cudaMemcpyDeviceToHost, stream);
}

/* Lists of 256 frames of 96x96 and of 1024, to the device and back, compared
 * with the largest transfer measured in the same run. */
static void
bench_copies (Harness *h)
{
  static const gsize sizes[] = { (gsize) 64 << 20, 256 * 9216, 1024 * 9216 };

  for (guint to_device = 0; to_device < 2; to_device++) {
    gdouble limit = 0;

    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
      Copies copies = { sizes[i], {}, {}, (gboolean) to_device };
      gchar *label = g_strdup_printf ("%s, %.2f MB",
          to_device ? "host to device" : "device to host", sizes[i] / 1e6);
      HarnessBench bench = { label, copy_round, &copies, (gdouble) sizes[i],
        limit, "a copy of 64 MiB", NULL };
      gdouble seconds;

      harness_case (h, "%s", label);
      for (guint k = 0; k < TURNS; k++) {
        copies.host[k] = harness_pinned (h, sizes[i]);
        copies.device[k] = harness_device (h, sizes[i]);
      }
      seconds = harness_bench (h, &bench);
      if (limit == 0 && seconds > 0)
        limit = sizes[i] / seconds;
      g_free (label);
    }
  }
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "round-trip", check_round_trip, bench_copies },
    { "in-place", check_in_place, NULL },
    { "alignment", check_alignment, NULL },
    { "bounce", check_bounce, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
