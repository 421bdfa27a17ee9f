// Shows that the programming guide's thread-scope kernel (with_staging_scope_thread) races, and
// that one barrier more cures it.
//
//   thread_scope_race [--variant NAME] [--elements N | 2^K] [--repeat N]
//
// The kernel is the guide's algorithm: a cuda::pipeline in thread scope, 2 stages, blocks of 256
// threads, each thread copies its own element, and the one barrier of an iteration stands between
// the wait and the computation, which is 3 * tile[rank] + tile[(rank + 1) % 256]. Nothing keeps a
// fast thread from starting the copy of batch c + 2 into the stage from which a slow one still
// reads batch c. The variants:
//
//   printed         as the guide has it
//   printed_slow    the same, and warp 0 of each block sleeps before it reads
//   corrected       a second barrier, between the computation and the next acquire
//   corrected_slow  the same, and warp 0 of each block sleeps before it reads
//
// Before every run the output is filled with 0xA5 bytes; after it, a kernel without shared memory
// counts the elements that are wrong. One line a run: variant, elements, wrong elements,
// milliseconds. The exit status is 0 if the corrected variants were right (the others may be wrong
// or right), 1 if not or if a CUDA call failed, 2 for a wrong command line, 3 without a GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr unsigned TILE = 256;
constexpr unsigned STAGES = 2;
// Blocks, if that leaves each of them at least as many batches.
constexpr unsigned long long GRID = 4096;
constexpr unsigned long long LEAST_BATCHES = 16;
// How long the slow warp sleeps, in nanoseconds: longer than a copy takes.
constexpr unsigned SLEEP = 4000;
constexpr int POISON = 0xA5;

// Whole tiles only. Block b works on the tiles b, b + gridDim.x, ..
template <bool SLOW, bool CORRECTED>
__global__ void __launch_bounds__(TILE) scope_thread(int *out, const int *in, unsigned long long tiles) {
    const auto block = cg::this_thread_block();
    const auto thread = cg::this_thread();
    __shared__ int stages[STAGES][TILE];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();

    const unsigned rank = threadIdx.x;
    const unsigned long long first = blockIdx.x, step = gridDim.x;
    const unsigned long long batches = first < tiles ? (tiles - first + step - 1) / step : 0;
    const auto own = [&](unsigned long long batch) { return (first + batch * step) * TILE + rank; };

    for (unsigned long long compute_batch = 0, fetch_batch = 0; compute_batch < batches; ++compute_batch) {
        for (; fetch_batch < batches && fetch_batch < compute_batch + STAGES; ++fetch_batch) {
            pipe.producer_acquire();
            cuda::memcpy_async(thread, stages[fetch_batch % STAGES] + rank, in + own(fetch_batch), sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        const int *const tile = stages[compute_batch % STAGES];
        // Warp 0 also reads the first element that warp 1 copied.
        if constexpr (SLOW) {
            if (rank < 32) __nanosleep(SLEEP);
        }
        out[own(compute_batch)] = int(3u * unsigned(tile[rank]) + unsigned(tile[(rank + 1) % TILE]));
        pipe.consumer_release();
        if constexpr (CORRECTED) block.sync();
    }
}

// Bits that look random, different for every element, so that no two neighbours or batches are
// alike.
__global__ void fill(int *out, unsigned long long elements) {
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += step) {
        unsigned long long bits = (i + 1) * 0x9e3779b97f4a7c15ull;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
        out[i] = int(bits >> 32);
    }
}

// Adds to `wrong` how many elements differ from what they must be, which is computed from the input
// in global memory.
__global__ void check(const int *out, const int *in, unsigned long long elements, unsigned long long *wrong) {
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long count = 0;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += step) {
        const unsigned long long start = i / TILE * TILE;
        const unsigned long long next = start + (i - start + 1) % TILE;
        count += out[i] != int(3u * unsigned(in[i]) + unsigned(in[next]));
    }
    if (count > 0) atomicAdd(wrong, count);
}

using Kernel = void (*)(int *, const int *, unsigned long long);

struct Variant {
    const char *name;
    Kernel kernel;
    bool must_be_right;
};

const Variant VARIANTS[] = {
    {"printed", scope_thread<false, false>, false},
    {"printed_slow", scope_thread<true, false>, false},
    {"corrected", scope_thread<false, true>, true},
    {"corrected_slow", scope_thread<true, true>, true},
};

