/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/camera/sim.h"

#include <math.h>
#include <string.h>
#include "cuda/records/machinesignal.h"

/* Lengths are pixels in Q8 unless stated otherwise. */
#define Q8(pixels) ((gint) ((pixels) *256))

#define MARGIN 6            /* pixels between the lines' ends and the frame */
#define NS_PER_PIXEL 200000 /* 200 um at 1 m/s */
#define POWER_MW 200000
#define SPEED_UM_S 1000000

#define BACKGROUND 14 /* mean of the noise */
#define THRESHOLD (100 - BACKGROUND)
#define COLD_PEAK                                                              \
  70 /* brightest light above the background with the laser off */
#define COLD_LIMIT 99 /* grey level that several of them do not exceed */
#define GLOW_NS 600000

/* Noise consists of tiles that start at random positions of one block. */
#define NOISE_STARTS 65536
#define NOISE_TILE 16384
#define NOISE_SIZE (NOISE_STARTS + NOISE_TILE)

/* A time slot creates at most one spatter, which lives up to 24 slots. */
#define SLOT_NS 50000
#define MAX_LIFE 24
#define MIN_LIFE 8

/* Slow fluctuations interpolate between random values 16 frames apart. */
#define KNOT_FRAMES 16

enum {
  STREAM_NOISE,
  STREAM_TILE,
  STREAM_SLOW,
  STREAM_FAST,
  STREAM_SPATTER,
  STREAM_HATCH,
  N_STREAMS
};

/* Appearance of a regime. A blob's radius is where its light ends; peaks are
 * grey levels above the background, and saturate above 255. */
typedef struct {
  gint core_along, core_across, core_peak;
  gint tail_along, tail_across, tail_peak, tail_back;
  gint lobe_radius, lobe_peak, lobe_reach;
  gint size_slow, size_fast, peak_slow, peak_fast; /* amplitudes, of 256 */
  guint spatter_chance;                            /* in a slot, of 256 */
} Shape;

static const Shape shapes[PBF_SIM_MIXED] = {
  [PBF_SIM_NOMINAL] = { Q8 (6.0), Q8 (4.8), 900, Q8 (10.0), Q8 (4.0), 170,
      Q8 (6.5), 0, 0, 0, 12, 6, 15, 8, 16 },
  [PBF_SIM_KEYHOLE] = { Q8 (4.4), Q8 (2.8), 1400, Q8 (7.0), Q8 (2.4), 130,
      Q8 (4.0), 0, 0, 0, 35, 50, 40, 60, 52 },
  [PBF_SIM_LACK_OF_FUSION] = { Q8 (12.5), Q8 (11.0), 160, Q8 (6.0), Q8 (5.0),
      40, Q8 (4.0), Q8 (6.5), 50, Q8 (7.0), 40, 20, 230, 40, 8 },
  [PBF_SIM_SPATTER] = { Q8 (6.0), Q8 (4.8), 950, Q8 (10.0), Q8 (4.0), 170,
      Q8 (6.5), 0, 0, 0, 20, 12, 20, 12, 176 },
  [PBF_SIM_DRIFT] = { Q8 (6.0), Q8 (4.8), 900, Q8 (10.0), Q8 (4.0), 170,
      Q8 (6.5), 0, 0, 0, 12, 6, 15, 8, 16 },
};

struct _PbfSim {
  PbfSimConfig config;
  guint64 second_ns, frame_ns, frame_rest; /* see pbf_sim_time() */
  guint64 keys[N_STREAMS];
  guint64 on_ns[2], line_ns[2], layer_ns[2]; /* along x, along y */
  guint rows_per_tile;
  guint most_spatters; /* largest chance of a spatter in a slot, of 256 */
  guint8 noise[NOISE_SIZE];
};

/* --- random numbers ------------------------------------------------------ */

/* The output function of splitmix64 (Steele, Lea & Flood, 2014): maps a
 * counter to 64 uniformly distributed bits. */
