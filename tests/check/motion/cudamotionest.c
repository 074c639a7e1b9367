/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest: compares frames, packets and pictures with the engine's
 * results, for all kinds of input; N in and N out; order, flush, gaps,
 * latency; scene cuts and regions; error messages. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/video/video.h>
#include <string.h>

#include "tests/check/common/busmessages.h"
#include "cuda/core/device/device.h"
#include "tests/check/common/memorylimit.h"
#include "motionclip.h"

#define WIDTH 75
#define HEIGHT 53
/* and the default method, with its precision */
#define SETTINGS "block-size=16 search-range=8 message-interval=0 "

/* --- the element between harnesses ------------------------------------------ */

typedef struct {
  GstElement *element;
  GstHarness *h;                               /* sink and source pad */
  GstHarness *vectors, *prediction, *residual; /* NULL: not requested */
  GstBus *bus;
} Rig;

static Rig
rig_new (const gchar *settings, gboolean with_sides)
{
  gchar *line =
      g_strdup_printf ("cudamotionest backend=cpu " SETTINGS "%s", settings);
  Rig rig = { .element = gst_parse_launch (line, NULL) };

  fail_unless (rig.element != NULL);
  g_free (line);
  rig.bus = gst_bus_new ();
  gst_element_set_bus (rig.element, rig.bus);
  rig.h = gst_harness_new_with_element (rig.element, "sink", "src");
  if (with_sides) {
    rig.vectors =
        gst_harness_new_with_element (rig.element, NULL, "src_vectors");
    rig.prediction =
        gst_harness_new_with_element (rig.element, NULL, "src_prediction");
    rig.residual =
        gst_harness_new_with_element (rig.element, NULL, "src_residual");
  }
  return rig;
}

static void
rig_set_caps (Rig *rig, const MotionClip *clip)
{
  GstCaps *caps = gst_video_info_to_caps (&clip->info);

  gst_harness_set_src_caps (rig->h, caps);
}

static Rig
rig_new_playing (const gchar *settings, gboolean with_sides, MotionClip *clip)
{
  Rig rig = rig_new (settings, with_sides);

  rig_set_caps (&rig, clip);
  return rig;
}

static void
rig_free (Rig *rig)
{
  if (rig->vectors != NULL) {
    gst_harness_teardown (rig->vectors);
    gst_harness_teardown (rig->prediction);
    gst_harness_teardown (rig->residual);
  }
  gst_harness_teardown (rig->h);
  gst_bus_set_flushing (rig->bus, TRUE);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->element);
}

static MotionConfig
config_for (guint width, guint height)
{
  MotionConfig config;

  motion_config_init (&config);
  config.width = width;
  config.height = height;
  config.method = MOTION_METHOD_FIELD;
  config.block_size = 16;
  config.subpel = MOTION_SUBPEL_QUARTER;
  config.range = 8;
  return config;
}

static MotionClip *
clip_new (guint n)
{
  MotionConfig config = config_for (WIDTH, HEIGHT);

  return motion_clip_new (GST_VIDEO_FORMAT_GRAY8, &config, NULL, n);
}

static void
push_frames (Rig *rig, const MotionClip *clip, guint first, guint n)
{
  for (guint i = first; i < first + n; i++)
    fail_unless_equals_int (
        gst_harness_push (rig->h, motion_clip_buffer (clip, i, 0)),
        GST_FLOW_OK);
}

static void
push_eos (Rig *rig)
{
  fail_unless (gst_harness_push_event (rig->h, gst_event_new_eos ()));
}

/* Takes the next frame and checks pixels, time and metas. */
static void
pull_frame (Rig *rig, const MotionClip *clip, guint i)
{
  GstBuffer *buffer = gst_harness_pull (rig->h);
  gsize size;
  const guint8 *data = g_bytes_get_data (clip->video[i], &size);

  fail_unless (buffer != NULL, "frame %u is missing", i);
  fail_unless_equals_uint64 (
      GST_BUFFER_PTS (buffer), (guint64) i * MOTION_CLIP_FRAME_NS);
  if (gst_buffer_get_video_meta (buffer) == NULL) {
    fail_unless_equals_int (gst_buffer_get_size (buffer), size);
    fail_unless (gst_buffer_memcmp (buffer, 0, data, size) == 0);
  }
  motion_clip_check_metas (clip, i, buffer);
  gst_buffer_unref (buffer);
}

static void
pull_side (GstHarness *h, const MotionClip *clip, GBytes **expected, guint i,
    guint64 number)
{
  GstBuffer *buffer = gst_harness_pull (h);

  fail_unless (buffer != NULL, "frame %u is missing", i);
  if (expected == NULL) {
    motion_clip_check_packet (clip, i, number, buffer);
  } else {
    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (buffer), (guint64) i * MOTION_CLIP_FRAME_NS);
    motion_clip_check_picture (clip, expected[i], buffer);
  }
  gst_buffer_unref (buffer);
}

/* Checks everything about frames @first to @first + @n - 1, which are
 * numbered from @number. */
static void
pull_all (
    Rig *rig, const MotionClip *clip, guint first, guint n, guint64 number)
{
  for (guint i = first; i < first + n; i++) {
    pull_frame (rig, clip, i);
    if (rig->vectors == NULL)
      continue;
    pull_side (rig->vectors, clip, NULL, i, number + i - first);
    pull_side (rig->prediction, clip, clip->predictions, i, 0);
    pull_side (rig->residual, clip, clip->residuals, i, 0);
  }
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

/* The element message @name; NULL if there is none. */
static GstStructure *
pop_message (Rig *rig, const gchar *name)
{
  GstMessage *message;
  GstStructure *found = NULL;

  while (found == NULL
         && (message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *s = gst_message_get_structure (message);

    if (gst_structure_has_name (s, name))
      found = gst_structure_copy (s);
    gst_message_unref (message);
  }
  return found;
}

/* --- the same results for any input -------------------------------------- */

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8,
  GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_Y42B,
  GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_P010_10LE,
  GST_VIDEO_FORMAT_I420_10LE };

static void
check_picture_caps (GstHarness *h, const gchar *format)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GstCaps *expected = gst_caps_from_string ("video/x-raw,width=75,height=53,"
                                            "framerate=25/1");

  gst_caps_set_simple (expected, "format", G_TYPE_STRING, format, NULL);
  fail_unless (caps != NULL && gst_caps_is_subset (caps, expected));
  gst_caps_unref (caps);
  gst_caps_unref (expected);
}

GST_START_TEST (test_formats)
{
  MotionConfig config = config_for (WIDTH, HEIGHT);
  MotionClip *clip = motion_clip_new (formats[__i__], &config, NULL, 5);
  gboolean deep = clip->config.depth > 8;
  Rig rig = rig_new_playing ("", TRUE, clip);
  GstCaps *caps, *expected;

  push_frames (&rig, clip, 0, 5);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 5, 0);
  check_picture_caps (rig.prediction, deep ? "GRAY16_LE" : "GRAY8");
  check_picture_caps (rig.residual, deep ? "GRAY16_LE" : "GRAY8");
  caps = gst_pad_get_current_caps (rig.vectors->sinkpad);
  expected = gst_caps_from_string (GST_CVIS_MOTION_VECTORS_CAPS);
  fail_unless (gst_caps_is_equal (caps, expected));
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  fail_unless_equals_uint64 (rig_stat (&rig, "frames"), 5);
  fail_unless_equals_uint64 (rig_stat (&rig, "first-frames"), 1);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

static const struct {
  const gchar *settings;
  MotionMethod method;
  guint references;
  gboolean bidirectional;
  MotionSubpel subpel;
} modes[] = {
  { "method=step subpel=none", MOTION_METHOD_STEP, 1, FALSE, 0 },
  { "method=zonal subpel=none", MOTION_METHOD_ZONAL, 1, FALSE, 0 },
  { "bidirectional=true references=2", MOTION_METHOD_FIELD, 2, TRUE,
      MOTION_SUBPEL_QUARTER },
  { "subpel=none references=4", MOTION_METHOD_FIELD, 4, FALSE, 0 },
  { "subpel=half threads=2", MOTION_METHOD_FIELD, 1, FALSE,
      MOTION_SUBPEL_HALF },
  { "method=full subpel=none references=4", MOTION_METHOD_FULL, 4, FALSE, 0 },
  { "method=full subpel=none bidirectional=true", MOTION_METHOD_FULL, 1, TRUE,
      0 },
  { "method=full bidirectional=true references=4", MOTION_METHOD_FULL, 4, TRUE,
      MOTION_SUBPEL_QUARTER },
  { "method=full subpel=half threads=2", MOTION_METHOD_FULL, 1, FALSE,
      MOTION_SUBPEL_HALF },
};

