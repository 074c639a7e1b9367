/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Coefficients of pictures, for comparison by other programs.
 *
 *   lifting-dump wavelet=DESCRIPTION width=W height=H levels-x=N levels-y=N
 *                [boundary=symmetric|periodic|clamp|zero] [type=f64|f32]
 *                [backend=reference|cpu] <pictures
 *
 * backend=reference is the plain C code of tests/reference. Reads pictures of
 * W x H doubles and writes the bands of each, in Mallat's layout, as doubles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lwtreference.h"

typedef struct {
  LwtConfig config;
  LwtWavelet *wavelet;
  guint backend; /* 0: the reference implementation */
} Options;

static void
check (gboolean ok, GError **error)
{
  if (ok)
    return;
  g_printerr ("lifting-dump: %s\n", (*error)->message);
  exit (1);
}

static gboolean
parse_name (const gchar *value, const gchar *const *names, guint *found)
{
  for (guint i = 0; names[i]; i++)
    if (strcmp (value, names[i]) == 0) {
      *found = i;
      return TRUE;
    }
  return FALSE;
}

static gboolean
parse (Options *options, const gchar *key, const gchar *value)
{
  static const gchar *const boundaries[] = { "symmetric", "periodic", "clamp",
    "zero", NULL };
  static const gchar *const backends[] = { "reference", "cpu", NULL };
  static const gchar *const types[] = { "f32", "f64", NULL };
  LwtConfig *c = &options->config;
  GError *error = NULL;
  guint i = 0;

  if (strcmp (key, "wavelet") == 0) {
    options->wavelet = lwt_wavelet_new (value, &error);
    check (options->wavelet != NULL, &error);
  } else if (strcmp (key, "width") == 0) {
    c->width = (guint) atoi (value);
  } else if (strcmp (key, "height") == 0) {
    c->height = (guint) atoi (value);
  } else if (strcmp (key, "levels-x") == 0) {
    c->levels[0] = (guint) atoi (value);
  } else if (strcmp (key, "levels-y") == 0) {
    c->levels[1] = (guint) atoi (value);
  } else if (strcmp (key, "boundary") == 0
             && parse_name (value, boundaries, &i)) {
    c->boundary = (LwtBoundary) i;
  } else if (strcmp (key, "type") == 0 && parse_name (value, types, &i)) {
    c->type = (LwtType) i;
  } else if (strcmp (key, "backend") == 0 && parse_name (value, backends, &i)) {
    options->backend = i;
  } else {
    return FALSE;
  }
  return TRUE;
}

static void
parse_all (Options *options, gint n, gchar **arguments)
{
  LwtConfig *c = &options->config;

  lwt_config_init (c);
  c->operation = LWT_OPERATION_FORWARD;
  c->sample = LWT_SAMPLE_F64;
  c->type = LWT_TYPE_F64;
  c->parts = 1u << CVIS_SURFACE_PART_BANDS;
  for (guint i = 0; i < 2; i++)
    c->levels[i] = c->levels_roughness[i] = c->levels_noise[i] = 0;
  for (gint i = 0; i < n; i++) {
    gchar *value = strchr (arguments[i], '=');

    if (value)
      *value++ = '\0';
    if (!value || !parse (options, arguments[i], value)) {
      g_printerr ("lifting-dump: unknown argument %s\n", arguments[i]);
      exit (2);
    }
  }
  c->wavelet = options->wavelet;
}

static void
transform (LwtEngine *engine, const LwtConfig *config, gdouble *picture,
    gpointer bands)
{
  LwtJob job = { .data = picture, .stride = config->width * sizeof (gdouble) };
  GError *error = NULL;
  LwtJob *done;

  job.parts[CVIS_SURFACE_PART_BANDS] = (LwtPlane){ .data = bands,
    .stride = config->width * lwt_type_get_size (config->type) };
  check (lwt_engine_submit (engine, &job, &error), &error);
  check (lwt_engine_wait (engine, &done, &error), &error);
}

static void
put (const LwtConfig *config, gconstpointer bands, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const gdouble value = config->type == LWT_TYPE_F64
                              ? ((const gdouble *) bands)[i]
                              : (gdouble) ((const gfloat *) bands)[i];

    if (fwrite (&value, sizeof (value), 1, stdout) != 1)
      exit (1);
  }
}

int
main (int argc, char **argv)
{
  Options options = { .wavelet = NULL };
  GError *error = NULL;
  LwtEngine *engine;
  gdouble *picture, *bands;
  gsize n;

  parse_all (&options, argc - 1, argv + 1);
  engine = lwt_engine_new_on (
      options.backend ? &lwt_backend_cpu : &lwt_backend_reference,
      &options.config, NULL, &error);
  check (engine != NULL, &error);
  n = (gsize) options.config.width * options.config.height;
  picture = g_new (gdouble, n);
  bands = g_new (gdouble, n);
  while (fread (picture, sizeof (gdouble), n, stdin) == n) {
    transform (engine, &options.config, picture, bands);
    put (&options.config, bands, n);
  }
  lwt_engine_free (engine);
  lwt_wavelet_free (options.wavelet);
  g_free (picture);
  g_free (bands);
  return 0;
}
