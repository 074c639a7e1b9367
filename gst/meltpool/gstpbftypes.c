/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbftypes.h"

#include <gst/cudavision/gstpbfmeta.h>

#include "cuda/meltpool/rows.h"

/* More than one record: frames with the laser off come in runs and have no outputs. */
#define PEEKED_RECORDS 256

/* The largest number of outputs of the first records, at most PEEKED_RECORDS; -1 if
 * the bytes are no records. */
static gint
count_outputs (GstTypeFind *find)
{
  const guint8 *bytes = NULL;
  guint n = PEEKED_RECORDS;
  gint outputs = -1;

  while (n > 0
         && (bytes = gst_type_find_peek (find, 0, n * sizeof (CvisPbfResult)))
                == NULL)
    n /= 2;
  for (guint i = 0; i < n; i++) {
    CvisPbfResult result;

    if (!pbf_result_parse (bytes + i * sizeof (CvisPbfResult), &result, NULL))
      return -1;
    outputs = MAX (outputs, (gint) result.n_outputs);
  }
  return outputs;
}

static void
find_results (GstTypeFind *find, gpointer unused)
{
  gint outputs = count_outputs (find);
  GstCaps *caps;

  if (outputs < 0)
    return;
  caps = gst_caps_from_string (GST_CVIS_PBF_RESULT_CAPS);
  if (outputs > 0)
    gst_caps_set_simple (caps, "outputs", G_TYPE_INT, outputs, NULL);
  gst_type_find_suggest (find, GST_TYPE_FIND_MAXIMUM, caps);
  gst_caps_unref (caps);
}

gboolean
gst_pbf_types_register (GstPlugin *plugin)
{
  GstCaps *caps = gst_caps_from_string (GST_CVIS_PBF_RESULT_CAPS);
  gboolean ok = gst_type_find_register (plugin, GST_CVIS_PBF_RESULT_MEDIA_TYPE,
      GST_RANK_SECONDARY, find_results, "pbr", caps, NULL, NULL);

  gst_caps_unref (caps);
  return ok;
}
