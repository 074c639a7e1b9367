/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/camera/raise.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (16u << 20) /* frames read at once, at least one chunk */
#define MAX_CHUNK_BYTES (256u << 20)
#define MAX_LAYERS 1000000
#define MAX_LINES (1u << 22) /* scan lines of a layer */

/* Identity of an object in a file. */
typedef struct {
  guint8 bytes[16];
} ObjectId;

typedef struct {
  gchar *path;      /* "object/layer" */
  guint number;     /* within its object */
  gboolean link;    /* a soft link leads to it */
  gboolean counted; /* what is left out of it */
  ObjectId id;
} Entry;

/* Values and links that are left out, and where the first one is. */
typedef struct {
  guint64 n;
  gchar *first; /* (nullable) */
} Count;

typedef enum {
  EXTERNAL_LINKS,
  BROKEN_LINKS,
  OTHER_GROUPS,
  AT_START =
      OTHER_GROUPS, /* those up to here are known when the file is open */
  EMPTY_LAYERS,
  UNWRITTEN_CHUNKS,
  MISSING_PARAMS,
  INVALID_PARAMS,
  N_COUNTS
} CountKind;

static const gchar *const count_texts[N_COUNTS] = {
  "links to other files, which are not followed",
  "links that lead to nothing",
  "groups beside layers, skipped as they have no data set frame",
  "layers without frames",
  "chunks of frames that were never written and hold the fill value",
  "frames with a scan line without laser_params, whose speed and power are 0",
  "negative, infinite, undefined or too large laser_params, replaced by 0",
};

typedef struct {
  hid_t frame, index; /* data sets; negative: closed */
  gboolean is_signed; /* pixels */
  hsize_t n;          /* frames */
  guint width, height;
  gdouble *params; /* (nullable): speed and power of each scan line */
  guint n_lines;
} Layer;

struct _PbfRaise {
  hid_t file;
  hid_t links;    /* access list of links that does not leave the file */
  GArray *layers; /* Entry, in natural order */
  guint next_layer;
  Count counts[N_COUNTS];
  guint64 *first_frames; /* (nullable): of each layer, and their sum */
  Layer layer;
  hsize_t at, block_at, block_n; /* next frame; frames of the block */
  guint block_frames;            /* capacity of the block */
  guint8 *block;
  gdouble *block_index;
  gint64 last_line;
  guint32 frame_counter;
};

/* libhdf5 has global state, and may be built without thread safety. */
static GMutex hdf5_lock;

/* --- errors ---------------------------------------------------------------- */

/* libhdf5 adds addresses, flags and descriptors after the first ':' or ','. */
static herr_t
copy_deepest (unsigned n, const H5E_error2_t *entry, void *text)
{
  if (n == 0 && entry->desc != NULL)
    g_strlcpy (text, entry->desc, MIN (strcspn (entry->desc, ":,") + 1, 200));
  return 0;
}

/* Sets @error with libhdf5's text, if any. */
static gboolean
set_hdf5_error (GError **error, const gchar *what, const gchar *name)
{
  gchar why[200] = "libhdf5 does not give a reason";

  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, copy_deepest, why);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s%s%s: %s", what,
      *name != '\0' ? " " : "", name, why);
  return FALSE;
}

/* Counts @n values or frames that are left out, the first at @place. */
static void
count_place (PbfRaise *raise, CountKind kind, guint64 n, const gchar *place)
{
  if (n > 0 && raise->counts[kind].n == 0)
    raise->counts[kind].first = g_strdup (place);
  raise->counts[kind].n += n;
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
  PbfRaise *raise;
  const gchar *parent; /* (nullable): group at the root */
  Count others;        /* groups below @parent without frames */
} Search;

/* A link to another file could name any file. */
static herr_t
reject_external (const char *file, const char *group, const char *other_file,
    const char *other_object, unsigned *flags, hid_t access, void *user)
{
  return -1;
}

