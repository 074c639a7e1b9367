/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstsurfacereading.h"

#include <math.h>
#include "gst/common/gstcvispool.h"

static const GEnumValue precisions[] = {
  { GST_CVIS_SURFACE_TYPE_FLOAT32, "Samples of 32 bits", "float32" },
  { GST_CVIS_SURFACE_TYPE_FLOAT64, "Samples of 64 bits", "float64" },
  { 0, NULL, NULL },
};

/* false and true work for programs that set the property as a boolean. */
static const GEnumValue offsets[] = {
  { GST_SURFACE_OFFSET_KEEP, "Samples are heights as in the file", "false" },
  { GST_SURFACE_OFFSET_REMOVE,
      "Samples are heights above their mean, which GstCvisSurfaceMeta holds",
      "true" },
  { GST_SURFACE_OFFSET_AUTO,
      "As true where downstream keeps GstCvisSurfaceMeta, else as false",
      "auto" },
  { 0, NULL, NULL },
};

static const GEnumValue units[] = {
  { GST_SURFACE_UNIT_AUTO, "Metres, with a warning", "auto" },
  { GST_SURFACE_UNIT_M, "Metres", "m" },
  { GST_SURFACE_UNIT_MM, "Millimetres", "mm" },
  { GST_SURFACE_UNIT_UM, "Micrometres", "um" },
  { GST_SURFACE_UNIT_NM, "Nanometres", "nm" },
  { 0, NULL, NULL },
};

const GstSurfaceReading gst_surface_reading_defaults = {
  GST_SURFACE_OFFSET_AUTO, GST_CVIS_SURFACE_TYPE_FLOAT32,
  G_GUINT64_CONSTANT (1) << 30, 0.0, 0.0, FALSE, GST_SURFACE_UNIT_AUTO
};

#define FIELD(name) G_STRUCT_OFFSET (GstSurfaceReading, name)

const GstCvisSetting gst_surface_reading[GST_SURFACE_N_READING] = {
  { "remove-offset",
      "Subtract the mean of the heights before they become samples; "
      "GstCvisSurfaceMeta holds it",
      GST_CVIS_SETTING_ENUM, FIELD (remove_offset), TRUE, 0, 0,
      "GstSurfaceOffset", offsets },
  { "precision", "Type of the samples", GST_CVIS_SETTING_ENUM,
      FIELD (precision), FALSE, 0, 0, "GstSurfacePrecision", precisions },
  { "max-size",
      "Largest size of a surface's samples in bytes; larger ones are refused "
      "before memory is allocated",
      GST_CVIS_SETTING_TIME, FIELD (max_size), TRUE },
  { "dx",
      "Sample spacing along x in metres, used if the file does not specify it; "
      "0: unknown",
      GST_CVIS_SETTING_DOUBLE, FIELD (dx), TRUE, 0, 1 },
  { "dy",
      "Sample spacing along y in metres, used if the file does not specify it; "
      "0: unknown",
      GST_CVIS_SETTING_DOUBLE, FIELD (dy), TRUE, 0, 1 },
  { "strict", "Refuse files with a wrong checksum, even if they can be read",
      GST_CVIS_SETTING_BOOLEAN, FIELD (strict), TRUE },
  { "height-unit",
      "Unit of heights, and of x and y of points, used if the file does not "
      "specify it",
      GST_CVIS_SETTING_ENUM, FIELD (height_unit), TRUE, 0, 0, "GstSurfaceUnit",
      units },
};

/* Returns: (transfer full) (nullable): what was skipped and guessed */
static gchar *
describe_guesses (const GstSurfaceReading *reading, const SurfaceImage *about)
{
  const gboolean guessed = reading->height_unit == GST_SURFACE_UNIT_AUTO;
  const gchar *lengths = about->no_z_unit && about->no_xy_unit
                             ? "heights and positions"
                         : about->no_z_unit ? "heights"
                                            : "positions";

  if (!guessed || !(about->no_z_unit || about->no_xy_unit))
    return g_strdup (about->note);
  return g_strdup_printf ("%s%sthe file gives no unit of %s: they are taken as "
                          "metres (set the property height-unit)",
      about->note != NULL ? about->note : "", about->note != NULL ? "; " : "",
      lengths);
}

static void
warn_of_guesses (const GstSurfaceReading *reading, SurfaceReader *reader,
    GstSurfaceBuffers *buffers, GstElement *element, const gchar *name)
{
  gchar *text = describe_guesses (reading, surface_reader_get_about (reader));
  gchar *kind;

  if (text == NULL)
    return;
  kind = g_strcanon (g_strdup (text), G_CSET_a_2_z G_CSET_A_2_Z, ' ');
  if (g_strcmp0 (kind, buffers->noted) != 0)
    GST_ELEMENT_WARNING (element, STREAM, DECODE,
        ("%s%s%s%s.", name != NULL ? "\"" : "", name != NULL ? name : "Surface",
            name != NULL ? "\": " : ": ", text),
        ("The next files with the same warning get none."));
  g_free (buffers->noted);
  buffers->noted = kind;
  g_free (text);
}

