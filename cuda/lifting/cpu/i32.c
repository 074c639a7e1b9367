/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define LWT_I32 1
#include "cuda/lifting/cpu/lift.h"
