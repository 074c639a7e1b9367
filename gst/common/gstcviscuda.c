/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcviscuda.h"

#include <gmodule.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#endif

/* --- libgstcuda, loaded at run time ------------------------------------------
 * Distributions package libgstcuda apart from GStreamer's core, and the plugin
 * has to load without it. These are the functions used here. */

#if GST_CHECK_VERSION(1, 24, 0)
#define STREAM_SYMBOLS(symbol)                                                 \
  symbol (gst_buffer_pool_config_get_cuda_stream)                              \
      symbol (gst_buffer_pool_config_set_cuda_stream)                          \
          symbol (gst_cuda_memory_get_stream) symbol (gst_cuda_memory_sync)    \
              symbol (gst_cuda_stream_get_handle)
#else
#define STREAM_SYMBOLS(symbol)
#endif
#define SYMBOLS(symbol)                                                        \
  symbol (gst_cuda_buffer_pool_get_type) symbol (gst_cuda_buffer_pool_new)     \
      symbol (gst_cuda_context_get_handle)                                     \
          symbol (gst_cuda_ensure_element_context)                             \
              symbol (gst_cuda_handle_context_query)                           \
                  symbol (gst_cuda_handle_set_context)                         \
                      symbol (gst_cuda_load_library)                           \
                          symbol (gst_is_cuda_memory) STREAM_SYMBOLS (symbol)

static struct {
#define DECLARE(name) __typeof__ (&name) name;
  SYMBOLS (DECLARE)
} libgstcuda;

/* Returns: (nullable): why libgstcuda cannot be loaded, static text */
static const gchar *
load_libgstcuda (void)
{
  static const struct {
    const gchar *name;
    gsize offset;
  } symbols[] = {
#define LOCATE(name) { #name, G_STRUCT_OFFSET (__typeof__ (libgstcuda), name) },
    SYMBOLS (LOCATE)
  };
  GModule *module = g_module_open ("libgstcuda-1.0.so.0", G_MODULE_BIND_LAZY);

  if (module == NULL)
    return "libgstcuda-1.0.so.0 is not installed";
  g_module_make_resident (module);
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    if (!g_module_symbol (module, symbols[i].name,
            G_STRUCT_MEMBER_P (&libgstcuda, symbols[i].offset)))
      return "libgstcuda-1.0.so.0 lacks functions that this plugin needs";
  return NULL;
}

#define gst_cuda_buffer_pool_get_type libgstcuda.gst_cuda_buffer_pool_get_type
#define gst_cuda_buffer_pool_new libgstcuda.gst_cuda_buffer_pool_new
#define gst_cuda_context_get_handle libgstcuda.gst_cuda_context_get_handle
#define gst_cuda_ensure_element_context                                        \
  libgstcuda.gst_cuda_ensure_element_context
#define gst_cuda_handle_context_query libgstcuda.gst_cuda_handle_context_query
#define gst_cuda_handle_set_context libgstcuda.gst_cuda_handle_set_context
#define gst_cuda_load_library libgstcuda.gst_cuda_load_library
#define gst_is_cuda_memory libgstcuda.gst_is_cuda_memory
#if GST_CHECK_VERSION(1, 24, 0)
#define gst_buffer_pool_config_get_cuda_stream                                 \
  libgstcuda.gst_buffer_pool_config_get_cuda_stream
#define gst_buffer_pool_config_set_cuda_stream                                 \
  libgstcuda.gst_buffer_pool_config_set_cuda_stream
#define gst_cuda_memory_get_stream libgstcuda.gst_cuda_memory_get_stream
#define gst_cuda_memory_sync libgstcuda.gst_cuda_memory_sync
#define gst_cuda_stream_get_handle libgstcuda.gst_cuda_stream_get_handle
#endif

struct _GstCvisCuda {
  /* guards the two pointers, which the streaming thread and queries use; not
   * held during a query to a neighbour, which may be querying this element */
  GMutex lock;
  GstCudaContext *context;
  CvisContext *cvis;
};

/* --- availability ---------------------------------------------------------- */

/* Returns: (transfer full): why memory:CUDAMemory is not available; "" if it is */
static gpointer
find_obstacle (gpointer unused)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  /* an odd minor version is the development of the next even one */
  if (major == GST_VERSION_MAJOR
      && (minor + 1) / 2 == (GST_VERSION_MINOR + 1) / 2) {
    const gchar *missing = load_libgstcuda ();

    return g_strdup (missing ? missing : "");
  }
  return g_strdup_printf ("built for libgstcuda of GStreamer %d.%d, whose ABI "
                          "differs from that of %u.%u: rebuild the plugin",
      GST_VERSION_MAJOR, GST_VERSION_MINOR, major, minor);
}

