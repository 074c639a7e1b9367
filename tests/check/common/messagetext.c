/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A part of each element test: ends the test if an error, warning or info
 * message has doubled punctuation, as joined sentences get it. GStreamer logs the
 * text of each message in the category GST_ERROR_SYSTEM before it is posted. */
#include <gst/gst.h>

#include <string.h>

#define CATEGORY "GST_ERROR_SYSTEM"

static void
check_message_text (GstDebugCategory *category, GstDebugLevel level,
    const gchar *file, const gchar *function, gint line, GObject *object,
    GstDebugMessage *message, gpointer user_data)
{
  const gchar *prefix = "posting message: ", *text;

  if (strcmp (gst_debug_category_get_name (category), CATEGORY) != 0) {
    gst_debug_log_default (
        category, level, file, function, line, object, message, NULL);
    return;
  }
  text = gst_debug_message_get (message);
  if (g_str_has_prefix (text, prefix)
      && g_regex_match_simple ("\\w(\\.\\.|\\.[:;,]|[:;,?!][.:;,]"
                               "|[.:;,?] [.:;,])(\\s|$)",
          text + strlen (prefix), 0, 0)) {
    g_printerr ("doubled punctuation: %s\n", text + strlen (prefix));
    g_abort ();
  }
}

__attribute__ ((constructor)) static void
watch_message_texts (void)
{
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (check_message_text, NULL, NULL);
  gst_debug_set_threshold_for_name (CATEGORY, GST_LEVEL_INFO);
}
