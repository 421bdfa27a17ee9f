// The kernels of `tensor.cuh`: beside each of ours over tensors of ints, and of bytes, one of the
// same shape (`bench/src/plan/tensor.rs`).
//
// An entry's name is its form, the threads of a block, the rows and columns of a box of the output,
// or its side, the stages, and the output stages: `tensor_stencil_128_32_64_2_2`; a blur has a
// pixel's bytes before the rows. `rows_copy` and `rows_blur` are without the copy engine, without
// stages; the latter has a pixel's bytes and the threads that share rows. `rows_sums` has the rows
// of which a thread sums four columns.
#include "tensor.cuh"

#define ENTRY(NAME, THREADS, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        NAME(const __grid_constant__ Tensor in, const __grid_constant__ Tensor out) {                                  \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_ROWS(NAME, T, THREADS, ...)                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const RowsOf<T> in, const RowsOf<T> out) {              \
        rows_copy<T, THREADS, __VA_ARGS__>(in, out);                                                                   \
    }
#define ENTRY_BLUR(NAME, THREADS, CHANNELS, ACROSS)                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        NAME(const RowsOf<unsigned char> in, const RowsOf<unsigned char> out) {                                        \
        rows_blur<CHANNELS, THREADS, ACROSS>(in, out);                                                                 \
    }
#define ENTRY_SUMS(NAME, THREADS, ROWS)                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const RowsOf<int> in, const RowsOf<int> out) {          \
        rows_sums<THREADS, ROWS>(in, out);                                                                             \
    }

ENTRY(tensor_copy_32_32_32_2, 32, tensor_copy<int, 32, 32, 2>)
ENTRY(tensor_copy_32_32_32_4, 32, tensor_copy<int, 32, 32, 4>)
ENTRY(tensor_copy_32_128_32_2, 32, tensor_copy<int, 128, 32, 2>)
ENTRY(tensor_copy_32_128_32_4, 32, tensor_copy<int, 128, 32, 4>)
ENTRY(tensor_copy_64_32_32_2, 64, tensor_copy<int, 32, 32, 2>)
ENTRY(tensor_copy_64_32_32_4, 64, tensor_copy<int, 32, 32, 4>)
ENTRY(tensor_copy_64_128_32_2, 64, tensor_copy<int, 128, 32, 2>)
ENTRY(tensor_copy_64_128_32_4, 64, tensor_copy<int, 128, 32, 4>)
ENTRY(tensor_copy_bytes_32_128_128_4, 32, tensor_copy<unsigned char, 128, 128, 4>)
ENTRY(tensor_transpose_64_32_1_1, 64, tensor_transpose<int, 64, 32, 1, 1>)
ENTRY(tensor_transpose_64_32_1_2, 64, tensor_transpose<int, 64, 32, 1, 2>)
ENTRY(tensor_transpose_64_32_2_1, 64, tensor_transpose<int, 64, 32, 2, 1>)
ENTRY(tensor_transpose_64_32_2_2, 64, tensor_transpose<int, 64, 32, 2, 2>)
ENTRY(tensor_transpose_64_32_4_1, 64, tensor_transpose<int, 64, 32, 4, 1>)
ENTRY(tensor_transpose_64_32_4_2, 64, tensor_transpose<int, 64, 32, 4, 2>)
ENTRY(tensor_transpose_bytes_64_128_1_1, 64, tensor_transpose<unsigned char, 64, 128, 1, 1>)
ENTRY(tensor_transpose_bytes_64_128_1_2, 64, tensor_transpose<unsigned char, 64, 128, 1, 2>)
ENTRY(tensor_transpose_bytes_64_128_2_1, 64, tensor_transpose<unsigned char, 64, 128, 2, 1>)
ENTRY(tensor_transpose_bytes_64_128_2_2, 64, tensor_transpose<unsigned char, 64, 128, 2, 2>)
ENTRY(tensor_batched_transpose_64_32_1_1, 64, tensor_batched_transpose<int, 64, 32, 1, 1>)
ENTRY(tensor_batched_transpose_64_32_1_2, 64, tensor_batched_transpose<int, 64, 32, 1, 2>)
ENTRY(tensor_batched_transpose_64_32_2_1, 64, tensor_batched_transpose<int, 64, 32, 2, 1>)
ENTRY(tensor_batched_transpose_64_32_2_2, 64, tensor_batched_transpose<int, 64, 32, 2, 2>)
ENTRY(tensor_batched_transpose_bytes_64_128_1_1, 64, tensor_batched_transpose<unsigned char, 64, 128, 1, 1>)
ENTRY(tensor_stencil_128_32_64_1_1, 128, tensor_stencil<128, 32, 64, 1, 1>)
ENTRY(tensor_stencil_128_32_64_1_2, 128, tensor_stencil<128, 32, 64, 1, 2>)
ENTRY(tensor_stencil_128_32_64_2_1, 128, tensor_stencil<128, 32, 64, 2, 1>)
ENTRY(tensor_stencil_128_32_64_2_2, 128, tensor_stencil<128, 32, 64, 2, 2>)
ENTRY(tensor_stencil_128_16_128_2_2, 128, tensor_stencil<128, 16, 128, 2, 2>)
ENTRY(tensor_stencil_3x3_128_32_64_1_1, 128, tensor_stencil_3x3<128, 32, 64, 1, 1>)
ENTRY(tensor_stencil_3x3_128_32_64_2_1, 128, tensor_stencil_3x3<128, 32, 64, 2, 1>)
ENTRY(tensor_blur_bytes_224_1_64_224_2_2, 224, tensor_blur<1, 224, 64, 224, 2, 2>)
ENTRY(tensor_blur_bytes_224_3_64_224_2_2, 224, tensor_blur<3, 224, 64, 224, 2, 2>)
ENTRY(tensor_sums_64_16_256_2_1, 64, tensor_sums<64, 16, 256, 2, 1>)
ENTRY(tensor_sums_64_16_256_4_1, 64, tensor_sums<64, 16, 256, 4, 1>)
ENTRY(tensor_sums_64_32_256_2_1, 64, tensor_sums<64, 32, 256, 2, 1>)
ENTRY(tensor_sums_64_32_256_4_1, 64, tensor_sums<64, 32, 256, 4, 1>)
ENTRY_ROWS(rows_copy_128_4_128, int, 128, 4, 128)
ENTRY_ROWS(rows_copy_256_8_512, int, 256, 8, 512)
ENTRY_ROWS(rows_copy_bytes_128_4_512, unsigned char, 128, 4, 512)
ENTRY_ROWS(rows_copy_bytes_256_8_2048, unsigned char, 256, 8, 2048)
ENTRY_SUMS(rows_sums_128_64, 128, 64)
ENTRY_SUMS(rows_sums_256_256, 256, 256)
ENTRY_BLUR(rows_blur_bytes_128_1_32, 128, 1, 32)
ENTRY_BLUR(rows_blur_bytes_128_3_32, 128, 3, 32)
ENTRY_BLUR(rows_blur_bytes_256_1_16, 256, 1, 16)
ENTRY_BLUR(rows_blur_bytes_256_3_16, 256, 3, 16)
