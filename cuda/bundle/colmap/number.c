/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A double is m 2^e. Its 17 digits are those of m 10^k 2^e, rounded to the nearest, ties
 * to even, with k such that this has 17 digits. For 1e-4 <= |value| < 2^53 the product
 * m 10^k has at most 128 bits (k <= 21), so the shift by e is exact. Other numbers are
 * left to printf(). */
#include "cuda/bundle/colmap/number.h"

#include <math.h>
#include <string.h>

#define DIGITS 17
#define LEAST 1e-4                /* smaller ones have an exponent */
#define GREATEST 9007199254740992 /* 2^53: e is at most 0 below */
#define TEN_16 10000000000000000u
#define TEN_17 100000000000000000u

typedef unsigned __int128 Wide;

/* 10^n as two factors of 64 bits */
static const guint64 powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000,
  10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000,
  100000000000000000, 1000000000000000000, 10000000000000000000u };

/* m 10^k / 2^shift, rounded down; @above: whether what is cut off is more than half of
 * the last digit, or half and the digit is odd */
static guint64
scale_number (guint64 m, guint k, guint shift, gboolean *above)
{
  const guint first = MIN (k, G_N_ELEMENTS (powers) - 1);
  const Wide product = (Wide) m * powers[first] * powers[k - first];
  const guint64 digits = (guint64) (product >> shift);
  const Wide rest = product - ((Wide) digits << shift);
  const Wide half = shift > 0 ? (Wide) 1 << (shift - 1) : 1;

  *above = shift > 0 && (rest > half || (rest == half && digits % 2 == 1));
  return digits;
}

static void
write_digits (gchar to[DIGITS], guint64 digits)
{
  static const gchar pairs[] =
      "000102030405060708091011121314151617181920212223242526272829303132333435"
      "3"
      "637383940414243444546474849505152535455565758596061626364656667686970717"
      "2"
      "737475767778798081828384858687888990919293949596979899";
  guint32 halves[2] = { (guint32) (digits / 100000000 % 100000000),
    (guint32) (digits % 100000000) };

  to[0] = (gchar) ('0' + digits / TEN_16);
  for (guint half = 0; half < 2; half++)
    for (guint i = 4; i-- > 0; halves[half] /= 100)
      memcpy (to + 1 + 8 * half + 2 * i, pairs + 2 * (halves[half] % 100), 2);
}

/* Puts the sign of decimals in, and leaves trailing zeros out. @exponent: of the first
 * digit, -4..16 */
static gchar *
place_digits (gchar *to, const gchar digits[DIGITS], gint exponent)
{
  guint n = DIGITS, whole;

  while (n > 1 && digits[n - 1] == '0')
    n--;
  if (exponent < 0) {
    memcpy (to, "0.0000", 6);
    to += 1 - exponent;
    memcpy (to, digits, n);
    return to + n;
  }
  whole = (guint) exponent + 1;
  memcpy (to, digits, whole);
  to += whole;
  if (n <= whole)
    return to;
  *to++ = '.';
  memcpy (to, digits + whole, n - whole);
  return to + n - whole;
}

gchar *
bundle_model_write_number (gchar *to, gdouble value)
{
  const gdouble size = fabs (value);
  gchar digits[DIGITS];
  guint64 bits, m, number;
  guint shift;
  gint exponent;
  gboolean above;

  if (!(size >= LEAST && size < GREATEST)) {
    if (value == 0 && !signbit (value)) {
      *to = '0';
      return to + 1;
    }
    g_ascii_formatd (to, BUNDLE_MODEL_NUMBER_MAX, "%.17g", value);
    return to + strlen (to);
  }
  memcpy (&bits, &size, sizeof bits);
  m = (bits & ((G_GUINT64_CONSTANT (1) << 52) - 1))
      | G_GUINT64_CONSTANT (1) << 52;
  shift = 1075 - (guint) (bits >> 52);
  exponent = -4;
  while (exponent < 0 ? size * 1e4 >= (gdouble) powers[exponent + 5]
                      : size >= (gdouble) powers[exponent + 1])
    exponent++;
  number = scale_number (m, (guint) (DIGITS - 1 - exponent), shift, &above);
  if (number < TEN_16) { /* the product with 1e4 was rounded up to a power */
    exponent--;
    number = scale_number (m, (guint) (DIGITS - 1 - exponent), shift, &above);
  } else if (number >= TEN_17) { /* or down */
    exponent++;
    number = scale_number (m, (guint) (DIGITS - 1 - exponent), shift, &above);
  }
  number += above;
  if (number == TEN_17) {
    number = TEN_16;
    exponent++;
  }
  write_digits (digits, number);
  if (value < 0)
    *to++ = '-';
  return place_digits (to, digits, exponent);
}
