/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Recordings: complete, truncated at every byte, and damaged at every byte. */
#define _GNU_SOURCE /* memfd_create */
#include "cuda/camera/recording.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define W 7
#define H 5
#define FRAME (48 + 64 + W * H + 4)

static void
append_head (GByteArray *file, guint32 width, guint32 height)
{
  const PbfRecordingHead head = { width, height, 20000, 1 };
  guint8 bytes[PBF_RECORDING_HEAD];

  pbf_recording_write_head (&head, bytes);
  g_byte_array_append (file, bytes, sizeof bytes);
}

/* All pixels and the record's bytes have the value @counter. */
static void
append_frame (GByteArray *file, guint32 counter, guint32 width, guint32 height)
{
  PbfPacket packet = { .frame_counter = counter,
    .width = width,
    .height = height,
    .fragment_size = width * height,
    .t_ns = counter };
  guint8 *pixels = g_malloc (width * height), signal[64];
  guint old = file->len;

  memset (pixels, counter, width * height);
  memset (signal, counter, sizeof signal);
  packet.signal = signal;
  g_byte_array_set_size (file, old + pbf_packet_bytes (&packet));
  pbf_packet_write (&packet, pixels, width, file->data + old);
  g_free (pixels);
}

static gint
file_of (const GByteArray *file, gsize size)
{
  gint fd = memfd_create ("recording", MFD_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, file->data, size), ==, (gssize) size);
  return fd;
}

/* Output of a reader: one letter for each piece: H for heads, the counter
 * (a, b, ...) for frames, ! for damage. */
static GString *
read_all (const GByteArray *file, gsize size)
{
  gint fd = file_of (file, size);
  PbfRecording *recording = pbf_recording_new (fd, NULL);
  GString *pieces = g_string_new (NULL);
  PbfRecordingHead head;
  PbfPacket packet;
  PbfPiece piece;

  g_assert_nonnull (recording);
  while ((piece = pbf_recording_next (recording, &head, &packet, NULL))
         != PBF_PIECE_END) {
    g_assert_cmpint (piece, !=, PBF_PIECE_ERROR);
    if (piece == PBF_PIECE_HEAD) {
      g_assert_cmpuint (head.fps_n, ==, 20000);
      g_assert_cmpuint (head.fps_d, ==, 1);
      g_string_append_c (pieces, 'H');
    } else if (piece == PBF_PIECE_FRAME) {
      guint n = head.width * head.height;

      g_assert_cmpuint (packet.t_ns, ==, packet.frame_counter);
      for (guint i = 0; i < n; i++)
        g_assert_cmpuint (packet.pixels[i], ==, packet.frame_counter);
      g_assert_cmpuint (packet.signal[63], ==, packet.frame_counter);
      g_string_append_c (pieces, 'a' + packet.frame_counter);
    } else {
      g_string_append_c (pieces, '!');
    }
  }
  pbf_recording_free (recording);
  close (fd);
  return pieces;
}

static GByteArray *
make_file (void)
{
  GByteArray *file = g_byte_array_new ();

  append_head (file, W, H);
  for (guint32 i = 0; i < 4; i++)
    append_frame (file, i, W, H);
  g_assert_cmpuint (file->len, ==, 32 + 4 * FRAME);
  return file;
}

static void
expect (const GByteArray *file, const gchar *wanted)
{
  GString *got = read_all (file, file->len);

  g_assert_cmpstr (got->str, ==, wanted);
  g_string_free (got, TRUE);
}

static void
test_whole (void)
{
  GByteArray *file = make_file ();

  expect (file, "Habcd");
  append_head (file, 60, 50);
  append_frame (file, 4, 60, 50);
  append_head (file, W, H);
  append_frame (file, 5, W, H);
  expect (file, "HabcdHeHf");
  g_byte_array_unref (file);
}

static void
test_large (void)
{
  GByteArray *file = g_byte_array_new ();

  append_head (
      file, 1500, 1000); /* a frame is larger than what is read ahead */
  for (guint32 i = 0; i < 5; i++)
    append_frame (file, i, 1500, 1000);
  expect (file, "Habcde");
  g_byte_array_unref (file);
}

/* The writer was killed: everything before the last piece is readable. */
static void
test_cut_off (void)
{
  GByteArray *file = make_file ();

  for (gsize size = 32; size < file->len; size++) {
    GString *got = read_all (file, size);
    gchar *wanted = g_strndup ("Habcd", 1 + (size - 32) / FRAME);
    gboolean cut = (size - 32) % FRAME != 0;

    g_assert_true (g_str_has_prefix (got->str, wanted));
    g_assert_cmpstr (got->str + strlen (wanted), ==, cut ? "!" : "");
    g_free (wanted);
    g_string_free (got, TRUE);
  }
  g_byte_array_unref (file);
}

/* Damage of one byte after the head: one frame is missing, and the position
 * is reported. */
