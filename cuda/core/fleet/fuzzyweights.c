/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Written by scripts/train-balancer: not to be edited.
 * Trained on runs: simulated; 240 runs, 1500 samples, seed 1, 1500 steps;
 * root mean square error of ln share 0.423 before, 0.278 after.
 * The runs are simulated: no device was measured. */
#include "cuda/core/fleet/fuzzy.h"

/* clang-format off */

/* F, M, P, MS, BC, UF, UM, LCP; 0: not in the rule, 1: Low, 2: High */
static const CvisFuzzyRule rules[] = {
  { { 0, 0, 0, 0, 0, 2, 0, 1 }, 0.00469455304 }, /* UF High, LCP Low */
  { { 0, 0, 0, 0, 0, 2, 0, 2 }, 0.826139104 }, /* UF High, LCP High */
  { { 0, 0, 0, 0, 0, 1, 0, 1 }, -0.0452613107 }, /* UF Low, LCP Low */
  { { 1, 0, 0, 1, 0, 1, 0, 2 }, 1.3630566 }, /* UF Low, LCP High, F Low, MS Low */
  { { 1, 0, 0, 2, 0, 1, 0, 2 }, 1.83661887 }, /* UF Low, LCP High, F Low, MS High */
  { { 2, 0, 0, 1, 0, 1, 0, 2 }, 1.50189541 }, /* UF Low, LCP High, F High, MS Low */
  { { 2, 0, 0, 2, 0, 1, 0, 2 }, 1.85776121 }, /* UF Low, LCP High, F High, MS High */
  { { 0, 0, 1, 0, 1, 1, 0, 2 }, 1.46939283 }, /* UF Low, LCP High, P Low, BC Low */
  { { 0, 0, 1, 0, 2, 1, 0, 2 }, 1.51728619 }, /* UF Low, LCP High, P Low, BC High */
  { { 0, 0, 2, 0, 1, 1, 0, 2 }, 1.57138414 }, /* UF Low, LCP High, P High, BC Low */
  { { 0, 0, 2, 0, 2, 1, 0, 2 }, 1.72462983 }, /* UF Low, LCP High, P High, BC High */
  { { 0, 1, 0, 0, 0, 0, 2, 2 }, 0 }, /* UM High, LCP High, M Low */
  { { 0, 2, 0, 0, 0, 0, 2, 2 }, -0.0941996726 }, /* UM High, LCP High, M High */
};

const CvisFuzzyNetwork cvis_fuzzy_ability = {
  {
    { CVIS_FUZZY_SIGMOID, 0, 4.29864235 }, /* F */
    { CVIS_FUZZY_SIGMOID, 0.243202915, 8.20606978 }, /* M */
    { CVIS_FUZZY_SIGMOID, 0.55941587, 3.54500486 }, /* P */
    { CVIS_FUZZY_SIGMOID, 0.815871768, 3.98600352 }, /* MS */
    { CVIS_FUZZY_SIGMOID, 0.948780341, 4.01293184 }, /* BC */
    { CVIS_FUZZY_LOG_MIRRORED, 0, 0 }, /* UF */
    { CVIS_FUZZY_LOG_MIRRORED, 0, 0 }, /* UM */
    { CVIS_FUZZY_LOG, 0, 0 }, /* LCP */
  },
  { CVIS_FUZZY_LOG, 0, 0 }, /* CP */
  rules, G_N_ELEMENTS (rules),
};
