/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* surfacesink: measured heights, names, messages, number of files kept, and
 * messages about failed writes. */
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check/common/busmessages.h"
#include "tests/check/common/pipelinestates.h"
#include "surfacetemp.h"

#define CAPS(types, width, height)                                             \
  "other/tensors, format = (string) static, num_tensors = (int) 1, "           \
  "types = (string) " types ", dimensions = (string) " width ":" height        \
  ":1:1, framerate = (fraction) 25/1"

static GstHarness *
open_sink (const gchar *folder, const gchar *name, const gchar *properties)
{
  gchar *line = g_strdup_printf (
      "surfacesink location=%s/%s %s", folder, name, properties);
  GstHarness *h = gst_harness_new_parse (line);

  g_free (line);
  return h;
}

/* A surface minus 76 mm, recorded in its meta, of float32 at an odd address */
static GstBuffer *
make_buffer (guint width, guint height, guint seed, gboolean odd)
{
  gsize size = width * height * 4;
  guint8 *data = g_malloc (size + 1);
  GstBuffer *buffer =
      gst_buffer_new_wrapped_full (0, data, size + 1, odd, size, data, g_free);
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (buffer);

  for (guint i = 0; i < width * height; i++) {
    gfloat z = (gfloat) (surface_temp_height (seed, i) - 0.0763);

    memcpy (data + odd + 4 * i, &z, 4);
  }
  meta->offset = 0.0763;
  meta->dx = 1e-6;
  meta->dy = 2e-6;
  meta->width = width;
  meta->height = height;
  GST_BUFFER_PTS (buffer) = seed * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  return buffer;
}

GST_START_TEST (test_formats)
{
  static const gchar *const names[] = { "a.x3p", "a.sdf", "a.sur", "a.gsf",
    "a.tif", "a.npy" };
  gchar *folder = temp_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    SurfaceFileFormat format = surface_file_format_of_name (names[i]);
    SurfaceImage *image;
    GstHarness *h;

    if (!surface_file_supported (format))
      continue;
    h = open_sink (folder, names[i], "");
    gst_harness_set_src_caps_str (h, CAPS ("float32", "33", "17"));
    fail_unless_equals_int (
        gst_harness_push (h, make_buffer (33, 17, i, i % 2)), GST_FLOW_OK);
    gst_harness_teardown (h);
    image = surface_temp_read (folder, names[i]);
    fail_unless (image->width == 33 && image->height == 17);
    fail_unless (surface_temp_difference (image, i)
                 < (format == SURFACE_FILE_GSF ? 5e-9 : 1e-13));
    surface_image_free (image);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_format_property)
{
  gchar *folder = temp_folder_new ();
  GstHarness *h = open_sink (folder, "100%%.dat", "format=sdf-binary");
  gchar *path = surface_temp_path (folder, "100%.dat"), *data;
  gsize size;

  gst_harness_set_src_caps_str (h, CAPS ("float32", "3", "2"));
  gst_harness_push (h, make_buffer (3, 2, 0, FALSE));
  gst_harness_teardown (h);
  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  fail_unless (g_str_has_prefix (data, "bISO-1.0"));
  g_free (data);
  g_free (path);
  temp_folder_free (folder);
}
GST_END_TEST;

#if HAVE_X3P
/* Every level gives the same surface, in files of different sizes. */
GST_START_TEST (test_compression_level)
{
  static const gchar *const properties[] = { "compression-level=0", "",
    "compression-level=9" };
  gchar *folder = temp_folder_new ();
  goffset sizes[3];

  for (guint i = 0; i < 3; i++) {
    GstHarness *h = open_sink (folder, "a.x3p", properties[i]);
    gchar *path = surface_temp_path (folder, "a.x3p");
    SurfaceImage *image;
    GStatBuf about;

    gst_harness_set_src_caps_str (h, CAPS ("float32", "133", "117"));
    fail_unless_equals_int (
        gst_harness_push (h, make_buffer (133, 117, 1, TRUE)), GST_FLOW_OK);
    gst_harness_teardown (h);
    image = surface_temp_read (folder, "a.x3p");
    fail_unless (surface_temp_difference (image, 1) < 1e-13);
    surface_image_free (image);
    fail_unless_equals_int (g_stat (path, &about), 0);
    sizes[i] = about.st_size;
    g_free (path);
  }
  fail_unless (sizes[0] > sizes[1] && sizes[1] > sizes[2]);
  temp_folder_free (folder);
}
GST_END_TEST;
#endif

