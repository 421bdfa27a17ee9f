//! Each program that must not compile has the nearest one that must, under the same name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Programs without a neighbour of their own: what they do wrong has no right form in a program
/// that trybuild builds, because it has no build script.
const ALONE: [&str; 2] = ["built_kernels_of_a_path", "built_kernels_of_no_build_script"];

/// The names of the programs of a folder.
fn programs(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a readable folder");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

#[test]
fn every_program_that_must_not_compile_has_a_neighbour_of_its_name_and_the_other_way_about() {
    let (rejected, accepted) = (programs("fail"), programs("pass"));
    assert!(rejected.len() > 300, "{} programs", rejected.len());
    let without: Vec<_> = rejected.difference(&accepted).collect();
    assert_eq!(without, ALONE, "programs under `fail/` without one of their name under `pass/`");
    let alone: Vec<_> = accepted.difference(&rejected).collect();
    assert!(alone.is_empty(), "neighbours under `pass/` of nothing: {alone:?}");
}
