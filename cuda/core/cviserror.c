/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cviserror.h"

/* The hyphens are part of the name. */
/* clang-format off */
G_DEFINE_QUARK (cvis-error-quark, cvis_error)
/* clang-format on */
