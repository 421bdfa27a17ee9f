//! Rust sources as the rules read them: without unit tests, without comments.

use std::path::{Path, PathBuf};

use super::Files;

/// A source file, but for its unit tests.
pub struct RustFile {
    /// From the repository's root.
    pub path: PathBuf,
    /// The path of its module in the crate; empty for the crate's root.
    pub module: Vec<String>,
    /// The file with its comments blanked, and as long as it.
    pub text: String,
    /// The same with what its literals say blanked too.
    pub code: String,
}

impl RustFile {
    fn new(path: &Path, inside: &Path, whole: &str) -> Self {
        let without_tests = whole.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let (text, code) = blanked(without_tests);
        RustFile { path: path.to_owned(), module: module(inside), text, code }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, at: usize) -> usize {
        line(&self.text, at)
    }

    /// What the file's string literals say, each with the place of its first byte.
    pub fn literals(&self) -> Vec<(usize, &str)> {
        let quotes: Vec<usize> = self.code.match_indices('"').map(|(at, _)| at).collect();
        quotes.chunks_exact(2).map(|pair| (pair[0] + 1, &self.text[pair[0] + 1..pair[1]])).collect()
    }

    /// The name of its module without the path to it; the crate's root is `lib`.
    pub fn name(&self) -> &str {
        self.module.last().map_or("lib", String::as_str)
    }
}

/// The Rust files below a folder of sources, but for those that only tests have.
pub fn rust_files(files: &Files, folder: &str) -> Vec<RustFile> {
    let rust = files.below(folder).filter(|(path, ..)| path.extension().is_some_and(|kind| kind == "rs"));
    let mut found: Vec<RustFile> = rust.map(|(path, inside, text)| RustFile::new(path, inside, text)).collect();
    let of_tests: Vec<Vec<String>> = found
        .iter()
        .flat_map(|file| test_modules(&file.code).map(|name| [file.module.as_slice(), &[name.to_owned()]].concat()))
        .collect();
    found.retain(|file| !of_tests.iter().any(|tests| file.module.starts_with(tests)));
    found
}

/// The line of a byte of a text, from 1.
pub fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The modules in files of their own that a file declares for tests alone.
fn test_modules(code: &str) -> impl Iterator<Item = &str> {
    let pairs = code.lines().zip(code.lines().skip(1));
    let declared = pairs.filter(|(attribute, _)| attribute.trim() == "#[cfg(test)]").map(|(_, module)| module.trim());
    declared.filter_map(|module| {
        module.trim_start_matches("pub(crate) ").trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')
    })
}

/// The path of the module that a file holds, given its place in the crate's sources.
fn module(inside: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        inside.iter().map(|part| part.to_string_lossy().trim_end_matches(".rs").to_owned()).collect();
    if names.last().is_some_and(|last| last == "mod") || names == ["lib"] || names == ["main"] {
        names.pop();
    }
    names
}

