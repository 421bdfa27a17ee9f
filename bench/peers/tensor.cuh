// What our kernels over tensors do, as an expert writes it: the same boxes, stages, threads and
// patches.
//
// One thread announces the bytes of a stage at its mbarrier and has the copy engine load a box into
// it. Threads compute into an output stage, and one of them has the engine store it. A thread
// fences between the proxies once for a box, after it has read its part of the one stage and
// written its part of the other; the barrier after that hands over both (PTX ISA, "Async proxy").
// The engine fills in what a box has beyond the edges with zeros, and drops it from a store.
#pragma once

#include "roles_by_hand.cuh"
#include "stencil.cuh"
#include "transpose.cuh"

// A tensor as tilepipe passes it: the driver's map, by which the engine finds the boxes, and the
// extents.
struct alignas(64) Tensor {
    unsigned long long map[16];
    unsigned rows, columns;
    unsigned long long unused[7];
};
static_assert(sizeof(Tensor) == 192);

// A row and a column, of a tensor or of boxes.
struct Place {
    int row, column;
};

// The instructions. A map lies in the kernel's parameters; addresses in shared memory are 32 bits.

__device__ __forceinline__ void prefetch_map(const Tensor &tensor) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&tensor) : "memory");
}

// Loads the box that begins at `from`, and completes its bytes at a barrier.
__device__ __forceinline__ void load_box(unsigned to, const Tensor &tensor, Place from, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                     to),
                 "l"(&tensor), "r"(from.column), "r"(from.row), "r"(barrier)
                 : "memory");
}

// Stores the box that begins at `to`, as a group of its own.
__device__ __forceinline__ void store_box(const Tensor &tensor, Place to, unsigned from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&tensor), "r"(to.column),
                 "r"(to.row), "r"(from)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until the engine has read what all but the youngest LEFT of this thread's stores store.
template <unsigned LEFT> __device__ __forceinline__ void wait_until_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

