// Two roles whose consumers have PER ints each: PRODUCERS threads copy the tiles, 16 bytes a copy,
// on which CONSUMERS compute.
#pragma once

#include "guide_roles.cuh"
#include "wide.cuh"

// This thread's role, and its rank among the threads that have it.
template <unsigned PRODUCERS, Roles ROLES> struct WideRole {
    bool producer;
    unsigned rank;

    __device__ __forceinline__ WideRole() {
        if constexpr (ROLES == Roles::EVEN_ODD) {
            producer = threadIdx.x % 2 == 0;
            rank = threadIdx.x / 2;
        } else {
            producer = threadIdx.x < PRODUCERS;
            rank = producer ? threadIdx.x : threadIdx.x - PRODUCERS;
        }
    }
};

// Two mbarriers for each stage, by hand; every consumer hands a stage back.
template <unsigned PRODUCERS, unsigned CONSUMERS, unsigned PER, unsigned STAGES, Roles ROLES>
__device__ __forceinline__ void wide_roles_by_hand(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = CONSUMERS * PER, UNITS = LEN / 4;
    __shared__ alignas(16) int stages[STAGES][LEN];
    __shared__ unsigned long long full_barriers[STAGES], empty_barriers[STAGES];
    const WideRole<PRODUCERS, ROLES> role;
    const unsigned full = unsigned(__cvta_generic_to_shared(full_barriers));
    const unsigned empty = unsigned(__cvta_generic_to_shared(empty_barriers));
    if (threadIdx.x == 0) {
#pragma unroll
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(full + stage * 8, PRODUCERS);
            mbarrier_init(empty + stage * 8, CONSUMERS);
        }
    }
    __syncthreads();

    const WholeTiles<LEN> tiles(in);
    unsigned stage = 0, parity = role.producer ? 1 : 0; // every stage is empty at first
    if (role.producer) {
        const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0])) + role.rank * 16;
        for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
            const char *source = reinterpret_cast<const char *>(in.base + (unsigned long long)tile * LEN) + role.rank * 16;
            mbarrier_wait(empty + stage * 8, parity);
#pragma unroll
            for (unsigned unit = 0; unit < UNITS / PRODUCERS; ++unit) {
                copy<16>(target + stage * LEN * 4 + unit * PRODUCERS * 16, source + unit * PRODUCERS * 16);
            }
            mbarrier_arrive_after_copies(full + stage * 8);
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    } else {
        for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
            mbarrier_wait(full + stage * 8, parity);
            int4 values[PER / 4];
#pragma unroll
            for (unsigned row = 0; row < PER / 4; ++row) {
                values[row] = neighbour_sums(stages[stage], stages[stage], 4 * (role.rank + row * CONSUMERS));
            }
            mbarrier_arrive(empty + stage * 8);
#pragma unroll
            for (unsigned row = 0; row < PER / 4; ++row) {
                reinterpret_cast<int4 *>(out.base + (unsigned long long)tile * LEN)[role.rank + row * CONSUMERS] = values[row];
            }
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    }
    last_tile<PRODUCERS + CONSUMERS, LEN>(in, in, out);
}

// cuda::pipeline with a loop for each role.
template <unsigned PRODUCERS, unsigned CONSUMERS, unsigned PER, unsigned STAGES, Roles ROLES>
__device__ __forceinline__ void wide_roles_pipeline(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = CONSUMERS * PER, UNITS = LEN / 4;
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) int stages[STAGES][LEN];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const WideRole<PRODUCERS, ROLES> role;
    auto pipe = cuda::make_pipeline(block, &state,
                                    role.producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const WholeTiles<LEN> tiles(in);
    unsigned stage = 0;
    if (role.producer) {
        for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
            pipe.producer_acquire();
#pragma unroll
            for (unsigned unit = 0; unit < UNITS / PRODUCERS; ++unit) {
                const unsigned own = 4 * (role.rank + unit * PRODUCERS);
                cuda::memcpy_async(stages[stage] + own, in.base + (unsigned long long)tile * LEN + own,
                                   cuda::aligned_size_t<16>(16), pipe);
            }
            pipe.producer_commit();
            stage = stage + 1 == STAGES ? 0 : stage + 1;
        }
    } else {
        for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
            pipe.consumer_wait();
            compute_tile<CONSUMERS, LEN>(stages[stage], stages[stage], out.base + (unsigned long long)tile * LEN, role.rank);
            pipe.consumer_release();
            stage = stage + 1 == STAGES ? 0 : stage + 1;
        }
    }
    last_tile<PRODUCERS + CONSUMERS, LEN>(in, in, out);
}
