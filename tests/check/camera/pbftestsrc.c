/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>
#include <string.h>
#include "cuda/records/machinesignal.h"
#include "cuda/camera/sim.h"

/* --- a pipeline that checks every buffer --------------------------------- */

/* Bytes, times, metas and sizes of lists; @stop ends it by EOS. */
typedef struct {
  GstElement *pipeline;
  GstElement *src;
  guint frames, lists, singles, longest, shortest;
  guint64 first_pts, next_pts;
  guint fps_n, fps_d;
  gboolean check_times;
  GChecksum *sum;
  GstVideoInfo info;
} Watch;

static void
look_at (Watch *w, GstBuffer *buffer)
{
  GstCvisPbfSignalMeta *signal = gst_cvis_buffer_get_pbf_signal_meta (buffer);
  GstCvisPbfTruthMeta *truth = gst_cvis_buffer_get_pbf_truth_meta (buffer);
  GstVideoFrame frame;

  fail_unless (signal != NULL && truth != NULL);
  fail_unless_equals_int (
      signal->signal.crc32c, pbf_crc32c (&signal->signal, 60));
  fail_unless_equals_int (signal->signal.frame_counter, w->frames);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), w->frames);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (buffer), w->frames + 1);
  fail_unless_equals_int (truth->laser_on,
      (signal->signal.flags & CVIS_PBF_SIGNAL_LASER_ON) ? TRUE : FALSE);
  if (w->frames == 0)
    w->first_pts = GST_BUFFER_PTS (buffer);
  if (w->check_times) {
    guint64 at =
        gst_util_uint64_scale (w->frames, GST_SECOND * w->fps_d, w->fps_n);
    guint64 after =
        gst_util_uint64_scale (w->frames + 1, GST_SECOND * w->fps_d, w->fps_n);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer) - w->first_pts, at);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), after - at);
    fail_unless_equals_uint64 (signal->signal.t_ns, at);
  }
  if (w->frames > 0)
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), w->next_pts);
  w->next_pts = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);

  fail_unless (gst_video_frame_map (&frame, &w->info, buffer, GST_MAP_READ));
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (&w->info); y++)
    g_checksum_update (w->sum,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
            + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        GST_VIDEO_INFO_WIDTH (&w->info));
  gst_video_frame_unmap (&frame);
  w->frames++;
}

static GstPadProbeReturn
probe (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Watch *w = data;

  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
    GstCaps *caps;

    if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
      gst_event_parse_caps (event, &caps);
      fail_unless (gst_video_info_from_caps (&w->info, caps));
      w->fps_n = GST_VIDEO_INFO_FPS_N (&w->info);
      w->fps_d = GST_VIDEO_INFO_FPS_D (&w->info);
    }
  } else if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);
    guint n = gst_buffer_list_length (list);

    w->lists++;
    w->longest = MAX (w->longest, n);
    w->shortest = MIN (w->shortest, n);
    for (guint i = 0; i < n; i++)
      look_at (w, gst_buffer_list_get (list, i));
  } else {
    w->singles++;
    look_at (w, GST_PAD_PROBE_INFO_BUFFER (info));
  }
  return GST_PAD_PROBE_OK;
}

static Watch *
watch_new (const gchar *line)
{
  Watch *w = g_new0 (Watch, 1);
  GError *error = NULL;
  GstPad *pad;

  w->pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  w->src = gst_bin_get_by_name (GST_BIN (w->pipeline), "s");
  w->sum = g_checksum_new (G_CHECKSUM_SHA256);
  w->shortest = G_MAXUINT;
  w->check_times = TRUE;
  pad = gst_element_get_static_pad (w->src, "src");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST
          | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      probe, w, NULL);
  gst_object_unref (pad);
  return w;
}

/* Runs until EOS or an error. Returns: the error's text */
static gchar *
watch_run (Watch *w)
{
  GstBus *bus = gst_element_get_bus (w->pipeline);
  GstMessage *message;
  gchar *debug = NULL;

  gst_element_set_state (w->pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "neither EOS nor error");
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, NULL, &debug);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (w->pipeline, GST_STATE_NULL);
  return debug;
}

static void
watch_free (Watch *w)
{
  gst_object_unref (w->src);
  gst_object_unref (w->pipeline);
  g_checksum_free (w->sum);
  g_free (w);
}

/* Runs @line to its EOS.
 * Returns: the digest of all pixels; free with g_free(). */
static gchar *
run (const gchar *line, guint frames, guint lists, guint shortest)
{
  Watch *w = watch_new (line);
  gchar *error = watch_run (w), *text;

  fail_unless (error == NULL, "%s: %s", line, error);
  fail_unless_equals_int (w->frames, frames);
  fail_unless_equals_int (w->lists, lists);
  fail_unless_equals_int (w->singles, lists == 0 ? frames : 0);
  if (lists > 0)
    fail_unless_equals_int (w->shortest, shortest);
  text = g_strdup (g_checksum_get_string (w->sum));
  watch_free (w);
  return text;
}

/* --- tests ----------------------------------------------------------------- */

