/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"

#define WIDTH 1600
#define HEIGHT 1200
#define FOCAL 1200.0
#define SPACING 1.0    /* metres between cameras of a lap */
#define SHORTEST 120.0 /* shortest lap, metres */
#define ROW_SPACING 40.0
#define KEPT 0.4     /* share of visible points that are observed */
#define SEEN 22      /* cameras of a lap tested for each point */
#define CHECKED 1024 /* points until cancelling is checked */
#define TRIES 24     /* positions tried until two cameras see it */

#define WIDEST 1.0 /* tangents of angles to the axis within which a lens sees */

/* Streams of random numbers */
enum { OF_CAMERA, OF_POINT, OF_PLACE, OF_VIEW, OF_COPY, OF_LENS };

/* The @k-th random number of item @i of a stream: splitmix64 of a hash of
 * these */
static guint64
draw_bits (guint64 seed, guint stream, guint64 i, guint k)
{
  guint64 z = seed * G_GUINT64_CONSTANT (0xd1342543de82ef95)
              + i * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)
              + ((guint64) stream << 56)
              + k * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);

  for (guint round = 0; round < 2; round++) {
    z = (z ^ z >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
    z ^= z >> 31;
  }
  return z;
}

/* Uniform in [0, 1) */
static gdouble
draw (guint64 seed, guint stream, guint64 i, guint k)
{
  return (gdouble) (draw_bits (seed, stream, i, k) >> 11) * 0x1p-53;
}

static gdouble
draw_normal (guint64 seed, guint stream, guint64 i, guint k)
{
  const gdouble u = 1 - draw (seed, stream, i, 2 * k);

  return sqrt (-2 * log (u))
         * cos (2 * G_PI * draw (seed, stream, i, 2 * k + 1));
}

void
bundle_sim_init (BundleSim *sim)
{
  *sim = (BundleSim){
    .scene = BUNDLE_SCENE_STREET,
    .cameras = 50,
    .points = 5000,
    .noise = 0.5,
    .start_error = 1,
    .lens = BUNDLE_N_LENS_MODELS,
    .lenses = 1,
  };
}

/* --- paths ------------------------------------------------------------------------ */

typedef struct {
  const BundleSim *sim;
  guint per_lap, laps;
  gdouble length; /* of a lap, metres */
  gdouble used;   /* used by cameras: all, unless there are few */
  guint rows;     /* of the city */
} Path;

static void
init_path (Path *path, const BundleSim *sim)
{
  path->sim = sim;
  path->laps = sim->cameras < 8 ? 1 : 2;
  path->per_lap = (sim->cameras + path->laps - 1) / path->laps;
  path->used = SPACING * path->per_lap;
  path->length = sim->scene == BUNDLE_SCENE_TURNTABLE
                     ? path->used
                     : MAX (SHORTEST, path->used);
  path->rows =
      2 * (guint) MAX (1, rint (sqrt (path->length / ROW_SPACING) / 2));
  if (sim->scene == BUNDLE_SCENE_CITY)
    path->length = MAX (path->length, 3 * ROW_SPACING * path->rows);
}

/* An oval: two straights of 0.3 and two half circles of 0.2 of its length */
static void
place_on_street (gdouble length, gdouble s, gdouble at[2])
{
  const gdouble straight = 0.3 * length, turn = 0.2 * length, r = turn / G_PI;
  const gdouble half = s < length / 2 ? 1 : -1;
  const gdouble d = s < length / 2 ? s : s - length / 2;

  if (d < straight) {
    at[0] = half * (d - straight / 2);
    at[1] = -half * r;
  } else {
    const gdouble angle = (d - straight) / r;

    at[0] = half * (straight / 2 + r * sin (angle));
    at[1] = -half * r * cos (angle);
  }
}

/* Along the rows in alternating directions, and back beside them */
static void
place_in_city (const Path *path, gdouble s, gdouble at[2])
{
  const guint m = path->rows;
  const gdouble gap = ROW_SPACING;
  const gdouble row = path->length / m - 2 * gap; /* gap or more */
  const guint n = (guint) (s / (row + gap));
  gdouble d = s - n * (row + gap);

  if (n < m) { /* a row, or the step to the next one */
    const gdouble along = MIN (d, row);
    const gdouble step = n + 1 < m ? MAX (d - row, 0) : 0;

    at[0] = n % 2 ? row - along : along;
    at[1] = n * gap + step;
    if (n + 1 == m && d > row)
      at[0] = -(d - row);
    return;
  }
  d = s - m * (row + gap);
  at[0] = -gap + MAX (d - (m - 1) * gap, 0);
  at[1] = MAX ((m - 1) * gap - d, 0);
}

