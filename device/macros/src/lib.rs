//! The `#[kernel]` attribute and the `Element` derive of tilepipe.
//!
//! `#[kernel]` declares and leaves all logic to functions of `tilepipe::entry` and `tilepipe_host`:
//! the function under it stays as written, and beside it comes a module (of the same name, or of
//! one that `module = name` gives) with the kernel's instances, its PTX entry points (on the GPU)
//! and its typed `launch` (elsewhere).

mod bounds;
mod built;
mod checks;
mod computed;
mod element;
mod instances;
mod package;
mod parts;
mod selection;
mod signature;

use proc_macro::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{DeriveInput, ItemFn, parse_macro_input};

use crate::bounds::Bounds;
use crate::instances::{Arguments, Instance};
use crate::signature::Signature;

/// Makes a function a GPU kernel.
///
/// ```
/// use tilepipe::{Block, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};
/// use tilepipe_host::{Device, Schedule};
///
/// #[kernel(instances(THREADS = [128, 256]))]
/// pub fn scale<const THREADS: usize>(
///     block: Block<THREADS>,
///     input: Tiles<f32, THREADS>,
///     factor: f32,
///     mut out: TilesMut<f32, THREADS>,
///     shared: Shared<Stages<[f32; THREADS], 1, LoadStore>>,
/// ) {
///     let tiles = input.for_block(&block);
///     let mut results = out.for_block(&block);
///     let _ = shared.pipeline(&block).for_each(
///         tiles.len(),
///         |stage, i| stage.copy(tiles.get(i)),
///         |tile, i| {
///             let result = results.get_mut(i);
///             block.threads(|t| result.set(&t, factor * tile[t.rank()]));
///         },
///     );
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = Device::cpu(Schedule::Lazy);
///     let (input, mut out) = (device.upload(&[2.0_f32; 300])?, device.zeroed(300)?);
///     scale::launch::<128>(&device.stream()?, 2, &input, 1.5, &mut out)?;
///     assert_eq!(out.download()?, [3.0; 300]);
///     assert_eq!(scale::INSTANCES[1].name(), "scale__256");
///     Ok(())
/// }
/// ```
///
/// The function takes a `Block` first, then views and values (a `Constant` where they have more
/// than 16 bytes), then at most one `Shared`; it returns nothing and may be generic. Each
/// `instances(..)` list gives values for every generic parameter; all their combinations are
/// compiled. A number may be computed from those of other parameters: `instances(THREADS = [128,
/// 256], LEN = [4 * THREADS])` makes two instances. Several whose values go together are a tuple:
/// `instances((THREADS, ROWS) = [(128, 64), (256, 32)])` makes two as well. A kernel without
/// generic parameters needs no list.
///
/// # Launch bounds
///
/// The block size is part of the function's type, and the PTX always demands it (`.reqntid`). Two
/// optional arguments beside `instances(..)` bound the registers of a thread:
///
/// | argument | in CUDA C++ | in the PTX | what it says |
/// |---|---|---|---|
/// | `min_blocks = 2` | `__launch_bounds__(.., 2)` | `.minnctapersm 2` | registers for 2 blocks |
/// | `max_registers = 64` | `__maxnreg__(64)` | `.maxnreg 64` | at most 64 for a thread |
///
/// With `min_blocks` the registers of a thread are limited, so that this number of blocks fits on a
/// multiprocessor as far as registers are concerned. Values that do not fit are spilled to local
/// memory, and the build warns of a spill. With both, the tighter one holds (`nvcc` refuses them
/// together, `ptxas` does not). The values are constant expressions of type `usize`, in which the
/// kernel's generic parameters may stand:
///
/// ```
/// # use tilepipe::{Block, TilesMut, kernel};
/// #[kernel(instances(THREADS = [128, 256]), min_blocks = 1024 / THREADS, max_registers = 64)]
/// pub fn fill<const THREADS: usize>(block: Block<THREADS>, mut out: TilesMut<u32, THREADS>) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let result = results.get_mut(i);
///         block.threads(|t| result.set(&t, 7));
///     }
/// }
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// #     let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// #     let mut out = device.zeroed(300)?;
/// #     fill::launch::<128>(&device.stream()?, 2, &mut out)?;
/// #     assert_eq!(out.download()?, [7; 300]);
/// #     Ok(())
/// # }
/// ```
///
/// `min_blocks` is 1 to 32, and that many blocks have at most 2048 threads, in whole warps.
/// `max_registers` is 24 to 255, and no more than a multiprocessor has for one block: 64 for 1024
/// threads. The macro refuses other literals, and the builder refuses such values of other
/// expressions. For GPUs with less room than that (`sm_86` has 16 blocks and 1536 threads per
/// multiprocessor) `ptxas` drops a `min_blocks` that is too large, and the build warns of it. The
/// CPU ignores both.
///
/// # What stands beside it
///
/// Beside the function stands a module of its name: `scale::launch::<128>(&stream, grid, ..)`
/// launches an instance with checked arguments, and `scale::INSTANCES` lists what was built. The
/// calling crate depends on `tilepipe`, and on `tilepipe-host` where it is not built for `nvptx64`.
///
/// `#[kernel(module = name)]` gives the module another name, where its own is taken: by another
/// module beside the kernel, or by the one that the kernel is in.
///
/// ```
/// mod scale {
///     use tilepipe::{Block, TilesMut, kernel};
///
///     #[kernel(module = scale_kernel)]
///     pub fn scale(block: Block<64>, factor: u32, mut out: TilesMut<u32, 64>) {
///         let mut results = out.for_block(&block);
///         for i in 0..results.len() {
///             let result = results.get_mut(i);
///             block.threads(|t| result.set(&t, factor * t.rank() as u32));
///         }
///     }
/// }
///
/// use scale::*;
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// #     let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// #     let mut out = device.zeroed(64)?;
/// scale_kernel::launch(&device.stream()?, 1, 3, &mut out)?;
/// #     assert_eq!(out.download()?[..3], [0, 3, 6]);
/// #     Ok(())
/// # }
/// ```
///
/// # Fewer instances for the CPU
///
/// A crate with hundreds of instances takes minutes to compile for the CPU. While the environment
/// variable `TILEPIPE_INSTANCES` is set, only those that it names get code for the CPU; a launch of
/// another one on the CPU is an error of that launch. All are still listed, and nothing changes for
/// a GPU. Its value names kernels, and then generic arguments with the values wanted:
/// `scale,sum;T=f32;THREADS=128,256`. Of the arguments `T`, `THREADS` and `STAGES` a kernel that
/// has none of the values keeps all of its own; of any other it keeps the instances with these
/// values.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    syn::parse(attribute)
        .and_then(|arguments| expand(&arguments, &function))
        .unwrap_or_else(|error| {
            let error = error.into_compile_error();
            quote!(#function #error)
        })
        .into()
}

