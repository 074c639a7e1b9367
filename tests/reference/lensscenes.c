/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "lensscenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundledata.h"
#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/pose.h"
#include "cuda/bundle/sim.h"

BundleProblem *
bundle_lens_scene (guint cameras, guint points)
{
  GError *error = NULL;
  BundleProblem *problem;
  BundleSim sim;

  bundle_sim_init (&sim);
  sim.cameras = cameras;
  sim.points = points;
  problem = bundle_sim_make (&sim, &error);
  g_assert_no_error (error);
  return problem;
}

void
bundle_lens_add (BundleProblem *problem, const BundleLens *lenses, guint n)
{
  problem->n_lenses = n;
  problem->lenses = calloc (n, sizeof *problem->lenses);
  problem->lens_of = calloc (problem->n_cameras, sizeof *problem->lens_of);
  memcpy (problem->lenses, lenses, n * sizeof *lenses);
  for (guint i = 0; i < problem->n_cameras; i++)
    problem->lens_of[i] = i % n;
}

static const gdouble extra[BUNDLE_N_LENS_MODELS][8] = {
  [BUNDLE_LENS_SIMPLE_RADIAL] = { 0.04 },
  [BUNDLE_LENS_RADIAL] = { 0.04, -0.02 },
  [BUNDLE_LENS_OPENCV] = { 0.04, -0.02, 1e-3, -2e-3 },
  [BUNDLE_LENS_OPENCV_FISHEYE] = { 0.04, -0.02, 0.01, -0.01 },
  [BUNDLE_LENS_FULL_OPENCV] = { 0.04, -0.02, 1e-3, -2e-3, 0.01, 0.02, -0.01,
      0.01 },
  [BUNDLE_LENS_FOV] = { 0.6 },
  [BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE] = { 0.04 },
  [BUNDLE_LENS_RADIAL_FISHEYE] = { 0.04, -0.02 },
  [BUNDLE_LENS_THIN_PRISM_FISHEYE] = { 0.04, -0.02, 1e-3, -2e-3, 0.01, -0.01,
      1e-3, 2e-3 },
};

BundleLens
bundle_lens_example (guint model)
{
  const guint n = bundle_lens_info[model].n_focal;
  BundleLens lens = { (BundleLensModel) model, 0, { 1200, 1190 } };

  lens.parameters[n] = 810;
  lens.parameters[n + 1] = 590;
  memcpy (lens.parameters + n + 2, extra[model],
      bundle_lens_info[model].n_extra * sizeof (gdouble));
  return lens;
}

/* Observations of a scene with cameras of BAL through @lenses, without noise; then the
 * start differs from the truth. */
static void
see_scene (BundleProblem *p, const BundleLens *lenses, guint n)
{
  bundle_lens_add (p, lenses, n);
  for (gsize i = 0; i < p->n_observations; i++) {
    const gdouble *camera = p->cameras + 9 * (gsize) p->camera_of[i];
    const gdouble *x = p->points + 3 * (gsize) p->point_of[i];
    BundleConstants c;
    BundleImage at;

    bundle_constants (camera, &c);
    at = bundle_image (&c, x[0], x[1], x[2]);
    bundle_lens_image (
        &lenses[p->lens_of[p->camera_of[i]]], at.q, p->observed + 2 * i);
  }
  for (gsize i = 0; i < 3 * (gsize) p->n_points; i++)
    p->points[i] += 0.01 * sin ((gdouble) i);
  for (gsize i = 0; i < p->n_cameras; i++)
    for (guint k = 0; k < 6; k++)
      p->cameras[9 * i + k] +=
          (k < 3 ? 1e-3 : 1e-2) * cos ((gdouble) (6 * i + k));
  for (guint i = 0; i < n; i++) {
    const guint focal = bundle_lens_info[lenses[i].model].n_focal;

    for (guint k = 0; k < focal; k++)
      if (!(lenses[i].constant >> k & 1))
        p->lenses[i].parameters[k] *= 1.01;
    for (guint k = focal + 2; k < bundle_lens_size (lenses[i].model); k++)
      if (!(lenses[i].constant >> k & 1))
        p->lenses[i].parameters[k] *= 0.7;
  }
}