__device__ __forceinline__ void expect_bytes(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// The boxes of a tensor, ROWS by COLUMNS elements without their halo, numbered row by row: fewer
// than 2^32. A block has every gridDim.x-th of them.
template <unsigned ROWS, unsigned COLUMNS> struct BoxGrid {
    unsigned across, all;

    __device__ __forceinline__ explicit BoxGrid(const Tensor &tensor)
        : across((tensor.columns + COLUMNS - 1) / COLUMNS), all(across * ((tensor.rows + ROWS - 1) / ROWS)) {}

    // Where a box begins.
    __device__ __forceinline__ Place place(unsigned number) const {
        return {int(number / across * ROWS), int(number % across * COLUMNS)};
    }
};

extern __shared__ __align__(1024) unsigned char tensor_memory[];

// The dynamic shared memory: STAGES boxes of IN_BYTES bytes, COUNT output stages of OUT_BYTES, each
// at a multiple of ALIGNMENT, and an mbarrier for each of the former.
template <unsigned STAGES, unsigned IN_BYTES, unsigned COUNT, unsigned OUT_BYTES, unsigned ALIGNMENT> struct BoxStages {
    static constexpr unsigned STRIDE = (IN_BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                              OUT_STRIDE = (OUT_BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, RESULTS = STAGES * STRIDE;
    unsigned first, barriers;

    __device__ __forceinline__ BoxStages()
        : first(unsigned(__cvta_generic_to_shared(tensor_memory))), barriers(first + RESULTS + COUNT * OUT_STRIDE) {}

    // One thread makes the mbarriers.
    __device__ __forceinline__ void make() const {
#pragma unroll
        for (unsigned stage = 0; stage < STAGES; ++stage) mbarrier_init(barriers + stage * 8, 1);
        publish_barriers();
    }

    // One thread starts to fill a stage.
    __device__ __forceinline__ void fill(unsigned stage, const Tensor &in, Place from) const {
        expect_bytes(barriers + stage * 8, IN_BYTES);
        load_box(first + stage * STRIDE, in, from, barriers + stage * 8);
    }

    __device__ __forceinline__ void wait(unsigned stage, unsigned parity) const { mbarrier_wait(barriers + stage * 8, parity); }

    __device__ __forceinline__ const unsigned char *box(unsigned stage) const { return tensor_memory + stage * STRIDE; }

    __device__ __forceinline__ unsigned char *result(unsigned nth) const {
        return tensor_memory + RESULTS + nth * OUT_STRIDE;
    }

    // One thread stores an output stage.
    __device__ __forceinline__ void store_result(unsigned nth, const Tensor &out, Place to) const {
        store_box(out, to, first + RESULTS + nth * OUT_STRIDE);
    }
};

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

// Computes this block's boxes of `out`, each from one box of `in`: `source(place)` says where that
// begins, and all threads call `compute(box, result)`.
//
// With several output stages, the one that is filled next is free when the barrier after the fence
// has been passed; with one there is another barrier.
template <unsigned STAGES, unsigned COUNT, class BOX_STAGES, class GRID, class SOURCE, class COMPUTE>
__device__ __forceinline__ void tensor_rounds(const BOX_STAGES &stages, const GRID &grid, const Tensor &in, const Tensor &out,
                                              const SOURCE &source, const COMPUTE &compute) {
    const bool issues = threadIdx.x == 0;
    const unsigned step = gridDim.x;
    unsigned ahead = blockIdx.x;
    if (issues) {
        prefetch_map(in);
        prefetch_map(out);
        stages.make();
#pragma unroll
        for (unsigned stage = 0; stage < STAGES; ++stage, ahead += step) {
            if (ahead < grid.all) stages.fill(stage, in, source(grid.place(ahead)));
        }
    }
    __syncthreads();
    unsigned stage = 0, parity = 0, result = 0;
    for (unsigned number = blockIdx.x; number < grid.all;) {
        // Divisions, which are done while the engine loads.
        Place to{}, from{};
        if (issues) {
            to = grid.place(number);
            from = source(grid.place(ahead));
        }
        stages.wait(stage, parity);
        compute(stages.box(stage), stages.result(result));
        proxy_fence();
        if constexpr (COUNT > 1) {
            if (issues) wait_until_read<COUNT - 2>();
        }
        __syncthreads();
        if (issues) {
            stages.store_result(result, out, to);
            if (ahead < grid.all) stages.fill(stage, in, from);
            ahead += step;
        }
        number += step;
        if constexpr (COUNT == 1) {
            if (number >= grid.all) break;
            if (issues) wait_until_read<0>();
            __syncthreads();
        }
        result = result + 1 == COUNT ? 0 : result + 1;
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
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

// The transpose (`transpose_tma`), in boxes of SIDE rows of 128 bytes. Neighbouring threads take
// patches on a diagonal, so that what they read and what they write lies in different banks.
template <class T, unsigned THREADS, unsigned SIDE, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_transpose(const Tensor &in, const Tensor &out) {
    static_assert(SIDE * sizeof(T) == 128, "rows of the swizzle's span");
    constexpr unsigned N = 16 / sizeof(T), ACROSS = SIDE / N;
    static_assert(ACROSS * ACROSS % THREADS == 0);
    const BoxStages<STAGES, SIDE * 128, COUNT, SIDE * 128, 1024> stages;
    const BoxGrid<SIDE, SIDE> grid(out);
    const auto source = [](Place to) { return Place{to.column, to.row}; };
    const auto compute = [](const unsigned char *box, unsigned char *result) {
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
    };
    tensor_rounds<STAGES, COUNT>(stages, grid, in, out, source, compute);
}

// The stencil (`stencil_2d_tma`), in patches of 4 by 4 ints. A box has a row more above and below,
// and four columns more on either side, so that rows of four are aligned.
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES, unsigned COUNT>
__device__ __forceinline__ void tensor_stencil(const Tensor &in, const Tensor &out) {
    constexpr unsigned PITCH = COLUMNS + 8, ACROSS = COLUMNS / 4, DOWN = ROWS / 4;
    static_assert(DOWN * ACROSS % THREADS == 0);
    const BoxStages<STAGES, (ROWS + 2) * PITCH * 4, COUNT, ROWS * COLUMNS * 4, 128> stages;
    const BoxGrid<ROWS, COLUMNS> grid(out);
    const auto source = [](Place to) { return Place{to.row - 1, to.column - 4}; };
    const auto compute = [](const unsigned char *box, unsigned char *result) {
#pragma unroll
        for (unsigned part = 0; part < DOWN * ACROSS / THREADS; ++part) {
            const unsigned patch = threadIdx.x + part * THREADS;
            const unsigned across = patch % ACROSS, down = (patch / ACROSS + across) % DOWN;
            // The int before the patch's first one, a row above.
            const int *from = reinterpret_cast<const int *>(box) + down * 4 * PITCH + across * 4 + 3;
            int *to = reinterpret_cast<int *>(result) + down * 4 * COLUMNS + across * 4;
            int4 above = load4(from + 1), centre = load4(from + PITCH + 1);
#pragma unroll
            for (unsigned nth = 0; nth < 4; ++nth) {
                const int4 below = load4(from + (nth + 2) * PITCH + 1);
                const int left = from[(nth + 1) * PITCH], right = from[(nth + 1) * PITCH + 5];
                store4(to + nth * COLUMNS, five(centre, above, left, right, below));
                above = centre, centre = below;
            }
        }
    };
    tensor_rounds<STAGES, COUNT>(stages, grid, in, out, source, compute);
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
