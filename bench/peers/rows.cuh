// What the peers over matrices share: views with rows, and tiles of them.
#pragma once

#include "by_hand.cuh"

// A view with rows as tilepipe passes it: 32 bytes by value. Its first element and all of its rows
// are aligned to 16 bytes.
template <class T> struct RowsOf {
    T *base;
    unsigned long long width, height, pitch;

    __device__ __forceinline__ T *at(unsigned long long row, unsigned long long column) const {
        return base + row * pitch + column;
    }
};
using Rows = RowsOf<int>;
static_assert(sizeof(Rows) == 32);

// The tiles of ROWS by COLUMNS elements of a matrix, numbered row by row; the last ones of a row
// and of a column may be partial. A block has every gridDim.x-th of them.
template <unsigned ROWS, unsigned COLUMNS> struct TileGrid {
    unsigned across, all, step;

    template <class T>
    __device__ __forceinline__ explicit TileGrid(const RowsOf<T> &view)
        : across(unsigned((view.width + COLUMNS - 1) / COLUMNS)),
          all(across * unsigned((view.height + ROWS - 1) / ROWS)), step(gridDim.x) {}

    // The first row and the first column of a tile.
    __device__ __forceinline__ uint2 place(unsigned tile) const {
        return make_uint2(tile / across * ROWS, tile % across * COLUMNS);
    }

    // Whether a tile lies in the matrix as a whole.
    template <class T> __device__ __forceinline__ static bool whole(const RowsOf<T> &view, uint2 place) {
        return place.x + ROWS <= view.height && place.y + COLUMNS <= view.width;
    }
};

__device__ __forceinline__ int4 load4(const int *from) { return *reinterpret_cast<const int4 *>(from); }
__device__ __forceinline__ void store4(int *to, int4 values) { *reinterpret_cast<int4 *>(to) = values; }
