/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision roughness`, results: table, CSV, JSON, report. */
#include "config.h"

#include "roughness.h"
#include "transmission.h"

#include <math.h>
#include <string.h>

#include "tools/json.h"
#include "tools/length.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/report.h"

/* --- results --------------------------------------------------------------- */

static gchar *
make_csv (GPtrArray *surfaces)
{
  GString *csv = g_string_new (NULL);

  for (guint i = 0; i < surfaces->len; i++) {
    const gchar *rows = ((Surface *) surfaces->pdata[i])->rows;

    if (rows == NULL)
      continue;
    if (csv->len > 0 && strchr (rows, '\n') != NULL)
      rows = strchr (rows, '\n') + 1; /* the head is the first file's */
    g_string_append (csv, rows);
  }
  return g_string_free (csv, FALSE);
}

static const gchar *
part_title (const Surface *surface, CvisSurfacePart part)
{
  return surface->settings->unfiltered ? "surface"
                                       : gst_cvis_surface_part_name (part);
}

/* The cut-off as it was used, along both axes if they differ, beside the one that was
 * asked for; @name: of the message's fields */
static void
append_cutoff (
    GString *to, const Surface *surface, const gchar *name, gdouble wanted)
{
  gchar *field_x = g_strconcat (name, "-x", NULL);
  gchar *field_y = g_strconcat (name, "-y", NULL);
  gdouble x =
      surface->filter ? structure_get_double (surface->filter, field_x) : 0;
  gdouble y =
      surface->filter ? structure_get_double (surface->filter, field_y) : 0;
  gchar *asked = length_format (wanted);
  gchar *along_x = length_format (x), *along_y = length_format (y);

  if (x > 0) {
    g_string_append_printf (to, "%s %s", name, along_x);
    if (fabs (x - y) > 1e-3 * x)
      g_string_append_printf (to, " along x, %s along y", along_y);
    if (wanted > 0 && fabs (x - wanted) > 1e-3 * wanted)
      g_string_append_printf (to, " (%s asked for)", asked);
    g_string_append (to, "; ");
  }
  g_free (field_x);
  g_free (field_y);
  g_free (asked);
  g_free (along_x);
  g_free (along_y);
}

/* "lambda-c 76.8 um (80 um asked for), form removed: plane, wavelet 9/7" */
static gchar *
describe_filter (const Surface *surface)
{
  const RoughnessSettings *settings = surface->settings;
  GString *text = g_string_new (NULL);

  if (!settings->unfiltered) {
    append_cutoff (text, surface, "lambda-s", settings->lambda_s);
    append_cutoff (text, surface, "lambda-c", surface->lambda_c);
    append_cutoff (text, surface, "lambda-f", settings->lambda_f);
  }
  g_string_append_printf (text, "form removed: %s", settings->form);
  if (!settings->unfiltered && surface->filter != NULL)
    g_string_append_printf (text, "; filter %s", settings->low_pass);
  if (!settings->unfiltered && surface->filter != NULL
      && g_str_has_prefix (settings->low_pass, "wavelet"))
    g_string_append_printf (
        text, " %s", gst_structure_get_string (surface->filter, "wavelet"));
  return g_string_free (text, FALSE);
}

static gchar *
describe_points (const Surface *surface)
{
  guint width = 0, height = 0;
  gchar *dx, *dy, *text;

  if (surface->filter == NULL)
    return g_strdup ("");
  gst_structure_get_uint (surface->filter, "width", &width);
  gst_structure_get_uint (surface->filter, "height", &height);
  dx = length_format (structure_get_double (surface->filter, "dx"));
  dy = length_format (structure_get_double (surface->filter, "dy"));
  text = g_strdup_printf ("%u x %u points, spacing %s x %s, %" G_GUINT64_FORMAT
                          " missing (%.1f %%)",
      width, height, dx, dy, surface->missing,
      width > 0 && height > 0 ? 100.0 * surface->missing / width / height : 0);
  g_free (dx);
  g_free (dy);
  return text;
}

static const gchar *const table_head[] = { "", "Sa", "Sq", "Sp", "Sv", "Sz",
  "Ssk", "Sku", "Sdr", "Sdq", NULL };
#define TABLE_COLUMNS 10

/* The cells of a row; free each with g_free(). */
static void
format_row (const Surface *surface, const gchar *title,
    const CvisSurfaceParameters *p, gchar **cells)
{
  const gdouble lengths[] = { p->sa, p->sq, p->sp, p->sv, p->sz };
  gboolean slopes = surface->filter != NULL
                    && structure_get_double (surface->filter, "dx") > 0;
  guint n = 0;

  cells[n++] = g_strdup (title);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    cells[n++] = p->n > 0 ? length_format (lengths[i]) : g_strdup ("-");
  cells[n++] = p->n > 0 ? g_strdup_printf ("%.3f", p->ssk) : g_strdup ("-");
  cells[n++] = p->n > 0 ? g_strdup_printf ("%.3f", p->sku) : g_strdup ("-");
  cells[n++] = p->n > 0 && slopes ? g_strdup_printf ("%.4g %%", 100 * p->sdr)
                                  : g_strdup ("-");
  cells[n++] =
      p->n > 0 && slopes ? g_strdup_printf ("%.4g", p->sdq) : g_strdup ("-");
  cells[n] = NULL;
}

static void
free_cells (gchar **cells)
{
  for (; *cells != NULL; cells++)
    g_free (*cells);
}

static void
print_cells (const gchar *const *cells, guint first)
{
  /* the micro sign is two bytes and one column */
  for (guint i = 0; cells[i] != NULL; i++) {
    gint width = i == 0 ? (gint) first : 10;
    gint pad = width - (gint) g_utf8_strlen (cells[i], -1);

    if (i == 0)
      g_print ("%s%*s", cells[i], MAX (pad, 0), "");
    else
      g_print (" %*s%s", MAX (pad, 0), "", cells[i]);
  }
  g_print ("\n");
}

static void
print_surface (const Surface *surface)
{
  gchar *points = describe_points (surface),
        *filter = describe_filter (surface);
  gchar *cells[TABLE_COLUMNS + 1];

  g_print ("%s: %s\n%s\n\n", surface->name, points, filter);
  print_cells (table_head, 10);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    if ((surface->known & 1u << i) == 0)
      continue;
    format_row (
        surface, part_title (surface, i), &surface->parameters[i], cells);
    print_cells ((const gchar *const *) cells, 10);
    free_cells (cells);
  }
  g_free (points);
  g_free (filter);
}

static void
add_parameters (JsonBuilder *json, const CvisSurfaceParameters *p)
{
  json_builder_begin_object (json);
  json_add_double (json, "n", p->n);
  json_add_double (json, "sa_m", p->sa);
  json_add_double (json, "sq_m", p->sq);
  json_add_double (json, "sp_m", p->sp);
  json_add_double (json, "sv_m", p->sv);
  json_add_double (json, "sz_m", p->sz);
  json_add_double (json, "ssk", p->ssk);
  json_add_double (json, "sku", p->sku);
  json_add_double (json, "sdr", p->sdr);
  json_add_double (json, "sdq", p->sdq);
  json_builder_end_object (json);
}

static void
add_surface (JsonBuilder *json, const Surface *surface)
{
  json_builder_begin_object (json);
  json_add_string (json, "file", surface->name);
  json_add_string (
      json, "error", surface->error != NULL ? surface->error->message : NULL);
  if (surface->filter != NULL) {
    json_add_double (
        json, "dx_m", structure_get_double (surface->filter, "dx"));
    json_add_double (
        json, "dy_m", structure_get_double (surface->filter, "dy"));
    json_add_string (json, "filter",
        surface->settings->unfiltered ? NULL : surface->settings->low_pass);
    json_add_double (json, "lambda_s_m",
        structure_get_double (surface->filter, "lambda-s-x"));
    json_add_double (json, "lambda_c_m",
        structure_get_double (surface->filter, "lambda-c-x"));
    json_add_double (json, "lambda_f_m",
        structure_get_double (surface->filter, "lambda-f-x"));
    json_add_double (json, "missing", surface->missing);
  }
  json_builder_set_member_name (json, "components");
  json_builder_begin_object (json);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (surface->known & 1u << i) {
      json_builder_set_member_name (json, part_title (surface, i));
      add_parameters (json, &surface->parameters[i]);
    }
  json_builder_end_object (json);
  json_builder_end_object (json);
}

static void
print_roughness_json (GPtrArray *surfaces)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_builder_set_member_name (json, "surfaces");
  json_builder_begin_array (json);
  for (guint i = 0; i < surfaces->len; i++)
    add_surface (json, surfaces->pdata[i]);
  json_builder_end_array (json);
  json_builder_end_object (json);
  json_print (json);
}
/* --- report ---------------------------------------------------------------- */

static void
report_surface (Report *report, const Surface *surface, gboolean many)
{
  gchar *points = describe_points (surface);
  gchar *cells[TABLE_COLUMNS + 1];

  if (many)
    report_add_heading (report, surface->name);
  if (surface->error != NULL) {
    report_add_paragraph (report, "Not measured: %s", surface->error->message);
    g_free (points);
    return;
  }
  report_add_paragraph (report, "%s", points);
  report_begin_table (report, table_head);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    if ((surface->known & 1u << i) == 0)
      continue;
    format_row (
        surface, part_title (surface, i), &surface->parameters[i], cells);
    report_add_row (report, (const gchar *const *) cells);
    free_cells (cells);
  }
  report_end_table (report);
  surface_pictures_report (&surface->pictures, report);
  if (!surface->settings->unfiltered)
    transmission_report (surface->filter, surface->settings->low_pass, report);
  g_free (points);
}

static gboolean
write_roughness_report (
    GPtrArray *surfaces, const CommonOptions *common, GError **error)
{
  gboolean many = surfaces->len > 1, ok;
  Surface *first = surfaces->pdata[0];
  gchar *title =
      many ? g_strdup_printf ("Roughness of %u surfaces", surfaces->len)
           : g_strdup_printf ("Roughness of %s", first->name);
  Report *report = report_new (title);

  for (guint i = 0; i < surfaces->len; i++)
    report_surface (report, surfaces->pdata[i], many);
  for (guint i = 0; i < surfaces->len; i++) {
    Surface *surface = surfaces->pdata[i];
    gchar *filter;

    if (surface->error != NULL)
      continue;
    filter = describe_filter (surface);
    report_add_input (report, surface->name);
    report_add_setting (report, "filter", "%s", filter);
    report_add_setting (report, "backend", "%s", surface->backend);
    g_free (filter);
  }
  report_add_paragraph (report,
      "Parameters are defined as in ISO 25178-2, relative to the mean of each "
      "component. No conformity with ISO 16610 or ISO 25178 is claimed for the "
      "filter.");
  ok = report_write (
      report, common->report, (const gchar *const *) common->inputs, error);
  report_free (report);
  g_free (title);
  return ok;
}

ExitStatus
roughness_write_results (GPtrArray *surfaces, const RoughnessSettings *settings)
{
  const CommonOptions *common = settings->common;
  const gchar *const *inputs = (const gchar *const *) common->inputs;
  gchar *csv = make_csv (surfaces);
  GError *error = NULL;
  gboolean ok = TRUE;

  /* files first: a closed pipe ends the process at the first line */
  if (settings->csv != NULL && csv[0] != '\0')
    ok = output_write (settings->csv, inputs, csv, &error);
  if (ok && common->report != NULL && !interrupted ())
    ok = write_roughness_report (surfaces, common, &error);
  if (common->json)
    print_roughness_json (surfaces);
  else if (!common->quiet && surfaces->len > 1 && settings->csv == NULL)
    g_print ("%s", csv);
  else if (!common->quiet)
    for (guint i = 0; i < surfaces->len; i++)
      if (((Surface *) surfaces->pdata[i])->error == NULL)
        print_surface (surfaces->pdata[i]);
  if (!ok) {
    print_error ("roughness", "%s", error->message);
    g_error_free (error);
  }
  g_free (csv);
  return ok ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}
