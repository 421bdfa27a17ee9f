//! The program `tilepipe-run`: runs kernels on real data and checks every element against a
//! reference.
//!
//! `cargo xtask run` builds it, and the kernels as PTX if there is a GPU to run them; then it
//! starts the program with the same arguments. In a bundle the program stands on its own.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use tilepipe::launch::Instance;
use tilepipe_host::Error;
use tilepipe_runner_cli::{Choice, Cli, DEFAULT_BLOCKS, DEFAULT_DTYPES, DEFAULT_STAGES, NO_GPU, VariantChoice};

use crate::attention;
use crate::execute::memory;
use crate::machine::{self, Machine};
use crate::picture::Picture;
use crate::plan::axis::{self, Axis};
use crate::plan::catalog::{self, Kernel};
use crate::plan::{self, Configuration, Request};
use crate::product::Product;
use crate::source::{Files, Source};
use crate::stdout::{self, PrintError, print};
use crate::{execute, output, report};

pub use crate::attention::{Attend, Attention, Heads};
pub use crate::product::{Gemm, Multiply};

/// This program, as its command line names it.
const PROGRAM: &str = "tilepipe-run";
/// The folder with the kernels, beside the program where no other one is named.
const KERNELS: &str = "ptx";
/// The same with those of the stress run.
const STRESS_KERNELS: &str = "test-ptx/kernels";

/// What the program is made for.
pub struct Kernels<'a> {
    /// All instances, kernel by kernel.
    pub registry: &'a [&'static [Instance]],
    /// Matrix products.
    pub gemm: Gemm,
    /// Attention.
    pub attention: Attention,
    /// Makes so many launches of kernels whose roles leave at random, and returns what came of
    /// them.
    pub stress: fn(&Machine, u32) -> Result<String>,
}