static ObjectId
identify (hid_t object)
{
  ObjectId id = { { 0 } };
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;

  if (H5Oget_info3 (object, &info, H5O_INFO_BASIC) >= 0)
    memcpy (id.bytes, &info.token, sizeof id.bytes);
#else
  H5O_info_t info;

  if (H5Oget_info2 (object, &info, H5O_INFO_BASIC) >= 0)
    memcpy (id.bytes, &info.addr, sizeof info.addr);
#endif
  return id;
}

/* Is @name in @parent a link that cannot be followed? If so, counts it. */
static gboolean
count_dead_link (PbfRaise *raise, hid_t parent, const gchar *name,
    H5L_type_t type, const gchar *path)
{
  if (type == H5L_TYPE_HARD
      || (type == H5L_TYPE_SOFT
          && H5Oexists_by_name (parent, name, raise->links) > 0))
    return FALSE;
  count_place (
      raise, type == H5L_TYPE_SOFT ? BROKEN_LINKS : EXTERNAL_LINKS, 1, path);
  return TRUE;
}

static herr_t
add_layers (hid_t group, const char *name, const H5L_info_t *info, void *user)
{
  Search *search = user;
  PbfRaise *raise = search->raise;
  gchar *path = search->parent != NULL
                    ? g_strconcat (search->parent, "/", name, NULL)
                    : g_strdup (name);
  herr_t ret = 0;
  hid_t child;

  if (count_dead_link (raise, group, name, info->type, path)
      || (child = H5Gopen2 (group, name, raise->links)) < 0) {
    g_free (path);
    return 0; /* of the others, those that are no group are no layer */
  }
  if (H5Lexists (child, "frame", H5P_DEFAULT) > 0) {
    Entry entry = {
      .path = path, .link = info->type == H5L_TYPE_SOFT, .id = identify (child)
    };

    path = NULL;
    g_array_append_val (raise->layers, entry);
    ret = raise->layers->len > MAX_LAYERS ? -1 : 0;
  } else if (search->parent == NULL) {
    Search below = { raise, name };
    guint before = raise->layers->len;

    ret = H5Literate (
        child, H5_INDEX_NAME, H5_ITER_INC, NULL, add_layers, &below);
    if (raise->layers->len > before)
      count_place (raise, OTHER_GROUPS, below.others.n, below.others.first);
    g_free (below.others.first);
  } else if (search->others.n++ == 0) {
    search->others.first = g_steal_pointer (&path);
  }
  g_free (path);
  H5Gclose (child);
  return ret;
}

