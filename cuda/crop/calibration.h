/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Conversion from the machine's micrometres to the camera's pixels: a 3x3
 * homography. */
#pragma once

#include "cuda/core/error.h"

G_BEGIN_DECLS

/**
 * PbfCalibration:
 * @h: row-major; (u, v, w) = h * (x_um, y_um, 1), pixel = (u / w, v / w).
 *   Pixel centres lie at +0.5.
 */
typedef struct {
  gdouble h[9];
} PbfCalibration;

/* 200 um a pixel, the plate's origin at the frame's top left corner */
#define PBF_CALIBRATION_DEFAULT "0.005,0,0,0,0.005,0,0,0,1"

/* Parses nine numbers, row by row, separated by commas, semicolons or white
 * space; '.' is the decimal sign in every locale.
 * Returns: FALSE with CVIS_ERROR_INVALID for another count, numbers that are
 * not finite, or a singular matrix (tested after scaling rows and columns,
 * so units do not matter) */
gboolean pbf_calibration_parse (
    const gchar *text, PbfCalibration *calibration, GError **error);

/* Returns: FALSE if the point maps to infinity. */
gboolean pbf_calibration_apply (const PbfCalibration *calibration, gdouble x_um,
    gdouble y_um, gdouble *x_px, gdouble *y_px);

G_END_DECLS
