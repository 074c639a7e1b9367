/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Which of the CPU backend's tables to use, and the memory they work in. */
#include "pbfcpu.h"

#include <stdlib.h>

const PbfCpuKernels *
pbf_cpu_kernels (void)
{
#if defined(__x86_64__)
  switch (cvis_cpu_level ()) {
    case CVIS_CPU_V4:
      return &pbf_cpu_v4;
    case CVIS_CPU_V3:
      return &pbf_cpu_v3;
    default:
      break;
  }
#endif
  return &pbf_cpu_generic;
}

PbfCpuScratch *
pbf_cpu_scratch_new (const PbfConfig *config)
{
  PbfCpuScratch *scratch = NULL;
  gsize max_runs = PBF_ROI_MAX_RUNS;

  if (posix_memalign ((void **) &scratch, 64, sizeof *scratch) != 0)
    g_error ("out of memory");
  memset (scratch, 0, sizeof *scratch);
  if (config->spatter_scope == PBF_SPATTER_SCOPE_FRAME)
    max_runs = (gsize) config->height * ((config->width + 1) / 2);
  scratch->runs = g_new (PbfRun, max_runs);
  scratch->parents = g_new (guint32, max_runs);
  scratch->components = g_new (PbfComponent, max_runs);
  return scratch;
}

void
pbf_cpu_scratch_free (PbfCpuScratch *scratch)
{
  g_free (scratch->runs);
  g_free (scratch->parents);
  g_free (scratch->components);
  free (scratch);
}

void
pbf_window_init (PbfWindow *window, guint length)
{
  memset (window, 0, sizeof *window);
  window->length = length;
  window->rows = g_new0 (PbfRow, length);
}

void
pbf_window_clear (PbfWindow *window)
{
  g_free (window->rows);
}

void
pbf_window_reset (PbfWindow *window)
{
  PbfRow *rows = window->rows;
  guint length = window->length;

  memset (window, 0, sizeof *window);
  window->rows = rows;
  window->length = length;
}
