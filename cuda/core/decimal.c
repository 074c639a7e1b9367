/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/decimal.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "cuda/core/text.h"

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

static const gdouble exact_powers[EXACT_POWER + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4,
  1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  1e19, 1e20, 1e21, 1e22 };

static gboolean
scale_exactly (const Decimal *d, gdouble *value)
{
  if (!ROUNDS_ONCE || d->digits > (guint64) 1 << 53
      || ABS (d->exponent) > EXACT_POWER)
    return FALSE;
  *value = d->exponent < 0 ? (gdouble) d->digits / exact_powers[-d->exponent]
                           : (gdouble) d->digits * exact_powers[d->exponent];
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

/* Digits among the first of 8 bytes: how many, and @bytes with the value of each
 * in its place, the rest shifted out. The first character is the lowest byte. */
static guint
find_digits (const gchar *at, guint64 *bytes)
{
  guint64 text, other;
  guint n;

  memcpy (&text, at, 8);
  text = GUINT64_FROM_LE (text) ^ G_GUINT64_CONSTANT (0x3030303030303030);
  other = (text | (text + G_GUINT64_CONSTANT (0x7676767676767676)))
          & G_GUINT64_CONSTANT (0x8080808080808080);
  n = other ? (guint) __builtin_ctzll (other) / 8 : 8;
  *bytes = n ? text << (64 - 8 * n) : 0;
  return n;
}

static guint
join_digits (guint64 bytes)
{
  const guint64 mask = G_GUINT64_CONSTANT (0x000000ff000000ff);

  bytes = bytes * 10 + (bytes >> 8);
  return (guint) (((bytes & mask) * G_GUINT64_CONSTANT (0x000f424000000064)
                      + (bytes >> 16 & mask)
                            * G_GUINT64_CONSTANT (0x0000271000000001))
                  >> 32);
}

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

static gboolean
scale (const Decimal *d, gdouble *value)
{
  if (d->digits == 0)
    *value = 0;
  else if (d->cut
           || (!scale_exactly (d, value) && !scale_with_powers (d, value)))
    return FALSE;
  return TRUE;
}

#define COMMON_BYTES 40 /* more than read_common() looks at */

/* "-1.2345e+02" and the like, of up to eight digits before the point and 16 behind
 * it. Returns: %NULL for all else */
static inline const gchar *
read_common (const gchar *at, gchar point, gdouble *value)
{
  const gboolean negative = *at == '-';
  guint64 bytes, digits;
  guint n, n_fraction = 0, exponent;
  Decimal d = { 0 };

  at += negative;
  if ((guchar) (*at - '0') < 10 && at[1] == point) {
    digits = (guint64) (*at++ - '0');
  } else {
    n = find_digits (at, &bytes);
    digits = join_digits (bytes);
    at += n;
    if (n == 0)
      return NULL;
  }
  if (*at == point) {
    static const guint powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000,
      10000000, 100000000 };

    if (digits > 999)
      return NULL;
    n_fraction = find_digits (++at, &bytes);
    digits = digits * powers[n_fraction] + join_digits (bytes);
    at += n_fraction;
    if (n_fraction == 8) {
      n = find_digits (at, &bytes);
      digits = digits * powers[n] + join_digits (bytes);
      at += n;
      n_fraction += n;
    }
  }
  if (*at == 'e' && (at[1] == '+' || at[1] == '-')
      && (guchar) (at[2] - '0') < 10 && (guchar) (at[3] - '0') < 10) {
    exponent = (guint) (10 * at[2] + at[3] - 11 * '0');
    d.exponent = at[1] == '-' ? -(gint) exponent : (gint) exponent;
    at += 4;
  }
  /* more digits, or another exponent */
  if ((guchar) *at > ' ' && *at != ';' && *at != ',')
    return NULL;
  d.digits = digits;
  d.exponent -= (gint) n_fraction;
  if (!scale (&d, value))
    return NULL;
  if (negative)
    *value = -*value;
  return at;
}

