/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A process that runs out of memory. The address sanitizer needs more address
 * space than any limit leaves. */
#pragma once

#include <glib.h>
#include <sys/resource.h>

G_BEGIN_DECLS

#ifndef __SANITIZE_ADDRESS__
#define MEMORY_LIMIT_WORKS 1
#endif

/* Leaves @more bytes beside what is in use.
 * Returns: what to give memory_limit_end() */
struct rlimit memory_limit_begin (gsize more);
void memory_limit_end (const struct rlimit *before);

G_END_DECLS
