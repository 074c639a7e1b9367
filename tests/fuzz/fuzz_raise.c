/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* HDF5 files of frames. The bytes are choices from which libhdf5 writes a valid file: links,
 * types, ranks, sizes, chunks, values. Damaged bytes are libhdf5's subject, not ours, and
 * libhdf5 1.10 crashes on some. */
#include "fuzz.h"
#include "cuda/camera/raise.h"

#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_FRAMES 6 /* of a layer */
#define MOST_SIDE 5

typedef struct {
  const uint8_t *bytes;
  size_t left;
} Choices;

/* 0 to @below - 1; 0 when no bytes are left */
static guint
choose (Choices *choices, guint below)
{
  if (choices->left == 0)
    return 0;
  choices->left--;
  return *choices->bytes++ % below;
}

/* --- the file -------------------------------------------------------------- */

static gdouble
choose_number (Choices *choices)
{
  static const gdouble special[] = { NAN, INFINITY, -1, 0.5, -0.0, 4294967295.0,
    4294967296.0, 1e300, -1e300, 127, 128, 255 };
  guint choice = choose (choices, 64);

  return choice < G_N_ELEMENTS (special) ? special[choice] : choice % 4;
}

static hid_t
choose_type (Choices *choices, hid_t usual)
{
  const hid_t types[] = { H5T_NATIVE_INT8, H5T_NATIVE_UINT16, H5T_NATIVE_INT64,
    H5T_NATIVE_UINT64, H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_STD_I32BE,
    H5T_C_S1, H5T_NATIVE_UINT8 };
  guint choice = choose (choices, 32);

  return choice < G_N_ELEMENTS (types) ? types[choice] : usual;
}

/* A list of properties, perhaps with chunks and filters */
static hid_t
choose_storage (Choices *choices, gint rank, const hsize_t *dims)
{
  hid_t list = H5Pcreate (H5P_DATASET_CREATE);
  guint storage = choose (choices, 8);
  hsize_t chunk[4];

  if (storage == 0 || rank == 0)
    return list;
  for (gint i = 0; i < rank; i++)
    chunk[i] = 1 + choose (choices, (guint) MAX (dims[i], 1));
  H5Pset_chunk (list, rank, chunk);
  if (storage & 1)
    H5Pset_shuffle (list);
  if (storage & 2)
    H5Pset_deflate (list, 1);
  if (storage & 4)
    H5Pset_fletcher32 (list);
  return list;
}

