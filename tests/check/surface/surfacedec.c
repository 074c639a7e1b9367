/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* surfacedec and the media types: files in chunks, files as buffers,
 * flushes, and messages about other data. */
#include <gst/check/gstcheck.h>
#include <gst/base/gsttypefindhelper.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <math.h>
#include <string.h>

#include "surfacetemp.h"

static GBytes *
make_file (const gchar *folder, const gchar *name, guint width, guint seed)
{
  gchar *path = surface_temp_path (folder, name), *data;
  gsize size;

  surface_temp_write (folder, name, width, 7, seed);
  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  g_free (path);
  return g_bytes_new_take (data, size);
}

static void
push_pieces (GstHarness *h, GBytes *bytes, gsize piece)
{
  gsize size = g_bytes_get_size (bytes);

  for (gsize at = 0; at < size; at += piece) {
    GBytes *part = g_bytes_new_from_bytes (bytes, at, MIN (piece, size - at));

    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_new_wrapped_bytes (part)), GST_FLOW_OK);
    g_bytes_unref (part);
  }
}

/* Downstream supports GstCvisSurfaceMeta. */
static GstHarness *
new_decoder (const gchar *line)
{
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_add_propose_allocation_meta (
      h, GST_CVIS_SURFACE_META_API_TYPE, NULL);
  return h;
}

static void
push_bytes_segment (GstHarness *h)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

static void
assert_surface (GstHarness *h, guint width, guint seed, GstClockTime pts)
{
  GstBuffer *buffer = gst_harness_try_pull (h);
  GstCvisSurfaceMeta *meta;
  GstMapInfo map;

  fail_unless (buffer != NULL, "nothing came out");
  meta = gst_cvis_buffer_get_surface_meta (buffer);
  fail_unless_equals_int (meta->width, width);
  fail_unless_equals_int (meta->height, 7);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, width * 7 * 4);
  for (guint i = 0; i < width * 7; i++) {
    gdouble z = ((gfloat *) map.data)[i] + meta->offset;
    gdouble expected = surface_temp_height (seed, i);

    fail_unless (isnan (z) == isnan (expected));
    fail_unless (isnan (z) || fabs (z - expected) < 1e-13);
  }
  gst_buffer_unmap (buffer, &map);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), pts);
  gst_buffer_unref (buffer);
}

/* Chunks of any size form one file when the stream ends. */
GST_START_TEST (test_pieces)
{
  static const gsize pieces[] = { 1, 100, 4096, 1000000 };
  gchar *folder = temp_folder_new ();
  GBytes *bytes = make_file (folder, "a.sur", 33, 5);

  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++) {
    GstHarness *h = new_decoder ("surfacedec");
    GstEvent *event;
    guint segments = 0;

    gst_harness_set_src_caps_str (h, "application/x-surface-sur");
    push_bytes_segment (h);
    push_pieces (h, bytes, pieces[i]);
    fail_unless (gst_harness_try_pull (h) == NULL);
    gst_harness_push_event (h, gst_event_new_eos ());
    assert_surface (h, 33, 5, 0);
    while ((event = gst_harness_try_pull_event (h))) {
      if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
        const GstSegment *segment;

        gst_event_parse_segment (event, &segment);
        fail_unless_equals_int (segment->format, GST_FORMAT_TIME);
        segments++;
      }
      gst_event_unref (event);
    }
    fail_unless_equals_int (segments, 1);
    gst_harness_teardown (h);
  }
  g_bytes_unref (bytes);
  temp_folder_free (folder);
}
GST_END_TEST;

