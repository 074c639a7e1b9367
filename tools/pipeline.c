/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Runs a pipeline given as text: errors as one line, progress, Ctrl-C. Called by the
 * subcommands that compute. */
#include "pipeline.h"

#include <gio/gio.h>
#include <gst/pbutils/pbutils.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "output.h"
#include "progress.h"

/* --- text ------------------------------------------------------------------ */

void
launch_set (GString *launch, const gchar *name, const gchar *value)
{
  static const gchar plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
      "XYZ0123456789_-+./:,@%";

  g_string_append_printf (launch, "%s=", name);
  if (value[0] != '\0' && strspn (value, plain) == strlen (value)) {
    g_string_append (launch, value);
  } else {
    g_string_append_c (launch, '"');
    for (; *value != '\0'; value++) {
      if (*value == '"' || *value == '\\')
        g_string_append_c (launch, '\\');
      g_string_append_c (launch, *value);
    }
    g_string_append_c (launch, '"');
  }
  g_string_append_c (launch, ' ');
}

void
launch_set_location (GString *launch, const gchar *name)
{
  GString *pattern = g_string_new (name);

  g_string_replace (pattern, "%", "%%", 0);
  launch_set (launch, "location", pattern->str);
  g_string_free (pattern, TRUE);
}

void
launch_set_double (GString *launch, const gchar *name, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.9g", value);
  launch_set (launch, name, text);
}

void
launch_set_int (GString *launch, const gchar *name, gint64 value)
{
  g_string_append_printf (launch, "%s=%" G_GINT64_FORMAT " ", name, value);
}

/* The end of the word at @at: a blank outside of quotes, or the end of the text */
static const gchar *
end_of_word (const gchar *at)
{
  gboolean quoted = FALSE;

  for (; *at != '\0' && (quoted || *at != ' '); at++) {
    if (*at == '\\' && at[1] != '\0')
      at++;
    else if (*at == '"')
      quoted = !quoted;
  }
  return at;
}

gchar *
launch_to_shell (const gchar *launch)
{
  static const gchar plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
      "XYZ0123456789_-+./:,@%=!";
  GString *line = g_string_new ("gst-launch-1.0");

  for (const gchar *at = launch; *at != '\0';) {
    const gchar *end = end_of_word (at);
    gchar *word = g_strndup (at, end - at);

    if (end > at) {
      g_string_append_c (line, ' ');
      if (strspn (word, plain) == strlen (word)) {
        g_string_append (line, word);
      } else {
        gchar *shell = g_shell_quote (word);

        g_string_append (line, shell);
        g_free (shell);
      }
    }
    g_free (word);
    at = end + (*end == ' ');
  }
  return g_string_free (line, FALSE);
}

void
launch_print (gchar *launch)
{
  gchar *line = launch_to_shell (launch);

  g_print ("%s\n", line);
  g_free (line);
  g_free (launch);
}

/* --- results --------------------------------------------------------------- */

GstSample *
element_get_sample (GstElement *pipeline, const gchar *name)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstSample *sample = NULL;

  if (sink != NULL) {
    g_object_get (sink, "last-sample", &sample, NULL);
    gst_object_unref (sink);
  }
  return sample;
}

gchar *
element_get_text (GstElement *pipeline, const gchar *name)
{
  GstSample *sample = element_get_sample (pipeline, name);
  gchar *text = NULL;
  GstMapInfo map;

  if (sample == NULL)
    return NULL;
  if (gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ)) {
    text = g_strndup ((const gchar *) map.data, map.size);
    gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  }
  gst_sample_unref (sample);
  return text;
}

gchar *
element_get_nick (
    GstElement *pipeline, const gchar *name, const gchar *property)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GEnumClass *klass;
  GEnumValue *value;
  gchar *nick;
  gint number;

  if (element == NULL)
    return NULL;
  g_object_get (element, property, &number, NULL);
  klass = g_type_class_ref (
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), property)
          ->value_type);
  value = g_enum_get_value (klass, number);
  nick = g_strdup (value != NULL ? value->value_nick : NULL);
  g_type_class_unref (klass);
  gst_object_unref (element);
  return nick;
}

