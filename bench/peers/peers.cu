// CUDA C++ peers of tilepipe's kernels: the same work, the same parameters, one entry for each.
//
// Every kernel sees its inputs and its output as tiles of 256 elements, one for each thread; those
// with two roles, as tiles of 128 elements, which 128 threads copy and the 128 others compute on.
// Block b works on the tiles b, b + gridDim.x, b + 2 * gridDim.x, ..; the last tile may be partial,
// and what lies past the end of the input counts as zero. The families:
//
//   plain_*         no asynchronous copy: load, barrier, compute, barrier (and average_*, the
//                   moving average)
//   pipeline_*      the CUDA programming guide's code over cuda::pipeline in block scope, all
//                   threads in one role
//   thread_scope_*  the guide's code over cuda::pipeline in thread scope, as printed: it races, and
//                   its results may be wrong
//   memcpy_async_*  the guide's code over cooperative groups, with one buffer; prior_*: with two
//                   and wait_prior
//   twin_*          what an expert writes by hand: cp.async in units of 16 bytes, one barrier for
//                   each tile
//   eager_*         the same with one tile more in flight, for which there are two barriers for
//                   each tile
//   element_*       by hand, each thread copies its own element: 2 stages and two barriers, or 4
//                   stages and one
//   own_scope_*     cuda::pipeline in thread scope where each thread reads only what it copied:
//                   right, and without a barrier
//   own_*           the same by hand
//   even_odd_*      two roles: even threads copy, odd threads compute, over cuda::pipeline as the
//                   guide prints it
//   warps_*         two roles of four warps each, over cuda::pipeline
//   .._twin_*       the same roles by hand, with two mbarriers for each stage; 32 threads copy an
//                   int tile in units of 16 bytes
//   .._element_*    the same, but every producer copies its own element of an int tile
//   .._elected_*    one consumer of each warp hands a stage back for all of it, where elsewhere
//                   each does
//   chain_*         a tunable number of multiply-adds on each element of tiles of 2048:
//                   chain_plain_* without asynchronous copies, chain_pipeline_* over
//                   cuda::pipeline, chain_twin_* over cp.async by hand
//   example_*       libcu++'s example with two inputs; example_twin_*, example_eager_*: the same
//                   work by hand
#include "by_hand.cuh"
#include "guide.cuh"
#include "guide_roles.cuh"
#include "overlap.cuh"
#include "plain.cuh"
#include "roles_by_hand.cuh"

#define ENTRY(NAME, T, ...)                                                                                            \
    extern "C" __global__ void __launch_bounds__(256) NAME(const View<T> in, const View<T> out) {                      \
        __VA_ARGS__(in, out);                                                                                          \
    }
#define ENTRY_2(NAME, T, ...)                                                                                          \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        NAME(const View<T> left, const View<T> right, const View<T> out) {                                             \
        __VA_ARGS__(left, right, out);                                                                                 \
    }

