//! `cargo xtask ptx --compare`: what differs between the PTX of two builds.
//!
//! Left out are the names of symbols, registers and labels, the places of panics (file, line and
//! column), the contracts of kernels, the comments and the version of the language. Entries are
//! compared by name, each with all functions and variables that it reaches.

mod module;
mod normal;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;

use walk::{Build, Found};

/// The PTX files of a build.
#[derive(Debug)]
pub struct Files {
    /// The folder that holds them.
    folder: PathBuf,
    /// Whether that is a target folder, with the kernels' PTX in one folder below it and that of
    /// the tests in others.
    is_target: bool,
    /// The files of each folder below it that has some.
    files: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Files {
    /// Lists the PTX files of a target folder, or of a folder that holds PTX itself.
    ///
    /// # Errors
    ///
    /// If there are none, or the folder cannot be read.
    pub fn find(folder: &Path) -> Result<Self> {
        let mut folders = vec![folder.join("ptx")];
        if let Ok(entries) = fs::read_dir(folder.join("test-ptx")) {
            folders.extend(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()));
        }
        for (is_target, folders) in [(true, folders), (false, vec![folder.to_owned()])] {
            let mut files: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
            for path in folders.iter().filter(|path| path.is_dir()) {
                for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
                    let file = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
                    if file.extension() == Some(OsStr::new("ptx")) {
                        files.entry(path.strip_prefix(folder)?.to_owned()).or_default().push(file);
                    }
                }
            }
            if !files.is_empty() {
                return Ok(Self { folder: folder.to_owned(), is_target, files });
            }
        }
        bail!("{} is no target folder with PTX, and holds no .ptx file", folder.display())
    }

    /// The kernels' files alone, as a folder that holds PTX itself has them.
    fn of_kernels(mut self) -> Result<BTreeMap<PathBuf, Vec<PathBuf>>> {
        if !self.is_target {
            return Ok(self.files);
        }
        let kernels = self.files.remove(Path::new("ptx"));
        let kernels = kernels.with_context(|| format!("{} has no ptx/*.ptx", self.folder.display()))?;
        Ok(BTreeMap::from([(PathBuf::new(), kernels)]))
    }
}

/// Prints what differs between the files of two builds, and returns whether nothing does.
///
/// # Errors
///
/// If a file cannot be read or the result not be printed, or both are one folder.
pub fn compare(old: Files, new: Files) -> Result<bool> {
    let real = |files: &Files| files.folder.canonicalize().ok();
    ensure!(
        real(&old) != real(&new),
        "{} is compared with itself: give the folder of another build",
        old.folder.display()
    );
    let (old, new) =
        if old.is_target && new.is_target { (old.files, new.files) } else { (old.of_kernels()?, new.of_kernels()?) };
    let (mut total, mut text) = (Found::default(), String::new());
    let mut files_differ = false;
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        writeln!(text, "removed: {}", name.display())?;
        files_differ = true;
    }
    for (name, paths) in &new {
        let Some(before) = old.get(name) else {
            writeln!(text, "added: {}", name.display())?;
            files_differ = true;
            continue;
        };
        let read = |path: &PathBuf| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        let before: Vec<String> = before.iter().map(read).collect::<Result<_>>()?;
        let after: Vec<String> = paths.iter().map(read).collect::<Result<_>>()?;
        let found = compare_texts(&before, &after);
        if !found.text.is_empty() {
            writeln!(text, "{}", name.display())?;
            text.push_str(&found.text);
        }
        total.same += found.same;
        total.different += found.different;
        total.added += found.added;
        total.removed += found.removed;
    }
    writeln!(
        text,
        "{} entries are the same, {} differ, {} added, {} removed",
        total.same, total.different, total.added, total.removed
    )?;
    io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(!files_differ && total.different + total.added + total.removed == 0)
}

/// Compares the modules of two builds.
fn compare_texts<T: AsRef<str> + Sync>(old: &[T], new: &[T]) -> Found {
    let (old, new) = rayon::join(|| builds(old), || builds(new));
    walk::compare(&old, &new)
}

fn builds<T: AsRef<str> + Sync>(texts: &[T]) -> Vec<Build<'_>> {
    texts.par_iter().map(|text| Build::new(text.as_ref())).collect()
}
