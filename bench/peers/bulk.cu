// The kernels of `bulk.cuh`, `bulk_rows.cuh` and `bulk_results.cuh`: beside each of ours with the
// copy engine one of the same shape (`bench/src/plan/bulk.rs`).
//
// An entry's name is its form, the threads of a block, the elements of a tile and the stages:
// `engine_stream_128_512_2`. Over matrices it has the rows and the columns of a tile of the output:
// `engine_transpose_256_64x64_1`. The forms `engine_stream_no_fence` and
// `engine_stream_issuer_fence` say what the fence of the reading threads costs. `engine_hand` is
// cp.async by hand in the same tiles.
#include "bulk_results.cuh"
#include "bulk_rows.cuh"

#define ENTRY(NAME, THREADS, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const View<int> in, const View<int> out) {              \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_2(NAME, THREADS, ...)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        NAME(const View<int> left, const View<int> right, const View<int> out) {                                       \
        __VA_ARGS__(left, right, out);                                                                                 \
    }
#define ENTRY_4(NAME, THREADS, ...)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const View<int4> in, const View<int4> out) {            \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_ROWS(NAME, THREADS, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const Rows in, const Rows out) { __VA_ARGS__(in, out); }

#define ENTRY_KEYS(NAME, THREADS, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const View<float> in, const View<unsigned long long> out) { \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_BYTES(NAME, THREADS, ...)                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const View<unsigned char> in, const View<unsigned> out) { \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_UINT(NAME, THREADS, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const View<unsigned> in, const View<unsigned> out) {    \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_FILTER(NAME, THREADS, ...)                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        NAME(const View<int> signal, const Filter filter, const View<int> out) {                                       \
        __VA_ARGS__(signal, filter, out);                                                                              \
    }

