/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/camera/recording.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_AHEAD (1u << 20) /* bytes */
#define MAX_PACKET                                                             \
  (PBF_PACKET_OVERHEAD + PBF_PACKET_MAX_SIDE * PBF_PACKET_MAX_SIDE)
/* limit on the bytes searched after damage, so that a malicious file cannot
 * take long */
#define SEARCH_BUDGET (G_GUINT64_CONSTANT (1) << 30)

struct _PbfRecording {
  gint fd;
  guint64 at;     /* position of the next piece, bytes */
  gboolean ended; /* the rest of the file is not readable */
  PbfRecordingHead head;
  guint8 *bytes; /* bytes_n bytes of the file, from bytes_at */
  gsize room, bytes_n;
  guint64 bytes_at;
  gint code; /* errno of a failed read */
};

typedef enum {
  FOUND_HEAD,
  FOUND_FRAME,
  FOUND_NOTHING,
  FOUND_PART, /* a truncated piece */
} Found;

/* --- heads ----------------------------------------------------------------- */

static guint32
get_word (const guint8 *bytes)
{
  guint32 word;

  memcpy (&word, bytes, 4);
  return GUINT32_FROM_LE (word);
}

static void
set_word (guint8 *bytes, guint32 word)
{
  word = GUINT32_TO_LE (word);
  memcpy (bytes, &word, 4);
}

void
pbf_recording_write_head (
    const PbfRecordingHead *head, guint8 bytes[PBF_RECORDING_HEAD])
{
  set_word (bytes, PBF_RECORDING_MAGIC);
  set_word (bytes + 4, PBF_RECORDING_VERSION | PBF_RECORDING_HEAD << 16);
  set_word (bytes + 8, head->width);
  set_word (bytes + 12, head->height);
  set_word (bytes + 16, head->fps_n);
  set_word (bytes + 20, head->fps_d);
  set_word (bytes + 24, 0);
  set_word (bytes + 28, pbf_crc32c (bytes, 28));
}

static gboolean
parse_head (const guint8 *bytes, PbfRecordingHead *head)
{
  PbfRecordingHead h = { get_word (bytes + 8), get_word (bytes + 12),
    get_word (bytes + 16), get_word (bytes + 20) };

  if (get_word (bytes + 28) != pbf_crc32c (bytes, 28)
      || get_word (bytes + 4)
             != (PBF_RECORDING_VERSION | PBF_RECORDING_HEAD << 16)
      || get_word (bytes + 24) != 0 || h.width < 1 || h.height < 1
      || h.width > PBF_PACKET_MAX_SIDE || h.height > PBF_PACKET_MAX_SIDE
      || h.fps_n > G_MAXINT32 || h.fps_d < 1 || h.fps_d > G_MAXINT32)
    return FALSE;
  *head = h;
  return TRUE;
}

/* --- pieces ---------------------------------------------------------------- */

/* Returns: @n bytes at @at; %NULL: the file is shorter, or cannot be read */
static const guint8 *
need_bytes (PbfRecording *r, guint64 at, gsize n)
{
  gsize want = MAX (n, READ_AHEAD);

  if (at >= r->bytes_at && at - r->bytes_at <= r->bytes_n
      && r->bytes_n - (at - r->bytes_at) >= n)
    return r->bytes + (at - r->bytes_at);
  if (want > r->room) {
    r->bytes = g_realloc (r->bytes, want);
    r->room = want;
  }
  r->bytes_at = at;
  r->bytes_n = 0;
  while (r->bytes_n < n) {
    gssize got = pread (r->fd, r->bytes + r->bytes_n, r->room - r->bytes_n,
        (off_t) (at + r->bytes_n));

    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      r->code = errno;
    if (got <= 0)
      return NULL;
    r->bytes_n += (gsize) got;
  }
  return r->bytes;
}

