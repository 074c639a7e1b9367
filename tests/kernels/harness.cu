/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 256
#define GUARD_BYTE 0x5a
#define POISON_BYTE 0xa7
#define SKIPPED 77

namespace {
enum Where { HOST, PINNED, DEVICE };

struct Buffer {
  Where where;
  guint8 *base; /* guard, bytes rounded up to 256 (the rest guard), guard */
  gsize size, whole;
};
} // namespace

struct _Harness {
  CvisContext *context;
  cudaStream_t stream;
  guint64 seed, state;
  const gchar *test;
  gchar *label;
  gboolean failed;
  GArray *buffers; /* of the current case */
  gdouble copy_limit;
};

/* --- cases ----------------------------------------------------------------- */

extern "C" CvisContext *
harness_context (Harness *h)
{
  return h->context;
}

extern "C" cudaStream_t
harness_stream (Harness *h)
{
  return h->stream;
}

extern "C" guint64
harness_seed (Harness *h)
{
  return h->seed;
}

extern "C" const gchar *
harness_test (Harness *h)
{
  return h->test;
}

extern "C" void
harness_fail (Harness *h, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  if (h->failed)
    return;
  h->failed = TRUE;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  printf ("FAIL %s [%s]: %s (--seed=%" G_GUINT64_FORMAT ")\n", h->test,
      h->label ? h->label : "", text, h->seed);
  g_free (text);
}

extern "C" gboolean
harness_cuda (Harness *h, cudaError_t code, const gchar *what)
{
  if (code == cudaSuccess)
    return TRUE;
  harness_fail (h, "%s: %s (%s)", what, cudaGetErrorName (code),
      cudaGetErrorString (code));
  return FALSE;
}

static void
check_guards (Harness *h, Buffer *buffer)
{
  guint8 *bytes = buffer->base;

  if (buffer->where == DEVICE) {
    bytes = (guint8 *) g_malloc (buffer->whole);
    if (!HARNESS_CUDA (h, cudaMemcpy (bytes, buffer->base, buffer->whole,
                              cudaMemcpyDeviceToHost))) {
      g_free (bytes);
      return;
    }
  }
  for (gsize i = 0; i < buffer->whole; i++) {
    if (i >= GUARD && i < GUARD + buffer->size)
      i = GUARD + buffer->size;
    if (bytes[i] != GUARD_BYTE) {
      harness_fail (h,
          "a %s buffer of %" G_GSIZE_FORMAT
          " bytes was written out of bounds, at offset %" G_GSSIZE_FORMAT,
          buffer->where == DEVICE ? "device" : "host", buffer->size,
          (gssize) i - GUARD);
      break;
    }
  }
  if (buffer->where == DEVICE)
    g_free (bytes);
}

static void
free_buffer (Harness *h, Buffer *buffer)
{
  if (buffer->where == DEVICE)
    cudaFree (buffer->base);
  else if (buffer->where == PINNED)
    cvis_pinned_free (h->context, buffer->base);
  else
    free (buffer->base);
}

static void
end_case (Harness *h)
{
  HARNESS_CUDA (h, cudaStreamSynchronize (h->stream));
  for (guint i = 0; i < h->buffers->len; i++) {
    Buffer *buffer = &g_array_index (h->buffers, Buffer, i);
    check_guards (h, buffer);
    free_buffer (h, buffer);
  }
  g_array_set_size (h->buffers, 0);
  g_clear_pointer (&h->label, g_free);
}

extern "C" void
harness_case (Harness *h, const gchar *format, ...)
{
  va_list args;

  end_case (h);
  va_start (args, format);
  h->label = g_strdup_vprintf (format, args);
  va_end (args);
}

/* --- random inputs --------------------------------------------------------- */

