/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudapbfmonitor, the thread of the source pad: completes batches, hangs the
 * results onto the frames and pushes frames, records and events in the order
 * in which they came. */
#include "gstpbfmonitor-private.h"

#include "gst/common/gstcvpreroll.h"
#include "gst/cudavision/cudavision.h"

#define GST_CAT_DEFAULT gst_cuda_pbf_monitor_debug

void
gst_pbf_monitor_engine_failed (GstCudaPbfMonitor *self, GError *error)
{
  GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
      ("The melt-pool engine failed: %s", error->message), (NULL));
  g_error_free (error);
}

/* --- the result pad -------------------------------------------------------- */

GstCaps *
gst_pbf_output_get_result_caps (GstElement *element, guint kind, GstPad *pad)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (element);
  GstCaps *caps = gst_caps_from_string (GST_PBF_RESULT_CAPS);
  guint outputs = self->model != NULL ? self->model->outputs : 0;
  GValue names = G_VALUE_INIT;

  gst_caps_set_simple (caps, "outputs", G_TYPE_INT, (gint) outputs, NULL);
  if (outputs == 0)
    return caps;
  g_value_init (&names, GST_TYPE_ARRAY);
  for (guint k = 0; k < outputs; k++) {
    GValue name = G_VALUE_INIT;
    g_value_init (&name, G_TYPE_STRING);
    g_value_set_string (&name, self->model->names[k]);
    gst_value_array_append_and_take_value (&names, &name);
  }
  gst_caps_set_value (caps, "output-names", &names);
  g_value_unset (&names);
  return caps;
}

/* --- flow ------------------------------------------------------------------ */

/* A pad that is not linked, or has seen enough, does not hold up the other. When
 * all have seen enough, the rest is dropped. */
static GstFlowReturn
combined_flow (GstCudaPbfMonitor *self, gboolean with_result)
{
  GstFlowReturn a = self->src_flow;
  GstFlowReturn b = with_result ? self->result_flow : GST_FLOW_NOT_LINKED;

  if (a == GST_FLOW_FLUSHING || a < GST_FLOW_EOS)
    return a;
  if (b == GST_FLOW_FLUSHING || b < GST_FLOW_EOS)
    return b;
  if (a == GST_FLOW_OK || b == GST_FLOW_OK)
    return GST_FLOW_OK;
  if (a != GST_FLOW_EOS && b != GST_FLOW_EOS)
    return GST_FLOW_NOT_LINKED;
  gst_cv_queue_end (self->queue);
  return GST_FLOW_OK;
}

static GstFlowReturn
push_held_now (GstCudaPbfMonitor *self, GstPad *pad)
{
  GstBufferList *held = self->held;
  GstBuffer *only;

  if (gst_buffer_list_length (held) == 1) {
    only = gst_buffer_ref (gst_buffer_list_get (held, 0));
    gst_buffer_list_remove (held, 0, 1);
    return gst_pad_push (pad, only);
  }
  self->held = gst_buffer_list_new ();
  return gst_pad_push_list (pad, held);
}

static GstFlowReturn
push_held (GstCudaPbfMonitor *self, GstPad *pad)
{
  GstClockID watch =
      self->records_left ? NULL : gst_cv_preroll_watch (pad, self->srcpad);
  GstFlowReturn flow = push_held_now (self, pad);

  self->records_left = TRUE;
  if (watch != NULL)
    gst_cv_preroll_unwatch (watch);
  return flow;
}

static void
drop_held (GstCudaPbfMonitor *self)
{
  guint held = gst_buffer_list_length (self->held);

  if (held > 0)
    gst_buffer_list_remove (self->held, 0, held);
}

/* Takes @records, and pushes them unless the frames they belong to, a list of
 * more than a batch, are still being computed. All records of such a list are
 * one push, as its frames are: one by one they would fill a queue, and a
 * pipeline whose other branch waits for its first frame would never start. */
static GstFlowReturn
push_records (GstCudaPbfMonitor *self, GstBuffer *records)
{
  GstPbfItem *head = gst_queue_array_peek_head_struct (self->pending);
  GstPad *pad = gst_cv_sides_ref (self->sides, 0);
  gboolean with_result = pad != NULL;
  guint held;

  if (gst_cv_queue_has_ended (self->queue)) {
    drop_held (self);
    gst_clear_object (&pad);
    gst_buffer_unref (records);
    return GST_FLOW_OK;
  }
  if (pad != NULL && gst_buffer_get_size (records) > 0)
    gst_buffer_list_add (self->held, gst_buffer_ref (records));
  gst_buffer_unref (records);
  held = gst_buffer_list_length (self->held);
  if (pad == NULL && held > 0) {
    /* the next pad does not get what was held for the last */
    drop_held (self);
  } else if (held > 0 && (head == NULL || head->done == head->n)) {
    if (gst_cv_sides_start (self->sides, 0))
      self->result_flow = push_held (self, pad);
    else
      drop_held (self);
  }
  g_clear_object (&pad);
  return combined_flow (self, with_result);
}

