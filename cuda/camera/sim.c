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

#define MARGIN 6 /* pixels between the lines' ends and the frame */
#define POWER_MW 200000

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
  STREAM_BUILD,
  STREAM_GAUSS,
  STREAM_ROW,
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

/* PbfSimMachine in Q8. Factors are applied as x * factor / 256, which keeps x for
 * 256. */
typedef struct {
  gint gain, noise, blur, background, full_scale;
  gint pool_size, elongation, spatter_rate;
  gint offset_x, offset_y, severity;
} Machine;

#define MAX_BLUR_RADIUS 24

struct _PbfSim {
  PbfSimConfig config;
  Machine machine;
  gboolean plain;   /* exposed by the frame's patches alone */
  guint64 um_per_s; /* scan speed */
  guint64 ns_per_pixel;
  gint blur_radius;                     /* pixels */
  gint16 blur[2 * MAX_BLUR_RADIUS + 1]; /* weights, in sum 2^14 */
  gint16 *gauss; /* [NOISE_SIZE] (nullable): added noise */
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

/* Gaussian noise of standard deviation @sigma, Q8: the sum of eight random bytes. */
static void
fill_gauss (PbfSim *sim, gint sigma)
{
  const gint deviation = 209 * 256; /* of the sum, Q8 */

  sim->gauss = g_new (gint16, NOISE_SIZE);
  for (guint i = 0; i < NOISE_SIZE; i++) {
    guint64 bits = draw_random (sim, STREAM_GAUSS, i);
    gint sum = -8 * 255 / 2;

    for (guint b = 0; b < 8; b++)
      sum += (gint) (bits >> (8 * b) & 0xff);
    sim->gauss[i] = (gint16) ((sum * sigma * 2 + deviation) / (2 * deviation)
                              - (sum * sigma * 2 + deviation < 0));
  }
}

/* Weights of a blur: (1 - k^2 / (2 n sigma^2))^n, which tends to a Gaussian, from
 * operations that IEEE 754 rounds the same everywhere. */
static void
fill_blur (PbfSim *sim, gdouble sigma)
{
  gdouble weights[MAX_BLUR_RADIUS + 1], total = 0;
  gint16 rest = 1 << 14;

  sim->blur_radius = MIN ((gint) (3 * sigma) + 1, MAX_BLUR_RADIUS);
  for (gint k = 0; k <= sim->blur_radius; k++) {
    weights[k] = MAX (1 - k * k / (64 * 2 * sigma * sigma), 0);
    for (guint doubling = 0; doubling < 6; doubling++)
      weights[k] *= weights[k];
    total += k > 0 ? 2 * weights[k] : weights[k];
  }
  for (gint k = sim->blur_radius; k >= 0; k--) {
    gint16 weight = (gint16) (weights[k] / total * (1 << 14));

    rest -= k > 0 ? 2 * weight : 0;
    sim->blur[sim->blur_radius + k] = sim->blur[sim->blur_radius - k] =
        k > 0 ? weight : rest;
  }
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
  done_um = (gint) (MIN (scan->since_line, sim->on_ns[axis]) * sim->um_per_s
                    / G_GUINT64_CONSTANT (1000000000));
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

/* State of the process at a frame. */
typedef struct {
  PbfSimRegime regime;
  gint severity; /* of 256; with drift that of the whole drift */
  gint drift;    /* size of the drift, of 256 */
} Process;

static Process
drifting (const PbfSim *sim, guint64 progress, guint64 whole)
{
  const gint severity = sim->machine.severity;

  return (Process){ PBF_SIM_DRIFT, severity,
    (gint) (MIN (progress, whole) * 256 / whole) * severity / 256 };
}

static Process
build_process (const PbfSim *sim, const Scan *scan)
{
  static const PbfSimRegime defects[] = { PBF_SIM_KEYHOLE,
    PBF_SIM_LACK_OF_FUSION, PBF_SIM_SPATTER };
  const guint lines = PBF_SIM_LINES_PER_LAYER,
              of_period = scan->layer % PBF_SIM_BUILD_PERIOD;
  guint64 bits;

  if (of_period >= PBF_SIM_BUILD_PERIOD - 2)
    return drifting (sim,
        (of_period - (PBF_SIM_BUILD_PERIOD - 2)) * lines + scan->line + 1,
        2 * lines);
  bits = draw_random (sim, STREAM_BUILD,
      (guint64) scan->layer * lines + scan->line / PBF_SIM_BLOCK_LINES);
  if (scan->layer < 2 || bits & 1)
    return (Process){ PBF_SIM_NOMINAL, 0, 0 };
  return (Process){ defects[(bits >> 1 & 0xffff) % G_N_ELEMENTS (defects)],
    sim->machine.severity * (64 + (gint) (bits >> 32) % 193) / 256, 0 };
}

static Process
process_at (const PbfSim *sim, guint64 frame, const Scan *scan)
{
  const PbfSimRegime turn =
      (PbfSimRegime) (frame / PBF_SIM_MIXED_FRAMES % PBF_SIM_MIXED);

  switch (sim->config.regime) {
    case PBF_SIM_BUILD:
      return build_process (sim, scan);
    case PBF_SIM_DRIFT:
      return drifting (sim, frame, PBF_SIM_DRIFT_FRAMES);
    case PBF_SIM_MIXED:
      if (turn == PBF_SIM_DRIFT)
        return drifting (
            sim, frame % PBF_SIM_MIXED_FRAMES, PBF_SIM_MIXED_FRAMES);
      return (Process){ turn, sim->machine.severity, 0 };
    default:
      return (Process){ sim->config.regime, sim->machine.severity, 0 };
  }
}

/* Between the appearance of the nominal process and that of the regime */
static Shape
shape_of (const Process *process)
{
  const Shape *from = &shapes[PBF_SIM_NOMINAL], *to = &shapes[process->regime];
  const gint part = process->severity;
  Shape shape = *to;

  if (part == 256)
    return shape;
#define BLEND(field)                                                           \
  shape.field = (gint) from->field                                             \
                + ((gint) to->field - (gint) from->field) * part / 256
  BLEND (core_along);
  BLEND (core_across);
  BLEND (core_peak);
  BLEND (tail_along);
  BLEND (tail_across);
  BLEND (tail_peak);
  BLEND (tail_back);
  BLEND (lobe_peak);
  BLEND (size_slow);
  BLEND (size_fast);
  BLEND (peak_slow);
  BLEND (peak_fast);
  BLEND (spatter_chance);
#undef BLEND
  return shape;
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

/* The melt pool's spots at @frame. Returns: number of @blobs set, the core
 * first */
static guint
pool_blobs (const PbfSim *sim, guint64 frame, const Scan *scan,
    const Process *process, Blob blobs[3])
{
  const Machine *machine = &sim->machine;
  const Shape blended = shape_of (process), *shape = &blended;
  guint64 before = draw_random (sim, STREAM_SLOW, frame / KNOT_FRAMES);
  guint64 after = draw_random (sim, STREAM_SLOW, frame / KNOT_FRAMES + 1);
  guint64 fast = draw_random (sim, STREAM_FAST, frame);
  gint drift = process->drift;
  gint passed = (gint) (frame % KNOT_FRAMES);
  gint slow[4], size, length, peak, back, grown, x, y;

  for (guint i = 0; i < 4; i++)
    slow[i] = part (before, i)
              + (part (after, i) - part (before, i)) * passed / KNOT_FRAMES;
  size = vary (256, shape->size_slow, slow[0]);
  size = vary (size, shape->size_fast, part (fast, 2));
  size += size * drift * 2 / (5 * 256); /* drift: 40 % larger */
  size = size * machine->pool_size / 256;
  length = size * machine->elongation / 256;
  peak = vary (shape->core_peak, shape->peak_slow, slow[1]);
  peak = vary (peak, shape->peak_fast, part (fast, 3));
  peak += peak * drift / 512; /* and 50 % brighter */
  peak = peak * machine->gain / 256;

  /* jitter of a quarter of a pixel; drift: one pixel across the beam path */
  x = um_to_q8 (scan->x_um) + part (fast, 0) / 512 + drift * 3 / 4
      + machine->offset_x;
  y = um_to_q8 (scan->y_um) + part (fast, 1) / 512 - drift * 3 / 4
      + machine->offset_y;
  blobs[0].x = x;
  blobs[0].y = y;
  blobs[0].peak = peak;
  blobs[0].radius_x = scan->along_x ? shape->core_along * length / 256
                                    : shape->core_across * size / 256;
  blobs[0].radius_y = scan->along_y ? shape->core_along * length / 256
                                    : shape->core_across * size / 256;

  /* the tail grows over the first 12 pixels of a line */
  grown = (gint) MIN (scan->since_line * 256 / (12 * sim->ns_per_pixel), 256);
  back = shape->tail_back * length / 256 * grown / 256;
  blobs[1].x = x - scan->along_x * back;
  blobs[1].y = y - scan->along_y * back;
  blobs[1].peak =
      (shape->tail_peak + shape->tail_peak * drift / 512) * machine->gain / 256;
  size = size * (64 + grown * 3 / 4) / 256;
  length = length * (64 + grown * 3 / 4) / 256;
  blobs[1].radius_x = scan->along_x ? shape->tail_along * length / 256
                                    : shape->tail_across * size / 256;
  blobs[1].radius_y = scan->along_y ? shape->tail_along * length / 256
                                    : shape->tail_across * size / 256;
  if (shape->lobe_peak == 0)
    return 2;

  blobs[2].x =
      x + ((shape->lobe_reach * slow[2]) >> 15) * machine->pool_size / 256;
  blobs[2].y =
      y + ((shape->lobe_reach * slow[3]) >> 15) * machine->pool_size / 256;
  blobs[2].peak = shape->lobe_peak * machine->gain / 256;
  blobs[2].radius_x = blobs[2].radius_y =
      shape->lobe_radius * machine->pool_size / 256;
  return 3;
}

/* --- light of the whole frame ---------------------------------------------- */

/* The light of all blobs of a frame, and the rectangle that contains it: for machines
 * whose optics and sensor act on the sum of all light. */
typedef struct {
  gint x0, y0, x1, y1; /* x1 and y1 are outside */
  gint16 *light;       /* [height][width] */
} Plane;

/* A frame while it is drawn. */
typedef struct {
  guint8 *pixels;
  gsize stride;
  gboolean laser_on;
  Plane *plane; /* (nullable): blobs are added to it instead of the pixels */
} Canvas;

/* Adds the light of @blob. Returns: the pixels that it lights to the threshold alone */
static guint
plane_add (Plane *plane, const PbfSim *sim, const Blob *blob)
{
  const gint width = (gint) sim->config.width;
  const gint x0 = CLAMP ((blob->x - blob->radius_x) >> 8, 0, width);
  const gint y0 =
      CLAMP ((blob->y - blob->radius_y) >> 8, 0, (gint) sim->config.height);
  const gint x1 = CLAMP (((blob->x + blob->radius_x) >> 8) + 1, x0, width);
  const gint y1 = CLAMP (
      ((blob->y + blob->radius_y) >> 8) + 1, y0, (gint) sim->config.height);
  const gfloat top = sqrtf ((gfloat) CLAMP (blob->peak, 0, 16383)) * 256.0f;
  const gfloat scale_x =
      top / ((gfloat) blob->radius_x * (gfloat) blob->radius_x);
  const gfloat scale_y =
      top / ((gfloat) blob->radius_y * (gfloat) blob->radius_y);
  guint area = 0;

  if (blob->radius_x < 1 || blob->radius_y < 1 || x0 == x1 || y0 == y1)
    return 0;
  for (gint x = x0; x < x1; x += BLOCK) {
    const gint n = MIN (BLOCK, x1 - x);
    gint16 falls[BLOCK];

    for (gint i = 0; i < BLOCK; i++)
      falls[i] = fall (scale_x, blob->x, x + i);
    for (gint y = y0; y < y1; y++) {
      const gint row = (gint) top - fall (scale_y, blob->y, y);
      gint16 *light = plane->light + (gsize) y * width + x, add[BLOCK] = { 0 };

      if (row <= 0)
        continue;
      light_block (add, falls, (gint16) row);
      for (gint i = 0; i < n; i++) {
        light[i] = (gint16) MIN (light[i] + add[i], G_MAXINT16);
        area += add[i] >= THRESHOLD;
      }
    }
  }
  plane->x0 = MIN (plane->x0, x0);
  plane->y0 = MIN (plane->y0, y0);
  plane->x1 = MAX (plane->x1, x1);
  plane->y1 = MAX (plane->y1, y1);
  return area;
}

static guint
plane_area (const Plane *plane, const PbfSim *sim)
{
  guint area = 0;

  for (gint y = plane->y0; y < plane->y1; y++)
    for (gint x = plane->x0; x < plane->x1; x++)
      area += plane->light[(gsize) y * sim->config.width + x] >= THRESHOLD;
  return area;
}

/* The weighted sum of 2 * @radius + 1 rows or columns of values, @step apart. */
static inline void
blur_block (const PbfSim *sim, gint16 *restrict to, const gint16 *restrict from,
    gsize step)
{
  gint32 sums[BLOCK] = { 0 };

  for (gint k = 0; k <= 2 * sim->blur_radius; k++)
    for (guint i = 0; i < BLOCK; i++)
      sums[i] += (gint32) sim->blur[k] * from[k * step + i];
  for (guint i = 0; i < BLOCK; i++)
    to[i] = (gint16) (sums[i] >> 14);
}

/* Blurs along rows, then along columns. Beyond the frame there is no light. */
static void
plane_blur (Plane *plane, const PbfSim *sim)
{
  const gint radius = sim->blur_radius;
  const gint width = (gint) sim->config.width;
  const gint x0 = MAX (plane->x0 - radius, 0),
             x1 = MIN (plane->x1 + radius, width);
  const gint y0 = MAX (plane->y0 - radius, 0),
             y1 = MIN (plane->y1 + radius, (gint) sim->config.height);
  gint16 *rows, *padded, last[BLOCK];
  gint n;

  if (radius == 0 || plane->x0 >= plane->x1)
    return;
  n = (x1 - x0 + BLOCK - 1) / BLOCK * BLOCK;
  rows = g_new0 (gint16, (gsize) (y1 - y0 + 2 * radius) * n);
  padded = g_new0 (gint16, n + 2 * radius);
  for (gint y = plane->y0; y < plane->y1; y++) {
    memcpy (padded + radius, plane->light + (gsize) y * width + x0,
        (x1 - x0) * sizeof *padded);
    for (gint x = 0; x < n; x += BLOCK)
      blur_block (sim, rows + (gsize) (y - y0 + radius) * n + x, padded + x, 1);
  }
  for (gint y = y0; y < y1; y++)
    for (gint x = 0; x < n; x += BLOCK) {
      blur_block (sim, last, rows + (gsize) (y - y0) * n + x, n);
      memcpy (plane->light + (gsize) y * width + x0 + x, last,
          MIN (BLOCK, x1 - x0 - x) * sizeof *last);
    }
  g_free (padded);
  g_free (rows);
}

static inline void
sense_block (guint8 *restrict pixels, const gint16 *restrict light,
    const gint16 *restrict noise, gint16 background, gint16 limit)
{
  for (guint i = 0; i < BLOCK; i++) {
    gint16 sum = pixels[i] + noise[i] + background;

    sum += MIN (light[i], 1024); /* any more saturates */
    sum = MIN (sum, limit);
    pixels[i] = (guint8) MAX (sum, 0);
  }
}

/* Adds light, background and noise to the frame, which saturates. */
static void
plane_expose (
    const Plane *plane, const PbfSim *sim, guint64 frame, const Canvas *canvas)
{
  static const gint16 silence[PBF_SIM_MAX_SIDE];
  const gint background = sim->machine.background / 256;
  const gint limit =
      MIN (sim->machine.full_scale / 256, canvas->laser_on ? 255 : COLD_LIMIT);
  const guint width = sim->config.width;

  for (guint y = 0; y < sim->config.height; y++) {
    const gint16 *light = plane->light + (gsize) y * width, *noise = silence;
    guint8 *row = canvas->pixels + y * canvas->stride;
    guint x = 0;

    if (sim->gauss != NULL)
      noise = sim->gauss
              + (draw_random (sim, STREAM_ROW, frame * PBF_SIM_MAX_SIDE + y)
                  & (NOISE_STARTS - 1));
    for (; x + BLOCK <= width; x += BLOCK)
      sense_block (row + x, light + x, noise + x, background, limit);
    for (; x < width; x++) {
      const gint sum = row[x] + light[x] + noise[x] + background;

      row[x] = (guint8) CLAMP (sum, 0, limit);
    }
  }
}

/* Draws blobs that are one component. Returns: pixels that reach the threshold */
static guint
draw_blobs (const PbfSim *sim, const Blob *blobs, guint n, const Canvas *canvas)
{
  Patch patch;
  guint area = 0;

  if (canvas->plane != NULL) {
    for (guint i = 0; i < n; i++)
      area = plane_add (canvas->plane, sim, &blobs[i]);
    return area;
  }
  if (!patch_init (&patch, sim, blobs, n))
    return 0;
  for (guint i = 0; i < n; i++)
    patch_add (&patch, &blobs[i]);
  patch_expose (&patch, canvas->laser_on, canvas->pixels, canvas->stride);
  return patch_area (&patch);
}

static void
draw_pool (const PbfSim *sim, guint64 frame, const Scan *scan,
    const Process *process, const Canvas *canvas, PbfSimTruth *truth)
{
  Blob blobs[3];
  guint n = pool_blobs (sim, frame, scan, process, blobs);

  truth->pool_x = blobs[0].x / 256.0f;
  truth->pool_y = blobs[0].y / 256.0f;
  truth->pool_area = draw_blobs (sim, blobs, n, canvas);
  if (canvas->plane != NULL)
    truth->pool_area = plane_area (canvas->plane, sim);
}

/* With the laser off, the rest of the melt pool cools at the end of the
 * line. */
static void
draw_glow (
    const PbfSim *sim, const Scan *scan, guint64 off_ns, const Canvas *canvas)
{
  Blob blob = { um_to_q8 (scan->end_x_um), um_to_q8 (scan->end_y_um), Q8 (5),
    Q8 (5), 0 };

  if (off_ns >= GLOW_NS)
    return;
  blob.peak = (gint) (COLD_PEAK * (GLOW_NS - off_ns) / GLOW_NS);
  draw_blobs (sim, &blob, 1, canvas);
}

/* Chance of a spatter in a slot @ago_ns before @frame, at the scanner's position
 * @birth, of 256. */
static guint
spatter_chance (
    const PbfSim *sim, guint64 frame, guint64 ago_ns, const Scan *birth)
{
  guint64 frames_ago;
  Process process;

  if (sim->config.regime != PBF_SIM_MIXED
      && sim->config.regime != PBF_SIM_BUILD)
    return sim->most_spatters;
  frames_ago = ago_ns * sim->config.fps_n / sim->second_ns;
  process = process_at (sim, frame - MIN (frames_ago, frame), birth);
  return shape_of (&process).spatter_chance * sim->machine.spatter_rate / 256;
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
  scan_at (sim, birth_ns, &birth);
  if (!birth.on
      || chance >= spatter_chance (sim, frame, t_ns - birth_ns, &birth))
    return FALSE;

  /* up to 2.5 pixels a slot (10 m/s), mostly backwards */
  vx = (gint) (bits >> 28 & 0x3ff) * 5 / 4 - 640 - birth.along_x * 160;
  vy = (gint) (bits >> 38 & 0x3ff) * 5 / 4 - 640 - birth.along_y * 160;
  peak = 160 + (gint) (bits >> 48 & 0xff) * 7 / 4;
  peak = peak * (life - age) / life * sim->machine.gain / 256;
  blob->peak = laser_on ? peak : MIN (peak, COLD_PEAK);
  blob->radius_x = blob->radius_y = Q8 (1.4) + (gint) (bits >> 56) * 3 / 2;
  blob->x = um_to_q8 (birth.x_um) + vx * age / 256;
  blob->y = um_to_q8 (birth.y_um) + vy * age / 256;
  return TRUE;
}

static void
draw_spatters (const PbfSim *sim, guint64 frame, guint64 t_ns,
    const Canvas *canvas, PbfSimTruth *truth)
{
  guint64 last = t_ns / SLOT_NS;

  for (guint64 slot = last - MIN (last, MAX_LIFE); slot <= last; slot++) {
    Blob blob;
    guint area;

    if (!spatter_blob (sim, frame, t_ns, slot, truth->laser_on, &blob))
      continue;
    area = draw_blobs (sim, &blob, 1, canvas);
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
    .speed_um_s = (guint32) sim->um_per_s,
  };
  pbf_signal_seal (signal);
}

void
pbf_sim_render (const PbfSim *sim, guint64 frame, guint8 *pixels, gsize stride,
    CvisPbfSignal *signal, PbfSimTruth *truth)
{
  guint64 t_ns = pbf_sim_time (sim, frame);
  Plane plane = { G_MAXINT, G_MAXINT, 0, 0 };
  Canvas canvas = { pixels, stride };
  Process process;
  Scan scan;

  scan_at (sim, t_ns, &scan);
  process = process_at (sim, frame, &scan);
  truth->regime = process.regime;
  truth->laser_on = canvas.laser_on = scan.on;
  truth->pool_x = um_to_q8 (scan.x_um) / 256.0f;
  truth->pool_y = um_to_q8 (scan.y_um) / 256.0f;
  truth->pool_area = 0;
  truth->n_spatters = 0;
  truth->severity =
      process.regime == PBF_SIM_NOMINAL ? 0 : process.severity / 256.0f;
  truth->drift = process.drift / 256.0f;
  if (!sim->plain) {
    canvas.plane = &plane;
    plane.light =
        g_new0 (gint16, (gsize) sim->config.width * sim->config.height);
  }

  draw_noise (sim, frame, pixels, stride);
  if (scan.on)
    draw_pool (sim, frame, &scan, &process, &canvas, truth);
  else
    draw_glow (
        sim, &scan, scan.since_line - sim->on_ns[scan.along_y != 0], &canvas);
  draw_spatters (sim, frame, t_ns, &canvas, truth);
  if (!sim->plain) {
    plane_blur (&plane, sim);
    plane_expose (&plane, sim, frame, &canvas);
    g_free (plane.light);
  }
  fill_signal (sim, frame, t_ns, &scan, signal);
}

/* --- the simulator ------------------------------------------------------- */

void
pbf_sim_machine_init (PbfSimMachine *machine)
{
  *machine = (PbfSimMachine){ .gain = 1,
    .full_scale = 255,
    .pool_size = 1,
    .elongation = 1,
    .scan_speed = 1,
    .spatter_rate = 1,
    .severity = 1 };
}

static gboolean
check_machine (const PbfSimMachine *machine, GError **error)
{
  const struct {
    const gchar *name;
    gdouble value, min, max;
  } fields[] = {
    { "gain", machine->gain, 0.25, 4 },
    { "noise", machine->noise, 0, 32 },
    { "blur", machine->blur, 0, 8 },
    { "background", machine->background, -8, 64 },
    { "full scale", machine->full_scale, 110, 255 },
    { "pool size", machine->pool_size, 0.25, 4 },
    { "elongation", machine->elongation, 0.25, 4 },
    { "scan speed", machine->scan_speed, 0.1, 10 },
    { "spatter rate", machine->spatter_rate, 0, 8 },
    { "offset x", machine->offset_x, -16, 16 },
    { "offset y", machine->offset_y, -16, 16 },
    { "severity", machine->severity, 0, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (!(fields[i].value >= fields[i].min
            && fields[i].value <= fields[i].max)) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
          "%s of %g is not in %g..%g", fields[i].name, fields[i].value,
          fields[i].min, fields[i].max);
      return FALSE;
    }
  return TRUE;
}

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
  if ((guint) config->regime > PBF_SIM_BUILD) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "regime %d is not one of 0..%d", (gint) config->regime, PBF_SIM_BUILD);
    return FALSE;
  }
  return config->machine == NULL || check_machine (config->machine, error);
}

