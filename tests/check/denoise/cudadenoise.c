/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudadenoise: the planes are those of the plain C reference implementation, chroma
 * that is not asked for is copied, grey is luma; formats, depths, odd sizes, strides,
 * crops, fields; caps, metas, flush, statistics and errors. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <string.h>

#include "tests/check/common/busmessages.h"
#include "lwtreference.h"

#define FRAME_NS (40 * GST_MSECOND)
#define SETTINGS "wavelet=9/7 levels=3 spins=2 shrink=hard threshold-scale=0.6 "

static GstHarness *
rig_new (const gchar *settings, GstBus *bus)
{
  gchar *line =
      g_strdup_printf ("cudadenoise mode=wavelets backend=cpu %s", settings);
  GstHarness *h = gst_harness_new_parse (line);

  if (bus != NULL) {
    GstElement *element = gst_harness_find_element (h, "cudadenoise");

    gst_element_set_bus (element, bus);
    gst_object_unref (element);
  }
  g_free (line);
  return h;
}

static gchar *
caps_of (const gchar *format, guint width, guint height, const gchar *more)
{
  return g_strdup_printf (
      "video/x-raw,format=%s,width=%u,height=%u,framerate=25/1%s", format,
      width, height, more);
}

/* --- frames -------------------------------------------------------------- */

/* Position of a component in a buffer. GStreamer's offsets of P010 are
 * wrong. */
typedef struct {
  guint width, height, step, bytes, bits, shift;
  gsize offset, stride;
} Place;

static Place
place_of (
    const GstVideoInfo *info, const gsize *offset, const gint *stride, guint c)
{
  const guint plane = (guint) GST_VIDEO_INFO_COMP_PLANE (info, c);
  Place p = {
    .width = (guint) GST_VIDEO_INFO_COMP_WIDTH (info, c),
    .height = (guint) GST_VIDEO_INFO_COMP_HEIGHT (info, c),
    .bits = (guint) GST_VIDEO_INFO_COMP_DEPTH (info, c),
    .shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, c),
  };

  p.bytes = p.bits > 8 ? 2 : 1;
  p.step = (guint) GST_VIDEO_INFO_COMP_PSTRIDE (info, c) / p.bytes;
  p.stride = (gsize) stride[plane];
  p.offset = offset[plane] + (p.step > 1 && c == 2 ? p.bytes : 0);
  return p;
}

static guint
get_sample (const guint8 *data, const Place *p, guint x, guint y)
{
  const guint8 *at =
      data + p->offset + y * p->stride + (gsize) x * p->step * p->bytes;

  return p->bytes == 1 ? *at : *(const guint16 *) (gconstpointer) at;
}

static void
put_sample (guint8 *data, const Place *p, guint x, guint y, guint value)
{
  guint8 *at =
      data + p->offset + y * p->stride + (gsize) x * p->step * p->bytes;

  if (p->bytes == 1)
    *at = (guint8) value;
  else
    *(guint16 *) (gpointer) at = (guint16) value;
}

/* A picture with noise, some of it black and white. */
static guint
level_at (guint c, guint x, guint y, guint bits)
{
  const guint max = (1u << bits) - 1;
  const gint picture = (gint) (x / 9 + y / 7) % 3 * 100 + (gint) c * 10;
  const gint noise = g_random_int_range (-20, 20);
  const gint level = (picture + noise) * (1 << (bits - 8));

  return (guint) CLAMP (level, 0, (gint) max);
}

/* @wide: planes start later and rows are longer than in the caps, as
 *   described by its GstVideoMeta. */
