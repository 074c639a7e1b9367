/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudabundleadjust
 * @title: cudabundleadjust
 * @short_description: adjusts reconstructions (bundle adjustment)
 *
 * Collects a reconstruction up to the end of the stream, minimises its reprojection
 * error over cameras and points, and pushes the result in any supported format.
 * Every run on the same backend gives the same bits.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m filesrc location=problem.txt ! cudabundleadjust output-format=colmap ! filesink location=model.tar
 * ]|
 *
 * Since: 0.1
 */
/* Not a GstCvisFilter, which gives one frame for each input frame: here a whole stream
 * gives one result, and upstream does not wait while it is computed. The source
 * pad's task reads, adjusts and pushes; the request pad has a task of its own, so
 * that the sinks of both can preroll. */
#include "gstcudabundleadjust.h"

#include <string.h>
#include "cuda/bundle/colmap/archive.h"
#include "cuda/bundle/formats/constants.h"
#include "cuda/core/cancel.h"
#include "gst/common/gstcvisbackend.h"
#include "gst/common/gstcvisreport.h"
#include "gstbundlefile.h"
#include "gstbundlesettings.h"
#include "gstbundletypes.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuda_bundle_adjust_debug);
#define GST_CAT_DEFAULT gst_cuda_bundle_adjust_debug

struct _GstCudaBundleAdjust {
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  GstPad *cloudpad; /* (nullable): guarded by the object lock */

  /* guarded by the object lock */
  GstBundleSettings settings;
  GstCvisBackend backend;
  CvisContext *context;
  GstStructure *stats;

  gint cancel; /* atomic */

  /* of the sink's streaming thread until EOS, then of the source's task */
  GstBundleFile file;
  BundleFormat format;
  gboolean known; /* the format was identified */
  gchar *folder; /* (nullable): of a COLMAP model, read instead of the stream */
  gboolean failed;

  GBytes *cloud;  /* for the task of cloudpad */
  GValue history; /* array of structures, while a task adjusts */
};

enum {
  PROP_0,
  PROP_STATS,
  PROP_BACKEND,
  PROP_SETTING = PROP_BACKEND + 3,
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_BUNDLE_READ_CAPS "; " GST_BUNDLE_RAW_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_BUNDLE_WRITTEN_CAPS));
static GstStaticPadTemplate cloud_template =
    GST_STATIC_PAD_TEMPLATE ("src_cloud", GST_PAD_SRC, GST_PAD_REQUEST,
        GST_STATIC_CAPS (GST_BUNDLE_PLY_CAPS));

#define gst_cuda_bundle_adjust_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstCudaBundleAdjust, gst_cuda_bundle_adjust, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE (cudabundleadjust, "cudabundleadjust",
    GST_RANK_NONE, GST_TYPE_CUDA_BUNDLE_ADJUST);

/* --- messages --------------------------------------------------------------------- */

static void post_progress (GstCudaBundleAdjust *self, GstProgressType type,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

static void
post_progress (
    GstCudaBundleAdjust *self, GstProgressType type, const gchar *format, ...)
{
  gchar *text;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  GST_DEBUG_OBJECT (self, "%s", text);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_progress (GST_OBJECT (self), type, "adjust", text));
  g_free (text);
}

/* Takes @error. */
static void
post_adjust_error (GstCudaBundleAdjust *self, const gchar *what, GError *error)
{
  static const GstCvisRemedies remedies = { GST_STREAM_ERROR_DECODE,
    "Check the file.", "Check the properties and the reconstruction.",
    "Use a smaller reconstruction.", GST_LIBRARY_ERROR_FAILED,
    "Use backend=cpu, or a smaller reconstruction." };
  const gboolean cancelled =
      g_error_matches (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);

  post_progress (self,
      cancelled ? GST_PROGRESS_TYPE_CANCELED : GST_PROGRESS_TYPE_ERROR, "%s",
      error->message);
  if (!cancelled && error->domain != G_FILE_ERROR) {
    gst_cvis_post_error (GST_ELEMENT (self), what, &remedies, error);
    return;
  }
  if (!cancelled)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot %s: %s. Check the file name and its permissions.", what,
            error->message),
        (NULL));
  g_error_free (error);
}

