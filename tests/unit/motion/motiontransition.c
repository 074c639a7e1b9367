/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Dissolves and fades of fields that are mixed as pictures are: their kind, start and
 * end; nothing in cuts, flashes, flicker, still and changing scenes. The end of the
 * stream, streams in a row, other sizes, frames that were skipped. */
#include "cuda/motion/transition.h"

#include <math.h>

#define COLUMNS 24
#define ROWS 14
#define N (COLUMNS * ROWS)
#define SIZE 16
#define FRAME_NS 40000000

typedef struct {
  MotionTransitionDetector *detector;
  CvisMotionPacket packet;
  CvisMotionBlock blocks[N];
  GRand *rand;
  GArray *found; /* of MotionTransition */
} Fixture;

static void
set_up (Fixture *f, gconstpointer depth)
{
  f->detector = motion_transition_detector_new ();
  f->rand = g_rand_new_with_seed (5);
  f->found = g_array_new (FALSE, FALSE, sizeof (MotionTransition));
  f->packet = (CvisMotionPacket){ .width = COLUMNS * SIZE - 3,
    .height = ROWS * SIZE - 5,
    .depth = GPOINTER_TO_UINT (depth),
    .block_size = SIZE,
    .columns = COLUMNS,
    .rows = ROWS };
}

static void
tear_down (Fixture *f, gconstpointer depth)
{
  motion_transition_detector_free (f->detector);
  g_rand_free (f->rand);
  g_array_unref (f->found);
}

static gdouble
deviation_of (guint scene, guint i)
{
  guint32 x = scene * 7919 + (i / COLUMNS / 3) * 131 + i % COLUMNS / 3;

  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return scene == 0 ? 0 : 2 + (x >> 16) % 32;
}

static void
add_packet (Fixture *f, const CvisMotionBlock *blocks)
{
  MotionTransition found;

  if (motion_transition_detector_add (
          f->detector, &f->packet, blocks, f->packet.frame * FRAME_NS, &found))
    g_array_append_val (f->found, found);
  f->packet.frame++;
  f->packet.flags = 0;
}

/* A frame that mixes the scenes @from and @to (0: black), whose blocks change by a few
 * per cent from frame to frame */
static void
add_frame (Fixture *f, guint from, guint to, gdouble share)
{
  const gdouble level = 1u << (f->packet.depth - 8);

  for (guint i = 0; i < N; i++) {
    const guint x = i % COLUMNS * SIZE, y = i / COLUMNS * SIZE;
    const gdouble samples =
        MIN (SIZE, f->packet.width - x) * MIN (SIZE, f->packet.height - y);
    const gdouble deviation = hypot (
        (1 - share) * deviation_of (from, i), share * deviation_of (to, i));

    f->blocks[i] = (CvisMotionBlock){
      .intra = (guint32) (deviation * samples * level
                          * g_rand_double_range (f->rand, 0.95, 1.05))
    };
  }
  add_packet (f, f->blocks);
}

static void
add_scene (Fixture *f, guint scene, guint n)
{
  for (guint i = 0; i < n; i++)
    add_frame (f, scene, scene, 0);
}

static void
add_mixture (Fixture *f, guint from, guint to, guint n)
{
  for (guint i = 1; i <= n; i++)
    add_frame (f, from, to, i / (n + 1.0));
}

static void
end_stream (Fixture *f)
{
  MotionTransition found;

  if (motion_transition_detector_end (f->detector, &found))
    g_array_append_val (f->found, found);
}

static void
assert_transition (
    Fixture *f, guint i, MotionTransitionKind kind, guint64 start, guint64 end)
{
  const MotionTransition *t = &g_array_index (f->found, MotionTransition, i);
  const gint64 tolerance = 1 + (gint64) (end - start) / 12;

  g_assert_cmpuint (i, <, f->found->len);
  g_assert_cmpint (t->kind, ==, kind);
  g_assert_cmpint (ABS ((gint64) (t->start - start)), <=, tolerance);
  g_assert_cmpint (ABS ((gint64) (t->end - end)), <=, tolerance);
  g_assert_cmpuint (t->start_pts, ==, t->start * FRAME_NS);
  g_assert_cmpuint (t->end_pts, ==, t->end * FRAME_NS);
}

static void
test_dissolves (Fixture *f, gconstpointer depth)
{
  static const guint lengths[] = { 5, 6, 8, 12, 16, 23, 30, 41, 60 };
  guint starts[G_N_ELEMENTS (lengths)];

  add_packet (f, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    add_scene (f, i + 1, 40);
    starts[i] = (guint) f->packet.frame;
    add_mixture (f, i + 1, i + 2, lengths[i]);
  }
  add_scene (f, G_N_ELEMENTS (lengths) + 1, 40);
  end_stream (f);
  g_assert_cmpuint (f->found->len, ==, G_N_ELEMENTS (lengths));
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    assert_transition (
        f, i, MOTION_DISSOLVE, starts[i], starts[i] + lengths[i]);
}

