/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "memorylimit.h"

#include <stdio.h>
#include <unistd.h>

/* Bytes of address space in use */
static rlim_t
address_space (void)
{
  FILE *file = fopen ("/proc/self/statm", "r");
  unsigned long pages = 0;

  g_assert_true (file != NULL && fscanf (file, "%lu", &pages) == 1);
  fclose (file);
  return (rlim_t) pages * (rlim_t) sysconf (_SC_PAGESIZE);
}

struct rlimit
memory_limit_begin (gsize more)
{
  struct rlimit before, limit;

  g_assert_cmpint (getrlimit (RLIMIT_AS, &before), ==, 0);
  limit = before;
  limit.rlim_cur = address_space () + more;
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
  return before;
}

void
memory_limit_end (const struct rlimit *before)
{
  g_assert_cmpint (setrlimit (RLIMIT_AS, before), ==, 0);
}