static GstStructure *
describe_iteration (const BundleIteration *iteration)
{
  return gst_structure_new ("cudabundleadjust-iteration", "number", G_TYPE_UINT,
      iteration->number, "accepted", G_TYPE_BOOLEAN, iteration->accepted,
      "cost", G_TYPE_DOUBLE, iteration->cost, "rho", G_TYPE_DOUBLE,
      iteration->rho, "radius", G_TYPE_DOUBLE, iteration->radius, "gradient",
      G_TYPE_DOUBLE, iteration->gradient, "pcg-iterations", G_TYPE_UINT,
      iteration->pcg_iterations, "milliseconds", G_TYPE_DOUBLE,
      iteration->seconds * 1e3, NULL);
}

static gboolean
show_iteration (const BundleIteration *iteration, gpointer user_data)
{
  GstCudaBundleAdjust *self = user_data;
  GstStructure *about;
  GValue value = G_VALUE_INIT;

  if (iteration != NULL) {
    about = describe_iteration (iteration);
    g_value_init (&value, GST_TYPE_STRUCTURE);
    gst_value_set_structure (&value, about);
    gst_value_array_append_and_take_value (&self->history, &value);
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), about));
    post_progress (self, GST_PROGRESS_TYPE_CONTINUE,
        "Iteration %u: cost %.9g, %u conjugate gradient iterations",
        iteration->number, iteration->cost, iteration->pcg_iterations);
  }
  return !g_atomic_int_get (&self->cancel);
}

/* --- adjustment --------------------------------------------------------------------- */

static const gchar *
name_solver (BundleSolver solver)
{
  static const gchar *const names[] = { "none", "conjugate-gradients",
    "direct-cameras", "direct-points" };

  return names[solver];
}

static void
set_stats (GstCudaBundleAdjust *self, GstStructure *stats)
{
  GstStructure *old;

  GST_OBJECT_LOCK (self);
  old = self->stats;
  self->stats = stats;
  GST_OBJECT_UNLOCK (self);
  gst_structure_free (old);
}

static void
gst_cuda_bundle_adjust_reset_stats (GstCudaBundleAdjust *self)
{
  set_stats (self, gst_structure_new_empty ("cudabundleadjust-stats"));
}

static GstStructure *
describe_summary (GstCudaBundleAdjust *self, const BundleProblem *problem,
    const BundleSummary *summary)
{
  GstStructure *stats = gst_structure_new ("cudabundleadjust-stats", "cameras",
      G_TYPE_UINT, problem->n_cameras, "points", G_TYPE_UINT, problem->n_points,
      "observations", G_TYPE_UINT64, (guint64) problem->n_observations,
      "initial-cost", G_TYPE_DOUBLE, summary->initial_cost, "final-cost",
      G_TYPE_DOUBLE, summary->final_cost, "iterations", G_TYPE_UINT,
      summary->iterations, "pcg-iterations", G_TYPE_UINT,
      summary->pcg_iterations, "solver", G_TYPE_STRING,
      name_solver (summary->solver), "stop", G_TYPE_STRING,
      bundle_stop_name (summary->stop), "seconds", G_TYPE_DOUBLE,
      summary->seconds, "device-bytes", G_TYPE_UINT64,
      (guint64) summary->device_bytes, NULL);
  GValue deficient = G_VALUE_INIT, camera = G_VALUE_INIT;

  gst_structure_set (stats, "behind-cameras", G_TYPE_UINT64,
      (guint64) summary->n_behind, "rejected-observations", G_TYPE_UINT64,
      (guint64) summary->n_rejected, NULL);
  gst_structure_set_value (stats, "history", &self->history);
  g_value_init (&deficient, GST_TYPE_ARRAY);
  g_value_init (&camera, G_TYPE_UINT);
  for (guint i = 0; i < summary->n_deficient; i++) {
    g_value_set_uint (&camera, summary->deficient[i]);
    gst_value_array_append_value (&deficient, &camera);
  }
  gst_structure_take_value (stats, "deficient-cameras", &deficient);
  return stats;
}

/* 9 x 9 float64 for each camera */
static gboolean
add_covariances (const BundleProblem *problem, const BundleConfig *config,
    GstStructure *stats, GError **error)
{
  const gsize size = sizeof (gdouble) * 81 * (gsize) problem->n_cameras;
  gdouble *covariances = g_try_malloc0 (size);
  GstBuffer *buffer;

  if (covariances == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for %u covariances", problem->n_cameras);
    return FALSE;
  }
  if (!bundle_covariances (problem, config, covariances, error)) {
    g_free (covariances);
    return FALSE;
  }
  buffer = gst_buffer_new_wrapped (covariances, size);
  gst_structure_set (stats, "covariances", GST_TYPE_BUFFER, buffer, NULL);
  gst_buffer_unref (buffer);
  return TRUE;
}

