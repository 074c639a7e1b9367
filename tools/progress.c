/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The progress bar. Called by pipeline.c for each stream, and by roughnessrun.c,
 * bundlemodel.c and train.c. */
#include "progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DELAY 500000    /* us without a bar */
#define INTERVAL 100000 /* us between two bars */
#define BAR 20
#define NUMBERS 40 /* columns after the bar */

void
progress_start (Progress *progress, const gchar *label, const gchar *unit)
{
  *progress = (Progress){
    .label = label, .unit = unit, .start = g_get_monotonic_time ()
  };
}

void
progress_clear (Progress *progress)
{
  if (progress->shown)
    g_printerr ("\r\033[K");
  progress->shown = FALSE;
}

/* The label, or its end if the line would be longer than the terminal */
static const gchar *
fit_label (const gchar *label)
{
  struct winsize size = { 0 };
  glong length = g_utf8_strlen (label, -1), room;

  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    size.ws_col = 80;
  room = MAX (size.ws_col - BAR - NUMBERS, 8);
  return length > room ? g_utf8_offset_to_pointer (label, length - room)
                       : label;
}

gboolean
progress_is_due (const Progress *progress)
{
  const gint64 now = g_get_monotonic_time ();

  return now - progress->start >= DELAY && now - progress->last >= INTERVAL
         && isatty (STDERR_FILENO);
}

void
progress_show (Progress *progress, gdouble fraction, guint64 done)
{
  const gint64 now = g_get_monotonic_time ();
  const gdouble seconds = (now - progress->start) * 1e-6;
  const gchar *label = progress->label != NULL ? progress->label : "";
  gint left, filled;

  progress->last = now;
  progress->shown = TRUE;
  g_printerr ("\r\033[K%s%s", fit_label (label), label[0] != '\0' ? " " : "");
  if (fraction >= 0) {
    fraction = MIN (fraction, 1);
    filled = (gint) (BAR * fraction);
    g_printerr ("[%.*s%*s] %3.0f %%, ", filled, "####################",
        BAR - filled, "", 100 * fraction);
  }
  if (done > 0)
    g_printerr (done < 100 * seconds ? "%.3g %s/s, " : "%.0f %s/s, ",
        done / seconds, progress->unit);
  if (fraction > 0) {
    left = (gint) (seconds * (1 - fraction) / fraction + 0.5);
    g_printerr ("%d:%02d left", left / 60, left % 60);
  } else {
    g_printerr ("%.0f s", seconds);
  }
}
