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

#define GST_TYPE_CV_BACKEND (gst_cv_backend_get_type ())
GType gst_cv_backend_get_type (void);

/**
 * GstCvBackend: embedded in an element; guarded by its object lock
 * @wanted, @device_id: the properties
 * @active: the choice of gst_cv_backend_start(); AUTO before
 */
typedef struct {
  CvisBackend wanted;
  gint device_id;
  CvisBackend active;
} GstCvBackend;

void gst_cv_backend_init (GstCvBackend *backend);

/* Installs the three properties as @first_id, @first_id + 1, @first_id + 2. */
void gst_cv_backend_install_properties (GObjectClass *klass, guint first_id);

/* For the default case of the element's set_property and get_property.
 * Returns: FALSE if @pspec is none of the three. */
gboolean gst_cv_backend_set_property (GstCvBackend *backend, GObject *object,
    const GValue *value, GParamSpec *pspec);
gboolean gst_cv_backend_get_property (
    GstCvBackend *backend, GObject *object, GValue *value, GParamSpec *pspec);

/* Chooses the backend; called from READY to PAUSED. If "auto" falls back to the
 * CPU, it logs that (INFO) and posts the element message "cudavision-backend" with
 * the fields backend, device-id and reason; if "cuda" is not available it posts
 * GST_ELEMENT_ERROR (RESOURCE, NOT_FOUND) with CUDA's error text.
 * @context: (out): a new reference for CUDA, else %NULL
 * Returns: FALSE after posting the error. */
gboolean gst_cv_backend_start (
    GstCvBackend *backend, GstElement *element, CvisContext **context);
void gst_cv_backend_stop (GstCvBackend *backend, GstElement *element);

G_END_DECLS
