// What our kernels over tensors do, as an expert writes it: the same boxes, stages, threads and
// patches. How boxes are loaded and stored is in `boxes.cuh`.
#pragma once

#include "boxes.cuh"
#include "stencil.cuh"
#include "transpose.cuh"

// Copies boxes (`copy_tma`): one thread does all of it, since the engine touches every element and
// no other thread does. A stage is filled again when the store after its own has been started, so
// that the thread seldom waits for the engine to read; of two stages that would leave one load in
// flight, and each is filled again at once.
template <class T, unsigned ROWS, unsigned COLUMNS, unsigned STAGES>
__device__ __forceinline__ void tensor_copy(const Tensor &in, const Tensor &out) {
    static_assert(COLUMNS * sizeof(T) == 128, "rows of the swizzle's span");
    if (threadIdx.x != 0) return;
    constexpr unsigned LATER = STAGES > 2 ? 1 : 0;
    const BoxStages<STAGES, ROWS * 128, 0, 0, 1024> stages;
    const BoxGrid<ROWS, COLUMNS> grid(out);
    const unsigned step = gridDim.x;
    prefetch_map(in);
    prefetch_map(out);
    stages.make();
    unsigned ahead = blockIdx.x;
#pragma unroll
    for (unsigned stage = 0; stage < STAGES; ++stage, ahead += step) {
        if (ahead < grid.all) stages.fill(stage, in, grid.place(ahead));
    }
    unsigned stage = 0, parity = 0, again = 0;
    bool refills = LATER == 0;
    for (unsigned number = blockIdx.x; number < grid.all; number += step) {
        const Place to = grid.place(number);
        stages.wait(stage, parity);
        store_box(out, to, stages.first + stage * stages.STRIDE);
        if (refills && ahead < grid.all) {
            const Place from = grid.place(ahead);
            wait_until_read<LATER>();
            stages.fill(again, in, from);
            again = again + 1 == STAGES ? 0 : again + 1;
            ahead += step;
        }
        refills = true;
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    // The engine may still read when a block ends, and its shared memory is another one's then.
    wait_until_read<0>();
}

// Into how many parts each column of boxes is divided: as few as keep nearly all blocks busy until
// the end.
__device__ __forceinline__ unsigned parts_of_columns(unsigned down, unsigned across) {
    unsigned parts = 1;
#pragma unroll 1
    for (unsigned rounds = 1; rounds <= 16; ++rounds) {
        const unsigned places = gridDim.x * rounds;
        if (places < across) continue;
        parts = min(places / across, down);
        if (parts == down || places - parts * across <= places / 16) break;
    }
    return parts;
}

// Adds the columns of `in` to the row `out` (`column_sums`). A block has every so many boxes of one
// column of boxes; a thread sums four columns, and the engine adds a block's sums to the row.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_sums(const Tensor &in, const Tensor &out) {
    static_assert(COLUMNS == 4 * THREADS && COUNT == 1);
    const BoxStages<STAGES, ROWS * COLUMNS * 4, 1, COLUMNS * 4, 128> stages;
    const unsigned down = (in.rows + ROWS - 1) / ROWS, across = (in.columns + COLUMNS - 1) / COLUMNS;
    const unsigned parts = parts_of_columns(down, across);
    const bool issues = threadIdx.x == 0;
    if (issues) {
        prefetch_map(in);
        prefetch_map(out);
        stages.make();
    }
    __syncthreads();
    unsigned stage = 0, parity = 0;
    for (unsigned share = blockIdx.x; share < across * parts; share += gridDim.x) {
        const unsigned part = share / across, column = share % across * COLUMNS;
        const unsigned count = (down - part + parts - 1) / parts;
        const auto fill = [&](unsigned filled, unsigned number) {
            stages.fill(filled, in, Place{int((part + number * parts) * ROWS), int(column)});
        };
        // All stages are free, and their next ones in the ring's order are `stage` and so on.
        if (issues) {
            for (unsigned ahead = 0, filled = stage; ahead < min(STAGES, count); ++ahead) {
                fill(filled, ahead);
                filled = filled + 1 == STAGES ? 0 : filled + 1;
            }
        }
        int4 sums = make_int4(0, 0, 0, 0);
        for (unsigned number = 0; number < count; ++number) {
            stages.wait(stage, parity);
            const int4 *box = reinterpret_cast<const int4 *>(stages.box(stage)) + threadIdx.x;
#pragma unroll
            for (unsigned row = 0; row < ROWS; ++row) {
                const int4 four = box[row * THREADS];
                sums.x += four.x, sums.y += four.y, sums.z += four.z, sums.w += four.w;
            }
            proxy_fence();
            __syncthreads();
            if (issues && number + STAGES < count) fill(stage, number + STAGES);
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
        if (issues) wait_until_read<0>();
        __syncthreads();
        reinterpret_cast<int4 *>(stages.result(0))[threadIdx.x] = sums;
        proxy_fence();
        __syncthreads();
        if (issues) add_box(out, Place{0, int(column)}, stages.first + stages.RESULTS);
    }
    if (issues) wait_until_read<0>();
}

// Piece `piece` of 16 bytes of a row of 128 bytes, where the engine puts it with SWIZZLE_128B.
template <class BYTES> __device__ __forceinline__ auto swizzled_piece(BYTES *tile, unsigned row, unsigned piece) {
    return tile + (row * 128 + (piece ^ (row & 7)) * 16);
}

// Transposes a patch of 16 by 16 bytes from row `column` and column `row` of `box` to row `row` and
// column `column` of `result`, four words of four rows at a time.
__device__ __forceinline__ void transpose_patch(const unsigned char *box, unsigned char *result, unsigned row, unsigned column) {
    unsigned words[16][4];
#pragma unroll
    for (unsigned nth = 0; nth < 16; ++nth) {
        const uint4 four = *reinterpret_cast<const uint4 *>(swizzled_piece(box, column + nth, row / 16));
        words[nth][0] = four.x, words[nth][1] = four.y, words[nth][2] = four.z, words[nth][3] = four.w;
    }
#pragma unroll
    for (unsigned across = 0; across < 4; ++across) {
        unsigned turned[4][4];
#pragma unroll
        for (unsigned down = 0; down < 4; ++down) {
            const unsigned a = words[4 * down][across], b = words[4 * down + 1][across];
            const unsigned c = words[4 * down + 2][across], d = words[4 * down + 3][across];
            // Of two rows each the columns 0 and 1, and 2 and 3; then of all four rows.
            const unsigned above = __byte_perm(a, b, 0x5140), below = __byte_perm(c, d, 0x5140);
            const unsigned one = __byte_perm(a, b, 0x7362), two = __byte_perm(c, d, 0x7362);
            turned[0][down] = __byte_perm(above, below, 0x5410);
            turned[1][down] = __byte_perm(above, below, 0x7632);
            turned[2][down] = __byte_perm(one, two, 0x5410);
            turned[3][down] = __byte_perm(one, two, 0x7632);
        }
#pragma unroll
        for (unsigned nth = 0; nth < 4; ++nth) {
            *reinterpret_cast<uint4 *>(swizzled_piece(result, row + 4 * across + nth, column / 16)) =
                make_uint4(turned[nth][0], turned[nth][1], turned[nth][2], turned[nth][3]);
        }
    }
}

// The same of 4 by 4 ints.
__device__ __forceinline__ void transpose_patch_of_ints(const unsigned char *box, unsigned char *result, unsigned row,
                                                        unsigned column) {
    int4 from[4], to[4];
#pragma unroll
    for (unsigned nth = 0; nth < 4; ++nth) {
        from[nth] = *reinterpret_cast<const int4 *>(swizzled_piece(box, column + nth, row / 4));
    }
    transpose4(from, to);
#pragma unroll
    for (unsigned nth = 0; nth < 4; ++nth) {
        *reinterpret_cast<int4 *>(swizzled_piece(result, row + nth, column / 4)) = to[nth];
    }
}

// Transposes a box of SIDE rows of 128 bytes. Neighbouring threads take patches on a diagonal, so
// that what they read and what they write lies in different banks.
template <class T, unsigned THREADS, unsigned SIDE>
__device__ __forceinline__ void transpose_box(const unsigned char *box, unsigned char *result) {
    static_assert(SIDE * sizeof(T) == 128, "rows of the swizzle's span");
    constexpr unsigned N = 16 / sizeof(T), ACROSS = SIDE / N;
    static_assert(ACROSS * ACROSS % THREADS == 0);
#pragma unroll
    for (unsigned nth = 0; nth < ACROSS * ACROSS / THREADS; ++nth) {
        const unsigned patch = threadIdx.x + nth * THREADS;
        const unsigned across = patch % ACROSS, down = (patch / ACROSS + across) % ACROSS;
        if constexpr (sizeof(T) == 1) {
            transpose_patch(box, result, down * N, across * N);
        } else {
            transpose_patch_of_ints(box, result, down * N, across * N);
        }
    }
}

// The transpose (`transpose_tma`).
template <class T, unsigned THREADS, unsigned SIDE, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_transpose(const Tensor &in, const Tensor &out) {
    const BoxStages<STAGES, SIDE * 128, COUNT, SIDE * 128, 1024> stages;
    const BoxGrid<SIDE, SIDE> grid(out);
    const auto source = [](Place to) { return Place{to.column, to.row}; };
    const auto compute = [](const unsigned char *box, unsigned char *result, unsigned) {
        transpose_box<T, THREADS, SIDE>(box, result);
    };
    tensor_rounds<STAGES, COUNT>(stages, grid, in, out, source, compute);
}

// The transpose of each matrix of a batch (`batched_transpose`).
template <class T, unsigned THREADS, unsigned SIDE, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_batched_transpose(const Tensor &in, const Tensor &out) {
    const BoxStages<STAGES, SIDE * 128, COUNT, SIDE * 128, 1024> stages;
    const BatchGrid<SIDE> grid(out);
    const auto source = [](BatchPlace to) { return BatchPlace{to.matrix, to.column, to.row}; };
    const auto compute = [](const unsigned char *box, unsigned char *result, unsigned) {
        transpose_box<T, THREADS, SIDE>(box, result);
    };
    tensor_rounds<STAGES, COUNT>(stages, grid, in, out, source, compute);
}

// Four ints of a row of a box with the neighbours on either side.
struct Line {
    int left;
    int4 own;
    int right;
};

// `from` is the int before the four.
__device__ __forceinline__ Line line_at(const int *from) { return {from[0], load4(from + 1), from[5]}; }

// Three times each of the four, and its eight neighbours.
__device__ __forceinline__ int4 nine(const Line &above, const Line &line, const Line &below) {
    const auto three = [](const Line &of) {
        return make_int4(of.left + of.own.x + of.own.y, of.own.x + of.own.y + of.own.z, of.own.y + of.own.z + of.own.w,
                         of.own.z + of.own.w + of.right);
    };
    const int4 a = three(above), b = three(line), c = three(below);
    return make_int4(2 * line.own.x + a.x + b.x + c.x, 2 * line.own.y + a.y + b.y + c.y, 2 * line.own.z + a.z + b.z + c.z,
                     2 * line.own.w + a.w + b.w + c.w);
}

// The stencils, of five points (`stencil_2d_tma`) or of NINE, in patches of 4 by 4 ints. A box has
// a row more above and below, and four columns more on either side, so that rows of four are
// aligned.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES, unsigned COUNT, bool NINE>
__device__ __forceinline__ void tensor_stencil_of(const Tensor &in, const Tensor &out) {
    constexpr unsigned PITCH = COLUMNS + 8, ACROSS = COLUMNS / 4, DOWN = ROWS / 4;
    static_assert(DOWN * ACROSS % THREADS == 0);
    const BoxStages<STAGES, (ROWS + 2) * PITCH * 4, COUNT, ROWS * COLUMNS * 4, 128> stages;
    const BoxGrid<ROWS, COLUMNS> grid(out);
    const auto source = [](Place to) { return Place{to.row - 1, to.column - 4}; };
    const auto compute = [](const unsigned char *box, unsigned char *result, unsigned) {
#pragma unroll
        for (unsigned part = 0; part < DOWN * ACROSS / THREADS; ++part) {
            const unsigned patch = threadIdx.x + part * THREADS;
            const unsigned across = patch % ACROSS, down = (patch / ACROSS + across) % DOWN;
            // The int before the patch's first one, a row above.
            const int *from = reinterpret_cast<const int *>(box) + down * 4 * PITCH + across * 4 + 3;
            int *to = reinterpret_cast<int *>(result) + down * 4 * COLUMNS + across * 4;
            if constexpr (NINE) {
                Line above = line_at(from), line = line_at(from + PITCH);
#pragma unroll
                for (unsigned nth = 0; nth < 4; ++nth) {
                    const Line below = line_at(from + (nth + 2) * PITCH);
                    store4(to + nth * COLUMNS, nine(above, line, below));
                    above = line, line = below;
                }
            } else {
                int4 above = load4(from + 1), centre = load4(from + PITCH + 1);
#pragma unroll
                for (unsigned nth = 0; nth < 4; ++nth) {
                    const int4 below = load4(from + (nth + 2) * PITCH + 1);
                    const int left = from[(nth + 1) * PITCH], right = from[(nth + 1) * PITCH + 5];
                    store4(to + nth * COLUMNS, five(centre, above, left, right, below));
                    above = centre, centre = below;
                }
            }
        }
    };
    tensor_rounds<STAGES, COUNT>(stages, grid, in, out, source, compute);
}

template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_stencil(const Tensor &in, const Tensor &out) {
    tensor_stencil_of<THREADS, ROWS, COLUMNS, STAGES, COUNT, false>(in, out);
}

// `stencil_3x3_tma`.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_stencil_3x3(const Tensor &in, const Tensor &out) {
    tensor_stencil_of<THREADS, ROWS, COLUMNS, STAGES, COUNT, true>(in, out);
}

