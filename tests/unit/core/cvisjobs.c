/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/jobs.h"

#include <string.h>

#include "cuda/core/error.h"

/* Random submissions and waits: jobs come back in order, each slot is free when it is
 * given, and a full queue says so. */
static void
test_order (void)
{
  static guint values[4096];

  for (guint round = 0; round < 100; round++) {
    const guint size = (guint) g_test_rand_int_range (1, 9);
    CvisJobs *jobs = cvis_jobs_new (size);
    guint pushed = 0, popped = 0, slot;
    guint *slots[8] = { NULL };

    g_assert_null (cvis_jobs_peek (jobs, &slot));
    while (popped < 200) {
      GError *error = NULL;
      guint *job;

      if (pushed < 200 && g_test_rand_bit ()) {
        if (pushed - popped == size) {
          g_assert_false (cvis_jobs_find_slot (jobs, "frames", &slot, &error));
          g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
          g_assert_nonnull (strstr (error->message, " frames are in flight"));
          g_error_free (error);
          continue;
        }
        g_assert_true (cvis_jobs_find_slot (jobs, "frames", &slot, NULL));
        g_assert_null (slots[slot]);
        slots[slot] = &values[pushed];
        cvis_jobs_push (jobs, &values[pushed++]);
        for (guint age = 0; age < pushed - popped; age++)
          g_assert_true (
              cvis_jobs_get_recent (jobs, age) == &values[pushed - 1 - age]);
      } else if ((job = cvis_jobs_peek (jobs, &slot)) != NULL) {
        g_assert_true (job == &values[popped] && slots[slot] == job);
        slots[slot] = NULL;
        cvis_jobs_pop (jobs);
        popped++;
      }
    }
    cvis_jobs_free (jobs);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/jobs/order", test_order);
  return g_test_run ();
}
