/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Written by scripts/train-balancer: not to be edited.
 * Trained on runs: simulated; 240 runs, 1500 samples, seed 1, 1500 steps;
 * root mean square error of ln share 0.755 before, 0.497 after.
 * The runs are simulated: no device was measured. */
#include "balancer5.h"

/* clang-format off */

/* F, M, P, MS, BC, UF, UM, LCP; 0: not in the rule, 1: Low, 2: High */
static const CvisFuzzyRule rules[] = {
  { { 1, 0, 1, 0, 0, 1, 0, 0 }, -0.153796407 }, /* UF Low, F Low, P Low */
  { { 1, 0, 2, 0, 0, 1, 0, 0 }, -0.0534912782 }, /* UF Low, F Low, P High */
  { { 2, 0, 1, 0, 0, 1, 0, 0 }, 0.485671161 }, /* UF Low, F High, P Low */
  { { 2, 0, 2, 0, 0, 1, 0, 0 }, 2.0022043 }, /* UF Low, F High, P High */
  { { 1, 0, 1, 0, 0, 2, 0, 0 }, 0.0318831028 }, /* UF High, F Low, P Low */
  { { 1, 0, 2, 0, 0, 2, 0, 0 }, 0.0216782346 }, /* UF High, F Low, P High */
  { { 2, 0, 1, 0, 0, 2, 0, 0 }, 0.00486677351 }, /* UF High, F High, P Low */
  { { 2, 0, 2, 0, 0, 2, 0, 0 }, 0.127430928 }, /* UF High, F High, P High */
  { { 0, 1, 0, 0, 0, 0, 2, 0 }, -0.00873294288 }, /* UM High, M Low */
  { { 0, 2, 0, 0, 0, 0, 2, 0 }, -0.0205013299 }, /* UM High, M High */
};

const CvisFuzzyNetwork bench_balancer5 = {
  {
    { CVIS_FUZZY_SIGMOID, 0.684922093, 4.05261388 }, /* F */
    { CVIS_FUZZY_SIGMOID, 0.432036781, 4.04965943 }, /* M */
    { CVIS_FUZZY_SIGMOID, 0, 4.56049282 }, /* P */
    { CVIS_FUZZY_SIGMOID, 0.5, 4 }, /* MS */
    { CVIS_FUZZY_SIGMOID, 0.5, 4 }, /* BC */
    { CVIS_FUZZY_SIGMOID, 0.064728839, 8.98913305 }, /* UF */
    { CVIS_FUZZY_SIGMOID, 0.676486525, 4.43373021 }, /* UM */
    { CVIS_FUZZY_SIGMOID, 0.5, 4 }, /* LCP */
  },
  { CVIS_FUZZY_SIGMOID, 0.5, 8 }, /* CP */
  rules, G_N_ELEMENTS (rules),
};