guint64
structure_get_count (const GstStructure *structure, const gchar *name)
{
  const GValue *value =
      structure != NULL ? gst_structure_get_value (structure, name) : NULL;
  GValue number = G_VALUE_INIT;
  guint64 count = 0;

  g_value_init (&number, G_TYPE_UINT64);
  if (value != NULL && g_value_transform (value, &number))
    count = g_value_get_uint64 (&number);
  g_value_unset (&number);
  return count;
}

gdouble
structure_get_double (const GstStructure *structure, const gchar *name)
{
  gdouble value = NAN;

  if (structure != NULL)
    gst_structure_get_double (structure, name, &value);
  return value;
}

/* --- packages -------------------------------------------------------------- */

/* The Debian package that has the element; NULL if not known */
static const gchar *
package_of_element (const gchar *factory)
{
  static const struct {
    const gchar *prefix, *package;
  } packages[] = {
    { "cudapbf", "gstreamer1.0-cudavision-meltpool" },
    { "pbf", "gstreamer1.0-cudavision-meltpool" },
    { "cudamotion", "gstreamer1.0-cudavision-motion" },
    { "motion", "gstreamer1.0-cudavision-motion" },
    { "cudalwt", "gstreamer1.0-cudavision-surface" },
    { "surface", "gstreamer1.0-cudavision-surface" },
    { "cudabundle", "gstreamer1.0-cudavision-bundle" },
    { "bundle", "gstreamer1.0-cudavision-bundle" },
    { "png", "gstreamer1.0-plugins-good" },
    { "jpeg", "gstreamer1.0-plugins-good" },
    { "multifile", "gstreamer1.0-plugins-good" },
    { "y4mdec", "gstreamer1.0-plugins-bad" },
    { "y4menc", "gstreamer1.0-plugins-good" },
    { "avi", "gstreamer1.0-plugins-good" },
    { "webm", "gstreamer1.0-plugins-good" },
    { "matroska", "gstreamer1.0-plugins-good" },
    { "mp4", "gstreamer1.0-plugins-good" },
    { "vp8", "gstreamer1.0-plugins-good" },
    { "vp9", "gstreamer1.0-plugins-good" },
    { "x264", "gstreamer1.0-plugins-ugly" },
    { "video", "gstreamer1.0-plugins-base" },
    { "decodebin", "gstreamer1.0-plugins-base" },
    { "app", "gstreamer1.0-plugins-base" },
    { "h264", "gstreamer1.0-plugins-bad" },
    { "h265", "gstreamer1.0-plugins-bad" },
    { "nvh26", "gstreamer1.0-plugins-bad" },
    { "av", "gstreamer1.0-libav" },
    { "bz2", "gstreamer1.0-plugins-bad" },
    { "uridecodebin", "gstreamer1.0-plugins-base" },
    { "file", "libgstreamer1.0-0" },
    { "fakesink", "libgstreamer1.0-0" },
    { "queue", "libgstreamer1.0-0" },
    { "tee", "libgstreamer1.0-0" },
    { "concat", "libgstreamer1.0-0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (packages); i++)
    if (g_str_has_prefix (factory, packages[i].prefix))
      return packages[i].package;
  return NULL;
}

gchar *
describe_missing_element (const gchar *factory)
{
  const gchar *package = package_of_element (factory);

  return package != NULL
             ? g_strdup_printf ("the GStreamer element %s is missing; "
                                "install the package %s",
                 factory, package)
             : g_strdup_printf ("the GStreamer element %s is missing", factory);
}

/* The error of gst_parse_launch() for an element that is not installed */
static gchar *
name_missing_element (const gchar *text)
{
  const gchar *from = strchr (text, '"'), *to;
  gchar *factory, *message;

  to = from != NULL ? strchr (from + 1, '"') : NULL;
  if (to == NULL)
    return g_strdup (text);
  factory = g_strndup (from + 1, to - from - 1);
  message = describe_missing_element (factory);
  g_free (factory);
  return message;
}

/* What a message of a missing decoder or demuxer asks for. Its detail ends with
 * "|decoder-video/x-vp9, profile=..." */
const gchar *
package_of_detail (const gchar *detail)
{
  static const struct {
    const gchar *what, *package;
  } packages[] = {
    { "decoder-image/jpeg", "gstreamer1.0-plugins-good" },
    { "decoder-image/png", "gstreamer1.0-plugins-good" },
    { "decoder-video/x-vp8", "gstreamer1.0-plugins-good" },
    { "decoder-video/x-vp9", "gstreamer1.0-plugins-good" },
    { "decoder-video/x-dv", "gstreamer1.0-plugins-good" },
    { "decoder-video/quicktime", "gstreamer1.0-plugins-good" },
    { "decoder-video/x-matroska", "gstreamer1.0-plugins-good" },
    { "decoder-video/webm", "gstreamer1.0-plugins-good" },
    { "decoder-video/x-msvideo", "gstreamer1.0-plugins-good" },
    { "decoder-video/x-flv", "gstreamer1.0-plugins-good" },
    { "decoder-video/mpegts", "gstreamer1.0-plugins-bad" },
    { "decoder-application/x-yuv4mpeg", "gstreamer1.0-plugins-bad" },
    { "decoder-video/x-av1", "gstreamer1.0-plugins-bad" },
    { "decoder-application/ogg", "gstreamer1.0-plugins-base" },
    { "decoder-video/ogg", "gstreamer1.0-plugins-base" },
    { "decoder-video/x-theora", "gstreamer1.0-plugins-base" },
  };
  const gchar *what = detail != NULL ? strrchr (detail, '|') : NULL;

  for (guint i = 0; what != NULL && i < G_N_ELEMENTS (packages); i++)
    if (g_str_has_prefix (what + 1, packages[i].what))
      return packages[i].package;
  return "gstreamer1.0-libav";
}

static gchar *
describe_missing (const gchar *label, GstMessage *message)
{
  gchar *what = gst_missing_plugin_message_get_description (message);
  gchar *detail = gst_missing_plugin_message_get_installer_detail (message);
  gchar *text =
      g_strdup_printf ("%s: the %s is missing; install the package %s", label,
          what, package_of_detail (detail));

  g_free (what);
  g_free (detail);
  return text;
}

/* --- Ctrl-C ---------------------------------------------------------------- */

static gint interrupt_flag, interrupt_waits; /* atomic */

/* Ends the process at once. */
static void
end_interrupted (int number)
{
  output_delete_pending ();
  _exit (EXIT_STATUS_INTERRUPTED);
}

/* Elements may take longer than people wait; the second signal does not wait either. */
static void
note_interrupt (int number)
{
  if (g_atomic_int_get (&interrupt_flag))
    end_interrupted (number);
  g_atomic_int_set (&interrupt_flag, 1);
  if (!g_atomic_int_get (&interrupt_waits))
    alarm (1);
}

void
interrupt_wait (void)
{
  g_atomic_int_set (&interrupt_waits, 1);
  alarm (0);
}

/* A closed pipe or terminal: the process ends by the same signal, silently. */
static void
end_by_signal (int number)
{
  output_delete_pending ();
  signal (number, SIG_DFL);
  raise (number);
}

void
interrupt_install (void)
{
  struct sigaction action = { .sa_handler = note_interrupt }, before;

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  action.sa_handler = end_interrupted;
  sigaction (SIGALRM, &action, NULL);
  action.sa_handler = end_by_signal;
  sigaction (SIGPIPE, &action, NULL);
  sigaction (SIGHUP, NULL, &before);
  if (before.sa_handler != SIG_IGN) /* nohup */
    sigaction (SIGHUP, &action, NULL);
}

gboolean
interrupted (void)
{
  return g_atomic_int_get (&interrupt_flag) != 0;
}

const gint *
interrupt_get_flag (void)
{
  return &interrupt_flag;
}

/* --- running --------------------------------------------------------------- */

#define HANDLED                                                                \
  (GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING                   \
      | GST_MESSAGE_ELEMENT | GST_MESSAGE_LATENCY | GST_MESSAGE_ASYNC_DONE)

typedef struct {
  const PipelineRun *run;
  GstElement *pipeline;
  Progress progress;
  gchar *missing; /* what a missing plugin would do */
  gboolean stopping;
  guint frames; /* atomic */
} Running;

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Running *running = data;
  const guint n = info->type & GST_PAD_PROBE_TYPE_BUFFER
                      ? 1
                      : gst_buffer_list_length (info->data);

  g_atomic_int_add (&running->frames, n);
  return GST_PAD_PROBE_OK;
}

static void
count_stream_frames (Running *running)
{
  GstElement *element =
      gst_bin_get_by_name (GST_BIN (running->pipeline), running->run->frames);
  GstPad *pad = gst_element_get_static_pad (element, "sink");

  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, count_frame,
      running, NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
}

/* The fraction of the stream that is done, below 0 if not known */
static gdouble
measure_stream (GstElement *pipeline)
{
  gint64 position, duration;

  return gst_element_query_position (pipeline, GST_FORMAT_TIME, &position)
                 && gst_element_query_duration (
                     pipeline, GST_FORMAT_TIME, &duration)
                 && position > 0 && duration > 0
             ? (gdouble) position / duration
             : -1;
}

static void
update_progress (Running *running)
{
  const PipelineRun *run = running->run;
  guint64 done = g_atomic_int_get (&running->frames);
  gdouble fraction = -1;

  if (!run->progress || !progress_is_due (&running->progress))
    return;
  if (run->measure != NULL)
    fraction = run->measure (run->data, &done);
  else if (run->frames != NULL)
    fraction = measure_stream (running->pipeline);
  progress_show (&running->progress, fraction, done);
}

static gchar *
one_line (const gchar *text)
{
  gchar *line = output_restore_names (text);

  return g_strdelimit (g_strchomp (line), "\n\r", ' ');
}

/* The file that the element @object reads or writes; NULL if it has none */
static gchar *
get_location (GstObject *object)
{
  gchar *location = NULL, *name;

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (object), "location"))
    g_object_get (object, "location", &location, NULL);
  if (location == NULL)
    return NULL;
  name = output_restore_names (location);
  g_free (location);
  return name;
}

