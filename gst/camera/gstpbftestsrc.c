/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbftestsrc
 * @title: pbftestsrc
 * @short_description: a synthetic melt-pool camera
 *
 * Simulates the grey frames of a high-speed camera at laser powder-bed fusion: a
 * melt pool that scans hatch lines layer by layer, spatters, sensor noise. Each
 * buffer carries the machine signals of its time (#GstCvisPbfSignalMeta) and the ground
 * truth (#GstCvisPbfTruthMeta). The same seed gives the same bytes on every machine.
 *
 * Frames are pushed in buffer lists (frames-per-list) unless the source is live, and
 * can be rendered once and replayed without a copy (pre-render), for rates of
 * millions of frames a second.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=2000 regime=mixed ! videoconvert ! videoscale ! video/x-raw,width=384,height=384 ! pngenc ! multifilesink location=frame-%05d.png
 * ]|
 *
 * Since: 0.1
 */
#include "gstpbftestsrc.h"

#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>
#include <string.h>
#include "gst/common/gstcvissettings.h"
#include "gstpbfreplay.h"
#include "cuda/records/machinesignal.h"
#include "cuda/camera/sim.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_test_src_debug);
#define GST_CAT_DEFAULT gst_pbf_test_src_debug

#define DEFAULT_SIDE 96
#define DEFAULT_FPS 20000
#define MAX_FRAMES_PER_LIST 65536
/* Limits of a list for frames-per-list=0 if not live: frames, and bytes of frames */
#define AUTO_LIST_FRAMES 256
#define AUTO_LIST_BYTES (4u << 20)
#define MAX_PRE_RENDER 65536

typedef struct {
  guint seed;
  gint regime; /* GstCvisPbfRegime */
  guint frames_per_list;
  guint pre_render;
  PbfSimMachine machine;
} Settings;

struct _GstPbfTestSrc {
  GstPbfListSrc parent;

  /* properties, guarded by the object lock */
  Settings settings;
  gint64 timestamp_offset;

  /* of the streaming thread; those that queries read are written under the object
   * lock */
  GstVideoInfo info;
  PbfSim *sim;
  guint wanted_list_frames; /* frames_per_list at start */
  guint list_frames;        /* frames in a list; chosen by caps if that is 0 */
  guint replay_frames;      /* pre_render at start */
  GstPbfReplay *replay;     /* frames rendered in advance */
  guint replay_layers;      /* layers that they span */
  guint64 frame;            /* number of the next one since start */
  guint64 first_frame;      /* number of the first one with these caps */
  GstClockTime first_time;  /* and its time since start */
  GstClockTime time_offset; /* timestamp less time since start */
  gboolean time_known;
  gboolean sought; /* frame is to be set from the segment's position */

  GstClockID clock_id; /* guarded by the object lock */
  gint unlocked;       /* atomic; written under the object lock */
};

enum {
  PROP_IS_LIVE = 1,
  PROP_TIMESTAMP_OFFSET,
  PROP_SETTING,
};

/* size and rate as in PBF_SIM_MIN_SIDE, _MAX_SIDE and _MAX_FPS */
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS ("video/x-raw, format = (string) GRAY8, "
                         "width = (int) [ 40, 4096 ], "
                         "height = (int) [ 40, 4096 ], "
                         "framerate = (fraction) "
                         "[ 1/2147483647, 1000000/1 ]"));

G_STATIC_ASSERT (PBF_SIM_MIN_SIDE == 40 && PBF_SIM_MAX_SIDE == 4096);
G_STATIC_ASSERT (PBF_SIM_MAX_FPS == 1000000);

/* The simulator is independent of GStreamer and has an enumeration of its own. */
G_STATIC_ASSERT ((gint) PBF_SIM_NOMINAL == (gint) GST_CVIS_PBF_REGIME_NOMINAL);
G_STATIC_ASSERT ((gint) PBF_SIM_KEYHOLE == (gint) GST_CVIS_PBF_REGIME_KEYHOLE);
G_STATIC_ASSERT (
    (gint) PBF_SIM_LACK_OF_FUSION == (gint) GST_CVIS_PBF_REGIME_LACK_OF_FUSION);
G_STATIC_ASSERT ((gint) PBF_SIM_SPATTER == (gint) GST_CVIS_PBF_REGIME_SPATTER);
G_STATIC_ASSERT ((gint) PBF_SIM_DRIFT == (gint) GST_CVIS_PBF_REGIME_DRIFT);
G_STATIC_ASSERT ((gint) PBF_SIM_MIXED == (gint) GST_CVIS_PBF_REGIME_MIXED);
G_STATIC_ASSERT ((gint) PBF_SIM_BUILD == (gint) GST_CVIS_PBF_REGIME_BUILD);
G_STATIC_ASSERT (PBF_SIM_MAX_SPATTERS == GST_CVIS_PBF_TRUTH_MAX_SPATTERS);

