/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstdenoisevideo.h"

#include <string.h>

#include "gst/common/gstcvispool.h"

#define IN_FLIGHT_CPU 2
#define IN_FLIGHT_CUDA 3
#define MAX_DEPTH 8 /* of an engine */

/* @n_components: number of components that are denoised: 1 or 3
 * @fields: 2 for interlaced video, whose fields are denoised separately */
struct _GstDenoiseVideo {
  GstVideoInfo info;
  gboolean on_device;
  CvisContext *frames; /* with on_device */
  CvisContext *context;
  guint n_components, fields, n_frames;
  LwtEngine *luma, *chroma;
  DenoiseEngine *engine; /* instead of these, except with mode=wavelets */
};

/* --- frames ------------------------------------------------------------------- */

GstDenoiseFrame *
gst_denoise_frame_new (void)
{
  return g_new0 (GstDenoiseFrame, 1);
}

static void
unmap_frame (GstDenoiseFrame *frame)
{
  if (frame->from_mapped)
    gst_video_frame_unmap (&frame->from);
  if (frame->to_mapped)
    gst_video_frame_unmap (&frame->to);
  frame->from_mapped = frame->to_mapped = FALSE;
}

void
gst_denoise_frame_clear (gpointer data)
{
  GstDenoiseFrame *frame = data;

  unmap_frame (frame);
  gst_clear_buffer (&frame->in);
  gst_clear_buffer (&frame->out);
  frame->n_jobs = 0;
}

void
gst_denoise_frame_free (GstDenoiseFrame *frame)
{
  gst_denoise_frame_clear (frame);
  g_free (frame->staging);
  g_free (frame);
}

/* --- engines ------------------------------------------------------------------- */

/* Makes an engine for component @c. Interleaved chroma on a device is denoised there:
 * components that take turns in a row cannot be copied to another device one by one. */
static LwtEngine *
new_engine (const GstDenoiseVideo *video, const GstDenoiseSettings *settings,
    const LwtWavelet *wavelet, guint c, guint jobs,
    const GstDenoisePlace *place, GError **error)
{
  const GstVideoInfo *info = &video->info;
  const gboolean stays =
      video->on_device
      && GST_VIDEO_INFO_COMP_PSTRIDE (info, c)
             > (GST_VIDEO_INFO_COMP_DEPTH (info, c) > 8 ? 2 : 1);
  LwtConfig config;

  lwt_config_init (&config);
  config.operation = LWT_OPERATION_DENOISE;
  config.width = (guint) GST_VIDEO_INFO_COMP_WIDTH (info, c);
  config.height = (guint) GST_VIDEO_INFO_COMP_HEIGHT (info, c) / video->fields;
  config.wavelet = wavelet;
  config.levels[0] = config.levels[1] = settings->levels;
  config.shrink = settings->shrink;
  config.threshold = settings->threshold;
  config.threshold_scale = settings->threshold_scale;
  config.spins = settings->spins;
  config.store_bits = (guint) GST_VIDEO_INFO_COMP_DEPTH (info, c);
  config.store_shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, c);
  config.sample = config.store_bits > 8 ? LWT_SAMPLE_U16 : LWT_SAMPLE_U8;
  /* in levels of 8 bits, for any depth */
  config.z_scale =
      1.0 / (gdouble) (1u << (config.store_bits + config.store_shift - 8));
  config.parts = 1u << CVIS_SURFACE_PART_MEASURED;
  config.threads = settings->threads;
  config.depth_in_flight = jobs;
  if (place->devices != NULL && !stays)
    return lwt_engine_new_over (&config, place->devices, place->owner, error);
  return lwt_engine_new (
      &config, stays ? video->frames : video->context, error);
}

/* Whether both fields have the same number of rows, in all components. */
static gboolean
has_fields (const GstVideoInfo *info, guint n_components)
{
  if (!GST_VIDEO_INFO_IS_INTERLACED (info))
    return FALSE;
  for (guint c = 0; c < n_components; c++)
    if (GST_VIDEO_INFO_COMP_HEIGHT (info, c) % 2 != 0)
      return FALSE;
  return TRUE;
}

