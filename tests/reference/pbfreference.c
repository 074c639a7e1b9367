/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "pbfreference.h"

#include "cuda/meltpool/arithmetic.h"
#include "cuda/meltpool/params.h"

struct _PbfReference {
  PbfConfig config;
  PbfParams params;
  PbfModel *model;
  gint32 *labels; /* of a frame; -1: background */
  guint32 *todo;
  PbfRow *rows; /* the window, oldest first */
  guint n_rows;
  guint64 position;
  gboolean started;
  PbfRow last;
};

/* One connected component. */
typedef struct {
  guint32 area, overlap;
  guint64 sx, sy;
} Component;

PbfReference *
pbf_reference_new (const PbfConfig *config, PbfModel *model)
{
  PbfReference *ref = g_new0 (PbfReference, 1);
  gsize pixels = (gsize) config->width * config->height;

  ref->config = *config;
  pbf_params_init (&ref->params, config);
  ref->model = model;
  ref->labels = g_new (gint32, pixels);
  ref->todo = g_new (guint32, pixels);
  ref->rows = g_new0 (PbfRow, config->window);
  return ref;
}

void
pbf_reference_free (PbfReference *ref)
{
  g_free (ref->labels);
  g_free (ref->todo);
  g_free (ref->rows);
  g_free (ref);
}

/* Labels the pixels >= threshold in raster order of the components' first
 * pixels. Returns: their number */
static gint
label (PbfReference *ref, const guint8 *pixels, guint stride, gint w, gint h)
{
  gint n = 0;

  for (gint i = 0; i < w * h; i++)
    ref->labels[i] = -1;
  for (gint i = 0; i < w * h; i++) {
    guint count = 0;

    if (ref->labels[i] >= 0
        || pixels[(gsize) (i / w) * stride + i % w] < ref->params.threshold)
      continue;
    ref->labels[i] = n;
    ref->todo[count++] = i;
    while (count > 0) {
      gint at = ref->todo[--count], x = at % w, y = at / w;

      for (gint dy = -1; dy <= 1; dy++) {
        for (gint dx = -1; dx <= 1; dx++) {
          gint u = x + dx, v = y + dy;

          if (ref->params.connectivity == 4 && dx != 0 && dy != 0)
            continue;
          if (u < 0 || v < 0 || u >= w || v >= h || ref->labels[v * w + u] >= 0
              || pixels[(gsize) v * stride + u] < ref->params.threshold)
            continue;
          ref->labels[v * w + u] = n;
          ref->todo[count++] = v * w + u;
        }
      }
    }
    n++;
  }
  return n;
}

static Component *
measure (PbfReference *ref, gint n, gint w, gint h, gint32 ex, gint32 ey)
{
  Component *components = g_new0 (Component, n + 1);

  for (gint y = 0; y < h; y++) {
    for (gint x = 0; x < w; x++) {
      gint l = ref->labels[y * w + x];
      gint64 dx = 256 * x + 128 - ex, dy = 256 * y + 128 - ey;

      if (l < 0)
        continue;
      components[l].area++;
      components[l].sx += x;
      components[l].sy += y;
      components[l].overlap += dx * dx + dy * dy <= ref->params.radius2;
    }
  }
  return components;
}

static gint
pool_label (PbfReference *ref, const Component *components, gint n, gint32 ex,
    gint32 ey)
{
  gint side = ref->params.side, best = -1;
  gint px = CLAMP (ex >> 8, 0, side - 1), py = CLAMP (ey >> 8, 0, side - 1);

  if (n == 0)
    return -1;
  if (ref->labels[py * side + px] >= 0)
    return ref->labels[py * side + px];
  for (gint l = 0; l < n; l++)
    if (components[l].overlap > (best < 0 ? 0 : components[best].overlap))
      best = l;
  if (best >= 0)
    return best;
  for (gint l = 0; l < n; l++)
    if (best < 0 || components[l].area > components[best].area)
      best = l;
  return best;
}

