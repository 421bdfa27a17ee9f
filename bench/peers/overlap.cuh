// Peers with a tunable amount of arithmetic on each element: tiles of 2048, of which each thread
// works on eight.
#pragma once

#include "by_hand.cuh"
#include "guide.cuh"

constexpr unsigned LONG = 2048;

// Computes on a tile that is in shared memory: ROUNDS fused multiply-adds on each element and its
// right neighbour. All threads call it; a thread's eight elements go through a round together, so
// that a step need not wait for the one before.
template <unsigned ROUNDS>
__device__ __forceinline__ void chain_tile(const View<float> &out, unsigned long long index, const float *tile) {
    constexpr unsigned COUNT = LONG / TILE;
    float values[COUNT], next[COUNT];
#pragma unroll
    for (unsigned nth = 0; nth < COUNT; ++nth) {
        const unsigned element = threadIdx.x + nth * TILE;
        values[nth] = tile[element];
        next[nth] = tile[(element + 1) % LONG];
    }
    for (int round = 0; round < int(ROUNDS); ++round) {
#pragma unroll
        for (unsigned nth = 0; nth < COUNT; ++nth) values[nth] = fmaf(values[nth], 0.75f, next[nth]);
    }
    const unsigned long long start = index * LONG + threadIdx.x;
#pragma unroll
    for (unsigned nth = 0; nth < COUNT; ++nth) {
        if (start + nth * TILE < out.len) out.base[start + nth * TILE] = values[nth];
    }
}

// Loads a tile, of which nobody may still read; what lies past the end is zero.
__device__ __forceinline__ void load_long(const View<float> &in, unsigned long long index, float *tile) {
    const unsigned long long start = index * LONG + threadIdx.x;
    constexpr unsigned COUNT = LONG / TILE;
    float values[COUNT];
    if (index < in.len / LONG) {
        // All loads of a whole tile are under way at once.
#pragma unroll
        for (unsigned nth = 0; nth < COUNT; ++nth) values[nth] = in.base[start + nth * TILE];
    } else {
#pragma unroll
        for (unsigned nth = 0; nth < COUNT; ++nth) {
            values[nth] = start + nth * TILE < in.len ? in.base[start + nth * TILE] : 0.0f;
        }
    }
#pragma unroll
    for (unsigned nth = 0; nth < COUNT; ++nth) tile[threadIdx.x + nth * TILE] = values[nth];
}

// Load, barrier, compute, barrier.
template <unsigned ROUNDS> __device__ __forceinline__ void chain_plain(const View<float> in, const View<float> out) {
    __shared__ alignas(16) float tile[LONG];
    for (unsigned long long i = blockIdx.x; i < tiles<LONG>(in); i += gridDim.x) {
        load_long(in, i, tile);
        __syncthreads();
        chain_tile<ROUNDS>(out, i, tile);
        __syncthreads();
    }
}

// cuda::pipeline in block scope, all threads in one role.
template <unsigned ROUNDS, unsigned STAGES>
__device__ __forceinline__ void chain_pipeline(const View<float> in, const View<float> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) float stages[STAGES][LONG];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);

    const Batches<LONG> batches(in);
    for (unsigned long long compute_batch = 0, fetch_batch = 0; compute_batch < batches.count; ++compute_batch) {
        for (; fetch_batch < batches.count && fetch_batch < compute_batch + STAGES; ++fetch_batch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stages[fetch_batch % STAGES], in.base + batches.start(fetch_batch),
                               cuda::aligned_size_t<16>(sizeof(float) * LONG), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        chain_tile<ROUNDS>(out, batches.start(compute_batch) / LONG, stages[compute_batch % STAGES]);
        pipe.consumer_release();
    }
    if (batches.last(in)) {
        block.sync();
        load_long(in, batches.whole, stages[0]);
        block.sync();
        chain_tile<ROUNDS>(out, batches.whole, stages[0]);
    }
}

// cp.async by hand: STAGES - 1 tiles in flight while one is worked on, one barrier for each tile.
template <unsigned ROUNDS, unsigned STAGES>
__device__ __forceinline__ void chain_by_hand(const View<float> in, const View<float> out) {
    __shared__ alignas(16) float stages[STAGES][LONG];
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0])) + threadIdx.x * 16;
    constexpr unsigned BYTES = LONG * sizeof(float), STEP = TILE * 16;
    const unsigned long long whole = in.len / LONG, step = gridDim.x;
    const auto fetch = [&](unsigned long long tile, unsigned stage) {
        if (tile < whole) {
            const char *const source = reinterpret_cast<const char *>(in.base) + tile * BYTES + threadIdx.x * 16;
#pragma unroll
            for (unsigned at = 0; at < BYTES; at += STEP) copy<16>(target + stage * BYTES + at, source + at);
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };
    unsigned long long ahead = blockIdx.x;
#pragma unroll
    for (unsigned stage = 0; stage + 1 < STAGES; ++stage, ahead += step) fetch(ahead, stage);
    unsigned full = 0, empty = STAGES - 1;
    for (unsigned long long tile = blockIdx.x; tile < whole; tile += step, ahead += step) {
        wait_group<int(STAGES) - 2>();
        __syncthreads();
        fetch(ahead, empty);
        empty = empty + 1 == STAGES ? 0 : empty + 1;
        chain_tile<ROUNDS>(out, tile, stages[full]);
        full = full + 1 == STAGES ? 0 : full + 1;
    }
    if (whole < tiles<LONG>(in) && whole % step == blockIdx.x) {
        __syncthreads();
        load_long(in, whole, stages[0]);
        __syncthreads();
        chain_tile<ROUNDS>(out, whole, stages[0]);
    }
}
