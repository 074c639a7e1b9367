/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/safetensors.h"

#include <string.h>

#define METADATA "__metadata__"
#define MAX_DEPTH 8 /* of nested objects and arrays; the format needs 3 */

/* Names in errors are untrusted: only their first 100 characters are shown,
 * in ASCII. */
G_GNUC_PRINTF (3, 4)
static gboolean
set_tensor_error (const gchar *name, GError **error, const gchar *format, ...)
{
  gchar *shown = g_strescape (name, NULL), *what;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "tensor \"%.100s\": %s",
      shown, what);
  g_free (what);
  g_free (shown);
  return FALSE;
}

/* Bytes of a value; 0 for unsupported dtypes. */
static guint
dtype_size (const gchar *dtype)
{
  static const struct {
    gchar name[8];
    guint size;
  } known[] = {
    { "BOOL", 1 },
    { "U8", 1 },
    { "I8", 1 },
    { "F8_E5M2", 1 },
    { "F8_E4M3", 1 },
    { "I16", 2 },
    { "U16", 2 },
    { "F16", 2 },
    { "BF16", 2 },
    { "I32", 4 },
    { "U32", 4 },
    { "F32", 4 },
    { "I64", 8 },
    { "U64", 8 },
    { "F64", 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (!strncmp (dtype, known[i].name, sizeof known[i].name))
      return known[i].size;
  return 0;
}

/* An integer >= 0 at @index of @array. */
static gboolean
get_tensor_count (JsonArray *array, guint index, guint64 *value)
{
  JsonNode *node = json_array_get_element (array, index);

  if (!JSON_NODE_HOLDS_VALUE (node)
      || json_node_get_value_type (node) != G_TYPE_INT64
      || json_node_get_int (node) < 0)
    return FALSE;
  *value = json_node_get_int (node);
  return TRUE;
}

static JsonArray *
get_array (JsonObject *entry, const gchar *member)
{
  JsonNode *node = json_object_get_member (entry, member);

  return node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node)
                                              : NULL;
}

static const gchar *
get_string (JsonNode *node)
{
  if (!node || !JSON_NODE_HOLDS_VALUE (node)
      || json_node_get_value_type (node) != G_TYPE_STRING)
    return NULL;
  return json_node_get_string (node);
}

static gboolean
check_shape (const PbfTensor *tensor, GError **error)
{
  guint64 n = 1, dimension, bytes;
  guint size = dtype_size (tensor->dtype);

  for (guint i = 0; i < json_array_get_length (tensor->shape); i++) {
    if (!get_tensor_count (tensor->shape, i, &dimension))
      return set_tensor_error (
          tensor->name, error, "shape: dimension %u is not an integer >= 0", i);
    if (!g_uint64_checked_mul (&n, n, dimension))
      return set_tensor_error (tensor->name, error,
          "shape: the product of the dimensions"
          " exceeds 64 bits");
  }
  if (!size)
    return TRUE;
  if (!g_uint64_checked_mul (&bytes, n, size))
    return set_tensor_error (
        tensor->name, error, "shape: the size in bytes exceeds 64 bits");
  if (bytes != tensor->end - tensor->begin)
    return set_tensor_error (tensor->name, error,
        "data_offsets span %" G_GUINT64_FORMAT " bytes, dtype and shape need"
        " %" G_GUINT64_FORMAT,
        tensor->end - tensor->begin, bytes);
  return TRUE;
}

static gboolean
read_offsets (
    PbfTensor *tensor, JsonObject *entry, gsize data_size, GError **error)
{
  JsonArray *offsets = get_array (entry, "data_offsets");

  if (!offsets || json_array_get_length (offsets) != 2
      || !get_tensor_count (offsets, 0, &tensor->begin)
      || !get_tensor_count (offsets, 1, &tensor->end))
    return set_tensor_error (tensor->name, error,
        "data_offsets is missing or is not two integers >= 0");
  if (tensor->begin > tensor->end)
    return set_tensor_error (tensor->name, error,
        "data_offsets [%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
        "] run backwards",
        tensor->begin, tensor->end);
  if (tensor->end > data_size)
    return set_tensor_error (tensor->name, error,
        "data_offsets end at %" G_GUINT64_FORMAT
        ", the data has %" G_GSIZE_FORMAT " bytes",
        tensor->end, data_size);
  return TRUE;
}

static gboolean
read_tensor (PbfTensor *tensor, JsonNode *node, const guint8 *data,
    gsize data_size, GError **error)
{
  JsonObject *entry;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return set_tensor_error (tensor->name, error, "its entry is not an object");
  entry = json_node_get_object (node);
  tensor->dtype = get_string (json_object_get_member (entry, "dtype"));
  if (!tensor->dtype)
    return set_tensor_error (
        tensor->name, error, "dtype is missing or is not a string");
  tensor->shape = get_array (entry, "shape");
  if (!tensor->shape)
    return set_tensor_error (
        tensor->name, error, "shape is missing or is not an array");
  if (!read_offsets (tensor, entry, data_size, error))
    return FALSE;
  tensor->data = data + tensor->begin;
  return check_shape (tensor, error);
}

static gint
compare_tensors (gconstpointer a, gconstpointer b)
{
  const PbfTensor *s = a, *t = b;

  if (s->begin != t->begin)
    return s->begin < t->begin ? -1 : 1;
  if (s->end != t->end)
    return s->end < t->end ? -1 : 1;
  return strcmp (s->name, t->name);
}

/* Checks that every byte of the data belongs to exactly one tensor. */
static gboolean
check_cover (GArray *tensors, gsize data_size, GError **error)
{
  guint64 covered = 0;

  g_array_sort (tensors, compare_tensors);
  for (guint i = 0; i < tensors->len; i++) {
    const PbfTensor *tensor = &g_array_index (tensors, PbfTensor, i);

    if (tensor->begin < covered)
      return set_tensor_error (tensor->name, error,
          "bytes from %" G_GUINT64_FORMAT " on overlap those of the tensor"
          " before it, which end at %" G_GUINT64_FORMAT,
          tensor->begin, covered);
    if (tensor->begin > covered)
      return set_tensor_error (tensor->name, error,
          "the %" G_GUINT64_FORMAT
          " bytes before it, starting at %" G_GUINT64_FORMAT
          " belong to no tensor",
          tensor->begin - covered, covered);
    covered = tensor->end;
  }
  if (covered != data_size) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "the last %" G_GUINT64_FORMAT " bytes of the data belong to no tensor",
        data_size - covered);
    return FALSE;
  }
  return TRUE;
}

