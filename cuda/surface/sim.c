/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/sim.h"

#include <math.h>
#include <string.h>

void
surface_sim_init (SurfaceSim *sim)
{
  *sim = (SurfaceSim){
    .width = 512,
    .height = 512,
    .dx = 1e-6,
    .dy = 1e-6,
    .parts = SURFACE_SIM_ALL,
    .form = 5e-6,
    .waviness = 4e-7,
    .waviness_length = 1.6e-4,
    .roughness = 1e-7,
    .roughness_length = 8e-6,
    .scratches = 4,
    .scratch_depth = 8e-7,
    .scratch_width = 4e-6,
  };
}

/* --- pseudo-random numbers from coordinates ------------------------------ */

/* Hashes three integers. */
static guint32
hash (guint32 seed, gint64 x, gint64 y)
{
  guint64 h = seed * 0x9e3779b97f4a7c15u;

  h ^= (guint64) x * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 30)) * 0x94d049bb133111ebu;
  h ^= (guint64) y * 0xd6e8feb86659fd93u;
  h = (h ^ (h >> 27)) * 0xbf58476d1ce4e5b9u;
  h ^= h >> 31;
  return (guint32) (h >> 32);
}

/* -1..1 */
static gdouble
knot (guint32 seed, gint64 x, gint64 y)
{
  return hash (seed, x, y) * (2.0 / 4294967295.0) - 1.0;
}

/* --- value noise: random at grid points, interpolated between them ------- */

/* Standard deviation of this noise: sqrt (1/3) at the grid points; between
 * two of them 26/35 of the variance along each axis. */
#define NOISE_DEVIATION 0.42889

static gdouble
smooth (gdouble t)
{
  return t * t * (3.0 - 2.0 * t);
}

/* Adds noise of grid @spacing along a row at (@x0, @y), multiplied by
 * @scale. */
static void
add_noise (gdouble *row, guint width, gdouble x0, gdouble y, gdouble dx,
    gdouble spacing, guint32 seed, gdouble scale)
{
  const gdouble gy = y / spacing;
  const gint64 iy = (gint64) floor (gy);
  const gdouble wy = smooth (gy - (gdouble) iy);
  gint64 cell = G_MININT64;
  gdouble left = 0.0, right = 0.0;

  for (guint x = 0; x < width; x++) {
    const gdouble gx = (x0 + x * dx) / spacing;
    const gint64 ix = (gint64) floor (gx);

    if (ix != cell) {
      cell = ix;
      left = knot (seed, ix, iy) * (1.0 - wy) + knot (seed, ix, iy + 1) * wy;
      right = knot (seed, ix + 1, iy) * (1.0 - wy)
              + knot (seed, ix + 1, iy + 1) * wy;
    }
    row[x] += scale * (left + (right - left) * smooth (gx - (gdouble) ix));
  }
}

/* Three octaves, each twice as wide and as strong as the one before. */
static void
add_roughness (
    const SurfaceSim *sim, gdouble *row, gdouble x0, gdouble y, gdouble gain)
{
  const gdouble scale = gain * sim->roughness / (NOISE_DEVIATION * sqrt (3.0));

  for (guint octave = 0; octave < 3; octave++)
    add_noise (row, sim->width, x0, y, sim->dx,
        sim->roughness_length * 0.5 * (1 << octave), sim->seed + octave, scale);
}

/* --- waves ------------------------------------------------------------------------ */

static void
add_waves (const SurfaceSim *sim, gdouble *row, gdouble x0, gdouble y)
{
  const gdouble k = 2.0 * G_PI / sim->waviness_length;

  for (guint x = 0; x < sim->width; x++) {
    const gdouble at = x0 + x * sim->dx;

    row[x] += sim->waviness
              * (sin (k * (at + 0.25 * y)) + 0.5 * sin (k * (y - 0.25 * at)));
  }
}

/* --- scratches -------------------------------------------------------------------- */

/* The surface consists of squares of this many samples with their own
 * scratches; a scratch reaches at most half a square beyond its own. */
#define SQUARE 512

typedef struct {
  gdouble x, y;         /* centre */
  gdouble cosine, sine; /* of its direction */
  gdouble length, depth;
} Scratch;

static Scratch
scratch_of (const SurfaceSim *sim, gint64 sx, gint64 sy, guint number)
{
  const guint32 seed = sim->seed + 0x5c7a7c4u + 7u * number;
  const gdouble angle = G_PI * knot (seed, sx, sy);
  const gdouble side = SQUARE * sim->dx, high = SQUARE * sim->dy;
  const Scratch scratch = {
    .x = side * ((gdouble) sx + 0.5 + 0.5 * knot (seed + 1, sx, sy)),
    .y = high * ((gdouble) sy + 0.5 + 0.5 * knot (seed + 2, sx, sy)),
    .cosine = cos (angle),
    .sine = sin (angle),
    .length = MIN (side, high) * (0.3 + 0.15 * knot (seed + 3, sx, sy)),
    .depth = sim->scratch_depth * (0.6 + 0.4 * knot (seed + 4, sx, sy)),
  };

  return scratch;
}

