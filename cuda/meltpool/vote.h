/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* PbfVote: the class of each frame, by the network's outputs, and the vote of the last
 * frames. cudapbfmonitor calls it for the records of each completed batch, in order. */
#pragma once

#include "cuda/meltpool/model.h"

G_BEGIN_DECLS

#define PBF_MAX_VOTE_WINDOW 65536
/* A frame is unknown if the sigmoid of the output of unknown frames reaches this. */
#define PBF_UNKNOWN_LIMIT 0.5f

typedef struct _PbfVote PbfVote;

/* The class by @n outputs: with @unknown the last one if it reaches @limit, otherwise the
 * largest of the others, of equals the first.
 * Returns: FALSE if an output is NaN */
gboolean pbf_find_class (const gfloat *outputs, guint n, gboolean unknown,
    gfloat limit, guint *class_index);

/* @window: frames that vote, 1..PBF_MAX_VOTE_WINDOW
 * @activation: of the outputs, not AUTO: whether they are probabilities
 * @unknown: the last output is that of unknown frames */
PbfVote *pbf_vote_new (
    guint window, PbfActivation activation, gboolean unknown);
/* @vote: (nullable) */
void pbf_vote_free (PbfVote *vote);
/* Forgets the frames so far, for a new stream. */
void pbf_vote_reset (PbfVote *vote);
/* Sets the fields from class_index to vote_count of the next @n records. */
void pbf_vote_apply (PbfVote *vote, CvisPbfResult *results, guint n);

G_END_DECLS
