/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Output of --json. Called by all subcommands. */
#include "json.h"

#include <math.h>

void
json_add_string (JsonBuilder *json, const gchar *name, const gchar *value)
{
  json_builder_set_member_name (json, name);
  if (value != NULL) {
    gchar *valid = g_utf8_make_valid (value, -1);

    json_builder_add_string_value (json, valid);
    g_free (valid);
  } else {
    json_builder_add_null_value (json);
  }
}

void
json_add_double (JsonBuilder *json, const gchar *name, gdouble value)
{
  json_builder_set_member_name (json, name);
  if (isfinite (value))
    json_builder_add_double_value (json, value);
  else
    json_builder_add_null_value (json);
}

void
json_add_int (JsonBuilder *json, const gchar *name, gint64 value)
{
  json_builder_set_member_name (json, name);
  json_builder_add_int_value (json, value);
}

void
json_print (JsonBuilder *json)
{
  JsonNode *root = json_builder_get_root (json);
  gchar *text = json_to_string (root, TRUE);

  g_print ("%s\n", text);
  g_free (text);
  json_node_unref (root);
  g_object_unref (json);
}
