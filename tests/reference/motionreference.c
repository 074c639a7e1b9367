/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionreference.h"

#include <stdlib.h>

#include "cuda/motion/arithmetic.h"
#include "motionsamples.h"

/* --- pictures ---------------------------------------------------------------- */

MotionPicture *
motion_picture_new (const MotionConfig *config, const MotionJob *job)
{
  MotionPicture *p = g_new0 (MotionPicture, 1);
  guint most = (1u << config->depth) - 1;

  p->width = config->width;
  p->height = config->height;
  p->depth = config->depth;
  p->full = g_new (guint16, p->width * p->height);
  p->search = g_new (guint16, p->width * p->height);
  for (guint y = 0; y < p->height; y++) {
    const guint n = config->sampling, middle = n / 2;
    const guint8 *row = job->luma + (y * n + middle) * job->stride;

    for (guint x = 0; x < p->width; x++) {
      const guint at = x * n + middle;
      guint value =
          config->depth == 8 ? row[at] : row[2 * at] | row[2 * at + 1] << 8;
      guint sample = (value >> job->shift) & most;

      p->full[y * p->width + x] = (guint16) sample;
      p->search[y * p->width + x] = (guint16) (sample >> (config->depth - 8));
    }
  }
  return p;
}

void
motion_picture_free (MotionPicture *picture)
{
  if (picture == NULL)
    return;
  g_free (picture->full);
  g_free (picture->search);
  g_free (picture);
}

/* --- a block and its visited candidates ---------------------------------- */

typedef struct {
  gint32 x, y;
} Point;

/* State of a block's search; points are whole pixels. */
typedef struct {
  const MotionConfig *config;
  const MotionPicture *current, *reference;
  gint32 x, y, w, h;
  MotionRect rect;
  Point prior; /* quarter pixels */

  gboolean any; /* best is set */
  gboolean two; /* second is set */
  Point best, second;
  guint32 best_cost, second_cost;

  gint32 point_nr, best_dist, best_round; /* state of the zonal search */
} Search;

static guint32
sad_at (const Search *s, const Plane *current, const Plane *reference,
    gint32 qx, gint32 qy)
{
  guint32 sum = 0;

  for (gint32 y = s->y; y < s->y + s->h; y++)
    for (gint32 x = s->x; x < s->x + s->w; x++)
      sum +=
          (guint32) ABS (sample (current, x, y)
                         - sample_between (reference, 4 * x + qx, 4 * y + qy));
  return sum;
}

static guint32
get_bits (const Search *s, gint32 qx, gint32 qy)
{
  return motion_bits (qx - s->prior.x) + motion_bits (qy - s->prior.y);
}

/* J on 8 bits at (@qx, @qy) quarter pixels */
static guint32
search_cost (const Search *s, gint32 qx, gint32 qy)
{
  Plane current = search_plane (s->current);
  Plane reference = search_plane (s->reference);

  return sad_at (s, &current, &reference, qx, qy)
         + s->config->lambda * get_bits (s, qx, qy);
}

static guint32
full_sad (const Search *s, gint32 qx, gint32 qy)
{
  Plane current = full_plane (s->current);
  Plane reference = full_plane (s->reference);

  return sad_at (s, &current, &reference, qx, qy);
}

/* J in full depth; that of the field is the SAD. */
static guint32
full_cost (const Search *s, gint32 qx, gint32 qy)
{
  guint32 unit = 1u << (s->config->depth - 8);

  if (s->config->method == MOTION_METHOD_FIELD)
    return full_sad (s, qx, qy);
  return full_sad (s, qx, qy) + unit * s->config->lambda * get_bits (s, qx, qy);
}

static gboolean
is_candidate (const Search *s, gint32 dx, gint32 dy)
{
  return dx >= s->rect.left && dx <= s->rect.right && dy >= s->rect.top
         && dy <= s->rect.bottom;
}

