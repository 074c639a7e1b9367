/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "motionstream.h"

#include <string.h>

#include "cuda/motion/constant.h"
#include "cuda/motion/summary.h"

#define POISON 0xa5

/* --- settings ------------------------------------------------------------- */

static guint
pick (GRand *random, const guint *from, guint n)
{
  return from[g_rand_int_range (random, 0, (gint32) n)];
}

/* Sample differences that the reference implementation computes for a frame,
 * about. */
static guint64
get_work (const MotionConfig *config)
{
  guint64 side = 2 * config->range + 1;

  return side * side * config->width * config->height
         * motion_config_get_n_fields (config);
}

void
motion_random_config (GRand *random, guint round, MotionConfig *config)
{
  static const guint widths[] = { 1, 5, 8, 9, 16, 31, 33, 48, 64, 65, 79, 96,
    100, 129, 160 };
  static const guint heights[] = { 1, 3, 8, 11, 16, 32, 33, 47, 63, 64, 72, 80,
    110 };
  static const guint ranges[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 64,
    128 };

  motion_config_init (config);
  config->width = 64;
  config->height = 48;
  config->range = 16;
  config->method = round % 4;
  config->granularity = round / 4 % 4;
  if (round < 4)
    return;
  config->width = pick (random, widths, G_N_ELEMENTS (widths));
  config->height = pick (random, heights, G_N_ELEMENTS (heights));
  config->depth = g_rand_boolean (random) ? 8 : 10;
  config->block_size = 8u << g_rand_int_range (random, 0, 4);
  config->range = pick (random, ranges, G_N_ELEMENTS (ranges));
  config->window = g_rand_boolean (random);
  config->border = g_rand_boolean (random);
  config->tie = g_rand_boolean (random);
  config->lambda = (guint) g_rand_int_range (random, 0, 3)
                   * (guint) g_rand_int_range (random, 0, 128);
  config->subpel = (guint) g_rand_int_range (random, 0, 3);
  config->references = 1 + (guint) g_rand_int_range (random, 0, 7) % 4;
  config->bidirectional = g_rand_int_range (random, 0, 3) == 0;
  config->threads = (guint) g_rand_int_range (random, 0, 4);
  config->depth_in_flight = (guint) g_rand_int_range (random, 1, 5);
  while (get_work (config) > 8000000 && config->references > 1)
    config->references--;
  while (get_work (config) > 8000000 && config->range > 1)
    config->range /= 2;
}

/* --- frames --------------------------------------------------------------- */

/* An endless texture: the mean of random lattices, the finest with cells of
 * 2 to 4 pixels. */
typedef struct {
  guint32 seed;
  gdouble cell;
} Texture;

static gdouble
lattice (guint32 seed, gint x, gint y)
{
  guint32 h = seed ^ (guint32) x * 0x9e3779b1u ^ (guint32) y * 0x85ebca77u;

  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return ((h ^ h >> 15) & 0xffff) / 65535.0;
}

static gdouble
texture_at (const Texture *texture, gdouble x, gdouble y)
{
  gdouble sum = 0, weight = 0;

  for (guint octave = 0; octave < 3; octave++) {
    gdouble cell = texture->cell * (1 << 2 * octave);
    gdouble u = x / cell + 4096, v = y / cell + 4096;
    gint i = (gint) u, j = (gint) v;
    guint32 seed = texture->seed + octave;

    u -= i;
    v -= j;
    sum += (1 << octave)
           * ((1 - v)
                   * ((1 - u) * lattice (seed, i, j)
                       + u * lattice (seed, i + 1, j))
               + v
                     * ((1 - u) * lattice (seed, i, j + 1)
                         + u * lattice (seed, i + 1, j + 1)));
    weight += 1 << octave;
  }
  return sum / weight;
}

#define OBJECTS 3

/* An object with its own texture; the first one is the background. */
typedef struct {
  Texture texture;
  gdouble x, y, w, h;
  gdouble dx, dy; /* pixels a frame */
} Object;

typedef struct {
  Object objects[1 + OBJECTS];
  gdouble gain, noise;
} World;

