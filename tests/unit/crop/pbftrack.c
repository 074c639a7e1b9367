/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Streams of machine signals with all kinds of faults. */
#include "cuda/crop/track.h"

#include <math.h>

typedef struct {
  PbfTrack *track;
  PbfFrameInfo info;
} Fixture;

static PbfTrackConfig
config_default (void)
{
  PbfTrackConfig config = { .source = PBF_POSITION_SOURCE_SIGNALS };

  g_assert_true (pbf_calibration_parse (
      PBF_CALIBRATION_DEFAULT, &config.calibration, NULL));
  return config;
}

static Fixture
fixture (const PbfTrackConfig *config)
{
  PbfTrackConfig usual = config_default ();
  Fixture f = { .track = pbf_track_new (config ? config : &usual) };
  return f;
}

/* A record at 20 kHz, moving 50 um a frame. */
static CvisPbfSignal
record (guint32 counter)
{
  CvisPbfSignal s = {
    .frame_counter = counter,
    .flags = CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_POSITION_VALID,
    .x_um = 1000 + 50 * (gint32) (counter & 0xffff),
    .y_um = 2000,
    .layer = 3,
    .vector_id = 5,
    .t_ns = 50000 * (guint64) counter,
  };
  return s;
}

static void
push (Fixture *f, CvisPbfSignal s)
{
  pbf_signal_seal (&s);
  pbf_track_frame (f->track, &s, 77, 0, 0, &f->info);
}

static void
push_counter (Fixture *f, guint32 counter)
{
  push (f, record (counter));
}

#define ASSERT_FRAME(f, wanted_flags, wanted_entry)                            \
  G_STMT_START                                                                 \
  {                                                                            \
    g_assert_cmphex ((f)->info.flags, ==, (wanted_flags));                     \
    g_assert_cmpint ((f)->info.entry, ==, (wanted_entry));                     \
  }                                                                            \
  G_STMT_END

static void
test_plain (void)
{
  Fixture f = fixture (NULL);

  for (guint32 i = 0; i < 10; i++) {
    push_counter (&f, 100 + i);
    ASSERT_FRAME (&f, 0, PBF_ENTER);
    g_assert_cmpuint (f.info.frame_index, ==, i);
    g_assert_cmpuint (f.info.frame_counter, ==, 100 + i);
    g_assert_cmpuint (f.info.timestamp_ns, ==, 77);
    g_assert_cmpuint (f.info.layer, ==, 3);
    g_assert_cmpuint (f.info.vector_id, ==, 5);
    g_assert_cmpint (f.info.x_um, ==, 6000 + 50 * (gint32) i);
    g_assert_cmpint (f.info.position, ==, PBF_POSITION_GIVEN);
    /* 200 um a pixel: 1 um is 1.28 in Q8 */
    g_assert_cmpint (
        f.info.e_x_q8, ==, (gint32) floor ((6000 + 50 * i) * 1.28 + 0.5));
    g_assert_cmpint (f.info.e_y_q8, ==, 2560);
    g_assert_cmpuint (f.info.lost_before, ==, 0);
  }
  g_assert_cmpuint (pbf_track_get_counts (f.track)->frames, ==, 10);
  pbf_track_free (f.track);
}

static void
test_lost (void)
{
  Fixture f = fixture (NULL);

  push_counter (&f, 10);
  push_counter (&f, 14);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_LOST_BEFORE, PBF_ENTER);
  g_assert_cmpuint (f.info.lost_before, ==, 3);
  push_counter (&f, 15);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  push_counter (&f, 15 + 0x7fffffffu); /* the largest forward step */
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_LOST_BEFORE, PBF_ENTER);
  g_assert_cmpuint (f.info.lost_before, ==, 0x7ffffffe);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->lost, ==,
      3 + G_GUINT64_CONSTANT (0x7ffffffe));
  pbf_track_free (f.track);
}

