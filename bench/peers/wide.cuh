// Peers whose threads have PER ints each, in a row of four: 16 bytes a load, a copy and a store.
//
// A tile is THREADS * PER ints. Whole tiles go through the loop, whose bounds are hoisted; the
// partial last one follows (`last_tile`). What is computed does not depend on the tile: 3 * x[i] +
// x[next], where next is the following int in a group of TILE, the last one's being the group's
// first.
#pragma once

#include "by_hand.cuh"
// What is by hand compiles without CUDA's libraries, whose headers take the compiler's time.
#ifndef WITHOUT_LIBRARIES
#include "guide.cuh"
#endif
#include "roles_by_hand.cuh"

// The int after one in its group.
__device__ __forceinline__ unsigned next_in_group(unsigned index) { return (index & ~(TILE - 1)) | ((index + 1) & (TILE - 1)); }

// Four ints in a row of `left`, with those of `right` after each of them.
__device__ __forceinline__ int4 neighbour_sums(const int *left, const int *right, unsigned index) {
    const int4 own = reinterpret_cast<const int4 *>(left)[index / 4];
    const int4 others = left == right ? own : reinterpret_cast<const int4 *>(right)[index / 4];
    const int last = right[next_in_group(index + 3)];
    return make_int4(plus(triple(own.x), others.y), plus(triple(own.y), others.z), plus(triple(own.z), others.w),
                     plus(triple(own.w), last));
}

// Computes on a whole tile of LEN ints, WORKERS threads, each on every WORKERS-th row of four.
template <unsigned WORKERS, unsigned LEN>
__device__ __forceinline__ void compute_tile(const int *left, const int *right, int *out, unsigned rank) {
#pragma unroll
    for (unsigned row = 0; row < LEN / 4 / WORKERS; ++row) {
        const unsigned index = 4 * (rank + row * WORKERS);
        reinterpret_cast<int4 *>(out)[index / 4] = neighbour_sums(left, right, index);
    }
}

// The partial last tile of LEN ints, if there is one and it is this block's.
template <unsigned THREADS, unsigned LEN>
__device__ __forceinline__ void last_tile(const View<int> &left, const View<int> &right, const View<int> &out) {
    const unsigned long long whole = left.len / LEN;
    if (whole * LEN == left.len || whole % gridDim.x != blockIdx.x) return;
    for (unsigned long long at = whole * LEN + threadIdx.x; at < left.len; at += THREADS) {
        const unsigned long long next = at / TILE * TILE + (at + 1) % TILE;
        out.base[at] = plus(triple(left.base[at]), next < right.len ? right.base[next] : 0);
    }
}

// The whole tiles of this block, one after the other, with numbers of 32 bits.
template <unsigned LEN> struct WholeTiles {
    unsigned end, step;

    __device__ __forceinline__ explicit WholeTiles(const View<int> &view) : end(unsigned(view.len / LEN)), step(gridDim.x) {}
};

// Without shared memory.
template <unsigned THREADS, unsigned PER>
__device__ __forceinline__ void wide_vector(const View<int> left, const View<int> right, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    const WholeTiles<LEN> tiles(left);
    for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
        const unsigned long long start = (unsigned long long)tile * LEN;
        compute_tile<THREADS, LEN>(left.base + start, right.base + start, out.base + start, threadIdx.x);
    }
    last_tile<THREADS, LEN>(left, right, out);
}

