//! Everything that can go wrong between a program and its kernels.

use std::ops::Range;
use std::path::PathBuf;

/// An error of this crate. Each message says what failed, with which value, what is allowed and
/// what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine has no NVIDIA driver.
    #[error("no NVIDIA driver: libcuda.so.1 cannot be loaded; install a driver, or use the CPU (`Device::cpu`)")]
    NoDriver,

    /// The NVIDIA driver lacks what this crate calls.
    #[error("the NVIDIA driver is too old: it is {found}, and CUDA 12.0 (driver 525) or newer is needed; update it")]
    DriverTooOld {
        /// The CUDA version of the driver, or what it lacks.
        found: String,
    },

    /// There is no GPU of that number.
    #[error("no GPU {ordinal}: {}", gpus_there_are(*count))]
    NoSuchGpu {
        /// The number asked for, from 0.
        ordinal: u32,
        /// How many GPUs the driver sees.
        count: u32,
    },

    /// The GPU's architecture is below `sm_80`.
    #[error(
        "GPU {ordinal} ({name}) is sm_{major}{minor}, and sm_80 (Ampere) is the least that has asynchronous copies; \
         choose a newer GPU, or use the CPU (`Device::cpu`)"
    )]
    ArchitectureTooOld {
        /// The GPU's number.
        ordinal: u32,
        /// The GPU's name.
        name: String,
        /// Major compute capability.
        major: u32,
        /// Minor compute capability.
        minor: u32,
    },

    /// No map of a tensor can be made of an argument.
    #[error("kernel `{kernel}`, parameter `{parameter}`: this can't be a tensor: {reason}")]
    TensorMap {
        /// The kernel's name.
        kernel: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// What is wrong, and what can be.
        reason: String,
    },

    /// A driver call failed for a reason that has no error of its own here.
    #[error("the driver could not {doing}: {text} (error {code})")]
    Driver {
        /// What was attempted.
        doing: &'static str,
        /// The driver's error code.
        code: i32,
        /// The code's name and description.
        text: String,
    },

    /// A module's files could not be read or are not what they should be.
    #[error("cannot use the kernels in {}: {reason}", path.display())]
    BadModule {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },

    /// The program was built on a machine without a device compiler.
    #[error(
        "the program has no kernels for a GPU, as its build script found no device compiler; install one with `cargo \
         tilepipe setup` and build again, or use the CPU (`Device::cpu`). The build script said: {reason}"
    )]
    NoKernels {
        /// What the build script looked for and did not find.
        reason: &'static str,
    },

    /// The driver cannot compile PTX of this version.
    #[error(
        "the driver (CUDA {driver}) is too old for the kernels' PTX (version {ptx}); update the driver, or build the \
         kernels for an older PTX version or with a cubin for this GPU (sm_{architecture})"
    )]
    PtxTooNew {
        /// The PTX version that the module asks for.
        ptx: String,
        /// The newest CUDA version that the driver supports.
        driver: String,
        /// The GPU's architecture, as in `sm_90`.
        architecture: u32,
    },

    /// The driver's compiler rejected the PTX.
    #[error(
        "the driver could not compile the kernels' PTX ({text}); build them again with tilepipe-build. Its log:\n{log}"
    )]
    Compilation {
        /// The driver's error.
        text: String,
        /// The compiler's error log.
        log: String,
    },

    /// No loaded module has the kernel.
    #[error(
        "kernel `{kernel}` has no entry `{symbol}` in {}; call `Device::load` with the module built from the same source",
        match loaded { 0 => "any module: none is loaded on this device".to_owned(), 1 => "the image loaded on this device".to_owned(),
            _ => format!("the {loaded} images loaded on this device") }
    )]
    NotLoaded {
        /// The kernel's name.
        kernel: &'static str,
        /// The entry looked for.
        symbol: &'static str,
        /// How many images are loaded.
        loaded: usize,
    },

    /// A kernel for newer or other GPUs than the device: its module has no image for this one.
    #[error(
        "kernel `{kernel}` is built for {needs}, and {device} is an sm_{architecture}: its module has no image that runs \
         there; launch it on another GPU, or another kernel on this one"
    )]
    NoImage {
        /// The kernel's name.
        kernel: &'static str,
        /// What the kernel's PTX is for, such as `sm_90a`.
        needs: String,
        /// The device's architecture: 80 for `sm_80`.
        architecture: u32,
        /// The device's name.
        device: String,
    },

    /// A buffer of no elements was asked for, or of elements without bytes.
    #[error("a buffer of {element} that would have no bytes: it has at least 1 element, of at least 1 byte")]
    EmptyBuffer {
        /// The element type's name.
        element: &'static str,
    },

    /// A buffer's size in bytes does not fit in the address space.
    #[error("a buffer of {elements} elements of {element} overflows: at most {limit} elements are possible")]
    SizeOverflow {
        /// The number of elements asked for.
        elements: usize,
        /// The element type's name.
        element: &'static str,
        /// The largest number of elements.
        limit: usize,
    },

    /// Rows that would lie over one another.
    #[error(
        "rows of {width} elements that start {pitch} elements apart lie over one another; a pitch is at least the width"
    )]
    OverlappingRows {
        /// Elements in a row.
        width: usize,
        /// Elements from one row's start to the next one's.
        pitch: usize,
    },

    /// Elements that are not whole rows of the width.
    #[error("{elements} elements are no whole rows of {width}; choose a width of at least 1 that divides {elements}")]
    RaggedRows {
        /// Elements given.
        elements: usize,
        /// Elements in a row.
        width: usize,
    },

    /// A two-dimensional buffer without an element was asked for.
    #[error("a buffer of {height} rows of {width} elements of {element}: it has at least 1 row of at least 1 element")]
    EmptyRows {
        /// Elements in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// The element type's name.
        element: &'static str,
    },

    /// A two-dimensional buffer's size in bytes does not fit in the address space.
    #[error(
        "a buffer of {height} rows of {width} elements of {element} overflows: at most {limit} bytes are possible, with \
         every row at a multiple of 16"
    )]
    RowsOverflow {
        /// Elements in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// The element type's name.
        element: &'static str,
        /// The largest size in bytes.
        limit: usize,
    },

    /// A slice that is empty or does not lie in its buffer.
    #[error(
        "the elements {start}..{end} of a buffer of {len} are no slice: it has at least 1 element, and ends at {len} at \
         most"
    )]
    BadSlice {
        /// The first element.
        start: usize,
        /// The element after the last.
        end: usize,
        /// The buffer's length in elements.
        len: usize,
    },

    /// Ranges of rows and columns that make no slice.
    #[error(
        "the elements {columns:?} of the rows {rows:?} of {height} rows of {width} elements are no slice: it has at least \
         1 row and 1 element of it, and ends at row {height} and element {width} at most"
    )]
    BadSlice2D {
        /// The rows.
        rows: Range<usize>,
        /// The elements of each row.
        columns: Range<usize>,
        /// Elements in a row of what was to be cut.
        width: usize,
        /// Rows of it.
        height: usize,
    },

    /// Ranges that make no slice of a buffer of several dimensions.
    #[error(
        "the elements {ranges:?} of a buffer of extents {extents:?} are no slice: each range has at least 1 element, and \
         ends at the extent at most"
    )]
    BadSliceNd {
        /// The range of each dimension.
        ranges: Vec<Range<usize>>,
        /// What was to be cut.
        extents: Vec<usize>,
    },

    /// The device has too little memory left.
    #[error(
        "out of memory on {device}: {wanted} bytes were wanted, and {} are free; use fewer elements, or drop buffers first",
        free.map_or("an unknown number".to_owned(), |free| free.to_string())
    )]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes wanted.
        wanted: usize,
        /// Bytes free, where known.
        free: Option<u64>,
    },

    /// A write of the wrong length.
    #[error("{given} elements cannot be written to a buffer of {len}: the numbers must be equal")]
    LengthMismatch {
        /// Elements given.
        given: usize,
        /// The buffer's length in elements.
        len: usize,
    },

    /// The grid's size is out of range.
    #[error("kernel `{kernel}`: a grid of {grid} blocks; 1 to 2147483647 are allowed")]
    BadGrid {
        /// The kernel's name.
        kernel: &'static str,
        /// Blocks asked for.
        grid: u32,
    },

    /// The kernel's crate was compiled without this instance's code for the CPU.
    #[error(
        "kernel `{kernel}` was compiled without code for the CPU, as TILEPIPE_INSTANCES asked for; compile its crate \
         without that variable, or with this instance among what it names"
    )]
    NotForCpu {
        /// The kernel's name with its generic arguments.
        kernel: &'static str,
    },

    /// The wrong number of arguments.
    #[error("kernel `{kernel}` takes {wanted} argument{}, not {given}: {names}", if *wanted == 1 { "" } else { "s" })]
    ArgumentCount {
        /// The kernel's name.
        kernel: &'static str,
        /// Arguments given.
        given: usize,
        /// Parameters of the kernel.
        wanted: usize,
        /// The parameters' names.
        names: String,
    },

    /// An argument of the wrong kind or element type.
    #[error("kernel `{kernel}`, parameter `{parameter}`: it is {wanted}, not {given}; pass {instead}")]
    ArgumentType {
        /// The kernel's name.
        kernel: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// What the parameter is.
        wanted: String,
        /// What was given.
        given: String,
        /// What to pass.
        instead: String,
    },

    /// The address of a slice's first element is not aligned as the parameter wants.
    #[error(
        "kernel `{kernel}`, parameter `{parameter}`: the address {address:#x} is not a multiple of {alignment} bytes; pass \
         a whole buffer, or a slice that starts at a multiple of {elements} elements (of rows: at such a column)"
    )]
    Misaligned {
        /// The kernel's name.
        kernel: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The address.
        address: u64,
        /// The alignment wanted, in bytes.
        alignment: usize,
        /// The number of elements that make so many bytes, or a multiple.
        elements: usize,
    },

    /// Rows that do not start where the parameter wants.
    #[error(
        "kernel `{kernel}`, parameter `{parameter}`: the rows start {pitch} bytes apart, which is not a multiple of \
         {alignment}; pass a `Buffer2D`, which pads its rows (`Device::upload_2d`), or rows of a multiple of {elements} \
         elements"
    )]
    MisalignedRows {
        /// The kernel's name.
        kernel: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// Bytes from one row's start to the next one's.
        pitch: usize,
        /// The number of bytes of which the pitch is a multiple.
        alignment: usize,
        /// The number of elements that make so many bytes, or a multiple.
        elements: usize,
    },

    /// A buffer, stream or event of another device, or of the same device before it was opened
    /// anew.
    #[error("{what} belongs to {owner}, not to {device}; make it again on the device that uses it")]
    WrongDevice {
        /// What was passed.
        what: String,
        /// The device that made it.
        owner: String,
        /// The device that was to use it.
        device: String,
    },

    /// An output that the same launch uses once more.
    #[error(
        "kernel `{kernel}`: parameters `{first}` and `{second}` use the same buffer, and one of them is written; pass two \
         buffers, even for parts that do not overlap"
    )]
    Aliased {
        /// The kernel's name.
        kernel: &'static str,
        /// The earlier parameter.
        first: &'static str,
        /// The later parameter.
        second: &'static str,
    },

    /// An output some of whose bytes another argument of the same launch has too.
    #[error(
        "kernel `{kernel}`: parameters `{first}` and `{second}` have bytes in common, and one of them is written; pass memory \
         of its own for each output"
    )]
    Overlap {
        /// The kernel's name.
        kernel: &'static str,
        /// The earlier parameter.
        first: &'static str,
        /// The later parameter.
        second: &'static str,
    },

    /// An address at which no elements can lie.
    #[error(
        "{address:#x} is no address of elements of {element}: it is not null, and a multiple of {alignment} bytes, and the \
         last element ends within the address space"
    )]
    BadAddress {
        /// The address.
        address: u64,
        /// The element type's name.
        element: &'static str,
        /// The alignment that it has, in bytes.
        alignment: usize,
    },

    /// Work in a stream that is being captured into a graph.
    #[error(
        "the stream, or that of an argument's memory, is being captured into a graph, which could run the kernel again when \
         the memory is gone; launch it before the capture begins or after it has ended"
    )]
    Captured,

    /// The first launch of a kernel, in a stream that is being captured into a graph.
    #[error(
        "kernel `{kernel}` has not been launched on this device yet, and its first launch has to ask the driver for more than \
         a capture may have; launch it once before the capture begins"
    )]
    CapturedFirst {
        /// The kernel's name.
        kernel: &'static str,
    },

    /// A stream that is another one in each thread.
    #[error(
        "the per-thread stream (of cudarc, or `cudaStreamPerThread`) is another stream in each thread, and keeps no order \
         between them; use a stream that was created, or the default stream, also for memory"
    )]
    PerThreadStream,

    /// Memory of cudarc's whose uses in several streams cudarc does not order.
    #[error(
        "kernel `{kernel}`, parameter `{parameter}`: cudarc's event tracking is off for this memory, and it was allocated in \
         another stream than that of the launch; launch in the stream in which it was allocated, or do not call \
         `disable_event_tracking`"
    )]
    Untracked {
        /// The kernel's name.
        kernel: &'static str,
        /// The parameter's name.
        parameter: &'static str,
    },

    /// Memory that is lent to others, in a way that excludes this use.
    #[error(
        "a buffer is lent to cudarc, {}; drop what `Buffer::lend` or `Buffer::lend_mut` returned first",
        if *written { "which may write it" } else { "which reads it, and this would write it" }
    )]
    Lent {
        /// Whether it is lent to be written.
        written: bool,
    },

    /// A block needs more shared memory than the device has.
    #[error(
        "kernel `{instance}` needs {wanted} bytes of shared memory a block, and {device} has {limit}; choose fewer stages or \
         smaller tiles"
    )]
    SharedMemory {
        /// The kernel's name with its generic arguments.
        instance: &'static str,
        /// Bytes a block needs, static and dynamic.
        wanted: usize,
        /// Bytes a block can have.
        limit: usize,
        /// The device's name.
        device: String,
    },

    /// A block has too many threads for the device.
    #[error(
        "kernel `{instance}` has {threads} threads a block, and on {device} it can have 1 to {limit}; choose a smaller block"
    )]
    BlockTooLarge {
        /// The kernel's name with its generic arguments.
        instance: &'static str,
        /// Threads a block.
        threads: u32,
        /// The most that this kernel can have on the device.
        limit: u32,
        /// The device's name.
        device: String,
    },

    /// A launch from inside a kernel on the CPU.
    #[error("kernel `{kernel}` was launched from inside a kernel; launch it after the other one has returned")]
    NestedLaunch {
        /// The kernel's name.
        kernel: &'static str,
    },

    /// A buffer was read or written from inside a kernel on the CPU.
    #[error(
        "a buffer was read or written from inside a kernel, whose launch may use it; do so after the launch has returned"
    )]
    InsideKernel,

    /// The program's first launch on the CPU, from a thread that panics.
    #[error(
        "kernel `{kernel}` is the program's first on the CPU and was launched while its thread panics, maybe by a panic hook, which the launch \
         would have to replace; launch a kernel before, or after the panic"
    )]
    WhilePanicking {
        /// The kernel's name.
        kernel: &'static str,
    },

    /// The loaded module's entry is not the kernel that is launched.
    #[error(
        "kernel `{kernel}` in the loaded module is not the one that this program launches: {difference}; build both from the \
         same sources, and load no folder of an older build"
    )]
    ContractMismatch {
        /// The kernel's name.
        kernel: &'static str,
        /// The first difference between the program's kernel and the module's.
        difference: String,
    },

    /// The threads that run kernels on the CPU could not be started.
    #[error(
        "cannot start the threads that run kernels on the CPU: {reason}; set RAYON_NUM_THREADS to a smaller number"
    )]
    NoThreads {
        /// The operating system's reason.
        reason: String,
    },

    /// A kernel panicked.
    #[error(
        "a kernel panicked at {file}:{line}:{column}, block {block}{}: {message} (the device is unusable from now on: open \
         it anew with `Device::open`)",
        thread.map_or(String::new(), |thread| format!(", thread {thread}"))
    )]
    KernelPanicked {
        /// The panic's message.
        message: String,
        /// The source file.
        file: String,
        /// The line in that file, from 1.
        line: u32,
        /// The column in that line, from 1.
        column: u32,
        /// The block's index in the grid.
        block: u32,
        /// The thread's rank in its block, where it is known.
        thread: Option<u32>,
    },

    /// A kernel stopped without leaving a message: a trap, a wrong address, a time-out.
    #[error(
        "a kernel was stopped by the GPU while the program tried to {doing}: {text} (error {code}) (the device is unusable \
         from now on: open it anew with `Device::open`; compute-sanitizer finds the place)"
    )]
    KernelTrapped {
        /// What was attempted when the failure was seen; the kernel may be an earlier one.
        doing: &'static str,
        /// The driver's error code.
        code: i32,
        /// The code's name and description.
        text: String,
    },

    /// The device failed earlier.
    #[error(
        "the device is unusable since an earlier failure; open it anew with `Device::open` and make its buffers again. It was: {first}"
    )]
    DeviceLost {
        /// The first failure's message.
        first: String,
    },
}

/// Says which GPUs can be asked for.
fn gpus_there_are(count: u32) -> String {
    match count {
        0 => {
            "the driver sees none; check CUDA_VISIBLE_DEVICES and nvidia-smi, or use the CPU (`Device::cpu`)".to_owned()
        }
        1 => "there is only GPU 0".to_owned(),
        _ => format!("there are GPUs 0 to {}", count - 1),
    }
}

#[cfg(test)]
mod tests;