static gboolean
is_within (const gchar *path, const gchar *group)
{
  gsize n = strlen (group);

  return strncmp (path, group, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* Order of names in which numbers count by their value: 2 before 10. Names that
 * differ in leading zeros only have the order of their bytes. */
static gint
compare_names (const gchar *a, const gchar *b)
{
  const gchar *p = a, *q = b;

  while (*p != '\0' && *q != '\0') {
    gsize n, m;

    if (!g_ascii_isdigit (*p) || !g_ascii_isdigit (*q)) {
      /* an object's layers stay together: '/' ends a name */
      if (*p == '/' && *q == '/'
          && (p - a != q - b || memcmp (a, b, (gsize) (p - a)) != 0))
        return strcmp (a, b);
      gint c = *p == '/' ? 0 : (guchar) *p, d = *q == '/' ? 0 : (guchar) *q;

      if (c != d)
        return c - d;
      p++;
      q++;
      continue;
    }
    p += strspn (p, "0");
    q += strspn (q, "0");
    n = strspn (p, "0123456789");
    m = strspn (q, "0123456789");
    if (n != m)
      return n < m ? -1 : 1;
    for (; n > 0; n--, p++, q++)
      if (*p != *q)
        return *p - *q;
  }
  if (*p != *q)
    return *p == '\0' ? -1 : 1;
  return strcmp (a, b);
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  return compare_names (((const Entry *) a)->path, ((const Entry *) b)->path);
}

static void
clear_entry (gpointer entry)
{
  g_free (((Entry *) entry)->path);
}

static guint
hash_id (gconstpointer id)
{
  guint64 words[2];

  memcpy (words, id, sizeof words);
  return g_int64_hash (&words[0]) ^ g_int64_hash (&words[1]);
}

static gboolean
equal_ids (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (ObjectId)) == 0;
}

/* Keeps one entry of each layer that several names lead to: a name that is no soft
 * link, if any. */
static void
remove_second_names (GArray *layers)
{
  GHashTable *kept = g_hash_table_new_full (hash_id, equal_ids, g_free, NULL);
  GArray *others = g_array_new (FALSE, FALSE, sizeof (Entry));

  for (guint links = 0; links < 2; links++)
    for (guint i = 0; i < layers->len; i++) {
      Entry *entry = &g_array_index (layers, Entry, i);

      if (entry->path == NULL || entry->link != (links == 1))
        continue;
      if (g_hash_table_add (kept, g_memdup2 (&entry->id, sizeof (ObjectId)))) {
        g_array_append_val (others, *entry);
        entry->path = NULL;
      }
    }
  g_array_set_size (layers, 0);
  g_array_append_vals (layers, others->data, others->len);
  g_array_free (others, TRUE);
  g_hash_table_unref (kept);
}

/* Numbers restart at 0 in each object. */
static void
number_layers (GArray *layers)
{
  const gchar *before = "";

  for (guint i = 0; i < layers->len; i++) {
    Entry *entry = &g_array_index (layers, Entry, i);
    const gchar *slash = strchr (entry->path, '/');
    gsize n = slash != NULL ? (gsize) (slash - entry->path) + 1 : 0;
    gboolean same = i > 0
                    && (n > 0 ? strncmp (before, entry->path, n) == 0
                              : strchr (before, '/') == NULL);

    entry->number = same ? g_array_index (layers, Entry, i - 1).number + 1 : 0;
    before = entry->path;
  }
}

static gboolean
set_no_layer_error (PbfRaise *raise, GError **error)
{
  const Count *external = &raise->counts[EXTERNAL_LINKS];

  if (external->n > 0)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "no group /object/layer has a data set \"frame\", but links to other "
        "files: %" G_GUINT64_FORMAT " (first: %s). Read those files, or copy "
        "them into one with h5copy",
        external->n, external->first);
  else
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "no group /object/layer has a data set \"frame\"");
  return FALSE;
}

static gboolean
find_layers (PbfRaise *raise, const gchar *group, GError **error)
{
  Search search = { raise, NULL };
  GArray *layers = raise->layers;

  if (H5Literate (
          raise->file, H5_INDEX_NAME, H5_ITER_INC, NULL, add_layers, &search)
      < 0) {
    if (layers->len <= MAX_LAYERS)
      return set_hdf5_error (error, "its groups cannot be listed", "");
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "it has more than %d layers", MAX_LAYERS);
    return FALSE;
  }
  if (layers->len == 0)
    return set_no_layer_error (raise, error);
  g_array_sort (layers, compare_entries);
  remove_second_names (layers);
  g_array_sort (layers, compare_entries);
  number_layers (layers);
  while (*group == '/')
    group++;
  for (guint i = layers->len; *group != '\0' && i-- > 0;)
    if (!is_within (g_array_index (layers, Entry, i).path, group))
      g_array_remove_index (layers, i);
  if (layers->len == 0)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "no object or layer \"%s\"", group);
  return layers->len > 0;
}

/* --- a layer --------------------------------------------------------------- */

static Entry *
open_entry (const PbfRaise *raise)
{
  return &g_array_index (raise->layers, Entry, raise->next_layer - 1);
}

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

