/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-surfacesrc
 * @title: surfacesrc
 * @short_description: reads measured surfaces from files
 *
 * Reads a surface, a series of numbered files or a list of files, in formats of
 * instruments: X3P, SDF, Digital Surf SUR, GSF, TIFF of floats, NPY, NPZ, Alicona
 * AL3D, BCRF, Sensofar PLU, WYKO OPD, Zygo MetroPro and text. With an offset of millimetres float32 has
 * no digits left for nanometres: if downstream keeps #GstCvisSurfaceMeta, the mean
 * height is subtracted from the samples and is in the meta.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 surfacesrc location=land.x3p ! surfacecolor hill-shade=0.5 ! videoconvert ! imagefreeze ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstsurfacesrc.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gstsurfacereading.h"
#include "gstsurfacetypes.h"

GST_DEBUG_CATEGORY_STATIC (gst_surface_src_debug);
#define GST_CAT_DEFAULT gst_surface_src_debug

typedef struct {
  gchar *location;
  guint start_index;
  gint stop_index;
  gboolean loop;
} Settings;

struct _GstSurfaceSrc {
  GstPushSrc parent;

  /* properties, guarded by the object lock */
  Settings settings;
  gchar **locations; /* (nullable) */
  GstSurfaceReading reading;
  gint fps_n, fps_d;

  /* since start; the counts are read by queries */
  gchar *location;
  gchar **list;       /* (nullable): instead of location */
  guint first, count; /* files */
  gboolean loop;
  gint rate_n, rate_d;

  /* of the streaming thread */
  GstCvisSurfaceInfo info; /* of the caps; width 0: none yet */
  gint64 frame;            /* the next one */
  gboolean discont;
  GstSurfaceBuffers buffers;
  GstBuffer *last; /* (nullable): the surface of the only file, with loop */
  struct stat last_file;
  GstSurfaceReading last_reading;
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GstCvisSetting settings_table[] = {
  { "location",
      "File, file:// URI, or pattern of files with one %d, such as "
      "land-%05d.x3p",
      GST_CVIS_SETTING_STRING, FIELD (location) },
  { "start-index", "Number of the first file of a pattern",
      GST_CVIS_SETTING_UINT, FIELD (start_index), FALSE, 0, G_MAXINT },
  { "stop-index",
      "Number of the last file of a pattern; -1: the last file found",
      GST_CVIS_SETTING_INT, FIELD (stop_index), FALSE, -1, G_MAXINT },
  { "loop", "Begin again after the last file", GST_CVIS_SETTING_BOOLEAN,
      FIELD (loop), FALSE },
};

static const Settings default_settings = { (gchar *) "", 0, -1, FALSE };

enum {
  PROP_0,
  PROP_SETTINGS,
  PROP_READING = PROP_SETTINGS + G_N_ELEMENTS (settings_table),
  PROP_FRAMERATE = PROP_READING + GST_SURFACE_N_READING,
  PROP_LOCATIONS,
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "other/tensors, format = (string) static, num_tensors = (int) 1, "
            "types = (string) { float32, float64 }, framerate = (fraction) [ "
            "0/1, max ]"));

#define gst_surface_src_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstSurfaceSrc, gst_surface_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    surfacesrc, "surfacesrc", GST_RANK_NONE, GST_TYPE_SURFACE_SRC);

/* --- files ------------------------------------------------------------------- */

/* Takes @error. */
static void
post_file_error (GstSurfaceSrc *self, const gchar *name, GError *error)
{
  if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("Cannot open \"%s\": there is no such file. Check the property "
         "location.",
            name),
        (NULL));
  else if (error->domain == G_FILE_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot read \"%s\": %s. Check the property location.", name,
            error->message),
        (NULL));
  else if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_MEMORY))
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Cannot read \"%s\": %s. Check the property max-size and the free "
         "memory.",
            name, error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
        ("Cannot read \"%s\" as a surface: %s. Check that the file is complete "
         "and of a supported format.",
            name, error->message),
        (NULL));
  g_error_free (error);
}

/* The name of the file @index, counted from 0; free with g_free() */
static gchar *
get_file_name (GstSurfaceSrc *self, guint index)
{
  return self->list != NULL
             ? g_strdup (self->list[index])
             : gst_surface_location_at (self->location, self->first + index);
}

