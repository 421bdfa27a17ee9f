//! Passes over LLVM IR as text, line by line. The modules are small, and text needs no LLVM library
//! of the right version.

pub(crate) mod check;
pub(crate) mod convergent;
pub(crate) mod items;
pub(crate) mod kernels;
pub(crate) mod mangling;
pub(crate) mod module;
pub(crate) mod needs;
pub(crate) mod panics;
pub(crate) mod recursion;
pub(crate) mod synthesised;
pub(crate) mod thread_level;

mod scanner;
mod scopes;

/// What is passed for a parameter: a block of so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passed {
    pub bytes: usize,
    pub alignment: usize,
    /// Whether the kernel reads it where it lies, as a `Constant`.
    pub in_place: bool,
}

/// A symbol's path in Rust, without its hash; the symbol itself if it is none of Rust's.
pub(crate) fn demangle(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// The global name (`@name` or `@"name"`) at the beginning of `text`, without `@` and quotes, and
/// what follows it.
fn global_name(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('@')?;
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"')?;
        return Some((&quoted[..end], &quoted[end + 1..]));
    }
    let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
    Some((&text[..end], &text[end..]))
}

/// The bytes of the first string constant (`c".."`) in a line.
fn string_bytes(line: &str) -> Option<Vec<u8>> {
    let mut characters = line.split_once(" c\"")?.1.bytes();
    let mut bytes = Vec::new();
    loop {
        match characters.next()? {
            b'"' => return Some(bytes),
            b'\\' => match characters.next()? {
                b'\\' => bytes.push(b'\\'),
                first => {
                    let digits = [first, characters.next()?];
                    bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                }
            },
            plain => bytes.push(plain),
        }
    }
}

/// Whether a character belongs to an unquoted name.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '$' | '.' | '_')
}

#[cfg(test)]
mod tests {
    use super::string_bytes;

    #[test]
    fn a_strings_bytes_are_read_with_hexadecimal_digits_and_with_a_backslash_for_itself() {
        assert_eq!(string_bytes(r#"@x = constant [4 x i8] c"a\00\\\22", align 1"#), Some(b"a\0\\\"".to_vec()));
        assert_eq!(string_bytes(r#"@x = constant [1 x i8] c"\0"#), None);
        assert_eq!(string_bytes("@x = constant i32 4"), None);
    }
}
