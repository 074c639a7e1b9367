/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudabundleadjust: the result and its formats, messages, statistics, constants,
 * cancelling, errors. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <math.h>
#include <string.h>

#include "cuda/bundle/formats/formats.h"
#include "tests/check/common/pipelinestates.h"
#include "../common/tempfolder.h"

static void
keep_buffer (
    GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  GByteArray *bytes = user_data;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_byte_array_append (bytes, map.data, (guint) map.size);
  gst_buffer_unmap (buffer, &map);
}

/* Runs @line to its end.
 * @end, @cloud: receive the bytes of the elements with these names
 * @iterations, @progress: (nullable): numbers of messages
 * Returns: stats of the element "adjust" */
static GstStructure *
run_line (const gchar *line, GByteArray *end, GByteArray *cloud,
    guint *iterations, guint *progress)
{
  GstElement *pipeline = gst_parse_launch (line, NULL), *element;
  GstStructure *stats = NULL, *empty = NULL;
  gboolean done = FALSE;

  fail_unless (pipeline != NULL);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "end");
  g_object_set (element, "signal-handoffs", TRUE, NULL);
  g_signal_connect (element, "handoff", G_CALLBACK (keep_buffer), end);
  gst_object_unref (element);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "cloud");
  if (element != NULL) {
    g_object_set (element, "signal-handoffs", TRUE, NULL);
    g_signal_connect (element, "handoff", G_CALLBACK (keep_buffer), cloud);
    gst_object_unref (element);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!done) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        GST_ELEMENT_BUS (pipeline), GST_CLOCK_TIME_NONE,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT
            | GST_MESSAGE_PROGRESS);
    GError *error = NULL;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    fail_unless (error == NULL, "%s", error ? error->message : "");
    if (iterations != NULL
        && gst_message_has_name (message, "cudabundleadjust-iteration"))
      ++*iterations;
    if (progress != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_PROGRESS)
      ++*progress;
    done = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    gst_message_unref (message);
  }
  element = gst_bin_get_by_name (GST_BIN (pipeline), "adjust");
  g_object_get (element, "stats", &stats, NULL);
  g_signal_emit_by_name (element, "reset-stats");
  g_object_get (element, "stats", &empty, NULL);
  fail_unless (gst_structure_n_fields (empty) == 0);
  gst_structure_free (empty);
  gst_object_unref (element);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return stats;
}

#define SOURCE "bundletestsrc scene=turntable cameras=12 points=150 seed=2 "
#define ADJUST "cudabundleadjust name=adjust backend=cpu "

/* Without noise the ground truth is found; stats, messages and progress
 * report the iterations. */
GST_START_TEST (test_result)
{
  GByteArray *end = g_byte_array_new ();
  guint iterations = 0, progress = 0, n;
  gdouble first, last;
  const gchar *stop;
  BundleProblem *problem;
  GstStructure *stats =
      run_line (SOURCE "noise=0 start-error=0.2 ! " ADJUST
                       "function-tolerance=1e-16 ! fakesink name=end",
          end, NULL, &iterations, &progress);

  problem = bundle_read (
      (const gchar *) end->data, end->len, BUNDLE_FORMAT_BAL, 0, NULL);
  fail_unless (problem != NULL);
  fail_unless_equals_int (problem->n_cameras, 12);
  bundle_problem_free (problem);
  fail_unless (gst_structure_get (stats, "initial-cost", G_TYPE_DOUBLE, &first,
      "final-cost", G_TYPE_DOUBLE, &last, "iterations", G_TYPE_UINT, &n, NULL));
  fail_unless (first > 100, "%g", first);
  fail_unless (last < 1e-6 * first, "%g of %g", last, first);
  fail_unless_equals_int (
      gst_value_array_get_size (gst_structure_get_value (stats, "history")),
      iterations);
  fail_unless_equals_int (iterations, n + 1);
  fail_unless_equals_int (progress, iterations + 2);
  stop = gst_structure_get_string (stats, "stop");
  fail_unless (stop != NULL && strcmp (stop, "cancelled") != 0);
  gst_structure_free (stats);
  g_byte_array_unref (end);
}
GST_END_TEST;