static void
test_late_and_repeated (void)
{
  Fixture f = fixture (NULL);
  const guint32 excluded = CVIS_PBF_RESULT_EXCLUDED;

  push_counter (&f, 10);
  push_counter (&f, 12);
  push_counter (&f, 11);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_LATE | excluded, PBF_EXCLUDE);
  push_counter (&f, 12);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_REPEATED | excluded, PBF_EXCLUDE);
  push_counter (&f, 13);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->late, ==, 1);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->repeated, ==, 1);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->lost, ==, 1);
  pbf_track_free (f.track);
}

static void
test_wrap (void)
{
  Fixture f = fixture (NULL);

  push_counter (&f, 0xfffffffe);
  push_counter (&f, 0xffffffff);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  push_counter (&f, 0);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  push_counter (&f, 3);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_LOST_BEFORE, PBF_ENTER);
  g_assert_cmpuint (f.info.lost_before, ==, 2);
  push_counter (&f, 0xffffffff);
  ASSERT_FRAME (
      &f, CVIS_PBF_RESULT_LATE | CVIS_PBF_RESULT_EXCLUDED, PBF_EXCLUDE);
  pbf_track_free (f.track);
}

static void
test_restart (void)
{
  Fixture f = fixture (NULL);

  push_counter (&f, 5000);
  for (guint32 i = 0; i < 31; i++) {
    push_counter (&f, i);
    ASSERT_FRAME (
        &f, CVIS_PBF_RESULT_LATE | CVIS_PBF_RESULT_EXCLUDED, PBF_EXCLUDE);
  }
  push_counter (&f, 31);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_GAP, PBF_ENTER);
  push_counter (&f, 32);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->late, ==, 31);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->lost, ==, 0);
  pbf_track_free (f.track);
}

/* Late records among good ones, or out of order, are never a restart. */
static void
test_no_restart (void)
{
  Fixture f = fixture (NULL);

  push_counter (&f, 5000);
  for (guint32 i = 0; i < 100; i++) {
    push_counter (&f, i);
    ASSERT_FRAME (
        &f, CVIS_PBF_RESULT_LATE | CVIS_PBF_RESULT_EXCLUDED, PBF_EXCLUDE);
    push_counter (&f, 5001 + i);
    ASSERT_FRAME (&f, 0, PBF_ENTER);
  }
  for (guint32 i = 0; i < 100; i++) {
    push_counter (&f, 2 * i);
    ASSERT_FRAME (
        &f, CVIS_PBF_RESULT_LATE | CVIS_PBF_RESULT_EXCLUDED, PBF_EXCLUDE);
  }
  pbf_track_free (f.track);
}

static void
test_corrupt (void)
{
  Fixture f = fixture (NULL);
  CvisPbfSignal bad;

  push_counter (&f, 20);
  bad = record (21);
  pbf_signal_seal (&bad);
  bad.x_um ^= 1;
  pbf_track_frame (f.track, &bad, 0, 0, 0, &f.info);
  ASSERT_FRAME (&f,
      CVIS_PBF_RESULT_SIGNAL_CORRUPT | CVIS_PBF_RESULT_POSITION_FALLBACK,
      PBF_ENTER_IF_LIT);
  g_assert_cmpuint (f.info.frame_counter, ==, 21);
  g_assert_cmpint (f.info.position, ==, PBF_POSITION_BRIGHTEST);
  g_assert_cmpint (f.info.x_um, ==, 0);
  g_assert_cmpuint (f.info.signal_flags, ==, 0);
  push_counter (&f, 22);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  pbf_track_frame (f.track, &bad, 0, 0, 0, &f.info);
  push_counter (&f, 25); /* 23 was corrupt, 24 is lost */
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_LOST_BEFORE, PBF_ENTER);
  g_assert_cmpuint (f.info.lost_before, ==, 1);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->corrupt, ==, 2);
  pbf_track_free (f.track);
}

