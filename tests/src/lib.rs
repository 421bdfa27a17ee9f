//! What the integration tests share: launches of every instance against a plain loop, and a reader
//! of generated code.
//!
//! [`case`] names what each kernel must compute and the sizes to try; [`features`] runs the small
//! kernels on any device, [`locals`] those that write addresses, [`tails`] those of the copy engine
//! over views that end anywhere, [`reads`] those that read anywhere, [`scratch`] those that compute
//! tiles in shared memory, [`atomics`] those whose threads add to the same memory, [`parameters`]
//! those that take values of every kind, [`products`] those that multiply by tensor cores,
//! [`tensors`] and [`mod@dimensions`] those over tensors.
//! [`artifact`] finds the built kernels; [`ptx`] and [`sass`] read them as [`flow`] graphs, in
//! which a test counts the instructions of a kernel's steady state; [`dataflow`] brings two kernels
//! into a form in which they can be compared. [`public_api`] finds the safe functions that anybody
//! can call.

pub mod atomics;
pub mod case;
pub mod dimensions;
pub mod features;
pub mod locals;
pub mod memory;
pub mod parameters;
pub mod products;
pub mod tails;
pub mod tensors;
pub mod views;

pub use memory::scratch;
pub use views::{orders, reads};

pub mod artifact;
pub mod dataflow;
pub mod flow;
pub mod ptx;
pub mod public_api;
pub mod sass;
