/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-surfacesink
 * @title: surfacesink
 * @short_description: writes surfaces to files
 *
 * Writes each surface to a file of its own: X3P, SDF (text or binary), Digital Surf
 * SUR, GSF, TIFF or NPY. An offset that was subtracted from the samples
 * (#GstCvisSurfaceMeta) is added again, in double precision, so that files have the
 * heights that the instrument measured. A file is written completely or not at all.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 surfacetestsrc num-buffers=10 ! surfacesink location=test-%05d.x3p
 * ]|
 *
 * Since: 0.1
 */
#include "gstsurfacesink.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gst/common/gstcvissettings.h"
#include "gst/common/gstcvistime.h"
#include "gstsurfacetypes.h"
#include "cuda/surface/image.h"

GST_DEBUG_CATEGORY_STATIC (gst_surface_sink_debug);
#define GST_CAT_DEFAULT gst_surface_sink_debug

typedef struct {
  gchar *location;
  gint format; /* SurfaceFileFormat; SURFACE_FILE_UNKNOWN: by the ending */
  guint index;
  guint max_files;
  gboolean post_messages;
  guint compression_level;
} Settings;

struct _GstSurfaceSink {
  GstBaseSink parent;

  Settings settings; /* guarded by the object lock */

  /* since start */
  gchar *location;
  SurfaceFileFormat format;
  gboolean pattern;
  guint max_files, level;
  gboolean warned; /* a warning about overwritten files was posted */
  gboolean warned_of_loss;

  /* of the streaming thread */
  GstCvisSurfaceInfo info;
  gboolean has_info;
  GstCaps *refused; /* (nullable): an error was posted about them */
  GQueue written;   /* names, oldest first, if max_files is set */
  guint64 surfaces;
  gchar *title, *date; /* of the stream's tags */
  CvisPool *threads;
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GEnumValue formats[] = {
  { SURFACE_FILE_UNKNOWN, "By the ending of the location", "auto" },
  { SURFACE_FILE_X3P, "ISO 25178-72, zip with XML", "x3p" },
  { SURFACE_FILE_SDF, "ISO 25178-71, text", "sdf" },
  { SURFACE_FILE_SDF_BINARY, "ISO 25178-71, binary", "sdf-binary" },
  { SURFACE_FILE_SUR, "Digital Surf", "sur" },
  { SURFACE_FILE_GSF, "Gwyddion simple field", "gsf" },
  { SURFACE_FILE_TIFF, "TIFF of float64", "tiff" },
  { SURFACE_FILE_NPY, "NumPy array of float32 or float64", "npy" },
  { 0, NULL, NULL },
};

static const GstCvisSetting settings_table[] = {
  { "location",
      "File, file:// URI, or pattern of files with one %d, such as "
      "land-%05d.x3p",
      GST_CVIS_SETTING_STRING, FIELD (location) },
  { "format", "File format", GST_CVIS_SETTING_ENUM, FIELD (format), FALSE, 0, 0,
      "GstSurfaceSinkFormat", formats },
  { "index", "Number of the next file of a pattern", GST_CVIS_SETTING_UINT,
      FIELD (index), TRUE, 0, G_MAXINT },
  { "max-files",
      "Number of files to keep: the oldest is deleted when there are more; 0: "
      "all",
      GST_CVIS_SETTING_UINT, FIELD (max_files), FALSE, 0, G_MAXINT },
  { "post-messages", "Post an element message surfacesink-file for each file",
      GST_CVIS_SETTING_BOOLEAN, FIELD (post_messages), TRUE },
  { "compression-level",
      "Effort to make X3P files smaller: 0 (none), 1 (fast) to 9 (small)",
      GST_CVIS_SETTING_UINT, FIELD (compression_level), FALSE, 0, 9 },
};

static const Settings default_settings = { (gchar *) "", SURFACE_FILE_UNKNOWN,
  0, 0, TRUE, SURFACE_X3P_LEVEL };

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CVIS_SURFACE_CAPS));

#define gst_surface_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstSurfaceSink, gst_surface_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE (
    surfacesink, "surfacesink", GST_RANK_NONE, GST_TYPE_SURFACE_SINK);

/* --- heights -------------------------------------------------------------------- */

/* An input surface: height = sample * @scale + @offset, metres */
typedef struct {
  const GstSurfaceSink *sink;
  const GstCvisSurfaceInfo *info;
  const guint8 *samples; /* at any address */
  gdouble scale, offset;
  gdouble dx, dy;
} Surface;

