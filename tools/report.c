/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* HTML pages. Called by the subcommands with --report. */
#include "config.h"

#include "report.h"

#include <gio/gio.h>

#include "output.h"
#include "pipeline.h"

#define CHUNK ((gsize) 1 << 24) /* bytes between two looks for Ctrl-C */

struct _Report {
  gchar *title;
  GString *body;
  GString *settings;    /* rows of the last table */
  gboolean interrupted; /* by Ctrl-C: something is missing */
};

static const gchar style[] =
    ":root{--ink:#1a1a1a;--paper:#fff;--soft:#666;"
    "--line:#ddd;--c0:#0072b2;--c1:#d55e00;--c2:#8a6fb8;--c3:#7a7a7a}"
    "@media screen and "
    "(prefers-color-scheme:dark){:root{color-scheme:dark;--ink:#e6e6e6;--paper:"
    "#16181b;"
    "--soft:#a0a0a0;--line:#3a3d42;--c0:#56b4e9;--c1:#e69f00;--c2:#b9a3e3;"
    "--c3:#b0b0b0}}"
    "*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;color:"
    "var(--ink);background:var(--paper);max-width:62rem;margin:0 auto;padding:"
    "1rem}h1{font-size:1.6rem;line-height:1.2;overflow-wrap:anywhere}h2{font-"
    "size:1.2rem;margin-top:2rem}figure{margin:1rem 0}figcaption{color:var(--"
    "soft);font-size:.9rem}img{max-width:100%;height:auto;display:block}"
    ".pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min("
    "20rem,100%),1fr));gap:1rem}.pictures figure{margin:0}.pictures,.scroll{"
    "margin:1rem 0}.scroll{overflow-x:auto}table{"
    "border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:"
    ".25rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-"
    "space:nowrap}th{white-space:normal;vertical-align:bottom}th:first-child,"
    "td:first-child{text-align:left;white-space:normal}.settings td{"
    "text-align:left;white-space:normal;overflow-wrap:anywhere}.settings "
    "td:first-child{overflow-wrap:normal}svg.plot{width:"
    "100%;height:auto;font:12px system-ui,sans-serif;fill:currentColor}svg "
    ".grid{stroke:var(--line)}svg .y{text-anchor:end}svg .x{text-anchor:middle}"
    "svg .key{text-anchor:end}svg path{fill:none;stroke-width:1.3}.c0{stroke:"
    "var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}"
    "text.c0{fill:var(--c0);stroke:none}text.c1{fill:var(--c1);stroke:none}"
    "text.c2{fill:var(--c2);stroke:none}text.c3{fill:var(--c3);stroke:none}"
    ".bars{fill:var(--c0)}@media(max-width:40rem){svg.plot{font-size:18px}"
    "table{font-size:.9rem}th,td{padding:.25rem .35rem}}@"
    "page{size:A4;margin:15mm}@media print{body{max-"
    "width:none;padding:0;font-size:11pt}table{font-size:9pt}.scroll{overflow:"
    "visible}figure,table,svg{break-inside:avoid}}";

static void
append_escaped (GString *to, const gchar *text)
{
  gchar *valid = g_utf8_make_valid (text, -1);
  gchar *escaped = g_markup_escape_text (valid, -1);

  g_string_append (to, escaped);
  g_free (escaped);
  g_free (valid);
}

Report *
report_new (const gchar *title)
{
  Report *report = g_new0 (Report, 1);

  report->title = g_strdup (title);
  report->body = g_string_new (NULL);
  report->settings = g_string_new (NULL);
  return report;
}

void
report_free (Report *report)
{
  if (report == NULL)
    return;
  g_free (report->title);
  g_string_free (report->body, TRUE);
  g_string_free (report->settings, TRUE);
  g_free (report);
}

void
report_add_heading (Report *report, const gchar *text)
{
  g_string_append (report->body, "<h2>");
  append_escaped (report->body, text);
  g_string_append (report->body, "</h2>\n");
}

void
report_add_paragraph (Report *report, const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_string_append (report->body, "<p>");
  append_escaped (report->body, text);
  g_string_append (report->body, "</p>\n");
  g_free (text);
}

static void
append_caption (Report *report, const gchar *caption)
{
  g_string_append (report->body, "<figcaption>");
  append_escaped (report->body, caption);
  g_string_append (report->body, "</figcaption></figure>\n");
}

/* The shape of a picture whose pixels are not square */
static void
append_aspect (GString *to, const GstStructure *caps)
{
  gint n = 1, d = 1, width = 0, height = 0;

  gst_structure_get_fraction (caps, "pixel-aspect-ratio", &n, &d);
  if (n == d || !gst_structure_get_int (caps, "width", &width)
      || !gst_structure_get_int (caps, "height", &height))
    return;
  g_string_append_printf (to,
      " style=\"aspect-ratio:%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT
      ";width:100%%\"",
      (gint64) width * n, (gint64) height * d);
}

