/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bundletestsrc: formats, media types and their typefinders, copies, errors. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <glib/gstdio.h>
#include <string.h>

#include "cuda/bundle/formats/formats.h"
#include "../common/tempfolder.h"

static GstBuffer *
pull_file (const gchar *line)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *buffer;
  GstEvent *event;

  gst_harness_play (h);
  buffer = gst_harness_pull (h);
  fail_unless (buffer != NULL);
  do {
    event = gst_harness_pull_event (h);
    fail_unless (event != NULL);
    gst_event_unref (event);
  } while (GST_EVENT_TYPE (event) != GST_EVENT_EOS);
  gst_harness_teardown (h);
  return buffer;
}

static BundleProblem *
pull_problem (const gchar *line)
{
  GstBuffer *buffer = pull_file (line);
  BundleProblem *problem;
  GError *error = NULL;
  BundleFormat format;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (
      bundle_format_detect ((const gchar *) map.data, map.size, &format));
  problem = bundle_read ((const gchar *) map.data, map.size, format, 0, &error);
  fail_unless (problem != NULL, "%s", error ? error->message : "");
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return problem;
}

static const struct {
  const gchar *format, *media;
} formats[] = {
  { "bal", "application/x-bal" },
  { "bundler", "application/x-bundler" },
  { "nvm", "application/x-nvm" },
  { "colmap", "application/x-colmap" },
  { "ply", "application/x-ply" },
};

/* The caps of each format */
GST_START_TEST (test_media_types)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *line = g_strdup_printf (
        "bundletestsrc cameras=8 points=50 format=%s ! typefind name=found ! "
        "fakesink name=end",
        formats[i].format);
    GstElement *pipeline = gst_parse_launch (line, NULL), *found;
    GstMessage *message;
    GstCaps *caps;

    found = gst_bin_get_by_name (GST_BIN (pipeline), "found");
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
        GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
    g_object_get (found, "caps", &caps, NULL);
    fail_unless_equals_string (
        gst_structure_get_name (gst_caps_get_structure (caps, 0)),
        formats[i].media);
    gst_caps_unref (caps);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (found);
    gst_object_unref (pipeline);
    g_free (line);
  }
}
GST_END_TEST;

