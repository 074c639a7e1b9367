/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvissettings.h"

GType
gst_cvis_enum_type (const gchar *name, const GEnumValue *values)
{
  GType type = g_type_from_name (name);

  if (type == 0)
    type = g_enum_register_static (name, values);
  gst_type_mark_as_plugin_api (type, 0);
  return type;
}

static GType
flags_type (const gchar *name, const GFlagsValue *values)
{
  GType type = g_type_from_name (name);

  if (type == 0)
    type = g_flags_register_static (name, values);
  gst_type_mark_as_plugin_api (type, 0);
  return type;
}

static GParamSpec *
make_spec (const GstCvisSetting *s, gconstpointer defaults, GParamFlags flags)
{
  gconstpointer value = (const guint8 *) defaults + s->offset;

  switch (s->kind) {
    case GST_CVIS_SETTING_ENUM:
      return g_param_spec_enum (s->name, s->name, s->blurb,
          gst_cvis_enum_type (s->type_name, s->values), *(const gint *) value,
          flags);
    case GST_CVIS_SETTING_FLAGS:
      return g_param_spec_flags (s->name, s->name, s->blurb,
          flags_type (s->type_name, s->flags), *(const guint *) value, flags);
    case GST_CVIS_SETTING_UINT:
      return g_param_spec_uint (s->name, s->name, s->blurb, (guint) s->min,
          (guint) s->max, *(const guint *) value, flags);
    case GST_CVIS_SETTING_INT:
      return g_param_spec_int (s->name, s->name, s->blurb, (gint) s->min,
          (gint) s->max, *(const gint *) value, flags);
    case GST_CVIS_SETTING_BOOLEAN:
      return g_param_spec_boolean (
          s->name, s->name, s->blurb, *(const gboolean *) value, flags);
    case GST_CVIS_SETTING_DOUBLE:
      return g_param_spec_double (s->name, s->name, s->blurb, s->min, s->max,
          *(const gdouble *) value, flags);
    case GST_CVIS_SETTING_STRING:
      return g_param_spec_string (
          s->name, s->name, s->blurb, *(gchar *const *) value, flags);
    default:
      return g_param_spec_uint64 (s->name, s->name, s->blurb, 0,
          s->max > 0 ? (guint64) s->max : G_MAXUINT64, *(const guint64 *) value,
          flags);
  }
}

void
gst_cvis_settings_install (GObjectClass *klass, guint first_id,
    const GstCvisSetting *table, guint n, gconstpointer defaults)
{
  for (guint i = 0; i < n; i++) {
    const GstCvisSetting *s = &table[i];
    GParamFlags flags =
        G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
        | (s->live ? GST_PARAM_MUTABLE_PLAYING : GST_PARAM_MUTABLE_READY)
        | (s->live == GST_CVIS_CONTROLLABLE ? GST_PARAM_CONTROLLABLE : 0);

    g_object_class_install_property (
        klass, first_id + i, make_spec (s, defaults, flags));
  }
}

static void
set_string (gchar **at, const GValue *value)
{
  g_free (*at);
  *at = g_value_dup_string (value);
  if (*at == NULL)
    *at = g_strdup ("");
}

void
gst_cvis_setting_set (
    const GstCvisSetting *s, gpointer values, const GValue *value)
{
  gpointer at = (guint8 *) values + s->offset;

  switch (s->kind) {
    case GST_CVIS_SETTING_ENUM:
      *(gint *) at = g_value_get_enum (value);
      break;
    case GST_CVIS_SETTING_FLAGS:
      *(guint *) at = g_value_get_flags (value);
      break;
    case GST_CVIS_SETTING_UINT:
      *(guint *) at = g_value_get_uint (value);
      break;
    case GST_CVIS_SETTING_INT:
      *(gint *) at = g_value_get_int (value);
      break;
    case GST_CVIS_SETTING_BOOLEAN:
      *(gboolean *) at = g_value_get_boolean (value);
      break;
    case GST_CVIS_SETTING_DOUBLE:
      *(gdouble *) at = g_value_get_double (value);
      break;
    case GST_CVIS_SETTING_TIME:
      *(guint64 *) at = g_value_get_uint64 (value);
      break;
    case GST_CVIS_SETTING_STRING:
      set_string (at, value);
      break;
  }
}

