/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudapbfmonitor: compares records with the engine's for all kinds of input;
 * order, flush, gaps, latency; error messages. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <glib/gstdio.h>
#include <string.h>

#include "tests/check/common/busmessages.h"
#include "modelfile.h"
#include "gst/cudavision/cudavision.h"
#include "pbfframes.h"

#define SIDE 48
#define CAPS "video/x-raw,format=GRAY8,width=48,height=48,framerate=20000/1"
#define FRAME_NS 50000

/* --- frames, and the engine's results ------------------------------------ */

typedef struct {
  guint n;
  guint8 *pixels; /* n * SIDE * SIDE */
  CvisPbfSignal *signals;
  CvisPbfResult *expected;
} Frames;

static void
make_signal (CvisPbfSignal *signal, guint i)
{
  *signal = (CvisPbfSignal){ .frame_counter = 1000 + i,
    .flags = CVIS_PBF_SIGNAL_POSITION_VALID
             | (i % 10 == 9 ? 0 : CVIS_PBF_SIGNAL_LASER_ON),
    .x_um = 4800 + (gint) (i * 37 % 400),
    .y_um = 4700 - (gint) (i * 53 % 300),
    .layer = i / 100,
    .vector_id = i / 20,
    .t_ns = (guint64) i * FRAME_NS,
    .width = SIDE,
    .height = SIDE };
  pbf_signal_seal (signal);
}

static void
run_engine (Frames *frames, PbfEmptyFrames empty)
{
  PbfTrackConfig track_config = { .empty_frames = empty };
  PbfConfig config;
  PbfTrack *track;
  PbfEngine *engine;
  PbfBatch batch = { .n = frames->n }, *done;
  const guint8 **pointers = g_new0 (const guint8 *, frames->n);
  guint *strides = g_new0 (guint, frames->n);
  PbfFrameInfo *infos = g_new0 (PbfFrameInfo, frames->n);

  fail_unless (pbf_calibration_parse (
      PBF_CALIBRATION_DEFAULT, &track_config.calibration, NULL));
  track = pbf_track_new (&track_config);
  pbf_config_init (&config);
  config.width = config.height = SIDE;
  config.max_batch = frames->n;
  engine = pbf_engine_new (&config, NULL, NULL, NULL);
  fail_unless (engine != NULL);
  for (guint i = 0; i < frames->n; i++) {
    pointers[i] = frames->pixels + i * SIDE * SIDE;
    strides[i] = SIDE;
    pbf_track_frame (
        track, &frames->signals[i], (guint64) i * FRAME_NS, 0, 0, &infos[i]);
  }
  batch.frames = pointers;
  batch.strides = strides;
  batch.infos = infos;
  batch.results = frames->expected;
  fail_unless (pbf_engine_submit (engine, &batch, NULL));
  fail_unless (pbf_engine_wait (engine, &done, NULL));
  pbf_engine_free (engine);
  pbf_track_free (track);
  g_free (pointers);
  g_free (strides);
  g_free (infos);
}

static Frames *
frames_new (guint n)
{
  Frames *frames = g_new0 (Frames, 1);
  PbfRandom random = { 7 };

  frames->n = n;
  frames->pixels = g_malloc0 (n * SIDE * SIDE);
  frames->signals = g_new0 (CvisPbfSignal, n);
  frames->expected = g_new0 (CvisPbfResult, n);
  for (guint i = 0; i < n; i++) {
    pbf_frame_fill (
        &random, i, frames->pixels + i * SIDE * SIDE, SIDE, SIDE, SIDE);
    make_signal (&frames->signals[i], i);
  }
  run_engine (frames, PBF_EMPTY_FRAMES_FLAG);
  return frames;
}

static void
frames_free (Frames *frames)
{
  g_free (frames->pixels);
  g_free (frames->signals);
  g_free (frames->expected);
  g_free (frames);
}

/* Frame @i as a buffer; @pad additional bytes in each row need a
 * GstVideoMeta. */
static GstBuffer *
frame_buffer (const Frames *frames, guint i, guint pad)
{
  gsize offsets[4] = { pad }, stride = SIDE + pad;
  gint strides[4] = { (gint) stride };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, pad + stride * SIDE, NULL);

  gst_buffer_memset (buffer, 0, 255, pad + stride * SIDE);
  for (guint y = 0; y < SIDE; y++)
    gst_buffer_fill (
        buffer, pad + y * stride, frames->pixels + (i * SIDE + y) * SIDE, SIDE);
  if (pad > 0)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_FORMAT_GRAY8, SIDE, SIDE, 1, offsets, strides);
  GST_BUFFER_PTS (buffer) = (guint64) i * FRAME_NS;
  GST_BUFFER_DURATION (buffer) = FRAME_NS;
  gst_cvis_buffer_add_pbf_signal_meta (buffer, &frames->signals[i]);
  return buffer;
}

/* --- the element between two harnesses ------------------------------------- */

typedef struct {
  GstElement *element;
  GstHarness *h, *r; /* source pad and result pad */
  GstBus *bus;
  GArray *groups; /* of guint: length of each list pushed, 0: a buffer */
} Rig;

static GstPadProbeReturn
note_group (GstPad *pad, GstPadProbeInfo *info, gpointer groups)
{
  guint length = 0;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST)
    length = gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info));
  g_array_append_val ((GArray *) groups, length);
  return GST_PAD_PROBE_OK;
}

static Rig
rig_new (const gchar *settings)
{
  gchar *line = g_strdup_printf ("cudapbfmonitor backend=cpu %s", settings);
  Rig rig = { .element = gst_parse_launch (line, NULL) };
  GstPad *src;

  fail_unless (rig.element != NULL);
  g_free (line);
  rig.groups = g_array_new (FALSE, FALSE, sizeof (guint));
  rig.bus = gst_bus_new ();
  gst_element_set_bus (rig.element, rig.bus);
  src = gst_element_get_static_pad (rig.element, "src");
  gst_pad_add_probe (src,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, note_group,
      rig.groups, NULL);
  gst_object_unref (src);
  rig.h = gst_harness_new_with_element (rig.element, "sink", "src");
  rig.r = gst_harness_new_with_element (rig.element, NULL, "src_result");
  return rig;
}

static Rig
rig_new_playing (const gchar *settings)
{
  Rig rig = rig_new (settings);

  gst_harness_set_src_caps_str (rig.h, CAPS);
  return rig;
}

static void
rig_free (Rig *rig)
{
  gst_harness_teardown (rig->r);
  gst_harness_teardown (rig->h);
  gst_bus_set_flushing (rig->bus, TRUE);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->element);
  g_array_unref (rig->groups);
}

static guint64
rig_stat (Rig *rig, const gchar *name)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), name);
  gst_structure_free (stats);
  return value;
}

static void
push_eos (Rig *rig)
{
  fail_unless (gst_harness_push_event (rig->h, gst_event_new_eos ()));
}

static void
push_frames (Rig *rig, const Frames *frames, guint first, guint n)
{
  for (guint i = first; i < first + n; i++)
    fail_unless_equals_int (
        gst_harness_push (rig->h, frame_buffer (frames, i, 0)), GST_FLOW_OK);
}

