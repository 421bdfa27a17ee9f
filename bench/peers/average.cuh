// The moving average, PER ints a thread in a row: the mean of each int and its RADIUS neighbours on
// either side; beyond the ends there are zeros.
//
// The tiles with all of their neighbours go through loops without bounds; the first one and the
// last ones follow (`average_edges`). A thread's sums follow from one another: the next window
// gains an int and loses one, which is exact for ints.
#pragma once

#include "wide.cuh"

static_assert(RADIUS == 8, "the windows of this file reach over two rows of four on either side");

__device__ __forceinline__ int minus(int a, int b) { return int(unsigned(a) - unsigned(b)); }
__device__ __forceinline__ int sum_of(int4 a) { return plus(plus(a.x, a.y), plus(a.z, a.w)); }

// The means of PER ints in a row, whose windows are the PER + 2 * RADIUS ints of `window`.
template <unsigned PER> __device__ __forceinline__ void means(const int (&window)[PER + 2 * RADIUS], int *out) {
    int sum = 0, means[PER];
#pragma unroll
    for (unsigned tap = 0; tap < 2 * RADIUS + 1; ++tap) sum = plus(sum, window[tap]);
#pragma unroll
    for (unsigned element = 0; element < PER; ++element) {
        means[element] = mean(sum);
        if (element + 1 < PER) sum = plus(sum, minus(window[element + 2 * RADIUS + 1], window[element]));
    }
#pragma unroll
    for (unsigned row = 0; row < PER / 4; ++row) {
        reinterpret_cast<int4 *>(out)[row] =
            make_int4(means[4 * row], means[4 * row + 1], means[4 * row + 2], means[4 * row + 3]);
    }
}

// The same of a window in memory, whose first int is aligned to 16 bytes.
template <unsigned PER> __device__ __forceinline__ void means_of(const int *from, int *out) {
    int window[PER + 2 * RADIUS];
#pragma unroll
    for (unsigned row = 0; row < (PER + 2 * RADIUS) / 4; ++row) {
        const int4 four = reinterpret_cast<const int4 *>(from)[row];
        window[4 * row] = four.x, window[4 * row + 1] = four.y, window[4 * row + 2] = four.z, window[4 * row + 3] = four.w;
    }
    means<PER>(window, out);
}

// The tiles of LEN ints that lie in the view with all of their neighbours: those from 1 to below
// `end`, of which this block has every gridDim.x-th.
template <unsigned LEN> struct InnerTiles {
    unsigned first, end, step;

    __device__ __forceinline__ explicit InnerTiles(const View<int> &view)
        : first(blockIdx.x == 0 ? gridDim.x : blockIdx.x),
          end(view.len < RADIUS ? 0 : unsigned((view.len - RADIUS) / LEN)), step(gridDim.x) {}
};

// Calls `each(at)` for the thread's ints of this block's tiles that are no inner ones: the first
// one and the last ones.
template <unsigned THREADS, unsigned LEN, class EACH>
__device__ __forceinline__ void around_edges(const View<int> &in, const EACH &each) {
    const InnerTiles<LEN> inner(in);
    const unsigned all = unsigned(tiles<LEN>(in));
    const auto edge = [&](unsigned tile) {
        const unsigned long long start = (unsigned long long)tile * LEN;
        for (unsigned long long at = start + threadIdx.x; at < start + LEN && at < in.len; at += THREADS) each(at);
    };
    if (blockIdx.x == 0) edge(0);
    for (unsigned tile = max(inner.end, 1u); tile < all; ++tile) {
        if (tile % gridDim.x == blockIdx.x) edge(tile);
    }
}

// The means of those ints.
template <unsigned THREADS, unsigned LEN>
__device__ __forceinline__ void average_edges(const View<int> &in, const View<int> &out) {
    around_edges<THREADS, LEN>(in, [&](unsigned long long at) {
        int sum = 0;
        for (unsigned tap = 0; tap < 2 * RADIUS + 1; ++tap) {
            // Before the start of the input this wraps to a number far above its length.
            const unsigned long long element = at + tap - RADIUS;
            if (element < in.len) sum = plus(sum, in.base[element]);
        }
        out.base[at] = mean(sum);
    });
}

// Without shared memory: each thread loads its whole window, most of it from the L1 cache.
template <unsigned THREADS, unsigned PER>
__device__ __forceinline__ void average_direct(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER;
    const InnerTiles<LEN> tiles(in);
    for (unsigned tile = tiles.first; tile < tiles.end; tile += tiles.step) {
        const unsigned long long own = (unsigned long long)tile * LEN + threadIdx.x * PER;
        means_of<PER>(in.base + own - RADIUS, out.base + own);
    }
    average_edges<THREADS, LEN>(in, out);
}

