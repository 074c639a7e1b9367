/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Elements in their pipelines, compared with the engine inside each of them
 * on the same data: time for each buffer, bytes a second, the engine's time,
 * and its share of the element's (100 %: the pipeline adds nothing).
 * Pipeline and engine alternate; the best round of each counts. The engine's
 * first runs are left out. A pipeline is timed from one buffer at the sink
 * pad of the element named "end" to a later one, which excludes setup and
 * page faults of the first buffers. Processor time (of all threads;
 * meaningful on a loaded machine too) and page faults are those of the whole
 * process between the two, divided by the buffers; memory is the peak of the
 * process by the end of the pipeline's first round, including its input.
 *
 *   bench_elements [--rounds=N] [--folder=DIR] [--model=FILE] [NAME...]
 *
 * NAME: rows whose names begin with it; default: all. The exit status is 1
 * if a row failed. GST_PLUGIN_PATH has to name the plugin; scripts/bench
 * does that. Files are written to DIR (default: a new temporary folder).
 * FILE: a network for cudapbfmonitor.
 *
 * To add a row, add a line to the table below and, if no engine of
 * elementengines.h fits, an engine there. */
#include <gst/gst.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda/core/backend.h"
#include "cuda/core/histogram.h"
#include "cuda/motion/engine.h"
#include "cuda/surface/image.h"
#include "elementengines.h"

/**
 * Row:
 * @name: on the command line; each row runs in a process of its own
 * @line: the pipeline; $F is a file name without number and extension, $B
 *   the backend, $M the network's property. The buffers of the element named
 *   "end" count. An appsrc named "in" repeats the buffers of @feed
 * @bytes: of a buffer, for bytes a second
 * @first, @count: buffers left out, buffers timed
 * @engine, @arg: engine to compare with
 * @limit: (nullable): bus limit, shown with backend=cuda
 * @format: surfaces of 4096x4096 float32 are in files $F0 and $F1 of this
 *   format
 * @feed: (nullable): a pipeline, like @line, whose @n_feed buffers are kept
 * @pooled: keep the buffers in their original memory, without a copy
 * @cuda: also run with backend=cuda if there is a GPU
 */
typedef struct {
  const gchar *name;
  const gchar *line;
  gsize bytes;
  guint first, count;
  BenchEngine engine;
  gint arg;
  SurfaceFileFormat format;
  const gchar *feed;
  guint n_feed;
  gboolean cuda, pooled;
  BenchEngine limit;
} Row;

#define SURFACE_BYTES ((gsize) 4096 * 4096 * 4)
#define SMALL_BYTES ((gsize) 512 * 512 * 4)
#define LUMA_BYTES ((gsize) 1920 * 1080)
#define FRAME_BYTES ((gsize) 96 * 96)

#define SINK "fakesink name=end sync=false enable-last-sample=false"
#define SURFACES                                                               \
  "surfacetestsrc ! other/tensors,dimensions=4096:4096:1:1 ! " SINK
/* surfaces in the memory that cudalwtfilter proposes, which it passes
 * through */
#define POOLED_OF(side)                                                        \
  "surfacetestsrc ! other/tensors,dimensions=" side ":" side ":1:1 ! "         \
  "cudalwtfilter backend=$B filter=wavelet-decimated output=none ! " SINK
#define POOLED POOLED_OF ("4096")
/* a camera moves over a picture */
#define VIDEO                                                                  \
  "videotestsrc pattern=zone-plate kx2=12 ky2=12 kt=1 horizontal-speed=5 ! "   \
  "video/x-raw,format=I420,width=1920,height=1080 ! "
#define FRAMES                                                                 \
  "pbftestsrc seed=1 pre-render=2048 frames-per-list=256 ! queue "             \
  "max-size-buffers=0 max-size-bytes=0 max-size-time=20000000 ! "
/* all settings at their defaults */
#define PLAIN_QUEUES(monitor) "queue ! " monitor " ! queue ! fakesink name=end"
#define THEN_QUEUE                                                             \
  " ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=20000000 ! "

