// A matrix product by cublasLt, as a shared library with C functions for torch_peers.py.
//
// Matrices are dense and row-major, of f16 or bf16, and sums are f32: out[M, N] = a[M, K] * b,
// where b is [K, N], or [N, K] and transposed. A plan has the algorithm that was fastest of the
// first ones that cublasLt's heuristic names. A call that failed returns 1, or null for a plan, and
// tilepipe_lt_error() says why.
#include <cstdint>
#include <cstdio>

#include <cublasLt.h>
#include <cuda_runtime.h>

namespace {

// Algorithms that are timed.
constexpr int ALGORITHMS = 8;
// Runs of each before the timed ones, and those.
constexpr int WARM_UP = 3;
constexpr int TIMED = 10;
// What cuBLAS takes for itself on this class of GPUs: 32 MiB.
constexpr size_t WORKSPACE = size_t{32} << 20;

thread_local char error[256] = "";

struct Plan {
    cublasLtHandle_t handle = nullptr;
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t left = nullptr, right = nullptr, out = nullptr;
    cublasLtMatmulAlgo_t algorithm = {};
    void *workspace = nullptr;
    int tried = 0;

    ~Plan() {
        if (workspace != nullptr) cudaFree(workspace);
        if (out != nullptr) cublasLtMatrixLayoutDestroy(out);
        if (right != nullptr) cublasLtMatrixLayoutDestroy(right);
        if (left != nullptr) cublasLtMatrixLayoutDestroy(left);
        if (product != nullptr) cublasLtMatmulDescDestroy(product);
        if (handle != nullptr) cublasLtDestroy(handle);
    }