static gboolean
read_metadata (PbfSafetensors *file, JsonNode *node, GError **error)
{
  JsonObjectIter iter;
  const gchar *key;
  JsonNode *value;

  if (!JSON_NODE_HOLDS_OBJECT (node)) {
    g_set_error (
        error, CVIS_ERROR, CVIS_ERROR_FORMAT, METADATA " is not an object");
    return FALSE;
  }
  file->metadata = json_node_get_object (node);
  json_object_iter_init (&iter, file->metadata);
  while (json_object_iter_next (&iter, &key, &value))
    if (!get_string (value)) {
      gchar *shown = g_strescape (key, NULL);
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
          METADATA ": the value of \"%.100s\" is not a string", shown);
      g_free (shown);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_entries (PbfSafetensors *file, JsonObject *root, const guint8 *data,
    gsize data_size, GError **error)
{
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *node;

  json_object_iter_init (&iter, root);
  while (json_object_iter_next (&iter, &name, &node)) {
    PbfTensor tensor = { .name = name };

    if (!strcmp (name, METADATA)) {
      if (!read_metadata (file, node, error))
        return FALSE;
      continue;
    }
    if (!read_tensor (&tensor, node, data, data_size, error))
      return FALSE;
    g_array_append_val (file->tensors, tensor);
  }
  return check_cover (file->tensors, data_size, error);
}

/* Returns: the length of the header at bytes + 8; 0 with an error. */
static gsize
header_length (const guint8 *bytes, gsize size, GError **error)
{
  guint64 length;

  if (size < 8) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "%" G_GSIZE_FORMAT
        " bytes are not a safetensors file: the header length"
        " alone has 8",
        size);
    return 0;
  }
  memcpy (&length, bytes, 8);
  length = GUINT64_FROM_LE (length);
  if (length > size - 8) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "header length is %" G_GUINT64_FORMAT ", the file has %" G_GSIZE_FORMAT
        " bytes after it: truncated, or not a safetensors file",
        length, size - 8);
    return 0;
  }
  if (length < 2 || length > PBF_SAFETENSORS_MAX_HEADER) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "header length is %" G_GUINT64_FORMAT ", must be 2..%d", length,
        PBF_SAFETENSORS_MAX_HEADER);
    return 0;
  }
  return length;
}

