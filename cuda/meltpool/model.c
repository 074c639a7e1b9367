/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/model.h"

#include "cuda/meltpool/safetensors.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* The largest network has 100 kB; larger files contain other tensors too. */
#define MAX_FILE_SIZE (256 * 1024 * 1024)

#define ROW_MULTIPLE 32

G_GNUC_PRINTF (2, 3)
static gboolean
set_model_error (GError **error, const gchar *format, ...)
{
  gchar *what;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT, what);
  g_free (what);
  return FALSE;
}

/* --- tensors --------------------------------------------------------------- */

/* Finds an F32 tensor with @n_dims dimensions. */
static const PbfTensor *
find_tensor (
    const PbfSafetensors *file, const gchar *name, guint n_dims, GError **error)
{
  const PbfTensor *tensor = pbf_safetensors_find (file, name);

  if (!tensor) {
    set_model_error (error, "tensor \"%s\" is missing", name);
    return NULL;
  }
  if (strcmp (tensor->dtype, "F32")) {
    gchar *shown = g_strescape (tensor->dtype, NULL);
    set_model_error (
        error, "tensor \"%s\": dtype is %.20s, must be F32", name, shown);
    g_free (shown);
    return NULL;
  }
  if (json_array_get_length (tensor->shape) != n_dims) {
    gchar *shape = pbf_tensor_format_shape (tensor);
    set_model_error (error,
        "tensor \"%s\": shape is %s, must have %u dimension%s", name, shape,
        n_dims, n_dims == 1 ? "" : "s");
    g_free (shape);
    return NULL;
  }
  return tensor;
}

