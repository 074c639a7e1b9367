/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/memory.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/error.h"

static void
test_memory (void)
{
  GError *error = NULL;

  for (gsize bytes = 0; bytes < 8 << 20; bytes = 2 * bytes + 1) {
    guint8 *memory = cvis_memory_new (bytes, TRUE, &error);

    g_assert_no_error (error);
    g_assert_cmpuint (GPOINTER_TO_SIZE (memory) % 64, ==, 0);
    for (gsize i = 0; i < bytes; i++)
      g_assert_cmpuint (memory[i], ==, 0);
    free (memory);
  }
  g_assert_null (cvis_memory_new (G_MAXSIZE, TRUE, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY);
  g_clear_error (&error);
  g_assert_null (cvis_memory_new (G_MAXSIZE / 2, TRUE, NULL));
}

/* Rows of different strides; the bytes between rows are unchanged. */
static void
test_rows (void)
{
  guint8 from[3 * 7], to[3 * 5];

  for (guint i = 0; i < G_N_ELEMENTS (from); i++)
    from[i] = (guint8) i;
  memset (to, 99, sizeof (to));
  cvis_memory_copy_rows (to, 5, from, 7, 4, 3);
  for (guint y = 0; y < 3; y++) {
    g_assert_cmpmem (to + 5 * y, 4, from + 7 * y, 4);
    g_assert_cmpuint (to[5 * y + 4], ==, 99);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory/new", test_memory);
  g_test_add_func ("/memory/rows", test_rows);
  return g_test_run ();
}
