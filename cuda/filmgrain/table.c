/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Film grain as the text that encoders read. Called by filmgrainenc. */
#include "cuda/filmgrain/filmgrain.h"

/* Encoders derive the seed of each frame from it. */
#define SEED 7391

static void
append_points (GString *table, const gchar *name, const FilmGrainComponent *c)
{
  g_string_append_printf (table, "\t%s %u ", name, c->points);
  for (guint i = 0; i < c->points; i++)
    g_string_append_printf (table, " %u %u", c->level[i], c->scaling[i]);
  g_string_append_c (table, '\n');
}

static void
append_coefficients (
    GString *table, const gchar *name, const FilmGrainComponent *c, guint n)
{
  g_string_append_printf (table, "\t%s", name);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (table, " %d", c->ar[i]);
  g_string_append_c (table, '\n');
}

void
film_grain_append_entry (
    GString *table, const FilmGrainParameters *p, gint64 start, gint64 end)
{
  static const gchar *const points[] = { "sY", "sCb", "sCr" };
  static const gchar *const coefficients[] = { "cY", "cCb", "cCr" };

  g_string_append_printf (table,
      "E %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " 1 %d 1\n", start, end, SEED);
  /* the scaling of chroma is by the level of the luma: its own has a factor of 0 */
  g_string_append_printf (table,
      "\tp %d %u %u %u 0 1 128 192 256 128 192 256\n", FILM_GRAIN_LAG,
      p->ar_shift, p->grain_shift, p->scaling_shift);
  for (guint i = 0; i < 3; i++)
    append_points (table, points[i], &p->components[i]);
  for (guint i = 0; i < 3; i++)
    append_coefficients (table, coefficients[i], &p->components[i],
        FILM_GRAIN_NEIGHBOURS + (i > 0));
}
