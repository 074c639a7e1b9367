/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbfresultenc
 * @title: pbfresultenc
 * @short_description: writes melt-pool results as CSV or JSON lines
 *
 * Converts the records of cudapbfmonitor's request pad `src_result` to text with one
 * row for each frame, empty frames included: a table (CSV) with the columns of
 * pbf40-v1, or JSON lines. A buffer of records gives one buffer of text. Numbers are
 * the shortest that read back as the same bits, with a decimal point in every
 * locale.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=2000 ! cudapbfmonitor name=m ! queue ! fakesink m.src_result ! queue ! pbfresultenc ! filesink location=results.csv
 * ]|
 * |[
 * gst-launch-1.0 filesrc location=results.pbr ! typefind ! pbfresultenc ! filesink location=results.csv
 * ]|
 *
 * Since: 0.1
 */
#include "gstpbfresultenc.h"

#include <gst/base/gstadapter.h>
#include <gst/cudavision/gstpbfmeta.h>
#include "gst/common/gstcvissegment.h"
#include "gst/common/gstcvissettings.h"
#include "cuda/meltpool/rows.h"
#include "gstpbfnames.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_result_enc_debug);
#define GST_CAT_DEFAULT gst_pbf_result_enc_debug

typedef enum {
  FORMAT_CSV,
  FORMAT_JSONL,
} GstPbfResultEncFormat;

#define OUTPUTS_UNKNOWN -1

struct _GstPbfResultEnc {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;

  GstPbfResultEncFormat format; /* guarded by the object lock */

  /* of the streaming thread */
  GstPbfResultEncFormat active_format;
  gint outputs;       /* columns of the network's outputs */
  PbfRowNames *names; /* of the outputs; those of the table after its header */
  GstCaps *refused;   /* an error was posted for them, once */
  gboolean negotiated;
  gboolean header_written;
  GstAdapter *adapter; /* the beginning of the next record */
  guint64 n_records;   /* read since the start or a flush */
  guint64 first_time;  /* of the first record of those read last, ns */
  gchar *text;         /* rows of one buffer, before they are copied out */
  gsize text_size;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CVIS_PBF_RESULT_CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "text/csv, spec = (string) " CVIS_PBF_FEATURE_SPEC "; "
            "application/x-ndjson, spec = (string) " CVIS_PBF_FEATURE_SPEC));

static const GEnumValue format_values[] = {
  { FORMAT_CSV, "Table with a header row, then a row for each frame", "csv" },
  { FORMAT_JSONL, "A line with a JSON object for each frame", "jsonl" },
  { 0, NULL, NULL },
};

static const GstCvisSetting settings_table[] = {
  { "format", "Format of the rows: a table (csv) or JSON lines (jsonl)",
      GST_CVIS_SETTING_ENUM, 0, FALSE, 0, 0, "GstPbfResultEncFormat",
      format_values },
};

static const GstPbfResultEncFormat default_format = FORMAT_CSV;

#define gst_pbf_result_enc_parent_class parent_class
G_DEFINE_TYPE (GstPbfResultEnc, gst_pbf_result_enc, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (
    pbfresultenc, "pbfresultenc", GST_RANK_NONE, GST_TYPE_PBF_RESULT_ENC);

/* --- negotiation ----------------------------------------------------------- */

static gboolean
push_src_caps (GstPbfResultEnc *self, GstCaps *incaps)
{
  const GValue *names = gst_structure_get_value (
      gst_caps_get_structure (incaps, 0), "output-names");
  GstCaps *caps = gst_caps_new_simple (
      self->active_format == FORMAT_CSV ? "text/csv" : "application/x-ndjson",
      "spec", G_TYPE_STRING, CVIS_PBF_FEATURE_SPEC, NULL);
  gboolean ok;

  if (names != NULL)
    gst_caps_set_value (caps, "output-names", names);
  ok = gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  return ok;
}

static PbfRowNames *
make_row_names (const GstStructure *caps)
{
  gchar **names = gst_pbf_names_get (caps);
  PbfRowNames *row = pbf_row_names_new (
      (const gchar *const *) names, names != NULL ? g_strv_length (names) : 0);

  g_strfreev (names);
  return row;
}

/* Whether the outputs of @caps have the names of the table's columns. */
static gboolean
names_match (GstPbfResultEnc *self, const GstStructure *caps, gint outputs)
{
  PbfRowNames *row = make_row_names (caps);
  gboolean match = TRUE;

  for (gint i = 0; i < outputs; i++)
    match = match && g_str_equal (row->csv[i], self->names->csv[i]);
  pbf_row_names_free (row);
  return match;
}

/* Remembers @caps, about which an error was posted: upstream sends them again with
 * each push. */
static gboolean
refuse_result_caps (GstPbfResultEnc *self, GstCaps *caps)
{
  gst_caps_replace (&self->refused, caps);
  return FALSE;
}

static gboolean
set_record_caps (GstPbfResultEnc *self, GstCaps *caps)
{
  GstStructure *s = gst_caps_get_structure (caps, 0);
  gint outputs = OUTPUTS_UNKNOWN;

  if (self->refused != NULL && gst_caps_is_equal (self->refused, caps))
    return FALSE;
  gst_clear_caps (&self->refused);
  if (gst_structure_get_int (s, "outputs", &outputs)
      && (outputs < 0 || outputs > CVIS_PBF_MAX_OUTPUTS)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: %d network outputs are not in 0 to %d. Check the "
         "caps field \"outputs\".",
            outputs, CVIS_PBF_MAX_OUTPUTS),
        ("caps %" GST_PTR_FORMAT, caps));
    return refuse_result_caps (self, caps);
  }

  if (!self->header_written) {
    GST_OBJECT_LOCK (self);
    self->active_format = self->format;
    GST_OBJECT_UNLOCK (self);
    self->outputs = outputs;
    g_clear_pointer (&self->names, pbf_row_names_free);
    self->names = make_row_names (s);
  } else if (outputs != OUTPUTS_UNKNOWN && outputs > self->outputs) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot write CSV: the number of network outputs grew from %d to %d "
         "after the header row. Use format=jsonl, or a file for each model.",
            self->outputs, outputs),
        ("a table has one row of names; use format=jsonl, or a file for each "
         "model"));
    return refuse_result_caps (self, caps);
  } else if (!names_match (self, s, outputs)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot write CSV: the names of the network outputs changed after the "
         "header row. Use format=jsonl, or a file for each model."),
        ("caps %" GST_PTR_FORMAT, caps));
    return refuse_result_caps (self, caps);
  }
  self->negotiated = push_src_caps (self, caps);
  return self->negotiated;
}