/* Returns: whether it is the new best */
static gboolean
visit (Search *s, gint32 dx, gint32 dy)
{
  guint32 cost;

  if (!is_candidate (s, dx, dy)
      || (s->any && dx == s->best.x && dy == s->best.y))
    return FALSE;
  cost = search_cost (s, 4 * dx, 4 * dy);
  if (!s->any || cost < s->best_cost) {
    s->two = s->any;
    s->second = s->best;
    s->second_cost = s->best_cost;
    s->any = TRUE;
    s->best = (Point){ dx, dy };
    s->best_cost = cost;
    return TRUE;
  }
  if (!s->two || cost < s->second_cost) {
    s->two = TRUE;
    s->second = (Point){ dx, dy };
    s->second_cost = cost;
  }
  return FALSE;
}

/* --- full search ---------------------------------------------------------------- */

static gint
compare_short (gconstpointer a, gconstpointer b)
{
  const Point *p = a, *q = b;
  gint32 lp = p->x * p->x + p->y * p->y, lq = q->x * q->x + q->y * q->y;

  return lp != lq ? lp - lq : p->y != q->y ? p->y - q->y : p->x - q->x;
}

static void
search_full (Search *s)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (Point));

  for (gint32 dy = s->rect.top; dy <= s->rect.bottom; dy++) {
    for (gint32 dx = s->rect.left; dx <= s->rect.right; dx++) {
      Point p = { dx, dy };

      g_array_append_val (points, p);
    }
  }
  if (s->config->tie == MOTION_TIE_SHORT)
    g_array_sort (points, compare_short);
  for (guint i = 0; i < points->len; i++) {
    Point p = g_array_index (points, Point, i);

    visit (s, p.x, p.y);
  }
  g_array_unref (points);
}

/* --- step search ----------------------------------------------------------------- */

static void
search_step (Search *s)
{
  MotionGranularity granularity = s->config->granularity;
  gint32 h = motion_step_half (granularity);
  gint32 spacing = motion_step_first (granularity, s->config->range);

  visit (s, 0, 0);
  while (spacing > 0) {
    Point c = s->best;

    for (gint32 j = -h; j <= h; j++)
      for (gint32 i = -h; i <= h; i++)
        if (i != 0 || j != 0)
          visit (s, c.x + i * spacing, c.y + j * spacing);
    spacing = motion_step_next (granularity, spacing);
  }
}

/* --- zonal search ----------------------------------------------------------------- */

static void
try_point (Search *s, gint32 dx, gint32 dy, gint32 point_nr, gint32 distance)
{
  if (visit (s, dx, dy)) {
    s->point_nr = point_nr;
    s->best_dist = distance;
    s->best_round = 0;
  }
}

static void
diamond (Search *s, Point c, gint32 d)
{
  gint32 e = d / 2;

  s->best_round++;
  if (d == 1) {
    try_point (s, c.x, c.y - 1, 2, 1);
    try_point (s, c.x - 1, c.y, 4, 1);
    try_point (s, c.x + 1, c.y, 5, 1);
    try_point (s, c.x, c.y + 1, 7, 1);
  } else if (d <= 8) {
    try_point (s, c.x, c.y - d, 2, d);
    try_point (s, c.x - e, c.y - e, 1, e);
    try_point (s, c.x + e, c.y - e, 3, e);
    try_point (s, c.x - d, c.y, 4, d);
    try_point (s, c.x + d, c.y, 5, d);
    try_point (s, c.x - e, c.y + e, 6, e);
    try_point (s, c.x + e, c.y + e, 8, e);
    try_point (s, c.x, c.y + d, 7, d);
  } else {
    try_point (s, c.x, c.y - d, 0, d);
    try_point (s, c.x - d, c.y, 0, d);
    try_point (s, c.x + d, c.y, 0, d);
    try_point (s, c.x, c.y + d, 0, d);
    for (gint32 k = 1; k <= 3; k++) {
      gint32 q = k * d / 4;

      try_point (s, c.x - q, c.y - (d - q), 0, d);
      try_point (s, c.x + q, c.y - (d - q), 0, d);
      try_point (s, c.x - q, c.y + (d - q), 0, d);
      try_point (s, c.x + q, c.y + (d - q), 0, d);
    }
  }
}

