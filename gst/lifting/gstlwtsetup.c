/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter: the engine for the input and the requested components, and the
 * pools for its results. */
#include "gstcudalwtfilter-private.h"

#include <string.h>

#include "gst/common/gstcvispool.h"
#include "cuda/lifting/plan.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

/* Surfaces in flight: on the CPU one is mapped while another is computed; on a
 * device one is copied in, one computed, one copied out. */
#define IN_FLIGHT_CPU 2
#define IN_FLIGHT_CUDA 3

/* --- pools ------------------------------------------------------------------- */

GstBufferPool *
gst_lwt_get_pool (GstCudaLwtFilter *self, CvisSurfacePart part)
{
  const LwtConfig *config = &self->config;
  guint width = config->width, height = config->height;

  if (self->pools[part] != NULL)
    return self->pools[part];
  if (part == CVIS_SURFACE_PART_BANDS)
    lwt_config_get_bands_size (config, &width, &height);
  self->pools[part] = gst_cvis_pool_new_active (self->filter.context, NULL,
      (gsize) width * height * lwt_type_get_size (config->type), 0);
  return self->pools[part];
}

/* Without a context: the CPU writes pictures. */
GstBufferPool *
gst_lwt_get_picture_pool (
    GstCudaLwtFilter *self, guint index, const GstLwtOut *out)
{
  if (self->picture_pools[index] == NULL)
    self->picture_pools[index] = gst_cvis_pool_new_active (
        NULL, NULL, GST_VIDEO_INFO_SIZE (&out->picture), 0);
  return self->picture_pools[index];
}

void
gst_lwt_free_picture_pool (GstCudaLwtFilter *self, guint index)
{
  gst_cvis_pool_clear (&self->picture_pools[index]);
}

void
gst_lwt_free_engine (GstCudaLwtFilter *self)
{
  gst_cvis_filter_set_fleet (&self->filter, NULL);
  g_clear_pointer (&self->engine, lwt_engine_free);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    gst_cvis_pool_clear (&self->pools[i]);
  for (guint i = 0; i <= GST_LWT_SIDES; i++)
    gst_cvis_pool_clear (&self->picture_pools[i]);
  gst_cvis_filter_free_items (&self->filter);
}

/* --- requested results --------------------------------------------------------- */

static const LwtParts operation_parts[] = {
  [LWT_OPERATION_FILTER] =
      1u << CVIS_SURFACE_PART_NOISE | 1u << CVIS_SURFACE_PART_ROUGHNESS
      | 1u << CVIS_SURFACE_PART_WAVINESS | 1u << CVIS_SURFACE_PART_FORM
      | 1u << CVIS_SURFACE_PART_BANDS,
  [LWT_OPERATION_FORWARD] = 1u << CVIS_SURFACE_PART_BANDS,
  [LWT_OPERATION_INVERSE] = 1u << CVIS_SURFACE_PART_MEASURED,
  [LWT_OPERATION_DENOISE] =
      1u << CVIS_SURFACE_PART_MEASURED | 1u << CVIS_SURFACE_PART_NOISE,
};

/* Components that @surface has. */
static LwtParts
get_available (GstCudaLwtFilter *self, const GstLwtSurface *surface)
{
  LwtParts parts = operation_parts[self->wanted.operation];

  if (self->wanted.operation == LWT_OPERATION_FILTER
      && surface->levels_noise[0] == 0 && surface->levels_noise[1] == 0
      && surface->cutoffs[0][0] == 0.0 && surface->cutoffs[0][1] == 0.0)
    parts &= ~(1u << CVIS_SURFACE_PART_NOISE);
  return parts;
}

/* Linked request pads with a component of @available: 1 << kind. Once the stream
 * runs, others get no buffers, and a warning with @why, once each. Before, they
 * are returned too, for the caller to post an error. */
static guint
get_linked_sides (GstCudaLwtFilter *self, LwtParts available)
{
  const LwtOperation operation = self->wanted.operation;
  guint sides = 0;

  for (guint i = 0; i < GST_LWT_SIDES; i++) {
    const LwtParts part = 1u << gst_lwt_side_part (i);
    GstPad *pad = gst_cvis_filter_ref_request_pad (&self->filter, i);
    const gboolean linked = pad != NULL && gst_pad_is_linked (pad);
    const gboolean ignored = linked && self->started && (available & part) == 0;

    if (linked && !ignored)
      sides |= 1u << i;
    if (ignored && (self->ignored & (1u << i)) == 0)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
          ("Pad %s gets no buffers: operation=%s%s does not have this "
           "component. Release the pad, or change the properties in the state "
           "READY.",
              GST_PAD_NAME (pad), gst_lwt_operation_name (operation),
              operation == LWT_OPERATION_FILTER
                  ? " without lambda-s or noise-levels"
                  : ""),
          ("requested while the stream runs"));
    self->ignored &= ~(1u << i);
    self->ignored |= (guint) ignored << i;
    gst_clear_object (&pad);
  }
  return sides;
}

