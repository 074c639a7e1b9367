/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:gstsurfacemeta
 * @title: GstCvisSurfaceMeta
 * @short_description: sample spacing, filter and parameters of a surface
 */
#include "gstsurfacemeta.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#define MEDIA_TYPE "other/tensors"
#define MAX_SIDE (1 << 20) /* samples */
#define MAX_RANK 16        /* NNStreamer's */

static const gchar *const type_names[] = {
  [GST_CVIS_SURFACE_TYPE_FLOAT32] = "float32",
  [GST_CVIS_SURFACE_TYPE_FLOAT64] = "float64",
  [GST_CVIS_SURFACE_TYPE_INT32] = "int32",
};

static const gchar *const part_names[CVIS_SURFACE_N_PARTS] = {
  [CVIS_SURFACE_PART_MEASURED] = "measured",
  [CVIS_SURFACE_PART_NOISE] = "noise",
  [CVIS_SURFACE_PART_ROUGHNESS] = "roughness",
  [CVIS_SURFACE_PART_WAVINESS] = "waviness",
  [CVIS_SURFACE_PART_FORM] = "form",
  [CVIS_SURFACE_PART_BANDS] = "bands",
};

const gchar *
gst_cvis_surface_part_name (CvisSurfacePart part)
{
  g_return_val_if_fail ((guint) part < CVIS_SURFACE_N_PARTS, NULL);

  return part_names[part];
}

/* --- caps ------------------------------------------------------------------ */

static gboolean reject_caps (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static gboolean
reject_caps (GError **error, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, text);
  g_free (text);
  return FALSE;
}

/* Refuses the value of field @name. */
static gboolean
reject_field (const GstStructure *s, const gchar *name, const gchar *wanted,
    GError **error)
{
  const GValue *value = gst_structure_get_value (s, name);
  gchar *text;

  if (value == NULL)
    return reject_caps (error, "the caps have no field %s: %s", name, wanted);
  text = gst_value_serialize (value);
  reject_caps (error, "%s is %s in the caps, must be %s", name,
      text != NULL ? text : "of another type", wanted);
  g_free (text);
  return FALSE;
}

/* Parses one of the numbers between colons; 0 if it is invalid. */
static guint64
parse_side (const gchar *text)
{
  guint64 side = 0;

  return g_ascii_string_to_unsigned (text, 10, 1, MAX_SIDE, &side, NULL) ? side
                                                                         : 0;
}

static gboolean
parse_dimensions (
    const GstStructure *s, GstCvisSurfaceInfo *info, GError **error)
{
  const gchar *text = gst_structure_get_string (s, "dimensions");
  gchar **sides;
  guint rank;
  gboolean ok;

  if (text == NULL)
    return reject_field (
        s, "dimensions", "(string) \"WIDTH:HEIGHT:1:1\"", error);
  sides = g_strsplit (text, ":", MAX_RANK + 1);
  rank = g_strv_length (sides);
  ok = rank >= 2 && rank <= MAX_RANK;
  if (ok) {
    info->width = (guint) parse_side (sides[0]);
    info->height = (guint) parse_side (sides[1]);
    ok = info->width > 0 && info->height > 0;
  }
  for (guint i = 2; ok && i < rank; i++)
    ok = parse_side (sides[i]) == 1;
  g_strfreev (sides);
  return ok
         || reject_caps (error,
             "dimensions is \"%s\" in the caps, must be \"WIDTH:HEIGHT:1:1\" "
             "with sides of 1 to %d samples",
             text, MAX_SIDE);
}

static gboolean
parse_type (const GstStructure *s, GstCvisSurfaceInfo *info, GError **error)
{
  const gchar *text = gst_structure_get_string (s, "types");

  for (guint i = 0; text != NULL && i < G_N_ELEMENTS (type_names); i++) {
    if (g_str_equal (text, type_names[i])) {
      info->type = (GstCvisSurfaceType) i;
      return TRUE;
    }
  }
  return reject_field (s, "types", "float32, float64 or int32", error);
}

/* A framerate is optional: surfaces may come at any time. */
static gboolean
parse_framerate (
    const GstStructure *s, GstCvisSurfaceInfo *info, GError **error)
{
  info->fps_n = 0;
  info->fps_d = 1;
  if (!gst_structure_has_field (s, "framerate"))
    return TRUE;
  if (gst_structure_get_fraction (s, "framerate", &info->fps_n, &info->fps_d)
      && info->fps_n >= 0)
    return TRUE;
  return reject_field (s, "framerate", "a fraction of 0/1 or more", error);
}

