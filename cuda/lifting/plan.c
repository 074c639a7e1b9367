/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/plan.h"

void
lwt_chain_init (LwtChain *chain)
{
  chain->n = 0;
}

void
lwt_chain_append (
    LwtChain *chain, guint width, guint height, guint levels_x, guint levels_y)
{
  if (chain->n > 0) {
    width = chain->levels[chain->n - 1].low_width;
    height = chain->levels[chain->n - 1].low_height;
  }
  for (guint i = 0; i < MAX (levels_x, levels_y); i++) {
    LwtLevel *level = &chain->levels[chain->n++];

    level->x = i < levels_x && width > 1;
    level->y = i < levels_y && height > 1;
    level->width = width;
    level->height = height;
    if (level->x)
      width = (width + 1) / 2;
    if (level->y)
      height = (height + 1) / 2;
    level->low_width = width;
    level->low_height = height;
  }
}

guint64
lwt_pad (guint length, guint levels)
{
  const guint64 grid = (guint64) 1 << levels;
  const guint64 pad = length > 0 ? (length - 1) * (grid - 1) / 2 : 0;

  return (pad + grid - 1) / grid * grid;
}
