/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Run-time compilation without a device: the compiler, the cache, the
 * background thread. */
#include "cuda/core/jit/jitcache.h"
#include "cuda/core/jit/jitimage.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <utime.h>

/* The test's sources, embedded by scripts/embed. */
extern const CvisJitHeader cvis_jit_test_files[3];

#define ARCH 80 /* supported by every NVRTC from 11.2 to 13.0 */
#define DRIVER 13000

static const gchar *const options[] = { "-DFACTOR=3", NULL };

/* tests/unit/core/jit/scale.cu and its headers */
static CvisJitSource
scale_source (void)
{
  const CvisJitSource source = { cvis_jit_test_files[0].name,
    cvis_jit_test_files[0].text, cvis_jit_test_files + 1, 2, options };

  return source;
}

static gchar *
scale_path (void)
{
  const CvisJitSource source = scale_source ();
  gchar *key, *path, target[32];

  g_assert_true (cvis_nvrtc_target (ARCH, target, NULL));
  key = cvis_jit_cache_key (&source, cvis_nvrtc_name (NULL), target, DRIVER);
  path = cvis_jit_cache_path (key);
  g_free (key);
  return path;
}

/* Builds the kernel. Returns: the description, compiled or cached */
static gchar *
build_scale (void)
{
  const CvisJitSource source = scale_source ();
  CvisJitImage *image = cvis_jit_image_new (&source, ARCH, DRIVER);
  GError *error = NULL;
  GBytes *bytes = cvis_jit_image_wait (image, &error);
  gchar *description;

  g_assert_no_error (error);
  g_assert_cmpint (cvis_jit_image_poll (image), ==, CVIS_JIT_READY);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), 4, "\177ELF", 4);
  description = g_strdup (cvis_jit_image_describe (image));
  cvis_jit_image_free (image);
  return description;
}

static void
assert_built (const gchar *how)
{
  gchar *description = build_scale ();

  g_test_message ("%s", description);
  g_assert_nonnull (strstr (description, how));
  g_free (description);
}

/* --- the compiler -------------------------------------------------------------- */

