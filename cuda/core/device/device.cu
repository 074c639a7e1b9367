/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Devices, contexts and pinned memory through the CUDA runtime (linked
 * statically) and driver entry points looked up on first use: programs load
 * without any CUDA library. */
#include "cuda/core/device/cuda.cuh"
#include "cuda/core/fleet/deviceuse.h"

#include <cuda.h>
#include <dlfcn.h>

namespace {
typedef int (*CuInit) (unsigned);
typedef int (*CuDeviceGet) (int *, int);
typedef int (*CuPrimaryRetain) (void **, int);
typedef int (*CuPrimaryRelease) (int);
typedef int (*CuPush) (void *);
typedef int (*CuPop) (void **);

struct Driver {
  void *library;
  CuInit init;
  CuDeviceGet device_get;
  CuPrimaryRetain primary_retain;
  CuPrimaryRelease primary_release;
  CuPush push;
  CuPop pop;
};

gpointer
load_driver (gpointer)
{
  static Driver driver;
  void *library = dlopen ("libcuda.so.1", RTLD_LAZY);

  if (library == NULL)
    return NULL;
  driver.library = library;
  driver.init = (CuInit) dlsym (library, "cuInit");
  driver.device_get = (CuDeviceGet) dlsym (library, "cuDeviceGet");
  driver.primary_retain =
      (CuPrimaryRetain) dlsym (library, "cuDevicePrimaryCtxRetain");
  driver.primary_release =
      (CuPrimaryRelease) dlsym (library, "cuDevicePrimaryCtxRelease_v2");
  driver.push = (CuPush) dlsym (library, "cuCtxPushCurrent_v2");
  driver.pop = (CuPop) dlsym (library, "cuCtxPopCurrent_v2");
  if (!driver.init || !driver.device_get || !driver.primary_retain
      || !driver.primary_release || !driver.push || !driver.pop
      || driver.init (0) != 0)
    return NULL;
  return &driver;
}

Driver *
get_driver (GError **error)
{
  static GOnce once = G_ONCE_INIT;
  Driver *driver = (Driver *) g_once (&once, load_driver, NULL);

  if (driver == NULL)
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
        "no NVIDIA driver was found (libcuda.so.1 is missing or does not "
        "initialise)");
  return driver;
}
} // namespace

void *
cvis_cuda_driver_entry (const char *name)
{
  Driver *driver = get_driver (NULL);

  return driver != NULL ? dlsym (driver->library, name) : NULL;
}

struct _CvisContext {
  gatomicrefcount refs;
  gint device_id;
  void *handle;
  gboolean primary;
  gpointer owner;
  GDestroyNotify release_owner;
};

/* Sets @error from @code of cudaGetDeviceCount(). CUDA reports an insufficient
 * driver both for a driver that is too old and if there is none. */
static void
set_no_device (cudaError_t code, GError **error)
{
  int driver = 0, runtime = 0;

  cudaDriverGetVersion (&driver);
  cudaRuntimeGetVersion (&runtime);
  /* leaves no sticky error for the next caller */
  cudaGetLastError ();
  if (driver == 0)
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
        "no NVIDIA driver was found (libcuda.so.1 is missing or does not "
        "load)");
  else if (code == cudaErrorInsufficientDriver)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
        "the NVIDIA driver is too old: it supports CUDA %d.%d, and this build "
        "needs CUDA %d.%d",
        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
        "no usable CUDA device: %s (%s)",
        code != cudaSuccess ? cudaGetErrorName (code) : "none present",
        code != cudaSuccess ? cudaGetErrorString (code) : "count is 0");
}

extern "C" gint
cvis_device_count (GError **error)
{
  int count = 0;
  cudaError_t code = cudaGetDeviceCount (&count);

  if (code == cudaSuccess && count > 0)
    return count;
  set_no_device (code, error);
  return 0;
}

