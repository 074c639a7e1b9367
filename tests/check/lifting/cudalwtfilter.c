/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter: compares the components on all pads with the engine's, for
 * all kinds of surfaces; tests that they add up, masks, metas, parameters
 * and limits, N in and N out, order, flush, gaps, latency, and error
 * messages. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gst/cudavision/cudavision.h"
#include "tests/check/common/busmessages.h"
#include "cuda/lifting/engine.h"
#include "tests/check/common/memorylimit.h"

#define WIDTH 75
#define HEIGHT 53
#define N (WIDTH * HEIGHT)
#define FRAME_NS (40 * GST_MSECOND)
#define QUIET "message-interval=0 "

/* --- surfaces ---------------------------------------------------------------- */

/* Heights in micrometres: form, waviness, and pseudo-random noise */
static gdouble
height_at (guint frame, guint x, guint y)
{
  const guint32 mixed = (x * 2654435761u) ^ (y * 40503u) ^ (frame * 97u);

  return 1e-6
         * (40.0 * sin (0.03 * x + 0.02 * y + frame) + 8.0 * sin (0.5 * x)
             + 3.0 * cos (0.9 * y) + (mixed >> 8) % 1000 / 500.0);
}

static gboolean
is_hole (guint x, guint y)
{
  return (x / 4 + y / 3) % 17 == 5;
}

static const struct {
  const gchar *caps; /* without size and rate */
  LwtSample sample;
} kinds[] = {
  { "other/tensors,format=static,num_tensors=1,types=float32", LWT_SAMPLE_F32 },
  { "other/tensors,format=static,num_tensors=1,types=float64", LWT_SAMPLE_F64 },
  { "other/tensors,format=static,num_tensors=1,types=int32", LWT_SAMPLE_I32 },
  { "video/x-raw,format=GRAY8", LWT_SAMPLE_U8 },
  { "video/x-raw,format=GRAY16_LE", LWT_SAMPLE_U16 },
};
enum { KIND_F32, KIND_F64, KIND_I32, KIND_GREY8, KIND_GREY16 };

static gchar *
caps_of (guint kind, guint width, guint height)
{
  return kind >= KIND_GREY8
             ? g_strdup_printf ("%s,width=%u,height=%u,framerate=25/1",
                 kinds[kind].caps, width, height)
             : g_strdup_printf (
                 "%s,dimensions=(string)%u:%u:1:1,framerate=25/1",
                 kinds[kind].caps, width, height);
}

/* The samples converted to @sample, without gaps. */
static gpointer
samples_of (LwtSample sample, guint frame, guint width, guint height)
{
  guint8 *data =
      g_malloc0 ((gsize) width * height * lwt_sample_get_size (sample));

  for (guint i = 0; i < width * height; i++) {
    const gdouble z = height_at (frame, i % width, i / width);

    switch (sample) {
      case LWT_SAMPLE_F32:
        ((gfloat *) data)[i] = (gfloat) z;
        break;
      case LWT_SAMPLE_F64:
        ((gdouble *) data)[i] = z;
        break;
      case LWT_SAMPLE_I32:
        ((gint32 *) data)[i] = (gint32) lrint (z * 1e9);
        break;
      case LWT_SAMPLE_U8:
        data[i] = (guint8) lrint (128 + z * 2e6);
        break;
      default:
        ((guint16 *) data)[i] = (guint16) lrint (30000 + z * 5e8);
        break;
    }
  }
  return data;
}

/* A buffer of samples; rows of GRAY pictures are padded to 4 bytes. */
static GstBuffer *
buffer_of (guint kind, guint frame, guint width, guint height)
{
  const gsize row = width * lwt_sample_get_size (kinds[kind].sample);
  const gsize stride = kind >= KIND_GREY8 ? GST_ROUND_UP_4 (row) : row;
  guint8 *data = samples_of (kinds[kind].sample, frame, width, height);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, stride * height, NULL);

  gst_buffer_memset (buffer, 0, 0xee, stride * height);
  for (guint y = 0; y < height; y++)
    gst_buffer_fill (buffer, y * stride, data + y * row, row);
  GST_BUFFER_PTS (buffer) = frame * FRAME_NS;
  GST_BUFFER_DURATION (buffer) = FRAME_NS;
  g_free (data);
  return buffer;
}

/* --- expected results ---------------------------------------------------- */

typedef struct {
  LwtConfig config;
  LwtJob job;
  gsize size[CVIS_SURFACE_N_PARTS];
} Expected;

/* Runs the engine itself on samples without gaps. */
static Expected
expect (const LwtConfig *config, const gchar *wavelet_name, gconstpointer data)
{
  LwtWavelet *wavelet = lwt_wavelet_new (wavelet_name, NULL);
  Expected e = { .config = *config };
  GError *error = NULL;
  LwtEngine *engine;
  guint width, height;
  LwtJob *job;

  fail_unless (wavelet != NULL);
  e.config.wavelet = wavelet;
  engine = lwt_engine_new (&e.config, NULL, &error);
  fail_unless (engine != NULL, "%s", error ? error->message : "");
  lwt_config_get_bands_size (&e.config, &width, &height);
  e.job.data = data;
  e.job.stride =
      (config->operation == LWT_OPERATION_INVERSE ? width : config->width)
      * lwt_sample_get_size (config->sample);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const gboolean bands = i == CVIS_SURFACE_PART_BANDS;
    const gsize row =
        (bands ? width : config->width) * lwt_type_get_size (config->type);

    if ((config->parts & (1u << i)) == 0)
      continue;
    e.size[i] = row * (bands ? height : config->height);
    e.job.parts[i].data = g_malloc (e.size[i]);
    e.job.parts[i].stride = row;
  }
  fail_unless (lwt_engine_submit (engine, &e.job, &error), "%s",
      error ? error->message : "");
  fail_unless (lwt_engine_wait (engine, &job, &error), "%s",
      error ? error->message : "");
  lwt_engine_free (engine);
  lwt_wavelet_free (wavelet);
  e.config.wavelet = NULL;
  return e;
}

static void
expected_clear (Expected *e)
{
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    g_free (e->job.parts[i].data);
}

#define PART(name) (1u << CVIS_SURFACE_PART_##name)
#define FILTER_PARTS                                                           \
  (PART (NOISE) | PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM)             \
      | PART (BANDS))

static LwtConfig
config_of (guint kind, guint width, guint height)
{
  LwtConfig config;

  lwt_config_init (&config);
  config.width = width;
  config.height = height;
  config.sample = kinds[kind].sample;
  config.type = kind == KIND_F64 ? LWT_TYPE_F64 : LWT_TYPE_F32;
  config.levels[0] = config.levels[1] = 4;
  config.levels_roughness[0] = config.levels_roughness[1] = 2;
  config.levels_noise[0] = config.levels_noise[1] = 1;
  config.dx = config.dy = 1e-6;
  config.parts = FILTER_PARTS;
  return config;
}
#define LEVELS "levels=4 roughness-levels=2 noise-levels=1 dx=1e-6 "

/* --- the element between harnesses ----------------------------------------------- */

static const gchar *const side_names[] = { "src_roughness", "src_waviness",
  "src_form", "src_noise", "src_bands" };
static const CvisSurfacePart side_parts[] = { CVIS_SURFACE_PART_ROUGHNESS,
  CVIS_SURFACE_PART_WAVINESS, CVIS_SURFACE_PART_FORM, CVIS_SURFACE_PART_NOISE,
  CVIS_SURFACE_PART_BANDS };
#define SIDES 5

typedef struct {
  GstElement *element;
  GstHarness *h;
  GstHarness *sides[SIDES]; /* NULL: not requested */
  GstBus *bus;
} Rig;

/* Filters with wavelet-decimated if @settings have no filter: only it has bands, which come
 * last. */
static Rig
rig_new (const gchar *settings, gboolean with_sides)
{
  const gboolean chosen = strstr (settings, "filter=") != NULL;
  gchar *line = g_strdup_printf ("cudalwtfilter backend=cpu %s %s",
      chosen ? "" : "filter=wavelet-decimated", settings);
  Rig rig = { .element = gst_parse_launch (line, NULL) };
  const guint sides = chosen ? SIDES - 1 : SIDES;

  fail_unless (rig.element != NULL, "%s", line);
  g_free (line);
  rig.bus = gst_bus_new ();
  gst_element_set_bus (rig.element, rig.bus);
  rig.h = gst_harness_new_with_element (rig.element, "sink", "src");
  for (guint i = 0; with_sides && i < sides; i++)
    rig.sides[i] =
        gst_harness_new_with_element (rig.element, NULL, side_names[i]);
  return rig;
}

static void
rig_set_caps (Rig *rig, guint kind, guint width, guint height)
{
  gchar *caps = caps_of (kind, width, height);

  gst_harness_set_src_caps_str (rig->h, caps);
  g_free (caps);
}

static Rig
rig_new_playing (const gchar *settings, gboolean with_sides, guint kind)
{
  Rig rig = rig_new (settings, with_sides);

  rig_set_caps (&rig, kind, WIDTH, HEIGHT);
  return rig;
}

static void
rig_free (Rig *rig)
{
  for (guint i = 0; i < SIDES; i++)
    if (rig->sides[i] != NULL)
      gst_harness_teardown (rig->sides[i]);
  gst_harness_teardown (rig->h);
  gst_bus_set_flushing (rig->bus, TRUE);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->element);
}

static void
push (Rig *rig, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (rig->h, buffer), GST_FLOW_OK);
}

static void
push_frames (Rig *rig, guint kind, guint first, guint n)
{
  for (guint i = first; i < first + n; i++)
    push (rig, buffer_of (kind, i, WIDTH, HEIGHT));
}

static void
push_eos (Rig *rig)
{
  fail_unless (gst_harness_push_event (rig->h, gst_event_new_eos ()));
}

/* The next element message @name; NULL if there is none. */
static GstStructure *
pop_message (Rig *rig, const gchar *name)
{
  GstMessage *message;
  GstStructure *found = NULL;

  while (found == NULL
         && (message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *s = gst_message_get_structure (message);

    if (gst_structure_has_name (s, name))
      found = gst_structure_copy (s);
    gst_message_unref (message);
  }
  return found;
}

static gdouble
get_double (const GstStructure *s, const gchar *name)
{
  gdouble value = NAN;

  fail_unless (gst_structure_get_double (s, name, &value), "%s", name);
  return value;
}

static guint64
rig_stat (Rig *rig, const gchar *name)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "%s", name);
  gst_structure_free (stats);
  return value;
}

/* Compares a tensor with these bytes; NaNs count as equal. */
static void
check_bytes (GstBuffer *buffer, gconstpointer data, gsize size)
{
  fail_unless_equals_uint64 (gst_buffer_get_size (buffer), size);
  fail_unless (gst_buffer_memcmp (buffer, 0, data, size) == 0);
}

static void
check_part (GstHarness *h, const Expected *e, CvisSurfacePart part, guint frame)
{
  GstBuffer *buffer = gst_harness_pull (h);
  const GstCvisSurfaceMeta *meta;

  fail_unless (buffer != NULL, "no %s", gst_cvis_surface_part_name (part));
  check_bytes (buffer, e->job.parts[part].data, e->size[part]);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), frame * FRAME_NS);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), FRAME_NS);
  meta = gst_cvis_buffer_get_surface_meta (buffer);
  fail_unless (meta != NULL && meta->part == part);
  fail_unless_equals_uint64 (meta->missing, e->job.missing);
  gst_buffer_unref (buffer);
}

/* --- components in any format -------------------------------------------- */

static const struct {
  const gchar *settings;
  LwtFOperation f_operation;
  gdouble z_scale, z_offset;
} filters[] = {
  { "", LWT_F_NONE, 1.0, 0.0 },
  { "f-operation=offset z-scale=2e-6 z-offset=0.0763", LWT_F_OFFSET, 2e-6,
      0.0763 },
  { "f-operation=plane z-scale=2e-6", LWT_F_PLANE, 2e-6, 0.0 },
  { "f-operation=poly2 z-scale=1e-9 z-offset=1e-3", LWT_F_POLY2, 1e-9, 1e-3 },
};

/* every kind of input, with every F-operation, on all pads at once */
GST_START_TEST (test_parts)
{
  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    LwtConfig config = config_of (kind, WIDTH, HEIGHT);
    gchar *settings =
        g_strdup_printf (LEVELS QUIET "%s%s", filters[__i__].settings,
            kind >= KIND_GREY8 ? " precision=float32" : "");
    Rig rig = rig_new (settings, FALSE);

    /* coefficients and tensors also from pictures */
    gst_harness_set_sink_caps_str (
        rig.h, "other/tensors,format=static,num_tensors=1");
    for (guint i = 0; i < SIDES; i++) {
      rig.sides[i] =
          gst_harness_new_with_element (rig.element, NULL, side_names[i]);
      gst_harness_set_sink_caps_str (
          rig.sides[i], "other/tensors,format=static,num_tensors=1");
    }
    rig_set_caps (&rig, kind, WIDTH, HEIGHT);
    config.f_operation = filters[__i__].f_operation;
    if (kind >= KIND_I32) {
      config.z_scale = filters[__i__].z_scale;
      config.z_offset = filters[__i__].z_offset;
    }
    push_frames (&rig, kind, 0, 3);
    push_eos (&rig);
    for (guint frame = 0; frame < 3; frame++) {
      gpointer data = samples_of (config.sample, frame, WIDTH, HEIGHT);
      Expected e = expect (&config, "9/7", data);

      check_part (rig.h, &e, CVIS_SURFACE_PART_ROUGHNESS, frame);
      for (guint i = 0; i < SIDES; i++)
        check_part (rig.sides[i], &e, side_parts[i], frame);
      expected_clear (&e);
      g_free (data);
    }
    fail_unless_equals_uint64 (rig_stat (&rig, "frames"), 3);
    rig_free (&rig);
    g_free (settings);
  }
}
GST_END_TEST;