/* `solver` of stats: small problems are solved directly unless a setting asks for
 * conjugate gradients. */
GST_START_TEST (test_solver)
{
  static const struct {
    const gchar *source, *settings, *solver;
  } cases[] = {
    { SOURCE, "", "direct-cameras" },
    { SOURCE, "fix-intrinsics=true", "direct-cameras" },
    { "bundletestsrc scene=turntable cameras=200 points=20 ", "",
        "direct-points" },
    { SOURCE, "preconditioner=cluster", "conjugate-gradients" },
    { SOURCE, "preconditioner=jacobi", "conjugate-gradients" },
    { SOURCE, "shared-intrinsics=true", "conjugate-gradients" },
    { "bundletestsrc scene=turntable cameras=40 points=30000 ",
        "max-iterations=1", "conjugate-gradients" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *line = g_strdup_printf ("%s ! " ADJUST "%s ! fakesink name=end",
        cases[i].source, cases[i].settings);
    GByteArray *end = g_byte_array_new ();
    GstStructure *stats = run_line (line, end, NULL, NULL, NULL);
    guint pcg = 0;

    fail_unless_equals_string (
        gst_structure_get_string (stats, "solver"), cases[i].solver);
    fail_unless (
        gst_structure_get (stats, "pcg-iterations", G_TYPE_UINT, &pcg, NULL));
    fail_unless_equals_int (
        pcg > 0, g_str_equal (cases[i].solver, "conjugate-gradients"));
    gst_structure_free (stats);
    g_byte_array_unref (end);
    g_free (line);
  }
}
GST_END_TEST;

/* The same bytes for every number of threads and from every readable format */
GST_START_TEST (test_repeatable)
{
  GByteArray *first = g_byte_array_new ();

  for (guint threads = 1; threads < 4; threads++) {
    GByteArray *end = threads == 1 ? first : g_byte_array_new ();
    gchar *line = g_strdup_printf (SOURCE
        "! " ADJUST "threads=%u output-format=nvm ! fakesink name=end",
        threads);

    gst_structure_free (run_line (line, end, NULL, NULL, NULL));
    fail_unless (end->len == first->len);
    fail_unless (memcmp (end->data, first->data, first->len) == 0);
    if (threads > 1)
      g_byte_array_unref (end);
    g_free (line);
  }
  g_byte_array_unref (first);
}
GST_END_TEST;

/* Every format in and out, their caps, and the cloud */
GST_START_TEST (test_formats)
{
  static const gchar *const formats[] = { "bal", "bundler", "nvm", "colmap",
    "ply", "transforms", "tum" };
  static const gchar *const media[] = { "application/x-bal",
    "application/x-bundler", "application/x-nvm", "application/x-colmap",
    "application/x-ply", "application/x-nerfstudio-transforms",
    "application/x-tum-trajectory" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GByteArray *end = g_byte_array_new (), *cloud = g_byte_array_new ();
    gchar *line = g_strdup_printf (SOURCE
        "format=%s ! " ADJUST
        "output-format=%s max-iterations=2 ! %s ! fakesink name=end "
        "adjust.src_cloud ! application/x-ply ! fakesink name=cloud",
        formats[i % 4], formats[i], media[i]);

    gst_structure_free (run_line (line, end, cloud, NULL, NULL));
    fail_unless (end->len > 300);
    fail_unless (cloud->len > 300);
    fail_unless (memcmp (cloud->data, "ply\n", 4) == 0);
    if (i == BUNDLE_FORMAT_PLY) {
      fail_unless (end->len == cloud->len);
      fail_unless (memcmp (end->data, cloud->data, end->len) == 0);
    }
    g_byte_array_unref (end);
    g_byte_array_unref (cloud);
    g_free (line);
  }
}
GST_END_TEST;

/* Constants keep their bits; everything else changes. */
GST_START_TEST (test_constants)
{
  gchar *folder = temp_folder_new ();
  gchar *path = g_build_filename (folder, "constants.txt", NULL);
  GByteArray *before = g_byte_array_new (), *after = g_byte_array_new ();
  BundleProblem *from, *to;
  gchar *line = g_strdup_printf (
      SOURCE "! " ADJUST "constants=%s ! fakesink name=end", path);

  fail_unless (g_file_set_contents (path,
      "# the frame\ncamera 0 all\ncamera 1 focal k1\n\npoint 7\n", -1, NULL));
  gst_structure_free (
      run_line (SOURCE "! " ADJUST "max-iterations=0 ! fakesink name=end",
          before, NULL, NULL, NULL));
  gst_structure_free (run_line (line, after, NULL, NULL, NULL));
  from = bundle_read (
      (const gchar *) before->data, before->len, BUNDLE_FORMAT_BAL, 0, NULL);
  to = bundle_read (
      (const gchar *) after->data, after->len, BUNDLE_FORMAT_BAL, 0, NULL);
  fail_unless (memcmp (from->cameras, to->cameras, 72) == 0);
  fail_unless (memcmp (from->cameras + 9 + 6, to->cameras + 9 + 6, 16) == 0);
  fail_unless (from->cameras[9 + 8] != to->cameras[9 + 8]);
  fail_unless (memcmp (from->points + 21, to->points + 21, 24) == 0);
  fail_unless (memcmp (from->points + 24, to->points + 24, 24) != 0);
  bundle_problem_free (from);
  bundle_problem_free (to);
  g_byte_array_unref (before);
  g_byte_array_unref (after);
  g_free (line);
  g_free (path);
  temp_folder_free (folder);
}
GST_END_TEST;

/* 9 x 9 for each camera, symmetric, zeros for constant parameters */
GST_START_TEST (test_covariance)
{
  gchar *folder = temp_folder_new ();
  gchar *path = g_build_filename (folder, "constants.txt", NULL);
  gchar *line = g_strdup_printf (SOURCE
      "! " ADJUST "constants=%s covariance=true ! fakesink name=end",
      path);
  GByteArray *end = g_byte_array_new ();
  GstStructure *stats;
  GstBuffer *buffer = NULL;
  const gdouble *values;
  GstMapInfo map;

  fail_unless (g_file_set_contents (
      path, "camera 0 pose\ncamera 1 translation\n", -1, NULL));
  stats = run_line (line, end, NULL, NULL, NULL);
  fail_unless (
      gst_structure_get (stats, "covariances", GST_TYPE_BUFFER, &buffer, NULL));
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (map.size == 12 * 81 * sizeof (gdouble));
  values = (const gdouble *) map.data;
  for (guint i = 0; i < 9; i++)
    for (guint k = 0; k < 9; k++) {
      if (i < 6)
        fail_unless (values[9 * i + k] == 0);
      else if (i == k)
        fail_unless (values[9 * i + k] > 0);
      fail_unless (
          fabs (values[5 * 81 + 9 * i + k] - values[5 * 81 + 9 * k + i])
          <= 1e-9 * fabs (values[5 * 81 + 9 * i + k]));
    }
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_structure_free (stats);
  g_byte_array_unref (end);
  g_free (line);
  g_free (path);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Output of the source @line */
static GstBuffer *
make_file (const gchar *line)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *buffer;

  gst_harness_play (h);
  buffer = gst_harness_pull (h);
  gst_harness_teardown (h);
  return buffer;
}

/* All buffers, which follow one another; after EOS. */
static GByteArray *
pull_all (GstHarness *h)
{
  GByteArray *all = g_byte_array_new ();
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h)) != NULL) {
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), all->len);
    keep_buffer (NULL, buffer, NULL, all);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (buffer), all->len);
    gst_buffer_unref (buffer);
  }
  fail_unless (all->len > 0);
  return all;
}

