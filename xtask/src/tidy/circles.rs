//! No file of a crate imports from another one that imports from it, directly or through others.
//!
//! An import is a path of a `use` that leads into another file: to its module, or to a name that
//! this module exports for one below it. A path that is written out where it is needed is none.
//! What a module exports of the modules in its own folder is its table of contents, and counts as
//! no import. A comment `// circle: ` with a reason, above a `use`, takes its paths out.

use std::collections::BTreeSet;

use super::source::{RustFile, rust_files};
use super::tokens::{Import, imports};
use super::{Files, Finding};

/// The crates' sources.
const CRATES: [&str; 3] = ["device/src", "host/src", "build/src"];

/// What an import is defended by.
const DEFENCE: &str = "// circle: ";

/// The imports that still close a circle: the crate's sources, the module that imports, and the one
/// from which it does, by their last names. One that is mended is taken out, and none is put in.
const KNOWN: &[(&str, &str, &str)] =
    &[("device/src", "contract", "function"), ("device/src", "panics", "block"), ("device/src", "map", "group")];

pub fn check(files: &Files) -> Vec<Finding> {
    with_known(files, KNOWN)
}

fn with_known(files: &Files, known: &[(&str, &str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in CRATES {
        let rust = rust_files(files, folder);
        let mut edges = edges(files, &rust);
        let known = known.iter().filter(|(of, ..)| *of == folder).map(|(_, from, to)| (*from, *to));
        let known: BTreeSet<(&str, &str)> = known.collect();
        let names = |edge: &Edge| (rust[edge.from].name(), rust[edge.to].name());
        let all = circles(rust.len(), edges.iter());
        let is_in_one = |edge: &Edge| all.iter().any(|circle| circle.contains(&edge.from) && circle.contains(&edge.to));
        for edge in edges.iter().filter(|edge| edge.defended && !is_in_one(edge)) {
            let what = format!("the import below `{DEFENCE}..` is in no circle: take the comment out");
            findings.push(Finding::new(&rust[edge.from].path, edge.line, what));
        }
        for gone in known.iter().filter(|known| !edges.iter().any(|edge| names(edge) == **known && is_in_one(edge))) {
            let what = format!("{gone:?} is in no circle: take it out of `KNOWN` in xtask/src/tidy/circles.rs");
            findings.push(Finding::new(folder.as_ref(), 0, what));
        }
        edges.retain(|edge| !edge.defended && !known.contains(&names(edge)));
        for circle in circles(rust.len(), edges.iter()) {
            let shortest = shortest(&edges, &circle);
            let says = |edge: &&Edge| {
                let (from, to) = (&rust[edge.from], &rust[edge.to]);
                format!("{}:{} imports from {}", from.path.display(), edge.line, to.path.display())
            };
            let whole = shortest.iter().map(says).collect::<Vec<_>>().join(", ");
            let what = format!(
                "{} files import from each other in circles: {whole}; move what two of them need below both, or say \
                 above a `use` why it is so (`{DEFENCE}..`)",
                circle.len()
            );
            findings.push(Finding::new(&rust[shortest[0].from].path, shortest[0].line, what));
        }
    }
    findings
}

/// An import that leads from one file to another, by their places.
#[derive(PartialEq, Eq)]
struct Edge {
    from: usize,
    to: usize,
    line: usize,
    /// Whether a comment says why it is so.
    defended: bool,
}

/// The imports of all files: of each pair of files one that is defended and one that is not.
fn edges(files: &Files, rust: &[RustFile]) -> Vec<Edge> {
    let imported: Vec<Vec<Import<'_>>> = rust.iter().map(|file| imports(&file.code)).collect();
    let mut edges: Vec<Edge> = Vec::new();
    for (from, (file, imports)) in rust.iter().zip(&imported).enumerate() {
        let whole: Vec<&str> = files.text(&file.path).unwrap_or_default().lines().collect();
        for import in imports {
            let line = file.line(import.at);
            let defended = line >= 2 && whole[line - 2].trim_start().starts_with(DEFENCE);
            let Some(to) = target(rust, &imported, from, import, 0).filter(|to| *to != from) else { continue };
            let is_contents = import.exports && rust[to].module.starts_with(&file.module);
            let is_known = edges.iter().any(|edge| (edge.from, edge.to, edge.defended) == (from, to, defended));
            if !is_contents && !is_known {
                edges.push(Edge { from, to, line, defended });
            }
        }
    }
    edges
}

/// The file into which an import leads, if it is one of the crate.
fn target(rust: &[RustFile], all: &[Vec<Import<'_>>], from: usize, import: &Import<'_>, steps: usize) -> Option<usize> {
    let at = |module: &[String]| rust.iter().position(|file| file.module == module);
    let mut module = rust[from].module.clone();
    let mut path = import.path.as_slice();
    match *path.first()? {
        "crate" => {
            module.clear();
            path = &path[1..];
        }
        "self" if import.inside == 0 => path = &path[1..],
        "super" => {
            let supers = path.iter().take_while(|name| **name == "super").count();
            let up = supers.saturating_sub(import.inside);
            module.truncate(module.len().checked_sub(up)?);
            path = &path[supers..];
            if supers < import.inside {
                return None;
            }
        }
        child => {
            let below = [module.as_slice(), &[child.to_owned()]].concat();
            if import.inside > 0 || at(&below).is_none() {
                return None;
            }
        }
    }
    for name in path {
        let below = [module.as_slice(), &[(*name).to_owned()]].concat();
        if at(&below).is_some() {
            module = below;
            continue;
        }
        // A name of the module's own, or one that it exports for another.
        let exporter = at(&module)?;
        let exported = all[exporter].iter().find(|one| one.exports && one.path.last() == Some(name));
        return match exported.filter(|_| steps < rust.len()) {
            Some(exported) => target(rust, all, exporter, exported, steps + 1).or(Some(exporter)),
            None => Some(exporter),
        };
    }
    at(&module)
}

/// The sets of files of which each reaches each other.
fn circles<'a>(files: usize, edges: impl Iterator<Item = &'a Edge> + Clone) -> BTreeSet<BTreeSet<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..files)
        .map(|from| {
            let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
            while let Some(file) = left.pop() {
                let further = edges.clone().filter(|edge| edge.from == file && reached.insert(edge.to));
                left.extend(further.map(|edge| edge.to));
            }
            reached
        })
        .collect();
    let circle = |file: usize| reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
    (0..files).map(circle).filter(|circle: &BTreeSet<usize>| circle.len() > 1).collect()
}

