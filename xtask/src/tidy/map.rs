//! The map in ARCHITECTURE.md is the tree: each row's folders are there, each package of the
//! workspace has a row, and the row of the device crate names its modules.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::{Files, Finding};

/// Where the map stands.
const MAP: &str = "ARCHITECTURE.md";

/// The crate of which the map names every module.
const CRATE: &str = "device/";

pub fn check(files: &Files) -> Result<Vec<Finding>> {
    let members = files.text("Cargo.toml")?.lines().find_map(|line| line.strip_prefix("members = "));
    let members = members.context("Cargo.toml has no line `members = ..`")?;
    let packages: BTreeSet<String> = quoted(members, '"').map(|folder| format!("{folder}/")).collect();
    let modules = files.below("device/src").filter_map(|(_, inside, _)| inside.components().next());
    let modules: BTreeSet<&str> = modules
        .filter_map(|first| first.as_os_str().to_str())
        .filter(|name| *name != "lib.rs")
        .map(|name| name.trim_end_matches(".rs"))
        .collect();

    let mut findings = Vec::new();
    let mut find = |line, what: String| findings.push(Finding::new(MAP.as_ref(), line, what));
    let mut mapped = BTreeSet::new();
    for (at, line) in files.text(MAP)?.lines().enumerate().filter(|(_, line)| line.starts_with("| `")) {
        let mut cells = line.trim_matches('|').split('|');
        let (folders, text) = (cells.next().unwrap_or_default(), cells.next_back().unwrap_or_default());
        for folder in quoted(folders, '`') {
            if files.below(folder).next().is_none() {
                find(at + 1, format!("`{folder}` is not there"));
            }
            mapped.insert(folder.to_owned());
            if folder == CRATE {
                let named: BTreeSet<&str> = quoted(text, '`').map(|name| name.trim_end_matches('/')).collect();
                for module in named.difference(&modules) {
                    find(at + 1, format!("`{module}` is no module of the crate"));
                }
                for module in modules.difference(&named) {
                    find(at + 1, format!("the module `{module}` is missing"));
                }
            }
        }
    }
    for package in packages.difference(&mapped) {
        find(0, format!("the package in `{package}` has no row in the map"));
    }
    Ok(findings)
}

/// What stands between pairs of a mark.
fn quoted(text: &str, mark: char) -> impl Iterator<Item = &str> {
    text.split(mark).skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const MEMBERS: &str = "[workspace]\nmembers = [\"device\", \"host\", \"host/more\"]\n";
    const TREE: [(&str, &str); 6] = [
        ("device/src/lib.rs", ""),
        ("device/src/tile.rs", ""),
        ("device/src/isa/mod.rs", ""),
        ("device/src/runtime.ll", ""),
        ("host/src/lib.rs", ""),
        ("host/more/src/lib.rs", ""),
    ];

    fn found(map: &str) -> Vec<String> {
        let tree = [TREE.as_slice(), &[("Cargo.toml", MEMBERS), (MAP, map)]].concat();
        check(&files(&tree)).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_map_of_the_tree_is_accepted_and_what_differs_is_named() {
        let right = "| folder | crate | what |\n|---|---|---|\n\
            | `device/` | `tilepipe` | shapes (`tile`), the seam (`isa/`), `runtime.ll` |\n\
            | `host/`, `host/more/` | | `launch` and more |\n";
        assert_eq!(found(right), [""; 0]);
        assert_eq!(
            found(&right.replace("`tile`", "`view`")),
            ["ARCHITECTURE.md:3: `view` is no module of the crate", "ARCHITECTURE.md:3: the module `tile` is missing",]
        );
        assert_eq!(
            found(&right.replace(", `host/more/`", ", `gone/`")),
            [
                "ARCHITECTURE.md:4: `gone/` is not there",
                "ARCHITECTURE.md: the package in `host/more/` has no row in the map",
            ]
        );
        assert!(check(&files(&[("Cargo.toml", MEMBERS)])).is_err());
    }
}
