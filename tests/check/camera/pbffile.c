/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* pbffilesink and pbffilesrc: a replay equals the recorded stream, to the
 * bit, also in the results of cudapbfmonitor, and also if the recorder was
 * killed. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check/common/busmessages.h"
#include "cuda/camera/recording.h"

/* environment variable: name of the file that this program records to */
#define RECORD "PBFFILE_RECORD"

static gchar *folder;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("pbffile-XXXXXX", NULL);
  fail_unless (folder != NULL);
}

static void
remove_folder (void)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)) != NULL) {
    gchar *path = g_build_filename (folder, name, NULL);
    g_remove (path);
    g_free (path);
  }
  g_dir_close (dir);
  g_rmdir (folder);
  g_free (folder);
}

static gchar *
path_of (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

/* --- checksums of a pad's data ------------------------------------------- */

/* Pixels, times and record of every buffer. */
static void
sum_buffer (GChecksum *sum, GstBuffer *buffer)
{
  GstPbfSignalMeta *meta = gst_buffer_get_pbf_signal_meta (buffer);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_checksum_update (sum, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  g_checksum_update (sum, (guchar *) &GST_BUFFER_PTS (buffer), 8);
  g_checksum_update (sum, (guchar *) &GST_BUFFER_DURATION (buffer), 8);
  if (meta != NULL)
    g_checksum_update (sum, (guchar *) &meta->signal, 64);
}

typedef struct {
  GChecksum *sum;
  guint buffers;
} Sum;

static GstPadProbeReturn
sum_probe (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Sum *s = data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    sum_buffer (s->sum, GST_PAD_PROBE_INFO_BUFFER (info));
    s->buffers++;
  } else {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);

    for (guint i = 0; i < gst_buffer_list_length (list); i++, s->buffers++)
      sum_buffer (s->sum, gst_buffer_list_get (list, i));
  }
  return GST_PAD_PROBE_OK;
}

/* Runs @line to EOS. Returns: checksum over the buffers at the sink pad of
 * element "x", and their number */
static gchar *
run_and_sum (const gchar *line, guint *buffers, guint *warnings)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *element;
  GstBus *bus = gst_element_get_bus (pipeline);
  Sum s = { g_checksum_new (G_CHECKSUM_SHA256), 0 };
  GstMessage *message;
  GstPad *pad;
  gchar *text;

  g_assert_no_error (error);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "x");
  pad = gst_element_get_static_pad (element, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, sum_probe, &s,
      NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  *warnings = 0;
  while (TRUE) {
    gboolean more;

    message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    more = GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING;
    *warnings += more;
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
    gst_message_unref (message);
    if (!more)
      break;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  *buffers = s.buffers;
  text = g_strdup (g_checksum_get_string (s.sum));
  g_checksum_free (s.sum);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return text;
}

static void
run_to_eos (gchar *line)
{
  bus_expect_first (line, GST_MESSAGE_EOS, NULL);
  g_free (line);
}

/* --- recording and replay -------------------------------------------------- */

static const gchar *const cameras[] = {
  "pbftestsrc num-buffers=1000 regime=mixed",
  "pbftestsrc num-buffers=40 frames-per-list=1 timestamp-offset=5000000000",
  /* rows with gaps in memory */
  "pbftestsrc num-buffers=300 ! video/x-raw,width=50,height=42",
};

GST_START_TEST (test_same_stream)
{
  gchar *path = path_of ("a.pbf"), *live, *replayed;
  gchar *record =
      g_strdup_printf ("%s ! tee name=t ! queue ! fakesink name=x t. ! queue ! "
                       "pbffilesink location=%s",
          cameras[__i__], path);
  gchar *replay =
      g_strdup_printf ("pbffilesrc location=%s ! fakesink name=x", path);
  guint n_live, n_replayed, warnings;

  live = run_and_sum (record, &n_live, &warnings);
  fail_unless_equals_int (warnings, 0);
  replayed = run_and_sum (replay, &n_replayed, &warnings);
  fail_unless_equals_int (warnings, 0);
  fail_unless (n_live > 0);
  fail_unless_equals_int (n_live, n_replayed);
  fail_unless_equals_string (live, replayed);
  g_free (path);
  g_free (record);
  g_free (replay);
  g_free (live);
  g_free (replayed);
}
GST_END_TEST;

/* Every byte of every PbfResult. */
GST_START_TEST (test_same_results)
{
  gchar *path = path_of ("a.pbf"), *live = path_of ("live.pbr");
  gchar *replayed = path_of ("replayed.pbr"), *a, *b;
  gsize size_a, size_b;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=3000 regime=mixed seed=7 ! tee name=t ! queue ! "
      "cudapbfmonitor backend=cpu name=m ! fakesink m.result ! "
      "filesink location=%s t. ! queue ! pbffilesink location=%s",
      live, path));
  run_to_eos (
      g_strdup_printf ("pbffilesrc location=%s frames-per-list=100 ! "
                       "cudapbfmonitor backend=cpu batch-size=37 name=m ! "
                       "fakesink m.result ! filesink location=%s",
          path, replayed));
  fail_unless (g_file_get_contents (live, &a, &size_a, NULL));
  fail_unless (g_file_get_contents (replayed, &b, &size_b, NULL));
  fail_unless_equals_uint64 (size_a, 3000 * sizeof (PbfResult));
  fail_unless_equals_uint64 (size_a, size_b);
  fail_unless (memcmp (a, b, size_a) == 0);
  g_free (a);
  g_free (b);
  g_free (path);
  g_free (live);
  g_free (replayed);
}
GST_END_TEST;

