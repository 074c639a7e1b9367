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
  /* @slot: 0..depth-1, free until wait() of it; batches come in the order of
   * their slots, and are waited for in that order. @position: frames of the
   * stream before the batch, lost ones counted, but for its own first gap. */
  gboolean (*submit) (PbfBackend *backend, guint slot, PbfBatch *batch,
      guint64 position, GError **error);
  gboolean (*wait) (
      PbfBackend *backend, guint slot, PbfBatch *batch, GError **error);
  void (*reset) (PbfBackend *backend);
  /* Has the backend given up its own way for another one? NULL: never does. */
  gboolean (*has_fallen_back) (PbfBackend *backend);
} PbfBackendOps;

extern const PbfBackendOps pbf_backend_cpu;
extern const PbfBackendOps pbf_backend_cuda;     /* only where CUDA is built */
extern const PbfBackendOps pbf_backend_resident; /* mode=persistent */

G_END_DECLS
