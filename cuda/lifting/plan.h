/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Which levels a transform has, and how large what they take in and give out
 * is. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Levels of one axis */
#define LWT_MAX_LEVELS 16
/* Those of a chain: both axes may be done one after the other, in three
 * segments. */
#define LWT_MAX_CHAIN (3 * LWT_MAX_LEVELS)
/* Samples along an axis, with what is padded */
#define LWT_MAX_SIDE (1u << 20)

/**
 * LwtLevel:
 * @x, @y: whether rows (along x) and columns (along y) are split. An axis of one
 *   sample is not, nor scaled
 * @width, @height: of what is split
 * @low_width, @low_height: of its low band, which the next level splits
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

/* An empty chain. */
void lwt_chain_init (LwtChain *chain);
/* Appends max (@levels_x, @levels_y) levels to what @width x @height samples
 * have become: level i splits the rows if i < levels_x, the columns if i <
 * levels_y. */
void lwt_chain_append (
    LwtChain *chain, guint width, guint height, guint levels_x, guint levels_y);

/* Samples that padding adds on each side of an axis of a transform of @levels: (length -
 * 1) (2^levels - 1) / 2, rounded up to a multiple of 2^levels. */
guint64 lwt_pad (guint length, guint levels);

G_END_DECLS
