/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* How a shell comes back: its dispose function, called with the last reference,
 * revives it (as GstBuffer's own does for a pool) and pushes it onto its
 * frame's stack. Many threads may push; only the ring's owner takes from it,
 * and always the whole stack, so that nothing can come back in between. */
#include "gstpbfring.h"

#include <gst/cudavision/gstpbfmeta.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64 /* bytes of a cache line */
/* frames ahead at which a line is asked for: of the frame, of its shell, and of
 * the shell's buffer, each found in the one before */
#define FRAME_AHEAD 24
#define SHELL_AHEAD 16
#define BUFFER_AHEAD 8

/* --- what a shell knows ---------------------------------------------------- */

typedef struct _Frame Frame;
typedef struct _Shell Shell;

/* A meta of the shell's buffer: private, locked and never copied. */
struct _Shell {
  GstMeta meta;

  GstBuffer *buffer;
  GstPbfRing *ring; /* referenced */
  Frame *frame;     /* of the ring */
  Shell *next;      /* in the frame's stack */

  /* the state to which the buffer is brought back */
  GstMiniObjectDisposeFunction dispose;
  GstMemory *memory; /* the buffer's */
  GstPbfSignalMeta *signal;
  GstPbfTruthMeta *truth;
  guint n_metas;
  gboolean dressed; /* memory and metas are those of the frame */
};

struct _Frame {
  Shell *idle;  /* atomic; CLOSED: nobody takes shells any more */
  Shell *ready; /* the stack that was taken from there */
  GstBuffer *buffer;
  GstPbfTruthMeta truth; /* what follows the GstMeta counts */
  PbfSignal signal;
} __attribute__ ((aligned (LINE)));

#define CLOSED ((Shell *) 1)

struct _GstPbfRing {
  gatomicrefcount refs; /* the owner's and one a shell */
  Frame *frames;
  guint capacity, length;
  guint n_shells;
};

static void
ring_unref (GstPbfRing *ring)
{
  if (!g_atomic_ref_count_dec (&ring->refs))
    return;
  free (ring->frames);
  g_free (ring);
}

static gboolean
shell_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset (
      (guint8 *) meta + sizeof (GstMeta), 0, sizeof (Shell) - sizeof (GstMeta));
  return TRUE;
}

static void
shell_free (GstMeta *meta, GstBuffer *buffer)
{
  ring_unref (((Shell *) meta)->ring);
}

static gpointer
register_shell (gpointer unused)
{
  static const gchar *no_tags[] = { NULL };
  GType api = gst_meta_api_type_register ("GstPbfShellMetaAPI", no_tags);

  return (gpointer) gst_meta_register (
      api, "GstPbfShellMeta", sizeof (Shell), shell_init, shell_free, NULL);
}

static const GstMetaInfo *
shell_info (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, register_shell, NULL);
}

/* --- coming back ----------------------------------------------------------- */

typedef struct {
  const GstMetaInfo *info;
  Shell *shell;
  guint n_metas;
} Kept;

/* Drops what downstream hung onto the buffer, and finds the shell. */
static gboolean
keep_own (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Kept *kept = data;

  if ((*meta)->info == kept->info)
    kept->shell = (Shell *) *meta;
  if (GST_META_FLAG_IS_SET (*meta, GST_META_FLAG_POOLED))
    kept->n_metas++;
  else
    *meta = NULL;
  return TRUE;
}

/* Takes off what is not the frame's. Nothing of the frame itself is touched:
 * its ring may be on its way out. */
static Shell *
strip (GstBuffer *buffer)
{
  Kept kept = { shell_info (), NULL, 0 };
  Shell *shell;
  gboolean intact;

  gst_buffer_foreach_meta (buffer, keep_own, &kept);
  shell = kept.shell;
  intact = !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY)
           && gst_buffer_n_memory (buffer) == 1
           && gst_buffer_peek_memory (buffer, 0) == shell->memory;
  if (!intact)
    gst_buffer_remove_all_memory (buffer);
  if (!intact || kept.n_metas != shell->n_metas)
    shell->dressed = FALSE;
  GST_BUFFER_FLAGS (buffer) = 0;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  return shell;
}

