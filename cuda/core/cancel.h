/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Cancellation. A thread watches an atomic flag. The long loops of the functions
 * that it calls check the flag, also in the threads of pools that it creates. These
 * functions return CVIS_ERROR_CANCELLED or what they document. */
#pragma once

#include "cuda/core/error.h"

G_BEGIN_DECLS

/* @flag: (nullable): for the calling thread. Once set, it must stay set until the
 *   called function has returned. */
void cvis_cancel_watch (const gint *flag);
const gint *cvis_cancel_get_watched (void);

/* Whether the flag of the calling thread is set */
gboolean cvis_cancelled (void);
/* Sets @error, whatever it holds, to CVIS_ERROR_CANCELLED. Returns: FALSE */
gboolean cvis_refuse_cancelled (GError **error);

/* Checks the flag in every 2^16th iteration @i. */
static inline gboolean
cvis_cancelled_at (gsize i)
{
  return (i & 0xffff) == 0 && cvis_cancelled ();
}

G_END_DECLS
