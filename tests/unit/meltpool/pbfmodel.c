/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Network files: valid ones of several sizes, and invalid ones, each with an
 * error that names the fault. */
#include "cuda/meltpool/engine.h"
#include "cuda/meltpool/model.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { L1_WEIGHT, L1_BIAS, L2_WEIGHT, L2_BIAS, IN_MEAN, IN_STD, N_TENSORS };

static const gchar *const names[N_TENSORS] = { "l1.weight", "l1.bias",
  "l2.weight", "l2.bias", "in.mean", "in.std" };

#define METADATA                                                               \
  "\"__metadata__\":{\"feature_spec\":\"pbf40-v1\",\"threshold\":\"100\","     \
  "\"window\":\"20\"}"

/* A file under construction; value i of tensor t is (t + 1) + i / 1024. */
typedef struct {
  guint hidden, outputs;
  guint order[N_TENSORS];
  gsize offset[N_TENSORS]; /* in the data */
  GString *header;
  GByteArray *data;
} File;

static guint
tensor_length (const File *file, guint t)
{
  const guint lengths[N_TENSORS] = { file->hidden * 40, file->hidden,
    file->outputs * file->hidden, file->outputs, 40, 40 };
  return lengths[t];
}

static gfloat
value_of (guint t, guint index)
{
  return t + 1 + index / 1024.0f;
}

static void
add_tensor (File *file, guint t)
{
  guint n = tensor_length (file, t);
  gchar *shape;

  if (t == L1_WEIGHT)
    shape = g_strdup_printf ("%u,40", file->hidden);
  else if (t == L2_WEIGHT)
    shape = g_strdup_printf ("%u,%u", file->outputs, file->hidden);
  else
    shape = g_strdup_printf ("%u", n);
  file->offset[t] = file->data->len;
  g_string_append_printf (file->header,
      ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%u,%u]}",
      names[t], shape, file->data->len, file->data->len + 4 * n);
  for (guint i = 0; i < n; i++) {
    gfloat value = value_of (t, i);
    guint32 bits;

    memcpy (&bits, &value, 4);
    bits = GUINT32_TO_LE (bits);
    g_byte_array_append (file->data, (guint8 *) &bits, 4);
  }
  g_free (shape);
}

static File
file_new (guint hidden, guint outputs)
{
  File file = {
    .hidden = hidden,
    .outputs = outputs,
    .header = g_string_new ("{" METADATA),
    .data = g_byte_array_new (),
  };

  for (guint t = 0; t < N_TENSORS; t++)
    add_tensor (&file, t);
  g_string_append (file.header, "}");
  return file;
}

static void
file_clear (File *file)
{
  g_string_free (file->header, TRUE);
  g_byte_array_unref (file->data);
}

static void
set_value (File *file, guint t, guint index, gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, 4);
  bits = GUINT32_TO_LE (bits);
  memcpy (file->data->data + file->offset[t] + 4 * index, &bits, 4);
}

static void
replace (File *file, const gchar *what, const gchar *with)
{
  g_assert_cmpuint (g_string_replace (file->header, what, with, 1), ==, 1);
}

/* Copies to memory of the exact size, at an odd address. */
static PbfModel *
parse (File *file, GError **error)
{
  guint64 length = GUINT64_TO_LE ((guint64) file->header->len);
  gsize size = 8 + file->header->len + file->data->len;
  guint8 *block = g_malloc (size + 1), *p = block + 1;
  PbfModel *model;

  memcpy (p, &length, 8);
  memcpy (p + 8, file->header->str, file->header->len);
  memcpy (p + 8 + file->header->len, file->data->data, file->data->len);
  model = pbf_model_parse (p, size, error);
  g_free (block);
  return model;
}

static void
check_refused (File *file, const gchar *says)
{
  GError *error = NULL;
  PbfModel *model = parse (file, &error);

  g_assert_null (model);
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  if (!strstr (error->message, says))
    g_error ("\"%s\" does not say \"%s\"", error->message, says);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_clear_error (&error);
}