GST_START_TEST (test_default_caps)
{
  GstHarness *h = gst_harness_new ("pbftestsrc");
  GstCaps *caps, *wanted;

  gst_harness_play (h);
  gst_buffer_unref (gst_harness_pull (h));
  caps = gst_pad_get_current_caps (h->sinkpad);
  wanted = gst_caps_from_string ("video/x-raw, format=GRAY8, width=96, "
                                 "height=96, framerate=20000/1");
  fail_unless (gst_caps_is_subset (caps, wanted), "%" GST_PTR_FORMAT, caps);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_caps)
{
  g_free (run ("pbftestsrc name=s num-buffers=300 frames-per-list=1 ! "
               "video/x-raw,width=41,height=43,framerate=1000000/1 ! fakesink",
      300, 0, 0));
  g_free (run ("pbftestsrc name=s num-buffers=20 frames-per-list=8 ! "
               "video/x-raw,width=512,height=300,framerate=30000/1001 ! "
               "fakesink",
      20, 3, 4));
  /* a preferred rate that is not required is approximated */
  g_free (run ("pbftestsrc name=s num-buffers=5 ! video/x-raw,"
               "width=[200,4096],framerate=[1/1,50/1] ! fakesink",
      5, 1, 5));
  /* default lists: 256 frames or 4 MiB; a larger frame is alone, and so is
   * each frame of a live source */
  g_free (run ("pbftestsrc name=s num-buffers=600 ! fakesink", 600, 3, 88));
  g_free (run ("pbftestsrc name=s num-buffers=5 ! "
               "video/x-raw,width=1024,height=2048 ! fakesink",
      5, 3, 1));
  g_free (run ("pbftestsrc name=s num-buffers=2 ! "
               "video/x-raw,width=4096,height=4096 ! fakesink",
      2, 0, 0));
  g_free (run (
      "pbftestsrc name=s is-live=true num-buffers=20 ! fakesink", 20, 0, 0));
}
GST_END_TEST;

/* num-buffers counts frames, whatever the length of the lists; neither lists
 * nor replaying change a byte. */
GST_START_TEST (test_counts_and_bytes)
{
  gchar *single = run ("pbftestsrc name=s seed=4 regime=mixed num-buffers=1000 "
                       "frames-per-list=1 ! fakesink",
      1000, 0, 0);
  gchar *lists = run ("pbftestsrc name=s seed=4 regime=mixed num-buffers=1000 "
                      "frames-per-list=256 ! fakesink",
      1000, 4, 1000 - 3 * 256);
  gchar *ring = run ("pbftestsrc name=s seed=4 regime=mixed num-buffers=1000 "
                     "frames-per-list=7 pre-render=1000 ! fakesink",
      1000, 143, 6);
  gchar *other =
      run ("pbftestsrc name=s seed=5 regime=mixed num-buffers=1000 ! fakesink",
          1000, 4, 1000 - 3 * 256);

  fail_unless_equals_string (single, lists);
  fail_unless_equals_string (single, ring);
  fail_if (strcmp (single, other) == 0);
  g_free (single);
  g_free (lists);
  g_free (ring);
  g_free (other);
  g_free (run ("pbftestsrc name=s num-buffers=0 ! fakesink", 0, 0, 0));
  g_free (run ("pbftestsrc name=s num-buffers=1 frames-per-list=3000 ! "
               "video/x-raw,width=40,height=40 ! fakesink",
      1, 1, 1));
}
GST_END_TEST;

