/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fleets of lifting engines on the CPU against a single engine, to the bit: random
 * configurations, components that differ from job to job, devices that fail; surfaces
 * that go whole to a device, and surfaces in row blocks. */
#include "cuda/lifting/fleet.h"

#include <string.h>

#include "cuda/core/fleet/devices.h"
#include "cuda/lifting/backend.h"
#include "lwtrandom.h"

#define N_JOBS 16
#define MAX_SIDE 90
#define POISON 0xa5

typedef struct {
  LwtConfig config;
  guint bands_width, bands_height;
  guint8 *surfaces[N_JOBS];
  LwtJob expected[N_JOBS], jobs[N_JOBS];
} Set;

/* --- jobs ----------------------------------------------------------------------- */

static gsize
get_plane_size (const Set *set, guint part, gsize *stride)
{
  const gboolean bands = part == CVIS_SURFACE_PART_BANDS;

  *stride = lwt_config_get_part_size (&set->config, (CvisSurfacePart) part)
            * (bands ? set->bands_width : set->config.width);
  return *stride * (bands ? set->bands_height : set->config.height);
}

static void
poison_planes (const Set *set, LwtJob *job)
{
  gsize stride;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (job->parts[i].data != NULL)
      memset (job->parts[i].data, POISON, get_plane_size (set, i, &stride));
}

/* Two jobs with the same input and planes of their own */
static void
make_job (Set *set, GRand *random, guint k)
{
  const LwtConfig *config = &set->config;
  guint width, height;
  LwtJob job = { 0 };

  lwt_random_size (config, &width, &height);
  job.stride = width * lwt_sample_get_size (config->sample);
  set->surfaces[k] = g_malloc (job.stride * height);
  lwt_random_surface (random, config, set->surfaces[k], job.stride);
  job.data = set->surfaces[k];
  set->expected[k] = set->jobs[k] = job;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    LwtPlane plane = { NULL };
    const gsize size = get_plane_size (set, i, &plane.stride);

    if (!(config->parts & 1u << i) || g_rand_int_range (random, 0, 3) == 0)
      continue;
    for (guint j = 0; j < 2; j++) {
      LwtJob *to = j ? &set->jobs[k] : &set->expected[k];

      to->parts[i] = plane;
      to->parts[i].data = g_malloc (size);
    }
  }
  if (g_rand_boolean (random))
    set->expected[k].measured = set->jobs[k].measured = config->parameters;
  poison_planes (set, &set->expected[k]);
}

static void
compare_jobs (const Set *set, const LwtJob *job, const LwtJob *expected)
{
  gsize stride;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (job->parts[i].data != NULL)
      g_assert_cmpmem (job->parts[i].data, get_plane_size (set, i, &stride),
          expected->parts[i].data, get_plane_size (set, i, &stride));
  g_assert_cmpuint (job->missing, ==, expected->missing);
  g_assert_cmpmem (&job->offset, sizeof job->offset, &expected->offset,
      sizeof expected->offset);
  g_assert_cmpmem (job->polynomial, sizeof job->polynomial,
      expected->polynomial, sizeof expected->polynomial);
  g_assert_cmpmem (&job->threshold, sizeof job->threshold, &expected->threshold,
      sizeof expected->threshold);
  g_assert_cmpmem (job->parameters, sizeof job->parameters,
      expected->parameters, sizeof expected->parameters);
}

/* A surface with room for row blocks, or as it was if it would be too large padded. */
static void
make_tall (GRand *random, LwtConfig *config)
{
  const LwtConfig before = *config;
  guint width, height;

  config->width = MIN (config->width, 24);
  config->height = (guint) g_rand_int_range (random, 300, 2000);
  if (config->boundary == LWT_BOUNDARY_PERIODIC && g_rand_boolean (random))
    config->height = config->height / 64 * 64;
  if (lwt_config_check (config, NULL)) {
    lwt_config_get_bands_size (config, &width, &height);
    if (width * height < 1 << 18)
      return;
  }
  *config = before;
}

