//! Comment lines are at most [`WIDTH`] columns wide.

use super::{Files, Finding};

/// Where a reader's window may end.
const WIDTH: usize = 100;

/// What a comment begins with in files of these kinds.
const COMMENTS: [(&str, &str); 7] =
    [("rs", "//"), ("cu", "//"), ("cuh", "//"), ("ll", ";"), ("sh", "# "), ("toml", "# "), ("yml", "# ")];

pub fn check(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in &files.files {
        let kind = path.extension().unwrap_or_default();
        let Some((_, begin)) = COMMENTS.iter().find(|(of, _)| kind == *of) else { continue };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with(begin)) {
            let columns = line.chars().count();
            if columns > WIDTH {
                findings.push(Finding::new(path, at + 1, format!("a comment of {columns} columns: {WIDTH} at most")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::files;
    use super::*;

    #[test]
    fn comments_that_are_too_wide_are_found_and_code_is_not() {
        let comment = |begin: &str, columns: usize| format!("{begin}{}", "ä".repeat(columns - begin.len()));
        let wide = format!("fn f() {{}}\n{}\n{}\n", comment("    /// ", 100), comment("    /// ", 101));
        let code = format!("let text = \"{}\";\n#[{}]\n", "a".repeat(100), "a".repeat(100));
        let found = check(&files(&[
            ("a.rs", &wide),
            ("b.rs", &code),
            ("c.sh", &comment("# ", 101)),
            ("d.md", &comment("# ", 101)),
            ("e.ll", &comment("; ", 102)),
        ]));
        let places: Vec<(&Path, usize)> = found.iter().map(|one| (one.file.as_path(), one.line)).collect();
        assert_eq!(places, [(Path::new("a.rs"), 3), (Path::new("c.sh"), 1), (Path::new("e.ll"), 1)]);
        assert_eq!(found[2].to_string(), "e.ll:1: a comment of 102 columns: 100 at most");
    }
}
