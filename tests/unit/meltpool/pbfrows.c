/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rows of text: parsed numbers equal the record's; extreme values fit the
 * size promised in the header; invalid records are refused. */
#include "cuda/meltpool/rows.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "cuda/meltpool/engine.h"

/* one that needs quotes in a table, and one that needs escapes in JSON */
static const gchar *names[] = { "nominal", "keyhole, \"deep\"",
  "lack\\fusion\n", NULL };
static PbfRowNames *row_names;

static CvisPbfResult
good_record (void)
{
  CvisPbfResult r = { .magic = CVIS_PBF_RESULT_MAGIC,
    .size = sizeof (CvisPbfResult),
    .version = CVIS_PBF_RESULT_VERSION };

  return r;
}

static CvisPbfResult
random_record (GRand *rand)
{
  CvisPbfResult r = good_record ();
  guint i;

  r.timestamp_ns = g_rand_int (rand);
  r.frame_counter = g_rand_int (rand);
  r.frame_index = g_rand_int (rand);
  r.flags = g_rand_int_range (rand, 0, 1 << 15);
  r.layer = g_rand_int_range (rand, 0, 1000);
  r.x_um = g_rand_int_range (rand, -100000, 100000);
  r.y_um = g_rand_int_range (rand, -100000, 100000);
  r.centroid_x_q8 = g_rand_int_range (rand, 0, 96 << 8);
  r.centroid_y_q8 = g_rand_int_range (rand, 0, 96 << 8);
  for (i = 0; i < CVIS_PBF_N_SPATIAL; i++) {
    r.raw[i] = g_rand_int_range (rand, 0, 100000);
    r.var_num[i] = (gint64) g_rand_int (rand) << 10;
  }
  for (i = 0; i < CVIS_PBF_N_FEATURES; i++)
    r.features[i] = (gfloat) g_rand_double_range (rand, 0, 1e6);
  r.n_outputs = g_rand_int_range (rand, 0, CVIS_PBF_MAX_OUTPUTS + 1);
  for (i = 0; i < r.n_outputs; i++)
    r.outputs[i] = (gfloat) g_rand_double_range (rand, -1, 1);
  if (r.n_outputs >= 2 && g_rand_boolean (rand)) {
    r.class_index = g_rand_int_range (rand, 0, r.n_outputs);
    r.class_probability =
        g_rand_boolean (rand) ? (gfloat) g_rand_double (rand) : 0;
    r.vote_class = g_rand_int_range (rand, 0, r.n_outputs);
    r.vote_n = g_rand_int_range (rand, 1, 100);
    r.vote_count = g_rand_int_range (rand, 1, r.vote_n + 1);
  }
  r.n_spatters = g_rand_int_range (rand, 0, CVIS_PBF_MAX_SPATTERS + 1);
  for (i = 0; i < r.n_spatters; i++) {
    r.spatters[i] = (CvisPbfSpatter){ g_rand_int_range (rand, 0, 96 << 8),
      g_rand_int_range (rand, 0, 96 << 8), g_rand_int_range (rand, 1, 50),
      (gfloat) g_rand_double_range (rand, 0, 360),
      (gfloat) g_rand_double_range (rand, 0, 100) };
  }
  return r;
}

/* A record whose numbers have the longest text */
static CvisPbfResult
longest_record (void)
{
  CvisPbfResult r = good_record ();
  guint i;

  r.timestamp_ns = G_MAXUINT64 - 1;
  r.frame_index = G_MAXUINT64;
  r.frame_counter = r.flags = r.layer = r.vector_id = G_MAXUINT32;
  r.window_n = r.signal_flags = G_MAXUINT32;
  r.x_um = r.y_um = r.roi_x = r.roi_y = G_MININT32;
  r.e_x_q8 = r.e_y_q8 = G_MININT32 + 1;
  r.centroid_x_q8 = r.centroid_y_q8 = G_MININT32 + 1;
  r.bbox_x = r.bbox_y = r.bbox_width = r.bbox_height = G_MAXUINT16;
  r.max_intensity = r.saturated = G_MAXUINT16;
  r.orientation_deg = -1.2345678e20f;
  for (i = 0; i < CVIS_PBF_N_SPATIAL; i++) {
    r.raw[i] = G_MININT32;
    r.var_num[i] = G_MININT64;
  }
  for (i = 0; i < CVIS_PBF_N_FEATURES; i++)
    r.features[i] = -1.2345678e20f;
  r.n_outputs = CVIS_PBF_MAX_OUTPUTS;
  for (i = 0; i < CVIS_PBF_MAX_OUTPUTS; i++)
    r.outputs[i] = -1.2345678e20f;
  r.class_probability = 1.2345678e-20f;
  r.class_index = r.vote_class = 2;
  r.vote_n = G_MAXUINT32;
  r.vote_count = 123456789;
  r.n_spatters = CVIS_PBF_MAX_SPATTERS;
  for (i = 0; i < CVIS_PBF_MAX_SPATTERS; i++)
    r.spatters[i] = (CvisPbfSpatter){ G_MININT32 + 1, G_MININT32 + 1,
      G_MAXUINT32, -1.2345678e20f, -1.2345678e20f };
  return r;
}