static GstBuffer *
frame_new (const GstVideoInfo *info, gboolean wide)
{
  gsize offset[4], size = 0;
  gint stride[4];
  GstBuffer *buffer;
  GstMapInfo map;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    const guint height = (guint) GST_VIDEO_INFO_COMP_HEIGHT (info, p);

    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE (info, p) + (wide ? 34 : 0);
    offset[p] = wide ? size + 6 : GST_VIDEO_INFO_PLANE_OFFSET (info, p);
    size = offset[p] + (gsize) stride[p] * height;
  }
  size = MAX (size, GST_VIDEO_INFO_SIZE (info));
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (buffer, 0, 0xee, size);
  if (wide)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_INFO_FORMAT (info), (guint) GST_VIDEO_INFO_WIDTH (info),
        (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
        offset, stride);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    const Place p = place_of (info, offset, stride, c);

    for (guint y = 0; y < p.height; y++)
      for (guint x = 0; x < p.width; x++)
        put_sample (map.data, &p, x, y, level_at (c, x, y, p.bits) << p.shift);
  }
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* --- expected results ---------------------------------------------------- */

/* The samples of a plane, or a field of it, through the reference
 * implementation. */
static void
denoise (const Place *p, guint width, guint height, gpointer samples)
{
  LwtWavelet *wavelet = lwt_wavelet_new ("9/7", NULL);
  GError *error = NULL;
  LwtEngine *engine;
  LwtConfig config;
  LwtJob job = { 0 }, *done;
  gpointer out = g_malloc ((gsize) width * height * p->bytes);

  lwt_config_init (&config);
  config.operation = LWT_OPERATION_DENOISE;
  config.wavelet = wavelet;
  config.width = width;
  config.height = height;
  config.levels[0] = config.levels[1] = 3;
  config.spins = 2;
  config.shrink = LWT_SHRINK_HARD;
  config.threshold_scale = 0.6;
  config.sample = p->bytes == 1 ? LWT_SAMPLE_U8 : LWT_SAMPLE_U16;
  config.z_scale = 1.0 / (1u << (p->bits + p->shift - 8));
  config.store_bits = p->bits;
  config.store_shift = p->shift;
  config.parts = 1u << CVIS_SURFACE_PART_MEASURED;
  engine = lwt_engine_new_on (&lwt_backend_reference, &config, NULL, &error);
  fail_unless (engine != NULL, "%s", error ? error->message : "");
  job.data = samples;
  job.stride = (gsize) width * p->bytes;
  job.parts[CVIS_SURFACE_PART_MEASURED] =
      (LwtPlane){ .data = out, .stride = job.stride };
  fail_unless (lwt_engine_submit (engine, &job, &error), "%s",
      error ? error->message : "");
  lwt_engine_wait (engine, &done, NULL);
  memcpy (samples, out, (gsize) width * height * p->bytes);
  lwt_engine_free (engine);
  lwt_wavelet_free (wavelet);
  g_free (out);
}

/* Component @c of @in, cropped at @left, @top of it, by way of the reference
 * implementation if
 * @denoised, is that of @out. */
static void
check_component (const GstVideoInfo *info, GstBuffer *in, guint left, guint top,
    GstBuffer *out, guint c, gboolean denoised, guint fields)
{
  const GstVideoMeta *from_meta = gst_buffer_get_video_meta (in);
  const GstVideoMeta *to_meta = gst_buffer_get_video_meta (out);
  const Place from =
      place_of (info, from_meta ? from_meta->offset : info->offset,
          from_meta ? from_meta->stride : info->stride, c);
  const Place to = place_of (info, to_meta ? to_meta->offset : info->offset,
      to_meta ? to_meta->stride : info->stride, c);
  const guint rows = from.height / fields;
  guint8 *samples = g_malloc ((gsize) from.width * rows * from.bytes);
  const Place packed = {
    .step = 1, .bytes = from.bytes, .stride = (gsize) from.width * from.bytes
  };
  GstMapInfo from_map, to_map;
  guint changed = 0;

  left >>= GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c);
  top >>= GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);
  fail_unless (gst_buffer_map (in, &from_map, GST_MAP_READ));
  fail_unless (gst_buffer_map (out, &to_map, GST_MAP_READ));
  for (guint field = 0; field < fields; field++) {
    for (guint y = 0; y < rows; y++)
      for (guint x = 0; x < from.width; x++)
        put_sample (samples, &packed, x, y,
            get_sample (
                from_map.data, &from, x + left, y * fields + field + top));
    if (denoised)
      denoise (&from, from.width, rows, samples);
    for (guint y = 0; y < rows; y++)
      for (guint x = 0; x < from.width; x++) {
        const guint got = get_sample (to_map.data, &to, x, y * fields + field);

        fail_unless (got == get_sample (samples, &packed, x, y),
            "component %u at (%u, %u) of field %u: %u, not %u", c, x, y, field,
            got, get_sample (samples, &packed, x, y));
        changed += got
                   != get_sample (from_map.data, &from, x + left,
                       y * fields + field + top);
      }
  }
  fail_unless (denoised == (changed > 0));
  gst_buffer_unmap (in, &from_map);
  gst_buffer_unmap (out, &to_map);
  g_free (samples);
}

