/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Pictures, profiles and histograms of a surface and its components for the page of
 * `cudavision roughness`. */
#pragma once

#include <gst/gst.h>

#include "tools/report.h"

G_BEGIN_DECLS

#define SURFACE_N_PICTURES 4 /* measured, roughness, waviness, form */

/**
 * SurfacePictures:
 * @pictures: (nullable): PNG files
 * @heights: (nullable): samples with GstCvisSurfaceMeta
 */
typedef struct {
  GstSample *pictures[SURFACE_N_PICTURES];
  GstSample *heights[SURFACE_N_PICTURES];
} SurfacePictures;

/* Appends the branches that make them to a pipeline that has `tee name=measured` and
 * the element `filter`. @measured_only: without components */
void surface_pictures_append (GString *launch, gboolean measured_only);
/* Takes them at the end of the stream. */
void surface_pictures_take (SurfacePictures *self, GstElement *pipeline);
void surface_pictures_clear (SurfacePictures *self);

void surface_pictures_report (const SurfacePictures *self, Report *report);

G_END_DECLS
