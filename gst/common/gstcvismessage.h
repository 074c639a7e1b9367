/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Names of elements, and of the messages that several of them post. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The name by which users know an element of this kind, such as "cudamotionest" */
static inline const gchar *
gst_cvis_element_name (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory != NULL ? GST_OBJECT_NAME (factory)
                         : G_OBJECT_TYPE_NAME (element);
}

/* Returns: (transfer full): an empty structure with the name ELEMENT-@what */
static inline GstStructure *
gst_cvis_message_structure (GstElement *element, const gchar *what)
{
  gchar *name =
      g_strdup_printf ("%s-%s", gst_cvis_element_name (element), what);
  GstStructure *structure = gst_structure_new_empty (name);

  g_free (name);
  return structure;
}

G_END_DECLS