static gchar **
csv_cells (const CvisPbfResult *r, guint n_outputs)
{
  const gsize room = PBF_CSV_ROW_MAX + row_names->room;
  gchar *row = g_malloc (room);
  gchar *end = pbf_csv_row (row, r, n_outputs, row_names);
  gchar **cells;

  g_assert_cmpint (end - row, <=, room);
  g_assert_cmpint (end[-1], ==, '\n');
  end[-1] = '\0';
  cells = g_strsplit (row, ",", -1);
  g_free (row);
  return cells;
}

static void
test_csv_header (void)
{
  PbfRowNames *numbers = pbf_row_names_new (NULL, 0);
  gchar *row = g_malloc (PBF_CSV_ROW_MAX + row_names->room + 1);
  gchar **columns;
  guint i;

  *pbf_csv_header (row, 2, numbers) = '\0';
  g_assert_true (g_str_has_prefix (row,
      "frame_counter,timestamp_ns,layer,x_um,y_um,flags,"
      "pool_x_px,pool_y_px,mp_area,spatter_area,spatter_count,"
      "mp_ratio,mp_mean,polar_0,"));
  g_assert_true (g_str_has_suffix (
      row, ",var_hog_8,out_0,out_1,class,probability,vote,vote_share\n"));
  columns = g_strsplit (row, ",", -1);
  g_assert_cmpuint (
      g_strv_length (columns), ==, 8 + CVIS_PBF_N_FEATURES + 2 + 4);
  for (i = 0; i < CVIS_PBF_N_FEATURES; i++)
    g_assert_cmpstr (columns[8 + i], ==, pbf_feature_name (i));
  g_strfreev (columns);

  *pbf_csv_header (row, 0, numbers) = '\0';
  g_assert_true (g_str_has_suffix (row, ",var_hog_8\n"));
  *pbf_csv_header (row, 1, numbers) = '\0';
  g_assert_true (g_str_has_suffix (row, ",var_hog_8,out_0\n"));
  *pbf_csv_header (row, 4, row_names) = '\0';
  g_assert_true (
      g_str_has_suffix (row, ",var_hog_8,nominal,\"keyhole, "
                             "\"\"deep\"\"\",\"lack\\fusion\n\",out_3,class,"
                             "probability,vote,vote_share\n"));
  g_free (row);
  pbf_row_names_free (numbers);
}

static void
test_csv_random (void)
{
  GRand *rand = g_rand_new_with_seed (3);
  guint i, j;

  for (i = 0; i < 2000; i++) {
    CvisPbfResult r = random_record (rand);
    gchar **cells, **last;

    if (r.vote_n > 0 && (r.class_index == 1 || r.vote_class == 1))
      continue; /* a name with a comma; see test_csv_class() */
    cells = csv_cells (&r, CVIS_PBF_MAX_OUTPUTS);
    g_assert_cmpuint (g_strv_length (cells), ==,
        8 + CVIS_PBF_N_FEATURES + CVIS_PBF_MAX_OUTPUTS + 4);
    last = cells + 8 + CVIS_PBF_N_FEATURES + CVIS_PBF_MAX_OUTPUTS;
    g_assert_cmpstr (
        last[0], ==, r.vote_n > 0 ? row_names->csv[r.class_index] : "");
    g_assert_true (
        (gfloat) g_ascii_strtod (last[1], NULL) == r.class_probability);
    g_assert_cmpint (*last[1] == '\0', ==, r.class_probability == 0);
    g_assert_cmpstr (
        last[2], ==, r.vote_n > 0 ? row_names->csv[r.vote_class] : "");
    if (r.vote_n > 0)
      g_assert_true ((gfloat) g_ascii_strtod (last[3], NULL)
                     == (gfloat) r.vote_count / (gfloat) r.vote_n);
    else
      g_assert_cmpstr (last[3], ==, "");
    g_assert_cmpuint (
        g_ascii_strtoull (cells[0], NULL, 10), ==, r.frame_counter);
    g_assert_cmpuint (
        g_ascii_strtoull (cells[1], NULL, 10), ==, r.timestamp_ns);
    g_assert_cmpuint (g_ascii_strtoull (cells[2], NULL, 10), ==, r.layer);
    g_assert_cmpint (g_ascii_strtoll (cells[3], NULL, 10), ==, r.x_um);
    g_assert_cmpint (g_ascii_strtoll (cells[4], NULL, 10), ==, r.y_um);
    g_assert_cmpuint (g_ascii_strtoull (cells[5], NULL, 10), ==, r.flags);
    g_assert_true (g_ascii_strtod (cells[6], NULL) == r.centroid_x_q8 / 256.0);
    g_assert_true (g_ascii_strtod (cells[7], NULL) == r.centroid_y_q8 / 256.0);
    for (j = 0; j < CVIS_PBF_N_FEATURES; j++)
      g_assert_true (
          (gfloat) g_ascii_strtod (cells[8 + j], NULL) == r.features[j]);
    for (j = 0; j < CVIS_PBF_MAX_OUTPUTS; j++) {
      const gchar *cell = cells[8 + CVIS_PBF_N_FEATURES + j];

      if (j < r.n_outputs)
        g_assert_true ((gfloat) g_ascii_strtod (cell, NULL) == r.outputs[j]);
      else
        g_assert_cmpstr (cell, ==, "");
    }
    g_strfreev (cells);
  }
  g_rand_free (rand);
}