static MotionClip *
clip_of_mode (guint mode, guint n)
{
  MotionConfig config = config_for (WIDTH, HEIGHT);

  config.method = modes[mode].method;
  config.references = modes[mode].references;
  config.bidirectional = modes[mode].bidirectional;
  config.subpel = modes[mode].subpel;
  return motion_clip_new (GST_VIDEO_FORMAT_NV12, &config, NULL, n);
}

/* including fewer frames than are waited for */
GST_START_TEST (test_modes)
{
  static const guint lengths[] = { 1, 2, 3, 12 };

  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++) {
    MotionClip *clip = clip_of_mode (__i__, lengths[k]);
    Rig rig = rig_new_playing (modes[__i__].settings, TRUE, clip);

    push_frames (&rig, clip, 0, clip->n);
    push_eos (&rig);
    pull_all (&rig, clip, 0, clip->n, 0);
    fail_unless_equals_uint64 (rig_stat (&rig, "frames"), clip->n);
    fail_unless_equals_int (gst_harness_buffers_in_queue (rig.h), 0);
    rig_free (&rig);
    motion_clip_free (clip);
  }
}
GST_END_TEST;

static const struct {
  guint width, height;
} sizes[] = { { 1, 1 }, { 2, 500 }, { 15, 17 }, { 16, 16 }, { 33, 9 },
  { 129, 31 } };

/* padded rows, planes at a distance, two memories */
GST_START_TEST (test_sizes_and_layouts)
{
  MotionConfig config = config_for (sizes[__i__].width, sizes[__i__].height);

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    MotionClip *clip = motion_clip_new (formats[f], &config, NULL, 4);
    Rig rig = rig_new_playing ("", TRUE, clip);

    for (guint i = 0; i < clip->n; i++) {
      GstBuffer *buffer = motion_clip_buffer (clip, i, i % 2 ? 2 * i : 0);

      if (i == 2) {
        GstMemory *whole = gst_buffer_get_memory (buffer, 0);
        gst_buffer_replace_memory (buffer, 0, gst_memory_copy (whole, 0, 1));
        gst_buffer_append_memory (buffer, gst_memory_copy (whole, 1, -1));
        gst_memory_unref (whole);
      }
      fail_unless_equals_int (gst_harness_push (rig.h, buffer), GST_FLOW_OK);
    }
    push_eos (&rig);
    pull_all (&rig, clip, 0, clip->n, 0);
    rig_free (&rig);
    motion_clip_free (clip);
  }
}
GST_END_TEST;

/* Frames three times as wide and high, with a rest: the middle samples of the squares
 * are the clip's, the others are noise. */
static GstBuffer *
enlarge_frame (const MotionClip *clip, guint i, const GstVideoInfo *info)
{
  const guint8 *from = g_bytes_get_data (clip->video[i], NULL);
  const gsize stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&clip->info, 0);
  const gsize to_stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  const gsize size = (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize k = 0; k < map.size; k++)
    map.data[k] = (guint8) g_random_int ();
  for (gsize y = 0; y < HEIGHT; y++)
    for (gsize x = 0; x < WIDTH; x++)
      memcpy (map.data + (3 * y + 1) * to_stride + (3 * x + 1) * size,
          from + y * stride + x * size, size);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = i * MOTION_CLIP_FRAME_NS;
  GST_BUFFER_DURATION (buffer) = MOTION_CLIP_FRAME_NS;
  return buffer;
}

/* Packets and pictures are those of the samples; frames have no vectors. */
GST_START_TEST (test_search_size)
{
  static const GstVideoFormat depths[] = { GST_VIDEO_FORMAT_GRAY8,
    GST_VIDEO_FORMAT_I420_10LE };
  MotionConfig config = config_for (WIDTH, HEIGHT);
  MotionClip *clip = motion_clip_new (depths[__i__], &config, NULL, 4);
  Rig rig = rig_new ("search-size=76", TRUE);
  GstVideoInfo info;

  gst_video_info_set_format (
      &info, depths[__i__], 3 * WIDTH + 2, 3 * HEIGHT + 1);
  GST_VIDEO_INFO_FPS_N (&info) = 25;
  gst_harness_set_src_caps (rig.h, gst_video_info_to_caps (&info));
  for (guint i = 0; i < clip->n; i++)
    fail_unless_equals_int (
        gst_harness_push (rig.h, enlarge_frame (clip, i, &info)), GST_FLOW_OK);
  push_eos (&rig);
  for (guint i = 0; i < clip->n; i++) {
    GstBuffer *buffer = gst_harness_pull (rig.h);

    fail_unless_equals_int (
        gst_buffer_get_size (buffer), GST_VIDEO_INFO_SIZE (&info));
    fail_unless (
        gst_buffer_get_n_meta (buffer, GST_CVIS_MOTION_VECTOR_META_API_TYPE)
        == 0);
    gst_buffer_unref (buffer);
    pull_side (rig.vectors, clip, NULL, i, i);
    pull_side (rig.prediction, clip, clip->predictions, i, 0);
    pull_side (rig.residual, clip, clip->residuals, i, 0);
  }
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* a frame whose visible part begins at (5, 3) */
GST_START_TEST (test_visible_part)
{
  MotionConfig config = config_for (WIDTH, HEIGHT);
  MotionClip *clip = motion_clip_new (GST_VIDEO_FORMAT_GRAY8, &config, NULL, 3);
  Rig rig = rig_new_playing ("", FALSE, clip);

  for (guint i = 0; i < 3; i++) {
    gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
    gint strides[GST_VIDEO_MAX_PLANES] = { 96 };
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 96 * 64, NULL);
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);
    const guint8 *data = g_bytes_get_data (clip->video[i], NULL);

    gst_buffer_memset (buffer, 0, 0x11, 96 * 64);
    for (guint y = 0; y < HEIGHT; y++)
      gst_buffer_fill (buffer, (y + 3) * 96 + 5,
          data + y * (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&clip->info, 0),
          WIDTH);
    *crop = (GstVideoCropMeta){
      .meta = crop->meta, .x = 5, .y = 3, .width = WIDTH, .height = HEIGHT
    };
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_FORMAT_GRAY8, 90, 64, 1, offsets, strides);
    GST_BUFFER_PTS (buffer) = i * MOTION_CLIP_FRAME_NS;
    fail_unless_equals_int (gst_harness_push (rig.h, buffer), GST_FLOW_OK);
  }
  push_eos (&rig);
  pull_all (&rig, clip, 0, 3, 0);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* buffers with another owner stay unchanged, without a copy; the packet
 * shares the metas' memory */
