//! `cargo xtask tidy`: what neither rustfmt nor clippy looks at.
//!
//! Each rule has a file or folder of its own. Those about Rust code read it through `source` and
//! `tokens`.

mod circles;
mod comments;
mod decisions;
mod folders;
mod imports;
mod instructions;
mod map;
mod numbers;
mod seam;
mod source;
mod target;
mod tokens;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::project;

/// What is not as it should be, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, from the repository's root.
    file: PathBuf,
    /// The line, from 1; 0 if it is the whole file.
    line: usize,
    what: String,
}

impl Finding {
    fn new(file: &Path, line: usize, what: impl Into<String>) -> Self {
        Finding { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        write!(f, " {}", self.what)
    }
}

/// Prints what it finds; the exit status says whether that is nothing.
///
/// # Errors
///
/// A file or folder that cannot be read.
pub fn command() -> Result<ExitCode> {
    let findings = findings(project::root())?;
    for finding in &findings {
        println!("{finding}");
    }
    let (count, s) = (findings.len(), if findings.len() == 1 { "" } else { "s" });
    println!("{count} finding{s}");
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All that is not as it should be in the repository at `root`.
///
/// # Errors
///
/// As for [`command`].
pub fn findings(root: &Path) -> Result<Vec<Finding>> {
    let files = Files::read(root)?;
    let mut findings = comments::check(&files);
    findings.extend(decisions::check(&files));
    findings.extend(imports::check(&files));
    findings.extend(circles::check(&files));
    findings.extend(folders::check(&files));
    findings.extend(instructions::check(&files));
    findings.extend(map::check(&files)?);
    findings.extend(numbers::check(&files));
    findings.extend(seam::check(&files)?);
    findings.extend(target::check(&files));
    Ok(findings)
}

/// The repository's text files, without what is built.
struct Files {
    /// Paths from the root, with what the files hold.
    files: Vec<(PathBuf, String)>,
}

impl Files {
    fn read(root: &Path) -> Result<Self> {
        let mut found = Files { files: Vec::new() };
        let mut left = vec![PathBuf::new()];
        while let Some(folder) = left.pop() {
            let at = root.join(&folder);
            for entry in std::fs::read_dir(&at).with_context(|| format!("cannot read {}", at.display()))? {
                let entry = entry?;
                let path = folder.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    let is_source = entry.file_name() != "target" && entry.file_name() != ".git";
                    left.extend(is_source.then_some(path));
                } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
                    // What is no text has no comments.
                    found.files.push((path, text));
                }
            }
        }
        found.files.sort();
        Ok(found)
    }

    /// The files in a folder, with their paths from there.
    fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a Path, &'a Path, &'a str)> {
        self.files
            .iter()
            .filter_map(move |(path, text)| Some((path.as_path(), path.strip_prefix(folder).ok()?, text.as_str())))
    }

    fn text(&self, path: impl AsRef<Path>) -> Result<&str> {
        let path = path.as_ref();
        let file = self.files.iter().find(|(file, _)| file == path);
        file.map(|(_, text)| text.as_str()).with_context(|| format!("{} is not there", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let findings = findings(project::root()).unwrap();
        assert!(findings.is_empty(), "{}", findings.iter().map(|one| format!("{one}\n")).collect::<String>());
    }

    /// Files of that content, which lie nowhere.
    pub(super) fn files(files: &[(&str, &str)]) -> Files {
        Files { files: files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect() }
    }

    #[test]
    fn what_is_built_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a.rs", "b/c.rs", "target/d.rs", "b/target/e.rs", ".git/f", ".ci/g"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        }
        std::fs::write(folder.path().join("binary"), [0xFF]).unwrap();
        let read = Files::read(folder.path()).unwrap();
        let names: Vec<&Path> = read.files.iter().map(|(path, _)| path.as_path()).collect();
        assert_eq!(names, [".ci/g", "a.rs", "b/c.rs"].map(Path::new));
        assert!(Files::read(&folder.path().join("none")).is_err());
    }
}