static void
push_list (Rig *rig, const Frames *frames, guint first, guint n)
{
  GstBufferList *list = gst_buffer_list_new_sized (n);

  for (guint i = first; i < first + n; i++)
    gst_buffer_list_add (list, frame_buffer (frames, i, i % 3));
  fail_unless_equals_int (
      gst_pad_push_list (rig->h->srcpad, list), GST_FLOW_OK);
}

/* Takes the next frame and checks picture, time and record. */
static void
pull_frame (
    Rig *rig, const Frames *frames, guint i, const CvisPbfResult *expected)
{
  GstBuffer *buffer = gst_harness_pull (rig->h);
  GstCvisPbfMeta *meta;

  fail_unless (buffer != NULL, "frame %u is missing", i);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), (guint64) i * FRAME_NS);
  if (gst_buffer_get_video_meta (buffer) == NULL)
    fail_unless (gst_buffer_memcmp (
                     buffer, 0, frames->pixels + i * SIDE * SIDE, SIDE * SIDE)
                 == 0);
  meta = gst_cvis_buffer_get_pbf_meta (buffer);
  fail_unless (meta != NULL, "frame %u has no result", i);
  fail_unless (meta->latency > 0);
  fail_unless (memcmp (meta->result, expected, sizeof *expected) == 0,
      "record of frame %u", i);
  gst_buffer_unref (buffer);
}

/* Takes @n records from the result pad and compares them. */
static void
pull_records (Rig *rig, const CvisPbfResult *expected, guint n)
{
  guint got = 0;

  while (got < n) {
    GstBuffer *buffer = gst_harness_pull (rig->r);
    gsize size;

    fail_unless (buffer != NULL, "%u records of %u", got, n);
    size = gst_buffer_get_size (buffer);
    fail_unless_equals_int (size % sizeof (CvisPbfResult), 0);
    fail_unless (gst_buffer_memcmp (buffer, 0, expected + got, size) == 0);
    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (buffer), expected[got].timestamp_ns);
    fail_unless_equals_uint64 (
        GST_BUFFER_OFFSET (buffer), expected[got].frame_index);
    got += size / sizeof (CvisPbfResult);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (got, n);
}

static void
pull_all (Rig *rig, const Frames *frames, guint n)
{
  for (guint i = 0; i < n; i++)
    pull_frame (rig, frames, i, &frames->expected[i]);
  pull_records (rig, frames->expected, n);
}

/* --- the same results for any input -------------------------------------- */

static const guint batch_sizes[] = { 1, 2, 7, 31, 32, 1000 };

GST_START_TEST (test_single_buffers)
{
  gchar *settings = g_strdup_printf (
      "batch-size=%u max-latency=10000000000", batch_sizes[__i__]);
  Frames *frames = frames_new (1100);
  Rig rig = rig_new_playing (settings);

  push_frames (&rig, frames, 0, frames->n);
  push_eos (&rig);
  pull_all (&rig, frames, frames->n);
  fail_unless_equals_uint64 (rig_stat (&rig, "frames"), frames->n);
  fail_unless_equals_uint64 (rig_stat (&rig, "empty"), 110);
  fail_unless_equals_uint64 (rig_stat (&rig, "batches"),
      (frames->n + batch_sizes[__i__] - 1) / batch_sizes[__i__]);
  fail_unless_equals_int (rig.groups->len, frames->n);
  rig_free (&rig);
  frames_free (frames);
  g_free (settings);
}
GST_END_TEST;

/* lists shorter and longer than a batch, and buffers between them */
GST_START_TEST (test_mixed_lists)
{
  static const guint lengths[] = { 256, 0, 1, 0, 0, 300, 64, 5 };
  gchar *settings = g_strdup_printf (
      "batch-size=%u max-latency=10000000000", batch_sizes[__i__]);
  Frames *frames = frames_new (629);
  Rig rig = rig_new_playing (settings);
  guint next = 0;

  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++) {
    if (lengths[k] > 0)
      push_list (&rig, frames, next, lengths[k]);
    else
      push_frames (&rig, frames, next, 1);
    next += MAX (lengths[k], 1);
  }
  fail_unless_equals_int (next, frames->n);
  push_eos (&rig);
  pull_all (&rig, frames, frames->n);
  fail_unless_equals_int (rig.groups->len, G_N_ELEMENTS (lengths));
  fail_unless (memcmp (rig.groups->data, lengths, sizeof lengths) == 0);
  rig_free (&rig);
  frames_free (frames);
  g_free (settings);
}
GST_END_TEST;

