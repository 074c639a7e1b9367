/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/heights.h"

#include <math.h>
#include <string.h>

#define LANES 8
#define CHUNK 256 /* samples as float64 in the L1 cache; a multiple of LANES */
#define LINE 64   /* bytes of a cache line */
/* bytes; the processor's own prefetch stops at the end of a page */
#define AHEAD 4096

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_ (a, b)

/* --- samples as float64 ------------------------------------------------------ */

#define DEFINE_LOAD(name, T, U, SWAP)                                          \
  static void load_##name (                                                    \
      const guint8 *restrict raw, gsize n, gdouble *restrict s)                \
  {                                                                            \
    for (gsize i = 0; i < n; i++) {                                            \
      U bits;                                                                  \
      T value;                                                                 \
                                                                               \
      memcpy (&bits, raw + i * sizeof (U), sizeof (U));                        \
      bits = SWAP (bits);                                                      \
      memcpy (&value, &bits, sizeof (T));                                      \
      s[i] = (gdouble) value;                                                  \
    }                                                                          \
  }

#define KEEP(x) (x)
DEFINE_LOAD (u8, guint8, guint8, KEEP)
DEFINE_LOAD (i8, gint8, guint8, KEEP)
#define DEFINE_LOADS(size, T, U, name)                                         \
  DEFINE_LOAD (name##_le, T, U, GUINT##size##_FROM_LE)                         \
  DEFINE_LOAD (name##_be, T, U, GUINT##size##_FROM_BE)
DEFINE_LOADS (16, guint16, guint16, u16)
DEFINE_LOADS (16, gint16, guint16, i16)
DEFINE_LOADS (32, guint32, guint32, u32)
DEFINE_LOADS (32, gint32, guint32, i32)
DEFINE_LOADS (64, guint64, guint64, u64)
DEFINE_LOADS (64, gint64, guint64, i64)
DEFINE_LOADS (32, gfloat, guint32, f32)
DEFINE_LOADS (64, gdouble, guint64, f64)

#define DEFINE_LOAD_HALF(name, SWAP)                                           \
  static void load_##name (                                                    \
      const guint8 *restrict raw, gsize n, gdouble *restrict s)                \
  {                                                                            \
    for (gsize i = 0; i < n; i++) {                                            \
      guint16 bits;                                                            \
                                                                               \
      memcpy (&bits, raw + 2 * i, sizeof (bits));                              \
      s[i] = surface_half (SWAP (bits));                                       \
    }                                                                          \
  }

DEFINE_LOAD_HALF (f16_le, GUINT16_FROM_LE)
DEFINE_LOAD_HALF (f16_be, GUINT16_FROM_BE)

typedef void (*LoadFunc) (
    const guint8 *restrict raw, gsize n, gdouble *restrict s);

static LoadFunc
find_load (const SurfaceLayout *layout)
{
  static const LoadFunc loads[][2] = {
    [SURFACE_SAMPLE_U8] = { load_u8, load_u8 },
    [SURFACE_SAMPLE_I8] = { load_i8, load_i8 },
    [SURFACE_SAMPLE_U16] = { load_u16_le, load_u16_be },
    [SURFACE_SAMPLE_I16] = { load_i16_le, load_i16_be },
    [SURFACE_SAMPLE_U32] = { load_u32_le, load_u32_be },
    [SURFACE_SAMPLE_I32] = { load_i32_le, load_i32_be },
    [SURFACE_SAMPLE_U64] = { load_u64_le, load_u64_be },
    [SURFACE_SAMPLE_I64] = { load_i64_le, load_i64_be },
    [SURFACE_SAMPLE_F32] = { load_f32_le, load_f32_be },
    [SURFACE_SAMPLE_F64] = { load_f64_le, load_f64_be },
    [SURFACE_SAMPLE_F16] = { load_f16_le, load_f16_be },
  };

  return loads[layout->type][layout->big != 0];
}

static inline void
prefetch_chunk (const guint8 *raw, gsize size)
{
  for (gsize at = 0; at < CHUNK * size; at += LINE)
    __builtin_prefetch (raw + AHEAD + at);
}

/* Compilers do not vectorise sums in lanes by themselves, and vectors wider
 * than the processor's are slow. */
#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX2__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
typedef gdouble Lanes __attribute__ ((vector_size (WIDTH * sizeof (gdouble))));
typedef gint64 Masks __attribute__ ((vector_size (WIDTH * sizeof (gint64))));

/* --- float32 that are heights already ------------------------------------------ */

typedef gfloat Floats __attribute__ ((vector_size (WIDTH * sizeof (gfloat))));

/* Whether heights are equal to samples, and only samples that are not finite
 * are missing */
static gboolean
are_floats (const SurfaceLayout *l)
{
  return l->type == SURFACE_SAMPLE_F32
         && l->big == (G_BYTE_ORDER == G_BIG_ENDIAN) && l->scale == 1
         && l->offset == 0 && l->low == -INFINITY && l->high == INFINITY;
}

/* Whether no float of a chunk is missing; the loops below need fewer
 * instructions then. */
static inline gboolean
is_whole (const guint8 *raw)
{
  const guint32 exponent = 0x7f800000;
  guint32 missing = 0, bits;

  for (gsize i = 0; i < CHUNK; i++) {
    memcpy (&bits, raw + i * sizeof (bits), sizeof (bits));
    missing |= (bits & exponent) == exponent;
  }
  return !missing;
}

/* Floats minus @offset; 0 if both are 0, whatever their signs, as with scale and
 * offset of a layout */
static inline Lanes
lanes_of_floats (const guint8 *raw, gdouble offset)
{
  Floats floats;

  memcpy (&floats, raw, sizeof (floats));
  return __builtin_convertvector(floats, Lanes) + (0.0 - offset);
}

static void
sum_whole (const guint8 *raw, gdouble first, Lanes sums[LANES / WIDTH])
{
  for (gsize i = 0; i < CHUNK; i += LANES)
    for (gsize k = 0; k < LANES / WIDTH; k++)
      sums[k] +=
          lanes_of_floats (raw + (i + k * WIDTH) * sizeof (gfloat), first);
}

/* @to may be @raw. */
static void
convert_whole (const guint8 *raw, gdouble offset, gfloat *to)
{
  for (gsize i = 0; i < CHUNK; i += WIDTH) {
    const Floats z = __builtin_convertvector(
        lanes_of_floats (raw + i * sizeof (gfloat), offset), Floats);

    memcpy (to + i, &z, sizeof (z));
  }
}

/* --- heights ----------------------------------------------------------------- */

/* Samples that are not finite are missing. */
static inline gdouble
height_of (const SurfaceLayout *l, gdouble sample)
{
  const gdouble z = sample * l->scale + l->offset;
  /* no &&: a branch would prevent vectorisation */
  const gboolean there =
      (sample > l->low) & (sample < l->high) & (fabs (z) <= G_MAXDOUBLE);

  return there ? z : NAN;
}

static SurfaceSum
heights_sum (
    const SurfaceLayout *layout, const guint8 *raw, gsize n, gdouble first)
{
  const LoadFunc load = find_load (layout);
  const gsize size = surface_sample_size (layout->type);
  const SurfaceLayout l = *layout;
  const gboolean floats = are_floats (layout);
  Lanes s[CHUNK / WIDTH], sums[LANES / WIDTH] = { 0 };
  Masks there[LANES / WIDTH] = { 0 };
  gdouble lanes[LANES];
  gsize n_there = 0;

  for (gsize done = 0; done < n; done += CHUNK, raw += CHUNK * size) {
    gsize m = MIN (n - done, CHUNK);

    prefetch_chunk (raw, size);
    if (floats && m == CHUNK && is_whole (raw)) {
      sum_whole (raw, first, sums);
      n_there += CHUNK;
      continue;
    }
    load (raw, m, (gdouble *) s);
    for (; m % LANES != 0; m++)
      s[m / WIDTH][m % WIDTH] = NAN;
    for (gsize i = 0; i < m / WIDTH; i += LANES / WIDTH)
      for (gsize k = 0; k < LANES / WIDTH; k++) {
        const Lanes sample = s[i + k], z = sample * l.scale + l.offset;
        const Lanes magnitude = (Lanes) ((Masks) z & G_MAXINT64);
        const Masks is = (Masks) (sample > l.low) & (Masks) (sample < l.high)
                         & (Masks) (magnitude <= G_MAXDOUBLE);

        sums[k] += (Lanes) ((Masks) (z - first) & is);
        there[k] -= is;
      }
  }
  for (guint k = 0; k < LANES; k++) {
    lanes[k] = sums[k / WIDTH][k % WIDTH];
    n_there += (gsize) there[k / WIDTH][k % WIDTH];
  }
  return (SurfaceSum){ ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))
                           + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])),
    n_there };
}