static gboolean
parse_spacing (
    const GstStructure *s, const gchar *name, gdouble *spacing, GError **error)
{
  const GValue *value = gst_structure_get_value (s, name);
  GValue number = G_VALUE_INIT;

  *spacing = 0.0;
  if (value == NULL)
    return TRUE;
  g_value_init (&number, G_TYPE_DOUBLE);
  if (g_value_transform (value, &number))
    *spacing = g_value_get_double (&number);
  g_value_unset (&number);
  if (isfinite (*spacing) && *spacing > 0.0)
    return TRUE;
  return reject_field (s, name, "a (double) number of metres above 0", error);
}

gboolean
gst_cvis_surface_info_from_caps (
    GstCvisSurfaceInfo *info, const GstCaps *caps, GError **error)
{
  const GstStructure *s;
  const gchar *format;
  gint n = 0;

  g_return_val_if_fail (info != NULL && GST_IS_CAPS (caps), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!gst_caps_is_fixed (caps))
    return reject_caps (error, "the caps are not fixed");
  s = gst_caps_get_structure (caps, 0);
  if (!gst_structure_has_name (s, MEDIA_TYPE)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "the caps are %s, must be " MEDIA_TYPE, gst_structure_get_name (s));
    return FALSE;
  }
  format = gst_structure_get_string (s, "format");
  if (g_strcmp0 (format, "static") != 0)
    return reject_field (s, "format", "static", error);
  if (!gst_structure_get_int (s, "num_tensors", &n) || n != 1)
    return reject_field (s, "num_tensors", "1", error);
  return parse_type (s, info, error) && parse_dimensions (s, info, error)
         && parse_framerate (s, info, error)
         && parse_spacing (s, "surface-dx", &info->dx, error)
         && parse_spacing (s, "surface-dy", &info->dy, error);
}

GstCaps *
gst_cvis_surface_info_to_caps (const GstCvisSurfaceInfo *info)
{
  GstCaps *caps;
  gchar *dimensions;

  g_return_val_if_fail (info != NULL, NULL);
  g_return_val_if_fail (info->width > 0 && info->height > 0, NULL);
  g_return_val_if_fail ((guint) info->type < G_N_ELEMENTS (type_names), NULL);
  g_return_val_if_fail (info->fps_d > 0, NULL);

  dimensions = g_strdup_printf ("%u:%u:1:1", info->width, info->height);
  caps = gst_caps_new_simple (MEDIA_TYPE, "format", G_TYPE_STRING, "static",
      "num_tensors", G_TYPE_INT, 1, "types", G_TYPE_STRING,
      type_names[info->type], "dimensions", G_TYPE_STRING, dimensions,
      "framerate", GST_TYPE_FRACTION, info->fps_n, info->fps_d, NULL);
  g_free (dimensions);
  if (info->dx > 0.0)
    gst_caps_set_simple (caps, "surface-dx", G_TYPE_DOUBLE, info->dx, NULL);
  if (info->dy > 0.0)
    gst_caps_set_simple (caps, "surface-dy", G_TYPE_DOUBLE, info->dy, NULL);
  return caps;
}

gsize
gst_cvis_surface_info_get_size (const GstCvisSurfaceInfo *info)
{
  g_return_val_if_fail (info != NULL, 0);

  return (gsize) info->width * info->height
         * (info->type == GST_CVIS_SURFACE_TYPE_FLOAT64 ? 8 : 4);
}

/* --- the meta -------------------------------------------------------------- */

GType
gst_cvis_surface_meta_api_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type)) {
    /* as for a picture: lost where samples or their positions change */
    static const gchar *tags[] = { GST_META_TAG_VIDEO_STR,
      GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
      GST_META_TAG_VIDEO_COLORSPACE_STR, NULL };
    GType registered = gst_meta_api_type_register ("GstSurfaceMetaAPI", tags);
    g_once_init_leave (&type, registered);
  }
  return type;
}

