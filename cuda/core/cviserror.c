/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cviserror.h"

G_DEFINE_QUARK (cvis - error - quark, cvis_error)
