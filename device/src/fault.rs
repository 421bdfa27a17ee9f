//! Panics inside kernels: out-of-range indices of our own views, and the panic handler on the GPU.

/// Fails the launch with a message in which `{}` stands twice, for `a` and `b`.
#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn out_of_range(message: &'static str, a: usize, b: usize) -> ! {
    panic!("{}", message.replacen("{}", &a.to_string(), 1).replacen("{}", &b.to_string(), 1));
}

#[cfg(target_arch = "nvptx64")]
pub(crate) use gpu::out_of_range;

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::panic::{Location, PanicInfo};

    use crate::isa;
    use crate::panic_record::{CLAIMED, COMPLETE, EMPTY, FILE_BYTES, MESSAGE_BYTES, PanicRecord};

    /// Fails the launch with a message in which `{}` stands twice, for `a` and `b`.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn out_of_range(message: &'static str, a: usize, b: usize) -> ! {
        report(message, Location::caller(), Some([a, b]))
    }

    /// Formatting code would cost every kernel a stack, so a message with run-time arguments is reported by its place.
    #[panic_handler]
    fn panic(info: &PanicInfo<'_>) -> ! {
        let message = info.message().as_str().unwrap_or(
            "panicked with a message that is put together at run time (run the kernel on the CPU to read it)",
        );
        match info.location() {
            Some(location) => report(message, location, None),
            None => isa::trap(),
        }
    }

    /// Writes the host's panic record, if there is one and nobody else has, and traps.
    #[cold]
    #[inline(never)]
    fn report(message: &str, location: &Location<'_>, values: Option<[usize; 2]>) -> ! {
        let record = isa::panic_record_address() as *mut PanicRecord;
        if record.is_null() {
            isa::trap();
        }
        // SAFETY: the host allocated the record and keeps it for as long as the module is loaded.
        let state = unsafe { &raw mut (*record).state };
        // SAFETY: the record's memory is host memory mapped for atomic access by the device.
        if unsafe { isa::claim(state, EMPTY, CLAIMED) } {
            // SAFETY: this thread alone claimed the record.
            unsafe { write(record, message, location, values) };
            // SAFETY: as above.
            unsafe { state.write_volatile(COMPLETE) };
        } else {
            // The first to trap ends the grid: leave the one that writes the record time to finish.
            for _ in 0..10_000 {
                // SAFETY: as above; the other thread writes it volatile too.
                if unsafe { state.read_volatile() } == COMPLETE {
                    break;
                }
                isa::sleep(1_000);
            }
        }
        isa::trap()
    }

    /// Fills all of `record` but its state.
    ///
    /// # Safety
    ///
    /// `record` is valid for writes, and nobody else accesses it.
    unsafe fn write(record: *mut PanicRecord, message: &str, location: &Location<'_>, values: Option<[usize; 2]>) {
        let (message, file) = (message.as_bytes(), location.file().as_bytes());
        let (message_bytes, file_bytes) = (message.len().min(MESSAGE_BYTES), file.len().min(FILE_BYTES));
        // SAFETY: the caller's promise holds for each field.
        let (to_message, to_file, to_values) = unsafe {
            (
                (&raw mut (*record).message).cast::<u8>(),
                (&raw mut (*record).file).cast::<u8>(),
                &raw mut (*record).values,
            )
        };
        for (index, byte) in message.iter().take(message_bytes).enumerate() {
            // SAFETY: `index < MESSAGE_BYTES`.
            unsafe { to_message.add(index).write_volatile(*byte) };
        }
        for (index, byte) in file.iter().take(file_bytes).enumerate() {
            // SAFETY: `index < FILE_BYTES`.
            unsafe { to_file.add(index).write_volatile(*byte) };
        }
        let [a, b] = values.unwrap_or_default();
        // SAFETY: the caller's promise.
        unsafe { to_values.write_volatile([a as u64, b as u64, 0, 0]) };
        let value_count = if values.is_some() { 2 } else { 0 };
        // SAFETY: the caller's promise.
        let numbers = unsafe {
            [
                (&raw mut (*record).line, location.line()),
                (&raw mut (*record).column, location.column()),
                (&raw mut (*record).block, isa::block_index()),
                (&raw mut (*record).thread, isa::thread_rank()),
                (&raw mut (*record).message_bytes, message_bytes as u32),
                (&raw mut (*record).file_bytes, file_bytes as u32),
                (&raw mut (*record).value_count, value_count),
            ]
        };
        for (field, value) in numbers {
            // SAFETY: the caller's promise.
            unsafe { field.write_volatile(value) };
        }
    }
}
