//! The CUDA C++ kernels of `peers/peers.cu`, described so that they launch as ours do.

use std::any::{TypeId, type_name};

use tilepipe::launch::{Instance, ParameterInfo, ParameterKind, Parts, RawParameter};
use tilepipe::{Element, I32x4};

/// Elements of the filter of a convolution.
pub const TAPS: usize = 17;
/// Threads a block of every peer.
pub const THREADS: u32 = 256;

macro_rules! peers {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal: $inputs:ident $element:ty;)*) => {
        $(
            $(#[$doc])*
            // SAFETY: `peers.cu` has this entry: one or two input views and an output view of this
            // element type, each a base address and a length, any length, launched
            // with 256 threads and no dynamic shared memory; it reads and writes nothing else.
            // `on_cpu` does nothing but panic.
            pub const $name: Instance = unsafe {
                Instance::new(Parts {
                    kernel: $symbol,
                    symbol: $symbol,
                    generics: &[],
                    names: Names::$inputs,
                    parameters: &Views::<$element>::$inputs,
                    threads: THREADS,
                    shared_bytes: 0,
                    shared_alignment: 16,
                    contract: None,
                    cpu: Some(on_cpu),
                })
            };
        )*

        /// The symbols of all peers, for the test that compares them with the source.
        #[cfg(test)]
        const SYMBOLS: &[(&str, &str, &str)] = &[$(($symbol, stringify!($inputs), stringify!($element))),*];
    };
}

