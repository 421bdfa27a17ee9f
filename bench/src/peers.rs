//! The CUDA C++ kernels of `peers/peers.cu`, described so that they launch as ours do.

use std::any::{TypeId, type_name};

use tilepipe::launch::{Instance, ParameterInfo, ParameterKind, Parts, RawParameter};
use tilepipe::{Element, I32x4};

/// Threads a block of every peer.
pub const THREADS: u32 = 256;

macro_rules! peers {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal: $element:ty;)*) => {
        $(
            $(#[$doc])*
            // SAFETY: `peers.cu` has this entry: an input and an output view of this element type, each a base address
            // and a length in four words, any length, launched with 256 threads and no dynamic shared memory; it reads
            // and writes nothing else. `on_cpu` does nothing but panic.
            pub const $name: Instance = unsafe {
                Instance::new(Parts {
                    kernel: $symbol,
                    symbol: $symbol,
                    generics: &[],
                    parameters: &Views::<$element>::PARAMETERS,
                    threads: THREADS,
                    shared_bytes: 0,
                    shared_alignment: 16,
                    cpu: on_cpu,
                })
            };
        )*

        /// The symbols of all peers, for the test that compares them with the source.
        #[cfg(test)]
        const SYMBOLS: &[(&str, &str)] = &[$(($symbol, stringify!($element))),*];
    };
}

peers! {
    /// Load, barrier, compute, barrier.
    PLAIN_I32 = "plain_i32": i32;
    /// [`PLAIN_I32`] with 16-byte elements.
    PLAIN_I32X4 = "plain_i32x4": I32x4;
    /// The moving average through shared memory, without asynchronous copies.
    AVERAGE_I32 = "average_i32": i32;
    /// [`AVERAGE_I32`] with 16-byte elements.
    AVERAGE_I32X4 = "average_i32x4": I32x4;
    /// `cuda::pipeline` in block scope, 1 stage.
    PIPELINE_I32_1 = "pipeline_i32_1": i32;
    /// `cuda::pipeline` in block scope, 2 stages.
    PIPELINE_I32_2 = "pipeline_i32_2": i32;
    /// `cuda::pipeline` in block scope, 4 stages.
    PIPELINE_I32_4 = "pipeline_i32_4": i32;
    /// [`PIPELINE_I32_1`] with 16-byte elements.
    PIPELINE_I32X4_1 = "pipeline_i32x4_1": I32x4;
    /// [`PIPELINE_I32_2`] with 16-byte elements.
    PIPELINE_I32X4_2 = "pipeline_i32x4_2": I32x4;
    /// [`PIPELINE_I32_4`] with 16-byte elements.
    PIPELINE_I32X4_4 = "pipeline_i32x4_4": I32x4;
    /// `cp.async` by hand, 2 stages, copied by a quarter of the threads.
    TWIN_I32_2 = "twin_i32_2": i32;
    /// `cp.async` by hand, 4 stages, copied by a quarter of the threads.
    TWIN_I32_4 = "twin_i32_4": i32;
    /// `cp.async` by hand, 2 stages, 16-byte elements.
    TWIN_I32X4_2 = "twin_i32x4_2": I32x4;
    /// `cp.async` by hand, 4 stages, 16-byte elements.
    TWIN_I32X4_4 = "twin_i32x4_4": I32x4;
    /// `cp.async` by hand, 1 stage, two barriers for each tile.
    EAGER_I32_1 = "eager_i32_1": i32;
    /// `cp.async` by hand, 2 stages, two barriers for each tile.
    EAGER_I32_2 = "eager_i32_2": i32;
    /// `cp.async` by hand, 4 stages, two barriers for each tile.
    EAGER_I32_4 = "eager_i32_4": i32;
    /// `cp.async` by hand, 1 stage, two barriers for each tile, 16-byte elements.
    EAGER_I32X4_1 = "eager_i32x4_1": I32x4;
    /// `cp.async` by hand, 2 stages, two barriers for each tile, 16-byte elements.
    EAGER_I32X4_2 = "eager_i32x4_2": I32x4;
    /// `cp.async` by hand, 4 stages, two barriers for each tile, 16-byte elements.
    EAGER_I32X4_4 = "eager_i32x4_4": I32x4;
}

/// The parameters of every peer: an input and an output view of `T`.
struct Views<T>(T);

impl<T: Element> Views<T> {
    const PARAMETERS: [(&'static str, ParameterInfo); 2] =
        [("in", view::<T>(ParameterKind::Input)), ("out", view::<T>(ParameterKind::Output))];
}

const fn view<T: Element>(kind: ParameterKind) -> ParameterInfo {
    ParameterInfo {
        kind,
        element: TypeId::of::<T>,
        element_name: type_name::<T>,
        element_bytes: size_of::<T>(),
        alignment: 16,
    }
}

fn on_cpu(_: &[RawParameter]) {
    panic!("a CUDA C++ kernel runs on a GPU only");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_has_exactly_these_entries_with_these_element_types() {
        let source = include_str!("../peers/peers.cu");
        let entries: Vec<(String, String)> = source
            .lines()
            .filter_map(|line| line.strip_prefix("ENTRY(")?.strip_suffix(')'))
            .map(|entry| {
                let mut fields = entry.split(", ").map(str::to_owned);
                (fields.next().unwrap_or_default(), fields.next().unwrap_or_default())
            })
            .collect();
        let wanted: Vec<(String, String)> = SYMBOLS
            .iter()
            .map(|(symbol, element)| ((*symbol).to_owned(), if *element == "i32" { "int" } else { "int4" }.to_owned()))
            .collect();
        assert_eq!(entries, wanted);
    }
}
