/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The synthetic printer: reproducible frames that match their ground truth
 * and signals. */
#include "cuda/camera/sim.h"

#include <math.h>
#include <string.h>
#include "cuda/crop/calibration.h"
#include "cuda/records/machinesignal.h"

#define THRESHOLD 100

typedef struct {
  guint8 *pixels;
  CvisPbfSignal signal;
  PbfSimTruth truth;
} Frame;

static PbfSim *
new_sim (guint width, guint height, guint64 seed, PbfSimRegime regime)
{
  PbfSimConfig config = { width, height, 20000, 1, seed, regime };
  GError *error = NULL;
  PbfSim *sim = pbf_sim_new (&config, &error);

  g_assert_no_error (error);
  g_assert_nonnull (sim);
  return sim;
}

static guint
lit (const guint8 *pixels, guint n)
{
  guint count = 0;

  for (guint i = 0; i < n; i++)
    count += pixels[i] >= THRESHOLD;
  return count;
}

/* Digest of @n frames with all their data. */
static gchar *
digest (PbfSim *sim, guint width, guint height, guint first, guint n)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 *pixels = g_malloc (width * height);
  PbfSimTruth truth;
  CvisPbfSignal signal;
  gchar *text;

  for (guint i = first; i < first + n; i++) {
    memset (&truth, 0, sizeof truth);
    pbf_sim_render (sim, i, pixels, width, &signal, &truth);
    g_checksum_update (sum, pixels, width * height);
    g_checksum_update (sum, (const guchar *) &signal, sizeof signal);
    g_checksum_update (
        sum, (const guchar *) &truth, G_STRUCT_OFFSET (PbfSimTruth, severity));
  }
  text = g_strdup (g_checksum_get_string (sum));
  g_checksum_free (sum);
  g_free (pixels);
  return text;
}

static void
test_same_seed (void)
{
  for (PbfSimRegime r = PBF_SIM_NOMINAL; r <= PBF_SIM_MIXED; r++) {
    PbfSim *a = new_sim (96, 96, 5, r), *b = new_sim (96, 96, 5, r);
    PbfSim *c = new_sim (96, 96, 6, r);
    gchar *one, *two, *other;

    /* in another order: late frames before early ones */
    g_free (digest (b, 96, 96, 700, 50));
    one = digest (a, 96, 96, 300, 500);
    two = digest (b, 96, 96, 300, 500);
    other = digest (c, 96, 96, 300, 500);
    g_assert_cmpstr (one, ==, two);
    g_assert_cmpstr (one, !=, other);
    g_free (one);
    g_free (two);
    g_free (other);
    pbf_sim_free (a);
    pbf_sim_free (b);
    pbf_sim_free (c);
  }
}

/* The output of the first release, which no compiler or processor may
 * change. */
static void
test_known_bytes (void)
{
  PbfSim *sim = new_sim (96, 96, 0, PBF_SIM_MIXED);
  gchar *got = digest (sim, 96, 96, 0, 15000);

  g_assert_cmpstr (got, ==,
      "77b9f088f06723b66e1f1d64d40ddabaa2923e369f443cf7684c2c33b76e7347");
  g_free (got);
  pbf_sim_free (sim);
}

