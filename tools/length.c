/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lengths with units; used by the subcommands whose data are measured surfaces. */
#include "length.h"

#include <math.h>
#include <string.h>

#include "command.h"

static const LengthUnit units[] = {
  { "pm", "pm", 1e-12 },
  { "nm", "nm", 1e-9 },
  { "um", "\302\265m", 1e-6 },
  { "mm", "mm", 1e-3 },
  { "m", "m", 1 },
};

/* Spellings beside the names above; the two signs for micro differ in UTF-8 */
static const LengthUnit spellings[] = {
  { "\302\265m", NULL, 1e-6 },
  { "\316\274m", NULL, 1e-6 },
  { "cm", NULL, 1e-2 },
  { "in", NULL, 25.4e-3 },
};

static gdouble
find_unit (const gchar *name)
{
  if (name[0] == '\0')
    return 1;
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (name, units[i].name) == 0)
      return units[i].metres;
  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    if (strcmp (name, spellings[i].name) == 0)
      return spellings[i].metres;
  return 0;
}

static void
set_unit_error (
    const gchar *text, const gchar *option, const gchar *unit, GError **error)
{
  static const gchar *const names[] = { "um", "mm", "nm", "cm", "pm", "in",
    NULL };
  gchar *lower = g_ascii_strdown (unit, -1);
  const gchar *nearest = nearest_name (lower, names);

  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "%s %s: there is no unit \"%s\" (pm, nm, um, mm, cm, in, m)%s%s%s",
      option, text, unit, nearest != NULL ? "; did you mean " : "",
      nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
  g_free (lower);
}

gboolean
length_parse (
    const gchar *text, const gchar *option, gdouble *metres, GError **error)
{
  gchar *end, *unit;
  gdouble value = g_ascii_strtod (text, &end), factor;

  if (end == text || !isfinite (value) || value < 0) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "%s %s is no length; write 80um, 0.8mm or 2.5e-6 (metres)", option,
        text);
    return FALSE;
  }
  unit = g_strstrip (g_strdup (end));
  factor = find_unit (unit);
  if (factor == 0)
    set_unit_error (text, option, unit, error);
  g_free (unit);
  *metres = value * factor;
  return factor != 0;
}

const LengthUnit *
length_unit (gdouble metres)
{
  guint i = 0;

  while (i + 1 < G_N_ELEMENTS (units)
         && fabs (metres) >= units[i + 1].metres * 0.9995)
    i++;
  return &units[i];
}

gchar *
length_format (gdouble metres)
{
  const LengthUnit *unit = length_unit (metres);

  if (metres == 0)
    return g_strdup ("0 m");
  return g_strdup_printf ("%.4g %s", metres / unit->metres, unit->label);
}