static void
test_damage (void)
{
  GByteArray *file = make_file ();

  for (gsize at = 32; at < file->len; at++) {
    guint hit = (at - 32) / FRAME;
    GError *error = NULL;
    gint fd;
    PbfRecording *recording;
    PbfRecordingHead head;
    PbfPacket packet;
    gchar *place = g_strdup_printf ("at byte %u,", (guint) (32 + hit * FRAME));
    gchar *last = g_strdup_printf ("byte %u", (guint) (32 + hit * FRAME));

    file->data[at] ^= 0x10;
    fd = file_of (file, file->len);
    recording = pbf_recording_new (fd, NULL);
    g_assert_cmpint (pbf_recording_next (recording, &head, &packet, NULL), ==,
        PBF_PIECE_HEAD);
    for (guint i = 0; i < 4; i++) {
      PbfPiece piece = pbf_recording_next (recording, &head, &packet, &error);

      if (i == hit) {
        g_assert_cmpint (piece, ==, PBF_PIECE_DAMAGE);
        g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
        g_assert_nonnull (strstr (error->message, hit == 3 ? last : place));
        g_clear_error (&error);
      } else {
        g_assert_cmpint (piece, ==, PBF_PIECE_FRAME);
        g_assert_cmpuint (packet.frame_counter, ==, i);
      }
    }
    g_assert_cmpint (pbf_recording_next (recording, &head, &packet, NULL), ==,
        PBF_PIECE_END);
    pbf_recording_free (recording);
    close (fd);
    file->data[at] ^= 0x10;
    g_free (place);
    g_free (last);
  }
  g_byte_array_unref (file);
}

static void
expect_refused (const guint8 *bytes, gsize size, const gchar *words)
{
  GByteArray *file = g_byte_array_new ();
  GError *error = NULL;
  gint fd;

  g_byte_array_append (file, bytes, size);
  fd = file_of (file, size);
  g_assert_null (pbf_recording_new (fd, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, words));
  g_clear_error (&error);
  g_byte_array_unref (file);
  close (fd);
}

static void
test_refused (void)
{
  GByteArray *file = make_file ();
  GError *error = NULL;

  expect_refused ((const guint8 *) "", 0, "does not begin with");
  expect_refused ((const guint8 *) "PBFR", 4, "is damaged");
  expect_refused (file->data, 31, "is damaged");
  expect_refused (file->data + 1, 200, "does not begin with");
  expect_refused (file->data + 32, FRAME, "does not begin with");
  file->data[20] ^= 1;
  expect_refused (file->data, file->len, "is damaged");
  g_byte_array_unref (file);

  g_assert_null (pbf_recording_new (-1, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_BADF);
  g_clear_error (&error);
}

/* --- streams --------------------------------------------------------------- */

/* The same as read_all() of bytes that arrive @step at a time. */
static GString *
read_stream (const GByteArray *file, gsize size, gsize step)
{
  PbfRecording *recording = pbf_recording_new_stream ();
  GString *pieces = g_string_new (NULL);
  PbfPiece piece = PBF_PIECE_MORE;
  gsize pushed = 0;

  while (piece != PBF_PIECE_END) {
    PbfRecordingHead head;
    PbfPacket packet;

    piece = pbf_recording_next (recording, &head, &packet, NULL);
    g_assert_cmpint (piece, !=, PBF_PIECE_ERROR);
    if (piece == PBF_PIECE_MORE && pushed == size) {
      pbf_recording_finish (recording);
    } else if (piece == PBF_PIECE_MORE) {
      gsize n = MIN (step, size - pushed);

      pbf_recording_push (recording, file->data + pushed, n);
      pushed += n;
    } else if (piece == PBF_PIECE_HEAD) {
      g_string_append_c (pieces, 'H');
    } else if (piece == PBF_PIECE_FRAME) {
      g_assert_cmpuint (packet.pixels[0], ==, packet.frame_counter);
      g_string_append_c (pieces, 'a' + packet.frame_counter);
    } else if (piece == PBF_PIECE_DAMAGE) {
      g_string_append_c (pieces, '!');
    }
  }
  pbf_recording_free (recording);
  return pieces;
}

/* A stream in steps of any size has the pieces of the file, damaged anywhere or cut
 * off anywhere. */
static void
test_stream (void)
{
  static const gsize steps[] = { 1, 13, FRAME, 100000 };
  GByteArray *file = make_file ();

  append_head (file, 60, 50);
  append_frame (file, 4, 60, 50);
  for (gsize at = 32; at < file->len; at += 3)
    for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
      const gsize size = at % 2 == 0 ? at : file->len;
      GString *wanted, *got;

      file->data[at] ^= 0x10;
      wanted = read_all (file, size);
      got = read_stream (file, size, steps[i]);
      g_assert_cmpstr (got->str, ==, wanted->str);
      g_string_free (got, TRUE);
      g_string_free (wanted, TRUE);
      file->data[at] ^= 0x10;
    }
  g_byte_array_unref (file);
}

static void
test_stream_refused (void)
{
  PbfRecording *recording = pbf_recording_new_stream ();
  GError *error = NULL;
  PbfRecordingHead head;
  PbfPacket packet;

  pbf_recording_push (recording, (const guint8 *) "x", 1);
  pbf_recording_finish (recording);
  g_assert_cmpint (pbf_recording_next (recording, &head, &packet, &error), ==,
      PBF_PIECE_ERROR);
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
  g_clear_error (&error);
  pbf_recording_free (recording);
}