gboolean
gst_surface_reading_check (const GstSurfaceReading *reading,
    SurfaceReader *reader, GstSurfaceBuffers *buffers, GstElement *element,
    const gchar *name, GError **error)
{
  static const gdouble metres[] = { 1, 1, 1e-3, 1e-6, 1e-9 };
  const gchar *warning = surface_reader_get_warning (reader);

  warn_of_guesses (reading, reader, buffers, element, name);
  surface_reader_set_unit (reader, metres[reading->height_unit]);
  if (warning == NULL)
    return TRUE;
  if (reading->strict) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT, warning);
    return FALSE;
  }
  if (name != NULL)
    GST_ELEMENT_WARNING (element, STREAM, DECODE,
        ("\"%s\": %s.", name, warning), ("strict=true refuses such files."));
  else
    GST_ELEMENT_WARNING (element, STREAM, DECODE, ("%s.", warning),
        ("strict=true refuses such files."));
  return TRUE;
}

void
gst_surface_reading_describe (const GstSurfaceReading *reading,
    const SurfaceImage *image, GstCvisSurfaceInfo *info)
{
  *info = (GstCvisSurfaceInfo){
    .width = image->width,
    .height = image->height,
    .type = reading->precision,
    .fps_n = 0,
    .fps_d = 1,
    .dx = image->dx > 0 ? image->dx : reading->dx,
    .dy = image->dy > 0 ? image->dy : reading->dy,
  };
  /* a single row or column has no spacing across */
  if (info->height == 1 && info->dy == 0)
    info->dy = info->dx;
  if (info->width == 1 && info->dx == 0)
    info->dx = info->dy;
}

SurfaceReader *
gst_surface_reading_open (const GstSurfaceReading *reading, const gchar *name,
    GBytes *bytes, GError **error)
{
  const guint64 sample =
      reading->precision == GST_CVIS_SURFACE_TYPE_FLOAT64 ? 8 : 4;
  SurfaceReader *reader;

  surface_file_limit_samples (reading->max_size / sample);
  reader = name != NULL ? surface_reader_open (name, error)
                        : surface_reader_new (bytes, error);
  surface_file_limit_samples (G_MAXUINT64);
  return reader;
}

gboolean
gst_surface_reading_same (
    const GstCvisSurfaceInfo *a, const GstCvisSurfaceInfo *b)
{
  return a->width == b->width && a->height == b->height && a->type == b->type
         && a->fps_n == b->fps_n && a->fps_d == b->fps_d && a->dx == b->dx
         && a->dy == b->dy;
}

static void
add_meta (GstBuffer *buffer, const GstCvisSurfaceInfo *info, gdouble offset,
    guint64 missing)
{
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (buffer);

  meta->part = CVIS_SURFACE_PART_MEASURED;
  meta->dx = info->dx;
  meta->dy = info->dy;
  meta->width = info->width;
  meta->height = info->height;
  meta->offset = offset;
  meta->missing = missing;
}

/* --- buffers ----------------------------------------------------------------- */

/* Sets our allocator, which can fail without memory, unless there is another one. */
static void
use_allocator (GstStructure *config)
{
  GstAllocator *allocator = NULL;
  GstAllocationParams params;

  if (!gst_buffer_pool_config_get_allocator (config, &allocator, &params))
    gst_allocation_params_init (&params);
  if (allocator == NULL)
    gst_buffer_pool_config_set_allocator (
        config, gst_cvis_allocator (), &params);
}

/* Asks downstream whether it keeps GstCvisSurfaceMeta, and uses its pool, else one whose
 * buffers come back, with pages that are in memory already. */
static GstBufferPool *
make_pool (GstSurfaceBuffers *buffers, GstPad *pad, GstCaps *caps, gsize size)
{
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstBufferPool *pool = NULL;
  guint min = 0, max = 0, bytes = 0;
  GstStructure *config;

  buffers->keeps_meta = FALSE;
  if (gst_pad_peer_query (pad, query)) {
    buffers->keeps_meta = gst_query_find_allocation_meta (
        query, GST_CVIS_SURFACE_META_API_TYPE, NULL);
    if (gst_query_get_n_allocation_pools (query) > 0)
      gst_query_parse_nth_allocation_pool (query, 0, &pool, &bytes, &min, &max);
  }
  gst_query_unref (query);
  if (pool != NULL && max == 0 && size <= G_MAXUINT) {
    config = gst_buffer_pool_get_config (pool);
    use_allocator (config);
    gst_buffer_pool_config_set_params (
        config, caps, MAX (bytes, (guint) size), min, max);
    if (gst_buffer_pool_set_config (pool, config)
        && gst_buffer_pool_set_active (pool, TRUE))
      return pool;
  }
  gst_clear_object (&pool);
  return size <= G_MAXUINT ? gst_cvis_pool_new_active (NULL, caps, size, 0)
                           : NULL;
}

