// The candidates for the fastest C++ of any shape: each form with several numbers of threads, of
// ints a thread and of stages. Which of them are the fastest is measured (`tilepipe-bench shapes`),
// and those are what our kernels stand beside.
//
// An entry's name is its form, the threads of a block, the ints a thread (a consumer) and the
// stages: `hand_first_128_4_1`. The families:
//
//   vector_*              16-byte loads without shared memory
//   hand_first_*          cp.async by hand, a round fills and then waits
//   hand_wait_*           the same, a round waits and then fills
//   bulk_*                bulk copies, one thread starts them
//   pipeline_*            cuda::pipeline in block scope, aligned, without a modulo
//   groups_*              cooperative groups: 1 buffer and wait, or 2 and wait_prior
//   own_*                 three times each int: vector, cp.async without a barrier, cuda::pipeline
//                         in thread scope
//   average_*             the moving average: direct (each thread loads its window), shuffle (from
//                         its warp), shared (through registers), cp.async by hand, bulk copies
//   two_*                 two inputs
//   even_odd_*, warps_*   two roles of 128 threads each; warps_32_*: of 32 producers
#include "average.cuh"
#include "wide_own.cuh"
#include "wide_roles.cuh"

#define ENTRY(NAME, THREADS, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const View<int> in, const View<int> out) {              \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_2(NAME, THREADS, ...)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        NAME(const View<int> left, const View<int> right, const View<int> out) {                                       \
        __VA_ARGS__(left, right, out);                                                                                 \
    }
// The vector form reads one input as both.
template <unsigned THREADS, unsigned PER> __device__ __forceinline__ void wide_vector(const View<int> in, const View<int> out) {
    wide_vector<THREADS, PER>(in, in, out);
}

#define STAGES_OF(T, P, S)                                                                                       \
    ENTRY(pipeline_##T##_##P##_##S, T, wide_pipeline<T, P, S>)                                                         \
    ENTRY(bulk_##T##_##P##_##S, T, wide_bulk<T, P, S>)                                                                 \
    ENTRY(own_hand_##T##_##P##_##S, T, own_wide_by_hand<T, P, S>)                                                      \
    ENTRY(own_pipeline_##T##_##P##_##S, T, own_wide_pipeline<T, P, S>)                                                 \
    ENTRY(average_hand_##T##_##P##_##S, T, average_by_hand<T, P, S>)                                                   \
    ENTRY(average_bulk_##T##_##P##_##S, T, average_bulk<T, P, S>)
#define SHAPE(T, P)                                                                                                    \
    ENTRY(vector_##T##_##P##_0, T, wide_vector<T, P>)                                                                  \
    ENTRY(own_vector_##T##_##P##_0, T, own_vector<T, P>)                                                               \
    ENTRY(average_direct_##T##_##P##_0, T, average_direct<T, P>)                                                       \
    ENTRY(average_shuffle_##T##_##P##_0, T, average_shuffle<T, P>)                                                     \
    ENTRY(average_shared_##T##_##P##_0, T, average_shared<T, P>)                                                       \
    ENTRY(hand_first_##T##_##P##_1, T, wide_by_hand<T, P, 1, true>)                                                    \
    ENTRY(hand_first_##T##_##P##_2, T, wide_by_hand<T, P, 2, true>)                                                    \
    ENTRY(hand_wait_##T##_##P##_2, T, wide_by_hand<T, P, 2, false>)                                                    \
    ENTRY(hand_wait_##T##_##P##_4, T, wide_by_hand<T, P, 4, false>)                                                    \
    ENTRY(groups_##T##_##P##_1, T, wide_groups<T, P, 1>)                                                               \
    ENTRY(groups_##T##_##P##_2, T, wide_groups<T, P, 2>)                                                               \
    STAGES_OF(T, P, 1)                                                                                           \
    STAGES_OF(T, P, 2)                                                                                           \
    STAGES_OF(T, P, 4)                                                                                           \
    ENTRY_2(two_vector_##T##_##P##_0, T, wide_vector<T, P>)                                                            \
    ENTRY_2(two_hand_first_##T##_##P##_1, T, wide_by_hand<T, P, 1, true>)                                              \
    ENTRY_2(two_hand_wait_##T##_##P##_2, T, wide_by_hand<T, P, 2, false>)                                              \
    ENTRY_2(two_pipeline_##T##_##P##_1, T, wide_pipeline<T, P, 1>)                                                     \
    ENTRY_2(two_pipeline_##T##_##P##_2, T, wide_pipeline<T, P, 2>)
#define ROLES(P, S)                                                                                                    \
    ENTRY(even_odd_hand_256_##P##_##S, 256, wide_roles_by_hand<128, 128, P, S, Roles::EVEN_ODD>)                       \
    ENTRY(even_odd_pipeline_256_##P##_##S, 256, wide_roles_pipeline<128, 128, P, S, Roles::EVEN_ODD>)                  \
    ENTRY(warps_hand_256_##P##_##S, 256, wide_roles_by_hand<128, 128, P, S, Roles::WARPS>)                             \
    ENTRY(warps_pipeline_256_##P##_##S, 256, wide_roles_pipeline<128, 128, P, S, Roles::WARPS>)                        \
    ENTRY(warps_32_hand_160_##P##_##S, 160, wide_roles_by_hand<32, 128, P, S, Roles::WARPS>)                           \
    ENTRY(warps_32_pipeline_160_##P##_##S, 160, wide_roles_pipeline<32, 128, P, S, Roles::WARPS>)

SHAPE(128, 4)
SHAPE(128, 8)
SHAPE(256, 4)
SHAPE(512, 4)
ROLES(4, 1)
ROLES(4, 2)
ROLES(4, 4)
