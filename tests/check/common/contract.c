/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Promises of every element: it is registered, has descriptions, chooses its
 * backend by the same properties, falls back to the CPU and says so once,
 * and refuses backend=cuda without a GPU by name. contractflow.c tests the
 * streams of elements that compute. */
#include <dlfcn.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>
#include <unistd.h>
#include "busmessages.h"
#include "cuda/camera/recording.h"
#include "cuda/core/device/device.h"

/* plugins, the optional one if it was built; hdf5 needs a file of its own, see
 * check-pbfhdf5 */
static const gchar *const plugins[] = {
  "cudavisionanalytics",
  "cudavisionbundle",
  "cudavisionmeltpool",
  "cudavisionmotion",
  "cudavisionsurface",
};

/* elements that must exist; the other tests cover all registered ones */
static const gchar *const expected[] = {
  "bundleparse",
  "bundletestsrc",
  "bundleview",
  "cudabundleadjust",
  "cudadenoise",
  "cudalwtfilter",
  "cudamotionest",
  "cudapbfmonitor",
  "cudaroicrop",
  "filmgrainenc",
  "motionoverlay",
  "motionvectorenc",
  "pbffilesink",
  "pbffilesrc",
  "pbfoverlay",
  "pbfparse",
  "pbfresultenc",
  "pbftestsrc",
  "pbfudpsink",
  "pbfudpsrc",
  "surfacecolor",
  "surfacedec",
  "surfacesink",
  "surfacesrc",
  "surfacetestsrc",
};

static GPtrArray *elements; /* names */
static gchar *recording;    /* name of a file */

static void
find_elements (void)
{
  elements = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++) {
    GList *features = gst_registry_get_feature_list_by_plugin (
        gst_registry_get (), plugins[i]);

    for (GList *l = features; l != NULL; l = l->next)
      if (GST_IS_ELEMENT_FACTORY (l->data))
        g_ptr_array_add (
            elements, g_strdup (gst_plugin_feature_get_name (l->data)));
    gst_plugin_feature_list_free (features);
  }
}

static void
forget_elements (void)
{
  g_ptr_array_unref (elements);
}

static const gchar *
element_name (guint i)
{
  return g_ptr_array_index (elements, i);
}

static gboolean
has_device (void)
{
  return cvis_device_count (NULL) > 0;
}

GST_START_TEST (test_registers_all)
{
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    GstElement *element = gst_element_factory_make (expected[i], NULL);
    fail_unless (element != NULL, "no element %s", expected[i]);
    gst_object_unref (element);
  }
  fail_unless (elements->len >= G_N_ELEMENTS (expected));
}
GST_END_TEST;

static void
check_properties (GstElement *element)
{
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    const gchar *blurb = g_param_spec_get_blurb (specs[i]);
    fail_unless (blurb != NULL && strlen (blurb) > 3, "%s:%s has no blurb",
        GST_OBJECT_NAME (element), specs[i]->name);
    if (specs[i]->flags & G_PARAM_READABLE) {
      GValue value = G_VALUE_INIT;
      g_value_init (&value, specs[i]->value_type);
      g_object_get_property (G_OBJECT (element), specs[i]->name, &value);
      g_value_unset (&value);
    }
  }
  g_free (specs);
}

GST_START_TEST (test_explains_itself)
{
  static const gchar *const keys[] = { GST_ELEMENT_METADATA_LONGNAME,
    GST_ELEMENT_METADATA_KLASS, GST_ELEMENT_METADATA_DESCRIPTION,
    GST_ELEMENT_METADATA_AUTHOR };

  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = gst_element_factory_make (element_name (i), NULL);
    GstElementFactory *factory;

    fail_unless (element != NULL, "no element %s", element_name (i));
    factory = gst_element_get_factory (element);
    for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
      fail_unless (gst_element_factory_get_metadata (factory, keys[k]) != NULL,
          "%s has no %s", element_name (i), keys[k]);
    fail_unless (gst_element_factory_get_num_pad_templates (factory) > 0);
    check_properties (element);
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* Sets @recording to a recording without frames. */
static void
make_recording (void)
{
  const PbfRecordingHead head = { 64, 64, 25, 1 };
  guint8 bytes[PBF_RECORDING_HEAD];
  gint fd = g_file_open_tmp ("contract-XXXXXX.pbf", &recording, NULL);

  fail_unless (fd >= 0);
  close (fd);
  pbf_recording_write_head (&head, bytes);
  fail_unless (g_file_set_contents (
      recording, (const gchar *) bytes, sizeof bytes, NULL));
}

static void
forget_recording (void)
{
  g_unlink (recording);
  g_clear_pointer (&recording, g_free);
}

/* Sets what an element needs to start: a file name that does not exist and
 * is not written, for sources that of a file, or a free port. */
static void
give_location (GstElement *element)
{
  GParamSpec *port =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), "port");

  if (port != NULL && G_PARAM_SPEC_UINT (port)->minimum == 0)
    g_object_set (element, "port", 0, NULL);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "location"))
    g_object_set (element, "location",
        GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE)
            ? recording
            : "contract.npy",
        NULL);
}