BundleProblem *
bundle_lens_true (const BundleLens *lenses, guint n)
{
  BundleProblem *p = bundle_lens_scene (16, 400);

  see_scene (p, lenses, n);
  return p;
}

/* --- rigs ------------------------------------------------------------------------- */

#define WINDOW 6 /* frames that see a point */

static void
place_rig (BundleProblem *p, guint n)
{
  p->frames = calloc (p->n_frames, 9 * sizeof *p->frames);
  p->frame_constant = calloc (p->n_frames, sizeof *p->frame_constant);
  p->frame_of = calloc (p->n_cameras, sizeof *p->frame_of);
  p->sensors = calloc (n, sizeof *p->sensors);
  p->sensors[0].constant = TRUE;
  for (guint s = 1; s < n; s++)
    for (guint k = 0; k < 6; k++)
      p->sensors[s].pose[k] =
          k < 3 ? 0.2 * sin (5. * s + 3 * k) : 0.4 * cos (2. * s + k);
  for (guint f = 0; f < p->n_frames; f++) {
    gdouble *pose = p->frames + 9 * (gsize) f;

    pose[1] = -2 * G_PI * f / p->n_frames; /* towards the middle of the ring */
    pose[2] = 0.02 * sin (3. * f);
    pose[3] = 0.1 * sin (5. * f);
    pose[4] = 0.3 * cos (2. * f);
    pose[5] = -5;
  }
}

static gboolean
lacks_image (guint frame, guint sensor)
{
  return (7 * frame + 3 * sensor) % 5 == 0;
}

BundleProblem *
bundle_lens_rig (const BundleLens *lenses, guint n, guint frames, guint points,
    gboolean gaps)
{
  g_autofree guint32 *number = g_new (guint32, (gsize) frames * n);
  guint32 n_images = 0;
  gsize n_seen = 0;
  BundleProblem *p;

  for (guint i = 0; i < frames * n; i++)
    number[i] = gaps && lacks_image (i / n, i % n) ? G_MAXUINT32 : n_images++;
  p = bundle_problem_new (n_images, points, (gsize) points * WINDOW * n, NULL);
  bundle_lens_add (p, lenses, n);
  p->n_frames = frames;
  place_rig (p, n);
  for (guint i = 0; i < frames * n; i++)
    if (number[i] != G_MAXUINT32) {
      /* in another order than that of the frames */
      number[i] = n_images - 1 - number[i];
      p->frame_of[number[i]] = i / n;
      p->lens_of[number[i]] = i % n;
    }
  bundle_problem_place_cameras (p);
  for (guint i = 0; i < points; i++) {
    gdouble *x = p->points + 3 * (gsize) i;

    for (guint k = 0; k < 3; k++)
      x[k] = 1.2 * sin (12.9898 * i + 78.233 * k);
    for (guint k = 0; k < WINDOW * n; k++) {
      const guint32 c = number[(i % frames * n + k) % (frames * n)];
      BundleConstants pose;
      gdouble q[3];

      if (c == G_MAXUINT32)
        continue;
      bundle_constants (p->cameras + 9 * (gsize) c, &pose);
      for (guint r = 0; r < 3; r++)
        q[r] = pose.r[3 * r] * x[0] + pose.r[3 * r + 1] * x[1]
               + pose.r[3 * r + 2] * x[2] + pose.t[r];
      bundle_lens_image (&lenses[p->lens_of[c]], q, p->observed + 2 * n_seen);
      p->camera_of[n_seen] = c;
      p->point_of[n_seen++] = i;
    }
  }
  p->n_observations = n_seen;
  return p;
}

