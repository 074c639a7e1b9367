/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>
#include <string.h>

#include "tests/check/common/busmessages.h"

#define W 96
#define H 96
#define SCALE 4
#define CANVAS_W (W * SCALE + 432)
#define CANVAS_H 720
#define TOP ((CANVAS_H - H * SCALE) / 2) /* of the enlarged frame */

#define CAPS                                                                   \
  "video/x-raw, format = GRAY8, width = 96, height = 96, framerate = "

/* the melt pool: columns 40..51, rows 44..51, value 200; a spatter at (70,
 * 30) */
#define POOL_X 40
#define POOL_Y 44
#define POOL_W 12
#define POOL_H 8

#define ROI_COLOR 0x58a6ff
#define POOL_COLOR 0x3fe0a0

static guint8
pixel_of (gint x, gint y)
{
  if (x >= POOL_X && x < POOL_X + POOL_W && y >= POOL_Y && y < POOL_Y + POOL_H)
    return 200;
  if (x == 70 && y == 30)
    return 150;
  return 10;
}

static CvisPbfResult
result_of_frame (void)
{
  CvisPbfResult r = { .magic = CVIS_PBF_RESULT_MAGIC,
    .size = sizeof (CvisPbfResult),
    .version = CVIS_PBF_RESULT_VERSION,
    .frame_counter = 5,
    .roi_x = 26,
    .roi_y = 28,
    .e_x_q8 = 46 * 256,
    .e_y_q8 = 48 * 256,
    .raw = { POOL_W * POOL_H, 1, 1, 42000, 200 * 256 },
    .features = { POOL_W * POOL_H, 1, 1, 0.64f, 200 },
    .n_outputs = 2,
    .outputs = { 0.25f, 0.75f },
    .centroid_x_q8 = 46 * 256,
    .centroid_y_q8 = 48 * 256,
    .bbox_x = POOL_X,
    .bbox_y = POOL_Y,
    .bbox_width = POOL_W,
    .bbox_height = POOL_H,
    .max_intensity = 200,
    .n_spatters = 1,
    .spatters = { { 70 * 256 + 128, 30 * 256 + 128, 1, 320, 30 } } };

  return r;
}

/* A frame, enlarged @zoom times, with rows @stride bytes apart after @lead
 * bytes */
static GstBuffer *
frame_strided (GstClockTime pts, guint zoom, gint stride, gsize lead)
{
  gint w = W * zoom, h = H * zoom, x, y;
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };
  gsize offsets[GST_VIDEO_MAX_PLANES] = { lead };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, lead + stride * h, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 77, map.size);
  for (y = 0; y < h; y++) {
    for (x = 0; x < w; x++)
      map.data[lead + y * stride + x] = pixel_of (x / zoom, y / zoom);
  }
  gst_buffer_unmap (buffer, &map);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_GRAY8, w, h, 1, offsets, strides);
  GST_BUFFER_PTS (buffer) = pts;
  return buffer;
}

static GstBuffer *
frame (GstClockTime pts)
{
  return frame_strided (pts, 1, W, 0);
}

static GstCvisPbfMeta *
add_result (GstBuffer *buffer, const CvisPbfResult *result)
{
  GstBuffer *records = gst_buffer_new_memdup (result, sizeof (*result));
  GstCvisPbfMeta *meta;
  GstMapInfo map;

  gst_buffer_map (records, &map, GST_MAP_READ);
  meta = gst_cvis_buffer_add_pbf_meta (
      buffer, records, (const CvisPbfResult *) map.data, 34 * GST_USECOND);
  gst_buffer_unmap (records, &map);
  gst_buffer_unref (records);
  return meta;
}

static GstBuffer *
frame_with_result (GstClockTime pts)
{
  CvisPbfResult r = result_of_frame ();
  GstBuffer *buffer = frame (pts);

  add_result (buffer, &r);
  return buffer;
}