void
gst_surface_buffers_start (GstSurfaceBuffers *buffers)
{
  buffers->threads = cvis_pool_new (0);
  buffers->warned = FALSE;
}

void
gst_surface_buffers_stop (GstSurfaceBuffers *buffers)
{
  gst_surface_buffers_renew (buffers);
  g_clear_pointer (&buffers->noted, g_free);
  g_clear_pointer (&buffers->threads, cvis_pool_free);
}

void
gst_surface_buffers_renew (GstSurfaceBuffers *buffers)
{
  gst_cvis_pool_clear (&buffers->pool);
  buffers->asked = FALSE;
}

static GstBuffer *
get_buffer (GstSurfaceBuffers *buffers, GstPad *pad, gsize size)
{
  GstBuffer *buffer = NULL;
  GstCaps *caps;

  if (!buffers->asked) {
    caps = gst_pad_get_current_caps (pad);
    buffers->pool = make_pool (buffers, pad, caps, size);
    buffers->asked = TRUE;
    gst_clear_caps (&caps);
  }
  if (buffers->pool != NULL
      && gst_buffer_pool_acquire_buffer (buffers->pool, &buffer, NULL)
             == GST_FLOW_OK) {
    if (gst_buffer_get_size (buffer) >= size) {
      gst_buffer_set_size (buffer, (gssize) size);
      return buffer;
    }
    gst_clear_buffer (&buffer);
  }
  return gst_buffer_new_allocate (gst_cvis_allocator (), size, NULL);
}

/* Warns if the mean stays in float32 samples and leaves few digits for the heights
 * above it. Checks some of the samples. */
static void
check_digits (GstSurfaceBuffers *buffers, GstPad *pad, const gfloat *z, gsize n)
{
  const gsize step = n / 1024 + 1;
  gfloat low = INFINITY, high = -INFINITY, error;

  for (gsize i = 0; i < n; i += step) {
    low = z[i] < low ? z[i] : low;
    high = z[i] > high ? z[i] : high;
  }
  error = MAX (fabsf (low), fabsf (high)) * 0x1p-24f;
  if (!(error > (high - low) * 1e-4f))
    return;
  buffers->warned = TRUE;
  GST_ELEMENT_WARNING (GST_PAD_PARENT (pad), STREAM, FORMAT,
      ("float32 rounds these heights by up to %.1g nm: their mean is not "
       "subtracted, as downstream does not propose GstCvisSurfaceMeta. Use "
       "precision=float64, or remove-offset=true if it reads this meta.",
          error * 1e9),
      (NULL));
}

GstBuffer *
gst_surface_reading_make (const GstSurfaceReading *reading,
    SurfaceReader *reader, const GstCvisSurfaceInfo *info,
    GstSurfaceBuffers *buffers, GstPad *pad, GError **error)
{
  gsize size = gst_cvis_surface_info_get_size (info);
  GstBuffer *buffer = get_buffer (buffers, pad, size);
  guint64 missing;
  gdouble offset;
  GstMapInfo map;
  gboolean ok, remove;

  if (buffer == NULL || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer (&buffer);
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for a surface of %" G_GSIZE_FORMAT " bytes", size);
    return NULL;
  }
  remove = reading->remove_offset == GST_SURFACE_OFFSET_REMOVE
           || (reading->remove_offset == GST_SURFACE_OFFSET_AUTO
               && buffers->keeps_meta);
  ok = surface_reader_read (reader, buffers->threads, remove,
      info->type == GST_CVIS_SURFACE_TYPE_FLOAT64, map.data, &offset, &missing,
      error);
  if (ok && !remove && !buffers->warned
      && reading->remove_offset == GST_SURFACE_OFFSET_AUTO
      && info->type == GST_CVIS_SURFACE_TYPE_FLOAT32)
    check_digits (
        buffers, pad, (const gfloat *) map.data, size / sizeof (gfloat));
  gst_buffer_unmap (buffer, &map);
  if (ok)
    add_meta (buffer, info, offset, missing);
  else
    gst_clear_buffer (&buffer);
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
