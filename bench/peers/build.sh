#!/usr/bin/env bash
# Compiles CUDA C++ with nvcc.
#
#   ./build.sh FOLDER            the benchmark's peers: FOLDER/peers.ptx, FOLDER/peers.sm_90.cubin,
#                                the same of shapes, FOLDER/libceilings.so, and what cublaslt makes
#   ./build.sh FOLDER cublaslt   FOLDER/libcublaslt.so, if cublasLt's header and library are there
#   ./build.sh FOLDER race       the program FOLDER/thread_scope_race
#
# cublasLt is looked for beside nvcc, in CUDA_HOME, and in the packages of PYTHON (python3 if that
# is not set), with which PyTorch brings it. If it is not there, a line says so, and the exit status
# is 0. It is 3 if there is no nvcc.
set -eu
what=${2:-peers}
case $#:$what in
1:peers | 2:peers | 2:cublaslt | 2:race) ;;
*)
    echo "usage: $0 FOLDER [peers|cublaslt|race] (FOLDER is where the results go)" >&2
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

folder=$1
case $what in
race) compile thread_scope_race.cu thread_scope_race -lineinfo ;;
cublaslt) compile_cublaslt ;;
peers)
    # Side by side: most of the time goes into the candidates of shapes.cu.
    jobs=()
    for source in shapes peers; do
        compile "$source.cu" "$source.ptx" -ptx & jobs+=($!)
        compile "$source.cu" "$source.sm_90.cubin" -cubin & jobs+=($!)
    done
    compile ceilings.cu libceilings.so -shared -Xcompiler -fPIC & jobs+=($!)
    compile_cublaslt & jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job"; done
    ;;
esac
