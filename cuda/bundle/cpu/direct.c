/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The direct solution of a step. Points or cameras are eliminated; a Cholesky
 * factorisation solves the dense system of the other side.
 *
 * With E = R^T R the block of an eliminated camera or point, W its blocks with the
 * side that is left, Y = R^-T W, the system is S = (blocks of the side left) - sum of
 * Y^T Y. The right-hand side is one more column of S, and -g of an eliminated block
 * one more column of W. So elimination and factorisation treat it like the others.
 *
 * The rows of Y of neighbouring blocks form a group, a dense matrix whose columns are
 * those unknowns that one of its blocks shares an observation with. Each item of a
 * parallel loop writes its own rows of S; each element is a sum over the groups in
 * their order. So the bits do not depend on the number of threads. */
#include "cuda/bundle/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

#define BAND 48      /* rows of S in an item */
#define PANEL 32     /* rows factorised together */
#define MAX_DEPTH 96 /* rows of a group */
/* Adding a group's products to S costs about as much as this many rows. */
#define SCATTER 12
#define NONE G_MAXUINT32

/* Unknowns of a camera or of a point
 * @n: their number; @param: their parameters, ascending
 * @row: of the side left: in S */
typedef struct {
  guint32 row;
  guint8 n, param[9];
} Block;

/* An observation of an eliminated block
 * @left: the block of the side left; @column: its first one in the group */
typedef struct {
  guint32 left, column;
} Entry;

/* @first, @n: in eliminated
 * @depth: rows of Y; @columns: with the right-hand side, the last one
 * @y, @place: where they begin in the arrays of these names */
typedef struct {
  guint32 first, n;
  guint32 depth, columns;
  gsize y, stride;
  gsize place;
} Group;

/* @blocks[0]: of the cameras, without shared intrinsics; [1]: of the points; n is 0
 *   where nothing is unknown or observed
 * @common: the shared intrinsics
 * @eliminated: indices of blocks, in the order of elimination; @entry_first: of
 *   each its first entry, and of the one after the last
 * @entries: as b->derivatives
 * @system: n rows of S, @stride apart, then R
 * @factor: of each eliminated: R, side x side, and the inverse of its diagonal
 * @x: of S */
struct _BundleDirect {
  gboolean points_left;
  guint side;
  gsize n, stride;
  Block *blocks[2];
  Block common;
  guint32 n_eliminated, n_groups;
  guint32 *eliminated;
  Group *groups;
  guint32 *entry_first;
  Entry *entries;
  guint32 *place, *identity;
  gdouble *y, *factor;
  gdouble *system, *diagonal, *inverse, *x;
  gsize panel; /* operand of a parallel loop */
};

void
bundle_direct_free (BundleDirect *d)
{
  if (d == NULL)
    return;
  free (d->blocks[0]);
  free (d->blocks[1]);
  free (d->eliminated);
  free (d->groups);
  free (d->entry_first);
  free (d->entries);
  free (d->place);
  free (d->identity);
  free (d->y);
  free (d->factor);
  free (d->system);
  free (d->diagonal);
  free (d->inverse);
  free (d->x);
  g_free (d);
}

#define NEW(to, n)                                                             \
  ((*(to) = cvis_memory_new (                                                  \
        MAX ((gsize) (n), 1) * sizeof **(to), TRUE, error))                    \
      != NULL)

/* --- blocks, groups ----------------------------------------------------------- */

static gsize
round_up_rows (gsize n)
{
  return (n + BUNDLE_LANES - 1) / BUNDLE_LANES * BUNDLE_LANES;
}

static void
add_unknowns (Block *block, guint16 constant, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    if (!(constant >> i & 1))
      block->param[block->n++] = (guint8) i;
}