GST_START_TEST (test_shared_memory)
{
  MotionClip *clip = clip_new (4);
  Rig rig = rig_new_playing ("", TRUE, clip);
  GstBuffer *held[4], *out, *packet;

  for (guint i = 0; i < 4; i++) {
    held[i] = motion_clip_buffer (clip, i, 0);
    gst_harness_push (rig.h, gst_buffer_ref (held[i]));
  }
  for (guint i = 0; i < 4; i++) {
    GstCvisMotionVectorMeta *meta;

    out = gst_harness_pull (rig.h);
    packet = gst_harness_pull (rig.vectors);
    meta = gst_cvis_buffer_get_motion_vector_meta (out, -1);
    fail_unless ((meta != NULL) == (i > 0));
    fail_unless (gst_cvis_buffer_get_motion_vector_meta (held[i], -1) == NULL);
    fail_unless (
        gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (held[i], 0));
    if (meta != NULL)
      fail_unless (gst_buffer_peek_memory (meta->buffer, 0)
                   == gst_buffer_peek_memory (packet, 0));
    gst_buffer_unref (out);
    gst_buffer_unref (packet);
    gst_buffer_unref (held[i]);
  }
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* downstream can copy and scale frames with their vectors */
GST_START_TEST (test_scaled_downstream)
{
  MotionClip *clip = clip_new (2);
  GstHarness *h = gst_harness_new_parse (
      "cudamotionest backend=cpu " SETTINGS "! videoscale ! "
      "capsfilter caps=video/x-raw,width=150,height=106");
  GstCvisMotionVectorMeta *meta;
  GstVideoRectangle rect;
  GstBuffer *buffer;

  gst_harness_set_src_caps (h, gst_video_info_to_caps (&clip->info));
  for (guint i = 0; i < 2; i++)
    gst_harness_push (h, motion_clip_buffer (clip, i, 0));
  gst_buffer_unref (gst_harness_pull (h));
  buffer = gst_harness_pull (h);
  meta = gst_cvis_buffer_get_motion_vector_meta (buffer, -1);
  fail_unless (meta != NULL);
  gst_cvis_motion_vector_meta_get_block (meta, 1, 1, &rect, NULL, NULL);
  fail_unless_equals_int (rect.x, 32);
  fail_unless_equals_int (rect.h, 32);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  motion_clip_free (clip);
}
GST_END_TEST;

/* --- sequences ------------------------------------------------------------- */

GST_START_TEST (test_duplicates)
{
  static const MotionClipStep steps[] = { MOTION_CLIP_MOVES, MOTION_CLIP_SAME,
    MOTION_CLIP_MOVES, MOTION_CLIP_SAME, MOTION_CLIP_SAME };
  MotionConfig config = config_for (WIDTH, HEIGHT);
  MotionClip *clip = motion_clip_new (GST_VIDEO_FORMAT_I420, &config, steps, 5);
  Rig rig = rig_new_playing ("", TRUE, clip);

  push_frames (&rig, clip, 0, 5);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 5, 0);
  fail_unless_equals_uint64 (rig_stat (&rig, "duplicates"), 3);
  fail_unless_equals_uint64 (rig_stat (&rig, "first-frames"), 1);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* frames at any distance in time, some without timestamps: none is dropped */
GST_START_TEST (test_variable_rate)
{
  static const GstClockTime times[] = { 0, 40, 41, 1000, GST_CLOCK_TIME_NONE,
    5000 };
  MotionClip *clip = clip_new (6);
  Rig rig = rig_new_playing ("bidirectional=true", FALSE, clip);

  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer = motion_clip_buffer (clip, i, 0);

    GST_BUFFER_PTS (buffer) = times[i] == GST_CLOCK_TIME_NONE
                                  ? GST_CLOCK_TIME_NONE
                                  : times[i] * GST_MSECOND;
    gst_harness_push (rig.h, buffer);
  }
  push_eos (&rig);
  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer = gst_harness_pull (rig.h);
    GstCvisMotionVectorMeta *meta;

    fail_unless (buffer != NULL);
    meta = gst_cvis_buffer_get_motion_vector_meta (buffer, -1);
    fail_unless ((meta != NULL) == (i > 0));
    if (i == 3)
      fail_unless (meta->field->reference_time == -959 * (gint64) GST_MSECOND);
    if (i == 4 || i == 5)
      fail_unless (meta->field->reference_time == G_MININT64);
    meta = gst_cvis_buffer_get_motion_vector_meta (buffer, 1);
    fail_unless ((meta != NULL) == (i < 5));
    if (i == 2)
      fail_unless (meta->field->reference_time == 959 * (gint64) GST_MSECOND);
    gst_buffer_unref (buffer);
  }
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Adds what is equal in @clip from @at on as a sequence of its own. */
static void
expect_split (MotionClip *clip, guint at)
{
  motion_clip_expect (clip, 0, at);
  motion_clip_expect (clip, at, clip->n);
}

static const gchar *const directions[] = { "bidirectional=false",
  "bidirectional=true references=2" };
static const gchar *const intervals[] = { "interval=3",
  "interval=3 bidirectional=true references=2" };

static MotionClip *
clip_of_direction (guint direction, guint n)
{
  MotionConfig config = config_for (WIDTH, HEIGHT);

  config.bidirectional = direction == 1;
  config.references = direction == 1 ? 2 : 1;
  return motion_clip_new (GST_VIDEO_FORMAT_GRAY8, &config, NULL, n);
}

GST_START_TEST (test_renegotiation)
{
  MotionClip *clip = clip_of_direction (__i__, 5), *other;
  MotionConfig config = clip->config;
  Rig rig = rig_new_playing (directions[__i__], TRUE, clip);

  config.width = 48;
  config.height = 33;
  other = motion_clip_new (GST_VIDEO_FORMAT_P010_10LE, &config, NULL, 4);
  push_frames (&rig, clip, 0, 5);
  rig_set_caps (&rig, other);
  pull_all (&rig, clip, 0, 5, 0);
  push_frames (&rig, other, 0, 4);
  push_eos (&rig);
  pull_all (&rig, other, 0, 4, 5);
  fail_unless_equals_uint64 (rig_stat (&rig, "first-frames"), 2);
  rig_free (&rig);
  motion_clip_free (clip);
  motion_clip_free (other);
}
GST_END_TEST;

/* another frame rate does not start a new sequence */
GST_START_TEST (test_same_pictures)
{
  MotionClip *clip = clip_of_direction (__i__, 6);
  Rig rig = rig_new_playing (directions[__i__], TRUE, clip);
  GstCaps *caps;
  gint fps = 0, one = 0;

  push_frames (&rig, clip, 0, 3);
  clip->info.fps_n = 50;
  rig_set_caps (&rig, clip);
  push_frames (&rig, clip, 3, 3);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 6, 0);
  caps = gst_pad_get_current_caps (rig.residual->sinkpad);
  gst_structure_get_fraction (
      gst_caps_get_structure (caps, 0), "framerate", &fps, &one);
  fail_unless_equals_int (fps, 50);
  gst_caps_unref (caps);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

static void
push_segment (Rig *rig, GstClockTime start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = start;
  fail_unless (
      gst_harness_push_event (rig->h, gst_event_new_segment (&segment)));
}

/* repeating the same segment continues the sequence, another segment starts
 * a new one; so does a new stream, which counts from 0 */
GST_START_TEST (test_segments)
{
  MotionClip *clip = clip_of_direction (__i__, 6);
  Rig rig = rig_new_playing (directions[__i__], TRUE, clip);

  push_segment (&rig, 0);
  push_frames (&rig, clip, 0, 3);
  push_segment (&rig, 0);
  push_frames (&rig, clip, 3, 3);
  push_segment (&rig, GST_MSECOND);
  pull_all (&rig, clip, 0, 6, 0);
  push_frames (&rig, clip, 0, 6);
  gst_harness_push_event (rig.h, gst_event_new_stream_start ("another"));
  pull_all (&rig, clip, 0, 6, 6);
  push_segment (&rig, GST_MSECOND);
  push_frames (&rig, clip, 0, 6);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 6, 0);
  fail_unless_equals_uint64 (rig_stat (&rig, "first-frames"), 3);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* a gap does not end the sequence, but frames before it are pushed at once */
GST_START_TEST (test_gap_and_discont)
{
  MotionClip *clip = clip_of_direction (__i__, 8);
  Rig rig = rig_new_playing (directions[__i__], TRUE, clip);
  GstBuffer *buffer;
  GstEvent *event;
  guint gaps = 0;

  if (__i__ == 1)
    expect_split (clip, 4);
  push_frames (&rig, clip, 0, 4);
  fail_unless (gst_harness_push_event (rig.h,
      gst_event_new_gap (4 * MOTION_CLIP_FRAME_NS, MOTION_CLIP_FRAME_NS)));
  pull_all (&rig, clip, 0, 4, 0);
  push_frames (&rig, clip, 4, 2);
  buffer = motion_clip_buffer (clip, 6, 0);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_harness_push (rig.h, buffer);
  push_frames (&rig, clip, 7, 1);
  push_eos (&rig);
  pull_all (&rig, clip, 4, 4, 4);
  while ((event = gst_harness_try_pull_event (rig.vectors)) != NULL) {
    gaps += GST_EVENT_TYPE (event) == GST_EVENT_GAP;
    gst_event_unref (event);
  }
  fail_unless_equals_int (gaps, 1);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Records passing items in @order: b for buffers, t for tags. */
static GstPadProbeReturn
note_order (GstPad *pad, GstPadProbeInfo *info, gpointer order)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_c (order, 'b');
  else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_TAG)
    g_string_append_c (order, 't');
  return GST_PAD_PROBE_OK;
}

