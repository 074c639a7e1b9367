/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/decimal.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "cuda/core/digits.h"
#include "cuda/core/text.h"

#define MAX_DIGITS 19 /* that fit 64 bits */
#define MAX_EXPONENT 99999

/* A number as written: @digits * 10^@exponent */
typedef struct {
  gboolean negative;
  guint64 digits;
  guint n_digits; /* without leading zeros */
  gint exponent;
  gboolean cut; /* non-zero digits are dropped */
} Decimal;

/* --- fallback to strtod -------------------------------------------------- */

/* strtod of the text from @at to @end. Returns: the end of the number */
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

/* Whether products and quotients of doubles are rounded once */
#define ROUNDS_ONCE (FLT_EVAL_METHOD == 0)
#define EXACT_POWER 22 /* of 10, as a double */

static const gdouble exact_powers[EXACT_POWER + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4,
  1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  1e19, 1e20, 1e21, 1e22 };

static inline gboolean
scale_exactly (guint64 digits, gint exponent, gdouble *value)
{
  if (!ROUNDS_ONCE || digits > (guint64) 1 << 53
      || ABS (exponent) > EXACT_POWER)
    return FALSE;
  *value = exponent < 0 ? (gdouble) digits / exact_powers[-exponent]
                        : (gdouble) digits * exact_powers[exponent];
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

static Power powers_of_five[2 * MAX_POWER + 1];

static G_GNUC_NO_INLINE void
make_powers (gsize *made)
{
  Power *powers = powers_of_five;

  if (g_once_init_enter (made)) {
    Wide power = 1;

    for (gint n = 0; n <= MAX_POWER; n++, power *= 5) {
      const guint bits = count_bits (power);
      Power *inverse = &powers[MAX_POWER - n];

      inverse->bits = divide_power_of_two (127 + bits, power);
      inverse->exponent = -127 - (gint) bits;
      powers[MAX_POWER + n] =
          (Power){ power << (128 - bits), (gint) bits - 128 };
    }
    g_once_init_leave (made, 1);
  }
}

static inline const Power *
get_powers (void)
{
  static gsize made;

  if (G_UNLIKELY (!g_atomic_pointer_get (&made)))
    make_powers (&made);
  return powers_of_five + MAX_POWER;
}

/* Multiplies by a 128-bit power. Returns: FALSE if the result is within the
 * power's error of the middle between two doubles. @digits: not 0 */
static inline gboolean
scale_with_powers (guint64 digits, gint exponent, gdouble *value)
{
  const Power *power;
  Wide product;
  guint64 high, low, rest, half, bits;
  guint shift, beyond;

  if (ABS (exponent) > MAX_POWER)
    return FALSE;
  power = &get_powers ()[exponent];
  shift = (guint) __builtin_clzll (digits);
  digits <<= shift;
  /* the exact product is within [product, product + 2) */
  product = (Wide) digits * (guint64) (power->bits >> 64)
            + ((Wide) digits * (guint64) power->bits >> 64);
  high = (guint64) (product >> 64);
  low = (guint64) product;
  beyond = 10 + (guint) (high >> 63); /* bits that a double lacks */
  half = (guint64) 1 << (beyond - 1);
  rest = high & (2 * half - 1);
  if (low + 1 <= 1 && (rest == half || rest == half - 1))
    return FALSE;
  exponent += 128 + power->exponent + (gint) beyond - (gint) shift;
  /* the mantissa's top bit, and a carry out of it, add to the exponent */
  bits = ((guint64) (exponent + 1023 + 51) << 52) + (high >> beyond)
         + (rest >= half);
  memcpy (value, &bits, sizeof (bits));
  return TRUE;
}
#else
static gboolean
scale_with_powers (guint64 digits, gint exponent, gdouble *value)
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

/* Parses an exponent such as "e-12". Returns: @at if there is none */
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

static inline gboolean
scale (guint64 digits, gint exponent, gdouble *value)
{
  if (scale_exactly (digits, exponent, value))
    return TRUE;
  if (digits != 0)
    return scale_with_powers (digits, exponent, value);
  *value = 0;
  return TRUE;
}

/* Not inlined, so that the common case needs no stack frame. */
static G_GNUC_NO_INLINE const gchar *
read_any (const gchar *at, const gchar *end, gchar point, gdouble *value)
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
  if (d.cut || !scale (d.digits, d.exponent, value))
    return read_with_strtod (start, at, point, value);
  if (d.negative)
    *value = -*value;
  return at;
}

#define COMMON_BYTES 40 /* bytes that read_common() may read */

/* Parses numbers like "-1.2345e+02" with up to eight digits before the point
 * and 16 after it, without branches on the sign, which changes from number
 * to number. Returns: %NULL for other forms */