// cp.async by hand. FILL_FIRST: STAGES tiles are in flight at each wait, and a round has two
// barriers; else STAGES - 1 are, and it has one.
template <unsigned THREADS, unsigned PER, unsigned STAGES, bool FILL_FIRST, unsigned INPUTS>
__device__ __forceinline__ void wide_by_hand(const View<int> (&in)[INPUTS], const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    __shared__ alignas(16) int stages[STAGES][INPUTS][LEN];
    const WholeTiles<LEN> tiles(in[0]);
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0][0])) + threadIdx.x * 16;
    const auto fetch = [&](unsigned tile, unsigned stage) {
        if (tile < tiles.end) {
#pragma unroll
            for (unsigned input = 0; input < INPUTS; ++input) {
                const char *source = reinterpret_cast<const char *>(in[input].base + (unsigned long long)tile * LEN);
#pragma unroll
                for (unsigned row = 0; row < PER / 4; ++row) {
                    copy<16>(target + (stage * INPUTS + input) * LEN * 4 + row * THREADS * 16,
                             source + (threadIdx.x + row * THREADS) * 16);
                }
            }
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };

    unsigned ahead = blockIdx.x, full = 0, empty = FILL_FIRST ? 0 : STAGES - 1;
#pragma unroll
    for (unsigned stage = 0; stage < (FILL_FIRST ? STAGES : STAGES - 1); ++stage, ahead += tiles.step) fetch(ahead, stage);
    for (unsigned tile = blockIdx.x; tile < tiles.end; ahead += tiles.step) {
        wait_group < FILL_FIRST ? int(STAGES) - 1 : (STAGES > 2 ? int(STAGES) - 2 : 0) > ();
        __syncthreads();
        if constexpr (!FILL_FIRST) {
            fetch(ahead, empty);
            empty = empty + 1 == STAGES ? 0 : empty + 1;
        }
        compute_tile<THREADS, LEN>(stages[full][0], stages[full][INPUTS - 1], out.base + (unsigned long long)tile * LEN,
                                   threadIdx.x);
        full = full + 1 == STAGES ? 0 : full + 1;
        tile += tiles.step;
        if constexpr (FILL_FIRST) {
            if (tile >= tiles.end) break;
            __syncthreads();
            fetch(ahead, empty);
            empty = empty + 1 == STAGES ? 0 : empty + 1;
        }
    }
    last_tile<THREADS, LEN>(in[0], in[INPUTS - 1], out);
}

template <unsigned THREADS, unsigned PER, unsigned STAGES, bool FILL_FIRST>
__device__ __forceinline__ void wide_by_hand(const View<int> in, const View<int> out) {
    const View<int> inputs[] = {in};
    wide_by_hand<THREADS, PER, STAGES, FILL_FIRST>(inputs, out);
}

template <unsigned THREADS, unsigned PER, unsigned STAGES, bool FILL_FIRST>
__device__ __forceinline__ void wide_by_hand(const View<int> left, const View<int> right, const View<int> out) {
    const View<int> inputs[] = {left, right};
    wide_by_hand<THREADS, PER, STAGES, FILL_FIRST>(inputs, out);
}

// Starts a bulk copy of so many bytes, which the mbarrier counts.
__device__ __forceinline__ void bulk_copy(unsigned target, const void *source, unsigned bytes, unsigned barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target),
                 "l"(source), "r"(bytes), "r"(barrier)
                 : "memory");
}