static void
measure_pool (PbfReference *ref, const guint8 *roi, guint stride, gint pool,
    CvisPbfResult *result)
{
  PbfMoments m = { 0 };
  guint32 sum = 0;
  gint side = ref->params.side;
  gint x0 = side, y0 = side, x1 = -1, y1 = -1;

  for (gint y = 0; y < side; y++) {
    for (gint x = 0; x < side; x++) {
      guint8 value = roi[(gsize) y * stride + x];

      if (pool < 0 || ref->labels[y * side + x] != pool)
        continue;
      m.n++;
      m.sx += x;
      m.sy += y;
      m.sxx += x * x;
      m.syy += y * y;
      m.sxy += x * y;
      sum += value;
      result->max_intensity = MAX (result->max_intensity, value);
      result->saturated += value == 255;
      x0 = MIN (x0, x), x1 = MAX (x1, x);
      y0 = MIN (y0, y), y1 = MAX (y1, y);
    }
  }
  result->raw[CVIS_PBF_MP_AREA] = m.n;
  result->raw[CVIS_PBF_MP_RATIO] = pbf_ratio_q16 (&m);
  result->raw[CVIS_PBF_MP_MEAN] = pbf_mean_q8 (sum, m.n);
  result->orientation_deg = pbf_orientation_deg (&m);
  if (m.n > 0) {
    result->centroid_x_q8 = pbf_centroid_q8 (m.sx, m.n, result->roi_x);
    result->centroid_y_q8 = pbf_centroid_q8 (m.sy, m.n, result->roi_y);
    result->bbox_x = result->roi_x + x0;
    result->bbox_y = result->roi_y + y0;
    result->bbox_width = x1 - x0 + 1;
    result->bbox_height = y1 - y0 + 1;
    if (x0 == 0 || y0 == 0 || x1 == side - 1 || y1 == side - 1)
      result->flags |= CVIS_PBF_RESULT_POOL_AT_EDGE;
  } else {
    result->flags |= CVIS_PBF_RESULT_NO_POOL;
  }
}

/* All components except those marked in @pool are spatters. */
static void
measure_spatters (PbfReference *ref, const Component *components, gint n,
    const gboolean *pool, gint32 first_x, gint32 first_y, CvisPbfResult *result)
{
  gboolean *listed = g_new0 (gboolean, n + 1);
  guint64 area = 0, count = 0;

  for (gint l = 0; l < n; l++) {
    if (pool[l] || components[l].area < ref->params.min_area)
      continue;
    area += components[l].area;
    count++;
  }
  result->raw[CVIS_PBF_SPATTER_AREA] = MIN (area, PBF_AREA_MAX);
  result->raw[CVIS_PBF_SPATTER_COUNT] = MIN (count, PBF_AREA_MAX);
  result->n_spatters = MIN (count, CVIS_PBF_MAX_SPATTERS);
  if (count > CVIS_PBF_MAX_SPATTERS)
    result->flags |= CVIS_PBF_RESULT_SPATTERS_CUT;
  for (guint k = 0; k < result->n_spatters; k++) {
    gint best = -1;

    for (gint l = 0; l < n; l++)
      if (!pool[l] && !listed[l] && components[l].area >= ref->params.min_area
          && (best < 0 || components[l].area > components[best].area))
        best = l;
    listed[best] = TRUE;
    pbf_describe_spatter (&result->spatters[k], components[best].area,
        components[best].sx, components[best].sy, first_x, first_y,
        result->e_x_q8, result->e_y_q8);
  }
  g_free (listed);
}

