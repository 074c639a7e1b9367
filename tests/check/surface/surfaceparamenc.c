/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* surfaceparamenc: rows of both formats, undefined values, labels, tables without
 * rows. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <string.h>

#define CAPS                                                                   \
  "other/tensors, format=static, num_tensors=1, types=float32, "               \
  "dimensions=(string)2:1:1:1, framerate=1/1"

static GstHarness *
open_encoder (const gchar *properties)
{
  gchar *line = g_strconcat ("surfaceparamenc ", properties, NULL);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, CAPS);
  g_free (line);
  return h;
}

/* A surface with the parameters of its roughness; @n: valid points */
static GstBuffer *
make_surface (guint64 n, gdouble dx)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 8, NULL);
  GstCvisSurfaceMeta *meta;

  gst_cvis_buffer_add_surface_meta (buffer); /* of the samples: no parameters */
  meta = gst_cvis_buffer_add_surface_meta (buffer);
  meta->part = CVIS_SURFACE_PART_ROUGHNESS;
  meta->width = 2;
  meta->height = 1;
  meta->dx = meta->dy = dx;
  meta->lambda_c[0] = 0.1;
  meta->has_parameters = TRUE;
  meta->parameters = (CvisSurfaceParameters){ .n = n, .sa = 1e-7, .sdr = 0.25 };
  return buffer;
}

static gchar *
pull_text (GstHarness *h)
{
  GstBuffer *buffer = gst_harness_pull (h);
  gsize size = gst_buffer_get_size (buffer);
  gchar *text = g_malloc0 (size + 1);

  gst_buffer_extract (buffer, 0, text, size);
  gst_buffer_unref (buffer);
  return text;
}

/* Pushes a surface and compares the text. */
static void
expect_text (GstHarness *h, GstBuffer *surface, const gchar *expected)
{
  gchar *text;

  fail_unless_equals_int (gst_harness_push (h, surface), GST_FLOW_OK);
  text = pull_text (h);
  fail_unless_equals_string (text, expected);
  g_free (text);
}

GST_START_TEST (test_csv)
{
  GstHarness *h = open_encoder ("header=false label=\"a, \\\"b\\\"\"");

  expect_text (h, make_surface (2, 1e-6),
      "\"a, \"\"b\"\"\",0,roughness,2,1,1e-06,1e-06,0,,,0.1,,,,2,0,1e-07,0,0,0,"
      "0,0,0,0.25,0\n");
  /* no spacing: no slopes; no point: no heights */
  expect_text (h, make_surface (2, 0),
      "\"a, "
      "\"\"b\"\"\",1,roughness,2,1,,,0,,,0.1,,,,2,0,1e-07,0,0,0,0,0,0,,\n");
  expect_text (h, make_surface (0, 1e-6),
      "\"a, \"\"b\"\"\",2,roughness,2,1,1e-06,1e-06,0,,,0.1,,,,0,,,,,,,,,,\n");
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_jsonl)
{
  GstHarness *h = open_encoder ("format=jsonl label=x");
  gchar *text;

  fail_unless_equals_int (
      gst_harness_push (h, make_surface (0, 0)), GST_FLOW_OK);
  text = pull_text (h);
  fail_unless (g_str_has_prefix (text, "{\"label\":\"x\",\"frame\":0,"));
  fail_unless (strstr (text, "\"sa_m\":null,") != NULL);
  fail_unless (g_str_has_suffix (text, "}\n"));
  g_free (text);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Another label begins another series, at any time. */
GST_START_TEST (test_labels)
{
  static const struct {
    const gchar *label, *begin;
  } rows[] = { { "a", "a,0,rough" }, { "a", "a,1,rough" }, { "b", "b,0,rough" },
    { "a", "a,0,rough" } };
  GstHarness *h = open_encoder ("header=false");
  GstElement *encoder = gst_harness_find_element (h, "surfaceparamenc");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *text;

    g_object_set (encoder, "label", rows[i].label, NULL);
    gst_harness_push (h, make_surface (2, 1e-6));
    text = pull_text (h);
    fail_unless (g_str_has_prefix (text, rows[i].begin), "%s", text);
    g_free (text);
  }
  gst_object_unref (encoder);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A header row once, also without a surface */
GST_START_TEST (test_header)
{
  GstHarness *h = open_encoder ("");
  gchar *text;

  gst_harness_push (h, make_surface (2, 1e-6));
  text = pull_text (h);
  fail_unless (g_str_has_prefix (text, "label,frame,component,"));
  g_free (text);
  gst_harness_push (h, make_surface (2, 1e-6));
  text = pull_text (h);
  fail_unless (g_str_has_prefix (text, ",1,roughness,"));
  g_free (text);
  gst_harness_teardown (h);

  h = open_encoder ("");
  gst_harness_push_event (h, gst_event_new_eos ());
  text = pull_text (h);
  fail_unless (g_str_has_suffix (text, ",sdr,sdq\n"));
  g_free (text);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_without_parameters)
{
  GstHarness *h = open_encoder ("");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  gst_harness_push (h, gst_buffer_new_allocate (NULL, 8, NULL));
  gst_harness_push_event (h, gst_event_new_eos ());
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
surfaceparamenc_suite (void)
{
  Suite *s = suite_create ("surfaceparamenc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_csv);
  tcase_add_test (tc, test_jsonl);
  tcase_add_test (tc, test_labels);
  tcase_add_test (tc, test_header);
  tcase_add_test (tc, test_without_parameters);
  return s;
}

GST_CHECK_MAIN (surfaceparamenc);
