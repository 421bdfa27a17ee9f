//! The sides of a row: our kernel, the library or the driver, and C++ of our kernel's shape where
//! there is some.

use anyhow::Result;
use tilepipe::launch::Instance;

use super::{Job, Ours, Theirs};
use crate::plan::bulk::{BLOCK_DOT, BLOCK_SUM, COPIED, STORED, tensor};
use crate::plan::catalog::Peer;

/// One of them.
pub enum Side<'a> {
    /// Our kernel, or C++ of its shape.
    Kernel(Ours<'a>),
    /// A function of the library, or the driver's copy.
    Library(Theirs<'a>),
}

impl Side<'_> {
    /// Runs it `count` times and returns the milliseconds of each.
    pub fn turn(&mut self, count: usize) -> Result<Vec<f64>> {
        match self {
            Side::Kernel(kernel) => kernel.turn(count),
            Side::Library(theirs) => theirs.turn(count),
        }
    }

    /// What is wrong with a run over a poisoned output.
    pub fn fault(&mut self, expected: &[i32]) -> Result<Option<String>> {
        match self {
            Side::Kernel(kernel) => kernel.fault(expected),
            Side::Library(theirs) => theirs.fault(expected),
        }
    }
}

/// The C++ of the shape of one of our kernels with the copy engine; none for others.
pub fn twin(job: Job, ours: &Instance) -> Option<Peer> {
    let form = match (job, ours.kernel()) {
        (Job::Sum, "sum_bulk") => BLOCK_SUM,
        (Job::Dot, "dot_bulk") => BLOCK_DOT,
        (Job::Copy, "copy_bulk") => COPIED,
        (Job::Copy, "copy_stored_bulk") => STORED,
        (Job::CopyRows, _) => return tensor::twin(ours),
        _ => return None,
    };
    let number = |name| ours.generic(name)?.parse().ok();
    Some(form.of(ours.threads(), number("LEN")?, number("STAGES")?).peer())
}

#[cfg(test)]
mod tests {
    use super::super::{JOBS, resolved};
    use super::*;

    #[test]
    fn what_uses_the_copy_engine_has_a_twin_of_its_shape_and_nothing_else_has() {
        for (job, ours, _) in JOBS {
            let ours = resolved(ours).unwrap();
            let twin = twin(job, ours).map(|twin| twin.instance);
            let by_engine = ["_bulk", "_tma"].iter().any(|ending| ours.kernel().ends_with(ending));
            assert_eq!(twin.is_some(), by_engine, "{}", ours.name());
            if let Some(twin) = twin {
                assert_eq!((twin.threads(), twin.parameters().count()), (ours.threads(), job.inputs() + 1));
            }
        }
    }
}
