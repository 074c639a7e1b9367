/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Tables of labels, as `cudavision train --labels` reads them. */
#include "fuzz.h"

#include "cuda/meltpool/train/dataset.h"
#include "cuda/meltpool/train/labels.h"

#include <string.h>

static void
check_error (GError *error)
{
  g_assert (error != NULL && error->domain == CVIS_ERROR);
  g_assert (error->code == CVIS_ERROR_FORMAT && *error->message != '\0');
  g_error_free (error);
}

/* Every frame has a class or none, or the rows disagree. */
static void
check_labels (PbfLabels *labels)
{
  static const guint32 numbers[] = { 0, 1, 7, 100, G_MAXUINT32 };
  const guint classes =
      g_strv_length ((gchar **) pbf_labels_get_classes (labels));
  GError *error = NULL;

  g_assert (classes >= 2 && classes <= PBF_MAX_CLASSES);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    for (guint j = 0; j < G_N_ELEMENTS (numbers); j++) {
      gint label;

      if (pbf_labels_find (labels, "a.pbf", numbers[i], numbers[j], numbers[j],
              &label, &error))
        g_assert (label >= PBF_LABEL_NONE && label < (gint) classes);
      else
        check_error (g_steal_pointer (&error));
    }
  if (!pbf_labels_check_used (labels, &error))
    check_error (error);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GError *error = NULL;
  PbfLabels *labels = pbf_labels_parse (
      "labels.csv", (const gchar *) bytes, size, "nominal", &error);

  if (labels != NULL) {
    check_labels (labels);
    pbf_labels_free (labels);
  } else {
    check_error (error);
  }
  return 0;
}
