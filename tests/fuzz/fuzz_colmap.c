/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "fuzz.h"
#include "bundle.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  return fuzz_bundle (bytes, size, BUNDLE_FORMAT_COLMAP);
}
