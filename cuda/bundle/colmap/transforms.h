/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The transforms.json of nerfstudio and instant-ngp that belongs to a COLMAP model: it
 * has poses and intrinsics, but neither points nor observations. Frames are found by the
 * end of file_path, which is the name of the image, or by colmap_im_id.
 *
 * A frame's transform_matrix takes the frame of its camera, which looks along -z with y
 * up, to a world that is that of the model moved by applied_transform (and scaled by
 * applied_scale). Without applied_transform, as instant-ngp writes it, both worlds are
 * aligned by the positions of the images. */
#pragma once

#include "cuda/bundle/colmap/model.h"
#include "cuda/bundle/formats/cloud.h"

G_BEGIN_DECLS

typedef struct _BundleTransforms BundleTransforms;

/* Reads a file that exists already, or begins a new one if @data is %NULL. @model: as it
 * was when the file was made
 * Returns: %NULL with CVIS_ERROR_FORMAT or CVIS_ERROR_INVALID */
BundleTransforms *bundle_transforms_new (
    const BundleModel *model, const gchar *data, gsize size, GError **error);
void bundle_transforms_free (BundleTransforms *transforms);

/* Gives the images of @model the poses of their frames. Where there are rigs of several
 * sensors, a frame of the rig gets that of its image by the reference, or else of its first
 * one, and its other images follow. */
void bundle_transforms_take_poses (
    const BundleTransforms *transforms, BundleModel *model);

/* Number of frames, and of those that the model contains */
guint bundle_transforms_count (
    const BundleTransforms *transforms, guint *n_known);

/* The file with poses and intrinsics of @model and everything else as it was.
 * Returns: (nullable): g_free(); %NULL with CVIS_ERROR_INVALID: the file cannot hold a
 *   camera model, or is of pictures of another size */
gchar *bundle_transforms_format (
    BundleTransforms *transforms, const BundleModel *model, GError **error);

/* Finds the PLY that the file names (ply_file_path), in @folder. @model: as it was when
 * the file was made
 * Returns: (nullable): g_free(); %NULL without an error: it names none; with one: the
 *   PLY cannot be read, or its points are not those of the model */
gchar *bundle_transforms_find_points (const BundleTransforms *transforms,
    const BundleModel *model, const gchar *folder, GError **error);
/* The points of @model as nerfstudio writes them. Returns: g_free() */
gchar *bundle_transforms_format_points (
    const BundleTransforms *transforms, const BundleModel *model);

/* The cameras of a file, and the points of the PLY that it names, for display.
 * @folder: (nullable): where the file is
 * @note: (out) (nullable): why the points are missing; g_free() */
BundleCloud *bundle_transforms_cloud (const gchar *data, gsize size,
    const gchar *folder, gchar **note, GError **error);

G_END_DECLS
