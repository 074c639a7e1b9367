/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision roughness`, running: a pipeline for each surface, or one for many. */
#include "roughness.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "cuda/core/device/device.h"
#include "cuda/surface/file.h"
#include "tools/inputs.h"
#include "tools/length.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/progress.h"

/* Nesting indices of ISO 25178-3, per decade */
static const gdouble series[] = { 2.5, 8 };

/* --- one surface ----------------------------------------------------------- */

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

/* The largest of the series that is at most a fifth of @side, but at least the first one of
 * three samples: the shortest that the filter can separate; 0 without a spacing */
static gdouble
choose_lambda_c (gdouble side, gdouble spacing)
{
  gdouble best = 0;

  if (spacing == 0)
    return 0;
  for (gint decade = -9; decade < 1; decade++)
    for (guint i = 0; i < G_N_ELEMENTS (series); i++)
      if (series[i] * pow (10, decade) <= side / 5 || best < 3 * spacing)
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
  const RoughnessSettings *settings = surface->settings;
  const gdouble dy = about->dy > 0      ? about->dy
                     : settings->dy > 0 ? settings->dy
                                        : dx;
  const gdouble side = about->height > 1
                           ? MIN (dx * about->width, dy * about->height)
                           : dx * about->width;

  surface->lambda_c =
      settings->lambda_c > 0
          ? settings->lambda_c
          : choose_lambda_c (side, about->height > 1 ? MAX (dx, dy) : dx);
  if (dx == 0 || surface->lambda_c == 0) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
        "the sample spacing is unknown; give it with --dx 1um");
    return FALSE;
  }
  return check_cutoff ("--lambda-s", settings->lambda_s, about, dx, dy, error)
         && check_cutoff ("--lambda-c", surface->lambda_c, about, dx, dy, error)
         && check_cutoff (
             "--lambda-f", settings->lambda_f, about, dx, dy, error);
}

gboolean
roughness_prepare_cutoffs (Surface *surface, GError **error)
{
  SurfaceReader *reader;
  const SurfaceImage *about;
  gboolean ok;

  if (surface->settings->unfiltered)
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

/* The processors measure a file while a device starts, 0.4 s, and a folder while one reads
 * it: the CPU unless a device is asked for. */
static const gchar *
get_backend (const CommonOptions *common)
{
  if (common->backend != NULL)
    return common->backend;
  return common->device >= 0 || common->devices != NULL ? "auto" : "cpu";
}

static void
append_filter (GString *launch, const Surface *surface)
{
  const RoughnessSettings *settings = surface->settings;
  const CommonOptions *common = settings->common;

  g_string_append (launch, "surfacesrc ");
  if (settings->many && !common->show)
    g_string_append (launch, "name=source ");
  launch_set_location (launch, surface->name);
  if (settings->dx > 0)
    launch_set_double (launch, "dx", settings->dx);
  if (settings->dy > 0)
    launch_set_double (launch, "dy", settings->dy);
  if (common->report != NULL && !common->show)
    g_string_append (launch, "! tee name=measured ");
  g_string_append (launch, "! cudalwtfilter name=filter parameters=true ");
  launch_set (launch, "output",
      settings->unfiltered ? "form"
      : settings->many     ? "roughness"
                           : "none");
  launch_set (launch, "f-operation", settings->form);
  launch_set (launch, "filter", settings->low_pass);
  if (settings->wavelet != NULL)
    launch_set (launch, "wavelet", settings->wavelet);
  if (settings->unfiltered)
    g_string_append (launch, "levels=0 roughness-levels=0 ");
  if (settings->lambda_s > 0)
    launch_set_double (launch, "lambda-s", settings->lambda_s);
  if (surface->lambda_c > 0)
    launch_set_double (launch, "lambda-c", surface->lambda_c);
  if (settings->lambda_f > 0)
    launch_set_double (launch, "lambda-f", settings->lambda_f);
  launch_set (launch, "backend", get_backend (common));
  if (common->device >= 0)
    launch_set_int (launch, "cuda-device-id", common->device);
  if (common->devices != NULL)
    launch_set (launch, "cuda-device-ids", common->devices);
  if (settings->many && !common->show)
    launch_set_int (launch, "message-interval", 1);
  if (settings->many || common->threads > 0)
    launch_set_int (launch, "threads", settings->many ? 1 : common->threads);
}

gchar *
roughness_make_launch (const Surface *surface, const gchar *rows,
    gboolean header, gboolean temporary)
{
  const gboolean report = surface->settings->common->report != NULL;
  gchar *const *write = surface->settings->write;
  GString *launch = g_string_new (NULL);

  append_filter (launch, surface);
  g_string_append (launch, "! surfaceparamenc ");
  if (temporary)
    g_string_append (launch, "name=table ");
  launch_set (launch, "label", surface->name);
  if (!header)
    g_string_append (launch, "header=false ");
  g_string_append_printf (launch, "! %s", rows);
  for (guint i = 0; write != NULL && write[i] != NULL; i++) {
    const gchar *component = roughness_component_of_write (write[i]);
    const gchar *name = write[i] + strlen (component) + 1;

    /* a page of pictures has a tee behind the pad already */
    g_string_append_printf (launch,
        temporary && report && strcmp (component, "noise") != 0
            ? " %s. ! queue ! surfacesink "
            : " filter.src_%s ! surfacesink ",
        component);
    launch_set_location (launch,
        temporary ? output_get_temporary_name (surface->outputs->pdata[i])
                  : name);
  }
  if (temporary && report)
    surface_pictures_append (launch, surface->settings->unfiltered);
  return g_string_free (launch, FALSE);
}

/* --- running --------------------------------------------------------------- */

static gboolean
open_roughness_outputs (Surface *surface, GError **error)
{
  gchar *const *write = surface->settings->write;

  surface->outputs = g_ptr_array_new ();
  for (guint i = 0; write != NULL && write[i] != NULL; i++) {
    const gchar *name =
        write[i] + strlen (roughness_component_of_write (write[i])) + 1;
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
      roughness_make_launch (surface, "fakesink name=rows", TRUE, TRUE);
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

static void
prepare_surface (Surface *surface)
{
  if (input_check (surface->name, INPUT_SURFACE, &surface->error))
    roughness_prepare_cutoffs (surface, &surface->error);
}

/* Measures a surface that was prepared without an error. */
static void
measure_surface (Surface *surface)
{
  gboolean ok;

  if (interrupted ()) {
    g_set_error_literal (
        &surface->error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
    return;
  }
  ok = open_roughness_outputs (surface, &surface->error)
       && run_pipeline (surface, &surface->error);
  if (ok && surface->rows == NULL)
    g_set_error_literal (&surface->error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "the pipeline ended without a result; please report this");
  ok = surface->error == NULL;
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

/* An error of one file leaves surfaces without a row. */
static void
measure_stream (Surface **surfaces, guint n, Count *count)
{
  Stream stream = { surfaces, n, count };
  gchar *launch =
      roughness_make_launch (surfaces[0], "fakesink name=rows", TRUE, TRUE);
  PipelineRun run = { .launch = launch,
    .message = take_stream_message,
    .prepare = prepare_stream,
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

  for (guint i = 0; i < batch->n && !interrupted (); i++)
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
    if (surface->rows == NULL)
      count_surface (count);
    g_clear_pointer (&surface->rows, g_free);
    if (surface->error == NULL)
      measure_surface (surface);
  }
}

#define MAX_BATCH 32
#define DEVICE_WORKERS 4 /* more wait for each other when they start */

/* Pipelines side by side */
static guint
count_workers (const CommonOptions *common)
{
  const gchar *backend = get_backend (common);
  const guint processors = g_get_num_processors ();

  if (common->threads > 0)
    return (guint) common->threads;
  if (g_str_equal (backend, "cpu")
      || (g_str_equal (backend, "auto") && cvis_device_count (NULL) == 0))
    return processors;
  return MIN (processors, DEVICE_WORKERS);
}

void
roughness_measure (GPtrArray *surfaces, const CommonOptions *common)
{
  const guint n = surfaces->len, workers = count_workers (common);
  const guint size = CLAMP (n / workers / 2, 1, MAX_BATCH);
  Count count = { .all = n };
  GThreadPool *pool;
  Batch *batches;

  if (n == 1) {
    prepare_surface (surfaces->pdata[0]);
    if (((Surface *) surfaces->pdata[0])->error == NULL)
      measure_surface (surfaces->pdata[0]);
    return;
  }
  count.quiet = common->quiet;
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