/* Returns: the fault of the escape whose backslash is @text[0], or NULL */
static const gchar *
find_bad_escape (const gchar *text, gsize size)
{
  guint code = 0;

  if (size < 2 || !text[1] || !strchr ("\"\\/bfnrtu", text[1]))
    return "unknown escape in a string";
  if (text[1] != 'u')
    return NULL;
  for (guint i = 2; i < 6; i++) {
    if (i >= size || !g_ascii_isxdigit (text[i]))
      return "\\u needs four hexadecimal digits";
    code |= (guint) g_ascii_xdigit_value (text[i]);
  }
  return code == 0 ? "\\u0000 in a string" : NULL;
}

/* Moves @pos from the opening quote to the closing one. Returns: the fault
 * of the string, or NULL */
static const gchar *
skip_string (const gchar *text, gsize size, gsize *pos)
{
  for (++*pos; *pos < size && text[*pos] != '"'; ++*pos) {
    if ((guchar) text[*pos] < 0x20)
      return "control character in a string";
    if (text[*pos] == '\\') {
      const gchar *bad = find_bad_escape (text + *pos, size - *pos);

      if (bad != NULL)
        return bad;
      ++*pos;
    }
  }
  return *pos < size ? NULL : "ends within a string";
}

/* Finds faults that json-glib 1.6 does not refuse: deep nesting, for which
 * it recurses without a limit, comments, single quotes, and text after the
 * object. Returns: the fault at @pos, or NULL */
static const gchar *
find_bad_syntax (const gchar *text, gsize size, gsize *pos)
{
  static const gchar others[] = ",: \t\n\r0123456789+-.eEtrufalsn";
  gchar closing[MAX_DEPTH];
  const gchar *bad;
  guint depth = 0;
  gboolean begun = FALSE;

  for (*pos = 0; *pos < size; ++*pos) {
    const gchar c = text[*pos];

    if (depth == 0 && strchr (" \t\n\r", c) && c)
      continue;
    if (depth == 0 && (begun || c != '{'))
      return begun ? "text follows the object" : "an object must begin here";
    if (c == '{' || c == '[') {
      if (depth == MAX_DEPTH)
        return "nested deeper than " G_STRINGIFY (MAX_DEPTH);
      closing[depth++] = c == '{' ? '}' : ']';
      begun = TRUE;
    } else if (c == '}' || c == ']') {
      if (closing[--depth] != c)
        return "the closing bracket does not match";
    } else if (c == '"') {
      bad = skip_string (text, size, pos);
      if (bad != NULL)
        return bad;
    } else if (!c || !strchr (others, c)) {
      return "unexpected character";
    }
  }
  if (depth > 0)
    return "ends within an object";
  return begun ? NULL : "an object must begin here";
}

/* Names read so far in the open objects. json-glib keeps the last of two
 * members with the same name. */
typedef struct {
  guint members[MAX_DEPTH + 1];
  guint depth;
  gchar *twice;
} MemberCount;

