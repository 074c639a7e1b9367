/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Serialized GstCvisSurfaceMeta: accepted bytes are reproduced by serialization,
 * except for the two booleans. */
#include "fuzz.h"

#include "gst/cudavision/surfacemetabytes.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  GstCvisSurfaceMeta meta = { 0 }, again = { 0 };
  guint8 packed[SURFACE_META_BYTES];

  if (!surface_meta_unpack (&meta, bytes, size))
    return 0;
  g_assert (size >= sizeof (packed));
  g_assert (strlen (meta.wavelet) < sizeof (meta.wavelet));
  g_assert (gst_cvis_surface_part_name (meta.part) != NULL);
  surface_meta_pack (&meta, packed);
  g_assert (surface_meta_unpack (&again, packed, sizeof (packed)));
  g_assert (memcmp (&meta, &again, sizeof (meta)) == 0);
  return 0;
}