/* --- rows ------------------------------------------------------------------ */

static gchar *
ensure_text (GstPbfResultEnc *self, gsize size)
{
  if (self->text_size < size) {
    g_free (self->text);
    self->text = g_malloc (size);
    self->text_size = size;
  }
  return self->text;
}

/* Sets the number of outputs if the caps do not have it: that of the first buffer's
 * records. */
static void
guess_outputs (GstPbfResultEnc *self, const guint8 *bytes, gsize n)
{
  gsize i;

  self->outputs = 0;
  for (i = 0; i < n; i++) {
    guint32 n_outputs;

    memcpy (&n_outputs,
        bytes + i * sizeof (CvisPbfResult)
            + G_STRUCT_OFFSET (CvisPbfResult, n_outputs),
        sizeof (n_outputs));
    self->outputs =
        MAX (self->outputs, (gint) MIN (n_outputs, CVIS_PBF_MAX_OUTPUTS));
  }
  GST_INFO_OBJECT (
      self, "caps without outputs: a table of %d outputs", self->outputs);
}

/* Reads the next record of the stream. */
static gboolean
read_record (GstPbfResultEnc *self, const guint8 *bytes, CvisPbfResult *result)
{
  guint64 offset = self->n_records * sizeof (CvisPbfResult);
  GError *error = NULL;

  if (!pbf_result_parse (bytes, result, &error)) {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Record %" G_GUINT64_FORMAT " at byte %" G_GUINT64_FORMAT
         " of the stream is no melt-pool result: %s. Check that cudapbfmonitor "
         "made the stream.",
            self->n_records, offset, error->message),
        (NULL));
    g_clear_error (&error);
    return FALSE;
  }
  if (self->active_format == FORMAT_CSV
      && result->n_outputs > (guint) self->outputs) {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Record %" G_GUINT64_FORMAT " at byte %" G_GUINT64_FORMAT
         " of the stream does not fit the table: it has %u network outputs, "
         "the table has %d. Correct the caps field \"outputs\".",
            self->n_records, offset, result->n_outputs, self->outputs),
        ("the caps field \"outputs\" says how many there are"));
    return FALSE;
  }
  self->n_records++;
  return TRUE;
}

/* Writes the rows of the @n records at @bytes to self->text.
 * Returns: bytes of text, or -1 after posting an error */
static gssize
encode_results (GstPbfResultEnc *self, const guint8 *bytes, gsize n)
{
  gboolean csv = self->active_format == FORMAT_CSV;
  gsize row_max = csv ? PBF_CSV_ROW_MAX : PBF_JSON_ROW_MAX, i;
  gchar *to;

  if (csv && self->outputs == OUTPUTS_UNKNOWN)
    guess_outputs (self, bytes, n);
  to = ensure_text (self, (n + 1) * (row_max + self->names->room));
  if (csv && !self->header_written)
    to = pbf_csv_header (to, self->outputs, self->names);
  for (i = 0; i < n; i++) {
    CvisPbfResult result;

    if (!read_record (self, bytes + i * sizeof (CvisPbfResult), &result))
      return -1;
    if (i == 0)
      self->first_time = result.timestamp_ns;
    to = csv ? pbf_csv_row (to, &result, self->outputs, self->names)
             : pbf_json_row (to, &result, self->names);
  }
  self->header_written = csv;
  return to - self->text;
}

/* The rows of all complete records in the adapter.
 * Returns: (nullable): %NULL after posting an error */
