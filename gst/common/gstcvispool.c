/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The pool keeps its free buffers itself and not in GstBufferPool's queue: a queue
 * hands buffers out in the order in which they came back, and two threads that
 * return lists at the same time would shuffle that for good. Here the next buffer
 * is the first free one after the last in memory, which restores the order. */
#include "gstcvispool.h"

#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC (gst_cvis_pool_debug);
#define GST_CAT_DEFAULT gst_cvis_pool_debug

#define SLAB_FRAMES 256
#define SLAB_BYTES (64u << 20) /* a slab of large frames holds fewer of them */
#define PAGE 4096

/* --- slabs ----------------------------------------------------------------- */

/* One allocation; counted by the memories in it and by the pool. */
typedef struct {
  gatomicrefcount refs;
  CvisContext *context; /* NULL: not pinned */
  guint8 *data;
  gsize size;
  guint n;
  gint *taken; /* atomic, one a place: whether a memory lies there */
} Slab;

static gboolean
slab_alloc_bytes (Slab *slab, CvisContext *context)
{
  GError *error = NULL;
  void *data = NULL;

  if (context != NULL) {
    slab->data = cvis_pinned_alloc (context, slab->size, &error);
    if (slab->data != NULL) {
      slab->context = cvis_context_ref (context);
      return TRUE;
    }
    GST_WARNING ("%" G_GSIZE_FORMAT " bytes cannot be pinned, copies to "
                 "the GPU will be slower: %s",
        slab->size, error->message);
    g_error_free (error);
  }
  if (posix_memalign (&data, PAGE, slab->size) != 0)
    return FALSE;
  slab->data = data;
  return TRUE;
}

static Slab *
slab_new (CvisContext *context, guint n, gsize distance)
{
  Slab *slab;

  if (n == 0 || distance > (G_MAXSIZE / 2) / n)
    return NULL;
  slab = g_new0 (Slab, 1);
  g_atomic_ref_count_init (&slab->refs);
  slab->size = n * distance;
  slab->n = n;
  if (!slab_alloc_bytes (slab, context)) {
    g_free (slab);
    return NULL;
  }
  slab->taken = g_new0 (gint, n);
  return slab;
}

static Slab *
slab_ref (Slab *slab)
{
  g_atomic_ref_count_inc (&slab->refs);
  return slab;
}

static void
slab_unref (Slab *slab)
{
  if (!g_atomic_ref_count_dec (&slab->refs))
    return;
  if (slab->context != NULL) {
    cvis_pinned_free (slab->context, slab->data);
    cvis_context_unref (slab->context);
  } else {
    free (slab->data);
  }
  g_free (slab->taken);
  g_free (slab);
}

/* --- memories -------------------------------------------------------------- */

#define GST_CVIS_MEMORY_TYPE "GstCvisMemory"
#define NO_PLACE (-1)

/* Three kinds: the whole slab (parent of its frames, never handed out), a frame
 * (which has a place in the slab), and a share of a frame. A share's parent is
 * the frame and not the slab, so that the frame is not writable, and its place
 * is not used again, while the share exists. */
typedef struct {
  GstMemory memory;
  Slab *slab;
  guint8 *data;
  gint place;
} CvMemory;

#define GST_TYPE_CVIS_ALLOCATOR (gst_cvis_allocator_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCvisAllocator, gst_cvis_allocator, GST, CVIS_ALLOCATOR, GstAllocator)

struct _GstCvisAllocator {
  GstAllocator parent;
};

G_DEFINE_TYPE (GstCvisAllocator, gst_cvis_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *
cvis_memory_new (GstAllocator *allocator, GstMemoryFlags flags,
    GstMemory *parent, Slab *slab, guint8 *data, gint place, gsize maxsize,
    gsize offset, gsize size)
{
  CvMemory *memory = g_new0 (CvMemory, 1);

  gst_memory_init (
      &memory->memory, flags, allocator, parent, maxsize, 0, offset, size);
  memory->slab = slab_ref (slab);
  memory->data = data;
  memory->place = place;
  return &memory->memory;
}

/* A memory with a slab of its own, which begins at a page. %NULL without memory, in
 * which case GStreamer's own allocator would end the process. */
static GstMemory *
cvis_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  const gsize prefix = (params->prefix + params->align) & ~params->align;
  GstMemory *memory;
  Slab *slab = NULL;

  if (size <= G_MAXSIZE / 2)
    slab = slab_new (NULL, 1, MAX (prefix + size + params->padding, 1));
  if (slab == NULL)
    return NULL;
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset (slab->data, 0, prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset (slab->data + prefix + size, 0, params->padding);
  memory = cvis_memory_new (allocator, params->flags, NULL, slab, slab->data,
      NO_PLACE, slab->size, prefix, size);
  slab_unref (slab);
  return memory;
}

static void
cvis_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  CvMemory *self = (CvMemory *) memory;

  if (self->place != NO_PLACE)
    g_atomic_int_set (&self->slab->taken[self->place], 0);
  slab_unref (self->slab);
  g_free (self);
}

