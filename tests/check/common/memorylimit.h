/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Limits the memory of the process. Not usable with the address sanitizer,
 * which needs more address space. */
#pragma once

#include <glib.h>
#include <sys/resource.h>

G_BEGIN_DECLS

#ifndef __SANITIZE_ADDRESS__
#define MEMORY_LIMIT_WORKS 1
#endif

/* Allows @more bytes beyond the current use. Returns: argument for
 * memory_limit_end() */
struct rlimit memory_limit_begin (gsize more);
void memory_limit_end (const struct rlimit *before);

G_END_DECLS
