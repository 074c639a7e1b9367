/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Names of wavelets. */
#include "cuda/wavelet/private.h"

/* Largest Levenshtein distance of a suggested name: 1 of short names, as most are
 * 3 letters long. */
#define MAX_TYPOS 2
#define LONG_NAME 6
/* Length of the longest name. */
#define MAX_NAME 16

static const gchar *const names[] = { "haar", "db1", "db2", "db3", "db4", "db5",
  "db6", "db7", "db8", "db9", "db10", "db11", "db12", "db13", "db14", "db15",
  "db16", "db17", "db18", "db19", "db20", "sym2", "sym3", "sym4", "sym5",
  "sym6", "sym7", "sym8", "sym9", "sym10", "sym11", "sym12", "sym13", "sym14",
  "sym15", "sym16", "sym17", "sym18", "sym19", "sym20", "coif1", "coif2",
  "coif3", "coif4", "coif5", "bior1.1", "bior1.3", "bior1.5", "bior2.2",
  "bior2.4", "bior2.6", "bior2.8", "bior3.1", "bior3.3", "bior3.5", "bior3.7",
  "bior3.9", "bior4.4", "bior5.5", "bior6.8", "rbio1.1", "rbio1.3", "rbio1.5",
  "rbio2.2", "rbio2.4", "rbio2.6", "rbio2.8", "rbio3.1", "rbio3.3", "rbio3.5",
  "rbio3.7", "rbio3.9", "rbio4.4", "rbio5.5", "rbio6.8", "5/3", "9/7", "cdf7/5",
  "dd9/7", "dd13/7", NULL };

/* Synonyms */
static const struct {
  const gchar *name;
  const gchar *same_as;
} same[] = {
  { "db1", "haar" },
  { "bior1.1", "haar" },
  { "rbio1.1", "haar" },
  { "sym2", "db2" },
  { "sym3", "db3" },
  { "bior2.2", "5/3" },
  { "bior4.4", "9/7" },
};

const gchar *const *
lwt_wavelet_names (void)
{
  return names;
}

static guint
min3 (guint a, guint b, guint c)
{
  return MIN (a, MIN (b, c));
}

/* Levenshtein distance: letters to insert, delete or replace, ignoring case.
 * @name is at most MAX_NAME long. */
static guint
typos (const gchar *asked, const gchar *name)
{
  const gsize length = strlen (name);
  guint row[MAX_NAME + 1];

  for (guint j = 0; j <= length; j++)
    row[j] = j;
  for (guint i = 0; asked[i]; i++) {
    guint diagonal = row[0];

    row[0] = i + 1;
    for (guint j = 0; j < length; j++) {
      const gboolean differ =
          g_ascii_tolower (asked[i]) != g_ascii_tolower (name[j]);
      const guint next = min3 (row[j + 1] + 1, row[j] + 1, diagonal + differ);

      diagonal = row[j + 1];
      row[j + 1] = next;
    }
  }
  return row[length];
}

/* Returns: the nearest name, or NULL if none is near */
static const gchar *
nearest (const gchar *asked)
{
  const gchar *best = NULL;
  guint least = strlen (asked) < LONG_NAME ? 2 : MAX_TYPOS + 1;

  if (strlen (asked) > MAX_NAME + MAX_TYPOS)
    return NULL;
  for (guint i = 0; names[i]; i++) {
    const guint n = typos (asked, names[i]);

    if (n < least && n < strlen (names[i])) {
      least = n;
      best = names[i];
    }
  }
  return best;
}

static void
set_unknown (const gchar *name, GError **error)
{
  gchar *shown = g_utf8_make_valid (name, (gssize) strnlen (name, 64));
  const gchar *near = nearest (name);

  if (strcmp (name, "dmey") == 0)
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "wavelet \"dmey\" is not supported: its filters are truncated and do "
        "not reconstruct");
  else if (near)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "unknown wavelet \"%s\" (did you mean \"%s\"?)", shown, near);
  else
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "unknown wavelet \"%s\". Use haar, db1 to db20, sym2 to sym20, coif1 "
        "to coif5, bior1.1 to bior6.8, rbio1.1 to rbio6.8, 5/3, 9/7, cdf7/5, "
        "dd9/7, dd13/7, or a text that begins with \"steps:\" or \"bank:\"",
        shown);
  g_free (shown);
}

const gchar *
lwt_name_resolve (const gchar *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    if (strcmp (name, same[i].name) == 0)
      return same[i].same_as;
  for (guint i = 0; names[i]; i++)
    if (strcmp (name, names[i]) == 0)
      return names[i];
  set_unknown (name, error);
  return NULL;
}