// Puts bytes in a line's place from byte `at` on, where it has zeros.
__device__ __forceinline__ void put_bytes(unsigned (&line)[8], unsigned long long bytes, int at) {
#pragma unroll
    for (int word = 0; word < 8; ++word) {
        const int by = 8 * at - 32 * word;
        if (by >= 0 && by < 32) line[word] |= unsigned(bytes << by);
        if (by < 0 && by > -64) line[word] |= unsigned(bytes >> -by);
    }
}

// A pixel's bytes, twice.
template <unsigned CHANNELS> __device__ __forceinline__ unsigned long long pixel_twice(const unsigned char *at) {
    unsigned long long one = 0;
#pragma unroll
    for (unsigned channel = 0; channel < CHANNELS; ++channel) one |= (unsigned long long)(at[channel]) << (8 * channel);
    return one | one << (8 * CHANNELS);
}

// Blurs 4 rows of 16 bytes: `line(nth, words)` says what the `nth` of 8 rows has from 8 bytes
// before the first on, and `store(below, piece)` takes what becomes of one. Sums have 16 bits, two
// in a word: of four bytes the first and the third, and the second and the fourth.
template <unsigned CHANNELS, class LINE, class STORE> __device__ __forceinline__ void blur_patch(const LINE &line, const STORE &store) {
    constexpr unsigned EVEN = 0x00FF00FF;
    unsigned sums[4][16] = {};
#pragma unroll
    for (int nth = 0; nth < 8; ++nth) {
        unsigned words[8];
        line(nth, words);
#pragma unroll
        for (int word = 0; word < 8; ++word) {
            const unsigned even = words[word] & EVEN, odd = words[word] >> 8 & EVEN;
#pragma unroll
            for (int below = 0; below < 4; ++below) {
                const int tap = nth - below;
                if (tap < 0 || tap > 4) continue;
                const unsigned weight = tap == 2 ? 6 : tap % 2 == 1 ? 4 : 1;
                sums[below][2 * word] += weight * even;
                sums[below][2 * word + 1] += weight * odd;
            }
        }
    }
#pragma unroll
    for (unsigned below = 0; below < 4; ++below) {
        // The sums of two bytes' columns, and 256 times the means of two.
        const auto pair = [&](unsigned column) {
            const unsigned at = column / 4 * 2 + column % 2;
            return column % 4 < 2 ? sums[below][at] : __byte_perm(sums[below][at], sums[below][at + 2 < 16 ? at + 2 : at], 0x5432);
        };
        const auto two = [&](unsigned first) {
            const unsigned column = 8 + first - 2 * CHANNELS;
            return pair(column) + pair(column + 4 * CHANNELS) + 4 * (pair(column + CHANNELS) + pair(column + 3 * CHANNELS)) +
                   6 * pair(column + 2 * CHANNELS) + 0x00800080;
        };
        const auto four = [&](unsigned first) { return __byte_perm(two(first), two(first + 1), 0x7351); };
        store(below, make_uint4(four(0), four(4), four(8), four(12)));
    }
}