static void
two_points (Search *s)
{
  static const Point points[9][2] = {
    { { 0, 0 }, { 0, 0 } }, /* there is no point 0 */
    { { -1, 0 }, { 0, -1 } },
    { { -1, -1 }, { 1, -1 } },
    { { 0, -1 }, { 1, 0 } },
    { { -1, 1 }, { -1, -1 } },
    { { 1, -1 }, { 1, 1 } },
    { { -1, 0 }, { 0, 1 } },
    { { -1, 1 }, { 1, 1 } },
    { { 1, 0 }, { 0, 1 } },
  };
  Point c = s->best;
  gint32 nr = s->point_nr;

  for (guint k = 0; k < 2; k++)
    try_point (s, c.x + points[nr][k].x, c.y + points[nr][k].y, 0, 2);
}

/* A sample of the picture reduced by four */
static gint32
reduced (const MotionPicture *picture, gint32 x, gint32 y)
{
  Plane p = search_plane (picture);
  gint32 width = (p.width + 3) / 4, height = (p.height + 3) / 4;
  gint32 sum = 0;

  x = motion_clamp (x, 0, width - 1);
  y = motion_clamp (y, 0, height - 1);
  for (gint32 j = 0; j < 4; j++)
    for (gint32 i = 0; i < 4; i++)
      sum += sample (&p, 4 * x + i, 4 * y + j);
  return (sum + 8) >> 4;
}

static Point
find_in_pyramid (const Search *s)
{
  gint32 q = MAX ((gint32) s->config->block_size / 4, 4);
  gint32 r = MAX ((gint32) s->config->range / 4, 1);
  guint32 least = G_MAXUINT32;
  Point best = { 0, 0 };

  for (gint32 dy = -r; dy <= r; dy++) {
    for (gint32 dx = -r; dx <= r; dx++) {
      guint32 sum = 0;

      for (gint32 j = 0; j < q; j++) {
        for (gint32 i = 0; i < q; i++) {
          gint32 x = s->x / 4 + i, y = s->y / 4 + j;

          sum += (guint32) ABS (reduced (s->current, x, y)
                                - reduced (s->reference, x + dx, y + dy));
        }
      }
      if (sum < least) {
        least = sum;
        best = (Point){ dx, dy };
      }
    }
  }
  return (Point){ motion_clamp (4 * best.x, s->rect.left, s->rect.right),
    motion_clamp (4 * best.y, s->rect.top, s->rect.bottom) };
}

/* The prior vector of the block at (@column, @row), if it exists */
static void
try_prior (Search *s, const CvisMotionVector *prior, gint32 column, gint32 row)
{
  gint32 columns = (gint32) motion_config_get_columns (s->config);
  gint32 rows = (gint32) motion_config_get_rows (s->config);
  const CvisMotionVector *v;

  if (prior == NULL || column < 0 || column >= columns || row < 0
      || row >= rows)
    return;
  v = &prior[row * columns + column];
  try_point (s, motion_clamp (motion_whole (v->x), s->rect.left, s->rect.right),
      motion_clamp (motion_whole (v->y), s->rect.top, s->rect.bottom), 0, 0);
}

static void
search_zonal (Search *s, const CvisMotionVector *prior)
{
  gint32 range = (gint32) s->config->range;
  gint32 column = s->x / (gint32) s->config->block_size;
  gint32 row = s->y / (gint32) s->config->block_size;
  Point c;

  /* 1 */
  try_prior (s, prior, column, row);
  try_point (s, 0, 0, 0, 0);
  try_prior (s, prior, column - 1, row);
  try_prior (s, prior, column + 1, row);
  try_prior (s, prior, column, row - 1);
  try_prior (s, prior, column, row + 1);
  c = find_in_pyramid (s);
  try_point (s, c.x, c.y, 0, 0);
  /* 2 */
  c = s->best;
  for (gint32 d = 1; d <= range; d *= 2) {
    diamond (s, c, d);
    if (s->best_round >= 3)
      break;
  }
  /* 3 */
  if (s->best_dist == 1) {
    s->best_dist = 0;
    two_points (s);
  }
  /* 4 */
  if (s->best_dist >= 5) {
    s->best_dist = 5;
    for (gint32 dy = -range; dy <= range; dy += 5)
      for (gint32 dx = -range; dx <= range; dx += 5)
        try_point (s, dx, dy, 0, 5);
  }
  /* 5 */
  while (s->best_dist > 0) {
    c = s->best;
    s->best_dist = 0;
    s->point_nr = 0;
    for (gint32 d = 1; d <= range; d *= 2) {
      diamond (s, c, d);
      if (s->best_round >= 2)
        break;
    }
    if (s->best_dist == 1) {
      s->best_dist = 0;
      if (s->point_nr != 0)
        two_points (s);
    }
  }
}

