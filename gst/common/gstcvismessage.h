/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Names of the messages that several elements post. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns: (transfer full): an empty structure with the name ELEMENT-@what */
static inline GstStructure *
gst_cvis_message_structure (GstElement *element, const gchar *what)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  gchar *name = g_strdup_printf ("%s-%s",
      factory != NULL ? GST_OBJECT_NAME (factory)
                      : G_OBJECT_TYPE_NAME (element),
      what);
  GstStructure *structure = gst_structure_new_empty (name);

  g_free (name);
  return structure;
}

G_END_DECLS
