/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/jit/jitcache.h"

#include <glib/gstdio.h>
#include <string.h>
#include <utime.h>

#define SUFFIX ".kernel"
#define MAX_AGE (180 * 24 * 3600) /* s */
#define MAX_BYTES ((guint64) 256 << 20)

static void
checksum_text (GChecksum *checksum, const gchar *text)
{
  /* includes the NUL, so that adjacent texts cannot be confused */
  g_checksum_update (checksum, (const guchar *) text, strlen (text) + 1);
}

gchar *
cvis_jit_cache_key (const CvisJitSource *source, const gchar *compiler,
    const gchar *target, gint driver_version)
{
  GChecksum *checksum = g_checksum_new (G_CHECKSUM_SHA256);
  gchar *rest = g_strdup_printf (
      "driver %d, %u headers", driver_version, source->n_headers);
  gchar *key;

  checksum_text (checksum, compiler);
  checksum_text (checksum, target);
  checksum_text (checksum, rest);
  checksum_text (checksum, source->name);
  checksum_text (checksum, source->text);
  for (guint i = 0; i < source->n_headers; i++) {
    checksum_text (checksum, source->headers[i].name);
    checksum_text (checksum, source->headers[i].text);
  }
  for (guint i = 0; source->options != NULL && source->options[i] != NULL; i++)
    checksum_text (checksum, source->options[i]);
  key = g_strdup (g_checksum_get_string (checksum));
  g_checksum_free (checksum);
  g_free (rest);
  return key;
}

static gchar *
get_folder (void)
{
  return g_build_filename (g_get_user_cache_dir (), "gst-cudavision", NULL);
}

gchar *
cvis_jit_cache_path (const gchar *key)
{
  gchar *name = g_strconcat (key, SUFFIX, NULL);
  gchar *path =
      g_build_filename (g_get_user_cache_dir (), "gst-cudavision", name, NULL);

  g_free (name);
  return path;
}

static gboolean
is_off (void)
{
  return g_strcmp0 (g_getenv ("CUDAVISION_JIT_CACHE"), "off") == 0;
}

/* Header for the file of @key, followed by @size bytes of @image. */
static gchar *
make_heading (const gchar *key, gconstpointer image, gsize size)
{
  gchar *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, image, size);
  gchar *heading =
      g_strdup_printf ("gst-cudavision kernel 1\n%s\n%s\n", key, sum);

  g_free (sum);
  return heading;
}

GBytes *
cvis_jit_cache_load (const gchar *key)
{
  gchar *path, *contents = NULL, *heading;
  GBytes *image = NULL;
  gsize size = 0, skip;

  if (is_off ())
    return NULL;
  path = cvis_jit_cache_path (key);
  if (g_file_get_contents (path, &contents, &size, NULL)) {
    heading = make_heading (key, "", 0);
    skip = strlen (heading);
    g_free (heading);
    if (size > skip) {
      heading = make_heading (key, contents + skip, size - skip);
      if (memcmp (heading, contents, skip) == 0)
        image = g_bytes_new (contents + skip, size - skip);
      g_free (heading);
    }
    if (image != NULL)
      g_utime (path, NULL); /* marks it as used */
  }
  g_free (contents);
  g_free (path);
  return image;
}

gboolean
cvis_jit_cache_store (const gchar *key, GBytes *image, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (image, &size);
  gchar *folder, *path, *heading;
  GByteArray *contents;
  gboolean stored;

  if (is_off ())
    return TRUE;
  folder = get_folder ();
  g_mkdir_with_parents (folder, 0700); /* the write reports a failure */
  g_free (folder);
  heading = make_heading (key, data, size);
  contents = g_byte_array_new ();
  g_byte_array_append (contents, (const guint8 *) heading, strlen (heading));
  g_byte_array_append (contents, data, size);
  path = cvis_jit_cache_path (key);
  stored = g_file_set_contents_full (path, (const gchar *) contents->data,
      contents->len, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
  g_free (path);
  g_free (heading);
  g_byte_array_unref (contents);
  if (stored)
    cvis_jit_cache_prune (MAX_AGE, MAX_BYTES);
  return stored;
}

void
cvis_jit_cache_remove (const gchar *key)
{
  gchar *path = cvis_jit_cache_path (key);

  g_unlink (path);
  g_free (path);
}

typedef struct {
  gchar *path;
  gint64 used; /* seconds since 1970 */
  guint64 size;
} Entry;

static void
clear_entry (gpointer data)
{
  g_free (((Entry *) data)->path);
}

static gint
compare_newest_first (gconstpointer a, gconstpointer b)
{
  const Entry *left = a, *right = b;

  return left->used < right->used ? 1 : left->used > right->used ? -1 : 0;
}

/* Removes only files named like entries or temporary files. */
void
cvis_jit_cache_prune (gint64 seconds, guint64 bytes)
{
  const gint64 oldest = g_get_real_time () / G_USEC_PER_SEC - seconds;
  gchar *folder = get_folder ();
  GDir *dir = g_dir_open (folder, 0, NULL);
  GArray *entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  const gchar *name;
  guint64 sum = 0;

  g_array_set_clear_func (entries, clear_entry);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    Entry entry = { NULL, 0, 0 };
    GStatBuf status;

    if (strstr (name, SUFFIX) == NULL)
      continue;
    entry.path = g_build_filename (folder, name, NULL);
    if (g_stat (entry.path, &status) == 0) {
      entry.used = status.st_mtime;
      entry.size = status.st_size;
    }
    g_array_append_val (entries, entry);
  }
  g_array_sort (entries, compare_newest_first);
  for (guint i = 0; i < entries->len; i++) {
    const Entry *entry = &g_array_index (entries, Entry, i);

    sum += entry->size;
    if (sum > bytes || entry->used < oldest)
      g_unlink (entry->path);
  }
  g_array_unref (entries);
  if (dir != NULL)
    g_dir_close (dir);
  g_free (folder);
}
