/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Interface of the melt-pool engine's backends. Private to the library. */
#pragma once

#include "cuda/meltpool/params.h"

G_BEGIN_DECLS

typedef struct _PbfBackend PbfBackend;

typedef struct {
  const gchar *name;
  PbfBackend *(*create) (const PbfConfig *config, const PbfParams *params,
      PbfModel *model, CvisContext *context, GError **error);
  void (*destroy) (PbfBackend *backend);
  /* @slot: 0..depth-1, free since its wait(); batches are submitted in the
   *   order of the slots and waited for in that order. @position: frames of
   *   the stream before the batch, including lost ones except those directly
   *   before its first frame. */
  gboolean (*submit) (PbfBackend *backend, guint slot, PbfBatch *batch,
      guint64 position, GError **error);
  gboolean (*wait) (
      PbfBackend *backend, guint slot, PbfBatch *batch, GError **error);
  void (*reset) (PbfBackend *backend);
  /* Whether another backend has taken over. NULL: never */
  gboolean (*has_fallen_back) (PbfBackend *backend);
} PbfBackendOps;

extern const PbfBackendOps pbf_backend_cpu;
extern const PbfBackendOps pbf_backend_cuda;     /* only where CUDA is built */
extern const PbfBackendOps pbf_backend_resident; /* mode=persistent */

G_END_DECLS
