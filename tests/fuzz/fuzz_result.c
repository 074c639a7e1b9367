/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Recorded result records: the bytes unchanged, at an odd address, and again
 * with a corrected header. Accepted ones are written as rows, whose size is
 * checked. */
#include "fuzz.h"

#include <string.h>

#include "cuda/meltpool/rows.h"

static void
check_row (const gchar *row, const gchar *end, gsize max)
{
  const gsize n = (gsize) (end - row);

  g_assert (n > 0 && n <= max && end[-1] == '\n');
  g_assert (memchr (row, '\0', n) == NULL);
  g_assert (memchr (row, '\n', n) == end - 1);
}

static void
write_rows (const CvisPbfResult *result)
{
  PbfRowNames *names = pbf_row_names_new (NULL, 0);
  const gsize csv_max = PBF_CSV_ROW_MAX + names->room;
  const gsize json_max = PBF_JSON_ROW_MAX + names->room;
  gchar *csv = g_malloc (csv_max), *json = g_malloc (json_max);

  for (guint n = 0; n <= CVIS_PBF_MAX_OUTPUTS; n++)
    check_row (csv, pbf_csv_row (csv, result, n, names), csv_max);
  check_row (json, pbf_json_row (json, result, names), json_max);
  pbf_row_names_free (names);
  g_free (csv);
  g_free (json);
}

static void
check (const guint8 *bytes)
{
  CvisPbfResult result;
  GError *error = NULL;

  if (pbf_result_parse (bytes, &result, &error)) {
    g_assert (error == NULL && result.n_outputs <= CVIS_PBF_MAX_OUTPUTS
              && result.n_spatters <= CVIS_PBF_MAX_SPATTERS);
    write_rows (&result);
  } else {
    g_assert (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_FORMAT));
    g_error_free (error);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  guint8 *record;

  if (size < sizeof (CvisPbfResult))
    return 0;
  record = g_malloc (sizeof (CvisPbfResult) + 1);
  memcpy (record + 1, bytes, sizeof (CvisPbfResult));
  check (record + 1);
  memcpy (record, bytes, sizeof (CvisPbfResult));
  ((CvisPbfResult *) record)->magic = CVIS_PBF_RESULT_MAGIC;
  ((CvisPbfResult *) record)->size = sizeof (CvisPbfResult);
  ((CvisPbfResult *) record)->version = CVIS_PBF_RESULT_VERSION;
  check (record);
  g_free (record);
  return 0;
}