static void
wait_for_event (GstHarness *h, GstEventType type)
{
  gboolean seen = FALSE;

  while (!seen) {
    GstEvent *event = gst_harness_pull_event (h);

    fail_unless (event != NULL);
    seen = GST_EVENT_TYPE (event) == type;
    gst_event_unref (event);
  }
}

/* --- streams ----------------------------------------------------------------------- */

/* A pulled file gives the same result as a pushed one, in a stream with its
 * events; also through other elements, which may return buffers of their own. */
GST_START_TEST (test_pull)
{
  static const gchar *const links[] = { "", "queue !", "typefind !",
    "application/x-bal !", "identity !", "progressreport silent=true !",
    "identity ! application/x-bal ! identity !" };
  gchar *folder = temp_folder_new ();
  gchar *path = g_build_filename (folder, "problem.txt", NULL);
  GstBuffer *file = make_file ("bundletestsrc cameras=20 points=900 seed=4");
  GByteArray *first = g_byte_array_new ();
  GstMapInfo map;

  gst_buffer_map (file, &map, GST_MAP_READ);
  fail_unless (g_file_set_contents (
      path, (const gchar *) map.data, (gssize) map.size, NULL));
  gst_buffer_unmap (file, &map);
  gst_buffer_unref (file);
  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    GByteArray *end = i == 0 ? first : g_byte_array_new ();
    GByteArray *cloud = g_byte_array_new ();
    gchar *line = g_strdup_printf (
        "filesrc location=%s ! %s " ADJUST
        "max-iterations=3 ! fakesink name=end adjust.src_cloud ! "
        "fakesink name=cloud",
        path, links[i]);

    gst_structure_free (run_line (line, end, cloud, NULL, NULL));
    fail_unless (end->len == first->len && end->len > 1000);
    fail_unless (memcmp (end->data, first->data, first->len) == 0);
    fail_unless (cloud->len > 1000);
    if (i > 0)
      g_byte_array_unref (end);
    g_byte_array_unref (cloud);
    g_free (line);
  }
  g_byte_array_unref (first);
  g_free (path);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Posted messages of @type. Returns: their text; %NULL: none */
