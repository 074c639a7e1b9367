/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A list comes back through its dispose function, which is called with the last
 * reference: it revives the list (as GstBuffer's own does for a pool) and pushes
 * it onto a stack. Any thread may push; only the owner pops, always the whole
 * stack, so that no list can return to it between reading and popping its top. */
#include "gstpbfreplay.h"

#include <gst/cudavision/gstpbfmeta.h>
#include <string.h>

#define PREFETCH_AHEAD 8 /* buffers */

/* State that a buffer of a list is restored to. The pointers are compared with what
 * the buffer holds and followed only if they are equal. */
typedef struct {
  GstBuffer *buffer;
  GstMemory *memory;
  GstCvisPbfSignalMeta *signal;
  GstCvisPbfTruthMeta *truth;
  guint n_metas;
} Slot;

/* A list and its slots; freed with the list. */
typedef struct _Replayed Replayed;
struct _Replayed {
  GstBufferList *list;
  GstPbfReplay *replay; /* referenced */
  Replayed *next;       /* in a stack */
  GstBuffer *held;      /* (nullable): was in use when the list came back */
  guint first, n;
  Slot slots[];
};

/* A rendered frame. */
typedef struct {
  GstBuffer *buffer;
  const GstCvisPbfTruthMeta *truth; /* of the buffer */
  CvisPbfSignal signal;
} Frame;

struct _GstPbfReplay {
  gatomicrefcount refs; /* the owner's and one for each list */
  Replayed *returned;   /* atomic stack; CLOSED: the replay was freed */

  /* of the owner's thread */
  GArray *frames;
  GHashTable *idle; /* first frame: stack of Replayed */
  Replayed *open;
  guint next_slot;
};

#define CLOSED ((Replayed *) 1)

static void
replay_unref (GstPbfReplay *replay)
{
  if (g_atomic_ref_count_dec (&replay->refs))
    g_free (replay);
}

/* --- lists that come back -------------------------------------------------- */

static GQuark
replayed_quark (void)
{
  return g_quark_from_static_string ("GstPbfReplayed");
}

static void
replayed_free (Replayed *replayed)
{
  replay_unref (replayed->replay);
  g_free (replayed);
}

/* Frees the list, and with it @replayed. */
static void
destroy_list (Replayed *replayed)
{
  GST_MINI_OBJECT_CAST (replayed->list)->dispose = NULL;
  gst_buffer_list_unref (replayed->list);
}

static void
destroy_stack (Replayed *replayed)
{
  while (replayed != NULL) {
    Replayed *next = replayed->next;

    destroy_list (replayed);
    replayed = next;
  }
}

/* Finds the buffer that a sink keeps as its last sample.
 * Returns: TRUE if more buffers are in use: downstream split the list, and the
 * buffers are downstream's alone, and writable, once the list is freed. */
static gboolean
note_held (Replayed *replayed)
{
  guint length = gst_buffer_list_length (replayed->list), n = 0;

  replayed->held = NULL;
  for (guint i = 0; i < length && n < 2; i++) {
    GstBuffer *buffer = gst_buffer_list_get (replayed->list, i);

    if (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer) > 1) {
      replayed->held = buffer;
      n++;
    }
  }
  return n > 1;
}

/* After the push onto the stack the owner may send the list again at any time. */
static gboolean
return_list (GstMiniObject *object)
{
  Replayed *replayed = gst_mini_object_get_qdata (object, replayed_quark ());
  Replayed **returned = &replayed->replay->returned, *head;
  gboolean apart = note_held (replayed);

  gst_mini_object_ref (object);
  do {
    head = g_atomic_pointer_get (returned);
    if (apart || head == CLOSED) {
      destroy_list (replayed);
      return FALSE;
    }
    replayed->next = head;
  } while (!g_atomic_pointer_compare_and_exchange (returned, head, replayed));
  return FALSE;
}

static Replayed *
take_returned (GstPbfReplay *replay, Replayed *left)
{
  Replayed *head;

  do {
    head = g_atomic_pointer_get (&replay->returned);
  } while (
      !g_atomic_pointer_compare_and_exchange (&replay->returned, head, left));
  return head;
}

static Replayed *
new_list (GstPbfReplay *replay, guint first, guint n)
{
  Replayed *replayed = g_malloc0 (sizeof *replayed + n * sizeof (Slot));
  GstMiniObject *object;

  replayed->list = gst_buffer_list_new_sized (n);
  replayed->replay = replay;
  g_atomic_ref_count_inc (&replay->refs);
  replayed->first = first;
  replayed->n = n;
  object = GST_MINI_OBJECT_CAST (replayed->list);
  gst_mini_object_set_qdata (
      object, replayed_quark (), replayed, (GDestroyNotify) replayed_free);
  object->dispose = return_list;
  return replayed;
}

