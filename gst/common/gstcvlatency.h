/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The latency of an element that has a number of frames in flight. A frame
 * leaves at the latest when so many have followed it as can be here: the next
 * one would wait for it. So it is that many times the frames' distance, which
 * the caps say; where they do not, it is the longest so far, doubled so that it
 * settles. Whatever changes it posts a LATENCY message. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstCvLatency: embedded in an element
 */
typedef struct {
  GstElement *element;
  /* under the element's object lock */
  GstClockTime distance; /* of two frames; 0: not known */
  guint n_frames;        /* that can be here at a time; 0: not known */
  /* of upstream's thread */
  gboolean fixed;    /* the caps say the distance */
  GstClockTime last; /* time of the frame before, if it had one */
} GstCvLatency;

/* For @element's init, and when it stops: nothing is known. */
void gst_cv_latency_init (GstCvLatency *latency, GstElement *element);

/* How many frames can be here at a time, from any thread. */
void gst_cv_latency_set_frames (GstCvLatency *latency, guint n_frames);
guint gst_cv_latency_get_frames (GstCvLatency *latency);

/* For upstream's thread: caps came with this framerate, @fps_n 0: none. */
void gst_cv_latency_set_framerate (
    GstCvLatency *latency, gint fps_n, gint fps_d);
/* A frame came. */
void gst_cv_latency_note_frame (GstCvLatency *latency, GstClockTime pts);
/* The next frame is not compared with the last one. */
void gst_cv_latency_break (GstCvLatency *latency);

/* Latency that the element adds; from any thread. */
GstClockTime gst_cv_latency_get (GstCvLatency *latency);

G_END_DECLS
