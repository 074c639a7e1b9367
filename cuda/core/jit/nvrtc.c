/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/jit/nvrtc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* NVRTC's binary interface as of CUDA 11.2; its header is not needed. */
typedef struct NvrtcProgram NvrtcProgram;
enum { NVRTC_OK = 0, NVRTC_INVALID_OPTION = 5, NVRTC_COMPILATION = 6 };

typedef struct {
  const gchar *(*get_error_string) (int code);
  int (*version) (int *major, int *minor);
  int (*count_archs) (int *count);
  int (*list_archs) (int *archs);
  int (*create) (NvrtcProgram **program, const gchar *source, const gchar *name,
      int n_headers, const gchar *const *texts, const gchar *const *names);
  int (*destroy) (NvrtcProgram **program);
  int (*compile) (
      NvrtcProgram *program, int n_options, const gchar *const *options);
  int (*cubin_size) (NvrtcProgram *program, gsize *size);
  int (*cubin) (NvrtcProgram *program, gchar *bytes);
  int (*ptx_size) (NvrtcProgram *program, gsize *size);
  int (*ptx) (NvrtcProgram *program, gchar *bytes);
  int (*log_size) (NvrtcProgram *program, gsize *size);
  int (*log) (NvrtcProgram *program, gchar *text);
  /* since CUDA 13.0, else %NULL */
  int (*set_flow_callback) (
      NvrtcProgram *program, int (*callback) (void *, void *), void *data);

  gchar name[32];
  gint *archs;
  gint n_archs;
  gchar *error; /* why NVRTC is not available */
} Nvrtc;

/* --- exit -------------------------------------------------------------------- */

/* If a process exits while a thread is inside NVRTC, exit() runs the
 * library's destructors under that thread. So an exit handler asks
 * compilations to end and waits for them. */
static GMutex lock;
static GCond ended;
static guint running;
static gint exiting;

gboolean
cvis_nvrtc_is_exiting (void)
{
  return g_atomic_int_get (&exiting);
}

static int
is_exiting (void *data, void *reserved)
{
  return cvis_nvrtc_is_exiting ();
}

static void
cancel_all (void)
{
  const gint64 end = g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&lock);
  g_atomic_int_set (&exiting, 1);
  while (running > 0 && g_cond_wait_until (&ended, &lock, end))
    ;
  g_mutex_unlock (&lock);
}

/* exit() calls handlers in reverse order of registration, and parts of the
 * compiler register their own when first used. So ours is registered after
 * the library has been loaded and used once, and again after each
 * compilation. An exit during this first use (about 100 ms) is not covered:
 * cvis_jit_image_free() waits for its end.
 *
 * Does not return if the process exits: the end of the thread would run the
 * destructors of the library's variables too. */
static void
leave_nvrtc (void)
{
  atexit (cancel_all);
  g_mutex_lock (&lock);
  running--;
  g_cond_broadcast (&ended);
  while (exiting)
    g_cond_wait (&ended, &lock);
  g_mutex_unlock (&lock);
}

/* Returns: FALSE if the process exits */
static gboolean
enter_nvrtc (void)
{
  gboolean entered;

  g_mutex_lock (&lock);
  entered = !exiting;
  running += entered;
  g_mutex_unlock (&lock);
  return entered;
}

/* --- loading ----------------------------------------------------------------- */

static void *
open_nvrtc (gchar **error)
{
  static const gchar *const names[] = { "libnvrtc.so", "libnvrtc.so.13",
    "libnvrtc.so.12", "libnvrtc.so.11.2" };
  const gchar *chosen = g_getenv ("CUDAVISION_NVRTC");
  const gchar *toolkits[] = { NULL, g_getenv ("CUDA_PATH"), "/usr/local/cuda" };
  void *library;

  if (chosen != NULL) {
    library = dlopen (chosen, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
      *error = g_strdup_printf (
          "NVRTC cannot be loaded: CUDAVISION_NVRTC is \"%s\": %s", chosen,
          dlerror ());
    return library;
  }
  for (guint i = 0; i < G_N_ELEMENTS (toolkits); i++) {
    for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
      gchar *path;

      if (i > 0 && toolkits[i] == NULL)
        continue;
      path = i == 0 ? g_strdup (names[k])
                    : g_build_filename (toolkits[i], "lib64", names[k], NULL);
      library = dlopen (path, RTLD_LAZY | RTLD_LOCAL);
      g_free (path);
      if (library != NULL)
        return library;
    }
  }
  *error =
      g_strdup ("NVRTC is not found: no libnvrtc.so on the linker's path, in "
                "$CUDA_PATH/lib64 or in /usr/local/cuda/lib64. Install it "
                "or set CUDAVISION_NVRTC to its path");
  return NULL;
}

