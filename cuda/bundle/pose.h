/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rotations in the forms used by files, and cameras that look along +z with
 * y down (COLMAP, NVM, TUM) instead of along -z with y up. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* @w: axis times angle. @r: by rows. @q: w, x, y, z */
void bundle_rotation_to_matrix (const gdouble w[3], gdouble r[9]);
/* Returns: FALSE if @r is not a rotation, to 1e-3 */
gboolean bundle_rotation_from_matrix (const gdouble r[9], gdouble w[3]);
void bundle_rotation_to_quaternion (const gdouble w[3], gdouble q[4]);
/* @q: of any length. Returns: FALSE if it is 0 */
gboolean bundle_rotation_from_quaternion (const gdouble q[4], gdouble w[3]);

/* The pose of @camera with y down: R = F R_bal, t = F t_bal, F = diag(1, -1, -1).
 * @q of R; the one of both signs whose w is not negative */
void bundle_pose_to_y_down (const gdouble *camera, gdouble q[4], gdouble t[3]);
gboolean bundle_pose_from_y_down (
    const gdouble q[4], const gdouble t[3], gdouble *camera);

/* Sets the pose of @to to that of @a after that of @b. If @a is 0, @to gets the bits of
 * @b. */
void bundle_pose_multiply (const gdouble *a, const gdouble *b, gdouble *to);
/* Position of @camera: -R^T t */
void bundle_pose_centre (const gdouble *camera, gdouble centre[3]);

G_END_DECLS
