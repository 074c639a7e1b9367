/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/baseline.h"

#include "cuda/meltpool/cpu/cpu.h"
#include "cuda/meltpool/safetensors.h"
#include "cuda/meltpool/vote.h"

#include <math.h>
#include <string.h>

#define MAX_MACHINE 128
/* Least fraction of frames against the main direction. A layer has about 0.5. */
#define MIN_BACKWARD 0.1
/* Frames with a known direction, as a fraction, for that check */
#define MIN_KNOWN 0.1
/* Frames at most that the network is asked for */
#define MAX_ASKED 4000
#define EM_STEPS 50

struct _PbfBaseline {
  gchar *bytes; /* of the network's file */
  gsize size;
  gchar *machine;
  PbfModel *model;

  guint n_frames, count;
  gdouble sums[CVIS_PBF_N_FEATURES];
  gfloat (*asked)[CVIS_PBF_N_FEATURES]; /* features of every @stride-th frame */
  guint stride, n_asked;
  gfloat *directions; /* unit vectors, x and y */
  guint known_directions;
  CvisPbfResult last; /* the record before, if last.size > 0 */
};

/* --- beginning ------------------------------------------------------------- */

static gboolean
check_machine (const gchar *machine, GError **error)
{
  gboolean valid = machine != NULL && *machine != '\0'
                   && strlen (machine) <= MAX_MACHINE
                   && g_utf8_validate (machine, -1, NULL);

  for (const gchar *p = machine; valid && *p; p = g_utf8_next_char (p))
    valid = g_unichar_isprint (g_utf8_get_char (p));
  if (!valid)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "a baseline belongs to a machine, which needs a name of 1 to %d "
        "printable bytes. Set machine",
        MAX_MACHINE);
  return valid;
}

static gboolean
check_state (const PbfModel *model, GError **error)
{
  if (model->baseline != PBF_BASELINE_NONE)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "the network was not trained relative to baselines: its metadata "
      "\"baseline\" is neither \"required\" nor \"applied\". Use it without a "
      "baseline, or train it relative to baselines");
  return FALSE;
}

PbfBaseline *
pbf_baseline_new (
    const gchar *filename, guint n_frames, const gchar *machine, GError **error)
{
  PbfBaseline *baseline;
  PbfModel *model;
  gchar *bytes;
  gsize size;

  if (n_frames < PBF_BASELINE_MIN_FRAMES
      || n_frames > PBF_BASELINE_MAX_FRAMES) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "a baseline of %u frames is not in %d to %d: with fewer frames the "
        "network is wrong on some machines. Use one nominal layer",
        n_frames, PBF_BASELINE_MIN_FRAMES, PBF_BASELINE_MAX_FRAMES);
    return NULL;
  }
  if (!check_machine (machine, error)
      || !pbf_model_read_file (filename, &bytes, &size, error))
    return NULL;
  model = pbf_model_parse ((const guint8 *) bytes, size, error);
  if (model == NULL || !check_state (model, error)) {
    g_clear_pointer (&model, pbf_model_unref);
    g_free (bytes);
    return NULL;
  }
  baseline = g_new0 (PbfBaseline, 1);
  baseline->bytes = bytes;
  baseline->size = size;
  baseline->machine = g_strdup (machine);
  baseline->model = model;
  baseline->n_frames = n_frames;
  baseline->stride = (n_frames + MAX_ASKED - 1) / MAX_ASKED;
  baseline->asked = g_malloc_n (MAX_ASKED, sizeof *baseline->asked);
  baseline->directions = g_new (gfloat, 2 * (gsize) n_frames);
  return baseline;
}

void
pbf_baseline_free (PbfBaseline *baseline)
{
  if (baseline == NULL)
    return;
  g_free (baseline->bytes);
  g_free (baseline->machine);
  pbf_model_unref (baseline->model);
  g_free (baseline->asked);
  g_free (baseline->directions);
  g_free (baseline);
}

void
pbf_baseline_reset (PbfBaseline *baseline)
{
  baseline->count = baseline->known_directions = baseline->n_asked = 0;
  baseline->last.size = 0;
  memset (baseline->sums, 0, sizeof baseline->sums);
}

/* --- collecting ------------------------------------------------------------ */

/* The direction of scanning, from the position of the record before in the same
 * vector. */
static void
add_direction (PbfBaseline *baseline, const CvisPbfResult *result)
{
  const CvisPbfResult *last = &baseline->last;
  const gdouble x = (gdouble) result->x_um - last->x_um;
  const gdouble y = (gdouble) result->y_um - last->y_um;
  const gdouble length = sqrt (x * x + y * y);
  gfloat *to = baseline->directions + 2 * (gsize) baseline->known_directions;

  if (last->size == 0 || last->layer != result->layer
      || last->vector_id != result->vector_id || length == 0
      || !(result->signal_flags & last->signal_flags
           & CVIS_PBF_SIGNAL_POSITION_VALID))
    return;
  to[0] = (gfloat) (x / length);
  to[1] = (gfloat) (y / length);
  baseline->known_directions++;
}

