/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/camera/raise.h"

#include <hdf5.h>
#include <math.h>
#include <string.h>

#define BLOCK_BYTES (16u << 20) /* frames read at once, at least one chunk */
#define MAX_CHUNK_BYTES (256u << 20)
#define MAX_LAYERS 1000000
#define MAX_LINES (1u << 22) /* scan lines of a layer */

typedef struct {
  hid_t frame, index; /* data sets; negative: closed */
  hsize_t n;          /* frames */
  guint width, height;
  gdouble *params; /* (nullable): speed and power of each scan line */
  guint n_lines;
} Layer;

struct _PbfRaise {
  hid_t file;
  GPtrArray *paths; /* of layers: "object/layer" */
  guint next_path;
  guint layer_number; /* within its object */
  gchar *object;      /* of the layer before */
  Layer layer;
  hsize_t at, block_at, block_n; /* next frame; frames of the block */
  guint block_frames;            /* capacity of the block */
  guint8 *block;
  gint64 *block_index;
  gint64 last_line;
  guint32 frame_counter;
};

/* libhdf5 has global state, and may be built without thread safety. */
static GMutex hdf5_lock;

/* --- errors ---------------------------------------------------------------- */

static herr_t
copy_deepest (unsigned n, const H5E_error2_t *entry, void *text)
{
  if (n == 0 && entry->desc != NULL)
    g_strlcpy (text, entry->desc, 200);
  return 0;
}

/* Sets @error with libhdf5's text, if any. */
static gboolean
set_hdf5_error (GError **error, const gchar *what, const gchar *name)
{
  gchar why[200] = "libhdf5 does not say why";

  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, copy_deepest, why);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s%s%s: %s", what,
      *name != '\0' ? " " : "", name, why);
  return FALSE;
}

static gboolean
set_layout_error (
    GError **error, const gchar *layer, const gchar *name, const gchar *why)
{
  g_set_error (
      error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s/%s %s", layer, name, why);
  return FALSE;
}

/* Suppresses libhdf5's printing while errors are reported by GError. */
typedef struct {
  H5E_auto2_t print;
  void *data;
} Quiet;

static Quiet
begin_hdf5 (void)
{
  Quiet quiet;

  g_mutex_lock (&hdf5_lock);
  H5open ();
  H5Eget_auto2 (H5E_DEFAULT, &quiet.print, &quiet.data);
  H5Eset_auto2 (H5E_DEFAULT, NULL, NULL);
  return quiet;
}

static void
end_hdf5 (Quiet quiet)
{
  H5Eset_auto2 (H5E_DEFAULT, quiet.print, quiet.data);
  g_mutex_unlock (&hdf5_lock);
}

/* --- the layers of a file -------------------------------------------------- */

typedef struct {
  GPtrArray *paths;
  const gchar *parent; /* (nullable): group at the root */
} Search;

static herr_t
add_layers (hid_t group, const char *name, const H5L_info_t *info, void *user)
{
  const Search *search = user;
  hid_t child;

  /* a link to another file could name any file */
  if (info->type != H5L_TYPE_HARD || search->paths->len >= MAX_LAYERS)
    return 0;
  child = H5Gopen2 (group, name, H5P_DEFAULT);
  if (child < 0)
    return 0; /* not a group */
  if (H5Lexists (child, "frame", H5P_DEFAULT) > 0) {
    g_ptr_array_add (search->paths,
        search->parent != NULL ? g_strconcat (search->parent, "/", name, NULL)
                               : g_strdup (name));
  } else if (search->parent == NULL) {
    Search below = { search->paths, name };

    H5Literate (child, H5_INDEX_NAME, H5_ITER_INC, NULL, add_layers, &below);
  }
  H5Gclose (child);
  return 0;
}

static gboolean
is_within (const gchar *path, const gchar *group)
{
  gsize n = strlen (group);

  return strncmp (path, group, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static gboolean
find_layers (PbfRaise *raise, const gchar *group, GError **error)
{
  Search search = { raise->paths, NULL };

  if (H5Literate (
          raise->file, H5_INDEX_NAME, H5_ITER_INC, NULL, add_layers, &search)
      < 0)
    return set_hdf5_error (error, "its groups cannot be listed", "");
  if (raise->paths->len == 0) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "no group /object/layer has a data set \"frame\"");
    return FALSE;
  }
  while (*group == '/')
    group++;
  for (guint i = raise->paths->len; *group != '\0' && i-- > 0;)
    if (!is_within (g_ptr_array_index (raise->paths, i), group))
      g_ptr_array_remove_index (raise->paths, i);
  if (raise->paths->len == 0)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "no object or layer \"%s\"", group);
  return raise->paths->len > 0;
}

