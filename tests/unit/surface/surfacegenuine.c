/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of real instruments, if the test data is available: sizes, spacing,
 * and heights as read by Gwyddion and NumPy. */
#include "cuda/surface/file.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  const gchar *name;
  guint width, height;
  gdouble dx, dy;
  gdouble mean, sq; /* of the valid points */
  gdouble first, last;
  guint missing;
} Genuine;

static const Genuine files[] = {
  { "x3p-2.x3p", 650, 650, 1.27656509837346e-07, 3.14582113527746e-07,
      -2.4918241693055748e-09, 7.728033273597876e-08, 6.57978134e-08, NAN, 0 },
  { "sample-land.x3p", 918, 256, 2.58e-6, 2.58e-6, NAN, 3.433427489069121e-05,
      -5.42110829e-05, NAN, 25292 },
  { "bcrf-1.bcrf", 960, 600, 1.8514625e-06, 1.851463333333e-06,
      5.063154515247106e-05, 2.4560210667743558e-08, 5.06283718e-05, NAN, 0 },
  { "sur-2.sur", 563, 484, 3.4840002190321683e-06, 3.4840002190321683e-06,
      1.0157376395157182e-05, 1.751788124358818e-08, 1.01477001e-05, NAN, 117 },
  { "al3d-1.al3d", 200, 296, 4.38027e-07, 4.38027e-07, 0.07634093332028873,
      7.688265843362921e-06, 0.07635815, 0.0763232037, 0 },
};

static void
check_near (gdouble value, gdouble expected)
{
  if (!isnan (expected))
    g_assert_cmpfloat_with_epsilon (value, expected, fabs (expected) * 3e-7);
}

static void
check_heights (const SurfaceImage *image, const Genuine *file)
{
  gsize n = (gsize) image->width * image->height, there = 0;
  gdouble mean = 0, square = 0;

  for (gsize i = 0; i < n; i++)
    if (!isnan (image->z[i])) {
      mean += image->z[i];
      there++;
    }
  mean /= there;
  for (gsize i = 0; i < n; i++)
    if (!isnan (image->z[i]))
      square += (image->z[i] - mean) * (image->z[i] - mean);
  g_assert_cmpuint (n - there, ==, file->missing);
  check_near (mean, file->mean);
  check_near (sqrt (square / there), file->sq);
  check_near (image->z[0], file->first);
  check_near (image->z[n - 1], file->last);
}

/* Returns: FALSE if the file is missing */
static gboolean
check_file (const gchar *folder, const Genuine *file)
{
  gchar *path = g_build_filename (folder, "lifting", file->name, NULL);
  SurfaceImage *image;
  GError *error = NULL;
  GBytes *bytes;
  gchar *data;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, NULL)) {
    g_print ("skipped: %s is missing\n", path);
    g_free (path);
    return FALSE;
  }
  bytes = g_bytes_new_take (data, size);
  if (surface_file_supported (
          surface_file_detect ((const guint8 *) data, size))) {
    image = surface_file_read (bytes, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (image->width, ==, file->width);
    g_assert_cmpuint (image->height, ==, file->height);
    check_near (image->dx, file->dx);
    check_near (image->dy, file->dy);
    check_heights (image, file);
    surface_image_free (image);
  }
  g_bytes_unref (bytes);
  g_free (path);
  return TRUE;
}

int
main (void)
{
  const gchar *folder = g_getenv ("CUDAVISION_TEST_DATA");
  gboolean all = folder != NULL;

  for (guint i = 0; folder && i < G_N_ELEMENTS (files); i++)
    all &= check_file (folder, &files[i]);
  return all ? EXIT_SUCCESS : 77;
}
