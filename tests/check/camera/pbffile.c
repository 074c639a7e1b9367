/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* pbffilesink, pbffilesrc and pbfparse: a replay equals the recorded stream, to the
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

/* Pixels, without the bytes between rows, times and record of every buffer. */
static void
sum_buffer (GChecksum *sum, GstPad *pad, GstBuffer *buffer)
{
  GstCvisPbfSignalMeta *meta = gst_cvis_buffer_get_pbf_signal_meta (buffer);
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstVideoFrame frame;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (gint y = 0; y < info.height; y++)
    g_checksum_update (sum,
        (guchar *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
            + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        info.width);
  gst_video_frame_unmap (&frame);
  gst_caps_unref (caps);
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
    sum_buffer (s->sum, pad, GST_PAD_PROBE_INFO_BUFFER (info));
    s->buffers++;
  } else {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);

    for (guint i = 0; i < gst_buffer_list_length (list); i++, s->buffers++)
      sum_buffer (s->sum, pad, gst_buffer_list_get (list, i));
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

/* Every byte of every CvisPbfResult. */
GST_START_TEST (test_same_results)
{
  gchar *path = path_of ("a.pbf"), *live = path_of ("live.pbr");
  gchar *replayed = path_of ("replayed.pbr"), *a, *b;
  gsize size_a, size_b;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=3000 regime=mixed seed=7 ! tee name=t ! queue ! "
      "cudapbfmonitor backend=cpu name=m ! fakesink m.src_result ! "
      "filesink location=%s t. ! queue ! pbffilesink location=%s",
      live, path));
  run_to_eos (
      g_strdup_printf ("pbffilesrc location=%s frames-per-list=100 ! "
                       "cudapbfmonitor backend=cpu batch-size=37 name=m ! "
                       "fakesink m.src_result ! filesink location=%s",
          path, replayed));
  fail_unless (g_file_get_contents (live, &a, &size_a, NULL));
  fail_unless (g_file_get_contents (replayed, &b, &size_b, NULL));
  fail_unless_equals_uint64 (size_a, 3000 * sizeof (CvisPbfResult));
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
    CvisPbfSignal *signal =
        &gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal;

    fail_unless (pbf_signal_is_intact (signal));
    fail_unless_equals_int (signal->layer, i);
    fail_unless_equals_int (signal->frame_counter, i);
    fail_unless_equals_int (signal->flags, CVIS_PBF_SIGNAL_LASER_ON);
    fail_unless_equals_int (signal->user0, 200000); /* power_mW */
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

/* Frames without signals in a recording that has some, or whose signals are
 * described, are counted in one warning. */
GST_START_TEST (test_missing_signals)
{
  GstElement *sink = gst_element_factory_make ("pbffilesink", NULL);
  gchar *path = path_of ("a.pbf"), *line;
  const CvisPbfSignal signal = { 0 };
  GstHarness *h;

  g_object_set (sink, "location", path, NULL);
  h = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1");
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 256, NULL);

    gst_buffer_memset (buffer, 0, 0, -1);
    if (i < 2)
      gst_cvis_buffer_add_pbf_signal_meta (buffer, &signal);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  gst_harness_teardown (h);
  gst_object_unref (sink);
  line = g_strdup_printf ("pbffilesrc location=%s ! fakesink", path);
  bus_expect_first (line, GST_MESSAGE_WARNING, "3 of 5 frames of");
  g_free (line);
  line = g_strdup_printf ("filesrc location=%s ! pbfparse ! fakesink", path);
  bus_expect_first (line, GST_MESSAGE_WARNING, "3 of 5 frames of");
  g_free (line);
  run_to_eos (
      g_strdup_printf ("videotestsrc num-buffers=4 ! video/x-raw,format=GRAY8 "
                       "! pbffilesink location=%s",
          path));
  line = g_strdup_printf (
      "pbffilesrc location=%s signal-layout=laser_on=0 ! fakesink", path);
  bus_expect_first (line, GST_MESSAGE_WARNING, "4 of 4 frames of");
  g_free (line);
  run_to_eos (g_strdup_printf ("pbffilesrc location=%s ! fakesink", path));
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
    fail_unless (gst_cvis_buffer_get_pbf_signal_meta (buffer) == NULL);
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
  fail_unless_equals_int (warnings, 1);
  words = g_strdup_printf ("damaged at byte %d, readable again %d bytes later. "
                           "Damaged places: 2, frames skipped: at least 2, "
                           "bytes skipped: %d",
      PBF_RECORDING_HEAD + 7 * FRAME, FRAME, 2 * FRAME - 9);
  bus_expect_first (line, GST_MESSAGE_WARNING, words);
  g_free (line);
  line = g_strdup_printf (
      "filesrc location=%s ! pbfparse ! fakesink name=x", path);
  g_free (run_and_sum (line, &n, &warnings));
  fail_unless_equals_int (n, 48);
  fail_unless_equals_int (warnings, 1);
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

