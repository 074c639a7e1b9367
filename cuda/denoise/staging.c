/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/denoise/staging.h"

#include "cuda/denoise/arithmetic.h"

static gsize
get_sample_size (const DenoiseConfig *config)
{
  return config->depth == 8 ? 1 : 2;
}

gsize
denoise_staging_get_pitch (const DenoiseConfig *config, guint c)
{
  const gsize width = (gsize) denoise_shape (config, c).width;

  /* room for two components in a row */
  return (width * (c == 1 ? 2 : 1) * get_sample_size (config) + 63) / 64 * 64;
}

gsize
denoise_staging_get_size (const DenoiseConfig *config, guint c)
{
  return denoise_staging_get_pitch (config, c)
         * (gsize) denoise_shape (config, c).height;
}

/* Whether components 1 and 2 take turns in the rows of one plane */
static gboolean
are_interleaved (const DenoisePlane planes[3])
{
  return planes[1].step == 2;
}

static guint8 *
get_first (const DenoisePlane planes[3], guint c)
{
  return c == 1 && are_interleaved (planes)
             ? MIN (planes[1].data, planes[2].data)
             : planes[c].data;
}

gboolean
denoise_staging_get_rows (const DenoiseStaging *staging,
    const DenoiseConfig *config, const DenoisePlane planes[3], guint c,
    DenoiseStagingRows *rows)
{
  const DenoiseShape shape = denoise_shape (config, c);

  if (c == 2 && are_interleaved (planes))
    return FALSE;
  rows->data = get_first (planes, c);
  rows->stride = planes[c].stride;
  rows->staged = staging->components[c];
  rows->pitch = staging->pitch[c];
  rows->bytes = (gsize) shape.width * planes[c].step * get_sample_size (config);
  rows->n = (gsize) shape.height;
  return TRUE;
}

DenoisePlane
denoise_staging_get_plane (
    const DenoiseStaging *staging, const DenoisePlane planes[3], guint c)
{
  const guint shared = are_interleaved (planes) && c == 2 ? 1 : c;
  DenoisePlane plane = planes[c];

  plane.data = staging->components[shared]
               + (planes[c].data - get_first (planes, shared));
  plane.stride = staging->pitch[shared];
  return plane;
}

gboolean
denoise_staging_copy_in (const DenoiseStaging *staging,
    const DenoiseConfig *config, CvisContext *context, const DenoiseJob *job,
    GError **error)
{
  DenoiseStagingRows rows;

  for (guint c = 0; c < config->n_components; c++) {
    if (!denoise_staging_get_rows (staging, config, job->in, c, &rows))
      continue;
    const CvisDeviceRows from = { job->context, rows.data, rows.stride };
    const CvisDeviceRows to = { context, rows.staged, rows.pitch };

    if (!cvis_device_copy_rows (
            &to, &from, rows.bytes, rows.n, job->stream, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
denoise_staging_copy_out (const DenoiseStaging *staging,
    const DenoiseConfig *config, CvisContext *context, gpointer stream,
    const DenoiseJob *job, GError **error)
{
  DenoiseStagingRows rows;

  for (guint c = 0; c < config->n_components; c++) {
    if (!denoise_staging_get_rows (staging, config, job->out, c, &rows))
      continue;
    const CvisDeviceRows from = { context, rows.staged, rows.pitch };
    const CvisDeviceRows to = { job->context, rows.data, rows.stride };

    if (!cvis_device_copy_rows (&to, &from, rows.bytes, rows.n, stream, error))
      return FALSE;
  }
  return TRUE;
}