static gint
round_q8 (gdouble value)
{
  return (gint) floor (value * 256 + 0.5);
}

static void
set_machine (PbfSim *sim, const PbfSimMachine *machine)
{
  sim->machine = (Machine){
    .gain = round_q8 (machine->gain),
    .noise = round_q8 (machine->noise),
    .blur = round_q8 (machine->blur),
    .background = round_q8 (machine->background),
    .full_scale = round_q8 (machine->full_scale),
    .pool_size = round_q8 (machine->pool_size),
    .elongation = round_q8 (machine->elongation),
    .spatter_rate = round_q8 (machine->spatter_rate),
    .offset_x = round_q8 (machine->offset_x),
    .offset_y = round_q8 (machine->offset_y),
    .severity = round_q8 (machine->severity),
  };
  sim->um_per_s = (guint64) floor (machine->scan_speed * 1000000 + 0.5);
  sim->ns_per_pixel =
      PBF_SIM_UM_PER_PIXEL * G_GUINT64_CONSTANT (1000000000) / sim->um_per_s;
  /* patches hold neither a larger pool nor light before the sensor */
  sim->plain = sim->machine.gain == 256 && sim->machine.noise == 0
               && sim->machine.blur == 0 && sim->machine.background == 0
               && sim->machine.full_scale == Q8 (255)
               && sim->machine.pool_size <= 256
               && sim->machine.elongation <= 256;
  if (sim->machine.noise > 0)
    fill_gauss (sim, sim->machine.noise);
  if (sim->machine.blur > 0)
    fill_blur (sim, sim->machine.blur / 256.0);
}

