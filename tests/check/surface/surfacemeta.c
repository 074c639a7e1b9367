/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Surfaces in GStreamer: conversion of tensor caps in both directions,
 * messages about unsupported ones, and GstCvisSurfaceMeta when buffers are
 * copied and pictures transformed. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <string.h>

#include "gst/cudavision/cudavision.h"
#include "gst/cudavision/surfacemetabytes.h"

#define CAPS_START                                                             \
  "other/tensors,format=static,num_tensors=1,framerate=(fraction)25/1,"

/* --- caps ------------------------------------------------------------------ */

static GstCvisSurfaceInfo
info_of (const gchar *text)
{
  GstCaps *caps = gst_caps_from_string (text);
  GstCvisSurfaceInfo info;
  GError *error = NULL;

  fail_unless (caps != NULL, "%s", text);
  fail_unless (gst_cvis_surface_info_from_caps (&info, caps, &error), "%s: %s",
      text, error ? error->message : "");
  gst_caps_unref (caps);
  return info;
}

GST_START_TEST (test_caps)
{
  GstCvisSurfaceInfo info =
      info_of (CAPS_START "types=float32,"
                          "dimensions=(string)640:480:1:1");

  fail_unless_equals_int (info.width, 640);
  fail_unless_equals_int (info.height, 480);
  fail_unless_equals_int (info.type, GST_CVIS_SURFACE_TYPE_FLOAT32);
  fail_unless_equals_int (info.fps_n, 25);
  fail_unless (info.dx == 0 && info.dy == 0);
  fail_unless_equals_uint64 (
      gst_cvis_surface_info_get_size (&info), 640 * 480 * 4);

  info = info_of (CAPS_START "types=float64,dimensions=(string)1:7,"
                             "surface-dx=1e-6,surface-dy=(float)0.5");
  fail_unless_equals_int (info.width, 1);
  fail_unless_equals_int (info.height, 7);
  fail_unless (info.dx == 1e-6 && info.dy == 0.5);
  fail_unless_equals_uint64 (gst_cvis_surface_info_get_size (&info), 56);

  /* NNStreamer writes up to 16 dimensions; the frame rate may be unknown */
  info = info_of ("other/tensors,format=static,num_tensors=1,types=int32,"
                  "dimensions=(string)1048576:1048576:1:1:1:1:1:1");
  fail_unless_equals_int (info.type, GST_CVIS_SURFACE_TYPE_INT32);
  fail_unless (info.fps_n == 0 && info.fps_d == 1);
  fail_unless_equals_uint64 (
      gst_cvis_surface_info_get_size (&info), G_GUINT64_CONSTANT (1) << 42);
}
GST_END_TEST;

GST_START_TEST (test_caps_there_and_back)
{
  static const GstCvisSurfaceInfo infos[] = {
    { 1, 1, GST_CVIS_SURFACE_TYPE_FLOAT32, 0, 1, 0, 0 },
    { 1023, 17, GST_CVIS_SURFACE_TYPE_FLOAT64, 30000, 1001, 1.28e-7, 3.15e-7 },
    { 4, 5, GST_CVIS_SURFACE_TYPE_INT32, 1, 1, 1e-3, 0 },
  };
  GstCaps *template = gst_caps_from_string (GST_CVIS_SURFACE_CAPS);

  fail_unless (template != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (infos); i++) {
    GstCaps *caps = gst_cvis_surface_info_to_caps (&infos[i]);
    GstCvisSurfaceInfo info;

    fail_unless (gst_caps_is_subset (caps, template));
    fail_unless (gst_cvis_surface_info_from_caps (&info, caps, NULL));
    fail_unless (info.width == infos[i].width && info.height == infos[i].height
                 && info.type == infos[i].type && info.fps_n == infos[i].fps_n
                 && info.fps_d == infos[i].fps_d && info.dx == infos[i].dx
                 && info.dy == infos[i].dy);
    gst_caps_unref (caps);
  }
  gst_caps_unref (template);
}
GST_END_TEST;

