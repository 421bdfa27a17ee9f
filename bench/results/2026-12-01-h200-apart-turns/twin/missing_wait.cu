// An mbarrier at which four warps arrive for three phases, of which nobody waits for the first two:
// what a warpgroup that runs apart does at the barrier of one that has left. The arrivals are
// allowed: each phase has all of its own.
// nvcc -arch=sm_90a -o missing_wait missing_wait.cu
// compute-sanitizer --tool synccheck ./missing_wait
#include <cstdint>
#include <cstdio>

__global__ void phases(unsigned *out) {
    __shared__ alignas(8) uint64_t barrier;
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(address) : "memory");
    __syncthreads();
    for (int phase = 0; phase < 3; ++phase) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address) : "memory");
        __syncthreads();
    }
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(address) : "memory");
    out[threadIdx.x] = done;
}

int main() {
    unsigned *out, host[128];
    cudaMalloc(&out, sizeof host);
    phases<<<1, 128>>>(out);
    cudaError_t error = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s, %u\n", cudaGetErrorString(error), error ? 0 : host[127]);
    return error != cudaSuccess;
}