/* Number of a file of the pattern @location, which @name is; -1: it is none */
static gint64
number_of_name (const gchar *location, const gchar *name)
{
  gint64 number = -1;
  guint64 value;
  gchar *other;

  /* the number is one of the groups of digits in the name */
  for (const gchar *at = name; *at != 0 && number < 0; at++) {
    if (!g_ascii_isdigit (*at) || (at > name && g_ascii_isdigit (at[-1])))
      continue;
    value = g_ascii_strtoull (at, NULL, 10);
    if (value > G_MAXINT)
      continue;
    other = gst_surface_location_at (location, (guint) value);
    if (strcmp (other, name) == 0)
      number = (gint64) value;
    g_free (other);
  }
  return number;
}

/* Warns of files behind a gap in the numbers, which are not read. @end: the first
 * missing number */
static void
warn_of_gap (GstSurfaceSrc *self, guint end)
{
  gchar *missing = gst_surface_location_at (self->location, end);
  gchar *folder = g_path_get_dirname (missing);
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *entry;
  guint n = 0;

  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL) {
    gchar *name = strchr (missing, G_DIR_SEPARATOR) != NULL
                      ? g_build_filename (folder, entry, NULL)
                      : g_strdup (entry);

    n += number_of_name (self->location, name) > (gint64) end;
    g_free (name);
  }
  if (n > 0)
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("\"%s\" is missing: %u files with higher numbers are not read. Set "
         "start-index and stop-index.",
            missing, n),
        (NULL));
  g_clear_pointer (&dir, g_dir_close);
  g_free (folder);
  g_free (missing);
}

/* Counts the files from the first number on, up to the first gap if stop-index is
 * -1. */
static guint
count_files (const gchar *location, const Settings *settings)
{
  guint n = 0;

  if (settings->stop_index >= 0)
    return (guint) settings->stop_index - settings->start_index + 1;
  while (settings->start_index + n < G_MAXINT) {
    gchar *name = gst_surface_location_at (location, settings->start_index + n);
    gboolean there = g_file_test (name, G_FILE_TEST_EXISTS);

    g_free (name);
    if (!there)
      break;
    n++;
  }
  return n;
}

/* --- one surface --------------------------------------------------------------- */

static GstFlowReturn
negotiate_surface (
    GstSurfaceSrc *self, const GstCvisSurfaceInfo *info, const gchar *name)
{
  GstBaseSrc *base = GST_BASE_SRC (self);
  GstCaps *caps;
  gboolean ok;

  if (gst_surface_reading_same (info, &self->info))
    return GST_FLOW_OK;
  /* after a flush in between, the pad may have the caps nevertheless */
  self->info = (GstCvisSurfaceInfo){ 0 };
  gst_surface_buffers_renew (&self->buffers);
  caps = gst_cvis_surface_info_to_caps (info);
  ok = gst_pad_peer_query_accept_caps (base->srcpad, caps)
       && gst_base_src_set_caps (base, caps);
  if (ok) {
    self->info = *info;
  } else if (!GST_PAD_IS_FLUSHING (base->srcpad)) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Downstream does not accept the surface of \"%s\". Put cudalwtfilter, "
         "surfacecolor or surfacesink after surfacesrc.",
            name),
        ("%" GST_PTR_FORMAT, caps));
  }
  gst_caps_unref (caps);
  if (ok)
    return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING (base->srcpad) ? GST_FLOW_FLUSHING
                                            : GST_FLOW_NOT_NEGOTIATED;
}

static GstClockTime
get_surface_time (GstSurfaceSrc *self, guint64 frame)
{
  if (self->rate_n == 0)
    return frame == 0 ? 0 : GST_CLOCK_TIME_NONE;
  return gst_util_uint64_scale (
      frame, (guint64) self->rate_d * GST_SECOND, (guint64) self->rate_n);
}

