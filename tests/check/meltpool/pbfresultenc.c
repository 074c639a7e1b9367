/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gst/check/gstcheck.h>
#include <gst/base/gsttypefindhelper.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <string.h>

#define HEADER_0                                                               \
  "frame_counter,timestamp_ns,layer,x_um,y_um,flags,pool_x_px,pool_y_px,"      \
  "mp_area,spatter_area,spatter_count,mp_ratio,mp_mean,polar_0,polar_1,"       \
  "polar_2,polar_3,polar_4,polar_5,hog_0,hog_1,hog_2,hog_3,hog_4,hog_5,hog_6," \
  "hog_7,hog_8,var_mp_area,var_spatter_area,var_spatter_count,var_mp_ratio,"   \
  "var_mp_mean,var_polar_0,var_polar_1,var_polar_2,var_polar_3,var_polar_4,"   \
  "var_polar_5,var_hog_0,var_hog_1,var_hog_2,var_hog_3,var_hog_4,var_hog_5,"   \
  "var_hog_6,var_hog_7,var_hog_8"
#define ROW_FULL                                                               \
  "7,350000,3,-1200,4500,2,48.50390625,47.75,"                                 \
  "123,4,1,0.75,201.5,1000,1001,1002,1003,1004,1005,"                          \
  "0,0.125,0.25,0.375,0.5,0.625,0.75,0.875,1,"                                 \
  "0.1,1.1,2.1,3.1,4.1,5.1,6.1,7.1,8.1,9.1,"                                   \
  "10.1,11.1,12.1,13.1,14.1,15.1,16.1,17.1,18.1,1.5e-10"
#define ZEROS_40                                                               \
  "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"                                   \
  "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
#define ROW_EMPTY "8,400000,3,0,0,1,0,0," ZEROS_40

static CvisPbfResult
full_record (void)
{
  CvisPbfResult r = { .magic = CVIS_PBF_RESULT_MAGIC,
    .size = sizeof (CvisPbfResult),
    .version = CVIS_PBF_RESULT_VERSION,
    .timestamp_ns = 350000,
    .frame_index = 7,
    .frame_counter = 7,
    .flags = CVIS_PBF_RESULT_WARMUP,
    .layer = 3,
    .x_um = -1200,
    .y_um = 4500,
    .centroid_x_q8 = 48 * 256 + 129,
    .centroid_y_q8 = 47 * 256 + 192,
    .features = {
        123, 4, 1, 0.75f, 201.5f, 1000, 1001, 1002, 1003, 1004, 1005 } };
  guint i;

  for (i = 0; i < 9; i++)
    r.features[CVIS_PBF_HOG_0 + i] = i / 8.0f;
  for (i = 0; i < CVIS_PBF_N_SPATIAL - 1; i++)
    r.features[CVIS_PBF_N_SPATIAL + i] = (gfloat) (i + 0.1);
  r.features[CVIS_PBF_N_FEATURES - 1] = 1.5e-10f;
  return r;
}

static CvisPbfResult
empty_record (void)
{
  CvisPbfResult r = { .magic = CVIS_PBF_RESULT_MAGIC,
    .size = sizeof (CvisPbfResult),
    .version = CVIS_PBF_RESULT_VERSION,
    .timestamp_ns = 400000,
    .frame_counter = 8,
    .flags = CVIS_PBF_RESULT_EMPTY,
    .layer = 3 };

  return r;
}

static GstBuffer *
buffer_of (gconstpointer bytes, gsize size)
{
  GstBuffer *buffer =
      size > 0 ? gst_buffer_new_memdup (bytes, size) : gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = 350 * GST_USECOND;
  GST_BUFFER_DURATION (buffer) = 100 * GST_USECOND;
  return buffer;
}

static GstHarness *
harness (const gchar *properties, const gchar *caps_fields)
{
  gchar *line = g_strdup_printf ("pbfresultenc %s", properties);
  gchar *caps = g_strdup_printf (GST_CVIS_PBF_RESULT_CAPS "%s", caps_fields);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  g_free (line);
  g_free (caps);
  return h;
}

