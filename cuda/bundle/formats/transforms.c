/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* nerfstudio's transforms.json. Its transform_matrix maps the camera's
 * frame, which is the same as here (along -z, y up), to the world's;
 * intrinsics follow OpenCV's model, for each frame. */
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"

static void
write_key (BundleText *text, const gchar *key)
{
  bundle_text_string (text, "      \"");
  bundle_text_string (text, key);
  bundle_text_string (text, "\":");
}

static void
write_value (BundleText *text, const gchar *key, gdouble value)
{
  write_key (text, key);
  bundle_text_number (text, ' ', value);
  bundle_text_string (text, ",\n");
}

/* Escapes control characters, quotes and backslashes */
static void
write_string (BundleText *text, const gchar *string)
{
  bundle_text_string (text, "\"");
  for (const gchar *c = string; *c; c++) {
    if ((guchar) *c < ' ' || *c == '"' || *c == '\\') {
      gchar escaped[8];

      g_snprintf (escaped, sizeof (escaped), "\\u%04x", (guint) *c);
      bundle_text_string (text, escaped);
    } else {
      bundle_text_bytes (text, c, 1);
    }
  }
  bundle_text_string (text, "\"");
}

static void
write_matrix (BundleText *text, const gdouble *camera)
{
  gdouble r[9], centre[3];

  bundle_rotation_to_matrix (camera + BUNDLE_CAMERA_ROTATION, r);
  bundle_pose_centre (camera, centre);
  write_key (text, "transform_matrix");
  bundle_text_string (text, " [");
  for (guint i = 0; i < 3; i++) {
    bundle_text_string (text, "\n        [");
    for (guint k = 0; k < 3; k++) {
      bundle_text_number (text, k ? ' ' : 0, r[3 * k + i]);
      bundle_text_string (text, ",");
    }
    bundle_text_number (text, ' ', centre[i]);
    bundle_text_string (text, "],");
  }
  bundle_text_string (text, "\n        [0, 0, 0, 1]\n      ]\n    }");
}

GBytes *
bundle_transforms_write (const BundleProblem *problem, GError **error)
{
  BundlePicture *pictures = bundle_pictures (problem, error);
  BundleText text = { 0 };

  if (!pictures)
    return NULL;
  bundle_text_string (
      &text, "{\n  \"camera_model\": \"OPENCV\",\n  \"frames\": [");
  for (guint i = 0; i < problem->n_cameras; i++) {
    const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
    gchar *name = bundle_view_name (problem, i);

    bundle_text_string (&text, i ? ",\n    {\n" : "\n    {\n");
    write_key (&text, "file_path");
    bundle_text_string (&text, " ");
    write_string (&text, name);
    bundle_text_string (&text, ",\n");
    write_value (&text, "w", pictures[i].width);
    write_value (&text, "h", pictures[i].height);
    write_value (&text, "cx", pictures[i].centre[0]);
    write_value (&text, "cy", pictures[i].centre[1]);
    write_value (&text, "fl_x", camera[BUNDLE_CAMERA_FOCAL]);
    write_value (&text, "fl_y", camera[BUNDLE_CAMERA_FOCAL]);
    write_value (&text, "k1", camera[BUNDLE_CAMERA_K1]);
    write_value (&text, "k2", camera[BUNDLE_CAMERA_K2]);
    write_value (&text, "p1", 0);
    write_value (&text, "p2", 0);
    write_matrix (&text, camera);
    g_free (name);
  }
  bundle_text_string (&text, "\n  ]\n}\n");
  g_free (pictures);
  return bundle_text_finish (&text, error);
}