static gboolean
read_constants (BundleProblem *problem, const gchar *location, GError **error)
{
  g_autofree gchar *text = NULL;
  gboolean ok;
  gsize size;

  if (!*location)
    return TRUE;
  if (!g_file_get_contents (location, &text, &size, error))
    return FALSE; /* with the name of the file */
  ok = bundle_constants_read (problem, text, size, error);
  if (!ok)
    g_prefix_error (error, "%s, ", location);
  return ok;
}

static GstBundleSettings
copy_adjust_settings (GstCudaBundleAdjust *self)
{
  GstBundleSettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  settings.constants = g_strdup (settings.constants);
  GST_OBJECT_UNLOCK (self);
  return settings;
}

/* A zip archive, and the folder of a single file, are models of COLMAP. */
static BundleProblem *
read_problem (GstCudaBundleAdjust *self, guint threads, GError **error)
{
  const GstBundleFile *file = &self->file;
  g_autoptr (BundleModel) model = NULL;
  BundleFormat format;

  if (!self->folder && bundle_format_detect (file->data, file->size, &format))
    return bundle_read (file->data, file->size, self->format, threads, error);
  model = self->folder
              ? bundle_model_read (self->folder, error)
              : bundle_model_read_archive (file->data, file->size, error);
  return model ? bundle_colmap_convert (model, error) : NULL;
}

/* Parses the collected file, and frees its bytes. Returns: %NULL after posting an
 * error */
static BundleProblem *
take_problem (GstCudaBundleAdjust *self, const GstBundleSettings *settings)
{
  GError *error = NULL;
  BundleProblem *problem =
      read_problem (self, settings->config.threads, &error);

  gst_bundle_file_clear (&self->file);
  if (problem == NULL) {
    post_adjust_error (self, "read the reconstruction", error);
    return NULL;
  }
  gst_bundle_warn_of_notes (GST_ELEMENT (self), problem);
  if (!read_constants (problem, settings->constants, &error)) {
    post_adjust_error (self, "read the constants", error);
    g_clear_pointer (&problem, bundle_problem_free);
  }
  return problem;
}

/* One warning for each thing that a user should hear about. */
static void
warn_of_result (GstCudaBundleAdjust *self, const BundleProblem *problem,
    const BundleConfig *config, const BundleSummary *summary)
{
  const gsize n = problem->n_observations;

  if (summary->n_behind > 0)
    GST_ELEMENT_WARNING (self, LIBRARY, FAILED,
        ("Points lie behind the cameras that observe them: %" G_GSIZE_FORMAT
         " of %" G_GSIZE_FORMAT " observations, the first is observation "
         "%" G_GSIZE_FORMAT " of point %u by camera %u. Remove wrong "
         "observations, or use a robust loss.",
            summary->n_behind, n, summary->first_behind,
            problem->point_of[summary->first_behind],
            problem->camera_of[summary->first_behind]),
        (NULL));
  if (summary->n_rejected > n / 2)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("The loss rejects most observations: %" G_GSIZE_FORMAT
         " of %" G_GSIZE_FORMAT " have a reprojection error above loss-scale "
         "(%g pixels). Increase loss-scale, or provide better initial values.",
            summary->n_rejected, n, config->loss_scale),
        (NULL));
  if (summary->n_deficient > 0)
    GST_ELEMENT_WARNING (self, LIBRARY, FAILED,
        ("%u of %u cameras are not determined by their points; the first is "
         "camera %u. Add observations to them, or keep some of their "
         "parameters constant (fix-intrinsics, shared-intrinsics, constants).",
            summary->n_deficient, problem->n_cameras, summary->deficient[0]),
        (NULL));
  if (summary->stop == BUNDLE_STOP_ITERATIONS && config->max_iterations > 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("The adjustment stopped at max-iterations (%u) before it converged. "
         "Increase max-iterations.",
            config->max_iterations),
        (NULL));
}

