/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* TIFF: the first page, one sample a point, a float of 16 to 64 bits or an
 * integer of 8 to 32 bits, in strips or tiles, with any compression of
 * libtiff. Spacing from the sizes of an OME-TIFF's pixels, otherwise from the
 * resolution if its unit is known. GDAL's tags name the value of missing points
 * and the unit of heights; without them heights are metres. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#define TAG_GDAL_METADATA 42112
#define TAG_GDAL_NODATA 42113
/* the item of GDAL's metadata that names the unit of heights */
#define UNIT_ITEM "role=\"unittype\">"
#define MAX_PAGES 65535

/* A file in memory; the first error text of libtiff */
typedef struct {
  const SurfaceSource *source; /* when reading */
  SurfaceOut *out;             /* when writing */
  guint64 at;
  gchar *words;
} Memory;

/* --- libtiff's I/O in memory --------------------------------------------- */

static guint64
get_tiff_size (const Memory *m)
{
  return m->out ? m->out->size : m->source->size;
}

static tmsize_t
memory_read (thandle_t handle, void *to, tmsize_t n)
{
  Memory *m = handle;

  if (n <= 0 || m->at >= get_tiff_size (m))
    return 0;
  n = MIN ((guint64) n, get_tiff_size (m) - m->at);
  if (m->out)
    memcpy (to, m->out->data + m->at, n);
  else if (!surface_source_read (m->source, m->at, n, to, NULL))
    return -1;
  m->at += n;
  return n;
}

static tmsize_t
memory_write (thandle_t handle, void *from, tmsize_t n)
{
  Memory *m = handle;
  guint64 end = m->at + n;

  if (!m->out || n < 0)
    return -1;
  if (end > m->out->size) {
    gsize old = m->out->size;

    if (!surface_out_add (m->out, end - old, NULL))
      return -1;
    memset (m->out->data + old, 0, end - old);
  }
  memcpy (m->out->data + m->at, from, n);
  m->at = end;
  return n;
}

static toff_t
memory_seek (thandle_t handle, toff_t offset, int whence)
{
  Memory *m = handle;

  if (whence == SEEK_CUR)
    offset += m->at;
  else if (whence == SEEK_END)
    offset += get_tiff_size (m);
  m->at = offset;
  return offset;
}

static int
memory_close (thandle_t handle)
{
  return 0;
}

static toff_t
memory_size (thandle_t handle)
{
  return get_tiff_size (handle);
}

G_GNUC_PRINTF (4, 0)
static int
keep_words (TIFF *tiff, void *user, const char *module, const char *format,
    va_list args)
{
  Memory *m = user;

  if (!m->words)
    m->words = g_strdup_vprintf (format, args);
  return 1;
}

/* Ignores warnings, mostly of unknown tags. */
static int
keep_silent (TIFF *tiff, void *user, const char *module, const char *format,
    va_list args)
{
  return 1;
}

static TIFF *
open_memory (Memory *m, const gchar *mode)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();
  TIFF *tiff;

  TIFFOpenOptionsSetErrorHandlerExtR (options, keep_words, m);
  TIFFOpenOptionsSetWarningHandlerExtR (options, keep_silent, m);
  tiff = TIFFClientOpenExt ("surface", mode, m, memory_read, memory_write,
      memory_seek, memory_close, memory_size, NULL, NULL, options);
  TIFFOpenOptionsFree (options);
  return tiff;
}

static gboolean
fail (Memory *m, const gchar *what, GError **error)
{
  gchar *words =
      m->words ? surface_text ((const guint8 *) m->words, strlen (m->words))
               : NULL;

  surface_error (error, "%s%s%s", what, words ? ": " : "", words ? words : "");
  g_free (words);
  return FALSE;
}

/* --- reading ----------------------------------------------------------------- */

typedef struct {
  guint32 width, height;
  guint32 across, down; /* of a tile or strip, points */
  gboolean tiled;
  SurfaceSample type;
  gdouble missing; /* value of missing points; NaN: none */
} Layout;

