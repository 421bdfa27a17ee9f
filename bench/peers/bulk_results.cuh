// What our kernels with the copy engine do whose results are few, or that take more than an input,
// as an expert writes it: the largest element, parts' sums and the scan behind them, histograms,
// and the convolution. The tiles, stages, threads and elements a thread are the same.
#pragma once

#include "bulk.cuh"

// The key of a float and its index: `tilepipe::key::argmax`. A NaN is above all, and -0 is 0.
__device__ __forceinline__ unsigned long long argmax_key(float value, unsigned index) {
    unsigned bits = value == 0 ? 0 : __float_as_uint(value);
    bits = value != value ? ~0u : bits ^ (unsigned(int(bits) >> 31) | 1u << 31);
    return (unsigned long long)bits << 32 | ~index;
}

// The float of a key.
__device__ __forceinline__ float argmax_value(unsigned long long key) {
    const unsigned bits = unsigned(key >> 32);
    return __uint_as_float(bits ^ (~unsigned(int(bits) >> 31) | 1u << 31));
}

// Writes the largest of the block's keys.
template <unsigned THREADS>
__device__ __forceinline__ void write_block_key(unsigned long long key, const View<unsigned long long> &out) {
    __shared__ unsigned long long keys[THREADS / 32];
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) key = max(key, __shfl_down_sync(~0u, key, distance));
    if (threadIdx.x % 32 == 0) keys[threadIdx.x / 32] = key;
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x < out.len) {
        for (unsigned warp = 1; warp < THREADS / 32; ++warp) key = max(key, keys[warp]);
        out.base[blockIdx.x] = key;
    }
}

// The key of the largest of the block's elements, four floats a thread in a row (`argmax_bulk`). A
// row makes keys if one of its elements is above the largest so far; nothing is at most a NaN,
// which the largest is at first.
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_argmax(const View<float> in, const View<unsigned long long> out) {
    const View<float> inputs[] = {in};
    float largest = __uint_as_float(0x7fc00000);
    unsigned long long key = 0;
    bulk_tiles<float, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long start, const float *tile, const float *) {
#pragma unroll
        for (unsigned row = threadIdx.x; row < LEN / 4; row += THREADS) {
            const float4 four = reinterpret_cast<const float4 *>(tile)[row];
            if ((four.x <= largest) & (four.y <= largest) & (four.z <= largest) & (four.w <= largest)) continue;
            const unsigned first = unsigned(start) + 4 * row;
            key = max(key, argmax_key(four.x, first));
            key = max(key, argmax_key(four.y, first + 1));
            key = max(key, argmax_key(four.z, first + 2));
            key = max(key, argmax_key(four.w, first + 3));
            largest = argmax_value(key);
        }
    });
    bulk_last<THREADS, LEN>(in, [&](unsigned long long at) { key = max(key, argmax_key(in.base[at], unsigned(at))); });
    write_block_key<THREADS>(key, out);
}

// This block's part of all tiles of LEN elements, the partial last one included: as many in a row
// as other blocks have, or one more in the first blocks.
template <unsigned LEN> struct Part {
    unsigned first, end, whole; // Tiles from `first` to below `end`; those below `whole` are whole.

    template <class T> __device__ __forceinline__ explicit Part(const View<T> &in) {
        const unsigned all = unsigned(tiles<LEN>(in)), each = all / gridDim.x, more = all % gridDim.x;
        first = blockIdx.x * each + min(blockIdx.x, more);
        end = first + each + (blockIdx.x < more ? 1 : 0);
        whole = max(first, min(end, unsigned(in.len / LEN)));
    }
};

// Streams the whole tiles of this block's part: `compute(start, tile)` is called by every thread.
template <unsigned LEN, unsigned STAGES, class COMPUTE>
__device__ __forceinline__ void bulk_part(const View<int> &in, const Part<LEN> &part, const COMPUTE &compute) {
    const BulkStages<int, LEN, STAGES> stages;
    const auto sources = [&](unsigned tile, const int *(&address)[1]) { address[0] = in.base + (unsigned long long)tile * LEN; };
    const auto landed = [&](unsigned tile, unsigned stage) { compute((unsigned long long)tile * LEN, stages.tile(stage, 0)); };
    bulk_rounds<STAGES, Fence::READERS, 1, int>(stages, part.first, part.whole, sources, landed, 1);
}