static void
test_csv_extremes (void)
{
  CvisPbfResult r = longest_record ();
  gchar **cells = csv_cells (&r, CVIS_PBF_MAX_OUTPUTS);

  g_assert_cmpstr (cells[1], ==, "18446744073709551614");
  g_strfreev (cells);

  r = good_record ();
  r.timestamp_ns = G_MAXUINT64;
  r.features[0] = NAN;
  r.features[1] = INFINITY;
  r.features[2] = -INFINITY;
  cells = csv_cells (&r, 0);
  g_assert_cmpstr (cells[1], ==, "");
  g_assert_cmpstr (cells[8], ==, "nan");
  g_assert_cmpstr (cells[9], ==, "inf");
  g_assert_cmpstr (cells[10], ==, "-inf");
  g_assert_cmpuint (g_strv_length (cells), ==, 8 + CVIS_PBF_N_FEATURES);
  g_strfreev (cells);
}

static void
test_csv_class (void)
{
  CvisPbfResult r = good_record ();
  gchar *row = g_malloc (PBF_CSV_ROW_MAX + row_names->room + 1);

  r.n_outputs = 2;
  r.outputs[1] = 0.75f;
  r.class_index = 1;
  r.class_probability = 0.75f;
  r.vote_n = 4;
  r.vote_count = 3;
  *pbf_csv_row (row, &r, 2, row_names) = '\0';
  g_assert_true (g_str_has_suffix (
      row, ",0,0.75,\"keyhole, \"\"deep\"\"\",0.75,nominal,0.75\n"));
  g_free (row);
}

static JsonNode *
json_of (const CvisPbfResult *r)
{
  const gsize room = PBF_JSON_ROW_MAX + row_names->room;
  gchar *row = g_malloc (room);
  gchar *end = pbf_json_row (row, r, row_names);
  GError *error = NULL;
  JsonNode *node;

  g_assert_cmpint (end - row, <=, room);
  g_assert_cmpint (end[-1], ==, '\n');
  end[-1] = '\0';
  g_assert_null (strchr (row, '\n'));
  node = json_from_string (row, &error);
  g_assert_no_error (error);
  g_free (row);
  return node;
}

/* Names of outputs are read back as they were. */
static void
check_json_outputs (JsonObject *o, const CvisPbfResult *r)
{
  JsonObject *outputs = json_object_get_object_member (o, "outputs");

  g_assert_cmpuint (json_object_get_size (outputs), ==, r->n_outputs);
  for (guint i = 0; i < r->n_outputs; i++) {
    gchar *number = g_strdup_printf ("out_%u", i);

    g_assert_true ((gfloat) json_object_get_double_member (
                       outputs, i < 3 ? names[i] : number)
                   == r->outputs[i]);
    g_free (number);
  }
  if (r->n_outputs < 2) {
    g_assert_false (json_object_has_member (o, "class"));
    return;
  }
  if (r->vote_n == 0) {
    g_assert_true (json_object_get_null_member (o, "class"));
    g_assert_true (json_object_get_null_member (o, "vote"));
    g_assert_true (json_object_get_null_member (o, "vote_share"));
    return;
  }
  if (r->class_index < 3)
    g_assert_cmpstr (
        json_object_get_string_member (o, "class"), ==, names[r->class_index]);
  if (r->vote_class < 3)
    g_assert_cmpstr (
        json_object_get_string_member (o, "vote"), ==, names[r->vote_class]);
  g_assert_cmpint (json_object_get_null_member (o, "probability"), ==,
      r->class_probability == 0);
}

