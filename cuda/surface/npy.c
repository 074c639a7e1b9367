/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* NumPy's NPY, versions 1 to 3: "\x93NUMPY", version, length of the header, the
 * header (a Python dictionary), samples. Heights in metres; no spacing. */
#include "cuda/surface/heights.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ALIGNMENT 64

/* Contents of the header's dictionary */
typedef struct {
  SurfaceSample type;
  gboolean big;
  gboolean fortran;
  guint width, height;
} Header;

/* --- the dictionary --------------------------------------------------------- */

static const gchar *
skip_blanks (const gchar *at)
{
  while (g_ascii_isspace (*at))
    at++;
  return at;
}

/* The text after "'name':". Returns: %NULL if it is missing */
static const gchar *
find_value (const gchar *header, const gchar *name)
{
  gchar *quoted = g_strdup_printf ("'%s'", name);
  const gchar *at = strstr (header, quoted);

  if (at)
    at = skip_blanks (at + strlen (quoted));
  g_free (quoted);
  return at && *at == ':' ? skip_blanks (at + 1) : NULL;
}

/* Parses "<f8" and the like */
static gboolean
parse_type (const gchar *text, Header *header, GError **error)
{
  static const struct {
    const gchar *name;
    SurfaceSample type;
  } types[] = {
    { "u1", SURFACE_SAMPLE_U8 },
    { "i1", SURFACE_SAMPLE_I8 },
    { "u2", SURFACE_SAMPLE_U16 },
    { "i2", SURFACE_SAMPLE_I16 },
    { "u4", SURFACE_SAMPLE_U32 },
    { "i4", SURFACE_SAMPLE_I32 },
    { "u8", SURFACE_SAMPLE_U64 },
    { "i8", SURFACE_SAMPLE_I64 },
    { "f2", SURFACE_SAMPLE_F16 },
    { "f4", SURFACE_SAMPLE_F32 },
    { "f8", SURFACE_SAMPLE_F64 },
  };
  const gchar *end = text && *text == '\'' ? strchr (text + 1, '\'') : NULL;
  gchar *shown;

  if (!end)
    return surface_error (error, "has an unknown sample type (descr)");
  if (end == text + 4 && strchr ("<>|=", text[1]))
    for (guint i = 0; i < G_N_ELEMENTS (types); i++)
      if (!strncmp (text + 2, types[i].name, 2)) {
        header->type = types[i].type;
        header->big =
            text[1] == '>' || (text[1] == '=' && G_BYTE_ORDER == G_BIG_ENDIAN);
        return TRUE;
      }
  shown = surface_text ((const guint8 *) text + 1, MIN (end - text - 1, 40));
  surface_error (error,
      "has samples of the type \"%s\"; integers of 8 to 64 bits and floats of "
      "16 to 64 bits are read",
      shown ? shown : "");
  g_free (shown);
  return FALSE;
}

/* "(height, width)" or "(width,)" */
static gboolean
parse_shape (const gchar *text, Header *header, GError **error)
{
  guint64 sides[2] = { 0 };
  guint n = 0;

  if (!text || *text++ != '(')
    return surface_error (error, "has no shape");
  for (;; n++) {
    gchar *end;

    text = skip_blanks (text);
    if (*text == ')')
      break;
    if (n == 2 || !g_ascii_isdigit (*text))
      return surface_error (error,
          "has a shape other than (rows, columns), the only supported one");
    sides[n] = g_ascii_strtoull (text, &end, 10);
    text = skip_blanks (end);
    if (*text == ',')
      text++;
    else if (*text != ')')
      return surface_error (error, "has a malformed shape");
  }
  if (n == 0)
    return surface_error (error, "holds a single number, not a surface");
  if (n == 1) {
    sides[1] = sides[0];
    sides[0] = 1;
  }
  if (!surface_check_size (sides[1], sides[0], error))
    return FALSE;
  header->height = sides[0];
  header->width = sides[1];
  return TRUE;
}

static gboolean
parse_header (const gchar *text, Header *header, GError **error)
{
  const gchar *order = find_value (text, "fortran_order");

  if (!order || (strncmp (order, "True", 4) && strncmp (order, "False", 5)))
    return surface_error (error, "does not specify its order (fortran_order)");
  header->fortran = *order == 'T';
  return parse_type (find_value (text, "descr"), header, error)
         && parse_shape (find_value (text, "shape"), header, error);
}

