/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* R^T R = S, with the cameras in the order of least degree and the columns of all
 * lenses at the end. Rows of R of cameras with the same columns form a panel, a dense
 * matrix. The right-hand side is one more column of all panels.
 *
 * A panel is S minus the products of the panels before it that have its columns, in
 * their order; then it is factorised. So the bits do not depend on the number of
 * threads: they take panels, or bands of rows of a panel, that do not depend on each
 * other. */
#include "cuda/bundle/cpu/factor.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

#define MAX_ROWS 96       /* of a panel */
#define MAX_CAMERAS 20000 /* the order takes a bit for each two */
#define SLACK                                                                  \
  8 /* zeros that a camera may add to the rows of a panel, in blocks */
#define BAND 24 /* rows of a panel in an item, rounded down to whole cameras */
/* Multiplications of a factorisation for each observation, above which conjugate
 * gradients take less time. With a lens for each image they take several times as many
 * iterations. */
#define MAX_OPERATIONS 5000
#define MAX_OPERATIONS_OWN 40000

/**
 * Panel:
 * @list: of its cameras, @width of its rows and then those that have columns only, in
 *   the order of elimination; @n_list: of both
 * @rows, @columns: of the matrix, with the right-hand side; @stride: between rows
 * @at: the matrix in @values; @unknown: its first row in @inverse and @diagonal
 * @update, @n_updates: the panels that have its columns
 * @level: panels of one level do not depend on each other
 */
typedef struct {
  gsize list, at, unknown, update, stride;
  guint32 width, n_list;
  guint32 rows, columns;
  guint32 n_updates, level;
} Panel;

/* @panel: whose products are subtracted; @first: index in its list of the first camera
 *   that has rows in the panel they are subtracted from */
typedef struct {
  guint32 panel, first;
} Update;

/* Rows of a panel from @row on */
typedef struct {
  guint32 panel, row;
} Band;

/**
 * BundleCpuFactor:
 * @d: rows of a camera, as in BundleCpuSchur; @band: of a Band
 * @position: of a camera in the order of elimination
 * @lists: guint32, of all panels
 * @panels: Panel, in the order of elimination; the last one is that of the lenses
 * @updates: Update, in the order of the panels
 * @bands, @ordered: Band and guint32 (panels), by level; @first_band, @first_ordered:
 *   of each level, and of the one after the last
 * @level: operand of a parallel loop
 */
struct _BundleCpuFactor {
  const BundleCpuKernels *kernels;
  guint d, band;
  guint32 *position;
  GArray *lists, *panels, *updates, *bands, *ordered;
  GArray *first_band, *first_ordered;
  gdouble *values, *inverse, *diagonal, *x;
  guint level, max_columns;
};

#define PANEL(f, i) (&g_array_index ((f)->panels, Panel, i))
#define LIST(f, panel) (&g_array_index ((f)->lists, guint32, (panel)->list))

void
bundle_factor_free (BundleCpuFactor *f)
{
  if (f == NULL)
    return;
  g_array_unref (f->lists);
  g_array_unref (f->panels);
  g_array_unref (f->updates);
  g_array_unref (f->bands);
  g_array_unref (f->ordered);
  g_array_unref (f->first_band);
  g_array_unref (f->first_ordered);
  free (f->position);
  free (f->values);
  free (f->inverse);
  free (f->diagonal);
  free (f->x);
  g_free (f);
}

/* --- order ----------------------------------------------------------------------- */

/* The graph of the cameras that are not eliminated
 * @bits: of each camera @words; @degree: G_MAXUINT32: eliminated */
typedef struct {
  guint n;
  gsize words;
  guint64 *bits;
  guint32 *degree;
} Graph;

static void
make_graph (const BundleCpuSchur *schur, Graph *graph)
{
  for (guint c = 0; c < graph->n; c++)
    for (gsize i = schur->row[c]; i < schur->row[c + 1]; i++) {
      const guint32 other = schur->column[i];

      if (other != c) {
        graph->bits[c * graph->words + other / 64] |= 1ull << other % 64;
        graph->degree[c]++;
      }
    }
}

static guint32
find_least (const Graph *graph)
{
  guint32 best = 0;

  for (guint32 c = 1; c < graph->n; c++)
    if (graph->degree[c] < graph->degree[best])
      best = c;
  return best;
}

/* Eliminates camera @c: its neighbours become neighbours of each other. Sets @list to
 * them. Returns: their number */
