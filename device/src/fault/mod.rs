//! Panics inside kernels: out-of-range indices of our own views, and the panic handler on the GPU.

pub mod panic_record;
mod text;

pub use text::Text;

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

/// The most tiles that a driver can count.
pub(crate) const MOST_TILES: usize = u32::MAX as usize;

/// Fails the launch of a driver that was given more tiles than [`MOST_TILES`]. This is a function
/// of its own, as the next one is. A loop that called the one above would set up its arguments,
/// which reorders the loop's own instructions and slows down a pipeline that hands over stage by
/// stage (docs/performance.md).
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn too_many_tiles(tiles: usize) -> ! {
    out_of_range("{} tiles are too many for a block: at most {} can be, use more blocks", tiles, MOST_TILES);
}

/// Fails the launch of a driver that was given fewer output tiles than input tiles.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn too_few_results(results: usize, tiles: usize) -> ! {
    out_of_range("this block has {} output tiles, too few for its {} input tiles", results, tiles);
}

/// Fails the launch of a driver whose block has a tile beyond the output's last one. The numbers
/// are those of all blocks: those of one would take a division each.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn results_end_early(results: usize, tiles: usize) -> ! {
    out_of_range("the output has {} tiles, too few for the input's {}", results, tiles);
}

/// Fails the launch of a kernel whose shared memory is not aligned as its layout requires.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn misaligned_shared_memory(address: usize, alignment: usize) -> ! {
    out_of_range("shared memory starts at address {}, which is no multiple of {}", address, alignment);
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::panic::{Location, PanicInfo};

    use crate::fault::panic_record::{CLAIMED, COMPLETE, EMPTY, FILE_BYTES, MESSAGE_BYTES, PanicRecord};
    use crate::isa;

    /// Fails the launch with a message in which `{}` stands twice, for `a` and `b`.
    #[cold]
    #[inline(always)]
    #[track_caller]
    pub(crate) fn out_of_range(message: &'static str, a: usize, b: usize) -> ! {
        fail(message, Location::caller(), 2, a as u64, b as u64)
    }

    /// Formatting code would cost every kernel a stack, so a message with run-time arguments is
    /// reported by its place.
    #[panic_handler]
    fn panic(info: &PanicInfo<'_>) -> ! {
        let message = info.message().as_str().unwrap_or(
            "panicked with a message that is put together at run time (run the kernel on the CPU to read it)",
        );
        match info.location() {
            Some(location) => report(message, location, 0, 0, 0),
            None => isa::trap(),
        }
        isa::exit()
    }

    /// [`end`], for our own checks.
    #[cold]
    #[inline(never)]
    fn fail(message: &str, location: &Location<'_>, value_count: u32, a: u64, b: u64) -> ! {
        end(message, location, value_count, a, b);
        isa::exit()
    }

    /// [`end`], for panics of `core`: the builder puts calls of this function into them
    /// (`ir::panics`). Its type says that it returns, which it does not. With calls of a function
    /// that never returns (`.noreturn`) a kernel that indexes a tile takes 4 to 8 registers more.
    #[cold]
    #[inline(never)]
    fn report(message: &str, location: &Location<'_>, value_count: u32, a: u64, b: u64) {
        end(message, location, value_count, a, b);
    }

    /// Writes the host's panic record, if there is one and no other thread has claimed it, and
    /// traps. The first `value_count` of `a` and `b` belong to the message.
    ///
    /// It takes and keeps scalars only, so that no kernel gets a stack because of it.
    #[inline(always)]
    fn end(message: &str, location: &Location<'_>, value_count: u32, a: u64, b: u64) {
        let record = isa::panic_record_address() as *mut PanicRecord;
        if !record.is_null() {
            fill(record, message, location, value_count, a, b);
        }
        isa::trap();
    }

    /// Fills the record, or waits for the thread that does.
    #[inline(always)]
    fn fill(record: *mut PanicRecord, message: &str, location: &Location<'_>, value_count: u32, a: u64, b: u64) {
        // SAFETY: the record is not null, so the host allocated it and keeps it for as long as the
        // module is loaded.
        let state = unsafe { &raw mut (*record).state };
        // SAFETY: the record's memory is host memory mapped for atomic access by the device.
        if unsafe { isa::claim(state, EMPTY, CLAIMED) } {
            // SAFETY: this thread alone claimed the record, so nobody else accesses these fields.
            unsafe {
                (&raw mut (*record).line).write_volatile(location.line());
                (&raw mut (*record).column).write_volatile(location.column());
                (&raw mut (*record).block).write_volatile(isa::block_index());
                (&raw mut (*record).thread).write_volatile(isa::thread_rank());
                (&raw mut (*record).value_count).write_volatile(value_count);
                (&raw mut (*record).values).cast::<u64>().write_volatile(a);
                (&raw mut (*record).values).cast::<u64>().add(1).write_volatile(b);
                let message_bytes = write_text((&raw mut (*record).message).cast(), MESSAGE_BYTES, message);
                (&raw mut (*record).message_bytes).write_volatile(message_bytes);
                let file_bytes = write_text((&raw mut (*record).file).cast(), FILE_BYTES, location.file());
                (&raw mut (*record).file_bytes).write_volatile(file_bytes);
                isa::system_fence();
                state.write_volatile(COMPLETE);
            }
        } else {
            // The first to trap ends the grid: leave the thread that writes the record time to
            // finish.
            for _ in 0..10_000 {
                // SAFETY: as above; the other thread writes it with a volatile store too.
                if unsafe { state.read_volatile() } == COMPLETE {
                    break;
                }
                isa::sleep(1_000);
            }
        }
    }

    /// Writes as much of `text` as fits and returns how many bytes that is.
    ///
    /// # Safety
    ///
    /// `to` is valid for writes of `room` bytes, and nobody else accesses them.
    #[inline(always)]
    unsafe fn write_text(to: *mut u8, room: usize, text: &str) -> u32 {
        let bytes = text.len().min(room);
        for (index, byte) in text.as_bytes().iter().take(bytes).enumerate() {
            // SAFETY: `index < room`.
            unsafe { to.add(index).write_volatile(*byte) };
        }
        bytes as u32
    }
}
