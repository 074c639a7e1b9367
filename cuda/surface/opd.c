/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* WYKO OPD (Veeco, Bruker): two bytes, a directory of blocks (name, type,
 * size, attributes), then the blocks in order, little-endian. Heights are
 * stored by columns from the left, each from bottom to top, in units of
 * Wavelength / Mult nanometres. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ENTRY_SIZE 24
#define NAME_SIZE 16
#define MAX_BLOCKS 65536
#define ARRAY_HEADER 6 /* columns, rows, bytes of a sample */
#define MISSING_16 32766
#define MISSING_FLOAT 1e38f /* as stored in the file */

typedef enum {
  BLOCK_ARRAY = 3,
  BLOCK_TEXT = 5,
  BLOCK_SHORT = 6,
  BLOCK_FLOAT = 7,
} BlockType;

/* @entry: position in the directory; %NULL: no block of that name */
typedef struct {
  const guint8 *entry;
  gsize at, size;
} Block;

typedef struct {
  const guint8 *data;
  gsize size;
  guint n_blocks; /* including the directory */
} File;

/* --- blocks ------------------------------------------------------------------ */

static const guint8 *
get_entry (const File *file, guint index)
{
  return file->data + 2 + (gsize) index * ENTRY_SIZE;
}

static gsize
get_opd_size (const guint8 *entry)
{
  return surface_get_u32 (entry + NAME_SIZE + 2);
}

/* The directory is the first block; all blocks have to be inside the file. */
static gboolean
read_directory (File *file, GError **error)
{
  const gsize size = file->size >= 2 + ENTRY_SIZE
                         ? get_opd_size (get_entry (file, 0))
                         : ENTRY_SIZE;
  guint64 at = 2;

  if (!surface_check_bytes (file->size, 2, size, error))
    return FALSE;
  file->n_blocks = (guint) (size / ENTRY_SIZE);
  if (file->n_blocks < 1 || file->n_blocks > MAX_BLOCKS)
    return surface_error (error,
        "has a directory of %" G_GSIZE_FORMAT
        " bytes (byte 20); %d to %d are read",
        size, ENTRY_SIZE, MAX_BLOCKS * ENTRY_SIZE);
  for (guint i = 0; i < file->n_blocks; i++) {
    const gsize n = get_opd_size (get_entry (file, i));

    if (!surface_check_bytes (file->size, at, n, error)) {
      gchar *name = surface_text_latin1 (get_entry (file, i), NAME_SIZE);

      g_prefix_error (error, "has a block \"%s\" and ", name ? name : "");
      g_free (name);
      return FALSE;
    }
    at += n;
  }
  return TRUE;
}

static Block
find_block (const File *file, const gchar *name, BlockType type)
{
  gsize at = 2;

  for (guint i = 0; i < file->n_blocks; i++) {
    const guint8 *entry = get_entry (file, i);
    const gsize size = get_opd_size (entry);

    if (size > 0 && surface_get_u16 (entry + NAME_SIZE) == type
        && !strncmp ((const gchar *) entry, name, NAME_SIZE))
      return (Block){ entry, at, size };
    at += size;
  }
  return (Block){ 0 };
}

/* @value: (inout): unchanged if the block is missing. Returns: FALSE if the
 *   block is too small */
static gboolean
read_number (const File *file, const gchar *name, BlockType type,
    gdouble *value, GError **error)
{
  const Block block = find_block (file, name, type);

  if (!block.entry)
    return TRUE;
  if (block.size < (type == BLOCK_SHORT ? 2 : 4))
    return surface_error (error,
        "has %" G_GSIZE_FORMAT " bytes of %s at byte %" G_GSIZE_FORMAT
        "; a number is expected",
        block.size, name, block.at);
  *value = type == BLOCK_SHORT
               ? (gint16) surface_get_u16 (file->data + block.at)
               : surface_get_f32 (file->data + block.at);
  return TRUE;
}

static gchar *
read_text (const File *file, const gchar *name)
{
  const Block block = find_block (file, name, BLOCK_TEXT);

  return block.entry ? surface_text_latin1 (file->data + block.at, block.size)
                     : NULL;
}

/* "10/26/2009" and "11:16:55" */
static gchar *
read_opd_date (const File *file)
{
  gchar *day = read_text (file, "Date"), *time = read_text (file, "Time");
  gchar *date = NULL;
  guint v[6];

  if (day && time && sscanf (day, "%2u/%2u/%4u", &v[0], &v[1], &v[2]) == 3
      && sscanf (time, "%2u:%2u:%2u", &v[3], &v[4], &v[5]) == 3)
    date = surface_date (v[2], v[0], v[1], v[3], v[4], v[5]);
  g_free (day);
  g_free (time);
  return date;
}

