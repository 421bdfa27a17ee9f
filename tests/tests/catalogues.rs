//! The tests that SOUNDNESS.md and docs/misuse.md name exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Tools that stand for the whole of what they check.
const TOOLS: [&str; 3] = ["memcheck", "racecheck", "synccheck"];

/// What there is in the repository that can be named.
struct Named {
    root: PathBuf,
    /// The programs that must not compile.
    programs: BTreeSet<String>,
    /// Functions by their names, each with the files that have one.
    functions: BTreeMap<String, Vec<PathBuf>>,
    /// Those that are tests, or that tests on the CPU and on a GPU call alike (`tests/src`).
    tests: BTreeMap<String, Vec<PathBuf>>,
}

impl Named {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (functions, tests) = (BTreeMap::new(), BTreeMap::new());
        let mut named = Named { programs: BTreeSet::new(), functions, tests, root };
        let crates =
            ["bench", "build", "cargo-tilepipe", "device", "host", "kernels", "runner", "tests", "ui-tests", "xtask"];
        for folder in crates {
            named.read_folder(Path::new(folder));
        }
        named
    }

    fn read_folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(self.root.join(folder)).unwrap().map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                self.read_folder(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                if folder == Path::new("ui-tests/fail") {
                    self.programs.extend(stem(&path));
                } else {
                    self.read_functions(&path);
                }
            }
        }
    }

    fn read_functions(&mut self, path: &Path) {
        let of_both = path.starts_with("tests/src");
        let mut is_marked = false;
        for line in fs::read_to_string(self.root.join(path)).unwrap().lines() {
            // A list of tests that a macro makes has names alone.
            let line = line.trim();
            if line.starts_with("#[") {
                is_marked |= line == "#[test]";
                continue;
            }
            let name = line.split_once("fn ").map_or(line, |(_, rest)| rest);
            let name: String = name.chars().take_while(|one| one.is_alphanumeric() || *one == '_').collect();
            if !name.is_empty() && (line.contains("fn ") || name == line) {
                if is_marked || of_both || name == line {
                    self.tests.entry(name.clone()).or_default().push(path.to_owned());
                }
                self.functions.entry(name).or_default().push(path.to_owned());
            }
            is_marked = false;
        }
    }

    /// Whether something has this name: a program, a test, a kernel or module of tests, or a path.
    /// What is named with its module is a test, or a module.
    fn has(&self, name: &str) -> bool {
        if TOOLS.contains(&name) {
            return true;
        }
        if name.contains('/') {
            return self.root.join(name).exists();
        }
        let (modules, name) = name.rsplit_once("::").map_or((None, name), |(modules, name)| (Some(modules), name));
        let fits = |other: &str| match name.split_once("..").or_else(|| name.split_once('*')) {
            None => other == name,
            Some((start, end)) => {
                other.len() >= start.len() + end.len() && other.starts_with(start) && other.ends_with(end)
            }
        };
        if modules.is_none() && self.programs.iter().any(|program| fits(program)) {
            return true;
        }
        let module = modules.map(|modules| modules.rsplit("::").next().unwrap_or(modules));
        let in_module = |path: &PathBuf| module.is_none_or(|module| is_in(path, module));
        let all = if modules.is_some() { &self.tests } else { &self.functions };
        let mut found = all.iter().filter(|(function, _)| fits(function));
        if found.any(|(_, paths)| paths.iter().any(in_module)) {
            return true;
        }
        // A module of tests as a whole.
        self.functions.values().flatten().any(|path| stem(path).as_deref() == Some(name))
    }
}

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_str()?.to_owned())
}

/// Whether a file is a module's, or lies in its folder.
fn is_in(path: &Path, module: &str) -> bool {
    path.components().any(|part| Path::new(part.as_os_str()).file_stem().is_some_and(|stem| stem == module))
}

/// What says in a row that it has no test of its own.
const WITHOUT: [&str; 1] = ["as there"];

/// The names in backticks in the last columns of a document's tables that end with such a heading;
/// without those of types. A row that names nothing stands for itself.
fn names<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let (mut names, mut in_table) = (Vec::new(), false);
    for line in text.lines() {
        let Some((_, last)) = line.strip_suffix('|').and_then(|row| row.rsplit_once('|')) else {
            in_table = false;
            continue;
        };
        let last = last.trim();
        if in_table && !last.trim_matches('-').is_empty() {
            let quoted = last.split('`').skip(1).step_by(2);
            let before = names.len();
            names.extend(quoted.filter(|name| !name.starts_with(char::is_uppercase)));
            if names.len() == before && !WITHOUT.contains(&last) {
                names.push(line);
            }
        }
        in_table |= last == heading;
    }
    names
}

#[test]
fn tests_that_catalogues_name_are_there() {
    let named = Named::read();
    let mut missing = Vec::new();
    for (file, heading, least) in [("SOUNDNESS.md", "test", 80), ("docs/misuse.md", "covered by", 150)] {
        let text = fs::read_to_string(named.root.join(file)).unwrap();
        let names = names(&text, heading);
        assert!(names.len() > least, "{file} names {}", names.len());
        missing.extend(names.into_iter().filter(|name| !named.has(name)).map(|name| format!("{file}: {name}")));
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_name_of_nothing_is_found_out() {
    let named = Named::read();
    for name in [
        "bulk_tile_of_23_bytes",
        "bulk_tile_of_24_byte",
        "bulk_tile_of_9*",
        "codegen::bulk::a_fence_that_..",
        "codegen::steps::steps_become_..",
        "device/src/role/protocol/check",
        // A function that is no test, and a kernel.
        "codegen::bulk::of_thread",
        "bulk::left_in_scope",
    ] {
        assert!(!named.has(name), "{name}");
    }
    let there = ["bulk_tile_of_24_bytes", "bulk_*_bytes", "codegen::bulk::steps_become_..", "public_api", "memcheck"];
    for name in there.into_iter().chain(["left_in_scope", "tensors::check_extents"]) {
        assert!(named.has(name), "{name}");
    }
    let table = "| a | test |\n|---|---|\n| `no` | `one`, `two` |\n| b | none |\n| c | as there |\n\n| `x` | `y` |";
    assert_eq!(names(table, "test"), ["one", "two", "| b | none |"]);
}
