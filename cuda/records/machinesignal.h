/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Machine signals: the 64-byte record, which is untrusted. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

/* CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), of @size bytes. */
guint32 pbf_crc32c (gconstpointer bytes, gsize size);
/* The same without the processor's instruction for it. */
guint32 pbf_crc32c_portable (gconstpointer bytes, gsize size);

/* Sets magic, size, version and crc32c of @signal; the other fields are set
 * already. */
void pbf_signal_seal (CvisPbfSignal *signal);

/* Whether magic, size, version and CRC of a record in memory are correct. */
gboolean pbf_signal_is_intact (const CvisPbfSignal *signal);

/* Writes @signal to 64 bytes, little-endian. */
void pbf_signal_write (const CvisPbfSignal *signal, guint8 bytes[64]);

G_END_DECLS
