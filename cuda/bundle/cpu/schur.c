/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* S = U - W V^-1 W^T consists of
 *
 *   [P   C]   P: a block of D x D for each two cameras that share a point
 *   [C^T L]   C: D x K for each camera
 *             L: K x K
 *
 * K is the number of columns of all lenses, and D is 6, those of a pose. Where K would
 * be too large, a lens of one image has its columns in the block of the camera, behind
 * those of the pose. Cameras with fewer columns than D have zeros in their place.
 *
 * With frames the cameras are these.
 *
 * A thread computes the row of a camera: it goes through the camera's slots, and for
 * each through the slots of the same point, in order. The sums over all points for L
 * are those of chunks of points. */
#include "cuda/bundle/cpu/priors.h"
#include "cuda/bundle/cpu/schur.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

/* A pair of slots costs about as much as a slot in a product with the observations, and
 * there are dozens of products for each matrix. */
#define MAX_PAIRS 16 /* for each slot */
#define POINTS 4096  /* whose sums are a chunk */

void
bundle_schur_free (BundleCpuSchur *s)
{
  if (s == NULL)
    return;
  free (s->at);
  free (s->place);
  free (s->row);
  free (s->mirror);
  free (s->column);
  free (s->pair_first);
  free (s->pair);
  free (s->blocks);
  free (s->entry);
  free (s->c);
  free (s->l);
  free (s->chunk);
  free (s->x);
  free (s->entry_first);
  free (s->entry_lens);
  free (s->entry_of);
  g_free (s);
}

/* --- structure --------------------------------------------------------------------- */

#define NEW_SCHUR(to, n)                                                       \
  ((*(to) = cvis_memory_new (                                                  \
        MAX ((gsize) (n), 1) * sizeof **(to), FALSE, error))                   \
      != NULL)

static const BundleSegment *
segment_of_slot (
    const BundleBackend *b, guint32 slot, const guint32 *segment_of)
{
  return &b->segments[segment_of[slot / BUNDLE_LANES]];
}

static guint32
camera_of_slot (const BundleBackend *b, guint32 slot, const guint32 *segment_of)
{
  return segment_of_slot (b, slot, segment_of)->camera;
}

/* The pairs of slots that matrices have; G_MAXSIZE: too many. Both orders of two slots
 * of one camera are pairs. */
static gsize
count_pairs (const BundleBackend *b, const guint32 *segment_of)
{
  gsize n = 0;

  for (gsize p = 0; p < b->n_points; p++) {
    const gsize m = b->point_first[p + 1] - b->point_first[p];
    guint32 last = G_MAXUINT32;
    gsize same = 0;

    n += m * (m + 1) / 2;
    for (guint32 k = b->point_first[p]; k < b->point_first[p + 1]; k++) {
      const guint32 camera = camera_of_slot (b, b->point_slot[k], segment_of);

      same = camera == last ? same + 1 : 0;
      last = camera;
      n += same;
    }
  }
  return n <= MAX_PAIRS * b->n_slots && n <= G_MAXUINT32 ? n : G_MAXSIZE;
}

static gint
compare_columns (gconstpointer a, gconstpointer b)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

/* Lists the cameras that share a point with camera @c in @list. @seen: n_cameras, c + 1
 * for those. Returns: their number */
static guint
list_neighbours (const BundleBackend *b, guint c, const guint32 *segment_of,
    guint32 *seen, guint32 *list)
{
  guint n = 0;

  for (guint s = b->camera_first[c]; s < b->camera_first[c + 1]; s++)
    for (guint i = 0; i < b->segments[s].n_real; i++) {
      const guint32 point = b->slot_point[b->segments[s].first + i];

      for (guint32 k = b->point_first[point]; k < b->point_first[point + 1];
           k++) {
        const guint32 other = camera_of_slot (b, b->point_slot[k], segment_of);

        if (seen[other] != c + 1) {
          seen[other] = c + 1;
          list[n++] = other;
        }
      }
    }
  if (n == 0)
    list[n++] = c; /* a camera without observations has its damping */
  qsort (list, n, sizeof *list, compare_columns);
  return n;
}