static guint
get_radius (const GstDenoiseSettings *settings)
{
  if (settings->radius > 0)
    return settings->radius;
  return settings->preset == DENOISE_PRESET_ENCODER ? 3 : 2;
}

/* The engine of all modes but the wavelets */
static gboolean
make_denoise_engine (GstDenoiseVideo *video, const GstDenoiseSettings *settings,
    const GstDenoisePlace *place, GError **error)
{
  const GstVideoInfo *info = &video->info;
  DenoiseConfig config;

  denoise_config_init (&config);
  config.width = (guint) GST_VIDEO_INFO_WIDTH (info);
  config.height = (guint) GST_VIDEO_INFO_HEIGHT (info);
  config.depth = (guint) GST_VIDEO_INFO_COMP_DEPTH (info, 0);
  config.n_components = GST_VIDEO_INFO_N_COMPONENTS (info);
  if (config.n_components > 1) {
    config.sub_x = GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, 1);
    config.sub_y = GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, 1);
  }
  config.mode = (DenoiseMode) settings->mode;
  config.preset = settings->preset;
  config.strength = settings->strength;
  config.sigma = settings->sigma;
  config.keep_grain = settings->keep_grain;
  config.luma_only = settings->luma_only;
  config.radius = get_radius (settings);
  config.threads = settings->threads;
  config.depth_in_flight = settings->frames_in_flight > 0 ? MIN (
                               settings->frames_in_flight, DENOISE_MAX_DEPTH)
                                                          : IN_FLIGHT_CPU;
  video->n_components = config.n_components;
  video->fields = 1;
  if (place->devices != NULL) {
    config.chunk = denoise_config_get_chunk (&config, place->live);
    video->engine =
        denoise_engine_new_over (&config, place->devices, place->owner, error);
  } else {
    video->engine = denoise_engine_new (&config, video->context, error);
  }
  if (video->engine != NULL)
    video->n_frames = denoise_engine_get_depth (video->engine);
  return video->engine != NULL;
}

GstDenoiseVideo *
gst_denoise_video_new (const GstVideoInfo *info,
    const GstDenoiseSettings *settings, const LwtWavelet *wavelet,
    const GstDenoisePlace *place, GError **error)
{
  GstDenoiseVideo *video = g_new0 (GstDenoiseVideo, 1);
  CvisContext *context = place->context;
  guint luma_jobs, chroma_jobs;

  video->info = *info;
  video->on_device = place->frames != NULL;
  if (video->on_device)
    video->frames = cvis_context_ref (place->frames);
  video->context = context != NULL ? cvis_context_ref (context) : NULL;
  if (settings->mode != GST_DENOISE_WAVELETS) {
    if (make_denoise_engine (video, settings, place, error))
      return video;
    gst_denoise_video_free (video);
    return NULL;
  }
  video->n_components =
      settings->chroma ? GST_VIDEO_INFO_N_COMPONENTS (info) : 1;
  video->fields = has_fields (info, video->n_components) ? 2 : 1;
  luma_jobs = video->fields;
  chroma_jobs = (video->n_components - 1) * video->fields;
  video->n_frames = settings->frames_in_flight > 0 ? settings->frames_in_flight
                    : context != NULL              ? IN_FLIGHT_CUDA
                                                   : IN_FLIGHT_CPU;
  video->n_frames =
      MIN (video->n_frames, MAX_DEPTH / MAX (luma_jobs, chroma_jobs));
  video->luma = new_engine (
      video, settings, wavelet, 0, luma_jobs * video->n_frames, place, error);
  if (video->luma != NULL && chroma_jobs > 0)
    video->chroma = new_engine (video, settings, wavelet, 1,
        chroma_jobs * video->n_frames, place, error);
  /* of several devices each has as many */
  if (video->luma != NULL)
    video->n_frames = lwt_engine_get_depth (video->luma) / luma_jobs;
  if (video->chroma != NULL)
    video->n_frames = MIN (
        video->n_frames, lwt_engine_get_depth (video->chroma) / chroma_jobs);
  if (video->luma != NULL && (chroma_jobs == 0 || video->chroma != NULL))
    return video;
  gst_denoise_video_free (video);
  return NULL;
}