void
bundle_lens_disturb (BundleProblem *p)
{
  for (gsize i = 0; i < 3 * (gsize) p->n_points; i++)
    p->points[i] += 0.01 * sin ((gdouble) i);
  for (guint i = 0; i < 9 * p->n_frames; i++)
    if (i % 9 < 6 && !(p->frame_constant[i / 9] >> i % 9 & 1))
      p->frames[i] += 0.01 * cos ((gdouble) i);
  for (guint i = 0; i < p->n_lenses; i++) {
    for (guint k = 0; k < 6 && !p->sensors[i].constant; k++)
      p->sensors[i].pose[k] += 0.02 * sin (6. * i + k);
    if (!(p->lenses[i].constant & 1))
      p->lenses[i].parameters[0] *= 1.01;
  }
  bundle_problem_place_cameras (p);
}

void
bundle_lens_add_priors (BundleProblem *p, guint n)
{
  p->priors = calloc (n, sizeof *p->priors);
  p->n_priors = n;
  for (guint i = 0; i < n; i++) {
    BundlePrior *prior = &p->priors[i];
    static const gdouble information[6] = { 400, 50, -30, 300, 20, 900 };

    prior->camera = (3 * i + 1) % p->n_cameras;
    bundle_pose_centre (
        p->cameras + 9 * (gsize) prior->camera, prior->position);
    for (guint k = 0; k < 3; k++)
      prior->position[k] += 0.3 * sin (3. * i + k);
    memcpy (prior->information, information, sizeof information);
  }
}

/* --- for comparisons of backends -------------------------------------------------- */

typedef struct {
  const gchar *name;
  guint16 constant;      /* parameters of all lenses */
  gboolean own;          /* a lens for each camera */
  gboolean mixed;        /* of all models in turn */
  guint cameras, points; /* on a ring, all cameras see all points; 0: street */
  BundleLoss loss;
  gboolean behind, twice, fixed;
  guint priors;
} LensCase;

#define ALL_PARAMETERS 0xfff

static const LensCase cases[] = {
  { .name = "all models", .mixed = TRUE },
  { .name = "a lens for each camera", .own = TRUE },
  { .name = "all models, a lens for each camera", .own = TRUE, .mixed = TRUE },
  { .name = "constant focal length", .constant = 0x3 },
  { .name = "constant principal point", .constant = 0xc },
  { .name = "constant extra parameters", .constant = 0xff0 },
  { .name = "constant lenses", .constant = ALL_PARAMETERS },
  { .name = "constant poses and points", .fixed = TRUE },
  { .name = "huber", .loss = BUNDLE_LOSS_HUBER },
  { .name = "cauchy", .loss = BUNDLE_LOSS_CAUCHY, .mixed = TRUE },
  { .name = "tukey", .loss = BUNDLE_LOSS_TUKEY },
  { .name = "points behind cameras", .behind = TRUE },
  { .name = "several features of an image in a track", .twice = TRUE },
  { .name = "priors", .priors = 12 },
  { .name = "priors, several of a camera", .own = TRUE, .priors = 40 },
  { .name = "priors and constant poses", .fixed = TRUE, .priors = 16 },
  { .name = "long tracks", .cameras = 70, .points = 40 },
  { .name = "many observations of an image", .cameras = 3, .points = 6000 },
};

/* Adds the first observation of each third point once more, somewhat off. */
static void
repeat_observations (BundleProblem *p)
{
  gsize n = p->n_observations;
  const gsize most = n + n / 3 + 1;

  p->camera_of = realloc (p->camera_of, most * sizeof *p->camera_of);
  p->point_of = realloc (p->point_of, most * sizeof *p->point_of);
  p->observed = realloc (p->observed, 2 * most * sizeof *p->observed);
  for (gsize i = 0; i < p->n_observations; i += 3, n++) {
    p->camera_of[n] = p->camera_of[i];
    p->point_of[n] = p->point_of[i];
    p->observed[2 * n] = p->observed[2 * i] + 1;
    p->observed[2 * n + 1] = p->observed[2 * i + 1] - 2;
  }
  p->n_observations = n;
}