/* The blocks of the pairs of camera @c. @at: n_cameras: block of each neighbour */
static void
fill_pairs (const BundleBackend *b, BundleCpuSchur *schur, guint c,
    const guint32 *segment_of, const guint32 *at, gsize *n)
{
  const gsize own = bundle_schur_first_slot (b, c);

  for (guint s = b->camera_first[c]; s < b->camera_first[c + 1]; s++)
    for (guint i = 0; i < b->segments[s].n_real; i++) {
      const guint32 point = b->slot_point[b->segments[s].first + i];

      for (guint32 k = b->point_first[point]; k < b->point_first[point + 1];
           k++)
        if (b->point_slot[k] >= own)
          schur->pair[(*n)++] =
              at[camera_of_slot (b, b->point_slot[k], segment_of)];
    }
}

/* Counts the blocks of all rows, or fills rows, columns and pairs, too. */
static gsize
walk_rows (const BundleBackend *b, BundleCpuSchur *schur, gboolean fill,
    const guint32 *segment_of, guint32 *seen, guint32 *list, guint32 *at)
{
  gsize n_blocks = 0, n_pairs = 0;

  memset (seen, 0, b->n_cameras * sizeof *seen);
  for (guint c = 0; c < b->n_cameras && !cvis_cancelled (); c++) {
    const guint n = list_neighbours (b, c, segment_of, seen, list);

    if (fill) {
      schur->row[c] = n_blocks;
      schur->pair_first[c] = n_pairs;
      for (guint i = 0; i < n; i++) {
        schur->column[n_blocks + i] = list[i];
        at[list[i]] = (guint32) (n_blocks + i);
      }
      fill_pairs (b, schur, c, segment_of, at, &n_pairs);
    }
    n_blocks += n;
  }
  if (fill)
    schur->row[b->n_cameras] = n_blocks;
  return n_blocks;
}