static void
make_blocks (BundleBackend *b, BundleDirect *d)
{
  const Block *left = d->blocks[d->points_left];
  gsize n_left = d->points_left ? b->n_points : b->n_cameras;

  for (guint32 c = 0; c < b->n_cameras; c++)
    if (b->camera_first[c + 1] > b->camera_first[c])
      add_unknowns (&d->blocks[0][c], b->camera_constant[c], 0,
          b->shared ? BUNDLE_CAMERA_FOCAL : 9);
  for (guint32 p = 0; p < b->n_points; p++)
    if (b->point_first[p + 1] > b->point_first[p]
        && !(b->point_constant && b->point_constant[p]))
      add_unknowns (&d->blocks[1][p], 0, 0, 3);
  if (b->shared)
    add_unknowns (&d->common, b->camera_constant[0], BUNDLE_CAMERA_FOCAL, 9);
  for (gsize i = 0; i < n_left; i++) {
    d->blocks[d->points_left][i].row = (guint32) d->n;
    d->n += left[i].n;
  }
  d->common.row = (guint32) d->n;
  d->n += d->common.n;
}

/* Lists the entries of the blocks to eliminate in their order, which is set before.
 * The derivatives of slots without an entry come behind. */
static void
list_entries (BundleBackend *b, const guint32 *slot_camera)
{
  BundleDirect *d = b->direct;
  guint32 n = 0;

  for (guint32 e = 0; e < d->n_eliminated; e++) {
    guint32 index = d->eliminated[e];

    d->entry_first[e] = n;
    if (d->points_left) {
      for (guint32 s = b->camera_first[index]; s < b->camera_first[index + 1];
           s++)
        for (guint i = 0; i < b->segments[s].n_real; i++) {
          gsize slot = b->segments[s].first + i;

          d->entries[n].left = b->slot_point[slot];
          b->derivative_of[slot] = n++;
        }
    } else {
      for (guint32 k = b->point_first[index]; k < b->point_first[index + 1];
           k++) {
        guint32 slot = b->point_slot[k];

        d->entries[n].left = slot_camera[slot];
        b->derivative_of[slot] = n++;
      }
    }
  }
  d->entry_first[d->n_eliminated] = n;
  for (gsize slot = 0; slot < b->n_slots; slot++)
    if (b->derivative_of[slot] == NONE)
      b->derivative_of[slot] = n++;
}

typedef struct {
  const BundleBackend *b;
  const guint32 *slot_camera;
} Order;

/* Points by their lists of cameras, so that neighbours have the same */
static gint
compare_points (gconstpointer first, gconstpointer second, gpointer data)
{
  const Order *order = data;
  const BundleBackend *b = order->b;
  guint32 p = *(const guint32 *) first, q = *(const guint32 *) second;
  const guint32 *slots_p = b->point_slot + b->point_first[p];
  const guint32 *slots_q = b->point_slot + b->point_first[q];
  guint32 n = b->point_first[p + 1] - b->point_first[p];
  guint32 m = b->point_first[q + 1] - b->point_first[q];

  for (guint32 i = 0; i < n && i < m; i++) {
    guint32 c = order->slot_camera[slots_p[i]];
    guint32 e = order->slot_camera[slots_q[i]];

    if (c != e)
      return c < e ? -1 : 1;
  }
  return n != m ? (n < m ? -1 : 1) : p < q ? -1 : p > q;
}

/* Adds the columns of the eliminated block number @e to those marked with @group.
 * Returns: their number */
static guint32
mark_columns (const BundleDirect *d, guint32 e, guint32 group, guint32 *marks)
{
  guint32 columns = 0;

  for (guint32 i = d->entry_first[e]; i < d->entry_first[e + 1]; i++) {
    guint32 left = d->entries[i].left;

    if (marks[left] != group) {
      marks[left] = group;
      columns += d->blocks[d->points_left][left].n;
    }
  }
  return columns;
}

static gdouble
get_cost (gdouble depth, gdouble columns)
{
  return (depth + SCATTER) * columns * columns;
}

/* Appends eliminated blocks to a group while one product is cheaper than two.
 * @marks: one for each block of the side left; @alone: the same */
static void
make_groups (BundleDirect *d, guint32 *marks, guint32 *alone)
{
  const Block *blocks = d->blocks[!d->points_left];
  const guint32 always = d->common.n + 1;
  Group *group = NULL;

  for (guint32 i = 0; i < d->n_eliminated; i++) {
    guint32 unknowns = blocks[d->eliminated[i]].n;
    guint32 own = mark_columns (d, i, i + 1, alone) + always;

    if (group != NULL && group->depth + unknowns <= MAX_DEPTH) {
      guint32 all = group->columns + mark_columns (d, i, d->n_groups, marks);

      if (get_cost (group->depth + unknowns, all)
          <= get_cost (group->depth, group->columns)
                 + get_cost (unknowns, own)) {
        group->n++;
        group->depth += unknowns;
        group->columns = all;
        continue;
      }
    }
    group = &d->groups[d->n_groups++];
    *group = (Group){ .first = i, .n = 1, .depth = unknowns, .columns = own };
    mark_columns (d, i, d->n_groups, marks);
  }
}

