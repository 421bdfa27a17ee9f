//! Both backends of the seam have the same functions, and the tables in its documentation have all.
//!
//! The seam is what the `mod.rs` of a backend declares or exports as `pub(crate)`: functions, and
//! types with their methods, but for traits that bound arguments. The same name has the same
//! signature in both. A row of the first table is in both backends or in the seam's own file, one
//! of the second table in `nvptx` alone. Every function and type has a row. A method needs none
//! beside that of its type, and may have one. What the callers of the unsafe ones promise is in the
//! seam's own file too ([`contracts`]).

mod contracts;
mod items;

use std::collections::BTreeMap;

use anyhow::Result;

use self::items::{Function, Item, items};
use super::source::{RustFile, rust_files};
use super::tokens::imports;
use super::{Files, Finding};

/// The seam's own file, with the tables.
const SEAM: &str = "device/src/isa/mod.rs";
/// The folders of the backends: of the host, and of the GPU.
const BACKENDS: [&str; 2] = ["device/src/isa/host", "device/src/isa/nvptx"];
/// What the tables begin with: that of both backends, and that of the GPU's alone.
const TABLES: [&str; 2] = ["//! | function |", "//! | function of `nvptx` alone |"];

pub fn check(files: &Files) -> Result<Vec<Finding>> {
    let seam = files.text(SEAM)?;
    let own = rust_files(files, "device/src/isa");
    let own: BTreeMap<String, Item> = own.iter().filter(|file| file.module.is_empty()).flat_map(items).collect();
    let [host, nvptx] = BACKENDS.map(|folder| exported(files, folder));
    let [both, alone] = tables(seam);

    let mut findings = Vec::new();
    let mut find = |file: &str, line, what: String| findings.push(Finding::new(file.as_ref(), line, what));
    for (name, line) in both.iter().filter(|(name, _)| !own.contains_key(*name)) {
        for (folder, _) in BACKENDS.iter().zip([&host, &nvptx]).filter(|(_, items)| !items.contains_key(name)) {
            let what = format!("`{name}` is no function of {folder}: take the row out, or write the function");
            find(SEAM, *line, what);
        }
    }
    for (name, line) in &alone {
        if !nvptx.contains_key(name) || host.contains_key(name) {
            let is = if host.contains_key(name) { "in both backends" } else { "not in device/src/isa/nvptx" };
            find(SEAM, *line, format!("`{name}` is {is}: move the row to the table of both, or take it out"));
        }
    }
    let is_row = |table: &BTreeMap<String, usize>, name: &str| {
        table.contains_key(name) || name.split_once("::").is_some_and(|(of, _)| table.contains_key(of))
    };
    for (items, others, missing_in) in [(&host, &nvptx, BACKENDS[1]), (&nvptx, &host, BACKENDS[0])] {
        // The GPU's backend alone may have functions of its own.
        let may_be_alone = missing_in == BACKENDS[0];
        for (name, item) in items.iter() {
            let place = item.file.to_string_lossy();
            if others.contains_key(name) {
                if !is_row(&both, name) {
                    find(&place, item.line, format!("`{name}` has no row in the table of {SEAM}: write one"));
                }
            } else if !(may_be_alone && is_row(&alone, name)) {
                let what = format!("`{name}` is missing in {missing_in}: write it there, with the same signature");
                find(&place, item.line, what);
            }
        }
    }
    for (name, ours) in &host {
        let Some(theirs) = nvptx.get(name) else { continue };
        let (Some(one), Some(other)) = (&ours.function, &theirs.function) else { continue };
        if !same(one, &host, other, &nvptx) {
            let what =
                format!("`{name}` is `{one}` here and `{other}` in {}: make them the same", theirs.file.display());
            find(&ours.file.to_string_lossy(), ours.line, what);
        }
    }
    findings.extend(contracts::check(files, [&own, &host, &nvptx])?);
    Ok(findings)
}