static const GEnumValue regime_values[] = {
  { GST_CVIS_PBF_REGIME_NOMINAL, "Steady pool, occasional spatters",
      "nominal" },
  { GST_CVIS_PBF_REGIME_KEYHOLE, "Small, narrow, bright, unsteady pool",
      "keyhole" },
  { GST_CVIS_PBF_REGIME_LACK_OF_FUSION,
      "Large, dim, ragged pool, at times below the threshold",
      "lack-of-fusion" },
  { GST_CVIS_PBF_REGIME_SPATTER, "Nominal pool with many spatters", "spatter" },
  { GST_CVIS_PBF_REGIME_DRIFT,
      "Pool that grows, brightens and moves off over 20000 frames", "drift" },
  { GST_CVIS_PBF_REGIME_MIXED,
      "The other regimes one after the other, 3000 frames each", "mixed" },
  { GST_CVIS_PBF_REGIME_BUILD,
      "Nominal layers, then defects at random lines and drifting layers",
      "build" },
  { 0, NULL, NULL },
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GstCvisSetting settings_table[] = {
  { "seed", "Seed of all random values: the same seed gives the same bytes",
      GST_CVIS_SETTING_UINT, FIELD (seed), FALSE, 0, G_MAXUINT },
  { "regime", "State of the simulated process", GST_CVIS_SETTING_ENUM,
      FIELD (regime), FALSE, 0, 0, "GstPbfTestSrcRegime", regime_values },
  { "frames-per-list",
      "Frames in one buffer list; 1: single buffers; 0: 1 if is-live, else "
      "256, of at most 4 MiB in all",
      GST_CVIS_SETTING_UINT, FIELD (frames_per_list), FALSE, 0,
      MAX_FRAMES_PER_LIST },
  { "pre-render",
      "Frames rendered once and then sent repeatedly, without a copy; 0: every "
      "frame is rendered",
      GST_CVIS_SETTING_UINT, FIELD (pre_render), FALSE, 0, MAX_PRE_RENDER },
  { "severity", "Severity of the regime's defect, 0 to 1; 0 looks nominal",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.severity), FALSE, 0, 1 },
  { "gain", "Factor of the melt pool's and spatters' light",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.gain), FALSE, 0.25, 4 },
  { "noise", "Standard deviation of additional noise, grey levels",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.noise), FALSE, 0, 32 },
  { "blur", "Standard deviation of the optical blur, pixels",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.blur), FALSE, 0, 8 },
  { "background", "Grey levels added to all pixels", GST_CVIS_SETTING_DOUBLE,
      FIELD (machine.background), FALSE, -8, 64 },
  { "full-scale", "Saturation of the sensor, grey levels",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.full_scale), FALSE, 110, 255 },
  { "pool-size", "Factor of the melt pool's length and width",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.pool_size), FALSE, 0.25, 4 },
  { "elongation", "Factor of the melt pool's length alone",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.elongation), FALSE, 0.25, 4 },
  { "scan-speed", "Speed of the laser along a line, metres per second",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.scan_speed), FALSE, 0.1, 10 },
  { "spatter-rate", "Factor of the number of spatters", GST_CVIS_SETTING_DOUBLE,
      FIELD (machine.spatter_rate), FALSE, 0, 8 },
  { "offset-x", "From the position of the signals to the melt pool, pixels",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.offset_x), FALSE, -16, 16 },
  { "offset-y", "From the position of the signals to the melt pool, pixels",
      GST_CVIS_SETTING_DOUBLE, FIELD (machine.offset_y), FALSE, -16, 16 },
};

/* as pbf_sim_machine_init() */
static const Settings default_settings = { .regime =
                                               GST_CVIS_PBF_REGIME_NOMINAL,
  .machine = { .gain = 1,
      .full_scale = 255,
      .pool_size = 1,
      .elongation = 1,
      .scan_speed = 1,
      .spatter_rate = 1,
      .severity = 1 } };

#define gst_pbf_test_src_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstPbfTestSrc, gst_pbf_test_src, GST_TYPE_PBF_LIST_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    pbftestsrc, "pbftestsrc", GST_RANK_NONE, GST_TYPE_PBF_TEST_SRC);

/* --- one frame ------------------------------------------------------------- */