/* @s: metres along the lap; beyond its ends it wraps around */
static void
place_on_path (const Path *path, gdouble s, gdouble at[2])
{
  const gdouble length = path->length;

  s -= floor (s / length) * length;
  if (path->sim->scene == BUNDLE_SCENE_CITY)
    place_in_city (path, s, at);
  else
    place_on_street (length, s, at);
}

static void
find_direction (const Path *path, gdouble s, gdouble step, gdouble d[2])
{
  gdouble before[2], behind[2], length;

  place_on_path (path, s - step, before);
  place_on_path (path, s + step, behind);
  d[0] = behind[0] - before[0];
  d[1] = behind[1] - before[1];
  length = hypot (d[0], d[1]);
  d[0] /= length;
  d[1] /= length;
}

/* --- cameras ----------------------------------------------------------------------- */

static void
look (gdouble *camera, const gdouble centre[3], const gdouble ahead[3])
{
  const gdouble length =
      sqrt (ahead[0] * ahead[0] + ahead[1] * ahead[1] + ahead[2] * ahead[2]);
  const gdouble across = hypot (ahead[0], ahead[1]);
  const gdouble d[3] = { ahead[0] / length, ahead[1] / length,
    ahead[2] / length };
  const gdouble right[3] = { ahead[1] / across, -ahead[0] / across, 0 };
  const gdouble r[9] = { right[0], right[1], right[2],
    right[1] * d[2] - right[2] * d[1], right[2] * d[0] - right[0] * d[2],
    right[0] * d[1] - right[1] * d[0], -d[0], -d[1], -d[2] };

  bundle_rotation_from_matrix (r, camera + BUNDLE_CAMERA_ROTATION);
  for (guint i = 0; i < 3; i++)
    camera[BUNDLE_CAMERA_TRANSLATION + i] =
        -(r[3 * i] * centre[0] + r[3 * i + 1] * centre[1]
            + r[3 * i + 2] * centre[2]);
}

static void
make_camera (const Path *path, guint i, gdouble *camera)
{
  const guint64 seed = path->sim->seed;
  const guint lap = i / path->per_lap, k = i % path->per_lap;
  const gdouble s = (k + 0.37 * lap) * SPACING;
  gdouble at[2], d[2], yaw;

  if (path->sim->scene == BUNDLE_SCENE_TURNTABLE) {
    const gdouble angle = 2 * G_PI * s / path->length;
    const gdouble centre[3] = { 6 * cos (angle), 6 * sin (angle),
      1.2 + 1.8 * lap };
    const gdouble ahead[3] = { -centre[0], -centre[1], 1.0 - centre[2] };

    look (camera, centre, ahead);
  } else {
    const gdouble side = 1.2 * lap - 0.6;

    place_on_path (path, s, at);
    find_direction (path, s, 3, d);
    yaw = (i % 2 ? 0.35 : -0.35) + 0.05 * draw_normal (seed, OF_CAMERA, i, 0);
    look (camera,
        (gdouble[3]){
            at[0] - side * d[1], at[1] + side * d[0], 1.8 + 0.4 * lap },
        (gdouble[3]){ d[0] * cos (yaw) - d[1] * sin (yaw),
            d[0] * sin (yaw) + d[1] * cos (yaw), 0.12 });
  }
  camera[BUNDLE_CAMERA_FOCAL] =
      FOCAL * (1 + 0.05 * (draw (seed, OF_CAMERA, i, 2) - 0.5));
  camera[BUNDLE_CAMERA_K1] = -0.06 + 0.01 * draw (seed, OF_CAMERA, i, 3);
  camera[BUNDLE_CAMERA_K2] = 0.01 * draw (seed, OF_CAMERA, i, 4);
}

/* --- points ------------------------------------------------------------------------ */

/* A position on the scene, with its @normal, about @s metres along the path;
 * @try varies the position of one point. */
typedef struct {
  gdouble at[3], normal[3];
  guint8 colour[3];
} Place;

