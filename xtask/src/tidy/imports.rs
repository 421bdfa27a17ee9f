//! Modules of the device crate that others stand on name nothing above them.

use super::{Files, Finding};

/// The crate's sources.
const CRATE: &str = "device/src";

/// Modules, and the modules of the crate that they may name. Their tests may name all.
const FOUNDATIONS: [(&str, &[&str]); 2] = [("isa", &["isa"]), ("marker", &["marker"])];

pub fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, inside, text) in files.below(CRATE) {
        let first = inside.components().next().and_then(|first| first.as_os_str().to_str()).unwrap_or_default();
        let module = first.trim_end_matches(".rs");
        let Some((_, allowed)) = FOUNDATIONS.iter().find(|(foundation, _)| *foundation == module) else { continue };
        if inside.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs") {
            continue;
        }
        // Unit tests stand at the end of a file.
        let lines = text.lines().take_while(|line| *line != "mod tests {");
        for (at, line) in lines.enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for named in named(line).into_iter().filter(|named| !allowed.contains(named)) {
                findings.push(Finding::new(
                    path,
                    at + 1,
                    format!("`{module}` names `crate::{named}`, which is above it"),
                ));
            }
        }
    }
    findings
}

/// The modules and items of the crate that a line names.
fn named(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        let list = rest.strip_prefix('{').map(|rest| rest.split('}').next().unwrap_or_default());
        let names = list.unwrap_or(rest).split(',').take(if list.is_some() { usize::MAX } else { 1 });
        let name = |text: &'_ str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        found.extend(names.map(str::trim).map(|text| &text[..name(text)]).filter(|name| !name.is_empty()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    #[test]
    fn what_a_line_names_is_found() {
        assert_eq!(named("use crate::isa::{self, WARP};"), ["isa"]);
        assert_eq!(named("use crate::{fault, isa::host};"), ["fault", "isa"]);
        assert_eq!(named("    crate::group::f(crate::WARP)"), ["group", "WARP"]);
        assert_eq!(named("use super::model;"), [""; 0]);
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
