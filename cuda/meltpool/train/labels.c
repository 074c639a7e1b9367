/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/labels.h"

#include <string.h>

#include "cuda/meltpool/train/network.h"

enum { LAYER, VECTOR, FRAME, N_RANGES };
static const gchar *const range_names[] = { "layer", "vector", "frame" };

typedef struct {
  guint line;
  gchar *file; /* (nullable): any */
  guint32 from[N_RANGES], to[N_RANGES];
  gboolean of_vectors;
  guint label;
  guint64 matched;
} LabelRow;

struct _PbfLabels {
  gchar *filename;
  GArray *rows;
  GPtrArray *classes; /* ended by NULL when complete */
};

static void
clear_label_row (gpointer data)
{
  g_free (((LabelRow *) data)->file);
}

/* Sets @error with file and line. Returns: FALSE */
static gboolean reject_label (const PbfLabels *labels, guint line,
    GError **error, const gchar *format, ...) G_GNUC_PRINTF (4, 5);

static gboolean
reject_label (const PbfLabels *labels, guint line, GError **error,
    const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s, line %u: %s",
      labels->filename, line, text);
  g_free (text);
  return FALSE;
}

/* "7" or "7-12" */
static gboolean
parse_range (const gchar *text, guint32 *from, guint32 *to)
{
  gchar **ends = g_strsplit (text, "-", 2);
  guint64 numbers[2];
  gboolean ok = ends[0] != NULL
                && g_ascii_string_to_unsigned (g_strstrip (ends[0]), 10, 0,
                    G_MAXUINT32, &numbers[0], NULL);

  numbers[1] = numbers[0];
  if (ok && ends[1] != NULL)
    ok = g_ascii_string_to_unsigned (
             g_strstrip (ends[1]), 10, 0, G_MAXUINT32, &numbers[1], NULL)
         && numbers[0] <= numbers[1];
  g_strfreev (ends);
  if (!ok)
    return FALSE;
  *from = (guint32) numbers[0];
  *to = (guint32) numbers[1];
  return TRUE;
}

/* --- reading --------------------------------------------------------------- */

/* Number of the class, a new one if it is new. */
static gboolean
find_label_class (PbfLabels *labels, guint line, const gchar *name,
    guint *label, GError **error)
{
  if (name[0] == '\0')
    return reject_label (labels, line, error, "the class is empty");
  for (*label = 0; *label < labels->classes->len; ++*label)
    if (strcmp (labels->classes->pdata[*label], name) == 0)
      return TRUE;
  if (strcmp (name, PBF_UNKNOWN_NAME) == 0)
    return reject_label (labels, line, error,
        "\"" PBF_UNKNOWN_NAME "\" is the answer to frames of no class, and "
        "cannot be trained; leave these frames out");
  if (labels->classes->len == PBF_MAX_CLASSES)
    return reject_label (labels, line, error,
        "\"%s\" is the class number %d, a network has %d at most", name,
        PBF_MAX_CLASSES + 1, PBF_MAX_CLASSES);
  g_ptr_array_add (labels->classes, g_strdup (name));
  return TRUE;
}

/* @columns: of file, class and the ranges; -1: the table has none */
typedef struct {
  gint file, class, ranges[N_RANGES];
  guint n;
} LabelColumns;

static gboolean
parse_columns (const PbfLabels *labels, const gchar *text,
    LabelColumns *columns, GError **error)
{
  gchar **names = g_strsplit (text, ",", -1);
  gboolean ok = TRUE;

  *columns = (LabelColumns){ -1, -1, { -1, -1, -1 }, g_strv_length (names) };
  for (guint i = 0; ok && names[i] != NULL; i++) {
    const gchar *name = g_strstrip (names[i]);
    gint *column = strcmp (name, "file") == 0    ? &columns->file
                   : strcmp (name, "class") == 0 ? &columns->class
                                                 : NULL;

    for (guint r = 0; r < N_RANGES; r++)
      if (strcmp (name, range_names[r]) == 0)
        column = &columns->ranges[r];
    if (column == NULL || *column >= 0)
      ok = reject_label (labels, 1, error,
          column == NULL
              ? "column \"%s\" is none of file, layer, vector, frame "
                "and class"
              : "there are two columns \"%s\"",
          name);
    else
      *column = (gint) i;
  }
  g_strfreev (names);
  if (ok && columns->class < 0)
    return reject_label (
        labels, 1, error, "the first row has no column \"class\"");
  return ok;
}

static gboolean
parse_label_row (PbfLabels *labels, guint line, const gchar *text,
    const LabelColumns *columns, GError **error)
{
  gchar **cells = g_strsplit (text, ",", -1);
  LabelRow row = { .line = line };
  const guint n = g_strv_length (cells);
  gboolean ok = n == columns->n;

  if (!ok)
    reject_label (
        labels, line, error, "%u cells, the first row has %u", n, columns->n);
  for (guint i = 0; ok && i < n; i++)
    g_strstrip (cells[i]);
  for (guint r = 0; ok && r < N_RANGES; r++) {
    const gchar *cell =
        columns->ranges[r] >= 0 ? cells[columns->ranges[r]] : "";

    row.to[r] = G_MAXUINT32;
    if (cell[0] == '\0')
      continue;
    row.of_vectors |= r == VECTOR;
    ok = parse_range (cell, &row.from[r], &row.to[r]);
    if (!ok)
      reject_label (labels, line, error,
          "%s \"%s\" is no number and no range such as 3-12", range_names[r],
          cell);
  }
  ok = ok
       && find_label_class (
           labels, line, cells[columns->class], &row.label, error);
  if (ok && columns->file >= 0 && cells[columns->file][0] != '\0')
    row.file = g_strdup (cells[columns->file]);
  if (ok)
    g_array_append_val (labels->rows, row);
  g_strfreev (cells);
  return ok;
}