// Bulk copies: one thread starts the copy of a tile, and an mbarrier for each stage counts its
// bytes.
template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void wide_bulk(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER, BYTES = LEN * 4;
    __shared__ alignas(128) int stages[STAGES][LEN];
    __shared__ unsigned long long barriers[STAGES];
    const WholeTiles<LEN> tiles(in);
    const unsigned first = unsigned(__cvta_generic_to_shared(&stages[0][0]));
    const unsigned full_barriers = unsigned(__cvta_generic_to_shared(barriers));
    if (threadIdx.x == 0) {
#pragma unroll
        for (unsigned stage = 0; stage < STAGES; ++stage) mbarrier_init(full_barriers + stage * 8, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const auto fetch = [&](unsigned tile, unsigned stage) {
        if (threadIdx.x != 0 || tile >= tiles.end) return;
        bulk_copy(first + stage * BYTES, in.base + (unsigned long long)tile * LEN, BYTES, full_barriers + stage * 8);
    };

    unsigned ahead = blockIdx.x, stage = 0, parity = 0;
    for (unsigned filled = 0; filled < STAGES; ++filled, ahead += tiles.step) fetch(ahead, filled);
    for (unsigned tile = blockIdx.x; tile < tiles.end; ahead += tiles.step) {
        mbarrier_wait(full_barriers + stage * 8, parity);
        compute_tile<THREADS, LEN>(stages[stage], stages[stage], out.base + (unsigned long long)tile * LEN, threadIdx.x);
        tile += tiles.step;
        if (tile >= tiles.end) break;
        __syncthreads();
        fetch(ahead, stage);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    last_tile<THREADS, LEN>(in, in, out);
}

#ifndef WITHOUT_LIBRARIES
// cuda::pipeline in block scope, with copies that are known to be aligned and without a modulo.
template <unsigned THREADS, unsigned PER, unsigned STAGES, unsigned INPUTS>
__device__ __forceinline__ void wide_pipeline(const View<int> (&in)[INPUTS], const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) int stages[STAGES][INPUTS][LEN];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);

    const WholeTiles<LEN> tiles(in[0]);
    unsigned ahead = blockIdx.x, full = 0, empty = 0, in_flight = 0;
    for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
        for (; in_flight < STAGES && ahead < tiles.end; ahead += tiles.step, ++in_flight) {
            pipe.producer_acquire();
#pragma unroll
            for (unsigned input = 0; input < INPUTS; ++input) {
                cuda::memcpy_async(block, stages[empty][input], in[input].base + (unsigned long long)ahead * LEN,
                                   cuda::aligned_size_t<16>(sizeof(int) * LEN), pipe);
            }
            pipe.producer_commit();
            empty = empty + 1 == STAGES ? 0 : empty + 1;
        }
        pipe.consumer_wait();
        compute_tile<THREADS, LEN>(stages[full][0], stages[full][INPUTS - 1], out.base + (unsigned long long)tile * LEN,
                                   threadIdx.x);
        pipe.consumer_release();
        full = full + 1 == STAGES ? 0 : full + 1;
        --in_flight;
    }
    last_tile<THREADS, LEN>(in[0], in[INPUTS - 1], out);
}

template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void wide_pipeline(const View<int> in, const View<int> out) {
    const View<int> inputs[] = {in};
    wide_pipeline<THREADS, PER, STAGES>(inputs, out);
}

template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void wide_pipeline(const View<int> left, const View<int> right, const View<int> out) {
    const View<int> inputs[] = {left, right};
    wide_pipeline<THREADS, PER, STAGES>(inputs, out);
}

// Cooperative groups: one buffer and wait, or two and wait_prior.
template <unsigned THREADS, unsigned PER, unsigned BUFFERS>
__device__ __forceinline__ void wide_groups(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) int buffers[BUFFERS][LEN];
    const WholeTiles<LEN> tiles(in);
    const auto fetch = [&](unsigned tile, unsigned buffer) {
        cg::memcpy_async(block, buffers[buffer], in.base + (unsigned long long)tile * LEN,
                         cuda::aligned_size_t<16>(sizeof(int) * LEN));
    };
    unsigned buffer = 0;
    if (BUFFERS == 2 && blockIdx.x < tiles.end) fetch(blockIdx.x, 0);
    for (unsigned tile = blockIdx.x; tile < tiles.end; tile += tiles.step) {
        if constexpr (BUFFERS == 1) {
            fetch(tile, 0);
            cg::wait(block);
        } else if (tile + tiles.step < tiles.end) {
            fetch(tile + tiles.step, buffer ^ 1);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        compute_tile<THREADS, LEN>(buffers[buffer], buffers[buffer], out.base + (unsigned long long)tile * LEN, threadIdx.x);
        block.sync();
        if constexpr (BUFFERS == 2) buffer ^= 1;
    }
    last_tile<THREADS, LEN>(in, in, out);
}
#endif