/* Two recordings of the same frames are the same bytes; those of others have another
 * number of the stream. */
GST_START_TEST (test_same_bytes)
{
  static const gchar *const seeds[] = { "1", "1", "2" };
  gchar *bytes[3];
  gsize size[3];

  for (guint i = 0; i < 3; i++) {
    gchar *path = path_of ("a.pbf");

    run_to_eos (g_strdup_printf (
        "pbftestsrc num-buffers=50 seed=%s ! pbffilesink location=%s", seeds[i],
        path));
    fail_unless (g_file_get_contents (path, &bytes[i], &size[i], NULL));
    g_free (path);
  }
  fail_unless_equals_uint64 (size[0], size[1]);
  fail_unless (memcmp (bytes[0], bytes[1], size[0]) == 0);
  fail_unless (memcmp (bytes[0] + PBF_RECORDING_HEAD + 28,
                   bytes[2] + PBF_RECORDING_HEAD + 28, 4)
               != 0);
  for (guint i = 0; i < 3; i++)
    g_free (bytes[i]);
}
GST_END_TEST;

/* --- files that must not be lost ------------------------------------------- */

/* Runs @line to its error. Returns: number of errors of pbffilesink or pbffilesrc */
static guint
count_errors (const gchar *line)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 10 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  while (message != NULL) {
    GError *error = NULL;

    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, line);
    gst_message_parse_error (message, &error, NULL);
    n += g_str_has_prefix (error->message, "Cannot ");
    g_error_free (error);
    gst_message_unref (message);
    message =
        gst_bus_timed_pop_filtered (bus, GST_SECOND / 5, GST_MESSAGE_ERROR);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return n;
}