/// Rust code with its comments blanked, and with what stands between quotation marks blanked too.
/// Both are as long as it.
fn blanked(code: &str) -> (String, String) {
    let (mut text, mut bare) = (code.as_bytes().to_vec(), code.as_bytes().to_vec());
    let blank = |bytes: &mut [u8]| bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    let mut at = 0;
    while at < code.len() {
        let rest = &code.as_bytes()[at..];
        let end = at
            + match rest {
                [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => block_comment(rest),
                [b'"', ..] => 1 + string(&rest[1..]),
                [b'r', b'"' | b'#', ..] if !is_in_word(code, at) => raw_string(rest).unwrap_or(1),
                [b'\'', ..] => character(rest).unwrap_or(1),
                _ => 1,
            };
        match rest[0] {
            b'/' if end > at + 1 => {
                blank(&mut text[at..end]);
                blank(&mut bare[at..end]);
            }
            b'"' | b'\'' if end > at + 1 => blank(&mut bare[at + 1..end - 1]),
            b'r' if end > at + 1 => {
                // The marks of a raw string become plain ones, at both of its ends.
                let hashes = rest.iter().skip(1).take_while(|byte| **byte == b'#').count();
                for bytes in [&mut text, &mut bare] {
                    blank(&mut bytes[at..=at + hashes]);
                    blank(&mut bytes[end - hashes..end]);
                }
                blank(&mut bare[at + hashes + 2..end - hashes - 1]);
            }
            _ => {}
        }
        at = end;
    }
    // Only whole characters were replaced, by ones of a byte.
    (String::from_utf8(text).expect("text"), String::from_utf8(bare).expect("text"))
}

/// Whether the letter there goes on a word, rather than beginning one.
fn is_in_word(code: &str, at: usize) -> bool {
    // `br"` is a literal too.
    code[..at].chars().next_back().is_some_and(|before| (before.is_alphanumeric() && before != 'b') || before == '_')
}

/// The length of a comment with an end, in which others may stand.
fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// The length of a string after its first mark, with its last one.
fn string(rest: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len() && rest[at] != b'"' {
        at += 1 + usize::from(rest[at] == b'\\');
    }
    (at + 1).min(rest.len())
}

/// The length of a raw string, if one begins there.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    let body = rest[1 + hashes..].strip_prefix(b"\"")?;
    let end = [&b"\""[..], &b"#".repeat(hashes)].concat();
    Some(2 + hashes + body.windows(end.len()).position(|window| window == end)? + end.len())
}

/// The length of a character, if it is one and not a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(3 + rest.get(3..)?.iter().position(|byte| *byte == b'\'')? + 1);
    }
    let end = 2 + rest.get(2..6.min(rest.len()))?.iter().position(|byte| *byte == b'\'')?;
    let one = std::str::from_utf8(&rest[1..end]).is_ok_and(|text| text.chars().count() == 1);
    one.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    #[test]
    fn comments_are_blanked_in_text_and_literals_in_code_too() {
        let source = "let a = \"// \\\"no\\\" comment\"; // \"ä\"\nlet b = br#\"x\"y\"#; /* /* */ \" */ let c = '\"';\nfn f<'a>(x: &'a str) {}";
        let (text, code) = blanked(source);
        assert_eq!((text.len(), code.len()), (source.len(), source.len()));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words(&text),
            "let a = \"// \\\"no\\\" comment\"; let b = b \"x\"y\" ; let c = '\"'; fn f<'a>(x: &'a str) {}"
        );
        assert_eq!(words(&code), "let a = \" \"; let b = b \" \" ; let c = ' '; fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn literals_are_found_with_their_places() {
        let file = RustFile::new(Path::new("a.rs"), Path::new("a.rs"), "// \"a\"\nf(\"b\", '\"', r\"c\\\");\n");
        let found: Vec<(usize, &str)> = file.literals().iter().map(|(at, text)| (file.line(*at), *text)).collect();
        assert_eq!(found, [(2, "b"), (2, "c\\")]);
    }

    #[test]
    fn files_have_their_modules_and_tests_are_left_out() {
        let tree = files(&[
            ("x/src/lib.rs", "mod a;\n"),
            ("x/src/a/mod.rs", "use b;\n\n#[cfg(test)]\nmod tests {\n    use c;\n}\n"),
            ("x/src/a/b.rs", "#[cfg(test)]\nmod check;\n"),
            ("x/src/a/b/check/mod.rs", ""),
            ("x/src/a/b/check/deep.rs", ""),
            ("x/src/a.ll", ""),
        ]);
        let found = rust_files(&tree, "x/src");
        let mut modules: Vec<(String, &str)> = found.iter().map(|file| (file.module.join("::"), file.name())).collect();
        modules.sort();
        assert_eq!(modules, [(String::new(), "lib"), ("a".to_owned(), "a"), ("a::b".to_owned(), "b")]);
        let a = found.iter().find(|file| file.name() == "a").unwrap();
        assert_eq!(a.code, "use b;\n");
    }
}
