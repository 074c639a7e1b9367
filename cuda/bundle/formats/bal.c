/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Bundle Adjustment in the Large, text:
 *
 *   CAMERAS POINTS OBSERVATIONS
 *   CAMERA POINT X Y            for each observation
 *   PARAMETER                   9 of each camera, then 3 of each point
 *
 * The file is read by all threads in two passes over chunks. The first counts
 * numbers, which tells what the first number of each chunk is; the second reads
 * the records that begin in each chunk. */
#include <math.h>
#include <string.h>
#include "cuda/bundle/formats/codecs.h"
#include "cuda/core/cancel.h"
#include "cuda/core/digits.h"
#include "cuda/core/text.h"
#include "cuda/core/threadpool.h"

#define CHUNK (1 << 19)   /* bytes of text */
#define COUNTED 128       /* bytes whose count fits one byte */
#define WRITTEN (1 << 13) /* observations or parameters in a chunk */
#define ROUND 4           /* chunks of a thread in a round */
#define LINE_BYTES (2 * 11 + 2 * (CVIS_DECIMAL_MAX + 1) + 1)

/**
 * Reading:
 * @s: the text after the header
 * @first: n_chunks + 1: index of each chunk's first number
 * @fault: n_chunks: address of the first fault; %NULL: none
 */
typedef struct {
  BundleScanner s;
  BundleProblem *problem;
  guint n_chunks;
  guint64 *first;
  const gchar **fault;
} Reading;

/* --- first pass --------------------------------------------------------------- */

static inline gboolean
is_bal_blank (gchar c)
{
  return (guchar) c <= ' ';
}

/* Whether a number begins at @at; branch-free, so that it is vectorised */
static inline guint8
is_start (const gchar *at)
{
  return (guint8) (((guchar) at[0] > ' ') & ((guchar) at[-1] <= ' '));
}

/* Numbers that begin in @at..@end; the byte before @at is readable */
static guint64
count_numbers (const gchar *at, const gchar *end)
{
  guint64 n = 0;

  for (; end - at >= COUNTED; at += COUNTED) {
    guint8 some = 0;

    for (guint i = 0; i < COUNTED; i++)
      some = (guint8) (some + is_start (at + i));
    n += some;
  }
  for (; at < end; at++)
    n += is_start (at);
  return n;
}

static const gchar *
chunk_start (const Reading *r, guint i)
{
  return i < r->n_chunks ? r->s.at + (gsize) i * CHUNK : r->s.end;
}

static void
count_chunks (guint first, guint count, gpointer user_data)
{
  Reading *r = user_data;

  for (guint i = first; i < first + count; i++)
    r->first[i + 1] =
        count_numbers (chunk_start (r, i), chunk_start (r, i + 1));
}

/* --- second pass -------------------------------------------------------------- */

/* Start of the next number, which exists. */
static inline const gchar *
skip_blanks (const gchar *at)
{
  while (is_bal_blank (*at))
    at++;
  return at;
}

/* The @n-th number that begins at @at or later */
static const gchar *
find_number (const gchar *at, const gchar *end, guint64 n)
{
  for (; at < end; at++)
    if (is_start (at) && n-- == 0)
      break;
  return at;
}

/* Returns: %NULL if it is not an index below @limit */
static inline const gchar *
read_index (const gchar *at, const gchar *end, guint limit, guint32 *index)
{
  guint64 value = 0, digits;
  const gchar *start = at;
  guint n;

  if (end - at > 8) {
    n = cvis_digits_find (at, &digits);
    if (n > 0 && is_bal_blank (at[n])) {
      *index = cvis_digits_join (digits);
      return *index < limit ? at + n : NULL;
    }
  }
  for (; at < end && (guchar) (*at - '0') < 10; at++)
    value = MIN (value * 10 + (guint) (*at - '0'), G_MAXUINT32);
  if (at == start || at == end || !is_bal_blank (*at) || value >= limit)
    return NULL;
  *index = (guint32) value;
  return at;
}

static inline const gchar *
read_bal_value (const gchar *at, const gchar *end, gdouble *value)
{
  const gchar *stop = cvis_decimal_read (at, end, '.', value);

  if (stop == at || (stop < end && !is_bal_blank (*stop)) || !isfinite (*value))
    return NULL;
  return stop;
}

