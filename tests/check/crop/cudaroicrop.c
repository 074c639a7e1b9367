/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>
#include <string.h>
#include "tests/check/common/busmessages.h"
#include "cuda/core/device/device.h"
#include "cuda/records/machinesignal.h"
#include "tests/check/motion/motionpackets.h"

#define FRAME_NS (50 * GST_USECOND)

/* --- frames with bytes that encode their position ------------------------ */

static guint8
byte_at (guint plane, gsize x, gsize y)
{
  guint32 h =
      (guint32) (plane * 2654435761u + x * 40503u + y * 69069u + 12345u);

  return (guint8) (h ^ (h >> 11) ^ (h >> 23));
}

static guint
plane_row_bytes (const GstVideoInfo *info, guint plane)
{
  const GstVideoFormatInfo *f = info->finfo;
  guint c;

  for (c = 0; GST_VIDEO_FORMAT_INFO_PLANE (f, c) != plane; c++)
    ;
  return GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (f, c, GST_VIDEO_INFO_WIDTH (info))
         * GST_VIDEO_FORMAT_INFO_PSTRIDE (f, c);
}

static guint
plane_rows (const GstVideoInfo *info, guint plane)
{
  const GstVideoFormatInfo *f = info->finfo;
  guint c;

  for (c = 0; GST_VIDEO_FORMAT_INFO_PLANE (f, c) != plane; c++)
    ;
  return GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (
      f, c, GST_VIDEO_INFO_HEIGHT (info));
}

/* A frame with @pad additional bytes in each row and @lead bytes before it. */
static GstBuffer *
new_frame (GstVideoFormat format, guint width, guint height, guint pad,
    guint lead, guint number)
{
  GstVideoInfo info;
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, size = lead, x, y;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  GstBuffer *buffer;
  GstMapInfo map;
  guint p;

  gst_video_info_set_format (&info, format, width, height);
  for (p = 0; p < GST_VIDEO_INFO_N_PLANES (&info); p++) {
    offset[p] = pad || lead ? size : GST_VIDEO_INFO_PLANE_OFFSET (&info, p);
    stride[p] = pad ? (gint) (plane_row_bytes (&info, p) + pad)
                    : GST_VIDEO_INFO_PLANE_STRIDE (&info, p);
    size = offset[p] + (gsize) stride[p] * plane_rows (&info, p);
  }
  size = MAX (size, GST_VIDEO_INFO_SIZE (&info));
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 0xee, size);
  for (p = 0; p < GST_VIDEO_INFO_N_PLANES (&info); p++)
    for (y = 0; y < plane_rows (&info, p); y++)
      for (x = 0; x < plane_row_bytes (&info, p); x++)
        map.data[offset[p] + y * stride[p] + x] = byte_at (p, x, y);
  gst_buffer_unmap (buffer, &map);
  if (pad || lead)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format,
        width, height, GST_VIDEO_INFO_N_PLANES (&info), offset, stride);
  GST_BUFFER_PTS (buffer) = number * FRAME_NS;
  GST_BUFFER_DURATION (buffer) = FRAME_NS;
  return buffer;
}

static GstBuffer *
grey (guint width, guint height, guint number)
{
  return new_frame (GST_VIDEO_FORMAT_GRAY8, width, height, 0, 0, number);
}

/* Checks that @buffer has the pixels of new_frame() from (@x, @y) on. */
static void
assert_crop (GstBuffer *buffer, GstVideoFormat format, guint width,
    guint height, guint x, guint y)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  guint c, p, row, i, bytes;

  gst_video_info_set_format (&info, format, width, height);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  fail_unless_equals_int (GST_VIDEO_FRAME_WIDTH (&frame), width);
  fail_unless_equals_int (GST_VIDEO_FRAME_HEIGHT (&frame), height);
  for (c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++) {
    const GstVideoFormatInfo *f = info.finfo;
    guint left = (x >> GST_VIDEO_FORMAT_INFO_W_SUB (f, c))
                 * GST_VIDEO_FORMAT_INFO_PSTRIDE (f, c);
    guint top = y >> GST_VIDEO_FORMAT_INFO_H_SUB (f, c);

    p = GST_VIDEO_FORMAT_INFO_PLANE (f, c);
    bytes = plane_row_bytes (&info, p);
    for (row = 0; row < plane_rows (&info, p); row++) {
      const guint8 *got =
          (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, p)
          + (gssize) row * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p);

      for (i = 0; i < bytes; i++)
        if (got[i] != byte_at (p, left + i, top + row))
          fail ("%s plane %u, byte %u of row %u: %02x instead of %02x",
              GST_VIDEO_INFO_NAME (&info), p, i, row, got[i],
              byte_at (p, left + i, top + row));
    }
  }
  gst_video_frame_unmap (&frame);
}

static void
assert_crop_meta (GstBuffer *buffer, gint x, gint y, guint width, guint height)
{
  GstCvisFrameCropMeta *meta = gst_cvis_buffer_get_frame_crop_meta (buffer);

  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->x, x);
  fail_unless_equals_int (meta->y, y);
  fail_unless_equals_int (meta->frame_width, width);
  fail_unless_equals_int (meta->frame_height, height);
}

