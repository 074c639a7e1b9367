/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Features of the frames in HDF5 files (cuda/camera/raise.h), for training. Not part of the
 * library: only programs that read HDF5 need libhdf5. */
#pragma once

#include "cuda/meltpool/train/frames.h"

G_BEGIN_DECLS

/* A PbfAnalyseFunc: all layers, as pbfhdf5src and cudapbfmonitor read them: 20,000
 * frames/s, positions by brightness.
 * Returns: FALSE with CVIS_ERROR; the text names the file */
gboolean pbf_analyse_hdf5 (const gchar *filename, guint threshold, guint window,
    guint threads, PbfResultFunc func, gpointer data, GError **error);

G_END_DECLS
