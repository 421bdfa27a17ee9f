//! Modules of the device crate that others stand on name nothing above them.

use super::{Files, Finding};

/// The crate's sources.
const CRATE: &str = "device/src";

/// Modules that name nothing of the crate outside of themselves. Their tests may.
const FOUNDATIONS: [&str; 2] = ["isa", "marker"];

pub fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, inside, text) in files.below(CRATE) {
        let first = inside.components().next().and_then(|first| first.as_os_str().to_str());
        let module = first.unwrap_or_default().trim_end_matches(".rs");
        let is_test = inside.components().any(|part| part.as_os_str() == "tests");
        if is_test || !FOUNDATIONS.contains(&module) {
            continue;
        }
        for (line, named) in named(text).into_iter().filter(|(_, named)| *named != module) {
            findings.push(Finding::new(path, line, format!("`{module}` names `crate::{named}`, which is above it")));
        }
    }
    findings
}

/// The modules and items of the crate that a file names before its unit tests, with their lines.
fn named(text: &str) -> Vec<(usize, &str)> {
    // Unit tests stand at the end of a file.
    let code = text.split("\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    for (at, begin) in code.match_indices("crate::") {
        let before = &code[..at];
        let is_comment = before.rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("//"));
        let rest = &code[at + begin.len()..];
        let list = rest.strip_prefix('{').map(|rest| rest.split('}').next().unwrap_or_default());
        let names = list.unwrap_or(rest).split(',').take(if list.is_some() { usize::MAX } else { 1 });
        let name = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let names = names.map(str::trim).map(|text| &text[..name(text)]);
        let line = before.matches('\n').count() + 1;
        found.extend(names.filter(|name| !is_comment && !name.is_empty()).map(|name| (line, name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    #[test]
    fn what_a_file_names_is_found() {
        assert_eq!(named("use crate::isa::{self, WARP};"), [(1, "isa")]);
        assert_eq!(named("use crate::{fault, isa::host};"), [(1, "fault"), (1, "isa")]);
        assert_eq!(named("\nuse crate::{\n    fault,\n    isa,\n};"), [(2, "fault"), (2, "isa")]);
        assert_eq!(named("    crate::group::f(crate::WARP)"), [(1, "group"), (1, "WARP")]);
        assert_eq!(named("use super::model;"), []);
    }

    #[test]
    fn an_import_that_climbs_is_found_but_in_tests() {
        let found = check(&files(&[
            ("device/src/isa/host/mod.rs", "//! See [`Block`](crate::Block).\nuse crate::isa::X;\nuse crate::cpu;\n"),
            ("device/src/isa/host/model.rs", "use super::X;\n\n#[cfg(test)]\nmod tests {\n    use crate::cpu;\n}\n"),
            ("device/src/isa/host/tests/mod.rs", "use crate::cpu::run_body;\n"),
            ("device/src/marker.rs", "use crate::{isa, marker};\n"),
            ("device/src/tile.rs", "use crate::isa;\n"),
            ("host/src/isa/mod.rs", "use crate::cpu;\n"),
        ]));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "device/src/isa/host/mod.rs:3: `isa` names `crate::cpu`, which is above it",
                "device/src/marker.rs:1: `marker` names `crate::isa`, which is above it",
            ]
        );
    }
}