gboolean
gst_cvis_cuda_available (const gchar **why_not)
{
  static GOnce once = G_ONCE_INIT;
  const gchar *obstacle = g_once (&once, find_obstacle, NULL);

  if (why_not)
    *why_not = obstacle;
  return *obstacle == '\0';
}

/* --- the context ----------------------------------------------------------- */

GstCvisCuda *
gst_cvis_cuda_new (void)
{
  GstCvisCuda *cuda = g_new0 (GstCvisCuda, 1);

  g_mutex_init (&cuda->lock);
  return cuda;
}

void
gst_cvis_cuda_free (GstCvisCuda *cuda)
{
  if (cuda == NULL)
    return;
  gst_cvis_cuda_stop (cuda);
  g_mutex_clear (&cuda->lock);
  g_free (cuda);
}

void
gst_cvis_cuda_stop (GstCvisCuda *cuda)
{
  GstCudaContext *context;
  CvisContext *cvis;

  g_mutex_lock (&cuda->lock);
  context = g_steal_pointer (&cuda->context);
  cvis = g_steal_pointer (&cuda->cvis);
  g_mutex_unlock (&cuda->lock);
  g_clear_pointer (&cvis, cvis_context_unref);
  gst_clear_object (&context);
}

void
gst_cvis_cuda_set_context (
    GstCvisCuda *cuda, GstElement *element, GstContext *context, gint device_id)
{
  if (!gst_cvis_cuda_available (NULL))
    return;
  g_mutex_lock (&cuda->lock);
  gst_cuda_handle_set_context (element, context, device_id, &cuda->context);
  g_mutex_unlock (&cuda->lock);
}

gboolean
gst_cvis_cuda_query_context (
    GstCvisCuda *cuda, GstElement *element, GstQuery *query)
{
  GstCudaContext *context;
  gboolean answered;

  if (!gst_cvis_cuda_available (NULL))
    return FALSE;
  g_mutex_lock (&cuda->lock);
  context = cuda->context ? gst_object_ref (cuda->context) : NULL;
  g_mutex_unlock (&cuda->lock);
  answered = gst_cuda_handle_context_query (element, query, context);
  gst_clear_object (&context);
  return answered;
}

gboolean
gst_cvis_cuda_start (GstCvisCuda *cuda, GstElement *element, gint device_id)
{
  GError *error = NULL;

  if (cvis_device_count (&error) > 0 && gst_cuda_load_library ()
      && gst_cuda_ensure_element_context (element, device_id, &cuda->context))
    return TRUE;
  GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND,
      ("No CUDA context for " GST_CVIS_CUDA_MEMORY_FEATURE
       ": %s. Use system memory, or check cuda-device-id.",
          error ? error->message : "the pipeline provides none"),
      ("cuda-device-id=%d", device_id));
  g_clear_error (&error);
  return FALSE;
}

static gint
context_device (GstCudaContext *context)
{
  guint device = 0;

  g_object_get (context, "cuda-device-id", &device, NULL);
  return (gint) device;
}

static GstCudaMemory *
cuda_memory (GstBuffer *buffer)
{
  GstMemory *memory;

  if (gst_buffer_n_memory (buffer) != 1)
    return NULL;
  memory = gst_buffer_peek_memory (buffer, 0);
  return gst_is_cuda_memory (memory) ? GST_CUDA_MEMORY_CAST (memory) : NULL;
}

CvisContext *
gst_cvis_cuda_follow (
    GstCvisCuda *cuda, GstBuffer *buffer, gint device_id, GError **error)
{
  GstCudaMemory *memory = cuda_memory (buffer);
  GstCudaContext *context;
  CvisContext *cvis;
  gint device;

  if (memory == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "the caps have " GST_CVIS_CUDA_MEMORY_FEATURE
        ", but a buffer is in other memory");
    return NULL;
  }
  context = memory->context;
  if (cuda->cvis != NULL && cuda->context == context)
    return cuda->cvis;

  device = context_device (context);
  if (device_id >= 0 && device != device_id) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "the frames are on CUDA device %d, but cuda-device-id is %d", device,
        device_id);
    return NULL;
  }
  cvis = cvis_context_new_wrapped (gst_cuda_context_get_handle (context),
      device, gst_object_ref (context), gst_object_unref, error);
  if (cvis == NULL) {
    gst_object_unref (context);
    return NULL;
  }
  gst_cvis_cuda_stop (cuda);
  g_mutex_lock (&cuda->lock);
  cuda->context = gst_object_ref (context);
  cuda->cvis = cvis;
  g_mutex_unlock (&cuda->lock);
  return cvis;
}