/* Components of linked pads are computed; if none is linked, that of the source pad,
 * whose push then returns NOT_LINKED. */
GstLwtWanted
gst_lwt_get_wanted (GstCudaLwtFilter *self, const GstLwtSurface *surface)
{
  const LwtParts available = get_available (self, surface);
  GstLwtWanted wanted = { 0 };
  gboolean all, limited;

  wanted.sides = get_linked_sides (self, available);
  for (guint i = 0; i < GST_LWT_SIDES; i++)
    if (wanted.sides & (1u << i))
      wanted.parts |= 1u << gst_lwt_side_part (i);
  if (!self->passes
      && (wanted.parts == 0 || gst_pad_is_linked (self->filter.srcpad)))
    wanted.parts |= 1u << self->part;
  GST_OBJECT_LOCK (self);
  all = self->settings.parameters;
  limited = self->settings.sa_lower_limit > 0.0
            || self->settings.sa_upper_limit < G_MAXDOUBLE;
  GST_OBJECT_UNLOCK (self);
  if (self->passes)
    wanted.parameters = available;
  else if (all)
    wanted.parameters = wanted.parts;
  else if (limited)
    wanted.parameters = wanted.parts & (1u << self->part);
  wanted.parameters &= ~(1u << CVIS_SURFACE_PART_BANDS);
  return wanted;
}

/* --- the engine ------------------------------------------------------------------ */

gboolean
gst_lwt_set_wavelet (GstCudaLwtFilter *self, const gchar *text)
{
  GError *error = NULL;

  if (g_strcmp0 (self->wavelet_text, text) == 0)
    return TRUE;
  g_clear_pointer (&self->wavelet, lwt_wavelet_free);
  g_clear_pointer (&self->wavelet_text, g_free);
  self->wavelet = lwt_wavelet_new (text, &error);
  if (self->wavelet == NULL) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Cannot use the wavelet \"%s\": %s. Set wavelet to a name such as "
         "9/7.",
            text, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  self->wavelet_text = g_strdup (text);
  return TRUE;
}

/* Posts an error about the first requested component that does not exist. */
static gboolean
check_parts (GstCudaLwtFilter *self, LwtParts parts)
{
  const LwtOperation operation = self->wanted.operation;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const gchar *name = gst_cvis_surface_part_name ((CvisSurfacePart) i);

    if ((parts & ~operation_parts[operation] & (1u << i)) == 0)
      continue;
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Invalid settings: operation=%s has no %s, requested by %s. Use "
         "another operation or output.",
            gst_lwt_operation_name (operation), name,
            i == self->part ? "output" : "a request pad"),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

/* Posts an error if there is nothing to compute. */
static gboolean
check_purpose (GstCudaLwtFilter *self, const LwtConfig *config)
{
  if (config->parts != 0)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
      ("Invalid settings: output=none only computes parameters, which "
       "coefficients and integers do not have. Use another operation, or link "
       "a request "
       "pad."),
      ("operation=%s", gst_lwt_operation_name (self->wanted.operation)));
  return FALSE;
}

/* Posts an error about cut-offs in the wrong order, in metres as the user set
 * them. */
static gboolean
check_cutoffs (GstCudaLwtFilter *self)
{
  const gchar *const names[3] = { "lambda-s", "lambda-c", "lambda-f" };
  const gdouble lambdas[3] = { self->wanted.lambda_s, self->wanted.lambda_c,
    self->wanted.lambda_f };

  for (guint i = 0; i < 3; i++)
    for (guint j = i + 1; j < 3; j++)
      if (self->wanted.operation == LWT_OPERATION_FILTER && lambdas[j] > 0.0
          && lambdas[j] < lambdas[i]) {
        GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
            ("Invalid settings: %s is %g m, shorter than %s, %g m. Use "
             "lambda-s < lambda-c < lambda-f.",
                names[j], lambdas[j], names[i], lambdas[i]),
            ("each cut-off is at least as long as the one before"));
        return FALSE;
      }
  return TRUE;
}