/* The metas equal the simulator's output, and repeat. */
static void
check_replayed (const gchar *line, gboolean single)
{
  GstHarness *h = gst_harness_new_parse (line);
  PbfSimConfig config = { 96, 96, 20000, 1, 3, PBF_SIM_SPATTER };
  PbfSim *sim = pbf_sim_new (&config, NULL);
  guint8 pixels[96 * 96];
  PbfSimTruth truth;
  CvisPbfSignal signal;

  gst_harness_play (h);
  for (guint n = 0; n < 170; n++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstCvisPbfTruthMeta *t = gst_cvis_buffer_get_pbf_truth_meta (buffer);
    CvisPbfSignal *s = &gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal;
    GstMapInfo map;

    pbf_sim_render (sim, n % 50, pixels, 96, &signal, &truth);
    fail_unless_equals_int (gst_buffer_memcmp (buffer, 0, pixels, 96 * 96), 0);
    fail_unless_equals_int (s->frame_counter, n);
    fail_unless_equals_uint64 (s->t_ns, n * G_GUINT64_CONSTANT (50000));
    fail_unless_equals_int (s->crc32c, pbf_crc32c (s, 60));
    fail_unless_equals_int (s->x_um, signal.x_um);
    fail_unless_equals_int (s->layer, n / 50); /* keeps growing */
    fail_unless_equals_int (t->regime, GST_CVIS_PBF_REGIME_SPATTER);
    fail_unless_equals_int (t->pool_area, truth.pool_area);
    fail_unless_equals_float (t->pool_x, truth.pool_x);
    fail_unless_equals_int (t->n_spatters, truth.n_spatters);
    for (guint i = 0; i < truth.n_spatters; i++) {
      fail_unless_equals_float (t->spatter_y[i], truth.spatter_y[i]);
      fail_unless_equals_int (t->spatter_area[i], truth.spatter_area[i]);
    }
    /* a writer gets a copy; the next round has the original frame */
    fail_unless (!single || gst_buffer_is_writable (buffer));
    buffer = gst_buffer_make_writable (buffer);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
    memset (map.data, 0xff, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  pbf_sim_free (sim);
  gst_harness_teardown (h);
}

GST_START_TEST (test_pre_render)
{
  check_replayed ("pbftestsrc seed=3 regime=spatter pre-render=50 "
                  "num-buffers=170 frames-per-list=1",
      TRUE);
  /* the harness may or may not pull a buffer while the list still has it */
  check_replayed (
      "pbftestsrc seed=3 regime=spatter pre-render=50 num-buffers=170", FALSE);
}
GST_END_TEST;

typedef struct {
  GHashTable *alive; /* buffers seen and not yet freed */
  guint frames, freed;
  gboolean spoil; /* write to them and replace their memory */
} Recycling;

static void
note_freed (gpointer data, GstMiniObject *buffer)
{
  Recycling *shells = data;

  shells->freed++;
  g_hash_table_remove (shells->alive, buffer);
}

static GstPadProbeReturn
note_shells (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);
  Recycling *shells = data;

  for (guint i = 0; i < gst_buffer_list_length (list); i++) {
    GstMiniObject *buffer = GST_MINI_OBJECT (gst_buffer_list_get (list, i));

    if (g_hash_table_add (shells->alive, buffer))
      gst_mini_object_weak_ref (buffer, note_freed, shells);
    if (shells->spoil && i == 1)
      gst_buffer_memset (GST_BUFFER (buffer), 0, 0xff, -1);
    if (shells->spoil && i == 2)
      gst_buffer_remove_all_memory (GST_BUFFER (buffer));
    shells->frames++;
  }
  return GST_PAD_PROBE_OK;
}

/* A hundred rounds of 16 frames use @most buffers, and none is freed. */
static void
recycled (const gchar *rest, guint most, gboolean spoil)
{
  gchar *line = g_strdup_printf ("pbftestsrc name=s pre-render=16 "
                                 "frames-per-list=4 num-buffers=1600 ! %s",
      rest);
  Watch *w = watch_new (line);
  GstPad *pad = gst_element_get_static_pad (w->src, "src");
  Recycling shells = { g_hash_table_new (NULL, NULL), 0, 0, spoil };
  GstBus *bus = gst_element_get_bus (w->pipeline);
  GstMessage *message;

  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER_LIST, note_shells, &shells, NULL);
  gst_element_set_state (w->pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (
      message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  fail_unless_equals_int (shells.frames, 1600);
  fail_unless (shells.freed == 0, "%u freed: %s", shells.freed, line);
  fail_unless (g_hash_table_size (shells.alive) <= most, "%u buffers: %s",
      g_hash_table_size (shells.alive), line);
  gst_message_unref (message);
  gst_element_set_state (w->pipeline, GST_STATE_NULL);
  fail_unless_equals_int (g_hash_table_size (shells.alive), 0);
  g_hash_table_unref (shells.alive);
  gst_object_unref (bus);
  gst_object_unref (pad);
  watch_free (w);
  g_free (line);
}

GST_START_TEST (test_recycled)
{
  recycled ("fakesink enable-last-sample=false", 16, FALSE);
  recycled ("fakesink enable-last-sample=false", 16, TRUE);
  /* sinks that hold some of them */
  recycled ("fakesink", 16 + 4, FALSE);
  recycled ("queue max-size-buffers=40 ! fakesink", 16 + 64, FALSE);
}
GST_END_TEST;

GST_START_TEST (test_timestamp_offset)
{
  GstHarness *h =
      gst_harness_new_parse ("pbftestsrc timestamp-offset=1000000000");
  GstBuffer *buffer;

  gst_harness_play (h);
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), GST_SECOND);
  fail_unless_equals_uint64 (
      gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal.t_ns, 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The clock of the harness is set by hand: a list is sent when its last
 * frame has been exposed, and not before. */
GST_START_TEST (test_live)
{
  GstHarness *h = gst_harness_new_parse (
      "pbftestsrc is-live=true frames-per-list=20 num-buffers=50");
  GstClockTime latency;
  guint got = 0;

  gst_harness_use_testclock (h);
  gst_harness_play (h);
  for (guint list = 0; list < 3; list++) {
    guint n = list < 2 ? 20 : 10;

    fail_unless (gst_harness_wait_for_clock_id_waits (h, 1, 10));
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
    fail_unless (gst_harness_crank_single_clock_wait (h));
    for (guint i = 0; i < n; i++) {
      GstBuffer *buffer = gst_harness_pull (h);

      fail_unless_equals_uint64 (
          GST_BUFFER_PTS (buffer), got * G_GUINT64_CONSTANT (50000));
      gst_buffer_unref (buffer);
      got++;
    }
    fail_unless_equals_uint64 (
        gst_clock_get_time (GST_ELEMENT_CLOCK (h->element)),
        got * G_GUINT64_CONSTANT (50000));
  }
  latency = gst_harness_query_latency (h);
  fail_unless_equals_uint64 (latency, 20 * G_GUINT64_CONSTANT (50000));
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A live source that is paused while it waits for the clock loses no frame. */
GST_START_TEST (test_live_pause)
{
  Watch *w = watch_new ("pbftestsrc name=s is-live=true num-buffers=400 ! "
                        "video/x-raw,framerate=2000/1 ! fakesink sync=true");
  gchar *error;

  w->check_times = FALSE;
  for (guint i = 0; i < 3; i++) {
    gst_element_set_state (w->pipeline, GST_STATE_PLAYING);
    g_usleep (20000);
    gst_element_set_state (w->pipeline, GST_STATE_PAUSED);
    gst_element_get_state (w->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    g_usleep (5000);
  }
  error = watch_run (w);
  fail_unless (error == NULL, "%s", error);
  fail_unless_equals_int (w->frames, 400);
  watch_free (w);
}
GST_END_TEST;

GST_START_TEST (test_queries)
{
  GstHarness *h = gst_harness_new_parse ("pbftestsrc num-buffers=1000");
  GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean seekable = TRUE;
  gint64 duration;

  gst_harness_play (h);
  gst_buffer_unref (gst_harness_pull (h));
  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_unless (seekable);
  gst_query_unref (query);
  fail_unless (
      gst_pad_peer_query_duration (h->sinkpad, GST_FORMAT_TIME, &duration));
  fail_unless_equals_uint64 (duration, 50 * GST_MSECOND);
  fail_unless (
      gst_pad_peer_query_duration (h->sinkpad, GST_FORMAT_DEFAULT, &duration));
  fail_unless_equals_uint64 (duration, 1000);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 0);
  gst_harness_teardown (h);

  h = gst_harness_new_parse ("pbftestsrc is-live=true");
  query = gst_query_new_seeking (GST_FORMAT_TIME);
  gst_harness_play (h);
  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_if (seekable);
  gst_query_unref (query);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Other caps in the middle of the stream: time and count continue. */
static void
renegotiate (const gchar *line)
{
  Watch *w = watch_new (line);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (w->pipeline), "f");
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw, width=64, height=50, framerate=7000/1");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (w->pipeline), "k");
  gchar *error;

  w->check_times = FALSE;
  gst_element_set_state (w->pipeline, GST_STATE_PAUSED);
  gst_element_get_state (w->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  fail_unless (w->frames < 3000);
  g_object_set (filter, "caps", caps, NULL);
  error = watch_run (w);
  fail_unless (error == NULL, "%s", error);
  fail_unless_equals_int (w->frames, 3000);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&w->info), 64);
  gst_caps_unref (caps);
  gst_object_unref (filter);
  gst_object_unref (sink);
  watch_free (w);
}

GST_START_TEST (test_renegotiate)
{
  renegotiate ("pbftestsrc name=s num-buffers=3000 frames-per-list=10 ! "
               "capsfilter name=f caps=video/x-raw,width=96 ! fakesink name=k");
  renegotiate ("pbftestsrc name=s num-buffers=3000 frames-per-list=10 "
               "pre-render=64 ! "
               "capsfilter name=f caps=video/x-raw,width=96 ! queue ! "
               "fakesink name=k");
}
GST_END_TEST;

/* --- downstream's pool ----------------------------------------------------- */

#define POOL_STRIDE 160
#define GUARD 0x5a

/* A pool with rows of POOL_STRIDE bytes, filled with GUARD. */
typedef struct {
  GstBufferPool parent;
} StridePool;
typedef GstBufferPoolClass StridePoolClass;
static GType stride_pool_get_type (void);
G_DEFINE_TYPE (StridePool, stride_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn
stride_pool_alloc (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 32 };
  gint stride[GST_VIDEO_MAX_PLANES] = { POOL_STRIDE };

  *buffer = gst_buffer_new_allocate (NULL, 32 + POOL_STRIDE * 96, NULL);
  gst_buffer_memset (*buffer, 0, GUARD, -1);
  gst_buffer_add_video_meta_full (*buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_GRAY8, 96, 96, 1, offset, stride);
  return GST_FLOW_OK;
}

static gboolean
stride_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  guint min, max;
  GstCaps *caps;

  gst_buffer_pool_config_get_params (config, &caps, NULL, &min, &max);
  gst_buffer_pool_config_set_params (
      config, caps, 32 + POOL_STRIDE * 96, min, max);
  return GST_BUFFER_POOL_CLASS (stride_pool_parent_class)
      ->set_config (pool, config);
}

static void
stride_pool_class_init (StridePoolClass *klass)
{
  klass->alloc_buffer = stride_pool_alloc;
  klass->set_config = stride_pool_set_config;
}

static void
stride_pool_init (StridePool *pool)
{
}

static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  const guint *max = data;
  GstBufferPool *pool;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION
      || !(info->type & GST_PAD_PROBE_TYPE_PULL))
    return GST_PAD_PROBE_OK;
  pool = g_object_new (stride_pool_get_type (), NULL);
  gst_query_add_allocation_pool (query, pool, 32 + POOL_STRIDE * 96, 2, *max);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_object_unref (pool);
  return GST_PAD_PROBE_OK;
}

