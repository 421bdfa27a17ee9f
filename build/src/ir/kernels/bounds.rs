//! Launch bounds: from `#[kernel]`'s constants to attributes of the kernels, and the kernels'
//! calling convention.
//!
//! `#[kernel]` writes its entry points as `extern "C"`, so that no user's crate needs rustc's
//! unstable `ptx-kernel` convention; the constant beside each says that it is one.

use std::collections::{BTreeMap, BTreeSet};

use super::super::convergent::attributes_of_definition;
use super::super::needs::READ_IN_PLACE;
use super::super::{Passed, global_name, string_bytes};
use crate::Error;

/// `#[kernel]` writes the launch bounds of the kernel `SYM` into a constant of this name followed
/// by `SYM`: `u32` words, which are the fields of [`LaunchBounds`] in their order. What else the
/// link step is to know of a kernel can follow as further words.
const PREFIX: &str = "__tilepipe_bounds__";
/// A word that is not given. Words after the last one are not given either.
const NOT_GIVEN: u32 = u32::MAX;

/// What a kernel asks of its launch and of `ptxas`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchBounds {
    /// Threads per block: the launch has just so many.
    pub threads: u32,
    /// The least blocks for which a multiprocessor is to have registers.
    pub min_blocks: Option<u32>,
    /// The most registers of a thread.
    pub max_registers: Option<u32>,
    /// Of a kernel by hand, which has no contract: its parameters are addresses of blocks of so
    /// many bytes, of each or of all, which are passed by value.
    pub parameter_bytes: Vec<u32>,
}

/// How such a block is aligned at most: as a map of the copy engine is to be. If its bytes are no
/// multiple of that, it is aligned to the largest power of two of which they are one.
const BLOCK_ALIGNMENT: usize = 64;

/// What a multiprocessor has, of all architectures from `sm_80` on the most. `ptxas` warns and goes
/// on without the bound where an architecture has less.
const BLOCKS: u32 = 32;
const WARPS: u32 = 64;
/// A multiprocessor has four parts with so many registers each, and a warp lies in one of them. A
/// warp's are given out in units of 256, which are 8 of each thread.
const PARTS: u32 = 4;
const REGISTERS: u32 = 16 * 1024;
/// What `ptxas` gives a thread at least, and what an instruction can name.
const LEAST_REGISTERS: u32 = 24;
const MOST_REGISTERS: u32 = 255;

impl LaunchBounds {
    /// The bounds in a constant's words; none if there are no words.
    fn of(words: &[u32]) -> Option<Self> {
        let given = |at: usize| words.get(at).copied().filter(|word| *word != NOT_GIVEN);
        Some(LaunchBounds {
            threads: *words.first()?,
            min_blocks: given(1),
            max_registers: given(2),
            parameter_bytes: words.iter().skip(3).copied().collect(),
        })
    }

    /// What is wrong with them and what is allowed, if something is.
    fn problem(&self) -> Option<String> {
        let LaunchBounds { threads, min_blocks, max_registers, parameter_bytes: _ } = *self;
        if !(1..=1024).contains(&threads) {
            return Some(format!("has {threads} threads a block: declare it with #[kernel] and 1 to 1024"));
        }
        let (warps, of_threads) = (threads.div_ceil(32), format!("with {threads} threads a block"));
        if let Some(blocks) = min_blocks {
            let most = BLOCKS.min(WARPS / warps);
            let why = format!("a multiprocessor has at most {BLOCKS} blocks and {WARPS} warps");
            if !(1..=most).contains(&blocks) {
                return Some(format!("has `min_blocks = {blocks}` {of_threads}: it is 1 to {most}, as {why}"));
            }
        }
        if let Some(registers) = max_registers {
            let of_thread = REGISTERS / warps.div_ceil(PARTS) / 32 / 8 * 8;
            let most = MOST_REGISTERS.min(of_thread);
            let why = format!(
                "`ptxas` gives a thread at least {LEAST_REGISTERS} registers, an instruction can name {MOST_REGISTERS}, and a \
                 block has those of one multiprocessor"
            );
            if !(LEAST_REGISTERS..=most).contains(&registers) {
                return Some(format!(
                    "has `max_registers = {registers}` {of_threads}: it is {LEAST_REGISTERS} to {most}, as {why}"
                ));
            }
        }
        None
    }