GST_START_TEST (test_states)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = gst_element_factory_make (element_name (i), NULL);

    give_location (element);
    for (guint k = 0; k < 50; k++) {
      fail_unless (gst_element_set_state (element, GST_STATE_PAUSED)
                   != GST_STATE_CHANGE_FAILURE);
      fail_unless_equals_int (gst_element_set_state (element, GST_STATE_NULL),
          GST_STATE_CHANGE_SUCCESS);
    }
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* Elements that compute. */
static GstElement *
make_computing (guint i)
{
  GstElement *element = gst_element_factory_make (element_name (i), NULL);

  if (g_object_class_find_property (
          G_OBJECT_GET_CLASS (element), "active-backend"))
    return element;
  gst_object_unref (element);
  return NULL;
}

/* Elements that choose their backend when they start; others accept
 * memory:CUDAMemory and choose when they know the memory of their frames. */
static GstElement *
make_deciding (guint i)
{
  return strcmp (element_name (i), "cudaroicrop") != 0
                 && strcmp (element_name (i), "cudamotionest") != 0
             ? make_computing (i)
             : NULL;
}

static gchar *
get_enum_nick (GstElement *element, const gchar *property)
{
  GValue value = G_VALUE_INIT;
  gchar *nick;

  g_object_get_property (G_OBJECT (element), property, &value);
  nick = g_strdup (g_enum_get_value (
      g_type_class_peek (G_VALUE_TYPE (&value)), g_value_get_enum (&value))
                       ->value_nick);
  g_value_unset (&value);
  return nick;
}

static void
assert_backend (GstElement *element, const gchar *property, const gchar *nick)
{
  gchar *got = get_enum_nick (element, property);

  fail_unless_equals_string (got, nick);
  g_free (got);
}

GST_START_TEST (test_backend_properties)
{
  guint n = 0;

  for (guint i = 0; i < elements->len; i++) {
    static const gchar *const nicks[] = { "cuda", "cpu", "auto" };
    GstElement *element = make_computing (i);
    GObjectClass *klass;
    GParamSpec *spec;
    gint device_id;

    if (element == NULL)
      continue;
    n++;
    klass = G_OBJECT_GET_CLASS (element);
    assert_backend (element, "backend", "auto");
    assert_backend (element, "active-backend", "auto");
    for (guint k = 0; k < G_N_ELEMENTS (nicks); k++) {
      gst_util_set_object_arg (G_OBJECT (element), "backend", nicks[k]);
      assert_backend (element, "backend", nicks[k]);
    }
    spec = g_object_class_find_property (klass, "backend");
    fail_unless (spec->flags & GST_PARAM_MUTABLE_READY);
    spec = g_object_class_find_property (klass, "active-backend");
    fail_if (spec->flags & G_PARAM_WRITABLE);
    spec = g_object_class_find_property (klass, "cuda-device-id");
    fail_unless (spec->flags & GST_PARAM_MUTABLE_READY);
    fail_unless_equals_int (G_PARAM_SPEC_INT (spec)->minimum, -1);
    g_object_get (element, "cuda-device-id", &device_id, NULL);
    fail_unless_equals_int (device_id, -1);
    gst_object_unref (element);
  }
  fail_unless (n > 0);
}
GST_END_TEST;

static GstBus *
give_bus (GstElement *element)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  return bus;
}