void
gst_denoise_video_free (GstDenoiseVideo *video)
{
  if (video == NULL)
    return;
  lwt_engine_free (video->luma);
  lwt_engine_free (video->chroma);
  denoise_engine_free (video->engine);
  g_clear_pointer (&video->frames, cvis_context_unref);
  g_clear_pointer (&video->context, cvis_context_unref);
  g_free (video);
}

CvisFleet *
gst_denoise_video_get_fleet (const GstDenoiseVideo *video)
{
  if (video->engine != NULL)
    return denoise_engine_get_fleet (video->engine);
  return lwt_engine_get_fleet (video->luma);
}

const gchar *
gst_denoise_video_describe (const GstDenoiseVideo *video)
{
  return video->luma != NULL ? lwt_engine_describe (video->luma) : NULL;
}

CvisContext *
gst_denoise_video_get_context (const GstDenoiseVideo *video)
{
  return video->on_device ? video->frames : video->context;
}

guint
gst_denoise_video_get_frames (const GstDenoiseVideo *video)
{
  return video->n_frames;
}

/* --- components ------------------------------------------------------------------ */

/* A component of a frame; @step: samples from column to column */
typedef struct {
  guint8 *data;
  gsize stride, bytes; /* of a sample */
  guint step, width, height;
} Component;

/* @info: of the caps; the picture begins at @left, @top of @frame */
static Component
get_component (const GstVideoInfo *info, const GstVideoFrame *frame, guint c,
    guint left, guint top)
{
  const GstVideoFormatInfo *format = info->finfo;
  const guint pstride = (guint) GST_VIDEO_INFO_COMP_PSTRIDE (info, c);
  Component result = {
    .stride = (gsize) GST_VIDEO_FRAME_COMP_STRIDE (frame, c),
    .bytes = GST_VIDEO_INFO_COMP_DEPTH (info, c) > 8 ? 2 : 1,
    .width = (guint) GST_VIDEO_INFO_COMP_WIDTH (info, c),
    .height = (guint) GST_VIDEO_INFO_COMP_HEIGHT (info, c),
  };

  result.step = pstride / (guint) result.bytes;
  /* not COMP_DATA: in GStreamer the second sample of P010's chroma begins one byte
   * after the first */
  result.data =
      (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (
          frame, GST_VIDEO_FRAME_COMP_PLANE (frame, c))
      + (c == 2 && result.step > 1 ? result.bytes : 0)
      + (top >> GST_VIDEO_FORMAT_INFO_H_SUB (format, c)) * result.stride
      + (left >> GST_VIDEO_FORMAT_INFO_W_SUB (format, c)) * pstride;
  return result;
}

static gsize
get_row_bytes (const Component *c)
{
  return ((gsize) c->step * (c->width - 1) + 1) * c->bytes;
}

static gboolean reject_layout (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static gboolean
reject_layout (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  *error = g_error_new_valist (CVIS_ERROR, CVIS_ERROR_FORMAT, format, args);
  va_end (args);
  return FALSE;
}

/* Whether all rows of component @number lie in the mapped memory. */
static gboolean
check_component (const GstVideoFrame *frame, guint number, const Component *c,
    GError **error)
{
  const guint plane = (guint) GST_VIDEO_FRAME_COMP_PLANE (frame, number);
  /* a frame without a GstVideoMeta has one mapping for all planes */
  const GstMapInfo *map = &frame->map[frame->meta != NULL ? plane : 0];
  const gint64 need = (c->data - map->data)
                      + (gint64) c->stride * (c->height - 1)
                      + (gint64) get_row_bytes (c);

  if (GST_VIDEO_FRAME_COMP_STRIDE (frame, number) < 0)
    return reject_layout (error, "its rows are upside down");
  if (c->stride >= get_row_bytes (c) && c->data >= map->data
      && need <= (gint64) map->size && c->stride % c->bytes == 0
      && GPOINTER_TO_SIZE (c->data) % c->bytes == 0)
    return TRUE;
  return reject_layout (error,
      "%" G_GINT64_FORMAT " bytes expected for component %u of %ux%u pixels "
      "(stride %" G_GSIZE_FORMAT "), %" G_GSIZE_FORMAT " found",
      need, number, c->width, c->height, c->stride, map->size);
}

/* Whether the size of the buffer's GstVideoMeta is at least that of the caps. */
static gboolean
check_meta (const GstVideoInfo *info, GstBuffer *buffer, guint left, guint top,
    GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if (meta == NULL
      || (meta->format == GST_VIDEO_INFO_FORMAT (info)
          && meta->width >= (guint64) left + GST_VIDEO_INFO_WIDTH (info)
          && meta->height >= (guint64) top + GST_VIDEO_INFO_HEIGHT (info)))
    return TRUE;
  return reject_layout (error,
      "its GstVideoMeta has %s %ux%u, the caps have %s %dx%d",
      gst_video_format_to_string (meta->format), meta->width, meta->height,
      GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info));
}

/* Maps a buffer and finds its components. */
static gboolean
map_buffer (const GstDenoiseVideo *video, GstVideoFrame *frame,
    GstBuffer *buffer, GstMapFlags flags, gboolean *mapped,
    Component components[3], GError **error)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const gboolean cropped =
      crop != NULL && gst_buffer_get_video_meta (buffer) != NULL;
  const guint left = cropped ? crop->x : 0, top = cropped ? crop->y : 0;

  flags = (GstMapFlags) (flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
  if (!check_meta (&video->info, buffer, left, top, error))
    return FALSE;
  *mapped = video->on_device
                ? gst_cvis_cuda_frame_map (frame, &video->info, buffer, flags)
                : gst_video_frame_map (frame, &video->info, buffer, flags);
  if (!*mapped)
    return reject_layout (error,
        "a buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped as %s %dx%d",
        gst_buffer_get_size (buffer), GST_VIDEO_INFO_NAME (&video->info),
        GST_VIDEO_INFO_WIDTH (&video->info),
        GST_VIDEO_INFO_HEIGHT (&video->info));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&video->info); c++) {
    components[c] = get_component (&video->info, frame, c, left, top);
    if (!check_component (frame, c, &components[c], error))
      return FALSE;
  }
  return TRUE;
}

