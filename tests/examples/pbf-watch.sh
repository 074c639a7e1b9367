#!/bin/sh
# pbf-watch.sh PROGRAM: 2,500 frames at 1,000 a second, so three reports; a
# limit that every second exceeds, one that none does, and a pipeline with an error.
set -eu
fail() { printf '%s\n' "pbf-watch: $1" "$out" >&2; exit 1; }

out=$("$1" --max-area=1 --max-spatters=1000 "pbftestsrc num-buffers=2500 frames-per-list=64
  ! video/x-raw,framerate=1000/1 ! cudapbfmonitor ! fakesink name=sink")
[ "$(echo "$out" | grep -c ' frames, .* empty, area ')" = 3 ] || fail "not three reports"
[ "$(echo "$out" | grep -c '^WARNING mean pool area .* is above 1.0$')" = 3 ] || fail "not three warnings"
echo "$out" | grep -qx '2500 frames, 0 without a result, 3 warnings' || fail "wrong total"

if out=$("$1" "pbftestsrc num-buffers=1 ! video/x-raw,width=40 ! cudapbfmonitor calibration=0,0,0
  ! fakesink name=sink" 2>&1); then
  fail "a bad calibration passed"
fi
if out=$("$1" "pbftestsrc ! fakesink" 2>&1); then
  fail "a pipeline without a sink to watch passed"
fi
