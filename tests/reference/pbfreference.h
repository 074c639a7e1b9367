/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plain C reference implementation of the melt-pool engine: the
 * definitions of pbf40-v1 written down once more, one frame after the other
 * and one pixel after the other, for the fast backends to be compared with,
 * bit for bit. It shares with them the records, the settings and the
 * finishing formulas of cuda/meltpool/arithmetic.h, which the NumPy oracle
 * checks, and nothing else. */
#pragma once

#include "cuda/meltpool/engine.h"

typedef struct _PbfReference PbfReference;

PbfReference *pbf_reference_new (const PbfConfig *config, PbfModel *model);
void pbf_reference_free (PbfReference *ref);
void pbf_reference_frame (PbfReference *ref, const guint8 *frame, guint stride,
    const PbfFrameInfo *info, CvisPbfResult *result);
