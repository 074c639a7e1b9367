#!/bin/sh
# gige.sh [PBF-WATCH]: frames of Aravis' fake GigE Vision camera, over the loopback of a
# network namespace, through the pipeline and the application of
# docs/tutorials/gige-vision.md. Exit status 77 where Aravis is missing.
set -eu
skip() { echo "skipped: $1"; exit 77; }
fail() { echo "gige: $1" >&2; exit 1; }

if [ "${GIGE_NAMESPACE-}" != inside ]; then
  for program in arv-fake-gv-camera-0.8 arv-tool-0.8; do
    command -v $program >/dev/null || skip "no $program (packages aravis-tools, aravis-tools-cli)"
  done
  gst-inspect-1.0 aravissrc >/dev/null 2>&1 || skip "no element aravissrc (package libaravis-0.8-0)"
  unshare --map-root-user --net ip link set lo up 2>/dev/null || skip "no network namespaces"
  GIGE_NAMESPACE=inside exec unshare --map-root-user --net sh "$0" "$@"
fi

ip link set lo up
rows=$(mktemp)
arv-fake-gv-camera-0.8 -i lo >/dev/null &
camera=$!
trap 'kill $camera; rm -f "$rows"' EXIT
until arv-tool-0.8 | grep -q Aravis-Fake; do
  kill -0 $camera || fail "the fake camera has ended"
done
# aravissrc stops after the time of five frames without data: a low rate for busy machines
gst-launch-1.0 -q aravissrc num-buffers=10 \
  ! video/x-raw,format=GRAY8,width=96,height=96,framerate=2/1 \
  ! cudapbfmonitor name=m position-source=brightest ! fakesink \
  m.src_result ! pbfresultenc ! filesink location="$rows"
[ "$(wc -l <"$rows")" = 11 ] || fail "$(wc -l <"$rows") rows, not the names and 10 frames"
# the flag 8: no machine signals; a melt pool in every frame, as the picture is bright
awk -F, 'NR > 1 && (int($6 / 8) % 2 == 0 || $9 == 0) { bad++ } END { exit bad > 0 }' "$rows" ||
  fail "a frame has signals, or no bright area"

[ -n "${1-}" ] || exit 0
"$1" --max-area=1 "aravissrc num-buffers=5 ! video/x-raw,format=GRAY8,width=96,height=96,framerate=2/1
  ! cudapbfmonitor position-source=brightest ! fakesink name=sink" >"$rows" ||
  fail "pbf-watch: $(cat "$rows")"
grep -q '^5 frames, 0 without a result, [1-9][0-9]* warnings$' "$rows" ||
  fail "pbf-watch: $(cat "$rows")"
