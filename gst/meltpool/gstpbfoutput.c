/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudapbfmonitor, the source pad's task: completes batches, attaches the results to
 * the frames and pushes frames, records and events in the order in which they
 * came. */
#include "gstpbfmonitor-private.h"

#include "gst/common/gstcvisquery.h"
#include "gst/cudavision/cudavision.h"

#define GST_CAT_DEFAULT gst_cuda_pbf_monitor_debug

/* Melt pools in a row that touch the edge of the region of interest (ROI); single
 * ragged ones may do so. */
#define EDGE_RUN_WARNED_OF 100
#define SLOW_PUSHES_WARNED_OF 10 /* batches */
/* from the first doubtful frame to the warning, which has the number of them */
#define DOUBTS_TIME GST_SECOND

/* --- the result pad -------------------------------------------------------- */

GstFlowReturn
gst_pbf_output_get_result_caps (
    GstCvisFilter *filter, guint kind, GstPad *pad, GstCaps **caps)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  guint outputs = self->model != NULL ? self->model->outputs : 0;

  *caps = gst_caps_from_string (GST_CVIS_PBF_RESULT_CAPS);
  gst_caps_set_simple (*caps, "outputs", G_TYPE_INT, (gint) outputs, NULL);
  if (outputs > 0)
    gst_pbf_names_set (
        gst_caps_get_structure (*caps, 0), self->model->names, outputs);
  return GST_FLOW_OK;
}

/* Names the outputs to elements that draw the frames. */
static void
push_names (GstCudaPbfMonitor *self)
{
  GstStructure *names = gst_structure_new_empty (GST_PBF_NAMES_EVENT);

  gst_pbf_names_set (names, self->model->names, self->model->outputs);
  gst_pad_push_event (self->filter.srcpad,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, names));
}

/* --- records ---------------------------------------------------------------- */

static void
push_held_batch (GstCudaPbfMonitor *self)
{
  GstBufferList *held = self->held;
  GstMiniObject *object;

  if (gst_buffer_list_length (held) == 1) {
    object = GST_MINI_OBJECT_CAST (gst_buffer_list_get (held, 0));
    gst_mini_object_ref (object);
    gst_buffer_list_remove (held, 0, 1);
  } else {
    object = GST_MINI_OBJECT_CAST (held);
    self->held = gst_buffer_list_new ();
  }
  gst_cvis_filter_push_request (&self->filter, GST_PBF_RESULT_PAD, object);
}

static void
drop_held_batch (GstCudaPbfMonitor *self)
{
  guint held = gst_buffer_list_length (self->held);

  if (held > 0)
    gst_buffer_list_remove (self->held, 0, held);
}

/* Takes @records, and pushes them unless other frames of their list, which is longer
 * than a batch, are still being computed. All records of such a list are one push,
 * as its frames are: single pushes could fill the queue of a pad whose branch waits
 * for the first frame of the other branch. */
static void
push_records (GstCudaPbfMonitor *self, GstBuffer *records)
{
  GstPbfItem *head = gst_queue_array_peek_head_struct (self->pending);

  if (!gst_cvis_filter_has_request_pad (&self->filter, GST_PBF_RESULT_PAD))
    drop_held_batch (
        self); /* a new pad does not get records held for the last one */
  else if (gst_buffer_get_size (records) > 0)
    gst_buffer_list_add (self->held, gst_buffer_ref (records));
  gst_buffer_unref (records);
  if (gst_buffer_list_length (self->held) > 0
      && (head == NULL || head->done == head->n))
    push_held_batch (self);
}

/* --- attaching results ----------------------------------------------------- */

/* Removes the frames to drop from the finished @item.
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

/* Attaches @result to frame item->done of @item, number @i of @batch; %NULL drops the
 * frame. The caller has taken the meta's reference to @records. */
static void
finish_frame (GstPbfItem *item, const GstPbfBatch *batch, guint i,
    GstBuffer *records, const CvisPbfResult *result, GstClockTime latency)
{
  GstCvisPbfMeta *meta = batch->metas[i];

  if (result == NULL) {
    if (item->dropped == NULL)
      item->dropped = g_array_new (FALSE, FALSE, sizeof (guint));
    g_array_append_val (item->dropped, item->done);
  } else {
    if (meta == NULL)
      meta = gst_pbf_input_add_meta (batch->buffers[i]);
    meta->result = result;
    meta->records = records;
    meta->latency = latency;
  }
  item->done++;
}