/// Makes a struct an element of tiles, or a value that a kernel takes.
///
/// The struct is `#[repr(C)]` or `#[repr(transparent)]`, `Copy`, not generic, and made of elements
/// without padding; it is aligned to at most 16 bytes. All of that is checked, so no `unsafe` is
/// needed. The derive also makes the struct plain data (`bytemuck::Pod`). An element of a tile, and
/// a value that is passed as it is, have at most 16 bytes: a larger struct is passed as a
/// `Constant`.
///
/// ```
/// use tilepipe::{Block, Element, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};
/// use tilepipe_host::{Device, Schedule};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// pub struct Complex {
///     re: f32,
///     im: f32,
/// }
///
/// #[kernel]
/// pub fn conjugate(
///     block: Block<128>,
///     input: Tiles<Complex, 128>,
///     mut out: TilesMut<Complex, 128>,
///     shared: Shared<Stages<[Complex; 128], 1, LoadStore>>,
/// ) {
///     let tiles = input.for_block(&block);
///     let mut results = out.for_block(&block);
///     let _ = shared.pipeline(&block).for_each(
///         tiles.len(),
///         |stage, i| stage.copy(tiles.get(i)),
///         |tile, i| {
///             let result = results.get_mut(i);
///             block.threads(|t| {
///                 let Complex { re, im } = tile[t.rank()];
///                 result.set(&t, Complex { re, im: -im });
///             });
///         },
///     );
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = Device::cpu(Schedule::Lazy);
///     let input = device.upload(&[Complex { re: 1.0, im: 2.0 }; 300])?;
///     let mut out = device.zeroed(300)?;
///     conjugate::launch(&device.stream()?, 2, &input, &mut out)?;
///     assert_eq!(out.download()?, [Complex { re: 1.0, im: -2.0 }; 300]);
///     Ok(())
/// }
/// ```
///
/// A struct with padding does not compile; the message says what to do about it:
///
/// ```compile_fail,E0080
/// #[derive(Clone, Copy, tilepipe::Element)]
/// #[repr(C)]
/// struct Sample {
///     time: f64,
///     channel: u16,
/// }
/// ```
///
/// ```
/// #[derive(Clone, Copy, tilepipe::Element)]
/// #[repr(C)]
/// struct Sample {
///     time: f64,
///     channel: u16,
///     unused: [u8; 6],
/// }
/// ```
#[proc_macro_derive(Element)]
pub fn element(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as DeriveInput);
    element::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The files that this crate's own build script built, as literals, and why there are none: for
