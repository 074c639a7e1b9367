/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A machine's baseline: the folded values against their definition; contamination by the
 * simulator's regimes, which has to be reported in 9 of 10 trials with the network that
 * comes with the package (environment variable NETWORK); one direction of scanning, too few frames, wrong files and machines are refused. */
#include "cuda/meltpool/baseline.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "cuda/camera/sim.h"
#include "cuda/meltpool/engine.h"

#define SIDE 96
#define BATCH 500
#define N PBF_BASELINE_MIN_FRAMES
#define TRIALS 10

/* --- records of the simulator ---------------------------------------------- */

typedef struct {
  CvisPbfResult *records; /* those in a complete window */
  guint n;
} Records;

static void
render_batch (PbfSim *sim, PbfTrack *track, guint64 first, PbfBatch *batch,
    guint8 *pixels)
{
  for (guint i = 0; i < BATCH; i++) {
    CvisPbfSignal signal;
    PbfSimTruth truth;

    batch->frames[i] = pixels + (gsize) i * SIDE * SIDE;
    pbf_sim_render (sim, first + i, pixels + (gsize) i * SIDE * SIDE, SIDE,
        &signal, &truth);
    pbf_track_frame (track, &signal, pbf_sim_time (sim, first + i), 0, 0,
        (PbfFrameInfo *) &batch->infos[i]);
  }
}

/* Records of @n analysed frames from frame @first on */
static Records
simulate (PbfSimRegime regime, guint64 seed, guint64 first, guint n)
{
  const PbfSimConfig sim_config = { SIDE, SIDE, 20000, 1, seed, regime };
  PbfTrackConfig track_config = { 0 };
  Records records = { g_new (CvisPbfResult, n), 0 };
  guint8 *pixels = g_malloc ((gsize) BATCH * SIDE * SIDE);
  guint strides[BATCH];
  const guint8 *frames[BATCH];
  PbfFrameInfo infos[BATCH];
  CvisPbfResult *results = g_new (CvisPbfResult, BATCH);
  PbfBatch batch = { .n = BATCH,
    .frames = frames,
    .strides = strides,
    .infos = infos,
    .results = results };
  PbfSim *sim = pbf_sim_new (&sim_config, NULL);
  PbfEngine *engine;
  PbfTrack *track;
  PbfConfig config;

  g_assert_true (pbf_calibration_parse (
      PBF_CALIBRATION_DEFAULT, &track_config.calibration, NULL));
  track = pbf_track_new (&track_config);
  pbf_config_init (&config);
  config.width = config.height = SIDE;
  config.max_batch = BATCH;
  engine = pbf_engine_new (&config, NULL, NULL, NULL);
  for (guint i = 0; i < BATCH; i++)
    strides[i] = SIDE;
  for (; records.n < n; first += BATCH) {
    PbfBatch *done;

    render_batch (sim, track, first, &batch, pixels);
    g_assert_true (pbf_engine_submit (engine, &batch, NULL));
    g_assert_true (pbf_engine_wait (engine, &done, NULL));
    for (guint i = 0; i < BATCH && records.n < n; i++)
      if (results[i].window_n > 0
          && !(results[i].flags & CVIS_PBF_RESULT_WARMUP))
        records.records[records.n++] = results[i];
  }
  pbf_engine_free (engine);
  pbf_track_free (track);
  pbf_sim_free (sim);
  g_free (results);
  g_free (pixels);
  return records;
}

/* --- a network's file ------------------------------------------------------- */

/* base.mean[i] = i / 10, base.std[i] = 1 + i / 10, sigma[i] = 1 + i, in.std 1, the rest
 * 0 */
