/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers of a surface as metas and messages carry them. Part of the installed
 * library. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * SurfaceParameters:
 * @n: points
 * @mean: of the heights, in metres like all but ssk, sku, sdr and sdq
 * @sa: arithmetical mean height
 * @sq: root mean square height
 * @sp: maximum peak height
 * @sv: maximum pit depth, positive
 * @sz: maximum height, sp + sv
 * @ssk: skewness; 0 where sq is 0, as is
 * @sku: kurtosis (3 for a normal distribution)
 * @sdr: developed interfacial area ratio, 0.01 = 1 %: ISO 25178-2:2021, 4.4.3,
 *   with the area of D.3, Formula (D.15): each cell of four neighbours that are
 *   there is split into two triangles along both diagonals, and the areas of the
 *   two splits are averaged
 * @sdq: root mean square gradient, metres a metre: ISO 25178-2:2021, 4.4.2, over
 *   the same triangles, so of forward differences; 0 as @sdr without cells
 *
 * Areal field parameters of ISO 25178-2, of the heights relative to their mean,
 * over the points that are there. No conformity with ISO 16610 or ISO 25178 is
 * claimed for the filters that made the surface.
 */
typedef struct {
  guint64 n;
  gdouble mean;
  gdouble sa, sq, sp, sv, sz, ssk, sku, sdr, sdq;
} SurfaceParameters;

/* Component of a surface */
typedef enum {
  SURFACE_PART_MEASURED,  /* as measured, or put together again */
  SURFACE_PART_NOISE,     /* shorter than lambda-s */
  SURFACE_PART_ROUGHNESS, /* between lambda-s and lambda-c */
  SURFACE_PART_WAVINESS,  /* between lambda-c and lambda-f */
  SURFACE_PART_FORM,      /* longer than lambda-f */
  SURFACE_PART_BANDS,     /* coefficients */
} SurfacePart;

#define SURFACE_N_PARTS 6

G_END_DECLS