/* --- subpixel refinement, and the measures of a block -------------------- */

/* Tests the eight neighbours of (@x, @y) at @spacing quarter pixels. @cost:
 * J of (x, y), then of the new position */
static void
refine (const Search *s, gint32 *x, gint32 *y, guint32 *cost, gint32 spacing)
{
  gint32 cx = *x, cy = *y;

  for (gint32 j = -1; j <= 1; j++) {
    for (gint32 i = -1; i <= 1; i++) {
      gint32 qx = cx + i * spacing, qy = cy + j * spacing;
      guint32 there;

      if ((i == 0 && j == 0) || qx < 4 * s->rect.left || qx > 4 * s->rect.right
          || qy < 4 * s->rect.top || qy > 4 * s->rect.bottom)
        continue;
      there = search_cost (s, qx, qy);
      if (there < *cost) {
        *cost = there;
        *x = qx;
        *y = qy;
      }
    }
  }
}

static guint32
intra (const Search *s)
{
  Plane p = full_plane (s->current);
  guint32 sum = 0, area = (guint32) (s->w * s->h), deviation = 0;
  gint32 middle;

  for (gint32 y = s->y; y < s->y + s->h; y++)
    for (gint32 x = s->x; x < s->x + s->w; x++)
      sum += (guint32) sample (&p, x, y);
  middle = (gint32) ((sum + area / 2) / area);
  for (gint32 y = s->y; y < s->y + s->h; y++)
    for (gint32 x = s->x; x < s->x + s->w; x++)
      deviation += (guint32) ABS (sample (&p, x, y) - middle);
  return deviation;
}

static guint32
sum_squares (const Search *s, gint32 qx, gint32 qy)
{
  Plane current = full_plane (s->current);
  Plane reference = full_plane (s->reference);
  guint32 sum = 0;

  for (gint32 y = s->y; y < s->y + s->h; y++) {
    for (gint32 x = s->x; x < s->x + s->w; x++) {
      gint32 d = sample (&current, x, y)
                 - sample_between (&reference, 4 * x + qx, 4 * y + qy);

      sum += (guint32) (d * d);
    }
  }
  return sum;
}

static void
report (const Search *s, gint32 x, gint32 y, CvisMotionVector *vector,
    CvisMotionBlock *block)
{
  *vector = (CvisMotionVector){
    .x = (gint16) x,
    .y = (gint16) y,
    .cost = full_cost (s, x, y),
  };
  *block = (CvisMotionBlock){
    .sad = full_sad (s, x, y),
    .zero_sad = full_sad (s, 0, 0),
    .second =
        s->two ? full_cost (s, 4 * s->second.x, 4 * s->second.y) : G_MAXUINT32,
    .intra = intra (s),
    .sse = sum_squares (s, x, y),
  };
  block->flags = motion_block_flags (
      s->config, (guint32) s->w, (guint32) s->h, vector, block);
}

/* The results of method=field. */
static void
report_field (const Search *s, const MotionFieldVector *found,
    const MotionFieldEvidence *evidence, CvisMotionVector *vector,
    CvisMotionBlock *block)
{
  report (s, found->x, found->y, vector, block);
  block->flags = motion_field_flags (s->config, (guint32) s->w, (guint32) s->h,
      vector, block, motion_field_confidence (evidence), evidence->noise);
}

