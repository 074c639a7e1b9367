/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Promises of the streams of every element that computes (every
 * GstCvisFilter): no frame is lost, events keep their order on each pad,
 * request pads come and go and need no queue, and flushes and shutdowns end
 * every wait. Each element is one entry of the table. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>

#include "busmessages.h"
#include "pipelinestates.h"

#define MAX_PADS 6
#define N_FRAMES 24
/* exceeds the queue of a request pad */
#define MANY 260

#define VIDEO(format, width, height)                                           \
  "videotestsrc pattern=ball ! capsfilter caps=video/x-raw,format=" format     \
  ",width=" width ",height=" height ",framerate=50/1"
#define GREY VIDEO ("GRAY8", "64", "48")
#define LARGER_GREY VIDEO ("GRAY8", "96", "80")
/* for elements that scripts/new-element writes */
#define TENSORS(size)                                                          \
  "surfacetestsrc ! capsfilter caps=other/tensors,dimensions=(string)" size    \
  ":1:1,framerate=50/1"
#define SURFACE TENSORS ("64:48")
#define LARGER_SURFACE TENSORS ("96:80")

/* An element with its settings, sources of two frame formats, and its
 * request pads, by either name. */
static const struct {
  const gchar *name, *sources[2], *pads[MAX_PADS];
} filters[] = {
  { "cudapbfmonitor batch-size=4 max-latency=1000000000", { GREY, LARGER_GREY },
      { "src_result" } },
  { "cudapbfmonitor max-latency=0", { GREY, LARGER_GREY }, { "src_result" } },
  { "cudamotionest", { GREY, VIDEO ("I420", "96", "80") },
      { "src_vectors", "src_prediction", "src_residual" } },
  { "cudamotionest bidirectional=true references=2", { GREY, LARGER_GREY },
      { "src_vectors", "src_prediction", "src_residual" } },
  { "cudalwtfilter filter=wavelet-decimated levels=3 roughness-levels=2 "
    "noise-levels=1",
      { GREY, LARGER_GREY },
      { "src_roughness", "src_waviness", "src_form", "src_noise",
          "src_bands" } },
  /* without request pads */
  { "cudadenoise radius=1", { GREY, VIDEO ("I420", "96", "80") }, { NULL } },
  { "cudadenoise mode=wavelets levels=2", { GREY, LARGER_GREY }, { NULL } },
  /* over three posed devices */
  { "cudalwtfilter levels=3 roughness-levels=2 cuda-device-ids=all threads=1",
      { GREY, LARGER_GREY }, { "src_waviness", "src_form" } },
  { "cudadenoise mode=wavelets levels=2 cuda-device-ids=all threads=1",
      { GREY, LARGER_GREY }, { NULL } },
  { "cudadenoise radius=1 cuda-device-ids=all threads=1",
      { GREY, VIDEO ("I420", "96", "80") }, { NULL } },
};

static guint
count_pads (guint which)
{
  guint n = 0;

  while (n < MAX_PADS && filters[which].pads[n] != NULL)
    n++;
  return n;
}

/* --- frames ------------------------------------------------------------------ */

typedef struct {
  GstCaps *caps;
  GPtrArray *buffers;
} Frames;

static Frames
frames_new (guint which, guint format, guint n)
{
  GstHarness *h = gst_harness_new_parse (filters[which].sources[format]);
  Frames frames = { .buffers = g_ptr_array_new_with_free_func (
                        (GDestroyNotify) gst_buffer_unref) };

  gst_harness_play (h);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (frames.buffers, gst_harness_pull (h));
  frames.caps = gst_pad_get_current_caps (h->sinkpad);
  gst_harness_teardown (h);
  return frames;
}

static void
frames_free (Frames *frames)
{
  gst_caps_unref (frames->caps);
  g_ptr_array_unref (frames->buffers);
}

/* --- an element between harnesses, one for each pad ---------------------- */

typedef struct {
  GstElement *element;
  GstHarness *h, *sides[MAX_PADS];
  GstBus *bus;
  guint n_sides;
} Rig;

static GstElement *
make_element (guint which)
{
  const gboolean posed =
      strstr (filters[which].name, "cuda-device-ids") != NULL;
  gchar *line = g_strdup_printf (
      "%s%s", filters[which].name, posed ? "" : " backend=cpu");
  GError *error = NULL;
  GstElement *element = gst_parse_launch (line, &error);

  g_assert_no_error (error);
  g_free (line);
  return element;
}

/* With @n_sides request pads; @src: %NULL: the source pad is not linked. */
static Rig
rig_new_with (guint which, const gchar *src, guint n_sides)
{
  Rig rig = { .element = make_element (which), .n_sides = n_sides };

  rig.bus = gst_bus_new ();
  gst_element_set_bus (rig.element, rig.bus);
  rig.h = gst_harness_new_with_element (rig.element, "sink", src);
  for (guint i = 0; i < rig.n_sides; i++)
    rig.sides[i] = gst_harness_new_with_element (
        rig.element, NULL, filters[which].pads[i]);
  return rig;
}

