/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Training and test rows from the simulator (cuda/camera/sim.h): machines at random
 * settings, five classes, with the baseline of each machine. */
#pragma once

#include "cuda/camera/sim.h"
#include "cuda/meltpool/train/dataset.h"

G_BEGIN_DECLS

/* The machine's settings that vary. */
#define PBF_N_FACTORS 10

/**
 * PbfSimulation: set up with pbf_simulation_init(), then changed
 * @settings: machines, 1..100000
 * @rows: of each machine and class, 1..100000
 * @run: consecutive rows, 1..1000; the frames of a run follow each other
 * @baseline: nominal rows of each machine, PBF_BASELINE_MIN_ROWS..1000000
 * @whole_layers: the baseline is consecutive, one half in a layer along x, the other
 *   half in a layer along y; else it consists of runs at random places
 * @beyond: one factor of each machine is outside the ranges
 * @neutral: the first machine has the simulator's default settings
 * @least_severity: severities are uniform in @least_severity..1; drift is between one
 *   half and all of its size
 * @full_half: one half of the rows of a defect have severity 1
 * @seed, @threads: the same seed gives the same rows with any number of threads
 * @progress: (nullable): called now and then with a fraction, in any thread
 */
typedef struct {
  guint settings, rows, run, baseline;
  gboolean whole_layers, beyond, neutral, full_half;
  gdouble least_severity;
  guint64 seed;
  guint threads;
  void (*progress) (gdouble fraction, gpointer data);
  gpointer data;
} PbfSimulation;

void pbf_simulation_init (PbfSimulation *simulation);

/* Name and range of factor @index. */
const gchar *pbf_simulation_factor (guint index, gdouble *from, gdouble *to);

/* Random settings of machine @index. */
void pbf_simulate_machine (
    const PbfSimulation *simulation, guint index, PbfSimMachine *machine);

/* "nominal", "keyhole", "lack-of-fusion", "spatter", "drift", NULL */
extern const gchar *const pbf_simulation_classes[];

/* Adds a machine and a group for each setting, and its rows.
 * Returns: FALSE with CVIS_ERROR_INVALID or CVIS_ERROR_CANCELLED */
gboolean pbf_simulate (
    const PbfSimulation *simulation, PbfDataset *dataset, GError **error);

G_END_DECLS