/* splitmix64: S. Vigna's public-domain constants */
extern "C" guint64
harness_random (Harness *h)
{
  guint64 z = (h->state += 0x9e3779b97f4a7c15u);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

extern "C" gint64
harness_range (Harness *h, gint64 low, gint64 high)
{
  return low + (gint64) (harness_random (h) % (guint64) (high - low + 1));
}

extern "C" guint
harness_size (Harness *h, guint max)
{
  guint bits = 0;
  gint64 size;

  while ((max >> bits) > 1)
    bits++;
  switch (harness_range (h, 0, 3)) {
    case 0: /* tiny */
      size = harness_range (h, 1, 40);
      break;
    case 1: /* a power of two, or next to one */
      size = (1ll << harness_range (h, 0, bits)) + harness_range (h, -1, 1);
      break;
    case 2:
      size = harness_range (h, 0, 9) == 0 ? max : harness_range (h, 1, max);
      break;
    default: /* all orders of magnitude with equal probability */
      size = harness_range (h, 1, 1ll << harness_range (h, 0, bits));
      break;
  }
  return (guint) CLAMP (size, 1, (gint64) max);
}

extern "C" void
harness_fill (Harness *h, gpointer bytes, gsize size)
{
  guint8 *p = (guint8 *) bytes;

  for (gsize i = 0; i < size; i += 8) {
    guint64 z = harness_random (h);
    memcpy (p + i, &z, MIN (size - i, 8));
  }
}

/* --- buffers --------------------------------------------------------------- */

static gpointer
add_buffer (Harness *h, Where where, gsize size)
{
  Buffer buffer = { where, NULL, size,
    ((size + 255) & ~(gsize) 255) + 2 * GUARD };
  GError *error = NULL;
  void *memory = NULL;

  if (where == DEVICE) {
    HARNESS_CUDA (h, cudaMalloc (&memory, buffer.whole));
  } else if (where == PINNED) {
    memory = cvis_pinned_alloc (h->context, buffer.whole, &error);
  } else if (posix_memalign (&memory, 256, buffer.whole) != 0) {
    memory = NULL;
  }
  if (memory == NULL)
    g_error ("%s: no memory for a buffer of %" G_GSIZE_FORMAT " bytes: %s",
        h->test, size, error ? error->message : "exhausted");
  buffer.base = (guint8 *) memory;
  if (where == DEVICE) {
    HARNESS_CUDA (
        h, cudaMemsetAsync (buffer.base, GUARD_BYTE, buffer.whole, h->stream));
    HARNESS_CUDA (
        h, cudaMemsetAsync (buffer.base + GUARD, POISON_BYTE, size, h->stream));
    HARNESS_CUDA (h, cudaStreamSynchronize (h->stream));
  } else {
    memset (buffer.base, GUARD_BYTE, buffer.whole);
    memset (buffer.base + GUARD, POISON_BYTE, size);
  }
  g_array_append_val (h->buffers, buffer);
  return buffer.base + GUARD;
}

extern "C" gpointer
harness_host (Harness *h, gsize size)
{
  return add_buffer (h, HOST, size);
}

extern "C" gpointer
harness_pinned (Harness *h, gsize size)
{
  return add_buffer (h, PINNED, size);
}

extern "C" gpointer
harness_device (Harness *h, gsize size)
{
  return add_buffer (h, DEVICE, size);
}

extern "C" gpointer
harness_upload (Harness *h, gconstpointer host, gsize size)
{
  gpointer device = add_buffer (h, DEVICE, size);

  HARNESS_CUDA (h,
      cudaMemcpyAsync (device, host, size, cudaMemcpyHostToDevice, h->stream));
  HARNESS_CUDA (h, cudaStreamSynchronize (h->stream));
  return device;
}

extern "C" gpointer
harness_download (Harness *h, gconstpointer device, gsize size)
{
  gpointer host = add_buffer (h, HOST, size);

  HARNESS_CUDA (h, cudaGetLastError ());
  HARNESS_CUDA (h,
      cudaMemcpyAsync (host, device, size, cudaMemcpyDeviceToHost, h->stream));
  HARNESS_CUDA (h, cudaStreamSynchronize (h->stream));
  return host;
}

CvisPlane
harness_plane (Harness *h, guint max_width, guint max_height, guint sample_size)
{
  CvisPlane plane = {};
  gpointer data;
  gsize size;

  plane.width = harness_size (h, max_width);
  plane.height = harness_size (h, max_height);
  plane.sample_size = sample_size;
  plane.stride =
      (gsize) (plane.width + (guint) harness_range (h, 0, 6)) * sample_size;
  size = plane.stride * plane.height;
  harness_case (h, "%ux%u, %u bytes", plane.width, plane.height, sample_size);
  data = harness_host (h, size);
  harness_fill (h, data, size);
  plane.data = data;
  return plane;
}

/* --- comparison ------------------------------------------------------------ */

static const gsize type_size[] = { 1, 2, 4, 8, 4, 8 };

static gchar *
format_element (HarnessType type, gconstpointer array, gsize i)
{
  guint32 bits32;
  guint64 bits64;

  switch (type) {
    case HARNESS_U8:
      return g_strdup_printf ("%u", ((const guint8 *) array)[i]);
    case HARNESS_U16:
      return g_strdup_printf ("%u", ((const guint16 *) array)[i]);
    case HARNESS_I32:
      return g_strdup_printf ("%d", ((const gint32 *) array)[i]);
    case HARNESS_I64:
      return g_strdup_printf ("%" G_GINT64_FORMAT, ((const gint64 *) array)[i]);
    case HARNESS_F32:
      memcpy (&bits32, (const gfloat *) array + i, 4);
      return g_strdup_printf (
          "%.9g (0x%08x)", ((const gfloat *) array)[i], bits32);
    default:
      memcpy (&bits64, (const gdouble *) array + i, 8);
      return g_strdup_printf ("%.17g (0x%016" G_GINT64_MODIFIER "x)",
          ((const gdouble *) array)[i], bits64);
  }
}

static void
report_mismatch (Harness *h, const gchar *what, HarnessType type,
    gconstpointer expected, gconstpointer got, gsize i, gsize n)
{
  gchar *a = format_element (type, expected, i);
  gchar *b = format_element (type, got, i);

  harness_fail (h,
      "%s[%" G_GSIZE_FORMAT "] of %" G_GSIZE_FORMAT ": expected %s, got %s",
      what, i, n, a, b);
  g_free (a);
  g_free (b);
}

extern "C" gboolean
harness_equal (Harness *h, const gchar *what, HarnessType type,
    gconstpointer expected, gconstpointer got, gsize n)
{
  gsize size = type_size[type];
  const guint8 *a = (const guint8 *) expected, *b = (const guint8 *) got;

  if (memcmp (a, b, n * size) == 0)
    return TRUE;
  for (gsize i = 0; i < n; i++) {
    if (memcmp (a + i * size, b + i * size, size) != 0) {
      report_mismatch (h, what, type, expected, got, i, n);
      break;
    }
  }
  return FALSE;
}

/* --- benches --------------------------------------------------------------- */

#define WARM_UP 5
#define ROUNDS 50

static int
compare_floats (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* Median of the rounds, seconds; 0 after a CUDA error. */
static gdouble
time_rounds (Harness *h, HarnessBenchFunc func, gpointer user_data)
{
  cudaEvent_t start, stop;
  float ms[ROUNDS] = { 0 };

  HARNESS_CUDA (h, cudaEventCreate (&start));
  HARNESS_CUDA (h, cudaEventCreate (&stop));
  for (guint i = 0; i < WARM_UP + ROUNDS; i++) {
    HARNESS_CUDA (h, cudaEventRecord (start, h->stream));
    func (h->stream, i, user_data);
    HARNESS_CUDA (h, cudaEventRecord (stop, h->stream));
    HARNESS_CUDA (h, cudaEventSynchronize (stop));
    if (i >= WARM_UP)
      HARNESS_CUDA (h, cudaEventElapsedTime (&ms[i - WARM_UP], start, stop));
  }
  HARNESS_CUDA (h, cudaGetLastError ());
  cudaEventDestroy (start);
  cudaEventDestroy (stop);
  qsort (ms, ROUNDS, sizeof ms[0], compare_floats);
  return ms[ROUNDS / 2] / 1e3;
}

#define COPY_BYTES ((gsize) 256 << 20)

/* 16 bytes for each thread and step, coalesced */
static __global__ void
copy_kernel (const uint4 *in, uint4 *out, size_t n)
{
  for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n;
       i += (size_t) gridDim.x * blockDim.x)
    out[i] = in[i];
}

static void
copy_round (cudaStream_t stream, guint round, gpointer user_data)
{
  uint4 **halves = (uint4 **) user_data;

  copy_kernel<<<4096, 512, 0, stream>>> (
      halves[round & 1], halves[~round & 1], COPY_BYTES / sizeof (uint4));
}

/* Rate of a copy kernel on this device, bytes read and written a second. */
static gdouble
get_copy_limit (Harness *h)
{
  void *halves[2] = { NULL, NULL };
  gdouble seconds;

  if (h->copy_limit > 0)
    return h->copy_limit;
  if (HARNESS_CUDA (h, cudaMalloc (&halves[0], COPY_BYTES))
      && HARNESS_CUDA (h, cudaMalloc (&halves[1], COPY_BYTES))) {
    seconds = time_rounds (h, copy_round, halves);
    h->copy_limit = seconds > 0 ? 2.0 * COPY_BYTES / seconds : 0;
  }
  cudaFree (halves[0]);
  cudaFree (halves[1]);
  printf ("copy limit of the device: %.0f GB/s (read and written, kernel over "
          "%" G_GSIZE_FORMAT " MiB)\n",
      h->copy_limit / 1e9, COPY_BYTES >> 20);
  return h->copy_limit;
}

extern "C" gdouble
harness_bench (Harness *h, const HarnessBench *bench)
{
  gdouble limit = bench->limit > 0 ? bench->limit : get_copy_limit (h);
  gdouble seconds = time_rounds (h, bench->func, bench->user_data);
  gdouble rate = seconds > 0 ? bench->bytes / seconds : 0;

  printf ("%-40s %10.2f us %10.3f MB %8.1f GB/s %5.1f %% of %s %.0f GB/s%s%s\n",
      bench->label, seconds * 1e6, bench->bytes / 1e6, rate / 1e9,
      limit > 0 ? 100 * rate / limit : 0,
      bench->limit > 0 ? bench->limit_name : "the copy limit", limit / 1e9,
      bench->note ? "; " : "", bench->note ? bench->note : "");
  return seconds;
}

/* --- main ------------------------------------------------------------------ */

static guint64
hash_name (const gchar *name)
{
  guint64 hash = 14695981039346656037u;

  for (; *name; name++)
    hash = (hash ^ (guint8) *name) * 1099511628211u;
  return hash;
}

/* Returns: whether it passed. */
static gboolean
run_test (Harness *h, const HarnessTest *test, gboolean bench)
{
  h->test = test->name;
  h->state = h->seed ^ hash_name (test->name);
  h->failed = FALSE;
  (bench ? test->bench : test->check) (h);
  end_case (h);
  if (!bench)
    printf ("%s %s\n", h->failed ? "not ok" : "ok", test->name);
  fflush (stdout);
  return !h->failed;
}

/* Tests selected on the command line. @names: tests by name; none: all */
struct Selection {
  const gchar *filter;
  const gchar *const *names;
  gboolean bench;
};

static gboolean
is_selected (const Selection *selection, const HarnessTest *test)
{
  return (selection->filter == NULL || strstr (test->name, selection->filter))
         && (selection->names[0] == NULL
             || g_strv_contains (selection->names, test->name))
         && (!selection->bench || test->bench != NULL);
}

/* Returns: a name that matches no test, or %NULL */
static const gchar *
find_unknown_name (const HarnessTest *tests, const gchar *const *names)
{
  for (; *names != NULL; names++) {
    const HarnessTest *test = tests;

    while (test->name != NULL && strcmp (test->name, *names) != 0)
      test++;
    if (test->name == NULL)
      return *names;
  }
  return NULL;
}

static int
run_tests (Harness *h, const HarnessTest *tests, const Selection *selection)
{
  guint ran = 0, failed = 0;

  for (const HarnessTest *test = tests; test->name != NULL; test++) {
    if (!is_selected (selection, test))
      continue;
    ran++;
    failed += !run_test (h, test, selection->bench);
  }
  if (ran == 0) {
    fprintf (stderr,
        selection->filter ? "no test matches '%s'\n" : "nothing to run%s\n",
        selection->filter ? selection->filter : "");
    return selection->filter ? 2 : SKIPPED;
  }
  return failed ? 1 : 0;
}

static int
with_device (const HarnessTest *tests, guint64 seed, const Selection *selection)
{
  Harness h = {};
  GError *error = NULL;
  CvisDeviceInfo info = {};
  int result = 1;

  h.seed = seed;
  h.context = cvis_context_new (-1, &error);
  if (h.context == NULL) {
    printf ("skipped: %s\n", error->message);
    result = error->code == CVIS_ERROR_NO_DEVICE ? SKIPPED : 1;
    g_error_free (error);
    return result;
  }
  cvis_device_info (cvis_context_get_device_id (h.context), &info, NULL);
  printf ("%s, %d multiprocessors; --seed=%" G_GUINT64_FORMAT "\n", info.name,
      info.multiprocessors, seed);
  if (!cvis_context_push (h.context, &error)) {
    fprintf (stderr, "%s\n", error->message);
    g_error_free (error);
  } else {
    h.test = "start";
    h.buffers = g_array_new (FALSE, FALSE, sizeof (Buffer));
    if (HARNESS_CUDA (
            &h, cudaStreamCreateWithFlags (&h.stream, cudaStreamNonBlocking))) {
      result = run_tests (&h, tests, selection);
      cudaStreamDestroy (h.stream);
    }
    g_array_unref (h.buffers);
    cvis_context_pop (h.context);
  }
  cvis_context_unref (h.context);
  return result;
}

extern "C" int
harness_main (int argc, char **argv, const HarnessTest *tests)
{
  gboolean list = FALSE, bench = FALSE;
  gint64 seed = 0;
  gchar *filter = NULL;
  GError *error = NULL;
  const GOptionEntry entries[] = {
    { "list", 0, 0, G_OPTION_ARG_NONE, &list, "List the tests", NULL },
    { "bench", 0, 0, G_OPTION_ARG_NONE, &bench,
        "Measure time instead of comparing", NULL },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &seed,
        "Seed of the inputs (0: from the clock)", "N" },
    { "filter", 0, 0, G_OPTION_ARG_STRING, &filter,
        "Only tests whose names contain TEXT", "TEXT" },
    { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
  };
  GOptionContext *options = g_option_context_new ("[TEST...]");
  const gchar *unknown;
  int result = 0;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error)) {
    fprintf (stderr, "%s\n", error->message);
    g_error_free (error);
    result = 2;
  } else if (list) {
    for (const HarnessTest *test = tests; test->name != NULL; test++)
      printf ("%s%s\n", test->name, test->bench ? " (bench)" : "");
  } else if ((unknown = find_unknown_name (tests, argv + 1)) != NULL) {
    fprintf (stderr, "Unknown test '%s'. --list shows all tests.\n", unknown);
    result = 2;
  } else {
    const Selection selection = { filter, argv + 1, bench };

    if (seed == 0)
      seed = g_get_real_time ();
    result = with_device (tests, (guint64) seed, &selection);
  }
  g_option_context_free (options);
  g_free (filter);
  return result;
}