static void
world_init (World *world, GRand *random, const MotionConfig *config)
{
  gdouble reach = MIN (config->range, 12);

  for (guint i = 0; i <= OBJECTS; i++) {
    Object *o = &world->objects[i];

    o->texture.seed = g_rand_int (random);
    o->texture.cell = g_rand_double_range (random, 2.0, 4.0);
    o->x = g_rand_double_range (random, 0, config->width);
    o->y = g_rand_double_range (random, 0, config->height);
    o->w = g_rand_double_range (random, 4, 4 + config->width / 2.0);
    o->h = g_rand_double_range (random, 4, 4 + config->height / 2.0);
    /* quarter pixels, or often whole ones */
    o->dx = g_rand_int_range (random, -8, 9) / 8.0 * reach;
    o->dy = g_rand_int_range (random, -8, 9) / 8.0 * reach;
  }
  world->gain = g_rand_double_range (random, 0.05, 1.0);
  world->noise = MAX (0.0, g_rand_double_range (random, -0.02, 0.02));
}

static gdouble
world_at (const World *world, guint frame, guint x, guint y)
{
  for (guint i = OBJECTS; i > 0; i--) {
    const Object *o = &world->objects[i];
    gdouble u = x - o->x - frame * o->dx, v = y - o->y - frame * o->dy;

    if (u >= 0 && u < o->w && v >= 0 && v < o->h)
      return texture_at (&o->texture, u, v);
  }
  return texture_at (&world->objects[0].texture,
      x - frame * world->objects[0].dx, y - frame * world->objects[0].dy);
}

/* The samples of the frame that show @world. */
static void
draw (const World *world, GRand *random, const MotionConfig *config,
    guint frame, guint16 *samples)
{
  gdouble most = (1 << config->depth) - 1;

  for (guint y = 0; y < config->height; y++) {
    for (guint x = 0; x < config->width; x++) {
      gdouble value = 0.5 + world->gain * (world_at (world, frame, x, y) - 0.5);

      if (world->noise > 0)
        value += g_rand_double_range (random, -world->noise, world->noise);
      *samples++ = (guint16) (CLAMP (value, 0.0, 1.0) * most + 0.5);
    }
  }
}

/* Fills @samples, which contain the frame before. */
static void
make_frame (MotionStreamKind kind, const World *world, GRand *random,
    const MotionConfig *config, guint frame, guint16 *samples)
{
  guint n = config->width * config->height;
  guint16 most = (guint16) ((1 << config->depth) - 1);
  guint16 constant = (guint16) g_rand_int_range (random, 0, most + 1);
  guint period = (guint) g_rand_int_range (random, 1, 9);

  switch (kind) {
    case MOTION_STREAM_MOVING:
    case MOTION_STREAM_NEW_WORLD:
      draw (world, random, config, frame, samples);
      break;
    case MOTION_STREAM_NOISE:
      for (guint i = 0; i < n; i++)
        samples[i] = (guint16) g_rand_int_range (random, 0, most + 1);
      break;
    case MOTION_STREAM_CONSTANT:
      for (guint i = 0; i < n; i++)
        samples[i] = constant;
      break;
    case MOTION_STREAM_EXTREME:
      for (guint i = 0; i < n; i++)
        samples[i] =
            (i % config->width / period ^ i / config->width / period) & 1 ? most
                                                                          : 0;
      break;
    default:
      break;
  }
}

static MotionStreamKind
random_kind (GRand *random, guint frame)
{
  gint32 dice = g_rand_int_range (random, 0, 24);

  if (frame == 0)
    return MOTION_STREAM_NEW_WORLD;
  return dice < MOTION_STREAM_KINDS ? (MotionStreamKind) dice
                                    : MOTION_STREAM_MOVING;
}

/* --- planes --------------------------------------------------------------- */

gsize
motion_stream_plane_size (const MotionConfig *config, gsize stride)
{
  gsize bytes = config->depth > 8 ? 2 : 1;

  return stride * (config->height - 1) + bytes * config->width;
}

static gsize
random_stride (GRand *random, const MotionConfig *config)
{
  gsize bytes = config->depth > 8 ? 2 : 1;

  return bytes * (config->width + (gsize) g_rand_int_range (random, 0, 3) * 7);
}