static void
measure_polar (PbfReference *ref, const guint8 *roi, guint stride, gint32 ex,
    gint32 ey, CvisPbfResult *result)
{
  gint side = ref->params.side;

  for (gint y = 0; y < side; y++) {
    for (gint x = 0; x < side; x++) {
      gint32 dx = 256 * x + 128 - ex, dy = 256 * y + 128 - ey;
      guint64 r2 = (gint64) dx * dx + (gint64) dy * dy;

      if (r2 >= ref->params.inner2 && r2 <= ref->params.outer2)
        result->raw[CVIS_PBF_POLAR_0 + pbf_sector (dx, dy)] +=
            roi[(gsize) y * stride + x];
    }
  }
}

static void
measure_hog (const guint8 *roi, guint stride, gint side, CvisPbfResult *result)
{
  gint64 sums[9] = { 0 };

  for (gint y = 0; y < side; y++) {
    const guint8 *up = roi + (gsize) MAX (y - 1, 0) * stride;
    const guint8 *row = roi + (gsize) y * stride;
    const guint8 *down = roi + (gsize) MIN (y + 1, side - 1) * stride;

    for (gint x = 0; x < side; x++) {
      gint gx = row[MIN (x + 1, side - 1)] - row[MAX (x - 1, 0)];
      gint gy = down[x] - up[x];

      sums[pbf_hog_bin (gx, gy)] += pbf_gradient_q16 (gx, gy);
    }
  }
  pbf_hog_normalise (sums, &result->raw[CVIS_PBF_HOG_0]);
}

static gboolean
is_lit (PbfReference *ref, const guint8 *frame, guint stride)
{
  for (gint y = 0; y < ref->params.height; y++)
    for (gint x = 0; x < ref->params.width; x++)
      if (frame[(gsize) y * stride + x] >= ref->params.threshold)
        return TRUE;
  return FALSE;
}

static gint
box_sum (PbfReference *ref, const guint8 *frame, guint stride, gint x, gint y)
{
  gint sum = 0, w = ref->params.width, h = ref->params.height;

  for (gint v = MAX (y - 1, 0); v <= MIN (y + 1, h - 1); v++)
    for (gint u = MAX (x - 1, 0); u <= MIN (x + 1, w - 1); u++)
      sum += frame[(gsize) v * stride + u];
  return sum;
}

/* Of the pixels with label @label (all pixels: -2), the first with the largest
 * sum. */
static gint
find_brightest (
    PbfReference *ref, const guint8 *frame, guint stride, gint label)
{
  gint best = -1, at = 0, w = ref->params.width, h = ref->params.height;

  for (gint i = 0; i < w * h; i++) {
    gint sum = box_sum (ref, frame, stride, i % w, i / w);

    if ((label == -2 || ref->labels[i] == label) && sum > best) {
      best = sum;
      at = i;
    }
  }
  return at;
}

/* Sorts the scores of the components, from area and brightness, and takes the
 * position of the highest; @pixel: does not look at components. */
static void
locate_brightest (PbfReference *ref, const guint8 *frame, guint stride,
    gboolean pixel, CvisPbfResult *result)
{
  gint at, w = ref->params.width, h = ref->params.height;
  gint n = pixel ? 0 : label (ref, frame, stride, w, h), chosen = -2;
  guint64 *area = g_new0 (guint64, n + 1), *light = g_new0 (guint64, n + 1);
  guint64 best = 0, second = 0;

  for (gint i = 0; n > 0 && i < w * h; i++) {
    if (ref->labels[i] < 0)
      continue;
    area[ref->labels[i]]++;
    light[ref->labels[i]] +=
        frame[(gsize) (i / w) * stride + i % w] - ref->params.threshold + 1;
  }
  for (gint l = 0; l < n; l++) {
    if (area[l] * light[l] > best) {
      best = area[l] * light[l];
      chosen = l;
    }
  }
  for (gint l = 0; l < n; l++)
    if (l != chosen)
      second = MAX (second, area[l] * light[l]);
  if (n > 0) {
    result->position_confidence =
        (guint32) (65536.0
                   * ((gdouble) best / ((gdouble) best + (gdouble) second)));
    if (second > best / 4)
      result->flags |= CVIS_PBF_RESULT_POSITION_UNSURE;
  }
  at = find_brightest (ref, frame, stride, chosen);
  result->e_x_q8 = 256 * (at % w) + 128;
  result->e_y_q8 = 256 * (at / w) + 128;
  g_free (area);
  g_free (light);
}