static void
test_target (void)
{
  gchar target[32];
  GError *error = NULL;

  g_assert_true (cvis_nvrtc_target (ARCH, target, NULL));
  g_assert_cmpstr (target, ==, "sm_80");
  /* newer than any known: PTX of the newest known one */
  g_assert_true (cvis_nvrtc_target (990, target, NULL));
  g_assert_true (g_str_has_prefix (target, "compute_"));
  g_assert_false (cvis_nvrtc_target (20, target, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CUDA);
  g_assert_nonnull (strstr (error->message, "2.0"));
  g_clear_error (&error);
}

static void
test_ptx (void)
{
  const CvisJitSource source = scale_source ();
  GError *error = NULL;
  GBytes *bytes = cvis_nvrtc_compile (&source, "compute_80", &error);
  gsize size;
  const gchar *text;

  g_assert_no_error (error);
  text = g_bytes_get_data (bytes, &size);
  g_assert_cmpint (text[size - 1], ==, '\0');
  g_assert_nonnull (strstr (text, ".entry scale"));
  /* the constants were passed */
  g_assert_nonnull (strstr (text, "0f40400000"));
  /* nothing is fused that the source does not fuse */
  g_assert_null (strstr (text, "fma."));
  g_bytes_unref (bytes);
}

static void
assert_fails (const CvisJitSource *source, CvisError code, const gchar *word)
{
  CvisJitImage *image = cvis_jit_image_new (source, ARCH, DRIVER);
  GError *error = NULL;

  g_assert_null (cvis_jit_image_wait (image, &error));
  g_assert_cmpint (cvis_jit_image_poll (image), ==, CVIS_JIT_FAILED);
  g_test_message ("%s", error->message);
  g_assert_error (error, CVIS_ERROR, (gint) code);
  g_assert_nonnull (strstr (error->message, word));
  g_assert_cmpstr (cvis_jit_image_describe (image), ==, error->message);
  g_clear_error (&error);
  cvis_jit_image_free (image);
}

static void
test_wrong_source (void)
{
  const gchar *const wrong[] = { "--no-such-option", NULL };
  CvisJitSource source = { "wrong.cu",
    "\n__global__ void f (int *a) { *a = no_such_name; }\n", NULL, 0, NULL };

  /* the error has file, line and the compiler's text */
  assert_fails (&source, CVIS_ERROR_INVALID, "wrong.cu(2)");
  assert_fails (&source, CVIS_ERROR_INVALID, "no_such_name");
  source.text = "#include \"absent.cuh\"\n";
  assert_fails (&source, CVIS_ERROR_INVALID, "absent.cuh");
  source.text = "";
  source.options = wrong;
  assert_fails (&source, CVIS_ERROR_INVALID, "no-such-option");
}

static void
test_no_compiler (void)
{
  const CvisJitSource source = scale_source ();

  if (g_test_subprocess ()) {
    assert_fails (&source, CVIS_ERROR_CUDA, "no-such-library.so");
    return;
  }
  g_setenv ("CUDAVISION_NVRTC", "/no-such-library.so", TRUE);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_unsetenv ("CUDAVISION_NVRTC");
  g_test_trap_assert_passed ();
}

/* --- the cache ----------------------------------------------------------------- */

static void
test_key (void)
{
  static const CvisJitHeader joined[] = { { "a", "bc" }, { "", "" } };
  static const CvisJitHeader split[] = { { "ab", "c" }, { "", "" } };
  const gchar *const other[] = { "-DFACTOR=4", NULL };
  CvisJitSource sources[] = { scale_source (), scale_source (), scale_source (),
    scale_source (), scale_source (), scale_source () };
  gchar *keys[G_N_ELEMENTS (sources) + 3];
  guint n = 0;

  sources[1].options = other;
  sources[2].options = NULL;
  sources[3].text = "";
  sources[4].headers = joined;
  sources[5].headers = split;
  for (; n < G_N_ELEMENTS (sources); n++)
    keys[n] = cvis_jit_cache_key (&sources[n], "NVRTC 13.0", "sm_90", DRIVER);
  keys[n++] = cvis_jit_cache_key (&sources[0], "NVRTC 12.9", "sm_90", DRIVER);
  keys[n++] = cvis_jit_cache_key (&sources[0], "NVRTC 13.0", "sm_80", DRIVER);
  keys[n++] = cvis_jit_cache_key (&sources[0], "NVRTC 13.0", "sm_90", 12090);
  for (guint i = 0; i < n; i++) {
    for (guint k = 0; k < i; k++)
      g_assert_cmpstr (keys[i], !=, keys[k]);
  }
  for (guint i = 0; i < n; i++)
    g_free (keys[i]);
}

static void
test_cached (void)
{
  gchar *path = scale_path ();

  g_unlink (path);
  assert_built ("compiled in");
  assert_built ("cached");
  g_setenv ("CUDAVISION_JIT_CACHE", "off", TRUE);
  assert_built ("compiled in");
  g_unsetenv ("CUDAVISION_JIT_CACHE");
  assert_built ("cached");
  g_free (path);
}

/* A damaged file is compiled again and replaced. */
static void
test_damaged (void)
{
  gchar *path = scale_path (), *contents;
  gsize size;

  g_free (build_scale ());
  g_assert_true (g_file_get_contents (path, &contents, &size, NULL));
  for (guint i = 0; i < 6; i++) {
    const gsize at[] = { 0, 30, 100, size / 2, size - 1, size };
    const gsize lengths[] = { 0, 1, 30, 140, size / 2, size - 1 };
    gchar *bad = g_memdup2 (contents, size + 1);

    bad[at[i]] ^= 0x10;
    /* the last variant has one byte too many */
    g_assert_true (g_file_set_contents (path, bad, size + (i == 5), NULL));
    assert_built ("compiled in");
    assert_built ("cached");
    g_assert_true (g_file_set_contents (path, contents, lengths[i], NULL));
    assert_built ("compiled in");
    assert_built ("cached");
    g_free (bad);
  }
  g_free (contents);
  g_free (path);
}

/* An entry with another key is not used. */
static void
test_other_key (void)
{
  GBytes *bytes = g_bytes_new_static ("kernel", 6), *loaded;
  gchar *from = cvis_jit_cache_path ("one"), *to = cvis_jit_cache_path ("two");

  g_assert_true (cvis_jit_cache_store ("one", bytes, NULL));
  loaded = cvis_jit_cache_load ("one");
  g_assert_true (g_bytes_equal (bytes, loaded));
  g_bytes_unref (loaded);
  g_assert_cmpint (g_rename (from, to), ==, 0);
  g_assert_null (cvis_jit_cache_load ("two"));
  cvis_jit_cache_remove ("two");
  g_assert_false (g_file_test (to, G_FILE_TEST_EXISTS));
  g_bytes_unref (bytes);
  g_free (from);
  g_free (to);
}

static void
test_no_folder (void)
{
  GBytes *bytes = g_bytes_new_static ("kernel", 6);
  GError *error = NULL;

  if (g_test_subprocess ()) {
    /* a file in place of the folder, which also stops root */
    assert_built ("compiled in");
    assert_built ("compiled in");
    g_assert_false (cvis_jit_cache_store ("one", bytes, &error));
    g_assert_nonnull (error);
    g_clear_error (&error);
    cvis_jit_cache_prune (0, 0);
  } else {
    gchar *usual = g_strdup (g_getenv ("XDG_CACHE_HOME"));
    gchar *file = g_build_filename (usual, "file", NULL);

    g_assert_true (g_file_set_contents (file, "", 0, NULL));
    g_setenv ("XDG_CACHE_HOME", file, TRUE);
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_setenv ("XDG_CACHE_HOME", usual, TRUE);
    g_test_trap_assert_passed ();
    g_unlink (file);
    g_free (file);
    g_free (usual);
  }
  g_bytes_unref (bytes);
}

/* Sets the time of the entry's last use. */
static void
set_age (const gchar *key, gint64 seconds)
{
  const time_t then = (time_t) (g_get_real_time () / G_USEC_PER_SEC - seconds);
  struct utimbuf times = { then, then };
  gchar *path = cvis_jit_cache_path (key);

  g_assert_cmpint (g_utime (path, &times), ==, 0);
  g_free (path);
}

static gboolean
is_cached (const gchar *key)
{
  gchar *path = cvis_jit_cache_path (key);
  gboolean exists = g_file_test (path, G_FILE_TEST_EXISTS);

  g_free (path);
  return exists;
}

static void
test_prune (void)
{
  static const gchar *const keys[] = { "a", "b", "c" };
  gchar *data = g_malloc0 (100000);
  GBytes *bytes = g_bytes_new_take (data, 100000);

  for (guint i = 0; i < 3; i++)
    g_assert_true (cvis_jit_cache_store (keys[i], bytes, NULL));
  set_age ("a", 100);
  set_age ("b", 200);
  set_age ("c", 300);
  /* use updates the time */
  g_bytes_unref (cvis_jit_cache_load ("c"));
  cvis_jit_cache_prune (150, 1 << 30);
  g_assert_true (is_cached ("a") && !is_cached ("b") && is_cached ("c"));
  cvis_jit_cache_prune (150, 150000);
  g_assert_true (!is_cached ("a") && is_cached ("c"));
  /* adding an entry removes entries older than 180 days */
  set_age ("c", 181 * 24 * 3600);
  g_assert_true (cvis_jit_cache_store ("a", bytes, NULL));
  g_assert_true (is_cached ("a") && !is_cached ("c"));
  cvis_jit_cache_remove ("a");
  g_bytes_unref (bytes);
}

/* --- threads and processes --------------------------------------------------- */

static void
test_processes (void)
{
  if (g_test_subprocess ()) {
    for (guint i = 0; i < 5; i++) {
      gchar *path = scale_path ();

      g_free (build_scale ());
      g_unlink (path);
      g_free (path);
    }
  } else {
    gchar *self = g_file_read_link ("/proc/self/exe", NULL);
    gchar *arguments[] = { self, "-p", "/jit/processes", "--GTestSubprocess",
      NULL };
    GPid children[3];

    for (guint i = 0; i < G_N_ELEMENTS (children); i++)
      g_assert_true (g_spawn_async (NULL, arguments, NULL,
          G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
          &children[i], NULL));
    for (guint i = 0; i < G_N_ELEMENTS (children); i++) {
      gint status = -1;

      g_assert_cmpint (waitpid (children[i], &status, 0), ==, children[i]);
      g_assert_cmpint (status, ==, 0);
    }
    g_free (self);
  }
}

/* Frees images at every stage of a compilation, more of them than can run at
 * once. */
static void
test_free_early (void)
{
  const CvisJitSource source = scale_source ();
  CvisJitImage *images[6];
  guint slow = 0;
  gint64 start;

  cvis_jit_image_free (NULL);
  for (guint round = 0; round < 12; round++) {
    /* another driver means another key */
    for (guint i = 0; i < G_N_ELEMENTS (images); i++)
      images[i] = cvis_jit_image_new (&source, ARCH, 100 * round + i / 2);
    g_usleep (round * 3000);
    for (guint i = 0; i < G_N_ELEMENTS (images); i++)
      cvis_jit_image_poll (images[i]);
    start = g_get_monotonic_time ();
    for (guint i = 0; i < G_N_ELEMENTS (images); i++)
      cvis_jit_image_free (images[i]);
    slow += g_get_monotonic_time () - start > 200000;
  }
  g_assert_cmpuint (slow, <, 6); /* a busy machine may delay some */
  /* waiting images do not block this one */
  g_free (build_scale ());
}

/* A process may exit while a thread is inside the compiler. */
static void
test_exit (void)
{
  static CvisJitImage *volatile never_freed; /* not a leak */

  if (g_test_subprocess ()) {
    const CvisJitSource source = scale_source ();

    /* in the first compilation of a process and in a later one; loading the
     * library and its first use are not covered */
    cvis_nvrtc_name (NULL);
    if (g_random_boolean ())
      g_bytes_unref (cvis_nvrtc_compile (&source, "sm_80", NULL));
    never_freed = cvis_jit_image_new (&source, ARCH, 1);
    g_assert_nonnull (never_freed);
    g_usleep (g_random_int_range (0, 60000));
    exit (0);
  }
  for (guint i = 0; i < 10; i++) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed ();
  }
}

