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

/* Pieces that are read to find the last frame: a recording with more changes of
 * size than that has no known end. */
#define SPAN_PIECES 4096

/* A position between pieces. */
typedef struct {
  guint64 at;        /* of the next piece, bytes */
  guint64 search_at; /* of the search after damage at @at; 0: none */
  guint64 budget;    /* of the search, bytes */
  gboolean ended;    /* the rest of the file is not readable */
  PbfRecordingHead head;
  gboolean has_frame; /* one was read: */
  guint32 stream;
  guint32 counter; /* expected in the next packet */
  guint64 number;  /* of the next frame, if none is missing */
  guint64 places;  /* of damage, before the last frame */
} Cursor;

struct _PbfRecording {
  gint fd;
  gboolean is_stream; /* no fd */
  Cursor cursor;
  PbfRecordingDamage damage;
  guint8 *bytes; /* bytes_n bytes of the file, from bytes_at */
  gsize room, bytes_n;
  guint64 bytes_at;
  gint code;         /* errno of a failed read */
  gboolean finished; /* of a stream: no bytes follow */
  gboolean starved;  /* of a stream: bytes are missing */
};

typedef enum {
  FOUND_HEAD,
  FOUND_FRAME,
  FOUND_NOTHING,
  FOUND_PART, /* a truncated piece, or one of a stream that is not complete */
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

gboolean
pbf_recording_read_head (
    const guint8 bytes[PBF_RECORDING_HEAD], PbfRecordingHead *head)
{
  PbfRecordingHead h = { get_word (bytes + 8), get_word (bytes + 12),
    get_word (bytes + 16), get_word (bytes + 20) };

  if (get_word (bytes) != PBF_RECORDING_MAGIC
      || get_word (bytes + 28) != pbf_crc32c (bytes, 28)
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

/* Returns: @n bytes at @at; %NULL: the file is shorter or cannot be read, or the
 * stream is starved */
static const guint8 *
need_bytes (PbfRecording *r, guint64 at, gsize n)
{
  gsize want = MAX (n, READ_AHEAD);

  if (at >= r->bytes_at && at - r->bytes_at <= r->bytes_n
      && r->bytes_n - (at - r->bytes_at) >= n)
    return r->bytes + (at - r->bytes_at);
  if (r->is_stream) {
    r->starved = !r->finished;
    return NULL;
  }
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
  const PbfRecordingHead *h = &r->cursor.head; /* of the frames */
  const gsize pixels = (gsize) h->width * h->height;
  const guint8 *bytes = need_bytes (r, at, 4);

  *size = 0;
  if (bytes == NULL)
    return FOUND_PART;
  if (get_word (bytes) == PBF_RECORDING_MAGIC) {
    *size = PBF_RECORDING_HEAD;
    bytes = need_bytes (r, at, *size);
    if (bytes == NULL)
      return FOUND_PART;
    return pbf_recording_read_head (bytes, head) ? FOUND_HEAD : FOUND_NOTHING;
  }
  if (get_word (bytes) != PBF_PACKET_MAGIC)
    return FOUND_NOTHING;
  /* a damaged size must not let a stream wait for bytes that are not needed */
  bytes = need_bytes (r, at, PBF_PACKET_HEADER);
  if (bytes == NULL)
    return FOUND_PART;
  *size = get_word (bytes + 8);
  if (get_word (bytes + 16) != (h->width | h->height << 16)
      || (*size != pixels + PBF_PACKET_OVERHEAD
          && *size != pixels + PBF_PACKET_OVERHEAD - PBF_PACKET_SIGNAL))
    return FOUND_NOTHING;
  bytes = need_bytes (r, at, *size);
  if (bytes == NULL)
    return FOUND_PART;
  if (pbf_packet_parse (bytes, *size, packet) != PBF_PACKET_OK
      || packet->fragment_size != pixels)
    return FOUND_NOTHING;
  return FOUND_FRAME;
}

/* Looks for the next valid piece. Returns: FALSE if there is none, or the stream is
 * starved: the next call goes on */
static gboolean
search_piece (PbfRecording *r)
{
  Cursor *c = &r->cursor;

  for (; c->budget > 0; c->search_at++) {
    const guint8 *bytes = need_bytes (r, c->search_at, PBF_RECORDING_HEAD);
    const guint8 *next;
    PbfRecordingHead head;
    PbfPacket packet;
    gsize size;

    if (bytes == NULL)
      return FALSE;
    /* pieces begin with P; the shortest one fits into the bytes read here */
    next = memchr (bytes, 'P', r->bytes_n - (c->search_at - r->bytes_at));
    if (next == NULL) {
      c->search_at = r->bytes_at + r->bytes_n - 1;
      continue;
    }
    c->search_at += next - bytes;
    if (find_piece (r, c->search_at, &head, &packet, &size) <= FOUND_FRAME)
      return TRUE;
    if (r->starved)
      return FALSE;
    c->budget -= MIN (c->budget, size);
  }
  return FALSE;
}

/* --- the file -------------------------------------------------------------- */

static void
set_read_error (PbfRecording *r, GError **error)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (r->code),
      "recording: byte %" G_GUINT64_FORMAT " cannot be read: %s", r->cursor.at,
      g_strerror (r->code));
}

static void
set_head_error (PbfRecording *r, GError **error)
{
  if (r->code != 0)
    set_read_error (r, error);
  else if (r->bytes_n >= 4 && get_word (r->bytes) == PBF_RECORDING_MAGIC)
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "recording: the head at byte 0 is damaged, or of another version");
  else
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "not a recording: it does not begin with \"PBFR\"");
}