static const struct {
  const gchar *caps, *what;
} bad_caps[] = {
  { "video/x-raw,format=GRAY8", "the caps are video/x-raw" },
  { "other/tensors,format={static,flexible}", "not fixed" },
  { "other/tensors,num_tensors=1", "no field format" },
  { "other/tensors,format=flexible", "format is flexible" },
  { "other/tensors,format=static", "no field num_tensors" },
  { "other/tensors,format=static,num_tensors=2", "num_tensors is 2" },
  { "other/tensors,format=static,num_tensors=1,dimensions=(string)3:4",
      "no field types" },
  { CAPS_START "types=uint8,dimensions=(string)3:4", "types is uint8" },
  { CAPS_START "types=(int)3,dimensions=(string)3:4", "types is 3" },
  { CAPS_START "types=float32", "no field dimensions" },
  { CAPS_START "types=float32,dimensions=5", "dimensions is 5" },
  { CAPS_START "types=float32,dimensions=(string)5", "\"5\"" },
  { CAPS_START "types=float32,dimensions=(string)0:5", "\"0:5\"" },
  { CAPS_START "types=float32,dimensions=(string)5:", "\"5:\"" },
  { CAPS_START "types=float32,dimensions=(string)5:-1", "\"5:-1\"" },
  { CAPS_START "types=float32,dimensions=(string)5:1048577", "1048577" },
  { CAPS_START "types=float32,dimensions=(string)5:99999999999999999999",
      "99999999999999999999" },
  { CAPS_START "types=float32,dimensions=(string)5:4:3:1", "\"5:4:3:1\"" },
  { CAPS_START "types=float32,dimensions=(string)5:4:1:1:1:1:1:1:1:1:1:1:1:1:1:"
               "1:1",
      "must be \"WIDTH:HEIGHT:1:1\"" },
  { CAPS_START "types=float32,dimensions=(string)\"5:4;3:4\"", "5:4;3:4" },
  { CAPS_START "types=float32,dimensions=(string)3:4,surface-dx=0.0",
      "surface-dx is 0" },
  { CAPS_START "types=float32,dimensions=(string)3:4,surface-dy=-1.0",
      "surface-dy is -1" },
  { CAPS_START "types=float32,dimensions=(string)3:4,surface-dy=(string)um",
      "surface-dy is um" },
  { "other/tensors,format=static,num_tensors=1,types=float32,"
    "dimensions=(string)3:4,framerate=(fraction)-1/5",
      "framerate is -1/5" },
  { "other/tensors,format=static,num_tensors=1,types=float32,"
    "dimensions=(string)3:4,framerate=(string)fast",
      "framerate is fast" },
};

GST_START_TEST (test_bad_caps)
{
  GstCaps *caps = gst_caps_from_string (bad_caps[__i__].caps);
  const gchar *what = bad_caps[__i__].what;
  GstCvisSurfaceInfo info;
  GError *error = NULL;

  fail_unless (caps != NULL, "%s", bad_caps[__i__].caps);
  fail_if (
      gst_cvis_surface_info_from_caps (&info, caps, &error), "%s passes", what);
  fail_unless (error->domain == GST_STREAM_ERROR);
  fail_unless (
      strstr (error->message, what), "'%s' lacks '%s'", error->message, what);
  g_error_free (error);
  fail_if (gst_cvis_surface_info_from_caps (&info, caps, NULL));
  gst_caps_unref (caps);
}
GST_END_TEST;

/* --- the meta -------------------------------------------------------------- */