static inline guint64
mix (guint64 z)
{
  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline guint64
draw_random (const PbfSim *sim, guint stream, guint64 index)
{
  return mix (sim->keys[stream]
              + (index + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15));
}

/* Sixteen of the bits as -32768..32767. */
static inline gint
part (guint64 bits, guint which)
{
  return (gint) ((bits >> (16 * which)) & 0xffff) - 32768;
}

/* @base, changed by up to @amplitude / 256 of it, for @by in the range of
 *   part(). */
static inline gint
vary (gint base, gint amplitude, gint by)
{
  return base + base * ((amplitude * by) >> 15) / 256;
}

/* Sensor noise: the number of ones in 12 random bits plus the background,
 * 8..20 with a standard deviation of 1.7. */
static void
fill_noise (PbfSim *sim)
{
  guint64 bits = 0;

  for (guint i = 0; i < NOISE_SIZE; i++) {
    guint ones = 0;

    if (i % 5 == 0)
      bits = draw_random (sim, STREAM_NOISE, i / 5);
    for (guint b = 0; b < 12; b++)
      ones += (bits >> b) & 1;
    bits >>= 12;
    sim->noise[i] = BACKGROUND - 6 + ones;
  }
}

/* --- time and scan --------------------------------------------------------- */

guint64
pbf_sim_time (const PbfSim *sim, guint64 frame)
{
  guint64 fps_n = sim->config.fps_n;
  guint64 turns = frame / fps_n, rest = frame % fps_n;

  /* frame * second / fps_n without overflow */
  return turns * sim->second_ns + rest * sim->frame_ns
         + rest * sim->frame_rest / fps_n;
}

/* Position of the scanner at a moment. */
typedef struct {
  guint layer, line;
  gboolean on;
  guint64 since_line, since_layer; /* ns */
  gint x_um, y_um;                 /* commanded position */
  gint end_x_um, end_y_um;         /* end of the current or last line */
  gint along_x, along_y;           /* direction of the line, -1..1 */
} Scan;

/* Height of a line above the lower edge of the scanned field. The first line
 * of each layer has a random offset, so that layers differ. */
static gint
line_across_um (const PbfSim *sim, guint layer, guint line, guint side)
{
  guint64 field = (guint64) (side - 2 * MARGIN) * PBF_SIM_UM_PER_PIXEL;
  guint64 shift = draw_random (sim, STREAM_HATCH, layer) & 0xffff;

  return MARGIN * PBF_SIM_UM_PER_PIXEL
         + (gint) (field * (line * G_GUINT64_CONSTANT (65536) + shift)
                   / (PBF_SIM_LINES_PER_LAYER * G_GUINT64_CONSTANT (65536)));
}

/* Between two lines the scanner moves from the end of one line to the height
 * of the next, which starts at the same side; after the last line of a layer
 * it waits there. */
static gint
turn_across_um (const PbfSim *sim, const Scan *scan, guint axis, guint side)
{
  gint from = line_across_um (sim, scan->layer, scan->line, side), to;
  guint64 off_ns = sim->line_ns[axis] - sim->on_ns[axis];

  if (scan->on || scan->line + 1 == PBF_SIM_LINES_PER_LAYER)
    return from;
  to = line_across_um (sim, scan->layer, scan->line + 1, side);
  return from
         + (gint) ((to - from) * (gint64) (scan->since_line - sim->on_ns[axis])
                   / (gint64) off_ns);
}

static void
scan_at (const PbfSim *sim, guint64 t_ns, Scan *scan)
{
  guint64 both_ns = sim->layer_ns[0] + sim->layer_ns[1];
  guint64 pair = t_ns / both_ns;
  guint axis, length, side;
  gint done_um, along_um, across_um, end_um;

  scan->since_layer = t_ns - pair * both_ns;
  axis = scan->since_layer >= sim->layer_ns[0];
  if (axis == 1)
    scan->since_layer -= sim->layer_ns[0];
  scan->layer = (guint) (2 * pair + axis);
  scan->line = (guint) (scan->since_layer / sim->line_ns[axis]);
  scan->since_line = scan->since_layer - scan->line * sim->line_ns[axis];
  scan->on = scan->since_line < sim->on_ns[axis];

  length = axis == 0 ? sim->config.width : sim->config.height;
  side = axis == 0 ? sim->config.height : sim->config.width;
  done_um = (gint) (MIN (scan->since_line, sim->on_ns[axis]) / 1000);
  end_um = (gint) (length - MARGIN) * PBF_SIM_UM_PER_PIXEL;
  along_um = MARGIN * PBF_SIM_UM_PER_PIXEL + done_um;
  if (scan->line % 2 == 1) {
    along_um = end_um - done_um;
    end_um = MARGIN * PBF_SIM_UM_PER_PIXEL;
  }
  across_um = turn_across_um (sim, scan, axis, side);

  scan->x_um = axis == 0 ? along_um : across_um;
  scan->y_um = axis == 0 ? across_um : along_um;
  across_um = line_across_um (sim, scan->layer, scan->line, side);
  scan->end_x_um = axis == 0 ? end_um : across_um;
  scan->end_y_um = axis == 0 ? across_um : end_um;
  scan->along_x = axis == 0 ? (scan->line % 2 == 0 ? 1 : -1) : 0;
  scan->along_y = axis == 1 ? (scan->line % 2 == 0 ? 1 : -1) : 0;
}

static inline gint
um_to_q8 (gint um)
{
  return um * 32 / 25; /* 256 / 200 */
}

static PbfSimRegime
regime_of (const PbfSim *sim, guint64 frame)
{
  if (sim->config.regime != PBF_SIM_MIXED)
    return sim->config.regime;
  return (PbfSimRegime) (frame / PBF_SIM_MIXED_FRAMES % PBF_SIM_MIXED);
}

/* --- blobs ----------------------------------------------------------------- */

/* A spot of light: peak * (1 - r^2)^2 with r = 1 on the ellipse of its radii. */
typedef struct {
  gint x, y, radius_x, radius_y;
  gint peak;
} Blob;

/* Columns come in blocks of 16, so that the compiler vectorises. */
#define BLOCK 16
#define PATCH_SIDE 64
#define DARK 16383.0f /* darker than any blob's edge */

/* The part of the frame that one or more blobs light, in grey levels above
 * the background, not yet clamped to 255. Its width is whole blocks, unless
 * the frame is too narrow; beyond @width it is dark. */
typedef struct {
  gint x, y, width, height, blocks;
  gint16 light[PATCH_SIDE][PATCH_SIDE];
} Patch;

/* Returns: FALSE if no blob reaches into the frame */
static gboolean
patch_init (Patch *patch, const PbfSim *sim, const Blob *blobs, guint n_blobs)
{
  gint x0 = G_MAXINT, y0 = G_MAXINT, x1 = G_MININT, y1 = G_MININT;

  for (guint i = 0; i < n_blobs; i++) {
    x0 = MIN (x0, blobs[i].x - blobs[i].radius_x);
    x1 = MAX (x1, blobs[i].x + blobs[i].radius_x);
    y0 = MIN (y0, blobs[i].y - blobs[i].radius_y);
    y1 = MAX (y1, blobs[i].y + blobs[i].radius_y);
  }
  patch->x = MAX (x0 >> 8, 0);
  patch->y = MAX (y0 >> 8, 0);
  patch->width = MIN ((x1 >> 8) + 1, (gint) sim->config.width) - patch->x;
  patch->height = MIN ((y1 >> 8) + 1, (gint) sim->config.height) - patch->y;
  if (patch->width <= 0 || patch->height <= 0)
    return FALSE;
  patch->width = MIN (patch->width, PATCH_SIDE);
  patch->height = MIN (patch->height, PATCH_SIDE);
  patch->blocks = (patch->width + BLOCK - 1) / BLOCK;
  if (patch->blocks * BLOCK <= (gint) sim->config.width) {
    patch->width = patch->blocks * BLOCK;
    patch->x = MIN (patch->x, (gint) sim->config.width - patch->width);
  }
  for (gint y = 0; y < patch->height; y++)
    memset (patch->light[y], 0, patch->blocks * BLOCK * sizeof (gint16));
  return TRUE;
}

/* @scale * (distance of pixel @i's centre from @centre)^2, clamped so that
 *   two of them can be subtracted in 16 bits. */
static inline gint16
fall (gfloat scale, gint centre, gint i)
{
  gfloat d = (gfloat) (i * 256 + 128 - centre), f = d * d * scale;

  return (gint16) (f < DARK ? f : DARK);
}

static inline void
light_block (gint16 *restrict light, const gint16 *restrict falls, gint16 top)
{
  for (guint i = 0; i < BLOCK; i++) {
    gint16 s = top - falls[i];

    s = MAX (s, 0);
    light[i] += (gint16) ((s * s) >> 16);
  }
}

/* Light is s^2 / 65536 with s = top * (1 - r^2) in 16 bits; r^2 is the sum
 * of a column's and a row's part. The few floating-point operations are
 * those that IEEE 754 rounds the same everywhere. */
static void
patch_add (Patch *patch, const Blob *blob)
{
  gint16 falls[PATCH_SIDE];
  gfloat top = sqrtf ((gfloat) MAX (blob->peak, 0)) * 256.0f;
  gfloat scale_x = top / ((gfloat) blob->radius_x * (gfloat) blob->radius_x);
  gfloat scale_y = top / ((gfloat) blob->radius_y * (gfloat) blob->radius_y);

  for (gint b = 0; b < patch->blocks * BLOCK; b += BLOCK)
    for (gint i = 0; i < BLOCK; i++)
      falls[b + i] = fall (scale_x, blob->x, patch->x + b + i);
  for (gint x = patch->width; x < patch->blocks * BLOCK; x++)
    falls[x] = (gint16) DARK;

  for (gint y = 0; y < patch->height; y++) {
    gint row = (gint) top - fall (scale_y, blob->y, patch->y + y);

    if (row <= 0)
      continue;
    for (gint b = 0; b < patch->blocks; b++)
      light_block (&patch->light[y][b * BLOCK], &falls[b * BLOCK], row);
  }
}

/* Pixels of the patch that reach the threshold. */
static guint
patch_area (const Patch *patch)
{
  gint16 lit[BLOCK] = { 0 };
  guint area = 0;

  for (gint y = 0; y < patch->height; y++)
    for (gint b = 0; b < patch->blocks; b++)
      for (guint i = 0; i < BLOCK; i++)
        lit[i] += patch->light[y][b * BLOCK + i] >= THRESHOLD;
  for (guint i = 0; i < BLOCK; i++)
    area += lit[i];
  return area;
}

static inline void
expose_block (
    guint8 *restrict pixels, const gint16 *restrict light, gint16 limit)
{
  for (guint i = 0; i < BLOCK; i++) {
    gint16 sum = pixels[i] + light[i];

    pixels[i] = MIN (sum, limit);
  }
}

/* Adds the light to the frame, which saturates. */
static void
patch_expose (
    const Patch *patch, gboolean laser_on, guint8 *pixels, gsize stride)
{
  gint16 limit = laser_on ? 255 : COLD_LIMIT;

  for (gint y = 0; y < patch->height; y++) {
    guint8 *row = pixels + (patch->y + y) * stride + patch->x;
    const gint16 *light = patch->light[y];
    gint x = 0;

    for (; x + BLOCK <= patch->width; x += BLOCK)
      expose_block (row + x, light + x, limit);
    if (x < patch->width) {
      guint8 rest[BLOCK] = { 0 };

      memcpy (rest, row + x, patch->width - x);
      expose_block (rest, light + x, limit);
      memcpy (row + x, rest, patch->width - x);
    }
  }
}

/* --- the frame ------------------------------------------------------------- */

static void
draw_noise (const PbfSim *sim, guint64 frame, guint8 *pixels, gsize stride)
{
  gsize width = sim->config.width;
  guint height = sim->config.height;

  for (guint y0 = 0, tile = 0; y0 < height; y0 += sim->rows_per_tile, tile++) {
    guint64 start =
        draw_random (sim, STREAM_TILE, frame * PBF_SIM_MAX_SIDE + tile);
    const guint8 *noise = sim->noise + (start & (NOISE_STARTS - 16));
    guint rows = MIN (sim->rows_per_tile, height - y0);

    if (stride == width) {
      memcpy (pixels + y0 * stride, noise, rows * width);
      continue;
    }
    for (guint y = 0; y < rows; y++)
      memcpy (pixels + (y0 + y) * stride, noise + y * width, width);
  }
}

/* Progress of the drift, of 256. */
static gint
drift_of (const PbfSim *sim, guint64 frame, PbfSimRegime regime)
{
  if (regime != PBF_SIM_DRIFT)
    return 0;
  if (sim->config.regime == PBF_SIM_MIXED)
    return (gint) (frame % PBF_SIM_MIXED_FRAMES * 256 / PBF_SIM_MIXED_FRAMES);
  return (
      gint) (MIN (frame, PBF_SIM_DRIFT_FRAMES) * 256 / PBF_SIM_DRIFT_FRAMES);
}

/* The melt pool's spots at @frame. Returns: number of @blobs set, the core
 * first */
static guint
pool_blobs (const PbfSim *sim, guint64 frame, const Scan *scan,
    PbfSimRegime regime, Blob blobs[3])
{
  const Shape *shape = &shapes[regime];
  guint64 before = draw_random (sim, STREAM_SLOW, frame / KNOT_FRAMES);
  guint64 after = draw_random (sim, STREAM_SLOW, frame / KNOT_FRAMES + 1);
  guint64 fast = draw_random (sim, STREAM_FAST, frame);
  gint drift = drift_of (sim, frame, regime);
  gint passed = (gint) (frame % KNOT_FRAMES);
  gint slow[4], size, peak, back, grown, x, y;

  for (guint i = 0; i < 4; i++)
    slow[i] = part (before, i)
              + (part (after, i) - part (before, i)) * passed / KNOT_FRAMES;
  size = vary (256, shape->size_slow, slow[0]);
  size = vary (size, shape->size_fast, part (fast, 2));
  size += size * drift * 2 / (5 * 256); /* drift: 40 % larger */
  peak = vary (shape->core_peak, shape->peak_slow, slow[1]);
  peak = vary (peak, shape->peak_fast, part (fast, 3));
  peak += peak * drift / 512; /* and 50 % brighter */

  /* jitter of a quarter of a pixel; drift: one pixel across the beam path */
  x = um_to_q8 (scan->x_um) + part (fast, 0) / 512 + drift * 3 / 4;
  y = um_to_q8 (scan->y_um) + part (fast, 1) / 512 - drift * 3 / 4;
  blobs[0].x = x;
  blobs[0].y = y;
  blobs[0].peak = peak;
  blobs[0].radius_x =
      (scan->along_x ? shape->core_along : shape->core_across) * size / 256;
  blobs[0].radius_y =
      (scan->along_y ? shape->core_along : shape->core_across) * size / 256;

  /* the tail grows over the first 12 pixels of a line */
  grown = (gint) MIN (scan->since_line * 256 / (12 * NS_PER_PIXEL), 256);
  back = shape->tail_back * size / 256 * grown / 256;
  blobs[1].x = x - scan->along_x * back;
  blobs[1].y = y - scan->along_y * back;
  blobs[1].peak = shape->tail_peak + shape->tail_peak * drift / 512;
  size = size * (64 + grown * 3 / 4) / 256;
  blobs[1].radius_x =
      (scan->along_x ? shape->tail_along : shape->tail_across) * size / 256;
  blobs[1].radius_y =
      (scan->along_y ? shape->tail_along : shape->tail_across) * size / 256;
  if (shape->lobe_peak == 0)
    return 2;

  blobs[2].x = x + ((shape->lobe_reach * slow[2]) >> 15);
  blobs[2].y = y + ((shape->lobe_reach * slow[3]) >> 15);
  blobs[2].peak = shape->lobe_peak;
  blobs[2].radius_x = blobs[2].radius_y = shape->lobe_radius;
  return 3;
}

static void
draw_pool (const PbfSim *sim, guint64 frame, const Scan *scan, guint8 *pixels,
    gsize stride, PbfSimTruth *truth)
{
  Blob blobs[3];
  Patch patch;
  guint n = pool_blobs (sim, frame, scan, truth->regime, blobs);

  truth->pool_x = blobs[0].x / 256.0f;
  truth->pool_y = blobs[0].y / 256.0f;
  if (!patch_init (&patch, sim, blobs, n))
    return;
  for (guint i = 0; i < n; i++)
    patch_add (&patch, &blobs[i]);
  truth->pool_area = patch_area (&patch);
  patch_expose (&patch, TRUE, pixels, stride);
}

/* With the laser off, the rest of the melt pool cools at the end of the
 * line. */
static void
draw_glow (const PbfSim *sim, const Scan *scan, guint64 off_ns, guint8 *pixels,
    gsize stride)
{
  Blob blob = { um_to_q8 (scan->end_x_um), um_to_q8 (scan->end_y_um), Q8 (5),
    Q8 (5), 0 };
  Patch patch;

  if (off_ns >= GLOW_NS)
    return;
  blob.peak = (gint) (COLD_PEAK * (GLOW_NS - off_ns) / GLOW_NS);
  if (!patch_init (&patch, sim, &blob, 1))
    return;
  patch_add (&patch, &blob);
  patch_expose (&patch, FALSE, pixels, stride);
}

/* Spatters of the regime at @ago_ns before @frame. */
static guint
spatter_chance (const PbfSim *sim, guint64 frame, guint64 ago_ns)
{
  guint64 frames_ago;

  if (sim->config.regime != PBF_SIM_MIXED)
    return sim->most_spatters;
  frames_ago = ago_ns * sim->config.fps_n / sim->second_ns;
  return shapes[regime_of (sim, frame - MIN (frames_ago, frame))]
      .spatter_chance;
}

/* The spatter created in @slot at time @t_ns. Returns: FALSE if there is
 * none, not yet or no longer */
static gboolean
spatter_blob (const PbfSim *sim, guint64 frame, guint64 t_ns, guint64 slot,
    gboolean laser_on, Blob *blob)
{
  guint64 bits = draw_random (sim, STREAM_SPATTER, slot), birth_ns;
  gint life = Q8 (MIN_LIFE) + (gint) (bits >> 16 & 0xfff), age, peak, vx, vy;
  guint chance = bits & 0xff;
  Scan birth;

  if (chance >= sim->most_spatters)
    return FALSE;
  birth_ns = slot * SLOT_NS + (bits >> 8 & 0xff) * SLOT_NS / 256;
  if (birth_ns > t_ns)
    return FALSE;
  age = (gint) ((t_ns - birth_ns) * 256 / SLOT_NS);
  if (age >= life)
    return FALSE;
  if (chance >= spatter_chance (sim, frame, t_ns - birth_ns))
    return FALSE;
  scan_at (sim, birth_ns, &birth);
  if (!birth.on)
    return FALSE;

  /* up to 2.5 pixels a slot (10 m/s), mostly backwards */
  vx = (gint) (bits >> 28 & 0x3ff) * 5 / 4 - 640 - birth.along_x * 160;
  vy = (gint) (bits >> 38 & 0x3ff) * 5 / 4 - 640 - birth.along_y * 160;
  peak = 160 + (gint) (bits >> 48 & 0xff) * 7 / 4;
  peak = peak * (life - age) / life;
  blob->peak = laser_on ? peak : MIN (peak, COLD_PEAK);
  blob->radius_x = blob->radius_y = Q8 (1.4) + (gint) (bits >> 56) * 3 / 2;
  blob->x = um_to_q8 (birth.x_um) + vx * age / 256;
  blob->y = um_to_q8 (birth.y_um) + vy * age / 256;
  return TRUE;
}

static void
draw_spatters (const PbfSim *sim, guint64 frame, guint64 t_ns, guint8 *pixels,
    gsize stride, PbfSimTruth *truth)
{
  guint64 last = t_ns / SLOT_NS;

  for (guint64 slot = last - MIN (last, MAX_LIFE); slot <= last; slot++) {
    Blob blob;
    Patch patch;
    guint area;

    if (!spatter_blob (sim, frame, t_ns, slot, truth->laser_on, &blob)
        || !patch_init (&patch, sim, &blob, 1))
      continue;
    patch_add (&patch, &blob);
    patch_expose (&patch, truth->laser_on, pixels, stride);
    area = patch_area (&patch);
    if (area == 0)
      continue;
    truth->spatter_x[truth->n_spatters] = blob.x / 256.0f;
    truth->spatter_y[truth->n_spatters] = blob.y / 256.0f;
    truth->spatter_area[truth->n_spatters] = area;
    truth->n_spatters++;
  }
}

/* A slot has one spatter, and those of MAX_LIFE + 1 slots are drawn. */
G_STATIC_ASSERT (MAX_LIFE + 1 <= PBF_SIM_MAX_SPATTERS);

static void
fill_signal (const PbfSim *sim, guint64 frame, guint64 t_ns, const Scan *scan,
    CvisPbfSignal *signal)
{
  guint64 step_ns = frame > 0 ? t_ns - pbf_sim_time (sim, frame - 1) : 0;
  guint flags = CVIS_PBF_SIGNAL_POSITION_VALID | CVIS_PBF_SIGNAL_TEST;

  if (scan->on)
    flags |= CVIS_PBF_SIGNAL_LASER_ON;
  if (frame == 0 || scan->since_line < step_ns)
    flags |= CVIS_PBF_SIGNAL_VECTOR_START;
  if (frame == 0 || scan->since_layer < step_ns)
    flags |= CVIS_PBF_SIGNAL_LAYER_START;
  *signal = (CvisPbfSignal){
    .frame_counter = (guint32) frame,
    .flags = flags,
    .x_um = scan->x_um,
    .y_um = scan->y_um,
    .layer = scan->layer,
    .vector_id = scan->line,
    .t_ns = t_ns,
    .width = sim->config.width,
    .height = sim->config.height,
    .power_mW = scan->on ? POWER_MW : 0,
    .speed_um_s = SPEED_UM_S,
  };
  pbf_signal_seal (signal);
}

void
pbf_sim_render (const PbfSim *sim, guint64 frame, guint8 *pixels, gsize stride,
    CvisPbfSignal *signal, PbfSimTruth *truth)
{
  guint64 t_ns = pbf_sim_time (sim, frame);
  Scan scan;

  scan_at (sim, t_ns, &scan);
  truth->regime = regime_of (sim, frame);
  truth->laser_on = scan.on;
  truth->pool_x = um_to_q8 (scan.x_um) / 256.0f;
  truth->pool_y = um_to_q8 (scan.y_um) / 256.0f;
  truth->pool_area = 0;
  truth->n_spatters = 0;

  draw_noise (sim, frame, pixels, stride);
  if (scan.on)
    draw_pool (sim, frame, &scan, pixels, stride, truth);
  else
    draw_glow (sim, &scan, scan.since_line - sim->on_ns[scan.along_y != 0],
        pixels, stride);
  draw_spatters (sim, frame, t_ns, pixels, stride, truth);
  fill_signal (sim, frame, t_ns, &scan, signal);
}

/* --- the simulator ------------------------------------------------------- */

static gboolean
check_config (const PbfSimConfig *config, GError **error)
{
  const guint sides[2] = { config->width, config->height };

  for (guint i = 0; i < 2; i++)
    if (sides[i] < PBF_SIM_MIN_SIDE || sides[i] > PBF_SIM_MAX_SIDE) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
          "%s of %u pixels is not in %d..%d", i == 0 ? "width" : "height",
          sides[i], PBF_SIM_MIN_SIDE, PBF_SIM_MAX_SIDE);
      return FALSE;
    }
  if (config->fps_n == 0 || config->fps_d == 0 || config->fps_n > G_MAXINT
      || config->fps_d > G_MAXINT
      || config->fps_n > (guint64) PBF_SIM_MAX_FPS * config->fps_d) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "frame rate %u/%u is not above 0 and up to %d/1", config->fps_n,
        config->fps_d, PBF_SIM_MAX_FPS);
    return FALSE;
  }
  if ((guint) config->regime > PBF_SIM_MIXED) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "regime %d is not one of 0..%d", (gint) config->regime, PBF_SIM_MIXED);
    return FALSE;
  }
  return TRUE;
}