static const gchar *const alone[] = { "roughness", "waviness", "form", "noise",
  "bands" };

/* only the source pad's output is computed */
GST_START_TEST (test_output)
{
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  gchar *settings = g_strdup_printf (LEVELS "output=%s", alone[__i__]);
  Rig rig = rig_new_playing (settings, FALSE, KIND_F32);
  gpointer data = samples_of (LWT_SAMPLE_F32, 0, WIDTH, HEIGHT);
  Expected e = expect (&config, "9/7", data);

  push_frames (&rig, KIND_F32, 0, 1);
  push_eos (&rig);
  check_part (rig.h, &e, side_parts[__i__], 0);
  rig_free (&rig);
  expected_clear (&e);
  g_free (data);
  g_free (settings);
}
GST_END_TEST;

static gdouble
sample_of (GstBuffer *buffer, guint i)
{
  gdouble value;
  gfloat narrow;

  if (gst_buffer_get_size (buffer) == N * sizeof (gdouble)) {
    gst_buffer_extract (buffer, i * sizeof (value), &value, sizeof (value));
    return value;
  }
  gst_buffer_extract (buffer, i * sizeof (narrow), &narrow, sizeof (narrow));
  return narrow;
}

/* The components' heights, computed with their metas, add up to the surface. */
GST_START_TEST (test_parts_add_up)
{
  static const gchar *const operations[] = { "none", "offset", "level", "plane",
    "poly2" };
  gchar *settings = g_strdup_printf (
      LEVELS QUIET "f-operation=%s wavelet=db4", operations[__i__]);
  Rig rig = rig_new_playing (settings, TRUE, KIND_F64);
  GstBuffer *in = buffer_of (KIND_F64, 0, WIDTH, HEIGHT);
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (in);
  gdouble sum[N] = { 0 };

  meta->dx = meta->dy = 1e-6;
  meta->offset = 0.25; /* already subtracted upstream */
  push (&rig, in);
  push_eos (&rig);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *part = gst_harness_pull (rig.sides[i]);

    meta = gst_cvis_buffer_get_surface_meta (part);
    fail_unless (meta->z_scale == 1.0);
    for (guint k = 0; k < N; k++)
      sum[k] += sample_of (part, k) + meta->offset;
    gst_buffer_unref (part);
  }
  for (guint k = 0; k < N; k++)
    fail_unless (
        fabs (sum[k] - 0.25 - height_at (0, k % WIDTH, k / WIDTH)) < 1e-15 * 4,
        "%u: %g", k, sum[k]);
  rig_free (&rig);
  g_free (settings);
}
GST_END_TEST;

static const struct {
  const gchar *settings;
  gdouble tolerance; /* of a constant, relative */
} smoothers[] = {
  { "filter=wavelet wavelet=db4", 1e-12 },
  { "filter=gaussian", 1e-12 },
  { "filter=gaussian filter-order=2", 1e-12 },
  { "filter=robust-gaussian", 1e-12 },
  { "filter=spline", 1e-10 },
  { "filter=spline tension=0.5", 1e-10 },
};

#define LAMBDAS                                                                \
  " dx=1e-6 dy=2e-6 lambda-s=4.7e-6 lambda-c=11.3e-6 lambda-f=40.1e-6 "

/* Cut-offs are those that were set, the components add up with missing points too,
 * and a constant is form only. */
GST_START_TEST (test_filters)
{
  gchar *settings =
      g_strdup_printf (LAMBDAS QUIET "%s", smoothers[__i__].settings);
  Rig rig = rig_new_playing (settings, TRUE, KIND_F64);
  gdouble *data = g_new (gdouble, 2 * N);
  gdouble sum[N] = { 0 };

  for (guint k = 0; k < N; k++) {
    data[k] = k % 7 == 3 ? NAN : height_at (0, k % WIDTH, k / WIDTH);
    data[N + k] = k % 11 == 3 ? NAN : 3.0;
  }
  for (guint frame = 0; frame < 2; frame++) {
    GstBuffer *in = gst_buffer_new_memdup (data + frame * N, N * sizeof *data);

    GST_BUFFER_PTS (in) = frame * GST_MSECOND;
    push (&rig, in);
  }
  push_eos (&rig);
  for (guint frame = 0; frame < 2; frame++)
    for (guint i = 0; i < 4; i++) {
      GstBuffer *part = gst_harness_pull (rig.sides[i]);
      const GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (part);
      const gdouble wanted = meta->part == CVIS_SURFACE_PART_FORM ? 3.0 : 0.0;

      fail_unless (fabs (meta->lambda_s[0] - 4.7e-6) < 1e-18);
      fail_unless (fabs (meta->lambda_c[1] - 11.3e-6) < 1e-18);
      fail_unless (fabs (meta->lambda_f[0] - 40.1e-6) < 1e-18);
      for (guint k = 0; k < N; k++) {
        const gdouble value = sample_of (part, k);

        fail_unless (isnan (value) == isnan (data[frame * N + k]));
        if (frame == 0)
          sum[k] += value;
        else if (!isnan (value))
          fail_unless (fabs (value - wanted) < 3.0 * smoothers[__i__].tolerance,
              "%u of %u: %g", k, meta->part, value);
      }
      gst_buffer_unref (part);
    }
  for (guint k = 0; k < N; k++)
    fail_unless (isnan (sum[k]) || fabs (sum[k] - data[k]) < 1e-15 * 4,
        "%u: %g", k, sum[k]);
  rig_free (&rig);
  g_free (data);
  g_free (settings);
}
GST_END_TEST;

/* Without a choice the filter is the undecimated wavelet. */
GST_START_TEST (test_default_filter)
{
  GstElement *element = gst_element_factory_make ("cudalwtfilter", NULL);
  gint filter;

  g_object_get (element, "filter", &filter, NULL);
  fail_unless_equals_int (filter, LWT_FILTER_WAVELET);
  gst_object_unref (element);
}
GST_END_TEST;

/* Cut-offs that are not set end at the size of the surface. */
GST_START_TEST (test_default_cutoffs)
{
  Rig rig = rig_new_playing ("filter=gaussian dx=1e-6", FALSE, KIND_F32);
  const GstCvisSurfaceMeta *meta;
  GstBuffer *buffer;

  push_frames (&rig, KIND_F32, 0, 1);
  push_eos (&rig);
  buffer = gst_harness_pull (rig.h);
  meta = gst_cvis_buffer_get_surface_meta (buffer);
  fail_unless (fabs (meta->lambda_c[0] - 16e-6) < 1e-18);
  fail_unless (fabs (meta->lambda_f[0] - 1e-6 * WIDTH) < 1e-18);
  fail_unless (fabs (meta->lambda_f[1] - 1e-6 * HEIGHT) < 1e-18);
  fail_unless_equals_int (meta->levels[0], 0);
  fail_unless_equals_string (meta->wavelet, "gaussian");
  fail_unless_equals_string (meta->boundary, "");
  gst_buffer_unref (buffer);
  rig_free (&rig);
}
GST_END_TEST;

/* Filters without a CUDA form are an error with backend=cuda, which says so. */
GST_START_TEST (test_filter_backend)
{
  GstElement *element = gst_element_factory_make ("cudalwtfilter", NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (G_OBJECT (element), "filter", "spline");
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  fail_unless (gst_element_set_state (element, GST_STATE_PAUSED)
               == GST_STATE_CHANGE_FAILURE);
  bus_expect_error (bus, "filter=spline is computed on the CPU only");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
}
GST_END_TEST;

/* A constant and a plane are form only, except at the edge. */
GST_START_TEST (test_simple_truths)
{
  for (guint plane = 0; plane < 2; plane++) {
    Rig rig = rig_new_playing (
        "levels=2 roughness-levels=1 dx=1e-6 precision=float64", TRUE,
        KIND_F64);
    GstBuffer *in = gst_buffer_new_allocate (NULL, N * sizeof (gdouble), NULL);
    GstBuffer *out;

    for (guint k = 0; k < N; k++) {
      gdouble z = 5e-6 + plane * (k % WIDTH * 1e-7 + k / WIDTH * 3e-7);
      gst_buffer_fill (in, k * sizeof (z), &z, sizeof (z));
    }
    gst_harness_teardown (
        rig.sides[3]); /* without noise levels there is no noise */
    rig.sides[3] = NULL;
    push (&rig, in);
    push_eos (&rig);
    for (guint i = 0; i < 2; i++) {
      out = gst_harness_pull (rig.sides[i]);
      for (guint k = 0; k < N; k++) {
        const guint x = k % WIDTH, y = k / WIDTH;
        const gboolean edge =
            plane && (x < 24 || y < 24 || x >= WIDTH - 24 || y >= HEIGHT - 24);
        fail_unless (edge || fabs (sample_of (out, k)) < 1e-18, "%u: %g", k,
            sample_of (out, k));
      }
      gst_buffer_unref (out);
    }
    rig_free (&rig);
  }
}
GST_END_TEST;

static const struct {
  guint width, height;
} sizes[] = { { 1, 1 }, { 1, 40 }, { 2, 3 }, { 17, 1 }, { 64, 64 },
  { 129, 31 } };

GST_START_TEST (test_sizes)
{
  const guint width = sizes[__i__].width, height = sizes[__i__].height;

  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    LwtConfig config = config_of (kind, width, height);
    Rig rig = rig_new (LEVELS "output=form", FALSE);
    gpointer data = samples_of (config.sample, 0, width, height);
    Expected e = expect (&config, "9/7", data);

    gst_harness_set_sink_caps_str (
        rig.h, "other/tensors,format=static,num_tensors=1");
    rig_set_caps (&rig, kind, width, height);
    push (&rig, buffer_of (kind, 0, width, height));
    push_eos (&rig);
    check_part (rig.h, &e, CVIS_SURFACE_PART_FORM, 0);
    rig_free (&rig);
    expected_clear (&e);
    g_free (data);
  }
}
GST_END_TEST;

/* rows with gaps of any length; a visible region */
GST_START_TEST (test_layouts)
{
  static const guint strides[] = { 150, 151, 153, 200 };
  LwtConfig config = config_of (KIND_GREY16, WIDTH, HEIGHT);
  Rig rig = rig_new (LEVELS "output=form", FALSE);
  guint8 *data = samples_of (LWT_SAMPLE_U16, 0, WIDTH, HEIGHT);
  Expected e = expect (&config, "9/7", data);

  gst_harness_set_sink_caps_str (
      rig.h, "other/tensors,format=static,num_tensors=1");
  rig_set_caps (&rig, KIND_GREY16, WIDTH, HEIGHT);
  for (guint i = 0; i < G_N_ELEMENTS (strides); i++) {
    const guint x = i == 3 ? 5 : 0, y = i == 3 ? 2 : 0;
    gsize offsets[GST_VIDEO_MAX_PLANES] = { i };
    gint pitches[GST_VIDEO_MAX_PLANES] = { (gint) strides[i] };
    GstBuffer *buffer = gst_buffer_new_allocate (
        NULL, i + strides[i] * (HEIGHT + y) + 10, NULL);
    GstVideoCropMeta *crop;

    gst_buffer_memset (buffer, 0, 0x33, (gsize) -1);
    for (guint row = 0; row < HEIGHT; row++)
      gst_buffer_fill (buffer, i + (row + y) * strides[i] + 2 * x,
          data + row * WIDTH * 2, WIDTH * 2);
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_FORMAT_GRAY16_LE, WIDTH + x, HEIGHT + y, 1, offsets, pitches);
    if (x > 0) {
      crop = gst_buffer_add_video_crop_meta (buffer);
      crop->x = x;
      crop->y = y;
      crop->width = WIDTH;
      crop->height = HEIGHT;
    }
    GST_BUFFER_PTS (buffer) = 0;
    GST_BUFFER_DURATION (buffer) = FRAME_NS;
    push (&rig, buffer);
    check_part (rig.h, &e, CVIS_SURFACE_PART_FORM, 0);
  }
  rig_free (&rig);
  expected_clear (&e);
  g_free (data);
}
GST_END_TEST;

/* an odd address, then two memories */
GST_START_TEST (test_odd_address)
{
  LwtConfig config = config_of (KIND_F64, WIDTH, HEIGHT);
  Rig rig = rig_new_playing (LEVELS "output=form", FALSE, KIND_F64);
  gpointer data = samples_of (LWT_SAMPLE_F64, 0, WIDTH, HEIGHT);
  Expected e = expect (&config, "9/7", data);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, N * 8 + 3, NULL);
  GstMemory *whole;

  gst_buffer_fill (buffer, 3, data, N * 8);
  gst_buffer_resize (buffer, 3, N * 8);
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_DURATION (buffer) = FRAME_NS;
  push (&rig, gst_buffer_copy (buffer));
  check_part (rig.h, &e, CVIS_SURFACE_PART_FORM, 0);
  whole = gst_buffer_get_memory (buffer, 0);
  gst_buffer_replace_memory (buffer, 0, gst_memory_copy (whole, 0, 77));
  gst_buffer_append_memory (buffer, gst_memory_copy (whole, 77, -1));
  gst_memory_unref (whole);
  push (&rig, buffer);
  check_part (rig.h, &e, CVIS_SURFACE_PART_FORM, 0);
  rig_free (&rig);
  expected_clear (&e);
  g_free (data);
}
GST_END_TEST;

/* --- missing points --------------------------------------------------------------- */

