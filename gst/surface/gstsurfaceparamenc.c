/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-surfaceparamenc
 * @title: surfaceparamenc
 * @short_description: writes areal parameters as CSV or JSON lines
 *
 * Writes the areal parameters (Sa, Sq, ...) that cudalwtfilter attaches to surfaces, as
 * a table or as JSON lines: one row for each component of each surface. Heights are
 * dropped. Numbers are the shortest that read back as the same double, with a
 * decimal point in every locale.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 surfacetestsrc num-buffers=3 ! cudalwtfilter output=none parameters=true lambda-c=8e-5 ! surfaceparamenc ! filesink location=parameters.csv
 * ]|
 *
 * Since: 0.2
 */
#include "gstsurfaceparamenc.h"

#include <gst/cudavision/gstsurfacemeta.h>
#include <string.h>

#include "gst/common/gstcvissegment.h"
#include "gst/common/gstcvissettings.h"

GST_DEBUG_CATEGORY_STATIC (gst_surface_param_enc_debug);
#define GST_CAT_DEFAULT gst_surface_param_enc_debug

typedef enum {
  FORMAT_CSV,
  FORMAT_JSONL,
} GstSurfaceParamEncFormat;

typedef struct {
  gint format;
  gboolean header;
  gchar *label;
} Settings;

struct _GstSurfaceParamEnc {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;

  Settings settings; /* guarded by the object lock */

  /* of the streaming thread */
  Settings active; /* label: of the last surface, interned */
  gboolean negotiated;
  gboolean header_written;
  guint64 frames;    /* with this label */
  guint64 all, rows; /* since the start */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_CVIS_SURFACE_CAPS
            "; video/x-raw, format = (string) { GRAY8, GRAY16_LE }"));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS ("text/csv; application/x-ndjson"));

