// Peers as an expert writes them where some threads copy and the others compute: cp.async and
// mbarriers by hand.
#pragma once

#include "by_hand.cuh"
#include "role.cuh"

// Makes a barrier whose phases complete with `count` arrivals.
__device__ __forceinline__ void mbarrier_init(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// Waits until the phase of this parity has completed; the phase before a barrier's first has
// parity 1.
__device__ __forceinline__ void mbarrier_wait(unsigned barrier, unsigned parity) {
    unsigned complete;
    do {
        asm volatile("{\n\t"
                     ".reg .pred complete;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, complete;\n\t"
                     "}"
                     : "=r"(complete)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!complete);
}

__device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Orders what this thread has read and written of shared memory before the copy engine's accesses
// that follow.
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Arrives when all copies that this thread has started so far have landed: at once if there are
// none.
__device__ __forceinline__ void mbarrier_arrive_after_copies(unsigned barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

enum class Arrivals {
    THREADS, // every consumer arrives
    WARPS,   // one lane arrives for each warp of consumers, after a barrier of the warp
};

// Two barriers for each stage: `full` for its tile to land, `empty` for all consumers to have read
// it.
//
// The producers copy UNIT bytes each: 16, for which the first of them copy all of an int tile, or
// sizeof(T), for which each copies one element. All of them arrive. Consumers arrive as soon as
// they have read what they need.
template <class T, unsigned STAGES, Roles ROLES, Arrivals ARRIVALS, unsigned UNIT = 16>
__device__ __forceinline__ void roles_by_hand(const View<T> in, const View<T> out) {
    static_assert(ARRIVALS == Arrivals::THREADS || ROLES == Roles::WARPS, "only whole warps arrive together");
    __shared__ alignas(16) T stages[STAGES][ROLE];
    __shared__ unsigned long long full_barriers[STAGES], empty_barriers[STAGES];
    constexpr unsigned BYTES = sizeof(T) * ROLE;
    constexpr unsigned COPIES = BYTES / UNIT; // producers that copy
    constexpr unsigned RELEASES = ARRIVALS == Arrivals::WARPS ? ROLE / 32 : ROLE;
    const Role<ROLES> role;
    const unsigned full = unsigned(__cvta_generic_to_shared(full_barriers));
    const unsigned empty = unsigned(__cvta_generic_to_shared(empty_barriers));

    if (threadIdx.x == 0) {
#pragma unroll
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(full + stage * 8, ROLE);
            mbarrier_init(empty + stage * 8, RELEASES);
        }
    }
    __syncthreads();

    const unsigned long long all = tiles<ROLE>(in), step = gridDim.x;
    unsigned stage = 0;
    if (role.producer) {
        const unsigned long long whole = in.len / ROLE;
        const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0])) + role.rank * UNIT;
        const char *const source = reinterpret_cast<const char *>(in.base) + role.rank * UNIT;
        unsigned parity = 1; // every stage is empty at first
        for (unsigned long long tile = blockIdx.x; tile < all; tile += step) {
            mbarrier_wait(empty + stage * 8, parity);
            if (COPIES == ROLE || role.rank < COPIES) {
                if (tile < whole) {
                    copy<UNIT>(target + stage * BYTES, source + tile * BYTES);
                } else {
                    const int exist = int(elements<ROLE>(in, tile * ROLE) * sizeof(T)) - int(role.rank * UNIT);
                    const unsigned bytes = unsigned(min(max(exist, 0), int(UNIT)));
                    copy<UNIT>(target + stage * BYTES, source + tile * BYTES, bytes);
                }
            }
            mbarrier_arrive_after_copies(full + stage * 8);
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    } else {
        unsigned parity = 0;
        for (unsigned long long tile = blockIdx.x; tile < all; tile += step) {
            mbarrier_wait(full + stage * 8, parity);
            const T value = neighbour_sum<ROLE>(stages[stage], stages[stage], role.rank);
            if constexpr (ARRIVALS == Arrivals::WARPS) {
                __syncwarp();
                if (role.rank % 32 == 0) mbarrier_arrive(empty + stage * 8);
            } else {
                mbarrier_arrive(empty + stage * 8);
            }
            const unsigned long long element = tile * ROLE + role.rank;
            if (element < out.len) out.base[element] = value;
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    }
}
