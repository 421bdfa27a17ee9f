//! Marks every function and call `convergent`.
//!
//! A convergent operation is one that the optimiser must not make dependent on more conditions than
//! the source did: a barrier in both arms of a branch is another program. rustc leaves the mark
//! off, at least at calls, so it is set here, before anything is optimised; LLVM removes it again
//! where it can prove that nothing below is convergent.

use super::is_name;
use crate::Error;

/// The module with every definition, and every call of anything but an LLVM intrinsic, marked
/// `convergent`.
///
/// Intrinsics carry their own marks. Module-wide `llvm.used` lists are left out: what they keep
/// alive is decided by the link's list of public symbols alone.
///
/// # Errors
///
/// [`Error::Ir`] for a definition or call whose shape is unknown.
pub(crate) fn mark(module: &str) -> Result<String, Error> {
    let mut marked = String::with_capacity(module.len() + module.len() / 16);
    for line in module.lines() {
        if line.starts_with("@llvm.used ") || line.starts_with("@llvm.compiler.used ") {
            continue;
        }
        match insertion_point(line)? {
            Some(at) => {
                marked.push_str(&line[..at]);
                marked.push_str(" convergent");
                marked.push_str(&line[at..]);
            }
            None => marked.push_str(line),
        }
        marked.push('\n');
    }
    Ok(marked)
}

/// The offset at which a definition's function attributes begin: after its parameters and
/// `unnamed_addr`.
///
/// # Errors
///
/// [`Error::Ir`] if the line is no definition of a known shape.
pub(super) fn attributes_of_definition(line: &str) -> Result<usize, Error> {
    let call = arguments(line).filter(|call| call.callee.starts_with('@'));
    let unknown = || Error::Ir { reason: "a function's parameters", line: line.to_string() };
    let mut at = call.ok_or_else(unknown)?.end;
    for word in [" unnamed_addr", " local_unnamed_addr"] {
        if line[at..].starts_with(word) {
            at += word.len();
        }
    }
    if let Some(rest) = line[at..].strip_prefix(" addrspace(") {
        at += " addrspace(".len() + rest.find(')').ok_or_else(unknown)? + 1;
    }
    Ok(at)
}

/// Where ` convergent` goes in a line, if it goes there at all.
fn insertion_point(line: &str) -> Result<Option<usize>, Error> {
    if line.starts_with("define ") {
        return attributes_of_definition(line).map(Some);
    }
    let Some(start) = call_instruction(line) else {
        return Ok(None);
    };
    let call =
        arguments(&line[start..]).ok_or_else(|| Error::Ir { reason: "a call's arguments", line: line.to_string() })?;
    Ok((!call.callee.starts_with("@llvm.")).then_some(start + call.end))
}

/// The offset of a line's `call` or `invoke`, if that is its instruction.
pub(super) fn call_instruction(line: &str) -> Option<usize> {
    if !line.starts_with(' ') {
        return None;
    }
    let mut rest = line.trim_start();
    if rest.starts_with('%') {
        let name = name_end(rest, 0)?;
        rest = rest[name..].strip_prefix(" = ")?;
    }
    for kind in ["tail ", "musttail ", "notail "] {
        rest = rest.strip_prefix(kind).unwrap_or(rest);
    }
    let is_call = ["call ", "invoke ", "callbr "].iter().any(|word| rest.starts_with(word));
    is_call.then(|| line.len() - rest.len())
}

/// A call's (or definition's) callee as written, and the offset after its closing parenthesis.
pub(super) struct Arguments<'a> {
    /// What stands before the callee.
    pub head: &'a str,
    pub callee: &'a str,
    /// The argument list with its parentheses.
    pub list: &'a str,
    pub end: usize,
}

