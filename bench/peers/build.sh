#!/usr/bin/env bash
# Compiles CUDA C++ with nvcc.
#
#   ./build.sh FOLDER        the benchmark's peers: FOLDER/peers.ptx, FOLDER/peers.sm_90.cubin and
#                            FOLDER/libceilings.so
#   ./build.sh FOLDER race   the program FOLDER/thread_scope_race
#
# The exit status is 3 if there is no nvcc.
set -eu
what=${2:-peers}
if [ $# -lt 1 ] || [ $# -gt 2 ] || { [ "$what" != peers ] && [ "$what" != race ]; }; then
    echo "usage: $0 FOLDER [peers|race] (FOLDER is where the results go)" >&2
    exit 2
fi
sources=$(cd "$(dirname "$0")" && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
if ! [ -x "$nvcc" ]; then
    echo "error: nvcc is not installed; install the CUDA toolkit, or set NVCC to its path" >&2
    exit 3
fi
mkdir -p "$1"

# compile SOURCE TARGET OPTION..: makes FOLDER/TARGET whole or not at all.
compile() {
    local source=$sources/$1 target=$folder/$2
    shift 2
    "$nvcc" -O3 -std=c++17 -arch=sm_90 "$@" -o "$target.part" "$source"
    mv "$target.part" "$target"
}

folder=$1
if [ "$what" = race ]; then
    compile thread_scope_race.cu thread_scope_race -lineinfo
else
    compile peers.cu peers.ptx -ptx
    compile peers.cu peers.sm_90.cubin -cubin
    compile ceilings.cu libceilings.so -shared -Xcompiler -fPIC
fi
