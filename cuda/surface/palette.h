/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Maps heights to colour indices. Compiled once for each instruction set;
 * all give the same result. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SURFACE_N_COLOURS 256 /* index 256: missing point */

/**
 * SurfaceSpan: range of some heights, and the heights in two sub-ranges
 * @min, @max: of the finite heights
 * @count: number of finite heights
 * @below: number of heights below each sub-range
 * @kept, @n_kept, @room: heights within each sub-range, from its first
 *   height up to, not including, its last; @n_kept counts all of them, also
 *   those beyond @room, which are not stored
 */
typedef struct {
  gfloat min, max;
  gsize count;
  gsize below[2];
  gfloat *kept[2];
  gsize n_kept[2];
  gsize room;
} SurfaceSpan;

typedef struct {
  /* Adds @n heights to @span. @ranges: first and last height of each
   * sub-range */
  void (*span) (
      const gfloat *z, gsize n, const gfloat ranges[2][2], SurfaceSpan *span);
  /* Colour indices (z - @from) * @scale + @first, in FP64, clamped to 0..255;
   * SURFACE_N_COLOURS for heights that are not finite */
  void (*number) (const gfloat *z, gsize n, gdouble from, gdouble scale,
      gdouble first, guint16 *number);
  /* Pixels of @n colours. @bytes: of all colours; the first @step (3 or 4)
   * bytes in memory of each are used */
  void (*put) (const guint16 *number, gsize n, const guint32 *bytes, guint step,
      guint8 *to);
} SurfacePalette;

extern const SurfacePalette surface_palette_generic;
extern const SurfacePalette surface_palette_v3;
extern const SurfacePalette surface_palette_v4;

/* The palette functions for this processor. */
const SurfacePalette *surface_palette (void);

G_END_DECLS