// The sum of the block's part, four ints a thread in a row (`part_sums_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_part_sums(const View<int> in, const View<int> out) {
    const Part<LEN> part(in);
    int sum = 0;
    bulk_part<LEN, STAGES>(in, part, [&](unsigned long long, const int *tile) {
#pragma unroll
        for (unsigned row = threadIdx.x; row < LEN / 4; row += THREADS) {
            sum = plus(sum, sum_of(reinterpret_cast<const int4 *>(tile)[row]));
        }
    });
    if (part.whole < part.end) {
        for (unsigned long long at = (unsigned long long)part.whole * LEN + threadIdx.x; at < in.len; at += THREADS) {
            sum = plus(sum, in.base[at]);
        }
    }
    if (blockIdx.x < out.len) write_block_sum<THREADS>(sum, out);
}

// The sum of all threads' numbers before this one's, and of all, which costs one barrier. Until
// every thread has read the warps' sums, `sums` must not be written again.
template <unsigned THREADS> __device__ __forceinline__ int block_exclusive(int own, int (&sums)[THREADS / 32], int &total) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = own;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const int below = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) sum = plus(sum, below);
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    int before = 0;
    total = 0;
#pragma unroll
    for (unsigned other = 0; other < THREADS / 32; ++other) {
        if (other == warp) before = total;
        total = plus(total, sums[other]);
    }
    return plus(before, minus(sum, own));
}

// For each element the sum of all before it (`exclusive_scan_bulk`), where `parts` has the sums of
// the blocks' parts, four ints a thread. A tile has one barrier for its scan, and that of the round
// keeps the warps' sums of two tiles apart.
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_exclusive_scan(const View<int> in, const View<int> parts, const View<int> out) {
    static_assert(LEN == 4 * THREADS, "a thread has one row of a tile");
    __shared__ __align__(16) int of_parts[THREADS / 32], of_tile[THREADS / 32];
    const Part<LEN> part(in);
    int sum = 0, before;
    for (unsigned at = threadIdx.x; at < blockIdx.x && at < parts.len; at += THREADS) sum = plus(sum, parts.base[at]);
    block_exclusive<THREADS>(sum, of_parts, before);
    const auto scan = [&](int4 own) {
        int total;
        int4 sums;
        sums.x = plus(before, block_exclusive<THREADS>(sum_of(own), of_tile, total));
        sums.y = plus(sums.x, own.x);
        sums.z = plus(sums.y, own.y);
        sums.w = plus(sums.z, own.z);
        before = plus(before, total);
        return sums;
    };
    bulk_part<LEN, STAGES>(in, part, [&](unsigned long long start, const int *tile) {
        reinterpret_cast<int4 *>(out.base + start)[threadIdx.x] = scan(reinterpret_cast<const int4 *>(tile)[threadIdx.x]);
    });
    if (part.whole == part.end) return;
    // The last tile of all. The round before it has had no barrier at its end.
    __syncthreads();
    const unsigned long long own = (unsigned long long)part.whole * LEN + 4 * threadIdx.x;
    int four[4];
#pragma unroll
    for (unsigned nth = 0; nth < 4; ++nth) four[nth] = own + nth < in.len ? in.base[own + nth] : 0;
    const int4 sums = scan(make_int4(four[0], four[1], four[2], four[3]));
    const int all[4] = {sums.x, sums.y, sums.z, sums.w};
#pragma unroll
    for (unsigned nth = 0; nth < 4; ++nth) {
        if (own + nth < in.len) out.base[own + nth] = all[nth];
    }
}

// Counts all elements in BINS bins of the block, 16 bytes a thread in a row, and adds these to
// `out`: `add(bins, piece)` counts 16 bytes, `add_one(bins, element)` an element.
template <unsigned THREADS, unsigned LEN, unsigned STAGES, unsigned BINS, class T, class ADD, class ADD_ONE>
__device__ __forceinline__ void bulk_counts(const View<T> &in, const View<unsigned> &out, const ADD &add,
                                            const ADD_ONE &add_one) {
    __shared__ unsigned bins[BINS];
    for (unsigned bin = threadIdx.x; bin < BINS; bin += THREADS) bins[bin] = 0;
    const View<T> inputs[] = {in};
    // The barrier after the mbarriers are made is that of the bins, too.
    bulk_tiles<T, LEN, STAGES, Fence::READERS>(inputs, [&](unsigned long long, const T *tile, const T *) {
        constexpr unsigned PIECES = LEN * sizeof(T) / 16;
#pragma unroll
        for (unsigned piece = threadIdx.x; piece < PIECES; piece += THREADS) {
            add(bins, reinterpret_cast<const uint4 *>(tile)[piece]);
        }
    });
    bulk_last<THREADS, LEN>(in, [&](unsigned long long at) { add_one(bins, in.base[at]); });
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS && bin < out.len; bin += THREADS) {
        const unsigned count = bins[bin];
        if (count != 0) atomicAdd(out.base + bin, count);
    }
}