static Set *
new_set (GRand *random, guint round, gboolean tall)
{
  Set *set = g_new0 (Set, 1);
  GError *error = NULL;
  LwtEngine *engine;
  LwtJob *job;

  lwt_random_config (random, round, MAX_SIDE, &set->config);
  if (tall)
    make_tall (random, &set->config);
  set->config.threads = 1;
  set->config.depth_in_flight = (guint) g_rand_int_range (random, 1, 4);
  lwt_config_get_bands_size (
      &set->config, &set->bands_width, &set->bands_height);
  engine = lwt_engine_new (&set->config, NULL, &error);
  g_assert_no_error (error);
  for (guint k = 0; k < N_JOBS; k++) {
    make_job (set, random, k);
    g_assert_true (lwt_engine_submit (engine, &set->expected[k], NULL));
    g_assert_true (lwt_engine_wait (engine, &job, NULL));
  }
  lwt_engine_free (engine);
  return set;
}

static void
free_set (Set *set)
{
  for (guint k = 0; k < N_JOBS; k++) {
    for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
      g_free (set->expected[k].parts[i].data);
      g_free (set->jobs[k].parts[i].data);
    }
    g_free (set->surfaces[k]);
  }
  lwt_wavelet_free ((LwtWavelet *) set->config.wavelet);
  g_free (set);
}

/* --- engines that fail ------------------------------------------------------------ */

typedef struct {
  const Set *set;
  LwtEngine *engine;
  guint fail_at; /* job that fails, counted from 1; 0: none */
  guint jobs;
  gint *faults; /* atomic */
} Device;

static gboolean
check_device (gpointer device, gconstpointer job, GError **error)
{
  return lwt_fleet_ops.check (((Device *) device)->engine, job, error);
}

static gboolean
submit_device (gpointer device, gpointer job, GError **error)
{
  return lwt_fleet_ops.submit (((Device *) device)->engine, job, error);
}

/* A failed job has been overwritten. */
static gboolean
wait_device (gpointer user_data, gpointer *job, GError **error)
{
  Device *device = user_data;

  if (!lwt_fleet_ops.wait (device->engine, job, error))
    return FALSE;
  if (++device->jobs != device->fail_at)
    return TRUE;
  poison_planes (device->set, *job);
  g_atomic_int_inc (device->faults);
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_CUDA, "a fault");
  return FALSE;
}

static void
free_device (gpointer device)
{
  lwt_fleet_ops.free (((Device *) device)->engine);
  g_free (device);
}

static const CvisFleetOps ops = { .check = check_device,
  .submit = submit_device,
  .wait = wait_device,
  .free = free_device };

static gpointer
new_device (const Set *set, guint fail_at, gint *faults)
{
  Device *device = g_new0 (Device, 1);
  GError *error = NULL;

  device->set = set;
  device->fail_at = fail_at;
  device->faults = faults;
  device->engine = lwt_engine_new (&set->config, NULL, &error);
  g_assert_no_error (error);
  return device;
}

static gint faults_of_cpu;

static gpointer
replace_device (gpointer set, GError **error)
{
  return new_device (set, 0, &faults_of_cpu);
}

/* --- tests ------------------------------------------------------------------------ */

/* Computes the set by @n devices. Returns: number of faults */
static guint
compute_set (Set *set, GRand *random, guint n, gboolean faulty)
{
  CvisFleetConfig config = { .ops = &ops,
    .what = "surfaces",
    .depth = set->config.depth_in_flight,
    .replace = replace_device,
    .user_data = set };
  CvisFleetDevice devices[3] = { { NULL } };
  CvisFleet *fleet;
  GError *error = NULL;
  gint faults = 0;
  gpointer job;

  for (guint i = 0; i < n; i++)
    devices[i].engine = new_device (set,
        faulty ? (guint) g_rand_int_range (random, 0, N_JOBS / 2) : 0, &faults);
  fleet = cvis_fleet_new (&config, devices, n);
  for (guint k = 0, waited = 0; waited < N_JOBS;) {
    if (k < N_JOBS && k - waited < cvis_fleet_get_size (fleet)) {
      poison_planes (set, &set->jobs[k]);
      g_assert_true (cvis_fleet_submit (fleet, &set->jobs[k++], &error));
      continue;
    }
    g_assert_true (cvis_fleet_wait (fleet, &job, &error));
    g_assert_no_error (error);
    g_assert_true (job == &set->jobs[waited]);
    compare_jobs (set, job, &set->expected[waited++]);
  }
  cvis_fleet_free (fleet);
  return (guint) g_atomic_int_get (&faults);
}

