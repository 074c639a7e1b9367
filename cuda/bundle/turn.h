/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rotations as quaternions w, x, y, z of any length. For pose.c and colmap/. */
#pragma once

#include <glib.h>
#include <math.h>
#include <string.h>

G_BEGIN_DECLS

/* p = a b, quaternions w, x, y, z */
static inline void
bundle_turn_multiply (const gdouble a[4], const gdouble b[4], gdouble p[4])
{
  p[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  p[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  p[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
  p[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
}

static inline void
bundle_turn_invert (const gdouble q[4], gdouble c[4])
{
  const gdouble square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];

  for (guint i = 0; i < 4; i++)
    c[i] = (i ? -q[i] : q[i]) / square;
}

/* to = R(q) x; @q of any length */
static inline void
bundle_turn_vector (const gdouble q[4], const gdouble x[3], gdouble to[3])
{
  const gdouble v[4] = { 0, x[0], x[1], x[2] };
  gdouble inverse[4], half[4], all[4];

  bundle_turn_invert (q, inverse);
  bundle_turn_multiply (q, v, half);
  bundle_turn_multiply (half, inverse, all);
  memcpy (to, all + 1, 3 * sizeof *to);
}

/* Length 1, and w not negative */
static inline void
bundle_turn_normalise (gdouble q[4])
{
  const gdouble size =
      sqrt (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

  for (guint i = 4; i-- > 0;)
    q[i] /= q[0] < 0 ? -size : size;
}

G_END_DECLS