PbfSim *
pbf_sim_new (const PbfSimConfig *config, GError **error)
{
  PbfSim *sim;
  guint sides[2];

  g_return_val_if_fail (config != NULL, NULL);

  if (!check_config (config, error))
    return NULL;
  sim = g_new0 (PbfSim, 1);
  sim->config = *config;
  sim->second_ns = G_GUINT64_CONSTANT (1000000000) * config->fps_d;
  sim->frame_ns = sim->second_ns / config->fps_n;
  sim->frame_rest = sim->second_ns % config->fps_n;
  for (guint i = 0; i < N_STREAMS; i++)
    sim->keys[i] = mix (mix (config->seed) + i);

  sides[0] = config->width;
  sides[1] = config->height;
  for (guint i = 0; i < 2; i++) {
    sim->on_ns[i] = (sides[i] - 2 * MARGIN) * (guint64) NS_PER_PIXEL;
    sim->line_ns[i] = sim->on_ns[i] + sim->on_ns[i] / 9; /* 10 % off */
    sim->layer_ns[i] = sim->line_ns[i] * PBF_SIM_LINES_PER_LAYER;
  }
  sim->rows_per_tile = NOISE_TILE / config->width;
  for (guint i = 0; i < PBF_SIM_MIXED; i++)
    if (config->regime == PBF_SIM_MIXED || config->regime == i)
      sim->most_spatters = MAX (sim->most_spatters, shapes[i].spatter_chance);
  fill_noise (sim);
  return sim;
}

void
pbf_sim_free (PbfSim *sim)
{
  g_free (sim);
}
