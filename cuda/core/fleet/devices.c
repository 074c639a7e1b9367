/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/fleet/devices.h"

#include <string.h>

/* --- lists of numbers --------------------------------------------------------- */

/* Returns: FALSE if @word is no number from 0 to 999999 without sign */
static gboolean
parse_id (const gchar *word, gint *id)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (word, 10, 0, 999999, &value, NULL))
    return FALSE;
  *id = (gint) value;
  return TRUE;
}

static gboolean
check_id (gint id, const gint *ids, guint n, guint count, GError **error)
{
  if ((guint) id >= count) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
        "no CUDA device %d: this machine has %u, counted from 0", id, count);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (ids[i] == id)
      return cvis_refuse (error, "device %d is twice in the list", id);
  return n < CVIS_FLEET_MAX_DEVICES
         || cvis_refuse (error, "device %d is one more than the maximum of %d",
             id, CVIS_FLEET_MAX_DEVICES);
}

guint
cvis_devices_parse (const gchar *text, guint count, gint *ids, GError **error)
{
  gchar **words;
  guint n = 0;

  if (strcmp (text, "all") == 0) {
    for (n = 0; n < MIN (count, CVIS_FLEET_MAX_DEVICES); n++)
      ids[n] = (gint) n;
    return n;
  }
  words = g_strsplit (text, ",", -1);
  for (guint i = 0; words[i] != NULL; i++) {
    gint id;

    if (!parse_id (g_strstrip (words[i]), &id)) {
      cvis_refuse (error,
          "\"%s\" is no number of a device: give \"all\" or numbers with "
          "commas "
          "between them, such as \"0,1\"",
          words[i]);
      n = 0;
      break;
    }
    if (!check_id (id, ids, n, count, error)) {
      n = 0;
      break;
    }
    ids[n++] = id;
  }
  g_strfreev (words);
  return n;
}

/* --- posed devices --------------------------------------------------------------- */

#ifdef CVIS_TEST_HOOKS
/* Sets the number of posed devices, 0 for none, and their slowness. */
static gboolean
parse_posed (guint *slowness, guint *n, GError **error)
{
  const gchar *text = g_getenv ("CUDAVISION_POSED_DEVICES");
  gchar **words = g_strsplit (text ? text : "", ":", -1);
  gboolean ok = TRUE;
  gint value = 0;

  *n = 0;
  for (guint i = 0; ok && words[i] != NULL; i++) {
    ok = parse_id (words[i], &value) && value >= 1 && value <= 1000
         && i < CVIS_FLEET_MAX_DEVICES;
    if (ok)
      slowness[(*n)++] = (guint) value;
  }
  if (ok && *n == 1) {
    ok = value <= CVIS_FLEET_MAX_DEVICES;
    *n = (guint) value;
    for (guint i = 0; ok && i < *n; i++)
      slowness[i] = 1;
  }
  g_strfreev (words);
  return ok
         || cvis_refuse (error,
             "CUDAVISION_POSED_DEVICES=%s: must be a number of devices or "
             "their relative times, such as 3:1:1",
             text);
}

/* The number of the job with which device @id is lost; 0: never. */
static guint
find_failing_job (gint id)
{
  const gchar *text = g_getenv ("CUDAVISION_FAULTS");
  gchar **words = g_strsplit (text ? text : "", ",", -1);
  guint fail_at = 0;

  for (guint i = 0; words[i] != NULL; i++) {
    gchar *job = strchr (words[i], ':');
    gint device, number;

    if (job == NULL)
      continue;
    *job++ = '\0';
    if (parse_id (words[i], &device) && parse_id (job, &number) && device == id)
      fail_at = (guint) number;
  }
  g_strfreev (words);
  return fail_at;
}
#endif

gboolean
cvis_devices_posed (void)
{
#ifdef CVIS_TEST_HOOKS
  return g_getenv ("CUDAVISION_POSED_DEVICES") != NULL
         && *g_getenv ("CUDAVISION_POSED_DEVICES") != '\0';
#else
  return FALSE;
#endif
}

/* --- devices ------------------------------------------------------------------- */

static CvisContext *
open_device (gint id, GError **error)
{
  CvisContext *context = cvis_context_new (id, error);

  if (context == NULL || cvis_context_check_code (context, error))
    return context;
  g_prefix_error (error, "device %d: ", cvis_context_get_device_id (context));
  cvis_context_unref (context);
  return NULL;
}

/* Appends a device, with a context unless it is posed. */
static gboolean
add_device (
    CvisDevices *devices, gint id, const guint *slowness, GError **error)
{
  CvisDevice *device = &devices->devices[devices->n];

  if (slowness == NULL) {
    device->context = open_device (id, error);
    if (device->context == NULL)
      return FALSE;
    id = cvis_context_get_device_id (device->context);
  }
  device->id = id;
  g_snprintf (device->name, sizeof device->name, "device %d", id);
#ifdef CVIS_TEST_HOOKS
  device->slowness = slowness ? slowness[id] : 1;
  device->fail_at = find_failing_job (id);
#endif
  devices->n++;
  return TRUE;
}

