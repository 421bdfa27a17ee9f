//! Compiles and runs the programs under `open/`: what the types don't refuse, each an assumption of
//! SOUNDNESS.md.

#[test]
fn what_is_assumed_still_compiles() {
    trybuild::TestCases::new().pass("open/*.rs");
}
