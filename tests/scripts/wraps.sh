#!/bin/sh
# wraps.sh REPOSITORY MESON
# meson reads every wrap file, and each has hashes for its downloads. Nothing is
# downloaded.
set -eu
root=$1 meson=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "wraps: $*" >&2; exit 1; }

cp "$root"/meson.build "$root"/meson_options.txt "$tree"
mkdir "$tree/subprojects"
cp "$root"/subprojects/*.wrap "$tree/subprojects"
n=0
for wrap in "$tree"/subprojects/*.wrap; do
  n=$((n + 1))
  for kind in source patch; do
    if grep -q "^${kind}_url" "$wrap"; then
      grep -Eq "^${kind}_hash = [0-9a-f]{64}\$" "$wrap" || fail "$(basename "$wrap") has no ${kind}_hash"
    fi
  done
  grep -q '^\[provide\]' "$wrap" || fail "$(basename "$wrap") provides nothing"
done
(cd "$tree" && $meson subprojects foreach true) >"$tree/log" 2>&1 || { cat "$tree/log" >&2; fail "meson cannot read them"; }
read=$(grep -c 'Not downloaded yet' "$tree/log" || :)
[ "$read" = "$n" ] || { cat "$tree/log" >&2; fail "meson read $read of $n"; }
echo "wraps: $n"