static void
test_stride (void)
{
  static const guint sizes[][2] = { { 41, 43 }, { 512, 300 }, { 40, 4096 },
    { 4096, 40 }, { 96, 96 }, { 63, 65 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    guint w = sizes[i][0], h = sizes[i][1], stride = w + 37;
    PbfSim *sim = new_sim (w, h, i, PBF_SIM_SPATTER);
    guint8 *tight = g_malloc (w * h), *loose = g_malloc (stride * h + 64);
    PbfSimTruth truth;
    CvisPbfSignal signal;

    for (guint n = 0; n < 40; n++) {
      guint frame = n * 997;

      memset (loose, 0xa5, stride * h + 64);
      pbf_sim_render (sim, frame, tight, w, &signal, &truth);
      pbf_sim_render (sim, frame, loose + 32, stride, &signal, &truth);
      for (guint k = 0; k < 32; k++)
        g_assert_cmpuint (loose[k], ==, 0xa5);
      for (guint y = 0; y < h; y++) {
        const guint8 *row = loose + 32 + y * stride;

        g_assert_cmpmem (row, w, tight + y * w, w);
        for (guint x = w; x < stride; x++)
          g_assert_cmpuint (row[x], ==, 0xa5);
      }
    }
    g_free (tight);
    g_free (loose);
    pbf_sim_free (sim);
  }
}

/* In a frame without spatters only the melt pool exceeds the threshold;
 * noise of +-6 changes only the few pixels near it. A cold spatter over the
 * tail may raise a few more. Returns: TRUE if noise explains the difference */
static gboolean
check_pool (const guint8 *pixels, guint side, const PbfSimTruth *truth)
{
  guint n = side * side, sure = 0, possible = 0;

  for (guint i = 0; i < n; i++) {
    sure += pixels[i] >= THRESHOLD + 6;
    possible += pixels[i] >= THRESHOLD - 6;
  }
  g_assert_cmpuint (truth->pool_area + 10, >=, sure);
  g_assert_cmpuint (truth->pool_area, <=, possible);
  return truth->pool_area >= sure;
}

/* Centroid of the brightest pixels near the spot, compared with the signals. */
static void
check_position (const guint8 *pixels, guint side, const CvisPbfSignal *signal,
    const PbfSimTruth *truth, const PbfCalibration *calibration)
{
  gdouble x, y, sum = 0.0, sx = 0.0, sy = 0.0;

  g_assert_true (
      pbf_calibration_apply (calibration, signal->x_um, signal->y_um, &x, &y));
  g_assert_cmpfloat (hypot (truth->pool_x - x, truth->pool_y - y), <, 1.5);
  g_assert_cmpfloat (x, >=, 5.99);
  g_assert_cmpfloat (x, <=, side - 5.99);
  if (truth->regime != PBF_SIM_NOMINAL)
    return;
  for (guint v = 0; v < side; v++)
    for (guint u = 0; u < side; u++)
      if (pixels[v * side + u] >= 245) {
        sum += 1.0;
        sx += u + 0.5;
        sy += v + 0.5;
      }
  g_assert_cmpfloat (sum, >, 10.0);
  g_assert_cmpfloat (
      hypot (sx / sum - truth->pool_x, sy / sum - truth->pool_y), <, 1.0);
}

static void
test_truth (void)
{
  PbfCalibration calibration;
  guint8 pixels[96 * 96];
  PbfSimTruth truth;
  CvisPbfSignal signal;

  g_assert_true (
      pbf_calibration_parse (PBF_CALIBRATION_DEFAULT, &calibration, NULL));
  for (PbfSimRegime r = PBF_SIM_NOMINAL; r <= PBF_SIM_MIXED; r++) {
    PbfSim *sim = new_sim (96, 96, 3, r);
    guint checked = 0, exact = 0;

    for (guint n = 0; n < 4000; n++) {
      guint frame = n * 7;

      pbf_sim_render (sim, frame, pixels, 96, &signal, &truth);
      if (r != PBF_SIM_MIXED)
        g_assert_cmpint (truth.regime, ==, r);
      g_assert_cmpint (
          truth.laser_on, ==, (signal.flags & CVIS_PBF_SIGNAL_LASER_ON) != 0);
      if (!truth.laser_on) {
        g_assert_cmpuint (lit (pixels, sizeof pixels), ==, 0);
        g_assert_cmpuint (truth.pool_area, ==, 0);
        g_assert_cmpuint (truth.n_spatters, ==, 0);
      } else if (truth.n_spatters == 0) {
        exact += check_pool (pixels, 96, &truth);
        check_position (pixels, 96, &signal, &truth, &calibration);
        checked++;
      }
    }
    g_assert_cmpuint (checked, >, 2);
    g_assert_cmpuint (exact, >, checked * 9 / 10);
    pbf_sim_free (sim);
  }
}

/* Spatters are at the positions of the ground truth: bright there, and not
 * brighter elsewhere. */
static void
test_spatters (void)
{
  PbfSim *sim = new_sim (256, 256, 9, PBF_SIM_SPATTER);
  guint8 *pixels = g_malloc (256 * 256);
  PbfSimTruth truth;
  CvisPbfSignal signal;
  guint seen = 0;

  for (guint n = 0; n < 1000; n++) {
    guint sum = 0;

    pbf_sim_render (sim, 400 + n, pixels, 256, &signal, &truth);
    g_assert_cmpuint (truth.n_spatters, <=, PBF_SIM_MAX_SPATTERS);
    for (guint i = 0; i < truth.n_spatters; i++) {
      gint x = (gint) truth.spatter_x[i], y = (gint) truth.spatter_y[i];

      g_assert_cmpuint (truth.spatter_area[i], >, 0);
      sum += truth.spatter_area[i];
      if (x < 1 || y < 1 || x > 254 || y > 254)
        continue;
      g_assert_cmpuint (pixels[y * 256 + x], >=, THRESHOLD - 6);
      seen++;
    }
    /* lit pixels are melt pool or spatter; these may overlap, and their dim
     * edges may add a few */
    g_assert_cmpuint (lit (pixels, 256 * 256), <=,
        truth.pool_area + sum + 12 * (truth.n_spatters + 3));
  }
  g_assert_cmpuint (seen, >, 1000);
  g_free (pixels);
  pbf_sim_free (sim);
}

typedef struct {
  gdouble area, area_sd, brightness, spatters, on, dark, offset;
} Statistics;

static Statistics
statistics (PbfSimRegime regime, guint first)
{
  PbfSim *sim = new_sim (96, 96, 1, regime);
  guint8 pixels[96 * 96];
  PbfSimTruth truth;
  CvisPbfSignal signal;
  Statistics s = { 0 };
  gdouble bright = 0.0, squares = 0.0;
  guint on = 0;

  for (guint n = first; n < first + 8000; n++) {
    guint64 sum = 0;
    guint count = 0;

    pbf_sim_render (sim, n, pixels, 96, &signal, &truth);
    if (!truth.laser_on)
      continue;
    on++;
    s.area += truth.pool_area;
    squares += (gdouble) truth.pool_area * truth.pool_area;
    s.spatters += truth.n_spatters;
    s.dark += truth.pool_area == 0;
    s.offset += hypot (
        truth.pool_x - signal.x_um / 200.0, truth.pool_y - signal.y_um / 200.0);
    for (guint i = 0; i < sizeof pixels; i++)
      if (pixels[i] >= THRESHOLD) {
        sum += pixels[i];
        count++;
      }
    bright += count > 0 ? (gdouble) sum / count : 0.0;
  }
  s.area /= on;
  s.area_sd = sqrt (squares / on - s.area * s.area);
  s.spatters /= on;
  s.dark /= on;
  s.offset /= on;
  s.brightness = bright / on;
  s.on = on / 8000.0;
  pbf_sim_free (sim);
  return s;
}

static void
test_regimes (void)
{
  Statistics nominal = statistics (PBF_SIM_NOMINAL, 0);
  Statistics keyhole = statistics (PBF_SIM_KEYHOLE, 0);
  Statistics lof = statistics (PBF_SIM_LACK_OF_FUSION, 0);
  Statistics spatter = statistics (PBF_SIM_SPATTER, 0);
  Statistics early = statistics (PBF_SIM_DRIFT, 0);
  Statistics late = statistics (PBF_SIM_DRIFT, 20000);

  g_assert_cmpfloat (fabs (nominal.on - 0.9), <, 0.01);

  g_assert_cmpfloat (keyhole.area, <, nominal.area * 0.6);
  g_assert_cmpfloat (keyhole.brightness, >, nominal.brightness * 0.95);
  g_assert_cmpfloat (
      keyhole.area_sd / keyhole.area, >, 2.0 * nominal.area_sd / nominal.area);
  g_assert_cmpfloat (keyhole.spatters, >, nominal.spatters * 2.0);

  g_assert_cmpfloat (lof.area, >, nominal.area * 1.1);
  g_assert_cmpfloat (lof.brightness, <, nominal.brightness * 0.8);
  g_assert_cmpfloat (lof.area_sd, >, nominal.area_sd * 2.0);
  g_assert_cmpfloat (lof.dark, >, 0.01);
  g_assert_cmpfloat (lof.dark, <, 0.2);
  g_assert_cmpfloat (nominal.dark, ==, 0.0);

  g_assert_cmpfloat (spatter.spatters, >, nominal.spatters * 8.0);
  g_assert_cmpfloat (fabs (spatter.area / nominal.area - 1.0), <, 0.1);

  g_assert_cmpfloat (late.area, >, early.area * 1.3);
  g_assert_cmpfloat (late.offset, >, early.offset + 0.4);
}

static void
test_mixed (void)
{
  PbfSim *sim = new_sim (40, 40, 0, PBF_SIM_MIXED);
  guint8 pixels[40 * 40];
  PbfSimTruth truth;
  CvisPbfSignal signal;

  for (guint n = 0; n < 11; n++)
    for (guint edge = 0; edge < 2; edge++) {
      guint frame = n * PBF_SIM_MIXED_FRAMES;

      frame += edge * (PBF_SIM_MIXED_FRAMES - 1);
      pbf_sim_render (sim, frame, pixels, 40, &signal, &truth);
      g_assert_cmpint (truth.regime, ==, n % PBF_SIM_MIXED);
    }
  pbf_sim_free (sim);
}

/* The scan according to the signals: 1 m/s along the lines, start flags for
 * each line and layer and nowhere else. */
static void
test_signals (void)
{
  PbfSim *sim = new_sim (96, 64, 2, PBF_SIM_NOMINAL);
  guint8 pixels[96 * 64];
  PbfSimTruth truth;
  CvisPbfSignal signal, last = { 0 };
  guint lines = 0, layers = 0;

  for (guint n = 0; n < 20000; n++) {
    gboolean line, layer;

    pbf_sim_render (sim, n, pixels, 96, &signal, &truth);
    g_assert_cmpuint (signal.magic, ==, CVIS_PBF_SIGNAL_MAGIC);
    g_assert_cmpuint (signal.crc32c, ==, pbf_crc32c (&signal, 60));
    g_assert_cmpuint (signal.frame_counter, ==, n);
    g_assert_cmpuint (signal.t_ns, ==, n * G_GUINT64_CONSTANT (50000));
    g_assert_cmpuint (signal.width, ==, 96);
    g_assert_cmpuint (signal.height, ==, 64);
    g_assert_cmpuint (signal.speed_um_s, ==, 1000000);
    g_assert_true (signal.flags & CVIS_PBF_SIGNAL_TEST);
    g_assert_true (signal.flags & CVIS_PBF_SIGNAL_POSITION_VALID);
    line = n == 0 || signal.vector_id != last.vector_id
           || signal.layer != last.layer;
    layer = n == 0 || signal.layer != last.layer;
    g_assert_cmpint (
        (signal.flags & CVIS_PBF_SIGNAL_VECTOR_START) != 0, ==, line);
    g_assert_cmpint (
        (signal.flags & CVIS_PBF_SIGNAL_LAYER_START) != 0, ==, layer);
    lines += line;
    layers += layer;
    if (!line && (signal.flags & last.flags & CVIS_PBF_SIGNAL_LASER_ON)) {
      gint dx = ABS (signal.x_um - last.x_um),
           dy = ABS (signal.y_um - last.y_um);

      /* layers alternate: along x, along y */
      g_assert_cmpint (signal.layer % 2 == 0 ? dx : dy, ==, 50);
      g_assert_cmpint (signal.layer % 2 == 0 ? dy : dx, ==, 0);
    }
    last = signal;
  }
  g_assert_cmpuint (layers, ==, last.layer + 1);
  g_assert_cmpuint (layers, >=, 2);
  g_assert_cmpuint (
      lines, ==, last.layer * PBF_SIM_LINES_PER_LAYER + last.vector_id + 1);
  pbf_sim_free (sim);
}

static void
test_time (void)
{
  static const guint rates[][2] = { { 20000, 1 }, { 1000000, 1 },
    { 30000, 1001 }, { 2147483647, 2148 }, { 1, 2147483647 }, { 3, 7 } };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    PbfSimConfig config = { 40, 40, rates[i][0], rates[i][1], 0, 0 };
    PbfSim *sim = pbf_sim_new (&config, NULL);

    g_assert_nonnull (sim);
    for (guint k = 0; k < 1000; k++) {
      guint64 n = g_test_rand_int ();
      unsigned __int128 t = (unsigned __int128) n * 1000000000u * rates[i][1];

      if (t / rates[i][0] > G_MAXINT64)
        continue;
      g_assert_cmpuint (pbf_sim_time (sim, n), ==, (guint64) (t / rates[i][0]));
    }
    pbf_sim_free (sim);
  }
}

