/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionclip.h"

#include <string.h>

/* --- frames ---------------------------------------------------------------- */

static guint
noise (guint seed, guint x, guint y)
{
  guint h = seed * 0x9e3779b1u ^ x * 0x85ebca77u ^ y * 0xc2b2ae3du;

  h = (h ^ h >> 15) * 0x2c1b3c6du;
  return (h ^ h >> 13) & 0xff;
}

/* A smoothed texture with a grain of 4 x 4 pixels. */
static guint
texture (guint seed, guint x, guint y)
{
  guint fx = x % 4, fy = y % 4;
  guint sum = 0;

  sum += noise (seed, x / 4, y / 4) * (4 - fx) * (4 - fy);
  sum += noise (seed, x / 4 + 1, y / 4) * fx * (4 - fy);
  sum += noise (seed, x / 4, y / 4 + 1) * (4 - fx) * fy;
  sum += noise (seed, x / 4 + 1, y / 4 + 1) * fx * fy;
  return sum / 16;
}

/* The luma of a frame after @moved moving frames of scene @seed. */
static void
draw (const GstVideoInfo *info, guint seed, guint moved, guint8 *plane)
{
  gsize stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  guint shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, 0);
  gboolean deep = GST_VIDEO_INFO_COMP_DEPTH (info, 0) > 8;

  for (guint y = 0; y < (guint) GST_VIDEO_INFO_HEIGHT (info); y++)
    for (guint x = 0; x < (guint) GST_VIDEO_INFO_WIDTH (info); x++) {
      guint value = texture (seed, x + 1000 - 6 * moved, y + 1000 + 4 * moved);
      guint8 *at = plane + y * stride + (deep ? 2 * x : x);

      /* all but the left third is at rest */
      if (x >= (guint) GST_VIDEO_INFO_WIDTH (info) / 3)
        value = texture (seed + 7, x, y);
      if (deep)
        GST_WRITE_UINT16_LE (at, (value * 4 + (x ^ y) % 4) << shift);
      else
        *at = (guint8) value;
    }
}

static GBytes *
make_frame (const GstVideoInfo *info, guint seed, guint moved)
{
  gsize size = GST_VIDEO_INFO_SIZE (info);
  guint8 *data = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) (i * 7 + seed);
  draw (info, seed, moved, data + GST_VIDEO_INFO_PLANE_OFFSET (info, 0));
  return g_bytes_new_take (data, size);
}

MotionClip *
motion_clip_new (GstVideoFormat format, const MotionConfig *config,
    const MotionClipStep *steps, guint n)
{
  MotionClip *clip = g_new0 (MotionClip, 1);
  guint seed = 1, moved = 0;

  gst_video_info_set_format (
      &clip->info, format, config->width, config->height);
  clip->info.fps_n = 25;
  clip->info.fps_d = 1;
  clip->config = *config;
  clip->config.depth = GST_VIDEO_INFO_COMP_DEPTH (&clip->info, 0);
  clip->n = n;
  clip->video = g_new0 (GBytes *, n);
  clip->packets = g_new0 (GBytes *, n);
  clip->predictions = g_new0 (GBytes *, n);
  clip->residuals = g_new0 (GBytes *, n);
  for (guint i = 0; i < n; i++) {
    MotionClipStep step = steps != NULL ? steps[i] : MOTION_CLIP_MOVES;

    seed += step == MOTION_CLIP_CUT ? 100 : 0;
    moved += step == MOTION_CLIP_SAME ? 0 : 1;
    clip->video[i] = make_frame (&clip->info, seed, moved);
  }
  motion_clip_expect (clip, 0, n);
  return clip;
}

static void
free_bytes (GBytes **bytes, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&bytes[i], g_bytes_unref);
  g_free (bytes);
}

void
motion_clip_free (MotionClip *clip)
{
  free_bytes (clip->video, clip->n);
  free_bytes (clip->packets, clip->n);
  free_bytes (clip->predictions, clip->n);
  free_bytes (clip->residuals, clip->n);
  g_free (clip);
}

/* --- expected results ---------------------------------------------------- */

static gsize
row_bytes (const MotionClip *clip)
{
  return clip->config.width * (clip->config.depth > 8 ? 2u : 1u);
}

