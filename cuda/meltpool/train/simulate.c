/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/simulate.h"

#include <math.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/threadpool.h"
#include "cuda/meltpool/train/frames.h"
#include "cuda/meltpool/train/random.h"

#define SIDE 96
#define FPS 20000
#define WINDOW 20
#define THRESHOLD 100

const gchar *const pbf_simulation_classes[] = { "nominal", "keyhole",
  "lack-of-fusion", "spatter", "drift", NULL };

void
pbf_simulation_init (PbfSimulation *simulation)
{
  *simulation = (PbfSimulation){ .settings = 1200,
    .rows = 35,
    .run = 7,
    .baseline = 2000,
    .least_severity = 0.5,
    .seed = 1 };
}

/* --- settings of machines -------------------------------------------------- */

/* @below, @above: how far settings beyond the range go */
static const struct {
  const gchar *name;
  gsize field;
  gdouble from, to, below, above;
} factors[PBF_N_FACTORS] = {
#define FIELD(name) G_STRUCT_OFFSET (PbfSimMachine, name)
  { "gain", FIELD (gain), 0.65, 1.5, 0.5, 1.8 },
  { "noise", FIELD (noise), 0, 9, 9, 12 },
  { "blur", FIELD (blur), 0, 2.2, 2.2, 2.8 },
  { "background", FIELD (background), -5, 20, -8, 28 },
  { "full scale", FIELD (full_scale), 190, 255, 165, 190 },
  { "pool size", FIELD (pool_size), 0.8, 1.25, 0.7, 1.4 },
  { "elongation", FIELD (elongation), 0.85, 1.2, 0.75, 1.35 },
  { "scan speed", FIELD (scan_speed), 0.5, 2, 0.35, 3 },
  { "spatter rate", FIELD (spatter_rate), 0.5, 2, 0.3, 2.6 },
  { "offset", FIELD (offset_x), -1.5, 1.5, -2.5, 2.5 },
#undef FIELD
};

const gchar *
pbf_simulation_factor (guint index, gdouble *from, gdouble *to)
{
  g_return_val_if_fail (index < PBF_N_FACTORS, NULL);
  *from = factors[index].from;
  *to = factors[index].to;
  return factors[index].name;
}

static gdouble
draw_beyond (PbfRandomState *random, guint factor)
{
  const gdouble side = pbf_random_between (random, 0, 1);
  gboolean above = side < 0.5;

  /* those without room on one side */
  if (factors[factor].below >= factors[factor].from)
    above = TRUE;
  if (factors[factor].above <= factors[factor].to
      && factors[factor].below < factors[factor].from)
    above = FALSE;
  return above ? pbf_random_between (
             random, factors[factor].to, factors[factor].above)
               : pbf_random_between (
                   random, factors[factor].below, factors[factor].from);
}

void
pbf_simulate_machine (
    const PbfSimulation *simulation, guint index, PbfSimMachine *machine)
{
  PbfRandomState random = pbf_random_init (simulation->seed, 16 + index);

  pbf_sim_machine_init (machine);
  if (simulation->neutral && index == 0)
    return;
  for (guint f = 0; f < PBF_N_FACTORS; f++)
    G_STRUCT_MEMBER (gdouble, machine, factors[f].field) =
        pbf_random_between (&random, factors[f].from, factors[f].to);
  machine->offset_y = pbf_random_between (&random, -1.5, 1.5);
  if (simulation->beyond) {
    const guint f = index % PBF_N_FACTORS;

    G_STRUCT_MEMBER (gdouble, machine, factors[f].field) =
        draw_beyond (&random, f);
  }
}

/* --- rows of a machine ----------------------------------------------------- */

/* Full rows of the features as they come. @skip: rows to leave out, until the window is
 * full; @wanted: rows to add still */
typedef struct {
  PbfAnalyser *analyser;
  guint wanted;
  PbfMachineStats *stats; /* (nullable): rows go there */
  gfloat *features;       /* else rows go here */
  gfloat *severity;
  gsize n;
  const gfloat *truth; /* severity of each frame pushed */
  guint64 seen;
} Collector;

#define RUN_FRAMES 65536

static gboolean
collect_result (const CvisPbfResult *result, gpointer data, GError **error)
{
  Collector *self = data;
  const gfloat severity = self->truth[result->frame_index % RUN_FRAMES];

  if (result->window_n < WINDOW || self->wanted == 0)
    return TRUE;
  self->wanted--;
  if (self->stats != NULL) {
    pbf_machine_stats_add (self->stats, result->features);
    return TRUE;
  }
  memcpy (self->features + self->n * CVIS_PBF_N_FEATURES, result->features,
      sizeof result->features);
  self->severity[self->n++] = severity;
  return TRUE;
}