static void
test_equal (void)
{
  GRand *random = g_rand_new_with_seed (33);

  for (guint round = 0; round < 48; round++) {
    Set *set = new_set (random, round, FALSE);

    for (guint n = 1; n <= 3; n++)
      compute_set (set, random, n, FALSE);
    free_set (set);
  }
  g_rand_free (random);
}

static void
test_lost (void)
{
  GRand *random = g_rand_new_with_seed (34);
  guint faults = 0;

  for (guint round = 0; faults < 200; round++) {
    Set *set = new_set (random, round, FALSE);

    for (guint i = 0; i < 4; i++)
      faults += compute_set (set, random, 3, TRUE);
    free_set (set);
  }
  g_test_message ("%u faults", faults);
  g_rand_free (random);
}

/* An invalid surface is refused by the fleet; the others go on. */
static void
test_refused (void)
{
  GRand *random = g_rand_new_with_seed (35);
  Set *set = new_set (random, 0, FALSE);
  CvisFleetConfig config = { .ops = &lwt_fleet_ops, .depth = 1 };
  CvisFleetDevice device = { NULL };
  LwtJob invalid = set->jobs[0];
  GError *error = NULL;
  CvisFleet *fleet;
  gpointer job;

  device.engine = lwt_engine_new (&set->config, NULL, &error);
  g_assert_no_error (error);
  fleet = cvis_fleet_new (&config, &device, 1);
  invalid.stride = 1;
  g_assert_false (cvis_fleet_submit (fleet, &invalid, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "stride"));
  g_clear_error (&error);
  poison_planes (set, &set->jobs[1]);
  g_assert_true (cvis_fleet_submit (fleet, &set->jobs[1], &error));
  g_assert_true (cvis_fleet_wait (fleet, &job, &error));
  g_assert_true (job == &set->jobs[1]);
  compare_jobs (set, job, &set->expected[1]);
  cvis_fleet_free (fleet);
  free_set (set);
  g_rand_free (random);
}

#ifdef CVIS_TEST_HOOKS
/* Posed devices with the settings of the environment: the slow one computes less, one
 * is lost. */
static void
test_posed (void)
{
  GRand *random = g_rand_new_with_seed (36);
  Set *set = new_set (random, 0, FALSE);
  CvisFleetConfig config = {
    .ops = &lwt_fleet_ops, .what = "surfaces", .depth = 1, .size = N_JOBS
  };
  CvisFleetStats stats[CVIS_FLEET_MAX_DEVICES + 1];
  CvisFleetDevice of_fleet[3];
  CvisDevices *devices;
  CvisFleet *fleet;
  gpointer job;

  g_setenv ("CUDAVISION_POSED_DEVICES", "20:1:1", TRUE);
  g_setenv ("CUDAVISION_FAULTS", "2:3", TRUE);
  devices = cvis_devices_new ("all", -1, NULL);
  for (guint i = 0; i < devices->n; i++)
    of_fleet[i] = cvis_device_with_engine (&devices->devices[i],
        lwt_engine_new (&set->config, devices->devices[i].context, NULL));
  fleet = cvis_fleet_new (&config, of_fleet, devices->n);
  for (guint k = 0; k < N_JOBS; k++) {
    poison_planes (set, &set->jobs[k]);
    g_assert_true (cvis_fleet_submit (fleet, &set->jobs[k], NULL));
  }
  for (guint k = 0; k < N_JOBS; k++) {
    g_assert_true (cvis_fleet_wait (fleet, &job, NULL));
    g_assert_true (job == &set->jobs[k]);
    compare_jobs (set, job, &set->expected[k]);
  }
  g_assert_cmpuint (cvis_fleet_get_stats (fleet, stats), ==, 3);
  g_assert_cmpuint (stats[0].jobs + stats[1].jobs + stats[2].jobs, ==, N_JOBS);
  g_assert_cmpuint (stats[2].jobs, <=, 2);
  g_assert_false (stats[0].lost || stats[1].lost);
  cvis_fleet_free (fleet);
  cvis_devices_free (devices);
  g_unsetenv ("CUDAVISION_POSED_DEVICES");
  g_unsetenv ("CUDAVISION_FAULTS");
  free_set (set);
  g_rand_free (random);
}

