/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudapbfmonitor, learn-baseline: the first records of the stream become the machine's
 * baseline, which is stored and loaded. */
#include "gstpbfmonitor-private.h"

#define GST_CAT_DEFAULT gst_cuda_pbf_monitor_debug

static gboolean
is_set (const gchar *text)
{
  return text != NULL && *text != '\0';
}

/* The file with the baseline must not replace the one that it is made from. */
static gboolean
check_locations (const GstPbfSettings *settings, GError **error)
{
  gchar *from, *to;
  gboolean same;

  if (!is_set (settings->model_location)) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "there is no network to learn it for. Set model-location");
    return FALSE;
  }
  if (!is_set (settings->baseline_location)) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "there is no file to store it in. Set baseline-location");
    return FALSE;
  }
  from = g_canonicalize_filename (settings->model_location, NULL);
  to = g_canonicalize_filename (settings->baseline_location, NULL);
  same = g_str_equal (from, to);
  g_free (from);
  g_free (to);
  if (same)
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "baseline-location is the network's own file, which is needed for the "
        "next baseline. Set another one");
  return !same;
}

gboolean
gst_pbf_learn_start (GstCudaPbfMonitor *self)
{
  const GstPbfSettings *settings = &self->active;
  GError *error = NULL;

  if (settings->learn_baseline == 0)
    return TRUE;
  if (check_locations (settings, &error))
    self->baseline = pbf_baseline_new (settings->model_location,
        settings->learn_baseline, settings->machine, &error);
  if (self->baseline != NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
      ("Cannot learn a baseline: %s.", error->message),
      ("learn-baseline=%u", settings->learn_baseline));
  g_error_free (error);
  return FALSE;
}

void
gst_pbf_learn_stop (GstCudaPbfMonitor *self)
{
  g_clear_pointer (&self->baseline, pbf_baseline_free);
  g_clear_pointer (&self->learned, pbf_model_unref);
}

gboolean
gst_pbf_learn_is_open (GstCudaPbfMonitor *self)
{
  return self->baseline != NULL
         && g_atomic_pointer_get (&self->learned) == NULL;
}

gboolean
gst_pbf_learn_add (
    GstCudaPbfMonitor *self, const CvisPbfResult *results, guint n)
{
  return gst_pbf_learn_is_open (self)
         && pbf_baseline_add (self->baseline, results, n);
}

/* Reports how the baseline was made, and a warning if it is doubtful. */
static void
report_baseline (GstCudaPbfMonitor *self, const PbfBaselineReport *report)
{
  const gchar *location = self->active.baseline_location;
  const gchar *other = pbf_baseline_get_name (self->baseline, report->other);

  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("cudapbfmonitor-baseline", "location",
              G_TYPE_STRING, location, "machine", G_TYPE_STRING,
              self->active.machine, "frames", G_TYPE_UINT, report->frames,
              "known-directions", G_TYPE_UINT, report->known_directions,
              "backward", G_TYPE_DOUBLE, report->backward, "other",
              G_TYPE_STRING, other, "other-fraction", G_TYPE_DOUBLE,
              report->other_fraction, "contaminated", G_TYPE_BOOLEAN,
              report->contaminated, NULL)));
  if (report->contaminated)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The baseline in \"%s\" may be wrong: by the network %.1f %% of its "
         "frames are of the state %s (at most %.0f %% are accepted). Learn it "
         "again from a nominal layer.",
            location, 100 * report->other_fraction, other,
            100 * PBF_BASELINE_IMPURE),
        (NULL));
  if (report->known_directions == 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The baseline in \"%s\" may be wrong: the frames have no machine "
         "signals with positions, so that nothing shows whether both scan "
         "directions are in it. Learn it from a whole layer.",
            location),
        (NULL));
}

gboolean
gst_pbf_learn_finish (GstCudaPbfMonitor *self)
{
  PbfBaselineReport report;
  PbfModel *model = NULL;
  GError *error = NULL;
  GBytes *file = pbf_baseline_finish (self->baseline, &report, &error);
  gconstpointer bytes;
  gsize size;

  if (file == NULL) {
    GST_ELEMENT_ERROR (self, STREAM, FAILED,
        ("Cannot learn a baseline: %s.", error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  bytes = g_bytes_get_data (file, &size);
  if (g_file_set_contents (
          self->active.baseline_location, bytes, (gssize) size, &error))
    model = pbf_model_parse (bytes, size, &error);
  g_bytes_unref (file);
  if (model == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Cannot store the baseline in \"%s\": %s. Check baseline-location.",
            self->active.baseline_location, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "baseline of %u frames in %s", report.frames,
      self->active.baseline_location);
  report_baseline (self, &report);
  g_atomic_pointer_set (&self->learned, model);
  return TRUE;
}

void
gst_pbf_learn_end (GstCudaPbfMonitor *self)
{
  if (gst_pbf_learn_is_open (self))
    GST_ELEMENT_ERROR (self, STREAM, FAILED,
        ("No baseline was stored: the stream ended after %u of %u analysed "
         "frames. Use a longer recording, or lower learn-baseline (at least "
         "%d).",
            pbf_baseline_get_count (self->baseline),
            self->active.learn_baseline, PBF_BASELINE_MIN_FRAMES),
        (NULL));
}
