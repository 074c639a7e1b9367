/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/camera/packet.h"

#include <string.h>

/* --- bytes ----------------------------------------------------------------- */

static guint32
get_u16 (const guint8 *p)
{
  return p[0] | (guint32) p[1] << 8;
}

static guint32
get_u32 (const guint8 *p)
{
  return get_u16 (p) | get_u16 (p + 2) << 16;
}

static void
set_u16 (guint8 *p, guint32 value)
{
  p[0] = value & 0xff;
  p[1] = value >> 8 & 0xff;
}

static void
set_u32 (guint8 *p, guint32 value)
{
  set_u16 (p, value & 0xffff);
  set_u16 (p + 2, value >> 16);
}

/* --- one packet ------------------------------------------------------------ */

static guint32
frame_bytes (const PbfPacket *packet)
{
  return packet->width * packet->height;
}

guint32
pbf_packet_fragment_bytes (const PbfPacket *packet)
{
  return MIN (packet->fragment_size, frame_bytes (packet) - packet->offset);
}

gsize
pbf_packet_bytes (const PbfPacket *packet)
{
  return PBF_PACKET_HEADER + (packet->signal != NULL ? PBF_PACKET_SIGNAL : 0)
         + pbf_packet_fragment_bytes (packet) + 4;
}

static gboolean
fields_agree (const PbfPacket *p)
{
  if (p->width < 1 || p->width > PBF_PACKET_MAX_SIDE || p->height < 1
      || p->height > PBF_PACKET_MAX_SIDE)
    return FALSE;
  if (p->fragment_size < 1 || p->fragment_size > frame_bytes (p)
      || (p->fragment_size < PBF_PACKET_MIN_FRAGMENT
          && p->fragment_size != frame_bytes (p)))
    return FALSE;
  return p->offset < frame_bytes (p) && p->offset % p->fragment_size == 0
         && (p->signal == NULL || p->offset == 0);
}

PbfPacketFault
pbf_packet_parse (const guint8 *bytes, gsize size, PbfPacket *packet)
{
  PbfPacket p = { 0 };
  guint32 flags;

  if (size < PBF_PACKET_HEADER + 4 || get_u32 (bytes) != PBF_PACKET_MAGIC)
    return PBF_PACKET_RUBBISH;
  if (get_u32 (bytes + size - 4) != pbf_crc32c (bytes, size - 4))
    return PBF_PACKET_CORRUPT;
  flags = get_u16 (bytes + 6);
  if (get_u16 (bytes + 4) != PBF_PACKET_VERSION || flags > 1
      || get_u32 (bytes + 8) != size || get_u32 (bytes + 44) != 0)
    return PBF_PACKET_RUBBISH;
  p.frame_counter = get_u32 (bytes + 12);
  p.width = get_u16 (bytes + 16);
  p.height = get_u16 (bytes + 18);
  p.offset = get_u32 (bytes + 20);
  p.fragment_size = get_u32 (bytes + 24);
  p.stream = get_u32 (bytes + 28);
  p.t_ns = get_u32 (bytes + 32) | (guint64) get_u32 (bytes + 36) << 32;
  p.duration_ns = get_u32 (bytes + 40);
  p.pixels = bytes + PBF_PACKET_HEADER;
  if (flags & 1) {
    p.signal = p.pixels;
    p.pixels += PBF_PACKET_SIGNAL;
  }
  if (!fields_agree (&p) || pbf_packet_bytes (&p) != size)
    return PBF_PACKET_RUBBISH;
  *packet = p;
  return PBF_PACKET_OK;
}

void
pbf_packet_read_signal (const guint8 bytes[64], CvisPbfSignal *signal)
{
  CvisPbfSignal raw;

  memcpy (&raw, bytes, sizeof raw);
  pbf_signal_write (&raw, (guint8 *) signal); /* converts both ways */
}

/* Copies pixels @offset to @offset + @n between rows @stride apart and
 * contiguous bytes. */
