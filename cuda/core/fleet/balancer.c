/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/fleet/balancer.h"

#include <math.h>

/* The largest ability of a fleet after each cut. An output of the network is at most 1, so
 * that a cut can double the ratio of two abilities. */
#define ABILITY_TOP 0.5
/* The least one: below it, the network cannot tell an idle device from a busy one. */
#define ABILITY_FLOOR (1. / 64)
/* A period is that many chunks for each device; the first ones are shorter, because the
 * traits are a guess. */
#define PERIOD 16
#define FIRST_PERIOD 2
#define MAX_CUTS 8

typedef struct {
  gboolean lost;
  guint64 n_finished;

  /* the rest for CVIS_BALANCE_FUZZY */
  gdouble trait[CVIS_FUZZY_BC + 1]; /* relative to the largest, 0..1 */
  gdouble ability;                  /* CP; 0 before the first estimate */
  gdouble credit;     /* chunks owed by earlier groups, may be negative */
  guint group, dealt; /* chunks of the current group, and those dealt */

  /* since the last cut */
  guint64 busy_ns;
  guint64 busy_from; /* time before is in @busy_ns, or idle */
  gdouble memory_used;
} Device;

struct _CvisBalancer {
  CvisBalance policy;
  const CvisFuzzyNetwork *network;
  guint64 n_chosen, n_finished; /* chunks */
  guint n_cuts;                 /* at most MAX_CUTS */
  guint left;                   /* chunks of the groups that are not dealt */
  guint64 latest_ns, cut_ns;    /* latest end of a chunk; that at the cut */

  guint n_devices, n_live;
  Device devices[];
};

/* --- abilities ------------------------------------------------------------ */

/* Divides each trait by the largest. A trait that some device does not have is 1 for all,
 * so that it makes no difference between them. */
static void
set_traits (CvisBalancer *balancer, const CvisDeviceTraits *traits)
{
  for (guint d = 0; d < balancer->n_devices; d++) {
    const gdouble own[] = { traits[d].flops, traits[d].memory,
      traits[d].multiprocessors, traits[d].memory_rate, traits[d].boost_clock };

    for (guint t = 0; t < G_N_ELEMENTS (own); t++)
      balancer->devices[d].trait[t] = own[t];
  }
  for (guint t = 0; t < G_N_ELEMENTS (balancer->devices->trait); t++) {
    gboolean known = TRUE;
    gdouble most = 0;

    for (guint d = 0; d < balancer->n_devices; d++) {
      gdouble value = balancer->devices[d].trait[t];

      known = known && isfinite (value) && value > 0;
      most = MAX (most, value);
    }
    for (guint d = 0; d < balancer->n_devices; d++)
      balancer->devices[d].trait[t] =
          known ? balancer->devices[d].trait[t] / most : 1;
  }
}

static gdouble
sum_abilities (const CvisBalancer *balancer)
{
  gdouble sum = 0;

  for (guint d = 0; d < balancer->n_devices; d++)
    if (!balancer->devices[d].lost)
      sum += balancer->devices[d].ability;
  return sum;
}

/* Nanoseconds since the last cut in which @device computed. A chunk that is in flight has
 * been computed until now. */
static guint64
measure_busy (
    const CvisBalancer *balancer, const Device *device, guint in_flight)
{
  guint64 from = MAX (device->busy_from, balancer->cut_ns);

  return device->busy_ns
         + (in_flight > 0 && balancer->latest_ns > from
                 ? balancer->latest_ns - from
                 : 0);
}

static gdouble
evaluate_ability (
    const CvisBalancer *balancer, const Device *device, gdouble occupancy)
{
  gdouble inputs[CVIS_FUZZY_N_INPUTS];

  for (guint t = 0; t < G_N_ELEMENTS (device->trait); t++)
    inputs[t] = device->trait[t];
  inputs[CVIS_FUZZY_UF] = occupancy;
  inputs[CVIS_FUZZY_UM] = device->memory_used;
  inputs[CVIS_FUZZY_LCP] = device->ability;
  return cvis_fuzzy_evaluate (balancer->network, inputs);
}

