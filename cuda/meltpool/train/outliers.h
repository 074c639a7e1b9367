/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rows that are none of the classes, made from rows that are: what the output of unknown
 * frames is trained on. Called by trainer.c. */
#pragma once

#include "cuda/meltpool/train/random.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

/* Each of the @n_out rows is one of @n standardised rows @x that is moved: away from another
 * row, or by independent numbers. */
void pbf_make_outliers (const gfloat (*x)[CVIS_PBF_N_FEATURES], gsize n,
    PbfRandomState *random, gfloat (*out)[CVIS_PBF_N_FEATURES], gsize n_out);

G_END_DECLS