    // cublasLt is column-major: it sees each matrix transposed, and computes out^T = b^T * a^T.
    cublasStatus_t run(const cublasLtMatmulAlgo_t &with, const void *a, const void *b, void *to, cudaStream_t stream) const {
        const float one = 1.0f, zero = 0.0f;
        return cublasLtMatmul(handle, product, &one, b, left, a, right, &zero, to, out, to, out, &with, workspace, WORKSPACE,
                              stream);
    }
};

bool succeeded(cublasStatus_t status, const char *doing) {
    if (status == CUBLAS_STATUS_SUCCESS) return true;
    snprintf(error, sizeof error, "cublasLt could not %s: %s", doing, cublasLtGetStatusString(status));
    return false;
}

bool succeeded(cudaError_t status, const char *doing) {
    if (status == cudaSuccess) return true;
    snprintf(error, sizeof error, "CUDA could not %s: %s", doing, cudaGetErrorString(status));
    return false;
}

// Describes the product: what cublasLt calls A is b, and what it calls B is a.
bool describe(Plan &plan, bool is_bf16, bool transposed, int64_t m, int64_t n, int64_t k) {
    const cudaDataType_t element = is_bf16 ? CUDA_R_16BF : CUDA_R_16F;
    const cublasOperation_t turn = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    return succeeded(cublasLtCreate(&plan.handle), "start") &&
           succeeded(cublasLtMatmulDescCreate(&plan.product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describe the product") &&
           succeeded(cublasLtMatmulDescSetAttribute(plan.product, CUBLASLT_MATMUL_DESC_TRANSA, &turn, sizeof turn),
                     "describe the product") &&
           succeeded(transposed ? cublasLtMatrixLayoutCreate(&plan.left, element, k, n, k)
                                : cublasLtMatrixLayoutCreate(&plan.left, element, n, k, n),
                     "describe b") &&
           succeeded(cublasLtMatrixLayoutCreate(&plan.right, element, k, m, k), "describe a") &&
           succeeded(cublasLtMatrixLayoutCreate(&plan.out, element, n, m, n), "describe the result") &&
           succeeded(cudaMalloc(&plan.workspace, WORKSPACE), "allocate work memory");
}

// The milliseconds of an algorithm's run; negative if it cannot run.
float time(const Plan &plan, const cublasLtMatmulAlgo_t &algorithm, const void *a, const void *b, void *out,
           cudaStream_t stream, cudaEvent_t start, cudaEvent_t end) {
    for (int number = 0; number < WARM_UP + TIMED; number++) {
        if (number == WARM_UP && cudaEventRecord(start, stream) != cudaSuccess) return -1;
        if (plan.run(algorithm, a, b, out, stream) != CUBLAS_STATUS_SUCCESS) return -1;
    }
    float milliseconds = -1;
    const bool is_timed = cudaEventRecord(end, stream) == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess &&
                          cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess;
    return is_timed ? milliseconds / TIMED : -1;
}

// Asks for the heuristic's first algorithms and keeps the fastest.
bool choose(Plan &plan, const void *a, const void *b, void *out, cudaStream_t stream) {
    cublasLtMatmulHeuristicResult_t found[ALGORITHMS] = {};
    int count = 0;
    cublasLtMatmulPreference_t preference = nullptr;
    if (!succeeded(cublasLtMatmulPreferenceCreate(&preference), "ask for algorithms")) return false;
    const size_t bytes = WORKSPACE;
    const bool is_asked =
        succeeded(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
                  "limit work memory") &&
        succeeded(cublasLtMatmulAlgoGetHeuristic(plan.handle, plan.product, plan.left, plan.right, plan.out, plan.out, preference,
                                                 ALGORITHMS, found, &count),
                  "name an algorithm");
    cublasLtMatmulPreferenceDestroy(preference);
    cudaEvent_t start = nullptr, end = nullptr;
    bool is_ready = is_asked && succeeded(cudaEventCreate(&start), "make an event");
    is_ready = is_ready && succeeded(cudaEventCreate(&end), "make an event");
    float best = -1;
    for (int number = 0; is_ready && number < count; number++) {
        if (found[number].state != CUBLAS_STATUS_SUCCESS) continue;
        const float milliseconds = time(plan, found[number].algo, a, b, out, stream, start, end);
        if (milliseconds < 0) continue;
        plan.tried++;
        if (best < 0 || milliseconds < best) {
            best = milliseconds;
            plan.algorithm = found[number].algo;
        }
    }
    if (start != nullptr) cudaEventDestroy(start);
    if (end != nullptr) cudaEventDestroy(end);
    if (is_ready && plan.tried == 0) snprintf(error, sizeof error, "none of %d algorithms of cublasLt ran", count);
    return plan.tried > 0;
}

} // namespace

extern "C" const char *tilepipe_lt_error() { return error; }

extern "C" size_t tilepipe_lt_version() { return cublasLtGetVersion(); }

// Makes a plan for these sizes, by runs on these matrices in this stream, which are waited for.
// `out` is written.
extern "C" void *tilepipe_lt_plan(int is_bf16, int transposed, int64_t m, int64_t n, int64_t k, const void *a, const void *b,
                                  void *out, void *stream) {
    Plan *plan = new Plan;
    if (describe(*plan, is_bf16 != 0, transposed != 0, m, n, k) && choose(*plan, a, b, out, static_cast<cudaStream_t>(stream))) {
        return plan;
    }
    delete plan;
    return nullptr;
}

// How many algorithms were timed.
extern "C" int tilepipe_lt_tried(const void *plan) { return static_cast<const Plan *>(plan)->tried; }

// Starts the product in a stream; it may be captured into a graph.
extern "C" int tilepipe_lt_run(const void *plan, const void *a, const void *b, void *out, void *stream) {
    const Plan &chosen = *static_cast<const Plan *>(plan);
    return succeeded(chosen.run(chosen.algorithm, a, b, out, static_cast<cudaStream_t>(stream)), "start the product") ? 0 : 1;
}

// Gives a plan back. Its work, and graphs that have it, must be done with it.
extern "C" void tilepipe_lt_free(void *plan) { delete static_cast<Plan *>(plan); }
