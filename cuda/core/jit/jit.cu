/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/jit/jit.h"

#include <cuda.h>
#include "cuda/core/device/cuda.cuh"

struct _CvisJit {
  CvisContext *context;
  CvisJitImage *image; /* NULL: compilation was not started */
  CUmodule module;     /* NULL: not loaded yet */
  GError *error;       /* of the device or the driver */
};

namespace {
/* Entry points of the driver; all except the last exist in every version. */
struct Driver {
  CUresult (*error_name) (CUresult code, const char **name);
  CUresult (*error_string) (CUresult code, const char **text);
  CUresult (*module_load) (CUmodule *module, const void *image, unsigned n,
      CUjit_option *options, void **values);
  CUresult (*module_unload) (CUmodule module);
  CUresult (*module_get_function) (
      CUfunction *function, CUmodule module, const char *name);
  CUresult (*function_get) (
      int *value, CUfunction_attribute attribute, CUfunction function);
  CUresult (*function_set) (
      CUfunction function, CUfunction_attribute attribute, int value);
  CUresult (*launch) (CUfunction function, unsigned grid_x, unsigned grid_y,
      unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
      unsigned shared, CUstream stream, void **parameters, void **extra);
#if CUDA_VERSION >= 11080
  CUresult (*launch_ex) (const CUlaunchConfig *config, CUfunction function,
      void **parameters, void **extra);
#endif
};

template <typename Function>
gboolean
look_up (const char *name, Function *function)
{
  *function = (Function) cvis_cuda_driver_entry (name);
  return *function != NULL;
}

gpointer
load_driver (gpointer)
{
  static Driver driver;

#if CUDA_VERSION >= 11080
  look_up ("cuLaunchKernelEx", &driver.launch_ex);
#endif
  if (look_up ("cuGetErrorName", &driver.error_name)
      && look_up ("cuGetErrorString", &driver.error_string)
      && look_up ("cuModuleLoadDataEx", &driver.module_load)
      && look_up ("cuModuleUnload", &driver.module_unload)
      && look_up ("cuModuleGetFunction", &driver.module_get_function)
      && look_up ("cuFuncGetAttribute", &driver.function_get)
      && look_up ("cuFuncSetAttribute", &driver.function_set)
      && look_up ("cuLaunchKernel", &driver.launch))
    return &driver;
  return NULL;
}

/* %NULL without a driver; then no CvisContext exists */
const Driver *
get_driver (void)
{
  static GOnce once = G_ONCE_INIT;

  return (const Driver *) g_once (&once, load_driver, NULL);
}

gboolean
check (CUresult code, const char *what, const char *detail, GError **error)
{
  const char *name = "unknown error", *text = "";

  if (code == CUDA_SUCCESS)
    return TRUE;
  get_driver ()->error_name (code, &name);
  get_driver ()->error_string (code, &text);
  g_set_error (error, CVIS_ERROR,
      code == CUDA_ERROR_OUT_OF_MEMORY ? CVIS_ERROR_MEMORY : CVIS_ERROR_CUDA,
      "%s: %s (%s)%s%s", what, name, text, *detail ? ": " : "", detail);
  return FALSE;
}

void
load_module (CvisJit *jit)
{
  char log[512] = "";
  CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
  void *values[] = { log, (void *) (gsize) (sizeof log - 1) };
  GBytes *bytes = cvis_jit_image_wait (jit->image, NULL);

  if (check (get_driver ()->module_load (&jit->module,
                 g_bytes_get_data (bytes, NULL), G_N_ELEMENTS (options),
                 options, values),
          "the driver rejects the kernel compiled by NVRTC", log, &jit->error))
    return;
  jit->module = NULL;
  cvis_jit_image_reject (jit->image);
}
} // namespace