/* Luma as a source may provide it: random bytes between the samples. */
static void
write_luma (GRand *random, const MotionConfig *config, const guint16 *samples,
    MotionJob *job)
{
  gsize size;
  guint8 *luma;

  job->shift = config->depth > 8 && g_rand_boolean (random) ? 6 : 0;
  job->stride = random_stride (random, config);
  size = motion_stream_plane_size (config, job->stride);
  luma = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    luma[i] = (guint8) g_rand_int (random);
  for (guint y = 0; y < config->height; y++) {
    guint8 *row = luma + y * job->stride;

    for (guint x = 0; x < config->width; x++, samples++) {
      guint value = row[2 * x * (config->depth > 8)];

      if (config->depth == 8) {
        row[x] = (guint8) *samples;
        continue;
      }
      value |= (guint) row[2 * x + 1] << 8;
      value &= ~(1023u << job->shift);
      value |= (guint) *samples << job->shift;
      row[2 * x] = (guint8) value;
      row[2 * x + 1] = (guint8) (value >> 8);
    }
  }
  job->luma = luma;
}

static guint
get_n_blocks (const MotionConfig *config)
{
  return motion_config_get_columns (config) * motion_config_get_rows (config);
}

/* Memory for results, with guard bytes after vectors and blocks. */
static void
make_room (const MotionConfig *config, MotionJob *job)
{
  guint n = get_n_blocks (config) + 1;

  for (guint i = 0; i < motion_config_get_n_fields (config); i++) {
    job->fields[i].vectors = g_new (CvisMotionVector, n);
    job->fields[i].blocks = g_new (CvisMotionBlock, n);
  }
  if (job->prediction_stride)
    job->prediction =
        g_malloc (motion_stream_plane_size (config, job->prediction_stride));
  if (job->residual_stride)
    job->residual =
        g_malloc (motion_stream_plane_size (config, job->residual_stride));
}

/* Sets the destinations of the results. */
static void
poison (const MotionConfig *config, MotionJob *job)
{
  guint n = get_n_blocks (config) + 1;

  for (guint i = 0; i < motion_config_get_n_fields (config); i++) {
    memset (job->fields[i].vectors, POISON, n * sizeof (CvisMotionVector));
    memset (job->fields[i].blocks, POISON, n * sizeof (CvisMotionBlock));
  }
  if (job->prediction)
    memset (job->prediction, POISON,
        motion_stream_plane_size (config, job->prediction_stride));
  if (job->residual)
    memset (job->residual, POISON,
        motion_stream_plane_size (config, job->residual_stride));
}

/* --- the reference implementation's results ------------------------------- */

static gboolean
is_repeated (const MotionConfig *config, const MotionField *field)
{
  guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);

  for (guint i = 0; i < n; i++)
    if (field->blocks[i].zero_sad > 0)
      return FALSE;
  return TRUE;
}

/* Computes the fields of frame @i in the stream of frames @first to @end -
 * 1. */
static void
expect_fields (MotionStream *stream, MotionPicture *const *pictures, guint i,
    guint first, guint end)
{
  const MotionJob *before = i > first ? &stream->expected[i - 1] : NULL;
  MotionJob *job = &stream->expected[i];

  for (guint f = 0; f < 2 * stream->config.references; f++) {
    gint distance = f % 2 == 0 ? -(gint) (f / 2) - 1 : (gint) (f / 2) + 1;
    gint there = (gint) i + distance;
    MotionField *field = &job->fields[job->n_fields];
    const CvisMotionVector *prior = NULL;

    if (there < (gint) first || there >= (gint) end
        || (distance > 0 && !stream->config.bidirectional))
      continue;
    if (before && job->n_fields < before->n_fields
        && before->fields[job->n_fields].distance == distance)
      prior = before->fields[job->n_fields].vectors;
    field->distance = distance;
    motion_reference_search (&stream->config, pictures[i], pictures[there],
        prior, field->vectors, field->blocks);
    if (distance == -1 && is_repeated (&stream->config, field))
      job->flags |= CVIS_MOTION_FRAME_DUPLICATE;
    job->n_fields++;
  }
  if (i == first)
    job->flags |= CVIS_MOTION_FRAME_FIRST;
  if (stream->config.method == MOTION_METHOD_FIELD && job->n_fields > 0)
    job->flags |=
        motion_field_frame_flags (motion_reference_noise (pictures[i]));
}