static void
place_on_vase (const Path *path, gdouble s, const gdouble u[4], Place *place)
{
  const gdouble angle = 2 * G_PI * (s / path->length + 0.05 * (u[0] - 0.5));
  const gboolean table = u[1] < 0.2;
  const gdouble z = table ? 0 : 2.4 * u[2];
  const gdouble r = table ? sqrt (1.2 + 6 * u[2])
                          : 0.75 + 0.35 * sin (2.6 * z - 0.4) + 0.05 * z;
  const gboolean stripe = fmod (12 * angle / (2 * G_PI) + z * 2, 1) < 0.5;

  *place = (Place){ { r * cos (angle), r * sin (angle), z },
    { table ? 0 : cos (angle), table ? 0 : sin (angle), table ? 1 : 0 },
    { 0 } };
  memcpy (place->colour,
      table    ? (guint8[]){ 120, 100, 80 }
      : stripe ? (guint8[]){ 40, 90, 200 }
               : (guint8[]){ 235, 225, 200 },
      3);
}

/* Facades with windows on both sides, and the road */
static void
place_on_facade (const Path *path, gdouble s, const gdouble u[4], Place *place)
{
  const gboolean city = path->sim->scene == BUNDLE_SCENE_CITY;
  const gboolean road = u[1] < 0.15;
  const gdouble side = u[0] < 0.5 ? 1 : -1, lot = floor (s / 24);
  const gdouble height =
      6
      + (city ? 18 : 5)
            * draw (path->sim->seed, OF_PLACE,
                (guint64) lot + (side > 0 ? 1u << 30 : 0), 0);
  gdouble z = road ? 0 : u[2] * height, out = side * (city ? 9 : 7);
  gboolean frame = FALSE;
  gdouble at[2], d[2];

  s = MIN (s, 24 * lot + 20); /* gap to the next building */
  if (road) {
    out = 10 * (u[2] - 0.5);
  } else if (u[3] < 0.6) { /* window frames have most texture */
    s = floor (s / 3) * 3 + (u[3] < 0.3 ? 0.8 : 2.2);
    frame = TRUE;
    z = MIN (
        floor (z / 3) * 3 + 1 + 1.5 * (u[2] * 97 - floor (u[2] * 97)), height);
  }
  place_on_path (path, s, at);
  find_direction (path, s, 0.5, d);
  *place = (Place){ { at[0] - out * d[1], at[1] + out * d[0], z },
    { road ? 0 : side * d[1], road ? 0 : -side * d[0], road ? 1 : 0 }, { 0 } };
  memcpy (place->colour,
      road    ? (guint8[]){ 90, 90, 95 }
      : frame ? (guint8[]){ 245, 240, 230 }
              : (guint8[]){ (guint8) (150 + fmod (lot * 37, 90)),
                  (guint8) (110 + fmod (lot * 53, 60)), 90 },
      3);
}

/* --- lenses ------------------------------------------------------------------------ */

/* Of the simulated lenses, before each varies by a tenth */
static const gdouble distortion[BUNDLE_N_LENS_MODELS][8] = {
  [BUNDLE_LENS_SIMPLE_RADIAL] = { -0.06 },
  [BUNDLE_LENS_RADIAL] = { -0.06, 0.01 },
  [BUNDLE_LENS_OPENCV] = { -0.06, 0.01, 0.001, -0.0005 },
  [BUNDLE_LENS_OPENCV_FISHEYE] = { -0.02, 0.004, -0.001, 0.0003 },
  [BUNDLE_LENS_FULL_OPENCV] = { -0.06, 0.01, 0.001, -0.0005, 0.002, 0.01,
      -0.004, 0.001 },
  [BUNDLE_LENS_FOV] = { 0.6 },
  [BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE] = { -0.02 },
  [BUNDLE_LENS_RADIAL_FISHEYE] = { -0.02, 0.004 },
  [BUNDLE_LENS_THIN_PRISM_FISHEYE] = { -0.02, 0.004, 0.001, -0.0005, 0.001,
      -0.0003, 0.0008, -0.0006 },
};

