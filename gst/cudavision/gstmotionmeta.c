/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:gstmotionmeta
 * @title: GstCvisMotionVectorMeta
 * @short_description: motion of a frame, one vector for each block
 */
#include "gstmotionmeta.h"

#include "metascale.h"

#include <math.h>
#include <string.h>

#define MAX_SIDE 16384 /* of a frame, pixels */
#define MAX_DISTANCE (CVIS_MOTION_MAX_FIELDS / 2)

/* --- packets --------------------------------------------------------------- */

static guint64
field_size (guint64 n_blocks)
{
  return sizeof (CvisMotionPacketField)
         + n_blocks * (sizeof (CvisMotionVector) + sizeof (CvisMotionBlock));
}

gsize
gst_cvis_motion_packet_get_size (guint columns, guint rows, guint n_fields)
{
  return sizeof (CvisMotionPacket)
         + n_fields * (gsize) field_size ((guint64) columns * rows);
}

const CvisMotionPacketField *
gst_cvis_motion_packet_get_field (const CvisMotionPacket *packet, guint index,
    const CvisMotionVector **vectors, const CvisMotionBlock **blocks)
{
  gsize n_blocks;
  const guint8 *at;

  g_return_val_if_fail (packet != NULL && index < packet->n_fields, NULL);

  n_blocks = (gsize) packet->columns * packet->rows;
  at = (const guint8 *) packet + sizeof (CvisMotionPacket)
       + index * (gsize) field_size (n_blocks);
  if (vectors != NULL)
    *vectors = (const CvisMotionVector *) (at + sizeof (CvisMotionPacketField));
  if (blocks != NULL)
    *blocks =
        (const CvisMotionBlock *) (at + sizeof (CvisMotionPacketField)
                                   + n_blocks * sizeof (CvisMotionVector));
  return (const CvisMotionPacketField *) at;
}

static gboolean reject_packet (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static gboolean
reject_packet (GError **error, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, text);
  g_free (text);
  return FALSE;
}

static gboolean
check_range (
    const gchar *what, guint32 value, guint32 low, guint32 high, GError **error)
{
  return (value >= low && value <= high)
         || reject_packet (
             error, "%s is %u, must be %u to %u", what, value, low, high);
}

static gboolean
check_grid (const gchar *what, guint32 blocks, const gchar *side_name,
    guint32 side, guint32 block_size, GError **error)
{
  guint32 wanted = (side + block_size - 1) / block_size;

  return blocks == wanted
         || reject_packet (error,
             "%s is %u, must be %u for a %s of %u and blocks of %u", what,
             blocks, wanted, side_name, side, block_size);
}

static gboolean
check_head (const CvisMotionPacket *packet, gsize size, GError **error)
{
  guint32 bs = packet->block_size;
  guint64 wanted;

  if (memcmp (packet->magic, CVIS_MOTION_PACKET_MAGIC, 4) != 0)
    return reject_packet (
        error, "it does not begin with " CVIS_MOTION_PACKET_MAGIC);
  if (!check_range (
          "version", packet->version, 1, CVIS_MOTION_PACKET_VERSION, error))
    return FALSE;
  if (packet->size != size)
    return reject_packet (error,
        "size is %" G_GUINT64_FORMAT ", but there are %" G_GSIZE_FORMAT
        " bytes",
        packet->size, size);
  if (!check_range ("width", packet->width, 1, MAX_SIDE, error)
      || !check_range ("height", packet->height, 1, MAX_SIDE, error)
      || !check_range ("depth", packet->depth, 8, 16, error)
      || !check_range (
          "n_fields", packet->n_fields, 0, CVIS_MOTION_MAX_FIELDS, error))
    return FALSE;
  if (bs != 8 && bs != 16 && bs != 32 && bs != 64)
    return reject_packet (
        error, "block_size is %u, must be 8, 16, 32 or 64", bs);
  if (!check_grid (
          "columns", packet->columns, "width", packet->width, bs, error)
      || !check_grid (
          "rows", packet->rows, "height", packet->height, bs, error))
    return FALSE;
  wanted = sizeof (CvisMotionPacket)
           + packet->n_fields
                 * field_size ((guint64) packet->columns * packet->rows);
  return packet->size == wanted
         || reject_packet (error,
             "size is %" G_GUINT64_FORMAT ", must be %" G_GUINT64_FORMAT
             " for %u fields of %u x %u blocks",
             packet->size, wanted, packet->n_fields, packet->columns,
             packet->rows);
}

