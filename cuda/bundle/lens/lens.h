/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Camera models of COLMAP: their names, parameters and projections. The files of
 * COLMAP and the solver use them.
 *
 * Source: COLMAP's documentation of camera models. A point (X, Y, Z) in a camera
 * that looks along +z with y down is at u = X/Z, v = Y/Z. A model distorts (u, v) to
 * (x, y); its image is (fx x + cx, fy y + cy), in pixels from the upper left corner. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The models in the order of COLMAP's numbers: name, number of focal lengths, number of
 * extra parameters */
#define BUNDLE_LENS_MODELS(MODEL)                                              \
  MODEL (SIMPLE_PINHOLE, 1, 0)                                                 \
  MODEL (PINHOLE, 2, 0)                                                        \
  MODEL (SIMPLE_RADIAL, 1, 1)                                                  \
  MODEL (RADIAL, 1, 2)                                                         \
  MODEL (OPENCV, 2, 4)                                                         \
  MODEL (OPENCV_FISHEYE, 2, 4)                                                 \
  MODEL (FULL_OPENCV, 2, 8)                                                    \
  MODEL (FOV, 2, 1)                                                            \
  MODEL (SIMPLE_RADIAL_FISHEYE, 1, 1)                                          \
  MODEL (RADIAL_FISHEYE, 1, 2)                                                 \
  MODEL (THIN_PRISM_FISHEYE, 2, 8)

typedef enum {
#define MODEL(name, n_focal, n_extra) BUNDLE_LENS_##name,
  BUNDLE_LENS_MODELS (MODEL)
#undef MODEL
      BUNDLE_N_LENS_MODELS
} BundleLensModel;

#define BUNDLE_LENS_SIZE 12 /* parameters of the largest model */

/**
 * BundleLens: the interior orientation of one or more cameras
 * @constant: bits of the parameters that the solver keeps
 * @parameters: focal length (fx, fy if there are two), cx, cy, extra parameters
 */
typedef struct {
  BundleLensModel model;
  guint16 constant;
  gdouble parameters[BUNDLE_LENS_SIZE];
} BundleLens;

/**
 * BundleLensInfo:
 * @n_focal: 1 or 2 focal lengths, followed by the principal point
 * @n_extra: parameters after them
 */
typedef struct {
  const gchar *name;
  guint n_focal, n_extra;
} BundleLensInfo;

extern const BundleLensInfo bundle_lens_info[BUNDLE_N_LENS_MODELS];

/* Number of parameters */
static inline guint
bundle_lens_size (BundleLensModel model)
{
  return bundle_lens_info[model].n_focal + 2 + bundle_lens_info[model].n_extra;
}

/* Returns: FALSE if no model has this name */
gboolean bundle_lens_find (const gchar *name, BundleLensModel *model);
/* Name of a model of later versions of COLMAP, which is not supported; %NULL: no
 * version has this number */
const gchar *bundle_lens_name_later (guint number);

/* The image of a point at @q in the camera's frame of problem.h, which looks along -z */
void bundle_lens_image (
    const BundleLens *lens, const gdouble q[3], gdouble image[2]);

G_END_DECLS
