/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A model of COLMAP, with everything that its files hold and in their order: a model
 * that nothing changed is written with the bytes that were read, if COLMAP wrote these.
 * A folder holds it as
 *
 *   cameras.bin, images.bin, points3D.bin      or the same with .txt
 *   rigs.bin, frames.bin                       (3.12 and later) */
#pragma once

#include "cuda/bundle/lens/lens.h"
#include "cuda/core/error.h"

G_BEGIN_DECLS

#define BUNDLE_MODEL_NO_POINT G_MAXUINT64

/* Bit of the pose of a camera in its rig */
#define BUNDLE_MODEL_SENSOR_POSE (1 << BUNDLE_LENS_SIZE)

/* @parameters: bundle_lens_size() of them; @constant: bits of those that an adjustment
 * keeps, and BUNDLE_MODEL_SENSOR_POSE */
typedef struct {
  guint32 id;
  BundleLensModel model;
  guint64 width, height;
  gdouble parameters[BUNDLE_LENS_SIZE];
  guint16 constant;
} BundleModelCamera;

/**
 * BundleModelImage:
 * @q, @t: the pose: rotation w, x, y, z and translation, world to camera
 * @camera: index into cameras
 * @first, @n: its features
 * @moved: the pose has changed since it was read
 * @constant: bits of the pose that an adjustment keeps, as in BundleProblem; in a rig
 *   those of its frame's pose
 */
typedef struct {
  guint32 id;
  guint camera;
  gboolean moved;
  guint16 constant;
  gdouble q[4], t[3];
  gchar *name;
  gsize first, n;
} BundleModelImage;

/**
 * BundleModelFeature:
 * @at: x, y in pixels from the upper left corner
 * @point: id; BUNDLE_MODEL_NO_POINT: none
 */
typedef struct {
  gdouble at[2];
  guint64 point;
} BundleModelFeature;

/* @image: index into images; @feature: index among its features */
typedef struct {
  guint32 image, feature;
} BundleModelElement;

/* @constant: an adjustment keeps its position; @first, @n: its track, in elements */
typedef struct {
  guint64 id;
  gdouble x[3], error;
  guint8 colour[3], constant;
  gsize first, n;
} BundleModelPoint;

/**
 * BundleModelPlace: the pose of a frame, world to rig, or of a sensor, rig to camera
 * @at, @size: its bytes in the file
 * @q, @t, @moved: as those of an image
 * @of: of a frame: index of its image by the reference sensor, which has the same pose;
 *   G_MAXUINT32: none. Of a sensor: index of its camera
 * @reference: of a sensor: index of the camera that is its rig's reference; G_MAXUINT32:
 *   none
 */
typedef struct {
  gsize at, size;
  gdouble q[4], t[3];
  gboolean moved;
  guint32 of, reference;
} BundleModelPlace;

/* In place of an index of a sensor: the reference or a camera without a rig; a sensor
 * without a pose. In place of an index of a frame: none */
#define BUNDLE_MODEL_REFERENCE G_MAXUINT32
#define BUNDLE_MODEL_NO_POSE (G_MAXUINT32 - 1)
#define BUNDLE_MODEL_NO_FRAME G_MAXUINT32

/**
 * BundleModelPrior: where an image was measured to be
 * @image: index into images
 * @information: inverse of the covariance: xx, xy, xz, yy, yz, zz
 */
typedef struct {
  guint image;
  gdouble position[3], information[6];
} BundleModelPrior;

/**
 * BundleModel: the arrays are freed by bundle_model_free()
 * @binary: how it was read
 * @comments: (nullable): the lines of the texts before the first record
 * @blank: lines of features end with a blank, as later versions write them
 * @rigs, @frames: (nullable): the files
 * @frame_list, @sensor_list: (nullable) (element-type BundleModelPlace): all frames, and
 *   the sensors with a pose
 * @frame_of: (nullable): of each image; @sensor_of: (nullable): of each camera: index, or
 *   one of the numbers above
 * @rig: (nullable): a rig with several cameras, for an error; if there is one, an
 *   adjustment takes the poses of images from their frames and sensors
 * @priors: (nullable) (element-type BundleModelPrior): not in the files (priors.h)
 * @n_lost: features whose points' tracks do not contain them; @n_unnamed: elements
 *   of tracks whose features name no point
 */
typedef struct {
  gboolean binary;
  guint n_cameras, n_images;
  gsize n_features, n_points, n_elements;
  BundleModelCamera *cameras;
  BundleModelImage *images;
  BundleModelFeature *features;
  BundleModelPoint *points;
  BundleModelElement *elements;
  gchar *comments[3];
  gboolean blank;
  GBytes *rigs, *frames;
  GArray *frame_list, *sensor_list;
  guint32 *frame_of, *sensor_of;
  gchar *rig;
  GArray *priors;
  gsize n_lost, n_unnamed;
} BundleModel;

/* The feature of an element of a track */
static inline BundleModelFeature *
bundle_model_feature_of (
    const BundleModel *model, const BundleModelElement *element)
{
  return &model->features[model->images[element->image].first
                          + element->feature];
}

void bundle_model_free (BundleModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BundleModel, bundle_model_free)

/* The files of a model. Those that do not exist have no data. */
enum {
  BUNDLE_MODEL_CAMERAS,
  BUNDLE_MODEL_IMAGES,
  BUNDLE_MODEL_POINTS,
  BUNDLE_MODEL_RIGS,
  BUNDLE_MODEL_FRAMES,
  BUNDLE_MODEL_FILES
};

typedef struct {
  const gchar *data; /* (nullable) */
  gsize size;
} BundleModelFile;

/* Returns: %NULL with CVIS_ERROR_FORMAT that names file, record and id,
 * CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED. A text's place is its line. */
BundleModel *bundle_model_parse (
    const BundleModelFile files[BUNDLE_MODEL_FILES], gboolean binary,
    GError **error);
/* @files: (out): %NULL for those that the model has not; otherwise free with
 * g_bytes_unref()
 * Returns: FALSE with CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED */
gboolean bundle_model_format (const BundleModel *model, gboolean binary,
    GBytes *files[BUNDLE_MODEL_FILES], GError **error);

/* Sets CVIS_ERROR_FORMAT about @field of record @record (from 0) of @file. @id: of the
 * record. Returns: FALSE */
gboolean bundle_model_fault (const BundleModelFile *files, gboolean binary,
    guint file, gsize record, guint64 id, const gchar *field, GError **error,
    const gchar *format, ...) G_GNUC_PRINTF (8, 9);

/* --- folder.c --- */

/* Name of a file in the folder */
const gchar *bundle_model_file_name (guint file, gboolean binary);
/* Whether the folder contains cameras.bin or cameras.txt */
gboolean bundle_model_is_folder (const gchar *folder);
/* Reads the binary files if all three exist, else the texts. Returns: %NULL with an
 * error as above, or one of G_FILE_ERROR */
BundleModel *bundle_model_read (const gchar *folder, GError **error);
/* Whether a model can be written there: a file of a later version that does not belong to
 * it would be read with it. @folder: may not exist */
gboolean bundle_model_check_folder (const BundleModel *model, gboolean binary,
    const gchar *folder, GError **error);
/* Writes all files under temporary names in @folder, which is made if necessary, and
 * then renames them. Returns: FALSE with an error; no file has changed unless a
 * renaming failed */
gboolean bundle_model_write (const BundleModel *model, gboolean binary,
    const gchar *folder, GError **error);

G_END_DECLS
