// CUDA C++ peers of tilepipe's kernels: the same work, the same parameters, one entry for each.
//
// Every kernel sees its input and output as tiles of 256 elements, one for each thread. Block b works on the tiles b,
// b + gridDim.x, b + 2 * gridDim.x, ..; the last tile may be partial, and what lies past the end of the input counts as
// zero. Three families:
//
//   plain_*     no asynchronous copy: load, barrier, compute, barrier (and average_*, the moving average)
//   pipeline_*  the CUDA programming guide's code over cuda::pipeline in block scope, all threads in one role
//   twin_*      what an expert writes by hand: cp.async in units of 16 bytes, one barrier for each tile
//   eager_*     the same with one tile more in flight, for which there are two barriers for each tile
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr unsigned TILE = 256;
constexpr unsigned RADIUS = 8;

// A view as tilepipe passes it: 32 bytes by value.
template <class T> struct View {
    T *base;
    unsigned long long len;
    unsigned long long unused[2];
};
static_assert(sizeof(View<int>) == 32);

// Arithmetic on elements; int4 goes lane by lane. Unsigned, because the kernels wrap where int would overflow.
__device__ __forceinline__ int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ __forceinline__ int4 plus(int4 a, int4 b) {
    return make_int4(plus(a.x, b.x), plus(a.y, b.y), plus(a.z, b.z), plus(a.w, b.w));
}
__device__ __forceinline__ int triple(int a) { return int(3u * unsigned(a)); }
__device__ __forceinline__ int4 triple(int4 a) { return make_int4(triple(a.x), triple(a.y), triple(a.z), triple(a.w)); }
__device__ __forceinline__ int mean(int sum) { return sum / int(2 * RADIUS + 1); }
__device__ __forceinline__ int4 mean(int4 sum) { return make_int4(mean(sum.x), mean(sum.y), mean(sum.z), mean(sum.w)); }

// What the guide calls compute: 3 * tile[rank] + tile[rank + 1], cyclic in the tile.
template <class T> __device__ __forceinline__ T compute(const T *tile) {
    const unsigned rank = threadIdx.x;
    return plus(triple(tile[rank]), tile[(rank + 1) % TILE]);
}

// How many elements of the tile that begins at `start` exist.
template <class T> __device__ __forceinline__ unsigned elements(const View<T> &view, unsigned long long start) {
    const unsigned long long rest = view.len - start;
    return rest < TILE ? unsigned(rest) : TILE;
}

template <class T> __device__ __forceinline__ unsigned long long tiles(const View<T> &view) {
    return (view.len + TILE - 1) / TILE;
}

// --- plain: no asynchronous copy ------------------------------------------------------------------------------------

// Loads, computes and stores one tile; nobody may use the shared memory before.
template <class T>
__device__ __forceinline__ void plain_tile(const View<T> &in, const View<T> &out, unsigned long long index, T *tile) {
    const unsigned long long element = index * TILE + threadIdx.x;
    tile[threadIdx.x] = element < in.len ? in.base[element] : T{};
    __syncthreads();
    if (element < out.len) out.base[element] = compute(tile);
}

template <class T> __device__ __forceinline__ void plain(const View<T> in, const View<T> out) {
    __shared__ T tile[TILE];
    for (unsigned long long i = blockIdx.x; i < tiles(in); i += gridDim.x) {
        plain_tile(in, out, i, tile);
        __syncthreads();
    }
}

// The mean of each element and its RADIUS neighbours on either side.
template <class T> __device__ __forceinline__ void average(const View<T> in, const View<T> out) {
    __shared__ T tile[TILE + 2 * RADIUS];
    for (unsigned long long i = blockIdx.x; i < tiles(in); i += gridDim.x) {
        const unsigned long long start = i * TILE;
        for (unsigned slot = threadIdx.x; slot < TILE + 2 * RADIUS; slot += TILE) {
            // Before the start of the input this wraps to a number far above its length.
            const unsigned long long element = start + slot - RADIUS;
            tile[slot] = element < in.len ? in.base[element] : T{};
        }
        __syncthreads();
        T sum{};
#pragma unroll
        for (unsigned tap = 0; tap < 2 * RADIUS + 1; ++tap) sum = plus(sum, tile[threadIdx.x + tap]);
        if (start + threadIdx.x < out.len) out.base[start + threadIdx.x] = mean(sum);
        __syncthreads();
    }
}

// --- pipeline: the guide's code -------------------------------------------------------------------------------------

// The shared state of a pipeline has a constructor that does nothing; the guide silences this warning as well.
#pragma nv_diag_suppress static_var_with_dynamic_init

// Whole tiles go through the pipeline, as in the guide; a partial last one follows without.
template <class T, unsigned STAGES> __device__ __forceinline__ void pipeline(const View<T> in, const View<T> out) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(16) T stages[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);

    const unsigned long long whole = in.len / TILE, first = blockIdx.x, step = gridDim.x;
    const unsigned long long batches = first < whole ? (whole - first + step - 1) / step : 0;
    const auto start_of = [&](unsigned long long batch) { return (first + batch * step) * TILE; };

    for (unsigned long long compute_batch = 0, fetch_batch = 0; compute_batch < batches; ++compute_batch) {
        for (; fetch_batch < batches && fetch_batch < compute_batch + STAGES; ++fetch_batch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stages[fetch_batch % STAGES], in.base + start_of(fetch_batch),
                               sizeof(T) * block.size(), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out.base[start_of(compute_batch) + threadIdx.x] = compute(stages[compute_batch % STAGES]);
        pipe.consumer_release();
    }
    if (whole < tiles(in) && whole % step == first) {
        block.sync();
        plain_tile(in, out, whole, stages[0]);
    }
}

