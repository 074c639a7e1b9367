/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/lens/lens.h"

#include <string.h>

#include "cuda/bundle/lens/observation.h"

const BundleLensInfo bundle_lens_info[BUNDLE_N_LENS_MODELS] = {
#define MODEL(name, n_focal, n_extra) { #name, n_focal, n_extra },
  BUNDLE_LENS_MODELS (MODEL)
#undef MODEL
};

gboolean
bundle_lens_find (const gchar *name, BundleLensModel *model)
{
  for (guint i = 0; i < BUNDLE_N_LENS_MODELS; i++)
    if (strcmp (name, bundle_lens_info[i].name) == 0) {
      *model = (BundleLensModel) i;
      return TRUE;
    }
  return FALSE;
}

const gchar *
bundle_lens_name_later (guint number)
{
  static const gchar *const names[] = { "RAD_TAN_THIN_PRISM_FISHEYE",
    "SIMPLE_DIVISION", "DIVISION", "SIMPLE_FISHEYE", "FISHEYE", "EUCM",
    "EQUIRECTANGULAR" };

  return number >= BUNDLE_N_LENS_MODELS
                 && number - BUNDLE_N_LENS_MODELS < G_N_ELEMENTS (names)
             ? names[number - BUNDLE_N_LENS_MODELS]
             : NULL;
}

void
bundle_lens_image (const BundleLens *lens, const gdouble q[3], gdouble image[2])
{
  const BundleConstants c = { .r = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  BundleSight sight;

  bundle_sight (lens->model, (int) bundle_lens_info[lens->model].n_focal,
      lens->parameters, &c, q[0], q[1], q[2], &sight);
  image[0] = sight.x;
  image[1] = sight.y;
}
