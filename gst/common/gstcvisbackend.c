/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisbackend.h"
#include "gstcvismessage.h"
#include "gstcvissettings.h"

GST_DEBUG_CATEGORY_STATIC (gst_cvis_backend_debug);
#define GST_CAT_DEFAULT gst_cvis_backend_debug

static gpointer
register_backend_type (gpointer unused)
{
  static const GEnumValue values[] = {
    { CVIS_BACKEND_AUTO, "CUDA if there is a usable device, else the CPU",
        "auto" },
    { CVIS_BACKEND_CPU, "The CPU", "cpu" },
    { CVIS_BACKEND_CUDA, "CUDA; an error if no device is usable", "cuda" },
    { 0, NULL, NULL },
  };

  GST_DEBUG_CATEGORY_INIT (
      gst_cvis_backend_debug, "cvisbackend", 0, "choice between CPU and CUDA");
  return GSIZE_TO_POINTER (gst_cvis_enum_type ("GstCvisBackend", values));
}

GType
gst_cvis_backend_get_type (void)
{
  static GOnce once = G_ONCE_INIT;

  return GPOINTER_TO_SIZE (g_once (&once, register_backend_type, NULL));
}

void
gst_cvis_backend_init (GstCvisBackend *backend)
{
  backend->wanted = CVIS_BACKEND_AUTO;
  backend->device_id = -1;
  backend->active = CVIS_BACKEND_AUTO;
}

void
gst_cvis_backend_install_properties (GObjectClass *klass, guint first_id)
{
  g_object_class_install_property (klass, first_id,
      g_param_spec_enum ("backend", "Backend", "Backend that computes",
          GST_TYPE_CVIS_BACKEND, CVIS_BACKEND_AUTO,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (klass, first_id + 1,
      g_param_spec_enum ("active-backend", "Active backend",
          "Backend in use; auto until it is chosen (READY to PAUSED)",
          GST_TYPE_CVIS_BACKEND, CVIS_BACKEND_AUTO,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, first_id + 2,
      g_param_spec_int ("cuda-device-id", "CUDA device",
          "Number of the GPU, -1 for any", -1, G_MAXINT, -1,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));
}

gboolean
gst_cvis_backend_set_property (GstCvisBackend *backend, GObject *object,
    const GValue *value, GParamSpec *pspec)
{
  const gchar *name = g_intern_string (pspec->name);
  gboolean ours = TRUE;

  GST_OBJECT_LOCK (object);
  if (name == g_intern_static_string ("backend"))
    backend->wanted = (CvisBackend) g_value_get_enum (value);
  else if (name == g_intern_static_string ("cuda-device-id"))
    backend->device_id = g_value_get_int (value);
  else
    ours = FALSE;
  GST_OBJECT_UNLOCK (object);
  return ours;
}

gboolean
gst_cvis_backend_get_property (
    GstCvisBackend *backend, GObject *object, GValue *value, GParamSpec *pspec)
{
  const gchar *name = g_intern_string (pspec->name);
  gboolean ours = TRUE;

  GST_OBJECT_LOCK (object);
  if (name == g_intern_static_string ("backend"))
    g_value_set_enum (value, backend->wanted);
  else if (name == g_intern_static_string ("active-backend"))
    g_value_set_enum (value, backend->active);
  else if (name == g_intern_static_string ("cuda-device-id"))
    g_value_set_int (value, backend->device_id);
  else
    ours = FALSE;
  GST_OBJECT_UNLOCK (object);
  return ours;
}

/* Says why "auto" computes on the CPU. */
static void
announce_fallback (GstElement *element, const gchar *why_not)
{
  GstStructure *s = gst_cvis_message_structure (element, "backend");

  GST_INFO_OBJECT (element, "computing on the CPU: %s", why_not);
  gst_structure_set (s, "backend", G_TYPE_STRING, "cpu", "device-id",
      G_TYPE_INT, -1, "reason", G_TYPE_STRING, why_not, NULL);
  gst_element_post_message (
      element, gst_message_new_element (GST_OBJECT (element), s));
}

gboolean
gst_cvis_backend_start_cpu (
    GstCvisBackend *backend, GstElement *element, const gchar *why_not)
{
  CvisBackend wanted;

  GST_OBJECT_LOCK (element);
  wanted = backend->wanted;
  if (wanted != CVIS_BACKEND_CUDA)
    backend->active = CVIS_BACKEND_CPU;
  GST_OBJECT_UNLOCK (element);
  if (wanted == CVIS_BACKEND_CUDA) {
    GST_ELEMENT_ERROR (element, LIBRARY, SETTINGS,
        ("Invalid settings: backend=cuda, but %s. Use backend=auto or "
         "backend=cpu.",
            why_not),
        (NULL));
    return FALSE;
  }
  if (wanted == CVIS_BACKEND_AUTO)
    announce_fallback (element, why_not);
  return TRUE;
}

gboolean
gst_cvis_backend_start (
    GstCvisBackend *backend, GstElement *element, CvisContext **context)
{
  CvisBackend wanted, active;
  gint device_id;
  gchar *why_not = NULL;
  GError *error = NULL;

  gst_cvis_backend_get_type ();
  GST_OBJECT_LOCK (element);
  wanted = backend->wanted;
  device_id = backend->device_id;
  GST_OBJECT_UNLOCK (element);

  if (!cvis_backend_choose (
          wanted, device_id, &active, context, &why_not, &error)) {
    GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND,
        ("No CUDA device for backend=cuda: %s. Use backend=auto or backend=cpu "
         "to run without a GPU.",
            error->message),
        ("cuda-device-id=%d", device_id));
    g_error_free (error);
    return FALSE;
  }
  GST_OBJECT_LOCK (element);
  backend->active = active;
  GST_OBJECT_UNLOCK (element);

  if (why_not != NULL) {
    announce_fallback (element, why_not);
    g_free (why_not);
  } else if (active == CVIS_BACKEND_CUDA) {
    CvisDeviceInfo info = { "" };
    cvis_device_info (cvis_context_get_device_id (*context), &info, NULL);
    GST_INFO_OBJECT (element, "computing on CUDA device %d, %s",
        cvis_context_get_device_id (*context), info.name);
  } else
    GST_INFO_OBJECT (element, "computing on the CPU, as backend=cpu asks");
  return TRUE;
}

void
gst_cvis_backend_stop (GstCvisBackend *backend, GstElement *element)
{
  GST_OBJECT_LOCK (element);
  backend->active = CVIS_BACKEND_AUTO;
  GST_OBJECT_UNLOCK (element);
}
