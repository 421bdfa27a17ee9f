//! No folder of sources holds more than [`MOST`] files.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Files, Finding};

/// What a reader takes in at a glance.
const MOST: usize = 12;

/// Where files lie one to a misuse, and many: a folder of them is a catalogue, not a crate.
const CATALOGUES: &str = "ui-tests";

/// The folders that still hold more, with how many. A number only goes down, and a folder that
/// holds few enough is taken out.
const KNOWN: &[(&str, usize)] = &[("kernels/src", 14)];

pub fn check(files: &Files) -> Vec<Finding> {
    with_known(files, KNOWN)
}

fn with_known(files: &Files, known: &[(&str, usize)]) -> Vec<Finding> {
    let mut held: BTreeMap<&Path, usize> = BTreeMap::new();
    for (path, _) in &files.files {
        let Some(folder) = path.parent().filter(|folder| folder.iter().any(|part| part == "src")) else { continue };
        if !path.starts_with(CATALOGUES) {
            *held.entry(folder).or_default() += 1;
        }
    }
    let mut findings = Vec::new();
    for (folder, count) in &held {
        let allowed = known.iter().find(|(known, _)| Path::new(known) == *folder).map_or(MOST, |(_, count)| *count);
        if *count > allowed {
            let what = format!("{count} files, {allowed} at most: put those that belong together in a folder");
            findings.push(Finding::new(folder, 0, what));
        }
    }
    for (folder, count) in known {
        let now = held.get(Path::new(folder)).copied().unwrap_or(0);
        if now < *count {
            let then = if now > MOST { format!("write {now}") } else { "take it out".to_owned() };
            let what = format!("{now} files, and `KNOWN` in xtask/src/tidy/folders.rs says {count}: {then} there");
            findings.push(Finding::new(folder.as_ref(), 0, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    fn found(count: usize, known: &[(&str, usize)]) -> Vec<String> {
        let names: Vec<String> = (0..count).map(|number| format!("x/src/a/f{number}.rs")).collect();
        let more = ["x/src/lib.rs", "x/src/a/f0/inner.rs", "x/tests/one.rs", "ui-tests/src/a.rs"];
        let tree: Vec<(&str, &str)> = names.iter().map(String::as_str).chain(more).map(|path| (path, "")).collect();
        with_known(&files(&tree), known).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_folder_with_too_many_files_is_found() {
        assert_eq!(found(12, &[]), [""; 0]);
        assert_eq!(found(13, &[]), ["x/src/a: 13 files, 12 at most: put those that belong together in a folder"]);
        let catalogue: Vec<String> = (0..13).map(|number| format!("ui-tests/src/f{number}.rs")).collect();
        let tree: Vec<(&str, &str)> = catalogue.iter().map(|path| (path.as_str(), "")).collect();
        assert_eq!(with_known(&files(&tree), &[]), []);
    }

    #[test]
    fn a_known_folder_only_shrinks() {
        assert_eq!(found(14, &[("x/src/a", 14)]), [""; 0]);
        assert_eq!(found(15, &[("x/src/a", 14)]).len(), 1);
        assert_eq!(
            found(13, &[("x/src/a", 14)]),
            ["x/src/a: 13 files, and `KNOWN` in xtask/src/tidy/folders.rs says 14: write 13 there"]
        );
        assert_eq!(
            found(12, &[("x/src/a", 14)]),
            ["x/src/a: 12 files, and `KNOWN` in xtask/src/tidy/folders.rs says 14: take it out there"]
        );
    }
}