static gint
compare_directions (gconstpointer first, gconstpointer second, gpointer data)
{
  guint32 p = *(const guint32 *) first, q = *(const guint32 *) second;

  return p < q ? -1 : p > q;
}

/* Sets place and the entries' columns of a group. @column: of each block of the side
 * left, NONE; @list: scratch */
static void
place_columns (
    BundleDirect *d, const Group *group, guint32 *column, guint32 *list)
{
  const Block *left = d->blocks[d->points_left];
  guint32 *place = d->place + group->place, n = 0, at = 0;
  guint32 first = d->entry_first[group->first];
  guint32 end = d->entry_first[group->first + group->n];

  for (guint32 i = first; i < end; i++) {
    guint32 l = d->entries[i].left;

    if (column[l] == NONE) {
      column[l] = 0;
      list[n++] = l;
    }
  }
  g_qsort_with_data (list, (gint) n, sizeof *list, compare_directions, NULL);
  for (guint32 i = 0; i < n; i++) {
    column[list[i]] = at;
    for (guint32 k = 0; k < left[list[i]].n; k++)
      place[at++] = left[list[i]].row + k;
  }
  for (guint32 k = 0; k < d->common.n; k++)
    place[at++] = d->common.row + k;
  place[at] = (guint32) d->n;
  for (guint32 i = first; i < end; i++)
    d->entries[i].column = column[d->entries[i].left];
  for (guint32 i = 0; i < n; i++)
    column[list[i]] = NONE;
}

/* Orders the blocks to eliminate, and groups them. */
static gboolean
plan (BundleBackend *b, GError **error)
{
  BundleDirect *d = b->direct;
  gsize n_left = d->points_left ? b->n_points : b->n_cameras;
  guint32 n = d->points_left ? b->n_cameras : b->n_points;
  guint32 *marks = NULL, *list = NULL, *slot_camera = NULL;
  gsize y = 0, places = 0;
  gboolean done;

  done = NEW (&d->eliminated, n) && NEW (&d->groups, n)
         && NEW (&d->entry_first, (gsize) n + 1)
         && NEW (&d->entries, b->n_slots) && NEW (&marks, n_left)
         && NEW (&list, n_left) && NEW (&slot_camera, b->n_slots);
  if (done) {
    Order order = { b, slot_camera };

    for (guint i = 0; i < b->n_segments; i++)
      for (guint k = 0; k < b->segments[i].n; k++)
        slot_camera[b->segments[i].first + k] = b->segments[i].camera;
    for (guint32 i = 0; i < n; i++)
      if (d->blocks[!d->points_left][i].n > 0)
        d->eliminated[d->n_eliminated++] = i;
    if (!d->points_left)
      g_qsort_with_data (d->eliminated, (gint) d->n_eliminated,
          sizeof *d->eliminated, compare_points, &order);
    list_entries (b, slot_camera);
    make_groups (d, marks, list);
    for (guint32 i = 0; i < d->n_groups; i++) {
      Group *g = &d->groups[i];

      g->y = y;
      g->place = places;
      g->stride = round_up_rows (g->columns + BUNDLE_MARGIN);
      y += g->stride * g->depth;
      places += g->columns;
    }
    done = NEW (&d->y, y) && NEW (&d->place, places);
  }
  if (done) {
    memset (marks, 0xff, n_left * sizeof *marks);
    for (guint32 i = 0; i < d->n_groups; i++)
      place_columns (d, &d->groups[i], marks, list);
  }
  free (marks);
  free (list);
  free (slot_camera);
  return done;
}

