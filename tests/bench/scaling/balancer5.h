/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The older fuzzy neural network with five inputs (F, M, P, UF, UM), all with sigmoid
 * memberships, for bench_balance. scripts/train-balancer --older trains it. */
#pragma once

#include "cuda/core/fleet/fuzzy.h"

G_BEGIN_DECLS

extern const CvisFuzzyNetwork bench_balancer5;

G_END_DECLS