PbfRecording *
pbf_recording_new (gint fd, GError **error)
{
  PbfRecording *r = g_new0 (PbfRecording, 1);
  PbfPacket packet;
  gsize size;

  r->fd = fd;
  if (find_piece (r, 0, &r->cursor.head, &packet, &size) == FOUND_HEAD)
    return r;
  set_head_error (r, error);
  pbf_recording_free (r);
  return NULL;
}

PbfRecording *
pbf_recording_new_stream (void)
{
  PbfRecording *r = g_new0 (PbfRecording, 1);

  r->fd = -1;
  r->is_stream = TRUE;
  return r;
}

void
pbf_recording_free (PbfRecording *r)
{
  if (r == NULL)
    return;
  g_free (r->bytes);
  g_free (r);
}

void
pbf_recording_push (PbfRecording *r, const guint8 *bytes, gsize size)
{
  guint64 keep = MAX (r->cursor.at, r->cursor.search_at);
  gsize used = (gsize) MIN (keep - r->bytes_at, r->bytes_n);

  if (used > 0 && r->room - r->bytes_n < size) {
    memmove (r->bytes, r->bytes + used, r->bytes_n - used);
    r->bytes_at += used;
    r->bytes_n -= used;
  }
  if (r->room - r->bytes_n < size) {
    r->room = MAX (r->bytes_n + size, MIN (2 * r->room, 2 * MAX_PACKET));
    r->bytes = g_realloc (r->bytes, r->room);
  }
  if (size > 0)
    memcpy (r->bytes + r->bytes_n, bytes, size);
  r->bytes_n += size;
  r->starved = FALSE;
}

void
pbf_recording_finish (PbfRecording *r)
{
  r->finished = TRUE;
  r->starved = FALSE;
}

