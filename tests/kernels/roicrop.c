/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The crop's kernel compared with the CPU: many random planes in a call,
 * with all sizes, strides and alignments; bytes outside the crop stay
 * unchanged. */
#include "cuda/crop/roicrop.h"

#include <string.h>
#include "harness.h"

#define PLANES 150 /* more than in one launch */
#define POISON 0xa5

/* A random rectangle of a random plane, in device memory and for the CPU
 * copy. Addresses and strides are multiples of @word. */
typedef struct {
  CvisCropPlane on_device, on_host;
  guint8 *expected;
  guint8 *dst;
  gsize size;
} Case;

static gsize
round_up (gsize value, gsize word)
{
  return (value + word - 1) / word * word;
}

static Case
random_case (Harness *h, guint word)
{
  guint width = harness_size (h, 700), height = harness_size (h, 60);
  gsize stride = round_up (width + harness_range (h, 0, 40), word);
  gsize left = harness_range (h, 0, width - 1) / word * word;
  gsize top = harness_range (h, 0, height - 1), lead;
  guint8 *host = harness_host (h, stride * height);
  CvisCropPlane plane = {
    .src_stride = (gssize) stride,
    .row_bytes = (guint) harness_range (h, 1, (gint64) (width - left)),
    .rows = (guint) harness_range (h, 1, (gint64) (height - top)),
  };
  Case c;

  harness_fill (h, host, stride * height);
  plane.src = host + top * stride + left;
  /* sometimes bottom up */
  if (harness_range (h, 0, 4) == 0) {
    plane.src += (gssize) (plane.rows - 1) * plane.src_stride;
    plane.src_stride = -plane.src_stride;
  }
  plane.dst_stride =
      (gssize) round_up (plane.row_bytes + harness_range (h, 0, 30), word);
  lead = harness_range (h, 0, 20) * word;
  c.size = lead + plane.dst_stride * plane.rows;
  c.expected = harness_host (h, c.size);
  memset (c.expected, POISON, c.size);
  c.dst = harness_upload (h, c.expected, c.size);

  c.on_host = c.on_device = plane;
  c.on_host.dst = c.expected + lead;
  c.on_device.src =
      (guint8 *) harness_upload (h, host, stride * height) + (plane.src - host);
  c.on_device.dst = c.dst + lead;
  return c;
}

static CvisCrop *
new_crop (Harness *h, CvisContext *context)
{
  GError *error = NULL;
  CvisCrop *crop = cvis_crop_new (context, &error);

  if (crop == NULL)
    harness_fail (h, "%s", error->message);
  g_clear_error (&error);
  return crop;
}

static void
compare (Harness *h, CvisCrop *device, CvisCrop *host, guint n, guint word,
    gpointer stream)
{
  CvisCropPlane on_device[PLANES], on_host[PLANES];
  Case cases[PLANES];
  GError *error = NULL;
  guint i;

  harness_case (h, "%u planes, words of %u, %s stream", n, word,
      stream ? "a given" : "its own");
  for (i = 0; i < n; i++) {
    cases[i] = random_case (h, word);
    on_device[i] = cases[i].on_device;
    on_host[i] = cases[i].on_host;
  }
  HARNESS_CUDA (h, cudaStreamSynchronize (harness_stream (h)));
  if (!cvis_crop_copy (device, on_device, n, stream, &error)
      || !cvis_crop_wait (device, stream, &error)) {
    harness_fail (h, "%s", error->message);
    g_clear_error (&error);
    return;
  }
  cvis_crop_copy (host, on_host, n, NULL, NULL);
  for (i = 0; i < n; i++)
    harness_equal (h, "plane", HARNESS_U8, cases[i].expected,
        harness_download (h, cases[i].dst, cases[i].size), cases[i].size);
}

static void
check_planes (Harness *h)
{
  CvisCrop *device = new_crop (h, harness_context (h));
  CvisCrop *host = new_crop (h, NULL);
  guint word, n;

  if (device == NULL)
    return;
  for (word = 1; word <= 16; word *= 2)
    for (n = 1; n <= PLANES; n += 149)
      compare (h, device, host, n, word, NULL);
  compare (h, device, host, 7, 1, harness_stream (h));
  cvis_crop_free (device);
  cvis_crop_free (host);
}

/* --- benchmarks ---------------------------------------------------------- */

typedef struct {
  CvisCrop *crop;
  CvisCropPlane *planes;
  guint n;
} Work;

static void
enqueue (cudaStream_t stream, guint round, gpointer user_data)
{
  const Work *work = user_data;

  cvis_crop_copy (work->crop, work->planes, work->n, stream, NULL);
}

/* @n crops of @side x @side bytes from frames of @frame x @frame. */
static void
bench_crops (Harness *h, guint n, guint frame, guint side, guint left)
{
  guint8 *src, *dst;
  Work work = { new_crop (h, harness_context (h)), g_new (CvisCropPlane, n),
    n };
  gchar *label = g_strdup_printf ("%u crops of %ux%u out of %ux%u, column %u",
      n, side, side, frame, frame, left);
  HarnessBench bench = { .label = label,
    .func = enqueue,
    .user_data = &work,
    .bytes = 2.0 * n * side * side };
  guint i;

  harness_case (h, "%s", label);
  src = harness_device (h, (gsize) n * frame * frame);
  dst = harness_device (h, (gsize) n * side * side);
  for (i = 0; i < n; i++)
    work.planes[i] = (CvisCropPlane){
      .src = src + ((gsize) i * frame + frame / 4) * frame + left,
      .src_stride = frame,
      .dst = dst + (gsize) i * side * side,
      .dst_stride = side,
      .row_bytes = side,
      .rows = side,
    };
  harness_bench (h, &bench);
  cvis_crop_free (work.crop);
  g_free (work.planes);
  g_free (label);
}

static void
bench_planes (Harness *h)
{
  bench_crops (h, 256, 96, 40, 16);
  bench_crops (h, 256, 96, 40, 17);
  bench_crops (h, 1, 2160, 512, 512);
  bench_crops (h, 64, 2160, 512, 512);
  bench_crops (h, 64, 2160, 512, 515);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "crop_planes", check_planes, bench_planes },
    { NULL },
  };

  return harness_main (argc, argv, tests);
}