#define SURFACE_SRC(format, FORMAT, count)                                     \
  {                                                                            \
    "surfacesrc-" format,                                                      \
        "surfacesrc location=$F%d." format                                     \
        " loop=true remove-offset=true ! " SINK,                               \
        SURFACE_BYTES, 3, count, bench_surface_load, 0, SURFACE_FILE_##FORMAT  \
  }
#define SURFACE_SINK(format, FORMAT, count)                                    \
  {                                                                            \
    "surfacesink-" format,                                                     \
        "appsrc name=in ! surfacesink name=end location=$Fout%d." format       \
        " max-files=2",                                                        \
        SURFACE_BYTES, 2, count, bench_surface_write, SURFACE_FILE_##FORMAT,   \
        SURFACE_FILE_UNKNOWN, SURFACES, 1                                      \
  }
/* bench_motion() has the same block size and precision */
#define MOTION(method, METHOD, settings, count)                                \
  {                                                                            \
    "cudamotionest-" method,                                                   \
        "appsrc name=in ! cudamotionest backend=$B method=" method             \
        " " settings " ! " SINK,                                               \
        LUMA_BYTES, 10, count, bench_motion, MOTION_METHOD_##METHOD,           \
        SURFACE_FILE_UNKNOWN, VIDEO SINK, 8, TRUE                              \
  }

