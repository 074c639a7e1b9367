/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, several devices: the list that the user gives, the policy by which they
 * get frames, the loss of one, and their statistics. */
#include "gstcvisfilter-private.h"

#define GST_CAT_DEFAULT gst_cvis_filter_debug

/* --- properties -------------------------------------------------------------- */

void
gst_cvis_filter_class_install_devices (GstCvisFilterClass *klass)
{
  static const GEnumValue values[] = {
    { CVIS_BALANCE_QUEUE, "A device takes the next frame when it has room",
        "queue" },
    { CVIS_BALANCE_EQUAL, "Each device gets as many frames", "equal" },
    { CVIS_BALANCE_FUZZY, "By abilities that a fuzzy neural network estimates",
        "fuzzy" },
    { 0, NULL, NULL },
  };
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  g_object_class_install_property (object_class, GST_CVIS_FILTER_PROP_DEVICES,
      g_param_spec_string ("cuda-device-ids", "CUDA devices",
          "GPUs that share the frames: numbers such as 0,1,3, or all; empty: "
          "the one of cuda-device-id",
          "",
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class,
      GST_CVIS_FILTER_PROP_DEVICES + 1,
      g_param_spec_enum ("balance", "Balance",
          "Policy by which several GPUs share the frames",
          gst_cvis_enum_type ("GstCvisBalance", values), CVIS_BALANCE_QUEUE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_READY));
}

gboolean
gst_cvis_filter_set_device_property (
    GstCvisFilter *filter, const GValue *value, GParamSpec *pspec)
{
  const gchar *name = g_intern_string (pspec->name);
  gboolean ours = TRUE;

  GST_OBJECT_LOCK (filter);
  if (name == g_intern_static_string ("cuda-device-ids")) {
    g_free (filter->priv->device_ids);
    filter->priv->device_ids = g_value_dup_string (value);
  } else if (name == g_intern_static_string ("balance")) {
    filter->priv->balance = (CvisBalance) g_value_get_enum (value);
  } else {
    ours = FALSE;
  }
  GST_OBJECT_UNLOCK (filter);
  return ours;
}

gboolean
gst_cvis_filter_get_device_property (
    GstCvisFilter *filter, GValue *value, GParamSpec *pspec)
{
  const gchar *name = g_intern_string (pspec->name);
  gboolean ours = TRUE;

  GST_OBJECT_LOCK (filter);
  if (name == g_intern_static_string ("cuda-device-ids"))
    g_value_set_string (value,
        filter->priv->device_ids != NULL ? filter->priv->device_ids : "");
  else if (name == g_intern_static_string ("balance"))
    g_value_set_enum (value, filter->priv->balance);
  else
    ours = FALSE;
  GST_OBJECT_UNLOCK (filter);
  return ours;
}

/* --- start and stop ------------------------------------------------------------ */

/* After frames of another context, or none */
static gboolean
use_first_device (GstCvisFilter *filter)
{
  CvisContext *context = filter->devices->devices[0].context;

  if (filter->context == NULL && context != NULL)
    filter->context = cvis_context_ref (context);
  return TRUE;
}

static gboolean
adopt_devices (GstCvisFilter *filter, const gchar *ids)
{
  GError *error = NULL;
  CvisDevices *devices = cvis_devices_new (ids, -1, &error);
  CvisContext *context;

  if (devices == NULL) {
    GST_ELEMENT_ERROR (filter, RESOURCE, NOT_FOUND,
        ("Cannot use cuda-device-ids=%s: %s. Set it to GPUs of this machine, "
         "such as 0,1, or to all.",
            ids, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  context = devices->devices[0].context;
  filter->context = context != NULL ? cvis_context_ref (context) : NULL;
  GST_OBJECT_LOCK (filter);
  filter->backend.active =
      context != NULL ? CVIS_BACKEND_CUDA : CVIS_BACKEND_CPU;
  GST_OBJECT_UNLOCK (filter);
  GST_INFO_OBJECT (filter, "computing on %u devices: %s", devices->n, ids);
  if (devices->n > 1)
    filter->devices = devices;
  else
    cvis_devices_free (devices);
  return TRUE;
}

gboolean
gst_cvis_filter_start_devices (GstCvisFilter *filter)
{
  CvisBackend wanted;
  gboolean ok = TRUE;
  gchar *ids;

  if (filter->devices != NULL)
    return use_first_device (filter);
  GST_OBJECT_LOCK (filter);
  ids = g_strdup (filter->priv->device_ids);
  wanted = filter->backend.wanted;
  GST_OBJECT_UNLOCK (filter);
  /* without any device the choice of one says why */
  if (ids != NULL && *ids != '\0' && wanted != CVIS_BACKEND_CPU
      && (cvis_devices_posed () || cvis_device_count (NULL) > 0))
    ok = adopt_devices (filter, ids);
  g_free (ids);
  return ok;
}

gint
gst_cvis_filter_get_device_id (GstCvisFilter *filter)
{
  gint device_id;
  gint64 only;

  GST_OBJECT_LOCK (filter);
  device_id = filter->backend.device_id;
  if (filter->priv->device_ids != NULL
      && g_ascii_string_to_signed (
          filter->priv->device_ids, 10, 0, G_MAXINT, &only, NULL))
    device_id = (gint) only;
  GST_OBJECT_UNLOCK (filter);
  return device_id;
}

void
gst_cvis_filter_stop_devices (GstCvisFilter *filter)
{
  g_clear_pointer (&filter->devices, cvis_devices_free);
  filter->priv->lost_devices = 0;
}

/* --- fleets ---------------------------------------------------------------------- */

/* Warns once of each device. */
static void
warn_of_loss (const CvisDevice *device, const GError *error, gboolean left,
    gpointer user_data)
{
  GstCvisFilter *filter = user_data;
  const guint64 bit = G_GUINT64_CONSTANT (1)
                      << (device - filter->devices->devices);

  if (!left || (filter->priv->lost_devices & bit) != 0)
    return; /* if none is left, an error follows */
  filter->priv->lost_devices |= bit;
  GST_ELEMENT_WARNING (filter, RESOURCE, FAILED,
      ("CUDA %s. The other devices, or the CPU, compute its %s; none is lost.",
          error->message, GST_CVIS_FILTER_GET_CLASS (filter)->words.many),
      ("cuda-device-ids lists the devices in use"));
}

/* Makes the first of the devices that are left the one of the context. */
static void
adopt_rest (GstCvisFilter *filter)
{
  CvisDevices *devices = filter->devices;
  CvisContext *context = devices->n > 0 ? devices->devices[0].context : NULL;

  g_clear_pointer (&filter->context, cvis_context_unref);
  if (context != NULL) {
    filter->context = cvis_context_ref (context);
    return;
  }
  GST_OBJECT_LOCK (filter);
  filter->backend.active = CVIS_BACKEND_CPU;
  GST_OBJECT_UNLOCK (filter);
  if (devices->n == 0)
    g_clear_pointer (&filter->devices, cvis_devices_free);
}

const CvisDevices *
gst_cvis_filter_get_devices (GstCvisFilter *filter)
{
  if (filter->devices != NULL && filter->priv->lost_devices != 0) {
    cvis_devices_remove (filter->devices, filter->priv->lost_devices);
    filter->priv->lost_devices = 0;
    adopt_rest (filter);
  }
  return filter->devices;
}

CvisFleetOwner
gst_cvis_filter_get_fleet_owner (GstCvisFilter *filter)
{
  CvisFleetOwner owner = { .lose = warn_of_loss, .user_data = filter };

  GST_OBJECT_LOCK (filter);
  owner.balance = filter->priv->balance;
  owner.fall_back = filter->backend.wanted == CVIS_BACKEND_AUTO;
  GST_OBJECT_UNLOCK (filter);
  return owner;
}

void
gst_cvis_filter_set_fleet (GstCvisFilter *filter, CvisFleet *fleet)
{
  g_mutex_lock (&filter->stats_lock);
  filter->priv->fleet = fleet;
  g_mutex_unlock (&filter->stats_lock);
}

void
gst_cvis_filter_add_device_stats (GstCvisFilter *filter, GstStructure *stats)
{
  CvisFleetStats devices[CVIS_FLEET_MAX_DEVICES + 1];
  GValue list = G_VALUE_INIT;
  guint n;

  if (filter->priv->fleet == NULL)
    return;
  n = cvis_fleet_get_stats (filter->priv->fleet, devices);
  g_value_init (&list, GST_TYPE_ARRAY);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value,
        gst_structure_new ("device", "name", G_TYPE_STRING, devices[i].name,
            "share", G_TYPE_DOUBLE, devices[i].share, "busy", G_TYPE_DOUBLE,
            devices[i].busy, "chunks", G_TYPE_UINT64, devices[i].chunks,
            "frames", G_TYPE_UINT64, devices[i].jobs, "estimate", G_TYPE_DOUBLE,
            devices[i].estimate, "lost", G_TYPE_BOOLEAN, devices[i].lost,
            NULL));
    gst_value_array_append_and_take_value (&list, &value);
  }
  gst_structure_take_value (stats, "devices", &list);
}