extern "C" CvisJit *
cvis_jit_new (CvisContext *context, const gchar *name, const gchar *source,
    const CvisJitHeader *headers, guint n_headers, const gchar *const *options)
{
  const CvisJitSource unit = { name, source, headers, n_headers, options };
  CvisJit *jit = g_new0 (CvisJit, 1);
  int device = cvis_context_get_device_id (context);
  int major = 0, minor = 0, version = 0;

  jit->context = cvis_context_ref (context);
  if (CVIS_CUDA (cudaDeviceGetAttribute (
                     &major, cudaDevAttrComputeCapabilityMajor, device),
          &jit->error)
      && CVIS_CUDA (cudaDeviceGetAttribute (
                        &minor, cudaDevAttrComputeCapabilityMinor, device),
          &jit->error)
      && CVIS_CUDA (cudaDriverGetVersion (&version), &jit->error))
    jit->image = cvis_jit_image_new (&unit, 10 * major + minor, version);
  return jit;
}

extern "C" CvisJitState
cvis_jit_poll (CvisJit *jit)
{
  CvisJitState state;

  if (jit->module != NULL)
    return CVIS_JIT_READY;
  if (jit->error != NULL)
    return CVIS_JIT_FAILED;
  state = cvis_jit_image_poll (jit->image);
  if (state != CVIS_JIT_READY)
    return state;
  load_module (jit);
  return jit->module != NULL ? CVIS_JIT_READY : CVIS_JIT_FAILED;
}

extern "C" gboolean
cvis_jit_wait (CvisJit *jit, GError **error)
{
  if (jit->error == NULL && cvis_jit_image_wait (jit->image, error) == NULL)
    return FALSE;
  if (cvis_jit_poll (jit) == CVIS_JIT_READY)
    return TRUE;
  g_propagate_error (error, g_error_copy (jit->error));
  return FALSE;
}

extern "C" gpointer
cvis_jit_get_function (CvisJit *jit, const gchar *symbol, GError **error)
{
  CUfunction function = NULL;

  if (cvis_jit_poll (jit) != CVIS_JIT_READY) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_CUDA,
        "kernel %s is not ready: %s", symbol, cvis_jit_describe (jit));
    return NULL;
  }
  if (!check (
          get_driver ()->module_get_function (&function, jit->module, symbol),
          "the compiled source has no such kernel", symbol, error))
    return NULL;
  return function;
}

extern "C" gboolean
cvis_jit_launch (gpointer function, const guint grid[3], const guint block[3],
    gsize shared, gpointer stream, gboolean programmatic, gpointer *parameters,
    GError **error)
{
  const Driver *driver = get_driver ();
  CUfunction kernel = (CUfunction) function;
  int limit = 0;

  if (shared > 0) {
    driver->function_get (
        &limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel);
    if (shared > (gsize) limit
        && !check (
            driver->function_set (kernel,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int) shared),
            "the kernel's shared memory cannot be set", "", error))
      return FALSE;
  }
#if CUDA_VERSION >= 11080
  int architecture = 0;

  if (programmatic && driver->launch_ex != NULL)
    driver->function_get (
        &architecture, CU_FUNC_ATTRIBUTE_BINARY_VERSION, kernel);
  if (architecture >= 90) {
    CUlaunchAttribute attribute = {};
    CUlaunchConfig config = {};

    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    config.gridDimX = grid[0];
    config.gridDimY = grid[1];
    config.gridDimZ = grid[2];
    config.blockDimX = block[0];
    config.blockDimY = block[1];
    config.blockDimZ = block[2];
    config.sharedMemBytes = (unsigned) shared;
    config.hStream = (CUstream) stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return check (driver->launch_ex (&config, kernel, parameters, NULL),
        "launch of a kernel compiled at run time", "", error);
  }
#endif
  return check (
      driver->launch (kernel, grid[0], grid[1], grid[2], block[0], block[1],
          block[2], (unsigned) shared, (CUstream) stream, parameters, NULL),
      "launch of a kernel compiled at run time", "", error);
}

extern "C" const gchar *
cvis_jit_describe (CvisJit *jit)
{
  return jit->error != NULL ? jit->error->message
                            : cvis_jit_image_describe (jit->image);
}

extern "C" void
cvis_jit_free (CvisJit *jit)
{
  if (jit == NULL)
    return;
  /* destroying a context unloads its modules */
  if (jit->module != NULL && cvis_context_push (jit->context, NULL)) {
    get_driver ()->module_unload (jit->module);
    cvis_context_pop (jit->context);
  }
  cvis_jit_image_free (jit->image);
  cvis_context_unref (jit->context);
  g_clear_error (&jit->error);
  g_free (jit);
}