static const Row rows[] = {
  SURFACE_SRC ("npy", NPY, 60),
  SURFACE_SRC ("gsf", GSF, 10),
  SURFACE_SRC ("sdf", SDF_BINARY, 10),
  SURFACE_SRC ("sur", SUR, 10),
  SURFACE_SRC ("tiff", TIFF, 10),
  SURFACE_SRC ("x3p", X3P, 4),
  { "surfacesrc-loop",
      "surfacesrc location=$F0.npy loop=true remove-offset=true ! " SINK,
      SURFACE_BYTES, 3, 20, bench_surface_load, 0, SURFACE_FILE_NPY },
  { "surfacedec", "appsrc name=in ! surfacedec ! " SINK, SURFACE_BYTES, 3, 10,
      bench_surface_read, 0, SURFACE_FILE_NPY,
      "multifilesrc location=$F%d.npy "
      "caps=application/x-surface-npy,framerate=1/1 ! " SINK,
      1 },
  { "surfacecolor",
      "appsrc name=in ! surfacecolor ! video/x-raw,format=RGB ! " SINK,
      SURFACE_BYTES, 3, 20, bench_surface_paint, 0, SURFACE_FILE_UNKNOWN,
      SURFACES, 1 },
  SURFACE_SINK ("npy", NPY, 10),
  SURFACE_SINK ("x3p", X3P, 3),
  { "cudalwtfilter",
      "appsrc name=in ! cudalwtfilter backend=$B filter=wavelet-decimated "
      "! " SINK,
      SURFACE_BYTES, 3, 15, bench_lifting, 0, SURFACE_FILE_UNKNOWN, SURFACES, 2,
      TRUE, FALSE, bench_upload },
  { "cudalwtfilter-unpooled-none",
      "appsrc name=in ! cudalwtfilter backend=$B filter=wavelet-decimated "
      "output=none ! " SINK,
      SURFACE_BYTES, 3, 15, bench_lifting, 1, SURFACE_FILE_UNKNOWN, SURFACES, 2,
      TRUE, FALSE, bench_upload },
  { "cudalwtfilter-pool",
      "appsrc name=in ! cudalwtfilter backend=$B filter=wavelet-decimated "
      "! " SINK,
      SURFACE_BYTES, 3, 15, bench_lifting, 0, SURFACE_FILE_UNKNOWN, POOLED, 2,
      TRUE, TRUE },
  { "cudalwtfilter-none",
      "appsrc name=in ! cudalwtfilter backend=$B filter=wavelet-decimated "
      "output=none ! " SINK,
      SURFACE_BYTES, 3, 15, bench_lifting, 1, SURFACE_FILE_UNKNOWN, POOLED, 2,
      TRUE, TRUE, bench_upload },
  { "cudalwtfilter-512",
      "appsrc name=in ! cudalwtfilter backend=$B filter=wavelet-decimated "
      "! " SINK,
      SMALL_BYTES, 100, 2000, bench_lifting, 0, SURFACE_FILE_UNKNOWN,
      POOLED_OF ("512"), 8, TRUE, TRUE },
  { "surfacesrc-cudalwtfilter",
      "surfacesrc location=$F%d.npy loop=true ! cudalwtfilter backend=$B "
      "filter=wavelet-decimated "
      "! " SINK,
      SURFACE_BYTES, 30, 100, bench_surface_filter, 0, SURFACE_FILE_NPY,
      SURFACES, 1, TRUE },
  { "surfacesrc-loop-cudalwtfilter",
      "surfacesrc location=$F0.npy loop=true ! cudalwtfilter backend=$B "
      "filter=wavelet-decimated "
      "! " SINK,
      SURFACE_BYTES, 3, 30, bench_lifting, 0, SURFACE_FILE_NPY, SURFACES, 1,
      TRUE },
  { "cudapbfmonitor",
      FRAMES "cudapbfmonitor backend=$B threads=1 batch-size=256 "
             "message-interval=0 $M" THEN_QUEUE SINK,
      FRAME_BYTES, 4096, 100000, bench_meltpool, 256, SURFACE_FILE_UNKNOWN,
      NULL, 0, TRUE },
  { "cudapbfmonitor-plain",
      "pbftestsrc seed=1 ! " PLAIN_QUEUES ("cudapbfmonitor backend=$B "
                                           "threads=1 $M"),
      FRAME_BYTES, 4096, 200000, bench_meltpool, 256, SURFACE_FILE_UNKNOWN,
      NULL, 0 },
  { "cudapbfmonitor-replay",
      "pbftestsrc seed=1 pre-render=2048 ! " PLAIN_QUEUES (
          "cudapbfmonitor backend=$B threads=1 batch-size=1024 $M"),
      FRAME_BYTES, 32768, 400000, bench_meltpool, 1024, SURFACE_FILE_UNKNOWN,
      NULL, 0, TRUE },
  { "cudapbfmonitor-4096",
      FRAMES "cudapbfmonitor backend=$B threads=1 batch-size=4096 "
             "message-interval=0 $M" THEN_QUEUE SINK,
      FRAME_BYTES, 32768, 200000, bench_meltpool, 4096, SURFACE_FILE_UNKNOWN,
      NULL, 0, TRUE },
  { "pbfresultenc",
      FRAMES
      "cudapbfmonitor backend=$B threads=1 batch-size=256 message-interval=0 "
      "$M name=m" THEN_QUEUE SINK " m.src_result ! pbfresultenc ! "
      "fakesink sync=false",
      FRAME_BYTES, 4096, 100000, bench_meltpool, 256, SURFACE_FILE_UNKNOWN,
      NULL, 0, TRUE },
  { "pbfresultenc-jsonl",
      FRAMES
      "cudapbfmonitor backend=$B threads=1 batch-size=256 message-interval=0 "
      "$M name=m" THEN_QUEUE SINK " m.src_result ! pbfresultenc format=jsonl ! "
      "fakesink sync=false",
      FRAME_BYTES, 4096, 100000, bench_meltpool, 256, SURFACE_FILE_UNKNOWN,
      NULL, 0, TRUE },
  MOTION ("step", STEP, "block-size=32 subpel=none", 100),
  MOTION ("zonal", ZONAL, "block-size=32 subpel=none", 100),
  MOTION ("full", FULL, "block-size=32 subpel=none", 30),
  MOTION ("field", FIELD, "", 30),
  { "motionoverlay", "appsrc name=in ! motionoverlay ! " SINK,
      LUMA_BYTES * 3 / 2, 5, 40, bench_motion_paint, 0, SURFACE_FILE_UNKNOWN,
      VIDEO "cudamotionest method=zonal ! " SINK, 8 },
  { "cudaroicrop", FRAMES "cudaroicrop ! " SINK, FRAME_BYTES, 4096, 200000,
      bench_crop, 0 },
};

