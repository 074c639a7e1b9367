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

/* samples of a surface, at most */
#define SURFACE_MAX_SAMPLES ((guint64) 1 << 31)
/* bytes that one byte of a compressed file can stand for, at most: deflate's
 * 1032, LZW's 1365 */
#define SURFACE_MAX_RATIO 2048

/* Sets CVIS_ERROR_FORMAT. Returns: FALSE */
gboolean surface_error (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* --- checks ---------------------------------------------------------------- */

/* Whether a file that says so is believed: 1 to SURFACE_MAX_SAMPLES. */
gboolean surface_check_size (guint64 width, guint64 height, GError **error);
/* Whether @value is a length between samples: finite, above 0.
 * @name: of the field, with its value's unit if it has one */
gboolean surface_check_spacing (
    const gchar *name, gdouble value, GError **error);
/* Whether @name is a factor: finite and not 0. */
gboolean surface_check_factor (
    const gchar *name, gdouble value, GError **error);
/* Whether @name is finite. */
gboolean surface_check_finite (
    const gchar *name, gdouble value, GError **error);
/* Whether @needed bytes from @offset on are among @size. */
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
/* The number that these bits of IEEE 754's binary16 are; not finite: infinity */
static inline gdouble
surface_half (guint16 bits)
{
  const guint32 wide = (bits & 0x7fffu) << 13;
  gfloat value;

  memcpy (&value, &wide, sizeof (value));
  value *= 0x1p112f; /* the difference of the exponents' biases */
  if (value >= 65536)
    value = INFINITY;
  return bits >> 15 ? -value : value;
}

/* @n samples at @bytes, of any alignment. @big: big-endian */
void surface_samples_read (
    const guint8 *bytes, SurfaceSample type, gboolean big, gsize n, gdouble *z);
/**
 * SurfaceLayout: where the heights lie in a file, and what a sample is:
 *   sample * @scale + @offset metres; missing where that is not finite
 * @plain: they lie row by row from byte @at on; else the format's own reader
 *   has to get them, and the rest is not set
 * @big: big-endian
 * @low, @high: samples up to @low and from @high on are missing
 */
typedef struct {
  gboolean plain;
  guint64 at;
  SurfaceSample type;
  gboolean big;
  gdouble scale, offset;
  gdouble low, high;
} SurfaceLayout;

/* Samples of @type, little-endian, none missing */
void surface_layout_init (
    SurfaceLayout *layout, guint64 at, SurfaceSample type, gdouble scale);
/* Whether all of @about's samples are among the file's @size bytes. */
gboolean surface_layout_check (const SurfaceLayout *layout,
    const SurfaceImage *about, guint64 size, GError **error);

/* The samples at @points. Returns: what @about says, with heights */
SurfaceImage *surface_layout_read (const SurfaceLayout *layout,
    const SurfaceImage *about, const guint8 *points, GError **error);

/* z * @scale + @offset; what is not finite then is missing, NaN. */
void surface_image_scale (SurfaceImage *image, gdouble scale, gdouble offset);

/* one little-endian number */
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

/* Points of a regular grid, in any order and not at all of its places; the least x
 * and y come first. All are finite. Returns: %NULL with @error if they are no grid */
SurfaceImage *surface_grid_new (
    const SurfacePoint *points, gsize n, GError **error);

/* --- what is being written -------------------------------------------------- */

typedef struct {
  guint8 *data;
  gsize size, room;
} SurfaceOut;

/* @n more bytes. Returns: where they are, or %NULL with CVIS_ERROR_MEMORY */
guint8 *surface_out_add (SurfaceOut *out, gsize n, GError **error);
gboolean surface_out_add_text (
    SurfaceOut *out, const gchar *text, GError **error);
/* the picture as little-endian float64 or float32 */
gboolean surface_out_add_samples (SurfaceOut *out, const SurfaceImage *image,
    SurfaceSample type, GError **error);

/* Writes @n bytes to the file @fd from byte @at on. Returns: 0 or errno */
gint surface_pwrite (int fd, const void *bytes, gsize n, guint64 at);

/* --- text ------------------------------------------------------------------ */

/* The whole of @text is a number, in the C locale. */
gboolean surface_number (const gchar *text, gdouble *value);
/* UTF-8 on one line out of @size bytes of anything, at most 255 characters,
 * without blanks at its ends. Returns: %NULL if nothing is left */
gchar *surface_text (const guint8 *bytes, gsize size);
/* The same out of Latin 1 */
gchar *surface_text_latin1 (const guint8 *bytes, gsize size);
/* Metres of one "mm", "um", .. . Returns: 0 if it is no length */
gdouble surface_unit (const gchar *unit);
/* "YYYY-MM-DDTHH:MM:SS". Returns: %NULL if it is no date, or 1970's first
 * second, which stands for none */
gchar *surface_date (
    guint year, guint month, guint day, guint hour, guint minute, guint second);
/* The parts of image->date. Returns: FALSE if there is none or it is none */
gboolean surface_date_parts (const SurfaceImage *image, gint *year, gint *month,
    gint *day, gint *hour, gint *minute, gint *second);

/* Fields "name = value", one a line. Names without regard to case. */
typedef struct _SurfaceFields SurfaceFields;

SurfaceFields *surface_fields_new (void);
void surface_fields_free (SurfaceFields *fields);
/* Returns: FALSE if the line is no field */
gboolean surface_fields_add_line (
    SurfaceFields *fields, const gchar *line, gsize size);
/* Returns: (nullable) */
const gchar *surface_fields_get (SurfaceFields *fields, const gchar *name);
/* @value: (inout): stays where there is no such field, if @optional */
gboolean surface_fields_get_number (SurfaceFields *fields, const gchar *name,
    gboolean optional, gdouble *value, GError **error);
/* 1 to 2^31 */
gboolean surface_fields_get_count (
    SurfaceFields *fields, const gchar *name, guint *value, GError **error);

/* Metres of one, where there is no such field @otherwise */
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

/* Returns: FALSE with G_FILE_ERROR, or CVIS_ERROR_FORMAT where it is shorter */
gboolean surface_source_read (
    const SurfaceSource *source, guint64 at, gsize n, void *to, GError **error);

/* Contents of a file's header: all of @about but z, and @layout.
 * @head: the first @n_head bytes, 64 KiB at least if there are as many */
typedef gboolean (*SurfaceDescribe) (const SurfaceSource *source,
    const guint8 *head, gsize n_head, SurfaceImage *about,
    SurfaceLayout *layout, GError **error);
/**
 * SurfacePacked: a file whose samples have to be unpacked as a whole
 * @unpack: to @to, as the layout says, with room for all of them. It may be called
 *   several times.
 * @warning: (nullable): what is wrong with the file although it can be read
 */
typedef struct _SurfacePacked SurfacePacked;
struct _SurfacePacked {
  gboolean (*unpack) (
      SurfacePacked *packed, CvisPool *pool, guint8 *to, GError **error);
  void (*free) (SurfacePacked *packed);
  gchar *warning;
};

/* As SurfaceDescribe; always plain. @source: outlives what is returned */
typedef SurfacePacked *(*SurfaceOpen) (const SurfaceSource *source,
    SurfaceImage *about, SurfaceLayout *layout, GError **error);
/* A whole file */
typedef SurfaceImage *(*SurfaceRead) (
    const guint8 *data, gsize size, GError **error);
/* A text: only a part of it is in memory at a time */
typedef SurfaceImage *(*SurfaceReadText) (
    const SurfaceSource *source, GError **error);
typedef gboolean (*SurfaceWrite) (
    const SurfaceImage *image, SurfaceOut *out, GError **error);

/* @needs: (nullable): the library that this build lacks */
typedef struct {
  const gchar *name;         /* of properties and caps */
  const gchar *title;        /* in errors */
  const gchar *ending;       /* of file names */
  SurfaceDescribe describe;  /* (nullable): never plain */
  SurfaceRead read;          /* (nullable): always plain, or a text */
  SurfaceReadText read_text; /* (nullable): no text */
  SurfaceWrite write;        /* (nullable) */
  gboolean holds_spacing;
  const gchar *needs;
  SurfaceOpen open; /* (nullable): in the place of describe and read */
} SurfaceFormat;

/* Returns: (nullable) */
const SurfaceFormat *surface_format_of (SurfaceFileFormat format);
/* Whether @image has the spacing that such a file needs. */
gboolean surface_format_check (
    const SurfaceFormat *f, const SurfaceImage *image, GError **error);
/* Takes a reader's @problem, which may quote a file, and sets @error to it as
 * text that can be shown. */
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

/* Text has no magic number: whether the bytes begin with lines of numbers, behind
 * comments and a line of headings */
gboolean surface_detect_text (const guint8 *data, gsize size);
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
