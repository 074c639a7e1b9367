/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Output of --json. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void json_add_string (JsonBuilder *json, const gchar *name, const gchar *value);
/* null if @value is not finite */
void json_add_double (JsonBuilder *json, const gchar *name, gdouble value);
void json_add_int (JsonBuilder *json, const gchar *name, gint64 value);
/* Prints the object on standard output, and frees @json. */
void json_print (JsonBuilder *json);

G_END_DECLS
