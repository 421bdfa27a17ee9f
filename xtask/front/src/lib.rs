//! The front of `cargo xtask`: what can be answered without a build, and how the rest is built and
//! started.
//!
//! It has no dependencies, so that a fresh checkout has it in about a second. `xtask-tools`, which
//! has all the subcommands, uses its modules too.

pub mod build;
pub mod bundle;
pub mod help;
pub mod project;
pub mod request;