/* Marks the frames that leave and compacts their records.
 * Returns: the number of frames that leave */
static guint
keep_records (GstCudaPbfMonitor *self, GstPbfBatch *batch)
{
  gboolean drop = self->active.track.empty_frames == PBF_EMPTY_FRAMES_DROP;
  CvisPbfResult *results = batch->batch.results;
  guint kept = 0;

  for (guint i = 0; i < batch->batch.n; i++) {
    batch->keep[i] = !drop || (results[i].flags & CVIS_PBF_RESULT_EMPTY) == 0;
    if (!batch->keep[i])
      continue;
    if (kept != i)
      results[kept] = results[i];
    kept++;
  }
  return kept;
}

/* Takes the buffer of records, with its size, timestamps and offsets set. */
static GstBuffer *
finish_records (GstPbfBatch *batch, guint kept)
{
  GstBuffer *records = g_steal_pointer (&batch->records);
  const CvisPbfResult *results = batch->batch.results;

  if (kept > 0) {
    GST_BUFFER_PTS (records) = results[0].timestamp_ns;
    GST_BUFFER_OFFSET (records) = results[0].frame_index;
    GST_BUFFER_OFFSET_END (records) = results[kept - 1].frame_index + 1;
  }
  gst_buffer_unmap (records, &batch->records_map);
  batch->batch.results = NULL;
  gst_buffer_set_size (records, kept * sizeof (CvisPbfResult));
  return records;
}

/* Attaches the results in @records to the frames of the batch. The first frames may
 * belong to an item of an earlier batch. */
static void
hand_out (GstCudaPbfMonitor *self, const GstPbfBatch *batch, guint kept,
    GstBuffer *records, const CvisPbfResult *result, guint64 now)
{
  guint length = gst_queue_array_get_length (self->pending);
  const guint n = batch->batch.n;
  guint nth = 0, i = 0;

  /* one reference for each meta; between the writes to the metas they would wait */
  for (guint k = 0; k < kept; k++)
    gst_buffer_ref (records);
  while (i < n && nth < length) {
    GstPbfItem *item = gst_queue_array_peek_nth_struct (self->pending, nth++);
    guint64 latency = now - item->arrival;
    guint begin = i;

    for (; i < n && item->done < item->n; i++)
      finish_frame (
          item, batch, i, records, batch->keep[i] ? result++ : NULL, latency);
    g_mutex_lock (&self->filter.stats_lock);
    gst_pbf_stats_add_latency (&self->stats, latency, i - begin);
    g_mutex_unlock (&self->filter.stats_lock);
  }
}

static GstFlowReturn
push_finished (GstCudaPbfMonitor *self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean pushed = FALSE;
  GstPbfItem *head;

  while (flow == GST_FLOW_OK
         && (head = gst_queue_array_peek_head_struct (self->pending)) != NULL
         && head->done == head->n) {
    GstPbfItem item = *head;

    gst_queue_array_pop_head_struct (self->pending);
    if (drop_frames (&item)) {
      flow =
          gst_cvis_filter_push (&self->filter, g_steal_pointer (&item.object));
      pushed = TRUE;
    }
    gst_pbf_item_clear (&item);
  }
  return pushed ? flow : gst_cvis_filter_get_flow (&self->filter);
}

/* --- reports --------------------------------------------------------------- */

static void
count_batch (
    GstCudaPbfMonitor *self, const GstPbfBatch *batch, guint kept, guint64 now)
{
  gboolean staged = self->filter.context != NULL && !batch->batch.pinned;
  guint64 dropped = batch->batch.n - kept;

  g_mutex_lock (&self->filter.stats_lock);
  gst_pbf_stats_add_batch (&self->stats, batch, staged, now);
  self->stats.total.dropped_empty += dropped;
  self->stats.recent.dropped_empty += dropped;
  g_mutex_unlock (&self->filter.stats_lock);
}