static void
expect_planes (MotionStream *stream, MotionPicture *const *pictures, guint i)
{
  const MotionConfig *config = &stream->config;
  const MotionPicture *references[CVIS_MOTION_MAX_FIELDS];
  gsize n = (gsize) config->width * config->height;
  guint16 *prediction = g_new (guint16, n), *residual = g_new (guint16, n);
  MotionJob *job = &stream->expected[i];

  for (guint f = 0; f < job->n_fields; f++)
    references[f] = pictures[(gint) i + job->fields[f].distance];
  motion_reference_predict (config, pictures[i], references, job->fields,
      job->n_fields, prediction, residual);
  motion_reference_store (
      config, prediction, job->prediction, job->prediction_stride);
  motion_reference_store (
      config, residual, job->residual, job->residual_stride);
  g_free (prediction);
  g_free (residual);
}

static void
expect (MotionStream *stream)
{
  MotionPicture **pictures = g_new (MotionPicture *, stream->n);
  MotionConstant *constant = motion_constant_new (&stream->config, NULL);
  guint first = 0;

  for (guint i = 0; i < stream->n; i++)
    pictures[i] = motion_picture_new (&stream->config, &stream->jobs[i]);
  for (guint i = 0; i < stream->n; i++) {
    guint end = i;

    while (!stream->last[end++])
      ;
    expect_fields (stream, pictures, i, first, end);
    if (i == first)
      motion_constant_restart (constant);
    motion_constant_mark (
        constant, stream->expected[i].fields, stream->expected[i].n_fields);
    for (guint f = 0; f < stream->expected[i].n_fields; f++)
      motion_summarise (&stream->config, &stream->expected[i].fields[f]);
    expect_planes (stream, pictures, i);
    if (stream->last[i])
      first = i + 1;
  }
  for (guint i = 0; i < stream->n; i++)
    motion_picture_free (pictures[i]);
  motion_constant_free (constant);
  g_free (pictures);
}

/* --- making and freeing --------------------------------------------------- */

static void
make_frames (MotionStream *stream, GRand *random)
{
  const MotionConfig *config = &stream->config;
  guint16 *samples = g_new (guint16, config->width * config->height);
  World world;

  for (guint i = 0; i < stream->n; i++) {
    MotionJob *job = &stream->made[i];

    stream->kinds[i] = random_kind (random, i);
    stream->last[i] =
        i + 1 == stream->n || g_rand_int_range (random, 0, 12) == 0;
    if (stream->kinds[i] == MOTION_STREAM_NEW_WORLD)
      world_init (&world, random, config);
    make_frame (stream->kinds[i], &world, random, config, i, samples);
    write_luma (random, config, samples, job);
    if (g_rand_int_range (random, 0, 4) > 0)
      job->prediction_stride = random_stride (random, config);
    if (g_rand_int_range (random, 0, 4) > 0)
      job->residual_stride = random_stride (random, config);
  }
  g_free (samples);
}

MotionStream *
motion_stream_new (GRand *random, const MotionConfig *config, guint n)
{
  MotionStream *stream = g_new0 (MotionStream, 1);

  stream->config = *config;
  stream->n = n;
  stream->kinds = g_new (MotionStreamKind, n);
  stream->last = g_new (gboolean, n);
  stream->made = g_new0 (MotionJob, n);
  stream->expected = g_new0 (MotionJob, n);
  stream->jobs = g_new (MotionJob, n);
  make_frames (stream, random);
  for (guint i = 0; i < n; i++) {
    stream->expected[i] = stream->made[i];
    stream->expected[i].luma = NULL;
    make_room (config, &stream->made[i]);
    make_room (config, &stream->expected[i]);
    poison (config, &stream->expected[i]);
    stream->jobs[i] = stream->made[i];
  }
  expect (stream);
  return stream;
}

static void
job_clear (MotionJob *job)
{
  g_free ((gpointer) job->luma);
  for (guint i = 0; i < CVIS_MOTION_MAX_FIELDS; i++) {
    g_free (job->fields[i].vectors);
    g_free (job->fields[i].blocks);
  }
  g_free (job->prediction);
  g_free (job->residual);
}

