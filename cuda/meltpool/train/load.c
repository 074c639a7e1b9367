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
#include "cuda/meltpool/train/table.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

/* --- frames of any file ---------------------------------------------------- */

static gboolean
read_table_file (
    const gchar *filename, PbfResultFunc func, gpointer data, GError **error)
{
  GMappedFile *file = g_mapped_file_new (filename, FALSE, error);
  gboolean ok;

  if (file == NULL)
    return FALSE;
  ok = pbf_read_table (filename, g_mapped_file_get_contents (file),
      g_mapped_file_get_length (file), func, data, error);
  g_mapped_file_unref (file);
  return ok;
}

typedef enum { KIND_TABLE, KIND_RECORDING, KIND_HDF5 } FileKind;

/* By the first bytes */
static FileKind
find_kind (const gchar *filename)
{
  static const guint8 hdf5[] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
  FILE *file = fopen (filename, "rb");
  guint8 bytes[PBF_RECORDING_HEAD] = { 0 };
  PbfRecordingHead head;
  FileKind kind = KIND_TABLE;
  gsize n;

  if (file == NULL)
    return kind;
  n = fread (bytes, 1, sizeof bytes, file);
  if (n >= sizeof hdf5 && memcmp (bytes, hdf5, sizeof hdf5) == 0)
    kind = KIND_HDF5;
  else if (n == sizeof bytes && pbf_recording_read_head (bytes, &head))
    kind = KIND_RECORDING;
  fclose (file);
  return kind;
}

static gboolean
read_frames (const gchar *filename, const PbfFeatures *features,
    PbfResultFunc func, gpointer data, GError **error)
{
  switch (find_kind (filename)) {
    case KIND_RECORDING:
      return pbf_analyse_recording (filename, features->threshold,
          features->window, features->threads, NULL, func, data, error);
    case KIND_HDF5:
      if (features->hdf5 == NULL)
        return cvis_refuse (error,
            "%s: this program was built without libhdf5; write a recording "
            "with "
            "pbfhdf5src and pbffilesink",
            filename);
      return features->hdf5 (filename, features->threshold, features->window,
          features->threads, func, data, error);
    default:
      return read_table_file (filename, func, data, error);
  }
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
count_direction (Loader *self, const CvisPbfResult *result, guint class)
{
  const gint64 dx = (gint64) result->x_um - self->x_um,
               dy = (gint64) result->y_um - self->y_um;

  self->x_um = result->x_um;
  self->y_um = result->y_um;
  if (dx != 0 || dy != 0)
    self->loading
        ->directions[class]
                    [(guint) floor (
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
  if (label != PBF_LABEL_NONE && !(result->flags & CVIS_PBF_RESULT_EMPTY))
    count_direction (self, result, (guint) label);
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
    count_direction (self, result, 0);
  if (!is_usable (self, result))
    return TRUE;
  pbf_dataset_add_row (
      self->dataset, self->machine, self->group, 0, NAN, result->features);
  self->loading->rows++;
  return TRUE;
}

gboolean
pbf_loading_has_one_direction (const PbfLoading *loading, guint class)
{
  const guint64 *directions = loading->directions[class];
  guint most = 0;
  guint64 opposite = 0;

  for (guint d = 1; d < 8; d++)
    if (directions[d] > directions[most])
      most = d;
  for (guint d = 3; d <= 5; d++)
    opposite += directions[(most + d) % 8];
  return opposite * 10 < directions[most];
}

/* A pool looks different from the other side: the baseline is of both, unless the
 * positions are not known. */
static gboolean
check_directions (
    const gchar *filename, const PbfLoading *loading, GError **error)
{
  if (!pbf_loading_has_one_direction (loading, 0))
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
