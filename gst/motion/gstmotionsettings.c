/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmotionsettings.h"

#include "cuda/motion/summary.h"

/* --- the enumerations ------------------------------------------------------ */

static const GEnumValue method_values[] = {
  { MOTION_METHOD_FULL, "Full search: the smallest difference, exact", "full" },
  { MOTION_METHOD_STEP, "Step search: coarse to fine grids", "step" },
  { MOTION_METHOD_ZONAL, "Zonal search: predictors, diamonds, refinement",
      "zonal" },
  { MOTION_METHOD_FIELD, "Regularised field: true motion, with a confidence",
      "field" },
  { 0, NULL, NULL },
};
static const GEnumValue granularity_values[] = {
  { MOTION_GRANULARITY_1, "3x3 points, six search iterations", "1" },
  { MOTION_GRANULARITY_2, "7x7 points, three search iterations", "2" },
  { MOTION_GRANULARITY_3, "15x15 points, two search iterations", "3" },
  { 0, NULL, NULL },
};
static const GEnumValue block_size_values[] = {
  { 8, "8x8 pixels", "8" },
  { 16, "16x16 pixels", "16" },
  { 32, "32x32 pixels", "32" },
  { 64, "64x64 pixels", "64" },
  { 0, NULL, NULL },
};
static const GEnumValue border_values[] = {
  { MOTION_BORDER_PAD, "Beyond the edge lies the edge's sample", "pad" },
  { MOTION_BORDER_INSIDE, "Only blocks wholly inside the reference", "inside" },
  { 0, NULL, NULL },
};
static const GEnumValue subpel_values[] = {
  { MOTION_SUBPEL_NONE, "Whole pixels", "none" },
  { MOTION_SUBPEL_HALF, "Half pixels", "half" },
  { MOTION_SUBPEL_QUARTER, "Quarter pixels", "quarter" },
  { 0, NULL, NULL },
};
static const GEnumValue roi_values[] = {
  { GST_MOTION_ROI_NONE, "None", "none" },
  { GST_MOTION_ROI_MSDK, "For msdkh264enc and similar encoders (roi/msdk)",
      "msdk" },
  { GST_MOTION_ROI_VAAPI, "For vaapih264enc and similar encoders (roi/vaapi)",
      "vaapi" },
  { 0, NULL, NULL },
};

/* --- the settings ---------------------------------------------------------- */

#define CONFIG(field) G_STRUCT_OFFSET (GstMotionSettings, config.field)
#define OWN(field) G_STRUCT_OFFSET (GstMotionSettings, field)

static const GstCvisSetting settings_table[] = {
  { "method", "Search method", GST_CVIS_SETTING_ENUM, CONFIG (method), FALSE, 0,
      0, "GstMotionMethod", method_values },
  { "granularity", "Grids of points of the step search (method=step)",
      GST_CVIS_SETTING_ENUM, CONFIG (granularity), FALSE, 0, 0,
      "GstMotionGranularity", granularity_values },
  { "block-size", "Side of a block, pixels", GST_CVIS_SETTING_ENUM,
      CONFIG (block_size), FALSE, 0, 0, "GstMotionBlockSize",
      block_size_values },
  { "search-range", "Search range, pixels in each direction",
      GST_CVIS_SETTING_UINT, CONFIG (range), FALSE, 1, 128, NULL, NULL },
  { "border", "Extension of the reference beyond its edges",
      GST_CVIS_SETTING_ENUM, CONFIG (border), FALSE, 0, 0, "GstMotionBorder",
      border_values },
  { "lambda", "Cost of a bit of the vector, in levels of 8-bit samples",
      GST_CVIS_SETTING_UINT, CONFIG (lambda), FALSE, 0, 255, NULL, NULL },
  { "subpel", "Precision of vectors", GST_CVIS_SETTING_ENUM, CONFIG (subpel),
      FALSE, 0, 0, "GstMotionSubpel", subpel_values },
  { "references", "Frames that are searched in each direction",
      GST_CVIS_SETTING_UINT, CONFIG (references), FALSE, 1, 4, NULL, NULL },
  { "bidirectional", "Search later frames too, for which each frame waits",
      GST_CVIS_SETTING_BOOLEAN, CONFIG (bidirectional), FALSE, 0, 1, NULL,
      NULL },
  { "interval",
      "Search every n-th frame, against the one searched before; the frames "
      "between pass without vectors",
      GST_CVIS_SETTING_UINT, OWN (interval), FALSE, 1, 100, NULL, NULL },
  { "search-size",
      "Longest side of the searched picture, pixels: larger frames are "
      "subsampled, and packets describe the subsampled picture; 0: all pixels",
      GST_CVIS_SETTING_UINT, OWN (search_size), FALSE, 0, 16384, NULL, NULL },
  { "threads", "Threads that search (backend cpu); 0: one per processor",
      GST_CVIS_SETTING_UINT, CONFIG (threads), FALSE, 0, 1024, NULL, NULL },
  { "scene-threshold",
      "Scene score, 0 to 1, from which a frame is the first of a scene; 0: "
      "no detection of scene cuts",
      GST_CVIS_SETTING_DOUBLE, OWN (scene_threshold), TRUE, 0, 1, NULL, NULL },
  { "force-key-units",
      "Ask encoders downstream for a key frame at each scene cut",
      GST_CVIS_SETTING_BOOLEAN, OWN (force_key_units), TRUE, 0, 1, NULL, NULL },
  { "roi",
      "Kind of regions of interest to attach around blocks that move against "
      "the global motion",
      GST_CVIS_SETTING_ENUM, OWN (roi), TRUE, 0, 0, "GstMotionRoi",
      roi_values },
  { "roi-delta-qp",
      "Quantiser offset that regions of interest ask of the encoder; negative: "
      "better quality",
      GST_CVIS_SETTING_INT, OWN (roi_delta_qp), TRUE, -51, 51, NULL, NULL },
  { "roi-min-motion",
      "Smallest difference between a block's vector and the global motion to "
      "be of interest, pixels",
      GST_CVIS_SETTING_DOUBLE, OWN (roi_min_motion), TRUE, 0.25, 128, NULL,
      NULL },
  { "message-interval",
      "Shortest time between two element messages with statistics, "
      "nanoseconds; 0: none are posted",
      GST_CVIS_SETTING_TIME, OWN (message_interval), TRUE, 0, 0, NULL, NULL },
};

void
gst_motion_settings_init (GstMotionSettings *settings)
{
  *settings = (GstMotionSettings){
    .scene_threshold = MOTION_SCENE_THRESHOLD,
    .roi_delta_qp = -6,
    .roi_min_motion = 2.0,
    .message_interval = GST_SECOND,
    .interval = 1,
  };
  motion_config_init (&settings->config);
  /* for people, not for encoders: the motion of the scene, and its confidence */
  settings->config.method = MOTION_METHOD_FIELD;
  settings->config.block_size = 16;
  settings->config.subpel = MOTION_SUBPEL_QUARTER;
}

void
gst_motion_settings_install (GstCvisFilterClass *klass, gsize offset)
{
  GstMotionSettings defaults;

  gst_motion_settings_init (&defaults);
  gst_cvis_filter_class_install_settings (
      klass, settings_table, G_N_ELEMENTS (settings_table), offset, &defaults);
}