static const GEnumValue format_values[] = {
  { FORMAT_CSV, "Table with a header row, then a row for each component",
      "csv" },
  { FORMAT_JSONL, "A line with a JSON object for each component", "jsonl" },
  { 0, NULL, NULL },
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GstCvisSetting settings_table[] = {
  { "format", "Format of the rows: a table (csv) or JSON lines (jsonl)",
      GST_CVIS_SETTING_ENUM, FIELD (format), FALSE, 0, 0,
      "GstSurfaceParamEncFormat", format_values },
  { "header", "Begin a table with a row of names", GST_CVIS_SETTING_BOOLEAN,
      FIELD (header) },
  { "label", "First field of each row, such as the name of the measured file",
      GST_CVIS_SETTING_STRING, FIELD (label), TRUE },
};

static const Settings default_settings = { FORMAT_CSV, TRUE, NULL };

#define gst_surface_param_enc_parent_class parent_class
G_DEFINE_TYPE (GstSurfaceParamEnc, gst_surface_param_enc, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (surfaceparamenc, "surfaceparamenc", GST_RANK_NONE,
    GST_TYPE_SURFACE_PARAM_ENC);

/* --- rows ------------------------------------------------------------------ */

#define HEADER                                                                 \
  "label,frame,component,width,height,dx_m,dy_m,missing,lambda_s_x_m,"         \
  "lambda_s_y_m,lambda_c_x_m,lambda_c_y_m,lambda_f_x_m,lambda_f_y_m,n,mean_m," \
  "sa_m,sq_m,sp_m,sv_m,sz_m,ssk,sku,sdr,sdq\n"

/* One row; which separators it has depends on the format. */
typedef struct {
  GString *text;
  gboolean json;
  gboolean begun;
} Row;

static void
begin_field (Row *row, const gchar *name)
{
  if (row->begun)
    g_string_append_c (row->text, ',');
  row->begun = TRUE;
  if (row->json)
    g_string_append_printf (row->text, "\"%s\":", name);
}

static void
append_uint (Row *row, const gchar *name, guint64 value)
{
  begin_field (row, name);
  g_string_append_printf (row->text, "%" G_GUINT64_FORMAT, value);
}

/* An undefined value is an empty field of a table, and null in JSON. */
static void
append_double (Row *row, const gchar *name, gdouble value, gboolean defined)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  begin_field (row, name);
  if (!defined) {
    g_string_append (row->text, row->json ? "null" : "");
    return;
  }
  for (guint digits = 15; digits <= 17; digits++) {
    const gchar format[] = { '%', '.', '1', '0' + digits - 10, 'g', '\0' };

    g_ascii_formatd (text, sizeof text, format, value);
    if (g_ascii_strtod (text, NULL) == value)
      break;
  }
  g_string_append (row->text, text);
}

static void
append_json_string (GString *text, const gchar *value)
{
  g_string_append_c (text, '"');
  for (; *value != '\0'; value++) {
    if ((guchar) *value < 0x20)
      g_string_append_printf (text, "\\u%04x", *value);
    else {
      if (*value == '"' || *value == '\\')
        g_string_append_c (text, '\\');
      g_string_append_c (text, *value);
    }
  }
  g_string_append_c (text, '"');
}

/* Quoted as RFC 4180 has it, if that is needed */
static void
append_csv_string (GString *text, const gchar *value)
{
  if (strpbrk (value, ",\"\r\n") == NULL) {
    g_string_append (text, value);
    return;
  }
  g_string_append_c (text, '"');
  for (; *value != '\0'; value++) {
    if (*value == '"')
      g_string_append_c (text, '"');
    g_string_append_c (text, *value);
  }
  g_string_append_c (text, '"');
}

static void
append_string (Row *row, const gchar *name, const gchar *value)
{
  gchar *valid = g_utf8_make_valid (value, -1);

  begin_field (row, name);
  if (row->json)
    append_json_string (row->text, valid);
  else
    append_csv_string (row->text, valid);
  g_free (valid);
}

static void
append_cutoff (Row *row, const gchar *x, const gchar *y, const gdouble *lambda)
{
  append_double (row, x, lambda[0], lambda[0] > 0);
  append_double (row, y, lambda[1], lambda[1] > 0);
}

static void
append_row (
    GstSurfaceParamEnc *self, GString *text, const GstCvisSurfaceMeta *meta)
{
  const CvisSurfaceParameters *p = &meta->parameters;
  const gboolean heights = p->n > 0, slopes = heights && meta->dx > 0;
  Row row = { text, self->active.format == FORMAT_JSONL, FALSE };

  if (row.json)
    g_string_append_c (text, '{');
  append_string (&row, "label", self->active.label);
  append_uint (&row, "frame", self->frames);
  append_string (&row, "component", gst_cvis_surface_part_name (meta->part));
  append_uint (&row, "width", meta->width);
  append_uint (&row, "height", meta->height);
  append_double (&row, "dx_m", meta->dx, meta->dx > 0);
  append_double (&row, "dy_m", meta->dy, meta->dy > 0);
  append_uint (&row, "missing", meta->missing);
  append_cutoff (&row, "lambda_s_x_m", "lambda_s_y_m", meta->lambda_s);
  append_cutoff (&row, "lambda_c_x_m", "lambda_c_y_m", meta->lambda_c);
  append_cutoff (&row, "lambda_f_x_m", "lambda_f_y_m", meta->lambda_f);
  append_uint (&row, "n", p->n);
  append_double (&row, "mean_m", p->mean, heights);
  append_double (&row, "sa_m", p->sa, heights);
  append_double (&row, "sq_m", p->sq, heights);
  append_double (&row, "sp_m", p->sp, heights);
  append_double (&row, "sv_m", p->sv, heights);
  append_double (&row, "sz_m", p->sz, heights);
  append_double (&row, "ssk", p->ssk, heights);
  append_double (&row, "sku", p->sku, heights);
  append_double (&row, "sdr", p->sdr, slopes);
  append_double (&row, "sdq", p->sdq, slopes);
  g_string_append (text, row.json ? "}\n" : "\n");
  self->rows++;
}

static void
append_header (GstSurfaceParamEnc *self, GString *text)
{
  if (self->active.format == FORMAT_CSV && self->active.header
      && !self->header_written)
    g_string_append (text, HEADER);
  self->header_written = TRUE;
}

static GstBuffer *
wrap_text (GString *text)
{
  const gsize size = text->len;

  return gst_buffer_new_wrapped (g_string_free (text, FALSE), size);
}

/* --- streaming ------------------------------------------------------------- */

static gboolean
negotiate_text (GstSurfaceParamEnc *self)
{
  GstCaps *caps;

  if (self->negotiated)
    return TRUE;
  GST_OBJECT_LOCK (self);
  self->active = self->settings;
  GST_OBJECT_UNLOCK (self);
  self->active.label = NULL;
  caps = gst_caps_new_empty_simple (
      self->active.format == FORMAT_CSV ? "text/csv" : "application/x-ndjson");
  self->negotiated =
      gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  GST_DEBUG_OBJECT (self, "output caps %" GST_PTR_FORMAT, caps);
  gst_caps_unref (caps);
  return self->negotiated;
}

/* A new label begins another series of frames. */
static void
update_label (GstSurfaceParamEnc *self)
{
  const gchar *label =
      gst_cvis_settings_get_string (self, &self->settings.label);

  if (label == NULL)
    label = "";
  if (label != self->active.label)
    self->frames = 0;
  self->active.label = (gchar *) label;
}

static GstFlowReturn
gst_surface_param_enc_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstSurfaceParamEnc *self = GST_SURFACE_PARAM_ENC (parent);
  GString *text = g_string_new (NULL);
  gpointer state = NULL;
  GstMeta *meta;
  GstBuffer *out;

  update_label (self);
  append_header (self, text);
  while ((meta = gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_CVIS_SURFACE_META_API_TYPE)))
    if (((GstCvisSurfaceMeta *) meta)->has_parameters)
      append_row (self, text, (GstCvisSurfaceMeta *) meta);
  GST_LOG_OBJECT (self,
      "surface %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT " rows so far",
      self->all, self->rows);
  self->frames++;
  self->all++;
  out = wrap_text (text);
  gst_buffer_copy_into (
      out, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_unref (buffer);
  return gst_pad_push (self->srcpad, out);
}

