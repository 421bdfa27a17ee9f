// Twins of `looks_up` and `looks_up_masked` (tests/kernels/src/faulty.rs): two stages of cp.async,
// each thread with PER ints in a row; an element is looked up in its own tile, at a place that the
// data gives. MASKED: the place modulo the tile's length. TRAPS: checked, with a trap. REPORTS:
// checked, with what a panic of ours does (who is first writes numbers for the host, then a trap).
// ASSERTS: checked by CUDA's `assert`.
//
// nvcc -O3 -arch=sm_90 -lcuda lookups.cu; arguments: a cubin of tilepipe's, the name of a kernel in
// it and the number of ints that a thread has there, any number of times. All run by turns, 62
// rounds, medians.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

struct View {
    int *base;
    unsigned long long len;
};
enum class Check { MASKED, TRAPS, REPORTS, ASSERTS };

__device__ unsigned long long record[4];

template <Check CHECK, unsigned LEN> __device__ __forceinline__ int look_up(const int *tile, int place) {
    const unsigned index = unsigned(place);
    if (CHECK == Check::MASKED) return tile[index % LEN];
    if (CHECK == Check::ASSERTS) {
        assert(index < LEN);
        return tile[index];
    }
    if (index >= LEN) {
        if (CHECK == Check::REPORTS && atomicCAS(&record[0], 0ull, 1ull) == 0) {
            record[1] = index, record[2] = LEN, record[3] = threadIdx.x + 1024ull * blockIdx.x;
            __threadfence_system();
        }
        __trap();
    }
    return tile[index];
}

template <Check CHECK, unsigned PER, unsigned THREADS = 256>
__global__ void __launch_bounds__(THREADS) looks_up(const __grid_constant__ View in, const __grid_constant__ View out) {
    constexpr unsigned LEN = THREADS * PER, STAGES = 2;
    __shared__ alignas(16) int stages[STAGES][LEN];
    const unsigned tiles = unsigned(in.len / LEN);
    const auto fetch = [&](unsigned tile, unsigned stage) {
        // 16 bytes a copy: with one int a thread a quarter of the threads copies.
        if (tile < tiles && threadIdx.x * 4 < LEN) {
            const unsigned to = unsigned(__cvta_generic_to_shared(&stages[stage][threadIdx.x * 4]));
            const int *from = in.base + (unsigned long long)tile * LEN + threadIdx.x * 4;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    unsigned stage = 0;
    fetch(blockIdx.x, 0);
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        fetch(tile + gridDim.x, stage ^ 1);
        const int *own = stages[stage];
        int *to = out.base + (unsigned long long)tile * LEN;
        if (PER == 4) {
            const int4 places = reinterpret_cast<const int4 *>(own)[threadIdx.x];
            int4 found;
            found.x = look_up<CHECK, LEN>(own, places.x), found.y = look_up<CHECK, LEN>(own, places.y);
            found.z = look_up<CHECK, LEN>(own, places.z), found.w = look_up<CHECK, LEN>(own, places.w);
            reinterpret_cast<int4 *>(to)[threadIdx.x] = found;
        } else {
            to[threadIdx.x] = look_up<CHECK, LEN>(own, own[threadIdx.x]);
        }
        stage ^= 1;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}

#define CK(x)                                                                                                          \
    do {                                                                                                               \
        auto r_ = (x);                                                                                                 \
        if (r_) {                                                                                                      \
            printf("%s -> %d\n", #x, int(r_));                                                                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

struct Kernel {
    std::string name;
    CUfunction function;
    unsigned per, shared;
};

int main(int argc, char **argv) {
    CK(cudaFree(0));
    std::vector<Kernel> kernels;
    const auto add = [&](const char *name, const void *symbol, unsigned per) {
        cudaFunction_t function;
        CK(cudaGetFuncBySymbol(&function, symbol));
        kernels.push_back({name, CUfunction(function), per, 0});
    };
#define TWINS(PER)                                                                                                     \
    add("C++ masked", (const void *)looks_up<Check::MASKED, PER>, PER);                                                \
    add("C++ trap", (const void *)looks_up<Check::TRAPS, PER>, PER);                                                   \
    add("C++ report", (const void *)looks_up<Check::REPORTS, PER>, PER);                                               \
    add("C++ assert", (const void *)looks_up<Check::ASSERTS, PER>, PER);
    TWINS(1)
    TWINS(4)
    // The library of each stays loaded. A cubin has kernels of several lengths; one is named.
    for (int i = 1; i + 2 < argc; i += 3) {
        CUmodule module;
        CUfunction function;
        CK(cuModuleLoad(&module, argv[i]));
        CK(cuModuleGetFunction(&function, module, argv[i + 1]));
        const unsigned per = unsigned(atoi(argv[i + 2]));
        kernels.push_back({argv[i + 1], function, per, 2 * 256 * per * 4 + 1024});
    }
    const size_t len = 1 << 28;
    int *in, *out;
    CK(cudaMalloc(&in, 4 * len));
    CK(cudaMalloc(&out, 4 * len));
    std::vector<int> values(len), got(len);
    for (size_t i = 0; i < len; ++i) values[i] = int((i * 7919) & 255);
    CK(cudaMemcpy(in, values.data(), 4 * len, cudaMemcpyHostToDevice));
    const View views[2] = {{in, len}, {out, len}};
    const void *parameters[2] = {&views[0], &views[1]};
    for (const auto &one : kernels) {
        int registers, local;
        cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, one.function);
        cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, one.function);
        printf("%s, %u ints a thread: %d registers, %d bytes of local memory\n", one.name.c_str(), one.per, registers, local);
    }
    cudaEvent_t start, end;
    cudaEventCreate(&start), cudaEventCreate(&end);
    for (const unsigned grid_of_tiles : {0u, 1u}) {
        std::vector<std::vector<float>> times(kernels.size());
        for (int round = 0; round < 62; ++round) {
            for (size_t k = 0; k < kernels.size(); ++k) {
                const auto &one = kernels[(k + round) % kernels.size()];
                const unsigned blocks = grid_of_tiles ? unsigned(len / (256 * one.per)) : 4096;
                CK(cudaMemset(out, 0xcc, 4 * len));
                cudaEventRecord(start);
                CK(cuLaunchKernel(one.function, blocks, 1, 1, 256, 1, 1, one.shared, nullptr, const_cast<void **>(parameters), nullptr));
                cudaEventRecord(end);
                CK(cudaDeviceSynchronize());
                float ms;
                cudaEventElapsedTime(&ms, start, end);
                if (round >= 2) times[(k + round) % kernels.size()].push_back(ms);
                if (round == 0 && !grid_of_tiles) {
                    CK(cudaMemcpy(got.data(), out, 4 * len, cudaMemcpyDeviceToHost));
                    const size_t tile = 256 * one.per;
                    size_t bad = 0;
                    for (size_t i = 0; i < len; ++i) bad += got[i] != values[i / tile * tile + values[i]];
                    if (bad) printf("%s: %zu wrong\n", one.name.c_str(), bad);
                }
            }
        }
        printf(grid_of_tiles ? "a block a tile\n" : "4096 blocks\n");
        for (size_t k = 0; k < kernels.size(); ++k) {
            std::sort(times[k].begin(), times[k].end());
            printf("  %s, %u ints a thread: %.4f ms\n", kernels[k].name.c_str(), kernels[k].per, times[k][times[k].size() / 2]);
        }
    }
}
