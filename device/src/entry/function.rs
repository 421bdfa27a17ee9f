//! What a kernel function's type says, and the two ways to run one.

use super::contract::{ContractOf, contract};
use super::{Entry, Parameter, run};
use crate::engine;
use crate::fault::Text;
use crate::group::block::Block;
use crate::isa;
use crate::memory::{Layout, Shared};

/// What a kernel function's type says about its launch.
///
/// # Safety
///
/// The constants follow from the parameters that `call` makes.
#[diagnostic::on_unimplemented(
    message = "a function with these parameters can't be a kernel",
    label = "not the parameters of a kernel",
    note = "a kernel takes `Block<THREADS>` first, then up to nine views (`Tiles`, `Halos`, `Tiles2D`, `TilesMut`, ..) and values, \
            then at most one `Shared`, each of a valid type",
    note = "a value is a number, a `bool`, an array, or a struct with `#[derive(Clone, Copy, tilepipe::Element)]` and `#[repr(C)]`, no `char` \
            and no enum; one of more than 16 bytes is a `Constant`",
    note = "a view lives for one launch: its type names no lifetime, such as `'static`, also not behind an alias"
)]
pub unsafe trait KernelFunction<Arguments>: Copy + Send + Sync + 'static {
    /// Threads per block.
    const THREADS: u32;
    /// Bytes of shared memory.
    const SHARED_BYTES: usize;
    /// Alignment of the shared memory in bytes.
    const SHARED_ALIGNMENT: usize;
    /// The parameters beside the block and the shared memory.
    #[cfg(not(target_arch = "nvptx64"))]
    const PARAMETERS: &'static [crate::launch::ParameterInfo];
    /// How many parameters there are beside the block and the shared memory.
    const COUNT: usize;
    /// All of this as text.
    #[doc(hidden)]
    const CONTRACT: Text;

    /// Runs the kernel in the calling block.
    ///
    /// # Safety
    ///
    /// As for [`run`]; `raw` has the address of each parameter's `Raw`, aligned for it, which the
    /// launch checked and which holds for the whole of it, in a launch of `THREADS` threads per
    /// block with `SHARED_BYTES` of shared memory.
    unsafe fn call(self, raw: &[*const u8]);
}

/// A function that takes these arguments. (With a second `Fn` bound beside that of one lifetime the
/// compiler could not infer which one is meant.)
pub trait CallWith<Arguments> {
    /// Calls it.
    fn call_with(self, arguments: Arguments);
}

macro_rules! call_with {
    ($($argument:ident)*) => {
        impl<F: FnOnce($($argument),*), $($argument),*> CallWith<($($argument,)*)> for F {
            #[inline(always)]
            #[expect(non_snake_case, reason = "each argument has the name of its type")]
            fn call_with(self, ($($argument,)*): ($($argument,)*)) {
                self($($argument),*);
            }
        }
    };
}
call_with!(A);
call_with!(A B);
call_with!(A B C);
call_with!(A B C D);
call_with!(A B C D E);
call_with!(A B C D E G);
call_with!(A B C D E G H);
call_with!(A B C D E G H I);
call_with!(A B C D E G H I J);
call_with!(A B C D E G H I J K);
call_with!(A B C D E G H I J K M);