gboolean
pbf_baseline_add (PbfBaseline *baseline, const CvisPbfResult *results, guint n)
{
  for (guint i = 0; i < n && baseline->count < baseline->n_frames; i++) {
    const CvisPbfResult *result = &results[i];
    if (result->window_n == 0 || (result->flags & CVIS_PBF_RESULT_WARMUP))
      continue;
    for (guint f = 0; f < CVIS_PBF_N_FEATURES; f++)
      baseline->sums[f] += result->features[f];
    if (baseline->count++ % baseline->stride == 0)
      memcpy (baseline->asked[baseline->n_asked++], result->features,
          sizeof result->features);
    add_direction (baseline, result);
    baseline->last = *result;
  }
  return baseline->count == baseline->n_frames;
}

guint
pbf_baseline_get_count (const PbfBaseline *baseline)
{
  return baseline->count;
}

/* --- checking -------------------------------------------------------------- */

/* The fractions of @classes states among @n frames, from the probabilities of the states
 * that a network gives each frame if all are as frequent: the most likely ones, by
 * expectation maximisation (Saerens et al., Adjusting the outputs of a classifier to new a
 * priori probabilities, 2002). Wrong answers that the probabilities account for do not
 * count. */
static void
estimate_fractions (const gfloat *probabilities, guint n, guint classes,
    gdouble fractions[CVIS_PBF_MAX_OUTPUTS])
{
  for (guint c = 0; c < classes; c++)
    fractions[c] = 1.0 / classes;
  for (guint step = 0; step < EM_STEPS && n > 0; step++) {
    gdouble sums[CVIS_PBF_MAX_OUTPUTS] = { 0 };

    for (guint i = 0; i < n; i++) {
      const gfloat *of_frame = probabilities + (gsize) i * classes;
      gdouble total = 0;

      for (guint c = 0; c < classes; c++)
        total += fractions[c] * of_frame[c];
      for (guint c = 0; c < classes; c++)
        sums[c] += fractions[c] * of_frame[c] / total;
    }
    for (guint c = 0; c < classes; c++)
      fractions[c] = sums[c] / n;
  }
}

guint
pbf_model_find_impurity (const PbfModel *model,
    const gfloat (*features)[CVIS_PBF_N_FEATURES], guint n, gdouble *fraction)
{
  const guint classes = model->outputs - model->unknown;
  gdouble fractions[CVIS_PBF_MAX_OUTPUTS] = { 0 };
  gfloat *known;
  guint n_known = 0, most = 1;
  PbfParams params;
  PbfConfig config;

  *fraction = 0;
  if (model->activation < PBF_ACTIVATION_SOFTMAX || classes < 2)
    return 0;
  known = g_new (gfloat, (gsize) n * classes + 1);
  pbf_config_init (&config);
  config.activation = model->activation;
  pbf_params_init (&params, &config);
  for (guint i = 0; i < n; i++) {
    CvisPbfResult result;
    guint found;

    memcpy (result.features, features[i], sizeof result.features);
    pbf_cpu_kernels ()->network (&params, model, &result);
    if (pbf_find_class (result.outputs, model->outputs, model->unknown,
            PBF_UNKNOWN_LIMIT, &found)
        && found < classes)
      memcpy (known + (gsize) n_known++ * classes, result.outputs,
          classes * sizeof *known);
  }
  estimate_fractions (known, n_known, classes, fractions);
  g_free (known);
  for (guint o = 0; o < classes; o++)
    fractions[o] *= (gdouble) n_known / MAX (n, 1);
  if (model->unknown)
    fractions[classes] = (gdouble) (n - n_known) / MAX (n, 1);
  for (guint o = 2; o < model->outputs; o++)
    if (fractions[o] > fractions[most])
      most = o;
  *fraction = fractions[most];
  return most;
}

const gchar *
pbf_baseline_get_name (const PbfBaseline *baseline, guint index)
{
  return baseline->model->names[index];
}

/* Fraction of the known directions that point against the main one, about the main
 * axis of them all: the eigenvector of the larger eigenvalue of their moments. */
static gdouble
measure_backward (const PbfBaseline *baseline)
{
  const guint n = baseline->known_directions;
  const gfloat *u = baseline->directions;
  gdouble xx = 0, xy = 0, yy = 0, angle, c, s;
  guint forward = 0, backward = 0;

  for (guint i = 0; i < n; i++) {
    xx += u[2 * i] * u[2 * i];
    xy += u[2 * i] * u[2 * i + 1];
    yy += u[2 * i + 1] * u[2 * i + 1];
  }
  angle = 0.5 * atan2 (2 * xy, xx - yy);
  c = cos (angle);
  s = sin (angle);
  for (guint i = 0; i < n; i++) {
    const gdouble along = c * u[2 * i] + s * u[2 * i + 1];

    forward += along > 0;
    backward += along < 0;
  }
  return (gdouble) MIN (forward, backward) / MAX (forward + backward, 1);
}