/* Number of "ELEMENT-backend" messages on @bus; each is checked. */
static guint
count_backend_messages (GstBus *bus)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop (bus)) != NULL) {
    const GstStructure *structure = gst_message_get_structure (message);

    if (structure != NULL
        && g_str_has_suffix (gst_structure_get_name (structure), "-backend")) {
      gint device_id = 0;
      n++;
      fail_unless_equals_string (
          gst_structure_get_string (structure, "backend"), "cpu");
      fail_unless (gst_structure_get_int (structure, "device-id", &device_id));
      fail_unless_equals_int (device_id, -1);
      fail_unless (strlen (gst_structure_get_string (structure, "reason")) > 5);
    }
    gst_message_unref (message);
  }
  return n;
}

static void
finish (GstElement *element, GstBus *bus)
{
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_START_TEST (test_auto_falls_back_once)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = make_deciding (i);
    GstBus *bus;

    if (element == NULL)
      continue;
    bus = give_bus (element);
    fail_unless (gst_element_set_state (element, GST_STATE_PAUSED)
                 != GST_STATE_CHANGE_FAILURE);
    fail_unless_equals_int (
        count_backend_messages (bus), has_device () ? 0 : 1);
    assert_backend (element, "active-backend", has_device () ? "cuda" : "cpu");
    gst_element_set_state (element, GST_STATE_READY);
    assert_backend (element, "active-backend", "auto");
    finish (element, bus);
  }
}
GST_END_TEST;

GST_START_TEST (test_cpu_says_nothing)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = make_deciding (i);
    GstBus *bus;

    if (element == NULL)
      continue;
    bus = give_bus (element);
    gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");
    fail_unless (gst_element_set_state (element, GST_STATE_PAUSED)
                 != GST_STATE_CHANGE_FAILURE);
    fail_unless_equals_int (count_backend_messages (bus), 0);
    assert_backend (element, "active-backend", "cpu");
    finish (element, bus);
  }
}
GST_END_TEST;

/* a device number that no machine has, so that it also works with a GPU */
GST_START_TEST (test_cuda_without_device)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = make_computing (i);
    GstMessage *message;
    GstBus *bus;
    GError *error = NULL;
    gchar *debug = NULL;

    if (element == NULL)
      continue;
    bus = give_bus (element);
    gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
    g_object_set (element, "cuda-device-id", 4711, NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_parse_error (message, &error, &debug);
    fail_unless (g_error_matches (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    fail_unless (strstr (error->message, "CUDA") != NULL, "%s", error->message);
    fail_unless (strstr (debug, "4711") != NULL, "%s", debug);
    gst_message_unref (message);
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
    g_error_free (error);
    g_free (debug);
    finish (element, bus);
  }
}
GST_END_TEST;

/* Caps with several frame rates, as videorate offers them, pass each element
 * that answers caps queries; GStreamer warns if an answer is not a subset of
 * the query's filter. */
GST_START_TEST (test_framerates)
{
  static const gchar *const lines[] = {
    "surfacetestsrc num-buffers=9 ! surfacecolor ! %s",
    "surfacetestsrc num-buffers=9 ! surfacecolor ! %s ! videoconvert",
    "videotestsrc num-buffers=9 ! video/x-raw,format=GRAY8 ! surfacecolor ! %s",
    "videotestsrc pattern=black num-buffers=9 ! video/x-raw,format=GRAY8 ! "
    "cudalwtfilter ! %s",
    "surfacetestsrc num-buffers=9 ! cudalwtfilter ! %s",
    "videotestsrc num-buffers=9 ! cudadenoise ! %s",
    "videotestsrc num-buffers=9 ! cudamotionest ! %s",
    "videotestsrc num-buffers=9 ! cudamotionest ! motionoverlay ! %s",
    "videotestsrc num-buffers=9 ! video/x-raw,format=GRAY8 ! cudaroicrop "
    "position-source=property width=64 height=64 ! %s",
    "pbftestsrc num-buffers=9 ! cudapbfmonitor ! %s",
    "pbftestsrc num-buffers=9 ! cudapbfmonitor ! pbfoverlay ! %s",
  };

  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    gchar **parts = g_strsplit (lines[i], "%s", 2);
    gchar *line = g_strconcat (parts[0],
        "videorate ! video/x-raw,framerate=5/1", parts[1], " ! fakesink", NULL);

    bus_expect_first (line, GST_MESSAGE_EOS, NULL);
    g_free (line);
    g_strfreev (parts);
  }
}
GST_END_TEST;

