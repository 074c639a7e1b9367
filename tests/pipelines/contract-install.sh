#!/bin/sh
# contract-install.sh BUILD-FOLDER PREFIX LIBDIR COMPILER SOURCE...
# Checks that the installed tree is complete: pkg-config finds the library, each
# header can be included alone, the SOURCEs compile and start, and Python imports
# the library if it was built with introspection.
set -eu
build=$1 prefix=$2 libdir=$3 cc=$4
shift 4
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "contract: $*" >&2; exit 1; }

meson install -C "$build" --no-rebuild --destdir "$tree" >"$tree/log" 2>&1 || { cat "$tree/log"; fail "install"; }
pc=$tree$prefix/$libdir/pkgconfig/gstreamer-cudavision-1.0.pc
[ -f "$pc" ] || fail "no $pc"
# as if it had been configured with this prefix
sed -i "s,^prefix=.*,prefix=$tree$prefix," "$pc"
export PKG_CONFIG_PATH="$tree$prefix/$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
cflags=$(pkg-config --cflags gstreamer-cudavision-1.0)
libs=$(pkg-config --libs gstreamer-cudavision-1.0)
[ -f "$tree$prefix/$libdir/gstreamer-1.0/libgstcudavision.so" ] || fail "the plugin is not installed"

for header in "$tree$prefix"/include/gstreamer-1.0/gst/cudavision/*.h; do
  for language in c c++; do
    [ $language = c ] || command -v g++ >/dev/null || continue
    case $language in c) compiler="$cc -std=c11" ;; *) compiler="g++ -std=c++17" ;; esac
    echo "#include <gst/cudavision/$(basename "$header")>" |
      $compiler -x $language -fsyntax-only -Wall -Werror $cflags - ||
      fail "$(basename "$header") cannot be included alone from $language"
  done
done
for source; do
  program=$tree/$(basename "$source" .c)
  $cc -std=gnu11 -Wall -Werror $cflags "$source" -o "$program" $libs || fail "$source does not compile"
  LD_LIBRARY_PATH=$tree$prefix/$libdir "$program" --version || fail "$program does not start"
done
# the introspection data, where it was built, from the installed tree alone
typelib=$(find "$tree$prefix/$libdir" -name GstCudaVision-1.0.typelib 2>/dev/null)
overrides=$(find "$tree$prefix" -path '*/gi/overrides/GstCudaVision.py')
python=$(for name in python3 /usr/bin/python3; do $name -c 'import gi' 2>/dev/null && echo $name && break; done) || true
if [ -n "$typelib" ] && [ -n "$overrides" ] && [ -n "$python" ]; then
  LD_LIBRARY_PATH=$tree$prefix/$libdir GI_TYPELIB_PATH=${typelib%/*} PYTHONPATH=${overrides%/gi/overrides/*} \
    $python -c '
import gi
gi.require_version("GstCudaVision", "1.0")
from gi.repository import GstCudaVision
assert len(GstCudaVision.PBF_FEATURE_NAMES) == GstCudaVision.PBF_N_FEATURES
GstCudaVision.MotionPacket.get_size(2, 1, 1)' || fail "Python cannot import GstCudaVision"
fi
echo "contract: installed tree is complete"
