/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfpacketframe.h"

#include "gstpbflistsrc.h"

GstCaps *
gst_pbf_packet_caps (const PbfRecordingHead *head)
{
  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8",
      "width", G_TYPE_INT, head->width, "height", G_TYPE_INT, head->height,
      "framerate", GST_TYPE_FRACTION, head->fps_n, head->fps_d, NULL);
}

gboolean
gst_pbf_packet_fill (const PbfPacket *packet, const GstVideoInfo *info,
    const PbfSignalLayout *layout, guint64 number, GstBuffer *buffer)
{
  const CvisPbfSignal about = { .frame_counter = packet->frame_counter,
    .t_ns = packet->t_ns != PBF_PACKET_NO_TIME ? packet->t_ns : 0,
    .width = packet->width,
    .height = packet->height };
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE))
    return FALSE;
  pbf_packet_read_pixels (packet, GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
      GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
  gst_video_frame_unmap (&frame);
  gst_pbf_list_src_read_signal (layout, buffer, packet->signal, &about);
  GST_BUFFER_PTS (buffer) = packet->t_ns;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) =
      packet->duration_ns > 0 ? packet->duration_ns : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (buffer) = number;
  GST_BUFFER_OFFSET_END (buffer) = number + 1;
  return TRUE;
}

void
gst_pbf_packet_count (GstPbfSignalCount *count, const PbfPacket *packet)
{
  count->frames++;
  count->without += packet->signal == NULL;
}

void
gst_pbf_packet_post_missing (GstElement *element, const gchar *name,
    GstPbfSignalCount *count, const PbfSignalLayout *layout)
{
  if (count->without > 0 && (count->without < count->frames || layout != NULL))
    GST_ELEMENT_WARNING (element, STREAM, DECODE,
        ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
         " frames of %s have no machine signals.",
            count->without, count->frames, name),
        (NULL));
  *count = (GstPbfSignalCount){ 0 };
}

void
gst_pbf_packet_post_damage (GstElement *element, const gchar *name,
    const PbfRecordingDamage *damage, const gchar *first)
{
  if (damage->places > 0)
    GST_ELEMENT_WARNING (element, STREAM, DECODE,
        ("Cannot read all frames of %s: %s. Damaged places: %" G_GUINT64_FORMAT
         ", frames skipped: at least %" G_GUINT64_FORMAT
         ", bytes skipped: %" G_GUINT64_FORMAT ". The other frames are played.",
            name, first != NULL ? first : "damaged", damage->places,
            damage->frames, damage->bytes),
        (NULL));
}
