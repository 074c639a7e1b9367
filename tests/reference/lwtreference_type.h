/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The reference implementation for one type: included by lwtreference.c once
 * for each, with T, the suffix N() and whether it is an INTEGER. */

/* --- a line --------------------------------------------------------------- */

static T
N (neighbour) (LwtBoundary boundary, const T *line, gint j, gint odd, gint n)
{
  gint index = lwt_neighbour (boundary, j, odd, n);

  return index < 0 ? 0 : line[2 * index + odd];
}

/* One step, or its inverse, on a line of n >= 2 samples, even and odd ones
 * still interleaved. */
static void
N (step) (const LwtStep *step, LwtBoundary boundary, gboolean inverse, T *line,
    gint n)
{
  const gint odd = step->kind == LWT_STEP_PREDICT;

  for (gint k = 0; 2 * k + odd < n; k++) {
    T *sample = &line[2 * k + odd];
#if INTEGER
    guint32 sum = step->shift > 0 ? 1u << (step->shift - 1) : 0;
    gint32 change;

    for (guint i = 0; i < step->n; i++)
      sum += (guint32) step->num[i]
             * (guint32) N (neighbour) (
                 boundary, line, k + step->first + (gint) i, !odd, n);
    change = (gint32) sum >> step->shift;
    *sample = (T) (inverse ? (guint32) *sample - (guint32) change
                           : (guint32) *sample + (guint32) change);
#else
    for (guint i = 0; i < step->n; i++)
      *sample = FMA (inverse ? -(T) step->c[i] : (T) step->c[i],
          N (neighbour) (boundary, line, k + step->first + (gint) i, !odd, n),
          *sample);
#endif
  }
}

/* A line of n samples to its bands, low then high; @bands: memory for n. */
static void
N (split) (
    const LwtWavelet *wavelet, LwtBoundary boundary, T *line, T *bands, gint n)
{
  const gint lows = (n + 1) / 2, highs = n / 2;
  const gboolean turn = boundary == LWT_BOUNDARY_PERIODIC;

  for (guint i = 0; i < wavelet->n_steps; i++)
    N (step) (&wavelet->steps[i], boundary, FALSE, line, n);
  for (gint k = 0; k < lows; k++)
    bands[k] = line[2 * modulo (turn ? k + wavelet->shift_low : k, lows)];
  for (gint k = 0; k < highs; k++)
    bands[lows + k] =
        line[2 * modulo (turn ? k + wavelet->shift_high : k, highs) + 1];
#if !INTEGER
  for (gint k = 0; k < n; k++)
    bands[k] *= (T) (k < lows ? wavelet->scale_low : wavelet->scale_high);
#endif
  memcpy (line, bands, (gsize) n * sizeof (T));
}

/* The inverse. @low_only: the high band counts as +0. */
static void
N (join) (const LwtWavelet *wavelet, LwtBoundary boundary, gboolean low_only,
    T *line, T *bands, gint n)
{
  const gint lows = (n + 1) / 2, highs = n / 2;
  const gboolean turn = boundary == LWT_BOUNDARY_PERIODIC;

  memcpy (bands, line, (gsize) n * sizeof (T));
#if !INTEGER
  for (gint k = 0; k < n; k++)
    bands[k] *=
        (T) (1.0 / (k < lows ? wavelet->scale_low : wavelet->scale_high));
#endif
  for (gint k = 0; k < lows; k++)
    line[2 * modulo (turn ? k + wavelet->shift_low : k, lows)] = bands[k];
  for (gint k = 0; k < highs; k++)
    line[2 * modulo (turn ? k + wavelet->shift_high : k, highs) + 1] =
        low_only ? 0 : bands[lows + k];
  for (guint i = wavelet->n_steps; i-- > 0;)
    N (step) (&wavelet->steps[i], boundary, TRUE, line, n);
}

/* --- a picture ------------------------------------------------------------ */

/* Lines of @n samples, @step apart, @count of them @pitch apart. */
static void
N (lines) (const LwtWavelet *wavelet, LwtBoundary boundary, gboolean inverse,
    gboolean low_only, T *data, gsize step, gint n, gsize pitch, guint count)
{
  T *line = g_new (T, n), *bands = g_new (T, n);

  for (guint i = 0; i < count; i++) {
    T *at = data + i * pitch;

    for (gint k = 0; k < n; k++)
      line[k] = at[(gsize) k * step];
    if (inverse)
      N (join) (wavelet, boundary, low_only, line, bands, n);
    else
      N (split) (wavelet, boundary, line, bands, n);
    for (gint k = 0; k < n; k++)
      at[(gsize) k * step] = line[k];
  }
  g_free (line);
  g_free (bands);
}