peers! {
    /// Load, barrier, compute, barrier.
    PLAIN_I32 = "plain_i32": ONE i32;
    /// [`PLAIN_I32`] with 16-byte elements.
    PLAIN_I32X4 = "plain_i32x4": ONE I32x4;
    /// The moving average through shared memory, without asynchronous copies.
    AVERAGE_I32 = "average_i32": ONE i32;
    /// [`AVERAGE_I32`] with 16-byte elements.
    AVERAGE_I32X4 = "average_i32x4": ONE I32x4;
    /// `cuda::pipeline` in block scope, 1 stage.
    PIPELINE_I32_1 = "pipeline_i32_1": ONE i32;
    /// `cuda::pipeline` in block scope, 2 stages.
    PIPELINE_I32_2 = "pipeline_i32_2": ONE i32;
    /// [`PIPELINE_I32_2`] with 3 stages.
    PIPELINE_I32_3 = "pipeline_i32_3": ONE i32;
    /// `cuda::pipeline` in block scope, 4 stages.
    PIPELINE_I32_4 = "pipeline_i32_4": ONE i32;
    /// [`PIPELINE_I32_2`] with 5 stages.
    PIPELINE_I32_5 = "pipeline_i32_5": ONE i32;
    /// [`PIPELINE_I32_2`] with 6 stages.
    PIPELINE_I32_6 = "pipeline_i32_6": ONE i32;
    /// [`PIPELINE_I32_2`] with 7 stages.
    PIPELINE_I32_7 = "pipeline_i32_7": ONE i32;
    /// [`PIPELINE_I32_2`] with 8 stages.
    PIPELINE_I32_8 = "pipeline_i32_8": ONE i32;
    /// [`PIPELINE_I32_1`] with 16-byte elements.
    PIPELINE_I32X4_1 = "pipeline_i32x4_1": ONE I32x4;
    /// [`PIPELINE_I32_2`] with 16-byte elements.
    PIPELINE_I32X4_2 = "pipeline_i32x4_2": ONE I32x4;
    /// [`PIPELINE_I32_4`] with 16-byte elements.
    PIPELINE_I32X4_4 = "pipeline_i32x4_4": ONE I32x4;
    /// `cuda::pipeline` in thread scope as the guide prints it, 2 stages: it races.
    THREAD_SCOPE_I32_2 = "thread_scope_i32_2": ONE i32;
    /// [`THREAD_SCOPE_I32_2`] with 4 stages: it races.
    THREAD_SCOPE_I32_4 = "thread_scope_i32_4": ONE i32;
    /// [`THREAD_SCOPE_I32_2`] with 16-byte elements: it races.
    THREAD_SCOPE_I32X4_2 = "thread_scope_i32x4_2": ONE I32x4;
    /// [`THREAD_SCOPE_I32_4`] with 16-byte elements: it races.
    THREAD_SCOPE_I32X4_4 = "thread_scope_i32x4_4": ONE I32x4;
    /// Cooperative groups' `memcpy_async` and `wait`, one buffer.
    MEMCPY_ASYNC_I32 = "memcpy_async_i32": ONE i32;
    /// [`MEMCPY_ASYNC_I32`] with 16-byte elements.
    MEMCPY_ASYNC_I32X4 = "memcpy_async_i32x4": ONE I32x4;
    /// Cooperative groups' `memcpy_async` and `wait_prior`, two buffers.
    PRIOR_I32 = "prior_i32": ONE i32;
    /// [`PRIOR_I32`] with 16-byte elements.
    PRIOR_I32X4 = "prior_i32x4": ONE I32x4;
    /// `cp.async` by hand, 2 stages, copied by a quarter of the threads.
    TWIN_I32_2 = "twin_i32_2": ONE i32;
    /// [`TWIN_I32_2`] with 3 stages.
    TWIN_I32_3 = "twin_i32_3": ONE i32;
    /// `cp.async` by hand, 4 stages, copied by a quarter of the threads.
    TWIN_I32_4 = "twin_i32_4": ONE i32;
    /// [`TWIN_I32_2`] with 5 stages.
    TWIN_I32_5 = "twin_i32_5": ONE i32;
    /// [`TWIN_I32_2`] with 6 stages.
    TWIN_I32_6 = "twin_i32_6": ONE i32;
    /// [`TWIN_I32_2`] with 7 stages.
    TWIN_I32_7 = "twin_i32_7": ONE i32;
    /// [`TWIN_I32_2`] with 8 stages.
    TWIN_I32_8 = "twin_i32_8": ONE i32;
    /// `cp.async` by hand, 2 stages, 16-byte elements.
    TWIN_I32X4_2 = "twin_i32x4_2": ONE I32x4;
    /// `cp.async` by hand, 4 stages, 16-byte elements.
    TWIN_I32X4_4 = "twin_i32x4_4": ONE I32x4;
    /// `cp.async` by hand, 1 stage, two barriers for each tile.
    EAGER_I32_1 = "eager_i32_1": ONE i32;
    /// `cp.async` by hand, 2 stages, two barriers for each tile.
    EAGER_I32_2 = "eager_i32_2": ONE i32;
    /// [`EAGER_I32_2`] with 3 stages.
    EAGER_I32_3 = "eager_i32_3": ONE i32;
    /// `cp.async` by hand, 4 stages, two barriers for each tile.
    EAGER_I32_4 = "eager_i32_4": ONE i32;
    /// [`EAGER_I32_2`] with 5 stages.
    EAGER_I32_5 = "eager_i32_5": ONE i32;
    /// [`EAGER_I32_2`] with 6 stages.
    EAGER_I32_6 = "eager_i32_6": ONE i32;
    /// [`EAGER_I32_2`] with 7 stages.
    EAGER_I32_7 = "eager_i32_7": ONE i32;
    /// [`EAGER_I32_2`] with 8 stages.
    EAGER_I32_8 = "eager_i32_8": ONE i32;
    /// `cp.async` by hand, 1 stage, two barriers for each tile, 16-byte elements.
    EAGER_I32X4_1 = "eager_i32x4_1": ONE I32x4;
    /// `cp.async` by hand, 2 stages, two barriers for each tile, 16-byte elements.
    EAGER_I32X4_2 = "eager_i32x4_2": ONE I32x4;
    /// `cp.async` by hand, 4 stages, two barriers for each tile, 16-byte elements.
    EAGER_I32X4_4 = "eager_i32x4_4": ONE I32x4;
    /// `cp.async` by hand, each thread copies its own element, 2 stages, two barriers for each
    /// tile.
    ELEMENT_I32_2 = "element_i32_2": ONE i32;
    /// `cp.async` by hand, each thread copies its own element, 4 stages, one barrier for each tile.
    ELEMENT_I32_4 = "element_i32_4": ONE i32;
    /// `cuda::pipeline` in thread scope, each thread reads only the element that it copied, 2
    /// stages, no barrier.
    OWN_SCOPE_I32_2 = "own_scope_i32_2": ONE i32;
    /// [`OWN_SCOPE_I32_2`] with 4 stages.
    OWN_SCOPE_I32_4 = "own_scope_i32_4": ONE i32;
    /// [`OWN_SCOPE_I32_2`] with 16-byte elements.
    OWN_SCOPE_I32X4_2 = "own_scope_i32x4_2": ONE I32x4;
    /// [`OWN_SCOPE_I32_4`] with 16-byte elements.
    OWN_SCOPE_I32X4_4 = "own_scope_i32x4_4": ONE I32x4;
    /// `cp.async` by hand, each thread reads only the element that it copied, 2 stages, no barrier.
    OWN_I32_2 = "own_i32_2": ONE i32;
    /// [`OWN_I32_2`] with 4 stages.
    OWN_I32_4 = "own_i32_4": ONE i32;
    /// [`OWN_I32_2`] with 16-byte elements.
    OWN_I32X4_2 = "own_i32x4_2": ONE I32x4;
    /// [`OWN_I32_4`] with 16-byte elements.
    OWN_I32X4_4 = "own_i32x4_4": ONE I32x4;
    /// `cuda::pipeline` in block scope as the guide prints it: even threads copy, odd threads
    /// compute; 2 stages, tiles of 128.
    EVEN_ODD_I32_2 = "even_odd_i32_2": ONE i32;
    /// [`EVEN_ODD_I32_2`] with 4 stages.
    EVEN_ODD_I32_4 = "even_odd_i32_4": ONE i32;
    /// [`EVEN_ODD_I32_2`] with 16-byte elements.
    EVEN_ODD_I32X4_2 = "even_odd_i32x4_2": ONE I32x4;
    /// [`EVEN_ODD_I32_4`] with 16-byte elements.
    EVEN_ODD_I32X4_4 = "even_odd_i32x4_4": ONE I32x4;
    /// The roles of [`EVEN_ODD_I32_2`] by hand: `cp.async` and two mbarriers for each stage, a tile
    /// copied by 32 threads, 2 stages.
    EVEN_ODD_TWIN_I32_2 = "even_odd_twin_i32_2": ONE i32;
    /// [`EVEN_ODD_TWIN_I32_2`] with 4 stages.
    EVEN_ODD_TWIN_I32_4 = "even_odd_twin_i32_4": ONE i32;
    /// [`EVEN_ODD_TWIN_I32_2`] with 16-byte elements, of which each producer copies one.
    EVEN_ODD_TWIN_I32X4_2 = "even_odd_twin_i32x4_2": ONE I32x4;
    /// [`EVEN_ODD_TWIN_I32_4`] with 16-byte elements, of which each producer copies one.
    EVEN_ODD_TWIN_I32X4_4 = "even_odd_twin_i32x4_4": ONE I32x4;
    /// [`EVEN_ODD_TWIN_I32_2`], but each producer copies its own element.
    EVEN_ODD_ELEMENT_I32_2 = "even_odd_element_i32_2": ONE i32;
    /// [`EVEN_ODD_ELEMENT_I32_2`] with 4 stages.
    EVEN_ODD_ELEMENT_I32_4 = "even_odd_element_i32_4": ONE i32;
    /// `cuda::pipeline` in block scope: four warps copy, the four others compute; 2 stages, tiles
    /// of 128.
    WARPS_I32_2 = "warps_i32_2": ONE i32;
    /// [`WARPS_I32_2`] with 4 stages.
    WARPS_I32_4 = "warps_i32_4": ONE i32;
    /// [`WARPS_I32_2`] with 16-byte elements.
    WARPS_I32X4_2 = "warps_i32x4_2": ONE I32x4;
    /// [`WARPS_I32_4`] with 16-byte elements.
    WARPS_I32X4_4 = "warps_i32x4_4": ONE I32x4;
    /// The roles of [`WARPS_I32_2`] by hand, a tile copied by 32 threads; each consumer arrives on
    /// `empty`; 2 stages.
    WARPS_TWIN_I32_2 = "warps_twin_i32_2": ONE i32;
    /// [`WARPS_TWIN_I32_2`] with 4 stages.
    WARPS_TWIN_I32_4 = "warps_twin_i32_4": ONE i32;
    /// [`WARPS_TWIN_I32_2`] with 16-byte elements, of which each producer copies one.
    WARPS_TWIN_I32X4_2 = "warps_twin_i32x4_2": ONE I32x4;
    /// [`WARPS_TWIN_I32_4`] with 16-byte elements, of which each producer copies one.
    WARPS_TWIN_I32X4_4 = "warps_twin_i32x4_4": ONE I32x4;
    /// [`WARPS_TWIN_I32_2`], but one consumer of each warp arrives on `empty`.
    WARPS_TWIN_ELECTED_I32_2 = "warps_twin_elected_i32_2": ONE i32;
    /// [`WARPS_TWIN_ELECTED_I32_2`] with 4 stages.
    WARPS_TWIN_ELECTED_I32_4 = "warps_twin_elected_i32_4": ONE i32;
    /// [`WARPS_TWIN_ELECTED_I32_2`] with 16-byte elements, of which each producer copies one.
    WARPS_TWIN_ELECTED_I32X4_2 = "warps_twin_elected_i32x4_2": ONE I32x4;
    /// [`WARPS_TWIN_ELECTED_I32_4`] with 16-byte elements, of which each producer copies one.
    WARPS_TWIN_ELECTED_I32X4_4 = "warps_twin_elected_i32x4_4": ONE I32x4;
    /// [`WARPS_TWIN_I32_2`], but each producer copies its own element.
    WARPS_ELEMENT_I32_2 = "warps_element_i32_2": ONE i32;
    /// [`WARPS_ELEMENT_I32_2`] with 4 stages.
    WARPS_ELEMENT_I32_4 = "warps_element_i32_4": ONE i32;
    /// [`WARPS_TWIN_ELECTED_I32_2`], but each producer copies its own element.
    WARPS_ELEMENT_ELECTED_I32_2 = "warps_element_elected_i32_2": ONE i32;
    /// [`WARPS_ELEMENT_ELECTED_I32_2`] with 4 stages.
    WARPS_ELEMENT_ELECTED_I32_4 = "warps_element_elected_i32_4": ONE i32;
    /// Multiply-adds after a copy through registers: 0 for each element.
    CHAIN_PLAIN_0 = "chain_plain_0": ONE f32;
    /// [`CHAIN_PLAIN_0`] with 8 for each element.
    CHAIN_PLAIN_8 = "chain_plain_8": ONE f32;
    /// [`CHAIN_PLAIN_0`] with 16 for each element.
    CHAIN_PLAIN_16 = "chain_plain_16": ONE f32;
    /// [`CHAIN_PLAIN_0`] with 32 for each element.
    CHAIN_PLAIN_32 = "chain_plain_32": ONE f32;
    /// [`CHAIN_PLAIN_0`] with 48 for each element.
    CHAIN_PLAIN_48 = "chain_plain_48": ONE f32;
    /// [`CHAIN_PLAIN_0`] with 64 for each element.
    CHAIN_PLAIN_64 = "chain_plain_64": ONE f32;
    /// [`CHAIN_PLAIN_0`] with 128 for each element.
    CHAIN_PLAIN_128 = "chain_plain_128": ONE f32;
    /// [`CHAIN_PLAIN_0`] with 256 for each element.
    CHAIN_PLAIN_256 = "chain_plain_256": ONE f32;
    /// Multiply-adds over `cuda::pipeline` in block scope, 4 stages: 0 for each element.
    CHAIN_PIPELINE_0 = "chain_pipeline_0": ONE f32;
    /// [`CHAIN_PIPELINE_0`] with 8 for each element.
    CHAIN_PIPELINE_8 = "chain_pipeline_8": ONE f32;
    /// [`CHAIN_PIPELINE_0`] with 16 for each element.
    CHAIN_PIPELINE_16 = "chain_pipeline_16": ONE f32;
    /// [`CHAIN_PIPELINE_0`] with 32 for each element.
    CHAIN_PIPELINE_32 = "chain_pipeline_32": ONE f32;
    /// [`CHAIN_PIPELINE_0`] with 48 for each element.
    CHAIN_PIPELINE_48 = "chain_pipeline_48": ONE f32;
    /// [`CHAIN_PIPELINE_0`] with 64 for each element.
    CHAIN_PIPELINE_64 = "chain_pipeline_64": ONE f32;
    /// [`CHAIN_PIPELINE_0`] with 128 for each element.
    CHAIN_PIPELINE_128 = "chain_pipeline_128": ONE f32;
    /// [`CHAIN_PIPELINE_0`] with 256 for each element.
    CHAIN_PIPELINE_256 = "chain_pipeline_256": ONE f32;
    /// Multiply-adds over `cp.async` by hand, 4 stages, one barrier: 0 for each element.
    CHAIN_TWIN_0 = "chain_twin_0": ONE f32;
    /// [`CHAIN_TWIN_0`] with 8 for each element.
    CHAIN_TWIN_8 = "chain_twin_8": ONE f32;
    /// [`CHAIN_TWIN_0`] with 16 for each element.
    CHAIN_TWIN_16 = "chain_twin_16": ONE f32;
    /// [`CHAIN_TWIN_0`] with 32 for each element.
    CHAIN_TWIN_32 = "chain_twin_32": ONE f32;
    /// [`CHAIN_TWIN_0`] with 48 for each element.
    CHAIN_TWIN_48 = "chain_twin_48": ONE f32;
    /// [`CHAIN_TWIN_0`] with 64 for each element.
    CHAIN_TWIN_64 = "chain_twin_64": ONE f32;
    /// [`CHAIN_TWIN_0`] with 128 for each element.
    CHAIN_TWIN_128 = "chain_twin_128": ONE f32;
    /// [`CHAIN_TWIN_0`] with 256 for each element.
    CHAIN_TWIN_256 = "chain_twin_256": ONE f32;
    /// libcu++'s example: `cuda::pipeline` in block scope with two inputs in a stage, 2 stages.
    EXAMPLE_I32 = "example_i32": TWO i32;
    /// [`EXAMPLE_I32`] with 16-byte elements.
    EXAMPLE_I32X4 = "example_i32x4": TWO I32x4;
    /// [`EXAMPLE_I32`] by hand, one barrier for each tile.
    EXAMPLE_TWIN_I32 = "example_twin_i32": TWO i32;
    /// [`EXAMPLE_TWIN_I32`] with 16-byte elements.
    EXAMPLE_TWIN_I32X4 = "example_twin_i32x4": TWO I32x4;
    /// [`EXAMPLE_I32`] by hand, two barriers for each tile.
    EXAMPLE_EAGER_I32 = "example_eager_i32": TWO i32;
    /// [`EXAMPLE_EAGER_I32`] with 16-byte elements.
    EXAMPLE_EAGER_I32X4 = "example_eager_i32x4": TWO I32x4;
}

