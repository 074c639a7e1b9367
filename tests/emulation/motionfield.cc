/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CUDA kernels of the regularised field (method=field), of the pictures and of the
 * prediction, run on the CPU as a backend of the motion engine, against the plain C
 * reference implementation, to the bit: settings and frames at random; larger frames
 * against the CPU backend.
 *
 *   emulation-motionfield [ROUNDS [SEED]] */
#include <cuda_runtime.h>

#include "cuda/motion/cuda/field.cu"
#include "cuda/motion/cuda/fieldcoarsest.cu"
#include "cuda/motion/cuda/fieldexpect.cu"
#include "cuda/motion/cuda/fieldfinish.cu"
#include "cuda/motion/cuda/fieldlevel.cu"
#include "cuda/motion/cuda/fieldpicture.cu"
#include "cuda/motion/cuda/finish.cu"
#include "cuda/motion/cuda/load.cu"
extern "C" {
#include "cuda/motion/backend.h"
#include "motionstream.h"
}

/* of methods that are not run here */
cudaError_t
motion_launch_sums (
    const MotionLayout *layout, const MotionDevicePicture *picture, cudaStream_t)
{
  g_assert_not_reached ();
}

/* --- the backend ------------------------------------------------------------------- */

/* @tasks: of each slot; searched when waited for */
struct _MotionBackend {
  MotionConfig config;
  MotionLayout layout;
  guint n_blocks, n_pictures;
  guint8 **memory;
  MotionDevicePicture *pictures;
  guint8 *staged, *fields;
  MotionTask *tasks;
  CvisMotionVector *vectors, *kept;
  CvisMotionBlock *blocks;
  MotionFound *found;
};