/* A level in place, in the upper left corner of rows of @pitch samples. */
static void
N (level) (const LwtWavelet *wavelet, LwtBoundary boundary, gboolean inverse,
    gboolean low_only, const LwtLevel *level, T *data, gsize pitch)
{
  if (level->x && !inverse)
    N (lines)
  (wavelet, boundary, FALSE, FALSE, data, 1, (gint) level->width, pitch,
      level->height);
  if (level->y)
    N (lines)
  (wavelet, boundary, inverse, low_only, data, pitch, (gint) level->height, 1,
      level->width);
  if (level->x && inverse)
    N (lines)
  (wavelet, boundary, TRUE, low_only, data, 1, (gint) level->width, pitch,
      level->height);
}

/* Interleaved position of entry (@x, @y) of Mallat's layout. */
static gsize
N (interleaved) (const LwtChain *chain, guint x, guint y)
{
  guint position[2] = { x, y }, depth[2] = { 0, 0 };
  guint split[2] = { 0, 0 }; /* splits after which the entry is high */
  gsize width = chain->levels[0].width;

  for (guint i = 0; i < chain->n; i++) {
    const LwtLevel *level = &chain->levels[i];
    const gboolean does[2] = { level->x, level->y };
    const guint low[2] = { level->low_width, level->low_height };

    for (guint axis = 0; axis < 2; axis++) {
      if (!does[axis] || split[axis] > 0)
        continue;
      depth[axis]++;
      if (position[axis] >= low[axis]) {
        position[axis] -= low[axis];
        split[axis] = depth[axis];
      }
    }
    /* outside the low band of either axis nothing is split further */
    if (split[0] > 0 || split[1] > 0)
      break;
  }
  for (guint axis = 0; axis < 2; axis++)
    position[axis] = split[axis] > 0
                         ? (2 * position[axis] + 1) << (split[axis] - 1)
                         : position[axis] << depth[axis];
  return (gsize) position[1] * width + position[0];
}

static void
N (forward) (const LwtWavelet *wavelet, LwtBoundary boundary,
    const LwtChain *chain, LwtLayout layout, const T *picture, T *bands,
    guint width, guint height)
{
  const gsize n = (gsize) width * height;
  T *mallat = g_new (T, n);

  memcpy (mallat, picture, n * sizeof (T));
  for (guint i = 0; i < chain->n; i++)
    N (level)
  (wavelet, boundary, FALSE, FALSE, &chain->levels[i], mallat, width);
  for (gsize i = 0; i < n; i++)
    bands[layout == LWT_LAYOUT_MALLAT || chain->n == 0
              ? i
              : N (interleaved) (
                  chain, (guint) (i % width), (guint) (i / width))] = mallat[i];
  g_free (mallat);
}

static void
N (inverse) (const LwtWavelet *wavelet, LwtBoundary boundary,
    const LwtChain *chain, LwtLayout layout, const T *bands, T *picture,
    guint width, guint height)
{
  const gsize n = (gsize) width * height;

  for (gsize i = 0; i < n; i++)
    picture[i] = bands[layout == LWT_LAYOUT_MALLAT || chain->n == 0
                           ? i
                           : N (interleaved) (chain, (guint) (i % width),
                               (guint) (i / width))];
  for (guint i = chain->n; i-- > 0;)
    N (level)
  (wavelet, boundary, TRUE, FALSE, &chain->levels[i], picture, width);
}

static void
N (reduce) (const LwtWavelet *wavelet, LwtBoundary boundary,
    const LwtChain *chain, guint first, guint n, const T *picture, T *low)
{
  const LwtLevel *from = &chain->levels[first];
  const LwtLevel *to = &chain->levels[first + n - 1];
  T *data = g_new (T, (gsize) from->width * from->height);

  memcpy (data, picture, sizeof (T) * from->width * from->height);
  for (guint i = first; i < first + n; i++)
    N (level)
  (wavelet, boundary, FALSE, FALSE, &chain->levels[i], data, from->width);
  for (guint y = 0; y < to->low_height; y++)
    memcpy (low + (gsize) y * to->low_width, data + (gsize) y * from->width,
        sizeof (T) * to->low_width);
  g_free (data);
}

