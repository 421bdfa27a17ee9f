//! Which safe functions anybody can call: what a crate that depends on another can reach in it, and
//! with what in hand.
//!
//! Types and sealed traits keep a promise only as far as nobody can call a safe function whose
//! effect has to be earned. Sealing a trait keeps others from implementing it, not from calling it:
//! `fn f<E: Engine>() { E::commit() }` compiles in every crate that can name `Engine`, and reaches
//! the methods of all its supertraits, wherever they are declared. So [`unearned`] starts from
//! rustdoc's description of a crate ([`document`]), follows everything that can be named or
//! obtained ([`reach`]), and lists each safe function that can be called with arguments that
//! anybody can make ([`earned`]). A person reviews the list ([`review`]).
//!
//! Where it cannot know it lists a function too many, never one too few, with these exceptions:
//! what is compiled for the GPU alone, what macros generate in the crates that use them, functions
//! that a foreign trait provides, function pointers in fields and constants, and derived
//! implementations (but for the values that a derived `Default` makes).

pub mod auto_traits;
pub mod document;
pub mod earned;
pub mod items;
pub mod parts;
pub mod reach;
pub mod review;
pub mod signature;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use rustdoc_types::Crate;

use earned::Earned;
use reach::Surface;

/// Returns the signature of each safe function that a dependent crate can call and that takes no
/// earned argument, sorted.
pub fn unearned(krate: &Crate) -> Vec<String> {
    let surface = Surface::of(krate);
    let earned = Earned::of(krate, &surface);
    let free = surface.calls.iter().filter(|call| call.is_listed && earned.needs_nothing(call));
    // A set: functions of one macro may differ in nothing that is shown.
    free.map(signature::of).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the path of each type that holds an invariant lifetime, which is to say a brand, and
/// that anybody can make.
///
/// There should be none: a brand that can be had for nothing proves nothing.
pub fn unearned_brands(krate: &Crate) -> Vec<String> {
    let surface = Surface::of(krate);
    let earned = Earned::of(krate, &surface);
    let mut found: Vec<String> =
        surface.types().filter(|id| earned.is_forgeable_brand(*id)).map(|id| items::path(krate, id)).collect();
    found.sort();
    found
}