/* Changing a setting that is only read at the start warns; changing one that
 * is always read does not. */
GST_START_TEST (test_late_settings)
{
  static const struct {
    const gchar *line, *name, *value, *live;
  } late[] = {
    { "cudalwtfilter backend=cpu", "wavelet", "haar", NULL },
    { "cudamotionest backend=cpu", "block-size", "8", NULL },
    { "cudapbfmonitor backend=cpu", "batch-size", "7", "max-latency" },
    { "cudaroicrop", "calibration", "1,0,0,0,1,0,0,0,1", "roi-align" },
    { "pbfoverlay", "scale", "3", NULL },
    { "pbfresultenc", "format", "jsonl", NULL },
    { "pbftestsrc is-live=true", "seed", "9", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (late); i++) {
    GstElement *element = gst_parse_launch (late[i].line, NULL);
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (element, bus);
    gst_element_set_state (element, GST_STATE_READY);
    gst_util_set_object_arg (G_OBJECT (element), late[i].name, late[i].value);
    gst_element_set_state (element, GST_STATE_PAUSED);
    if (late[i].live != NULL)
      gst_util_set_object_arg (G_OBJECT (element), late[i].live, "16");
    fail_unless (
        gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL, late[i].line);
    gst_util_set_object_arg (G_OBJECT (element), late[i].name, late[i].value);
    bus_expect (bus, GST_MESSAGE_WARNING, late[i].name);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_bus_set_flushing (bus, TRUE);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* another program can load and close the plugin's file */
static void
load_and_unload (GstPlugin *plugin)
{
  gchar *symbol =
      g_strdup_printf ("gst_plugin_%s_get_desc", gst_plugin_get_name (plugin));

  for (guint i = 0; i < 10; i++) {
    void *module =
        dlopen (gst_plugin_get_filename (plugin), RTLD_NOW | RTLD_LOCAL);
    fail_unless (module != NULL, "%s", dlerror ());
    fail_unless (dlsym (module, symbol) != NULL);
    dlclose (module);
  }
  g_free (symbol);
}

GST_START_TEST (test_load_unload)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++) {
    GstPlugin *plugin =
        gst_registry_find_plugin (gst_registry_get (), plugins[i]);

    if (plugin == NULL)
      continue;
    load_and_unload (plugin);
    gst_object_unref (plugin);
    n++;
  }
  fail_unless (n >= 4);
}
GST_END_TEST;

/* Other values of roi-align are refused when they are set; the old one is kept. */
static void
refuse_roi_align (const gchar *name)
{
  GstElement *element = gst_element_factory_make (name, NULL);
  gchar *line = g_strdup_printf ("%s roi-align=12", name);
  GError *error = NULL;
  gint align;

  for (gint good = 1; good <= 32; good *= 2) {
    g_object_set (element, "roi-align", good, NULL);
    g_object_get (element, "roi-align", &align, NULL);
    fail_unless_equals_int (align, good);
  }
  gst_util_set_object_arg (G_OBJECT (element), "roi-align", "12");
  g_object_get (element, "roi-align", &align, NULL);
  fail_unless_equals_int (align, 32);
  gst_object_unref (element);

  element =
      gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  fail_unless (element == NULL && error != NULL);
  fail_unless_equals_int (error->code, GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY);
  g_error_free (error);
  g_free (line);
}

GST_START_TEST (test_roi_align_is_a_power_of_two)
{
  refuse_roi_align ("cudaroicrop");
  refuse_roi_align ("cudapbfmonitor");
}
GST_END_TEST;

/* --- events in every state, and the order of events and data --------------- */

/* Takes @event; errors of the elements are fine, criticals and warnings of GLib end
 * the test. */
static void
send_to_element (GstElement *element, GstEvent *event)
{
  for (GList *l = element->pads; l != NULL; l = l->next)
    if (GST_PAD_IS_SRC (l->data) ? GST_EVENT_IS_UPSTREAM (event)
                                 : GST_EVENT_IS_DOWNSTREAM (event))
      gst_pad_send_event (l->data, gst_event_ref (event));
  gst_element_send_event (element, event);
}

static void
send_all_events (GstElement *element)
{
  send_to_element (element, gst_event_new_eos ());
  send_to_element (element, gst_event_new_flush_start ());
  send_to_element (element, gst_event_new_flush_stop (TRUE));
  send_to_element (
      element, gst_event_new_seek (1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                   GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0));
  send_to_element (element, gst_event_new_reconfigure ());
  send_to_element (element, gst_event_new_latency (GST_MSECOND));
  send_to_element (element, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
                                gst_structure_new_empty ("contract")));
  send_to_element (element, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
                                gst_structure_new_empty ("contract")));
}

