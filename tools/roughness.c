/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision roughness`: areal parameters of measured surfaces, their components as
 * files, a report. Many files run through one pipeline for each processor. */
#include "config.h"

#include <gio/gio.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "cuda/surface/file.h"
#include "cuda/wavelet/wavelet.h"
#include "inputs.h"
#include "json.h"
#include "length.h"
#include "output.h"
#include "pipeline.h"
#include "progress.h"
#include "surfacereport.h"

/* Nesting indices of ISO 25178-3, per decade */
static const gdouble series[] = { 2.5, 8 };

static struct {
  gchar *lambda_s, *lambda_c, *lambda_f, *dx, *dy;
  gchar *form, *wavelet, *csv;
  gchar **write;
  gboolean unfiltered;
} options;

static const GOptionEntry entries[] = {
  { "lambda-c", 'c', 0, G_OPTION_ARG_STRING, &options.lambda_c,
      "Cut-off between roughness and waviness, 80um; default: the largest of "
      "..., 25, 80, 250 um, ... that is at most a fifth of the shorter side",
      "LENGTH" },
  { "lambda-s", 0, 0, G_OPTION_ARG_STRING, &options.lambda_s,
      "Cut-off between noise and roughness; default: none", "LENGTH" },
  { "lambda-f", 0, 0, G_OPTION_ARG_STRING, &options.lambda_f,
      "Cut-off between waviness and form", "LENGTH" },
  { "form", 0, 0, G_OPTION_ARG_STRING, &options.form,
      "Form removed first: none, offset, level, plane (default) or poly2",
      "NAME" },
  { "wavelet", 0, 0, G_OPTION_ARG_STRING, &options.wavelet,
      "Wavelet of the filter; default: 9/7", "NAME" },
  { "unfiltered", 0, 0, G_OPTION_ARG_NONE, &options.unfiltered,
      "Parameters of the surface as it was measured: no filter, no form "
      "removed",
      NULL },
  { "dx", 0, 0, G_OPTION_ARG_STRING, &options.dx,
      "Sample spacing along x of files that do not give it", "LENGTH" },
  { "dy", 0, 0, G_OPTION_ARG_STRING, &options.dy,
      "Sample spacing along y; default: as --dx", "LENGTH" },
  { "write", 'w', 0, G_OPTION_ARG_STRING_ARRAY, &options.write,
      "Write a component of one surface: noise, roughness, waviness or form; "
      "the format by the ending: x3p, sdf, sur, gsf, tiff, npy",
      "COMPONENT=FILE" },
  { "csv", 'o', 0, G_OPTION_ARG_FILENAME, &options.csv,
      "Write the parameters as a table; default for several files: standard "
      "output",
      "FILE.csv" },
  { NULL },
};

/* --- settings -------------------------------------------------------------- */

/**
 * Settings: the options after parsing
 * @lambda_c: 0: chosen by the size of each surface
 */
typedef struct {
  const CommonOptions *common;
  gdouble lambda_s, lambda_c, lambda_f, dx, dy;
  const gchar *form;
  gboolean many; /* several files: only the parameters of the roughness */
} Settings;

static gboolean
parse_lengths (Settings *settings, GError **error)
{
  const struct {
    const gchar *text, *option;
    gdouble *to;
  } lengths[] = {
    { options.lambda_s, "--lambda-s", &settings->lambda_s },
    { options.lambda_c, "--lambda-c", &settings->lambda_c },
    { options.lambda_f, "--lambda-f", &settings->lambda_f },
    { options.dx, "--dx", &settings->dx },
    { options.dy, "--dy", &settings->dy },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    if (lengths[i].text == NULL)
      continue;
    if (!length_parse (
            lengths[i].text, lengths[i].option, lengths[i].to, error))
      return FALSE;
    if (*lengths[i].to <= 0) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "%s %s is not above 0", lengths[i].option, lengths[i].text);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check_order (const Settings *s, GError **error)
{
  const gdouble upper = s->lambda_c > 0 ? s->lambda_c : s->lambda_f;

  if ((s->lambda_s > 0 && upper > 0 && s->lambda_s >= upper)
      || (s->lambda_c > 0 && s->lambda_f > 0 && s->lambda_c >= s->lambda_f)) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "the cut-offs have to increase: --lambda-s below --lambda-c below "
        "--lambda-f");
    return FALSE;
  }
  if (options.unfiltered
      && (s->lambda_s > 0 || s->lambda_c > 0 || s->lambda_f > 0)) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--unfiltered and cut-offs exclude each other");
    return FALSE;
  }
  if (options.unfiltered && options.form != NULL) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--unfiltered takes the surface as it was measured; leave out --form");
    return FALSE;
  }
  return TRUE;
}

static gboolean
parse_form (Settings *settings, GError **error)
{
  static const gchar *const forms[] = { "none", "offset", "level", "plane",
    "poly2", NULL };

  settings->form = options.form != NULL ? options.form
                   : options.unfiltered ? "none"
                                        : "plane";
  if (g_strv_contains (forms, settings->form))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "--form %s is none of none, offset, level, plane and poly2",
      settings->form);
  return FALSE;
}

static gboolean
check_wavelet (GError **error)
{
  GError *problem = NULL;
  LwtWavelet *wavelet;

  if (options.wavelet == NULL)
    return TRUE;
  wavelet = lwt_wavelet_new (options.wavelet, &problem);
  if (wavelet != NULL) {
    lwt_wavelet_free (wavelet);
    return TRUE;
  }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--wavelet: %s",
      problem->message);
  g_error_free (problem);
  return FALSE;
}

/* The name before "=" of "roughness=FILE"; NULL if that is no component */
static const gchar *
component_of_write (const gchar *word)
{
  static const gchar *const components[] = { "noise", "roughness", "waviness",
    "form" };

  for (guint i = 0; i < G_N_ELEMENTS (components); i++)
    if (g_str_has_prefix (word, components[i])
        && word[strlen (components[i])] == '='
        && word[strlen (components[i]) + 1] != '\0')
      return components[i];
  return NULL;
}

static gboolean
check_writes (gboolean many, GError **error)
{
  for (guint i = 0; options.write != NULL && options.write[i] != NULL; i++) {
    if (component_of_write (options.write[i]) == NULL) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "--write %s: write COMPONENT=FILE with noise, roughness, waviness or "
          "form",
          options.write[i]);
      return FALSE;
    }
    if (!surface_file_writable (
            surface_file_format_of_name (options.write[i]))) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "--write %s: the ending is none of .x3p, .sdf, .sur, .gsf, .tiff and "
          ".npy",
          options.write[i]);
      return FALSE;
    }
    if (many || options.unfiltered) {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          many ? "--write takes one input file"
               : "--write and --unfiltered exclude each other");
      return FALSE;
    }
  }
  return TRUE;
}

/* --- one surface ----------------------------------------------------------- */

/**
 * Surface: a file and what was found
 * @known: components with parameters: 1 << CvisSurfacePart
 * @filter: (nullable): the message cudalwtfilter-filter
 * @rows: (nullable): text of surfaceparamenc, with a header row
 * @pictures: (nullable): for the report, last samples by name
 */
typedef struct {
  const gchar *name;
  const Settings *settings;
  gdouble lambda_c;
  guint known;
  guint64 missing;
  CvisSurfaceParameters parameters[CVIS_SURFACE_N_PARTS];
  GstStructure *filter;
  gchar *backend;
  gchar *rows;
  SurfacePictures pictures;
  GPtrArray *outputs; /* of Output, of --write */
  GError *error;
} Surface;

static void
take_parameters (Surface *surface, const GstStructure *s)
{
  const gchar *output = gst_structure_get_string (s, "output");

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    CvisSurfaceParameters *p = &surface->parameters[i];

    if (g_strcmp0 (output, gst_cvis_surface_part_name (i)) != 0)
      continue;
    surface->known |= 1u << i;
    gst_structure_get_uint64 (s, "n", &p->n);
    gst_structure_get_uint64 (s, "missing", &surface->missing);
    p->sa = structure_get_double (s, "sa");
    p->sq = structure_get_double (s, "sq");
    p->sp = structure_get_double (s, "sp");
    p->sv = structure_get_double (s, "sv");
    p->sz = structure_get_double (s, "sz");
    p->ssk = structure_get_double (s, "ssk");
    p->sku = structure_get_double (s, "sku");
    p->sdr = structure_get_double (s, "sdr");
    p->sdq = structure_get_double (s, "sdq");
  }
}

static void
take_message (const GstStructure *s, gpointer data)
{
  Surface *surface = data;

  if (gst_structure_has_name (s, "cudalwtfilter-parameters"))
    take_parameters (surface, s);
  else if (gst_structure_has_name (s, "cudalwtfilter-filter")
           && !surface->filter)
    surface->filter = gst_structure_copy (s);
}

/* The text that surfaceparamenc gave, and the backend */
static void
take_roughness_results (GstElement *pipeline, gpointer data)
{
  Surface *surface = data;

  surface->backend = element_get_nick (pipeline, "filter", "active-backend");
  surface->rows = element_get_text (pipeline, "rows");
  if (surface->settings->common->report != NULL)
    surface_pictures_take (&surface->pictures, pipeline);
}

/* The largest of the series that is at most a fifth of @side; 0 if none is */
static gdouble
choose_lambda_c (gdouble side)
{
  gdouble best = 0;

  for (gint decade = -9; decade < 1; decade++)
    for (guint i = 0; i < G_N_ELEMENTS (series); i++)
      if (series[i] * pow (10, decade) <= side / 5)
        best = series[i] * pow (10, decade);
  return best;
}

/* A cut-off has to fit along one of the axes at least. */
static gboolean
check_cutoff (const gchar *option, gdouble cutoff, const SurfaceImage *about,
    gdouble dx, gdouble dy, GError **error)
{
  const gboolean profile = about->height == 1;
  const gdouble low = 2 * (profile ? dx : MIN (dx, dy));
  const gdouble high =
      profile ? dx * about->width : MAX (dx * about->width, dy * about->height);
  gchar *value, *from, *to, *along_x, *along_y;

  /* 0: not given. The margin is for values that were typed in another unit. */
  if (cutoff == 0 || (cutoff > low * (1 - 1e-9) && cutoff < high * (1 + 1e-9)))
    return TRUE;
  value = length_format (cutoff);
  from = length_format (low);
  to = length_format (high);
  along_x = length_format (dx);
  along_y = length_format (dy);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
      "%s %s is not in %s (two samples) to %s (the longer side): the surface "
      "has %u x %u points, spacing %s x %s",
      option, value, from, to, about->width, about->height, along_x, along_y);
  g_free (value);
  g_free (from);
  g_free (to);
  g_free (along_x);
  g_free (along_y);
  return FALSE;
}

/* Checks the cut-offs that were given, and chooses lambda-c if it was not. */
static gboolean
choose_cutoffs (
    Surface *surface, const SurfaceImage *about, gdouble dx, GError **error)
{
  const Settings *settings = surface->settings;
  const gdouble dy = about->dy > 0      ? about->dy
                     : settings->dy > 0 ? settings->dy
                                        : dx;
  const gdouble side = about->height > 1
                           ? MIN (dx * about->width, dy * about->height)
                           : dx * about->width;

  surface->lambda_c =
      settings->lambda_c > 0 ? settings->lambda_c : choose_lambda_c (side);
  if (dx == 0 || surface->lambda_c == 0) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
        "the sample spacing is unknown; give it with --dx 1um");
    return FALSE;
  }
  return check_cutoff ("--lambda-s", settings->lambda_s, about, dx, dy, error)
         && check_cutoff (
             "--lambda-c", settings->lambda_c, about, dx, dy, error)
         && check_cutoff (
             "--lambda-f", settings->lambda_f, about, dx, dy, error);
}

/* Reads the header of the file for that. */
static gboolean
prepare_cutoffs (Surface *surface, GError **error)
{
  SurfaceReader *reader;
  const SurfaceImage *about;
  gboolean ok;

  if (options.unfiltered)
    return TRUE;
  reader = surface_reader_open_header (surface->name, error);
  if (reader == NULL)
    return FALSE;
  about = surface_reader_get_about (reader);
  ok = choose_cutoffs (
      surface, about, about->dx > 0 ? about->dx : surface->settings->dx, error);
  surface_reader_free (reader);
  return ok;
}

/* --- pipeline -------------------------------------------------------------- */

static void
append_filter (GString *launch, const Surface *surface)
{
  const Settings *settings = surface->settings;
  const CommonOptions *common = settings->common;

  g_string_append (launch, "surfacesrc ");
  if (settings->many && !common->show)
    g_string_append (launch, "name=source ");
  launch_set (launch, "location", surface->name);
  if (settings->dx > 0)
    launch_set_double (launch, "dx", settings->dx);
  if (settings->dy > 0)
    launch_set_double (launch, "dy", settings->dy);
  if (common->report != NULL && !common->show)
    g_string_append (launch, "! tee name=measured ");
  g_string_append (launch, "! cudalwtfilter name=filter parameters=true ");
  launch_set (launch, "output",
      options.unfiltered ? "form"
      : settings->many   ? "roughness"
                         : "none");
  launch_set (launch, "f-operation", settings->form);
  if (options.wavelet != NULL)
    launch_set (launch, "wavelet", options.wavelet);
  if (options.unfiltered)
    g_string_append (launch, "levels=0 roughness-levels=0 ");
  if (settings->lambda_s > 0)
    launch_set_double (launch, "lambda-s", settings->lambda_s);
  if (surface->lambda_c > 0)
    launch_set_double (launch, "lambda-c", surface->lambda_c);
  if (settings->lambda_f > 0)
    launch_set_double (launch, "lambda-f", settings->lambda_f);
  if (common->backend != NULL)
    launch_set (launch, "backend", common->backend);
  if (common->device >= 0)
    launch_set_int (launch, "cuda-device-id", common->device);
  if (settings->many && !common->show)
    launch_set_int (launch, "message-interval", 1);
  if (settings->many || common->threads > 0)
    launch_set_int (launch, "threads", settings->many ? 1 : common->threads);
}

/* @rows: the sink of the table
 * @output: writes to the temporary names if TRUE */
static gchar *
make_roughness_launch (const Surface *surface, const gchar *rows,
    gboolean header, gboolean temporary)
{
  const gboolean report = surface->settings->common->report != NULL;
  GString *launch = g_string_new (NULL);

  append_filter (launch, surface);
  g_string_append (launch, "! surfaceparamenc ");
  if (temporary)
    g_string_append (launch, "name=table ");
  launch_set (launch, "label", surface->name);
  if (!header)
    g_string_append (launch, "header=false ");
  g_string_append_printf (launch, "! %s", rows);
  for (guint i = 0; options.write != NULL && options.write[i] != NULL; i++) {
    const gchar *component = component_of_write (options.write[i]);
    const gchar *name = options.write[i] + strlen (component) + 1;

    /* a page of pictures has a tee behind the pad already */
    g_string_append_printf (launch,
        temporary && report && strcmp (component, "noise") != 0
            ? " %s. ! queue ! surfacesink "
            : " filter.src_%s ! surfacesink ",
        component);
    launch_set (launch, "location",
        temporary ? output_get_temporary_name (surface->outputs->pdata[i])
                  : name);
  }
  if (temporary && report)
    surface_pictures_append (launch, options.unfiltered);
  return g_string_free (launch, FALSE);
}

/* Most errors name the file themselves. */
static void
print_failure (const Surface *surface)
{
  if (strstr (surface->error->message, surface->name) != NULL)
    print_error ("roughness", "%s", surface->error->message);
  else
    print_error ("roughness", "%s: %s", surface->name, surface->error->message);
}

static void
show_pipelines (GPtrArray *surfaces)
{
  for (guint i = 0; i < surfaces->len; i++) {
    Surface *surface = surfaces->pdata[i];
    GString *rows = g_string_new ("fakesink");
    gchar *launch, *line;

    if (!prepare_cutoffs (surface, &surface->error)) {
      print_failure (surface);
      continue;
    }
    if (surfaces->len > 1 || options.csv != NULL) {
      g_string_assign (rows, "filesink ");
      if (i > 0)
        g_string_append (rows, "append=true ");
      launch_set (rows, "location",
          options.csv != NULL ? options.csv : "roughness.csv");
    }
    launch = make_roughness_launch (surface, rows->str, i == 0, FALSE);
    line = launch_to_shell (launch);
    g_print ("%s\n", line);
    g_free (line);
    g_free (launch);
    g_string_free (rows, TRUE);
  }
}

/* --- running --------------------------------------------------------------- */

static gboolean
open_roughness_outputs (Surface *surface, GError **error)
{
  surface->outputs = g_ptr_array_new ();
  for (guint i = 0; options.write != NULL && options.write[i] != NULL; i++) {
    const gchar *name =
        options.write[i] + strlen (component_of_write (options.write[i])) + 1;
    Output *output = output_new (
        name, (const gchar *const *) surface->settings->common->inputs, error);

    if (output == NULL)
      return FALSE;
    g_ptr_array_add (surface->outputs, output);
  }
  return TRUE;
}

static gboolean
close_outputs (Surface *surface, gboolean ok, GError **error)
{
  for (guint i = 0; surface->outputs != NULL && i < surface->outputs->len; i++)
    ok = output_close (surface->outputs->pdata[i], ok, error);
  return ok;
}

static gboolean
run_pipeline (Surface *surface, GError **error)
{
  const CommonOptions *common = surface->settings->common;
  gchar *launch =
      make_roughness_launch (surface, "fakesink name=rows", TRUE, TRUE);
  PipelineRun run = { .launch = launch,
    .label = surface->name,
    .message = take_message,
    .finish = take_roughness_results,
    .data = surface,
    .progress = !surface->settings->many && !common->quiet,
    .quiet = common->quiet };
  gboolean ok = pipeline_run (&run, error);

  g_free (launch);
  return ok;
}

static gboolean
prepare_surface (Surface *surface)
{
  if (!interrupted ())
    return input_check (surface->name, INPUT_SURFACE, &surface->error)
           && prepare_cutoffs (surface, &surface->error);
  g_set_error_literal (
      &surface->error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
  return FALSE;
}

static void
measure_surface (Surface *surface)
{
  gboolean ok = open_roughness_outputs (surface, &surface->error)
                && run_pipeline (surface, &surface->error);

  close_outputs (surface, ok, ok ? &surface->error : NULL);
}

/* --- many surfaces --------------------------------------------------------- */

typedef struct {
  GMutex lock;
  guint done, all;
  gboolean quiet;
  Progress progress;
} Count;

/* The bar counts files. Any thread */
static void
count_surface (Count *count)
{
  g_mutex_lock (&count->lock);
  count->done++;
  if (!count->quiet && progress_is_due (&count->progress))
    progress_show (
        &count->progress, (gdouble) count->done / count->all, count->done);
  g_mutex_unlock (&count->lock);
}

/**
 * Stream: files of one cut-off that one pipeline reads one after the other, as it takes
 * as long to start a pipeline as to measure a small surface
 * @filter: (nullable): the last message cudalwtfilter-filter
 * @head: (nullable): the row of names
 */
typedef struct {
  Surface **surfaces;
  guint n;
  Count *count;
  GstStructure *filter;
  gchar *head;
} Stream;

/* Buffers and messages have the time of their surface: surfacesrc gives a second to
 * each. */
static Surface *
get_surface_at (const Stream *stream, GstClockTime pts)
{
  return stream->surfaces[MIN (pts / GST_SECOND, stream->n - 1)];
}

static void
take_stream_message (const GstStructure *s, gpointer data)
{
  Stream *stream = data;
  Surface *surface;

  if (gst_structure_has_name (s, "cudalwtfilter-filter")) {
    g_clear_pointer (&stream->filter, gst_structure_free);
    stream->filter = gst_structure_copy (s);
  } else if (gst_structure_has_name (s, "cudalwtfilter-parameters")) {
    surface = get_surface_at (stream, structure_get_count (s, "pts"));
    take_parameters (surface, s);
    g_clear_pointer (&surface->filter, gst_structure_free);
    if (stream->filter != NULL)
      surface->filter = gst_structure_copy (stream->filter);
  }
}

static GstPadProbeReturn
label_row (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstElement *table = gst_pad_get_parent_element (pad);

  g_object_set (table, "label",
      get_surface_at (data, GST_BUFFER_PTS (info->data))->name, NULL);
  gst_object_unref (table);
  return GST_PAD_PROBE_OK;
}

/* The first row of the stream has the row of names before it, as each of a surface
 * has. */
static void
take_row (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  Stream *stream = user_data;
  Surface *surface = get_surface_at (stream, GST_BUFFER_PTS (buffer));
  gsize size = gst_buffer_get_size (buffer);
  gchar *text = g_malloc0 (size + 1);

  gst_buffer_extract (buffer, 0, text, size);
  if (stream->head == NULL) {
    stream->head = g_strndup (text, strcspn (text, "\n") + 1);
    surface->rows = text;
  } else {
    surface->rows = g_strconcat (stream->head, text, NULL);
    g_free (text);
  }
  count_surface (stream->count);
}

static void
prepare_stream (GstElement *pipeline, gpointer data)
{
  const Stream *stream = data;
  GstElement *table = gst_bin_get_by_name (GST_BIN (pipeline), "table");
  GstElement *rows = gst_bin_get_by_name (GST_BIN (pipeline), "rows");
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstPad *pad = gst_element_get_static_pad (table, "sink");
  GValue names = G_VALUE_INIT, name = G_VALUE_INIT;

  g_value_init (&names, GST_TYPE_ARRAY);
  g_value_init (&name, G_TYPE_STRING);
  for (guint i = 0; i < stream->n; i++) {
    g_value_set_string (&name, stream->surfaces[i]->name);
    gst_value_array_append_value (&names, &name);
  }
  g_object_set_property (G_OBJECT (source), "locations", &names);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, label_row, data, NULL);
  g_object_set (rows, "signal-handoffs", TRUE, NULL);
  g_signal_connect (rows, "handoff", G_CALLBACK (take_row), data);
  g_value_unset (&name);
  g_value_unset (&names);
  gst_object_unref (pad);
  gst_object_unref (source);
  gst_object_unref (rows);
  gst_object_unref (table);
}

static void
take_backend (GstElement *pipeline, gpointer data)
{
  const Stream *stream = data;

  for (guint i = 0; i < stream->n; i++)
    stream->surfaces[i]->backend =
        element_get_nick (pipeline, "filter", "active-backend");
}

/* An error, of which file ever, leaves surfaces without a row. */
static void
measure_stream (Surface **surfaces, guint n, Count *count)
{
  Stream stream = { surfaces, n, count };
  gchar *launch =
      make_roughness_launch (surfaces[0], "fakesink name=rows", TRUE, TRUE);
  PipelineRun run = { .launch = launch,
    .message = take_stream_message,
    .prepare = prepare_stream,
    .finish = take_backend,
    .data = &stream,
    .quiet = count->quiet };

  pipeline_run (&run, NULL);
  g_clear_pointer (&stream.filter, gst_structure_free);
  g_free (stream.head);
  g_free (launch);
}

/**
 * Batch: consecutive files
 */
typedef struct {
  Surface **surfaces;
  guint n;
} Batch;

/* Those from @from on that one pipeline can read; the others have another cut-off or an
 * error. */
static guint
count_alike (const Batch *batch, guint from)
{
  const Surface *first = batch->surfaces[from];
  guint n = 0;

  while (from + n < batch->n && batch->surfaces[from + n]->error == NULL
         && batch->surfaces[from + n]->lambda_c == first->lambda_c)
    n++;
  return n;
}

/* In a thread of the pool. A surface that its stream left out, because of an error, is
 * measured on its own, so that the error is found with its file. */
static void
measure_batch (gpointer data, gpointer user_data)
{
  const Batch *batch = data;
  Count *count = user_data;
  guint n;

  for (guint i = 0; i < batch->n; i++)
    prepare_surface (batch->surfaces[i]);
  for (guint i = 0; i < batch->n; i += MAX (n, 1)) {
    n = count_alike (batch, i);
    if (n > 1 && batch->surfaces[i]->settings->common->report == NULL)
      measure_stream (batch->surfaces + i, n, count);
  }
  for (guint i = 0; i < batch->n; i++) {
    Surface *surface = batch->surfaces[i];

    if (surface->rows != NULL && surface->known != 0)
      continue;
    if (surface->error == NULL && prepare_surface (surface))
      measure_surface (surface);
    count_surface (count);
  }
}

#define MAX_BATCH 32

/* @threads: 0: one for each processor */
static void
measure_surfaces (GPtrArray *surfaces, gint threads)
{
  const guint n = surfaces->len;
  const guint workers = threads > 0 ? (guint) threads : g_get_num_processors ();
  const guint size = CLAMP (n / workers / 2, 1, MAX_BATCH);
  Count count = { .all = n };
  GThreadPool *pool;
  Batch *batches;

  if (n == 1) {
    if (prepare_surface (surfaces->pdata[0]))
      measure_surface (surfaces->pdata[0]);
    return;
  }
  count.quiet = ((Surface *) surfaces->pdata[0])->settings->common->quiet;
  g_mutex_init (&count.lock);
  progress_start (&count.progress, NULL, "files");
  batches = g_new (Batch, (n + size - 1) / size);
  pool = g_thread_pool_new (measure_batch, &count, workers, TRUE, NULL);
  for (guint i = 0; i * size < n; i++) {
    batches[i].surfaces = (Surface **) surfaces->pdata + i * size;
    batches[i].n = MIN (size, n - i * size);
    g_thread_pool_push (pool, &batches[i], NULL);
  }
  g_thread_pool_free (pool, FALSE, TRUE);
  g_free (batches);
  progress_clear (&count.progress);
  g_mutex_clear (&count.lock);
}

/* --- results --------------------------------------------------------------- */

static gchar *
make_csv (GPtrArray *surfaces)
{
  GString *csv = g_string_new (NULL);

  for (guint i = 0; i < surfaces->len; i++) {
    const gchar *rows = ((Surface *) surfaces->pdata[i])->rows;

    if (rows == NULL)
      continue;
    if (csv->len > 0 && strchr (rows, '\n') != NULL)
      rows = strchr (rows, '\n') + 1; /* the head is the first file's */
    g_string_append (csv, rows);
  }
  return g_string_free (csv, FALSE);
}

static const gchar *
part_title (const Surface *surface, CvisSurfacePart part)
{
  return options.unfiltered ? "surface" : gst_cvis_surface_part_name (part);
}

/* The cut-off as it was used, along both axes if they differ, beside the one that was
 * asked for; @name: of the message's fields */
static void
append_cutoff (
    GString *to, const Surface *surface, const gchar *name, gdouble wanted)
{
  gchar *field_x = g_strconcat (name, "-x", NULL);
  gchar *field_y = g_strconcat (name, "-y", NULL);
  gdouble x =
      surface->filter ? structure_get_double (surface->filter, field_x) : 0;
  gdouble y =
      surface->filter ? structure_get_double (surface->filter, field_y) : 0;
  gchar *asked = length_format (wanted);
  gchar *along_x = length_format (x), *along_y = length_format (y);

  if (x > 0) {
    g_string_append_printf (to, "%s %s", name, along_x);
    if (fabs (x - y) > 1e-3 * x)
      g_string_append_printf (to, " along x, %s along y", along_y);
    if (wanted > 0 && fabs (x - wanted) > 1e-3 * wanted)
      g_string_append_printf (to, " (%s asked for)", asked);
    g_string_append (to, "; ");
  }
  g_free (field_x);
  g_free (field_y);
  g_free (asked);
  g_free (along_x);
  g_free (along_y);
}

/* "lambda-c 76.8 um (80 um asked for), form removed: plane, wavelet 9/7" */
static gchar *
describe_filter (const Surface *surface)
{
  const Settings *settings = surface->settings;
  GString *text = g_string_new (NULL);

  if (!options.unfiltered) {
    append_cutoff (text, surface, "lambda-s", settings->lambda_s);
    append_cutoff (text, surface, "lambda-c", surface->lambda_c);
    append_cutoff (text, surface, "lambda-f", settings->lambda_f);
  }
  g_string_append_printf (text, "form removed: %s", settings->form);
  if (!options.unfiltered && surface->filter != NULL)
    g_string_append_printf (text, "; wavelet %s",
        gst_structure_get_string (surface->filter, "wavelet"));
  return g_string_free (text, FALSE);
}

static gchar *
describe_points (const Surface *surface)
{
  guint width = 0, height = 0;
  gchar *dx, *dy, *text;

  if (surface->filter == NULL)
    return g_strdup ("");
  gst_structure_get_uint (surface->filter, "width", &width);
  gst_structure_get_uint (surface->filter, "height", &height);
  dx = length_format (structure_get_double (surface->filter, "dx"));
  dy = length_format (structure_get_double (surface->filter, "dy"));
  text = g_strdup_printf ("%u x %u points, spacing %s x %s, %" G_GUINT64_FORMAT
                          " missing (%.1f %%)",
      width, height, dx, dy, surface->missing,
      width > 0 && height > 0 ? 100.0 * surface->missing / width / height : 0);
  g_free (dx);
  g_free (dy);
  return text;
}

static const gchar *const table_head[] = { "", "Sa", "Sq", "Sp", "Sv", "Sz",
  "Ssk", "Sku", "Sdr", "Sdq", NULL };
#define TABLE_COLUMNS 10

/* The cells of a row; free each with g_free(). */
static void
format_row (const Surface *surface, const gchar *title,
    const CvisSurfaceParameters *p, gchar **cells)
{
  const gdouble lengths[] = { p->sa, p->sq, p->sp, p->sv, p->sz };
  gboolean slopes = surface->filter != NULL
                    && structure_get_double (surface->filter, "dx") > 0;
  guint n = 0;

  cells[n++] = g_strdup (title);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    cells[n++] = p->n > 0 ? length_format (lengths[i]) : g_strdup ("-");
  cells[n++] = p->n > 0 ? g_strdup_printf ("%.3f", p->ssk) : g_strdup ("-");
  cells[n++] = p->n > 0 ? g_strdup_printf ("%.3f", p->sku) : g_strdup ("-");
  cells[n++] = p->n > 0 && slopes ? g_strdup_printf ("%.4g %%", 100 * p->sdr)
                                  : g_strdup ("-");
  cells[n++] =
      p->n > 0 && slopes ? g_strdup_printf ("%.4g", p->sdq) : g_strdup ("-");
  cells[n] = NULL;
}

static void
free_cells (gchar **cells)
{
  for (; *cells != NULL; cells++)
    g_free (*cells);
}

static void
print_cells (const gchar *const *cells, guint first)
{
  /* the micro sign is two bytes and one column */
  for (guint i = 0; cells[i] != NULL; i++) {
    gint width = i == 0 ? (gint) first : 10;
    gint pad = width - (gint) g_utf8_strlen (cells[i], -1);

    if (i == 0)
      g_print ("%s%*s", cells[i], MAX (pad, 0), "");
    else
      g_print (" %*s%s", MAX (pad, 0), "", cells[i]);
  }
  g_print ("\n");
}

static void
print_surface (const Surface *surface)
{
  gchar *points = describe_points (surface),
        *filter = describe_filter (surface);
  gchar *cells[TABLE_COLUMNS + 1];

  g_print ("%s: %s\n%s\n\n", surface->name, points, filter);
  print_cells (table_head, 10);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    if ((surface->known & 1u << i) == 0)
      continue;
    format_row (
        surface, part_title (surface, i), &surface->parameters[i], cells);
    print_cells ((const gchar *const *) cells, 10);
    free_cells (cells);
  }
  g_free (points);
  g_free (filter);
}

static void
add_parameters (JsonBuilder *json, const CvisSurfaceParameters *p)
{
  json_builder_begin_object (json);
  json_add_double (json, "n", p->n);
  json_add_double (json, "sa_m", p->sa);
  json_add_double (json, "sq_m", p->sq);
  json_add_double (json, "sp_m", p->sp);
  json_add_double (json, "sv_m", p->sv);
  json_add_double (json, "sz_m", p->sz);
  json_add_double (json, "ssk", p->ssk);
  json_add_double (json, "sku", p->sku);
  json_add_double (json, "sdr", p->sdr);
  json_add_double (json, "sdq", p->sdq);
  json_builder_end_object (json);
}

static void
add_surface (JsonBuilder *json, const Surface *surface)
{
  json_builder_begin_object (json);
  json_add_string (json, "file", surface->name);
  json_add_string (
      json, "error", surface->error != NULL ? surface->error->message : NULL);
  if (surface->filter != NULL) {
    json_add_double (
        json, "dx_m", structure_get_double (surface->filter, "dx"));
    json_add_double (
        json, "dy_m", structure_get_double (surface->filter, "dy"));
    json_add_double (json, "lambda_s_m",
        structure_get_double (surface->filter, "lambda-s-x"));
    json_add_double (json, "lambda_c_m",
        structure_get_double (surface->filter, "lambda-c-x"));
    json_add_double (json, "lambda_f_m",
        structure_get_double (surface->filter, "lambda-f-x"));
    json_add_double (json, "missing", surface->missing);
  }
  json_builder_set_member_name (json, "components");
  json_builder_begin_object (json);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (surface->known & 1u << i) {
      json_builder_set_member_name (json, part_title (surface, i));
      add_parameters (json, &surface->parameters[i]);
    }
  json_builder_end_object (json);
  json_builder_end_object (json);
}

static void
print_roughness_json (GPtrArray *surfaces)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_builder_set_member_name (json, "surfaces");
  json_builder_begin_array (json);
  for (guint i = 0; i < surfaces->len; i++)
    add_surface (json, surfaces->pdata[i]);
  json_builder_end_array (json);
  json_builder_end_object (json);
  json_print (json);
}

/* --- report ---------------------------------------------------------------- */

static void
report_surface (Report *report, const Surface *surface, gboolean many)
{
  gchar *points = describe_points (surface);
  gchar *cells[TABLE_COLUMNS + 1];

  if (many)
    report_add_heading (report, surface->name);
  if (surface->error != NULL) {
    report_add_paragraph (report, "Not measured: %s", surface->error->message);
    g_free (points);
    return;
  }
  report_add_paragraph (report, "%s", points);
  report_begin_table (report, table_head);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    if ((surface->known & 1u << i) == 0)
      continue;
    format_row (
        surface, part_title (surface, i), &surface->parameters[i], cells);
    report_add_row (report, (const gchar *const *) cells);
    free_cells (cells);
  }
  report_end_table (report);
  surface_pictures_report (&surface->pictures, report);
  g_free (points);
}

static gboolean
write_roughness_report (
    GPtrArray *surfaces, const CommonOptions *common, GError **error)
{
  gboolean many = surfaces->len > 1, ok;
  Surface *first = surfaces->pdata[0];
  gchar *title =
      many ? g_strdup_printf ("Roughness of %u surfaces", surfaces->len)
           : g_strdup_printf ("Roughness of %s", first->name);
  Report *report = report_new (title);

  for (guint i = 0; i < surfaces->len; i++)
    report_surface (report, surfaces->pdata[i], many);
  for (guint i = 0; i < surfaces->len; i++) {
    Surface *surface = surfaces->pdata[i];
    gchar *filter;

    if (surface->error != NULL)
      continue;
    filter = describe_filter (surface);
    report_add_input (report, surface->name);
    report_add_setting (report, "filter", "%s", filter);
    report_add_setting (report, "backend", "%s", surface->backend);
    g_free (filter);
  }
  report_add_paragraph (report,
      "Parameters are defined as in ISO 25178-2, relative to the mean of each "
      "component. No conformity with ISO 16610 or ISO 25178 is claimed for the "
      "filter.");
  ok = report_write (
      report, common->report, (const gchar *const *) common->inputs, error);
  report_free (report);
  g_free (title);
  return ok;
}

/* --- command --------------------------------------------------------------- */

static Surface *
surface_new (const gchar *name, const Settings *settings)
{
  Surface *surface = g_new0 (Surface, 1);

  surface->name = name;
  surface->settings = settings;
  return surface;
}

static void
surface_free (gpointer data)
{
  Surface *surface = data;

  if (surface->filter != NULL)
    gst_structure_free (surface->filter);
  if (surface->outputs != NULL)
    g_ptr_array_unref (surface->outputs);
  surface_pictures_clear (&surface->pictures);
  g_free (surface->backend);
  g_free (surface->rows);
  g_clear_error (&surface->error);
  g_free (surface);
}

/* Prints what failed. Returns: the exit status */
static ExitStatus
print_failures (GPtrArray *surfaces)
{
  ExitStatus status = EXIT_STATUS_OK;
  guint failed = 0;

  for (guint i = 0; i < surfaces->len; i++) {
    const Surface *surface = surfaces->pdata[i];

    if (surface->error == NULL)
      continue;
    failed++;
    if (g_error_matches (surface->error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
      continue;
    status = EXIT_STATUS_FAILED;
    print_failure (surface);
  }
  if (failed > 0 && surfaces->len > 1)
    print_error ("roughness",
        interrupted () ? "interrupted: %u of %u files are missing"
                       : "%u of %u files failed",
        failed, surfaces->len);
  return interrupted () ? EXIT_STATUS_INTERRUPTED : status;
}

static ExitStatus
write_results (GPtrArray *surfaces, const Settings *settings)
{
  const CommonOptions *common = settings->common;
  const gchar *const *inputs = (const gchar *const *) common->inputs;
  gchar *csv = make_csv (surfaces);
  GError *error = NULL;
  gboolean ok = TRUE;

  /* files first: a closed pipe ends the process at the first line */
  if (options.csv != NULL && csv[0] != '\0')
    ok = output_write (options.csv, inputs, csv, &error);
  if (ok && common->report != NULL && !interrupted ())
    ok = write_roughness_report (surfaces, common, &error);
  if (common->json)
    print_roughness_json (surfaces);
  else if (!common->quiet && surfaces->len > 1 && options.csv == NULL)
    g_print ("%s", csv);
  else if (!common->quiet)
    for (guint i = 0; i < surfaces->len; i++)
      if (((Surface *) surfaces->pdata[i])->error == NULL)
        print_surface (surfaces->pdata[i]);
  if (!ok) {
    print_error ("roughness", "%s", error->message);
    g_error_free (error);
  }
  g_free (csv);
  return ok ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}

static ExitStatus
measure_all (GPtrArray *surfaces, const Settings *settings)
{
  ExitStatus written = EXIT_STATUS_OK, failed;

  measure_surfaces (surfaces, settings->common->threads);
  if (surfaces->len > 1 || ((Surface *) surfaces->pdata[0])->error == NULL)
    written = write_results (surfaces, settings);
  failed = print_failures (surfaces);
  return failed != EXIT_STATUS_OK ? failed : written;
}

static gboolean
check_outputs (const CommonOptions *common, GError **error)
{
  GPtrArray *names = g_ptr_array_new ();
  gboolean ok;

  g_ptr_array_add (names, common->report);
  g_ptr_array_add (names, options.csv);
  for (guint i = 0; options.write != NULL && options.write[i] != NULL; i++)
    g_ptr_array_add (names,
        options.write[i] + strlen (component_of_write (options.write[i])) + 1);
  ok = output_check ((const gchar *const *) names->pdata, names->len,
      (const gchar *const *) common->inputs, error);
  g_ptr_array_unref (names);
  return ok;
}

static ExitStatus
run_roughness (gint argc, gchar **argv)
{
  CommonOptions common;
  Settings settings = { &common };
  GPtrArray *surfaces;
  ExitStatus status;
  GError *error = NULL;

  if (!options_parse (&command_roughness, entries,
          OPTIONS_COMPUTE | OPTIONS_REPORT | OPTIONS_INPUTS, argc, argv,
          &common, &status))
    return status;
  inputs_expand (&common.inputs, INPUT_SURFACE);
  if (!parse_lengths (&settings, &error) || !check_order (&settings, &error)
      || !parse_form (&settings, &error) || !check_wavelet (&error)
      || !check_writes (common.inputs[1] != NULL, &error)
      || !(common.show || check_outputs (&common, &error))) {
    status = error->domain == G_OPTION_ERROR ? EXIT_STATUS_USAGE
                                             : EXIT_STATUS_FAILED;
    print_error ("roughness", "%s", error->message);
    g_error_free (error);
    options_clear (&common);
    return status;
  }
  settings.many = common.inputs[1] != NULL;
  surfaces = g_ptr_array_new_with_free_func (surface_free);
  for (gchar **name = common.inputs; *name != NULL; name++)
    g_ptr_array_add (surfaces, surface_new (*name, &settings));
  if (common.show) {
    show_pipelines (surfaces);
    status = print_failures (surfaces);
  } else {
    status = measure_all (surfaces, &settings);
  }
  g_ptr_array_unref (surfaces);
  options_clear (&common);
  return status;
}

const Command command_roughness = {
  .name = "roughness",
  .arguments = "FILE... - areal parameters of measured surfaces",
  .summary = "roughness, waviness and form of measured surfaces",
  .examples =
      "Examples:\n"
      "  cudavision roughness part.x3p --lambda-c 80um --report part.html\n"
      "  cudavision roughness folder/ > parameters.csv",
  .run = run_roughness,
};