static GstBuffer *
mask_of (void)
{
  GstBuffer *mask = gst_buffer_new_allocate (NULL, N, NULL);

  for (guint k = 0; k < N; k++) {
    guint8 there = is_hole (k % WIDTH, k / WIDTH) ? 0 : 1;
    gst_buffer_fill (mask, k, &there, 1);
  }
  return mask;
}

static guint
count_holes (void)
{
  guint n = 0;

  for (guint k = 0; k < N; k++)
    n += is_hole (k % WIDTH, k / WIDTH);
  return n;
}

/* NaNs stay in place, in every component */
GST_START_TEST (test_missing)
{
  Rig rig = rig_new_playing (LEVELS QUIET, TRUE, KIND_F32);
  gfloat *z = samples_of (LWT_SAMPLE_F32, 0, WIDTH, HEIGHT);
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  Expected e;

  for (guint k = 0; k < N; k++)
    if (is_hole (k % WIDTH, k / WIDTH))
      z[k] = k % 2 ? NAN : INFINITY;
  e = expect (&config, "9/7", z);
  fail_unless_equals_uint64 (e.job.missing, count_holes ());
  push (&rig, gst_buffer_new_memdup (z, N * sizeof (gfloat)));
  push_eos (&rig);
  for (guint i = 0; i < SIDES; i++) {
    GstBuffer *part = gst_harness_pull (rig.sides[i]);

    check_bytes (part, e.job.parts[side_parts[i]].data, e.size[side_parts[i]]);
    fail_unless ((gst_cvis_buffer_get_surface_meta (part)->mask != NULL)
                 == (side_parts[i] == CVIS_SURFACE_PART_BANDS));
    for (guint k = 0; k < N && side_parts[i] != CVIS_SURFACE_PART_BANDS; k++)
      fail_unless (
          (isnan (sample_of (part, k)) != 0) == is_hole (k % WIDTH, k / WIDTH));
    gst_buffer_unref (part);
  }
  fail_unless_equals_uint64 (rig_stat (&rig, "missing"), count_holes ());
  rig_free (&rig);
  expected_clear (&e);
  g_free (z);
}
GST_END_TEST;

/* A picture's mask becomes NaN and comes out as a mask; pictures without a
 * mask in between have no missing points. */
