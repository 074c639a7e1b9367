/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/text.h"

#include <string.h>

static const gchar two_digits[] = "00010203040506070809"
                                  "10111213141516171819"
                                  "20212223242526272829"
                                  "30313233343536373839"
                                  "40414243444546474849"
                                  "50515253545556575859"
                                  "60616263646566676869"
                                  "70717273747576777879"
                                  "80818283848586878889"
                                  "90919293949596979899";

static guint
count_digits (guint64 value)
{
  guint n = 1;

  for (; value >= 10000; value /= 10000)
    n += 4;
  return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

gchar *
cvis_text_uint (gchar *to, guint64 value)
{
  gchar *const end = to + count_digits (value);
  gchar *last = end;

  for (; value >= 100; value /= 100) {
    last -= 2;
    memcpy (last, two_digits + 2 * (value % 100), 2);
  }
  if (value >= 10)
    memcpy (last - 2, two_digits + 2 * value, 2);
  else
    last[-1] = (gchar) ('0' + value);
  return end;
}

gchar *
cvis_text_int (gchar *to, gint64 value)
{
  if (value >= 0)
    return cvis_text_uint (to, (guint64) value);
  *to++ = '-';
  return cvis_text_uint (to, 0 - (guint64) value);
}
