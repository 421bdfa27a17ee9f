//! The matrix product by tensor cores, `gemm`, of NumPy files or of generated matrices.
//!
//! It is apart from the other kernels: its results are compared within a bound and not bit by bit,
//! the function that launches it chooses its instance, and the elements of files are rounded.

pub mod compare;

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use tilepipe::{bf16, f16};
use tilepipe_host::{Buffer2D, Stream};
use tilepipe_runner_cli::{Cli, DEFAULT_DTYPES_OF_PRODUCTS};

use crate::data::{self, POISON};
use crate::execute::{Outcome, Row, memory};
use crate::machine::Machine;
use crate::npy::{self, NpyError};
use crate::plan;
use crate::plan::axis::Axis;
use crate::reference::Difference;
use crate::value::DType;
use crate::work::Shape;

use compare::{Half, compare};

/// The kernel.
pub const KERNEL: &str = tilepipe_runner_cli::GEMM;
/// The types that its elements may have, those of the factors and of the product.
pub const DTYPES: [DType; 2] = [DType::F16, DType::BF16];
/// Threads a block, of all instances.
pub const THREADS: u32 = 384;

/// Elements of a generated factor on the CPU, where the command line names no other number. A GPU
/// has as many as other kernels.
const ELEMENTS_ON_CPU: usize = 1 << 18;

/// Writes the product of a left and a right factor.
pub type Multiply<T> = fn(&Stream, [&Buffer2D<T>; 2], &mut Buffer2D<T>) -> Result<()>;

/// What the kernels' crate has for matrix products. This library does not know it.
pub struct Gemm {
    /// Launches a product of `bf16`.
    pub bf16: Multiply<bf16>,
    /// Launches a product of `f16`.
    pub f16: Multiply<f16>,
    /// Says why no product of a left factor and a right one is a third matrix; each is given by its
    /// rows and columns.
    pub no_product: fn([[usize; 2]; 3]) -> anyhow::Error,
}

/// A product that a command line asks for.
pub struct Product<'a> {
    gemm: &'a Gemm,
    /// Its types, at least one. It is computed once for each.
    pub dtypes: Vec<DType>,
    factors: Factors,
}

/// Where the factors come from.
enum Factors {
    /// Generated, square and of so many elements, or of as many as suit the device.
    Generated(Option<usize>),
    /// Read from files, the left one first.
    Files([File; 2]),
}

/// A NumPy file with a matrix.
pub struct File {
    pub path: PathBuf,
    /// `f32`, or the type that is computed in.
    pub dtype: DType,
    /// Rows and columns.
    pub extents: [usize; 2],
}

impl<'a> Product<'a> {
    /// The product that a command line asks for; `None` if it does not name [`KERNEL`]. Only
    /// headers are read.
    ///
    /// # Errors
    ///
    /// Another kernel beside it, options that it does not have, or files that it does not take.
    pub fn asked(cli: &Cli, gemm: &'a Gemm) -> Result<Option<Self>> {
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
        plan::check(&Axis::new(&cli.block, &[]), [THREADS].into_iter(), KERNEL, true, "block size", "--block")?;
        plan::check_without_stages(&Axis::new(&cli.stages, &[]), KERNEL)?;
        ensure!(
            cli.variants.is_empty(),
            "kernel `{KERNEL}` takes the tiles that suit the matrices; leave --variant out"
        );
        let factors = if cli.inputs.is_empty() {
            Factors::Generated(cli.elements)
        } else {
            plan::check_count(KERNEL, 2, cli.inputs.len())?;
            Factors::Files([File::describe(&cli.inputs[0], KERNEL)?, File::describe(&cli.inputs[1], KERNEL)?])
        };
        let mut dtypes = types.pick(DTYPES.into_iter(), true);
        if let Factors::Files(files) = &factors {
            let [left, right] = files.each_ref().map(|file| file.extents);
            if left[1] != right[0] {
                let paths = files.each_ref().map(|file| file.path.display());
                let error = (gemm.no_product)([left, right, [left[0], right[1]]]);
                return Err(error.context(format!("{} and {}", paths[0], paths[1])));
            }
            dtypes = File::dtypes(files, &types, cli)?;
        }
        Ok(Some(Product { gemm, dtypes, factors }))
    }

