/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The input is a letter, b for binary files or t for texts, the sizes of the five
 * files (32 bits each, little-endian, 0: no file), and the files. */
#include "fuzz.h"

#include "cuda/bundle/colmap/model.h"

#include <string.h>

static BundleModel *
parse_model (GBytes *const *files, gboolean binary)
{
  BundleModelFile parts[BUNDLE_MODEL_FILES] = { 0 };
  GError *error = NULL;
  BundleModel *model;

  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    if (files[i])
      parts[i].data = g_bytes_get_data (files[i], &parts[i].size);
  model = bundle_model_parse (parts, binary, &error);
  g_assert_no_error (error);
  return model;
}

/* What is written is read again, and written with the same bytes. */
static void
write_twice (const BundleModel *model, gboolean binary)
{
  GBytes *first[BUNDLE_MODEL_FILES], *second[BUNDLE_MODEL_FILES];
  BundleModel *read;

  g_assert_true (bundle_model_format (model, binary, first, NULL));
  read = parse_model (first, binary);
  g_assert_true (bundle_model_format (read, binary, second, NULL));
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    g_assert_true (!first[i] == !second[i]
                   && (!first[i] || g_bytes_equal (first[i], second[i])));
    g_clear_pointer (&first[i], g_bytes_unref);
    g_clear_pointer (&second[i], g_bytes_unref);
  }
  bundle_model_free (read);
}

static void
compare_bytes (const BundleModel *model, const BundleModelFile *files)
{
  GBytes *written[BUNDLE_MODEL_FILES];

  g_assert_true (bundle_model_format (model, TRUE, written, NULL));
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    g_assert_true (!written[i] == !files[i].data);
    if (!written[i])
      continue;
    g_assert_cmpmem (g_bytes_get_data (written[i], NULL),
        g_bytes_get_size (written[i]), files[i].data, files[i].size);
    g_bytes_unref (written[i]);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  const gsize head = 1 + 4 * BUNDLE_MODEL_FILES;
  BundleModelFile files[BUNDLE_MODEL_FILES] = { { "", 0 }, { "", 0 },
    { "", 0 } };
  GError *error = NULL;
  BundleModel *model;
  gsize at = head;
  gboolean binary;

  if (size < head)
    return 0;
  binary = bytes[0] != 't';
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    guint32 n;

    memcpy (&n, bytes + 1 + 4 * i, sizeof n);
    n = MIN (GUINT32_FROM_LE (n), (guint32) (size - at));
    if (n == 0)
      continue;
    files[i] = (BundleModelFile){ (const gchar *) bytes + at, n };
    at += n;
  }
  model = bundle_model_parse (files, binary, &error);
  if (model == NULL) {
    g_assert (error->domain == CVIS_ERROR && *error->message);
    g_assert (g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
    return 0;
  }
  if (binary)
    compare_bytes (model, files);
  write_twice (model, binary);
  bundle_model_free (model);
  return 0;
}