/* A table without rows has a header row too. */
static void
finish_table (GstSurfaceParamEnc *self)
{
  GString *text;

  if (self->all > 0 && self->rows == 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("No parameters in %" G_GUINT64_FORMAT
         " surfaces. Put cudalwtfilter with parameters=true before "
         "surfaceparamenc.",
            self->all),
        (NULL));
  if (!self->negotiated || self->header_written)
    return;
  text = g_string_new (NULL);
  append_header (self, text);
  gst_cvis_push_missing_segment (self->srcpad);
  if (text->len > 0)
    gst_pad_push (self->srcpad, wrap_text (text));
  else
    g_string_free (text, TRUE);
}

static gboolean
gst_surface_param_enc_sink_event (
    GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSurfaceParamEnc *self = GST_SURFACE_PARAM_ENC (parent);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_unref (event);
      return negotiate_text (self);
    case GST_EVENT_EOS:
      finish_table (self);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* Sources subtract the mean of the heights only if the meta that has it is kept. */
static gboolean
gst_surface_param_enc_sink_query (
    GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default (pad, parent, query);
  gst_query_add_allocation_meta (query, GST_CVIS_SURFACE_META_API_TYPE, NULL);
  return TRUE;
}

/* --- object ---------------------------------------------------------------- */

static GstStateChangeReturn
gst_surface_param_enc_change_state (
    GstElement *element, GstStateChange transition)
{
  GstSurfaceParamEnc *self = GST_SURFACE_PARAM_ENC (element);
  GstStateChangeReturn ret =
      GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    self->negotiated = FALSE;
    self->header_written = FALSE;
    self->all = self->rows = 0;
  }
  return ret;
}

static void
gst_surface_param_enc_class_init (GstSurfaceParamEncClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_surface_param_enc_debug, "surfaceparamenc", 0,
      "areal parameters as text");
  element_class->change_state = gst_surface_param_enc_change_state;
  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table),
      G_STRUCT_OFFSET (GstSurfaceParamEnc, settings), &default_settings);
  gst_element_class_set_static_metadata (element_class,
      "Areal parameters as text", "Codec/Encoder/Metadata",
      "Writes the parameters of surfaces (Sa, Sq, ...) as CSV or JSON lines, a "
      "row a component",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
}

static void
gst_surface_param_enc_init (GstSurfaceParamEnc *self)
{
  gst_cvis_settings_init (self);
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_surface_param_enc_chain);
  gst_pad_set_event_function (self->sinkpad, gst_surface_param_enc_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_surface_param_enc_sink_query);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
