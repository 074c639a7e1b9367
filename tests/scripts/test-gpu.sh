#!/bin/bash
# test-gpu.sh SOURCE PLUGIN LIBRARY PYTHON - tests scripts/test --gpu and scripts/setup on
# incomplete machines, with fake nvidia-smi and GStreamer tools and a build folder that
# was configured elsewhere.
set -euo pipefail
source=$1 plugin=$2 library=$3 python=$4
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "test-gpu: $*" >&2; exit 1; }

mkdir -p "$tree/bin" "$tree/tools" "$tree/copy/build/gst/motion" "$tree/copy/build/meson-info"
cp -r "$source/scripts" "$tree/copy"
cp "$plugin" "$tree/copy/build/gst/motion"
for tool in bash cat chmod cp cut dirname env find grep head id ldd mkdir mktemp \
  readlink rm sed sort tail tee tr; do
  ln -s "$(command -v $tool)" "$tree/tools"
done
program() { printf '#!/bin/sh\n%s\n' "$2" >"$tree/bin/$1"; chmod +x "$tree/bin/$1"; }
ln -s "$python" "$tree/tools/python3"
export PATH="$tree/bin:$tree/tools" CUDA_PATH=
unset NVCC LD_LIBRARY_PATH
for tool in gst-launch-1.0 gst-inspect-1.0; do program $tool 'exit 0'; done

# carries TEST... ; a folder that was configured in /elsewhere and has these
# tests: each a name and the exit status of its program
carries() {
  python3 - "$tree/copy/build" "$@" <<'PY'
import json, sys
build, tests = sys.argv[1], sys.argv[2:]
listed = []
for test in tests:
    name, status = test.split("=")
    with open(f"{build}/{name}", "w") as file:
        file.write(f'#!/bin/sh\necho "$HERE: skipped: no data"\n[ -d "$HERE" ] || exit 9\nexit {status}\n')
    listed.append({"name": name, "cmd": ["/bin/sh", f"/elsewhere/build/{name}"], "workdir": None,
                   "env": {"HERE": "/elsewhere/build/gst"}, "timeout": 20, "priority": 0,
                   "suite": ["gst-cudavision:gpu"]})
listed.append(dict(listed[0], name="no-gpu", cmd=["/nowhere"], suite=["gst-cudavision:cpu"]))
json.dump(listed, open(f"{build}/meson-info/intro-tests.json", "w"))
json.dump({"directories": {"source": "/elsewhere", "build": "/elsewhere/build"}},
          open(f"{build}/meson-info/meson-info.json", "w"))
PY
}
# ends STATUS TEXT COMMAND... ; its output contains TEXT
ends() {
  local expected=$1 text=$2 status=0 said
  shift 2
  said=$("$tree/copy/scripts/$1" "${@:2}" 2>&1) || status=$?
  [ $status = "$expected" ] || fail "$*: exit status $status, not $expected: $said"
  [[ $said = *"$text"* ]] || fail "$*: '$text' is not in: $said"
}

ends 77 'this machine has no NVIDIA GPU (no nvidia-smi: no driver)' test --gpu
program nvidia-smi 'exit 9'
ends 77 'this machine has no NVIDIA GPU (' test --gpu --no-build
program nvidia-smi 'echo "GPU 0: stand-in"'

carries good=0 bad=3 lacking=77
ends 1 'FAILED: libraries that the plugin needs are not here: libgstcudavision-1.0.so.1' test --gpu --no-build
mkdir "$tree/copy/build/gst/cudavision"
cp "$library" "$tree/copy/build/gst/cudavision/libgstcudavision-1.0.so.1"
ends 1 '1 passed, 1 failed, 1 skipped' test --gpu --no-build
ends 1 "skipped: lacking: $tree/copy/build/gst: skipped: no data" test --gpu --no-build
carries good=0 lacking=77
ends 0 '1 passed, 0 failed, 1 skipped' test --gpu --no-build
carries lacking=77
ends 1 'FAILED: gpu: every test was skipped on a machine with a GPU' test --gpu --no-build
rm "$tree/copy/build/lacking"
ends 1 'FAIL' test --gpu --no-build
rm "$tree/copy/build/meson-info/intro-tests.json"
ends 1 'build is no finished build: it lacks' test --gpu --no-build
ends 2 'test --gpu --no-build' test --no-build

# what is missing is named, each with its package, where apt cannot be asked
ends 0 '' setup --run
rm "$tree/bin/gst-launch-1.0"
ends 1 "no apt on this system; missing:
  gst-launch-1.0 (package gstreamer1.0-tools)" setup --run
ends 1 'FAILED: setup' test --gpu
ends 1 "  meson >= 1.0 (package meson)
  ninja (package ninja-build)
  pkg-config (package pkg-config)" setup --gpu
program apt-get 'echo "E: no network" >&2; exit 100'
program apt-cache 'exit 100'
program sudo 'exec "$@"'
ends 1 "apt could not install everything (E: no network); missing:
  gst-launch-1.0 (package gstreamer1.0-tools)" setup --run
program apt-get "printf '#!/bin/sh\n' >$tree/bin/gst-launch-1.0; chmod +x $tree/bin/gst-launch-1.0"
ends 0 'setup: installing gstreamer1.0-tools' setup --run

# everything except nvcc: an error instead of a build without CUDA
for tool in cc meson ninja pkg-config readelf dpkg-architecture; do program $tool 'echo 1.9.9'; done
[ -x /usr/local/cuda/bin/nvcc ] || ends 1 'FAILED: no nvcc: NVCC' test --gpu
echo "test-gpu: machines that lack a GPU, a build, packages"
