/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisreport.h"

#include <gio/gio.h>

#include "cuda/core/error.h"

void
gst_cvis_post_error (GstElement *element, const gchar *what,
    const GstCvisRemedies *remedies, GError *error)
{
  GQuark domain = GST_LIBRARY_ERROR;
  gint code = remedies->failed_code;
  const gchar *remedy = remedies->failed;

  if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_FORMAT)) {
    domain = GST_STREAM_ERROR;
    code = remedies->format_code;
    remedy = remedies->format;
  } else if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_INVALID)) {
    code = GST_LIBRARY_ERROR_SETTINGS;
    remedy = remedies->invalid;
  } else if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_MEMORY)) {
    domain = GST_RESOURCE_ERROR;
    code = GST_RESOURCE_ERROR_NO_SPACE_LEFT;
    remedy = remedies->memory;
  }
  gst_element_message_full (element, GST_MESSAGE_ERROR, domain, code,
      g_strdup_printf ("%s %s: %s. %s",
          domain == GST_RESOURCE_ERROR ? "No memory to" : "Cannot", what,
          error->message, remedy),
      NULL, __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

void
gst_cvis_install_stats (
    GObjectClass *klass, guint id, const gchar *blurb, GCallback reset)
{
  g_object_class_install_property (klass, id,
      g_param_spec_boxed ("stats", "Statistics", blurb, GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_signal_new_class_handler ("reset-stats", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, reset, NULL, NULL, NULL, G_TYPE_NONE,
      0);
}
