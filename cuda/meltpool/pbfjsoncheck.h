/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What must hold of JSON from outside before json-glib may read it: json-glib
 * recurses without a limit, keeps the last of two members of one name, takes
 * the last of several documents, and accepts comments and JavaScript. */
#pragma once

#include "cviserror.h"

G_BEGIN_DECLS

#define PBF_JSON_MAX_DEPTH 8
#define PBF_JSON_MAX_VALUES 1000000 /* about 100 MB as json-glib's nodes */

/* Checks @size bytes at @text: UTF-8, one object and nothing but white space
 * after it, nested at most PBF_JSON_MAX_DEPTH deep, at most PBF_JSON_MAX_VALUES
 * values, no name twice in an object, no comment. It does not replace the
 * parser: what else is malformed is for that to find.
 * Returns: FALSE with CVIS_ERROR_FORMAT naming the byte or the name. */
gboolean pbf_json_check (const gchar *text, gsize size, GError **error);

G_END_DECLS