/* Renders frames from @first on until @rows rows have come. */
static gboolean
simulate_run (Collector *self, const PbfSim *sim, guint64 first, guint rows,
    GError **error)
{
  gfloat *truths = g_new (gfloat, RUN_FRAMES);
  guint8 pixels[SIDE * SIDE];
  gboolean ok = TRUE;

  self->truth = truths;
  self->wanted = rows;
  for (guint64 k = 0; ok && self->wanted > 0 && k < RUN_FRAMES; k++) {
    CvisPbfSignal signal;
    PbfSimTruth truth;

    pbf_sim_render (sim, first + k, pixels, SIDE, &signal, &truth);
    truths[k] = truth.regime == PBF_SIM_DRIFT ? truth.drift : truth.severity;
    ok = pbf_analyser_push (
        self->analyser, pixels, SIDE, &signal, signal.t_ns, error);
    /* short runs end as soon as they can */
    if (ok && rows <= k + 1 - MIN (k + 1, WINDOW - 1) && rows < 1000)
      ok = pbf_analyser_flush (self->analyser, error);
  }
  ok = ok && pbf_analyser_end (self->analyser, error);
  g_free (truths);
  return ok;
}

/* A machine's rows in slots of their own, so that any thread may make them. */
typedef struct {
  PbfSimMachine machine;
  PbfMachineStats stats;
  gfloat *features, *severity;
  GError *error;
} Slot;

typedef struct {
  const PbfSimulation *simulation;
  Slot *slots;
  gint done; /* atomic */
  const gint *flag;
} Work;

static PbfSim *
new_sim (const Work *work, guint index, guint stream, PbfSimRegime regime,
    gdouble severity, GError **error)
{
  PbfRandomState random =
      pbf_random_init (work->simulation->seed, (guint64) index << 16 | stream);
  PbfSimMachine machine = work->slots[index].machine;
  PbfSimConfig config = { SIDE, SIDE, FPS, 1, pbf_random_next (&random), regime,
    &machine };

  machine.severity = severity;
  return pbf_sim_new (&config, error);
}

/* Frames of a layer of the machine. */
static guint64
layer_frames (const PbfSimMachine *machine)
{
  return (guint64) (8960 / machine->scan_speed);
}

static gboolean
simulate_baseline (const Work *work, guint index, PbfRandomState *random,
    Collector *collector, GError **error)
{
  const PbfSimulation *simulation = work->simulation;
  const guint64 layer = layer_frames (&work->slots[index].machine);
  const guint run =
      simulation->whole_layers ? (simulation->baseline + 1) / 2 : 50;
  PbfSim *sim = new_sim (work, index, 0, PBF_SIM_NOMINAL, 1, error);
  gboolean ok = sim != NULL;

  collector->stats = &work->slots[index].stats;
  for (guint n = 0; ok && n < simulation->baseline; n += run) {
    const guint64 first =
        simulation->whole_layers
            ? (n > 0 ? layer : 0)
            : (guint64) pbf_random_between (random, 0, 2 * (gdouble) layer);

    ok = simulate_run (
        collector, sim, first, MIN (run, simulation->baseline - n), error);
  }
  pbf_sim_free (sim);
  collector->stats = NULL;
  return ok && pbf_machine_stats_finish (&work->slots[index].stats, error);
}

/* Rows of one class, half of them with one severity, half with another. */
static gboolean
simulate_class (const Work *work, guint index, PbfSimRegime regime,
    PbfRandomState *random, Collector *collector, GError **error)
{
  const PbfSimulation *simulation = work->simulation;
  const guint64 layer = layer_frames (&work->slots[index].machine);
  gboolean ok = TRUE;

  for (guint half = 0; ok && half < 2; half++) {
    const guint rows =
        half == 0 ? (simulation->rows + 1) / 2 : simulation->rows / 2;
    const gboolean full =
        simulation->least_severity >= 1 || (simulation->full_half && half == 1);
    const gboolean gradual = regime == PBF_SIM_DRIFT && full;
    const gdouble least = regime == PBF_SIM_DRIFT
                              ? MAX (simulation->least_severity, 0.5)
                              : simulation->least_severity;
    const gdouble severity = full ? 1 : pbf_random_between (random, least, 1);
    PbfSim *sim =
        new_sim (work, index, 1 + 2 * regime + half, regime, severity, error);

    ok = sim != NULL;
    for (guint n = 0; ok && n < rows; n += simulation->run) {
      guint64 first =
          (guint64) pbf_random_between (random, 0, 2 * (gdouble) layer);

      /* drift: from one half of its size on, or at its size */
      if (gradual)
        first = PBF_SIM_DRIFT_FRAMES / 2
                + (guint64) pbf_random_between (
                    random, 0, PBF_SIM_DRIFT_FRAMES / 2);
      else if (regime == PBF_SIM_DRIFT)
        first += PBF_SIM_DRIFT_FRAMES;
      ok = simulate_run (
          collector, sim, first, MIN (simulation->run, rows - n), error);
    }
    pbf_sim_free (sim);
  }
  return ok;
}

