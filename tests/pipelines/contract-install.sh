#!/bin/sh
# contract-install.sh BUILD-FOLDER PREFIX LIBDIR SOURCE-FOLDER MESON COMPILER PLUGINS SOURCE...
# Checks that the installed tree is complete: gst-inspect-1.0 finds the plugins,
# pkg-config finds the library, each header can be included alone, the SOURCEs compile
# and start, and Python imports the library if it was built with introspection.
# The lines of README's section on installation configure the SOURCE-FOLDER so that
# the plugin is installed where GStreamer searches (scripts/package --try-source runs
# them to the end, in a bare system).
set -eu
build=$1 prefix=$2 libdir=$3 source_folder=$4 meson=$5 cc=$6 plugins=$7
shift 7
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
for name in $plugins; do
  GST_PLUGIN_PATH_1_0=$tree$prefix/$libdir/gstreamer-1.0 GST_REGISTRY=$tree/registry LD_LIBRARY_PATH=$tree$prefix/$libdir \
    gst-inspect-1.0 "cudavision$name" >"$tree/log" 2>&1 || { cat "$tree/log"; fail "gst-inspect-1.0 does not find the installed plugin $name"; }
  grep -q "^ *Filename *$tree" "$tree/log" || { cat "$tree/log"; fail "gst-inspect-1.0 finds another plugin $name"; }
done

# README's lines, where setup, sudo and ninja do nothing and meson only configures
mkdir "$tree/bin" "$tree/scripts"
for name in bin/sudo bin/ninja bin/gst-inspect-1.0 scripts/setup; do
  printf '#!/bin/sh\n' >"$tree/$name"
done
cat >"$tree/bin/meson" <<MESON
#!/bin/sh
folder=\$2
shift 2
LD_PRELOAD= PATH="$PATH" exec "$meson" setup "\$folder" "$source_folder" -Dcuda=disabled "\$@"
MESON
chmod +x "$tree"/bin/* "$tree/scripts/setup"
sed -n '/^## Install/,/^## /{/^```$/,/^```$/{/^```/!p}}' "$source_folder/README.md" >"$tree/lines"
(cd "$tree" && PATH="$tree/bin:$PATH" sh -eu lines) >"$tree/log" 2>&1 || { cat "$tree/log"; fail "README's lines fail"; }
installed=$("$meson" introspect --installed "$tree/build-install" | grep -o '[^"]*/libgstcudavisionsurface\.so' | tail -1)
searched=$(pkg-config --variable=pluginsdir gstreamer-1.0)
[ ! -f /etc/debian_version ] || [ "${installed%/*}" = "$searched" ] ||
  fail "README's lines install ${installed:-no plugin}, and GStreamer searches $searched"

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