static gchar *
pop_text (GstBus *bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);
  GError *error = NULL;
  gchar *text;

  if (message == NULL)
    return NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

static GstFlowReturn
fail_to_read (GstPad *pad, GstObject *parent, guint64 offset, guint length,
    GstBuffer **buffer)
{
  return offset == 0
             ? (*buffer = gst_buffer_new_memdup ("1 1 1\n", 6), GST_FLOW_OK)
             : GST_FLOW_ERROR;
}

static gboolean
allow_pull (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_SCHEDULING)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_scheduling (query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0);
  gst_query_add_scheduling_mode (query, GST_PAD_MODE_PULL);
  return TRUE;
}

static gboolean
activate_pull (GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  return mode == GST_PAD_MODE_PULL;
}

/* A file that cannot be read to its end is an error, not a shorter file. */
GST_START_TEST (test_failed_pull)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *adjust = gst_element_factory_make ("cudabundleadjust", NULL);
  GstElement *end = gst_element_factory_make ("fakesink", NULL);
  GstPad *pad = gst_pad_new ("src", GST_PAD_SRC);
  GstPad *sink = gst_element_get_static_pad (adjust, "sink");
  GstMessage *message;

  gst_bin_add_many (GST_BIN (pipeline), adjust, end, NULL);
  fail_unless (gst_element_link (adjust, end));
  gst_pad_set_getrange_function (pad, fail_to_read);
  gst_pad_set_query_function (pad, allow_pull);
  gst_pad_set_activatemode_function (pad, activate_pull);
  fail_unless_equals_int (gst_pad_link (pad, sink), GST_PAD_LINK_OK);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
      GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_ERROR);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_pad_unlink (pad, sink);
  gst_object_unref (sink);
  gst_object_unref (pad);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* Without a sink the pipeline ends with an error that says so. */