static guint
eliminate_camera (Graph *graph, guint32 c, guint32 *list)
{
  const guint64 *own = graph->bits + c * graph->words;
  guint n = 0;

  for (gsize w = 0; w < graph->words; w++)
    for (guint64 left = own[w]; left != 0; left &= left - 1)
      list[n++] = (guint32) (64 * w) + (guint32) __builtin_ctzll (left);
  for (guint i = 0; i < n; i++) {
    guint64 *bits = graph->bits + list[i] * graph->words;
    guint32 degree = 0;

    for (gsize w = 0; w < graph->words; w++)
      bits[w] |= own[w];
    bits[c / 64] &= ~(1ull << c % 64);
    bits[list[i] / 64] &= ~(1ull << list[i] % 64);
    for (gsize w = 0; w < graph->words; w++)
      degree += (guint32) __builtin_popcountll (bits[w]);
    graph->degree[list[i]] = degree;
  }
  graph->degree[c] = G_MAXUINT32;
  return n;
}

/* Eliminates cameras that have nearly the same neighbours. @list: n; @k: columns that all
 * panels have. Returns: multiplications of their products */
static gdouble
append_panel (BundleCpuFactor *f, Graph *graph, guint32 *list, guint k)
{
  Panel panel = { .list = f->lists->len };
  guint32 camera = find_least (graph), n;
  gdouble columns;

  for (;;) {
    guint32 next = G_MAXUINT32;

    g_array_append_val (f->lists, camera);
    panel.width++;
    n = eliminate_camera (graph, camera, list);
    for (guint i = 0; i < n; i++)
      if (next == G_MAXUINT32 || graph->degree[list[i]] < graph->degree[next])
        next = list[i];
    /* zeros in the rows before it cost less than a panel of its own */
    if (next == G_MAXUINT32 || (panel.width + 1) * f->d > MAX_ROWS
        || (graph->degree[next] + 1 - n) * panel.width > SLACK)
      break;
    camera = next;
  }
  g_array_append_vals (f->lists, list, n);
  panel.n_list = panel.width + n;
  g_array_append_val (f->panels, panel);
  columns = f->d * (gdouble) panel.n_list + k;
  return columns * columns * f->d * panel.width;
}

static gint
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint32 *position = data;
  const guint32 p = position[*(const guint32 *) a];
  const guint32 q = position[*(const guint32 *) b];

  return p < q ? -1 : p > q;
}

/* Sets panels and lists. Returns: FALSE if the factorisation takes too long */
static gboolean
order_cameras (
    const BundleBackend *b, BundleCpuFactor *f, Graph *graph, guint32 *list)
{
  const BundleCpuSchur *schur = b->lenses->schur;
  const gdouble most =
      (schur->own ? MAX_OPERATIONS_OWN : MAX_OPERATIONS) * (gdouble) b->n_slots;
  guint32 n = 0;
  gdouble operations = 0;

  make_graph (schur, graph);
  while (n < graph->n) {
    operations += append_panel (f, graph, list, schur->k + 1);
    if (operations > most || cvis_cancelled ())
      return FALSE;
    for (guint i = 0; i < PANEL (f, f->panels->len - 1)->width; i++)
      f->position[LIST (f, PANEL (f, f->panels->len - 1))[i]] = n++;
  }
  for (guint i = 0; i < f->panels->len; i++) {
    const Panel *p = PANEL (f, i);

    g_qsort_with_data (LIST (f, p) + p->width, (gint) (p->n_list - p->width),
        sizeof (guint32), compare_positions, f->position);
  }
  g_array_append_vals (f->panels, &(Panel){ .list = f->lists->len }, 1);
  return TRUE;
}

/* --- panels ------------------------------------------------------------------------ */

/* Calls @func for the panels that have rows of the columns of panel @s, once for each */
static void
for_ancestors (BundleCpuFactor *f, guint32 s, const guint32 *panel_of,
    void (*func) (BundleCpuFactor *f, guint32 s, guint32 first, guint32 t))
{
  const Panel *p = PANEL (f, s);
  guint32 last = s;

  for (guint32 i = p->width; i < p->n_list; i++) {
    const guint32 t = panel_of[LIST (f, p)[i]];

    if (t != last)
      func (f, s, i, t);
    last = t;
  }
  func (f, s, p->n_list, f->panels->len - 1);
}