static void
stamp (GstSurfaceSrc *self, GstBuffer *buffer, guint64 frame)
{
  GST_BUFFER_PTS (buffer) = get_surface_time (self, frame);
  if (self->rate_n > 0)
    GST_BUFFER_DURATION (buffer) =
        get_surface_time (self, frame + 1) - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = frame;
  GST_BUFFER_OFFSET_END (buffer) = frame + 1;
  if (self->discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  self->discont = FALSE;
}

static GstFlowReturn
make_buffer (GstSurfaceSrc *self, SurfaceReader *reader,
    const GstSurfaceReading *reading, const gchar *name, GstBuffer **buffer)
{
  const SurfaceImage *about = surface_reader_get_about (reader);
  GError *error = NULL;
  GstCvisSurfaceInfo info;
  GstFlowReturn ret;
  GstTagList *tags;

  gst_surface_reading_describe (reading, about, &info);
  info.fps_n = self->rate_n;
  info.fps_d = self->rate_d;
  ret = negotiate_surface (self, &info, name);
  if (ret != GST_FLOW_OK)
    return ret;
  tags = gst_surface_reading_tags (about);
  if (tags != NULL)
    gst_pad_push_event (GST_BASE_SRC_PAD (self), gst_event_new_tag (tags));
  *buffer = gst_surface_reading_make (
      reading, reader, &info, &self->buffers, GST_BASE_SRC_PAD (self), &error);
  if (*buffer != NULL)
    return GST_FLOW_OK;
  post_file_error (self, name, error);
  return GST_FLOW_ERROR;
}

/* The surface of a single file that loops, which is read again only if the file or
 * the settings have changed. Returns: (nullable) (transfer full) */
static GstBuffer *
repeat_buffer (GstSurfaceSrc *self, const GstSurfaceReading *reading,
    const struct stat *file)
{
  const struct stat *read = &self->last_file;

  if (self->last == NULL || !self->loop || self->count > 1
      || read->st_dev != file->st_dev || read->st_ino != file->st_ino
      || read->st_size != file->st_size
      || read->st_mtim.tv_sec != file->st_mtim.tv_sec
      || read->st_mtim.tv_nsec != file->st_mtim.tv_nsec
      || memcmp (reading, &self->last_reading, sizeof (*reading)) != 0)
    return NULL;
  return gst_buffer_copy (self->last);
}

static GstFlowReturn
read_frame (GstSurfaceSrc *self, gint64 frame, GstBuffer **buffer)
{
  gchar *name = get_file_name (self, (guint) (frame % self->count));
  GstFlowReturn ret = GST_FLOW_OK;
  struct stat file = { 0 };
  GstSurfaceReading reading;
  SurfaceReader *reader;
  GError *error = NULL;

  memset (&reading, 0, sizeof (reading)); /* compared as bytes */
  GST_OBJECT_LOCK (self);
  reading = self->reading;
  GST_OBJECT_UNLOCK (self);
  g_stat (name, &file);
  *buffer = repeat_buffer (self, &reading, &file);
  if (*buffer == NULL) {
    GST_DEBUG_OBJECT (self, "reading %s", name);
    gst_clear_buffer (&self->last);
    ret = GST_FLOW_ERROR;
    reader = gst_surface_reading_open (&reading, name, NULL, &error);
    if (reader != NULL
        && gst_surface_reading_check (
            &reading, reader, &self->buffers, GST_ELEMENT (self), name, &error))
      ret = make_buffer (self, reader, &reading, name, buffer);
    else
      post_file_error (self, name, error);
    g_clear_pointer (&reader, surface_reader_free);
    if (ret == GST_FLOW_OK && self->loop && self->count == 1) {
      self->last = gst_buffer_copy (*buffer);
      self->last_file = file;
      self->last_reading = reading;
    }
  }
  if (ret == GST_FLOW_OK)
    stamp (self, *buffer, frame);
  g_free (name);
  return ret;
}

/* Backwards, the next surface is the one before self->frame. */
static GstFlowReturn
gst_surface_src_create (GstPushSrc *push, GstBuffer **buffer)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (push);
  gboolean back = GST_BASE_SRC (push)->segment.rate < 0.0;
  GstFlowReturn ret;

  if (back ? self->frame == 0 : self->frame >= self->count && !self->loop)
    return GST_FLOW_EOS;
  ret = read_frame (self, back ? self->frame - 1 : self->frame, buffer);
  if (ret == GST_FLOW_OK)
    self->frame += back ? -1 : 1;
  return ret;
}

/* --- base class ------------------------------------------------------------------ */

/* Nothing to negotiate here: the first file gives the caps. */
static gboolean
gst_surface_src_negotiate (GstBaseSrc *base)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (base);

  gst_surface_buffers_renew (&self->buffers);
  gst_clear_buffer (&self->last); /* downstream may need another kind now */
  return TRUE;
}

static gboolean
gst_surface_src_is_seekable (GstBaseSrc *base)
{
  return GST_SURFACE_SRC (base)->rate_n > 0;
}

/* The surface that is shown at @time */
static gint64
find_surface (GstSurfaceSrc *self, GstClockTime time)
{
  gint64 frame = gst_util_uint64_scale (
      time, (guint64) self->rate_n, GST_SECOND * (guint64) self->rate_d);

  /* times of surfaces are rounded down, too */
  return get_surface_time (self, frame + 1) <= time ? frame + 1 : frame;
}

/* Goes to the surface that is shown at the requested time or, backwards, after the
 * last one that is shown before it. */
