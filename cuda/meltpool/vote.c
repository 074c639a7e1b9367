/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/vote.h"

#include <math.h>
#include <string.h>

struct _PbfVote {
  guint window;
  gboolean probabilities, unknown;
  gfloat limit;  /* of the output of unknown frames */
  guint n, next; /* frames in @classes, and where the next one goes */
  guint counts[CVIS_PBF_MAX_OUTPUTS];
  guint8 classes[];
};

PbfVote *
pbf_vote_new (guint window, PbfActivation activation, gboolean unknown)
{
  PbfVote *vote;

  g_return_val_if_fail (window >= 1 && window <= PBF_MAX_VOTE_WINDOW, NULL);
  vote = g_malloc0 (sizeof *vote + window);
  vote->window = window;
  vote->probabilities = activation != PBF_ACTIVATION_NONE;
  vote->unknown = unknown;
  vote->limit = vote->probabilities ? PBF_UNKNOWN_LIMIT : 0;
  return vote;
}

void
pbf_vote_free (PbfVote *vote)
{
  g_free (vote);
}

void
pbf_vote_reset (PbfVote *vote)
{
  vote->n = vote->next = 0;
  memset (vote->counts, 0, sizeof vote->counts);
}

gboolean
pbf_find_class (const gfloat *outputs, guint n, gboolean unknown, gfloat limit,
    guint *class_index)
{
  const guint classes = unknown ? n - 1 : n;

  *class_index = 0;
  for (guint i = 0; i < n; i++)
    if (isnan (outputs[i]))
      return FALSE;
  for (guint i = 1; i < classes; i++)
    if (outputs[i] > outputs[*class_index])
      *class_index = i;
  if (unknown && outputs[classes] >= limit)
    *class_index = classes;
  return TRUE;
}

static void
enter_class (PbfVote *vote, guint class_index)
{
  if (vote->n == vote->window)
    vote->counts[vote->classes[vote->next]]--;
  else
    vote->n++;
  vote->classes[vote->next] = (guint8) class_index;
  vote->counts[class_index]++;
  vote->next = vote->next + 1 == vote->window ? 0 : vote->next + 1;
}

void
pbf_vote_apply (PbfVote *vote, CvisPbfResult *results, guint n)
{
  for (guint i = 0; i < n; i++) {
    CvisPbfResult *result = &results[i];
    guint found, most = 0;

    if (result->n_outputs < 2
        || !pbf_find_class (result->outputs, result->n_outputs, vote->unknown,
            vote->limit, &found))
      continue;
    enter_class (vote, found);
    for (guint k = 1; k < result->n_outputs; k++)
      if (vote->counts[k] > vote->counts[most])
        most = k;
    result->class_index = found;
    result->class_probability =
        vote->probabilities ? result->outputs[found] : 0.0f;
    result->vote_n = vote->n;
    result->vote_class = most;
    result->vote_count = vote->counts[most];
  }
}