/* --- a layer --------------------------------------------------------------- */

static void
close_layer (Layer *layer)
{
  if (layer->frame >= 0)
    H5Dclose (layer->frame);
  if (layer->index >= 0)
    H5Dclose (layer->index);
  g_clear_pointer (&layer->params, g_free);
  layer->frame = layer->index = H5I_INVALID_HID;
  layer->n = 0;
}

/* Opens @layer/@name, a data set of @rank dimensions stored in this file.
 * @cache: bytes of its chunk cache; 0: the default */
static hid_t
open_set (PbfRaise *raise, const gchar *layer, const gchar *name, gint rank,
    hsize_t *dims, gsize cache, GError **error)
{
  gchar *path = g_strconcat (layer, "/", name, NULL);
  hid_t access = H5Pcreate (H5P_DATASET_ACCESS), set, space, list;
  gboolean ok = FALSE;

  if (cache > 0)
    H5Pset_chunk_cache (access, 521, cache, 1);
  set = H5Dopen2 (raise->file, path, access);
  if (set < 0) /* before another call clears libhdf5's text */
    set_hdf5_error (error, "cannot open", path);
  H5Pclose (access);
  if (set < 0) {
    g_free (path);
    return H5I_INVALID_HID;
  }
  space = H5Dget_space (set);
  list = H5Dget_create_plist (set);
  if (H5Sget_simple_extent_ndims (space) != rank)
    set_layout_error (error, layer, name,
        rank == 3   ? "does not have three dimensions"
        : rank == 2 ? "does not have two dimensions"
                    : "does not have one dimension");
  else if (H5Pget_layout (list) == H5D_VIRTUAL
           || H5Pget_external_count (list) != 0)
    set_layout_error (error, layer, name, "has its values in another file");
  else
    ok = H5Sget_simple_extent_dims (space, dims, NULL) == rank;
  H5Pclose (list);
  H5Sclose (space);
  g_free (path);
  if (ok)
    return set;
  H5Dclose (set);
  return H5I_INVALID_HID;
}

static gboolean
has_class (hid_t set, H5T_class_t one, H5T_class_t other, gsize *size)
{
  hid_t type = H5Dget_type (set);
  H5T_class_t class = H5Tget_class (type);

  *size = H5Tget_size (type);
  H5Tclose (type);
  return class == one || class == other;
}

/* Number of frames read at once: those of a chunk, or as many as fit.
 * @cache: (out): bytes of the chunks that contain them */
static gboolean
choose_block (PbfRaise *raise, const hsize_t dims[3], gsize *cache)
{
  hsize_t frame_bytes = dims[1] * dims[2], chunk[3] = { 1, 1, 1 };
  guint64 frames = BLOCK_BYTES / frame_bytes, chunks, bytes;
  hid_t list = H5Dget_create_plist (raise->layer.frame);
  gboolean chunked =
      H5Pget_layout (list) == H5D_CHUNKED && H5Pget_chunk (list, 3, chunk) == 3;

  H5Pclose (list);
  *cache = 0;
  frames = CLAMP (frames, 1, 4096);
  if (chunked) {
    if (chunk[0] > MAX_CHUNK_BYTES || chunk[1] > MAX_CHUNK_BYTES
        || chunk[2] > MAX_CHUNK_BYTES)
      return FALSE;
    bytes = chunk[0] * MIN (chunk[1], PBF_RAISE_MAX_SIDE)
            * MIN (chunk[2], PBF_RAISE_MAX_SIDE);
    if (chunk[1] > PBF_RAISE_MAX_SIDE || chunk[2] > PBF_RAISE_MAX_SIDE
        || bytes > MAX_CHUNK_BYTES)
      return FALSE;
    chunks = ((dims[1] - 1) / chunk[1] + 1) * ((dims[2] - 1) / chunk[2] + 1);
    if (chunk[0] <= frames)
      frames = frames / chunk[0] * chunk[0];
    else if (chunks * bytes > MAX_CHUNK_BYTES)
      return FALSE;
    else /* a chunk serves several blocks */
      *cache = chunks * bytes + 1;
  }
  raise->block_frames = (guint) frames;
  return TRUE;
}

