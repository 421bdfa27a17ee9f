//! Where the inputs come from.

use std::path::{Path, PathBuf};

use crate::data;
use crate::npy::{self, Reading};
use crate::picture::{self, Picture};
use crate::value::{DType, Value};
use crate::work::Shape;
use anyhow::{Result, anyhow, ensure};

/// Where the inputs come from.
pub enum Source {
    /// Generated, the same in every run.
    Generated {
        /// How many elements.
        elements: usize,
    },
    /// Read from NumPy files.
    Files(Files),
    /// Read from a picture.
    Picture(Picture),
}

/// NumPy files of one type and shape, one for each input of a kernel.
#[derive(Clone)]
pub struct Files {
    /// The files, at least one.
    pub paths: Vec<PathBuf>,
    /// The ways to take each of them, at least one.
    pub readings: Vec<Reading>,
}

impl Files {
    /// Reads the files' headers.
    ///
    /// # Errors
    ///
    /// A file that cannot be used, or two of different types or shapes.
    ///
    /// # Panics
    ///
    /// If there is no path.
    pub fn describe(paths: &[PathBuf]) -> Result<Self> {
        let readings = npy::describe(&paths[0])?;
        for path in &paths[1..] {
            let others = npy::describe(path)?;
            ensure!(
                others == readings,
                "the inputs of a kernel have one type and shape, but {} holds {} of {} and {} holds {} of {}",
                paths[0].display(),
                readings[0].shape,
                readings[0].dtype,
                path.display(),
                others[0].shape,
                others[0].dtype
            );
        }
        Ok(Files { paths: paths.to_vec(), readings })
    }

    /// The way to take the files as arrays of so many dimensions.
    pub fn reading(&self, dimensions: usize) -> Option<Reading> {
        self.readings.iter().copied().find(|reading| reading.shape.dimensions() == dimensions)
    }
}

impl Source {
    /// The shape of each input for a kernel of elements of type `dtype` in so many dimensions.
    pub fn shape(&self, dtype: DType, dimensions: usize) -> Shape {
        match self {
            Source::Generated { elements } => Shape::of(*elements, dimensions),
            Source::Files(files) => {
                let fits = |reading: &&Reading| reading.dtype == dtype;
                files.readings.iter().find(fits).unwrap_or(&files.readings[0]).shape
            }
            Source::Picture(picture) => picture.shape(),
        }
    }

    /// Makes or reads the first `count` inputs, all elements of each.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or too little memory.
    pub fn load<T: Value>(&self, count: usize) -> Result<Vec<Vec<T>>> {
        match self {
            Source::Generated { elements } => {
                data::inputs(count, *elements, data::DEFAULT_SEED).map_err(|text| anyhow!(text))
            }
            Source::Files(files) => files.paths.iter().take(count).map(|path| Ok(npy::read(path)?)).collect(),
            Source::Picture(picture) => Ok(vec![picture.read()?]),
        }
    }

    /// Checks that an output of elements of type `dtype` can be put at `path`: of a picture a
    /// picture, of all else a NumPy array.
    ///
    /// # Errors
    ///
    /// Why it cannot be.
    pub fn check_writable(source: Option<&Source>, path: &Path, dtype: DType) -> Result<()> {
        match source {
            Some(Source::Picture(_)) => Ok(picture::check_writable(path)?),
            _ => Ok(npy::check_writable(path, dtype)?),
        }
    }

    /// Writes an output, which replaces what is at `path` in one step.
    ///
    /// # Errors
    ///
    /// Why it cannot be written; what was at `path` is then still there.
    pub fn write<T: Value>(&self, path: &Path, values: &[T], shape: Shape) -> Result<()> {
        match self {
            Source::Picture(picture) => Ok(picture.write(path, bytemuck::cast_slice(values))?),
            _ => Ok(npy::write(path, values, shape)?),
        }
    }
}
