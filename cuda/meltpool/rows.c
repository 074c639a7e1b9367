/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/rows.h"

#include <math.h>
#include <string.h>

#include "cuda/meltpool/engine.h"
#include "cuda/meltpool/text.h"

static const gchar *const leading_columns[] = { "frame_counter", "timestamp_ns",
  "layer", "x_um", "y_um", "flags", "pool_x_px", "pool_y_px" };

const gchar *
pbf_feature_name (guint index)
{
  static const gchar *const names[CVIS_PBF_N_FEATURES] = {
    "mp_area",
    "spatter_area",
    "spatter_count",
    "mp_ratio",
    "mp_mean",
    "polar_0",
    "polar_1",
    "polar_2",
    "polar_3",
    "polar_4",
    "polar_5",
    "hog_0",
    "hog_1",
    "hog_2",
    "hog_3",
    "hog_4",
    "hog_5",
    "hog_6",
    "hog_7",
    "hog_8",
    "var_mp_area",
    "var_spatter_area",
    "var_spatter_count",
    "var_mp_ratio",
    "var_mp_mean",
    "var_polar_0",
    "var_polar_1",
    "var_polar_2",
    "var_polar_3",
    "var_polar_4",
    "var_polar_5",
    "var_hog_0",
    "var_hog_1",
    "var_hog_2",
    "var_hog_3",
    "var_hog_4",
    "var_hog_5",
    "var_hog_6",
    "var_hog_7",
    "var_hog_8",
  };

  g_return_val_if_fail (index < CVIS_PBF_N_FEATURES, NULL);
  return names[index];
}

gboolean
pbf_result_parse (gconstpointer bytes, CvisPbfResult *result, GError **error)
{
  CvisPbfResult r;

#define EXPECT(condition, field, format, ...)                                  \
  G_STMT_START                                                                 \
  {                                                                            \
    if (!(condition)) {                                                        \
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,                       \
          "field " #field " at its byte %u " format,                           \
          (guint) G_STRUCT_OFFSET (CvisPbfResult, field), __VA_ARGS__);        \
      return FALSE;                                                            \
    }                                                                          \
  }                                                                            \
  G_STMT_END

  memcpy (&r, bytes, sizeof (r));
  EXPECT (r.magic == CVIS_PBF_RESULT_MAGIC, magic,
      "is 0x%08x, not 0x%08x (\"PBR1\")", r.magic, CVIS_PBF_RESULT_MAGIC);
  EXPECT (
      r.size == sizeof (r), size, "is %u, not %u", r.size, (guint) sizeof (r));
  EXPECT (r.version == CVIS_PBF_RESULT_VERSION, version, "is %u, not %u",
      r.version, CVIS_PBF_RESULT_VERSION);
  EXPECT (r.n_outputs <= CVIS_PBF_MAX_OUTPUTS, n_outputs, "is %u, more than %u",
      r.n_outputs, CVIS_PBF_MAX_OUTPUTS);
  EXPECT (r.n_spatters <= CVIS_PBF_MAX_SPATTERS, n_spatters,
      "is %u, more than %u", r.n_spatters, CVIS_PBF_MAX_SPATTERS);
  if (r.vote_n > 0) {
    EXPECT (r.class_index < r.n_outputs, class_index,
        "is %u, more than that of the last of %u outputs", r.class_index,
        r.n_outputs);
    EXPECT (r.vote_class < r.n_outputs, vote_class,
        "is %u, more than that of the last of %u outputs", r.vote_class,
        r.n_outputs);
  }
#undef EXPECT

  *result = r;
  return TRUE;
}

/* Inline, so that the lengths of literals are constants. */
#define INLINE static inline __attribute__ ((always_inline))

INLINE gchar *
write_string (gchar *to, const gchar *string)
{
  gsize n = strlen (string);

  memcpy (to, string, n);
  return to + n;
}

/* --- names of outputs ----------------------------------------------------- */

/* @name as a cell of a table, by RFC 4180. */
static gchar *
quote_cell (const gchar *name)
{
  GString *cell;

  if (strpbrk (name, ",\"\r\n") == NULL)
    return g_strdup (name);
  cell = g_string_new (name);
  g_string_replace (cell, "\"", "\"\"", 0);
  g_string_prepend_c (cell, '"');
  g_string_append_c (cell, '"');
  return g_string_free (cell, FALSE);
}

/* @name as a string of JSON, by RFC 8259. */
static gchar *
quote_json (const gchar *name)
{
  GString *string = g_string_new ("\"");

  for (const gchar *p = name; *p; p++)
    if (*p == '"' || *p == '\\')
      g_string_append_printf (string, "\\%c", *p);
    else if ((guchar) *p < 0x20)
      g_string_append_printf (string, "\\u%04x", *p);
    else
      g_string_append_c (string, *p);
  g_string_append_c (string, '"');
  return g_string_free (string, FALSE);
}

