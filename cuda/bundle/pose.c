/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/pose.h"

#include <math.h>
#include "cuda/bundle/problem.h"
#include "cuda/bundle/turn.h"

#define ORTHONORMAL 1e-3

void
bundle_rotation_to_quaternion (const gdouble w[3], gdouble q[4])
{
  const gdouble angle = sqrt (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  const gdouble scale =
      angle > 1e-5 ? sin (angle / 2) / angle : 0.5 - angle * angle / 48;

  q[0] = cos (angle / 2);
  for (guint i = 0; i < 3; i++)
    q[i + 1] = scale * w[i];
}

gboolean
bundle_rotation_from_quaternion (const gdouble q[4], gdouble w[3])
{
  const gdouble largest =
      MAX (MAX (fabs (q[0]), fabs (q[1])), MAX (fabs (q[2]), fabs (q[3])));
  gdouble x, y, z, real, sine, scale;

  if (!(largest > 0))
    return FALSE;
  real = fabs (q[0]) / largest;
  x = q[1] / largest;
  y = q[2] / largest;
  z = q[3] / largest;
  sine = sqrt (x * x + y * y + z * z);
  /* both near 0 for small angles, for which atan2 is exact */
  scale = sine > 0 ? 2 * atan2 (sine, real) / sine : 2;
  if (q[0] < 0)
    scale = -scale;
  w[0] = scale * x;
  w[1] = scale * y;
  w[2] = scale * z;
  return TRUE;
}

void
bundle_rotation_to_matrix (const gdouble w[3], gdouble r[9])
{
  gdouble q[4];

  bundle_rotation_to_quaternion (w, q);
  r[0] = 1 - 2 * (q[2] * q[2] + q[3] * q[3]);
  r[1] = 2 * (q[1] * q[2] - q[0] * q[3]);
  r[2] = 2 * (q[1] * q[3] + q[0] * q[2]);
  r[3] = 2 * (q[1] * q[2] + q[0] * q[3]);
  r[4] = 1 - 2 * (q[1] * q[1] + q[3] * q[3]);
  r[5] = 2 * (q[2] * q[3] - q[0] * q[1]);
  r[6] = 2 * (q[1] * q[3] - q[0] * q[2]);
  r[7] = 2 * (q[2] * q[3] + q[0] * q[1]);
  r[8] = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
}

static gboolean
is_rotation (const gdouble r[9])
{
  gdouble determinant = 0;

  for (guint i = 0; i < 3; i++) {
    const guint j = (i + 1) % 3, k = (i + 2) % 3;

    determinant += r[i] * (r[3 + j] * r[6 + k] - r[3 + k] * r[6 + j]);
    for (guint n = i; n < 3; n++) {
      const gdouble product = r[3 * i] * r[3 * n] + r[3 * i + 1] * r[3 * n + 1]
                              + r[3 * i + 2] * r[3 * n + 2];

      if (!(fabs (product - (i == n)) <= ORTHONORMAL))
        return FALSE;
    }
  }
  return determinant > 0;
}

/* S. W. Shepperd, Quaternion from rotation matrix (J. Guidance and Control 1,
 * 1978): divides by the largest of the four. */
gboolean
bundle_rotation_from_matrix (const gdouble r[9], gdouble w[3])
{
  const gdouble trace = r[0] + r[4] + r[8];
  guint i = 0;
  gdouble q[4];

  if (!is_rotation (r))
    return FALSE;
  for (guint k = 1; k < 3; k++)
    if (r[4 * k] > r[4 * i])
      i = k;
  if (trace >= r[4 * i]) {
    q[0] = 1 + trace;
    q[1] = r[7] - r[5];
    q[2] = r[2] - r[6];
    q[3] = r[3] - r[1];
  } else {
    const guint j = (i + 1) % 3, k = (i + 2) % 3;

    q[0] = r[3 * k + j] - r[3 * j + k];
    q[1 + i] = 1 + r[4 * i] - r[4 * j] - r[4 * k];
    q[1 + j] = r[3 * i + j] + r[3 * j + i];
    q[1 + k] = r[3 * i + k] + r[3 * k + i];
  }
  return bundle_rotation_from_quaternion (q, w);
}

/* F is a half turn about x, the quaternion (0, 1, 0, 0): a product with it
 * only permutes and negates. */
void
bundle_pose_to_y_down (const gdouble *camera, gdouble q[4], gdouble t[3])
{
  gdouble up[4], sign;

  bundle_rotation_to_quaternion (camera + BUNDLE_CAMERA_ROTATION, up);
  sign = up[1] < 0 ? -1 : 1;
  q[0] = sign * up[1];
  q[1] = -sign * up[0];
  q[2] = sign * up[3];
  q[3] = -sign * up[2];
  t[0] = camera[BUNDLE_CAMERA_TRANSLATION];
  t[1] = -camera[BUNDLE_CAMERA_TRANSLATION + 1];
  t[2] = -camera[BUNDLE_CAMERA_TRANSLATION + 2];
}

gboolean
bundle_pose_from_y_down (
    const gdouble q[4], const gdouble t[3], gdouble *camera)
{
  const gdouble up[4] = { -q[1], q[0], -q[3], q[2] };

  camera[BUNDLE_CAMERA_TRANSLATION] = t[0];
  camera[BUNDLE_CAMERA_TRANSLATION + 1] = -t[1];
  camera[BUNDLE_CAMERA_TRANSLATION + 2] = -t[2];
  return bundle_rotation_from_quaternion (up, camera + BUNDLE_CAMERA_ROTATION);
}

void
bundle_pose_multiply (const gdouble *a, const gdouble *b, gdouble *to)
{
  const gdouble *t = b + BUNDLE_CAMERA_TRANSLATION;
  gdouble r[9], p[4], q[4], product[4], sum = 0;

  for (guint i = 0; i < 3; i++)
    sum += fabs (a[BUNDLE_CAMERA_ROTATION + i]);
  if (sum > 0) {
    bundle_rotation_to_quaternion (a + BUNDLE_CAMERA_ROTATION, p);
    bundle_rotation_to_quaternion (b + BUNDLE_CAMERA_ROTATION, q);
    bundle_turn_multiply (p, q, product);
    bundle_rotation_from_quaternion (product, to + BUNDLE_CAMERA_ROTATION);
  } else {
    memcpy (to + BUNDLE_CAMERA_ROTATION, b + BUNDLE_CAMERA_ROTATION,
        3 * sizeof *to);
  }
  bundle_rotation_to_matrix (a + BUNDLE_CAMERA_ROTATION, r);
  for (guint i = 0; i < 3; i++)
    to[BUNDLE_CAMERA_TRANSLATION + i] = r[3 * i] * t[0] + r[3 * i + 1] * t[1]
                                        + r[3 * i + 2] * t[2]
                                        + a[BUNDLE_CAMERA_TRANSLATION + i];
}

void
bundle_pose_centre (const gdouble *camera, gdouble centre[3])
{
  const gdouble *t = camera + BUNDLE_CAMERA_TRANSLATION;
  gdouble r[9];

  bundle_rotation_to_matrix (camera + BUNDLE_CAMERA_ROTATION, r);
  for (guint i = 0; i < 3; i++)
    centre[i] = -(r[i] * t[0] + r[3 + i] * t[1] + r[6 + i] * t[2]);
}