static gboolean
gst_surface_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (base);
  GstClockTime time = segment->position;

  self->discont = TRUE;
  if (self->rate_n == 0)
    self->frame = 0;
  else if (segment->rate > 0.0)
    self->frame = find_surface (self, time);
  else if (!GST_CLOCK_TIME_IS_VALID (time)
           || (time >= get_surface_time (self, self->count) && !self->loop))
    self->frame = self->count;
  else
    self->frame = time > 0 ? find_surface (self, time - 1) + 1 : 0;
  return TRUE;
}

static gboolean
gst_surface_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (base);
  GstFormat format;

  if (GST_QUERY_TYPE (query) == GST_QUERY_DURATION && !self->loop
      && self->count > 0) {
    gst_query_parse_duration (query, &format, NULL);
    if (format == GST_FORMAT_DEFAULT
        || (format == GST_FORMAT_TIME && self->rate_n > 0)) {
      gst_query_set_duration (query, format,
          format == GST_FORMAT_TIME ? get_surface_time (self, self->count)
                                    : self->count);
      return TRUE;
    }
  }
  return GST_BASE_SRC_CLASS (parent_class)->query (base, query);
}

static void
clear_files (GstSurfaceSrc *self)
{
  g_clear_pointer (&self->location, g_free);
  g_clear_pointer (&self->list, g_strfreev);
  self->count = 0;
}

/* Copies and checks the properties at the start. */
static gboolean
take_settings (GstSurfaceSrc *self, Settings *settings)
{
  GST_OBJECT_LOCK (self);
  *settings = self->settings;
  settings->location = g_strdup (settings->location);
  self->list = g_strdupv (self->locations);
  self->rate_n = self->fps_n;
  self->rate_d = self->fps_d;
  GST_OBJECT_UNLOCK (self);
  self->location = settings->location;
  self->first = settings->start_index;
  self->loop = settings->loop;
  if (self->list != NULL)
    return TRUE;
  if (*settings->location == 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("Invalid settings: location names no file. Set a file name or a "
         "pattern with %%d, or a list of files with locations."),
        (NULL));
    return FALSE;
  }
  if (settings->stop_index >= 0
      && (guint) settings->stop_index < settings->start_index) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Invalid settings: stop-index (%d) is below start-index (%u). Use a "
         "larger stop-index, or -1.",
            settings->stop_index, settings->start_index),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

/* Posts an error if the first file cannot be opened. */
static gboolean
check_first_file (GstSurfaceSrc *self)
{
  gchar *name = get_file_name (self, 0);
  gint number = 0;

  if (g_access (name, R_OK) != 0)
    number = errno;
  else if (g_file_test (name, G_FILE_TEST_IS_DIR))
    number = EISDIR;
  if (number != 0)
    post_file_error (self, name,
        g_error_new_literal (G_FILE_ERROR, g_file_error_from_errno (number),
            g_strerror (number)));
  g_free (name);
  return number == 0;
}

/* Counts the files of location, and takes the path of an URI. */
static gboolean
find_files (GstSurfaceSrc *self, const Settings *settings)
{
  GError *error = NULL;
  gboolean pattern;
  gchar *path = gst_surface_location_parse (self->location, &pattern, &error);

  if (path == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Invalid settings: %s. Check the property location.", error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  g_free (self->location);
  self->location = path;
  self->count = pattern ? count_files (self->location, settings) : 1;
  if (self->count == 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("Cannot open \"%s\": there is no file with the number %u. Check "
         "start-index.",
            self->location, self->first),
        (NULL));
    return FALSE;
  }
  if (!check_first_file (self))
    return FALSE;
  if (pattern && settings->stop_index < 0)
    warn_of_gap (self, self->first + self->count);
  return TRUE;
}

static gboolean
gst_surface_src_start (GstBaseSrc *base)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (base);
  gboolean ok;
  Settings settings;

  self->frame = 0;
  self->discont = TRUE;
  self->info = (GstCvisSurfaceInfo){ 0 };
  ok = take_settings (self, &settings);
  if (ok && self->list != NULL) {
    self->count = g_strv_length (self->list);
    ok = check_first_file (self);
  } else if (ok) {
    ok = find_files (self, &settings);
  }
  if (ok)
    gst_surface_buffers_start (&self->buffers);
  else
    clear_files (self);
  return ok;
}

static gboolean
gst_surface_src_stop (GstBaseSrc *base)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (base);

  gst_clear_buffer (&self->last);
  gst_surface_buffers_stop (&self->buffers);
  clear_files (self);
  return TRUE;
}