const gchar *
cvis_decimal_read (
    const gchar *at, const gchar *end, gchar point, gdouble *value)
{
  const gchar *start = at, *whole, *fraction;
  Decimal d = { 0 };

  if (end - at >= COMMON_BYTES) {
    at = read_common (start, point, value);
    if (at)
      return at;
    at = start;
  }
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
  if (!scale (&d, value))
    return read_with_strtod (start, at, point, value);
  if (d.negative)
    *value = -*value;
  return at;
}

/* --- writing ------------------------------------------------------------------ */

#define SHORT_DECIMALS 10    /* tried first */
#define SHORT_LIMIT 900000.0 /* 2^53 > this * 10^SHORT_DECIMALS */

static gchar *
write_digits (gchar *to, guint64 digits, guint n)
{
  for (gchar *at = to + n; at > to; digits /= 10)
    *--at = (gchar) ('0' + digits % 10);
  return to + n;
}

/* Values of few decimals, as measurements are. @value is not negative. The
 * division gives the same double here and when the text is read. */
static gchar *
write_short (gchar *to, gdouble value)
{
  guint64 digits;
  guint n = SHORT_DECIMALS;

  if (!ROUNDS_ONCE || !(value < SHORT_LIMIT))
    return NULL;
  digits = (guint64) (value * 1e10 + 0.5);
  if ((gdouble) digits / 1e10 != value)
    return NULL;
  for (; n >= 4 && digits % 10000 == 0; n -= 4)
    digits /= 10000;
  for (; n > 0 && digits % 10 == 0; n--)
    digits /= 10;
  to = cvis_text_uint (to, digits / (guint64) exact_powers[n]);
  if (n == 0)
    return to;
  *to++ = '.';
  return write_digits (to, digits % (guint64) exact_powers[n], n);
}

#ifdef __SIZEOF_INT128__
/* 17 digits as d.ddde-xx. They are off by less than 0.5 + 2^-6 units of the last
 * one, and half the distance of doubles is at least 0.55 of these. */
static gchar *
write_long (gchar *to, gdouble value)
{
  const guint64 least = G_GUINT64_CONSTANT (10000000000000000);
  guint64 mantissa, digits;
  gint exponent, scale;

  memcpy (&mantissa, &value, sizeof (value));
  exponent = (gint) (mantissa >> 52) - 1023 - 52;
  mantissa = ((mantissa & (((guint64) 1 << 52) - 1)) | (guint64) 1 << 52) << 11;
  exponent -= 11;
  /* the decimal exponent of the value, or one less */
  scale = (gint) floor ((exponent + 63) * 0.30102999566398120);
  if (exponent < -1023 || ABS (16 - scale) > MAX_POWER - 1)
    return NULL;
  for (;; scale++) {
    const Power *power = &get_powers ()[16 - scale];
    const Wide product = (Wide) mantissa * (guint64) (power->bits >> 64)
                         + ((Wide) mantissa * (guint64) power->bits >> 64);
    /* product * 2^-shift is the value times 10^(16 - scale) */
    const gint shift = -(exponent + 64 + power->exponent + 16 - scale);

    if (shift < 1 || shift > 127)
      return NULL;
    digits = (guint64) ((product + ((Wide) 1 << (shift - 1))) >> shift);
    if (digits < 10 * least)
      break;
  }
  *to++ = (gchar) ('0' + digits / least);
  *to++ = '.';
  to = write_digits (to, digits % least, 16);
  *to++ = 'e';
  *to++ = scale < 0 ? '-' : '+';
  return write_digits (to, (guint64) ABS (scale), ABS (scale) < 100 ? 2 : 3);
}
#else
static gchar *
write_long (gchar *to, gdouble value)
{
  return NULL;
}
#endif

gchar *
cvis_decimal_write (gchar *to, gdouble value)
{
  gchar *end;

  if (signbit (value))
    *to++ = '-';
  value = fabs (value);
  end = write_short (to, value);
  if (!end)
    end = write_long (to, value);
  if (!end) {
    g_ascii_formatd (to, CVIS_DECIMAL_MAX - 1, "%.17g", value);
    end = to + strlen (to);
  }
  return end;
}
