//! The arrays of one call together, and the launches over them.

use std::ptr;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tilepipe_host::{Error, ForeignRows, ForeignRowsMut, ForeignSlice, ForeignSliceMut, Stream};

use crate::array::{Array, Numeric, Place};
use crate::device;
use crate::torch::CurrentStream;

/// The arrays of a call.
///
/// # Invariants
///
/// 0. All are in one place.
/// 1. Those that are written may be, and have no byte in common with one another or with those that
///    are read.
pub struct Call<'c, 'py> {
    read: &'c [&'c Array<'py>],
    written: &'c [&'c Array<'py>],
    place: Place,
}

impl<'c, 'py> Call<'c, 'py> {
    /// Checks the arrays.
    ///
    /// # Errors
    ///
    /// `ValueError`, with what is wrong of which of them.
    pub fn new(read: &'c [&'c Array<'py>], written: &'c [&'c Array<'py>]) -> PyResult<Self> {
        let first = read[0];
        for other in read.iter().chain(written) {
            if other.place() != first.place() {
                let message = format!(
                    "{} is on {} and {} on {}; all arrays of a call are on one device: move one of them",
                    first.name(),
                    first.place(),
                    other.name(),
                    other.place()
                );
                return Err(PyValueError::new_err(message));
            }
        }
        for (at, output) in written.iter().enumerate() {
            output.expect_writable()?;
            for other in read.iter().chain(&written[..at]) {
                let (one, two) = (output.bytes(), other.bytes());
                if one.start < two.end && two.start < one.end {
                    let (name, other) = (output.name(), other.name());
                    return Err(PyValueError::new_err(format!(
                        "{name} and {other} share memory, and {name} is an output; pass another array for it"
                    )));
                }
            }
        }
        Ok(Call { read, written, place: first.place() })
    }

    /// Runs launches: on the CPU at once, on a GPU in PyTorch's current stream, whose work they
    /// come after.
    ///
    /// # Errors
    ///
    /// `RuntimeError` with what the launch or the device says; what PyTorch says.
    pub fn run(
        &self,
        py: Python<'py>,
        launches: impl FnOnce(&Launching<'c, 'py>) -> Result<(), Error>,
    ) -> PyResult<()> {
        let failed = |error: Error| PyRuntimeError::new_err(error.to_string());
        let (read, written) = (self.read, self.written);
        let gpu = match self.place {
            Place::Cpu => {
                let stream = device::cpu().stream().map_err(failed)?;
                return launches(&Launching { stream, read, written }).map_err(failed);
            }
            Place::Cuda(gpu) => gpu,
        };
        let current = CurrentStream::of(py, gpu)?;
        for output in written {
            current.keep(output.object())?;
        }
        let device = device::cuda(gpu).map_err(failed)?;
        // SAFETY: (0) it is a stream of this GPU's, which PyTorch uses in its primary context; (1)
        // PyTorch destroys none of its streams, and one of somebody else's is kept by whoever made
        // it PyTorch's current one; (2) a graph of PyTorch's keeps the memory that was allocated
        // during its capture, and other memory is its user's to keep, as for PyTorch's own
        // operators; (3) kernels of PyTorch's and of its users that start early wait, since
        // PyTorch's own kernels behind them rely on that as well.
        let stream = unsafe { device.stream_from_raw(current.handle()?) }.map_err(failed)?;
        launches(&Launching { stream, read, written }).map_err(failed)
    }
}

/// The right to launch over the arrays of a [`Call`], in one stream. Only [`Call::run`] makes it.
///
/// # Invariants
///
/// 0. The stream is of the place that the arrays are in: on a GPU PyTorch's current one there.
/// 1. `read` and `written` are those of a `Call`, and stay as long as `'c`. On the CPU this thread
///    holds the interpreter's lock meanwhile. On a GPU the memory of those that are written is kept
///    from other uses until the stream's work is done (`CurrentStream::keep`).
pub struct Launching<'c, 'py> {
    stream: Stream,
    read: &'c [&'c Array<'py>],
    written: &'c [&'c Array<'py>],
}