static void
N (expand) (const LwtWavelet *wavelet, LwtBoundary boundary,
    const LwtChain *chain, guint first, guint n, const T *low, T *picture)
{
  const LwtLevel *from = &chain->levels[first];
  const LwtLevel *to = &chain->levels[first + n - 1];

  memset (picture, 0, sizeof (T) * from->width * from->height);
  for (guint y = 0; y < to->low_height; y++)
    memcpy (picture + (gsize) y * from->width, low + (gsize) y * to->low_width,
        sizeof (T) * to->low_width);
  for (guint i = first + n; i-- > first;)
    N (level)
  (wavelet, boundary, TRUE, TRUE, &chain->levels[i], picture, from->width);
}

#if !INTEGER
/* --- missing points and padding ------------------------------------------ */

/* Fills samples that are not @there. */
static void
N (fill) (T *data, const gboolean *there, guint width, guint height)
{
  const guint w = (width + 1) / 2, h = (height + 1) / 2;
  T *parents;
  gboolean *has;

  if (width == 1 && height == 1) {
    if (!there[0])
      data[0] = 0;
    return;
  }
  parents = g_new0 (T, (gsize) w * h);
  has = g_new0 (gboolean, (gsize) w * h);
  for (guint y = 0; y < h; y++)
    for (guint x = 0; x < w; x++) {
      T sum = 0;
      guint n = 0;

      for (guint i = 0; i < 4; i++) {
        const guint cx = 2 * x + i % 2, cy = 2 * y + i / 2;

        if (cx < width && cy < height && there[(gsize) cy * width + cx]) {
          sum = n == 0 ? data[(gsize) cy * width + cx]
                       : sum + data[(gsize) cy * width + cx];
          n++;
        }
      }
      has[(gsize) y * w + x] = n > 0;
      if (n > 0)
        parents[(gsize) y * w + x] = sum / (T) n;
    }
  N (fill) (parents, has, w, h);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      const gint px = (gint) x / 2, py = (gint) y / 2;
      const gint qx = CLAMP (x % 2 ? px + 1 : px - 1, 0, (gint) w - 1);
      const gint qy = CLAMP (y % 2 ? py + 1 : py - 1, 0, (gint) h - 1);

      if (there[(gsize) y * width + x])
        continue;
#define PARENT(i, j) parents[(gsize) (j) *w + (i)]
      data[(gsize) y * width + x] = FMA ((T) 0.0625, PARENT (qx, qy),
          FMA ((T) 0.1875, PARENT (px, qy),
              FMA ((T) 0.1875, PARENT (qx, py), (T) 0.5625 * PARENT (px, py))));
#undef PARENT
    }
  g_free (parents);
  g_free (has);
}

static T
N (beyond) (LwtBoundary boundary, const T *line, gsize step, gint i, gint n)
{
  if (i >= 0 && i < n)
    return line[(gsize) i * step];
  if (boundary == LWT_BOUNDARY_PAD_SYMMETRIC || n == 1)
    return line[(gsize) lwt_pad_index (i, n) * step];
  if (i < 0)
    return FMA ((T) i, line[step] - line[0], line[0]);
  return FMA ((T) (i - (n - 1)),
      line[(gsize) (n - 1) * step] - line[(gsize) (n - 2) * step],
      line[(gsize) (n - 1) * step]);
}

/* Returns: the padded picture. */
static T *
N (pad) (const LwtPlan *plan, const T *data)
{
  const guint width = plan->config.width, height = plan->config.height;
  T *rows = g_new (T, (gsize) plan->width * height);
  T *all = g_new (T, (gsize) plan->width * plan->height);

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < plan->width; x++)
      rows[(gsize) y * plan->width + x] =
          N (beyond) (plan->config.boundary, data + (gsize) y * width, 1,
              (gint) x - (gint) plan->pad[0], (gint) width);
  for (guint y = 0; y < plan->height; y++)
    for (guint x = 0; x < plan->width; x++)
      all[(gsize) y * plan->width + x] = N (beyond) (plan->config.boundary,
          rows + x, plan->width, (gint) y - (gint) plan->pad[1], (gint) height);
  g_free (rows);
  return all;
}

/* --- the operations ------------------------------------------------------- */