static void
test_fades (Fixture *f, gconstpointer depth)
{
  static const guint lengths[] = { 4, 7, 12, 25, 50, 80 };
  guint out[G_N_ELEMENTS (lengths)], in[G_N_ELEMENTS (lengths)];

  add_packet (f, NULL);
  add_scene (f, 1, 40);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    out[i] = (guint) f->packet.frame;
    add_mixture (f, i + 1, 0, lengths[i]);
    add_scene (f, 0, 1 + i);
    in[i] = (guint) f->packet.frame;
    add_mixture (f, 0, i + 2, lengths[i]);
    add_scene (f, i + 2, 30);
  }
  end_stream (f);
  g_assert_cmpuint (f->found->len, ==, 2 * G_N_ELEMENTS (lengths));
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    assert_transition (f, 2 * i, MOTION_FADE_OUT, out[i], out[i] + lengths[i]);
    assert_transition (f, 2 * i + 1, MOTION_FADE_IN, in[i], in[i] + lengths[i]);
  }
}

static void
test_others (Fixture *f, gconstpointer depth)
{
  add_packet (f, NULL);
  for (guint scene = 1; scene < 12; scene++) { /* cuts, some of them known */
    add_scene (f, scene, 3 + 4 * scene);
    f->packet.flags = scene % 2 ? CVIS_MOTION_FRAME_SCENE_CUT : 0;
  }
  add_scene (f, 0, 3); /* to black and back */
  add_scene (f, 12, 20);
  add_frame (f, 12, 13, 0.5); /* a flash */
  add_scene (f, 12, 20);
  for (guint i = 0; i < 40; i++) /* flicker */
    add_frame (f, 12, 0, i % 2 ? 0.2 : 0);
  for (guint i = 0; i < 40; i++) { /* an object crosses from cell to cell */
    const gdouble a = i % 8 / 8.0;

    for (guint k = 0; k < N; k++) {
      const guint column = k % COLUMNS, first = 2 + i / 8;
      const gboolean inside = k / COLUMNS < 7;

      f->blocks[k] = (CvisMotionBlock){ 0 };
      if (inside && column >= first && column <= first + 1)
        f->blocks[k].intra = (guint32) (25000 * (1 << (f->packet.depth - 8))
                                        * (column == first ? 1 - a : a));
    }
    add_packet (f, f->blocks);
  }
  add_scene (f, 12, 20);
  for (guint i = 0; i < 60; i++) /* a light goes down, not to black */
    add_frame (f, 12, 0, i / 120.0);
  end_stream (f);
  g_assert_cmpuint (f->found->len, ==, 0);
}

/* A dissolve that is known only because the stream ends, or a cut follows */
static void
test_last (Fixture *f, gconstpointer depth)
{
  for (guint i = 0; i < 2; i++) {
    add_packet (f, NULL);
    add_scene (f, 1, 40);
    add_mixture (f, 1, 2, 20);
    add_scene (f, 2, 2);
    if (i == 0) {
      end_stream (f);
    } else {
      f->packet.flags = CVIS_MOTION_FRAME_SCENE_CUT;
      add_scene (f, 3, 10);
      end_stream (f);
    }
  }
  g_assert_cmpuint (f->found->len, ==, 2);
  assert_transition (f, 0, MOTION_DISSOLVE, 41, 61);
  assert_transition (f, 1, MOTION_DISSOLVE, 104, 124);
}

/* Frames of another size are not compared; numbers are those of packets. */
static void
test_size_and_numbers (Fixture *f, gconstpointer depth)
{
  add_packet (f, NULL);
  add_scene (f, 1, 20);
  add_mixture (f, 1, 2, 10);
  f->packet.rows = 7;
  f->packet.height = 7 * SIZE - 5;
  add_scene (f, 2, 30);
  g_assert_cmpuint (f->found->len, ==, 0);
  f->packet.frame = 1000;
  add_mixture (f, 2, 3, 14);
  add_scene (f, 3, 30);
  end_stream (f);
  g_assert_cmpuint (f->found->len, ==, 1);
  assert_transition (f, 0, MOTION_DISSOLVE, 1000, 1014);
}

gint
main (gint argc, gchar **argv)
{
  static const struct {
    const gchar *name;
    void (*test) (Fixture *f, gconstpointer depth);
  } tests[] = {
    { "dissolves", test_dissolves },
    { "fades", test_fades },
    { "others", test_others },
    { "last", test_last },
    { "size-and-numbers", test_size_and_numbers },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    for (guint depth = 8; depth <= 10; depth += 2) {
      gchar *path =
          g_strdup_printf ("/motiontransition/%s-%u", tests[i].name, depth);

      g_test_add (path, Fixture, GUINT_TO_POINTER (depth), set_up,
          tests[i].test, tear_down);
      g_free (path);
    }
  return g_test_run ();
}