static gboolean
read_params (PbfRaise *raise, const gchar *name, GError **error)
{
  Layer *layer = &raise->layer;
  gchar *path = g_strconcat (name, "/laser_params", NULL);
  gboolean there = H5Lexists (raise->file, path, H5P_DEFAULT) > 0, ok = FALSE;
  hsize_t dims[2];
  gsize size;
  hid_t set;

  g_free (path);
  layer->n_lines = 0;
  if (!there)
    return TRUE;
  set = open_set (raise, name, "laser_params", 2, dims, 0, error);
  if (set < 0)
    return FALSE;
  if (!has_class (set, H5T_FLOAT, H5T_INTEGER, &size) || dims[1] != 2
      || dims[0] > MAX_LINES) {
    set_layout_error (error, name, "laser_params",
        "is not a table of numbers with two columns, speed and power");
  } else {
    layer->n_lines = (guint) dims[0];
    layer->params = g_new0 (gdouble, 2 * dims[0] + 1);
    ok = H5Dread (set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
             layer->params)
         >= 0;
    if (!ok)
      set_hdf5_error (error, "cannot read laser_params of", name);
  }
  H5Dclose (set);
  return ok;
}

static gboolean
open_sets (PbfRaise *raise, const gchar *name, GError **error)
{
  Layer *layer = &raise->layer;
  hsize_t dims[3], n;
  gsize size, cache;

  layer->frame = open_set (raise, name, "frame", 3, dims, 0, error);
  if (layer->frame < 0)
    return FALSE;
  if (!has_class (layer->frame, H5T_INTEGER, H5T_INTEGER, &size) || size != 1)
    return set_layout_error (
        error, name, "frame", "does not hold integers of 8 bits");
  if (dims[1] < 1 || dims[1] > PBF_RAISE_MAX_SIDE || dims[2] < 1
      || dims[2] > PBF_RAISE_MAX_SIDE)
    return set_layout_error (error, name, "frame",
        "does not have frames of 1x1 to 4096x4096 pixels");
  if (!choose_block (raise, dims, &cache))
    return set_layout_error (
        error, name, "frame", "has chunks of more than 256 MiB");
  if (cache > 0) {
    H5Dclose (layer->frame);
    layer->frame = open_set (raise, name, "frame", 3, dims, cache, error);
    if (layer->frame < 0)
      return FALSE;
  }
  layer->index = open_set (raise, name, "scan_line_index", 1, &n, 0, error);
  if (layer->index < 0)
    return FALSE;
  if (n != dims[0] || !has_class (layer->index, H5T_INTEGER, H5T_FLOAT, &size))
    return set_layout_error (error, name, "scan_line_index",
        "does not hold a number for each frame");
  layer->n = n;
  layer->height = (guint) dims[1];
  layer->width = (guint) dims[2];
  return TRUE;
}

static gboolean
make_block (PbfRaise *raise, GError **error)
{
  gsize bytes =
      (gsize) raise->layer.width * raise->layer.height * raise->block_frames;

  g_free (raise->block);
  g_free (raise->block_index);
  raise->block = g_try_malloc (bytes);
  raise->block_index = g_try_new (gint64, raise->block_frames);
  if (raise->block == NULL || raise->block_index == NULL)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for %u frames", raise->block_frames);
  return raise->block != NULL && raise->block_index != NULL;
}

/* Opens the next layer; numbers restart at 0 in each object. */
static gboolean
open_layer (PbfRaise *raise, GError **error)
{
  const gchar *name = g_ptr_array_index (raise->paths, raise->next_path++);
  const gchar *slash = strchr (name, '/');
  gchar *object = g_strndup (name, slash != NULL ? slash - name : 0);
  gboolean same = raise->object != NULL && strcmp (object, raise->object) == 0;

  raise->layer_number = same ? raise->layer_number + 1 : 0;
  g_free (raise->object);
  raise->object = object;
  close_layer (&raise->layer);
  raise->at = raise->block_at = raise->block_n = 0;
  return open_sets (raise, name, error) && read_params (raise, name, error)
         && make_block (raise, error);
}

/* --- frames ---------------------------------------------------------------- */