static gboolean
check_dimension (const PbfTensor *tensor, guint index, gint64 least,
    gint64 most, GError **error)
{
  gint64 n = json_array_get_int_element (tensor->shape, index);
  gchar *shape, *range;

  if (n >= least && n <= most)
    return TRUE;
  shape = pbf_tensor_format_shape (tensor);
  range = least == most
              ? g_strdup_printf ("%" G_GINT64_FORMAT, most)
              : g_strdup_printf (
                  "%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT, least, most);
  set_model_error (error, "tensor \"%s\": shape is %s, dimension %u must be %s",
      tensor->name, shape, index, range);
  g_free (range);
  g_free (shape);
  return FALSE;
}

/* Value @index of a little-endian F32 tensor; FALSE if it is not finite. */
static gboolean
read_model_value (const PbfTensor *tensor, guint row, guint column,
    guint n_columns, gfloat *value, GError **error)
{
  gsize index = (gsize) row * n_columns + column;
  guint32 bits;

  memcpy (&bits, tensor->data + 4 * index, 4);
  bits = GUINT32_FROM_LE (bits);
  memcpy (value, &bits, 4);
  if (isfinite (*value))
    return TRUE;
  if (json_array_get_length (tensor->shape) == 1)
    return set_model_error (
        error, "%s[%u] is %g, must be finite", tensor->name, column, *value);
  return set_model_error (error, "%s[%u, %u] is %g, must be finite",
      tensor->name, row, column, *value);
}

/* Reads a tensor [@n] to @out. */
static gboolean
read_vector (const PbfSafetensors *file, const gchar *name, guint n,
    gfloat *out, GError **error)
{
  const PbfTensor *tensor = find_tensor (file, name, 1, error);

  if (!tensor || !check_dimension (tensor, 0, n, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!read_model_value (tensor, 0, i, n, out + i, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_scaling (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  gfloat std[CVIS_PBF_N_FEATURES];

  if (!read_vector (file, "in.mean", CVIS_PBF_N_FEATURES, model->mean, error)
      || !read_vector (file, "in.std", CVIS_PBF_N_FEATURES, std, error))
    return FALSE;
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    if (!(std[i] > 0))
      return set_model_error (
          error, "in.std[%u] is %g, must be above 0", i, std[i]);
    model->inv_std[i] = 1.0f / std[i];
    if (!isfinite (model->inv_std[i]))
      return set_model_error (
          error, "in.std[%u] is %g, too small to divide by", i, std[i]);
  }
  return TRUE;
}

static gboolean
read_layer1 (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  const PbfTensor *tensor = find_tensor (file, "l1.weight", 2, error);

  if (!tensor || !check_dimension (tensor, 0, 1, PBF_MAX_HIDDEN, error)
      || !check_dimension (
          tensor, 1, CVIS_PBF_N_FEATURES, CVIS_PBF_N_FEATURES, error))
    return FALSE;
  model->hidden = json_array_get_int_element (tensor->shape, 0);
  model->hidden_padded =
      (model->hidden + ROW_MULTIPLE - 1) / ROW_MULTIPLE * ROW_MULTIPLE;
  model->w1t = g_new0 (gfloat, CVIS_PBF_N_FEATURES * model->hidden_padded);
  model->b1 = g_new0 (gfloat, model->hidden_padded);
  for (guint h = 0; h < model->hidden; h++)
    for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
      if (!read_model_value (tensor, h, i, CVIS_PBF_N_FEATURES,
              model->w1t + i * model->hidden_padded + h, error))
        return FALSE;
  return read_vector (file, "l1.bias", model->hidden, model->b1, error);
}

static gboolean
read_layer2 (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  const PbfTensor *tensor = find_tensor (file, "l2.weight", 2, error);

  if (!tensor || !check_dimension (tensor, 0, 1, CVIS_PBF_MAX_OUTPUTS, error)
      || !check_dimension (tensor, 1, model->hidden, model->hidden, error))
    return FALSE;
  model->outputs = json_array_get_int_element (tensor->shape, 0);
  model->w2 = g_new0 (gfloat, model->outputs * model->hidden_padded);
  model->b2 = g_new0 (gfloat, model->outputs);
  for (guint o = 0; o < model->outputs; o++)
    for (guint h = 0; h < model->hidden; h++)
      if (!read_model_value (tensor, o, h, model->hidden,
              model->w2 + o * model->hidden_padded + h, error))
        return FALSE;
  return read_vector (file, "l2.bias", model->outputs, model->b2, error);
}

/* --- metadata -------------------------------------------------------------- */

static gboolean
check_spec (const PbfSafetensors *file, GError **error)
{
  const gchar *spec = pbf_safetensors_metadata (file, "feature_spec");
  gchar *shown;

  if (!spec)
    return set_model_error (error,
        "metadata \"feature_spec\" is missing, must be \"" CVIS_PBF_FEATURE_SPEC
        "\"");
  if (!strcmp (spec, CVIS_PBF_FEATURE_SPEC))
    return TRUE;
  shown = g_strescape (spec, NULL);
  set_model_error (error,
      "metadata \"feature_spec\" is \"%.40s\": made for other features, must be"
      " \"" CVIS_PBF_FEATURE_SPEC "\"",
      shown);
  g_free (shown);
  return FALSE;
}

/* Reads an integer; -1 if the key is missing. */
static gboolean
read_integer (const PbfSafetensors *file, const gchar *key, guint most,
    gint *value, GError **error)
{
  const gchar *text = pbf_safetensors_metadata (file, key);
  guint64 number;
  gchar *shown;

  *value = -1;
  if (!text)
    return TRUE;
  if (g_ascii_string_to_unsigned (text, 10, 1, most, &number, NULL)) {
    *value = number;
    return TRUE;
  }
  shown = g_strescape (text, NULL);
  set_model_error (error,
      "metadata \"%s\" is \"%.40s\", must be an integer, 1..%u", key, shown,
      most);
  g_free (shown);
  return FALSE;
}

/* Reads the index in @words (ended by %NULL) of the value of @key; 0 if the key is
 * missing. */
static gboolean
read_word (const PbfSafetensors *file, const gchar *key,
    const gchar *const *words, guint *index, GError **error)
{
  const gchar *text = pbf_safetensors_metadata (file, key);
  gchar *shown, *all;

  *index = 0;
  if (!text)
    return TRUE;
  for (guint i = 0; words[i]; i++)
    if (!strcmp (text, words[i])) {
      *index = i;
      return TRUE;
    }
  shown = g_strescape (text, NULL);
  all = g_strjoinv (", ", (gchar **) words);
  set_model_error (error, "metadata \"%s\" is \"%.40s\", must be one of: %s",
      key, shown, all);
  g_free (all);
  g_free (shown);
  return FALSE;
}

static gboolean
read_activation (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  static const gchar *const words[] = { "none", "sigmoid", "softmax", NULL };
  guint index;

  if (!read_word (file, "activation", words, &index, error))
    return FALSE;
  model->activation = (PbfActivation) index;
  return TRUE;
}

static gboolean
check_name (const gchar *name, guint index, GError **error)
{
  if (!*name)
    return set_model_error (
        error, "metadata \"outputs\": name %u is empty", index);
  for (const gchar *p = name; *p; p = g_utf8_next_char (p))
    if (!g_unichar_isprint (g_utf8_get_char (p)))
      return set_model_error (error,
          "metadata \"outputs\": name %u holds a character that cannot be"
          " printed",
          index);
  return TRUE;
}

/* Names must be unique: results and statistics are found by name. */
static gboolean
check_unique (gchar **names, guint index, GError **error)
{
  for (guint i = 0; i < index; i++)
    if (!strcmp (names[i], names[index]))
      return set_model_error (error,
          "metadata \"outputs\": names %u and %u are both \"%.40s\"", i, index,
          names[index]);
  return TRUE;
}

static gboolean
read_names (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  const gchar *text = pbf_safetensors_metadata (file, "outputs");
  guint n;

  if (!text) {
    model->names = g_new0 (gchar *, model->outputs + 1);
    for (guint i = 0; i < model->outputs; i++)
      model->names[i] = g_strdup_printf ("out_%u", i);
    return TRUE;
  }
  model->names = g_strsplit (text, ",", CVIS_PBF_MAX_OUTPUTS + 1);
  n = g_strv_length (model->names);
  if (n != model->outputs)
    return set_model_error (error,
        "metadata \"outputs\" holds %s%u name%s, l2.weight has %u rows",
        n > CVIS_PBF_MAX_OUTPUTS ? "at least " : "", n, n == 1 ? "" : "s",
        model->outputs);
  for (guint i = 0; i < n; i++)
    if (!check_name (g_strstrip (model->names[i]), i, error)
        || !check_unique (model->names, i, error))
      return FALSE;
  return TRUE;
}

/* The output of unknown frames; after read_names() */
static gboolean
read_unknown (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  const gchar *text = pbf_safetensors_metadata (file, "unknown");
  gchar *shown;

  if (!text)
    return TRUE;
  if (model->outputs < 3 || strcmp (text, model->names[model->outputs - 1])) {
    shown = g_strescape (text, NULL);
    set_model_error (error,
        "metadata \"unknown\" is \"%.40s\", must be the name of the last of "
        "at least 3 outputs",
        shown);
    g_free (shown);
    return FALSE;
  }
  if (model->activation != PBF_ACTIVATION_SOFTMAX)
    return set_model_error (
        error, "metadata \"unknown\" needs \"activation\" \"softmax\"");
  model->unknown = TRUE;
  model->activation = PBF_ACTIVATION_SOFTMAX_UNKNOWN;
  return TRUE;
}

/* The scaling of features relative to a baseline */
static gboolean
read_relative (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  gfloat mean[CVIS_PBF_N_FEATURES], std[CVIS_PBF_N_FEATURES];

  if (!read_vector (file, "base.mean", CVIS_PBF_N_FEATURES, mean, error)
      || !read_vector (file, "base.std", CVIS_PBF_N_FEATURES, std, error)
      || !read_vector (
          file, "base.sigma", CVIS_PBF_N_FEATURES, model->sigma, error))
    return FALSE;
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    if (!(std[i] > 0))
      return set_model_error (
          error, "base.std[%u] is %g, must be above 0", i, std[i]);
    if (!(model->sigma[i] >= 0))
      return set_model_error (error,
          "base.sigma[%u] is %g, must not be negative", i, model->sigma[i]);
  }
  return TRUE;
}

/* A network that was trained relative to baselines */
static gboolean
read_baseline (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  static const gchar *const words[] = { "none", "required", "applied", NULL };
  guint index;

  if (!read_word (file, "baseline", words, &index, error))
    return FALSE;
  model->baseline = (PbfBaselineState) index;
  if (model->baseline == PBF_BASELINE_APPLIED) {
    model->machine = g_strdup (pbf_safetensors_metadata (file, "machine"));
    if (!model->machine)
      return set_model_error (error,
          "metadata \"machine\" is missing, but \"baseline\" is \"applied\"");
  }
  return model->baseline == PBF_BASELINE_NONE
         || read_relative (model, file, error);
}

/* --- the model ------------------------------------------------------------- */

static gboolean
read_model (PbfModel *model, const PbfSafetensors *file, GError **error)
{
  return check_spec (file, error)
         && read_integer (file, "threshold", 255, &model->threshold, error)
         && read_integer (file, "window", 1024, &model->window, error)
         && read_activation (model, file, error)
         && read_layer1 (model, file, error) && read_layer2 (model, file, error)
         && read_scaling (model, file, error)
         && read_baseline (model, file, error)
         && read_names (model, file, error)
         && read_unknown (model, file, error);
}

PbfModel *
pbf_model_parse (const guint8 *bytes, gsize size, GError **error)
{
  PbfSafetensors file;
  PbfModel *model;

  if (!pbf_safetensors_open (&file, bytes, size, error))
    return NULL;
  model = g_new0 (PbfModel, 1);
  g_atomic_ref_count_init (&model->refs);
  if (!read_model (model, &file, error))
    g_clear_pointer (&model, pbf_model_unref);
  pbf_safetensors_close (&file);
  return model;
}

/* Checked before reading: a pipe would block, a huge file fill the memory. */
static gboolean
check_file (const gchar *filename, GError **error)
{
  GStatBuf st;

  if (g_stat (filename, &st)) {
    g_set_error_literal (
        error, CVIS_ERROR, CVIS_ERROR_INVALID, g_strerror (errno));
    return FALSE;
  }
  if (!S_ISREG (st.st_mode)) {
    g_set_error_literal (
        error, CVIS_ERROR, CVIS_ERROR_INVALID, "is not a regular file");
    return FALSE;
  }
  if (st.st_size >= MAX_FILE_SIZE) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "has %" G_GINT64_FORMAT " bytes, a model file must be below %d MiB",
        (gint64) st.st_size, MAX_FILE_SIZE >> 20);
    return FALSE;
  }
  return TRUE;
}

gboolean
pbf_model_read_file (
    const gchar *filename, gchar **bytes, gsize *size, GError **error)
{
  GError *file_error = NULL;

  if (!check_file (filename, error))
    return FALSE;
  if (g_file_get_contents (filename, bytes, size, &file_error))
    return TRUE;
  g_set_error_literal (
      error, CVIS_ERROR, CVIS_ERROR_INVALID, file_error->message);
  g_error_free (file_error);
  return FALSE;
}

gboolean
pbf_model_check_machine (
    const PbfModel *model, const gchar *machine, GError **error)
{
  if (machine == NULL || *machine == '\0' || model->machine == NULL
      || g_str_equal (model->machine, machine))
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "its baseline is that of the machine \"%s\", not of \"%s\"",
      model->machine, machine);
  return FALSE;
}

static PbfModel *
load_model (const gchar *filename, GError **error)
{
  PbfModel *model;
  gchar *bytes;
  gsize size;

  if (!pbf_model_read_file (filename, &bytes, &size, error))
    return NULL;
  model = pbf_model_parse ((const guint8 *) bytes, size, error);
  g_free (bytes);
  return model;
}

PbfModel *
pbf_model_load (const gchar *filename, GError **error)
{
  PbfModel *model = load_model (filename, error);

  if (!model) {
    gchar *shown = g_filename_display_name (filename);
    g_prefix_error (error, "model file \"%s\": ", shown);
    g_free (shown);
  }
  return model;
}

PbfModel *
pbf_model_ref (PbfModel *model)
{
  g_atomic_ref_count_inc (&model->refs);
  return model;
}

void
pbf_model_unref (PbfModel *model)
{
  if (!g_atomic_ref_count_dec (&model->refs))
    return;
  g_free (model->w1t);
  g_free (model->b1);
  g_free (model->w2);
  g_free (model->b2);
  g_strfreev (model->names);
  g_free (model->machine);
  g_free (model);
}
