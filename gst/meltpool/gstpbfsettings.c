/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfsettings.h"

#define AUTO_BATCH_FRAMES 256
#define AUTO_BATCH_BYTES (32 * 1024 * 1024)
#define DEFAULT_MAX_LATENCY GST_MSECOND
/* longer, and an upstream pool of few buffers looks like a hang */
#define MAX_MAX_LATENCY (10 * GST_SECOND)
#define DEFAULT_MESSAGE_INTERVAL GST_SECOND

enum {
  THRESHOLD,
  CONNECTIVITY,
  POSITION_SOURCE,
  POSITION_X,
  POSITION_Y,
  SEARCH_RADIUS,
  ROI_ALIGN,
  SPATTER_SCOPE,
  MIN_SPATTER_AREA,
  POLAR_INNER_RADIUS,
  POLAR_OUTER_RADIUS,
  TEMPORAL_WINDOW,
  WINDOW_RESET,
  MAX_GAP,
  EMPTY_FRAMES,
  CALIBRATION,
  SIGNAL_DELAY,
  MODEL_LOCATION,
  OUTPUT_ACTIVATION,
  LABELLING,
  TRANSFER,
  THREADS,
  DEPTH,
  BATCH_SIZE,
  MAX_LATENCY,
  MESSAGE_INTERVAL,
  N_SETTINGS
};

/* --- the enumerations ------------------------------------------------------ */

static const GEnumValue connectivity_values[] = {
  { 4, "Pixels touch at their sides", "4" },
  { 8, "Pixels touch at their sides and corners", "8" },
  { 0, NULL, NULL },
};
static const GEnumValue position_source_values[] = {
  { PBF_POSITION_SOURCE_SIGNALS,
      "Machine signals through the calibration; the brightest spot where a "
      "frame has none",
      "signals" },
  { PBF_POSITION_SOURCE_BRIGHTEST, "Maximum of the 3x3 box sum", "brightest" },
  { PBF_POSITION_SOURCE_CENTROID,
      "Centroid of the pixels that reach the threshold", "centroid" },
  { PBF_POSITION_SOURCE_FIXED, "position-x and position-y", "fixed" },
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
  { PBF_ACTIVATION_NONE, "None", "none" },
  { PBF_ACTIVATION_SIGMOID, "Logistic function of each output", "sigmoid" },
  { PBF_ACTIVATION_SOFTMAX, "Softmax over the outputs", "softmax" },
  { 0, NULL, NULL },
};
static const GEnumValue labelling_values[] = {
  { PBF_LABELLING_AUTO, "By the number of runs in the frame", "auto" },
  { PBF_LABELLING_FLOOD, "Bit-parallel flood fill", "flood" },
  { PBF_LABELLING_RUNS, "Runs and union-find", "runs" },
  { 0, NULL, NULL },
};
static const GEnumValue transfer_values[] = {
  { PBF_TRANSFER_AUTO, "Whichever moves fewer bytes", "auto" },
  { PBF_TRANSFER_COPY, "Whole frames by the copy engine", "copy" },
  { PBF_TRANSFER_MAP, "The region of interest read from pinned memory", "map" },
  { 0, NULL, NULL },
};

/* --- their installation ---------------------------------------------------- */

#define FLAGS_READY                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define FLAGS_PLAYING                                                          \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

typedef struct {
  GObjectClass *klass;
  guint first_id;
} Installer;

static void
install_enum (const Installer *to, guint index, const gchar *type_name,
    const GEnumValue *values, const gchar *name, const gchar *blurb,
    gint default_value)
{
  GType type = g_type_from_name (type_name);

  if (type == 0)
    type = g_enum_register_static (type_name, values);
  gst_type_mark_as_plugin_api (type, 0);
  g_object_class_install_property (to->klass, to->first_id + index,
      g_param_spec_enum (name, name, blurb, type, default_value, FLAGS_READY));
}

static void
install_uint (const Installer *to, guint index, const gchar *name,
    const gchar *blurb, guint min, guint max, guint default_value)
{
  g_object_class_install_property (to->klass, to->first_id + index,
      g_param_spec_uint (
          name, name, blurb, min, max, default_value, FLAGS_READY));
}

