#!/bin/sh
# contract-load.sh PLUGIN.so FAKE-CUDA-FOLDER HAVE-CUDA
# Checks the plugin file: the libraries that it needs, the symbols that it exports,
# and that neither loading it nor inspecting its elements calls CUDA.
set -eu
plugin=$1 fake=$2 have_cuda=$3
name=$(basename "$plugin" .so)
name=${name#libgst}
fail() { echo "contract: $*" >&2; exit 1; }

needed=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || fail "readelf shows no NEEDED in $plugin"
for library in $needed; do
  case $library in
    libcuda.*|libcudart.*|libnv*|libgstcuda-*) fail "$plugin needs $library" ;;
  esac
done

shown=$(nm -D --defined-only "$plugin" | awk '{ print $NF }' | grep -v '^_' | sort | tr '\n' ' ')
[ "$shown" = "gst_plugin_${name}_get_desc gst_plugin_${name}_register " ] ||
  fail "$plugin exports: $shown"

# In this process, so that the fake library is found first, and without plugins of
# other projects, because some of them load CUDA.
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
ln -s "$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgstcoreelements.so" "$plugins"
export GST_PLUGIN_SYSTEM_PATH_1_0="$plugins" GST_REGISTRY_FORK=no GST_REGISTRY="$plugins/registry"
export LD_LIBRARY_PATH="$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
elements=$(gst-inspect-1.0 "$name" | sed -n 's/^ *\([a-z0-9]*\): .*/\1/p')
[ -n "$elements" ] || fail "gst-inspect-1.0 $name loads libcuda, or lists no elements"
for element in $elements; do
  gst-inspect-1.0 "$element" >/dev/null || fail "gst-inspect-1.0 $element fails or loads libcuda"
done

# the fake library is found if CUDA is requested
if [ "$have_cuda" = yes ]; then
  if gst-launch-1.0 -q fakesrc num-buffers=1 ! cudaroicrop backend=cuda ! fakesink \
    >/dev/null 2>"$plugins/log"; then
    fail "backend=cuda ran without CUDA"
  fi
  grep -q 'fakecuda: libcuda.so.1 was loaded' "$plugins/log" ||
    fail "the fake libcuda.so.1 was not tried: $(cat "$plugins/log")"
fi
echo "contract: $(echo "$elements" | wc -w) elements, no CUDA call before start"