static GstHarness *
harness (const gchar *properties, const gchar *framerate)
{
  gchar *line = g_strdup_printf ("pbfoverlay %s", properties);
  gchar *caps = g_strdup_printf (CAPS "%s", framerate);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  g_free (line);
  g_free (caps);
  return h;
}

static GstHarness *
harness_every (void)
{
  return harness ("fps=0/1 scale=4 colormap=grey", "1000/1");
}

static guint32
color_at (const GstMapInfo *map, gint x, gint y)
{
  guint32 word;

  memcpy (&word, map->data + ((gsize) y * CANVAS_W + x) * 4, 4);
  return word & 0xffffff;
}

/* centre of the square of frame pixel (x, y) */
static guint32
square (const GstMapInfo *map, gint x, gint y)
{
  return color_at (map, x * SCALE + SCALE / 2, TOP + y * SCALE + SCALE / 2);
}

static void
assert_color (guint32 color, guint32 expected, const gchar *what)
{
  /* fail_unless() is slow even on success, because of the sanitizer */
  if (color != expected)
    fail ("%s is 0x%06x, not 0x%06x", what, color, expected);
}

GST_START_TEST (test_picture)
{
  GstHarness *h = harness_every ();
  GstBuffer *out =
      gst_harness_push_and_pull (h, frame_with_result (3 * GST_MSECOND));
  GstMapInfo map;

  fail_unless_equals_int (gst_buffer_get_size (out), CANVAS_W * CANVAS_H * 4);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 3 * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), GST_MSECOND);
  gst_buffer_map (out, &map, GST_MAP_READ);

  /* the frame, where nothing is drawn */
  assert_color (square (&map, 2, 2), 0x0a0a0a, "background");
  assert_color (square (&map, 42, 46), 0xc8c8c8, "pool");
  assert_color (square (&map, 70, 30), 0x969696, "spatter");
  /* the ROI's four edges, each two pixels wide */
  assert_color (color_at (&map, 26 * SCALE - 1, TOP + 40 * SCALE), ROI_COLOR,
      "left side of the ROI");
  assert_color (color_at (&map, 26 * SCALE, TOP + 40 * SCALE), ROI_COLOR,
      "left side of the ROI");
  assert_color (color_at (&map, 66 * SCALE, TOP + 40 * SCALE), ROI_COLOR,
      "right side of the ROI");
  assert_color (color_at (&map, 35 * SCALE, TOP + 28 * SCALE), ROI_COLOR,
      "upper side of the ROI");
  assert_color (color_at (&map, 35 * SCALE, TOP + 68 * SCALE), ROI_COLOR,
      "lower side of the ROI");
  /* the outline, away from its corners and the axis */
  assert_color (color_at (&map, POOL_X * SCALE, TOP + (POOL_Y + 1) * SCALE),
      POOL_COLOR, "left side of the pool");
  assert_color (
      color_at (&map, (POOL_X + POOL_W) * SCALE, TOP + (POOL_Y + 1) * SCALE),
      POOL_COLOR, "right side of the pool");
  assert_color (color_at (&map, (POOL_X + 2) * SCALE, TOP + POOL_Y * SCALE),
      POOL_COLOR, "upper side of the pool");
  assert_color (
      color_at (&map, (POOL_X + 2) * SCALE, TOP + (POOL_Y + POOL_H) * SCALE),
      POOL_COLOR, "lower side of the pool");

  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Returns: whether two harnesses draw the same picture of the frame */
static gboolean
draw_same (GstHarness *h, GstHarness *other)
{
  GstBuffer *a = gst_harness_push_and_pull (h, frame_with_result (0));
  GstBuffer *b = gst_harness_push_and_pull (other, frame_with_result (0));
  GstMapInfo map;
  gboolean same;

  gst_buffer_map (b, &map, GST_MAP_READ);
  same = gst_buffer_get_size (a) == map.size
         && gst_buffer_memcmp (a, 0, map.data, map.size) == 0;
  gst_buffer_unmap (b, &map);
  gst_buffer_unref (a);
  gst_buffer_unref (b);
  return same;
}

