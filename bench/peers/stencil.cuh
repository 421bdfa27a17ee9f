// The five-point stencil: 3 * centre + above + left + right + below; beyond the edges there are
// zeros. A tile is ROWS by COLUMNS ints.
#pragma once

#include "rows.cuh"

// An int of the matrix, or zero beyond an edge; -1 wraps to a number far beyond.
__device__ __forceinline__ int int_at(const Rows &in, unsigned row, unsigned column) {
    return row < in.height && column < in.width ? *in.at(row, column) : 0;
}

__device__ __forceinline__ int five(int centre, int above, int left, int right, int below) {
    return plus(plus(plus(plus(triple(centre), above), left), right), below);
}

// Four centres in a row, with the ints before the first and after the last of them.
__device__ __forceinline__ int4 five(int4 centre, int4 above, int left, int right, int4 below) {
    return make_int4(five(centre.x, above.x, left, centre.y, below.x), five(centre.y, above.y, centre.x, centre.z, below.y),
                     five(centre.z, above.z, centre.y, centre.w, below.z), five(centre.w, above.w, centre.z, right, below.w));
}

// A tile that lies partly beyond an edge.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void stencil_edge(const Rows &in, const Rows &out, uint2 place) {
    for (unsigned nth = threadIdx.x; nth < ROWS * COLUMNS; nth += THREADS) {
        const unsigned row = place.x + nth / COLUMNS, column = place.y + nth % COLUMNS;
        if (row < out.height && column < out.width) {
            *out.at(row, column) = five(*in.at(row, column), int_at(in, row - 1, column), int_at(in, row, column - 1),
                                        int_at(in, row, column + 1), int_at(in, row + 1, column));
        }
    }
}

// Without shared memory: a warp has 128 columns, and each of its threads walks down four of them
// with three rows in its registers. Left and right neighbours come from the warp, or SHUFFLE is
// false and they come from the L1 cache. A warp has ROWS * COLUMNS / 128 / (THREADS / 32) rows.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, bool SHUFFLE>
__device__ __forceinline__ void stencil_registers(const Rows in, const Rows out) {
    constexpr unsigned STRIPS = COLUMNS / 128, DOWN = ROWS * STRIPS / (THREADS / 32), ALL = ~0u;
    static_assert(COLUMNS % 128 == 0 && DOWN > 0 && ROWS % DOWN == 0);
    const TileGrid<ROWS, COLUMNS> grid(out);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        if (!grid.whole(out, place)) {
            stencil_edge<THREADS, ROWS, COLUMNS>(in, out, place);
            continue;
        }
        const unsigned top = place.x + warp / STRIPS * DOWN, column = place.y + warp % STRIPS * 128 + 4 * lane;
        const auto row_of = [&](unsigned row) { return row < in.height ? load4(in.at(row, column)) : make_int4(0, 0, 0, 0); };
        int4 above = row_of(top - 1), centre = load4(in.at(top, column));
#pragma unroll
        for (unsigned nth = 0; nth < DOWN; ++nth) {
            const int4 below = row_of(top + nth + 1);
            int left, right;
            if constexpr (SHUFFLE) {
                left = __shfl_up_sync(ALL, centre.w, 1), right = __shfl_down_sync(ALL, centre.x, 1);
                if (lane == 0) left = int_at(in, top + nth, column - 1);
                if (lane == 31) right = int_at(in, top + nth, column + 4);
            } else {
                left = int_at(in, top + nth, column - 1), right = int_at(in, top + nth, column + 4);
            }
            store4(out.at(top + nth, column), five(centre, above, left, right, below));
            above = centre, centre = below;
        }
    }
}

// The rows of a tile in shared memory: a row above and one below, four columns left and right.
template <unsigned ROWS, unsigned COLUMNS> struct Window {
    static constexpr unsigned ACROSS = COLUMNS / 4 + 2, LEN = (ROWS + 2) * ACROSS;
    int4 rows[ROWS + 2][ACROSS];
};

