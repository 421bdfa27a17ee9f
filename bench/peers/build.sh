#!/usr/bin/env bash
# Compiles CUDA C++ with nvcc.
#
#   ./build.sh FOLDER            the benchmark's peers: FOLDER/peers.ptx, FOLDER/peers.sm_90.cubin,
#                                the same of shapes, matrices, bulk and tensor,
#                                FOLDER/libceilings.so, and what libraries makes
#   ./build.sh FOLDER libraries  FOLDER/libcub.so, FOLDER/libsgemm.so, and FOLDER/libcublaslt.so if
#                                cublasLt's header and library are there
#   ./build.sh FOLDER race       the program FOLDER/thread_scope_race
#   ./build.sh FOLDER versions   nothing but versions.txt
#
# Beside these, FOLDER/versions.txt has the versions of what compiled them, one in a line: nvcc,
# ptxas, CCCL, and cublasLt where it is built. One that cannot be found out has no line.
#
# cublasLt is looked for beside nvcc, in CUDA_HOME, and in the packages of PYTHON (python3 if that
# is not set), with which PyTorch brings it. If it is not there, a line says so, and the exit status
# is 0. It is 3 if there is no nvcc.
set -eu
what=${2:-peers}
case $#:$what in
1:peers | 2:peers | 2:libraries | 2:race | 2:versions) ;;
*)
    echo "usage: $0 FOLDER [peers|libraries|race|versions] (FOLDER is where the results go)" >&2
    exit 2
    ;;
esac
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
    "$nvcc" -O3 -std=c++17 -arch=sm_90 "$@" -o "$target.part" "$source" && mv "$target.part" "$target"
}

# Where a CUDA toolkit may be: folders with `include`, and `lib64` or `lib`.
toolkits() {
    printf '%s\n' "$(dirname "$(dirname "$nvcc")")" "${CUDA_HOME:-/usr/local/cuda}"
    "${PYTHON:-python3}" -c 'import glob, nvidia
for folder in nvidia.__path__:
    print(*sorted(glob.glob(folder + "/*/")), sep="\n")' 2>/dev/null || true
}

# find_in_toolkits PATTERN..: the first file that fits one of these, from a toolkit's folder on.
find_in_toolkits() {
    local toolkit pattern file
    while IFS= read -r toolkit; do
        for pattern in "$@"; do
            # One that fits nothing stays as it is, and is no file.
            for file in "$toolkit"/$pattern; do
                if [ -e "$file" ]; then
                    printf '%s\n' "$file"
                    return 0
                fi
            done
        done
    done < <(toolkits)
    return 1
}

# Other headers than cublasLt's are those of nvcc's own toolkit: it looks into `-isystem` folders
# last. A process that has loaded a library of that name already, as PyTorch does, uses that one.
compile_cublaslt() {
    local header library
    rm -f "$folder/libcublaslt.so"
    if ! header=$(find_in_toolkits include/cublasLt.h); then
        echo "cublaslt.cu is left out: there is no cublasLt.h (set CUDA_HOME to a toolkit that has it)"
        return 0
    fi
    if ! library=$(find_in_toolkits 'lib64/libcublasLt.so*' 'lib/libcublasLt.so*'); then
        echo "cublaslt.cu is left out: there is no libcublasLt.so (set CUDA_HOME to a toolkit that has it)"
        return 0
    fi
    compile cublaslt.cu libcublaslt.so -shared -Xcompiler -fPIC -isystem "$(dirname "$header")" \
        -Xlinker --no-as-needed -Xlinker "$library" -Xlinker -rpath -Xlinker "$(dirname "$library")" ||
        echo "cublaslt.cu is left out: it cannot be compiled (see above)"
}

# version_of PROGRAM: the version that a program of the CUDA toolkit prints; nothing if it is not
# there.
version_of() {
    "$1" --version 2>/dev/null | sed -n 's/.*compilation tools.*, V\([0-9][0-9.]*\).*/\1/p' | head -n 1 || true
}

