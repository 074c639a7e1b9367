/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clouds in PLY files */
#include <math.h>
#include <string.h>
#include "cuda/bundle/formats/cloud.h"
#include "cuda/bundle/formats/codecs.h"
#include "cuda/core/cancel.h"

/* --- writing ------------------------------------------------------------------ */

static guint32
float_bits (gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof (bits));
  return GUINT32_TO_LE (bits);
}

GBytes *
bundle_cloud_write (const BundleCloud *cloud, GError **error)
{
  BundleText text = { 0 };

  bundle_text_string (&text,
      "ply\nformat binary_little_endian 1.0\n"
      "comment points and cameras of a reconstruction\nelement vertex");
  bundle_text_integer (&text, ' ', cloud->n_vertices);
  bundle_text_string (&text,
      "\nproperty float x\nproperty float y\nproperty float z\n"
      "property uchar red\nproperty uchar green\nproperty uchar blue\n"
      "element edge");
  bundle_text_integer (&text, ' ', cloud->n_edges);
  bundle_text_string (&text,
      "\nproperty int vertex1\nproperty int vertex2\n"
      "property uchar red\nproperty uchar green\nproperty uchar blue\n"
      "end_header\n");
  for (gsize i = 0; i < cloud->n_vertices && !cvis_cancelled_at (i); i++) {
    guint32 at[3];

    for (guint k = 0; k < 3; k++)
      at[k] = float_bits (cloud->positions[3 * i + k]);
    bundle_text_bytes (&text, at, sizeof (at));
    bundle_text_bytes (&text, cloud->colours + 3 * i, 3);
  }
  for (gsize i = 0; i < cloud->n_edges; i++) {
    guint32 ends[2];

    for (guint k = 0; k < 2; k++)
      ends[k] = GUINT32_TO_LE (cloud->edges[2 * i + k]);
    bundle_text_bytes (&text, ends, sizeof (ends));
    bundle_text_bytes (
        &text, cloud->colours + 3 * (gsize) cloud->edges[2 * i], 3);
  }
  return bundle_text_finish (&text, error);
}

/* --- reading ------------------------------------------------------------------ */

#define MAX_STRIDE 65536u
#define NO_COLOUR 190

/* 'i' signed, 'u' unsigned, 'f' floating point */
static const struct {
  const gchar *name;
  guint size;
  gchar kind;
} ply_types[] = { { "char", 1, 'i' }, { "uchar", 1, 'u' }, { "short", 2, 'i' },
  { "ushort", 2, 'u' }, { "int", 4, 'i' }, { "uint", 4, 'u' },
  { "float", 4, 'f' }, { "double", 8, 'f' }, { "int8", 1, 'i' },
  { "uint8", 1, 'u' }, { "int16", 2, 'i' }, { "uint16", 2, 'u' },
  { "int32", 4, 'i' }, { "uint32", 4, 'u' }, { "float32", 4, 'f' },
  { "float64", 8, 'f' } };

/* Meanings of properties */
enum { X, Y, Z, RED, GREEN, BLUE, VERTEX1, VERTEX2, N_MEANINGS };

/* Of several names of a colour in a file the first of this list counts. */
static const struct {
  const gchar *name;
  guint meaning;
} ply_names[] = { { "x", X }, { "y", Y }, { "z", Z }, { "red", RED },
  { "green", GREEN }, { "blue", BLUE }, { "diffuse_red", RED },
  { "diffuse_green", GREEN }, { "diffuse_blue", BLUE }, { "r", RED },
  { "g", GREEN }, { "b", BLUE }, { "vertex1", VERTEX1 },
  { "vertex2", VERTEX2 } };

/**
 * Property: of an element, with a meaning
 * @present: whether the file has it
 * @name: index in ply_names
 * @type: index in ply_types
 * @offset: bytes from the start of a binary element
 * @index: number of fields before it in a line of ASCII
 */
typedef struct {
  gboolean present;
  guint name, type, offset, index;
} Property;

/**
 * Element:
 * @present, @list: whether the file has it, and whether one of its
 *   properties is a list
 * @n, @stride, @fields: number, bytes of each, fields of each
 */
typedef struct {
  gboolean present, list;
  guint64 n;
  guint stride, fields;
  Property properties[N_MEANINGS];
} Element;

