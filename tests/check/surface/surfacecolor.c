/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* surfacecolor: colours of heights, ranges, missing points, hill shading,
 * bars; caps in both directions, grey input, errors. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "tests/check/common/busmessages.h"

#define W 16
#define H 8

static GstHarness *
harness (const gchar *properties, const gchar *caps)
{
  gchar *line = g_strdup_printf ("surfacecolor scale-bar=false %s", properties);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  g_free (line);
  return h;
}

#define FLOATS                                                                 \
  "other/tensors, format=static, num_tensors=1, types=float32, "               \
  "dimensions=(string)16:8:1:1, framerate=25/1"

/* Heights 0, 1, 2, .. nanometres row by row; the last one is missing. */
static GstBuffer *
ramp (void)
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, W * H * sizeof (gfloat), NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint i = 0; i < W * H; i++)
    ((gfloat *) map.data)[i] = i * 1e-9f;
  ((gfloat *) map.data)[W * H - 1] = NAN;
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static guint32
pixel (GstBuffer *buffer, guint index)
{
  guint8 rgb[3];

  /* rows of RGB are padded to multiples of four */
  gst_buffer_extract (
      buffer, index / W * GST_ROUND_UP_4 (3 * W) + index % W * 3, rgb, 3);
  return (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2];
}

static GstBuffer *
paint (const gchar *properties)
{
  GstHarness *h = harness (properties, FLOATS);
  GstBuffer *out;

  gst_harness_set_sink_caps_str (h, "video/x-raw, format=RGB");
  out = gst_harness_push_and_pull (h, ramp ());
  fail_unless (out != NULL);
  gst_harness_teardown (h);
  return out;
}

GST_START_TEST (test_colours)
{
  static const struct {
    const gchar *map;
    guint32 first, last;
  } maps[] = { { "viridis", 0x440154, 0xfde725 },
    { "inferno", 0x000004, 0xfcffa4 }, { "grey", 0x000000, 0xffffff },
    { "terrain", 0x1b2f6b, 0xffffff } };

  for (guint i = 0; i < G_N_ELEMENTS (maps); i++) {
    gchar *properties =
        g_strdup_printf ("map=%s percentile-low=0 percentile-high=100 "
                         "nan-color=0x010203",
            maps[i].map);
    GstBuffer *out = paint (properties);

    fail_unless_equals_int_hex (pixel (out, 0), maps[i].first);
    fail_unless_equals_int_hex (pixel (out, W * H - 2), maps[i].last);
    fail_unless_equals_int_hex (pixel (out, W * H - 1), 0x010203);
    gst_buffer_unref (out);
    g_free (properties);
  }
}
GST_END_TEST;

