/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "elementengines.h"

#ifdef CVIS_CUDA_RUNTIME
#include <cuda_runtime_api.h>
#endif
#include <glib/gstdio.h>
#include <gst/cudavision/gstmotionmeta.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <gst/video/video.h>
#include <string.h>
#include <unistd.h>

#include "cuda/core/histogram.h"
#include "cuda/lifting/engine.h"
#include "cuda/meltpool/engine.h"
#include "cuda/crop/roicrop.h"
#include "cuda/camera/sim.h"
#include "cuda/motion/engine.h"
#include "cuda/surface/image.h"
#include "gst/motion/gstmotionpainter.h"
#include "gst/surface/gstsurfacepainter.h"

static gpointer
check (gpointer result, GError **error)
{
  if (result == NULL)
    g_error ("%s", (*error)->message);
  return result;
}

static guint64
ns_since (guint64 begin)
{
  return cvis_monotonic_ns () - begin;
}

/* Pageable memory for the CPU, pinned for CUDA. */
static gpointer
bench_alloc (const BenchInput *input, gsize size)
{
  GError *error = NULL;

  return input->context
             ? check (cvis_pinned_alloc (input->context, size, &error), &error)
             : g_malloc0 (size);
}

static void
bench_free (const BenchInput *input, gpointer memory)
{
  if (input->context)
    cvis_pinned_free (input->context, memory);
  else
    g_free (memory);
}

/* --- surfaces ------------------------------------------------------------- */

#define SURFACE_TURNS 3      /* after one untimed run */
#define READING_NS 200000000 /* of reading, at least */

/* @bytes: (nullable): %NULL: read the file */
static gdouble
time_reading (const BenchInput *input, GBytes *bytes)
{
  gfloat *samples = g_malloc (4096 * 4096 * sizeof (gfloat));
  CvisPool *pool = cvis_pool_new (0);
  GError *error = NULL;
  guint64 begin = 0, missing;
  guint turns = 0;
  gdouble offset;

  for (; turns <= SURFACE_TURNS || ns_since (begin) < READING_NS; turns++) {
    SurfaceReader *reader;

    if (turns == 1)
      begin = cvis_monotonic_ns ();
    reader = check (bytes ? surface_reader_new (bytes, &error)
                          : surface_reader_open (input->file, &error),
        &error);

    if (!surface_reader_read (
            reader, pool, TRUE, FALSE, samples, &offset, &missing, &error))
      g_error ("%s", error->message);
    surface_reader_free (reader);
  }
  begin = ns_since (begin);
  cvis_pool_free (pool);
  g_free (samples);
  return (gdouble) begin / (turns - 1);
}

gdouble
bench_surface_load (const BenchInput *input, gint arg)
{
  return time_reading (input, NULL);
}

gdouble
bench_surface_read (const BenchInput *input, gint arg)
{
  GstMapInfo map;
  GBytes *bytes;
  gdouble ns;

  gst_buffer_map (input->buffers[0], &map, GST_MAP_READ);
  bytes = g_bytes_new_static (map.data, map.size);
  ns = time_reading (input, bytes);
  g_bytes_unref (bytes);
  gst_buffer_unmap (input->buffers[0], &map);
  return ns;
}

/* Writes to a truncated file each time */
static gdouble
time_saving (const GstCvisSurfaceMeta *meta, const GstMapInfo *map, gint format)
{
  const SurfaceImage about = {
    .width = meta->width, .height = meta->height, .dx = meta->dx, .dy = meta->dy
  };
  CvisPool *pool = cvis_pool_new (0);
  GError *error = NULL;
  guint64 ns = 0;
  gchar *name;
  int fd = g_file_open_tmp (NULL, &name, &error);

  if (fd < 0)
    g_error ("%s", error->message);
  for (guint i = 0; i <= SURFACE_TURNS; i++) {
    guint64 begin = cvis_monotonic_ns ();

    if (!(format == SURFACE_FILE_NPY
                ? surface_file_save_npy (fd, &about, SURFACE_STREAM_F32,
                    meta->z_scale, meta->offset, map->data, pool, &error)
                : surface_file_save_x3p (fd, &about, SURFACE_STREAM_F32,
                    meta->z_scale, meta->offset, map->data, SURFACE_X3P_LEVEL,
                    pool, &error)))
      g_error ("%s", error->message);
    ns += i > 0 ? ns_since (begin) : 0;
    if (ftruncate (fd, 0) != 0)
      g_error ("%s: %m", name);
  }
  close (fd);
  g_unlink (name);
  g_free (name);
  cvis_pool_free (pool);
  return (gdouble) ns / SURFACE_TURNS;
}