static void
install_double (const Installer *to, guint index, const gchar *name,
    const gchar *blurb, gdouble min, gdouble max, gdouble default_value)
{
  g_object_class_install_property (to->klass, to->first_id + index,
      g_param_spec_double (
          name, name, blurb, min, max, default_value, FLAGS_READY));
}

static void
install_string (const Installer *to, guint index, const gchar *name,
    const gchar *blurb, const gchar *default_value)
{
  g_object_class_install_property (to->klass, to->first_id + index,
      g_param_spec_string (name, name, blurb, default_value, FLAGS_READY));
}

static void
install_time (const Installer *to, guint index, const gchar *name,
    const gchar *blurb, guint64 max, guint64 default_value)
{
  g_object_class_install_property (to->klass, to->first_id + index,
      g_param_spec_uint64 (
          name, name, blurb, 0, max, default_value, FLAGS_PLAYING));
}

static void
install_position (const Installer *to, const PbfConfig *config)
{
  install_enum (to, POSITION_SOURCE, "GstPbfPositionSource",
      position_source_values, "position-source",
      "Where the expected position of the melt pool comes from",
      PBF_POSITION_SOURCE_SIGNALS);
  install_double (to, POSITION_X, "position-x",
      "Column for position-source=fixed, pixels (pixel centres at +0.5)", 0,
      16384, 48);
  install_double (to, POSITION_Y, "position-y",
      "Row for position-source=fixed, pixels (pixel centres at +0.5)", 0, 16384,
      48);
  install_double (to, SEARCH_RADIUS, "search-radius",
      "Radius of the disc round the expected position in which the melt pool "
      "is looked for, pixels",
      0, 40, config->search_radius);
  install_string (to, CALIBRATION, "calibration",
      "3x3 homography from micrometres on the plate to pixels, nine numbers "
      "row by row",
      PBF_CALIBRATION_DEFAULT);
  install_uint (to, SIGNAL_DELAY, "signal-delay",
      "How much later than its signals a frame shows their effect, "
      "microseconds",
      0, 1000000, 0);
}

static void
install_features (const Installer *to, const PbfConfig *config)
{
  install_uint (to, THRESHOLD, "threshold",
      "A pixel is foreground if it is not below, grey levels", 1, 255,
      config->threshold);
  install_enum (to, CONNECTIVITY, "GstPbfConnectivity", connectivity_values,
      "connectivity", "Which foreground pixels are connected",
      (gint) config->connectivity);
  install_uint (to, ROI_ALIGN, "roi-align",
      "The left column of the region of interest is a multiple of it: 1, 2, "
      "4, 8, 16 or 32 pixels",
      1, 32, config->roi_align);
  install_enum (to, SPATTER_SCOPE, "GstPbfSpatterScope", spatter_scope_values,
      "spatter-scope", "Where spatters are looked for",
      (gint) config->spatter_scope);
  install_uint (to, MIN_SPATTER_AREA, "min-spatter-area",
      "Smaller components are no spatters, pixels", 1, 65535,
      config->min_spatter_area);
  install_double (to, POLAR_INNER_RADIUS, "polar-inner-radius",
      "Inner radius of the polar zones, pixels, at most polar-outer-radius", 0,
      57, config->polar_inner);
  install_double (to, POLAR_OUTER_RADIUS, "polar-outer-radius",
      "Outer radius of the polar zones, pixels", 0, 57, config->polar_outer);
  install_enum (to, LABELLING, "GstPbfLabelling", labelling_values, "labelling",
      "How components are found; the result does not depend on it",
      (gint) config->labelling);
}

static void
install_stream (const Installer *to, const PbfConfig *config)
{
  install_uint (to, TEMPORAL_WINDOW, "temporal-window",
      "Frames over which variances are taken", 1, 1024, config->window);
  install_enum (to, WINDOW_RESET, "GstPbfWindowReset", window_reset_values,
      "window-reset", "When the temporal window begins anew",
      (gint) config->window_reset);
  install_uint (to, MAX_GAP, "max-gap",
      "Empty or lost frames that window-reset=gap forgives", 0, 1000000,
      config->max_gap);
  install_enum (to, EMPTY_FRAMES, "GstPbfEmptyFrames", empty_frames_values,
      "empty-frames", "What becomes of frames with the laser off",
      PBF_EMPTY_FRAMES_FLAG);
  install_string (to, MODEL_LOCATION, "model-location",
      "Safetensors file of the network; without one there are features only",
      NULL);
  install_enum (to, OUTPUT_ACTIVATION, "GstPbfOutputActivation",
      activation_values, "output-activation",
      "What is applied to the network's outputs", (gint) config->activation);
}