static void
test_corrupt_first (void)
{
  Fixture f = fixture (NULL);
  CvisPbfSignal bad = { 0 };

  pbf_track_frame (f.track, &bad, 0, 0, 0, &f.info);
  pbf_track_frame (f.track, &bad, 0, 0, 0, &f.info);
  g_assert_cmpuint (f.info.frame_counter, ==, 1);
  push_counter (&f, 4000);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  pbf_track_free (f.track);
}

static void
test_no_signal (void)
{
  Fixture f = fixture (NULL);

  push_counter (&f, 20);
  pbf_track_frame (f.track, NULL, G_MAXUINT64, 0, 0, &f.info);
  ASSERT_FRAME (&f,
      CVIS_PBF_RESULT_NO_SIGNAL | CVIS_PBF_RESULT_POSITION_FALLBACK,
      PBF_ENTER_IF_LIT);
  g_assert_cmpuint (f.info.frame_counter, ==, 1);
  g_assert_cmpuint (f.info.timestamp_ns, ==, G_MAXUINT64);
  /* whether or not the machine counted the frame without a record */
  push_counter (&f, 21);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  pbf_track_frame (f.track, NULL, 0, 0, 0, &f.info);
  push_counter (&f, 23);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->no_signal, ==, 2);
  pbf_track_free (f.track);
}

static void
test_sources (void)
{
  static const struct {
    PbfPositionSource source;
    guint32 position;
  } cases[] = {
    { PBF_POSITION_SOURCE_BRIGHTEST, PBF_POSITION_BRIGHTEST },
    { PBF_POSITION_SOURCE_CENTROID, PBF_POSITION_CENTROID },
    { PBF_POSITION_SOURCE_FIXED, PBF_POSITION_GIVEN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PbfTrackConfig config = config_default ();
    Fixture f;

    config.source = cases[i].source;
    config.fixed_x = 20.5;
    config.fixed_y = -3.25;
    f = fixture (&config);
    push_counter (&f, 1);
    ASSERT_FRAME (&f, 0, PBF_ENTER);
    g_assert_cmpint (f.info.position, ==, cases[i].position);
    pbf_track_frame (f.track, NULL, 0, 0, 0, &f.info);
    ASSERT_FRAME (&f, CVIS_PBF_RESULT_NO_SIGNAL, PBF_ENTER_IF_LIT);
    g_assert_cmpint (f.info.position, ==, cases[i].position);
    if (cases[i].source == PBF_POSITION_SOURCE_FIXED) {
      g_assert_cmpint (f.info.e_x_q8, ==, 5248);
      g_assert_cmpint (f.info.e_y_q8, ==, -832);
    }
    pbf_track_free (f.track);
  }
}

static void
test_position (void)
{
  PbfTrackConfig config = config_default ();
  Fixture f = fixture (&config);
  CvisPbfSignal s = record (1);

  s.x_um = 10000;
  s.y_um = 6001;
  pbf_signal_seal (&s);
  pbf_track_frame (f.track, &s, 0, 12, -5, &f.info);
  g_assert_cmpint (f.info.e_x_q8, ==, (50 - 12) * 256);
  g_assert_cmpint (f.info.e_y_q8, ==, 35 * 256 + 1); /* 35.005 */

  s = record (2);
  s.x_um = G_MAXINT32;
  s.y_um = G_MININT32;
  push (&f, s);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  g_assert_cmpint (f.info.e_x_q8, ==, 1 << 22);
  g_assert_cmpint (f.info.e_y_q8, ==, -(1 << 22));

  s = record (3);
  s.flags &= ~CVIS_PBF_SIGNAL_POSITION_VALID;
  push (&f, s);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_POSITION_FALLBACK, PBF_ENTER);
  g_assert_cmpint (f.info.position, ==, PBF_POSITION_BRIGHTEST);
  pbf_track_free (f.track);

  /* w is 0 at x = 1000 um */
  g_assert_true (pbf_calibration_parse (
      "1,0,0,0,1,0,-0.001,0,1", &config.calibration, NULL));
  f = fixture (&config);
  s = record (1);
  s.x_um = 1000;
  push (&f, s);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_POSITION_FALLBACK, PBF_ENTER);
  pbf_track_free (f.track);
}