void
report_add_picture (Report *report, GstSample *image, const gchar *caption)
{
  GstBuffer *buffer = image != NULL ? gst_sample_get_buffer (image) : NULL;
  GstStructure *caps;
  GstMapInfo map;
  gchar *base64;

  if (buffer == NULL || !gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  caps = gst_caps_get_structure (gst_sample_get_caps (image), 0);
  base64 = g_base64_encode (map.data, map.size);
  g_string_append_printf (report->body, "<figure><img");
  append_aspect (report->body, caps);
  g_string_append_printf (report->body, " src=\"data:%s;base64,%s\" alt=\"",
      gst_structure_get_name (caps), base64);
  append_escaped (report->body, caption);
  g_string_append (report->body, "\">");
  append_caption (report, caption);
  g_free (base64);
  gst_buffer_unmap (buffer, &map);
}

void
report_begin_pictures (Report *report)
{
  g_string_append (report->body, "<div class=\"pictures\">\n");
}

void
report_end_pictures (Report *report)
{
  g_string_append (report->body, "</div>\n");
}

void
report_add_plot (Report *report, const gchar *svg, const gchar *caption)
{
  if (svg[0] == '\0')
    return;
  g_string_append (report->body, "<figure>");
  g_string_append (report->body, svg);
  append_caption (report, caption);
}

static void
append_cells (Report *report, const gchar *const *cells, const gchar *tag)
{
  g_string_append (report->body, "<tr>");
  for (; *cells != NULL; cells++) {
    g_string_append_printf (report->body, "<%s>", tag);
    append_escaped (report->body, *cells);
    g_string_append_printf (report->body, "</%s>", tag);
  }
  g_string_append (report->body, "</tr>\n");
}

void
report_begin_table (Report *report, const gchar *const *head)
{
  g_string_append (report->body, "<div class=\"scroll\"><table>\n");
  append_cells (report, head, "th");
}

void
report_add_row (Report *report, const gchar *const *cells)
{
  append_cells (report, cells, "td");
}

void
report_end_table (Report *report)
{
  g_string_append (report->body, "</table></div>\n");
}

void
report_add_setting (Report *report, const gchar *name, const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_string_append (report->settings, "<tr><td>");
  append_escaped (report->settings, name);
  g_string_append (report->settings, "</td><td>");
  append_escaped (report->settings, text);
  g_string_append (report->settings, "</td></tr>\n");
  g_free (text);
}

void
report_add_input (Report *report, const gchar *name)
{
  GMappedFile *file = g_mapped_file_new (name, FALSE, NULL);
  GChecksum *sum;

  if (file == NULL)
    return;
  sum = g_checksum_new (G_CHECKSUM_SHA256);
  for (gsize at = 0, size = g_mapped_file_get_length (file);
       at < size && !interrupted (); at += CHUNK)
    g_checksum_update (sum,
        (const guchar *) g_mapped_file_get_contents (file) + at,
        MIN (size - at, CHUNK));
  report->interrupted = interrupted ();
  report_add_setting (report, "input",
      "%s, %" G_GSIZE_FORMAT " bytes, SHA-256 %s", name,
      g_mapped_file_get_length (file), g_checksum_get_string (sum));
  g_checksum_free (sum);
  g_mapped_file_unref (file);
}

gboolean
report_write (Report *report, const gchar *name, const gchar *const *inputs,
    GError **error)
{
  GString *page =
      g_string_new ("<!doctype html>\n<html lang=\"en\"><head><meta "
                    "charset=\"utf-8\"><meta name=\"viewport\" "
                    "content=\"width=device-width,initial-scale=1\">"
                    "<link rel=\"icon\" href=\"data:,\"><title>");
  gboolean ok;

  if (report->interrupted) {
    g_string_free (page, TRUE);
    g_set_error_literal (
        error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
    return FALSE;
  }
  append_escaped (page, report->title);
  g_string_append_printf (
      page, "</title><style>%s</style></head><body>\n<h1>", style);
  append_escaped (page, report->title);
  g_string_append (page, "</h1>\n");
  g_string_append_len (page, report->body->str, report->body->len);
  g_string_append (page, "<h2>Settings</h2>\n<table class=\"settings\">\n");
  g_string_append_len (page, report->settings->str, report->settings->len);
  g_string_append_printf (page,
      "<tr><td>version</td><td>gst-cudavision %s, GStreamer "
      "%u.%u.%u</td></tr>\n"
      "</table>\n</body></html>\n",
      PACKAGE_VERSION, GST_VERSION_MAJOR, GST_VERSION_MINOR, GST_VERSION_MICRO);
  ok = output_write (name, inputs, page->str, error);
  g_string_free (page, TRUE);
  return ok;
}
