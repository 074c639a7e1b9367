/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/jit/jitimage.h"

#include "cuda/core/jit/jitcache.h"

#define MAX_COMPILING 2

/* Shared by its owner and its thread. The thread writes the members under
 * "result" before it sets @state; the owner reads them afterwards. */
struct _CvisJitImage {
  gatomicrefcount refs;
  CvisJitSource source;
  gint compute_capability, driver_version;

  gint state;       /* atomic: a CvisJitState */
  gint abandoned;   /* atomic: the owner is gone */
  gboolean loading; /* under the lock: the thread may be loading NVRTC */

  /* result */
  gchar *key;
  GBytes *bytes;
  GError *error;
  gchar *description;
};

/* Protects @compiling and members of images; @changed signals changes of these and of
 * states. */
static GMutex lock;
static GCond changed;
static guint compiling;

static void
release_image (CvisJitImage *image)
{
  if (!g_atomic_ref_count_dec (&image->refs))
    return;
  for (guint i = 0; i < image->source.n_headers; i++) {
    g_free ((gchar *) image->source.headers[i].name);
    g_free ((gchar *) image->source.headers[i].text);
  }
  g_free ((CvisJitHeader *) image->source.headers);
  g_free ((gchar *) image->source.name);
  g_free ((gchar *) image->source.text);
  g_strfreev ((gchar **) image->source.options);
  g_free (image->key);
  g_clear_pointer (&image->bytes, g_bytes_unref);
  g_clear_error (&image->error);
  g_free (image->description);
  g_free (image);
}

/* Waits for a free compilation slot. Returns: FALSE if the owner has
 * released the image */
static gboolean
begin_compiling (CvisJitImage *image)
{
  gboolean wanted;

  g_mutex_lock (&lock);
  while (compiling >= MAX_COMPILING && !g_atomic_int_get (&image->abandoned))
    g_cond_wait (&changed, &lock);
  wanted = !g_atomic_int_get (&image->abandoned);
  compiling += wanted;
  g_mutex_unlock (&lock);
  return wanted;
}

static void
end_compiling (void)
{
  g_mutex_lock (&lock);
  compiling--;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
}

static void
compile_image (CvisJitImage *image, const gchar *compiler, const gchar *target)
{
  gint64 start;
  GError *error = NULL;

  if (!begin_compiling (image)) {
    g_set_error_literal (&image->error, CVIS_ERROR, CVIS_ERROR_CUDA,
        "not compiled: not needed any more");
    return;
  }
  /* another thread may have compiled the same */
  image->bytes = cvis_jit_cache_load (image->key);
  if (image->bytes != NULL) {
    image->description = g_strconcat (compiler, ", cached", NULL);
  } else {
    start = g_get_monotonic_time ();
    image->bytes = cvis_nvrtc_compile (&image->source, target, &image->error);
    if (image->bytes != NULL) {
      image->description = g_strdup_printf ("%s, compiled in %.1f s", compiler,
          (g_get_monotonic_time () - start) / 1e6);
      if (!cvis_jit_cache_store (image->key, image->bytes, &error)) {
        g_debug ("%s is not stored in the cache: %s", image->source.name,
            error->message);
        g_clear_error (&error);
      }
    }
  }
  end_compiling ();
}

/* The name of the compiler. The first call in a process loads it, and the owner waits
 * for that: see cvis_jit_image_free(). */
static const gchar *
load_compiler (CvisJitImage *image)
{
  const gchar *compiler = NULL;

  g_mutex_lock (&lock);
  image->loading = !g_atomic_int_get (&image->abandoned);
  g_mutex_unlock (&lock);
  if (image->loading)
    compiler = cvis_nvrtc_name (&image->error);
  else
    g_set_error_literal (&image->error, CVIS_ERROR, CVIS_ERROR_CUDA,
        "not compiled: not needed any more");
  g_mutex_lock (&lock);
  image->loading = FALSE;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
  return compiler;
}

static gpointer
build_image (gpointer data)
{
  CvisJitImage *image = data;
  const gchar *compiler = load_compiler (image);
  gchar target[32];

  if (compiler != NULL
      && cvis_nvrtc_target (image->compute_capability, target, &image->error)) {
    image->key = cvis_jit_cache_key (
        &image->source, compiler, target, image->driver_version);
    image->bytes = cvis_jit_cache_load (image->key);
    if (image->bytes != NULL)
      image->description = g_strconcat (compiler, ", cached", NULL);
    else
      compile_image (image, compiler, target);
  }
  g_mutex_lock (&lock);
  g_atomic_int_set (
      &image->state, image->bytes != NULL ? CVIS_JIT_READY : CVIS_JIT_FAILED);
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
  release_image (image);
  return NULL;
}

CvisJitImage *
cvis_jit_image_new (
    const CvisJitSource *source, gint compute_capability, gint driver_version)
{
  CvisJitImage *image = g_new0 (CvisJitImage, 1);
  CvisJitHeader *headers = g_new0 (CvisJitHeader, source->n_headers + 1);
  GThread *thread;

  g_atomic_ref_count_init (&image->refs);
  for (guint i = 0; i < source->n_headers; i++) {
    headers[i].name = g_strdup (source->headers[i].name);
    headers[i].text = g_strdup (source->headers[i].text);
  }
  image->source.headers = headers;
  image->source.n_headers = source->n_headers;
  image->source.name = g_strdup (source->name);
  image->source.text = g_strdup (source->text);
  image->source.options =
      (const gchar *const *) g_strdupv ((gchar **) source->options);
  image->compute_capability = compute_capability;
  image->driver_version = driver_version;
  image->state = CVIS_JIT_COMPILING;
  g_atomic_ref_count_inc (&image->refs);
  thread =
      g_thread_try_new ("cudavision-jit", build_image, image, &image->error);
  if (thread != NULL) {
    g_thread_unref (thread);
  } else {
    image->state = CVIS_JIT_FAILED;
    release_image (image);
  }
  return image;
}

CvisJitState
cvis_jit_image_poll (CvisJitImage *image)
{
  return (CvisJitState) g_atomic_int_get (&image->state);
}

GBytes *
cvis_jit_image_wait (CvisJitImage *image, GError **error)
{
  g_mutex_lock (&lock);
  while (cvis_jit_image_poll (image) == CVIS_JIT_COMPILING)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
  if (image->bytes == NULL)
    g_propagate_error (error, g_error_copy (image->error));
  return image->bytes;
}

const gchar *
cvis_jit_image_describe (CvisJitImage *image)
{
  switch (cvis_jit_image_poll (image)) {
    case CVIS_JIT_COMPILING:
      return "NVRTC compiles";
    case CVIS_JIT_READY:
      return image->description;
    default:
      return image->error->message;
  }
}

void
cvis_jit_image_reject (CvisJitImage *image)
{
  if (cvis_jit_image_poll (image) == CVIS_JIT_READY)
    cvis_jit_cache_remove (image->key);
}

void
cvis_jit_image_free (CvisJitImage *image)
{
  if (image == NULL)
    return;
  g_mutex_lock (&lock);
  g_atomic_int_set (&image->abandoned, 1);
  g_cond_broadcast (&changed);
  while (image->loading && !cvis_nvrtc_is_exiting ())
    g_cond_wait_until (&changed, &lock,
        g_get_monotonic_time () + 50 * G_TIME_SPAN_MILLISECOND);
  g_mutex_unlock (&lock);
  release_image (image);
}