/* --- planes --------------------------------------------------------------- */

static const struct {
  const gchar *format;
  guint width, height;
  gboolean wide, chroma;
  const gchar *interlaced;
  guint fields;
} videos[] = {
  { "NV12", 64, 48, FALSE, FALSE, "", 1 },
  { "NV12", 64, 48, FALSE, TRUE, "", 1 },
  { "NV12", 77, 55, TRUE, TRUE, "", 1 },
  { "NV12", 77, 55, FALSE, FALSE, "", 1 },
  { "I420", 64, 48, FALSE, FALSE, "", 1 },
  { "I420", 51, 37, TRUE, TRUE, "", 1 },
  { "I420", 51, 37, TRUE, FALSE, "", 1 },
  { "Y42B", 63, 33, FALSE, TRUE, "", 1 },
  { "Y444", 61, 35, TRUE, TRUE, "", 1 },
  { "Y444", 61, 35, TRUE, FALSE, "", 1 },
  { "P010_10LE", 66, 34, FALSE, FALSE, "", 1 },
  { "P010_10LE", 65, 35, TRUE, TRUE, "", 1 },
  { "I420_10LE", 65, 35, TRUE, TRUE, "", 1 },
  { "GRAY8", 64, 48, FALSE, FALSE, "", 1 },
  { "GRAY8", 51, 37, TRUE, TRUE, "", 1 },
  { "GRAY16_LE", 33, 21, TRUE, FALSE, "", 1 },
  /* fields: both have the same number of rows */
  { "NV12", 64, 48, FALSE, TRUE, ",interlace-mode=interleaved", 2 },
  { "I420", 64, 46, TRUE, FALSE, ",interlace-mode=mixed", 2 },
  { "I420", 64, 46, TRUE, TRUE, ",interlace-mode=mixed", 1 },
  { "P010_10LE", 64, 45, TRUE, FALSE, ",interlace-mode=interleaved", 1 },
};

GST_START_TEST (test_planes)
{
  const gchar *format = videos[__i__].format;
  gchar *settings = g_strdup_printf (
      SETTINGS "chroma=%s", videos[__i__].chroma ? "true" : "false");
  gchar *text = caps_of (format, videos[__i__].width, videos[__i__].height,
      videos[__i__].interlaced);
  GstCaps *caps = gst_caps_from_string (text), *leaving;
  GstHarness *h = rig_new (settings, NULL);
  GstBuffer *frames[4];
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    frames[i] = frame_new (&info, videos[__i__].wide);
    GST_BUFFER_PTS (frames[i]) = i * FRAME_NS;
    GST_BUFFER_FLAG_SET (frames[i], GST_VIDEO_BUFFER_FLAG_TFF);
    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_ref (frames[i])), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    GstBuffer *out = gst_harness_pull (h);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), i * FRAME_NS);
    fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_VIDEO_BUFFER_FLAG_TFF));
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
      check_component (&info, frames[i], 0, 0, out, c,
          c == 0 || videos[__i__].chroma, videos[__i__].fields);
    gst_buffer_unref (out);
    gst_buffer_unref (frames[i]);
  }
  leaving = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_caps_is_equal (leaving, caps));
  gst_caps_unref (leaving);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
  g_free (settings);
  g_free (text);
}
GST_END_TEST;