static gboolean
adjust (GstCudaBundleAdjust *self, BundleProblem *problem,
    const GstBundleSettings *settings)
{
  BundleSummary summary = { 0 };
  GError *error = NULL;
  CvisContext *context;
  GstStructure *stats;
  gboolean cancelled;

  GST_OBJECT_LOCK (self);
  context = self->context;
  GST_OBJECT_UNLOCK (self);
  g_value_init (&self->history, GST_TYPE_ARRAY);
  if (!bundle_solve (problem, &settings->config, context, show_iteration, self,
          &summary, &error)) {
    g_value_unset (&self->history);
    post_adjust_error (self, "adjust the reconstruction", error);
    return FALSE;
  }
  cancelled = summary.stop == BUNDLE_STOP_CANCELLED;
  stats = describe_summary (self, problem, &summary);
  g_value_unset (&self->history);
  if (!cancelled && settings->covariance
      && !add_covariances (problem, &settings->config, stats, &error)) {
    cancelled = g_error_matches (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
    if (!cancelled)
      GST_ELEMENT_WARNING (self, LIBRARY, FAILED,
          ("Cannot compute covariances: %s. The reconstruction is adjusted "
           "nevertheless.",
              error->message),
          (NULL));
    g_clear_error (&error);
  }
  if (!cancelled)
    warn_of_result (self, problem, &settings->config, &summary);
  set_stats (self, stats);
  if (cancelled)
    post_progress (self, GST_PROGRESS_TYPE_CANCELED, "Cancelled");
  else
    post_progress (self, GST_PROGRESS_TYPE_COMPLETE,
        "Cost %.9g after %u iterations, %.9g at the start", summary.final_cost,
        summary.iterations, summary.initial_cost);
  bundle_summary_clear (&summary);
  return !cancelled;
}

/* Starts a task unless pads are being deactivated or flushed, which would not stop
 * it any more. */
static void
start_pad_task (
    GstCudaBundleAdjust *self, GstPad *pad, GstTaskFunction func, gpointer data)
{
  if (g_atomic_int_get (&self->cancel))
    return;
  gst_pad_start_task (pad, func, data, NULL);
  if (g_atomic_int_get (&self->cancel))
    gst_pad_stop_task (pad);
}

/* --- output --------------------------------------------------------------------------- */

/* Pushes caps and segment of a pad's stream. */
static GstFlowReturn
begin_stream (GstCudaBundleAdjust *self, GstPad *pad, BundleFormat format)
{
  GstCaps *caps = gst_bundle_format_caps (format);
  GstFlowReturn ret = GST_FLOW_OK;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  if (gst_pad_push_event (pad, gst_event_new_caps (caps))) {
    gst_pad_push_event (pad, gst_event_new_segment (&segment));
  } else if (GST_PAD_IS_FLUSHING (pad)) {
    ret = GST_FLOW_FLUSHING;
  } else if (!gst_pad_is_linked (pad)) {
    ret = GST_FLOW_NOT_LINKED;
  } else {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Downstream of pad %s does not accept %s. Set output-format to a "
         "format that it accepts.",
            GST_PAD_NAME (pad),
            gst_structure_get_name (gst_caps_get_structure (caps, 0))),
        (NULL));
    ret = GST_FLOW_NOT_NEGOTIATED;
  }
  gst_caps_unref (caps);
  return ret;
}

/* A file that is being pushed */
typedef struct {
  GstPad *pad;
  guint64 offset;
  GstFlowReturn ret;
} Pushing;

static gboolean
push_part (GBytes *part, gpointer user_data)
{
  Pushing *pushing = user_data;
  GstBuffer *buffer = gst_buffer_new_wrapped_bytes (part);

  GST_BUFFER_OFFSET (buffer) = pushing->offset;
  pushing->offset += g_bytes_get_size (part);
  GST_BUFFER_OFFSET_END (buffer) = pushing->offset;
  g_bytes_unref (part);
  GST_LOG_OBJECT (pushing->pad, "pushing %" GST_PTR_FORMAT, buffer);
  pushing->ret = gst_pad_push (pushing->pad, buffer);
  return pushing->ret == GST_FLOW_OK;
}

static void
report_flow (GstCudaBundleAdjust *self, GstFlowReturn ret)
{
  if (ret < GST_FLOW_EOS && ret != GST_FLOW_NOT_NEGOTIATED)
    GST_ELEMENT_FLOW_ERROR (self, ret);
}

