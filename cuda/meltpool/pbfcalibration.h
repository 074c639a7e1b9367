/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From the machine's micrometres to the camera's pixels: a 3x3 homography. */
#pragma once

#include "cviserror.h"

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

/* Reads nine numbers, row by row, separated by commas, semicolons or white
 * space; '.' is the decimal sign in every locale.
 * Returns: FALSE with CVIS_ERROR_INVALID for another count, numbers that are
 * not finite, or a matrix that is singular (its rank is found after scaling
 * rows and columns, so units do not matter). */
gboolean pbf_calibration_parse (
    const gchar *text, PbfCalibration *calibration, GError **error);

/* Whether it maps the plate onto a line or a point, as far as doubles tell. */
gboolean pbf_calibration_is_singular (const PbfCalibration *calibration);

/* Full precision; parse (format (c)) == c. Free with g_free(). */
gchar *pbf_calibration_format (const PbfCalibration *calibration);

/* Returns: FALSE where the point maps to infinity. */
gboolean pbf_calibration_apply (const PbfCalibration *calibration, gdouble x_um,
    gdouble y_um, gdouble *x_px, gdouble *y_px);

/* Fits @calibration to @n >= 4 pairs of points: RANSAC (seeded, repeatable)
 * against outliers of more than @tolerance_px, then least squares over the
 * inliers (normalised DLT, Hartley & Zisserman, Multiple View Geometry, 4.4,
 * refined by Gauss-Newton on the reprojection error).
 * @residual_px: (out) (optional): root mean square of the inliers' residuals
 * @n_inliers: (out) (optional)
 * Returns: FALSE with CVIS_ERROR_INVALID for too few or degenerate points. */
gboolean pbf_calibration_fit (const gdouble (*um)[2], const gdouble (*px)[2],
    guint n, gdouble tolerance_px, PbfCalibration *calibration,
    gdouble *residual_px, guint *n_inliers, GError **error);

G_END_DECLS