void
motion_stream_free (MotionStream *stream)
{
  for (guint i = 0; i < stream->n; i++) {
    job_clear (&stream->made[i]);
    job_clear (&stream->expected[i]);
  }
  g_free (stream->kinds);
  g_free (stream->last);
  g_free (stream->made);
  g_free (stream->expected);
  g_free (stream->jobs);
  g_free (stream);
}

/* --- comparing ------------------------------------------------------------ */

static gchar *
describe (const MotionStream *stream)
{
  const MotionConfig *c = &stream->config;

  return g_strdup_printf (
      "%ux%u, depth %u, method %d, granularity %d, block-size %u, range %u, "
      "window %d, border %d, tie %d, lambda %u, subpel %d, references %u, "
      "bidirectional %d, threads %u, in flight %u",
      c->width, c->height, c->depth, c->method, c->granularity, c->block_size,
      c->range, c->window, c->border, c->tie, c->lambda, c->subpel,
      c->references, c->bidirectional, c->threads, c->depth_in_flight);
}

static void fail (const MotionStream *stream, guint frame, const gchar *format,
    ...) G_GNUC_PRINTF (3, 4) G_GNUC_NORETURN;

static void
fail (const MotionStream *stream, guint frame, const gchar *format, ...)
{
  gchar *what, *settings = describe (stream);
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_error ("frame %u of %u (kind %d, shift %u): %s; %s", frame, stream->n,
      stream->kinds[frame], stream->jobs[frame].shift, what, settings);
}

static void
compare_number (const MotionStream *stream, guint frame, guint field,
    guint block, const gchar *member, gint64 got, gint64 want)
{
  guint columns = motion_config_get_columns (&stream->config);

  if (got != want)
    fail (stream, frame,
        "field %u (distance %d), block (%u, %u): %s is %" G_GINT64_FORMAT
        ", not %" G_GINT64_FORMAT,
        field, stream->expected[frame].fields[field].distance, block % columns,
        block / columns, member, got, want);
}

static void
compare_block (
    const MotionStream *stream, guint frame, guint field, guint block)
{
  const MotionField *f = &stream->jobs[frame].fields[field];
  const MotionField *e = &stream->expected[frame].fields[field];
  const CvisMotionVector *v = &f->vectors[block], *w = &e->vectors[block];
  const CvisMotionBlock *b = &f->blocks[block], *c = &e->blocks[block];

#define COMPARE(member, got, want)                                             \
  compare_number (stream, frame, field, block, member, got, want)
  COMPARE ("x", v->x, w->x);
  COMPARE ("y", v->y, w->y);
  COMPARE ("cost", v->cost, w->cost);
  COMPARE ("sad", b->sad, c->sad);
  COMPARE ("zero_sad", b->zero_sad, c->zero_sad);
  COMPARE ("second", b->second, c->second);
  COMPARE ("intra", b->intra, c->intra);
  COMPARE ("sse", b->sse, c->sse);
  COMPARE ("flags", b->flags, c->flags);
#undef COMPARE
}

static void
compare_field (const MotionStream *stream, guint frame, guint field)
{
  const MotionField *f = &stream->jobs[frame].fields[field];
  const MotionField *e = &stream->expected[frame].fields[field];
  guint n = get_n_blocks (&stream->config);

  if (f->distance != e->distance)
    fail (stream, frame, "field %u has distance %d, not %d", field, f->distance,
        e->distance);
  for (guint i = 0; i < n; i++)
    compare_block (stream, frame, field, i);
  if (memcmp (&f->vectors[n], &e->vectors[n], sizeof (CvisMotionVector)) != 0
      || memcmp (&f->blocks[n], &e->blocks[n], sizeof (CvisMotionBlock)) != 0)
    fail (stream, frame, "field %u: written behind the last block", field);
  if (memcmp (&f->summary, &e->summary, sizeof (CvisMotionSummary)) != 0)
    fail (stream, frame, "field %u: another summary", field);
}

static void
compare_plane (const MotionStream *stream, guint frame, const gchar *what,
    const guint8 *got, const guint8 *want, gsize stride)
{
  gsize size = motion_stream_plane_size (&stream->config, stride);
  gsize bytes = stream->config.depth > 8 ? 2 : 1;

  for (gsize i = 0; got && i < size; i++)
    if (got[i] != want[i])
      fail (stream, frame,
          "the %s plane's byte at (%" G_GSIZE_FORMAT ", %" G_GSIZE_FORMAT
          ") is %u, not %u",
          what, i % stride / bytes, i / stride, got[i], want[i]);
}

