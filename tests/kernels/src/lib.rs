//! Kernels that only tests and the stress run launch.
//!
//! Those of [`bulk`], [`features`], [`role_features`], [`role_steps`], [`rows`], [`tensor`] and
//! [`wide`] write the same on the CPU and on the GPU, and those of [`tails`], [`reads`],
//! [`orders`], [`scratch`], [`atomics`] and [`parameters`] what a plain loop makes. The roles of
//! [`role_stress`] leave and wait at random. Those of [`locals`] write addresses of their own
//! variables, and those of [`faulty`] fail on purpose. The kernels for users to read are in
//! `kernels/`.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

pub mod atomics;
pub mod bulk;
pub mod faulty;
pub mod features;
pub mod locals;
pub mod memory;
pub mod parameters;
pub mod role_features;
pub mod role_steps;
pub mod role_stress;
pub mod rows;
pub mod tails;
pub mod tensor;
pub mod views;
pub mod wide;

pub use memory::scratch;
pub use views::{orders, reads};