/* A visible region of a larger frame; metas that do not describe memory
 * layout. */
GST_START_TEST (test_crop)
{
  static const gchar *const formats[] = { "NV12", "I420", "P010_10LE" };
  const gboolean chroma = __i__ % 2;
  const gchar *format = formats[__i__ / 2];
  GstHarness *h = rig_new (chroma ? SETTINGS "chroma=true" : SETTINGS, NULL);
  gchar *text = caps_of (format, 40, 30, "");
  GstCaps *unix_time = gst_caps_from_string ("timestamp/x-unix");
  GstVideoInfo whole, info;
  GstVideoCropMeta *crop;
  GstBuffer *in, *out;

  gst_video_info_set_format (
      &whole, gst_video_format_from_string (format), 64, 48);
  gst_video_info_set_format (
      &info, gst_video_format_from_string (format), 40, 30);
  gst_harness_set_src_caps_str (h, text);
  in = frame_new (&whole, TRUE);
  crop = gst_buffer_add_video_crop_meta (in);
  crop->x = 14;
  crop->y = 6;
  crop->width = 40;
  crop->height = 30;
  gst_buffer_add_reference_timestamp_meta (in, unix_time, 7, 8);
  gst_buffer_add_video_region_of_interest_meta (in, "face", 1, 2, 3, 4);
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (in)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  for (guint c = 0; c < 3; c++)
    check_component (&info, in, 14, 6, out, c, c == 0 || chroma, 1);
  fail_unless (gst_buffer_get_video_crop_meta (out) == NULL);
  fail_unless (gst_buffer_get_reference_timestamp_meta (out, unix_time));
  fail_unless (gst_buffer_get_video_region_of_interest_meta_id (out, 0));
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_caps_unref (unix_time);
  gst_harness_teardown (h);
  g_free (text);
}
GST_END_TEST;

/* A frame without noise is unchanged; the default settings reduce noise. */
GST_START_TEST (test_defaults)
{
  GstHarness *h = rig_new ("", NULL);
  gchar *text = caps_of ("I420", 320, 240, "");
  GstVideoInfo info;
  GstBuffer *in, *out;
  GstMapInfo a, b;
  gdouble before = 0.0, after = 0.0;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_I420, 320, 240);
  gst_harness_set_src_caps_str (h, text);
  in = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_memset (in, 0, 77, GST_VIDEO_INFO_SIZE (&info));
  gst_harness_push (h, gst_buffer_ref (in));
  out = gst_harness_pull (h);
  gst_buffer_map (in, &a, GST_MAP_READ);
  fail_unless (gst_buffer_memcmp (out, 0, a.data, a.size) == 0);
  gst_buffer_unmap (in, &a);
  gst_buffer_unref (out);
  gst_buffer_map (in, &a, GST_MAP_WRITE);
  for (guint y = 0; y < 240; y++)
    for (guint x = 0; x < 320; x++)
      a.data[y * 320 + x] = (guint8) (100 + (x / 40 + y / 30) % 2 * 50
                                      + (guint) g_random_int_range (-10, 11));
  gst_buffer_unmap (in, &a);
  gst_harness_push (h, gst_buffer_ref (in));
  out = gst_harness_pull (h);
  gst_buffer_map (in, &a, GST_MAP_READ);
  gst_buffer_map (out, &b, GST_MAP_READ);
  for (guint y = 0; y < 240; y++)
    for (guint x = 0; x < 320; x++) {
      const gdouble truth = 100 + (x / 40 + y / 30) % 2 * 50;

      before += (a.data[y * 320 + x] - truth) * (a.data[y * 320 + x] - truth);
      after += (b.data[y * 320 + x] - truth) * (b.data[y * 320 + x] - truth);
    }
  fail_unless (after < 0.25 * before, "%g of %g", after, before);
  gst_buffer_unmap (in, &a);
  gst_buffer_unmap (out, &b);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_free (text);
}
GST_END_TEST;

