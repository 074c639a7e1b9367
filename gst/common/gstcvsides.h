/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The request pads of an element that computes several things of a frame: one
 * pad of each kind, streams beside that of the source pad. They can be requested
 * and released at any time; each gets the events that its stream begins with
 * before its next buffer. All are pushed by the thread of the source pad. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstCvSides GstCvSides;

/* what a pad lacks before its next buffer */
typedef enum {
  GST_CV_LACKS_START = 1 << 0,
  GST_CV_LACKS_CAPS = 1 << 1,
  GST_CV_LACKS_SEGMENT = 1 << 2,
  GST_CV_LACKS_ALL = 7,
} GstCvLacks;

/* The caps of the pad of @kind; %NULL if they cannot be known. */
typedef GstCaps *(*GstCvSidesCaps) (
    GstElement *element, guint kind, GstPad *pad);

/* For @element, whose object lock guards them; @srcpad: the source pad that they
 * accompany; kinds are 0..@n - 1. */
GstCvSides *gst_cv_sides_new (
    GstElement *element, GstPad *srcpad, guint n, GstCvSidesCaps get_caps);
void gst_cv_sides_free (GstCvSides *sides);

/* For GstElementClass.request_new_pad. The pad has the source pad's functions
 * for events and queries, and its element private.
 * Returns: %NULL, after a warning in the log, if there is such a pad */
GstPad *gst_cv_sides_request (
    GstCvSides *sides, guint kind, GstPadTemplate *template);
void gst_cv_sides_release (GstCvSides *sides, GstPad *pad);
/* The pad with a reference, or %NULL. */
GstPad *gst_cv_sides_ref (GstCvSides *sides, guint kind);

/* From now on they lack @lacks before their next buffer. */
void gst_cv_sides_note_lacks (GstCvSides *sides, GstCvLacks lacks);
/* For who has discarded events, which stay with the source pad all the same:
 * takes @start, its STREAM_START event (or %NULL) of before. */
void gst_cv_sides_note_discard (GstCvSides *sides, GstEvent *start);
/* The pad of @kind may need other caps. */
void gst_cv_sides_renegotiate (GstCvSides *sides, guint kind);
/* Forgets how pushing went. */
void gst_cv_sides_reset_flow (GstCvSides *sides);

/* Pushes @event on all of them, out of turn. */
void gst_cv_sides_push_now (GstCvSides *sides, GstEvent *event);
/* Of an event that has its turn on the source pad. */
void gst_cv_sides_push_event (GstCvSides *sides, GstEvent *event);
/* Pushes what the pad lacks before a buffer.
 * Returns: FALSE if it cannot have one: there is no such pad, or no caps */
gboolean gst_cv_sides_start (GstCvSides *sides, guint kind);
/* Takes @buffer. */
void gst_cv_sides_push (GstCvSides *sides, guint kind, GstBuffer *buffer);
/* The source pad's @flow and those of the pads that are there: one that is not
 * linked, or has seen enough, does not hold up the others. */
GstFlowReturn gst_cv_sides_combine (GstCvSides *sides, GstFlowReturn flow);

G_END_DECLS