// The blur (`blur`). A box has two rows more above and below, and 16 bytes more on either side.
// Beyond a border it has zeros.
template <unsigned CHANNELS, unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_blur(const Tensor &in, const Tensor &out) {
    constexpr unsigned PITCH = COLUMNS + 32, ACROSS = COLUMNS / 16, DOWN = ROWS / 4;
    static_assert(DOWN * ACROSS == THREADS);
    const BoxStages<STAGES, (ROWS + 4) * PITCH, COUNT, ROWS * COLUMNS, 128> stages;
    const BoxGrid<ROWS, COLUMNS> grid(out);
    const auto source = [](Place to) { return Place{to.row - 2, to.column - 16}; };
    const int rows = int(in.rows), columns = int(in.columns);
    const auto compute = [=](const unsigned char *box, unsigned char *result, unsigned number) {
        const Place place = grid.place(number);
        const unsigned across = threadIdx.x % ACROSS, down = (threadIdx.x / ACROSS + across) % DOWN;
        const int own = place.column + int(across) * 16, left = columns - own;
        const auto line = [&](int nth, unsigned(&words)[8]) {
            const int wanted = place.row + int(down) * 4 + nth - 2;
            const int row = min(max(wanted, 0), rows - 1) - place.row + 2;
            const unsigned char *from = box + row * PITCH + across * 16;
            const uint4 *pieces = reinterpret_cast<const uint4 *>(from);
            const uint4 before = pieces[0], mine = pieces[1], after = pieces[2];
            words[0] = before.z, words[1] = before.w, words[2] = mine.x, words[3] = mine.y;
            words[4] = mine.z, words[5] = mine.w, words[6] = after.x, words[7] = after.y;
            if (own == 0) put_bytes(words, pixel_twice<CHANNELS>(from + 16), 8 - 2 * int(CHANNELS));
            if (left > 0 && left < 24) put_bytes(words, pixel_twice<CHANNELS>(from + 16 + left - int(CHANNELS)), 8 + left);
        };
        const auto store = [&](unsigned below, uint4 piece) {
            *reinterpret_cast<uint4 *>(result + (down * 4 + below) * COLUMNS + across * 16) = piece;
        };
        blur_patch<CHANNELS>(line, store);
    };
    tensor_rounds<STAGES, COUNT>(stages, grid, in, out, source, compute);
}