GST_START_TEST (test_masks)
{
  const gchar *settings = LEVELS QUIET "z-scale=2e-6 z-offset=1e-3 output=form";
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  const guint kind = __i__ ? KIND_GREY16 : KIND_GREY8;
  Rig grey = rig_new_playing (settings, FALSE, kind);
  guint8 *samples = samples_of (kinds[kind].sample, 0, WIDTH, HEIGHT);
  gfloat *z = g_new (gfloat, N);

  config.z_scale = 3e-6; /* the meta has priority over the property */
  for (guint turn = 0; turn < 3; turn++) {
    GstBuffer *in = buffer_of (kind, 0, WIDTH, HEIGHT), *out;
    GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (in);
    const gboolean holes = turn == 1;
    const gdouble max = __i__ ? 65535 : 255;
    GstVideoFrame frame;
    GstVideoInfo info;
    Expected e;

    for (guint k = 0; k < N; k++)
      z[k] = holes && is_hole (k % WIDTH, k / WIDTH) ? NAN
             : __i__                                 ? ((guint16 *) samples)[k]
                                                     : samples[k];
    e = expect (&config, "9/7", z);
    meta->dx = meta->dy = 1e-6;
    meta->z_scale = 3e-6;
    meta->offset = 0.5;
    meta->mask = holes ? mask_of () : NULL;
    push (&grey, in);
    out = gst_harness_pull (grey.h);
    meta = gst_cvis_buffer_get_surface_meta (out);
    fail_unless_equals_uint64 (meta->missing, holes ? count_holes () : 0);
    fail_unless ((meta->mask != NULL) == holes);
    fail_unless (meta->z_scale == 3e-6 && meta->offset == 0.5);
    gst_video_info_set_format (&info,
        __i__ ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8, WIDTH,
        HEIGHT);
    fail_unless (gst_video_frame_map (&frame, &info, out, GST_MAP_READ));
    for (guint k = 0; k < N; k++) {
      const guint8 *row =
          (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
          + k / WIDTH * (guint) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
      const gint level =
          __i__ ? ((const guint16 *) row)[k % WIDTH] : row[k % WIDTH];
      const gdouble form =
          ((gfloat *) e.job.parts[CVIS_SURFACE_PART_FORM].data)[k];
      guint8 there = 255;

      if (holes)
        gst_buffer_extract (meta->mask, k, &there, 1);
      fail_unless (isnan (form) ? there == 0 && level == 0 : there == 255);
      if (!isnan (form))
        fail_unless (fabs (level - CLAMP (form / 3e-6, 0.0, max)) < 0.5 + 1e-3,
            "%d for %g", level, form / 3e-6);
    }
    gst_video_frame_unmap (&frame);
    gst_buffer_unref (out);
    expected_clear (&e);
  }
  rig_free (&grey);
  g_free (samples);
  g_free (z);
}
GST_END_TEST;

/* --- grey output --------------------------------------------------------- */

static const struct {
  const gchar *output, *caps;
  CvisSurfacePart part;
  gdouble middle, max;
} pictures[] = {
  { "roughness", "video/x-raw,format=GRAY8", CVIS_SURFACE_PART_ROUGHNESS, 128,
      255 },
  { "noise", "video/x-raw,format=GRAY16_LE", CVIS_SURFACE_PART_NOISE, 32768,
      65535 },
  { "waviness", "video/x-raw", CVIS_SURFACE_PART_WAVINESS, 128, 255 },
  { "form", "video/x-raw,format=GRAY8", CVIS_SURFACE_PART_FORM, 0, 255 },
  { "form", "video/x-raw,format=GRAY16_LE", CVIS_SURFACE_PART_FORM, 0, 65535 },
};

/* tensors to grey; the meta has the scale to recover the heights */
GST_START_TEST (test_grey_of_tensors)
{
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  gchar *settings = g_strdup_printf (LEVELS
      "z-scale=2e-7 z-offset=-2e-5 f-operation=plane output=%s",
      pictures[__i__].output);
  gpointer data = samples_of (LWT_SAMPLE_F32, 0, WIDTH, HEIGHT);
  Rig rig = rig_new (settings, FALSE);
  const gfloat *part;
  GstVideoFrame frame;
  GstVideoInfo info;
  GstCvisSurfaceMeta *meta;
  GstBuffer *out;
  GstCaps *caps;
  Expected e;
  guint clipped = 0;

  gst_harness_set_sink_caps_str (rig.h, pictures[__i__].caps);
  rig_set_caps (&rig, KIND_F32, WIDTH, HEIGHT);
  config.f_operation = LWT_F_PLANE;
  e = expect (&config, "9/7", data);
  part = e.job.parts[pictures[__i__].part].data;
  push_frames (&rig, KIND_F32, 0, 1);
  out = gst_harness_pull (rig.h);
  meta = gst_cvis_buffer_get_surface_meta (out);
  caps = gst_pad_get_current_caps (rig.h->sinkpad);
  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless (gst_video_frame_map (&frame, &info, out, GST_MAP_READ));
  fail_unless (meta->z_scale == 2e-7 && meta->mask == NULL);
  for (guint k = 0; k < N; k++) {
    const guint8 *row =
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
        + k / WIDTH * (guint) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    const gint level = pictures[__i__].max > 255
                           ? ((const guint16 *) row)[k % WIDTH]
                           : row[k % WIDTH];
    const gdouble z =
        part[k]
        + (pictures[__i__].part == CVIS_SURFACE_PART_FORM ? e.job.offset : 0.0);
    const gdouble wanted = pictures[__i__].part == CVIS_SURFACE_PART_FORM
                               ? (z + 2e-5) / 2e-7
                               : pictures[__i__].middle + z / 2e-7;

    if (wanted < 0 || wanted > pictures[__i__].max)
      clipped++;
    else
      fail_unless (fabs (level * meta->z_scale + meta->offset - z)
                       < 0.5001 * meta->z_scale,
          "%d for %g", level, wanted);
    fail_unless (
        fabs (level - CLAMP (wanted, 0.0, pictures[__i__].max)) < 0.501);
  }
  /* a whole surface exceeds 8 bits, the components do not */
  fail_unless ((clipped > 0)
               == (pictures[__i__].part == CVIS_SURFACE_PART_FORM
                   && pictures[__i__].max == 255));
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (out);
  gst_caps_unref (caps);
  rig_free (&rig);
  expected_clear (&e);
  g_free (data);
  g_free (settings);
}
GST_END_TEST;

/* --- coefficients -------------------------------------------------------------------- */

static const struct {
  const gchar *forward, *wrong, *words;
} transforms[] = {
  { "wavelet=db4", "wavelet=db5", "wavelet db4, but db5 is set" },
  { "wavelet=bior2.2 boundary=periodic levels-x=3 levels-y=1", "levels=2",
      "3 levels along x, but 2" },
  { "boundary=clamp layout=interleaved", "boundary=zero",
      "boundary clamp, but zero" },
  { "boundary=zero levels=16", "levels-y=15", "16 levels along y, but 15" },
  { "boundary=pad-symmetric levels=3 wavelet=db3", "boundary=pad-smooth",
      "boundary pad-symmetric, but pad-smooth" },
  { "boundary=pad-smooth levels=2 f-operation=plane", "layout=interleaved",
      "layout mallat, but interleaved" },
};

/* round trip, with the meta as the only description */
GST_START_TEST (test_bands)
{
  gchar *line = g_strdup_printf ("cudalwtfilter backend=cpu dx=3e-6 dy=2e-6 "
                                 "operation=forward %s ! cudalwtfilter "
                                 "backend=cpu operation=inverse",
      transforms[__i__].forward);
  GstHarness *h = gst_harness_new_parse (line);
  gchar *caps = caps_of (KIND_F64, WIDTH, HEIGHT);
  gdouble tilt[3];

  gst_harness_set_src_caps_str (h, caps);
  for (guint frame = 0; frame < 2; frame++) {
    GstBuffer *in = buffer_of (KIND_F64, frame, WIDTH, HEIGHT);
    GstBuffer *out = gst_harness_push_and_pull (h, in);
    GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (out);

    fail_unless (meta->part == CVIS_SURFACE_PART_MEASURED && meta->dx == 3e-6
                 && meta->dy == 2e-6 && meta->width == WIDTH);
    tilt[0] = meta->polynomial[0];
    tilt[1] = meta->polynomial[1];
    tilt[2] = meta->polynomial[2];
    fail_unless (meta->offset == tilt[0]);
    for (guint k = 0; k < N; k++) {
      const guint x = k % WIDTH, y = k / WIDTH;
      const gdouble u = (2.0 * x + 1 - WIDTH) / WIDTH;
      const gdouble v = (2.0 * y + 1 - HEIGHT) / HEIGHT;
      const gdouble z =
          sample_of (out, k) + tilt[0] + tilt[1] * u + tilt[2] * v;

      fail_unless (fabs (z - height_at (frame, x, y)) < 1e-16, "%g", z);
    }
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  g_free (line);
  g_free (caps);
}
GST_END_TEST;

static const struct {
  guint kind;
  const gchar *forward;
} round_trips[] = {
  { KIND_F32, "" },
  { KIND_F64, "layout=interleaved" },
  { KIND_F32, "boundary=pad-symmetric f-operation=plane" },
  { KIND_GREY8, "" },
};

/* Points that were filled for the forward transform are missing again after
 * the inverse. */
GST_START_TEST (test_missing_there_and_back)
{
  const guint kind = round_trips[__i__].kind;
  gchar *line =
      g_strdup_printf ("cudalwtfilter backend=cpu dx=3e-6 dy=2e-6 "
                       "operation=forward %s ! cudalwtfilter "
                       "backend=cpu operation=inverse "
                       "parameters=true ! capsfilter caps=other/tensors",
          round_trips[__i__].forward);
  GstHarness *h = gst_harness_new_parse (line);
  gchar *caps = caps_of (kind, WIDTH, HEIGHT);

  gst_harness_set_src_caps_str (h, caps);
  for (guint holes = 0; holes < 2; holes++) {
    GstBuffer *in = buffer_of (kind, 0, WIDTH, HEIGHT), *out;
    const CvisSurfaceParameters *p;
    GstCvisSurfaceMeta *meta;
    gdouble mean = 0.0, sa = 0.0;

    if (kind == KIND_GREY8) {
      meta = gst_cvis_buffer_add_surface_meta (in);
      meta->z_scale = 5e-9;
      meta->mask = holes ? mask_of () : NULL;
    } else if (holes) {
      const gfloat nan32 = NAN;
      const gdouble nan64 = NAN;
      const gsize size = kind == KIND_F32 ? sizeof (nan32) : sizeof (nan64);

      for (guint k = 0; k < N; k++)
        if (is_hole (k % WIDTH, k / WIDTH))
          gst_buffer_fill (in, k * size,
              kind == KIND_F32 ? (gconstpointer) &nan32 : &nan64, size);
    }
    out = gst_harness_push_and_pull (h, in);
    meta = gst_cvis_buffer_get_surface_meta (out);
    p = &meta->parameters;
    fail_unless_equals_uint64 (meta->missing, holes ? count_holes () : 0);
    fail_unless (meta->mask == NULL && meta->has_parameters);
    fail_unless_equals_uint64 (p->n, N - (holes ? count_holes () : 0));
    for (guint k = 0; k < N; k++) {
      const gboolean hole = holes && is_hole (k % WIDTH, k / WIDTH);

      fail_unless ((isnan (sample_of (out, k)) != 0) == hole);
      mean += hole ? 0.0 : sample_of (out, k) / (gdouble) p->n;
    }
    for (guint k = 0; k < N; k++)
      if (!isnan (sample_of (out, k)))
        sa += fabs (sample_of (out, k) - mean) / (gdouble) p->n;
    fail_unless (fabs (p->sa - sa) < 1e-9 * sa, "%g, not %g", p->sa, sa);
    fail_unless (p->sdq > 0.0);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  g_free (line);
  g_free (caps);
}
GST_END_TEST;

/* settings that contradict the meta are refused */
GST_START_TEST (test_contradictions)
{
  gchar *line = g_strdup_printf ("cudalwtfilter backend=cpu operation=forward "
                                 "%s name=there ! cudalwtfilter backend=cpu "
                                 "operation=inverse %s name=back",
      transforms[__i__].forward, transforms[__i__].wrong);
  GstHarness *h = gst_harness_new_parse (line);
  gchar *caps = caps_of (KIND_F32, WIDTH, HEIGHT);
  GstBus *bus = gst_bus_new ();
  GstElement *back = gst_bin_get_by_name (GST_BIN (h->element), "back");

  gst_element_set_bus (back, bus);
  gst_harness_set_src_caps_str (h, caps);
  gst_harness_push (h, buffer_of (KIND_F32, 0, WIDTH, HEIGHT));
  bus_expect_error (bus, transforms[__i__].words);
  gst_harness_teardown (h);
  gst_object_unref (back);
  gst_object_unref (bus);
  g_free (line);
  g_free (caps);
}
GST_END_TEST;

/* A description that is longer than the meta's field has to be set again. */
GST_START_TEST (test_long_wavelet)
{
#define LONG                                                                   \
  "wavelet=\"steps: P@0 -0.50000000000000000 -0.50000000000000000; U@-1 "      \
  "0.250000000 0.2500000000; K 1.4142135623730951 0.70710678118654757\" "
  for (guint set = 0; set < 2; set++) {
    GstHarness *h = gst_harness_new_parse (
        set ? "cudalwtfilter backend=cpu operation=forward " LONG
              "! cudalwtfilter backend=cpu operation=inverse name=back " LONG
            : "cudalwtfilter backend=cpu operation=forward " LONG
              "! cudalwtfilter backend=cpu operation=inverse name=back");
    GstElement *back = gst_bin_get_by_name (GST_BIN (h->element), "back");
    gchar *caps = caps_of (KIND_F64, WIDTH, HEIGHT);
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (back, bus);
    gst_harness_set_src_caps_str (h, caps);
    gst_harness_push (h, buffer_of (KIND_F64, 0, WIDTH, HEIGHT));
    if (set) {
      GstBuffer *out = gst_harness_pull (h);
      for (guint k = 0; k < N; k++)
        fail_unless (
            fabs (sample_of (out, k) - height_at (0, k % WIDTH, k / WIDTH))
            < 1e-16);
      gst_buffer_unref (out);
    } else {
      bus_expect_error (bus, "does not name the wavelet");
    }
    gst_harness_teardown (h);
    gst_object_unref (back);
    gst_object_unref (bus);
    g_free (caps);
  }
}
GST_END_TEST;

/* Integers are reconstructed exactly: pictures as pictures, with scale and
 * mask. */
GST_START_TEST (test_reversible)
{
  const guint kind = KIND_I32 + (guint) __i__;
  gchar *line = g_strdup_printf ("cudalwtfilter backend=cpu operation=forward "
                                 "reversible=true wavelet=dd13/7 ! "
                                 "cudalwtfilter backend=cpu "
                                 "operation=inverse reversible=true ! "
                                 "capsfilter caps=%s",
      kind == KIND_I32 ? "other/tensors" : kinds[kind].caps);
  GstHarness *h = gst_harness_new_parse (line);
  gchar *caps = caps_of (kind, WIDTH, HEIGHT);
  GstBuffer *in = buffer_of (kind, 0, WIDTH, HEIGHT), *out;
  const gsize row = WIDTH * lwt_sample_get_size (kinds[kind].sample);
  const gsize stride = kind == KIND_I32 ? row : GST_ROUND_UP_4 (row);
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (in);
  GstMapInfo a, b;

  meta->z_scale = 5e-9;
  meta->offset = 0.125;
  meta->missing = count_holes ();
  meta->mask = mask_of ();
  gst_harness_set_src_caps_str (h, caps);
  out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
  gst_buffer_map (in, &a, GST_MAP_READ);
  gst_buffer_map (out, &b, GST_MAP_READ);
  for (guint y = 0; y < HEIGHT; y++)
    fail_unless (memcmp (a.data + y * stride, b.data + y * stride, row) == 0);
  gst_buffer_unmap (in, &a);
  gst_buffer_unmap (out, &b);
  meta = gst_cvis_buffer_get_surface_meta (out);
  fail_unless (meta->z_scale == 5e-9 && meta->offset == 0.125
               && meta->mask != NULL && meta->missing == count_holes ());
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_free (line);
  g_free (caps);
}
GST_END_TEST;

/* --- denoise -------------------------------------------------------------------------- */

GST_START_TEST (test_denoise)
{
  static const gchar *const shrinks[] = { "soft", "hard", "garrote" };
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  gchar *settings = g_strdup_printf (LEVELS QUIET
      "operation=denoise wavelet=sym4 shrink=%s spins=%d "
      "threshold=%s",
      shrinks[__i__], __i__ + 1, __i__ == 1 ? "1e-6" : "0");
  gpointer data = samples_of (LWT_SAMPLE_F32, 0, WIDTH, HEIGHT);
  Rig rig = rig_new (settings, FALSE);
  Expected e;
  GstStructure *stats;

  rig.sides[3] = gst_harness_new_with_element (rig.element, NULL, "src_noise");
  rig_set_caps (&rig, KIND_F32, WIDTH, HEIGHT);
  config.operation = LWT_OPERATION_DENOISE;
  config.parts = PART (MEASURED) | PART (NOISE);
  config.shrink = (LwtShrink) __i__;
  config.spins = (guint) __i__ + 1;
  config.threshold = __i__ == 1 ? 1e-6 : 0.0;
  e = expect (&config, "sym4", data);
  push_frames (&rig, KIND_F32, 0, 1);
  check_part (rig.h, &e, CVIS_SURFACE_PART_MEASURED, 0);
  check_part (rig.sides[3], &e, CVIS_SURFACE_PART_NOISE, 0);
  g_object_get (rig.element, "stats", &stats, NULL);
  fail_unless (get_double (stats, "threshold") == e.job.threshold);
  fail_unless (e.job.threshold > 0);
  gst_structure_free (stats);
  rig_free (&rig);
  expected_clear (&e);
  g_free (data);
  g_free (settings);
}
GST_END_TEST;

/* --- caps --------------------------------------------------------------------------- */

static void
check_src_caps (GstHarness *h, const gchar *expected)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GstCaps *wanted = gst_caps_from_string (expected);
  gchar *text = gst_caps_to_string (caps);

  fail_unless (
      gst_caps_is_subset (caps, wanted), "%s is not %s", text, expected);
  g_free (text);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
}

static const struct {
  guint kind;
  const gchar *settings, *downstream, *expected;
} negotiations[] = {
  /* the kind of the input */
  { KIND_F32, "dx=2e-6", "ANY",
      "other/tensors,types=float32,dimensions=(string)75:53:1:1,"
      "framerate=25/1,surface-dx=2e-6,surface-dy=2e-6" },
  { KIND_F64, "", "ANY", "other/tensors,types=float64" },
  { KIND_I32, "", "ANY", "other/tensors,types=float32" },
  { KIND_GREY8, "", "ANY", "video/x-raw,format=GRAY8,width=75,framerate=25/1" },
  { KIND_GREY16, "", "ANY", "video/x-raw,format=GRAY16_LE,height=53" },
  /* preferences of downstream */
  { KIND_F32, "", "other/tensors,types=float64",
      "other/tensors,types=float64" },
  { KIND_F64, "", "other/tensors,types=float32",
      "other/tensors,types=float32" },
  { KIND_F64, "", "video/x-raw", "video/x-raw,format=GRAY8" },
  { KIND_F32, "", "video/x-raw,format=GRAY16_LE",
      "video/x-raw,format=GRAY16_LE" },
  { KIND_GREY16, "", "video/x-raw,format=GRAY8", "video/x-raw,format=GRAY8" },
  { KIND_GREY8, "", "other/tensors", "other/tensors,types=float32" },
  { KIND_GREY8, "", "other/tensors,types=float64",
      "other/tensors,types=float64" },
  /* properties */
  { KIND_F32, "precision=float64", "ANY", "other/tensors,types=float64" },
  { KIND_F64, "precision=float32", "ANY", "other/tensors,types=float32" },
  { KIND_GREY8, "output=bands", "ANY", "other/tensors,types=float32" },
  { KIND_GREY8, "operation=forward reversible=true wavelet=5/3", "ANY",
      "other/tensors,types=int32" },
  { KIND_F32, "operation=forward boundary=pad-smooth levels=2 wavelet=haar",
      "ANY", "other/tensors,dimensions=(string)83:61:1:1" },
};

GST_START_TEST (test_negotiation)
{
  gchar *settings = g_strdup_printf (QUIET "%s", negotiations[__i__].settings);
  Rig rig = rig_new (settings, FALSE);

  gst_harness_set_sink_caps_str (rig.h, negotiations[__i__].downstream);
  rig_set_caps (&rig, negotiations[__i__].kind, WIDTH, HEIGHT);
  push_frames (&rig, negotiations[__i__].kind, 0, 1);
  push_eos (&rig);
  gst_buffer_unref (gst_harness_pull (rig.h));
  check_src_caps (rig.h, negotiations[__i__].expected);
  rig_free (&rig);
  g_free (settings);
}
GST_END_TEST;

/* each pad follows its own downstream */
GST_START_TEST (test_pads_differ)
{
  Rig rig = rig_new (LEVELS QUIET "z-scale=1e-7", TRUE);

  gst_harness_set_sink_caps_str (rig.h, "video/x-raw,format=GRAY8");
  gst_harness_set_sink_caps_str (rig.sides[1], "video/x-raw,format=GRAY16_LE");
  gst_harness_set_sink_caps_str (rig.sides[2], "other/tensors");
  rig_set_caps (&rig, KIND_F32, WIDTH, HEIGHT);
  push_frames (&rig, KIND_F32, 0, 2);
  push_eos (&rig);
  for (guint i = 0; i < SIDES; i++)
    gst_buffer_unref (gst_harness_pull (rig.sides[i]));
  gst_buffer_unref (gst_harness_pull (rig.h));
  check_src_caps (rig.h, "video/x-raw,format=GRAY8");
  check_src_caps (rig.sides[0], "other/tensors,types=float32");
  check_src_caps (rig.sides[1], "video/x-raw,format=GRAY16_LE");
  check_src_caps (rig.sides[2], "other/tensors");
  rig_free (&rig);
}
GST_END_TEST;

/* Sizes and rates pass through caps queries, in both directions and for all
 * kinds. */
GST_START_TEST (test_caps_queries)
{
  Rig rig = rig_new ("", FALSE);
  GstCaps *filter = gst_caps_from_string ("video/x-raw"), *caps, *wanted;

  gst_harness_set_sink_caps_str (rig.h,
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=(string)64:48:1:1,framerate=10/1");
  caps = gst_pad_peer_query_caps (rig.h->srcpad, NULL);
  wanted = gst_caps_from_string (
      "other/tensors,types={float32,float64,int32},"
      "dimensions=(string)64:48:1:1,framerate=10/1,format=static,"
      "num_tensors=1; video/x-raw,format={GRAY8,GRAY16_LE},width=64,height=48,"
      "framerate=10/1");
  fail_unless (
      gst_caps_is_equal (caps, wanted), "%s", gst_caps_to_string (caps));
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  caps = gst_pad_peer_query_caps (rig.h->srcpad, filter);
  fail_unless_equals_int (gst_caps_get_size (caps), 1);
  gst_caps_unref (caps);

  rig_set_caps (&rig, KIND_GREY8, 32, 16);
  caps = gst_pad_peer_query_caps (rig.h->sinkpad, filter);
  wanted = gst_caps_from_string (
      "video/x-raw,format={GRAY8,GRAY16_LE},width=32,height=16,"
      "framerate=25/1");
  fail_unless (gst_caps_is_subset (caps, wanted));
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  gst_caps_unref (filter);
  rig_free (&rig);
}
GST_END_TEST;

/* --- metas ---------------------------------------------------------------------------- */

GST_START_TEST (test_meta)
{
  Rig rig = rig_new_playing (QUIET
      "wavelet=db4 lambda-s=3e-6 lambda-c=1e-5 lambda-f=3e-5 "
      "boundary=clamp parameters=true f-operation=offset z-scale=7 dx=5e-7",
      FALSE, KIND_F32);
  GstBuffer *buffer = buffer_of (KIND_F32, 0, WIDTH, HEIGHT);
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (buffer);
  GstCaps *unix_time = gst_caps_from_string ("timestamp/x-unix");
  GstStructure *s, *message;

  meta->dx = 1e-6;
  meta->dy = 4e-6;
  meta->offset = 1.0;
  gst_buffer_add_reference_timestamp_meta (buffer, unix_time, 42, 1);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  GST_BUFFER_OFFSET (buffer) = 7;
  push (&rig, buffer);
  buffer = gst_harness_pull (rig.h);
  meta = gst_cvis_buffer_get_surface_meta (buffer);
  fail_unless_equals_string (meta->wavelet, "db4");
  fail_unless_equals_string (meta->boundary, "clamp");
  fail_unless (meta->dx == 1e-6 && meta->dy == 4e-6 && meta->z_scale == 1);
  fail_unless (meta->offset == 0.0); /* of roughness */
  fail_unless (meta->polynomial[0] != 0.0 && meta->polynomial[1] == 0.0);
  /* 2^(J+1) dx nearest to the setting, at least one level */
  fail_unless (meta->lambda_s[0] == 4e-6 && meta->lambda_s[1] == 0.0);
  fail_unless (meta->lambda_c[0] == 8e-6 && meta->lambda_c[1] == 0.0);
  fail_unless (meta->lambda_f[0] == 32e-6 && meta->lambda_f[1] == 32e-6);
  fail_unless_equals_int (meta->levels[0], 4);
  fail_unless_equals_int (meta->levels[1], 2);
  fail_unless (meta->width == WIDTH && meta->height == HEIGHT);
  fail_unless (meta->has_parameters && meta->parameters.n == N);
  fail_unless (meta->parameters.sdq > 0);
  fail_unless (
      gst_buffer_get_reference_timestamp_meta (buffer, unix_time) != NULL);
  fail_unless (GST_BUFFER_IS_DISCONT (buffer));
  fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER));
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), 7);
  check_src_caps (rig.h, "other/tensors,surface-dx=1e-6,surface-dy=4e-6");

  message = pop_message (&rig, "cudalwtfilter-filter");
  fail_unless (message != NULL);
  fail_unless_equals_string (
      gst_structure_get_string (message, "wavelet"), "db4");
  fail_unless (get_double (message, "lambda-s-x") == 4e-6);
  fail_unless (get_double (message, "lambda-c-y") == 0.0);
  fail_unless (get_double (message, "lambda-f-x") == 32e-6);
  fail_unless (get_double (message, "lambda-f-y") == 32e-6);
  fail_unless (get_double (message, "noise-gain") >= 1.0);
  gst_structure_free (message);

  /* once for these caps, whatever follows */
  push_frames (&rig, KIND_F32, 1, 1);
  gst_buffer_unref (gst_harness_pull (rig.h));
  fail_unless (pop_message (&rig, "cudalwtfilter-filter") == NULL);
  g_object_get (rig.element, "stats", &s, NULL);
  fail_unless (gst_structure_has_field (s, "roughness"));
  gst_structure_free (s);
  gst_caps_unref (unix_time);
  gst_buffer_unref (buffer);
  rig_free (&rig);
}
GST_END_TEST;

