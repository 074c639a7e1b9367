/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Layouts of signals as text, preceded by a vector of 64 bytes. */
#include "fuzz.h"
#include "cuda/camera/signallayout.h"

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  CvisPbfSignal signal = { .frame_counter = 1 };
  GError *error = NULL;
  PbfSignalLayout layout;
  gchar *text;

  if (size < 64)
    return 0;
  text = g_strndup ((const gchar *) bytes + 64, size - 64);
  if (pbf_signal_layout_parse (text, &layout, &error)) {
    pbf_signal_layout_read (&layout, bytes, &signal);
    g_assert (pbf_signal_is_intact (&signal));
  } else {
    g_assert (error->domain == CVIS_ERROR && error->code == CVIS_ERROR_INVALID);
    g_error_free (error);
  }
  g_free (text);
  return 0;
}