BundleDirect *
bundle_direct_new (BundleBackend *b, BundleSolver solver, GError **error)
{
  BundleDirect *d = g_new0 (BundleDirect, 1);

  b->direct = d; /* cpu_destroy() frees it */
  d->points_left = solver == BUNDLE_SOLVER_DIRECT_POINTS;
  d->side = d->points_left ? 9 : 3;
  if (!NEW (&d->blocks[0], b->n_cameras) || !NEW (&d->blocks[1], b->n_points)
      || !NEW (&b->derivatives, 24 * b->n_slots)
      || !NEW (&b->derivative_of, b->n_slots))
    return NULL;
  memset (b->derivative_of, 0xff, b->n_slots * sizeof *b->derivative_of);
  make_blocks (b, d);
  if (!plan (b, error))
    return NULL;
  d->stride = round_up_rows (d->n + 1 + BUNDLE_MARGIN);
  if (!NEW (&d->system, d->stride * (d->n + 1)) || !NEW (&d->identity, d->n + 1)
      || !NEW (&d->diagonal, d->n) || !NEW (&d->inverse, d->n)
      || !NEW (&d->x, d->stride)
      || !NEW (&d->factor, (gsize) d->n_eliminated * d->side * (d->side + 1)))
    return NULL;
  for (gsize i = 0; i <= d->n; i++)
    d->identity[i] = (guint32) i;
  return d;
}

/* --- elimination -------------------------------------------------------------- */

/* The element of parameters i <= j of U of a camera, or V of a point, with damping */
static gdouble
get_element (
    const BundleBackend *b, gboolean point, gsize block, guint i, guint j)
{
  if (point)
    return b->v[6 * block + i * (5 - i) / 2 + j]
           + (i == j ? b->damping_p[block] : 0);
  return b->u[BUNDLE_TRIANGLE * block + bundle_cpu_at (i, j)]
         + (i == j ? b->damping_c[9 * block + i] : 0);
}

static gdouble
get_gradient (const BundleBackend *b, gboolean point, gsize block, guint i)
{
  return point ? b->gradient_p[BUNDLE_POINT * block + i]
               : b->gradient_c[9 * block + i];
}

/* The columns of a block's parameters: two rows, from the 24 derivatives of an
 * observation
 * @room: for them if they are not contiguous; @apart: of the rows
 * Returns: the first row */
static const gdouble *
pick (const gdouble *derivatives, gboolean point, const Block *block,
    gdouble room[18], guint *apart)
{
  const gdouble *from = derivatives + (point ? 18 : 0);

  *apart = point ? 3 : 9;
  if (block->n == 0 || block->param[block->n - 1] - block->param[0] < block->n)
    return from + block->param[0];
  for (guint i = 0; i < block->n; i++) {
    room[i] = from[block->param[i]];
    room[9 + i] = from[9 + block->param[i]];
  }
  return room;
}

/* Rows of Y of the eliminated block number @e to @y, which is 0 before */
static void
eliminate (BundleBackend *b, const Group *group, guint32 e, gdouble *y)
{
  BundleDirect *d = b->direct;
  const gboolean left = d->points_left;
  const guint side = d->side;
  const guint32 index = d->eliminated[e];
  const Block *block = &d->blocks[!left][index];
  gdouble *r = d->factor + (gsize) e * side * (side + 1), diagonal[9];

  for (guint32 i = d->entry_first[e]; i < d->entry_first[e + 1]; i++) {
    const gdouble *derivatives = b->derivatives + 24 * (gsize) i;
    const Block *other = &d->blocks[left][d->entries[i].left];
    gdouble room[2][18];
    guint apart[2];
    const gdouble *own = pick (derivatives, !left, block, room[0], &apart[0]);
    const gdouble *others = pick (derivatives, left, other, room[1], &apart[1]);

    b->kernels->add_products (y + d->entries[i].column, group->stride, own,
        apart[0], block->n, others, apart[1], other->n);
    if (d->common.n > 0) {
      others = pick (derivatives, FALSE, &d->common, room[1], &apart[1]);
      b->kernels->add_products (y + group->columns - 1 - d->common.n,
          group->stride, own, apart[0], block->n, others, apart[1],
          d->common.n);
    }
  }
  for (guint i = 0; i < block->n; i++) {
    y[i * group->stride + group->columns - 1] =
        -get_gradient (b, !left, index, block->param[i]);
    for (guint j = i; j < block->n; j++)
      r[side * i + j] =
          get_element (b, !left, index, block->param[i], block->param[j]);
    diagonal[i] = r[side * i + i];
  }
  b->kernels->factorise (r, side, block->n, diagonal, r + side * side);
  b->kernels->substitute (
      r, side, block->n, r + side * side, y, group->stride, group->columns);
}

