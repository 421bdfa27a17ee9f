// What CUDA's libraries do, as a shared library with C functions: each starts its work in a stream
// and returns a cudaError_t.
//
// As in CUB, a call whose `memory` is null only writes to `bytes` how much memory it wants.
#include <cstddef>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

// Unsigned, because the kernels wrap where int would overflow.
using Number = unsigned;

struct Triple {
    __device__ Number operator()(Number value) const { return 3u * value; }
};

struct Product {
    __device__ Number operator()(const thrust::tuple<Number, Number> &pair) const {
        return thrust::get<0>(pair) * thrust::get<1>(pair);
    }
};

struct Sum {
    __device__ Number operator()(Number left, Number right) const { return left + right; }
};

extern "C" int tilepipe_cub_sum(void *memory, size_t *bytes, const Number *in, const Number *, Number *out, size_t len,
                                cudaStream_t stream) {
    return cub::DeviceReduce::Sum(memory, *bytes, in, out, static_cast<long long>(len), stream);
}

extern "C" int tilepipe_cub_dot(void *memory, size_t *bytes, const Number *left, const Number *right, Number *out, size_t len,
                                cudaStream_t stream) {
    const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(left, right));
    return cub::DeviceReduce::TransformReduce(memory, *bytes, pairs, out, static_cast<long long>(len), Sum{}, Product{},
                                              Number{0}, stream);
}

extern "C" int tilepipe_cub_triple(void *memory, size_t *bytes, const Number *in, const Number *, Number *out, size_t len,
                                   cudaStream_t stream) {
    if (memory == nullptr) {
        *bytes = 1;
        return cudaSuccess;
    }
    return cub::DeviceTransform::Transform(in, out, static_cast<long long>(len), Triple{}, stream);
}