/* --- row blocks ------------------------------------------------------------------- */

/* What the owner of an engine over devices sees */
typedef struct {
  guint lost;
  gboolean left;
} Losses;

static void
note_loss (const CvisDevice *device, const GError *error, gboolean left,
    gpointer user_data)
{
  Losses *losses = user_data;

  losses->lost++;
  losses->left = left;
}

/* Computes the set by an engine over posed devices. Returns: row blocks of a surface */
static guint
compute_over (Set *set, CvisBalance balance, Losses *losses)
{
  const CvisFleetOwner owner = { balance, TRUE, note_loss, losses };
  CvisFleetStats stats[CVIS_FLEET_MAX_DEVICES + 1];
  CvisDevices *devices = cvis_devices_new ("all", -1, NULL);
  GError *error = NULL;
  LwtEngine *engine;
  guint blocks, n;
  guint64 computed = 0;
  LwtJob *job;

  engine = lwt_engine_new_over (&set->config, devices, &owner, &error);
  g_assert_no_error (error);
  blocks = lwt_engine_count_blocks (engine);
  for (guint k = 0, waited = 0; waited < N_JOBS;) {
    if (k < N_JOBS && k - waited < lwt_engine_get_depth (engine)) {
      poison_planes (set, &set->jobs[k]);
      g_assert_true (lwt_engine_submit (engine, &set->jobs[k++], &error));
      continue;
    }
    g_assert_true (lwt_engine_wait (engine, &job, &error));
    g_assert_no_error (error);
    g_assert_true (job == &set->jobs[waited]);
    compare_jobs (set, job, &set->expected[waited++]);
  }
  n = cvis_fleet_get_stats (lwt_engine_get_fleet (engine), stats);
  for (guint i = 0; i < n; i++)
    computed += stats[i].jobs;
  g_assert_cmpuint (computed, >=, N_JOBS * blocks);
  lwt_engine_free (engine);
  cvis_devices_free (devices);
  return blocks;
}

/* Surfaces that are cut because of their size, and because of their memory. */
static void
limit_set (GRand *random, Set *set)
{
  gsize needed, limit;
  LwtPlan plan;

  set->config.split_samples = 1;
  set->config.device_memory = 0;
  if (g_rand_int_range (random, 0, 3) == 0)
    return;
  g_assert_true (lwt_plan_init (&plan, &set->config, NULL));
  g_assert_true (lwt_backend_get_memory (&plan, NULL, &needed, &limit, NULL));
  set->config.device_memory =
      MAX (needed / (guint) g_rand_int_range (random, 2, 12), 1);
}

static void
test_blocks (void)
{
  static const gchar *const posed[] = { "2", "3", "3:1:1" };
  GRand *random = g_rand_new_with_seed (37);
  guint cut[4] = { 0 }, most = 0;

  for (guint round = 0; round < 96; round++) {
    Set *set = new_set (random, round, TRUE);
    Losses losses = { 0 };
    guint blocks;

    limit_set (random, set);
    g_setenv ("CUDAVISION_POSED_DEVICES", posed[round % 3], TRUE);
    blocks = compute_over (set, (CvisBalance) (round / 4 % 3), &losses);
    g_assert_cmpuint (losses.lost, ==, 0);
    cut[set->config.operation] += blocks > 1;
    most = MAX (most, blocks);
    free_set (set);
  }
  g_unsetenv ("CUDAVISION_POSED_DEVICES");
  g_test_message ("of 24 each: %u filters, %u transforms, %u inverses in row "
                  "blocks, at most %u",
      cut[0], cut[1], cut[2], most);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (cut[i], >=, 5);
  g_assert_cmpuint (cut[LWT_OPERATION_DENOISE], ==, 0);
  g_assert_cmpuint (most, >, 12);
  g_rand_free (random);
}

