/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfnames.h"

#define FIELD_NAME "output-names"

void
gst_pbf_names_set (GstStructure *structure, gchar **names, guint n)
{
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint k = 0; k < n; k++) {
    GValue name = G_VALUE_INIT;

    g_value_init (&name, G_TYPE_STRING);
    g_value_set_string (&name, names[k]);
    gst_value_array_append_and_take_value (&array, &name);
  }
  gst_structure_take_value (structure, FIELD_NAME, &array);
}

gchar **
gst_pbf_names_get (const GstStructure *structure)
{
  const GValue *array = gst_structure_get_value (structure, FIELD_NAME);
  GStrvBuilder *builder;
  gchar **names = NULL;
  guint n = 0;

  if (array == NULL || !GST_VALUE_HOLDS_ARRAY (array))
    return NULL;
  builder = g_strv_builder_new ();
  for (; n < gst_value_array_get_size (array); n++) {
    const GValue *name = gst_value_array_get_value (array, n);

    if (!G_VALUE_HOLDS_STRING (name) || g_value_get_string (name) == NULL)
      break;
    g_strv_builder_add (builder, g_value_get_string (name));
  }
  if (n > 0 && n == gst_value_array_get_size (array))
    names = g_strv_builder_end (builder);
  g_strv_builder_unref (builder);
  return names;
}