static void
simulate_slots (guint first, guint count, gpointer data)
{
  Work *work = data;
  const PbfSimulation *simulation = work->simulation;

  cvis_cancel_watch (work->flag);
  for (guint index = first; index < first + count; index++) {
    Slot *slot = &work->slots[index];
    PbfRandomState random =
        pbf_random_init (simulation->seed, (guint64) index << 16 | 0xffff);
    Collector collector = { .features = slot->features,
      .severity = slot->severity };
    gboolean ok;

    collector.analyser = pbf_analyser_new (SIDE, SIDE, THRESHOLD, WINDOW, 1,
        NULL, collect_result, &collector, &slot->error);
    ok = collector.analyser != NULL
         && simulate_baseline (work, index, &random, &collector, &slot->error);
    for (PbfSimRegime r = PBF_SIM_NOMINAL; ok && r < PBF_SIM_MIXED; r++) {
      collector.n = (gsize) r * simulation->rows;
      ok = simulate_class (work, index, r, &random, &collector, &slot->error)
           && !cvis_cancelled ();
    }
    pbf_analyser_free (collector.analyser);
    g_atomic_int_inc (&work->done);
    if (simulation->progress != NULL)
      simulation->progress (
          (gdouble) g_atomic_int_get (&work->done) / simulation->settings,
          simulation->data);
    if (!ok)
      break;
  }
}

/* Adds the machine's rows to the dataset, in order. */
static void
add_slot (const Work *work, guint index, PbfDataset *dataset)
{
  const guint rows = work->simulation->rows;
  Slot *slot = &work->slots[index];
  gchar *name = g_strdup_printf ("setting %u", index + 1);
  const guint machine = pbf_dataset_add_machine (dataset, name);
  const guint group = pbf_dataset_add_group (dataset, name);
  PbfMachineStats *stats =
      &g_array_index (dataset->machine_stats, PbfMachineStats, machine);
  gchar *kept = stats->name;

  *stats = slot->stats;
  stats->name = kept;
  for (guint c = 0; c < PBF_SIM_MIXED; c++)
    for (guint r = 0; r < rows; r++)
      pbf_dataset_add_row (dataset, machine, group, c,
          slot->severity[c * rows + r],
          slot->features + (gsize) (c * rows + r) * CVIS_PBF_N_FEATURES);
  g_free (name);
}

static gboolean
check_simulation (const PbfSimulation *simulation, GError **error)
{
  return cvis_check_range ("settings", simulation->settings, 1, 60000, error)
         && cvis_check_range ("rows", simulation->rows, 1, 60000, error)
         && cvis_check_range ("rows of a run", simulation->run, 1, 60000, error)
         && cvis_check_range ("rows of the baseline", simulation->baseline,
             PBF_BASELINE_MIN_ROWS, 60000, error)
         && cvis_check_range (
             "severity", simulation->least_severity, 0, 1, error);
}

gboolean
pbf_simulate (
    const PbfSimulation *simulation, PbfDataset *dataset, GError **error)
{
  const gsize rows = (gsize) PBF_SIM_MIXED * simulation->rows;
  Work work = { simulation };
  gboolean ok = TRUE;
  CvisPool *pool;

  if (!check_simulation (simulation, error))
    return FALSE;
  work.flag = cvis_cancel_get_watched ();
  work.slots = g_new0 (Slot, simulation->settings);
  for (guint i = 0; i < simulation->settings; i++) {
    pbf_simulate_machine (simulation, i, &work.slots[i].machine);
    work.slots[i].features = g_new0 (gfloat, rows * CVIS_PBF_N_FEATURES);
    work.slots[i].severity = g_new0 (gfloat, rows);
    work.slots[i].stats.name = (gchar *) "simulated";
  }
  pool = cvis_pool_new (simulation->threads);
  cvis_pool_run (pool, simulation->settings, 1, simulate_slots, &work);
  cvis_pool_free (pool);
  if (cvis_cancelled ())
    ok = cvis_refuse_cancelled (error);
  for (guint i = 0; i < simulation->settings; i++) {
    Slot *slot = &work.slots[i];

    if (ok && slot->error != NULL) {
      g_propagate_error (error, g_steal_pointer (&slot->error));
      ok = FALSE;
    }
    if (ok)
      add_slot (&work, i, dataset);
    g_clear_error (&slot->error);
    g_free (slot->features);
    g_free (slot->severity);
  }
  g_free (work.slots);
  return ok;
}