static GstBuffer *
buffer_with_meta (GstBuffer *mask)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 6 * 4 * 2, NULL);
  GstCvisSurfaceMeta *meta;

  gst_buffer_memset (buffer, 0, 0x20, 6 * 4 * 2);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer) == NULL);
  meta = gst_cvis_buffer_add_surface_meta (buffer);
  fail_unless (meta == gst_cvis_buffer_get_surface_meta (buffer));
  fail_unless (meta->part == CVIS_SURFACE_PART_MEASURED && meta->z_scale == 1.0
               && meta->offset == 0.0 && meta->mask == NULL
               && meta->wavelet[0] == '\0' && !meta->has_parameters);
  meta->part = CVIS_SURFACE_PART_WAVINESS;
  meta->dx = 1e-6;
  meta->offset = 0.0763;
  meta->polynomial[5] = -2.0;
  meta->mask = gst_buffer_ref (mask);
  g_strlcpy (meta->wavelet, "bior4.4", sizeof (meta->wavelet));
  meta->has_parameters = TRUE;
  meta->parameters.sa = 3e-7;
  return buffer;
}

GST_START_TEST (test_copies)
{
  GstBuffer *mask = gst_buffer_new_allocate (NULL, 6 * 4, NULL);
  GstBuffer *buffer = buffer_with_meta (mask), *copy, *part;
  GstCvisSurfaceMeta *meta;
  GstMetaTransformCopy piece = { TRUE, 12, 12 };

  copy = gst_buffer_copy_deep (buffer);
  /* a part of a buffer has no meta, and copying still succeeds */
  part = gst_buffer_new ();
  fail_unless (GST_CVIS_SURFACE_META_INFO->transform_func (part,
      (GstMeta *) gst_cvis_buffer_get_surface_meta (buffer), buffer,
      _gst_meta_transform_copy, &piece));
  fail_unless (gst_cvis_buffer_get_surface_meta (part) == NULL);
  gst_buffer_unref (part);
  part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 12, 12);
  ASSERT_MINI_OBJECT_REFCOUNT (mask, "mask", 3);
  gst_buffer_unref (buffer);
  ASSERT_MINI_OBJECT_REFCOUNT (mask, "mask", 2);
  fail_unless (gst_cvis_buffer_get_surface_meta (part) == NULL);
  gst_buffer_unref (part);

  meta = gst_cvis_buffer_get_surface_meta (copy);
  fail_unless (meta != NULL && meta->mask == mask);
  fail_unless (meta->part == CVIS_SURFACE_PART_WAVINESS && meta->dx == 1e-6
               && meta->offset == 0.0763 && meta->polynomial[5] == -2.0
               && meta->has_parameters && meta->parameters.sa == 3e-7);
  fail_unless_equals_string (
      gst_cvis_surface_meta_get_wavelet (meta), "bior4.4");
  fail_unless_equals_string (gst_cvis_surface_meta_get_boundary (meta), "");
  gst_buffer_unref (copy);
  ASSERT_MINI_OBJECT_REFCOUNT (mask, "mask", 1);
  gst_buffer_unref (mask);
}
GST_END_TEST;

/* Serialization of metas, available since GStreamer 1.24 */
GST_START_TEST (test_bytes)
{
  GstBuffer *mask = gst_buffer_new_allocate (NULL, 6 * 4, NULL);
  GstBuffer *buffer = buffer_with_meta (mask);
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer),
                     back = { 0 };
  guint8 bytes[SURFACE_META_BYTES];
  gsize size = 0;

  for (guint i = 0; i < G_N_ELEMENTS (surface_meta_fields); i++)
    size += surface_meta_fields[i].size * surface_meta_fields[i].count;
  fail_unless_equals_uint64 (size, SURFACE_META_BYTES);
  surface_meta_pack (meta, bytes);
  /* doubles of 1e-6 and 0.0763, little-endian */
  fail_unless_equals_int (
      memcmp (bytes + 4, "\x8d\xed\xb5\xa0\xf7\xc6\xb0\x3e", 8), 0);
  fail_unless (surface_meta_unpack (&back, bytes, sizeof (bytes)));
  back.meta = meta->meta;
  back.mask = meta->mask;
  fail_unless_equals_int (memcmp (&back, meta, sizeof (back)), 0);

  fail_if (surface_meta_unpack (&back, bytes, sizeof (bytes) - 1));
  bytes[0] = CVIS_SURFACE_N_PARTS;
  fail_if (surface_meta_unpack (&back, bytes, sizeof (bytes)));
  meta->offset = INFINITY;
  surface_meta_pack (meta, bytes);
  fail_if (surface_meta_unpack (&back, bytes, sizeof (bytes)));
  meta->offset = 0.0;
  memset (meta->wavelet, 'a', sizeof (meta->wavelet));
  surface_meta_pack (meta, bytes);
  fail_if (surface_meta_unpack (&back, bytes, sizeof (bytes)));
  gst_buffer_unref (buffer);
  gst_buffer_unref (mask);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 24, 0)