/* A sink does not write to the file that its pipeline reads, by whatever name. */
GST_START_TEST (test_own_file_is_kept)
{
  static const gchar *const lines[] = {
    "pbffilesrc location=%s ! pbffilesink location=%s",
    "filesrc location=%s ! decodebin ! pbffilesink location=%s",
    "bin.( filesrc location=%s ! pbfparse ! identity ) ! "
    "pbffilesink location=%s",
    "filesrc location=%s ! fakesink pbftestsrc num-buffers=5 ! "
    "pbffilesink location=%s",
  };
  gchar *path = path_of ("a.pbf"), *before, *after;
  gchar *names[] = { path_of ("a.pbf"), path_of ("soft.pbf"),
    path_of ("hard.pbf") };
  gsize size, size_after;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=500 ! pbffilesink location=%s", path));
  fail_unless (symlink (path, names[1]) == 0 && link (path, names[2]) == 0);
  fail_unless (g_file_get_contents (path, &before, &size, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (lines) * 3; i++) {
    gchar **parts = g_strsplit (lines[i / 3], "%s", 3);
    gchar *line = g_strconcat (
        parts[0], names[0], parts[1], names[i % 3], parts[2], NULL);

    bus_expect_first (line, GST_MESSAGE_ERROR, "src");
    fail_unless_equals_int (count_errors (line), 1);
    fail_unless (g_file_get_contents (path, &after, &size_after, NULL));
    fail_unless_equals_uint64 (size, size_after);
    fail_unless (memcmp (before, after, size) == 0);
    g_free (after);
    g_free (line);
    g_strfreev (parts);
  }
  for (guint i = 0; i < 3; i++)
    g_free (names[i]);
  g_free (before);
  g_free (path);
}
GST_END_TEST;

/* An old recording stays until the new one has a frame, and a stream without frames
 * that fails leaves no file. */
GST_START_TEST (test_old_file_is_kept)
{
  gchar *path = path_of ("a.pbf"), *bad = path_of ("bad.pbf"), *line;
  gchar *fresh = path_of ("new.pbf");
  gsize size;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=5 ! pbffilesink location=%s", path));
  size = file_size (path);
  fail_unless (g_file_set_contents (bad, "PBFR", 4, NULL));
  line = g_strdup_printf (
      "filesrc location=%s ! pbfparse ! pbffilesink location=%s", bad, path);
  bus_expect_first (line, GST_MESSAGE_ERROR, "the head at byte 0 is damaged");
  fail_unless_equals_uint64 (file_size (path), size);
  g_free (line);
  line = g_strdup_printf (
      "filesrc location=%s ! pbfparse ! pbffilesink location=%s", bad, fresh);
  bus_expect_first (line, GST_MESSAGE_ERROR, "the head at byte 0 is damaged");
  fail_if (g_file_test (fresh, G_FILE_TEST_EXISTS));
  g_free (line);
  /* a stream that ends well without a frame is an empty recording */
  run_to_eos (
      g_strdup_printf ("pbffilesrc location=%s ! identity drop-probability=1 ! "
                       "pbffilesink location=%s",
          path, fresh));
  fail_unless_equals_uint64 (file_size (fresh), PBF_RECORDING_HEAD);
  g_free (fresh);
  g_free (bad);
  g_free (path);
}
GST_END_TEST;

/* A wrong location ends the change of state with one error. */
GST_START_TEST (test_wrong_location_fails_to_start)
{
  static const gchar *const elements[] = { "pbffilesrc", "pbffilesink" };
  static const gchar *const locations[] = { "", "/nonexistent/a.pbf", "/" };

  for (guint i = 0; i < 6; i++) {
    GstElement *element = gst_element_factory_make (elements[i / 3], NULL);
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (element, bus);
    g_object_set (element, "location", locations[i % 3], NULL);
    for (guint k = 0; k < 2; k++) {
      fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
          GST_STATE_CHANGE_FAILURE);
      g_free (bus_pop_text (bus, GST_MESSAGE_ERROR));
    }
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* --- pbfparse -------------------------------------------------------------- */

/* The frames of bytes in blocks of any size are those of pbffilesrc, in lists. */
GST_START_TEST (test_parse)
{
  static const gchar *const parsers[] = {
    "filesrc blocksize=999 location=%s ! pbfparse ! fakesink name=x",
    "filesrc blocksize=3000000 location=%s ! pbfparse ! fakesink name=x",
    "filesrc location=%s ! pbfparse ! fakesink name=x",
    "filesrc location=%s ! decodebin ! fakesink name=x",
    "filesrc location=%s ! queue ! decodebin ! fakesink name=x"
  };
  gchar *path = path_of ("a.pbf"), *line, *wanted, *got;
  guint n, warnings;

  run_to_eos (
      g_strdup_printf ("%s ! pbffilesink location=%s", cameras[__i__], path));
  line = g_strdup_printf ("pbffilesrc location=%s ! fakesink name=x", path);
  wanted = run_and_sum (line, &n, &warnings);
  g_free (line);
  for (guint i = 0; i < G_N_ELEMENTS (parsers); i++) {
    gchar **parts = g_strsplit (parsers[i], "%s", 2);
    guint got_n;

    line = g_strjoinv (path, parts);
    got = run_and_sum (line, &got_n, &warnings);
    fail_unless_equals_string (got, wanted);
    fail_unless_equals_int (got_n, n);
    fail_unless_equals_int (warnings, 0);
    g_free (got);
    g_free (line);
    g_strfreev (parts);
  }
  g_free (wanted);
  g_free (path);
}
GST_END_TEST;

GST_START_TEST (test_parse_errors)
{
  gchar *path = path_of ("a.pbf"), *line;

  fail_unless (g_file_set_contents (path, "no recording", -1, NULL));
  line = g_strdup_printf ("filesrc location=%s ! pbfparse ! fakesink", path);
  bus_expect_first (line, GST_MESSAGE_ERROR, "not a recording");
  fail_unless_equals_int (count_errors (line), 1);
  g_free (line);
  bus_expect_first ("fakesrc num-buffers=0 ! pbfparse ! fakesink",
      GST_MESSAGE_ERROR, "not a recording");
  bus_expect_first ("fakesrc ! pbfparse signal-layout=x=1 ! fakesink",
      GST_MESSAGE_ERROR, "no field");
  g_free (path);
}
GST_END_TEST;

/* Order of the events at the output, and lists that do not hold frames back. */
GST_START_TEST (test_parse_events)
{
  static const GstEventType types[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS,
    GST_EVENT_SEGMENT, GST_EVENT_TAG };
  GstHarness *h = gst_harness_new_parse ("pbfparse");
  gchar *path = path_of ("a.pbf"), *bytes;
  const GstSegment *segment;
  GstEvent *event;
  gsize size;

  run_to_eos (
      g_strdup_printf ("pbftestsrc num-buffers=3 timestamp-offset=7000000000 ! "
                       "video/x-raw,framerate=25/1 ! pbffilesink location=%s",
          path));
  fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
  gst_harness_set_src_caps_str (h, "application/x-pbf-recording");
  gst_harness_push_event (
      h, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "t", NULL)));
  /* at 25 frames/s each frame is pushed at once */
  gst_harness_push (
      h, gst_buffer_new_memdup (bytes, PBF_RECORDING_HEAD + (size - 32) / 3));
  fail_unless_equals_int (gst_harness_buffers_received (h), 1);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    event = gst_harness_pull_event (h);
    fail_unless_equals_int (GST_EVENT_TYPE (event), types[i]);
    if (types[i] == GST_EVENT_SEGMENT) {
      gst_event_parse_segment (event, &segment);
      fail_unless_equals_int (segment->format, GST_FORMAT_TIME);
      fail_unless_equals_uint64 (segment->start, 7 * GST_SECOND);
    }
    gst_event_unref (event);
  }
  /* a flush begins another recording */
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (
      h, gst_event_new_segment (&(GstSegment){ .format = GST_FORMAT_BYTES,
             .rate = 1,
             .applied_rate = 1,
             .stop = -1,
             .duration = -1 }));
  gst_harness_push (h, gst_buffer_new_memdup (bytes, size));
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), 4);
  gst_harness_teardown (h);
  g_free (bytes);
  g_free (path);
}
GST_END_TEST;