static gboolean
parse_labels (PbfLabels *labels, gchar *text, GError **error)
{
  gchar **lines = g_strsplit (text, "\n", -1);
  LabelColumns columns;
  gboolean nominal = FALSE;
  gboolean ok = parse_columns (
      labels, g_strchomp (lines[0] != NULL ? lines[0] : text), &columns, error);

  for (guint i = 1; ok && lines[0] != NULL && lines[i] != NULL; i++)
    if (g_strchomp (lines[i])[0] != '\0')
      ok = parse_label_row (labels, i + 1, lines[i], &columns, error);
  for (guint i = 0; i < labels->rows->len; i++)
    nominal |= g_array_index (labels->rows, LabelRow, i).label == 0;
  if (ok && !nominal)
    ok = reject_label (labels, 1, error,
        "no row has the class \"%s\", from which the baseline is made; label "
        "nominal frames, or name that class",
        (const gchar *) labels->classes->pdata[0]);
  if (ok && labels->classes->len < 2)
    ok = reject_label (
        labels, 1, error, "all rows have one class, 2 are needed");
  g_strfreev (lines);
  return ok;
}

PbfLabels *
pbf_labels_parse (const gchar *filename, const gchar *bytes, gsize size,
    const gchar *nominal, GError **error)
{
  PbfLabels *labels = g_new0 (PbfLabels, 1);
  gchar *text = g_strndup (bytes, size);

  labels->filename = g_strdup (filename);
  labels->rows = g_array_new (FALSE, FALSE, sizeof (LabelRow));
  g_array_set_clear_func (labels->rows, clear_label_row);
  labels->classes = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (labels->classes, g_strdup (nominal));
  if (g_utf8_validate (bytes, (gssize) size, NULL)
          ? parse_labels (labels, text, error)
          : reject_label (labels, 1, error, "the file is no text in UTF-8"))
    g_ptr_array_add (labels->classes, NULL);
  else
    g_clear_pointer (&labels, pbf_labels_free);
  g_free (text);
  return labels;
}

PbfLabels *
pbf_labels_load (const gchar *filename, const gchar *nominal, GError **error)
{
  PbfLabels *labels;
  gchar *bytes;
  gsize size;

  if (!g_file_get_contents (filename, &bytes, &size, error))
    return NULL;
  labels = pbf_labels_parse (filename, bytes, size, nominal, error);
  g_free (bytes);
  return labels;
}

void
pbf_labels_free (PbfLabels *labels)
{
  g_free (labels->filename);
  g_array_unref (labels->rows);
  g_ptr_array_unref (labels->classes);
  g_free (labels);
}

const gchar *const *
pbf_labels_get_classes (const PbfLabels *labels)
{
  return (const gchar *const *) labels->classes->pdata;
}

/* --- use ------------------------------------------------------------------- */

static gboolean
row_matches (
    const LabelRow *row, const gchar *file, const guint32 numbers[N_RANGES])
{
  if (row->file != NULL && strcmp (row->file, file) != 0)
    return FALSE;
  for (guint r = 0; r < N_RANGES; r++)
    if (numbers[r] < row->from[r] || numbers[r] > row->to[r])
      return FALSE;
  return TRUE;
}

gboolean
pbf_labels_find (PbfLabels *labels, const gchar *file, guint32 layer,
    guint32 vector, guint32 frame, gint *label, GError **error)
{
  const guint32 numbers[N_RANGES] = { layer, vector, frame };
  const LabelRow *found = NULL;

  *label = PBF_LABEL_NONE;
  for (guint i = 0; i < labels->rows->len; i++) {
    LabelRow *row = &g_array_index (labels->rows, LabelRow, i);

    if (row->of_vectors && vector == PBF_NO_VECTOR
        && (row->file == NULL || strcmp (row->file, file) == 0))
      return reject_label (labels, row->line, error,
          "it labels vectors, and the table %s has none; use the recording, or "
          "label layers or frames",
          file);
    if (!row_matches (row, file, numbers))
      continue;
    row->matched++;
    if (found != NULL && found->label != row->label)
      return reject_label (labels, row->line, error,
          "frame %u of layer %u of %s is \"%s\" here and \"%s\" in line %u",
          frame, layer, file,
          (const gchar *) labels->classes->pdata[row->label],
          (const gchar *) labels->classes->pdata[found->label], found->line);
    found = row;
  }
  if (found != NULL)
    *label = (gint) found->label;
  return TRUE;
}

gboolean
pbf_labels_check_used (const PbfLabels *labels, GError **error)
{
  for (guint i = 0; i < labels->rows->len; i++) {
    const LabelRow *row = &g_array_index (labels->rows, LabelRow, i);

    if (row->matched == 0)
      return reject_label (labels, row->line, error,
          "no frame of the data matches; compare file, layer, vector and frame "
          "with the data");
  }
  return TRUE;
}
