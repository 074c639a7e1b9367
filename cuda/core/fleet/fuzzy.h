/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fuzzy neural network that estimates the ability of a device to compute, from its traits
 * and its load (Y. Xu et al., Signal Processing 165, 2019, section 5). The balancer
 * (cuda/core/fleet/balancer.h) evaluates it; scripts/train-balancer trains it. The layers and
 * the rules are defined in docs/design/scaling.md. Pure functions, thread-safe. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The inputs, each 0..1. A trait is relative to the largest of its kind in the fleet. */
typedef enum {
  CVIS_FUZZY_F,   /* rate of floating-point operations */
  CVIS_FUZZY_M,   /* memory size */
  CVIS_FUZZY_P,   /* multiprocessors */
  CVIS_FUZZY_MS,  /* memory rate */
  CVIS_FUZZY_BC,  /* boost clock */
  CVIS_FUZZY_UF,  /* occupancy of compute */
  CVIS_FUZZY_UM,  /* occupancy of memory */
  CVIS_FUZZY_LCP, /* previous output; 0: none */
  CVIS_FUZZY_N_INPUTS,
} CvisFuzzyInput;

/* Membership functions of the subsets High and Low.
 * f (x) = ln (1 + e^(5x - 3)) / ln (1 + e^2), as printed in the paper */
typedef enum {
  CVIS_FUZZY_SIGMOID, /* High = 1 / (1 + e^(-slope (x - centre))), Low = 1 - High */
  CVIS_FUZZY_LOG,     /* High = f (x), Low = 1 - f (x) */
  CVIS_FUZZY_LOG_MIRRORED, /* High : Low = f (x) : (f (1 - x) - f (0)) / (1 - f (0)), with
                            * the sum 1 */
} CvisFuzzyKind;

typedef struct {
  CvisFuzzyKind kind;
  gdouble centre, slope; /* of SIGMOID */
} CvisFuzzySet;

typedef struct {
  guint8 subset[CVIS_FUZZY_N_INPUTS]; /* 0: not in the rule, 1: Low, 2: High */
  gdouble weight;
} CvisFuzzyRule;

typedef struct {
  CvisFuzzySet input[CVIS_FUZZY_N_INPUTS];
  CvisFuzzySet output; /* SIGMOID or LOG */
  const CvisFuzzyRule *rules;
  guint n_rules;
} CvisFuzzyNetwork;

/* The least ability; the largest is 1. */
#define CVIS_FUZZY_MIN (1. / 128)

/* The eight-input network. */
extern const CvisFuzzyNetwork cvis_fuzzy_ability;

/* @inputs: CVIS_FUZZY_N_INPUTS of them; limited to 0..1, NaN is 0
 * Returns: the ability, CVIS_FUZZY_MIN..1; only ratios of abilities have a meaning */
gdouble cvis_fuzzy_evaluate (
    const CvisFuzzyNetwork *network, const gdouble *inputs);

G_END_DECLS
