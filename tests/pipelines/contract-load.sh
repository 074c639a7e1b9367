#!/bin/sh
# contract-load.sh PLUGIN.so FAKE-CUDA-FOLDER HAVE-CUDA
# The plugin as a file: what it needs, what it shows, and that neither loading
# it nor looking at its elements touches CUDA.
set -eu
plugin=$1 fake=$2 have_cuda=$3
fail() { echo "contract: $*" >&2; exit 1; }

needed=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || fail "readelf shows no NEEDED in $plugin"
for library in $needed; do
  case $library in
    libcuda.*|libcudart.*|libnv*|libgstcuda-*) fail "$plugin needs $library" ;;
  esac
done

shown=$(nm -D --defined-only "$plugin" | awk '{ print $NF }' | grep -v '^_' | sort | tr '\n' ' ')
[ "$shown" = "gst_plugin_cudavision_get_desc gst_plugin_cudavision_register " ] ||
  fail "$plugin exports: $shown"

# In the process itself, so that the fake library would be the one that is
# found, and without other people's plugins, some of which do load CUDA.
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
ln -s "$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgstcoreelements.so" "$plugins"
export GST_PLUGIN_SYSTEM_PATH_1_0="$plugins" GST_REGISTRY_FORK=no GST_REGISTRY="$plugins/registry"
export LD_LIBRARY_PATH="$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
elements=$(gst-inspect-1.0 cudavision | sed -n 's/^ *\([a-z0-9]*\): .*/\1/p')
[ -n "$elements" ] || fail "gst-inspect-1.0 cudavision loads libcuda, or lists no elements"
for element in $elements; do
  gst-inspect-1.0 "$element" >/dev/null || fail "gst-inspect-1.0 $element fails or loads libcuda"
done

# and the fake is found where CUDA is really asked for
if [ "$have_cuda" = yes ]; then
  if gst-launch-1.0 -q fakesrc num-buffers=1 ! cudaroicrop backend=cuda ! fakesink \
    >/dev/null 2>"$plugins/log"; then
    fail "backend=cuda ran without CUDA"
  fi
  grep -q 'fakecuda: libcuda.so.1 was loaded' "$plugins/log" ||
    fail "the fake libcuda.so.1 was not tried: $(cat "$plugins/log")"
fi
echo "contract: $(echo "$elements" | wc -w) elements, no CUDA call before start"
