/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Low-pass components of surfaces, for comparison by other programs.
 *
 *   filter-dump filter=NAME width=W height=H cutoff-x=SAMPLES cutoff-y=SAMPLES
 *               [wavelet=9/7] [order=0] [tension=0] [type=f32|f64] [threads=0]
 *               [repeat=N] <surfaces
 *
 * Reads surfaces of W x H doubles, NaN for missing points, and writes the waviness
 * of each, all of what is longer than the cut-off, as doubles. With repeat= it
 * writes the shortest time of N in seconds instead, of roughness and waviness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/lifting/backend.h"

static const gchar *const filters[] = { "wavelet", "wavelet-decimated",
  "gaussian", "robust-gaussian", "spline" };

static void
check_dumped (gboolean ok, GError *error)
{
  if (ok)
    return;
  g_printerr ("filter-dump: %s\n", error->message);
  exit (1);
}

static gboolean
parse_option (
    LwtConfig *c, gchar **wavelet, guint *repeat, gchar *key, gchar *value)
{
  if (strcmp (key, "filter") == 0) {
    for (guint i = 0; i < G_N_ELEMENTS (filters); i++)
      if (strcmp (value, filters[i]) == 0)
        c->filter = (LwtFilter) i;
  } else if (strcmp (key, "width") == 0)
    c->width = (guint) atoi (value);
  else if (strcmp (key, "height") == 0)
    c->height = (guint) atoi (value);
  else if (strcmp (key, "cutoff-x") == 0)
    c->cutoffs[1][0] = c->cutoffs[2][0] = atof (value);
  else if (strcmp (key, "cutoff-y") == 0)
    c->cutoffs[1][1] = c->cutoffs[2][1] = atof (value);
  else if (strcmp (key, "wavelet") == 0)
    *wavelet = value;
  else if (strcmp (key, "order") == 0)
    c->order = (guint) atoi (value);
  else if (strcmp (key, "tension") == 0)
    c->tension = atof (value);
  else if (strcmp (key, "type") == 0)
    c->type = strcmp (value, "f64") == 0 ? LWT_TYPE_F64 : LWT_TYPE_F32;
  else if (strcmp (key, "threads") == 0)
    c->threads = (guint) atoi (value);
  else if (strcmp (key, "repeat") == 0)
    *repeat = (guint) atoi (value);
  else
    return FALSE;
  return TRUE;
}

static void
filter_once (LwtEngine *engine, const LwtConfig *c, gconstpointer z,
    gpointer roughness, gpointer smooth)
{
  LwtJob job = { .data = z,
    .stride = c->width * lwt_sample_get_size (c->sample) };
  const gsize stride = c->width * lwt_type_get_size (c->type);
  GError *error = NULL;
  LwtJob *done;

  if (roughness != NULL)
    job.parts[CVIS_SURFACE_PART_ROUGHNESS] =
        (LwtPlane){ .data = roughness, .stride = stride };
  job.parts[CVIS_SURFACE_PART_FORM] =
      (LwtPlane){ .data = smooth, .stride = stride };
  check_dumped (lwt_engine_submit (engine, &job, &error), error);
  check_dumped (lwt_engine_wait (engine, &done, &error), error);
}

static gdouble
measure_filter (LwtEngine *engine, const LwtConfig *c, const gdouble *z,
    gpointer roughness, gpointer smooth, guint repeat)
{
  const gsize n = (gsize) c->width * c->height;
  gfloat *narrow = g_new (gfloat, n);
  gint64 best = G_MAXINT64;

  for (gsize i = 0; i < n; i++)
    narrow[i] = (gfloat) z[i];
  for (guint i = 0; i < repeat; i++) {
    const gint64 start = g_get_monotonic_time ();

    filter_once (engine, c, narrow, roughness, smooth);
    best = MIN (best, g_get_monotonic_time () - start);
  }
  g_free (narrow);
  return 1e-6 * (gdouble) best;
}

int
main (int argc, char **argv)
{
  LwtConfig c;
  LwtWavelet *wavelet;
  LwtEngine *engine;
  gchar *name = (gchar *) "9/7";
  guint repeat = 0;
  GError *error = NULL;
  gpointer smooth, roughness;
  gdouble *z;
  gsize n;

  lwt_config_init (&c);
  c.filter = LWT_FILTER_GAUSSIAN;
  c.parts = 1u << CVIS_SURFACE_PART_FORM | 1u << CVIS_SURFACE_PART_ROUGHNESS;
  for (gint i = 1; i < argc; i++) {
    gchar *value = strchr (argv[i], '=');

    if (value != NULL)
      *value++ = '\0';
    if (value == NULL || !parse_option (&c, &name, &repeat, argv[i], value)) {
      g_printerr ("filter-dump: unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  c.sample = repeat > 0 ? LWT_SAMPLE_F32 : LWT_SAMPLE_F64;
  wavelet = lwt_wavelet_new (name, &error);
  check_dumped (wavelet != NULL, error);
  c.wavelet = wavelet;
  engine = lwt_engine_new_on (&lwt_backend_cpu, &c, NULL, &error);
  check_dumped (engine != NULL, error);
  n = (gsize) c.width * c.height;
  z = g_new (gdouble, n);
  smooth = g_malloc (n * sizeof (gdouble));
  roughness = g_malloc (n * sizeof (gdouble));
  while (fread (z, sizeof (gdouble), n, stdin) == n) {
    if (repeat > 0) {
      g_print (
          "%.4f\n", measure_filter (engine, &c, z, roughness, smooth, repeat));
      continue;
    }
    filter_once (engine, &c, z, NULL, smooth);
    for (gsize i = 0; i < n; i++) {
      const gdouble value = c.type == LWT_TYPE_F64
                                ? ((const gdouble *) smooth)[i]
                                : (gdouble) ((const gfloat *) smooth)[i];

      if (fwrite (&value, sizeof (value), 1, stdout) != 1)
        return 1;
    }
  }
  lwt_engine_free (engine);
  lwt_wavelet_free (wavelet);
  g_free (z);
  g_free (smooth);
  g_free (roughness);
  return 0;
}
