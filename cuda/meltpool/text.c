/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/text.h"

#include <string.h>

gchar *
pbf_text_q8 (gchar *to, gint32 value)
{
  guint32 magnitude = value < 0 ? 0 - (guint32) value : (guint32) value;
  guint32 fraction = (magnitude & 255) * 390625; /* 10^8 / 256 */
  gchar *last;

  if (value < 0)
    *to++ = '-';
  to = cvis_text_uint (to, magnitude >> 8);
  if (fraction == 0)
    return to;

  *to = '.';
  for (last = to + 8; last > to; last--) {
    *last = (gchar) ('0' + fraction % 10);
    fraction /= 10;
  }
  for (last = to + 8; *last == '0'; last--)
    ;
  return last + 1;
}

/* --- floats ---------------------------------------------------------------
 * R. Giulietti, The Schubfach way to render doubles, 2020 (for binary32):
 * scale the float and the ends of its rounding interval by the power of ten
 * that leaves a short integer, rounding to odd so that comparisons stay exact,
 * and take the decimal inside with the fewest digits. */

#define POW10_MIN (-31)
#define POW10_MAX 45

/* 10^k for k = POW10_MIN.., scaled by a power of two into [2^63, 2^64),
 * rounded up */
static const guint64 pow10_64[POW10_MAX - POW10_MIN + 1] = {
  0x81ceb32c4b43fcf5,
  0xa2425ff75e14fc32,
  0xcad2f7f5359a3b3f,
  0xfd87b5f28300ca0e,
  0x9e74d1b791e07e49,
  0xc612062576589ddb,
  0xf79687aed3eec552,
  0x9abe14cd44753b53,
  0xc16d9a0095928a28,
  0xf1c90080baf72cb2,
  0x971da05074da7bef,
  0xbce5086492111aeb,
  0xec1e4a7db69561a6,
  0x9392ee8e921d5d08,
  0xb877aa3236a4b44a,
  0xe69594bec44de15c,
  0x901d7cf73ab0acda,
  0xb424dc35095cd810,
  0xe12e13424bb40e14,
  0x8cbccc096f5088cc,
  0xafebff0bcb24aaff,
  0xdbe6fecebdedd5bf,
  0x89705f4136b4a598,
  0xabcc77118461cefd,
  0xd6bf94d5e57a42bd,
  0x8637bd05af6c69b6,
  0xa7c5ac471b478424,
  0xd1b71758e219652c,
  0x83126e978d4fdf3c,
  0xa3d70a3d70a3d70b,
  0xcccccccccccccccd,
  0x8000000000000000,
  0xa000000000000000,
  0xc800000000000000,
  0xfa00000000000000,
  0x9c40000000000000,
  0xc350000000000000,
  0xf424000000000000,
  0x9896800000000000,
  0xbebc200000000000,
  0xee6b280000000000,
  0x9502f90000000000,
  0xba43b74000000000,
  0xe8d4a51000000000,
  0x9184e72a00000000,
  0xb5e620f480000000,
  0xe35fa931a0000000,
  0x8e1bc9bf04000000,
  0xb1a2bc2ec5000000,
  0xde0b6b3a76400000,
  0x8ac7230489e80000,
  0xad78ebc5ac620000,
  0xd8d726b7177a8000,
  0x878678326eac9000,
  0xa968163f0a57b400,
  0xd3c21bcecceda100,
  0x84595161401484a0,
  0xa56fa5b99019a5c8,
  0xcecb8f27f4200f3a,
  0x813f3978f8940985,
  0xa18f07d736b90be6,
  0xc9f2c9cd04674edf,
  0xfc6f7c4045812297,
  0x9dc5ada82b70b59e,
  0xc5371912364ce306,
  0xf684df56c3e01bc7,
  0x9a130b963a6c115d,
  0xc097ce7bc90715b4,
  0xf0bdc21abb48db21,
  0x96769950b50d88f5,
  0xbc143fa4e250eb32,
  0xeb194f8e1ae525fe,
  0x92efd1b8d0cf37bf,
  0xb7abc627050305ae,
  0xe596b7b0c643c71a,
  0x8f7e32ce7bea5c70,
  0xb35dbf821ae4f38c,
};

/* decimal number: digits * 10^exponent */
typedef struct {
  guint32 digits;
  gint exponent;
} Decimal;