static void
check_values (const PbfModel *m)
{
  const guint pad = m->hidden_padded;

  for (guint i = 0; i < 40; i++) {
    g_assert_cmpfloat (m->mean[i], ==, value_of (IN_MEAN, i));
    g_assert_cmpfloat (m->inv_std[i], ==, 1.0f / value_of (IN_STD, i));
    for (guint h = 0; h < pad; h++)
      g_assert_cmpfloat (m->w1t[i * pad + h], ==,
          h < m->hidden ? value_of (L1_WEIGHT, h * 40 + i) : 0);
  }
  for (guint h = 0; h < pad; h++) {
    g_assert_cmpfloat (m->b1[h], ==, h < m->hidden ? value_of (L1_BIAS, h) : 0);
    for (guint o = 0; o < m->outputs; o++)
      g_assert_cmpfloat (m->w2[o * pad + h], ==,
          h < m->hidden ? value_of (L2_WEIGHT, o * m->hidden + h) : 0);
  }
  for (guint o = 0; o < m->outputs; o++)
    g_assert_cmpfloat (m->b2[o], ==, value_of (L2_BIAS, o));
}

static PbfModel *
check_accepted (File *file)
{
  GError *error = NULL;
  PbfModel *model = parse (file, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (model->hidden, ==, file->hidden);
  g_assert_cmpuint (model->hidden_padded % 32, ==, 0);
  g_assert_cmpuint (model->hidden_padded - model->hidden, <, 32);
  g_assert_cmpuint (model->outputs, ==, file->outputs);
  g_assert_cmpuint (g_strv_length (model->names), ==, file->outputs);
  check_values (model);
  return model;
}

static void
test_sizes (void)
{
  static const guint sizes[][2] = { { 1, 1 }, { 31, 8 }, { 32, 2 }, { 33, 3 },
    { 164, 2 }, { 512, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    File file = file_new (sizes[i][0], sizes[i][1]);
    PbfModel *model = check_accepted (&file);

    g_assert_cmpint (model->threshold, ==, 100);
    g_assert_cmpint (model->window, ==, 20);
    g_assert_cmpstr (model->names[0], ==, "out_0");
    g_assert_true (pbf_model_ref (model) == model);
    pbf_model_unref (model);
    pbf_model_unref (model);
    file_clear (&file);
  }
}

/* Any order, additional tensors of known and unknown dtypes, an empty one,
 * and spaces after the header. */
static void
test_order_and_extras (void)
{
  static const guint order[] = { IN_STD, L2_BIAS, L1_WEIGHT, L2_WEIGHT, IN_MEAN,
    L1_BIAS };
  File file = { .hidden = 20,
    .outputs = 3,
    .header = g_string_new ("{"),
    .data = g_byte_array_new () };
  static const guint8 extra[7] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
  guint end;

  g_byte_array_append (file.data, extra, 3);
  g_string_append (file.header,
      "\"a\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[0,3]}");
  for (guint i = 0; i < N_TENSORS; i++)
    add_tensor (&file, order[i]);
  end = file.data->len;
  g_byte_array_append (file.data, extra, 7);
  g_string_append_printf (file.header,
      ",\"none\":{\"dtype\":\"F64\",\"shape\":[2,0],\"data_offsets\":[%u,%u]}"
      ",\"z\\u00e9\":{\"dtype\":\"F4\",\"shape\":[14],\"data_offsets\":[%u,%u],"
      "\"more\":null}," METADATA "}    ",
      end, end, end, end + 7);
  pbf_model_unref (check_accepted (&file));
  file_clear (&file);
}

static void
test_metadata (void)
{
  File file = file_new (8, 2);
  PbfModel *model;

  replace (&file, "\"window\":\"20\"",
      "\"outputs\":\" lack of fusion,trou de serrure \",\"by\":\"x\","
      "\"activation\":\"softmax\"");
  replace (&file, ",\"threshold\":\"100\"", "");
  model = check_accepted (&file);
  g_assert_cmpint (model->threshold, ==, -1);
  g_assert_cmpint (model->window, ==, -1);
  g_assert_cmpint (model->activation, ==, PBF_ACTIVATION_SOFTMAX);
  g_assert_cmpstr (model->names[0], ==, "lack of fusion");
  g_assert_cmpstr (model->names[1], ==, "trou de serrure");
  g_assert_false (model->unknown);
  pbf_model_unref (model);
  file_clear (&file);
}

/* The output of unknown frames is the last of three or more, with softmax. */
static void
test_unknown (void)
{
  static const struct {
    guint outputs;
    const gchar *with, *says;
  } cases[] = {
    { 3, "\"outputs\":\"a,b,none\",\"unknown\":\"none\"", NULL },
    { 3, "\"unknown\":\"out_1\"",
        "\"unknown\" is \"out_1\", must be the name" },
    { 2, "\"unknown\":\"out_1\"", "the last of at least 3 outputs" },
  };
  PbfModel *model;
  File file;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *with =
        g_strconcat (cases[i].with, ",\"activation\":\"softmax\"", NULL);

    file = file_new (8, cases[i].outputs);
    replace (&file, "\"window\":\"20\"", with);
    if (cases[i].says != NULL) {
      check_refused (&file, cases[i].says);
    } else {
      model = check_accepted (&file);
      g_assert_true (model->unknown);
      g_assert_cmpint (model->activation, ==, PBF_ACTIVATION_SOFTMAX_UNKNOWN);
      pbf_model_unref (model);
    }
    file_clear (&file);
    g_free (with);
  }
  file = file_new (8, 3);
  replace (&file, "\"window\":\"20\"", "\"unknown\":\"out_2\"");
  check_refused (&file, "\"unknown\" needs \"activation\" \"softmax\"");
  file_clear (&file);
}

/* In the header of a valid file with 8 hidden units and 2 outputs the first
 * @what is replaced, and the error contains @says. Positions of the bytes:
 * l1.weight 0..1280, l1.bias ..1312, l2.weight ..1376, l2.bias ..1384,
 * in.mean ..1544, in.std ..1704. */
static const struct {
  const gchar *what, *with, *says;
} bad_headers[] = {
  /* JSON */
  { "{", "[", "an object must begin here" },
  { "{", "", "an object must begin here" },
  { "{", " x{", "an object must begin here" },
  { "}}", "}", "ends within an object" },
  { "}}", "}]", "the closing bracket does not match" },
  { "1704]}}", "1704]}}}", "text follows the object" },
  { "1704]}}", "1704]}}{}", "text follows the object" },
  { "1704]}}", "1704]}} null", "text follows the object" },
  { "{", "{/* */", "unexpected character" },
  { "{", "{'a':1,", "unexpected character" },
  { "{", "{\"a\":[[[[[[[[]]]]]]]],", "nested deeper than 8" },
  { "pbf40-v1", "pbf40\n", "control character" },
  { "pbf40-v1", "\\u0000", "\\u0000" },
  { "pbf40-v1", "\\u12g4", "four hexadecimal digits" },
  { "pbf40-v1", "\\x", "unknown escape" },
  { "pbf40-v1", "\xff", "UTF-8" },
  { "in.std", "in.mean", "the name \"in.mean\" occurs twice" },
  { "in.std", "i\\u006e.mean", "the name \"in.mean\" occurs twice" },
  { "\"window\"", "\"threshold\"", "the name \"threshold\" occurs twice" },
  { "\"shape\"", "\"dtype\"", "the name \"dtype\" occurs twice" },
  { "1704]}}", "1704],}}", "header:" },
  { "1704]}}", "1704 1]}}", "header:" },
  { "1280]", "1280,]", "header:" },
  /* metadata */
  { METADATA, "\"x\":{}", "tensor \"x\": dtype" },
  { "__metadata__\":{", "__metadata__\":[], \"x\":{",
      "__metadata__ is not an object" },
  { "\"100\"", "100", "the value of \"threshold\" is not a string" },
  { "\"100\"", "null", "the value of \"threshold\" is not a string" },
  { "feature_spec", "spec", "\"feature_spec\" is missing" },
  { "pbf40-v1", "pbf40-v2", "\"feature_spec\" is \"pbf40-v2\"" },
  { "\"100\"", "\"100.5\"", "\"threshold\" is \"100.5\"" },
  { "\"100\"", "\"\"", "\"threshold\" is \"\"" },
  { "\"100\"", "\"0\"", "\"threshold\" is \"0\"" },
  { "\"100\"", "\"256\"", "\"threshold\" is \"256\"" },
  { "\"100\"", "\"-1\"", "\"threshold\" is \"-1\"" },
  { "\"20\"", "\"0x20\"", "\"window\" is \"0x20\"" },
  { "\"20\"", "\"1025\"", "\"window\" is \"1025\"" },
  { "\"window\":\"20\"", "\"outputs\":\"one\"", "\"outputs\" holds 1 name," },
  { "\"window\":\"20\"", "\"outputs\":\"a,b,c\"", "\"outputs\" holds 3 names" },
  { "\"window\":\"20\"", "\"outputs\":\"a,b,c,d,e,f,g,h,i,j\"",
      "\"outputs\" holds at least 9 names" },
  { "\"window\":\"20\"", "\"outputs\":\"a, \"", "name 1 is empty" },
  { "\"window\":\"20\"", "\"outputs\":\"pore, pore\"",
      "metadata \"outputs\": names 0 and 1 are both \"pore\"" },
  { "\"window\":\"20\"", "\"outputs\":\"a,b\\u0007\"", "cannot be printed" },
  /* entries */
  { "\"l1.weight\":{", "\"l1.weight\":7,\"x\":{",
      "tensor \"l1.weight\": its entry is not an object" },
  { "\"dtype\":\"F32\",", "", "tensor \"l1.weight\": dtype is missing" },
  { "\"F32\"", "32",
      "tensor \"l1.weight\": dtype is missing or is not a string" },
  { "\"F32\"", "\"F16\"",
      "tensor \"l1.weight\": data_offsets span 1280 bytes,"
      " dtype and shape need 640" },
  { "\"F32\",\"shape\":[8,40]", "\"F64\",\"shape\":[4,40]",
      "tensor \"l1.weight\": dtype is F64, must be F32" },
  { "\"F32\"", "\"Q4\"", "tensor \"l1.weight\": dtype is Q4, must be F32" },
  { "\"shape\":[8,40],", "", "tensor \"l1.weight\": shape is missing" },
  { "[8,40]", "\"8\"",
      "tensor \"l1.weight\": shape is missing or is not an array" },
  { "[8,40]", "[8,-40]", "tensor \"l1.weight\": shape: dimension 1" },
  { "[8,40]", "[8.0,40]", "tensor \"l1.weight\": shape: dimension 0" },
  { "[8,40]", "[8,\"40\"]", "tensor \"l1.weight\": shape: dimension 1" },
  { "[8,40]", "[8,[40]]", "tensor \"l1.weight\": shape: dimension 1" },
  { "[8,40]", "[8,null]", "tensor \"l1.weight\": shape: dimension 1" },
  /* for 2^63 and above json-glib 1.10 clamps, older versions return no
   * integer */
  { "[8,40]", "[8,99999999999999999999]", "tensor \"l1.weight\": shape: " },
  { "[8,40]", "[4294967296,4294967296]",
      "tensor \"l1.weight\": shape: the product" },
  { "[8,40]", "[9223372036854775807,2]",
      "tensor \"l1.weight\": shape: the size in bytes exceeds" },
  { "[8,40]", "[4611686018427387904,1]",
      "tensor \"l1.weight\": shape: the size in bytes exceeds" },
  { "[8,40]", "[8,41]",
      "tensor \"l1.weight\": data_offsets span 1280 bytes,"
      " dtype and shape need 1312" },
  { "[8,40]", "[40,8]",
      "tensor \"l1.weight\": shape is [40, 8], dimension 1 must be 40" },
  { "[8,40]", "[320]",
      "tensor \"l1.weight\": shape is [320], must have 2 dimensions" },
  { "[8,40]", "[]",
      "tensor \"l1.weight\": data_offsets span 1280 bytes,"
      " dtype and shape need 4" },
  { "[2,8]", "[1,16]",
      "tensor \"l2.weight\": shape is [1, 16], dimension 1 must be 8" },
  { "[2,8]", "[16,1]",
      "tensor \"l2.weight\": shape is [16, 1], dimension 0 must be 1..8" },
  { "[8]", "[1,8]",
      "tensor \"l1.bias\": shape is [1, 8], must have 1 dimension" },
  { "\"l2.bias\"", "\"l3.bias\"", "tensor \"l2.bias\" is missing" },
  { "\"in.std\"", "\"in.var\"", "tensor \"in.std\" is missing" },
  /* offsets */
  { ",\"data_offsets\":[0,1280]", "",
      "tensor \"l1.weight\": data_offsets is missing" },
  { "[0,1280]", "[0]", "tensor \"l1.weight\": data_offsets is missing or is" },
  { "[0,1280]", "[0,1280,0]", "tensor \"l1.weight\": data_offsets is missing" },
  { "[0,1280]", "[0,1280.0]", "tensor \"l1.weight\": data_offsets is missing" },
  { "[0,1280]", "[-4,1276]", "tensor \"l1.weight\": data_offsets is missing" },
  { "[0,1280]", "{\"0\":1280}",
      "tensor \"l1.weight\": data_offsets is missing" },
  { "[0,1280]", "[0,18446744073709552896]",
      "tensor \"l1.weight\": data_offsets" },
  { "[0,1280]", "[1280,0]",
      "tensor \"l1.weight\": data_offsets [1280, 0] run"
      " backwards" },
  { "[0,1280]", "[9223372036854775807,9223372036854775807]",
      "tensor \"l1.weight\": data_offsets end at 9223372036854775807" },
  { "[1544,1704]", "[1548,1708]",
      "tensor \"in.std\": data_offsets end at 1708, the data has 1704" },
  { "[1280,1312]", "[1276,1308]",
      "tensor \"l1.bias\": bytes from 1276 on overlap" },
  { "[1384,1544]", "[1544,1704]",
      "tensor \"in.mean\": the 160 bytes before it, starting at 1384" },
  { "\"in.std\":{\"dtype\":\"F32\",\"shape\":[40],\"data_offsets\":[1544,",
      "\"in.std\":{\"dtype\":\"F32\",\"shape\":[39],\"data_offsets\":[1548,",
      "tensor \"in.std\": the 4 bytes before it" },
  { "\"in.std\":{\"dtype\":\"F32\",\"shape\":[40],\"data_offsets\":[1544,1704]",
      "\"in.std\":{\"dtype\":\"F32\",\"shape\":[39],\"data_offsets\":[1544,"
      "1700]",
      "the last 4 bytes of the data belong to no tensor" },
};

static void
test_bad_headers (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad_headers); i++) {
    File file = file_new (8, 2);

    replace (&file, bad_headers[i].what, bad_headers[i].with);
    check_refused (&file, bad_headers[i].says);
    file_clear (&file);
  }
}