/* Writes the samples again, as integers. */
static void
N (store) (const LwtPlan *plan, const LwtPlane *plane, const T *data)
{
  const LwtConfig *config = &plan->config;
  const gint step = 1 << config->store_shift;
  const T factor = (T) (1.0 / (config->z_scale * step));
  const T max = (T) ((1 << config->store_bits) - 1);

  for (guint y = 0; y < config->height; y++)
    for (guint x = 0; x < config->width; x++) {
      const T level =
          factor
          * data[(gsize) (y + plan->pad[1]) * plan->width + x + plan->pad[0]];
      const gint rounded = (gint) ((!(level > 0)     ? 0
                                       : level > max ? max
                                                     : level)
                                   + (T) 0.5);
      guint8 *row = (guint8 *) plane->data + y * plane->stride;

      if (config->sample == LWT_SAMPLE_U8)
        row[x] = (guint8) (rounded * step);
      else
        ((guint16 *) (gpointer) row)[x] = (guint16) (rounded * step);
    }
}

/* Writes a component: @data is padded; NaN for missing points. */
static void
N (write) (const LwtPlan *plan, LwtJob *job, CvisSurfacePart part,
    const T *data, const gboolean *there)
{
  const LwtPlane *plane = &job->parts[part];

  if (plane->data == NULL)
    return;
  if (plan->config.store_bits > 0 && part == CVIS_SURFACE_PART_MEASURED) {
    N (store) (plan, plane, data);
    return;
  }
  for (guint y = 0; y < plan->config.height; y++) {
    T *to = (T *) ((guint8 *) plane->data + y * plane->stride);

    for (guint x = 0; x < plan->config.width; x++)
      to[x] = there[(gsize) y * plan->config.width + x]
                  ? data[(gsize) (y + plan->pad[1]) * plan->width + x
                         + plan->pad[0]]
                  : (T) NAN;
  }
}

static void
N (write_bands) (const LwtPlan *plan, LwtJob *job, const T *x)
{
  const LwtConfig *config = &plan->config;
  const LwtPlane *plane = &job->parts[CVIS_SURFACE_PART_BANDS];
  T *bands = g_new (T, (gsize) plan->width * plan->height);

  N (forward)
  (&plan->wavelet, config->boundary, &plan->bands, config->layout, x, bands,
      plan->width, plan->height);
  for (guint y = 0; y < plan->height; y++)
    memcpy ((guint8 *) plane->data + y * plane->stride,
        bands + (gsize) y * plan->width, plan->width * sizeof (T));
  g_free (bands);
}

/* a - b */
static T *
N (difference) (const LwtPlan *plan, const T *a, const T *b)
{
  const gsize n = (gsize) plan->width * plan->height;
  T *result = g_new (T, n);

  for (gsize i = 0; i < n; i++)
    result[i] = a[i] - b[i];
  return result;
}

/* Adds P - p[0] to @data, where @job's surface is. */
static T *
N (give_back) (const LwtPlan *plan, const LwtJob *job, const T *data)
{
  const LwtConfig *config = &plan->config;
  const gsize n = (gsize) plan->width * plan->height;
  T *result = g_new (T, n);

  memcpy (result, data, n * sizeof (T));
  if (config->f_operation == LWT_F_NONE)
    return result;
  for (guint y = 0; y < config->height; y++)
    for (guint x = 0; x < config->width; x++) {
      T *sample =
          &result[(gsize) (y + plan->pad[1]) * plan->width + x + plan->pad[0]];

      *sample =
          (T) ((gdouble) *sample
               + lwt_tail (job->polynomial, lwt_centred (x, config->width),
                   lwt_centred (y, config->height)));
    }
  return result;
}

/* Low-only synthesis of the low band after the first @n levels. */
static T *
N (smooth) (const LwtPlan *plan, const T *x, guint n)
{
  T *low, *result = g_new (T, (gsize) plan->width * plan->height);

  if (n == 0) {
    memcpy (result, x, sizeof (T) * plan->width * plan->height);
    return result;
  }
  low = g_new (T, (gsize) plan->width * plan->height);
  N (reduce)
  (&plan->wavelet, plan->config.boundary, &plan->parts, 0, n, x, low);
  N (expand)
  (&plan->wavelet, plan->config.boundary, &plan->parts, 0, n, low, result);
  g_free (low);
  return result;
}