PbfSim *
pbf_sim_new (const PbfSimConfig *config, GError **error)
{
  PbfSimMachine neutral;
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

  pbf_sim_machine_init (&neutral);
  set_machine (sim, config->machine != NULL ? config->machine : &neutral);
  sim->config.machine = NULL;

  sides[0] = config->width;
  sides[1] = config->height;
  for (guint i = 0; i < 2; i++) {
    sim->on_ns[i] = (sides[i] - 2 * MARGIN) * sim->ns_per_pixel;
    sim->line_ns[i] = sim->on_ns[i] + sim->on_ns[i] / 9; /* 10 % off */
    sim->layer_ns[i] = sim->line_ns[i] * PBF_SIM_LINES_PER_LAYER;
  }
  sim->rows_per_tile = NOISE_TILE / config->width;
  for (guint i = 0; i < PBF_SIM_MIXED; i++)
    if (config->regime >= PBF_SIM_MIXED || config->regime == i) {
      const Process process = { i, sim->machine.severity, 0 };
      const guint chance =
          shape_of (&process).spatter_chance * sim->machine.spatter_rate / 256;

      sim->most_spatters = MAX (sim->most_spatters, MIN (chance, 256));
    }
  fill_noise (sim);
  return sim;
}

void
pbf_sim_free (PbfSim *sim)
{
  if (sim != NULL)
    g_free (sim->gauss);
  g_free (sim);
}