extern "C" gboolean
cvis_device_info (gint device_id, CvisDeviceInfo *info, GError **error)
{
  cudaDeviceProp properties;
  gint count = cvis_device_count (error);

  if (count == 0)
    return FALSE;
  if (device_id < 0 || device_id >= count) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
        "no CUDA device %d: this machine has %d, counted from 0", device_id,
        count);
    return FALSE;
  }
  if (!CVIS_CUDA (cudaGetDeviceProperties (&properties, device_id), error))
    return FALSE;
  g_strlcpy (info->name, properties.name, sizeof info->name);
  info->compute_capability = 10 * properties.major + properties.minor;
  info->multiprocessors = properties.multiProcessorCount;
  info->memory = properties.totalGlobalMem;
  return TRUE;
}

static double
get_attribute (cudaDeviceAttr attribute, gint device_id)
{
  int value = 0;

  return cudaDeviceGetAttribute (&value, attribute, device_id) == cudaSuccess
             ? value
             : 0.0;
}

/* CUDA's numbers follow CUDA_VISIBLE_DEVICES and NVML's do not, so the device is found by
 * its PCI address. */
extern "C" gboolean
cvis_device_use (gint device_id, CvisDeviceUse *use, GError **error)
{
  char address[32];
  const cudaError_t code =
      cudaDeviceGetPCIBusId (address, sizeof address, device_id);

  if (code == cudaSuccess)
    return cvis_device_use_read (address, use, error);
  cudaGetLastError ();
  *use = (CvisDeviceUse){ 0 };
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_NO_DEVICE,
      "device %d has no address: %s (%s)", device_id, cudaGetErrorName (code),
      cudaGetErrorString (code));
  return FALSE;
}

extern "C" gboolean
cvis_device_traits (gint device_id, CvisDeviceTraits *traits)
{
  const double clock =
      1e3 * get_attribute (cudaDevAttrClockRate, device_id); /* from kHz */
  CvisDeviceInfo info;
  double lanes;

  if (!cvis_device_info (device_id, &info, NULL))
    return FALSE;
  /* single-precision lanes of a multiprocessor */
  lanes =
      info.compute_capability < 86 && info.compute_capability >= 60 ? 64 : 128;
  traits->flops = 2.0 * lanes * info.multiprocessors * clock;
  traits->memory = (double) info.memory;
  traits->multiprocessors = info.multiprocessors;
  /* double data rate; a bus of so many bits */
  traits->memory_rate =
      2.0 * 1e3 * get_attribute (cudaDevAttrMemoryClockRate, device_id)
      * get_attribute (cudaDevAttrGlobalMemoryBusWidth, device_id) / 8.0;
  traits->boost_clock = clock;
  return TRUE;
}

namespace {
__global__ void
probe_code ()
{
}
} // namespace

extern "C" gboolean
cvis_context_check_code (CvisContext *context, GError **error)
{
  cudaFuncAttributes attributes;
  cudaError_t code;

  if (!cvis_context_push (context, error))
    return FALSE;
  code = cudaFuncGetAttributes (&attributes, (const void *) probe_code);
  cudaGetLastError ();
  cvis_context_pop (context);
  if (code == cudaSuccess)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_CUDA,
      "this build has no code for its architecture: %s (%s)",
      cudaGetErrorName (code), cudaGetErrorString (code));
  return FALSE;
}

extern "C" void
cvis_cuda_versions (gint *driver, gint *runtime)
{
  *driver = *runtime = 0;
  cudaDriverGetVersion (driver);
  cudaRuntimeGetVersion (runtime);
  cudaGetLastError ();
}

extern "C" CvisContext *
cvis_context_new_wrapped (gpointer cu_context, gint device_id, gpointer owner,
    GDestroyNotify release_owner, GError **error)
{
  CvisContext *context;

  if (get_driver (error) == NULL)
    return NULL;
  context = g_new0 (CvisContext, 1);
  g_atomic_ref_count_init (&context->refs);
  context->device_id = device_id;
  context->handle = cu_context;
  context->owner = owner;
  context->release_owner = release_owner;
  return context;
}