/* --- machines -------------------------------------------------------------- */

/* Means over the first frames of a machine with one factor changed. */
typedef struct {
  gdouble area, dark, dark_sd, max, edge, pool_x, spatters, lines;
} Look;

static Look
look_at (gsize field, gdouble value, PbfSimRegime regime)
{
  PbfSimMachine machine;
  PbfSimConfig config = { 96, 96, 20000, 1, 3, regime, &machine };
  guint8 pixels[96 * 96];
  Look look = { 0 };
  gdouble squares = 0;
  guint on = 0;
  PbfSim *sim;

  pbf_sim_machine_init (&machine);
  G_STRUCT_MEMBER (gdouble, &machine, field) = value;
  sim = pbf_sim_new (&config, NULL);
  g_assert_nonnull (sim);
  for (guint n = 0; n < 2000; n++) {
    PbfSimTruth truth;
    CvisPbfSignal signal;
    gint steepest = 0;

    pbf_sim_render (sim, n, pixels, 96, &signal, &truth);
    look.lines = signal.vector_id + 1;
    if (!truth.laser_on)
      continue;
    on++;
    look.area += lit (pixels, sizeof pixels);
    look.pool_x += truth.pool_x - signal.x_um / 200.0;
    look.spatters += truth.n_spatters;
    for (guint i = 0; i < sizeof pixels; i++) {
      look.max = MAX (look.max, pixels[i]);
      if (i % 96 > 0)
        steepest = MAX (steepest, pixels[i] - pixels[i - 1]);
    }
    look.edge += steepest;
    for (guint i = 80 * 96; i < 96 * 96; i++) { /* the lines begin at the top */
      look.dark += pixels[i];
      squares += pixels[i] * pixels[i];
    }
  }
  pbf_sim_free (sim);
  look.area /= on;
  look.edge /= on;
  look.pool_x /= on;
  look.spatters /= on;
  look.dark /= on * 16 * 96.0;
  look.dark_sd = sqrt (squares / (on * 16 * 96.0) - look.dark * look.dark);
  return look;
}