CvisDevices *
cvis_devices_new (const gchar *text, gint device_id, GError **error)
{
  CvisDevices *devices;
  gint ids[CVIS_FLEET_MAX_DEVICES];
  guint n = 1, count = 0;
  const guint *posed = NULL;
#ifdef CVIS_TEST_HOOKS
  guint slowness[CVIS_FLEET_MAX_DEVICES];

  if (!parse_posed (slowness, &count, error))
    return NULL;
  if (count > 0)
    posed = slowness;
#endif
  ids[0] = posed ? MAX (device_id, 0) : device_id;
  if (posed == NULL && (count = (guint) cvis_device_count (error)) == 0)
    return NULL;
  if (text != NULL && *text != '\0')
    n = cvis_devices_parse (text, count, ids, error);
  else if (ids[0] >= 0 && !check_id (ids[0], ids, 0, count, error))
    n = 0;
  if (n == 0)
    return NULL;

  devices = g_new0 (CvisDevices, 1);
  for (guint i = 0; i < n; i++)
    if (!add_device (devices, ids[i], posed, error)) {
      cvis_devices_free (devices);
      return NULL;
    }
  return devices;
}

void
cvis_devices_remove (CvisDevices *devices, guint64 which)
{
  guint kept = 0;

  for (guint i = 0; i < devices->n; i++) {
    const CvisDevice *device = &devices->devices[i];

    if ((which >> i & 1) == 0)
      devices->devices[kept++] = *device;
    else if (device->context != NULL)
      cvis_context_unref (device->context);
  }
  devices->n = kept;
}

void
cvis_devices_free (CvisDevices *devices)
{
  if (devices == NULL)
    return;
  for (guint i = 0; i < devices->n; i++)
    if (devices->devices[i].context != NULL)
      cvis_context_unref (devices->devices[i].context);
  g_free (devices);
}

CvisFleetDevice
cvis_device_with_engine (const CvisDevice *device, gpointer engine)
{
  return (CvisFleetDevice){
    .engine = engine,
    .name = device->name,
#ifdef CVIS_TEST_HOOKS
    .slowness = device->slowness,
    .fail_at = device->fail_at,
#endif
  };
}

/* --- fleets -------------------------------------------------------------------- */

/* The user data of a fleet over devices */
typedef struct {
  const CvisDevices *devices;
  CvisFleetOwner owner;
  CvisFleetConfig config; /* as given */
  CvisMakeEngine make;
  guint lost;
} Over;

static gpointer
replace_last (gpointer user_data, GError **error)
{
  Over *over = user_data;

  return over->make (NULL, over->config.user_data, error);
}

static void
report_loss (guint device, const GError *error, gpointer user_data)
{
  Over *over = user_data;

  over->lost++;
  if (over->owner.lose != NULL && device < over->devices->n)
    over->owner.lose (&over->devices->devices[device], error,
        over->lost < over->devices->n || over->owner.fall_back,
        over->owner.user_data);
}

static void
finish_job (gpointer job, gpointer user_data)
{
  Over *over = user_data;

  over->config.finish (job, over->config.user_data);
}

static void
release_job (gpointer job, gpointer user_data)
{
  Over *over = user_data;

  over->config.release (job, over->config.user_data);
}

/* Describes the devices to the balancer. Returns: FALSE for posed devices, which have no
 * traits */
static gboolean
get_traits (const CvisDevices *devices, CvisDeviceTraits *traits)
{
  for (guint i = 0; i < devices->n; i++)
    if (devices->devices[i].context == NULL
        || !cvis_device_traits (devices->devices[i].id, &traits[i]))
      return FALSE;
  return TRUE;
}

static gdouble
get_memory_used (guint device, gpointer user_data)
{
  const Over *over = user_data;
  CvisDeviceUse use;

  if (!cvis_device_use (over->devices->devices[device].id, &use, NULL))
    return 0.0;
  return 1.0 - (gdouble) use.free / (gdouble) use.total;
}

/* Returns: how many were made; less than all with @error */
static guint
make_engines (Over *over, CvisFleetDevice *members, GError **error)
{
  for (guint i = 0; i < over->devices->n; i++) {
    const CvisDevice *device = &over->devices->devices[i];
    gpointer engine =
        over->make (device->context, over->config.user_data, error);

    if (engine == NULL) {
      g_prefix_error (error, "%s: ", device->name);
      return i;
    }
    members[i] = cvis_device_with_engine (device, engine);
  }
  return over->devices->n;
}

CvisFleet *
cvis_devices_make_fleet (const CvisDevices *devices,
    const CvisFleetOwner *owner, const CvisFleetConfig *config,
    CvisMakeEngine make, GError **error)
{
  CvisFleetDevice members[CVIS_FLEET_MAX_DEVICES];
  CvisDeviceTraits traits[CVIS_FLEET_MAX_DEVICES];
  CvisFleetConfig whole = *config;
  Over *over = g_new0 (Over, 1);
  guint n;

  *over = (Over){ devices, *owner, *config, make, 0 };
  n = make_engines (over, members, error);
  if (n < devices->n) {
    while (n > 0)
      config->ops->free (members[--n].engine);
    g_free (over);
    return NULL;
  }
  whole.balance = owner->balance;
  if (get_traits (devices, traits)) {
    whole.traits = traits;
    if (owner->balance == CVIS_BALANCE_FUZZY)
      whole.get_memory_used = get_memory_used;
  }
  whole.replace = owner->fall_back ? replace_last : NULL;
  whole.lose = report_loss;
  whole.finish = config->finish != NULL ? finish_job : NULL;
  whole.release = config->release != NULL ? release_job : NULL;
  whole.user_data = over;
  whole.free_user_data = g_free;
  return cvis_fleet_new (&whole, members, n);
}