static GstFlowReturn
push_item (GstCudaPbfMonitor *self, GstPbfItem *item)
{
  GstMiniObject *object = g_steal_pointer (&item->object);
  GstPad *result = gst_cv_sides_ref (self->sides, 0);
  gboolean with_result = result != NULL;

  g_clear_object (&result);
  if (gst_cv_queue_has_ended (self->queue)) {
    gst_mini_object_unref (object);
    return GST_FLOW_OK;
  }
  if (GST_IS_BUFFER_LIST (object))
    self->src_flow =
        gst_pad_push_list (self->srcpad, GST_BUFFER_LIST_CAST (object));
  else
    self->src_flow = gst_pad_push (self->srcpad, GST_BUFFER_CAST (object));
  return combined_flow (self, with_result);
}

/* --- results onto frames --------------------------------------------------- */

/* Takes the frames that are to be dropped out of the finished @item.
 * Returns: FALSE if nothing is left to push. */
static gboolean
drop_frames (GstPbfItem *item)
{
  GstBufferList *from, *to;
  guint next = 0;

  if (item->dropped == NULL)
    return TRUE;
  if (item->dropped->len == item->n)
    return FALSE;
  from = GST_BUFFER_LIST_CAST (item->object);
  to = gst_buffer_list_new_sized (item->n - item->dropped->len);
  for (guint i = 0; i < item->n; i++) {
    if (next < item->dropped->len
        && g_array_index (item->dropped, guint, next) == i)
      next++;
    else
      gst_buffer_list_add (to, gst_buffer_ref (gst_buffer_list_get (from, i)));
  }
  gst_buffer_list_unref (from);
  item->object = GST_MINI_OBJECT_CAST (to);
  return TRUE;
}

/* Frame item->done of @item has its @result, or is dropped if that is %NULL. */
static void
finish_frame (GstPbfItem *item, GstPbfMeta *meta, GstBuffer *records,
    const PbfResult *result, GstClockTime latency)
{
  if (result == NULL) {
    if (item->dropped == NULL)
      item->dropped = g_array_new (FALSE, FALSE, sizeof (guint));
    g_array_append_val (item->dropped, item->done);
  } else {
    meta->result = result;
    meta->records = gst_buffer_ref (records);
    meta->latency = latency;
  }
  item->done++;
}

/* Marks the frames that leave and moves their records together.
 * Returns: how many they are. */
static guint
keep_records (GstCudaPbfMonitor *self, GstPbfBatch *batch)
{
  gboolean drop = self->active.track.empty_frames == PBF_EMPTY_FRAMES_DROP;
  PbfResult *results = batch->batch.results;
  guint kept = 0;

  for (guint i = 0; i < batch->batch.n; i++) {
    batch->keep[i] = !drop || (results[i].flags & PBF_RESULT_EMPTY) == 0;
    if (!batch->keep[i])
      continue;
    if (kept != i)
      results[kept] = results[i];
    kept++;
  }
  return kept;
}

/* The records buffer as it leaves: of its size, with times and numbers. */
static GstBuffer *
finish_records (GstPbfBatch *batch, guint kept)
{
  GstBuffer *records = g_steal_pointer (&batch->records);
  const PbfResult *results = batch->batch.results;

  if (kept > 0) {
    GST_BUFFER_PTS (records) = results[0].timestamp_ns;
    GST_BUFFER_OFFSET (records) = results[0].frame_index;
    GST_BUFFER_OFFSET_END (records) = results[kept - 1].frame_index + 1;
  }
  gst_buffer_unmap (records, &batch->records_map);
  batch->batch.results = NULL;
  gst_buffer_set_size (records, kept * sizeof (PbfResult));
  return records;
}

/* Hands the results in @records to the frames of the batch, the first of which
 * may belong to an item of an earlier one. */
static void
hand_out (GstCudaPbfMonitor *self, const GstPbfBatch *batch, guint n,
    GstBuffer *records, const PbfResult *result, guint64 now)
{
  guint length = gst_queue_array_get_length (self->pending);
  guint nth = 0, i = 0;

  while (i < n && nth < length) {
    GstPbfItem *item = gst_queue_array_peek_nth_struct (self->pending, nth++);
    guint64 latency = now - item->arrival;
    guint begin = i;

    for (; i < n && item->done < item->n; i++)
      finish_frame (item, batch->metas[i], records,
          batch->keep[i] ? result++ : NULL, latency);
    g_mutex_lock (&self->stats_lock);
    gst_pbf_stats_add_latency (&self->stats, latency, i - begin);
    g_mutex_unlock (&self->stats_lock);
  }
}

static GstFlowReturn
push_finished (GstCudaPbfMonitor *self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstPbfItem *head;

  while (flow == GST_FLOW_OK
         && (head = gst_queue_array_peek_head_struct (self->pending)) != NULL
         && head->done == head->n) {
    GstPbfItem item = *head;

    gst_queue_array_pop_head_struct (self->pending);
    if (drop_frames (&item))
      flow = push_item (self, &item);
    gst_pbf_item_clear (&item);
  }
  return flow;
}