/* Sends the records of the frames that leave. Latencies are counted up to the end of
 * sending. */
static void
send_results (GstCudaPbfMonitor *self, const CvisPbfResult *results, guint kept,
    guint64 *now)
{
  guint sent;

  if (self->result_link == NULL)
    return;
  sent = gst_pbf_result_link_send (self->result_link, results, kept);
  *now = cvis_monotonic_ns ();
  g_mutex_lock (&self->filter.stats_lock);
  gst_pbf_stats_add_sent (&self->stats, sent, kept - sent);
  g_mutex_unlock (&self->filter.stats_lock);
}

/* Warns once that the melt pool does not fit the ROI. */
static void
warn_of_edge (GstCudaPbfMonitor *self)
{
  gboolean warn;

  g_mutex_lock (&self->filter.stats_lock);
  warn = !self->warned_of_edge
         && self->stats.longest_edge_run >= EDGE_RUN_WARNED_OF;
  self->warned_of_edge |= warn;
  g_mutex_unlock (&self->filter.stats_lock);
  if (warn)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("Area and shape of the melt pool may be wrong: it touches the edge of "
         "the region of interest of %ux%u pixels in %u frames in a row. Scale "
         "the frames down, raise roi-size, or correct the expected position.",
            self->active.config.roi_size, self->active.config.roi_size,
            EDGE_RUN_WARNED_OF),
        ("\"pool-at-edge\" of the property stats counts such frames"));
}

/* Warns once of frames whose results are guessed or left out, and of lost ones: one
 * second after the first of them, or at the end of the stream. */
static void
warn_of_doubts (GstCudaPbfMonitor *self, gboolean end)
{
  GstPbfStats *stats = &self->stats;
  gchar *text = NULL;
  guint64 frames;

  g_mutex_lock (&self->filter.stats_lock);
  frames = stats->started.frames;
  if (!self->warned_of_doubts && stats->doubtful > 0
      && (end || stats->end - stats->doubtful >= DOUBTS_TIME)) {
    text = gst_pbf_stats_describe_doubts (stats);
    self->warned_of_doubts = TRUE;
  }
  g_mutex_unlock (&self->filter.stats_lock);
  if (text == NULL)
    return;
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("Results are incomplete or uncertain. Of the first %" G_GUINT64_FORMAT
       " frames: %s. The flags of the records mark these frames; the property "
       "stats counts them.",
          frames, text),
      ("position-source=brightest needs no machine signals"));
  g_free (text);
}

GstFlowReturn
gst_pbf_output_src_event (GstCvisFilter *filter, GstEvent *event)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  const gboolean segment = GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT;
  GstFlowReturn flow;

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    warn_of_doubts (self, TRUE);
    gst_pbf_learn_end (self);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    pbf_vote_reset (self->vote);
  }
  flow = gst_cvis_filter_push_event (filter, event);
  if (segment && self->model != NULL)
    push_names (self);
  return flow;
}

/* Warns once for an engine that the resident kernel did not answer. */
static void
warn_of_stall (GstCudaPbfMonitor *self)
{
  if (self->warned_of_stall || !pbf_engine_has_fallen_back (self->engine))
    return;
  self->warned_of_stall = TRUE;
  g_mutex_lock (&self->filter.stats_lock);
  self->mode = PBF_MODE_BATCH;
  g_mutex_unlock (&self->filter.stats_lock);
  GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
      ("The resident kernel stalled: the device is busy with other work. "
       "Frames are now computed in batches; none was lost. Set mode=batch, or "
       "free the device."),
      (NULL));
}

/* Warns once, in live pipelines, that downstream blocks this thread, which completes
 * batches. @begin: when the push of a batch began */