/* --- reading ---------------------------------------------------------------- */

/* Finds the byte position of the samples */
static gboolean
read_npy_header (const guint8 *data, gsize size, Header *header, gsize *samples,
    GError **error)
{
  gsize start = 10, length;
  gboolean ok;
  gchar *text;

  if (!surface_check_bytes (size, 0, 12, error))
    return FALSE;
  length = surface_get_u16 (data + 8);
  if (data[6] == 2 || data[6] == 3) {
    start = 12;
    length = surface_get_u32 (data + 8);
  } else if (data[6] != 1) {
    return surface_error (
        error, "is of version %u; 1 to 3 are read", (guint) data[6]);
  }
  if (!surface_check_bytes (size, start, length, error))
    return FALSE;
  text = g_strndup ((const gchar *) data + start, length);
  ok = parse_header (text, header, error);
  g_free (text);
  *samples = start + length;
  return ok;
}

gboolean
surface_describe_npy (const SurfaceSource *source, const guint8 *head,
    gsize n_head, SurfaceImage *about, SurfaceLayout *layout, GError **error)
{
  Header header = { 0 };
  gsize samples = 0;

  if (!read_npy_header (head, n_head, &header, &samples, error))
    return FALSE;
  about->width = header.width;
  about->height = header.height;
  about->no_z_unit = TRUE;
  surface_layout_init (layout, samples, header.type, 1);
  layout->big = header.big;
  layout->plain = !header.fortran;
  surface_layout_note_rest (layout, about, source->size);
  return surface_layout_check (layout, about, source->size, error);
}

/* Transposes columns to rows. */
static SurfaceImage *
read_columns (const guint8 *data, const SurfaceImage *about,
    const SurfaceLayout *layout, GError **error)
{
  SurfaceImage *image = surface_image_new (about->width, about->height, error);
  gdouble *column;

  if (!image)
    return NULL;
  surface_image_copy_about (image, about);
  column = g_new (gdouble, about->height);
  for (guint x = 0; x < about->width; x++) {
    surface_samples_read (
        data + layout->at
            + (gsize) x * about->height * surface_sample_size (layout->type),
        layout->type, layout->big, about->height, column);
    for (guint y = 0; y < about->height; y++)
      image->z[(gsize) y * about->width + x] = column[y];
  }
  g_free (column);
  surface_image_scale (image, 1, 0);
  return image;
}

SurfaceImage *
surface_read_npy (const guint8 *data, gsize size, GError **error)
{
  const SurfaceSource source = { .data = data, .size = size };
  SurfaceImage about = { 0 }, *image = NULL;
  SurfaceLayout layout;

  if (surface_describe_npy (&source, data, size, &about, &layout, error))
    image = layout.plain
                ? surface_layout_read (&layout, &about, data + layout.at, error)
                : read_columns (data, &about, &layout, error);
  surface_image_clear (&about);
  return image;
}

#define ZIP_NAME_SIZE 26 /* of the first file in a zip archive */
#define ZIP_NAME 30

gboolean
surface_detect_npz (const guint8 *data, gsize size)
{
  gsize n;

  if (size < ZIP_NAME || memcmp (data, "PK\3\4", 4) != 0)
    return FALSE;
  n = surface_get_u16 (data + ZIP_NAME_SIZE);
  return n > 4 && size >= ZIP_NAME + n
         && !memcmp (data + ZIP_NAME + n - 4, ".npy", 4);
}

/* --- writing ---------------------------------------------------------------- */

