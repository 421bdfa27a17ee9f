//! Buffers that are lent to cudarc.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use tilepipe::Element;

use super::kept::adopt;
use crate::access::Access;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::gpu::memory::Loan;

/// A [`Buffer`] that cudarc reads: what takes a `DevicePtr`, as copies and calls of cuBLAS do,
/// takes a reference to it.
///
/// Made by [`Buffer::lend`]. Launches that write the buffer are refused while it is there, and wait
/// for the stream when it is dropped. Forgetting it keeps the memory, and the refusal, for ever.
#[must_use = "the buffer is lent as long as this is there"]
pub struct LentBuffer<'a, T> {
    inner: Inner<'a, T>,
}

/// A [`Buffer`] that cudarc writes: what takes a `DevicePtrMut` takes a mutable reference to it.
///
/// Made by [`Buffer::lend_mut`]. Launches that use the buffer are refused while it is there, and
/// wait for the stream when it is dropped. Forgetting it keeps the memory, and the refusal, for
/// ever.
#[must_use = "the buffer is lent as long as this is there"]
pub struct LentBufferMut<'a, T> {
    inner: Inner<'a, T>,
}

/// # Invariants
///
/// 0. The loan's memory has `len` elements, and is of the context of `stream`, which it is lent in.
struct Inner<'a, T> {
    loan: Loan,
    stream: Arc<CudaStream>,
    len: usize,
    buffer: PhantomData<&'a Buffer<T>>,
}

impl<T: Element> Buffer<T> {
    /// Lends the buffer to cudarc, to be read in this stream of its: by what is put there from now
    /// on, which waits for the launches that write the buffer.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] unless the buffer's device is from the stream's own `CudaContext`;
    /// [`Error::Lent`] if it is lent to be written; [`Error::Captured`],
    /// [`Error::PerThreadStream`], [`Error::DeviceLost`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tilepipe_host::Device;
    /// use tilepipe_host::cudarc::driver::CudaContext;
    ///
    /// let context = CudaContext::new(0)?;
    /// let (device, stream) = (Device::from_cudarc(&context)?, context.default_stream());
    /// let buffer = device.upload(&[1.0_f32, 2.0, 3.0])?;
    /// assert_eq!(stream.clone_dtoh(&buffer.lend(&stream)?)?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lend(&self, stream: &Arc<CudaStream>) -> Result<LentBuffer<'_, T>, Error> {
        Ok(LentBuffer { inner: Inner::new(self, stream, Access::Read)? })
    }

    /// Lends the buffer to cudarc, to be read and written in this stream of its: by what is put
    /// there from now on, which waits for the launches that use the buffer.
    ///
    /// # Errors
    ///
    /// As for [`Buffer::lend`], and [`Error::Lent`] if it is lent at all.
    pub fn lend_mut(&mut self, stream: &Arc<CudaStream>) -> Result<LentBufferMut<'_, T>, Error> {
        Ok(LentBufferMut { inner: Inner::new(self, stream, Access::Write)? })
    }
}

impl<'a, T: Element> Inner<'a, T> {
    fn new(buffer: &'a Buffer<T>, stream: &Arc<CudaStream>, access: Access) -> Result<Self, Error> {
        let (context, _) = buffer.device().cudarc_context(stream, || "cudarc's stream".to_owned())?;
        let loan = buffer.memory.lend(access, adopt(context, stream)?)?;
        Ok(Inner { loan, stream: Arc::clone(stream), len: buffer.len(), buffer: PhantomData })
    }

    /// The address, for work in the stream that it is lent in, which has waited for the launches.
    fn address(&self, stream: &CudaStream) -> CUdeviceptr {
        assert!(
            *stream == *self.stream,
            "a buffer that is lent in one stream of cudarc's was used in another one; lend it in the stream that uses it"
        );
        self.loan.memory().address
    }
}

macro_rules! device_slices {
    ($($type:ident),*) => {$(
        impl<T: Element> DeviceSlice<T> for $type<'_, T> {
            fn len(&self) -> usize {
                self.inner.len
            }

            fn stream(&self) -> &Arc<CudaStream> {
                &self.inner.stream
            }
        }

        impl<T: Element> DevicePtr<T> for $type<'_, T> {
            /// # Panics
            ///
            /// If the buffer is not lent in this stream.
            fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
                (self.inner.address(stream), SyncOnDrop::Record(None))
            }
        }
    )*};
}
device_slices!(LentBuffer, LentBufferMut);

impl<T: Element> DevicePtrMut<T> for LentBufferMut<'_, T> {
    /// # Panics
    ///
    /// If the buffer is not lent in this stream.
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.inner.address(stream), SyncOnDrop::Record(None))
    }
}