    /// The function attributes from which LLVM makes the PTX's directives.
    fn attributes(&self) -> String {
        let LaunchBounds { threads, min_blocks, max_registers, parameter_bytes: _ } = self;
        let mut attributes = format!(" \"nvvm.reqntid\"=\"{threads},1,1\"");
        for (name, value) in [("minctasm", min_blocks), ("maxnreg", max_registers)] {
            if let Some(value) = value {
                attributes.push_str(&format!(" \"nvvm.{name}\"=\"{value}\""));
            }
        }
        attributes
    }
}

/// The module's kernels: entry symbol to launch bounds.
///
/// # Errors
///
/// [`Error::LaunchBounds`] for an entry without a constant, a constant without an entry, or bounds
/// that no GPU has room for; [`Error::Ir`] for a constant of unknown shape.
pub(crate) fn kernels(module: &str) -> Result<BTreeMap<String, LaunchBounds>, Error> {
    let mut kernels = BTreeMap::new();
    let mut entries = BTreeSet::new();
    let mut defined = BTreeSet::new();
    for line in module.lines() {
        if let Some(kernel) = global_name(line).and_then(|(name, _)| name.strip_prefix(PREFIX)) {
            let unknown = || Error::Ir { reason: "a kernel's launch bounds", line: line.to_string() };
            let bounds = words(line).and_then(|words| LaunchBounds::of(&words)).ok_or_else(unknown)?;
            if let Some(problem) = bounds.problem() {
                return Err(Error::LaunchBounds { kernel: kernel.to_string(), problem });
            }
            kernels.insert(kernel.to_string(), bounds);
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
        return Err(problem(kernel, "has no launch bounds: declare it with #[kernel]"));
    }
    if let Some(kernel) = kernels.keys().find(|kernel| !defined.contains(*kernel)) {
        return Err(problem(kernel, "has launch bounds but no definition: declare it with #[kernel]"));
    }
    Ok(kernels)
}

/// The module with every kernel an entry point of the GPU, with its launch bounds asked for. What
/// `#[kernel]` writes takes an address for each parameter: it becomes that of the parameter's own
/// memory (`.param`), which has the bytes that the kernel's contract says and nobody writes.
///
/// # Errors
///
/// [`Error::Ir`] for a definition of unknown shape.
pub(crate) fn require(
    module: &str,
    kernels: &BTreeMap<String, LaunchBounds>,
    parameters: &BTreeMap<String, Vec<Passed>>,
) -> Result<String, Error> {
    let mut out = String::with_capacity(module.len() + 64 * kernels.len());
    for line in module.lines() {
        let definition = line.starts_with("define ").then(|| defined_name(line)).flatten();
        match definition.and_then(|name| kernels.get(name)) {
            Some(bounds) => {
                let at = attributes_of_definition(line)?;
                let head = &match definition.and_then(|name| parameters.get(name)) {
                    Some(parameters) => by_value(&line[..at], parameters)?,
                    None if bounds.parameter_bytes.is_empty() => line[..at].to_string(),
                    None => by_value(&line[..at], &blocks(&line[..at], &bounds.parameter_bytes))?,
                };
                if is_entry(line) {
                    out.push_str(head);
                } else if head.contains(" void @") {
                    out.push_str(&head.replacen(" void @", " ptx_kernel void @", 1));
                } else {
                    return Err(Error::Ir { reason: "a kernel that returns something", line: line.to_string() });
                }
                out.push_str(&bounds.attributes());
                out.push_str(&line[at..]);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    Ok(out)
}

/// Blocks of so many bytes. If one number stands for all, there are as many as a definition's head
/// has addresses for parameters.
fn blocks(head: &str, bytes: &[u32]) -> Vec<Passed> {
    let count = if bytes.len() == 1 { head.matches("ptr ").count() } else { bytes.len() };
    let block = |bytes: u32| {
        let bytes = bytes as usize;
        Passed { bytes, alignment: BLOCK_ALIGNMENT.min(1 << bytes.trailing_zeros().min(8)), in_place: false }
    };
    bytes.iter().cycle().take(count).map(|bytes| block(*bytes)).collect()
}

/// A definition's head whose parameters, addresses of blocks of bytes, are passed by value.
///
/// # Errors
///
/// [`Error::Ir`] for a head with other parameters.
fn by_value(head: &str, parameters: &[Passed]) -> Result<String, Error> {
    let unknown = || Error::Ir { reason: "a kernel's parameters", line: head.to_string() };
    let name = head.find('@').and_then(|at| global_name(&head[at..])).ok_or_else(unknown)?.0;
    let open = head.find(name).map(|at| at + name.len()).and_then(|at| Some(at + head[at..].find('(')?));
    let (open, close) = (open.ok_or_else(unknown)? + 1, head.rfind(')').ok_or_else(unknown)?);
    let mut list = head.get(open..close).ok_or_else(unknown)?;
    let mut all = Vec::new();
    for Passed { bytes, alignment, in_place } in parameters {
        let (one, rest) = list.split_once(", ").unwrap_or((list, ""));
        let (attributes, register) = one.rsplit_once(' ').ok_or_else(unknown)?;
        let plain = attributes == "ptr" || attributes.starts_with("ptr ") && !attributes.contains('(');
        if !plain || !register.starts_with('%') {
            return Err(unknown());
        }
        let mark = if *in_place { format!(" {READ_IN_PLACE}") } else { String::new() };
        all.push(format!(
            "{attributes} byval([{bytes} x i8]) align {alignment} \"nvvm.grid_constant\"{mark} {register}"
        ));
        list = rest;
    }
    if !list.is_empty() {
        return Err(unknown());
    }
    Ok(format!("{}{}{}", &head[..open], all.join(", "), &head[close..]))
}

/// Whether the line defines a GPU entry point.
pub(in crate::ir) fn is_entry(line: &str) -> bool {
    line.starts_with("define ") && line.split('@').next().is_some_and(|head| head.contains(" ptx_kernel "))
}

/// The names of the functions that a module defines.
pub(crate) fn definitions(module: &str) -> impl Iterator<Item = &str> {
    module.lines().filter(|line| line.starts_with("define ")).filter_map(defined_name)
}

/// The name that a `define` line defines.
pub(in crate::ir) fn defined_name(line: &str) -> Option<&str> {
    global_name(&line[line.find('@')?..]).map(|(name, _)| name)
}

/// The little-endian words of a constant: `[8 x i8] c"\00\01\00\00\02\00\00\00"`, wrapped in a
/// structure or not, or `i32 256`.
fn words(line: &str) -> Option<Vec<u32>> {
    if line.contains(" zeroinitializer") {
        return Some(vec![0]);
    }
    match string_bytes(line) {
        Some(bytes) => {
            let words = bytes.chunks(4).map(|word| Some(u32::from_le_bytes(word.try_into().ok()?)));
            words.collect()
        }
        None => {
            let (_, value) = line.split_once(" constant i32 ")?;
            Some(vec![value.split(',').next()?.trim().parse::<i64>().ok()?.try_into().ok()?])
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{LaunchBounds, NOT_GIVEN, Passed, kernels, require};
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
            let module = format!("@__tilepipe_bounds__k = constant {constant}\n{ENTRY}\n");
            let bounds = LaunchBounds { threads, min_blocks: None, max_registers: None, parameter_bytes: Vec::new() };
            assert_eq!(kernels(&module).unwrap()["k"], bounds, "{constant}");
        }
    }

    #[test]
    fn attribute_is_written_before_the_groups() {
        let module = format!("@__tilepipe_bounds__k = constant [4 x i8] c\"\\00\\01\\00\\00\"\n{ENTRY}\n");
        let out = require(&module, &kernels(&module).unwrap(), &BTreeMap::new()).unwrap();
        assert!(out.contains("unnamed_addr \"nvvm.reqntid\"=\"256,1,1\" #3 {"), "{out}");
    }

    /// A module with a kernel whose constant has these words.
    fn with(words: &[u32]) -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text: String = bytes.iter().map(|byte| format!("\\{byte:02X}")).collect();
        let count = bytes.len();
        let constant = format!("constant <{{ [{count} x i8] }}> <{{ [{count} x i8] c\"{text}\" }}>, align 4");
        format!("@__tilepipe_bounds__k = {constant}\n{ENTRY}\n")
    }

    #[test]
    fn bounds_that_are_given_become_attributes_and_no_others() {
        for (words, attributes) in [
            (&[256][..], ""),
            (&[256, NOT_GIVEN], ""),
            (&[256, NOT_GIVEN, NOT_GIVEN], ""),
            (&[256, 2, NOT_GIVEN], r#" "nvvm.minctasm"="2""#),
            (&[256, NOT_GIVEN, 64], r#" "nvvm.maxnreg"="64""#),
            (&[256, 2, 64], r#" "nvvm.minctasm"="2" "nvvm.maxnreg"="64""#),
        ] {
            let module = with(words);
            let out = require(&module, &kernels(&module).unwrap(), &BTreeMap::new()).unwrap();
            let line = format!("unnamed_addr \"nvvm.reqntid\"=\"256,1,1\"{attributes} #3 {{");
            assert!(out.contains(&line), "{out}");
        }
    }

    #[test]
    fn bounds_are_those_that_ptxas_takes() {
        // The most blocks and registers with so many threads, as ptxas 12.0, 12.8 and 13.0 have it
        // for `sm_80` and `sm_90`.
        for (threads, blocks, registers) in [
            (1, 32, 255),
            (32, 32, 255),
            (33, 32, 255),
            (64, 32, 255),
            (65, 21, 255),
            (256, 8, 255),
            (288, 7, 168),
            (512, 4, 128),
            (640, 3, 96),
            (672, 3, 80),
            (1000, 2, 64),
            (1024, 2, 64),
        ] {
            let refused = |bounds: [u32; 2]| match kernels(&with(&[threads, bounds[0], bounds[1]])) {
                Ok(_) => None,
                Err(Error::LaunchBounds { kernel, problem }) => Some(format!("the kernel `{kernel}` {problem}")),
                Err(other) => panic!("{other}"),
            };
            for right in [[1, NOT_GIVEN], [blocks, 24], [blocks, registers], [NOT_GIVEN, registers]] {
                assert_eq!(refused(right), None, "{threads} {right:?}");
            }
            for wrong in [0, blocks + 1, NOT_GIVEN - 1] {
                let message = refused([wrong, NOT_GIVEN]).unwrap();
                let expected = format!(
                    "the kernel `k` has `min_blocks = {wrong}` with {threads} threads a block: it is 1 to {blocks}, as a \
                     multiprocessor has at most 32 blocks and 64 warps"
                );
                assert_eq!(message, expected);
            }
            for wrong in [0, 23, registers + 1, 1000] {
                let message = refused([NOT_GIVEN, wrong]).unwrap();
                let expected = format!(
                    "the kernel `k` has `max_registers = {wrong}` with {threads} threads a block: it is 24 to {registers}, as"
                );
                assert!(message.starts_with(&expected), "{message}");
            }
        }
    }

    #[test]
    fn a_plain_function_with_a_thread_count_becomes_an_entry_point() {
        let module = "@__tilepipe_bounds__k = constant i32 64\ndefine void @k([4 x i64] %0) unnamed_addr #3 {\n";
        let out = require(module, &kernels(module).unwrap(), &BTreeMap::new()).unwrap();
        assert!(
            out.contains("define ptx_kernel void @k([4 x i64] %0) unnamed_addr \"nvvm.reqntid\"=\"64,1,1\" #3 {"),
            "{out}"
        );
    }

    #[test]
    fn addresses_of_parameters_become_blocks_of_bytes_passed_by_value() {
        let of = |parameters: &str, sizes: &[(usize, usize, bool)]| {
            let module = format!("@__tilepipe_bounds__k = constant i32 64\ndefine void @k({parameters}) #3 {{\n");
            let sizes = sizes.iter().map(|&(bytes, alignment, in_place)| Passed { bytes, alignment, in_place });
            require(&module, &kernels(&module).unwrap(), &BTreeMap::from([("k".to_string(), sizes.collect())]))
        };
        let out = of("ptr noundef %raw_0, ptr %1", &[(16, 8, false), (128, 64, true)]).unwrap();
        let first = "ptr noundef byval([16 x i8]) align 8 \"nvvm.grid_constant\" %raw_0";
        let second = "ptr byval([128 x i8]) align 64 \"nvvm.grid_constant\" \"tilepipe.in_place\" %1";
        assert!(out.contains(&format!("define ptx_kernel void @k({first}, {second}) \"nvvm.reqntid\"")), "{out}");
        assert!(of("", &[]).unwrap().contains("ptx_kernel void @k() \"nvvm"));
        for (parameters, sizes) in [
            ("ptr %0", &[(16, 8, false), (16, 8, false)][..]),
            ("ptr %0, ptr %1", &[(16, 8, false)]),
            ("[4 x i64] %0", &[(16, 8, false)]),
            ("ptr byval([8 x i8]) %0", &[(16, 8, false)]),
        ] {
            assert!(matches!(of(parameters, sizes), Err(Error::Ir { .. })), "{parameters}");
        }
    }

    #[test]
    fn addresses_that_a_kernel_by_hand_takes_become_blocks_of_the_bytes_that_it_says() {
        // 32 threads, no other bounds, and blocks of 192 bytes.
        let words = r"\20\00\00\00\FF\FF\FF\FF\FF\FF\FF\FF\C0\00\00\00";
        let module =
            format!("@__tilepipe_bounds__k = constant [16 x i8] c\"{words}\"\ndefine void @k(ptr %0, ptr %1) #3 {{\n");
        let out = require(&module, &kernels(&module).unwrap(), &BTreeMap::new()).unwrap();
        let block = r#"ptr byval([192 x i8]) align 64 "nvvm.grid_constant""#;
        let expected = format!("@k({block} %0, {block} %1) \"nvvm.reqntid\"=\"32,1,1\" #3 {{");
        assert!(out.contains(&expected), "{out}");
    }

    #[test]
    fn each_parameter_of_a_kernel_by_hand_may_have_its_own_bytes() {
        // As above, and blocks of 192, 4, 1028 and 32 bytes.
        let words = r"\20\00\00\00\FF\FF\FF\FF\FF\FF\FF\FF\C0\00\00\00\04\00\00\00\04\04\00\00\20\00\00\00";
        let of = |parameters: &str| {
            let constant = format!("@__tilepipe_bounds__k = constant [28 x i8] c\"{words}\"");
            let module = format!("{constant}\ndefine void @k({parameters}) #3 {{\n");
            require(&module, &kernels(&module).unwrap(), &BTreeMap::new())
        };
        let block = |bytes, alignment| format!("ptr byval([{bytes} x i8]) align {alignment} \"nvvm.grid_constant\"");
        let [first, second, third, fourth] =
            [(192, 64), (4, 4), (1028, 4), (32, 32)].map(|(bytes, at)| block(bytes, at));
        let expected =
            format!("@k({first} %0, {second} %1, {third} %2, {fourth} %3) \"nvvm.reqntid\"=\"32,1,1\" #3 {{");
        let out = of("ptr %0, ptr %1, ptr %2, ptr %3").unwrap();
        assert!(out.contains(&expected), "{out}");
        for other in
            ["ptr %0, ptr %1, ptr %2", "ptr %0, ptr %1, ptr %2, ptr %3, ptr %4", "ptr %0, i32 %1, ptr %2, ptr %3"]
        {
            assert!(matches!(of(other), Err(Error::Ir { .. })), "{other}");
        }
    }

    #[test]
    fn mismatches_are_errors() {
        let constant = "@__tilepipe_bounds__k = constant [4 x i8] c\"\\00\\01\\00\\00\"\n";
        let too_large = format!("@__tilepipe_bounds__k = constant [4 x i8] c\"\\00\\10\\00\\00\"\n{ENTRY}\n");
        for module in [ENTRY, constant, &too_large] {
            assert!(matches!(kernels(module), Err(Error::LaunchBounds { .. })), "{module}");
        }
        for words in [r#"[2 x i8] c"\00\01""#, r#"[0 x i8] c"""#, r#"[6 x i8] c"aaaabb""#] {
            let module = format!("@__tilepipe_bounds__k = constant {words}");
            assert!(matches!(kernels(&module), Err(Error::Ir { .. })), "{module}");
        }
    }
}
