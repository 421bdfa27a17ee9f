//! The kernels that there are.

/// The names that `--kernel` takes.
pub use tilepipe_kernel_registry::NAMES as KERNELS;

/// The kernels that `--stress` launches. A test of the program compares them.
pub const STRESS_KERNELS: [&str; 3] =
    ["random_quits_of_first_threads", "random_quits_by_parity", "random_quits_of_warps"];

/// What `tilepipe-run --list` prints. A test of `tilepipe-runner` compares both, and writes this
/// one where `TILEPIPE_HELP=write`.
pub const LIST: &str = include_str!("../list.txt");
