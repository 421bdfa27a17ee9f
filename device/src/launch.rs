//! What a launcher knows of a compiled kernel.
//!
//! `#[kernel]` describes every instance of a kernel as a constant [`Instance`]; `tilepipe-host`
//! reads it, checks the arguments against it, and either launches the PTX entry of that name or
//! runs the kernel's body for every block. Programs need these types only when they choose an
//! instance at run time; otherwise the typed `launch` function that `#[kernel]` generates is
//! enough.

use core::any::TypeId;
use core::marker::PhantomData;

use crate::element::Element;
pub use crate::entry::{LAUNCH_BYTES, Scalar};
#[cfg_attr(doc, doc(hidden))]
pub use crate::entry::{RawConstant, RawElements, RawParameter, RawRows, RawTensor, VALUE_ALIGNMENT};
use crate::fault::Text;
pub use crate::isa::ElementKind;
use crate::isa::{DIMENSIONS, WARP};
use crate::memory::Shared;
use crate::role::{RoleMap, map::registers};
use crate::stage::contents::Contents;
use crate::stage::stages::Stages;
use crate::tensor::{Extents, Swizzle};
use crate::tile::Tile;

/// How a kernel uses one of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A view that is read for the whole launch, such as [`Tiles`](crate::Tiles).
    Input,
    /// A view that this launch alone writes, such as [`TilesMut`](crate::TilesMut).
    Output,
    /// Memory that the threads of this launch add to, and that nobody else touches: a
    /// [`Reduction`](crate::Reduction).
    Reduction,
    /// A plain value, the same for every thread.
    Scalar,
    /// A [`Constant`](crate::Constant): a value that is read where it is passed.
    Constant,
}

impl ParameterKind {
    /// Returns whether a launch changes what the argument holds. No other argument may use its
    /// memory then, and launches that use it run one after the other.
    pub const fn writes(self) -> bool {
        match self {
            ParameterKind::Output | ParameterKind::Reduction => true,
            ParameterKind::Input | ParameterKind::Scalar | ParameterKind::Constant => false,
        }
    }
}

/// One parameter of a kernel, as its type says.
#[derive(Clone, Copy, Debug)]
pub struct ParameterInfo {
    /// Input, output, reduction or value.
    pub kind: ParameterKind,
    /// The identity of the element type (of the value's type for a value).
    pub element: fn() -> TypeId,
    /// The element type's name, for messages.
    pub element_name: fn() -> &'static str,
    /// One element's size in bytes.
    pub element_bytes: usize,
    /// The least alignment of the base address in bytes; 1 for a value.
    pub alignment: usize,
    /// For a two-dimensional view: the number of bytes that the pitch, from one row's start to the
    /// next one's, is a multiple of.
    pub row_alignment: Option<usize>,
    /// Rows and elements from one tile's start to the next one's in a plane; `[1, 1]` for a value.
    pub tile: [usize; 2],
    /// For a [`Tensor`](crate::Tensor) or a [`TensorMut`](crate::TensorMut): the boxes that its map
    /// is encoded for.
    pub boxes: Option<Boxes>,
    /// Whether the result depends on the order of the blocks: that of
    /// [`Unordered`](crate::reduce::Unordered) operations does.
    pub unordered: bool,
    /// Whether the launch may pass nothing: for a
    /// [`RowValuesMut`](crate::product::RowValuesMut).
    pub optional: bool,
}

/// The boxes that the copy engine copies from a tensor, or to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// Dimensions of the array, 1 to 5.
    pub dimensions: u32,
    /// Elements of a row of a box, its rows, planes and so on, each 1 to 256; 1 where there are not
    /// so many dimensions.
    pub extents: [u32; 5],
    /// As `extents`, from one box's start to the next one's.
    pub strides: [u32; 5],
    /// The bytes of the swizzle: 0, 32, 64 or 128.
    pub swizzle: u32,
    /// What the engine takes an element for: bits, but for a
    /// [`TileReduction`](crate::TileReduction).
    pub element: ElementKind,
}

impl Boxes {
    /// Returns the number of elements of a box, its halo included.
    pub fn elements(&self) -> u64 {
        self.extents.iter().map(|extent| u64::from(*extent)).product()
    }
}