static void
copy_pixels (guint8 *rows, gsize stride, guint width, guint32 offset, guint32 n,
    guint8 *bytes, gboolean to_rows)
{
  while (n > 0) {
    guint32 column = offset % width;
    guint32 run = stride == width ? n : MIN (n, width - column);
    guint8 *pixels = rows + offset / width * stride + column;

    memcpy (to_rows ? pixels : bytes, to_rows ? bytes : pixels, run);
    offset += run;
    bytes += run;
    n -= run;
  }
}

void
pbf_packet_write (
    const PbfPacket *packet, const guint8 *frame, gsize stride, guint8 *bytes)
{
  gsize size = pbf_packet_bytes (packet);
  guint8 *pixels = bytes + PBF_PACKET_HEADER;

  set_u32 (bytes, PBF_PACKET_MAGIC);
  set_u16 (bytes + 4, PBF_PACKET_VERSION);
  set_u16 (bytes + 6, packet->signal != NULL);
  set_u32 (bytes + 8, (guint32) size);
  set_u32 (bytes + 12, packet->frame_counter);
  set_u16 (bytes + 16, packet->width);
  set_u16 (bytes + 18, packet->height);
  set_u32 (bytes + 20, packet->offset);
  set_u32 (bytes + 24, packet->fragment_size);
  set_u32 (bytes + 28, packet->stream);
  set_u32 (bytes + 32, (guint32) packet->t_ns);
  set_u32 (bytes + 36, (guint32) (packet->t_ns >> 32));
  set_u32 (bytes + 40, packet->duration_ns);
  set_u32 (bytes + 44, 0);
  if (packet->signal != NULL) {
    memcpy (pixels, packet->signal, PBF_PACKET_SIGNAL);
    pixels += PBF_PACKET_SIGNAL;
  }
  copy_pixels ((guint8 *) frame, stride, packet->width, packet->offset,
      pbf_packet_fragment_bytes (packet), pixels, FALSE);
  set_u32 (bytes + size - 4, pbf_crc32c (bytes, size - 4));
}

void
pbf_packet_read_pixels (const PbfPacket *packet, guint8 *frame, gsize stride)
{
  copy_pixels (frame, stride, packet->width, packet->offset,
      pbf_packet_fragment_bytes (packet), (guint8 *) packet->pixels, TRUE);
}

guint32
pbf_packet_split (guint width, guint height, guint most)
{
  guint32 total = width * height, n, size;

  most = MAX (most, PBF_PACKET_MIN_FRAGMENT);
  n = (total + most - 1) / most;
  size = (total + n - 1) / n;
  return n == 1 ? total : MAX (size, PBF_PACKET_MIN_FRAGMENT);
}

/* --- frames out of packets ------------------------------------------------- */

/* length of the record of complete frames after the next one */
#define HISTORY 4096

typedef struct {
  gpointer frame; /* from open() */
  guint8 *pixels; /* NULL: no packet of this frame yet */
  gsize stride;
  guint32 fragment_size;
  guint32 missing; /* fragments */
  guint64 *have;   /* a bit for each fragment */
  guint32 duration_ns;
  guint64 t_ns;
  gboolean has_signal;
  guint8 signal[PBF_PACKET_SIGNAL];
} Slot;

struct _PbfAssembler {
  PbfFrameFuncs funcs;
  gpointer user;
  guint window;
  guint mask; /* slots less one: a power of two, as the counter wraps */
  Slot *slots;

  guint width, height;
  gboolean started;
  gboolean may_restart;
  guint32 stream, stream_before;
  gboolean has_stream_before;
  guint32 next;   /* counter of the next frame to hand out */
  guint64 number; /* its number in the stream */
  guint32 lost_before;
  guint64
      done[HISTORY / 64]; /* bit of a counter behind next: it was complete */
  PbfLinkCounts counts;
};