/* Sets @error for a data set that libhdf5 does not open. */
static void
set_open_error (PbfRaise *raise, const gchar *path, GError **error)
{
  H5L_info_t info;

  set_hdf5_error (error, "cannot open", path); /* before it is overwritten */
  if (H5Lget_info (raise->file, path, &info, H5P_DEFAULT) < 0
      || info.type == H5L_TYPE_HARD)
    return;
  g_clear_error (error);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT, "%s is a link %s", path,
      info.type == H5L_TYPE_SOFT
          ? "that leads to nothing in this file"
          : "to another file, which is not followed: copy the data set with "
            "h5repack or h5copy");
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

  H5Pset_elink_cb (access, reject_external, NULL);
  if (cache > 0)
    H5Pset_chunk_cache (access, 521, cache, 1);
  set = H5Dopen2 (raise->file, path, access);
  if (set < 0)
    set_open_error (raise, path, error);
  H5Pclose (access);
  g_free (path);
  if (set < 0)
    return H5I_INVALID_HID;
  space = H5Dget_space (set);
  list = H5Dget_create_plist (set);
  if (H5Sget_simple_extent_ndims (space) != rank)
    set_layout_error (error, layer, name,
        rank == 3   ? "does not have three dimensions"
        : rank == 2 ? "does not have two dimensions"
                    : "does not have one dimension");
  else if (H5Pget_layout (list) == H5D_VIRTUAL)
    set_layout_error (error, layer, name,
        "is a virtual data set, with its values in other data sets: copy them "
        "into one with h5repack");
  else if (H5Pget_external_count (list) != 0)
    set_layout_error (error, layer, name,
        "has its values in another file: copy them into one with h5repack");
  else
    ok = H5Sget_simple_extent_dims (space, dims, NULL) == rank;
  H5Pclose (list);
  H5Sclose (space);
  if (ok)
    return set;
  H5Dclose (set);
  return H5I_INVALID_HID;
}

/* Filters that libhdf5 loads as plugins. */
static const gchar *
filter_name (H5Z_filter_t id)
{
  static const struct {
    H5Z_filter_t id;
    const gchar *name;
  } names[] = { { H5Z_FILTER_DEFLATE, "gzip" }, { H5Z_FILTER_SZIP, "szip" },
    { 307, "bzip2" }, { 32000, "lzf" }, { 32001, "blosc" }, { 32004, "lz4" },
    { 32008, "bitshuffle" }, { 32013, "zfp" }, { 32015, "zstd" },
    { 32026, "blosc2" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i].id == id)
      return names[i].name;
  return "unknown";
}

/* Sets @error for a data set of @layer that cannot be read. */
static gboolean
set_read_error (
    hid_t set, const gchar *what, const gchar *layer, GError **error)
{
  hid_t list;

  set_hdf5_error (error, what, layer); /* before it is overwritten */
  list = H5Dget_create_plist (set);
  for (gint i = 0; i < H5Pget_nfilters (list); i++) {
    size_t n = 0;
    H5Z_filter_t id =
        H5Pget_filter2 (list, (unsigned) i, NULL, &n, NULL, 0, NULL, NULL);

    if (id < 0 || H5Zfilter_avail (id) > 0)
      continue;
    g_clear_error (error);
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "%s %s: libhdf5 does not have the filter %d (%s). Install its plugin "
        "and set the environment variable HDF5_PLUGIN_PATH to the plugin's "
        "folder, or convert the file with h5repack -f GZIP=1",
        what, layer, (gint) id, filter_name (id));
    break;
  }
  H5Pclose (list);
  return FALSE;
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

/* Replaces what a record cannot hold by 0. */
static void
check_params (PbfRaise *raise, const gchar *name)
{
  Layer *layer = &raise->layer;
  guint64 invalid = 0;

  for (guint i = 0; i < 2 * layer->n_lines; i++)
    if (!(layer->params[i] >= 0 && layer->params[i] * 1000 <= G_MAXUINT32)) {
      layer->params[i] = 0;
      invalid++;
    }
  if (!open_entry (raise)->counted)
    count_place (raise, INVALID_PARAMS, invalid, name);
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
    if (ok)
      check_params (raise, name);
    else
      set_read_error (set, "cannot read laser_params of", name, error);
  }
  H5Dclose (set);
  return ok;
}