static void
shell_destroy (Shell *shell)
{
  GstBuffer *buffer = shell->buffer;

  GST_MINI_OBJECT_CAST (buffer)->dispose = shell->dispose;
  gst_buffer_unref (buffer);
}

static void
destroy_stack (Shell *shell)
{
  while (shell != NULL) {
    Shell *next = shell->next;

    shell_destroy (shell);
    shell = next;
  }
}

/* As soon as the shell is in the stack the owner may have it in flight again.
 */
static void
push (Shell *shell)
{
  Frame *frame = shell->frame;
  Shell *head;

  do {
    head = g_atomic_pointer_get (&frame->idle);
    if (head == CLOSED) {
      shell_destroy (shell);
      return;
    }
    shell->next = head;
  } while (!g_atomic_pointer_compare_and_exchange (&frame->idle, head, shell));
}

/* Leaves @left in the place of the frame's stack, which is returned. */
static Shell *
take_stack (Frame *frame, Shell *left)
{
  Shell *head;

  do {
    head = g_atomic_pointer_get (&frame->idle);
  } while (!g_atomic_pointer_compare_and_exchange (&frame->idle, head, left));
  return head;
}

static gboolean
come_back (GstMiniObject *object)
{
  GstBuffer *buffer = GST_BUFFER_CAST (gst_mini_object_ref (object));

  push (strip (buffer));
  return FALSE;
}

/* --- going out ------------------------------------------------------------- */

static gboolean
drop_copied (GstBuffer *buffer, GstMeta **meta, gpointer unused)
{
  if ((*meta)->info != shell_info ())
    *meta = NULL;
  return TRUE;
}

static gboolean
keep_meta (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  guint *n = data;

  GST_META_FLAG_SET (*meta, GST_META_FLAG_POOLED);
  (*n)++;
  return TRUE;
}

/* Gives the shell's buffer the memory and the metas of its frame. */
static gboolean
dress (Shell *shell)
{
  GstBuffer *buffer = shell->buffer;

  gst_buffer_remove_all_memory (buffer);
  gst_buffer_foreach_meta (buffer, drop_copied, NULL);
  if (!gst_buffer_copy_into (buffer, shell->frame->buffer,
          GST_BUFFER_COPY_META | GST_BUFFER_COPY_MEMORY, 0, -1))
    return FALSE;
  shell->n_metas = 0;
  gst_buffer_foreach_meta (buffer, keep_meta, &shell->n_metas);
  shell->signal = gst_buffer_get_pbf_signal_meta (buffer);
  shell->truth = gst_buffer_get_pbf_truth_meta (buffer);
  shell->memory = gst_buffer_peek_memory (buffer, 0);
  GST_BUFFER_FLAGS (buffer) = 0;
  shell->dressed = TRUE;
  return TRUE;
}

static Shell *
shell_new (GstPbfRing *ring, Frame *frame)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstMiniObject *object = GST_MINI_OBJECT_CAST (buffer);
  Shell *shell = (Shell *) gst_buffer_add_meta (buffer, shell_info (), NULL);

  GST_META_FLAG_SET (&shell->meta, GST_META_FLAG_LOCKED);
  shell->buffer = buffer;
  shell->ring = ring;
  g_atomic_ref_count_inc (&ring->refs);
  shell->frame = frame;
  shell->dispose = object->dispose;
  object->dispose = come_back;
  ring->n_shells++;
  return shell;
}

static Shell *
take_shell (GstPbfRing *ring, Frame *frame)
{
  Shell *shell;

  if (frame->ready == NULL && g_atomic_pointer_get (&frame->idle) != NULL)
    frame->ready = take_stack (frame, NULL);
  shell = frame->ready;
  if (shell == NULL)
    return shell_new (ring, frame);
  frame->ready = shell->next;
  return shell;
}