/* an event keeps its position between frames, although these are delayed */
GST_START_TEST (test_order_of_events)
{
  MotionClip *clip = clip_of_direction (__i__, 6);
  Rig rig = rig_new_playing (directions[__i__], FALSE, clip);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  GString *order = g_string_new (NULL);

  gst_pad_add_probe (src,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_order, order, NULL);
  for (guint i = 0; i < 6; i++) {
    push_frames (&rig, clip, i, 1);
    if (i % 2 == 0)
      gst_harness_push_event (rig.h, gst_event_new_tag (gst_tag_list_new (
                                         GST_TAG_TRACK_NUMBER, i + 1, NULL)));
  }
  push_eos (&rig);
  pull_all (&rig, clip, 0, 6, 0);
  fail_unless_equals_string (order->str, "btbbtbbtb");
  rig_free (&rig);
  g_string_free (order, TRUE);
  gst_object_unref (src);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Every third frame gets the same vectors as without the frames between,
 * which pass unchanged; frames and events keep their order. */
GST_START_TEST (test_interval)
{
  const guint n = 11;
  MotionClip *clip = clip_of_direction (__i__, n);
  Rig rig = rig_new_playing (intervals[__i__], FALSE, clip);
  Rig third = rig_new_playing (directions[__i__], FALSE, clip);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  GString *order = g_string_new (NULL);

  gst_pad_add_probe (src,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_order, order, NULL);
  for (guint i = 0; i < n; i++) {
    push_frames (&rig, clip, i, 1);
    if (i % 2 == 0)
      gst_harness_push_event (rig.h, gst_event_new_tag (gst_tag_list_new (
                                         GST_TAG_TRACK_NUMBER, i + 1, NULL)));
    if (i % 3 == 0)
      push_frames (&third, clip, i, 1);
  }
  push_eos (&rig);
  push_eos (&third);
  for (guint i = 0; i < n; i++) {
    GstBuffer *out = gst_harness_pull (rig.h), *expected;
    gsize size;
    const guint8 *data = g_bytes_get_data (clip->video[i], &size);
    gpointer state = NULL, state_expected = NULL;
    const GstCvisMotionVectorMeta *meta, *other;

    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (out), (guint64) i * MOTION_CLIP_FRAME_NS);
    fail_unless (gst_buffer_memcmp (out, 0, data, size) == 0);
    expected = i % 3 == 0 ? gst_harness_pull (third.h) : gst_buffer_new ();
    do {
      meta =
          (const GstCvisMotionVectorMeta *) gst_buffer_iterate_meta_filtered (
              out, &state, GST_CVIS_MOTION_VECTOR_META_API_TYPE);
      other =
          (const GstCvisMotionVectorMeta *) gst_buffer_iterate_meta_filtered (
              expected, &state_expected, GST_CVIS_MOTION_VECTOR_META_API_TYPE);
      fail_unless ((meta == NULL) == (other == NULL), "frame %u", i);
      if (meta == NULL)
        break;
      fail_unless (meta->packet->frame == i);
      fail_unless_equals_int (meta->field->distance, other->field->distance);
      fail_unless_equals_int64 (
          meta->field->reference_time, other->field->reference_time);
      fail_unless (memcmp (meta->vectors, other->vectors,
                       meta->packet->columns * meta->packet->rows
                           * sizeof (CvisMotionVector))
                   == 0);
    } while (TRUE);
    gst_buffer_unref (expected);
    gst_buffer_unref (out);
  }
  fail_unless_equals_string (order->str, "btbbtbbtbbtbbtbbt");
  fail_unless_equals_uint64 (rig_stat (&rig, "frames"), n);
  fail_unless_equals_uint64 (rig_stat (&rig, "skipped-frames"), n - 4);
  fail_unless_equals_uint64 (rig_stat (&rig, "first-frames"), 1);
  rig_free (&rig);
  rig_free (&third);
  g_string_free (order, TRUE);
  gst_object_unref (src);
  motion_clip_free (clip);
}
GST_END_TEST;

/* A flush also drops the frames between, and the next frame is searched. */
GST_START_TEST (test_interval_flush)
{
  MotionClip *clip = clip_of_direction (__i__, 5);
  Rig rig = rig_new_playing (intervals[__i__], FALSE, clip);

  push_frames (&rig, clip, 0, 5);
  gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  while (gst_harness_buffers_in_queue (rig.h) > 0)
    gst_buffer_unref (gst_harness_pull (rig.h));
  push_segment (&rig, 0);
  push_frames (&rig, clip, 0, 4);
  push_eos (&rig);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *out = gst_harness_pull (rig.h);

    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (out), (guint64) i * MOTION_CLIP_FRAME_NS);
    fail_unless (
        (gst_buffer_get_meta (out, GST_CVIS_MOTION_VECTOR_META_API_TYPE)
            != NULL)
        == (i == 3 || (i == 0 && __i__ == 1)));
    gst_buffer_unref (out);
  }
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Downstream refuses a frame between: upstream gets the flow. */
GST_START_TEST (test_interval_refused)
{
  MotionClip *clip = clip_new (2);
  Rig rig = rig_new_playing ("interval=100", FALSE, clip);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  GstPad *sink = gst_pad_get_peer (src);
  GstFlowReturn flow = GST_FLOW_OK;

  push_frames (&rig, clip, 0, 2);
  gst_buffer_unref (gst_harness_pull (rig.h));
  gst_buffer_unref (gst_harness_pull (rig.h));
  gst_pad_unlink (src, sink);
  while (flow == GST_FLOW_OK)
    flow = gst_harness_push (rig.h, motion_clip_buffer (clip, 1, 0));
  fail_unless_equals_int (flow, GST_FLOW_NOT_LINKED);
  gst_pad_link (src, sink);
  gst_object_unref (sink);
  gst_object_unref (src);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

static void
discard_all (GstHarness *h)
{
  while (gst_harness_buffers_in_queue (h) > 0)
    gst_buffer_unref (gst_harness_pull (h));
}

/* a FLUSH_STOP may come alone */
GST_START_TEST (test_flush)
{
  MotionClip *clip = clip_of_direction (__i__ % 2, 7);
  Rig rig = rig_new_playing (directions[__i__ % 2], TRUE, clip);

  push_frames (&rig, clip, 0, 7);
  if (__i__ < 2)
    gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  discard_all (rig.h);
  discard_all (rig.vectors);
  discard_all (rig.prediction);
  discard_all (rig.residual);

  /* from the first frame on, without any earlier state; the count continues */
  push_segment (&rig, 0);
  push_frames (&rig, clip, 0, 7);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 7, 7);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* a DRAIN query pushes frames that wait for future ones */
GST_START_TEST (test_drain)
{
  MotionClip *clip = clip_of_direction (1, 6);
  Rig rig = rig_new_playing (directions[1], FALSE, clip);
  GstQuery *query = gst_query_new_drain ();

  expect_split (clip, 3);
  push_frames (&rig, clip, 0, 3);
  gst_pad_peer_query (rig.h->srcpad, query);
  fail_unless_equals_int (gst_harness_buffers_in_queue (rig.h), 3);
  push_frames (&rig, clip, 3, 3);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 6, 0);
  gst_query_unref (query);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* --- time and memory ------------------------------------------------------- */

GST_START_TEST (test_latency)
{
  MotionClip *clip = clip_of_direction (__i__, 1);
  Rig rig = rig_new_playing (directions[__i__], FALSE, clip);
  guint frames = __i__ == 1 ? 4 : 2; /* two in flight, two that wait */

  gst_harness_set_upstream_latency (rig.h, 3 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (rig.h),
      3 * GST_MSECOND + frames * MOTION_CLIP_FRAME_NS);
  clip->info.fps_n = 50;
  rig_set_caps (&rig, clip);
  fail_unless_equals_uint64 (gst_harness_query_latency (rig.h),
      3 * GST_MSECOND + frames * MOTION_CLIP_FRAME_NS / 2);
  rig_free (&rig);
  /* a search may take as long as a frame's duration */
  clip->info.fps_n = 25;
  rig = rig_new_playing (intervals[__i__], FALSE, clip);
  fail_unless_equals_uint64 (
      gst_harness_query_latency (rig.h), 3 * frames * MOTION_CLIP_FRAME_NS);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* without a frame rate the frames' timestamps give the interval */
GST_START_TEST (test_latency_without_rate)
{
  MotionClip *clip = clip_new (3);
  Rig rig = rig_new ("", FALSE);
  GstClockTime distance = GST_SECOND / 30;
  GstMessage *message;
  guint n = 0;

  gst_harness_set_src_caps_str (
      rig.h, "video/x-raw,format=GRAY8,width=75,height=53");
  fail_unless_equals_uint64 (gst_harness_query_latency (rig.h), 2 * distance);
  while ((message = gst_bus_pop_filtered (rig.bus, GST_MESSAGE_LATENCY)))
    gst_message_unref (message);
  push_frames (&rig, clip, 0, 2);
  fail_unless_equals_uint64 (gst_harness_query_latency (rig.h), 4 * distance);
  push_frames (&rig, clip, 2, 1);
  while ((message = gst_bus_pop_filtered (rig.bus, GST_MESSAGE_LATENCY))) {
    n++;
    gst_message_unref (message);
  }
  fail_unless_equals_int (n, 1);
  pull_all (&rig, clip, 0, 3, 0);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Answers ALLOCATION as downstream, with @pool. */
static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *info, gpointer pool)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (query, pool, 4096, 2, 6);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return GST_PAD_PROBE_HANDLED;
}

static GstQuery *
ask_for_pool (Rig *rig, const MotionClip *clip, GstBufferPool **pool,
    guint *min, guint *max)
{
  GstCaps *caps = gst_video_info_to_caps (&clip->info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_peer_query (rig->h->srcpad, query));
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 1);
  gst_query_parse_nth_allocation_pool (query, 0, pool, NULL, min, max);
  gst_caps_unref (caps);
  return query;
}