static void
read_samples (
    SurfaceImage *image, const Surface *surface, const guint8 *samples)
{
  switch (surface->info->type) {
    case GST_CVIS_SURFACE_TYPE_FLOAT64:
      surface_image_from_float64 (
          image, (const gdouble *) samples, surface->scale, surface->offset);
      break;
    case GST_CVIS_SURFACE_TYPE_INT32:
      surface_image_from_int32 (
          image, (const gint32 *) samples, surface->scale, surface->offset);
      break;
    default:
      surface_image_from_float32 (
          image, (const gfloat *) samples, surface->scale, surface->offset);
  }
}

static SurfaceImage *
make_image (GstSurfaceSink *self, const Surface *surface, GError **error)
{
  gsize size = gst_cvis_surface_info_get_size (surface->info);
  const gboolean copy = (guintptr) surface->samples % 8 != 0;
  gpointer aligned = copy ? g_try_malloc (size) : NULL;
  SurfaceImage *image;

  if (copy && aligned == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for a copy of %" G_GSIZE_FORMAT " bytes", size);
    return NULL;
  }
  if (copy)
    memcpy (aligned, surface->samples, size);
  image =
      surface_image_new (surface->info->width, surface->info->height, error);
  if (image != NULL) {
    read_samples (image, surface, aligned != NULL ? aligned : surface->samples);
    image->dx = surface->dx;
    image->dy = surface->dy;
    image->title = g_strdup (self->title);
    image->date = g_strdup (self->date);
  }
  g_free (aligned);
  return image;
}

/* --- files --------------------------------------------------------------------------- */

/* Fills the empty file @fd. Returns: FALSE with @error */
typedef gboolean (*FillFunc) (int fd, gpointer user_data, GError **error);

static gboolean
refuse_errno (GError **error)
{
  const int number = errno;

  g_set_error_literal (error, G_FILE_ERROR,
      (gint) g_file_error_from_errno (number), g_strerror (number));
  return FALSE;
}

/* Replaces the file @path at once: also after a power failure the disk has either
 * the old or the new contents. */
static gboolean
replace_file (const gchar *path, gsize old_size, FillFunc fill, gpointer data,
    GError **error)
{
  gchar *temporary = g_strconcat (path, ".XXXXXX", NULL);
  int fd = g_mkstemp_full (temporary, O_RDWR | O_CLOEXEC, 0666);
  gboolean ok = fd >= 0 || refuse_errno (error), made = ok;

  ok = ok && fill (fd, data, error);
  if (ok && old_size > 0 && fsync (fd) != 0)
    ok = refuse_errno (error);
  if (made && close (fd) != 0 && ok)
    ok = refuse_errno (error);
  if (ok && g_rename (temporary, path) != 0)
    ok = refuse_errno (error);
  if (made && !ok)
    g_unlink (temporary);
  g_free (temporary);
  return ok;
}

/* Writes the file @name. The target of a link is written; a device or a pipe is not
 * replaced by a file. */
static gboolean
put_file (const gchar *name, FillFunc fill, gpointer data, GError **error)
{
  gchar *target = realpath (name, NULL); /* NULL: there is no such file yet */
  const gchar *path = target != NULL ? target : name;
  struct stat about = { 0 };
  gboolean ok;

  if (stat (path, &about) == 0 && !S_ISREG (about.st_mode)) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        S_ISDIR (about.st_mode) ? "It is a directory"
                                : "It is not a regular file");
    ok = FALSE;
  } else {
    ok = replace_file (path, (gsize) about.st_size, fill, data, error);
  }
  free (target);
  return ok;
}

static gboolean
fill_with_bytes (int fd, gpointer user_data, GError **error)
{
  gsize size;
  const guint8 *bytes = g_bytes_get_data (user_data, &size);

  for (gsize done = 0; done < size;) {
    gssize wrote = write (fd, bytes + done, size - done);

    if (wrote < 0 && errno != EINTR)
      return refuse_errno (error);
    done += wrote > 0 ? (gsize) wrote : 0;
  }
  return TRUE;
}

/* Takes @error. Returns: FALSE */
static gboolean
refuse_file (GstSurfaceSink *self, const gchar *name, GError *error)
{
  if (error->domain == G_FILE_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Cannot write \"%s\": %s. Check the property location and the "
         "free space.",
            name, error->message),
        (NULL));
  else if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_MEMORY))
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Cannot write \"%s\": %s. Use smaller surfaces.", name,
            error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, STREAM, ENCODE,
        ("Cannot write \"%s\": %s. Use another format.", name, error->message),
        (NULL));
  g_error_free (error);
  return FALSE;
}

