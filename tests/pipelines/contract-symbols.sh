#!/bin/sh
# contract-symbols.sh LIBRARY LIST
# The installed library exports the symbols of LIST (in Debian's format) and no
# other, under the soname in it. A new function is added to LIST with the version
# that brings it; a removed one needs a new soname, see docs/stability.md.
set -eu
library=$1 list=$2
fail() { echo "contract: $*" >&2; exit 1; }

soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = "$(sed -n '1s/ .*//p' "$list")" ] || fail "$library has the soname $soname, not that of $list"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
nm -D --defined-only "$library" | awk '{ print $NF }' | grep -v '^_' | LC_ALL=C sort >"$tree/exported"
sed -n 's/^ \(.*\)@Base .*/\1/p' "$list" | LC_ALL=C sort >"$tree/listed"
[ -s "$tree/listed" ] || fail "$list has no symbols"
cmp -s "$tree/exported" "$tree/listed" ||
  fail "exported by $library (+) and listed in $list (-): $(diff "$tree/listed" "$tree/exported" | sed -n 's/^</-/p; s/^>/+/p')"
echo "contract: $(wc -l <"$tree/listed") symbols of $soname as listed"