impl ParameterInfo {
    /// Returns how many dimensions it has: 0 for a value.
    pub const fn dimensions(&self) -> usize {
        match (self.kind, self.boxes, self.row_alignment) {
            (ParameterKind::Scalar | ParameterKind::Constant, ..) => 0,
            (ParameterKind::Input | ParameterKind::Output | ParameterKind::Reduction, Some(boxes), _) => {
                boxes.dimensions as usize
            }
            (ParameterKind::Input | ParameterKind::Output | ParameterKind::Reduction, None, None) => 1,
            (ParameterKind::Input | ParameterKind::Output | ParameterKind::Reduction, None, Some(_)) => 2,
        }
    }

    /// Describes a parameter of kind `kind` with elements of type `T`.
    pub(crate) const fn of<T: 'static>(kind: ParameterKind, alignment: usize) -> Self {
        ParameterInfo {
            kind,
            element: TypeId::of::<T>,
            element_name: core::any::type_name::<T>,
            element_bytes: size_of::<T>(),
            alignment,
            row_alignment: None,
            tile: [1, 1],
            boxes: None,
            unordered: false,
            optional: false,
        }
    }

    /// Describes a tensor of elements `T` in boxes of extents `X`, swizzled as `W` says, which is
    /// read or written, and starts at a multiple of `alignment` bytes, as its rows do; the engine
    /// takes its elements for `element`, and copies `extents` at once.
    pub(crate) const fn of_tensor<T: Element, X: Extents, W: Swizzle>(
        kind: ParameterKind,
        element: ElementKind,
        extents: [usize; DIMENSIONS],
        alignment: usize,
    ) -> Self {
        let [columns, rows, planes, fourth, fifth] = extents;
        let outer = [planes as u32, fourth as u32, fifth as u32];
        let [down, across] = X::STRIDE;
        let swizzle = match W::SPAN {
            Some(span) => span as u32,
            None => 0,
        };
        ParameterInfo {
            row_alignment: Some(alignment),
            tile: X::STRIDE,
            boxes: Some(Boxes {
                dimensions: X::DIMENSIONS as u32,
                extents: [columns as u32, rows as u32, outer[0], outer[1], outer[2]],
                strides: [across as u32, down as u32, outer[0], outer[1], outer[2]],
                swizzle,
                element,
            }),
            unordered: match element {
                ElementKind::F32 | ElementKind::F64 | ElementKind::F16 | ElementKind::Bf16 => true,
                ElementKind::Bits | ElementKind::U32 | ElementKind::I32 | ElementKind::U64 | ElementKind::I64 => false,
            },
            ..Self::of::<T>(kind, alignment)
        }
    }

    /// Describes memory of elements `T` that starts at a multiple of `alignment` bytes, to which
    /// threads add by an operation that may be `unordered`.
    pub(crate) const fn of_reduction<T: Element>(unordered: bool, alignment: usize) -> Self {
        ParameterInfo { unordered, ..Self::of::<T>(ParameterKind::Reduction, alignment) }
    }

    /// Describes a view of tiles of shape `S` that starts at a multiple of `alignment` bytes, and
    /// whose elements lie in one row or in `rows` that start likewise.
    pub(crate) const fn of_view<S: Tile>(kind: ParameterKind, rows: bool, alignment: usize) -> Self {
        let row_alignment = if rows { Some(alignment) } else { None };
        ParameterInfo { row_alignment, tile: [S::ROW_STRIDE, S::STRIDE], ..Self::of::<S::Element>(kind, alignment) }
    }
}

/// One compiled instance of a kernel.
///
/// Only `#[kernel]` makes one: what an instance says is what a launch relies on.
///
/// # Invariants
///
/// 0. `cpu`, if it is there, runs the kernel function that the other fields describe.
/// 1. A PTX entry `symbol` with this `contract` runs a kernel function of these parameters, threads
///    and shared memory, and does nothing else; without a contract, any entry of that symbol does.
///    (Which function is not promised: a path may name one for the CPU and another for the GPU, of
///    one type.)
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    parts: Parts,
}

/// What an [`Instance`] is made of: filled in by `#[kernel]`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    pub kernel: &'static str,
    pub symbol: &'static str,
    pub generics: &'static [(&'static str, &'static str)],
    pub names: &'static [&'static str],
    pub parameters: &'static [ParameterInfo],
    pub threads: u32,
    pub shared_bytes: usize,
    pub shared_alignment: usize,
    pub contract: Option<Contract>,
    /// What runs it for one block on the CPU; `None` where that was not compiled.
    pub cpu: Option<unsafe fn(&[RawParameter])>,
}