/// `tilepipe_host::built_kernels!`.
#[proc_macro]
pub fn built_files(input: TokenStream) -> TokenStream {
    built::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand(arguments: &Arguments, function: &ItemFn) -> syn::Result<proc_macro2::TokenStream> {
    let Arguments { instances: lists, bounds, module } = arguments;
    let signature = Signature::of(function)?;
    let instances = lists.expand(&signature)?;
    bounds.check(&signature)?;
    let (name, visibility) = (&signature.name, &function.vis);
    let module = module.as_ref().unwrap_or(name);
    let summary = format!("The instances of the kernel [`{name}`](fn@{name}) and its typed launch.");
    let entries = instances
        .iter()
        .filter(|_| is_asked_for(&name.to_string()))
        .map(|instance| entry(&signature, instance, bounds));
    let (functions, bounds_on_host) = (bounds.functions(&signature), bounds.on_host(&signature, &instances));
    let checks = checks::of(&signature, function, &instances);
    let launch = launch(&signature, &instances);
    let is_in_sight = module_is_in_sight(module);
    Ok(quote! {
        #function
        #is_in_sight

        #[doc = #summary]
        #visibility mod #module {
            #[allow(unused_imports)]
            use super::*;
            #[doc(hidden)]
            pub use ::tilepipe::entry::KernelModule as __KernelModule;

            #[cfg(target_arch = "nvptx64")]
            const _: () = {
                // So that cargo compiles the crate again when others are asked for.
                const _: ::core::option::Option<&str> = ::core::option_env!(#ASKED_FOR);
                #functions
                #(#entries)*
            };
            #bounds_on_host
            #checks
            #launch
        }
    })
}

/// Refuses, in words, another module of the name of the kernel's: rustc reports two of one name in
/// one place, but not where the second one comes from. If the other one stands first, the name is
/// its, and so the glob import does not bring [`KernelModule`](::tilepipe::entry::KernelModule).
fn module_is_in_sight(module: &proc_macro2::Ident) -> proc_macro2::TokenStream {
    quote_spanned! { module.span() =>
        const _: () = {
            #[allow(unused_imports)]
            use ::tilepipe::entry::AnotherModule as __KernelModule;
            const _: () = {
                #[allow(unused_imports)]
                use self::#module::*;
                ::tilepipe::entry::check_module::<__KernelModule>();
            };
        };
    }
}

/// The builder names the kernel functions that are to have entry points in this variable, with
/// commas between them; without it all have.
const ASKED_FOR: &str = "TILEPIPE_KERNELS";

/// Which instances get code for the CPU: see [`macro@kernel`].
const FOR_CPU: &str = "TILEPIPE_INSTANCES";

fn are_for_cpu(kernel: &str, instances: &[Instance]) -> Vec<bool> {
    let Ok(asked) = std::env::var(FOR_CPU) else { return vec![true; instances.len()] };
    let values = instances.iter().map(|instance| {
        let text = |(name, value): &(proc_macro2::Ident, _)| (name.to_string(), instances::text_of(value));
        instance.values.iter().map(text).collect()
    });
    selection::select(&asked, kernel, &values.collect::<Vec<_>>())
}

fn is_asked_for(kernel: &str) -> bool {
    std::env::var(ASKED_FOR).map_or(true, |kernels| kernels.split(',').any(|one| one == kernel))
}

/// The entry point of one instance (the builder gives it the calling convention of kernels, so that
/// no crate needs an unstable feature for it), and the constant that tells the builder its launch
/// bounds.
fn entry(signature: &Signature, instance: &Instance, bounds: &Bounds) -> proc_macro2::TokenStream {
    let kernel = signature.instance_path(instance);
    let (name, symbol) = (&instance.name, package::symbol(&instance.name));
    let (exported, bounds) = (format!("__tilepipe_bounds__{symbol}"), bounds.of(signature, instance));
    let (entry, constant) = (format_ident!("{name}"), format_ident!("BOUNDS_OF_{name}"));
    let raw: Vec<_> = (0..signature.parameters.len()).map(|index| format_ident!("raw_{index}")).collect();
    quote! {
        #[unsafe(export_name = #symbol)]
        unsafe extern "C" fn #entry(#(#raw: *const u8),*) {
            let (kernel, raw) = (#kernel, [#(#raw),*]);
            // SAFETY: a launch starts this entry point for an instance with the contract of this
            // very function, and has checked the arguments, the block size and the shared memory
            // against that.
            unsafe { ::tilepipe::entry::enter(kernel, raw) }
        }
        #[allow(non_upper_case_globals)]
        #[unsafe(export_name = #exported)]
        static #constant: [u32; 3] = #bounds;
    }
}

/// The description of all instances and the typed launch, for all targets but the GPU.
fn launch(signature: &Signature, instances: &[Instance]) -> proc_macro2::TokenStream {
    let name = &signature.name;
    let kernel_name = name.to_string();
    let count = instances.len();
    let (package, version) = package::name_and_version();
    let (key_generics, key_arguments, key_marker) = signature.key();
    let parameters: Vec<_> = signature.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let on_cpu = are_for_cpu(&kernel_name, instances);
    let descriptions = instances.iter().zip(on_cpu).map(|(instance, on_cpu)| {
        let describe = if on_cpu { quote!(instance) } else { quote!(instance_without_cpu) };
        let kernel = signature.instance_path(instance);
        let symbol = package::symbol(&instance.name);
        let values = instance.values.iter().map(|(name, value)| {
            let (name, value) = (name.to_string(), instances::text_of(value));
            quote!((#name, #value))
        });
        let arguments = instance.values.iter().map(|(_, value)| value);
        quote! {
            impl ::tilepipe::launch::Compiled for Key<#(#arguments),*> {
                const INSTANCE: ::tilepipe::launch::Instance = {
                    let kernel = #kernel;
                    // SAFETY: the builder gives a contract to entry points alone that enter a
                    // kernel of the type that the contract says.
                    unsafe {
                        ::tilepipe::entry::#describe(
                            kernel,
                            (#package, #version),
                            #kernel_name,
                            #symbol,
                            &[#(#values),*],
                            &[#(#parameters),*],
                        )
                    }
                };
            }
        }
    });
    let keys = instances.iter().map(|instance| {
        let arguments = instance.values.iter().map(|(_, value)| value);
        quote!(<Key<#(#arguments),*> as ::tilepipe::launch::Compiled>::INSTANCE)
    });
    let limits = {
        let keys = keys.clone();
        quote_spanned!(name.span() => const _: () = ::tilepipe::launch::check_limits(&[#(#keys),*]);)
    };
    let (generics, predicates) = (signature.launch_generics(), signature.predicates());
    let names: Vec<_> = signature.parameters.iter().map(|parameter| &parameter.name).collect();
    let types: Vec<_> =
        signature.parameters.iter().map(|parameter| signature::with_static_lifetimes(parameter.ty)).collect();
    let summary =
        format!("Launches [`{name}`](fn@{name}) with the blocks of `grid`; returns as soon as it is under way.");
    let typed_launch = if package::lacks_host() {
        let message = format!(
            "the launch of the kernel `{name}` needs the crate `tilepipe-host`: add to Cargo.toml the lines \
             `[target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]` and `tilepipe-host = \"..\"`, of the version of `tilepipe`"
        );
        quote_spanned! { name.span() =>
            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = ::core::compile_error!(#message);
        }
    } else {
        quote! {
            #[doc = #summary]
            ///
            /// # Errors
            ///
            /// If an argument, the grid or the device does not fit the kernel, or an earlier launch
            /// failed: see [`tilepipe_host::Error`](::tilepipe_host::Error).
            #[cfg(not(target_arch = "nvptx64"))]
            pub fn launch<#generics>(
                stream: &::tilepipe_host::Stream,
                grid: impl ::core::convert::Into<::tilepipe_host::Grid>,
                #(#names: impl ::tilepipe_host::Argument<#types>),*
            ) -> ::core::result::Result<(), ::tilepipe_host::Error>
            where
                Key<#key_arguments>: ::tilepipe::launch::Compiled,
                #predicates
            {
                let instance = <Key<#key_arguments> as ::tilepipe::launch::Compiled>::INSTANCE;
                ::tilepipe_host::launch(stream, grid, &instance, [#(#names.bind()),*])
            }
        }
    };
    quote! {
        /// All instances that were built.
        #[cfg(not(target_arch = "nvptx64"))]
        pub static INSTANCES: [::tilepipe::launch::Instance; #count] = [#(#keys),*];

        /// Stands for one choice of the kernel's generic arguments.
        #[cfg(not(target_arch = "nvptx64"))]
        pub struct Key<#key_generics>(#key_marker);

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            // So that cargo compiles the crate again when others are to run on the CPU.
            const _: ::core::option::Option<&str> = ::core::option_env!(#FOR_CPU);
            #(#descriptions)*
            #limits
        };

        #typed_launch
    }
}
