/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Replaces libFuzzer where it is not available: runs a fuzzer on the files
 * of its corpus, and on a reproducible number of mutations of them.
 *
 *   fuzz-NAME RUNS DIRECTORY */
#include "fuzz.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 65536

static guint64 random_state = 1;

/* splitmix64, modulo @below */
static guint
draw (guint below)
{
  guint64 z = random_state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ z >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  z ^= z >> 31;
  return (z >> 32) * below >> 32;
}

static void
insert (GByteArray *input, guint at, const guint8 *bytes, guint n)
{
  guint8 *copy = g_memdup2 (bytes, n);
  guint old = input->len;

  g_byte_array_set_size (input, old + n);
  memmove (input->data + at + n, input->data + at, old - at);
  memcpy (input->data + at, copy, n);
  g_free (copy);
}

static void
mutate (GByteArray *input)
{
  static const gchar *const words[] = { "\"", "\\", "{", "}", "[", "]", ",",
    ":", "-", "0", "1e999", "nan", "null", "4294967296", "9223372036854775807",
    "18446744073709551616", "\xff", "\\u0000", "F64", ";", " " };
  guint kind = input->len ? draw (6) : 3, at = draw (input->len);
  guint n = 1 + draw (kind == 4 ? 64 : 8);
  const gchar *word;

  if (at + n > input->len)
    n = input->len - at;
  switch (kind) {
    case 0:
      input->data[at] ^= 1 << draw (8);
      break;
    case 1:
      input->data[at] = draw (256);
      break;
    case 2:
      g_byte_array_remove_range (input, at, n);
      break;
    case 3:
      word = words[draw (G_N_ELEMENTS (words))];
      insert (input, at, (const guint8 *) word, strlen (word));
      break;
    case 4: /* copies a part elsewhere */
      insert (input, draw (input->len), input->data + at, n);
      break;
    default: /* truncates */
      if (draw (8) == 0)
        g_byte_array_set_size (input, at);
  }
}

/* Runs in memory of the exact size, for memory checkers. */
static void
run (const guint8 *bytes, gsize size)
{
  guint8 *exact = g_malloc (MAX (size, 1));

  if (size)
    memcpy (exact, bytes, size);
  LLVMFuzzerTestOneInput (exact, size);
  g_free (exact);
}

static void
run_mutations (const guint8 *seed, gsize size, guint runs)
{
  GByteArray *input = g_byte_array_new ();

  for (guint i = 0; i < runs; i++) {
    g_byte_array_set_size (input, 0);
    g_byte_array_append (input, seed, size);
    for (guint n = 1 + draw (6); n; n--)
      mutate (input);
    run (input->data, MIN (input->len, MAX_SIZE));
  }
  g_byte_array_unref (input);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(gchar *const *) a, *(gchar *const *) b);
}

/* Paths of its files, in a fixed order. */
static GPtrArray *
list_directory (const gchar *path, GError **error)
{
  GDir *directory = g_dir_open (path, 0, error);
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  const gchar *name;

  if (!directory)
    return paths;
  while ((name = g_dir_read_name (directory)))
    g_ptr_array_add (paths, g_build_filename (path, name, NULL));
  g_dir_close (directory);
  g_ptr_array_sort (paths, compare_names);
  return paths;
}

static gboolean
run_file (const gchar *path, guint runs, GError **error)
{
  gchar *bytes;
  gsize size;

  if (!g_file_get_contents (path, &bytes, &size, error))
    return FALSE;
  run ((guint8 *) bytes, size);
  run_mutations ((guint8 *) bytes, size, runs);
  g_free (bytes);
  return TRUE;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  GPtrArray *paths;
  guint runs;

  if (argc != 3) {
    g_printerr ("usage: %s RUNS DIRECTORY\n", argv[0]);
    return 2;
  }
  paths = list_directory (argv[2], &error);
  runs = paths->len ? atoi (argv[1]) / paths->len : 0;
  run (NULL, 0);
  for (guint i = 0; i < paths->len && !error; i++)
    run_file (paths->pdata[i], runs, &error);
  if (!error && !paths->len)
    error = g_error_new (
        G_FILE_ERROR, G_FILE_ERROR_NOENT, "no files in %s", argv[2]);
  if (!error)
    g_print ("%u seeds, %u mutations of each\n", paths->len, runs);
  else
    g_printerr ("%s\n", error->message);
  g_ptr_array_unref (paths);
  return error ? 1 : 0;
}