/* --- interleaved chroma in system memory ------------------------------------------ */

/* Copies samples that are @from_step apart to samples that are @to_step apart. */
static void
move_samples (const Component *from, const Component *to)
{
  for (guint y = 0; y < from->height; y++) {
    const guint8 *f = from->data + y * from->stride;
    guint8 *t = to->data + y * to->stride;

    if (from->bytes == 1)
      for (guint x = 0; x < from->width; x++)
        t[x * to->step] = f[x * from->step];
    else
      for (guint x = 0; x < from->width; x++)
        ((guint16 *) (gpointer) t)[x * to->step] =
            ((const guint16 *) (gconstpointer) f)[x * from->step];
  }
}

static gboolean
is_staged (const GstDenoiseVideo *video, const Component *component)
{
  return component->step > 1 && !video->on_device;
}

/* The copy of @component, number @c, in the staging; @after: the denoised one */
static Component
get_staged (const GstDenoiseFrame *frame, const Component *component, guint c,
    gboolean after)
{
  Component result = *component;

  result.step = 1;
  result.stride = component->width * component->bytes;
  result.data =
      frame->staging
      + (2 * (c - 1) + (after ? 1 : 0)) * result.stride * component->height;
  return result;
}

static gboolean
stage (GstDenoiseFrame *frame, const Component components[3], GError **error)
{
  const Component *chroma = &components[1];
  const gsize size = 4 * chroma->width * chroma->bytes * chroma->height;

  if (frame->staging_size < size) {
    g_free (frame->staging);
    frame->staging = g_try_malloc (size);
    frame->staging_size = frame->staging != NULL ? size : 0;
  }
  if (frame->staging == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for chroma of %" G_GSIZE_FORMAT " bytes", size);
    return FALSE;
  }
  for (guint c = 1; c < 3; c++) {
    const Component staged = get_staged (frame, &components[c], c, FALSE);

    move_samples (&components[c], &staged);
  }
  return TRUE;
}

/* --- jobs -------------------------------------------------------------------------- */

