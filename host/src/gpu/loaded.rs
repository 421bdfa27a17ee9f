//! What is loaded into an opened GPU.

use std::collections::HashMap;
use std::ptr;

use cudarc::driver::sys::{CUfunction, CUmodule};
use tilepipe::launch::{Contract, Instance};

/// What is loaded into the context.
///
/// # Invariants
///
/// 0. The `raw` of each image and of each function live as long as the [`Context`](super::context),
///    which unloads none before its `Drop`.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) images: Vec<LoadedImage>,
    /// The entries that there are, by their symbols: the place of the image loaded last that has
    /// each.
    pub(super) entries: HashMap<String, usize>,
    /// The entries that were launched, by their symbols.
    pub(super) functions: HashMap<&'static str, Function>,
    /// What the kernels of images need that have nothing for this GPU, by the kernels' symbols.
    pub(super) missing: HashMap<String, String>,
}

/// Copies of functions of [`Modules`] for launches to come, each at a place that follows from where
/// the text of its symbol lies: nothing is hashed, and no text compared.
#[derive(Default)]
pub(super) struct Recent(Vec<Option<(&'static str, Function)>>);

impl Recent {
    const PLACES: usize = 64;

    /// The one of a symbol, if it is still there.
    pub(super) fn get(&self, symbol: &'static str) -> Option<&Function> {
        let (of, function) = self.0.get(Recent::place(symbol))?.as_ref()?;
        // The same bytes, which nobody writes.
        ptr::eq(*of, symbol).then_some(function)
    }

    /// Keeps one, in the place of another.
    pub(super) fn keep(&mut self, symbol: &'static str, function: Function) {
        self.0.resize(Recent::PLACES, None);
        self.0[Recent::place(symbol)] = Some((symbol, function));
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn place(symbol: &'static str) -> usize {
        // Symbols are longer than 16 bytes, one behind another.
        (symbol.as_ptr().addr() / 16) % Recent::PLACES
    }
}

/// An image in the context.
pub(super) struct LoadedImage {
    pub(super) raw: CUmodule,
    /// The PTX it came from: loading it again has no effect, and the driver is asked for nothing
    /// that is not in it. It would say no as well, but tools such as compute-sanitizer report that.
    pub(super) ptx: String,
}

// SAFETY: the driver API may be called from any thread with these handles.
unsafe impl Send for Modules {}
// SAFETY: as for `Modules`.
unsafe impl Send for Recent {}

/// An entry of a module, with what the driver says about it.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) raw: CUfunction,
    /// The place of the image that has it.
    pub(super) image: usize,
    pub(super) static_shared: usize,
    pub(super) threads_limit: u32,
    /// Dynamic shared memory opted in to.
    pub(super) opted_in: usize,
    /// The contract that the entry was found to have, if it was asked for.
    pub(super) contract: Option<Contract>,
    /// Bytes of dynamic shared memory of its collectives, after those of the instance.
    pub(super) scratch: usize,
    /// Whether each of its threads waits for the kernel before it in the stream, so that it may be
    /// launched as dependent on that one.
    pub(super) waits: bool,
}

/// What the launch of an instance hands to the driver.
#[derive(Clone, Copy)]
pub(super) struct Ready {
    pub(super) raw: CUfunction,
    /// Bytes of dynamic shared memory a block.
    pub(super) shared_bytes: u32,
    /// Whether it waits for the kernel before it.
    pub(super) waits: bool,
}

impl Function {
    /// What the launch of an instance, for which it was found to be ready, hands to the driver.
    pub(super) fn ready(&self, instance: &Instance) -> Ready {
        // The limit was checked: it fits.
        Ready { raw: self.raw, shared_bytes: self.dynamic_shared(instance) as u32, waits: self.waits }
    }

    /// The bytes of dynamic shared memory of a launch: those of the instance and, from a multiple
    /// of 16 on, those of its collectives.
    pub(super) fn dynamic_shared(&self, instance: &Instance) -> usize {
        match self.scratch {
            0 => instance.shared_bytes(),
            scratch => instance.shared_bytes().next_multiple_of(16).saturating_add(scratch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(image: usize) -> Function {
        let raw = ptr::null_mut();
        let (threads_limit, opted_in, waits) = (1024, 0, false);
        Function { raw, image, static_shared: 0, threads_limit, opted_in, contract: None, scratch: 0, waits }
    }

    #[test]
    fn a_recent_function_is_found_by_the_very_text_of_its_symbol_until_another_takes_its_place() {
        // So far apart that all have one place.
        let text: &'static str = "symbol".repeat(Recent::PLACES * 16).leak();
        let symbol = |number: usize| &text[number * Recent::PLACES * 16..][..6];
        let image = |recent: &Recent, symbol| recent.get(symbol).map(|found| found.image);
        let mut recent = Recent::default();
        assert_eq!(image(&recent, symbol(0)), None);
        recent.keep(symbol(0), function(1));
        assert_eq!(image(&recent, symbol(0)), Some(1));
        // The same place, and the start of the same text.
        assert_eq!((image(&recent, symbol(1)), image(&recent, &symbol(0)[..5])), (None, None));
        recent.keep(symbol(1), function(2));
        assert_eq!((image(&recent, symbol(0)), image(&recent, symbol(1))), (None, Some(2)));
        recent.clear();
        assert_eq!(image(&recent, symbol(1)), None);
    }
}
