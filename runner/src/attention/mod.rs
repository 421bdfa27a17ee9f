//! Attention, of NumPy files or of generated matrices.
//!
//! As [`product`](crate::product) it is apart from the other kernels.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use tilepipe::{bf16, f16};
use tilepipe_host::{Buffer2D, Stream};
use tilepipe_runner_cli::{Cli, DEFAULT_DTYPES_OF_PRODUCTS};

use crate::data::{self, POISON};
use crate::execute::{Row, memory};
use crate::machine::Machine;
use crate::plan;
use crate::plan::axis::Axis;
use crate::product::compare::Half;
use crate::product::{DTYPES, File, check_writable, verified};
use crate::reference::{Difference, attention as reference};
use crate::value::DType;
use crate::work::Shape;

/// The kernel.
pub const KERNEL: &str = tilepipe_runner_cli::ATTENTION;
/// Threads a block, of most instances.
const THREADS: u32 = 384;
/// Tokens of generated matrices on the CPU and on a GPU, and columns of them.
const TOKENS: [usize; 2] = [300, 4096];
const COLUMNS: usize = 512;
/// The most scores that are computed to check a result, of which a larger one has fewer rows
/// checked. That is done in seconds.
const MOST_SCORES: usize = 1 << 22;

/// How the heads and sequences lie, and which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Elements of a head.
    pub head: usize,
    /// Sequences of one length, one after the other.
    pub sequences: usize,
    /// Whether a query sees the keys up to its own alone.
    pub is_causal: bool,
}

/// Writes attention of queries, keys and values.
pub type Attend<T> = fn(&Stream, [&Buffer2D<T>; 3], &mut Buffer2D<T>, Heads) -> Result<()>;

/// What the kernels' crate has for attention. This library does not know it.
pub struct Attention {
    /// Launches attention of `bf16`.
    pub bf16: Attend<bf16>,
    /// Launches attention of `f16`.
    pub f16: Attend<f16>,
    /// Says why there is no attention of queries, keys and values of so many rows and columns.
    pub check: fn([[usize; 2]; 3], Heads) -> Result<()>,
}

/// Attention that a command line asks for.
pub struct Request<'a> {
    attention: &'a Attention,
    /// Its types, at least one. It is computed once for each.
    pub dtypes: Vec<DType>,
    heads: Heads,
    /// Queries, keys and values; generated without.
    files: Option<[File; 3]>,
    elements: Option<usize>,
}

impl<'a> Request<'a> {
    /// What a command line asks for; `None` if it does not name [`KERNEL`]. Only headers are read.
    ///
    /// # Errors
    ///
    /// Another kernel beside it, options that it does not have, or files that it does not take.
    pub fn asked(cli: &Cli, attention: &'a Attention) -> Result<Option<Self>> {
        let is_named = |name: &String| name == KERNEL;
        if !cli.kernels.iter().any(is_named) {
            return Ok(None);
        }
        ensure!(
            cli.kernels.iter().all(is_named),
            "kernel `{KERNEL}` runs alone, since it is compared within a bound; give --kernel once"
        );
        let types = Axis::new(&cli.dtype, &DEFAULT_DTYPES_OF_PRODUCTS);
        plan::check(&types, DTYPES.into_iter(), KERNEL, true, "element type", "--dtype")?;
        plan::check_without_stages(&Axis::new(&cli.stages, &[]), KERNEL)?;
        ensure!(cli.block.is_empty(), "kernel `{KERNEL}` takes the blocks that suit the matrices; leave --block out");
        let files: Option<[File; 3]> = if cli.inputs.is_empty() {
            None
        } else {
            plan::check_count(KERNEL, 3, cli.inputs.len())?;
            let describe = |path: &PathBuf| File::describe(path, KERNEL);
            Some([describe(&cli.inputs[0])?, describe(&cli.inputs[1])?, describe(&cli.inputs[2])?])
        };
        let columns = files.as_ref().map_or(COLUMNS, |files| files[1].extents[1]);
        let head = if columns.is_multiple_of(128) { 128 } else { 64 };
        let mut heads = Heads { head, sequences: 1, is_causal: false };
        for variant in &cli.variants {
            let number = || {
                let number: usize = variant.value.parse().ok().filter(|number| *number > 0)?;
                Some(number)
            };
            let wrong = || anyhow!("--variant {}={} names no number above 0", variant.name, variant.value);
            match (variant.name.as_str(), variant.value.as_str()) {
                ("HEAD", _) => heads.head = number().with_context(wrong)?,
                ("SEQUENCES", _) => heads.sequences = number().with_context(wrong)?,
                ("CAUSAL", "true") => heads.is_causal = true,
                ("CAUSAL", "false") => heads.is_causal = false,
                _ => bail!(
                    "kernel `{KERNEL}` has no variant {}={}; it has HEAD=64, say, SEQUENCES=2 and CAUSAL=true",
                    variant.name,
                    variant.value
                ),
            }
        }
        if let Some(files) = &files {
            let paths = files.each_ref().map(|file| file.path.display().to_string()).join(", ");
            (attention.check)(files.each_ref().map(|file| file.extents), heads).context(paths)?;
        }
        let dtypes = File::dtypes(files.as_ref().map_or(&[], |files| files.as_slice()), &types, cli)?;
        Ok(Some(Request { attention, dtypes, heads, files, elements: cli.elements }))
    }

