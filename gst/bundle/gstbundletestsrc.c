/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-bundletestsrc
 * @title: bundletestsrc
 * @short_description: simulates reconstructions
 *
 * Simulates a reconstruction with known ground truth, a street, a city or a turntable
 * with any number of cameras and points, and writes it as a file of any supported
 * format: with noise, outliers and initial values that deviate from the truth. Or
 * copies the reconstruction of a file several times, with the numbers of cameras and
 * points shuffled. The same settings give the same file.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 bundletestsrc scene=city cameras=1000 points=100000 ! filesink location=city.txt
 * ]|
 *
 * Since: 0.1
 */
#include "gstbundletestsrc.h"

#include "cuda/bundle/sim.h"
#include "cuda/core/cancel.h"
#include "gst/common/gstcvisquery.h"
#include "gst/common/gstcvissettings.h"
#include "gstbundlefile.h"
#include "gstbundletypes.h"

GST_DEBUG_CATEGORY_STATIC (gst_bundle_test_src_debug);
#define GST_CAT_DEFAULT gst_bundle_test_src_debug

/**
 * Settings:
 * @location: file of a problem to copy; empty: simulate one
 */
typedef struct {
  BundleSim sim;
  gint format;
  guint copies;
  gchar *location;
} Settings;

struct _GstBundleTestSrc {
  GstPushSrc parent;

  Settings settings; /* guarded by the object lock */
  gboolean done;     /* of the streaming thread */
  gint cancel;       /* atomic */
};

static const GEnumValue scene_values[] = {
  { BUNDLE_SCENE_STREET, "Two laps of an oval street between facades",
      "street" },
  { BUNDLE_SCENE_CITY, "Two laps through rows of buildings", "city" },
  { BUNDLE_SCENE_TURNTABLE, "Two circles around a vase", "turntable" },
  { 0, NULL, NULL },
};

#define LENS(name, nick)                                                       \
  {                                                                            \
    BUNDLE_LENS_##name, #name " of COLMAP", nick                               \
  }

static const GEnumValue lens_values[] = {
  LENS (SIMPLE_PINHOLE, "simple-pinhole"),
  LENS (PINHOLE, "pinhole"),
  LENS (SIMPLE_RADIAL, "simple-radial"),
  LENS (RADIAL, "radial"),
  LENS (OPENCV, "opencv"),
  LENS (OPENCV_FISHEYE, "opencv-fisheye"),
  LENS (FULL_OPENCV, "full-opencv"),
  LENS (FOV, "fov"),
  LENS (SIMPLE_RADIAL_FISHEYE, "simple-radial-fisheye"),
  LENS (RADIAL_FISHEYE, "radial-fisheye"),
  LENS (THIN_PRISM_FISHEYE, "thin-prism-fisheye"),
  { BUNDLE_N_LENS_MODELS, "Focal length, k1 and k2 of BAL", "bal" },
  { 0, NULL, NULL },
};

#define OWN(field) G_STRUCT_OFFSET (Settings, field)

static const GstCvisSetting settings_table[] = {
  { "format", "Format of the file", GST_CVIS_SETTING_ENUM, OWN (format), FALSE,
      0, 0, GST_BUNDLE_FORMAT_NAME, gst_bundle_format_values },
  { "scene", "Arrangement of cameras and points", GST_CVIS_SETTING_ENUM,
      OWN (sim.scene), FALSE, 0, 0, "GstBundleTestSrcScene", scene_values },
  { "cameras", "Number of cameras", GST_CVIS_SETTING_UINT, OWN (sim.cameras),
      FALSE, 2, 1e7 },
  { "points", "Number of points", GST_CVIS_SETTING_UINT, OWN (sim.points),
      FALSE, 1, 1e9 },
  { "camera-model", "Camera model; other than bal with format=colmap",
      GST_CVIS_SETTING_ENUM, OWN (sim.lens), FALSE, 0, 0,
      "GstBundleTestSrcCameraModel", lens_values },
  { "intrinsics",
      "Number of different cameras with camera-model, which the images have in "
      "turn; 0: one for each image",
      GST_CVIS_SETTING_UINT, OWN (sim.lenses), FALSE, 0, 1e7 },
  { "noise", "Standard deviation of the observations, pixels",
      GST_CVIS_SETTING_DOUBLE, OWN (sim.noise), FALSE, 0, 1000 },
  { "outliers",
      "Fraction of outliers, which are anywhere in the picture, 0 to 1",
      GST_CVIS_SETTING_DOUBLE, OWN (sim.outliers), FALSE, 0, 1 },
  { "start-error",
      "Factor of the initial errors of cameras and points; 0: the file has the "
      "truth",
      GST_CVIS_SETTING_DOUBLE, OWN (sim.start_error), FALSE, 0, 1000, NULL,
      NULL },
  { "seed", "Seed of all random numbers", GST_CVIS_SETTING_UINT, OWN (sim.seed),
      FALSE, 0, G_MAXUINT },
  { "copies",
      "Number of independent copies of the problem; from 2 on the numbers of "
      "cameras and points are shuffled",
      GST_CVIS_SETTING_UINT, OWN (copies), FALSE, 1, 1e6 },
  { "location",
      "File to copy instead of a simulation: BAL, Bundler, NVM or COLMAP text",
      GST_CVIS_SETTING_STRING, OWN (location), FALSE, 0, 0 },
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_BUNDLE_WRITTEN_CAPS));

#define gst_bundle_test_src_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstBundleTestSrc, gst_bundle_test_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    bundletestsrc, "bundletestsrc", GST_RANK_NONE, GST_TYPE_BUNDLE_TEST_SRC);

