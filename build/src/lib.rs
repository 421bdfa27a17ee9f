//! Builds a kernel crate to checked PTX.
//!
//! A kernel crate is an ordinary Rust library whose functions carry `#[kernel]`. The [`Builder`]
//! compiles it for `nvptx64-nvidia-cuda`, links it with the device crate's `runtime.ll`, keeps
//! collective operations where the source put them, refuses what a kernel must not contain (see
//! below), and assembles the result for every requested architecture, so that an error shows when
//! the program is built, not when it runs.
//!
//! From a build script, one line is enough; the program then embeds what it built:
//!
//! ```no_run
//! # fn main() -> Result<(), tilepipe_build::Error> {
//! // Then, in the program: static KERNELS: Module = tilepipe_host::built_kernels!();
//! tilepipe_build::build_in_script("kernels")?;
//! # Ok(())
//! # }
//! ```
//!
//! From a program, with everything chosen:
//!
//! ```no_run
//! # fn main() -> Result<(), tilepipe_build::Error> {
//! let artifact = tilepipe_build::Builder::new("kernels")
//!     .target_cpu("sm_90")
//!     .architectures(["sm_90", "sm_100"])
//!     .output_dir("target/ptx")
//!     .build()?;
//! for kernel in &artifact.report {
//!     println!("{} {}: {} registers", kernel.kernel, kernel.arch, kernel.registers);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find what
//!
//! `docs/guide.md` in the repository has a whole program with its build script, and says what a
//! build reports.
//!
//! ## Builds
//!
//! A build compiles one kernel crate, from a build script or from a program.
//!
//! - In a build script: [`build_in_script`].
//! - In a program: [`Builder`]; [`build_all`] for several crates at once.
//! - What is wrong, and what to do about it: [`Error`].
//!
//! ## Results
//!
//! A build leaves PTX, machine code and a report in one folder.
//!
//! - The files: [`Artifact`], [`Image`], [`Cubin`].
//! - What each kernel needs of the GPU: [`KernelReport`], [`FunctionReport`]; what `ptxas` says
//!   beside that: [`PtxasMessage`].
//!
//! ## Tools
//!
//! The compiler, LLVM's tools and `ptxas` are found, or installed, together.
//!
//! - [`toolchain`].
//!
//! # How it works
//!
//! 1. [`toolchain`]: a compiler with the library's source, LLVM's tools of the same version, and
//!    `ptxas`.
//! 2. `cargo` compiles the crate and `core` to unoptimised bitcode. No linker program is involved.
//! 3. LLVM's tools link that bitcode; every function and call is marked `convergent` and every
//!    kernel gets its launch bounds; what must not be there is refused.
//! 4. The module is taken apart into parts: the instances of one kernel function, or some of them,
//!    with all that they reach. From here on parts are worked on side by side, on all cores, and
//!    what each step makes of a part is kept under a hash of what went into it: a kernel that did
//!    not change is neither optimised, translated nor assembled again.
//! 5. Each part is optimised and lowered to PTX. Functions that are marked `#[inline(never)]` are
//!    compiled as their source says, so that a kernel's code does not depend on which other kernels
//!    call them too.
//! 6. In the text for `sm_90` and newer, waits at mbarriers become the instruction that suspends
//!    the thread; PTX and machine code for older GPUs keep the one that they have.
//! 7. `ptxas` assembles each architecture's text, and reports registers, spills and shared memory.
//!    Whatever else it says is in [`Artifact::messages`].
//!
//! # What a kernel must not contain
//!
//! What follows is refused, by name, in whatever a kernel reaches; code that no kernel reaches may
//! have all of it.
//!
//! - Statics that change, thread-local ones, allocators, `global_asm!`, and symbols that nothing
//!   defines.
//! - Code at the level of a single thread outside of `tilepipe`: inline assembly, and reads of
//!   ranks, lanes and clocks ([`Builder::allow_thread_level_code`] says what that is, and lets it
//!   through). Where the compiler has inlined one function into another, the one whose source has
//!   the code counts; the line tables of an otherwise unoptimised build keep that. A function is
//!   tilepipe's by the crate id in its symbol: one that claims such a symbol for itself, by
//!   `export_name`, is not found out.
//! - Recursion. Nothing notices when a thread's stack on the GPU is full. Calls are followed as the
//!   source has them, before an optimiser could make a loop of them; so also `core`'s sorting of
//!   slices is refused, which recurses. A call through a function pointer or a trait object counts
//!   as one of every function with the same types of parameters whose address is taken anywhere.
//!   None is missed by that, but an object whose method calls that of another object inside of it
//!   is refused where both have one signature, as is most of `core`'s formatting when a kernel
//!   calls it (the message of a panic is not formatted on the GPU).

mod builder;
mod script;
pub mod toolchain;

mod artifact;
mod error;

mod architecture;
mod assemble;
mod compile;
mod ir;
mod link;
mod process;
mod report;

pub use artifact::{Artifact, Cubin, Image};
pub use builder::{Builder, build_all};
pub use error::Error;
pub use report::{FunctionReport, KernelReport, PtxasMessage};
pub use script::{build_all_in_script, build_in_script};
