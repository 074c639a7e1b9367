/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Surfaces with known parts, that move: what surfacetestsrc shows. The same
 * settings give the same bits on every machine of one libm. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Components that a surface is the sum of */
typedef enum {
  SURFACE_SIM_FORM = 1 << 0,      /* a paraboloid over the field of view */
  SURFACE_SIM_WAVINESS = 1 << 1,  /* two crossed waves */
  SURFACE_SIM_ROUGHNESS = 1 << 2, /* noise of limited band */
  SURFACE_SIM_SCRATCHES = 1 << 3, /* straight grooves */
  SURFACE_SIM_ALL = (1 << 4) - 1,
} SurfaceSimParts;

/**
 * SurfaceSim: lengths and heights in metres
 * @width, @height: samples
 * @dx, @dy: spacing
 * @parts: what is shown
 * @seed: of roughness, scratches and missing points
 * @offset: added to every sample
 * @form: height of the paraboloid's middle over the corners
 * @waviness: amplitude of the larger wave; the one across has half of it
 * @waviness_length: of the waves
 * @roughness: its standard deviation (Sq)
 * @roughness_length: of its shortest waves about; longer ones to four times
 * @scratches: how many a square of 512 samples, on average
 * @scratch_depth, @scratch_width: of the deepest; width at half the depth
 * @missing: share of points that are missing, in patches, 0..1, about
 * @velocity: metres a frame that the surface moves by, x and y; the form stays
 */
typedef struct {
  guint width, height;
  gdouble dx, dy;
  guint parts;
  guint32 seed;
  gdouble offset;
  gdouble form;
  gdouble waviness;
  gdouble waviness_length;
  gdouble roughness;
  gdouble roughness_length;
  gdouble scratches;
  gdouble scratch_depth;
  gdouble scratch_width;
  gdouble missing;
  gdouble velocity[2];
} SurfaceSim;

void surface_sim_init (SurfaceSim *sim);

/* Rows @first .. @first + @n - 1 of frame @frame to @to, which is that of the
 * first of them; NaN where a point is missing. @gain: of the roughness.
 * May be called from several threads. */
void surface_sim_render (const SurfaceSim *sim, guint64 frame, gdouble gain,
    guint first, guint n, gfloat *to, gsize stride);

G_END_DECLS