GST_START_TEST (test_unlinked)
{
  GstElement *pipeline =
      gst_parse_launch ("bundletestsrc ! cudabundleadjust backend=cpu", NULL);
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      GST_ELEMENT_BUS (pipeline), 20 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "pad src is not linked") != NULL);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* One warning with what the reader guessed, and one with what the writer loses. */
GST_START_TEST (test_warnings)
{
  static const struct {
    const gchar *line, *read, *written;
  } lines[] = {
    { "format=nvm ! cudabundleadjust output-format=bal",
        "distortion of the NVM file is replaced by a series", NULL },
    { "format=bal ! cudabundleadjust output-format=nvm", NULL,
        "k2 of 12 cameras is replaced by 3 k1^2. The cost of the file is" },
    { "format=bal ! cudabundleadjust output-format=colmap", NULL,
        "The names of 12 pictures are unknown" },
    { "format=bal ! cudabundleadjust output-format=bundler", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree gchar *line = g_strdup_printf (
        "bundletestsrc cameras=12 points=900 scene=street %s backend=cpu "
        "max-iterations=0 name=adjust ! fakesink",
        lines[i].line);
    GstElement *pipeline = gst_parse_launch (line, NULL);
    GstBus *bus = gst_bus_new ();
    GstElement *adjust = gst_bin_get_by_name (GST_BIN (pipeline), "adjust");
    GstMessage *message;
    const gchar *wanted[] = { lines[i].read, lines[i].written };
    gchar *text;

    gst_element_set_bus (adjust, bus);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
        GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
    gst_message_unref (message);
    for (guint k = 0; k < G_N_ELEMENTS (wanted); k++) {
      if (wanted[k] == NULL)
        continue;
      do
        text = pop_text (bus, GST_MESSAGE_WARNING);
      while (text != NULL && strstr (text, wanted[k]) == NULL
             && (g_free (text), TRUE));
      fail_unless (text != NULL, "%s: no \"%s\"", lines[i].line, wanted[k]);
      g_free (text);
    }
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_element_set_bus (adjust, NULL);
    gst_object_unref (adjust);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
  }
}
GST_END_TEST;

/* Buffers between the events of a stream, on both source pads */
GST_START_TEST (test_events)
{
  static const GstEventType types[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS,
    GST_EVENT_SEGMENT, GST_EVENT_EOS };
  GstBuffer *file = make_file (SOURCE);
  GstElement *adjust =
      gst_parse_launch ("cudabundleadjust backend=cpu max-iterations=1", NULL);
  GstHarness *cloud = gst_harness_new_with_element (adjust, NULL, "src_cloud");
  GstHarness *h = gst_harness_new_with_element (adjust, "sink", "src");
  GstHarness *ends[] = { h, cloud };

  gst_harness_set_src_caps_str (h, "application/x-bal");
  gst_harness_push (h, file);
  fail_unless_equals_int (
      gst_harness_events_received (cloud), gst_harness_events_received (h));
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    for (guint k = 0; k < G_N_ELEMENTS (types); k++) {
      GstEvent *event = gst_harness_pull_event (ends[i]);

      fail_unless (event != NULL);
      fail_unless_equals_int (GST_EVENT_TYPE (event), types[k]);
      gst_event_unref (event);
    }
    g_byte_array_unref (pull_all (ends[i]));
    fail_unless (gst_harness_try_pull_event (ends[i]) == NULL);
  }
  gst_harness_teardown (cloud);
  gst_harness_teardown (h);
  gst_object_unref (adjust);
}
GST_END_TEST;