static void
search_block (Search *s, const CvisMotionVector *prior,
    CvisMotionVector *vector, CvisMotionBlock *block)
{
  gint32 x, y;
  guint32 cost;

  switch (s->config->method) {
    case MOTION_METHOD_FULL:
    case MOTION_METHOD_FULL_BRUTE:
      search_full (s);
      break;
    case MOTION_METHOD_STEP:
      search_step (s);
      break;
    case MOTION_METHOD_ZONAL:
      search_zonal (s, prior);
      break;
    case MOTION_METHOD_FIELD:
      g_assert_not_reached ();
  }
  x = 4 * s->best.x;
  y = 4 * s->best.y;
  cost = s->best_cost;
  if (s->config->subpel != MOTION_SUBPEL_NONE)
    refine (s, &x, &y, &cost, 2);
  if (s->config->subpel == MOTION_SUBPEL_QUARTER)
    refine (s, &x, &y, &cost, 1);
  report (s, x, y, vector, block);
}

void
motion_reference_search (const MotionConfig *config,
    const MotionPicture *current, const MotionPicture *reference,
    const CvisMotionVector *prior, CvisMotionVector *vectors,
    CvisMotionBlock *blocks)
{
  gint32 size = (gint32) config->block_size;
  gint32 columns = (gint32) motion_config_get_columns (config);
  gint32 rows = (gint32) motion_config_get_rows (config);
  MotionFieldVector *found = NULL;
  MotionFieldEvidence *evidence = NULL;

  if (config->method == MOTION_METHOD_FIELD) {
    found = g_new (MotionFieldVector, (gsize) (columns * rows));
    evidence = g_new (MotionFieldEvidence, (gsize) (columns * rows));
    motion_reference_field (config, current, reference, found, evidence);
  }
  for (gint32 i = 0; i < columns * rows; i++) {
    Search s = {
      .config = config,
      .current = current,
      .reference = reference,
      .x = i % columns * size,
      .y = i / columns * size,
    };

    s.w = MIN (size, (gint32) config->width - s.x);
    s.h = MIN (size, (gint32) config->height - s.y);
    s.rect = motion_candidates (config, s.x, s.y, s.w, s.h);
    if (prior)
      s.prior = (Point){ prior[i].x, prior[i].y };
    if (found)
      report_field (&s, &found[i], &evidence[i], &vectors[i], &blocks[i]);
    else
      search_block (&s, prior, &vectors[i], &blocks[i]);
  }
  g_free (found);
  g_free (evidence);
}

/* --- prediction and residual ------------------------------------------------------ */

void
motion_reference_predict (const MotionConfig *config,
    const MotionPicture *current, const MotionPicture *const *references,
    const MotionField *fields, guint n_fields, guint16 *prediction,
    guint16 *residual)
{
  gint32 size = (gint32) config->block_size;
  gint32 columns = (gint32) motion_config_get_columns (config);
  gint32 middle = 1 << (config->depth - 1), most = (1 << config->depth) - 1;
  Plane now = full_plane (current);

  for (gint32 y = 0; y < now.height; y++) {
    for (gint32 x = 0; x < now.width; x++) {
      gint32 block = y / size * columns + x / size;
      gint32 predicted = middle;
      guint32 least = G_MAXUINT32;

      for (guint f = 0; f < n_fields; f++) {
        const CvisMotionVector *v = &fields[f].vectors[block];
        Plane then = full_plane (references[f]);

        if (f == 0 || v->cost < least) {
          least = v->cost;
          predicted = sample_between (&then, 4 * x + v->x, 4 * y + v->y);
        }
      }
      prediction[y * now.width + x] = (guint16) predicted;
      residual[y * now.width + x] = (guint16) motion_clamp (
          middle + sample (&now, x, y) - predicted, 0, most);
    }
  }
}

void
motion_reference_store (const MotionConfig *config, const guint16 *samples,
    guint8 *plane, gsize stride)
{
  if (plane == NULL)
    return;
  for (guint y = 0; y < config->height; y++) {
    guint8 *row = plane + y * stride;

    for (guint x = 0; x < config->width; x++, samples++) {
      if (config->depth == 8) {
        row[x] = (guint8) *samples;
      } else {
        row[2 * x] = (guint8) (*samples << 6);
        row[2 * x + 1] = (guint8) (*samples >> 2);
      }
    }
  }
}