/* Integers and doubles; z_scale of the meta; spacing of the caps */
GST_START_TEST (test_types)
{
  static const gint32 integers[] = { -3, 5 };
  static const gdouble doubles[] = { 1.5, NAN };
  gchar *folder = temp_folder_new ();
  GstHarness *h = open_sink (folder, "%d.sdf", "");
  GstBuffer *buffer;
  SurfaceImage *image;

  gst_harness_set_src_caps_str (h,
      CAPS ("int32", "2", "1") ", surface-dx = "
                               "(double) 3e-6, surface-dy = (double) 4e-6");
  buffer = gst_buffer_new_memdup (integers, sizeof (integers));
  gst_cvis_buffer_add_surface_meta (buffer)->z_scale = 1e-9;
  gst_harness_push (h, buffer);
  gst_harness_set_src_caps_str (h,
      CAPS ("float64", "1", "2") ", surface-dx = "
                                 "(double) 3e-6, surface-dy = (double) 4e-6");
  buffer = gst_buffer_new_memdup (doubles, sizeof (doubles));
  gst_harness_push (h, buffer);
  gst_harness_teardown (h);

  image = surface_temp_read (folder, "0.sdf");
  fail_unless (fabs (image->z[0] + 3e-9) < 1e-20);
  fail_unless (fabs (image->z[1] - 5e-9) < 1e-20);
  fail_unless (image->dx == 3e-6 && image->dy == 4e-6);
  surface_image_free (image);
  image = surface_temp_read (folder, "1.sdf");
  fail_unless (image->width == 1 && image->height == 2);
  fail_unless (image->z[0] == 1.5 && isnan (image->z[1]));
  surface_image_free (image);
  temp_folder_free (folder);
}
GST_END_TEST;

static void
assert_npy_type (const gchar *folder, const gchar *name, const gchar *type)
{
  gchar *path = surface_temp_path (folder, name), *data;

  fail_unless (g_file_get_contents (path, &data, NULL, NULL));
  fail_unless (strstr (data + 10, type) != NULL);
  g_free (data);
  g_free (path);
}

/* float32 stays float32 if nothing is added to it; also in several blocks */
GST_START_TEST (test_npy_types)
{
  gchar *folder = temp_folder_new ();
  GstHarness *h = open_sink (folder, "%d.npy", "");
  SurfaceImage *image;
  GstBuffer *buffer;
  GstMapInfo map;

  gst_harness_set_src_caps_str (h, CAPS ("float32", "301", "97"));
  gst_harness_push (h, make_buffer (301, 97, 1, FALSE));
  buffer = make_buffer (301, 97, 1, TRUE);
  gst_cvis_buffer_get_surface_meta (buffer)->offset = 0.0;
  gst_harness_push (h, gst_buffer_ref (buffer));
  gst_harness_teardown (h);
  assert_npy_type (folder, "0.npy", "'<f8'");
  assert_npy_type (folder, "1.npy", "'<f4'");
  image = surface_temp_read (folder, "0.npy");
  fail_unless (surface_temp_difference (image, 1) < 1e-13);
  surface_image_free (image);
  image = surface_temp_read (folder, "1.npy");
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (guint i = 0; i < 301 * 97; i++) {
    gfloat z;

    memcpy (&z, map.data + 4 * i, 4);
    fail_unless (isnan (z) ? isnan (image->z[i]) : z == image->z[i]);
  }
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  surface_image_free (image);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_messages)
{
  gchar *folder = temp_folder_new ();
  gchar *expected = surface_temp_path (folder, "s-0007.npy");
  GstHarness *h = open_sink (folder, "s-%04d.npy", "index=7");
  GstBus *bus = gst_bus_new ();
  const GstStructure *s;
  GstMessage *message;
  guint index;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, CAPS ("float32", "3", "2"));
  gst_harness_push (h, make_buffer (3, 2, 2, FALSE));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (s, "surfacesink-file"));
  fail_unless_equals_string (
      gst_structure_get_string (s, "filename"), expected);
  fail_unless (gst_structure_has_field_typed (s, "stream-time", G_TYPE_UINT64));
  {
    guint64 time;
    gint number;

    gst_structure_get (
        s, "index", G_TYPE_INT, &number, "pts", G_TYPE_UINT64, &time, NULL);
    fail_unless_equals_int (number, 7);
    fail_unless_equals_uint64 (time, 80 * GST_MSECOND);
  }
  gst_message_unref (message);
  gst_harness_set (h, "surfacesink", "post-messages", FALSE, NULL);
  gst_harness_push (h, make_buffer (3, 2, 3, FALSE));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT) == NULL);
  gst_harness_get (h, "surfacesink", "index", &index, NULL);
  fail_unless_equals_int (index, 9);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  g_free (expected);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_max_files)
{
  gchar *folder = temp_folder_new ();
  GstHarness *h = open_sink (folder, "s-%d.npy", "max-files=3");
  SurfaceImage *image;

  gst_harness_set_src_caps_str (h, CAPS ("float32", "3", "2"));
  for (guint i = 0; i < 10; i++)
    gst_harness_push (h, make_buffer (3, 2, i, FALSE));
  gst_harness_teardown (h);
  fail_unless_equals_int (surface_temp_count (folder), 3);
  image = surface_temp_read (folder, "s-9.npy");
  fail_unless (surface_temp_difference (image, 9) < 1e-13);
  surface_image_free (image);
  temp_folder_free (folder);
}
GST_END_TEST;

