/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Properties that are fields of a struct, as a table. The element locks round
 * set and get. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum {
  GST_CV_SETTING_ENUM,    /* gint */
  GST_CV_SETTING_UINT,    /* guint */
  GST_CV_SETTING_INT,     /* gint */
  GST_CV_SETTING_BOOLEAN, /* gboolean */
  GST_CV_SETTING_DOUBLE,  /* gdouble */
  GST_CV_SETTING_TIME,    /* guint64 */
  GST_CV_SETTING_STRING,  /* gchar *, owned by the struct */
} GstCvSettingKind;

/**
 * GstCvSetting:
 * @offset: in the struct
 * @live: may be changed at any time, else up to READY
 * @min, @max: of numbers; times begin with 0, and have no end where @max is 0
 * @type_name, @values: of an enumeration, which is registered by that name
 */
typedef struct {
  const gchar *name, *blurb;
  GstCvSettingKind kind;
  gsize offset;
  gboolean live;
  gdouble min, max;
  const gchar *type_name;
  const GEnumValue *values;
} GstCvSetting;

/* The enumeration of that name, registered with @values if it is new; for
 * class_init. @values live on. */
GType gst_cv_enum_type (const gchar *name, const GEnumValue *values);

/* Installs @n properties as @first_id, ...; their defaults are in @defaults. */
void gst_cv_settings_install (GObjectClass *klass, guint first_id,
    const GstCvSetting *table, guint n, gconstpointer defaults);

/* Of the setting @setting of the struct @values. A string that is %NULL becomes
 * empty. */
void gst_cv_setting_set (
    const GstCvSetting *setting, gpointer values, const GValue *value);
void gst_cv_setting_get (
    const GstCvSetting *setting, gconstpointer values, GValue *value);

/* For class_init of a final class whose instances hold the settings at @offset:
 * installs the properties, and sets set_property, get_property and finalize. The
 * object lock guards the settings. */
void gst_cv_settings_bind (GObjectClass *klass, guint first_id,
    const GstCvSetting *table, guint n, gsize offset, gconstpointer defaults);
/* For init of such a class: settings become the defaults. */
void gst_cv_settings_init (gpointer object);
/* get_property of such a class, for one that has other properties, too. */
void gst_cv_settings_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec);

/* For set_property of any element, without locks: posts a warning where the
 * property is read when the element starts (GST_PARAM_MUTABLE_READY), which it
 * has done already. */
void gst_cv_warn_if_late (GObject *object, const GParamSpec *pspec);

G_END_DECLS