static void
make_lens (const BundleSim *sim, guint i, BundleLens *lens)
{
  const BundleLensInfo *info = &bundle_lens_info[sim->lens];
  gdouble *to = lens->parameters;

  lens->model = sim->lens;
  lens->constant = 0;
  for (guint k = 0; k < info->n_focal; k++)
    *to++ = FOCAL * (1 + 0.004 * k)
            * (1 + 0.05 * (draw (sim->seed, OF_LENS, i, 0) - 0.5));
  *to++ = WIDTH / 2. + 10 * draw_normal (sim->seed, OF_LENS, i, 1);
  *to++ = HEIGHT / 2. + 10 * draw_normal (sim->seed, OF_LENS, i, 2);
  for (guint k = 0; k < info->n_extra; k++)
    *to++ = distortion[sim->lens][k]
            * (1 + 0.2 * (draw (sim->seed, OF_LENS, i, 10 + k) - 0.5));
}

/* Sets lenses and lens_of. */
static gboolean
add_lenses (const BundleSim *sim, BundleProblem *problem, GError **error)
{
  const guint n = sim->lenses > 0 ? sim->lenses : sim->cameras;

  if (sim->lens == BUNDLE_N_LENS_MODELS)
    return TRUE;
  problem->lenses = cvis_memory_new (n * sizeof *problem->lenses, TRUE, error);
  problem->lens_of = problem->lenses ? cvis_memory_new (
                         sim->cameras * sizeof *problem->lens_of, FALSE, error)
                                     : NULL;
  if (!problem->lens_of)
    return FALSE;
  problem->n_lenses = n;
  for (guint i = 0; i < n; i++)
    make_lens (sim, i, &problem->lenses[i]);
  for (guint i = 0; i < sim->cameras; i++)
    problem->lens_of[i] = i % n;
  return TRUE;
}

/* Where camera @i of @problem has the point @at, from the middle of the picture, y up; by
 * a lens from the upper left corner, y down. Returns: whether that is near enough to its
 * axis; beyond, polynomials of the distortion may return into the picture */
static gboolean
project (const BundleProblem *problem, guint i, const gdouble at[3],
    gdouble image[2])
{
  const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
  BundleConstants c;
  BundleImage seen;

  if (!problem->lenses) {
    bundle_project (camera, at, image);
    return TRUE;
  }
  bundle_constants (camera, &c);
  seen = bundle_image (&c, at[0], at[1], at[2]);
  bundle_lens_image (&problem->lenses[problem->lens_of[i]], seen.q, image);
  return seen.q[2] < 0 && fabs (seen.p[0]) < WIDEST
         && fabs (seen.p[1]) < WIDEST;
}

static gboolean
is_inside (const BundleProblem *problem, const gdouble image[2])
{
  const gdouble x = image[0] - (problem->lenses ? WIDTH / 2. : 0);
  const gdouble y = image[1] - (problem->lenses ? HEIGHT / 2. : 0);

  return fabs (x) < WIDTH / 2. && fabs (y) < HEIGHT / 2.;
}

/* Whether camera @i sees the @place; its image position */
static gboolean
see (
    const BundleProblem *problem, guint i, const Place *place, gdouble image[2])
{
  const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;
  gdouble centre[3], d[3], facing = 0, distance = 0;

  bundle_pose_centre (camera, centre);
  for (guint k = 0; k < 3; k++) {
    d[k] = centre[k] - place->at[k];
    facing += d[k] * place->normal[k];
    distance += d[k] * d[k];
  }
  distance = sqrt (distance);
  if (distance < 2 || distance > 45 || facing < 0.12 * distance)
    return FALSE;
  return project (problem, i, place->at, image) && is_inside (problem, image);
}

/* --- problems ----------------------------------------------------------------------- */

typedef struct {
  Path path;
  BundleTracks tracks;
  gdouble *views; /* n_cameras * 12: R by rows, centre */
} Making;

static gboolean
is_ahead (const gdouble *view, const gdouble at[3])
{
  gdouble depth = 0;

  for (guint k = 0; k < 3; k++)
    depth += view[6 + k] * (at[k] - view[9 + k]);
  return depth < -1;
}

/* Lists the cameras that see the @place of @point, up to two SEEN. Returns:
 * their number */
