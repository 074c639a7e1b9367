/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define LWT_F64 1
#include "cuda/lifting/cpu/lift.h"
#include "cuda/lifting/cpu/rows.h"
#include "cuda/lifting/cpu/smoothlines.h"