// Without shared memory: each thread loads its own ints and has the others from its warp. The lanes
// at the warp's ends load what lies beyond.
template <unsigned THREADS, unsigned PER>
__device__ __forceinline__ void average_shuffle(const View<int> in, const View<int> out) {
    static_assert(PER == 4 || PER == 8, "a window reaches over one lane or over two");
    constexpr unsigned LEN = THREADS * PER, ALL = ~0u, FAR = RADIUS / PER;
    const InnerTiles<LEN> tiles(in);
    const unsigned lane = threadIdx.x % 32;
    const bool first = lane < FAR, last = lane >= 32 - FAR;
    for (unsigned tile = tiles.first; tile < tiles.end; tile += tiles.step) {
        const unsigned long long at = (unsigned long long)tile * LEN + threadIdx.x * PER;
        int own[PER], edge[PER], window[PER + 2 * RADIUS];
        const auto load = [](const int *from, int(&to)[PER]) {
#pragma unroll
            for (unsigned row = 0; row < PER / 4; ++row) {
                const int4 four = reinterpret_cast<const int4 *>(from)[row];
                to[4 * row] = four.x, to[4 * row + 1] = four.y, to[4 * row + 2] = four.z, to[4 * row + 3] = four.w;
            }
        };
        load(in.base + at, own);
        // The ints of the lane FAR further on, where the warp has none.
        if (first || last) {
            load(first ? in.base + at - RADIUS : in.base + at + RADIUS, edge);
        } else {
#pragma unroll
            for (unsigned nth = 0; nth < PER; ++nth) edge[nth] = 0;
        }
#pragma unroll
        for (unsigned nth = 0; nth < PER; ++nth) {
            window[RADIUS + nth] = own[nth];
            const int left = __shfl_up_sync(ALL, own[nth], FAR), right = __shfl_down_sync(ALL, own[nth], FAR);
            window[nth] = first ? edge[nth] : left;
            window[RADIUS + FAR * PER + nth] = last ? edge[nth] : right;
            if constexpr (FAR == 2) {
                const int near_left = __shfl_up_sync(ALL, own[nth], 1), near_right = __shfl_down_sync(ALL, own[nth], 1);
                // What lies before the warp's first lane is what its second one has loaded.
                const int before = __shfl_sync(ALL, edge[nth], 1), after = __shfl_sync(ALL, edge[nth], 30);
                window[PER + nth] = lane == 0 ? before : near_left;
                window[RADIUS + PER + nth] = lane == 31 ? after : near_right;
            }
        }
        means<PER>(window, out.base + at);
    }
    average_edges<THREADS, LEN>(in, out);
}

// Through registers into shared memory, and a barrier.
template <unsigned THREADS, unsigned PER>
__device__ __forceinline__ void average_shared(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER, ROWS = (LEN + 2 * RADIUS) / 4;
    __shared__ int4 window[ROWS];
    const InnerTiles<LEN> tiles(in);
    for (unsigned tile = tiles.first; tile < tiles.end; tile += tiles.step) {
        const unsigned long long start = (unsigned long long)tile * LEN;
        const int4 *from = reinterpret_cast<const int4 *>(in.base + start - RADIUS);
        if (tile != tiles.first) __syncthreads();
#pragma unroll
        for (unsigned row = threadIdx.x; row < ROWS; row += THREADS) window[row] = from[row];
        __syncthreads();
        means_of<PER>(reinterpret_cast<const int *>(window) + threadIdx.x * PER, out.base + start + threadIdx.x * PER);
    }
    average_edges<THREADS, LEN>(in, out);
}

// cp.async by hand: STAGES tiles are in flight at each wait, and a round has two barriers.
template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void average_by_hand(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER, WINDOW = LEN + 2 * RADIUS;
    __shared__ alignas(16) int stages[STAGES][WINDOW];
    const InnerTiles<LEN> tiles(in);
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0]));
    const auto fetch = [&](unsigned tile, unsigned stage) {
        if (tile < tiles.end) {
            const char *source = reinterpret_cast<const char *>(in.base + (unsigned long long)tile * LEN - RADIUS);
#pragma unroll
            for (unsigned row = threadIdx.x; row < WINDOW / 4; row += THREADS) {
                copy<16>(target + stage * WINDOW * 4 + row * 16, source + row * 16);
            }
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };
    unsigned ahead = tiles.first, stage = 0;
#pragma unroll
    for (unsigned filled = 0; filled < STAGES; ++filled, ahead += tiles.step) fetch(ahead, filled);
    for (unsigned tile = tiles.first; tile < tiles.end; ahead += tiles.step) {
        wait_group<int(STAGES) - 1>();
        __syncthreads();
        means_of<PER>(stages[stage] + threadIdx.x * PER, out.base + (unsigned long long)tile * LEN + threadIdx.x * PER);
        tile += tiles.step;
        if (tile >= tiles.end) break;
        __syncthreads();
        fetch(ahead, stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    average_edges<THREADS, LEN>(in, out);
}

// Bulk copies: one thread starts the copy of a tile with its neighbours.
template <unsigned THREADS, unsigned PER, unsigned STAGES>
__device__ __forceinline__ void average_bulk(const View<int> in, const View<int> out) {
    constexpr unsigned LEN = THREADS * PER, WINDOW = LEN + 2 * RADIUS;
    __shared__ alignas(128) int stages[STAGES][WINDOW];
    __shared__ unsigned long long barriers[STAGES];
    const InnerTiles<LEN> tiles(in);
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
        bulk_copy(first + stage * WINDOW * 4, in.base + (unsigned long long)tile * LEN - RADIUS, WINDOW * 4,
                  full_barriers + stage * 8);
    };
    unsigned ahead = tiles.first, stage = 0, parity = 0;
    for (unsigned filled = 0; filled < STAGES; ++filled, ahead += tiles.step) fetch(ahead, filled);
    for (unsigned tile = tiles.first; tile < tiles.end; ahead += tiles.step) {
        mbarrier_wait(full_barriers + stage * 8, parity);
        means_of<PER>(stages[stage] + threadIdx.x * PER, out.base + (unsigned long long)tile * LEN + threadIdx.x * PER);
        tile += tiles.step;
        if (tile >= tiles.end) break;
        __syncthreads();
        fetch(ahead, stage);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    average_edges<THREADS, LEN>(in, out);
}