static void
locate_centroid (
    PbfReference *ref, const guint8 *frame, guint stride, CvisPbfResult *result)
{
  guint64 n = 0, sx = 0, sy = 0;

  for (gint y = 0; y < ref->params.height; y++) {
    for (gint x = 0; x < ref->params.width; x++) {
      if (frame[(gsize) y * stride + x] < ref->params.threshold)
        continue;
      n++;
      sx += x;
      sy += y;
    }
  }
  if (n > 0) {
    result->e_x_q8 = pbf_centroid_q8 (sx, n, 0);
    result->e_y_q8 = pbf_centroid_q8 (sy, n, 0);
  } else {
    result->e_x_q8 = 128 * ref->params.width;
    result->e_y_q8 = 128 * ref->params.height;
  }
}

static void
spatial (
    PbfReference *ref, const guint8 *frame, guint stride, CvisPbfResult *result)
{
  const PbfParams *p = &ref->params;
  gint32 ex, ey;
  const guint8 *roi;
  Component *components;
  gboolean *is_pool;
  gint n, pool, side = p->side;

  result->roi_size = side;
  result->roi_x = pbf_roi_start (result->e_x_q8, p->width, side, p->align);
  result->roi_y = pbf_roi_start (result->e_y_q8, p->height, side, 1);
  if (pbf_roi_clamped (result->e_x_q8, p->width, side)
      || pbf_roi_clamped (result->e_y_q8, p->height, side))
    result->flags |= CVIS_PBF_RESULT_ROI_CLAMPED;
  ex = pbf_clamp_reach ((gint64) result->e_x_q8 - 256 * result->roi_x, side);
  ey = pbf_clamp_reach ((gint64) result->e_y_q8 - 256 * result->roi_y, side);
  roi = frame + (gsize) result->roi_y * stride + result->roi_x;

  n = label (ref, roi, stride, side, side);
  components = measure (ref, n, side, side, ex, ey);
  pool = pool_label (ref, components, n, ex, ey);
  measure_pool (ref, roi, stride, pool, result);
  is_pool = g_new0 (gboolean, n + 1);
  if (pool >= 0)
    is_pool[pool] = TRUE;
  if (p->frame_scope) {
    guint8 *in_pool = g_new0 (guint8, side * side);

    for (gint i = 0; i < side * side; i++)
      in_pool[i] = pool >= 0 && ref->labels[i] == pool;
    g_free (components);
    g_free (is_pool);
    n = label (ref, frame, stride, p->width, p->height);
    components = measure (ref, n, p->width, p->height, 0, 0);
    is_pool = g_new0 (gboolean, n + 1);
    for (gint i = 0; i < side * side; i++)
      if (in_pool[i])
        is_pool[ref->labels[(result->roi_y + i / side) * p->width
                            + result->roi_x + i % side]] = TRUE;
    measure_spatters (ref, components, n, is_pool, 0, 0, result);
    g_free (in_pool);
  } else {
    measure_spatters (
        ref, components, n, is_pool, result->roi_x, result->roi_y, result);
  }
  g_free (components);
  g_free (is_pool);
  measure_polar (ref, roi, stride, ex, ey, result);
  measure_hog (roi, stride, side, result);
}