static void
push_cloud (gpointer user_data)
{
  GstPad *pad = user_data;
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (gst_pad_get_parent (pad));
  GBytes *cloud;

  if (self == NULL) {
    gst_pad_pause_task (pad);
    return;
  }
  GST_OBJECT_LOCK (self);
  cloud = g_steal_pointer (&self->cloud);
  GST_OBJECT_UNLOCK (self);
  if (cloud != NULL) {
    Pushing pushing = { pad, 0, begin_stream (self, pad, BUNDLE_FORMAT_PLY) };

    if (pushing.ret == GST_FLOW_OK)
      push_part (g_steal_pointer (&cloud), &pushing);
    g_clear_pointer (&cloud, g_bytes_unref);
    report_flow (self, pushing.ret);
  }
  gst_pad_push_event (pad, gst_event_new_eos ());
  gst_pad_pause_task (pad);
  gst_object_unref (self);
}

/* Starts the task of the request pad, if there is one. @cloud: (nullable) */
static void
start_cloud (GstCudaBundleAdjust *self, GBytes *cloud)
{
  GstPad *pad;
  GBytes *old;

  GST_OBJECT_LOCK (self);
  pad = self->cloudpad ? gst_object_ref (self->cloudpad) : NULL;
  old = self->cloud;
  self->cloud = cloud;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&old, g_bytes_unref);
  if (pad != NULL) {
    start_pad_task (self, pad, push_cloud, pad);
    gst_object_unref (pad);
  }
}

static gboolean
has_cloud (GstCudaBundleAdjust *self)
{
  gboolean has;

  GST_OBJECT_LOCK (self);
  has = self->cloudpad != NULL;
  GST_OBJECT_UNLOCK (self);
  return has;
}

/* Starts the task of the request pad first, so that sinks behind both pads preroll.
 * If there is no memory for the cloud, its stream is empty and the result is
 * pushed. */
static void
push_results (GstCudaBundleAdjust *self, const BundleProblem *problem,
    const GstBundleSettings *settings)
{
  const guint threads = settings->config.threads;
  const BundleFormat format = settings->output_format;
  Pushing pushing = { self->srcpad, 0, GST_FLOW_OK };
  GError *error = NULL;
  gdouble *errors = NULL;
  GBytes *cloud = NULL;

  if (has_cloud (self) || format == BUNDLE_FORMAT_PLY
      || format == BUNDLE_FORMAT_COLMAP)
    errors = g_try_new (gdouble, problem->n_points);
  if (errors != NULL)
    bundle_reprojection_errors (problem, threads, NULL, errors);
  if (has_cloud (self)
      && !(cloud = bundle_write (
               problem, BUNDLE_FORMAT_PLY, errors, threads, &error)))
    post_adjust_error (self, "write the cloud", g_steal_pointer (&error));
  start_cloud (self, cloud);
  gst_bundle_warn_of_losses (GST_ELEMENT (self), problem, format, threads);
  pushing.ret = begin_stream (self, self->srcpad, format);
  if (pushing.ret == GST_FLOW_OK
      && !bundle_write_parts (
          problem, format, errors, threads, push_part, &pushing, &error)) {
    if (pushing.ret == GST_FLOW_OK)
      post_adjust_error (self, "write the reconstruction", error);
    else
      g_error_free (error);
  }
  g_free (errors);
  report_flow (self, pushing.ret);
}

static void
adjust_and_push (GstCudaBundleAdjust *self, const GstBundleSettings *settings)
{
  g_autoptr (BundleProblem) problem = NULL;

  post_progress (self, GST_PROGRESS_TYPE_START, "Reading");
  problem = take_problem (self, settings);
  if (problem != NULL && adjust (self, problem, settings))
    push_results (self, problem, settings);
}

/* The source pad's task, which runs once. */
static void
run_adjustment (gpointer user_data)
{
  GstCudaBundleAdjust *self = user_data;
  GstBundleSettings settings = copy_adjust_settings (self);

  cvis_cancel_watch (&self->cancel);
  adjust_and_push (self, &settings);
  cvis_cancel_watch (NULL);
  g_free (settings.constants);
  if (!g_atomic_int_get (&self->cancel))
    gst_pad_push_event (self->srcpad, gst_event_new_eos ());
  gst_pad_pause_task (self->srcpad);
}

/* --- input ------------------------------------------------------------------------------ */

