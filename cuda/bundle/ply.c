/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clouds in PLY files */
#include <math.h>
#include <string.h>
#include "cuda/bundle/cloud.h"
#include "cuda/bundle/codecs.h"
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

static const struct {
  const gchar *name;
  guint size;
} ply_types[] = { { "char", 1 }, { "uchar", 1 }, { "short", 2 },
  { "ushort", 2 }, { "int", 4 }, { "uint", 4 }, { "float", 4 }, { "double", 8 },
  { "int8", 1 }, { "uint8", 1 }, { "int16", 2 }, { "uint16", 2 },
  { "int32", 4 }, { "uint32", 4 }, { "float32", 4 }, { "float64", 8 } };

/* Supported properties and their types: 'f' float or double, 'b' byte, 'i'
 * integer */
static const struct {
  const gchar *name;
  gchar type;
} ply_properties[] = { { "x", 'f' }, { "y", 'f' }, { "z", 'f' }, { "red", 'b' },
  { "green", 'b' }, { "blue", 'b' }, { "vertex1", 'i' }, { "vertex2", 'i' } };

/**
 * Element:
 * @present, @list: whether the file has it, and whether one of its
 *   properties is a list
 * @n, @stride: number, bytes of each
 * @offset: of the supported properties; -1: absent
 * @wide: whether they are doubles
 */
typedef struct {
  gboolean present, list;
  guint64 n;
  guint stride;
  gint offset[G_N_ELEMENTS (ply_properties)];
  gboolean wide[G_N_ELEMENTS (ply_properties)];
} Element;

enum { VERTICES, EDGES, OTHER, N_ELEMENTS };

static gboolean
read_property (BundleScanner *s, Element *element, GError **error)
{
  g_autofree gchar *type = NULL, *name = NULL;
  const gchar *at;
  guint size = 0;

  bundle_scan_more (s);
  at = s->at;
  if (!bundle_scan_word (s, "type of a property", &type, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (ply_types); i++)
    if (strcmp (type, ply_types[i].name) == 0)
      size = ply_types[i].size;
  element->list |= strcmp (type, "list") == 0;
  if (size == 0 && !element->list)
    return bundle_scan_fault (
        s, at, "type of a property", error, "it is unknown");
  if (!bundle_scan_word (s, "name of a property", &name, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (ply_properties); i++) {
    const gchar kind = ply_properties[i].type;

    if (strcmp (name, ply_properties[i].name) != 0)
      continue;
    if (kind == 'b'   ? size != 1
        : kind == 'i' ? size != 4 || *type == 'f'
                      : *type != 'f' && *type != 'd')
      return bundle_scan_fault (s, at, "type of a property", error,
          "%s is not supported for %s", type, name);
    element->offset[i] = (gint) element->stride;
    element->wide[i] = size == 8;
  }
  element->stride += size;
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
read_header (BundleScanner *s, Element *elements, GError **error)
{
  guint current = N_ELEMENTS;

  for (guint i = 0; i < N_ELEMENTS; i++)
    for (guint k = 0; k < G_N_ELEMENTS (ply_properties); k++)
      elements[i].offset[k] = -1;
  bundle_scan_skip_line (s);
  if (s->end - s->at < 27
      || memcmp (s->at, "format binary_little_endian", 27) != 0)
    return bundle_scan_fault (
        s, s->at, "format", error, "it must be binary_little_endian 1.0");
  bundle_scan_skip_line (s);
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

static gfloat
get_number (const gchar *at, gboolean wide)
{
  union {
    guint32 bits;
    gfloat value;
  } narrow;
  union {
    guint64 bits;
    gdouble value;
  } full;

  if (!wide) {
    memcpy (&narrow.bits, at, 4);
    narrow.bits = GUINT32_FROM_LE (narrow.bits);
    return narrow.value;
  }
  memcpy (&full.bits, at, 8);
  full.bits = GUINT64_FROM_LE (full.bits);
  return (gfloat) full.value;
}

static gboolean
check_elements (const BundleScanner *s, const Element *elements, GError **error)
{
  const Element *vertices = &elements[VERTICES], *edges = &elements[EDGES];

  for (guint i = 0; i < 3; i++)
    if (!vertices->present || vertices->offset[i] < 0)
      return bundle_scan_fault (s, s->at, "header", error,
          "vertices have no property %s", ply_properties[i].name);
  if (edges->present && (edges->offset[6] < 0 || edges->offset[7] < 0))
    return bundle_scan_fault (
        s, s->at, "header", error, "edges have no vertex1 or vertex2");
  if (vertices->list || edges->list)
    return bundle_scan_fault (s, s->at, "header", error,
        "lists are not supported for vertices and edges");
  if (vertices->n * vertices->stride + edges->n * edges->stride
      > (guint64) (s->end - s->at))
    return bundle_scan_fault (
        s, s->at, "end", error, "the file ends within its elements");
  return TRUE;
}

static gboolean
read_elements (BundleCloud *cloud, const BundleScanner *s,
    const Element *elements, GError **error)
{
  const Element *vertices = &elements[VERTICES], *edges = &elements[EDGES];
  const gchar *at = s->at;

  for (gsize i = 0; i < vertices->n; i++, at += vertices->stride)
    for (guint k = 0; k < 3; k++) {
      const gfloat value =
          get_number (at + vertices->offset[k], vertices->wide[k]);

      if (!isfinite (value)) {
        g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
            "Vertex %" G_GSIZE_FORMAT ", %s: the value is not finite", i,
            ply_properties[k].name);
        return FALSE;
      }
      cloud->positions[3 * i + k] = value;
      cloud->colours[3 * i + k] = vertices->offset[3 + k] < 0
                                      ? 190
                                      : (guint8) at[vertices->offset[3 + k]];
    }
  for (gsize i = 0; i < edges->n; i++, at += edges->stride)
    for (guint k = 0; k < 2; k++) {
      guint32 vertex;

      memcpy (&vertex, at + edges->offset[6 + k], 4);
      vertex = GUINT32_FROM_LE (vertex);
      if (vertex >= vertices->n) {
        g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
            "Edge %" G_GSIZE_FORMAT ", %s: there is no vertex %u", i,
            ply_properties[6 + k].name, vertex);
        return FALSE;
      }
      cloud->edges[2 * i + k] = vertex;
    }
  cloud->n_vertices = (guint) vertices->n;
  cloud->n_edges = (guint) edges->n;
  return TRUE;
}

BundleCloud *
bundle_cloud_read (const gchar *data, gsize size, GError **error)
{
  BundleScanner s = { "", data, data, data + size, TRUE };
  Element elements[N_ELEMENTS] = { 0 };
  BundleCloud *cloud;

  if (size < 4 || memcmp (data, "ply", 3) != 0 || (guchar) data[3] > ' ') {
    bundle_scan_fault (&s, data, "start", error, "it is not \"ply\"");
    return NULL;
  }
  if (!read_header (&s, elements, error)
      || !check_elements (&s, elements, error))
    return NULL;
  cloud =
      bundle_cloud_allocate (elements[VERTICES].n, elements[EDGES].n, error);
  if (cloud && !read_elements (cloud, &s, elements, error))
    g_clear_pointer (&cloud, bundle_cloud_free);
  return cloud;
}
