//! What can go wrong between a kernel crate and its PTX.

use std::path::{Path, PathBuf};

/// Why a kernel crate was not built, or a toolchain not found or installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No complete toolchain was found anywhere.
    #[error(
        "no toolchain that can build GPU code was found:\n{tried}\nInstall one with `cargo tilepipe setup` (Debian, no root \
         needed) or `rustup component add rust-src llvm-tools` and a CUDA toolkit of 12.0 or newer, or let \
         TILEPIPE_TOOLCHAIN name a folder that `cargo tilepipe setup` made"
    )]
    NoToolchain {
        /// One line for each place: where was looked, and what was missing there.
        tried: String,
    },
    /// `TILEPIPE_TOOLCHAIN` names a folder that is no complete toolchain.
    #[error(
        "TILEPIPE_TOOLCHAIN is `{}`, which is no complete toolchain: {missing}; make one with `cargo tilepipe setup`, or \
         unset the variable", dir.display()
    )]
    BadOverride {
        /// The folder that the variable names.
        dir: PathBuf,
        /// What is missing in it.
        missing: String,
    },
    /// A step of [`toolchain::install`](crate::toolchain::install) failed.
    #[error("the GPU toolchain could not be installed: {step} failed twice:\n{output}\n{way_out}")]
    Install {
        /// The command, as typed.
        step: String,
        /// The last lines that the command printed.
        output: String,
        /// What to do about it.
        way_out: String,
    },
    /// The kernel crate's folder has no usable library crate.
    #[error("`{}` is no kernel crate: {reason}", manifest.display())]
    NoCrate {
        /// The manifest that was looked for or read.
        manifest: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The kernel crate does not compile for the GPU.
    #[error("the kernel crate `{name}` does not compile for the GPU:\n{output}")]
    Compile {
        /// The crate's name.
        name: String,
        /// The compiler's messages.
        output: String,
    },
    /// The kernel crate does not depend on the device crate.
    #[error(
        "the kernel crate `{name}` does not depend on `tilepipe`, so there is no runtime to link: add `tilepipe` to its \
         dependencies"
    )]
    NoRuntime {
        /// The crate's name.
        name: String,
    },
    /// The kernel crate has no kernel.
    #[error("no kernel in the crate `{name}`: annotate a function with #[kernel]")]
    NoKernel {
        /// The crate's name.
        name: String,
    },
    /// A kernel was asked for by a name that none has.
    #[error(
        "no kernel `{kernel}` in the crate `{name}`: name kernel functions that carry #[kernel], without their modules"
    )]
    NoSuchKernel {
        /// The crate's name.
        name: String,
        /// What was asked for.
        kernel: String,
    },
    /// A GPU entry point without launch bounds, or launch bounds that no GPU has room for.
    #[error("the kernel `{kernel}` {problem}")]
    LaunchBounds {
        /// The entry's symbol.
        kernel: String,
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// A kernel with instructions of one architecture alone, in a build for a newer one.
    #[error(
        "the kernel `{kernel}` has instructions that only `{needs}` has, and the build is for `{target}` and newer; \
         choose a lesser target, or leave the kernel out"
    )]
    Target {
        /// The kernel function.
        kernel: String,
        /// The architecture whose instructions it has.
        needs: String,
        /// The build's target.
        target: String,
    },
    /// An entry point that does not run the one kernel that it was made for.
    #[error("the entry point `{kernel}` {problem}: `#[kernel]` alone makes entry points of kernels")]
    Contract {
        /// The entry's symbol.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// A static whose value can change: it would let thread-dependent data into block-level code.
    #[error(
        "the kernels use the mutable static `{symbol}`: GPU code may only have statics that never change; pass the value \
         as a kernel argument, or keep it in `Shared` memory"
    )]
    MutableStatic {
        /// The static's path in Rust.
        symbol: String,
    },
    /// A thread-local static, which the GPU does not have.
    #[error(
        "the kernels use the thread-local static `{symbol}`: the GPU has none; use a local variable or `PerThread`"
    )]
    ThreadLocal {
        /// The static's path in Rust.
        symbol: String,
    },
    /// An allocation: addresses would differ from thread to thread.
    #[error(
        "the kernels allocate memory (`{symbol}`): GPU code has no heap here; use arrays, or buffers that the host allocates"
    )]
    Allocator {
        /// The allocator's function.
        symbol: String,
    },
    /// A function or static that nothing defines.
    #[error(
        "the kernels use `{symbol}`, which nothing defines for the GPU: remove the call, or write the function in Rust"
    )]
    Unresolved {
        /// The symbol's path in Rust, or its name.
        symbol: String,
    },
    /// Code outside of the device crate that knows the thread which runs it, a clock, or other
    /// threads.
    #[error(
        "the kernels reach thread-level code: `{function}` {what}{}; such code belongs in the device crate: use what \
         `Block`, `Thread` and `Warp` offer, or, if the code keeps tilepipe's rules by itself, \
         `Builder::allow_thread_level_code`", chain.iter().map(|caller| format!(", called by `{caller}`")).collect::<String>()
    )]
    ThreadLevelCode {
        /// The path of the function in Rust.
        function: String,
        /// What it does.
        what: String,
        /// The functions that call it, from the nearest one to the kernel.
        chain: Vec<String>,
    },
    /// A function that can call itself: a thread's stack on the GPU has a fixed size, and nothing
    /// notices its end.
    #[error(
        "the kernel `{kernel}` can recurse: `{}`{} can call itself{}; GPU code must not, as nothing notices the end of a \
         thread's stack: use a loop",
        cycle.join("`, which calls `"),
        if cycle.len() > 1 { "," } else { "" },
        if *by_address { " (through a function's address: any function of such parameters counts)" } else { "" }
    )]
    Recursion {
        /// The kernel.
        kernel: String,
        /// The functions' paths in Rust: each calls the next one, and the last one the first.
        cycle: Vec<String>,
        /// Whether one of the calls is through a function pointer or a trait object.
        by_address: bool,
    },
    /// `ptxas` says that it takes products of the tensor cores one by one, or that it leaves the
    /// registers of roles as they are: the kernel would be right and slow.
    #[error(
        "the kernel `{kernel}` loses its tensor cores' speed on {arch}, as ptxas says: {message}; keep fewer accumulators and other values \
         in a thread, and nothing but the library's own code between a product and its wait"
    )]
    Products {
        /// The kernel.
        kernel: String,
        /// The architecture.
        arch: String,
        /// What `ptxas` says.
        message: String,
    },
    /// A kernel whose roles share out more registers, or fewer, than it is launched with: with
    /// fewer, those that take some would wait for ever.
    #[error(
        "the kernel `{kernel}` is launched with {given} registers a thread on {arch}, as ptxas says, and its roles share out {wanted}: \
         divide its block without a `Budget`"
    )]
    RoleRegisters {
        /// The kernel.
        kernel: String,
        /// The architecture.
        arch: String,
        /// The registers that `ptxas` says a thread has.
        given: u32,
        /// Those that the roles count on.
        wanted: u32,
    },
    /// Two crates that could both be the device crate.
    #[error("the kernels depend on two device crates, `{}` and `{}`: only one can be linked", first.display(), second.display())]
    TwoDeviceCrates {
        /// The manifest of one.
        first: PathBuf,
        /// The manifest of the other.
        second: PathBuf,
    },
    /// Module-level assembly, which no check can look into.
    #[error("the kernels contain `global_asm!`, which cannot be checked: remove it")]
    GlobalAssembly,
    /// A line of LLVM IR that this crate does not understand.
    #[error(
        "cannot read this line of LLVM IR ({reason}); this is a fault of tilepipe-build, please report it:\n{line}"
    )]
    Ir {
        /// What was expected.
        reason: &'static str,
        /// The line.
        line: String,
    },
    /// One of LLVM's tools failed.
    #[error("`{tool}` failed while linking the kernel crate `{name}`:\n{output}")]
    Llvm {
        /// The tool's name.
        tool: String,
        /// The kernel crate's name.
        name: String,
        /// What it printed.
        output: String,
    },
    /// `ptxas` refused the PTX.
    #[error(
        "ptxas cannot assemble {} for {arch}:\n{message}",
        kernel.as_ref().map_or("the module".to_string(), |k| format!("`{k}`"))
    )]
    Ptxas {
        /// The kernel or function in which the first error is, demangled.
        kernel: Option<String>,
        /// The architecture.
        arch: String,
        /// What `ptxas` printed.
        message: String,
    },
    /// An architecture that cannot be built for.
    #[error("cannot build for the architecture `{arch}`: {reason}")]
    Architecture {
        /// The architecture, as given.
        arch: String,
        /// Why not, and what is allowed.
        reason: String,
    },
    /// [`build_in_script`](crate::build_in_script) was called outside a build script.
    #[error("the environment variable {name} is not set: call `build_in_script` from a build.rs, or use `Builder`")]
    NotInScript {
        /// The variable's name.
        name: &'static str,
    },
    /// A file or program could not be used.
    #[error("cannot {action} `{}`: {reason}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `run`, ..
        action: &'static str,
        /// The file or program.
        path: PathBuf,
        /// The system's reason. Part of the message, and so no `source` of the error.
        reason: std::io::Error,
    },
}

impl Error {
    /// Wraps a system error, for `map_err`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |reason| Error::Io { action, path, reason }
    }
}