static void
test_json_random (void)
{
  GRand *rand = g_rand_new_with_seed (4);
  guint i, j;

  for (i = 0; i < 500; i++) {
    CvisPbfResult r = random_record (rand);
    JsonNode *node = json_of (&r);
    JsonObject *o = json_node_get_object (node);
    JsonArray *a;

    g_assert_cmpint (
        json_object_get_int_member (o, "frame_counter"), ==, r.frame_counter);
    g_assert_true (json_object_get_double_member (o, "pool_x_px")
                   == r.centroid_x_q8 / 256.0);
    for (j = 0; j < CVIS_PBF_N_FEATURES; j++)
      g_assert_true (
          (gfloat) json_object_get_double_member (o, pbf_feature_name (j))
          == r.features[j]);
    check_json_outputs (o, &r);
    a = json_object_get_array_member (o, "spatters");
    g_assert_cmpuint (json_array_get_length (a), ==, r.n_spatters);
    for (j = 0; j < r.n_spatters; j++) {
      JsonObject *s = json_array_get_object_element (a, j);

      g_assert_true (json_object_get_double_member (s, "x_px")
                     == r.spatters[j].x_q8 / 256.0);
      g_assert_cmpint (
          json_object_get_int_member (s, "area"), ==, r.spatters[j].area);
      g_assert_true ((gfloat) json_object_get_double_member (s, "angle_deg")
                     == r.spatters[j].angle_deg);
    }
    a = json_object_get_array_member (o, "var_num");
    g_assert_cmpuint (json_array_get_length (a), ==, CVIS_PBF_N_SPATIAL);
    for (j = 0; j < CVIS_PBF_N_SPATIAL; j++)
      g_assert_cmpint (json_array_get_int_element (a, j), ==, r.var_num[j]);
    a = json_object_get_array_member (o, "raw");
    for (j = 0; j < CVIS_PBF_N_SPATIAL; j++)
      g_assert_cmpint (json_array_get_int_element (a, j), ==, r.raw[j]);
    json_node_unref (node);
  }
  g_rand_free (rand);
}

static void
test_json_extremes (void)
{
  CvisPbfResult r = longest_record ();
  JsonNode *node = json_of (&r);

  json_node_unref (node);

  r = good_record ();
  r.timestamp_ns = G_MAXUINT64;
  r.features[0] = NAN;
  node = json_of (&r);
  g_assert_true (json_object_get_null_member (
      json_node_get_object (node), "timestamp_ns"));
  g_assert_true (
      json_object_get_null_member (json_node_get_object (node), "mp_area"));
  json_node_unref (node);
}

static void
assert_refused (const CvisPbfResult *r, const gchar *field)
{
  guint8 bytes[sizeof (CvisPbfResult) + 1];
  CvisPbfResult out = { .frame_counter = 77 };
  GError *error = NULL;

  memcpy (bytes + 1, r, sizeof (*r)); /* also at an odd address */
  g_assert_false (pbf_result_parse (bytes + 1, &out, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, field));
  g_assert_cmpuint (out.frame_counter, ==, 77);
  g_clear_error (&error);
}

static void
test_parse (void)
{
  guint8 bytes[sizeof (CvisPbfResult) + 1];
  CvisPbfResult r = good_record (), out;
  GError *error = NULL;

  memcpy (bytes + 1, &r, sizeof (r));
  g_assert_true (pbf_result_parse (bytes + 1, &out, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (&out, sizeof (out), &r, sizeof (r));

  r.magic ^= 1;
  assert_refused (&r, "magic at its byte 0 is 0x31524251");
  r = good_record ();
  r.size = 895;
  assert_refused (&r, "size at its byte 4 is 895");
  r = good_record ();
  r.version = 2;
  assert_refused (&r, "version at its byte 6 is 2");
  r = good_record ();
  r.n_outputs = 9;
  assert_refused (&r, "n_outputs at its byte");
  r = good_record ();
  r.n_spatters = 17;
  assert_refused (&r, "n_spatters at its byte");
  r = good_record ();
  r.n_outputs = r.vote_n = 2;
  r.class_index = 2;
  assert_refused (&r, "class_index at its byte");
  r.class_index = 0;
  r.vote_class = 2;
  assert_refused (&r, "vote_class at its byte");
}

int
main (int argc, char **argv)
{
  gint failed;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfrows/csv/header", test_csv_header);
  g_test_add_func ("/pbfrows/csv/random", test_csv_random);
  g_test_add_func ("/pbfrows/csv/class", test_csv_class);
  g_test_add_func ("/pbfrows/csv/extremes", test_csv_extremes);
  g_test_add_func ("/pbfrows/json/random", test_json_random);
  g_test_add_func ("/pbfrows/json/extremes", test_json_extremes);
  g_test_add_func ("/pbfrows/parse", test_parse);
  row_names = pbf_row_names_new (names, g_strv_length ((gchar **) names));
  failed = g_test_run ();
  pbf_row_names_free (row_names);
  return failed;
}
