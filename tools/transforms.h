/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The transforms.json of nerfstudio and instant-ngp that belongs to a COLMAP model: it
 * has poses and intrinsics, but neither points nor observations. Frames are found by the
 * names of their images, of which file_path ends with, or by colmap_im_id.
 *
 * A frame's transform_matrix takes the frame of its camera, which looks along -z with y
 * up, to a world that is that of the model moved by applied_transform (and scaled by
 * applied_scale). Without applied_transform, as instant-ngp writes it, both worlds are
 * aligned by the positions of the images. */
#pragma once

#include "cuda/bundle/colmap/model.h"

G_BEGIN_DECLS

typedef struct _Transforms Transforms;

/* Reads a file that exists already, or begins a new one if @data is %NULL. @model: as it
 * was when the file was made
 * Returns: %NULL with CVIS_ERROR_FORMAT or CVIS_ERROR_INVALID */
Transforms *transforms_new (
    const BundleModel *model, const gchar *data, gsize size, GError **error);
void transforms_free (Transforms *transforms);

/* Gives the images of @model the poses of their frames. */
void transforms_take_poses (const Transforms *transforms, BundleModel *model);

/* Number of frames, and of those that the model contains */
guint transforms_count (const Transforms *transforms, guint *n_known);

/* The file with poses and intrinsics of @model and everything else as it was.
 * Returns: (nullable): g_free(); %NULL with CVIS_ERROR_INVALID: the file cannot hold a
 *   camera model, or is of pictures of another size */
gchar *transforms_format (
    Transforms *transforms, const BundleModel *model, GError **error);

G_END_DECLS
