//! One small kernel for each operation and for each order of steps whose generated code is tested.
//!
//! `tests/tests/codegen/` says what each must become. None of them computes anything of use; they
//! are written so that nothing but the operation itself is in them.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

/// Lists the instances of a module's kernels.
macro_rules! registry {
    ($($kernel:ident),* $(,)?) => {
        /// The instances of this module's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub(crate) fn registry() -> Vec<&'static tilepipe::launch::Instance> {
            [$(&$kernel::INSTANCES[..]),*].into_iter().flatten().collect()
        }
    };
}

pub mod bulk;
pub mod collectives;
pub mod maths;
pub mod orders;
pub mod roles;
pub mod scopes;
pub mod steps;

/// All instances of all kernels, kernel by kernel.
#[cfg(not(target_arch = "nvptx64"))]
pub fn registry() -> Vec<&'static tilepipe::launch::Instance> {
    [
        steps::registry(),
        scopes::registry(),
        orders::registry(),
        collectives::registry(),
        maths::registry(),
        roles::registry(),
        bulk::registry(),
    ]
    .concat()
}
