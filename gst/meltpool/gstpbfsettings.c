/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfsettings.h"

#include "gstpbfgrey.h"

#define AUTO_BATCH_FRAMES 256
#define AUTO_BATCH_BYTES (32 * 1024 * 1024)
#define AUTO_HELD_TIME (100 * GST_MSECOND)
#define DEFAULT_MAX_LATENCY GST_MSECOND
/* with more, an upstream pool of few buffers would block for too long */
#define MAX_MAX_LATENCY (10 * GST_SECOND)
#define DEFAULT_MESSAGE_INTERVAL GST_SECOND
#define DEFAULT_RESULT_PORT 5501
#define DEFAULT_VOTE_WINDOW 100

/* --- the enumerations ------------------------------------------------------ */

const GEnumValue gst_pbf_connectivity_values[] = {
  { 4, "Pixels touch at their sides", "4" },
  { 8, "Pixels touch at their sides and corners", "8" },
  { 0, NULL, NULL },
};
static const GEnumValue roi_align_values[] = {
  { 1, "Any column", "1" },
  { 2, "Multiples of 2 pixels", "2" },
  { 4, "Multiples of 4 pixels", "4" },
  { 8, "Multiples of 8 pixels", "8" },
  { 16, "Multiples of 16 pixels", "16" },
  { 32, "Multiples of 32 pixels", "32" },
  { 0, NULL, NULL },
};
static const GEnumValue position_source_values[] = {
  { PBF_POSITION_SOURCE_SIGNALS,
      "Machine signals through the calibration; the brightest spot where a "
      "frame has none",
      "signals" },
  { PBF_POSITION_SOURCE_BRIGHTEST,
      "Brightest spot of the component that is most likely the pool, by area "
      "and brightness",
      "brightest" },
  { PBF_POSITION_SOURCE_CENTROID,
      "Centroid of the pixels that reach the threshold", "centroid" },
  { PBF_POSITION_SOURCE_FIXED, "The properties position-x and position-y",
      "fixed" },
  { PBF_POSITION_SOURCE_BRIGHTEST_PIXEL,
      "Maximum of the 3x3 box sum; of several the first in raster order",
      "brightest-pixel" },
  { 0, NULL, NULL },
};
static const GEnumValue spatter_scope_values[] = {
  { PBF_SPATTER_SCOPE_ROI, "Spatters in the region of interest", "roi" },
  { PBF_SPATTER_SCOPE_FRAME, "Spatters in the whole frame", "frame" },
  { 0, NULL, NULL },
};
static const GEnumValue window_reset_values[] = {
  { PBF_WINDOW_RESET_NONE, "Never", "none" },
  { PBF_WINDOW_RESET_GAP, "After more than max-gap empty or lost frames",
      "gap" },
  { PBF_WINDOW_RESET_VECTOR, "At each new scan vector or layer", "vector" },
  { PBF_WINDOW_RESET_LAYER, "At each new layer", "layer" },
  { 0, NULL, NULL },
};
static const GEnumValue empty_frames_values[] = {
  { PBF_EMPTY_FRAMES_FLAG, "Pass on, with a record flagged empty", "flag" },
  { PBF_EMPTY_FRAMES_DROP, "Drop the frame and its record", "drop" },
  { PBF_EMPTY_FRAMES_ANALYSE, "Compute features, outside the window",
      "analyse" },
  { 0, NULL, NULL },
};
static const GEnumValue activation_values[] = {
  { PBF_ACTIVATION_AUTO, "Activation by the network's file, else none",
      "auto" },
  { PBF_ACTIVATION_NONE, "None", "none" },
  { PBF_ACTIVATION_SIGMOID, "Logistic function of each output", "sigmoid" },
  { PBF_ACTIVATION_SOFTMAX, "Softmax over the outputs", "softmax" },
  { 0, NULL, NULL },
};
static const GEnumValue mode_values[] = {
  { PBF_MODE_AUTO,
      "Persistent kernel for batches of up to 4 frames, otherwise batches",
      "auto" },
  { PBF_MODE_BATCH, "Kernels launched for each batch", "batch" },
  { PBF_MODE_PERSISTENT,
      "One kernel that stays on the device and takes frames from a ring",
      "persistent" },
  { 0, NULL, NULL },
};