static void
look_up_functions (Nvrtc *nvrtc)
{
  void *library = open_nvrtc (&nvrtc->error);
  int major = 0, minor = 0;
  const struct {
    const gchar *name;
    gpointer *function;
  } needed[] = {
    { "nvrtcGetErrorString", (gpointer *) &nvrtc->get_error_string },
    { "nvrtcVersion", (gpointer *) &nvrtc->version },
    { "nvrtcGetNumSupportedArchs", (gpointer *) &nvrtc->count_archs },
    { "nvrtcGetSupportedArchs", (gpointer *) &nvrtc->list_archs },
    { "nvrtcCreateProgram", (gpointer *) &nvrtc->create },
    { "nvrtcDestroyProgram", (gpointer *) &nvrtc->destroy },
    { "nvrtcCompileProgram", (gpointer *) &nvrtc->compile },
    { "nvrtcGetCUBINSize", (gpointer *) &nvrtc->cubin_size },
    { "nvrtcGetCUBIN", (gpointer *) &nvrtc->cubin },
    { "nvrtcGetPTXSize", (gpointer *) &nvrtc->ptx_size },
    { "nvrtcGetPTX", (gpointer *) &nvrtc->ptx },
    { "nvrtcGetProgramLogSize", (gpointer *) &nvrtc->log_size },
    { "nvrtcGetProgramLog", (gpointer *) &nvrtc->log },
  };

  if (library == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    *needed[i].function = dlsym (library, needed[i].name);
    if (*needed[i].function == NULL) {
      nvrtc->error = g_strdup_printf (
          "NVRTC is too old, CUDA 11.2 or newer is needed: it has no %s",
          needed[i].name);
      return;
    }
  }
  *(gpointer *) &nvrtc->set_flow_callback =
      dlsym (library, "nvrtcSetFlowCallback");
  if (nvrtc->version (&major, &minor) != NVRTC_OK
      || nvrtc->count_archs (&nvrtc->n_archs) != NVRTC_OK) {
    nvrtc->error = g_strdup ("NVRTC does not report its version. Set "
                             "CUDAVISION_NVRTC to another libnvrtc");
    return;
  }
  nvrtc->archs = g_new0 (gint, MAX (nvrtc->n_archs, 1));
  nvrtc->list_archs (nvrtc->archs);
  g_snprintf (nvrtc->name, sizeof nvrtc->name, "NVRTC %d.%d", major, minor);
}

/* Compiles a kernel to machine code, so that all parts of the compiler have
 * registered their exit handlers before the first real compilation. */
static void
use_once (const Nvrtc *nvrtc)
{
  gchar *architecture =
      g_strdup_printf ("--gpu-architecture=sm_%d", nvrtc->archs[0]);
  const gchar *const options[] = { architecture };
  NvrtcProgram *program = NULL;

  if (nvrtc->create (&program,
          "__global__ void f (float *a) { a[threadIdx.x] += 1.0f; }", "f.cu", 0,
          NULL, NULL)
      == NVRTC_OK) {
    if (nvrtc->set_flow_callback != NULL)
      nvrtc->set_flow_callback (program, is_exiting, NULL);
    nvrtc->compile (program, 1, options);
    nvrtc->destroy (&program);
  }
  g_free (architecture);
}

static gpointer
load_nvrtc (gpointer unused)
{
  Nvrtc *nvrtc = g_new0 (Nvrtc, 1);

  atexit (cancel_all); /* covers an exit during loading */
  if (enter_nvrtc ()) {
    look_up_functions (nvrtc);
    if (nvrtc->error == NULL)
      use_once (nvrtc);
    leave_nvrtc ();
  } else {
    nvrtc->error = g_strdup ("NVRTC is not loaded: the process exits");
  }
  return nvrtc;
}

static const Nvrtc *
get_nvrtc (GError **error)
{
  static GOnce once = G_ONCE_INIT;
  const Nvrtc *nvrtc = g_once (&once, load_nvrtc, NULL);

  if (nvrtc->error == NULL)
    return nvrtc;
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_CUDA, nvrtc->error);
  return NULL;
}

const gchar *
cvis_nvrtc_name (GError **error)
{
  const Nvrtc *nvrtc = get_nvrtc (error);

  return nvrtc != NULL ? nvrtc->name : NULL;
}

gboolean
cvis_nvrtc_target (gint compute_capability, gchar *target, GError **error)
{
  const Nvrtc *nvrtc = get_nvrtc (error);
  gint best = 0;

  if (nvrtc == NULL)
    return FALSE;
  for (gint i = 0; i < nvrtc->n_archs; i++) {
    if (nvrtc->archs[i] <= compute_capability)
      best = MAX (best, nvrtc->archs[i]);
  }
  if (best == 0) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_CUDA,
        "%s does not compile for compute capability %d.%d any more",
        nvrtc->name, compute_capability / 10, compute_capability % 10);
    return FALSE;
  }
  g_snprintf (
      target, 32, "%s_%d", best == compute_capability ? "sm" : "compute", best);
  return TRUE;
}