/* An unwritten chunk, as of a writer that was killed, reads as the fill value. */
static void
count_unwritten (PbfRaise *raise, const gchar *name, const hsize_t dims[3])
{
  hid_t list = H5Dget_create_plist (raise->layer.frame);
  hid_t space = H5Dget_space (raise->layer.frame);
  hsize_t chunk[3], written, all = 1;

  if (H5Pget_layout (list) == H5D_CHUNKED && H5Pget_chunk (list, 3, chunk) == 3
      && H5Dget_num_chunks (raise->layer.frame, space, &written) >= 0) {
    for (guint i = 0; i < 3; i++)
      all *= (dims[i] + chunk[i] - 1) / chunk[i];
    count_place (
        raise, UNWRITTEN_CHUNKS, all > written ? all - written : 0, name);
  }
  H5Sclose (space);
  H5Pclose (list);
}

static gboolean
is_signed (hid_t set)
{
  hid_t type = H5Dget_type (set);
  gboolean found = H5Tget_sign (type) == H5T_SGN_2;

  H5Tclose (type);
  return found;
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
  if (dims[0] == 0) {
    if (!open_entry (raise)->counted)
      count_place (raise, EMPTY_LAYERS, 1, name);
    return TRUE;
  }
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
  if (!open_entry (raise)->counted)
    count_unwritten (raise, name, dims);
  layer->is_signed = is_signed (layer->frame);
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
  raise->block_index = g_try_new (gdouble, raise->block_frames);
  if (raise->block == NULL || raise->block_index == NULL)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for %u frames", raise->block_frames);
  return raise->block != NULL && raise->block_index != NULL;
}

static gboolean
open_layer (PbfRaise *raise, GError **error)
{
  const gchar *name =
      g_array_index (raise->layers, Entry, raise->next_layer++).path;

  gboolean ok;

  close_layer (&raise->layer);
  raise->at = raise->block_at = raise->block_n = 0;
  ok = open_sets (raise, name, error)
       && (raise->layer.n == 0
           || (read_params (raise, name, error) && make_block (raise, error)));
  open_entry (raise)->counted = TRUE;
  return ok;
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
    set_read_error (
        set, "cannot read frames of", open_entry (raise)->path, error);
  H5Sclose (memory);
  H5Sclose (space);
  return ok;
}

/* Numbers are rows of the data set, from 0. */
static gboolean
check_block (PbfRaise *raise, hsize_t n, GError **error)
{
  const gchar *name = open_entry (raise)->path;
  gsize size = (gsize) raise->layer.width * raise->layer.height;

  for (hsize_t i = 0; i < n; i++) {
    gdouble line = raise->block_index[i];

    if (!isfinite (line) || line != floor (line) || line > G_MAXUINT32) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
          "%s/scan_line_index: row %" G_GUINT64_FORMAT
          " is %.17g, which is no integer up to 4294967295",
          name, (guint64) (raise->at + i), line);
      return FALSE;
    }
    for (gsize k = 0; raise->layer.is_signed && k < size; k++)
      if (raise->block[i * size + k] >= 0x80) {
        g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
            "%s/frame: row %" G_GUINT64_FORMAT
            " has the negative pixel %d; pixels are 0 to 255, as uint8",
            name, (guint64) (raise->at + i),
            (gint8) raise->block[i * size + k]);
        return FALSE;
      }
  }
  return TRUE;
}

static gboolean
read_block (PbfRaise *raise, GError **error)
{
  Layer *layer = &raise->layer;
  hsize_t start[3] = { raise->at, 0, 0 };
  hsize_t count[3] = { MIN (layer->n - raise->at, raise->block_frames),
    layer->height, layer->width };

  if (!read_some (raise, layer->frame,
          layer->is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8, 3, start,
          count, raise->block, error)
      || !read_some (raise, layer->index, H5T_NATIVE_DOUBLE, 1, start, count,
          raise->block_index, error)
      || !check_block (raise, count[0], error))
    return FALSE;
  raise->block_at = raise->at;
  raise->block_n = count[0];
  return TRUE;
}

