/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The stream of machine signals: derives from a frame's record the
 * information that the engine needs. docs/design/signals.md has the rules. */
#include "cuda/crop/track.h"

#include <math.h>

/* Number of late records in a row, counting up by one, that mean a restarted
 * counter instead of reordered records. */
#define RESTART_RUN 32

/* Records kept for signal_delay_us: 65 ms at 1 MHz, 3.3 s at 20 kHz. A power
 * of two. */
#define HISTORY 65536u

#define Q8_LIMIT (1 << 22)

/* State of the machine at the time of a record. */
typedef struct {
  guint64 t_ns;
  gint32 x_um, y_um;
  guint32 flags;
  guint32 layer;
  guint32 vector_id;
} State;

/* Ring of the latest states, by rising time; positions count all states ever
 * pushed. */
typedef struct {
  State *states; /* NULL without delay */
  guint64 first, end;
  guint64 last_found;
} History;

struct _PbfTrack {
  PbfTrackConfig config;
  PbfTrackCounts counts;
  guint64 delay_ns;
  History history;

  guint64 frame_index;
  gboolean synced;      /* last_counter holds */
  guint32 last_counter; /* highest counter so far */
  guint32 unread;       /* frames since then with unreadable records */
  guint32 late_counter;
  guint late_run;
};

typedef enum {
  ORDER_NEXT,
  ORDER_LATE,
  ORDER_REPEATED,
} Order;

/* --- history --------------------------------------------------------------- */

static const State *
history_at (const History *history, guint64 position)
{
  return &history->states[position % HISTORY];
}

static void
history_clear (History *history)
{
  history->first = history->end = history->last_found = 0;
}

static void
history_push (History *history, const State *state)
{
  if (history->end > history->first
      && state->t_ns < history_at (history, history->end - 1)->t_ns)
    history_clear (history);
  history->states[history->end++ % HISTORY] = *state;
  if (history->end - history->first > HISTORY)
    history->first++;
}

/* Position of the last state at or before @t_ns; the first one if all are
 * later. Requested times rise with the frames, so the result is mostly the
 * last one or the next. */