/* Warns once of what the format cannot hold. */
static void
warn_of_loss (
    GstSurfaceSink *self, const SurfaceImage *image, const gchar *name)
{
  gchar *loss = NULL;

  if (!self->warned_of_loss)
    loss = surface_file_find_loss (image, self->format);
  if (loss != NULL) {
    self->warned_of_loss = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, ENCODE, ("\"%s\": %s.", name, loss),
        ("Posted for the first file only."));
  }
  g_free (loss);
}

/* Converts the surface to an image for the writer. */
static gboolean
write_image (GstSurfaceSink *self, const Surface *surface, const gchar *name)
{
  GError *error = NULL;
  SurfaceImage *image = make_image (self, surface, &error);
  GBytes *bytes = NULL;
  gboolean ok = FALSE;

  if (image != NULL) {
    warn_of_loss (self, image, name);
    bytes = surface_file_write (image, self->format, &error);
  }
  if (bytes != NULL)
    ok = put_file (name, fill_with_bytes, bytes, &error);
  g_clear_pointer (&image, surface_image_free);
  g_clear_pointer (&bytes, g_bytes_unref);
  return ok || refuse_file (self, name, error);
}

/* Writes X3P or NPY without a copy of the surface. */
static gboolean
fill_with_samples (int fd, gpointer user_data, GError **error)
{
  const Surface *surface = user_data;
  static const SurfaceStream streams[] = {
    [GST_CVIS_SURFACE_TYPE_FLOAT32] = SURFACE_STREAM_F32,
    [GST_CVIS_SURFACE_TYPE_FLOAT64] = SURFACE_STREAM_F64,
    [GST_CVIS_SURFACE_TYPE_INT32] = SURFACE_STREAM_I32,
  };
  const GstSurfaceSink *self = surface->sink;
  const SurfaceImage about = { .width = surface->info->width,
    .height = surface->info->height,
    .dx = surface->dx,
    .dy = surface->dy,
    .title = self->title,
    .date = self->date };
  const SurfaceStream stream = streams[surface->info->type];

  if (self->format == SURFACE_FILE_X3P)
    return surface_file_save_x3p (fd, &about, stream, surface->scale,
        surface->offset, surface->samples, self->level, self->threads, error);
  return surface_file_save_npy (fd, &about, stream, surface->scale,
      surface->offset, surface->samples, self->threads, error);
}

static gboolean
write_surface (GstSurfaceSink *self, Surface *surface, const gchar *name)
{
  GError *error = NULL;

  const SurfaceImage about = { .dx = surface->dx, .dy = surface->dy };

  if (self->format != SURFACE_FILE_NPY && self->format != SURFACE_FILE_X3P)
    return write_image (self, surface, name);
  warn_of_loss (self, &about, name);
  return put_file (name, fill_with_samples, surface, &error)
         || refuse_file (self, name, error);
}

/* Returns: FALSE after posting an error */
static gboolean
write_buffer (GstSurfaceSink *self, GstBuffer *buffer, const gchar *name)
{
  const GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer);
  gsize size = gst_cvis_surface_info_get_size (&self->info);
  Surface surface = { .sink = self,
    .info = &self->info,
    .scale = meta != NULL ? meta->z_scale : 1.0,
    .offset = meta != NULL ? meta->offset : 0.0,
    .dx = meta != NULL && meta->dx > 0 ? meta->dx : self->info.dx,
    .dy = meta != NULL && meta->dy > 0 ? meta->dy : self->info.dy };
  gboolean ok = FALSE;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot read a surface: its buffer cannot be mapped. Check the "
         "element before surfacesink."),
        ("%" GST_PTR_FORMAT, buffer));
    return FALSE;
  }
  if (map.size < size) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot write a surface: %u x %u samples need %" G_GSIZE_FORMAT
         " bytes, but the buffer has %" G_GSIZE_FORMAT ". Check the caps.",
            self->info.width, self->info.height, size, map.size),
        ("%" GST_PTR_FORMAT, buffer));
  } else {
    surface.samples = map.data;
    ok = write_surface (self, &surface, name);
  }
  gst_buffer_unmap (buffer, &map);
  return ok;
}

/* Takes @name. */
static void
forget_oldest (GstSurfaceSink *self, gchar *name)
{
  if (self->max_files == 0 || !self->pattern) {
    g_free (name);
    return;
  }
  g_queue_push_tail (&self->written, name);
  while (self->written.length > self->max_files) {
    gchar *oldest = g_queue_pop_head (&self->written);

    if (g_unlink (oldest) != 0)
      GST_WARNING_OBJECT (self, "cannot delete %s: %m", oldest);
    g_free (oldest);
  }
}

