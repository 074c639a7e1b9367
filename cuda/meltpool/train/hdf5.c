/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/hdf5.h"

#include "cuda/camera/raise.h"
#include "cuda/core/cancel.h"
#include "cuda/records/machinesignal.h"

#define FRAME_NS 50000 /* of the data set's camera */

gboolean
pbf_analyse_hdf5 (const gchar *filename, guint threshold, guint window,
    guint threads, PbfResultFunc func, gpointer data, GError **error)
{
  PbfRaise *raise = pbf_raise_new (filename, "", error);
  PbfAnalyser *analyser = NULL;
  PbfRaiseFrame frame = { 0 };
  GError *fault = NULL;
  guint width = 0, height = 0;
  guint64 n = 0;
  gboolean ok = raise != NULL;

  while (ok && pbf_raise_next (raise, &frame, &fault)) {
    frame.signal.t_ns = n++ * FRAME_NS;
    pbf_signal_seal (&frame.signal);
    if (analyser == NULL) {
      width = frame.width;
      height = frame.height;
      analyser = pbf_analyser_new (
          width, height, threshold, window, threads, NULL, func, data, error);
    }
    ok = analyser != NULL
         && ((frame.width == width && frame.height == height)
             || cvis_refuse (error,
                 "the frames change their size from %ux%u to %ux%u; use files "
                 "with frames of one size",
                 width, height, frame.width, frame.height))
         && pbf_analyser_push (analyser, frame.pixels, width, &frame.signal,
             frame.signal.t_ns, error)
         && (!cvis_cancelled () || cvis_refuse_cancelled (error));
  }
  if (fault != NULL) {
    g_propagate_error (error, fault);
    ok = FALSE;
  }
  if (ok && analyser != NULL)
    ok = pbf_analyser_end (analyser, error);
  if (!ok)
    g_prefix_error (error, "%s: ", filename);
  pbf_analyser_free (analyser);
  g_clear_pointer (&raise, pbf_raise_free);
  return ok;
}