PbfAssembler *
pbf_assembler_new (guint window, const PbfFrameFuncs *funcs, gpointer user)
{
  PbfAssembler *a = g_new0 (PbfAssembler, 1);
  guint slots = 1;

  a->funcs = *funcs;
  a->user = user;
  a->window = CLAMP (window, 1, 1024);
  while (slots < a->window)
    slots *= 2;
  a->mask = slots - 1;
  a->slots = g_new0 (Slot, slots);
  return a;
}

static Slot *
slot_of (PbfAssembler *a, guint32 counter)
{
  return &a->slots[counter & a->mask];
}

static void
note_done (PbfAssembler *a, guint32 counter, gboolean done)
{
  guint64 bit = G_GUINT64_CONSTANT (1) << counter % 64;
  guint64 *word = &a->done[counter % HISTORY / 64];

  *word = done ? *word | bit : *word & ~bit;
}

static gboolean
was_done (const PbfAssembler *a, guint32 counter)
{
  return a->next - counter <= HISTORY
         && (a->done[counter % HISTORY / 64] >> counter % 64 & 1);
}

/* Hands out the next frame or gives it up. */
static void
release_next (PbfAssembler *a)
{
  Slot *slot = slot_of (a, a->next);
  gboolean done = slot->pixels != NULL && slot->missing == 0;

  if (done) {
    PbfFrameHead head = { a->number, a->next, a->lost_before, slot->duration_ns,
      slot->t_ns, slot->has_signal ? slot->signal : NULL };

    a->counts.frames++;
    a->lost_before = 0;
    a->funcs.done (a->user, slot->frame, &head);
  } else {
    a->counts.lost++;
    a->lost_before++;
    if (slot->pixels != NULL) {
      a->counts.incomplete++;
      a->funcs.drop (a->user, slot->frame);
    }
  }
  slot->pixels = NULL;
  note_done (a, a->next, done);
  a->next++;
  a->number++;
}

/* Advances by @ahead frames. */
static void
release_frames (PbfAssembler *a, guint32 ahead)
{
  guint32 skipped;

  for (guint i = 0; i < a->window && ahead > 0; i++, ahead--)
    release_next (a);
  skipped = ahead;
  if (skipped == 0)
    return;
  /* frames without any packet */
  for (guint32 i = 0; i < MIN (skipped, HISTORY); i++)
    note_done (a, a->next + skipped - 1 - i, FALSE);
  a->next += skipped;
  a->number += skipped;
  a->lost_before += skipped;
  a->counts.lost += skipped;
}

/* Advances past the last frame in the window with a packet. */
static void
release_all (PbfAssembler *a)
{
  guint32 end = 0;

  for (guint32 i = 0; i < a->window; i++)
    if (slot_of (a, a->next + i)->pixels != NULL)
      end = i + 1;
  release_frames (a, end);
}

void
pbf_assembler_free (PbfAssembler *a)
{
  if (a == NULL)
    return;
  for (guint i = 0; i <= a->mask; i++) {
    if (a->slots[i].pixels != NULL)
      a->funcs.drop (a->user, a->slots[i].frame);
    g_free (a->slots[i].have);
  }
  g_free (a->slots);
  g_free (a);
}

gboolean
pbf_assembler_parse (
    PbfAssembler *a, const guint8 *bytes, gsize size, PbfPacket *packet)
{
  PbfPacketFault fault = pbf_packet_parse (bytes, size, packet);

  a->counts.packets++;
  a->counts.bytes += size;
  a->counts.rubbish += fault == PBF_PACKET_RUBBISH;
  a->counts.crc_errors += fault == PBF_PACKET_CORRUPT;
  return fault == PBF_PACKET_OK;
}

static void
start_stream (PbfAssembler *a, const PbfPacket *packet)
{
  if (a->started) {
    a->counts.restarts++;
    release_all (a);
    a->stream_before = a->stream;
    a->has_stream_before = packet->stream != a->stream;
    memset (a->done, 0, sizeof a->done);
  }
  a->started = TRUE;
  a->stream = packet->stream;
  a->next = packet->frame_counter;
}

