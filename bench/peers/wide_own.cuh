// Three times each int, PER ints a thread: nobody reads what another thread copied.
#pragma once

#include "wide.cuh"

// The ints behind the whole tiles.
template <unsigned THREADS, unsigned LEN>
__device__ __forceinline__ void own_last_tile(const View<int> &in, const View<int> &out) {
    const unsigned long long whole = in.len / LEN;
    if (whole * LEN == in.len || whole % gridDim.x != blockIdx.x) return;
    for (unsigned long long at = whole * LEN + threadIdx.x; at < in.len; at += THREADS) out.base[at] = triple(in.base[at]);
}

// Without shared memory.
template <unsigned THREADS, unsigned PER> __device__ __forceinline__ void own_vector(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    const WholeTiles<LEN> tiles(in);
    for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
        const unsigned long long start = (unsigned long long)tile * LEN;
        int4 values[PER / 4];
#pragma unroll
        for (unsigned row = 0; row < PER / 4; ++row) {
            values[row] = reinterpret_cast<const int4 *>(in.base + start)[threadIdx.x + row * THREADS];
        }
#pragma unroll
        for (unsigned row = 0; row < PER / 4; ++row) {
            reinterpret_cast<int4 *>(out.base + start)[threadIdx.x + row * THREADS] = triple(values[row]);
        }
    }
    own_last_tile<THREADS, LEN>(in, out);
}

// cp.async by hand, each thread its own ints, without a barrier.
template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void own_wide_by_hand(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    __shared__ alignas(16) int stages[STAGES][LEN];
    const WholeTiles<LEN> tiles(in);
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0])) + threadIdx.x * 16;
    const auto fetch = [&](unsigned tile, unsigned stage) {
        if (tile < tiles.end) {
            const char *source = reinterpret_cast<const char *>(in.base + (unsigned long long)tile * LEN);
#pragma unroll
            for (unsigned row = 0; row < PER / 4; ++row) {
                copy<16>(target + stage * LEN * 4 + row * THREADS * 16, source + (threadIdx.x + row * THREADS) * 16);
            }
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };
    unsigned ahead = blockIdx.x, stage = 0;
#pragma unroll
    for (unsigned filled = 0; filled < STAGES; ++filled, ahead += tiles.step) fetch(ahead, filled);
    for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step, ahead += tiles.step) {
        wait_group<int(STAGES) - 1>();
        int4 values[PER / 4];
#pragma unroll
        for (unsigned row = 0; row < PER / 4; ++row) {
            values[row] = reinterpret_cast<const int4 *>(stages[stage])[threadIdx.x + row * THREADS];
        }
        fetch(ahead, stage);
#pragma unroll
        for (unsigned row = 0; row < PER / 4; ++row) {
            reinterpret_cast<int4 *>(out.base + (unsigned long long)tile * LEN)[threadIdx.x + row * THREADS] =
                triple(values[row]);
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    own_last_tile<THREADS, LEN>(in, out);
}

#ifndef WITHOUT_LIBRARIES
// cuda::pipeline in thread scope, 16 bytes a copy.
template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void own_wide_pipeline(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    const auto thread = cg::this_thread();
    __shared__ alignas(16) int stages[STAGES][LEN];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const WholeTiles<LEN> tiles(in);
    unsigned ahead = blockIdx.x, full = 0, empty = 0, in_flight = 0;
    for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
        for (; in_flight < STAGES && ahead < tiles.end; ahead += tiles.step, ++in_flight) {
            pipe.producer_acquire();
#pragma unroll
            for (unsigned row = 0; row < PER / 4; ++row) {
                const unsigned own = 4 * (threadIdx.x + row * THREADS);
                cuda::memcpy_async(thread, stages[empty] + own, in.base + (unsigned long long)ahead * LEN + own,
                                   cuda::aligned_size_t<16>(16), pipe);
            }
            pipe.producer_commit();
            empty = empty + 1 == STAGES ? 0 : empty + 1;
        }
        pipe.consumer_wait();
#pragma unroll
        for (unsigned row = 0; row < PER / 4; ++row) {
            const unsigned own = threadIdx.x + row * THREADS;
            reinterpret_cast<int4 *>(out.base + (unsigned long long)tile * LEN)[own] =
                triple(reinterpret_cast<const int4 *>(stages[full])[own]);
        }
        pipe.consumer_release();
        full = full + 1 == STAGES ? 0 : full + 1;
        --in_flight;
    }
    own_last_tile<THREADS, LEN>(in, out);
}
#endif
