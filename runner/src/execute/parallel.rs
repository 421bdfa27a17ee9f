//! Work on all cores, with little code for each element type.
//!
//! Rayon's iterators are compiled anew for every type and closure, some two hundred functions each
//! time; 19 element types make that minutes. Here its part is compiled once.

use std::sync::{Mutex, PoisonError};

/// Runs `work` once on each core, and returns when all are done.
fn on_all_cores(work: &(dyn Fn() + Sync)) {
    rayon::broadcast(|_| work());
}

/// Hands every item to `work`, on all cores and in no particular order.
pub fn for_each<I>(items: impl Iterator<Item = I> + Send, work: impl Fn(I) + Sync) {
    let items = Mutex::new(items);
    // What panics while it holds the lock is the iterator, and then nobody goes on.
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    on_all_cores(&|| {
        while let Some(item) = next() {
            work(item);
        }
    });
}

/// Fills `out` with what `value` says of each index, `part` elements at a time.
///
/// # Panics
///
/// If `part` is 0.
pub fn fill<T: Send>(out: &mut [T], part: usize, value: impl Fn(usize) -> T + Sync) {
    for_each(out.chunks_mut(part).enumerate(), |(number, part_of_out)| {
        for (index, element) in part_of_out.iter_mut().enumerate() {
            *element = value(number * part + index);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_filled_once() {
        for (len, part) in [(0, 1), (1, 4096), (10_000, 1), (10_000, 4096), (12_288, 4096)] {
            let mut out = vec![usize::MAX; len];
            fill(&mut out, part, |index| index * 3);
            assert!(out.iter().enumerate().all(|(index, value)| *value == index * 3), "{len} by {part}");
        }
    }

    #[test]
    fn a_panic_of_the_work_reaches_the_caller() {
        let filled = std::panic::catch_unwind(|| fill(&mut [0; 100], 7, |index| 100 / (50 - index.min(50))));
        assert!(filled.is_err());
    }
}