GST_START_TEST (test_num_buffers_and_lists)
{
  gchar *path = path_of ("a.pbf"), *line, *sum;
  guint n, warnings;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=500 ! pbffilesink location=%s", path));
  line = g_strdup_printf (
      "pbffilesrc location=%s num-buffers=301 ! fakesink name=x", path);
  sum = run_and_sum (line, &n, &warnings);
  fail_unless_equals_int (n, 301);
  g_free (sum);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

/* A recording of user-defined vectors, described when it is played: here
 * records of the camera link, interpreted as vectors whose word 2 is the
 * counter. */
GST_START_TEST (test_signal_layout)
{
  gchar *path = path_of ("a.pbf"), *line;
  GstHarness *h;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=20 ! pbffilesink location=%s", path));
  line = g_strdup_printf ("pbffilesrc location=%s "
                          "signal-layout=\"laser_on=0,layer=2,user0=11\"",
      path);
  h = gst_harness_new_parse (line);
  gst_harness_play (h);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = gst_harness_pull (h);
    PbfSignal *signal = &gst_buffer_get_pbf_signal_meta (buffer)->signal;

    fail_unless (pbf_signal_is_intact (signal));
    fail_unless_equals_int (signal->layer, i);
    fail_unless_equals_int (signal->frame_counter, i);
    fail_unless_equals_int (signal->flags, PBF_SIGNAL_LASER_ON);
    fail_unless_equals_int (signal->user0, 200000); /* power_mW */
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

GST_START_TEST (test_another_size)
{
  GstElement *sink = gst_element_factory_make ("pbffilesink", NULL);
  GstHarness *h;
  gchar *path = path_of ("a.pbf"), *line;
  guint sides[] = { 40, 64, 40 };

  g_object_set (sink, "location", path, NULL);
  h = gst_harness_new_with_element (sink, "sink", NULL);
  for (guint i = 0; i < 3; i++) {
    gchar *caps = g_strdup_printf (
        "video/x-raw,format=GRAY8,width=%u,height=%u,framerate=100/1", sides[i],
        sides[i]);
    GstBuffer *buffer =
        gst_buffer_new_allocate (NULL, sides[i] * sides[i], NULL);

    gst_buffer_memset (buffer, 0, i + 1, -1);
    gst_harness_set_src_caps_str (h, caps);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    g_free (caps);
  }
  gst_harness_teardown (h);
  gst_object_unref (sink);

  line = g_strdup_printf ("pbffilesrc location=%s", path);
  h = gst_harness_new_parse (line);
  gst_harness_play (h);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull (h);
    guint8 value = 0;

    fail_unless_equals_int (gst_buffer_get_size (buffer), sides[i] * sides[i]);
    gst_buffer_extract (buffer, sides[i] * sides[i] - 1, &value, 1);
    fail_unless_equals_int (value, i + 1);
    fail_unless (gst_buffer_get_pbf_signal_meta (buffer) == NULL);
    fail_if (GST_BUFFER_PTS_IS_VALID (buffer));
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

/* --- faults -------------------------------------------------------------- */

static gsize
file_size (const gchar *path)
{
  GStatBuf info;

  return g_stat (path, &info) == 0 ? (gsize) info.st_size : 0;
}

/* Runs this program as a recorder until it is killed. */
static void
record_for_ever (const gchar *path)
{
  gchar *line = g_strdup_printf (
      "pbftestsrc is-live=true frames-per-list=20 ! pbffilesink location=%s",
      path);
  GstElement *pipeline = gst_parse_launch (line, NULL);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  pause ();
}

/* The recorder is another process, which is killed while it records: all
 * complete frames of its file are played. */
GST_START_TEST (test_killed)
{
  enum { FRAME = 96 * 96 + PBF_PACKET_OVERHEAD };
  gchar *path = path_of ("a.pbf"), *line, *sum;
  guint n, warnings;
  gint status;
  pid_t child;
  gsize size;

  child = fork ();
  if (child == 0) {
    g_setenv (RECORD, path, TRUE);
    execl ("/proc/self/exe", "recorder", NULL);
    _exit (127);
  }
  fail_unless (child > 0);
  while (file_size (path) < 1000 * FRAME) {
    fail_unless (waitpid (child, &status, WNOHANG) == 0);
    g_usleep (1000);
  }
  kill (child, SIGKILL);
  waitpid (child, &status, 0);
  fail_unless (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);

  size = file_size (path);
  line = g_strdup_printf ("pbffilesrc location=%s ! fakesink name=x", path);
  sum = run_and_sum (line, &n, &warnings);
  g_free (line);
  fail_unless_equals_uint64 (n, (size - PBF_RECORDING_HEAD) / FRAME);
  fail_unless_equals_int (
      warnings, (size - PBF_RECORDING_HEAD) % FRAME == 0 ? 0 : 1);

  g_free (sum);
  g_free (path);
}
GST_END_TEST;

GST_START_TEST (test_damaged)
{
  enum { FRAME = 96 * 96 + PBF_PACKET_OVERHEAD };
  gchar *path = path_of ("a.pbf"), *line, *bytes, *words;
  guint n, warnings;
  gsize size;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=50 ! pbffilesink location=%s", path));
  fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
  fail_unless_equals_uint64 (size, PBF_RECORDING_HEAD + 50 * FRAME);
  bytes[PBF_RECORDING_HEAD + 7 * FRAME + 500] ^= 4;
  /* and the last frame is truncated */
  fail_unless (g_file_set_contents (path, bytes, size - 9, NULL));
  line = g_strdup_printf ("pbffilesrc location=%s ! fakesink name=x", path);
  g_free (run_and_sum (line, &n, &warnings));
  fail_unless_equals_int (n, 48);
  fail_unless_equals_int (warnings, 2);
  words = g_strdup_printf ("damaged at byte %d, readable again %d bytes later",
      PBF_RECORDING_HEAD + 7 * FRAME, FRAME);
  bus_expect_first (line, GST_MESSAGE_WARNING, words);
  g_free (words);
  g_free (bytes);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

static void
expect_error (const gchar *format, const gchar *path, const gchar *words)
{
  gchar *line = g_strdup_printf (format, path);

  bus_expect_first (line, GST_MESSAGE_ERROR, words);
  g_free (line);
}

/* Frames before one that cannot be used are in the recording. */
GST_START_TEST (test_bad_frame_in_list)
{
  enum { SIDE = 16, GOOD = 3 };
  const PbfPacket frame = {
    .width = SIDE, .height = SIDE, .fragment_size = SIDE * SIDE
  };
  gchar *path = path_of ("a.pbf"), *launch, *bytes;
  GstBufferList *list = gst_buffer_list_new ();
  GstHarness *h;
  gsize size;

  launch = g_strdup_printf ("pbffilesink location=%s", path);
  h = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1");
  gst_harness_play (h);
  for (guint i = 0; i <= GOOD; i++)
    gst_buffer_list_add (
        list, gst_buffer_new_memdup ((guint8[SIDE *SIDE]){ (guint8) i },
                  i < GOOD ? SIDE * SIDE : SIDE));
  fail_unless_equals_int (gst_pad_push_list (h->srcpad, list), GST_FLOW_ERROR);
  gst_harness_teardown (h);
  fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
  fail_unless_equals_uint64 (
      size, PBF_RECORDING_HEAD + GOOD * pbf_packet_bytes (&frame));
  g_free (bytes);
  g_free (launch);
  g_free (path);
}
GST_END_TEST;

/* Replaces the open file @path by one that cannot be read. */
static void
break_file (const gchar *path)
{
  const int unreadable = open ("/dev/null", O_WRONLY);
  GDir *dir = g_dir_open ("/proc/self/fd", 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)) != NULL) {
    gchar *link = g_build_filename ("/proc/self/fd", name, NULL);
    gchar *target = g_file_read_link (link, NULL);

    if (g_strcmp0 (target, path) == 0)
      fail_unless (dup2 (unreadable, atoi (name)) >= 0);
    g_free (target);
    g_free (link);
  }
  g_dir_close (dir);
  close (unreadable);
}

static GstPadProbeReturn
break_on_first_list (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  break_file (data);
  return GST_PAD_PROBE_REMOVE;
}

/* A file that cannot be read any more ends the stream after one error. */
GST_START_TEST (test_read_error)
{
  gchar *path = path_of ("a.pbf"), *line;
  guint errors = 0;
  gboolean more = TRUE;
  GstElement *pipeline, *src;
  GstPad *pad;
  GstBus *bus;

  /* 3.7 MB, of which 1 MiB is read ahead */
  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=400 ! pbffilesink location=%s", path));
  line = g_strdup_printf (
      "pbffilesrc name=s location=%s frames-per-list=10 ! fakesink", path);
  pipeline = gst_parse_launch (line, NULL);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  pad = gst_element_get_static_pad (src, "src");
  bus = gst_element_get_bus (pipeline);
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER_LIST, break_on_first_list, path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (more) { /* to the base class's error, at which the stream ends */
    GstMessage *message =
        gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
    GError *error;

    fail_unless (message != NULL, "the stream does not end");
    gst_message_parse_error (message, &error, NULL);
    if (strstr (error->message, "Check the disk") != NULL)
      errors++;
    else
      more = FALSE;
    g_error_free (error);
    gst_message_unref (message);
    fail_unless (errors <= 1, "the error is repeated");
  }
  fail_unless_equals_int (errors, 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (src);
  gst_object_unref (pipeline);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

GST_START_TEST (test_refused)
{
  gchar *path = path_of ("a.pbf");

  expect_error ("pbffilesrc location=%s ! fakesink", path, "Cannot open");
  expect_error ("pbffilesrc ! fakesink", path, "Set location");
  expect_error ("pbffilesrc location=%s signal-layout=layer=1 ! fakesink", path,
      "signal-layout: laser_on is missing");
  expect_error ("pbftestsrc ! pbffilesink", path, "Set location");
  expect_error ("pbftestsrc ! pbffilesink location=%s/a/b", folder,
      "No such file or directory");
  fail_unless (g_file_set_contents (path, "", 0, NULL));
  expect_error ("pbffilesrc location=%s ! fakesink", path, "not a recording");
  fail_unless (g_file_set_contents (path, "\x89HDF\r\n", -1, NULL));
  expect_error ("pbffilesrc location=%s ! fakesink", path, "not a recording");
  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=5 ! pbffilesink location=%s", path));
  expect_error ("pbffilesrc location=%s ! video/x-raw,width=64 ! fakesink",
      path, "holds GRAY8 of 96x96 pixels at 20000/1");
  expect_error ("pbftestsrc num-buffers=5 ! pbffilesink location=%s",
      "/dev/full", "the disk is full");
  g_free (path);
}
GST_END_TEST;

static Suite *
pbffile_suite (void)
{
  Suite *s = suite_create ("pbffile");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_loop_test (tc, test_same_stream, 0, G_N_ELEMENTS (cameras));
  tcase_add_test (tc, test_same_results);
  tcase_add_test (tc, test_num_buffers_and_lists);
  tcase_add_test (tc, test_signal_layout);
  tcase_add_test (tc, test_another_size);
  tcase_add_test (tc, test_killed);
  tcase_add_test (tc, test_damaged);
  tcase_add_test (tc, test_bad_frame_in_list);
  tcase_add_test (tc, test_read_error);
  tcase_add_test (tc, test_refused);
  return s;
}

int
main (int argc, char **argv)
{
  gst_check_init (&argc, &argv);
  if (g_getenv (RECORD) != NULL)
    record_for_ever (g_getenv (RECORD));
  return gst_check_run_suite (pbffile_suite (), "pbffile", __FILE__);
}
