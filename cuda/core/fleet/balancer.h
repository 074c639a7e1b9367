/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CvisBalancer: decides which of several devices computes the next chunk of work. A fleet
 * of devices owns one; tests/bench compares the policies. docs/design/scaling.md describes
 * them. Not thread-safe: the caller holds a lock. No function but _new and _free allocates
 * or frees memory. */
#pragma once

#include <glib.h>

#include "cuda/core/fleet/fuzzy.h"

G_BEGIN_DECLS

/**
 * CvisBalance:
 * @CVIS_BALANCE_QUEUE: a device computes the next chunk when it has room; of several, the
 *   one with the fewest chunks in flight, then the one with the lowest index
 * @CVIS_BALANCE_EQUAL: chunk i to device i mod n of the n devices that are not lost
 * @CVIS_BALANCE_FUZZY: chunks in proportion to the abilities that the fuzzy neural network
 *   estimates
 */
typedef enum {
  CVIS_BALANCE_QUEUE,
  CVIS_BALANCE_EQUAL,
  CVIS_BALANCE_FUZZY,
} CvisBalance;

/**
 * CvisDeviceTraits:
 * @flops: peak rate of single-precision operations per second
 * @memory: size of the device memory, bytes
 * @multiprocessors: number of multiprocessors
 * @memory_rate: peak rate of the device memory, bytes per second
 * @boost_clock: highest clock of the multiprocessors, hertz
 *
 * Traits are compared between devices only. One that is not finite and positive for each
 * device is ignored.
 */
typedef struct {
  gdouble flops, memory, multiprocessors, memory_rate, boost_clock;
} CvisDeviceTraits;

typedef struct _CvisBalancer CvisBalancer;

/* @n_devices: at least 1
 * @traits: (nullable): @n_devices of them, for CVIS_BALANCE_FUZZY; %NULL: equal devices */
CvisBalancer *cvis_balancer_new (
    CvisBalance policy, guint n_devices, const CvisDeviceTraits *traits);
/* CVIS_BALANCE_FUZZY with another network, which outlives the balancer; for tests/bench */
CvisBalancer *cvis_balancer_new_with_network (guint n_devices,
    const CvisDeviceTraits *traits, const CvisFuzzyNetwork *network);
/* @balancer: (nullable) */
void cvis_balancer_free (CvisBalancer *balancer);

/* Chooses the device of the next chunk, which the caller then submits there. A device has
 * room if less than @depth chunks are in flight on it.
 * @in_flight: chunks in flight on each device
 * Returns: the device, or -1: call again when a chunk is complete. If all devices are lost
 *   the result is -1. */
gint cvis_balancer_choose (
    CvisBalancer *balancer, const guint *in_flight, guint depth);

/* Reports that @device has computed a chunk.
 * @begin_ns, @end_ns: when the chunk was computed, of a clock that all devices share; with
 *   several chunks at once on a device the times overlap
 * @memory_used: fraction of the device memory in use, by any process, 0..1 */
void cvis_balancer_finished (CvisBalancer *balancer, guint device,
    guint64 begin_ns, guint64 end_ns, gdouble memory_used);

/* Excludes @device from now on. The chunks that it had in flight are new chunks. */
void cvis_balancer_lose (CvisBalancer *balancer, guint device);

/* Returns: the fraction of the chunks that the policy intends for @device, 0..1; 0 for a
 *   lost device. For CVIS_BALANCE_QUEUE, which has no such intention, the fraction that the
 *   device has computed. */
gdouble cvis_balancer_get_estimate (CvisBalancer *balancer, guint device);

G_END_DECLS
