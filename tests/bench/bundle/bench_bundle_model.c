/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reads and writes a COLMAP model of simulated observations in the page cache: the
 * fastest of some runs, in bytes of the files for each second.
 *
 *   bench_bundle_model FOLDER [MILLIONS]
 *
 * FOLDER: is made, and gets the models `binary` and `text`. MILLIONS (10): of
 * observations, five of each point, of images with 5000 of them and 500 other features.
 * The program checks that what it reads is written again with the same bytes. */
#include "cuda/bundle/colmap/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/histogram.h"

#define RUNS 5
#define TRACK 5
#define OBSERVED 5000 /* of an image */
#define FEATURES 5500

static guint64
draw (guint64 *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static gdouble
draw_number (guint64 *state, gdouble size)
{
  return size * (gdouble) draw (state) / (1u << 31);
}

static void
make_images (BundleModel *model, guint64 *state)
{
  model->images = g_new0 (BundleModelImage, model->n_images);
  model->features = g_new0 (BundleModelFeature, model->n_features);
  for (guint i = 0; i < model->n_images; i++) {
    BundleModelImage *image = &model->images[i];

    *image = (BundleModelImage){ .id = i + 1,
      .name = g_strdup_printf ("images/%08u.jpg", i),
      .first = (gsize) i * FEATURES,
      .n = FEATURES };
    for (guint k = 0; k < 4; k++)
      image->q[k] = draw_number (state, 1);
    for (guint k = 0; k < 3; k++)
      image->t[k] = draw_number (state, 10);
  }
  for (gsize i = 0; i < model->n_features; i++)
    model->features[i] = (BundleModelFeature){ { draw_number (state, 4000),
                                                   draw_number (state, 3000) },
      BUNDLE_MODEL_NO_POINT };
}

/* Points see neighbouring images, as tracks do. */
static BundleModel *
make_bench_model (gsize n)
{
  BundleModel *model = g_new0 (BundleModel, 1);
  guint64 state = 1;
  guint32 *used;

  model->n_cameras = 1;
  model->cameras = g_new0 (BundleModelCamera, 1);
  model->cameras[0] = (BundleModelCamera){ 1, BUNDLE_LENS_OPENCV, 4000, 3000,
    { 3000.25, 3001.5, 2000, 1500, 0.1, 0.01 } };
  model->n_images = (guint) MAX (n / OBSERVED, TRACK);
  model->n_features = (gsize) model->n_images * FEATURES;
  model->n_points = (gsize) model->n_images * OBSERVED / TRACK;
  model->n_elements = model->n_points * TRACK;
  make_images (model, &state);
  used = g_new0 (guint32, model->n_images);
  model->points = g_new0 (BundleModelPoint, model->n_points);
  model->elements = g_new0 (BundleModelElement, model->n_elements);
  for (gsize p = 0; p < model->n_points; p++) {
    BundleModelPoint *point = &model->points[p];

    *point = (BundleModelPoint){ .id = p + 1,
      .error = draw_number (&state, 2),
      .first = p * TRACK,
      .n = TRACK };
    for (guint k = 0; k < 3; k++) {
      point->x[k] = draw_number (&state, 100);
      point->colour[k] = (guint8) draw (&state);
    }
    for (guint k = 0; k < TRACK; k++) {
      const guint image = (guint) ((p * model->n_images / model->n_points + k)
                                   % model->n_images);
      const guint feature = used[image]++ % FEATURES;

      model->elements[point->first + k] =
          (BundleModelElement){ image, feature };
      model->features[model->images[image].first + feature].point = point->id;
    }
  }
  g_free (used);
  return model;
}

static void
print_rate (const gchar *what, gdouble bytes, guint64 ns)
{
  printf ("  %-34s %7.3f s  %6.2f GB/s\n", what, (gdouble) ns * 1e-9,
      bytes / (gdouble) ns);
}

/* Compares the files of two folders. Returns: bytes of one */
static gdouble
compare_bench_folders (const gchar *folder, const gchar *again, gboolean binary)
{
  gdouble bytes = 0;

  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++) {
    const gchar *name = bundle_model_file_name (i, binary);
    g_autofree gchar *a = g_build_filename (folder, name, NULL);
    g_autofree gchar *b = g_build_filename (again, name, NULL);
    g_autoptr (GMappedFile) x = g_mapped_file_new (a, FALSE, NULL);
    g_autoptr (GMappedFile) y = g_mapped_file_new (b, FALSE, NULL);
    const gsize n = g_mapped_file_get_length (x);

    g_assert_true (n == g_mapped_file_get_length (y));
    g_assert_true (memcmp (g_mapped_file_get_contents (x),
                       g_mapped_file_get_contents (y), n)
                   == 0);
    bytes += (gdouble) n;
  }
  return bytes;
}

static void
bench_model (const gchar *folder, gboolean binary)
{
  guint64 fastest[2] = { G_MAXUINT64, G_MAXUINT64 };
  g_autofree gchar *again = g_strconcat (folder, ".again", NULL);
  GError *error = NULL;
  gdouble bytes;

  for (guint run = 0; run < RUNS; run++) {
    const guint64 start = cvis_monotonic_ns ();
    g_autoptr (BundleModel) model = bundle_model_read (folder, &error);
    const guint64 read = cvis_monotonic_ns ();

    g_assert_no_error (error);
    g_assert_true (bundle_model_write (model, binary, again, &error));
    fastest[1] = MIN (fastest[1], cvis_monotonic_ns () - read);
    fastest[0] = MIN (fastest[0], read - start);
  }
  bytes = compare_bench_folders (folder, again, binary);
  printf ("%s, %.0f MB\n", binary ? "binary" : "text", bytes * 1e-6);
  print_rate ("reading", bytes, fastest[0]);
  print_rate ("writing with fsync", bytes, fastest[1]);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  BundleModel *model;

  if (argc < 2) {
    fprintf (stderr, "usage: bench_bundle_model FOLDER [MILLIONS]\n");
    return 2;
  }
  model = make_bench_model ((gsize) ((argc > 2 ? atof (argv[2]) : 10) * 1e6));
  for (guint binary = 2; binary-- > 0;) {
    g_autofree gchar *folder =
        g_build_filename (argv[1], binary ? "binary" : "text", NULL);

    model->binary = binary != 0;
    if (!bundle_model_write (model, binary != 0, folder, &error))
      g_error ("%s", error->message);
    bench_model (folder, binary != 0);
  }
  bundle_model_free (model);
  return 0;
}