static void
post_message (
    GstSurfaceSink *self, GstBuffer *buffer, const gchar *name, guint index)
{
  GstBaseSink *base = GST_BASE_SINK (self);
  GstClockTime time = GST_BUFFER_PTS (buffer);
  GstSegment *segment = &base->segment;

  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("surfacesink-file", "filename", G_TYPE_STRING,
              name, "index", G_TYPE_INT, (gint) index, "pts", G_TYPE_UINT64,
              time, "stream-time", G_TYPE_UINT64,
              gst_cvis_stream_time (segment, time), "running-time",
              G_TYPE_UINT64, gst_cvis_running_time (segment, time), "duration",
              G_TYPE_UINT64, GST_BUFFER_DURATION (buffer), "offset",
              G_TYPE_UINT64, GST_BUFFER_OFFSET (buffer), "offset-end",
              G_TYPE_UINT64, GST_BUFFER_OFFSET_END (buffer), NULL)));
}

/* Warns, at the second surface, of a location that is no pattern. */
static void
warn_of_overwriting (GstSurfaceSink *self)
{
  if (self->pattern || self->surfaces == 0 || self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
      ("Each surface overwrites \"%s\": location is no pattern. Use %%05d in "
       "it to number the files.",
          self->location),
      (NULL));
}

static GstFlowReturn
gst_surface_sink_render (GstBaseSink *base, GstBuffer *buffer)
{
  GstSurfaceSink *self = GST_SURFACE_SINK (base);
  gboolean post;
  guint index;
  gchar *name;

  if (!self->has_info) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot write a surface: it came without caps. If the stream is a "
         "file of a surface, put surfacedec before surfacesink; otherwise a "
         "capsfilter with other/tensors."),
        (NULL));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  GST_OBJECT_LOCK (self);
  index = self->settings.index;
  post = self->settings.post_messages;
  GST_OBJECT_UNLOCK (self);
  warn_of_overwriting (self);
  name = gst_surface_location_at (self->location, index);
  if (!write_buffer (self, buffer, name)) {
    g_free (name);
    return GST_FLOW_ERROR;
  }
  self->surfaces++;
  GST_OBJECT_LOCK (self);
  self->settings.index = index + 1;
  GST_OBJECT_UNLOCK (self);
  if (post)
    post_message (self, buffer, name, index);
  forget_oldest (self, name);
  return GST_FLOW_OK;
}

/* --- base class -------------------------------------------------------------------------- */

static gboolean
gst_surface_sink_set_caps (GstBaseSink *base, GstCaps *caps)
{
  GstSurfaceSink *self = GST_SURFACE_SINK (base);
  GError *error = NULL;

  /* upstream sends refused caps again with each push: the error is posted once */
  if (self->refused != NULL && gst_caps_is_equal (self->refused, caps))
    return FALSE;
  gst_clear_caps (&self->refused);
  self->has_info = gst_cvis_surface_info_from_caps (&self->info, caps, &error);
  if (!self->has_info) {
    self->refused = gst_caps_ref (caps);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: %s. \"gst-inspect-1.0 surfacesink\" lists the "
         "supported caps.",
            error->message),
        ("%" GST_PTR_FORMAT, caps));
    g_error_free (error);
  }
  return self->has_info;
}

static void
take_tags (GstSurfaceSink *self, GstTagList *tags)
{
  GstDateTime *date = NULL;
  gchar *title = NULL;

  if (gst_tag_list_get_string (tags, GST_TAG_TITLE, &title)) {
    g_free (self->title);
    self->title = title;
  }
  if (gst_tag_list_get_date_time (tags, GST_TAG_DATE_TIME, &date)) {
    g_free (self->date);
    self->date = gst_date_time_to_iso8601_string (date);
    gst_date_time_unref (date);
  }
}

static void
forget_tags (GstSurfaceSink *self)
{
  g_clear_pointer (&self->title, g_free);
  g_clear_pointer (&self->date, g_free);
}

/* Proposes GstCvisSurfaceMeta: the offset in it is added when a file is written. */
static gboolean
gst_surface_sink_propose_allocation (GstBaseSink *base, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_CVIS_SURFACE_META_API_TYPE, NULL);
  return TRUE;
}

