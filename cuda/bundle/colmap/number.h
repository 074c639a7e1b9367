/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers as COLMAP writes them, the %.17g of printf(). Called by texts.c and rigs.c. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define BUNDLE_MODEL_NUMBER_MAX 32 /* bytes */

/* Writes the bytes of "%.17g" in the C locale, without a final zero.
 * Returns: the end */
gchar *bundle_model_write_number (gchar *to, gdouble value);

G_END_DECLS
