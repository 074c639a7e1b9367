/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Areal parameters of a surface, as carried by metas and messages. Part of the
 * installed library. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * CvisSurfaceParameters:
 * @n: number of points
 * @mean: of the heights, metres; all others except ssk, sku, sdr and sdq are
 *   metres too
 * @sa: arithmetical mean height
 * @sq: root mean square height
 * @sp: maximum peak height
 * @sv: maximum pit depth, positive
 * @sz: maximum height, sp + sv
 * @ssk: skewness; 0 if sq is 0
 * @sku: kurtosis (3 for a normal distribution); 0 if sq is 0
 * @sdr: developed interfacial area ratio, 0.01 = 1 %: ISO 25178-2:2021,
 *   4.4.3, with the area of D.3, Formula (D.15): each cell of four valid
 *   neighbours is split into two triangles along both diagonals, and the
 *   areas of the two splits are averaged; 0 without cells
 * @sdq: root mean square gradient, metres a metre: ISO 25178-2:2021, 4.4.2,
 *   over the same triangles, that is with forward differences; 0 without
 *   cells
 *
 * Areal field parameters of ISO 25178-2, of the heights relative to their
 * mean, over the valid points. No conformity with ISO 16610 or ISO 25178 is
 * claimed for the filters that produced the surface.
 */
typedef struct {
  guint64 n;
  gdouble mean;
  gdouble sa, sq, sp, sv, sz, ssk, sku, sdr, sdq;
} CvisSurfaceParameters;

/* Component of a surface */
typedef enum {
  CVIS_SURFACE_PART_MEASURED,  /* as measured, or reconstructed */
  CVIS_SURFACE_PART_NOISE,     /* shorter than lambda-s */
  CVIS_SURFACE_PART_ROUGHNESS, /* between lambda-s and lambda-c */
  CVIS_SURFACE_PART_WAVINESS,  /* between lambda-c and lambda-f */
  CVIS_SURFACE_PART_FORM,      /* longer than lambda-f */
  CVIS_SURFACE_PART_BANDS,     /* coefficients */
} CvisSurfacePart;

#define CVIS_SURFACE_N_PARTS 6

G_END_DECLS
