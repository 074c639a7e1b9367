/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Priors of the positions of images in a database of COLMAP 3.10 or later. */
#pragma once

#include "cuda/bundle/colmap/model.h"

G_BEGIN_DECLS

/* Adds those of the model's images to @model. Latitude, longitude and height become
 * metres to the east, to the north and up from the first one.
 * @deviation: of positions without a covariance
 * Returns: FALSE with an error that names the file */
gboolean prior_database_read (
    BundleModel *model, const gchar *name, gdouble deviation, GError **error);

G_END_DECLS