static void
compare_frame (const MotionStream *stream, guint frame)
{
  const MotionJob *job = &stream->jobs[frame];
  const MotionJob *expected = &stream->expected[frame];

  if (job->n_fields != expected->n_fields)
    fail (
        stream, frame, "%u fields, not %u", job->n_fields, expected->n_fields);
  for (guint i = 0; i < job->n_fields; i++)
    compare_field (stream, frame, i);
  if (job->flags != expected->flags)
    fail (stream, frame, "flags 0x%x, not 0x%x", job->flags, expected->flags);
  compare_plane (stream, frame, "prediction", job->prediction,
      expected->prediction, job->prediction_stride);
  compare_plane (stream, frame, "residual", job->residual, expected->residual,
      job->residual_stride);
}

/* --- running -------------------------------------------------------------- */

/* Whether frame @i is ready after @submitted frames. */
static gboolean
is_ready (const MotionStream *stream, guint i, guint submitted)
{
  guint ahead = stream->config.bidirectional ? stream->config.references : 0;

  if (i >= submitted)
    return FALSE;
  for (guint k = i; k < submitted; k++)
    if (stream->last[k] || k == i + ahead)
      return TRUE;
  return FALSE;
}

/* One of them */
typedef struct {
  MotionEngine *engine;
  CvisFleet *fleet;
} Searcher;

static gboolean
searcher_submit (const Searcher *to, MotionJob *job, GError **error)
{
  return to->fleet ? cvis_fleet_submit (to->fleet, job, error)
                   : motion_engine_submit (to->engine, job, error);
}

static void
searcher_end (const Searcher *to)
{
  if (to->fleet)
    cvis_fleet_end (to->fleet);
  else
    motion_engine_end (to->engine);
}

static gboolean
searcher_wait (const Searcher *to, MotionJob **job, GError **error)
{
  gpointer done;
  gboolean ok;

  if (!to->fleet)
    return motion_engine_wait (to->engine, job, error);
  ok = cvis_fleet_wait (to->fleet, &done, error);
  *job = done;
  return ok;
}

/* Waits for frame @i and compares it. Returns: FALSE if it was not ready */
static gboolean
wait_for (MotionStream *stream, const Searcher *from, guint i, guint submitted)
{
  gboolean ready = is_ready (stream, i, submitted);
  GError *error = NULL;
  MotionJob *job;

  if (!searcher_wait (from, &job, &error))
    fail (stream, i, "%s", error->message);
  if (job != (ready ? &stream->jobs[i] : NULL))
    fail (stream, MIN (i, stream->n - 1),
        "%u frames are submitted: it is %sready, but wait() returned %s",
        submitted, ready ? "" : "not ", job == NULL ? "none" : "a frame");
  if (ready)
    compare_frame (stream, i);
  return ready;
}

static void
run_stream (
    MotionStream *stream, const Searcher *to, guint n_slots, GRand *random)
{
  guint waited = 0;
  GError *error = NULL;

  for (guint i = 0; i < stream->n; i++)
    poison (&stream->config, &stream->jobs[i]);
  for (guint i = 0; i < stream->n; i++) {
    while (i - waited == n_slots
           || (random && g_rand_int_range (random, 0, 3) > 0))
      if (wait_for (stream, to, waited, i))
        waited++;
    if (!searcher_submit (to, &stream->jobs[i], &error))
      fail (stream, i, "%s", error->message);
    if (stream->last[i])
      searcher_end (to);
  }
  while (wait_for (stream, to, waited, stream->n))
    waited++;
  if (waited != stream->n)
    fail (stream, waited, "was expected, but wait() returned no more frames");
}

void
motion_stream_run (MotionStream *stream, MotionEngine *engine, GRand *random)
{
  const Searcher to = { .engine = engine };

  run_stream (stream, &to, motion_config_get_n_slots (&stream->config), random);
}

void
motion_stream_run_fleet (MotionStream *stream, CvisFleet *fleet, GRand *random)
{
  const Searcher to = { .fleet = fleet };

  run_stream (stream, &to, cvis_fleet_get_size (fleet), random);
}
