#!/bin/bash
# cuda-info.sh CUDA-INFO - tests the detection of toolkits other than the installed
# one. Fake nvcc, nvidia-smi and g++ print the output of real ones.
set -euo pipefail
info=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "cuda-info: $*" >&2; exit 1; }

# toolkit FOLDER VERSION NEWEST-GCC ARCHITECTURES... ; g++ is 12 here
toolkit() {
  local at=$tree/$1 version=$2 gcc=$3
  shift 3
  mkdir -p "$at/bin" "$at/include" "$at/lib64"
  echo "#define CUDART_VERSION ${version%.*}0${version#*.}0" >"$at/include/cuda_runtime_api.h"
  : >"$at/lib64/libcudart_static.a"
  cat >"$at/bin/nvcc" <<NVCC
#!/bin/bash
ccbin=g++-12
while [ \$# -gt 0 ]; do
  case \$1 in
    --version) echo "Cuda compilation tools, release $version, V$version.99"; exit ;;
    --dryrun) echo '#\$ _HERE_=$at/bin' >&2; exit ;;
    --list-gpu-arch) printf 'compute_%s\n' $*; exit ;;
    -ccbin) ccbin=\$2; shift ;;
  esac
  shift
done
[ "\${ccbin##*-}" -le $gcc ] && exit
echo "host_config.h:1:2: error: #error -- unsupported GNU version! gcc versions later than $gcc are not supported! The nvcc flag" >&2
exit 1
NVCC
  chmod +x "$at/bin/nvcc"
}
program() { printf '#!/bin/sh\n%s\n' "$2" >"$tree/bin/$1"; chmod +x "$tree/bin/$1"; }
mkdir -p "$tree/bin" "$tree/tools" "$tree/build"
# only those tools of this machine that the script itself uses
for tool in bash cat chmod dirname env grep mkdir mktemp readlink rm sed sort tail tee tr wc; do
  ln -s "$(command -v $tool)" "$tree/tools"
done
export PATH="$tree/bin:$tree/tools" CUDA_PATH=
unset NVCC
program nvidia-smi 'exit 9'
toolkit 11.5 11.5 11 52 75 80 86 87
toolkit 12.8 12.8 14 75 80 86 89 90 100 120

# says LINE-NUMBER TEXT TOOLKIT [ARCHS [HOST]] ; refuses TEXT TOOLKIT ...
ask() { "$info" "$tree/build" toolkit "${2:-auto}" "${3:-}" "$tree/$1/bin/nvcc" 2>&1; }
says() {
  local line=$1 text=$2 said
  shift 2
  said=$(ask "$@") || fail "$*: $said"
  [ "$(sed -n "${line}p" <<<"$said")" = "$text" ] || fail "$*: line $line is not '$text' in: $said"
}
refuses() {
  local text=$1 said
  shift
  ! said=$(ask "$@") || fail "$* was taken"
  [ "$(wc -l <<<"$said")" = 1 ] || fail "$*: more than one line: $said"
  [[ $said = *"$text"* ]] || fail "$*: not '$text': $said"
}

# architectures by what nvcc knows, and what is left out
says 4 '75;80;86;89;90;100' 12.8
says 7 - 12.8
says 5 '-gencode arch=compute_75,code=sm_75 -gencode arch=compute_75,code=compute_75' 12.8 75
refuses "knows no architecture '89 90' (option cuda-archs); it knows: 52 75" 11.5 '75;89;90'

# a host compiler that is too new: without a usable one, then with an older one
refuses 'does not compile with the host compiler g++, and there is no other g++-N on the PATH' 11.5
refuses 'e.g. -Dcuda-host-compiler=g++-11. It says: #error -- unsupported GNU version! gcc versions later than 11 are not supported' 11.5
says 6 - 12.8
program g++-11 ''
program g++-10 ''
says 6 "$tree/bin/g++-11" 11.5
says 4 '75;80;86' 11.5
says 7 '89;90;100' 11.5
says 6 g++-10 11.5 auto g++-10
refuses 'host compiler g++-12, named by the option cuda-host-compiler' 11.5 auto g++-12
# remembered, though the PATH is another by now
PATH=$tree/tools says 6 "$tree/bin/g++-11" 11.5 75

# the GPU at hand; one that is newer than the toolkit gets the PTX of the newest
program nvidia-smi 'echo 8.6'
says 4 86 12.8
program nvidia-smi 'echo 9.0'
says 4 '75;80;86' 11.5
program nvidia-smi 'exit 9'

# toolkits that are too old, incomplete or mixed
toolkit 11.1 11.1 11 75
refuses '11.2 or newer is needed' 11.1
toolkit mixed 12.8 14 75
echo '#define CUDART_VERSION 13000' >"$tree/mixed/include/cuda_runtime_api.h"
refuses 'mixed/include/cuda_runtime_api.h belongs to CUDA 13.0' mixed
rm "$tree/mixed/include/cuda_runtime_api.h"
refuses 'no cuda_runtime_api.h near' mixed
rm "$tree/12.8/lib64/libcudart_static.a"
refuses 'no libcudart_static.a near' 12.8

# which nvcc: NVCC, then the one noted, then the PATH, then CUDA_PATH
find_nvcc() { "$info" "$tree/build" which; }
[ "$(CUDA_PATH=$tree/11.5 find_nvcc)" = "$tree/11.5/bin/nvcc" ] || fail "CUDA_PATH"
[ "$(NVCC=$tree/12.8/bin/nvcc find_nvcc)" = "$tree/12.8/bin/nvcc" ] || fail "NVCC"
[ "$(PATH=$tree/11.5/bin:$PATH find_nvcc)" = "$tree/12.8/bin/nvcc" ] || fail "the folder changed its toolkit"
rm "$tree/build/nvcc"
[ "$(PATH=$tree/11.5/bin:$PATH find_nvcc)" = "$tree/11.5/bin/nvcc" ] || fail "PATH"
said=$(NVCC=/nowhere/nvcc find_nvcc 2>&1) && fail "NVCC=/nowhere/nvcc was taken"
[ "$said" = "CUDA toolkit: NVCC=/nowhere/nvcc in the environment names no program" ] || fail "$said"
echo "cuda-info: toolkits, architectures, host compilers"
