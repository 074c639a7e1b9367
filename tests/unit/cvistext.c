/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Integers as text against the C library. */
#include "cuda/core/text.h"

static void
test_integers (void)
{
  static const gint64 cases[] = { 0, 1, 9, 10, 99, 100, 101, 12345, 999999,
    1000000, G_MAXINT32, (gint64) G_MAXINT32 + 1, G_MAXINT64, -1, -10, -101,
    G_MININT32, G_MININT64 };
  GRand *rand = g_rand_new_with_seed (7);
  gchar text[CVIS_TEXT_MAX + 1], expected[32];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases) + 100000; i++) {
    guint64 value =
        i < G_N_ELEMENTS (cases)
            ? (guint64) cases[i]
            : ((guint64) g_rand_int (rand) << 32 | g_rand_int (rand))
                  >> g_rand_int_range (rand, 0, 64);

    *cvis_text_int (text, (gint64) value) = '\0';
    g_snprintf (
        expected, sizeof (expected), "%" G_GINT64_FORMAT, (gint64) value);
    g_assert_cmpstr (text, ==, expected);
    *cvis_text_uint (text, value) = '\0';
    g_snprintf (expected, sizeof (expected), "%" G_GUINT64_FORMAT, value);
    g_assert_cmpstr (text, ==, expected);
  }
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/integers", test_integers);
  return g_test_run ();
}
