// Peers over the CUDA libraries: the programming guide's code, with cuda::pipeline and with
// cooperative groups.
//
// Whole tiles go through the asynchronous copies, as in the guide; a partial last one follows
// without (`plain_tile`).
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>

#include "plain.cuh"

namespace cg = cooperative_groups;

// The shared state of a pipeline has a constructor that does nothing; the guide silences this
// warning as well.
#pragma nv_diag_suppress static_var_with_dynamic_init

// The whole tiles of LEN elements of this block, counted in batches.
template <unsigned LEN = TILE> struct Batches {
    unsigned long long whole, count;

    template <class T> __device__ __forceinline__ explicit Batches(const View<T> &view) {
        const unsigned long long first = blockIdx.x, step = gridDim.x;
        whole = view.len / LEN;
        count = first < whole ? (whole - first + step - 1) / step : 0;
    }

    // The first element of a batch.
    __device__ __forceinline__ unsigned long long start(unsigned long long batch) const {
        const unsigned long long first = blockIdx.x, step = gridDim.x;
        return (first + batch * step) * LEN;
    }

    // Whether a partial last tile follows, and belongs to this block.
    template <class T> __device__ __forceinline__ bool last(const View<T> &view) const {
        return whole < tiles<LEN>(view) && whole % gridDim.x == blockIdx.x;
    }
};

// The guide's with_staging_unified: cuda::pipeline in block scope, all threads in one role.
template <class T, unsigned STAGES> __device__ __forceinline__ void pipeline(const View<T> in, const View<T> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) T stages[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);

    const Batches<> batches(in);
    for (unsigned long long compute_batch = 0, fetch_batch = 0; compute_batch < batches.count; ++compute_batch) {
        for (; fetch_batch < batches.count && fetch_batch < compute_batch + STAGES; ++fetch_batch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stages[fetch_batch % STAGES], in.base + batches.start(fetch_batch),
                               sizeof(T) * block.size(), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out.base[batches.start(compute_batch) + threadIdx.x] = compute(stages[compute_batch % STAGES]);
        pipe.consumer_release();
    }
    if (batches.last(in)) {
        block.sync();
        plain_tile(in, out, batches.whole, stages[0]);
    }
}

// The guide's with_staging_scope_thread: cuda::pipeline in thread scope, each thread copies its own
// element.
//
// OWN = false is the kernel as the guide prints it, and it RACES: its one barrier stands before
// `compute`, so a fast thread fills a stage again while a slow one still reads it. Its results may
// be wrong (thread_scope_race.cu shows it).
//
// OWN = true reads only what the same thread copied, which is right and takes no barrier.
template <class T, unsigned STAGES, bool OWN>
__device__ __forceinline__ void thread_scope(const View<T> in, const View<T> out) {
    const auto block = cg::this_thread_block();
    const auto thread = cg::this_thread();
    __shared__ alignas(16) T stages[STAGES][TILE];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();

    const Batches<> batches(in);
    for (unsigned long long compute_batch = 0, fetch_batch = 0; compute_batch < batches.count; ++compute_batch) {
        for (; fetch_batch < batches.count && fetch_batch < compute_batch + STAGES; ++fetch_batch) {
            pipe.producer_acquire();
            cuda::memcpy_async(thread, stages[fetch_batch % STAGES] + threadIdx.x,
                               in.base + batches.start(fetch_batch) + threadIdx.x, sizeof(T), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const T *const tile = stages[compute_batch % STAGES];
        const unsigned long long element = batches.start(compute_batch) + threadIdx.x;
        if constexpr (OWN) {
            out.base[element] = triple(tile[threadIdx.x]);
        } else {
            block.sync();
            out.base[element] = compute(tile);
        }
        pipe.consumer_release();
    }
    if (!batches.last(in)) return;
    if constexpr (OWN) {
        const unsigned long long element = batches.whole * TILE + threadIdx.x;
        if (element < out.len) out.base[element] = triple(in.base[element]);
    } else {
        block.sync();
        plain_tile(in, out, batches.whole, stages[0]);
    }
}

// The guide's with_memcpy_async: one buffer, which cooperative groups fill and wait for.
template <class T> __device__ __forceinline__ void memcpy_async(const View<T> in, const View<T> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) T tile[TILE];
    const Batches<> batches(in);
    for (unsigned long long batch = 0; batch < batches.count; ++batch) {
        cg::memcpy_async(block, tile, in.base + batches.start(batch), sizeof(T) * block.size());
        cg::wait(block);
        out.base[batches.start(batch) + threadIdx.x] = compute(tile);
        block.sync();
    }
    if (batches.last(in)) plain_tile(in, out, batches.whole, tile);
}

// The same with two buffers: the next batch is copied while this one is computed on, and wait_prior
// leaves it in flight.
template <class T> __device__ __forceinline__ void memcpy_async_prior(const View<T> in, const View<T> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) T buffers[2][TILE];
    const Batches<> batches(in);
    const auto fetch = [&](unsigned long long batch) {
        cg::memcpy_async(block, buffers[batch % 2], in.base + batches.start(batch), sizeof(T) * block.size());
    };
    if (batches.count > 0) fetch(0);
    for (unsigned long long batch = 0; batch < batches.count; ++batch) {
        if (batch + 1 < batches.count) {
            fetch(batch + 1);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        out.base[batches.start(batch) + threadIdx.x] = compute(buffers[batch % 2]);
        block.sync();
    }
    if (batches.last(in)) plain_tile(in, out, batches.whole, buffers[0]);
}

// libcu++'s example_kernel: two inputs of one length in every stage of a pipeline in block scope, 2
// stages.
template <class T> __device__ __forceinline__ void example(const View<T> left, const View<T> right, const View<T> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) T stages[2][2][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);

    const Batches<> batches(left);
    const auto fetch = [&](unsigned long long batch) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, stages[batch % 2][0], left.base + batches.start(batch), sizeof(T) * block.size(), pipe);
        cuda::memcpy_async(block, stages[batch % 2][1], right.base + batches.start(batch), sizeof(T) * block.size(), pipe);
        pipe.producer_commit();
    };
    const auto finish = [&](unsigned long long batch) {
        pipe.consumer_wait();
        out.base[batches.start(batch) + threadIdx.x] = compute(stages[batch % 2][0], stages[batch % 2][1]);
        pipe.consumer_release();
    };
    if (batches.count > 0) {
        fetch(0);
        for (unsigned long long batch = 1; batch < batches.count; ++batch) {
            fetch(batch);
            finish(batch - 1);
        }
        finish(batches.count - 1);
    }
    if (batches.last(left)) {
        block.sync();
        const unsigned long long element = batches.whole * TILE + threadIdx.x;
        stages[0][1][threadIdx.x] = element < right.len ? right.base[element] : T{};
        plain_tile(left, out, batches.whole, stages[0][0], stages[0][1]);
    }
}