/* With a frame rate each buffer is a file; caps follow the size. */
GST_START_TEST (test_packets)
{
  gchar *folder = temp_folder_new ();
  GBytes *files[2] = { make_file (folder, "a.sur", 9, 0),
    make_file (folder, "b.sur", 5, 1) };
  GstHarness *h = new_decoder ("surfacedec");
  GstCaps *caps;
  GstCvisSurfaceInfo info;

  gst_harness_set_src_caps_str (
      h, "application/x-surface-sur, framerate = (fraction) 5/1");
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = gst_buffer_new_wrapped_bytes (files[i % 2]);

    GST_BUFFER_PTS (buffer) = i * 200 * GST_MSECOND;
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    assert_surface (h, i % 2 ? 5 : 9, i % 2, i * 200 * GST_MSECOND);
    caps = gst_pad_get_current_caps (h->sinkpad);
    fail_unless (gst_cvis_surface_info_from_caps (&info, caps, NULL));
    fail_unless_equals_int (info.width, i % 2 ? 5 : 9);
    fail_unless_equals_int (info.fps_n, 5);
    gst_caps_unref (caps);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless (gst_harness_try_pull (h) == NULL);
  gst_harness_teardown (h);
  g_bytes_unref (files[0]);
  g_bytes_unref (files[1]);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Data before a flush is not part of the file. */
GST_START_TEST (test_flush)
{
  gchar *folder = temp_folder_new ();
  GBytes *bytes = make_file (folder, "a.sur", 9, 2);
  GstHarness *h = new_decoder ("surfacedec");

  gst_harness_set_src_caps_str (h, "application/x-surface-sur");
  for (guint i = 0; i < 3; i++) {
    push_bytes_segment (h);
    push_pieces (h, bytes, 700);
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    push_bytes_segment (h);
    push_pieces (h, bytes, 700);
    gst_harness_push_event (h, gst_event_new_eos ());
    assert_surface (h, 9, 2, 0);
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  }
  gst_harness_teardown (h);
  g_bytes_unref (bytes);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Early events such as tags reach downstream after the caps. */
GST_START_TEST (test_early_events)
{
  gchar *folder = temp_folder_new ();
  GBytes *bytes = make_file (folder, "a.gsf", 9, 2);
  GstHarness *h = new_decoder ("surfacedec");
  gboolean caps = FALSE, tags = FALSE;
  GstEvent *event;

  gst_harness_set_src_caps_str (h, "application/x-surface-gsf");
  push_bytes_segment (h);
  gst_harness_push_event (
      h, gst_event_new_tag (gst_tag_list_new (GST_TAG_COMMENT, "early", NULL)));
  push_pieces (h, bytes, 10000);
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((event = gst_harness_try_pull_event (h))) {
    caps |= GST_EVENT_TYPE (event) == GST_EVENT_CAPS;
    if (GST_EVENT_TYPE (event) == GST_EVENT_TAG) {
      fail_unless (caps);
      tags = TRUE;
    }
    gst_event_unref (event);
  }
  fail_unless (tags);
  gst_harness_teardown (h);
  g_bytes_unref (bytes);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_types)
{
  static const gchar *const names[] = { "x3p", "sdf", "sur", "gsf", "npy" };
  gchar *folder = temp_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gchar *name = g_strconcat ("a.", names[i], NULL);
    gchar *type = g_strconcat ("application/x-surface-", names[i], NULL);
    GstTypeFindProbability sure;
    GBytes *bytes;
    GstCaps *caps;
    gsize size;

    if (surface_file_supported (surface_file_format_of_name (name))) {
      bytes = make_file (folder, name, 9, 0);
      size = g_bytes_get_size (bytes);
      caps = gst_type_find_helper_for_data (
          NULL, g_bytes_get_data (bytes, NULL), size, &sure);
      fail_unless (caps != NULL, "%s", name);
      fail_unless (
          gst_structure_has_name (gst_caps_get_structure (caps, 0), type),
          "%s is %" GST_PTR_FORMAT, name, caps);
      fail_unless (sure >= GST_TYPE_FIND_NEARLY_CERTAIN);
      gst_caps_unref (caps);
      g_bytes_unref (bytes);
    }
    g_free (type);
    g_free (name);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

/* Data that begins like files of instruments */
GST_START_TEST (test_instrument_types)
{
  static const struct {
    const gchar *start, *type;
    gsize n;
  } cases[] = {
    { "Thu Feb 29 12:34:56 2024", "application/x-surface-plu", 25 },
    { "\1\0Directory", "application/x-surface-opd", 11 },
    { "\x88\x1b\3\x70", "application/x-surface-metropro", 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint8 data[200] = { 0 };
    GstCaps *caps;

    memcpy (data, cases[i].start, cases[i].n);
    caps = gst_type_find_helper_for_data (NULL, data, sizeof (data), NULL);
    fail_unless (caps != NULL, "%s", cases[i].type);
    fail_unless (gst_structure_has_name (
        gst_caps_get_structure (caps, 0), cases[i].type));
    gst_caps_unref (caps);
  }
}
GST_END_TEST;

/* Other zip files are not recognised. */
GST_START_TEST (test_other_zip)
{
  guint8 zip[200] = "PK\3\4";
  GstCaps *caps;

  memcpy (zip + 30, "word/document.xml", 17);
  caps = gst_type_find_helper_for_data (NULL, zip, sizeof (zip), NULL);
  fail_unless (caps == NULL
               || !gst_structure_has_name (gst_caps_get_structure (caps, 0),
                   "application/x-surface-x3p"));
  gst_clear_caps (&caps);
}
GST_END_TEST;

#if HAVE_X3P
static void
add_entry (GByteArray *zip, const gchar *name, const gchar *text, guint flags,
    gboolean deflated)
{
  const guint n = (guint) strlen (text);
  const guint8 block[] = { 1, n & 255, n >> 8, ~n & 255, (~n >> 8) & 255 };
  const guint32 size =
      GUINT32_TO_LE (flags == 0 ? n + (deflated ? sizeof (block) : 0) : 0);
  const guint16 name_size = GUINT16_TO_LE (strlen (name));
  guint8 header[30] = "PK\3\4";

  header[6] = (guint8) flags;
  header[8] = deflated ? 8 : 0;
  memcpy (header + 18, &size, sizeof (size));
  memcpy (header + 26, &name_size, sizeof (name_size));
  g_byte_array_append (zip, header, sizeof (header));
  g_byte_array_append (zip, (const guint8 *) name, (guint) strlen (name));
  if (deflated) /* as an uncompressed block */
    g_byte_array_append (zip, block, sizeof (block));
  g_byte_array_append (zip, (const guint8 *) text, n);
}

/* Whether a zip with files @first, main.xml and zeros is recognised as X3P */
static gboolean
is_x3p (const gchar *first, const gchar *xml, guint flags, gboolean deflated)
{
  GByteArray *zip = g_byte_array_new ();
  gboolean found;
  GstCaps *caps;

  if (first != NULL)
    add_entry (zip, first, "some bytes of another file", flags, FALSE);
  add_entry (zip, "a folder/main.xml", xml, flags, deflated);
  g_byte_array_set_size (zip, zip->len + 40);
  memset (zip->data + zip->len - 40, 0, 40);
  caps = gst_type_find_helper_for_data (NULL, zip->data, zip->len, NULL);
  found = caps != NULL
          && gst_structure_has_name (
              gst_caps_get_structure (caps, 0), "application/x-surface-x3p");
  gst_clear_caps (&caps);
  g_byte_array_unref (zip);
  return found;
}

/* Not every zip with a main.xml is an X3P. */
GST_START_TEST (test_main_xml)
{
  static const gchar ours[] =
      "<?xml version=\"1.0\"?><p:ISO5436_2 xmlns:p=\"x\"><Record1/>";
  static const gchar other[] =
      "<?xml version=\"1.0\"?><layout name=\"main\"><panel/></layout>";
  const guint after = 8; /* sizes follow the data */

  for (gint deflated = FALSE; deflated <= TRUE; deflated++) {
    fail_unless (is_x3p (NULL, ours, 0, deflated));
    fail_unless (is_x3p (NULL, ours, after, deflated));
    fail_unless (is_x3p ("bindata/data.bin", ours, 0, deflated));
    fail_unless (is_x3p ("bindata/data.bin", ours, after, deflated));
    fail_if (is_x3p (NULL, other, 0, deflated));
    fail_if (is_x3p (NULL, other, after, deflated));
    fail_if (is_x3p ("META-INF/MANIFEST.MF", other, 0, deflated));
    fail_if (is_x3p ("META-INF/MANIFEST.MF", other, after, deflated));
    fail_if (is_x3p ("bindata/data.bin", other, 0, deflated));
  }
}
GST_END_TEST;
#endif

GST_START_TEST (test_lines)
{
  static const gchar *const lines[] = {
    "filesrc location=%s/a0.npy ! surfacedec dx=1e-6 ! fakesink",
    "filesrc location=%s/a0.npy ! typefind ! surfacedec ! fakesink",
    "filesrc location=%s/a0.npy ! decodebin caps=other/tensors ! fakesink",
    ("multifilesrc location=%s/a%d.npy stop-index=1 "
     "caps=application/x-surface-npy,framerate=5/1 ! surfacedec ! fakesink"),
  };
  static const gchar *const tiff_lines[] = {
    "filesrc location=%s/a0.tiff ! surfacedec dx=1e-6 ! fakesink",
    "filesrc location=%s/a0.tiff ! typefind ! surfacedec ! fakesink",
    ("multifilesrc location=%s/a%d.tiff stop-index=0 "
     "caps=image/tiff,framerate=5/1 ! surfacedec ! fakesink"),
  };
  gchar *folder = temp_folder_new ();

  surface_temp_write (folder, "a0.npy", 9, 7, 0);
  surface_temp_write (folder, "a1.npy", 5, 4, 0);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    surface_temp_run_ok (folder, lines[i]);
  if (surface_file_supported (SURFACE_FILE_TIFF)) {
    surface_temp_write (folder, "a0.tiff", 9, 7, 0);
    for (guint i = 0; i < G_N_ELEMENTS (tiff_lines); i++)
      surface_temp_run_ok (folder, tiff_lines[i]);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

/* Whether decodebin tries surfacedec for the caps found */
static gboolean
is_tried_for (const gchar *text)
{
  GList *all = gst_element_factory_list_get_elements (
      GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_MARGINAL);
  GstCaps *caps = gst_caps_from_string (text);
  GList *fit = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, TRUE);
  gboolean found = FALSE;

  for (GList *l = fit; l != NULL; l = l->next)
    found |= g_str_equal (GST_OBJECT_NAME (l->data), "surfacedec");
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
  gst_caps_unref (caps);
  return found;
}

/* decodebin has to treat a TIFF as a photograph. */
GST_START_TEST (test_photographs)
{
  fail_if (is_tried_for ("image/tiff"));
  fail_if (is_tried_for ("image/tiff, endianness=(int)1234"));
  fail_unless (is_tried_for ("application/x-surface-npy"));
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  static const gchar *const cases[][2] = {
    { "filesrc location=%s/bad.npy ! surfacedec ! fakesink",
        "The NPY file is cut off" },
    { "filesrc location=%s/a.npy ! surfacedec ! "
      "other/tensors,types=(string)float64 ! fakesink",
        "Downstream does not accept the surface" },
    { "fakesrc num-buffers=1 sizetype=empty ! "
      "application/x-surface-npy ! surfacedec ! fakesink",
        "before the first byte of a file" },
    { "filesrc location=/dev/zero ! surfacedec ! fakesink",
        "Unknown file format" },
    { "fakesrc num-buffers=1000 sizetype=fixed sizemax=1 filltype=zero ! "
      "application/x-surface-npy ! surfacedec ! fakesink",
        "Unknown file format" },
    { "filesrc location=%s/a.npy ! surfacedec", "data stream error" },
  };
  gchar *folder = temp_folder_new ();
  gchar *path = surface_temp_path (folder, "bad.npy");
  GBytes *bytes = make_file (folder, "a.npy", 9, 0);

  fail_unless (
      g_file_set_contents (path, g_bytes_get_data (bytes, NULL), 200, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    surface_temp_run_error (folder, cases[i][0], cases[i][1]);
  g_bytes_unref (bytes);
  g_free (path);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  gchar *folder = temp_folder_new ();
  GBytes *bytes = make_file (folder, "a.npy", 9, 0);
  GstHarness *h = new_decoder ("surfacedec");

  gst_harness_set_src_caps_str (h, "application/x-surface-npy");
  for (guint i = 0; i < 50; i++) {
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    push_bytes_segment (h);
    push_pieces (h, bytes, 100);
    fail_unless_equals_int (gst_element_set_state (h->element,
                                i % 2 ? GST_STATE_READY : GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    gst_harness_set_src_caps_str (h, "application/x-surface-npy");
  }
  gst_harness_teardown (h);
  g_bytes_unref (bytes);
  temp_folder_free (folder);
}
GST_END_TEST;

static Suite *
surfacedec_suite (void)
{
  Suite *s = suite_create ("surfacedec");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_pieces);
  tcase_add_test (tc, test_packets);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_early_events);
  tcase_add_test (tc, test_types);
  tcase_add_test (tc, test_instrument_types);
  tcase_add_test (tc, test_other_zip);
#if HAVE_X3P
  tcase_add_test (tc, test_main_xml);
#endif
  tcase_add_test (tc, test_lines);
  tcase_add_test (tc, test_photographs);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_states);
  return s;
}

GST_CHECK_MAIN (surfacedec);
