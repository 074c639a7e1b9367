/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the reader and the writer of X3P files: the list of
 * independently compressed chunks of heights. An extra field of the zip
 * directory with the ID below has the bytes of heights in a chunk (the last
 * one may have fewer), then the compressed bytes of each chunk, all as
 * uint32. */
#pragma once

#include "cuda/surface/heights.h"

#define X3P_CHUNKS_FIELD 0x5643 /* "CV" */
#define X3P_NO_DATE "1970-01-01T00:00:00"