    /// Checks that the result can be put at `path`.
    ///
    /// # Errors
    ///
    /// Why it cannot be.
    pub fn check_writable(&self, path: &Path) -> Result<()> {
        check_writable(path, self.dtypes[0])
    }

    /// Checks that the matrices fit in memory.
    ///
    /// # Errors
    ///
    /// How much is wanted, how much there is, and what to do.
    pub fn check_memory(&self, machine: &Machine) -> Result<()> {
        let [queries, keys, values] = self.extents(machine).map(|[rows, columns]| rows as u128 * columns as u128);
        let elements = 2 * queries + keys + values;
        let bytes = if machine.is_gpu() { 6 } else { 8 };
        memory::check_bytes(bytes * elements, elements, self.dtypes[0], "choose fewer with --elements")
    }

    /// Computes and checks attention, and writes it to `output` if it is right.
    ///
    /// # Errors
    ///
    /// What makes going on useless: the matrices cannot be had, the output cannot be written.
    pub fn run(&self, machine: &Machine, output: Option<&Path>) -> Result<Vec<Row>> {
        let run = |dtype: &DType| match dtype {
            DType::F16 => self.run_in(self.attention.f16, machine, output),
            _ => self.run_in(self.attention.bf16, machine, output),
        };
        self.dtypes.iter().map(run).collect()
    }

    /// The same in one type.
    fn run_in<T: Half>(&self, attend: Attend<T>, machine: &Machine, output: Option<&Path>) -> Result<Row> {
        let extents = self.extents(machine);
        let [rows, columns] = extents[0];
        let given = self.load::<T>(extents)?;
        let launch = || {
            let upload = |at: usize| machine.device.upload_2d(&given[at], extents[at][1]);
            let uploaded = [upload(0)?, upload(1)?, upload(2)?];
            let mut out = machine.device.filled_with_byte_2d::<T>(columns, rows, POISON)?;
            let milliseconds = machine.time(|stream| attend(stream, uploaded.each_ref(), &mut out, self.heads))?;
            anyhow::Ok((out.download()?, milliseconds))
        };
        let matrices = Matrices { given: &given, extents, heads: self.heads };
        let shape = Shape::Matrix { height: rows, width: columns };
        let launched = launch();
        // The launch has refused extents that do not belong together.
        let step = if launched.is_ok() { matrices.step() } else { 1 };
        let outcome = verified(launched, output, shape, |out| matrices.compare(out, step))?;
        let elements = 2 * rows * columns + given[1].len() + given[2].len();
        Ok(Row {
            kernel: KERNEL,
            name: KERNEL,
            dtype: T::DTYPE,
            block: THREADS,
            stages: None,
            text: if step > 1 { format!("1 row in {step} checked") } else { String::new() },
            device: machine.label(),
            shape,
            bytes: (elements * size_of::<T>()) as u128,
            outcome,
        })
    }

