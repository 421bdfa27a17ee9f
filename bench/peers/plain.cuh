// Peers without asynchronous copies: load, barrier, compute, barrier.
#pragma once

#include "view.cuh"

// Loads one tile of LEN elements, computes on it and `right`, and stores the result; all threads
// call it, and the first LEN do the work. Nobody may still read `tile`; `right` may have been
// written by this thread just before.
template <unsigned LEN = TILE, class T>
__device__ __forceinline__ void plain_tile(const View<T> &in, const View<T> &out, unsigned long long index, T *tile,
                                           const T *right) {
    const unsigned rank = threadIdx.x;
    const bool works = LEN == TILE || rank < LEN;
    const unsigned long long element = index * LEN + rank;
    if (works) tile[rank] = element < in.len ? in.base[element] : T{};
    __syncthreads();
    if (works && element < out.len) out.base[element] = neighbour_sum<LEN>(tile, right, rank);
}

template <unsigned LEN = TILE, class T>
__device__ __forceinline__ void plain_tile(const View<T> &in, const View<T> &out, unsigned long long index, T *tile) {
    plain_tile<LEN>(in, out, index, tile, tile);
}

template <class T> __device__ __forceinline__ void plain(const View<T> in, const View<T> out) {
    __shared__ T tile[TILE];
    for (unsigned long long i = blockIdx.x; i < tiles(in); i += gridDim.x) {
        plain_tile(in, out, i, tile);
        __syncthreads();
    }
}

// The mean of each element and its RADIUS neighbours on either side.
template <class T> __device__ __forceinline__ void average(const View<T> in, const View<T> out) {
    __shared__ T tile[TILE + 2 * RADIUS];
    for (unsigned long long i = blockIdx.x; i < tiles(in); i += gridDim.x) {
        const unsigned long long start = i * TILE;
        for (unsigned slot = threadIdx.x; slot < TILE + 2 * RADIUS; slot += TILE) {
            // Before the start of the input this wraps to a number far above its length.
            const unsigned long long element = start + slot - RADIUS;
            tile[slot] = element < in.len ? in.base[element] : T{};
        }
        __syncthreads();
        T sum{};
#pragma unroll
        for (unsigned tap = 0; tap < 2 * RADIUS + 1; ++tap) sum = plus(sum, tile[threadIdx.x + tap]);
        if (start + threadIdx.x < out.len) out.base[start + threadIdx.x] = mean(sum);
        __syncthreads();
    }
}