#define LOOK(field, value)                                                     \
  look_at (G_STRUCT_OFFSET (PbfSimMachine, field), value, PBF_SIM_NOMINAL)

static void
test_machine (void)
{
  const Look neutral = LOOK (gain, 1);

  g_assert_cmpfloat (LOOK (gain, 0.6).area, <, neutral.area * 0.95);
  g_assert_cmpfloat (LOOK (gain, 1.5).area, >, neutral.area * 1.05);
  g_assert_cmpfloat (fabs (LOOK (noise, 6).dark_sd - hypot (6, 1.73)), <, 0.1);
  g_assert_cmpfloat (fabs (LOOK (noise, 3).dark - neutral.dark), <, 0.1);
  g_assert_cmpfloat (LOOK (blur, 2).edge, <, neutral.edge * 0.8);
  g_assert_cmpfloat (
      fabs (LOOK (background, 20).dark - neutral.dark - 20), <, 0.01);
  g_assert_cmpfloat (LOOK (full_scale, 190).max, ==, 190);
  g_assert_cmpfloat (neutral.max, ==, 255);
  g_assert_cmpfloat (LOOK (pool_size, 1.25).area, >, neutral.area * 1.3);
  g_assert_cmpfloat (LOOK (pool_size, 0.8).area, <, neutral.area * 0.8);
  g_assert_cmpfloat (LOOK (elongation, 1.2).area, >, neutral.area * 1.1);
  g_assert_cmpfloat (LOOK (elongation, 1.2).area, <, neutral.area * 1.25);
  g_assert_cmpfloat (LOOK (scan_speed, 2).lines, >, neutral.lines * 1.6);
  g_assert_cmpfloat (
      LOOK (spatter_rate, 2).spatters, >, neutral.spatters * 1.6);
  g_assert_cmpfloat (
      fabs (LOOK (offset_x, 1.5).pool_x - neutral.pool_x - 1.5), <, 0.01);
}