/* A name without number: the last surface is kept, with one message. */
GST_START_TEST (test_overwritten)
{
  gchar *folder = temp_folder_new ();
  GstHarness *h = open_sink (folder, "s.sdf", "max-files=1");
  GstBus *bus = gst_bus_new ();
  SurfaceImage *image;
  guint warnings = 0;
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, CAPS ("float32", "3", "2"));
  for (guint i = 0; i < 4; i++)
    gst_harness_push (h, make_buffer (3, 2, i, FALSE));
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    warnings++;
    gst_message_unref (message);
  }
  fail_unless_equals_int (warnings, 1);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  image = surface_temp_read (folder, "s.sdf");
  fail_unless (surface_temp_difference (image, 3) < 1e-13);
  surface_image_free (image);
  temp_folder_free (folder);
}
GST_END_TEST;

/* What a format cannot hold is reported once. */
GST_START_TEST (test_losses_warn_once)
{
  gchar *folder = temp_folder_new ();

  surface_temp_write (folder, "in.sdf", 9, 7, 0);
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacetestsrc num-buffers=3 ! surfacesink location=%s/a%d.npy",
          "NPY holds no spacing"),
      1);
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacesrc location=%s/in.sdf loop=true num-buffers=3 ! surfacesink "
          "location=%s/a%d.gsf",
          "GSF holds float32: heights are rounded by up to 3."),
      1);
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacetestsrc num-buffers=3 offset=0.076 missing=0.1 ! surfacesink "
          "location=%s/a%d.sur",
          ""),
      0);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Title and date are copied with the surface from file to file. */
GST_START_TEST (test_tags)
{
  gchar *folder = temp_folder_new ();
  SurfaceImage *image;

  surface_temp_write (folder, "a.sur", 9, 7, 4);
  surface_temp_run_ok (
      folder, "surfacesrc location=%s/a.sur ! surfacesink location=%s/b.sur");
  image = surface_temp_read (folder, "b.sur");
  fail_unless_equals_string (image->title, "surface 4");
  fail_unless (g_str_has_prefix (image->date, "2024-02-29T12:34:56"));
  fail_unless (surface_temp_difference (image, 4) < 1e-13);
  surface_image_free (image);
  temp_folder_free (folder);
}
GST_END_TEST;