/* Puts some points on the other side of their first camera. */
static void
mirror_points (BundleProblem *p)
{
  for (gsize i = 0; i < p->n_observations; i += 50) {
    const gdouble *camera = p->cameras + 9 * (gsize) p->camera_of[i];
    gdouble *x = p->points + 3 * (gsize) p->point_of[i];
    BundleConstants c;

    bundle_constants (camera, &c);
    for (guint k = 0; k < 3; k++) {
      const gdouble position =
          -(c.r[k] * c.t[0] + c.r[3 + k] * c.t[1] + c.r[6 + k] * c.t[2]);

      x[k] = 2 * position - x[k];
    }
  }
}

/* @mixed: of models in turn; @fixed_one: sensor 2 is constant; @two_rigs: sensors of even
 * and of odd numbers are rigs of their own; @fixed_frames: points, too */
typedef struct {
  const gchar *name;
  guint sensors, frames;
  gboolean gaps, mixed, fixed_sensors, fixed_one, fixed_frames, two_rigs;
  guint16 constant;
  BundleLoss loss;
  guint priors;
} RigCase;

static const RigCase rigs[] = {
  { .name = "rig of one sensor", .sensors = 1, .frames = 16 },
  { .name = "rig", .sensors = 2, .frames = 16 },
  { .name = "rig of all models",
      .sensors = BUNDLE_N_LENS_MODELS,
      .frames = 8,
      .mixed = TRUE },
  { .name = "rig, missing images", .sensors = 3, .frames = 20, .gaps = TRUE },
  { .name = "rig, constant sensors",
      .sensors = 3,
      .frames = 16,
      .fixed_sensors = TRUE },
  { .name = "rig, a constant sensor",
      .sensors = 3,
      .frames = 16,
      .gaps = TRUE,
      .fixed_one = TRUE },
  { .name = "rig, constant frames and points",
      .sensors = 3,
      .frames = 16,
      .fixed_frames = TRUE },
  { .name = "rig, constant lenses",
      .sensors = 3,
      .frames = 16,
      .constant = ALL_PARAMETERS },
  { .name = "two rigs", .sensors = 5, .frames = 16, .two_rigs = TRUE },
  { .name = "rig, huber",
      .sensors = 3,
      .frames = 16,
      .loss = BUNDLE_LOSS_HUBER },
  { .name = "rig, cauchy",
      .sensors = 3,
      .frames = 16,
      .gaps = TRUE,
      .mixed = TRUE,
      .loss = BUNDLE_LOSS_CAUCHY },
  { .name = "rig, tukey",
      .sensors = 3,
      .frames = 16,
      .loss = BUNDLE_LOSS_TUKEY },
  { .name = "rig, soft_l1",
      .sensors = 3,
      .frames = 16,
      .loss = BUNDLE_LOSS_SOFT_L1 },
  { .name = "rig, priors", .sensors = 3, .frames = 16, .priors = 30 },
  { .name = "rig, priors, constant sensors",
      .sensors = 3,
      .frames = 16,
      .gaps = TRUE,
      .fixed_sensors = TRUE,
      .priors = 20 },
  { .name = "rig, several priors of an image, constant frames",
      .sensors = 2,
      .frames = 16,
      .fixed_frames = TRUE,
      .priors = 70 },
  { .name = "rig, 80 frames", .sensors = 3, .frames = 80, .gaps = TRUE },
};

/* Sensors of odd numbers become another rig. */
static void
split_rig (BundleProblem *p)
{
  const guint n = p->n_frames;

  p->frames = realloc (p->frames, 18 * (gsize) n * sizeof *p->frames);
  p->frame_constant =
      realloc (p->frame_constant, 2 * n * sizeof *p->frame_constant);
  memcpy (
      p->frames + 9 * (gsize) n, p->frames, 9 * (gsize) n * sizeof *p->frames);
  memset (p->frame_constant + n, 0, n * sizeof *p->frame_constant);
  p->n_frames = 2 * n;
  for (guint i = 0; i < p->n_cameras; i++)
    p->frame_of[i] += p->lens_of[i] % 2 * n;
  p->sensors[1].constant = TRUE;
}