/// Numbers of stages, and the peers of `with_staging_unified` with so many: `cuda::pipeline`, and
/// by hand with one and with two barriers for each tile.
pub const UNIFIED_I32: [(&str, [Instance; 3]); 7] = [
    ("2", [PIPELINE_I32_2, TWIN_I32_2, EAGER_I32_2]),
    ("3", [PIPELINE_I32_3, TWIN_I32_3, EAGER_I32_3]),
    ("4", [PIPELINE_I32_4, TWIN_I32_4, EAGER_I32_4]),
    ("5", [PIPELINE_I32_5, TWIN_I32_5, EAGER_I32_5]),
    ("6", [PIPELINE_I32_6, TWIN_I32_6, EAGER_I32_6]),
    ("7", [PIPELINE_I32_7, TWIN_I32_7, EAGER_I32_7]),
    ("8", [PIPELINE_I32_8, TWIN_I32_8, EAGER_I32_8]),
];

/// Numbers of multiply-adds for each element, and the peers that do so many: plain,
/// `cuda::pipeline`, by hand.
pub const CHAINS: [(&str, [Instance; 3]); 8] = [
    ("0", [CHAIN_PLAIN_0, CHAIN_PIPELINE_0, CHAIN_TWIN_0]),
    ("8", [CHAIN_PLAIN_8, CHAIN_PIPELINE_8, CHAIN_TWIN_8]),
    ("16", [CHAIN_PLAIN_16, CHAIN_PIPELINE_16, CHAIN_TWIN_16]),
    ("32", [CHAIN_PLAIN_32, CHAIN_PIPELINE_32, CHAIN_TWIN_32]),
    ("48", [CHAIN_PLAIN_48, CHAIN_PIPELINE_48, CHAIN_TWIN_48]),
    ("64", [CHAIN_PLAIN_64, CHAIN_PIPELINE_64, CHAIN_TWIN_64]),
    ("128", [CHAIN_PLAIN_128, CHAIN_PIPELINE_128, CHAIN_TWIN_128]),
    ("256", [CHAIN_PLAIN_256, CHAIN_PIPELINE_256, CHAIN_TWIN_256]),
];