static void
install_running (const Installer *to, const PbfConfig *config)
{
  install_enum (to, TRANSFER, "GstPbfTransfer", transfer_values, "transfer",
      "How frames reach the device (backend cuda)", (gint) config->transfer);
  install_uint (to, THREADS, "threads",
      "Threads that compute (backend cpu); 0: one per processor", 0, 1024, 0);
  install_uint (to, DEPTH, "depth",
      "Batches in flight, besides the one being filled", 2, 15, config->depth);
  install_uint (to, BATCH_SIZE, "batch-size",
      "Frames computed at once; 0: 256, or fewer where frames are large", 0,
      65536, 0);
  install_time (to, MAX_LATENCY, "max-latency",
      "How long a frame waits at most for its batch to fill, nanoseconds; 0: "
      "not at all",
      MAX_MAX_LATENCY, DEFAULT_MAX_LATENCY);
  install_time (to, MESSAGE_INTERVAL, "message-interval",
      "Shortest time between two element messages, nanoseconds; 0: none are "
      "posted",
      G_MAXUINT64, DEFAULT_MESSAGE_INTERVAL);
}

guint
gst_pbf_settings_install (GObjectClass *klass, guint first_id)
{
  Installer to = { klass, first_id };
  PbfConfig config;

  pbf_config_init (&config);
  install_position (&to, &config);
  install_features (&to, &config);
  install_stream (&to, &config);
  install_running (&to, &config);
  return first_id + N_SETTINGS;
}

/* --- values ---------------------------------------------------------------- */

void
gst_pbf_settings_init (GstPbfSettings *settings)
{
  *settings = (GstPbfSettings){ 0 };
  pbf_config_init (&settings->config);
  settings->config.threads = 0;
  settings->track.source = PBF_POSITION_SOURCE_SIGNALS;
  settings->track.fixed_x = settings->track.fixed_y = 48;
  settings->track.empty_frames = PBF_EMPTY_FRAMES_FLAG;
  settings->calibration = g_strdup (PBF_CALIBRATION_DEFAULT);
  settings->max_latency = DEFAULT_MAX_LATENCY;
  settings->message_interval = DEFAULT_MESSAGE_INTERVAL;
}

void
gst_pbf_settings_clear (GstPbfSettings *settings)
{
  g_clear_pointer (&settings->calibration, g_free);
  g_clear_pointer (&settings->model_location, g_free);
}

void
gst_pbf_settings_copy (GstPbfSettings *to, const GstPbfSettings *from)
{
  gst_pbf_settings_clear (to);
  *to = *from;
  to->calibration = g_strdup (from->calibration);
  to->model_location = g_strdup (from->model_location);
}

/* the settings that are held as plain numbers: unsigned, or double */
static guint *
find_uint (GstPbfSettings *s, guint index)
{
  switch (index) {
    case THRESHOLD:
      return &s->config.threshold;
    case ROI_ALIGN:
      return &s->config.roi_align;
    case MIN_SPATTER_AREA:
      return &s->config.min_spatter_area;
    case TEMPORAL_WINDOW:
      return &s->config.window;
    case MAX_GAP:
      return &s->config.max_gap;
    case SIGNAL_DELAY:
      return &s->track.signal_delay_us;
    case THREADS:
      return &s->config.threads;
    case DEPTH:
      return &s->config.depth;
    case BATCH_SIZE:
      return &s->batch_size;
    default:
      return NULL;
  }
}

static gdouble *
find_double (GstPbfSettings *s, guint index)
{
  switch (index) {
    case POSITION_X:
      return &s->track.fixed_x;
    case POSITION_Y:
      return &s->track.fixed_y;
    case SEARCH_RADIUS:
      return &s->config.search_radius;
    case POLAR_INNER_RADIUS:
      return &s->config.polar_inner;
    case POLAR_OUTER_RADIUS:
      return &s->config.polar_outer;
    default:
      return NULL;
  }
}

static guint64 *
find_time (GstPbfSettings *s, guint index)
{
  if (index == MAX_LATENCY)
    return &s->max_latency;
  return index == MESSAGE_INTERVAL ? &s->message_interval : NULL;
}

