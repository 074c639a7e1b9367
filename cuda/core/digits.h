/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Eight decimal digits at a time in the bytes of a word; the first character
 * is the lowest byte. */
#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* Number of digits at the start of the 8 bytes at @at; @digits is for
 * cvis_digits_join(). */
static inline guint
cvis_digits_find (const gchar *at, guint64 *digits)
{
  guint64 text, other;
  guint n;

  memcpy (&text, at, 8);
  text = GUINT64_FROM_LE (text) ^ G_GUINT64_CONSTANT (0x3030303030303030);
  other = (text | (text + G_GUINT64_CONSTANT (0x7676767676767676)))
          & G_GUINT64_CONSTANT (0x8080808080808080);
  n = other ? (guint) __builtin_ctzll (other) / 8 : 8;
  *digits = n ? text << (64 - 8 * n) : 0;
  return n;
}

static inline guint
cvis_digits_join (guint64 digits)
{
  const guint64 mask = G_GUINT64_CONSTANT (0x000000ff000000ff);

  digits = digits * 10 + (digits >> 8);
  return (guint) (((digits & mask) * G_GUINT64_CONSTANT (0x000f424000000064)
                      + (digits >> 16 & mask)
                            * G_GUINT64_CONSTANT (0x0000271000000001))
                  >> 32);
}

/* The eight digits of @value, which is below 1e8, with leading zeros. */
static inline guint64
cvis_digits_split (guint value)
{
  /* halves of four digits, then quarters of two, then digits */
  guint64 all = value / 10000 | (guint64) (value % 10000) << 32;
  guint64 high = (all * 5243 >> 19) & G_GUINT64_CONSTANT (0x0000007f0000007f);

  all = high | (all - 100 * high) << 16;
  high = (all * 103 >> 10) & G_GUINT64_CONSTANT (0x000f000f000f000f);
  return high | (all - 10 * high) << 8;
}

/* Writes eight bytes at @to. */
static inline void
cvis_digits_store (gchar *to, guint64 digits)
{
  digits = GUINT64_TO_LE (digits | G_GUINT64_CONSTANT (0x3030303030303030));
  memcpy (to, &digits, 8);
}

/* Writes @value, which is below 1e8, without leading zeros; no branch depends on
 * their number. Eight bytes at @to are touched. Returns: the end */
static inline gchar *
cvis_digits_write (gchar *to, guint value)
{
  const guint64 digits = cvis_digits_split (value);
  const guint zeros = (guint) __builtin_ctzll (digits | (guint64) 1 << 56) / 8;

  cvis_digits_store (to, digits >> 8 * zeros);
  return to + 8 - zeros;
}

G_END_DECLS