/* Whether the size of input bands fits the surface that they give. */
static gboolean
check_bands (GstCudaLwtFilter *self, const GstLwtSurface *surface,
    const LwtConfig *config)
{
  guint width, height;

  if (config->operation != LWT_OPERATION_INVERSE)
    return TRUE;
  lwt_config_get_bands_size (config, &width, &height);
  if (width == surface->width && height == surface->height)
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("Cannot invert bands of %ux%u: a surface of %ux%u has bands of %ux%u "
       "with these levels and this boundary. Set the values used by "
       "operation=forward.",
          surface->width, surface->height, config->width, config->height, width,
          height),
      ("a padded boundary needs the GstCvisSurfaceMeta that operation=forward "
       "adds"));
  return FALSE;
}

static gboolean
make_engine (GstCudaLwtFilter *self, LwtConfig *config)
{
  GError *error = NULL;
  const CvisFleetOwner owner = gst_cvis_filter_get_fleet_owner (&self->filter);
  const CvisDevices *devices = gst_cvis_filter_get_devices (&self->filter);

  self->engine = devices != NULL
                     ? lwt_engine_new_over (config, devices, &owner, &error)
                     : lwt_engine_new (config, self->filter.context, &error);
  if (self->engine == NULL)
    gst_cvis_filter_post_setup_error (
        &self->filter, config->width, config->height, error);
  return self->engine != NULL;
}

/* --- messages --------------------------------------------------------------------- */

/* A cut-off that was set as a length, and its levels. */
typedef struct {
  const gchar *name;
  gdouble lambda; /* metres; 0: not set */
  const guint *levels;
} Cutoff;

static guint
get_cutoffs (const GstLwtSettings *wanted, const GstLwtSurface *surface,
    Cutoff cutoffs[3])
{
  guint n = 0;

  if (wanted->operation == LWT_OPERATION_FILTER) {
    cutoffs[n++] =
        (Cutoff){ "lambda-s", wanted->lambda_s, surface->levels_noise };
    cutoffs[n++] =
        (Cutoff){ "lambda-c", wanted->lambda_c, surface->levels_roughness };
  }
  if (wanted->operation != LWT_OPERATION_INVERSE)
    cutoffs[n++] = (Cutoff){ "lambda-f", wanted->lambda_f, surface->levels };
  return n;
}

/* Adds @cutoff to @far if the possible levels do not reach it, or to @near if it is
 * too short for any level. */
static void
add_limits (GString *far, GString *near, const GstLwtSurface *surface,
    const Cutoff *cutoff)
{
  const gdouble spacing[2] = { surface->dx, surface->dy };

  for (guint axis = 0; cutoff->lambda > 0.0 && axis < 2; axis++) {
    const gchar *along = axis == 0 ? "x" : "y";

    if (cutoff->levels[axis] == 0)
      g_string_append_printf (near, "%s %s=%g along %s",
          near->len > 0 ? "," : "", cutoff->name, cutoff->lambda, along);
    if (cutoff->levels[axis] == LWT_MAX_LEVELS
        && lwt_levels_for_cutoff (cutoff->lambda / 2.0, spacing[axis])
               == LWT_MAX_LEVELS)
      g_string_append_printf (far, "%s %s=%g is %g along %s",
          far->len > 0 ? "," : "", cutoff->name, cutoff->lambda,
          lwt_cutoff_of_levels (LWT_MAX_LEVELS, spacing[axis]), along);
  }
}

/* Levels that split @n samples into one. */
static guint
count_possible (guint n)
{
  guint levels = 0;

  for (; n > 1; n = (n + 1) / 2)
    levels++;
  return levels;
}

/* Adds to @text the levels that the user set, or that follow from the cut-off
 * @lambda, and that the size of the surface does not have. A side of one sample is
 * a profile's. */
static void
add_excess (GString *text, const gchar *name, const GstLwtLevels *given,
    gdouble lambda, const guint levels[2], const guint sides[2])
{
  for (guint axis = 0; axis < 2; axis++) {
    const gint one = axis == 0 ? given->x : given->y;
    const guint possible = count_possible (sides[axis]);

    if ((lambda > 0.0 || one >= 0 || given->both >= 0) && sides[axis] > 1
        && levels[axis] > possible)
      g_string_append_printf (text,
          "%s %s: %u along %s, where %u samples have %u",
          text->len > 0 ? "," : "", name, levels[axis], axis == 0 ? "x" : "y",
          sides[axis], possible);
  }
}

