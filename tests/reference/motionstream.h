/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A stream of made-up frames with the reference implementation's results, to
 * compare an engine with, to the bit.
 *
 *   GRand *random = g_rand_new_with_seed (seed);
 *   MotionConfig config;
 *   motion_random_config (random, round, &config);
 *   MotionStream *stream = motion_stream_new (random, &config, 8);
 *   MotionEngine *engine = motion_engine_new (&config, context, &error);
 *   motion_stream_run (stream, engine, random);
 *   motion_stream_free (stream);
 *
 * The expected results are made without the engine's front end: references
 * and prior fields follow from the frames' numbers alone. A stream can be run
 * any number of times, through a
 * new engine or once more through the same; between engines its config's
 * threads, depth_in_flight, and full for full-brute, may be changed. */
#pragma once

#include "cuda/core/fleet/fleet.h"
#include "motionreference.h"

typedef enum {
  MOTION_STREAM_MOVING,    /* a textured scene under a camera that moves by
                           * sub-pixels, with objects in front, some noise */
  MOTION_STREAM_REPEATED,  /* repeats the frame before */
  MOTION_STREAM_NEW_WORLD, /* a cut */
  MOTION_STREAM_NOISE,
  MOTION_STREAM_CONSTANT,
  MOTION_STREAM_EXTREME, /* the smallest and the largest sample in a pattern */
  MOTION_STREAM_KINDS
} MotionStreamKind;

/**
 * MotionStream:
 * @config: its settings
 * @n: frames
 * @kinds: of the frames
 * @last: of each frame: whether the stream ends after it (the next is a
 *   first one); of the last always
 * @jobs: the frames as they are submitted. Before a run a caller may let
 *   luma, vectors, blocks and planes lie elsewhere and say that they are
 *   pinned or on the device; motion_stream_run() reads the results where the
 *   jobs say (vectors and blocks have room for one more, which nobody may
 *   write)
 * @expected: the reference implementation's results
 * @made: the jobs with the memory that the stream made
 */
typedef struct {
  MotionConfig config;
  guint n;
  MotionStreamKind *kinds;
  gboolean *last;
  MotionJob *jobs;
  MotionJob *expected;
  MotionJob *made;
} MotionStream;

/* Random settings with a run time of a fraction of a second: every method,
 * depth, block size, window, border, tie; frames of 1 x 1 to about 160 x 110.
 * The first rounds are the methods with their defaults. */
void motion_random_config (GRand *random, guint round, MotionConfig *config);

/* @n frames of random kinds (mostly moving ones) in rows with random
 *   strides; bytes between the rows, and bits outside the samples, are
 *   random and must not be used. Some frames have no prediction or residual. */
MotionStream *motion_stream_new (
    GRand *random, const MotionConfig *config, guint n);
void motion_stream_free (MotionStream *stream);

/* Bytes of a job's luma, prediction or residual plane with that stride; the
 * last row has only its samples. */
gsize motion_stream_plane_size (const MotionConfig *config, gsize stride);

/* Overwrites all results and guards with a pattern, then submits the frames
 * to
 * @engine, waits for some of them in between at random (for as few as
 *   possible where @random is %NULL: so that as many as possible are in
 *   flight), and calls motion_engine_end() where streams end. Aborts, naming
 *   frame, field, block and member, unless everything is as the reference
 *   implementation has it, in order, and nothing else was written. */
void motion_stream_run (
    MotionStream *stream, MotionEngine *engine, GRand *random);
/* The same with a fleet of engines, whose finish() calls motion_finish(). */
void motion_stream_run_fleet (
    MotionStream *stream, CvisFleet *fleet, GRand *random);
