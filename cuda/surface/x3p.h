/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The reader and the writer of X3P files share the list of chunks of compressed
 * heights, which do not depend on each other. An extra field of the zip's directory with
 * the ID below lists them: bytes of heights in a chunk (the last one may have
 * fewer), then the compressed bytes of each chunk, all as uint32. */
#pragma once

#include "cuda/surface/heights.h"

#define X3P_CHUNKS_FIELD 0x5643 /* "CV" */
#define X3P_NO_DATE "1970-01-01T00:00:00"
