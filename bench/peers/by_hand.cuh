// Peers as an expert writes them: cp.async by hand.
#pragma once

#include "view.cuh"

// Copies the first `bytes` of UNIT (4, 8 or 16) bytes asynchronously, and fills the rest with
// zeros.
template <unsigned UNIT> __device__ __forceinline__ void copy(unsigned target, const char *source, unsigned bytes) {
    if constexpr (UNIT == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(target), "l"(source), "r"(bytes), "n"(UNIT)
                     : "memory");
    }
}

// Copies UNIT bytes asynchronously.
template <unsigned UNIT> __device__ __forceinline__ void copy(unsigned target, const char *source) {
    if constexpr (UNIT == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(UNIT) : "memory");
    }
}

__device__ __forceinline__ void commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int LEFT> __device__ __forceinline__ void wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// EAGER = false: STAGES - 1 tiles are in flight while one is computed on. The barrier that makes a
// landed tile visible to all threads also shows that all have finished with the tile before it,
// whose stage is then filled again.
//
// EAGER = true: that stage is filled before the next tile is waited for, so that STAGES tiles are
// in flight; showing that it may be filled then takes a barrier of its own.
//
// Threads copy UNIT bytes each: 16, for which a quarter of them copy an int tile, or sizeof(T), for
// which each copies its own element. Every stage has a tile of each input; all inputs have the
// length of the first.
template <class T, unsigned STAGES, bool EAGER, unsigned UNIT, unsigned INPUTS>
__device__ __forceinline__ void stream(const View<T> (&in)[INPUTS], const View<T> out) {
    __shared__ alignas(16) T stages[STAGES][INPUTS][TILE];
    constexpr unsigned BYTES = sizeof(T) * TILE;
    constexpr unsigned COPIES = BYTES / UNIT; // threads that copy
    const unsigned rank = threadIdx.x;
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0][0])) + rank * UNIT;

    const unsigned long long all = tiles(in[0]), whole = in[0].len / TILE;
    const char *source[INPUTS];
#pragma unroll
    for (unsigned input = 0; input < INPUTS; ++input) {
        source[input] = reinterpret_cast<const char *>(in[input].base) + rank * UNIT;
    }
    const auto fetch = [&](unsigned long long tile, unsigned stage) {
        if (tile < all && (COPIES == TILE || rank < COPIES)) {
            const unsigned stage_target = target + stage * (INPUTS * BYTES);
            if (tile < whole) {
#pragma unroll
                for (unsigned input = 0; input < INPUTS; ++input) {
                    copy<UNIT>(stage_target + input * BYTES, source[input] + tile * BYTES);
                }
            } else {
                const int exist = int(elements(in[0], tile * TILE) * sizeof(T)) - int(rank * UNIT);
                const unsigned bytes = unsigned(min(max(exist, 0), int(UNIT)));
#pragma unroll
                for (unsigned input = 0; input < INPUTS; ++input) {
                    copy<UNIT>(stage_target + input * BYTES, source[input] + tile * BYTES, bytes);
                }
            }
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };

    const unsigned long long step = gridDim.x;
    unsigned long long ahead = blockIdx.x;
#pragma unroll
    for (unsigned stage = 0; stage + 1 < STAGES; ++stage, ahead += step) fetch(ahead, stage);

    unsigned full = 0, empty = STAGES - 1;
    for (unsigned long long tile = blockIdx.x; tile < all; tile += step, ahead += step) {
        if constexpr (EAGER) {
            __syncthreads();
            fetch(ahead, empty);
            wait_group<STAGES - 1>();
            __syncthreads();
        } else {
            wait_group<int(STAGES) - 2>();
            __syncthreads();
            fetch(ahead, empty);
        }
        empty = empty + 1 == STAGES ? 0 : empty + 1;
        const unsigned long long element = tile * TILE + rank;
        // With one input, both are the same tile.
        if (element < out.len) out.base[element] = compute(stages[full][0], stages[full][INPUTS - 1]);
        full = full + 1 == STAGES ? 0 : full + 1;
    }
}

template <class T, unsigned STAGES, bool EAGER, unsigned UNIT = 16>
__device__ __forceinline__ void by_hand(const View<T> in, const View<T> out) {
    const View<T> inputs[] = {in};
    stream<T, STAGES, EAGER, UNIT>(inputs, out);
}

template <class T, unsigned STAGES, bool EAGER>
__device__ __forceinline__ void two_by_hand(const View<T> left, const View<T> right, const View<T> out) {
    const View<T> inputs[] = {left, right};
    stream<T, STAGES, EAGER, 16>(inputs, out);
}

// Each thread copies its own element and reads no other, so that there is no barrier: its slot is
// free as soon as it has read it, and STAGES elements a thread are in flight at every wait.
template <class T, unsigned STAGES> __device__ __forceinline__ void own_by_hand(const View<T> in, const View<T> out) {
    __shared__ alignas(16) T stages[STAGES][TILE];
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][threadIdx.x]));
    const unsigned long long step = (unsigned long long)gridDim.x * TILE;
    const auto fetch = [&](unsigned long long element, unsigned stage) {
        if (element < in.len) {
            copy<sizeof(T)>(target + stage * sizeof(stages[0]), reinterpret_cast<const char *>(in.base + element));
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };

    const unsigned long long first = (unsigned long long)blockIdx.x * TILE + threadIdx.x;
    unsigned long long ahead = first;
#pragma unroll
    for (unsigned stage = 0; stage < STAGES; ++stage, ahead += step) fetch(ahead, stage);

    unsigned stage = 0;
    for (unsigned long long element = first; element < in.len; element += step, ahead += step) {
        wait_group<STAGES - 1>();
        const T value = stages[stage][threadIdx.x];
        fetch(ahead, stage);
        if (element < out.len) out.base[element] = triple(value);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
}
