#!/usr/bin/env bash
# Runs and tests tilepipe's kernels on a machine with an NVIDIA driver. Nothing else is needed; compute-sanitizer and
# nvcc are used where they are.
#
#   ./run.sh [run [ARGUMENTS]]   all kernels, each checked against a reference (arguments as of tilepipe-run)
#   ./run.sh test                the GPU tests, and every kernel in every configuration
#   ./run.sh stress [LAUNCHES]   kernels whose roles leave and wait at random, 10000 launches by default, each one checked
#   ./run.sh sanitize            compute-sanitizer: memcheck, racecheck, synccheck, initcheck
#   ./run.sh bench [ARGUMENTS]   the comparison with CUDA C++, for which nvcc is needed (arguments as of tilepipe-bench measure)
#   ./run.sh race                the guide's thread-scope kernel, which races, and its correction, for which nvcc is needed
#   ./run.sh all                 all of these
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
export TILEPIPE_PTX_DIR="$here/ptx"
runner="$here/tilepipe-run"
passed=0 failed=0 skipped=0

# step NAME COMMAND...: runs it and counts how it went.
step() {
    local name=$1
    shift
    printf '\n=== %s\n' "$name"
    if "$@"; then
        passed=$((passed + 1))
        printf -- '--- %s: passed\n' "$name"
    else
        printf -- "--- %s: FAILED (exit status %s)\n" "$name" "$?"
        failed=$((failed + 1))
    fi
}

skip() {
    skipped=$((skipped + 1))
    printf '\n=== %s: skipped: %s\n' "$1" "$2"
}

run_kernels() {
    step "kernels" "$runner" "$@"
}

# Sizes that are and are not multiples of a tile, smaller than one, and larger than the grid.
run_tests() {
    local test elements
    for test in tests/*; do
        if [ -x "$test" ]; then step "$test" "$test"; else skip "tests" "none were packed"; fi
    done
    for elements in 1 255 1000003 2^22; do
        step "every configuration, $elements elements" \
            "$runner" --device gpu --elements "$elements" --dtype all --block all --stages all --quiet
    done
}

# A launch that takes longer than 30 seconds is a hang, which the runner reports with the launch's seed.
run_stress() {
    step "roles that leave and wait at random" "$runner" --device gpu --stress "${1:-10000}"
}

find_sanitizer() {
    local candidate
    for candidate in "${TILEPIPE_SANITIZER:-}" "$(command -v compute-sanitizer)" \
        "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" /usr/local/cuda*/bin/compute-sanitizer; do
        if [ -n "$candidate" ] && [ -x "$candidate" ]; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

run_sanitizer() {
    local sanitizer tool
    if ! sanitizer=$(find_sanitizer); then
        skip "compute-sanitizer" "it is not installed; set TILEPIPE_SANITIZER to its path"
        return
    fi
    for tool in memcheck racecheck synccheck initcheck; do
        step "compute-sanitizer $tool" "$sanitizer" --tool "$tool" --error-exitcode 9 \
            "$runner" --device gpu --elements 20011 --dtype i32,f32x4 --stages all --quiet
    done
}

run_bench() {
    local status=0
    peers/build.sh peers/built || status=$?
    case $status in
    0)
        step "comparison with CUDA C++" ./tilepipe-bench measure --module ptx --peers peers/built --twins twins \
            --ceilings peers/built/libceilings.so \
            --commit "$(cat commit)" --command "./run.sh bench $*" "$@"
        ;;
    3) skip "comparison with CUDA C++" "nvcc, which compiles the other side, is not installed" ;;
    *) step "comparison with CUDA C++" false ;;
    esac
}

# What compute-sanitizer's racecheck makes of a variant: `some` or `no` hazards are wanted. Keeps the lines that count them.
racecheck() {
    local sanitizer=$1 variant=$2 wanted=$3 log hazards status=0
    log=$("$sanitizer" --tool racecheck peers/built/thread_scope_race --variant "$variant" --elements 2^16 2>&1) || status=$?
    printf '%s\n' "$log" | grep -E "^$variant |hazard|[Ee]rror" | head -n 40
    if [ "$status" -ne 0 ]; then
        printf 'error: the program or racecheck failed with exit status %s\n' "$status"
        return 1
    fi
    hazards=$(printf '%s\n' "$log" | sed -n 's/^=* *RACECHECK SUMMARY: *\([0-9][0-9]*\) hazard.*/\1/p')
    case $wanted:$hazards in
    *:) printf 'error: racecheck printed no summary\n' ;;
    some:0) printf 'error: racecheck found no hazard in `%s`, which races\n' "$variant" ;;
    no:0) return 0 ;;
    some:*) return 0 ;;
    no:*) printf 'error: racecheck found hazards in `%s`, which must have none\n' "$variant" ;;
    esac
    return 1
}

# The kernel as printed may be wrong or right, and what it was is printed; the corrected one must be right.
run_race() {
    local sanitizer status=0 race=peers/built/thread_scope_race
    peers/build.sh peers/built race || status=$?
    case $status in
    0) ;;
    3)
        skip "race in the guide's thread-scope kernel" "nvcc, which compiles it, is not installed"
        return
        ;;
    *)
        step "race in the guide's thread-scope kernel" false
        return
        ;;
    esac
    step "thread scope as printed" "$race" --variant printed --elements 2^28 --repeat 10
    step "thread scope as printed, one slow warp" "$race" --variant printed_slow --elements 2^24 --repeat 10
    step "thread scope corrected" "$race" --variant corrected --elements 2^28 --repeat 10
    step "thread scope corrected, one slow warp" "$race" --variant corrected_slow --elements 2^24 --repeat 10
    if ! sanitizer=$(find_sanitizer); then
        skip "racecheck of both" "compute-sanitizer is not installed; set TILEPIPE_SANITIZER to its path"
        return
    fi
    step "racecheck of thread scope as printed: hazards are expected" racecheck "$sanitizer" printed some
    step "racecheck of thread scope corrected: none are" racecheck "$sanitizer" corrected no
}

command=${1:-run}
[ $# -gt 0 ] && shift
case $command in
run) run_kernels "$@" ;;
test) run_tests ;;
stress) run_stress "$@" ;;
sanitize) run_sanitizer ;;
bench) run_bench "$@" ;;
race) run_race ;;
all)
    run_kernels
    run_tests
    run_stress
    run_sanitizer
    run_bench
    run_race
    ;;
*)
    printf 'error: unknown command `%s`; choose run, test, stress, sanitize, bench, race or all\n' "$command" >&2
    exit 2
    ;;
esac

printf '\n%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
