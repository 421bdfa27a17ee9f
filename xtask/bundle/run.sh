#!/usr/bin/env bash
# Runs and tests tilepipe's kernels on a machine with an NVIDIA driver. Nothing else is needed;
# compute-sanitizer, nvcc and PyTorch are used where they are.
#
#   ./run.sh [run [ARGUMENTS]]   all kernels, each checked against a reference (arguments as of
#                                tilepipe-run)
#   ./run.sh quick               the default run, every configuration at one size, the host's tests
#   ./run.sh test                the GPU tests, and every kernel in every configuration
#   ./run.sh stress [LAUNCHES]   kernels whose roles leave and wait at random, 10000 launches by
#                                default, each one checked
#   ./run.sh exhaustive          the functions of tilepipe::math for every number of 32 bits: on the
#                                CPU against their bounds, on the GPU against the CPU (minutes; not
#                                part of `all`)
#   ./run.sh sanitize            compute-sanitizer: memcheck, racecheck, synccheck, initcheck
#   ./run.sh bench [ARGUMENTS]   the comparison with CUDA C++, for which nvcc is needed (arguments
#                                as of tilepipe-bench measure). PROCESSES of them (3 by default)
#                                measure one after another, into bench-1.json and so on, which
#                                become bench.json, or what --output names. After each, another
#                                one times what a launch costs, into bench-1-launches.json and so
#                                on. torch.json, where it is there and of the same commit, becomes
#                                part of it.
#   ./run.sh torch [ARGUMENTS]   the comparison with PyTorch, for which python3 needs to have it
#                                (arguments as of peers/torch_peers.py). Without arguments it writes
#                                torch.json.
#   ./run.sh pytorch [ARGUMENTS] installs the extension for PyTorch into a folder of this one, runs
#                                its tests, and compares it with PyTorch's own operators (arguments
#                                as of pytorch/compare.py). Without arguments it writes
#                                pytorch.json. python3 needs pip and NumPy; what needs PyTorch is
#                                skipped without.
#   ./run.sh race                the guide's thread-scope kernel, which races, and its correction,
#                                for which nvcc is needed
#   ./run.sh all                 all that the bundle has; quick only where test is not there
#   ./run.sh unpack              unpacks the programs and the kernels, as any first command does
#   ./run.sh help                this text, and what the bundle has
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
# The suites that this bundle was made for, and the GPU architecture that its machine code is for.
suites="@SUITES@"
gpu="@GPU@"
export TILEPIPE_PTX_DIR="$here/ptx" TILEPIPE_TEST_PTX_DIR="$here/test-ptx"
runner="$here/tilepipe-run"
passed=0 failed=0 skipped=0

# The suites whose bundles have a command, the smallest first.
suites_with() {
    case $1 in
    run | stress) printf 'quick test sanitize' ;;
    quick) printf 'quick test' ;;
    test | exhaustive) printf 'test' ;;
    sanitize) printf 'sanitize' ;;
    bench | torch) printf 'bench' ;;
    pytorch) printf 'pytorch' ;;
    race) printf 'bench sanitize' ;;
    *) return 1 ;;
    esac
}

# Whether this bundle has a command.
has() {
    local suite
    for suite in $(suites_with "$1"); do
        case " $suites " in *" $suite "*) return 0 ;; esac
    done
    return 1
}