void require(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "error: cannot %s: %s\n", what, cudaGetErrorString(status));
    std::exit(status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ? 3 : 1);
}

[[noreturn]] void refuse(const char *option, const char *value, const char *wanted) {
    std::fprintf(stderr, "error: %s %s: %s\n", option, value, wanted);
    std::exit(2);
}

// Reads a positive number, also written as a power of two: 2^28.
unsigned long long number(const char *option, const char *text) {
    char *end = nullptr;
    const bool power = std::strncmp(text, "2^", 2) == 0;
    const char *const digits = power ? text + 2 : text;
    const unsigned long long value = std::strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end != '\0' || (power && value > 40)) {
        refuse(option, text, "a number is needed, for example 65536 or 2^16");
    }
    const unsigned long long result = power ? 1ull << value : value;
    if (result == 0 || result > 1ull << 40) refuse(option, text, "a number from 1 to 2^40 is needed");
    return result;
}

// The memory and the events of all runs.
struct Machine {
    unsigned long long elements;
    int *in = nullptr, *out = nullptr;
    unsigned long long *wrong = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;

    explicit Machine(unsigned long long count) : elements(count) {
        int devices = 0;
        require(cudaGetDeviceCount(&devices), "find a GPU");
        require(cudaMalloc(&in, elements * sizeof(int)), "allocate the input");
        require(cudaMalloc(&out, elements * sizeof(int)), "allocate the output");
        require(cudaMalloc(&wrong, sizeof *wrong), "allocate the counter");
        require(cudaEventCreate(&begin), "make an event");
        require(cudaEventCreate(&end), "make an event");
        fill<<<1024, TILE>>>(in, elements);
        require(cudaDeviceSynchronize(), "fill the input");
    }

    // Runs a variant once over a poisoned output, prints its line, and returns the number of wrong
    // elements.
    unsigned long long run(const Variant &variant) const {
        const unsigned long long tiles = elements / TILE;
        unsigned long long grid = tiles / LEAST_BATCHES;
        grid = grid < 1 ? 1 : grid > GRID ? GRID : grid;
        require(cudaMemset(out, POISON, elements * sizeof(int)), "poison the output");
        require(cudaMemset(wrong, 0, sizeof *wrong), "reset the counter");
        require(cudaEventRecord(begin), "record an event");
        variant.kernel<<<unsigned(grid), TILE>>>(out, in, tiles);
        require(cudaGetLastError(), "launch the kernel");
        require(cudaEventRecord(end), "record an event");
        check<<<1024, TILE>>>(out, in, elements, wrong);
        require(cudaGetLastError(), "launch the check");
        unsigned long long count = 0;
        require(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost), "run the kernel");
        float milliseconds = 0;
        require(cudaEventElapsedTime(&milliseconds, begin, end), "read the time");
        std::printf("%-14s  %llu elements  %llu wrong  %.3f ms\n", variant.name, elements, count, milliseconds);
        std::fflush(stdout);
        return count;
    }
};

int main(int count, char **arguments) {
    const char *wanted = "all";
    unsigned long long elements = 1ull << 28, repeat = 1;
    for (int i = 1; i < count; i += 2) {
        const char *const option = arguments[i];
        const char *const value = i + 1 < count ? arguments[i + 1] : "";
        if (std::strcmp(option, "--variant") == 0) {
            wanted = value;
        } else if (std::strcmp(option, "--elements") == 0) {
            elements = number(option, value);
            if (elements % TILE != 0) refuse(option, value, "a multiple of 256 is needed");
        } else if (std::strcmp(option, "--repeat") == 0) {
            repeat = number(option, value);
        } else {
            refuse(option, value, "unknown option; there are --variant, --elements and --repeat");
        }
    }
    const bool all = std::strcmp(wanted, "all") == 0;
    bool known = all;
    for (const Variant &variant : VARIANTS) known = known || std::strcmp(wanted, variant.name) == 0;
    if (!known) refuse("--variant", wanted, "choose printed, printed_slow, corrected, corrected_slow or all");

    const Machine machine(elements);
    bool right = true;
    for (const Variant &variant : VARIANTS) {
        if (!all && std::strcmp(wanted, variant.name) != 0) continue;
        for (unsigned long long i = 0; i < repeat; ++i) {
            const unsigned long long wrong = machine.run(variant);
            right = right && (wrong == 0 || !variant.must_be_right);
        }
    }
    if (!right) std::fprintf(stderr, "error: a corrected variant has wrong elements\n");
    return right ? 0 : 1;
}
