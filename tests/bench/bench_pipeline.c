/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What cudapbfmonitor costs beside the engine inside it: the same frames in the
 * same batches through the library alone, through the bare element (lists
 * pushed into its sink pad, counted at its source pad), and through
 * pbftestsrc ! cudapbfmonitor ! fakesink, in turns, best of the rounds.
 *
 *   bench_pipeline [backend=cpu|cuda] [threads] [frames in thousands] */
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#include "cvishistogram.h"
#include "pbfframes.h"

#define SIDE 96
#define LIST 256
#define LISTS 8  /* distinct ones, 19 MB of frames */
#define GROUP 32 /* lists that are pushed in one go */
#define ROUNDS 5
#define CAPS "video/x-raw,format=GRAY8,width=96,height=96,framerate=20000/1"

typedef struct {
  const gchar *backend;
  guint threads;
  guint lists; /* in a round */
  GstMemory *slab;
  guint8 *pixels;
} Setup;

static void
fill_frames (Setup *setup)
{
  const gsize size = (gsize) LISTS * LIST * SIDE * SIDE;
  PbfRandom random = { 1 };
  GstMapInfo map;

  setup->slab = gst_allocator_alloc (NULL, size, NULL);
  gst_memory_map (setup->slab, &map, GST_MAP_READWRITE);
  setup->pixels = map.data;
  for (guint i = 0; i < LISTS * LIST; i++)
    pbf_frame_fill (
        &random, 0, setup->pixels + i * SIDE * SIDE, SIDE, SIDE, SIDE);
  gst_memory_unmap (setup->slab, &map);
}

/* --- the library alone ----------------------------------------------------- */

static gdouble
time_engine (const Setup *setup)
{
  CvisBackend active, wanted = strcmp (setup->backend, "cuda") == 0
                                   ? CVIS_BACKEND_CUDA
                                   : CVIS_BACKEND_CPU;
  CvisContext *context = NULL;
  GError *error = NULL;
  PbfConfig config;
  PbfEngine *engine;
  PbfBatch batches[2] = { { 0 } }, *done;
  const guint8 *frames[2][LIST];
  guint strides[LIST];
  PbfFrameInfo infos[LIST] = { { 0 } };
  guint64 begin;

  if (!cvis_backend_choose (wanted, -1, &active, &context, NULL, &error))
    g_error ("%s", error->message);
  pbf_config_init (&config);
  config.threads = setup->threads;
  config.max_batch = LIST;
  engine = pbf_engine_new (&config, NULL, context, &error);
  if (engine == NULL)
    g_error ("%s", error->message);
  for (guint i = 0; i < LIST; i++) {
    strides[i] = SIDE;
    infos[i].position = PBF_POSITION_BRIGHTEST;
    infos[i].entry = PBF_ENTER_IF_LIT;
  }
  for (guint b = 0; b < 2; b++) {
    batches[b].n = LIST;
    batches[b].frames = frames[b];
    batches[b].strides = strides;
    batches[b].infos = infos;
    batches[b].results = g_new0 (PbfResult, LIST);
  }

  begin = cvis_monotonic_ns ();
  for (guint k = 0; k < setup->lists; k++) {
    PbfBatch *batch = &batches[k % 2];
    for (guint i = 0; i < LIST; i++)
      frames[k % 2][i] =
          setup->pixels + (k % LISTS * LIST + i) * (gsize) SIDE * SIDE;
    if (!pbf_engine_submit (engine, batch, &error)
        || (k > 0 && !pbf_engine_wait (engine, &done, &error)))
      g_error ("%s", error->message);
  }
  pbf_engine_wait (engine, &done, &error);
  begin = cvis_monotonic_ns () - begin;

  pbf_engine_free (engine);
  g_free (batches[0].results);
  g_free (batches[1].results);
  g_clear_pointer (&context, cvis_context_unref);
  return (gdouble) begin / ((gdouble) setup->lists * LIST);
}

/* --- the bare element ------------------------------------------------------ */

typedef struct {
  GMutex lock;
  GCond changed;
  guint lists;
} Counter;

static GstFlowReturn
count_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  Counter *counter = gst_pad_get_element_private (pad);

  gst_buffer_list_unref (list);
  g_mutex_lock (&counter->lock);
  counter->lists++;
  g_cond_signal (&counter->changed);
  g_mutex_unlock (&counter->lock);
  return GST_FLOW_OK;
}

static GstBufferList *
make_list (const Setup *setup, guint k)
{
  GstBufferList *list = gst_buffer_list_new_sized (LIST);

  for (guint i = 0; i < LIST; i++) {
    GstBuffer *buffer = gst_buffer_new ();
    gst_buffer_append_memory (buffer,
        gst_memory_share (setup->slab,
            (gssize) (k % LISTS * LIST + i) * SIDE * SIDE, SIDE * SIDE));
    gst_buffer_list_add (list, buffer);
  }
  return list;
}

