/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One run on untrusted bytes; aborts if the code under test breaks a
 * promise. Called by libFuzzer, or by replay.c. */
__attribute__ ((visibility ("default"))) int LLVMFuzzerTestOneInput (
    const uint8_t *bytes, size_t size);