/* spacing in the caps has priority over the property, the meta's over both */
GST_START_TEST (test_spacing)
{
  Rig rig = rig_new ("dx=9e-6 dy=8e-6", FALSE);
  GstBuffer *buffer = buffer_of (KIND_F32, 0, WIDTH, HEIGHT);
  GstCvisSurfaceMeta *meta;

  gst_harness_set_src_caps_str (rig.h,
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=(string)75:53,framerate=0/1,surface-dx=2e-6");
  push (&rig, gst_buffer_copy (buffer));
  push (&rig, gst_buffer_copy (buffer));
  meta = gst_cvis_buffer_add_surface_meta (buffer);
  meta->dx = meta->dy = 5e-6;
  push (&rig, buffer);
  for (guint i = 0; i < 3; i++) {
    buffer = gst_harness_pull (rig.h);
    meta = gst_cvis_buffer_get_surface_meta (buffer);
    fail_unless (meta->dx == (i < 2 ? 2e-6 : 5e-6));
    fail_unless (meta->dy == (i < 2 ? 8e-6 : 5e-6));
    gst_buffer_unref (buffer);
  }
  check_src_caps (rig.h, "other/tensors,surface-dx=5e-6");
  rig_free (&rig);
}
GST_END_TEST;

/* --- parameters and limits ------------------------------------------------------------ */

static const struct {
  const gchar *interval;
  guint n; /* number of messages for five surfaces */
} intervals[] = { { "message-interval=1", 5 }, { "", 1 },
  { "message-interval=0", 0 } };

GST_START_TEST (test_parameters)
{
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  gchar *settings =
      g_strdup_printf (LEVELS "parameters=true %s", intervals[__i__].interval);
  Rig rig = rig_new_playing (settings, FALSE, KIND_F32);
  guint n[2] = { 0, 0 };
  GstStructure *s;

  config.parameters = PART (ROUGHNESS);
  rig.sides[2] = gst_harness_new_with_element (rig.element, NULL, "src_form");
  push_frames (&rig, KIND_F32, 0, 5);
  push_eos (&rig);
  for (guint i = 0; i < 5; i++) {
    gpointer data = samples_of (LWT_SAMPLE_F32, i, WIDTH, HEIGHT);
    Expected e = expect (&config, "9/7", data);
    GstBuffer *buffer = gst_harness_pull (rig.h);
    const GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer);

    fail_unless (meta->has_parameters);
    fail_unless (memcmp (&meta->parameters,
                     &e.job.parameters[CVIS_SURFACE_PART_ROUGHNESS],
                     sizeof (CvisSurfaceParameters))
                 == 0);
    gst_buffer_unref (buffer);
    expected_clear (&e);
    g_free (data);
  }
  while ((s = pop_message (&rig, "cudalwtfilter-parameters")) != NULL) {
    const gboolean form =
        strcmp (gst_structure_get_string (s, "output"), "form") == 0;
    guint64 frame, pts;

    fail_unless (gst_structure_get_uint64 (s, "frame", &frame));
    fail_unless (gst_structure_get_uint64 (s, "pts", &pts));
    fail_unless_equals_uint64 (frame, n[form]);
    fail_unless_equals_uint64 (pts, frame * FRAME_NS);
    fail_unless (get_double (s, "sa") > 1e-8 && get_double (s, "sq") > 1e-8);
    fail_unless (
        get_double (s, "sz") == get_double (s, "sp") + get_double (s, "sv"));
    fail_unless (get_double (s, "sku") > 1 && get_double (s, "sdr") > 0);
    fail_unless (isfinite (get_double (s, "ssk")));
    gst_structure_free (s);
    n[form]++;
  }
  fail_unless_equals_int (n[0], intervals[__i__].n);
  fail_unless_equals_int (n[1], intervals[__i__].n);
  rig_free (&rig);
  g_free (settings);
}
GST_END_TEST;

/* Parameters can be enabled while running; slopes need a spacing. */
GST_START_TEST (test_parameters_later)
{
  Rig rig = rig_new_playing ("", FALSE, KIND_F32);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer;
    const GstCvisSurfaceMeta *meta;

    g_object_set (rig.element, "parameters", i > 0, NULL);
    push_frames (&rig, KIND_F32, i, 1);
    buffer = gst_harness_pull (rig.h);
    meta = gst_cvis_buffer_get_surface_meta (buffer);
    fail_unless (meta->has_parameters == (i > 0));
    fail_unless (i == 0 || meta->parameters.sq > 0);
    fail_unless (meta->parameters.sdq == 0 && meta->parameters.sdr == 0);
    gst_buffer_unref (buffer);
  }
  rig_free (&rig);
}
GST_END_TEST;

/* The meta of @part on @buffer; NULL: none. */
static const GstCvisSurfaceMeta *
meta_of_part (GstBuffer *buffer, CvisSurfacePart part)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_CVIS_SURFACE_META_API_TYPE)))
    if (((GstCvisSurfaceMeta *) meta)->part == part)
      return (GstCvisSurfaceMeta *) meta;
  return NULL;
}

/* output=none: the input surfaces are passed through without a copy, with
 * the same parameters as when components are output. */
GST_START_TEST (test_output_none)
{
  static const CvisSurfacePart parts[] = { CVIS_SURFACE_PART_NOISE,
    CVIS_SURFACE_PART_ROUGHNESS, CVIS_SURFACE_PART_WAVINESS,
    CVIS_SURFACE_PART_FORM };
  const gboolean grey = __i__ == 1;
  const guint kind = grey ? KIND_GREY8 : KIND_F32;
  LwtConfig config = config_of (kind, WIDTH, HEIGHT);
  Rig rig =
      rig_new_playing (LEVELS "output=none parameters=true message-interval=1 "
                              "sa-upper-limit=1e-12",
          FALSE, kind);
  gchar *caps_text = caps_of (kind, WIDTH, HEIGHT);
  GstCaps *expected_caps = gst_caps_from_string (caps_text), *caps;
  guint n_messages = 0;
  GstStructure *s;

  config.parts = config.parameters =
      FILTER_PARTS & ~(1u << CVIS_SURFACE_PART_BANDS);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = buffer_of (kind, i, WIDTH, HEIGHT), *out;
    gpointer data = samples_of (kinds[kind].sample, i, WIDTH, HEIGHT);
    GstMemory *memory = gst_buffer_get_memory (in, 0);
    Expected e = expect (&config, "9/7", data);

    if (i == 2)
      gst_buffer_ref (in); /* not writable: its metas are unchanged */
    push (&rig, in);
    out = gst_harness_pull (rig.h);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), i * FRAME_NS);
    fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_MARKER));
    fail_unless (gst_cvis_buffer_get_surface_meta (out)->part
                 == CVIS_SURFACE_PART_MEASURED);
    fail_unless (!gst_cvis_buffer_get_surface_meta (out)->has_parameters);
    fail_unless (gst_cvis_buffer_get_surface_meta (out)->dx == 1e-6);
    for (guint k = 0; k < G_N_ELEMENTS (parts); k++) {
      const GstCvisSurfaceMeta *meta = meta_of_part (out, parts[k]);

      fail_unless (meta != NULL && meta->has_parameters);
      fail_unless (memcmp (&meta->parameters, &e.job.parameters[parts[k]],
                       sizeof (CvisSurfaceParameters))
                   == 0);
    }
    if (i == 2) {
      fail_unless (gst_cvis_buffer_get_surface_meta (in) == NULL);
      gst_buffer_unref (in);
    }
    gst_memory_unref (memory);
    gst_buffer_unref (out);
    expected_clear (&e);
    g_free (data);
  }
  while ((s = pop_message (&rig, "cudalwtfilter-parameters")) != NULL) {
    n_messages++;
    gst_structure_free (s);
  }
  fail_unless_equals_int (n_messages, 3 * G_N_ELEMENTS (parts));
  caps = gst_pad_get_current_caps (GST_PAD_PEER (rig.h->sinkpad));
  fail_unless (gst_caps_is_equal (caps, expected_caps));
  gst_caps_unref (caps);
  gst_caps_unref (expected_caps);
  g_free (caps_text);
  rig_free (&rig);
}
GST_END_TEST;

/* Together with components on request pads, and for operations without
 * parameters. */
GST_START_TEST (test_output_none_beside)
{
  Rig rig = rig_new_playing ("operation=denoise output=none", FALSE, KIND_F32);
  GstBuffer *buffer;

  rig.sides[3] = gst_harness_new_with_element (rig.element, NULL, "src_noise");
  push_frames (&rig, KIND_F32, 0, 1);
  buffer = gst_harness_pull (rig.h);
  fail_unless (
      meta_of_part (buffer, CVIS_SURFACE_PART_NOISE)->parameters.sq > 0);
  gst_buffer_unref (buffer);
  buffer = gst_harness_pull (rig.sides[3]);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->has_parameters);
  gst_buffer_unref (buffer);
  fail_unless (pop_message (&rig, "cudalwtfilter-parameters") == NULL);
  rig_free (&rig);

  rig = rig_new_playing ("operation=forward output=none", FALSE, KIND_F32);
  fail_unless (gst_harness_push (rig.h, buffer_of (KIND_F32, 0, WIDTH, HEIGHT))
               == GST_FLOW_ERROR);
  bus_expect_error (rig.bus, "output=none only computes parameters");
  rig_free (&rig);
}
GST_END_TEST;

/* Only the last but one surface is rough: only it causes a warning. */
GST_START_TEST (test_limits)
{
  Rig rig = rig_new_playing (
      "sa-upper-limit=1e-5 dx=1e-6 message-interval=0", FALSE, KIND_F32);
  GstStructure *s;
  guint64 frame;

  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = buffer_of (KIND_F32, i, WIDTH, HEIGHT);
    GstMapInfo map;

    if (i == 2) {
      gst_buffer_map (buffer, &map, GST_MAP_READWRITE);
      for (guint k = 0; k < N; k++)
        ((gfloat *) map.data)[k] += k % 2 ? 1e-4f : 0.0f;
      gst_buffer_unmap (buffer, &map);
    }
    push (&rig, buffer);
    buffer = gst_harness_pull (rig.h);
    fail_unless (
        (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER) ? 1 : 0)
        == (i == 2));
    fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->has_parameters);
    gst_buffer_unref (buffer);
  }
  s = pop_message (&rig, "cudalwtfilter-limit");
  fail_unless (s != NULL && get_double (s, "sa") > 1e-5);
  fail_unless (get_double (s, "sa-upper-limit") == 1e-5);
  fail_unless (gst_structure_get_uint64 (s, "frame", &frame) && frame == 2);
  gst_structure_free (s);
  fail_unless (pop_message (&rig, "cudalwtfilter-limit") == NULL);
  fail_unless_equals_uint64 (rig_stat (&rig, "outside"), 1);

  /* also below the lower limit */
  g_object_set (rig.element, "sa-lower-limit", 1.0, NULL);
  push_frames (&rig, KIND_F32, 5, 1);
  gst_buffer_unref (gst_harness_pull (rig.h));
  s = pop_message (&rig, "cudalwtfilter-limit");
  fail_unless (s != NULL && get_double (s, "sa-lower-limit") == 1.0);
  gst_structure_free (s);
  rig_free (&rig);
}
GST_END_TEST;