/* without a pool of downstream, only the number of frames in use; otherwise
 * that pool, with so many more: two in flight, two waiting, one arriving */
GST_START_TEST (test_allocation)
{
  MotionClip *clip = clip_of_direction (1, 1);
  Rig rig = rig_new_playing (directions[1], FALSE, clip);
  GstBufferPool *pool = gst_buffer_pool_new (), *got;
  guint min, max;
  GstQuery *query = ask_for_pool (&rig, clip, &got, &min, &max);

  fail_unless (got == NULL);
  fail_unless_equals_int (min, 5);
  gst_query_unref (query);

  gst_pad_add_probe (rig.h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      offer_pool, pool, NULL);
  query = ask_for_pool (&rig, clip, &got, &min, &max);
  fail_unless (got == pool);
  fail_unless_equals_int (min, 7);
  fail_unless_equals_int (max, 11);
  fail_unless (
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_object_unref (got);
  gst_object_unref (pool);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* --- scene cuts and regions ------------------------------------------------ */

static gboolean
is_key_unit (GstEvent *event, GstClockTime *time)
{
  return gst_video_event_is_force_key_unit (event)
         && gst_video_event_parse_downstream_force_key_unit (
             event, NULL, NULL, time, NULL, NULL);
}

/* Records passing items in @order: b for buffers, k for key frame requests. */
static GstPadProbeReturn
note_key_units (GstPad *pad, GstPadProbeInfo *info, gpointer order)
{
  GstClockTime time;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    g_string_append_c (order, 'b');
  } else if (is_key_unit (GST_PAD_PROBE_INFO_EVENT (info), &time)) {
    g_string_append_c (order, 'k');
    /* the segment starts at frame 1, with a base of 7 s */
    fail_unless_equals_uint64 (time, 4 * MOTION_CLIP_FRAME_NS + 7 * GST_SECOND);
  }
  return GST_PAD_PROBE_OK;
}

static const MotionClipStep cut_steps[] = { MOTION_CLIP_MOVES,
  MOTION_CLIP_MOVES, MOTION_CLIP_MOVES, MOTION_CLIP_MOVES, MOTION_CLIP_MOVES,
  MOTION_CLIP_CUT, MOTION_CLIP_MOVES, MOTION_CLIP_MOVES };

GST_START_TEST (test_scene_cut)
{
  MotionConfig config = config_for (160, 120);
  MotionClip *clip =
      motion_clip_new (GST_VIDEO_FORMAT_I420, &config, cut_steps, 8);
  Rig rig = rig_new_playing ("force-key-units=true", TRUE, clip);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  GString *order = g_string_new (NULL);
  GstStructure *message;
  GstSegment segment;
  guint64 number, time;
  gboolean key_unit;
  gdouble score;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = MOTION_CLIP_FRAME_NS;
  segment.base = 7 * GST_SECOND;
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  gst_pad_add_probe (src,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_key_units, order, NULL);
  push_frames (&rig, clip, 0, 8);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 8, 0);
  fail_unless_equals_string (order->str, "bbbbbkbbb");
  message = pop_message (&rig, "cudamotionest-scene-cut");
  fail_unless (message != NULL);
  fail_unless (gst_structure_get (message, "frame", G_TYPE_UINT64, &number,
      "pts", G_TYPE_UINT64, &time, "novelty", G_TYPE_DOUBLE, &score, "key-unit",
      G_TYPE_BOOLEAN, &key_unit, NULL));
  fail_unless_equals_uint64 (number, 5);
  fail_unless_equals_uint64 (time, 5 * MOTION_CLIP_FRAME_NS);
  fail_unless (score > 0.5 && key_unit);
  gst_structure_free (message);
  fail_unless (pop_message (&rig, "cudamotionest-scene-cut") == NULL);
  fail_unless_equals_uint64 (rig_stat (&rig, "scene-cuts"), 1);
  fail_unless_equals_uint64 (rig_stat (&rig, "key-units"), 1);
  g_string_free (order, TRUE);
  gst_object_unref (src);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* A frame of @clip between bars of @bar rows. */
static GstBuffer *
boxed_buffer (const MotionClip *clip, guint i, guint bar)
{
  gsize size, side = (gsize) bar * clip->config.width;
  const guint8 *picture = g_bytes_get_data (clip->video[i], &size);
  guint8 *bytes = g_malloc (size + 2 * side);
  GstBuffer *buffer;

  memset (bytes, 16, size + 2 * side);
  memcpy (bytes + side, picture, size);
  buffer = gst_buffer_new_wrapped (bytes, size + 2 * side);
  GST_BUFFER_PTS (buffer) = i * MOTION_CLIP_FRAME_NS;
  return buffer;
}

static GstPadProbeReturn
note_key_order (GstPad *pad, GstPadProbeInfo *info, gpointer order)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_c (order, 'b');
  else if (gst_video_event_is_force_key_unit (GST_PAD_PROBE_INFO_EVENT (info)))
    g_string_append_c (order, 'k');
  return GST_PAD_PROBE_OK;
}

/* the key units of a letterboxed clip are those of its picture */
GST_START_TEST (test_key_units_between_bars)
{
  static const guint bars[] = { 0, 64, 75, 128 };
  static const gchar *const methods[] = { "full", "zonal", "field" };
  const guint block_size = 16u << __i__ % 3;
  MotionConfig config = config_for (512, 256);
  MotionClip *clip =
      motion_clip_new (GST_VIDEO_FORMAT_GRAY8, &config, cut_steps, 8);

  for (guint k = 0; k < G_N_ELEMENTS (bars); k++) {
    gchar *line = g_strdup_printf ("cudamotionest backend=cpu search-range=8 "
                                   "method=%s block-size=%u "
                                   "force-key-units=true",
        methods[__i__ / 3], block_size);
    gchar *caps = g_strdup_printf ("video/x-raw, format=GRAY8, width=512, "
                                   "height=%u, framerate=25/1",
        256 + 2 * bars[k]);
    GstHarness *h = gst_harness_new_parse (line);
    GString *order = g_string_new (NULL);

    gst_harness_set_src_caps_str (h, caps);
    gst_pad_add_probe (h->sinkpad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        note_key_order, order, NULL);
    for (guint i = 0; i < 8; i++)
      gst_harness_push (h, boxed_buffer (clip, i, bars[k]));
    gst_harness_push_event (h, gst_event_new_eos ());
    for (guint i = 0; i < 8; i++)
      gst_buffer_unref (gst_harness_pull (h));
    fail_unless (g_strcmp0 (order->str, "bbbbbkbbb") == 0,
        "block size %u, bars of %u: %s", block_size, bars[k], order->str);
    g_string_free (order, TRUE);
    gst_harness_teardown (h);
    g_free (line);
    g_free (caps);
  }
  motion_clip_free (clip);
}
GST_END_TEST;

