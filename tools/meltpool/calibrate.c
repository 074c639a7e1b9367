/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision calibrate`: the homography from the machine's positions to pixels, from a
 * recording of full frames. Calls the compute library; there is no pipeline. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda/camera/recording.h"
#include "cuda/crop/calibrationfit.h"
#include "cuda/meltpool/engine.h"
#include "tools/command.h"
#include "tools/inputs.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/plot.h"
#include "tools/report.h"

#define BATCH 256
/* Residual vectors in the plot, at most, and their enlargement */
#define MAX_VECTORS 1000
#define ENLARGED 5
#define BARS 40

static struct {
  gchar *output;
  gint threshold, delay;
} options;

static const GOptionEntry entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Write the nine numbers of the property calibration", "FILE.txt" },
  { "threshold", 0, 0, G_OPTION_ARG_INT, &options.threshold,
      "Lowest grey value of the foreground, 1 to 255; default: 100", "LEVEL" },
  { "signal-delay", 0, 0, G_OPTION_ARG_INT, &options.delay,
      "Time from machine signals to their effect in a frame; default: 0",
      "US" },
  { NULL },
};

/**
 * Calibrating:
 * @pairs: (element-type PbfPositionPair): positions that are used for the fit
 * @frames: of the recording
 * @damaged: places in it
 * @last: the record before, if last.size > 0
 * @dark, @unsure, @cut: frames without a melt pool or position, with several possible
 *   pools, and with a pool at the edge of its region
 */
typedef struct {
  const CommonOptions *common;
  const gchar *name;
  PbfRecordingHead head;
  GArray *pairs;
  guint64 frames, damaged, dark, unsure, cut;
  CvisPbfResult last;
  PbfCalibrationFit fit;
  gdouble *residuals;
} Calibrating;

/* --- positions ------------------------------------------------------------- */

/**
 * Gathering: frames that are collected for the engine
 * @pixels, @infos, @results: of @n frames
 */
typedef struct {
  Calibrating *self;
  PbfTrack *track;
  PbfEngine *engine;
  gsize frame_bytes;
  guint n;
  guint8 *pixels;
  const guint8 *frames[BATCH];
  guint strides[BATCH];
  PbfFrameInfo infos[BATCH];
  CvisPbfResult results[BATCH];
} Gathering;

#define USABLE (CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_POSITION_VALID)

/* The direction from the position of the record before in the same vector */
static void
set_direction (PbfPositionPair *pair, const CvisPbfResult *last,
    const CvisPbfResult *result)
{
  const gdouble x = (gdouble) result->x_um - last->x_um;
  const gdouble y = (gdouble) result->y_um - last->y_um;
  const gdouble length = hypot (x, y);

  if (last->size == 0 || last->layer != result->layer
      || last->vector_id != result->vector_id || length == 0
      || (last->signal_flags & USABLE) != USABLE)
    return;
  pair->x_direction = x / length;
  pair->y_direction = y / length;
}

static void
add_pair (Calibrating *self, const CvisPbfResult *result)
{
  PbfPositionPair pair = { .x_um = result->x_um,
    .y_um = result->y_um,
    .x_px = result->centroid_x_q8 / 256.0,
    .y_px = result->centroid_y_q8 / 256.0 };

  set_direction (&pair, &self->last, result);
  self->last = *result;
  if ((result->signal_flags & USABLE) != USABLE
      || (result->flags & CVIS_PBF_RESULT_EMPTY) || result->bbox_width == 0)
    self->dark++;
  else if (result->flags & CVIS_PBF_RESULT_POSITION_UNSURE)
    self->unsure++;
  else if (result->flags & CVIS_PBF_RESULT_POOL_AT_EDGE)
    self->cut++;
  else
    g_array_append_val (self->pairs, pair);
}

static gboolean
find_pools (Gathering *g, GError **error)
{
  PbfBatch batch = { .n = g->n,
    .frames = g->frames,
    .strides = g->strides,
    .infos = g->infos,
    .results = g->results };
  PbfBatch *done;

  if (g->n == 0)
    return TRUE;
  if (!pbf_engine_submit (g->engine, &batch, error)
      || !pbf_engine_wait (g->engine, &done, error))
    return FALSE;
  for (guint i = 0; i < g->n; i++)
    add_pair (g->self, &g->results[i]);
  g->n = 0;
  return TRUE;
}

/* An engine for frames of @head, with the largest region that fits: only the centroid is
 * needed. */
static gboolean
make_pool_finder (Gathering *g, const PbfRecordingHead *head, GError **error)
{
  const guint side = MIN (head->width, head->height);
  PbfConfig config;

  if (g->engine != NULL
      && (head->width != g->self->head.width
          || head->height != g->self->head.height)) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "the size of the frames changes; a calibration is that of one size. "
        "Calibrate from a recording of full frames");
    return FALSE;
  }
  g->self->head = *head;
  if (g->engine != NULL)
    return TRUE;
  pbf_config_init (&config);
  config.width = head->width;
  config.height = head->height;
  config.roi_size = CLAMP (side / 8 * 8, PBF_MIN_ROI, PBF_MAX_ROI);
  config.polar_outer = 0;
  config.threshold = (guint) options.threshold;
  config.threads = 0;
  config.max_batch = BATCH;
  g->engine = pbf_engine_new (&config, NULL, NULL, error);
  g->frame_bytes = (gsize) head->width * head->height;
  g->pixels = g_try_malloc (BATCH * g->frame_bytes);
  if (g->engine != NULL && g->pixels == NULL)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for %d frames of %u x %u pixels", BATCH, head->width,
        head->height);
  return g->engine != NULL && g->pixels != NULL;
}

static gboolean
gather_frame (Gathering *g, const PbfPacket *packet, GError **error)
{
  const guint i = g->n++;
  CvisPbfSignal signal;

  g->frames[i] = g->pixels + i * g->frame_bytes;
  g->strides[i] = packet->width;
  memcpy (g->pixels + i * g->frame_bytes, packet->pixels, g->frame_bytes);
  if (packet->signal != NULL)
    memcpy (&signal, packet->signal, sizeof signal);
  pbf_track_frame (g->track, packet->signal != NULL ? &signal : NULL,
      packet->t_ns, 0, 0, &g->infos[i]);
  g->self->frames++;
  return g->n < BATCH || find_pools (g, error);
}

static gboolean
read_recorded_frames (Gathering *g, PbfRecording *recording, GError **error)
{
  for (;;) {
    PbfRecordingHead head = g->self->head;
    PbfPacket packet;
    GError *fault = NULL;

    switch (pbf_recording_next (recording, &head, &packet, &fault)) {
      case PBF_PIECE_HEAD:
        if (!make_pool_finder (g, &head, error))
          return FALSE;
        break;
      case PBF_PIECE_FRAME:
        if (!gather_frame (g, &packet, error))
          return FALSE;
        break;
      case PBF_PIECE_DAMAGE:
        g->self->damaged++;
        g_clear_error (&fault);
        break;
      case PBF_PIECE_ERROR:
        g_propagate_error (error, fault);
        return FALSE;
      case PBF_PIECE_MORE:
      case PBF_PIECE_END:
        return find_pools (g, error);
    }
    if (interrupted ()) {
      g_set_error_literal (
          error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
      return FALSE;
    }
  }
}

static gboolean
gather_pairs (Calibrating *self, GError **error)
{
  const PbfTrackConfig config = { .source = PBF_POSITION_SOURCE_BRIGHTEST,
    .signal_delay_us = (guint) options.delay };
  const gint fd = open (self->name, O_RDONLY | O_CLOEXEC);
  PbfRecording *recording;
  Gathering *g;
  gboolean ok;

  if (fd < 0) {
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s",
        self->name, g_strerror (errno));
    return FALSE;
  }
  g = g_new0 (Gathering, 1);
  g->self = self;
  g->track = pbf_track_new (&config);
  recording = pbf_recording_new (fd, error);
  ok = recording != NULL && read_recorded_frames (g, recording, error);
  if (!ok)
    g_prefix_error (error, "%s: ", self->name);
  g_clear_pointer (&recording, pbf_recording_free);
  pbf_engine_free (g->engine);
  pbf_track_free (g->track);
  g_free (g->pixels);
  g_free (g);
  close (fd);
  return ok;
}

/* --- results ----------------------------------------------------------------- */

/* Micrometres of a pixel at the mean of the positions, along x and y of the plate */
static void
measure_scales (const Calibrating *self, gdouble *x_um, gdouble *y_um)
{
  const PbfCalibration *c = &self->fit.calibration;
  gdouble x = 0, y = 0, u[3] = { 0 }, v[3] = { 0 };

  for (guint i = 0; i < self->pairs->len; i++) {
    const PbfPositionPair *pair =
        &g_array_index (self->pairs, PbfPositionPair, i);

    x += pair->x_um / self->pairs->len;
    y += pair->y_um / self->pairs->len;
  }
  pbf_calibration_apply (c, x, y, &u[0], &v[0]);
  pbf_calibration_apply (c, x + 1, y, &u[1], &v[1]);
  pbf_calibration_apply (c, x, y + 1, &u[2], &v[2]);
  *x_um = 1 / hypot (u[1] - u[0], v[1] - v[0]);
  *y_um = 1 / hypot (u[2] - u[0], v[2] - v[0]);
}

static void
print_fit (const Calibrating *self, const gchar *numbers)
{
  const PbfCalibrationFit *fit = &self->fit;
  gdouble x_um, y_um;

  measure_scales (self, &x_um, &y_um);
  g_print ("calibration       %s\n", numbers);
  g_print (
      "scale             %.2f um a pixel along x, %.2f along y\n", x_um, y_um);
  g_print ("frames            %" G_GUINT64_FORMAT ", %u with a position\n",
      self->frames, self->pairs->len);
  g_print ("left out          %" G_GUINT64_FORMAT
           " without laser, position or melt pool, %" G_GUINT64_FORMAT
           " with several bright spots, %" G_GUINT64_FORMAT
           " with a pool at the edge\n",
      self->dark, self->unsure, self->cut);
  if (fit->lag_known)
    g_print (
        "lag               %.0f um from the laser back to the centroid of the "
        "melt pool\n",
        fit->lag_um);
  else
    g_print ("lag               not known, taken as 0: the laser moves in one "
             "direction\n");
  g_print ("used              %u positions, residuals up to %.2f px\n",
      fit->used, fit->limit_px);
  g_print ("residuals         %.2f px median, %.2f px rms, %.2f px largest\n",
      fit->median_px, fit->rms_px, fit->largest_px);
  g_print ("standard error    %.3f px in the worst corner of the positions\n",
      fit->corner_error_px);
}

static void
print_fit_json (const Calibrating *self, const gchar *numbers)
{
  JsonBuilder *json = json_builder_new ();
  const PbfCalibrationFit *fit = &self->fit;

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "input", self->name);
  json_add_string (json, "calibration", numbers);
  json_add_int (json, "frames", self->frames);
  json_add_int (json, "damaged", self->damaged);
  json_add_int (json, "positions", self->pairs->len);
  json_add_double (json, "lag-um", fit->lag_known ? fit->lag_um : NAN);
  json_add_int (json, "used", fit->used);
  json_add_double (json, "residual-limit-px", fit->limit_px);
  json_add_double (json, "residual-median-px", fit->median_px);
  json_add_double (json, "residual-rms-px", fit->rms_px);
  json_add_double (json, "residual-largest-px", fit->largest_px);
  json_add_double (json, "corner-error-px", fit->corner_error_px);
  json_builder_end_object (json);
  json_print (json);
}

/* Lines from the positions by the calibration to those of the melt pool, enlarged; rows
 * count downwards, so that they are negative. */
static void
add_vectors (const Calibrating *self, Report *report)
{
  const guint step = self->pairs->len / MAX_VECTORS + 1;
  GArray *x = g_array_new (FALSE, FALSE, sizeof (gdouble));
  GArray *y = g_array_new (FALSE, FALSE, sizeof (gdouble));
  GString *svg = g_string_new (NULL);
  gchar *caption;

  for (guint i = 0; i < self->pairs->len; i += step) {
    const PbfPositionPair *pair =
        &g_array_index (self->pairs, PbfPositionPair, i);
    gdouble u, v, px[3], py[3];

    if (self->residuals[i] > self->fit.limit_px
        || !pbf_calibration_apply (&self->fit.calibration,
            pair->x_um - self->fit.lag_um * pair->x_direction,
            pair->y_um - self->fit.lag_um * pair->y_direction, &u, &v))
      continue;
    px[0] = u;
    py[0] = -v;
    px[1] = u + ENLARGED * (pair->x_px - u);
    py[1] = -v - ENLARGED * (pair->y_px - v);
    px[2] = py[2] = NAN;
    g_array_append_vals (x, px, 3);
    g_array_append_vals (y, py, 3);
  }
  plot_lines (svg,
      &(Plot){ .label = "Residuals as vectors",
          .x_label = "column, pixels",
          .y_label = "- row, pixels" },
      &(PlotSeries){ NULL, (gdouble *) x->data, (gdouble *) y->data, x->len },
      1);
  caption = g_strdup_printf ("Residuals, %d times enlarged: from the position "
                             "by calibration and lag to the "
                             "melt pool's centroid; one of %u positions",
      ENLARGED, step);
  report_add_plot (report, svg->str, caption);
  g_free (caption);
  g_string_free (svg, TRUE);
  g_array_unref (x);
  g_array_unref (y);
}

static void
add_histogram (const Calibrating *self, Report *report)
{
  gdouble bars[BARS] = { 0 };
  const gdouble width = 2 * self->fit.limit_px / BARS;
  GString *svg = g_string_new (NULL);

  for (guint i = 0; i < self->pairs->len; i++)
    if (self->residuals[i] < BARS * width)
      bars[(guint) (self->residuals[i] / width)]++;
  plot_bars (svg,
      &(Plot){ .label = "Residuals",
          .x_label = "residual, pixels",
          .y_label = "positions" },
      0, width, bars, BARS);
  report_add_plot (report, svg->str,
      "Residuals of all positions, up to twice the limit; those in the left "
      "half "
      "are used");
  g_string_free (svg, TRUE);
}

static void
write_calibration_report (
    const Calibrating *self, const gchar *numbers, GError **error)
{
  static const gchar *const head[] = { "quantity", "value", NULL };
  gchar *title = g_strdup_printf ("Calibration: %s", self->name);
  Report *report = report_new (title);
  const PbfCalibrationFit *fit = &self->fit;
  const struct {
    const gchar *name;
    gdouble value;
  } rows[] = { { "largest residual used, pixels", fit->largest_px },
    { "median residual, pixels", fit->median_px },
    { "rms residual, pixels", fit->rms_px },
    { "limit of residuals, pixels", fit->limit_px },
    { "standard error in the worst corner, pixels", fit->corner_error_px },
    { "lag of the melt pool's centroid, um", fit->lag_um } };

  report_add_paragraph (report,
      "%u of %u positions in %" G_GUINT64_FORMAT
      " frames are used. The calibration maps the laser's position on the "
      "plate "
      "in micrometres to pixels of a frame: %s",
      fit->used, self->pairs->len, self->frames, numbers);
  report_begin_table (report, head);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *value = g_strdup_printf ("%.3f", rows[i].value);

    report_add_row (
        report, (const gchar *const[]){ rows[i].name, value, NULL });
    g_free (value);
  }
  report_end_table (report);
  add_vectors (self, report);
  add_histogram (self, report);
  report_add_input (report, self->name);
  report_add_setting (report, "threshold", "%d", options.threshold);
  report_add_setting (report, "signal delay", "%d us", options.delay);
  report_write (report, self->common->report,
      (const gchar *const *) self->common->inputs, error);
  report_free (report);
  g_free (title);
}

/* --- command ------------------------------------------------------------------ */

static gboolean
check_calibrate_options (const Calibrating *self, GError **error)
{
  const gchar *const names[] = { self->common->report, options.output };

  if (options.threshold < 1 || options.threshold > 255) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--threshold %d is not in 1 to 255", options.threshold);
    return FALSE;
  }
  if (options.delay < 0 || options.delay > 1000000) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--signal-delay %d is not in 0 to 1000000", options.delay);
    return FALSE;
  }
  return input_check (self->name, INPUT_RECORDING, error)
         && output_check (names, G_N_ELEMENTS (names),
             (const gchar *const *) self->common->inputs, error);
}

static void
calibrate_recording (Calibrating *self, GError **error)
{
  gchar *numbers, *line;
  gboolean ok = TRUE;

  if (!gather_pairs (self, error))
    return;
  self->residuals = g_new (gdouble, MAX (self->pairs->len, 1));
  if (!pbf_calibration_fit ((const PbfPositionPair *) self->pairs->data,
          self->pairs->len, &self->fit, self->residuals, error)) {
    g_prefix_error (error, "%s: ", self->name);
    return;
  }
  numbers = pbf_calibration_format (&self->fit.calibration);
  line = g_strconcat (numbers, "\n", NULL);
  if (options.output != NULL)
    ok = output_write (options.output,
        (const gchar *const *) self->common->inputs, line, error);
  if (ok && self->common->report != NULL)
    write_calibration_report (self, numbers, error);
  if (self->common->json)
    print_fit_json (self, numbers);
  else if (!self->common->quiet)
    print_fit (self, numbers);
  g_free (line);
  g_free (numbers);
}

static ExitStatus
run_calibrate (gint argc, gchar **argv)
{
  CommonOptions common;
  Calibrating self = { &common };
  ExitStatus status;
  GError *error = NULL;

  options.threshold = 100;
  if (!options_parse (&command_calibrate, entries,
          OPTIONS_REPORT | OPTIONS_INPUT, argc, argv, &common, &status))
    return status;
  self.name = common.inputs[0];
  self.pairs = g_array_new (FALSE, FALSE, sizeof (PbfPositionPair));
  if (check_calibrate_options (&self, &error))
    calibrate_recording (&self, &error);
  status = command_end ("calibrate", error);
  g_array_unref (self.pairs);
  g_free (self.residuals);
  options_clear (&common);
  return status;
}

const Command command_calibrate = {
  .name = "calibrate",
  .arguments = "RECORDING - calibration from laser positions to pixels",
  .summary =
      "calibration of a melt-pool camera from a recording of full frames",
  .examples =
      "Examples:\n"
      "  cudavision calibrate layer.pbf -o camera.txt --report camera.html\n"
      "  cudavision calibrate layer.pbf --signal-delay 40 --json\n\n"
      "RECORDING is a .pbf file with machine signals, of at least one layer.",
  .run = run_calibrate,
};
