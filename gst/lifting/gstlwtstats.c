/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlwtstats.h"

#include "gst/cudavision/cudavision.h"

void
gst_lwt_parameters_to_structure (
    const CvisSurfaceParameters *p, GstStructure *structure)
{
  gst_structure_set (structure, "n", G_TYPE_UINT64, p->n, "mean", G_TYPE_DOUBLE,
      p->mean, "sa", G_TYPE_DOUBLE, p->sa, "sq", G_TYPE_DOUBLE, p->sq, "sp",
      G_TYPE_DOUBLE, p->sp, "sv", G_TYPE_DOUBLE, p->sv, "sz", G_TYPE_DOUBLE,
      p->sz, "ssk", G_TYPE_DOUBLE, p->ssk, "sku", G_TYPE_DOUBLE, p->sku, "sdr",
      G_TYPE_DOUBLE, p->sdr, "sdq", G_TYPE_DOUBLE, p->sdq, NULL);
}

void
gst_lwt_stats_add (const GstLwtStats *stats, GstStructure *structure)
{
  gst_structure_set (structure, "missing", G_TYPE_UINT64, stats->missing,
      "outside", G_TYPE_UINT64, stats->outside, "threshold", G_TYPE_DOUBLE,
      stats->threshold, NULL);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const gchar *name = gst_cvis_surface_part_name ((CvisSurfacePart) i);
    GstStructure *part;

    if ((stats->known & (1u << i)) == 0)
      continue;
    part = gst_structure_new_empty (name);
    gst_lwt_parameters_to_structure (&stats->parameters[i], part);
    gst_structure_set (structure, name, GST_TYPE_STRUCTURE, part, NULL);
    gst_structure_free (part);
  }
}
