/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lists of devices: numbers, errors that name the device, posed devices. */
#include "cuda/core/fleet/devices.h"

#include <string.h>

static void
check_ids (const gchar *text, guint n, const gint *expected)
{
  gint ids[CVIS_FLEET_MAX_DEVICES];
  GError *error = NULL;

  g_assert_cmpuint (cvis_devices_parse (text, 4, ids, &error), ==, n);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (ids[i], ==, expected[i]);
}

static void
check_refused (const gchar *text, gint code, const gchar *part)
{
  gint ids[CVIS_FLEET_MAX_DEVICES];
  GError *error = NULL;

  g_assert_cmpuint (cvis_devices_parse (text, 4, ids, &error), ==, 0);
  g_assert_error (error, CVIS_ERROR, code);
  if (strstr (error->message, part) == NULL)
    g_error (
        "\"%s\": \"%s\" does not contain \"%s\"", text, error->message, part);
  g_error_free (error);
}

static void
test_parse (void)
{
  check_ids ("0", 1, (const gint[]){ 0 });
  check_ids ("0,1,3", 3, (const gint[]){ 0, 1, 3 });
  check_ids (" 3 , 0", 2, (const gint[]){ 3, 0 });
  check_ids ("all", 4, (const gint[]){ 0, 1, 2, 3 });
  check_refused ("4", CVIS_ERROR_NO_DEVICE, "no CUDA device 4");
  check_refused ("0,77", CVIS_ERROR_NO_DEVICE, "this machine has 4");
  check_refused ("0,1,0", CVIS_ERROR_INVALID, "device 0 is twice");
  check_refused ("1,01", CVIS_ERROR_INVALID, "device 1 is twice");
  check_refused ("0,", CVIS_ERROR_INVALID, "\"\" is no number");
  check_refused (",", CVIS_ERROR_INVALID, "\"\" is no number");
  check_refused ("0;1", CVIS_ERROR_INVALID, "\"0;1\" is no number");
  check_refused ("-1", CVIS_ERROR_INVALID, "\"-1\" is no number");
  check_refused ("0x1", CVIS_ERROR_INVALID, "\"0x1\" is no number");
  check_refused ("0,all", CVIS_ERROR_INVALID, "\"all\" is no number");
  check_refused (
      "99999999999999999999", CVIS_ERROR_INVALID, "9999\" is no number");
}

/* On a machine with devices: the first one; without: an error. */
static void
test_genuine (void)
{
  const gint count = cvis_device_count (NULL);
  GError *error = NULL;
  CvisDevices *devices = cvis_devices_new ("0", -1, &error);

  if (count == 0) {
    g_assert_null (devices);
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
  } else if (devices != NULL) {
    g_assert_cmpuint (devices->n, ==, 1);
    g_assert_nonnull (devices->devices[0].context);
    g_assert_cmpstr (devices->devices[0].name, ==, "device 0");
  } else { /* too old an architecture */
    g_assert_nonnull (strstr (error->message, "device 0"));
  }
  g_clear_error (&error);
  cvis_devices_free (devices);
  g_assert_null (cvis_devices_new ("4711", -1, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
  g_clear_error (&error);
  g_assert_null (cvis_devices_new (NULL, 4711, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE);
  g_clear_error (&error);
}

#ifdef CVIS_TEST_HOOKS
static CvisDevices *
open_posed (const gchar *posed, const gchar *ids, gint device_id)
{
  GError *error = NULL;
  CvisDevices *devices;

  g_setenv ("CUDAVISION_POSED_DEVICES", posed, TRUE);
  g_assert_true (cvis_devices_posed ());
  devices = cvis_devices_new (ids, device_id, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < devices->n; i++)
    g_assert_null (devices->devices[i].context);
  return devices;
}

static void
test_posed (void)
{
  static const gchar *const wrong[] = { "0", "x", "3:", "1:0", "65", "-3" };
  CvisDevices *devices = open_posed ("3", "all", -1);
  CvisFleetDevice device;

  g_assert_cmpuint (devices->n, ==, 3);
  g_assert_cmpstr (devices->devices[2].name, ==, "device 2");
  g_assert_cmpuint (devices->devices[2].slowness, ==, 1);
  cvis_devices_free (devices);

  g_setenv ("CUDAVISION_FAULTS", "0:5,2:1", TRUE);
  devices = open_posed ("3:1:2", "2,0", -1);
  g_assert_cmpuint (devices->n, ==, 2);
  device = cvis_device_with_engine (&devices->devices[0], devices);
  g_assert_true (device.engine == devices);
  g_assert_cmpstr (device.name, ==, "device 2");
  g_assert_cmpuint (device.slowness, ==, 2);
  g_assert_cmpuint (device.fail_at, ==, 1);
  device = cvis_device_with_engine (&devices->devices[1], NULL);
  g_assert_cmpuint (device.slowness, ==, 3);
  g_assert_cmpuint (device.fail_at, ==, 5);
  cvis_devices_free (devices);
  g_unsetenv ("CUDAVISION_FAULTS");

  devices = open_posed ("2:1", "", 1);
  g_assert_cmpuint (devices->n, ==, 1);
  g_assert_cmpint (devices->devices[0].id, ==, 1);
  g_assert_cmpuint (devices->devices[0].fail_at, ==, 0);
  cvis_devices_free (devices);

  g_assert_null (cvis_devices_new ("0,2", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GError *error = NULL;

    g_setenv ("CUDAVISION_POSED_DEVICES", wrong[i], TRUE);
    g_assert_null (cvis_devices_new ("all", -1, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, wrong[i]));
    g_error_free (error);
  }
  g_unsetenv ("CUDAVISION_POSED_DEVICES");
  g_assert_false (cvis_devices_posed ());
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("CUDAVISION_POSED_DEVICES");
  g_test_add_func ("/devices/parse", test_parse);
  g_test_add_func ("/devices/genuine", test_genuine);
#ifdef CVIS_TEST_HOOKS
  g_test_add_func ("/devices/posed", test_posed);
#endif
  return g_test_run ();
}
