/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/cancel.h"

static GPrivate watched;

void
cvis_cancel_watch (const gint *flag)
{
  g_private_set (&watched, (gpointer) flag);
}

const gint *
cvis_cancel_get_watched (void)
{
  return (const gint *) g_private_get (&watched);
}

gboolean
cvis_cancelled (void)
{
  const gint *flag = cvis_cancel_get_watched ();

  return flag && g_atomic_int_get (flag);
}

gboolean
cvis_refuse_cancelled (GError **error)
{
  g_clear_error (error);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_CANCELLED, "cancelled");
  return FALSE;
}
