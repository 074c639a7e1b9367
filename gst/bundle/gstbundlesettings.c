/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstbundlesettings.h"

#include "gstbundletypes.h"

static const GEnumValue loss_values[] = {
  { BUNDLE_LOSS_NONE, "Squares", "none" },
  { BUNDLE_LOSS_HUBER, "Huber: linear beyond the scale", "huber" },
  { BUNDLE_LOSS_CAUCHY, "Cauchy: logarithmic", "cauchy" },
  { BUNDLE_LOSS_TUKEY, "Tukey: constant beyond the scale", "tukey" },
  { BUNDLE_LOSS_SOFT_L1, "Soft L1: about linear beyond the scale", "soft-l1" },
  { 0, NULL, NULL },
};
static const GEnumValue preconditioner_values[] = {
  { BUNDLE_PRECONDITIONER_JACOBI, "Blocks of the normal equations", "jacobi" },
  { BUNDLE_PRECONDITIONER_SCHUR_JACOBI,
      "Diagonal blocks of the Schur complement", "schur-jacobi" },
  { BUNDLE_PRECONDITIONER_CLUSTER, "Blocks of clusters of cameras", "cluster" },
  { 0, NULL, NULL },
};

#define CONFIG(field) G_STRUCT_OFFSET (GstBundleSettings, config.field)
#define OWN(field) G_STRUCT_OFFSET (GstBundleSettings, field)

static const GstCvisSetting settings_table[] = {
  { "output-format", "Format of the adjusted reconstruction",
      GST_CVIS_SETTING_ENUM, OWN (output_format), TRUE, 0, 0,
      GST_BUNDLE_FORMAT_NAME, gst_bundle_format_values },
  { "max-iterations",
      "Most iterations of Levenberg-Marquardt; 0: only the cost is computed",
      GST_CVIS_SETTING_UINT, CONFIG (max_iterations), TRUE, 0, 10000, NULL,
      NULL },
  { "eta",
      "Conjugate gradients stop when an iteration improves the quadratic model "
      "by less than this factor of the mean improvement",
      GST_CVIS_SETTING_DOUBLE, CONFIG (eta), TRUE, 1e-12, 1, NULL, NULL },
  { "function-tolerance",
      "The adjustment stops when the cost changes by less than this factor of "
      "it",
      GST_CVIS_SETTING_DOUBLE, CONFIG (function_tolerance), TRUE, 0, 1, NULL,
      NULL },
  { "parameter-tolerance",
      "The adjustment stops when a step is shorter than this factor of the "
      "length of all parameters",
      GST_CVIS_SETTING_DOUBLE, CONFIG (parameter_tolerance), TRUE, 0, 1, NULL,
      NULL },
  { "gradient-tolerance",
      "The adjustment stops when no number in the gradient is larger",
      GST_CVIS_SETTING_DOUBLE, CONFIG (gradient_tolerance), TRUE, 0, 1e300,
      NULL, NULL },
  { "preconditioner", "Preconditioner of the conjugate gradients",
      GST_CVIS_SETTING_ENUM, CONFIG (preconditioner), TRUE, 0, 0,
      "GstBundlePreconditioner", preconditioner_values },
  { "loss", "Cost of a reprojection error", GST_CVIS_SETTING_ENUM,
      CONFIG (loss), TRUE, 0, 0, "GstBundleLoss", loss_values },
  { "loss-scale", "Scale of the robust loss, pixels", GST_CVIS_SETTING_DOUBLE,
      CONFIG (loss_scale), TRUE, 1e-150, 1e150, NULL, NULL },
  { "fix-intrinsics", "Keep focal lengths and distortion constant",
      GST_CVIS_SETTING_BOOLEAN, CONFIG (fix_intrinsics), TRUE, 0, 1, NULL,
      NULL },
  { "shared-intrinsics",
      "Use one focal length and distortion for all cameras, as for frames of "
      "one video",
      GST_CVIS_SETTING_BOOLEAN, CONFIG (shared_intrinsics), TRUE, 0, 1, NULL,
      NULL },
  { "fix-first-camera", "Keep rotation and translation of camera 0",
      GST_CVIS_SETTING_BOOLEAN, CONFIG (fix_first_camera), TRUE, 0, 1, NULL,
      NULL },
  { "threads", "Threads that compute (backend cpu); 0: one per processor",
      GST_CVIS_SETTING_UINT, CONFIG (threads), TRUE, 0, 4096, NULL, NULL },
  { "constants",
      "Text file of parameters to keep, with lines such as \"camera 0 pose\" "
      "and \"point 7\"",
      GST_CVIS_SETTING_STRING, OWN (constants), TRUE, 0, 0, NULL, NULL },
  { "covariance",
      "Compute the covariances of the cameras into stats, for up to 2000 "
      "cameras",
      GST_CVIS_SETTING_BOOLEAN, OWN (covariance), TRUE, 0, 1, NULL, NULL },
};

void
gst_bundle_settings_init (GstBundleSettings *settings)
{
  *settings = (GstBundleSettings){ .constants = g_strdup ("") };
  bundle_config_init (&settings->config);
}

void
gst_bundle_settings_bind (GObjectClass *klass, guint first_id, gsize offset)
{
  GstBundleSettings defaults;

  gst_bundle_settings_init (&defaults);
  gst_cvis_settings_bind (klass, first_id, settings_table,
      G_N_ELEMENTS (settings_table), offset, &defaults);
  g_free (defaults.constants);
}