static CvisMotionPacketField *
packet_field (const MotionClip *clip, guint8 *packet, guint index)
{
  return (
      CvisMotionPacketField *) (packet
                                + gst_cvis_motion_packet_get_size (
                                    motion_config_get_columns (&clip->config),
                                    motion_config_get_rows (&clip->config),
                                    index));
}

static MotionJob *
make_job (const MotionClip *clip, guint i, guint8 *packet)
{
  const GstVideoInfo *info = &clip->info;
  gsize plane = row_bytes (clip) * clip->config.height;
  gsize blocks = (gsize) motion_config_get_columns (&clip->config)
                 * motion_config_get_rows (&clip->config);
  MotionJob *job = g_new0 (MotionJob, 1);

  job->luma = (const guint8 *) g_bytes_get_data (clip->video[i], NULL)
              + GST_VIDEO_INFO_PLANE_OFFSET (info, 0);
  job->stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  job->shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, 0);
  job->prediction = g_malloc (plane);
  job->residual = g_malloc (plane);
  job->prediction_stride = job->residual_stride = row_bytes (clip);
  for (guint f = 0; f < motion_config_get_n_fields (&clip->config); f++) {
    CvisMotionPacketField *field = packet_field (clip, packet, f);

    job->fields[f].vectors = (CvisMotionVector *) (field + 1);
    job->fields[f].blocks =
        (CvisMotionBlock *) (job->fields[f].vectors + blocks);
  }
  return job;
}

static void
keep_results (MotionClip *clip, guint i, MotionJob *job, guint8 *packet)
{
  const MotionConfig *config = &clip->config;
  gsize plane = row_bytes (clip) * config->height;
  CvisMotionPacket *head = (CvisMotionPacket *) packet;

  *head = (CvisMotionPacket){
    .magic = { 'M', 'O', 'T', 'V' },
    .version = CVIS_MOTION_PACKET_VERSION,
    .pts = (guint64) i * MOTION_CLIP_FRAME_NS,
    .width = config->width,
    .height = config->height,
    .depth = config->depth,
    .block_size = config->block_size,
    .columns = motion_config_get_columns (config),
    .rows = motion_config_get_rows (config),
    .flags = job->flags,
    .n_fields = job->n_fields,
  };
  head->size = gst_cvis_motion_packet_get_size (
      head->columns, head->rows, head->n_fields);
  for (guint f = 0; f < job->n_fields; f++)
    *packet_field (clip, packet, f) = (CvisMotionPacketField){
      .distance = job->fields[f].distance,
      .reference_time = (gint64) job->fields[f].distance * MOTION_CLIP_FRAME_NS,
      .summary = job->fields[f].summary,
    };
  g_clear_pointer (&clip->packets[i], g_bytes_unref);
  g_clear_pointer (&clip->predictions[i], g_bytes_unref);
  g_clear_pointer (&clip->residuals[i], g_bytes_unref);
  clip->packets[i] = g_bytes_new_take (packet, head->size);
  clip->predictions[i] = g_bytes_new_take (job->prediction, plane);
  clip->residuals[i] = g_bytes_new_take (job->residual, plane);
  g_free (job);
}

void
motion_clip_expect (MotionClip *clip, guint first, guint end)
{
  gsize size = gst_cvis_motion_packet_get_size (
      motion_config_get_columns (&clip->config),
      motion_config_get_rows (&clip->config),
      motion_config_get_n_fields (&clip->config));
  MotionEngine *engine = motion_engine_new (&clip->config, NULL, NULL);
  guint8 **packets = g_new0 (guint8 *, clip->n);
  guint done = first;
  MotionJob *job;

  g_assert_nonnull (engine);
  for (guint i = first; i <= end; i++) {
    if (i < end) {
      packets[i] = g_malloc0 (size);
      g_assert_true (
          motion_engine_submit (engine, make_job (clip, i, packets[i]), NULL));
    } else {
      motion_engine_end (engine);
    }
    while (motion_engine_wait (engine, &job, NULL) && job != NULL) {
      keep_results (clip, done, job, packets[done]);
      done++;
    }
  }
  g_assert_cmpuint (done, ==, end);
  motion_engine_free (engine);
  g_free (packets);
}

/* --- buffers --------------------------------------------------------------- */

