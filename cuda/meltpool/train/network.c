/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/network.h"

#include <math.h>
#include <string.h>

#include "cuda/meltpool/baseline.h"
#include "cuda/meltpool/safetensors.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

PbfNetwork *
pbf_network_new (guint hidden, const gchar *const *classes, gboolean unknown)
{
  PbfNetwork *network = g_new0 (PbfNetwork, 1);
  GStrvBuilder *names = g_strv_builder_new ();

  network->hidden = hidden;
  network->threshold = 100;
  network->window = 20;
  network->unknown = unknown;
  g_strv_builder_addv (names, (const gchar **) classes);
  if (unknown)
    g_strv_builder_add (names, PBF_UNKNOWN_NAME);
  network->names = g_strv_builder_end (names);
  g_strv_builder_unref (names);
  network->outputs = g_strv_length (network->names);
  network->w1 = g_new0 (gfloat, hidden * N_FEATURES);
  network->b1 = g_new0 (gfloat, hidden);
  network->w2 = g_new0 (gfloat, network->outputs * hidden);
  network->b2 = g_new0 (gfloat, network->outputs);
  return network;
}

void
pbf_network_free (PbfNetwork *network)
{
  if (network == NULL)
    return;
  g_strfreev (network->names);
  g_free (network->w1);
  g_free (network->b1);
  g_free (network->w2);
  g_free (network->b2);
  g_free (network->machine);
  g_free (network->about);
  g_free (network);
}

/* --- inputs ---------------------------------------------------------------- */

/* Sizes below these are rounding only; a feature that never changes keeps a scale. */
#define LEAST_SCALE 1e-6

static gdouble
baseline_scale (const PbfNetwork *network, guint feature, gdouble mean)
{
  return pbf_baseline_scale (mean, network->base_sigma[feature]);
}

void
pbf_network_standardise (PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n)
{
  const GArray *machines = dataset->machine_stats;
  PbfMachineStats all = { 0 };

  for (guint i = 0; i < N_FEATURES; i++) {
    gdouble sigma = 0;

    for (guint m = 0; m < machines->len; m++)
      sigma += g_array_index (machines, PbfMachineStats, m).std[i];
    network->base_sigma[i] = (gfloat) (sigma / machines->len);
  }
  for (gsize r = 0; r < n; r++) {
    const gfloat *features = dataset->features + (gsize) rows[r] * N_FEATURES;
    const PbfMachineStats *stats =
        &g_array_index (machines, PbfMachineStats, dataset->machines[rows[r]]);
    gfloat relative[N_FEATURES];

    for (guint i = 0; i < N_FEATURES; i++)
      relative[i] = (gfloat) ((features[i] - stats->mean[i])
                              / baseline_scale (network, i, stats->mean[i]));
    pbf_machine_stats_add (&all, relative);
  }
  for (guint i = 0; i < N_FEATURES; i++) {
    const gdouble std = sqrt (all.std[i] / (gdouble) MAX (n, 1));

    network->base_mean[i] = (gfloat) all.mean[i];
    network->base_std[i] = std > LEAST_SCALE ? (gfloat) std : 1;
  }
}

void
pbf_network_fold (PbfNetwork *network, const gdouble means[N_FEATURES])
{
  for (guint i = 0; i < N_FEATURES; i++) {
    const gdouble scale = baseline_scale (network, i, means[i]);

    network->mean[i] = (gfloat) (means[i] + network->base_mean[i] * scale);
    network->std[i] = (gfloat) (network->base_std[i] * scale);
  }
}

gboolean
pbf_network_check_machine (
    const PbfNetwork *network, const gchar *machine, GError **error)
{
  if (network->machine == NULL || g_strcmp0 (network->machine, machine) == 0)
    return TRUE;
  if (machine == NULL)
    return cvis_refuse (error,
        "the network has the baseline of machine \"%s\", this baseline has no "
        "name; name its machine, or begin with a network without baseline",
        network->machine);
  return cvis_refuse (error,
      "the network has the baseline of machine \"%s\", this one is of machine "
      "\"%s\"; begin with a network without baseline, or train one",
      network->machine, machine);
}

/* --- the file -------------------------------------------------------------- */

typedef struct {
  GString *header;
  GByteArray *data;
} Writer;