/* A groove with a Gaussian section and Gaussian ends. */
static void
add_scratch (const SurfaceSim *sim, const Scratch *s, gdouble *row, gdouble x0,
    gdouble y)
{
  const gdouble width = sim->scratch_width / 1.6651; /* 1/e width */
  const gdouble reach = s->length + 4.0 * width;
  const gint64 from = (gint64) ceil ((s->x - reach - x0) / sim->dx);
  const gint64 to = (gint64) floor ((s->x + reach - x0) / sim->dx);

  if (fabs (y - s->y) > reach)
    return;
  for (gint64 x = MAX (from, 0); x <= MIN (to, (gint64) sim->width - 1); x++) {
    const gdouble px = x0 + (gdouble) x * sim->dx - s->x, py = y - s->y;
    const gdouble along = fabs (px * s->cosine + py * s->sine) - s->length;
    const gdouble across = (py * s->cosine - px * s->sine) / width;
    gdouble square = across * across;

    if (along > 0.0)
      square += along * along / (width * width);
    if (square < 16.0)
      row[x] -= s->depth * exp (-square);
  }
}

static void
add_scratches (const SurfaceSim *sim, gdouble *row, gdouble x0, gdouble y)
{
  const gdouble side = SQUARE * sim->dx, high = SQUARE * sim->dy;
  const gint64 left = (gint64) floor (x0 / side) - 1;
  const gint64 right = (gint64) floor ((x0 + sim->width * sim->dx) / side) + 1;
  const gint64 middle = (gint64) floor (y / high);

  for (gint64 sy = middle - 1; sy <= middle + 1; sy++)
    for (gint64 sx = left; sx <= right; sx++) {
      const gdouble wanted =
          sim->scratches + 0.5 * knot (sim->seed + 0x5c7a7c3u, sx, sy);

      for (guint i = 0; (gdouble) i + 0.5 < wanted; i++) {
        const Scratch scratch = scratch_of (sim, sx, sy, i);

        add_scratch (sim, &scratch, row, x0, y);
      }
    }
}

/* --- rows --------------------------------------------------------------------------- */

static void
add_form (const SurfaceSim *sim, gdouble *row, guint y)
{
  const gdouble v = (2.0 * y + 1.0 - sim->height) / sim->height;

  for (guint x = 0; x < sim->width; x++) {
    const gdouble u = (2.0 * x + 1.0 - sim->width) / sim->width;

    row[x] += sim->form * (1.0 - 0.5 * (u * u + v * v));
  }
}

/* Points are missing where wide-grid noise is smallest. Its values are not
 * uniform, so the threshold is the quantile of a normal distribution. */
static void
remove_points (
    const SurfaceSim *sim, gdouble *row, gdouble *noise, gdouble x0, gdouble y)
{
  const gdouble p = MIN (sim->missing, 1.0 - sim->missing);
  const gdouble t = sqrt (-2.0 * log (MAX (p, 1e-12)));
  gdouble quantile =
      t
      - (2.515517 + 0.802853 * t + 0.010328 * t * t)
            / (1.0 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);

  if (sim->missing > 0.5)
    quantile = -quantile;
  memset (noise, 0, sim->width * sizeof (gdouble));
  for (guint octave = 0; octave < 3; octave++)
    add_noise (noise, sim->width, x0, y, sim->dx, sim->dx * (4 << octave),
        sim->seed + 0x6a09u + octave, 1.0 / (NOISE_DEVIATION * sqrt (3.0)));
  for (guint x = 0; x < sim->width; x++)
    if (sim->missing >= 1.0 || noise[x] < -quantile)
      row[x] = NAN;
}

void
surface_sim_render (const SurfaceSim *sim, guint64 frame, gdouble gain,
    guint first, guint n, gfloat *to, gsize stride)
{
  const gdouble x0 = sim->velocity[0] * (gdouble) frame;
  const gdouble y0 = sim->velocity[1] * (gdouble) frame;
  gdouble *row = g_new (gdouble, 2 * (gsize) sim->width);

  for (guint y = first; y < first + n; y++) {
    const gdouble at = y0 + y * sim->dy;

    for (guint x = 0; x < sim->width; x++)
      row[x] = sim->offset;
    if (sim->parts & SURFACE_SIM_FORM)
      add_form (sim, row, y);
    if (sim->parts & SURFACE_SIM_WAVINESS)
      add_waves (sim, row, x0, at);
    if (sim->parts & SURFACE_SIM_ROUGHNESS)
      add_roughness (sim, row, x0, at, gain);
    if (sim->parts & SURFACE_SIM_SCRATCHES)
      add_scratches (sim, row, x0, at);
    if (sim->missing > 0.0)
      remove_points (sim, row, row + sim->width, x0, at);
    for (guint x = 0; x < sim->width; x++)
      to[x] = (gfloat) row[x];
    to = (gfloat *) ((guint8 *) to + stride);
  }
  g_free (row);
}
