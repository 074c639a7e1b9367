/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Evaluates a fuzzy neural network for tests/oracle/fuzzy.py: reads eight inputs a line
 * and writes the ability.
 *
 *   fuzzy-dump ability|older */
#include <stdio.h>
#include <string.h>

#include "balancer5.h"

int
main (int argc, char **argv)
{
  const CvisFuzzyNetwork *network = argc > 1 && strcmp (argv[1], "older") == 0
                                        ? &bench_balancer5
                                        : &cvis_fuzzy_ability;
  gdouble x[CVIS_FUZZY_N_INPUTS];
  guint n = 0;

  while (scanf ("%lf", &x[n]) == 1)
    if (++n == CVIS_FUZZY_N_INPUTS) {
      printf ("%.17g\n", cvis_fuzzy_evaluate (network, x));
      n = 0;
    }
  return n != 0;
}