/* --- reports --------------------------------------------------------------- */

static void
count_batch (
    GstCudaPbfMonitor *self, const GstPbfBatch *batch, guint kept, guint64 now)
{
  gboolean staged = self->context != NULL && !batch->batch.pinned;
  guint64 dropped = batch->batch.n - kept;

  g_mutex_lock (&self->stats_lock);
  gst_pbf_stats_add_batch (&self->stats, batch, staged, now);
  self->stats.total.dropped_empty += dropped;
  self->stats.recent.dropped_empty += dropped;
  g_mutex_unlock (&self->stats_lock);
}

static void
post_recent (GstCudaPbfMonitor *self)
{
  GstStructure *s = NULL;
  GstClockTime interval;

  GST_OBJECT_LOCK (self);
  interval = self->settings.message_interval;
  GST_OBJECT_UNLOCK (self);
  if (interval == 0)
    return;
  g_mutex_lock (&self->stats_lock);
  s = gst_pbf_stats_take_recent (
      &self->stats, interval, &self->segment, self->model);
  g_mutex_unlock (&self->stats_lock);
  if (s != NULL)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

/* Batches that take longer than the LATENCY query was told: tell it anew, with
 * doubled steps so that it settles. */
static void
note_processing (GstCudaPbfMonitor *self, GstClockTime took)
{
  gboolean grown = FALSE;

  GST_OBJECT_LOCK (self);
  while (self->processing < took && self->processing < GST_SECOND) {
    self->processing *= 2;
    grown = TRUE;
  }
  GST_OBJECT_UNLOCK (self);
  if (grown)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

/* --- what the queue gives -------------------------------------------------- */

GstFlowReturn
gst_pbf_output_complete (GstElement *element, gpointer item)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (element);
  PbfBatch *done;
  GstPbfBatch *batch;
  GstBuffer *records;
  const PbfResult *first;
  GError *error = NULL;
  guint64 begin = cvis_monotonic_ns (), now;
  gboolean ok = pbf_engine_wait (self->engine, &done, &error);
  GstFlowReturn flow, item_flow;
  guint kept;

  batch = (GstPbfBatch *) done; /* it begins with what the engine knows */
  if (!ok) {
    gst_pbf_batch_clear (batch);
    gst_cv_queue_give (self->queue, batch);
    gst_pbf_monitor_engine_failed (self, error);
    return GST_FLOW_ERROR;
  }
  now = cvis_monotonic_ns ();
  note_processing (self, now - begin);

  for (guint i = 0; i < batch->items->len; i++) {
    GstPbfItem *item = &g_array_index (batch->items, GstPbfItem, i);
    gst_queue_array_push_tail_struct (self->pending, item);
    item->object = NULL;
  }
  kept = keep_records (self, batch);
  count_batch (self, batch, kept, now);
  first = batch->batch.results;
  records = finish_records (batch, kept);
  gst_pbf_batch_unmap_frames (batch);
  hand_out (self, batch, batch->batch.n, records, first, now);
  gst_pbf_batch_clear (batch);
  gst_cv_queue_give (self->queue, batch);

  post_recent (self);
  flow = push_records (self, records);
  item_flow = push_finished (self);
  return item_flow != GST_FLOW_OK ? item_flow : flow;
}

void
gst_pbf_output_event (GstElement *element, GstEvent *event)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (element);

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_copy_segment (event, &self->segment);
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    self->src_flow = self->result_flow = GST_FLOW_OK;
  gst_cv_sides_push_event (self->sides, event);
  gst_pad_push_event (self->srcpad, event);
}

void
gst_pbf_output_discard (GstCudaPbfMonitor *self)
{
  GstEvent *start =
      gst_pad_get_sticky_event (self->srcpad, GST_EVENT_STREAM_START, 0);
  GstPbfItem *item;
  PbfBatch *batch;

  if (self->filling != NULL) {
    gst_pbf_batch_clear (self->filling);
    gst_cv_queue_give (self->queue, self->filling);
    self->filling = NULL;
  }
  while (self->engine != NULL) {
    pbf_engine_wait (self->engine, &batch, NULL);
    if (batch == NULL)
      break;
    gst_pbf_batch_clear ((GstPbfBatch *) batch);
    gst_cv_queue_give (self->queue, (GstPbfBatch *) batch);
  }
  while ((item = gst_queue_array_pop_head_struct (self->pending)) != NULL)
    gst_pbf_item_clear (item);
  gst_buffer_list_unref (self->held);
  self->held = gst_buffer_list_new ();
  gst_cv_queue_discard (self->queue, self->srcpad);
  gst_cv_sides_note_discard (self->sides, start);
  self->src_flow = self->result_flow = GST_FLOW_OK;
  self->records_left = FALSE;
}