/* A blur moves light, and the frame has as much as without it. */
static void
test_blur (void)
{
  guint8 pixels[96 * 96];
  gdouble light[2] = { 0 };

  for (guint i = 0; i < 2; i++) {
    PbfSimMachine machine;
    PbfSimConfig config = { 96, 96, 20000, 1, 3, PBF_SIM_NOMINAL, &machine };
    PbfSimTruth truth;
    CvisPbfSignal signal;
    PbfSim *sim;

    pbf_sim_machine_init (&machine);
    machine.gain = 0.25; /* below saturation */
    machine.blur = 2.0 * i;
    sim = pbf_sim_new (&config, NULL);
    for (guint n = 100; n < 200; n++) {
      pbf_sim_render (sim, n, pixels, 96, &signal, &truth);
      for (guint k = 0; k < sizeof pixels; k++)
        light[i] += pixels[k];
    }
    light[i] /= 100;
    light[i] -= 14.0 * sizeof pixels;
    pbf_sim_free (sim);
  }
  g_assert_cmpfloat (light[0], >, 2000);
  g_assert_cmpfloat (fabs (light[1] / light[0] - 1), <, 0.05);
}

/* Without severity every regime has the bytes of the nominal one; with half of it a
 * defect is between both. */
static void
test_severity (void)
{
  const gsize severity = G_STRUCT_OFFSET (PbfSimMachine, severity);
  PbfSimMachine machine;
  gdouble areas[3];

  pbf_sim_machine_init (&machine);
  machine.severity = 0;
  for (PbfSimRegime r = PBF_SIM_KEYHOLE; r <= PBF_SIM_DRIFT; r++) {
    PbfSimConfig config = { 96, 96, 20000, 1, 8, r, &machine };
    PbfSim *defect = pbf_sim_new (&config, NULL);
    PbfSim *nominal = new_sim (96, 96, 8, PBF_SIM_NOMINAL);
    guint8 pixels[2][96 * 96];
    PbfSimTruth truth;
    CvisPbfSignal signal;

    for (guint n = 19900; n < 20100; n++) {
      pbf_sim_render (nominal, n, pixels[0], 96, &signal, &truth);
      pbf_sim_render (defect, n, pixels[1], 96, &signal, &truth);
      g_assert_cmpmem (pixels[0], 96 * 96, pixels[1], 96 * 96);
      g_assert_cmpint (truth.regime, ==, r);
      g_assert_cmpfloat (truth.severity, ==, 0);
    }
    pbf_sim_free (defect);
    pbf_sim_free (nominal);
  }
  for (guint i = 0; i < 3; i++)
    areas[i] = look_at (severity, i / 2.0, PBF_SIM_KEYHOLE).area;
  g_assert_cmpfloat (areas[0], >, areas[1] * 1.1);
  g_assert_cmpfloat (areas[1], >, areas[2] * 1.1);
}

