/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/baseline.h"

#include "cuda/meltpool/safetensors.h"

#include <math.h>
#include <string.h>

#define MAX_MACHINE 128
/* Least fraction of frames against the main direction. A layer has about 0.5. */
#define MIN_BACKWARD 0.1
/* Frames with a known direction, as a fraction, for that check */
#define MIN_KNOWN 0.1
/* Limits of contamination: docs/design/meltpool.md, "Baseline" */
#define FAR_SIGMAS 5
#define MAX_FAR_AREAS 0.03
#define MAX_DISPERSION 1.25

struct _PbfBaseline {
  gchar *bytes; /* of the network's file */
  gsize size;
  gchar *machine;
  gfloat sigma[CVIS_PBF_N_FEATURES];

  guint n_frames, count;
  gdouble sums[CVIS_PBF_N_FEATURES];
  gdouble spatters, spatters_squared;
  gint32 *areas;      /* of the pools */
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
  memcpy (baseline->sigma, model->sigma, sizeof model->sigma);
  baseline->n_frames = n_frames;
  baseline->areas = g_new (gint32, n_frames);
  baseline->directions = g_new (gfloat, 2 * (gsize) n_frames);
  pbf_model_unref (model);
  return baseline;
}

void
pbf_baseline_free (PbfBaseline *baseline)
{
  if (baseline == NULL)
    return;
  g_free (baseline->bytes);
  g_free (baseline->machine);
  g_free (baseline->areas);
  g_free (baseline->directions);
  g_free (baseline);
}

void
pbf_baseline_reset (PbfBaseline *baseline)
{
  baseline->count = baseline->known_directions = 0;
  baseline->spatters = baseline->spatters_squared = 0;
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
    const gdouble spatters = result->raw[CVIS_PBF_SPATTER_COUNT];

    if (result->window_n == 0 || (result->flags & CVIS_PBF_RESULT_WARMUP))
      continue;
    for (guint f = 0; f < CVIS_PBF_N_FEATURES; f++)
      baseline->sums[f] += result->features[f];
    baseline->spatters += spatters;
    baseline->spatters_squared += spatters * spatters;
    baseline->areas[baseline->count++] = result->raw[CVIS_PBF_MP_AREA];
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

static gint
compare_areas (gconstpointer a, gconstpointer b)
{
  const gint32 x = *(const gint32 *) a, y = *(const gint32 *) b;

  return (x > y) - (x < y);
}

static gdouble
sort_for_median (gint32 *values, guint n)
{
  qsort (values, n, sizeof *values, compare_areas);
  return (values[(n - 1) / 2] + (gdouble) values[n / 2]) / 2;
}

/* Fraction of pool areas far from the median. Sorts the areas. */
static gdouble
measure_far_areas (PbfBaseline *baseline)
{
  const guint n = baseline->count;
  const gdouble median = sort_for_median (baseline->areas, n);
  gint32 *twice = g_new (gint32, n); /* twice the distances, integers */
  gdouble sigma;
  guint far_ones = 0;

  for (guint i = 0; i < n; i++)
    twice[i] = (gint32) fabs (2 * (baseline->areas[i] - median));
  /* an area is a whole number: never less than its rounding error */
  sigma = MAX (1.4826 * sort_for_median (twice, n) / 2, 0.29);
  for (guint i = 0; i < n; i++)
    far_ones += twice[i] > 2 * FAR_SIGMAS * sigma;
  g_free (twice);
  return (gdouble) far_ones / n;
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
check_frames (PbfBaseline *baseline, PbfBaselineReport *report, GError **error)
{
  const gdouble n = baseline->count, mean = baseline->spatters / n;

  *report = (PbfBaselineReport){ .frames = baseline->count,
    .known_directions = baseline->known_directions,
    .backward = measure_backward (baseline),
    .far_areas = measure_far_areas (baseline),
    .spatter_dispersion =
        mean > 0 ? (baseline->spatters_squared / n - mean * mean) / mean : 0 };
  report->contaminated = report->far_areas > MAX_FAR_AREAS
                         || report->spatter_dispersion > MAX_DISPERSION;
  if (report->known_directions < MIN_KNOWN * n
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

gchar *
pbf_baseline_describe (const PbfBaselineReport *report)
{
  GString *text = g_string_new (NULL);

  if (report->far_areas > MAX_FAR_AREAS)
    g_string_append_printf (text,
        "%.1f %% of the frames have a melt-pool area more than %d robust "
        "standard deviations from the median (nominal: at most %.0f %%)",
        100 * report->far_areas, FAR_SIGMAS, 100 * MAX_FAR_AREAS);
  if (report->spatter_dispersion > MAX_DISPERSION)
    g_string_append_printf (text,
        "%sthe variance of the number of spatters is %.2f times its mean "
        "(nominal: at most %.2f)",
        text->len > 0 ? "; " : "", report->spatter_dispersion, MAX_DISPERSION);
  return g_string_free (text, FALSE);
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
make_header (PbfBaseline *baseline, const PbfSafetensors *file,
    const PbfBaselineReport *report)
{
  JsonGenerator *generator = json_generator_new ();
  JsonNode *root = json_parser_get_root (file->parser);
  JsonObject *metadata = json_object_get_object_member (
      json_node_get_object (root), "__metadata__");
  GString *header = g_string_new (NULL);
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  json_object_set_string_member (metadata, "baseline", "applied");
  json_object_set_string_member (metadata, "machine", baseline->machine);
  g_snprintf (number, sizeof number, "%u", report->frames);
  json_object_set_string_member (metadata, "baseline_frames", number);
  g_ascii_formatd (number, sizeof number, "%.4f", report->far_areas);
  json_object_set_string_member (metadata, "baseline_far_areas", number);
  g_ascii_formatd (number, sizeof number, "%.4f", report->spatter_dispersion);
  json_object_set_string_member (metadata, "baseline_dispersion", number);
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
    const gdouble s = pbf_baseline_scale (m, baseline->sigma[i]);

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

  if (!check_frames (baseline, report, error)
      || !pbf_safetensors_open (
          &file, (const guint8 *) baseline->bytes, baseline->size, error))
    return NULL;
  header = make_header (baseline, &file, report);
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
  pbf_model_unref (model);
  return g_byte_array_free_to_bytes (bytes);
}
