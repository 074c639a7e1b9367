/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What both backends share: names, scales and checks of the settings. */
#include "pbfengine.h"

const gchar *
pbf_feature_name (guint index)
{
  static const gchar *const names[PBF_N_FEATURES] = {
    "mp_area",
    "spatter_area",
    "spatter_count",
    "mp_ratio",
    "mp_mean",
    "polar_0",
    "polar_1",
    "polar_2",
    "polar_3",
    "polar_4",
    "polar_5",
    "hog_0",
    "hog_1",
    "hog_2",
    "hog_3",
    "hog_4",
    "hog_5",
    "hog_6",
    "hog_7",
    "hog_8",
    "var_mp_area",
    "var_spatter_area",
    "var_spatter_count",
    "var_mp_ratio",
    "var_mp_mean",
    "var_polar_0",
    "var_polar_1",
    "var_polar_2",
    "var_polar_3",
    "var_polar_4",
    "var_polar_5",
    "var_hog_0",
    "var_hog_1",
    "var_hog_2",
    "var_hog_3",
    "var_hog_4",
    "var_hog_5",
    "var_hog_6",
    "var_hog_7",
    "var_hog_8",
  };

  g_return_val_if_fail (index < PBF_N_FEATURES, NULL);
  return names[index];
}

guint
pbf_feature_scale (guint index)
{
  if (index == PBF_MP_MEAN)
    return 256;
  if (index == PBF_MP_RATIO || index >= PBF_HOG_0)
    return 65536;
  return 1;
}