/* Identifies the piece at @at. */
static Found
find_piece (PbfRecording *r, guint64 at, PbfRecordingHead *head,
    PbfPacket *packet, gsize *size)
{
  const guint8 *bytes = need_bytes (r, at, 12);

  *size = 0;
  if (bytes == NULL)
    return FOUND_PART;
  if (get_word (bytes) == PBF_RECORDING_MAGIC) {
    *size = PBF_RECORDING_HEAD;
    bytes = need_bytes (r, at, *size);
    if (bytes == NULL)
      return FOUND_PART;
    return parse_head (bytes, head) ? FOUND_HEAD : FOUND_NOTHING;
  }
  if (get_word (bytes) != PBF_PACKET_MAGIC || get_word (bytes + 8) > MAX_PACKET)
    return FOUND_NOTHING;
  *size = get_word (bytes + 8);
  bytes = need_bytes (r, at, *size);
  if (bytes == NULL)
    return FOUND_PART;
  if (pbf_packet_parse (bytes, *size, packet) != PBF_PACKET_OK
      || packet->width != r->head.width || packet->height != r->head.height
      || packet->fragment_size != packet->width * packet->height)
    return FOUND_NOTHING;
  return FOUND_FRAME;
}

/* Advances to the next valid piece. Returns: FALSE if there is none */
static gboolean
search_piece (PbfRecording *r)
{
  guint64 budget = SEARCH_BUDGET;

  for (guint64 at = r->at + 1; budget > 0; at++) {
    const guint8 *bytes = need_bytes (r, at, PBF_RECORDING_HEAD), *next;
    PbfRecordingHead head;
    PbfPacket packet;
    gsize size;

    if (bytes == NULL)
      return FALSE;
    /* pieces begin with P; the shortest one fits into the bytes read here */
    next = memchr (bytes, 'P', r->bytes_n - (at - r->bytes_at));
    if (next == NULL) {
      at = r->bytes_at + r->bytes_n - 1;
      continue;
    }
    at += next - bytes;
    if (find_piece (r, at, &head, &packet, &size) <= FOUND_FRAME) {
      r->at = at;
      return TRUE;
    }
    budget -= MIN (budget, size);
  }
  return FALSE;
}

/* --- the file -------------------------------------------------------------- */

static void
set_read_error (PbfRecording *r, GError **error)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (r->code),
      "recording: byte %" G_GUINT64_FORMAT " cannot be read: %s", r->at,
      g_strerror (r->code));
}

PbfRecording *
pbf_recording_new (gint fd, GError **error)
{
  PbfRecording *r = g_new0 (PbfRecording, 1);
  PbfPacket packet;
  gsize size;

  r->fd = fd;
  if (find_piece (r, 0, &r->head, &packet, &size) == FOUND_HEAD)
    return r;
  if (r->code != 0)
    set_read_error (r, error);
  else if (r->bytes_n >= 4 && get_word (r->bytes) == PBF_RECORDING_MAGIC)
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "recording: the head at byte 0 is damaged, or of another version");
  else
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "not a recording: it does not begin with \"PBFR\"");
  pbf_recording_free (r);
  return NULL;
}

void
pbf_recording_free (PbfRecording *r)
{
  if (r == NULL)
    return;
  g_free (r->bytes);
  g_free (r);
}

static PbfPiece
skip_damage (PbfRecording *r, gboolean cut, GError **error)
{
  guint64 begin = r->at;

  if (search_piece (r)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "recording: damaged at byte %" G_GUINT64_FORMAT
        ", readable again %" G_GUINT64_FORMAT " bytes later",
        begin, r->at - begin);
    return PBF_PIECE_DAMAGE;
  }
  if (r->code != 0) {
    set_read_error (r, error);
    return PBF_PIECE_ERROR;
  }
  r->ended = TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      cut ? "recording: cut off at byte %" G_GUINT64_FORMAT ", within a frame"
          : "recording: damaged from byte %" G_GUINT64_FORMAT " to the end",
      begin);
  return PBF_PIECE_DAMAGE;
}

PbfPiece
pbf_recording_next (
    PbfRecording *r, PbfRecordingHead *head, PbfPacket *packet, GError **error)
{
  Found found;
  gsize size;

  if (r->ended || (need_bytes (r, r->at, 1) == NULL && r->code == 0))
    return PBF_PIECE_END;
  found = find_piece (r, r->at, &r->head, packet, &size);
  if (r->code != 0) {
    set_read_error (r, error);
    return PBF_PIECE_ERROR;
  }
  if (found > FOUND_FRAME)
    return skip_damage (r, found == FOUND_PART, error);
  r->at += size;
  *head = r->head;
  return found == FOUND_HEAD ? PBF_PIECE_HEAD : PBF_PIECE_FRAME;
}
