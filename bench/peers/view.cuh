// What all peers share: views, tiles, arithmetic on elements, and what is computed on a tile.
#pragma once

constexpr unsigned TILE = 256;
constexpr unsigned RADIUS = 8;

// A view as tilepipe passes it: 32 bytes by value.
template <class T> struct View {
    T *base;
    unsigned long long len;
    unsigned long long unused[2];
};
static_assert(sizeof(View<int>) == 32);

// Arithmetic on elements; int4 goes lane by lane. Unsigned, because the kernels wrap where int
// would overflow.
__device__ __forceinline__ int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ __forceinline__ int4 plus(int4 a, int4 b) {
    return make_int4(plus(a.x, b.x), plus(a.y, b.y), plus(a.z, b.z), plus(a.w, b.w));
}
__device__ __forceinline__ int triple(int a) { return int(3u * unsigned(a)); }
__device__ __forceinline__ int4 triple(int4 a) { return make_int4(triple(a.x), triple(a.y), triple(a.z), triple(a.w)); }
__device__ __forceinline__ int mean(int sum) { return sum / int(2 * RADIUS + 1); }
__device__ __forceinline__ int4 mean(int4 sum) { return make_int4(mean(sum.x), mean(sum.y), mean(sum.z), mean(sum.w)); }

// 3 * left[rank] + right[rank + 1], cyclic in a tile of LEN elements: every thread reads what
// another one copied.
template <unsigned LEN, class T> __device__ __forceinline__ T neighbour_sum(const T *left, const T *right, unsigned rank) {
    return plus(triple(left[rank]), right[(rank + 1) % LEN]);
}

template <class T> __device__ __forceinline__ T compute(const T *left, const T *right) {
    return neighbour_sum<TILE>(left, right, threadIdx.x);
}

// What the guide calls compute: the same with one tile for both.
template <class T> __device__ __forceinline__ T compute(const T *tile) { return compute(tile, tile); }

// How many elements of the tile of LEN that begins at `start` exist.
template <unsigned LEN = TILE, class T>
__device__ __forceinline__ unsigned elements(const View<T> &view, unsigned long long start) {
    const unsigned long long rest = view.len - start;
    return rest < LEN ? unsigned(rest) : LEN;
}

// How many tiles of LEN elements a view has, a partial last one included.
template <unsigned LEN = TILE, class T> __device__ __forceinline__ unsigned long long tiles(const View<T> &view) {
    return (view.len + LEN - 1) / LEN;
}