static gdouble
time_element (const Setup *setup)
{
  gchar *line = g_strdup_printf (
      "cudapbfmonitor backend=%s threads=%u batch-size=%u message-interval=0 "
      "position-source=brightest",
      setup->backend, setup->threads, LIST);
  GstElement *element = gst_parse_launch (line, NULL);
  GstPad *src = gst_pad_new ("driver", GST_PAD_SRC);
  GstPad *sink = gst_pad_new ("counter", GST_PAD_SINK);
  GstPad *in, *out;
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstSegment segment;
  GstBufferList *lists[GROUP];
  Counter counter = { .lists = 0 };
  guint64 begin, time = 0;

  g_mutex_init (&counter.lock);
  g_cond_init (&counter.changed);
  g_assert (element != NULL);
  in = gst_element_get_static_pad (element, "sink");
  out = gst_element_get_static_pad (element, "src");
  gst_pad_set_chain_list_function (sink, count_list);
  gst_pad_set_element_private (sink, &counter);
  gst_pad_link (src, in);
  gst_pad_link (out, sink);
  gst_pad_set_active (sink, TRUE);
  gst_pad_set_active (src, TRUE);
  if (gst_element_set_state (element, GST_STATE_PLAYING)
      == GST_STATE_CHANGE_FAILURE)
    g_error ("cudapbfmonitor does not start");
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (src, gst_event_new_stream_start ("bench"));
  gst_pad_push_event (src, gst_event_new_caps (caps));
  gst_pad_push_event (src, gst_event_new_segment (&segment));
  /* buffers are made outside the measured time, few enough at once to be as
   * warm as those of a source that recycles them */
  for (guint done = 0; done < setup->lists; done += GROUP) {
    for (guint k = 0; k < GROUP; k++)
      lists[k] = make_list (setup, k);
    begin = cvis_monotonic_ns ();
    for (guint k = 0; k < GROUP; k++)
      if (gst_pad_push_list (src, lists[k]) != GST_FLOW_OK)
        g_error ("cudapbfmonitor refused a list");
    g_mutex_lock (&counter.lock);
    while (counter.lists < done + GROUP)
      g_cond_wait (&counter.changed, &counter.lock);
    g_mutex_unlock (&counter.lock);
    time += cvis_monotonic_ns () - begin;
  }

  gst_element_set_state (element, GST_STATE_NULL);
  gst_pad_set_active (src, FALSE);
  gst_pad_set_active (sink, FALSE);
  gst_object_unref (in);
  gst_object_unref (out);
  gst_object_unref (element);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_caps_unref (caps);
  g_free (line);
  return (gdouble) time / ((gdouble) setup->lists * LIST);
}

/* --- the whole pipeline ---------------------------------------------------- */

static gdouble
time_pipeline (const Setup *setup)
{
  gchar *line =
      g_strdup_printf ("pbftestsrc num-buffers=%u frames-per-list=%u ! "
                       "cudapbfmonitor backend=%s threads=%u batch-size=%u ! "
                       "fakesink sync=false",
          setup->lists * LIST, LIST, setup->backend, setup->threads, LIST);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);
  GstBus *bus;
  GstMessage *message;
  guint64 begin;

  if (pipeline == NULL)
    g_error ("%s", error->message);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  begin = cvis_monotonic_ns ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  begin = cvis_monotonic_ns () - begin;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    g_error ("the pipeline failed");
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
  return (gdouble) begin / ((gdouble) setup->lists * LIST);
}

int
main (int argc, char **argv)
{
  static gdouble (*const timers[]) (
      const Setup *) = { time_engine, time_element, time_pipeline };
  static const gchar *const names[] = { "engine alone",
    "through cudapbfmonitor", "pbftestsrc ! cudapbfmonitor ! fakesink" };
  gdouble best[G_N_ELEMENTS (timers)];
  Setup setup = { .backend = "cpu", .threads = 1, .lists = 200 };

  gst_init (&argc, &argv);
  if (argc > 1)
    setup.backend = argv[1];
  if (argc > 2)
    setup.threads = (guint) atoi (argv[2]);
  if (argc > 3)
    setup.lists = MAX (1, (guint) atoi (argv[3]) * 1000 / LIST);
  setup.lists = (setup.lists + GROUP - 1) / GROUP * GROUP;
  fill_frames (&setup);

  for (guint t = 0; t < G_N_ELEMENTS (timers); t++)
    best[t] = G_MAXDOUBLE;
  for (guint round = 0; round < ROUNDS; round++)
    for (guint t = 0; t < G_N_ELEMENTS (timers); t++)
      best[t] = MIN (best[t], timers[t](&setup));

  g_print ("backend %s, %u threads, %u frames of %dx%d in lists of %d\n",
      setup.backend, setup.threads, setup.lists * LIST, SIDE, SIDE, LIST);
  for (guint t = 0; t < G_N_ELEMENTS (timers); t++)
    g_print ("%-40s %8.1f ns/frame  %6.1f %%\n", names[t], best[t],
        100 * best[0] / best[t]);
  gst_memory_unref (setup.slab);
  return 0;
}
