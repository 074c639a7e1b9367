/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of surfaces: X3P (ISO 25178-72), SDF (ISO 25178-71, ASCII and binary),
 * Digital Surf SUR, GSF (Gwyddion simple field), TIFF of floats, NPY; AL3D, BCRF,
 * PLU, OPD, MetroPro and text to read. Bytes from outside: every field is checked, and what is wrong is
 * named with its place in CVIS_ERROR_FORMAT. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/core/threadpool.h"

G_BEGIN_DECLS

typedef enum {
  SURFACE_FILE_UNKNOWN,
  SURFACE_FILE_X3P,
  SURFACE_FILE_SDF, /* ASCII */
  SURFACE_FILE_SDF_BINARY,
  SURFACE_FILE_SUR,
  SURFACE_FILE_GSF,
  SURFACE_FILE_TIFF,
  SURFACE_FILE_NPY,
  SURFACE_FILE_AL3D, /* read only */
  SURFACE_FILE_BCRF, /* read only, as all that follow */
  SURFACE_FILE_PLU,
  SURFACE_FILE_OPD,
  SURFACE_FILE_METROPRO,
  SURFACE_FILE_TEXT, /* matrices, and points of a grid */
} SurfaceFileFormat;

/**
 * SurfaceImage: heights in metres
 * @dx, @dy: spacing in metres; 0: the file does not say
 * @z: row by row from the top, NaN where a point is missing
 * @title: (nullable): UTF-8
 * @date: (nullable): ISO 8601
 */
typedef struct {
  guint width, height;
  gdouble dx, dy;
  gdouble *z;
  gchar *title;
  gchar *date;
} SurfaceImage;

SurfaceImage *surface_image_new (guint width, guint height, GError **error);
void surface_image_free (SurfaceImage *image);
/* Frees what @image holds, not itself, and leaves it empty. */
void surface_image_clear (SurfaceImage *image);

/* "x3p", ... */
const gchar *surface_file_format_name (SurfaceFileFormat format);
/* By the ending of a file's name. */
SurfaceFileFormat surface_file_format_of_name (const gchar *name);
/* By the first bytes: SURFACE_FILE_START are enough. */
#define SURFACE_FILE_START 512
SurfaceFileFormat surface_file_detect (const guint8 *data, gsize size);
/* Whether surface_file_write() knows it. */
gboolean surface_file_writable (SurfaceFileFormat format);
/* Whether this build reads and writes it (X3P needs libzip, TIFF libtiff). */
gboolean surface_file_supported (SurfaceFileFormat format);

/* Whether a zip's file main.xml, which begins so, is that of an X3P. */
gboolean surface_file_is_x3p_xml (
    const guint8 *data, gsize size, gboolean deflated);
/* Whether a file that begins so can be one that this build reads. */
gboolean surface_file_check_start (
    const guint8 *data, gsize size, GError **error);
/* Reads a whole file of a format that surface_file_detect() tells. */
SurfaceImage *surface_file_read (GBytes *bytes, GError **error);
/* The regular file @name. Errors are those of surface_file_read(), and of
 * G_FILE_ERROR in the system's words, without the name. */
SurfaceImage *surface_file_load (const gchar *name, GError **error);
/* Files that this thread opens from now on are refused with CVIS_ERROR_MEMORY if
 * they have more than @most samples; 2^31 are the most without. */
void surface_file_limit_samples (guint64 most);

/* A file that is being read: first its header, then, once it is known where they
 * go, its samples. */
typedef struct _SurfaceReader SurfaceReader;

/* The regular file @name. Errors are those of surface_file_load(). */
SurfaceReader *surface_reader_open (const gchar *name, GError **error);
/* A whole file in memory. @bytes: outlives the reader */
SurfaceReader *surface_reader_new (GBytes *bytes, GError **error);
void surface_reader_free (SurfaceReader *reader);
/* All that the file says but the heights: z may be %NULL. */
const SurfaceImage *surface_reader_get_about (const SurfaceReader *reader);
/* Returns: (nullable): what is wrong with the file although it can be read */
const gchar *surface_reader_get_warning (const SurfaceReader *reader);

/**
 * surface_reader_read:
 * @pool: the threads that share the work
 * @remove_offset: take the mean of the heights off
 * @twice: as float64, else float32
 * @to: (out): as many samples as the surface has: height - @offset, NaN where a
 *   point is missing; row by row from the top
 * @offset: (out): what was taken off, the same for any number of threads
 * @missing: (out): points that are missing
 *
 * Returns: FALSE with G_FILE_ERROR, or CVIS_ERROR_FORMAT if another program has
 * cut the file off since it was opened
 */
gboolean surface_reader_read (SurfaceReader *reader, CvisPool *pool,
    gboolean remove_offset, gboolean twice, gpointer to, gdouble *offset,
    guint64 *missing, GError **error);

/* @dx and @dy have to be known for formats that hold them (all but TIFF and
 * NPY). */
GBytes *surface_file_write (
    const SurfaceImage *image, SurfaceFileFormat format, GError **error);

/* Samples of a stream */
typedef enum {
  SURFACE_STREAM_F32,
  SURFACE_STREAM_F64,
  SURFACE_STREAM_I32,
} SurfaceStream;

/* Writes NPY to the empty file @fd: heights are sample * @scale + @offset, in
 * float32 where those are the samples (1, 0) and float32 themselves, else in
 * float64.
 * @about: width and height count
 * @pool: the threads that share the work
 * Returns: FALSE with G_FILE_ERROR */
gboolean surface_file_save_npy (int fd, const SurfaceImage *about,
    SurfaceStream stream, gdouble scale, gdouble offset, const void *samples,
    CvisPool *pool, GError **error);

/* The same for X3P. @about: spacing, title and date too
 * @level: 0 (not compressed), 1 (fast: no search for repeated bytes) to 9 */
gboolean surface_file_save_x3p (int fd, const SurfaceImage *about,
    SurfaceStream stream, gdouble scale, gdouble offset, const void *samples,
    guint level, CvisPool *pool, GError **error);
#define SURFACE_X3P_LEVEL 1

G_END_DECLS