# Puts what is in the archive beside this script, in the place of what an older bundle has left
# there, and removes the archive. An interrupted run begins anew. A second one at the same time
# waits.
unpack() {
    local archive=packed.tar.xz part=.unpacking entry
    [ -e "$archive" ] || return 0
    if ! { : >.lock; } 2>/dev/null; then
        printf 'error: the bundle cannot be unpacked, as %s cannot be written; copy it to another folder\n' "$here" >&2
        exit 1
    fi
    exec 9>.lock
    if command -v flock >/dev/null; then flock 9; fi
    if [ -e "$archive" ]; then
        rm -rf "$part" && mkdir "$part" && tar -xJf "$archive" --no-same-owner -C "$part" || {
            printf 'error: %s cannot be unpacked (see above); copy the bundle anew\n' "$here/$archive" >&2
            exit 1
        }
        for entry in "$part"/*; do
            rm -rf "${entry#"$part"/}" && mv "$entry" . || exit 1
        done
        rm -rf "$part" "$archive"
    fi
    exec 9>&-
}

help() {
    local command
    sed -n '2,/^set /s/^# \{0,1\}//p' run.sh
    printf '\nThis bundle is of commit %s, with machine code for %s and the suites: %s.\n' "$(cat commit)" "$gpu" "$suites"
    printf 'Its commands:'
    for command in run quick test stress exhaustive sanitize bench torch pytorch race; do
        if has "$command"; then printf ' %s' "$command"; fi
    done
    printf ' all\n'
}

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

run_quick() {
    step "kernels" "$runner" --device gpu
    step "every configuration, 1000003 elements" \
        "$runner" --device gpu --elements 1000003 --dtype all --block all --stages all --quiet
    step "tests/tilepipe-host-gpu" tests/tilepipe-host-gpu
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

# A launch that takes longer than 30 seconds is a hang, which the runner reports with the launch's
# seed.
run_stress() {
    step "roles that leave and wait at random" "$runner" --device gpu --stress "${1:-10000}"
}

run_exhaustive() {
    step "functions for every number" tests/tilepipe-tests-gpu --ignored --nocapture
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

# Measures in several processes, and merges their records. It goes on after a process that found
# something wrong or too slow: the merged record has what is wrong in any of them, and the ratios of
# all, and its exit status counts. A process that left no record, or crashed, ends it with its
# status.
measure() {
    local typed="$*" processes=${PROCESSES:-3} output=bench.json record number status
    local arguments=() records=() torch=() launches=()
    case $processes in
    '' | 0* | *[!0-9]*)
        printf 'error: PROCESSES is `%s`, and a number from 1 on is needed\n' "$processes" >&2
        return 2
        ;;
    esac
    while [ $# -gt 0 ]; do
        case $1 in
        --output=*) output=${1#--output=} ;;
        --output)
            if [ $# -lt 2 ]; then
                printf 'error: --output needs the name of a file\n' >&2
                return 2
            fi
            output=$2
            shift
            ;;
        *) arguments+=("$1") ;;
        esac
        shift
    done
    rm -f "$output"
    for ((number = 1; number <= processes; number++)); do
        record=${output%.json}-$number.json
        status=0
        rm -f "$record"
        printf 'process %s of %s\n' "$number" "$processes"
        ./tilepipe-bench measure --module ptx --peers peers/built --twins twins \
            --ceilings peers/built/libceilings.so --output "$record" \
            --commit "$(cat commit)" --command "./run.sh bench${typed:+ $typed}" "${arguments[@]}" || status=$?
        # Without a record and with success it has answered `--help`, say.
        if ! [ -e "$record" ] || [ "$status" -gt 1 ]; then return "$status"; fi
        records+=("$record")
        # What a launch costs: some seconds.
        record=${output%.json}-$number-launches.json
        rm -f "$record"
        ./tilepipe-bench launches --bare --module ptx --output "$record" --commit "$(cat commit)" \
            --command "./run.sh bench${typed:+ $typed}" || return
        launches+=("$record")
    done
    if [ -e torch.json ]; then
        if grep -qF "\"commit\": \"$(cat commit)\"" torch.json; then
            torch=(--torch torch.json)
        else
            printf 'torch.json is left out: it is of another commit\n'
        fi
    fi
    printf 'all processes\n'
    ./tilepipe-bench merge "${records[@]}" --output "$output" --launches "${launches[@]}" "${torch[@]}" || return
    printf 'the record is %s\n' "$output"
}

run_bench() {
    local status=0
    peers/build.sh peers/built || status=$?
    case $status in
    0) step "comparison with CUDA C++" measure "$@" ;;
    3) skip "comparison with CUDA C++" "nvcc, which compiles the other side, is not installed" ;;
    *) step "comparison with CUDA C++" false ;;
    esac
}

# cublasLt, which needs nvcc, is one contestant of one task: without it the rest runs, and the
# script says that it is left out.
run_torch() {
    local status=0 python=${PYTHON:-python3} typed="$*"
    if ! command -v "$python" >/dev/null; then
        skip "comparison with PyTorch" "$python is not installed; set PYTHON to its path"
        return
    fi
    if ! "$python" -c 'import torch' 2>/dev/null; then
        skip "comparison with PyTorch" "$python has no PyTorch; set PYTHON to one that has"
        return
    fi
    peers/build.sh peers/built libraries || status=$?
    case $status in
    0 | 3) ;;
    *)
        step "comparison with PyTorch" false
        return
        ;;
    esac
    if [ $# -eq 0 ]; then
        rm -f torch.json
        set -- --output torch.json
    fi
    if [ -e peers/built/libcublaslt.so ]; then set -- --cublaslt peers/built/libcublaslt.so "$@"; fi
    if [ -e peers/built/libcub.so ]; then set -- --cub peers/built/libcub.so "$@"; fi
    if [ -e peers/built/libsgemm.so ]; then set -- --sgemm peers/built/libsgemm.so "$@"; fi
    step "comparison with PyTorch" "$python" peers/torch_peers.py --library ./libtilepipe_bench_c.so --module ptx \
        --commit "$(cat commit)" --command "./run.sh torch $typed" "$@"
}

# The wheel has its kernels in it. Tests say themselves what they skip.
run_pytorch() {
    local python=${PYTHON:-python3} installed="$here/pytorch/installed" wheel
    wheel=$(find pytorch -maxdepth 1 -name '*.whl' 2>/dev/null)
    if [ -z "$wheel" ]; then
        skip "extension for PyTorch" "its wheel could not be built where the bundle was made"
        return
    fi
    if ! "$python" -c 'import numpy, pip' 2>/dev/null; then
        skip "extension for PyTorch" "$python is not installed, or has no pip or no NumPy; set PYTHON to one that has"
        return
    fi
    rm -rf "$installed"
    step "installing the extension for PyTorch" \
        "$python" -m pip install --quiet --no-index --no-deps --target "$installed" "$here/$wheel"
    step "tests of the extension for PyTorch" env PYTHONPATH="$installed" \
        "$python" -m unittest discover --verbose --start-directory pytorch/tests
    if ! "$python" -c 'import torch' 2>/dev/null; then
        skip "comparison with PyTorch's own operators" "$python has no PyTorch; set PYTHON to one that has"
        return
    fi
    if [ $# -eq 0 ]; then set -- --json pytorch.json; fi
    step "comparison with PyTorch's own operators" env PYTHONPATH="$installed" "$python" pytorch/compare.py "$@"
}

# What compute-sanitizer's racecheck makes of a variant: `some` or `no` hazards are wanted. Keeps
# the lines that count them.
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

# The kernel as printed may be wrong or right, and what it was is printed; the corrected one must be
# right.
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

run_all() {
    if has run; then run_kernels; fi
    if has test; then run_tests; elif has quick; then run_quick; fi
    if has stress; then run_stress; fi
    if has sanitize; then run_sanitizer; fi
    # What PyTorch's part writes becomes part of the other's record.
    if has torch; then run_torch; fi
    if has bench; then run_bench; fi
    if has pytorch; then run_pytorch; fi
    if has race; then run_race; fi
}

# Without a command: all kernels, or what the bundle of one suite is for.
default=run
case $suites in *' '*) ;; *) default=$suites ;; esac
command=${1:-$default}
[ $# -gt 0 ] && shift
case $command in
run | quick | test | stress | exhaustive | sanitize | bench | torch | pytorch | race)
    if ! has "$command"; then
        printf 'error: this bundle has the suite `%s` alone, and not what `%s` needs; make another one: cargo xtask bundle --suite %s\n' \
            "$suites" "$command" "$(suites_with "$command" | cut -d ' ' -f 1)" >&2
        exit 2
    fi
    ;;
all | unpack) ;;
help | --help | -h)
    help
    exit 0
    ;;
*)
    printf 'error: unknown command `%s`; choose run, quick, test, stress, exhaustive, sanitize, bench, torch, pytorch, race, all, unpack or help\n' "$command" >&2
    exit 2
    ;;
esac
unpack
case $command in
run) run_kernels "$@" ;;
quick) run_quick ;;
test) run_tests ;;
stress) run_stress "$@" ;;
exhaustive) run_exhaustive ;;
sanitize) run_sanitizer ;;
bench) run_bench "$@" ;;
torch) run_torch "$@" ;;
pytorch) run_pytorch "$@" ;;
race) run_race ;;
all) run_all ;;
unpack) exit 0 ;;
esac

printf '\n%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