namespace {

guint8 *
allocate (gsize size)
{
  guint8 *memory = (guint8 *) aligned_alloc (128, (size + 127) / 128 * 128);

  memset (memory, 0xa5, size);
  return memory;
}

MotionBackend *
emulated_create (const MotionConfig *config, CvisContext *, GError **)
{
  MotionBackend *b = g_new0 (MotionBackend, 1);
  const gsize size = motion_field_memory_cut (config, NULL, NULL);
  const guint n_fields = motion_config_get_n_fields (config);

  b->config = *config;
  b->config.lambda = 0;
  motion_layout_init (&b->layout, config);
  b->n_blocks =
      motion_config_get_columns (config) * motion_config_get_rows (config);
  b->n_pictures = motion_config_get_n_pictures (config);
  b->memory = g_new0 (guint8 *, b->n_pictures);
  b->pictures = g_new0 (MotionDevicePicture, b->n_pictures);
  for (guint i = 0; i < b->n_pictures; i++) {
    b->memory[i] =
        allocate (motion_picture_cut (config, &b->layout, NULL, NULL));
    motion_picture_cut (config, &b->layout, b->memory[i], &b->pictures[i]);
  }
  b->staged = allocate ((gsize) b->layout.staged_pitch * config->height);
  b->fields = allocate (n_fields * size);
  memset (b->fields, 0, n_fields * size);
  b->tasks = g_new0 (MotionTask, motion_config_get_n_slots (config));
  b->vectors = g_new0 (CvisMotionVector, n_fields * b->n_blocks);
  b->kept = g_new0 (CvisMotionVector, n_fields * b->n_blocks);
  b->blocks = g_new0 (CvisMotionBlock, n_fields * b->n_blocks);
  b->found = g_new0 (MotionFound, n_fields * b->n_blocks);
  return b;
}

void
emulated_destroy (MotionBackend *b)
{
  for (guint i = 0; i < b->n_pictures; i++)
    free (b->memory[i]);
  free (b->staged);
  free (b->fields);
  g_free (b->memory);
  g_free (b->pictures);
  g_free (b->tasks);
  g_free (b->vectors);
  g_free (b->kept);
  g_free (b->blocks);
  g_free (b->found);
  g_free (b);
}

gboolean
emulated_load (MotionBackend *b, guint picture, MotionJob *job, GError **)
{
  const MotionConfig *config = &b->config;

  motion_launch_sample (config, &b->layout, motion_job_get_row (config, job, 0),
      job->stride, b->staged, NULL);
  motion_launch_load (config, &b->layout, b->staged, job->shift,
      &b->pictures[picture], NULL);
  return TRUE;
}

gboolean
emulated_search (MotionBackend *b, guint slot, const MotionTask *task, GError **)
{
  b->tasks[slot] = *task;
  return TRUE;
}

MotionDeviceTask
describe (MotionBackend *b, const MotionTask *task)
{
  MotionDeviceTask t = {};

  t.config = b->config;
  t.layout = b->layout;
  t.columns = motion_config_get_columns (&b->config);
  t.n_blocks = b->n_blocks;
  t.n_fields = task->job->n_fields;
  t.current = b->pictures[task->picture];
  motion_field_memory_cut (&b->config, b->fields, &t.memory);
  for (guint i = 0; i < t.n_fields; i++) {
    const gsize first = (gsize) i * b->n_blocks;

    t.fields[i].reference = b->pictures[task->reference[i]];
    t.fields[i].vectors = b->vectors + first;
    t.fields[i].kept = b->kept + first;
    t.fields[i].blocks = b->blocks + first;
    t.fields[i].found = b->found + first;
  }
  return t;
}

void
predict (MotionBackend *b, MotionDeviceTask *t, MotionJob *job)
{
  const gsize size = (gsize) b->layout.staged_pitch * b->config.height;
  const gsize bytes = b->config.depth > 8 ? 2 : 1;
  guint8 *const results[] = { job->prediction, job->residual };
  const gsize strides[] = { job->prediction_stride, job->residual_stride };
  guint8 *planes[] = { allocate (size), allocate (size) };

  t->prediction = planes[0];
  t->residual = planes[1];
  motion_launch_predict (t, NULL);
  for (guint i = 0; i < 2; i++) {
    for (guint y = 0; y < b->config.height && results[i]; y++)
      memcpy (results[i] + y * strides[i], planes[i] + y * b->layout.staged_pitch,
          b->config.width * bytes);
    free (planes[i]);
  }
}

gboolean
emulated_wait (MotionBackend *b, guint slot, GError **)
{
  MotionJob *job = b->tasks[slot].job;
  MotionDeviceTask t = describe (b, &b->tasks[slot]);

  if (t.n_fields > 0) {
    motion_launch_field (&t, NULL);
    job->flags |= motion_field_frame_flags (t.current.survey->noise);
  }
  for (guint i = 0; i < t.n_fields; i++) {
    memcpy (job->fields[i].vectors, t.fields[i].vectors,
        b->n_blocks * sizeof (CvisMotionVector));
    memcpy (job->fields[i].blocks, t.fields[i].blocks,
        b->n_blocks * sizeof (CvisMotionBlock));
  }
  if (job->prediction || job->residual)
    predict (b, &t, job);
  return TRUE;
}

const MotionBackendOps emulated = { "emulated", emulated_create,
  emulated_destroy, emulated_load, emulated_search, emulated_wait };

/* --- against the reference implementation ---------------------------------------------- */

void
check_random (GRand *random, guint round)
{
  MotionConfig config;
  MotionStream *stream;
  MotionEngine *engine;

  motion_random_config (random, round, &config);
  config.method = MOTION_METHOD_FIELD;
  stream = motion_stream_new (random, &config, 3);
  engine = motion_engine_new_on (&emulated, &stream->config, NULL, NULL);
  motion_stream_run (stream, engine, random);
  motion_engine_free (engine);
  motion_stream_free (stream);
}

/* --- larger frames against the CPU backend --------------------------------------------- */

#define FRAMES 3

/* A smooth texture under a change of light, with an object that moves on its own, noise,
 * and bars; the object is new in the last frame. */
void
draw (const MotionConfig *config, guint frame, GRand *random, guint8 *luma)
{
  for (guint y = 0; y < config->height; y++)
    for (guint x = 0; x < config->width; x++, luma++) {
      const double u = x + 5.25 * frame, v = y + 2.5 * frame;
      double value = 120 + 40 * sin (u * 0.17) * cos (v * 0.11)
                     + 30 * sin (u * 0.031 + v * 0.043);

      if (hypot (x - config->width / 2.0 + 14 * frame,
              y - config->height / 2.0 - 9 * frame)
          < 24)
        value = frame == 2 ? g_rand_int_range (random, 0, 256)
                           : 128 + 80 * sin (x * 0.5 + 7 * frame) * cos (y * 0.4);
      value = value * (1 - 0.06 * frame) + g_rand_int_range (random, -4, 5);
      *luma = y < 10 || y >= config->height - 10
                  ? 16
                  : (guint8) CLAMP (value, 0, 255);
    }
}

struct Result {
  CvisMotionVector *vectors;
  CvisMotionBlock *blocks;
  guint32 flags;
};

/* The field of the last frame. */
Result
search (const MotionBackendOps *ops, const MotionConfig *config, guint seed)
{
  const gsize n = (gsize) motion_config_get_columns (config)
                  * motion_config_get_rows (config);
  MotionEngine *engine = motion_engine_new_on (ops, config, NULL, NULL);
  GRand *random = g_rand_new_with_seed (seed);
  guint8 *luma = g_new (guint8, config->width * config->height);
  Result result = { g_new0 (CvisMotionVector, n), g_new0 (CvisMotionBlock, n),
    0 };

  for (guint i = 0; i < FRAMES; i++) {
    MotionJob job = {}, *done;

    draw (config, i, random, luma);
    job.luma = luma;
    job.stride = config->width;
    job.fields[0].vectors = result.vectors;
    job.fields[0].blocks = result.blocks;
    g_assert_true (motion_engine_submit (engine, &job, NULL));
    g_assert_true (motion_engine_wait (engine, &done, NULL));
    result.flags = job.flags;
  }
  motion_engine_free (engine);
  g_rand_free (random);
  g_free (luma);
  return result;
}

void
check_large (guint seed)
{
  static const guint ranges[] = { 64, 24, 128, 64 };

  for (guint i = 0; i < 4; i++) {
    MotionConfig config;
    Result own, cpu;
    gsize n;

    motion_config_init (&config);
    config.method = MOTION_METHOD_FIELD;
    config.width = 333;
    config.height = 235;
    config.block_size = 8u << i;
    config.range = ranges[i];
    config.subpel = MOTION_SUBPEL_QUARTER;
    n = (gsize) motion_config_get_columns (&config)
        * motion_config_get_rows (&config);
    own = search (&emulated, &config, seed);
    cpu = search (&motion_backend_cpu, &config, seed);
    g_assert_cmphex (own.flags, ==, cpu.flags);
    g_assert_cmpmem (own.vectors, n * sizeof *own.vectors, cpu.vectors,
        n * sizeof *cpu.vectors);
    g_assert_cmpmem (own.blocks, n * sizeof *own.blocks, cpu.blocks,
        n * sizeof *cpu.blocks);
    g_free (own.vectors);
    g_free (own.blocks);
    g_free (cpu.vectors);
    g_free (cpu.blocks);
  }
}

} // namespace

int
main (int argc, char **argv)
{
  const guint rounds = argc > 1 ? (guint) atoi (argv[1]) : 24;
  const guint seed = argc > 2 ? (guint) atoi (argv[2]) : 1;
  GRand *random = g_rand_new_with_seed (seed);

  for (guint round = 0; round < rounds; round++)
    check_random (random, round);
  check_large (seed);
  g_rand_free (random);
  return 0;
}