static void
add_jobs (const GstDenoiseVideo *video, GstDenoiseFrame *frame,
    const Component *from, const Component *to, gpointer stream,
    gboolean pinned[2])
{
  for (guint field = 0; field < video->fields; field++) {
    LwtJob *job = &frame->jobs[frame->n_jobs++];

    *job = (LwtJob){
      .data = from->data + field * from->stride,
      .stride = from->stride * video->fields,
      .step = video->on_device ? from->step : 1,
      .pinned = pinned[0],
      .on_device = video->on_device,
      .stream = stream,
    };
    job->parts[CVIS_SURFACE_PART_MEASURED] = (LwtPlane){
      .data = to->data + field * to->stride,
      .stride = to->stride * video->fields,
      .step = video->on_device ? to->step : 1,
      .pinned = pinned[1],
      .on_device = video->on_device,
    };
  }
}

/* Copies the planes that do not change; on a device at the same time as the first
 * job. */
static void
copy_chroma (const GstDenoiseVideo *video, GstDenoiseFrame *frame,
    const Component from[3], const Component to[3])
{
  LwtJob *job = &frame->jobs[0];

  for (guint plane = 1; plane < GST_VIDEO_INFO_N_PLANES (&video->info);
       plane++) {
    const Component *f = &from[plane], *t = &to[plane];
    const gsize bytes = (gsize) f->step * f->width * f->bytes;

    if (video->on_device)
      job->copies[job->n_copies++] =
          (LwtCopy){ f->data, t->data, f->stride, t->stride, bytes, f->height };
    else
      for (guint y = 0; y < f->height; y++)
        memcpy (t->data + y * t->stride, f->data + y * f->stride, bytes);
  }
}

static void
make_jobs (GstDenoiseVideo *video, GstDenoiseFrame *frame,
    const Component from[3], const Component to[3])
{
  gboolean pinned[2] = { gst_cvis_memory_is_pinned (
                             frame->from.map[0].memory, video->context),
    gst_cvis_memory_is_pinned (frame->to.map[0].memory, video->context) };
  gpointer stream = NULL;

  if (video->on_device) {
    /* also after work that is enqueued for the output memory */
    stream = gst_cvis_cuda_stream (frame->out);
    gst_cvis_cuda_order (frame->in, stream);
  }
  add_jobs (video, frame, &from[0], &to[0], stream, pinned);
  if (video->n_components == 1) {
    copy_chroma (video, frame, from, to);
    return;
  }
  for (guint c = 1; c < video->n_components; c++) {
    gboolean unpinned[2] = { FALSE, FALSE };

    if (is_staged (video, &from[c])) {
      const Component before = get_staged (frame, &from[c], c, FALSE);
      const Component after = get_staged (frame, &to[c], c, TRUE);

      add_jobs (video, frame, &before, &after, stream, unpinned);
    } else {
      add_jobs (video, frame, &from[c], &to[c], stream, pinned);
    }
  }
}

static LwtEngine *
get_engine (const GstDenoiseVideo *video, guint job)
{
  return job < video->fields ? video->luma : video->chroma;
}

/* A frame that several devices may read after it has left the element */
typedef struct {
  GstVideoFrame frame;
  GstBuffer *buffer;
} Input;

static void
release_input (gpointer data)
{
  Input *input = data;

  gst_video_frame_unmap (&input->frame);
  gst_buffer_unref (input->buffer);
  g_free (input);
}

/* Submits the job with its input, which the engine keeps. */
static gboolean
submit_over (
    const GstDenoiseVideo *video, GstDenoiseFrame *frame, GError **error)
{
  Input *input = g_new (Input, 1);

  *input = (Input){ frame->from, frame->in };
  frame->job.release = release_input;
  frame->job.input = input;
  if (!denoise_engine_submit (video->engine, &frame->job, error)) {
    g_free (input);
    return FALSE;
  }
  gst_buffer_ref (frame->in);
  frame->from_mapped = FALSE;
  return TRUE;
}