/// The names in the first cells of the tables, with their lines.
fn tables(text: &str) -> [BTreeMap<String, usize>; 2] {
    let mut tables = [BTreeMap::new(), BTreeMap::new()];
    let mut current = None;
    for (at, line) in text.lines().enumerate() {
        if let Some(table) = TABLES.iter().position(|head| line.starts_with(head)) {
            current = Some(table);
        } else if let Some(row) = line.strip_prefix("//! | `").filter(|_| current.is_some()) {
            let cell = format!("`{}", row.split('|').next().unwrap_or_default());
            let names = cell.split('`').skip(1).step_by(2).map(|name| (name.to_owned(), at + 1));
            tables[current.unwrap_or_default()].extend(names);
        } else if !line.starts_with("//! |") {
            current = None;
        }
    }
    tables
}

/// What a backend has for the rest of the crate.
fn exported(files: &Files, folder: &str) -> BTreeMap<String, Item> {
    let rust = rust_files(files, folder);
    let Some(top) = rust.iter().find(|file| file.module.is_empty()) else { return BTreeMap::new() };
    let mut found: BTreeMap<String, Item> = items(top).collect();
    for export in imports(&top.code).into_iter().filter(|import| import.exports) {
        let Some((name, path)) = export.path.split_last() else { continue };
        let modules: Vec<_> = path.iter().filter(|module| **module != "self").collect();
        let is_it = |file: &&RustFile| file.module.iter().eq(modules.iter().copied());
        let Some(file) = rust.iter().find(is_it).filter(|_| !modules.is_empty()) else { continue };
        found.extend(items(file).filter(|(item, _)| *name == "*" || item.split("::").next() == Some(name)));
    }
    found.retain(|_, item| !item.of_trait);
    found
}