static gboolean
check_summary (const CvisMotionSummary *summary, guint32 n_used, guint index,
    GError **error)
{
  const struct {
    const gchar *name;
    gdouble value;
  } numbers[] = {
    { "scene_score", summary->scene_score },
    { "global_x", summary->global_x },
    { "global_y", summary->global_y },
    { "global_zoom", summary->global_zoom },
    { "global_rotation", summary->global_rotation },
    { "global_share", summary->global_share },
  };
  guint64 counted = 0;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!isfinite (numbers[i].value))
      return reject_packet (
          error, "%s of field %u is not finite", numbers[i].name, index);
  if (isnan (summary->psnr) || summary->psnr == -INFINITY)
    return reject_packet (error, "psnr of field %u is not a number", index);
  if (summary->static_blocks > n_used || summary->intra_blocks > n_used)
    return reject_packet (error,
        "field %u counts %u static and %u intra-like blocks, but has %u used "
        "blocks",
        index, summary->static_blocks, summary->intra_blocks, n_used);
  for (guint i = 0; i < CVIS_MOTION_HISTOGRAM_BINS; i++)
    counted += summary->histogram[i];
  return counted == n_used
         || reject_packet (error,
             "the histogram of field %u counts %" G_GUINT64_FORMAT
             " blocks, must be %u",
             index, counted, n_used);
}

/* Number of blocks that a field's summary counts: all in version 1. */
static guint32
count_searched_blocks (
    const CvisMotionPacket *packet, const CvisMotionBlock *blocks)
{
  guint32 n_blocks = packet->columns * packet->rows, used = 0;

  if (packet->version == 1)
    return n_blocks;
  for (guint32 i = 0; i < n_blocks; i++)
    used += !(blocks[i].flags & CVIS_MOTION_BLOCK_CONSTANT);
  return used;
}

static gboolean
check_fields (const CvisMotionPacket *packet, GError **error)
{
  guint seen = 0; /* set of distances, one bit each */

  for (guint i = 0; i < packet->n_fields; i++) {
    const CvisMotionBlock *blocks;
    const CvisMotionPacketField *field =
        gst_cvis_motion_packet_get_field (packet, i, NULL, &blocks);
    gint32 distance = field->distance;

    if (distance == 0 || distance < -MAX_DISTANCE || distance > MAX_DISTANCE)
      return reject_packet (error,
          "distance of field %u is %d, must be -%d to %d and not 0", i,
          distance, MAX_DISTANCE, MAX_DISTANCE);
    if (seen & (1u << (distance + MAX_DISTANCE)))
      return reject_packet (error,
          "distance %d of field %u is also that of another", distance, i);
    seen |= 1u << (distance + MAX_DISTANCE);
    if (field->reserved != 0)
      return reject_packet (
          error, "reserved of field %u is %u, must be 0", i, field->reserved);
    if (!check_summary (
            &field->summary, count_searched_blocks (packet, blocks), i, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_cvis_motion_packet_check (gconstpointer data, gsize size, GError **error)
{
  g_return_val_if_fail (data != NULL || size == 0, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (size < sizeof (CvisMotionPacket))
    return reject_packet (error,
        "%" G_GSIZE_FORMAT " bytes, less than the packet's header of "
        "%" G_GSIZE_FORMAT " bytes",
        size, sizeof (CvisMotionPacket));
  if ((guintptr) data % G_ALIGNOF (CvisMotionPacket) != 0)
    return reject_packet (error, "its address is not a multiple of %d bytes",
        (gint) G_ALIGNOF (CvisMotionPacket));
  return check_head (data, size, error) && check_fields (data, error);
}

/* --- the meta -------------------------------------------------------------- */

GType
gst_cvis_motion_vector_meta_api_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type)) {
    /* pixel coordinates: elements that change the picture transform the meta */
    static const gchar *tags[] = { GST_META_TAG_VIDEO_STR,
      GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };
    GType registered =
        gst_meta_api_type_register ("GstMotionVectorMetaAPI", tags);
    g_once_init_leave (&type, registered);
  }
  return type;
}

static gboolean
gst_motion_vector_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstCvisMotionVectorMeta *self = (GstCvisMotionVectorMeta *) meta;

  memset ((guint8 *) meta + sizeof (GstMeta), 0,
      sizeof (GstCvisMotionVectorMeta) - sizeof (GstMeta));
  self->scale_x = self->scale_y = 1.0;
  return TRUE;
}

static void
gst_motion_vector_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  gst_clear_buffer (&((GstCvisMotionVectorMeta *) meta)->buffer);
}

static gboolean
gst_motion_vector_meta_transform (GstBuffer *dest, GstMeta *meta,
    GstBuffer *buffer, GQuark type, gpointer data)
{
  const GstCvisMotionVectorMeta *from = (GstCvisMotionVectorMeta *) meta;
  GstCvisMotionVectorMeta *to;
  gdouble sx, sy;

  if (!gst_meta_scale_factors (type, data, &sx, &sy))
    return FALSE;
  to = (GstCvisMotionVectorMeta *) gst_buffer_add_meta (
      dest, GST_CVIS_MOTION_VECTOR_META_INFO, NULL);
  if (to == NULL)
    return FALSE;
  to->packet = from->packet;
  to->field = from->field;
  to->vectors = from->vectors;
  to->blocks = from->blocks;
  to->buffer = gst_buffer_ref (from->buffer);
  to->scale_x = from->scale_x * sx;
  to->scale_y = from->scale_y * sy;
  to->offset_x = from->offset_x * sx;
  to->offset_y = from->offset_y * sy;
  return TRUE;
}