    /// Rows and columns of queries, keys and values.
    fn extents(&self, machine: &Machine) -> [[usize; 2]; 3] {
        match &self.files {
            Some(files) => files.each_ref().map(|file| file.extents),
            None => {
                let default = TOKENS[usize::from(machine.is_gpu())];
                // Whole sequences, and heads.
                let columns = COLUMNS.next_multiple_of(self.heads.head);
                let tokens = self.elements.map_or(default, |elements| elements.div_ceil(columns));
                [[tokens.next_multiple_of(self.heads.sequences), columns]; 3]
            }
        }
    }

    /// Makes or reads the matrices.
    fn load<T: Half>(&self, extents: [[usize; 2]; 3]) -> Result<[Vec<T>; 3]> {
        if let Some([queries, keys, values]) = &self.files {
            return Ok([queries.read()?, keys.read()?, values.read()?]);
        }
        let [rows, columns] = extents[0];
        // Numbers from -1 to 1.
        let matrix = |values: &Vec<f32>| values.iter().map(|value| T::nearest(value / 1000.0)).collect();
        let values = data::inputs(3, rows * columns, data::DEFAULT_SEED).map_err(|text| anyhow!(text))?;
        Ok([matrix(&values[0]), matrix(&values[1]), matrix(&values[2])])
    }
}

/// What attention was computed of.
struct Matrices<'a, T> {
    given: &'a [Vec<T>; 3],
    extents: [[usize; 2]; 3],
    heads: Heads,
}

impl<T: Half> Matrices<'_, T> {
    /// How far apart the rows of heads are that are compared: 1 if all are.
    fn step(&self) -> usize {
        let Heads { head, sequences, .. } = self.heads;
        let [[rows, columns], [keys, _], _] = self.extents;
        (rows * (columns / head)).saturating_mul(keys / sequences).div_ceil(MOST_SCORES).max(1)
    }

    /// Compares every `step`-th row of a head with sums in `f64`, the last one too, and returns the
    /// first element of the last row that differs.
    fn compare(&self, out: &[T], step: usize) -> Option<Difference> {
        let head = self.heads.head;
        let rows = out.len() / head;
        let mut found: Option<Difference> = None;
        for row in (0..rows).rev().step_by(step) {
            let reference::Row { sums, size, .. } = self.row(row);
            for (at, (got, sum)) in out[row * head..][..head].iter().zip(sums).enumerate() {
                // Each weight is rounded to half a unit of its last place, and is relative to an
                // approximate power; the result is rounded once more.
                let bound = (size + sum.abs()) * T::UNIT + 1e-5;
                let wide: f64 = (*got).into();
                if (wide - sum).abs() <= bound {
                    continue;
                }
                let (index, expected) = (row * head + at, format!("{sum:.6} within {bound:.6}"));
                let count = found.as_ref().map_or(0, |found| found.count) + 1;
                found = Some(Difference { index, got: got.text(), expected, count });
            }
        }
        found
    }

    /// A row of a head of the result.
    fn row(&self, row: usize) -> reference::Row {
        let Heads { head, sequences, is_causal } = self.heads;
        let [[queries, columns], [keys, key_columns], _] =
            self.extents.map(|[rows, columns]| [rows / sequences, columns]);
        let (heads, of_keys) = (columns / head, key_columns / head);
        let (token, of) = (row / heads, row % heads);
        let (sequence, query) = (token / queries, token % queries);
        let of_key = of / (heads / of_keys).max(1);
        let [own, key_elements, value_elements] = self.given.each_ref();
        let token = |key: usize| {
            let start = ((sequence * keys + key) * of_keys + of_key) * head;
            (&key_elements[start..][..head], &value_elements[start..][..head])
        };
        let seen = if is_causal { (query + 1 + keys).saturating_sub(queries).min(keys) } else { keys };
        reference::softmax_of(&own[row * head..][..head], seen, token, |_, score| Some(score))
    }
}