static GstBuffer *
encode_gathered (GstPbfResultEnc *self, gsize n)
{
  const guint8 *bytes =
      gst_adapter_map (self->adapter, n * sizeof (CvisPbfResult));
  gssize size;

  if (bytes == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot read results: a buffer cannot be mapped. Check the element "
         "before pbfresultenc."),
        (NULL));
    return NULL;
  }
  size = encode_results (self, bytes, n);
  gst_adapter_unmap (self->adapter);
  gst_adapter_flush (self->adapter, n * sizeof (CvisPbfResult));
  return size < 0 ? NULL : gst_buffer_new_memdup (self->text, size);
}

/* Buffers may end within a record, such as those of a file. */
static GstFlowReturn
gst_pbf_result_enc_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstPbfResultEnc *self = GST_PBF_RESULT_ENC (parent);
  gboolean begins_with_record = gst_adapter_available (self->adapter) == 0;
  GstBuffer *out;
  gsize n;

  if (!self->negotiated) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot write results: they came without "
         "caps, " GST_CVIS_PBF_RESULT_MEDIA_TYPE
         " is expected. Put a capsfilter before pbfresultenc."),
        (NULL));
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  gst_adapter_push (self->adapter, gst_buffer_ref (buffer));
  n = gst_adapter_available (self->adapter) / sizeof (CvisPbfResult);
  out = n > 0 ? encode_gathered (self, n) : NULL;
  if (out != NULL && begins_with_record)
    gst_buffer_copy_into (
        out, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_unref (buffer);
  if (out == NULL)
    return n > 0 ? GST_FLOW_ERROR : GST_FLOW_OK;
  if (!GST_BUFFER_PTS_IS_VALID (out))
    GST_BUFFER_PTS (out) = self->first_time;
  return gst_pad_push (self->srcpad, out);
}

static void
forget_records (GstPbfResultEnc *self)
{
  gst_adapter_clear (self->adapter);
  self->n_records = 0;
}

static void
refuse_partial_record (GstPbfResultEnc *self)
{
  gsize rest = gst_adapter_available (self->adapter);

  if (rest > 0)
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot write the last result: the stream ends after %" G_GSIZE_FORMAT
         " of %" G_GSIZE_FORMAT " bytes of record %" G_GUINT64_FORMAT
         ". The rows before it are complete.",
            rest, sizeof (CvisPbfResult), self->n_records),
        (NULL));
}

/* A table without rows has a header row too. */
static void
push_missing_header (GstPbfResultEnc *self)
{
  gchar *text, *end;

  if (!self->negotiated || self->header_written
      || self->active_format != FORMAT_CSV)
    return;
  text = ensure_text (self, PBF_CSV_ROW_MAX + self->names->room);
  end = pbf_csv_header (text, MAX (self->outputs, 0), self->names);
  self->header_written = TRUE;
  gst_cvis_push_missing_segment (self->srcpad);
  gst_pad_push (self->srcpad, gst_buffer_new_memdup (text, end - text));
}

static gboolean
gst_pbf_result_enc_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstPbfResultEnc *self = GST_PBF_RESULT_ENC (parent);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS: {
      GstCaps *caps;
      gboolean ok;

      gst_event_parse_caps (event, &caps);
      ok = set_record_caps (self, caps);
      gst_event_unref (event);
      return ok;
    }
    case GST_EVENT_FLUSH_STOP:
      forget_records (self);
      break;
    case GST_EVENT_EOS:
      refuse_partial_record (self);
      push_missing_header (self);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* --- object ---------------------------------------------------------------- */

static GstStateChangeReturn
gst_pbf_result_enc_change_state (GstElement *element, GstStateChange transition)
{
  GstPbfResultEnc *self = GST_PBF_RESULT_ENC (element);
  GstStateChangeReturn ret =
      GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    forget_records (self);
    self->outputs = OUTPUTS_UNKNOWN;
    g_clear_pointer (&self->names, pbf_row_names_free);
    gst_clear_caps (&self->refused);
    self->negotiated = FALSE;
    self->header_written = FALSE;
    g_clear_pointer (&self->text, g_free);
    self->text_size = 0;
  }
  return ret;
}

static void
gst_pbf_result_enc_finalize (GObject *object)
{
  GstPbfResultEnc *self = GST_PBF_RESULT_ENC (object);

  g_object_unref (self->adapter);
  g_free (self->text);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_pbf_result_enc_class_init (GstPbfResultEncClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_result_enc_debug, "pbfresultenc", 0, "melt-pool results as text");

  object_class->finalize = gst_pbf_result_enc_finalize;
  element_class->change_state = gst_pbf_result_enc_change_state;

  gst_cvis_settings_bind (object_class, 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfResultEnc, format),
      &default_format);

  gst_element_class_set_static_metadata (element_class,
      "Melt-pool results as text", "Codec/Encoder/Metadata",
      "Writes the records of cudapbfmonitor as CSV or JSON lines, a row a "
      "frame",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
}

static void
gst_pbf_result_enc_init (GstPbfResultEnc *self)
{
  gst_cvis_settings_init (self);
  self->outputs = OUTPUTS_UNKNOWN;
  self->adapter = gst_adapter_new ();

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_pbf_result_enc_chain);
  gst_pad_set_event_function (self->sinkpad, gst_pbf_result_enc_sink_event);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