static Settings
copy_settings (GstBundleTestSrc *self)
{
  Settings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  settings.location = g_strdup (settings.location);
  GST_OBJECT_UNLOCK (self);
  return settings;
}

static BundleProblem *
read_problem (const gchar *location, GError **error)
{
  GMappedFile *file = g_mapped_file_new (location, FALSE, error);
  BundleProblem *problem = NULL;
  BundleFormat format;
  const gchar *data;
  gsize size;

  if (file == NULL)
    return NULL;
  data = g_mapped_file_get_contents (file);
  size = g_mapped_file_get_length (file);
  if (bundle_format_detect (data, size, &format))
    problem = bundle_read (data, size, format, 0, error);
  else
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s",
        size ? bundle_format_hint (data, size) : "the file is empty");
  if (problem == NULL)
    g_prefix_error (error, "%s: ", location);
  g_mapped_file_unref (file);
  return problem;
}

static GBytes *
make_file (GstBundleTestSrc *self, const Settings *settings, GError **error)
{
  g_autoptr (BundleProblem) problem =
      *settings->location ? read_problem (settings->location, error)
                          : bundle_sim_make (&settings->sim, error);

  if (problem != NULL && settings->copies > 1) {
    BundleProblem *copies =
        bundle_sim_copy (problem, settings->copies, settings->sim.seed, error);

    bundle_problem_free (problem);
    problem = copies;
  }
  if (problem == NULL)
    return NULL;
  gst_bundle_warn_of_notes (GST_ELEMENT (self), problem);
  gst_bundle_warn_of_losses (GST_ELEMENT (self), problem, settings->format, 0);
  return bundle_write (problem, settings->format, NULL, 0, error);
}

/* Ends the making of a file. */
static gboolean
gst_bundle_test_src_unlock (GstBaseSrc *base)
{
  g_atomic_int_set (&GST_BUNDLE_TEST_SRC (base)->cancel, TRUE);
  return TRUE;
}

static gboolean
gst_bundle_test_src_unlock_stop (GstBaseSrc *base)
{
  g_atomic_int_set (&GST_BUNDLE_TEST_SRC (base)->cancel, FALSE);
  return TRUE;
}

static GstFlowReturn
gst_bundle_test_src_create (GstPushSrc *push, GstBuffer **buffer)
{
  GstBundleTestSrc *self = GST_BUNDLE_TEST_SRC (push);
  Settings settings;
  GError *error = NULL;
  GBytes *bytes;
  gboolean cancelled;

  if (self->done)
    return GST_FLOW_EOS;
  settings = copy_settings (self);
  cvis_cancel_watch (&self->cancel);
  bytes = make_file (self, &settings, &error);
  cvis_cancel_watch (NULL);
  if (bytes == NULL) {
    cancelled = g_error_matches (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
    if (cancelled)
      GST_DEBUG_OBJECT (self, "Cancelled");
    else if (*settings.location)
      GST_ELEMENT_ERROR (self, RESOURCE, READ,
          ("Cannot copy a reconstruction: %s. Check the properties location "
           "and copies.",
              error->message),
          (NULL));
    else
      GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
          ("Cannot simulate a reconstruction: %s. Check the properties.",
              error->message),
          (NULL));
    g_error_free (error);
    g_free (settings.location);
    return cancelled ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
  }
  g_free (settings.location);
  self->done = TRUE;
  *buffer = gst_buffer_new_wrapped_bytes (bytes);
  GST_BUFFER_OFFSET (*buffer) = 0;
  GST_BUFFER_OFFSET_END (*buffer) = g_bytes_get_size (bytes);
  g_bytes_unref (bytes);
  return GST_FLOW_OK;
}

static GstCaps *
gst_bundle_test_src_get_caps (GstBaseSrc *base, GstCaps *filter)
{
  GstBundleTestSrc *self = GST_BUNDLE_TEST_SRC (base);
  GstCaps *caps;

  GST_OBJECT_LOCK (self);
  caps = gst_bundle_format_caps (self->settings.format);
  GST_OBJECT_UNLOCK (self);
  return gst_cvis_caps_filter (caps, filter);
}

static gboolean
gst_bundle_test_src_start (GstBaseSrc *base)
{
  GST_BUNDLE_TEST_SRC (base)->done = FALSE;
  return TRUE;
}

/* --- object -------------------------------------------------------------------- */

static void
init_settings (Settings *settings)
{
  *settings = (Settings){ .copies = 1 };
  bundle_sim_init (&settings->sim);
}

static void
gst_bundle_test_src_class_init (GstBundleTestSrcClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);
  Settings defaults;

  init_settings (&defaults);
  defaults.location = (gchar *) "";
  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table),
      G_STRUCT_OFFSET (GstBundleTestSrc, settings), &defaults);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Reconstruction test source", "Source/File",
      "Simulates reconstructions with known truth, or copies one",
      "the gst-cudavision authors");
  base_class->get_caps = gst_bundle_test_src_get_caps;
  base_class->start = gst_bundle_test_src_start;
  base_class->unlock = gst_bundle_test_src_unlock;
  base_class->unlock_stop = gst_bundle_test_src_unlock_stop;
  GST_PUSH_SRC_CLASS (klass)->create = gst_bundle_test_src_create;
  GST_DEBUG_CATEGORY_INIT (gst_bundle_test_src_debug, "bundletestsrc", 0,
      "simulated reconstructions");
}

static void
gst_bundle_test_src_init (GstBundleTestSrc *self)
{
  init_settings (&self->settings);
  self->settings.location = g_strdup ("");
}