static GstCvisPbfTruthMeta *
truth_meta (GstBuffer *buffer)
{
  GstCvisPbfTruthMeta *meta = gst_cvis_buffer_get_pbf_truth_meta (buffer);

  if (meta == NULL) {
    meta = gst_cvis_buffer_add_pbf_truth_meta (buffer);
    gst_pbf_list_src_keep_meta (buffer, &meta->meta);
  }
  return meta;
}

static void
set_truth (GstCvisPbfTruthMeta *meta, const PbfSimTruth *truth)
{
  gsize n = truth->n_spatters;

  meta->regime = (GstCvisPbfRegime) truth->regime;
  meta->laser_on = truth->laser_on;
  meta->pool_x = truth->pool_x;
  meta->pool_y = truth->pool_y;
  meta->pool_area = truth->pool_area;
  meta->n_spatters = truth->n_spatters;
  memcpy (meta->spatter_x, truth->spatter_x, n * sizeof (gfloat));
  memcpy (meta->spatter_y, truth->spatter_y, n * sizeof (gfloat));
  memcpy (meta->spatter_area, truth->spatter_area, n * sizeof (guint16));
  meta->severity = truth->severity;
  meta->drift = truth->drift;
}

/* Renders frame @index of the simulator into @buffer and its metas. */
static gboolean
render_frame (GstPbfTestSrc *self, guint64 index, GstBuffer *buffer)
{
  GstVideoMeta *layout = gst_buffer_get_video_meta (buffer);
  gsize offset = layout != NULL ? layout->offset[0] : 0;
  gint stride = layout != NULL ? layout->stride[0] : self->info.stride[0];
  gsize needed = offset + self->info.width
                 + (gsize) MAX (stride, 0) * (self->info.height - 1);
  PbfSimTruth truth;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, (NULL),
        ("Cannot write a frame: a buffer of the negotiated pool cannot be "
         "mapped. Put \"identity drop-allocation=true\" after pbftestsrc."));
    return FALSE;
  }
  if (stride < self->info.width || map.size < needed) {
    gst_buffer_unmap (buffer, &map);
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, (NULL),
        ("Cannot write a frame: the negotiated pool gave a buffer of "
         "%" G_GSIZE_FORMAT " bytes with rows of %d bytes, too small for %dx%d "
         "pixels. Put \"identity drop-allocation=true\" after pbftestsrc.",
            map.size, stride, self->info.width, self->info.height));
    return FALSE;
  }
  pbf_sim_render (self->sim, index, map.data + offset, stride,
      &gst_pbf_list_src_signal_meta (buffer)->signal, &truth);
  gst_buffer_unmap (buffer, &map);
  set_truth (truth_meta (buffer), &truth);
  return TRUE;
}

/* Time of a frame since start. */
static GstClockTime
get_test_time (GstPbfTestSrc *self, guint64 frame)
{
  return self->first_time + pbf_sim_time (self->sim, frame - self->first_frame);
}

/* A frame's number, and its begin and end as time since start. */
typedef struct {
  guint64 number;
  GstClockTime start, end;
} Exposure;

static Exposure
first_exposure (GstPbfTestSrc *self)
{
  Exposure e = { self->frame, get_test_time (self, self->frame),
    get_test_time (self, self->frame + 1) };

  return e;
}

static void
next_exposure (GstPbfTestSrc *self, Exposure *e)
{
  e->number++;
  e->start = e->end;
  e->end = get_test_time (self, e->number + 1);
}

static void
stamp_test_frame (GstPbfTestSrc *self, GstBuffer *buffer, const Exposure *e)
{
  GST_BUFFER_PTS (buffer) = self->time_offset + e->start;
  GST_BUFFER_DURATION (buffer) = e->end - e->start;
  GST_BUFFER_OFFSET (buffer) = e->number;
  GST_BUFFER_OFFSET_END (buffer) = e->number + 1;
}

/* Sets number and time in the record of a frame whose number differs from that of
 * the simulator: after a change of caps, or of a frame that is sent again. */
static void
renumber (CvisPbfSignal *signal, const Exposure *e)
{
  signal->frame_counter = (guint32) e->number;
  signal->t_ns = e->start;
  pbf_signal_seal (signal);
}

/* Stamps frame @e of the replay, whose record is @signal. */
static void
stamp_replayed (GstPbfTestSrc *self, const Exposure *e, GstBuffer *buffer,
    CvisPbfSignal *signal)
{
  guint64 round = (e->number - self->first_frame)
                  / gst_pbf_replay_get_length (self->replay);

  signal->layer += (guint32) round * self->replay_layers;
  renumber (signal, e);
  stamp_test_frame (self, buffer, e);
}

