//! `tilepipe-bench launches`: what a launch costs the program that makes it, also beside that of
//! another build of this program, or beside the driver's own call.

mod bare;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use comfy_table::Table;
use serde::{Deserialize, Serialize};
use tilepipe_host::{Device, Error, Schedule};
use tilepipe_kernels::compute::NeighbourSum;
use tilepipe_kernels::{example_kernel, without_memcpy_async};
use tilepipe_runner::built;

use crate::machine::Origin;
use crate::print;
use crate::record::costs::{self, Costs};
use crate::show::costs as show;
use crate::show::table::{headed, number};
use crate::statistics::Summary;

/// Launches before a wait for them, few enough that the driver's queue is never full: then a launch
/// would wait for a kernel.
const BATCH: u32 = 250;
/// Launches of each kernel before the timed ones.
const WARM_UP: u32 = 2 * BATCH;
/// What the kernels take.
const KERNELS: [&str; 2] = ["one input, one output", "two inputs, one output"];
/// A launch may cost so many times that of the other build ..
const MOST_RATIO: f64 = 1.02;
/// Or so many nanoseconds more, whichever is more.
const MOST_NANOSECONDS: f64 = 50.0;

/// What is launched how often, and what it is compared with.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder with our kernels' PTX and cubins; without it the CPU executor launches
    #[arg(long, value_name = "DIR")]
    module: Option<PathBuf>,

    /// Timed rounds of each kernel
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Launches in a round
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    launches: u32,

    /// Another build of this program: both run in turns, each round in a process of its own
    #[arg(long, value_name = "PROGRAM")]
    against: Option<PathBuf>,

    /// The folder with the other build's PTX and cubins
    #[arg(long, value_name = "DIR", requires = "against")]
    against_module: Option<PathBuf>,

    /// Beside `cuLaunchKernel` with the same functions and arguments, in turns
    #[arg(long, requires = "module", conflicts_with = "against")]
    bare: bool,

    /// Where to write what --bare measures, for `merge --launches`
    #[arg(long, value_name = "FILE.json", requires = "bare")]
    output: Option<PathBuf>,

    #[command(flatten)]
    origin: Origin,
}

/// The rounds of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Series {
    /// The kernel, with what it takes.
    kernel: String,
    /// Launches in a round.
    launches: u32,
    /// The host's nanoseconds for a launch, round by round.
    nanoseconds: Vec<f64>,
    /// Their median.
    median: f64,
}

impl Series {
    fn new(kernel: &str, launches: u32, nanoseconds: Vec<f64>) -> Series {
        let median = Summary::of(&nanoseconds).map_or(f64::NAN, |summary| summary.median);
        Series { kernel: kernel.to_owned(), launches, nanoseconds, median }
    }
}

/// Times the launches, and returns which of them cost too much more than those of the other build.
///
/// # Errors
///
/// No GPU, kernels that are missing, or another build that fails or measures something else.
pub fn run(options: &Options) -> Result<Vec<String>> {
    if let Some(module) = options.module.as_ref().filter(|_| options.bare) {
        let measured = bare::measure(options, module)?;
        if let Some(path) = &options.output {
            costs::write(&measured, path)?;
        }
        print(show::text(&Costs { launches: vec![measured], compile: None }).trim_start())?;
        return Ok(Vec::new());
    }
    let Some(other) = &options.against else {
        let series = measure(options)?;
        print(rounds(&series).to_string())?;
        for one in &series {
            print(&serde_json::to_string(one)?)?;
        }
        return Ok(Vec::new());
    };
    ensure!(
        options.module.is_some() == options.against_module.is_some(),
        "give both --module and --against-module, or none to launch on the CPU"
    );
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let programs = [(own.as_path(), &options.module), (other.as_path(), &options.against_module)];
    let pairs = in_turns(options, programs)?;
    print(comparison(&pairs).to_string())?;
    for [own, other] in &pairs {
        print(&serde_json::to_string(&serde_json::json!({ "own": own, "other": other }))?)?;
    }
    Ok(pairs.iter().filter_map(|[own, other]| too_slow(own, other)).collect())
}