static gchar *
write_network (const gchar *metadata, gfloat first_sigma)
{
  static const struct {
    const gchar *name, *shape;
    guint n;
  } tensors[] = { { "in.mean", "40", 40 }, { "in.std", "40", 40 },
    { "base.sigma", "40", 40 }, { "base.mean", "40", 40 },
    { "base.std", "40", 40 }, { "l1.weight", "1,40", 40 },
    { "l1.bias", "1", 1 }, { "l2.weight", "2,1", 2 }, { "l2.bias", "2", 2 },
    { "other", "3", 3 } };
  GString *header = g_string_new (NULL);
  GByteArray *file = g_byte_array_new (), *data = g_byte_array_new ();
  GError *error = NULL;
  gchar *name = NULL;
  guint64 length;
  gint fd = g_file_open_tmp ("baseline-XXXXXX.safetensors", &name, NULL);

  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  g_string_append_printf (header,
      "{\"__metadata__\":{\"feature_spec\":\"pbf40-v1\",\"by\":\"a "
      "\\\"test\\\"\"%s}",
      metadata);
  for (guint t = 0; t < G_N_ELEMENTS (tensors); t++) {
    g_string_append_printf (header,
        ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%u,%u]}",
        tensors[t].name, tensors[t].shape, data->len,
        data->len + 4 * tensors[t].n);
    for (guint i = 0; i < tensors[t].n; i++) {
      gfloat value = t == 1   ? 1
                     : t == 2 ? (i == 0 ? first_sigma : 1 + (gfloat) i)
                     : t == 3 ? (gfloat) i / 10
                     : t == 4 ? 1 + (gfloat) i / 10
                              : 0;
      guint32 bits;

      memcpy (&bits, &value, 4);
      bits = GUINT32_TO_LE (bits);
      g_byte_array_append (data, (guint8 *) &bits, 4);
    }
  }
  g_string_append_c (header, '}');
  length = GUINT64_TO_LE ((guint64) header->len);
  g_byte_array_append (file, (guint8 *) &length, 8);
  g_byte_array_append (file, (guint8 *) header->str, header->len);
  g_byte_array_append (file, data->data, data->len);
  g_file_set_contents (name, (gchar *) file->data, file->len, &error);
  g_assert_no_error (error);
  g_string_free (header, TRUE);
  g_byte_array_unref (file);
  g_byte_array_unref (data);
  return name;
}

static PbfBaseline *
make_baseline (const gchar *name, guint n)
{
  GError *error = NULL;
  PbfBaseline *baseline = pbf_baseline_new (name, n, "M 1", &error);

  g_assert_no_error (error);
  return baseline;
}

/* --- tests ------------------------------------------------------------------ */

static void
check_folded (const Records *records, const PbfModel *model)
{
  for (guint f = 0; f < CVIS_PBF_N_FEATURES; f++) {
    gdouble m = 0, s;
    gfloat std;

    for (guint i = 0; i < N; i++)
      m += records->records[i].features[f];
    m /= N;
    s = fabs (m) + 0.1 * (f == 0 ? 7 : 1 + f);
    std = (gfloat) ((gfloat) (1 + (gfloat) f / 10) * s);
    g_assert_cmpfloat (
        model->mean[f], ==, (gfloat) (m + ((gfloat) f / 10) * s));
    g_assert_cmpfloat (model->inv_std[f], ==, 1.0f / std);
  }
}