macro_rules! kernel_functions {
    ($($argument:ident $index:literal)*) => {
        kernel_functions!(@one [] [0] [1] [] $($argument $index)*);
        kernel_functions!(@one [L: Layout] [L::BYTES] [L::ALIGNMENT] [L] $($argument $index)*);
    };
    (@one [$($layout:tt)*] [$bytes:expr] [$alignment:expr] [$($shared:ident)?] $($argument:ident $index:literal)*) => {
        // SAFETY: the constants are those of the types that `call` passes, at another lifetime.
        unsafe impl<'k, F, const THREADS: usize, $($argument: Parameter<'k>,)* $($layout)*>
            KernelFunction<(Block<'k, THREADS>, $($argument,)* $(Shared<'k, $shared>,)?)> for F
        where
            F: Fn(Block<'k, THREADS>, $($argument,)* $(Shared<'k, $shared>,)?) + Copy + Send + Sync + 'static,
            F: for<'x> CallWith<(Block<'x, THREADS>, $($argument::At<'x>,)* $(Shared<'x, $shared>,)?)>,
        {
            const THREADS: u32 = THREADS as u32;
            const SHARED_BYTES: usize = $bytes;
            const SHARED_ALIGNMENT: usize = $alignment;
            #[cfg(not(target_arch = "nvptx64"))]
            const PARAMETERS: &'static [crate::launch::ParameterInfo] = &[$($argument::INFO),*];
            const COUNT: usize = <[usize]>::len(&[$($index),*]);
            const CONTRACT: Text = contract(THREADS, ($bytes, $alignment), &[$($argument::LAYOUT),*]);

            #[inline(always)]
            unsafe fn call(self, raw: &[*const u8]) {
                let _ = raw;
                let body = |entry: Entry<'_>| {
                    // SAFETY: made once, at the entry point of a launch of `THREADS` threads per
                    // block.
                    let block = unsafe { entry.block::<THREADS>() };
                    self.call_with((
                        block,
                        $(
                            // SAFETY: made once, from what the launch checked for a parameter of
                            // this type.
                            unsafe { entry.parameter::<$argument::At<'_>>(raw[$index]) },
                        )*
                        $(
                            // SAFETY: made once, in a launch with this much shared memory.
                            unsafe { entry.shared::<$shared>() },
                        )?
                    ));
                };
                // SAFETY: the caller's promise; the body makes one block, one of each parameter,
                // and one shared memory.
                unsafe { run(body) };
                $(
                    if <$shared as Layout>::STORES {
                        engine::drain_stores();
                    }
                )?
            }
        }
    };
}
kernel_functions!();
kernel_functions!(A 0);
kernel_functions!(A 0 B 1);
kernel_functions!(A 0 B 1 C 2);
kernel_functions!(A 0 B 1 C 2 D 3);
kernel_functions!(A 0 B 1 C 2 D 3 E 4);
kernel_functions!(A 0 B 1 C 2 D 3 E 4 G 5);
kernel_functions!(A 0 B 1 C 2 D 3 E 4 G 5 H 6);
kernel_functions!(A 0 B 1 C 2 D 3 E 4 G 5 H 6 I 7);
kernel_functions!(A 0 B 1 C 2 D 3 E 4 G 5 H 6 I 7 J 8);

/// The launch bounds of a kernel function as the builder reads them: the threads per block, the
/// minimum number of blocks per multiprocessor, and the maximum number of registers per thread. A
/// bound that is not given is `u32::MAX`.
pub const fn bounds<F: KernelFunction<A>, A>(
    _: &F,
    min_blocks: Option<usize>,
    max_registers: Option<usize>,
) -> [u32; 3] {
    const NOT_GIVEN: u32 = u32::MAX;
    const fn word(value: Option<usize>) -> u32 {
        match value {
            // A larger number is just as invalid.
            Some(value) if value >= NOT_GIVEN as usize => NOT_GIVEN - 1,
            Some(value) => value as u32,
            None => NOT_GIVEN,
        }
    }
    [F::THREADS, word(min_blocks), word(max_registers)]
}

/// Runs a kernel function in the calling block: all that an entry point does.
///
/// It also tells the builder the function's contract, which it writes beside the entry point. The
/// builder accepts no entry point that does anything but to call this.
///
/// # Safety
///
/// As for [`KernelFunction::call`]: the launch compared the contract and checked the arguments.
#[inline(always)]
pub unsafe fn enter<F: KernelFunction<A>, A, const PARAMETERS: usize>(kernel: F, raw: [*const u8; PARAMETERS]) {
    const { assert!(PARAMETERS == F::COUNT, "an entry point has the parameters of its kernel") };
    const { assert!(size_of::<F>() == 0, "a kernel is a function, not a pointer to one or a closure with captures") };
    isa::contract::<ContractOf<F, A>>();
    // SAFETY: the caller's promise.
    unsafe { kernel.call(&raw) };
}