/* The text of an error, with the name of the output that cannot be written, or else of
 * the input */
static gchar *
describe_error (Running *running, GstObject *from, const GError *cause)
{
  const gchar *label = running->run->label;
  gchar *text = one_line (cause->message);
  gchar *location = get_location (from);
  const gchar *name = location != NULL ? location : label;
  gchar *described;

  if (name == NULL || strstr (text, name) != NULL)
    described = g_strdup (text);
  else if (location != NULL
           && GST_OBJECT_FLAG_IS_SET (from, GST_ELEMENT_FLAG_SINK))
    described = g_strdup_printf ("cannot write %s: %s", name, text);
  else
    described = g_strdup_printf ("%s: %s", name, text);
  g_free (location);
  g_free (text);
  return described;
}

static void
take_error (Running *running, GstMessage *message, GError **error)
{
  GError *cause;
  gchar *text;

  gst_message_parse_error (message, &cause, NULL);
  if (running->missing != NULL)
    text = g_strdup (running->missing);
  else
    text = describe_error (running, GST_MESSAGE_SRC (message), cause);
  g_set_error_literal (error, cause->domain, cause->code, text);
  g_free (text);
  g_error_free (cause);
}

static void
print_warning (Running *running, GstMessage *message)
{
  const gchar *label = running->run->label;
  GError *cause;
  gchar *text;

  gst_message_parse_warning (message, &cause, NULL);
  text = one_line (cause->message);
  if (!running->run->quiet) {
    progress_clear (&running->progress);
    g_printerr ("%s%swarning: %s\n", label != NULL ? label : "",
        label != NULL ? ": " : "", text);
  }
  g_free (text);
  g_error_free (cause);
}