static void
push_names (GstHarness *h, const gchar *names)
{
  gchar *text = g_strdup_printf (
      "cudapbfmonitor-output-names, output-names=(string)%s;", names);

  fail_unless (gst_harness_push_event (
      h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
             gst_structure_from_string (text, NULL))));
  g_free (text);
}

/* Names come from the stream, also after new caps, unless the property is set. */
GST_START_TEST (test_names)
{
  const gchar *settings = "fps=0/1 scale=4 colormap=grey output-names=a,b";
  GstHarness *named = harness (settings, "1000/1");
  GstHarness *h = harness_every ();

  fail_if (draw_same (h, named));
  push_names (h, "<a,b>");
  fail_unless (draw_same (h, named));
  gst_harness_set_src_caps_str (h, CAPS "500/1");
  gst_harness_set_src_caps_str (named, CAPS "500/1");
  fail_unless (draw_same (h, named));
  push_names (h, "<a,c>");
  fail_if (draw_same (h, named));
  push_names (named, "<a,c>");
  fail_if (draw_same (h, named));
  gst_harness_teardown (named);
  gst_harness_teardown (h);
}
GST_END_TEST;

static GstBuffer *
draw_class (GstHarness *h, guint class_index)
{
  CvisPbfResult r = result_of_frame ();
  GstBuffer *in = frame (GST_MSECOND);

  r.n_outputs = 3;
  r.class_index = class_index;
  r.class_probability = 0.75f;
  r.vote_n = 100;
  r.vote_count = 97;
  add_result (in, &r);
  return gst_harness_push_and_pull (h, in);
}

static gboolean
differ (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo map;
  gboolean equal;

  gst_buffer_map (b, &map, GST_MAP_READ);
  equal = gst_buffer_memcmp (a, 0, map.data, map.size) == 0;
  gst_buffer_unmap (b, &map);
  return !equal;
}