/* --- heights ------------------------------------------------------------------ */

static gboolean
read_scales (
    const File *file, SurfaceImage *about, gdouble *scale, GError **error)
{
  gdouble pixel = NAN, aspect = 1, wavelength = NAN, mult = 1;

  if (!read_number (file, "Pixel_size", BLOCK_FLOAT, &pixel, error)
      || !read_number (file, "Aspect", BLOCK_FLOAT, &aspect, error)
      || !read_number (file, "Wavelength", BLOCK_FLOAT, &wavelength, error)
      || !read_number (file, "Mult", BLOCK_SHORT, &mult, error))
    return FALSE;
  about->dx = pixel * 1e-3;
  about->dy = about->dx * aspect;
  *scale = wavelength * 1e-9 / mult;
  return surface_check_spacing ("Pixel_size", about->dx, error)
         && surface_check_spacing ("Pixel_size * Aspect", about->dy, error)
         && surface_check_factor ("Mult", mult, error)
         && surface_check_factor ("Wavelength / Mult", *scale, error);
}

/* Finds the first of the names used for blocks of heights */
static gboolean
find_heights (const File *file, Block *block, GError **error)
{
  static const gchar *const names[] = { "RAW_DATA", "RAW DATA", "OPD",
    "SAMPLE_DATA", "Raw" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    *block = find_block (file, names[i], BLOCK_ARRAY);
    if (block->entry)
      return TRUE;
  }
  return surface_error (
      error, "has no block of heights: RAW_DATA, OPD, SAMPLE_DATA or Raw");
}

static gboolean
read_array (const File *file, SurfaceImage *about, SurfaceLayout *layout,
    GError **error)
{
  const guint8 *at;
  Block block;
  guint bytes;

  if (!find_heights (file, &block, error)
      || !surface_check_bytes (block.size, 0, ARRAY_HEADER, error))
    return FALSE;
  at = file->data + block.at;
  about->width = surface_get_u16 (at);
  about->height = surface_get_u16 (at + 2);
  bytes = surface_get_u16 (at + 4);
  if (bytes != 1 && bytes != 2 && bytes != 4)
    return surface_error (error,
        "has samples of %u bytes (byte %" G_GSIZE_FORMAT
        "); 1, 2 and 4 are possible",
        bytes, block.at + 4);
  surface_layout_init (layout, ARRAY_HEADER,
      bytes == 1   ? SURFACE_SAMPLE_U8
      : bytes == 2 ? SURFACE_SAMPLE_I16
                   : SURFACE_SAMPLE_F32,
      1);
  if (bytes > 1)
    layout->high = bytes == 2 ? MISSING_16 : MISSING_FLOAT;
  if (!surface_check_size (about->width, about->height, error)
      || !surface_layout_check (layout, about, block.size, error))
    return FALSE;
  layout->at += block.at;
  return TRUE;
}

/* Only one array is read. */
static void
note_arrays (const File *file, SurfaceImage *image)
{
  guint arrays = 0;

  for (guint i = 0; i < file->n_blocks; i++) {
    const guint8 *entry = get_entry (file, i);

    arrays += surface_get_u16 (entry + NAME_SIZE) == BLOCK_ARRAY
              && get_opd_size (entry) > 0;
  }
  if (arrays > 1)
    surface_image_add_note (image,
        "its other blocks of arrays (%u), such as intensity, are not read",
        arrays - 1);
}

/* Transposes columns from the bottom up to rows from the top down. */
static SurfaceImage *
turn_heights (const SurfaceImage *columns, GError **error)
{
  const guint width = columns->width, height = columns->height;
  SurfaceImage *image = surface_image_new (width, height, error);

  for (guint y = 0; image && y < height; y++)
    for (guint x = 0; x < width; x++)
      image->z[(gsize) y * width + x] =
          columns->z[(gsize) x * height + height - 1 - y];
  return image;
}

SurfaceImage *
surface_read_opd (const guint8 *data, gsize size, GError **error)
{
  File file = { .data = data, .size = size };
  SurfaceImage about = { 0 }, *columns = NULL, *image = NULL;
  SurfaceLayout layout;

  if (read_directory (&file, error)
      && read_array (&file, &about, &layout, error)
      && read_scales (&file, &about, &layout.scale, error))
    columns = surface_layout_read (&layout, &about, data + layout.at, error);
  if (columns)
    image = turn_heights (columns, error);
  if (image) {
    image->dx = about.dx;
    image->dy = about.dy;
    image->title = read_text (&file, "Title");
    image->date = read_opd_date (&file);
    note_arrays (&file, image);
  }
  g_clear_pointer (&columns, surface_image_free);
  return image;
}
