//! The lines of PTX, as LLVM writes it.

/// The first words of instructions that do nothing but compute numbers.
pub(super) const PURE: [&str; 14] =
    ["mov", "cvt", "cvta", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "setp", "selp"];

/// Those of more instructions whose results follow from their operands alone.
pub(super) const ARITHMETIC: [&str; 10] = ["min", "max", "rem", "div", "neg", "not", "abs", "bfe", "popc", "clz"];

/// The lines of a module in parts: what comes before its functions, and each of these.
pub(super) fn parts<'l, 'm>(lines: &'l [&'m str]) -> impl Iterator<Item = &'l [&'m str]> {
    let begins = |line: &&str| line.contains(".entry ") || line.starts_with(".func") || line.contains(" .func ");
    lines.chunk_by(move |_, next| !begins(next))
}

/// Whether a part is a kernel.
pub(super) fn is_entry(part: &[&str]) -> bool {
    part.first().is_some_and(|line| line.contains(".entry "))
}

/// A line without its comment, with single spaces between its words.
pub(super) fn code(line: &str) -> String {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}