/* A flush discards the data collected before it. */
GST_START_TEST (test_flush_input)
{
  GstBuffer *file = make_file (SOURCE);
  GByteArray *result;
  GstHarness *h =
      gst_harness_new_parse ("cudabundleadjust backend=cpu max-iterations=0");
  GstSegment segment;
  BundleProblem *problem;

  gst_harness_set_src_caps_str (h, "application/x-bal");
  gst_harness_push (h, gst_buffer_copy_region (file, GST_BUFFER_COPY_ALL, 0,
                           gst_buffer_get_size (file) / 2));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push (h, file);
  gst_harness_push_event (h, gst_event_new_eos ());
  wait_for_event (h, GST_EVENT_EOS);
  result = pull_all (h);
  problem = bundle_read (
      (const gchar *) result->data, result->len, BUNDLE_FORMAT_BAL, 1, NULL);
  fail_unless (problem != NULL);
  fail_unless_equals_int (problem->n_cameras, 12);
  bundle_problem_free (problem);
  g_byte_array_unref (result);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* State changes while files are pushed, pulled, adjusted and written */
GST_START_TEST (test_states)
{
  gchar *folder = temp_folder_new ();
  gchar *path = g_build_filename (folder, "problem.txt", NULL);
  GstBuffer *file = make_file (SOURCE);
  GstMapInfo map;
  gchar *line = g_strdup_printf ("filesrc location=%s ! " ADJUST
                                 "max-iterations=2 ! fakesink "
                                 "adjust.src_cloud ! fakesink",
      path);

  gst_buffer_map (file, &map, GST_MAP_READ);
  fail_unless (g_file_set_contents (
      path, (const gchar *) map.data, (gssize) map.size, NULL));
  gst_buffer_unmap (file, &map);
  gst_buffer_unref (file);
  pipeline_states (line);
  pipeline_states (SOURCE "! " ADJUST "max-iterations=2 ! fakesink "
                          "adjust.src_cloud ! fakesink");
  g_free (line);
  g_free (path);
  temp_folder_free (folder);
}
GST_END_TEST;

/* --- cancelling --------------------------------------------------------------------- */

#define ENDLESS                                                                \
  "cudabundleadjust backend=cpu max-iterations=10000 function-tolerance=0 "    \
  "parameter-tolerance=0 gradient-tolerance=0"

static void
wait_for_iteration (GstBus *bus)
{
  gboolean seen = FALSE;

  while (!seen) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);

    fail_unless (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    seen = gst_message_has_name (message, "cudabundleadjust-iteration");
    gst_message_unref (message);
  }
}

/* A flush ends an adjustment, and the next file is adjusted completely. The
 * state READY ends one, too. */
GST_START_TEST (test_cancel)
{
  GstHarness *h = gst_harness_new_parse (ENDLESS);
  GstBuffer *file =
      make_file ("bundletestsrc cameras=40 points=4000 scene=turntable");
  GstBus *bus = gst_bus_new ();
  GstElement *adjust;
  GstSegment segment;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "application/x-bal");
  gst_harness_push (h, gst_buffer_ref (file));
  gst_harness_push_event (h, gst_event_new_eos ());
  wait_for_iteration (bus);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_try_pull (h) == NULL);

  /* each file is adjusted with the settings at that time */
  adjust = gst_harness_find_element (h, "cudabundleadjust");
  g_object_set (adjust, "max-iterations", 1, NULL);
  gst_object_unref (adjust);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push (h, gst_buffer_ref (file));
  gst_harness_push_event (h, gst_event_new_eos ());
  wait_for_event (h, GST_EVENT_EOS);
  g_byte_array_unref (pull_all (h));

  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  gst_buffer_unref (file);
}
GST_END_TEST;

GST_START_TEST (test_stop)
{
  for (guint i = 0; i < 50; i++) {
    GstElement *pipeline = gst_parse_launch (
        "bundletestsrc cameras=40 points=4000 scene=turntable ! " ENDLESS
        " name=adjust ! fakesink adjust.src_cloud ! fakesink",
        NULL);

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    if (i % 2)
      wait_for_iteration (GST_ELEMENT_BUS (pipeline));
    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    gst_object_unref (pipeline);
  }
}
GST_END_TEST;

typedef struct {
  GMutex lock;
  GCond cond;
  guint n; /* buffers */
} Blocked;

static GstPadProbeReturn
block_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Blocked *blocked = user_data;

  g_mutex_lock (&blocked->lock);
  blocked->n++;
  g_cond_signal (&blocked->cond);
  g_mutex_unlock (&blocked->lock);
  return GST_PAD_PROBE_OK;
}

/* The state READY ends writing: of a file in many parts no second one comes. */
GST_START_TEST (test_stop_writing)
{
  Blocked blocked = { .n = 0 };
  GstElement *pipeline =
      gst_parse_launch ("bundletestsrc cameras=40 points=9000 ! " ADJUST
                        "max-iterations=0 threads=1 ! fakesink",
          NULL);
  GstElement *adjust = gst_bin_get_by_name (GST_BIN (pipeline), "adjust");
  GstPad *pad = gst_element_get_static_pad (adjust, "src");

  g_mutex_init (&blocked.lock);
  g_cond_init (&blocked.cond);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
      block_buffer, &blocked, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_mutex_lock (&blocked.lock);
  while (blocked.n == 0)
    g_cond_wait (&blocked.cond, &blocked.lock);
  g_mutex_unlock (&blocked.lock);
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int (blocked.n, 1);
  gst_object_unref (pad);
  gst_object_unref (adjust);
  gst_object_unref (pipeline);
  g_mutex_clear (&blocked.lock);
  g_cond_clear (&blocked.cond);
}
GST_END_TEST;

