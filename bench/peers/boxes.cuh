// What the peers over tensors share: maps, the instructions of the copy engine, stages of boxes in
// shared memory, and rounds over the boxes of a tensor.
//
// One thread announces the bytes of a stage at its mbarrier and has the copy engine load a box into
// it. Threads compute into an output stage, and one of them has the engine store it. A thread
// fences between the proxies once for a box, after it has read its part of the one stage and
// written its part of the other; the barrier after that hands over both (PTX ISA, "Async proxy").
// The engine fills in what a box has beyond the edges with zeros, and drops it from a store.
#pragma once

#include "roles_by_hand.cuh"

// A tensor as tilepipe passes it: the driver's map, by which the engine finds the boxes, and the
// extents.
struct alignas(64) Tensor {
    unsigned long long map[16];
    unsigned rows, columns, matrices, unused[13];
};
static_assert(sizeof(Tensor) == 192);

// A row and a column, of a tensor or of boxes.
struct Place {
    int row, column;
};

// The same of one matrix of a batch.
struct BatchPlace {
    int matrix, row, column;
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

__device__ __forceinline__ void load_box(unsigned to, const Tensor &tensor, BatchPlace from, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(&tensor), "r"(from.column), "r"(from.row), "r"(from.matrix), "r"(barrier)
        : "memory");
}

// Stores the box that begins at `to`, as a group of its own.
__device__ __forceinline__ void store_box(const Tensor &tensor, Place to, unsigned from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&tensor), "r"(to.column),
                 "r"(to.row), "r"(from)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void store_box(const Tensor &tensor, BatchPlace to, unsigned from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&tensor),
                 "r"(to.column), "r"(to.row), "r"(to.matrix), "r"(from)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Adds the box at `from` to the one that begins at `to`, as a group of its own.
__device__ __forceinline__ void add_box(const Tensor &tensor, Place to, unsigned from) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&tensor),
                 "r"(to.column), "r"(to.row), "r"(from)
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

// The boxes of a batch, SIDE by SIDE elements of one matrix each, numbered matrix by matrix and row
// by row: likewise.
template <unsigned SIDE> struct BatchGrid {
    unsigned across, down, all;

    __device__ __forceinline__ explicit BatchGrid(const Tensor &tensor)
        : across((tensor.columns + SIDE - 1) / SIDE), down((tensor.rows + SIDE - 1) / SIDE),
          all(across * down * tensor.matrices) {}

    __device__ __forceinline__ BatchPlace place(unsigned number) const {
        const unsigned row = number / across;
        return {int(row / down), int(row % down * SIDE), int(number % across * SIDE)};
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
    template <class PLACE> __device__ __forceinline__ void fill(unsigned stage, const Tensor &in, PLACE from) const {
        expect_bytes(barriers + stage * 8, IN_BYTES);
        load_box(first + stage * STRIDE, in, from, barriers + stage * 8);
    }

    __device__ __forceinline__ void wait(unsigned stage, unsigned parity) const { mbarrier_wait(barriers + stage * 8, parity); }

    __device__ __forceinline__ const unsigned char *box(unsigned stage) const { return tensor_memory + stage * STRIDE; }

    __device__ __forceinline__ unsigned char *result(unsigned nth) const {
        return tensor_memory + RESULTS + nth * OUT_STRIDE;
    }

    // One thread stores an output stage.
    template <class PLACE> __device__ __forceinline__ void store_result(unsigned nth, const Tensor &out, PLACE to) const {
        store_box(out, to, first + RESULTS + nth * OUT_STRIDE);
    }
};

// Computes this block's boxes of `out`, each from one box of `in`: `source(place)` says where that
// begins, and all threads call `compute(box, result, number)`.
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
        decltype(grid.place(0)) to{}, from{};
        if (issues) {
            to = grid.place(number);
            from = source(grid.place(ahead));
        }
        stages.wait(stage, parity);
        compute(stages.box(stage), stages.result(result), number);
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