/* Returns: whether the pipeline has ended, well or with @error */
static gboolean
handle_message (Running *running, GstMessage *message, GError **error)
{
  const PipelineRun *run = running->run;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      if (run->frames != NULL && !run->stop_at_interrupt
          && g_atomic_int_get (&running->frames) == 0)
        g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
            "%s: it contains no frame", run->label);
      else if (run->finish != NULL)
        run->finish (running->pipeline, run->data);
      return TRUE;
    case GST_MESSAGE_ASYNC_DONE:
      if (run->preroll)
        run->finish (running->pipeline, run->data);
      return run->preroll;
    case GST_MESSAGE_ERROR:
      take_error (running, message, error);
      return TRUE;
    case GST_MESSAGE_WARNING:
      print_warning (running, message);
      return FALSE;
    case GST_MESSAGE_ELEMENT:
      if (gst_is_missing_plugin_message (message)) {
        g_free (running->missing);
        running->missing = describe_missing (running->run->label, message);
      } else if (run->message != NULL) {
        run->message (gst_message_get_structure (message), run->data);
      }
      return FALSE;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (running->pipeline));
      return FALSE;
    default:
      return FALSE;
  }
}

/* Returns: whether the pipeline has to end because of Ctrl-C */
static gboolean
handle_interrupt (Running *running, GError **error)
{
  if (!interrupted () || running->stopping)
    return FALSE;
  if (running->run->stop_at_interrupt) {
    running->stopping = TRUE;
    alarm (0);
    gst_element_send_event (running->pipeline, gst_event_new_eos ());
    return FALSE;
  }
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
  return TRUE;
}

