#!/bin/sh
# surface-watch.sh PROGRAM: thirty surfaces, every tenth beyond the limit;
# surfaces without parameters; pipelines with errors.
set -eu
fail() { printf '%s\n' "surface-watch: $1" "$out" >&2; exit 1; }

out=$("$1")
[ "$(echo "$out" | grep -c '^roughness: Sa [0-9.]* nm, Sq [0-9.]* nm, lambda-c 80.0 um, 0 points')" = 30 ] ||
  fail "not thirty surfaces"
for frame in 9 19 29; do
  echo "$out" | grep -q "^WARNING surface $frame: Sa is 2[0-9][0-9]\.[0-9] nm$" || fail "no warning of $frame"
done
echo "$out" | grep -qx '30 surfaces, 0 without parameters, 3 warnings' || fail "wrong total"

out=$("$1" "surfacetestsrc num-buffers=2 ! cudalwtfilter ! fakesink name=sink")
echo "$out" | grep -qx '2 surfaces, 2 without parameters, 0 warnings' || fail "parameters from nowhere"

if out=$("$1" "surfacetestsrc num-buffers=1 ! cudalwtfilter wavelet=none ! fakesink name=sink" 2>&1); then
  fail "an unknown wavelet was accepted"
fi
if out=$("$1" "surfacetestsrc ! fakesink" 2>&1); then
  fail "a pipeline without a sink to watch passed"
fi