gdouble
bench_surface_write (const BenchInput *input, gint arg)
{
  const GstCvisSurfaceMeta *meta =
      gst_cvis_buffer_get_surface_meta (input->buffers[0]);
  GError *error = NULL;
  SurfaceImage *image;
  GstMapInfo map;
  guint64 begin;

  gst_buffer_map (input->buffers[0], &map, GST_MAP_READ);
  if (arg == SURFACE_FILE_NPY || arg == SURFACE_FILE_X3P) {
    gdouble ns = time_saving (meta, &map, arg);

    gst_buffer_unmap (input->buffers[0], &map);
    return ns;
  }
  begin = cvis_monotonic_ns ();
  for (guint i = 0; i < SURFACE_TURNS; i++) {
    image =
        check (surface_image_new (meta->width, meta->height, &error), &error);
    image->dx = meta->dx;
    image->dy = meta->dy;
    surface_image_from_float32 (
        image, (const gfloat *) map.data, meta->z_scale, meta->offset);
    g_bytes_unref (check (
        surface_file_write (image, (SurfaceFileFormat) arg, &error), &error));
    surface_image_free (image);
  }
  begin = ns_since (begin);
  gst_buffer_unmap (input->buffers[0], &map);
  return (gdouble) begin / SURFACE_TURNS;
}

gdouble
bench_surface_paint (const BenchInput *input, gint arg)
{
  const GstCvisSurfaceMeta *meta =
      gst_cvis_buffer_get_surface_meta (input->buffers[0]);
  const GstSurfacePaintSettings settings = {
    .low = 0.5, .high = 99.5, .missing = 0x808080, .bars = TRUE
  };
  GstSurfacePainter *painter = gst_surface_painter_new ();
  GstSurfaceHeights heights = {
    .width = meta->width, .height = meta->height, .dx = meta->dx, .dy = meta->dy
  };
  GstVideoFrame frame;
  GstVideoInfo info;
  GstBuffer *picture;
  GstMapInfo map;
  gdouble from, to;
  guint64 begin;

  gst_video_info_set_format (
      &info, GST_VIDEO_FORMAT_RGB, meta->width, meta->height);
  picture = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_video_frame_map (&frame, &info, picture, GST_MAP_WRITE);
  gst_buffer_map (input->buffers[0], &map, GST_MAP_READ);
  heights.z = (const gfloat *) map.data;
  /* the first call touches the picture's memory */
  gst_surface_painter_paint (painter, &frame, &heights, &settings, &from, &to);
  begin = cvis_monotonic_ns ();
  for (guint i = 0; i < SURFACE_TURNS; i++)
    gst_surface_painter_paint (
        painter, &frame, &heights, &settings, &from, &to);
  begin = ns_since (begin);
  gst_buffer_unmap (input->buffers[0], &map);
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (picture);
  gst_surface_painter_free (painter);
  return (gdouble) begin / SURFACE_TURNS;
}

/* --- lifting -------------------------------------------------------------- */

#define LIFTING_DEPTH 3

gdouble
bench_lifting (const BenchInput *input, gint arg)
{
  const GstCvisSurfaceMeta *meta =
      gst_cvis_buffer_get_surface_meta (input->buffers[0]);
  const gsize stride = meta->width * sizeof (gfloat);
  const gsize size = stride * meta->height;
  const guint surfaces = input->context ? 200 : 10;
  const gboolean measured = arg != 0;
  GError *error = NULL;
  LwtJob jobs[LIFTING_DEPTH], *done;
  LwtConfig config;
  LwtEngine *engine;
  guint64 begin = 0;

  lwt_config_init (&config);
  config.width = meta->width;
  config.height = meta->height;
  config.dx = meta->dx;
  config.dy = meta->dy;
  config.wavelet = check (lwt_wavelet_new ("9/7", &error), &error);
  config.depth_in_flight = LIFTING_DEPTH;
  if (measured)
    config.parts = config.parameters = 1u << CVIS_SURFACE_PART_ROUGHNESS
                                       | 1u << CVIS_SURFACE_PART_WAVINESS
                                       | 1u << CVIS_SURFACE_PART_FORM;
  engine = check (lwt_engine_new (&config, input->context, &error), &error);
  for (guint i = 0; i < LIFTING_DEPTH; i++) {
    gpointer samples = bench_alloc (input, size);

    gst_buffer_extract (input->buffers[0], 0, samples, size);
    jobs[i] = (LwtJob){
      .data = samples, .stride = stride, .pinned = input->context != NULL
    };
    jobs[i].measured = config.parameters;
    if (!measured)
      jobs[i].parts[CVIS_SURFACE_PART_ROUGHNESS] =
          (LwtPlane){ .data = bench_alloc (input, size),
            .stride = stride,
            .pinned = input->context != NULL };
  }

  for (guint s = 0; s < LIFTING_DEPTH + surfaces + LIFTING_DEPTH - 1; s++) {
    if (s >= LIFTING_DEPTH - 1 && !lwt_engine_wait (engine, &done, &error))
      g_error ("%s", error->message);
    if (s == LIFTING_DEPTH + LIFTING_DEPTH - 2) /* each job has run once */
      begin = cvis_monotonic_ns ();
    if (s < LIFTING_DEPTH + surfaces
        && !lwt_engine_submit (engine, &jobs[s % LIFTING_DEPTH], &error))
      g_error ("%s", error->message);
  }
  begin = ns_since (begin);

  lwt_engine_free (engine);
  lwt_wavelet_free ((LwtWavelet *) config.wavelet);
  for (guint i = 0; i < LIFTING_DEPTH; i++) {
    bench_free (input, (gpointer) jobs[i].data);
    if (!measured)
      bench_free (input, jobs[i].parts[CVIS_SURFACE_PART_ROUGHNESS].data);
  }
  return (gdouble) begin / surfaces;
}