enum { VERTICES, EDGES, OTHER, N_ELEMENTS };

typedef enum { ASCII, LITTLE, BIG } Coding;

static gboolean
read_property (BundleScanner *s, Element *element, GError **error)
{
  g_autofree gchar *type = NULL, *name = NULL;
  const gchar *at;
  guint t = 0;

  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_word (s, "type of a property", &type, error))
    return FALSE;
  while (t < G_N_ELEMENTS (ply_types) && strcmp (type, ply_types[t].name) != 0)
    t++;
  if (strcmp (type, "list") == 0) {
    element->list = TRUE;
    return TRUE;
  }
  if (t == G_N_ELEMENTS (ply_types))
    return bundle_scan_fault (
        s, at, "type of a property", error, "it is unknown");
  if (!bundle_scan_word (s, "name of a property", &name, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (ply_names); i++) {
    const guint meaning = ply_names[i].meaning;
    Property *property = &element->properties[meaning];

    if (strcmp (name, ply_names[i].name) != 0
        || (property->present && property->name <= i))
      continue;
    if ((meaning <= Z && ply_types[t].kind != 'f')
        || (meaning >= VERTEX1
            && (ply_types[t].kind == 'f' || ply_types[t].size < 4)))
      return bundle_scan_fault (s, at, "type of a property", error,
          "%s is not supported for %s", type, name);
    *property = (Property){ TRUE, i, t, element->stride, element->fields };
  }
  element->stride += ply_types[t].size;
  element->fields++;
  if (element->stride > MAX_STRIDE)
    return bundle_scan_fault (s, at, "property", error,
        "an element has more than %u bytes", MAX_STRIDE);
  return TRUE;
}

/* Parses the line at s->at. @current: the element that it belongs to */
static gboolean
read_element (
    BundleScanner *s, Element *elements, guint *current, GError **error)
{
  const guint last = *current;
  g_autofree gchar *name = NULL;
  const gchar *at;
  Element *element;

  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_word (s, "name of an element", &name, error))
    return FALSE;
  *current = strcmp (name, "vertex") == 0 ? VERTICES
             : strcmp (name, "edge") == 0 ? EDGES
                                          : OTHER;
  element = &elements[*current];
  if (*current != OTHER && (element->present || last == OTHER))
    return bundle_scan_fault (s, at, "name of an element", error,
        "%s occurs twice or after another element", name);
  if (*current == EDGES && !elements[VERTICES].present)
    return bundle_scan_fault (
        s, at, "name of an element", error, "edge is before vertex");
  element->present = TRUE;
  return bundle_scan_integer (
      s, "number of an element", 0, G_MAXUINT32, &element->n, error);
}

static gboolean
read_header_line (
    BundleScanner *s, Element *elements, guint *current, GError **error)
{
  const gchar *at = s->at;
  g_autofree gchar *word = NULL;
  gboolean ok = TRUE;

  if (!bundle_scan_word (s, "header", &word, error))
    return FALSE;
  if (strcmp (word, "element") == 0)
    ok = read_element (s, elements, current, error);
  else if (strcmp (word, "property") == 0)
    ok = *current < N_ELEMENTS ? read_property (s, &elements[*current], error)
                               : bundle_scan_fault (s, at, "property", error,
                                   "no element precedes it");
  else if (strcmp (word, "comment") != 0 && strcmp (word, "obj_info") != 0)
    ok = bundle_scan_fault (s, at, "header", error,
        "it must be element, property, comment or end_header");
  bundle_scan_skip_line (s);
  return ok;
}

static gboolean
read_format_line (BundleScanner *s, Coding *coding, GError **error)
{
  static const gchar *const names[] = { "ascii", "binary_little_endian",
    "binary_big_endian" };
  g_autofree gchar *word = NULL, *name = NULL;
  const gchar *at = s->at;
  guint i = 0;

  if (!bundle_scan_word (s, "format", &word, error)
      || !bundle_scan_word (s, "format", &name, error))
    return FALSE;
  while (i < G_N_ELEMENTS (names) && strcmp (name, names[i]) != 0)
    i++;
  if (strcmp (word, "format") != 0 || i == G_N_ELEMENTS (names))
    return bundle_scan_fault (s, at, "format", error,
        "it must be ascii, binary_little_endian or binary_big_endian");
  *coding = i;
  bundle_scan_skip_line (s);
  return TRUE;
}