static gboolean
gst_surface_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstCvisSurfaceMeta *self = (GstCvisSurfaceMeta *) meta;

  memset ((guint8 *) meta + sizeof (GstMeta), 0,
      sizeof (GstCvisSurfaceMeta) - sizeof (GstMeta));
  self->z_scale = 1.0;
  return TRUE;
}

static void
gst_surface_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  gst_clear_buffer (&((GstCvisSurfaceMeta *) meta)->mask);
}

/* A copy of a part of the bytes is not a surface of this width and mask and gets no
 * meta. This returns TRUE nevertheless: GStreamer treats FALSE as a failure. */
static gboolean
gst_surface_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  const GstMetaTransformCopy *copy = data;
  GstCvisSurfaceMeta *to;

  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  if (copy->region)
    return TRUE;
  to = gst_cvis_buffer_add_surface_meta (dest);
  if (to == NULL)
    return FALSE;
  memcpy ((guint8 *) to + sizeof (GstMeta), (guint8 *) meta + sizeof (GstMeta),
      sizeof (GstCvisSurfaceMeta) - sizeof (GstMeta));
  if (to->mask != NULL)
    gst_buffer_ref (to->mask);
  return TRUE;
}

#if GST_CHECK_VERSION(1, 24, 0)

#include "surfacemetabytes.h"

static gboolean
gst_surface_meta_serialize (
    const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstCvisSurfaceMeta *self = (const GstCvisSurfaceMeta *) meta;
  const gsize mask = self->mask != NULL ? gst_buffer_get_size (self->mask) : 0;
  guint8 *bytes =
      gst_byte_array_interface_append (data, SURFACE_META_BYTES + mask);

  if (bytes == NULL)
    return FALSE;
  *version = 0;
  surface_meta_pack (self, bytes);
  return mask == 0
         || gst_buffer_extract (self->mask, 0, bytes + SURFACE_META_BYTES, mask)
                == mask;
}

static GstMeta *
gst_surface_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer,
    const guint8 *data, gsize size, guint8 version)
{
  GstCvisSurfaceMeta unpacked, *meta;

  if (version != 0 || !surface_meta_unpack (&unpacked, data, size))
    return NULL;
  meta = gst_cvis_buffer_add_surface_meta (buffer);
  surface_meta_unpack (meta, data, size);
  if (size > SURFACE_META_BYTES)
    meta->mask = gst_buffer_new_memdup (
        data + SURFACE_META_BYTES, size - SURFACE_META_BYTES);
  return &meta->meta;
}

/* Serializes the meta, for gdppay, unixfdsink and others. */
static const GstMetaInfo *
register_meta (void)
{
  GstMetaInfo *info = gst_meta_info_new (GST_CVIS_SURFACE_META_API_TYPE,
      "GstCvisSurfaceMeta", sizeof (GstCvisSurfaceMeta));

  info->init_func = gst_surface_meta_init;
  info->free_func = gst_surface_meta_free;
  info->transform_func = gst_surface_meta_transform;
  info->serialize_func = gst_surface_meta_serialize;
  info->deserialize_func = gst_surface_meta_deserialize;
  return gst_meta_info_register (info);
}

#else

static const GstMetaInfo *
register_meta (void)
{
  return gst_meta_register (GST_CVIS_SURFACE_META_API_TYPE,
      "GstCvisSurfaceMeta", sizeof (GstCvisSurfaceMeta), gst_surface_meta_init,
      gst_surface_meta_free, gst_surface_meta_transform);
}

#endif

const GstMetaInfo *
gst_cvis_surface_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter (&info)) {
    const GstMetaInfo *registered = register_meta ();

    g_once_init_leave (&info, registered);
  }
  return info;
}

GstCvisSurfaceMeta *
gst_cvis_buffer_add_surface_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), NULL);

  return (GstCvisSurfaceMeta *) gst_buffer_add_meta (
      buffer, GST_CVIS_SURFACE_META_INFO, NULL);
}

GstCvisSurfaceMeta *
gst_cvis_buffer_get_surface_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCvisSurfaceMeta *) gst_buffer_get_meta (
      buffer, GST_CVIS_SURFACE_META_API_TYPE);
}

const gchar *
gst_cvis_surface_meta_get_wavelet (const GstCvisSurfaceMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->wavelet;
}

const gchar *
gst_cvis_surface_meta_get_boundary (const GstCvisSurfaceMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->boundary;
}