static void
count_update (BundleCpuFactor *f, guint32 s, guint32 first, guint32 t)
{
  PANEL (f, t)->n_updates++;
}

static void
add_update (BundleCpuFactor *f, guint32 s, guint32 first, guint32 t)
{
  Panel *p = PANEL (f, t);

  g_array_index (f->updates, Update, p->update + p->n_updates++) =
      (Update){ s, first };
  p->level = MAX (p->level, PANEL (f, s)->level + 1);
}

static void
list_updates (BundleCpuFactor *f, const guint32 *panel_of)
{
  gsize n = 0;

  for (guint32 i = 0; i + 1 < f->panels->len; i++)
    for_ancestors (f, i, panel_of, count_update);
  for (guint32 i = 0; i < f->panels->len; i++) {
    PANEL (f, i)->update = n;
    n += PANEL (f, i)->n_updates;
    PANEL (f, i)->n_updates = 0;
  }
  g_array_set_size (f->updates, (guint) n);
  for (guint32 i = 0; i + 1 < f->panels->len; i++)
    for_ancestors (f, i, panel_of, add_update);
}

/* The panels of each level, and their bands */
static void
list_levels (BundleCpuFactor *f)
{
  const guint n_levels = PANEL (f, f->panels->len - 1)->level + 1;

  for (guint level = 0; level <= n_levels; level++) {
    g_array_append_val (f->first_ordered, f->ordered->len);
    g_array_append_val (f->first_band, f->bands->len);
    for (guint32 i = 0; i < f->panels->len; i++)
      if (PANEL (f, i)->level == level) {
        g_array_append_val (f->ordered, i);
        for (guint32 row = 0; row < PANEL (f, i)->rows; row += f->band)
          g_array_append_vals (f->bands, &(Band){ i, row }, 1);
      }
  }
}

#define NEW_FACTOR(to, n)                                                      \
  ((*(to) = cvis_memory_new (                                                  \
        MAX ((gsize) (n), 1) * sizeof **(to), TRUE, error))                    \
      != NULL)

static gboolean
make_panels (BundleBackend *b, BundleCpuFactor *f, GError **error)
{
  const guint k = b->lenses->schur->k, last = f->panels->len - 1;
  gsize n_values = 0, n_unknowns = 0;
  guint32 *panel_of;

  for (guint32 i = 0; i <= last; i++) {
    Panel *p = PANEL (f, i);

    p->rows = i < last ? f->d * p->width : k;
    p->columns = f->d * p->n_list + k + 1;
    p->stride = (p->columns + BUNDLE_MARGIN + BUNDLE_LANES - 1) / BUNDLE_LANES
                * BUNDLE_LANES;
    p->at = n_values;
    p->unknown = n_unknowns;
    n_values += p->rows * p->stride;
    n_unknowns += p->rows;
    f->max_columns = MAX (f->max_columns, (guint) p->stride);
  }
  if (!NEW_FACTOR (&panel_of, b->n_cameras))
    return FALSE;
  for (guint32 i = 0; i < last; i++)
    for (guint w = 0; w < PANEL (f, i)->width; w++)
      panel_of[LIST (f, PANEL (f, i))[w]] = i;
  list_updates (f, panel_of);
  free (panel_of);
  list_levels (f);
  return NEW_FACTOR (&f->values, n_values)
         && NEW_FACTOR (&f->inverse, n_unknowns)
         && NEW_FACTOR (&f->diagonal, n_unknowns)
         && NEW_FACTOR (&f->x, f->max_columns);
}