static guint
find_views (const Making *m, guint point, gdouble s, const Place *place,
    guint cameras[2 * SEEN], gdouble images[2 * SEEN][2])
{
  const Path *path = &m->path;
  const BundleProblem *problem = m->tracks.problem;
  const gboolean around = path->sim->scene == BUNDLE_SCENE_TURNTABLE;
  const gboolean closed = path->used >= path->length;
  const gint64 per_lap = path->per_lap;
  const gdouble reach = around ? 0.3 * (gdouble) per_lap : 40 / SPACING;
  const gdouble step = MAX (1, reach / SEEN);
  guint n = 0;

  for (guint lap = 0; lap < path->laps; lap++) {
    const gdouble home = s / SPACING;

    for (guint k = 0; k < SEEN && k * step < reach + 1; k++) {
      const gdouble from = around ? home - reach / 2 : home - reach;
      gint64 i = (gint64) floor (
          from + (k + draw (path->sim->seed, OF_VIEW, point, k)) * step);

      if (!closed && (i < 0 || i >= per_lap))
        continue;
      i = ((i % per_lap) + per_lap) % per_lap + lap * per_lap;
      if (i >= problem->n_cameras
          || draw (path->sim->seed, OF_VIEW, point, 100 + lap * SEEN + k) > KEPT
          || (n > 0 && cameras[n - 1] == i)
          || !is_ahead (m->views + 12 * i, place->at)
          || !see (problem, (guint) i, place, images[n]))
        continue;
      cameras[n++] = (guint) i;
    }
  }
  return n;
}

/* Adds noise, or makes an outlier */
static void
disturb (const BundleSim *sim, guint64 observation, gdouble image[2])
{
  if (draw (sim->seed, OF_VIEW, observation, 200) < sim->outliers) {
    const gdouble middle = sim->lens == BUNDLE_N_LENS_MODELS ? 0.5 : 0;

    image[0] = WIDTH * (draw (sim->seed, OF_VIEW, observation, 201) - middle);
    image[1] = HEIGHT * (draw (sim->seed, OF_VIEW, observation, 202) - middle);
    return;
  }
  for (guint k = 0; k < 2; k++)
    image[k] +=
        sim->noise * draw_normal (sim->seed, OF_VIEW, observation, 110 + k);
}

static gint
compare_indices (gconstpointer a, gconstpointer b)
{
  const guint x = *(const guint *) a, y = *(const guint *) b;

  return (x > y) - (x < y);
}

/* Fallback: between two cameras and 10 m ahead, where no scene point is seen
 * by two */
static guint
place_before_cameras (const Making *m, guint point, guint cameras[2],
    gdouble images[2][2], Place *place)
{
  const BundleProblem *problem = m->tracks.problem;
  const guint64 seed = m->path.sim->seed;
  const guint n = problem->n_cameras;
  const guint first = (guint) ((guint64) point * n / m->path.sim->points);

  cameras[0] = first;
  cameras[1] = (first + (n > 2 ? 2 : 1)) % n;
  for (guint k = 0; k < 3; k++) {
    place->at[k] = draw_normal (seed, OF_POINT, point, 400 + k);
    for (guint i = 0; i < 2; i++) {
      const gdouble *view = m->views + 12 * (gsize) cameras[i];

      place->at[k] += (view[9 + k] - 10 * view[6 + k]) / 2;
    }
  }
  for (guint i = 0; i < 2; i++)
    project (problem, cameras[i], place->at, images[i]);
  return 2;
}

static gboolean
make_point (Making *m, guint point, GError **error)
{
  const BundleSim *sim = m->path.sim;
  BundleProblem *problem = m->tracks.problem;
  guint cameras[2 * SEEN], sorted[2 * SEEN], n = 0;
  gdouble images[2 * SEEN][2];
  /* centre of the visible part of a street */
  const gdouble ahead = sim->scene == BUNDLE_SCENE_TURNTABLE ? 0 : 15;
  Place place;

  for (guint try = 0; try < TRIES && n < 2; try++) {
    const gdouble s =
        m->path.used * (point + draw (sim->seed, OF_POINT, point, 10 * try))
            / sim->points
        + ahead;
    gdouble u[4];

    for (guint k = 0; k < 4; k++)
      u[k] = draw (sim->seed, OF_POINT, point, 10 * try + 1 + k);
    if (sim->scene == BUNDLE_SCENE_TURNTABLE)
      place_on_vase (&m->path, s, u, &place);
    else
      place_on_facade (&m->path, s, u, &place);
    n = find_views (m, point, s, &place, cameras, images);
  }
  if (n < 2)
    n = place_before_cameras (m, point, cameras, images, &place);
  memcpy (problem->points + 3 * (gsize) point, place.at, sizeof (place.at));
  memcpy (problem->colours + 3 * (gsize) point, place.colour, 3);
  memcpy (sorted, cameras, n * sizeof (guint));
  qsort (sorted, n, sizeof (guint), compare_indices);
  for (guint i = 0; i < n; i++) {
    guint k = 0;

    if (i > 0 && sorted[i] == sorted[i - 1])
      continue;
    while (cameras[k] != sorted[i])
      k++;
    disturb (sim, m->tracks.n, images[k]);
    if (!bundle_tracks_add (
            &m->tracks, sorted[i], point, images[k][0], images[k][1], error))
      return FALSE;
  }
  return TRUE;
}