/* @type: "f8" or "f4". Returns: (transfer full): @size bytes */
static gchar *
make_header (const SurfaceImage *about, const gchar *type, gsize *size)
{
  gchar *header = g_strdup_printf (
      "{'descr': '<%s', 'fortran_order': False, 'shape': (%u, %u), }", type,
      about->height, about->width);
  gsize length = strlen (header);
  gchar *to;

  *size = (10 + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  to = g_malloc (*size);
  memcpy (to, "\x93NUMPY\1\0", 8);
  surface_put_u16 ((guint8 *) to + 8, *size - 10);
  memset (to + 10, ' ', *size - 10);
  memcpy (to + 10, header, length);
  to[*size - 1] = '\n';
  g_free (header);
  return to;
}

gboolean
surface_write_npy (const SurfaceImage *image, SurfaceOut *out, GError **error)
{
  gsize size;
  gchar *header = make_header (image, "f8", &size);
  guint8 *to = surface_out_add (out, size, error);

  if (to)
    memcpy (to, header, size);
  g_free (header);
  return to && surface_out_add_samples (out, image, SURFACE_SAMPLE_F64, error);
}

/* --- samples of a stream ------------------------------------------------------ */

/* Samples of a write, 256 or 512 KiB: the kernel takes up to 1.4 times as long for
 * writes of 32 KiB, one at a time for each file. */
#define WRITTEN_AT_A_TIME (8 * SURFACE_BLOCK)

/* Shared by threads that write blocks of samples */
typedef struct {
  const SurfaceKernels *kernels;
  SurfaceLayout layout;
  const guint8 *samples;
  gsize n, size, to_size;
  gsize start; /* of the first sample in the file */
  int fd;
  gint number; /* atomic: errno of the first failure, or 0 */
} Writing;

static gboolean
write_bytes (Writing *writing, const void *bytes, gsize n, gsize at)
{
  const gint number = surface_pwrite (writing->fd, bytes, n, at);

  if (number != 0)
    g_atomic_int_set (&writing->number, number);
  return number == 0;
}

static void
write_stretch (Writing *writing, guint number)
{
  const gsize at = (gsize) number * WRITTEN_AT_A_TIME;
  const gsize n = MIN (writing->n - at, WRITTEN_AT_A_TIME);
  const guint8 *from = writing->samples + at * writing->size;
  gpointer heights = g_try_malloc (n * writing->to_size);

  if (heights == NULL) {
    g_atomic_int_set (&writing->number, ENOMEM);
    return;
  }
  if (writing->to_size == sizeof (gfloat))
    writing->kernels->to_f32 (&writing->layout, from, n, 0, heights);
  else
    writing->kernels->to_f64 (&writing->layout, from, n, 0, heights);
  write_bytes (writing, heights, n * writing->to_size,
      writing->start + at * writing->to_size);
  g_free (heights);
}

static void
write_stretches (guint first, guint count, gpointer user_data)
{
  Writing *writing = user_data;

  for (guint i = first; i < first + count; i++)
    if (g_atomic_int_get (&writing->number) == 0)
      write_stretch (writing, i);
}

gboolean
surface_file_save_npy (int fd, const SurfaceImage *about, SurfaceStream stream,
    gdouble scale, gdouble offset, const void *samples, CvisPool *pool,
    GError **error)
{
  static const SurfaceSample types[] = { SURFACE_SAMPLE_F32, SURFACE_SAMPLE_F64,
    SURFACE_SAMPLE_I32 };
  /* the sum of a sample and an offset needs more digits */
  const gboolean single =
      stream == SURFACE_STREAM_F32 && scale == 1.0 && offset == 0.0;
  Writing writing = { .kernels = surface_kernels (),
    .samples = samples,
    .n = (gsize) about->width * about->height,
    .size = surface_sample_size (types[stream]),
    .to_size = single ? sizeof (gfloat) : sizeof (gdouble),
    .fd = fd };
  gchar *header = make_header (about, single ? "f4" : "f8", &writing.start);

  surface_layout_init (&writing.layout, 0, types[stream], scale);
  writing.layout.offset = offset;
  writing.layout.big = G_BYTE_ORDER == G_BIG_ENDIAN;
  if (write_bytes (&writing, header, writing.start, 0))
    cvis_pool_run (pool,
        (guint) ((writing.n + WRITTEN_AT_A_TIME - 1) / WRITTEN_AT_A_TIME), 1,
        write_stretches, &writing);
  g_free (header);
  if (writing.number == 0)
    return TRUE;
  g_set_error_literal (error, G_FILE_ERROR,
      (gint) g_file_error_from_errno (writing.number),
      g_strerror (writing.number));
  return FALSE;
}
