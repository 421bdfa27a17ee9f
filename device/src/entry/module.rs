//! The module that `#[kernel]` makes beside a function, told from others of its name.
//!
//! The kernel's module re-exports [`KernelModule`] by a name for which [`AnotherModule`] stands
//! where the names of the module in sight are imported: if that one is another, the latter is left.

/// What the module that `#[kernel]` makes has among its names.
pub enum KernelModule {}

/// What has that name where the module is another one.
pub enum AnotherModule {}

/// Says that a module is the one that `#[kernel]` makes.
#[diagnostic::on_unimplemented(
    message = "the name of this kernel's module, which has its `launch`, is taken by another module",
    label = "`#[kernel]` makes a module of this name beside the function",
    note = "give the kernel's module a name of its own: `#[kernel(module = name)]`, and `name::launch(..)`"
)]
pub trait IsKernelModule {}
impl IsKernelModule for KernelModule {}

/// Refuses a module that `#[kernel]` did not make.
pub const fn check_module<M: IsKernelModule>() {}
