/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A build without CUDA: calls that need a device fail with the reason, and
 * functions that free CUDA objects accept NULL. */
#include <gst/check/gstcheck.h>
#include <string.h>

#include "cuda/core/jit/jit.h"
#include "gst/common/gstcviscuda.h"

static void
assert_no_device (GError **error)
{
  fail_unless (g_error_matches (*error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE));
  fail_unless (strstr ((*error)->message, "no CUDA backend") != NULL);
  g_clear_error (error);
}

GST_START_TEST (test_device)
{
  CvisDeviceInfo info;
  GError *error = NULL;

  fail_unless_equals_int (cvis_device_count (&error), 0);
  assert_no_device (&error);
  fail_if (cvis_device_info (0, &info, &error));
  assert_no_device (&error);
}
GST_END_TEST;

GST_START_TEST (test_context)
{
  gint handle = 0;
  GError *error = NULL;

  fail_unless (cvis_context_new (-1, &error) == NULL);
  assert_no_device (&error);
  fail_unless (
      cvis_context_new_wrapped (&handle, 0, NULL, NULL, &error) == NULL);
  assert_no_device (&error);
  fail_if (cvis_context_push (NULL, &error));
  assert_no_device (&error);
  fail_unless (cvis_pinned_alloc (NULL, 1, &error) == NULL);
  assert_no_device (&error);
  cvis_pinned_free (NULL, NULL);
  cvis_context_pop (NULL);
  fail_unless (cvis_context_ref (NULL) == NULL);
  cvis_context_unref (NULL);
  fail_unless_equals_int (cvis_context_get_device_id (NULL), -1);
  fail_unless (cvis_context_get_handle (NULL) == NULL);
}
GST_END_TEST;

GST_START_TEST (test_jit)
{
  static const guint one[3] = { 1, 1, 1 };
  CvisJit *jit = cvis_jit_new (NULL, "none.cu", "", NULL, 0, NULL);
  GError *error = NULL;

  fail_unless_equals_int (cvis_jit_poll (jit), CVIS_JIT_FAILED);
  fail_if (cvis_jit_wait (jit, &error));
  assert_no_device (&error);
  fail_unless (cvis_jit_get_function (jit, "none", &error) == NULL);
  assert_no_device (&error);
  fail_if (cvis_jit_launch (NULL, one, one, 0, NULL, FALSE, NULL, &error));
  assert_no_device (&error);
  fail_unless (strstr (cvis_jit_describe (jit), "no CUDA backend") != NULL);
  cvis_jit_free (jit);
}
GST_END_TEST;

GST_START_TEST (test_memory)
{
  GstElement *element = gst_pipeline_new (NULL);
  GstContext *context = gst_context_new ("gst.cuda.context", TRUE);
  GstQuery *query = gst_query_new_context ("gst.cuda.context");
  GstBuffer *buffer = gst_buffer_new ();
  const gchar *why_not = NULL;
  GError *error = NULL;
  GstVideoFrame frame;
  GstVideoInfo info;

  fail_if (gst_cvis_cuda_available (&why_not));
  fail_unless (why_not != NULL && strlen (why_not) > 10);
  fail_unless (gst_cvis_cuda_new () == NULL);
  gst_cvis_cuda_set_context (NULL, element, context, -1);
  fail_if (gst_cvis_cuda_query_context (NULL, element, query));
  gst_cvis_cuda_stop (NULL);
  gst_cvis_cuda_free (NULL);
  fail_unless (gst_cvis_cuda_stream (buffer) == NULL);
  fail_if (gst_cvis_cuda_order (buffer, NULL));
  gst_cvis_cuda_done (buffer, TRUE);

  /* caps that lead to these functions are never offered */
  gst_video_info_init (&info);
  for (guint i = 0; i < 4; i++)
    g_test_expect_message (
        "cudavision", G_LOG_LEVEL_CRITICAL, "*not be reached*");
  fail_if (gst_cvis_cuda_start (NULL, element, -1));
  fail_unless (gst_cvis_cuda_follow (NULL, buffer, -1, &error) == NULL);
  fail_unless (
      gst_cvis_cuda_pool_new (NULL, NULL, query, buffer, &error) == NULL);
  fail_if (gst_cvis_cuda_frame_map (&frame, &info, buffer, GST_MAP_READ));
  g_test_assert_expected_messages ();

  gst_buffer_unref (buffer);
  gst_query_unref (query);
  gst_context_unref (context);
  gst_object_unref (element);
}
GST_END_TEST;

static Suite *
nocuda_suite (void)
{
  Suite *s = suite_create ("nocuda");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_device);
  tcase_add_test (tc, test_context);
  tcase_add_test (tc, test_jit);
  tcase_add_test (tc, test_memory);
  return s;
}

GST_CHECK_MAIN (nocuda);
