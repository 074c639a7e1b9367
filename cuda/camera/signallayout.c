/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/camera/signallayout.h"

#include <stddef.h>
#include <string.h>

#define WORDS 16

typedef enum {
  KIND_WORD, /* 32 bits */
  KIND_TIME, /* 64 bits in two words, the low one first */
  KIND_FLAG, /* a bit of flags */
} Kind;

/* Names are those of CvisPbfSignal and CvisPbfSignalFlags. */
static const struct {
  const gchar *name;
  Kind kind;
  guint place; /* offset in CvisPbfSignal, or flag */
} fields[] = {
  { "frame_counter", KIND_WORD, offsetof (CvisPbfSignal, frame_counter) },
  { "flags", KIND_WORD, offsetof (CvisPbfSignal, flags) },
  { "x_um", KIND_WORD, offsetof (CvisPbfSignal, x_um) },
  { "y_um", KIND_WORD, offsetof (CvisPbfSignal, y_um) },
  { "layer", KIND_WORD, offsetof (CvisPbfSignal, layer) },
  { "vector_id", KIND_WORD, offsetof (CvisPbfSignal, vector_id) },
  { "power_mW", KIND_WORD, offsetof (CvisPbfSignal, power_mW) },
  { "speed_um_s", KIND_WORD, offsetof (CvisPbfSignal, speed_um_s) },
  { "user0", KIND_WORD, offsetof (CvisPbfSignal, user0) },
  { "user1", KIND_WORD, offsetof (CvisPbfSignal, user1) },
  { "t_ns", KIND_TIME, offsetof (CvisPbfSignal, t_ns) },
  { "laser_on", KIND_FLAG, CVIS_PBF_SIGNAL_LASER_ON },
  { "layer_start", KIND_FLAG, CVIS_PBF_SIGNAL_LAYER_START },
  { "vector_start", KIND_FLAG, CVIS_PBF_SIGNAL_VECTOR_START },
};

G_STATIC_ASSERT (G_N_ELEMENTS (fields) == PBF_LAYOUT_FIELDS);

enum { FLAGS = 1, X_UM = 2, Y_UM = 3, POWER = 6, LASER_ON = 11 };