/// The fewest imports that lead from a file of a circle back to it.
fn shortest<'a>(edges: &'a [Edge], circle: &BTreeSet<usize>) -> Vec<&'a Edge> {
    let mut ways: Vec<Vec<&Edge>> =
        edges.iter().filter(|edge| circle.contains(&edge.from)).map(|edge| vec![edge]).collect();
    loop {
        if let Some(way) = ways.iter().find(|way| way[0].from == way[way.len() - 1].to) {
            return way.clone();
        }
        let further = |way: &Vec<&'a Edge>| {
            let (way, end) = (way.clone(), way[way.len() - 1].to);
            let next = edges.iter().filter(move |edge| edge.from == end);
            next.map(move |edge| [way.as_slice(), &[edge]].concat()).collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(further).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    fn found(tree: &[(&str, &str)], known: &[(&str, &str, &str)]) -> Vec<String> {
        with_known(&files(tree), known).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_that_import_from_each_other_are_found_with_the_imports() {
        let circle = [
            ("host/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\n"),
            ("host/src/a.rs", "use std::fmt;\n\nuse crate::b::B;\n"),
            ("host/src/b.rs", "//! See `crate::a`.\nuse super::c::C;\n"),
            ("host/src/c.rs", "use crate::A;\n"),
        ];
        assert_eq!(
            found(&circle, &[]),
            ["host/src/a.rs:3: 3 files import from each other in circles: host/src/a.rs:3 imports from \
              host/src/b.rs, host/src/b.rs:2 imports from host/src/c.rs, host/src/c.rs:1 imports from \
              host/src/a.rs; move what two of them need below both, or say above a `use` why it is so \
              (`// circle: ..`)"]
        );
        let mut line = circle;
        line[3].1 = "use crate::other::A;\n";
        assert_eq!(found(&line, &[]), [""; 0]);
        line[3].1 = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::A;\n}\n";
        assert_eq!(found(&line, &[]), [""; 0]);
    }

    #[test]
    fn a_module_may_export_its_children_and_not_use_them() {
        let exports = ("device/src/a/mod.rs", "mod b;\npub use b::B;\npub(crate) use self::b::*;\n");
        let child = ("device/src/a/b.rs", "use super::A;\nmod inner {\n    use super::B;\n}\n");
        assert_eq!(found(&[exports, child], &[]), [""; 0]);
        let uses = ("device/src/a/mod.rs", "mod b;\nuse b::B;\n");
        assert_eq!(found(&[uses, child], &[]).len(), 1);
    }

    #[test]
    fn the_shortest_circle_is_shown() {
        let tree = [
            ("build/src/a.rs", "use crate::b;\n"),
            ("build/src/b.rs", "use crate::c;\n"),
            ("build/src/c.rs", "use crate::{a, b};\n"),
        ];
        let found = found(&tree, &[]);
        let begin = "build/src/b.rs:1: 3 files import from each other in circles: build/src/b.rs:1 imports from \
                     build/src/c.rs, build/src/c.rs:1 imports from build/src/b.rs; ";
        assert!(found.len() == 1 && found[0].starts_with(begin), "{found:?}");
    }

    #[test]
    fn a_reason_or_the_list_defends_an_import_and_only_one_that_closes_a_circle() {
        let one = ("build/src/a.rs", "use crate::b;\n");
        let tree = [one, ("build/src/b.rs", "use crate::a;\n")];
        assert_eq!(found(&tree, &[]).len(), 1);
        assert_eq!(found(&tree, &[("build/src", "b", "a")]), [""; 0]);
        let defended = [one, ("build/src/b.rs", "// circle: each says what the other is.\nuse crate::a;\n")];
        assert_eq!(found(&defended, &[]), [""; 0]);
        let straight = [defended[1], ("build/src/a.rs", "")];
        assert_eq!(
            found(&straight, &[("build/src", "b", "a")]),
            [
                "build/src/b.rs:2: the import below `// circle: ..` is in no circle: take the comment out",
                "build/src: (\"b\", \"a\") is in no circle: take it out of `KNOWN` in xtask/src/tidy/circles.rs"
            ]
        );
    }
}