static GstFlowReturn
fail_replay (GstPbfTestSrc *self)
{
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, (NULL),
      ("Cannot push a frame rendered in advance: its memory can neither be "
       "shared nor copied. Set pre-render=0."));
  return GST_FLOW_ERROR;
}

/* Index in the replay of frame @number. */
static guint
replay_index (GstPbfTestSrc *self, guint64 number)
{
  return (guint) ((number - self->first_frame)
                  % gst_pbf_replay_get_length (self->replay));
}

static GstFlowReturn
make_replayed_frame (GstPbfTestSrc *self, const Exposure *e, GstBuffer **buffer)
{
  CvisPbfSignal *signal;

  *buffer = gst_pbf_replay_new_buffer (
      self->replay, replay_index (self, e->number), &signal);
  if (*buffer == NULL)
    return fail_replay (self);
  stamp_replayed (self, e, *buffer, signal);
  return GST_FLOW_OK;
}

static GstFlowReturn
make_test_frame (GstPbfTestSrc *self, GstBufferPool *pool, const Exposure *e,
    GstBuffer **buffer)
{
  GstFlowReturn ret;

  if (self->replay != NULL)
    return make_replayed_frame (self, e, buffer);

  ret = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!render_frame (self, e->number - self->first_frame, *buffer)) {
    gst_clear_buffer (buffer);
    return GST_FLOW_ERROR;
  }
  if (self->first_frame > 0)
    renumber (&gst_pbf_list_src_signal_meta (*buffer)->signal, e);
  stamp_test_frame (self, *buffer, e);
  return GST_FLOW_OK;
}

/* --- frames rendered in advance -------------------------------------------- */

static GstFlowReturn
fill_replay (GstPbfTestSrc *self, GstBufferPool *pool)
{
  GstPbfReplay *replay = gst_pbf_replay_new (self->replay_frames);
  GstFlowReturn ret = GST_FLOW_OK;
  guint layer = 0;

  GST_INFO_OBJECT (self, "rendering %u frames (%" G_GSIZE_FORMAT " bytes)",
      self->replay_frames,
      self->replay_frames * GST_VIDEO_INFO_SIZE (&self->info));
  for (guint i = 0; i < self->replay_frames && ret == GST_FLOW_OK; i++) {
    GstBuffer *buffer = NULL;

    ret = gst_buffer_pool_acquire_buffer (pool, &buffer, NULL);
    if (ret != GST_FLOW_OK)
      break;
    if (render_frame (self, i, buffer)) {
      layer = gst_pbf_list_src_signal_meta (buffer)->signal.layer;
      gst_pbf_replay_add (replay, buffer);
    } else {
      gst_buffer_unref (buffer);
      ret = GST_FLOW_ERROR;
    }
  }
  if (ret != GST_FLOW_OK) {
    gst_pbf_replay_free (replay);
    return ret;
  }
  self->replay_layers = layer + 1;
  self->replay = replay;
  return GST_FLOW_OK;
}

/* --- time ------------------------------------------------------------------ */

/* Sets the first timestamp: that of a live source is the present running time, also
 * if the source was added to a running pipeline. */
static void
start_time (GstPbfTestSrc *self)
{
  gboolean live = gst_base_src_is_live (GST_BASE_SRC (self));
  GstClock *clock;

  GST_OBJECT_LOCK (self);
  self->time_offset = self->timestamp_offset;
  clock = GST_ELEMENT_CLOCK (self);
  if (live && clock != NULL) {
    GstClockTime now = gst_clock_get_time (clock);
    GstClockTime base = GST_ELEMENT_CAST (self)->base_time;

    if (now > base)
      self->time_offset += now - base;
  }
  self->time_known = TRUE;
  GST_OBJECT_UNLOCK (self);
}

/* A live source waits until the last frame of a list has been exposed. */
static GstFlowReturn
wait_for_frames (GstPbfTestSrc *self, guint n)
{
  GstClockReturn status;
  GstClockTime end;
  GstClockID id;
  gboolean unlocked;

  if (!gst_base_src_is_live (GST_BASE_SRC (self)))
    return GST_FLOW_OK;
  end = self->time_offset + get_test_time (self, self->frame + n);

  GST_OBJECT_LOCK (self);
  if (self->unlocked || GST_ELEMENT_CLOCK (self) == NULL) {
    unlocked = self->unlocked;
    GST_OBJECT_UNLOCK (self);
    return unlocked ? GST_FLOW_FLUSHING : GST_FLOW_OK;
  }
  id = self->clock_id = gst_clock_new_single_shot_id (GST_ELEMENT_CLOCK (self),
      GST_ELEMENT_CAST (self)->base_time + end - self->timestamp_offset);
  GST_OBJECT_UNLOCK (self);

  status = gst_clock_id_wait (id, NULL);

  GST_OBJECT_LOCK (self);
  unlocked = self->unlocked;
  self->clock_id = NULL;
  GST_OBJECT_UNLOCK (self);
  gst_clock_id_unref (id);
  return unlocked || status == GST_CLOCK_UNSCHEDULED ? GST_FLOW_FLUSHING
                                                     : GST_FLOW_OK;
}