gboolean
bundle_factor_new (BundleBackend *b, BundleCpuFactor **factor, GError **error)
{
  Graph graph = { .n = b->n_cameras,
    .words = ((gsize) b->n_cameras + 63) / 64 };
  guint32 *list = NULL;
  BundleCpuFactor *f;
  gboolean ok, ordered;

  if (b->n_cameras > MAX_CAMERAS)
    return TRUE;
  f = *factor = g_new0 (BundleCpuFactor, 1);
  f->kernels = CVIS_CPU_CHOOSE (bundle_cpu);
  f->d = b->lenses->schur->d;
  f->band = MAX (BAND / f->d, 1) * f->d;
  f->lists = g_array_new (FALSE, FALSE, sizeof (guint32));
  f->panels = g_array_new (FALSE, FALSE, sizeof (Panel));
  f->updates = g_array_new (FALSE, FALSE, sizeof (Update));
  f->bands = g_array_new (FALSE, FALSE, sizeof (Band));
  f->ordered = g_array_new (FALSE, FALSE, sizeof (guint32));
  f->first_band = g_array_new (FALSE, FALSE, sizeof (guint));
  f->first_ordered = g_array_new (FALSE, FALSE, sizeof (guint));
  ok = NEW_FACTOR (&f->position, graph.n) && NEW_FACTOR (&list, graph.n)
       && NEW_FACTOR (&graph.degree, graph.n)
       && NEW_FACTOR (&graph.bits, graph.n * graph.words);
  ordered = ok && order_cameras (b, f, &graph, list);
  free (list);
  free (graph.degree);
  free (graph.bits);
  if (ok && !ordered) {
    g_clear_pointer (factor, bundle_factor_free);
    return !cvis_cancelled () || cvis_refuse_cancelled (error);
  }
  return ok && make_panels (b, f, error);
}

/* --- factorisation ----------------------------------------------------------------- */

/* Rows of camera number @k of the panel, from S */
static void
copy_camera (
    const BundleBackend *b, const BundleCpuFactor *f, const Panel *p, guint32 k)
{
  const BundleCpuSchur *s = b->lenses->schur;
  const guint32 *list = LIST (f, p), camera = list[k];
  const BundleCpuLens *own = bundle_schur_own_lens (b, camera);
  gdouble *to = f->values + p->at + f->d * k * p->stride;
  const gdouble *lenses = s->c + (gsize) camera * s->lanes * s->k;

  for (gsize i = s->row[camera]; i < s->row[camera + 1]; i++) {
    const guint32 position = f->position[s->column[i]];
    const gdouble *block = s->blocks + s->d * s->lanes * s->mirror[i];
    const gboolean turned = s->mirror[i] != i;
    guint32 low = k, high = p->n_list;

    if (position < f->position[camera])
      continue;
    while (high - low > 1) {
      const guint32 middle = (low + high) / 2;

      if (f->position[list[middle]] <= position)
        low = middle;
      else
        high = middle;
    }
    for (guint r = 0; r < f->d; r++)
      for (guint c = 0; c < f->d; c++)
        to[r * p->stride + f->d * low + c] =
            block[turned ? s->lanes * r + c : s->lanes * c + r];
  }
  for (guint r = 0; r < f->d; r++) {
    const gboolean unknown = r < BUNDLE_POSE + (own ? own->n : 0);
    gdouble *row = to + r * p->stride + f->d * p->n_list;
    const gsize at = unknown ? bundle_schur_place (own, camera, r) : 0;

    for (guint j = 0; j < s->k; j++)
      row[j] = lenses[s->lanes * j + r];
    row[s->k] = unknown ? b->b[at] : 0;
    f->diagonal[p->unknown + f->d * k + r] =
        !unknown || (r < BUNDLE_POSE && (b->camera_constant[camera] >> r & 1))
            ? INFINITY
            : b->diagonal[at] + b->damping_c[at];
  }
}

static void
copy_lens (
    const BundleBackend *b, const BundleCpuFactor *f, const Panel *p, guint32 k)
{
  const BundleCpuSchur *s = b->lenses->schur;
  gdouble *row = f->values + p->at + k * p->stride;

  memcpy (row, s->l + (gsize) k * s->k, s->k * sizeof *row);
  row[s->k] = b->b[s->at[k]];
  f->diagonal[p->unknown + k] = b->diagonal[s->at[k]] + b->damping_c[s->at[k]];
}

/* Sets @place[i]: column in panel @t of column i of panel @s, from its camera @first
 * on. */
static guint
place_columns (const BundleCpuFactor *f, const Panel *t, const Panel *s,
    guint32 first, guint k, guint32 *place)
{
  const guint32 *to = LIST (f, t), *from = LIST (f, s);
  guint n = 0;

  for (guint32 i = first, at = 0; i < s->n_list; i++, at++) {
    while (to[at] != from[i])
      at++;
    for (guint e = 0; e < f->d; e++)
      place[n++] = f->d * at + e;
  }
  for (guint e = 0; e <= k; e++)
    place[n++] = f->d * t->n_list + e;
  return n;
}

static guint
find_place_from (const guint32 *place, guint n, guint32 row)
{
  guint low = 0;

  while (low < n && place[low] < row)
    low++;
  return low;
}