// The blur without the engine and without shared memory, of pictures whose rows are whole pixels: a
// thread reads what it needs from global memory, 16 bytes at a time, most of which another thread's
// read has brought to the first-level cache.
template <unsigned CHANNELS, unsigned THREADS, unsigned ACROSS>
__device__ __forceinline__ void rows_blur(const RowsOf<unsigned char> &in, const RowsOf<unsigned char> &out) {
    constexpr unsigned ROWS = THREADS / ACROSS * 4, COLUMNS = ACROSS * 16;
    const TileGrid<ROWS, COLUMNS> grid(out);
    const int rows = int(out.height), columns = int(out.width);
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        const int top = int(place.x + threadIdx.x / ACROSS * 4), own = int(place.y + threadIdx.x % ACROSS * 16);
        const int left = columns - own;
        if (top >= rows || left <= 0) continue;
        const auto line = [&](int nth, unsigned(&words)[8]) {
            const unsigned char *from = in.at(unsigned(min(max(top + nth - 2, 0), rows - 1)), unsigned(own));
            const uint4 mine = *reinterpret_cast<const uint4 *>(from);
            const uint2 before = own == 0 ? make_uint2(0, 0) : *reinterpret_cast<const uint2 *>(from - 8);
            const uint2 after = left <= 16 ? make_uint2(0, 0) : *reinterpret_cast<const uint2 *>(from + 16);
            words[0] = before.x, words[1] = before.y, words[2] = mine.x, words[3] = mine.y;
            words[4] = mine.z, words[5] = mine.w, words[6] = after.x, words[7] = after.y;
            if (own == 0) put_bytes(words, pixel_twice<CHANNELS>(from), 8 - 2 * int(CHANNELS));
            if (left < 24) {
                // What lies behind the row's end is anything.
#pragma unroll
                for (int word = 2; word < 8; ++word) {
                    const int bytes = left - (word - 2) * 4;
                    if (bytes < 4) words[word] = bytes <= 0 ? 0 : words[word] & (1U << 8 * bytes) - 1;
                }
                put_bytes(words, pixel_twice<CHANNELS>(from + left - int(CHANNELS)), 8 + left);
            }
        };
        const auto store = [&](unsigned below, uint4 piece) {
            if (top + int(below) >= rows) return;
            unsigned char *to = out.at(unsigned(top) + below, unsigned(own));
            if (left >= 16) {
                *reinterpret_cast<uint4 *>(to) = piece;
            } else {
                const unsigned words[4] = {piece.x, piece.y, piece.z, piece.w};
                for (int nth = 0; nth < left; ++nth) to[nth] = (unsigned char)(words[nth / 4] >> 8 * (nth % 4));
            }
        };
        blur_patch<CHANNELS>(line, store);
    }
}