static gboolean
same_truth (const GstPbfTruthMeta *a, const GstPbfTruthMeta *b)
{
  gsize n = b->n_spatters;

  return memcmp (&a->regime, &b->regime,
             G_STRUCT_OFFSET (GstPbfTruthMeta, spatter_x)
                 - G_STRUCT_OFFSET (GstPbfTruthMeta, regime))
             == 0
         && memcmp (a->spatter_x, b->spatter_x, n * sizeof (gfloat)) == 0
         && memcmp (a->spatter_y, b->spatter_y, n * sizeof (gfloat)) == 0
         && memcmp (a->spatter_area, b->spatter_area, n * sizeof (guint16))
                == 0;
}

/* Truth is written only where somebody changed it: other cores have read the
 * lines. */
static void
restore_truth (GstPbfTruthMeta *meta, const GstPbfTruthMeta *truth)
{
  if (!same_truth (meta, truth))
    memcpy (&meta->regime, &truth->regime,
        sizeof *truth - G_STRUCT_OFFSET (GstPbfTruthMeta, regime));
}

static Frame *
frame_ahead (GstPbfRing *ring, guint i, guint ahead)
{
  return &ring->frames[(i + ahead) % ring->length];
}

static Shell *
next_shell (Frame *frame)
{
  return frame->ready != NULL ? frame->ready
                              : g_atomic_pointer_get (&frame->idle);
}

/* The shells of the frames to come lie in the cache of whoever dropped them. */
static void
prefetch (GstPbfRing *ring, guint i)
{
  Shell *shell = next_shell (frame_ahead (ring, i, BUFFER_AHEAD));

  __builtin_prefetch (frame_ahead (ring, i, FRAME_AHEAD), 1);
  if (shell != NULL && shell->dressed) {
    __builtin_prefetch (shell->buffer, 1);
    __builtin_prefetch ((const guint8 *) shell->buffer + LINE, 1);
    __builtin_prefetch (&shell->signal->signal, 1);
    __builtin_prefetch (&shell->truth->regime);
  }
  shell = next_shell (frame_ahead (ring, i, SHELL_AHEAD));
  if (shell != NULL) {
    __builtin_prefetch (shell, 1);
    __builtin_prefetch (&shell->dressed, 1);
  }
}

GstBuffer *
gst_pbf_ring_show (GstPbfRing *ring, guint i, PbfSignal **signal)
{
  Frame *frame = &ring->frames[i];
  Shell *shell = take_shell (ring, frame);

  prefetch (ring, i);
  if (!shell->dressed && !dress (shell)) {
    shell_destroy (shell);
    return NULL;
  }
  restore_truth (shell->truth, &frame->truth);
  shell->signal->signal = frame->signal;
  *signal = &shell->signal->signal;
  return shell->buffer;
}

/* --- life ------------------------------------------------------------------ */

GstPbfRing *
gst_pbf_ring_new (guint capacity)
{
  GstPbfRing *ring = g_new0 (GstPbfRing, 1);
  void *frames = NULL;
  gsize size = capacity * sizeof (Frame);

  if (posix_memalign (&frames, LINE, size) != 0)
    g_error ("no memory for a ring of %u frames", capacity);
  memset (frames, 0, size);
  g_atomic_ref_count_init (&ring->refs);
  ring->frames = frames;
  ring->capacity = capacity;
  return ring;
}

void
gst_pbf_ring_free (GstPbfRing *ring)
{
  for (guint i = 0; i < ring->length; i++) {
    Frame *frame = &ring->frames[i];

    destroy_stack (frame->ready);
    destroy_stack (take_stack (frame, CLOSED));
    gst_buffer_unref (frame->buffer);
  }
  ring_unref (ring);
}

void
gst_pbf_ring_add (GstPbfRing *ring, GstBuffer *buffer)
{
  Frame *frame = &ring->frames[ring->length];

  g_assert (ring->length < ring->capacity);
  g_assert (gst_buffer_n_memory (buffer) == 1);
  frame->buffer = buffer;
  frame->signal = gst_buffer_get_pbf_signal_meta (buffer)->signal;
  frame->truth = *gst_buffer_get_pbf_truth_meta (buffer);
  ring->length++;
}

guint
gst_pbf_ring_get_length (const GstPbfRing *ring)
{
  return ring->length;
}

guint
gst_pbf_ring_get_n_shells (const GstPbfRing *ring)
{
  return ring->n_shells;
}