ENTRY(plain_i32, int, plain<int>)
ENTRY(plain_i32x4, int4, plain<int4>)
ENTRY(average_i32, int, average<int>)
ENTRY(average_i32x4, int4, average<int4>)
ENTRY(pipeline_i32_1, int, pipeline<int, 1>)
ENTRY(pipeline_i32_2, int, pipeline<int, 2>)
ENTRY(pipeline_i32_3, int, pipeline<int, 3>)
ENTRY(pipeline_i32_4, int, pipeline<int, 4>)
ENTRY(pipeline_i32_5, int, pipeline<int, 5>)
ENTRY(pipeline_i32_6, int, pipeline<int, 6>)
ENTRY(pipeline_i32_7, int, pipeline<int, 7>)
ENTRY(pipeline_i32_8, int, pipeline<int, 8>)
ENTRY(pipeline_i32x4_1, int4, pipeline<int4, 1>)
ENTRY(pipeline_i32x4_2, int4, pipeline<int4, 2>)
ENTRY(pipeline_i32x4_4, int4, pipeline<int4, 4>)
ENTRY(thread_scope_i32_2, int, thread_scope<int, 2, false>)
ENTRY(thread_scope_i32_4, int, thread_scope<int, 4, false>)
ENTRY(thread_scope_i32x4_2, int4, thread_scope<int4, 2, false>)
ENTRY(thread_scope_i32x4_4, int4, thread_scope<int4, 4, false>)
ENTRY(memcpy_async_i32, int, memcpy_async<int>)
ENTRY(memcpy_async_i32x4, int4, memcpy_async<int4>)
ENTRY(prior_i32, int, memcpy_async_prior<int>)
ENTRY(prior_i32x4, int4, memcpy_async_prior<int4>)
ENTRY(twin_i32_2, int, by_hand<int, 2, false>)
ENTRY(twin_i32_3, int, by_hand<int, 3, false>)
ENTRY(twin_i32_4, int, by_hand<int, 4, false>)
ENTRY(twin_i32_5, int, by_hand<int, 5, false>)
ENTRY(twin_i32_6, int, by_hand<int, 6, false>)
ENTRY(twin_i32_7, int, by_hand<int, 7, false>)
ENTRY(twin_i32_8, int, by_hand<int, 8, false>)
ENTRY(twin_i32x4_2, int4, by_hand<int4, 2, false>)
ENTRY(twin_i32x4_4, int4, by_hand<int4, 4, false>)
ENTRY(eager_i32_1, int, by_hand<int, 1, true>)
ENTRY(eager_i32_2, int, by_hand<int, 2, true>)
ENTRY(eager_i32_3, int, by_hand<int, 3, true>)
ENTRY(eager_i32_4, int, by_hand<int, 4, true>)
ENTRY(eager_i32_5, int, by_hand<int, 5, true>)
ENTRY(eager_i32_6, int, by_hand<int, 6, true>)
ENTRY(eager_i32_7, int, by_hand<int, 7, true>)
ENTRY(eager_i32_8, int, by_hand<int, 8, true>)
ENTRY(eager_i32x4_1, int4, by_hand<int4, 1, true>)
ENTRY(eager_i32x4_2, int4, by_hand<int4, 2, true>)
ENTRY(eager_i32x4_4, int4, by_hand<int4, 4, true>)
ENTRY(element_i32_2, int, by_hand<int, 2, true, 4>)
ENTRY(element_i32_4, int, by_hand<int, 4, false, 4>)
ENTRY(own_scope_i32_2, int, thread_scope<int, 2, true>)
ENTRY(own_scope_i32_4, int, thread_scope<int, 4, true>)
ENTRY(own_scope_i32x4_2, int4, thread_scope<int4, 2, true>)
ENTRY(own_scope_i32x4_4, int4, thread_scope<int4, 4, true>)
ENTRY(own_i32_2, int, own_by_hand<int, 2>)
ENTRY(own_i32_4, int, own_by_hand<int, 4>)
ENTRY(own_i32x4_2, int4, own_by_hand<int4, 2>)
ENTRY(own_i32x4_4, int4, own_by_hand<int4, 4>)
ENTRY(even_odd_i32_2, int, specialized_unified<int, 2, Roles::EVEN_ODD>)
ENTRY(even_odd_i32_4, int, specialized_unified<int, 4, Roles::EVEN_ODD>)
ENTRY(even_odd_i32x4_2, int4, specialized_unified<int4, 2, Roles::EVEN_ODD>)
ENTRY(even_odd_i32x4_4, int4, specialized_unified<int4, 4, Roles::EVEN_ODD>)
ENTRY(even_odd_twin_i32_2, int, roles_by_hand<int, 2, Roles::EVEN_ODD, Arrivals::THREADS>)
ENTRY(even_odd_twin_i32_4, int, roles_by_hand<int, 4, Roles::EVEN_ODD, Arrivals::THREADS>)
ENTRY(even_odd_twin_i32x4_2, int4, roles_by_hand<int4, 2, Roles::EVEN_ODD, Arrivals::THREADS>)
ENTRY(even_odd_twin_i32x4_4, int4, roles_by_hand<int4, 4, Roles::EVEN_ODD, Arrivals::THREADS>)
ENTRY(even_odd_element_i32_2, int, roles_by_hand<int, 2, Roles::EVEN_ODD, Arrivals::THREADS, 4>)
ENTRY(even_odd_element_i32_4, int, roles_by_hand<int, 4, Roles::EVEN_ODD, Arrivals::THREADS, 4>)
ENTRY(warps_i32_2, int, specialized<int, 2, Roles::WARPS>)
ENTRY(warps_i32_4, int, specialized<int, 4, Roles::WARPS>)
ENTRY(warps_i32x4_2, int4, specialized<int4, 2, Roles::WARPS>)
ENTRY(warps_i32x4_4, int4, specialized<int4, 4, Roles::WARPS>)
ENTRY(warps_twin_i32_2, int, roles_by_hand<int, 2, Roles::WARPS, Arrivals::THREADS>)
ENTRY(warps_twin_i32_4, int, roles_by_hand<int, 4, Roles::WARPS, Arrivals::THREADS>)
ENTRY(warps_twin_i32x4_2, int4, roles_by_hand<int4, 2, Roles::WARPS, Arrivals::THREADS>)
ENTRY(warps_twin_i32x4_4, int4, roles_by_hand<int4, 4, Roles::WARPS, Arrivals::THREADS>)
ENTRY(warps_twin_elected_i32_2, int, roles_by_hand<int, 2, Roles::WARPS, Arrivals::WARPS>)
ENTRY(warps_twin_elected_i32_4, int, roles_by_hand<int, 4, Roles::WARPS, Arrivals::WARPS>)
ENTRY(warps_twin_elected_i32x4_2, int4, roles_by_hand<int4, 2, Roles::WARPS, Arrivals::WARPS>)
ENTRY(warps_twin_elected_i32x4_4, int4, roles_by_hand<int4, 4, Roles::WARPS, Arrivals::WARPS>)
ENTRY(warps_element_i32_2, int, roles_by_hand<int, 2, Roles::WARPS, Arrivals::THREADS, 4>)
ENTRY(warps_element_i32_4, int, roles_by_hand<int, 4, Roles::WARPS, Arrivals::THREADS, 4>)
ENTRY(warps_element_elected_i32_2, int, roles_by_hand<int, 2, Roles::WARPS, Arrivals::WARPS, 4>)
ENTRY(warps_element_elected_i32_4, int, roles_by_hand<int, 4, Roles::WARPS, Arrivals::WARPS, 4>)
ENTRY(chain_plain_0, float, chain_plain<0>)
ENTRY(chain_plain_8, float, chain_plain<8>)
ENTRY(chain_plain_16, float, chain_plain<16>)
ENTRY(chain_plain_32, float, chain_plain<32>)
ENTRY(chain_plain_48, float, chain_plain<48>)
ENTRY(chain_plain_64, float, chain_plain<64>)
ENTRY(chain_plain_128, float, chain_plain<128>)
ENTRY(chain_plain_256, float, chain_plain<256>)
ENTRY(chain_pipeline_0, float, chain_pipeline<0, 4>)
ENTRY(chain_pipeline_8, float, chain_pipeline<8, 4>)
ENTRY(chain_pipeline_16, float, chain_pipeline<16, 4>)
ENTRY(chain_pipeline_32, float, chain_pipeline<32, 4>)
ENTRY(chain_pipeline_48, float, chain_pipeline<48, 4>)
ENTRY(chain_pipeline_64, float, chain_pipeline<64, 4>)
ENTRY(chain_pipeline_128, float, chain_pipeline<128, 4>)
ENTRY(chain_pipeline_256, float, chain_pipeline<256, 4>)
ENTRY(chain_twin_0, float, chain_by_hand<0, 4>)
ENTRY(chain_twin_8, float, chain_by_hand<8, 4>)
ENTRY(chain_twin_16, float, chain_by_hand<16, 4>)
ENTRY(chain_twin_32, float, chain_by_hand<32, 4>)
ENTRY(chain_twin_48, float, chain_by_hand<48, 4>)
ENTRY(chain_twin_64, float, chain_by_hand<64, 4>)
ENTRY(chain_twin_128, float, chain_by_hand<128, 4>)
ENTRY(chain_twin_256, float, chain_by_hand<256, 4>)
ENTRY_2(example_i32, int, example<int>)
ENTRY_2(example_i32x4, int4, example<int4>)
ENTRY_2(example_twin_i32, int, two_by_hand<int, 2, false>)
ENTRY_2(example_twin_i32x4, int4, two_by_hand<int4, 2, false>)
ENTRY_2(example_eager_i32, int, two_by_hand<int, 2, true>)
ENTRY_2(example_eager_i32x4, int4, two_by_hand<int4, 2, true>)
