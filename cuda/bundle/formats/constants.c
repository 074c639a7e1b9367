/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/formats/constants.h"

#include <stdlib.h>
#include <string.h>
#include "cuda/bundle/formats/scanner.h"

static const BundleScanBits parameters[] = { { "all", BUNDLE_CAMERA_ALL },
  { "rotation", 0x007 }, { "translation", 0x038 }, { "pose", 0x03f },
  { "intrinsics", BUNDLE_CAMERA_INTRINSICS }, { "focal", 0x040 },
  { "k1", 0x080 }, { "k2", 0x100 } };

static gboolean
read_constant (BundleScanner *s, BundleProblem *problem, GError **error)
{
  g_autofree gchar *kind = NULL;
  const gchar *at = s->at;
  guint64 number;

  if (!bundle_scan_word (s, "start", &kind, error))
    return FALSE;
  if (strcmp (kind, "camera") == 0)
    return bundle_scan_integer (
               s, "camera", 0, problem->n_cameras - 1, &number, error)
           && bundle_scan_bits (s, "parameters", parameters,
               G_N_ELEMENTS (parameters),
               "all, rotation, translation, pose, intrinsics, focal, k1 or k2",
               &problem->camera_constant[number], error);
  if (strcmp (kind, "point") != 0)
    return bundle_scan_fault (
        s, at, "start", error, "it must be camera or point");
  if (!bundle_scan_integer (
          s, "point", 0, problem->n_points - 1, &number, error))
    return FALSE;
  problem->point_constant[number] = 1;
  if (bundle_scan_more (s))
    return bundle_scan_fault (
        s, s->at, "end of the line", error, "text follows");
  return TRUE;
}

gboolean
bundle_constants_read (
    BundleProblem *problem, const gchar *data, gsize size, GError **error)
{
  BundleScanner s = bundle_scan_new ("", data, size, TRUE);

  if (!problem->camera_constant)
    problem->camera_constant =
        calloc (problem->n_cameras, sizeof (*problem->camera_constant));
  if (!problem->point_constant)
    problem->point_constant = calloc (problem->n_points, 1);
  if (!problem->camera_constant || !problem->point_constant) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %u points", problem->n_points);
    return FALSE;
  }
  for (; bundle_scan_line (&s); bundle_scan_skip_line (&s))
    if (!read_constant (&s, problem, error))
      return FALSE;
  return TRUE;
}