/* Frames from @line with a pool that offers @max buffers (0: any number). */
static void
with_pool (const gchar *line, guint max, gboolean used)
{
  GstHarness *h = gst_harness_new_parse (line);
  PbfSimConfig config = { 96, 96, 20000, 1, 0, PBF_SIM_NOMINAL };
  PbfSim *sim = pbf_sim_new (&config, NULL);
  guint8 pixels[96 * 96];
  PbfSimTruth truth;
  CvisPbfSignal signal;

  gst_pad_add_probe (
      h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_BOTH, offer_pool, &max, NULL);
  gst_harness_play (h);
  for (guint n = 0; n < 60; n++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstVideoMeta *layout = gst_buffer_get_video_meta (buffer);
    guint stride = 96, offset = 0, wrong = 0;
    GstMapInfo map;

    fail_unless_equals_int (
        layout != NULL && layout->stride[0] == POOL_STRIDE, used);
    if (layout != NULL) {
      stride = layout->stride[0];
      offset = layout->offset[0];
    }
    pbf_sim_render (sim, n, pixels, 96, &signal, &truth);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    for (guint y = 0; y < 96; y++) {
      const guint8 *row = map.data + offset + y * stride;

      wrong += memcmp (row, pixels + y * 96, 96) != 0;
      for (guint x = 96; x < stride; x++)
        wrong += row[x] != GUARD;
    }
    for (guint i = 0; i < offset; i++)
      wrong += map.data[i] != GUARD;
    fail_unless_equals_int (wrong, 0);
    gst_buffer_unmap (buffer, &map);
    fail_unless_equals_int (
        gst_buffer_get_n_meta (buffer, GST_CVIS_PBF_SIGNAL_META_API_TYPE), 1);
    fail_unless_equals_int (
        gst_buffer_get_n_meta (buffer, GST_CVIS_PBF_TRUTH_META_API_TYPE), 1);
    gst_buffer_unref (buffer);
  }
  pbf_sim_free (sim);
  gst_harness_teardown (h);
}