static void
eliminate_groups (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleDirect *d = b->direct;

  for (guint i = first; i < first + count; i++) {
    const Group *group = &d->groups[i];
    gdouble *y = d->y + group->y;

    memset (y, 0, group->stride * group->depth * sizeof *y);
    for (guint32 e = group->first; e < group->first + group->n; e++) {
      eliminate (b, group, e, y);
      y += group->stride * d->blocks[!d->points_left][d->eliminated[e]].n;
    }
  }
}

/* --- the system --------------------------------------------------------------- */

/* Element (i, j) or (j, i), that in the upper triangle */
static gdouble *
at (BundleDirect *d, gsize i, gsize j)
{
  return d->system + MIN (i, j) * d->stride + MAX (i, j);
}

/* S = the blocks of the side left, with its right-hand side */
static void
start_system (BundleBackend *b)
{
  BundleDirect *d = b->direct;
  const gboolean left = d->points_left;
  const Block *common = &d->common;
  gsize n_left = left ? b->n_points : b->n_cameras;

  memset (d->system, 0, d->n * d->stride * sizeof *d->system);
  for (gsize l = 0; l < n_left; l++) {
    const Block *block = &d->blocks[left][l];

    for (guint i = 0; i < block->n; i++) {
      for (guint j = i; j < block->n; j++)
        *at (d, block->row + i, block->row + j) =
            get_element (b, left, l, block->param[i], block->param[j]);
      for (guint j = 0; j < common->n; j++)
        *at (d, block->row + i, common->row + j) =
            get_element (b, FALSE, l, block->param[i], common->param[j]);
      *at (d, block->row + i, d->n) =
          -get_gradient (b, left, l, block->param[i]);
    }
  }
  for (guint i = 0; i < common->n; i++) {
    for (guint j = i; j < common->n; j++)
      for (gsize c = 0; c < b->n_cameras; c++)
        *at (d, common->row + i, common->row + j) +=
            b->u[BUNDLE_TRIANGLE * c
                 + bundle_cpu_at (common->param[i], common->param[j])];
    *at (d, common->row + i, common->row + i) += b->damping_c[common->param[i]];
    *at (d, common->row + i, d->n) = -b->gradient_c[common->param[i]];
  }
  for (gsize i = 0; i < d->n; i++)
    d->diagonal[i] = *at (d, i, i);
}

