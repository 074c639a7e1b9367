/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "pbfframes.h"

#include <math.h>
#include <string.h>

static guint32
next_random (PbfRandom *random)
{
  guint64 z = random->state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return (guint32) ((z ^ (z >> 31)) >> 32);
}

guint
pbf_random_below (PbfRandom *random, guint n)
{
  return (guint) (((guint64) next_random (random) * n) >> 32);
}

gdouble
pbf_random_unit (PbfRandom *random)
{
  return next_random (random) / 4294967296.0;
}

/* Adds a spot of Gaussian shape. */
static void
add_spot (guint8 *frame, guint width, guint height, guint stride, gdouble x,
    gdouble y, gdouble sx, gdouble sy, gdouble peak)
{
  for (guint v = 0; v < height; v++) {
    for (guint u = 0; u < width; u++) {
      gdouble dx = (u + 0.5 - x) / sx, dy = (v + 0.5 - y) / sy;
      gdouble value = frame[(gsize) v * stride + u]
                      + peak * exp (-0.5 * (dx * dx + dy * dy));

      frame[(gsize) v * stride + u] = (guint8) CLAMP (value, 0, 255);
    }
  }
}

void
pbf_frame_fill (PbfRandom *random, guint kind, guint8 *frame, guint width,
    guint height, guint stride)
{
  guint spots = 0, step = 1 + pbf_random_below (random, 5);
  guint density = 1 + pbf_random_below (random, 100);

  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < stride; x++) {
      guint8 *at = &frame[(gsize) y * stride + x];

      *at = 255;
      if (x >= width)
        continue;
      switch (kind % PBF_FRAME_KINDS) {
        case 0: /* black */
          *at = 0;
          break;
        case 1: /* saturated */
          break;
        case 2: /* white noise */
          *at = (guint8) next_random (random);
          break;
        case 3: /* sparse or dense bright pixels */
          *at = pbf_random_below (random, 100) < density ? 200 : 20;
          break;
        case 4: /* a checkerboard: the largest number of components */
          *at = (x / step + y / step) % 2 ? 180 : 60;
          break;
        case 5: /* lines joined at one end only: long detours */
          *at = (y % 4 == 0 || (x == 0 && y % 8 < 4)
                    || (x == width - 1 && y % 8 >= 4))
                    ? 150
                    : 40;
          break;
        case 6: /* steepest gradients */
          *at = ((x / 2) % 2) ^ ((y / 2) % 2) ? 255 : 0;
          break;
        default: /* a melt pool, spatters, noise */
          *at = (guint8) pbf_random_below (random, 25);
          spots = 1 + pbf_random_below (random, kind % 3 * 12 + 1);
          break;
      }
    }
  }
  for (guint k = 0; k < spots; k++) {
    gdouble size = k == 0 ? 1.0 + 6.0 * pbf_random_unit (random)
                          : 0.4 + 1.2 * pbf_random_unit (random);

    add_spot (frame, width, height, stride, pbf_random_unit (random) * width,
        pbf_random_unit (random) * height, size,
        size * (0.4 + pbf_random_unit (random)),
        k == 0 ? 400 : 90 + 200 * pbf_random_unit (random));
  }
}

void
pbf_frame_info (PbfRandom *random, guint64 index, guint width, guint height,
    PbfFrameInfo *info)
{
  guint dice = pbf_random_below (random, 100);

  memset (info, 0, sizeof *info);
  info->timestamp_ns = 50000 * index;
  info->frame_index = index;
  info->frame_counter = (guint32) index + 7;
  info->layer = (guint32) (index / 500);
  info->vector_id = (guint32) (index / 37);
  info->x_um = (gint32) pbf_random_below (random, 20000);
  info->y_um = -(gint32) pbf_random_below (random, 20000);
  info->signal_flags =
      CVIS_PBF_SIGNAL_LASER_ON | CVIS_PBF_SIGNAL_POSITION_VALID;
  info->entry = dice < 75   ? PBF_ENTER
                : dice < 85 ? PBF_ENTER_IF_LIT
                : dice < 95 ? PBF_EMPTY
                            : PBF_EXCLUDE;
  info->position = pbf_random_below (random, 8);
  if (info->position > PBF_POSITION_BRIGHTEST_PIXEL)
    info->position = PBF_POSITION_GIVEN;
  if (pbf_random_below (random, 50) == 0)
    info->lost_before = pbf_random_below (random, 30);
  if (info->position == PBF_POSITION_GIVEN) {
    dice = pbf_random_below (random, 20);
    info->e_x_q8 = (gint32) pbf_random_below (random, width * 256);
    info->e_y_q8 = (gint32) pbf_random_below (random, height * 256);
    if (dice == 0) /* pixel centres and corners */
      info->e_x_q8 = (info->e_x_q8 & ~255) + 128;
    if (dice <= 1)
      info->e_y_q8 = (info->e_y_q8 & ~255) + 128;
    if (dice == 2)
      info->e_x_q8 &= ~255;
    if (dice == 3) { /* far outside */
      info->e_x_q8 = (gint32) next_random (random) >> 9;
      info->e_y_q8 = (gint32) next_random (random) >> 9;
    }
    if (dice == 4)
      info->e_x_q8 = -(gint32) pbf_random_below (random, 30000);
    if (dice == 5)
      info->e_y_q8 += 256 * (gint32) height;
  }
}

PbfModel *
pbf_random_model (PbfRandom *random, guint hidden, guint outputs)
{
  PbfModel *model = g_new0 (PbfModel, 1);
  guint padded = (hidden + 31) / 32 * 32;

  g_atomic_ref_count_init (&model->refs);
  model->hidden = hidden;
  model->hidden_padded = padded;
  model->outputs = outputs;
  model->threshold = model->window = -1;
  model->w1t = g_new0 (gfloat, CVIS_PBF_N_FEATURES * padded);
  model->b1 = g_new0 (gfloat, padded);
  model->w2 = g_new0 (gfloat, outputs * padded);
  model->b2 = g_new0 (gfloat, outputs);
  model->names = g_new0 (gchar *, outputs + 1);
  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
    model->mean[i] = (gfloat) (100.0 * pbf_random_unit (random));
    model->inv_std[i] = (gfloat) (0.001 + 0.02 * pbf_random_unit (random));
    for (guint j = 0; j < hidden; j++)
      model->w1t[i * padded + j] = (gfloat) (pbf_random_unit (random) - 0.5);
  }
  for (guint j = 0; j < hidden; j++)
    model->b1[j] = (gfloat) (pbf_random_unit (random) - 0.5);
  for (guint k = 0; k < outputs; k++) {
    model->names[k] = g_strdup_printf ("out_%u", k);
    model->b2[k] = (gfloat) (pbf_random_unit (random) - 0.5);
    for (guint j = 0; j < hidden; j++)
      model->w2[k * padded + j] = (gfloat) (pbf_random_unit (random) - 0.5);
  }
  return model;
}