GST_START_TEST (test_downstream_pool)
{
  with_pool ("pbftestsrc num-buffers=60", 0, TRUE);
  with_pool ("pbftestsrc num-buffers=60 frames-per-list=8", 0, TRUE);
  with_pool ("pbftestsrc num-buffers=60 frames-per-list=8", 64, TRUE);
  with_pool (
      "pbftestsrc num-buffers=60 frames-per-list=8 pre-render=60", 0, TRUE);
  /* too small for a list: it would deadlock */
  with_pool ("pbftestsrc num-buffers=60 frames-per-list=8", 8, FALSE);
  with_pool ("pbftestsrc num-buffers=60 pre-render=60", 8, FALSE);
}
GST_END_TEST;

/* --- refused caps -------------------------------------------------------- */

static void
refused (const gchar *caps_text, const gchar *words)
{
  GstHarness *h = gst_harness_new ("pbftestsrc");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;
  gchar *debug = NULL;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_sink_caps_str (h, caps_text);
  gst_harness_play (h);
  message =
      gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "%s was not refused", caps_text);
  gst_message_parse_error (message, &error, &debug);
  fail_unless (
      g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION));
  fail_unless (strstr (debug, "40x40 to 4096x4096") != NULL, "%s", debug);
  fail_unless (strstr (debug, words) != NULL, "%s", debug);
  g_clear_error (&error);
  g_free (debug);
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_START_TEST (test_refused)
{
  refused ("video/x-raw, format=GRAY8, width=39, height=96", "(int)39");
  refused ("video/x-raw, format=GRAY8, width=96, height=5000", "(int)5000");
  refused ("video/x-raw, format=RGB, width=96, height=96", "RGB");
  refused ("video/x-raw, format=GRAY8, framerate=1000001/1", "1000001/1");
  refused ("video/x-raw, format=GRAY8, framerate=0/1", "0/1");
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  GstElement *pipeline = gst_parse_launch (
      "pbftestsrc frames-per-list=16 pre-render=20 name=s ! fakesink", NULL);
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "s");

  for (guint i = 0; i < 50; i++) {
    g_object_set (src, "is-live", i % 2, "pre-render", i % 3 * 10, NULL);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    if (i % 5 == 0)
      g_usleep (2000);
    if (i % 2 == 0)
      gst_element_get_state (pipeline, NULL, NULL, 5 * GST_SECOND);
    fail_unless_equals_int (gst_element_set_state (pipeline,
                                i % 4 < 2 ? GST_STATE_NULL : GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_properties)
{
  GstElement *src = gst_element_factory_make ("pbftestsrc", NULL);
  static const gchar *regimes[] = { "nominal", "keyhole", "lack-of-fusion",
    "spatter", "drift", "mixed", "build" };
  PbfSimMachine initial;
  gdouble gain, full_scale, size, elongation, speed, rate, severity, noise;
  guint seed, list, pre;
  gboolean live;
  gint64 offset;
  gint regime;

  g_object_get (src, "seed", &seed, "regime", &regime, "frames-per-list", &list,
      "pre-render", &pre, "is-live", &live, "timestamp-offset", &offset, NULL);
  fail_unless (seed == 0 && regime == GST_CVIS_PBF_REGIME_NOMINAL && list == 0
               && pre == 0 && !live && offset == 0);
  pbf_sim_machine_init (&initial);
  g_object_get (src, "gain", &gain, "full-scale", &full_scale, "pool-size",
      &size, "elongation", &elongation, "scan-speed", &speed, "spatter-rate",
      &rate, "severity", &severity, "noise", &noise, NULL);
  fail_unless (gain == initial.gain && full_scale == initial.full_scale
               && size == initial.pool_size && elongation == initial.elongation
               && speed == initial.scan_speed && rate == initial.spatter_rate
               && severity == initial.severity && noise == initial.noise);
  for (guint i = 0; i < G_N_ELEMENTS (regimes); i++) {
    gst_util_set_object_arg (G_OBJECT (src), "regime", regimes[i]);
    g_object_get (src, "regime", &regime, NULL);
    fail_unless_equals_int (regime, i);
  }
  gst_object_unref (src);
}
GST_END_TEST;

/* The properties of the machine reach the simulator, its truth the meta. */
GST_START_TEST (test_machine)
{
  GstHarness *h = gst_harness_new_parse (
      "pbftestsrc regime=build seed=4 gain=0.8 noise=5 blur=1 background=9 "
      "full-scale=200 pool-size=1.2 elongation=1.1 scan-speed=2 "
      "spatter-rate=2 offset-x=1 offset-y=-1 severity=0.75 ! "
      "capsfilter caps=video/x-raw,width=48,height=48,framerate=20000/1");
  const PbfSimMachine machine = { 0.8, 5, 1, 9, 200, 1.2, 1.1, 2, 2, 1, -1,
    0.75 };
  const PbfSimConfig config = { 48, 48, 20000, 1, 4, PBF_SIM_BUILD, &machine };
  PbfSim *sim = pbf_sim_new (&config, NULL);
  guint8 pixels[48 * 48];
  gdouble severity = 0;

  fail_unless (sim != NULL);
  gst_harness_play (h);
  for (guint n = 0; n < 6000; n++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstCvisPbfTruthMeta *meta = gst_cvis_buffer_get_pbf_truth_meta (buffer);
    CvisPbfSignal signal;
    PbfSimTruth truth;

    pbf_sim_render (sim, n, pixels, 48, &signal, &truth);
    fail_unless_equals_int (
        gst_buffer_memcmp (buffer, 0, pixels, sizeof pixels), 0);
    fail_unless_equals_int (meta->regime, truth.regime);
    fail_unless_equals_float (meta->severity, truth.severity);
    fail_unless_equals_float (meta->drift, truth.drift);
    severity = MAX (severity, truth.severity);
    gst_buffer_unref (buffer);
  }
  fail_unless (severity > 0.1 && severity <= 0.75);
  pbf_sim_free (sim);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* EOS sent to the element ends an endless stream, live or not. */
GST_START_TEST (test_eos)
{
  for (guint live = 0; live < 2; live++) {
    Watch *w = watch_new (live ? "pbftestsrc name=s is-live=true ! fakesink"
                               : "pbftestsrc name=s ! fakesink");
    gchar *error;

    gst_element_set_state (w->pipeline, GST_STATE_PLAYING);
    /* GstBin sends under its state lock, and GstBaseSrc then waits for the
     * streaming thread, which may wait for the sink to play: send it only
     * while playing */
    fail_unless_equals_int (
        gst_element_get_state (w->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
        GST_STATE_CHANGE_SUCCESS);
    g_usleep (10000);
    fail_unless (gst_element_send_event (w->pipeline, gst_event_new_eos ()));
    error = watch_run (w);
    fail_unless (error == NULL, "%s", error);
    watch_free (w);
  }
}
GST_END_TEST;

/* --- seeks ------------------------------------------------------------------ */

/* at 30/1 the timestamps of frames are rounded */
#define SEEK_SINK                                                              \
  " ! video/x-raw,width=48,height=40,framerate=30/1 ! fakesink sync=false"

typedef struct {
  guint64 frame;
  GstClockTime pts, running, running_end;
  guint32 crc; /* of the pixels and the record */
} Seen;

/* All frames since the last flush. */
typedef struct {
  GstElement *pipeline, *src;
  GstClockTime offset; /* of the timestamps */
  GMutex lock;
  GArray *seen;
  GstSegment segment;
} Seeker;

static void
note_frame (Seeker *k, GstBuffer *buffer)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstClockTime end = pts + GST_BUFFER_DURATION (buffer);
  Seen seen = { GST_BUFFER_OFFSET (buffer), pts,
    gst_segment_to_running_time (&k->segment, GST_FORMAT_TIME, pts),
    gst_segment_to_running_time (&k->segment, GST_FORMAT_TIME, end),
    gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal.crc32c };
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  seen.crc ^= pbf_crc32c (map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  g_array_append_val (k->seen, seen);
}

static GstPadProbeReturn
note_flow (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Seeker *k = data;

  g_mutex_lock (&k->lock);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    note_frame (k, GST_PAD_PROBE_INFO_BUFFER (info));
  } else if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);

    for (guint i = 0; i < gst_buffer_list_length (list); i++)
      note_frame (k, gst_buffer_list_get (list, i));
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_SEGMENT) {
    gst_event_copy_segment (info->data, &k->segment);
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_FLUSH_STOP) {
    g_array_set_size (k->seen, 0);
  }
  g_mutex_unlock (&k->lock);
  return GST_PAD_PROBE_OK;
}

static Seeker *
seeker_new (const gchar *settings)
{
  Seeker *k = g_new0 (Seeker, 1);
  gchar *line = g_strdup_printf (
      "pbftestsrc name=s regime=spatter %s" SEEK_SINK, settings);
  gint64 offset;
  GstPad *pad;

  k->pipeline = gst_parse_launch (line, NULL);
  k->src = gst_bin_get_by_name (GST_BIN (k->pipeline), "s");
  g_object_get (k->src, "timestamp-offset", &offset, NULL);
  k->offset = (GstClockTime) offset;
  g_mutex_init (&k->lock);
  k->seen = g_array_new (FALSE, FALSE, sizeof (Seen));
  pad = gst_element_get_static_pad (k->src, "src");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST
          | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
          | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      note_flow, k, NULL);
  gst_object_unref (pad);
  g_free (line);
  return k;
}