/* First column of @group at or after row @row of S */
static guint32
find_column (const BundleDirect *d, const Group *group, gsize row)
{
  const guint32 *place = d->place + group->place;
  guint32 low = 0, high = group->columns - 1;

  while (low < high) {
    guint32 middle = (low + high) / 2;

    if (place[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void
subtract_groups (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleDirect *d = b->direct;

  for (guint band = first; band < first + count; band++)
    for (guint32 i = 0; i < d->n_groups; i++) {
      const Group *group = &d->groups[i];
      guint32 begin = find_column (d, group, band * (gsize) BAND);
      guint32 end = find_column (d, group, (band + 1) * (gsize) BAND);

      b->kernels->subtract_products (d->system, d->stride,
          d->place + group->place, d->y + group->y, group->stride, group->depth,
          begin, end, group->columns);
    }
}

/* --- factorisation ------------------------------------------------------------ */

/* Columns of the panel's rows behind it: BUNDLE_LANES in an item */
static void
substitute_strips (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleDirect *d = b->direct;
  gdouble *panel = d->system + d->panel * d->stride;
  gsize begin = d->panel + PANEL + (gsize) first * BUNDLE_LANES;

  b->kernels->substitute (panel + d->panel, d->stride, PANEL,
      d->inverse + d->panel, panel + begin, d->stride,
      (guint) MIN (count * (gsize) BUNDLE_LANES, d->n + 1 - begin));
}

/* Subtracts the panel's products from the rows behind it. */
static void
subtract_panel (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleDirect *d = b->direct;
  gsize begin = d->panel + PANEL, rows = d->n - begin;

  b->kernels->subtract_products (d->system + begin * d->stride + begin,
      d->stride, d->identity, d->system + d->panel * d->stride + begin,
      d->stride, PANEL, first * BAND,
      (guint) MIN ((first + count) * (gsize) BAND, rows), (guint) rows + 1);
}

static void
factorise_system (BundleBackend *b)
{
  BundleDirect *d = b->direct;

  for (d->panel = 0; d->panel < d->n; d->panel += PANEL) {
    gdouble *panel = d->system + d->panel * d->stride;
    gsize rows = MIN (PANEL, d->n - d->panel), rest = d->n - d->panel - rows;

    b->kernels->factorise (panel + d->panel, d->stride, (guint) rows,
        d->diagonal + d->panel, d->inverse + d->panel);
    if (rows == PANEL) {
      /* the right-hand side is always behind the panel */
      cvis_pool_run (b->pool, (guint) ((rest + BUNDLE_LANES) / BUNDLE_LANES),
          16, substitute_strips, b);
      cvis_pool_run (
          b->pool, (guint) ((rest + BAND - 1) / BAND), 2, subtract_panel, b);
    } else {
      b->kernels->substitute (panel + d->panel, d->stride, (guint) rows,
          d->inverse + d->panel, panel + d->n, d->stride, 1);
    }
  }
}

/* R x = the last column */
static void
solve_system (BundleBackend *b)
{
  BundleDirect *d = b->direct;

  memset (d->x, 0, d->stride * sizeof *d->x);
  for (gsize i = d->n; i-- > 0;) {
    const gdouble *row = d->system + i * d->stride;
    gdouble sum =
        b->kernels->dot (row + i + 1, d->x + i + 1, (guint) (d->n - i - 1));

    d->x[i] = (row[d->n] - sum) * d->inverse[i];
  }
}

/* x of the cameras of a group from that of the points: R x = the last column of Y
 * minus the others times x of the points */
static void
return_group (BundleBackend *b, const Group *group, gdouble *x)
{
  BundleDirect *d = b->direct;
  const gdouble *y = d->y + group->y;

  for (guint32 i = 0; i + 1 < group->columns; i++)
    x[i] = d->x[d->place[group->place + i]];
  memset (x + group->columns - 1, 0,
      (group->stride - group->columns + 1) * sizeof *x);
  for (guint32 e = group->first; e < group->first + group->n; e++) {
    const gdouble *r = d->factor + (gsize) e * 90, *inverse = r + 81;
    const Block *block = &d->blocks[0][d->eliminated[e]];
    gdouble *to = b->x + 9 * (gsize) d->eliminated[e];

    for (guint i = block->n; i-- > 0;) {
      const gdouble *row = y + i * group->stride;
      gdouble sum =
          row[group->columns - 1] - b->kernels->dot (row, x, group->columns);

      for (guint k = i + 1; k < block->n; k++)
        sum -= r[9 * i + k] * to[block->param[k]];
      to[block->param[i]] = sum * inverse[i];
    }
    y += group->stride * block->n;
  }
}

void
bundle_direct_solve (BundleBackend *b)
{
  BundleDirect *d = b->direct;

  cvis_pool_run (b->pool, d->n_groups, 4, eliminate_groups, b);
  start_system (b);
  cvis_pool_run (
      b->pool, (guint) ((d->n + BAND - 1) / BAND), 1, subtract_groups, b);
  factorise_system (b);
  solve_system (b);
  memset (b->x, 0, b->n_vector * sizeof *b->x);
  if (d->points_left) {
    gdouble *x = g_new (gdouble, d->stride);

    for (guint32 i = 0; i < d->n_groups; i++)
      return_group (b, &d->groups[i], x);
    g_free (x);
  } else {
    for (gsize c = 0; c < b->n_cameras; c++)
      for (guint i = 0; i < d->blocks[0][c].n; i++)
        b->x[9 * c + d->blocks[0][c].param[i]] = d->x[d->blocks[0][c].row + i];
    for (guint i = 0; i < d->common.n; i++)
      b->x[d->common.param[i]] = d->x[d->common.row + i];
  }
}
