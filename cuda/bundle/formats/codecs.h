/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The readers and writers that formats.c chooses from. A reader is only
 * called for text that bundle_format_detect() assigns to its format. The
 * arguments are those of bundle_read() and bundle_write(). */
#pragma once

#include "cuda/bundle/formats/formats.h"
#include "cuda/bundle/formats/scanner.h"
#include "cuda/bundle/formats/text.h"

G_BEGIN_DECLS

BundleProblem *bundle_bal_read (
    const gchar *data, gsize size, guint threads, GError **error);
BundleProblem *bundle_bundler_read (
    const gchar *data, gsize size, GError **error);
BundleProblem *bundle_nvm_read (const gchar *data, gsize size, GError **error);
BundleProblem *bundle_colmap_read (
    const gchar *data, gsize size, GError **error);

gboolean bundle_bal_write (const BundleProblem *problem, guint threads,
    BundleSink sink, gpointer user_data, GError **error);
GBytes *bundle_bundler_write (const BundleProblem *problem, GError **error);
GBytes *bundle_nvm_write (const BundleProblem *problem, GError **error);
GBytes *bundle_colmap_write (
    const BundleProblem *problem, const gdouble *errors, GError **error);
GBytes *bundle_transforms_write (const BundleProblem *problem, GError **error);
GBytes *bundle_tum_write (const BundleProblem *problem, GError **error);

/* The camera that a reader gets from what the writer writes of @camera: equal but
 * for rounding and, in NVM, k2 */
void bundle_bundler_hold (const gdouble *camera, gdouble *held);
void bundle_nvm_hold (const gdouble *camera, gdouble *held);
void bundle_colmap_hold (const gdouble *camera, gdouble *held);

/* --- tracks: what the formats have that list a point's observations with it --- */

/**
 * BundleTracks: a problem during reading
 * @problem: cameras and points; no observations yet
 * @n, @allocated: number and capacity of observations
 */
typedef struct {
  BundleProblem *problem;
  gsize n, allocated;
  guint32 *camera_of, *point_of;
  gdouble *observed;
} BundleTracks;

/* @views, @colours: whether the problem has them */
gboolean bundle_tracks_init (BundleTracks *tracks, guint64 n_cameras,
    guint64 n_points, gboolean views, gboolean colours, GError **error);
void bundle_tracks_clear (BundleTracks *tracks);
/* Returns: FALSE with CVIS_ERROR_MEMORY */
gboolean bundle_tracks_add (BundleTracks *tracks, guint camera, guint point,
    gdouble x, gdouble y, GError **error);
/* Returns: the problem, and clears @tracks; %NULL with @error, also if there
 * are no observations */
BundleProblem *bundle_tracks_finish (
    BundleTracks *tracks, const BundleScanner *s, GError **error);

/* Adds a sentence to problem->notes. */
void bundle_add_note (BundleProblem *problem, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Sorts observations by the index in @of, problem->camera_of or ->point_of,
 * each below @n_of, in stable order: those of p are order[first[p]] ..
 * order[first[p + 1] - 1].
 * @first: n_of + 1; free both with g_free()
 * Returns: FALSE with CVIS_ERROR_MEMORY */
gboolean bundle_order (const BundleProblem *problem, const guint32 *of,
    guint n_of, gsize **first, guint32 **order, GError **error);

/* File name of camera @i's picture, generated if unknown. g_free() */
gchar *bundle_view_name (const BundleProblem *problem, guint i);

/* Size of the picture and principal point, pixels; derived from the
 * observations if unknown. */
typedef struct {
  guint width, height;
  gdouble centre[2];
} BundlePicture;

/* Returns: n_cameras; g_free(); %NULL with CVIS_ERROR_MEMORY */
BundlePicture *bundle_pictures (const BundleProblem *problem, GError **error);

G_END_DECLS