const GstMetaInfo *
gst_cvis_motion_vector_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter (&info)) {
    const GstMetaInfo *registered = gst_meta_register (
        GST_CVIS_MOTION_VECTOR_META_API_TYPE, "GstCvisMotionVectorMeta",
        sizeof (GstCvisMotionVectorMeta), gst_motion_vector_meta_init,
        gst_motion_vector_meta_free, gst_motion_vector_meta_transform);
    g_once_init_leave (&info, registered);
  }
  return info;
}

guint
gst_cvis_buffer_add_motion_vector_metas (GstBuffer *buffer, GstBuffer *packet)
{
  const CvisMotionPacket *head;
  GstMapInfo map;
  guint n = 0;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), 0);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), 0);
  g_return_val_if_fail (GST_IS_BUFFER (packet), 0);
  g_return_val_if_fail (gst_buffer_n_memory (packet) == 1, 0);

  if (!gst_buffer_map (packet, &map, GST_MAP_READ))
    return 0;
  head = (const CvisMotionPacket *) map.data;
  if (gst_cvis_motion_packet_check (map.data, map.size, NULL)) {
    for (; n < head->n_fields; n++) {
      GstCvisMotionVectorMeta *meta =
          (GstCvisMotionVectorMeta *) gst_buffer_add_meta (
              buffer, GST_CVIS_MOTION_VECTOR_META_INFO, NULL);

      if (meta == NULL)
        break;
      meta->packet = head;
      meta->field = gst_cvis_motion_packet_get_field (
          head, n, &meta->vectors, &meta->blocks);
      meta->buffer = gst_buffer_ref (packet);
    }
  }
  gst_buffer_unmap (packet, &map);
  return n;
}

GstCvisMotionVectorMeta *
gst_cvis_buffer_get_motion_vector_meta (GstBuffer *buffer, gint distance)
{
  gpointer state = NULL;
  GstMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  while ((meta = gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_CVIS_MOTION_VECTOR_META_API_TYPE))
         != NULL) {
    GstCvisMotionVectorMeta *self = (GstCvisMotionVectorMeta *) meta;

    if (self->field->distance == distance)
      return self;
  }
  return NULL;
}

const CvisMotionBlock *
gst_cvis_motion_vector_meta_get_block (const GstCvisMotionVectorMeta *meta,
    guint column, guint row, GstVideoRectangle *rect, gdouble *x, gdouble *y)
{
  const CvisMotionPacket *packet;
  gsize index;

  g_return_val_if_fail (meta != NULL, NULL);

  packet = meta->packet;
  if (column >= packet->columns || row >= packet->rows)
    return NULL;
  index = (gsize) row * packet->columns + column;
  if (rect != NULL) {
    guint left = column * packet->block_size, top = row * packet->block_size;
    guint right = MIN (left + packet->block_size, packet->width);
    guint bottom = MIN (top + packet->block_size, packet->height);

    /* both edges are rounded, so that neighbours meet without a gap */
    rect->x = (gint) lround (left * meta->scale_x + meta->offset_x);
    rect->y = (gint) lround (top * meta->scale_y + meta->offset_y);
    rect->w = (gint) lround (right * meta->scale_x + meta->offset_x) - rect->x;
    rect->h = (gint) lround (bottom * meta->scale_y + meta->offset_y) - rect->y;
  }
  if (x != NULL)
    *x = meta->vectors[index].x / 4.0 * meta->scale_x;
  if (y != NULL)
    *y = meta->vectors[index].y / 4.0 * meta->scale_y;
  return &meta->blocks[index];
}

static GBytes *
share_packet (const GstCvisMotionVectorMeta *meta, gconstpointer data,
    gsize bytes_of_block)
{
  return g_bytes_new_with_free_func (data,
      (gsize) meta->packet->columns * meta->packet->rows * bytes_of_block,
      (GDestroyNotify) gst_buffer_unref, gst_buffer_ref (meta->buffer));
}

GBytes *
gst_cvis_motion_vector_meta_get_vector_bytes (
    const GstCvisMotionVectorMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return share_packet (meta, meta->vectors, sizeof *meta->vectors);
}

GBytes *
gst_cvis_motion_vector_meta_get_block_bytes (
    const GstCvisMotionVectorMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return share_packet (meta, meta->blocks, sizeof *meta->blocks);
}
