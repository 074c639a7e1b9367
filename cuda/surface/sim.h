/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Moving surfaces with known components, for surfacetestsrc. The same
 * settings give the same bits on every machine with the same libm. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Components of a simulated surface */
typedef enum {
  SURFACE_SIM_FORM = 1 << 0,      /* a paraboloid over the field of view */
  SURFACE_SIM_WAVINESS = 1 << 1,  /* two crossed waves */
  SURFACE_SIM_ROUGHNESS = 1 << 2, /* band-limited noise */
  SURFACE_SIM_SCRATCHES = 1 << 3, /* straight grooves */
  SURFACE_SIM_ALL = (1 << 4) - 1,
} SurfaceSimParts;

/**
 * SurfaceSim: lengths and heights in metres
 * @width, @height: samples
 * @dx, @dy: spacing
 * @parts: components that are included
 * @seed: of roughness, scratches and missing points
 * @offset: added to every sample
 * @form: height of the paraboloid's centre above the corners
 * @waviness: amplitude of the larger wave; the crossing wave has half of it
 * @waviness_length: wavelength of the waves
 * @roughness: standard deviation (Sq)
 * @roughness_length: shortest wavelength, approximately; the longest is four
 *   times as long
 * @scratches: average number in a square of 512 samples
 * @scratch_depth, @scratch_width: of the deepest; width at half the depth
 * @missing: approximate share of missing points, 0..1, in patches
 * @velocity: motion in metres a frame, x and y; the form does not move
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

/* Renders rows @first .. @first + @n - 1 of frame @frame; @to is the address
 * of the first of them; NaN for missing points. @gain: factor of the
 * roughness. May be called from several threads. */
void surface_sim_render (const SurfaceSim *sim, guint64 frame, gdouble gain,
    guint first, guint n, gfloat *to, gsize stride);

G_END_DECLS