GST_START_TEST (test_scene_cut_off)
{
  static const gchar *const settings[] = { "scene-threshold=0 "
                                           "force-key-units=true",
    "force-key-units=false" };
  MotionConfig config = config_for (160, 120);
  MotionClip *clip =
      motion_clip_new (GST_VIDEO_FORMAT_I420, &config, cut_steps, 8);
  Rig rig = rig_new_playing (settings[__i__], FALSE, clip);

  push_frames (&rig, clip, 0, 8);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 8, 0);
  fail_unless_equals_uint64 (rig_stat (&rig, "scene-cuts"), __i__);
  fail_unless_equals_uint64 (rig_stat (&rig, "key-units"), 0);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* the left third moves; the rest, and so the global motion, is at rest */
GST_START_TEST (test_regions)
{
  static const gchar *const names[] = { "roi/msdk", "roi/vaapi" };
  MotionConfig config = config_for (176, 112);
  MotionClip *clip = motion_clip_new (GST_VIDEO_FORMAT_NV12, &config, NULL, 3);
  gchar *settings =
      g_strdup_printf ("roi=%s roi-delta-qp=-9", names[__i__] + 4);
  Rig rig = rig_new_playing (settings, FALSE, clip);

  push_frames (&rig, clip, 0, 3);
  push_eos (&rig);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull (rig.h);
    GstVideoRegionOfInterestMeta *meta =
        (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
            buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    GstStructure *s;
    gint qp = 0;

    fail_unless ((meta != NULL) == (i > 0));
    if (meta != NULL) {
      fail_unless_equals_int (meta->roi_type, g_quark_from_string ("motion"));
      fail_unless (
          meta->x == 0 && meta->w >= 48 && meta->w <= 64 && meta->h >= 96,
          "%ux%u", meta->w, meta->h);
      s = gst_video_region_of_interest_meta_get_param (meta, names[__i__]);
      fail_unless (s != NULL && gst_structure_get_int (s, "delta-qp", &qp));
      fail_unless_equals_int (qp, -9);
      fail_unless (
          gst_video_region_of_interest_meta_get_param (meta, names[1 - __i__])
          == NULL);
    }
    gst_buffer_unref (buffer);
  }
  rig_free (&rig);
  g_free (settings);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Frame @i of 512x384: 48 squares of 32 pixels move on a texture at rest. */
static GstBuffer *
crowded_frame (guint i)
{
  guint8 *bytes = g_malloc (512 * 384);
  GstBuffer *buffer = gst_buffer_new_wrapped (bytes, 512 * 384);

  for (guint y = 0; y < 384; y++)
    for (guint x = 0; x < 512; x++) {
      gboolean moves = x % 64 < 32 && y % 64 < 32;
      guint32 h = (x + (moves ? 4 * i : 0)) * 0x9e3779b1u ^ y * 0x85ebca77u;

      h = (h ^ h >> 15) * 0x2c1b3c6du;
      bytes[y * 512 + x] = (guint8) (h >> 24);
    }
  GST_BUFFER_PTS (buffer) = i * MOTION_CLIP_FRAME_NS;
  return buffer;
}

/* regions beyond the sixteenth, and an offset that the encoder limits, are one
 * warning each */
GST_START_TEST (test_region_warnings)
{
  static const gchar *const settings[] = { "roi=msdk roi-delta-qp=-20",
    "roi=vaapi roi-delta-qp=-20 roi-min-motion=100" };
  static const gchar *const words[] = { "A frame has 48 moving regions: the "
                                        "largest 16 are attached",
    "roi-delta-qp is -20, but the encoders for roi=vaapi take -10 to 10" };
  Rig rig = rig_new (settings[__i__], FALSE);

  gst_harness_set_src_caps_str (rig.h,
      "video/x-raw, format=GRAY8, width=512, height=384, framerate=25/1");
  for (guint i = 0; i < 4; i++)
    gst_harness_push (rig.h, crowded_frame (i));
  push_eos (&rig);
  for (guint i = 0; i < 4; i++)
    gst_buffer_unref (gst_harness_pull (rig.h));
  bus_expect (rig.bus, GST_MESSAGE_WARNING, words[__i__]);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  rig_free (&rig);
}
GST_END_TEST;

/* --- still pictures ------------------------------------------------------ */

static const gchar *const still[] = { "smpte", "smpte100", "checkers-8",
  "solid-color" };

/* An unchanged block has not moved, even if many other vectors fit as well.
 * Only smpte moves: it has a field of snow. */
GST_START_TEST (test_still_picture)
{
  const gchar *pattern = still[__i__];
  gchar *line = g_strdup_printf ("videotestsrc pattern=%s num-buffers=3 ! "
                                 "video/x-raw,format=I420,width=320,height=240 "
                                 "! cudamotionest backend=cpu name=m",
      pattern);
  GstHarness *h = gst_harness_new_parse (line);
  GstElement *element = gst_harness_find_element (h, "cudamotionest");
  GstStructure *stats;
  gdouble share;

  gst_harness_play (h);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstCvisMotionVectorMeta *meta =
        gst_cvis_buffer_get_motion_vector_meta (buffer, -1);

    fail_unless ((meta != NULL) == (i > 0));
    for (guint b = 0; i > 0 && b < meta->packet->columns * meta->packet->rows;
         b++)
      fail_unless (meta->blocks[b].zero_sad > 0
                       || (meta->vectors[b].x == 0 && meta->vectors[b].y == 0),
          "%s, block %u: (%d, %d)", pattern, b, meta->vectors[b].x,
          meta->vectors[b].y);
    gst_buffer_unref (buffer);
  }
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "static-share", &share));
  fail_unless (
      __i__ == 0 ? share > 0.8 : share == 1.0, "%s: %f", pattern, share);
  gst_structure_free (stats);
  gst_object_unref (element);
  gst_harness_teardown (h);
  g_free (line);
}
GST_END_TEST;

/* --- properties and messages ----------------------------------------------- */

GST_START_TEST (test_properties)
{
  static const gchar *const bad[] = { "block-size=24", "method=psychic",
    "granularity=4" };
  GstElement *element = gst_element_factory_make ("cudamotionest", NULL);
  gint block_size, method, subpel;
  gdouble threshold;
  guint range;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *line = g_strdup_printf ("cudamotionest %s", bad[i]);
    GError *error = NULL;
    GstElement *wrong =
        gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);

    fail_unless (wrong == NULL && error != NULL, "%s", bad[i]);
    g_error_free (error);
    g_free (line);
  }
  g_object_get (element, "block-size", &block_size, "search-range", &range,
      "scene-threshold", &threshold, "method", &method, "subpel", &subpel,
      NULL);
  fail_unless_equals_int (method, MOTION_METHOD_FIELD);
  fail_unless_equals_int (subpel, MOTION_SUBPEL_QUARTER);
  fail_unless_equals_int (block_size, 16);
  fail_unless_equals_int (range, 64);
  fail_unless (threshold > 0.0 && threshold < 1.0);
  gst_object_unref (element);
}
GST_END_TEST;

/* Pushes a frame with timestamp @pts at clock time @now. */
static void
push_at (Rig *rig, const MotionClip *clip, GstTestClock *clock, guint i,
    GstClockTime now, GstClockTime pts)
{
  GstBuffer *buffer = motion_clip_buffer (clip, i, 0);

  gst_test_clock_set_time (clock, now);
  GST_BUFFER_PTS (buffer) = pts;
  fail_unless_equals_int (gst_harness_push (rig->h, buffer), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (rig->h));
}