static gboolean
read_sample_type (TIFF *tiff, Layout *layout, GError **error)
{
  static const struct {
    guint16 format, bits;
    SurfaceSample type;
  } types[] = {
    { SAMPLEFORMAT_IEEEFP, 16, SURFACE_SAMPLE_F16 },
    { SAMPLEFORMAT_IEEEFP, 32, SURFACE_SAMPLE_F32 },
    { SAMPLEFORMAT_IEEEFP, 64, SURFACE_SAMPLE_F64 },
    { SAMPLEFORMAT_UINT, 8, SURFACE_SAMPLE_U8 },
    { SAMPLEFORMAT_UINT, 16, SURFACE_SAMPLE_U16 },
    { SAMPLEFORMAT_UINT, 32, SURFACE_SAMPLE_U32 },
    { SAMPLEFORMAT_INT, 8, SURFACE_SAMPLE_I8 },
    { SAMPLEFORMAT_INT, 16, SURFACE_SAMPLE_I16 },
    { SAMPLEFORMAT_INT, 32, SURFACE_SAMPLE_I32 },
  };
  guint16 format = SAMPLEFORMAT_UINT, bits = 1, samples = 1, colours = 0;

  TIFFGetFieldDefaulted (tiff, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  if (samples != 1)
    return surface_error (
        error, "has %u samples a point; one is a height", samples);
  if (TIFFGetField (tiff, TIFFTAG_PHOTOMETRIC, &colours)
      && colours == PHOTOMETRIC_PALETTE)
    return surface_error (error, "has colours of a palette, not heights");
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (format == types[i].format && bits == types[i].bits) {
      layout->type = types[i].type;
      return TRUE;
    }
  return surface_error (error,
      "has samples of %u bits that are %s; floats of 16, 32 and 64 bits and "
      "integers of 8, 16 and 32 bits are read",
      bits,
      format == SAMPLEFORMAT_IEEEFP ? "floats"
      : format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_INT
          ? "integers"
          : "no numbers");
}

/* Text of a tag that libtiff does not know. Returns: (nullable) (transfer full) */
static gchar *
read_gdal_text (TIFF *tiff, guint32 tag)
{
  const TIFFField *field = TIFFFindField (tiff, tag, TIFF_ANY);
  const char *text = NULL;
  guint32 n = 0;

  if (!field || TIFFFieldDataType (field) != TIFF_ASCII)
    return NULL;
  if (!TIFFFieldPassCount (field)) /* another library has declared it */
    return TIFFGetField (tiff, tag, &text) ? g_strdup (text) : NULL;
  return TIFFFieldReadCount (field) == TIFF_VARIABLE2
                 && TIFFGetField (tiff, tag, &n, &text) && text
             ? g_strndup (text, n)
             : NULL;
}

/* The value of missing points, rounded like a sample. Returns: NaN: none */
static gdouble
read_missing (TIFF *tiff, SurfaceSample type)
{
  gchar *text = read_gdal_text (tiff, TAG_GDAL_NODATA);
  gdouble value;

  if (!text || !surface_number (text, &value))
    value = NAN;
  g_free (text);
  return type == SURFACE_SAMPLE_F32 ? (gfloat) value : value;
}

static gboolean
read_layout (TIFF *tiff, guint64 size, Layout *layout, GError **error)
{
  guint64 bytes;

  if (!TIFFGetField (tiff, TIFFTAG_IMAGEWIDTH, &layout->width)
      || !TIFFGetField (tiff, TIFFTAG_IMAGELENGTH, &layout->height))
    return surface_error (error, "does not specify its size");
  if (!surface_check_size (layout->width, layout->height, error)
      || !read_sample_type (tiff, layout, error))
    return FALSE;
  layout->missing = read_missing (tiff, layout->type);
  layout->tiled = TIFFIsTiled (tiff);
  if (layout->tiled) {
    TIFFGetField (tiff, TIFFTAG_TILEWIDTH, &layout->across);
    TIFFGetField (tiff, TIFFTAG_TILELENGTH, &layout->down);
  } else {
    layout->across = layout->width;
    TIFFGetFieldDefaulted (tiff, TIFFTAG_ROWSPERSTRIP, &layout->down);
    layout->down = MIN (layout->down, layout->height);
  }
  if (!layout->across || !layout->down)
    return surface_error (
        error, "has tiles of %u x %u points", layout->across, layout->down);
  bytes = surface_sample_size (layout->type)
          * MAX ((guint64) layout->width * layout->height,
              (guint64) layout->across * layout->down);
  if (bytes / SURFACE_MAX_RATIO > size)
    return surface_error (error,
        "of %" G_GUINT64_FORMAT " bytes speaks of %u x %u points in tiles of "
        "%u x %u, which no compression makes",
        size, layout->width, layout->height, layout->across, layout->down);
  return TRUE;
}

/* Copies the part of a tile or strip inside the picture. libtiff gives
 * samples in the machine's byte order. */
static void
place (SurfaceImage *image, const Layout *layout, const guint8 *from, guint32 x,
    guint32 y)
{
  gsize size = surface_sample_size (layout->type);
  guint32 columns = MIN (layout->across, image->width - x);
  guint32 rows = MIN (layout->down, image->height - y);

  for (guint32 r = 0; r < rows; r++)
    surface_samples_read (from + (gsize) r * layout->across * size,
        layout->type, G_BYTE_ORDER == G_BIG_ENDIAN, columns,
        image->z + (gsize) (y + r) * image->width + x);
}

static gboolean
read_pieces (TIFF *tiff, Memory *m, const Layout *layout, SurfaceImage *image,
    GError **error)
{
  tmsize_t size = layout->tiled ? TIFFTileSize (tiff) : TIFFStripSize (tiff);
  gsize needed = (gsize) layout->across * layout->down
                 * surface_sample_size (layout->type);
  guint8 *piece =
      size > 0 && (gsize) size >= needed ? g_try_malloc0 (size) : NULL;
  gboolean ok = piece != NULL;

  for (guint32 y = 0; ok && y < layout->height; y += layout->down) {
    guint32 rows = MIN (layout->down, layout->height - y);

    for (guint32 x = 0; ok && x < layout->width; x += layout->across) {
      tmsize_t got = layout->tiled
                         ? TIFFReadEncodedTile (tiff,
                             TIFFComputeTile (tiff, x, y, 0, 0), piece, size)
                         : TIFFReadEncodedStrip (
                             tiff, TIFFComputeStrip (tiff, y, 0), piece, size);
      tmsize_t wanted = layout->tiled ? size : size / layout->down * rows;

      ok = got >= wanted;
      if (ok)
        place (image, layout, piece, x, y);
      if (layout->across > layout->width - x)
        break;
    }
    if (layout->down > layout->height - y)
      break;
  }
  g_free (piece);
  return ok || fail (m, "cannot be read to its end", error);
}

static gchar *
read_text (TIFF *tiff, guint32 tag)
{
  const char *text = NULL;

  if (!TIFFGetField (tiff, tag, &text) || !text)
    return NULL;
  return surface_text ((const guint8 *) text, strlen (text));
}

/* "YYYY:MM:DD hh:mm:ss" */
static gchar *
read_tiff_date (TIFF *tiff)
{
  gchar *text = read_text (tiff, TIFFTAG_DATETIME), *date = NULL;
  guint v[6];

  if (text
      && sscanf (text, "%4u:%2u:%2u %2u:%2u:%2u", &v[0], &v[1], &v[2], &v[3],
             &v[4], &v[5])
             == 6)
    date = surface_date (v[0], v[1], v[2], v[3], v[4], v[5]);
  g_free (text);
  return date;
}

static const gchar *
get_description (TIFF *tiff)
{
  const char *text = NULL;

  TIFFGetField (tiff, TIFFTAG_IMAGEDESCRIPTION, &text);
  return text ? text : "";
}

/* Parses ImageJ's "unit=micron", whose resolution has no TIFF unit */
static gdouble
read_imagej_unit (TIFF *tiff)
{
  const gchar *text = get_description (tiff);
  gchar *unit;
  gdouble metres;
  gsize n;

  if (!g_str_has_prefix (text, "ImageJ=") || !(text = strstr (text, "\nunit=")))
    return 0;
  text += strlen ("\nunit=");
  n = strcspn (text, "\r\n");
  unit = g_strndup (text, n);
  metres = !strcmp (unit, "micron") || !strcmp (unit, "\\u00B5m")
               ? 1e-6
               : surface_unit (unit);
  g_free (unit);
  return metres;
}

/* --- OME-TIFF ------------------------------------------------------------------- */

/* Attributes of the first Pixels of an OME-XML */
typedef struct {
  gboolean seen;
  gdouble size[2]; /* of a pixel along x and y, in metres; 0: unknown */
} Pixels;

/* The default unit is the micrometre. Sizes in units other than of length, such as
 * "pixel", are unknown. */
static void
start_element (GMarkupParseContext *context, const gchar *name,
    const gchar **names, const gchar **values, gpointer user, GError **error)
{
  static const gchar *const sizes[] = { "PhysicalSizeX", "PhysicalSizeY" };
  static const gchar *const units[] = { "PhysicalSizeXUnit",
    "PhysicalSizeYUnit" };
  gdouble size[2] = { 0 }, metres[2] = { 1e-6, 1e-6 };
  const gchar *colon = strrchr (name, ':');
  Pixels *pixels = user;

  if (strcmp (colon ? colon + 1 : name, "Pixels") || pixels->seen)
    return;
  pixels->seen = TRUE;
  for (guint i = 0; names[i]; i++)
    for (guint k = 0; k < 2; k++)
      if (!strcmp (names[i], sizes[k]))
        surface_number (values[i], &size[k]);
      else if (!strcmp (names[i], units[k]))
        metres[k] = surface_unit (values[i]);
  for (guint k = 0; k < 2; k++)
    pixels->size[k] = size[k] * metres[k];
}

/* Returns: FALSE if the description is no OME-XML or without sizes */
static gboolean
read_ome_sizes (TIFF *tiff, SurfaceImage *about)
{
  static const GMarkupParser parser = { .start_element = start_element };
  const gchar *text = get_description (tiff);
  GMarkupParseContext *context;
  Pixels pixels = { 0 };

  if (!strstr (text, "<OME") && !strstr (text, ":OME"))
    return FALSE;
  context = g_markup_parse_context_new (&parser, 0, &pixels, NULL);
  /* the sizes come before any fault that matters */
  g_markup_parse_context_parse (context, text, (gssize) strlen (text), NULL);
  g_markup_parse_context_free (context);
  if (!(isfinite (pixels.size[0]) && pixels.size[0] > 0
          && isfinite (pixels.size[1]) && pixels.size[1] > 0))
    return FALSE;
  about->dx = pixels.size[0];
  about->dy = pixels.size[1];
  return TRUE;
}

/* --- about the page ---------------------------------------------------------------- */

/* Spacing; 0, unknown, without a resolution and its unit */
static void
read_spacing (TIFF *tiff, SurfaceImage *about)
{
  guint16 unit = RESUNIT_NONE;
  gfloat x = 0, y = 0;
  gdouble metres = 0, dx, dy;

  /* the default is inches, but programs without a unit omit the tag */
  TIFFGetField (tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
  TIFFGetField (tiff, TIFFTAG_XRESOLUTION, &x);
  TIFFGetField (tiff, TIFFTAG_YRESOLUTION, &y);
  if (unit == RESUNIT_INCH)
    metres = 0.0254;
  else if (unit == RESUNIT_CENTIMETER)
    metres = 0.01;
  else if (unit == RESUNIT_NONE)
    metres = read_imagej_unit (tiff);
  dx = metres / x;
  dy = metres / y;
  if (isfinite (dx) && isfinite (dy) && dx > 0 && dy > 0) {
    about->dx = dx;
    about->dy = dy;
  }
}

/* Metres of the unit of heights, from GDAL's metadata. Returns: 0: unknown */
static gdouble
read_height_unit (TIFF *tiff)
{
  gchar *text = read_gdal_text (tiff, TAG_GDAL_METADATA);
  gchar *unit = text ? strstr (text, UNIT_ITEM) : NULL;
  gdouble metres = 0;

  if (unit) {
    unit += strlen (UNIT_ITEM);
    unit[strcspn (unit, "<")] = 0;
    metres = surface_unit (g_strstrip (unit));
  }
  g_free (text);
  return metres;
}

/* Pages, and pictures that ImageJ stores behind the first one without a page */
static void
note_pages (TIFF *tiff, SurfaceImage *about)
{
  const gchar *text = get_description (tiff);
  guint64 pages = 1, images = 1;

  if (g_str_has_prefix (text, "ImageJ=") && (text = strstr (text, "\nimages=")))
    images = g_ascii_strtoull (text + strlen ("\nimages="), NULL, 10);
  /* frees the description, even where no page follows */
  while (pages < MAX_PAGES && TIFFReadDirectory (tiff))
    pages++;
  if (pages == 1)
    pages = MAX (1, images);
  if (pages > 1)
    surface_image_add_note (about,
        "only the first of its %" G_GUINT64_FORMAT " pictures is read", pages);
  TIFFSetDirectory (tiff, 0);
}

/* Everything but size and heights. Returns: metres of one unit of the samples; 0:
 * unknown, with no_z_unit */
static gdouble
read_about (TIFF *tiff, SurfaceImage *about)
{
  const gdouble unit = read_height_unit (tiff);
  const gchar *text = get_description (tiff);

  if (*text != '<' && !g_str_has_prefix (text, "ImageJ="))
    about->title = read_text (tiff, TIFFTAG_IMAGEDESCRIPTION);
  about->date = read_tiff_date (tiff);
  if (!read_ome_sizes (tiff, about))
    read_spacing (tiff, about);
  about->no_z_unit = unit == 0;
  return unit;
}

static void
drop_missing (SurfaceImage *image, const Layout *layout)
{
  const gsize n = (gsize) image->width * image->height;
  /* half floats are not rounded here */
  const gdouble near =
      layout->type == SURFACE_SAMPLE_F16 ? fabs (layout->missing) * 0x1p-11 : 0;

  for (gsize i = 0; !isnan (layout->missing) && i < n; i++)
    if (fabs (image->z[i] - layout->missing) <= near)
      image->z[i] = NAN;
}

static SurfaceImage *
read_page (TIFF *tiff, Memory *m, GError **error)
{
  SurfaceImage *image;
  Layout layout = { 0 };
  gdouble unit;

  if (!read_layout (tiff, m->source->size, &layout, error))
    return NULL;
  image = surface_image_new (layout.width, layout.height, error);
  if (!image)
    return NULL;
  unit = read_about (tiff, image);
  if (!read_pieces (tiff, m, &layout, image, error)) {
    surface_image_free (image);
    return NULL;
  }
  drop_missing (image, &layout);
  note_pages (tiff, image);
  surface_image_scale (image, image->no_z_unit ? 1 : unit, 0);
  return image;
}

/* Whether the strips contain only the samples, contiguously. @at: (out):
 * their byte position */
static gboolean
is_one_block (TIFF *tiff, const Layout *layout, guint64 *at)
{
  guint16 compression = COMPRESSION_NONE, order = FILLORDER_MSB2LSB;
  const gsize row = surface_sample_size (layout->type) * layout->width;
  guint64 *offsets, *sizes;
  guint32 n;

  TIFFGetFieldDefaulted (tiff, TIFFTAG_COMPRESSION, &compression);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_FILLORDER, &order);
  if (layout->tiled || !isnan (layout->missing)
      || compression != COMPRESSION_NONE || order != FILLORDER_MSB2LSB
      || !TIFFGetField (tiff, TIFFTAG_STRIPOFFSETS, &offsets)
      || !TIFFGetField (tiff, TIFFTAG_STRIPBYTECOUNTS, &sizes))
    return FALSE;
  n = TIFFNumberOfStrips (tiff);
  if (n != (layout->height - 1) / layout->down + 1)
    return FALSE;
  for (guint32 i = 0; i < n; i++) {
    const guint64 first = (guint64) i * layout->down;
    const guint64 rows = MIN (layout->down, layout->height - first);

    if (sizes[i] != rows * row || offsets[i] != offsets[0] + first * row)
      return FALSE;
  }
  *at = offsets[0];
  return TRUE;
}

static gboolean
describe_page (TIFF *tiff, const Memory *m, SurfaceImage *about,
    SurfaceLayout *layout, GError **error)
{
  Layout page = { 0 };
  gdouble unit;
  guint64 at;

  if (!read_layout (tiff, m->source->size, &page, error))
    return FALSE;
  about->width = page.width;
  about->height = page.height;
  unit = read_about (tiff, about);
  if (!is_one_block (tiff, &page, &at))
    return TRUE;
  surface_layout_init (layout, at, page.type, about->no_z_unit ? 1 : unit);
  layout->big = TIFFIsBigEndian (tiff);
  note_pages (tiff, about);
  return surface_layout_check (layout, about, m->source->size, error);
}

gboolean
surface_describe_tiff (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error)
{
  Memory m = { .source = source };
  TIFF *tiff = open_memory (&m, "rm");
  gboolean ok = FALSE;

  if (tiff)
    ok = describe_page (tiff, &m, about, layout, error);
  else
    fail (&m, "cannot be opened", error);
  if (tiff)
    TIFFClose (tiff);
  g_free (m.words);
  return ok;
}

SurfaceImage *
surface_read_tiff (const guint8 *data, gsize size, GError **error)
{
  const SurfaceSource source = { .data = data, .size = size };
  Memory m = { .source = &source };
  TIFF *tiff = open_memory (&m, "rm");
  SurfaceImage *image = NULL;

  if (tiff)
    image = read_page (tiff, &m, error);
  else
    fail (&m, "cannot be opened", error);
  if (tiff)
    TIFFClose (tiff);
  g_free (m.words);
  return image;
}

/* --- writing ----------------------------------------------------------------- */

/* Only for writing: when a directory is read, libtiff forgets these and makes fields
 * of its own. */
static void
add_tags (TIFF *tiff)
{
  static const TIFFFieldInfo tags[] = {
    { TAG_GDAL_METADATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, TRUE, FALSE,
        (char *) "GDALMetadata" },
    { TAG_GDAL_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, TRUE, FALSE,
        (char *) "GDALNoData" },
  };

  TIFFMergeFieldInfo (tiff, tags, G_N_ELEMENTS (tags));
}

static void
set_fields (TIFF *tiff, const SurfaceImage *image)
{
  gint year, month, day, hour, minute, second;

  TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, image->width);
  TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, image->height);
  TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, 64);
  TIFFSetField (tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField (tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField (tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  TIFFSetField (tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize (tiff, 0));
  TIFFSetField (tiff, TAG_GDAL_METADATA,
      "<GDALMetadata>\n  <Item name=\"UNITTYPE\" sample=\"0\" " UNIT_ITEM
      "m</Item>\n</GDALMetadata>\n");
  if (surface_tiff_holds_spacing (image)) {
    TIFFSetField (tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    TIFFSetField (tiff, TIFFTAG_XRESOLUTION, 0.01 / image->dx);
    TIFFSetField (tiff, TIFFTAG_YRESOLUTION, 0.01 / image->dy);
  }
  if (image->title)
    TIFFSetField (tiff, TIFFTAG_IMAGEDESCRIPTION, image->title);
  if (surface_date_parts (
          image, &year, &month, &day, &hour, &minute, &second)) {
    gchar date[20];

    g_snprintf (date, sizeof (date), "%04d:%02d:%02d %02d:%02d:%02d", year,
        month, day, hour, minute, second);
    TIFFSetField (tiff, TIFFTAG_DATETIME, date);
  }
}

static gboolean
write_rows (TIFF *tiff, const SurfaceImage *image)
{
  gsize size = sizeof (gdouble) * image->width;
  gdouble *row = g_malloc (size);
  gboolean ok = TRUE;

  /* a copy, because libtiff may swap bytes in place */
  for (guint y = 0; ok && y < image->height; y++) {
    memcpy (row, image->z + (gsize) y * image->width, size);
    ok = TIFFWriteScanline (tiff, row, y, 0) >= 0;
  }
  g_free (row);
  return ok;
}

gboolean
surface_write_tiff (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gboolean big = (guint64) image->width * image->height > G_MAXUINT32 / 9;
  Memory m = { .out = out };
  TIFF *tiff = open_memory (&m, big ? "w8" : "w");
  gboolean ok = FALSE;

  if (tiff) {
    add_tags (tiff);
    set_fields (tiff, image);
    ok = write_rows (tiff, image) && TIFFFlush (tiff);
    TIFFClose (tiff);
  }
  if (!ok)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "cannot be made in memory: %s", m.words ? m.words : "no memory");
  g_free (m.words);
  return ok;
}