/* Scales the abilities, which have a meaning only relative to each other. */
static void
limit_abilities (CvisBalancer *balancer)
{
  gdouble most = 0;

  for (guint d = 0; d < balancer->n_devices; d++)
    if (!balancer->devices[d].lost)
      most = MAX (most, balancer->devices[d].ability);
  for (guint d = 0; d < balancer->n_devices; d++) {
    Device *device = &balancer->devices[d];

    device->ability = MAX (device->ability * ABILITY_TOP / most, ABILITY_FLOOR);
  }
}

CvisBalancer *
cvis_balancer_new_with_network (guint n_devices, const CvisDeviceTraits *traits,
    const CvisFuzzyNetwork *network)
{
  CvisBalancer *balancer;

  g_return_val_if_fail (n_devices > 0, NULL);
  balancer = g_malloc0 (sizeof (CvisBalancer) + n_devices * sizeof (Device));
  balancer->policy = CVIS_BALANCE_FUZZY;
  balancer->network = network;
  balancer->n_devices = balancer->n_live = n_devices;
  for (guint d = 0; d < n_devices; d++)
    for (guint t = 0; t < G_N_ELEMENTS (balancer->devices->trait); t++)
      balancer->devices[d].trait[t] = 1;
  if (traits != NULL)
    set_traits (balancer, traits);
  for (guint d = 0; d < n_devices; d++)
    balancer->devices[d].ability =
        evaluate_ability (balancer, &balancer->devices[d], 0);
  limit_abilities (balancer);
  return balancer;
}

CvisBalancer *
cvis_balancer_new (
    CvisBalance policy, guint n_devices, const CvisDeviceTraits *traits)
{
  CvisBalancer *balancer =
      cvis_balancer_new_with_network (n_devices, traits, &cvis_fuzzy_ability);

  if (balancer != NULL)
    balancer->policy = policy;
  return balancer;
}

void
cvis_balancer_free (CvisBalancer *balancer)
{
  g_free (balancer);
}

/* --- queue and equal ------------------------------------------------------ */

static gint
choose_from_queue (
    const CvisBalancer *balancer, const guint *in_flight, guint depth)
{
  gint best = -1;

  for (guint d = 0; d < balancer->n_devices; d++)
    if (!balancer->devices[d].lost && in_flight[d] < depth
        && (best < 0 || in_flight[d] < in_flight[best]))
      best = (gint) d;
  return best;
}

static gint
choose_in_turn (
    const CvisBalancer *balancer, const guint *in_flight, guint depth)
{
  guint turn = (guint) (balancer->n_chosen % balancer->n_live);

  for (guint d = 0; d < balancer->n_devices; d++)
    if (!balancer->devices[d].lost && turn-- == 0)
      return in_flight[d] < depth ? (gint) d : -1;
  return -1;
}

/* --- fuzzy ---------------------------------------------------------------- */

/* New abilities from the occupancies since the last cut, relative to the busiest device.
 * A device that had no chunk keeps its ability, and so does each device before the first
 * chunk was reported. */
static void
update_abilities (CvisBalancer *balancer, const guint *in_flight)
{
  guint64 most_ns = 0;

  for (guint d = 0; d < balancer->n_devices; d++)
    if (!balancer->devices[d].lost)
      most_ns = MAX (most_ns,
          measure_busy (balancer, &balancer->devices[d], in_flight[d]));
  for (guint d = 0; d < balancer->n_devices && most_ns > 0; d++) {
    Device *device = &balancer->devices[d];

    if (!device->lost && (device->dealt > 0 || in_flight[d] > 0))
      device->ability = evaluate_ability (balancer, device,
          (gdouble) measure_busy (balancer, device, in_flight[d])
              / (gdouble) most_ns);
  }
  limit_abilities (balancer);
  for (guint d = 0; d < balancer->n_devices; d++)
    balancer->devices[d].busy_ns = 0;
  balancer->cut_ns = balancer->latest_ns;
}

/* Cuts the next chunks into groups in proportion to the abilities. A chunk that rounding
 * gives to a device is its debt in the next groups. */