/* Devices are lost while they compute row blocks, in some rounds all of them. */
static void
test_blocks_lost (void)
{
  GRand *random = g_rand_new_with_seed (38);
  guint lost = 0, cut = 0;

  g_setenv ("CUDAVISION_POSED_DEVICES", "3", TRUE);
  for (guint round = 0; round < 48; round++) {
    Set *set = new_set (random, round, TRUE);
    Losses losses = { 0 };
    gchar *faults = g_strdup_printf ("%u:%u,0:%u%s", 1 + round % 2,
        (guint) g_rand_int_range (random, 1, 20),
        (guint) g_rand_int_range (random, 1, 20),
        round % 4 < 2 ? ",1:2,2:3" : "");

    limit_set (random, set);
    g_setenv ("CUDAVISION_FAULTS", faults, TRUE);
    cut += compute_over (set, CVIS_BALANCE_QUEUE, &losses) > 1;
    lost += losses.lost;
    g_free (faults);
    free_set (set);
  }
  g_unsetenv ("CUDAVISION_POSED_DEVICES");
  g_unsetenv ("CUDAVISION_FAULTS");
  g_test_message ("%u devices lost, %u of 48 in row blocks", lost, cut);
  g_assert_cmpuint (lost, >, 48);
  g_assert_cmpuint (cut, >, 16);
  g_rand_free (random);
}

/* All devices are lost and no CPU replaces them: the surface comes back, and the next one
 * is refused. */
static void
test_blocks_all_lost (void)
{
  const CvisFleetOwner owner = { .balance = CVIS_BALANCE_QUEUE };
  static gfloat samples[1000 * 8], bands[1000 * 8];
  LwtWavelet *wavelet = lwt_wavelet_new ("9/7", NULL);
  LwtJob job = { .data = samples, .stride = sizeof samples / 1000 }, *done;
  CvisDevices *devices;
  GError *error = NULL;
  LwtEngine *engine;
  LwtConfig config;

  g_setenv ("CUDAVISION_POSED_DEVICES", "2", TRUE);
  g_setenv ("CUDAVISION_FAULTS", "0:2,1:3", TRUE);
  devices = cvis_devices_new ("all", -1, NULL);
  lwt_config_init (&config);
  config.wavelet = wavelet;
  config.operation = LWT_OPERATION_FORWARD;
  config.parts = 1u << CVIS_SURFACE_PART_BANDS;
  config.width = 8;
  config.height = 1000;
  config.levels[0] = config.levels[1] = 1;
  config.split_samples = 1;
  job.parts[CVIS_SURFACE_PART_BANDS] =
      (LwtPlane){ .data = bands, .stride = job.stride };
  engine = lwt_engine_new_over (&config, devices, &owner, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (lwt_engine_count_blocks (engine), ==, 8);
  g_assert_true (lwt_engine_submit (engine, &job, &error));
  g_assert_false (lwt_engine_wait (engine, &done, &error));
  g_assert_true (done == &job);
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CUDA);
  g_clear_error (&error);
  g_assert_false (lwt_engine_submit (engine, &job, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CUDA);
  g_clear_error (&error);
  g_assert_true (lwt_engine_wait (engine, &done, &error));
  g_assert_null (done);
  lwt_engine_free (engine);
  cvis_devices_free (devices);
  lwt_wavelet_free (wavelet);
  g_unsetenv ("CUDAVISION_POSED_DEVICES");
  g_unsetenv ("CUDAVISION_FAULTS");
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtfleet/equal", test_equal);
  g_test_add_func ("/lwtfleet/lost", test_lost);
  g_test_add_func ("/lwtfleet/refused", test_refused);
#ifdef CVIS_TEST_HOOKS
  g_test_add_func ("/lwtfleet/posed", test_posed);
  g_test_add_func ("/lwtfleet/blocks", test_blocks);
  g_test_add_func ("/lwtfleet/blocks-lost", test_blocks_lost);
  g_test_add_func ("/lwtfleet/blocks-all-lost", test_blocks_all_lost);
#endif
  return g_test_run ();
}
