/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision info`: what a file contains, and the pipeline that reads it. */
#include "config.h"

#include <gio/gio.h>
#include <gst/pbutils/pbutils.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "cuda/bundle/formats/formats.h"
#include "cuda/bundle/problem.h"
#include "cuda/camera/recording.h"
#include "cuda/surface/file.h"
#include "inputs.h"
#include "json.h"
#include "length.h"
#include "pipeline.h"

/**
 * Description:
 * @kind: "surface", ...
 * @text: for people, one line
 * @launch: the pipeline that reads the file
 * @json: further members
 */
typedef struct {
  const gchar *kind;
  GString *text;
  GString *launch;
  JsonBuilder *json;
} Description;

static void
describe_length (
    Description *to, const gchar *name, const gchar *title, gdouble metres)
{
  gchar *text = length_format (metres);

  if (metres > 0)
    g_string_append_printf (to->text, ", %s %s", title, text);
  else
    g_string_append_printf (to->text, ", %s unknown", title);
  json_add_double (to->json, name, metres);
  g_free (text);
}

static gboolean
describe_surface (const gchar *name, Description *to, GError **error)
{
  SurfaceImage *image = surface_file_load (name, error);
  guint64 missing = 0;

  if (image == NULL)
    return FALSE;
  for (gsize i = 0; i < (gsize) image->width * image->height; i++)
    missing += image->z[i] != image->z[i];
  to->kind = "surface";
  g_string_append_printf (
      to->text, "surface, %u x %u points", image->width, image->height);
  describe_length (to, "dx_m", "spacing along x", image->dx);
  describe_length (to, "dy_m", "along y", image->dy);
  g_string_append_printf (to->text, ", %" G_GUINT64_FORMAT " missing", missing);
  if (image->title != NULL && image->title[0] != '\0')
    g_string_append_printf (to->text, ", \"%s\"", image->title);
  json_add_int (to->json, "width", image->width);
  json_add_int (to->json, "height", image->height);
  json_add_int (to->json, "missing", missing);
  g_string_append (to->launch, "surfacesrc ");
  launch_set_location (to->launch, name);
  g_string_append (to->launch, "! surfacecolor ! videoconvert ! autovideosink");
  surface_image_free (image);
  return TRUE;
}

static const gchar *
format_name (BundleFormat format)
{
  switch (format) {
    case BUNDLE_FORMAT_BAL:
      return "BAL";
    case BUNDLE_FORMAT_BUNDLER:
      return "Bundler";
    case BUNDLE_FORMAT_NVM:
      return "NVM";
    default:
      return "COLMAP";
  }
}

static gboolean
describe_reconstruction (const gchar *name, Description *to, GError **error)
{
  GMappedFile *file = g_mapped_file_new (name, FALSE, error);
  BundleFormat format;
  BundleProblem *problem = NULL;

  if (file == NULL)
    return FALSE;
  if (bundle_format_detect (g_mapped_file_get_contents (file),
          g_mapped_file_get_length (file), &format))
    problem = bundle_read (g_mapped_file_get_contents (file),
        g_mapped_file_get_length (file), format, 0, error);
  g_mapped_file_unref (file);
  if (problem == NULL)
    return FALSE;
  to->kind = "reconstruction";
  g_string_append_printf (to->text,
      "reconstruction (%s), %u cameras, %u points, %" G_GUINT64_FORMAT
      " observations",
      format_name (format), problem->n_cameras, problem->n_points,
      (guint64) problem->n_observations);
  json_add_string (to->json, "format", format_name (format));
  json_add_int (to->json, "cameras", problem->n_cameras);
  json_add_int (to->json, "points", problem->n_points);
  json_add_int (to->json, "observations", problem->n_observations);
  g_string_append (to->launch, "filesrc ");
  launch_set (to->launch, "location", name);
  g_string_append (to->launch, "! bundleview ! videoconvert ! autovideosink");
  bundle_problem_free (problem);
  return TRUE;
}

/* Counts the frames, which reads the whole file. */
static gboolean
describe_recording (const gchar *name, Description *to, GError **error)
{
  const gint fd = open (name, O_RDONLY | O_CLOEXEC);
  PbfRecording *recording = fd >= 0 ? pbf_recording_new (fd, error) : NULL;
  PbfRecordingHead head = { 0 };
  guint64 frames = 0, damaged = 0;
  PbfPacket packet;
  PbfPiece piece;

  if (recording == NULL) {
    if (fd >= 0)
      close (fd);
    return FALSE;
  }
  do {
    GError *fault = NULL;

    piece = pbf_recording_next (recording, &head, &packet, &fault);
    frames += piece == PBF_PIECE_FRAME;
    damaged += piece == PBF_PIECE_DAMAGE;
    g_clear_error (&fault);
  } while (
      piece != PBF_PIECE_END && piece != PBF_PIECE_ERROR && !interrupted ());
  pbf_recording_free (recording);
  close (fd);
  to->kind = "recording";
  g_string_append_printf (to->text,
      "recording, %" G_GUINT64_FORMAT " frames of %u x %u pixels, %g frames/s, "
      "%" G_GUINT64_FORMAT " damaged places",
      frames, head.width, head.height,
      head.fps_d > 0 ? (gdouble) head.fps_n / head.fps_d : 0, damaged);
  json_add_int (to->json, "frames", frames);
  json_add_int (to->json, "width", head.width);
  json_add_int (to->json, "height", head.height);
  json_add_int (to->json, "damaged", damaged);
  g_string_append (to->launch, "pbffilesrc ");
  launch_set (to->launch, "location", name);
  g_string_append (to->launch, "! cudapbfmonitor ! pbfoverlay ! videoconvert ! "
                               "autovideosink");
  return TRUE;
}

static void
take_hdf5_frames (GstElement *pipeline, gpointer data)
{
  Description *to = data;
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstPad *pad = gst_element_get_static_pad (source, "src");
  GstCaps *caps = gst_pad_get_current_caps (pad);
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint64 duration = -1, frames = -1;
  gint width = 0, height = 0, n = 0, d = 1;

  if (gst_element_query_duration (source, GST_FORMAT_TIME, &duration))
    gst_element_query_convert (
        source, GST_FORMAT_TIME, duration, GST_FORMAT_DEFAULT, &frames);
  gst_structure_get (s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT,
      &height, "framerate", GST_TYPE_FRACTION, &n, &d, NULL);
  to->kind = "HDF5 recording";
  g_string_append (to->text, "HDF5 recording, ");
  if (frames >= 0) {
    g_string_append_printf (
        to->text, "%" G_GINT64_FORMAT " frames of ", frames);
    json_add_int (to->json, "frames", frames);
  }
  g_string_append_printf (
      to->text, "%d x %d pixels, %g frames/s", width, height, (gdouble) n / d);
  json_add_int (to->json, "width", width);
  json_add_int (to->json, "height", height);
  json_add_double (to->json, "frames-per-second", (gdouble) n / d);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_object_unref (source);
}

static gboolean
describe_hdf5 (const gchar *name, Description *to, GError **error)
{
  GString *launch = g_string_new ("pbfhdf5src name=source ");
  gboolean ok;

  launch_set (launch, "location", name);
  g_string_append (launch, "! fakesink");
  ok = pipeline_run (&(PipelineRun){ .launch = launch->str,
                         .label = name,
                         .finish = take_hdf5_frames,
                         .data = to,
                         .preroll = TRUE },
      error);
  g_string_free (launch, TRUE);
  g_string_append (to->launch, "pbfhdf5src ");
  launch_set (to->launch, "location", name);
  g_string_append (to->launch, "! cudapbfmonitor ! pbfoverlay ! videoconvert ! "
                               "autovideosink");
  return ok;
}

static void
describe_stream (GstDiscovererVideoInfo *video, Description *to)
{
  GstCaps *caps =
      gst_discoverer_stream_info_get_caps (GST_DISCOVERER_STREAM_INFO (video));
  gchar *codec = gst_pb_utils_get_codec_description (caps);
  const guint n = gst_discoverer_video_info_get_framerate_num (video);
  const guint d = gst_discoverer_video_info_get_framerate_denom (video);

  g_string_append_printf (to->text, "video (%s), %u x %u pixels, %g frames/s",
      codec, gst_discoverer_video_info_get_width (video),
      gst_discoverer_video_info_get_height (video),
      d > 0 ? (gdouble) n / d : 0);
  json_add_string (to->json, "codec", codec);
  json_add_int (to->json, "width", gst_discoverer_video_info_get_width (video));
  json_add_int (
      to->json, "height", gst_discoverer_video_info_get_height (video));
  json_add_double (to->json, "frames-per-second", d > 0 ? (gdouble) n / d : 0);
  g_free (codec);
  gst_caps_unref (caps);
}

/* "the H.264 decoder is missing", as the second last part of the detail has it */
static gboolean
report_missing (GstDiscovererInfo *info, GError **error)
{
  const gchar **details =
      info != NULL
          ? gst_discoverer_info_get_missing_elements_installer_details (info)
          : NULL;
  gchar **parts;

  if (details == NULL || details[0] == NULL)
    return FALSE;
  parts = g_strsplit (details[0], "|", 5);
  g_clear_error (error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND,
      "the %s is missing; install the package %s",
      g_strv_length (parts) == 5 ? parts[3] : "decoder",
      package_of_detail (details[0]));
  g_strfreev (parts);
  return TRUE;
}

static gboolean
describe_video (const gchar *name, Description *to, GError **error)
{
  GstDiscoverer *discoverer = gst_discoverer_new (20 * GST_SECOND, error);
  gchar *path, *uri;
  GstDiscovererInfo *info;
  GList *streams;

  if (discoverer == NULL) {
    gchar *text = describe_missing_element ("uridecodebin");

    g_clear_error (error);
    g_set_error_literal (
        error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN, text);
    g_free (text);
    return FALSE;
  }
  path = g_canonicalize_filename (name, NULL);
  uri = gst_filename_to_uri (path, NULL);
  info = gst_discoverer_discover_uri (discoverer, uri, error);
  streams = info != NULL ? gst_discoverer_info_get_video_streams (info) : NULL;
  if (streams != NULL) {
    const GstClockTime duration = gst_discoverer_info_get_duration (info);

    to->kind = "video";
    describe_stream (streams->data, to);
    if (GST_CLOCK_TIME_IS_VALID (duration)) {
      g_string_append_printf (to->text, ", %.3f s", duration * 1e-9);
      json_add_double (to->json, "seconds", duration * 1e-9);
    }
    g_string_append (to->launch, "filesrc ");
    launch_set (to->launch, "location", name);
    g_string_append (to->launch,
        "! decodebin ! videoconvert ! cudamotionest ! "
        "motionoverlay ! videoconvert ! autovideosink");
    g_clear_error (error); /* a missing decoder of sound */
  } else if (!report_missing (info, error)
             && (input_kind (name) != INPUT_VIDEO || *error == NULL)) {
    g_clear_error (error);
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
        "neither a surface, a video, a reconstruction nor a recording");
  }
  gst_discoverer_stream_info_list_free (streams);
  if (info != NULL)
    gst_discoverer_info_unref (info);
  g_free (uri);
  g_free (path);
  g_object_unref (discoverer);
  return to->kind != NULL;
}

static gboolean
describe_file (const gchar *name, Description *to, GError **error)
{
  if (!input_check (name, INPUT_UNKNOWN, error))
    return FALSE;
  switch (input_kind (name)) {
    case INPUT_SURFACE:
      return describe_surface (name, to, error);
    case INPUT_RECONSTRUCTION:
      return describe_reconstruction (name, to, error);
    case INPUT_RECORDING:
      return describe_recording (name, to, error);
    case INPUT_HDF5:
      return describe_hdf5 (name, to, error);
    default:
      return describe_video (name, to, error);
  }
}

/* --- command --------------------------------------------------------------- */

/* Returns: whether the file could be read */
static gboolean
print_file (const gchar *name, const CommonOptions *common, JsonBuilder *json)
{
  Description to = { NULL, g_string_new (NULL), g_string_new (NULL), json };
  GError *error = NULL;
  gboolean ok;

  json_builder_begin_object (json);
  json_add_string (json, "file", name);
  ok = describe_file (name, &to, &error);
  if (!ok && strstr (error->message, name) != NULL)
    print_error ("info", "%s", error->message);
  else if (!ok)
    print_error ("info", "%s: %s", name, error->message);
  json_add_string (json, "kind", to.kind);
  json_add_string (json, "error", error != NULL ? error->message : NULL);
  if (ok) {
    gchar *line = launch_to_shell (to.launch->str);

    json_add_string (json, "pipeline", line);
    if (!common->json && !common->quiet)
      g_print ("%s: %s\n  %s\n", name, to.text->str, line);
    g_free (line);
  }
  json_builder_end_object (json);
  g_clear_error (&error);
  g_string_free (to.text, TRUE);
  g_string_free (to.launch, TRUE);
  return ok;
}

static ExitStatus
run_info (gint argc, gchar **argv)
{
  CommonOptions common;
  ExitStatus status;
  JsonBuilder *json;

  if (!options_parse (
          &command_info, NULL, OPTIONS_INPUTS, argc, argv, &common, &status))
    return status;
  inputs_expand (&common.inputs, INPUT_UNKNOWN);
  status = EXIT_STATUS_OK;
  json = json_builder_new ();
  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_builder_set_member_name (json, "files");
  json_builder_begin_array (json);
  for (gchar **name = common.inputs; *name != NULL && !interrupted (); name++)
    if (!print_file (*name, &common, json))
      status = EXIT_STATUS_FAILED;
  json_builder_end_array (json);
  json_builder_end_object (json);
  if (common.json)
    json_print (json);
  else
    g_object_unref (json);
  options_clear (&common);
  return interrupted () ? EXIT_STATUS_INTERRUPTED : status;
}

const Command command_info = {
  .name = "info",
  .arguments = "FILE... - what files contain",
  .summary = "what a file contains, and the pipeline that reads it",
  .examples = "Examples:\n"
              "  cudavision info part.x3p\n"
              "  cudavision info --json recordings/",
  .run = run_info,
};