/// Whether two signatures are the same. A type of the seam's may be written as what it stands for,
/// and a parameter that one backend does not use need not have a name there.
fn same(one: &Function, ours: &BTreeMap<String, Item>, other: &Function, theirs: &BTreeMap<String, Item>) -> bool {
    let meaning = |name: &str, of: &BTreeMap<String, Item>| of.get(name).and_then(|item| item.stands_for.clone());
    let types = |a: &str, b: &str| {
        a == b || meaning(a, theirs).is_some_and(|a| a == b) || meaning(b, ours).is_some_and(|b| a == b)
    };
    let names = |a: &str, b: &str| {
        let (a, b) = (a.trim_start_matches('_'), b.trim_start_matches('_'));
        a == b || a.is_empty() || b.is_empty()
    };
    let parameters = one.parameters.iter().zip(&other.parameters);
    one.begin == other.begin
        && one.end == other.end
        && one.parameters.len() == other.parameters.len()
        && parameters.into_iter().all(|(a, b)| names(&a.0, &b.0) && types(&a.1, &b.1))
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const TABLE: &str = r"//! | function | PTX |
//! |---|---|
//! | `zeros`, `Barrier` | x |
//! | `wait` | x |
//! | `Values` | x |
//! | `Values::any` | x |
//! | `Lanes` | x |
//! | `fma_f32`, `fma_f64` | `fma` |
//!
//! | function of `nvptx` alone | PTX |
//! |---|---|
//! | `trap` | `trap` |
//!
//! # Safety contracts
//!
//! ## `wait`
//!
//! The barrier is valid.

pub(crate) trait Lanes {}
";

    const HOST: &str = r"mod math;
mod block;
pub(crate) use math::*;
pub use block::Schedule;
pub(crate) type Barrier = *mut u64;
pub(crate) fn zeros() -> *const u8 {}
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn wait<const N: usize>(barrier: *mut u64, parity: u32) {}
pub(crate) struct Values<T>(Vec<T>);
impl<T: Copy> Values<T> {
    pub(crate) fn any(&self, rank: usize) -> bool {}
fn own(&self) {}
}
impl Lanes for Values<u8> {}
";

    const NVPTX: &str = r"mod math;
pub(crate) use self::math::*;
pub(crate) type Barrier = u32;
pub(crate) fn zeros() -> *const u8 {}
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn wait<const N: usize>(
    barrier: Barrier,
    _: u32,
) {}
pub(crate) struct Values<T>(T);
impl<T: Copy> Values<T> {
    pub(crate) fn any(&self, _rank: usize) -> bool {}
}
pub(crate) fn trap() -> ! {}
";

    const MATH: &str = r"macro_rules! functions {
    ($float:ty: $fma:ident) => {
        pub(crate) fn $fma(a: $float) -> $float {}
    };
}
functions!(f32: fma_f32);
functions!(f64: fma_f64);
";

    fn found(docs: &str, host: &str, nvptx: &str) -> Vec<String> {
        let tree = files(&[
            (SEAM, docs),
            ("device/src/isa/host/mod.rs", host),
            ("device/src/isa/host/math.rs", MATH),
            ("device/src/isa/host/block.rs", "pub enum Schedule {}\npub(crate) fn run() {}\n"),
            ("device/src/isa/nvptx/mod.rs", nvptx),
            ("device/src/isa/nvptx/math.rs", MATH),
        ]);
        check(&tree).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn backends_with_the_same_functions_as_the_table_are_accepted() {
        assert_eq!(found(TABLE, HOST, NVPTX), [""; 0]);
        assert!(check(&files(&[])).is_err());
    }

    #[test]
    fn a_row_without_its_function_and_a_function_without_a_row_are_found() {
        let more = TABLE.replace("| `wait`", "| `wait`, `poll`");
        let poll = |of: &str| {
            format!("{SEAM}:4: `poll` is no function of device/src/isa/{of}: take the row out, or write the function")
        };
        assert_eq!(found(&more, HOST, NVPTX), [poll("host"), poll("nvptx")]);
        let less = TABLE.replace(", `Barrier`", "");
        let row = |file: &str, line| format!("{file}:{line}: `Barrier` has no row in the table of {SEAM}: write one");
        assert_eq!(
            found(&less, HOST, NVPTX),
            [row("device/src/isa/host/mod.rs", 5), row("device/src/isa/nvptx/mod.rs", 3)]
        );
        let alone = TABLE.replace("`trap` | `trap`", "`zeros` | x");
        assert_eq!(
            found(&alone, HOST, NVPTX),
            [
                format!("{SEAM}:12: `zeros` is in both backends: move the row to the table of both, or take it out"),
                "device/src/isa/nvptx/mod.rs:16: `trap` is missing in device/src/isa/host: write it there, with the same \
                 signature"
                    .to_owned()
            ]
        );
    }

    #[test]
    fn a_function_of_one_backend_is_found_and_so_is_a_method() {
        let clock = format!("{NVPTX}pub(crate) fn clock() -> u64 {{}}\n");
        assert_eq!(
            found(TABLE, HOST, &clock),
            [
                "device/src/isa/nvptx/mod.rs:17: `clock` is missing in device/src/isa/host: write it there, with the same signature"
            ]
        );
        let all = HOST.replace("fn own", "pub(crate) fn all");
        assert_eq!(
            found(TABLE, &all, NVPTX),
            [
                "device/src/isa/host/mod.rs:14: `Values::all` is missing in device/src/isa/nvptx: write it there, with the same signature"
            ]
        );
    }

    #[test]
    fn signatures_that_differ_are_found() {
        for (from, to) in [
            ("unsafe fn wait", "fn wait"),
            ("const N: usize", "const M: usize"),
            ("parity: u32", "parity: u64"),
            ("parity: u32", "parity: u32, more: u32"),
            ("barrier: *mut u64", "other: *mut u64"),
            ("rank: usize) -> bool", "rank: usize) -> u32"),
        ] {
            let found = found(TABLE, &HOST.replace(from, to), NVPTX);
            assert!(found.len() == 1 && found[0].contains("make them the same"), "{to}: {found:?}");
        }
        assert_eq!(
            found(TABLE, &HOST.replace("unsafe fn wait", "fn wait"), NVPTX),
            [
                "device/src/isa/host/mod.rs:10: `wait` is `fn < const N : usize > (barrier: * mut u64, parity: u32)` here and \
              `unsafe fn < const N : usize > (barrier: Barrier, _: u32)` in device/src/isa/nvptx/mod.rs: make them the same"
            ]
        );
    }
}