/* Sorts the lists that have come back by their first frames. */
static void
store_returned (GstPbfReplay *replay)
{
  Replayed *replayed = take_returned (replay, NULL);

  while (replayed != NULL) {
    gpointer key = GUINT_TO_POINTER (replayed->first);
    Replayed *next = replayed->next;

    replayed->next = g_hash_table_lookup (replay->idle, key);
    g_hash_table_replace (replay->idle, key, replayed);
    replayed = next;
  }
}

static gboolean
is_held (const Replayed *replayed)
{
  return replayed->held != NULL
         && GST_MINI_OBJECT_REFCOUNT_VALUE (replayed->held) > 1;
}

/* An idle list of these frames, or NULL. */
static Replayed *
take_idle (GstPbfReplay *replay, guint first, guint n)
{
  gpointer key = GUINT_TO_POINTER (first);
  Replayed *stack = g_hash_table_lookup (replay->idle, key), *taken;
  Replayed **link = &stack;

  while (*link != NULL && is_held (*link))
    link = &(*link)->next;
  taken = *link;
  if (taken == NULL)
    return NULL;
  *link = taken->next;
  g_hash_table_replace (replay->idle, key, stack);
  if (taken->n == n && gst_buffer_list_length (taken->list) <= n)
    return taken;
  destroy_list (taken);
  return NULL;
}

/* --- buffers --------------------------------------------------------------- */

static gboolean
mark_own_meta (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  guint *n = data;

  GST_META_FLAG_SET (*meta, GST_META_FLAG_POOLED);
  (*n)++;
  return TRUE;
}

static gboolean
drop_meta (GstBuffer *buffer, GstMeta **meta, gpointer unused)
{
  *meta = NULL;
  return TRUE;
}

/* Gives @buffer the memory and metas of @frame instead of its own.
 * Returns: FALSE if the memory can neither be shared nor copied. */
static gboolean
fill_slot (Slot *slot, const Frame *frame, GstBuffer *buffer)
{
  gst_buffer_remove_all_memory (buffer);
  gst_buffer_foreach_meta (buffer, drop_meta, NULL);
  if (!gst_buffer_copy_into (buffer, frame->buffer,
          GST_BUFFER_COPY_META | GST_BUFFER_COPY_MEMORY, 0, -1))
    return FALSE;
  GST_BUFFER_FLAGS (buffer) = 0;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  slot->buffer = buffer;
  slot->memory = gst_buffer_peek_memory (buffer, 0);
  slot->signal = gst_cvis_buffer_get_pbf_signal_meta (buffer);
  slot->truth = gst_cvis_buffer_get_pbf_truth_meta (buffer);
  slot->n_metas = 0;
  gst_buffer_foreach_meta (buffer, mark_own_meta, &slot->n_metas);
  return TRUE;
}

typedef struct {
  const Slot *slot;
  guint n_metas;
  gboolean has_signal, has_truth;
} Kept;

/* Drops what downstream added to the buffer. */
static gboolean
keep_own_meta (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  Kept *kept = data;

  if (!GST_META_FLAG_IS_SET (*meta, GST_META_FLAG_POOLED)) {
    *meta = NULL;
    return TRUE;
  }
  kept->n_metas++;
  kept->has_signal |= *meta == &kept->slot->signal->meta;
  kept->has_truth |= *meta == &kept->slot->truth->meta;
  return TRUE;
}

static gboolean
same_truth (const GstCvisPbfTruthMeta *a, const GstCvisPbfTruthMeta *b)
{
  gsize n = b->n_spatters;

  return memcmp (&a->regime, &b->regime,
             G_STRUCT_OFFSET (GstCvisPbfTruthMeta, spatter_x)
                 - G_STRUCT_OFFSET (GstCvisPbfTruthMeta, regime))
             == 0
         && memcmp (a->spatter_x, b->spatter_x, n * sizeof (gfloat)) == 0
         && memcmp (a->spatter_y, b->spatter_y, n * sizeof (gfloat)) == 0
         && memcmp (a->spatter_area, b->spatter_area, n * sizeof (guint16))
                == 0;
}

/* Restores the buffer of @slot.
 * Returns: FALSE if it lacks memory or metas. */
static gboolean
restore_slot (const Slot *slot, const Frame *frame)
{
  GstBuffer *buffer = slot->buffer;
  Kept kept = { .slot = slot };

  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY)
      || gst_buffer_n_memory (buffer) != 1
      || gst_buffer_peek_memory (buffer, 0) != slot->memory)
    return FALSE;
  gst_buffer_foreach_meta (buffer, keep_own_meta, &kept);
  if (kept.n_metas != slot->n_metas || !kept.has_signal || !kept.has_truth)
    return FALSE;
  GST_BUFFER_FLAGS (buffer) = 0;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  slot->signal->signal = frame->signal;
  /* written only if changed: other cores have the cache lines */
  if (!same_truth (slot->truth, frame->truth))
    memcpy (&slot->truth->regime, &frame->truth->regime,
        sizeof *slot->truth - G_STRUCT_OFFSET (GstCvisPbfTruthMeta, regime));
  return TRUE;
}