/* --- positions ------------------------------------------------------------- */

/* The next frame of @recording has the counter @counter. */
static void
expect_next (PbfRecording *recording, guint counter)
{
  PbfRecordingHead head;
  PbfPacket packet;
  PbfPiece piece;

  do
    piece = pbf_recording_next (recording, &head, &packet, NULL);
  while (piece == PBF_PIECE_DAMAGE || piece == PBF_PIECE_HEAD);
  g_assert_cmpint (piece, ==, PBF_PIECE_FRAME);
  g_assert_cmpuint (packet.frame_counter, ==, counter);
  g_assert_cmpuint (packet.width, ==, head.width);
  g_assert_cmpuint (pbf_recording_get_number (recording), ==, counter);
}

/* Every frame is found by number and by time, before and after changes of size and
 * damage; a damaged one leads to the next by number, to the one before by time. */
static void
test_seek (void)
{
  enum { FRAMES = 60, LOST = 17 };
  GByteArray *file = make_file ();
  PbfRecordingFrame first, last, frame;
  PbfRecording *recording;
  guint lost_at = 0;
  gint fd;

  for (guint32 i = 4; i < FRAMES; i++) {
    const guint32 width = i < 20 || i >= 40 ? W : 60;

    if (i == 20 || i == 40)
      append_head (file, width, H);
    if (i == LOST)
      lost_at = file->len;
    append_frame (file, i, width, H);
  }
  file->data[lost_at + 70] ^= 1;
  fd = file_of (file, file->len);
  recording = pbf_recording_new (fd, NULL);
  g_assert_true (pbf_recording_find_span (recording, &first, &last));
  g_assert_cmpuint (first.number, ==, 0);
  g_assert_cmpuint (last.number, ==, FRAMES - 1);
  g_assert_cmpuint (last.t_ns, ==, FRAMES - 1);
  expect_next (recording, 0);
  for (guint k = 0; k < FRAMES; k++) {
    const guint i = k * 37 % FRAMES; /* in any order */

    g_assert_true (pbf_recording_seek (recording, PBF_SEEK_NUMBER, i, &frame));
    g_assert_cmpuint (frame.number, ==, i == LOST ? i + 1 : i);
    expect_next (recording, i == LOST ? i + 1 : i);
    g_assert_true (pbf_recording_seek (recording, PBF_SEEK_TIME, i, &frame));
    g_assert_cmpuint (frame.t_ns, ==, i == LOST ? i - 1 : i);
    expect_next (recording, i == LOST ? i - 1 : i);
  }
  g_assert_cmpuint (pbf_recording_get_damage (recording)->frames, ==, 0);
  g_assert_false (
      pbf_recording_seek (recording, PBF_SEEK_NUMBER, FRAMES, &frame));
  g_assert_cmpuint (frame.number, ==, FRAMES - 1);
  g_assert_true (
      pbf_recording_seek (recording, PBF_SEEK_TIME, G_MAXINT64, &frame));
  g_assert_cmpuint (frame.number, ==, FRAMES - 1);

  g_assert_true (pbf_recording_seek (recording, PBF_SEEK_NUMBER, 0, NULL));
  for (guint i = 0; i < FRAMES; i++)
    if (i != LOST)
      expect_next (recording, i);
  g_assert_cmpuint (pbf_recording_get_damage (recording)->places, ==, 1);
  g_assert_cmpuint (pbf_recording_get_damage (recording)->frames, ==, 1);
  g_assert_cmpuint (pbf_recording_get_damage (recording)->bytes, ==, FRAME);
  pbf_recording_free (recording);
  close (fd);
  g_byte_array_unref (file);
}

/* Recordings that are joined are numbered on, and their ends are found. */
static void
test_joined (void)
{
  GByteArray *file = make_file (), *other = make_file ();
  PbfRecordingFrame first, last;
  PbfRecording *recording;
  gint fd;

  g_byte_array_append (file, other->data, other->len);
  expect (file, "HabcdHabcd");
  fd = file_of (file, file->len);
  recording = pbf_recording_new (fd, NULL);
  g_assert_true (pbf_recording_find_span (recording, &first, &last));
  g_assert_cmpuint (last.number, ==, 7);
  pbf_recording_free (recording);
  close (fd);
  g_byte_array_unref (file);
  g_byte_array_unref (other);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recording/whole", test_whole);
  g_test_add_func ("/recording/large", test_large);
  g_test_add_func ("/recording/cut-off", test_cut_off);
  g_test_add_func ("/recording/damage", test_damage);
  g_test_add_func ("/recording/refused", test_refused);
  g_test_add_func ("/recording/stream", test_stream);
  g_test_add_func ("/recording/stream/refused", test_stream_refused);
  g_test_add_func ("/recording/seek", test_seek);
  g_test_add_func ("/recording/joined", test_joined);
  return g_test_run ();
}