/* The class by its name, its probability and the vote are drawn. */
GST_START_TEST (test_class)
{
  GstHarness *h = harness_every ();
  GstBuffer *plain = gst_harness_push_and_pull (h, frame_with_result (0));
  GstBuffer *nominal, *unknown, *renamed;

  push_names (h, "<nominal,keyhole,unknown>");
  nominal = draw_class (h, 0);
  unknown = draw_class (h, 2);
  push_names (h, "<nominal,keyhole,unkown>");
  renamed = draw_class (h, 2);
  fail_unless (differ (plain, nominal));
  fail_unless (differ (nominal, unknown));
  fail_unless (differ (unknown, renamed));
  gst_buffer_unref (plain);
  gst_buffer_unref (nominal);
  gst_buffer_unref (unknown);
  gst_buffer_unref (renamed);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* 12 bits with shift=4 give the same picture as 8 bits */
GST_START_TEST (test_deep_frames)
{
  GstHarness *h = harness_every (), *deep;
  GstBuffer *in = gst_buffer_new_allocate (NULL, W * H * 2, NULL), *out, *other;
  CvisPbfResult r = result_of_frame ();
  GstMapInfo map;

  gst_buffer_map (in, &map, GST_MAP_WRITE);
  for (guint i = 0; i < W * H; i++)
    GST_WRITE_UINT16_LE (
        map.data + 2 * i, pixel_of (i % W, i / W) << 4 | i % 16);
  gst_buffer_unmap (in, &map);
  GST_BUFFER_PTS (in) = 0;
  add_result (in, &r);
  deep = gst_harness_new_parse (
      "pbfoverlay fps=0/1 scale=4 colormap=grey shift=4");
  gst_harness_set_src_caps_str (
      deep, "video/x-raw,format=GRAY16_LE,width=96,height=96,framerate=1000/1");
  out = gst_harness_push_and_pull (deep, in);
  other = gst_harness_push_and_pull (h, frame_with_result (0));
  gst_buffer_map (other, &map, GST_MAP_READ);
  fail_unless_equals_int (gst_buffer_get_size (out), map.size);
  fail_unless (gst_buffer_memcmp (out, 0, map.data, map.size) == 0);
  gst_buffer_unmap (other, &map);
  gst_buffer_unref (other);
  gst_buffer_unref (out);
  gst_harness_teardown (deep);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_without_result)
{
  GstHarness *h = harness_every ();
  GstBuffer *out = gst_harness_push_and_pull (h, frame (0));
  GstMapInfo map;
  gint x, y, words = 0;

  gst_buffer_map (out, &map, GST_MAP_READ);
  for (y = 0; y < H - 12; y++) { /* the size as text is below */
    for (x = 0; x < W; x++) {
      guint32 v = pixel_of (x, y);

      assert_color (square (&map, x, y), v << 16 | v << 8 | v, "pixel");
    }
  }
  for (y = 20; y < 50; y++) {
    for (x = W * SCALE; x < CANVAS_W; x++)
      words += color_at (&map, x, y) == 0xf2b134;
  }
  fail_unless (words > 50, "\"no result\" is not written");
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* An empty frame has no marks; invalid numbers do not crash. */
GST_START_TEST (test_odd_results)
{
  GstHarness *h = harness_every ();
  CvisPbfResult r = { .magic = CVIS_PBF_RESULT_MAGIC,
    .size = sizeof (CvisPbfResult),
    .version = CVIS_PBF_RESULT_VERSION,
    .flags = CVIS_PBF_RESULT_EMPTY,
    .timestamp_ns = G_MAXUINT64 };
  GstBuffer *in = frame (0), *out;
  GstMapInfo map;
  guint i;

  add_result (in, &r);
  out = gst_harness_push_and_pull (h, in);
  gst_buffer_map (out, &map, GST_MAP_READ);
  assert_color (color_at (&map, 0, TOP), 0x0a0a0a, "corner");
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);

  r = result_of_frame ();
  r.flags = G_MAXUINT32;
  r.roi_x = r.bbox_x = r.e_y_q8 = G_MAXINT32;
  r.roi_y = r.e_x_q8 = r.centroid_x_q8 = G_MININT32;
  r.n_outputs = r.n_spatters = G_MAXUINT32;
  for (i = 0; i < CVIS_PBF_MAX_SPATTERS; i++)
    r.spatters[i] =
        (CvisPbfSpatter){ G_MAXINT32, G_MININT32, G_MAXUINT32, 0, 0 };
  for (i = 0; i < CVIS_PBF_N_FEATURES; i++)
    r.features[i] = i % 2 ? NAN : INFINITY;
  r.outputs[0] = NAN;
  r.outputs[1] = -INFINITY;
  r.orientation_deg = NAN;
  for (i = 0; i < 3; i++) {
    in = frame ((i + 1) * GST_MSECOND);
    add_result (in, &r);
    gst_buffer_unref (gst_harness_push_and_pull (h, in));
    r.raw[CVIS_PBF_MP_AREA] = i == 0 ? -5 : 0;
    r.roi_x = r.roi_y = 90;
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

static void
assert_same_picture (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo map_a, map_b;
  gint x, y;

  gst_buffer_map (a, &map_a, GST_MAP_READ);
  gst_buffer_map (b, &map_b, GST_MAP_READ);
  for (y = 0; y < CANVAS_H; y++) {
    for (x = 0; x < CANVAS_W; x++)
      assert_color (color_at (&map_b, x, y), color_at (&map_a, x, y), "pixel");
  }
  gst_buffer_unmap (a, &map_a);
  gst_buffer_unmap (b, &map_b);
}

GST_START_TEST (test_odd_strides)
{
  static const struct {
    gint stride;
    gsize lead;
  } layouts[] = { { 97, 0 }, { 128, 5 }, { 1001, 3 } };
  GstHarness *h = harness_every ();
  GstBuffer *plain = gst_harness_push_and_pull (h, frame_with_result (0));
  guint i;

  gst_harness_teardown (h);
  for (i = 0; i < G_N_ELEMENTS (layouts); i++) {
    CvisPbfResult r = result_of_frame ();
    GstBuffer *in = frame_strided (0, 1, layouts[i].stride, layouts[i].lead);
    GstBuffer *out;

    add_result (in, &r);
    h = harness_every ();
    out = gst_harness_push_and_pull (h, in);
    assert_same_picture (plain, out);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
  gst_buffer_unref (plain);
}
GST_END_TEST;

/* A frame scaled after its analysis: the marks follow the pixels. */
GST_START_TEST (test_scaled_meta)
{
  GstHarness *h = gst_harness_new_parse ("pbfoverlay fps=0/1 scale=2");
  CvisPbfResult r = result_of_frame ();
  GstBuffer *in = frame_strided (0, 2, 2 * W, 0), *out;
  GstCvisPbfMeta *meta = add_result (in, &r);
  GstMapInfo map;

  meta->scale_x = meta->scale_y = 2;
  gst_harness_set_src_caps_str (h, "video/x-raw, format = GRAY8, width = 192, "
                                   "height = 192, framerate = 1000/1");
  out = gst_harness_push_and_pull (h, in);
  fail_unless_equals_int (gst_buffer_get_size (out), CANVAS_W * CANVAS_H * 4);
  gst_buffer_map (out, &map, GST_MAP_READ);
  assert_color (color_at (&map, 26 * SCALE, TOP + 40 * SCALE), ROI_COLOR,
      "left side of the ROI");
  assert_color (color_at (&map, POOL_X * SCALE, TOP + (POOL_Y + 1) * SCALE),
      POOL_COLOR, "left side of the pool");
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

static void
assert_caps (GstHarness *h, const gchar *expected)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GstCaps *wanted = gst_caps_from_string (expected);

  fail_unless (
      gst_caps_is_subset (caps, wanted), "caps are %" GST_PTR_FORMAT, caps);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
}

GST_START_TEST (test_caps)
{
  static const struct {
    const gchar *properties;
    const gchar *in;
    const gchar *out;
  } cases[] = {
    { "", CAPS "20000/1",
        "video/x-raw, width = 1200, height = 768, framerate = 25/1, "
        "pixel-aspect-ratio = 1/1" },
    { "fps=0/1", CAPS "30/1",
        "video/x-raw, width = 1200, height = 768, framerate = 30/1" },
    { "fps=50/1 scale=1", CAPS "1000/1",
        "video/x-raw, width = 528, height = 720, framerate = 50/1" },
    { "",
        "video/x-raw, format = GRAY8, width = 41, height = 40, "
        "framerate = 100/1",
        "video/x-raw, width = 1170, height = 720" },
    { "",
        "video/x-raw, format = GRAY8, width = 1025, height = 201, "
        "framerate = 0/1",
        "video/x-raw, width = 1458, height = 720, framerate = 25/1" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *line = g_strdup_printf ("pbfoverlay %s", cases[i].properties);
    GstHarness *h = gst_harness_new_parse (line);

    gst_harness_set_src_caps_str (h, cases[i].in);
    assert_caps (h, cases[i].out);
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
    assert_caps (h, "video/x-raw, format = BGRx");
#endif
    gst_harness_teardown (h);
    g_free (line);
  }
}
GST_END_TEST;

/* RGB if the next element requires it: the same picture. */
GST_START_TEST (test_rgb)
{
  GstHarness *h = harness_every ();
  GstBuffer *native = gst_harness_push_and_pull (h, frame_with_result (0));
  GstBuffer *rgb;
  GstMapInfo a, b;
  gint x, y;

  gst_harness_teardown (h);
  h = gst_harness_new_parse ("pbfoverlay fps=0/1 scale=4 colormap=grey");
  gst_harness_set_sink_caps_str (h, "video/x-raw, format = RGB");
  gst_harness_set_src_caps_str (h, CAPS "1000/1");
  rgb = gst_harness_push_and_pull (h, frame_with_result (0));
  fail_unless_equals_int (gst_buffer_get_size (rgb), CANVAS_W * CANVAS_H * 3);
  gst_buffer_map (native, &a, GST_MAP_READ);
  gst_buffer_map (rgb, &b, GST_MAP_READ);
  for (y = 0; y < CANVAS_H; y++) {
    for (x = 0; x < CANVAS_W; x++) {
      const guint8 *p = b.data + ((gsize) y * CANVAS_W + x) * 3;

      assert_color ((guint32) p[0] << 16 | p[1] << 8 | p[2],
          color_at (&a, x, y), "pixel");
    }
  }
  gst_buffer_unmap (native, &a);
  gst_buffer_unmap (rgb, &b);
  gst_buffer_unref (native);
  gst_buffer_unref (rgb);
  gst_harness_teardown (h);
}
GST_END_TEST;

static void
assert_times (GstHarness *h, const GstClockTime *times, guint n)
{
  guint i;

  fail_unless_equals_int (gst_harness_buffers_in_queue (h), n);
  for (i = 0; i < n; i++) {
    GstBuffer *out = gst_harness_pull (h);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), times[i]);
    gst_buffer_unref (out);
  }
}

GST_START_TEST (test_rate)
{
  static const GstClockTime ticks[] = { 7 * GST_MSECOND, 47 * GST_MSECOND,
    87 * GST_MSECOND, 127 * GST_MSECOND, 167 * GST_MSECOND };
  static const GstClockTime after_gap[] = { 1007 * GST_MSECOND };
  GstHarness *h = harness ("scale=1", "1000/1");
  GstBuffer *out;
  guint i;

  for (i = 0; i < 200; i++)
    gst_harness_push (h, frame ((7 + i) * GST_MSECOND));
  assert_times (h, ticks, 5);
  /* after a gap: one picture, for the current tick, not one for each missed
   * tick */
  gst_harness_push (h, frame (1010 * GST_MSECOND));
  assert_times (h, after_gap, 1);
  gst_harness_push (h, frame (1046 * GST_MSECOND));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  gst_harness_push (h, frame (1047 * GST_MSECOND));
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), 40 * GST_MSECOND);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Backwards, frames are drawn as rarely as forwards. */
GST_START_TEST (test_rate_backwards)
{
  static const GstClockTime ticks[] = { 299 * GST_MSECOND, 289 * GST_MSECOND,
    279 * GST_MSECOND, 269 * GST_MSECOND, 259 * GST_MSECOND, 249 * GST_MSECOND,
    239 * GST_MSECOND, 229 * GST_MSECOND, 219 * GST_MSECOND,
    209 * GST_MSECOND };
  GstHarness *h = harness ("scale=1 fps=100/1", "1000/1");
  GstSegment segment;
  GstBuffer *out;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1.0;
  segment.start = 200 * GST_MSECOND;
  segment.stop = 300 * GST_MSECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 300; i-- > 200;)
    gst_harness_push (h, frame (i * GST_MSECOND));
  assert_times (h, ticks, G_N_ELEMENTS (ticks));
  gst_harness_push (h, frame (199 * GST_MSECOND));
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), 10 * GST_MSECOND);
  gst_buffer_unref (out);
  /* and forwards again */
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 0; i < 100; i++)
    gst_harness_push (h, frame (i * GST_MSECOND));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 10);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Equal rates in and out lose no frame to rounded or irregular times. */