static gboolean
check_start (GstCudaBundleAdjust *self)
{
  gboolean is_part;

  if (self->known)
    return TRUE;
  g_free (self->folder);
  self->folder = gst_bundle_file_find_folder (self->sinkpad, &is_part);
  if (is_part)
    GST_DEBUG_OBJECT (self, "reading the folder %s", self->folder);
  else
    g_clear_pointer (&self->folder, g_free);
  self->known =
      is_part
      || bundle_format_detect (self->file.data, self->file.size, &self->format)
      || bundle_model_is_archive (self->file.data, self->file.size);
  if (self->known)
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("Cannot read the reconstruction: %s.",
          bundle_format_hint (self->file.data, self->file.size)),
      (NULL));
  self->failed = TRUE;
  return FALSE;
}

static GstFlowReturn
gst_cuda_bundle_adjust_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (parent);
  gboolean ok = !self->failed;

  GST_LOG_OBJECT (self, "receiving %" GST_PTR_FORMAT, buffer);
  if (ok && !gst_bundle_file_append (&self->file, GST_ELEMENT (self), buffer)) {
    self->failed = TRUE;
    ok = FALSE;
  }
  gst_buffer_unref (buffer);
  if (ok && self->file.size >= GST_BUNDLE_FILE_START)
    ok = check_start (self);
  return ok ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static void
forget_file (GstCudaBundleAdjust *self)
{
  gst_bundle_file_clear (&self->file);
  g_clear_pointer (&self->folder, g_free);
  self->known = self->failed = FALSE;
}

/* --- events ------------------------------------------------------------------------------- */

/* Pushes @event on all source pads. Takes @event. */
static gboolean
forward_event (GstCudaBundleAdjust *self, GstEvent *event)
{
  return gst_pad_event_default (self->sinkpad, GST_OBJECT (self), event);
}

static void
stop_tasks (GstCudaBundleAdjust *self)
{
  GstPad *cloud;

  gst_pad_stop_task (self->srcpad);
  GST_OBJECT_LOCK (self);
  cloud = self->cloudpad ? gst_object_ref (self->cloudpad) : NULL;
  GST_OBJECT_UNLOCK (self);
  if (cloud != NULL) {
    gst_pad_stop_task (cloud);
    gst_object_unref (cloud);
  }
}

/* Whether a source pad is linked. An adjustment without a sink would be lost, and
 * nothing would end the pipeline. */
static gboolean
check_links (GstCudaBundleAdjust *self)
{
  gboolean linked;

  GST_OBJECT_LOCK (self);
  linked = gst_pad_is_linked (self->srcpad)
           || (self->cloudpad != NULL && gst_pad_is_linked (self->cloudpad));
  GST_OBJECT_UNLOCK (self);
  if (linked)
    return TRUE;
  GST_ELEMENT_ERROR (self, CORE, PAD,
      ("Cannot write the reconstruction: pad src is not linked. Put a sink "
       "such "
       "as filesink after cudabundleadjust."),
      (NULL));
  self->failed = TRUE;
  return FALSE;
}

/* At EOS of the input: starts the task that reads and adjusts. */
static void
end_file (GstCudaBundleAdjust *self)
{
  if (self->failed || !check_links (self))
    return;
  if (self->file.size == 0) {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot read the reconstruction: the stream ended before its first "
         "byte. Check the element before cudabundleadjust."),
        (NULL));
    self->failed = TRUE;
  } else if (check_start (self)) {
    start_pad_task (self, self->srcpad, run_adjustment, self);
  }
}

static gboolean
gst_cuda_bundle_adjust_sink_event (
    GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (parent);
  gboolean ok = TRUE;

  GST_DEBUG_OBJECT (pad, "%" GST_PTR_FORMAT, event);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      return forward_event (self, event);
    case GST_EVENT_FLUSH_START:
      g_atomic_int_set (&self->cancel, TRUE);
      ok = forward_event (self, event);
      stop_tasks (self);
      return ok;
    case GST_EVENT_FLUSH_STOP:
      stop_tasks (self); /* what ends early looks at the flag to its end */
      forget_file (self);
      g_atomic_int_set (&self->cancel, FALSE);
      return forward_event (self, event);
    case GST_EVENT_EOS:
      end_file (self);
      ok = !self->failed;
      if (self->failed)
        return forward_event (self, event);
      break;
    default:
      /* caps, segment and tags of the file are not those of the result */
      if (!GST_EVENT_IS_SERIALIZED (event))
        return gst_pad_event_default (pad, parent, event);
  }
  gst_event_unref (event);
  return ok;
}

