// Forms of a product of float matrices in C++, for sgemm.txt: a tile of BM by BN, TM by TN sums a
// thread. LEFT: 0 and 1 copies of 4 bytes; 2 through registers. CROSS: the first numbers of the
// next step are loaded before the last products of this one, behind the barrier.
#include <cuda_runtime.h>
template <int BYTES> __device__ __forceinline__ void cp(float *to, const float *from) {
    const unsigned s = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(s), "l"(from) : "memory");
}
template <int BM, int BN, int BK, int TM, int TN, int STAGES, int MINB, int LEFT, bool CROSS, int WIDE = 8>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), MINB)
    prod(const float *left, const float *right, float alpha, float *out, int width, int depth) {
    constexpr int THREADS = (BM / TM) * (BN / TN), PAD = 4;
    struct Stage { alignas(16) float l[BK][BM + PAD]; alignas(16) float r[BK][BN]; };
    extern __shared__ __align__(16) char mem[];
    Stage *st = reinterpret_cast<Stage *>(mem);
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int across = width / BN, top = blockIdx.x / across * BM, first = blockIdx.x % across * BN;
    constexpr int TALL = 32 / WIDE, WA = (BN / TN) / WIDE;
    const int above = warp / WA * TALL + lane / WIDE, beside = warp % WA * WIDE + lane % WIDE;
    const float *fl, *fr = right + (size_t)(t / (BN / 4)) * width + first + t % (BN / 4) * 4;
    if constexpr (LEFT == 0) fl = left + (size_t)(top + t / BK) * depth + t % BK;
    else if constexpr (LEFT == 1) fl = left + (size_t)(top + t / (BK / 2)) * depth + t % (BK / 2) * 2;
    else fl = left + (size_t)(top + t / (BK / 4)) * depth + t % (BK / 4) * 4;
    constexpr int RSTEP = THREADS / (BN / 4);
    constexpr int LV = BM * BK / THREADS / 4 < 1 ? 1 : BM * BK / THREADS / 4;
    float4 held[LV];
    auto fill_right = [&](int slot) {
#pragma unroll
        for (int n = 0; n < BK / RSTEP; ++n) cp<16>(&st[slot].r[t / (BN / 4) + n * RSTEP][t % (BN / 4) * 4], fr + (size_t)n * RSTEP * width);
        fr += (size_t)BK * width;
    };
    auto fill_left = [&](int slot) {
        if constexpr (LEFT == 0) {
#pragma unroll
            for (int n = 0; n < BM * BK / THREADS; ++n) cp<4>(&st[slot].l[t % BK][t / BK + n * (THREADS / BK)], fl + (size_t)n * (THREADS / BK) * depth);
        } else if constexpr (LEFT == 1) {
#pragma unroll
            for (int n = 0; n < BM * BK / THREADS / 2; ++n)
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    cp<4>(&st[slot].l[t % (BK / 2) * 2 + j][t / (BK / 2) + n * (THREADS / (BK / 2))], fl + (size_t)n * (THREADS / (BK / 2)) * depth + j);
        } else {
#pragma unroll
            for (int n = 0; n < LV; ++n) held[n] = __ldg(reinterpret_cast<const float4 *>(fl + (size_t)n * (THREADS / (BK / 4)) * depth));
        }
        fl += BK;
    };
    auto put_left = [&](int slot) {
        if constexpr (LEFT == 2) {
#pragma unroll
            for (int n = 0; n < LV; ++n) {
                const int row = t / (BK / 4) + n * (THREADS / (BK / 4)), k = t % (BK / 4) * 4;
                st[slot].l[k][row] = held[n].x; st[slot].l[k + 1][row] = held[n].y;
                st[slot].l[k + 2][row] = held[n].z; st[slot].l[k + 3][row] = held[n].w;
            }
        }
    };
    auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };
    auto wait = [] { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory"); };
    const int steps = depth / BK;
    float sums[TM][TN] = {};
    float a[2][TM], b[2][TN];
    auto load = [&](int buf, int slot, int k) {
#pragma unroll
        for (int i = 0; i < TM; i += 4) *reinterpret_cast<float4 *>(&a[buf][i]) = *reinterpret_cast<const float4 *>(&st[slot].l[k][i * (BM / TM) + above * 4]);
#pragma unroll
        for (int j = 0; j < TN; j += 4) *reinterpret_cast<float4 *>(&b[buf][j]) = *reinterpret_cast<const float4 *>(&st[slot].r[k][j * (BN / TN) + beside * 4]);
    };
    auto fma = [&](int buf) {
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int n = 0; n < TN; ++n) {
                const int j = i % 2 == 0 ? n : TN - 1 - n;
                sums[i][j] = fmaf(a[buf][i], b[buf][j], sums[i][j]);
            }
    };
    static_assert(LEFT != 2 || STAGES == 2);
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) { fill_left(s); put_left(s); fill_right(s); commit(); }
    int read = 0, next = STAGES - 1;
    if constexpr (!CROSS) {
        for (int step = 0; step < steps; ++step) {
            wait();
            __syncthreads();
            const bool more = step + STAGES - 1 < steps;
            if (more) { fill_left(next); fill_right(next); }
            commit();
#pragma unroll
            for (int k = 0; k < BK; ++k) { load(0, read, k); fma(0); }
            if (more) put_left(next);
            read = read + 1 == STAGES ? 0 : read + 1;
            next = next + 1 == STAGES ? 0 : next + 1;
        }
    } else {
        wait();
        __syncthreads();
        load(0, 0, 0);
        for (int step = 0; step < steps; ++step) {
            const bool more = step + STAGES - 1 < steps;
#pragma unroll
            for (int k = 0; k < BK; ++k) {
                if (k == BK - 1) {
                    if (more) put_left(next);
                    wait();
                    __syncthreads();
                    read = read + 1 == STAGES ? 0 : read + 1;
                    next = next + 1 == STAGES ? 0 : next + 1;
                    load((k + 1) % 2, read, 0);
                } else load((k + 1) % 2, read, k + 1);
                if (k == 0) {
                    if (more) { fill_left(next); fill_right(next); }
                    commit();
                }
                fma(k % 2);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        const size_t row = top + (above + i / 4 * (BM / TM)) * 4 + i % 4;
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const int column = first + (beside + j / 4 * (BN / TN)) * 4;
            *reinterpret_cast<float4 *>(out + row * width + column) = make_float4(alpha * sums[i][j], alpha * sums[i][j + 1], alpha * sums[i][j + 2], alpha * sums[i][j + 3]);
        }
    }
}
template <int BM, int BN, int BK, int TM, int TN, int STAGES, int MINB, int LEFT, bool CROSS, int WIDE = 8>
int go(const float *l, const float *r, float *o, int n, cudaStream_t s) {
    auto k = prod<BM, BN, BK, TM, TN, STAGES, MINB, LEFT, CROSS, WIDE>;
    const int bytes = STAGES * (BK * (BM + 4) + BK * BN) * 4;
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    k<<<(n / BM) * (n / BN), (BM / TM) * (BN / TN), bytes, s>>>(l, r, 1.0f, o, n, n);
    return cudaGetLastError();
}
extern "C" int run(int which, const float *l, const float *r, float *o, int n, cudaStream_t s) {
    switch (which) {
    case 0: return go<128, 128, 8, 16, 8, 2, 2, 0, false>(l, r, o, n, s);
    case 1: return go<128, 128, 8, 16, 8, 2, 2, 0, true>(l, r, o, n, s);
    case 2: return go<128, 128, 8, 16, 8, 2, 2, 1, true>(l, r, o, n, s);
    case 3: return go<128, 128, 8, 16, 8, 2, 2, 2, true>(l, r, o, n, s);
    case 4: return go<128, 128, 8, 16, 8, 2, 2, 2, false>(l, r, o, n, s);
    case 5: return go<128, 128, 16, 16, 8, 2, 2, 0, false>(l, r, o, n, s);
    case 6: return go<128, 128, 16, 16, 8, 2, 2, 0, true>(l, r, o, n, s);
    case 7: return go<128, 128, 16, 16, 8, 2, 2, 2, true>(l, r, o, n, s);
    case 8: return go<256, 128, 8, 16, 8, 2, 1, 0, true>(l, r, o, n, s);
    case 9: return go<256, 128, 8, 16, 8, 2, 1, 2, true>(l, r, o, n, s);
    case 10: return go<128, 256, 8, 16, 8, 2, 1, 2, true>(l, r, o, n, s);
    case 11: return go<128, 256, 8, 8, 16, 2, 1, 2, true, 4>(l, r, o, n, s);
    case 12: return go<128, 128, 8, 8, 8, 2, 2, 0, false>(l, r, o, n, s);
    case 13: return go<128, 128, 8, 8, 8, 2, 2, 2, true>(l, r, o, n, s);
    case 14: return go<128, 128, 8, 8, 16, 2, 2, 0, false, 4>(l, r, o, n, s);
    case 15: return go<128, 128, 8, 8, 16, 2, 2, 2, true, 4>(l, r, o, n, s);
    case 16: return go<256, 128, 16, 16, 8, 2, 1, 2, true>(l, r, o, n, s);
    case 17: return go<128, 128, 8, 16, 8, 3, 2, 0, true>(l, r, o, n, s);
    case 18: return go<128, 128, 8, 16, 8, 4, 2, 1, false>(l, r, o, n, s);
    case 19: return go<128, 128, 8, 16, 8, 2, 2, 1, false>(l, r, o, n, s);
    default: return -1;
    }
}