static void
remove_folder (const gchar *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const gchar *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    gchar *inner = g_build_filename (path, name, NULL);

    if (g_file_test (inner, G_FILE_TEST_IS_DIR))
      remove_folder (inner);
    else
      g_unlink (inner);
    g_free (inner);
  }
  if (dir != NULL)
    g_dir_close (dir);
  g_rmdir (path);
}

/* A pipeline may end, and its process, before NVRTC has been loaded and used once. */
static void
test_exit_at_once (void)
{
  if (g_test_subprocess ()) {
    const CvisJitSource source = scale_source ();
    CvisJitImage *image = cvis_jit_image_new (&source, ARCH, 1);

    g_usleep (g_random_int_range (0, 150000));
    cvis_jit_image_free (image);
    exit (0);
  }
  for (guint i = 0; i < 20; i++) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed ();
  }
}

int
main (int argc, char **argv)
{
  gchar *cache = NULL;
  GError *error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (!g_test_subprocess ()) {
    if (cvis_nvrtc_name (&error) == NULL) {
      g_printerr ("skipped: %s\n", error->message);
      g_error_free (error);
      return 77;
    }
    cache = g_dir_make_tmp ("cvisjit-XXXXXX", NULL);
    g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  }
  g_test_add_func ("/jit/target", test_target);
  g_test_add_func ("/jit/ptx", test_ptx);
  g_test_add_func ("/jit/wrong-source", test_wrong_source);
  g_test_add_func ("/jit/no-compiler", test_no_compiler);
  g_test_add_func ("/jit/key", test_key);
  g_test_add_func ("/jit/cached", test_cached);
  g_test_add_func ("/jit/damaged", test_damaged);
  g_test_add_func ("/jit/other-key", test_other_key);
  g_test_add_func ("/jit/no-folder", test_no_folder);
  g_test_add_func ("/jit/prune", test_prune);
  g_test_add_func ("/jit/processes", test_processes);
  g_test_add_func ("/jit/free-early", test_free_early);
  g_test_add_func ("/jit/exit", test_exit);
  g_test_add_func ("/jit/exit-at-once", test_exit_at_once);
  result = g_test_run ();
  if (cache != NULL)
    remove_folder (cache);
  g_free (cache);
  return result;
}
