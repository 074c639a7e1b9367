/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of surfaces: X3P (ISO 25178-72), SDF (ISO 25178-71, ASCII and
 * binary), Digital Surf SUR, GSF (Gwyddion simple field), TIFF of floats,
 * NPY; read only: AL3D, BCRF, PLU, OPD, MetroPro, NPZ and text. Files are
 * untrusted: every field is checked, and CVIS_ERROR_FORMAT names the fault
 * and its position. */
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
  SURFACE_FILE_BCRF, /* read only, like all that follow */
  SURFACE_FILE_PLU,
  SURFACE_FILE_OPD,
  SURFACE_FILE_METROPRO,
  SURFACE_FILE_TEXT, /* matrices, points of a grid, profiles */
  SURFACE_FILE_NPZ,
} SurfaceFileFormat;

/**
 * SurfaceImage: heights in metres
 * @dx, @dy: spacing in metres; 0: unknown
 * @z: row by row from the top, NaN for missing points
 * @title: (nullable): UTF-8
 * @date: (nullable): ISO 8601
 * @note: (nullable): what a reader skipped, guessed or replaced, with counts:
 *   clauses joined by "; ", about "the file", for one warning
 * @no_z_unit: the file gives no unit of heights; they are taken as metres
 * @no_xy_unit: the file gives no unit of dx and dy; they are taken as metres
 */
typedef struct {
  guint width, height;
  gdouble dx, dy;
  gdouble *z;
  gchar *title;
  gchar *date;
  gchar *note;
  gboolean no_z_unit, no_xy_unit;
} SurfaceImage;

/* An image whose z is not initialised. Free with surface_image_free().
 * Returns: %NULL with CVIS_ERROR_INVALID (size) or CVIS_ERROR_MEMORY */
SurfaceImage *surface_image_new (guint width, guint height, GError **error);
void surface_image_free (SurfaceImage *image);
/* Frees the contents of @image, not @image itself, and clears it. */
void surface_image_clear (SurfaceImage *image);

/* Name in properties and caps: "x3p", ... */
const gchar *surface_file_format_name (SurfaceFileFormat format);
/* Format by the extension of a file name. */
SurfaceFileFormat surface_file_format_of_name (const gchar *name);
/* Number of first bytes that are enough for surface_file_detect(). */
#define SURFACE_FILE_START 4096
/* The format by the first bytes of a file.
 * Returns: SURFACE_FILE_UNKNOWN if none matches */
SurfaceFileFormat surface_file_detect (const guint8 *data, gsize size);
/* Whether surface_file_write() supports the format. */
gboolean surface_file_writable (SurfaceFileFormat format);
/* Whether this build supports the format (X3P needs libzip, TIFF libtiff). */
gboolean surface_file_supported (SurfaceFileFormat format);

/* Whether main.xml of a zip archive, which begins with these bytes, is that
 * of an X3P. */
gboolean surface_file_is_x3p_xml (
    const guint8 *data, gsize size, gboolean deflated);
/* Whether this build may be able to read a file that begins with these
 * bytes. */
gboolean surface_file_check_start (
    const guint8 *data, gsize size, GError **error);
/* Reads a whole file of any format that surface_file_detect() recognises. */
SurfaceImage *surface_file_read (GBytes *bytes, GError **error);
/* Reads the regular file @name. Errors are those of surface_file_read(), and
 * of G_FILE_ERROR with the system's text, without the name. */
SurfaceImage *surface_file_load (const gchar *name, GError **error);
/* Limits files that this thread opens from now on to @most samples; larger
 * ones are refused with CVIS_ERROR_MEMORY. The default is 2^31. */
void surface_file_limit_samples (guint64 most);

/* A reader: first reads the file's header, then its samples to memory of the
 * caller. */
typedef struct _SurfaceReader SurfaceReader;

/* Opens the regular file @name. Errors are those of surface_file_load(). */
SurfaceReader *surface_reader_open (const gchar *name, GError **error);
/* The same, for surface_reader_get_about() only: if the header gives the size, what
 * follows it is not read, and may be damaged. */
SurfaceReader *surface_reader_open_header (const gchar *name, GError **error);
/* Opens a whole file in memory. @bytes: outlives the reader */
SurfaceReader *surface_reader_new (GBytes *bytes, GError **error);
void surface_reader_free (SurfaceReader *reader);
/* Everything in the file except the heights: z may be %NULL. */
const SurfaceImage *surface_reader_get_about (const SurfaceReader *reader);
/* Returns: (nullable): a fault of the file that does not prevent reading */
const gchar *surface_reader_get_warning (const SurfaceReader *reader);
/* Sets the unit of the lengths without one: of heights if the file has
 * no_z_unit, and of spacing if it has no_xy_unit. Before
 * surface_reader_read(). @metres: above 0 */
void surface_reader_set_unit (SurfaceReader *reader, gdouble metres);

/**
 * surface_reader_read:
 * @pool: the threads that share the work
 * @remove_offset: subtract the mean of the heights
 * @twice: as float64, otherwise float32
 * @to: (out): all samples: height - @offset in metres, NaN for missing
 *   points; row by row from the top
 * @offset: (out): metres subtracted, the same for any number of threads
 * @missing: (out): number of missing points
 *
 * Returns: FALSE with G_FILE_ERROR, or CVIS_ERROR_FORMAT if the file has
 * become shorter since it was opened
 */
gboolean surface_reader_read (SurfaceReader *reader, CvisPool *pool,
    gboolean remove_offset, gboolean twice, gpointer to, gdouble *offset,
    guint64 *missing, GError **error);

/* @dx and @dy have to be known for formats that store them (all except TIFF
 *   and NPY).
 * Returns: (transfer full): %NULL with CVIS_ERROR_INVALID (the format cannot be written, or
 *   not in this build, or the spacing is unknown) or CVIS_ERROR_MEMORY */
GBytes *surface_file_write (
    const SurfaceImage *image, SurfaceFileFormat format, GError **error);
/* Finds the loss of @image in a file of @format. z may be %NULL for formats that
 * hold float64. Returns: (nullable) (transfer full): a clause about "the file";
 * %NULL: nothing, except for rounding below 1e-7 of the spacing and of the
 * range of heights */
gchar *surface_file_find_loss (
    const SurfaceImage *image, SurfaceFileFormat format);

/* Types of a stream's samples */
typedef enum {
  SURFACE_STREAM_F32,
  SURFACE_STREAM_F64,
  SURFACE_STREAM_I32,
} SurfaceStream;

/* Writes NPY to the empty file @fd: heights are sample * @scale + @offset,
 * in float32 if scale is 1, offset 0 and the samples are float32, otherwise
 * in float64.
 * @about: only width and height are used
 * @pool: the threads that share the work
 * Returns: FALSE with G_FILE_ERROR */
gboolean surface_file_save_npy (int fd, const SurfaceImage *about,
    SurfaceStream stream, gdouble scale, gdouble offset, const void *samples,
    CvisPool *pool, GError **error);

/* The same for X3P. @about: also spacing, title and date
 * @level: 0 (not compressed), 1 (fast: no search for repeated bytes) to 9 */
gboolean surface_file_save_x3p (int fd, const SurfaceImage *about,
    SurfaceStream stream, gdouble scale, gdouble offset, const void *samples,
    guint level, CvisPool *pool, GError **error);
#define SURFACE_X3P_LEVEL 1

G_END_DECLS
