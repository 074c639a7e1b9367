/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reader of safetensors files (github.com/huggingface/safetensors, format of
 * version 0.4): 8 bytes of header length, a JSON header, then the tensors'
 * bytes. The whole header is checked before any of it is used. */
#pragma once

#include "cuda/core/error.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Bytes; headers of supported networks have less than 1 KiB. */
#define PBF_SAFETENSORS_MAX_HEADER (1 << 20)

/**
 * PbfTensor:
 * @name: of the tensor
 * @dtype: "F32" and so on; any string
 * @shape: non-negative integers; their product is the number of values
 * @begin, @end: of its bytes in the data, @begin <= @end
 * @data: the bytes, of any alignment, little-endian
 */
typedef struct {
  const gchar *name;
  const gchar *dtype;
  JsonArray *shape;
  guint64 begin, end;
  const guint8 *data;
} PbfTensor;

/**
 * PbfSafetensors:
 * @tensors: of #PbfTensor, in the order of their bytes
 * @metadata: (nullable): strings by name
 *
 * Points into the bytes it was opened with, which the caller keeps.
 */
typedef struct {
  JsonParser *parser;
  GArray *tensors;
  JsonObject *metadata;
} PbfSafetensors;

/* Returns: FALSE with CVIS_ERROR_FORMAT naming the tensor or field: a wrong
 * header length, invalid JSON, entries of a wrong type, sizes that do not
 * match dtype and shape, tensors that overlap or leave gaps. On FALSE
 * nothing needs closing. */
gboolean pbf_safetensors_open (
    PbfSafetensors *file, const guint8 *bytes, gsize size, GError **error);
void pbf_safetensors_close (PbfSafetensors *file);

/* Returns: (nullable): */
const PbfTensor *pbf_safetensors_find (
    const PbfSafetensors *file, const gchar *name);
/* Returns: (nullable): */
const gchar *pbf_safetensors_metadata (
    const PbfSafetensors *file, const gchar *key);
/* "[164, 40]", of at most 8 dimensions. Free with g_free(). */
gchar *pbf_tensor_format_shape (const PbfTensor *tensor);

G_END_DECLS