GST_START_TEST (test_rate_equal)
{
  GstHarness *h = harness ("scale=1 fps=30/1", "30/1");
  guint i;

  for (i = 0; i < 60; i++) {
    GstClockTime pts = gst_util_uint64_scale (i, GST_SECOND, 30);

    gst_harness_push (h, frame (pts + (i % 3) * GST_MSECOND));
  }
  for (i = 0; i < 60; i++) {
    GstBuffer *out = gst_harness_pull (h);

    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (out), gst_util_uint64_scale (i, GST_SECOND, 30));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_rate_without_times)
{
  static const GstClockTime ticks[] = { 0, 40 * GST_MSECOND, 80 * GST_MSECOND };
  GstHarness *h = harness ("scale=1", "1000/1");
  guint i;

  for (i = 0; i < 100; i++)
    gst_harness_push (h, frame (GST_CLOCK_TIME_NONE));
  assert_times (h, ticks, 3);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_list)
{
  static const GstClockTime ticks[] = { 0, 40 * GST_MSECOND, 80 * GST_MSECOND };
  GstHarness *h = harness ("scale=1", "1000/1");
  GstBufferList *list = gst_buffer_list_new ();
  guint i;

  for (i = 0; i < 100; i++)
    gst_buffer_list_add (list, frame_with_result (i * GST_MSECOND));
  fail_unless_equals_int (gst_pad_push_list (h->srcpad, list), GST_FLOW_OK);
  assert_times (h, ticks, 3);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_flush_and_eos)
{
  static const GstClockTime first[] = { 0 }, second[] = { 5 * GST_MSECOND };
  GstHarness *h = harness ("scale=1", "1000/1");
  GstSegment segment;

  gst_harness_push (h, frame_with_result (0));
  assert_times (h, first, 1);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  gst_harness_push (h, frame_with_result (5 * GST_MSECOND));
  assert_times (h, second, 1);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_renegotiation)
{
  GstHarness *h = harness ("fps=0/1 scale=4", "1000/1");
  GstBuffer *in;

  gst_buffer_unref (gst_harness_push_and_pull (h, frame_with_result (0)));
  assert_caps (h, "video/x-raw, width = 816, height = 720");

  /* another size in the middle of the stream */
  gst_harness_set_src_caps_str (h, "video/x-raw, format = GRAY8, width = 192, "
                                   "height = 192, framerate = 1000/1");
  in = frame_strided (GST_MSECOND, 2, 2 * W, 0);
  gst_buffer_unref (gst_harness_push_and_pull (h, in));
  assert_caps (h, "video/x-raw, width = 1200, height = 768");

  /* another format downstream */
  gst_harness_set_sink_caps_str (h, "video/x-raw, format = RGB");
  gst_harness_push_upstream_event (h, gst_event_new_reconfigure ());
  in = frame_strided (2 * GST_MSECOND, 2, 2 * W, 0);
  in = gst_harness_push_and_pull (h, in);
  fail_unless_equals_int (gst_buffer_get_size (in), 1200 * 768 * 3);
  gst_buffer_unref (in);
  assert_caps (h, "video/x-raw, format = RGB");
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_latency)
{
  GstHarness *h = harness ("fps=25/1", "1000/1");

  gst_harness_set_upstream_latency (h, 5 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 6 * GST_MSECOND);
  gst_harness_teardown (h);

  h = harness ("fps=25/1", "10/1");
  gst_harness_set_upstream_latency (h, 5 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 45 * GST_MSECOND);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A slow display does not make upstream drop frames. */
GST_START_TEST (test_qos_ends_here)
{
  GstHarness *h = harness ("", "1000/1");
  GstEvent *event;

  fail_unless (gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 0.5, GST_SECOND, 0)));
  while ((event = gst_harness_try_pull_upstream_event (h)) != NULL) {
    fail_if (GST_EVENT_TYPE (event) == GST_EVENT_QOS);
    gst_event_unref (event);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* @bus has one error whose text contains @what. */
static void
assert_error (GstBus *bus, const gchar *what)
{
  bus_expect_error (bus, what);
  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
}

GST_START_TEST (test_errors)
{
  GstBus *bus = gst_bus_new ();
  GstHarness *h = gst_harness_new_parse ("pbfoverlay scale=64");
  GstBuffer *buffer;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "video/x-raw, format = GRAY8, width = 1024, "
                                   "height = 8, framerate = 25/1");
  assert_error (bus, "Cannot draw frames of 1024x8 pixels: enlarged 64 times");
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);

  h = harness_every ();
  gst_element_set_bus (h->element, bus);
  buffer = gst_buffer_new_allocate (NULL, 100, NULL);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  assert_error (bus, "100 bytes holds no frame of 96x96");
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);

  h = gst_harness_new_parse ("pbfoverlay");
  gst_element_set_bus (h->element, bus);
  gst_harness_set_sink_caps_str (h, "video/x-raw, format = I420");
  gst_harness_set_src_caps_str (h, CAPS "1000/1");
  assert_error (bus, "Downstream does not accept the pictures");
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
  gst_object_unref (bus);
}
GST_END_TEST;