namespace {
CvisContext *
open_context (gint device_id, GError **error)
{
  CvisDeviceInfo info;
  Driver *driver;
  CvisContext *context;
  void *handle = NULL;
  int device = 0, code;

  if (!cvis_device_info (device_id, &info, error))
    return NULL;
  driver = get_driver (error);
  if (driver == NULL)
    return NULL;
  code = driver->device_get (&device, device_id);
  if (code == 0)
    code = driver->primary_retain (&handle, device);
  if (code != 0) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_CUDA,
        "device %d (%s): its primary context is not available: CUDA error %d",
        device_id, info.name, code);
    return NULL;
  }
  context = cvis_context_new_wrapped (handle, device_id, NULL, NULL, error);
  context->primary = TRUE;
  return context;
}

/* The order in which devices are tried. */
void
sort_devices (guint count, guint *order)
{
  CvisDeviceUse *uses = g_new0 (CvisDeviceUse, count);

  for (guint i = 0; i < count; i++)
    cvis_device_use ((gint) i, &uses[i], NULL);
  cvis_device_use_sort (uses, count, order);
  g_free (uses);
}

/* The first usable device in that order.
 * Returns: %NULL with the error of the first if none is usable */
CvisContext *
open_any (guint count, GError **error)
{
  guint *order = g_new (guint, count);
  CvisContext *context = NULL;
  GError *first = NULL;

  sort_devices (count, order);
  for (guint i = 0; i < count && context == NULL; i++) {
    GError **to = first == NULL ? &first : NULL;

    context = open_context ((gint) order[i], to);
    if (context != NULL && !cvis_context_check_code (context, to)) {
      cvis_context_unref (context);
      context = NULL;
    }
  }
  if (context != NULL)
    g_clear_error (&first);
  else
    g_propagate_error (error, first);
  g_free (order);
  return context;
}
} // namespace

extern "C" CvisContext *
cvis_context_new (gint device_id, GError **error)
{
  gint count;

  if (device_id >= 0)
    return open_context (device_id, error);
  count = cvis_device_count (error);
  if (count <= 1)
    return count == 0 ? NULL : open_context (0, error);
  return open_any ((guint) count, error);
}

extern "C" CvisContext *
cvis_context_ref (CvisContext *context)
{
  g_atomic_ref_count_inc (&context->refs);
  return context;
}

extern "C" void
cvis_context_unref (CvisContext *context)
{
  int device;

  if (!g_atomic_ref_count_dec (&context->refs))
    return;
  if (context->primary) {
    Driver *driver = get_driver (NULL);
    if (driver->device_get (&device, context->device_id) == 0)
      driver->primary_release (device);
  }
  if (context->release_owner)
    context->release_owner (context->owner);
  g_free (context);
}

extern "C" gint
cvis_context_get_device_id (CvisContext *context)
{
  return context->device_id;
}

extern "C" gpointer
cvis_context_get_handle (CvisContext *context)
{
  return context->handle;
}

extern "C" gboolean
cvis_context_push (CvisContext *context, GError **error)
{
  int code = get_driver (NULL)->push (context->handle);

  if (code == 0)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_CUDA,
      "device %d: its context cannot be made current: CUDA error %d",
      context->device_id, code);
  return FALSE;
}

extern "C" void
cvis_context_pop (CvisContext *context)
{
  void *popped;

  get_driver (NULL)->pop (&popped);
}

extern "C" gpointer
cvis_pinned_alloc (CvisContext *context, gsize size, GError **error)
{
  void *memory = NULL;
  gboolean ok;

  if (!cvis_context_push (context, error))
    return NULL;
  ok = CVIS_CUDA (cudaHostAlloc (&memory, MAX (size, 1),
                      cudaHostAllocPortable | cudaHostAllocMapped),
      error);
  cvis_context_pop (context);
  return ok ? memory : NULL;
}

