/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Class and vote: compared with a count over the last records; frames without a class;
 * batches of any size. */
#include "cuda/meltpool/vote.h"

#include <math.h>

#define N 3000

static CvisPbfResult *
random_results (guint outputs)
{
  CvisPbfResult *results = g_new0 (CvisPbfResult, N);
  GRand *rand = g_rand_new_with_seed (outputs);

  for (guint i = 0; i < N; i++) {
    if (g_rand_int_range (rand, 0, 5) == 0)
      continue; /* an empty frame */
    results[i].n_outputs = outputs;
    for (guint k = 0; k < outputs; k++)
      results[i].outputs[k] = (gfloat) g_rand_int_range (rand, 0, 10) / 10;
    if (g_rand_int_range (rand, 0, 20) == 0)
      results[i].outputs[g_rand_int_range (rand, 0, outputs)] = NAN;
  }
  g_rand_free (rand);
  return results;
}

/* @unknown: whether the last output is that of unknown frames, from 0.5 on */
static gboolean
has_class (const CvisPbfResult *result, gboolean unknown, guint *found)
{
  const guint last = result->n_outputs - 1;

  *found = 0;
  for (guint k = 0; k < result->n_outputs; k++) {
    if (isnan (result->outputs[k]))
      return FALSE;
    if (result->outputs[k] > result->outputs[*found] && !(unknown && k == last))
      *found = k;
  }
  if (result->n_outputs >= 2 && unknown && result->outputs[last] >= 0.5f)
    *found = last;
  return result->n_outputs >= 2;
}

static void
check_result (
    const CvisPbfResult *results, guint i, guint window, gboolean unknown)
{
  const CvisPbfResult *result = &results[i];
  guint counts[CVIS_PBF_MAX_OUTPUTS] = { 0 }, n = 0, class_index, most = 0;

  if (!has_class (result, unknown, &class_index)) {
    g_assert_cmpuint (result->vote_n, ==, 0);
    g_assert_cmpuint (result->vote_count, ==, 0);
    return;
  }
  g_assert_cmpuint (result->class_index, ==, class_index);
  g_assert_true (result->class_probability == result->outputs[class_index]);
  for (guint back = 0; back <= i && n < window; back++)
    if (has_class (&results[i - back], unknown, &class_index)) {
      counts[class_index]++;
      n++;
    }
  for (guint k = 0; k < CVIS_PBF_MAX_OUTPUTS; k++)
    if (counts[k] > counts[most])
      most = k;
  g_assert_cmpuint (result->vote_n, ==, n);
  g_assert_cmpuint (result->vote_class, ==, most);
  g_assert_cmpuint (result->vote_count, ==, counts[most]);
}

static void
test_counts (void)
{
  static const guint windows[] = { 1, 2, 7, 100, 2900 };

  for (guint w = 0; w < G_N_ELEMENTS (windows); w++)
    for (guint outputs = 1; outputs <= CVIS_PBF_MAX_OUTPUTS; outputs += 3) {
      const gboolean unknown = outputs > 2 && w % 2 == 1;
      CvisPbfResult *results = random_results (outputs);
      PbfVote *vote =
          pbf_vote_new (windows[w], PBF_ACTIVATION_SOFTMAX, unknown);

      for (guint i = 0, n; i < N; i += n) {
        n = MIN (1 + i % 37, N - i);
        pbf_vote_apply (vote, results + i, n);
      }
      for (guint i = 0; i < N; i++)
        check_result (results, i, windows[w], unknown);
      pbf_vote_free (vote);
      g_free (results);
    }
}

/* Without probabilities the limit is that of the logarithm of the odds. */
static void
test_unknown (void)
{
  CvisPbfResult results[2] = { { .n_outputs = 3, .outputs = { -2, -1, -0.5f } },
    { .n_outputs = 3, .outputs = { 4, 3, 0 } } };
  PbfVote *vote = pbf_vote_new (10, PBF_ACTIVATION_NONE, TRUE);

  pbf_vote_apply (vote, results, 2);
  g_assert_cmpuint (results[0].class_index, ==, 1);
  g_assert_cmpuint (results[1].class_index, ==, 2);
  pbf_vote_free (vote);
}

static void
test_reset (void)
{
  CvisPbfResult *results = random_results (3);
  PbfVote *vote = pbf_vote_new (100, PBF_ACTIVATION_NONE, FALSE);

  pbf_vote_apply (vote, results, 500);
  for (guint i = 0; i < 500; i++)
    g_assert_true (results[i].class_probability == 0);
  pbf_vote_reset (vote);
  pbf_vote_apply (vote, results + 500, 500);
  for (guint i = 500; i < 1000; i++)
    if (results[i].vote_n > 0) {
      g_assert_cmpuint (results[i].vote_n, ==, 1);
      break;
    }
  pbf_vote_free (vote);
  g_free (results);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfvote/counts", test_counts);
  g_test_add_func ("/pbfvote/unknown", test_unknown);
  g_test_add_func ("/pbfvote/reset", test_reset);
  return g_test_run ();
}
