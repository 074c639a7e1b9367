/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/memory.h"

#include <stdlib.h>

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory/new", test_memory);
  return g_test_run ();
}
