#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>
#define CK(x) do { auto r_ = (x); if (r_) { const char *n; cuGetErrorName(r_, &n); printf("%s -> %s\n", #x, n); } } while (0)
int main(int argc, char **argv) {
    CUdevice d; CUcontext c; CUmodule m; CUfunction f; CUdeviceptr in, out, g; size_t gb;
    CK(cuInit(0)); CK(cuDeviceGet(&d, 0)); CK(cuDevicePrimaryCtxRetain(&c, d)); CK(cuCtxSetCurrent(c));
    CK(cuModuleLoad(&m, argv[1])); CK(cuModuleGetFunction(&f, m, argv[2]));
    CK(cuModuleGetGlobal(&g, &gb, m, "tilepipe_panic_record"));
    unsigned *rec; CUdeviceptr dr; CK(cuMemHostAlloc((void **)&rec, 4096, CU_MEMHOSTALLOC_DEVICEMAP)); for (int i = 0; i < 1024; ++i) rec[i] = 0;
    CK(cuMemHostGetDevicePointer(&dr, rec, 0)); CK(cuMemcpyHtoD(g, &dr, 8));
    size_t len = 1 << 20; std::vector<int> v(len); for (size_t i = 0; i < len; ++i) v[i] = int(i * 7919 & 255);
    int bad = atoi(argv[3]);
    for (int i = 0; i < bad; ++i) v[(size_t(i) * 7777 + 12345) % len] = 5000 + i;
    CK(cuMemAlloc(&in, 4 * len)); CK(cuMemAlloc(&out, 4 * len)); CK(cuMemcpyHtoD(in, v.data(), 4 * len));
    struct { CUdeviceptr p; unsigned long long n; } views[2] = {{in, len}, {out, len}};
    void *ps[] = {&views[0], &views[1]};
    CK(cuLaunchKernel(f, 200, 1, 1, 256, 1, 1, 8192 + 1024, 0, ps, 0));
    CK(cuCtxSynchronize());
    printf("state %u block %u thread %u: %u of %u\n", rec[0], rec[3], rec[4], rec[10], rec[8]);
}