// --- twin: by hand --------------------------------------------------------------------------------------------------

// Copies 16 bytes asynchronously.
__device__ __forceinline__ void copy16(unsigned target, const char *source) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
}

// Copies the first `bytes` of 16 bytes asynchronously, and fills the rest with zeros.
__device__ __forceinline__ void copy16(unsigned target, const char *source, unsigned bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
}

__device__ __forceinline__ void commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int LEFT> __device__ __forceinline__ void wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// EAGER = false: STAGES - 1 tiles are in flight while one is computed on. The barrier that makes a landed tile visible
// to all threads also shows that all have finished with the tile before it, whose stage is then filled again.
//
// EAGER = true: that stage is filled before the next tile is waited for, so that STAGES tiles are in flight; showing
// that it may be filled then takes a barrier of its own.
template <class T, unsigned STAGES, bool EAGER>
__device__ __forceinline__ void by_hand(const View<T> in, const View<T> out) {
    __shared__ alignas(16) T stages[STAGES][TILE];
    constexpr unsigned BYTES = sizeof(T) * TILE;
    constexpr unsigned COPIES = BYTES / 16; // threads that copy: all of them, or a quarter for int
    const unsigned rank = threadIdx.x;
    const unsigned target = unsigned(__cvta_generic_to_shared(&stages[0][0])) + rank * 16;

    const unsigned long long all = tiles(in), whole = in.len / TILE;
    const char *const source = reinterpret_cast<const char *>(in.base) + rank * 16;
    const auto fetch = [&](unsigned long long tile, unsigned stage) {
        if (tile < all && (COPIES == TILE || rank < COPIES)) {
            const unsigned stage_target = target + stage * BYTES;
            if (tile < whole) {
                copy16(stage_target, source + tile * BYTES);
            } else {
                const int bytes = int(elements(in, tile * TILE) * sizeof(T)) - int(rank * 16);
                copy16(stage_target, source + tile * BYTES, unsigned(min(max(bytes, 0), 16)));
            }
        }
        commit_group(); // also where there is nothing to fetch, so that the number of groups in flight stays the same
    };

    const unsigned long long step = gridDim.x;
    unsigned long long ahead = blockIdx.x;
#pragma unroll
    for (unsigned stage = 0; stage + 1 < STAGES; ++stage, ahead += step) fetch(ahead, stage);

    unsigned full = 0, empty = STAGES - 1;
    for (unsigned long long tile = blockIdx.x; tile < all; tile += step, ahead += step) {
        if constexpr (EAGER) {
            __syncthreads();
            fetch(ahead, empty);
            wait_group<STAGES - 1>();
            __syncthreads();
        } else {
            wait_group<int(STAGES) - 2>();
            __syncthreads();
            fetch(ahead, empty);
        }
        empty = empty + 1 == STAGES ? 0 : empty + 1;
        const unsigned long long element = tile * TILE + rank;
        if (element < out.len) out.base[element] = compute(stages[full]);
        full = full + 1 == STAGES ? 0 : full + 1;
    }
}

// --- entries --------------------------------------------------------------------------------------------------------

#define ENTRY(NAME, T, ...)                                                                                            \
    extern "C" __global__ void __launch_bounds__(256) NAME(const View<T> in, const View<T> out) {                      \
        __VA_ARGS__(in, out);                                                                                          \
    }

ENTRY(plain_i32, int, plain<int>)
ENTRY(plain_i32x4, int4, plain<int4>)
ENTRY(average_i32, int, average<int>)
ENTRY(average_i32x4, int4, average<int4>)
ENTRY(pipeline_i32_1, int, pipeline<int, 1>)
ENTRY(pipeline_i32_2, int, pipeline<int, 2>)
ENTRY(pipeline_i32_4, int, pipeline<int, 4>)
ENTRY(pipeline_i32x4_1, int4, pipeline<int4, 1>)
ENTRY(pipeline_i32x4_2, int4, pipeline<int4, 2>)
ENTRY(pipeline_i32x4_4, int4, pipeline<int4, 4>)
ENTRY(twin_i32_2, int, by_hand<int, 2, false>)
ENTRY(twin_i32_4, int, by_hand<int, 4, false>)
ENTRY(twin_i32x4_2, int4, by_hand<int4, 2, false>)
ENTRY(twin_i32x4_4, int4, by_hand<int4, 4, false>)
ENTRY(eager_i32_1, int, by_hand<int, 1, true>)
ENTRY(eager_i32_2, int, by_hand<int, 2, true>)
ENTRY(eager_i32_4, int, by_hand<int, 4, true>)
ENTRY(eager_i32x4_1, int4, by_hand<int4, 1, true>)
ENTRY(eager_i32x4_2, int4, by_hand<int4, 2, true>)
ENTRY(eager_i32x4_4, int4, by_hand<int4, 4, true>)