static PbfPiece
skip_damage (PbfRecording *r, gboolean cut, GError **error)
{
  Cursor *c = &r->cursor;
  guint64 begin = c->at;

  if (c->search_at == 0) {
    c->search_at = begin + 1;
    c->budget = SEARCH_BUDGET;
  }
  if (search_piece (r)) {
    c->at = c->search_at;
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "recording: damaged at byte %" G_GUINT64_FORMAT
        ", readable again %" G_GUINT64_FORMAT " bytes later",
        begin, c->at - begin);
  } else if (r->starved) {
    return PBF_PIECE_MORE;
  } else if (r->code != 0) {
    set_read_error (r, error);
    return PBF_PIECE_ERROR;
  } else {
    c->ended = TRUE;
    c->at = MAX (begin + 1, r->bytes_at + r->bytes_n);
    r->damage.frames +=
        cut || c->at - begin >= (guint64) c->head.width * c->head.height;
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        cut ? "recording: cut off at byte %" G_GUINT64_FORMAT ", within a frame"
            : "recording: damaged from byte %" G_GUINT64_FORMAT " to the end",
        begin);
  }
  c->search_at = 0;
  r->damage.places++;
  r->damage.bytes += c->at - begin;
  return PBF_PIECE_DAMAGE;
}

/* Numbers the frame, and counts those that were damaged before it. Packets are
 * numbered from 0, or from where a joined recording begins. */
static void
number_frame (PbfRecording *r, const PbfPacket *packet)
{
  Cursor *c = &r->cursor;
  guint32 missing = packet->frame_counter - c->counter;

  if (!c->has_frame && r->damage.places == c->places)
    c->number = packet->frame_counter;
  else if ((!c->has_frame || packet->stream == c->stream)
           && missing <= G_MAXINT32) {
    c->number += missing;
    if (r->damage.places != c->places)
      r->damage.frames += missing;
  }
  c->number++;
  c->has_frame = TRUE;
  c->stream = packet->stream;
  c->counter = packet->frame_counter + 1;
  c->places = r->damage.places;
}

PbfPiece
pbf_recording_next (
    PbfRecording *r, PbfRecordingHead *head, PbfPacket *packet, GError **error)
{
  Cursor *c = &r->cursor;
  Found found;
  gsize size;

  if (c->search_at != 0)
    return skip_damage (r, FALSE, error);
  if (c->ended
      || (need_bytes (r, c->at, 1) == NULL && r->code == 0 && !r->starved
          && c->at > 0))
    return PBF_PIECE_END;
  found = find_piece (r, c->at, &c->head, packet, &size);
  if (r->starved)
    return PBF_PIECE_MORE;
  if (r->code != 0) {
    set_read_error (r, error);
    return PBF_PIECE_ERROR;
  }
  if (c->at == 0 && found != FOUND_HEAD) {
    set_head_error (r, error);
    return PBF_PIECE_ERROR;
  }
  if (found > FOUND_FRAME)
    return skip_damage (r, found == FOUND_PART, error);
  c->at += size;
  *head = c->head;
  if (found == FOUND_HEAD)
    return PBF_PIECE_HEAD;
  number_frame (r, packet);
  return PBF_PIECE_FRAME;
}

guint64
pbf_recording_get_number (const PbfRecording *r)
{
  return r->cursor.number - 1;
}

const PbfRecordingDamage *
pbf_recording_get_damage (const PbfRecording *r)
{
  return &r->damage;
}

/* --- positions ------------------------------------------------------------- */

/* Reads the header of the packet that is @n packets of @size bytes after the one at
 * @at, if it is the @n-th after @packet. No head is between them then, as it would
 * move the packet. */
static gboolean
peek_packet (PbfRecording *r, guint64 at, gsize size, const PbfPacket *packet,
    guint32 n, guint64 *t_ns)
{
  guint8 header[PBF_PACKET_HEADER];
  gssize got;

  do
    got =
        pread (r->fd, header, sizeof header, (off_t) (at + (guint64) n * size));
  while (got < 0 && errno == EINTR);
  if (got != sizeof header || get_word (header) != PBF_PACKET_MAGIC
      || get_word (header + 8) != size
      || get_word (header + 12) != packet->frame_counter + n
      || get_word (header + 16) != (packet->width | packet->height << 16)
      || get_word (header + 28) != packet->stream)
    return FALSE;
  *t_ns = get_word (header + 32) | (guint64) get_word (header + 36) << 32;
  return TRUE;
}