static void
N (filter) (const LwtPlan *plan, LwtJob *job, const T *x, const gboolean *there)
{
  T *noise = N (smooth) (plan, x, plan->n_noise);
  T *roughness = N (smooth) (plan, x, plan->n_roughness);
  T *form = N (smooth) (plan, x, plan->parts.n);
  T *parts[] = { N (difference) (plan, x, noise),
    N (difference) (plan, noise, roughness),
    N (difference) (plan, roughness, form), N (give_back) (plan, job, form) };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    N (write)
    (plan, job, (CvisSurfacePart) (CVIS_SURFACE_PART_NOISE + i), parts[i],
        there);
    g_free (parts[i]);
  }
  if (job->parts[CVIS_SURFACE_PART_BANDS].data)
    N (write_bands) (plan, job, x);
  g_free (noise);
  g_free (roughness);
  g_free (form);
}

static int
N (compare) (const void *a, const void *b)
{
  const T l = *(const T *) a, r = *(const T *) b;

  return (l > r) - (l < r);
}

/* The threshold from the finest band that is high along all axes of the
 * first level, of its entries whose samples have noise; @bands in Mallat's
 * layout. */
static gdouble
N (universal) (const LwtPlan *plan, const LwtJob *job, const T *bands)
{
  const LwtLevel *level = &plan->bands.levels[0];
  const guint x0 = level->x ? level->low_width : 0;
  const guint y0 = level->y ? level->low_height : 0;
  const gint columns = (gint) (level->width - x0);
  const gint rows = (gint) (level->height - y0);
  const gint turn = plan->config.boundary == LWT_BOUNDARY_PERIODIC
                        ? plan->wavelet.shift_high
                        : 0;
  guint64 samples;
  gboolean *noise = find_noise (plan, job, &samples);
  T *sizes = g_new (T, (gsize) columns * rows);
  gdouble median = 0.0;
  gsize n = 0;

  for (gint j = 0; j < rows; j++)
    for (gint i = 0; i < columns; i++) {
      const gint x = (level->x ? 2 * modulo (i + turn, columns) + 1 : i)
                     - (gint) plan->pad[0];
      const gint y = (level->y ? 2 * modulo (j + turn, rows) + 1 : j)
                     - (gint) plan->pad[1];

      if (x >= 0 && x < (gint) plan->config.width && y >= 0
          && y < (gint) plan->config.height
          && noise[(gsize) y * plan->config.width + x])
        sizes[n++] = FABS (
            bands[(gsize) (y0 + (guint) j) * plan->width + x0 + (guint) i]);
    }
  if (n > 0) {
    qsort (sizes, n, sizeof (T), N (compare));
    median = (gdouble) sizes[(n - 1) / 2];
  }
  g_free (sizes);
  g_free (noise);
  return median / 0.6745
         * (sqrt (2.0 * lwt_log (MAX (samples, 1)))
             * plan->config.threshold_scale);
}

static T
N (shrink) (LwtShrink shrink, T w, T t)
{
  const T size = FABS (w);

  if (!(size > t))
    return 0;
  switch (shrink) {
    case LWT_SHRINK_SOFT:
      return COPYSIGN (size - t, w);
    case LWT_SHRINK_HARD:
      return w;
    default:
      return w - (t * t) / w;
  }
}

/* @x rotated by (@sx, @sy). */
static T *
N (rotate) (const LwtPlan *plan, const T *x, guint sx, guint sy)
{
  T *result = g_new (T, (gsize) plan->width * plan->height);

  for (guint j = 0; j < plan->height; j++)
    for (guint i = 0; i < plan->width; i++)
      result[(gsize) j * plan->width + i] =
          x[(gsize) ((j + sy) % plan->height) * plan->width
              + (i + sx) % plan->width];
  return result;
}

/* A spin: rotates x, shrinks, rotates back. */
static T *
N (spin) (const LwtPlan *plan, LwtJob *job, const T *x, guint spin)
{
  const LwtConfig *config = &plan->config;
  const guint sx = (spin & 1) | (spin >> 1 & 2);
  const guint sy = (spin >> 1 & 1) | (spin >> 2 & 2);
  const gsize n = (gsize) plan->width * plan->height;
  T *rotated = N (rotate) (plan, x, sx, sy);
  T *bands = g_new (T, n), *back;
  guint low_width = plan->width, low_height = plan->height;

  if (plan->bands.n > 0) {
    low_width = plan->bands.levels[plan->bands.n - 1].low_width;
    low_height = plan->bands.levels[plan->bands.n - 1].low_height;
  }
  N (forward)
  (&plan->wavelet, config->boundary, &plan->bands, LWT_LAYOUT_MALLAT, rotated,
      bands, plan->width, plan->height);
  if (spin == 0)
    job->threshold =
        config->threshold > 0.0 ? config->threshold
        : plan->bands.n == 0
                || (!plan->bands.levels[0].x && !plan->bands.levels[0].y)
            ? 0.0
            : N (universal) (plan, job, bands);
  for (guint j = 0; j < plan->height; j++)
    for (guint i = 0; i < plan->width; i++)
      if (i >= low_width || j >= low_height)
        bands[(gsize) j * plan->width + i] = N (shrink) (config->shrink,
            bands[(gsize) j * plan->width + i], (T) job->threshold);
  N (inverse)
  (&plan->wavelet, config->boundary, &plan->bands, LWT_LAYOUT_MALLAT, bands,
      rotated, plan->width, plan->height);
  g_free (bands);
  back = N (rotate) (plan, rotated, (plan->width - sx % plan->width),
      (plan->height - sy % plan->height));
  g_free (rotated);
  return back;
}

