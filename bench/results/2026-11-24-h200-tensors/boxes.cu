// Copies one box of a matrix of 64 rows of 512 elements by the copy engine, and prints what became
// of it: `nvcc -arch=sm_90 -o boxes boxes.cu`, then
//
//     ./boxes SIZE SWIZZLE DIRECTION COLUMN WIDTH
//
// with elements of SIZE bytes, swizzle 0 to 3 (none, 32, 64, 128 bytes), direction 0 for a load, 1
// for a store and 2 for an addition, and a box of 8 rows of WIDTH elements from COLUMN on. After a
// failure a process has no GPU, so it copies one box. Loads without a swizzle are checked.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>
__global__ void copy(const __grid_constant__ CUtensorMap map, int op, int row, int column, int bytes, uint8_t* out) {
    extern __shared__ __align__(1024) uint8_t s[];
    __shared__ alignas(8) uint64_t bar;
    uint32_t sm = __cvta_generic_to_shared(s), b = __cvta_generic_to_shared(&bar);
    if (op == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(b), "r"(bytes));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
            :: "r"(sm), "l"(&map), "r"(column), "r"(row), "r"(b) : "memory");
        asm volatile("{.reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L;}" :: "r"(b) : "memory");
        for (int i = 0; i < bytes; i++) out[i] = s[i];
    } else {
        for (int i = 0; i < bytes; i++) s[i] = 1;
        asm volatile("fence.proxy.async.shared::cta;");
        if (op == 1) asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&map), "r"(column), "r"(row), "r"(sm) : "memory");
        else asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&map), "r"(column), "r"(row), "r"(sm) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
int main(int argc, char** argv) {
    int size = atoi(argv[1]), swizzle = atoi(argv[2]), op = atoi(argv[3]), column = atoi(argv[4]), inner = atoi(argv[5]);
    void* f; cudaDriverEntryPointQueryResult q;
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &q);
    auto encode = (decltype(&cuTensorMapEncodeTiled))f;
    const int width = 512, height = 64, rows = 8;
    uint8_t* a; cudaMalloc(&a, width * height * size);
    std::vector<uint8_t> h(width * height * size); for (size_t i = 0; i < h.size(); i++) h[i] = 1 + i % 251;
    cudaMemcpy(a, h.data(), h.size(), cudaMemcpyHostToDevice);
    uint8_t* out; cudaMalloc(&out, 1 << 16);
    CUtensorMap map; cuuint64_t dims[] = {width, height}, strides[] = {(cuuint64_t)width * size}; cuuint32_t box[] = {(cuuint32_t)inner, rows}, es[] = {1, 1};
    CUtensorMapDataType t = size == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : size == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16 : size == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32 : CU_TENSOR_MAP_DATA_TYPE_UINT64;
    if (op == 2 && size == 2) t = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    CUresult r = encode(&map, t, 2, a, dims, strides, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r) { printf("size %d swizzle %d op %d inner %d column %d: encode %d\n", size, swizzle, op, inner, column, r); return 0; }
    int bytes = inner * rows * size;
    copy<<<1, 1, bytes>>>(map, op, 1, column, bytes, out);
    cudaError_t e = cudaDeviceSynchronize();
    const char* right = "";
    if (!e && op == 0 && swizzle == 0) {
        std::vector<uint8_t> got(bytes); cudaMemcpy(got.data(), out, bytes, cudaMemcpyDeviceToHost);
        right = " right";
        for (int y = 0; y < rows; y++) for (int x = 0; x < inner; x++) for (int i = 0; i < size; i++) {
            int c = column + x; uint8_t w = c < 0 || c >= width ? 0 : h[((1 + y) * width + c) * size + i];
            if (got[(y * inner + x) * size + i] != w) right = " WRONG";
        }
    }
    printf("size %d swizzle %d op %d inner %d column %d: %s%s\n", size, swizzle, op, inner, column, cudaGetErrorName(e), right);
}