/* padded rows, and a frame in two memories */
GST_START_TEST (test_strides_and_memories)
{
  Frames *frames = frames_new (40);
  Rig rig = rig_new_playing ("batch-size=16");

  for (guint i = 0; i < frames->n; i++) {
    GstBuffer *buffer = frame_buffer (frames, i, i % 4 == 3 ? 0 : i % 4 * 7);

    if (i % 4 == 3) {
      GstMemory *whole = gst_buffer_get_memory (buffer, 0);
      gst_buffer_replace_memory (buffer, 0, gst_memory_copy (whole, 0, 1000));
      gst_buffer_append_memory (buffer, gst_memory_copy (whole, 1000, -1));
      gst_memory_unref (whole);
    }
    fail_unless_equals_int (gst_harness_push (rig.h, buffer), GST_FLOW_OK);
  }
  push_eos (&rig);
  pull_all (&rig, frames, frames->n);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* buffers with another owner stay unchanged, without a copy */
GST_START_TEST (test_shared_buffers)
{
  Frames *frames = frames_new (4);
  Rig rig = rig_new_playing ("batch-size=4");
  GstBuffer *held[4], *out;

  for (guint i = 0; i < 4; i++) {
    held[i] = frame_buffer (frames, i, 0);
    gst_harness_push (rig.h, gst_buffer_ref (held[i]));
  }
  for (guint i = 0; i < 4; i++) {
    out = gst_harness_pull (rig.h);
    fail_unless (gst_cvis_buffer_get_pbf_meta (out) != NULL);
    fail_unless (gst_cvis_buffer_get_pbf_meta (held[i]) == NULL);
    fail_unless (
        gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (held[i], 0));
    gst_buffer_unref (out);
    gst_buffer_unref (held[i]);
  }
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* --- more than 8 bits ------------------------------------------------------- */

static const struct {
  GstVideoFormat format;
  const gchar *settings;
  guint shift, depth;
} deep[] = { { GST_VIDEO_FORMAT_GRAY16_LE, "", 8, 16 },
  { GST_VIDEO_FORMAT_GRAY16_BE, "", 8, 16 },
  { GST_VIDEO_FORMAT_GRAY10_LE32, "", 2, 10 },
  /* 12-bit cameras; 10 bits, with values beyond the largest one */
  { GST_VIDEO_FORMAT_GRAY16_LE, "shift=4", 4, 12 },
  { GST_VIDEO_FORMAT_GRAY16_LE, "shift=2", 2, 16 },
  { GST_VIDEO_FORMAT_GRAY16_BE, "shift=0", 0, 16 } };

/* Rows may begin at odd addresses. */
static void
write_16 (guint8 *at, guint16 sample)
{
  memcpy (at, &sample, sizeof (sample));
}

/* @x as three samples in a word, preceded by zeros */
static void
write_10_of_32 (guint8 *row, guint x, guint sample)
{
  guint32 word;

  memcpy (&word, row + x / 3 * 4, sizeof (word));
  word |= GUINT32_TO_LE (sample << 10 * (x % 3));
  memcpy (row + x / 3 * 4, &word, sizeof (word));
}

/* Frame @i with more bits, which are noise below @shift: pixels that are 255
 * in 8 bits may have any larger value. Rows have @pad additional bytes. */
static GstBuffer *
deep_buffer (const Frames *frames, guint i, guint k, guint pad)
{
  gboolean packed = deep[k].format == GST_VIDEO_FORMAT_GRAY10_LE32;
  guint stride = (packed ? SIDE / 3 * 4 : SIDE * 2) + pad;
  PbfRandom random = { i };
  guint8 *bytes = g_malloc0 (stride * SIDE);
  GstBuffer *buffer;

  for (guint p = 0; p < SIDE * SIDE; p++) {
    guint8 *row = bytes + p / SIDE * stride;
    guint x = p % SIDE, value = frames->pixels[i * SIDE * SIDE + p];
    guint below = 1u << deep[k].shift;
    guint sample = (value << deep[k].shift) + pbf_random_below (&random, below);

    if (value == 255)
      sample += pbf_random_below (&random, (1u << deep[k].depth) - sample);
    if (packed)
      write_10_of_32 (row, x, sample);
    else if (deep[k].format == GST_VIDEO_FORMAT_GRAY16_LE)
      write_16 (row + 2 * x, GUINT16_TO_LE (sample));
    else
      write_16 (row + 2 * x, GUINT16_TO_BE (sample));
  }
  buffer = gst_buffer_new_wrapped (bytes, stride * SIDE);
  if (pad > 0)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        deep[k].format, SIDE, SIDE, 1, (gsize[4]){ 0 },
        (gint[4]){ (gint) stride });
  GST_BUFFER_PTS (buffer) = (guint64) i * FRAME_NS;
  GST_BUFFER_DURATION (buffer) = FRAME_NS;
  gst_cvis_buffer_add_pbf_signal_meta (buffer, &frames->signals[i]);
  return buffer;
}

static void
set_deep_caps (Rig *rig, guint k)
{
  gchar *caps = g_strdup_printf ("video/x-raw,format=%s,width=48,height=48,"
                                 "framerate=20000/1",
      gst_video_format_to_string (deep[k].format));

  gst_harness_set_src_caps_str (rig->h, caps);
  g_free (caps);
}

/* The records of deep[@k]'s frames equal those of 8-bit frames, and the
 * frames pass unchanged. */
static void
check_deep_frames (Rig *rig, const Frames *frames, guint k)
{
  for (guint i = 0; i < frames->n; i++)
    fail_unless_equals_int (
        gst_harness_push (rig->h, deep_buffer (frames, i, k, i % 3)),
        GST_FLOW_OK);
  push_eos (rig);
  for (guint i = 0; i < frames->n; i++) {
    GstBuffer *in = deep_buffer (frames, i, k, i % 3);
    GstBuffer *out = gst_harness_pull (rig->h);
    GstMapInfo map;

    fail_unless (memcmp (gst_cvis_buffer_get_pbf_meta (out)->result,
                     &frames->expected[i], sizeof (CvisPbfResult))
                     == 0,
        "record of frame %u", i);
    gst_buffer_map (in, &map, GST_MAP_READ);
    fail_unless (gst_buffer_memcmp (out, 0, map.data, map.size) == 0);
    gst_buffer_unmap (in, &map);
    gst_buffer_unref (out);
    gst_buffer_unref (in);
  }
  pull_records (rig, frames->expected, frames->n);
}

GST_START_TEST (test_deep_formats)
{
  gchar *settings = g_strdup_printf ("batch-size=32 %s", deep[__i__].settings);
  Frames *frames = frames_new (200);
  Rig rig = rig_new (settings);

  set_deep_caps (&rig, __i__);
  check_deep_frames (&rig, frames, __i__);
  rig_free (&rig);
  frames_free (frames);
  g_free (settings);
}
GST_END_TEST;

/* another depth in the middle of the stream; collected frames leave first */
GST_START_TEST (test_change_of_depth)
{
  Frames *frames = frames_new (9);
  Rig rig = rig_new_playing ("batch-size=100 max-latency=10000000000");

  push_frames (&rig, frames, 0, 3);
  for (guint k = 0; k < 2; k++) {
    set_deep_caps (&rig, 2 * k);
    for (guint i = 3 + 3 * k; i < 6 + 3 * k; i++)
      gst_harness_push (rig.h, deep_buffer (frames, i, 2 * k, 0));
  }
  push_eos (&rig);
  for (guint i = 0; i < 9; i++) {
    GstBuffer *out = gst_harness_pull (rig.h);
    const CvisPbfResult *result = gst_cvis_buffer_get_pbf_meta (out)->result;

    fail_unless (
        memcmp (result->raw, frames->expected[i].raw, sizeof result->raw) == 0,
        "features of frame %u", i);
    gst_buffer_unref (out);
  }
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* A source that offers both is asked for 8 bits, in either order. */
GST_START_TEST (test_8_bits_preferred)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=1 ! cudapbfmonitor name=m backend=cpu ! "
      "fakesink",
      NULL);
  GstElement *monitor = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  GstPad *sink = gst_element_get_static_pad (monitor, "sink");
  GstCaps *caps;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (
      gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
      GST_STATE_CHANGE_SUCCESS);
  caps = gst_pad_get_current_caps (sink);
  fail_unless_equals_string (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"),
      "GRAY8");
  gst_caps_unref (caps);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (monitor);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* --- time ------------------------------------------------------------------ */

GST_START_TEST (test_latency)
{
  Rig rig = rig_new_playing ("batch-size=11 max-latency=10000000");

  /* ten more frames of 50 us, and 1 ms for the batch */
  gst_harness_set_upstream_latency (rig.h, 3 * GST_MSECOND);
  fail_unless_equals_uint64 (
      gst_harness_query_latency (rig.h), 3 * GST_MSECOND + 1500 * GST_USECOND);
  g_object_set (rig.element, "max-latency", 200 * GST_USECOND, NULL);
  fail_unless_equals_uint64 (
      gst_harness_query_latency (rig.h), 3 * GST_MSECOND + 1200 * GST_USECOND);
  rig_free (&rig);
}
GST_END_TEST;

/* three frames of a batch of 256 leave after max-latency */
GST_START_TEST (test_max_latency)
{
  Frames *frames = frames_new (3);
  Rig rig = rig_new_playing ("batch-size=256 max-latency=20000000");
  gint64 begin = g_get_monotonic_time ();

  /* in one list, because the batch might become due between two pushes */
  push_list (&rig, frames, 0, 3);
  pull_all (&rig, frames, 3);
  fail_unless (g_get_monotonic_time () - begin >= 19000);
  fail_unless (g_get_monotonic_time () - begin < 5000000);
  fail_unless_equals_uint64 (rig_stat (&rig, "partial-batches"), 1);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

GST_START_TEST (test_no_waiting)
{
  Frames *frames = frames_new (8);
  Rig rig = rig_new_playing ("batch-size=256 max-latency=0");

  push_frames (&rig, frames, 0, 3);
  push_list (&rig, frames, 3, 5);
  pull_all (&rig, frames, 8);
  fail_unless_equals_uint64 (rig_stat (&rig, "batches"), 4);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* Pushes frames of @distance ns, while downstream blocks, until the element no longer
 * accepts any; then lets all leave. Returns: the number of frames that it held */
typedef struct {
  Rig rig;
  GstClockTime distance;
  gint pushed; /* atomic */
} Filler;

static gpointer
fill_element (gpointer user_data)
{
  Filler *filler = user_data;
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; flow == GST_FLOW_OK; i++) {
    GstBuffer *buffer = gst_buffer_new_and_alloc (SIDE * SIDE);

    gst_buffer_memset (buffer, 0, 0, SIDE * SIDE);
    GST_BUFFER_PTS (buffer) = i * filler->distance;
    flow = gst_pad_push (filler->rig.h->srcpad, buffer);
    g_atomic_int_add (&filler->pushed, flow == GST_FLOW_OK);
  }
  return NULL;
}

static GstPadProbeReturn
block_pad (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  return GST_PAD_PROBE_OK;
}

static guint
count_held (const gchar *rate, GstClockTime distance, const gchar *settings)
{
  Filler filler = { rig_new (settings), distance };
  gchar *caps = g_strdup_printf (
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=%s", SIDE, SIDE,
      rate);
  GThread *thread;
  gint held = -1, before = -2;

  gst_harness_set_src_caps_str (filler.rig.h, caps);
  g_free (caps);
  gst_pad_add_probe (filler.rig.h->sinkpad,
      GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, block_pad, NULL,
      NULL);
  thread = g_thread_new ("filler", fill_element, &filler);
  while (held != before || held == 0) {
    g_usleep (300000);
    before = held;
    held = g_atomic_int_get (&filler.pushed);
  }
  gst_pad_set_active (filler.rig.h->sinkpad, FALSE); /* ends the block */
  g_thread_join (thread);
  rig_free (&filler.rig);
  return (guint) held;
}

/* batch-size=0 holds at most 100 ms of frames, and the same number as before at 20,000
 * frames/s */
GST_START_TEST (test_held_time)
{
  const GstClockTime ms40 = 40 * GST_MSECOND;

  fail_unless_equals_int (count_held ("30/1", GST_SECOND / 30, ""), 3);
  fail_unless_equals_int (count_held ("25/1", ms40, ""), 2);
  fail_unless_equals_int (count_held ("0/1", ms40, ""), 3);
  /* one in the batch, one being pushed */
  fail_unless_equals_int (count_held ("1/1", GST_SECOND, ""), 2);
  fail_unless (count_held ("1000/1", GST_MSECOND, "") <= 100);
  fail_unless (
      count_held ("20000/1", FRAME_NS, "max-latency=100000000") >= 4 * 256);
  /* longer, as the user accepts a longer wait, or sets the size */
  fail_unless_equals_int (
      count_held ("25/1", ms40, "max-latency=400000000"), 8);
  fail_unless (
      count_held ("25/1", ms40, "batch-size=10 max-latency=100000000") >= 40);
}
GST_END_TEST;

/* The latency is that of the batches in use: one frame at 30 frames/s. */
GST_START_TEST (test_latency_of_slow_frames)
{
  Rig rig = rig_new ("max-latency=10000000");

  gst_harness_set_src_caps_str (
      rig.h, "video/x-raw,format=GRAY8,width=48,height=48,framerate=30/1");
  fail_unless_equals_uint64 (
      gst_harness_query_latency (rig.h), 1 * GST_MSECOND);
  rig_free (&rig);
}
GST_END_TEST;

/* --- events ---------------------------------------------------------------- */

/* a FLUSH_STOP may come alone */
GST_START_TEST (test_flush)
{
  Frames *frames = frames_new (64);
  Rig rig = rig_new_playing ("batch-size=16 max-latency=10000000000");
  GstSegment segment;

  push_frames (&rig, frames, 0, 40);
  if (__i__ == 0)
    gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  while (gst_harness_buffers_in_queue (rig.h) > 0)
    gst_buffer_unref (gst_harness_pull (rig.h));
  while (gst_harness_buffers_in_queue (rig.r) > 0)
    gst_buffer_unref (gst_harness_pull (rig.r));

  /* from the first frame on, without any earlier state */
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  push_frames (&rig, frames, 0, 64);
  push_eos (&rig);
  pull_all (&rig, frames, 64);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

GST_START_TEST (test_gap)
{
  Frames *frames = frames_new (6);
  Rig rig = rig_new_playing ("batch-size=100 max-latency=10000000000 "
                             "window-reset=gap max-gap=10");
  GstBuffer *buffer;
  const CvisPbfResult *result;

  push_frames (&rig, frames, 0, 3);
  /* a gap as long as twenty frames */
  fail_unless (gst_harness_push_event (
      rig.h, gst_event_new_gap (3 * FRAME_NS, 20 * FRAME_NS)));
  push_frames (&rig, frames, 3, 2);
  buffer = frame_buffer (frames, 5, 0);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_harness_push (rig.h, buffer);
  push_eos (&rig);
  for (guint i = 0; i < 6; i++) {
    buffer = gst_harness_pull (rig.h);
    result = gst_cvis_buffer_get_pbf_meta (buffer)->result;
    fail_unless_equals_int (
        (result->flags & CVIS_PBF_RESULT_GAP) != 0, i == 3 || i == 5);
    fail_unless_equals_int (
        (result->flags & CVIS_PBF_RESULT_WINDOW_RESET) != 0, i == 3);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (rig_stat (&rig, "lost"), 0);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* frames collected at the old size leave at the old size */
GST_START_TEST (test_renegotiation)
{
  Frames *frames = frames_new (5);
  Rig rig = rig_new_playing ("batch-size=100 max-latency=10000000000");
  GstCaps *caps;
  gint width = 0;

  push_frames (&rig, frames, 0, 5);
  gst_harness_set_src_caps_str (
      rig.h, "video/x-raw,format=GRAY8,width=64,height=40,framerate=20000/1");
  pull_all (&rig, frames, 5);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 40, NULL);

    gst_buffer_memset (buffer, 0, 0, 64 * 40);
    gst_harness_push (rig.h, buffer);
  }
  push_eos (&rig);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull (rig.h);
    fail_unless (gst_cvis_buffer_get_pbf_meta (buffer) != NULL);
    gst_buffer_unref (buffer);
  }
  caps = gst_pad_get_current_caps (rig.h->sinkpad);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width);
  fail_unless_equals_int (width, 64);
  gst_caps_unref (caps);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* --- empty and corrupt frames ---------------------------------------------- */

GST_START_TEST (test_drop_empty)
{
  Frames *frames = frames_new (100);
  Rig rig = rig_new_playing ("batch-size=32 empty-frames=drop");
  CvisPbfResult *kept = g_new0 (CvisPbfResult, frames->n);
  guint n = 0;

  run_engine (frames, PBF_EMPTY_FRAMES_DROP);
  push_list (&rig, frames, 0, 50);
  push_frames (&rig, frames, 50, 50);
  push_eos (&rig);
  for (guint i = 0; i < frames->n; i++) {
    if (frames->expected[i].flags & CVIS_PBF_RESULT_EMPTY)
      continue;
    pull_frame (&rig, frames, i, &frames->expected[i]);
    kept[n++] = frames->expected[i];
  }
  fail_unless_equals_int (n, 90);
  pull_records (&rig, kept, n);
  fail_unless_equals_uint64 (rig_stat (&rig, "dropped-empty"), 10);
  fail_unless_equals_uint64 (rig_stat (&rig, "frames"), 100);
  g_free (kept);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

GST_START_TEST (test_bad_signals)
{
  Frames *frames = frames_new (12);
  Rig rig = rig_new ("batch-size=12");
  gchar *text;

  frames->signals[3].x_um++; /* the CRC no longer matches */
  frames->signals[6] = frames->signals[5];
  frames->signals[8] = frames->signals[2];
  run_engine (frames, PBF_EMPTY_FRAMES_FLAG);
  gst_harness_set_src_caps_str (rig.h, CAPS);
  push_list (&rig, frames, 0, 12);
  pull_all (&rig, frames, 12);
  fail_unless_equals_uint64 (rig_stat (&rig, "corrupt"), 1);
  fail_unless_equals_uint64 (rig_stat (&rig, "repeated"), 1);
  fail_unless_equals_uint64 (rig_stat (&rig, "late"), 1);
  fail_unless_equals_uint64 (rig_stat (&rig, "lost"), 2);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  push_eos (&rig);
  text = bus_pop_text (rig.bus, GST_MESSAGE_WARNING);
  fail_unless (strstr (text, "Of the first 12 frames: 1 without a position in "
                             "machine signals")
                   != NULL,
      text);
  fail_unless (strstr (text, "1 with corrupt signals") != NULL, text);
  fail_unless (strstr (text, "2 lost before") != NULL, text);
  fail_unless (strstr (text, "2 late or repeated") != NULL, text);
  g_free (text);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* the counters and latencies of "stats" and of the message */
static const gchar *const counted[] = { "frames", "empty", "analysed",
  "excluded", "lost", "late", "repeated", "corrupt", "no-signal", "no-pool",
  "pool-at-edge", "position-unsure", "position-fallback", "dropped-empty",
  "batches", "partial-batches", "staged-frames", "results-sent",
  "results-unsent", "latency-p50", "latency-p90", "latency-p99", "latency-p999",
  "latency-max" };

/* The percentiles do not decrease from p50 to the maximum. */
static void
expect_latencies (const GstStructure *s)
{
  guint64 before = 1, ns;

  for (guint k = G_N_ELEMENTS (counted) - 5; k < G_N_ELEMENTS (counted); k++) {
    fail_unless (gst_structure_get_uint64 (s, counted[k], &ns));
    fail_unless (ns >= before, "%s", counted[k]);
    before = ns;
  }
}

GST_START_TEST (test_message)
{
  Frames *frames = frames_new (64);
  Rig rig = rig_new_playing ("batch-size=32 message-interval=3600000000000");
  GstMessage *message;
  guint64 count;
  guint n = 0;

  push_frames (&rig, frames, 0, 64);
  push_eos (&rig);
  pull_all (&rig, frames, 64);
  while ((message = gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *s = gst_message_get_structure (message);
    if (gst_structure_has_name (s, "cudapbfmonitor-stats")) {
      n++;
      for (guint k = 0; k < G_N_ELEMENTS (counted); k++)
        fail_unless (
            gst_structure_get_uint64 (s, counted[k], &count), counted[k]);
      fail_unless (gst_structure_get_uint64 (s, "frames", &count));
      fail_unless (count > 0 && count <= 32);
      expect_latencies (s);
      fail_unless (gst_structure_has_field_typed (s, "mp-area", G_TYPE_DOUBLE));
      fail_unless_equals_string (
          gst_structure_get_string (s, "result-way"), "pads");
    }
    gst_message_unref (message);
  }
  fail_unless_equals_int (n, 1);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* Counters and latencies of "stats" restart. */
GST_START_TEST (test_reset_stats)
{
  Frames *frames = frames_new (40);
  Rig rig = rig_new ("batch-size=10 max-latency=0");
  GstStructure *stats;

  frames->signals[3].x_um++; /* the CRC no longer matches */
  frames->signals[6] = frames->signals[5];
  frames->signals[8] = frames->signals[2];
  run_engine (frames, PBF_EMPTY_FRAMES_FLAG);
  gst_harness_set_src_caps_str (rig.h, CAPS);
  push_frames (&rig, frames, 0, 30);
  for (guint i = 0; i < 30; i++)
    pull_frame (&rig, frames, i, &frames->expected[i]);
  fail_unless_equals_uint64 (rig_stat (&rig, "frames"), 30);
  fail_unless_equals_uint64 (rig_stat (&rig, "empty"), 3);
  fail_unless_equals_uint64 (rig_stat (&rig, "corrupt"), 1);
  fail_unless_equals_uint64 (rig_stat (&rig, "repeated"), 1);
  fail_unless_equals_uint64 (rig_stat (&rig, "late"), 1);
  fail_unless_equals_uint64 (rig_stat (&rig, "lost"), 2);
  g_object_get (rig.element, "stats", &stats, NULL);
  expect_latencies (stats);
  gst_structure_free (stats);
  g_signal_emit_by_name (rig.element, "reset-stats");
  for (guint k = 0; k < G_N_ELEMENTS (counted); k++)
    fail_unless_equals_uint64 (rig_stat (&rig, counted[k]), 0);
  push_frames (&rig, frames, 30, 10);
  for (guint i = 30; i < 40; i++)
    pull_frame (&rig, frames, i, &frames->expected[i]);
  fail_unless_equals_uint64 (rig_stat (&rig, "frames"), 10);
  fail_unless (rig_stat (&rig, "latency-max") > 0);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

#ifdef __linux__
/* The thread that waits for results runs on the given processor; an
 * unavailable processor is ignored with a warning. */
GST_START_TEST (test_poll_core)
{
  Frames *frames = frames_new (10);
  cpu_set_t may;
  gint core = 0;
  gchar *settings;
  Rig rig;

  fail_unless (sched_getaffinity (0, sizeof may, &may) == 0);
  while (!CPU_ISSET (core, &may))
    core++;
  settings = g_strdup_printf ("poll-core=%d", core);
  rig = rig_new_playing (settings);
  g_free (settings);
  push_frames (&rig, frames, 0, 10);
  push_eos (&rig);
  pull_all (&rig, frames, 10);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  rig_free (&rig);

  rig = rig_new_playing ("poll-core=1023");
  push_frames (&rig, frames, 0, 10);
  push_eos (&rig);
  pull_all (&rig, frames, 10);
  bus_expect (rig.bus, GST_MESSAGE_WARNING, "to processor 1023");
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;
#endif

/* --- melt pools larger than the ROI -------------------------------------- */

/* A square melt pool of @side pixels; @left: its left column. */
static GstBuffer *
square_pool (guint left, guint side)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIDE * SIDE, NULL);

  gst_buffer_memset (buffer, 0, 0, SIDE * SIDE);
  for (guint y = 0; y < side; y++)
    gst_buffer_memset (buffer, (14 + y) * SIDE + left, 200, side);
  return buffer;
}

/* the ROI spans columns and rows 4 to 43 */
static gboolean
is_at_edge (Rig *rig, guint left, guint side)
{
  GstBuffer *buffer;
  guint32 flags;

  gst_harness_push (rig->h, square_pool (left, side));
  buffer = gst_harness_pull (rig->h);
  flags = gst_cvis_buffer_get_pbf_meta (buffer)->result->flags;
  gst_buffer_unref (buffer);
  return (flags & CVIS_PBF_RESULT_POOL_AT_EDGE) != 0;
}

#define AT_THE_MIDDLE "position-source=fixed position-x=24 position-y=24 "

GST_START_TEST (test_pool_at_edge)
{
  Rig rig = rig_new_playing (AT_THE_MIDDLE "max-latency=0");

  fail_if (is_at_edge (&rig, 14, 20));
  fail_if (is_at_edge (&rig, 14, 29)); /* row 42 is its last one */
  fail_unless (is_at_edge (&rig, 5, 30));
  fail_if (is_at_edge (&rig, 5, 20));
  fail_unless (is_at_edge (&rig, 4, 20));
  fail_unless (is_at_edge (&rig, 0, 20)); /* cut off */
  fail_if (is_at_edge (&rig, 23, 20));
  fail_unless (is_at_edge (&rig, 24, 20));
  fail_if (is_at_edge (&rig, 14, 0)); /* no melt pool */
  fail_unless_equals_uint64 (rig_stat (&rig, "pool-at-edge"), 4);
  rig_free (&rig);
}
GST_END_TEST;

/* A sink that keeps frames longer than max-latency needs a queue before it;
 * without live input the delay does not matter. */
GST_START_TEST (test_warning_of_slow_sink)
{
#define SLOW_SINK                                                              \
  "num-buffers=320 ! cudapbfmonitor backend=cpu batch-size=16 ! "              \
  "identity sleep-time=1500 ! fakesink sync=false"

  bus_expect_first ("pbftestsrc is-live=true " SLOW_SINK, GST_MESSAGE_WARNING,
      "max-latency of 1 ms is exceeded");
  bus_expect_first ("pbftestsrc " SLOW_SINK, GST_MESSAGE_EOS, NULL);
}
GST_END_TEST;

/* The CPU accepts mode like every CUDA setting; with a flush in between. */
GST_START_TEST (test_mode_on_the_cpu)
{
  Frames *frames = frames_new (30);
  Rig rig = rig_new_playing (
      "mode=persistent parallel-frames=3 batch-size=1 max-latency=0");
  GstSegment segment;

  push_frames (&rig, frames, 0, 30);
  pull_all (&rig, frames, 30);
  gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  push_frames (&rig, frames, 0, 30);
  push_eos (&rig);
  pull_all (&rig, frames, 30);
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* A region of 32 covers columns 8 to 39, one of 48 the frame. */
GST_START_TEST (test_roi_size)
{
  Rig rig = rig_new_playing (AT_THE_MIDDLE "max-latency=0 roi-size=32");
  GstBuffer *buffer;

  fail_unless (is_at_edge (&rig, 8, 20));
  fail_if (is_at_edge (&rig, 9, 20));
  rig_free (&rig);
  rig = rig_new_playing (AT_THE_MIDDLE "max-latency=0 roi-size=48");
  fail_unless (is_at_edge (&rig, 0, 20));
  fail_if (is_at_edge (&rig, 1, 33)); /* row 46 is its last one */
  gst_harness_push (rig.h, square_pool (1, 33));
  buffer = gst_harness_pull (rig.h);
  fail_unless_equals_int (
      gst_cvis_buffer_get_pbf_meta (buffer)->result->roi_size, 48);
  fail_unless_equals_int (
      gst_cvis_buffer_get_pbf_meta (buffer)->result->raw[CVIS_PBF_MP_AREA],
      33 * 33);
  gst_buffer_unref (buffer);
  rig_free (&rig);
}
GST_END_TEST;

/* 100 in a row cause one warning; frames without a melt pool do not count */
GST_START_TEST (test_warning_of_pool_at_edge)
{
  static const gchar *words = "touches the edge of the region of interest";
  Rig rig = rig_new_playing (AT_THE_MIDDLE "max-latency=0");

  for (guint i = 0; i < 99; i++)
    fail_unless (is_at_edge (&rig, 0, 20));
  fail_if (is_at_edge (&rig, 14, 20));
  for (guint i = 0; i < 99; i++)
    fail_unless (is_at_edge (&rig, 0, 20));
  fail_if (is_at_edge (&rig, 0, 0));
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  fail_unless (is_at_edge (&rig, 0, 20));
  bus_expect (rig.bus, GST_MESSAGE_WARNING, words);
  for (guint i = 0; i < 200; i++)
    fail_unless (is_at_edge (&rig, 0, 20));
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  rig_free (&rig);
}
GST_END_TEST;

/* --- refused input ------------------------------------------------------- */

static void
refuse_caps (const gchar *caps_text, const gchar *what)
{
  Rig rig = rig_new ("");
  GstCaps *caps = gst_caps_from_string (caps_text);

  gst_harness_play (rig.h);
  gst_harness_push_event (rig.h, gst_event_new_stream_start ("s"));
  gst_harness_push_event (rig.h, gst_event_new_caps (caps));
  bus_expect (rig.bus, GST_MESSAGE_ERROR, what);
  gst_harness_push_event (rig.h, gst_event_new_caps (caps));
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR) == NULL);
  gst_caps_unref (caps);
  rig_free (&rig);
}

GST_START_TEST (test_bad_caps)
{
  refuse_caps ("video/x-raw,format=GRAY8,width=96,height=96", "framerate");
  refuse_caps (
      "video/x-raw,format=GRAY8,width=39,height=96,framerate=1/1", "39x96");
  refuse_caps (
      "video/x-raw,format=GRAY8,width=96,height=32,framerate=1/1", "96x32");
  refuse_caps ("video/x-raw,format=GRAY8,width=16385,height=96,framerate=1/1",
      "16385x96");
}
GST_END_TEST;

static void
refuse_settings (const gchar *settings, const gchar *what)
{
  gchar *line = g_strdup_printf ("cudapbfmonitor backend=cpu %s", settings);
  GstElement *element = gst_parse_launch (line, NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  bus_expect (bus, GST_MESSAGE_ERROR, what);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  gst_bus_set_flushing (bus, TRUE); /* its messages reference the element */
  gst_object_unref (bus);
  g_free (line);
}

GST_START_TEST (test_bad_settings)
{
  refuse_settings ("polar-inner-radius=30 polar-outer-radius=20", "polar");
  refuse_settings (
      "roi-size=44", "region of interest is 44, must be a multiple of 8");
  refuse_settings ("calibration=1,2,3", "calibration=\"1,2,3\"");
  refuse_settings ("calibration=1,2,3,2,4,6,0,0,1", "calibration=");
  refuse_settings ("model-location=/nowhere/at-all.safetensors",
      "/nowhere/at-all.safetensors");
}
GST_END_TEST;

/* Elements that query caps first also get the error text; an element that
 * can scale is still asked for frames that are large enough. */
GST_START_TEST (test_small_frames_behind_a_converter)
{
  static const gchar *words =
      "Unsupported frame size: 32x32 is not in 40x40 to";

  bus_expect_first ("videotestsrc num-buffers=3 ! "
                    "video/x-raw,width=32,height=32,framerate=100/1 ! "
                    "videoconvert ! cudapbfmonitor backend=cpu ! fakesink",
      GST_MESSAGE_ERROR, words);
  bus_expect_first ("videotestsrc num-buffers=3 ! "
                    "video/x-raw,width=96,height=96,framerate=100/1 ! "
                    "videoconvert ! cudapbfmonitor backend=cpu roi-size=128 ! "
                    "fakesink",
      GST_MESSAGE_ERROR,
      "96x96 is not in 128x128 to 16384x16384. Crop or scale "
      "the frames, or lower roi-size");
  bus_expect_first ("videotestsrc num-buffers=3 ! "
                    "video/x-raw,width=32,height=32,framerate=100/1 ! "
                    "videoconvert ! identity ! queue ! "
                    "cudapbfmonitor backend=cpu ! fakesink",
      GST_MESSAGE_ERROR, words);
  bus_expect_first ("videotestsrc num-buffers=3 ! "
                    "video/x-raw,width=32,height=32,framerate=100/1 ! "
                    "videoconvert ! videoscale ! "
                    "cudapbfmonitor backend=cpu position-source=centroid ! "
                    "fakesink",
      GST_MESSAGE_EOS, NULL);
}
GST_END_TEST;

GST_START_TEST (test_model)
{
  gchar *name =
      model_file_new ("\"feature_spec\":\"pbf40-v1\",\"threshold\":\"90\""
                      ",\"window\":\"20\",\"outputs\":\"lof,keyhole\""
                      ",\"activation\":\"softmax\"");
  gchar *settings =
      g_strdup_printf ("model-location=%s batch-size=5 vote-window=3", name);
  Frames *frames = frames_new (5);
  Rig rig = rig_new_playing (settings);
  GstCaps *caps, *expected;
  GstEvent *event;
  gchar *text;

  bus_expect (rig.bus, GST_MESSAGE_WARNING, "threshold=90 (here 100)");
  push_frames (&rig, frames, 0, 5);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = gst_harness_pull (rig.h);
    const CvisPbfResult *result = gst_cvis_buffer_get_pbf_meta (buffer)->result;

    fail_unless_equals_int (result->n_outputs, 2);
    fail_unless_equals_int (result->class_index, 0);
    fail_unless (result->class_probability == 0.5f);
    fail_unless_equals_int (result->vote_class, 0);
    fail_unless_equals_int (result->vote_n, MIN (i + 1, 3));
    fail_unless_equals_int (result->vote_count, result->vote_n);
    gst_buffer_unref (buffer);
  }
  event = gst_pad_get_sticky_event (
      rig.h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  fail_unless (event != NULL);
  text = gst_structure_to_string (gst_event_get_structure (event));
  fail_unless (
      strstr (text, "lof, ") != NULL && strstr (text, "keyhole") != NULL,
      "names are %s", text);
  g_free (text);
  gst_event_unref (event);
  gst_buffer_unref (gst_harness_pull (rig.r));
  caps = gst_pad_get_current_caps (rig.r->sinkpad);
  expected = gst_caps_from_string (GST_CVIS_PBF_RESULT_CAPS
      ", outputs=(int)2, output-names=(string)<lof,keyhole>");
  fail_unless (gst_caps_is_strictly_equal (caps, expected));
  gst_caps_unref (expected);
  gst_caps_unref (caps);
  rig_free (&rig);
  g_remove (name);
  g_free (name);
  g_free (settings);

  name = model_file_new ("\"feature_spec\":\"pbf41-v1\"");
  settings = g_strdup_printf ("model-location=%s", name);
  refuse_settings (settings, "pbf41-v1");
  g_remove (name);
  g_free (name);
  g_free (settings);
  frames_free (frames);
}
GST_END_TEST;

/* --- learn-baseline -------------------------------------------------------- */

static void
append_outputs (
    GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer outputs)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gsize at = 0; at < map.size; at += sizeof (CvisPbfResult)) {
    const CvisPbfResult *result = (const CvisPbfResult *) (map.data + at);
    const gfloat output = result->flags & CVIS_PBF_RESULT_WARMUP ? G_MAXFLOAT
                          : result->n_outputs > 0 ? result->outputs[0]
                                                  : -1;

    g_array_append_val ((GArray *) outputs, output);
  }
  gst_buffer_unmap (buffer, &map);
}

/* Runs @n simulated frames through the element; gathers an output of each record: -1 if
 * it has none, the largest float if the window is incomplete. @expected: (nullable):
 * text of the error */
static GArray *
run_simulated (guint n, const gchar *settings, const gchar *expected)
{
  GArray *outputs = g_array_new (FALSE, FALSE, sizeof (gfloat));
  gchar *line = g_strdup_printf ("pbftestsrc num-buffers=%u seed=9 ! "
                                 "cudapbfmonitor name=m backend=cpu %s "
                                 "! fakesink m.src_result ! "
                                 "fakesink name=r signal-handoffs=true",
      n, settings);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  g_signal_connect (sink, "handoff", G_CALLBACK (append_outputs), outputs);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  if (expected != NULL) {
    GError *error = NULL;

    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (strstr (error->message, expected) != NULL,
        "\"%s\" lacks \"%s\"", error->message, expected);
    g_error_free (error);
  } else {
    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (line);
  return outputs;
}

static void
expect_baseline_error (const gchar *settings, guint n, const gchar *expected)
{
  g_array_unref (run_simulated (n, settings, expected));
}

/* The network has no outputs until the baseline is complete, then those of the stored
 * file, which a second run gets from the first frame on. */
GST_START_TEST (test_learn_baseline)
{
  gchar *model = model_file_new_weighted (
      "\"feature_spec\":\"pbf40-v1\",\"baseline\":\"required\"", 0.125f);
  gchar *stored = g_strconcat (model, ".stored", NULL);
  gchar *settings =
      g_strdup_printf ("model-location=%s baseline-location=%s machine=\"M 1\" "
                       "learn-baseline=2000 batch-size=64",
          model, stored);
  GArray *learned = run_simulated (4000, settings, NULL), *later;
  guint equal = 0, different = 0;

  g_free (settings);
  settings = g_strdup_printf (
      "model-location=%s machine=\"M 1\" batch-size=64", stored);
  later = run_simulated (4000, settings, NULL);
  fail_unless_equals_int (learned->len, 4000);
  fail_unless_equals_int (later->len, 4000);
  for (guint i = 0; i < 4000; i++) {
    const gfloat a = g_array_index (learned, gfloat, i);
    const gfloat b = g_array_index (later, gfloat, i);

    if (i < 2000)
      fail_unless (a == -1 || a == G_MAXFLOAT);
    else if (i > 3200 && b != -1)
      fail_unless (a == b, "record %u: %g, %g", i, a, b);
    equal += i >= 2000 && a == b && b > 0;
    different += i > 0 && b > 0 && b != g_array_index (later, gfloat, i - 1);
  }
  fail_unless (equal > 50 && different > 500);
  g_array_unref (learned);
  g_array_unref (later);
  g_free (settings);

  settings = g_strdup_printf ("model-location=%s machine=M2", stored);
  expect_baseline_error (
      settings, 10, "of the machine \"M 1\", not of \"M2\". Learn a baseline");
  g_free (settings);
  g_remove (stored);
  g_remove (model);
  g_free (stored);
  g_free (model);
}
GST_END_TEST;

GST_START_TEST (test_learn_baseline_refused)
{
  gchar *model = model_file_new (
      "\"feature_spec\":\"pbf40-v1\",\"baseline\":\"required\"");
  gchar *stored = g_strconcat (model, ".stored", NULL);
  const struct {
    const gchar *settings, *says;
    guint n;
  } cases[] = {
    { "learn-baseline=1999 machine=m model-location=MODEL "
      "baseline-location=STORED",
        "1999 frames is not in 2000", 10 },
    { "learn-baseline=2000 machine=m baseline-location=STORED",
        "Set model-location", 10 },
    { "learn-baseline=2000 machine=m model-location=MODEL",
        "Set baseline-location", 10 },
    { "learn-baseline=2000 model-location=MODEL baseline-location=STORED",
        "Set machine", 10 },
    { "learn-baseline=2000 machine=m model-location=MODEL "
      "baseline-location=MODEL",
        "Set another one", 10 },
    { "learn-baseline=2000 machine=m model-location=MODEL "
      "baseline-location=STORED",
        "ended after 9", 1000 },
    { "learn-baseline=2000 machine=m model-location=MODEL "
      "baseline-location=/no/such/folder/x",
        "Check baseline-location", 3000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GString *settings = g_string_new (cases[i].settings);

    g_string_replace (settings, "MODEL", model, 0);
    g_string_replace (settings, "STORED", stored, 0);
    expect_baseline_error (settings->str, cases[i].n, cases[i].says);
    fail_if (g_file_test (stored, G_FILE_TEST_EXISTS));
    g_string_free (settings, TRUE);
  }
  g_remove (model);
  g_free (stored);
  g_free (model);
}
GST_END_TEST;

/* frames before the short one leave, then the error reports its size */
GST_START_TEST (test_short_buffer)
{
  Frames *frames = frames_new (2);
  Rig rig = rig_new_playing ("batch-size=8 max-latency=10000000000");

  push_frames (&rig, frames, 0, 2);
  fail_unless_equals_int (
      gst_harness_push (rig.h, gst_buffer_new_allocate (NULL, 2000, NULL)),
      GST_FLOW_ERROR);
  pull_all (&rig, frames, 2);
  bus_expect (rig.bus, GST_MESSAGE_ERROR, "2304 bytes expected for 48x48");
  rig_free (&rig);

  rig = rig_new ("");
  set_deep_caps (&rig, 0);
  fail_unless_equals_int (
      gst_harness_push (rig.h, gst_buffer_new_allocate (NULL, 4607, NULL)),
      GST_FLOW_ERROR);
  bus_expect (rig.bus, GST_MESSAGE_ERROR, "4608 bytes expected for 48x48");
  rig_free (&rig);
  frames_free (frames);
}
GST_END_TEST;

/* --- pads and states ------------------------------------------------------- */

GST_START_TEST (test_result_pad)
{
  Frames *frames = frames_new (8);
  GstElement *element =
      gst_parse_launch ("cudapbfmonitor backend=cpu batch-size=4 "
                        "max-latency=10000000000",
          NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src"), *r;

  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < 4; i++)
    gst_harness_push (h, frame_buffer (frames, i, 0));
  for (guint i = 0; i < 4; i++)
    gst_buffer_unref (gst_harness_pull (h));

  /* a pad requested late starts with the current frame */
  r = gst_harness_new_with_element (element, NULL, "src_result");
  fail_unless (
      gst_element_request_pad (element,
          gst_element_get_pad_template (element, "src_result"), NULL, NULL)
      == NULL);
  for (guint i = 4; i < 8; i++)
    gst_harness_push (h, frame_buffer (frames, i, 0));
  for (guint i = 4; i < 8; i++)
    gst_buffer_unref (gst_harness_pull (h));
  {
    GstBuffer *buffer = gst_harness_pull (r);
    fail_unless (
        gst_buffer_memcmp (buffer, 0, &frames->expected[4], 4 * 896) == 0);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (r);
  gst_harness_teardown (h);
  gst_object_unref (element);
  frames_free (frames);
}
GST_END_TEST;

/* A list with more batches than a queue holds buffers: both branches
 * preroll. */
GST_START_TEST (test_long_list_prerolls)
{
  GstElement *pipeline = gst_parse_launch (
      "pbftestsrc num-buffers=600 frames-per-list=300 ! "
      "cudapbfmonitor backend=cpu batch-size=1 name=m ! queue ! fakesink "
      "m.src_result ! queue ! fakesink",
      NULL);

  fail_unless (pipeline != NULL);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (
      gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
cudapbfmonitor_suite (void)
{
  Suite *s = suite_create ("cudapbfmonitor");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_single_buffers, 0, G_N_ELEMENTS (batch_sizes));
  tcase_add_loop_test (tc, test_mixed_lists, 0, G_N_ELEMENTS (batch_sizes));
  tcase_add_test (tc, test_strides_and_memories);
  tcase_add_test (tc, test_shared_buffers);
  tcase_add_loop_test (tc, test_deep_formats, 0, G_N_ELEMENTS (deep));
  tcase_add_test (tc, test_change_of_depth);
  tcase_add_test (tc, test_8_bits_preferred);
  tcase_add_test (tc, test_latency);
  tcase_add_test (tc, test_max_latency);
  tcase_add_test (tc, test_held_time);
  tcase_add_test (tc, test_latency_of_slow_frames);
  tcase_add_test (tc, test_no_waiting);
  tcase_add_loop_test (tc, test_flush, 0, 2);
  tcase_add_test (tc, test_gap);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_drop_empty);
  tcase_add_test (tc, test_bad_signals);
  tcase_add_test (tc, test_message);
  tcase_add_test (tc, test_reset_stats);
#ifdef __linux__
  tcase_add_test (tc, test_poll_core);
#endif
  tcase_add_test (tc, test_pool_at_edge);
  tcase_add_test (tc, test_roi_size);
  tcase_add_test (tc, test_mode_on_the_cpu);
  tcase_add_test (tc, test_warning_of_pool_at_edge);
  tcase_add_test (tc, test_warning_of_slow_sink);
  tcase_add_test (tc, test_bad_caps);
  tcase_add_test (tc, test_bad_settings);
  tcase_add_test (tc, test_small_frames_behind_a_converter);
  tcase_add_test (tc, test_model);
  tcase_add_test (tc, test_learn_baseline);
  tcase_add_test (tc, test_learn_baseline_refused);
  tcase_add_test (tc, test_short_buffer);
  tcase_add_test (tc, test_result_pad);
  tcase_add_test (tc, test_long_list_prerolls);
  return s;
}

GST_CHECK_MAIN (cudapbfmonitor);
