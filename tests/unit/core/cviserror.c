/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/error.h"

#include <math.h>

static void
test_domain (void)
{
  GError *error = g_error_new (CVIS_ERROR, CVIS_ERROR_FORMAT, "byte %d", 3);

  g_assert_cmpstr (g_quark_to_string (CVIS_ERROR), ==, "cvis-error-quark");
  g_assert_true (CVIS_ERROR == cvis_error_quark ());
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_assert_false (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_INVALID));
  g_assert_cmpstr (error->message, ==, "byte 3");
  g_error_free (error);
}

static void
test_refuse (void)
{
  GError *error = NULL;

  g_assert_false (cvis_refuse (NULL, "nobody asks"));
  g_assert_false (cvis_refuse (&error, "%s is %d", "age", -1));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "age is -1");
  g_clear_error (&error);

  g_assert_true (cvis_check_range ("side", 1, 1, 16384, &error));
  g_assert_true (cvis_check_range ("side", 16384, 1, 16384, &error));
  g_assert_no_error (error);
  g_assert_false (cvis_check_range ("side", 16385, 1, 16384, &error));
  g_assert_cmpstr (error->message, ==, "side is 16385, must be 1 to 16384");
  g_clear_error (&error);
  g_assert_false (cvis_check_range ("radius", -0.5, 0, 40, &error));
  g_assert_cmpstr (error->message, ==, "radius is -0.5, must be 0 to 40");
  g_clear_error (&error);
  g_assert_false (cvis_check_range ("radius", NAN, 0, 40, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error/domain", test_domain);
  g_test_add_func ("/error/refuse", test_refuse);
  return g_test_run ();
}
