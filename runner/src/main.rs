//! `tilepipe-run`: runs kernels on real data and checks every element against a reference.
//!
//! `cargo xtask run` builds the kernels, then starts this program with the same arguments; in a bundle it stands on its
//! own.

mod axis;
mod catalog;
mod cli;
mod execute;
mod machine;
mod memory;
mod plan;
mod report;
mod source;
mod stress;

use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use tilepipe_host::Error;
use tilepipe_runner::npy;
use tilepipe_runner::stdout::{self, PrintError, print};

use axis::Axis;
use cli::{Choice, Cli, DeviceChoice};
use machine::Machine;
use plan::{Configuration, Request};
use source::{Files, Source};

/// The exit status where a GPU is asked for and there is none, so that a script can tell this from a failure.
const NO_GPU: u8 = 3;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return stdout::answer(&answer),
    };
    match run(cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if error.downcast_ref().is_some_and(PrintError::is_reader_gone) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            match error.downcast_ref() {
                Some(Error::NoDriver | Error::NoSuchGpu { count: 0, .. }) => ExitCode::from(NO_GPU),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// Does what the command line asks, and returns whether every result is right.
fn run(cli: Cli) -> Result<bool> {
    let catalog = catalog::kernels();
    if cli.list {
        print(report::list(&catalog))?;
        return Ok(true);
    }
    if cli.probe {
        print(Machine::open(cli.device, cli.schedule, cli.module.as_deref())?.describe())?;
        return Ok(true);
    }
    if let Some(launches) = cli.stress {
        let machine = Machine::open(cli.device, cli.schedule, cli.module.as_deref())?;
        print(machine.describe())?;
        print(stress::run(&machine, launches)?)?;
        return Ok(true);
    }
    let (source, request) = understand(&cli)?;
    let configurations = plan::plan(&catalog, &request)?;
    check_against_plan(&cli, &configurations)?;

    let machine = Machine::open(cli.device, cli.schedule, cli.module.as_deref())?;
    let source = source.unwrap_or_else(|| Source::Generated { elements: machine.default_elements() });
    memory::check(&configurations, &source, machine.is_gpu())?;
    print(machine.describe())?;
    let rows = execute::execute(machine, &configurations, &source, cli.output.as_deref())?;
    if !cli.quiet || rows.iter().any(|row| !row.outcome.is_verified()) {
        print(report::table(&rows, cli.quiet))?;
    }
    print(report::summary(&rows))?;
    Ok(rows.iter().all(|row| row.outcome.is_verified()))
}

/// Turns the command line into what to run and on which data; no data is read yet but the files' headers.
fn understand(cli: &Cli) -> Result<(Option<Source>, Request)> {
    let files = if cli.inputs.is_empty() { None } else { Some(understand_files(cli)?) };
    let request = Request {
        kernels: cli.kernels.clone(),
        dtypes: Axis::new(&cli.dtype, &plan::DEFAULT_DTYPES),
        blocks: Axis::new(&cli.block, &plan::DEFAULT_BLOCKS),
        stages: Axis::new(&cli.stages, &plan::DEFAULT_STAGES),
        variants: cli.variants.clone(),
        files: files.clone(),
        single: cli.output.is_some(),
    };
    let generated = cli.elements.map(|elements| Source::Generated { elements });
    if cli.schedule.is_some() && cli.device == DeviceChoice::Gpu {
        bail!("--schedule is for the CPU's model of asynchronous copies; leave it out, or use --device cpu");
    }
    Ok((files.map(Source::Files).or(generated), request))
}

/// Reads the headers of the input files. `--dtype` may choose among the ways to take them.
fn understand_files(cli: &Cli) -> Result<Files> {
    let mut files = Files::describe(&cli.inputs)?;
    if !cli.dtype.is_empty() && !cli.dtype.contains(&Choice::All) {
        let held = axis::join(files.readings.iter().map(|reading| reading.dtype));
        files.readings.retain(|reading| cli.dtype.contains(&Choice::Value(reading.dtype)));
        ensure!(
            !files.readings.is_empty(),
            "{} holds {held} elements, but --dtype asks for {}; leave --dtype out, or convert the file with numpy.astype",
            files.paths[0].display(),
            axis::join(&cli.dtype)
        );
    }
    Ok(files)
}

fn check_against_plan(cli: &Cli, configurations: &[Configuration]) -> Result<()> {
    let Some(output) = &cli.output else {
        return Ok(());
    };
    ensure!(
        configurations.len() == 1,
        "--output takes the result of one configuration, but {} are selected; narrow them with --kernel, --dtype, --block, \
         --stages and --variant",
        configurations.len()
    );
    npy::check_writable(output, configurations[0].variant.dtype).context("nothing was run")?;
    for input in &cli.inputs {
        ensure!(
            !npy::is_same_file(input, output),
            "--output {} is the file that --input names; give --output another path, nothing was run",
            output.display()
        );
    }
    Ok(())
}
