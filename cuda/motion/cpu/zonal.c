/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Zonal search: from predicted vectors by diamonds, a raster where they end far
 * away, and a refinement by stars. */
#include "cuda/motion/cpu/search.h"

#define RASTER 5

typedef struct {
  MotionCpuSearch *s;
  gint32 point, distance, round; /* of the best */
} Zonal;

typedef struct {
  gint8 x, y;
} Offset;

static inline void
zonal_visit (Zonal *z, gint32 x, gint32 y, gint32 point, gint32 distance)
{
  if (!motion_search_visit (z->s, x, y))
    return;
  z->point = point;
  z->distance = distance;
  z->round = 0;
}

/* --- the reduced planes -------------------------------------------------------- */

static inline guint32
least_of (const guint32 *sads, gint32 n)
{
  guint32 least = G_MAXUINT32;

  for (gint32 i = 0; i < n; i++)
    least = MIN (least, sads[i]);
  return least;
}

static MotionPoint
find_in_pyramid (const MotionCpuSearch *s)
{
  const MotionCpuParams *params = s->params;
  gint32 size = MAX ((gint32) params->config.block_size / 4, 4);
  gint32 range = params->quarter_range;
  gsize stride = params->quarter_stride;
  gssize place = (gssize) stride * (s->y / 4) + s->x / 4;
  const guint8 *own = s->current->quarter + place;
  const guint8 *other = s->reference->quarter + place;
  guint32 *sads = s->scratch->sads;
  guint32 best = G_MAXUINT32;
  MotionPoint p = { 0, 0 };

  for (gint32 y = -range; y <= range; y++) {
    for (gint32 x = -range; x <= range; x += 64) {
      gint32 n = MIN (64, range - x + 1);

      motion_sads (own, stride, other + (gssize) stride * y + x, stride, size,
          size, G_MAXUINT64 >> (64 - n), sads);
      if (least_of (sads, n) < best) {
        best = least_of (sads, n);
        p = (MotionPoint){ x, y };
        for (gint32 i = 0; sads[i] > best; i++)
          p.x++;
      }
    }
  }
  return motion_search_clamp (s, 4 * p.x, 4 * p.y);
}

/* --- diamonds ------------------------------------------------------------------ */

static void
visit_diamond_1 (Zonal *z, MotionPoint c)
{
  zonal_visit (z, c.x, c.y - 1, 2, 1);
  zonal_visit (z, c.x - 1, c.y, 4, 1);
  zonal_visit (z, c.x + 1, c.y, 5, 1);
  zonal_visit (z, c.x, c.y + 1, 7, 1);
}

static void
visit_diamond_8 (Zonal *z, MotionPoint c, gint32 d)
{
  gint32 e = d / 2;

  zonal_visit (z, c.x, c.y - d, 2, d);
  zonal_visit (z, c.x - e, c.y - e, 1, e);
  zonal_visit (z, c.x + e, c.y - e, 3, e);
  zonal_visit (z, c.x - d, c.y, 4, d);
  zonal_visit (z, c.x + d, c.y, 5, d);
  zonal_visit (z, c.x - e, c.y + e, 6, e);
  zonal_visit (z, c.x + e, c.y + e, 8, e);
  zonal_visit (z, c.x, c.y + d, 7, d);
}

static void
visit_diamond_16 (Zonal *z, MotionPoint c, gint32 d)
{
  zonal_visit (z, c.x, c.y - d, 0, d);
  zonal_visit (z, c.x - d, c.y, 0, d);
  zonal_visit (z, c.x + d, c.y, 0, d);
  zonal_visit (z, c.x, c.y + d, 0, d);
  for (gint32 k = 1; k <= 3; k++) {
    gint32 q = k * d / 4;

    zonal_visit (z, c.x - q, c.y - (d - q), 0, d);
    zonal_visit (z, c.x + q, c.y - (d - q), 0, d);
    zonal_visit (z, c.x - q, c.y + (d - q), 0, d);
    zonal_visit (z, c.x + q, c.y + (d - q), 0, d);
  }
}

/* Diamonds of doubling size round the best, until @rounds of them in a row did
 * not find a better one. */
static void
visit_diamonds (Zonal *z, gint32 rounds)
{
  MotionPoint centre = z->s->best;
  gint32 range = (gint32) z->s->params->config.range;

  for (gint32 d = 1; d <= range; d *= 2) {
    z->round++;
    if (d == 1)
      visit_diamond_1 (z, centre);
    else if (d <= 8)
      visit_diamond_8 (z, centre, d);
    else
      visit_diamond_16 (z, centre, d);
    if (z->round >= rounds)
      return;
  }
}

/* --- the rest ------------------------------------------------------------------ */

/* The neighbours of the best that the diamond which found it left out. */
static void
visit_two_points (Zonal *z)
{
  static const Offset offsets[9][2] = {
    { { 0, 0 }, { 0, 0 } },
    { { -1, 0 }, { 0, -1 } },
    { { -1, -1 }, { 1, -1 } },
    { { 0, -1 }, { 1, 0 } },
    { { -1, 1 }, { -1, -1 } },
    { { 1, -1 }, { 1, 1 } },
    { { -1, 0 }, { 0, 1 } },
    { { -1, 1 }, { 1, 1 } },
    { { 1, 0 }, { 0, 1 } },
  };
  const Offset *two = offsets[z->point];
  MotionPoint centre = z->s->best;

  if (z->point == 0)
    return;
  zonal_visit (z, centre.x + two[0].x, centre.y + two[0].y, 0, 2);
  zonal_visit (z, centre.x + two[1].x, centre.y + two[1].y, 0, 2);
}

static void
visit_raster (Zonal *z)
{
  gint32 range = (gint32) z->s->params->config.range;

  for (gint32 y = -range; y <= range; y += RASTER)
    for (gint32 x = -range; x <= range; x += RASTER)
      zonal_visit (z, x, y, 0, RASTER);
}

static void
visit_start (Zonal *z)
{
  MotionCpuSearch *s = z->s;
  gint32 column = s->column, row = s->row;
  MotionPoint p;

  if (motion_search_prior (s, column, row, &p))
    zonal_visit (z, p.x, p.y, 0, 0);
  zonal_visit (z, 0, 0, 0, 0);
  if (motion_search_prior (s, column - 1, row, &p))
    zonal_visit (z, p.x, p.y, 0, 0);
  if (motion_search_prior (s, column + 1, row, &p))
    zonal_visit (z, p.x, p.y, 0, 0);
  if (motion_search_prior (s, column, row - 1, &p))
    zonal_visit (z, p.x, p.y, 0, 0);
  if (motion_search_prior (s, column, row + 1, &p))
    zonal_visit (z, p.x, p.y, 0, 0);
  p = find_in_pyramid (s);
  zonal_visit (z, p.x, p.y, 0, 0);
}

void
MOTION_CPU (zonal) (MotionCpuSearch *s)
{
  Zonal z = { .s = s };

  visit_start (&z);
  visit_diamonds (&z, 3);
  if (z.distance == 1) {
    z.distance = 0;
    visit_two_points (&z);
  }
  if (z.distance >= RASTER) {
    z.distance = RASTER;
    visit_raster (&z);
  }
  while (z.distance > 0) {
    z.distance = 0;
    z.point = 0;
    visit_diamonds (&z, 2);
    if (z.distance == 1) {
      z.distance = 0;
      visit_two_points (&z);
    }
  }
}