static void
warn_of_slow_pushes (GstCudaPbfMonitor *self, guint64 begin)
{
  const guint64 held = cvis_monotonic_ns () - begin;
  GstClockTime wait;

  GST_OBJECT_LOCK (self);
  wait = self->settings.max_latency;
  GST_OBJECT_UNLOCK (self);
  if (wait == 0 || self->slow_pushes == SLOW_PUSHES_WARNED_OF)
    return;
  self->slow_pushes = held > wait ? self->slow_pushes + 1 : 0;
  if (self->slow_pushes == SLOW_PUSHES_WARNED_OF
      && gst_cvis_query_is_live (self->filter.sinkpad))
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("max-latency of %.3g ms is exceeded: downstream blocks for %.3g ms "
         "with the frames of a batch. Put \"queue max-size-buffers=0 "
         "max-size-time=0\" after cudapbfmonitor.",
            (gdouble) wait * 1e-6, (gdouble) held * 1e-6),
        ("%u batches in a row", SLOW_PUSHES_WARNED_OF));
}

void
gst_pbf_output_add_way (GstCudaPbfMonitor *self, GstStructure *stats)
{
  static const gchar *const modes[] = { "auto", "batch", "graph",
    "persistent" };

  gst_structure_set (stats, "mode", G_TYPE_STRING,
      self->filter.context == NULL ? "cpu" : modes[self->mode], "result-way",
      G_TYPE_STRING, self->result_link != NULL ? "udp" : "pads", NULL);
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
  g_mutex_lock (&self->filter.stats_lock);
  s = gst_pbf_stats_take_recent (
      &self->stats, interval, &self->filter.segment, self->model);
  if (s != NULL)
    gst_pbf_output_add_way (self, s);
  g_mutex_unlock (&self->filter.stats_lock);
  if (s != NULL)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

/* Reports a new latency if a batch takes longer than the last answer to a LATENCY
 * query said; doubled each time, so that few reports follow. */
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

/* --- entries of the queue -------------------------------------------------- */

GstFlowReturn
gst_pbf_output_complete (GstCvisFilter *filter, gpointer item)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstPbfBatch *batch = item;
  PbfBatch *done;
  GstBuffer *records;
  const CvisPbfResult *first;
  GError *error = NULL;
  guint64 begin = cvis_monotonic_ns (), now;
  gboolean ok = pbf_engine_wait (self->engine, &done, &error);
  GstFlowReturn flow;
  gboolean learned;
  guint kept;

  if (!ok)
    return gst_cvis_filter_fail (filter, batch, NULL, error);
  now = cvis_monotonic_ns ();
  note_processing (self, now - begin);

  for (guint i = 0; i < batch->items->len; i++) {
    GstPbfItem *item = &g_array_index (batch->items, GstPbfItem, i);
    gst_queue_array_push_tail_struct (self->pending, item);
    item->object = NULL;
  }
  pbf_vote_apply (self->vote, batch->batch.results, batch->batch.n);
  learned = gst_pbf_learn_add (self, batch->batch.results, batch->batch.n);
  kept = keep_records (self, batch);
  send_results (self, batch->batch.results, kept, &now);
  count_batch (self, batch, kept, now);
  first = batch->batch.results;
  records = finish_records (batch, kept);
  gst_pbf_batch_unmap (batch);
  hand_out (self, batch, kept, records, first, now);

  warn_of_edge (self);
  warn_of_doubts (self, FALSE);
  warn_of_stall (self);
  post_recent (self);
  gst_pbf_batch_clear (batch);
  gst_cvis_filter_give_back (filter, batch);
  push_records (self, records);
  now = cvis_monotonic_ns ();
  flow = push_finished (self);
  if (flow == GST_FLOW_OK)
    warn_of_slow_pushes (self, now);
  if (learned && !gst_pbf_learn_finish (self))
    return GST_FLOW_ERROR;
  return flow;
}

void
gst_pbf_output_drain (GstCvisFilter *filter)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  PbfBatch *batch;

  if (self->engine != NULL)
    do
      pbf_engine_wait (self->engine, &batch, NULL);
    while (batch != NULL);
}

void
gst_pbf_output_discard (GstCudaPbfMonitor *self)
{
  GstPbfItem *item;

  if (self->filling != NULL)
    gst_cvis_filter_release (&self->filter, self->filling);
  self->filling = NULL;
  while ((item = gst_queue_array_pop_head_struct (self->pending)) != NULL)
    gst_pbf_item_clear (item);
  gst_buffer_list_unref (self->held);
  self->held = gst_buffer_list_new ();
}