static void
write_values (Choices *choices, hid_t set, gsize n)
{
  gdouble *values = g_new (gdouble, n + 1);

  for (gsize i = 0; i < n; i++)
    values[i] = choose_number (choices);
  H5Dwrite (set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  g_free (values);
}

/* A data set that has, most of the time, the usual @rank, @dims and @type */
static void
add_set (Choices *choices, hid_t group, const gchar *name, gint rank,
    hsize_t dims[4], hid_t type)
{
  guint odd = choose (choices, 32);
  hid_t space, list, set;
  gsize n = 1;

  if (odd == 0)
    return; /* missing */
  if (odd == 1)
    rank = (gint) choose (choices, 5);
  if (odd == 2)
    dims[choose (choices, 4)] = choose (choices, MOST_SIDE);
  for (gint i = 0; i < rank; i++)
    n *= dims[i];
  space = H5Screate_simple (rank, dims, NULL);
  list = choose_storage (choices, rank, dims);
  set = H5Dcreate2 (group, name, choose_type (choices, type), space,
      H5P_DEFAULT, list, H5P_DEFAULT);
  if (set >= 0 && choose (choices, 16) > 0) /* or never written */
    write_values (choices, set, n);
  if (set >= 0)
    H5Dclose (set);
  H5Pclose (list);
  H5Sclose (space);
}

static const gchar *const names[] = { "C1", "C2", "C10", "1", "01", "10",
  "frame" };

static void
add_layer (Choices *choices, hid_t parent, const gchar *name)
{
  hid_t group =
      H5Gcreate2 (parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hsize_t frames[4], index[4], params[4];

  if (group < 0)
    return; /* a second one of this name */
  frames[0] = choose (choices, MOST_FRAMES + 1);
  for (guint i = 1; i < 4; i++)
    frames[i] = 1 + choose (choices, MOST_SIDE);
  for (guint i = 0; i < 4; i++) {
    index[i] = frames[0];
    params[i] = i == 0 ? choose (choices, 4) : 2;
  }
  add_set (choices, group, "frame", 3, frames, H5T_NATIVE_UINT8);
  add_set (choices, group, "scan_line_index", 1, index, H5T_NATIVE_INT32);
  if (choose (choices, 4) > 0)
    add_set (choices, group, "laser_params", 2, params, H5T_NATIVE_DOUBLE);
  H5Gclose (group);
}

/* A layer, a group of layers, or a link */
static void
add_child (Choices *choices, hid_t parent, guint depth)
{
  static const gchar *const targets[] = { "/C1", "/C1/1", "/", ".", "nowhere",
    "/C2" };
  const gchar *name = names[choose (choices, G_N_ELEMENTS (names))];
  const gchar *target = targets[choose (choices, G_N_ELEMENTS (targets))];
  guint kind = choose (choices, 16);
  hid_t group;

  if (kind == 0) {
    H5Lcreate_soft (target, parent, name, H5P_DEFAULT, H5P_DEFAULT);
  } else if (kind == 1) {
    H5Lcreate_external (
        "/etc/passwd", target, parent, name, H5P_DEFAULT, H5P_DEFAULT);
  } else if (kind == 2) {
    H5Lcreate_hard (parent, target, parent, name, H5P_DEFAULT, H5P_DEFAULT);
  } else if (kind < 8 && depth < 3) {
    group = H5Gcreate2 (parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (guint n = choose (choices, 4); n > 0 && group >= 0; n--)
      add_child (choices, group, depth + 1);
    if (group >= 0)
      H5Gclose (group);
  } else {
    add_layer (choices, parent, name);
  }
}

static void
write_file (Choices *choices, const gchar *path)
{
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);

  g_assert (file >= 0);
  for (guint n = choose (choices, 5); n > 0; n--)
    add_child (choices, file, 0);
  H5Fclose (file);
}

/* --- reading --------------------------------------------------------------- */

static guint
hash_frame (const PbfRaiseFrame *frame)
{
  gsize n = (gsize) frame->width * frame->height;
  const guint8 *record = (const guint8 *) &frame->signal;
  guint hash = frame->width;

  g_assert (frame->signal.width == frame->width);
  g_assert (frame->signal.height == frame->height);
  for (gsize i = 0; i < n; i++)
    hash = 31 * hash + frame->pixels[i];
  for (gsize i = 0; i < sizeof frame->signal; i++)
    hash = 31 * hash + record[i];
  return hash;
}

/* Hashes of the frames up to the end or the first error */
static GArray *
read_all (PbfRaise *raise, GError **error)
{
  GArray *hashes = g_array_new (FALSE, FALSE, sizeof (guint));
  PbfRaiseFrame frame;

  while (pbf_raise_next (raise, &frame, error)) {
    guint hash = hash_frame (&frame);

    g_array_append_val (hashes, hash);
    g_assert (hashes->len < 100000);
  }
  return hashes;
}

/* A seek to each frame leads to the same frames; at the end there is none. */
static void
check_seeks (PbfRaise *raise, const GArray *hashes)
{
  PbfRaiseFrame frame;
  guint64 n;

  g_assert (pbf_raise_count (raise, &n, NULL) && n == hashes->len);
  for (guint i = 0; i < hashes->len; i++) {
    guint at = (i * 7 + 3) % hashes->len;

    g_assert (pbf_raise_seek (raise, at, NULL));
    g_assert (pbf_raise_next (raise, &frame, NULL));
    g_assert (hash_frame (&frame) == g_array_index (hashes, guint, at));
  }
  g_assert (pbf_raise_seek (raise, n, NULL));
  g_assert (!pbf_raise_next (raise, &frame, NULL));
}

static void
read_file (const gchar *path, const gchar *group)
{
  GError *error = NULL;
  PbfRaise *raise = pbf_raise_new (path, group, &error);
  GArray *hashes;
  guint64 n;

  g_assert ((raise == NULL) == (error != NULL));
  if (raise == NULL) {
    g_error_free (error);
    return;
  }
  g_free (pbf_raise_take_warning (raise, FALSE));
  hashes = read_all (raise, &error);
  if (error == NULL)
    check_seeks (raise, hashes);
  else if (pbf_raise_count (raise, &n, NULL))
    for (guint64 at = 0; at <= n; at++) /* errors, but nothing worse */
      pbf_raise_seek (raise, at, NULL);
  g_clear_error (&error);
  g_free (pbf_raise_take_warning (raise, TRUE));
  g_array_unref (hashes);
  pbf_raise_free (raise);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  static const gchar *const groups[] = { "", "C1", "/C1/1", "C", "C2/C1" };
  Choices choices = { bytes, size };
  gchar *path = g_strdup ("/tmp/fuzz-raise-XXXXXX");
  const gchar *group = groups[choose (&choices, G_N_ELEMENTS (groups))];
  gint fd = mkstemp (path);

  g_assert (fd >= 0);
  close (fd);
  H5Eset_auto2 (H5E_DEFAULT, NULL, NULL);
  write_file (&choices, path);
  read_file (path, group);
  unlink (path);
  g_free (path);
  return 0;
}
