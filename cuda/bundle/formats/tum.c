/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* TUM's trajectories: "TIME TX TY TZ QX QY QZ QW" for each camera: its
 * position and its rotation from the camera's frame (along +z, y down) to
 * the world's. The time is the index of the camera. */
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"

GBytes *
bundle_tum_write (const BundleProblem *problem, GError **error)
{
  BundleText text = { 0 };

  bundle_text_string (&text, "# timestamp tx ty tz qx qy qz qw\n");
  for (guint i = 0; i < problem->n_cameras; i++) {
    const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
    gdouble q[4], t[3], centre[3];

    bundle_pose_to_y_down (camera, q, t);
    bundle_pose_centre (camera, centre);
    bundle_text_integer (&text, 0, i);
    bundle_text_numbers (&text, ' ', centre, 3);
    for (guint k = 1; k < 4; k++)
      bundle_text_number (&text, ' ', -q[k]);
    bundle_text_number (&text, ' ', q[0]);
    bundle_text_string (&text, "\n");
  }
  return bundle_text_finish (&text, error);
}