/* Labels of a build: constant along a line, the same for the same seed, nominal in
 * the first two layers, all regimes in the first eight; drift grows in two layers. */
static void
test_build (void)
{
  PbfSim *sim = new_sim (40, 40, 11, PBF_SIM_BUILD);
  PbfSim *again = new_sim (40, 40, 11, PBF_SIM_BUILD);
  guint8 pixels[40 * 40];
  guint seen[PBF_SIM_MIXED] = { 0 };
  PbfSimTruth truth, other, before = { 0 };
  CvisPbfSignal signal, last = { 0 };

  for (guint n = 0; n == 0 || last.layer < PBF_SIM_BUILD_PERIOD; n += 20) {
    pbf_sim_render (sim, n, pixels, 40, &signal, &truth);
    pbf_sim_render (again, n, pixels, 40, &signal, &other);
    g_assert_cmpint (truth.regime, ==, other.regime);
    g_assert_cmpfloat (truth.severity, ==, other.severity);
    g_assert_cmpint (truth.regime, <, PBF_SIM_MIXED);
    g_assert_cmpint (truth.regime == PBF_SIM_DRIFT, ==,
        signal.layer % PBF_SIM_BUILD_PERIOD >= PBF_SIM_BUILD_PERIOD - 2);
    g_assert_cmpint (truth.regime == PBF_SIM_NOMINAL, ==, truth.severity == 0);
    g_assert_cmpint (truth.regime == PBF_SIM_DRIFT, ==, truth.drift > 0);
    if (signal.layer < 2)
      g_assert_cmpint (truth.regime, ==, PBF_SIM_NOMINAL);
    if (truth.regime == before.regime && truth.regime == PBF_SIM_DRIFT)
      g_assert_cmpfloat (truth.drift, >=, before.drift);
    if (signal.layer == last.layer && signal.vector_id == last.vector_id
        && n > 0) {
      g_assert_cmpint (truth.regime, ==, before.regime);
      g_assert_cmpfloat (truth.severity, ==, before.severity);
      g_assert_cmpfloat (truth.drift, ==, before.drift);
    }
    seen[truth.regime]++;
    before = truth;
    last = signal;
  }
  for (guint r = 0; r < PBF_SIM_MIXED; r++)
    g_assert_cmpuint (seen[r], >, 0);
  pbf_sim_free (sim);
  pbf_sim_free (again);
}