PbfRowNames *
pbf_row_names_new (const gchar *const *names, guint n)
{
  PbfRowNames *row = g_new0 (PbfRowNames, 1);
  gsize longest = 0;

  for (guint i = 0; i < CVIS_PBF_MAX_OUTPUTS; i++) {
    gchar number[16];
    const gchar *name = number;
    gsize bytes;

    g_snprintf (number, sizeof number, "out_%u", i);
    if (i < n && g_utf8_validate (names[i], -1, NULL))
      name = names[i];
    row->csv[i] = quote_cell (name);
    row->json[i] = quote_json (name);
    bytes = MAX (strlen (row->csv[i]), strlen (row->json[i]));
    longest = MAX (longest, bytes);
    row->room += bytes;
  }
  row->room += 2 * longest; /* class and vote */
  return row;
}

void
pbf_row_names_free (PbfRowNames *names)
{
  for (guint i = 0; i < CVIS_PBF_MAX_OUTPUTS; i++) {
    g_free (names->csv[i]);
    g_free (names->json[i]);
  }
  g_free (names);
}

static gfloat
vote_share (const CvisPbfResult *result)
{
  return (gfloat) result->vote_count / (gfloat) result->vote_n;
}

/* --- CSV ------------------------------------------------------------------ */

gchar *
pbf_csv_header (gchar *to, guint n_outputs, const PbfRowNames *names)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (leading_columns); i++) {
    to = write_string (to, leading_columns[i]);
    *to++ = ',';
  }
  for (i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    to = write_string (to, pbf_feature_name (i));
    *to++ = ',';
  }
  for (i = 0; i < n_outputs; i++) {
    to = write_string (to, names->csv[i]);
    *to++ = ',';
  }
  if (n_outputs >= 2)
    to = write_string (to, "class,probability,vote,vote_share,");
  to[-1] = '\n';
  return to;
}

static gchar *
csv_class (gchar *to, const CvisPbfResult *result, const PbfRowNames *names)
{
  if (result->vote_n == 0)
    return write_string (to, ",,,,");
  to = write_string (to, names->csv[result->class_index]);
  *to++ = ',';
  if (result->class_probability > 0)
    to = pbf_text_float (to, result->class_probability);
  *to++ = ',';
  to = write_string (to, names->csv[result->vote_class]);
  *to++ = ',';
  to = pbf_text_float (to, vote_share (result));
  *to++ = ',';
  return to;
}

gchar *
pbf_csv_row (gchar *to, const CvisPbfResult *result, guint n_outputs,
    const PbfRowNames *names)
{
  guint i;

  to = cvis_text_uint (to, result->frame_counter);
  *to++ = ',';
  if (result->timestamp_ns != G_MAXUINT64)
    to = cvis_text_uint (to, result->timestamp_ns);
  *to++ = ',';
  to = cvis_text_uint (to, result->layer);
  *to++ = ',';
  to = cvis_text_int (to, result->x_um);
  *to++ = ',';
  to = cvis_text_int (to, result->y_um);
  *to++ = ',';
  to = cvis_text_uint (to, result->flags);
  *to++ = ',';
  to = pbf_text_q8 (to, result->centroid_x_q8);
  *to++ = ',';
  to = pbf_text_q8 (to, result->centroid_y_q8);
  *to++ = ',';
  for (i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    to = pbf_text_float (to, result->features[i]);
    *to++ = ',';
  }
  for (i = 0; i < n_outputs; i++) {
    if (i < result->n_outputs)
      to = pbf_text_float (to, result->outputs[i]);
    *to++ = ',';
  }
  if (n_outputs >= 2)
    to = csv_class (to, result, names);
  to[-1] = '\n';
  return to;
}

/* --- JSON ----------------------------------------------------------------- */

/* @name: with quotes, colon and the text before, as in ,"layer": */
INLINE gchar *
json_uint (gchar *to, const gchar *name, guint64 value)
{
  return cvis_text_uint (write_string (to, name), value);
}

INLINE gchar *
json_int (gchar *to, const gchar *name, gint64 value)
{
  return cvis_text_int (write_string (to, name), value);
}

INLINE gchar *
json_q8 (gchar *to, const gchar *name, gint32 value)
{
  return pbf_text_q8 (write_string (to, name), value);
}

INLINE gchar *
json_float (gchar *to, const gchar *name, gfloat value)
{
  to = write_string (to, name);
  return isfinite (value) ? pbf_text_float (to, value)
                          : write_string (to, "null");
}

/* Text before the value of a feature: ,"name": */
typedef struct {
  gchar text[32];
  gsize length;
} FeatureLabel;

static const FeatureLabel *
get_feature_labels (void)
{
  static FeatureLabel labels[CVIS_PBF_N_FEATURES];
  static gsize made = 0;

  if (g_once_init_enter (&made)) {
    for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
      labels[i].length = (gsize) g_snprintf (labels[i].text,
          sizeof labels[i].text, ",\"%s\":", pbf_feature_name (i));
      g_assert (labels[i].length < sizeof labels[i].text);
    }
    g_once_init_leave (&made, 1);
  }
  return labels;
}