static gpointer
cvis_memory_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  return ((CvMemory *) memory)->data;
}

static void
cvis_memory_unmap (GstMemory *memory)
{
}

static GstMemory *
cvis_memory_share (GstMemory *memory, gssize offset, gssize size)
{
  CvMemory *self = (CvMemory *) memory;

  if (size == -1)
    size = (gssize) memory->size - offset;
  return cvis_memory_new (memory->allocator,
      GST_MINI_OBJECT_FLAGS (memory) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      memory, self->slab, self->data, NO_PLACE, memory->maxsize,
      memory->offset + (gsize) offset, (gsize) size);
}

static gboolean
cvis_memory_is_span (GstMemory *first, GstMemory *second, gsize *offset)
{
  CvMemory *a = (CvMemory *) first, *b = (CvMemory *) second;
  CvMemory *parent = (CvMemory *) first->parent;

  if (offset)
    *offset = (gsize) (a->data - parent->data) + first->offset
              - first->parent->offset;
  return a->data + first->offset + first->size == b->data + second->offset;
}

static void
gst_cvis_allocator_class_init (GstCvisAllocatorClass *klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS (klass);

  allocator_class->alloc = cvis_allocator_alloc;
  allocator_class->free = cvis_allocator_free;
}

static void
gst_cvis_allocator_init (GstCvisAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = GST_CVIS_MEMORY_TYPE;
  allocator->mem_map = cvis_memory_map;
  allocator->mem_unmap = cvis_memory_unmap;
  allocator->mem_share = cvis_memory_share;
  allocator->mem_is_span = cvis_memory_is_span;
}

static gpointer
make_allocator (gpointer unused)
{
  GstAllocator *allocator = g_object_new (GST_TYPE_CVIS_ALLOCATOR, NULL);

  gst_object_ref_sink (allocator);
  GST_OBJECT_FLAG_SET (allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return allocator;
}

GstAllocator *
gst_cvis_allocator (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, make_allocator, NULL);
}

gboolean
gst_cvis_memory_is_pinned (GstMemory *memory, CvisContext *context)
{
  return context != NULL && memory->allocator == gst_cvis_allocator ()
         && ((CvMemory *) memory)->slab->context != NULL;
}

const guint8 *
gst_cvis_memory_peek (GstMemory *memory)
{
  return memory->allocator == gst_cvis_allocator ()
             ? ((CvMemory *) memory)->data + memory->offset
             : NULL;
}

/* --- the pool -------------------------------------------------------------- */

/* A slab as the pool sees it. */
typedef struct {
  Slab *slab;
  GstMemory *whole;
  GstBuffer **idle; /* by place; NULL: in use, or no buffer */
  guint n_idle;
} Shelf;

struct _GstCvisPool {
  GstBufferPool parent;

  CvisContext *context;

  /* the configuration; does not change while active */
  GstVideoInfo info; /* if add_video_meta */
  gboolean add_video_meta;
  gsize size, prefix, distance;
  guint min, max; /* max: G_MAXUINT for no limit */

  GMutex lock;
  GCond changed;
  /* guarded by lock */
  GPtrArray *shelves;
  guint n_buffers; /* in use and idle */
  guint n_idle;
  guint
      n_waiting; /* threads; a signal that nobody waits for is a system call */
  guint next_shelf, next_place; /* after the last one handed out */
};

G_DEFINE_TYPE_WITH_CODE (GstCvisPool, gst_cvis_pool, GST_TYPE_BUFFER_POOL,
    GST_DEBUG_CATEGORY_INIT (
        gst_cvis_pool_debug, "cvispool", 0, "buffer pool of pinned memory"))

static void
shelf_free (gpointer data)
{
  Shelf *shelf = data;

  for (guint i = 0; i < shelf->slab->n; i++)
    gst_clear_buffer (&shelf->idle[i]);
  gst_memory_unref (shelf->whole);
  slab_unref (shelf->slab);
  g_free (shelf->idle);
  g_free (shelf);
}

