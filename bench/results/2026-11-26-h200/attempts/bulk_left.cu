// What racecheck says of bulk copies that a correct program waits for and does not read. One warp:
// a round makes two mbarriers, fills two stages by bulk copies, waits for both, reads the first one
// (and if READ the second one, too), and gives the mbarriers up behind a barrier. The next round
// fills the same stages. All threads wait for both copies before anything else is done.
#include <cstdio>
#include <cstdint>

template <bool READ, bool INVALIDATE>
__global__ void rounds(const int *in, int *out, int count) {
    __shared__ alignas(16) int stages[2][32];
    __shared__ alignas(8) uint64_t barriers[2];
    const unsigned lane = threadIdx.x;
    const auto address = [](const void *at) { return unsigned(__cvta_generic_to_shared(at)); };
    int sum = 0;
    unsigned parity = 0;
    const auto wait = [&](int stage) {
        unsigned done = 0;
        while (!done) {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(address(&barriers[stage])), "r"(parity) : "memory");
        }
    };
    for (int round = 0; round < count; ++round) {
        if (INVALIDATE || round == 0) {
            if (lane == 0) {
                for (int stage = 0; stage < 2; ++stage) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&barriers[stage])) : "memory");
                asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            }
            __syncthreads();
            parity = 0;
        }
        if (lane == 0) {
            for (int stage = 0; stage < 2; ++stage) {
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(address(&barriers[stage])) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(address(stages[stage])),
                             "l"(in + (round * 2 + stage) * 32), "r"(address(&barriers[stage])) : "memory");
            }
        }
        wait(0);
        sum += stages[0][31 - lane];
        wait(1);
        if (READ) sum += stages[1][31 - lane];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (INVALIDATE && lane == 0) {
            for (int stage = 0; stage < 2; ++stage) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(&barriers[stage])) : "memory");
        }
        if (INVALIDATE) __syncthreads();
        parity ^= 1;
    }
    out[blockIdx.x * 32 + lane] = sum;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 1 << 16), cudaMalloc(&out, 1 << 16);
    cudaMemset(in, 1, 1 << 16);
    rounds<false, true><<<2, 32>>>(in, out, 4);
    rounds<true, true><<<2, 32>>>(in, out, 4);
    rounds<false, false><<<2, 32>>>(in, out, 4);
    rounds<true, false><<<2, 32>>>(in, out, 4);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
