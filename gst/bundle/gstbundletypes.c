/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstbundletypes.h"

#include <string.h>
#include "cuda/bundle/colmap/archive.h"
#include "gstbundlefile.h"

const GEnumValue gst_bundle_format_values[] = {
  { BUNDLE_FORMAT_BAL, "Bundle Adjustment in the Large, text", "bal" },
  { BUNDLE_FORMAT_BUNDLER, "Bundler .out, version 0.3", "bundler" },
  { BUNDLE_FORMAT_NVM, "VisualSFM, NVM_V3", "nvm" },
  { BUNDLE_FORMAT_COLMAP, "COLMAP text, three files in a tar archive",
      "colmap" },
  { BUNDLE_FORMAT_PLY, "Points and cameras, binary PLY", "ply" },
  { BUNDLE_FORMAT_TRANSFORMS, "The transforms.json of nerfstudio",
      "transforms" },
  { BUNDLE_FORMAT_TUM, "TUM trajectory", "tum" },
  { 0, NULL, NULL },
};

static const gchar *const media_types[] = { "application/x-bal",
  "application/x-bundler", "application/x-nvm", "application/x-colmap",
  GST_BUNDLE_PLY_CAPS, GST_BUNDLE_TRANSFORMS_CAPS,
  "application/x-tum-trajectory" };

GstCaps *
gst_bundle_format_caps (BundleFormat format)
{
  return gst_caps_new_empty_simple (media_types[format]);
}

/* The first bytes of the stream, at most GST_BUNDLE_FILE_START. */
static const gchar *
peek_start (GstTypeFind *find, gsize *size)
{
  for (*size = GST_BUNDLE_FILE_START; *size > 0; *size /= 2) {
    const guint8 *data = gst_type_find_peek (find, 0, (guint) *size);

    if (data != NULL)
      return (const gchar *) data;
  }
  return NULL;
}

static void
find_format (GstTypeFind *find, gpointer user_data)
{
  const BundleFormat wanted = GPOINTER_TO_INT (user_data);
  BundleFormat found;
  gsize size;
  const gchar *data = peek_start (find, &size);

  if (data == NULL)
    return;
  if (gst_bundle_is_ply (data, size))
    found = BUNDLE_FORMAT_PLY;
  else if (bundle_model_is_archive (data, size))
    found = BUNDLE_FORMAT_COLMAP;
  else if (bundle_format_is_transforms (data, size))
    found = BUNDLE_FORMAT_TRANSFORMS;
  else if (!bundle_format_detect (data, size, &found))
    return;
  if (found == wanted)
    gst_type_find_suggest_empty_simple (find,
        bundle_format_is_certain (data, size, found) ? GST_TYPE_FIND_MAXIMUM
                                                     : GST_TYPE_FIND_LIKELY,
        media_types[found]);
}

gboolean
gst_bundle_types_register (GstPlugin *plugin)
{
  static const struct {
    BundleFormat format;
    const gchar *endings;
  } types[] = {
    { BUNDLE_FORMAT_BAL, NULL },
    { BUNDLE_FORMAT_BUNDLER, "out" },
    { BUNDLE_FORMAT_NVM, "nvm" },
    { BUNDLE_FORMAT_COLMAP, NULL },
    { BUNDLE_FORMAT_PLY, "ply" },
    { BUNDLE_FORMAT_TRANSFORMS, "json" },
  };
  gboolean ok = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    GstCaps *caps = gst_bundle_format_caps (types[i].format);

    /* ranked before the typefinder of tar archives */
    ok &= gst_type_find_register (plugin, media_types[types[i].format],
        GST_RANK_PRIMARY + 1, find_format, types[i].endings, caps,
        GINT_TO_POINTER (types[i].format), NULL);
    gst_caps_unref (caps);
  }
  return ok;
}