/// Launches two kernels that have next to nothing to do, of one block and one element, through
/// their typed launch.
fn measure(options: &Options) -> Result<Vec<Series>> {
    let device = match &options.module {
        Some(folder) => {
            let device = Device::gpu(0).context("the launches need a GPU; without --module the CPU makes them")?;
            device.load(&built::read(folder)?)?;
            device
        }
        None => Device::cpu(Schedule::Lazy),
    };
    let stream = device.stream()?;
    let (left, right, mut out) = (device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?, device.zeroed::<i32>(1)?);
    let time = |name: &str, mut launch: Box<dyn FnMut() -> Result<(), Error> + '_>| {
        let mut wait = || stream.synchronize();
        round(WARM_UP.min(options.launches), &mut launch, &mut wait)?;
        let rounds = (0..options.rounds).map(|_| round(options.launches, &mut launch, &mut wait));
        Ok(Series::new(name, options.launches, rounds.collect::<Result<_, Error>>()?))
    };
    let series: Result<Vec<Series>, Error> = [
        time(
            KERNELS[0],
            Box::new(|| without_memcpy_async::launch::<i32, NeighbourSum, 128>(&stream, 1, &left, &mut out)),
        ),
        time(KERNELS[1], Box::new(|| example_kernel::launch::<i32, 128>(&stream, 1, &left, &right, &mut out))),
    ]
    .into_iter()
    .collect();
    Ok(series?)
}

/// Returns the nanoseconds that a launch takes until its call returns. The waits for the kernels
/// between batches do not count.
fn round<E>(
    launches: u32,
    launch: &mut dyn FnMut() -> Result<(), E>,
    wait: &mut dyn FnMut() -> Result<(), E>,
) -> Result<f64, E> {
    let (mut spent, mut left) = (Duration::ZERO, launches);
    while left > 0 {
        let batch = left.min(BATCH);
        let start = Instant::now();
        for _ in 0..batch {
            launch()?;
        }
        spent += start.elapsed();
        wait()?;
        left -= batch;
    }
    Ok(spent.as_secs_f64() * 1e9 / f64::from(launches))
}

/// Runs a round of each program in turns, the one that begins changing, and returns the series of
/// both for each kernel.
fn in_turns(options: &Options, programs: [(&Path, &Option<PathBuf>); 2]) -> Result<Vec<[Series; 2]>> {
    let mut all = [Vec::new(), Vec::new()];
    for number in 0..options.rounds as usize {
        for place in [number % 2, 1 - number % 2] {
            let (program, module) = programs[place];
            all[place].push(one_round(program, module.as_deref(), options.launches)?);
        }
    }
    let [own, other] = all.map(|rounds| gather(&rounds));
    let (own, other) = (own?, other?);
    let names = |series: &[Series]| series.iter().map(|one| one.kernel.clone()).collect::<Vec<_>>();
    ensure!(names(&own) == names(&other), "the other build launches other kernels: {:?}", names(&other));
    Ok(own.into_iter().zip(other).map(|(own, other)| [own, other]).collect())
}

/// Runs one round of each kernel in a process of its own.
fn one_round(program: &Path, module: Option<&Path>, launches: u32) -> Result<Vec<Series>> {
    let mut command = Command::new(program);
    command.args(["launches", "--rounds", "1", "--launches", &launches.to_string()]);
    if let Some(module) = module {
        command.arg("--module").arg(module);
    }
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}: {}\n{errors}", program.display(), output.status);
    let series: Vec<Series> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| format!("{} printed something else than its series", program.display()))?;
    ensure!(!series.is_empty(), "{} printed no series", program.display());
    Ok(series)
}

/// Makes one series for each kernel of the rounds that processes ran one by one.
fn gather(rounds: &[Vec<Series>]) -> Result<Vec<Series>> {
    let Some(first) = rounds.first() else { return Ok(Vec::new()) };
    let of_kernel = |(place, one): (usize, &Series)| {
        let mut nanoseconds = Vec::with_capacity(rounds.len());
        for round in rounds {
            let found = round.get(place).filter(|found| found.kernel == one.kernel);
            nanoseconds.extend(&found.context("a build launches other kernels from round to round")?.nanoseconds);
        }
        Ok(Series::new(&one.kernel, one.launches, nanoseconds))
    };
    first.iter().enumerate().map(of_kernel).collect()
}