static gboolean
read_some (PbfRaise *raise, hid_t set, hid_t type, gint rank,
    const hsize_t *start, const hsize_t *count, void *values, GError **error)
{
  hid_t space = H5Dget_space (set);
  hid_t memory = H5Screate_simple (rank, count, NULL);
  gboolean ok =
      H5Sselect_hyperslab (space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0
      && H5Dread (set, type, memory, space, H5P_DEFAULT, values) >= 0;

  if (!ok)
    set_hdf5_error (error, "cannot read frames of",
        g_ptr_array_index (raise->paths, raise->next_path - 1));
  H5Sclose (memory);
  H5Sclose (space);
  return ok;
}

static gboolean
read_block (PbfRaise *raise, GError **error)
{
  Layer *layer = &raise->layer;
  hsize_t start[3] = { raise->at, 0, 0 };
  hsize_t count[3] = { MIN (layer->n - raise->at, raise->block_frames),
    layer->height, layer->width };

  if (!read_some (raise, layer->frame, H5T_NATIVE_UINT8, 3, start, count,
          raise->block, error)
      || !read_some (raise, layer->index, H5T_NATIVE_INT64, 1, start, count,
          raise->block_index, error))
    return FALSE;
  raise->block_at = raise->at;
  raise->block_n = count[0];
  return TRUE;
}

/* 0 if the value does not fit the field. */
static guint32
to_thousandths (gdouble value)
{
  value = rint (value * 1000);
  return value > 0 && value <= G_MAXUINT32 ? (guint32) value : 0;
}

static void
fill_signal (PbfRaise *raise, gint64 line, PbfSignal *signal)
{
  const Layer *layer = &raise->layer;
  gboolean known = line >= 0 && line <= G_MAXUINT32;

  *signal = (PbfSignal){ .frame_counter = raise->frame_counter,
    .layer = raise->layer_number,
    .vector_id = known ? (guint32) line : 0,
    .width = layer->width,
    .height = layer->height };
  if (line >= 0) /* outside scan lines the laser is off */
    signal->flags |= PBF_SIGNAL_LASER_ON;
  if (raise->at == 0)
    signal->flags |= PBF_SIGNAL_LAYER_START;
  if (raise->at == 0 || line != raise->last_line)
    signal->flags |= PBF_SIGNAL_VECTOR_START;
  if (line >= 0 && line < layer->n_lines) {
    signal->speed_um_s = to_thousandths (layer->params[2 * line]);
    signal->power_mW = to_thousandths (layer->params[2 * line + 1]);
  }
}

static gboolean
read_next (PbfRaise *raise, PbfRaiseFrame *frame, GError **error)
{
  Layer *layer = &raise->layer;
  gsize i;

  while (raise->at == layer->n) {
    if (raise->next_path == raise->paths->len)
      return FALSE;
    if (!open_layer (raise, error))
      return FALSE;
  }
  if (raise->at == raise->block_at + raise->block_n
      && !read_block (raise, error))
    return FALSE;
  i = (gsize) (raise->at - raise->block_at);
  frame->width = layer->width;
  frame->height = layer->height;
  frame->pixels = raise->block + i * layer->width * layer->height;
  fill_signal (raise, raise->block_index[i], &frame->signal);
  raise->last_line = raise->block_index[i];
  raise->frame_counter++;
  raise->at++;
  return TRUE;
}

gboolean
pbf_raise_next (PbfRaise *raise, PbfRaiseFrame *frame, GError **error)
{
  Quiet quiet = begin_hdf5 ();
  gboolean ok = read_next (raise, frame, error);

  end_hdf5 (quiet);
  return ok;
}

/* --- open and close ------------------------------------------------------ */

static void
free_raise (PbfRaise *raise)
{
  close_layer (&raise->layer);
  if (raise->file >= 0)
    H5Fclose (raise->file);
  g_ptr_array_unref (raise->paths);
  g_free (raise->object);
  g_free (raise->block);
  g_free (raise->block_index);
  g_free (raise);
}

PbfRaise *
pbf_raise_new (const gchar *path, const gchar *group, GError **error)
{
  PbfRaise *raise = g_new0 (PbfRaise, 1);
  Quiet quiet = begin_hdf5 ();
  gboolean ok;

  raise->paths = g_ptr_array_new_with_free_func (g_free);
  raise->layer.frame = raise->layer.index = H5I_INVALID_HID;
  raise->file = H5Fopen (path, H5F_ACC_RDONLY, H5P_DEFAULT);
  ok = raise->file >= 0 ? find_layers (raise, group, error)
                        : set_hdf5_error (error, "no HDF5 file", "");
  if (!ok) {
    free_raise (raise);
    raise = NULL;
  }
  end_hdf5 (quiet);
  return raise;
}

void
pbf_raise_free (PbfRaise *raise)
{
  Quiet quiet;

  if (raise == NULL)
    return;
  quiet = begin_hdf5 ();
  free_raise (raise);
  end_hdf5 (quiet);
}
