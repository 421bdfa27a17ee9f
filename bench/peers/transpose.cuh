// The transpose: out[c][r] = in[r][c]. A tile is ROWS by COLUMNS ints of the output, and COLUMNS by
// ROWS of the input; tiles are numbered as they lie in the output.
#pragma once

#include "rows.cuh"

// A tile that lies partly beyond an edge.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void transpose_edge(const Rows &in, const Rows &out, uint2 place) {
    for (unsigned nth = threadIdx.x; nth < ROWS * COLUMNS; nth += THREADS) {
        const unsigned row = place.x + nth / COLUMNS, column = place.y + nth % COLUMNS;
        if (row < out.height && column < out.width) *out.at(row, column) = *in.at(column, row);
    }
}

// Transposes four rows of four.
__device__ __forceinline__ void transpose4(const int4 (&from)[4], int4 (&to)[4]) {
    to[0] = make_int4(from[0].x, from[1].x, from[2].x, from[3].x);
    to[1] = make_int4(from[0].y, from[1].y, from[2].y, from[3].y);
    to[2] = make_int4(from[0].z, from[1].z, from[2].z, from[3].z);
    to[3] = make_int4(from[0].w, from[1].w, from[2].w, from[3].w);
}

// As textbooks have it: 4 bytes an access, rows in shared memory padded by an int.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void transpose_padded(const Rows in, const Rows out) {
    static_assert(THREADS % ROWS == 0 && THREADS % COLUMNS == 0);
    __shared__ int tile[COLUMNS][ROWS + 1];
    const TileGrid<ROWS, COLUMNS> grid(out);
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        if (!grid.whole(out, place)) {
            transpose_edge<THREADS, ROWS, COLUMNS>(in, out, place);
            continue;
        }
        const unsigned column = threadIdx.x % ROWS, row = threadIdx.x / ROWS;
#pragma unroll
        for (unsigned below = 0; below < COLUMNS; below += THREADS / ROWS) {
            tile[row + below][column] = *in.at(place.y + row + below, place.x + column);
        }
        __syncthreads();
        const unsigned to_column = threadIdx.x % COLUMNS, to_row = threadIdx.x / COLUMNS;
#pragma unroll
        for (unsigned below = 0; below < ROWS; below += THREADS / COLUMNS) {
            *out.at(place.x + to_row + below, place.y + to_column) = tile[to_column][to_row + below];
        }
        __syncthreads();
    }
}

// Without shared memory: each thread transposes blocks of 8 by 8 ints in its registers, whole
// sectors of 32 bytes on both sides.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void transpose_direct(const Rows in, const Rows out) {
    static_assert(ROWS * COLUMNS == 64 * THREADS);
    const TileGrid<ROWS, COLUMNS> grid(out);
    const unsigned row = threadIdx.x / (COLUMNS / 8) * 8, column = threadIdx.x % (COLUMNS / 8) * 8;
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        if (!grid.whole(out, place)) {
            transpose_edge<THREADS, ROWS, COLUMNS>(in, out, place);
            continue;
        }
        // [half of the input's rows][half of its columns][row]
        int4 from[2][2][4], to[4];
#pragma unroll
        for (unsigned nth = 0; nth < 8; ++nth) {
            const int *source = in.at(place.y + column + nth, place.x + row);
            from[nth / 4][0][nth % 4] = load4(source);
            from[nth / 4][1][nth % 4] = load4(source + 4);
        }
#pragma unroll
        for (unsigned below = 0; below < 2; ++below) {
#pragma unroll
            for (unsigned right = 0; right < 2; ++right) {
                transpose4(from[right][below], to);
#pragma unroll
                for (unsigned nth = 0; nth < 4; ++nth) {
                    store4(out.at(place.x + row + 4 * below + nth, place.y + column + 4 * right), to[nth]);
                }
            }
        }
    }
}

// 16 bytes an access. Each thread loads blocks of 4 by 4 ints, transposes them in its registers and
// writes them to shared memory, where the tile lies as in the output; rows of four are exchanged
// (XOR), so that neither side has conflicts of banks.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void transpose_blocks(const Rows in, const Rows out) {
    constexpr unsigned DOWN = ROWS / 4, ACROSS = COLUMNS / 4;
    static_assert(DOWN * ACROSS % THREADS == 0 && ACROSS >= 8);
    __shared__ int4 tile[ROWS][ACROSS];
    const TileGrid<ROWS, COLUMNS> grid(out);
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        if (!grid.whole(out, place)) {
            transpose_edge<THREADS, ROWS, COLUMNS>(in, out, place);
            continue;
        }