static guint64
history_find (History *history, guint64 t_ns)
{
  guint64 low = MAX (history->last_found, history->first), high = history->end;

  if (history_at (history, low)->t_ns <= t_ns) {
    while (low + 1 < high && history_at (history, low + 1)->t_ns <= t_ns)
      low++;
    history->last_found = low;
    return low;
  }
  low = history->first; /* a late record, or the history is too short */
  while (high - low > 1) {
    guint64 middle = low + (high - low) / 2;

    if (history_at (history, middle)->t_ns <= t_ns)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* a + (b - a) * part / whole, rounded to nearest; 0 <= part < whole < 2^31. */
static gint32
interpolate (gint32 a, gint32 b, gint64 part, gint64 whole)
{
  gint64 way = ((gint64) b - a) * part;

  return a + (way + (way < 0 ? -whole / 2 : whole / 2)) / whole;
}

/* The state at @t_ns: the one before it, interpolated along the scan vector
 * towards the one after it. */
static State
history_state (History *history, guint64 t_ns)
{
  guint64 position = history_find (history, t_ns);
  const State *a = history_at (history, position), *b;
  State state = *a;
  guint64 part, whole;

  if (position + 1 == history->end || t_ns <= a->t_ns)
    return state;
  b = history_at (history, position + 1);
  if (!(a->flags & b->flags & CVIS_PBF_SIGNAL_POSITION_VALID)
      || a->layer != b->layer || a->vector_id != b->vector_id)
    return state;

  part = t_ns - a->t_ns;
  whole = b->t_ns - a->t_ns;
  while (whole > G_MAXINT32) {
    part >>= 1;
    whole >>= 1;
  }
  state.x_um = interpolate (a->x_um, b->x_um, part, whole);
  state.y_um = interpolate (a->y_um, b->y_um, part, whole);
  return state;
}

/* --- frame counter --------------------------------------------------------- */

/* Handles a late record: continues a run that counts up, or starts one. */
static gboolean
late_run_is_restart (PbfTrack *track, guint32 counter)
{
  if (track->late_run && counter == track->late_counter + 1)
    track->late_run++;
  else
    track->late_run = 1;
  track->late_counter = counter;
  return track->late_run == RESTART_RUN;
}

static void
sync_to (PbfTrack *track, guint32 counter)
{
  track->synced = TRUE;
  track->last_counter = counter;
  track->unread = 0;
  track->late_run = 0;
}

static Order
follow_counter (PbfTrack *track, guint32 counter, PbfFrameInfo *info)
{
  gint32 ahead = (gint32) (counter - track->last_counter - 1);

  if (!track->synced) {
    sync_to (track, counter);
    return ORDER_NEXT;
  }
  if (ahead == -1) {
    track->late_run = 0;
    track->counts.repeated++;
    info->flags |= CVIS_PBF_RESULT_REPEATED;
    return ORDER_REPEATED;
  }
  if (ahead < 0) {
    if (late_run_is_restart (track, counter)) {
      info->flags |= CVIS_PBF_RESULT_GAP;
      if (track->history.states)
        history_clear (&track->history);
      sync_to (track, counter);
      return ORDER_NEXT;
    }
    track->counts.late++;
    info->flags |= CVIS_PBF_RESULT_LATE;
    return ORDER_LATE;
  }
  /* frames with unreadable records are not lost */
  if ((guint32) ahead > track->unread) {
    info->lost_before = ahead - track->unread;
    info->flags |= CVIS_PBF_RESULT_LOST_BEFORE;
    track->counts.lost += info->lost_before;
  }
  sync_to (track, counter);
  return ORDER_NEXT;
}

/* --- position -------------------------------------------------------------- */

static gint32
to_q8 (gdouble px)
{
  gdouble q8 = floor (px * 256.0 + 0.5);

  if (q8 >= Q8_LIMIT)
    return Q8_LIMIT;
  return q8 > -Q8_LIMIT ? (gint32) q8 : -Q8_LIMIT;
}

/* Returns: FALSE if @state has no position or the calibration cannot map it */
static gboolean
position_from_signals (const PbfTrack *track, const State *state, gint offset_x,
    gint offset_y, PbfFrameInfo *info)
{
  gdouble x, y;

  if (!state || !(state->flags & CVIS_PBF_SIGNAL_POSITION_VALID)
      || !pbf_calibration_apply (
          &track->config.calibration, state->x_um, state->y_um, &x, &y))
    return FALSE;
  info->e_x_q8 = to_q8 (x - offset_x);
  info->e_y_q8 = to_q8 (y - offset_y);
  return TRUE;
}

static void
set_position (const PbfTrack *track, const State *state, gint offset_x,
    gint offset_y, PbfFrameInfo *info)
{
  const PbfTrackConfig *config = &track->config;

  switch (config->source) {
    case PBF_POSITION_SOURCE_BRIGHTEST:
      info->position = PBF_POSITION_BRIGHTEST;
      break;
    case PBF_POSITION_SOURCE_BRIGHTEST_PIXEL:
      info->position = PBF_POSITION_BRIGHTEST_PIXEL;
      break;
    case PBF_POSITION_SOURCE_CENTROID:
      info->position = PBF_POSITION_CENTROID;
      break;
    case PBF_POSITION_SOURCE_FIXED:
      info->position = PBF_POSITION_GIVEN;
      info->e_x_q8 = to_q8 (config->fixed_x);
      info->e_y_q8 = to_q8 (config->fixed_y);
      break;
    case PBF_POSITION_SOURCE_SIGNALS:
      info->position = PBF_POSITION_GIVEN;
      if (position_from_signals (track, state, offset_x, offset_y, info))
        break;
      info->position = PBF_POSITION_BRIGHTEST;
      if (info->entry != PBF_EMPTY)
        info->flags |= CVIS_PBF_RESULT_POSITION_FALLBACK;
      break;
  }
}

/* --- frames ---------------------------------------------------------------- */

/* The state for the frame of @signal. Late and repeated records, whose time
 * may be in the past, use the history but are not added to it. */
static State
effective_state (PbfTrack *track, const CvisPbfSignal *signal, Order order)
{
  State own = {
    .t_ns = signal->t_ns,
    .x_um = signal->x_um,
    .y_um = signal->y_um,
    .flags = signal->flags,
    .layer = signal->layer,
    .vector_id = signal->vector_id,
  };

  if (!track->history.states)
    return own;
  if (order == ORDER_NEXT)
    history_push (&track->history, &own);
  return history_state (&track->history,
      signal->t_ns > track->delay_ns ? signal->t_ns - track->delay_ns : 0);
}

static void
frame_with_signal (PbfTrack *track, const CvisPbfSignal *signal, State *state,
    PbfFrameInfo *info)
{
  Order order = follow_counter (track, signal->frame_counter, info);

  *state = effective_state (track, signal, order);
  info->frame_counter = signal->frame_counter;
  info->layer = state->layer;
  info->vector_id = state->vector_id;
  info->x_um = state->x_um;
  info->y_um = state->y_um;
  info->signal_flags = state->flags;
  info->entry = order == ORDER_NEXT ? PBF_ENTER : PBF_EXCLUDE;

  if (!(state->flags & CVIS_PBF_SIGNAL_LASER_ON)) {
    track->counts.laser_off++;
    info->flags |= CVIS_PBF_RESULT_EMPTY;
    info->entry = track->config.empty_frames == PBF_EMPTY_FRAMES_ANALYSE
                      ? PBF_EXCLUDE
                      : PBF_EMPTY;
  }
  if (info->entry == PBF_EXCLUDE)
    info->flags |= CVIS_PBF_RESULT_EXCLUDED;
}

static void
frame_without_signal (PbfTrack *track, gboolean corrupt, PbfFrameInfo *info)
{
  info->frame_counter = info->frame_index;
  info->entry = PBF_ENTER_IF_LIT;
  if (track->unread < G_MAXINT32)
    track->unread++;
  if (!corrupt) {
    track->counts.no_signal++;
    info->flags |= CVIS_PBF_RESULT_NO_SIGNAL;
    return;
  }
  track->counts.corrupt++;
  info->flags |= CVIS_PBF_RESULT_SIGNAL_CORRUPT;
  if (track->synced)
    info->frame_counter = track->last_counter + track->unread;
}

PbfTrack *
pbf_track_new (const PbfTrackConfig *config)
{
  PbfTrack *track = g_new0 (PbfTrack, 1);

  track->config = *config;
  track->delay_ns = (guint64) config->signal_delay_us * 1000;
  if (track->delay_ns)
    track->history.states = g_new0 (State, HISTORY);
  return track;
}

void
pbf_track_free (PbfTrack *track)
{
  if (!track)
    return;
  g_free (track->history.states);
  g_free (track);
}

void
pbf_track_reset (PbfTrack *track)
{
  history_clear (&track->history);
  track->frame_index = 0;
  track->synced = FALSE;
  track->unread = 0;
  track->late_run = 0;
}

const PbfTrackCounts *
pbf_track_get_counts (PbfTrack *track)
{
  return &track->counts;
}

void
pbf_track_frame (PbfTrack *track, const CvisPbfSignal *signal,
    guint64 timestamp_ns, gint offset_x, gint offset_y, PbfFrameInfo *info)
{
  gboolean usable = signal && pbf_signal_is_intact (signal);
  State state;

  *info = (PbfFrameInfo){
    .timestamp_ns = timestamp_ns,
    .frame_index = track->frame_index++,
  };
  track->counts.frames++;
  if (usable)
    frame_with_signal (track, signal, &state, info);
  else
    frame_without_signal (track, signal != NULL, info);
  set_position (track, usable ? &state : NULL, offset_x, offset_y, info);
}