/// Finds the argument list: the parentheses that directly follow a name, an assembly's constraints,
/// or a constant expression. Other parentheses (`range(..)`, `addrspace(..)`, function types)
/// follow a keyword or a space.
pub(super) fn arguments(text: &str) -> Option<Arguments<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at = match bytes[at] {
            b'@' | b'%' => name_end(text, at)?,
            b'"' => string_end(text, at)?,
            b'(' | b'[' | b'{' | b'<' => group_end(text, at)?,
            _ => {
                at += 1;
                continue;
            }
        };
        let callee_may_end = matches!(bytes[start], b'@' | b'%' | b'"' | b'(');
        if callee_may_end && bytes.get(at) == Some(&b'(') {
            let end = group_end(text, at)?;
            return Some(Arguments { head: &text[..start], callee: &text[start..at], list: &text[at..end], end });
        }
    }
    None
}

/// The offset after the name that begins at `at` with `@` or `%`.
fn name_end(text: &str, at: usize) -> Option<usize> {
    if text.as_bytes().get(at + 1) == Some(&b'"') {
        return string_end(text, at + 1);
    }
    let rest = &text[at + 1..];
    Some(at + 1 + rest.find(|c: char| !is_name(c)).unwrap_or(rest.len()))
}

/// The offset after the string that begins at `at`. A quote inside is written `\22`.
pub(super) fn string_end(text: &str, at: usize) -> Option<usize> {
    Some(at + 1 + text[at + 1..].find('"')? + 1)
}

/// The offset after the bracket that closes the one at `at`.
pub(super) fn group_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, at);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(text, at)?;
                continue;
            }
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::mark;

    /// Marks the line and checks that exactly the `~` of the pattern became ` convergent`.
    fn check(pattern: &str) {
        let plain = pattern.replace('~', "");
        let expected = pattern.replace('~', " convergent") + "\n";
        assert_eq!(mark(&plain).unwrap(), expected);
    }

    #[test]
    fn definitions() {
        check("define ptr @shared()~ #2 {");
        check("define void @plain()~ {");
        check("define ptx_kernel void @k(ptr noundef %0, i64 %1) unnamed_addr~ #3 !dbg !7 {");
        check("define hidden range(i64 0, -92) i64 @f({ ptr, [2 x i8] } %0, ptr captures(none) %1) unnamed_addr~ #3 {");
        check("define internal i32 @\"a b(c\"(i32 %x) local_unnamed_addr addrspace(1)~ #1 personality ptr @p {");
    }

    #[test]
    fn calls() {
        check("  call void @f()~");
        check("  %8 = call noundef ptr @f(ptr align 8 dereferenceable(24) %x, i64 1)~ #18, !srcloc !3");
        check("  %\"a b\" = tail call fastcc range(i32 0, 5) i32 @f(i32 %y)~ #1");
        check("  %r = call i1 %9(ptr %1, ptr %2)~ #4, !dbg !5");
        check("  call void (ptr, ...) @printf(ptr %0)~");
        check("  call void asm sideeffect \"bar.sync 0; // (@x\\22\", \"~{memory}\"()~ #5".replace("~{", "{").as_str());
        check("  %v = call ptr addrspace(3) asm \"mov $0, $1;\", \"=l,l\"(i64 %1)~ #5");
        check("  %v = call <2 x float> @f(<2 x float> <float 0.0, float 1.0>)~");
        check("  call void inttoptr (i64 4096 to ptr)(i32 1)~");
        check("  invoke void @f()~ #3");
    }

    #[test]
    fn other_lines_stay() {
        check("  call void @llvm.lifetime.start.p0(ptr %8)");
        check("  %4 = load ptr, ptr %2, align 8");
        check("declare void @llvm.assume(i1 noundef) #1");
        check("@x = private constant [9 x i8] c\" call @f()\"");
        check("; call void @f()");
    }

    #[test]
    fn used_lists_go() {
        assert_eq!(mark("@llvm.used = appending global [1 x ptr] [ptr @x], section \"llvm.metadata\"").unwrap(), "");
    }

    #[test]
    fn unknown_shapes_are_errors() {
        assert!(mark("define void").is_err());
        assert!(mark("  call void @f(").is_err());
    }
}