/// What a module's entry point must say of itself to be launched as an instance.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The kernel crate's package.
    pub package: &'static str,
    /// The package's version.
    pub version: &'static str,
    /// What follows from the kernel's type: `entry::contract`.
    pub text: &'static [u8],
}

impl Contract {
    /// The whole text, as the builder writes it beside the entry point.
    pub fn whole(&self) -> String {
        format!("crate={} {};{}", self.package, self.version, String::from_utf8_lossy(self.text))
    }
}

/// The names of the module's constants that hold the contracts: this and the entry's symbol.
#[doc(hidden)]
pub const CONTRACT_PREFIX: &str = "__tilepipe_contract__";

/// The most threads that a block has on any GPU.
const MOST_THREADS: usize = 1024;
/// The most bytes of shared memory that a block has on any GPU: 227 KiB, on Hopper and Blackwell.
const MOST_SHARED_BYTES: usize = 227 << 10;

/// Refuses, when the constant that calls it is evaluated, a kernel whose blocks no GPU has room
/// for.
#[doc(hidden)]
#[track_caller]
pub const fn check_limits(instances: &[Instance]) {
    let mut at = 0;
    while at < instances.len() {
        let (kernel, threads) = (instances[at].kernel(), instances[at].threads() as usize);
        let bytes = instances[at].shared_bytes();
        let text = Text::new().text("the kernel `").text(kernel);
        if threads > MOST_THREADS {
            let text = text.text("` has blocks of ").number(threads).text(" threads: a block has ");
            text.number(MOST_THREADS).text(" at most on any GPU").fail();
        }
        if bytes > MOST_SHARED_BYTES {
            let text = text.text("` keeps ").number(bytes).text(" bytes in shared memory: a block has ");
            let text = text.number(MOST_SHARED_BYTES).text(" at most on any GPU, and fewer on most;");
            text.text(" take fewer stages, or smaller tiles").fail();
        }
        at += 1;
    }
}

/// Refuses, when the constant that calls it is evaluated, a kernel that divides a block into warps
/// which is not made of them.
#[doc(hidden)]
#[track_caller]
pub const fn check_warps(kernel: &str, threads: usize) {
    if !threads.is_multiple_of(WARP) {
        let text =
            Text::new().text("the kernel `").text(kernel).text("` divides its block into warps of 32 threads: it has ");
        text.number(threads).text(" threads, which are no multiple of that").fail();
    }
}

/// Refuses, when the constant that calls it is evaluated, a kernel that partitions a block by a map
/// of roles that does not fit it.
#[doc(hidden)]
#[track_caller]
pub const fn check_roles<M: RoleMap>(kernel: &str, threads: usize) {
    let text = Text::new().text("the roles of the kernel `").text(kernel);
    if M::LEAST == 0 {
        text.text("` have at least one thread each").fail();
    }
    if !M::FIT_WARPS {
        let text = text.text("` are whole warps, of 32 threads: take multiples of 32, or `FirstThreads` or");
        text.text(" `EvenOdd` for other sizes").fail();
    }
    if M::THREADS != threads {
        let text = text.text("` have ").number(M::THREADS).text(" threads, and its block has ").number(threads);
        text.text(": their sizes add up to the block's").fail();
    }
    if let Some(roles) = M::REGISTERS
        && let Some(text) = registers::problem(text.text("`"), roles, threads)
    {
        text.fail();
    }
}

/// Refuses, when the constant that calls it is evaluated, a kernel that reads tiles of these stages
/// by parts which don't divide among its threads: all of a stage's, or the one of a number.
#[doc(hidden)]
#[track_caller]
pub const fn check_own<C: Contents, const COUNT: usize, E, S, P>(
    kernel: &str,
    threads: usize,
    number: Option<usize>,
    _: PhantomData<Shared<'static, Stages<C, COUNT, E, S>, P>>,
) {
    let text = Text::new().text("the kernel `").text(kernel);
    let (mut at, end) = match number {
        Some(number) => (number, number.saturating_add(1)),
        None => (0, C::SHAPES.len()),
    };
    while at < end && at < C::SHAPES.len() {
        let shape = &C::SHAPES[at];
        if !shape.len.is_multiple_of(threads) {
            let text = text.text("` has `own` share out tiles of ").number(shape.len).text(" elements among ");
            let text = text.number(threads).text(" threads: their number is to divide the length;");
            text.text(if C::SHAPES.len() > 1 && number.is_none() {
                " of one tile of several there is `own_of::<NUMBER>(&t)`"
            } else {
                " at `BlockScope` read `tile[i]`"
            })
            .fail();
        }
        // A box has no parts of any number: its type says so.
        if !shape.has_parts(threads) && !shape.boxed {
            let text = text.text("` reads tiles by `own` whose elements don't lie in a row: it wants rows");
            text.text(" without padding, and no columns; at `BlockScope` read `tile[i]`").fail();
        }
        at += 1;
    }
}

