/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Interface of the lifting engine's backends. Private to the library. */
#pragma once

#include "cuda/lifting/engine.h"
#include "cuda/lifting/plan.h"

G_BEGIN_DECLS

/**
 * LwtPlan: settings and sizes known before the first surface
 * @config: checked; its wavelet is @wavelet
 * @pad: samples of padding on each side, [0] along x; 0 without padding
 * @width, @height: of the padded picture
 * @bands: the levels of `levels`, for forward, inverse, denoise and BANDS
 * @parts: levels for the components in order: the first n_noise lead to the
 *   low band below the noise, the first n_roughness to the one below the
 *   roughness, all of them to the form
 */
typedef struct {
  LwtConfig config;
  LwtWavelet wavelet;
  guint pad[2];
  guint width, height;
  LwtChain bands;
  LwtChain parts;
  guint n_noise;
  guint n_roughness;
} LwtPlan;

/* Checks @config and computes @plan. */
gboolean lwt_plan_init (LwtPlan *plan, const LwtConfig *config, GError **error);

/* Whether the operation is a filter other than wavelet-decimated, without levels. */
gboolean lwt_config_is_smoothing (const LwtConfig *config);

typedef struct _LwtBackend LwtBackend;

/* Whether a component of @job is computed, as output or to be measured. */
static inline gboolean
lwt_job_makes (const LwtJob *job, guint part)
{
  return job->parts[part].data != NULL || (job->measured & (1u << part)) != 0;
}

/* Whether parameters of a component of @job are computed. */
static inline gboolean
lwt_job_measures (const LwtConfig *config, const LwtJob *job, guint part)
{
  return (config->parameters & (1u << part)) != 0 && lwt_job_makes (job, part);
}

typedef struct {
  const gchar *name;
  /* @plan has to outlive the backend. */
  LwtBackend *(*create) (
      const LwtPlan *plan, CvisContext *context, GError **error);
  void (*destroy) (LwtBackend *backend);
  /* Starts @job in @slot (below depth_in_flight), which is free since its
   * last wait(). Jobs are waited for in order. After FALSE the slot is not
   * waited for. */
  gboolean (*submit) (
      LwtBackend *backend, guint slot, LwtJob *job, GError **error);
  /* On return all results of the job are complete. */
  gboolean (*wait) (LwtBackend *backend, guint slot, GError **error);
  /* (nullable): see lwt_engine_describe() */
  const gchar *(*describe) (LwtBackend *backend);
  /* See lwt_backend_get_memory(). */
  gboolean (*get_memory) (const LwtPlan *plan, CvisContext *context,
      gsize *needed, gsize *limit, GError **error);
} LwtBackendOps;

extern const LwtBackendOps lwt_backend_cpu;
extern const LwtBackendOps lwt_backend_cuda; /* only where CUDA is built */

/* Bytes of device memory that surfaces of @plan need in one piece, and bytes that may be
 * used. On the CPU, which may pose as a device, an estimate and device_memory. */
gboolean lwt_backend_get_memory (const LwtPlan *plan, CvisContext *context,
    gsize *needed, gsize *limit, GError **error);

/* lwt_engine_new() on a given backend, for tests. */
LwtEngine *lwt_engine_new_on (const LwtBackendOps *ops, const LwtConfig *config,
    CvisContext *context, GError **error);

G_END_DECLS