static void
test_laser_off (void)
{
  PbfTrackConfig config = config_default ();
  Fixture f = fixture (&config);
  CvisPbfSignal s = record (1);

  s.flags = 0;
  push (&f, s);
  ASSERT_FRAME (&f, CVIS_PBF_RESULT_EMPTY, PBF_EMPTY);
  g_assert_cmpint (f.info.x_um, ==, 1050);
  push_counter (&f, 2);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->laser_off, ==, 1);
  pbf_track_free (f.track);

  config.empty_frames = PBF_EMPTY_FRAMES_ANALYSE;
  f = fixture (&config);
  s.flags = CVIS_PBF_SIGNAL_POSITION_VALID;
  push (&f, s);
  ASSERT_FRAME (
      &f, CVIS_PBF_RESULT_EMPTY | CVIS_PBF_RESULT_EXCLUDED, PBF_EXCLUDE);
  g_assert_cmpint (f.info.position, ==, PBF_POSITION_GIVEN);
  pbf_track_free (f.track);
}

/* A delay of 120 us at 50 us a frame: the state of 2.4 frames ago. */
static void
test_delay (void)
{
  PbfTrackConfig config = config_default ();
  Fixture f;

  config.signal_delay_us = 120;
  f = fixture (&config);
  for (guint32 i = 100; i < 140; i++) {
    CvisPbfSignal s = record (i);
    gint32 moved = (gint32) s.x_um - 120;

    s.layer = i / 20;
    if (i % 10 == 3)
      s.flags &= ~CVIS_PBF_SIGNAL_LASER_ON;
    push (&f, s);
    g_assert_cmpuint (f.info.frame_counter, ==, i);
    if (i < 103) { /* before the oldest state: that one */
      g_assert_cmpint (f.info.x_um, ==, record (100).x_um);
      continue;
    }
    g_assert_cmpuint (f.info.layer, ==, (i - 3) / 20);
    g_assert_cmpint (!(f.info.signal_flags & CVIS_PBF_SIGNAL_LASER_ON), ==,
        (i - 3) % 10 == 3);
    if ((i - 3) / 20 == (i - 2) / 20)
      g_assert_cmpint (f.info.x_um, ==, moved);
    else /* the next record belongs to another layer */
      g_assert_cmpint (f.info.x_um, ==, record (i - 3).x_um);
  }
  pbf_track_free (f.track);
}

static void
test_delay_late (void)
{
  PbfTrackConfig config = config_default ();
  Fixture f;
  CvisPbfSignal s;

  config.signal_delay_us = 100;
  f = fixture (&config);
  for (guint32 i = 100; i < 120; i++)
    push_counter (&f, i);
  push_counter (&f, 110); /* uses its own time */
  ASSERT_FRAME (
      &f, CVIS_PBF_RESULT_LATE | CVIS_PBF_RESULT_EXCLUDED, PBF_EXCLUDE);
  g_assert_cmpint (f.info.x_um, ==, record (108).x_um);
  push_counter (&f, 120); /* and leaves no trace */
  g_assert_cmpint (f.info.x_um, ==, record (118).x_um);

  s = record (121);
  s.t_ns = 10; /* the machine's clock was set back: the history restarts */
  push (&f, s);
  g_assert_cmpint (f.info.x_um, ==, s.x_um);
  pbf_track_free (f.track);
}