static gsize
find_block (const BundleCpuSchur *schur, guint row, guint column)
{
  gsize low = schur->row[row], high = schur->row[row + 1];

  while (high - low > 1) {
    const gsize middle = (low + high) / 2;

    if (schur->column[middle] <= column)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static void
find_mirrors (const BundleBackend *b, BundleCpuSchur *schur)
{
  for (guint c = 0; c < b->n_cameras; c++)
    for (gsize i = schur->row[c]; i < schur->row[c + 1]; i++)
      schur->mirror[i] =
          schur->column[i] < c ? find_block (schur, schur->column[i], c) : i;
}

/* The lenses of each point */
static gsize
list_entries (
    const BundleBackend *b, BundleCpuSchur *schur, const guint32 *segment_of)
{
  gsize n = 0;

  for (gsize p = 0; p < b->n_points; p++) {
    schur->entry_first[p] = n;
    for (guint32 k = b->point_first[p]; k < b->point_first[p + 1]; k++) {
      const guint32 slot = b->point_slot[k];
      const guint32 lens =
          b->lenses->image[segment_of_slot (b, slot, segment_of)->image].lens;
      gsize e = schur->entry_first[p];

      schur->entry_of[slot] = BUNDLE_SCHUR_NONE;
      if (schur->place[lens] == BUNDLE_SCHUR_NONE)
        continue;
      while (e < n && schur->entry_lens[e] != lens)
        e++;
      if (e == n)
        schur->entry_lens[n++] = lens;
      schur->entry_of[slot] = (guint32) e;
    }
  }
  schur->entry_first[b->n_points] = n;
  return n;
}

/* @dense: (out): a product with the matrix reads more than one with the observations;
 * then the structure is incomplete */
static gboolean
make_structure (BundleBackend *b, BundleCpuSchur *s, const guint32 *segment_of,
    gsize n_pairs, gboolean *dense, GError **error)
{
  const gsize cameras = b->n_cameras, points = b->n_points;
  guint32 *seen = NULL, *list = NULL, *at = NULL;
  gsize n_blocks, n_entries = 0;
  gboolean ok;

  ok = NEW_SCHUR (&seen, cameras) && NEW_SCHUR (&list, cameras)
       && NEW_SCHUR (&at, cameras) && NEW_SCHUR (&s->row, cameras + 1)
       && NEW_SCHUR (&s->pair_first, cameras) && NEW_SCHUR (&s->pair, n_pairs)
       && NEW_SCHUR (&s->entry_first, points + 1)
       && NEW_SCHUR (&s->entry_lens, b->n_slots)
       && NEW_SCHUR (&s->entry_of, b->n_slots);
  if (ok) {
    n_blocks = walk_rows (b, s, FALSE, segment_of, seen, list, at);
    *dense = n_blocks > b->n_slots;
    ok =
        *dense
        || (NEW_SCHUR (&s->column, n_blocks) && NEW_SCHUR (&s->mirror, n_blocks)
            && NEW_SCHUR (&s->blocks, n_blocks * s->d * s->lanes));
  }
  if (ok && !*dense && !cvis_cancelled ()) {
    walk_rows (b, s, TRUE, segment_of, seen, list, at);
    find_mirrors (b, s);
    n_entries = list_entries (b, s, segment_of);
  }
  free (seen);
  free (list);
  free (at);
  if (ok && cvis_cancelled ())
    return cvis_refuse_cancelled (error);
  return ok && NEW_SCHUR (&s->entry, n_entries * s->lens_w);
}

/* Sets @segment_of: n_slots / BUNDLE_LANES */
static void
find_segments (const BundleBackend *b, guint32 *segment_of)
{
  for (guint i = 0; i < b->n_segments; i++)
    for (gsize k = 0; k < b->segments[i].n; k += BUNDLE_LANES)
      segment_of[(b->segments[i].first + k) / BUNDLE_LANES] = i;
}

/* Sets @d, @k, @at, @place. */
static gboolean
place_lenses (const BundleBackend *b, BundleCpuSchur *s, GError **error)
{
  const BundleCpuLenses *l = b->lenses;
  guint passes;

  s->own = bundle_schur_has_own (b);
  s->d = BUNDLE_POSE;
  if (!NEW_SCHUR (&s->place, l->n) || !NEW_SCHUR (&s->at, BUNDLE_SCHUR_COLUMNS))
    return FALSE;
  memset (s->place, 0, l->n * sizeof *s->place);
  for (guint c = 0; c < b->n_cameras; c++) {
    const BundleCpuLens *own = bundle_schur_own_lens (b, c);

    if (own) {
      s->place[own - l->lens] = BUNDLE_SCHUR_NONE;
      s->d = MAX (s->d, BUNDLE_POSE + own->n);
    }
  }
  s->lanes = (s->d + BUNDLE_LANES - 1) / BUNDLE_LANES * BUNDLE_LANES;
  for (guint i = 0; i < l->n; i++) {
    const guint n = l->lens[i].n;

    if (s->place[i] == BUNDLE_SCHUR_NONE)
      continue;
    s->place[i] = s->k;
    s->columns = MAX (s->columns, n);
    s->k += n;
    for (guint e = 0; e < n && s->k <= BUNDLE_SCHUR_COLUMNS; e++)
      s->at[s->place[i] + e] = l->lens[i].first + e;
  }
  s->k_lanes = (s->k + BUNDLE_LANES - 1) / BUNDLE_LANES * BUNDLE_LANES;
  s->lens_w = 3 * s->columns;
  passes = (s->columns + BUNDLE_SCHUR_PASS - 1) / BUNDLE_SCHUR_PASS;
  s->pass = passes > 0 ? (s->columns + passes - 1) / passes : 0;
  return TRUE;
}

gboolean
bundle_schur_new (BundleBackend *b, BundleCpuSchur **schur, GError **error)
{
  const gsize chunks = ((gsize) b->n_points + POINTS - 1) / POINTS;
  gboolean dense = FALSE, ok;
  guint32 *segment_of;
  BundleCpuSchur *s;
  gsize n_pairs;

  s = *schur = g_new0 (BundleCpuSchur, 1);
  s->kernels = CVIS_CPU_CHOOSE (bundle_schur);
  if (!place_lenses (b, s, error)
      || !NEW_SCHUR (&segment_of, b->n_slots / BUNDLE_LANES))
    return FALSE;
  find_segments (b, segment_of);
  n_pairs =
      s->k > BUNDLE_SCHUR_COLUMNS ? G_MAXSIZE : count_pairs (b, segment_of);
  dense = n_pairs == G_MAXSIZE;
  ok = dense || make_structure (b, s, segment_of, n_pairs, &dense, error);
  free (segment_of);
  if (!ok)
    return FALSE;
  if (dense) {
    bundle_schur_free (s);
    *schur = NULL;
    return TRUE;
  }
  return NEW_SCHUR (&s->c, (gsize) b->n_cameras * s->lanes * s->k)
         && NEW_SCHUR (&s->x, (gsize) b->n_cameras * s->d)
         && NEW_SCHUR (&s->l, (gsize) s->k * s->k)
         && NEW_SCHUR (&s->chunk, chunks * s->k * s->k_lanes);
}

/* --- the matrix ---------------------------------------------------------------------- */

static void
make_lens_products (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++)
    b->kernels->lens_products (b, &b->segments[i], b->lenses->schur);
}

static void
make_products (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleCpuSchur *s = b->lenses->schur;

  for (guint i = first; i < first + count; i++)
    b->kernels->products (
        b, &b->segments[i], s, b->partial + (gsize) i * b->n_sums);
}

static void
add_entry_chunks (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  b->lenses->schur->kernels->add_entries (b, (gsize) first * POINTS,
      MIN (((gsize) first + count) * POINTS, b->n_points));
}

/* A chunk's part of L */
static void
sum_chunks (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleCpuSchur *s = b->lenses->schur;

  for (gsize chunk = first; chunk < (gsize) first + count; chunk++)
    s->kernels->sum_points (b, chunk * POINTS,
        MIN ((chunk + 1) * POINTS, b->n_points),
        s->chunk + chunk * s->k * s->k_lanes);
}

/* U of image @image of camera @c and its lens: adds to the diagonal block and C, sets the
 * image's part of L where the lens is not in the block */
static void
put_image_blocks (BundleBackend *b, guint c, guint32 image, gdouble *block)
{
  BundleCpuSchur *s = b->lenses->schur;
  const BundleCpuLens *lens = bundle_lenses_of_image (b->lenses, image);
  const guint size = BUNDLE_POSE + lens->n;
  gdouble *sum = bundle_lenses_arrow (b->lenses, image).sum;
  const guint32 place = s->place[lens - b->lenses->lens];
  const guint in_block = place == BUNDLE_SCHUR_NONE ? size : BUNDLE_POSE;
  gdouble *columns =
      in_block == size ? NULL : s->c + ((gsize) c * s->k + place) * s->lanes;
  gdouble triangle[BUNDLE_LENS_SUMS];

  bundle_lenses_sum_triangle (b, image, triangle);
  for (guint i = 0, at = 0; i < size; i++)
    for (guint j = i; j < size; j++, at++)
      if (j < in_block)
        block[s->lanes * j + i] += triangle[at];
      else if (i < BUNDLE_POSE)
        columns[s->lanes * (j - BUNDLE_POSE) + i] += triangle[at];
      else
        sum[lens->n * (i - BUNDLE_POSE) + j - BUNDLE_POSE] = triangle[at];
}

/* The blocks are 0 before. */
static void
put_own_blocks (BundleBackend *b, guint c)
{
  const BundleCpuLenses *l = b->lenses;
  const BundleCpuSchur *s = l->schur;
  const BundleCpuLens *own = bundle_schur_own_lens (b, c);
  gdouble *block = s->blocks + s->d * s->lanes * find_block (s, c, c);

  for (guint32 i = l->first_image[c]; i < l->first_image[c + 1]; i++)
    put_image_blocks (b, c, i, block);
  for (guint i = 0; i < BUNDLE_POSE; i++)
    for (guint j = i; j < BUNDLE_POSE; j++)
      block[s->lanes * j + i] += bundle_priors_at (b, c, i, j);
  for (guint i = 0; i < s->d; i++)
    for (guint j = i; j < s->d; j++)
      block[s->lanes * i + j] = block[s->lanes * j + i];
  for (guint i = 0; i < BUNDLE_POSE + (own ? own->n : 0); i++)
    block[(s->lanes + 1) * i] += b->damping_c[bundle_schur_place (own, c, i)];
}

static void
make_rows (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleCpuSchur *s = b->lenses->schur;
  const gsize size = s->d * s->lanes;

  for (guint c = first; c < first + count; c++) {
    memset (s->blocks + size * s->row[c], 0,
        (s->row[c + 1] - s->row[c]) * size * sizeof *s->blocks);
    memset (s->c + (gsize) c * s->lanes * s->k, 0,
        (gsize) s->lanes * s->k * sizeof *s->c);
    put_own_blocks (b, c);
    s->kernels->subtract_slots (b, c);
  }
}

/* The blocks left of the diagonal */
static void
copy_mirrors (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleCpuSchur *s = b->lenses->schur;
  const gsize size = s->d * s->lanes;

  for (guint c = first; c < first + count; c++)
    for (gsize i = s->row[c]; i < s->row[c + 1] && s->column[i] < c; i++)
      for (guint k = 0; k < s->d; k++)
        for (guint r = 0; r < s->d; r++)
          s->blocks[size * i + s->lanes * k + r] =
              s->blocks[size * s->mirror[i] + s->lanes * r + k];
}

/* L: the cameras' parts of U, the damping, and the chunks in order. The elements on and
 * right of the diagonal are sums; the others are equal to these. */
static void
make_lens_block (BundleBackend *b, gsize n_chunks)
{
  const BundleCpuLenses *l = b->lenses;
  BundleCpuSchur *s = l->schur;

  memset (s->l, 0, (gsize) s->k * s->k * sizeof *s->l);
  for (guint32 image = 0; image < l->n_images; image++) {
    const BundleCpuLens *lens = bundle_lenses_of_image (l, image);
    const gdouble *sum = bundle_lenses_arrow (l, image).sum;
    const guint32 place = s->place[lens - l->lens];
    gdouble *to;

    if (place == BUNDLE_SCHUR_NONE)
      continue;
    to = s->l + place * (gsize) (s->k + 1);
    for (guint i = 0; i < lens->n; i++)
      for (guint j = i; j < lens->n; j++)
        to[i * s->k + j] += sum[lens->n * i + j];
  }
  for (guint r = 0; r < s->k; r++)
    s->l[r * (s->k + 1)] += b->damping_c[s->at[r]];
  for (gsize chunk = 0; chunk < n_chunks; chunk++)
    for (guint r = 0; r < s->k; r++)
      for (guint c = r; c < s->k; c++)
        s->l[r * s->k + c] += s->chunk[(chunk * s->k + r) * s->k_lanes + c];
  for (guint r = 0; r < s->k; r++)
    for (guint c = 0; c < r; c++)
      s->l[r * s->k + c] = s->l[c * s->k + r];
}

void
bundle_schur_update (BundleBackend *b, BundleCpuSchur *schur)
{
  const guint n_chunks = schur->k > 0 ? (b->n_points + POINTS - 1) / POINTS : 0;

  for (schur->pass_first = 0; schur->pass_first < schur->columns;
       schur->pass_first += schur->pass) {
    bundle_cpu_for_segments (b, make_lens_products);
    cvis_pool_run (b->pool, n_chunks, 1, add_entry_chunks, b);
  }
  cvis_pool_run (b->pool, n_chunks, 1, sum_chunks, b);
  b->lenses->alone = TRUE; /* triangles are those of U */
  bundle_cpu_for_segments (b, make_products);
  b->lenses->alone = FALSE;
  cvis_pool_run (b->pool, b->n_cameras, 1, make_rows, b);
  bundle_cpu_for_cameras (b, copy_mirrors);
  make_lens_block (b, n_chunks);
}

/* --- products ------------------------------------------------------------------------ */

static void
multiply_rows (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  const BundleCpuSchur *s = b->lenses->schur;

  for (guint c = first; c < first + count; c++) {
    const BundleCpuLens *own = bundle_schur_own_lens (b, c);
    gdouble out[BUNDLE_SCHUR_LANES];

    s->kernels->multiply_row (b, c, out);
    memset (b->out + 9 * (gsize) c, 0, 9 * sizeof *out);
    for (guint i = 0; i < BUNDLE_POSE + (own ? own->n : 0); i++)
      b->out[bundle_schur_place (own, c, i)] = out[i];
  }
}

void
bundle_schur_multiply (BundleBackend *b, BundleCpuSchur *s)
{
  for (guint c = 0; c < b->n_cameras; c++) {
    const BundleCpuLens *own = bundle_schur_own_lens (b, c);
    const guint n = BUNDLE_POSE + (own ? own->n : 0);

    for (guint i = 0; i < s->d; i++)
      s->x[c * (gsize) s->d + i] =
          i < n ? b->in[bundle_schur_place (own, c, i)] : 0;
  }
  bundle_cpu_for_cameras (b, multiply_rows);
  for (guint i = 0; i < s->k; i++) {
    gdouble sum = 0;

    for (guint j = 0; j < s->k; j++)
      sum += s->l[i * s->k + j] * b->in[s->at[j]];
    b->out[s->at[i]] = sum;
  }
  for (gsize c = 0; c < b->n_cameras; c++)
    for (guint j = 0; j < s->k; j++) {
      const gdouble *column = s->c + (c * s->k + j) * s->lanes;

      for (guint r = 0; r < s->d; r++)
        b->out[s->at[j]] += column[r] * s->x[c * s->d + r];
    }
}
