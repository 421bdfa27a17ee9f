#!/usr/bin/env bash
# Compiles the CUDA C++ peers with nvcc: ./build.sh FOLDER makes FOLDER/peers.ptx and FOLDER/peers.sm_90.cubin.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: $0 FOLDER (where peers.ptx and peers.sm_90.cubin are made)" >&2
    exit 2
fi
source=$(cd "$(dirname "$0")" && pwd)/peers.cu
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}
if ! [ -x "$nvcc" ]; then
    echo "error: nvcc is not installed; install the CUDA toolkit, or set NVCC to its path" >&2
    exit 3
fi
mkdir -p "$1"
for kind in ptx cubin; do
    target=$1/peers.$([ $kind = ptx ] && echo ptx || echo sm_90.cubin)
    "$nvcc" -O3 -std=c++17 -arch=sm_90 -$kind -o "$target.part" "$source"
    mv "$target.part" "$target"
done
