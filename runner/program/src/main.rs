//! `tilepipe-run`: [`tilepipe_runner::program`] with the kernels of `tilepipe-kernels`, and for the
//! stress run with those of `tilepipe-test-kernels`.

mod stress;

use std::process::ExitCode;

use tilepipe_runner::program::{self, Kernels};

fn main() -> ExitCode {
    program::main(&Kernels {
        registry: &tilepipe_kernels::registry(),
        stress: |machine, launches| Ok(stress::run(machine, launches)?.to_string()),
    })
}
