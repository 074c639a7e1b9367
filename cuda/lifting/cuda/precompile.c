/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Build-time tool: writes the source of the tile kernels that are compiled
 * with the project, float32 with symmetric boundaries, and their table,
 * which cuda/lifting/cuda/tile.cu reads.
 *
 *   precompile OUTPUT WAVELET... */
#include <stdlib.h>

#include "cuda/lifting/cuda/tileplan.h"

/* Appends kernel @kernel of wavelet number @i and its line of the table. */
static void
print_kernel (GString *text, GString *table, LwtTileKernel kernel,
    const LwtWavelet *wavelet, gint i)
{
  gchar *name = g_strdup_printf ("%s_%d", lwt_tile_kernel_names[kernel], i);
  LwtTilePlan plan;

  if (lwt_tile_plan_init (
          &plan, kernel, wavelet, LWT_TYPE_F32, LWT_BOUNDARY_SYMMETRIC)) {
    lwt_tile_plan_print (&plan, LWT_TYPE_F32, name, text);
    g_string_append_printf (table,
        "  { %d, &plan_of_%s::plan, (const void *) %s },\n", kernel, name,
        name);
  }
  g_free (name);
}

int
main (int argc, char **argv)
{
  GString *text =
      g_string_new ("/* Written by cuda/lifting/cuda/precompile.c. */\n"
                    "#include \"cuda/lifting/cuda/tileplan.h\"\n"
                    "#include \"cuda/lifting/cuda/window.cuh\"\n");
  GString *table = g_string_new (NULL);
  GError *error = NULL;
  gboolean ok = argc > 2;

  for (gint i = 2; ok && i < argc; i++) {
    LwtWavelet *wavelet = lwt_wavelet_new (argv[i], &error);

    ok = wavelet != NULL;
    for (guint kernel = 0; ok && kernel < LWT_TILE_KERNELS; kernel++)
      print_kernel (text, table, (LwtTileKernel) kernel, wavelet, i);
    lwt_wavelet_free (wavelet);
  }
  g_string_append_printf (text,
      "extern \"C\" const LwtPrecompiled lwt_precompiled[] = {\n%s"
      "  { 0, nullptr, nullptr },\n};\n",
      table->str);
  ok = ok && g_file_set_contents (argv[1], text->str, -1, &error);
  if (error != NULL)
    g_printerr ("%s\n", error->message);
  g_clear_error (&error);
  g_string_free (table, TRUE);
  g_string_free (text, TRUE);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