/* The frames of two calls, interrupted by a reset; the file keeps the rest. */
static void
test_fold (void)
{
  Records records = simulate (PBF_SIM_NOMINAL, 3, 0, N + 100);
  gchar *name = write_network (",\"baseline\":\"required\"", 7);
  PbfBaseline *baseline = make_baseline (name, N);
  PbfBaselineReport report;
  GError *error = NULL;
  PbfModel *model;
  GBytes *file;
  gsize size;
  gconstpointer bytes;

  g_assert_false (pbf_baseline_add (baseline, records.records + 50, 1500));
  pbf_baseline_reset (baseline);
  g_assert_false (pbf_baseline_add (baseline, records.records, 700));
  g_assert_cmpuint (pbf_baseline_get_count (baseline), ==, 700);
  g_assert_true (
      pbf_baseline_add (baseline, records.records + 700, N - 700 + 100));
  file = pbf_baseline_finish (baseline, &report, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (report.frames, ==, N);
  g_assert_cmpuint (report.known_directions, >, N * 9 / 10);
  g_assert_cmpfloat (report.backward, >, 0.3);
  g_assert_false (report.contaminated);
  bytes = g_bytes_get_data (file, &size);
  model = pbf_model_parse (bytes, size, &error);
  g_assert_no_error (error);
  g_assert_cmpint (model->baseline, ==, PBF_BASELINE_APPLIED);
  g_assert_cmpstr (model->machine, ==, "M 1");
  check_folded (&records, model);
  g_assert_nonnull (g_strstr_len ((const gchar *) bytes + 8, (gssize) size - 8,
      "\"by\":\"a \\\"test\\\"\""));
  g_assert_true (pbf_model_check_machine (model, "M 1", &error));
  g_assert_true (pbf_model_check_machine (model, "", &error));
  g_assert_true (pbf_model_check_machine (model, NULL, &error));
  g_assert_false (pbf_model_check_machine (model, "M 2", &error));
  g_assert_cmpstr (error->message, ==,
      "its baseline is that of the machine \"M 1\", not of \"M 2\"");
  g_clear_error (&error);
  pbf_model_unref (model);

  /* a second baseline replaces it */
  g_assert_true (g_file_set_contents (name, bytes, (gssize) size, NULL));
  g_bytes_unref (file);
  pbf_baseline_free (baseline);
  baseline = pbf_baseline_new (name, N, "M 2", &error);
  g_assert_no_error (error);
  pbf_baseline_add (baseline, records.records, N + 100);
  file = pbf_baseline_finish (baseline, &report, &error);
  g_assert_no_error (error);
  bytes = g_bytes_get_data (file, &size);
  model = pbf_model_parse (bytes, size, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (model->machine, ==, "M 2");
  check_folded (&records, model);
  pbf_model_unref (model);
  g_bytes_unref (file);
  pbf_baseline_free (baseline);
  g_remove (name);
  g_free (name);
  g_free (records.records);
}

/* Learns from @n_other records of @other among nominal ones: in one block, or spread.
 * Returns: whether contamination is reported */
static gboolean
learn_mixed (const gchar *name, const Records *nominal, const Records *other,
    guint n_other, guint trial)
{
  PbfBaseline *baseline = make_baseline (name, N);
  GRand *rand = g_rand_new_with_seed (trial);
  guint at = (guint) g_rand_int_range (rand, 0, (gint) (nominal->n - N));
  guint from = n_other > 0 ? (guint) g_rand_int_range (
                   rand, 0, (gint) (other->n - n_other))
                           : 0;
  PbfBaselineReport report;
  GError *error = NULL;
  GBytes *file;

  for (guint i = 0; i < N; i++) {
    const gboolean foreign = trial % 2 == 0
                                 ? i >= 700 && i < 700 + n_other
                                 : n_other > 0 && i % (N / n_other) == 5;

    pbf_baseline_add (baseline,
        foreign ? &other->records[from++] : &nominal->records[at++], 1);
  }
  file = pbf_baseline_finish (baseline, &report, &error);
  g_assert_no_error (error);
  g_assert_cmpint (
      report.contaminated, ==, report.other_fraction > PBF_BASELINE_IMPURE);
  g_test_message ("trial %u: %.1f %% %s", trial, 100 * report.other_fraction,
      pbf_baseline_get_name (baseline, report.other));
  g_bytes_unref (file);
  pbf_baseline_free (baseline);
  g_rand_free (rand);
  return report.contaminated;
}

static void
test_contamination (void)
{
  static const PbfSimRegime regimes[] = { PBF_SIM_KEYHOLE,
    PBF_SIM_LACK_OF_FUSION, PBF_SIM_SPATTER, PBF_SIM_DRIFT };
  Records nominal = simulate (PBF_SIM_NOMINAL, 11, 0, 6000);
  const gchar *name = g_getenv ("NETWORK");
  guint reported = 0;

  g_assert_nonnull (name);
  for (guint t = 0; t < TRIALS; t++)
    reported += learn_mixed (name, &nominal, NULL, 0, t);
  g_assert_cmpuint (reported, ==, 0);
  for (guint r = 0; r < G_N_ELEMENTS (regimes); r++) {
    /* drift from half of its severity on */
    Records other = simulate (
        regimes[r], 12, regimes[r] == PBF_SIM_DRIFT ? 10000 : 0, 3000);

    reported = 0;
    for (guint t = 0; t < TRIALS; t++)
      reported += learn_mixed (name, &nominal, &other, N / 10, t);
    g_test_message (
        "regime %u: %u of %u reported", regimes[r], reported, TRIALS);
    g_assert_cmpuint (reported, >=, 9);
    g_free (other.records);
  }
  g_free (nominal.records);
}

/* Returns: (nullable): the error of a baseline of the records of which @keep is true */
static gchar *
finish_kept (const gchar *name, const Records *records,
    gboolean (*keep) (const CvisPbfResult *result))
{
  PbfBaseline *baseline = make_baseline (name, N);
  PbfBaselineReport report;
  GError *error = NULL;
  gboolean complete = FALSE;
  gchar *message = NULL;
  GBytes *file;

  for (guint i = 0; i < records->n && !complete; i++)
    if (keep (&records->records[i]))
      complete = pbf_baseline_add (baseline, &records->records[i], 1);
  g_assert_true (complete);
  file = pbf_baseline_finish (baseline, &report, &error);
  if (file == NULL) {
    message = g_strdup (error->message);
    g_error_free (error);
  } else {
    g_bytes_unref (file);
  }
  pbf_baseline_free (baseline);
  return message;
}

/* The simulator scans odd vectors backwards. */
static gboolean
is_even (const CvisPbfResult *result)
{
  return result->vector_id % 2 == 0;
}

static gboolean
is_mostly_even (const CvisPbfResult *result)
{
  return result->vector_id % 2 == 0 || result->vector_id % 6 == 1;
}

static void
test_directions (void)
{
  Records records = simulate (PBF_SIM_NOMINAL, 5, 0, 7000);
  gchar *name = write_network (",\"baseline\":\"required\"", 1), *message;

  message = finish_kept (name, &records, is_even);
  g_assert_nonnull (message);
  g_assert_nonnull (strstr (message, "only 0.0 % of the 2000 baseline frames"));
  g_free (message);
  g_assert_null (finish_kept (name, &records, is_mostly_even));
  /* without positions nothing is known */
  for (guint i = 0; i < records.n; i++)
    records.records[i].signal_flags = 0;
  g_assert_null (finish_kept (name, &records, is_even));
  /* a NaN among the features */
  records.records[100].features[7] = NAN;
  message = finish_kept (name, &records, is_mostly_even);
  g_assert_nonnull (strstr (message, "in.mean[7] is"));
  g_free (message);
  g_remove (name);
  g_free (name);
  g_free (records.records);
}

static void
test_refused (void)
{
  static const struct {
    const gchar *metadata, *machine, *says;
    guint n;
    gfloat sigma;
  } cases[] = {
    { ",\"baseline\":\"required\"", "M", "1999 frames is not in 2000", 1999,
        1 },
    { ",\"baseline\":\"required\"", "M", "not in 2000", 1000001, 1 },
    { ",\"baseline\":\"required\"", "", "Set machine", N, 1 },
    { ",\"baseline\":\"required\"", NULL, "Set machine", N, 1 },
    { ",\"baseline\":\"required\"", "a\nb", "Set machine", N, 1 },
    { ",\"baseline\":\"required\"", "\xff", "Set machine", N, 1 },
    { "", "M", "was not trained relative to baselines", N, 1 },
    { ",\"baseline\":\"none\"", "M", "was not trained relative", N, 1 },
    { ",\"baseline\":\"maybe\"", "M",
        "\"baseline\" is \"maybe\", must be one of", N, 1 },
    { ",\"baseline\":\"applied\"", "M", "\"machine\" is missing", N, 1 },
    { ",\"baseline\":\"required\"", "M", "base.sigma[0] is -1", N, -1 },
    { ",\"baseline\":\"required\"", "M", "base.sigma[0] is nan", N, NAN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *name = write_network (cases[i].metadata, cases[i].sigma);
    GError *error = NULL;

    g_assert_null (
        pbf_baseline_new (name, cases[i].n, cases[i].machine, &error));
    if (strstr (error->message, cases[i].says) == NULL)
      g_error ("\"%s\" lacks \"%s\"", error->message, cases[i].says);
    g_clear_error (&error);
    g_remove (name);
    g_free (name);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfbaseline/fold", test_fold);
  g_test_add_func ("/pbfbaseline/contamination", test_contamination);
  g_test_add_func ("/pbfbaseline/directions", test_directions);
  g_test_add_func ("/pbfbaseline/refused", test_refused);
  return g_test_run ();
}