#define DEFINE_CONVERT(name, T)                                                \
  static gsize heights_to_##name (const SurfaceLayout *layout,                 \
      const guint8 *raw, gsize n, gdouble offset, gpointer to)                 \
  {                                                                            \
    const LoadFunc load = find_load (layout);                                  \
    const gsize size = surface_sample_size (layout->type);                     \
    const SurfaceLayout l = *layout;                                           \
    const gboolean floats =                                                    \
        sizeof (T) == sizeof (gfloat) && are_floats (layout);                  \
    gsize there = 0;                                                           \
    gdouble s[CHUNK];                                                          \
                                                                               \
    for (gsize done = 0; done < n; done += CHUNK, raw += CHUNK * size) {       \
      const gsize m = MIN (n - done, CHUNK);                                   \
      T *at = (T *) to + done;                                                 \
                                                                               \
      prefetch_chunk (raw, size);                                              \
      if (floats && m == CHUNK && is_whole (raw)) {                            \
        convert_whole (raw, offset, (gpointer) at);                            \
        there += CHUNK;                                                        \
        continue;                                                              \
      }                                                                        \
      load (raw, m, s);                                                        \
      for (gsize i = 0; i < m; i++) {                                          \
        const gdouble z = height_of (&l, s[i]);                                \
                                                                               \
        at[i] = (T) (z - offset);                                              \
        there += z == z;                                                       \
      }                                                                        \
    }                                                                          \
    return there;                                                              \
  }

DEFINE_CONVERT (f32, gfloat)
DEFINE_CONVERT (f64, gdouble)

const SurfaceKernels PASTE (surface_kernels, SURFACE_LEVEL) = { heights_sum,
  heights_to_f32, heights_to_f64 };