static void
test_bad_values (void)
{
  static const struct {
    guint t, index;
    gfloat value;
    const gchar *says;
  } cases[] = {
    { L1_WEIGHT, 3 * 40 + 17, NAN, "l1.weight[3, 17] is nan" },
    { L1_WEIGHT, 0, INFINITY, "l1.weight[0, 0] is inf" },
    { L1_BIAS, 7, -INFINITY, "l1.bias[7] is -inf" },
    { L2_WEIGHT, 15, -NAN, "l2.weight[1, 7] is" },
    { L2_BIAS, 1, NAN, "l2.bias[1] is nan" },
    { IN_MEAN, 39, INFINITY, "in.mean[39] is inf" },
    { IN_STD, 5, NAN, "in.std[5] is nan" },
    { IN_STD, 0, 0, "in.std[0] is 0, must be above 0" },
    { IN_STD, 1, -0.0f, "in.std[1] is -0, must be above 0" },
    { IN_STD, 2, -3, "in.std[2] is -3, must be above 0" },
    { IN_STD, 3, 0x1p-140f, "in.std[3] is 7.17465e-43, too small" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    File file = file_new (8, 2);

    set_value (&file, cases[i].t, cases[i].index, cases[i].value);
    check_refused (&file, cases[i].says);
    file_clear (&file);
  }
}

static void
test_too_large (void)
{
  File file = file_new (513, 1);

  check_refused (&file,
      "tensor \"l1.weight\": shape is [513, 40], dimension 0 must be 1..512");
  file_clear (&file);
  file = file_new (0, 1);
  check_refused (&file, "dimension 0 must be 1..512");
  file_clear (&file);
  file = file_new (1, 9);
  check_refused (
      &file, "tensor \"l2.weight\": shape is [9, 1], dimension 0 must be 1..8");
  file_clear (&file);
}

static void
check_bytes_refused (const guint8 *bytes, gsize size, const gchar *says)
{
  guint8 *exact = g_memdup2 (bytes, size);
  GError *error = NULL;

  g_assert_null (pbf_model_parse (exact, size, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  if (!strstr (error->message, says))
    g_error ("\"%s\" does not say \"%s\"", error->message, says);
  g_clear_error (&error);
  g_free (exact);
}

static void
test_header_length (void)
{
  guint8 bytes[16] = { 8, 0, 0, 0, 0, 0, 0, 0, '{', '}' };

  for (gsize size = 0; size < 8; size++)
    check_bytes_refused (bytes, size, "are not a safetensors file");
  check_bytes_refused (bytes, 15, "header length is 8, the file has 7 bytes");
  bytes[0] = 0;
  check_bytes_refused (bytes, 16, "header length is 0, must be 2..");
  memset (bytes, 0xff, 8);
  check_bytes_refused (bytes, 16, "header length is 18446744073709551615");
}

/* A header above the limit, in a file of matching size. */
static void
test_header_limit (void)
{
  guint64 length = GUINT64_TO_LE (G_GUINT64_CONSTANT (1048577));
  guint8 *bytes = g_malloc0 (8 + 1048577);
  GError *error = NULL;

  memcpy (bytes, &length, 8);
  g_assert_null (pbf_model_parse (bytes, 8 + 1048577, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_assert_nonnull (
      strstr (error->message, "header length is 1048577, must be 2..1048576"));
  g_clear_error (&error);
  g_free (bytes);
}

/* Any truncation of a valid file is refused. */
static void
test_truncated (void)
{
  File file = file_new (1, 1);
  guint64 length = GUINT64_TO_LE ((guint64) file.header->len);
  GByteArray *whole = g_byte_array_new ();
  PbfModel *model;

  g_byte_array_append (whole, (guint8 *) &length, 8);
  g_byte_array_append (whole, (guint8 *) file.header->str, file.header->len);
  g_byte_array_append (whole, file.data->data, file.data->len);
  for (guint size = 0; size < whole->len; size++)
    check_bytes_refused (whole->data, size, "");
  model = pbf_model_parse (whole->data, whole->len, NULL);
  g_assert_nonnull (model);
  pbf_model_unref (model);
  g_byte_array_unref (whole);
  file_clear (&file);
}

static void
test_deep_and_many (void)
{
  File file = file_new (1, 1);

  g_string_truncate (file.header, 0);
  g_string_append (file.header, "{\"a\":");
  for (guint i = 0; i < 200000; i++)
    g_string_append_c (file.header, '[');
  check_refused (&file, "nested deeper than 8");
  g_string_truncate (file.header, 0);
  g_string_append (file.header, "{\"a\":[");
  for (guint i = 0; i < 500000; i++)
    g_string_append (file.header, "0,");
  g_string_append (file.header, "0]}");
  check_refused (&file, "tensor \"a\": its entry is not an object");
  for (guint i = 0; i < 50000; i++)
    g_string_append_c (file.header, ' ');
  check_refused (&file, "header length is 1050009, must be 2..1048576");
  file_clear (&file);
}

static void
check_file_refused (const gchar *filename, const gchar *says)
{
  GError *error = NULL;

  g_assert_null (pbf_model_load (filename, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, filename));
  if (!strstr (error->message, says))
    g_error ("\"%s\" does not say \"%s\"", error->message, says);
  g_clear_error (&error);
}

static void
test_load (void)
{
  gchar *directory = g_dir_make_tmp ("pbfmodel-XXXXXX", NULL);
  gchar *path = g_build_filename (directory, "model.safetensors", NULL);
  GError *error = NULL;
  FILE *stream;

  check_file_refused (path, "No such file");
  check_file_refused (directory, "is not a regular file");
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  check_file_refused (path, "is not a regular file");
  g_unlink (path);

  stream = g_fopen (path, "wb");
  g_assert_nonnull (stream);
  g_assert_cmpint (ftruncate (fileno (stream), 256 << 20), ==, 0); /* sparse */
  fclose (stream);
  check_file_refused (path, "must be below 256 MiB");

  g_assert_true (g_file_set_contents (path, "nonsense!", 9, NULL));
  g_assert_null (pbf_model_load (path, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, path));
  g_clear_error (&error);
  g_unlink (path);
  g_rmdir (directory);
  g_free (path);
  g_free (directory);
}

/* Runs scripts/make-model with @options (NULL-terminated) and loads its
 * output @path; %NULL, and skips the test, if the script is not available. */
static PbfModel *
make_model (const gchar *const *options, const gchar *path)
{
  const gchar *script = g_getenv ("MAKE_MODEL"), *py = g_getenv ("PYTHON");
  GPtrArray *argv = g_ptr_array_new ();
  GError *error = NULL;
  PbfModel *model = NULL;
  gint status;

  g_ptr_array_add (argv, (gpointer) py);
  g_ptr_array_add (argv, (gpointer) script);
  while (*options)
    g_ptr_array_add (argv, (gpointer) *options++);
  g_ptr_array_add (argv, (gpointer) path);
  g_ptr_array_add (argv, NULL);
  if (!script || !py) {
    g_test_skip ("MAKE_MODEL and PYTHON are not set");
  } else {
    g_spawn_sync (NULL, (gchar **) argv->pdata, NULL, 0, NULL, NULL, NULL, NULL,
        &status, &error);
    g_assert_no_error (error);
    g_assert_cmpint (status, ==, 0);
    model = pbf_model_load (path, &error);
    g_assert_no_error (error);
    g_unlink (path);
  }
  g_ptr_array_unref (argv);
  return model;
}

/* The output of scripts/make-model is readable. */
static void
test_script (void)
{
  static const gchar *const options[] = { "--seed", "7", "--hidden", "50",
    "--outputs", "3", "--names", "a,b,c", NULL };
  gchar *directory = g_dir_make_tmp ("pbfmodel-XXXXXX", NULL);
  gchar *path = g_build_filename (directory, "model.safetensors", NULL);
  PbfModel *model = make_model (options, path);

  if (model) {
    g_assert_cmpuint (model->hidden, ==, 50);
    g_assert_cmpuint (model->outputs, ==, 3);
    g_assert_cmpstr (model->names[2], ==, "c");
    g_assert_cmpfloat (model->inv_std[39], ==, 1);
    pbf_model_unref (model);
  }
  g_rmdir (directory);
  g_free (path);
  g_free (directory);
}

/* A row of the CSV: feature i is @value * (i + 1). */
static void
add_row (GString *csv, guint flags, gint value)
{
  g_string_append_printf (csv, "%u", flags);
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
    g_string_append_printf (csv, ",%u", value * (i + 1));
  g_string_append_c (csv, '\n');
}

/* Scaling derived from a table of features, without its empty frames. */
static void
test_script_csv (void)
{
  gchar *directory = g_dir_make_tmp ("pbfmodel-XXXXXX", NULL);
  gchar *path = g_build_filename (directory, "model.safetensors", NULL);
  gchar *csv_path = g_build_filename (directory, "features.csv", NULL);
  const gchar *options[] = { "--csv", csv_path, NULL };
  GString *csv = g_string_new ("flags");
  PbfModel *model;

  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
    g_string_append_printf (csv, ",%s", pbf_feature_name (i));
  g_string_append_c (csv, '\n');
  add_row (csv, CVIS_PBF_RESULT_WARMUP, 1);
  add_row (csv, CVIS_PBF_RESULT_EMPTY, 1000);
  add_row (csv, 0, 5);
  g_assert_true (g_file_set_contents (csv_path, csv->str, csv->len, NULL));
  model = make_model (options, path);
  if (model) {
    for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
      g_assert_cmpfloat (model->mean[i], ==, 3.0f * (i + 1));
      g_assert_cmpfloat (model->inv_std[i], ==, 1 / (2.0f * (i + 1)));
    }
    pbf_model_unref (model);
  }
  g_unlink (csv_path);
  g_rmdir (directory);
  g_string_free (csv, TRUE);
  g_free (csv_path);
  g_free (path);
  g_free (directory);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfmodel/sizes", test_sizes);
  g_test_add_func ("/pbfmodel/order-and-extras", test_order_and_extras);
  g_test_add_func ("/pbfmodel/metadata", test_metadata);
  g_test_add_func ("/pbfmodel/unknown", test_unknown);
  g_test_add_func ("/pbfmodel/bad-headers", test_bad_headers);
  g_test_add_func ("/pbfmodel/bad-values", test_bad_values);
  g_test_add_func ("/pbfmodel/too-large", test_too_large);
  g_test_add_func ("/pbfmodel/header-length", test_header_length);
  g_test_add_func ("/pbfmodel/header-limit", test_header_limit);
  g_test_add_func ("/pbfmodel/truncated", test_truncated);
  g_test_add_func ("/pbfmodel/deep-and-many", test_deep_and_many);
  g_test_add_func ("/pbfmodel/load", test_load);
  g_test_add_func ("/pbfmodel/script", test_script);
  g_test_add_func ("/pbfmodel/script-csv", test_script_csv);
  return g_test_run ();
}