static gboolean
gst_pbf_test_src_unlock (GstBaseSrc *base)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);

  GST_OBJECT_LOCK (self);
  g_atomic_int_set (&self->unlocked, TRUE);
  if (self->clock_id != NULL)
    gst_clock_id_unschedule (self->clock_id);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_pbf_test_src_unlock_stop (GstBaseSrc *base)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);

  GST_OBJECT_LOCK (self);
  g_atomic_int_set (&self->unlocked, FALSE);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* --- seeks ----------------------------------------------------------------- */

/* A live source cannot seek. */
static gboolean
gst_pbf_test_src_is_seekable (GstBaseSrc *base)
{
  return !gst_base_src_is_live (base);
}

/* Only notes the seek: the frame at a time is known with the caps. */
static gboolean
gst_pbf_test_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  GST_PBF_TEST_SRC (base)->sought = TRUE;
  return TRUE;
}

/* The frame that is exposed at the timestamp @time. */
static guint64
find_test_frame (GstPbfTestSrc *self, GstClockTime time)
{
  GstClockTime first = self->time_offset + self->first_time;
  guint64 frame;

  if (time <= first)
    return self->first_frame;
  frame = self->first_frame
          + gst_util_uint64_scale (time - first, (guint64) self->info.fps_n,
              (guint64) self->info.fps_d * GST_SECOND);
  /* times of frames are rounded down, too */
  return self->time_offset + get_test_time (self, frame + 1) <= time ? frame + 1
                                                                     : frame;
}

/* Number of the first frame that begins at @time or later. */
static guint64
frames_before (GstPbfTestSrc *self, GstClockTime time)
{
  if (time <= self->time_offset + self->first_time)
    return self->first_frame;
  return find_test_frame (self, time - 1) + 1;
}

static gboolean
goes_back (GstPbfTestSrc *self)
{
  return GST_BASE_SRC (self)->segment.rate < 0.0;
}

/* Goes to the frame that is exposed at the segment's position or, backwards, after
 * the last one that begins before it, as if these caps held from the start. */
static void
go_to_test_frame (GstPbfTestSrc *self)
{
  GstClockTime position = GST_BASE_SRC (self)->segment.position;
  gint wanted = GST_BASE_SRC (self)->num_buffers;

  GST_OBJECT_LOCK (self);
  self->first_frame = self->first_time = 0;
  GST_OBJECT_UNLOCK (self);
  self->frame = goes_back (self) ? frames_before (self, position)
                                 : find_test_frame (self, position);
  if (wanted >= 0)
    self->frame = MIN (self->frame, (guint64) wanted);
  self->sought = FALSE;
}

/* --- streaming ------------------------------------------------------------- */

/* Number of frames of the next list; 0 at the end, 1 backwards. */
static guint
frames_due (GstPbfTestSrc *self)
{
  gint wanted = GST_BASE_SRC (self)->num_buffers;
  GstClockTime stop = GST_BASE_SRC (self)->segment.stop;
  guint64 n = self->list_frames, end = G_MAXUINT64;

  if (goes_back (self))
    return self->frame > 0;
  if (wanted >= 0)
    end = (guint64) wanted;
  if (GST_CLOCK_TIME_IS_VALID (stop))
    end = MIN (end, frames_before (self, stop));
  if (self->frame >= end)
    return 0;
  n = MIN (n, end - self->frame);
  /* lists that begin with the same frame are used again */
  if (self->replay != NULL)
    n = MIN (n, gst_pbf_replay_get_length (self->replay)
                    - replay_index (self, self->frame));
  return (guint) n;
}

/* Fills @list with the next @n frames. */
static GstFlowReturn
render_list (
    GstPbfTestSrc *self, GstBufferPool *pool, guint n, GstBufferList **list)
{
  Exposure exposure = first_exposure (self);
  GstFlowReturn ret = GST_FLOW_OK;

  *list = gst_buffer_list_new_sized (n);
  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    GstBuffer *buffer = NULL;

    ret = make_test_frame (self, pool, &exposure, &buffer);
    if (ret == GST_FLOW_OK)
      gst_buffer_list_add (*list, buffer);
    next_exposure (self, &exposure);
    if (g_atomic_int_get (&self->unlocked))
      ret = GST_FLOW_FLUSHING;
  }
  return ret;
}