GST_START_TEST (test_ranges)
{
  GstBuffer *out = paint ("map=grey range=fixed minimum=20e-9 maximum=60e-9");

  fail_unless_equals_int_hex (pixel (out, 20), 0);
  fail_unless_equals_int_hex (pixel (out, 3), 0);
  fail_unless_equals_int_hex (pixel (out, 60), 0xffffff);
  fail_unless_equals_int_hex (pixel (out, 99), 0xffffff);
  fail_unless_equals_int_hex (pixel (out, 39), 0x797979);
  gst_buffer_unref (out);

  out = paint ("map=grey percentile-low=25 percentile-high=75");
  fail_unless_equals_int_hex (pixel (out, 30), 0);
  fail_unless (pixel (out, 34) > 0);
  fail_unless (pixel (out, 93) < 0xffffff);
  fail_unless_equals_int_hex (pixel (out, 97), 0xffffff);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* With light from the left, slopes rising to the right are in shadow. */
GST_START_TEST (test_light)
{
  GstBuffer *flat = paint ("map=grey range=fixed minimum=-1 maximum=1");
  GstBuffer *left = paint (
      "map=grey range=fixed minimum=-1 maximum=1 hill-shade=1 azimuth=270");
  GstBuffer *right = paint (
      "map=grey range=fixed minimum=-1 maximum=1 hill-shade=1 azimuth=90");

  fail_unless_equals_int_hex (pixel (flat, 20), 0x808080);
  fail_unless (pixel (left, 20) != pixel (right, 20));
  gst_buffer_unref (flat);
  gst_buffer_unref (left);
  gst_buffer_unref (right);
}
GST_END_TEST;

GST_START_TEST (test_bars)
{
  GstHarness *h = gst_harness_new_parse (
      "surfacetestsrc num-buffers=2 parts=form ! tee name=t "
      "t. ! queue ! surfacecolor ! video/x-raw,format=BGRx ! fakesink "
      "t. ! queue ! surfacecolor scale-bar=false ! capsfilter "
      "caps=video/x-raw,format=RGBA");
  GstBuffer *out;

  gst_harness_play (h);
  out = gst_harness_pull (h);
  fail_unless (out != NULL);
  fail_unless_equals_uint64 (gst_buffer_get_size (out), 512 * 512 * 4);
  fail_unless (gst_cvis_buffer_get_surface_meta (out) != NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Grey samples with a scale and a mask */
GST_START_TEST (test_grey)
{
  GstHarness *h = harness ("map=grey range=fixed minimum=0 maximum=255e-9 "
                           "nan-color=0xff0000",
      "video/x-raw, format=GRAY8, width=16, height=8, framerate=25/1");
  GstBuffer *in = gst_buffer_new_allocate (NULL, W * H, NULL), *out;
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (in);

  gst_buffer_memset (in, 0, 77, -1);
  meta->z_scale = 1e-9;
  meta->mask = gst_buffer_new_allocate (NULL, W * H, NULL);
  gst_buffer_memset (meta->mask, 0, 1, -1);
  gst_buffer_memset (meta->mask, 5, 0, 1);
  gst_harness_set_sink_caps_str (h, "video/x-raw, format=RGB");
  out = gst_harness_push_and_pull (h, in);
  fail_unless (out != NULL);
  fail_unless_equals_int_hex (pixel (out, 4), 0x4d4d4d);
  fail_unless_equals_int_hex (pixel (out, 5), 0xff0000);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

static GstBuffer *
zeros (gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, 0, size);
  return buffer;
}

GST_START_TEST (test_renegotiation)
{
  GstHarness *h = harness ("", FLOATS);
  GstBuffer *out = gst_harness_push_and_pull (h, ramp ());
  GstVideoInfo info;
  GstCaps *caps;

  gst_buffer_unref (out);
  gst_harness_set_src_caps_str (h,
      "other/tensors, format=static, num_tensors=1, types=float64, "
      "dimensions=(string)5:3, framerate=0/1");
  out = gst_harness_push_and_pull (h, zeros (5 * 3 * sizeof (gdouble)));
  fail_unless (out != NULL);
  gst_buffer_unref (out);
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (info.width, 5);
  fail_unless_equals_int (info.height, 3);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

static GstBuffer *
spaced (gdouble dx, gdouble dy)
{
  GstBuffer *buffer = ramp ();
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (buffer);

  meta->dx = dx;
  meta->dy = dy;
  return buffer;
}

static void
expect_aspect (GstHarness *h, GstBuffer *buffer, gint n, gint d)
{
  GstVideoInfo info;
  GstCaps *caps;

  gst_buffer_unref (gst_harness_push_and_pull (h, buffer));
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (info.par_n, n);
  fail_unless_equals_int (info.par_d, d);
  gst_caps_unref (caps);
}

static GstPadProbeReturn
count_caps (GstPad *pad, GstPadProbeInfo *info, gpointer n)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_CAPS)
    ++*(guint *) n;
  return GST_PAD_PROBE_OK;
}

/* Points have their true aspect ratio; the meta has priority over the caps. */
GST_START_TEST (test_aspect)
{
  static const struct {
    gdouble dx, dy;
    gint n, d;
  } cases[] = { { 2e-6, 1e-6, 2, 1 }, { 1e-6, 3e-6, 1, 3 }, { 1, 1, 1, 1 },
    { 1.5e-6, 1e-6, 3, 2 }, { 1.0001e-6, 1e-6, 1, 1 }, { G_PI, 1.0, 355, 113 },
    { 1.0, 99.5, 2, 199 }, { 1.0, 101, 1, 1 }, { 0.0, 1e-6, 2, 1 },
    { NAN, 1e-6, 2, 1 } };
  GstHarness *h = harness ("", FLOATS ", surface-dx=2e-6, surface-dy=1e-6");
  guint n_caps = 0;

  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      count_caps, &n_caps, NULL);
  expect_aspect (h, ramp (), 2, 1);
  fail_unless_equals_int (n_caps, 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    expect_aspect (
        h, spaced (cases[i].dx, cases[i].dy), cases[i].n, cases[i].d);
  n_caps = 0;
  for (guint i = 0; i < 3; i++)
    expect_aspect (h, spaced (3e-6, 1e-6), 3, 1);
  fail_unless_equals_int (n_caps, 1);
  gst_harness_set_src_caps_str (h, FLOATS);
  expect_aspect (h, ramp (), 1, 1);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Grey pictures have their own aspect ratio; downstream that only accepts
 * square pixels gets these. */
GST_START_TEST (test_aspect_of_others)
{
  GstHarness *h = harness ("", "video/x-raw, format=GRAY8, width=16, height=8, "
                               "framerate=25/1, pixel-aspect-ratio=4/3");

  expect_aspect (h, zeros (W * H), 4, 3);
  gst_harness_teardown (h);

  h = harness ("", FLOATS ", surface-dx=2e-6, surface-dy=1e-6");
  gst_harness_set_sink_caps_str (h, "video/x-raw, pixel-aspect-ratio=1/1");
  expect_aspect (h, ramp (), 1, 1);
  expect_aspect (h, spaced (3e-6, 1e-6), 1, 1);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Byte segments have no time for controllers. */
GST_START_TEST (test_segment_of_bytes)
{
  GstHarness *h = gst_harness_new_parse ("surfacecolor");
  GstCaps *caps = gst_caps_from_string (FLOATS);
  GstSegment segment;

  gst_harness_play (h);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_stream_start ("bytes"));
  gst_harness_push_event (h, gst_event_new_caps (caps));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_buffer_unref (gst_harness_push_and_pull (h, ramp ()));
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

static void
refuse (GstBuffer *buffer, const gchar *text)
{
  GstHarness *h = harness ("", FLOATS);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  bus_expect_error (bus, text);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_START_TEST (test_short_buffers)
{
  GstBuffer *masked = ramp ();

  refuse (gst_buffer_new_allocate (NULL, 100, NULL),
      "Cannot show a surface: a buffer of 100 bytes does not hold 16x8 points. "
      "Check the caps.");
  gst_cvis_buffer_add_surface_meta (masked)->mask =
      gst_buffer_new_allocate (NULL, W * H - 1, NULL);
  refuse (masked,
      "Cannot show a surface: its mask of 127 bytes does not fit 16x8 points.");
}
GST_END_TEST;

/* The mask of coefficients belongs to their surface, whatever its size. */
GST_START_TEST (test_mask_of_bands)
{
  GstHarness *h = harness ("", FLOATS);
  GstBuffer *bands = ramp ();
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (bands);

  meta->part = CVIS_SURFACE_PART_BANDS;
  meta->mask = gst_buffer_new_allocate (NULL, 3, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, bands));
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Surfaces with a side beyond video's limit are refused with a message. */
GST_START_TEST (test_too_large)
{
  GstHarness *h = gst_harness_new_parse ("surfacecolor");
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h,
      "other/tensors, format=static, num_tensors=1, types=float32, "
      "dimensions=(string)32769:2:1:1, framerate=25/1");
  /* reported once, though the caps come again with each surface */
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (
        gst_harness_push (h,
            gst_buffer_new_allocate (NULL, 32769 * 2 * sizeof (gfloat), NULL)),
        GST_FLOW_NOT_NEGOTIATED);
  bus_expect_error (bus,
      "Cannot show a surface of 32769x2 points: a side of video has at most "
      "32768. Use a smaller part of it.");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The largest supported side, on which cairo cannot draw bars. */
GST_START_TEST (test_largest_side)
{
  GstHarness *h = gst_harness_new_parse ("surfacecolor");
  GstBuffer *out;

  gst_harness_set_src_caps_str (h,
      "other/tensors, format=static, num_tensors=1, types=float32, "
      "dimensions=(string)96:32768:1:1, framerate=25/1, surface-dx=1e-6");
  out = gst_harness_push_and_pull (h, zeros (96 * 32768 * sizeof (gfloat)));
  fail_unless (out != NULL);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* An empty range is reported once, and again after a valid one. */
GST_START_TEST (test_empty_range)
{
  static const struct {
    const gchar *properties, *text;
  } cases[] = {
    { "percentile-low=90 percentile-high=10",
        "The range of colours is empty: percentile-low is 90, percentile-high "
        "is 10. All points get the middle colour. Set another range." },
    { "range=fixed minimum=1 maximum=1",
        "The range of colours is empty: minimum is 1, maximum is 1. All points "
        "get the middle colour. Set another range." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = harness (cases[i].properties, FLOATS);
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (h->element, bus);
    for (guint frame = 0; frame < 6; frame++) {
      GstMessage *message;
      GError *warning;

      if (frame == 2)
        gst_harness_set (
            h, "surfacecolor", "percentile-high", 99.0, "maximum", 2.0, NULL);
      if (frame == 3)
        gst_harness_set (
            h, "surfacecolor", "percentile-high", 10.0, "maximum", 1.0, NULL);
      gst_buffer_unref (gst_harness_push_and_pull (h, ramp ()));
      message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
      fail_unless (
          (message != NULL) == (frame == 0 || frame == 3), "%u", frame);
      if (message == NULL)
        continue;
      gst_message_parse_warning (message, &warning, NULL);
      fail_unless_equals_string (warning->message, cases[i].text);
      g_error_free (warning);
      gst_message_unref (message);
    }
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* Of heights 0 to 126 nm half are below the middle of a range that a
 * controller raises within a second. */
GST_START_TEST (test_controller)
{
  GstHarness *h = harness ("map=grey range=fixed minimum=-1", FLOATS);
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstElement *element = gst_harness_find_element (h, "surfacecolor");

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (
      GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 1.0);
  gst_timed_value_control_source_set (
      GST_TIMED_VALUE_CONTROL_SOURCE (source), GST_SECOND, 3.0);
  fail_unless (gst_object_add_control_binding (
      GST_OBJECT (element), gst_direct_control_binding_new_absolute (
                                GST_OBJECT (element), "maximum", source)));
  gst_harness_set_sink_caps_str (h, "video/x-raw, format=RGB");
  for (guint i = 0; i <= 2; i++) {
    static const guint32 expected[] = { 0x808080, 0x555555, 0x404040 };
    GstBuffer *in = ramp (), *out;

    GST_BUFFER_PTS (in) = i * GST_SECOND / 2;
    out = gst_harness_push_and_pull (h, in);
    fail_unless_equals_int_hex (pixel (out, 0), expected[i]);
    gst_buffer_unref (out);
  }
  gst_object_unref (source);
  gst_object_unref (element);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Samples of all types at an odd address. */
GST_START_TEST (test_odd_address)
{
  static const gchar *types[] = { "float32", "float64", "int32" };
  static const gsize sizes[] = { 4, 8, 4 };

  for (guint type = 0; type < G_N_ELEMENTS (types); type++) {
    const gsize size = W * H * sizes[type];
    gchar *caps =
        g_strdup_printf ("other/tensors, format=static, num_tensors=1, "
                         "types=%s, dimensions=(string)16:8:1:1, "
                         "framerate=25/1",
            types[type]);
    GstHarness *h =
        harness ("map=grey range=fixed minimum=0 maximum=255", caps);
    guint8 *data = g_malloc (size + 1);
    GstBuffer *out;

    for (guint i = 0; i < W * H; i++) {
      const gfloat single = i;
      const gdouble twice = i;
      const gint32 integer = (gint32) i;

      memcpy (data + 1 + i * sizes[type],
          type == 0   ? (const void *) &single
          : type == 1 ? (const void *) &twice
                      : (const void *) &integer,
          sizes[type]);
    }
    gst_harness_set_sink_caps_str (h, "video/x-raw, format=RGB");
    out = gst_harness_push_and_pull (h,
        gst_buffer_new_wrapped_full (0, data, size + 1, 1, size, data, g_free));
    for (guint i = 0; i < W * H; i++)
      fail_unless_equals_int_hex (pixel (out, i), i * 0x10101);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
    g_free (caps);
  }
}
GST_END_TEST;

static Suite *
surfacecolor_suite (void)
{
  Suite *s = suite_create ("surfacecolor");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_colours);
  tcase_add_test (tc, test_ranges);
  tcase_add_test (tc, test_light);
  tcase_add_test (tc, test_bars);
  tcase_add_test (tc, test_grey);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_aspect);
  tcase_add_test (tc, test_aspect_of_others);
  tcase_add_test (tc, test_segment_of_bytes);
  tcase_add_test (tc, test_short_buffers);
  tcase_add_test (tc, test_mask_of_bands);
  tcase_add_test (tc, test_too_large);
  tcase_add_test (tc, test_largest_side);
  tcase_add_test (tc, test_empty_range);
  tcase_add_test (tc, test_controller);
  tcase_add_test (tc, test_odd_address);
  return s;
}

GST_CHECK_MAIN (surfacecolor);