static gint rounds = 3;
static gchar *folder, *model;
static gchar **names;

static GOptionEntry entries[] = {
  { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "rounds of each row", "N" },
  { "folder", 0, 0, G_OPTION_ARG_FILENAME, &folder, "for files", "DIR" },
  { "model", 0, 0, G_OPTION_ARG_FILENAME, &model, "network of cudapbfmonitor",
      "FILE" },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &names, NULL,
      "NAME..." },
  { NULL },
};

/* --- a pipeline ----------------------------------------------------------- */

/**
 * Run: a pipeline, until enough buffers have arrived at its end
 * @kept: (nullable): receives the first @first + @count buffers; @pooled:
 *   without a copy
 */
typedef struct {
  guint64 first, count;
  GPtrArray *kept;
  gboolean pooled;
  GstCaps *caps;

  guint64 n;
  gboolean begun;
  guint64 begin_n, begin_ns, ns;
  glong begin_faults, faults;
  gdouble begin_cpu, cpu; /* nanoseconds */
  gdouble per_buffer;

  GMutex lock;
  GCond cond;
  gboolean done;

  GstElement *source; /* (nullable): appsrc that is fed with @input */
  const BenchInput *input;
} Run;

static glong
count_faults (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

static gdouble
processor_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (gdouble) now.tv_sec * 1e9 + (gdouble) now.tv_nsec;
}

static void
end_run (Run *run)
{
  g_mutex_lock (&run->lock);
  run->done = TRUE;
  g_cond_signal (&run->cond);
  g_mutex_unlock (&run->lock);
}

/* A buffer, or a list of @n, has arrived. */
static void
count_buffers (Run *run, guint64 n)
{
  const guint64 now = cvis_monotonic_ns ();

  run->n += n;
  if (!run->begun && run->n > run->first) {
    run->begun = TRUE;
    run->begin_n = run->n;
    run->begin_ns = now;
    run->begin_faults = count_faults ();
    run->begin_cpu = processor_ns ();
  } else if (run->begun && run->per_buffer == 0.0
             && run->n >= run->begin_n + run->count) {
    run->per_buffer =
        (gdouble) (now - run->begin_ns) / (gdouble) (run->n - run->begin_n);
    run->faults =
        (count_faults () - run->begin_faults) / (glong) (run->n - run->begin_n);
    run->cpu =
        (processor_ns () - run->begin_cpu) / (gdouble) (run->n - run->begin_n);
    end_run (run);
  }
}

static GstPadProbeReturn
note_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Run *run = user_data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    count_buffers (
        run, gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info)));
    return GST_PAD_PROBE_OK;
  }
  if (run->kept && !run->done) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

    /* copied, because the pool may be small */
    g_ptr_array_add (run->kept,
        run->pooled ? gst_buffer_ref (buffer) : gst_buffer_copy_deep (buffer));
    if (run->caps == NULL)
      run->caps = gst_pad_get_current_caps (pad);
    if (run->kept->len == run->count)
      end_run (run);
  } else if (!run->kept) {
    count_buffers (run, 1);
  }
  return GST_PAD_PROBE_OK;
}

static GstBusSyncReply
note_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_error ("%s: %s", GST_MESSAGE_SRC_NAME (message), error->message);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* Repeats the same buffers until the pipeline ends */
static gpointer
feed_source (gpointer user_data)
{
  Run *run = user_data;
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint64 i = 0; ret == GST_FLOW_OK; i++)
    g_signal_emit_by_name (run->source, "push-buffer",
        run->input->buffers[i % run->input->n_buffers], &ret);
  return NULL;
}

