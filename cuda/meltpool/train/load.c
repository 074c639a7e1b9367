/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cuda/camera/recording.h"
#include "cuda/core/cancel.h"
#include "cuda/core/decimal.h"
#include "cuda/meltpool/train/frames.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

/* --- tables ---------------------------------------------------------------- */

enum { FRAME_COUNTER, LAYER, X_UM, Y_UM, FLAGS, N_KEYS };
static const gchar *const key_names[N_KEYS] = { "frame_counter", "layer",
  "x_um", "y_um", "flags" };

/* A column of the table: its name, and where its number goes. */
typedef struct {
  const gchar *name;
  gdouble *value; /* NULL: not needed */
} Column;

typedef struct {
  const gchar *filename;
  gdouble keys[N_KEYS], features[N_FEATURES];
  GArray *columns; /* of Column */
  guint line;
} Table;

static gboolean reject_table (const Table *table, GError **error,
    const gchar *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
reject_table (const Table *table, GError **error, const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s, line %u: %s",
      table->filename, table->line, text);
  g_free (text);
  return FALSE;
}

/* The place for the numbers of column @name; NULL: not needed */
static gdouble *
find_number_place (Table *table, const gchar *name)
{
  for (guint k = 0; k < N_KEYS; k++)
    if (strcmp (name, key_names[k]) == 0)
      return &table->keys[k];
  for (guint f = 0; f < N_FEATURES; f++)
    if (strcmp (name, pbf_feature_name (f)) == 0)
      return &table->features[f];
  return NULL;
}

static gboolean
has_column (const Table *table, const gdouble *value)
{
  for (guint c = 0; c < table->columns->len; c++)
    if (g_array_index (table->columns, Column, c).value == value)
      return TRUE;
  return FALSE;
}

static gboolean
read_head (Table *table, const gchar *at, const gchar *end, GError **error)
{
  gchar *text = g_strndup (at, (gsize) (end - at));
  gchar **names = g_strsplit (text, ",", -1);
  gboolean ok = TRUE;

  table->line = 1;
  for (guint i = 0; names[i] != NULL; i++) {
    const gchar *name = g_strstrip (names[i]);
    const Column column = { g_intern_string (name),
      find_number_place (table, name) };

    g_array_append_val (table->columns, column);
  }
  for (guint k = 0; ok && k < N_KEYS; k++)
    if (!has_column (table, &table->keys[k]))
      ok = reject_table (table, error,
          "no column \"%s\"; tables are those of `cudavision monitor --csv`",
          key_names[k]);
  for (guint f = 0; ok && f < N_FEATURES; f++)
    if (!has_column (table, &table->features[f]))
      ok = reject_table (table, error,
          "no column \"%s\" of the features " CVIS_PBF_FEATURE_SPEC,
          pbf_feature_name (f));
  g_strfreev (names);
  g_free (text);
  return ok;
}

/* Reads a row up to @end, the end of its line. */
static gboolean
read_table_row (Table *table, const gchar *at, const gchar *end, GError **error)
{
  for (guint c = 0; c < table->columns->len; c++) {
    const Column *column = &g_array_index (table->columns, Column, c);
    const gchar *comma = memchr (at, ',', (gsize) (end - at));
    const gchar *cell = comma != NULL ? comma : end;

    if ((comma == NULL) != (c + 1 == table->columns->len))
      return reject_table (table, error,
          "%s than the %u columns of the first line",
          comma == NULL ? "fewer cells" : "more cells", table->columns->len);
    if (column->value != NULL
        && (cvis_decimal_read (at, cell, '.', column->value) != cell
            || at == cell))
      return reject_table (table, error, "column %s: \"%.*s\" is no number",
          column->name, (gint) MIN (cell - at, 40), at);
    if (column->value != NULL && !isfinite (*column->value))
      return reject_table (table, error,
          "column %s is %g, must be finite; leave the frame out", column->name,
          *column->value);
    at = cell + 1;
  }
  return TRUE;
}

static void
fill_result (const Table *table, CvisPbfResult *result)
{
  memset (result, 0, sizeof *result);
  result->frame_counter = (guint32) table->keys[FRAME_COUNTER];
  result->layer = (guint32) table->keys[LAYER];
  result->vector_id = PBF_NO_VECTOR;
  result->x_um = (gint32) table->keys[X_UM];
  result->y_um = (gint32) table->keys[Y_UM];
  result->flags = (guint32) table->keys[FLAGS];
  for (guint f = 0; f < N_FEATURES; f++)
    result->features[f] = (gfloat) table->features[f];
}

static gboolean
read_table (
    const gchar *filename, PbfResultFunc func, gpointer data, GError **error)
{
  Table table = { .filename = filename };
  GMappedFile *file = g_mapped_file_new (filename, FALSE, error);
  const gchar *at, *end;
  gboolean ok = TRUE;

  if (file == NULL)
    return FALSE;
  table.columns = g_array_new (FALSE, FALSE, sizeof (Column));
  at = g_mapped_file_get_contents (file);
  end = at + g_mapped_file_get_length (file);
  while (ok && at < end) {
    const gchar *feed = memchr (at, '\n', (gsize) (end - at));
    const gchar *stop = feed != NULL ? feed : end;
    const gchar *text_end = stop > at && stop[-1] == '\r' ? stop - 1 : stop;
    CvisPbfResult result;

    if (table.line == 0) {
      ok = read_head (&table, at, text_end, error);
    } else if (text_end > at) {
      table.line++;
      ok = read_table_row (&table, at, text_end, error);
      if (ok) {
        fill_result (&table, &result);
        ok = func (&result, data, error);
      }
    } else {
      table.line++;
    }
    at = stop + 1;
    if (ok && cvis_cancelled ())
      ok = cvis_refuse_cancelled (error);
  }
  g_array_unref (table.columns);
  g_mapped_file_unref (file);
  return ok;
}

