/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Frames copied between the memory where the caller has them and that of a backend, which
 * calls this. Components 1 and 2 that take turns in the rows of one plane (NV12) stay
 * together. */
#pragma once

#include "cuda/denoise/engine.h"

G_BEGIN_DECLS

/**
 * DenoiseStaging: memory for the components of a frame
 * @components: denoise_staging_get_size() bytes each
 * @pitch: bytes from row to row, denoise_staging_get_pitch()
 */
typedef struct {
  guint8 *components[3];
  gsize pitch[3];
} DenoiseStaging;

gsize denoise_staging_get_pitch (const DenoiseConfig *config, guint c);
gsize denoise_staging_get_size (const DenoiseConfig *config, guint c);

/* Rows of the caller's planes and of the staging */
typedef struct {
  guint8 *data, *staged;
  gsize stride, pitch;
  gsize bytes, n; /* of a row; rows */
} DenoiseStagingRows;

/* Returns: FALSE if component @c is in the rows of another one */
gboolean denoise_staging_get_rows (const DenoiseStaging *staging,
    const DenoiseConfig *config, const DenoisePlane planes[3], guint c,
    DenoiseStagingRows *rows);
/* Component @c of @planes in the staging */
DenoisePlane denoise_staging_get_plane (
    const DenoiseStaging *staging, const DenoisePlane planes[3], guint c);

/* Copies the input of @job, which is on a device, to @staging in the memory of @context
 * (%NULL: the host), after the work on the job's stream. */
gboolean denoise_staging_copy_in (const DenoiseStaging *staging,
    const DenoiseConfig *config, CvisContext *context, const DenoiseJob *job,
    GError **error);
/* Copies @staging to the output of @job, after the work on @stream, a CUstream of
 * @context. */
gboolean denoise_staging_copy_out (const DenoiseStaging *staging,
    const DenoiseConfig *config, CvisContext *context, gpointer stream,
    const DenoiseJob *job, GError **error);

G_END_DECLS