/// The whole program: reads the command line, does what it asks, and returns the exit status.
pub fn main(kernels: &Kernels<'_>) -> ExitCode {
    let cli = match Cli::read(PROGRAM, std::env::args_os().skip(1)) {
        Ok(cli) => cli,
        Err(answer) => return stdout::answer(&answer),
    };
    match run(cli, kernels) {
        Ok(status) => status,
        Err(error) if error.downcast_ref().is_some_and(PrintError::is_reader_gone) => ExitCode::FAILURE,
        Err(error) => {
            // The library speaks of its functions, this program of its options.
            eprintln!("error: {}", format!("{error:#}").replace("`Device::cpu`", "`--device cpu`"));
            match error.downcast_ref() {
                Some(Error::NoDriver | Error::NoSuchGpu { count: 0, .. }) => ExitCode::from(NO_GPU),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// Does what the command line asks, and returns the exit status: success where every result is
/// right.
fn run(cli: Cli, kernels: &Kernels<'_>) -> Result<ExitCode> {
    let catalog = catalog::kernels(kernels.registry);
    if cli.list {
        print(report::list(&catalog))?;
        return Ok(ExitCode::SUCCESS);
    }
    if cli.print_architecture {
        return print_architecture(&cli, &catalog, kernels);
    }
    let open = |beside| Machine::open(cli.device, cli.schedule, cli.module.as_deref(), beside);
    if cli.probe {
        print(open(KERNELS)?.describe())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(launches) = cli.stress {
        let machine = open(STRESS_KERNELS)?;
        print(machine.describe())?;
        print((kernels.stress)(&machine, launches)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let asked = understand(&cli, &catalog, kernels)?;
    let machine = open(KERNELS)?;
    let rows = match asked {
        Asked::Product(product) => {
            product.check_memory(&machine)?;
            print(machine.describe())?;
            product.run(&machine, cli.output.as_deref())?
        }
        Asked::Attention(attention) => {
            attention.check_memory(&machine)?;
            print(machine.describe())?;
            attention.run(&machine, cli.output.as_deref())?
        }
        Asked::Instances(source, configurations) => {
            let source = source.unwrap_or_else(|| Source::Generated { elements: machine.default_elements() });
            memory::check(&configurations, &source, machine.is_gpu())?;
            print(machine.describe())?;
            execute::execute(machine, &configurations, &source, cli.output.as_deref())?
        }
    };
    if !cli.quiet || rows.iter().any(|row| !row.outcome.is_verified()) {
        print(report::table(&rows, cli.quiet))?;
    }
    print(report::summary(&rows))?;
    let all_verified = rows.iter().all(|row| row.outcome.is_verified());
    Ok(if all_verified { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks what is asked for, and prints the architecture of the GPU that it is asked of. `cargo
/// xtask run` does so before it builds kernels for that GPU. Where there is none, the exit status
/// says so.
fn print_architecture(cli: &Cli, catalog: &[Kernel], kernels: &Kernels<'_>) -> Result<ExitCode> {
    if !cli.probe && cli.stress.is_none() {
        understand(cli, catalog, kernels)?;
    }
    match machine::architecture(cli.device, cli.schedule)? {
        Some(architecture) => print(architecture).map(|()| ExitCode::SUCCESS).map_err(Into::into),
        None => Ok(ExitCode::from(NO_GPU)),
    }
}

/// What a command line asks to run, and on which data.
enum Asked<'a> {
    /// A matrix product.
    Product(Product<'a>),
    /// Attention.
    Attention(attention::Request<'a>),
    /// Instances of the catalog's kernels; without a source on generated data that suits the
    /// device.
    Instances(Option<Source>, Vec<Configuration>),
}

/// Turns the command line into what to run and on which data; no data is read yet but the files'
/// headers.
fn understand<'a>(cli: &Cli, catalog: &[Kernel], kernels: &'a Kernels<'_>) -> Result<Asked<'a>> {
    let picture = Picture::asked(cli)?;
    if let Some(attention) = attention::Request::asked(cli, &kernels.attention)? {
        check_output(cli, attention.dtypes.len(), |path| attention.check_writable(path))?;
        return Ok(Asked::Attention(attention));
    }
    if let Some(product) = Product::asked(cli, &kernels.gemm)? {
        check_output(cli, product.dtypes.len(), |path| product.check_writable(path))?;
        return Ok(Asked::Product(product));
    }
    let has_arrays = picture.is_none() && !cli.inputs.is_empty();
    let files = if has_arrays { Some(understand_files(cli)?) } else { None };
    let channels = picture
        .as_ref()
        .map(|picture| VariantChoice { name: "CHANNELS".to_owned(), value: picture.channels().to_string() });
    let request = Request {
        kernels: cli.kernels.clone(),
        dtypes: Axis::new(&cli.dtype, &DEFAULT_DTYPES),
        blocks: Axis::new(&cli.block, &DEFAULT_BLOCKS),
        stages: Axis::new(&cli.stages, &DEFAULT_STAGES),
        variants: cli.variants.iter().cloned().chain(channels).collect(),
        files: files.clone(),
        single: cli.output.is_some(),
    };
    let generated = cli.elements.map(|elements| Source::Generated { elements });
    let configurations = plan::plan(catalog, &request)?;
    let source = picture.map(Source::Picture).or(files.map(Source::Files)).or(generated);
    check_output(cli, configurations.len(), |path| {
        Source::check_writable(source.as_ref(), path, configurations[0].variant.dtype)
    })?;
    Ok(Asked::Instances(source, configurations))
}

/// Reads the headers of the input files. `--dtype` may choose among the ways to take them.
fn understand_files(cli: &Cli) -> Result<Files> {
    let mut files = Files::describe(&cli.inputs)?;
    if !cli.dtype.is_empty() && !cli.dtype.contains(&Choice::All) {
        let held = axis::join(files.readings.iter().map(|reading| reading.dtype));
        files.readings.retain(|reading| cli.dtype.contains(&Choice::Value(reading.dtype)));
        ensure!(!files.readings.is_empty(), plan::other_types(&files.paths[0], held, &cli.dtype));
    }
    Ok(files)
}

/// Checks that an output, if one is asked for, is the only one, can be put where it is wanted, and
/// is none of the inputs.
fn check_output(cli: &Cli, configurations: usize, is_writable: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let Some(path) = &cli.output else {
        return Ok(());
    };
    ensure!(
        configurations == 1,
        "--output takes the result of one configuration, but {configurations} are selected; narrow them with --kernel, \
         --dtype, --block, --stages and --variant"
    );
    is_writable(path).context("nothing was run")?;
    for input in &cli.inputs {
        ensure!(
            !output::is_same_file(input, path),
            "--output {} is the file that --input names; give --output another path, nothing was run",
            path.display()
        );
    }
    Ok(())
}
