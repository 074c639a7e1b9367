/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstsurfacereading.h"

#include "surfaceimage.h"

static const GEnumValue precisions[] = {
  { GST_SURFACE_TYPE_FLOAT32, "Samples of 32 bits", "float32" },
  { GST_SURFACE_TYPE_FLOAT64, "Samples of 64 bits", "float64" },
  { 0, NULL, NULL },
};

const GstSurfaceReading gst_surface_reading_defaults = { TRUE,
  GST_SURFACE_TYPE_FLOAT32, 0.0, 0.0 };

#define FIELD(name) G_STRUCT_OFFSET (GstSurfaceReading, name)

const GstCvSetting gst_surface_reading[GST_SURFACE_N_READING] = {
  { "remove-offset",
      "Take the mean of the heights off before they become samples; the meta "
      "keeps it",
      GST_CV_SETTING_BOOLEAN, FIELD (remove_offset), TRUE },
  { "precision", "Type of the samples", GST_CV_SETTING_ENUM, FIELD (precision),
      FALSE, 0, 0, "GstSurfacePrecision", precisions },
  { "dx",
      "Metres between samples along x where the file does not tell; 0: unknown",
      GST_CV_SETTING_DOUBLE, FIELD (dx), TRUE, 0, 1 },
  { "dy",
      "Metres between samples along y where the file does not tell; 0: unknown",
      GST_CV_SETTING_DOUBLE, FIELD (dy), TRUE, 0, 1 },
};

void
gst_surface_reading_describe (const GstSurfaceReading *reading,
    const SurfaceImage *image, GstSurfaceInfo *info)
{
  *info = (GstSurfaceInfo){
    .width = image->width,
    .height = image->height,
    .type = reading->precision,
    .fps_n = 0,
    .fps_d = 1,
    .dx = image->dx > 0 ? image->dx : reading->dx,
    .dy = image->dy > 0 ? image->dy : reading->dy,
  };
}

gboolean
gst_surface_reading_same (const GstSurfaceInfo *a, const GstSurfaceInfo *b)
{
  return a->width == b->width && a->height == b->height && a->type == b->type
         && a->fps_n == b->fps_n && a->fps_d == b->fps_d && a->dx == b->dx
         && a->dy == b->dy;
}

static void
add_meta (GstBuffer *buffer, const GstSurfaceInfo *info, gdouble offset,
    guint64 missing)
{
  GstSurfaceMeta *meta = gst_buffer_add_surface_meta (buffer);

  meta->part = SURFACE_PART_MEASURED;
  meta->dx = info->dx;
  meta->dy = info->dy;
  meta->width = info->width;
  meta->height = info->height;
  meta->offset = offset;
  meta->missing = missing;
}

GstBuffer *
gst_surface_reading_make (const GstSurfaceReading *reading,
    const SurfaceImage *image, const GstSurfaceInfo *info, GError **error)
{
  guint64 missing;
  gdouble mean = surface_image_mean (image, &missing);
  gdouble offset = reading->remove_offset ? mean : 0.0;
  gsize size = gst_surface_info_get_size (info);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstMapInfo map;

  if (buffer == NULL || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer (&buffer);
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "There is no memory for a surface of %" G_GSIZE_FORMAT " bytes", size);
    return NULL;
  }
  if (info->type == GST_SURFACE_TYPE_FLOAT64)
    surface_image_to_float64 (image, offset, (gdouble *) map.data);
  else
    surface_image_to_float32 (image, offset, (gfloat *) map.data);
  gst_buffer_unmap (buffer, &map);
  add_meta (buffer, info, offset, missing);
  return buffer;
}

GstTagList *
gst_surface_reading_tags (const SurfaceImage *image)
{
  GstTagList *tags = gst_tag_list_new_empty ();
  GstDateTime *date = image->date != NULL
                          ? gst_date_time_new_from_iso8601_string (image->date)
                          : NULL;

  if (image->title != NULL)
    gst_tag_list_add (
        tags, GST_TAG_MERGE_REPLACE, GST_TAG_TITLE, image->title, NULL);
  if (date != NULL) {
    gst_tag_list_add (
        tags, GST_TAG_MERGE_REPLACE, GST_TAG_DATE_TIME, date, NULL);
    gst_date_time_unref (date);
  }
  if (gst_tag_list_is_empty (tags))
    g_clear_pointer (&tags, gst_tag_list_unref);
  return tags;
}
