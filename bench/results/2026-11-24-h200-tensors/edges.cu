// Stores boxes of 8 rows of 32 to 128 bytes over the right and the lower edge of a matrix by the
// copy engine, and prints which bytes around the matrix have changed:
// `nvcc -arch=sm_90 -o edges edges.cu`, then `./edges`.
//
// The matrix has 13 rows of 1 to 64 bytes, in memory whose rows are 256 bytes apart. Elements have
// 1, 2, 4 or 8 bytes; swizzles are 0 to 3 (none, 32, 64, 128 bytes). Each matrix is stored to once
// and added to once, where the engine adds such elements.
#include <cstdio>
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>
__global__ void store(const __grid_constant__ CUtensorMap map, bool add, int row, int column) {
    extern __shared__ __align__(1024) uint8_t s[];
    uint32_t sm = __cvta_generic_to_shared(s);
    for (int i = 0; i < 8 * 128; i++) s[i] = 1;
    asm volatile("fence.proxy.async.shared::cta;");
    if (add) asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&map), "r"(column), "r"(row), "r"(sm) : "memory");
    else asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&map), "r"(column), "r"(row), "r"(sm) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
int main() {
    void* f; cudaDriverEntryPointQueryResult q;
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &q);
    auto encode = (decltype(&cuTensorMapEncodeTiled))f;
    const int pitch = 256, rows = 13, all = 24;
    uint8_t* a; cudaMalloc(&a, pitch * all);
    std::vector<uint8_t> got(pitch * all);
    CUtensorMapDataType types[] = {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_UINT64};
    for (int log = 0; log < 4; log++) for (int swizzle = 0; swizzle < 4; swizzle++) for (int add = 0; add < 2; add++) {
        if (add && log < 2) continue;
        int size = 1 << log, wrong = 0, whole = 0, cases = 0;
        for (int width = 1; width <= 64 / size; width++) {
            // The first box lies over the right edge alone, the second one over both, the third
            // one below the matrix, the last one to its right.
            for (int where = 0; where < 4; where++) {
                int row = where == 0 ? 0 : where == 2 ? 16 : 8, column = where == 3 ? 128 / size : 0;
                cudaMemset(a, 100, pitch * all);
                CUtensorMap map; cuuint64_t dims[] = {(cuuint64_t)width, rows}, strides[] = {pitch}; cuuint32_t box[] = {(cuuint32_t)((swizzle ? 16 << swizzle : 64) / size), 8}, es[] = {1, 1};
                CUresult r = encode(&map, types[log], 2, a, dims, strides, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
                if (r) { printf("encode %d\n", r); return 1; }
                store<<<1, 1, 8 * 128>>>(map, add, row, column);
                cudaError_t e = cudaDeviceSynchronize();
                if (e) { printf("size %d swizzle %d add %d width %d: %s\n", size, swizzle, add, width, cudaGetErrorName(e)); return 1; }
                cudaMemcpy(got.data(), a, got.size(), cudaMemcpyDeviceToHost);
                // By elements, and by whole pieces of 16 bytes.
                bool by_elements = true, by_pieces = true;
                for (int y = 0; y < all; y++) for (int x = 0; x < pitch; x++) {
                    bool in_box = y >= row && y < row + 8 && x >= column * size && x < (int)(column + box[0]) * size;
                    bool changed = got[y * pitch + x] != 100;
                    by_elements &= changed == (in_box && y < rows && x < width * size);
                    by_pieces &= changed == (in_box && y < rows && x < (width * size + 15) / 16 * 16);
                }
                cases++, whole += by_pieces && !by_elements, wrong += !by_pieces;
            }
        }
        printf("size %d swizzle %d %s: %d boxes, %d of them changed bytes behind the rows up to a multiple of 16, %d changed others\n", size, swizzle, add ? "add" : "store", cases, whole, wrong);
    }
}