/* The same with frames rendered in advance. */
static GstFlowReturn
replay_list (GstPbfTestSrc *self, guint n, GstBufferList **list)
{
  Exposure exposure = first_exposure (self);
  GstFlowReturn ret = GST_FLOW_OK;

  gst_pbf_replay_open_list (self->replay, replay_index (self, self->frame), n);
  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    CvisPbfSignal *signal;
    GstBuffer *buffer = gst_pbf_replay_next (self->replay, &signal);

    if (buffer != NULL)
      stamp_replayed (self, &exposure, buffer, signal);
    else
      ret = fail_replay (self);
    next_exposure (self, &exposure);
  }
  *list = gst_pbf_replay_close_list (self->replay);
  return ret;
}

static GstFlowReturn
make_list (
    GstPbfTestSrc *self, GstBufferPool *pool, guint n, GstBuffer **buffer)
{
  GstBufferList *list;
  GstFlowReturn ret = self->replay != NULL ? replay_list (self, n, &list)
                                           : render_list (self, pool, n, &list);

  if (ret != GST_FLOW_OK) {
    gst_buffer_list_unref (list);
    return ret;
  }
  gst_pbf_list_src_hand_out (GST_PBF_LIST_SRC (self), list, buffer);
  return GST_FLOW_OK;
}

/* Makes the frame before the current one, or the next @n. */
static GstFlowReturn
make_frames (
    GstPbfTestSrc *self, GstBufferPool *pool, guint n, GstBuffer **buffer)
{
  gboolean back = goes_back (self);
  Exposure exposure;
  GstFlowReturn ret;

  if (back)
    self->frame--;
  exposure = first_exposure (self);
  if (back || self->list_frames == 1)
    ret = make_test_frame (self, pool, &exposure, buffer);
  else
    ret = make_list (self, pool, n, buffer);
  if (back && ret != GST_FLOW_OK)
    self->frame++;
  else if (!back && ret == GST_FLOW_OK)
    self->frame += n;
  return ret;
}

static GstFlowReturn
gst_pbf_test_src_create (
    GstBaseSrc *base, guint64 offset, guint size, GstBuffer **buffer)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);
  GstBufferPool *pool;
  GstFlowReturn ret = GST_FLOW_OK;
  guint n;

  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  if (base->num_buffers == 0)
    return GST_FLOW_EOS;
  pool = gst_base_src_get_buffer_pool (base);
  if (pool == NULL)
    return GST_FLOW_NOT_NEGOTIATED;

  if (self->replay_frames > 0 && self->replay == NULL)
    ret = fill_replay (self, pool);
  if (!self->time_known)
    start_time (self);
  if (self->sought)
    go_to_test_frame (self);
  n = frames_due (self);
  if (ret == GST_FLOW_OK && n == 0)
    ret = GST_FLOW_EOS;
  if (ret == GST_FLOW_OK)
    ret = wait_for_frames (self, n);
  if (ret == GST_FLOW_OK)
    ret = make_frames (self, pool, n, buffer);
  gst_object_unref (pool);
  return ret;
}

/* --- negotiation ----------------------------------------------------------- */