static gchar **
find_string (GstPbfSettings *s, guint index)
{
  if (index == CALIBRATION)
    return &s->calibration;
  return index == MODEL_LOCATION ? &s->model_location : NULL;
}

static gboolean
set_enum (GstPbfSettings *s, guint index, gint value)
{
  switch (index) {
    case CONNECTIVITY:
      s->config.connectivity = (guint) value;
      break;
    case POSITION_SOURCE:
      s->track.source = (PbfPositionSource) value;
      break;
    case SPATTER_SCOPE:
      s->config.spatter_scope = (PbfSpatterScope) value;
      break;
    case WINDOW_RESET:
      s->config.window_reset = (PbfWindowReset) value;
      break;
    case EMPTY_FRAMES:
      s->track.empty_frames = (PbfEmptyFrames) value;
      break;
    case OUTPUT_ACTIVATION:
      s->config.activation = (PbfActivation) value;
      break;
    case LABELLING:
      s->config.labelling = (PbfLabelling) value;
      break;
    case TRANSFER:
      s->config.transfer = (PbfTransfer) value;
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

static gint
get_enum (const GstPbfSettings *s, guint index)
{
  switch (index) {
    case CONNECTIVITY:
      return (gint) s->config.connectivity;
    case POSITION_SOURCE:
      return (gint) s->track.source;
    case SPATTER_SCOPE:
      return (gint) s->config.spatter_scope;
    case WINDOW_RESET:
      return (gint) s->config.window_reset;
    case EMPTY_FRAMES:
      return (gint) s->track.empty_frames;
    case OUTPUT_ACTIVATION:
      return (gint) s->config.activation;
    case LABELLING:
      return (gint) s->config.labelling;
    default:
      return (gint) s->config.transfer;
  }
}

gboolean
gst_pbf_settings_set (GstPbfSettings *s, guint index, const GValue *value)
{
  guint *u = find_uint (s, index);
  gdouble *d = find_double (s, index);
  guint64 *t = find_time (s, index);
  gchar **text = find_string (s, index);

  if (u != NULL) {
    *u = g_value_get_uint (value);
  } else if (d != NULL) {
    *d = g_value_get_double (value);
  } else if (t != NULL) {
    *t = g_value_get_uint64 (value);
  } else if (text != NULL) {
    g_free (*text);
    *text = g_value_dup_string (value);
  } else {
    return index < N_SETTINGS && set_enum (s, index, g_value_get_enum (value));
  }
  return TRUE;
}

gboolean
gst_pbf_settings_get (
    const GstPbfSettings *settings, guint index, GValue *value)
{
  GstPbfSettings *s = (GstPbfSettings *) settings; /* only read from */

  if (find_uint (s, index) != NULL)
    g_value_set_uint (value, *find_uint (s, index));
  else if (find_double (s, index) != NULL)
    g_value_set_double (value, *find_double (s, index));
  else if (find_time (s, index) != NULL)
    g_value_set_uint64 (value, *find_time (s, index));
  else if (find_string (s, index) != NULL)
    g_value_set_string (value, *find_string (s, index));
  else if (index < N_SETTINGS)
    g_value_set_enum (value, get_enum (s, index));
  else
    return FALSE;
  return TRUE;
}

gboolean
gst_pbf_settings_check (GstPbfSettings *settings, GError **error)
{
  PbfConfig config = settings->config;
  const gchar *text = settings->calibration;

  if (text == NULL)
    text = PBF_CALIBRATION_DEFAULT;
  if (!pbf_calibration_parse (text, &settings->track.calibration, error)) {
    g_prefix_error (error, "calibration=\"%s\": ", text);
    return FALSE;
  }
  settings->config.analyse_empty =
      settings->track.empty_frames == PBF_EMPTY_FRAMES_ANALYSE;
  /* the frames' size comes with the caps: any that is allowed will do */
  config.width = config.height = PBF_ROI_SIDE;
  config.max_batch = 1;
  return pbf_config_check (&config, error);
}

guint
gst_pbf_settings_batch_size (const GstPbfSettings *settings, gsize frame_size)
{
  if (settings->batch_size != 0)
    return settings->batch_size;
  return (guint) CLAMP (
      AUTO_BATCH_BYTES / MAX (frame_size, 1), 1, AUTO_BATCH_FRAMES);
}