/* Whether @packet belongs to a frame in the window, which is opened if
 * necessary. A stream starts with the first fragment of a frame. */
static gboolean
is_wanted (PbfAssembler *a, const PbfPacket *packet)
{
  gboolean other = a->started && packet->stream != a->stream;
  gboolean behind =
      !other && a->started && (gint32) (packet->frame_counter - a->next) < 0;

  if (other && a->has_stream_before && packet->stream == a->stream_before) {
    a->counts.late++;
    return FALSE;
  }
  if (!a->started || other || (behind && a->may_restart)) {
    if (packet->offset != 0) {
      a->counts.late++;
      return FALSE;
    }
    start_stream (a, packet);
    return TRUE;
  }
  if (behind && was_done (a, packet->frame_counter))
    a->counts.duplicate++;
  else if (behind)
    a->counts.late++;
  return !behind;
}

static gboolean
open_slot (PbfAssembler *a, Slot *slot, const PbfPacket *packet)
{
  guint32 total = frame_bytes (packet), size = packet->fragment_size;
  guint32 n = (total + size - 1) / size;

  slot->pixels = a->funcs.open (a->user, &slot->frame, &slot->stride);
  if (slot->pixels == NULL)
    return FALSE;
  slot->fragment_size = size;
  slot->missing = n;
  slot->have = g_renew (guint64, slot->have, n / 64 + 1);
  memset (slot->have, 0, (n / 64 + 1) * sizeof (guint64));
  slot->has_signal = FALSE;
  return TRUE;
}

static void
store_fragment (PbfAssembler *a, Slot *slot, const PbfPacket *packet)
{
  guint32 index = packet->offset / packet->fragment_size;
  guint64 bit = G_GUINT64_CONSTANT (1) << index % 64;

  if (slot->have[index / 64] & bit) {
    a->counts.duplicate++;
    return;
  }
  slot->have[index / 64] |= bit;
  slot->missing--;
  pbf_packet_read_pixels (packet, slot->pixels, slot->stride);
  if (packet->offset > 0)
    return;
  slot->t_ns = packet->t_ns;
  slot->duration_ns = packet->duration_ns;
  slot->has_signal = packet->signal != NULL;
  if (slot->has_signal)
    memcpy (slot->signal, packet->signal, PBF_PACKET_SIGNAL);
}

PbfAdd
pbf_assembler_add (PbfAssembler *a, const PbfPacket *packet)
{
  guint32 ahead;
  Slot *slot;

  if (!is_wanted (a, packet))
    return PBF_ADD_OK;
  a->may_restart = FALSE;
  if (packet->width != a->width || packet->height != a->height)
    return PBF_ADD_NEW_SIZE;

  ahead = packet->frame_counter - a->next;
  if (ahead >= a->window)
    release_frames (a, ahead - a->window + 1);
  slot = slot_of (a, packet->frame_counter);
  if (slot->pixels == NULL && !open_slot (a, slot, packet))
    return PBF_ADD_NO_MEMORY;
  if (slot->fragment_size != packet->fragment_size) {
    a->counts.rubbish++;
    return PBF_ADD_OK;
  }
  store_fragment (a, slot, packet);
  while ((slot = slot_of (a, a->next))->pixels != NULL && slot->missing == 0)
    release_next (a);
  return PBF_ADD_OK;
}

void
pbf_assembler_set_size (PbfAssembler *a, guint width, guint height)
{
  release_all (a);
  a->width = width;
  a->height = height;
}

void
pbf_assembler_pause (PbfAssembler *a)
{
  release_all (a);
  a->may_restart = TRUE;
  a->has_stream_before = FALSE;
}

const PbfLinkCounts *
pbf_assembler_get_counts (const PbfAssembler *a)
{
  return &a->counts;
}