static void
sum_bands (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleCpuFactor *f = b->lenses->factor;
  const guint k = b->lenses->schur->k;
  guint32 *place = g_new (guint32, f->max_columns);
  const guint begin = g_array_index (f->first_band, guint, f->level);

  for (guint i = begin + first; i < begin + first + count; i++) {
    const Band band = g_array_index (f->bands, Band, i);
    const Panel *p = PANEL (f, band.panel);
    const guint32 end = MIN (band.row + f->band, p->rows);

    memset (f->values + p->at + band.row * p->stride, 0,
        (end - band.row) * p->stride * sizeof *f->values);
    if (p->width > 0)
      for (guint32 r = band.row; r < end; r += f->d)
        copy_camera (b, f, p, r / f->d);
    else
      for (guint32 r = band.row; r < end; r++)
        copy_lens (b, f, p, r);
    for (guint32 u = 0; u < p->n_updates; u++) {
      const Update *update = &g_array_index (f->updates, Update, p->update + u);
      const Panel *s = PANEL (f, update->panel);
      const guint n = place_columns (f, p, s, update->first, k, place);

      f->kernels->subtract_products (f->values + p->at, p->stride, place,
          f->values + s->at + f->d * update->first, s->stride, s->rows,
          find_place_from (place, n, band.row), find_place_from (place, n, end),
          n);
    }
  }
  g_free (place);
}

static void
factorise_panels (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;
  BundleCpuFactor *f = b->lenses->factor;
  const guint begin = g_array_index (f->first_ordered, guint, f->level);

  for (guint i = begin + first; i < begin + first + count; i++) {
    const Panel *p = PANEL (f, g_array_index (f->ordered, guint32, i));
    gdouble *a = f->values + p->at;

    f->kernels->factorise (a, p->stride, p->rows, f->diagonal + p->unknown,
        f->inverse + p->unknown);
    f->kernels->substitute (a, p->stride, p->rows, f->inverse + p->unknown,
        a + p->rows, p->stride, p->columns - p->rows);
  }
}

/* R x = the last column */
static void
substitute_back (BundleBackend *b, const BundleCpuFactor *f)
{
  const BundleCpuSchur *schur = b->lenses->schur;

  memset (b->x, 0, b->n_vector * sizeof *b->x);
  for (guint i = f->panels->len; i-- > 0;) {
    const Panel *p = PANEL (f, i);
    const guint32 *list = LIST (f, p);
    gdouble *x = f->x;

    memset (x, 0, f->max_columns * sizeof *x);
    for (guint c = p->width; c < p->n_list; c++)
      memcpy (
          x + f->d * c, schur->x + f->d * (gsize) list[c], f->d * sizeof *x);
    for (guint j = 0; j < schur->k && p->width > 0; j++)
      x[f->d * p->n_list + j] = b->x[schur->at[j]];
    for (guint r = p->rows; r-- > 0;) {
      const gdouble *row = f->values + p->at + r * p->stride;

      x[r] = (row[p->columns - 1]
                 - f->kernels->dot (row + r + 1, x + r + 1, p->columns - r - 2))
             * f->inverse[p->unknown + r];
    }
    for (guint c = 0; c < p->width; c++)
      memcpy (
          schur->x + f->d * (gsize) list[c], x + f->d * c, f->d * sizeof *x);
    for (guint j = 0; j < schur->k && p->width == 0; j++)
      b->x[schur->at[j]] = x[j];
  }
  for (guint c = 0; c < b->n_cameras; c++) {
    const BundleCpuLens *own = bundle_schur_own_lens (b, c);

    for (guint i = 0; i < BUNDLE_POSE + (own ? own->n : 0); i++)
      b->x[bundle_schur_place (own, c, i)] = schur->x[f->d * (gsize) c + i];
  }
}

void
bundle_factor_solve (BundleBackend *b, BundleCpuFactor *f)
{
  for (f->level = 0; f->level + 1 < f->first_band->len; f->level++) {
    const guint *bands = &g_array_index (f->first_band, guint, f->level);
    const guint *panels = &g_array_index (f->first_ordered, guint, f->level);

    cvis_pool_run (b->pool, bands[1] - bands[0], 1, sum_bands, b);
    cvis_pool_run (b->pool, panels[1] - panels[0], 1, factorise_panels, b);
  }
  substitute_back (b, f);
}