static BundleProblem *
make_rig_case (const RigCase *c)
{
  g_autofree BundleLens *lenses = g_new (BundleLens, c->sensors);
  BundleProblem *p;

  for (guint i = 0; i < c->sensors; i++) {
    lenses[i] = bundle_lens_example (
        c->mixed ? i + (c->sensors == 3 ? 5 : 0) : (guint) BUNDLE_LENS_OPENCV);
    lenses[i].constant = c->constant;
  }
  p = bundle_lens_rig (lenses, c->sensors, c->frames, 400, c->gaps);
  for (guint i = 0; i < c->sensors; i++)
    p->sensors[i].constant |= c->fixed_sensors || (c->fixed_one && i == 2);
  if (c->two_rigs)
    split_rig (p);
  if (c->fixed_frames) {
    p->point_constant = calloc (p->n_points, 1);
    for (guint i = 0; i < p->n_frames; i++)
      p->frame_constant[i] = (const guint16[]){ 0, 0x3f, 0x7, 0x38 }[i % 4];
    for (guint i = 0; i < p->n_points; i += 5)
      p->point_constant[i] = 1;
  }
  if (c->priors > 0)
    bundle_lens_add_priors (p, c->priors);
  bundle_lens_disturb (p);
  for (gsize i = 0; i < 2 * p->n_observations; i++)
    p->observed[i] += 0.5 * sin (12.9898 * (gdouble) i)
                      + (c->loss != BUNDLE_LOSS_NONE && i % 37 == 0 ? 30 : 0);
  return p;
}

guint
bundle_lens_count_cases (guint *first_rig)
{
  *first_rig = BUNDLE_N_LENS_MODELS + G_N_ELEMENTS (cases);
  return *first_rig + G_N_ELEMENTS (rigs);
}

static void
init_case_config (BundleConfig *config, BundleLoss loss)
{
  bundle_config_init (config);
  config->solver = BUNDLE_SOLVER_ITERATIVE;
  config->loss = loss;
  /* the errors of the start exceed a pixel, where Tukey's loss is flat */
  config->loss_scale = loss == BUNDLE_LOSS_TUKEY ? 10 : 1;
}

BundleProblem *
bundle_lens_case (guint number, BundleConfig *config, const gchar **name)
{
  static const LensCase plain = { 0 };
  const guint first = BUNDLE_N_LENS_MODELS;
  g_autofree BundleLens *lenses = NULL;
  const LensCase *c;
  BundleProblem *p;
  guint n;

  if (number >= first + G_N_ELEMENTS (cases)) {
    const guint i = number - first - G_N_ELEMENTS (cases);

    if (i >= G_N_ELEMENTS (rigs))
      return NULL;
    *name = rigs[i].name;
    init_case_config (config, rigs[i].loss);
    return make_rig_case (&rigs[i]);
  }
  c = number < first ? &plain : &cases[number - first];
  *name = number < first ? bundle_lens_info[number].name : c->name;
  p = c->cameras > 0 ? bundle_data_ring (c->cameras, c->points, 1)
                     : bundle_lens_scene (16, 400);
  n = c->own ? p->n_cameras : c->mixed ? BUNDLE_N_LENS_MODELS : 1;
  lenses = g_new0 (BundleLens, n);
  for (guint i = 0; i < n; i++) {
    lenses[i] = bundle_lens_example (number < first ? number
                                     : c->mixed     ? i % first
                                                    : BUNDLE_LENS_OPENCV);
    lenses[i].constant = c->constant;
  }
  see_scene (p, lenses, n);
  /* half a pixel of noise, and outliers for the losses */
  for (gsize i = 0; i < 2 * p->n_observations; i++)
    p->observed[i] += 0.5 * sin (12.9898 * (gdouble) i)
                      + (c->loss != BUNDLE_LOSS_NONE && i % 37 == 0 ? 30 : 0);
  if (c->twice)
    repeat_observations (p);
  if (c->behind)
    mirror_points (p);
  if (c->fixed) {
    p->camera_constant = calloc (p->n_cameras, sizeof *p->camera_constant);
    p->point_constant = calloc (p->n_points, 1);
    for (guint i = 0; i < p->n_cameras; i++)
      p->camera_constant[i] = (const guint16[]){ 0, 0x1ff, 0x7, 0x38 }[i % 4];
    for (guint i = 0; i < p->n_points; i += 5)
      p->point_constant[i] = 1;
  }
  if (c->priors > 0)
    bundle_lens_add_priors (p, c->priors);
  init_case_config (config, c->loss);
  return p;
}

