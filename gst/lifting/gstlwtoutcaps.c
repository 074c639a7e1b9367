/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, the caps that its pads give. */
#include "gstcudalwtfilter-private.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

CvisSurfacePart
gst_lwt_side_part (guint kind)
{
  static const CvisSurfacePart parts[GST_LWT_SIDES] = {
    CVIS_SURFACE_PART_ROUGHNESS, CVIS_SURFACE_PART_WAVINESS,
    CVIS_SURFACE_PART_FORM, CVIS_SURFACE_PART_NOISE, CVIS_SURFACE_PART_BANDS
  };

  return parts[kind];
}

static void
append_tensor (GstCaps *caps, const GstCvisSurfaceInfo *info, LwtType type)
{
  static const GstCvisSurfaceType types[] = {
    [LWT_TYPE_F32] = GST_CVIS_SURFACE_TYPE_FLOAT32,
    [LWT_TYPE_F64] = GST_CVIS_SURFACE_TYPE_FLOAT64,
    [LWT_TYPE_I32] = GST_CVIS_SURFACE_TYPE_INT32,
  };
  GstCvisSurfaceInfo tensor = *info;

  tensor.type = types[type];
  gst_caps_append (caps, gst_cvis_surface_info_to_caps (&tensor));
}

static void
append_grey (GstCudaLwtFilter *self, GstCaps *caps,
    const GstCvisSurfaceInfo *size, GstVideoFormat format)
{
  GstVideoInfo info;

  if (!gst_video_info_set_format (&info, format, size->width, size->height))
    return;
  GST_VIDEO_INFO_FPS_N (&info) = size->fps_n;
  GST_VIDEO_INFO_FPS_D (&info) = size->fps_d;
  if (self->layout.video) {
    GST_VIDEO_INFO_PAR_N (&info) = GST_VIDEO_INFO_PAR_N (&self->layout.picture);
    GST_VIDEO_INFO_PAR_D (&info) = GST_VIDEO_INFO_PAR_D (&self->layout.picture);
  }
  gst_caps_append (caps, gst_video_info_to_caps (&info));
}

/* Tensors and grey pictures, the kind of the input first; bands have no pictures. */
static GstCaps *
offer_caps (GstCudaLwtFilter *self, CvisSurfacePart part,
    const LwtConfig *config, const GstLwtSurface *surface, LwtType type,
    gboolean other)
{
  const GstLwtLayout *layout = &self->layout;
  const gboolean deep = layout->video && layout->sample == LWT_SAMPLE_U16;
  GstCaps *tensors = gst_caps_new_empty (), *pictures = gst_caps_new_empty ();
  GstCvisSurfaceInfo info = {
    .width = config->width,
    .height = config->height,
    .fps_n = layout->fps_n,
    .fps_d = layout->fps_d,
    .dx = surface->dx,
    .dy = surface->dy,
  };

  if (part == CVIS_SURFACE_PART_BANDS)
    lwt_config_get_bands_size (config, &info.width, &info.height);
  append_tensor (tensors, &info, type);
  if (other)
    append_tensor (
        tensors, &info, type == LWT_TYPE_F32 ? LWT_TYPE_F64 : LWT_TYPE_F32);
  if (part == CVIS_SURFACE_PART_BANDS) {
    gst_caps_unref (pictures);
    return tensors;
  }
  append_grey (self, pictures, &info,
      deep ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8);
  append_grey (self, pictures, &info,
      deep ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE);
  if (layout->video) {
    gst_caps_append (pictures, tensors);
    return pictures;
  }
  gst_caps_append (tensors, pictures);
  return tensors;
}

void
gst_lwt_out_clear (GstLwtOut *out)
{
  gst_clear_caps (&out->caps);
}

/* Adopts the fixed @caps, one of those offered, and takes them. */
static void
take_out (GstLwtOut *out, CvisSurfacePart part, GstCaps *caps, LwtType *type)
{
  GstCvisSurfaceInfo info;

  gst_lwt_out_clear (out);
  out->part = part;
  out->caps = caps;
  out->video =
      gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw");
  if (out->video) {
    gst_video_info_from_caps (&out->picture, caps);
  } else if (*type != LWT_TYPE_I32) {
    gst_cvis_surface_info_from_caps (&info, caps, NULL);
    *type = info.type == GST_CVIS_SURFACE_TYPE_FLOAT64 ? LWT_TYPE_F64
                                                       : LWT_TYPE_F32;
  }
}

gboolean
gst_lwt_choose_out (GstCudaLwtFilter *self, GstPad *pad, CvisSurfacePart part,
    const LwtConfig *config, const GstLwtSurface *surface, gboolean other,
    GstLwtOut *out, LwtType *type)
{
  const gboolean passes = self->passes && pad == self->filter.srcpad;
  GstCaps *offer = passes
                       ? gst_caps_ref (self->caps)
                       : offer_caps (self, part, config, surface, *type, other);
  GstCaps *taken = gst_pad_peer_query_caps (pad, offer);
  const gboolean ok = !gst_caps_is_empty (taken);

  if (ok) {
    LwtType unused = *type;

    take_out (out, part, gst_caps_fixate (taken), passes ? &unused : type);
  } else {
    GstCaps *peer = gst_pad_peer_query_caps (pad, NULL);

    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Downstream of pad %s does not accept the %s of a surface of %ux%u. "
         "Link an element that accepts other/tensors or grey video.",
            GST_PAD_NAME (pad),
            passes ? "samples" : gst_cvis_surface_part_name (part),
            config->width, config->height),
        ("offered: %" GST_PTR_FORMAT "; accepted there: %" GST_PTR_FORMAT,
            offer, peer));
    gst_caps_unref (peer);
    gst_caps_unref (taken);
  }
  gst_caps_unref (offer);
  return ok;
}

GstFlowReturn
gst_lwt_push_caps (GstCudaLwtFilter *self)
{
  GstEvent *event = gst_event_new_caps (self->out.caps);
  GstFlowReturn flow = gst_cvis_queue_push_event (self->filter.queue, event);

  if (flow != GST_FLOW_OK)
    gst_event_unref (event);
  return flow;
}
