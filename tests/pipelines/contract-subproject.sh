#!/bin/sh
# contract-subproject.sh REPOSITORY MESON NINJA SOURCE
# A project that has this one as a subproject compiles SOURCE against the installed
# library's dependency, as docs/subproject.md says, and starts it.
set -eu
root=$1 meson=$2 ninja=$3 source=$4
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { cat "$tree/log" >&2; echo "contract: $*" >&2; exit 1; }

mkdir "$tree/subprojects"
ln -s "$root" "$tree/subprojects/gst-cudavision"
cp "$source" "$tree/program.c"
cat >"$tree/meson.build" <<'BUILD'
project('uses-cudavision', 'c', meson_version: '>= 1.0', default_options: ['c_std=gnu11'])
cudavision_dep = dependency('gstreamer-cudavision-1.0',
  fallback: 'gst-cudavision',
  default_options: ['cuda=disabled', 'tests=disabled', 'benchmarks=disabled',
    'examples=disabled', 'introspection=disabled'])
executable('program', 'program.c', dependencies: cudavision_dep)
BUILD
# not one that is installed on this machine
$meson setup --force-fallback-for=gst-cudavision "$tree/build" "$tree" >"$tree/log" 2>&1 || fail "meson setup of the outer project failed"
$ninja -C "$tree/build" program >"$tree/log" 2>&1 || fail "the outer project does not build"
"$tree/build/program" >"$tree/log" 2>&1 || fail "its program does not start"
echo "contract: $(cat "$tree/log")"
