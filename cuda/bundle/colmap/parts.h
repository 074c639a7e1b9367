/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The readers and writers of binary and text files that model.c chooses from.
 * Private. */
#pragma once

#include "cuda/bundle/colmap/model.h"
#include "cuda/bundle/formats/text.h"
#include "cuda/core/threadpool.h"

G_BEGIN_DECLS

/* Fill @model; camera and image of images and elements are ids until model.c
 * replaces them. @model has what was allocated also after an error. */
gboolean bundle_model_parse_binary (BundleModel *model, CvisPool *pool,
    const BundleModelFile *files, GError **error);
gboolean bundle_model_parse_texts (BundleModel *model, CvisPool *pool,
    const BundleModelFile *files, GError **error);

/* Rigs and frames, after the others */
gboolean bundle_model_parse_rigs (
    BundleModel *model, const BundleModelFile *files, GError **error);
/* The pose of image @i that its frame and its camera's sensor give; @q has length 1.
 * Returns: FALSE if one of them is missing */
gboolean bundle_model_image_in_rig (
    const BundleModel *model, guint i, gdouble q[4], gdouble t[3]);
/* Whether @place has finite numbers and a rotation, as poses that count have */
gboolean bundle_model_is_place (const BundleModelPlace *place);
/* As in COLMAP, the poses of frames and sensors count where those of images differ. */
void bundle_model_correct_images (BundleModel *model);
/* Takes the poses of frames from images, by the reference if it is among them. @chosen: of
 * each image, whether it is one of these. Without a rig of several sensors images have
 * their own poses, and nothing changes. */
void bundle_model_move_frames (BundleModel *model, const guint8 *chosen);
/* The file of rigs or frames with their poses */
void bundle_model_format_rigs (
    const BundleModel *model, guint file, BundleText *to);

/* Records @first to @end - 1 of one of the first three files, and what precedes record 0 */
void bundle_model_format_binary (const BundleModel *model, guint file,
    gsize first, gsize end, BundleText *to);
void bundle_model_format_texts (const BundleModel *model, guint file,
    gsize first, gsize end, BundleText *to);

/* --- format.c --- */

/* Gets the next bytes of a file. Returns: FALSE with @error */
typedef gboolean (*BundleModelSink) (
    gconstpointer bytes, gsize n, gpointer user_data, GError **error);

/* Threads that the model is worth */
CvisPool *bundle_model_new_pool (const BundleModel *model);
gboolean bundle_model_has_file (const BundleModel *model, guint file);
gboolean bundle_model_check_rigs (
    const BundleModel *model, gboolean binary, GError **error);
/* Returns: FALSE with the sink's error, CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED */
gboolean bundle_model_format_file (const BundleModel *model, gboolean binary,
    guint file, CvisPool *pool, BundleModelSink sink, gpointer user_data,
    GError **error);

/* A number as COLMAP writes it, with 17 digits; preceded by a blank */
void bundle_model_text_number (BundleText *to, gdouble value);

/* Index of the image with @id; G_MAXUINT: none */
guint bundle_model_find_image (const GHashTable *images, guint64 id);

/* @to is a pointer to a pointer: @n elements, cleared, or left to the threads that fill
 * them: the first access to a page takes longer than reading what it gets.
 * Returns: FALSE with CVIS_ERROR_MEMORY that names @what */
#define BUNDLE_MODEL_NEW(to, n, what)                                          \
  ((*(to) = bundle_model_allocate (n, sizeof **(to), TRUE)) != NULL            \
      || bundle_model_reject_memory (what, n, error))
#define BUNDLE_MODEL_NEW_UNSET(to, n, what)                                    \
  ((*(to) = bundle_model_allocate (n, sizeof **(to), FALSE)) != NULL           \
      || bundle_model_reject_memory (what, n, error))
/* In large pages where these are available; free() */
gpointer bundle_model_allocate (gsize n, gsize size, gboolean clear);
gboolean bundle_model_reject_memory (
    const gchar *what, gsize n, GError **error);

G_END_DECLS
