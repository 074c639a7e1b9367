/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights to numbers of colours: the loops over samples. Compiled once for each
 * instruction set; all give the same. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SURFACE_N_COLOURS 256 /* number 256: the point is missing */

/**
 * SurfaceSpan: what some heights span, and those of them in two ranges
 * @min, @max: of the finite ones
 * @count: finite ones
 * @below: how many lie below each range
 * @kept, @n_kept, @room: those within each range, from its first height up to
 *   before its last; @n_kept may become greater than @room: what has none is left
 *   out
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
  /* Adds @n heights to @span. @ranges: first and last height of each */
  void (*span) (
      const gfloat *z, gsize n, const gfloat ranges[2][2], SurfaceSpan *span);
  /* (z - @from) * @scale + @first, in FP64, held within 0..255 */
  void (*number) (const gfloat *z, gsize n, gdouble from, gdouble scale,
      gdouble first, guint16 *number);
  /* The pixels of @n colours. @bytes: of all colours, the first @step (3 or 4)
   * bytes in memory of each count */
  void (*put) (const guint16 *number, gsize n, const guint32 *bytes, guint step,
      guint8 *to);
} SurfacePalette;

extern const SurfacePalette surface_palette_generic;
extern const SurfacePalette surface_palette_v3;
extern const SurfacePalette surface_palette_v4;

/* The palette functions for this processor. */
const SurfacePalette *surface_palette (void);

G_END_DECLS