/* --- object ----------------------------------------------------------------------- */

/* The strings of the array @value; NULL if it has none */
static gchar **
get_strings (const GValue *value)
{
  const guint n = gst_value_array_get_size (value);
  gchar **strings = n > 0 ? g_new0 (gchar *, n + 1) : NULL;

  for (guint i = 0; i < n; i++) {
    const gchar *string =
        g_value_get_string (gst_value_array_get_value (value, i));

    strings[i] = g_strdup (string != NULL ? string : "");
  }
  return strings;
}

static void
set_strings (GValue *value, gchar *const *strings)
{
  GValue string = G_VALUE_INIT;

  g_value_init (&string, G_TYPE_STRING);
  for (; strings != NULL && *strings != NULL; strings++) {
    g_value_set_string (&string, *strings);
    gst_value_array_append_value (value, &string);
  }
  g_value_unset (&string);
}

/* The struct that the property @id is a field of, and which */
static const GstCvisSetting *
find_setting (GstSurfaceSrc *self, guint id, gpointer *values)
{
  if (id >= PROP_READING && id < PROP_FRAMERATE) {
    *values = &self->reading;
    return &gst_surface_reading[id - PROP_READING];
  }
  *values = &self->settings;
  return id < PROP_READING ? &settings_table[id - PROP_SETTINGS] : NULL;
}

static void
gst_surface_src_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (object);
  gpointer values;
  const GstCvisSetting *setting = find_setting (self, id, &values);

  gst_cvis_warn_if_late (object, pspec);
  GST_OBJECT_LOCK (self);
  if (setting != NULL) {
    gst_cvis_setting_set (setting, values, value);
  } else if (id == PROP_LOCATIONS) {
    g_strfreev (self->locations);
    self->locations = get_strings (value);
  } else {
    self->fps_n = gst_value_get_fraction_numerator (value);
    self->fps_d = gst_value_get_fraction_denominator (value);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_surface_src_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSurfaceSrc *self = GST_SURFACE_SRC (object);
  gpointer values;
  const GstCvisSetting *setting = find_setting (self, id, &values);

  GST_OBJECT_LOCK (self);
  if (setting != NULL)
    gst_cvis_setting_get (setting, values, value);
  else if (id == PROP_LOCATIONS)
    set_strings (value, self->locations);
  else
    gst_value_set_fraction (value, self->fps_n, self->fps_d);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_surface_src_finalize (GObject *object)
{
  g_free (GST_SURFACE_SRC (object)->settings.location);
  g_strfreev (GST_SURFACE_SRC (object)->locations);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_surface_src_class_init (GstSurfaceSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_surface_src_debug, "surfacesrc", 0, "surfaces from files");

  object_class->set_property = gst_surface_src_set_property;
  object_class->get_property = gst_surface_src_get_property;
  object_class->finalize = gst_surface_src_finalize;
  gst_cvis_settings_install (object_class, PROP_SETTINGS, settings_table,
      G_N_ELEMENTS (settings_table), &default_settings);
  gst_cvis_settings_install (object_class, PROP_READING, gst_surface_reading,
      GST_SURFACE_N_READING, &gst_surface_reading_defaults);
  g_object_class_install_property (object_class, PROP_FRAMERATE,
      gst_param_spec_fraction ("framerate", "framerate",
          "Surfaces per second; 0/1: without timestamps", 0, 1, G_MAXINT, 1, 1,
          1,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PROP_LOCATIONS,
      gst_param_spec_array ("locations", "locations",
          "Files to be read one after the other, instead of location",
          g_param_spec_string ("file", "file", "File", NULL,
              G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Measured surfaces from files", "Source/File",
      "Reads X3P, SDF, SUR, GSF, TIFF, NPY, NPZ, AL3D, BCRF, PLU, OPD, "
      "MetroPro and text files of surfaces",
      "the gst-cudavision authors");

  base_class->start = gst_surface_src_start;
  base_class->stop = gst_surface_src_stop;
  base_class->negotiate = gst_surface_src_negotiate;
  base_class->is_seekable = gst_surface_src_is_seekable;
  base_class->do_seek = gst_surface_src_do_seek;
  base_class->query = gst_surface_src_query;
  GST_PUSH_SRC_CLASS (klass)->create = gst_surface_src_create;
}

static void
gst_surface_src_init (GstSurfaceSrc *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  self->settings = default_settings;
  self->settings.location = g_strdup ("");
  self->reading = gst_surface_reading_defaults;
  self->fps_n = self->fps_d = 1;
  self->rate_n = self->rate_d = 1;
}
