//! What the generated code must look like: intent checks on PTX, on machine code and on the
//! assembler's report, which survive a new compiler.
//!
//! Counts are of executions: on every way through a kernel, or once round its loop, so many and no
//! more. So neither a barrier that the optimiser duplicated into both arms of a branch nor one that
//! only some ways pass goes unnoticed.

mod accesses;
mod atomics;
mod bulk;
mod bulk_kernels;
mod collectives;
mod contracts;
mod copies;
mod drivers;
mod everywhere;
mod kernel;
mod locals;
mod machine;
mod one_by_one;
mod orders;
mod panics;
mod parameters;
mod products;
mod proxies;
mod reads;
mod role_barriers;
mod role_machine;
mod roles;
mod rows;
mod scopes;
mod scratch;
mod steps;
mod stores;
mod tensor_cores;
mod wide;
