/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "config.h"
#include "priordatabase.h"

#include <gio/gio.h>

#ifdef HAVE_SQLITE

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "cuda/bundle/colmap/priors.h"

#define WGS84 0

/* Of an image and of a sensor's record in a frame (version 4) */
static const gchar old_query[] =
    "SELECT image_id, position, position_covariance, coordinate_system "
    "FROM pose_priors ORDER BY image_id";
static const gchar new_query[] =
    "SELECT corr_data_id, position, position_covariance, coordinate_system "
    "FROM pose_priors WHERE corr_sensor_type = 0 ORDER BY corr_data_id";

/* @origin: latitude, longitude (radians) and ECEF position of the first prior */
typedef struct {
  BundleModel *model;
  GHashTable *images; /* id to index + 1 */
  gdouble deviation;
  guint n_wgs84, n_others;
  gdouble origin[5];
} Reading;

/* --- WGS84 ------------------------------------------------------------------------------- */

/* @at: latitude and longitude in degrees, height in metres. To the axes of the Earth:
 * B. Hofmann-Wellenhof et al., GNSS (2008), equation 8.4 */
static void
find_ecef (const gdouble at[3], gdouble to[3])
{
  const gdouble a = 6378137, f = 1 / 298.257223563, e2 = f * (2 - f);
  const gdouble latitude = at[0] * G_PI / 180, longitude = at[1] * G_PI / 180;
  const gdouble n = a / sqrt (1 - e2 * sin (latitude) * sin (latitude));

  to[0] = (n + at[2]) * cos (latitude) * cos (longitude);
  to[1] = (n + at[2]) * cos (latitude) * sin (longitude);
  to[2] = (n * (1 - e2) + at[2]) * sin (latitude);
}

/* Replaces @at by metres to the east, to the north and up from the first prior. */
static void
find_enu (Reading *self, gdouble at[3])
{
  gdouble *o = self->origin, d[3], ecef[3];

  find_ecef (at, ecef);
  if (self->n_wgs84++ == 0) {
    o[0] = at[0] * G_PI / 180;
    o[1] = at[1] * G_PI / 180;
    memcpy (o + 2, ecef, sizeof ecef);
  }
  for (guint k = 0; k < 3; k++)
    d[k] = ecef[k] - o[2 + k];
  at[0] = -sin (o[1]) * d[0] + cos (o[1]) * d[1];
  at[1] = -sin (o[0]) * cos (o[1]) * d[0] - sin (o[0]) * sin (o[1]) * d[1]
          + cos (o[0]) * d[2];
  at[2] = cos (o[0]) * cos (o[1]) * d[0] + cos (o[0]) * sin (o[1]) * d[1]
          + sin (o[0]) * d[2];
}

/* --- rows -------------------------------------------------------------------------------- */

/* @n numbers of a column. Returns: FALSE if there are none, or they are not finite */
static gboolean
get_numbers (sqlite3_stmt *rows, gint column, gdouble *to, guint n)
{
  const gsize size = n * sizeof *to;

  if (sqlite3_column_type (rows, column) != SQLITE_BLOB
      || (gsize) sqlite3_column_bytes (rows, column) != size)
    return FALSE;
  memcpy (to, sqlite3_column_blob (rows, column), size);
  for (guint i = 0; i < n; i++)
    if (!isfinite (to[i]))
      return FALSE;
  return TRUE;
}

/* Images that are not in the model, and rows without a position, are skipped. */
static gboolean
take_prior (Reading *self, sqlite3_stmt *rows, GError **error)
{
  gdouble position[3], c[9];
  const guint image = GPOINTER_TO_UINT (g_hash_table_lookup (
      self->images, GSIZE_TO_POINTER ((gsize) sqlite3_column_int64 (rows, 0))));
  gboolean has_covariance;

  if (image == 0 || !get_numbers (rows, 1, position, 3))
    return TRUE;
  if (sqlite3_column_int (rows, 3) == WGS84) {
    if (fabs (position[0]) > 90 || fabs (position[1]) > 360)
      return cvis_refuse (error,
          "the latitude or longitude of image %u is out of range: %g, %g",
          self->model->images[image - 1].id, position[0], position[1]);
    find_enu (self, position);
  } else {
    self->n_others++;
  }
  if (self->n_wgs84 > 0 && self->n_others > 0)
    return cvis_refuse (
        error, "priors in WGS84 and in other coordinates are mixed");
  has_covariance = get_numbers (rows, 2, c, 9);
  return bundle_model_add_prior (self->model, image - 1, position,
      has_covariance ? (const gdouble[]){ c[0], c[1], c[2], c[4], c[5], c[8] }
                     : NULL,
      self->deviation, error);
}

static gboolean
read_rows (Reading *self, sqlite3 *database, GError **error)
{
  sqlite3_stmt *rows = NULL;
  gboolean ok = TRUE;
  gint code;

  if (sqlite3_prepare_v2 (database, new_query, -1, &rows, NULL) != SQLITE_OK
      && sqlite3_prepare_v2 (database, old_query, -1, &rows, NULL) != SQLITE_OK)
    return cvis_refuse (error,
        "it contains no priors that can be read (%s); COLMAP 3.10 and later "
        "write them",
        sqlite3_errmsg (database));
  while (ok && (code = sqlite3_step (rows)) == SQLITE_ROW)
    ok = take_prior (self, rows, error);
  if (ok && code != SQLITE_DONE)
    ok = cvis_refuse (error, "%s", sqlite3_errmsg (database));
  sqlite3_finalize (rows);
  return ok;
}

gboolean
prior_database_read (
    BundleModel *model, const gchar *name, gdouble deviation, GError **error)
{
  Reading self = { .model = model, .deviation = deviation };
  sqlite3 *database = NULL;
  gboolean ok;

  self.images = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < model->n_images; i++)
    g_hash_table_insert (self.images, GSIZE_TO_POINTER (model->images[i].id),
        GUINT_TO_POINTER (i + 1));
  ok =
      sqlite3_open_v2 (name, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
          ? read_rows (&self, database, error)
          : cvis_refuse (error, "%s", sqlite3_errmsg (database));
  sqlite3_close (database);
  g_hash_table_unref (self.images);
  if (!ok)
    g_prefix_error (error, "%s: ", name);
  return ok;
}

#else

gboolean
prior_database_read (
    BundleModel *model, const gchar *name, gdouble deviation, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
      "%s: this build cannot read databases, because it has no SQLite", name);
  return FALSE;
}

#endif
