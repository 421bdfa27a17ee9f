//! The device that kernels run on, with its stream.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::array::{Inputs, Output};
use crate::built;
use crate::reference::Written;
use crate::value::Value;
use crate::work::{Kind, Shape, Work};
use anyhow::{Context, Result, bail};
use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;
use tilepipe_host::{Device, DeviceKind, Error, Stream};
use tilepipe_runner_cli::{self as cli, DeviceChoice};

/// Timed runs on a GPU, after one to warm up.
const GPU_RUNS: usize = 10;
/// The most blocks in a grid; each walks over several tiles.
const MOST_BLOCKS: usize = 4096;
/// Tiles a block at least, where there are enough, so that pipelines reach their steady state.
const TILES_A_BLOCK: usize = 16;

/// An open device with the kernels loaded.
pub struct Machine {
    /// The device.
    pub device: Device,
    stream: Stream,
    /// The CPU's schedule; `None` on a GPU.
    schedule: Option<Schedule>,
}

impl Machine {
    /// Opens the chosen device and loads the kernels from `module`, or without it from the folder
    /// `beside` this program. On the CPU nothing is loaded.
    ///
    /// # Errors
    ///
    /// No such device, no kernels for it, or a schedule for a GPU.
    pub fn open(
        choice: DeviceChoice,
        schedule: Option<cli::Schedule>,
        module: Option<&Path>,
        beside: &str,
    ) -> Result<Self> {
        let schedule = schedule.map(of_executor);
        let device = open_device(choice, schedule)?;
        let on_cpu = device.kind() == DeviceKind::Cpu;
        if !on_cpu {
            let folder = module.map_or_else(|| beside_program(beside), |path| Ok(path.to_owned()))?;
            let module = built::read(&folder).with_context(|| {
                format!("no kernels in {}; run `cargo xtask ptx`, or give their folder with --module", folder.display())
            })?;
            device.load(&module)?;
        }
        let stream = device.stream()?;
        Ok(Machine { device, stream, schedule: on_cpu.then(|| schedule.unwrap_or_default()) })
    }

    /// Opens the CPU anew after a kernel has panicked on it; `None` for a GPU, which the panic has
    /// taken with it.
    pub fn reopen(&self) -> Result<Option<Self>> {
        let Some(schedule) = self.schedule else { return Ok(None) };
        let device = Device::cpu(schedule);
        Ok(Some(Machine { stream: device.stream()?, device, schedule: Some(schedule) }))
    }

    /// Whether this is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.schedule.is_none()
    }

    /// Elements of a run that names no other number.
    pub fn default_elements(&self) -> usize {
        if self.is_gpu() { 1 << 26 } else { 1 << 22 }
    }

    /// One line about the device, with the schedule in the form that `--schedule` takes.
    pub fn describe(&self) -> String {
        match self.schedule {
            None => format!("device: {}", self.device.name()),
            Some(Schedule::Eager) => "device: CPU, schedule eager".to_owned(),
            Some(Schedule::Lazy) => "device: CPU, schedule lazy".to_owned(),
            Some(Schedule::Random { seed }) => format!("device: CPU, schedule random:{seed}"),
        }
    }

    /// A short name for tables: `GPU` or `CPU`.
    pub fn label(&self) -> &'static str {
        if self.is_gpu() { "GPU" } else { "CPU" }
    }

    /// Runs one launch over outputs of its own ([`Output::new`]), and returns the last output
    /// with the time of one run in milliseconds, as [`time`](Machine::time) takes it.
    ///
    /// # Errors
    ///
    /// Those of the launch, of the device, or of the kernel.
    pub fn run<T: Value>(&self, launch: &Launch<'_>, inputs: &Inputs<T>) -> Result<(Written<T>, f64), Error> {
        let once = |output: &mut Output<T>| output.run(&self.stream, launch.grid, launch.instance, inputs);
        let fresh = || Output::new(&self.device, launch.kind, launch.output);
        let mut output = fresh()?;
        let milliseconds = self.time(|_| once(&mut output))?;
        if self.is_gpu() && launch.kind.adds() {
            output = fresh()?;
            once(&mut output)?;
        }
        Ok((output.download()?, milliseconds))
    }

    /// Calls `once`, which launches in the stream, and returns the time of one call in
    /// milliseconds: on a GPU the median of ten by events, after one to warm up; on the CPU that of
    /// the only one by the clock.
    ///
    /// # Errors
    ///
    /// Those of the calls and of the device.
    pub fn time<E: From<Error>>(&self, mut once: impl FnMut(&Stream) -> Result<(), E>) -> Result<f64, E> {
        if !self.is_gpu() {
            let start = Instant::now();
            once(&self.stream)?;
            return Ok(start.elapsed().as_secs_f64() * 1e3);
        }
        once(&self.stream)?;
        self.stream.synchronize()?;
        let mut times = Vec::with_capacity(GPU_RUNS);
        for _ in 0..GPU_RUNS {
            let start = self.stream.record()?;
            once(&self.stream)?;
            let end = self.stream.record()?;
            end.synchronize()?;
            times.push(end.elapsed_ms_since(&start)?);
        }
        times.sort_by(f64::total_cmp);
        Ok((times[GPU_RUNS / 2 - 1] + times[GPU_RUNS / 2]) / 2.0)
    }
}