static void
seeker_free (Seeker *k)
{
  gst_element_set_state (k->pipeline, GST_STATE_NULL);
  gst_object_unref (k->src);
  gst_object_unref (k->pipeline);
  g_array_unref (k->seen);
  g_mutex_clear (&k->lock);
  g_free (k);
}

static void
seeker_preroll (Seeker *k)
{
  gst_element_set_state (k->pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (
      gst_element_get_state (k->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
      GST_STATE_CHANGE_SUCCESS);
}

/* Plays until a message of @type. */
static void
seeker_play (Seeker *k, GstMessageType type)
{
  GstBus *bus = gst_element_get_bus (k->pipeline);
  GstMessage *message;

  gst_element_set_state (k->pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_SEGMENT_DONE | GST_MESSAGE_ERROR);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), type);
  gst_message_unref (message);
  gst_object_unref (bus);
}

static GstClockTime
pts_of (Seeker *k, guint64 frame)
{
  return k->offset + gst_util_uint64_scale (frame, GST_SECOND, 30);
}

/* Seeks to frames @first to @end - 1, with both times slightly later. */
static void
seeker_seek (Seeker *k, gdouble rate, GstSeekFlags flags, guint64 first,
    guint64 end, guint later)
{
  fail_unless (gst_element_seek (k->pipeline, rate, GST_FORMAT_TIME, flags,
      GST_SEEK_TYPE_SET, (gint64) pts_of (k, first) + later, GST_SEEK_TYPE_SET,
      (gint64) pts_of (k, end) + later));
}