/* gst_parse_launch() ignores elements that do not exist. */
static GstElement *
make_pipeline (const gchar *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  return pipeline;
}

static void
run_pipeline (Run *run, const gchar *line)
{
  GstElement *pipeline = make_pipeline (line), *end;
  GThread *feeder = NULL;
  GstBus *bus;
  GstPad *pad;

  g_mutex_init (&run->lock);
  g_cond_init (&run->cond);
  end = gst_bin_get_by_name (GST_BIN (pipeline), "end");
  pad = gst_element_get_static_pad (end, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, note_buffer,
      run, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, note_message, run, NULL);
  run->source = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  if (run->source) {
    g_object_set (run->source, "caps", run->input->caps, "format",
        GST_FORMAT_TIME, "block", TRUE, "max-bytes", (guint64) 1, NULL);
    feeder = g_thread_new ("feeder", feed_source, run);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_mutex_lock (&run->lock);
  while (!run->done)
    g_cond_wait (&run->cond, &run->lock);
  g_mutex_unlock (&run->lock);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (feeder)
    g_thread_join (feeder);
  gst_clear_object (&run->source);
  gst_object_unref (pad);
  gst_object_unref (end);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_mutex_clear (&run->lock);
  g_cond_clear (&run->cond);
}

/* --- a row ---------------------------------------------------------------- */

static gchar *
make_line (const Row *row, const gchar *line, const gchar *backend)
{
  GString *text = g_string_new (line);
  gchar *file = g_strdup_printf ("%s/%s-", folder, row->name);
  gchar *network = model ? g_strconcat ("model-location=", model, NULL) : NULL;

  g_string_replace (text, "$F", file, 0);
  g_string_replace (text, "$B", backend, 0);
  g_string_replace (text, "$M", network ? network : "", 0);
  g_free (network);
  g_free (file);
  return g_string_free (text, FALSE);
}

static void
write_surface (const Row *row, const gchar *name)
{
  gchar *line = g_strdup_printf (
      "surfacetestsrc num-buffers=1 ! other/tensors,dimensions=4096:4096:1:1 ! "
      "surfacesink format=%s location=%s",
      surface_file_format_name (row->format), name);
  GstElement *pipeline;
  GstBus *bus;

  gst_init (NULL, NULL);
  pipeline = make_pipeline (line);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
}

/* Writes the simulator's surface to file 0; file 1 is a link to it. Runs in
 * a process of its own, whose memory is not counted. */
static gchar *
make_files (const Row *row)
{
  const gchar *ending = row->format == SURFACE_FILE_SDF_BINARY
                            ? "sdf"
                            : surface_file_format_name (row->format);
  gchar *name = g_strdup_printf ("%s/%s-0.%s", folder, row->name, ending);
  gchar *other = g_strdup_printf ("%s/%s-1.%s", folder, row->name, ending);
  pid_t child = fork ();

  if (child == 0) {
    write_surface (row, name);
    _exit (0);
  }
  waitpid (child, NULL, 0);
  if (link (name, other) != 0)
    g_error ("%s: %m", other);
  g_free (other);
  return name;
}

static void
remove_files (const Row *row)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, row->name)) {
      gchar *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
      g_free (path);
    }
  g_dir_close (dir);
}

static void
print_row (const Row *row, const gchar *backend, gdouble element, gdouble cpu,
    gdouble engine, glong faults, glong memory)
{
  gchar *label = g_strdup_printf (
      "%s%s%s", row->name, row->cuda ? " " : "", row->cuda ? backend : "");
  const gboolean brief = element < 1e5;

  printf ("%-30s %10.2f %s %10.2f %s %8.2f GB/s %10.2f %s %6.0f %% %8ld %8ld "
          "MB\n",
      label, brief ? element * 1e-3 : element * 1e-6, brief ? "us" : "ms",
      brief ? cpu * 1e-3 : cpu * 1e-6, brief ? "us" : "ms",
      (gdouble) row->bytes / element, brief ? engine * 1e-3 : engine * 1e-6,
      brief ? "us" : "ms", 100.0 * engine / element, faults, memory);
  fflush (stdout);
  g_free (label);
}