/* --- compiling --------------------------------------------------------------- */

static gboolean
begin_compiling (GError **error)
{
  if (enter_nvrtc ())
    return TRUE;
  g_set_error_literal (
      error, CVIS_ERROR, CVIS_ERROR_CUDA, "not compiled: the process exits");
  return FALSE;
}

/* Sets @error from the first errors in a failed compilation's log. */
static void
report_failure (const Nvrtc *nvrtc, NvrtcProgram *program,
    const gchar *source_name, int code, GError **error)
{
  gsize size = 0;
  gchar *log, *from, *to;

  if (nvrtc->log_size (program, &size) != NVRTC_OK)
    size = 0;
  log = g_malloc0 (size + 1);
  if (size > 0)
    nvrtc->log (program, log);
  /* the line of the first error and the next five */
  from = strstr (log, "error");
  while (from != NULL && from > log && from[-1] != '\n')
    from--;
  if (from == NULL)
    from = log;
  to = from;
  for (guint line = 0; line < 6 && to != NULL; line++)
    to = strchr (to + (line > 0), '\n');
  if (to != NULL)
    *to = '\0';
  g_strchomp (from);
  g_set_error (error, CVIS_ERROR,
      code == NVRTC_COMPILATION || code == NVRTC_INVALID_OPTION
          ? CVIS_ERROR_INVALID
          : CVIS_ERROR_CUDA,
      "%s does not compile %s: %s%s%s", nvrtc->name, source_name,
      nvrtc->get_error_string (code), *from ? ":\n" : "", from);
  g_free (log);
}

static int
compile_program (const Nvrtc *nvrtc, NvrtcProgram *program,
    const CvisJitSource *source, const gchar *target)
{
  GPtrArray *options = g_ptr_array_new ();
  gchar *architecture = g_strconcat ("--gpu-architecture=", target, NULL);
  int code;

  g_ptr_array_add (options, architecture);
  g_ptr_array_add (options, (gpointer) "--std=c++17");
  g_ptr_array_add (options, (gpointer) "--fmad=false");
  for (guint i = 0; source->options != NULL && source->options[i] != NULL; i++)
    g_ptr_array_add (options, (gpointer) source->options[i]);
  if (nvrtc->set_flow_callback != NULL)
    nvrtc->set_flow_callback (program, is_exiting, NULL);
  code = nvrtc->compile (
      program, (int) options->len, (const gchar *const *) options->pdata);
  g_ptr_array_unref (options);
  g_free (architecture);
  return code;
}

/* Returns: NVRTC's result code */
static int
get_image (const Nvrtc *nvrtc, NvrtcProgram *program, const gchar *target,
    GBytes **image)
{
  const gboolean cubin = g_str_has_prefix (target, "sm_");
  gsize size = 0;
  gchar *bytes;
  int code;

  code = (cubin ? nvrtc->cubin_size : nvrtc->ptx_size) (program, &size);
  if (code != NVRTC_OK)
    return code;
  bytes = g_malloc0 (size + 1);
  code = (cubin ? nvrtc->cubin : nvrtc->ptx) (program, bytes);
  *image = g_bytes_new_take (bytes, size);
  return code;
}

GBytes *
cvis_nvrtc_compile (
    const CvisJitSource *source, const gchar *target, GError **error)
{
  const Nvrtc *nvrtc = get_nvrtc (error);
  const gchar **texts, **names;
  NvrtcProgram *program = NULL;
  GBytes *image = NULL;
  int code;

  if (nvrtc == NULL || !begin_compiling (error))
    return NULL;
  texts = g_new0 (const gchar *, source->n_headers + 1);
  names = g_new0 (const gchar *, source->n_headers + 1);
  for (guint i = 0; i < source->n_headers; i++) {
    texts[i] = source->headers[i].text;
    names[i] = source->headers[i].name;
  }
  code = nvrtc->create (&program, source->text, source->name,
      (int) source->n_headers, texts, names);
  if (code == NVRTC_OK)
    code = compile_program (nvrtc, program, source, target);
  if (code == NVRTC_OK)
    code = get_image (nvrtc, program, target, &image);
  if (code != NVRTC_OK) {
    g_clear_pointer (&image, g_bytes_unref);
    report_failure (nvrtc, program, source->name, code, error);
  }
  if (program != NULL)
    nvrtc->destroy (&program);
  leave_nvrtc ();
  g_free (texts);
  g_free (names);
  return image;
}