static void
begin_object (JsonParser *parser, MemberCount *count)
{
  count->members[++count->depth] = 0;
}

static void
end_object (JsonParser *parser, JsonObject *object, MemberCount *count)
{
  count->depth--;
}

static void
count_member (JsonParser *parser, JsonObject *object, const gchar *name,
    MemberCount *count)
{
  if (json_object_get_size (object) != ++count->members[count->depth]
      && count->twice == NULL)
    count->twice = g_strescape (name, NULL);
}

static gboolean
load_json (PbfSafetensors *file, const gchar *text, gsize size, GError **error)
{
  MemberCount count = { .depth = 0 };
  GError *json_error = NULL;
  gboolean ok;

  g_signal_connect (
      file->parser, "object-start", G_CALLBACK (begin_object), &count);
  g_signal_connect (
      file->parser, "object-member", G_CALLBACK (count_member), &count);
  g_signal_connect (
      file->parser, "object-end", G_CALLBACK (end_object), &count);
  ok = json_parser_load_from_data (
      file->parser, text, (gssize) size, &json_error);
  g_signal_handlers_disconnect_by_data (file->parser, &count);
  if (!ok)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "header: %s",
        json_error->message);
  else if (count.twice != NULL)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "header: the name \"%.200s\" occurs twice in one object", count.twice);
  g_clear_error (&json_error);
  ok = ok && count.twice == NULL;
  g_free (count.twice);
  return ok;
}

static gboolean
parse_header (
    PbfSafetensors *file, const gchar *text, gsize length, GError **error)
{
  gsize pos;
  const gchar *bad = find_bad_syntax (text, length, &pos);

  if (bad != NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "header: JSON, byte %" G_GSIZE_FORMAT ": %s", pos, bad);
    return FALSE;
  }
  if (!load_json (file, text, length, error))
    return FALSE;
  if (!JSON_NODE_HOLDS_OBJECT (json_parser_get_root (file->parser))) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "header: it is not a JSON object");
    return FALSE;
  }
  return TRUE;
}

gboolean
pbf_safetensors_open (
    PbfSafetensors *file, const guint8 *bytes, gsize size, GError **error)
{
  gsize length = header_length (bytes, size, error);

  if (!length)
    return FALSE;
  file->parser = json_parser_new ();
  file->tensors = g_array_new (FALSE, FALSE, sizeof (PbfTensor));
  file->metadata = NULL;
  if (!parse_header (file, (const gchar *) bytes + 8, length, error)
      || !read_entries (file,
          json_node_get_object (json_parser_get_root (file->parser)),
          bytes + 8 + length, size - 8 - length, error)) {
    pbf_safetensors_close (file);
    return FALSE;
  }
  return TRUE;
}

void
pbf_safetensors_close (PbfSafetensors *file)
{
  g_array_unref (file->tensors);
  g_object_unref (file->parser);
}

const PbfTensor *
pbf_safetensors_find (const PbfSafetensors *file, const gchar *name)
{
  for (guint i = 0; i < file->tensors->len; i++) {
    const PbfTensor *tensor = &g_array_index (file->tensors, PbfTensor, i);

    if (!strcmp (tensor->name, name))
      return tensor;
  }
  return NULL;
}

const gchar *
pbf_safetensors_metadata (const PbfSafetensors *file, const gchar *key)
{
  return file->metadata
             ? get_string (json_object_get_member (file->metadata, key))
             : NULL;
}

gchar *
pbf_tensor_format_shape (const PbfTensor *tensor)
{
  GString *s = g_string_new ("[");
  guint n = json_array_get_length (tensor->shape);

  for (guint i = 0; i < MIN (n, 8); i++)
    g_string_append_printf (s, i ? ", %" G_GINT64_FORMAT : "%" G_GINT64_FORMAT,
        json_array_get_int_element (tensor->shape, i));
  g_string_append (s, n > 8 ? ", ...]" : "]");
  return g_string_free (s, FALSE);
}
