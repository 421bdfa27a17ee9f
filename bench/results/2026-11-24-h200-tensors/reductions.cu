// Combines one box with a matrix by the copy engine, and prints what became of the pairs of
// elements: `nvcc -arch=sm_90 -o reductions reductions.cu`, then `./reductions TYPE OPERATION` with
// a type of 0 to 8 and an operation of 0 to 5, in the order of the tables below. After a failure a
// process has no GPU, so it tries one.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#define REDUCE(NAME) asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." NAME ".tile.bulk_group [%0, {%1, %1}], [%2];" :: "l"(&map), "r"(0), "r"(sm) : "memory")
__global__ void reduce(const __grid_constant__ CUtensorMap map, int operation, const uint8_t* box) {
    __shared__ __align__(1024) uint8_t s[64];
    uint32_t sm = __cvta_generic_to_shared(s);
    for (int i = 0; i < 64; i++) s[i] = box[i];
    asm volatile("fence.proxy.async.shared::cta;");
    switch (operation) {
        case 0: REDUCE("add"); break;
        case 1: REDUCE("min"); break;
        case 2: REDUCE("max"); break;
        case 3: REDUCE("and"); break;
        case 4: REDUCE("or"); break;
        case 5: REDUCE("xor"); break;
    }
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
struct Type { const char* name; int size; CUtensorMapDataType kind; uint64_t pairs[8][2]; };
const uint64_t M = ~0ull;
// Integers: small ones, those with a sign, and those that overflow. Floats: 1.5 and 2.5, the first
// and the second subnormal number, the least normal number and half of it with a sign, NaN on
// either side, zeros of both signs in both orders, infinity and -1.5.
Type types[] = {
    {"u32", 4, CU_TENSOR_MAP_DATA_TYPE_UINT32, {{1, 2}, {M, 1}, {12, 10}, {1u << 31, 5}, {5, M}, {0, 0}, {7, 7}, {6, 3}}},
    {"i32", 4, CU_TENSOR_MAP_DATA_TYPE_INT32, {{1, 2}, {M, 1}, {12, 10}, {1u << 31, 5}, {5, M}, {0, 0}, {7, 7}, {6, 3}}},
    {"u64", 8, CU_TENSOR_MAP_DATA_TYPE_UINT64, {{1, 2}, {M, 1}, {12, 10}, {1ull << 63, 5}, {5, M}, {0, 0}, {7, 7}, {6, 3}}},
    {"i64", 8, CU_TENSOR_MAP_DATA_TYPE_INT64, {{1, 2}, {M, 1}, {12, 10}, {1ull << 63, 5}, {5, M}, {0, 0}, {7, 7}, {6, 3}}},
    {"f16", 2, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, {{0x3E00, 0x4100}, {1, 2}, {0x400, 0x8200}, {0x7E00, 0x3E00}, {0x3E00, 0x7E00}, {0, 0x8000}, {0x8000, 0}, {0x7C00, 0xBE00}}},
    {"bf16", 2, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, {{0x3FC0, 0x4020}, {1, 2}, {0x80, 0x8040}, {0x7FC0, 0x3FC0}, {0x3FC0, 0x7FC0}, {0, 0x8000}, {0x8000, 0}, {0x7F80, 0xBFC0}}},
    {"f32", 4, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, {{0x3FC00000, 0x40200000}, {1, 2}, {0x800000, 0x80400000}, {0x7FC00000, 0x3FC00000}, {0x3FC00000, 0x7FC00000}, {0, 0x80000000}, {0x80000000, 0}, {0x7F800000, 0xBFC00000}}},
    {"f32 of the kind FLOAT32_FTZ", 4, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, {{0x3FC00000, 0x40200000}, {1, 2}, {0x800000, 0x80400000}, {0x7FC00000, 0x3FC00000}, {0x3FC00000, 0x7FC00000}, {0, 0x80000000}, {0x80000000, 0}, {0x7F800000, 0xBFC00000}}},
    {"f64", 8, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, {{0x3FF8000000000000, 0x4004000000000000}, {1, 2}, {0x10000000000000, 0x8008000000000000}, {0x7FF8000000000000, 0x3FF8000000000000}, {0x3FF8000000000000, 0x7FF8000000000000}, {0, 1ull << 63}, {1ull << 63, 0}, {0x7FF0000000000000, 0xBFF8000000000000}}},
};
int main(int argc, char** argv) {
    Type t = types[atoi(argv[1])]; int operation = atoi(argv[2]);
    void* f; cudaDriverEntryPointQueryResult q;
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &q);
    auto encode = (decltype(&cuTensorMapEncodeTiled))f;
    uint8_t there[64] = {}, box[64] = {}, got[64];
    for (int i = 0; i < 8; i++) { memcpy(there + i * t.size, &t.pairs[i][0], t.size); memcpy(box + i * t.size, &t.pairs[i][1], t.size); }
    uint8_t *a, *b; cudaMalloc(&a, 64); cudaMalloc(&b, 64);
    cudaMemcpy(a, there, 64, cudaMemcpyHostToDevice); cudaMemcpy(b, box, 64, cudaMemcpyHostToDevice);
    CUtensorMap map; cuuint64_t dims[] = {8, 1}, strides[] = {64}; cuuint32_t extents[] = {8, 1}, es[] = {1, 1};
    CUresult r = encode(&map, t.kind, 2, a, dims, strides, extents, es, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    const char* names[] = {"add", "min", "max", "and", "or", "xor"};
    printf("%s %s:", t.name, names[operation]);
    if (r) { printf(" encode %d\n", r); return 0; }
    reduce<<<1, 1>>>(map, operation, b);
    cudaError_t e = cudaDeviceSynchronize();
    if (e) { printf(" %s\n", cudaGetErrorName(e)); return 0; }
    cudaMemcpy(got, a, 64, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++) {
        uint64_t x = 0, y = 0, z = 0; memcpy(&x, there + i * t.size, t.size); memcpy(&y, box + i * t.size, t.size); memcpy(&z, got + i * t.size, t.size);
        printf(" %llx,%llx=%llx", (unsigned long long)x, (unsigned long long)y, (unsigned long long)z);
    }
    printf("\n");
}
