//! The suites, and what each of them needs beside the kernels.

use clap::ValueEnum;

/// What can be run on the GPU machine. `run.sh` has the commands of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The GPU tests of all packages, every kernel in every configuration, the stress program
    Test,
    /// What runs under compute-sanitizer
    Sanitize,
    /// The comparisons with CUDA C++ and with PyTorch
    Bench,
    /// A short part of `test`: the default run, every configuration at one size, the host's tests
    Quick,
    /// The extension for PyTorch, with its tests and a comparison
    Pytorch,
}

/// What is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The kernels' PTX and machine code.
    Kernels,
    /// `tilepipe-run`.
    Runner,
    /// The PTX and machine code of `tests/kernels/`, for the stress run and for GPU tests.
    TestKernels,
    /// The GPU tests of every package.
    AllTests,
    /// The GPU tests of this package.
    TestsOf(&'static str),
    /// `tilepipe-bench`, the library that launches our kernels for PyTorch, and the kernels' twins
    /// in unsafe Rust.
    Bench,
    /// The extension for Python, its tests and the comparison with PyTorch; without its wheel where
    /// none can be built.
    Wheel,
    /// The CUDA C++ sources, with what compiles them, and the scripts that call PyTorch.
    Peers,
}

impl Suite {
    /// The name that `--suite` takes.
    pub fn name(self) -> &'static str {
        match self {
            Suite::Test => "test",
            Suite::Sanitize => "sanitize",
            Suite::Bench => "bench",
            Suite::Quick => "quick",
            Suite::Pytorch => "pytorch",
        }
    }

    /// What its commands need.
    pub fn parts(self) -> &'static [Part] {
        match self {
            Suite::Test => &[Part::Kernels, Part::Runner, Part::TestKernels, Part::AllTests],
            // The tests of the small kernels run under the sanitizer's tools too. `race` needs the
            // guide's kernel.
            Suite::Sanitize => {
                &[Part::Kernels, Part::Runner, Part::TestKernels, Part::TestsOf("tilepipe-tests"), Part::Peers]
            }
            Suite::Bench => &[Part::Kernels, Part::Bench, Part::Peers],
            // The smallest and quickest of the programs, which has kernels of its own in PTX.
            Suite::Quick => &[Part::Kernels, Part::Runner, Part::TestKernels, Part::TestsOf("tilepipe-host")],
            // Its kernels are in the wheel.
            Suite::Pytorch => &[Part::Wheel],
        }
    }
}

impl Part {
    /// Whether this is GPU tests.
    pub fn is_tests(self) -> bool {
        matches!(self, Part::AllTests | Part::TestsOf(_))
    }

    /// Whether the GPU tests of this package are among it.
    pub fn has_tests_of(self, package: &str) -> bool {
        match self {
            Part::AllTests => true,
            Part::TestsOf(wanted) => wanted == package,
            Part::Kernels | Part::Runner | Part::TestKernels | Part::Bench | Part::Peers | Part::Wheel => false,
        }
    }
}

/// Whether one of the suites needs a part.
pub fn need(suites: &[Suite], part: Part) -> bool {
    suites.iter().any(|suite| suite.parts().contains(&part))
}

/// Whether one of the suites needs the GPU tests of a package.
pub fn need_tests_of(suites: &[Suite], package: &str) -> bool {
    suites.iter().flat_map(|suite| suite.parts()).any(|part| part.has_tests_of(package))
}