static Rig
rig_new (guint which)
{
  return rig_new_with (which, "src", count_pads (which));
}

static void
rig_free (Rig *rig)
{
  for (guint i = 0; i < rig->n_sides; i++)
    gst_harness_teardown (rig->sides[i]);
  gst_harness_teardown (rig->h);
  gst_bus_set_flushing (rig->bus, TRUE);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->element);
}

static GstHarness *
rig_get (Rig *rig, guint pad)
{
  return pad == 0 ? rig->h : rig->sides[pad - 1];
}

static void
rig_set_caps (Rig *rig, const Frames *frames)
{
  gst_harness_set_src_caps (rig->h, gst_caps_ref (frames->caps));
}

static void
push_frames (Rig *rig, const Frames *frames, guint n)
{
  for (guint i = 0; i < n; i++)
    fail_unless_equals_int (
        gst_harness_push (rig->h,
            gst_buffer_copy (
                g_ptr_array_index (frames->buffers, i % frames->buffers->len))),
        GST_FLOW_OK);
}

static void
push_eos (Rig *rig)
{
  fail_unless (gst_harness_push_event (rig->h, gst_event_new_eos ()));
}

/* Waits for an event of @type on @h and drops events before it. */
static void
wait_for_event (GstHarness *h, GstEventType type)
{
  GstEventType got;

  do {
    GstEvent *event = gst_harness_pull_event (h);

    fail_unless (event != NULL, "no %s", gst_event_type_get_name (type));
    got = GST_EVENT_TYPE (event);
    gst_event_unref (event);
  } while (got != type);
}

static void
drop_buffers (GstHarness *h)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h)) != NULL)
    gst_buffer_unref (buffer);
}

/* Ends the stream; every pad has received caps, some buffers and EOS. */
static void
finish_stream (Rig *rig)
{
  push_eos (rig);
  for (guint i = 0; i <= rig->n_sides; i++) {
    GstHarness *h = rig_get (rig, i);

    wait_for_event (h, GST_EVENT_EOS);
    fail_unless (gst_harness_buffers_in_queue (h) > 0, "pad %u", i);
    drop_buffers (h);
  }
}

/* --- order ------------------------------------------------------------------------ */

static GstPadProbeReturn
note_order (GstPad *pad, GstPadProbeInfo *info, gpointer order)
{
  gchar c = 'b';

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
    switch (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))) {
      case GST_EVENT_STREAM_START:
        c = 'S';
        break;
      case GST_EVENT_CAPS:
        c = 'C';
        break;
      case GST_EVENT_SEGMENT:
        c = 'G';
        break;
      case GST_EVENT_EOS:
        c = 'E';
        break;
      default:
        return GST_PAD_PROBE_OK;
    }
  g_string_append_c (order, c);
  return GST_PAD_PROBE_OK;
}

static GString *
watch_order (GstHarness *h)
{
  GString *order = g_string_new (NULL);

  gst_pad_add_probe (h->sinkpad,
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER
          | GST_PAD_PROBE_TYPE_BUFFER_LIST,
      note_order, order, NULL);
  return order;
}

/* Checks that @order is S C G b.. (C b..) (C b..) E, and frees it: caps
 * where they change, possibly twice before a buffer. */
static void
check_order (GString *order, guint pad, guint least_caps)
{
  guint n_caps = 0, n_buffers = 0;

  fail_unless (g_str_has_prefix (order->str, "SCG")
                   || g_str_has_prefix (order->str, "SCCG"),
      "pad %u: %s", pad, order->str);
  fail_unless (
      g_str_has_suffix (order->str, "bE"), "pad %u: %s", pad, order->str);
  for (const gchar *c = order->str; *c != '\0'; c++) {
    n_caps += *c == 'C';
    n_buffers += *c == 'b';
  }
  fail_unless (
      n_caps >= least_caps && n_buffers > 0, "pad %u: %s", pad, order->str);
  g_string_free (order, TRUE);
}

/* Two formats in a stream: order of events and buffers on each pad. */
GST_START_TEST (test_order_and_renegotiation)
{
  Frames frames = frames_new (__i__, 0, 6), others = frames_new (__i__, 1, 6);
  Rig rig = rig_new (__i__);
  GString *orders[MAX_PADS + 1];
  guint n_buffers;

  for (guint i = 0; i <= rig.n_sides; i++)
    orders[i] = watch_order (rig_get (&rig, i));
  rig_set_caps (&rig, &frames);
  push_frames (&rig, &frames, 6);
  rig_set_caps (&rig, &others);
  push_frames (&rig, &others, 6);
  push_eos (&rig);
  for (guint i = 0; i <= rig.n_sides; i++)
    wait_for_event (rig_get (&rig, i), GST_EVENT_EOS);
  n_buffers = gst_harness_buffers_in_queue (rig.h);
  fail_unless_equals_int (n_buffers, 12);
  rig_free (&rig);
  for (guint i = 0; i <= count_pads (__i__); i++)
    check_order (orders[i], i, i == 0 ? 2 : 1);
  frames_free (&others);
  frames_free (&frames);
}
GST_END_TEST;

