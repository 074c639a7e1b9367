/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Properties that are fields of a struct, described by a table. The element locks
 * around set and get. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum {
  GST_CVIS_SETTING_ENUM,    /* gint */
  GST_CVIS_SETTING_FLAGS,   /* guint */
  GST_CVIS_SETTING_UINT,    /* guint */
  GST_CVIS_SETTING_INT,     /* gint */
  GST_CVIS_SETTING_BOOLEAN, /* gboolean */
  GST_CVIS_SETTING_DOUBLE,  /* gdouble */
  GST_CVIS_SETTING_TIME,    /* guint64: nanoseconds, or a large number */
  GST_CVIS_SETTING_STRING,  /* gchar *, owned by the struct */
} GstCvisSettingKind;

#define GST_CVIS_CONTROLLABLE 2

/**
 * GstCvisSetting:
 * @offset: in the struct
 * @live: %TRUE: may be changed at any time, else in NULL and READY only;
 *   %GST_CVIS_CONTROLLABLE: also by a GstControlSource
 * @min, @max: limits of numbers; times begin at 0, and are unlimited if @max is 0
 * @type_name, @values: of an enumeration, which is registered with that name
 * @type_name, @flags: of flags
 */
typedef struct {
  const gchar *name, *blurb;
  GstCvisSettingKind kind;
  gsize offset;
  gint live;
  gdouble min, max;
  const gchar *type_name;
  const GEnumValue *values;
  const GFlagsValue *flags;
} GstCvisSetting;

/* The enumeration @name, registered with @values if it is new; for class_init.
 * @values are not copied. */
GType gst_cvis_enum_type (const gchar *name, const GEnumValue *values);

/* Installs @n properties as @first_id, ...; their defaults are in @defaults. */
void gst_cvis_settings_install (GObjectClass *klass, guint first_id,
    const GstCvisSetting *table, guint n, gconstpointer defaults);

/* Sets or gets @setting in the struct @values. Setting a string to %NULL makes it
 * empty. */
void gst_cvis_setting_set (
    const GstCvisSetting *setting, gpointer values, const GValue *value);
void gst_cvis_setting_get (
    const GstCvisSetting *setting, gconstpointer values, GValue *value);

/* For class_init of a final class whose instances hold the settings at @offset:
 * installs the properties and sets set_property, get_property and finalize, which
 * calls the finalize set before. The object lock guards the settings. */
void gst_cvis_settings_bind (GObjectClass *klass, guint first_id,
    const GstCvisSetting *table, guint n, gsize offset, gconstpointer defaults);
/* For init of such a class: sets the defaults. */
void gst_cvis_settings_init (gpointer object);
/* A string of the settings of @object, which stays valid when the application sets
 * another. It is interned, and not freed. */
const gchar *gst_cvis_settings_get_string (
    gpointer object, gchar *const *setting);
/* The functions of such a class, for a class with further properties to chain to. */
void gst_cvis_settings_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec);
void gst_cvis_settings_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec);

/* For set_property of any element, called without locks: posts a warning if the
 * element has started already and reads the property only when it starts
 * (GST_PARAM_MUTABLE_READY). */
void gst_cvis_warn_if_late (GObject *object, const GParamSpec *pspec);

G_END_DECLS