/* Returns: the wrong field; %NULL: none */
static const gchar *
read_observation (Reading *r, const gchar **text, guint64 i)
{
  BundleProblem *problem = r->problem;
  const gchar *end = r->s.end, *at = skip_blanks (*text), *stop;

  stop = read_index (at, end, problem->n_cameras, &problem->camera_of[i]);
  if (stop) {
    at = skip_blanks (stop);
    stop = read_index (at, end, problem->n_points, &problem->point_of[i]);
  }
  for (guint k = 0; stop && k < 2; k++) {
    at = skip_blanks (stop);
    stop = read_bal_value (at, end, &problem->observed[2 * i + k]);
  }
  *text = stop;
  return stop ? NULL : at;
}

/* Parses the records that begin in chunk @c. Returns: the wrong field;
 * %NULL: none */
static const gchar *
read_chunk (Reading *r, guint c)
{
  BundleProblem *problem = r->problem;
  const guint64 n = problem->n_observations, last = r->first[c + 1];
  const guint64 n_camera_values =
      (guint64) problem->n_cameras * BUNDLE_CAMERA_SIZE;
  guint64 number = r->first[c];
  const gchar *at = chunk_start (r, c), *wrong = NULL;

  if (number < 4 * n) {
    guint64 i = (number + 3) / 4;

    at = find_number (at, r->s.end, 4 * i - number);
    number = 4 * i;
    for (; i < n && 4 * i < last; i++, number += 4) {
      wrong = read_observation (r, &at, i);
      if (wrong)
        return wrong;
    }
  } else {
    at = find_number (at, r->s.end, 0);
  }
  for (; number < last; number++) {
    const guint64 i = number - 4 * n;
    gdouble *to = i < n_camera_values ? &problem->cameras[i]
                                      : &problem->points[i - n_camera_values];

    wrong = skip_blanks (at);
    at = read_bal_value (wrong, r->s.end, to);
    if (!at)
      return wrong;
  }
  return NULL;
}

static void
read_chunks (guint first, guint count, gpointer user_data)
{
  Reading *r = user_data;

  for (guint i = first; i < first + count; i++)
    r->fault[i] = read_chunk (r, i);
}

/* --- reading -------------------------------------------------------------------- */

static const gchar *
name_of_number (const Reading *r, guint64 number)
{
  static const gchar *const observation[] = { "camera of an observation",
    "point of an observation", "observation x", "observation y" };
  static const gchar *const camera[] = { "rotation of a camera",
    "translation of a camera", "focal length of a camera", "k1 of a camera",
    "k2 of a camera" };
  const BundleProblem *problem = r->problem;
  guint k;

  if (number < 4 * (guint64) problem->n_observations)
    return observation[number % 4];
  number -= 4 * (guint64) problem->n_observations;
  if (number >= (guint64) BUNDLE_CAMERA_SIZE * problem->n_cameras)
    return "coordinate of a point";
  k = number % BUNDLE_CAMERA_SIZE;
  return camera[k < 6 ? k / 3 : k - 4];
}

/* Finds and reports the fault in a chunk that read_chunk() refused. */
static gboolean
refuse_number (Reading *r, guint chunk, GError **error)
{
  BundleScanner s = r->s;
  const guint64 number =
      r->first[chunk] + count_numbers (chunk_start (r, chunk), r->fault[chunk]);
  const gchar *field = name_of_number (r, number);
  const gboolean index =
      number < 4 * (guint64) r->problem->n_observations && number % 4 < 2;
  guint64 integer;
  gdouble value;

  s.at = r->fault[chunk];
  if (!index)
    return bundle_scan_number (&s, field, &value, error);
  return bundle_scan_integer (&s, field, 0,
      (number % 4 ? r->problem->n_points : r->problem->n_cameras) - 1, &integer,
      error);
}

static gboolean
check_size (Reading *r, const guint64 header[3], GError **error)
{
  const guint64 wanted =
      BUNDLE_CAMERA_SIZE * header[0] + 3 * header[1] + 4 * header[2];
  const guint64 found = r->first[r->n_chunks];

  if (found == wanted)
    return TRUE;
  if (found < wanted)
    return bundle_scan_fault (&r->s, r->s.end, "end", error,
        "the text ends after %" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
        " numbers specified in its first line",
        found, wanted);
  return bundle_scan_fault (&r->s, find_number (r->s.at, r->s.end, wanted),
      "end", error,
      "text follows the %" G_GUINT64_FORMAT
      " numbers specified in the first line",
      wanted);
}