/* Sticky events are stored even if the element refuses them. */
static void
push_caps (GstHarness *h, const gchar *fields)
{
  gchar *text = g_strconcat (GST_CVIS_PBF_RESULT_CAPS, fields, NULL);
  GstCaps *caps = gst_caps_from_string (text);

  gst_harness_push_event (h, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  g_free (text);
}

static void
assert_text (GstHarness *h, const gchar *expected)
{
  GstBuffer *buffer = gst_harness_pull (h);
  GstMapInfo map;
  gchar *text;

  fail_unless (buffer != NULL);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  text = g_strndup ((const gchar *) map.data, map.size);
  fail_unless_equals_string (text, expected);
  g_free (text);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

static gchar *
error_of (GstBus *bus)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *text;

  fail_unless (message != NULL, "no error was posted");
  gst_message_parse_error (message, &error, NULL);
  fail_unless (error->domain == GST_STREAM_ERROR);
  text = g_strdup (error->message);
  g_clear_error (&error);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  return text;
}

static void
assert_refused (const gchar *caps_fields, gconstpointer bytes, gsize size,
    const gchar *what)
{
  GstHarness *h = harness ("", caps_fields);
  GstBus *bus = gst_bus_new ();
  gchar *text;

  gst_element_set_bus (h->element, bus);
  fail_unless_equals_int (
      gst_harness_push (h, buffer_of (bytes, size)), GST_FLOW_ERROR);
  text = error_of (bus);
  fail_unless (strstr (text, what) != NULL, "'%s' lacks '%s'", text, what);
  g_free (text);
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_START_TEST (test_csv_rows)
{
  GstHarness *h = harness ("", ", outputs = (int) 2");
  CvisPbfResult records[2] = { full_record (), empty_record () };
  GstBuffer *buffer;

  records[0].n_outputs = 2;
  records[0].outputs[0] = 0.25f;
  records[0].outputs[1] = 0.1f;

  gst_harness_push (h, buffer_of (records, sizeof (records)));
  assert_text (h,
      HEADER_0 ",out_0,out_1,class,probability,vote,vote_share\n" ROW_FULL
               ",0.25,0.1,,,,\n" ROW_EMPTY ",,,,,,\n");
  gst_harness_push (h, buffer_of (&records[1], sizeof (CvisPbfResult)));
  assert_text (h, ROW_EMPTY ",,,,,,\n");

  gst_harness_push (h, buffer_of (&records[1], sizeof (CvisPbfResult)));
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 350 * GST_USECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 100 * GST_USECOND);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* the names of the caps, class and vote; other names do not fit the table */
GST_START_TEST (test_csv_names)
{
  GstHarness *h = harness (
      "", ", outputs = (int) 2, output-names = (string) < nominal, keyhole >");
  CvisPbfResult r = full_record ();
  GstBus *bus = gst_bus_new ();
  gchar *text;

  r.n_outputs = 2;
  r.outputs[0] = 0.25f;
  r.outputs[1] = r.class_probability = 0.75f;
  r.class_index = 1;
  r.vote_n = 8;
  r.vote_count = 7;
  gst_harness_push (h, buffer_of (&r, sizeof (r)));
  assert_text (h,
      HEADER_0 ",nominal,keyhole,class,probability,vote,vote_share\n" ROW_FULL
               ",0.25,0.75,keyhole,0.75,nominal,0.875\n");

  gst_element_set_bus (h->element, bus);
  push_caps (
      h, ", outputs = (int) 2, output-names = (string) < nominal, drift >");
  text = error_of (bus);
  fail_unless (strstr (text, "names of the network outputs changed") != NULL,
      "%s", text);
  g_free (text);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* In JSON lines the names follow the caps. */
GST_START_TEST (test_jsonl_names)
{
  GstHarness *h = harness ("format=jsonl",
      ", outputs = (int) 2, output-names = (string) < nominal, keyhole >");
  CvisPbfResult r = full_record ();

  r.n_outputs = 2;
  r.outputs[0] = 0.25f;
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer;
    GstMapInfo map;

    gst_harness_push (h, buffer_of (&r, sizeof (r)));
    buffer = gst_harness_pull (h);
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless (
        g_strstr_len ((gchar *) map.data, (gssize) map.size,
            i == 0
                ? "\"outputs\":{\"nominal\":0.25,\"keyhole\":0},\"class\":null"
                : "\"outputs\":{\"a\":0.25,\"b\":0}")
        != NULL);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
    push_caps (h, ", outputs = (int) 2, output-names = (string) < a, b >");
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_csv_outputs_without_caps)
{
  GstHarness *h = harness ("", "");
  CvisPbfResult records[2] = { empty_record (), full_record () };
  GstBus *bus = gst_bus_new ();
  gchar *text;

  records[1].n_outputs = 1;
  records[1].outputs[0] = -3;
  gst_harness_push (h, buffer_of (records, sizeof (records)));
  assert_text (h, HEADER_0 ",out_0\n" ROW_EMPTY ",\n" ROW_FULL ",-3\n");

  /* more outputs than columns cause an error */
  gst_element_set_bus (h->element, bus);
  records[1].n_outputs = 2;
  fail_unless_equals_int (
      gst_harness_push (h, buffer_of (records, sizeof (records))),
      GST_FLOW_ERROR);
  text = error_of (bus);
  fail_unless (strstr (text, "Record 3 at byte 2688") != NULL, "%s", text);
  fail_unless (strstr (text, "2 network outputs") != NULL, "%s", text);
  g_free (text);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_jsonl)
{
  GstHarness *h =
      harness ("format=jsonl", ", output-names = (string) < a, b >");
  CvisPbfResult records[2] = { full_record (), empty_record () };
  GstBuffer *buffer;
  GstCaps *caps, *wanted;
  GstMapInfo map;
  gchar *text, **lines;

  gst_harness_push (h, buffer_of (records, sizeof (records)));
  buffer = gst_harness_pull (h);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  text = g_strndup ((const gchar *) map.data, map.size);
  lines = g_strsplit (text, "\n", -1);
  fail_unless_equals_int (g_strv_length (lines), 3);
  fail_unless (g_str_has_prefix (lines[0],
      "{\"frame_counter\":7,\"timestamp_ns\":350000,\"layer\":3,"
      "\"x_um\":-1200,\"y_um\":4500,\"flags\":2,\"pool_x_px\":48.50390625,"
      "\"pool_y_px\":47.75,\"mp_area\":123,"));
  fail_unless (g_str_has_prefix (lines[1], "{\"frame_counter\":8,"));
  fail_unless_equals_string (lines[2], "");
  g_strfreev (lines);
  g_free (text);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);

  caps = gst_pad_get_current_caps (h->sinkpad);
  wanted = gst_caps_from_string ("application/x-ndjson, spec = pbf40-v1, "
                                 "output-names = (string) < a, b >");
  fail_unless (
      gst_caps_is_equal (caps, wanted), "caps are %" GST_PTR_FORMAT, caps);
  gst_caps_unref (wanted);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_bad_records)
{
  CvisPbfResult records[3] = { full_record (), full_record (), full_record () };

  records[2].magic = 0;
  assert_refused (
      "", records, sizeof (records), "Record 2 at byte 1792 of the stream");
  records[1].size = 900;
  assert_refused ("", records, sizeof (records), "field size at its byte 4");
  records[1] = full_record ();
  records[1].version = 9;
  assert_refused ("", records, sizeof (records), "field version at its byte 6");
  records[1] = full_record ();
  records[1].n_outputs = 9;
  assert_refused ("", records, sizeof (records), "field n_outputs");
  records[1] = full_record ();
  records[1].n_spatters = G_MAXUINT32;
  assert_refused ("", records, sizeof (records), "field n_spatters");
  records[0].n_outputs = 1;
  assert_refused (", outputs = (int) 0", records, sizeof (CvisPbfResult),
      "it has 1 network outputs, the table has 0");
}
GST_END_TEST;

/* --- chunks of any size -------------------------------------------------- */

static void
append_text (GString *text, GstBuffer *buffer)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_string_append_len (text, (const gchar *) map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

/* The rows for @bytes, pushed in chunks. */
static gchar *
rows_of_chunks (const guint8 *bytes, gsize size, gsize chunk)
{
  GstHarness *h = harness ("", ", outputs = (int) 0");
  GString *text = g_string_new (NULL);

  for (gsize at = 0; at < size; at += chunk)
    fail_unless_equals_int (
        gst_harness_push (
            h, gst_buffer_new_memdup (bytes + at, MIN (chunk, size - at))),
        GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  while (gst_harness_buffers_in_queue (h) > 0)
    append_text (text, gst_harness_pull (h));
  gst_harness_teardown (h);
  return g_string_free (text, FALSE);
}

GST_START_TEST (test_chunks)
{
  static const gsize chunks[] = { 1, 13, 895, 897, 1000, 4096, 5 * 896 };
  CvisPbfResult records[9];
  gchar *whole;

  for (guint i = 0; i < 9; i++) {
    records[i] = i % 3 == 1 ? empty_record () : full_record ();
    records[i].frame_counter = i;
  }
  whole = rows_of_chunks ((guint8 *) records, sizeof records, sizeof records);
  for (guint k = 0; k < G_N_ELEMENTS (chunks); k++) {
    gchar *text =
        rows_of_chunks ((guint8 *) records, sizeof records, chunks[k]);

    fail_unless_equals_string (text, whole);
    g_free (text);
  }
  g_free (whole);
}
GST_END_TEST;

/* rows get the time of their first record if the bytes have none */
GST_START_TEST (test_times_of_chunks)
{
  GstHarness *h = harness ("", "");
  CvisPbfResult records[3] = { full_record (), empty_record (),
    empty_record () };
  const guint8 *bytes = (const guint8 *) records;
  GstBuffer *out;

  records[2].timestamp_ns = G_MAXUINT64;
  gst_harness_push (h, gst_buffer_new_memdup (bytes, 1000));
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 350000);
  gst_buffer_unref (out);
  /* a timestamp of bytes that begin within a record does not apply to it */
  gst_harness_push (h, buffer_of (bytes + 1000, 792));
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 400000);
  gst_buffer_unref (out);
  gst_harness_push (h, gst_buffer_new_memdup (bytes + 1792, 896));
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), GST_CLOCK_TIME_NONE);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Complete records are written, then an error reports the incomplete one; a
 * flush discards it, and an empty buffer has no effect. */
GST_START_TEST (test_cut_off)
{
  GstHarness *h = harness ("", "");
  CvisPbfResult r = empty_record ();
  GstBus *bus = gst_bus_new ();
  GstSegment segment;
  gchar *text;

  gst_element_set_bus (h->element, bus);
  gst_harness_push (h, buffer_of (&r, 300));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  fail_unless_equals_int (
      gst_harness_push (h, buffer_of (NULL, 0)), GST_FLOW_OK);
  gst_harness_push (h, buffer_of (&r, sizeof r));
  fail_unless_equals_int (
      gst_harness_push (h, buffer_of (&r, 10)), GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  assert_text (h, HEADER_0 "\n" ROW_EMPTY "\n");
  text = error_of (bus);
  fail_unless (strstr (text, "ends after 10 of 896 bytes of record 1") != NULL,
      "%s", text);
  g_free (text);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* --- recordings --------------------------------------------------------------- */

static void
run_line (gchar *line)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
}

static void
expect_same_file (const gchar *a, const gchar *b)
{
  gchar *text_a, *text_b;
  gsize size_a, size_b;

  fail_unless (g_file_get_contents (a, &text_a, &size_a, NULL));
  fail_unless (g_file_get_contents (b, &text_b, &size_b, NULL));
  fail_unless (size_a > 0 && size_a == size_b);
  fail_unless (memcmp (text_a, text_b, size_a) == 0, "%s and %s differ", a, b);
  g_free (text_a);
  g_free (text_b);
}

/* A recording gives the same table as the stream, with caps from typefind or
 * from a filter. */
GST_START_TEST (test_recording)
{
  gchar *folder = g_dir_make_tmp ("pbfresultenc-XXXXXX", NULL);
  gchar *record = g_build_filename (folder, "results.pbr", NULL);
  gchar *direct = g_build_filename (folder, "direct.csv", NULL);
  gchar *later = g_build_filename (folder, "later.csv", NULL);

  run_line (g_strdup_printf (
      "pbftestsrc num-buffers=700 ! cudapbfmonitor backend=cpu name=m ! "
      "fakesink m.src_result ! tee name=t ! queue ! filesink location=\"%s\" "
      "t. ! "
      "queue ! pbfresultenc ! filesink location=\"%s\"",
      record, direct));
  run_line (g_strdup_printf ("filesrc location=\"%s\" ! typefind ! "
                             "pbfresultenc ! filesink location=\"%s\"",
      record, later));
  expect_same_file (direct, later);
  run_line (g_strdup_printf ("filesrc location=\"%s\" blocksize=1001 ! "
                             "application/x-pbf-result,spec=pbf40-v1,outputs=0 "
                             "! pbfresultenc ! filesink location=\"%s\"",
      record, later));
  expect_same_file (direct, later);
  g_remove (record);
  g_remove (direct);
  g_remove (later);
  g_rmdir (folder);
  g_free (record);
  g_free (direct);
  g_free (later);
  g_free (folder);
}
GST_END_TEST;

/* Outputs are counted; data other than results is not recognised. */
GST_START_TEST (test_typefind)
{
  CvisPbfResult records[20];
  GstCaps *caps;
  gint outputs = -1;

  for (guint i = 0; i < 20; i++)
    records[i] = empty_record ();
  records[13].n_outputs = 3;
  caps = gst_type_find_helper_for_data (
      NULL, (guint8 *) records, sizeof records, NULL);
  fail_unless (caps != NULL);
  fail_unless (gst_structure_has_name (
      gst_caps_get_structure (caps, 0), GST_CVIS_PBF_RESULT_MEDIA_TYPE));
  fail_unless (gst_structure_get_int (
      gst_caps_get_structure (caps, 0), "outputs", &outputs));
  fail_unless_equals_int (outputs, 3);
  gst_caps_unref (caps);

  caps =
      gst_type_find_helper_for_data (NULL, (guint8 *) records, 10 * 896, NULL);
  fail_if (
      gst_structure_has_field (gst_caps_get_structure (caps, 0), "outputs"));
  gst_caps_unref (caps);
  records[0].size = 1;
  caps = gst_type_find_helper_for_data (
      NULL, (guint8 *) records, sizeof records, NULL);
  fail_unless (caps == NULL);
}
GST_END_TEST;

GST_START_TEST (test_bad_caps)
{
  GstHarness *h = gst_harness_new ("pbfresultenc");
  GstBus *bus = gst_bus_new ();
  gchar *text;

  gst_element_set_bus (h->element, bus);
  gst_harness_push_event (h, gst_event_new_stream_start ("bad-caps"));
  push_caps (h, ", outputs = (int) 9");
  text = error_of (bus);
  fail_unless (
      strstr (text, "9 network outputs are not in 0 to 8") != NULL, "%s", text);
  g_free (text);
  push_caps (h, ", outputs = (int) 9");
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* one header row, whatever happens to the stream */
GST_START_TEST (test_header_once)
{
  GstHarness *h = harness ("", ", outputs = (int) 1");
  CvisPbfResult r = empty_record ();
  GstBus *bus;
  GstSegment segment;
  gchar *text;

  gst_harness_push (h, buffer_of (&r, sizeof (r)));
  assert_text (h, HEADER_0 ",out_0\n" ROW_EMPTY ",\n");

  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  gst_harness_push (h, buffer_of (&r, sizeof (r)));
  assert_text (h, ROW_EMPTY ",\n");

  /* fewer outputs fit the table ... */
  gst_harness_set_src_caps_str (
      h, GST_CVIS_PBF_RESULT_CAPS ", outputs = (int) 0");
  gst_harness_push (h, buffer_of (&r, sizeof (r)));
  assert_text (h, ROW_EMPTY ",\n");

  /* ... more do not */
  bus = gst_bus_new ();
  gst_element_set_bus (h->element, bus);
  push_caps (h, ", outputs = (int) 2");
  text = error_of (bus);
  fail_unless (strstr (text, "from 1 to 2") != NULL, "%s", text);
  g_free (text);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_eos)
{
  GstHarness *h = harness ("", ", outputs = (int) 1");
  CvisPbfResult r = empty_record ();

  /* a stream without frames gives a table without rows */
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  assert_text (h, HEADER_0 ",out_0\n");
  gst_harness_teardown (h);

  h = harness ("", "");
  gst_harness_push (h, buffer_of (&r, sizeof (r)));
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  assert_text (h, HEADER_0 "\n" ROW_EMPTY "\n");
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  gst_harness_teardown (h);

  h = harness ("format=jsonl", "");
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_list)
{
  GstHarness *h = harness ("", ", outputs = (int) 0");
  GstBufferList *list = gst_buffer_list_new ();
  CvisPbfResult r = empty_record ();
  guint i;

  for (i = 0; i < 3; i++)
    gst_buffer_list_add (list, buffer_of (&r, sizeof (r)));
  fail_unless_equals_int (gst_pad_push_list (h->srcpad, list), GST_FLOW_OK);
  assert_text (h, HEADER_0 "\n" ROW_EMPTY "\n");
  assert_text (h, ROW_EMPTY "\n");
  assert_text (h, ROW_EMPTY "\n");
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_locale)
{
  gchar *before = g_strdup (setlocale (LC_ALL, NULL));
  GstHarness *h;
  CvisPbfResult r = full_record ();

  if (setlocale (LC_ALL, "de_DE.UTF-8") == NULL)
    GST_INFO ("no locale with a decimal comma here: tested in the default one");
  h = harness ("", ", outputs = (int) 0");
  gst_harness_push (h, buffer_of (&r, sizeof (r)));
  assert_text (h, HEADER_0 "\n" ROW_FULL "\n");
  gst_harness_teardown (h);
  setlocale (LC_ALL, before);
  g_free (before);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  GstHarness *h = harness ("", ", outputs = (int) 0");
  CvisPbfResult r = empty_record ();
  guint i;

  /* each restart begins with caps and the header row */
  for (i = 0; i < 50; i++) {
    GstSegment segment;

    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (
        gst_element_set_state (h->element, GST_STATE_PLAYING),
        GST_STATE_CHANGE_SUCCESS);
    gst_harness_push_event (h, gst_event_new_stream_start ("states"));
    push_caps (h, "");
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    fail_unless_equals_int (
        gst_harness_push (h, buffer_of (&r, sizeof (r))), GST_FLOW_OK);
    assert_text (h, HEADER_0 "\n" ROW_EMPTY "\n");
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_without_caps)
{
  GstHarness *h = gst_harness_new ("pbfresultenc");
  GstBus *bus = gst_bus_new ();
  CvisPbfResult r = empty_record ();
  GstSegment segment;
  gchar *text;

  gst_element_set_bus (h->element, bus);
  gst_harness_play (h);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_stream_start ("no-caps"));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  fail_unless_equals_int (gst_pad_push (h->srcpad, buffer_of (&r, sizeof (r))),
      GST_FLOW_NOT_NEGOTIATED);
  text = error_of (bus);
  fail_unless (strstr (text, "without caps") != NULL, "%s", text);
  g_free (text);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
pbfresultenc_suite (void)
{
  Suite *s = suite_create ("pbfresultenc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_csv_rows);
  tcase_add_test (tc, test_csv_names);
  tcase_add_test (tc, test_jsonl_names);
  tcase_add_test (tc, test_csv_outputs_without_caps);
  tcase_add_test (tc, test_jsonl);
  tcase_add_test (tc, test_bad_records);
  tcase_add_test (tc, test_chunks);
  tcase_add_test (tc, test_times_of_chunks);
  tcase_add_test (tc, test_cut_off);
  tcase_add_test (tc, test_recording);
  tcase_add_test (tc, test_typefind);
  tcase_add_test (tc, test_bad_caps);
  tcase_add_test (tc, test_header_once);
  tcase_add_test (tc, test_eos);
  tcase_add_test (tc, test_list);
  tcase_add_test (tc, test_locale);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_without_caps);
  return s;
}

GST_CHECK_MAIN (pbfresultenc);