static void
disturb_start (const BundleSim *sim, BundleProblem *problem)
{
  const gdouble scale = sim->start_error;

  for (gsize i = 0; i < problem->n_cameras && !cvis_cancelled_at (i); i++) {
    gdouble *camera = problem->cameras + i * BUNDLE_CAMERA_SIZE;
    gdouble centre[3], turn[3], r[9], by[9], product[9];

    bundle_pose_centre (camera, centre);
    for (guint k = 0; k < 3; k++) {
      centre[k] += 0.05 * scale * draw_normal (sim->seed, OF_CAMERA, i, 20 + k);
      turn[k] = 0.002 * scale * draw_normal (sim->seed, OF_CAMERA, i, 30 + k);
    }
    bundle_rotation_to_matrix (camera + BUNDLE_CAMERA_ROTATION, r);
    bundle_rotation_to_matrix (turn, by);
    for (guint k = 0; k < 9; k++)
      product[k] = by[k / 3 * 3] * r[k % 3] + by[k / 3 * 3 + 1] * r[3 + k % 3]
                   + by[k / 3 * 3 + 2] * r[6 + k % 3];
    bundle_rotation_from_matrix (product, camera + BUNDLE_CAMERA_ROTATION);
    for (guint k = 0; k < 3; k++)
      camera[BUNDLE_CAMERA_TRANSLATION + k] =
          -(product[3 * k] * centre[0] + product[3 * k + 1] * centre[1]
              + product[3 * k + 2] * centre[2]);
    camera[BUNDLE_CAMERA_FOCAL] *=
        1 + 0.01 * scale * draw_normal (sim->seed, OF_CAMERA, i, 40);
  }
  for (gsize i = 0; i < problem->n_lenses; i++)
    for (guint k = 0; k < bundle_lens_info[sim->lens].n_focal; k++)
      problem->lenses[i].parameters[k] *=
          1 + 0.01 * scale * draw_normal (sim->seed, OF_LENS, i, 40);
  for (gsize i = 0; i < 3 * (gsize) problem->n_points && !cvis_cancelled_at (i);
       i++)
    problem->points[i] +=
        0.05 * scale * draw_normal (sim->seed, OF_POINT, i, 300);
}

static void
store_view (const gdouble *camera, gdouble *view)
{
  bundle_rotation_to_matrix (camera + BUNDLE_CAMERA_ROTATION, view);
  bundle_pose_centre (camera, view + 9);
}

BundleProblem *
bundle_sim_make (const BundleSim *sim, GError **error)
{
  Making m = { 0 };
  BundleProblem *problem;
  const BundleScanner nothing = {
    .name = "", .start = "", .at = "", .end = ""
  };
  gboolean ok = TRUE;

  if (!cvis_check_range ("cameras", sim->cameras, 2, 1e7, error)
      || !cvis_check_range ("points", sim->points, 1, 1e9, error)
      || !cvis_check_range ("noise", sim->noise, 0, 1e6, error)
      || !cvis_check_range ("outliers", sim->outliers, 0, 1, error)
      || !cvis_check_range ("start_error", sim->start_error, 0, 1e6, error)
      || !cvis_check_range ("intrinsics", sim->lenses, 0, sim->cameras, error)
      || !bundle_tracks_init (
          &m.tracks, sim->cameras, sim->points, TRUE, TRUE, error))
    return NULL;
  init_path (&m.path, sim);
  problem = m.tracks.problem;
  ok = add_lenses (sim, problem, error);
  m.views = g_new (gdouble, 12 * (gsize) sim->cameras);
  for (guint i = 0; ok && i < sim->cameras && !cvis_cancelled_at (i); i++) {
    gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;

    make_camera (&m.path, i, camera);
    store_view (camera, m.views + 12 * (gsize) i);
    problem->views[i].width = WIDTH;
    problem->views[i].height = HEIGHT;
    problem->views[i].centre[0] = WIDTH / 2;
    problem->views[i].centre[1] = HEIGHT / 2;
  }
  for (guint p = 0; ok && p < sim->points; p++)
    ok = p % CHECKED == 0 && cvis_cancelled () ? cvis_refuse_cancelled (error)
                                               : make_point (&m, p, error);
  g_free (m.views);
  if (!ok) {
    bundle_tracks_clear (&m.tracks);
    return NULL;
  }
  problem = bundle_tracks_finish (&m.tracks, &nothing, error);
  if (problem && sim->start_error > 0)
    disturb_start (sim, problem);
  if (cvis_cancelled ()) {
    g_clear_pointer (&problem, bundle_problem_free);
    cvis_refuse_cancelled (error);
  }
  return problem;
}