// The sums of columns without the engine and without shared memory: a thread sums four columns of
// ROWS rows, 16 bytes a load, and adds what it has to the row by atomic operations.
template <unsigned THREADS, unsigned ROWS>
__device__ __forceinline__ void rows_sums(const RowsOf<int> &in, const RowsOf<int> &out) {
    const TileGrid<ROWS, 4 * THREADS> grid(in);
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        const unsigned column = place.y + 4 * threadIdx.x;
        if (column >= in.width) continue;
        const int *from = in.at(place.x, column);
        const unsigned rows = min(ROWS, unsigned(in.height) - place.x);
        int4 sums = make_int4(0, 0, 0, 0);
#pragma unroll 16
        for (unsigned row = 0; row < rows; ++row) {
            const int4 four = load4(from + row * in.pitch);
            sums.x += four.x, sums.y += four.y, sums.z += four.z, sums.w += four.w;
        }
        const int values[4] = {sums.x, sums.y, sums.z, sums.w};
#pragma unroll
        for (unsigned nth = 0; nth < 4; ++nth) {
            if (column + nth < in.width) atomicAdd(out.at(0, column + nth), values[nth]);
        }
    }
}

// A copy of a matrix without the engine: 16 bytes an access, all loads of a tile before its stores.
template <class T, unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void rows_copy(const RowsOf<T> &in, const RowsOf<T> &out) {
    constexpr unsigned N = 16 / sizeof(T), ACROSS = COLUMNS / N, EACH = ROWS * ACROSS / THREADS;
    static_assert(EACH * THREADS == ROWS * ACROSS);
    const TileGrid<ROWS, COLUMNS> grid(out);
    for (unsigned number = blockIdx.x; number < grid.all; number += grid.step) {
        const uint2 place = grid.place(number);
        if (grid.whole(out, place)) {
            int4 pieces[EACH];
#pragma unroll
            for (unsigned nth = 0; nth < EACH; ++nth) {
                const unsigned piece = threadIdx.x + nth * THREADS;
                pieces[nth] = *reinterpret_cast<const int4 *>(in.at(place.x + piece / ACROSS, place.y + piece % ACROSS * N));
            }
#pragma unroll
            for (unsigned nth = 0; nth < EACH; ++nth) {
                const unsigned piece = threadIdx.x + nth * THREADS;
                *reinterpret_cast<int4 *>(out.at(place.x + piece / ACROSS, place.y + piece % ACROSS * N)) = pieces[nth];
            }
        } else {
            for (unsigned nth = threadIdx.x; nth < ROWS * COLUMNS; nth += THREADS) {
                const unsigned row = place.x + nth / COLUMNS, column = place.y + nth % COLUMNS;
                if (row < out.height && column < out.width) *out.at(row, column) = *in.at(row, column);
            }
        }
    }
}