static gboolean set_layout_error (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static gboolean
set_layout_error (GError **error, const gchar *format, ...)
{
  va_list rest;
  gchar *message;

  va_start (rest, format);
  message = g_strdup_vprintf (format, rest);
  va_end (rest);
  g_set_error (
      error, CVIS_ERROR, CVIS_ERROR_INVALID, "signal-layout: %s", message);
  g_free (message);
  return FALSE;
}

static gint
find_field (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (g_str_equal (fields[i].name, name))
      return (gint) i;
  return -1;
}

/* Parses WORD or WORD.BIT of a field. */
static gboolean
parse_place (
    PbfSignalLayout *layout, gint field, const gchar *text, GError **error)
{
  const gchar *name = fields[field].name;
  guint words = fields[field].kind == KIND_TIME ? 2 : 1;
  gchar *place = g_strdup (text), *bit = strchr (place, '.');
  guint64 value;
  gboolean ok;

  if (bit != NULL)
    *bit++ = '\0';
  ok = g_ascii_string_to_unsigned (place, 10, 0, WORDS - words, &value, NULL);
  if (!ok) {
    set_layout_error (error, "%s: word \"%.40s\" is not one of 0 to %u%s", name,
        place, WORDS - words, words > 1 ? ", as it has two words" : "");
  } else {
    layout->word[field] = (gint8) value;
    if (bit != NULL && fields[field].kind != KIND_FLAG)
      ok = set_layout_error (error,
          "%s: \"%.40s\" names a bit; only laser_on, layer_start and "
          "vector_start are bits",
          name, text);
    else if (bit != NULL
             && !g_ascii_string_to_unsigned (bit, 10, 0, 31, &value, NULL))
      ok = set_layout_error (
          error, "%s: bit \"%.40s\" is not one of 0 to 31", name, bit);
    else if (bit != NULL)
      layout->bit[field] = (gint8) value;
  }
  g_free (place);
  return ok;
}

static gboolean
parse_item (PbfSignalLayout *layout, gchar *item, GError **error)
{
  gchar *value = strchr (item, '=');
  gint field;

  if (value == NULL) {
    if (!g_str_equal (item, "big-endian"))
      return set_layout_error (
          error, "\"%.80s\" is neither FIELD=WORD nor big-endian", item);
    layout->big_endian = TRUE;
    return TRUE;
  }
  *value++ = '\0';
  item = g_strstrip (item);
  field = find_field (item);
  if (field < 0)
    return set_layout_error (error,
        "no field \"%.40s\"; fields are frame_counter, flags, x_um, y_um, "
        "layer, "
        "vector_id, power_mW, speed_um_s, user0, user1, t_ns, laser_on, "
        "layer_start and vector_start",
        item);
  if (layout->word[field] >= 0)
    return set_layout_error (error, "%s occurs twice", item);
  return parse_place (layout, field, g_strstrip (value), error);
}

gboolean
pbf_signal_layout_parse (
    const gchar *text, PbfSignalLayout *layout, GError **error)
{
  gchar **items = g_strsplit (text, ",", -1);
  PbfSignalLayout l = { 0 };
  gboolean ok = TRUE;

  memset (l.word, -1, sizeof l.word);
  memset (l.bit, -1, sizeof l.bit);
  for (guint i = 0; ok && items[i] != NULL; i++)
    ok = parse_item (&l, g_strstrip (items[i]), error);
  g_strfreev (items);
  if (!ok)
    return FALSE;
  if ((l.word[X_UM] < 0) != (l.word[Y_UM] < 0))
    return set_layout_error (error, "%s is missing; a position needs both",
        l.word[X_UM] < 0 ? "x_um" : "y_um");
  if (l.word[LASER_ON] < 0 && l.word[FLAGS] < 0 && l.word[POWER] < 0)
    return set_layout_error (error,
        "laser_on is missing: the laser's state is in laser_on, flags or "
        "power_mW (on above 0)");
  *layout = l;
  return TRUE;
}

static guint32
read_word (const PbfSignalLayout *layout, const guint8 *vector, gint word)
{
  guint32 value;

  memcpy (&value, vector + 4 * word, sizeof value);
  return layout->big_endian ? GUINT32_FROM_BE (value) : GUINT32_FROM_LE (value);
}

static guint32
read_flag (const PbfSignalLayout *layout, const guint8 *vector, guint field)
{
  guint32 value = read_word (layout, vector, layout->word[field]);

  if (layout->bit[field] >= 0)
    value = value >> layout->bit[field] & 1;
  return value != 0 ? fields[field].place : 0;
}

void
pbf_signal_layout_read (const PbfSignalLayout *layout, const guint8 vector[64],
    CvisPbfSignal *signal)
{
  CvisPbfSignal s = { .frame_counter = signal->frame_counter,
    .t_ns = signal->t_ns,
    .width = signal->width,
    .height = signal->height };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    gint word = layout->word[i];
    guint32 value;

    if (word < 0)
      continue;
    switch (fields[i].kind) {
      case KIND_WORD:
        value = read_word (layout, vector, word);
        memcpy ((guint8 *) &s + fields[i].place, &value, sizeof value);
        break;
      case KIND_TIME:
        s.t_ns = read_word (layout, vector, word)
                 | (guint64) read_word (layout, vector, word + 1) << 32;
        break;
      case KIND_FLAG: /* stored after the word flags */
        s.flags |= read_flag (layout, vector, i);
        break;
    }
  }
  if (layout->word[LASER_ON] < 0 && layout->word[FLAGS] < 0
      && (gint32) s.power_mW > 0)
    s.flags |= CVIS_PBF_SIGNAL_LASER_ON;
  if (layout->word[X_UM] >= 0 && layout->word[FLAGS] < 0)
    s.flags |= CVIS_PBF_SIGNAL_POSITION_VALID;
  pbf_signal_seal (&s);
  *signal = s;
}