    /// Checks that the product can be put at `path`.
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
        let [rows, deep, columns] = self.extents(machine).map(|extent| extent as u128);
        let elements = rows * deep + deep * columns + rows * columns;
        // A factor is read in 32 bits, and a copy of the right one is transposed to check the
        // product. On the CPU the device's buffers are in the same memory.
        let bytes = if machine.is_gpu() { 6 } else { 8 };
        memory::check_bytes(bytes * elements, elements, self.dtypes[0], "choose fewer with --elements")
    }

    /// Computes and checks the product, and writes it to `output` if it is right.
    ///
    /// # Errors
    ///
    /// What makes going on useless: the factors cannot be had, the output cannot be written.
    pub fn run(&self, machine: &Machine, output: Option<&Path>) -> Result<Vec<Row>> {
        let run = |dtype: &DType| match dtype {
            DType::F16 => self.run_in(self.gemm.f16, machine, output),
            _ => self.run_in(self.gemm.bf16, machine, output),
        };
        self.dtypes.iter().map(run).collect()
    }

    /// The same in one type.
    fn run_in<T: Half>(&self, multiply: Multiply<T>, machine: &Machine, output: Option<&Path>) -> Result<Row> {
        let extents @ [rows, deep, columns] = self.extents(machine);
        let factors = self.load::<T>(extents)?;
        let [left, right] = factors.each_ref().map(Vec::as_slice);
        let launch = || {
            let factors = [machine.device.upload_2d(left, deep)?, machine.device.upload_2d(right, columns)?];
            let mut product = machine.device.filled_with_byte_2d::<T>(columns, rows, POISON)?;
            let milliseconds = machine.time(|stream| multiply(stream, factors.each_ref(), &mut product))?;
            anyhow::Ok((product.download()?, milliseconds))
        };
        let step = compare::step(extents);
        let shape = Shape::Matrix { height: rows, width: columns };
        let outcome =
            verified(launch(), output, shape, |product| compare([left, right], product, [deep, columns], step))?;
        Ok(Row {
            kernel: KERNEL,
            name: KERNEL,
            dtype: T::DTYPE,
            block: THREADS,
            stages: None,
            text: if step > 1 { format!("1 in {step} checked") } else { String::new() },
            device: machine.label(),
            shape: Shape::Matrix { height: rows, width: deep },
            bytes: ((left.len() + right.len() + rows * columns) * size_of::<T>()) as u128,
            outcome,
        })
    }

    /// Rows of the product, terms of each of its elements, and its columns.
    fn extents(&self, machine: &Machine) -> [usize; 3] {
        match &self.factors {
            Factors::Files([left, right]) => [left.extents[0], left.extents[1], right.extents[1]],
            Factors::Generated(elements) => {
                let default = || if machine.is_gpu() { machine.default_elements() } else { ELEMENTS_ON_CPU };
                [elements.unwrap_or_else(default).isqrt(); 3]
            }
        }
    }

    /// Makes or reads the factors.
    fn load<T: Half>(&self, [rows, deep, _]: [usize; 3]) -> Result<[Vec<T>; 2]> {
        match &self.factors {
            Factors::Files([left, right]) => Ok([left.read()?, right.read()?]),
            Factors::Generated(_) => {
                // They are square. Numbers from -1 to 1, since sums of larger ones overflow `f16`.
                let factor = |values: &Vec<f32>| values.iter().map(|value| T::nearest(value / 1000.0)).collect();
                let values = data::inputs(2, rows * deep, data::DEFAULT_SEED).map_err(|text| anyhow!(text))?;
                Ok([factor(&values[0]), factor(&values[1])])
            }
        }
    }
}

impl File {
    /// Reads the header of a file for a kernel.
    ///
    /// # Errors
    ///
    /// What the file is not.
    pub fn describe(path: &Path, kernel: &'static str) -> Result<Self> {
        let readings = npy::describe(path)?;
        let is_taken = |dtype: DType| dtype == DType::F32 || DTYPES.contains(&dtype);
        let Some(reading) = readings.iter().find(|reading| is_taken(reading.dtype)) else {
            let (descriptor, shape) = (readings[0].dtype.to_string(), readings[0].shape.to_string());
            let wanted = format!("{} and {} here", DType::F32, DType::F16);
            bail!(NpyError::Unsupported { path: path.to_owned(), descriptor, shape, wanted });
        };
        let Shape::Matrix { height, width } = reading.shape else {
            bail!(plan::other_dimensions(kernel, 2, path, *reading));
        };
        Ok(File { path: path.to_owned(), dtype: reading.dtype, extents: [height, width] })
    }

