// A product of float matrices in CUDA cores, written by hand in the shape of our `sgemm`, as a
// shared library for torch_libraries.py. It takes whole tiles only, and so has no bounds to check.
//
// A block of 128 threads has 128 x 128 elements of the result, and a thread 16 x 8 of them, in
// squares of 4 x 4. A stage holds 8 columns of the left matrix, which are transposed on their way
// by copies of 4 bytes, and 8 rows of the right one. The first numbers of a stage are loaded behind
// its barrier, before the last products of the stage before (attempts/sgemm.txt of 2026-11-27).
#include <cuda_runtime.h>

namespace {

constexpr int TILE = 128, THREADS = 128, K = 8, DOWN = 16, ACROSS = 8;
// Elements behind each column of the left tile: neighbouring threads copy to different banks.
constexpr int PAD = 4;

struct Stage {
    alignas(16) float left[K][TILE + PAD];
    alignas(16) float right[K][TILE];
};

template <int BYTES>
__device__ void copy(float *to, const float *from) {
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) : "memory");
    }
}

// What a thread multiplies in one step: numbers of its rows and of its columns.
struct Step {
    float rows[DOWN], columns[ACROSS];

    // Step `k` of a stage, for the thread whose first squares lie there.
    __device__ void load(const Stage &stage, int k, int above, int left) {
#pragma unroll
        for (int i = 0; i < DOWN; i += 4) {
            *reinterpret_cast<float4 *>(&rows[i]) =
                *reinterpret_cast<const float4 *>(&stage.left[k][i * (TILE / DOWN) + above * 4]);
        }
#pragma unroll
        for (int j = 0; j < ACROSS; j += 4) {
            *reinterpret_cast<float4 *>(&columns[j]) =
                *reinterpret_cast<const float4 *>(&stage.right[k][j * (TILE / ACROSS) + left * 4]);
        }
    }

    __device__ void add_to(float (&sums)[DOWN][ACROSS]) const {
#pragma unroll
        for (int i = 0; i < DOWN; ++i) {
#pragma unroll
            for (int n = 0; n < ACROSS; ++n) {
                const int j = i % 2 == 0 ? n : ACROSS - 1 - n;
                sums[i][j] = fmaf(rows[i], columns[j], sums[i][j]);
            }
        }
    }
};

// `out = alpha * left * right`; the matrices are dense, of `height` by `depth` and `depth` by
// `width`, in whole tiles.
template <int STAGES>
__global__ void __launch_bounds__(THREADS, 2)
    product(const float *left, const float *right, float alpha, float *out, int width, int depth) {
    __shared__ Stage stages[STAGES];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int across = width / TILE, top = blockIdx.x / across * TILE, first = blockIdx.x % across * TILE;
    // A warp has 4 threads below one another and 8 side by side; two warps lie side by side.
    const int above = warp / 2 * 4 + lane / 8, beside = warp % 2 * 8 + lane % 8;

    // Eight threads copy a row of the left tile; 32 a row of the right one, 16 bytes each.
    const float *from_left = left + static_cast<size_t>(top + thread / K) * depth + thread % K;
    const float *from_right = right + static_cast<size_t>(thread / 32) * width + first + thread % 32 * 4;
    const size_t rows_apart = static_cast<size_t>(THREADS / K) * depth, steps_apart = static_cast<size_t>(4) * width;
    auto fill = [&](int slot) {
        Stage &stage = stages[slot];
#pragma unroll
        for (int n = 0; n < TILE * K / THREADS; ++n) {
            copy<4>(&stage.left[thread % K][thread / K + n * (THREADS / K)], from_left + n * rows_apart);
        }
#pragma unroll
        for (int n = 0; n < K / 4; ++n) {
            copy<16>(&stage.right[thread / 32 + n * 4][thread % 32 * 4], from_right + n * steps_apart);
        }
        from_left += K;
        from_right += static_cast<size_t>(K) * width;
    };

    const int steps = depth / K;
    float sums[DOWN][ACROSS] = {};
#pragma unroll
    for (int ahead = 0; ahead < STAGES - 1; ++ahead) {
        if (ahead < steps) fill(ahead);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    int read = 0, next = STAGES - 1;
    Step numbers[2];
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    numbers[0].load(stages[0], 0, above, beside);
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int k = 0; k < K; ++k) {
            if (k == K - 1) {
                asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
                __syncthreads();
                read = read + 1 == STAGES ? 0 : read + 1;
                next = next + 1 == STAGES ? 0 : next + 1;
                // Behind the last stage these are numbers of an old one, which nobody multiplies.
                numbers[0].load(stages[read], 0, above, beside);
            } else {
                numbers[(k + 1) % 2].load(stages[read], k + 1, above, beside);
            }
            if (k == 0) {
                if (step + STAGES - 1 < steps) fill(next);
                asm volatile("cp.async.commit_group;" ::: "memory");
            }
            numbers[k % 2].add_to(sums);
        }
    }
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
        const size_t row = top + (above + i / 4 * (TILE / DOWN)) * 4 + i % 4;
#pragma unroll
        for (int j = 0; j < ACROSS; j += 4) {
            const int column = first + (beside + j / 4 * (TILE / ACROSS)) * 4;
            *reinterpret_cast<float4 *>(out + row * width + column) =
                make_float4(alpha * sums[i][j], alpha * sums[i][j + 1], alpha * sums[i][j + 2], alpha * sums[i][j + 3]);
        }
    }
}

} // namespace

// Starts the product in a stream, with two, three or four stages; returns a cudaError_t.
extern "C" int tilepipe_sgemm(int stages, const float *left, const float *right, float alpha, float *out, int height, int width,
                              int depth, cudaStream_t stream) {
    if (height % TILE || width % TILE || depth % K) return cudaErrorInvalidValue;
    const int blocks = (height / TILE) * (width / TILE);
    switch (stages) {
    case 2: product<2><<<blocks, THREADS, 0, stream>>>(left, right, alpha, out, width, depth); break;
    case 3: product<3><<<blocks, THREADS, 0, stream>>>(left, right, alpha, out, width, depth); break;
    case 4: product<4><<<blocks, THREADS, 0, stream>>>(left, right, alpha, out, width, depth); break;
    default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
