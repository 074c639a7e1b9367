/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The choice of the backend, on machines with and without a GPU: the tests
 * first find out which one this is. */
#include "cuda/core/backend.h"

#include <string.h>

static gboolean
has_device (void)
{
  return cvis_device_count (NULL) > 0;
}

static void
test_cpu (void)
{
  CvisBackend active;
  CvisContext *context;
  gchar *why_not;
  GError *error = NULL;

  g_assert_true (cvis_backend_choose (
      CVIS_BACKEND_CPU, 7, &active, &context, &why_not, &error));
  g_assert_no_error (error);
  g_assert_cmpint (active, ==, CVIS_BACKEND_CPU);
  g_assert_null (context);
  g_assert_null (why_not);
}

/* auto never fails; on a fallback it gives the reason */
static void
check_auto (gint device_id, gboolean expect_cuda)
{
  CvisBackend active;
  CvisContext *context;
  gchar *why_not;
  GError *error = NULL;

  g_assert_true (cvis_backend_choose (
      CVIS_BACKEND_AUTO, device_id, &active, &context, &why_not, &error));
  g_assert_no_error (error);
  if (expect_cuda) {
    g_assert_cmpint (active, ==, CVIS_BACKEND_CUDA);
    g_assert_nonnull (context);
    g_assert_null (why_not);
    cvis_context_unref (context);
  } else {
    g_assert_cmpint (active, ==, CVIS_BACKEND_CPU);
    g_assert_null (context);
    g_assert_nonnull (why_not);
    g_assert_cmpuint (strlen (why_not), >, 10);
    /* CUDA reports a missing driver as an insufficient one */
    g_assert_null (strstr (why_not, "insufficient"));
    g_free (why_not);
  }
  g_assert_true (cvis_backend_choose (
      CVIS_BACKEND_AUTO, 4711, &active, &context, NULL, NULL));
}

static void
test_auto (void)
{
  check_auto (-1, has_device ());
  check_auto (4711, FALSE);
}

static void
check_cuda (gint device_id, gboolean expect)
{
  CvisBackend active;
  CvisContext *context;
  gchar *why_not;
  GError *error = NULL;
  gboolean ok = cvis_backend_choose (
      CVIS_BACKEND_CUDA, device_id, &active, &context, &why_not, &error);

  g_assert_cmpint (ok, ==, expect);
  g_assert_null (why_not);
  if (ok) {
    g_assert_no_error (error);
    g_assert_cmpint (active, ==, CVIS_BACKEND_CUDA);
    cvis_context_unref (context);
  } else {
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
    g_assert_null (context);
    g_error_free (error);
  }
}

static void
test_cuda (void)
{
  check_cuda (-1, has_device ());
  check_cuda (4711, FALSE);
}

static void
test_device (void)
{
  CvisDeviceInfo info;
  GError *error = NULL;
  gint count = cvis_device_count (&error);

  if (count == 0) {
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
    g_clear_error (&error);
    g_assert_false (cvis_device_info (0, &info, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
    g_clear_error (&error);
    return;
  }
  g_assert_no_error (error);
  g_assert_true (cvis_device_info (count - 1, &info, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (strlen (info.name), >, 0);
  g_assert_cmpint (info.compute_capability, >=, 50);
  g_assert_false (cvis_device_info (count, &info, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
  g_clear_error (&error);
}

/* push and pop can be nested and restore the state */
static void
test_context (void)
{
  CvisContext *context;
  GError *error = NULL;
  gpointer memory;

  if (!has_device ()) {
    g_test_skip ("no CUDA device");
    return;
  }
  context = cvis_context_new (-1, &error);
  g_assert_no_error (error);
  g_assert_nonnull (cvis_context_get_handle (context));
  for (guint i = 0; i < 3; i++)
    g_assert_true (cvis_context_push (context, &error));
  for (guint i = 0; i < 3; i++)
    cvis_context_pop (context);
  memory = cvis_pinned_alloc (context, 12345, &error);
  g_assert_no_error (error);
  g_assert_cmpuint ((gsize) memory & 255, ==, 0);
  memset (memory, 1, 12345);
  cvis_pinned_free (context, memory);
  cvis_context_unref (context);
}

/* CUDAVISION_CPU lowers the level and never raises it; each value runs in a
 * process of its own, because the level is cached */
static void
test_cpu_level (void)
{
  static const gchar *const limits[] = { "generic", "v3", "v4", "nonsense",
    NULL };
  static const CvisCpuLevel highest[] = { CVIS_CPU_GENERIC, CVIS_CPU_V3,
    CVIS_CPU_V4, CVIS_CPU_V4 };

  if (g_test_subprocess ()) {
    const gchar *limit = g_getenv ("CUDAVISION_CPU");
    for (guint i = 0; limits[i] != NULL; i++)
      if (g_strcmp0 (limit, limits[i]) == 0)
        g_assert_cmpint (cvis_cpu_level (), <=, highest[i]);
    g_assert_cmpint (cvis_cpu_level (), ==, cvis_cpu_level ());
    return;
  }
  for (guint i = 0; limits[i] != NULL; i++) {
    g_setenv ("CUDAVISION_CPU", limits[i], TRUE);
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backend/cpu", test_cpu);
  g_test_add_func ("/backend/auto", test_auto);
  g_test_add_func ("/backend/cuda", test_cuda);
  g_test_add_func ("/backend/device", test_device);
  g_test_add_func ("/backend/context", test_context);
  g_test_add_func ("/backend/cpu-level", test_cpu_level);
  return g_test_run ();
}