static gboolean
read_ply_header (
    BundleScanner *s, Element *elements, Coding *coding, GError **error)
{
  guint current = N_ELEMENTS;

  bundle_scan_skip_line (s);
  if (!read_format_line (s, coding, error))
    return FALSE;
  while (bundle_scan_line (s)) {
    if (s->end - s->at >= 10 && memcmp (s->at, "end_header", 10) == 0) {
      bundle_scan_skip_line (s);
      return TRUE;
    }
    if (!read_header_line (s, elements, &current, error))
      return FALSE;
  }
  return bundle_scan_fault (
      s, s->end, "header", error, "the text ends before end_header");
}

static gboolean
check_elements (const BundleScanner *s, const Element *elements, Coding coding,
    GError **error)
{
  const Element *vertices = &elements[VERTICES], *edges = &elements[EDGES];
  guint64 least = 0;

  for (guint i = X; i <= Z; i++)
    if (!vertices->present || !vertices->properties[i].present)
      return bundle_scan_fault (s, s->at, "header", error,
          "vertices have no property %s", ply_names[i].name);
  if (edges->present
      && (!edges->properties[VERTEX1].present
          || !edges->properties[VERTEX2].present))
    return bundle_scan_fault (
        s, s->at, "header", error, "edges have no vertex1 or vertex2");
  if (vertices->list || edges->list)
    return bundle_scan_fault (s, s->at, "header", error,
        "lists are not supported for vertices and edges");
  /* a field of text is a digit and a blank or the end of the file */
  for (guint i = VERTICES; i <= EDGES; i++)
    least += elements[i].n
             * (coding == ASCII ? 2 * (guint64) elements[i].fields
                                : elements[i].stride);
  if (least > (guint64) (s->end - s->at) + (coding == ASCII))
    return bundle_scan_fault (
        s, s->at, "end", error, "the file ends within its elements");
  return TRUE;
}

/* --- values ------------------------------------------------------------------- */

static gdouble
decode_value (const gchar *at, guint type, gboolean big)
{
  const guint size = ply_types[type].size;
  const gchar kind = ply_types[type].kind;
  guint64 bits = 0;

  for (guint i = 0; i < size; i++)
    bits |= (guint64) (guchar) at[i] << 8 * (big ? size - 1 - i : i);
  if (kind == 'f' && size == 4) {
    const guint32 half = (guint32) bits;
    gfloat value;

    memcpy (&value, &half, 4);
    return value;
  }
  if (kind == 'f') {
    gdouble value;

    memcpy (&value, &bits, 8);
    return value;
  }
  if (kind == 'i' && bits >> (8 * size - 1))
    return (gdouble) bits - ldexp (1, (gint) (8 * size));
  return (gdouble) bits;
}

/* Reads the values of the next element that have a meaning.
 * @i: its number, for errors */
static gboolean
read_values (BundleScanner *s, const Element *element, Coding coding,
    const gchar *what, gsize i, gdouble values[N_MEANINGS], GError **error)
{
  const gchar *at = s->at;

  if (coding != ASCII) {
    for (guint k = 0; k < N_MEANINGS; k++) {
      const Property *property = &element->properties[k];

      if (property->present)
        values[k] =
            decode_value (at + property->offset, property->type, coding == BIG);
    }
    s->at += element->stride;
    return TRUE;
  }
  if (!bundle_scan_line (s))
    return bundle_scan_fault (s, s->at, "end", error,
        "the file ends before %s %" G_GSIZE_FORMAT, what, i);
  for (guint field = 0; field < element->fields; field++) {
    const gchar *name = what;
    guint meaning = N_MEANINGS;

    for (guint k = 0; k < N_MEANINGS; k++)
      if (element->properties[k].present
          && element->properties[k].index == field) {
        meaning = k;
        name = ply_names[element->properties[k].name].name;
      }
    if (!bundle_scan_more (s))
      return bundle_scan_fault (s, s->at, name, error,
          "the line has %u of %u fields", field, element->fields);
    if (meaning < N_MEANINGS
        && !bundle_scan_number (s, name, &values[meaning], error))
      return FALSE;
    while (s->at < s->end && !g_ascii_isspace (*s->at))
      s->at++;
  }
  bundle_scan_skip_line (s);
  return TRUE;
}