static void
cut_groups (CvisBalancer *balancer)
{
  guint period =
      balancer->n_live * MIN (FIRST_PERIOD << balancer->n_cuts, PERIOD);
  gdouble sum = sum_abilities (balancer);

  for (guint d = 0; d < balancer->n_devices; d++) {
    Device *device = &balancer->devices[d];

    device->group = device->dealt = 0;
    if (!device->lost)
      device->credit += device->ability / sum * period;
  }
  for (guint chunk = 0; chunk < period; chunk++) {
    Device *owed = NULL;

    for (guint d = 0; d < balancer->n_devices; d++) {
      Device *device = &balancer->devices[d];

      if (!device->lost && (owed == NULL || device->credit > owed->credit))
        owed = device;
    }
    owed->group++;
    owed->credit--;
  }
  balancer->left = period;
  balancer->n_cuts = MIN (balancer->n_cuts + 1, MAX_CUTS);
}

/* The device with the smallest fraction of its group dealt, of those that have room. */
static gint
choose_from_groups (CvisBalancer *balancer, const guint *in_flight, guint depth)
{
  Device *best = NULL;

  if (choose_from_queue (balancer, in_flight, depth) < 0)
    return -1;
  if (balancer->left == 0) {
    update_abilities (balancer, in_flight);
    cut_groups (balancer);
  }
  for (guint d = 0; d < balancer->n_devices; d++) {
    Device *device = &balancer->devices[d];

    if (device->dealt < device->group && in_flight[d] < depth
        && (best == NULL
            || (device->dealt + 1) * best->group
                   < (best->dealt + 1) * device->group))
      best = device;
  }
  if (best == NULL)
    return -1;
  best->dealt++;
  balancer->left--;
  if (in_flight[best - balancer->devices] == 0)
    best->busy_from = MAX (best->busy_from, balancer->latest_ns);
  return (gint) (best - balancer->devices);
}

/* --- all policies --------------------------------------------------------- */

gint
cvis_balancer_choose (
    CvisBalancer *balancer, const guint *in_flight, guint depth)
{
  gint device;

  if (balancer->n_live == 0)
    return -1;
  switch (balancer->policy) {
    case CVIS_BALANCE_EQUAL:
      device = choose_in_turn (balancer, in_flight, depth);
      break;
    case CVIS_BALANCE_FUZZY:
      device = choose_from_groups (balancer, in_flight, depth);
      break;
    default:
      device = choose_from_queue (balancer, in_flight, depth);
      break;
  }
  if (device >= 0)
    balancer->n_chosen++;
  return device;
}

void
cvis_balancer_finished (CvisBalancer *balancer, guint device, guint64 begin_ns,
    guint64 end_ns, gdouble memory_used)
{
  Device *d;
  guint64 from;

  g_return_if_fail (device < balancer->n_devices);
  d = &balancer->devices[device];
  if (balancer->n_finished++ == 0)
    balancer->cut_ns = begin_ns;
  from = MAX (MAX (begin_ns, d->busy_from), balancer->cut_ns);
  if (end_ns > from)
    d->busy_ns += end_ns - from;
  d->busy_from = MAX (d->busy_from, end_ns);
  d->memory_used = memory_used;
  d->n_finished++;
  balancer->latest_ns = MAX (balancer->latest_ns, end_ns);
}

void
cvis_balancer_lose (CvisBalancer *balancer, guint device)
{
  g_return_if_fail (device < balancer->n_devices);
  if (balancer->devices[device].lost)
    return;
  balancer->devices[device].lost = TRUE;
  balancer->devices[device].group = 0;
  balancer->n_live--;
  for (guint d = 0; d < balancer->n_devices; d++)
    balancer->devices[d].credit = 0;
  /* the others compute its group */
  if (balancer->left > 0 && balancer->n_live > 0)
    cut_groups (balancer);
}

gdouble
cvis_balancer_get_estimate (CvisBalancer *balancer, guint device)
{
  const Device *d;

  g_return_val_if_fail (device < balancer->n_devices, 0);
  d = &balancer->devices[device];
  if (d->lost)
    return 0;
  if (balancer->policy == CVIS_BALANCE_FUZZY)
    return d->ability / sum_abilities (balancer);
  if (balancer->policy == CVIS_BALANCE_QUEUE && balancer->n_finished > 0)
    return (gdouble) d->n_finished / (gdouble) balancer->n_finished;
  return 1. / balancer->n_live;
}