static inline const gchar *
read_common (const gchar *at, gchar point, gdouble *value)
{
  const gboolean negative = *at == '-';
  guint64 bytes, digits, bits;
  gint exponent = 0;
  guint n, whole = 1;

  at += negative;
  if ((guchar) (*at - '0') < 10 && at[1] == point) {
    digits = (guint64) (*at++ - '0');
  } else {
    whole = cvis_digits_find (at, &bytes);
    digits = cvis_digits_join (bytes);
    at += whole;
    if (whole == 0)
      return NULL;
  }
  if (*at == point) {
    static const guint powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000,
      10000000, 100000000 };

    n = cvis_digits_find (++at, &bytes);
    digits = digits * powers[n] + cvis_digits_join (bytes);
    at += n;
    exponent = -(gint) n;
    if (n == 8) {
      n = cvis_digits_find (at, &bytes);
      digits = digits * powers[n] + cvis_digits_join (bytes);
      at += n;
      exponent -= (gint) n;
    }
    if ((gint) whole - exponent > MAX_DIGITS)
      return NULL;
  }
  if (*at == 'e' && ((at[1] == '+') | (at[1] == '-'))
      && (guchar) (at[2] - '0') < 10 && (guchar) (at[3] - '0') < 10) {
    const gint below = -(at[1] == '-'), given = 10 * at[2] + at[3] - 11 * '0';

    exponent += (given ^ below) - below;
    at += 4;
  }
  /* more digits or another form of exponent */
  if ((guchar) *at > ' ' && *at != ';' && *at != ',')
    return NULL;
  if (!scale (digits, exponent, value))
    return NULL;
  memcpy (&bits, value, sizeof (bits));
  bits |= (guint64) negative << 63;
  memcpy (value, &bits, sizeof (bits));
  return at;
}

const gchar *
cvis_decimal_read (
    const gchar *at, const gchar *end, gchar point, gdouble *value)
{
  const gchar *stop =
      end - at >= COMMON_BYTES ? read_common (at, point, value) : NULL;

  return stop ? stop : read_any (at, end, point, value);
}

/* --- writing ------------------------------------------------------------------ */

#define SHORT_LIMIT 900000.0 /* 2^53 > this * 10^10 */

/* Writes values with few decimals, as measurements have. @value is not
 * negative. The division gives the same double here and when the text is
 * parsed. Numbers of digits change from value to value: few branches depend on
 * them. */
static inline gchar *
write_short (gchar *to, gdouble value)
{
  const guint64 unit = G_GUINT64_CONSTANT (10000000000); /* ten decimals */
  guint64 digits, first;
  guint last;

  if (!ROUNDS_ONCE || !(value < SHORT_LIMIT))
    return NULL;
  digits = (guint64) (gint64) (value * 1e10 + 0.5);
  if ((gdouble) (gint64) digits / 1e10 != value)
    return NULL;
  to = cvis_digits_write (to, (guint) (digits / unit));
  digits %= unit;
  first = cvis_digits_split ((guint) (digits / 100));
  last = (guint) (digits % 100);
  *to = '.';
  cvis_digits_store (to + 1, first);
  if (last > 0) {
    to[9] = (gchar) ('0' + last / 10);
    to[10] = (gchar) ('0' + last % 10);
    return to + (last % 10 ? 11 : 10);
  }
  return to + (first ? 9 - (guint) __builtin_clzll (first | 1) / 8 : 0);
}

#ifdef __SIZEOF_INT128__
/* Writes 17 digits as d.ddde-xx. Their error is below 0.5 + 2^-6 units of
 * the last digit, and half the spacing of doubles is at least 0.55 of these
 * units. */
static G_GNUC_NO_INLINE gchar *
write_long (gchar *to, gdouble value)
{
  const guint64 least = G_GUINT64_CONSTANT (10000000000000000);
  const Power *powers = get_powers (), *next;
  guint64 mantissa, digits;
  gint exponent, scale, above;

  memcpy (&mantissa, &value, sizeof (value));
  exponent = (gint) (mantissa >> 52) - 1023 - 52;
  mantissa = ((mantissa & (((guint64) 1 << 52) - 1)) | (guint64) 1 << 52) << 11;
  exponent -= 11;
  /* the decimal exponent of the value, or one less */
  scale = ((exponent + 63) * 315653) >> 20; /* times log10 (2), rounded down */
  if (exponent < -1023 || ABS (16 - scale) > MAX_POWER - 1)
    return NULL;
  above = MIN (scale + 1, MAX_POWER);
  next = &powers[above];
  scale += (exponent == next->exponent + above + 64)
           & (mantissa > (guint64) (next->bits >> 64));
  for (;; scale++) {
    const Power *power = &powers[16 - scale];
    const Wide product = (Wide) mantissa * (guint64) (power->bits >> 64)
                         + ((Wide) mantissa * (guint64) power->bits >> 64);
    /* product * 2^-shift is the value times 10^(16 - scale) */
    const gint shift = -(exponent + 64 + power->exponent + 16 - scale);

    if (shift < 65 || shift > 127)
      return NULL;
    digits = ((guint64) (product >> 64) + ((guint64) 1 << (shift - 65)))
             >> (shift - 64);
    if (digits < 10 * least) /* else it was the next power, or rounded to it */
      break;
  }
  to[0] = (gchar) ('0' + digits / least);
  to[1] = '.';
  digits %= least;
  cvis_digits_store (to + 2, cvis_digits_split ((guint) (digits / 100000000)));
  cvis_digits_store (to + 10, cvis_digits_split ((guint) (digits % 100000000)));
  to[18] = 'e';
  to[19] = scale < 0 ? '-' : '+';
  to[20] = (gchar) ('0' + ABS (scale) / 10); /* below 70 */
  to[21] = (gchar) ('0' + ABS (scale) % 10);
  return to + 22;
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

  *to = '-';
  to += signbit (value) != 0; /* no branch */
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
