/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlwtmissing.h"

#include <math.h>

static gboolean
mask_bands (GstLwtFrame *frame, const LwtConfig *config, GError **error)
{
  const LwtJob *job = &frame->job;
  const gsize size = (gsize) config->width * config->height;
  guint8 *mask = g_try_malloc (size);

  if (mask == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for a mask of %" G_GSIZE_FORMAT " bytes", size);
    return FALSE;
  }
  for (guint y = 0; y < config->height; y++) {
    const gpointer row = (guint8 *) job->data + y * job->stride;
    guint8 *to = mask + (gsize) y * config->width;

    for (guint x = 0; x < config->width; x++)
      to[x] = (config->sample == LWT_SAMPLE_F64
                      ? isfinite (((const gdouble *) row)[x])
                      : isfinite (((const gfloat *) row)[x]))
                  ? 255
                  : 0;
  }
  gst_clear_buffer (&frame->mask);
  frame->mask = gst_buffer_new_wrapped (mask, size);
  return TRUE;
}

/* Computes parameters of the surface without the points that are NaN now. */
static gboolean
measure_again (LwtJob *job, const LwtConfig *config, GError **error)
{
  const LwtPlane *surface = &job->parts[CVIS_SURFACE_PART_MEASURED];
  LwtJob again = { .data = surface->data,
    .stride = surface->stride,
    .measured = 1u << CVIS_SURFACE_PART_FORM };
  LwtConfig form;
  LwtEngine *engine;
  LwtJob *done;
  gboolean ok;

  lwt_config_init (&form);
  form.width = config->width;
  form.height = config->height;
  form.type = config->type;
  form.sample = config->type == LWT_TYPE_F64 ? LWT_SAMPLE_F64 : LWT_SAMPLE_F32;
  form.wavelet = config->wavelet;
  /* with 0 levels the form is the surface */
  form.levels[0] = form.levels[1] = 0;
  form.levels_roughness[0] = form.levels_roughness[1] = 0;
  form.parts = form.parameters = 1u << CVIS_SURFACE_PART_FORM;
  form.dx = config->dx;
  form.dy = config->dy;
  form.threads = config->threads;
  engine = lwt_engine_new (&form, NULL, error);
  ok = engine != NULL && lwt_engine_submit (engine, &again, error)
       && lwt_engine_wait (engine, &done, error);
  lwt_engine_free (engine);
  if (ok)
    job->parameters[CVIS_SURFACE_PART_MEASURED] =
        again.parameters[CVIS_SURFACE_PART_FORM];
  return ok;
}

static gboolean
unfill (GstLwtFrame *frame, const LwtConfig *config, GError **error)
{
  LwtJob *job = &frame->job;
  const LwtPlane *surface = &job->parts[CVIS_SURFACE_PART_MEASURED];
  GstMapInfo mask;

  if (!gst_buffer_map (frame->mask, &mask, GST_MAP_READ)) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "the mask of the coefficients cannot be mapped");
    return FALSE;
  }
  for (guint y = 0; y < config->height; y++) {
    const gpointer row = (guint8 *) surface->data + y * surface->stride;
    const guint8 *from = mask.data + (gsize) y * config->width;

    for (guint x = 0; x < config->width; x++) {
      if (from[x] != 0)
        continue;
      job->missing++;
      if (config->type == LWT_TYPE_F64)
        ((gdouble *) row)[x] = NAN;
      else
        ((gfloat *) row)[x] = NAN;
    }
  }
  gst_buffer_unmap (frame->mask, &mask);
  return job->missing == 0
         || (config->parameters & (1u << CVIS_SURFACE_PART_MEASURED)) == 0
         || measure_again (job, config, error);
}

gboolean
gst_lwt_frame_carry_missing (
    GstLwtFrame *frame, const LwtConfig *config, GError **error)
{
  const LwtJob *job = &frame->job;

  if (config->type == LWT_TYPE_I32)
    return TRUE;
  if (config->operation == LWT_OPERATION_INVERSE)
    return frame->mask == NULL
           || job->parts[CVIS_SURFACE_PART_MEASURED].data == NULL
           || unfill (frame, config, error);
  return job->missing == 0 || job->parts[CVIS_SURFACE_PART_BANDS].data == NULL
         || mask_bands (frame, config, error);
}
