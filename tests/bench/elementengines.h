/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What the elements compute, through the library alone, for bench_elements. */
#pragma once

#include <gst/gst.h>
#include "cuda/core/device.h"

G_BEGIN_DECLS

/**
 * BenchInput: what an engine is timed with: the data of the element's pipeline
 * @context: (nullable): for CUDA; %NULL for the CPU
 * @file: (nullable): a surface's file, of the format that the row names
 * @model: (nullable): file of a network
 * @caps, @buffers, @n_buffers: what the row's feed gave
 */
typedef struct {
  CvisContext *context;
  const gchar *file;
  const gchar *model;
  GstCaps *caps;
  GstBuffer **buffers;
  guint n_buffers;
} BenchInput;

/* One round. @arg: the row's own. Memory and engines are made before the clock
 * starts.
 * Returns: nanoseconds a buffer */
typedef gdouble (*BenchEngine) (const BenchInput *input, gint arg);

/* From a file, or from its bytes in memory, to float32 samples */
gdouble bench_surface_load (const BenchInput *input, gint arg);
gdouble bench_surface_read (const BenchInput *input, gint arg);
/* Surfaces to bytes of a file. @arg: SurfaceFileFormat */
gdouble bench_surface_write (const BenchInput *input, gint arg);
gdouble bench_surface_paint (const BenchInput *input, gint arg);
/* Roughness of a surface of six levels; @arg 1: parameters of roughness, waviness
 * and form, without these */
gdouble bench_lifting (const BenchInput *input, gint arg);
/* Surfaces copied to the device, one behind the other */
gdouble bench_upload (const BenchInput *input, gint arg);
/* The slower of bench_surface_load() and bench_lifting() */
gdouble bench_surface_filter (const BenchInput *input, gint arg);
/* Signals followed and features, one thread. @arg: frames in a batch */
gdouble bench_meltpool (const BenchInput *input, gint arg);
/* @arg: MotionMethod */
gdouble bench_motion (const BenchInput *input, gint arg);
gdouble bench_motion_paint (const BenchInput *input, gint arg);
/* 40x40 pixels of each frame of GRAY8 */
gdouble bench_crop (const BenchInput *input, gint arg);

G_END_DECLS
