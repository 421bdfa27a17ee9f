//! Building what is packed.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::Value;

use super::suite::{self, Part, Suite};
use crate::pytorch::{self, Environment};
use crate::test::targets::{self, GPU};
use crate::{process, project, ptx, setup};

/// The file name of the package `tilepipe-bench-c`, here and in a bundle, which is for Linux.
pub const BENCH_LIBRARY: &str = "libtilepipe_bench_c.so";

/// The file beside the kernels that says what they were built with; `tilepipe-bench` reads it.
pub const TOOLCHAIN: &str = "toolchain.txt";

/// Where the parts of a bundle lie. What no suite needs may not be there.
pub struct Sources {
    /// The program `tilepipe-run`.
    pub runner: PathBuf,
    /// The program `tilepipe-bench`.
    pub bench: PathBuf,
    /// The library that launches our kernels for PyTorch.
    pub bench_library: PathBuf,
    /// A package and the program of its GPU tests.
    pub tests: Vec<(String, PathBuf)>,
    /// The folder of the kernels' PTX and machine code.
    pub kernels: PathBuf,
    /// That of the kernels of tests and of the stress run.
    pub test_kernels: PathBuf,
    /// That of their twins.
    pub twins: PathBuf,
    /// The folder of the CUDA C++ sources.
    pub peers: PathBuf,
    /// The wheel of the extension for Python, where one could be built.
    pub wheel: Option<PathBuf>,
    /// The folder of the extension, with its tests.
    pub extension: PathBuf,
    /// What the programs that built the kernels say of their versions.
    pub toolchain: String,
}

impl Sources {
    /// Builds what the suites need; PTX and machine code for this architecture go to the folder.
    ///
    /// # Errors
    ///
    /// What could not be built.
    pub fn build(suites: &[Suite], architecture: &str, folder: &Path) -> Result<Self> {
        let with_bench = suite::need(suites, Part::Bench);
        let with_tests = suite::need(suites, Part::TestKernels);
        let [kernels, twins, test_kernels] = ["kernels", "twins", "test-kernels"].map(|name| folder.join(name));
        let [for_bench, for_tests] =
            [(with_bench, &twins), (with_tests, &test_kernels)].map(|(is, folder)| is.then_some(folder.as_path()));
        // Kernels are built with it, whoever builds them.
        let toolchain = setup::ensure()?.versions().to_owned();
        if suite::need(suites, Part::Kernels) {
            ptx::for_bundle(architecture, &kernels, for_bench, for_tests)?;
        }

        // Each by itself, as other commands build it: with others cargo would choose other
        // features.
        let programs =
            [(Part::Runner, "tilepipe-run", "tilepipe-run"), (Part::Bench, "tilepipe-bench", "tilepipe-bench")];
        for (part, package, program) in programs {
            if suite::need(suites, part) {
                process::run(&mut process::cargo(["build", "--release", "--package", package, "--bin", program]))?;
            }
        }
        if with_bench {
            process::run(&mut process::cargo(["build", "--release", "--package", "tilepipe-bench-c"]))?;
        }
        let mut tests = Vec::new();
        for target in targets::all()?.into_iter().filter(|target| target.name == GPU) {
            if suite::need_tests_of(suites, &target.package) {
                let program = build_tests(&target.package)?;
                tests.push((target.package, program));
            }
        }
        Ok(Sources {
            runner: project::program("release", "tilepipe-run"),
            bench: project::program("release", "tilepipe-bench"),
            bench_library: project::program("release", BENCH_LIBRARY),
            tests,
            kernels,
            test_kernels,
            twins,
            peers: project::root().join("bench/peers"),
            wheel: if suite::need(suites, Part::Wheel) { build_wheel()? } else { None },
            extension: pytorch::example(),
            toolchain,
        })
    }
}

/// Builds the wheel of the extension for Python, or says why there is none.
fn build_wheel() -> Result<Option<PathBuf>> {
    match Environment::ensure() {
        Ok(environment) => environment.build_wheel().map(Some),
        Err(reason) => {
            println!("the bundle has no wheel of the extension for PyTorch: {reason}");
            Ok(None)
        }
    }
}

/// Builds the GPU tests of a package and returns their program.
fn build_tests(package: &str) -> Result<PathBuf> {
    let messages = process::capture(&mut process::cargo([
        "test",
        "--release",
        "--no-run",
        "--message-format=json-render-diagnostics",
        "--package",
        package,
        "--test",
        GPU,
    ]))?;
    let program = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let is_test = message["target"]["name"] == GPU && message["profile"]["test"] == true;
        is_test.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    });
    match program {
        Some(program) => Ok(program),
        None => bail!("cargo built no executable for test `{GPU}` of package `{package}`"),
    }
}