static void
write_tensor (Writer *writer, const gchar *name, const gfloat *values,
    guint rows, guint columns)
{
  const guint n = MAX (rows, 1) * columns, from = writer->data->len;

  for (guint i = 0; i < n; i++) {
    guint32 bits;

    memcpy (&bits, values + i, 4);
    bits = GUINT32_TO_LE (bits);
    g_byte_array_append (writer->data, (const guint8 *) &bits, 4);
  }
  g_string_append_printf (
      writer->header, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[", name);
  if (rows > 0)
    g_string_append_printf (writer->header, "%u,", rows);
  g_string_append_printf (writer->header, "%u],\"data_offsets\":[%u,%u]}",
      columns, from, writer->data->len);
}

static void
write_metadata (JsonBuilder *json, const gchar *key, const gchar *value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_string_value (json, value);
}

/* {"__metadata__":{...} without the end */
static GString *
begin_header (const PbfNetwork *network)
{
  JsonBuilder *json = json_builder_new ();
  gchar *threshold = g_strdup_printf ("%u", network->threshold);
  gchar *window = g_strdup_printf ("%u", network->window);
  gchar *names = g_strjoinv (",", network->names), *text;
  JsonNode *root;
  GString *header;

  json_builder_begin_object (json);
  write_metadata (json, "feature_spec", CVIS_PBF_FEATURE_SPEC);
  write_metadata (json, "threshold", threshold);
  write_metadata (json, "window", window);
  write_metadata (json, "outputs", names);
  write_metadata (json, "activation", "softmax");
  if (network->unknown)
    write_metadata (json, "unknown", network->names[network->outputs - 1]);
  write_metadata (
      json, "baseline", network->machine != NULL ? "applied" : "required");
  if (network->machine != NULL)
    write_metadata (json, "machine", network->machine);
  if (network->about != NULL)
    write_metadata (json, "about", network->about);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  text = json_to_string (root, FALSE);
  header = g_string_new ("{\"__metadata__\":");
  g_string_append (header, text);
  g_free (text);
  json_node_unref (root);
  g_object_unref (json);
  g_free (names);
  g_free (window);
  g_free (threshold);
  return header;
}

GBytes *
pbf_network_to_bytes (const PbfNetwork *network)
{
  Writer writer = { begin_header (network), g_byte_array_new () };
  GByteArray *file = g_byte_array_new ();
  guint64 length;

  write_tensor (&writer, "l1.weight", network->w1, network->hidden, N_FEATURES);
  write_tensor (&writer, "l1.bias", network->b1, 0, network->hidden);
  write_tensor (
      &writer, "l2.weight", network->w2, network->outputs, network->hidden);
  write_tensor (&writer, "l2.bias", network->b2, 0, network->outputs);
  write_tensor (&writer, "in.mean", network->mean, 0, N_FEATURES);
  write_tensor (&writer, "in.std", network->std, 0, N_FEATURES);
  write_tensor (&writer, "base.mean", network->base_mean, 0, N_FEATURES);
  write_tensor (&writer, "base.std", network->base_std, 0, N_FEATURES);
  write_tensor (&writer, "base.sigma", network->base_sigma, 0, N_FEATURES);
  g_string_append_c (writer.header, '}');
  while (writer.header->len % 8 != 0)
    g_string_append_c (writer.header, ' ');
  length = GUINT64_TO_LE ((guint64) writer.header->len);
  g_byte_array_append (file, (const guint8 *) &length, sizeof length);
  g_byte_array_append (
      file, (const guint8 *) writer.header->str, (guint) writer.header->len);
  g_byte_array_append (file, writer.data->data, writer.data->len);
  g_string_free (writer.header, TRUE);
  g_byte_array_unref (writer.data);
  return g_byte_array_free_to_bytes (file);
}

/* Reads a tensor [40] that the element does not use. */
static gboolean
read_base (const PbfSafetensors *file, const gchar *name,
    gfloat values[N_FEATURES], GError **error)
{
  const PbfTensor *tensor = pbf_safetensors_find (file, name);

  if (tensor == NULL)
    return cvis_refuse (error,
        "tensor \"%s\" is missing: a network that \"cudavision train\" did not "
        "write takes no baseline",
        name);
  if (strcmp (tensor->dtype, "F32") != 0
      || tensor->end - tensor->begin != N_FEATURES * sizeof *values)
    return cvis_refuse (
        error, "tensor \"%s\" is not F32 of shape [%d]", name, N_FEATURES);
  for (guint i = 0; i < N_FEATURES; i++) {
    guint32 bits;

    memcpy (&bits, tensor->data + 4 * i, 4);
    bits = GUINT32_FROM_LE (bits);
    memcpy (&values[i], &bits, 4);
    if (!isfinite (values[i]))
      return cvis_refuse (
          error, "%s[%u] is %g, must be finite", name, i, values[i]);
  }
  return TRUE;
}

static gboolean
read_bases (
    PbfNetwork *network, const guint8 *bytes, gsize size, GError **error)
{
  PbfSafetensors file;
  gboolean ok;

  if (!pbf_safetensors_open (&file, bytes, size, error))
    return FALSE;
  ok = read_base (&file, "in.mean", network->mean, error)
       && read_base (&file, "in.std", network->std, error)
       && read_base (&file, "base.mean", network->base_mean, error)
       && read_base (&file, "base.std", network->base_std, error)
       && read_base (&file, "base.sigma", network->base_sigma, error);
  network->machine = g_strdup (pbf_safetensors_metadata (&file, "machine"));
  network->about = g_strdup (pbf_safetensors_metadata (&file, "about"));
  pbf_safetensors_close (&file);
  return ok;
}

static PbfNetwork *
network_from_model (const PbfModel *model)
{
  PbfNetwork *network = pbf_network_new (
      model->hidden, (const gchar *const *) model->names, FALSE);

  network->unknown = model->unknown;
  network->threshold = model->threshold > 0 ? (guint) model->threshold : 100;
  network->window = model->window > 0 ? (guint) model->window : 20;
  for (guint h = 0; h < model->hidden; h++) {
    for (guint i = 0; i < N_FEATURES; i++)
      network->w1[h * N_FEATURES + i] =
          model->w1t[i * model->hidden_padded + h];
    network->b1[h] = model->b1[h];
    for (guint o = 0; o < model->outputs; o++)
      network->w2[o * model->hidden + h] =
          model->w2[o * model->hidden_padded + h];
  }
  memcpy (network->b2, model->b2, model->outputs * sizeof *model->b2);
  return network;
}

PbfNetwork *
pbf_network_load (const gchar *filename, GError **error)
{
  PbfModel *model = pbf_model_load (filename, error);
  PbfNetwork *network = NULL;
  gchar *bytes = NULL;
  gsize size;

  if (model == NULL)
    return NULL;
  if (g_file_get_contents (filename, &bytes, &size, error)) {
    network = network_from_model (model);
    if (!read_bases (network, (const guint8 *) bytes, size, error)) {
      g_prefix_error (error, "model file \"%s\": ", filename);
      g_clear_pointer (&network, pbf_network_free);
    }
  }
  g_free (bytes);
  pbf_model_unref (model);
  return network;
}