/* Without valid points there is no Sa to compare with the limits. */
GST_START_TEST (test_limits_of_nothing)
{
  for (guint limited = 0; limited < 2; limited++) {
    Rig rig = rig_new_playing (
        limited ? "sa-upper-limit=1 dx=1e-6" : "parameters=true dx=1e-6", FALSE,
        KIND_F32);
    GstBuffer *buffer = buffer_of (KIND_F32, 0, WIDTH, HEIGHT);
    GstStructure *s;
    GstMapInfo map;
    guint64 n;

    gst_buffer_map (buffer, &map, GST_MAP_READWRITE);
    for (guint k = 0; k < N; k++)
      ((gfloat *) map.data)[k] = NAN;
    gst_buffer_unmap (buffer, &map);
    push (&rig, buffer);
    buffer = gst_harness_pull (rig.h);
    fail_unless_equals_int (
        GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER) ? 1 : 0,
        limited);
    gst_buffer_unref (buffer);
    s = pop_message (&rig, "cudalwtfilter-limit");
    fail_unless ((s != NULL) == (limited != 0));
    if (s != NULL) {
      fail_unless (gst_structure_get_uint64 (s, "n", &n) && n == 0);
      gst_structure_free (s);
    }
    fail_unless_equals_uint64 (rig_stat (&rig, "outside"), limited);
    rig_free (&rig);
  }
}
GST_END_TEST;

/* --- sequences -------------------------------------------------------------------------- */

static void
pull_times (Rig *rig, guint first, guint n)
{
  for (guint i = first; i < first + n; i++) {
    GstBuffer *buffer = gst_harness_pull (rig->h);

    fail_unless (buffer != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * FRAME_NS);
    gst_buffer_unref (buffer);
  }
}

/* another size, another kind: earlier surfaces leave first */
GST_START_TEST (test_renegotiation)
{
  Rig rig = rig_new_playing (QUIET, TRUE, KIND_F32);
  guint n = 0;
  GstStructure *s;

  gst_harness_teardown (rig.sides[3]);
  rig.sides[3] = NULL;
  push_frames (&rig, KIND_F32, 0, 4);
  rig_set_caps (&rig, KIND_GREY16, 31, 9);
  pull_times (&rig, 0, 4);
  for (guint i = 4; i < 7; i++)
    push (&rig, buffer_of (KIND_GREY16, i, 31, 9));
  push_eos (&rig);
  pull_times (&rig, 4, 3);
  check_src_caps (rig.h, "video/x-raw,format=GRAY16_LE,width=31,height=9");
  for (guint i = 0; i < 7; i++)
    gst_buffer_unref (gst_harness_pull (rig.sides[4]));
  check_src_caps (rig.sides[4], "other/tensors,dimensions=(string)31:9:1:1");
  for (guint i = 0; i < 7; i++)
    gst_buffer_unref (gst_harness_pull (rig.sides[1]));
  check_src_caps (rig.sides[1], "video/x-raw,width=31");
  while ((s = pop_message (&rig, "cudalwtfilter-filter")) != NULL) {
    gst_structure_free (s);
    n++;
  }
  fail_unless_equals_int (n, 2);
  rig_free (&rig);
}
GST_END_TEST;

/* Downstream asks for another format in the middle of the stream. */
GST_START_TEST (test_reconfigure)
{
  Rig rig = rig_new_playing (QUIET, FALSE, KIND_F32);

  push_frames (&rig, KIND_F32, 0, 2);
  pull_times (&rig, 0, 2);
  check_src_caps (rig.h, "other/tensors");
  gst_harness_set_sink_caps_str (rig.h, "video/x-raw,format=GRAY8");
  gst_harness_push_upstream_event (rig.h, gst_event_new_reconfigure ());
  push_frames (&rig, KIND_F32, 2, 2);
  pull_times (&rig, 2, 2);
  check_src_caps (rig.h, "video/x-raw,format=GRAY8,width=75");
  rig_free (&rig);
}
GST_END_TEST;

/* Records passing items in @order: b for buffers, events by their first
 * letter. */
static GstPadProbeReturn
note_order (GstPad *pad, GstPadProbeInfo *info, gpointer order)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_c (order, 'b');
  else
    g_string_append_c (order, gst_event_type_get_name (GST_EVENT_TYPE (
                                  GST_PAD_PROBE_INFO_EVENT (info)))[0]);
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (test_order)
{
  Rig rig = rig_new (QUIET, FALSE);
  GString *order = g_string_new (NULL), *side_order = g_string_new (NULL);
  GstSegment segment;

  rig.sides[2] = gst_harness_new_with_element (rig.element, NULL, "src_form");
  gst_pad_add_probe (rig.h->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_order, order, NULL);
  gst_pad_add_probe (rig.sides[2]->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_order, side_order, NULL);
  rig_set_caps (&rig, KIND_F32, WIDTH, HEIGHT);
  push_frames (&rig, KIND_F32, 0, 2);
  gst_harness_push_event (
      rig.h, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "a", NULL)));
  push_frames (&rig, KIND_F32, 2, 1);
  gst_harness_push_event (rig.h, gst_event_new_gap (3 * FRAME_NS, FRAME_NS));
  push_frames (&rig, KIND_F32, 4, 1);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 5 * FRAME_NS;
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  push_frames (&rig, KIND_F32, 5, 1);
  push_eos (&rig);
  pull_times (&rig, 0, 3);
  pull_times (&rig, 4, 2);
  /* up to EOS, because each pad has a thread of its own */
  while (gst_harness_events_received (rig.h) < 7
         || gst_harness_events_received (rig.sides[2]) < 6)
    g_usleep (1000);
  fail_unless_equals_string (order->str, "scsbbtbgbsbe");
  fail_unless_equals_string (side_order->str, "scsbbbgbsbe");
  rig_free (&rig);
  g_string_free (order, TRUE);
  g_string_free (side_order, TRUE);
}
GST_END_TEST;

/* frame numbers restart with each stream, but not with a flush */
GST_START_TEST (test_streams)
{
  Rig rig =
      rig_new_playing ("parameters=true message-interval=1", FALSE, KIND_F32);
  static const guint64 numbers[] = { 0, 1, 2, 0 };
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  push_frames (&rig, KIND_F32, 0, 2);
  pull_times (&rig, 0, 2);
  gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  push_frames (&rig, KIND_F32, 0, 1);
  gst_harness_push_event (rig.h, gst_event_new_stream_start ("another"));
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  push_frames (&rig, KIND_F32, 1, 1);
  pull_times (&rig, 0, 2);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    GstStructure *s = pop_message (&rig, "cudalwtfilter-parameters");
    guint64 frame;

    fail_unless (gst_structure_get_uint64 (s, "frame", &frame));
    fail_unless_equals_uint64 (frame, numbers[i]);
    gst_structure_free (s);
  }
  rig_free (&rig);
}
GST_END_TEST;

static void
discard_all (GstHarness *h)
{
  while (gst_harness_buffers_in_queue (h) > 0)
    gst_buffer_unref (gst_harness_pull (h));
}

/* a FLUSH_STOP may come alone */
GST_START_TEST (test_flush)
{
  Rig rig = rig_new_playing (LEVELS QUIET, TRUE, KIND_F32);
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  gpointer data = samples_of (LWT_SAMPLE_F32, 3, WIDTH, HEIGHT);
  Expected e = expect (&config, "9/7", data);
  GstSegment segment;

  push_frames (&rig, KIND_F32, 0, 5);
  if (__i__ == 0)
    gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  discard_all (rig.h);
  for (guint i = 0; i < SIDES; i++)
    discard_all (rig.sides[i]);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  push_frames (&rig, KIND_F32, 3, 1);
  push_eos (&rig);
  check_part (rig.h, &e, CVIS_SURFACE_PART_ROUGHNESS, 3);
  for (guint i = 0; i < SIDES; i++)
    check_part (rig.sides[i], &e, side_parts[i], 3);
  rig_free (&rig);
  expected_clear (&e);
  g_free (data);
}
GST_END_TEST;

/* Sends one FLUSH_START while caps are being pushed. */
static GstPadProbeReturn
flush_amid_caps (GstPad *pad, GstPadProbeInfo *info, gpointer harness)
{
  if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) != GST_QUERY_CAPS)
    return GST_PAD_PROBE_OK;
  gst_pad_push_event (
      ((GstHarness *) harness)->srcpad, gst_event_new_flush_start ());
  return GST_PAD_PROBE_REMOVE;
}

/* caps interrupted by a flush are not refused: after the flush they are
 * accepted */
GST_START_TEST (test_flush_amid_caps)
{
  Rig rig = rig_new (QUIET, FALSE);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  gchar *text = caps_of (KIND_F32, WIDTH, HEIGHT);
  GstCaps *caps = gst_caps_from_string (text);

  gst_pad_add_probe (
      src, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, flush_amid_caps, rig.h, NULL);
  gst_pad_push_event (rig.h->srcpad, gst_event_new_stream_start ("s"));
  gst_pad_push_event (rig.h->srcpad, gst_event_new_caps (caps));
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  rig_set_caps (&rig, KIND_F32, WIDTH, HEIGHT);
  push_frames (&rig, KIND_F32, 0, 2);
  pull_times (&rig, 0, 2);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR) == NULL);
  gst_caps_unref (caps);
  g_free (text);
  gst_object_unref (src);
  rig_free (&rig);
}
GST_END_TEST;

static GstBuffer *
surface_spaced (guint frame, gdouble spacing)
{
  GstBuffer *buffer = buffer_of (KIND_F32, frame, WIDTH, HEIGHT);
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_add_surface_meta (buffer);

  meta->part = CVIS_SURFACE_PART_MEASURED;
  meta->dx = meta->dy = spacing;
  meta->width = WIDTH;
  meta->height = HEIGHT;
  return buffer;
}

/* Caps that a flush has stopped are sent after it. */
GST_START_TEST (test_flush_amid_new_caps)
{
  Rig rig = rig_new_playing (QUIET, FALSE, KIND_F32);
  GstPad *src = gst_element_get_static_pad (rig.element, "src");
  GstSegment segment;
  gdouble dx = 0.0;
  GstCaps *caps;

  gst_buffer_unref (
      gst_harness_push_and_pull (rig.h, surface_spaced (0, 1e-6)));
  gst_pad_add_probe (
      src, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, flush_amid_caps, rig.h, NULL);
  fail_unless_equals_int (
      gst_harness_push (rig.h, surface_spaced (1, 2e-6)), GST_FLOW_FLUSHING);
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  gst_buffer_unref (
      gst_harness_push_and_pull (rig.h, surface_spaced (2, 2e-6)));
  caps = gst_pad_get_current_caps (rig.h->sinkpad);
  gst_structure_get_double (
      gst_caps_get_structure (caps, 0), "surface-dx", &dx);
  fail_unless (dx == 2e-6, "%g", dx);
  gst_caps_unref (caps);
  gst_object_unref (src);
  rig_free (&rig);
}
GST_END_TEST;

/* --- time and memory ---------------------------------------------------------------------- */