/* --- positions ------------------------------------------------------------- */

typedef struct {
  GstElement *pipeline;
  GstElement *sink;
} Player;

static Player
open_player (const gchar *path)
{
  gchar *line = g_strdup_printf (
      "pbffilesrc location=%s ! fakesink name=x sync=false", path);
  Player player = { gst_parse_launch (line, NULL) };

  player.sink = gst_bin_get_by_name (GST_BIN (player.pipeline), "x");
  gst_element_set_state (player.pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (
      gst_element_get_state (player.pipeline, NULL, NULL, 10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  g_free (line);
  return player;
}

static void
close_player (Player *player)
{
  gst_element_set_state (player->pipeline, GST_STATE_NULL);
  gst_object_unref (player->sink);
  gst_object_unref (player->pipeline);
}

/* The frame that the sink shows, after a seek. */
static void
expect_frame (Player *player, guint64 number)
{
  GstSample *sample;
  GstBuffer *buffer;

  fail_unless_equals_int (
      gst_element_get_state (player->pipeline, NULL, NULL, 10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  g_object_get (player->sink, "last-sample", &sample, NULL);
  buffer = gst_sample_get_buffer (sample);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), number);
  fail_unless_equals_uint64 (
      gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal.frame_counter,
      number);
  gst_sample_unref (sample);
}

static gboolean
seek_to (
    Player *player, gdouble rate, GstFormat format, gint64 start, gint64 stop)
{
  return gst_element_seek (player->pipeline, rate, format, GST_SEEK_FLAG_FLUSH,
      GST_SEEK_TYPE_SET, start,
      stop < 0 ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET, stop);
}

static guint
play_rest (Player *player)
{
  GstBus *bus = gst_element_get_bus (player->pipeline);
  GstPad *pad = gst_element_get_static_pad (player->sink, "sink");
  Sum s = { g_checksum_new (G_CHECKSUM_SHA256), 0 };
  gulong probe = gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, sum_probe, &s,
      NULL);
  GstMessage *message;

  gst_element_set_state (player->pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (player->pipeline, GST_STATE_PAUSED);
  gst_pad_remove_probe (pad, probe);
  g_checksum_free (s.sum);
  gst_object_unref (pad);
  gst_object_unref (bus);
  return s.buffers;
}

/* Seeks lead to the frame that is exposed at the time, or to its number. */
GST_START_TEST (test_seeks)
{
  const guint64 begin = 5 * GST_SECOND, each = GST_MSECOND;
  gchar *path = path_of ("a.pbf");
  GstQuery *query;
  gboolean seekable;
  Player player;
  gint64 value;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=1000 timestamp-offset=5000000000 ! "
      "video/x-raw,framerate=1000/1 ! pbffilesink location=%s",
      path));
  player = open_player (path);
  expect_frame (&player, 0);
  fail_unless (
      gst_element_query_duration (player.pipeline, GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value, (gint64) (begin + 1000 * each));
  fail_unless (
      gst_element_query_duration (player.pipeline, GST_FORMAT_DEFAULT, &value));
  fail_unless_equals_int64 (value, 1000);
  query = gst_query_new_seeking (GST_FORMAT_TIME);
  fail_unless (gst_element_query (player.pipeline, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_unless (seekable);
  gst_query_unref (query);

  fail_unless (seek_to (&player, 1, GST_FORMAT_TIME, begin + 700 * each, -1));
  expect_frame (&player, 700);
  fail_unless (
      gst_element_query_position (player.pipeline, GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value, (gint64) (begin + 700 * each));
  fail_unless (
      gst_element_query_position (player.pipeline, GST_FORMAT_DEFAULT, &value));
  /* that of the source, which is a list ahead */
  fail_unless (value >= 700 && value <= 956);
  fail_unless (
      seek_to (&player, 3, GST_FORMAT_TIME, begin + 3 * each + each / 2, -1));
  expect_frame (&player, 3);
  fail_unless (seek_to (&player, 0.5, GST_FORMAT_DEFAULT, 999, -1));
  expect_frame (&player, 999);
  fail_unless (seek_to (&player, 1, GST_FORMAT_TIME, 0, -1));
  expect_frame (&player, 0);
  fail_if (seek_to (&player, -1, GST_FORMAT_TIME, 0, begin + 9 * each));
  expect_frame (&player, 0); /* and the stream goes on */

  /* from the middle of frame 10 up to the begin of frame 20, then to the end */
  fail_unless (seek_to (&player, 1, GST_FORMAT_TIME,
      begin + 10 * each + each / 2, begin + 20 * each));
  expect_frame (&player, 10);
  fail_unless_equals_int (play_rest (&player), 0); /* all in the first list */
  expect_frame (&player, 19);
  fail_unless (seek_to (&player, 1, GST_FORMAT_DEFAULT, 300, -1));
  play_rest (&player);
  expect_frame (&player, 999);
  close_player (&player);
  g_free (path);
}
GST_END_TEST;

/* A recording whose first frame is damaged: it is counted once, and a seek to the begin
 * leads to the next one. */
GST_START_TEST (test_damaged_begin)
{
  gchar *path = path_of ("a.pbf"), *bytes, *line;
  GstHarness *h;
  gsize size;

  run_to_eos (g_strdup_printf (
      "pbftestsrc num-buffers=9 ! pbffilesink location=%s", path));
  fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
  bytes[PBF_RECORDING_HEAD + 500] ^= 1;
  fail_unless (g_file_set_contents (path, bytes, (gssize) size, NULL));
  line = g_strdup_printf ("pbffilesrc location=%s ! fakesink", path);
  bus_expect_first (line, GST_MESSAGE_WARNING,
      "Damaged places: 1, frames skipped: at least 1, bytes skipped: 9332.");
  g_free (line);
  line = g_strdup_printf ("pbffilesrc location=%s num-buffers=100", path);
  h = gst_harness_new_parse (line);
  gst_harness_play (h);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_harness_pull (h);

    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), 1);
    gst_buffer_unref (buffer);
    for (guint k = 2; k < 9; k++)
      gst_buffer_unref (gst_harness_pull (h));
    fail_unless (gst_element_seek_simple (
        h->element, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  }
  gst_harness_teardown (h);
  g_free (bytes);
  g_free (line);
  g_free (path);
}
GST_END_TEST;

/* A recording that changes its size. */
GST_START_TEST (test_seek_other_recordings)
{
  gchar *paths[] = { path_of ("a.pbf"), path_of ("b.pbf"), path_of ("c.pbf") };
  GString *joined = g_string_new (NULL);
  Player player;
  gint64 value;

  for (guint i = 0; i < 2; i++) {
    gchar *bytes;
    gsize size;

    run_to_eos (g_strdup_printf (
        "pbftestsrc num-buffers=100 timestamp-offset=%u ! "
        "video/x-raw,width=%u,framerate=20000/1 ! pbffilesink location=%s",
        i * 5000000, 96 - 20 * i, paths[i]));
    fail_unless (g_file_get_contents (paths[i], &bytes, &size, NULL));
    g_string_append_len (joined, bytes, (gssize) size);
    g_free (bytes);
  }
  fail_unless (
      g_file_set_contents (paths[2], joined->str, (gssize) joined->len, NULL));
  player = open_player (paths[2]);
  fail_unless (
      gst_element_query_duration (player.pipeline, GST_FORMAT_DEFAULT, &value));
  fail_unless_equals_int64 (value, 200);
  for (guint i = 0; i < 3; i++) {
    static const guint numbers[] = { 150, 20, 199 };
    GstSample *sample;
    GstVideoInfo info;

    fail_unless (seek_to (&player, 1, GST_FORMAT_DEFAULT, numbers[i], -1));
    fail_unless_equals_int (
        gst_element_get_state (player.pipeline, NULL, NULL, 10 * GST_SECOND),
        GST_STATE_CHANGE_SUCCESS);
    g_object_get (player.sink, "last-sample", &sample, NULL);
    fail_unless (
        gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
    fail_unless_equals_int (info.width, numbers[i] < 100 ? 96 : 76);
    fail_unless_equals_uint64 (
        GST_BUFFER_OFFSET (gst_sample_get_buffer (sample)), numbers[i]);
    gst_sample_unref (sample);
  }
  close_player (&player);

  g_string_free (joined, TRUE);
  for (guint i = 0; i < 3; i++)
    g_free (paths[i]);
}
GST_END_TEST;

/* Events in NULL and READY, and without a stream, raise no critical message. */
GST_START_TEST (test_events_before_start)
{
  static const gchar *const elements[] = { "pbffilesrc", "pbffilesink",
    "pbfparse", "pbftestsrc" };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    for (guint ready = 0; ready < 2; ready++) {
      GstElement *element = gst_element_factory_make (elements[i], NULL);

      if (ready)
        gst_element_set_state (element, GST_STATE_READY);
      gst_element_send_event (element, gst_event_new_eos ());
      gst_element_send_event (element, gst_event_new_flush_start ());
      gst_element_send_event (element, gst_event_new_flush_stop (TRUE));
      gst_element_send_event (
          element, gst_event_new_seek (1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                       GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1));
      gst_element_query_duration (element, GST_FORMAT_TIME, NULL);
      gst_element_query_position (element, GST_FORMAT_DEFAULT, NULL);
      gst_element_set_state (element, GST_STATE_NULL);
      gst_object_unref (element);
    }
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
  tcase_add_test (tc, test_missing_signals);
  tcase_add_test (tc, test_another_size);
  tcase_add_test (tc, test_killed);
  tcase_add_test (tc, test_damaged);
  tcase_add_test (tc, test_bad_frame_in_list);
  tcase_add_test (tc, test_read_error);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_same_bytes);
  tcase_add_test (tc, test_own_file_is_kept);
  tcase_add_test (tc, test_old_file_is_kept);
  tcase_add_test (tc, test_wrong_location_fails_to_start);
  tcase_add_loop_test (tc, test_parse, 0, G_N_ELEMENTS (cameras));
  tcase_add_test (tc, test_parse_errors);
  tcase_add_test (tc, test_parse_events);
  tcase_add_test (tc, test_seeks);
  tcase_add_test (tc, test_damaged_begin);
  tcase_add_test (tc, test_seek_other_recordings);
  tcase_add_test (tc, test_events_before_start);
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