/* --- copies -------------------------------------------------------------------------- */

static guint32 *
shuffle (guint n, guint64 seed, guint stream)
{
  guint32 *order = g_new (guint32, n);

  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n; i-- > 1 && !cvis_cancelled_at (i);) {
    const guint k = (guint) (draw (seed, OF_COPY, i, stream) * (i + 1));
    const guint32 kept = order[i];

    order[i] = order[k];
    order[k] = kept;
  }
  return order;
}

/* The observations of a point, sorted by camera */
static void
copy_track (const BundleProblem *from, const guint32 *track, gsize n,
    const guint32 *camera_at, guint32 point, BundleProblem *to, gsize at)
{
  for (gsize k = 0; k < n; k++) {
    const guint32 camera = camera_at[from->camera_of[track[k]]];
    gsize place = at + k;

    for (; place > at && to->camera_of[place - 1] > camera; place--) {
      to->camera_of[place] = to->camera_of[place - 1];
      memcpy (to->observed + 2 * place, to->observed + 2 * (place - 1), 16);
    }
    to->camera_of[place] = camera;
    to->point_of[at + k] = point;
    memcpy (
        to->observed + 2 * place, from->observed + 2 * (gsize) track[k], 16);
  }
}

BundleProblem *
bundle_sim_copy (
    const BundleProblem *problem, guint copies, guint64 seed, GError **error)
{
  const guint n_cameras = problem->n_cameras, n_points = problem->n_points;
  guint32 *order, *new_camera, *old_point;
  BundleProblem *to;
  gsize *first, at = 0;

  if (problem->lenses) {
    cvis_refuse (error, "camera models of COLMAP are not copied");
    return NULL;
  }
  if (!cvis_check_range ("cameras of all copies", (gdouble) n_cameras * copies,
          1, G_MAXINT32, error)
      || !cvis_check_range ("points of all copies", (gdouble) n_points * copies,
          1, G_MAXINT32, error)
      || !bundle_order (
          problem, problem->point_of, n_points, &first, &order, error))
    return NULL;
  to = bundle_problem_new (n_cameras * copies, n_points * copies,
      problem->n_observations * copies, error);
  if (to) {
    new_camera = shuffle (to->n_cameras, seed, 0);
    old_point = shuffle (to->n_points, seed, 1);
    for (gsize i = 0; i < to->n_cameras && !cvis_cancelled_at (i); i++)
      memcpy (to->cameras + (gsize) new_camera[i] * BUNDLE_CAMERA_SIZE,
          problem->cameras + i % n_cameras * BUNDLE_CAMERA_SIZE,
          sizeof (gdouble) * BUNDLE_CAMERA_SIZE);
    for (guint p = 0; p < to->n_points && !cvis_cancelled_at (p); p++) {
      const guint old = old_point[p] % n_points, copy = old_point[p] / n_points;
      const gsize n = first[old + 1] - first[old];

      memcpy (
          to->points + 3 * (gsize) p, problem->points + 3 * (gsize) old, 24);
      copy_track (problem, order + first[old], n,
          new_camera + (gsize) copy * n_cameras, p, to, at);
      at += n;
    }
    g_free (new_camera);
    g_free (old_point);
  }
  g_free (first);
  g_free (order);
  if (cvis_cancelled ()) {
    g_clear_pointer (&to, bundle_problem_free);
    cvis_refuse_cancelled (error);
  }
  return to;
}
