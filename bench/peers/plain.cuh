// Peers without asynchronous copies: load, barrier, compute, barrier.
#pragma once

#include "view.cuh"

// Loads one tile, computes on it and `right`, and stores the result. Nobody may still read `tile`; `right` may have been
// written by this thread just before.
template <class T>
__device__ __forceinline__ void plain_tile(const View<T> &in, const View<T> &out, unsigned long long index, T *tile,
                                           const T *right) {
    const unsigned long long element = index * TILE + threadIdx.x;
    tile[threadIdx.x] = element < in.len ? in.base[element] : T{};
    __syncthreads();
    if (element < out.len) out.base[element] = compute(tile, right);
}

template <class T>
__device__ __forceinline__ void plain_tile(const View<T> &in, const View<T> &out, unsigned long long index, T *tile) {
    plain_tile(in, out, index, tile, tile);
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
