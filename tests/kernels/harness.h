/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What every test of a CUDA kernel shares. A test is one file, .cu or .c, with a
 * table of checks and main() calling harness_main(); one line in meson.build.
 *
 *   static void
 *   check_sum (Harness *h)
 *   {
 *     for (guint i = 0; i < 50; i++) {
 *       guint n = harness_size (h, 100000);
 *       harness_case (h, "n=%u", n);
 *       gint32 *in = harness_host (h, n * sizeof *in);
 *       harness_fill (h, in, n * sizeof *in);
 *       gint32 *expected = harness_host (h, sizeof *expected);
 *       sum_c (in, n, expected);
 *       gint32 *d_out = harness_device (h, sizeof *d_out);
 *       sum_cuda (harness_upload (h, in, n * sizeof *in), n, d_out,
 *           harness_stream (h));
 *       harness_equal (h, "sum", HARNESS_I32, expected,
 *           harness_download (h, d_out, sizeof *d_out), 1);
 *     }
 *   }
 *
 * Inputs are random from a seed that is printed and can be given (--seed).
 * Outputs are poisoned and every buffer lies between guard bytes, on the host
 * and on the device; the guards are looked at when a case ends, that is when
 * the next one or the check ends. Buffers of a case are freed then. After the
 * first mismatch of a check the rest of it only runs, it reports no more.
 *
 * Options: --list, --filter=TEXT, --seed=N, --bench; then names of tests, so that
 * several processes can run different ones. Without a device a test
 * says so in CUDA's own words and exits with 77 (skipped). */
#pragma once

#include <cuda_runtime_api.h>
#include "cuda/core/plane.h"

G_BEGIN_DECLS

typedef struct _Harness Harness;
typedef void (*HarnessFunc) (Harness *h);

/**
 * HarnessTest: a table of them ends with a name of %NULL
 * @name: the kernel
 * @check: compares it with its C reference implementation
 * @bench: (nullable): times it, for --bench
 */
typedef struct {
  const gchar *name;
  HarnessFunc check;
  HarnessFunc bench;
} HarnessTest;

int harness_main (int argc, char **argv, const HarnessTest *tests);

/* The device's context, current in the calling thread, and a stream of it. */
CvisContext *harness_context (Harness *h);
cudaStream_t harness_stream (Harness *h);
/* The seed of the run, and the name of the running test */
guint64 harness_seed (Harness *h);
const gchar *harness_test (Harness *h);

/* Starts a case; @format describes it in reports. */
void harness_case (Harness *h, const gchar *format, ...) G_GNUC_PRINTF (2, 3);
/* Reports a failure of the case. */
void harness_fail (Harness *h, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

/* Fails with CUDA's text unless @code is cudaSuccess. Returns: whether it is
 * cudaSuccess */
gboolean harness_cuda (Harness *h, cudaError_t code, const gchar *what);
#define HARNESS_CUDA(h, call) harness_cuda ((h), (call), #call)

/* --- random inputs -------------------------------------------------------- */

guint64 harness_random (Harness *h);
/* @low <= result <= @high */
gint64 harness_range (Harness *h, gint64 low, gint64 high);
/* A size from 1 to @max: tiny, round, round +- 1 and arbitrary ones. */
guint harness_size (Harness *h, guint max);
void harness_fill (Harness *h, gpointer bytes, gsize size);

/* --- buffers, poisoned, between guards ------------------------------------ */

/* All are aligned to 256 bytes and freed with the case. */
gpointer harness_host (Harness *h, gsize size);
gpointer harness_pinned (Harness *h, gsize size);
gpointer harness_device (Harness *h, gsize size);
/* A new device buffer with the contents of a host one. */
gpointer harness_upload (Harness *h, gconstpointer host, gsize size);
/* A new host buffer with the contents of a device one; waits for the stream. */
gpointer harness_download (Harness *h, gconstpointer device, gsize size);

/* A plane of random bits in host memory, up to @max_width x @max_height samples of
 * @sample_size bytes, whose rows may be padded. It names the case: a call starts one. */
CvisPlane harness_plane (
    Harness *h, guint max_width, guint max_height, guint sample_size);

/* --- comparison ----------------------------------------------------------- */

typedef enum {
  HARNESS_U8,
  HARNESS_U16,
  HARNESS_I32,
  HARNESS_I64,
  HARNESS_F32, /* compared by their bits */
  HARNESS_F64, /* compared by their bits */
} HarnessType;

/* Compares @n elements and reports the first that differs, with its index and
 * both values. Returns: whether all are equal. */
gboolean harness_equal (Harness *h, const gchar *what, HarnessType type,
    gconstpointer expected, gconstpointer got, gsize n);

/* --- benches -------------------------------------------------------------- */

/* Enqueues the work once on @stream. @round counts up: alternate between
 * several inputs that together exceed the caches. */
typedef void (*HarnessBenchFunc) (
    cudaStream_t stream, guint round, gpointer user_data);

/**
 * HarnessBench:
 * @label: name of the work, including sizes
 * @func, @user_data: the work
 * @bytes: minimum bytes moved in one round
 * @limit: bytes a second to compare with; 0: the device's copy rate,
 *   measured in the same run
 * @limit_name: name of @limit; %NULL with 0
 * @note: (nullable): other figures, e.g. operations and their limit
 */
typedef struct {
  const gchar *label;
  HarnessBenchFunc func;
  gpointer user_data;
  gdouble bytes;
  gdouble limit;
  const gchar *limit_name;
  const gchar *note;
} HarnessBench;

/* Warms up, times 50 rounds with CUDA events and prints the median, bytes a
 * second and the share of the limit. Returns: the median in seconds */
gdouble harness_bench (Harness *h, const HarnessBench *bench);

G_END_DECLS