// Writes a whole tile, four ints a thread and row.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void stencil_of(const Window<ROWS, COLUMNS> &window, const Rows &out, uint2 place) {
#pragma unroll
    for (unsigned nth = threadIdx.x; nth < ROWS * COLUMNS / 4; nth += THREADS) {
        const unsigned row = nth / (COLUMNS / 4), across = nth % (COLUMNS / 4);
        const int4 *centre = &window.rows[row + 1][across + 1];
        const int left = reinterpret_cast<const int *>(centre)[-1], right = reinterpret_cast<const int *>(centre)[4];
        store4(out.at(place.x + row, place.y + 4 * across),
               five(*centre, window.rows[row][across + 1], left, right, window.rows[row + 2][across + 1]));
    }
}

// Bytes of the row of four ints at so many rows and columns of a window that lie in the matrix.
__device__ __forceinline__ unsigned bytes_there(const Rows &in, unsigned row, unsigned column) {
    if (row >= in.height || column >= in.width) return 0;
    return unsigned(min(in.width - column, 4ull)) * 4;
}

// Through registers into shared memory, and a barrier.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void stencil_shared(const Rows in, const Rows out) {
    __shared__ Window<ROWS, COLUMNS> window;
    constexpr unsigned ACROSS = Window<ROWS, COLUMNS>::ACROSS;
    const TileGrid<ROWS, COLUMNS> grid(out);
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        if (!grid.whole(out, place)) {
            stencil_edge<THREADS, ROWS, COLUMNS>(in, out, place);
            continue;
        }
#pragma unroll
        for (unsigned nth = threadIdx.x; nth < Window<ROWS, COLUMNS>::LEN; nth += THREADS) {
            const unsigned row = place.x + nth / ACROSS - 1, column = place.y + 4 * (nth % ACROSS) - 4;
            int4 four = make_int4(0, 0, 0, 0);
            if (bytes_there(in, row, column) == 16) {
                four = load4(in.at(row, column));
            } else if (bytes_there(in, row, column) > 0) {
                four = make_int4(int_at(in, row, column), int_at(in, row, column + 1), int_at(in, row, column + 2), 0);
            }
            window.rows[nth / ACROSS][nth % ACROSS] = four;
        }
        __syncthreads();
        stencil_of<THREADS>(window, out, place);
        __syncthreads();
    }
}

// cp.async of 16 bytes, STAGES tiles ahead.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES>
__device__ __forceinline__ void stencil_async(const Rows in, const Rows out) {
    using Tile = Window<ROWS, COLUMNS>;
    __shared__ Tile stages[STAGES];
    const TileGrid<ROWS, COLUMNS> grid(out);
    const unsigned target = unsigned(__cvta_generic_to_shared(stages));
    const auto fetch = [&](unsigned number, unsigned stage) {
        const uint2 place = grid.place(number);
        if (number < grid.all && grid.whole(out, place)) {
            const unsigned to = target + stage * unsigned(sizeof(Tile));
            const bool inner = place.x > 0 && place.y > 0 && place.x + ROWS < in.height && place.y + COLUMNS + 4 <= in.width;
#pragma unroll
            for (unsigned nth = threadIdx.x; nth < Tile::LEN; nth += THREADS) {
                const unsigned row = place.x + nth / Tile::ACROSS - 1, column = place.y + 4 * (nth % Tile::ACROSS) - 4;
                if (inner) {
                    copy<16>(to + nth * 16, reinterpret_cast<const char *>(in.at(row, column)));
                } else {
                    const unsigned bytes = bytes_there(in, row, column);
                    copy<16>(to + nth * 16, reinterpret_cast<const char *>(bytes > 0 ? in.at(row, column) : in.base), bytes);
                }
            }
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };
    unsigned ahead = blockIdx.x, stage = 0;
#pragma unroll
    for (unsigned filled = 0; filled < STAGES; ++filled, ahead += grid.step) fetch(ahead, filled);
    for (unsigned number = blockIdx.x; number < grid.all; ahead += grid.step) {
        const uint2 place = grid.place(number);
        wait_group<int(STAGES) - 1>();
        __syncthreads();
        if (grid.whole(out, place)) {
            stencil_of<THREADS>(stages[stage], out, place);
        } else {
            stencil_edge<THREADS, ROWS, COLUMNS>(in, out, place);
        }
        number += grid.step;
        if (number >= grid.all) break;
        __syncthreads();
        fetch(ahead, stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
}