/* --- pulling ---------------------------------------------------------------------------- */

#define PULLED (4 << 20) /* bytes pulled at a time */

static void
start_stream (GstCudaBundleAdjust *self)
{
  gchar *id =
      gst_pad_create_stream_id (self->srcpad, GST_ELEMENT (self), "file");
  GstEvent *event = gst_event_new_stream_start (id);

  gst_event_set_group_id (event, gst_util_group_id_next ());
  gst_pad_store_sticky_event (self->sinkpad, event);
  forward_event (self, event);
  g_free (id);
}

static void
start_file (GstCudaBundleAdjust *self)
{
  gint64 size;

  start_stream (self);
  if (gst_pad_peer_query_duration (self->sinkpad, GST_FORMAT_BYTES, &size)
      && size > 0)
    gst_bundle_file_reserve (&self->file, (guint64) size);
}

/* The sink pad's task: pulls a block each time. No buffer is offered to upstream: an
 * element between the source and this one returns one of its own. */
static void
pull_block (gpointer user_data)
{
  GstCudaBundleAdjust *self = user_data;
  GstBuffer *buffer = NULL;
  GstFlowReturn ret;

  if (self->file.size == 0)
    start_file (self);
  ret = gst_pad_pull_range (self->sinkpad, self->file.size, PULLED, &buffer);
  if (ret == GST_FLOW_OK)
    ret =
        gst_cuda_bundle_adjust_chain (self->sinkpad, GST_OBJECT (self), buffer);
  if (ret == GST_FLOW_OK)
    return;
  if (ret == GST_FLOW_EOS)
    end_file (self);
  else if (!self->failed && (ret < GST_FLOW_EOS || ret == GST_FLOW_NOT_LINKED))
    GST_ELEMENT_FLOW_ERROR (self, ret);
  if (ret != GST_FLOW_FLUSHING && (ret != GST_FLOW_EOS || self->failed))
    forward_event (self, gst_event_new_eos ());
  gst_pad_pause_task (self->sinkpad);
}

/* Pulls large blocks of a file: filesrc pushes small ones. */
static gboolean
gst_cuda_bundle_adjust_activate_sink (GstPad *pad, GstObject *parent)
{
  GstQuery *query = gst_query_new_scheduling ();
  const gboolean pull = gst_pad_peer_query (pad, query)
                        && gst_query_has_scheduling_mode_with_flags (query,
                            GST_PAD_MODE_PULL, GST_SCHEDULING_FLAG_SEEKABLE);

  gst_query_unref (query);
  return gst_pad_activate_mode (
      pad, pull ? GST_PAD_MODE_PULL : GST_PAD_MODE_PUSH, TRUE);
}

static gboolean
gst_cuda_bundle_adjust_activate_sink_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  if (mode == GST_PAD_MODE_PUSH)
    return TRUE;
  if (mode != GST_PAD_MODE_PULL)
    return FALSE;
  return active ? gst_pad_start_task (pad, pull_block, parent, NULL)
                : gst_pad_stop_task (pad);
}

/* --- states --------------------------------------------------------------------------------- */

static void
drop_results (GstCudaBundleAdjust *self)
{
  CvisContext *context;
  GBytes *cloud;

  GST_OBJECT_LOCK (self);
  context = g_steal_pointer (&self->context);
  cloud = g_steal_pointer (&self->cloud);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&context, cvis_context_unref);
  g_clear_pointer (&cloud, g_bytes_unref);
  gst_cvis_backend_stop (&self->backend, GST_ELEMENT (self));
  forget_file (self);
}

static gboolean
start (GstCudaBundleAdjust *self)
{
  CvisContext *context = NULL;

  if (!gst_cvis_backend_start (&self->backend, GST_ELEMENT (self), &context))
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->context = context;
  GST_OBJECT_UNLOCK (self);
  g_atomic_int_set (&self->cancel, FALSE);
  gst_cuda_bundle_adjust_reset_stats (self);
  return TRUE;
}

static GstStateChangeReturn
gst_cuda_bundle_adjust_change_state (
    GstElement *element, GstStateChange transition)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    g_atomic_int_set (&self->cancel, TRUE);
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    drop_results (self);
  return ret;
}

/* --- request pad -------------------------------------------------------------------------------- */