// In each function: (0) of what it makes is invariant 0 of `Array`, whose elements' type `expect`
// compares, and that the device is of its place (0); where an output holds nothing yet, its bytes
// are some number's still. (1) The array
// stays as long as `'c`. On the CPU that is longer than the launch. On a GPU PyTorch reuses the
// memory of what is written after the stream's work (1), and that of what is read in the order of
// the stream in which it was allocated: whoever allocated it in another stream than the current one
// answers for it, as for each of PyTorch's operators. (2) No output shares memory with another
// array (`Call`, 1). On the CPU nobody else runs Python code (1), so nobody uses the array by it.
// On a GPU what uses it in the same stream comes before or after; who uses it in another one waits,
// which PyTorch leaves to its users as well.
impl<'c, 'py> Launching<'c, 'py> {
    /// The stream for the launches.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Names rows that are read.
    pub fn rows<T: Numeric>(&self, array: &'c Array<'py>, extents: [usize; 2]) -> Result<ForeignRows<'c, T>, Error> {
        self.expect::<T>(array, true);
        assert_eq!(array.len(), extents[0] * extents[1], "the rows are all of the array");
        // SAFETY: (0), (1) and (2) as above; the rows are the array's elements (asserted).
        unsafe { ForeignRows::new(self.stream.device(), array.address(), extents, extents[1]) }
    }

    /// Names rows that are written.
    pub fn rows_mut<T: Numeric>(
        &self,
        array: &'c Array<'py>,
        extents: [usize; 2],
    ) -> Result<ForeignRowsMut<'c, T>, Error> {
        self.expect::<T>(array, false);
        assert_eq!(array.len(), extents[0] * extents[1], "the rows are all of the array");
        // SAFETY: (0), (1) and (2) as above; the rows are the array's elements (asserted).
        unsafe { ForeignRowsMut::new(self.stream.device(), array.address(), extents, extents[1]) }
    }

    /// Names rows that are written, of `extents`, each at the beginning of a row of `array`, whose
    /// rest stays as it is.
    pub fn starts_of_rows_mut<T: Numeric>(
        &self,
        array: &'c Array<'py>,
        extents: [usize; 2],
        apart: usize,
    ) -> Result<ForeignRowsMut<'c, T>, Error> {
        self.expect::<T>(array, false);
        let [rows, columns] = extents;
        assert!(array.len() == rows * apart && columns <= apart, "the rows lie in those of the array");
        // SAFETY: (0), (1) and (2) as above; the rows are elements of the array (asserted).
        unsafe { ForeignRowsMut::new(self.stream.device(), array.address(), extents, apart) }
    }

    /// Names elements that are read.
    pub fn elements<T: Numeric>(&self, array: &'c Array<'py>) -> Result<ForeignSlice<'c, T>, Error> {
        self.expect::<T>(array, true);
        // SAFETY: (0), (1) and (2) as above.
        unsafe { ForeignSlice::new(self.stream.device(), array.address(), array.len()) }
    }

    /// Names elements that are written.
    pub fn elements_mut<T: Numeric>(&self, array: &'c Array<'py>) -> Result<ForeignSliceMut<'c, T>, Error> {
        self.expect::<T>(array, false);
        // SAFETY: (0), (1) and (2) as above.
        unsafe { ForeignSliceMut::new(self.stream.device(), array.address(), array.len()) }
    }

    /// Fails unless the array has such elements, and is one of the call's that is written, or may
    /// be read as well. What an earlier launch has written a later one may read.
    fn expect<T: Numeric>(&self, array: &Array<'py>, or_read: bool) {
        assert_eq!(array.number(), T::NUMBER, "the elements of {}", array.name());
        let is_among = |arrays: &[&Array<'py>]| arrays.iter().any(|one| ptr::eq(*one, array));
        assert!(is_among(self.written) || or_read && is_among(self.read), "{} is not of this call", array.name());
    }
}
