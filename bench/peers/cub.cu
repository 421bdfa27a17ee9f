// CUB's histograms, scan and reductions, as a shared library with C functions for
// torch_libraries.py: each starts its work in a stream and returns a cudaError_t. Results are set,
// and not added to what is there.
//
// As in CUB, a call whose `memory` is null only writes to `bytes` how much memory it wants.
#include <cstddef>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

// As many bins as a byte has values.
extern "C" int tilepipe_cub_histogram_bytes(void *memory, size_t *bytes, const unsigned char *in, unsigned *out, size_t len,
                                            cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramEven(memory, *bytes, in, out, 257, 0, 256, static_cast<long long>(len), stream);
}

// Bins of one key each, from 0 to `bins - 1`; other keys are skipped.
extern "C" int tilepipe_cub_histogram_keys(void *memory, size_t *bytes, const unsigned *in, unsigned *out, int bins,
                                           size_t len, cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramEven(memory, *bytes, in, out, bins + 1, 0u, static_cast<unsigned>(bins),
                                               static_cast<long long>(len), stream);
}

// Unsigned, because our kernel wraps where int would overflow.
extern "C" int tilepipe_cub_exclusive_scan(void *memory, size_t *bytes, const unsigned *in, unsigned *out, size_t len,
                                           cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(memory, *bytes, in, out, static_cast<long long>(len), stream);
}

extern "C" int tilepipe_cub_sum(void *memory, size_t *bytes, const float *in, float *out, size_t len, cudaStream_t stream) {
    return cub::DeviceReduce::Sum(memory, *bytes, in, out, static_cast<long long>(len), stream);
}

// The index of the largest element, of equal ones of the first. The element itself goes to the
// first bytes of the memory.
extern "C" int tilepipe_cub_argmax(void *memory, size_t *bytes, const float *in, long long *out, size_t len,
                                   cudaStream_t stream) {
    constexpr size_t first = 256;
    size_t own = memory ? *bytes - first : 0;
    void *rest = memory ? static_cast<char *>(memory) + first : nullptr;
    int status = cub::DeviceReduce::ArgMax(rest, own, in, static_cast<float *>(memory), out, static_cast<long long>(len), stream);
    *bytes = own + first;
    return status;
}