void
gst_cvis_setting_get (
    const GstCvisSetting *s, gconstpointer values, GValue *value)
{
  gconstpointer at = (const guint8 *) values + s->offset;

  switch (s->kind) {
    case GST_CVIS_SETTING_ENUM:
      g_value_set_enum (value, *(const gint *) at);
      break;
    case GST_CVIS_SETTING_FLAGS:
      g_value_set_flags (value, *(const guint *) at);
      break;
    case GST_CVIS_SETTING_UINT:
      g_value_set_uint (value, *(const guint *) at);
      break;
    case GST_CVIS_SETTING_INT:
      g_value_set_int (value, *(const gint *) at);
      break;
    case GST_CVIS_SETTING_BOOLEAN:
      g_value_set_boolean (value, *(const gboolean *) at);
      break;
    case GST_CVIS_SETTING_DOUBLE:
      g_value_set_double (value, *(const gdouble *) at);
      break;
    case GST_CVIS_SETTING_TIME:
      g_value_set_uint64 (value, *(const guint64 *) at);
      break;
    case GST_CVIS_SETTING_STRING:
      g_value_set_string (value, *(gchar *const *) at);
      break;
  }
}

void
gst_cvis_warn_if_late (GObject *object, const GParamSpec *pspec)
{
  GstState state;

  GST_OBJECT_LOCK (object);
  state = GST_STATE (object);
  GST_OBJECT_UNLOCK (object);
  if ((pspec->flags & GST_PARAM_MUTABLE_READY) == 0 || state <= GST_STATE_READY)
    return;
  GST_ELEMENT_WARNING (object, RESOURCE, SETTINGS,
      ("Property %s has no effect until the element starts again: it was set "
       "in state %s. Set it in state NULL or READY.",
          pspec->name, gst_element_state_get_name (state)),
      (NULL));
}

/* --- settings of a class --------------------------------------------------- */

typedef struct {
  const GstCvisSetting *table;
  guint first_id, n;
  gsize offset;
  void (*parent_finalize) (GObject *object);
} Bound;

static GQuark
bound_quark (void)
{
  return g_quark_from_static_string ("gst-cv-settings");
}

static const Bound *
get_bound (gpointer object)
{
  return g_type_get_qdata (G_OBJECT_TYPE (object), bound_quark ());
}

static gpointer
get_values (const Bound *bound, gpointer object)
{
  return (guint8 *) object + bound->offset;
}

void
gst_cvis_settings_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  const Bound *bound = get_bound (object);

  gst_cvis_warn_if_late (object, pspec);
  GST_OBJECT_LOCK (object);
  gst_cvis_setting_set (
      &bound->table[id - bound->first_id], get_values (bound, object), value);
  GST_OBJECT_UNLOCK (object);
}

void
gst_cvis_settings_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  const Bound *bound = get_bound (object);

  GST_OBJECT_LOCK (object);
  gst_cvis_setting_get (
      &bound->table[id - bound->first_id], get_values (bound, object), value);
  GST_OBJECT_UNLOCK (object);
}

const gchar *
gst_cvis_settings_get_string (gpointer object, gchar *const *setting)
{
  const gchar *string;

  GST_OBJECT_LOCK (object);
  string = g_intern_string (*setting);
  GST_OBJECT_UNLOCK (object);
  return string;
}

static void
finalize_bound (GObject *object)
{
  const Bound *bound = get_bound (object);

  for (guint i = 0; i < bound->n; i++) {
    const GstCvisSetting *setting = &bound->table[i];

    if (setting->kind == GST_CVIS_SETTING_STRING)
      g_free (*(
          gchar **) ((guint8 *) get_values (bound, object) + setting->offset));
  }
  bound->parent_finalize (object);
}

void
gst_cvis_settings_bind (GObjectClass *klass, guint first_id,
    const GstCvisSetting *table, guint n, gsize offset, gconstpointer defaults)
{
  Bound *bound = g_new (Bound, 1); /* lives as long as the class */

  *bound = (Bound){ table, first_id, n, offset, klass->finalize };
  g_type_set_qdata (G_OBJECT_CLASS_TYPE (klass), bound_quark (), bound);
  klass->set_property = gst_cvis_settings_set_property;
  klass->get_property = gst_cvis_settings_get_property;
  klass->finalize = finalize_bound;
  gst_cvis_settings_install (klass, first_id, table, n, defaults);
}

void
gst_cvis_settings_init (gpointer object)
{
  const Bound *bound = get_bound (object);

  for (guint i = 0; i < bound->n; i++) {
    const GstCvisSetting *setting = &bound->table[i];
    GValue value = G_VALUE_INIT;
    GParamSpec *pspec = g_object_class_find_property (
        G_OBJECT_GET_CLASS (object), setting->name);

    g_value_init (&value, pspec->value_type);
    g_param_value_set_default (pspec, &value);
    gst_cvis_setting_set (setting, get_values (bound, object), &value);
    g_value_unset (&value);
  }
}
