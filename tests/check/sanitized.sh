#!/bin/sh
# sanitized.sh PROGRAM: runs a test of elements that was built with the sanitizers.
#
# A first run of no test writes the registry: where all plugins were loaded before check
# forks, the leak sanitizer dies in the child. It also dies now and then on a loaded machine,
# while a thread ends ("Tracer caught signal 11"); that says nothing about the test, which
# then runs again. SANITIZER_PRELOAD: libraries that are loaded before all others.
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
set -u
run() { env ${SANITIZER_PRELOAD:+"LD_PRELOAD=$SANITIZER_PRELOAD"} "$@"; }
run CK_RUN_CASE=none ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" "$1" || exit
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for _ in 1 2 3; do
  run "$1" >"$log" 2>&1
  status=$?
  cat "$log"
  grep -q "LeakSanitizer has encountered a fatal error" "$log" || break
done
exit $status