GST_START_TEST (test_serialized)
{
  GstBuffer *mask = gst_buffer_new_allocate (NULL, 6 * 4, NULL);
  GstBuffer *buffer, *other = gst_buffer_new ();
  GByteArray *bytes = g_byte_array_new ();
  GstCvisSurfaceMeta *meta;
  guint32 consumed = 0;

  gst_buffer_memset (mask, 0, 7, 6 * 4);
  buffer = buffer_with_meta (mask);
  fail_unless (gst_meta_serialize_simple (
      (GstMeta *) gst_cvis_buffer_get_surface_meta (buffer), bytes));
  meta = (GstCvisSurfaceMeta *) gst_meta_deserialize (
      other, bytes->data, bytes->len, &consumed);
  fail_unless (
      meta != NULL && meta == gst_cvis_buffer_get_surface_meta (other));
  fail_unless_equals_int (consumed, bytes->len);
  fail_unless (meta->offset == 0.0763 && meta->parameters.sa == 3e-7);
  fail_unless_equals_uint64 (gst_buffer_get_size (meta->mask), 6 * 4);
  fail_unless_equals_int (gst_buffer_memcmp (meta->mask, 5, "\7\7\7", 3), 0);
  g_byte_array_unref (bytes);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
  gst_buffer_unref (mask);
}
GST_END_TEST;

#endif

static const struct {
  const gchar *line;
  gboolean stays;
} pictures[] = {
  { "identity", TRUE },
  { "videoscale ! capsfilter caps=video/x-raw,width=12", FALSE },
  { "videoconvert ! capsfilter caps=video/x-raw,format=GRAY8", FALSE },
  { "videoflip video-direction=vert", FALSE },
};

/* The meaning of changed or moved samples is not computed. */
GST_START_TEST (test_pictures)
{
  GstHarness *h = gst_harness_new_parse (pictures[__i__].line);
  GstBuffer *mask = gst_buffer_new_allocate (NULL, 6 * 4, NULL);
  GstBuffer *buffer;

  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY16_LE,width=6,height=4,framerate=25/1");
  buffer = gst_harness_push_and_pull (h, buffer_with_meta (mask));
  fail_unless (buffer != NULL);
  fail_unless ((gst_cvis_buffer_get_surface_meta (buffer) != NULL)
                   == pictures[__i__].stays,
      "%s", pictures[__i__].line);
  gst_buffer_unref (buffer);
  gst_buffer_unref (mask);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_names)
{
  static const gchar *const names[CVIS_SURFACE_N_PARTS] = { "measured", "noise",
    "roughness", "waviness", "form", "bands" };

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    fail_unless_equals_string (
        gst_cvis_surface_part_name ((CvisSurfacePart) i), names[i]);
}
GST_END_TEST;

static Suite *
surfacemeta_suite (void)
{
  Suite *s = suite_create ("surfacemeta");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_caps);
  tcase_add_test (tc, test_caps_there_and_back);
  tcase_add_loop_test (tc, test_bad_caps, 0, G_N_ELEMENTS (bad_caps));
  tcase_add_test (tc, test_copies);
  tcase_add_test (tc, test_bytes);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test (tc, test_serialized);
#endif
  tcase_add_loop_test (tc, test_pictures, 0, G_N_ELEMENTS (pictures));
  tcase_add_test (tc, test_names);
  return s;
}

GST_CHECK_MAIN (surfacemeta);