static gboolean
read_all (Reading *r, const guint64 header[3], CvisPool *pool, GError **error)
{
  cvis_pool_run (pool, r->n_chunks, 1, count_chunks, r);
  if (cvis_cancelled ())
    return FALSE;
  for (guint i = 0; i < r->n_chunks; i++)
    r->first[i + 1] += r->first[i];
  if (!check_size (r, header, error))
    return FALSE;
  r->problem = bundle_problem_new_unset (
      (guint) header[0], (guint) header[1], header[2], error);
  if (!r->problem)
    return FALSE;
  cvis_pool_run (pool, r->n_chunks, 1, read_chunks, r);
  if (cvis_cancelled ())
    return FALSE;
  for (guint i = 0; i < r->n_chunks; i++)
    if (r->fault[i])
      return refuse_number (r, i, error);
  return TRUE;
}

BundleProblem *
bundle_bal_read (const gchar *data, gsize size, guint threads, GError **error)
{
  static const gchar *const names[] = { "number of cameras", "number of points",
    "number of observations" };
  Reading r = { .s = bundle_scan_new ("", data, size, FALSE) };
  guint64 header[3];
  CvisPool *pool;
  gboolean ok;

  for (guint i = 0; i < 3; i++)
    if (!bundle_scan_integer (&r.s, names[i], 1,
            i < 2 ? (guint64) G_MAXINT32 : (guint64) G_MAXUINT32, &header[i],
            error))
      return NULL;
  r.n_chunks = (guint) (((gsize) (r.s.end - r.s.at) + CHUNK - 1) / CHUNK);
  r.first = g_new0 (guint64, r.n_chunks + 1);
  r.fault = g_new0 (const gchar *, r.n_chunks + 1);
  pool = cvis_pool_new (threads);
  ok = read_all (&r, header, pool, error);
  cvis_pool_free (pool);
  g_free (r.first);
  g_free (r.fault);
  if (!ok)
    g_clear_pointer (&r.problem, bundle_problem_free);
  return r.problem;
}

/* --- writing -------------------------------------------------------------------- */

#define PART_BYTES ((WRITTEN + 1) * (gsize) LINE_BYTES) /* with the header */

/* Memory of a chunk's text. It returns to @unused when downstream frees it, because
 * new pages cost more than the text in them. */
typedef struct {
  GAsyncQueue *unused;
  gsize n;
  gchar text[];
} Part;

/**
 * Writing: rounds of chunks
 * @first: first chunk of the round
 * @n_observation_chunks: chunks before those of parameters
 * @parts: of the round's chunks
 */
typedef struct {
  const BundleProblem *problem;
  guint first, n_observation_chunks;
  Part **parts;
  CvisPool *pool;
  gint done; /* atomic: the round is */
} Writing;

/* Returns: how many of @n there is memory for */
static guint
take_parts (GAsyncQueue *unused, Part **parts, guint n)
{
  for (guint i = 0; i < n; i++) {
    Part *part = g_async_queue_try_pop (unused);

    if (!part)
      part = g_try_malloc (sizeof (Part) + PART_BYTES);
    if (!part)
      return i;
    part->unused = g_async_queue_ref (unused);
    part->n = 0;
    parts[i] = part;
  }
  return n;
}

static void
release_part (gpointer data)
{
  Part *part = data;
  GAsyncQueue *unused = part->unused;

  g_async_queue_push (unused, part);
  g_async_queue_unref (unused);
}

static inline gchar *
write_index (gchar *to, guint32 index)
{
  to = index < 100000000 ? cvis_digits_write (to, index)
                         : cvis_text_uint (to, index);
  *to++ = ' ';
  return to;
}

static gchar *
write_header (const BundleProblem *problem, gchar *to)
{
  to = write_index (to, problem->n_cameras);
  to = write_index (to, problem->n_points);
  to = cvis_text_uint (to, problem->n_observations);
  *to++ = '\n';
  return to;
}