#pragma unroll
        for (unsigned nth = threadIdx.x; nth < DOWN * ACROSS; nth += THREADS) {
            const unsigned down = nth % DOWN, across = nth / DOWN;
            int4 from[4], to[4];
#pragma unroll
            for (unsigned row = 0; row < 4; ++row) {
                from[row] = load4(in.at(place.y + 4 * across + row, place.x + 4 * down));
            }
            transpose4(from, to);
#pragma unroll
            for (unsigned row = 0; row < 4; ++row) tile[4 * down + row][across ^ (down & 7)] = to[row];
        }
        __syncthreads();
#pragma unroll
        for (unsigned nth = threadIdx.x; nth < ROWS * ACROSS; nth += THREADS) {
            const unsigned row = nth / ACROSS, across = nth % ACROSS;
            store4(out.at(place.x + row, place.y + 4 * across), tile[row][across ^ (row / 4 & 7)]);
        }
        __syncthreads();
    }
}

// cp.async of 16 bytes, STAGES tiles ahead, which lie as in the input with their rows of four
// exchanged; each thread transposes blocks of 4 by 4 ints in its registers.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES>
__device__ __forceinline__ void transpose_async(const Rows in, const Rows out) {
    constexpr unsigned DOWN = ROWS / 4, ACROSS = COLUMNS / 4, LEN = ROWS * COLUMNS;
    static_assert(DOWN * ACROSS % THREADS == 0 && DOWN >= 8);
    __shared__ int4 stages[STAGES][COLUMNS][DOWN];
    const TileGrid<ROWS, COLUMNS> grid(out);
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0][0]));
    const auto fetch = [&](unsigned number, unsigned stage) {
        const uint2 place = grid.place(number);
        if (number < grid.all && grid.whole(out, place)) {
#pragma unroll
            for (unsigned nth = threadIdx.x; nth < LEN / 4; nth += THREADS) {
                const unsigned row = nth / DOWN, down = nth % DOWN;
                copy<16>(target + stage * LEN * 4 + (row * DOWN + (down ^ (row / 4 & 7))) * 16,
                         reinterpret_cast<const char *>(in.at(place.y + row, place.x + 4 * down)));
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
#pragma unroll
            for (unsigned nth = threadIdx.x; nth < DOWN * ACROSS; nth += THREADS) {
                const unsigned down = nth / ACROSS, across = nth % ACROSS;
                int4 from[4], to[4];
#pragma unroll
                for (unsigned row = 0; row < 4; ++row) from[row] = stages[stage][4 * across + row][down ^ (across & 7)];
                transpose4(from, to);
#pragma unroll
                for (unsigned row = 0; row < 4; ++row) {
                    store4(out.at(place.x + 4 * down + row, place.y + 4 * across), to[row]);
                }
            }
        } else {
            transpose_edge<THREADS, ROWS, COLUMNS>(in, out, place);
        }
        number += grid.step;
        if (number >= grid.all) break;
        __syncthreads();
        fetch(ahead, stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
}

// cp.async of UNIT bytes into rows that are padded by so many; a thread reads four ints of a column
// and stores 16 bytes.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES, unsigned UNIT>
__device__ __forceinline__ void transpose_async_padded(const Rows in, const Rows out) {
    constexpr unsigned PITCH = ROWS * 4 + UNIT, ACROSS = COLUMNS / 4;
    __shared__ alignas(16) char stages[STAGES][COLUMNS * PITCH];
    const TileGrid<ROWS, COLUMNS> grid(out);
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0]));
    const auto fetch = [&](unsigned number, unsigned stage) {
        const uint2 place = grid.place(number);
        if (number < grid.all && grid.whole(out, place)) {
#pragma unroll
            for (unsigned nth = threadIdx.x; nth < ROWS * COLUMNS * 4 / UNIT; nth += THREADS) {
                const unsigned row = nth / (ROWS * 4 / UNIT), unit = nth % (ROWS * 4 / UNIT);
                copy<UNIT>(target + stage * COLUMNS * PITCH + row * PITCH + unit * UNIT,
                           reinterpret_cast<const char *>(in.at(place.y + row, place.x)) + unit * UNIT);
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
#pragma unroll
            for (unsigned nth = threadIdx.x; nth < ROWS * ACROSS; nth += THREADS) {
                const unsigned row = nth / ACROSS, across = nth % ACROSS;
                const auto value = [&](unsigned below) {
                    return *reinterpret_cast<const int *>(stages[stage] + (4 * across + below) * PITCH + row * 4);
                };
                store4(out.at(place.x + row, place.y + 4 * across), make_int4(value(0), value(1), value(2), value(3)));
            }
        } else {
            transpose_edge<THREADS, ROWS, COLUMNS>(in, out, place);
        }
        number += grid.step;
        if (number >= grid.all) break;
        __syncthreads();
        fetch(ahead, stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
}
