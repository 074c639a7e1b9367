/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A backend of the denoiser, whole streams and chunks of them, and several devices against
 * the CPU backend, to the bit: frames, sizes and settings at random. */
#pragma once

#include "cuda/denoise/backend.h"

G_BEGIN_DECLS

/* Ends the program with an error that names the first difference. @context: of @ops;
 * @frames: (nullable): the context that the frames of @ops are in */
void denoise_rounds_run (const DenoiseBackendOps *ops, CvisContext *context,
    CvisContext *frames, guint rounds, guint32 seed);
/* Streams over @devices; frames are overwritten when they are released. Returns: how many
 * devices were lost */
guint denoise_rounds_run_over (
    const CvisDevices *devices, guint rounds, guint32 seed);

G_END_DECLS