/* --- for benchmarks ----------------------------------------------------------------- */

static BundleProblem *
simulate_rig (guint sensors, guint frames, guint points)
{
  g_autofree BundleLens *lenses = g_new (BundleLens, sensors);
  BundleProblem *p;

  for (guint i = 0; i < sensors; i++)
    lenses[i] = bundle_lens_example (BUNDLE_LENS_OPENCV);
  p = bundle_lens_rig (lenses, sensors, frames, points, TRUE);
  bundle_lens_disturb (p);
  return p;
}

BundleProblem *
bundle_lens_simulate (const gchar *name)
{
  const BundleLens lens = bundle_lens_example (BUNDLE_LENS_OPENCV);
  guint images, sensors;
  gdouble observations;
  BundleProblem *p;
  BundleSim sim;

  if (sscanf (name, "rig:%u:%u:%lf", &sensors, &images, &observations) == 3) {
    /* one image in five is missing */
    p = simulate_rig (
        sensors, images, (guint) (observations / (0.8 * WINDOW * sensors)));
    for (gsize i = 0; i < 2 * p->n_observations; i++)
      p->observed[i] += sqrt (0.5) * sin (12.9898 * (gdouble) i);
    return p;
  }
  if (sscanf (name, "opencv:%u:%lf", &images, &observations) != 2)
    return NULL;
  bundle_sim_init (&sim);
  sim.scene = BUNDLE_SCENE_TURNTABLE;
  sim.cameras = images;
  sim.points = (guint) (observations / 17.5);
  sim.noise = sim.start_error = 0;
  p = bundle_sim_make (&sim, NULL);
  if (p == NULL)
    return NULL;
  see_scene (p, &lens, 1);
  for (gsize i = 0; i < 2 * p->n_observations; i++)
    p->observed[i] += sqrt (0.5) * sin (12.9898 * (gdouble) i);
  return p;
}

gdouble
bundle_lens_cost (const BundleProblem *problem)
{
  gdouble sum = 0;

  for (gsize i = 0; i < problem->n_observations; i++) {
    const guint32 camera = problem->camera_of[i];
    const gdouble *x = problem->points + 3 * (gsize) problem->point_of[i];
    BundleConstants c;
    BundleImage at;
    gdouble r[2];

    bundle_constants (problem->cameras + 9 * (gsize) camera, &c);
    at = bundle_image (&c, x[0], x[1], x[2]);
    bundle_lens_image (&problem->lenses[problem->lens_of[camera]], at.q, r);
    for (guint k = 0; k < 2; k++) {
      r[k] -= problem->observed[2 * i + k];
      sum += 0.5 * r[k] * r[k];
    }
  }
  return sum;
}

gdouble
bundle_lens_prior_cost (const BundleProblem *p)
{
  gdouble cost = 0;

  for (guint i = 0; i < p->n_priors; i++) {
    const BundlePrior *prior = &p->priors[i];
    const gdouble *a = prior->information;
    gdouble e[3];

    bundle_pose_centre (p->cameras + 9 * (gsize) prior->camera, e);
    for (guint k = 0; k < 3; k++)
      e[k] -= prior->position[k];
    cost += (a[0] * e[0] * e[0] + a[3] * e[1] * e[1] + a[5] * e[2] * e[2]) / 2
            + a[1] * e[0] * e[1] + a[2] * e[0] * e[2] + a[4] * e[1] * e[2];
  }
  return cost;
}
