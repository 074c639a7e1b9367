/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/fleet/fuzzy.h"

#include <math.h>

/* of the logarithmic membership function */
#define LOG_A 5.
#define LOG_B (-3.)

static gdouble
log_membership (gdouble x)
{
  return log1p (exp (LOG_A * x + LOG_B)) / log1p (exp (LOG_A + LOG_B));
}

/* The membership of @x in the subset High. */
static gdouble
get_high (const CvisFuzzySet *set, gdouble x)
{
  gdouble high, low, zero;

  switch (set->kind) {
    case CVIS_FUZZY_SIGMOID:
      return 1 / (1 + exp (-set->slope * (x - set->centre)));
    case CVIS_FUZZY_LOG:
      return log_membership (x);
    default:
      zero = log_membership (0);
      high = log_membership (x);
      low = (log_membership (1 - x) - zero) / (1 - zero);
      return high / (high + low);
  }
}

/* The x whose membership in High is @high. */
static gdouble
invert_high (const CvisFuzzySet *set, gdouble high)
{
  if (set->kind == CVIS_FUZZY_SIGMOID)
    return set->centre + log (high / (1 - high)) / set->slope;
  return (log (expm1 (high * log1p (exp (LOG_A + LOG_B)))) - LOG_B) / LOG_A;
}

gdouble
cvis_fuzzy_evaluate (const CvisFuzzyNetwork *network, const gdouble *inputs)
{
  const CvisFuzzySet *output = &network->output;
  gdouble high[CVIS_FUZZY_N_INPUTS], degree = 0;

  /* memberships */
  for (guint i = 0; i < CVIS_FUZZY_N_INPUTS; i++)
    high[i] = get_high (
        &network->input[i], isnan (inputs[i]) ? 0 : CLAMP (inputs[i], 0, 1));
  /* the strength of a rule is the product of its memberships; the weighted strengths add
   * up to the membership of the output in High */
  for (guint r = 0; r < network->n_rules; r++) {
    const CvisFuzzyRule *rule = &network->rules[r];
    gdouble strength = 1;

    for (guint i = 0; i < CVIS_FUZZY_N_INPUTS; i++)
      if (rule->subset[i] != 0)
        strength *= rule->subset[i] == 2 ? high[i] : 1 - high[i];
    degree += rule->weight * strength;
  }
  degree =
      CLAMP (degree, get_high (output, CVIS_FUZZY_MIN), get_high (output, 1));
  return CLAMP (invert_high (output, degree), CVIS_FUZZY_MIN, 1);
}