/// Describes a kernel function as an instance: a crate's name and version, the kernel's name, the
/// symbol of its PTX entry, its generic arguments and its parameters' names.
///
/// # Safety
///
/// A PTX entry `symbol` whose contract is that of `kernel`, in a crate of this name and version,
/// enters a kernel function of the same parameters, threads and shared memory, and does nothing
/// else.
#[cfg(not(target_arch = "nvptx64"))]
pub const unsafe fn instance<F: KernelFunction<A>, A>(
    kernel: F,
    package: (&'static str, &'static str),
    name: &'static str,
    symbol: &'static str,
    generics: &'static [(&'static str, &'static str)],
    parameters: &'static [&'static str],
) -> crate::launch::Instance {
    use crate::launch::{Contract, Instance, Parts};

    // A value of the function's type exists; `on_cpu` makes another one.
    let _ = kernel;
    let (package, version) = package;
    // SAFETY: `on_cpu` calls the function that the description was made of; of the PTX entry it is
    // the caller's promise.
    unsafe {
        Instance::new(Parts {
            kernel: name,
            symbol,
            generics,
            names: parameters,
            parameters: F::PARAMETERS,
            threads: F::THREADS,
            shared_bytes: F::SHARED_BYTES,
            shared_alignment: F::SHARED_ALIGNMENT,
            contract: Some(Contract { package, version, text: const { F::CONTRACT.as_bytes() } }),
            cpu: Some(on_cpu::<F, A>),
        })
    }
}

/// As [`instance`], for a kernel without code for the CPU in the program.
///
/// # Safety
///
/// As for [`instance`].
#[cfg(not(target_arch = "nvptx64"))]
pub const unsafe fn instance_without_cpu<F: KernelFunction<A>, A>(
    kernel: F,
    package: (&'static str, &'static str),
    name: &'static str,
    symbol: &'static str,
    generics: &'static [(&'static str, &'static str)],
    parameters: &'static [&'static str],
) -> crate::launch::Instance {
    use crate::launch::{Instance, Parts};

    // SAFETY: the caller's promise.
    let whole = unsafe { instance(kernel, package, name, symbol, generics, parameters) };
    // SAFETY: the same entry, and nothing runs on the CPU.
    unsafe { Instance::new(Parts { cpu: None, ..whole.parts() }) }
}

/// Runs a kernel function for one block of the CPU executor.
///
/// # Safety
///
/// As for [`KernelFunction::call`]; there is a value of type `F`.
#[cfg(not(target_arch = "nvptx64"))]
unsafe fn on_cpu<F: KernelFunction<A>, A>(raw: &[crate::launch::RawParameter]) {
    use crate::launch::{ParameterKind, RawConstant};

    const { assert!(size_of::<F>() == 0, "a kernel is a function, not a pointer to one or a closure with captures") };
    // SAFETY: the type has no bytes (asserted), so every aligned address holds a value if one
    // exists. One exists (the caller's promise), and it is `Copy` and usable on every thread
    // (`Send`, `Sync`).
    let kernel = unsafe { core::ptr::NonNull::<F>::dangling().read() };
    let mut addresses = [core::ptr::null(); 9];
    for ((address, raw), info) in addresses.iter_mut().zip(raw).zip(F::PARAMETERS) {
        *address = match info.kind {
            ParameterKind::Constant => raw.get::<RawConstant>().address as *const u8,
            ParameterKind::Input | ParameterKind::Output | ParameterKind::Reduction | ParameterKind::Scalar => {
                raw.as_ptr()
            }
        };
    }
    // SAFETY: the caller's promise; an argument is aligned for every `Raw`, and so are the bytes of
    // a constant, for the largest alignment that one has.
    unsafe { kernel.call(&addresses) };
}
