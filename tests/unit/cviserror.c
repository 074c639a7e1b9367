/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cviserror.h"

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error/domain", test_domain);
  return g_test_run ();
}