static gchar *
write_observations (const BundleProblem *problem, gsize first, gchar *to)
{
  const gsize end = MIN (first + WRITTEN, problem->n_observations);

  for (gsize i = first; i < end; i++) {
    to = write_index (to, problem->camera_of[i]);
    to = write_index (to, problem->point_of[i]);
    to = cvis_decimal_write (to, problem->observed[2 * i]);
    *to++ = ' ';
    to = cvis_decimal_write (to, problem->observed[2 * i + 1]);
    *to++ = '\n';
  }
  return to;
}

static gchar *
write_parameters (const BundleProblem *problem, gsize first, gchar *to)
{
  const gsize n_cameras = (gsize) problem->n_cameras * BUNDLE_CAMERA_SIZE;
  const gsize end =
      MIN (first + WRITTEN, n_cameras + 3 * (gsize) problem->n_points);

  for (gsize i = first; i < end; i++) {
    to = cvis_decimal_write (to,
        i < n_cameras ? problem->cameras[i] : problem->points[i - n_cameras]);
    *to++ = '\n';
  }
  return to;
}

static void
write_chunks (guint first, guint count, guint thread, gpointer user_data)
{
  Writing *w = user_data;

  for (guint i = first; i < first + count; i++) {
    const guint chunk = w->first + i;
    Part *part = w->parts[i];
    gchar *to = part->text;

    if (chunk == 0)
      to = write_header (w->problem, to);
    if (chunk < w->n_observation_chunks)
      to = write_observations (w->problem, (gsize) chunk * WRITTEN, to);
    else
      to = write_parameters (
          w->problem, (gsize) (chunk - w->n_observation_chunks) * WRITTEN, to);
    part->n = (gsize) (to - part->text);
  }
}

static void
finish_round (gpointer user_data)
{
  Writing *w = user_data;

  cvis_pool_finish (w->pool, &w->done);
}

/* Hands the @n parts over, unless one of them was refused. */
static gboolean
hand_over (
    Part **parts, guint n, gboolean ok, BundleSink sink, gpointer user_data)
{
  for (guint i = 0; i < n; i++) {
    GBytes *bytes = g_bytes_new_with_free_func (
        parts[i]->text, parts[i]->n, release_part, parts[i]);

    if (ok)
      ok = sink (bytes, user_data);
    else
      g_bytes_unref (bytes);
  }
  return ok;
}

gboolean
bundle_bal_write (const BundleProblem *problem, guint threads, BundleSink sink,
    gpointer user_data, GError **error)
{
  const gsize n_parameters = (gsize) problem->n_cameras * BUNDLE_CAMERA_SIZE
                             + 3 * (gsize) problem->n_points;
  const guint n_observation_chunks =
      (guint) ((problem->n_observations + WRITTEN - 1) / WRITTEN);
  const guint n_chunks =
      n_observation_chunks + (guint) ((n_parameters + WRITTEN - 1) / WRITTEN);
  CvisPool *pool = cvis_pool_new (threads);
  const guint round = ROUND * cvis_pool_get_threads (pool);
  GAsyncQueue *unused = g_async_queue_new_full (g_free);
  Writing w = { problem, 0, n_observation_chunks, g_new (Part *, round), pool };
  Part **written = g_new (Part *, round);
  guint n, taken, n_written = 0;
  gboolean ok = TRUE;

  do {
    Part **parts = w.parts;

    n = MIN (round, n_chunks - w.first);
    taken = take_parts (unused, parts, n);
    w.done = FALSE;
    if (taken > 0)
      cvis_pool_start (pool, 0, taken, 1, write_chunks, finish_round, &w);
    ok = hand_over (written, n_written, ok, sink, user_data);
    if (taken > 0)
      cvis_pool_wait (pool, &w.done);
    ok = ok && !cvis_cancelled ();
    w.parts = written;
    written = parts;
    n_written = taken;
    w.first += taken;
  } while (ok && taken == n && w.first < n_chunks);
  ok = hand_over (written, n_written, ok && taken == n, sink, user_data);
  cvis_pool_free (pool);
  g_async_queue_unref (unused);
  g_free (w.parts);
  g_free (written);
  if (taken == n)
    return ok || cvis_refuse_cancelled (error);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "No memory for %u parts of a file", n);
  return FALSE;
}