// How many bytes have each value (`histogram_bulk` with one copy of the bins).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_histogram(const View<unsigned char> in, const View<unsigned> out) {
    const auto add_one = [](unsigned *bins, unsigned byte) { atomicAdd(bins + byte, 1u); };
    const auto add = [&](unsigned *bins, uint4 piece) {
        const unsigned words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
        for (unsigned byte = 0; byte < 16; ++byte) add_one(bins, words[byte / 4] >> byte % 4 * 8 & 0xff);
    };
    bulk_counts<THREADS, LEN, STAGES, 256>(in, out, add, add_one);
}

// How many keys each of 4096 bins has, of 2^SHIFT keys in a row; others are skipped
// (`histogram_u32_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES, unsigned SHIFT>
__device__ __forceinline__ void bulk_histogram_u32(const View<unsigned> in, const View<unsigned> out) {
    constexpr unsigned BINS = 4096;
    const auto add_one = [](unsigned *bins, unsigned key) {
        if (key >> SHIFT < BINS) atomicAdd(bins + (key >> SHIFT), 1u);
    };
    const auto add = [&](unsigned *bins, uint4 keys) {
        add_one(bins, keys.x), add_one(bins, keys.y), add_one(bins, keys.z), add_one(bins, keys.w);
    };
    bulk_counts<THREADS, LEN, STAGES, BINS>(in, out, add, add_one);
}

// The filter of a convolution, which the launch passes by value.
struct Filter {
    int weights[2 * RADIUS + 1];
};

// Each int the sum of those around it times the filter's, four ints a thread, whose windows have
// five rows of four in common (`convolution_bulk`).
template <unsigned THREADS, unsigned LEN, unsigned STAGES>
__device__ __forceinline__ void bulk_convolution(const View<int> in, const Filter &filter, const View<int> out) {
    static_assert(LEN == 4 * THREADS, "a thread has one row of a tile");
    constexpr unsigned TAPS = 2 * RADIUS + 1, ROWS = (4 + 2 * RADIUS) / 4;
    const BulkStages<int, LEN, STAGES, 1, 0, 2 * RADIUS> stages;
    const InnerTiles<LEN> inner(in);
    const auto sources = [&](unsigned tile, const int *(&address)[1]) {
        address[0] = in.base + (unsigned long long)tile * LEN - RADIUS;
    };
    const auto convolve = [&](unsigned tile, unsigned stage) {
        int window[4 * ROWS], sums[4] = {};
#pragma unroll
        for (unsigned row = 0; row < ROWS; ++row) {
            const int4 four = reinterpret_cast<const int4 *>(stages.tile(stage, 0))[threadIdx.x + row];
            window[4 * row] = four.x, window[4 * row + 1] = four.y, window[4 * row + 2] = four.z, window[4 * row + 3] = four.w;
        }
#pragma unroll
        for (unsigned tap = 0; tap < TAPS; ++tap) {
#pragma unroll
            for (unsigned nth = 0; nth < 4; ++nth) sums[nth] = plus(sums[nth], product(window[nth + tap], filter.weights[tap]));
        }
        int *const tile_out = out.base + (unsigned long long)tile * LEN;
        reinterpret_cast<int4 *>(tile_out)[threadIdx.x] = make_int4(sums[0], sums[1], sums[2], sums[3]);
    };
    bulk_rounds<STAGES, Fence::READERS, 1, int>(stages, inner.first, inner.end, sources, convolve);
    around_edges<THREADS, LEN>(in, [&](unsigned long long at) {
        int sum = 0;
#pragma unroll
        for (unsigned tap = 0; tap < TAPS; ++tap) {
            // Before the start of the input this wraps to a number far above its length.
            const unsigned long long element = at + tap - RADIUS;
            if (element < in.len) sum = plus(sum, product(in.base[element], filter.weights[tap]));
        }
        out.base[at] = sum;
    });
}