/* --- streams -------------------------------------------------------------- */

/* Formats and sizes alternate: all frames leave, in order. */
GST_START_TEST (test_renegotiation)
{
  static const gchar *const caps[] = {
    "video/x-raw,format=NV12,width=32,height=24,framerate=25/1",
    "video/x-raw,format=GRAY16_LE,width=16,height=24,framerate=25/1",
    "video/x-raw,format=I420,width=32,height=24,framerate=25/1",
    "video/x-raw,format=I420,width=64,height=24,framerate=25/1",
    "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1",
    "video/x-raw,format=P010_10LE,width=16,height=16,framerate=25/1",
  };
  static const gsize sizes[] = { 1152, 768, 1152, 2304, 256, 768 };
  GstHarness *h = rig_new (SETTINGS, NULL);
  guint64 n = 0;

  for (guint i = 0; i < 2 * G_N_ELEMENTS (caps); i++) {
    gst_harness_set_src_caps_str (h, caps[i % G_N_ELEMENTS (caps)]);
    for (guint k = 0; k < 3; k++) {
      GstBuffer *buffer =
          gst_buffer_new_allocate (NULL, sizes[i % G_N_ELEMENTS (caps)], NULL);

      gst_buffer_memset (buffer, 0, 0x3c, gst_buffer_get_size (buffer));
      GST_BUFFER_PTS (buffer) = n++ * FRAME_NS;
      fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    }
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint64 i = 0; i < n; i++) {
    GstBuffer *buffer = gst_harness_pull (h);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * FRAME_NS);
    fail_unless_equals_uint64 (
        gst_buffer_get_size (buffer), sizes[i / 3 % G_N_ELEMENTS (caps)]);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Frames in flight are dropped; those after the flush leave. */
GST_START_TEST (test_flush)
{
  GstHarness *h = rig_new (SETTINGS "chroma=true frames-in-flight=4", NULL);
  gchar *text = caps_of ("NV12", 64, 48, ",interlace-mode=interleaved");
  GstSegment segment;
  GstVideoInfo info;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, 64, 48);
  gst_harness_set_src_caps_str (h, text);
  for (guint round = 0; round < 20; round++) {
    GstBuffer *out;

    for (guint i = 0; i < 6; i++)
      fail_unless_equals_int (
          gst_harness_push (h, frame_new (&info, FALSE)), GST_FLOW_OK);
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    while ((out = gst_harness_try_pull (h)) != NULL)
      gst_buffer_unref (out);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    fail_unless_equals_int (
        gst_harness_push (h, frame_new (&info, FALSE)), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (h));
  }
  gst_harness_teardown (h);
  g_free (text);
}
GST_END_TEST;

/* --- caps ----------------------------------------------------------------- */

/* Video keeps its format. */
GST_START_TEST (test_caps)
{
  GstHarness *h = rig_new ("", NULL);
  GstCaps *nv12 = gst_caps_from_string ("video/x-raw,format=NV12,width=64");
  GstCaps *i420 = gst_caps_from_string ("video/x-raw,format=I420,width=64");
  GstCaps *caps;

  gst_harness_set_sink_caps_str (h, "video/x-raw,format=NV12,width=64");
  caps = gst_pad_peer_query_caps (h->srcpad, NULL);
  fail_unless (gst_caps_can_intersect (caps, nv12));
  fail_unless (!gst_caps_can_intersect (caps, i420));
  gst_caps_unref (caps);
  gst_harness_teardown (h);
  gst_caps_unref (nv12);
  gst_caps_unref (i420);
}
GST_END_TEST;

static const struct {
  const gchar *settings, *caps, *what;
} refusals[] = {
  { "", "video/x-raw,format=RGB", "format RGB is none of " },
  { "", "video/x-raw(memory:DMABuf),format=NV12", "system memory" },
};