/* Colours of floating point are 0 to 1, those of 16 bits 0 to 65535. */
static guint8
convert_colour (gdouble value, guint type)
{
  const gdouble scale = ply_types[type].kind == 'f' ? 255
                        : ply_types[type].size == 2 ? 1 / 257.0
                                                    : 1;

  value *= scale;
  return (guint8) (value >= 0 ? rint (MIN (value, 255)) : 0);
}

static gboolean
refuse_value (const BundleScanner *s, const gchar *at, const gchar *what,
    gsize i, Coding coding, guint meaning, GError **error, const gchar *why)
{
  if (coding == ASCII)
    return bundle_scan_fault (s, at, ply_names[meaning].name, error, "%s", why);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "%s %" G_GSIZE_FORMAT ", %s: %s", what, i, ply_names[meaning].name, why);
  return FALSE;
}

static gboolean
read_vertices (BundleCloud *cloud, BundleScanner *s, const Element *element,
    Coding coding, GError **error)
{
  for (gsize i = 0; i < element->n && !cvis_cancelled_at (i); i++) {
    const gchar *at = s->at;
    gdouble values[N_MEANINGS] = { 0 };

    if (!read_values (s, element, coding, "vertex", i, values, error))
      return FALSE;
    for (guint k = 0; k < 3; k++) {
      const Property *colour = &element->properties[RED + k];

      cloud->positions[3 * i + k] = (gfloat) values[X + k];
      if (!isfinite (cloud->positions[3 * i + k]))
        return refuse_value (s, at, "Vertex", i, coding, X + k, error,
            "the value is not finite");
      cloud->colours[3 * i + k] =
          colour->present ? convert_colour (values[RED + k], colour->type)
                          : NO_COLOUR;
    }
  }
  cloud->n_vertices = (guint) element->n;
  return TRUE;
}

static gboolean
read_edges (BundleCloud *cloud, BundleScanner *s, const Element *element,
    Coding coding, GError **error)
{
  for (gsize i = 0; i < element->n && !cvis_cancelled_at (i); i++) {
    const gchar *at = s->at;
    gdouble values[N_MEANINGS] = { 0 };

    if (!read_values (s, element, coding, "edge", i, values, error))
      return FALSE;
    for (guint k = 0; k < 2; k++) {
      const gdouble vertex = values[VERTEX1 + k];

      if (!(vertex >= 0 && vertex < cloud->n_vertices)
          || vertex != floor (vertex)) {
        g_autofree gchar *why =
            g_strdup_printf ("there is no vertex %g", vertex);

        return refuse_value (s, at, "Edge", i, coding, VERTEX1 + k, error, why);
      }
      cloud->edges[2 * i + k] = (guint32) vertex;
    }
  }
  cloud->n_edges = (guint) element->n;
  return TRUE;
}

BundleCloud *
bundle_cloud_read (const gchar *data, gsize size, GError **error)
{
  BundleScanner s = bundle_scan_new ("", data, size, TRUE);
  Element elements[N_ELEMENTS] = { 0 };
  BundleCloud *cloud;
  Coding coding = ASCII;

  if (s.end - s.at < 4 || memcmp (s.at, "ply", 3) != 0
      || (guchar) s.at[3] > ' ') {
    bundle_scan_fault (&s, s.at, "start", error, "it is not \"ply\"");
    return NULL;
  }
  if (!read_ply_header (&s, elements, &coding, error)
      || !check_elements (&s, elements, coding, error))
    return NULL;
  cloud =
      bundle_cloud_allocate (elements[VERTICES].n, elements[EDGES].n, error);
  if (cloud
      && (!read_vertices (cloud, &s, &elements[VERTICES], coding, error)
          || !read_edges (cloud, &s, &elements[EDGES], coding, error)))
    g_clear_pointer (&cloud, bundle_cloud_free);
  if (cvis_cancelled ()) {
    g_clear_pointer (&cloud, bundle_cloud_free);
    cvis_refuse_cancelled (error);
  }
  return cloud;
}