/* Goes from a frame at @at, of @size bytes, to the last one of the same kind that
 * is intact and does not go beyond @value. Packets of one size have known positions, so that this
 * takes 31 steps. */
static void
skip_packets (PbfRecording *r, PbfSeek unit, guint64 value, guint64 at,
    gsize size, const PbfPacket *packet)
{
  Cursor *c = &r->cursor;
  guint64 number = c->number - 1, t_ns;
  PbfPacket other;
  gsize found;
  guint32 n = 0;

  for (guint32 step = 1u << 30; step > 0; step /= 2)
    if (peek_packet (r, at, size, packet, n + step, &t_ns)
        && (unit == PBF_SEEK_NUMBER ? number + n + step : t_ns) <= value)
      n += step;
  while (n > 0
         && find_piece (r, at + (guint64) n * size, &c->head, &other, &found)
                != FOUND_FRAME)
    n--; /* it is damaged */
  if (n == 0)
    return;
  c->at = at + (guint64) n * size;
  c->number = number + n;
  c->counter = packet->frame_counter + n;
}

/* Seeks within @pieces pieces; 0: any number. */
static gboolean
seek_frame (PbfRecording *r, PbfSeek unit, guint64 value, guint pieces,
    PbfRecordingFrame *frame, gboolean *found)
{
  const PbfRecordingDamage damage = r->damage;
  Cursor *c = &r->cursor, best, before;
  gboolean has_best = FALSE, reached = FALSE;
  PbfRecordingHead head;
  PbfPiece piece = PBF_PIECE_HEAD;
  PbfPacket packet;
  guint n = 0;

  *c = (Cursor){ .head = c->head, .places = damage.places };
  *found = FALSE;
  while (!reached && piece < PBF_PIECE_END && (pieces == 0 || n++ < pieces)) {
    gboolean within;

    before = *c;
    piece = pbf_recording_next (r, &head, &packet, NULL);
    if (piece != PBF_PIECE_FRAME)
      continue;
    within =
        unit == PBF_SEEK_NUMBER ? c->number - 1 < value : packet.t_ns <= value;
    reached = !within;
    if (reached && unit == PBF_SEEK_TIME && has_best)
      break;
    *found = TRUE;
    *frame =
        (PbfRecordingFrame){ c->number - 1, packet.t_ns, packet.duration_ns };
    best = before;
    has_best = TRUE;
    if (within)
      skip_packets (
          r, unit, value, before.at, (gsize) (c->at - before.at), &packet);
  }
  r->damage = damage;
  if (reached || (unit == PBF_SEEK_TIME && has_best)) {
    *c = best;
    c->places = damage.places;
    return TRUE;
  }
  return FALSE;
}

gboolean
pbf_recording_seek (
    PbfRecording *r, PbfSeek unit, guint64 value, PbfRecordingFrame *frame)
{
  PbfRecordingFrame last = { 0 };
  gboolean found, ok = seek_frame (r, unit, value, 0, &last, &found);

  if (frame != NULL)
    *frame = last;
  return ok;
}

gboolean
pbf_recording_find_span (
    PbfRecording *r, PbfRecordingFrame *first, PbfRecordingFrame *last)
{
  const Cursor start = r->cursor;
  gboolean found, ok;

  ok = seek_frame (r, PBF_SEEK_NUMBER, 0, SPAN_PIECES, first, &found);
  if (ok) {
    seek_frame (r, PBF_SEEK_NUMBER, G_MAXUINT64, SPAN_PIECES, last, &found);
    ok = r->cursor.ended
         || (need_bytes (r, r->cursor.at, 1) == NULL && r->code == 0);
  }
  r->cursor = start;
  return ok;
}