GST_START_TEST (test_events_before_the_start)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = gst_element_factory_make (element_name (i), NULL);

    GST_INFO ("%s", element_name (i));
    give_location (element);
    for (guint round = 0; round < 2; round++) {
      send_all_events (element); /* NULL */
      gst_element_set_state (element, GST_STATE_READY);
      send_all_events (element);
      gst_element_set_state (element, GST_STATE_PAUSED);
      gst_element_set_state (element, GST_STATE_READY);
      send_all_events (element);
      gst_element_set_state (element, GST_STATE_NULL);
    }
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* Before the first buffer of a pad: STREAM_START, CAPS, SEGMENT. */
static GstPadProbeReturn
expect_sticky_events (GstPad *pad, GstPadProbeInfo *info, gpointer name)
{
  static const GstEventType types[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS,
    GST_EVENT_SEGMENT };

  for (guint k = 0; k < G_N_ELEMENTS (types); k++) {
    GstEvent *event = gst_pad_get_sticky_event (pad, types[k], 0);

    fail_unless (event != NULL, "%s:%s pushes data before %s",
        (const gchar *) name, GST_PAD_NAME (pad),
        gst_event_type_get_name (types[k]));
    gst_event_unref (event);
  }
  return GST_PAD_PROBE_OK;
}

/* Each element with a stream that ends at once, without a segment; sources run for
 * a moment. */
GST_START_TEST (test_no_data_before_its_events)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = gst_element_factory_make (element_name (i), NULL);
    GstPad *sink = gst_element_get_static_pad (element, "sink");
    GstPad *src = gst_element_get_static_pad (element, "src");
    GstHarness *h;

    give_location (element);
    if (src != NULL) {
      gst_pad_add_probe (src,
          GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
          expect_sticky_events, (gpointer) element_name (i), NULL);
      h = gst_harness_new_with_element (
          element, sink != NULL ? "sink" : NULL, "src");
      gst_harness_play (h);
      if (sink != NULL) {
        GstCaps *caps = gst_caps_fixate (gst_pad_get_pad_template_caps (sink));

        gst_pad_push_event (h->srcpad, gst_event_new_stream_start ("contract"));
        gst_pad_push_event (h->srcpad, gst_event_new_caps (caps));
        gst_pad_push_event (h->srcpad, gst_event_new_eos ());
        gst_caps_unref (caps);
      }
      g_usleep (50000);
      gst_harness_teardown (h);
    }
    gst_clear_object (&sink);
    gst_clear_object (&src);
    gst_object_unref (element);
  }
}
GST_END_TEST;

static Suite *
contract_suite (void)
{
  Suite *suite = suite_create ("contract");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, find_elements, forget_elements);
  tcase_add_checked_fixture (tc, make_recording, forget_recording);
  tcase_add_test (tc, test_load_unload);
  tcase_add_test (tc, test_roi_align_is_a_power_of_two);
  tcase_add_test (tc, test_registers_all);
  tcase_add_test (tc, test_explains_itself);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_events_before_the_start);
  tcase_add_test (tc, test_no_data_before_its_events);
  tcase_add_test (tc, test_backend_properties);
  tcase_add_test (tc, test_auto_falls_back_once);
  tcase_add_test (tc, test_cpu_says_nothing);
  tcase_add_test (tc, test_cuda_without_device);
  tcase_add_test (tc, test_framerates);
  tcase_add_test (tc, test_late_settings);
  return suite;
}

GST_CHECK_MAIN (contract);
