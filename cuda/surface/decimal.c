/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/decimal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_DIGITS 19 /* that fit 64 bits */
#define MAX_EXPONENT 99999

/* A number as it is written: @digits * 10^@exponent */
typedef struct {
  gboolean negative;
  guint64 digits;
  guint n_digits; /* without leading zeros */
  gint exponent;
  gboolean cut; /* digits other than 0 are left out */
} Decimal;

/* --- the slow way ------------------------------------------------------------ */

/* strtod of the text from @at to @end. Returns: what follows the number */
static const gchar *
read_with_strtod (
    const gchar *at, const gchar *end, gchar point, gdouble *value)
{
  const gsize n = (gsize) (end - at);
  gchar room[64];
  gchar *text = n < sizeof (room) ? room : g_malloc (n + 1), *comma, *stop;

  memcpy (text, at, n);
  text[n] = 0;
  comma = point != '.' ? strchr (text, point) : NULL;
  if (comma)
    *comma = '.';
  *value = g_ascii_strtod (text, &stop);
  at += stop - text;
  if (text != room)
    g_free (text);
  return at;
}

/* --- powers of ten ----------------------------------------------------------- */

/* Whether a product or quotient of doubles is rounded once */
#define ROUNDS_ONCE (FLT_EVAL_METHOD == 0)
#define EXACT_POWER 22 /* of 10, as a double */

static gboolean
scale_exactly (const Decimal *d, gdouble *value)
{
  static const gdouble powers[EXACT_POWER + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5,
    1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22 };

  if (!ROUNDS_ONCE || d->digits > (guint64) 1 << 53
      || ABS (d->exponent) > EXACT_POWER)
    return FALSE;
  *value = d->exponent < 0 ? (gdouble) d->digits / powers[-d->exponent]
                           : (gdouble) d->digits * powers[d->exponent];
  return TRUE;
}

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 Wide;

#define MAX_POWER 54 /* 5^54 < 2^126 */

/* 5^n is within [@bits, @bits + 1) * 2^@exponent; @bits has its top bit set. */
typedef struct {
  Wide bits;
  gint exponent;
} Power;

static guint
count_bits (Wide value)
{
  guint n = 0;

  for (; value; value >>= 1)
    n++;
  return n;
}

/* 2^@exponent / @divisor, rounded down */
static Wide
divide_power_of_two (guint exponent, Wide divisor)
{
  Wide rest = 1, quotient = 0;

  for (guint i = 0; i <= exponent; i++) {
    quotient = quotient << 1 | (rest >= divisor);
    rest = (rest >= divisor ? rest - divisor : rest) << 1;
  }
  return quotient;
}

static const Power *
get_powers (void)
{
  static Power powers[2 * MAX_POWER + 1];
  static gsize made;

  if (g_once_init_enter (&made)) {
    Wide power = 1;

    for (gint n = 0; n <= MAX_POWER; n++, power *= 5) {
      const guint bits = count_bits (power);
      Power *inverse = &powers[MAX_POWER - n];

      inverse->bits = divide_power_of_two (127 + bits, power);
      inverse->exponent = -127 - (gint) bits;
      powers[MAX_POWER + n] =
          (Power){ power << (128 - bits), (gint) bits - 128 };
    }
    g_once_init_leave (&made, 1);
  }
  return powers + MAX_POWER;
}

/* The product with a power of 128 bits tells the double unless it lies within
 * the power's error of the middle between two. */
static gboolean
scale_with_powers (const Decimal *d, gdouble *value)
{
  const Power *power;
  Wide product, rest, half;
  guint64 mantissa, bits;
  guint shift, low;
  gint exponent;
  gdouble scale;

  if (ABS (d->exponent) > MAX_POWER)
    return FALSE;
  power = &get_powers ()[d->exponent];
  shift = (guint) __builtin_clzll (d->digits);
  mantissa = d->digits << shift;
  /* the true one is within [product, product + 2) */
  product = (Wide) mantissa * (guint64) (power->bits >> 64)
            + ((Wide) mantissa * (guint64) power->bits >> 64);
  low = product >> 127 ? 75 : 74; /* bits beyond the 53 of a double */
  half = (Wide) 1 << (low - 1);
  rest = product & ((half << 1) - 1);
  if (rest > half - 2 && rest <= half)
    return FALSE;
  mantissa = (guint64) (product >> low) + (rest > half);
  exponent = 64 + power->exponent + d->exponent + (gint) low - (gint) shift;
  bits = (guint64) (exponent + 1023) << 52;
  memcpy (&scale, &bits, sizeof (scale));
  *value = (gdouble) mantissa * scale;
  return TRUE;
}
#else
static gboolean
scale_with_powers (const Decimal *d, gdouble *value)
{
  return FALSE;
}
#endif

/* --- text -------------------------------------------------------------------- */

static const gchar *
read_digits (const gchar *at, const gchar *end, gboolean fraction, Decimal *d)
{
  for (; at < end && g_ascii_isdigit (*at); at++) {
    const guint digit = (guint) (*at - '0');

    if (d->n_digits < MAX_DIGITS) {
      d->digits = 10 * d->digits + digit;
      d->n_digits += d->digits != 0;
      d->exponent -= fraction;
    } else {
      d->cut |= digit != 0;
      d->exponent += !fraction;
    }
  }
  return at;
}

/* "e-12". Returns: @at if there is none */
static const gchar *
read_exponent (const gchar *at, const gchar *end, Decimal *d)
{
  const gchar *digits = at + 1;
  gboolean negative;
  gint exponent = 0;

  if (at == end || (*at | 0x20) != 'e')
    return at;
  negative = digits < end && *digits == '-';
  if (digits < end && (*digits == '-' || *digits == '+'))
    digits++;
  if (digits == end || !g_ascii_isdigit (*digits))
    return at;
  for (; digits < end && g_ascii_isdigit (*digits); digits++)
    exponent = MIN (10 * exponent + (*digits - '0'), MAX_EXPONENT);
  d->exponent += negative ? -exponent : exponent;
  return digits;
}

const gchar *
surface_decimal_read (
    const gchar *at, const gchar *end, gchar point, gdouble *value)
{
  const gchar *start = at, *whole, *fraction;
  Decimal d = { 0 };

  if (at < end && (*at == '-' || *at == '+'))
    d.negative = *at++ == '-';
  if (at < end && strchr ("iInN", *at) && *at)
    return read_with_strtod (start, MIN (end, at + 8), point, value);
  whole = at;
  at = read_digits (at, end, FALSE, &d);
  fraction = at;
  if (at < end && *at == point)
    at = read_digits (at + 1, end, TRUE, &d);
  if (at - whole - (at > fraction) == 0) /* no digit */
    return start;
  at = read_exponent (at, end, &d);
  if (d.digits == 0)
    *value = 0;
  else if (d.cut
           || (!scale_exactly (&d, value) && !scale_with_powers (&d, value)))
    return read_with_strtod (start, at, point, value);
  if (d.negative)
    *value = -*value;
  return at;
}
