/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/table.h"

#include <math.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/decimal.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

enum { FRAME_COUNTER, LAYER, X_UM, Y_UM, FLAGS, N_KEYS };
static const gchar *const key_names[N_KEYS] = { "frame_counter", "layer",
  "x_um", "y_um", "flags" };

/* A column of the table: its name, and where its number goes. */
typedef struct {
  gchar *name;
  gdouble *value; /* NULL: not needed */
} Column;

static void
clear_column (gpointer data)
{
  g_free (((Column *) data)->name);
}

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
    const Column column = { g_strdup (name), find_number_place (table, name) };

    if (ok && column.value != NULL && has_column (table, column.value))
      ok = reject_table (table, error, "there are two columns \"%s\"", name);
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

/* Positions may be negative. */
static gboolean
is_key (glong key, gdouble value)
{
  const gboolean position = key == X_UM || key == Y_UM;

  return value >= (position ? G_MININT32 : 0)
         && value <= (position ? G_MAXINT32 : G_MAXUINT32)
         && value == floor (value);
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
    if (column->value != NULL && !isfinite ((gfloat) *column->value))
      return reject_table (table, error,
          "column %s is %g, must be finite; leave the frame out", column->name,
          *column->value);
    if (column->value >= table->keys && column->value < table->keys + N_KEYS
        && !is_key (column->value - table->keys, *column->value))
      return reject_table (table, error,
          "column %s is %g, which is no whole number of 32 bits", column->name,
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

gboolean
pbf_read_table (const gchar *filename, const gchar *bytes, gsize size,
    PbfResultFunc func, gpointer data, GError **error)
{
  Table table = { .filename = filename };
  const gchar *at = bytes, *end = bytes + size;
  gboolean ok = TRUE;

  table.columns = g_array_new (FALSE, FALSE, sizeof (Column));
  g_array_set_clear_func (table.columns, clear_column);
  if (size > 0 && !g_utf8_validate (bytes, (gssize) size, NULL)) {
    table.line = 1;
    ok = reject_table (&table, error, "the file is no text in UTF-8");
  }
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
  return ok;
}
