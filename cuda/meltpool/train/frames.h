/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Features of frames without a pipeline, for training: of frames that the caller has, or
 * of a recording. The numbers are those of cudapbfmonitor with its defaults, except
 * threshold and window. */
#pragma once

#include "cuda/meltpool/engine.h"

G_BEGIN_DECLS

typedef struct _PbfAnalyser PbfAnalyser;

/* Called for each frame, in order. Returns: FALSE with @error to end */
typedef gboolean (*PbfResultFunc) (
    const CvisPbfResult *result, gpointer data, GError **error);

/* @calibration: (nullable): text of nine numbers, %NULL: the default */
PbfAnalyser *pbf_analyser_new (guint width, guint height, guint threshold,
    guint window, guint threads, const gchar *calibration, PbfResultFunc func,
    gpointer data, GError **error);
void pbf_analyser_free (PbfAnalyser *analyser);

/* Adds a frame, which is copied. @signal: (nullable) */
gboolean pbf_analyser_push (PbfAnalyser *analyser, const guint8 *pixels,
    gsize stride, const CvisPbfSignal *signal, guint64 t_ns, GError **error);
/* Gives the results of the frames so far. */
gboolean pbf_analyser_flush (PbfAnalyser *analyser, GError **error);
/* The same, and forgets the window, for a new stream. */
gboolean pbf_analyser_end (PbfAnalyser *analyser, GError **error);

/* Analyses a recording (cuda/camera/recording.h). Damaged frames are left out.
 * Returns: FALSE with CVIS_ERROR or G_FILE_ERROR; the text names the file */
gboolean pbf_analyse_recording (const gchar *filename, guint threshold,
    guint window, guint threads, const gchar *calibration, PbfResultFunc func,
    gpointer data, GError **error);

/* The same of another kind of file. */
typedef gboolean (*PbfAnalyseFunc) (const gchar *filename, guint threshold,
    guint window, guint threads, PbfResultFunc func, gpointer data,
    GError **error);

G_END_DECLS
