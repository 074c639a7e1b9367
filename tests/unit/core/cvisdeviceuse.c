/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The choice between devices by their free memory and use; reading them from NVML where
 * there is none, or from the library of nvml.c (argument "replaced"). */
#include "cuda/core/fleet/deviceuse.h"

#include <string.h>

#define GIB (G_GUINT64_CONSTANT (1) << 30)

static void
check_order (const CvisDeviceUse *uses, guint n, const guint *expected)
{
  guint order[8];

  cvis_device_use_sort (uses, n, order);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (order[i], ==, expected[i]);
}

static void
test_sort (void)
{
  const CvisDeviceUse unlike[] = { { TRUE, 10 * GIB, 80 * GIB, 0.0 },
    { TRUE, 70 * GIB, 80 * GIB, 1.0 }, { TRUE, 40 * GIB, 80 * GIB, 0.5 } };
  /* 76 GiB and more are alike; 75 are fewer */
  const CvisDeviceUse alike[] = { { TRUE, 80 * GIB, 80 * GIB, 0.6 },
    { TRUE, 75 * GIB, 80 * GIB, 0.0 }, { TRUE, 77 * GIB, 80 * GIB, 0.2 },
    { TRUE, 79 * GIB, 80 * GIB, 0.2 } };
  const CvisDeviceUse unknown[] = { { FALSE }, { TRUE, 0, GIB, 1.0 }, { FALSE },
    { TRUE, GIB / 2, GIB, 1.0 } };
  const CvisDeviceUse none[] = { { FALSE }, { FALSE }, { FALSE } };

  check_order (unlike, 3, (const guint[]){ 1, 2, 0 });
  check_order (alike, 4, (const guint[]){ 2, 3, 0, 1 });
  check_order (unknown, 4, (const guint[]){ 3, 1, 0, 2 });
  check_order (none, 3, (const guint[]){ 0, 1, 2 });
  check_order (none, 1, (const guint[]){ 0 });
}

/* No device has this address. */
static void
test_missing (void)
{
  CvisDeviceUse use = { TRUE, 1, 1, 1.0 };
  GError *error = NULL;

  for (guint i = 0; i < 2; i++) {
    g_assert_false (
        cvis_device_use_read ("ffff:ff:1f.7", &use, i ? &error : NULL));
    g_assert_false (use.known);
    g_assert_cmpuint (use.free, ==, 0);
  }
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
  g_assert_cmpuint (strlen (error->message), >, 10);
  g_error_free (error);
}

/* The library of nvml.c has two devices; the second does not report its use. */
static void
test_replaced (void)
{
  CvisDeviceUse use;
  GError *error = NULL;

  g_assert_true (cvis_device_use_read ("0000:01:00.0", &use, &error));
  g_assert_no_error (error);
  g_assert_true (use.known);
  g_assert_cmpuint (use.free, ==, 3 * GIB);
  g_assert_cmpuint (use.total, ==, 4 * GIB);
  g_assert_cmpfloat (use.busy, ==, 0.25);
  g_assert_true (cvis_device_use_read ("0000:02:00.0", &use, &error));
  g_assert_cmpuint (use.free, ==, GIB);
  g_assert_cmpfloat (use.busy, ==, 0.0);
  g_assert_false (cvis_device_use_read ("0000:03:00.0", &use, &error));
  g_assert_cmpstr (error->message, ==,
      "NVML cannot read the device 0000:03:00.0: Not Found");
  g_error_free (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (argc > 1) {
    g_test_add_func ("/deviceuse/replaced", test_replaced);
    return g_test_run ();
  }
  g_test_add_func ("/deviceuse/sort", test_sort);
  g_test_add_func ("/deviceuse/missing", test_missing);
  return g_test_run ();
}
