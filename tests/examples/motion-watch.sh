#!/bin/sh
# motion-watch.sh PROGRAM: 75 frames at 25 a second, so three reports; a limit
# that the ball exceeds; no trust; a clip of two scenes; a pipeline with an error.
set -eu
fail() { printf '%s\n' "motion-watch: $1" "$out" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
caps=video/x-raw,format=I420,width=160,height=120,framerate=25/1

out=$("$1" --max-motion=2 "videotestsrc pattern=ball num-buffers=75 ! $caps
  ! cudamotionest ! fakesink name=sink")
# nothing is trusted beyond certainty
none=$("$1" --min-confidence=1 --max-motion=0 "videotestsrc pattern=ball num-buffers=10 ! $caps
  ! cudamotionest ! fakesink name=sink")
echo "$none" | grep -q ', 0 % of vectors trusted, their mean length 0.00 px' || fail "trusts doubtful vectors"
[ "$(echo "$out" | grep -c ' frames, .* duplicates, camera .* trusted, ')" = 3 ] || fail "not three reports"
echo "$out" | grep -q '^WARNING frame [0-9]*: [0-9.]* px is above 2.0$' || fail "no warning"
echo "$out" | grep -q '^75 frames, 1 without motion, 0 scene cuts, [1-9][0-9]* warnings$' || fail "wrong total"

for pattern in zone-plate smpte; do
  out=$("$1" "videotestsrc pattern=$pattern kx2=20 ky2=20 num-buffers=10 ! $caps
    ! filesink location=$folder/$pattern name=sink") || fail "no scene"
done
cat "$folder/zone-plate" "$folder/smpte" >"$folder/film"
out=$("$1" "filesrc location=$folder/film
  ! rawvideoparse format=i420 width=160 height=120 framerate=25/1
  ! cudamotionest ! fakesink name=sink")
echo "$out" | grep -q '^SCENE CUT at frame 10, 0:00:00.4' || fail "no scene cut at frame 10"
echo "$out" | grep -qx '20 frames, 1 without motion, 1 scene cuts, 0 warnings' || fail "not one scene cut"

if out=$("$1" "videotestsrc num-buffers=1 ! video/x-raw,format=RGB16 ! cudamotionest
  ! fakesink name=sink" 2>&1); then
  fail "video that is not taken passed"
fi
if out=$("$1" "videotestsrc ! fakesink" 2>&1); then
  fail "a pipeline without a sink to watch passed"
fi