static void
refuse (PbfSimConfig config, const gchar *words)
{
  GError *error = NULL;

  g_assert_null (pbf_sim_new (&config, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, words));
  g_clear_error (&error);
}

static void
test_refused (void)
{
  refuse ((PbfSimConfig){ 39, 96, 20000, 1, 0, 0 }, "width of 39");
  refuse ((PbfSimConfig){ 96, 4097, 20000, 1, 0, 0 }, "height of 4097");
  refuse ((PbfSimConfig){ 96, 96, 0, 1, 0, 0 }, "frame rate 0/1");
  refuse ((PbfSimConfig){ 96, 96, 1, 0, 0, 0 }, "frame rate 1/0");
  refuse ((PbfSimConfig){ 96, 96, 1000001, 1, 0, 0 }, "frame rate 1000001/1");
  refuse ((PbfSimConfig){ 96, 96, 20000, 1, 0, 7 }, "regime 7");
  for (guint i = 0; i < 2; i++) {
    PbfSimMachine machine;

    pbf_sim_machine_init (&machine);
    if (i == 0)
      machine.gain = 4.1;
    else
      machine.severity = NAN;
    refuse ((PbfSimConfig){ 96, 96, 20000, 1, 0, 0, &machine },
        i == 0 ? "gain of 4.1 is not in 0.25..4" : "severity of nan");
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfsim/same-seed", test_same_seed);
  g_test_add_func ("/pbfsim/known-bytes", test_known_bytes);
  g_test_add_func ("/pbfsim/stride", test_stride);
  g_test_add_func ("/pbfsim/truth", test_truth);
  g_test_add_func ("/pbfsim/spatters", test_spatters);
  g_test_add_func ("/pbfsim/regimes", test_regimes);
  g_test_add_func ("/pbfsim/mixed", test_mixed);
  g_test_add_func ("/pbfsim/signals", test_signals);
  g_test_add_func ("/pbfsim/time", test_time);
  g_test_add_func ("/pbfsim/machine", test_machine);
  g_test_add_func ("/pbfsim/blur", test_blur);
  g_test_add_func ("/pbfsim/severity", test_severity);
  g_test_add_func ("/pbfsim/build", test_build);
  g_test_add_func ("/pbfsim/refused", test_refused);
  return g_test_run ();
}