/* A flush at any time: while a file is read, sorted, adjusted, or written. The
 * next one is complete. */
GST_START_TEST (test_flush_anywhere)
{
  GstHarness *h = gst_harness_new_parse (
      "cudabundleadjust backend=cpu max-iterations=1 covariance=true");
  GstBuffer *file = make_file ("bundletestsrc cameras=30 points=20000");
  GByteArray *whole, *again;
  GstBuffer *buffer;
  GstEvent *event;

  gst_harness_set_src_caps_str (h, "application/x-bal");
  gst_harness_push (h, gst_buffer_ref (file));
  gst_harness_push_event (h, gst_event_new_eos ());
  wait_for_event (h, GST_EVENT_EOS);
  whole = pull_all (h);
  for (guint i = 0; i < 20; i++) {
    GstSegment segment;

    fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
    fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
    while ((buffer = gst_harness_try_pull (h)) != NULL)
      gst_buffer_unref (buffer);
    while ((event = gst_harness_try_pull_event (h)) != NULL)
      gst_event_unref (event);
    gst_segment_init (&segment, GST_FORMAT_BYTES);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    gst_harness_push (h, gst_buffer_ref (file));
    gst_harness_push_event (h, gst_event_new_eos ());
    if (i < 19)
      g_usleep (2000 * i * i / 10); /* another phase each time */
  }
  wait_for_event (h, GST_EVENT_EOS);
  again = pull_all (h);
  fail_unless_equals_int (again->len, whole->len);
  fail_unless (memcmp (again->data, whole->data, whole->len) == 0);
  g_byte_array_unref (whole);
  g_byte_array_unref (again);
  gst_buffer_unref (file);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* --- errors --------------------------------------------------------------------------- */

static void
check_error (const gchar *text, const gchar *settings, GQuark domain, gint code,
    const gchar *words)
{
  gchar *line = g_strdup_printf ("cudabundleadjust backend=cpu %s", settings);
  GstHarness *h = gst_harness_new_parse (line);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "application/x-bal");
  if (*text)
    gst_harness_push (h, gst_buffer_new_memdup (text, strlen (text)));
  gst_harness_push_event (h, gst_event_new_eos ());
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code), "%s", error->message);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  g_free (line);
}

GST_START_TEST (test_errors)
{
  static const gchar good[] = "1 1 1\n0 0 1 2\n0 0 0 0 0 -10 500 0 0\n0 0 0\n";
  gchar *folder = temp_folder_new ();
  gchar *path = g_build_filename (folder, "constants.txt", NULL);
  gchar *constants = g_strdup_printf ("constants=%s", path);

  check_error (
      "", "", GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "its first byte");
  check_error ("hello", "", GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "begins like none of");
  check_error ("1 1 1\n0 0 1 2x\n0 0 0 0 0 -10 500 0 0\n0 0 0\n", "",
      GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "line 2, observation y: \"2x\" is not a number");
  check_error ("1 1 1\n0 0 1 2\n0 0 0 0 0 0 500 0 0\n0 0 0\n", "",
      GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "in the plane of camera 0");
  check_error (good, constants, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_OPEN_READ,
      "Cannot read the constants: Failed to open");
  check_error (good, constants, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_OPEN_READ, "constants.txt");
  check_error ("\x1f\x8b\b compressed", "", GST_STREAM_ERROR,
      GST_STREAM_ERROR_WRONG_TYPE,
      "it is compressed with gzip: unpack it with gunzip");
  fail_unless (
      g_file_set_contents (path, "camera 0 all\ncamera 1 all", -1, NULL));
  check_error (good, constants, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "line 2, camera: 1 is outside 0..0");
  fail_unless (g_file_set_contents (path, "camera 0 f", -1, NULL));
  check_error (good, constants, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "line 1, parameters: they must be");
  fail_unless (g_file_set_contents (path, "points 0", -1, NULL));
  check_error (good, constants, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "line 1, start: it must be camera or point");
  temp_folder_free (folder);
  g_free (constants);
  g_free (path);
}
GST_END_TEST;