static GstCaps *
gst_pbf_test_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  GstStructure *structure;

  caps = gst_caps_make_writable (gst_caps_truncate (caps));
  structure = gst_caps_get_structure (caps, 0);
  gst_structure_fixate_field_nearest_int (structure, "width", DEFAULT_SIDE);
  gst_structure_fixate_field_nearest_int (structure, "height", DEFAULT_SIDE);
  gst_structure_fixate_field_nearest_fraction (
      structure, "framerate", DEFAULT_FPS, 1);
  if (gst_structure_has_field (structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction (
        structure, "pixel-aspect-ratio", 1, 1);
  return GST_BASE_SRC_CLASS (parent_class)->fixate (base, caps);
}

/* Posts an error with the caps on both sides, which the base class's lacks. */
static gboolean
gst_pbf_test_src_negotiate (GstBaseSrc *base)
{
  GstCaps *possible, *wanted;

  if (GST_BASE_SRC_CLASS (parent_class)->negotiate (base))
    return TRUE;
  possible = gst_pad_get_allowed_caps (base->srcpad);
  if (possible != NULL && gst_caps_is_empty (possible)
      && !GST_PAD_IS_FLUSHING (base->srcpad)) {
    wanted = gst_pad_peer_query_caps (base->srcpad, NULL);
    GST_ELEMENT_ERROR (base, CORE, NEGOTIATION,
        ("Downstream does not accept the frames. Put videoconvert and "
         "videoscale after pbftestsrc."),
        ("Unsupported caps: frames are GRAY8, %dx%d to %dx%d pixels, at up to "
         "%d frames/s; downstream requires %" GST_PTR_FORMAT,
            PBF_SIM_MIN_SIDE, PBF_SIM_MIN_SIDE, PBF_SIM_MAX_SIDE,
            PBF_SIM_MAX_SIDE, PBF_SIM_MAX_FPS, wanted));
    gst_caps_unref (wanted);
  }
  gst_clear_caps (&possible);
  return FALSE;
}

static gboolean
same_video (const GstVideoInfo *a, const GstVideoInfo *b)
{
  return a->width == b->width && a->height == b->height && a->fps_n == b->fps_n
         && a->fps_d == b->fps_d;
}

/* Default list length: single frames, for latency, if live; else lists, for
 * throughput. */
static guint
choose_list_frames (GstPbfTestSrc *self, const GstVideoInfo *info)
{
  if (self->wanted_list_frames > 0)
    return self->wanted_list_frames;
  if (gst_base_src_is_live (GST_BASE_SRC (self)))
    return 1;
  return (guint) CLAMP (
      AUTO_LIST_BYTES / GST_VIDEO_INFO_SIZE (info), 1, AUTO_LIST_FRAMES);
}

/* Another size or rate restarts the simulated build; time and frame count go on. */
static gboolean
gst_pbf_test_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);
  PbfSimConfig config = { 0 };
  PbfSimMachine machine;
  GError *error = NULL;
  GstVideoInfo info;
  guint list_frames;
  PbfSim *sim;

  if (!gst_video_info_from_caps (&info, caps)) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Unsupported caps: not raw video. Use video/x-raw after pbftestsrc."),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (self->sim != NULL && same_video (&info, &self->info)) {
    self->info = info;
    return TRUE;
  }

  config.width = info.width;
  config.height = info.height;
  config.fps_n = info.fps_n;
  config.fps_d = info.fps_d;
  GST_OBJECT_LOCK (self);
  config.seed = self->settings.seed;
  config.regime = (PbfSimRegime) self->settings.regime;
  machine = self->settings.machine;
  GST_OBJECT_UNLOCK (self);
  config.machine = &machine;
  sim = pbf_sim_new (&config, &error);
  if (sim == NULL) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, (NULL), ("%s", error->message));
    g_clear_error (&error);
    return FALSE;
  }

  if (self->sim != NULL)
    self->first_time = get_test_time (self, self->frame);
  list_frames = choose_list_frames (self, &info);
  GST_OBJECT_LOCK (self);
  self->first_frame = self->frame;
  self->info = info;
  self->list_frames = list_frames;
  GST_OBJECT_UNLOCK (self);
  pbf_sim_free (self->sim);
  self->sim = sim;
  if (gst_base_src_is_live (base))
    gst_element_post_message (GST_ELEMENT_CAST (self),
        gst_message_new_latency (GST_OBJECT_CAST (self)));
  return TRUE;
}

static gboolean
gst_pbf_test_src_decide_allocation (GstBaseSrc *base, GstQuery *query)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);

  g_clear_pointer (&self->replay, gst_pbf_replay_free);
  return gst_pbf_list_src_decide_pool (GST_PBF_LIST_SRC (self), query,
      GST_VIDEO_INFO_SIZE (&self->info),
      self->replay_frames > 0 ? self->replay_frames : self->list_frames + 1);
}

/* --- queries --------------------------------------------------------------- */