GST_START_TEST (test_refusals)
{
  GstBus *bus = gst_bus_new ();
  GstHarness *h = rig_new (refusals[__i__].settings, bus);
  gchar *text = g_strdup_printf (
      "%s,width=32,height=24,framerate=25/1", refusals[__i__].caps);

  gst_harness_set_src_caps_str (h, text);
  fail_unless (
      gst_harness_push (h, gst_buffer_new_allocate (NULL, 32 * 24 * 4, NULL))
      != GST_FLOW_OK);
  bus_expect_error (bus, refusals[__i__].what);
  gst_harness_teardown (h);
  gst_object_unref (bus);
  g_free (text);
}
GST_END_TEST;

/* Buffers that do not match their caps and metas. */
GST_START_TEST (test_bad_buffers)
{
  static const gchar *const words[] = { "cannot be mapped", "GstVideoMeta has",
    "bytes expected for component" };
  GstBus *bus = gst_bus_new ();
  GstHarness *h = rig_new (SETTINGS, bus);
  gchar *text = caps_of ("NV12", 64, 48, "");
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0, 64 * 48 };
  gint stride[GST_VIDEO_MAX_PLANES] = { 64, 64 };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 48 * 3 / 2 - 1, NULL);
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, 64, 48);
  gst_harness_set_src_caps_str (h, text);
  if (__i__ == 1)
    gst_buffer_add_video_meta (
        buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 62, 48);
  else if (__i__ == 2)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_FORMAT_NV12, 64, 48, 2, offset, stride);
  fail_unless_equals_int (
      gst_harness_push (h, frame_new (&info, FALSE)), GST_FLOW_OK);
  fail_unless (gst_harness_push (h, buffer) != GST_FLOW_OK);
  bus_expect_error (bus, words[__i__]);
  gst_harness_teardown (h);
  gst_object_unref (bus);
  g_free (text);
}
GST_END_TEST;

/* A wavelet that does not exist is an error at the start. */
GST_START_TEST (test_wrong_wavelet)
{
  GstBus *bus = gst_bus_new ();
  GstElement *element = gst_parse_launch ("cudadenoise wavelet=no", NULL);

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  bus_expect_error (bus, "Cannot use the wavelet \"no\"");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
}
GST_END_TEST;

GST_START_TEST (test_stats)
{
  GstHarness *h = rig_new (SETTINGS, NULL);
  gchar *text = caps_of ("I420", 64, 48, "");
  GstStructure *stats = NULL;
  GstElement *element = gst_harness_find_element (h, "cudadenoise");
  guint64 frames = 0, p50 = 0, max = 0;
  gdouble threshold = 0;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps_str (h, text);
  for (guint i = 0; i < 5; i++)
    gst_harness_push (h, frame_new (&info, FALSE));
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint i = 0; i < 5; i++)
    gst_buffer_unref (gst_harness_pull (h));
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames,
      "latency-p50", G_TYPE_UINT64, &p50, "latency-max", G_TYPE_UINT64, &max,
      "threshold", G_TYPE_DOUBLE, &threshold, NULL));
  fail_unless_equals_uint64 (frames, 5);
  fail_unless (p50 > 0 && max >= p50 / 2 && threshold > 1);
  gst_structure_free (stats);
  gst_object_unref (element);
  gst_harness_teardown (h);
  g_free (text);
}
GST_END_TEST;

static Suite *
cudadenoise_suite (void)
{
  Suite *s = suite_create ("cudadenoise");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_planes, 0, G_N_ELEMENTS (videos));
  tcase_add_loop_test (tc, test_crop, 0, 6);
  tcase_add_test (tc, test_defaults);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_caps);
  tcase_add_loop_test (tc, test_refusals, 0, G_N_ELEMENTS (refusals));
  tcase_add_loop_test (tc, test_bad_buffers, 0, 3);
  tcase_add_test (tc, test_wrong_wavelet);
  tcase_add_test (tc, test_stats);
  return s;
}

GST_CHECK_MAIN (cudadenoise);
