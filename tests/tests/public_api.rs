//! Every safe function that anybody can call, with nothing in hand that only `tilepipe` makes, was
//! reviewed.
//!
//! `public_api.txt` lists them, each with the reason for which it needs nothing. To list a new one,
//! run `TILEPIPE_REVIEW=write cargo test -p tilepipe-tests --test public_api`, which keeps the
//! reasons that there are, and write the reason in the place of each `REVIEW`.
//!
//! `auto_traits.txt` lists all types that anybody can get hold of, and which of them block-level
//! code and closures of roles may share.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustdoc_types::Crate;
use tilepipe_tests::public_api::{auto_traits, document, review, unearned, unearned_brands};

/// What to do about a function that is not in the list.
const ADVICE: &str = "A safe function that anybody can call has no effect that its callers must earn. Sealing the trait that \
    declares it is not enough: a bound in another crate reaches it. Make it `unsafe`, or let it take an argument that only \
    tilepipe makes. If there is nothing to earn, run `TILEPIPE_REVIEW=write cargo test -p tilepipe-tests --test public_api` \
    and write the reason in the place of `REVIEW` in tests/tests/public_api.txt.";

#[test]
fn every_safe_function_that_takes_no_earned_argument_is_reviewed() {
    let found = unearned(tilepipe());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public_api.txt");
    let list = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if std::env::var_os("TILEPIPE_REVIEW").is_some_and(|how| how == "write") {
        fs::write(&path, review::rewrite(&found, &list)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let list = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    review::compare(&found, &list).unwrap_or_else(|wrong| panic!("tests/tests/public_api.txt:\n{wrong}\n\n{ADVICE}"));
}

#[test]
fn nobody_else_can_make_a_value_with_a_brand() {
    let forgeable = unearned_brands(tilepipe());
    assert!(forgeable.is_empty(), "safe functions without an earned argument make these: {forgeable:?}");
}

#[test]
fn which_types_are_uniform_and_which_roles_may_share_is_reviewed() {
    let list = include_str!("auto_traits.txt");
    let found = auto_traits::lines(tilepipe(), &["Uniform", "RoleShared"]);
    auto_traits::compare(&found, list).unwrap_or_else(|wrong| {
        panic!(
            "tests/tests/auto_traits.txt:\n{wrong}\n\nA type is `Uniform` or `RoleShared` by default if its fields are. \
             Read the contracts of both (device/src/marker), write an `impl` where the default is wrong, and change the list."
        )
    });
}

/// The library as rustdoc describes it.
fn tilepipe() -> &'static Crate {
    static CRATE: OnceLock<Crate> = OnceLock::new();
    CRATE.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let described = document::of_package(root, &target(root).join("public-api"), "tilepipe");
        described.unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Cargo's target folder, as far as a test program can tell.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}