/// One launch: what, in how many blocks, and what comes out.
pub struct Launch<'a> {
    /// The kernel.
    pub instance: &'a Instance,
    /// What it computes.
    pub kind: Kind,
    /// Blocks.
    pub grid: u32,
    /// The output's shape.
    pub output: Shape,
}

/// The blocks of a launch over inputs of this shape.
pub fn grid(work: Work, shape: Shape) -> u32 {
    let of_matrix = |height: usize, width: usize| height.div_ceil(work.rows) * width.div_ceil(work.columns);
    let tiles = match shape {
        Shape::Row(elements) => elements.div_ceil(work.portion()),
        Shape::Matrix { height, width } => of_matrix(height, width),
        Shape::Batch { matrices, height, width } => matrices * of_matrix(height, width),
    };
    tiles.div_ceil(TILES_A_BLOCK).clamp(1, MOST_BLOCKS) as u32
}

/// The architecture of the chosen device, such as `sm_90`; `None` where that is the CPU.
///
/// # Errors
///
/// No such device, or a schedule for a GPU.
pub fn architecture(choice: DeviceChoice, schedule: Option<cli::Schedule>) -> Result<Option<String>> {
    let device = open_device(choice, schedule.map(of_executor))?;
    Ok(device.compute_capability().map(|(major, minor)| format!("sm_{major}{minor}")))
}

fn open_device(choice: DeviceChoice, schedule: Option<Schedule>) -> Result<Device> {
    let device = match choice {
        DeviceChoice::Gpu => Device::gpu(0)?,
        DeviceChoice::Cpu => Device::cpu(schedule.unwrap_or_default()),
        // `Device::open` takes the CPU with its default schedule where there is no GPU.
        DeviceChoice::Auto => match Device::open()? {
            device if device.kind() == DeviceKind::Cpu => Device::cpu(schedule.unwrap_or_default()),
            device => device,
        },
    };
    if device.kind() == DeviceKind::Gpu && schedule.is_some() {
        bail!("--schedule is for the CPU's model of asynchronous copies; leave it out, or use --device cpu");
    }
    Ok(device)
}

/// The executor's name for a schedule of the command line.
fn of_executor(schedule: cli::Schedule) -> Schedule {
    match schedule {
        cli::Schedule::Eager => Schedule::Eager,
        cli::Schedule::Lazy => Schedule::Lazy,
        cli::Schedule::Random { seed } => Schedule::Random { seed },
    }
}

fn beside_program(name: &str) -> Result<PathBuf> {
    let program = std::env::current_exe().context("cannot tell where this program lies; give --module")?;
    Ok(program.with_file_name(name))
}
