/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "busmessages.h"

#include <string.h>

/* Takes @message. */
static gchar *
get_text (GstMessage *message)
{
  GError *error = NULL;
  gchar *text;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

/* Checks that parts of the text, each with its own punctuation, fit together. */
static void
check_punctuation (const gchar *text)
{
  static const gchar *const doubled[] = { "..", "?.", "!.", ":.", ",.", ";.",
    ".,", ".:", "::", ". .", "? .", ": :" };

  for (guint i = 0; i < G_N_ELEMENTS (doubled); i++)
    if (strstr (text, doubled[i]) != NULL)
      g_error ("\"%s\" has \"%s\"", text, doubled[i]);
}

static void
expect_words (gchar *text, const gchar *words)
{
  if (strstr (text, words) == NULL)
    g_error ("\"%s\" lacks \"%s\"", text, words);
  g_free (text);
}

gchar *
bus_pop_text (GstBus *bus, GstMessageType type)
{
  GstMessage *message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, type);
  gchar *text;

  if (message == NULL)
    g_error ("no %s was posted", gst_message_type_get_name (type));
  text = get_text (message);
  check_punctuation (text);
  message = gst_bus_pop_filtered (bus, type);
  if (message != NULL)
    g_error ("after \"%s\" a second %s was posted: \"%s\"", text,
        gst_message_type_get_name (type), get_text (message));
  return text;
}

void
bus_expect (GstBus *bus, GstMessageType type, const gchar *words)
{
  expect_words (bus_pop_text (bus, type), words);
}

void
bus_expect_error (GstBus *bus, const gchar *words)
{
  bus_expect (bus, GST_MESSAGE_ERROR, words);
}

void
bus_expect_first (const gchar *line, GstMessageType type, const gchar *words)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);
  GstMessage *message;
  GstBus *bus;

  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND,
      GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_EOS);
  if (message == NULL)
    g_error ("nothing was posted: %s", line);
  if (GST_MESSAGE_TYPE (message) != type)
    g_error ("%s, not %s, was posted: %s", GST_MESSAGE_TYPE_NAME (message),
        gst_message_type_get_name (type), line);
  if (type == GST_MESSAGE_EOS)
    gst_message_unref (message);
  else
    expect_words (get_text (message), words);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
