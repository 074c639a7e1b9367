/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cvistext.h"

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

/* Writes @value so that it ends before @end; returns where it begins. */
static gchar *
digits_before (gchar *end, guint64 value)
{
  while (value >= 100) {
    end -= 2;
    memcpy (end, two_digits + 2 * (value % 100), 2);
    value /= 100;
  }
  if (value >= 10) {
    end -= 2;
    memcpy (end, two_digits + 2 * value, 2);
  } else {
    *--end = (gchar) ('0' + value);
  }
  return end;
}

gchar *
cvis_text_uint (gchar *to, guint64 value)
{
  gchar digits[20];
  gchar *from;
  gsize n;

  if (value < 10) {
    *to = (gchar) ('0' + value);
    return to + 1;
  }
  from = digits_before (digits + sizeof (digits), value);
  n = digits + sizeof (digits) - from;
  memcpy (to, from, n);
  return to + n;
}

gchar *
cvis_text_int (gchar *to, gint64 value)
{
  if (value >= 0)
    return cvis_text_uint (to, (guint64) value);
  *to++ = '-';
  return cvis_text_uint (to, 0 - (guint64) value);
}