/* Adjusts the BAL text @file by @element. Returns: the texts of all warnings, a line
 * each; g_free() */
static gchar *
collect_warnings (const gchar *element, const gchar *file)
{
  GstHarness *h = gst_harness_new_parse (element);
  GstBus *bus = gst_bus_new ();
  GString *all = g_string_new (NULL);
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "application/x-bal");
  gst_harness_push (h, gst_buffer_new_wrapped (g_strdup (file), strlen (file)));
  gst_harness_push_event (h, gst_event_new_eos ());
  wait_for_event (h, GST_EVENT_EOS);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) != NULL) {
    GError *warning;

    gst_message_parse_warning (message, &warning, NULL);
    g_string_append_printf (all, "%s\n", warning->message);
    g_error_free (warning);
    gst_message_unref (message);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  return g_string_free (all, FALSE);
}

/* One warning each, with counts, and none for a reconstruction in order */
GST_START_TEST (test_doubtful)
{
  GstBuffer *scene =
      make_file ("bundletestsrc cameras=12 points=400 scene=turntable");
  gsize size = gst_buffer_get_size (scene);
  g_autofree gchar *file = g_malloc0 (size + 1), *text = NULL;

  gst_buffer_extract (scene, 0, file, size);
  gst_buffer_unref (scene);
  text = collect_warnings ("cudabundleadjust backend=cpu", file);
  fail_unless_equals_string (text, "");
  g_free (text);
  text =
      collect_warnings ("cudabundleadjust backend=cpu max-iterations=0", file);
  fail_unless_equals_string (text, "");
  g_free (text);
  text = collect_warnings (
      "cudabundleadjust backend=cpu max-iterations=1 function-tolerance=0",
      file);
  fail_unless (g_str_has_prefix (text,
                   "The adjustment stopped at max-iterations (1) before it "
                   "converged."),
      "%s", text);
  fail_unless (strchr (text, '\n')[1] == '\0');
  g_free (text);
  text = collect_warnings (
      "cudabundleadjust backend=cpu max-iterations=0 loss=huber "
      "loss-scale=0.001",
      file);
  fail_unless (g_str_has_prefix (text, "The loss rejects most observations: "),
      "%s", text);
  fail_unless (strchr (text, '\n')[1] == '\0');
  g_free (text);
  /* one point behind the one camera, which it does not determine */
  text = collect_warnings ("cudabundleadjust backend=cpu",
      "1 1 1\n0 0 20 10\n0\n0\n0\n0\n0\n5\n500\n0\n0\n1\n1\n0\n");
  fail_unless (strstr (text, "Points lie behind the cameras that observe them: "
                             "1 of 1 observations, the first is observation 0 "
                             "of point 0 by camera 0.")
                   != NULL,
      "%s", text);
  fail_unless (
      strstr (text, "1 of 1 cameras are not determined by their points; the "
                    "first is camera 0.")
          != NULL,
      "%s", text);
}
GST_END_TEST;

static Suite *
cudabundleadjust_suite (void)
{
  Suite *s = suite_create ("cudabundleadjust");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_result);
  tcase_add_test (tc, test_solver);
  tcase_add_test (tc, test_repeatable);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_constants);
  tcase_add_test (tc, test_covariance);
  tcase_add_test (tc, test_pull);
  tcase_add_test (tc, test_failed_pull);
  tcase_add_test (tc, test_unlinked);
  tcase_add_test (tc, test_warnings);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_flush_input);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_cancel);
  tcase_add_test (tc, test_stop);
  tcase_add_test (tc, test_stop_writing);
  tcase_add_test (tc, test_flush_anywhere);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_doubtful);
  return s;
}

GST_CHECK_MAIN (cudabundleadjust);