/* Media types found from the contents of files */
GST_START_TEST (test_typefinders)
{
  gchar *folder = temp_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *path = g_build_filename (folder, formats[i].format, NULL);
    gchar *line = g_strdup_printf (
        "bundletestsrc cameras=8 points=50 format=%s", formats[i].format);
    gchar *reader = g_strdup_printf (
        "filesrc location=%s ! typefind name=found ! fakesink", path);
    GstBuffer *buffer = pull_file (line);
    GstElement *pipeline, *found;
    GstCaps *caps;
    GstMapInfo map;

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    fail_unless (g_file_set_contents (
        path, (const gchar *) map.data, (gssize) map.size, NULL));
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
    pipeline = gst_parse_launch (reader, NULL);
    found = gst_bin_get_by_name (GST_BIN (pipeline), "found");
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int (
        gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
        GST_STATE_CHANGE_SUCCESS);
    g_object_get (found, "caps", &caps, NULL);
    fail_unless_equals_string (
        gst_structure_get_name (gst_caps_get_structure (caps, 0)),
        formats[i].media);
    gst_caps_unref (caps);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (found);
    gst_object_unref (pipeline);
    g_free (path);
    g_free (line);
    g_free (reader);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

static gchar *
write_temporary (const gchar *folder, const gchar *name, const gchar *line)
{
  gchar *path = g_build_filename (folder, name, NULL);
  GstBuffer *buffer = pull_file (line);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (g_file_set_contents (
      path, (const gchar *) map.data, (gssize) map.size, NULL));
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return path;
}

static void
check_decoded (const gchar *path)
{
  gchar *line = g_strdup_printf ("filesrc location=%s ! decodebin ! bundleview "
                                 "period=100000000 ! fakesink",
      path);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
      GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  fail_unless (error == NULL, "%s: %s", path, error ? error->message : "");
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (line);
}

/* decodebin finds and exposes every format that bundleview reads, with small and large
 * files; and ASCII PLY */
GST_START_TEST (test_decodebin)
{
  static const gchar ascii[] =
      "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\n"
      "property float y\nproperty float z\nproperty uchar diffuse_red\n"
      "property uchar diffuse_green\nproperty uchar diffuse_blue\n"
      "end_header\n1 2 3 255 0 0\n4 5 6 0 255 0\n";
  gchar *folder = temp_folder_new ();
  gchar *path = g_build_filename (folder, "ascii", NULL);

  fail_unless (g_file_set_contents (path, ascii, -1, NULL));
  check_decoded (path);
  g_free (path);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    gchar *line =
        g_strdup_printf ("bundletestsrc cameras=%u points=%u format=%s",
            i % 2 ? 60 : 2, i % 2 ? 5000 : 3, formats[i / 2].format);

    path = write_temporary (folder, formats[i / 2].format, line);
    check_decoded (path);
    g_free (path);
    g_free (line);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

/* The state READY ends the making of a scene that takes 20 s. */
GST_START_TEST (test_stop)
{
  GstElement *pipeline = gst_parse_launch (
      "bundletestsrc cameras=20000 points=4000000 ! fakesink", NULL);
  gint64 start;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_usleep (300000);
  start = g_get_monotonic_time ();
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless (g_get_monotonic_time () - start < 5 * G_USEC_PER_SEC);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_settings)
{
  BundleProblem *one = pull_problem (
      "bundletestsrc scene=turntable cameras=12 points=80 noise=0 seed=3");
  BundleProblem *same = pull_problem (
      "bundletestsrc scene=turntable cameras=12 points=80 noise=0 seed=3");
  BundleProblem *other = pull_problem (
      "bundletestsrc scene=turntable cameras=12 points=80 noise=0 seed=4");

  fail_unless_equals_int (one->n_cameras, 12);
  fail_unless_equals_int (one->n_points, 80);
  fail_unless_equals_uint64 (one->n_observations, same->n_observations);
  fail_unless (memcmp (one->cameras, same->cameras, 12 * 72) == 0);
  fail_unless (memcmp (one->cameras, other->cameras, 12 * 72) != 0);
  bundle_problem_free (one);
  bundle_problem_free (same);
  bundle_problem_free (other);
}
GST_END_TEST;

/* Of a simulation, and of a file */
GST_START_TEST (test_copies)
{
  gchar *folder = temp_folder_new ();
  gchar *path =
      write_temporary (folder, "one.txt", "bundletestsrc cameras=6 points=40");
  gchar *line =
      g_strdup_printf ("bundletestsrc location=%s copies=3 format=nvm", path);
  BundleProblem *simulated =
      pull_problem ("bundletestsrc cameras=6 points=40 copies=3");
  BundleProblem *read;

  read = pull_problem (line);
  fail_unless_equals_int (simulated->n_cameras, 18);
  fail_unless_equals_int (read->n_cameras, 18);
  fail_unless_equals_int (read->n_points, 120);
  fail_unless_equals_uint64 (read->n_observations, simulated->n_observations);
  bundle_problem_free (read);
  bundle_problem_free (simulated);
  temp_folder_free (folder);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

static void
check_error (const gchar *line, GQuark domain, gint code, const gchar *words)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
      GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code), "%s", error->message);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_errors)
{
  gchar *folder = temp_folder_new ();
  gchar *path = g_build_filename (folder, "wrong.txt", NULL);
  gchar *line = g_strdup_printf ("bundletestsrc location=%s ! fakesink", path);

  check_error (line, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "wrong.txt");
  fail_unless (g_file_set_contents (path, "1 1 1\n0 0 1 2\n1 2", -1, NULL));
  check_error (line, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "line 3, end: the text ends");
  check_error ("bundletestsrc cameras=3000 points=1 copies=1000000 ! fakesink",
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "cameras of all copies");
  temp_folder_free (folder);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

static Suite *
bundletestsrc_suite (void)
{
  Suite *s = suite_create ("bundletestsrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_media_types);
  tcase_add_test (tc, test_typefinders);
  tcase_add_test (tc, test_decodebin);
  tcase_add_test (tc, test_stop);
  tcase_add_test (tc, test_settings);
  tcase_add_test (tc, test_copies);
  tcase_add_test (tc, test_errors);
  return s;
}

GST_CHECK_MAIN (bundletestsrc);
