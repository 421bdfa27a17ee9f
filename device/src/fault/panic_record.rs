//! The record in which a panicking GPU thread leaves its message.
//!
//! The host allocates one [`PanicRecord`] of zeros in host memory that the device can write, and
//! stores its device address in the module's global `tilepipe_panic_record` (8 bytes). The first
//! thread that panics claims the record, fills it and traps; the host reads it when the launch
//! fails.

/// Bytes kept of a panic's message.
pub const MESSAGE_BYTES: usize = 512;
/// Bytes kept of a panic's file name.
pub const FILE_BYTES: usize = 256;
/// The name of the module's global (8 bytes) that holds the record's device address, 0 if there is
/// none.
pub const SYMBOL: &str = "tilepipe_panic_record";

/// What a line at the end of a module's PTX begins with that says what a [`PanicRecord::site`]
/// stands for: the number in hexadecimal, line, column, file and message follow, each behind a tab.
pub const SITE: &str = "// tilepipe.panic";

/// [`PanicRecord::state`]: nobody has panicked.
pub const EMPTY: u32 = 0;
/// [`PanicRecord::state`]: a thread is writing the record, or trapped before it could finish.
pub const CLAIMED: u32 = 1;
/// [`PanicRecord::state`]: the record is whole.
pub const COMPLETE: u32 = 2;

/// A panic of one GPU thread: its message, its place in the source, its thread and its block.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct PanicRecord {
    /// [`EMPTY`], [`CLAIMED`] or [`COMPLETE`].
    pub state: u32,
    /// The line in the source file, from 1.
    pub line: u32,
    /// The column in that line, from 1.
    pub column: u32,
    /// The block's index in the grid.
    pub block: u32,
    /// The thread's rank in its block.
    pub thread: u32,
    /// Bytes of `message` in use.
    pub message_bytes: u32,
    /// Bytes of `file` in use.
    pub file_bytes: u32,
    /// How many of `values` belong to the message: each replaces one `{}` of it, in order.
    pub value_count: u32,
    /// Run-time values of the message.
    pub values: [u64; 4],
    /// The message in UTF-8, cut to the array's length.
    pub message: [u8; MESSAGE_BYTES],
    /// The source file's path in UTF-8, cut to the array's length.
    pub file: [u8; FILE_BYTES],
    /// Which check has failed, if it is one that says so by its number instead of by `message`,
    /// `file`, `line` and `column`; else 0. The module's PTX says what it stands for ([`SITE`]).
    pub site: u64,
}

impl PanicRecord {
    /// A record that nobody has claimed.
    pub const fn empty() -> Self {
        PanicRecord {
            state: EMPTY,
            line: 0,
            column: 0,
            block: 0,
            thread: 0,
            message_bytes: 0,
            file_bytes: 0,
            value_count: 0,
            values: [0; 4],
            message: [0; MESSAGE_BYTES],
            file: [0; FILE_BYTES],
            site: 0,
        }
    }
}
