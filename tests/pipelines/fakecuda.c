/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A libcuda.so.1 that aborts any process that loads it. First in
 * LD_LIBRARY_PATH it proves that a process makes no CUDA call. */
#include <stdlib.h>
#include <unistd.h>

__attribute__ ((constructor)) static void
refuse (void)
{
  static const char text[] = "fakecuda: libcuda.so.1 was loaded\n";

  if (write (2, text, sizeof text - 1) < 0)
    _exit (3);
  abort ();
}
