/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Header for applications: #include <gst/cudavision/cudavision.h> */
#pragma once

#include "cudavision-prelude.h"
#include "gstframecropmeta.h"
#include "gstmotionmeta.h"
#include "gstpbfmeta.h"
#include "gstsurfacemeta.h"