static void
N (denoise) (
    const LwtPlan *plan, LwtJob *job, const T *x, const gboolean *there)
{
  const gsize n = (gsize) plan->width * plan->height;
  T *sum = N (spin) (plan, job, x, 0);
  T *noise, *measured;

  for (guint spin = 1; spin < plan->config.spins; spin++) {
    T *next = N (spin) (plan, job, x, spin);

    for (gsize i = 0; i < n; i++)
      sum[i] += next[i];
    g_free (next);
  }
  if (plan->config.spins > 1)
    for (gsize i = 0; i < n; i++)
      sum[i] *= (T) (1.0 / plan->config.spins);
  noise = N (difference) (plan, x, sum);
  measured = N (give_back) (plan, job, sum);
  N (write) (plan, job, CVIS_SURFACE_PART_NOISE, noise, there);
  N (write) (plan, job, CVIS_SURFACE_PART_MEASURED, measured, there);
  g_free (noise);
  g_free (measured);
  g_free (sum);
}

/* All operations except the inverse: fills points that are not @there in @z
 * (FP64). */
static void
N (run) (
    const LwtPlan *plan, LwtJob *job, const gdouble *z, const gboolean *there)
{
  const LwtConfig *config = &plan->config;
  T *x = g_new (T, (gsize) config->width * config->height);
  T *padded;

  for (guint j = 0; j < config->height; j++)
    for (guint i = 0; i < config->width; i++) {
      const gsize at = (gsize) j * config->width + i;

      x[at] = config->f_operation == LWT_F_NONE
                  ? (T) z[at]
                  : (T) (z[at]
                         - lwt_polynomial (job->polynomial,
                             lwt_centred (i, config->width),
                             lwt_centred (j, config->height)));
    }
  if (job->missing > 0)
    N (fill) (x, there, config->width, config->height);
  padded = N (pad) (plan, x);
  g_free (x);
  switch (config->operation) {
    case LWT_OPERATION_FILTER:
      N (filter) (plan, job, padded, there);
      break;
    case LWT_OPERATION_DENOISE:
      N (denoise) (plan, job, padded, there);
      break;
    default:
      if (job->parts[CVIS_SURFACE_PART_BANDS].data)
        N (write_bands) (plan, job, padded);
      break;
  }
  g_free (padded);
}
#endif /* !INTEGER */

/* The inverse; for integers also the forward transform. */
static void
N (run_plain) (const LwtPlan *plan, LwtJob *job, const T *data)
{
  const LwtConfig *config = &plan->config;
  const gsize n = (gsize) plan->width * plan->height;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;
  const LwtPlane *plane = &job->parts[inverse ? CVIS_SURFACE_PART_MEASURED
                                              : CVIS_SURFACE_PART_BANDS];
  const guint width = inverse ? config->width : plan->width;
  const guint height = inverse ? config->height : plan->height;
  T *result = g_new (T, n);

  if (inverse)
    N (inverse)
  (&plan->wavelet, config->boundary, &plan->bands, config->layout, data, result,
      plan->width, plan->height);
  else N (forward) (&plan->wavelet, config->boundary, &plan->bands,
      config->layout, data, result, plan->width, plan->height);
  for (guint y = 0; y < height && plane->data; y++)
    memcpy ((guint8 *) plane->data + y * plane->stride,
        result + (gsize) (y + (inverse ? plan->pad[1] : 0)) * plan->width
            + (inverse ? plan->pad[0] : 0),
        width * sizeof (T));
  g_free (result);
}