ENTRY(engine_stream_128_512_1, 128, bulk_stream<128, 512, 1>)
ENTRY(engine_stream_128_512_2, 128, bulk_stream<128, 512, 2>)
ENTRY(engine_stream_128_512_4, 128, bulk_stream<128, 512, 4>)
ENTRY(engine_stream_128_1024_1, 128, bulk_stream<128, 1024, 1>)
ENTRY(engine_stream_128_1024_2, 128, bulk_stream<128, 1024, 2>)
ENTRY(engine_stream_128_1024_4, 128, bulk_stream<128, 1024, 4>)
ENTRY(engine_stream_128_2048_1, 128, bulk_stream<128, 2048, 1>)
ENTRY(engine_stream_128_2048_2, 128, bulk_stream<128, 2048, 2>)
ENTRY(engine_stream_128_2048_4, 128, bulk_stream<128, 2048, 4>)
ENTRY(engine_stream_128_4096_1, 128, bulk_stream<128, 4096, 1>)
ENTRY(engine_stream_128_4096_2, 128, bulk_stream<128, 4096, 2>)
ENTRY(engine_stream_128_4096_4, 128, bulk_stream<128, 4096, 4>)
ENTRY(engine_stream_256_1024_1, 256, bulk_stream<256, 1024, 1>)
ENTRY(engine_stream_256_1024_2, 256, bulk_stream<256, 1024, 2>)
ENTRY(engine_stream_256_1024_4, 256, bulk_stream<256, 1024, 4>)
ENTRY(engine_stream_256_4096_1, 256, bulk_stream<256, 4096, 1>)
ENTRY(engine_stream_256_4096_2, 256, bulk_stream<256, 4096, 2>)
ENTRY(engine_stream_256_4096_4, 256, bulk_stream<256, 4096, 4>)
ENTRY(engine_stream_no_fence_128_512_2, 128, bulk_stream<128, 512, 2, Fence::NONE>)
ENTRY(engine_stream_issuer_fence_128_512_2, 128, bulk_stream<128, 512, 2, Fence::ISSUER>)
ENTRY(engine_stream_no_fence_128_1024_2, 128, bulk_stream<128, 1024, 2, Fence::NONE>)
ENTRY(engine_stream_issuer_fence_128_1024_2, 128, bulk_stream<128, 1024, 2, Fence::ISSUER>)
ENTRY(engine_stream_no_fence_128_4096_2, 128, bulk_stream<128, 4096, 2, Fence::NONE>)
ENTRY(engine_stream_issuer_fence_128_4096_2, 128, bulk_stream<128, 4096, 2, Fence::ISSUER>)
ENTRY(engine_stream_no_fence_128_4096_4, 128, bulk_stream<128, 4096, 4, Fence::NONE>)
ENTRY(engine_stream_issuer_fence_128_4096_4, 128, bulk_stream<128, 4096, 4, Fence::ISSUER>)
ENTRY(engine_hand_128_512_1, 128, wide_by_hand<128, 4, 1, true>)
ENTRY(engine_hand_128_512_2, 128, wide_by_hand<128, 4, 2, true>)
ENTRY(engine_hand_128_512_4, 128, wide_by_hand<128, 4, 4, true>)
ENTRY(engine_hand_128_1024_1, 128, wide_by_hand<128, 8, 1, true>)
ENTRY(engine_hand_128_1024_2, 128, wide_by_hand<128, 8, 2, true>)
ENTRY(engine_hand_128_1024_4, 128, wide_by_hand<128, 8, 4, true>)
ENTRY(engine_hand_128_2048_1, 128, wide_by_hand<128, 16, 1, true>)
ENTRY(engine_hand_128_2048_2, 128, wide_by_hand<128, 16, 2, true>)
ENTRY(engine_hand_128_2048_4, 128, wide_by_hand<128, 16, 4, true>)
ENTRY(engine_hand_128_4096_1, 128, wide_by_hand<128, 32, 1, true>)
ENTRY(engine_hand_128_4096_2, 128, wide_by_hand<128, 32, 2, true>)
ENTRY(engine_each_256_256_2, 256, bulk_each<int, 256, 2>)
ENTRY(engine_each_256_256_4, 256, bulk_each<int, 256, 4>)
ENTRY_4(engine_each_4_256_256_2, 256, bulk_each<int4, 256, 2>)
ENTRY_4(engine_each_4_256_256_4, 256, bulk_each<int4, 256, 4>)
ENTRY(engine_own_256_256_2, 256, bulk_own<256, 2>)
ENTRY(engine_own_256_256_4, 256, bulk_own<256, 4>)
ENTRY_2(engine_two_128_512_1, 128, bulk_two<128, 512, 1>)
ENTRY_2(engine_two_128_512_2, 128, bulk_two<128, 512, 2>)
ENTRY(engine_average_256_256_2, 256, bulk_average<256, 1, 2>)
ENTRY(engine_average_256_256_4, 256, bulk_average<256, 1, 4>)
ENTRY(engine_even_odd_256_128_2, 256, bulk_roles<128, 128, 1, 2, Roles::EVEN_ODD>)
ENTRY(engine_even_odd_256_128_4, 256, bulk_roles<128, 128, 1, 4, Roles::EVEN_ODD>)
ENTRY(engine_warps_160_128_2, 160, bulk_roles<32, 128, 1, 2, Roles::WARPS>)
ENTRY(engine_warps_160_128_4, 160, bulk_roles<32, 128, 1, 4, Roles::WARPS>)
ENTRY(engine_own_128_512_1, 128, bulk_own_rows<128, 512, 1>)
ENTRY(engine_own_128_512_2, 128, bulk_own_rows<128, 512, 2>)
ENTRY(engine_average_256_1024_1, 256, bulk_average<256, 4, 1>)
ENTRY(engine_average_128_1024_2, 128, bulk_average<128, 8, 2>)
ENTRY(engine_even_odd_256_512_2, 256, bulk_roles<128, 128, 4, 2, Roles::EVEN_ODD>)
ENTRY(engine_even_odd_256_512_4, 256, bulk_roles<128, 128, 4, 4, Roles::EVEN_ODD>)
ENTRY(engine_warps_160_512_2, 160, bulk_roles<32, 128, 4, 2, Roles::WARPS>)
ENTRY(engine_warps_160_512_4, 160, bulk_roles<32, 128, 4, 4, Roles::WARPS>)
ENTRY(engine_stored_32_1024_4, 32, bulk_stored<1024, 4>)
ENTRY(engine_stored_32_4096_2, 32, bulk_stored<4096, 2>)
ENTRY(engine_stored_32_4096_4, 32, bulk_stored<4096, 4>)
ENTRY(engine_copy_128_512_2, 128, bulk_copied<128, 512, 2>)
ENTRY(engine_copy_128_512_4, 128, bulk_copied<128, 512, 4>)
ENTRY(engine_copy_256_1024_2, 256, bulk_copied<256, 1024, 2>)
ENTRY(engine_copy_256_1024_4, 256, bulk_copied<256, 1024, 4>)
ENTRY(engine_sum_256_1024_4, 256, bulk_sum<256, 1024, 4>)
ENTRY(engine_sum_256_4096_4, 256, bulk_sum<256, 4096, 4>)
ENTRY_2(engine_dot_256_1024_2, 256, bulk_dot<256, 1024, 2>)
ENTRY_2(engine_dot_256_1024_4, 256, bulk_dot<256, 1024, 4>)
ENTRY(engine_part_sums_256_1024_4, 256, bulk_part_sums<256, 1024, 4>)
ENTRY_2(engine_exclusive_scan_256_1024_4, 256, bulk_exclusive_scan<256, 1024, 4>)
ENTRY_KEYS(engine_argmax_256_1024_4, 256, bulk_argmax<256, 1024, 4>)
ENTRY_BYTES(engine_histogram_256_4096_4, 256, bulk_histogram<256, 4096, 4>)
ENTRY_UINT(engine_histogram_u32_256_1024_4, 256, bulk_histogram_u32<256, 1024, 4, 20>)
ENTRY_FILTER(engine_convolution_256_1024_2, 256, bulk_convolution<256, 1024, 2>)
ENTRY_ROWS(engine_transpose_256_64x64_1, 256, bulk_transpose<256, 64, 64, 1>)
ENTRY_ROWS(engine_transpose_256_64x64_2, 256, bulk_transpose<256, 64, 64, 2>)
ENTRY_ROWS(engine_stencil_256_32x128_1, 256, bulk_stencil<256, 32, 128, 1>)
ENTRY_ROWS(engine_stencil_256_32x128_2, 256, bulk_stencil<256, 32, 128, 2>)
