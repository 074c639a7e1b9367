/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fits a calibration, the homography from the plate to pixels, to pairs of positions.
 * `cudavision calibrate` calls it.
 *
 * The centroid of a melt pool is behind the laser, by its tail and by any delay of the
 * signals: it is where the laser was a distance `lag` before, in its direction of motion.
 * The lag is fitted together with the homography. It is 0 where the directions cannot
 * tell it from a shift: fewer than half of the pairs have one, or their mean is longer
 * than 0.8.
 *
 * The rule is fixed, and the result depends on the pairs only:
 * 1. For each lag from -8 to 8 pixels in steps of 0.5, 100 homographies through four
 *    pairs each, chosen by a generator with a fixed seed. The one with the smallest
 *    median residual is kept (least median of squares: nearly half of the pairs may be
 *    wrong).
 * 2. sigma = median residual of all pairs / 1.1774 (that of a plane normal distribution);
 *    pairs with residuals of up to the limit max (3.03 sigma, 0.25 pixels) are used: 99 %
 *    of the right ones.
 * 3. Least squares of the residuals in pixels over the pairs used. 2 and 3 are repeated
 *    until the pairs stay the same, at most 10 times.
 *
 * Source of 1: P. J. Rousseeuw, Least Median of Squares Regression, JASA 79 (1984). */
#pragma once

#include "cuda/crop/calibration.h"

G_BEGIN_DECLS

#define PBF_FIT_MIN_PAIRS 20

/**
 * PbfPositionPair:
 * @x_um, @y_um: of the laser on the plate
 * @x_px, @y_px: of the melt pool's centroid
 * @x_direction, @y_direction: of the motion on the plate, of length 1; 0, 0: not known
 */
typedef struct {
  gdouble x_um, y_um;
  gdouble x_px, y_px;
  gdouble x_direction, y_direction;
} PbfPositionPair;

/**
 * PbfCalibrationFit:
 * @lag_um: distance from the laser back to the melt pool's centroid
 * @lag_known: whether it was fitted; else 0
 * @used: pairs within the limit
 * @limit_px: of residuals
 * @median_px, @rms_px, @largest_px: residuals of the pairs used
 * @corner_error_px: largest standard error of the calibration in the corners of the
 *   plate positions' bounding box
 */
typedef struct {
  PbfCalibration calibration;
  gdouble lag_um;
  gboolean lag_known;
  guint used;
  gdouble limit_px;
  gdouble median_px, rms_px, largest_px;
  gdouble corner_error_px;
} PbfCalibrationFit;

/**
 * pbf_calibration_fit:
 * @residuals: (out caller-allocates): of all @n pairs, pixels
 *
 * Returns: FALSE with CVIS_ERROR_INVALID and the remedy if the pairs do not determine
 * the calibration: fewer than PBF_FIT_MIN_PAIRS pairs, or fewer that agree; a median
 * residual above a quarter of the standard deviation of the pixel positions, by axis; a
 * standard deviation below 2 pixels across the narrowest direction (a line or a point);
 * a standard error above 1 pixel in a corner
 */
gboolean pbf_calibration_fit (const PbfPositionPair *pairs, guint n,
    PbfCalibrationFit *fit, gdouble *residuals, GError **error);

/* Nine numbers with commas, which pbf_calibration_parse() reads back as the same bits.
 * Free with g_free(). */
gchar *pbf_calibration_format (const PbfCalibration *calibration);

G_END_DECLS
