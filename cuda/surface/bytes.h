/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the readers and writers of surface files: samples of any type,
 * numbers and fields as text, checks, errors. Private to them. */
#pragma once

#include "cuda/surface/file.h"

#include <math.h>
#include <string.h>

G_BEGIN_DECLS

/* largest number of samples of a surface */
#define SURFACE_MAX_SAMPLES ((guint64) 1 << 31)
/* largest expansion of a compressed byte: deflate 1032, LZW 1365 */
#define SURFACE_MAX_RATIO 2048

/* Sets CVIS_ERROR_FORMAT. Returns: FALSE */
gboolean surface_error (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Adds a clause to @image's note. */
void surface_image_add_note (SurfaceImage *image, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
/* Sets spacing, title, date, note and units of @to to those of @from. */
void surface_image_copy_about (SurfaceImage *to, const SurfaceImage *from);

/* --- checks ---------------------------------------------------------------- */

/* Whether the size in a header is acceptable: 1 to SURFACE_MAX_SAMPLES
 * samples. */
gboolean surface_check_size (guint64 width, guint64 height, GError **error);
/* Whether @value is a valid spacing: finite, above 0. @name: of the field,
 * with its value's unit if any */
gboolean surface_check_spacing (
    const gchar *name, gdouble value, GError **error);
/* Whether the spacing of @image is known, as the format called @title stores it. */
gboolean surface_check_known_spacing (
    const gchar *title, const SurfaceImage *image, GError **error);
/* Whether @name is a factor: finite and not 0. */
gboolean surface_check_factor (
    const gchar *name, gdouble value, GError **error);
/* Whether @name is finite. */
gboolean surface_check_finite (
    const gchar *name, gdouble value, GError **error);
/* Whether @size bytes contain @needed bytes from @offset on. */
gboolean surface_check_bytes (
    guint64 size, guint64 offset, guint64 needed, GError **error);

/* --- samples --------------------------------------------------------------- */

typedef enum {
  SURFACE_SAMPLE_U8,
  SURFACE_SAMPLE_I8,
  SURFACE_SAMPLE_U16,
  SURFACE_SAMPLE_I16,
  SURFACE_SAMPLE_U32,
  SURFACE_SAMPLE_I32,
  SURFACE_SAMPLE_U64,
  SURFACE_SAMPLE_I64,
  SURFACE_SAMPLE_F32,
  SURFACE_SAMPLE_F64,
  SURFACE_SAMPLE_F16,
} SurfaceSample;

gsize surface_sample_size (SurfaceSample type);
/* Value of an IEEE 754 binary16; infinity if it is not finite */
static inline gdouble
surface_half (guint16 bits)
{
  const guint32 wide = (bits & 0x7fffu) << 13;
  gfloat value;

  memcpy (&value, &wide, sizeof (value));
  value *= 0x1p112f; /* difference of the exponent biases */
  if (value >= 65536)
    value = INFINITY;
  return bits >> 15 ? -value : value;
}

/* Converts @n samples at @bytes, of any alignment. @big: big-endian */
void surface_samples_read (
    const guint8 *bytes, SurfaceSample type, gboolean big, gsize n, gdouble *z);
/**
 * SurfaceLayout: position and format of the heights in a file: sample *
 * @scale + @offset metres; missing if that is not finite
 * @plain: they are stored row by row from byte @at on; otherwise the
 *   format's own reader has to read them, and the other fields are not set
 * @big: big-endian
 * @low, @high: samples <= @low and >= @high are missing
 */
typedef struct {
  gboolean plain;
  guint64 at;
  SurfaceSample type;
  gboolean big;
  gdouble scale, offset;
  gdouble low, high;
} SurfaceLayout;

/* Sets a layout for samples of @type, little-endian, none missing */
void surface_layout_init (
    SurfaceLayout *layout, guint64 at, SurfaceSample type, gdouble scale);
/* Adds a note if a file of @size bytes goes on after the samples. */
void surface_layout_note_rest (
    const SurfaceLayout *layout, SurfaceImage *about, guint64 size);
/* Whether all of @about's samples are within the file's @size bytes. */
gboolean surface_layout_check (const SurfaceLayout *layout,
    const SurfaceImage *about, guint64 size, GError **error);

/* Reads the samples at @points. Returns: a copy of @about with heights */
SurfaceImage *surface_layout_read (const SurfaceLayout *layout,
    const SurfaceImage *about, const guint8 *points, GError **error);

/* Replaces z by z * @scale + @offset; NaN if that is not finite. */
void surface_image_scale (SurfaceImage *image, gdouble scale, gdouble offset);

/* Reads one little-endian number. */
guint16 surface_get_u16 (const guint8 *at);
guint32 surface_get_u32 (const guint8 *at);
gdouble surface_get_f32 (const guint8 *at);
gdouble surface_get_f64 (const guint8 *at);
void surface_put_u16 (guint8 *at, guint value);
void surface_put_u32 (guint8 *at, guint32 value);
void surface_put_f32 (guint8 *at, gfloat value);
void surface_put_f64 (guint8 *at, gdouble value);

/* --- points ---------------------------------------------------------------- */

typedef struct {
  gdouble x, y, z;
} SurfacePoint;

/* Converts points of a regular grid, in any order and not necessarily
 * complete, to an image whose first sample has the smallest x and y. They may
 * lie beside their places by a tenth of the spacing; more than a hundredth is
 * noted. @points: x and y are finite. Returns: %NULL with @error if they form
 * no grid */
SurfaceImage *surface_grid_new (
    const SurfacePoint *points, gsize n, GError **error);
/* Adds the note about points that lie up to @most of the spacing beside their
 * places. */
void surface_grid_note_shift (SurfaceImage *image, gdouble most);

/* --- output -------------------------------------------------------------- */

typedef struct {
  guint8 *data;
  gsize size, room;
} SurfaceOut;

/* Appends @n bytes. Returns: their address, or %NULL with CVIS_ERROR_MEMORY */
guint8 *surface_out_add (SurfaceOut *out, gsize n, GError **error);
gboolean surface_out_add_text (
    SurfaceOut *out, const gchar *text, GError **error);
/* Appends the image as little-endian float64 or float32 */
gboolean surface_out_add_samples (SurfaceOut *out, const SurfaceImage *image,
    SurfaceSample type, GError **error);

/* Writes @n bytes to the file @fd at byte @at. Returns: 0 or errno */
gint surface_pwrite (int fd, const void *bytes, gsize n, guint64 at);

/* --- text ------------------------------------------------------------------ */

/* Parses the whole @text as a number, in the C locale. */
gboolean surface_number (const gchar *text, gdouble *value);
/* Converts @size arbitrary bytes to UTF-8 on one line, at most 255
 * characters, without blanks at its ends. Returns: %NULL if nothing is left */
gchar *surface_text (const guint8 *bytes, gsize size);
/* The same for Latin 1 */
gchar *surface_text_latin1 (const guint8 *bytes, gsize size);
/* Metres of one "mm", "um", .. . Returns: 0 if it is not a unit of length */
gdouble surface_unit (const gchar *unit);
/* "YYYY-MM-DDTHH:MM:SS". Returns: %NULL if it is not a date, or the first
 * second of 1970, a common placeholder */
gchar *surface_date (
    guint year, guint month, guint day, guint hour, guint minute, guint second);
/* Splits image->date. Returns: FALSE if it is missing or invalid */
gboolean surface_date_parts (const SurfaceImage *image, gint *year, gint *month,
    gint *day, gint *hour, gint *minute, gint *second);

/* Fields "name = value", one a line. Names are case-insensitive. */
typedef struct _SurfaceFields SurfaceFields;

SurfaceFields *surface_fields_new (void);
void surface_fields_free (SurfaceFields *fields);
/* Returns: FALSE if the line is not a field */
gboolean surface_fields_add_line (
    SurfaceFields *fields, const gchar *line, gsize size);
/* Returns: (nullable) */
const gchar *surface_fields_get (SurfaceFields *fields, const gchar *name);
/* @value: (inout): unchanged if an @optional field is missing */
gboolean surface_fields_get_number (SurfaceFields *fields, const gchar *name,
    gboolean optional, gdouble *value, GError **error);
/* Reads a number from 1 to 2^31 */
gboolean surface_fields_get_count (
    SurfaceFields *fields, const gchar *name, guint *value, GError **error);

/* Metres of one unit; @otherwise if the field is missing */
gboolean surface_fields_get_unit (SurfaceFields *fields, const gchar *name,
    gdouble otherwise, gdouble *unit, GError **error);

/* --- formats --------------------------------------------------------------- */

/**
 * SurfaceSource: bytes of a file
 * @data: (nullable): all of them; %NULL: they are in the file @fd
 */
typedef struct {
  const guint8 *data;
  int fd;
  guint64 size;
} SurfaceSource;

/* Sets @error to errno, as G_FILE_ERROR. Returns: FALSE */
gboolean surface_refuse_errno (GError **error);
/* Returns: FALSE with G_FILE_ERROR, or CVIS_ERROR_FORMAT if the file is
 * shorter */
gboolean surface_source_read (
    const SurfaceSource *source, guint64 at, gsize n, void *to, GError **error);

/* Parses a file's header: all of @about except z, and @layout.
 * @head: the first @n_head bytes, at least 64 KiB if the file has them */
typedef gboolean (*SurfaceDescribe) (const SurfaceSource *source,
    const guint8 *head, gsize n_head, SurfaceImage *about,
    SurfaceLayout *layout, GError **error);
/**
 * SurfacePacked: a file whose samples have to be unpacked as a whole
 * @unpack: to @to, as the layout says, with room for all samples. May be
 *   called several times
 * @warning: (nullable): a fault of the file that does not prevent reading
 */
typedef struct _SurfacePacked SurfacePacked;
struct _SurfacePacked {
  gboolean (*unpack) (
      SurfacePacked *packed, CvisPool *pool, guint8 *to, GError **error);
  void (*free) (SurfacePacked *packed);
  gchar *warning;
};

/* Like SurfaceDescribe; always plain. @source: outlives the result */
typedef SurfacePacked *(*SurfaceOpen) (const SurfaceSource *source,
    SurfaceImage *about, SurfaceLayout *layout, GError **error);
/* Reads a whole file */
typedef SurfaceImage *(*SurfaceRead) (
    const guint8 *data, gsize size, GError **error);
/* Reads a text; only a part of it is in memory at a time */
typedef SurfaceImage *(*SurfaceReadText) (
    const SurfaceSource *source, GError **error);
typedef gboolean (*SurfaceWrite) (
    const SurfaceImage *image, SurfaceOut *out, GError **error);

/* @needs: (nullable): the library that this build lacks */
typedef struct {
  const gchar *name;         /* in properties and caps */
  const gchar *title;        /* in errors */
  const gchar *ending;       /* of file names */
  SurfaceDescribe describe;  /* (nullable): not plain */
  SurfaceRead read;          /* (nullable): always plain, or a text */
  SurfaceReadText read_text; /* (nullable): not a text */
  SurfaceWrite write;        /* (nullable) */
  gboolean holds_spacing;
  const gchar *needs;
  SurfaceOpen open; /* (nullable): instead of describe and read */
} SurfaceFormat;

/* Returns: (nullable) */
const SurfaceFormat *surface_format_of (SurfaceFileFormat format);
/* Takes a reader's @problem, which may quote the file, and sets @error to it
 * as printable text. */
void surface_format_refuse (
    const SurfaceFormat *format, GError *problem, GError **error);

gboolean surface_describe_sdf (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error);
gboolean surface_describe_sur (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error);
gboolean surface_describe_gsf (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error);
gboolean surface_describe_tiff (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error);
gboolean surface_describe_npy (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error);
gboolean surface_describe_plu (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error);
gboolean surface_describe_metropro (const SurfaceSource *source,
    const guint8 *head, gsize n_head, SurfaceImage *about,
    SurfaceLayout *layout, GError **error);

SurfacePacked *surface_open_x3p (const SurfaceSource *source,
    SurfaceImage *about, SurfaceLayout *layout, GError **error);
SurfaceImage *surface_read_sdf (const SurfaceSource *source, GError **error);
SurfaceImage *surface_read_sur (const guint8 *data, gsize size, GError **error);
SurfaceImage *surface_read_tiff (
    const guint8 *data, gsize size, GError **error);
SurfaceImage *surface_read_npy (const guint8 *data, gsize size, GError **error);
SurfaceImage *surface_read_al3d (
    const guint8 *data, gsize size, GError **error);
SurfaceImage *surface_read_bcrf (
    const guint8 *data, gsize size, GError **error);
SurfaceImage *surface_read_opd (const guint8 *data, gsize size, GError **error);

SurfaceImage *surface_read_text (const SurfaceSource *source, GError **error);
SurfaceImage *surface_read_npz (const guint8 *data, gsize size, GError **error);

/* Whether a resolution in points per centimetre, a fraction of 32-bit numbers,
 * can hold the spacing. */
gboolean surface_tiff_holds_spacing (const SurfaceImage *image);
/* An NPZ is a zip archive whose first file is an NPY. */
gboolean surface_detect_npz (const guint8 *data, gsize size);

/* Text has no magic number: whether the bytes begin with lines of numbers,
 * after comments and a line of headings */
gboolean surface_detect_text (const guint8 *data, gsize size);
/* The reason why surface_detect_text() refused the bytes.
 * Returns: (nullable) (transfer full): names a line; %NULL if they are no text */
gchar *surface_text_explain (const guint8 *data, gsize size);
/* PLU has no magic number: whether the bytes begin with its date */
gboolean surface_detect_plu (const guint8 *data, gsize size);

gboolean surface_write_x3p (
    const SurfaceImage *image, SurfaceOut *out, GError **error);
gboolean surface_write_sdf (
    const SurfaceImage *image, SurfaceOut *out, GError **error);
gboolean surface_write_sdf_binary (
    const SurfaceImage *image, SurfaceOut *out, GError **error);
gboolean surface_write_sur (
    const SurfaceImage *image, SurfaceOut *out, GError **error);
gboolean surface_write_gsf (
    const SurfaceImage *image, SurfaceOut *out, GError **error);
gboolean surface_write_tiff (
    const SurfaceImage *image, SurfaceOut *out, GError **error);
gboolean surface_write_npy (
    const SurfaceImage *image, SurfaceOut *out, GError **error);

G_END_DECLS