static const gchar **
cvis_pool_get_options (GstBufferPool *pool)
{
  static const gchar *options[] = { GST_BUFFER_POOL_OPTION_VIDEO_META,
    GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, NULL };

  return options;
}

/* Sets the layout of @self from @caps; @size grows to the size of a frame.
 * Returns: FALSE if they are video without a valid size */
static gboolean
configure_video (
    GstCvisPool *self, GstStructure *config, GstCaps *caps, guint *size)
{
  GstVideoAlignment align;

  self->add_video_meta = FALSE;
  if (caps == NULL || gst_caps_get_size (caps) == 0
      || !gst_structure_has_name (
          gst_caps_get_structure (caps, 0), "video/x-raw"))
    return TRUE;
  if (!gst_video_info_from_caps (&self->info, caps)) {
    GST_WARNING_OBJECT (self, "no frame size in caps %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  self->add_video_meta = gst_buffer_pool_config_has_option (
      config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (self->add_video_meta
      && gst_buffer_pool_config_has_option (
          config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT)) {
    gst_buffer_pool_config_get_video_alignment (config, &align);
    if (!gst_video_info_align (&self->info, &align)) {
      GST_WARNING_OBJECT (self, "the video alignment overflows the frame");
      return FALSE;
    }
    gst_buffer_pool_config_set_video_alignment (config, &align);
  }
  *size = MAX (*size, (guint) GST_VIDEO_INFO_SIZE (&self->info));
  return TRUE;
}

static gboolean
cvis_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstCvisPool *self = GST_CVIS_POOL (pool);
  GstAllocationParams params;
  GstCaps *caps;
  guint size, min, max;
  gsize align;

  if (!gst_buffer_pool_config_get_params (config, &caps, &size, &min, &max)) {
    GST_WARNING_OBJECT (self, "the configuration has no parameters");
    return FALSE;
  }
  if (!configure_video (self, config, caps, &size))
    return FALSE;
  size = (size + 3) & ~3u;
  if (size == 0) {
    GST_WARNING_OBJECT (self, "the buffer size is 0, or 4 GiB and more");
    return FALSE;
  }
  if (!gst_buffer_pool_config_get_allocator (config, NULL, &params))
    gst_allocation_params_init (&params);

  align = params.align | 3;
  self->prefix = (params.prefix + align) & ~align;
  self->size = size;
  self->distance = (self->prefix + size + params.padding + align) & ~align;
  self->min = min;
  self->max = max ? max : G_MAXUINT;
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  GST_DEBUG_OBJECT (self,
      "%u bytes every %" G_GSIZE_FORMAT ", %u to %u buffers, %" GST_PTR_FORMAT,
      size, self->distance, min, max, caps);
  return GST_BUFFER_POOL_CLASS (gst_cvis_pool_parent_class)
      ->set_config (pool, config);
}

static gboolean
lock_meta (GstBuffer *buffer, GstMeta **meta, gpointer unused)
{
  GST_META_FLAG_SET (*meta, GST_META_FLAG_POOLED);
  GST_META_FLAG_SET (*meta, GST_META_FLAG_LOCKED);
  return TRUE;
}

/* Call with the lock held. */
static void
put_on_shelf (GstCvisPool *self, Shelf *shelf, guint place, GstBuffer *buffer)
{
  shelf->idle[place] = buffer;
  shelf->n_idle++;
  self->n_idle++;
}

/* Makes buffers for all free places of @shelf, as far as the maximum allows.
 * Call with the lock held. Returns: how many. */
static guint
fill_shelf (GstCvisPool *self, Shelf *shelf)
{
  Slab *slab = shelf->slab;
  guint made = 0;

  for (guint i = 0; i < slab->n && self->n_buffers < self->max; i++) {
    GstBuffer *buffer;

    if (!g_atomic_int_compare_and_exchange (&slab->taken[i], 0, 1))
      continue;
    buffer = gst_buffer_new ();
    gst_buffer_append_memory (
        buffer, cvis_memory_new (gst_cvis_allocator (), 0, shelf->whole, slab,
                    slab->data + i * self->distance, (gint) i, self->distance,
                    self->prefix, self->size));
    if (self->add_video_meta)
      gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
          GST_VIDEO_INFO_FORMAT (&self->info),
          GST_VIDEO_INFO_WIDTH (&self->info),
          GST_VIDEO_INFO_HEIGHT (&self->info),
          GST_VIDEO_INFO_N_PLANES (&self->info), self->info.offset,
          self->info.stride);
    gst_buffer_foreach_meta (buffer, lock_meta, NULL);
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
    put_on_shelf (self, shelf, i, buffer);
    self->n_buffers++;
    made++;
  }
  return made;
}