# preprocess OPTION..: the numbers from the word `tilepipe_version` to a semicolon in the source
# that stands in the standard input; nothing if they are none, or if a header is missing.
#
# They may be in several lines: a number of a system header, such as those of include/cccl, stands
# between marks (`# 1 "file" 3`) that say where it comes from.
preprocess() {
    local source=$folder/versions.cu
    cat >"$source"
    "$nvcc" -E -std=c++17 -arch=sm_90 "$@" "$source" 2>/dev/null | sed '/^ *#/d' | tr -s '[:space:]' ' ' |
        sed -n 's/.*tilepipe_version \([0-9][0-9 ]*\);.*/\1/p' || true
    rm -f "$source"
}

# CCCL says a version in one number, 3000002 for 3.0.2. CUB, which alone has a version in older
# toolkits, says 200802 for 2.8.2; from 2 on both have the same one.
cccl_version() {
    local version
    version=$(preprocess <<'END'
#if __has_include(<cuda/version>)
#include <cuda/version>
#elif __has_include(<cuda/std/version>)
#include <cuda/std/version>
#endif
#if __has_include(<cub/version.cuh>)
#include <cub/version.cuh>
#endif
#if defined(CCCL_VERSION)
tilepipe_version CCCL_VERSION 1000;
#elif defined(_CCCL_VERSION)
tilepipe_version _CCCL_VERSION 1000;
#elif defined(CUB_VERSION)
tilepipe_version CUB_VERSION 100;
#endif
END
    )
    # The number, and what its patch is less than.
    # shellcheck disable=SC2086 # two words
    set -- $version
    if [ $# -eq 2 ]; then printf '%s.%s.%s\n' $(($1 / $2 / 1000)) $(($1 / $2 % 1000)) $(($1 % $2)); fi
}

# cublaslt_version OPTION..: that of the header.
cublaslt_version() {
    local version
    version=$(preprocess "$@" <<'END'
#include <cublasLt.h>
tilepipe_version CUBLAS_VER_MAJOR CUBLAS_VER_MINOR CUBLAS_VER_PATCH CUBLAS_VER_BUILD;
END
    )
    # shellcheck disable=SC2086 # four words
    set -- $version
    if [ $# -eq 4 ]; then printf '%s.%s.%s.%s\n' "$@"; fi
}

# line NAME VERSION: a line of versions.txt, if there is a version.
line() {
    if [ -n "$2" ]; then printf '%s %s\n' "$1" "$2"; fi
}

# The assembler is the one that nvcc calls, which lies beside it.
write_versions() {
    local header own ptxas
    own=$(readlink -f "$nvcc" || printf '%s\n' "$nvcc")
    ptxas=$(dirname "$own")/ptxas
    {
        line nvcc "$(version_of "$nvcc")"
        line ptxas "$(version_of "$ptxas")"
        line CCCL "$(cccl_version)"
        if [ -e "$folder/libcublaslt.so" ] && header=$(find_in_toolkits include/cublasLt.h); then
            line cublasLt "$(cublaslt_version -isystem "$(dirname "$header")")"
        fi
    } >"$folder/versions.txt.part"
    mv "$folder/versions.txt.part" "$folder/versions.txt"
}

folder=$1
case $what in
race) compile thread_scope_race.cu thread_scope_race -lineinfo ;;
libraries)
    compile cub.cu libcub.so -shared -Xcompiler -fPIC & jobs=($!)
    compile sgemm.cu libsgemm.so -shared -Xcompiler -fPIC & jobs+=($!)
    compile_cublaslt & jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job"; done
    ;;
versions) ;;
peers)
    # Side by side: most of the time goes into the candidates of shapes.cu.
    jobs=()
    for source in shapes matrices peers bulk tensor; do
        compile "$source.cu" "$source.ptx" -ptx & jobs+=($!)
        compile "$source.cu" "$source.sm_90.cubin" -cubin & jobs+=($!)
    done
    compile ceilings.cu libceilings.so -shared -Xcompiler -fPIC & jobs+=($!)
    compile cub.cu libcub.so -shared -Xcompiler -fPIC & jobs+=($!)
    compile sgemm.cu libsgemm.so -shared -Xcompiler -fPIC & jobs+=($!)
    compile_cublaslt & jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job"; done
    ;;
esac
write_versions
