/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The properties of cudapbfmonitor. */
#pragma once

#include <gst/video/video.h>

#include "gst/common/filter/gstcvisfilter.h"
#include "cuda/meltpool/baseline.h"
#include "cuda/meltpool/engine.h"
#include "cuda/meltpool/vote.h"

G_BEGIN_DECLS

/**
 * GstPbfSettings:
 * @config: settings of the engine, without width, height and max_batch
 * @track: settings of the signals; gst_pbf_settings_check() sets the calibration
 * @calibration: (nullable): nine numbers; %NULL or empty: the default
 * @model_location: (nullable): path of the safetensors file; %NULL or empty: none
 * @learn_baseline: frames of the baseline to learn, 0: none
 * @baseline_location: (nullable): file that receives the network with it
 * @machine: (nullable): identity of the machine; %NULL or empty: any
 * @vote_window: frames that vote
 * @shift: right shift of samples of more than 8 bits, or GST_PBF_SHIFT_AUTO
 * @poll_core: processor of the thread that waits for results, -1: any
 * @parallel_frames: blocks of the resident kernel, 0: automatic
 * @batch_size: frames, 0: automatic
 * @max_latency: ns that a frame waits for its batch to fill
 * @message_interval: ns between element messages, 0: none
 * @result_host: (nullable): machine that records are sent to; %NULL or empty: none
 * @result_port: UDP port of that machine
 */
typedef struct {
  PbfConfig config;
  PbfTrackConfig track;
  gchar *calibration;
  gchar *model_location;
  guint learn_baseline;
  gchar *baseline_location;
  gchar *machine;
  guint vote_window;
  gint shift;
  gint poll_core;
  guint parallel_frames;
  guint batch_size;
  GstClockTime max_latency;
  GstClockTime message_interval;
  gchar *result_host;
  guint result_port;
} GstPbfSettings;

/* An enumeration that another element has too; see gst_cvis_enum_type(). */
#define GST_PBF_CONNECTIVITY_TYPE "GstPbfConnectivity"
extern const GEnumValue gst_pbf_connectivity_values[];

void gst_pbf_settings_init (GstPbfSettings *settings);
void gst_pbf_settings_clear (GstPbfSettings *settings);
void gst_pbf_settings_copy (GstPbfSettings *to, const GstPbfSettings *from);

/* Installs the properties for the struct at @offset of the element. */
void gst_pbf_settings_install (GstCvisFilterClass *klass, gsize offset);

/* Parses the calibration and checks the settings as far as possible without caps.
 * Returns: FALSE with an error that names the property. */
gboolean gst_pbf_settings_check (GstPbfSettings *settings, GError **error);

/**
 * GstPbfBatching:
 * @size: frames in a full batch
 * @depth: batches in flight, with the one being filled
 * @parallel_frames: blocks of the resident kernel
 */
typedef struct {
  guint size, depth, parallel_frames;
} GstPbfBatching;

/* Batches for frames of @info. The automatic size is limited so that the frames that
 * the element holds, one batch that is being pushed included, last no longer than
 * gst_pbf_settings_held_time(); at least one frame is held in each place. */
GstClockTime gst_pbf_settings_held_time (const GstPbfSettings *settings);
GstPbfBatching gst_pbf_settings_batching (
    const GstPbfSettings *settings, const GstVideoInfo *info);

G_END_DECLS