static gboolean
gst_surface_sink_event (GstBaseSink *base, GstEvent *event)
{
  GstSurfaceSink *self = GST_SURFACE_SINK (base);
  GstTagList *tags;

  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    forget_tags (self);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_TAG) {
    gst_event_parse_tag (event, &tags);
    take_tags (self, tags);
  }
  return GST_BASE_SINK_CLASS (parent_class)->event (base, event);
}

/* The format of the files; %SURFACE_FILE_UNKNOWN after posting an error */
static SurfaceFileFormat
choose_format (GstSurfaceSink *self, SurfaceFileFormat wanted)
{
  SurfaceFileFormat format = wanted != SURFACE_FILE_UNKNOWN
                                 ? wanted
                                 : surface_file_format_of_name (self->location);

  if (!surface_file_writable (format)) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Unknown format: the ending of \"%s\" is none of x3p, sdf, sur, gsf, "
         "tiff and npy. Set the property format.",
            self->location),
        ("format=auto"));
    return SURFACE_FILE_UNKNOWN;
  }
  if (!surface_file_supported (format)) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Unsupported format: this build cannot write %s files, because it "
         "lacks %s. Use another format.",
            surface_file_format_name (format),
            format == SURFACE_FILE_X3P ? "libzip" : "libtiff"),
        (NULL));
    return SURFACE_FILE_UNKNOWN;
  }
  return format;
}

static gboolean
check_location (GstSurfaceSink *self)
{
  GError *error = NULL;
  gchar *path;

  if (*self->location == 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("Invalid settings: location names no file. Set a file name or a "
         "pattern with %%d."),
        (NULL));
    return FALSE;
  }
  path = gst_surface_location_parse (self->location, &self->pattern, &error);
  if (path == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Invalid settings: %s. Check the property location.", error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  g_free (self->location);
  self->location = path;
  return TRUE;
}

/* Posts an error if no file can be written to the folder. */
static gboolean
check_folder (GstSurfaceSink *self)
{
  gchar *folder = g_path_get_dirname (self->location);
  gint number = 0;

  if (strchr (folder, '%') == NULL && g_access (folder, W_OK | X_OK) != 0)
    number = errno;
  else if (g_file_test (self->location, G_FILE_TEST_IS_DIR))
    number = EISDIR;
  if (number != 0)
    refuse_file (self, self->location,
        g_error_new_literal (G_FILE_ERROR, g_file_error_from_errno (number),
            number == EISDIR ? "It is a directory" : g_strerror (number)));
  g_free (folder);
  return number == 0;
}

static gboolean
gst_surface_sink_start (GstBaseSink *base)
{
  GstSurfaceSink *self = GST_SURFACE_SINK (base);
  SurfaceFileFormat wanted;

  GST_OBJECT_LOCK (self);
  self->location = g_strdup (self->settings.location);
  wanted = self->settings.format;
  self->max_files = self->settings.max_files;
  self->level = self->settings.compression_level;
  GST_OBJECT_UNLOCK (self);
  self->surfaces = 0;
  self->warned = self->warned_of_loss = self->has_info = FALSE;
  if (check_location (self)) {
    self->format = choose_format (self, wanted);
    if (self->format != SURFACE_FILE_UNKNOWN && check_folder (self)) {
      self->threads = cvis_pool_new (0);
      return TRUE;
    }
  }
  g_clear_pointer (&self->location, g_free);
  return FALSE;
}

static gboolean
gst_surface_sink_stop (GstBaseSink *base)
{
  GstSurfaceSink *self = GST_SURFACE_SINK (base);

  g_queue_clear_full (&self->written, g_free);
  g_clear_pointer (&self->threads, cvis_pool_free);
  g_clear_pointer (&self->location, g_free);
  gst_clear_caps (&self->refused);
  forget_tags (self);
  return TRUE;
}

/* --- object --------------------------------------------------------------------------------- */

static void
gst_surface_sink_class_init (GstSurfaceSinkClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *base_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_surface_sink_debug, "surfacesink", 0, "surfaces into files");

  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstSurfaceSink, settings),
      &default_settings);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Surfaces into files",
      "Sink/File", "Writes X3P, SDF, SUR, GSF, TIFF and NPY files of surfaces",
      "the gst-cudavision authors");

  base_class->start = gst_surface_sink_start;
  base_class->stop = gst_surface_sink_stop;
  base_class->set_caps = gst_surface_sink_set_caps;
  base_class->event = gst_surface_sink_event;
  base_class->propose_allocation = gst_surface_sink_propose_allocation;
  base_class->render = gst_surface_sink_render;
}

static void
gst_surface_sink_init (GstSurfaceSink *self)
{
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_cvis_settings_init (self);
  g_queue_init (&self->written);
}
