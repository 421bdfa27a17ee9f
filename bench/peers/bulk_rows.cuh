// What our kernels over matrices with the copy engine do, as an expert writes it: a bulk copy fills
// each row of a tile. The tiles, stages, threads and elements a thread are the same.
//
// The engine fills a stage with a tile that lies in the matrix as a whole, the stencil's with all
// that is copied around it. At the edges of the matrix the thread that fills arrives without bytes,
// so that each tile is a phase, and the block reads the tile from global memory.
#pragma once

#include "bulk.cuh"
#include "stencil.cuh"
#include "transpose.cuh"

// Stages of LINES rows of LENGTH ints each, PITCH ints apart, of a matrix whose rows are
// `source_pitch` ints apart.
template <unsigned LINES, unsigned LENGTH, unsigned PITCH, unsigned STAGES>
struct BulkRowStages : BulkStages<int, LINES * PITCH, STAGES> {
    unsigned long long source_pitch;

    __device__ __forceinline__ explicit BulkRowStages(const Rows &in) : source_pitch(in.pitch) {}

    // One thread starts to fill a stage with the tile that begins at this address, or with nothing.
    __device__ __forceinline__ void fill(unsigned stage, const int *const (&source)[1]) const {
        const unsigned barrier = this->full + stage * 8, to = this->first + stage * this->BYTES;
        if (source[0] == nullptr) return mbarrier_arrive(barrier);
        arrive_expecting<LINES * LENGTH * 4>(barrier);
#pragma unroll
        for (unsigned line = 0; line < LINES; ++line) {
            load_bulk<LENGTH * 4>(to + line * PITCH * 4, source[0] + line * source_pitch, barrier);
        }
    }
};

// The transpose (`transpose_bulk`): out[c][r] = in[r][c], of tiles of ROWS by COLUMNS ints of the
// output. The rows of a stage are padded by four ints; a thread reads four rows of four ints, which
// it transposes in its registers, and stores four.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES>
__device__ __forceinline__ void bulk_transpose(const Rows in, const Rows out) {
    constexpr unsigned PITCH = ROWS + 4, DOWN = ROWS / 4, ACROSS = COLUMNS / 4;
    static_assert(DOWN * ACROSS % THREADS == 0);
    const BulkRowStages<COLUMNS, ROWS, PITCH, STAGES> stages(in);
    const TileGrid<ROWS, COLUMNS> grid(out);
    const auto sources = [&](unsigned number, const int *(&address)[1]) {
        const uint2 place = grid.place(number);
        address[0] = grid.whole(out, place) ? in.at(place.y, place.x) : nullptr;
    };
    const auto compute = [&](unsigned number, unsigned stage) {
        const uint2 place = grid.place(number);
        if (!grid.whole(out, place)) return transpose_edge<THREADS, ROWS, COLUMNS>(in, out, place);
        const int *tile = stages.tile(stage, 0);
#pragma unroll
        for (unsigned nth = threadIdx.x; nth < DOWN * ACROSS; nth += THREADS) {
            const unsigned row = 4 * (nth % DOWN), column = 4 * (nth / DOWN);
            int4 from[4], to[4];
#pragma unroll
            for (unsigned line = 0; line < 4; ++line) from[line] = load4(tile + (column + line) * PITCH + row);
            transpose4(from, to);
#pragma unroll
            for (unsigned line = 0; line < 4; ++line) store4(out.at(place.x + row + line, place.y + column), to[line]);
        }
    };
    bulk_rounds<STAGES, Fence::READERS, 1, int>(stages, blockIdx.x, grid.all, sources, compute);
}

// The five-point stencil (`stencil_2d_bulk`) of tiles of ROWS by COLUMNS ints, four ints of a row a
// thread. As many rows above and below a tile are copied as columns left and right of it: HALO,
// since rows are copied in pieces of 16 bytes.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES>
__device__ __forceinline__ void bulk_stencil(const Rows in, const Rows out) {
    constexpr unsigned HALO = 4, LINES = ROWS + 2 * HALO, LENGTH = COLUMNS + 2 * HALO, ACROSS = COLUMNS / 4;
    const BulkRowStages<LINES, LENGTH, LENGTH, STAGES> stages(in);
    const TileGrid<ROWS, COLUMNS> grid(out);
    const auto inner = [&](uint2 place) {
        return place.x >= HALO && place.y >= HALO && place.x + ROWS + HALO <= in.height && place.y + COLUMNS + HALO <= in.width;
    };
    const auto sources = [&](unsigned number, const int *(&address)[1]) {
        const uint2 place = grid.place(number);
        address[0] = inner(place) ? in.at(place.x - HALO, place.y - HALO) : nullptr;
    };
    const auto compute = [&](unsigned number, unsigned stage) {
        const uint2 place = grid.place(number);
        if (!inner(place)) return stencil_edge<THREADS, ROWS, COLUMNS>(in, out, place);
        const int *own = stages.tile(stage, 0) + HALO * LENGTH + HALO;
#pragma unroll
        for (unsigned nth = threadIdx.x; nth < ROWS * ACROSS; nth += THREADS) {
            const unsigned row = nth / ACROSS, column = 4 * (nth % ACROSS);
            const int *centre = own + row * LENGTH + column;
            store4(out.at(place.x + row, place.y + column),
                   five(load4(centre), load4(centre - LENGTH), centre[-1], centre[4], load4(centre + LENGTH)));
        }
    };
    bulk_rounds<STAGES, Fence::READERS, 1, int>(stages, blockIdx.x, grid.all, sources, compute);
}
