/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The latency of an element with a fixed number of frames in flight. When that many
 * have followed a frame, the next one waits for it to leave. So the latency is
 * that number times the time between frames. The caps give that time; without a
 * framerate it is estimated, and doubled whenever frames are further apart. Each
 * change posts a LATENCY message. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstCvisLatency: embedded in an element
 */
typedef struct {
  GstElement *element;
  /* under the element's object lock */
  GstClockTime distance; /* time between frames; 0: not known */
  guint n_frames;        /* most frames in flight; 0: not known */
  /* of upstream's thread */
  gboolean fixed;    /* the caps have a framerate */
  GstClockTime last; /* time of the last frame */
} GstCvisLatency;

/* For @element's init, and when it stops: forgets frames and framerate. */
void gst_cvis_latency_init (GstCvisLatency *latency, GstElement *element);

/* Sets how many frames can be in flight; from any thread. */
void gst_cvis_latency_set_frames (GstCvisLatency *latency, guint n_frames);
guint gst_cvis_latency_get_frames (GstCvisLatency *latency);

/* For upstream's thread: the framerate of new caps; @fps_n 0: none. */
void gst_cvis_latency_set_framerate (
    GstCvisLatency *latency, gint fps_n, gint fps_d);
/* For upstream's thread: a frame arrived. */
void gst_cvis_latency_note_frame (GstCvisLatency *latency, GstClockTime pts);
/* For upstream's thread: the time to the next frame is not measured. */
void gst_cvis_latency_break (GstCvisLatency *latency);

/* Latency that the element adds; from any thread. */
GstClockTime gst_cvis_latency_get (GstCvisLatency *latency);

G_END_DECLS