static void
fill_signal (PbfRaise *raise, gint64 line, CvisPbfSignal *signal)
{
  const Layer *layer = &raise->layer;

  *signal = (CvisPbfSignal){ .frame_counter = raise->frame_counter,
    .layer = open_entry (raise)->number,
    .vector_id = line >= 0 ? (guint32) line : 0,
    .width = layer->width,
    .height = layer->height };
  if (line >= 0) /* outside scan lines the laser is off */
    signal->flags |= CVIS_PBF_SIGNAL_LASER_ON;
  if (raise->at == 0)
    signal->flags |= CVIS_PBF_SIGNAL_LAYER_START;
  if (raise->at == 0 || line != raise->last_line)
    signal->flags |= CVIS_PBF_SIGNAL_VECTOR_START;
  if (line >= 0 && line < layer->n_lines) {
    signal->speed_um_s = (guint32) rint (layer->params[2 * line] * 1000);
    signal->power_mW = (guint32) rint (layer->params[2 * line + 1] * 1000);
  } else if (line >= 0) {
    count_place (raise, MISSING_PARAMS, 1, open_entry (raise)->path);
  }
}

static gboolean
read_next (PbfRaise *raise, PbfRaiseFrame *frame, GError **error)
{
  Layer *layer = &raise->layer;
  gint64 line;
  gsize i;

  while (raise->at == layer->n) {
    if (raise->next_layer == raise->layers->len)
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
  line = raise->block_index[i] < 0 ? -1 : (gint64) raise->block_index[i];
  fill_signal (raise, line, &frame->signal);
  raise->last_line = line;
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

/* --- positions ------------------------------------------------------------- */

/* Finds the number of frames of each layer. */
static gboolean
count_raise_frames (PbfRaise *raise, GError **error)
{
  GArray *layers = raise->layers;
  guint64 *first;

  if (raise->first_frames != NULL)
    return TRUE;
  first = g_new0 (guint64, layers->len + 1);
  for (guint i = 0; i < layers->len; i++) {
    hsize_t dims[3];
    hid_t set = open_set (raise, g_array_index (layers, Entry, i).path, "frame",
        3, dims, 0, error);

    if (set < 0) {
      g_free (first);
      return FALSE;
    }
    H5Dclose (set);
    first[i + 1] = first[i] + dims[0];
  }
  raise->first_frames = first;
  return TRUE;
}

gboolean
pbf_raise_count (PbfRaise *raise, guint64 *n, GError **error)
{
  Quiet quiet = begin_hdf5 ();
  gboolean ok = count_raise_frames (raise, error);

  if (ok)
    *n = raise->first_frames[raise->layers->len];
  end_hdf5 (quiet);
  return ok;
}

/* Opens the layer of @frame and goes to it. */
static gboolean
go_to_frame (PbfRaise *raise, guint64 frame, GError **error)
{
  guint i = 0;

  while (raise->first_frames[i + 1] <= frame)
    i++;
  raise->next_layer = i;
  if (!open_layer (raise, error))
    return FALSE;
  raise->at = raise->block_at = frame - raise->first_frames[i];
  raise->block_n = 0;
  raise->frame_counter = (guint32) frame;
  return TRUE;
}

gboolean
pbf_raise_seek (PbfRaise *raise, guint64 frame, GError **error)
{
  Quiet quiet = begin_hdf5 ();
  gboolean ok = count_raise_frames (raise, error);

  if (ok && frame >= raise->first_frames[raise->layers->len]) {
    raise->next_layer = raise->layers->len;
    close_layer (&raise->layer);
    raise->at = 0;
  } else if (ok) {
    PbfRaiseFrame before;
    gboolean within;

    ok = go_to_frame (raise, frame, error);
    within = ok && raise->at > 0;
    /* the line of the frame before decides whether a vector starts */
    if (within) {
      raise->at--;
      raise->block_at--;
      raise->frame_counter--;
      ok = read_next (raise, &before, error);
    }
  }
  end_hdf5 (quiet);
  return ok;
}

/* --- warnings -------------------------------------------------------------- */

gchar *
pbf_raise_take_warning (PbfRaise *raise, gboolean at_end)
{
  GString *text = g_string_new (NULL);

  for (guint i = at_end ? AT_START + 1 : 0;
       i < (at_end ? N_COUNTS : AT_START + 1); i++) {
    Count *count = &raise->counts[i];

    if (count->n > 0)
      g_string_append_printf (text, "%s%s: %" G_GUINT64_FORMAT " (first: %s)",
          text->len > 0 ? "; " : "", count_texts[i], count->n, count->first);
    g_clear_pointer (&count->first, g_free);
    count->n = 0;
  }
  return g_string_free (text, text->len == 0);
}

/* --- open and close ------------------------------------------------------ */

static void
free_raise (PbfRaise *raise)
{
  close_layer (&raise->layer);
  if (raise->file >= 0)
    H5Fclose (raise->file);
  if (raise->links >= 0)
    H5Pclose (raise->links);
  g_array_unref (raise->layers);
  for (guint i = 0; i < N_COUNTS; i++)
    g_free (raise->counts[i].first);
  g_free (raise->first_frames);
  g_free (raise->block);
  g_free (raise->block_index);
  g_free (raise);
}

/* Sets @error for a file that cannot be HDF5, without libhdf5's words. */
static gboolean
check_file (const gchar *path, GError **error)
{
  GStatBuf about;

  if (g_stat (path, &about) != 0 || g_access (path, R_OK) != 0)
    g_set_error_literal (
        error, CVIS_ERROR, CVIS_ERROR_FORMAT, g_strerror (errno));
  else if (!S_ISREG (about.st_mode))
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        S_ISDIR (about.st_mode) ? "it is a directory"
                                : "it is not a regular file");
  else
    return TRUE;
  return FALSE;
}

/* Opens @path, also while another program writes to it in SWMR mode. */
static gboolean
open_raise_file (PbfRaise *raise, const gchar *path, GError **error)
{
  gboolean locked;

  if (!check_file (path, error))
    return FALSE;
  raise->file = H5Fopen (path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (raise->file >= 0)
    return TRUE;
  set_hdf5_error (error, "it is no HDF5 file, or a damaged one", "");
  locked =
      H5Fis_hdf5 (path) != 0 && strstr ((*error)->message, "truncated") == NULL;
  raise->file = H5Fopen (path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT);
  if (raise->file >= 0) {
    g_clear_error (error);
    return TRUE;
  }
  if (locked && strstr ((*error)->message, "lock") == NULL
      && strstr ((*error)->message, "open for write") == NULL)
    locked = FALSE;
  if (locked) {
    g_clear_error (error);
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "another program has it open for writing, or ended without closing it. "
        "Close it there; if no program has it open, run h5clear -s on it");
  }
  return FALSE;
}

PbfRaise *
pbf_raise_new (const gchar *path, const gchar *group, GError **error)
{
  PbfRaise *raise = g_new0 (PbfRaise, 1);
  GError *fault = NULL;
  Quiet quiet = begin_hdf5 ();

  raise->layers = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_set_clear_func (raise->layers, clear_entry);
  raise->layer.frame = raise->layer.index = raise->file = H5I_INVALID_HID;
  raise->links = H5Pcreate (H5P_LINK_ACCESS);
  H5Pset_elink_cb (raise->links, reject_external, NULL);
  if (!open_raise_file (raise, path, &fault)
      || !find_layers (raise, group, &fault)) {
    g_propagate_error (error, fault);
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
