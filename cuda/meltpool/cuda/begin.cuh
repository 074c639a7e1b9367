/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* First steps of a frame's analysis, by one warp: class of the frame,
 * expected position, position of the ROI. */
#pragma once

#include "cuda/meltpool/cuda/engine.cuh"
#include "cuda/meltpool/cuda/warp.cuh"

/* The bytes of @word that are >= @threshold (in all bytes of the word), as 4
 * bits. */
static __device__ __forceinline__ guint32
pbf_reaches (guint32 word, guint32 threshold)
{
  guint32 m = __vcmpgeu4 (word, threshold) & 0x08040201u;

  m |= m >> 16;
  return (m | m >> 8) & 15;
}

/* The word of four pixels from column 4 @c of row @y of the frame; pixels
 * beyond the width are 0. */
static __device__ __forceinline__ guint32
pbf_frame_word (const PbfParams &p, const PbfDeviceFrame &f, gint c, gint y)
{
  guint32 word = *(const guint32 *) (f.frame + (gsize) y * f.stride + 4 * c);
  gint valid = p.width - 4 * c;

  return valid >= 4 ? word : word & ((1u << (8 * valid)) - 1);
}

static __device__ bool
pbf_is_lit (const PbfParams &p, const PbfDeviceFrame &f)
{
  gint words = (p.width + 3) / 4;
  guint32 threshold = (guint32) p.threshold * 0x01010101u;

  for (gint first = 0; first < words * p.height; first += 32) {
    gint i = first + pbf_lane ();
    bool lit =
        i < words * p.height
        && __vcmpgeu4 (pbf_frame_word (p, f, i % words, i / words), threshold);
    if (__any_sync (PBF_ALL_LANES, lit))
      return true;
  }
  return false;
}

/* Sum of the 3x3 pixels around (x, y); pixels outside the frame are 0. */
static __device__ __forceinline__ guint32
pbf_box_sum (const PbfParams &p, const PbfDeviceFrame &f, gint x, gint y)
{
  guint32 sum = 0;

  for (gint v = max (y - 1, 0); v <= min (y + 1, p.height - 1); v++)
    for (gint u = max (x - 1, 0); u <= min (x + 1, p.width - 1); u++)
      sum += f.frame[(gsize) v * f.stride + u];
  return sum;
}

static __device__ void
pbf_locate_brightest_pixel (
    const PbfParams &p, const PbfDeviceFrame &f, gint32 *ex, gint32 *ey)
{
  guint32 best = 0;
  guint32 at = 0;

  /* raster order, every 32nd pixel a lane: each lane keeps its first maximum */
  for (gint i = pbf_lane (); i < p.width * p.height; i += 32) {
    guint32 sum = pbf_box_sum (p, f, i % p.width, i / p.width);

    if (sum > best || i == (gint) pbf_lane ()) {
      best = sum;
      at = i;
    }
  }
  guint32 top = pbf_warp_max (best);
  at = ~pbf_warp_max (best == top ? ~at : 0);
  *ex = 256 * (gint32) (at % p.width) + 128;
  *ey = 256 * (gint32) (at / p.width) + 128;
}

static __device__ void
pbf_locate_centroid (
    const PbfParams &p, const PbfDeviceFrame &f, gint32 *ex, gint32 *ey)
{
  gint words = (p.width + 3) / 4;
  guint32 threshold = (guint32) p.threshold * 0x01010101u, count = 0;
  unsigned long long sx = 0, sy = 0;

  for (gint i = pbf_lane (); i < words * p.height; i += 32) {
    gint c = i % words, y = i / words;
    guint32 lit = pbf_reaches (pbf_frame_word (p, f, c, y), threshold);
    guint32 n = __popc (lit);

    count += n;
    sx += n * 4 * c + __popc (lit & 2) + 2 * __popc (lit & 4)
          + 3 * __popc (lit & 8);
    sy += (unsigned long long) n * y;
  }
  guint32 n = pbf_warp_sum (count);
  for (int d = 16; d > 0; d /= 2) {
    sx += __shfl_xor_sync (PBF_ALL_LANES, sx, d);
    sy += __shfl_xor_sync (PBF_ALL_LANES, sy, d);
  }
  *ex = n ? pbf_centroid_q8 (sx, n, 0) : 128 * p.width;
  *ey = n ? pbf_centroid_q8 (sy, n, 0) : 128 * p.height;
}

/* By one warp: sets the fields of a record that precede the features. @side:
 * of the ROI, pixels. Returns: the entry, with PBF_ENTER_IF_LIT resolved */
static __device__ guint
pbf_begin_frame (const PbfParams &p, const PbfDeviceFrame &f, gint side,
    CvisPbfResult *result)
{
  guint lane = pbf_lane (), entry = f.info.entry;
  guint32 flags = f.info.flags;
  gint32 ex = f.info.e_x_q8, ey = f.info.e_y_q8;

  for (guint i = lane; i < sizeof *result / 4; i += 32)
    ((guint32 *) result)[i] = 0;
  if (entry == PBF_ENTER_IF_LIT)
    entry = pbf_is_lit (p, f) ? PBF_ENTER : PBF_EMPTY;
  if (entry == PBF_EMPTY) {
    flags |= CVIS_PBF_RESULT_EMPTY;
    if (p.analyse_empty)
      entry = PBF_EXCLUDE;
  }
  if (entry == PBF_EXCLUDE)
    flags |= CVIS_PBF_RESULT_EXCLUDED;
  if (entry != PBF_EMPTY) {
    if (f.info.position == PBF_POSITION_BRIGHTEST_PIXEL)
      pbf_locate_brightest_pixel (p, f, &ex, &ey);
    else if (f.info.position == PBF_POSITION_CENTROID)
      pbf_locate_centroid (p, f, &ex, &ey);
    if (pbf_roi_clamped (ex, p.width, side)
        || pbf_roi_clamped (ey, p.height, side))
      flags |= CVIS_PBF_RESULT_ROI_CLAMPED;
  }
  __syncwarp ();
  if (lane == 0) {
    result->magic = CVIS_PBF_RESULT_MAGIC;
    result->size = sizeof (CvisPbfResult);
    result->version = CVIS_PBF_RESULT_VERSION;
    result->timestamp_ns = f.info.timestamp_ns;
    result->frame_index = f.info.frame_index;
    result->frame_counter = f.info.frame_counter;
    result->flags = flags;
    result->layer = f.info.layer;
    result->vector_id = f.info.vector_id;
    result->x_um = f.info.x_um;
    result->y_um = f.info.y_um;
    result->signal_flags = f.info.signal_flags;
    if (entry != PBF_EMPTY) {
      result->e_x_q8 = ex;
      result->e_y_q8 = ey;
      result->roi_x = pbf_roi_start (ex, p.width, side, p.align);
      result->roi_y = pbf_roi_start (ey, p.height, side, 1);
      result->roi_size = side;
      result->position_confidence = f.confidence;
    }
  }
  __syncwarp ();
  return entry;
}