/* Frames that leave too late for the sinks of a live pipeline. */
GST_START_TEST (test_behind)
{
  MotionClip *clip = clip_new (7);
  Rig rig = rig_new_playing ("", FALSE, clip);
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  GstStructure *s;
  GstClockTime answered;
  guint64 lateness, late;
  gboolean behind;

  gst_element_set_clock (rig.element, GST_CLOCK (clock));
  gst_element_set_base_time (rig.element, 0);
  gst_harness_set_live (rig.h, TRUE);
  answered = gst_harness_query_latency (rig.h);
  /* one late frame of two is tolerated */
  push_at (&rig, clip, clock, 0, 0, 0);
  push_at (&rig, clip, clock, 1, 10 * GST_SECOND, 40 * GST_MSECOND);
  fail_unless (pop_message (&rig, "cudamotionest-behind") == NULL);
  /* two of two are not */
  push_at (&rig, clip, clock, 2, 11 * GST_SECOND, 80 * GST_MSECOND);
  push_at (&rig, clip, clock, 3, 12 * GST_SECOND, 120 * GST_MSECOND);
  s = pop_message (&rig, "cudamotionest-behind");
  fail_unless (s != NULL);
  fail_unless (
      gst_structure_get (s, "behind", G_TYPE_BOOLEAN, &behind, "late-frames",
          G_TYPE_UINT64, &late, "lateness", G_TYPE_UINT64, &lateness, NULL));
  fail_unless (behind);
  fail_unless_equals_uint64 (late, 2);
  fail_unless_equals_uint64 (
      lateness, 12 * GST_SECOND - 120 * GST_MSECOND - answered);
  gst_structure_free (s);
  fail_unless_equals_uint64 (rig_stat (&rig, "late-frames"), 3);
  fail_unless_equals_uint64 (
      gst_harness_query_latency (rig.h), answered + GST_SECOND);
  /* back in time */
  push_at (&rig, clip, clock, 4, 13 * GST_SECOND, 12 * GST_SECOND);
  push_at (&rig, clip, clock, 5, 14 * GST_SECOND, 14 * GST_SECOND);
  s = pop_message (&rig, "cudamotionest-behind");
  fail_unless (s != NULL && gst_structure_get_boolean (s, "behind", &behind));
  fail_unless (!behind);
  gst_structure_free (s);
  fail_unless_equals_uint64 (rig_stat (&rig, "late-frames"), 3);
  rig_free (&rig);
  gst_object_unref (clock);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Settings that are only read at the start cannot be changed later. */
GST_START_TEST (test_late_properties)
{
  MotionClip *clip = clip_new (1);
  Rig rig = rig_new ("", FALSE);

  rig_set_caps (&rig, clip);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  g_object_set (rig.element, "scene-threshold", 0.4, NULL);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  g_object_set (rig.element, "block-size", 16, NULL);
  bus_expect (rig.bus, GST_MESSAGE_WARNING, "block-size has no effect until");
  g_object_set (rig.element, "backend", 1, NULL);
  bus_expect (rig.bus, GST_MESSAGE_WARNING, "backend has no effect until");
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

GST_START_TEST (test_message)
{
  MotionClip *clip = clip_new (6);
  Rig rig = rig_new_playing ("", FALSE, clip);
  GstStructure *message;
  guint64 frames, p99;
  gdouble psnr, share, confidence, noise;

  g_object_set (
      rig.element, "message-interval", (guint64) 3600 * GST_SECOND, NULL);
  push_frames (&rig, clip, 0, 6);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 6, 0);
  message = pop_message (&rig, "cudamotionest-stats");
  fail_unless (message != NULL);
  fail_unless (gst_structure_get_uint64 (message, "frames", &frames));
  fail_unless_equals_uint64 (frames, 1);
  fail_unless (gst_structure_has_field (message, "running-time"));
  gst_structure_free (message);
  fail_unless (pop_message (&rig, "cudamotionest-stats") == NULL);

  g_object_get (rig.element, "stats", &message, NULL);
  fail_unless (gst_structure_get (message, "psnr", G_TYPE_DOUBLE, &psnr,
      "static-share", G_TYPE_DOUBLE, &share, "latency-p99", G_TYPE_UINT64, &p99,
      "mean-confidence", G_TYPE_DOUBLE, &confidence, "noise", G_TYPE_DOUBLE,
      &noise, NULL));
  fail_unless (confidence > 0.3 && confidence < 1, "%g", confidence);
  fail_unless (noise >= 0, "%g", noise);
  fail_unless (psnr > 20.0 && psnr < 100.0, "%g dB", psnr);
  fail_unless (share > 0.2 && share < 0.8, "%g static", share);
  fail_unless (p99 > 0);
  gst_structure_free (message);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* Other methods give neither confidence nor noise. */
GST_START_TEST (test_unrated_stats)
{
  MotionClip *clip = clip_of_mode (0, 3);
  Rig rig = rig_new_playing (modes[0].settings, FALSE, clip);
  gdouble confidence, noise;
  GstStructure *stats;

  push_frames (&rig, clip, 0, 3);
  push_eos (&rig);
  pull_all (&rig, clip, 0, 3, 0);
  g_object_get (rig.element, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "mean-confidence", G_TYPE_DOUBLE,
      &confidence, "noise", G_TYPE_DOUBLE, &noise, NULL));
  fail_unless (confidence == -1 && noise == -1, "%g, %g", confidence, noise);
  gst_structure_free (stats);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* the backend is chosen when caps give the memory of the frames */
GST_START_TEST (test_backend)
{
  MotionClip *clip = clip_new (1);
  GstElement *element = gst_element_factory_make ("cudamotionest", NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  gint active = 0;

  gst_harness_set_src_caps (h, gst_video_info_to_caps (&clip->info));
  gst_harness_push (h, motion_clip_buffer (clip, 0, 0));
  gst_buffer_unref (gst_harness_pull (h));
  g_object_get (element, "active-backend", &active, NULL);
  fail_unless_equals_int (active, cvis_device_count (NULL) > 0 ? 2 : 1);
  gst_element_set_state (element, GST_STATE_READY);
  g_object_get (element, "active-backend", &active, NULL);
  fail_unless_equals_int (active, 0);
  gst_harness_teardown (h);
  gst_object_unref (element);
  motion_clip_free (clip);
}
GST_END_TEST;

/* --- refused input ------------------------------------------------------- */

static void
refuse_caps (const gchar *caps_text, const gchar *what)
{
  Rig rig = rig_new ("", FALSE);
  GstCaps *caps = gst_caps_from_string (caps_text);

  gst_harness_play (rig.h);
  gst_harness_push_event (rig.h, gst_event_new_stream_start ("s"));
  gst_harness_push_event (rig.h, gst_event_new_caps (caps));
  bus_expect_error (rig.bus, what);
  gst_harness_push_event (rig.h, gst_event_new_caps (caps));
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR) == NULL);
  gst_caps_unref (caps);
  rig_free (&rig);
}

GST_START_TEST (test_bad_caps)
{
  refuse_caps ("video/x-raw,format=RGB,width=96,height=96", "format RGB");
  refuse_caps ("video/x-raw,format=GRAY16_LE,width=96,height=96", "GRAY16_LE");
  refuse_caps ("video/x-raw,format=I420,width=16385,height=96", "16385x96");
  refuse_caps ("video/x-raw,format=I420,width=96", "not raw video");
  refuse_caps ("video/x-raw,format=I420,width=96,height=96,"
               "interlace-mode=interleaved",
      "interleaved");
  refuse_caps (
      "video/x-raw(memory:DMABuf),format=NV12,width=96,height=96", "memory");
}
GST_END_TEST;

/* A mixed stream is accepted as long as its frames are progressive. */
GST_START_TEST (test_mixed)
{
  MotionClip *clip = clip_new (4);
  Rig rig;
  GstBuffer *buffer;

  GST_VIDEO_INFO_INTERLACE_MODE (&clip->info) = GST_VIDEO_INTERLACE_MODE_MIXED;
  rig = rig_new_playing ("", FALSE, clip);
  push_frames (&rig, clip, 0, 3);
  pull_all (&rig, clip, 0, 3, 0);
  buffer = motion_clip_buffer (clip, 3, 0);
  GST_BUFFER_FLAG_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  fail_unless_equals_int (gst_harness_push (rig.h, buffer), GST_FLOW_ERROR);
  bus_expect_error (rig.bus, "it is interlaced");
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

/* If upstream offers both, 8 bits are chosen. */
GST_START_TEST (test_preferred_format)
{
  GstElement *element = gst_element_factory_make ("cudamotionest", NULL);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCaps *any = gst_caps_from_string (
      "video/x-raw,format={I420_10LE,P010_10LE,NV12,I420}");
  GstCaps *caps = gst_pad_query_caps (pad, any);
  GstStructure *s;

  caps = gst_caps_fixate (caps);
  s = gst_caps_get_structure (caps, 0);
  fail_unless_equals_string (gst_structure_get_string (s, "format"), "NV12");
  gst_caps_unref (caps);
  gst_caps_unref (any);
  gst_object_unref (pad);
  gst_object_unref (element);
}
GST_END_TEST;

/* earlier frames leave before the error about the bad frame */
static void
refuse_buffer (GstBuffer *buffer, const gchar *what)
{
  MotionClip *clip = clip_of_direction (1, 3);
  Rig rig = rig_new_playing (directions[1], FALSE, clip);

  push_frames (&rig, clip, 0, 3);
  fail_unless_equals_int (gst_harness_push (rig.h, buffer), GST_FLOW_ERROR);
  pull_all (&rig, clip, 0, 3, 0);
  bus_expect_error (rig.bus, what);
  rig_free (&rig);
  motion_clip_free (clip);
}

static GstBuffer *
buffer_with_meta (
    GstVideoFormat format, guint width, guint height, gint stride, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format,
      width, height, 1, offsets, strides);
  return buffer;
}

GST_START_TEST (test_bad_buffers)
{
  refuse_buffer (gst_buffer_new_allocate (NULL, 2000, NULL),
      "4028 bytes expected for GRAY8 75x53, 2000 found");
  refuse_buffer (buffer_with_meta (GST_VIDEO_FORMAT_GRAY8, 75, 53, 80, 80 * 52),
      "bytes expected for the luma of 75x53");
  refuse_buffer (
      buffer_with_meta (GST_VIDEO_FORMAT_GRAY8, 75, 53, 70, 8000), "stride 70");
  refuse_buffer (
      buffer_with_meta (GST_VIDEO_FORMAT_GRAY8, 64, 53, 80, 8000), "64x53");
}
GST_END_TEST;

#ifdef MEMORY_LIMIT_WORKS
/* The error of a stream of the largest frames with that many MiB of memory
 * left. */
static gchar *
error_with (gsize more)
{
  Rig rig = rig_new ("threads=1 block-size=8 method=step", FALSE);
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=GRAY8,width=16384,height=16384,framerate=1/1");
  struct rlimit before = memory_limit_begin (more << 20);
  GstMessage *message;
  gchar *text = NULL;

  gst_pad_push_event (rig.h->srcpad, gst_event_new_stream_start ("s"));
  gst_pad_push_event (rig.h->srcpad, gst_event_new_caps (caps));
  memory_limit_end (&before);
  message = gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR);
  if (message != NULL) {
    GError *error = NULL;

    gst_message_parse_error (message, &error, NULL);
    text = g_strdup (error->message);
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_caps_unref (caps);
  rig_free (&rig);
  return text;
}

/* With increasing memory, up to enough: never more than an error, also if
 * the engine fits but its results do not. */
GST_START_TEST (test_no_memory)
{
  gboolean no_results = FALSE;
  gchar *text;

  for (gsize more = 640; (text = error_with (more)) != NULL; more += 128) {
    fail_unless (strstr (text, "o memory for ") != NULL
                     || strstr (text, "cannot allocate ") != NULL,
        "%s", text);
    no_results |= strstr (text, "for results of") != NULL;
    g_free (text);
  }
  fail_unless (no_results);
}
GST_END_TEST;
#endif

/* --- pads and states ------------------------------------------------------- */

/* request pads are added and removed in the middle of the stream */
GST_START_TEST (test_sides_come_and_go)
{
  MotionClip *clip = clip_new (9);
  Rig rig = rig_new_playing ("", FALSE, clip);
  GstHarness *residual;
  GstBuffer *buffer;

  push_frames (&rig, clip, 0, 3);
  pull_all (&rig, clip, 0, 3, 0);
  residual = gst_harness_new_with_element (rig.element, NULL, "src_residual");
  /* requested twice */
  fail_unless (gst_element_request_pad (rig.element,
                   gst_element_get_pad_template (rig.element, "src_residual"),
                   NULL, NULL)
               == NULL);
  push_frames (&rig, clip, 3, 3);
  pull_all (&rig, clip, 3, 3, 0);
  for (guint i = 3; i < 6; i++)
    pull_side (residual, clip, clip->residuals, i, 0);
  gst_harness_teardown (residual);
  push_frames (&rig, clip, 6, 2);
  pull_all (&rig, clip, 6, 2, 0);
  residual = gst_harness_new_with_element (rig.element, NULL, "src_residual");
  push_frames (&rig, clip, 8, 1);
  buffer = gst_harness_pull (residual);
  motion_clip_check_picture (clip, clip->residuals[8], buffer);
  gst_buffer_unref (buffer);
  gst_harness_teardown (residual);
  rig_free (&rig);
  motion_clip_free (clip);
}
GST_END_TEST;

static Suite *
cudamotionest_suite (void)
{
  Suite *s = suite_create ("cudamotionest");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_formats, 0, G_N_ELEMENTS (formats));
  tcase_add_loop_test (tc, test_modes, 0, G_N_ELEMENTS (modes));
  tcase_add_loop_test (tc, test_sizes_and_layouts, 0, G_N_ELEMENTS (sizes));
  tcase_add_loop_test (tc, test_search_size, 0, 2);
  tcase_add_test (tc, test_visible_part);
  tcase_add_test (tc, test_shared_memory);
  tcase_add_test (tc, test_scaled_downstream);
  tcase_add_test (tc, test_duplicates);
  tcase_add_test (tc, test_variable_rate);
  tcase_add_loop_test (tc, test_renegotiation, 0, 2);
  tcase_add_loop_test (tc, test_same_pictures, 0, 2);
  tcase_add_loop_test (tc, test_segments, 0, 2);
  tcase_add_loop_test (tc, test_gap_and_discont, 0, 2);
  tcase_add_loop_test (tc, test_order_of_events, 0, 2);
  tcase_add_loop_test (tc, test_interval, 0, G_N_ELEMENTS (intervals));
  tcase_add_loop_test (tc, test_interval_flush, 0, G_N_ELEMENTS (intervals));
  tcase_add_test (tc, test_interval_refused);
  tcase_add_loop_test (tc, test_flush, 0, 4);
  tcase_add_test (tc, test_drain);
  tcase_add_loop_test (tc, test_latency, 0, 2);
  tcase_add_test (tc, test_latency_without_rate);
  tcase_add_test (tc, test_allocation);
  tcase_add_test (tc, test_scene_cut);
  tcase_add_loop_test (tc, test_key_units_between_bars, 0, 9);
  tcase_add_loop_test (tc, test_scene_cut_off, 0, 2);
  tcase_add_loop_test (tc, test_regions, 0, 2);
  tcase_add_loop_test (tc, test_region_warnings, 0, 2);
  tcase_add_loop_test (tc, test_still_picture, 0, G_N_ELEMENTS (still));
  tcase_add_test (tc, test_properties);
  tcase_add_test (tc, test_behind);
  tcase_add_test (tc, test_late_properties);
  tcase_add_test (tc, test_message);
  tcase_add_test (tc, test_unrated_stats);
  tcase_add_test (tc, test_backend);
  tcase_add_test (tc, test_bad_caps);
  tcase_add_test (tc, test_mixed);
  tcase_add_test (tc, test_preferred_format);
  tcase_add_test (tc, test_bad_buffers);
#ifdef MEMORY_LIMIT_WORKS
  tcase_add_test (tc, test_no_memory);
#endif
  tcase_add_test (tc, test_sides_come_and_go);
  return s;
}

GST_CHECK_MAIN (cudamotionest);
