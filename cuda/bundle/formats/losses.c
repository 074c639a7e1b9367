/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The losses and guesses of the formats that hold a whole problem. Called by the elements
 * before they write. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/engine.h"
#include "cuda/core/cancel.h"

#define KEPT 1e-9       /* of the cost */
#define KEPT_ERROR 1e-6 /* pixels, if there is hardly any cost */

/* Half the sum of squared reprojection errors; negative: no memory, or cancelled */
static gdouble
compute_cost (const BundleProblem *problem, guint threads)
{
  gdouble *errors = g_try_new (gdouble, problem->n_observations), cost = 0;

  if (!errors)
    return -1;
  bundle_reprojection_errors (problem, threads, errors, NULL);
  for (gsize i = 0; i < problem->n_observations; i++)
    cost += errors[i] * errors[i] / 2;
  g_free (errors);
  return cvis_cancelled () ? -1 : cost;
}

static guint
count_unknown (const BundleProblem *problem, gboolean sizes)
{
  guint n = 0;

  if (!problem->views)
    return problem->n_cameras;
  for (guint i = 0; i < problem->n_cameras; i++)
    n += sizes ? !problem->views[i].width || !problem->views[i].height
               : problem->views[i].name == NULL;
  return n;
}

static void
add_cost (GString *text, const BundleProblem *problem, BundleFormat format,
    guint threads)
{
  void (*const hold[]) (const gdouble *, gdouble *) = { NULL,
    bundle_bundler_hold, bundle_nvm_hold, bundle_colmap_hold };
  BundleProblem held = *problem;
  gdouble before, after;
  guint n_k2 = 0;

  held.cameras =
      g_try_new (gdouble, BUNDLE_CAMERA_SIZE * (gsize) problem->n_cameras);
  if (!held.cameras)
    return;
  for (guint i = 0; i < problem->n_cameras; i++) {
    const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
    gdouble *to = held.cameras + (gsize) i * BUNDLE_CAMERA_SIZE;

    hold[format](camera, to);
    n_k2 += fabs (to[BUNDLE_CAMERA_K2] - camera[BUNDLE_CAMERA_K2])
            > 1e-12 * fabs (camera[BUNDLE_CAMERA_K2]);
  }
  before = compute_cost (problem, threads);
  after = compute_cost (&held, threads);
  if (before >= 0 && after >= 0
      && fabs (after - before) > MAX (KEPT * before,
             (gdouble) problem->n_observations * KEPT_ERROR * KEPT_ERROR / 2)) {
    if (n_k2)
      g_string_append_printf (text,
          "NVM has one coefficient of radial distortion: k2 of %u cameras is "
          "replaced by 3 k1^2. ",
          n_k2);
    else
      g_string_append (
          text, "The numbers of the file round rotations and positions. ");
    g_string_append_printf (text,
        "The cost of the file is %.9g, that of the reconstruction %.9g. ",
        after, before);
  }
  g_free (held.cameras);
}

gchar *
bundle_format_losses (
    const BundleProblem *problem, BundleFormat format, guint threads)
{
  GString *text = g_string_new (NULL);
  guint n;

  if (format == BUNDLE_FORMAT_BUNDLER || format == BUNDLE_FORMAT_NVM
      || format == BUNDLE_FORMAT_COLMAP)
    add_cost (text, problem, format, threads);
  n = format == BUNDLE_FORMAT_NVM || format == BUNDLE_FORMAT_COLMAP
              || format == BUNDLE_FORMAT_TRANSFORMS
          ? count_unknown (problem, FALSE)
          : 0;
  if (n > 0)
    g_string_append_printf (text,
        "The names of %u pictures are unknown: they are called 00000000.jpg "
        "and "
        "so on. ",
        n);
  n = format == BUNDLE_FORMAT_COLMAP || format == BUNDLE_FORMAT_TRANSFORMS
          ? count_unknown (problem, TRUE)
          : 0;
  if (n > 0)
    g_string_append_printf (text,
        "The sizes of %u pictures are unknown: they are the smallest that hold "
        "the observations, with the principal point in the middle. ",
        n);
  g_strchomp (text->str);
  if (*text->str && !cvis_cancelled ())
    return g_string_free (text, FALSE);
  g_string_free (text, TRUE);
  return NULL;
}
