/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The computation of each element, through the library only, for
 * bench_elements. */
#pragma once

#include <gst/gst.h>
#include "cuda/core/device/device.h"

G_BEGIN_DECLS

/**
 * BenchInput: input of an engine: the data of the element's pipeline
 * @context: (nullable): for CUDA; %NULL for the CPU
 * @file: (nullable): a surface file of the row's format
 * @model: (nullable): file of a network
 * @caps, @buffers, @n_buffers: output of the row's feed
 */
typedef struct {
  CvisContext *context;
  const gchar *file;
  const gchar *model;
  GstCaps *caps;
  GstBuffer **buffers;
  guint n_buffers;
} BenchInput;

/* One round. @arg: from the row. Memory and engines are set up before the
 * clock starts. Returns: nanoseconds for each buffer */
typedef gdouble (*BenchEngine) (const BenchInput *input, gint arg);

/* Reads a file, or its bytes in memory, to float32 samples */
gdouble bench_surface_load (const BenchInput *input, gint arg);
gdouble bench_surface_read (const BenchInput *input, gint arg);
/* Writes surfaces to bytes of a file. @arg: SurfaceFileFormat */
gdouble bench_surface_write (const BenchInput *input, gint arg);
gdouble bench_surface_paint (const BenchInput *input, gint arg);
/* Roughness of a surface with six levels; @arg 1: only the parameters of
 * roughness, waviness and form */
gdouble bench_lifting (const BenchInput *input, gint arg);
/* Surfaces copied to the device, one behind the other */
gdouble bench_upload (const BenchInput *input, gint arg);
/* The slower of bench_surface_load() and bench_lifting() */
gdouble bench_surface_filter (const BenchInput *input, gint arg);
/* Tracks signals and computes features, one thread. @arg: frames in a batch */
gdouble bench_meltpool (const BenchInput *input, gint arg);
/* @arg: MotionMethod */
gdouble bench_motion (const BenchInput *input, gint arg);
gdouble bench_motion_paint (const BenchInput *input, gint arg);
/* Crops 40x40 pixels of each GRAY8 frame */
gdouble bench_crop (const BenchInput *input, gint arg);

G_END_DECLS