/// Our kernels that have a twin in unsafe Rust (`tests/twins/`): their symbols, to which a twin's
/// adds [`TWIN`].
pub const TWINS: [&str; 12] = [
    "with_memcpy_async__i32_NeighbourSum_256",
    "with_staging__i32_NeighbourSum_256",
    "scale_own__i32_CpAsync_ThreadScope_256_4",
    "with_staging_unified__I32x4_NeighbourSum_CpAsync_256_4",
    "with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_2",
    "with_specialized_staging_unified__i32_NeighbourSum_CpAsync_256_128_4",
    "with_specialized_staging_warps__i32_NeighbourSum_CpAsync_256_128_128_4",
    "moving_average_wide__i32_256_1024_1",
    "moving_average_bulk__i32_256_2",
    "moving_average_bulk__i32_256_4",
    "transpose_wide__i32_256_64_64_4_1",
    "stencil_2d_wide__i32_256_16_64_4_1",
];
const TWIN: &str = "twin_";

/// Describes the unsafe twin of a kernel of ours; none if it has none.
pub fn unsafe_twin(ours: &Instance) -> Option<Instance> {
    TWINS.contains(&ours.name()).then(|| {
        let symbol = Box::leak(format!("{TWIN}{}", ours.name()).into_boxed_str());
        // SAFETY: `tests/twins` has this entry: it takes what the safe kernel of the symbol takes,
        // launched with as many threads and as much shared memory, and reads and writes what that
        // does (`tests/tests/twins.rs` compares their code, or says why not). `on_cpu` does nothing
        // but panic.
        unsafe {
            Instance::new(Parts {
                kernel: symbol,
                symbol,
                generics: &[],
                contract: None,
                cpu: Some(on_cpu),
                ..ours.parts()
            })
        }
    })
}

