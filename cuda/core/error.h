/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Errors of the compute library: one GError domain, few codes, texts that
 * name the fault and its place. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define CVIS_ERROR (cvis_error_quark ())

/**
 * CvisError:
 * @CVIS_ERROR_INVALID: an argument or setting is out of range
 * @CVIS_ERROR_FORMAT: bytes from outside (file, packet) are malformed
 * @CVIS_ERROR_NO_DEVICE: no usable GPU, or none with that number
 * @CVIS_ERROR_CUDA: a CUDA call failed; the text includes CUDA's own
 * @CVIS_ERROR_MEMORY: host or device memory is exhausted
 * @CVIS_ERROR_CANCELLED: the caller cancelled the work (cuda/core/cancel.h)
 */
typedef enum {
  CVIS_ERROR_INVALID,
  CVIS_ERROR_FORMAT,
  CVIS_ERROR_NO_DEVICE,
  CVIS_ERROR_CUDA,
  CVIS_ERROR_MEMORY,
  CVIS_ERROR_CANCELLED,
} CvisError;

GQuark cvis_error_quark (void);

/* Sets @error (nullable) to CVIS_ERROR_INVALID with this text. Returns:
 * FALSE */
gboolean cvis_refuse (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
/* Returns: whether @value is in @low..@high; if not, sets an error that
 * names @what and the range */
gboolean cvis_check_range (const gchar *what, gdouble value, gdouble low,
    gdouble high, GError **error);

G_END_DECLS