gdouble
bench_upload (const BenchInput *input, gint arg)
{
#ifdef CVIS_CUDA_RUNTIME
  const gsize size = gst_buffer_get_size (input->buffers[0]);
  const guint copies = 20;
  gpointer from[LIFTING_DEPTH], to;
  guint64 begin = 0;

  cvis_context_push (input->context, NULL);
  if (cudaMalloc (&to, size) != cudaSuccess)
    g_error ("no device memory");
  for (guint i = 0; i < LIFTING_DEPTH; i++)
    from[i] = bench_alloc (input, size);
  for (guint i = 0; i <= copies; i++) {
    if (i == 1) {
      cudaDeviceSynchronize ();
      begin = cvis_monotonic_ns ();
    }
    cudaMemcpyAsync (
        to, from[i % LIFTING_DEPTH], size, cudaMemcpyHostToDevice, 0);
  }
  if (cudaDeviceSynchronize () != cudaSuccess)
    g_error ("upload failed");
  begin = ns_since (begin);
  for (guint i = 0; i < LIFTING_DEPTH; i++)
    bench_free (input, from[i]);
  cudaFree (to);
  cvis_context_pop (input->context);
  return (gdouble) begin / copies;
#else
  return G_MAXDOUBLE;
#endif
}

gdouble
bench_surface_filter (const BenchInput *input, gint arg)
{
  return MAX (bench_surface_load (input, 0), bench_lifting (input, 0));
}

/* --- melt pools ----------------------------------------------------------- */

#define SIDE 96
#define MELTPOOL_FRAMES 2048 /* distinct frames, 19 MB */
#define MELTPOOL_DEPTH 4

typedef struct {
  guint8 *pixels;
  CvisPbfSignal signals[MELTPOOL_FRAMES];
} Camera;

typedef struct {
  PbfBatch batch;
  const guint8 **frames;
  PbfFrameInfo *infos;
} Slot;

/* The frames of pbftestsrc seed=1; kept for later rounds. */
static const Camera *
get_camera (const BenchInput *input)
{
  static Camera *camera;
  PbfSimConfig config = { .width = SIDE,
    .height = SIDE,
    .fps_n = 20000,
    .fps_d = 1,
    .seed = 1,
    .regime = PBF_SIM_NOMINAL };
  GError *error = NULL;
  PbfSim *sim;
  PbfSimTruth truth;

  if (camera)
    return camera;
  sim = check (pbf_sim_new (&config, &error), &error);
  camera = g_new0 (Camera, 1);
  camera->pixels = bench_alloc (input, MELTPOOL_FRAMES * SIDE * SIDE);
  for (guint i = 0; i < MELTPOOL_FRAMES; i++)
    pbf_sim_render (sim, i, camera->pixels + (gsize) i * SIDE * SIDE, SIDE,
        &camera->signals[i], &truth);
  pbf_sim_free (sim);
  return camera;
}

static void
fill_slot (const Camera *camera, PbfTrack *track, Slot *slot, guint64 first)
{
  for (guint i = 0; i < slot->batch.n; i++) {
    const guint n = (guint) ((first + i) % MELTPOOL_FRAMES);
    CvisPbfSignal signal = camera->signals[n];

    slot->frames[i] = camera->pixels + (gsize) n * SIDE * SIDE;
    signal.frame_counter = (guint32) (first + i);
    pbf_signal_seal (&signal);
    pbf_track_frame (
        track, &signal, 50000 * (first + i), 0, 0, &slot->infos[i]);
  }
}