    /// The types to compute in: those that are asked for, or that of a file of 16 bits, whose
    /// elements stay as they are.
    ///
    /// # Errors
    ///
    /// Another one was asked for.
    pub fn dtypes(files: &[Self], types: &Axis<DType>, cli: &Cli) -> Result<Vec<DType>> {
        let Some(File { path, dtype, .. }) = files.iter().find(|file| file.dtype != DType::F32) else {
            return Ok(types.pick(DTYPES.into_iter(), true));
        };
        let dtypes = types.pick([*dtype].into_iter(), true);
        ensure!(!dtypes.is_empty(), plan::other_types(path, dtype, &cli.dtype));
        Ok(dtypes)
    }

    /// Reads all elements, and rounds those of `f32`.
    ///
    /// # Errors
    ///
    /// What the file is not.
    pub fn read<T: Half>(&self) -> Result<Vec<T>> {
        if self.dtype == T::DTYPE {
            return Ok(npy::read(&self.path)?);
        }
        Ok(npy::read::<f32>(&self.path)?.into_iter().map(T::nearest).collect())
    }
}

/// What came of a launch: the result of one that went well is compared, and written to `output` if
/// it is right.
///
/// # Errors
///
/// What the file system says.
pub fn verified<T: Half>(
    launched: Result<(Vec<T>, f64)>,
    output: Option<&Path>,
    shape: Shape,
    compare: impl FnOnce(&[T]) -> Option<Difference>,
) -> Result<Outcome> {
    let (result, milliseconds) = match launched {
        Ok(result) => result,
        Err(error) => return Ok(Outcome::Failed(format!("{error:#}"))),
    };
    if let Some(difference) = compare(&result) {
        return Ok(Outcome::Different { milliseconds, difference });
    }
    if let Some(path) = output {
        write(path, &result, shape)?;
    }
    Ok(Outcome::Verified { milliseconds })
}

/// Checks that a result of this type can be put at `path`.
///
/// # Errors
///
/// Why it cannot be.
pub fn check_writable(path: &Path, dtype: DType) -> Result<()> {
    Ok(npy::check_writable(path, of_file(dtype))?)
}

/// The type in which a result is written: `f32` has all numbers of `bf16`, which NumPy does not
/// have.
fn of_file(dtype: DType) -> DType {
    if dtype.numpy().is_some() { dtype } else { DType::F32 }
}

/// Writes a result in that type.
fn write<T: Half>(path: &Path, product: &[T], shape: Shape) -> Result<()> {
    if of_file(T::DTYPE) == T::DTYPE {
        return Ok(npy::write(path, product, shape)?);
    }
    let wide: Vec<f32> = product.iter().map(|number| (*number).into()).collect();
    Ok(npy::write(path, &wide, shape)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    use tilepipe_kernels::{Matrix, multiply};
    use tilepipe_runner_cli::DeviceChoice;

    /// What comes of a small product in `bf16` that is computed so, and whether it is written.
    fn outcome(bf16: Multiply<bf16>) -> (Outcome, bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.npy");
        let gemm = Gemm { bf16, f16: |_, _, _| unreachable!(), no_product: |_| unreachable!() };
        let product = Product { gemm: &gemm, dtypes: vec![DType::BF16], factors: Factors::Generated(Some(30)) };
        let machine = Machine::open(DeviceChoice::Cpu, None, None, "").unwrap();
        let mut rows = product.run(&machine, Some(&path)).unwrap();
        assert_eq!((rows.len(), rows[0].shape), (1, Shape::Matrix { height: 5, width: 5 }));
        (rows.remove(0).outcome, path.exists())
    }

    #[test]
    fn only_a_product_that_is_right_is_verified_and_written() {
        let (right, is_written) = outcome(|stream, [left, right], product| {
            Ok(multiply(stream, Matrix::of(left), Matrix::of(right), product)?)
        });
        assert!(right.is_verified() && is_written);
        let (exchanged, is_written) = outcome(|stream, [left, right], product| {
            Ok(multiply(stream, Matrix::of(right), Matrix::of(left), product)?)
        });
        assert!(matches!(exchanged, Outcome::Different { difference, .. } if difference.count > 10) && !is_written);
        let (nothing, is_written) = outcome(|_, _, _| Ok(()));
        assert!(matches!(nothing, Outcome::Different { difference, .. } if difference.count == 25) && !is_written);
        let (failed, is_written) = outcome(|_, _, _| bail!("a reason"));
        assert!(matches!(failed, Outcome::Failed(message) if message == "a reason") && !is_written);
    }

    #[test]
    fn the_threads_are_those_of_the_kernel() {
        assert!(tilepipe_kernels::gemm::INSTANCES.iter().all(|instance| instance.threads() == THREADS));
    }
}