/* Adds a slab. Call with the lock held. */
static gboolean
grow (GstCvisPool *self)
{
  gsize n = MAX (SLAB_BYTES / self->distance, 1);
  Shelf *shelf;
  Slab *slab;

  n = MIN (n, MAX (SLAB_FRAMES, self->min));
  n = MIN (n, self->max - self->n_buffers);
  slab = slab_new (self->context, (guint) n, self->distance);
  if (slab == NULL) {
    GST_ERROR_OBJECT (self,
        "no memory for %" G_GSIZE_FORMAT " buffers of "
        "%" G_GSIZE_FORMAT " bytes",
        n, self->distance);
    return FALSE;
  }
  shelf = g_new0 (Shelf, 1);
  shelf->slab = slab;
  shelf->whole =
      cvis_memory_new (gst_cvis_allocator (), GST_MEMORY_FLAG_NO_SHARE, NULL,
          slab, slab->data, NO_PLACE, slab->size, 0, slab->size);
  shelf->idle = g_new0 (GstBuffer *, slab->n);
  g_ptr_array_add (self->shelves, shelf);
  fill_shelf (self, shelf);
  GST_DEBUG_OBJECT (self, "slab %u: %u buffers, %s", self->shelves->len,
      slab->n, slab->context ? "pinned" : "ordinary memory");
  return TRUE;
}

/* Makes idle buffers when there are none: in places of buffers that did not come
 * back intact, else in a new slab. Call with the lock held. Returns: FALSE if
 * there is no memory. */
static gboolean
replenish (GstCvisPool *self)
{
  guint made = 0;

  for (guint i = 0; i < self->shelves->len; i++)
    made += fill_shelf (self, g_ptr_array_index (self->shelves, i));
  return made > 0 || grow (self);
}

/* The first idle buffer after the last one handed out. Call with the lock
 * held and n_idle > 0. */
static GstBuffer *
take_next (GstCvisPool *self)
{
  guint place = self->next_place, n = self->shelves->len;

  for (guint i = 0; i <= n; i++) {
    guint at = (self->next_shelf + i) % n;
    Shelf *shelf = g_ptr_array_index (self->shelves, at);

    for (; shelf->n_idle > 0 && place < shelf->slab->n; place++) {
      GstBuffer *buffer = g_steal_pointer (&shelf->idle[place]);
      if (buffer == NULL)
        continue;
      shelf->n_idle--;
      self->n_idle--;
      self->next_shelf = at;
      self->next_place = place + 1;
      return buffer;
    }
    place = 0;
  }
  g_assert_not_reached ();
  return NULL;
}

/* Call with the lock held. */
static void
wait_for_buffer (GstCvisPool *self)
{
  self->n_waiting++;
  g_cond_wait (&self->changed, &self->lock);
  self->n_waiting--;
}

static GstFlowReturn
cvis_pool_acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  GstCvisPool *self = GST_CVIS_POOL (pool);
  gboolean wait =
      !(params && params->flags & GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT);
  GstFlowReturn ret = GST_FLOW_OK;

  g_mutex_lock (&self->lock);
  while (ret == GST_FLOW_OK) {
    if (GST_BUFFER_POOL_IS_FLUSHING (pool))
      ret = GST_FLOW_FLUSHING;
    else if (self->n_idle > 0)
      break;
    else if (self->n_buffers < self->max)
      ret = replenish (self) ? GST_FLOW_OK : GST_FLOW_ERROR;
    else if (wait)
      wait_for_buffer (self);
    else
      ret = GST_FLOW_EOS;
  }
  if (ret == GST_FLOW_OK)
    *buffer = take_next (self);
  g_mutex_unlock (&self->lock);
  return ret;
}

/* The memory of a buffer that comes back as it went out; else NULL. */
static CvMemory *
get_intact_memory (GstBuffer *buffer)
{
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY)
      || gst_buffer_n_memory (buffer) != 1
      || !gst_buffer_is_all_memory_writable (buffer))
    return NULL;
  return (CvMemory *) gst_buffer_peek_memory (buffer, 0);
}

static void
cvis_pool_reset_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  GstCvisPool *self = GST_CVIS_POOL (pool);
  CvMemory *memory = get_intact_memory (buffer);

  /* undo gst_buffer_resize(), the offset included */
  if (memory != NULL)
    gst_memory_resize (&memory->memory,
        (gssize) self->prefix - (gssize) memory->memory.offset, self->size);
  GST_BUFFER_POOL_CLASS (gst_cvis_pool_parent_class)
      ->reset_buffer (pool, buffer);
}