/* Frames number @at and following were @first, ... @last, with the same
 * contents as without a seek. */
static void
expect_frames (
    Seeker *k, guint at, guint64 first, guint64 last, const GArray *plain)
{
  gint step = first <= last ? 1 : -1;
  guint n = (guint) ((gint64) (last - first) * step) + 1;

  g_mutex_lock (&k->lock);
  fail_unless (k->seen->len >= at + n, "%u frames", k->seen->len);
  for (guint i = 0; i < n; i++) {
    const Seen *seen = &g_array_index (k->seen, Seen, at + i);
    guint64 frame = first + (guint64) (gint64) ((gint) i * step);

    fail_unless_equals_uint64 (seen->frame, frame);
    fail_unless_equals_uint64 (seen->pts, pts_of (k, frame));
    fail_unless_equals_int (seen->crc, g_array_index (plain, Seen, frame).crc);
  }
  g_mutex_unlock (&k->lock);
}

static void
expect_length (Seeker *k, guint n)
{
  g_mutex_lock (&k->lock);
  fail_unless_equals_int (k->seen->len, n);
  g_mutex_unlock (&k->lock);
}

/* Running times are contiguous. */
static void
expect_no_gaps (Seeker *k)
{
  for (guint i = 1; i < k->seen->len; i++)
    fail_unless_equals_uint64 (g_array_index (k->seen, Seen, i).running,
        g_array_index (k->seen, Seen, i - 1).running_end);
}

static const gchar *seek_settings[] = { "", "frames-per-list=1",
  "frames-per-list=7", "pre-render=50 frames-per-list=8",
  "timestamp-offset=1000000007 frames-per-list=3" };

/* Output of @settings without a seek. */
static GArray *
frames_without_seek (const gchar *settings)
{
  gchar *line = g_strdup_printf ("%s num-buffers=130", settings);
  Seeker *k = seeker_new (line);
  GArray *seen;

  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 130);
  seen = g_array_ref (k->seen);
  seeker_free (k);
  g_free (line);
  return seen;
}