static void
make_slot (const BenchInput *input, Slot *slot, guint n, const guint *strides)
{
  slot->frames = g_new (const guint8 *, n);
  slot->infos = g_new (PbfFrameInfo, n);
  slot->batch = (PbfBatch){ .n = n,
    .frames = slot->frames,
    .strides = strides,
    .pinned = input->context != NULL,
    .infos = slot->infos,
    .results_pinned = input->context != NULL,
    .results = bench_alloc (input, n * sizeof (CvisPbfResult)) };
}

gdouble
bench_meltpool (const BenchInput *input, gint arg)
{
  const Camera *camera = get_camera (input);
  const guint n = (guint) arg, batches = (input->context ? 1000000 : 50000) / n;
  const guint warm = MAX (MELTPOOL_FRAMES / n, MELTPOOL_DEPTH);
  PbfTrackConfig track_config = { .source = PBF_POSITION_SOURCE_SIGNALS };
  guint *strides = g_new (guint, n);
  Slot slots[MELTPOOL_DEPTH];
  GError *error = NULL;
  PbfConfig config;
  PbfEngine *engine;
  PbfModel *model = NULL;
  PbfTrack *track;
  PbfBatch *done;
  guint64 begin = 0;

  pbf_calibration_parse (
      PBF_CALIBRATION_DEFAULT, &track_config.calibration, NULL);
  track = pbf_track_new (&track_config);
  pbf_config_init (&config);
  config.threads = 1;
  config.max_batch = n;
  config.depth = MELTPOOL_DEPTH;
  if (input->model)
    model = check (pbf_model_load (input->model, &error), &error);
  engine =
      check (pbf_engine_new (&config, model, input->context, &error), &error);
  for (guint i = 0; i < n; i++)
    strides[i] = SIDE;
  for (guint k = 0; k < MELTPOOL_DEPTH; k++)
    make_slot (input, &slots[k], n, strides);

  for (guint b = 0; b < warm + batches + MELTPOOL_DEPTH - 1; b++) {
    Slot *slot = &slots[b % MELTPOOL_DEPTH];

    if (b >= MELTPOOL_DEPTH - 1 && !pbf_engine_wait (engine, &done, &error))
      g_error ("%s", error->message);
    if (b == warm + MELTPOOL_DEPTH - 2)
      begin = cvis_monotonic_ns ();
    if (b >= warm + batches)
      continue;
    fill_slot (camera, track, slot, (guint64) b * n);
    if (!pbf_engine_submit (engine, &slot->batch, &error))
      g_error ("%s", error->message);
  }
  begin = ns_since (begin);

  pbf_engine_free (engine);
  pbf_track_free (track);
  g_clear_pointer (&model, pbf_model_unref);
  for (guint k = 0; k < MELTPOOL_DEPTH; k++) {
    bench_free (input, slots[k].batch.results);
    g_free (slots[k].frames);
    g_free (slots[k].infos);
  }
  g_free (strides);
  return (gdouble) begin / ((gdouble) batches * n);
}

/* --- motion --------------------------------------------------------------- */

#define MOTION_DEPTH 2

typedef struct {
  MotionJob job;
  gpointer results;
  guint8 *luma;
} MotionSlot;