/* --- memory ---------------------------------------------------------------- */

/* Downstream's pool, if this element can fill its buffers: of the same context,
 * and without a limit, which would block in the middle of a long buffer list. */
static GstBufferPool *
downstream_pool (GstCvisCuda *cuda, GstQuery *allocation)
{
  GstBufferPool *pool = NULL;
  guint size, min, max;

  if (allocation == NULL || gst_query_get_n_allocation_pools (allocation) == 0)
    return NULL;
  gst_query_parse_nth_allocation_pool (allocation, 0, &pool, &size, &min, &max);
  if (pool != NULL && GST_IS_CUDA_BUFFER_POOL (pool) && max == 0
      && GST_CUDA_BUFFER_POOL_CAST (pool)->context == cuda->context)
    return pool;
  gst_clear_object (&pool);
  return NULL;
}

static void
choose_pool_stream (GstStructure *config, GstBuffer *like)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaStream *stream = gst_buffer_pool_config_get_cuda_stream (config);

  if (stream != NULL) {
    gst_mini_object_unref (GST_MINI_OBJECT_CAST (stream));
    return;
  }
  stream = gst_cuda_memory_get_stream (cuda_memory (like));
  if (stream != NULL)
    gst_buffer_pool_config_set_cuda_stream (config, stream);
#endif
}

GstBufferPool *
gst_cvis_cuda_pool_new (GstCvisCuda *cuda, GstCaps *caps, GstQuery *allocation,
    GstBuffer *like, GError **error)
{
  GstBufferPool *pool = downstream_pool (cuda, allocation);
  GstStructure *config;
  GstVideoInfo info;

  if (pool == NULL)
    pool = gst_cuda_buffer_pool_new (cuda->context);
  gst_video_info_from_caps (&info, caps);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_set_params (
      config, caps, (guint) GST_VIDEO_INFO_SIZE (&info), 0, 0);
  choose_pool_stream (config, like);
  if (gst_buffer_pool_set_config (pool, config)
      && gst_buffer_pool_set_active (pool, TRUE))
    return pool;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "no memory for frames of %dx%d %s on CUDA device %d",
      GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info),
      GST_VIDEO_INFO_NAME (&info), context_device (cuda->context));
  gst_object_unref (pool);
  return NULL;
}

gboolean
gst_cvis_cuda_frame_map (GstVideoFrame *frame, const GstVideoInfo *info,
    GstBuffer *buffer, GstMapFlags flags)
{
  return gst_video_frame_map (
      frame, info, buffer, (GstMapFlags) (flags | GST_MAP_CUDA));
}

/* --- order of work --------------------------------------------------------- */

#if GST_CHECK_VERSION(1, 24, 0)

gpointer
gst_cvis_cuda_stream (GstBuffer *buffer)
{
  GstCudaStream *stream = gst_cuda_memory_get_stream (cuda_memory (buffer));

  return stream ? gst_cuda_stream_get_handle (stream) : NULL;
}

gboolean
gst_cvis_cuda_order (GstBuffer *input, gpointer stream)
{
  if (stream != NULL && gst_cvis_cuda_stream (input) == stream)
    return TRUE;
  gst_cuda_memory_sync (cuda_memory (input));
  return FALSE;
}

void
gst_cvis_cuda_done (GstBuffer *output, gboolean pending)
{
  if (pending)
    GST_MINI_OBJECT_FLAG_SET (
        cuda_memory (output), GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
  else
    GST_MINI_OBJECT_FLAG_UNSET (
        cuda_memory (output), GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}

#else

/* GStreamer 1.22 has no streams: producers and consumers work on the NULL stream.
 * Work on a blocking stream comes after the work on the NULL stream, and has to be
 * waited for. */
gpointer
gst_cvis_cuda_stream (GstBuffer *buffer)
{
  return NULL;
}

gboolean
gst_cvis_cuda_order (GstBuffer *input, gpointer stream)
{
  return FALSE;
}

void
gst_cvis_cuda_done (GstBuffer *output, gboolean pending)
{
}

#endif