GST_START_TEST (test_latency)
{
  static const guint in_flight[] = { 0, 1, 8 };
  gchar *settings = g_strdup_printf ("frames-in-flight=%u", in_flight[__i__]);
  Rig rig = rig_new_playing (settings, FALSE, KIND_F32);
  const guint frames = __i__ == 0 ? 2 : in_flight[__i__];
  GstMessage *message;
  GstClockTime latency;
  guint n = 0;

  push_frames (&rig, KIND_F32, 0, 1);
  gst_harness_set_upstream_latency (rig.h, 3 * GST_MSECOND);
  fail_unless_equals_uint64 (
      gst_harness_query_latency (rig.h), 3 * GST_MSECOND + frames * FRAME_NS);

  /* without a frame rate the frames' timestamps give the interval */
  gst_harness_set_src_caps_str (rig.h,
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=(string)75:53:1:1");
  push_frames (&rig, KIND_F32, 1, 1);
  latency = gst_harness_query_latency (rig.h);
  while ((message = gst_bus_pop_filtered (rig.bus, GST_MESSAGE_LATENCY)))
    gst_message_unref (message);
  push_frames (&rig, KIND_F32, 2, 2);
  fail_unless (gst_harness_query_latency (rig.h) > latency);
  while ((message = gst_bus_pop_filtered (rig.bus, GST_MESSAGE_LATENCY))) {
    gst_message_unref (message);
    n++;
  }
  fail_unless_equals_int (n, 1);
  rig_free (&rig);
  g_free (settings);
}
GST_END_TEST;

GST_START_TEST (test_allocation)
{
  Rig rig = rig_new_playing ("", FALSE, KIND_GREY8);
  GstCaps *caps = gst_pad_get_current_caps (rig.h->srcpad);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  guint size, min, max;

  fail_unless (gst_pad_peer_query (rig.h->srcpad, query));
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 1);
  gst_query_parse_nth_allocation_pool (query, 0, NULL, &size, &min, &max);
  fail_unless_equals_int (size, 76 * HEIGHT);
  fail_unless (min >= 1 && max == 0);
  fail_unless (
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless (gst_query_find_allocation_meta (
      query, GST_CVIS_SURFACE_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  rig_free (&rig);
}
GST_END_TEST;

/* --- properties ----------------------------------------------------------------------------- */

GST_START_TEST (test_properties)
{
  static const gchar *const live[] = { "parameters", "sa-lower-limit",
    "sa-upper-limit", "message-interval" };
  GstElement *element = gst_element_factory_make ("cudalwtfilter", NULL);
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  gchar *wavelet;
  guint n;
  GParamSpec **specs = g_object_class_list_properties (klass, &n);

  for (guint i = 0; i < n; i++) {
    const gboolean ours = specs[i]->owner_type == G_OBJECT_TYPE (element)
                          && (specs[i]->flags & G_PARAM_WRITABLE);
    gboolean is_live = FALSE;

    for (guint k = 0; k < G_N_ELEMENTS (live); k++)
      is_live |= g_str_equal (specs[i]->name, live[k]);
    if (ours)
      fail_unless (
          specs[i]->flags
              & (is_live ? GST_PARAM_MUTABLE_PLAYING : GST_PARAM_MUTABLE_READY),
          "%s", specs[i]->name);
  }
  g_free (specs);
  g_object_set (element, "wavelet", NULL, NULL);
  g_object_get (element, "wavelet", &wavelet, NULL);
  fail_unless_equals_string (wavelet, "");
  g_free (wavelet);
  g_object_set (element, "wavelet", "db7", "lambda-c", 8e-4, NULL);
  g_object_get (element, "wavelet", &wavelet, NULL);
  fail_unless_equals_string (wavelet, "db7");
  g_free (wavelet);
  gst_object_unref (element);
}
GST_END_TEST;

/* --- refused settings and input ------------------------------------------ */

static const struct {
  const gchar *caps, *what;
} bad_caps[] = {
  { "video/x-raw,format=RGB,width=75,height=53,framerate=25/1", "RGB" },
  { "video/x-raw,format=GRAY16_BE,width=75,height=53,framerate=25/1",
      "GRAY16_BE" },
  { "video/x-raw,format=GRAY8,framerate=25/1", "not those of video" },
  { "video/x-raw,format=GRAY8,width=2000000,height=1,framerate=25/1",
      "1048576" },
  { "video/x-raw(memory:CUDAMemory),format=GRAY8,width=75,height=53",
      "system memory" },
  { "other/tensors,format=flexible", "format is flexible" },
  { "other/tensors,format=static,num_tensors=1,types=uint8,"
    "dimensions=(string)75:53",
      "types is uint8" },
  { "other/tensors,format=static,num_tensors=1,types=float32,"
    "dimensions=(string)75:53:3:1",
      "75:53:3:1" },
  { "other/tensors,format=static,num_tensors=1,types=float32", "dimensions" },
};

GST_START_TEST (test_bad_caps)
{
  Rig rig = rig_new ("", FALSE);
  GstCaps *caps = gst_caps_from_string (bad_caps[__i__].caps);
  GstSegment segment;

  gst_pad_push_event (rig.h->srcpad, gst_event_new_stream_start ("s"));
  gst_pad_push_event (rig.h->srcpad, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (rig.h->srcpad, gst_event_new_segment (&segment));
  bus_expect_error (rig.bus, bad_caps[__i__].what);
  /* and no second error for the next buffer */
  fail_unless (
      gst_pad_push (rig.h->srcpad, buffer_of (KIND_F32, 0, WIDTH, HEIGHT))
      != GST_FLOW_OK);
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR) == NULL);
  gst_caps_unref (caps);
  rig_free (&rig);
}
GST_END_TEST;

static const struct {
  const gchar *settings;
  guint kind;
  const gchar *what;
} bad_settings[] = {
  { "lambda-c=8e-4", KIND_F32, "set dx" },
  { "lambda-f=8e-4 operation=denoise", KIND_GREY8, "set dx" },
  { "levels=2 roughness-levels=3", KIND_F32, "beyond the form at 2" },
  { "lambda-c=8e-5 lambda-f=8e-6 dx=1e-6", KIND_F32,
      "lambda-f is 8e-06 m, shorter than lambda-c, 8e-05 m" },
  { "lambda-s=9e-5 lambda-c=8e-5 dx=1e-6", KIND_F32,
      "lambda-c is 8e-05 m, shorter than lambda-s, 9e-05 m" },
  { "lambda-s=9e-5 lambda-f=8e-5 dx=1e-6", KIND_F32,
      "lambda-f is 8e-05 m, shorter than lambda-s, 9e-05 m" },
  { "filter=gaussian lambda-c=8e-4", KIND_F32, "set dx" },
  { "filter=gaussian lambda-c=1.9e-6 dx=1e-6", KIND_F32,
      "lambda-c is 1.9 samples along x, must be at least 2" },
  { "filter=spline lambda-f=76e-6 dx=1e-6", KIND_F32,
      "lambda-f is 76 x 76 samples, longer than the surface of 75 x 53" },
  { "filter=wavelet lambda-s=9e-6 lambda-c=8e-6 dx=1e-6", KIND_F32,
      "lambda-c is 8e-06 m, shorter than lambda-s, 9e-06 m" },
  { "filter=gaussian filter-order=1", KIND_F32, "filter-order is 1" },
  { "filter=gaussian output=bands", KIND_F32, "wavelet-decimated has bands" },
  { "filter=gaussian output=noise", KIND_F32, "lambda-s" },
  { "noise-levels=4 roughness-levels=3", KIND_F32, "beyond the waviness at 3" },
  { "levels=16 boundary=pad-smooth wavelet=db20", KIND_F32, "pad" },
  { "output=noise", KIND_F32, "noise" },
  { "output=measured", KIND_F32, "measured" },
  { "operation=forward output=form", KIND_F32, "form" },
  { "operation=inverse output=bands", KIND_F32, "bands" },
  { "operation=denoise", KIND_GREY8, "set dx, or use cudadenoise" },
  { "operation=denoise output=waviness", KIND_F32, "waviness" },
  { "operation=denoise levels=0", KIND_F32, "levels" },
  { "reversible=true", KIND_I32, "integers" },
  { "reversible=true operation=forward wavelet=db4", KIND_I32, "reversible" },
  { "reversible=true operation=forward wavelet=5/3", KIND_F32, "floats" },
  { "operation=inverse", KIND_GREY8, "bands" },
  { "operation=inverse precision=float64", KIND_F32, "bands" },
  { "z-scale=0", KIND_GREY8, "z-scale" },
  { "operation=inverse boundary=pad-symmetric levels=2", KIND_F32, "bands" },
};

GST_START_TEST (test_bad_settings)
{
  Rig rig = rig_new (bad_settings[__i__].settings, FALSE);

  gst_harness_set_sink_caps_str (rig.h, "ANY");
  rig_set_caps (&rig, bad_settings[__i__].kind, WIDTH, HEIGHT);
  fail_unless_equals_int (
      gst_harness_push (
          rig.h, buffer_of (bad_settings[__i__].kind, 0, WIDTH, HEIGHT)),
      GST_FLOW_ERROR);
  bus_expect_error (rig.bus, bad_settings[__i__].what);
  rig_free (&rig);
}
GST_END_TEST;

static const struct {
  const gchar *settings, *side, *why;
} without_component[] = {
  { "levels=4 roughness-levels=2", "src_noise",
      "src_noise gets no buffers: operation=filter without lambda-s or "
      "noise-levels" },
  { "operation=denoise", "src_form",
      "src_form gets no buffers: operation=denoise does not have" },
  { "operation=forward", "src_roughness", "operation=forward does not have" },
};

/* A component that does not exist, requested while the stream runs, is one warning:
 * the stream goes on, and other request pads work. */
GST_START_TEST (test_request_without_component)
{
  Rig rig =
      rig_new_playing (without_component[__i__].settings, FALSE, KIND_F32);
  GstHarness *side;

  push_frames (&rig, KIND_F32, 0, 2);
  for (guint i = 0; i < 2; i++)
    gst_buffer_unref (gst_harness_pull (rig.h));
  side = gst_harness_new_with_element (
      rig.element, NULL, without_component[__i__].side);
  if (__i__ == 0)
    rig.sides[0] =
        gst_harness_new_with_element (rig.element, NULL, "src_roughness");
  push_frames (&rig, KIND_F32, 2, 2);
  bus_expect (rig.bus, GST_MESSAGE_WARNING, without_component[__i__].why);
  /* new caps change nothing */
  rig_set_caps (&rig, KIND_F64, WIDTH, HEIGHT);
  push_frames (&rig, KIND_F64, 4, 1);
  push_eos (&rig);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (gst_harness_pull (rig.h));
  if (__i__ == 0)
    gst_buffer_unref (gst_harness_pull (rig.sides[0]));
  fail_unless (
      gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR)
      == NULL);
  fail_unless_equals_int (gst_harness_buffers_received (side), 0);
  gst_harness_teardown (side);
  rig_free (&rig);
}
GST_END_TEST;

/* output=none needs a request pad for coefficients; if the last one is released
 * while the stream runs, surfaces pass on. */
GST_START_TEST (test_release_last_pad)
{
  Rig rig = rig_new ("operation=forward output=none", FALSE);

  rig.sides[4] = gst_harness_new_with_element (rig.element, NULL, "src_bands");
  rig_set_caps (&rig, KIND_F32, WIDTH, HEIGHT);
  push_frames (&rig, KIND_F32, 0, 1);
  gst_buffer_unref (gst_harness_pull (rig.sides[4]));
  gst_harness_teardown (rig.sides[4]);
  rig.sides[4] = NULL;
  push_frames (&rig, KIND_F32, 1, 1);
  rig_set_caps (&rig, KIND_F64, WIDTH, HEIGHT);
  push_frames (&rig, KIND_F64, 2, 1);
  push_eos (&rig);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (gst_harness_pull (rig.h));
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_ERROR) == NULL);
  rig_free (&rig);
}
GST_END_TEST;

/* The first bytes of files */
static const struct {
  guint8 bytes[16];
  const gchar *what;
} files[] = {
  { { 0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 'I', 'H', 'D',
        'R' },
      "its bytes are image/png" },
  { { 1, 2, 3, 4 }, "it came without caps. Put a capsfilter" },
};

/* An encoded file without its decoder: the error names the format and what decodes
 * it. */
GST_START_TEST (test_file_without_decoder)
{
  GstElement *element = gst_parse_launch ("cudalwtfilter backend=cpu", NULL);
  GstBus *bus = gst_bus_new ();
  GstHarness *h;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 4096, NULL);
  GstSegment segment;
  gchar *text;

  gst_element_set_bus (element, bus);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_play (h);
  gst_buffer_memset (buffer, 0, 0, 4096);
  gst_buffer_fill (buffer, 0, files[__i__].bytes, sizeof (files[__i__].bytes));
  gst_harness_push_event (h, gst_event_new_stream_start ("file"));
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  fail_unless_equals_int (
      gst_harness_push (h, buffer), GST_FLOW_NOT_NEGOTIATED);
  text = bus_pop_text (bus, GST_MESSAGE_ERROR);
  fail_unless (strstr (text, files[__i__].what) != NULL, "%s", text);
  if (__i__ == 0)
    fail_unless (strstr (text, "pngdec") != NULL
                     && strstr (text, "decodebin ! videoconvert") != NULL,
        "%s", text);
  g_free (text);
  gst_harness_teardown (h);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
}
GST_END_TEST;

static const struct {
  const gchar *wavelet, *what;
} bad_wavelets[] = {
  { "", "wavelet \"\"" },
  { "db21", "db21" },
  { "db41", "(did you mean \"db1\"?). Set wavelet" },
  { "steps: P@0 1 x", "steps: P@0 1 x" },
  { "bank: LO 1 2 3", "bank: LO 1 2 3" },
};

/* the element does not start */
GST_START_TEST (test_bad_wavelets)
{
  GstElement *element = gst_element_factory_make ("cudalwtfilter", NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_object_set (element, "wavelet", bad_wavelets[__i__].wavelet, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  bus_expect_error (bus, bad_wavelets[__i__].what);
  g_object_set (element, "wavelet", "db2", NULL);
  fail_unless (gst_element_set_state (element, GST_STATE_PAUSED)
               != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST;

static GstBuffer *
bad_buffer (guint which)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 100 };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 76 * HEIGHT, NULL);
  GstCvisSurfaceMeta *meta;

  switch (which) {
    case 0:
      gst_buffer_resize (buffer, 0, 76 * HEIGHT - 1);
      break;
    case 1:
      gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
          GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 1, offsets, strides);
      break;
    case 2:
      gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
          GST_VIDEO_FORMAT_GRAY8, 40, 40, 1, offsets, strides);
      break;
    case 3:
      meta = gst_cvis_buffer_add_surface_meta (buffer);
      meta->mask = gst_buffer_new_allocate (NULL, 17, NULL);
      break;
    default:
      meta = gst_cvis_buffer_add_surface_meta (buffer);
      meta->part = CVIS_SURFACE_PART_BANDS;
      break;
  }
  return buffer;
}

static const gchar *const bad_buffers[] = { "4028 bytes expected for 75x53",
  "bytes expected", "GRAY8 40x40", "17 bytes, 3975 expected",
  "samples are bands" };

/* earlier surfaces leave before the error */
GST_START_TEST (test_bad_buffers)
{
  Rig rig = rig_new_playing ("frames-in-flight=4", FALSE, KIND_GREY8);

  push_frames (&rig, KIND_GREY8, 0, 3);
  fail_unless_equals_int (
      gst_harness_push (rig.h, bad_buffer ((guint) __i__)), GST_FLOW_ERROR);
  fail_unless_equals_int (gst_harness_buffers_in_queue (rig.h), 3);
  bus_expect_error (rig.bus, bad_buffers[__i__]);
  rig_free (&rig);
}
GST_END_TEST;

/* roughness cannot be the input of an inverse */
GST_START_TEST (test_parts_into_inverse)
{
  Rig rig = rig_new_playing ("operation=inverse", FALSE, KIND_F32);
  GstBuffer *buffer = buffer_of (KIND_F32, 0, WIDTH, HEIGHT);

  gst_cvis_buffer_add_surface_meta (buffer)->part = CVIS_SURFACE_PART_ROUGHNESS;
  fail_unless_equals_int (gst_harness_push (rig.h, buffer), GST_FLOW_ERROR);
  bus_expect_error (rig.bus, "but the input is roughness");
  rig_free (&rig);
}
GST_END_TEST;

