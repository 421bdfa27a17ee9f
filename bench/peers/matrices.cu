// The candidates for the fastest C++ of any shape over matrices of ints. Which of them are the
// fastest is measured (`tilepipe-bench measure --shapes`), and those are what our kernels stand
// beside.
//
// An entry's name is its form, the threads of a block, the rows and the columns of a tile of the
// output, and the stages: `transpose_async_256_64x64_1`. The families:
//
//   transpose_padded_*     4 bytes an access, shared memory with padded rows
//   transpose_direct_*     16 bytes an access, blocks of 8 by 8 in registers, no shared memory
//   transpose_blocks_*     16 bytes an access, blocks of 4 by 4 in registers, exchanged rows of
//                          four in shared memory
//   transpose_async_*      cp.async of 16 bytes into exchanged rows of four, blocks of 4 by 4
//   transpose_async_4_*    cp.async of 4 bytes into padded rows, 16 bytes a store
//   transpose_async_16_*   the same with 16 bytes
//   stencil_column_*       16 bytes an access, three rows in registers, neighbours from the warp
//   stencil_cached_*       the same, neighbours from the L1 cache
//   stencil_shared_*       through registers into shared memory
//   stencil_async_*        cp.async of 16 bytes
#include "stencil.cuh"
#include "transpose.cuh"

#define ENTRY(NAME, THREADS, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const Rows in, const Rows out) { __VA_ARGS__(in, out); }
#define TILES(FORM, T, R, C) ENTRY(FORM##_##T##_##R##x##C##_0, T, FORM<T, R, C>)
#define STAGES_OF(FORM, T, R, C, S) ENTRY(FORM##_##T##_##R##x##C##_##S, T, FORM<T, R, C, S>)
#define STAGES(FORM, T, R, C)                                                                                          \
    STAGES_OF(FORM, T, R, C, 1)                                                                                        \
    STAGES_OF(FORM, T, R, C, 2)

template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES>
__device__ __forceinline__ void transpose_async_4(const Rows in, const Rows out) {
    transpose_async_padded<THREADS, ROWS, COLUMNS, STAGES, 4>(in, out);
}
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS, unsigned STAGES>
__device__ __forceinline__ void transpose_async_16(const Rows in, const Rows out) {
    transpose_async_padded<THREADS, ROWS, COLUMNS, STAGES, 16>(in, out);
}
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void stencil_column(const Rows in, const Rows out) {
    stencil_registers<THREADS, ROWS, COLUMNS, true>(in, out);
}
template <unsigned THREADS, unsigned ROWS, unsigned COLUMNS>
__device__ __forceinline__ void stencil_cached(const Rows in, const Rows out) {
    stencil_registers<THREADS, ROWS, COLUMNS, false>(in, out);
}

TILES(transpose_padded, 256, 32, 32)
TILES(transpose_padded, 256, 64, 64)
TILES(transpose_direct, 64, 64, 64)
TILES(transpose_direct, 128, 64, 128)
TILES(transpose_direct, 128, 128, 64)
TILES(transpose_blocks, 64, 32, 32)
TILES(transpose_blocks, 128, 64, 32)
TILES(transpose_blocks, 128, 32, 64)
TILES(transpose_blocks, 128, 64, 64)
TILES(transpose_blocks, 256, 64, 64)
TILES(transpose_blocks, 256, 32, 128)
TILES(transpose_blocks, 256, 128, 32)
TILES(transpose_blocks, 512, 64, 128)
STAGES(transpose_async, 64, 32, 32)
STAGES(transpose_async, 128, 64, 32)
STAGES(transpose_async, 128, 32, 64)
STAGES(transpose_async, 128, 64, 64)
STAGES(transpose_async, 256, 64, 64)
STAGES(transpose_async, 256, 32, 128)
STAGES(transpose_async, 256, 128, 32)
STAGES(transpose_async_4, 256, 32, 32)
STAGES(transpose_async_4, 256, 16, 64)
STAGES(transpose_async_4, 512, 32, 64)
STAGES(transpose_async_16, 256, 32, 32)
STAGES(transpose_async_16, 256, 16, 64)
STAGES(transpose_async_16, 512, 32, 64)
TILES(stencil_column, 128, 4, 128)
TILES(stencil_column, 128, 8, 128)
TILES(stencil_column, 128, 16, 128)
TILES(stencil_column, 256, 8, 128)
TILES(stencil_column, 256, 16, 128)
TILES(stencil_column, 256, 32, 128)
TILES(stencil_column, 256, 8, 512)
TILES(stencil_cached, 128, 4, 128)
TILES(stencil_cached, 128, 8, 128)
TILES(stencil_cached, 256, 8, 128)
TILES(stencil_cached, 256, 16, 128)
TILES(stencil_cached, 256, 32, 128)
TILES(stencil_shared, 256, 16, 64)
TILES(stencil_shared, 256, 8, 128)
TILES(stencil_shared, 256, 16, 128)
STAGES(stencil_async, 256, 16, 64)
STAGES(stencil_async, 256, 8, 128)
STAGES(stencil_async, 256, 16, 128)
STAGES(stencil_async, 512, 16, 128)
STAGES(stencil_async, 256, 32, 128)