gdouble
bench_motion (const BenchInput *input, gint arg)
{
  MotionSlot slots[MOTION_DEPTH];
  const guint frames = 2 * input->n_buffers, warm = MOTION_DEPTH;
  MotionEngine *engine;
  MotionConfig config;
  GError *error = NULL;
  MotionJob *done;
  GstVideoInfo info;
  guint64 begin = 0;
  gsize luma, n;

  gst_video_info_from_caps (&info, input->caps);
  motion_config_init (&config);
  config.width = (guint) info.width;
  config.height = (guint) info.height;
  config.method = (MotionMethod) arg;
  if (config.method == MOTION_METHOD_FIELD) { /* the element's defaults */
    config.block_size = 16;
    config.subpel = MOTION_SUBPEL_QUARTER;
  }
  config.depth_in_flight = MOTION_DEPTH;
  engine = check (motion_engine_new (&config, input->context, &error), &error);
  n = motion_config_get_columns (&config) * motion_config_get_rows (&config);
  luma = (gsize) info.stride[0] * config.height;
  for (guint k = 0; k < MOTION_DEPTH; k++) {
    MotionSlot *slot = &slots[k];

    slot->results = bench_alloc (
        input, n * (sizeof (CvisMotionBlock) + sizeof (CvisMotionVector)));
    slot->luma = bench_alloc (input, luma);
    slot->job = (MotionJob){ .luma = slot->luma,
      .stride = (gsize) info.stride[0],
      .pinned = input->context != NULL,
      .results_pinned = input->context != NULL };
    slot->job.fields[0].blocks = slot->results;
    slot->job.fields[0].vectors =
        (CvisMotionVector *) (slot->job.fields[0].blocks + n);
  }

  for (guint f = 0; f < warm + frames + MOTION_DEPTH - 1; f++) {
    MotionSlot *slot = &slots[f % MOTION_DEPTH];

    if (f >= MOTION_DEPTH - 1 && !motion_engine_wait (engine, &done, &error))
      g_error ("%s", error->message);
    if (f == warm + MOTION_DEPTH - 2)
      begin = cvis_monotonic_ns ();
    if (f >= warm + frames)
      continue;
    gst_buffer_extract (
        input->buffers[f % input->n_buffers], 0, slot->luma, luma);
    if (!motion_engine_submit (engine, &slot->job, &error))
      g_error ("%s", error->message);
  }
  begin = ns_since (begin);

  motion_engine_free (engine);
  for (guint k = 0; k < MOTION_DEPTH; k++) {
    bench_free (input, slots[k].results);
    bench_free (input, slots[k].luma);
  }
  return (gdouble) begin / frames;
}

gdouble
bench_motion_paint (const BenchInput *input, gint arg)
{
  const GstMotionPaintSettings settings = { .mode = GST_MOTION_PAINT_ARROWS,
    .scale = 1.0,
    .opacity = 0.5,
    .min_length = 0.25 };
  GstMotionPainter *painter;
  GstVideoFrame frame;
  GstVideoInfo info;
  GstBuffer *copy;
  guint painted = 0;
  guint64 ns = 0;

  gst_video_info_from_caps (&info, input->caps);
  painter = gst_motion_painter_new (&info);
  for (guint i = 0; i < input->n_buffers; i++) {
    const GstCvisMotionVectorMeta *meta =
        gst_cvis_buffer_get_motion_vector_meta (input->buffers[i], -1);
    guint64 begin;

    if (meta == NULL)
      continue;
    copy = gst_buffer_copy_deep (input->buffers[i]);
    gst_video_frame_map (&frame, &info, copy, GST_MAP_READWRITE);
    begin = cvis_monotonic_ns ();
    gst_motion_painter_paint (painter, &frame, meta, &settings);
    ns += ns_since (begin);
    painted++;
    gst_video_frame_unmap (&frame);
    gst_buffer_unref (copy);
  }
  gst_motion_painter_free (painter);
  return (gdouble) ns / MAX (painted, 1);
}

/* --- crops ---------------------------------------------------------------- */

#define CROP 40
#define CROP_FRAMES 204800 /* after one pass over all frames */

gdouble
bench_crop (const BenchInput *input, gint arg)
{
  const CvisCropLayout layout = { .n_planes = 1, .sample_bytes = { 1 } };
  GError *error = NULL;
  CvisCrop *crop = check (cvis_crop_new (NULL, &error), &error);
  guint8 *from = g_malloc (MELTPOOL_FRAMES * SIDE * SIDE);
  guint8 *to = g_malloc0 (256 * CROP * CROP);
  guint64 begin = 0;

  memset (from, 1, MELTPOOL_FRAMES * SIDE * SIDE); /* maps pages of their own */
  for (guint i = 0; i < MELTPOOL_FRAMES + CROP_FRAMES; i++) {
    const guint start =
        cvis_crop_start ((gint32) (i % SIDE) << 8, CROP, SIDE, 1, NULL);
    const CvisCropRect rect = { start, start, CROP, CROP };
    CvisCropPlane plane;

    if (i == MELTPOOL_FRAMES)
      begin = cvis_monotonic_ns ();
    cvis_crop_plane_init (&plane, &layout, 0, &rect,
        from + (gsize) (i % MELTPOOL_FRAMES) * SIDE * SIDE, SIDE,
        to + (gsize) (i % 256) * CROP * CROP, CROP);
    if (!cvis_crop_copy (crop, &plane, 1, NULL, &error))
      g_error ("%s", error->message);
  }
  begin = ns_since (begin);
  cvis_crop_free (crop);
  g_free (from);
  g_free (to);
  return (gdouble) begin / CROP_FRAMES;
}