static gboolean
query_latency (GstPbfTestSrc *self, GstQuery *query)
{
  GstClockTime latency;

  GST_OBJECT_LOCK (self);
  if (self->info.fps_n <= 0) {
    GST_OBJECT_UNLOCK (self);
    return FALSE;
  }
  latency = gst_util_uint64_scale_ceil (
      self->list_frames, GST_SECOND * self->info.fps_d, self->info.fps_n);
  GST_OBJECT_UNLOCK (self);
  /* no upper limit: frames wait in the source while downstream blocks */
  gst_query_set_latency (query, TRUE, latency, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean
query_duration (GstPbfTestSrc *self, GstQuery *query)
{
  gint wanted = GST_BASE_SRC (self)->num_buffers;
  gboolean known = FALSE;
  GstFormat format;

  gst_query_parse_duration (query, &format, NULL);
  if (wanted < 0)
    return FALSE;
  if (format == GST_FORMAT_DEFAULT) {
    gst_query_set_duration (query, format, wanted);
    return TRUE;
  }
  GST_OBJECT_LOCK (self);
  if (format == GST_FORMAT_TIME && self->info.fps_n > 0
      && self->first_frame == 0) {
    gst_query_set_duration (query, format,
        gst_util_uint64_scale (
            wanted, GST_SECOND * self->info.fps_d, self->info.fps_n));
    known = TRUE;
  }
  GST_OBJECT_UNLOCK (self);
  return known;
}

static gboolean
gst_pbf_test_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);

  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY
      && gst_base_src_is_live (base))
    return query_latency (self, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_DURATION
      && query_duration (self, query))
    return TRUE;
  return GST_BASE_SRC_CLASS (parent_class)->query (base, query);
}

/* --- life ------------------------------------------------------------------ */

static gboolean
gst_pbf_test_src_start (GstBaseSrc *base)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);

  GST_OBJECT_LOCK (self);
  self->wanted_list_frames = self->settings.frames_per_list;
  self->replay_frames = self->settings.pre_render;
  self->frame = self->first_frame = 0;
  self->first_time = 0;
  self->time_known = self->sought = FALSE;
  GST_OBJECT_UNLOCK (self);
  /* num-buffers counts frames; the base class would count lists */
  base->num_buffers_left = -1;
  return TRUE;
}

static gboolean
gst_pbf_test_src_stop (GstBaseSrc *base)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (base);

  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  g_clear_pointer (&self->replay, gst_pbf_replay_free);
  g_clear_pointer (&self->sim, pbf_sim_free);
  GST_OBJECT_LOCK (self);
  gst_video_info_init (&self->info);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_pbf_test_src_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (object);

  if (id >= PROP_SETTING) {
    gst_cvis_settings_set_property (object, id, value, pspec);
    return;
  }
  gst_cvis_warn_if_late (object, pspec);
  if (id == PROP_IS_LIVE) {
    gst_base_src_set_live (GST_BASE_SRC (self), g_value_get_boolean (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  self->timestamp_offset = g_value_get_int64 (value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_pbf_test_src_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstPbfTestSrc *self = GST_PBF_TEST_SRC (object);

  if (id >= PROP_SETTING) {
    gst_cvis_settings_get_property (object, id, value, pspec);
    return;
  }
  if (id == PROP_IS_LIVE) {
    g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (self)));
    return;
  }
  GST_OBJECT_LOCK (self);
  g_value_set_int64 (value, self->timestamp_offset);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_pbf_test_src_class_init (GstPbfTestSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_test_src_debug, "pbftestsrc", 0, "synthetic melt-pool camera");

  gst_cvis_settings_bind (object_class, PROP_SETTING, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfTestSrc, settings),
      &default_settings);
  object_class->set_property = gst_pbf_test_src_set_property;
  object_class->get_property = gst_pbf_test_src_get_property;
  g_object_class_install_property (object_class, PROP_IS_LIVE,
      g_param_spec_boolean ("is-live", "is-live",
          "Push each frame at its timestamp, as a camera does", FALSE, flags));
  g_object_class_install_property (object_class, PROP_TIMESTAMP_OFFSET,
      g_param_spec_int64 ("timestamp-offset", "timestamp-offset",
          "Offset in nanoseconds added to every timestamp", 0, G_MAXINT64, 0,
          flags));

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Synthetic melt-pool camera", "Source/Video",
      "Simulates frames of laser powder-bed fusion with machine signals and "
      "ground truth",
      "the gst-cudavision authors");

  base_class->start = gst_pbf_test_src_start;
  base_class->stop = gst_pbf_test_src_stop;
  base_class->is_seekable = gst_pbf_test_src_is_seekable;
  base_class->do_seek = gst_pbf_test_src_do_seek;
  base_class->unlock = gst_pbf_test_src_unlock;
  base_class->unlock_stop = gst_pbf_test_src_unlock_stop;
  base_class->negotiate = gst_pbf_test_src_negotiate;
  base_class->fixate = gst_pbf_test_src_fixate;
  base_class->set_caps = gst_pbf_test_src_set_caps;
  base_class->decide_allocation = gst_pbf_test_src_decide_allocation;
  base_class->query = gst_pbf_test_src_query;
  base_class->create = gst_pbf_test_src_create;
}

static void
gst_pbf_test_src_init (GstPbfTestSrc *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_cvis_settings_init (self);
  self->list_frames = 1;
  gst_video_info_init (&self->info);
}
