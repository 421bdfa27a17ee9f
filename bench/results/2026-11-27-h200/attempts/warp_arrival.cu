// A warp reads a word of shared memory, meets at __syncwarp(), and its first lane arrives at an
// mbarrier; another thread waits for that phase, and writes the word. CUDA C++ without tilepipe:
// what does racecheck say?
//
// nvcc -arch=sm_90 -O3 -std=c++17 warp_arrival.cu && compute-sanitizer --tool racecheck ./a.out
#include <cstdint>
#include <cstdio>

__device__ uint32_t address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t *bar, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(bar)), "r"(count) : "memory"); }
__device__ void arrive(uint64_t *bar) { asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(address(bar)) : "memory"); }
__device__ void wait(uint64_t *bar, uint32_t parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(address(bar)), "r"(parity) : "memory");
}

// Warp 0 produces, warp 1 consumes: in each round the producer's first thread says in `word`
// whether it is the last one.
__global__ void k(int rounds, int *out) {
    __shared__ uint64_t full, empty;
    __shared__ volatile uint32_t word;
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&empty, 1);
        word = 0;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            for (int round = 0; round < rounds; ++round) {
                if (round > 0) wait(&empty, (round - 1) & 1);
                word = round == rounds - 1;
                arrive(&full);
            }
        }
    } else {
        int seen = 0;
        for (int round = 0;; ++round) {
            wait(&full, round & 1);
            bool last = word != 0;
            if (__any_sync(0xffffffff, last)) break;
            ++seen;
            __syncwarp();
            if (threadIdx.x == 32) arrive(&empty);
        }
        out[threadIdx.x - 32] = seen;
    }
}

int main() {
    int *out, host[32];
    cudaMalloc(&out, sizeof host);
    k<<<1, 64>>>(10, out);
    if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    for (int i = 0; i < 32; ++i)
        if (host[i] != 9) return 2;
    std::puts("9 rounds in each lane");
}
