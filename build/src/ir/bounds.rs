//! Launch bounds: from `#[kernel]`'s constants to attributes of the kernels, and the kernels' calling convention.
//!
//! `#[kernel]` writes its entry points as `extern "C"`, so that no user's crate needs rustc's unstable `ptx-kernel`
//! convention; the constant beside each says that it is one.

use std::collections::{BTreeMap, BTreeSet};

use super::convergent::attributes_of_definition;
use super::{global_name, string_bytes};
use crate::Error;

/// `#[kernel]` writes the block size of the kernel `SYM` into a `u32` constant of this name followed by `SYM`.
const PREFIX: &str = "__tilepipe_threads__";

/// The module's kernels: entry symbol to threads a block.
///
/// # Errors
///
/// [`Error::LaunchBounds`] for an entry without a constant, a constant without an entry, or a size outside 1 to 1024;
/// [`Error::Ir`] for a constant of unknown shape.
pub(crate) fn kernels(module: &str) -> Result<BTreeMap<String, u32>, Error> {
    let mut kernels = BTreeMap::new();
    let mut entries = BTreeSet::new();
    let mut defined = BTreeSet::new();
    for line in module.lines() {
        if let Some(kernel) = global_name(line).and_then(|(name, _)| name.strip_prefix(PREFIX)) {
            let threads =
                word(line).ok_or_else(|| Error::Ir { reason: "a kernel's thread count", line: line.to_string() })?;
            if !(1..=1024).contains(&threads) {
                let problem = format!("has {threads} threads a block");
                return Err(Error::LaunchBounds { kernel: kernel.to_string(), problem });
            }
            kernels.insert(kernel.to_string(), threads);
        } else if line.starts_with("define ") {
            let name = defined_name(line).map(str::to_string);
            if is_entry(line) {
                entries.extend(name.clone());
            }
            defined.extend(name);
        }
    }
    let problem =
        |kernel: &str, problem: &str| Error::LaunchBounds { kernel: kernel.to_string(), problem: problem.into() };
    if let Some(kernel) = entries.iter().find(|entry| !kernels.contains_key(*entry)) {
        return Err(problem(kernel, "has no thread count"));
    }
    if let Some(kernel) = kernels.keys().find(|kernel| !defined.contains(*kernel)) {
        return Err(problem(kernel, "has a thread count but no definition"));
    }
    Ok(kernels)
}

/// The module with every kernel an entry point of the GPU, with `.reqntid` asked for.
///
/// # Errors
///
/// [`Error::Ir`] for a definition of unknown shape.
pub(crate) fn require(module: &str, kernels: &BTreeMap<String, u32>) -> Result<String, Error> {
    let mut out = String::with_capacity(module.len() + 64 * kernels.len());
    for line in module.lines() {
        let definition = line.starts_with("define ").then(|| defined_name(line)).flatten();
        match definition.and_then(|name| kernels.get(name)) {
            Some(threads) => {
                let at = attributes_of_definition(line)?;
                let head = &line[..at];
                if is_entry(line) {
                    out.push_str(head);
                } else if head.contains(" void @") {
                    out.push_str(&head.replacen(" void @", " ptx_kernel void @", 1));
                } else {
                    return Err(Error::Ir { reason: "a kernel that returns something", line: line.to_string() });
                }
                out.push_str(&format!(" \"nvvm.reqntid\"=\"{threads},1,1\""));
                out.push_str(&line[at..]);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    Ok(out)
}

/// Whether the line defines a GPU entry point.
pub(super) fn is_entry(line: &str) -> bool {
    line.starts_with("define ") && line.split('@').next().is_some_and(|head| head.contains(" ptx_kernel "))
}

/// The names of the functions that a module defines.
pub(crate) fn definitions(module: &str) -> impl Iterator<Item = &str> {
    module.lines().filter(|line| line.starts_with("define ")).filter_map(defined_name)
}

/// The name that a `define` line defines.
pub(super) fn defined_name(line: &str) -> Option<&str> {
    global_name(&line[line.find('@')?..]).map(|(name, _)| name)
}

/// The little-endian word of a `u32` constant: `[4 x i8] c"\00\01\00\00"`, wrapped in a structure or not, or `i32 256`.
fn word(line: &str) -> Option<u32> {
    if line.contains(" zeroinitializer") {
        return Some(0);
    }
    match string_bytes(line) {
        Some(bytes) => Some(u32::from_le_bytes(bytes.try_into().ok()?)),
        None => {
            let (_, value) = line.split_once(" constant i32 ")?;
            value.split(',').next()?.trim().parse::<i64>().ok()?.try_into().ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{kernels, require};
    use crate::Error;

    const ENTRY: &str = "define ptx_kernel void @k(ptr noundef %0) unnamed_addr #3 {";

    #[test]
    fn block_sizes_are_read_in_every_form() {
        for (constant, threads) in [
            (r#"[4 x i8] c"\00\01\00\00", align 4"#, 256),
            (r#"<{ [4 x i8] }> <{ [4 x i8] c"\80\00\00\00" }>, align 4"#, 128),
            (r#"[4 x i8] c" \00\00\00", align 4"#, 32),
            ("i32 1024, align 4", 1024),
        ] {
            let module = format!("@__tilepipe_threads__k = constant {constant}\n{ENTRY}\n");
            assert_eq!(kernels(&module).unwrap()["k"], threads, "{constant}");
        }
    }

    #[test]
    fn attribute_is_written_before_the_groups() {
        let module = format!("@__tilepipe_threads__k = constant [4 x i8] c\"\\00\\01\\00\\00\"\n{ENTRY}\n");
        let out = require(&module, &kernels(&module).unwrap()).unwrap();
        assert!(out.contains("unnamed_addr \"nvvm.reqntid\"=\"256,1,1\" #3 {"), "{out}");
    }

    #[test]
    fn a_plain_function_with_a_thread_count_becomes_an_entry_point() {
        let module = "@__tilepipe_threads__k = constant i32 64\ndefine void @k([4 x i64] %0) unnamed_addr #3 {\n";
        let out = require(module, &kernels(module).unwrap()).unwrap();
        assert!(
            out.contains("define ptx_kernel void @k([4 x i64] %0) unnamed_addr \"nvvm.reqntid\"=\"64,1,1\" #3 {"),
            "{out}"
        );
    }

    #[test]
    fn mismatches_are_errors() {
        let constant = "@__tilepipe_threads__k = constant [4 x i8] c\"\\00\\01\\00\\00\"\n";
        let too_large = format!("@__tilepipe_threads__k = constant [4 x i8] c\"\\00\\10\\00\\00\"\n{ENTRY}\n");
        for module in [ENTRY, constant, &too_large] {
            assert!(matches!(kernels(module), Err(Error::LaunchBounds { .. })), "{module}");
        }
        assert!(matches!(kernels("@__tilepipe_threads__k = constant [2 x i8] c\"\\00\\01\""), Err(Error::Ir { .. })));
    }
}