/* Warns of levels that do nothing, as their input is one sample. */
static void
warn_of_excess (GstCudaLwtFilter *self)
{
  const GstLwtSettings *wanted = &self->wanted;
  const LwtConfig *config = &self->config;
  GString *text = g_string_new (NULL);
  guint sides[2];

  lwt_config_get_bands_size (config, &sides[0], &sides[1]);
  if (config->operation == LWT_OPERATION_FILTER) {
    add_excess (text, "noise-levels", &wanted->noise_levels, wanted->lambda_s,
        config->levels_noise, sides);
    add_excess (text, "roughness-levels", &wanted->roughness_levels,
        wanted->lambda_c, config->levels_roughness, sides);
  }
  add_excess (
      text, "levels", &wanted->levels, wanted->lambda_f, config->levels, sides);
  if (text->len > 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Levels beyond the size of the surface have no effect:%s. Use fewer "
         "levels, or shorter cut-offs.",
            text->str),
        ("%u x %u samples", sides[0], sides[1]));
  g_string_free (text, TRUE);
}

static void
warn_of_limits (GstCudaLwtFilter *self)
{
  const GstLwtSurface *surface = &self->surface;
  GString *far = g_string_new (NULL), *near = g_string_new (NULL);
  Cutoff cutoffs[3];
  const guint n = gst_lwt_settings_is_smoothing (&self->wanted)
                      ? 0 /* any length of at least two samples */
                      : get_cutoffs (&self->wanted, surface, cutoffs);

  for (guint i = 0; i < n; i++)
    add_limits (far, near, surface, &cutoffs[i]);
  if (far->len > 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Cut-offs are limited to the reach of %d levels:%s. Use shorter "
         "cut-offs.",
            LWT_MAX_LEVELS, far->str),
        ("in metres; samples are %g m and %g m apart", surface->dx,
            surface->dy));
  if (near->len > 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Cut-offs too short for the sample spacing have no effect:%s. Use "
         "longer cut-offs.",
            near->str),
        ("in metres; samples are %g m and %g m apart, the shortest cut-off is "
         "2.83 times that",
            surface->dx, surface->dy));
  if (far->len == 0) /* the size limits those too */
    warn_of_excess (self);
  g_string_free (far, TRUE);
  g_string_free (near, TRUE);
}

static void
post_filter (GstCudaLwtFilter *self)
{
  const LwtConfig *c = &self->config;
  const gdouble spacing[2] = { self->surface.dx, self->surface.dy };
  gdouble s[2] = { 0.0 }, l[2] = { 0.0 }, f[2] = { 0.0 };

  if (c->operation == LWT_OPERATION_FILTER)
    for (guint axis = 0; axis < 2; axis++)
      gst_lwt_get_cutoffs (
          c, axis, spacing[axis], &s[axis], &l[axis], &f[axis]);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("cudalwtfilter-filter", "operation", G_TYPE_STRING,
              gst_lwt_operation_name (c->operation), "filter", G_TYPE_STRING,
              gst_lwt_filter_name (c->filter), "wavelet", G_TYPE_STRING,
              self->wavelet_text, "noise-gain", G_TYPE_DOUBLE,
              self->wavelet->noise_gain, "boundary", G_TYPE_STRING,
              gst_lwt_boundary_name (c->boundary), "width", G_TYPE_UINT,
              c->width, "height", G_TYPE_UINT, c->height, "dx", G_TYPE_DOUBLE,
              self->surface.dx, "dy", G_TYPE_DOUBLE, self->surface.dy,
              "levels-x", G_TYPE_UINT, c->levels[0], "levels-y", G_TYPE_UINT,
              c->levels[1], "roughness-levels-x", G_TYPE_UINT,
              c->levels_roughness[0], "roughness-levels-y", G_TYPE_UINT,
              c->levels_roughness[1], "noise-levels-x", G_TYPE_UINT,
              c->levels_noise[0], "noise-levels-y", G_TYPE_UINT,
              c->levels_noise[1], "lambda-s-x", G_TYPE_DOUBLE, s[0],
              "lambda-s-y", G_TYPE_DOUBLE, s[1], "lambda-c-x", G_TYPE_DOUBLE,
              l[0], "lambda-c-y", G_TYPE_DOUBLE, l[1], "lambda-f-x",
              G_TYPE_DOUBLE, f[0], "lambda-f-y", G_TYPE_DOUBLE, f[1], NULL)));
}

/* Posts the configuration of the engine, once for new caps. */
static void
announce_filter (GstCudaLwtFilter *self)
{
  if (self->announce) {
    post_filter (self);
    warn_of_limits (self);
  }
  self->announce = FALSE;
}

