//! The rooms of the device crate stand one on another: no file names a room above its own.

use super::source::rust_files;
use super::tokens::{closed, tokens};
use super::{Files, Finding};

/// The crate's sources.
const CRATE: &str = "device/src";

/// The rooms from the ground up. A room names itself and those before it, and the first two nothing
/// but themselves. Their tests may name all. What is not listed stands above all rooms and names
/// what it likes.
const ROOMS: [&str; 20] = [
    "marker", "isa", "fault", "element", "tile", "scope", "group", "view", "output", "tensor", "product", "engine",
    "memory", "scratch", "stage", "barrier", "pipeline", "store", "bins", "role",
];

/// How many of the first rooms name nothing but themselves.
const FOUNDATIONS: usize = 2;

pub fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in rust_files(files, CRATE) {
        let module = file.module.first().map_or("lib", String::as_str);
        let Some(room) = ROOMS.iter().position(|room| *room == module) else { continue };
        let below = if room < FOUNDATIONS { &[] } else { &ROOMS[..room] };
        for (at, named) in named(&file.code).into_iter().filter(|(_, named)| *named != module && !below.contains(named))
        {
            let what = format!("`{module}` names `crate::{named}`, which is above it");
            findings.push(Finding::new(&file.path, file.line(at), what));
        }
    }
    findings
}

/// The modules and items of the crate that code names, with the places where it says `crate`.
fn named(code: &str) -> Vec<(usize, &str)> {
    let tokens = tokens(code);
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
    let mut found = Vec::new();
    for place in (0..tokens.len()).filter(|place| text(*place) == "crate" && text(place + 1) == "::") {
        let mut name = place + 2;
        if text(name) != "{" {
            found.push((tokens[place].at, text(name)));
            continue;
        }
        let end = closed(&tokens, name) - 1;
        while name < end {
            // Behind the bracket, or behind a comma.
            name += 1;
            found.extend((name < end).then(|| (tokens[place].at, text(name))));
            while name < end && text(name) != "," {
                name = if text(name) == "{" { closed(&tokens, name) } else { name + 1 };
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    #[test]
    fn what_a_file_names_is_found() {
        let named = |code| named(code).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        assert_eq!(named("use crate::isa::{self, WARP};"), ["isa"]);
        assert_eq!(named("use crate::{fault, isa::{host, a::b}, c};"), ["fault", "isa", "c"]);
        assert_eq!(named("\nuse crate::{\n    fault,\n    isa,\n};"), ["fault", "isa"]);
        assert_eq!(named("    crate::group::f(crate::WARP)"), ["group", "WARP"]);
        assert_eq!(named("pub(crate) use super::model;"), [""; 0]);
    }

    #[test]
    fn an_import_that_climbs_is_found_but_in_tests() {
        let found = check(&files(&[
            (
                "device/src/isa/host/mod.rs",
                "//! See [`Block`](crate::Block).\nuse crate::isa::X;\nuse crate::cpu;\n#[cfg(test)]\nmod tests;\n",
            ),
            ("device/src/isa/host/model.rs", "use super::X;\n\n#[cfg(test)]\nmod tests {\n    use crate::cpu;\n}\n"),
            ("device/src/isa/host/tests/mod.rs", "use crate::cpu::run_body;\n"),
            ("device/src/marker.rs", "use crate::{isa, marker};\n"),
            ("device/src/tile.rs", "use crate::isa;\nuse crate::tile::Tile;\n"),
            ("device/src/stage/ring.rs", "use crate::{engine, memory};\nuse crate::pipeline::Ready;\n"),
            ("device/src/entry.rs", "use crate::{launch, role};\n"),
            ("host/src/isa/mod.rs", "use crate::cpu;\n"),
        ]));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "device/src/isa/host/mod.rs:3: `isa` names `crate::cpu`, which is above it",
                "device/src/marker.rs:1: `marker` names `crate::isa`, which is above it",
                "device/src/stage/ring.rs:2: `stage` names `crate::pipeline`, which is above it",
            ]
        );
    }
}