static Shelf *
find_shelf (GstCvisPool *self, Slab *slab)
{
  for (guint i = 0; i < self->shelves->len; i++) {
    Shelf *shelf = g_ptr_array_index (self->shelves, i);
    if (shelf->slab == slab)
      return shelf;
  }
  return NULL;
}

static void
cvis_pool_release_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  GstCvisPool *self = GST_CVIS_POOL (pool);
  CvMemory *memory = get_intact_memory (buffer);

  g_mutex_lock (&self->lock);
  if (memory != NULL) {
    put_on_shelf (self, find_shelf (self, memory->slab), (guint) memory->place,
        g_steal_pointer (&buffer));
  } else {
    GST_LOG_OBJECT (self, "buffer %p came back changed or shared", buffer);
    self->n_buffers--;
  }
  if (self->n_waiting > 0)
    g_cond_signal (&self->changed);
  g_mutex_unlock (&self->lock);
  if (buffer != NULL)
    gst_buffer_unref (buffer);
}

static gboolean
cvis_pool_start (GstBufferPool *pool)
{
  GstCvisPool *self = GST_CVIS_POOL (pool);
  gboolean ok = TRUE;

  g_mutex_lock (&self->lock);
  while (ok && self->n_buffers < self->min)
    ok = grow (self);
  g_mutex_unlock (&self->lock);
  return ok;
}

/* Called when every buffer has come back. */
static gboolean
cvis_pool_stop (GstBufferPool *pool)
{
  GstCvisPool *self = GST_CVIS_POOL (pool);

  g_mutex_lock (&self->lock);
  g_ptr_array_set_size (self->shelves, 0);
  self->n_buffers = self->n_idle = 0;
  self->next_shelf = self->next_place = 0;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
cvis_pool_flush_start (GstBufferPool *pool)
{
  GstCvisPool *self = GST_CVIS_POOL (pool);

  g_mutex_lock (&self->lock);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static void
cvis_pool_finalize (GObject *object)
{
  GstCvisPool *self = GST_CVIS_POOL (object);

  g_ptr_array_unref (self->shelves);
  if (self->context != NULL)
    cvis_context_unref (self->context);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (gst_cvis_pool_parent_class)->finalize (object);
}

static void
gst_cvis_pool_class_init (GstCvisPoolClass *klass)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = cvis_pool_finalize;
  pool_class->get_options = cvis_pool_get_options;
  pool_class->set_config = cvis_pool_set_config;
  pool_class->start = cvis_pool_start;
  pool_class->stop = cvis_pool_stop;
  pool_class->acquire_buffer = cvis_pool_acquire_buffer;
  pool_class->reset_buffer = cvis_pool_reset_buffer;
  pool_class->release_buffer = cvis_pool_release_buffer;
  pool_class->flush_start = cvis_pool_flush_start;
}

static void
gst_cvis_pool_init (GstCvisPool *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->shelves = g_ptr_array_new_with_free_func (shelf_free);
}

GstBufferPool *
gst_cvis_pool_new (CvisContext *context)
{
  GstCvisPool *self = g_object_new (GST_TYPE_CVIS_POOL, NULL);

  gst_object_ref_sink (self);
  self->context = context ? cvis_context_ref (context) : NULL;
  return GST_BUFFER_POOL_CAST (self);
}

GstBufferPool *
gst_cvis_pool_new_active (
    CvisContext *context, GstCaps *caps, gsize size, guint min)
{
  GstBufferPool *pool =
      context != NULL ? gst_cvis_pool_new (context) : gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstAllocationParams params = { .align = 63 };

  gst_buffer_pool_config_set_params (
      config, caps, (guint) MIN (size, G_MAXUINT), min, 0);
  gst_buffer_pool_config_set_allocator (config, gst_cvis_allocator (), &params);
  if (!gst_buffer_pool_set_config (pool, config)
      || !gst_buffer_pool_set_active (pool, TRUE)) {
    /* GstBufferPool leaks the buffers allocated before its start failed */
    GST_BUFFER_POOL_GET_CLASS (pool)->stop (pool);
    gst_clear_object (&pool);
  }
  return pool;
}

void
gst_cvis_pool_clear (GstBufferPool **pool)
{
  if (*pool != NULL)
    gst_buffer_pool_set_active (*pool, FALSE);
  gst_clear_object (pool);
}