/* --- the settings ---------------------------------------------------------- */

#define CONFIG(field) G_STRUCT_OFFSET (GstPbfSettings, config.field)
#define TRACK(field) G_STRUCT_OFFSET (GstPbfSettings, track.field)
#define OWN(field) G_STRUCT_OFFSET (GstPbfSettings, field)
#define IS(kind) GST_CVIS_SETTING_##kind
#define ENUM(name, blurb, at, type, values)                                    \
  {                                                                            \
    name, blurb, IS (ENUM), at, FALSE, 0, 0, type, values                      \
  }
#define UINT(name, blurb, at, min, max)                                        \
  {                                                                            \
    name, blurb, IS (UINT), at, FALSE, min, max, NULL, NULL                    \
  }
#define INT(name, blurb, at, min, max)                                         \
  {                                                                            \
    name, blurb, IS (INT), at, FALSE, min, max, NULL, NULL                     \
  }
#define DOUBLE(name, blurb, at, min, max)                                      \
  {                                                                            \
    name, blurb, IS (DOUBLE), at, FALSE, min, max, NULL, NULL                  \
  }
#define STRING(name, blurb, at)                                                \
  {                                                                            \
    name, blurb, IS (STRING), at, FALSE, 0, 0, NULL, NULL                      \
  }
#define TIME(name, blurb, at, max)                                             \
  {                                                                            \
    name, blurb, IS (TIME), at, TRUE, 0, max, NULL, NULL                       \
  }