/* --- the element in a harness ---------------------------------------------- */

static GstHarness *
new_harness (const gchar *first, ...)
{
  GstElement *element = gst_element_factory_make ("cudaroicrop", NULL);
  GstHarness *h;
  va_list args;

  va_start (args, first);
  if (first != NULL)
    g_object_set_valist (G_OBJECT (element), first, args);
  va_end (args);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  return h;
}

static void
set_caps (GstHarness *h, const gchar *format, guint width, guint height)
{
  gchar *caps = g_strdup_printf (
      "video/x-raw,format=%s,width=%u,height=%u,framerate=20000/1", format,
      width, height);

  gst_harness_set_src_caps_str (h, caps);
  g_free (caps);
}

static void
assert_out_size (GstHarness *h, gint width, gint height)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), width);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), height);
  fail_unless_equals_int (GST_VIDEO_INFO_FPS_N (&info), 20000);
  gst_caps_unref (caps);
}

static void
assert_stat (GstHarness *h, const gchar *name, guint64 expected)
{
  GstStructure *stats = NULL;
  guint64 value = G_MAXUINT64;

  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value));
  fail_unless (value == expected,
      "%s is %" G_GUINT64_FORMAT " instead of %" G_GUINT64_FORMAT, name, value,
      expected);
  gst_structure_free (stats);
}

static GstBus *
add_bus (GstHarness *h)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  return bus;
}

static void
drop_bus (GstHarness *h, GstBus *bus)
{
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
}

/* --- signals and results --------------------------------------------------- */

static void
add_signal (GstBuffer *buffer, guint counter, gdouble x_px, gdouble y_px)
{
  CvisPbfSignal signal = {
    .frame_counter = counter,
    .flags = CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_POSITION_VALID,
    .x_um = (gint32) (x_px * 200),
    .y_um = (gint32) (y_px * 200),
    .t_ns = counter * FRAME_NS,
  };

  pbf_signal_seal (&signal);
  gst_cvis_buffer_add_pbf_signal_meta (buffer, &signal);
}

static void
add_result (GstBuffer *buffer, gdouble x_px, gdouble y_px)
{
  GstBuffer *records =
      gst_buffer_new_allocate (NULL, sizeof (CvisPbfResult), NULL);
  GstMapInfo map;
  CvisPbfResult *result;

  gst_buffer_memset (records, 0, 0, sizeof (CvisPbfResult));
  gst_buffer_map (records, &map, GST_MAP_READWRITE);
  result = (CvisPbfResult *) map.data;
  result->centroid_x_q8 = (gint32) (x_px * 256);
  result->centroid_y_q8 = (gint32) (y_px * 256);
  result->bbox_width = result->bbox_height = 5;
  gst_cvis_buffer_add_pbf_meta (buffer, records, result, 0);
  gst_buffer_unmap (records, &map);
  gst_buffer_unref (records);
}

/* --- position ------------------------------------------------------------ */

