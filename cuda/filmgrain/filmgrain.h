/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The film grain of a video as parameters of AV1 (AV1 specification, 6.8.20 and 7.18.3),
 * from pairs of a source frame and the same frame without its noise. On the CPU. Called
 * by filmgrainenc.
 *
 * Noise is measured in the flattest blocks, as the difference elsewhere contains texture
 * too: its strength by the level of the luma, and how a sample depends on its neighbours,
 * by a causal autoregressive model of 3 rows and columns. One thread for each FilmGrain.
 * Sums are of integers, so that the result is the same on every machine up to rounding
 * of the last step, which is in double precision. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Neighbours of the model: 3 rows of 7 above, 3 samples to the left */
#define FILM_GRAIN_LAG 3
#define FILM_GRAIN_NEIGHBOURS 24
/* Points of the scaling functions: AV1 allows 14 for luma, 10 for chroma */
#define FILM_GRAIN_POINTS 10

/**
 * FilmGrainFormat:
 * @width, @height: of the luma, samples
 * @depth: bits of a sample, 8 to 12; more than 8: 16-bit words, little endian
 * @shift: of the sample in its word, bits: 6 in P010
 * @planes: 1 (luma) or 3
 * @sub_x, @sub_y: logarithm of the chroma's subsampling: 1, 1 for 4:2:0
 */
typedef struct {
  guint width, height;
  guint depth, shift;
  guint planes;
  guint sub_x, sub_y;
} FilmGrainFormat;

/**
 * FilmGrainPlane:
 * @stride: of rows, bytes
 * @step: of samples, bytes: 2 for the chroma of NV12
 */
typedef struct {
  const guint8 *data;
  gint stride, step;
} FilmGrainPlane;

/**
 * FilmGrainComponent:
 * @points: number of points; 0: no grain
 * @level, @scaling: of each point: 8-bit level of the luma, and the factor there
 * @ar: coefficients of the neighbours, by rows; then, of chroma, of the luma
 */
typedef struct {
  guint points;
  guint8 level[FILM_GRAIN_POINTS], scaling[FILM_GRAIN_POINTS];
  gint8 ar[FILM_GRAIN_NEIGHBOURS + 1];
} FilmGrainComponent;

/**
 * FilmGrainParameters:
 * @ar_shift: ar_coeff_shift, 6 to 9: coefficients are in 2^-ar_shift
 * @grain_shift: grain_scale_shift, 0 to 3
 * @scaling_shift: 8 to 11
 * @components: luma, Cb, Cr
 */
typedef struct {
  guint ar_shift, grain_shift, scaling_shift;
  FilmGrainComponent components[3];
} FilmGrainParameters;

typedef struct _FilmGrain FilmGrain;

FilmGrain *film_grain_new (const FilmGrainFormat *format);
void film_grain_free (FilmGrain *grain);

/* Adds a frame: @source minus @denoised is grain. */
void film_grain_add (FilmGrain *grain, const FilmGrainPlane source[3],
    const FilmGrainPlane denoised[3]);

/* The parameters of the frames since the last call, which are forgotten. */
void film_grain_take (FilmGrain *grain, FilmGrainParameters *into);

/* Standard deviation of the grain that a decoder adds where the luma has @level, in
 * 8-bit levels. @component: 0 to 2; @sub_x, @sub_y: as of the format */
gdouble film_grain_get_strength (const FilmGrainParameters *parameters,
    guint component, guint level, guint sub_x, guint sub_y);

/* The first line of a table, and an entry for times from @start to before @end, in
 * units of 100 ns; @end = G_MAXINT64: to the end of the stream. The format of
 * --film-grain-table of aomenc and --fgs-table of SVT-AV1 */
#define FILM_GRAIN_TABLE_HEADER "filmgrn1\n"
void film_grain_append_entry (GString *table,
    const FilmGrainParameters *parameters, gint64 start, gint64 end);

G_END_DECLS
