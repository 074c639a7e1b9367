/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The properties backend, active-backend and cuda-device-id of the elements that
 * compute, and the choice between CPU and CUDA. */
#pragma once

#include <gst/gst.h>
#include "cuda/core/backend.h"

G_BEGIN_DECLS

#define GST_TYPE_CVIS_BACKEND (gst_cvis_backend_get_type ())
GType gst_cvis_backend_get_type (void);

/**
 * GstCvisBackend: embedded in an element; guarded by its object lock
 * @wanted, @device_id: the properties
 * @active: the choice of gst_cvis_backend_start(); AUTO before
 */
typedef struct {
  CvisBackend wanted;
  gint device_id;
  CvisBackend active;
} GstCvisBackend;

void gst_cvis_backend_init (GstCvisBackend *backend);

/* Installs the three properties as @first_id, @first_id + 1, @first_id + 2. */
void gst_cvis_backend_install_properties (GObjectClass *klass, guint first_id);

/* For the default case of the element's set_property and get_property.
 * Returns: FALSE if @pspec is none of the three. */
gboolean gst_cvis_backend_set_property (GstCvisBackend *backend,
    GObject *object, const GValue *value, GParamSpec *pspec);
gboolean gst_cvis_backend_get_property (
    GstCvisBackend *backend, GObject *object, GValue *value, GParamSpec *pspec);

/* Chooses the backend; called from READY to PAUSED. If "auto" falls back to the
 * CPU, it logs that (INFO) and posts the element message "ELEMENT-backend" with
 * the fields backend, device-id and reason; if "cuda" is not available it posts
 * GST_ELEMENT_ERROR (RESOURCE, NOT_FOUND) with CUDA's error text.
 * @context: (out): a new reference for CUDA, else %NULL
 * Returns: FALSE after posting the error. */
gboolean gst_cvis_backend_start (
    GstCvisBackend *backend, GstElement *element, CvisContext **context);
/* The same for settings that only the CPU supports; @why_not: "filter=spline
 * is computed on the CPU". "auto" says so as above, "cuda" is an error.
 * Returns: FALSE after posting the error. */
gboolean gst_cvis_backend_start_cpu (
    GstCvisBackend *backend, GstElement *element, const gchar *why_not);
void gst_cvis_backend_stop (GstCvisBackend *backend, GstElement *element);

G_END_DECLS