GST_START_TEST (test_signals_move_the_crop)
{
  GstHarness *h = new_harness (NULL);
  guint i;

  set_caps (h, "GRAY8", 96, 90);
  for (i = 0; i < 20; i++) {
    GstBuffer *in = grey (96, 90, i), *out;

    add_signal (in, i, 22.0 + 3 * i, 30.5);
    out = gst_harness_push_and_pull (h, in);
    fail_unless_equals_int (gst_buffer_get_size (out), 1600);
    fail_unless (GST_BUFFER_PTS (out) == i * FRAME_NS);
    fail_unless (GST_BUFFER_DURATION (out) == FRAME_NS);
    fail_unless (gst_cvis_buffer_get_pbf_signal_meta (out) != NULL);
    assert_crop_meta (out, MIN (2 + 3 * i, 56), 10, 96, 90);
    assert_crop (out, GST_VIDEO_FORMAT_GRAY8, 40, 40, MIN (2 + 3 * i, 56), 10);
    fail_unless_equals_float (
        gst_cvis_buffer_get_frame_crop_meta (out)->center_x, 22.0 + 3 * i);
    gst_buffer_unref (out);
  }
  assert_out_size (h, 40, 40);
  assert_stat (h, "frames", 20);
  assert_stat (h, "copies", 20);
  assert_stat (h, "clamped", 1);
  assert_stat (h, "no-position", 0);
  g_signal_emit_by_name (h->element, "reset-stats");
  assert_stat (h, "frames", 0);
  assert_stat (h, "clamped", 0);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Without a position: the centre until there has been one, then the last
 * one. A flush resets it. */
GST_START_TEST (test_position_is_kept)
{
  GstHarness *h = new_harness (NULL);
  GstBuffer *in, *out;

  set_caps (h, "GRAY8", 96, 96);
  out = gst_harness_push_and_pull (h, grey (96, 96, 0));
  assert_crop_meta (out, 28, 28, 96, 96);
  gst_buffer_unref (out);

  in = grey (96, 96, 1);
  add_signal (in, 1, 60, 25);
  gst_buffer_unref (gst_harness_push_and_pull (h, in));

  in = grey (96, 96, 2);
  add_signal (in, 2, 30, 30);
  gst_cvis_buffer_get_pbf_signal_meta (in)->signal.x_um ^= 1;
  out = gst_harness_push_and_pull (h, in);
  assert_crop_meta (out, 40, 5, 96, 96);
  gst_buffer_unref (out);
  assert_stat (h, "no-position", 2);
  assert_stat (h, "corrupt-signals", 1);

  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  {
    GstSegment segment;
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
  }
  out = gst_harness_push_and_pull (h, grey (96, 96, 3));
  assert_crop_meta (out, 28, 28, 96, 96);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_calibration)
{
  GstHarness *h = new_harness ("calibration", "0 0.01 4; -0.01 0 60; 0 0 1",
      "width", 20, "height", 10, NULL);
  GstBuffer *in = grey (96, 96, 0), *out;

  set_caps (h, "GRAY8", 96, 96);
  add_signal (in, 0, 10, 20); /* 2000 um, 4000 um -> 44, 40 px */
  out = gst_harness_push_and_pull (h, in);
  assert_crop_meta (out, 34, 35, 96, 96);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_never_leaves_the_frame)
{
  static const struct {
    gdouble x, y;
    gint left, top;
  } cases[] = { { 0, 0, 0, 0 }, { 95.9, 0, 56, 0 }, { 0, 79.9, 0, 40 },
    { 60000, 60000, 56, 40 }, { 20, 20, 0, 0 }, { 20.99, 21, 0, 1 },
    { 76, 60, 56, 40 }, { 75.99, 59.99, 55, 39 }, { -1, 30, 28, 10 } };
  GstHarness *h = new_harness ("position-source", 1, NULL);
  guint i;

  set_caps (h, "GRAY8", 96, 80);
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *out;

    g_object_set (h->element, "x", cases[i].x, "y", cases[i].y, NULL);
    out = gst_harness_push_and_pull (h, grey (96, 80, i));
    assert_crop_meta (out, cases[i].left, cases[i].top, 96, 80);
    assert_crop (
        out, GST_VIDEO_FORMAT_GRAY8, 40, 40, cases[i].left, cases[i].top);
    gst_buffer_unref (out);
  }
  assert_stat (h, "clamped", 4);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_align)
{
  GstHarness *h = new_harness (
      "position-source", 1, "x", 61.0, "y", 61.0, "roi-align", 16, NULL);
  GstBuffer *out;

  set_caps (h, "GRAY8", 96, 96);
  out = gst_harness_push_and_pull (h, grey (96, 96, 0));
  assert_crop_meta (out, 32, 41, 96, 96);
  assert_crop (out, GST_VIDEO_FORMAT_GRAY8, 40, 40, 32, 41);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* x controlled from 20 px at 0 ms to 60 px at 1 ms. */
GST_START_TEST (test_controller)
{
  GstHarness *h = new_harness ("position-source", 1, "y", 40.0, NULL);
  GstControlSource *source = gst_interpolation_control_source_new ();
  guint i;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (
      GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 20.0);
  gst_timed_value_control_source_set (
      GST_TIMED_VALUE_CONTROL_SOURCE (source), GST_MSECOND, 60.0);
  fail_unless (gst_object_add_control_binding (
      GST_OBJECT (h->element), gst_direct_control_binding_new_absolute (
                                   GST_OBJECT (h->element), "x", source)));
  gst_object_unref (source);

  set_caps (h, "GRAY8", 96, 96);
  for (i = 0; i <= 20; i++) {
    GstBuffer *out = gst_harness_push_and_pull (h, grey (96, 96, i));

    assert_crop_meta (out, 2 * i, 20, 96, 96);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_position_from_metas)
{
  GstHarness *h =
      new_harness ("position-source", 2, "width", 20, "height", 20, NULL);
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *in = grey (96, 96, 0), *out;
  GstCvisPbfMeta *result;

  set_caps (h, "GRAY8", 96, 96);
  gst_buffer_add_video_region_of_interest_meta (in, "pool", 40, 50, 11, 20);
  out = gst_harness_push_and_pull (h, in);
  assert_crop_meta (out, 35, 50, 96, 96);
  roi = gst_buffer_get_video_region_of_interest_meta (out);
  fail_unless (roi != NULL && roi->x == 5 && roi->y == 0 && roi->w == 11
               && roi->h == 20);
  gst_buffer_unref (out);

  /* the melt pool has priority over the region; scaled positions are
   * followed */
  in = grey (96, 96, 1);
  gst_buffer_add_video_region_of_interest_meta (in, "pool", 0, 0, 4, 4);
  add_result (in, 100.0, 60.0);
  result = gst_cvis_buffer_get_pbf_meta (in);
  result->scale_x = result->scale_y = 0.5;
  result->offset_x = 3.0;
  out = gst_harness_push_and_pull (h, in);
  assert_crop_meta (out, 43, 20, 96, 96);
  /* moved relative to the crop, and out of the visible part */
  result = gst_cvis_buffer_get_pbf_meta (out);
  fail_unless_equals_float (result->offset_x, 3.0 - 43.0);
  fail_unless_equals_float (result->offset_y, -20.0);
  fail_unless_equals_float (result->scale_x, 0.5);
  fail_unless (gst_buffer_get_video_region_of_interest_meta (out) == NULL);
  gst_buffer_unref (out);

  out = gst_harness_push_and_pull (h, grey (96, 96, 2));
  assert_crop_meta (out, 43, 20, 96, 96);
  gst_buffer_unref (out);
  assert_stat (h, "no-position", 1);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The position in the signals refers to the first frame, however often it
 * was cropped. */
GST_START_TEST (test_crop_of_crop)
{
  GstHarness *h = gst_harness_new_parse (
      "cudaroicrop position-source=property x=60 y=50 width=64 height=48 ! "
      "cudaroicrop position-source=property x=20 y=30 width=16 height=12 ! "
      "cudaroicrop width=8 height=8");
  GstBuffer *in = grey (128, 96, 0), *out;

  set_caps (h, "GRAY8", 128, 96);
  add_signal (in, 0, 46.0, 57.0);
  out = gst_harness_push_and_pull (h, in);
  /* 28, 26 + 12, 24 + 2, 3 */
  assert_crop_meta (out, 42, 53, 128, 96);
  assert_crop (out, GST_VIDEO_FORMAT_GRAY8, 8, 8, 42, 53);
  fail_unless_equals_float (
      gst_cvis_buffer_get_frame_crop_meta (out)->center_x, 46.0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* --- formats ------------------------------------------------------------- */

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8,
  GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY16_BE, GST_VIDEO_FORMAT_NV12,
  GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGBx,
  GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA };

/* Odd frames, odd crops, odd positions, odd strides and offsets. */
GST_START_TEST (test_formats)
{
  GstVideoFormat format = formats[__i__];
  const GstVideoFormatInfo *f = gst_video_format_get_info (format);
  gboolean subsampled =
      f->n_components > 1 && GST_VIDEO_FORMAT_INFO_W_SUB (f, 1) > 0;
  guint left = subsampled ? 30 : 31, top = subsampled ? 8 : 9, pad;

  for (pad = 0; pad < 8; pad += 7) {
    GstHarness *h = new_harness ("position-source", 1, "x", 47.5, "y", 20.25,
        "width", 33, "height", 23, NULL);
    GstBuffer *out;

    set_caps (h, gst_video_format_to_string (format), 97, 71);
    out = gst_harness_push_and_pull (
        h, new_frame (format, 97, 71, pad, pad * 3, 0));
    assert_out_size (h, 33, 23);
    assert_crop_meta (out, left, top, 97, 71);
    assert_crop (out, format, 33, 23, left, top);
    gst_buffer_unref (out);

    /* up to the last pixel of the frame */
    g_object_set (h->element, "x", 96.0, "y", 70.0, NULL);
    out = gst_harness_push_and_pull (
        h, new_frame (format, 97, 71, pad, pad * 3, 1));
    assert_crop (out, format, 33, 23, 64, 48);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* Fields keep their order: a crop of an interlaced frame starts at an even
 * row, with vertical subsampling at every fourth. */
GST_START_TEST (test_interlaced)
{
  GstHarness *h =
      new_harness ("position-source", 1, "x", 48.0, "y", 47.0, NULL);
  GstBuffer *out;

  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=GRAY8,width=96,height=96,framerate=25/1,"
      "interlace-mode=interleaved");
  out = gst_harness_push_and_pull (h, grey (96, 96, 0));
  assert_crop_meta (out, 28, 26, 96, 96);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The visible part of a larger frame, as decoders send it. */
GST_START_TEST (test_video_crop_meta)
{
  GstHarness *h =
      new_harness ("position-source", 1, "x", 20.0, "y", 20.0, NULL);
  GstBuffer *in, *out;
  GstVideoCropMeta *visible;

  set_caps (h, "NV12", 96, 80);
  in = new_frame (GST_VIDEO_FORMAT_NV12, 128, 112, 5, 16, 0);
  visible = gst_buffer_add_video_crop_meta (in);
  visible->x = 8;
  visible->y = 16;
  visible->width = 96;
  visible->height = 80;
  out = gst_harness_push_and_pull (h, in);
  assert_crop_meta (out, 0, 0, 96, 80);
  assert_crop (out, GST_VIDEO_FORMAT_NV12, 40, 40, 8, 16);
  fail_unless (gst_buffer_get_video_crop_meta (out) == NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_metas)
{
  GstHarness *h =
      new_harness ("position-source", 1, "x", 50.0, "y", 50.0, NULL);
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *in = grey (96, 96, 0), *out;
  GstStructure *param;
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-machine");

  set_caps (h, "GRAY8", 96, 96);
  add_signal (in, 7, 10, 10);
  gst_cvis_buffer_add_pbf_truth_meta (in);
  gst_buffer_add_reference_timestamp_meta (
      in, reference, 5, GST_CLOCK_TIME_NONE);
  gst_caps_unref (reference);
  roi =
      gst_buffer_add_video_region_of_interest_meta (in, "spot", 25, 60, 10, 50);
  roi->id = 9;
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("roi/test", "delta-qp", G_TYPE_INT, -5, NULL));
  GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_OFFSET (in) = 77;

  out = gst_harness_push_and_pull (h, in);
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
  fail_unless (GST_BUFFER_OFFSET (out) == 77);
  fail_unless (
      gst_cvis_buffer_get_pbf_signal_meta (out)->signal.frame_counter == 7);
  fail_unless (gst_buffer_get_reference_timestamp_meta (out, NULL) != NULL);
  /* counts of the whole frame do not apply to the crop */
  fail_unless (gst_cvis_buffer_get_pbf_truth_meta (out) == NULL);
  /* clipped at the crop's left and lower edges */
  roi = gst_buffer_get_video_region_of_interest_meta (out);
  fail_unless (roi->x == 0 && roi->w == 5 && roi->y == 30 && roi->h == 10);
  fail_unless_equals_int (roi->id, 9);
  param = gst_video_region_of_interest_meta_get_param (roi, "roi/test");
  fail_unless (param != NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Vectors and blocks are those of the whole frame, in the crop's
 * coordinates. */
GST_START_TEST (test_motion_metas)
{
  GstHarness *h =
      new_harness ("position-source", 1, "x", 50.0, "y", 50.0, NULL);
  CvisMotionPacket *packet = motion_packet_new (96, 96, 16, 2);
  GstBuffer *bytes = motion_packet_buffer (packet);
  GstBuffer *in = grey (96, 96, 0), *out;

  set_caps (h, "GRAY8", 96, 96);
  fail_unless_equals_int (
      gst_cvis_buffer_add_motion_vector_metas (in, bytes), 2);
  out = gst_harness_push_and_pull (h, in);
  for (gint distance = -1; distance <= 1; distance += 2) {
    GstCvisMotionVectorMeta *meta =
        gst_cvis_buffer_get_motion_vector_meta (out, distance);
    GstVideoRectangle rect;
    gdouble x;

    fail_unless (meta != NULL);
    fail_unless (meta->offset_x == -30 && meta->offset_y == -30);
    fail_unless (meta->scale_x == 1 && meta->scale_y == 1);
    fail_unless (
        gst_cvis_motion_vector_meta_get_block (meta, 2, 2, &rect, &x, NULL)
        != NULL);
    fail_unless (rect.x == 2 && rect.y == 2 && rect.w == 16 && rect.h == 16);
    fail_unless (x == meta->vectors[2 * 6 + 2].x / 4.0);
  }
  gst_buffer_unref (out);
  gst_buffer_unref (bytes);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

static GstPadProbeReturn
count_list (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  guint *sizes = user_data;

  sizes[0]++;
  sizes[1] = gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info));
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (test_lists_stay_lists)
{
  GstHarness *h = new_harness (NULL);
  GstBufferList *list = gst_buffer_list_new ();
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  GstPad *src = gst_element_get_static_pad (h->element, "src");
  guint seen[2] = { 0, 0 }, i;

  set_caps (h, "GRAY8", 96, 96);
  gst_pad_add_probe (
      src, GST_PAD_PROBE_TYPE_BUFFER_LIST, count_list, seen, NULL);
  for (i = 0; i < 256; i++) {
    GstBuffer *in = grey (96, 96, i);

    add_signal (in, i, i % 96, 50);
    gst_buffer_list_add (list, in);
  }
  fail_unless (gst_pad_push_list (h->srcpad, list) == GST_FLOW_OK);
  fail_unless_equals_int (seen[0], 1);
  fail_unless_equals_int (seen[1], 256);
  for (i = 0; i < 256; i++) {
    GstBuffer *out = gst_harness_pull (h);
    gint left = CLAMP ((gint) (i % 96) - 20, 0, 56);

    assert_crop_meta (out, left, 30, 96, 96);
    assert_crop (out, GST_VIDEO_FORMAT_GRAY8, 40, 40, left, 30);
    gst_buffer_unref (out);
  }
  assert_stat (h, "frames", 256);
  assert_stat (h, "lists", 1);
  fail_unless (
      gst_pad_push_list (h->srcpad, gst_buffer_list_new ()) == GST_FLOW_OK);
  gst_object_unref (sink);
  gst_object_unref (src);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_zero_copy)
{
  guint f;

  for (f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstHarness *h = new_harness ("position-source", 1, "x", 60.0, "y", 40.0,
        "width", 32, "height", 24, "zero-copy", TRUE, NULL);
    GstBuffer *in = new_frame (formats[f], 97, 71, 3 * (f % 2), 8 * (f % 2), 0);
    GstBuffer *out;
    GstMemory *memory = gst_buffer_get_memory (in, 0);

    gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
    set_caps (h, gst_video_format_to_string (formats[f]), 97, 71);
    out = gst_harness_push_and_pull (h, in);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory);
    assert_crop (out, formats[f], 32, 24, 44, 28);
    assert_crop_meta (out, 44, 28, 97, 71);
    assert_stat (h, "copies", 0);
    gst_memory_unref (memory);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* Downstream without support of GstVideoMeta gets a copied frame. */
GST_START_TEST (test_zero_copy_needs_video_meta)
{
  GstHarness *h = new_harness ("position-source", 1, "zero-copy", TRUE, NULL);
  GstBuffer *out;

  set_caps (h, "GRAY8", 96, 96);
  out = gst_harness_push_and_pull (h, grey (96, 96, 0));
  fail_unless_equals_int (gst_buffer_get_size (out), 1600);
  assert_crop (out, GST_VIDEO_FORMAT_GRAY8, 40, 40, 28, 28);
  assert_stat (h, "copies", 1);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* --- tests: negotiation ---------------------------------------------------- */

GST_START_TEST (test_caps)
{
  GstHarness *h = new_harness ("width", 33, "height", 21, NULL);
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  GstPad *src = gst_element_get_static_pad (h->element, "src");
  GstCaps *filter, *caps;
  GstStructure *s;
  gint width = 0, height = 0;

  gst_harness_set_sink_caps_str (
      h, "video/x-raw,format={NV12,GRAY8},framerate=25/1");
  filter = gst_caps_from_string ("video/x-raw,width=640,height=480");
  caps = gst_pad_query_caps (sink, filter);
  fail_unless (gst_caps_get_size (caps) == 1);
  s = gst_caps_get_structure (caps, 0);
  fail_unless (gst_structure_get_int (s, "width", &width) && width == 640);
  fail_unless (gst_structure_has_field (s, "framerate"));
  gst_caps_unref (caps);
  gst_caps_unref (filter);

  caps = gst_pad_query_caps (src, NULL);
  s = gst_caps_get_structure (caps, 0);
  fail_unless (gst_structure_get_int (s, "width", &width) && width == 33);
  fail_unless (gst_structure_get_int (s, "height", &height) && height == 21);
  gst_caps_unref (caps);
  gst_object_unref (sink);
  gst_object_unref (src);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_colour_travels)
{
  GstHarness *h = new_harness ("position-source", 1, NULL);
  GstCaps *caps;
  GstStructure *s;

  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=NV12,width=96,height=96,framerate=25/1,"
      "colorimetry=bt601,chroma-site=mpeg2,pixel-aspect-ratio=4/3");
  caps = gst_pad_get_current_caps (h->sinkpad);
  s = gst_caps_get_structure (caps, 0);
  fail_unless_equals_string (
      gst_structure_get_string (s, "colorimetry"), "bt601");
  fail_unless_equals_string (
      gst_structure_get_string (s, "chroma-site"), "mpeg2");
  fail_unless (gst_structure_has_field (s, "pixel-aspect-ratio"));
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_renegotiation)
{
  GstHarness *h = new_harness ("position-source", 1, NULL);
  GstBuffer *out;

  set_caps (h, "GRAY8", 96, 96);
  out = gst_harness_push_and_pull (h, grey (96, 96, 0));
  assert_crop (out, GST_VIDEO_FORMAT_GRAY8, 40, 40, 28, 28);
  gst_buffer_unref (out);

  set_caps (h, "NV12", 64, 48);
  out = gst_harness_push_and_pull (
      h, new_frame (GST_VIDEO_FORMAT_NV12, 64, 48, 0, 0, 1));
  assert_crop (out, GST_VIDEO_FORMAT_NV12, 40, 40, 12, 4);
  gst_buffer_unref (out);

  /* while playing */
  g_object_set (h->element, "width", 17, "height", 31, NULL);
  out = gst_harness_push_and_pull (
      h, new_frame (GST_VIDEO_FORMAT_NV12, 64, 48, 0, 0, 2));
  assert_out_size (h, 17, 31);
  assert_crop (out, GST_VIDEO_FORMAT_NV12, 17, 31, 24, 8);
  gst_buffer_unref (out);

  /* on request of downstream */
  gst_harness_push_upstream_event (h, gst_event_new_reconfigure ());
  out = gst_harness_push_and_pull (
      h, new_frame (GST_VIDEO_FORMAT_NV12, 64, 48, 0, 0, 3));
  assert_crop (out, GST_VIDEO_FORMAT_NV12, 17, 31, 24, 8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_allocation_and_latency)
{
  GstHarness *h = new_harness (NULL);
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=GRAY8,width=96,height=96,framerate=20000/1");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  set_caps (h, "GRAY8", 96, 96);
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless (
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless (gst_query_find_allocation_meta (
      query, GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);

  gst_harness_set_upstream_latency (h, 5 * GST_MSECOND);
  fail_unless (gst_harness_query_latency (h) == 5 * GST_MSECOND);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_events)
{
  GstHarness *h = new_harness (NULL);
  GstEventType expected[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS,
    GST_EVENT_SEGMENT, GST_EVENT_GAP, GST_EVENT_EOS };
  guint i;

  set_caps (h, "GRAY8", 96, 96);
  fail_unless (gst_harness_push_event (h, gst_event_new_gap (0, FRAME_NS)));
  fail_unless (gst_harness_push (h, grey (96, 96, 1)) == GST_FLOW_OK);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  for (i = 0; i < G_N_ELEMENTS (expected); i++) {
    GstEvent *event = gst_harness_pull_event (h);

    fail_unless_equals_string (
        GST_EVENT_TYPE_NAME (event), gst_event_type_get_name (expected[i]));
    gst_event_unref (event);
  }
  fail_unless (gst_harness_try_pull_event (h) == NULL);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* --- tests: bad input ------------------------------------------------------ */

GST_START_TEST (test_frame_too_small)
{
  GstHarness *h = new_harness (NULL);
  GstBus *bus = add_bus (h);

  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=32,height=64,framerate=25/1");
  bus_expect_error (bus,
      "Invalid settings: the crop of 40x40 is larger than the frames of 32x64");
  fail_unless (
      gst_harness_push (h, grey (32, 64, 0)) == GST_FLOW_NOT_NEGOTIATED);
  /* the same caps are refused again, without a second error */
  fail_unless (!gst_bus_have_pending (bus));
  /* they may fit another crop */
  g_object_set (h->element, "width", 32, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (32, 64, 1)));
  drop_bus (h, bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A size set while playing that is not possible warns, and the stream goes on with
 * the size in use. */
GST_START_TEST (test_crop_grows_too_large)
{
  GstHarness *h = new_harness ("position-source", 1, NULL);
  GstBus *bus = add_bus (h);
  guint width;

  set_caps (h, "GRAY8", 96, 96);
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, 0)));
  g_object_set (h->element, "width", 97, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, 1)));
  bus_expect (bus, GST_MESSAGE_WARNING,
      "The crop keeps 40x40 pixels: 97x40 is not possible, as the frames are "
      "smaller");
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, 1)));
  fail_unless (!gst_bus_have_pending (bus));
  g_object_get (h->element, "width", &width, NULL);
  fail_unless_equals_int (width, 40);
  g_object_set (h->element, "width", 96, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, 2)));
  assert_out_size (h, 96, 40);
  drop_bus (h, bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_downstream_refuses_a_new_size)
{
  GstHarness *h = new_harness ("position-source", 1, NULL);
  GstBus *bus = add_bus (h);

  gst_harness_set_sink_caps_str (
      h, "video/x-raw,format=GRAY8,width=[40,48],height=40");
  set_caps (h, "GRAY8", 96, 96);
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, 0)));
  g_object_set (h->element, "width", 64, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, 1)));
  assert_out_size (h, 40, 40);
  bus_expect (bus, GST_MESSAGE_WARNING, "downstream does not accept it");
  g_object_set (h->element, "width", 48, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, 2)));
  assert_out_size (h, 48, 40);
  fail_unless (!gst_bus_have_pending (bus));
  drop_bus (h, bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Frames without a position warn once, with their number. */
GST_START_TEST (test_warning_of_missing_positions)
{
  GstHarness *h = new_harness (NULL);
  GstBus *bus = add_bus (h);

  set_caps (h, "GRAY8", 96, 96);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, i)));
  gst_harness_push_event (h, gst_event_new_eos ());
  bus_expect (
      bus, GST_MESSAGE_WARNING, "Of the first 3 frames 3 had no position");
  drop_bus (h, bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_short_and_lying_buffers)
{
  GstHarness *h = new_harness (NULL);
  GstBus *bus = add_bus (h);
  gsize offset[4] = { 0 };
  gint stride[4] = { 96 };
  GstBuffer *in;
  guint i;

  set_caps (h, "GRAY8", 96, 96);
  in = gst_buffer_new_allocate (NULL, 96 * 96 - 1, NULL);
  fail_unless (gst_harness_push (h, in) == GST_FLOW_ERROR);
  bus_expect_error (bus, "a buffer of 9215 bytes is not the 96x96 GRAY8 frame");

  for (i = 0; i < 4; i++) {
    in = grey (96, 96, 0);
    offset[0] = i == 0 ? 9000 : 0;
    stride[0] = i == 1 ? 4096 : i == 2 ? -96 : 96;
    gst_buffer_add_video_meta_full (in, GST_VIDEO_FRAME_FLAG_NONE,
        i == 3 ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8, 96, 96, 1,
        offset, stride);
    fail_unless (gst_harness_push (h, in) == GST_FLOW_ERROR);
    bus_expect_error (bus, "is not the 96x96 GRAY8 frame");
  }

  /* an invalid buffer in a list makes the list fail without a leak */
  {
    GstBufferList *list = gst_buffer_list_new ();

    gst_buffer_list_add (list, grey (96, 96, 0));
    gst_buffer_list_add (list, gst_buffer_new_allocate (NULL, 5, NULL));
    gst_buffer_list_add (list, grey (96, 96, 2));
    fail_unless (gst_pad_push_list (h->srcpad, list) == GST_FLOW_ERROR);
    bus_expect_error (bus, "a buffer of 5 bytes");
  }
  drop_bus (h, bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

static void
assert_start_fails (GstElement *element, const gchar *words)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  fail_unless (gst_element_set_state (element, GST_STATE_PAUSED)
               == GST_STATE_CHANGE_FAILURE);
  bus_expect_error (bus, words);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_START_TEST (test_singular_calibration)
{
  GstElement *element = gst_element_factory_make ("cudaroicrop", NULL);

  g_object_set (element, "calibration", "1,2,3,2,4,6,0,0,1", NULL);
  assert_start_fails (
      element, "Invalid settings: calibration=\"1,2,3,2,4,6,0,0,1\": ");
}
GST_END_TEST;

static gboolean
have_device (void)
{
  return cvis_device_count (NULL) > 0;
}

GST_START_TEST (test_cuda_without_device)
{
  GstElement *element;

  if (have_device ())
    return;
  element = gst_element_factory_make ("cudaroicrop", NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  assert_start_fails (element, "No CUDA device for backend=cuda: ");
}
GST_END_TEST;

/* Such memory is offered only if the negotiation supports it; in builds with
 * support, caps without a usable device are refused with a message. */
GST_START_TEST (test_cuda_memory_refused)
{
  static const gchar caps[] =
      "video/x-raw(memory:CUDAMemory),format=NV12,width=96,height=96,"
      "framerate=25/1";
  GstHarness *h = new_harness (NULL);
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  GstCaps *cuda = gst_caps_from_string (caps), *template;
  GstBus *bus = add_bus (h);
  gboolean offered;

  template = gst_pad_get_pad_template_caps (sink);
  offered = gst_caps_is_subset (cuda, template);
  gst_caps_unref (template);
  gst_caps_unref (cuda);
  gst_object_unref (sink);
  if (offered && !have_device ()) {
    gst_harness_set_src_caps_str (h, caps);
    bus_expect_error (bus, "No CUDA context for memory:CUDAMemory: ");
  }
  if (offered) {
    g_object_set (h->element, "backend", 1, NULL);
    gst_harness_set_src_caps_str (h,
        "video/x-raw(memory:CUDAMemory),format=NV12,width=96,height=96,"
        "framerate=30/1");
    bus_expect_error (bus, " with backend=cpu. Put cudadownload");
  }
  drop_bus (h, bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_active_backend)
{
  GstHarness *h = new_harness (NULL);
  gint active = -1;

  set_caps (h, "GRAY8", 96, 96);
  g_object_get (h->element, "active-backend", &active, NULL);
  fail_unless_equals_int (active, 1); /* cpu */
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  GstHarness *h = new_harness (NULL);
  guint i;

  for (i = 0; i < 50; i++) {
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    gst_harness_play (h);
    set_caps (h, "GRAY8", 96, 96);
    gst_buffer_unref (gst_harness_push_and_pull (h, grey (96, 96, i)));
    assert_stat (h, "frames", 1);
    fail_unless (gst_element_set_state (
                     h->element, i % 2 ? GST_STATE_NULL : GST_STATE_READY)
                 == GST_STATE_CHANGE_SUCCESS);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
cudaroicrop_suite (void)
{
  Suite *suite = suite_create ("cudaroicrop");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_signals_move_the_crop);
  tcase_add_test (tcase, test_position_is_kept);
  tcase_add_test (tcase, test_calibration);
  tcase_add_test (tcase, test_never_leaves_the_frame);
  tcase_add_test (tcase, test_align);
  tcase_add_test (tcase, test_controller);
  tcase_add_test (tcase, test_position_from_metas);
  tcase_add_test (tcase, test_crop_of_crop);
  tcase_add_loop_test (tcase, test_formats, 0, G_N_ELEMENTS (formats));
  tcase_add_test (tcase, test_interlaced);
  tcase_add_test (tcase, test_video_crop_meta);
  tcase_add_test (tcase, test_metas);
  tcase_add_test (tcase, test_motion_metas);
  tcase_add_test (tcase, test_lists_stay_lists);
  tcase_add_test (tcase, test_zero_copy);
  tcase_add_test (tcase, test_zero_copy_needs_video_meta);
  tcase_add_test (tcase, test_caps);
  tcase_add_test (tcase, test_colour_travels);
  tcase_add_test (tcase, test_renegotiation);
  tcase_add_test (tcase, test_downstream_refuses_a_new_size);
  tcase_add_test (tcase, test_warning_of_missing_positions);
  tcase_add_test (tcase, test_allocation_and_latency);
  tcase_add_test (tcase, test_events);
  tcase_add_test (tcase, test_frame_too_small);
  tcase_add_test (tcase, test_crop_grows_too_large);
  tcase_add_test (tcase, test_short_and_lying_buffers);
  tcase_add_test (tcase, test_singular_calibration);
  tcase_add_test (tcase, test_cuda_without_device);
  tcase_add_test (tcase, test_cuda_memory_refused);
  tcase_add_test (tcase, test_active_backend);
  tcase_add_test (tcase, test_states);
  return suite;
}

GST_CHECK_MAIN (cudaroicrop);
