// Peers over cuda::pipeline in block scope where some threads copy and the others compute.
//
// Each producer copies one element of a tile of ROLE elements, and each consumer computes one.
// Whole tiles go through the asynchronous copies; a partial last one follows without
// (`plain_tile`).
#pragma once

#include "guide.cuh"
#include "role.cuh"

// The guide's with_specialized_staging_unified: one loop for both roles.
//
// The guide's compute gets one element. Here each consumer reads its right neighbour's as well,
// like all kernels that are compared: consumer_wait has waited for the copies of all producers.
template <class T, unsigned STAGES, Roles ROLES>
__device__ __forceinline__ void specialized_unified(const View<T> in, const View<T> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) T stages[STAGES][ROLE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const Role<ROLES> role;
    const auto thread_role = role.producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, thread_role);

    const Batches<ROLE> batches(in);
    for (unsigned long long compute_batch = 0, fetch_batch = 0; compute_batch < batches.count; ++compute_batch) {
        for (; fetch_batch < batches.count && fetch_batch < compute_batch + STAGES; ++fetch_batch) {
            if (thread_role == cuda::pipeline_role::producer) {
                pipe.producer_acquire();
                cuda::memcpy_async(stages[fetch_batch % STAGES] + role.rank,
                                   in.base + batches.start(fetch_batch) + role.rank, sizeof(T), pipe);
                pipe.producer_commit();
            }
        }
        if (thread_role == cuda::pipeline_role::consumer) {
            pipe.consumer_wait();
            const T *const tile = stages[compute_batch % STAGES];
            out.base[batches.start(compute_batch) + role.rank] = neighbour_sum<ROLE>(tile, tile, role.rank);
            pipe.consumer_release();
        }
    }
    if (batches.last(in)) {
        block.sync();
        plain_tile<ROLE>(in, out, batches.whole, stages[0]);
    }
}

// The same with a loop for each role.
template <class T, unsigned STAGES, Roles ROLES>
__device__ __forceinline__ void specialized(const View<T> in, const View<T> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) T stages[STAGES][ROLE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const Role<ROLES> role;
    auto pipe = cuda::make_pipeline(block, &state,
                                    role.producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);

    const Batches<ROLE> batches(in);
    if (role.producer) {
        for (unsigned long long batch = 0; batch < batches.count; ++batch) {
            pipe.producer_acquire();
            cuda::memcpy_async(stages[batch % STAGES] + role.rank, in.base + batches.start(batch) + role.rank, sizeof(T),
                               pipe);
            pipe.producer_commit();
        }
    } else {
        for (unsigned long long batch = 0; batch < batches.count; ++batch) {
            pipe.consumer_wait();
            const T *const tile = stages[batch % STAGES];
            out.base[batches.start(batch) + role.rank] = neighbour_sum<ROLE>(tile, tile, role.rank);
            pipe.consumer_release();
        }
    }
    if (batches.last(in)) {
        block.sync();
        plain_tile<ROLE>(in, out, batches.whole, stages[0]);
    }
}