/* Chooses the output caps, which may set the type of the arithmetic. */
static gboolean
choose (GstCudaLwtFilter *self, const GstLwtSurface *surface, LwtConfig *config)
{
  gboolean other;
  LwtType type = gst_lwt_surface_get_type (surface, &self->wanted, &other);
  GstCaps *former = gst_caps_ref (self->out.caps);
  gboolean ok;

  gst_lwt_surface_configure (
      surface, &self->wanted, self->wavelet, type, config);
  ok = gst_lwt_choose_out (self, self->filter.srcpad, self->part, config,
      surface, other, &self->out, &type);
  config->type = type;
  if (ok && !gst_caps_is_equal (former, self->out.caps)
      && gst_lwt_push_caps (self) != GST_FLOW_OK) {
    /* a flush may have dropped them: they are pushed again */
    gst_caps_replace (&self->out.caps, former);
    ok = FALSE;
  }
  gst_caps_unref (former);
  return ok;
}

/* Sets what the metas of all components say about the filter. */
static void
describe_filter (GstCudaLwtFilter *self)
{
  const LwtConfig *config = &self->config;
  const gchar *wavelet =
      gst_lwt_surface_get_wavelet (&self->surface, &self->wanted);
  const gboolean smooths = gst_lwt_settings_is_smoothing (&self->wanted);
  const gdouble spacing[2] = { self->surface.dx, self->surface.dy };
  GstCvisSurfaceMeta *meta = &self->description;

  memset (meta, 0, sizeof (*meta));
  if (config->operation == LWT_OPERATION_INVERSE)
    return;
  if (smooths && config->filter != LWT_FILTER_WAVELET)
    wavelet = gst_lwt_filter_name (config->filter);
  g_strlcpy (meta->wavelet,
      strlen (wavelet) < sizeof (meta->wavelet) ? wavelet : GST_LWT_UNNAMED,
      sizeof (meta->wavelet));
  if (!smooths)
    g_strlcpy (meta->boundary, gst_lwt_boundary_name (config->boundary),
        sizeof (meta->boundary));
  for (guint axis = 0; axis < 2; axis++) {
    meta->levels[axis] = config->levels[axis];
    if (config->operation == LWT_OPERATION_FILTER)
      gst_lwt_get_cutoffs (config, axis, spacing[axis], &meta->lambda_s[axis],
          &meta->lambda_c[axis], &meta->lambda_f[axis]);
  }
}

gboolean
gst_lwt_setup (GstCudaLwtFilter *self, const GstLwtSurface *surface,
    const GstLwtWanted *wanted)
{
  LwtConfig config;
  guint n_frames;

  gst_lwt_free_engine (self);
  if (!check_parts (self, wanted->parts) || !check_cutoffs (self)
      || !gst_lwt_set_wavelet (
          self, gst_lwt_surface_get_wavelet (surface, &self->wanted))
      || !choose (self, surface, &config))
    return FALSE;
  /* integers are no heights and have no parameters */
  config.parameters = config.type != LWT_TYPE_I32 ? wanted->parameters : 0;
  config.parts = wanted->parts | config.parameters;
  /* the last request pad was released while the stream runs */
  if (config.parts == 0 && self->started)
    config.parts = operation_parts[config.operation];
  config.threads = self->wanted.threads;
  config.device_memory = self->wanted.cuda_memory_limit;
  config.split_samples = self->wanted.split_samples;
  config.depth_in_flight = self->wanted.frames_in_flight > 0
                               ? self->wanted.frames_in_flight
                           : self->filter.context != NULL ? IN_FLIGHT_CUDA
                                                          : IN_FLIGHT_CPU;
  if (!check_purpose (self, &config) || !check_bands (self, surface, &config)
      || !make_engine (self, &config))
    return FALSE;
  self->surface = *surface;
  self->config = config;
  describe_filter (self);
  self->started = TRUE;
  n_frames = lwt_engine_get_depth (self->engine);
  gst_cvis_filter_set_fleet (
      &self->filter, lwt_engine_get_fleet (self->engine));
  gst_cvis_latency_set_frames (&self->filter.latency, n_frames);
  for (guint i = 0; i < n_frames; i++)
    gst_cvis_filter_add_item (&self->filter, gst_lwt_frame_new ());
  gst_cvis_filter_renegotiate_request_pads (&self->filter);
  announce_filter (self);
  GST_INFO_OBJECT (self,
      "%ux%u, %s, levels %u x %u, parts 0x%x, %u row blocks over devices",
      config.width, config.height, self->wavelet_text, config.levels[0],
      config.levels[1], config.parts, lwt_engine_count_blocks (self->engine));
  return TRUE;
}