/* A stream without frames ends on every pad. */
GST_START_TEST (test_nothing_but_eos)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);

  rig_set_caps (&rig, &frames);
  push_eos (&rig);
  for (guint i = 0; i <= rig.n_sides; i++)
    wait_for_event (rig_get (&rig, i), GST_EVENT_EOS);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* A branch that is added after, or during, EOS receives EOS too; without it
 * its sink would block the pipeline. */
GST_START_TEST (test_late_branch)
{
  Frames frames = frames_new (__i__, 0, 6);

  for (guint k = 0; k < 20; k++) {
    Rig rig = rig_new_with (__i__, "src", 0);

    rig_set_caps (&rig, &frames);
    push_frames (&rig, &frames, 6);
    push_eos (&rig);
    if (k == 0)
      wait_for_event (rig.h, GST_EVENT_EOS);
    for (rig.n_sides = 0; rig.n_sides < count_pads (__i__); rig.n_sides++)
      rig.sides[rig.n_sides] = gst_harness_new_with_element (
          rig.element, NULL, filters[__i__].pads[rig.n_sides]);
    for (guint i = 0; i < rig.n_sides; i++)
      wait_for_event (rig.sides[i], GST_EVENT_EOS);
    rig_free (&rig);
  }
  frames_free (&frames);
}
GST_END_TEST;

GST_START_TEST (test_without_caps)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (rig.h->srcpad, gst_event_new_stream_start ("s"));
  gst_pad_push_event (rig.h->srcpad, gst_event_new_segment (&segment));
  fail_unless_equals_int (
      gst_pad_push (rig.h->srcpad, gst_buffer_ref (frames.buffers->pdata[0])),
      GST_FLOW_NOT_NEGOTIATED);
  bus_expect_error (rig.bus, "without caps");
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* A second stream starts with its own events on every pad. */
GST_START_TEST (test_streams)
{
  Frames frames = frames_new (__i__, 0, 6);
  Rig rig = rig_new (__i__);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint k = 0; k < 3; k++) {
    gchar *id = g_strdup_printf ("stream-%u", k);

    gst_harness_push_event (rig.h, gst_event_new_stream_start (id));
    rig_set_caps (&rig, &frames);
    gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
    push_frames (&rig, &frames, 6);
    finish_stream (&rig);
    g_free (id);
  }
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

static guint64
get_count (Rig *rig, const gchar *name)
{
  GstStructure *stats = NULL;
  guint64 value = G_MAXUINT64;

  g_object_get (rig->element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, name, &value);
  gst_structure_free (stats);
  return value;
}