static GstBuffer *
padded_buffer (const MotionClip *clip, const guint8 *data, guint pad)
{
  const GstVideoInfo *info = &clip->info;
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 }, size = 0;
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  GstBuffer *buffer;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    size += 2 * pad;
    offsets[p] = size;
    strides[p] = GST_VIDEO_INFO_PLANE_STRIDE (info, p) + 2 * (gint) pad;
    size += (gsize) strides[p]
            * (gsize) GST_VIDEO_INFO_COMP_HEIGHT (info, p == 0 ? 0 : 1);
  }
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (buffer, 0, 0x5a, size);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, p == 0 ? 0 : 1); y++)
      gst_buffer_fill (buffer, offsets[p] + (gsize) (y * strides[p]),
          data + GST_VIDEO_INFO_PLANE_OFFSET (info, p)
              + y * GST_VIDEO_INFO_PLANE_STRIDE (info, p),
          (gsize) GST_VIDEO_INFO_PLANE_STRIDE (info, p));
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_INFO_FORMAT (info), clip->config.width, clip->config.height,
      GST_VIDEO_INFO_N_PLANES (info), offsets, strides);
  return buffer;
}

GstBuffer *
motion_clip_buffer (const MotionClip *clip, guint i, guint pad)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (clip->video[i], &size);
  GstBuffer *buffer = pad > 0 ? padded_buffer (clip, data, pad)
                              : gst_buffer_new_memdup (data, size);

  GST_BUFFER_PTS (buffer) = (guint64) i * MOTION_CLIP_FRAME_NS;
  GST_BUFFER_DURATION (buffer) = MOTION_CLIP_FRAME_NS;
  return buffer;
}

/* --- comparing ------------------------------------------------------------- */

void
motion_clip_check_packet (
    const MotionClip *clip, guint i, guint64 number, GstBuffer *buffer)
{
  gsize size;
  CvisMotionPacket *expected;
  GError *error = NULL;
  GstMapInfo map;

  expected = g_memdup2 (g_bytes_get_data (clip->packets[i], &size),
      g_bytes_get_size (clip->packets[i]));
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, size);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, expected->pts);
  g_assert_cmpuint (GST_BUFFER_DURATION (buffer), ==, MOTION_CLIP_FRAME_NS);
  g_assert_cmpuint (GST_BUFFER_OFFSET (buffer), ==, number);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  if (!gst_cvis_motion_packet_check (map.data, map.size, &error))
    g_error ("packet of frame %u: %s", i, error->message);
  expected->frame = number;
  /* the scene detector's flags are not from the engine */
  expected->flags |=
      ((CvisMotionPacket *) map.data)->flags & CVIS_MOTION_FRAME_SCENE_CUT;
  g_assert_cmpmem (map.data, map.size, expected, size);
  gst_buffer_unmap (buffer, &map);
  g_free (expected);
}

void
motion_clip_check_metas (const MotionClip *clip, guint i, GstBuffer *buffer)
{
  guint8 *packet = (guint8 *) g_bytes_get_data (clip->packets[i], NULL);
  guint n = ((CvisMotionPacket *) packet)->n_fields;

  g_assert_cmpuint (
      gst_buffer_get_n_meta (buffer, GST_CVIS_MOTION_VECTOR_META_API_TYPE), ==,
      n);
  for (guint f = 0; f < n; f++) {
    CvisMotionPacketField *field = packet_field (clip, packet, f);
    GstCvisMotionVectorMeta *meta =
        gst_cvis_buffer_get_motion_vector_meta (buffer, field->distance);

    g_assert_nonnull (meta);
    g_assert_cmpmem (meta->vectors,
        (gsize) ((const guint8 *) meta->blocks
                 - (const guint8 *) meta->vectors),
        field + 1,
        (gsize) ((const guint8 *) meta->blocks
                 - (const guint8 *) meta->vectors));
    g_assert_cmpint (meta->field->reference_time, ==, field->reference_time);
  }
}

void
motion_clip_check_picture (
    const MotionClip *clip, GBytes *expected, GstBuffer *buffer)
{
  gsize row = row_bytes (clip), stride = (row + 3) & ~(gsize) 3;
  const guint8 *data = g_bytes_get_data (expected, NULL);

  for (guint y = 0; y < clip->config.height; y++)
    g_assert_cmpint (
        gst_buffer_memcmp (buffer, y * stride, data + y * row, row), ==, 0);
}
