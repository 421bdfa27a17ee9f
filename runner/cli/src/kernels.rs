//! The kernels that there are.

/// The names that `--kernel` takes, in the order of `tilepipe_kernels::registry()`. A test of
/// `tilepipe-runner` compares both.
pub const KERNELS: [&str; 23] = [
    "without_memcpy_async",
    "with_single_stage",
    "with_staging",
    "with_staging_unified",
    "moving_average",
    "with_memcpy_async",
    "with_memcpy_async_prior",
    "with_staging_scope_thread",
    "scale_own",
    "example_kernel",
    "sum",
    "dot",
    "sum_by_warps",
    "sum_by_threads",
    "transpose",
    "stencil_2d",
    "with_specialized_staging_unified",
    "with_specialized_staging_warps",
    "with_producer_count",
    "producer_consumer_sum",
    "load_compute_store",
    "multiply_adds",
    "multiply_adds_synchronous",
];

/// The kernels that `--stress` launches. A test of the program compares them.
pub const STRESS_KERNELS: [&str; 3] =
    ["random_quits_of_first_threads", "random_quits_by_parity", "random_quits_of_warps"];

/// What `tilepipe-run --list` prints. A test of `tilepipe-runner` compares both, and writes this
/// one where `TILEPIPE_HELP=write`.
pub const LIST: &str = include_str!("../list.txt");