/* The threads that wait for the bus are not woken for messages that they ignore. */
static GstBusSyncReply
drop_ignored (GstBus *bus, GstMessage *message, gpointer data)
{
  return GST_MESSAGE_TYPE (message) & HANDLED ? GST_BUS_PASS : GST_BUS_DROP;
}

static gboolean
wait_for_end (Running *running, GError **error)
{
  GstBus *bus = gst_element_get_bus (running->pipeline);
  GError *failure = NULL;
  gboolean ended = FALSE;

  while (!ended && !handle_interrupt (running, &failure) && failure == NULL) {
    GstMessage *message =
        gst_bus_timed_pop_filtered (bus, 100 * GST_MSECOND, HANDLED);

    if (message != NULL) {
      ended = handle_message (running, message, &failure);
      gst_message_unref (message);
    }
    if (!ended)
      update_progress (running);
  }
  progress_clear (&running->progress);
  gst_object_unref (bus);
  if (failure != NULL)
    g_propagate_error (error, failure);
  return failure == NULL;
}

static GstElement *
pipeline_new (const gchar *launch, GError **error)
{
  GError *parse_error = NULL;
  GstElement *pipeline = gst_parse_launch_full (
      launch, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &parse_error);
  gchar *text;

  if (pipeline != NULL)
    return pipeline;
  text = g_error_matches (
             parse_error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT)
             ? name_missing_element (parse_error->message)
             : one_line (parse_error->message);
  g_set_error_literal (error, parse_error->domain, parse_error->code, text);
  g_free (text);
  g_error_free (parse_error);
  return NULL;
}

gboolean
pipeline_run (const PipelineRun *run, GError **error)
{
  Running running = { .run = run };
  GstBus *bus;
  gboolean ok;

  running.pipeline = pipeline_new (run->launch, error);
  if (running.pipeline == NULL)
    return FALSE;
  bus = gst_element_get_bus (running.pipeline);
  gst_bus_set_sync_handler (bus, drop_ignored, NULL, NULL);
  gst_object_unref (bus);
  if (run->frames != NULL)
    count_stream_frames (&running);
  if (run->prepare != NULL)
    run->prepare (running.pipeline, run->data);
  progress_start (
      &running.progress, run->label, run->unit != NULL ? run->unit : "frames");
  gst_element_set_state (
      running.pipeline, run->preroll ? GST_STATE_PAUSED : GST_STATE_PLAYING);
  ok = wait_for_end (&running, error);
  gst_element_set_state (running.pipeline, GST_STATE_NULL);
  gst_object_unref (running.pipeline);
  g_free (running.missing);
  return ok;
}