static void
print_limit (gdouble element, gdouble limit)
{
  printf ("%-30s %10.2f ms, share of it %.0f %%\n", "  upload alone",
      limit * 1e-6, 100.0 * limit / element);
  fflush (stdout);
}

static void
measure (const Row *row, const gchar *backend)
{
  BenchInput input = { .model = model };
  gdouble element = G_MAXDOUBLE, engine = G_MAXDOUBLE, cpu = G_MAXDOUBLE;
  gdouble limit = G_MAXDOUBLE;
  glong faults = 0, memory = 0;
  struct rusage usage;
  GError *error = NULL;
  CvisBackend active;
  gchar *line;

  if (strcmp (backend, "cuda") == 0
      && !cvis_backend_choose (
          CVIS_BACKEND_CUDA, -1, &active, &input.context, NULL, &error)) {
    g_error_free (error); /* no GPU */
    return;
  }
  if (row->format != SURFACE_FILE_UNKNOWN)
    input.file = make_files (row);
  gst_init (NULL, NULL);
  if (row->feed) {
    Run feed = { .count = row->n_feed,
      .pooled = row->pooled,
      .kept =
          g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref) };

    line = make_line (row, row->feed, backend);
    run_pipeline (&feed, line);
    g_free (line);
    input.caps = feed.caps;
    input.buffers = (GstBuffer **) feed.kept->pdata;
    input.n_buffers = row->n_feed;
  }
  line = make_line (row, row->line, backend);
  for (gint i = 0; i < rounds; i++) {
    Run run = { .first = row->first, .count = row->count, .input = &input };

    run_pipeline (&run, line);
    element = MIN (element, run.per_buffer);
    cpu = MIN (cpu, run.cpu);
    if (i == 0) {
      getrusage (RUSAGE_SELF, &usage);
      memory = usage.ru_maxrss / 1000;
      faults = run.faults;
    } else {
      faults = MIN (faults, run.faults);
    }
    engine = MIN (engine, row->engine (&input, row->arg));
    if (row->limit && input.context)
      limit = MIN (limit, row->limit (&input, 0));
  }
  print_row (row, backend, element, cpu, engine, faults, memory);
  if (row->limit && input.context)
    print_limit (element, limit);
  remove_files (row);
  g_free (line);
}

/* Runs a row in a process of its own, for its memory use */
static gboolean
measure_apart (const Row *row, const gchar *backend)
{
  pid_t child;
  int status;

  fflush (stdout);
  child = fork ();
  if (child == 0) {
    measure (row, backend);
    _exit (0);
  }
  if (child > 0 && waitpid (child, &status, 0) == child && status == 0)
    return TRUE;
  printf ("%-30s failed\n", row->name);
  return FALSE;
}

static gboolean
is_wanted (const Row *row)
{
  for (gchar **name = names; name && *name; name++)
    if (g_str_has_prefix (row->name, *name))
      return TRUE;
  return names == NULL;
}

int
main (int argc, char **argv)
{
  GOptionContext *options = g_option_context_new (NULL);
  gboolean own_folder, ok = TRUE;
  GError *error = NULL;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error))
    g_error ("%s", error->message);
  g_option_context_free (options);
  own_folder = folder == NULL;
  if (own_folder
      && (folder = g_dir_make_tmp ("elements-XXXXXX", &error)) == NULL)
    g_error ("%s", error->message);

  printf ("%-30s %13s %13s %13s %13s %8s %8s %11s\n", "element", "a buffer",
      "processor", "throughput", "engine", "share", "faults", "peak");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (!is_wanted (&rows[i]))
      continue;
    ok = measure_apart (&rows[i], "cpu") && ok;
    if (rows[i].cuda)
      ok = measure_apart (&rows[i], "cuda") && ok;
  }
  if (own_folder)
    g_rmdir (folder);
  return ok ? 0 : 1;
}