static const GstCvisSetting settings_table[] = {
  ENUM ("position-source", "Source of the expected position of the melt pool",
      TRACK (source), "GstPbfPositionSource", position_source_values),
  DOUBLE ("position-x",
      "Column of the expected position, pixels (pixel centres at +0.5); used "
      "with position-source=fixed",
      TRACK (fixed_x), 0, 16384),
  DOUBLE ("position-y",
      "Row of the expected position, pixels (pixel centres at +0.5); used with "
      "position-source=fixed",
      TRACK (fixed_y), 0, 16384),
  DOUBLE ("search-radius",
      "Radius of the disc around the expected position in which the element "
      "searches for the melt pool, pixels",
      CONFIG (search_radius), 0, 40),
  STRING ("calibration",
      "3x3 homography from micrometres on the plate to pixels, nine numbers "
      "row by row",
      OWN (calibration)),
  UINT ("signal-delay",
      "Time from machine signals to their effect in a frame, microseconds",
      TRACK (signal_delay_us), 0, 1000000),
  INT ("shift", GST_PBF_SHIFT_BLURB, OWN (shift), GST_PBF_SHIFT_AUTO,
      GST_PBF_MAX_SHIFT),
  UINT ("threshold", "Lowest value of foreground pixels, grey levels",
      CONFIG (threshold), 1, 255),
  ENUM ("connectivity", "Neighbourhood that connects foreground pixels",
      CONFIG (connectivity), GST_PBF_CONNECTIVITY_TYPE,
      gst_pbf_connectivity_values),
  UINT ("roi-size",
      "Side of the square region of interest, pixels; a multiple of 8",
      CONFIG (roi_size), PBF_MIN_ROI, PBF_MAX_ROI),
  ENUM ("roi-align",
      "Alignment of the left column of the region of interest, pixels",
      CONFIG (roi_align), "GstPbfRoiAlign", roi_align_values),
  ENUM ("spatter-scope", "Area in which the element searches for spatters",
      CONFIG (spatter_scope), "GstPbfSpatterScope", spatter_scope_values),
  UINT ("min-spatter-area",
      "Smallest area of a component that counts as a spatter, pixels",
      CONFIG (min_spatter_area), 1, 65535),
  DOUBLE ("polar-inner-radius",
      "Inner radius of the polar zones, pixels, at most polar-outer-radius",
      CONFIG (polar_inner), 0, 57),
  DOUBLE ("polar-outer-radius", "Outer radius of the polar zones, pixels",
      CONFIG (polar_outer), 0, 57),
  UINT ("temporal-window", "Frames over which variances are taken",
      CONFIG (window), 1, 1024),
  ENUM ("window-reset", "Frames that restart the temporal window",
      CONFIG (window_reset), "GstPbfWindowReset", window_reset_values),
  UINT ("max-gap",
      "Longest run of empty or lost frames that does not restart the temporal "
      "window; used with window-reset=gap",
      CONFIG (max_gap), 0, 1000000),
  ENUM ("empty-frames", "Handling of frames with the laser off",
      TRACK (empty_frames), "GstPbfEmptyFrames", empty_frames_values),
  STRING ("model-location",
      "Safetensors file of the network; without one there are features only",
      OWN (model_location)),
  UINT ("learn-baseline",
      "Nominal frames at the beginning of the stream whose means become the "
      "machine's baseline, stored in baseline-location; at least 2000, 0: none",
      OWN (learn_baseline), 0, PBF_BASELINE_MAX_FRAMES),
  STRING ("baseline-location",
      "Safetensors file that receives the network with the baseline of "
      "learn-baseline",
      OWN (baseline_location)),
  STRING ("machine",
      "Identity of the machine: stored with a baseline, and compared with that "
      "of model-location",
      OWN (machine)),
  ENUM ("output-activation", "Function applied to the network's outputs",
      CONFIG (activation), "GstPbfOutputActivation", activation_values),
  UINT ("vote-window",
      "Frames that vote for the class of the stream: the last ones with a "
      "class",
      OWN (vote_window), 1, PBF_MAX_VOTE_WINDOW),
  ENUM ("mode", "Launching of kernels; used on CUDA", CONFIG (mode),
      "GstPbfMode", mode_values),
  UINT ("parallel-frames",
      "Frames that the kernel of mode=persistent computes at once; 0: chosen "
      "by "
      "the frame rate",
      OWN (parallel_frames), 0, 64),
  UINT ("spin-time",
      "Time for which the element polls for results of mode=persistent before "
      "it sleeps between polls, microseconds",
      CONFIG (spin_us), 0, 1000000),
  INT ("poll-core",
      "Processor that the thread which waits for results is bound to; -1: any",
      OWN (poll_core), -1, 1023),
  UINT ("threads", "Threads that compute on the CPU; 0: one per processor",
      CONFIG (threads), 0, 1024),
  UINT ("depth", "Batches in flight, besides the one being filled",
      CONFIG (depth), 2, 15),
  UINT ("batch-size",
      "Frames computed at once; 0: 256, or fewer where frames are large or "
      "slow: the element then holds at most 100 ms of frames",
      OWN (batch_size), 0, 65536),
  TIME ("max-latency",
      "Longest time that a frame waits for its batch to fill, nanoseconds; 0: "
      "no wait",
      OWN (max_latency), MAX_MAX_LATENCY),
  TIME ("message-interval",
      "Shortest time between two element messages, nanoseconds; 0: none are "
      "posted",
      OWN (message_interval), 0),
  STRING ("result-host",
      "Name or address of the machine that results are sent to over UDP, a "
      "datagram each; without one they are not sent",
      OWN (result_host)),
  UINT ("result-port",
      "UDP port that results are sent to; used with result-host",
      OWN (result_port), 1, 65535),
};

void
gst_pbf_settings_install (GstCvisFilterClass *klass, gsize offset)
{
  GstPbfSettings defaults = { 0 };

  gst_pbf_settings_init (&defaults);
  gst_cvis_filter_class_install_settings (
      klass, settings_table, G_N_ELEMENTS (settings_table), offset, &defaults);
  gst_pbf_settings_clear (&defaults);
}

/* --- values ---------------------------------------------------------------- */