extern "C" void
cvis_pinned_free (CvisContext *context, gpointer memory)
{
  if (memory == NULL || !cvis_context_push (context, NULL))
    return;
  cudaFreeHost (memory);
  cvis_context_pop (context);
}

extern "C" gpointer
cvis_device_alloc (CvisContext *context, gsize size, GError **error)
{
  void *memory = NULL;
  gboolean ok;

  if (!cvis_context_push (context, error))
    return NULL;
  ok = CVIS_CUDA (cudaMalloc (&memory, MAX (size, 1)), error);
  cvis_context_pop (context);
  return ok ? memory : NULL;
}

extern "C" void
cvis_device_free (CvisContext *context, gpointer memory)
{
  if (memory == NULL || !cvis_context_push (context, NULL))
    return;
  cudaFree (memory);
  cvis_context_pop (context);
}

namespace {
typedef CUresult (*CuCopy) (const CUDA_MEMCPY3D_PEER *, CUstream);
typedef CUresult (*CuSynchronize) (CUstream);

void
describe_copy (const CvisDeviceRows *to, const CvisDeviceRows *from,
    gsize bytes, gsize n, CUDA_MEMCPY3D_PEER *copy)
{
  *copy = CUDA_MEMCPY3D_PEER{};
  copy->srcMemoryType =
      from->context != NULL ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  copy->srcPitch = from->stride;
  copy->srcHeight = copy->dstHeight = copy->Height = n;
  copy->dstMemoryType =
      to->context != NULL ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  copy->dstPitch = to->stride;
  copy->WidthInBytes = bytes;
  copy->Depth = 1;
  if (from->context != NULL) {
    copy->srcDevice = (CUdeviceptr) from->data;
    copy->srcContext = (CUcontext) from->context->handle;
  } else {
    copy->srcHost = from->data;
  }
  if (to->context != NULL) {
    copy->dstDevice = (CUdeviceptr) to->data;
    copy->dstContext = (CUcontext) to->context->handle;
  } else {
    copy->dstHost = to->data;
  }
}

/* Takes the place of @rows to @text. */
const gchar *
name_place (const CvisDeviceRows *rows, gchar text[24])
{
  if (rows->context == NULL)
    return "the host";
  g_snprintf (text, 24, "device %d", rows->context->device_id);
  return text;
}
} // namespace

/* The driver's function, because the runtime's names devices, not contexts, and
 * GStreamer's contexts are not the primary ones. */
extern "C" gboolean
cvis_device_copy_rows (const CvisDeviceRows *to, const CvisDeviceRows *from,
    gsize bytes, gsize n, gpointer stream, GError **error)
{
  static const CuCopy enqueue =
      (CuCopy) cvis_cuda_driver_entry ("cuMemcpy3DPeerAsync");
  static const CuSynchronize synchronize =
      (CuSynchronize) cvis_cuda_driver_entry ("cuStreamSynchronize");
  CvisContext *context = from->context != NULL ? from->context : to->context;
  CUDA_MEMCPY3D_PEER copy;
  CUresult code = CUDA_ERROR_NOT_SUPPORTED;
  gchar names[2][24];

  describe_copy (to, from, bytes, n, &copy);
  if (!cvis_context_push (context, error))
    return FALSE;
  if (enqueue != NULL && synchronize != NULL)
    code = enqueue (&copy, (CUstream) stream);
  if (code == CUDA_SUCCESS)
    code = synchronize ((CUstream) stream);
  cvis_context_pop (context);
  if (code != CUDA_SUCCESS)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_CUDA,
        "copy of %" G_GSIZE_FORMAT " rows from %s to %s: CUDA error %d", n,
        name_place (from, names[0]), name_place (to, names[1]), code);
  return code == CUDA_SUCCESS;
}