/* Irregular times, lost and late records, compared with a linear search. */
static void
test_delay_brute_force (void)
{
  enum { N = 2000, DELAY_US = 700 };
  PbfTrackConfig config = config_default ();
  CvisPbfSignal all[N];
  guint n = 0;
  guint64 t = 1000000;
  Fixture f;

  config.signal_delay_us = DELAY_US;
  f = fixture (&config);
  for (guint32 i = 0; i < N; i++) {
    CvisPbfSignal s = record (i);
    gboolean late = n > 50 && g_test_rand_int_range (0, 10) == 0;
    guint found = 0;

    t += g_test_rand_int_range (0, 200000);
    s.t_ns = t;
    s.x_um = g_test_rand_int ();
    s.flags &= ~CVIS_PBF_SIGNAL_POSITION_VALID; /* no interpolation */
    if (late)
      s = all[n - g_test_rand_int_range (2, 50)];
    else
      all[n++] = s;
    push (&f, s);
    for (guint k = 0; k < n; k++)
      if (all[k].t_ns <= s.t_ns - DELAY_US * 1000)
        found = k;
    g_assert_cmpint (f.info.x_um, ==, all[found].x_um);
    g_assert_cmpint (!(f.info.flags & CVIS_PBF_RESULT_LATE), ==, !late);
  }
  pbf_track_free (f.track);
}

/* Extreme positions and times, and more records than are kept. */
static void
test_delay_bounds (void)
{
  PbfTrackConfig config = config_default ();
  Fixture f;
  CvisPbfSignal s;

  config.signal_delay_us = 1000000;
  f = fixture (&config);
  s = record (0);
  s.x_um = G_MININT32;
  s.t_ns = 0;
  push (&f, s);
  s = record (1);
  s.x_um = G_MAXINT32;
  s.t_ns = G_MAXUINT64;
  push (&f, s);
  g_assert_cmpint (f.info.x_um, >=, G_MAXINT32 - 10);
  pbf_track_free (f.track);

  f = fixture (&config);
  for (guint32 i = 0; i < 70000; i++) {
    s = record (i);
    s.x_um = i;
    s.t_ns = i * G_GUINT64_CONSTANT (1000); /* 1 MHz */
    push (&f, s);
  }
  g_assert_cmpint (f.info.x_um, ==, 70000 - 65536); /* the oldest one kept */
  pbf_track_free (f.track);
}

static void
test_reset (void)
{
  PbfTrackConfig config = config_default ();
  Fixture f;

  config.signal_delay_us = 200;
  f = fixture (&config);
  for (guint32 i = 0; i < 10; i++)
    push_counter (&f, 100 + i);
  pbf_track_reset (f.track);
  push_counter (&f, 5);
  ASSERT_FRAME (&f, 0, PBF_ENTER);
  g_assert_cmpuint (f.info.frame_index, ==, 0);
  g_assert_cmpint (f.info.x_um, ==, record (5).x_um);
  g_assert_cmpuint (pbf_track_get_counts (f.track)->frames, ==, 11);
  pbf_track_free (f.track);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbftrack/plain", test_plain);
  g_test_add_func ("/pbftrack/lost", test_lost);
  g_test_add_func ("/pbftrack/late-and-repeated", test_late_and_repeated);
  g_test_add_func ("/pbftrack/wrap", test_wrap);
  g_test_add_func ("/pbftrack/restart", test_restart);
  g_test_add_func ("/pbftrack/no-restart", test_no_restart);
  g_test_add_func ("/pbftrack/corrupt", test_corrupt);
  g_test_add_func ("/pbftrack/corrupt-first", test_corrupt_first);
  g_test_add_func ("/pbftrack/no-signal", test_no_signal);
  g_test_add_func ("/pbftrack/sources", test_sources);
  g_test_add_func ("/pbftrack/position", test_position);
  g_test_add_func ("/pbftrack/laser-off", test_laser_off);
  g_test_add_func ("/pbftrack/delay", test_delay);
  g_test_add_func ("/pbftrack/delay-late", test_delay_late);
  g_test_add_func ("/pbftrack/delay-brute-force", test_delay_brute_force);
  g_test_add_func ("/pbftrack/delay-bounds", test_delay_bounds);
  g_test_add_func ("/pbftrack/reset", test_reset);
  return g_test_run ();
}