/// The parameters of a peer: input views of `T`, and an output view.
pub struct Views<T>(T);

impl<T: Element> Views<T> {
    pub const ONE: [ParameterInfo; 2] = [view::<T>(ParameterKind::Input), view::<T>(ParameterKind::Output)];
    pub const TWO: [ParameterInfo; 3] =
        [view::<T>(ParameterKind::Input), view::<T>(ParameterKind::Input), view::<T>(ParameterKind::Output)];
    /// Of matrices.
    pub const ROWS: [ParameterInfo; 2] = [rows::<T>(ParameterKind::Input), rows::<T>(ParameterKind::Output)];
    /// An output of keys.
    pub const KEYS: [ParameterInfo; 2] = [view::<T>(ParameterKind::Input), view::<u64>(ParameterKind::Output)];
    /// Counts that it adds to.
    pub const COUNTS: [ParameterInfo; 2] = [view::<T>(ParameterKind::Input), view::<u32>(ParameterKind::Reduction)];
    /// A filter of [`TAPS`] elements between input and output.
    pub const FILTERED: [ParameterInfo; 3] =
        [view::<T>(ParameterKind::Input), value::<[T; TAPS]>(), view::<T>(ParameterKind::Output)];
}

/// The names of a peer's parameters.
pub struct Names;