static gchar *
json_features (gchar *to, const CvisPbfResult *result, const PbfRowNames *names)
{
  const FeatureLabel *labels = get_feature_labels ();
  guint i;

  for (i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    memcpy (to, labels[i].text, sizeof labels[i].text);
    to = json_float (to + labels[i].length, "", result->features[i]);
  }
  to = write_string (to, ",\"outputs\":{");
  for (i = 0; i < result->n_outputs; i++) {
    if (i > 0)
      *to++ = ',';
    to = write_string (to, names->json[i]);
    to = json_float (to, ":", result->outputs[i]);
  }
  *to++ = '}';
  return to;
}

static gchar *
json_class (gchar *to, const CvisPbfResult *result, const PbfRowNames *names)
{
  if (result->vote_n == 0)
    return write_string (to,
        ",\"class\":null,\"probability\":null,\"vote\":null,\"vote_share\":"
        "null");
  to = write_string (to, ",\"class\":");
  to = write_string (to, names->json[result->class_index]);
  to = json_float (to, ",\"probability\":",
      result->class_probability > 0 ? result->class_probability : NAN);
  to = write_string (to, ",\"vote\":");
  to = write_string (to, names->json[result->vote_class]);
  return json_float (to, ",\"vote_share\":", vote_share (result));
}

static gchar *
json_pool (gchar *to, const CvisPbfResult *result)
{
  to = json_int (to, ",\"roi\":{\"x\":", result->roi_x);
  to = json_int (to, ",\"y\":", result->roi_y);
  to = json_q8 (to, "},\"expected\":{\"x_px\":", result->e_x_q8);
  to = json_q8 (to, ",\"y_px\":", result->e_y_q8);
  to = json_float (to, "},\"orientation_deg\":", result->orientation_deg);
  to = json_uint (to, ",\"bbox\":{\"x\":", result->bbox_x);
  to = json_uint (to, ",\"y\":", result->bbox_y);
  to = json_uint (to, ",\"width\":", result->bbox_width);
  to = json_uint (to, ",\"height\":", result->bbox_height);
  to = json_uint (to, "},\"max_intensity\":", result->max_intensity);
  return json_uint (to, ",\"saturated\":", result->saturated);
}

static gchar *
json_spatters (gchar *to, const CvisPbfResult *result)
{
  guint i;

  to = write_string (to, ",\"spatters\":[");
  for (i = 0; i < result->n_spatters; i++) {
    const CvisPbfSpatter *s = &result->spatters[i];

    to = json_q8 (to, i > 0 ? ",{\"x_px\":" : "{\"x_px\":", s->x_q8);
    to = json_q8 (to, ",\"y_px\":", s->y_q8);
    to = json_uint (to, ",\"area\":", s->area);
    to = json_float (to, ",\"angle_deg\":", s->angle_deg);
    to = json_float (to, ",\"distance_px\":", s->distance_px);
    *to++ = '}';
  }
  *to++ = ']';
  return to;
}

static gchar *
json_integers (gchar *to, const CvisPbfResult *result)
{
  guint i;

  to = json_uint (to, ",\"window_n\":", result->window_n);
  to = write_string (to, ",\"raw\":[");
  for (i = 0; i < CVIS_PBF_N_SPATIAL; i++)
    to = json_int (to, i > 0 ? "," : "", result->raw[i]);
  to = write_string (to, "],\"var_num\":[");
  for (i = 0; i < CVIS_PBF_N_SPATIAL; i++)
    to = json_int (to, i > 0 ? "," : "", result->var_num[i]);
  *to++ = ']';
  return to;
}

gchar *
pbf_json_row (gchar *to, const CvisPbfResult *result, const PbfRowNames *names)
{
  to = json_uint (to, "{\"frame_counter\":", result->frame_counter);
  if (result->timestamp_ns != G_MAXUINT64)
    to = json_uint (to, ",\"timestamp_ns\":", result->timestamp_ns);
  else
    to = write_string (to, ",\"timestamp_ns\":null");
  to = json_uint (to, ",\"layer\":", result->layer);
  to = json_int (to, ",\"x_um\":", result->x_um);
  to = json_int (to, ",\"y_um\":", result->y_um);
  to = json_uint (to, ",\"flags\":", result->flags);
  to = json_q8 (to, ",\"pool_x_px\":", result->centroid_x_q8);
  to = json_q8 (to, ",\"pool_y_px\":", result->centroid_y_q8);
  to = json_features (to, result, names);
  if (result->n_outputs >= 2)
    to = json_class (to, result, names);
  to = json_uint (to, ",\"frame_index\":", result->frame_index);
  to = json_uint (to, ",\"vector_id\":", result->vector_id);
  to = json_uint (to, ",\"signal_flags\":", result->signal_flags);
  to = json_pool (to, result);
  to = json_spatters (to, result);
  to = json_integers (to, result);
  *to++ = '}';
  *to++ = '\n';
  return to;
}