GstBuffer *
gst_pbf_replay_new_buffer (
    GstPbfReplay *replay, guint frame, CvisPbfSignal **signal)
{
  GstBuffer *buffer = gst_buffer_new ();
  Slot slot;

  if (!fill_slot (
          &slot, &g_array_index (replay->frames, Frame, frame), buffer)) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  *signal = &slot.signal->signal;
  return buffer;
}

/* --- the open list --------------------------------------------------------- */

void
gst_pbf_replay_open_list (GstPbfReplay *replay, guint first, guint n)
{
  store_returned (replay);
  replay->open = take_idle (replay, first, n);
  if (replay->open == NULL)
    replay->open = new_list (replay, first, n);
  replay->next_slot = 0;
}

/* The next buffers are in the cache of the core that dropped them. */
static void
prefetch_slot (const Slot *slot)
{
  if (slot->buffer == NULL)
    return;
  __builtin_prefetch (slot->buffer, 1);
  __builtin_prefetch ((const guint8 *) slot->buffer + 64, 1);
  __builtin_prefetch (slot->signal, 1);
  __builtin_prefetch ((const guint8 *) slot->signal + 64, 1);
  __builtin_prefetch (slot->truth, 1);
}

/* Buffer @i of the open list, with no other reference. */
static GstBuffer *
get_own_buffer (GstBufferList *list, guint i)
{
  GstBuffer *buffer = NULL;

  if (i < gst_buffer_list_length (list)) {
    buffer = gst_buffer_list_get (list, i);
    if (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer) == 1)
      return buffer;
    gst_buffer_list_remove (list, i, 1);
  }
  buffer = gst_buffer_new ();
  gst_buffer_list_insert (list, (gint) i, buffer);
  return buffer;
}

GstBuffer *
gst_pbf_replay_next (GstPbfReplay *replay, CvisPbfSignal **signal)
{
  Replayed *open = replay->open;
  guint i = replay->next_slot++;
  const Frame *frame = &g_array_index (replay->frames, Frame, open->first + i);
  GstBuffer *buffer = get_own_buffer (open->list, i);
  Slot *slot = &open->slots[i];

  if (i + PREFETCH_AHEAD < open->n)
    prefetch_slot (slot + PREFETCH_AHEAD);
  if ((buffer != slot->buffer || !restore_slot (slot, frame))
      && !fill_slot (slot, frame, buffer))
    return NULL;
  *signal = &slot->signal->signal;
  return buffer;
}

GstBufferList *
gst_pbf_replay_close_list (GstPbfReplay *replay)
{
  GstBufferList *list = replay->open->list;
  guint length = gst_buffer_list_length (list);

  if (length > replay->next_slot)
    gst_buffer_list_remove (
        list, replay->next_slot, length - replay->next_slot);
  replay->open = NULL;
  return list;
}

/* --- life ------------------------------------------------------------------ */

static void
clear_frame (gpointer frame)
{
  gst_buffer_unref (((Frame *) frame)->buffer);
}

GstPbfReplay *
gst_pbf_replay_new (guint capacity)
{
  GstPbfReplay *replay = g_new0 (GstPbfReplay, 1);

  g_atomic_ref_count_init (&replay->refs);
  replay->frames = g_array_sized_new (FALSE, FALSE, sizeof (Frame), capacity);
  g_array_set_clear_func (replay->frames, clear_frame);
  replay->idle = g_hash_table_new (NULL, NULL);
  return replay;
}

void
gst_pbf_replay_free (GstPbfReplay *replay)
{
  GHashTableIter lists;
  gpointer stack;

  destroy_stack (take_returned (replay, CLOSED));
  g_hash_table_iter_init (&lists, replay->idle);
  while (g_hash_table_iter_next (&lists, NULL, &stack))
    destroy_stack (stack);
  g_hash_table_unref (replay->idle);
  g_array_unref (replay->frames);
  replay_unref (replay);
}

void
gst_pbf_replay_add (GstPbfReplay *replay, GstBuffer *buffer)
{
  Frame frame = { buffer, gst_cvis_buffer_get_pbf_truth_meta (buffer),
    gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal };

  g_assert (gst_buffer_n_memory (buffer) == 1);
  g_array_append_val (replay->frames, frame);
}

guint
gst_pbf_replay_get_length (const GstPbfReplay *replay)
{
  return replay->frames->len;
}