/* floor of the logarithms, for the exponents of binary32 */
static gint
floor_log10_pow2 (gint e, gboolean three_quarters)
{
  return (e * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static gint
floor_log2_pow10 (gint e)
{
  return (e * 1741647) >> 19;
}

/* @g * @c / 2^64; the last bit is sticky (rounding to odd) */
static guint32
multiply_to_odd (guint64 g, guint32 c)
{
  guint64 sum = (g >> 32) * c + (((g & G_MAXUINT32) * c) >> 32);

  return (guint32) (sum >> 32) | ((guint32) sum > 1);
}

/* The shortest decimal in the rounding interval of c * 2^q. @at_power: c is
 * a power of two, and the spacing below it is half as large. */
static Decimal
shortest (guint32 c, gint q, gboolean at_power)
{
  guint odd = c & 1; /* bounds are included for even floats */
  gint k = floor_log10_pow2 (q, at_power);
  gint h = q + floor_log2_pow10 (-k) + 1;
  guint64 g = pow10_64[-k - POW10_MIN];
  guint32 low = multiply_to_odd (g, (4 * c - 2 + at_power) << h) + odd;
  guint32 mid = multiply_to_odd (g, (4 * c) << h);
  guint32 high = multiply_to_odd (g, (4 * c + 2) << h) - odd;
  guint32 s = mid / 4;
  gboolean below, above;

  if (s >= 10) {
    guint32 t = s / 10;

    below = low <= 40 * t;
    above = 40 * t + 40 <= high;
    if (below != above)
      return (Decimal){ t + above, k + 1 };
  }
  below = low <= 4 * s;
  above = 4 * s + 4 <= high;
  if (below != above)
    return (Decimal){ s + above, k };
  return (Decimal){ s + (mid > 4 * s + 2 || (mid == 4 * s + 2 && (s & 1))), k };
}

static gchar *
write_zeros (gchar *to, gint n)
{
  memset (to, '0', n);
  return to + n;
}

static gchar *
write_decimal (gchar *to, Decimal d)
{
  gchar digits[10];
  gint n, point; /* number of digits; digits before the point */

  while (d.digits % 10 == 0) {
    d.digits /= 10;
    d.exponent++;
  }
  n = (gint) (cvis_text_uint (digits, d.digits) - digits);
  point = n + d.exponent;

  if (point > 21 || point < -4) { /* 1.5e-10 */
    *to++ = digits[0];
    if (n > 1) {
      *to++ = '.';
      memcpy (to, digits + 1, n - 1);
      to += n - 1;
    }
    *to++ = 'e';
    return cvis_text_int (to, point - 1);
  }
  if (point <= 0) { /* 0.0015 */
    *to++ = '0';
    *to++ = '.';
    to = write_zeros (to, -point);
    memcpy (to, digits, n);
    return to + n;
  }
  if (point >= n) { /* 1500 */
    memcpy (to, digits, n);
    return write_zeros (to + n, point - n);
  }
  memcpy (to, digits, point); /* 1.5 */
  to[point] = '.';
  memcpy (to + point + 1, digits + point, n - point);
  return to + n + 1;
}

gchar *
pbf_text_float (gchar *to, gfloat value)
{
  guint32 bits, mantissa, exponent, c;
  gint q;

  memcpy (&bits, &value, sizeof (bits));
  mantissa = bits & 0x7fffff;
  exponent = (bits >> 23) & 0xff;

  if (exponent == 0xff && mantissa != 0) {
    memcpy (to, "nan", 3);
    return to + 3;
  }
  if (bits >> 31)
    *to++ = '-';
  if (exponent == 0xff) {
    memcpy (to, "inf", 3);
    return to + 3;
  }
  if (exponent == 0 && mantissa == 0) {
    *to = '0';
    return to + 1;
  }

  c = exponent != 0 ? mantissa | 0x800000 : mantissa;
  q = exponent != 0 ? (gint) exponent - 150 : -149;
  /* whole numbers, as most features are */
  if (q <= 0 && q > -24 && (c & ((1u << -q) - 1)) == 0)
    return cvis_text_uint (to, c >> -q);
  return write_decimal (to, shortest (c, q, mantissa == 0 && exponent > 1));
}