void
gst_pbf_settings_init (GstPbfSettings *settings)
{
  *settings = (GstPbfSettings){ 0 };
  pbf_config_init (&settings->config);
  settings->config.threads = 0;
  settings->config.mode = PBF_MODE_AUTO;
  settings->config.activation = PBF_ACTIVATION_AUTO;
  settings->vote_window = DEFAULT_VOTE_WINDOW;
  settings->poll_core = -1;
  settings->track.source = PBF_POSITION_SOURCE_SIGNALS;
  settings->track.fixed_x = settings->track.fixed_y = 48;
  settings->track.empty_frames = PBF_EMPTY_FRAMES_FLAG;
  settings->calibration = g_strdup (PBF_CALIBRATION_DEFAULT);
  settings->shift = GST_PBF_SHIFT_AUTO;
  settings->max_latency = DEFAULT_MAX_LATENCY;
  settings->message_interval = DEFAULT_MESSAGE_INTERVAL;
  settings->result_port = DEFAULT_RESULT_PORT;
}

void
gst_pbf_settings_clear (GstPbfSettings *settings)
{
  g_clear_pointer (&settings->calibration, g_free);
  g_clear_pointer (&settings->model_location, g_free);
  g_clear_pointer (&settings->baseline_location, g_free);
  g_clear_pointer (&settings->machine, g_free);
  g_clear_pointer (&settings->result_host, g_free);
}

void
gst_pbf_settings_copy (GstPbfSettings *to, const GstPbfSettings *from)
{
  gst_pbf_settings_clear (to);
  *to = *from;
  to->calibration = g_strdup (from->calibration);
  to->model_location = g_strdup (from->model_location);
  to->baseline_location = g_strdup (from->baseline_location);
  to->machine = g_strdup (from->machine);
  to->result_host = g_strdup (from->result_host);
}

gboolean
gst_pbf_settings_check (GstPbfSettings *settings, GError **error)
{
  PbfConfig config = settings->config;
  const gchar *text = settings->calibration;

  if (text == NULL || *text == '\0')
    text = PBF_CALIBRATION_DEFAULT;
  if (!pbf_calibration_parse (text, &settings->track.calibration, error)) {
    g_prefix_error (error, "calibration=\"%s\": ", text);
    return FALSE;
  }
  settings->config.analyse_empty =
      settings->track.empty_frames == PBF_EMPTY_FRAMES_ANALYSE;
  /* the size of frames comes with the caps: any valid one serves for the check */
  config.width = config.height = PBF_MAX_ROI;
  config.max_batch = 1;
  return pbf_config_check (&config, error);
}

GstClockTime
gst_pbf_settings_held_time (const GstPbfSettings *settings)
{
  return MAX (AUTO_HELD_TIME, settings->max_latency);
}

GstPbfBatching
gst_pbf_settings_batching (
    const GstPbfSettings *settings, const GstVideoInfo *info)
{
  GstPbfBatching b = { settings->batch_size, settings->config.depth,
    settings->parallel_frames };
  gsize bytes = MAX (GST_VIDEO_INFO_SIZE (info), 1);
  guint64 held; /* frames that the element may hold */

  if (b.parallel_frames == 0)
    b.parallel_frames = pbf_choose_parallel_frames (
        (gdouble) GST_VIDEO_INFO_FPS_N (info) / GST_VIDEO_INFO_FPS_D (info));
  if (b.size > 0)
    return b;
  b.size = (guint) CLAMP (AUTO_BATCH_BYTES / bytes, 1, AUTO_BATCH_FRAMES);
  if (GST_VIDEO_INFO_FPS_N (info) == 0)
    return b;
  held = gst_util_uint64_scale (gst_pbf_settings_held_time (settings),
      GST_VIDEO_INFO_FPS_N (info),
      GST_SECOND * (guint64) GST_VIDEO_INFO_FPS_D (info));
  b.size = (guint) CLAMP (held / (b.depth + 1), 1, b.size);
  b.depth = (guint) CLAMP ((gint64) (held / b.size) - 1, 1, (gint64) b.depth);
  return b;
}
