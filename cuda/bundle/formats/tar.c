/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/formats/tar.h"

#include <string.h>
#include "cuda/core/cancel.h"

#define BLOCK ((gsize) 512)
#define COPIED ((gsize) 16 << 20) /* bytes at a time */
/* offsets of a header's fields */
#define SIZE 124
#define CHECKSUM 148
#define TYPE 156
#define MAGIC 257

static guint
sum_header (const gchar *header)
{
  guint sum = 8 * ' '; /* the checksum field counts as blanks */

  for (guint i = 0; i < BLOCK; i++)
    sum += i >= CHECKSUM && i < TYPE ? 0 : (guchar) header[i];
  return sum;
}

/* An octal number, or GNU tar's binary one, whose first bit is set */
static guint64
read_tar_number (const gchar *at, guint n)
{
  guint64 value = 0;

  if ((guchar) *at & 0x80) {
    for (guint i = n - 8; i < n; i++)
      value = value << 8 | (guchar) at[i];
    return value;
  }
  while (n && *at == ' ') {
    at++;
    n--;
  }
  for (; n && *at >= '0' && *at < '8'; at++, n--)
    value = value * 8 + (guint64) (*at - '0');
  return value;
}

/* The value of @key in a pax header, which consists of records "LENGTH KEY=VALUE\n";
 * %NULL */
static gchar *
find_pax_value (const gchar *data, gsize size, const gchar *key)
{
  const gsize n_key = strlen (key);

  while (size > 0) {
    gsize n = 0, digits = 0;

    while (digits < size && digits < 10 && g_ascii_isdigit (data[digits]))
      n = 10 * n + (gsize) (data[digits++] - '0');
    if (n <= digits + n_key + 2 || n > size)
      return NULL;
    if (memcmp (data + digits + 1, key, n_key) == 0
        && data[digits + 1 + n_key] == '=')
      return g_strndup (data + digits + 2 + n_key, n - digits - n_key - 3);
    data += n;
    size -= n;
  }
  return NULL;
}

static gboolean
refuse_tar (BundleTar *tar, gsize at, GError **error, const gchar *what)
{
  bundle_tar_clear (tar);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "tar header at byte %" G_GSIZE_FORMAT ": %s", at, what);
  return FALSE;
}

gboolean
bundle_tar_next (BundleTar *tar, GError **error)
{
  gchar *name = NULL; /* from headers before that of the file */
  const gchar *header;
  gboolean before;

  g_clear_pointer (&tar->name, g_free);
  do {
    gsize left;

    if (tar->size - tar->at < BLOCK || tar->data[tar->at] == 0) {
      g_free (name);
      return FALSE;
    }
    header = tar->data + tar->at;
    if (read_tar_number (header + CHECKSUM, 8) != sum_header (header)) {
      g_free (name);
      return refuse_tar (tar, tar->at, error, "its checksum is wrong");
    }
    tar->start = header + BLOCK;
    tar->n = read_tar_number (header + SIZE, 12);
    left = tar->size - tar->at - BLOCK;
    before = header[TYPE] == 'L' || header[TYPE] == 'x';
    if (before) {
      const gsize n = (gsize) MIN (tar->n, left);
      gchar *found = header[TYPE] == 'L'
                         ? g_strndup (tar->start, n)
                         : find_pax_value (tar->start, n, "path");

      if (found) {
        g_free (name);
        name = found;
      }
    }
    tar->at += BLOCK;
    tar->at += tar->n >= left
                   ? left
                   : MIN ((gsize) (tar->n + BLOCK - 1) / BLOCK * BLOCK, left);
  } while (before);
  if (header[TYPE] == '0' || header[TYPE] == 0) {
    if (!name)
      name = g_strndup (header, 100);
    tar->name = g_path_get_basename (name);
  }
  g_free (name);
  return TRUE;
}

void
bundle_tar_clear (BundleTar *tar)
{
  g_clear_pointer (&tar->name, g_free);
}

/* --- writing -------------------------------------------------------------------- */

static void
write_octal (gchar *to, guint digits, guint64 value)
{
  for (guint i = digits; i--; value /= 8)
    to[i] = (gchar) ('0' + value % 8);
}

gboolean
bundle_tar_write (
    BundleText *tar, const gchar *name, const BundleText *text, GError **error)
{
  static const gchar zeros[BLOCK];
  gchar header[BLOCK] = { 0 };

  if (text->n >> 33)
    return cvis_refuse (
        error, "%s is larger than the 8 GiB that a tar archive holds", name);
  g_strlcpy (header, name, 100);
  write_octal (header + 100, 7, 0644);
  write_octal (header + 108, 7, 0);
  write_octal (header + 116, 7, 0);
  write_octal (header + SIZE, 11, text->n);
  write_octal (header + 136, 11, 0);
  header[TYPE] = '0';
  memcpy (header + MAGIC,
      "ustar\0"
      "00",
      8);
  write_octal (header + CHECKSUM, 6, sum_header (header));
  header[155] = ' ';
  bundle_text_bytes (tar, header, BLOCK);
  for (gsize i = 0; i < text->n && !cvis_cancelled (); i += COPIED)
    bundle_text_bytes (tar, text->data + i, MIN (COPIED, text->n - i));
  bundle_text_bytes (tar, zeros, (BLOCK - text->n % BLOCK) % BLOCK);
  return TRUE;
}

void
bundle_tar_finish (BundleText *tar)
{
  static const gchar zeros[2 * BLOCK];

  bundle_text_bytes (tar, zeros, sizeof (zeros));
}