GST_START_TEST (test_flushing_seeks)
{
  static const guint64 frames[] = { 25, 7, 0, 120 };
  const GstSeekFlags flush = GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE;
  GArray *plain = frames_without_seek (seek_settings[__i__]);
  Seeker *k = seeker_new (seek_settings[__i__]);

  seeker_preroll (k);
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    for (guint later = 0; later < 2000; later += 1000) {
      fail_unless (gst_element_seek_simple (k->pipeline, GST_FORMAT_TIME, flush,
          (gint64) pts_of (k, frames[i]) + later));
      seeker_preroll (k);
      expect_frames (k, 0, frames[i], frames[i], plain);
    }
  }
  /* a frame that begins before the stop is included */
  seeker_seek (k, 1.0, flush, 10, 20, 0);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 10);
  expect_frames (k, 0, 10, 19, plain);
  expect_no_gaps (k);
  seeker_seek (k, 1.0, flush, 30, 60, 5);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 31);
  expect_frames (k, 0, 30, 60, plain);
  /* backwards */
  seeker_seek (k, -1.0, flush, 0, 26, 0);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 26);
  expect_frames (k, 0, 25, 0, plain);
  seeker_seek (k, -1.0, flush, 3, 9, 0);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 6);
  expect_frames (k, 0, 8, 3, plain);
  seeker_free (k);
  g_array_unref (plain);
}
GST_END_TEST;

/* Consecutive segments without a flush: the running time continues. */
GST_START_TEST (test_segment_seeks)
{
  GArray *plain = frames_without_seek (seek_settings[__i__]);
  Seeker *k = seeker_new (seek_settings[__i__]);

  seeker_preroll (k);
  seeker_seek (k, 1.0, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, 3, 29, 0);
  seeker_play (k, GST_MESSAGE_SEGMENT_DONE);
  seeker_seek (k, 1.0, GST_SEEK_FLAG_SEGMENT, 20, 24, 0);
  seeker_play (k, GST_MESSAGE_SEGMENT_DONE);
  seeker_seek (k, 1.0, GST_SEEK_FLAG_NONE, 0, 2, 0);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 26 + 4 + 2);
  expect_frames (k, 0, 3, 28, plain);
  expect_frames (k, 26, 20, 23, plain);
  expect_frames (k, 30, 0, 1, plain);
  expect_no_gaps (k);
  seeker_free (k);
  g_array_unref (plain);
}
GST_END_TEST;

/* A seek without a flush in the middle of the stream */
GST_START_TEST (test_seek_in_flow)
{
  GArray *plain = frames_without_seek (seek_settings[__i__]);
  Seeker *k = seeker_new (seek_settings[__i__]);

  gst_element_set_state (k->pipeline, GST_STATE_PLAYING);
  /* such a seek waits for the streaming thread, which waits for a sink that
   * is not yet playing */
  fail_unless_equals_int (
      gst_element_get_state (k->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
      GST_STATE_CHANGE_SUCCESS);
  seeker_seek (k, 1.0, GST_SEEK_FLAG_NONE, 5, 9, 0);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_frames (k, k->seen->len - 4, 5, 8, plain);
  expect_no_gaps (k);
  seeker_free (k);
  g_array_unref (plain);
}
GST_END_TEST;

/* num-buffers also ends the stream for seeks; a seek may come before the
 * stream. */
GST_START_TEST (test_seeks_at_the_ends)
{
  GArray *plain = frames_without_seek ("");
  Seeker *k = seeker_new ("num-buffers=50 frames-per-list=16");

  gst_element_set_state (k->pipeline, GST_STATE_READY);
  fail_unless (gst_element_send_event (k->src,
      gst_event_new_seek (1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
          GST_SEEK_TYPE_SET, (gint64) pts_of (k, 41), GST_SEEK_TYPE_NONE, -1)));
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 9);
  expect_frames (k, 0, 41, 49, plain);
  seeker_seek (k, 1.0, GST_SEEK_FLAG_FLUSH, 60, 70, 0);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 0);
  seeker_seek (k, 1.0, GST_SEEK_FLAG_FLUSH, 48, 70, 0);
  seeker_play (k, GST_MESSAGE_EOS);
  expect_length (k, 2);
  expect_frames (k, 0, 48, 49, plain);
  seeker_free (k);
  g_array_unref (plain);
}
GST_END_TEST;

static Suite *
pbftestsrc_suite (void)
{
  Suite *s = suite_create ("pbftestsrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_default_caps);
  tcase_add_test (tc, test_caps);
  tcase_add_test (tc, test_counts_and_bytes);
  tcase_add_test (tc, test_pre_render);
  tcase_add_test (tc, test_recycled);
  tcase_add_test (tc, test_timestamp_offset);
  tcase_add_test (tc, test_live);
  tcase_add_test (tc, test_live_pause);
  tcase_add_test (tc, test_queries);
  tcase_add_test (tc, test_renegotiate);
  tcase_add_test (tc, test_downstream_pool);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_properties);
  tcase_add_test (tc, test_machine);
  tcase_add_test (tc, test_eos);
  tcase_add_loop_test (
      tc, test_flushing_seeks, 0, G_N_ELEMENTS (seek_settings));
  tcase_add_loop_test (tc, test_segment_seeks, 0, G_N_ELEMENTS (seek_settings));
  tcase_add_loop_test (tc, test_seek_in_flow, 0, G_N_ELEMENTS (seek_settings));
  tcase_add_test (tc, test_seeks_at_the_ends);
  return s;
}

GST_CHECK_MAIN (pbftestsrc);