/* --- frames of any file ---------------------------------------------------- */

static gboolean
is_recording (const gchar *filename)
{
  FILE *file = fopen (filename, "rb");
  guint8 bytes[PBF_RECORDING_HEAD] = { 0 };
  PbfRecordingHead head;
  gboolean recording = FALSE;

  if (file != NULL) {
    recording = fread (bytes, 1, sizeof bytes, file) == sizeof bytes
                && pbf_recording_read_head (bytes, &head);
    fclose (file);
  }
  return recording;
}

static gboolean
read_frames (const gchar *filename, const PbfFeatures *features,
    PbfResultFunc func, gpointer data, GError **error)
{
  if (!is_recording (filename))
    return read_table (filename, func, data, error);
  return pbf_analyse_recording (filename, features->threshold, features->window,
      features->threads, NULL, func, data, error);
}

typedef struct {
  const gchar *filename;
  gchar *name; /* of the file, without its folder */
  PbfLabels *labels;
  PbfDataset *dataset;
  PbfLoading *loading;
  guint machine, group;
  gboolean by_layer, begun;
  guint32 layer;
  gint32 x_um, y_um;
} Loader;

static void
count_direction (Loader *self, const CvisPbfResult *result)
{
  const gint64 dx = (gint64) result->x_um - self->x_um,
               dy = (gint64) result->y_um - self->y_um;

  self->x_um = result->x_um;
  self->y_um = result->y_um;
  if (dx != 0 || dy != 0)
    self->loading
        ->directions[(guint) floor (
                         atan2 ((gdouble) dy, (gdouble) dx) * 4 / G_PI + 8.5)
                     % 8]++;
}

static gboolean
is_usable (Loader *self, const CvisPbfResult *result)
{
  const guint32 unused =
      CVIS_PBF_RESULT_EMPTY | CVIS_PBF_RESULT_WARMUP | CVIS_PBF_RESULT_EXCLUDED;

  if (!(result->flags & unused))
    return TRUE;
  self->loading->unused++;
  return FALSE;
}

static gboolean
load_row (const CvisPbfResult *result, gpointer data, GError **error)
{
  Loader *self = data;
  gint label;

  if (!pbf_labels_find (self->labels, self->name, result->layer,
          result->vector_id, result->frame_counter, &label, error))
    return FALSE;
  if (!is_usable (self, result))
    return TRUE;
  if (label == PBF_LABEL_NONE) {
    self->loading->unlabelled++;
    return TRUE;
  }
  if (!self->begun || (self->by_layer && result->layer != self->layer)) {
    gchar *name = self->by_layer ? g_strdup_printf (
                      "%s, layer %u", self->name, result->layer)
                                 : g_strdup (self->name);

    self->group = pbf_dataset_add_group (self->dataset, name);
    self->layer = result->layer;
    self->begun = TRUE;
    g_free (name);
  }
  pbf_dataset_add_row (self->dataset, self->machine, self->group, (guint) label,
      NAN, result->features);
  self->loading->rows++;
  return TRUE;
}

gboolean
pbf_load_rows (const gchar *filename, const PbfFeatures *features,
    PbfLabels *labels, guint machine, gboolean by_layer, PbfDataset *dataset,
    PbfLoading *loading, GError **error)
{
  Loader loader = { .filename = filename,
    .name = g_path_get_basename (filename),
    .labels = labels,
    .dataset = dataset,
    .loading = loading,
    .machine = machine,
    .by_layer = by_layer };
  const gboolean ok =
      read_frames (filename, features, load_row, &loader, error);

  g_free (loader.name);
  return ok;
}

/* --- baselines ------------------------------------------------------------- */

static gboolean
load_nominal (const CvisPbfResult *result, gpointer data, GError **error)
{
  Loader *self = data;

  if (!(result->flags & CVIS_PBF_RESULT_EMPTY))
    count_direction (self, result);
  if (!is_usable (self, result))
    return TRUE;
  pbf_dataset_add_row (
      self->dataset, self->machine, self->group, 0, NAN, result->features);
  self->loading->rows++;
  return TRUE;
}

/* A pool looks different from the other side: the baseline is of both, unless the
 * positions are not known. */
static gboolean
check_directions (
    const gchar *filename, const PbfLoading *loading, GError **error)
{
  guint most = 0;
  guint64 opposite = 0;

  for (guint d = 1; d < 8; d++)
    if (loading->directions[d] > loading->directions[most])
      most = d;
  for (guint d = 3; d <= 5; d++)
    opposite += loading->directions[(most + d) % 8];
  if (loading->directions[most] == 0
      || opposite * 10 >= loading->directions[most])
    return TRUE;
  return cvis_refuse (error,
      "%s: the laser scans in one direction only; take a baseline from lines "
      "in "
      "both, best a whole layer",
      filename);
}

gboolean
pbf_load_baseline (const gchar *filename, const gchar *name,
    const PbfFeatures *features, PbfDataset *dataset, PbfLoading *loading,
    GError **error)
{
  Loader loader = { .filename = filename,
    .dataset = dataset,
    .loading = loading,
    .machine = pbf_dataset_add_machine (dataset, name),
    .group = pbf_dataset_add_group (dataset, name) };

  return read_frames (filename, features, load_nominal, &loader, error)
         && check_directions (filename, loading, error)
         && pbf_dataset_find_baselines (dataset, error);
}