static gboolean
copy_stream_start (GstPad *pad, GstEvent **event, gpointer user_data)
{
  if (GST_EVENT_TYPE (*event) == GST_EVENT_STREAM_START)
    gst_pad_store_sticky_event (user_data, *event);
  return TRUE;
}

static GstPad *
gst_cuda_bundle_adjust_request_new_pad (GstElement *element,
    GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (element);
  GstPad *pad;

  if (has_cloud (self))
    return NULL;
  pad = gst_bundle_file_new_src_pad (&cloud_template);
  GST_OBJECT_LOCK (self);
  self->cloudpad = pad;
  GST_OBJECT_UNLOCK (self);
  gst_pad_set_active (pad, TRUE);
  gst_pad_sticky_events_foreach (self->sinkpad, copy_stream_start, pad);
  gst_element_add_pad (element, pad);
  return pad;
}

static void
gst_cuda_bundle_adjust_release_pad (GstElement *element, GstPad *pad)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (element);

  GST_OBJECT_LOCK (self);
  self->cloudpad = NULL;
  GST_OBJECT_UNLOCK (self);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
}

/* --- object --------------------------------------------------------------------------------------- */

static void
gst_cuda_bundle_adjust_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (object);

  if (id >= PROP_SETTING) {
    gst_cvis_settings_set_property (object, id, value, pspec);
    return;
  }
  gst_cvis_warn_if_late (object, pspec);
  gst_cvis_backend_set_property (&self->backend, object, value, pspec);
}

static void
gst_cuda_bundle_adjust_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (object);

  if (gst_cvis_backend_get_property (&self->backend, object, value, pspec))
    return;
  if (id != PROP_STATS) {
    gst_cvis_settings_get_property (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_value_set_boxed (value, self->stats);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_cuda_bundle_adjust_finalize (GObject *object)
{
  GstCudaBundleAdjust *self = GST_CUDA_BUNDLE_ADJUST (object);

  drop_results (self);
  gst_structure_free (self->stats);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_bundle_adjust_class_init (GstCudaBundleAdjustClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->finalize = gst_cuda_bundle_adjust_finalize;
  gst_bundle_settings_bind (object_class, PROP_SETTING,
      G_STRUCT_OFFSET (GstCudaBundleAdjust, settings));
  object_class->set_property = gst_cuda_bundle_adjust_set_property;
  object_class->get_property = gst_cuda_bundle_adjust_get_property;
  element_class->change_state = gst_cuda_bundle_adjust_change_state;
  element_class->request_new_pad = gst_cuda_bundle_adjust_request_new_pad;
  element_class->release_pad = gst_cuda_bundle_adjust_release_pad;
  /**
   * GstCudaBundleAdjust::reset-stats:
   *
   * Empties #GstCudaBundleAdjust:stats until the next adjustment.
   */
  gst_cvis_install_stats (object_class, PROP_STATS,
      "Sizes, costs and the history of the last adjustment; times in seconds",
      G_CALLBACK (gst_cuda_bundle_adjust_reset_stats));
  gst_cvis_backend_install_properties (object_class, PROP_BACKEND);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_add_static_pad_template (element_class, &cloud_template);
  gst_element_class_set_static_metadata (element_class, "Bundle adjustment",
      "Filter/Analyzer",
      "Minimises the reprojection error of a reconstruction on the CPU or a "
      "GPU",
      "the gst-cudavision authors");
  gst_type_mark_as_plugin_api (GST_TYPE_CVIS_BACKEND, 0);
  GST_DEBUG_CATEGORY_INIT (
      gst_cuda_bundle_adjust_debug, "cudabundleadjust", 0, "bundle adjustment");
}

static void
gst_cuda_bundle_adjust_init (GstCudaBundleAdjust *self)
{
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_cuda_bundle_adjust_chain);
  gst_pad_set_event_function (self->sinkpad, gst_cuda_bundle_adjust_sink_event);
  gst_pad_set_activate_function (
      self->sinkpad, gst_cuda_bundle_adjust_activate_sink);
  gst_pad_set_activatemode_function (
      self->sinkpad, gst_cuda_bundle_adjust_activate_sink_mode);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_bundle_file_new_src_pad (&src_template);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
  gst_cvis_backend_init (&self->backend);
  gst_bundle_settings_init (&self->settings);
  self->stats = gst_structure_new_empty ("cudabundleadjust-stats");
}
