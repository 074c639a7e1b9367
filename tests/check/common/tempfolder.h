/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Temporary folders of tests. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A new, empty folder; free with temp_folder_free(), which deletes it. */
gchar *temp_folder_new (void);
void temp_folder_free (gchar *folder);

G_END_DECLS