/* Downstream accepts no format that the element offers. */
GST_START_TEST (test_not_taken)
{
  Rig rig = rig_new (LEVELS QUIET, __i__ == 1);
  GstHarness *h = __i__ ? rig.sides[4] : rig.h;

  gst_harness_set_sink_caps_str (h, "video/x-raw,format=GRAY8,width=99");
  rig_set_caps (&rig, KIND_F32, WIDTH, HEIGHT);
  for (guint i = 0; i < 10; i++)
    if (gst_harness_push (rig.h, buffer_of (KIND_F32, i, WIDTH, HEIGHT))
        != GST_FLOW_OK)
      break;
  bus_expect_error (
      rig.bus, __i__ ? "of pad src_bands does" : "of pad src does");
  rig_free (&rig);
}
GST_END_TEST;

#ifdef MEMORY_LIMIT_WORKS
/* not enough memory for the results */
GST_START_TEST (test_no_memory)
{
  Rig rig = rig_new ("threads=1", FALSE);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 256u << 20, NULL);
  struct rlimit before;

  rig_set_caps (&rig, KIND_F32, 8192, 8192);
  before = memory_limit_begin (64u << 20);
  fail_unless_equals_int (gst_harness_push (rig.h, buffer), GST_FLOW_ERROR);
  memory_limit_end (&before);
  bus_expect_error (rig.bus, "memory");
  rig_free (&rig);
}
GST_END_TEST;
#endif

/* --- pads come and go ---------------------------------------------------------------------------- */

GST_START_TEST (test_sides_come_and_go)
{
  Rig rig = rig_new_playing (LEVELS QUIET, FALSE, KIND_F32);
  LwtConfig config = config_of (KIND_F32, WIDTH, HEIGHT);
  guint frame = 0;

  for (guint i = 0; i < SIDES; i++, frame += 2) {
    gpointer data = samples_of (LWT_SAMPLE_F32, frame + 1, WIDTH, HEIGHT);
    Expected e = expect (&config, "9/7", data);
    GstHarness *side;

    push_frames (&rig, KIND_F32, frame, 1);
    side = gst_harness_new_with_element (rig.element, NULL, side_names[i]);
    push_frames (&rig, KIND_F32, frame + 1, 1);
    check_part (side, &e, side_parts[i], frame + 1);
    fail_unless (gst_element_request_pad (rig.element,
                     gst_element_get_pad_template (rig.element, side_names[i]),
                     NULL, NULL)
                 == NULL);
    gst_harness_teardown (side);
    pull_times (&rig, frame, 2);
    expected_clear (&e);
    g_free (data);
  }
  rig_free (&rig);
}
GST_END_TEST;

/* --- warnings ------------------------------------------------------------ */

static const struct {
  const gchar *settings;
  guint kind;
  gboolean missing;
  const gchar *what; /* NULL: no warning */
} remarks[] = {
  { "levels=9 roughness-levels=8 dx=1e-6", KIND_F32, FALSE,
      "roughness-levels: 8 along x, where 75 samples have 7, roughness-levels: "
      "8 along y, where 53 samples have 6, levels: 9 along x" },
  { "lambda-c=1e-3 lambda-f=1e-3 dx=1e-6", KIND_F32, FALSE,
      "levels: 9 along x, where 75 samples have 7" },
  { "levels=6 roughness-levels=3 dx=1e-6", KIND_F32, FALSE, NULL },
  { "dx=1e-6", KIND_F32, FALSE, NULL },
  { "dx=1e-6", KIND_F32, TRUE,
      "1 of 3975 points (0.0252 %) of surface 0 are missing. They are filled" },
  { "filter=gaussian dx=1e-6", KIND_F32, TRUE,
      "are missing. They are left out" },
  { "operation=forward", KIND_F32, TRUE, "and coefficients contain them" },
  { "operation=denoise", KIND_F32, TRUE, "and missing in the output" },
  { "z-scale=1e-9 output=form", KIND_F32, FALSE,
      "3975 of 3975 points of the form of surface 0 are beyond the range of "
      "GRAY8 and were clipped" },
  { "z-scale=1e-2 output=form", KIND_F32, FALSE, NULL },
};

static GstBuffer *high_surface (guint i, gfloat height, gboolean missing);

/* What is limited, filled or clipped is one warning with numbers, for each caps. */
GST_START_TEST (test_remarks)
{
  const gboolean grey = strstr (remarks[__i__].settings, "z-scale") != NULL;
  Rig rig = rig_new (remarks[__i__].settings, FALSE);
  gchar *text;

  if (grey)
    gst_harness_set_sink_caps_str (rig.h, "video/x-raw,format=GRAY8");
  for (guint caps = 0; caps < 2; caps++) {
    if (caps == 0)
      rig_set_caps (&rig, remarks[__i__].kind, WIDTH, HEIGHT);
    for (guint i = 0; i < 3; i++)
      push (&rig, high_surface (i, 1.0f, remarks[__i__].missing));
  }
  push_eos (&rig);
  if (remarks[__i__].what != NULL) {
    text = bus_pop_text (rig.bus, GST_MESSAGE_WARNING);
    fail_unless (strstr (text, remarks[__i__].what) != NULL, "%s", text);
    g_free (text);
  }
  fail_unless (gst_bus_pop_filtered (rig.bus, GST_MESSAGE_WARNING) == NULL);
  rig_free (&rig);
}
GST_END_TEST;

/* heights of about @height; point 5 is missing if @missing */
static GstBuffer *
high_surface (guint i, gfloat height, gboolean missing)
{
  gfloat *data = g_new (gfloat, WIDTH * HEIGHT);
  GstBuffer *buffer;

  for (guint at = 0; at < WIDTH * HEIGHT; at++)
    data[at] = height * (1.0f - 0.001f * (gfloat) (at % 7));
  if (missing)
    data[5] = NAN;
  buffer = gst_buffer_new_wrapped (data, WIDTH * HEIGHT * sizeof (gfloat));
  GST_BUFFER_PTS (buffer) = i * GST_MSECOND;
  return buffer;
}

/* One warning of an overflow of @part, unless it is NULL, and one of missing points
 * were posted. */
static void
check_overflow_warnings (Rig *rig, const gchar *part)
{
  guint overflows = 0, missing = 0;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_WARNING))) {
    GError *error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    if (strstr (error->message, "are missing") != NULL) {
      missing++;
    } else {
      fail_unless (strstr (error->message, "too large for float32") != NULL,
          "%s", error->message);
      fail_unless (strstr (error->message, part) != NULL, "%s", error->message);
      overflows++;
    }
    g_error_free (error);
    gst_message_unref (message);
  }
  fail_unless_equals_int (overflows, part != NULL);
  fail_unless_equals_int (missing, 1);
}

/* Results beyond float32 are warned of once for each caps; missing points,
 * float64 and heights within range are no overflow. */
GST_START_TEST (test_overflow)
{
  static const struct {
    const gchar *settings;
    gfloat height;
    const gchar *part;
  } cases[] = {
    { "output=form", 3e38f, "its form" },
    { "output=roughness roughness-levels=4", 3e38f, "its roughness" },
    { "operation=forward layout=interleaved", 3e38f, "its bands" },
    { "operation=forward boundary=pad-smooth", 3e38f, "its bands" },
    { "operation=denoise", 3e38f, "its" },
    { "output=form", 1e34f, NULL },
    { "output=form precision=float64", 3e38f, NULL },
    { "operation=forward precision=float64", 3e38f, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Rig rig = rig_new_playing (cases[i].settings, FALSE, KIND_F32);

    for (guint part = 0; part < 2; part++) {
      for (guint j = 0; j < 3; j++)
        push (&rig, high_surface (j, cases[i].height, j == 1));
      for (guint j = 0; j < 3; j++)
        gst_buffer_unref (gst_harness_pull (rig.h));
      check_overflow_warnings (&rig, cases[i].part);
      gst_harness_set_src_caps_str (rig.h,
          "other/tensors,format=static,num_tensors=1,types=float32,"
          "dimensions=" G_STRINGIFY (WIDTH) ":" G_STRINGIFY (
              HEIGHT) ":1:1,framerate=50/1");
    }
    rig_free (&rig);
  }
}
GST_END_TEST;

/* A cut-off beyond the reach of 16 levels is limited, with a warning. */
GST_START_TEST (test_limited_cutoffs)
{
  Rig rig = rig_new_playing (
      "lambda-c=0.131072 lambda-f=1 dx=1e-6 dy=2e-5", FALSE, KIND_F32);
  gchar *text;

  push_frames (&rig, KIND_F32, 0, 3);
  pull_times (&rig, 0, 3);
  text = bus_pop_text (rig.bus, GST_MESSAGE_WARNING);
  fail_unless_equals_string (text,
      "Cut-offs are limited to the reach of 16 levels: "
      "lambda-f=1 is 0.131072 along x. Use shorter cut-offs.");
  g_free (text);
  rig_free (&rig);
}
GST_END_TEST;

/* A cut-off that is too short to have an effect, perhaps in a wrong unit, is
 * warned of too. */
GST_START_TEST (test_short_cutoffs)
{
  Rig rig = rig_new_playing (
      "lambda-s=2e-6 lambda-c=3e-6 lambda-f=64e-6 dx=1e-6 dy=2e-6", FALSE,
      KIND_F32);
  gchar *text;

  push_frames (&rig, KIND_F32, 0, 3);
  pull_times (&rig, 0, 3);
  text = bus_pop_text (rig.bus, GST_MESSAGE_WARNING);
  fail_unless_equals_string (text,
      "Cut-offs too short for the sample spacing have no effect: "
      "lambda-s=2e-06 along x, lambda-s=2e-06 along y, "
      "lambda-c=3e-06 along y. Use longer cut-offs.");
  g_free (text);
  rig_free (&rig);
}
GST_END_TEST;

static Suite *
cudalwtfilter_suite (void)
{
  Suite *s = suite_create ("cudalwtfilter");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_parts, 0, G_N_ELEMENTS (filters));
  tcase_add_loop_test (tc, test_output, 0, G_N_ELEMENTS (alone));
  tcase_add_loop_test (tc, test_parts_add_up, 0, 5);
  tcase_add_loop_test (tc, test_filters, 0, G_N_ELEMENTS (smoothers));
  tcase_add_test (tc, test_default_cutoffs);
  tcase_add_test (tc, test_default_filter);
  tcase_add_test (tc, test_filter_backend);
  tcase_add_test (tc, test_simple_truths);
  tcase_add_loop_test (tc, test_sizes, 0, G_N_ELEMENTS (sizes));
  tcase_add_test (tc, test_layouts);
  tcase_add_test (tc, test_odd_address);
  tcase_add_test (tc, test_missing);
  tcase_add_loop_test (tc, test_masks, 0, 2);
  tcase_add_loop_test (tc, test_grey_of_tensors, 0, G_N_ELEMENTS (pictures));
  tcase_add_loop_test (tc, test_bands, 0, G_N_ELEMENTS (transforms));
  tcase_add_loop_test (tc, test_contradictions, 0, G_N_ELEMENTS (transforms));
  tcase_add_loop_test (
      tc, test_missing_there_and_back, 0, G_N_ELEMENTS (round_trips));
  tcase_add_test (tc, test_long_wavelet);
  tcase_add_loop_test (tc, test_reversible, 0, 3);
  tcase_add_loop_test (tc, test_denoise, 0, 3);
  tcase_add_loop_test (
      tc, test_request_without_component, 0, G_N_ELEMENTS (without_component));
  tcase_add_test (tc, test_release_last_pad);
  tcase_add_loop_test (tc, test_remarks, 0, G_N_ELEMENTS (remarks));
  tcase_add_loop_test (tc, test_file_without_decoder, 0, G_N_ELEMENTS (files));
  tcase_add_loop_test (tc, test_negotiation, 0, G_N_ELEMENTS (negotiations));
  tcase_add_test (tc, test_pads_differ);
  tcase_add_test (tc, test_caps_queries);
  tcase_add_test (tc, test_meta);
  tcase_add_test (tc, test_spacing);
  tcase_add_loop_test (tc, test_parameters, 0, G_N_ELEMENTS (intervals));
  tcase_add_test (tc, test_parameters_later);
  tcase_add_loop_test (tc, test_output_none, 0, 2);
  tcase_add_test (tc, test_output_none_beside);
  tcase_add_test (tc, test_limits);
  tcase_add_test (tc, test_limits_of_nothing);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_reconfigure);
  tcase_add_test (tc, test_order);
  tcase_add_test (tc, test_streams);
  tcase_add_loop_test (tc, test_flush, 0, 2);
  tcase_add_test (tc, test_flush_amid_caps);
  tcase_add_test (tc, test_flush_amid_new_caps);
  tcase_add_loop_test (tc, test_latency, 0, 3);
  tcase_add_test (tc, test_allocation);
  tcase_add_test (tc, test_properties);
  tcase_add_loop_test (tc, test_bad_caps, 0, G_N_ELEMENTS (bad_caps));
  tcase_add_loop_test (tc, test_bad_settings, 0, G_N_ELEMENTS (bad_settings));
  tcase_add_loop_test (tc, test_bad_wavelets, 0, G_N_ELEMENTS (bad_wavelets));
  tcase_add_loop_test (tc, test_bad_buffers, 0, G_N_ELEMENTS (bad_buffers));
  tcase_add_test (tc, test_parts_into_inverse);
  tcase_add_loop_test (tc, test_not_taken, 0, 2);
#ifdef MEMORY_LIMIT_WORKS
  tcase_add_test (tc, test_no_memory);
#endif
  tcase_add_test (tc, test_sides_come_and_go);
  tcase_add_test (tc, test_overflow);
  tcase_add_test (tc, test_limited_cutoffs);
  tcase_add_test (tc, test_short_cutoffs);
  return s;
}

GST_CHECK_MAIN (cudalwtfilter);