/* Counts begin again; all have latencies. */
GST_START_TEST (test_reset_stats)
{
  Frames frames = frames_new (__i__, 0, 6);
  Rig rig = rig_new (__i__);

  rig_set_caps (&rig, &frames);
  push_frames (&rig, &frames, 6);
  finish_stream (&rig);
  fail_unless_equals_uint64 (get_count (&rig, "frames"), 6);
  fail_unless (get_count (&rig, "latency-p50") > 0);
  g_signal_emit_by_name (rig.element, "reset-stats");
  fail_unless_equals_uint64 (get_count (&rig, "frames"), 0);
  fail_unless_equals_uint64 (get_count (&rig, "latency-max"), 0);
  fail_unless_equals_uint64 (get_count (&rig, "late-frames"), 0);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* --- queries ------------------------------------------------------------------------- */

GST_START_TEST (test_latency)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);
  GstQuery *query = gst_query_new_latency (), *drain = gst_query_new_drain ();
  GstClockTime min, max, of_side;
  gboolean live;

  rig_set_caps (&rig, &frames);
  push_frames (&rig, &frames, 1);
  /* a slow frame adds to the latency */
  gst_pad_peer_query (rig.h->srcpad, drain);
  gst_query_unref (drain);
  gst_harness_set_upstream_latency (rig.h, 3 * GST_MSECOND);
  fail_unless (gst_pad_peer_query (rig.h->sinkpad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (min > 3 * GST_MSECOND, "the element itself adds nothing");
  fail_unless (min < 3 * GST_MSECOND + 10 * GST_SECOND);
  for (guint i = 0; i < rig.n_sides; i++) {
    fail_unless (gst_pad_peer_query (rig.sides[i]->sinkpad, query));
    gst_query_parse_latency (query, &live, &of_side, &max);
    fail_unless_equals_uint64 (of_side, min);
  }
  gst_query_unref (query);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* Upstream learns how many buffers the element needs while some are in
 * flight. */
GST_START_TEST (test_allocation)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);
  GstQuery *query = gst_query_new_allocation (frames.caps, TRUE);
  guint size, min, max;

  rig_set_caps (&rig, &frames);
  push_frames (&rig, &frames, 1);
  fail_unless (gst_pad_peer_query (rig.h->srcpad, query));
  fail_unless (gst_query_get_n_allocation_pools (query) > 0);
  gst_query_parse_nth_allocation_pool (query, 0, NULL, &size, &min, &max);
  fail_unless (size >= gst_buffer_get_size (frames.buffers->pdata[0]));
  fail_unless (min >= 2, "%u buffers", min);
  fail_unless (max == 0 || max >= min);
  gst_query_unref (query);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* A DRAIN query pushes everything received so far. */
GST_START_TEST (test_drain)
{
  Frames frames = frames_new (__i__, 0, 7);
  Rig rig = rig_new (__i__);
  GstQuery *query = gst_query_new_drain ();

  rig_set_caps (&rig, &frames);
  push_frames (&rig, &frames, 7);
  gst_pad_peer_query (rig.h->srcpad, query);
  fail_unless_equals_int (gst_harness_buffers_in_queue (rig.h), 7);
  gst_query_unref (query);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* --- flushing --------------------------------------------------------------------------- */

static GstPadProbeReturn
block (GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  return GST_PAD_PROBE_OK;
}

#define BLOCKED                                                                \
  (GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER                        \
      | GST_PAD_PROBE_TYPE_BUFFER_LIST)

/* Blocks the element's pad linked to @h; unref it. */
static GstPad *
block_pad (GstHarness *h, gulong *probe)
{
  GstPad *pad = gst_pad_get_peer (h->sinkpad);

  *probe = gst_pad_add_probe (pad, BLOCKED, block, NULL, NULL);
  return pad;
}

typedef struct {
  Rig *rig;
  const Frames *frames;
  gint pushed; /* atomic */
} Pusher;

static gpointer
push_many (gpointer data)
{
  Pusher *pusher = data;
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; i < 4 * MANY && flow == GST_FLOW_OK; i++) {
    flow = gst_pad_push (pusher->rig->h->srcpad,
        gst_buffer_copy (g_ptr_array_index (
            pusher->frames->buffers, i % pusher->frames->buffers->len)));
    g_atomic_int_inc (&pusher->pushed);
  }
  return GINT_TO_POINTER (flow);
}

/* Waits until no more buffers are pushed. Returns: their number */
static gint
wait_until_stuck (Pusher *pusher)
{
  gint before = -1, now = 0;

  while (now == 0 || now != before) {
    before = now;
    g_usleep (150000);
    now = g_atomic_int_get (&pusher->pushed);
  }
  return now;
}

/* Pad @i % 2 (the source pad, or the first request pad) blocks, and upstream
 * waits: a flush ends both, and the next stream is complete. */
GST_START_TEST (test_flush_while_blocked)
{
  const guint which = (guint) __i__ / 2, pad = (guint) __i__ % 2;
  Frames frames = frames_new (which, 0, N_FRAMES);
  Rig rig = rig_new (which);
  Pusher pusher = { &rig, &frames, 0 };
  GstSegment segment;
  GThread *thread;
  GstPad *blocked;
  gulong probe;

  rig_set_caps (&rig, &frames);
  blocked = block_pad (rig_get (&rig, pad), &probe);
  thread = g_thread_new ("pusher", push_many, &pusher);
  fail_unless (wait_until_stuck (&pusher) < 4 * MANY);
  gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  fail_unless_equals_int (
      GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_FLUSHING);
  gst_pad_remove_probe (blocked, probe);
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  for (guint i = 0; i <= rig.n_sides; i++)
    drop_buffers (rig_get (&rig, i));

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  push_frames (&rig, &frames, N_FRAMES);
  push_eos (&rig);
  for (guint i = 0; i <= rig.n_sides; i++)
    wait_for_event (rig_get (&rig, i), GST_EVENT_EOS);
  fail_unless_equals_int (gst_harness_buffers_in_queue (rig.h), N_FRAMES);
  gst_object_unref (blocked);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* A FLUSH_STOP may come alone, and repeatedly. */
GST_START_TEST (test_flush_often)
{
  Frames frames = frames_new (__i__, 0, 6);
  Rig rig = rig_new (__i__);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  rig_set_caps (&rig, &frames);
  for (guint k = 0; k < 20; k++) {
    push_frames (&rig, &frames, k % 7);
    if (k % 2)
      gst_harness_push_event (rig.h, gst_event_new_flush_start ());
    gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  }
  for (guint i = 0; i <= rig.n_sides; i++)
    drop_buffers (rig_get (&rig, i));
  push_frames (&rig, &frames, 6);
  finish_stream (&rig);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* --- branches ------------------------------------------------------------------------------ */

/* A blocked branch makes upstream wait once its queue is full; nothing is
 * lost. */
GST_START_TEST (test_back_pressure)
{
  Frames frames = frames_new (__i__, 0, N_FRAMES);
  Rig rig = rig_new (__i__), free_rig = rig_new (__i__);
  Pusher pusher = { &rig, &frames, 0 }, other = { &free_rig, &frames, 0 };
  GThread *thread;
  GstPad *blocked;
  gulong probe;

  rig_set_caps (&rig, &frames);
  rig_set_caps (&free_rig, &frames);
  blocked = block_pad (rig.sides[0], &probe);
  thread = g_thread_new ("pusher", push_many, &pusher);
  fail_unless (wait_until_stuck (&pusher) < 4 * MANY);
  fail_unless (gst_harness_buffers_received (rig.h) > 0);
  gst_pad_remove_probe (blocked, probe);
  fail_unless_equals_int (
      GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_OK);
  fail_unless_equals_int (GPOINTER_TO_INT (push_many (&other)), GST_FLOW_OK);
  push_eos (&rig);
  push_eos (&free_rig);
  for (guint i = 0; i <= rig.n_sides; i++) {
    wait_for_event (rig_get (&rig, i), GST_EVENT_EOS);
    wait_for_event (rig_get (&free_rig, i), GST_EVENT_EOS);
    fail_unless_equals_int (gst_harness_buffers_received (rig_get (&rig, i)),
        gst_harness_buffers_received (rig_get (&free_rig, i)));
  }
  gst_object_unref (blocked);
  rig_free (&free_rig);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

static GstFlowReturn
chain_error (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

static gint n_refused; /* atomic */

static GstFlowReturn
chain_enough (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  g_atomic_int_inc (&n_refused);
  return GST_FLOW_EOS;
}

/* Pushes until the flow is no longer OK. */
static GstFlowReturn
push_until_refused (Rig *rig, const Frames *frames)
{
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; i < 4 * MANY && flow == GST_FLOW_OK; i++)
    flow = gst_pad_push (rig->h->srcpad,
        gst_buffer_copy (
            g_ptr_array_index (frames->buffers, i % frames->buffers->len)));
  return flow;
}

/* An error of any branch reaches upstream. */
GST_START_TEST (test_error_of_a_branch)
{
  Frames frames = frames_new (__i__, 0, N_FRAMES);

  for (guint i = 0; i <= count_pads (__i__); i++) {
    Rig rig = rig_new (__i__);

    gst_pad_set_chain_function (rig_get (&rig, i)->sinkpad, chain_error);
    rig_set_caps (&rig, &frames);
    fail_unless_equals_int (push_until_refused (&rig, &frames), GST_FLOW_ERROR);
    rig_free (&rig);
  }
  frames_free (&frames);
}
GST_END_TEST;

/* A branch refuses its caps after upstream has finished: one error is
 * posted. */
GST_START_TEST (test_refused_at_the_end)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);
  GstMessage *message;

  gst_harness_set_sink_caps_str (rig.sides[0], "text/plain");
  rig_set_caps (&rig, &frames);
  gst_harness_push (rig.h, gst_buffer_copy (frames.buffers->pdata[0]));
  gst_pad_push_event (rig.h->srcpad, gst_event_new_eos ());
  message =
      gst_bus_timed_pop_filtered (rig.bus, 20 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "no error was posted");
  gst_message_unref (message);
  g_usleep (20000);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR) == NULL);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* A branch that returns EOS does not stop the others; when all have,
 * upstream gets EOS, and EOS and another segment still pass. */
GST_START_TEST (test_branches_have_enough)
{
  Frames frames = frames_new (__i__, 0, N_FRAMES);
  Rig rig = rig_new (__i__);
  GstSegment segment;

  rig_set_caps (&rig, &frames);
  for (guint i = 1; i <= rig.n_sides; i++)
    gst_pad_set_chain_function (rig_get (&rig, i)->sinkpad, chain_enough);
  push_frames (&rig, &frames, N_FRAMES);
  gst_pad_set_chain_function (rig.h->sinkpad, chain_enough);
  fail_unless_equals_int (push_until_refused (&rig, &frames), GST_FLOW_EOS);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = GST_SECOND;
  fail_unless (
      gst_harness_push_event (rig.h, gst_event_new_segment (&segment)));
  fail_unless_equals_int (push_until_refused (&rig, &frames), GST_FLOW_EOS);
  push_eos (&rig);
  for (guint i = 0; i <= rig.n_sides; i++)
    wait_for_event (rig_get (&rig, i), GST_EVENT_EOS);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* Downstream that has returned EOS gets no more frames, but events: another
 * segment, and EOS, without which its sink would wait forever. */
GST_START_TEST (test_downstream_has_enough)
{
  Frames frames = frames_new (__i__, 0, N_FRAMES);
  Rig rig = rig_new_with (__i__, "src", 0);
  GstSegment segment;

  n_refused = 0;
  gst_pad_set_chain_function (rig.h->sinkpad, chain_enough);
  rig_set_caps (&rig, &frames);
  fail_unless_equals_int (push_until_refused (&rig, &frames), GST_FLOW_EOS);
  fail_unless_equals_int (g_atomic_int_get (&n_refused), 1);

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = GST_SECOND;
  fail_unless (
      gst_harness_push_event (rig.h, gst_event_new_segment (&segment)));
  fail_unless_equals_int (push_until_refused (&rig, &frames), GST_FLOW_EOS);
  fail_unless_equals_int (g_atomic_int_get (&n_refused), 2);
  push_eos (&rig);
  wait_for_event (rig.h, GST_EVENT_EOS);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* First only a request pad is linked, then nothing. */
GST_START_TEST (test_only_a_request_pad)
{
  Frames frames = frames_new (__i__, 0, N_FRAMES);
  Rig rig = rig_new_with (__i__, NULL, 1);

  rig_set_caps (&rig, &frames);
  push_frames (&rig, &frames, N_FRAMES);
  gst_buffer_unref (gst_harness_pull (rig.sides[0]));
  gst_harness_teardown (rig.sides[0]);
  rig.n_sides = 0;
  fail_unless_equals_int (
      push_until_refused (&rig, &frames), GST_FLOW_NOT_LINKED);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* A request pad is briefly inactive while it is requested or released. */
GST_START_TEST (test_inactive_request_pad)
{
  Frames frames = frames_new (__i__, 0, N_FRAMES);
  Rig rig = rig_new (__i__);

  rig_set_caps (&rig, &frames);
  for (guint i = 0; i < rig.n_sides; i++) {
    GstPad *pad =
        gst_element_get_static_pad (rig.element, filters[__i__].pads[i]);

    fail_unless (gst_pad_set_active (pad, FALSE));
    gst_object_unref (pad);
  }
  push_frames (&rig, &frames, N_FRAMES);
  push_eos (&rig);
  wait_for_event (rig.h, GST_EVENT_EOS);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

static gpointer
push_one_and_eos (gpointer data)
{
  Pusher *pusher = data;

  gst_pad_push (pusher->rig->h->srcpad,
      gst_buffer_copy (pusher->frames->buffers->pdata[0]));
  gst_pad_push_event (pusher->rig->h->srcpad, gst_event_new_eos ());
  return NULL;
}

/* Nothing is linked, which shows only after upstream has finished: an error
 * is posted. */
GST_START_TEST (test_unlinked_at_the_end)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new_with (__i__, NULL, 0);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  gulong probe = gst_pad_add_probe (src, BLOCKED, block, NULL, NULL);
  Pusher pusher = { &rig, &frames, 0 };
  GThread *thread;

  rig_set_caps (&rig, &frames);
  thread = g_thread_new ("pusher", push_one_and_eos, &pusher);
  g_usleep (50000);
  gst_pad_remove_probe (src, probe);
  g_thread_join (thread);
  bus_expect_error (rig.bus, "Internal data stream error");
  gst_object_unref (src);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* What came while nothing was linked leaves at most once, and in order, when something is,
 * before what comes then. */
GST_START_TEST (test_linked_later)
{
  Frames frames = frames_new (__i__, 0, 12);
  Rig rig = rig_new_with (__i__, NULL, 0);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  GstClockTime last = 0;
  GstBuffer *buffer;
  guint late = 0;

  rig_set_caps (&rig, &frames);
  for (guint i = 0; i < 6; i++)
    gst_harness_push (
        rig.h, gst_buffer_copy (g_ptr_array_index (frames.buffers, i)));
  g_usleep (20000);
  gst_harness_push_event (
      rig.h, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "a", NULL)));
  gst_harness_add_element_src_pad (rig.h, src);
  for (guint i = 6; i < 12; i++)
    fail_unless_equals_int (
        gst_harness_push (
            rig.h, gst_buffer_copy (g_ptr_array_index (frames.buffers, i))),
        GST_FLOW_OK);
  push_eos (&rig);
  wait_for_event (rig.h, GST_EVENT_EOS);
  while ((buffer = gst_harness_try_pull (rig.h)) != NULL) {
    fail_unless (last == 0 || GST_BUFFER_PTS (buffer) > last);
    last = GST_BUFFER_PTS (buffer);
    for (guint i = 6; i < 12; i++)
      late += last
              == GST_BUFFER_PTS (
                  (GstBuffer *) g_ptr_array_index (frames.buffers, i));
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (late, 6);
  gst_object_unref (src);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* --- shutdown ------------------------------------------------------------------------------ */

/* Events during a shutdown, source pad first, do not make upstream post an
 * error. */
GST_START_TEST (test_event_amid_shutdown)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");

  rig_set_caps (&rig, &frames);
  gst_pad_set_active (src, FALSE);
  gst_pad_push_event (
      rig.h->srcpad, gst_event_new_tag (gst_tag_list_new_empty ()));
  fail_unless_equals_int (
      gst_pad_push (rig.h->srcpad, gst_buffer_ref (frames.buffers->pdata[0])),
      GST_FLOW_FLUSHING);
  gst_object_unref (src);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

static gint shutting_down; /* atomic */

static gpointer
flush_often (gpointer data)
{
  GstHarness *h = data;

  while (g_atomic_int_get (&shutting_down)) {
    gst_pad_push_event (h->srcpad, gst_event_new_flush_start ());
    gst_pad_push_event (h->srcpad, gst_event_new_flush_stop (TRUE));
  }
  return NULL;
}

static gpointer
reconfigure_often (gpointer data)
{
  Rig *rig = data;

  while (g_atomic_int_get (&shutting_down))
    for (guint i = 0; i <= rig->n_sides; i++)
      gst_pad_push_event (
          rig_get (rig, i)->sinkpad, gst_event_new_reconfigure ());
  return NULL;
}

static void
check_stopped (GstHarness *h)
{
  GstPad *pad = gst_pad_get_peer (h->sinkpad);

  fail_unless_equals_int (gst_pad_get_task_state (pad), GST_TASK_STOPPED);
  gst_object_unref (pad);
}

/* The tasks do not outlive their pads, whoever tries to restart them. */
GST_START_TEST (test_shutdown_amid_events)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);
  GThread *flusher, *reconfigurer;

  rig_set_caps (&rig, &frames);
  g_atomic_int_set (&shutting_down, TRUE);
  flusher = g_thread_new ("flusher", flush_often, rig.h);
  reconfigurer = g_thread_new ("reconfigurer", reconfigure_often, &rig);
  for (guint k = 0; k < 100; k++) {
    gst_element_set_state (rig.element, GST_STATE_READY);
    for (guint i = 0; i <= rig.n_sides; i++)
      check_stopped (rig_get (&rig, i));
    gst_element_set_state (rig.element, GST_STATE_PLAYING);
  }
  g_atomic_int_set (&shutting_down, FALSE);
  g_thread_join (flusher);
  g_thread_join (reconfigurer);
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* Frames in flight, with and without FLUSH_START. */
static gpointer
flush_frames (gpointer data)
{
  Pusher *pusher = data;
  GstPad *pad = pusher->rig->h->srcpad;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint k = 0; g_atomic_int_get (&shutting_down); k++) {
    gst_pad_push_event (pad, gst_event_new_segment (&segment));
    for (guint i = 0; i <= k % 4; i++)
      gst_pad_push (pad, gst_buffer_copy (pusher->frames->buffers->pdata[0]));
    if (k % 3 == 0)
      gst_pad_push_event (pad, gst_event_new_flush_start ());
    gst_pad_push_event (pad, gst_event_new_flush_stop (TRUE));
    g_atomic_int_inc (&pusher->pushed);
  }
  return NULL;
}

/* A flush discards frames in flight only after the source pad's task has
 * left it, also if a shutdown has taken the task from the pad. */
GST_START_TEST (test_shutdown_amid_flushes)
{
  Frames frames = frames_new (__i__, 0, 1);
  Rig rig = rig_new (__i__);

  rig_set_caps (&rig, &frames);
  for (guint k = 0; k < 30; k++) {
    Pusher pusher = { &rig, &frames, 0 };
    GThread *flusher;

    g_atomic_int_set (&shutting_down, TRUE);
    flusher = g_thread_new ("flusher", flush_frames, &pusher);
    while (g_atomic_int_get (&pusher.pushed) < (gint) k % 5)
      g_thread_yield ();
    gst_element_set_state (rig.element, GST_STATE_READY);
    g_atomic_int_set (&shutting_down, FALSE);
    g_thread_join (flusher);
    gst_element_set_state (rig.element, GST_STATE_PLAYING);
    for (guint i = 0; i <= rig.n_sides; i++)
      drop_buffers (rig_get (&rig, i));
  }
  rig_free (&rig);
  frames_free (&frames);
}
GST_END_TEST;

/* --- pipelines ------------------------------------------------------------------------------- */

/* A pipeline with a sink directly after every pad. */
static gchar *
make_line (guint which, gint num_buffers, const gchar *sink)
{
  GString *line = g_string_new (filters[which].sources[0]);
  gchar *source;

  g_string_append_printf (line,
      " ! identity eos-after=%d ! %s backend=cpu "
      "name=f ! %s",
      num_buffers, filters[which].name, sink);
  for (guint i = 0; i < count_pads (which); i++)
    g_string_append_printf (line, "  f.%s ! %s", filters[which].pads[i], sink);
  source = g_string_free (line, FALSE);
  return source;
}

static GstElement *
make_pipeline (guint which, gint num_buffers, const gchar *sink)
{
  gchar *line = make_line (which, num_buffers, sink);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  g_assert_no_error (error);
  g_free (line);
  return pipeline;
}

static void
wait_for_eos (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

  fail_unless (message != NULL, "the pipeline hangs");
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
}

/* No branch has a queue: the pipeline prerolls, plays and ends. */
GST_START_TEST (test_no_queues)
{
  GstElement *pipeline = make_pipeline (__i__, 40, "fakesink");

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (
      gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_eos (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* In preroll every queue fills up; the shutdown ends all waits. */
GST_START_TEST (test_shutdown_while_blocked)
{
  GstElement *pipeline = make_pipeline (__i__, -1, "fakesink");

  for (guint k = 0; k < 3; k++) {
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int (
        gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND),
        GST_STATE_CHANGE_SUCCESS);
    g_usleep (k * 50000);
    fail_unless_equals_int (gst_element_set_state (pipeline,
                                k % 2 ? GST_STATE_READY : GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  gchar *line = make_line (__i__, -1, "fakesink");

  pipeline_states (line);
  g_free (line);
}
GST_END_TEST;

/* Unlinked pads do not block others. */
GST_START_TEST (test_unlinked_pads)
{
  gchar *line = g_strdup_printf (
      "%s ! identity eos-after=20 ! %s backend=cpu name=f ! fakesink",
      filters[__i__].sources[0], filters[__i__].name);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  GstPad *pads[MAX_PADS];
  const guint n = count_pads (__i__);

  for (guint i = 0; i < n; i++)
    pads[i] = gst_element_request_pad_simple (element, filters[__i__].pads[i]);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_eos (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (guint i = 0; i < n; i++) {
    gst_element_release_request_pad (element, pads[i]);
    gst_object_unref (pads[i]);
  }
  gst_object_unref (element);
  gst_object_unref (pipeline);
  g_free (line);
}
GST_END_TEST;

/* Adds a branch to the playing pipeline, and removes it. */
static void
come_and_go (GstElement *pipeline, GstElement *element, const gchar *name)
{
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  GstPad *pad = gst_element_request_pad_simple (element, name);
  GstPad *sinkpad = gst_element_get_static_pad (sink, "sink");

  fail_unless (pad != NULL);
  fail_unless (gst_element_request_pad (element,
                   gst_element_get_pad_template (element, name), NULL, NULL)
                   == NULL,
      "there is one pad of a kind");
  g_object_set (sink, "async", FALSE, "sync", FALSE, NULL);
  gst_bin_add (GST_BIN (pipeline), gst_object_ref (sink));
  gst_element_sync_state_with_parent (sink);
  fail_unless_equals_int (gst_pad_link (pad, sinkpad), GST_PAD_LINK_OK);
  g_usleep (10000);
  gst_element_release_request_pad (element, pad);
  gst_bin_remove (GST_BIN (pipeline), sink);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sinkpad);
  gst_object_unref (pad);
  gst_object_unref (sink);
}

GST_START_TEST (test_pads_come_and_go)
{
  gchar *line = g_strdup_printf ("%s ! identity sleep-time=500 ! %s "
                                 "backend=cpu name=f ! fakesink",
      filters[__i__].sources[0], filters[__i__].name);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "f");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND);
  for (guint k = 0; k < 12; k++)
    come_and_go (
        pipeline, element, filters[__i__].pads[k % count_pads (__i__)]);
  gst_element_send_event (pipeline, gst_event_new_eos ());
  wait_for_eos (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  g_free (line);
}
GST_END_TEST;

static Suite *
contractflow_suite (void)
{
  Suite *suite = suite_create ("contractflow");
  TCase *tc = tcase_create ("general");
  const int n = G_N_ELEMENTS (filters);
  int padded = 0;

  while (padded < n && count_pads (padded) > 0)
    padded++;
  g_setenv ("CUDAVISION_POSED_DEVICES", "3", TRUE);
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_order_and_renegotiation, 0, n);
  tcase_add_loop_test (tc, test_nothing_but_eos, 0, n);
  tcase_add_loop_test (tc, test_late_branch, 0, n);
  tcase_add_loop_test (tc, test_without_caps, 0, n);
  tcase_add_loop_test (tc, test_streams, 0, n);
  tcase_add_loop_test (tc, test_reset_stats, 0, n);
  tcase_add_loop_test (tc, test_latency, 0, n);
  tcase_add_loop_test (tc, test_allocation, 0, n);
  tcase_add_loop_test (tc, test_drain, 0, n);
  tcase_add_loop_test (tc, test_flush_while_blocked, 0, 2 * padded);
  tcase_add_loop_test (tc, test_flush_often, 0, n);
  tcase_add_loop_test (tc, test_back_pressure, 0, padded);
  tcase_add_loop_test (tc, test_error_of_a_branch, 0, n);
  tcase_add_loop_test (tc, test_refused_at_the_end, 0, padded);
  tcase_add_loop_test (tc, test_branches_have_enough, 0, n);
  tcase_add_loop_test (tc, test_downstream_has_enough, 0, n);
  tcase_add_loop_test (tc, test_only_a_request_pad, 0, padded);
  tcase_add_loop_test (tc, test_inactive_request_pad, 0, n);
  tcase_add_loop_test (tc, test_unlinked_at_the_end, 0, n);
  tcase_add_loop_test (tc, test_linked_later, 0, n);
  tcase_add_loop_test (tc, test_event_amid_shutdown, 0, n);
  tcase_add_loop_test (tc, test_shutdown_amid_events, 0, n);
  tcase_add_loop_test (tc, test_shutdown_amid_flushes, 0, n);
  tcase_add_loop_test (tc, test_no_queues, 0, n);
  tcase_add_loop_test (tc, test_shutdown_while_blocked, 0, n);
  tcase_add_loop_test (tc, test_states, 0, n);
  tcase_add_loop_test (tc, test_unlinked_pads, 0, n);
  tcase_add_loop_test (tc, test_pads_come_and_go, 0, padded);
  return suite;
}

GST_CHECK_MAIN (contractflow);