impl Instance {
    /// Makes the description of a kernel.
    ///
    /// # Safety
    ///
    /// The invariants hold: `parts.cpu`, called inside a block's context with arguments that match
    /// `parts.parameters`, is sound, and a PTX entry `parts.symbol` with `parts.contract` is one of
    /// invariant 1.
    pub const unsafe fn new(parts: Parts) -> Self {
        assert!(parts.names.len() == parts.parameters.len(), "each parameter has a name");
        Instance { parts }
    }

    /// Returns the kernel function's name, for example `with_staging`.
    pub const fn kernel(&self) -> &'static str {
        self.parts.kernel
    }

    /// Returns the name of its PTX entry, which begins with its crate's: for example
    /// `my_kernels$with_staging__i32_256`.
    pub const fn symbol(&self) -> &'static str {
        self.parts.symbol
    }

    /// Returns the kernel's name with its generic arguments, for example `with_staging__i32_256`.
    pub fn name(&self) -> &'static str {
        self.parts.symbol.split_once('$').map_or(self.parts.symbol, |(_, name)| name)
    }

    /// Returns its generic arguments in order, as name and value: `("T", "i32")`,
    /// `("THREADS", "256")`.
    pub const fn generics(&self) -> &'static [(&'static str, &'static str)] {
        self.parts.generics
    }

    /// Returns its parameters in order with their names: what a launch passes, without the block
    /// and its shared memory.
    #[inline]
    pub fn parameters(
        &self,
    ) -> impl ExactSizeIterator<Item = (&'static str, &'static ParameterInfo)> + DoubleEndedIterator {
        self.parts.names.iter().copied().zip(self.parts.parameters)
    }

    /// What it is made of, for a description of another entry point that does the same.
    #[doc(hidden)]
    pub const fn parts(&self) -> Parts {
        self.parts
    }

    /// What the module's entry point must say of itself.
    #[doc(hidden)]
    pub const fn contract(&self) -> Option<Contract> {
        self.parts.contract
    }

    /// Returns the number of threads per block; the PTX entry admits no other (`.reqntid`).
    pub const fn threads(&self) -> u32 {
        self.parts.threads
    }

    /// Returns the bytes of dynamic shared memory that a block needs.
    pub const fn shared_bytes(&self) -> usize {
        self.parts.shared_bytes
    }

    /// Returns the alignment in bytes of that shared memory, at most 128.
    pub const fn shared_alignment(&self) -> usize {
        self.parts.shared_alignment
    }

    /// Returns the value of the generic argument `name`, if the kernel has one of that name.
    pub fn generic(&self, name: &str) -> Option<&'static str> {
        self.parts.generics.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Whether the program has its code for the CPU: always, unless the kernel crate was compiled
    /// with `TILEPIPE_INSTANCES` (see [`kernel`](crate::kernel)).
    pub const fn runs_on_cpu(&self) -> bool {
        self.parts.cpu.is_some()
    }

    /// The kernel's body for one block on the CPU.
    pub(crate) fn cpu(&self) -> Option<unsafe fn(&[RawParameter])> {
        self.parts.cpu
    }
}

/// Says that a kernel was built for these generic arguments.
///
/// `#[kernel]` implements it for every entry of `instances(..)`. Another implementation can only
/// choose which existing instance a key stands for.
#[diagnostic::on_unimplemented(
    message = "this kernel was not built for these generic arguments",
    label = "no such instance",
    note = "add the values to the `instances(..)` list of the kernel's `#[kernel]` attribute, or launch one that is listed"
)]
pub trait Compiled {
    /// The instance.
    const INSTANCE: Instance;
}
