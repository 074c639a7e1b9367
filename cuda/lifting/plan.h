/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Levels of a transform, and sizes of its pictures and bands. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Largest number of levels of an axis */
#define LWT_MAX_LEVELS 16
/* Largest number of levels of a chain: both axes may be split one after the
 * other, in three segments. */
#define LWT_MAX_CHAIN (3 * LWT_MAX_LEVELS)
/* Largest number of samples along an axis, with padding */
#define LWT_MAX_SIDE (1u << 20)

/**
 * LwtLevel:
 * @x, @y: whether rows (along x) and columns (along y) are split. An axis of
 *   one sample is neither split nor scaled
 * @width, @height: of the input
 * @low_width, @low_height: of its low band, the input of the next level
 */
typedef struct {
  gboolean x, y;
  guint width, height;
  guint low_width, low_height;
} LwtLevel;

typedef struct {
  guint n;
  LwtLevel levels[LWT_MAX_CHAIN];
} LwtChain;

/* Makes an empty chain. */
void lwt_chain_init (LwtChain *chain);
/* Appends max (@levels_x, @levels_y) levels to the chain, whose input has
 * @width x @height samples: level i splits the rows if i < levels_x, the
 * columns if i < levels_y. */
void lwt_chain_append (
    LwtChain *chain, guint width, guint height, guint levels_x, guint levels_y);

/* Samples of padding on each side of an axis for a transform of @levels:
 * (length - 1) (2^levels - 1) / 2, rounded up to a multiple of 2^levels. */
guint64 lwt_pad (guint length, guint levels);

G_END_DECLS