static gboolean
submit_denoise_job (const GstDenoiseVideo *video, GstDenoiseFrame *frame,
    const Component from[3], const Component to[3], GError **error)
{
  DenoiseJob *job = &frame->job;

  *job =
      (DenoiseJob){ .shift = GST_VIDEO_FORMAT_INFO_SHIFT (video->info.finfo, 0),
        .on_device = video->on_device,
        .context = video->frames,
        .key_frame = frame->key_frame };
  if (video->on_device) {
    /* also after work that is enqueued for the output memory */
    job->stream = gst_cvis_cuda_stream (frame->out);
    gst_cvis_cuda_order (frame->in, job->stream);
  }
  for (guint c = 0; c < video->n_components; c++) {
    job->in[c] = (DenoisePlane){ from[c].data, from[c].stride, from[c].step };
    job->out[c] = (DenoisePlane){ to[c].data, to[c].stride, to[c].step };
  }
  frame->item.busy = denoise_engine_get_fleet (video->engine) != NULL
                         ? submit_over (video, frame, error)
                         : denoise_engine_submit (video->engine, job, error);
  return frame->item.busy;
}

gboolean
gst_denoise_video_submit (GstDenoiseVideo *video, GstDenoiseFrame *frame,
    GstBuffer *in, GstBuffer *out, GError **error)
{
  Component from[3], to[3];

  frame->in = in;
  frame->out = out;
  if (!map_buffer (video, &frame->from, in, GST_MAP_READ, &frame->from_mapped,
          from, error)
      || !map_buffer (
          video, &frame->to, out, GST_MAP_WRITE, &frame->to_mapped, to, error))
    return FALSE;
  if (video->engine != NULL)
    return submit_denoise_job (video, frame, from, to, error);
  if ((video->n_components > 1 && is_staged (video, &from[1])
          && !stage (frame, from, error)))
    return FALSE;
  make_jobs (video, frame, from, to);
  for (guint i = 0; i < frame->n_jobs; i++) {
    if (!lwt_engine_submit (get_engine (video, i), &frame->jobs[i], error))
      return FALSE;
    frame->item.busy = TRUE;
  }
  return TRUE;
}

/* Copies the components that were denoised in the staging to the output frame. */
static void
unstage (const GstDenoiseVideo *video, GstDenoiseFrame *frame)
{
  for (guint c = 1; c < video->n_components; c++) {
    const Component to = get_component (&video->info, &frame->to, c, 0, 0);
    const Component after = get_staged (frame, &to, c, TRUE);

    if (is_staged (video, &to))
      move_samples (&after, &to);
  }
}

/* gst_denoise_video_wait() of all modes but the wavelets */
static gboolean
wait_denoise_job (const GstDenoiseVideo *video, GstDenoiseFrame *frame,
    gboolean *ready, GError **error)
{
  DenoiseJob *job;
  const gboolean ok = denoise_engine_wait (video->engine, &job, error);

  *ready = job != NULL;
  if (job != NULL)
    unmap_frame (frame);
  if (job != NULL && ok && video->on_device)
    gst_cvis_cuda_done (frame->out, FALSE);
  return ok;
}

gboolean
gst_denoise_video_wait (GstDenoiseVideo *video, GstDenoiseFrame *frame,
    gboolean *ready, GError **error)
{
  gboolean ok = TRUE;
  LwtJob *job;

  if (video->engine != NULL)
    return wait_denoise_job (video, frame, ready, error);
  *ready = TRUE;
  for (guint i = 0; i < frame->n_jobs; i++)
    ok = lwt_engine_wait (get_engine (video, i), &job, ok ? error : NULL) && ok;
  if (ok)
    unstage (video, frame);
  frame->threshold = frame->jobs[0].threshold;
  unmap_frame (frame);
  if (ok && video->on_device)
    gst_cvis_cuda_done (frame->out, FALSE);
  return ok;
}

void
gst_denoise_video_end (GstDenoiseVideo *video)
{
  if (video->engine != NULL)
    denoise_engine_end (video->engine);
}

static void
drain_denoise_engine (DenoiseEngine *engine)
{
  DenoiseJob *job;

  denoise_engine_end (engine);
  do
    denoise_engine_wait (engine, &job, NULL);
  while (job != NULL);
}

void
gst_denoise_video_drain (GstDenoiseVideo *video)
{
  LwtEngine *engines[2] = { video->luma, video->chroma };
  LwtJob *job;

  if (video->engine != NULL)
    drain_denoise_engine (video->engine);

  for (guint i = 0; i < 2; i++)
    do {
      job = NULL;
      if (engines[i] != NULL)
        lwt_engine_wait (engines[i], &job, NULL);
    } while (job != NULL);
}
