/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of surfaces: readable ones can be written and read again. Input that
 * begins like XML becomes the main.xml of an X3P, whose checksums a fuzzer
 * would not get past. */
#include "fuzz.h"
#include "cuda/surface/file.h"

#include <math.h>
#include <string.h>
#if HAVE_X3P
#include <zip.h>
#endif

/* keeps a fuzzer from spending its time on large pictures */
#define MAX_SAMPLES 4096

static void
check_image (const SurfaceImage *image)
{
  g_assert (image->width > 0 && image->height > 0);
  g_assert (isfinite (image->dx) && image->dx >= 0);
  g_assert (isfinite (image->dy) && image->dy >= 0);
  g_assert (!image->title || g_utf8_validate (image->title, -1, NULL));
  g_assert (!image->date || g_utf8_validate (image->date, -1, NULL));
  for (gsize i = 0; i < (gsize) image->width * image->height; i++)
    g_assert (isfinite (image->z[i]) || isnan (image->z[i]));
}

static void
check_round_trip (const SurfaceImage *image, SurfaceFileFormat format)
{
  GError *error = NULL;
  GBytes *bytes = surface_file_write (image, format, &error);
  SurfaceImage *back;

  if (!bytes) {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_error_free (error);
    return;
  }
  back = surface_file_read (bytes, &error);
  /* a spacing may be outside the range of a format's float32 */
  if (back) {
    g_assert (back->width == image->width && back->height == image->height);
    check_image (back);
    surface_image_free (back);
  } else {
    g_assert (format == SURFACE_FILE_SUR || format == SURFACE_FILE_GSF);
    g_error_free (error);
  }
  g_bytes_unref (bytes);
}

static void
fuzz_file (GBytes *file)
{
  GError *error = NULL;
  SurfaceImage *image = surface_file_read (file, &error);

  if (image) {
    g_assert (!error);
    check_image (image);
    if ((guint64) image->width * image->height <= MAX_SAMPLES)
      for (gint f = SURFACE_FILE_X3P; f <= SURFACE_FILE_NPY; f++)
        check_round_trip (image, f);
    surface_image_free (image);
  } else {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
}

#if HAVE_X3P
static void
add_entry (zip_t *zip, const gchar *name, const void *bytes, gsize size)
{
  zip_source_t *source = zip_source_buffer (zip, bytes, size, 0);

  zip_file_add (zip, name, source, 0);
}

/* main.xml, 64 bytes of points, a byte with the mask of valid ones */
static GBytes *
pack (const uint8_t *xml, size_t size)
{
  static const guint8 points[64] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  zip_source_t *archive = zip_source_buffer_create (NULL, 0, 0, NULL);
  zip_t *zip = zip_open_from_source (archive, ZIP_TRUNCATE, NULL);
  zip_stat_t st;
  guint8 *bytes;

  zip_source_keep (archive);
  add_entry (zip, "main.xml", xml, size);
  add_entry (zip, "bindata/data.bin", points, sizeof (points));
  add_entry (zip, "bindata/valid.bin", "\x5a", 1);
  g_assert (zip_close (zip) == 0);
  g_assert (zip_source_stat (archive, &st) == 0);
  bytes = g_malloc (st.size);
  zip_source_open (archive);
  zip_source_read (archive, bytes, st.size);
  zip_source_close (archive);
  zip_source_free (archive);
  return g_bytes_new_take (bytes, st.size);
}
#endif

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GBytes *file = NULL;

#if HAVE_X3P
  if (size > 0 && bytes[0] == '<')
    file = pack (bytes, size);
#endif
  if (!file)
    file = g_bytes_new_static (bytes, size);
  fuzz_file (file);
  g_bytes_unref (file);
  return 0;
}
