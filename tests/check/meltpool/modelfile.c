/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "modelfile.h"

#include <glib/gstdio.h>
#include <string.h>

gchar *
model_file_new (const gchar *metadata)
{
  return model_file_new_weighted (metadata, 0);
}

gchar *
model_file_new_weighted (const gchar *metadata, gfloat weight)
{
  const gfloat values[] = { weight, 0, weight, 0, 0, 1, 0, 1, 1 };
  static const struct {
    const gchar *name, *shape;
    guint n;
  } tensors[] = { { "l1.weight", "1,40", 40 }, { "l1.bias", "1", 1 },
    { "l2.weight", "2,1", 2 }, { "l2.bias", "2", 2 }, { "in.mean", "40", 40 },
    { "in.std", "40", 40 }, { "base.mean", "40", 40 }, { "base.std", "40", 40 },
    { "base.sigma", "40", 40 } };
  GString *header = g_string_new ("{\"__metadata__\":{");
  GByteArray *data = g_byte_array_new (), *file = g_byte_array_new ();
  gchar *name = NULL;
  guint64 length;
  gint fd;

  g_string_append_printf (header, "%s}", metadata);
  for (guint t = 0; t < G_N_ELEMENTS (tensors); t++) {
    g_string_append_printf (header,
        ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%u,%u]}",
        tensors[t].name, tensors[t].shape, data->len,
        data->len + 4 * tensors[t].n);
    for (guint i = 0; i < tensors[t].n; i++) {
      guint32 bits;

      memcpy (&bits, &values[t], 4);
      bits = GUINT32_TO_LE (bits);
      g_byte_array_append (data, (guint8 *) &bits, 4);
    }
  }
  g_string_append_c (header, '}');
  while (header->len % 8 != 0)
    g_string_append_c (header, ' ');
  length = GUINT64_TO_LE ((guint64) header->len);
  g_byte_array_append (file, (guint8 *) &length, 8);
  g_byte_array_append (file, (guint8 *) header->str, header->len);
  g_byte_array_append (file, data->data, data->len);
  fd = g_file_open_tmp ("pbfmonitor-XXXXXX.safetensors", &name, NULL);
  g_assert (fd >= 0);
  g_close (fd, NULL);
  if (!g_file_set_contents (name, (gchar *) file->data, file->len, NULL))
    g_error ("cannot write %s", name);
  g_string_free (header, TRUE);
  g_byte_array_unref (data);
  g_byte_array_unref (file);
  return name;
}