static void
temporal (PbfReference *ref, CvisPbfResult *result)
{
  PbfRow row;

  memcpy (row.raw, result->raw, sizeof row.raw);
  row.layer = result->layer;
  row.vector_id = result->vector_id;
  row.position = ref->position;
  if (ref->started && pbf_window_restarts (&ref->params, &ref->last, &row)) {
    ref->n_rows = 0;
    result->flags |= CVIS_PBF_RESULT_WINDOW_RESET;
  }
  ref->started = TRUE;
  ref->last = row;
  if (ref->n_rows == ref->config.window) {
    memmove (ref->rows, ref->rows + 1, (ref->n_rows - 1) * sizeof (PbfRow));
    ref->n_rows--;
  }
  ref->rows[ref->n_rows++] = row;

  result->window_n = ref->n_rows;
  if (ref->n_rows < ref->config.window)
    result->flags |= CVIS_PBF_RESULT_WARMUP;
  for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++) {
    gint64 s1 = 0, s2 = 0;

    for (guint k = 0; k < ref->n_rows; k++) {
      s1 += ref->rows[k].raw[f];
      s2 += (gint64) ref->rows[k].raw[f] * ref->rows[k].raw[f];
    }
    result->var_num[f] = ref->n_rows * s2 - s1 * s1;
    result->features[CVIS_PBF_N_SPATIAL + f] =
        pbf_variance (result->var_num[f], ref->n_rows, pbf_feature_scale (f));
  }
}

static void
network (PbfReference *ref, CvisPbfResult *result)
{
  const PbfModel *m = ref->model;
  gfloat hidden[PBF_MAX_HIDDEN];

  for (guint j = 0; j < m->hidden_padded; j++) {
    gfloat h = m->b1[j];

    for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
      h = fmaf (m->w1t[i * m->hidden_padded + j],
          (result->features[i] - m->mean[i]) * m->inv_std[i], h);
    hidden[j] = h > 0.0f ? h : 0.0f;
  }
  for (guint k = 0; k < m->outputs; k++) {
    gfloat part[32] = { 0 };

    for (guint j = 0; j < m->hidden_padded; j++)
      part[j % 32] =
          fmaf (m->w2[k * m->hidden_padded + j], hidden[j], part[j % 32]);
    for (guint half = 16; half > 0; half /= 2)
      for (guint l = 0; l < half; l++)
        part[l] = part[l] + part[l + half];
    result->outputs[k] = m->b2[k] + part[0];
  }
  result->n_outputs = m->outputs;
  pbf_activate (result->outputs, m->outputs, ref->params.activation);
}

void
pbf_reference_frame (PbfReference *ref, const guint8 *frame, guint stride,
    const PbfFrameInfo *info, CvisPbfResult *result)
{
  guint entry = info->entry;

  pbf_result_begin (result, info);
  ref->position += info->lost_before;
  if (entry == PBF_ENTER_IF_LIT)
    entry = is_lit (ref, frame, stride) ? PBF_ENTER : PBF_EMPTY;
  if (entry == PBF_EMPTY) {
    result->flags |= CVIS_PBF_RESULT_EMPTY;
    if (ref->params.analyse_empty)
      entry = PBF_EXCLUDE;
  }
  if (entry == PBF_EXCLUDE)
    result->flags |= CVIS_PBF_RESULT_EXCLUDED;
  if (entry != PBF_EMPTY) {
    if (info->position == PBF_POSITION_BRIGHTEST
        || info->position == PBF_POSITION_BRIGHTEST_PIXEL) {
      locate_brightest (ref, frame, stride,
          info->position == PBF_POSITION_BRIGHTEST_PIXEL, result);
    } else if (info->position == PBF_POSITION_CENTROID) {
      locate_centroid (ref, frame, stride, result);
    } else {
      result->e_x_q8 = info->e_x_q8;
      result->e_y_q8 = info->e_y_q8;
    }
    spatial (ref, frame, stride, result);
    for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++)
      result->features[f] =
          (gfloat) result->raw[f] / (gfloat) pbf_feature_scale (f);
  }
  if (entry == PBF_ENTER) {
    temporal (ref, result);
    if (ref->model)
      network (ref, result);
  }
  ref->position++;
}