GST_START_TEST (test_properties)
{
  GstElement *e = gst_element_factory_make ("pbfoverlay", NULL);
  guint scale, threshold;
  gint connectivity;
  gint colormap, n, d;
  gchar *names;
  GValue fps = G_VALUE_INIT;

  g_object_get (e, "scale", &scale, "threshold", &threshold, "connectivity",
      &connectivity, "colormap", &colormap, "output-names", &names, NULL);
  fail_unless_equals_int (scale, 0);
  fail_unless_equals_int (threshold, 100);
  fail_unless_equals_int (connectivity, 4);
  fail_unless_equals_int (colormap, 0);
  fail_unless (names == NULL);

  gst_util_set_object_arg (G_OBJECT (e), "fps", "1000/3");
  gst_util_set_object_arg (G_OBJECT (e), "colormap", "grey");
  g_object_set (e, "connectivity", 8, "output-names", "a,b", NULL);
  g_value_init (&fps, GST_TYPE_FRACTION);
  g_object_get_property (G_OBJECT (e), "fps", &fps);
  n = gst_value_get_fraction_numerator (&fps);
  d = gst_value_get_fraction_denominator (&fps);
  fail_unless (n == 1000 && d == 3);
  g_object_get (e, "connectivity", &connectivity, "colormap", &colormap,
      "output-names", &names, NULL);
  fail_unless_equals_int (connectivity, 8);
  fail_unless_equals_int (colormap, 1);
  fail_unless_equals_string (names, "a,b");
  g_free (names);
  gst_object_unref (e);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  GstHarness *h = harness ("scale=1", "1000/1");
  guint i;

  for (i = 0; i < 50; i++) {
    GstCaps *caps = gst_caps_from_string (CAPS "1000/1");
    GstSegment segment;

    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (
        gst_element_set_state (h->element, GST_STATE_PLAYING),
        GST_STATE_CHANGE_SUCCESS);
    gst_harness_push_event (h, gst_event_new_stream_start ("states"));
    gst_harness_push_event (h, gst_event_new_caps (caps));
    gst_caps_unref (caps);
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    gst_buffer_unref (
        gst_harness_push_and_pull (h, frame_with_result (i * GST_MSECOND)));
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
pbfoverlay_suite (void)
{
  Suite *s = suite_create ("pbfoverlay");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_picture);
  tcase_add_test (tc, test_names);
  tcase_add_test (tc, test_class);
  tcase_add_test (tc, test_deep_frames);
  tcase_add_test (tc, test_without_result);
  tcase_add_test (tc, test_odd_results);
  tcase_add_test (tc, test_odd_strides);
  tcase_add_test (tc, test_scaled_meta);
  tcase_add_test (tc, test_caps);
  tcase_add_test (tc, test_rgb);
  tcase_add_test (tc, test_rate);
  tcase_add_test (tc, test_rate_backwards);
  tcase_add_test (tc, test_rate_equal);
  tcase_add_test (tc, test_rate_without_times);
  tcase_add_test (tc, test_list);
  tcase_add_test (tc, test_flush_and_eos);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_latency);
  tcase_add_test (tc, test_qos_ends_here);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_properties);
  tcase_add_test (tc, test_states);
  return s;
}

GST_CHECK_MAIN (pbfoverlay);
