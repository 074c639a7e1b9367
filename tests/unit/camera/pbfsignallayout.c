/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Layouts of user-defined signal vectors: parsing and application. */
#include "cuda/camera/signallayout.h"

#include <string.h>

static void
make_vector (guint8 vector[64], gboolean big_endian)
{
  for (guint i = 0; i < 16; i++) {
    guint32 value = 0x01020300u + i;

    value = big_endian ? GUINT32_TO_BE (value) : GUINT32_TO_LE (value);
    memcpy (vector + 4 * i, &value, sizeof value);
  }
}

static CvisPbfSignal
read_vector (const gchar *text, const guint8 vector[64])
{
  CvisPbfSignal signal = {
    .frame_counter = 77, .t_ns = 88, .width = 40, .height = 41
  };
  PbfSignalLayout layout;
  GError *error = NULL;

  pbf_signal_layout_parse (text, &layout, &error);
  g_assert_no_error (error);
  pbf_signal_layout_read (&layout, vector, &signal);
  g_assert_true (pbf_signal_is_intact (&signal));
  g_assert_cmpint (signal.width, ==, 40);
  g_assert_cmpint (signal.height, ==, 41);
  return signal;
}

static void
test_all_fields (void)
{
  static const gchar text[] =
      "frame_counter=0, x_um=2,y_um=3 ,layer = 4, vector_id=5, power_mW=6,"
      "speed_um_s=7,user0=8,user1=9,t_ns=14,laser_on=1.0,layer_start=1.1,"
      "vector_start=1.8%s";

  for (guint big_endian = 0; big_endian < 2; big_endian++) {
    gchar *all = g_strdup_printf (text, big_endian ? ", big-endian" : "");
    guint8 vector[64];
    CvisPbfSignal s;

    make_vector (vector, big_endian);
    s = read_vector (all, vector);
    g_assert_cmphex (s.frame_counter, ==, 0x01020300);
    g_assert_cmphex (s.x_um, ==, 0x01020302);
    g_assert_cmphex (s.y_um, ==, 0x01020303);
    g_assert_cmphex (s.layer, ==, 0x01020304);
    g_assert_cmphex (s.vector_id, ==, 0x01020305);
    g_assert_cmphex (s.power_mW, ==, 0x01020306);
    g_assert_cmphex (s.speed_um_s, ==, 0x01020307);
    g_assert_cmphex (s.user0, ==, 0x01020308);
    g_assert_cmphex (s.user1, ==, 0x01020309);
    g_assert_cmphex (s.t_ns, ==, G_GUINT64_CONSTANT (0x0102030f0102030e));
    /* word 1 is 0x01020301: bits 0, 8 and 9, but not 1 */
    g_assert_cmphex (s.flags, ==,
        CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_VECTOR_START
            | CVIS_PBF_SIGNAL_POSITION_VALID);
    g_free (all);
  }
}

/* The laser's state, validity of the position, and values from the packet. */
static void
test_few_fields (void)
{
  guint8 vector[64] = { 0 };
  CvisPbfSignal s = read_vector ("power_mW=3", vector);

  g_assert_cmphex (s.flags, ==, 0);
  g_assert_cmpuint (s.frame_counter, ==, 77);
  g_assert_cmpuint (s.t_ns, ==, 88);
  vector[12] = 5; /* word 3 */
  s = read_vector ("power_mW=3,user0=4", vector);
  g_assert_cmphex (s.flags, ==, CVIS_PBF_SIGNAL_LASER_ON);
  vector[15] = 0x80; /* negative */
  s = read_vector ("power_mW=3", vector);
  g_assert_cmphex (s.flags, ==, 0);
  s = read_vector ("laser_on=3,x_um=3,y_um=4", vector);
  g_assert_cmphex (
      s.flags, ==, CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_POSITION_VALID);
  g_assert_cmpint (s.x_um, <, 0);
  s = read_vector ("laser_on=3.31", vector);
  g_assert_cmphex (s.flags, ==, CVIS_PBF_SIGNAL_LASER_ON);
  /* a vector with flags also defines the position's validity */
  s = read_vector ("flags=4,x_um=3,y_um=4", vector);
  g_assert_cmphex (s.flags, ==, 0);
  vector[16] = 9;
  s = read_vector ("flags=4,x_um=3,y_um=4", vector);
  g_assert_cmphex (
      s.flags, ==, CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_POSITION_VALID);
}

static void
test_refused (void)
{
  static const struct {
    const gchar *text, *names;
  } cases[] = {
    { "", "laser_on is missing" },
    { "laser_on=1,", "neither FIELD=WORD" },
    { "laser_on", "\"laser_on\" is neither" },
    { "lazer=1", "no field \"lazer\"; fields are frame_counter" },
    { "Laser_on=1", "no field \"Laser_on\"" },
    { "=1", "no field \"\"" },
    { "laser_on=", "laser_on: word \"\" is not one of 0 to 15" },
    { "laser_on=16", "laser_on: word \"16\" is not one of 0 to 15" },
    { "laser_on=-1", "laser_on: word \"-1\" is not" },
    { "laser_on=1x", "laser_on: word \"1x\" is not" },
    { "laser_on=0x1", "laser_on: word \"0x1\" is not" },
    { "laser_on=99999999999999999999", "laser_on: word" },
    { "laser_on=1.32", "laser_on: bit \"32\" is not one of 0 to 31" },
    { "laser_on=1.", "laser_on: bit \"\" is not" },
    { "laser_on=1.2.3", "laser_on: bit \"2.3\" is not" },
    { "laser_on=1,layer=2.3", "layer: \"2.3\" names a bit" },
    { "laser_on=1,t_ns=15", "t_ns: word \"15\" is not one of 0 to 14" },
    { "laser_on=1,layer=2,layer=3", "layer occurs twice" },
    { "laser_on=1,x_um=2", "y_um is missing" },
    { "laser_on=1,y_um=2", "x_um is missing" },
    { "layer=1", "laser_on is missing" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PbfSignalLayout layout = { { 42 } };
    GError *error = NULL;

    g_assert_false (pbf_signal_layout_parse (cases[i].text, &layout, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    g_assert_true (g_str_has_prefix (error->message, "signal-layout: "));
    if (strstr (error->message, cases[i].names) == NULL)
      g_error ("\"%s\": %s", cases[i].text, error->message);
    g_assert_cmpint (layout.word[0], ==, 42);
    g_error_free (error);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbfsignallayout/all-fields", test_all_fields);
  g_test_add_func ("/pbfsignallayout/few-fields", test_few_fields);
  g_test_add_func ("/pbfsignallayout/refused", test_refused);
  return g_test_run ();
}
