/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Kernels compiled at run time, on the device: loading, lookup by name,
 * launch. unit-cvisjit has the tests without a device. */
#include "cuda/core/jit/jit.h"
#include "harness.h"

#include <string.h>

extern const CvisJitHeader cvis_jit_test_files[3];

static const gchar *const options[] = { "-DFACTOR=3", NULL };

/* Returns: (nullable): the test's kernels, ready */
static CvisJit *
make_ready (Harness *h)
{
  CvisJit *jit = cvis_jit_new (harness_context (h), cvis_jit_test_files[0].name,
      cvis_jit_test_files[0].text, cvis_jit_test_files + 1, 2, options);
  GError *error = NULL;

  if (cvis_jit_wait (jit, &error))
    return jit;
  harness_fail (h, "%s", error->message);
  g_clear_error (&error);
  cvis_jit_free (jit);
  return NULL;
}

static gpointer
find (Harness *h, CvisJit *jit, const gchar *symbol)
{
  GError *error = NULL;
  gpointer function = cvis_jit_get_function (jit, symbol, &error);

  if (function == NULL) {
    harness_fail (h, "%s", error->message);
    g_clear_error (&error);
  }
  return function;
}

/* Twice in a row, possibly overlapping by programmatic dependent launch. */
static void
check_scale (Harness *h)
{
  CvisJit *jit = make_ready (h);
  gpointer function = jit != NULL ? find (h, jit, "scale") : NULL;

  for (guint i = 0; i < 60 && function != NULL; i++) {
    guint n = harness_size (h, 1 << 20);
    const guint grid[3] = { (n + 255) / 256, 1, 1 }, block[3] = { 256, 1, 1 };
    gfloat *expected, *in, *data;
    gpointer parameters[2];
    GError *error = NULL;

    harness_case (h, "n=%u %s", n, cvis_jit_describe (jit));
    expected = harness_host (h, n * sizeof *expected);
    in = harness_host (h, n * sizeof *in);
    for (guint k = 0; k < n; k++) {
      in[k] = (gfloat) harness_range (h, -1000, 1000) / 7;
      expected[k] = 3 * (3 * in[k] + 1) + 1;
    }
    data = harness_upload (h, in, n * sizeof *in);
    parameters[0] = &data;
    parameters[1] = &n;
    for (guint k = 0; k < 2; k++) {
      if (!cvis_jit_launch (function, grid, block, 0, harness_stream (h), i % 2,
              parameters, &error)) {
        harness_fail (h, "%s", error->message);
        g_clear_error (&error);
      }
    }
    harness_equal (h, "data", HARNESS_F32, expected,
        harness_download (h, data, n * sizeof *data), n);
  }
  cvis_jit_free (jit);
}

/* More shared memory than the default, and more than the device has. */
static void
check_shared (Harness *h)
{
  CvisJit *jit = make_ready (h);
  gpointer function = jit != NULL ? find (h, jit, "reverse") : NULL;
  const guint n = 1024, grid[3] = { 1, 1, 1 }, block[3] = { 1024, 1, 1 };
  gfloat *expected, *in, *data;
  gpointer parameters[1] = { &data };
  GError *error = NULL;

  for (guint i = 0; i < 3 && function != NULL; i++) {
    const gsize shared = i == 1 ? 60 << 10 : 16 << 10;

    harness_case (h, "%" G_GSIZE_FORMAT " bytes", shared);
    expected = harness_host (h, n * sizeof *expected);
    in = harness_host (h, n * sizeof *in);
    for (guint k = 0; k < n; k++) {
      in[k] = (gfloat) k;
      expected[n - 1 - k] = in[k];
    }
    data = harness_upload (h, in, n * sizeof *in);
    if (!cvis_jit_launch (function, grid, block, shared, harness_stream (h),
            FALSE, parameters, &error)) {
      harness_fail (h, "%s", error->message);
      g_clear_error (&error);
    }
    harness_equal (h, "data", HARNESS_F32, expected,
        harness_download (h, data, n * sizeof *data), n);
  }
  if (function != NULL
      && cvis_jit_launch (function, grid, block, 64 << 20, harness_stream (h),
          FALSE, parameters, &error))
    harness_fail (h, "64 MiB of shared memory were granted");
  g_clear_error (&error);
  cvis_jit_free (jit);
}

/* Polled like in an engine: several at once, and freed during compilation. */
static void
check_poll (Harness *h)
{
  CvisJit *jits[8];
  guint failed = 0;

  for (guint i = 0; i < G_N_ELEMENTS (jits); i++) {
    gchar *define = g_strdup_printf ("-DFACTOR=%u", 10 + i);
    const gchar *const own[] = { define, NULL };

    jits[i] = cvis_jit_new (harness_context (h), cvis_jit_test_files[0].name,
        cvis_jit_test_files[0].text, cvis_jit_test_files + 1, 2, own);
    g_free (define);
  }
  for (guint i = 0; i < G_N_ELEMENTS (jits); i++) {
    harness_case (h, "i=%u", i);
    while (i % 2 == 0 && cvis_jit_poll (jits[i]) == CVIS_JIT_COMPILING)
      g_usleep (1000);
    failed += i % 2 == 0 && cvis_jit_poll (jits[i]) == CVIS_JIT_FAILED;
    if (failed == 1)
      harness_fail (h, "%s", cvis_jit_describe (jits[i]));
    cvis_jit_free (jits[i]);
  }
}

static void
check_errors (Harness *h)
{
  CvisJit *jit = make_ready (h);
  GError *error = NULL;

  harness_case (h, "no such kernel");
  if (jit != NULL && cvis_jit_get_function (jit, "no_such_kernel", &error))
    harness_fail (h, "there is a kernel of that name");
  if (error != NULL && strstr (error->message, "no_such_kernel") == NULL)
    harness_fail (h, "%s", error->message);
  g_clear_error (&error);
  cvis_jit_free (jit);

  harness_case (h, "a source that does not compile");
  jit = cvis_jit_new (harness_context (h), "wrong.cu", "wrong;", NULL, 0, NULL);
  if (cvis_jit_wait (jit, &error))
    harness_fail (h, "it was compiled");
  else if (strstr (error->message, "wrong.cu(1)") == NULL)
    harness_fail (h, "%s", error->message);
  g_clear_error (&error);
  if (cvis_jit_poll (jit) != CVIS_JIT_FAILED)
    harness_fail (h, "its state is not failed");
  cvis_jit_free (jit);
}

int
main (int argc, char **argv)
{
  static const HarnessTest tests[] = {
    { "scale", check_scale, NULL },
    { "shared", check_shared, NULL },
    { "poll", check_poll, NULL },
    { "errors", check_errors, NULL },
    { NULL, NULL, NULL },
  };

  return harness_main (argc, argv, tests);
}