/// Returns what is wrong with a launch that costs more than one of the other build: more than both
/// limits allow.
fn too_slow(own: &Series, other: &Series) -> Option<String> {
    let (own_ns, other_ns) = (own.median, other.median);
    let fits = own_ns <= other_ns * MOST_RATIO || own_ns <= other_ns + MOST_NANOSECONDS;
    (!fits).then(|| {
        format!(
            "a launch with {} takes {own_ns:.0} ns, of the other build {other_ns:.0} ns: more than {:.0} % and \
             {MOST_NANOSECONDS} ns above it",
            own.kernel,
            100.0 * (MOST_RATIO - 1.0)
        )
    })
}

fn rounds(series: &[Series]) -> Table {
    let mut table = headed(["round", "kernel", "ns for a launch"]);
    for one in series {
        for (place, nanoseconds) in one.nanoseconds.iter().enumerate() {
            table.add_row([number(place + 1), one.kernel.as_str().into(), number(format!("{nanoseconds:.1}"))]);
        }
        table.add_row([number("median"), one.kernel.as_str().into(), number(format!("{:.1}", one.median))]);
    }
    table
}

fn comparison(pairs: &[[Series; 2]]) -> Table {
    let mut table = headed(["kernel", "ns for a launch", "of the other build", "ratio", "ns more"]);
    for [own, other] in pairs {
        let (own_ns, other_ns) = (own.median, other.median);
        let cells = [
            format!("{own_ns:.1}"),
            format!("{other_ns:.1}"),
            format!("{:.4}", own_ns / other_ns),
            format!("{:+.1}", own_ns - other_ns),
        ];
        table.add_row([own.kernel.as_str().into()].into_iter().chain(cells.map(number)));
    }
    table
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn the_bare_call_needs_kernels_and_no_other_build() {
        let fits = |words: &str| Line::try_parse_from(["launches"].into_iter().chain(words.split(' '))).is_ok();
        assert!(fits("--bare --module ptx") && fits("--bare --module ptx --output a.json --commit 1 --command x"));
        assert!(!fits("--bare") && !fits("--module ptx --output a.json"));
        assert!(!fits("--bare --module ptx --against other --against-module ptx"));
    }

    fn series(median: f64) -> Series {
        Series::new("a kernel", 10, vec![median])
    }

    #[test]
    fn every_round_of_every_kernel_has_a_time() {
        let words = ["launches", "--rounds", "3", "--launches", &(BATCH + 1).to_string()];
        let measured = measure(&Line::try_parse_from(words).unwrap().options).unwrap();
        assert_eq!(measured.len(), 2);
        for one in measured {
            assert_eq!((one.nanoseconds.len(), one.launches), (3, BATCH + 1));
            assert!(one.nanoseconds.iter().all(|nanoseconds| *nanoseconds > 0.0), "{one:?}");
            assert!(one.nanoseconds.contains(&one.median), "{one:?}");
        }
    }

    #[test]
    fn as_many_launches_are_made_as_are_asked_for_and_a_failed_one_ends_the_round() {
        for launches in [1, BATCH, 2 * BATCH + 1] {
            let (mut made, mut waits) = (0, 0);
            let mut launch = || {
                made += 1;
                Ok::<(), Error>(())
            };
            let mut wait = || {
                waits += 1;
                Ok(())
            };
            round(launches, &mut launch, &mut wait).unwrap();
            assert_eq!((made, waits), (launches, launches.div_ceil(BATCH)));
        }
        let failed = round(5, &mut || Err(Error::BadGrid { kernel: "none", grid: 0 }), &mut || Ok(()));
        assert!(failed.is_err());
    }

    #[test]
    fn a_launch_is_too_slow_above_both_limits_only() {
        // Of a cheap launch the nanoseconds decide, of a dear one the ratio.
        for (own, other, fits) in
            [(1050.0, 1000.0, true), (1051.0, 1000.0, false), (10_200.0, 10_000.0, true), (10_201.0, 10_000.0, false)]
        {
            assert_eq!(too_slow(&series(own), &series(other)).is_none(), fits, "{own} to {other}");
        }
    }

    #[test]
    fn rounds_of_one_process_each_become_one_series() {
        let gathered = gather(&[vec![series(1.0)], vec![series(5.0)], vec![series(3.0)]]).unwrap();
        assert_eq!(gathered, [Series { nanoseconds: vec![1.0, 5.0, 3.0], ..series(3.0) }]);
        let other = Series { kernel: "another".to_owned(), ..series(1.0) };
        assert!(gather(&[vec![series(1.0)], vec![other]]).is_err());
        assert!(gather(&[vec![series(1.0)], Vec::new()]).is_err());
    }
}