impl Names {
    pub const ONE: &[&str] = &["in", "out"];
    pub const TWO: &[&str] = &["left", "right", "out"];
    pub const FILTERED: &[&str] = &["signal", "filter", "out"];
}

const fn view<T: Element>(kind: ParameterKind) -> ParameterInfo {
    ParameterInfo {
        kind,
        element: TypeId::of::<T>,
        element_name: type_name::<T>,
        element_bytes: size_of::<T>(),
        alignment: 16,
        row_alignment: None,
        tile: [1, 1],
        boxes: None,
        unordered: false,
        optional: false,
    }
}

/// A value that the launch passes.
const fn value<T: 'static>() -> ParameterInfo {
    ParameterInfo {
        kind: ParameterKind::Constant,
        element: TypeId::of::<T>,
        element_name: type_name::<T>,
        element_bytes: size_of::<T>(),
        alignment: 1,
        row_alignment: None,
        tile: [1, 1],
        boxes: None,
        unordered: false,
        optional: false,
    }
}

const fn rows<T: Element>(kind: ParameterKind) -> ParameterInfo {
    ParameterInfo { row_alignment: Some(16), ..view::<T>(kind) }
}

pub fn on_cpu(_: &[RawParameter]) {
    panic!("a CUDA C++ kernel runs on a GPU only");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_has_exactly_these_entries_with_these_inputs_and_element_types() {
        let source = include_str!("../../peers/peers.cu");
        let entries: Vec<(&str, &str, &str)> = source
            .lines()
            .filter_map(|line| {
                let one = line.strip_prefix("ENTRY(").map(|rest| ("ONE", rest));
                let (inputs, entry) = one.or_else(|| Some(("TWO", line.strip_prefix("ENTRY_2(")?)))?;
                let mut fields = entry.strip_suffix(')')?.split(", ");
                Some((fields.next()?, inputs, fields.next()?))
            })
            .collect();
        let in_cuda = |element| match element {
            "i32" => "int",
            "f32" => "float",
            _ => "int4",
        };
        let wanted: Vec<(&str, &str, &str)> =
            SYMBOLS.iter().map(|(symbol, inputs, element)| (*symbol, *inputs, in_cuda(*element))).collect();
        assert_eq!(entries, wanted);
    }

    #[test]
    fn the_twins_in_unsafe_rust_are_those_there_are() {
        let sources = [
            include_str!("../../../tests/twins/src/memcpy_async.rs"),
            include_str!("../../../tests/twins/src/staging.rs"),
            include_str!("../../../tests/twins/src/scale_own.rs"),
            include_str!("../../../tests/twins/src/staging_unified.rs"),
            include_str!("../../../tests/twins/src/specialized_staging.rs"),
            include_str!("../../../tests/twins/src/moving_average.rs"),
            include_str!("../../../tests/twins/src/moving_average/bulk.rs"),
            include_str!("../../../tests/twins/src/transpose.rs"),
            include_str!("../../../tests/twins/src/stencil.rs"),
        ];
        let exported = sources.iter().flat_map(|source| source.split("export_name = \"").skip(1));
        let mut symbols: Vec<&str> = exported.filter_map(|rest| rest.split('"').next()?.strip_prefix(TWIN)).collect();
        let mut wanted = TWINS.to_vec();
        symbols.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(symbols, wanted);
    }
}