/* A file: URI names one file, whatever characters its name has. */
GST_START_TEST (test_uri)
{
  gchar *folder = temp_folder_new ();
  SurfaceImage *image;

  surface_temp_write (folder, "a%d b.sur", 9, 7, 4);
  surface_temp_run_ok (folder,
      "surfacesrc location=file://%s/a%25d%20b.sur ! "
      "surfacesink location=file://localhost%s/100%25.sur");
  image = surface_temp_read (folder, "100%.sur");
  fail_unless (surface_temp_difference (image, 4) < 1e-13);
  surface_image_free (image);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  static const gchar *const cases[][2] = {
    { "surfacetestsrc ! surfacesink", "location names no file" },
    { "surfacetestsrc ! surfacesink location=https://localhost/a.npy",
        "\"https://localhost/a.npy\" names no file" },
    { "surfacetestsrc ! surfacesink location=%s/a",
        "Unknown format: the ending of" },
    { "surfacetestsrc ! surfacesink location=%s/a.al3d",
        "Unknown format: the ending of" },
    { "surfacetestsrc ! surfacesink location=%s/a%d%d.npy",
        "neither a name nor a pattern" },
    { "surfacetestsrc ! surfacesink location=%s/none/a.npy", "a.npy\": " },
    { "surfacetestsrc ! surfacesink location=%s/folder format=npy",
        "It is a directory" },
    { "surfacetestsrc ! surfacesink location=%s/pipe format=npy",
        "It is not a regular file" },
    { "surfacetestsrc ! surfacesink location=/dev/null format=npy",
        "Cannot write \"/dev/null\": It is not a regular file" },
    { "surfacesrc location=%s/in.npy ! surfacesink location=%s/a.sur",
        "which is not known" },
  };
  gchar *folder = temp_folder_new ();
  gchar *inner = surface_temp_path (folder, "folder");
  gchar *pipe = surface_temp_path (folder, "pipe");

  surface_temp_write (folder, "in.npy", 3, 2, 0);
  fail_unless_equals_int (g_mkdir (inner, 0700), 0);
  fail_unless_equals_int (mkfifo (pipe, 0600), 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    surface_temp_run_error (folder, cases[i][0], cases[i][1]);
  fail_unless_equals_int (surface_temp_count (folder), 3);
  g_free (pipe);
  g_rmdir (inner);
  g_free (inner);
  temp_folder_free (folder);
}
GST_END_TEST;

/* The error comes when the element starts, not after the first state PAUSED. The base
 * class posts a second, general one. */
GST_START_TEST (test_wrong_location_fails_to_start)
{
  static const gchar *const locations[] = { "", "/nonexistent/a.npy", "/" };

  for (guint i = 0; i < G_N_ELEMENTS (locations); i++) {
    GstElement *element = gst_element_factory_make ("surfacesink", NULL);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;
    GError *error;

    gst_element_set_bus (element, bus);
    g_object_set (element, "location", locations[i], NULL);
    gst_util_set_object_arg (G_OBJECT (element), "format", "npy");
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (error->domain == GST_RESOURCE_ERROR, "%s", error->message);
    g_error_free (error);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* A link stays a link; the surface is written to its target. */
GST_START_TEST (test_link)
{
  gchar *folder = temp_folder_new ();
  gchar *path = surface_temp_path (folder, "link.npy");
  SurfaceImage *image;

  surface_temp_write (folder, "in.sur", 3, 2, 5);
  surface_temp_write (folder, "there.npy", 3, 2, 6);
  fail_unless_equals_int (symlink ("there.npy", path), 0);
  surface_temp_run_ok (folder,
      "surfacesrc location=%s/in.sur ! surfacesink location=%s/link.npy");
  fail_unless (g_file_test (path, G_FILE_TEST_IS_SYMLINK));
  image = surface_temp_read (folder, "there.npy");
  fail_unless (surface_temp_difference (image, 5) < 1e-13);
  surface_image_free (image);
  g_free (path);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_bad_stream)
{
  gchar *folder = temp_folder_new ();
  GstHarness *h = open_sink (folder, "a.npy", "");
  GstBus *bus = gst_bus_new ();
  GstCaps *caps;

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, CAPS ("float32", "30", "2"));
  fail_unless_equals_int (
      gst_harness_push (h, make_buffer (3, 2, 0, FALSE)), GST_FLOW_ERROR);
  bus_expect_error (bus, "need 240 bytes, but the buffer has 24");
  caps = gst_caps_from_string (CAPS ("float32", "none", "2"));
  gst_harness_push_event (h, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  /* reported once, though the caps come again with each surface */
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (gst_harness_push (h, make_buffer (3, 2, 0, FALSE)),
        GST_FLOW_NOT_NEGOTIATED);
  bus_expect_error (bus, "dimensions is \"none:2:1:1\"");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  gchar *folder = temp_folder_new ();
  gchar *line = g_strdup_printf (
      "surfacetestsrc ! other/tensors,dimensions=(string)16:16:1:1 ! "
      "surfacesink location=%s/a-%%d.gsf max-files=2",
      folder);

  pipeline_states (line);
  g_free (line);
  temp_folder_free (folder);
}
GST_END_TEST;

static Suite *
surfacesink_suite (void)
{
  Suite *s = suite_create ("surfacesink");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_format_property);
#if HAVE_X3P
  tcase_add_test (tc, test_compression_level);
#endif
  tcase_add_test (tc, test_types);
  tcase_add_test (tc, test_npy_types);
  tcase_add_test (tc, test_messages);
  tcase_add_test (tc, test_max_files);
  tcase_add_test (tc, test_losses_warn_once);
  tcase_add_test (tc, test_overwritten);
  tcase_add_test (tc, test_tags);
  tcase_add_test (tc, test_uri);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_wrong_location_fails_to_start);
  tcase_add_test (tc, test_link);
  tcase_add_test (tc, test_bad_stream);
  tcase_add_test (tc, test_states);
  return s;
}

GST_CHECK_MAIN (surfacesink);