static gboolean
check_directions (
    PbfBaseline *baseline, PbfBaselineReport *report, GError **error)
{
  *report = (PbfBaselineReport){ .frames = baseline->count,
    .known_directions = baseline->known_directions,
    .backward = measure_backward (baseline) };
  if (report->known_directions < MIN_KNOWN * baseline->count
      || report->backward >= MIN_BACKWARD)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "only %.1f %% of the %u baseline frames are scanned against the main "
      "direction, at least %.0f %% are needed: the melt pool looks different "
      "in "
      "each direction. Use more frames, such as a whole layer",
      100 * report->backward, report->frames, 100 * MIN_BACKWARD);
  return FALSE;
}

/* --- the file -------------------------------------------------------------- */

static void
put_float (guint8 *data, gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, 4);
  bits = GUINT32_TO_LE (bits);
  memcpy (data, &bits, 4);
}

static gfloat
get_float (const guint8 *data)
{
  guint32 bits;
  gfloat value;

  memcpy (&bits, data, 4);
  bits = GUINT32_FROM_LE (bits);
  memcpy (&value, &bits, 4);
  return value;
}

/* The header of @file with the baseline in its metadata, padded to 8 bytes */
static GString *
make_header (PbfBaseline *baseline, const PbfSafetensors *file)
{
  JsonGenerator *generator = json_generator_new ();
  JsonNode *root = json_parser_get_root (file->parser);
  JsonObject *metadata = json_object_get_object_member (
      json_node_get_object (root), "__metadata__");
  GString *header = g_string_new (NULL);
  gchar number[16];

  json_object_set_string_member (metadata, "baseline", "applied");
  json_object_set_string_member (metadata, "machine", baseline->machine);
  g_snprintf (number, sizeof number, "%u", baseline->count);
  json_object_set_string_member (metadata, "baseline_frames", number);
  json_generator_set_root (generator, root);
  json_generator_to_gstring (generator, header);
  g_object_unref (generator);
  while (header->len % 8 != 0)
    g_string_append_c (header, ' ');
  return header;
}

/* @data: of the tensors, changed in place */
static void
fold_means (
    const PbfBaseline *baseline, const PbfSafetensors *file, guint8 *data)
{
  guint8 *mean = data + pbf_safetensors_find (file, "in.mean")->begin;
  guint8 *std = data + pbf_safetensors_find (file, "in.std")->begin;
  const guint8 *base_mean =
      data + pbf_safetensors_find (file, "base.mean")->begin;
  const guint8 *base_std =
      data + pbf_safetensors_find (file, "base.std")->begin;

  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    const gdouble m = baseline->sums[i] / baseline->count;
    const gdouble s = pbf_baseline_scale (m, baseline->model->sigma[i]);

    put_float (mean + 4 * i, (gfloat) (m + get_float (base_mean + 4 * i) * s));
    put_float (std + 4 * i, (gfloat) (get_float (base_std + 4 * i) * s));
  }
}

GBytes *
pbf_baseline_finish (
    PbfBaseline *baseline, PbfBaselineReport *report, GError **error)
{
  PbfSafetensors file;
  PbfModel *model;
  GByteArray *bytes;
  GString *header;
  guint64 length;
  gsize data_begin;

  if (!check_directions (baseline, report, error)
      || !pbf_safetensors_open (
          &file, (const guint8 *) baseline->bytes, baseline->size, error))
    return NULL;
  header = make_header (baseline, &file);
  memcpy (&length, baseline->bytes, 8);
  data_begin = 8 + (gsize) GUINT64_FROM_LE (length);
  length = GUINT64_TO_LE ((guint64) header->len);
  bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) &length, 8);
  g_byte_array_append (bytes, (const guint8 *) header->str, header->len);
  g_byte_array_append (bytes, (const guint8 *) baseline->bytes + data_begin,
      baseline->size - data_begin);
  fold_means (baseline, &file, bytes->data + 8 + header->len);
  g_string_free (header, TRUE);
  pbf_safetensors_close (&file);
  /* values that are not finite are refused as in any file */
  model = pbf_model_parse (bytes->data, bytes->len, error);
  if (model == NULL) {
    g_prefix_error (error, "the baseline does not fit the network: ");
    g_byte_array_unref (bytes);
    return NULL;
  }
  report->other = pbf_model_find_impurity (model,
      (const gfloat (*)[CVIS_PBF_N_FEATURES]) baseline->asked,
      baseline->n_asked, &report->other_fraction);
  report->contaminated = report->other_fraction > PBF_BASELINE_IMPURE;
  pbf_model_unref (model);
  return g_byte_array_free_to_bytes (bytes);
}
