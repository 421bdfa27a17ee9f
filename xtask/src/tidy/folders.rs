//! No folder of sources holds more than [`MOST`] files.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Files, Finding};

/// What a reader takes in at a glance.
const MOST: usize = 12;

/// Where files lie one to a misuse, and many: a folder of them is a catalogue, not a crate.
const CATALOGUES: &str = "ui-tests";

pub fn check(files: &Files) -> Vec<Finding> {
    let mut held: BTreeMap<&Path, usize> = BTreeMap::new();
    for (path, _) in &files.files {
        let Some(folder) = path.parent().filter(|folder| folder.iter().any(|part| part == "src")) else { continue };
        if !path.starts_with(CATALOGUES) {
            *held.entry(folder).or_default() += 1;
        }
    }
    held.into_iter()
        .filter(|(_, count)| *count > MOST)
        .map(|(folder, count)| {
            let what = format!("{count} files, {MOST} at most: put those that belong together in a folder");
            Finding::new(folder, 0, what)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    fn found(count: usize) -> Vec<String> {
        let names: Vec<String> = (0..count).map(|number| format!("x/src/a/f{number}.rs")).collect();
        let more = ["x/src/lib.rs", "x/src/a/f0/inner.rs", "x/tests/one.rs", "ui-tests/src/a.rs"];
        let tree: Vec<(&str, &str)> = names.iter().map(String::as_str).chain(more).map(|path| (path, "")).collect();
        check(&files(&tree)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_folder_with_too_many_files_is_found() {
        assert_eq!(found(12), [""; 0]);
        assert_eq!(found(13), ["x/src/a: 13 files, 12 at most: put those that belong together in a folder"]);
        let catalogue: Vec<String> = (0..13).map(|number| format!("ui-tests/src/f{number}.rs")).collect();
        let tree: Vec<(&str, &str)> = catalogue.iter().map(|path| (path.as_str(), "")).collect();
        assert_eq!(check(&files(&tree)), []);
    }
}
