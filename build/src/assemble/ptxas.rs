//! Assembling PTX and reading what `ptxas -v` says about it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::report::{FunctionReport, KernelReport, PtxasMessage};
use crate::toolchain::Toolchain;
use crate::{Error, ir, process};

/// Assembles `ptx` for `arch` into `cubin`; returns what `ptxas` says about it, which [`parse`]
/// reads.
///
/// # Errors
///
/// [`Error::Ptxas`].
pub(crate) fn assemble(toolchain: &Toolchain, ptx: &Path, arch: &str, cubin: &Path) -> Result<String, Error> {
    let mut command = toolchain.command(toolchain.ptxas());
    let output = process::run(command.arg("-v").arg(format!("-arch={arch}")).arg(ptx).arg("-o").arg(cubin))?;
    if output.success {
        return Ok(output.text());
    }
    let text = output.text();
    let message: Vec<&str> = text.lines().filter(|line| !line.contains("info    :")).collect();
    let source = std::fs::read_to_string(ptx).unwrap_or_default();
    let placed = error_line(&text).and_then(|line| function_at(&source, line));
    let kernel = placed.or_else(|| error_function(&text)).map(ir::demangle);
    // The temporary file's folder says nothing to the user.
    let folder = format!("{}/", ptx.parent().unwrap_or(Path::new("")).display());
    Err(Error::Ptxas { kernel, arch: arch.to_string(), message: message.join("\n").replace(&folder, "") })
}

/// What `ptxas -v` says about a module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// What each kernel uses, without its thread count and its dynamic shared memory.
    pub kernels: Vec<KernelReport>,
    /// Everything else.
    pub messages: Vec<PtxasMessage>,
}

/// Reads what `ptxas -v` says about the image of that name.
pub(crate) fn parse(text: &str, image: &str, arch: &str) -> Said {
    let mut kernels: Vec<KernelReport> = Vec::new();
    let mut function = "";
    let mut others = Vec::new();
    for line in text.lines() {
        let info = line.strip_prefix("ptxas info").map(|rest| rest.trim_start_matches([' ', ':']));
        let entry = info.and_then(|info| info.strip_prefix("Compiling entry function '"));
        if let Some(rest) = entry {
            let kernel = rest.split('\'').next().unwrap_or_default().to_string();
            kernels.push(KernelReport { kernel, arch: arch.to_string(), ..KernelReport::default() });
        } else if let Some(name) = info.and_then(|info| info.strip_prefix("Function properties for ")) {
            function = name.trim();
        } else if line.contains(" bytes stack frame") {
            let Some(kernel) = kernels.last_mut() else { continue };
            let stack_frame = number_before(line, " bytes stack frame");
            let spill_stores = number_before(line, " bytes spill stores");
            let spill_loads = number_before(line, " bytes spill loads");
            if kernel.kernel == function {
                kernel.stack_frame = stack_frame;
                kernel.stack = kernel.stack.max(stack_frame);
                (kernel.spill_stores, kernel.spill_loads) = (spill_stores, spill_loads);
            } else if stack_frame + spill_stores + spill_loads > 0 {
                // The properties of other functions follow those of the kernel.
                let function = ir::demangle(function);
                kernel.functions.push(FunctionReport { function, stack_frame, spill_stores, spill_loads });
            }
        } else if info.is_some_and(|info| info.starts_with("Used ")) {
            let Some(kernel) = kernels.last_mut() else { continue };
            kernel.registers = number_before(line, " registers");
            kernel.barriers = number_before(line, " barriers");
            kernel.stack = kernel.stack.max(number_before(line, " bytes cumulative stack size"));
            kernel.shared_bytes = number_before(line, " bytes smem");
            kernel.constant_bytes = line
                .split(", ")
                .filter(|part| part.contains(" bytes cmem["))
                .map(|part| number_before(part, " bytes cmem["))
                .sum();
        } else if !line.trim().is_empty() && !info.is_some_and(is_figure) {
            others.push(line);
        }
    }
    // What is said of a kernel may stand before its figures.
    let message = |line: &&str| {
        let named = kernels.iter().find(|kernel| names(line, &kernel.kernel));
        let only = if kernels.len() == 1 { kernels.first() } else { None };
        PtxasMessage {
            kernel: named.or(only).map(|kernel| kernel.kernel.clone()),
            image: image.to_string(),
            arch: arch.to_string(),
            text: readable(line),
        }
    };
    let messages = others.iter().map(message).collect();
    Said { kernels, messages }
}

/// Whether that is a line about the whole module which no kernel's report has: `35 bytes gmem, 16
/// bytes cmem[4]`, or the time that it took.
fn is_figure(info: &str) -> bool {
    let memory = info.trim_start_matches(|c: char| c.is_ascii_digit());
    let memory = memory != info && [" bytes gmem", " bytes cmem["].iter().any(|unit| memory.starts_with(unit));
    memory || info.starts_with("Compile time = ")
}

/// Whether a line has that symbol as a word.
fn names(line: &str, symbol: &str) -> bool {
    words(line).any(|word| word == symbol)
}

/// The symbols and other words of a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))).filter(|word| !word.is_empty())
}

/// A line without what each line begins with, and with paths of Rust in the place of symbols.
fn readable(line: &str) -> String {
    let rest = line.strip_prefix("ptxas ").unwrap_or(line);
    let text = ["info", "warning", "advisory"].iter().find_map(|kind| {
        let (head, text) = rest.split_once(':')?;
        (head.trim() == *kind).then_some(text)
    });
    let text = text.unwrap_or(rest).trim();
    let symbols: BTreeSet<&str> = words(text).filter(|word| word.starts_with("_R")).collect();
    symbols.into_iter().fold(text.to_string(), |text, symbol| text.replace(symbol, &ir::demangle(symbol)))
}

/// The number that stands before `unit`, 0 if there is none.
fn number_before(line: &str, unit: &str) -> u32 {
    let Some((head, _)) = line.split_once(unit) else {
        return 0;
    };
    let digits = head.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    head[digits..].parse().unwrap_or(0)
}

/// The line, from 1, of the first error: `ptxas k.ptx, line 50; error   : ..`, or `fatal` in the
/// place of `error`.
fn error_line(text: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.contains("; error") || line.contains("; fatal"))?;
    line.split_once(", line ")?.1.split(';').next()?.parse().ok()
}

/// The function that the first error without a line names: `.. at line 49 in function k. Try to
/// ..`.
fn error_function(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("ptxas fatal") && line.contains(" in function "))?;
    words(line.split_once(" in function ")?.1).next()
}

/// The entry or function in which a line of PTX stands.
fn function_at(ptx: &str, line: usize) -> Option<&str> {
    let heads = ptx.lines().take(line).filter(|text| text.contains(".entry ") || text.contains(".func "));
    let head = heads.last()?;
    // `.func (.param .b32 r) name(` has its result first.
    let rest = head.split_once(".entry ").or_else(|| head.split_once(".func "))?.1.trim_start();
    let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest).trim_start();
    rest.split(['(', ' ']).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{FunctionReport, PtxasMessage, error_function, error_line, function_at, parse};

    #[test]
    fn report_is_read() {
        let text = "\
ptxas info    : 35 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 12 registers, used 2 barriers, 64 bytes cumulative stack size, 4096 bytes smem, 376 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 7.029 ms
ptxas info    : Compiling entry function 'a' for 'sm_80'
ptxas info    : Function properties for a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers
";
        let said = parse(text, "k", "sm_80");
        assert_eq!(said.kernels.iter().map(|k| k.kernel.as_str()).collect::<Vec<_>>(), ["k", "a"]);
        let k = &said.kernels[0];
        assert_eq!((k.registers, k.barriers, k.shared_bytes, k.constant_bytes), (12, 2, 4096, 384));
        assert_eq!((k.stack_frame, k.stack, k.spill_stores, k.spill_loads), (64, 64, 8, 12));
        assert_eq!((said.kernels[1].registers, said.kernels[1].stack), (255, 0));
        assert!(said.messages.is_empty(), "{:?}", said.messages);
    }

    #[test]
    fn what_other_functions_use_is_kept_beside_the_kernels() {
        // ptxas 13.0, of functions that are not inlined: one that is called, and one whose address
        // is in a table.
        let text = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k$a__2' for 'sm_80'
ptxas info    : Function properties for k$a__2
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 32 bytes cumulative stack size, 360 bytes cmem[0]
ptxas info    : Compile time = 3.084 ms
ptxas info    : Function properties for _RNvCs1234_4user6helper
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for _RNvCs1234_4user4none
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for _RNvCs1234_4user5table
    272 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Compiling entry function 'k$a__1' for 'sm_80'
ptxas info    : Function properties for k$a__1
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 360 bytes cmem[0]
";
        let said = parse(text, "a", "sm_80");
        let k = &said.kernels[0];
        assert_eq!((k.stack_frame, k.stack, k.spill_stores, k.spill_loads), (16, 32, 0, 0));
        let function = |name: &str, stack_frame, spill_stores, spill_loads| FunctionReport {
            function: name.to_string(),
            stack_frame,
            spill_stores,
            spill_loads,
        };
        assert_eq!(k.functions, [function("user::helper", 16, 0, 0), function("user::table", 272, 12, 16)]);
        assert_eq!((said.kernels[1].stack, said.kernels[1].functions.len()), (0, 0));
    }

    /// What ptxas 13.0 says about three kernels of which one has an `wgmma` whose result is read
    /// too early, one a `setmaxnreg` without a fixed register count, and one more blocks than a
    /// multiprocessor has.
    const WITH_MESSAGES: &str = "\
ptxas warning : Value of threads per SM for entry k$wg__256 is out of range. .minnctapersm will be ignored
ptxas info    : (C7517) warpgroup.wait is injected in around line 65 by compiler to allow use of registers defined by GMMA in function 'k$wg__128'
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k$wg__256' for 'sm_90a'
ptxas info    : Function properties for k$wg__256
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
ptxas info    : Compile time = 1.474 ms
ptxas info    : Compiling entry function 'k$wg__128' for 'sm_90a'
ptxas info    : Function properties for k$wg__128
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 58 registers, used 0 barriers
ptxas info    : Compile time = 7.729 ms
ptxas info    : Compiling entry function 'k$wg__12' for 'sm_90a'
ptxas info    : Function properties for k$wg__12
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compile time = 0.947 ms
";

    /// The kernel and the text of each message.
    fn messages(text: &str) -> Vec<(Option<String>, String)> {
        let message = |one: PtxasMessage| {
            assert_eq!((one.image.as_str(), one.arch.as_str()), ("wg", "sm_90a"));
            (one.kernel, one.text)
        };
        parse(text, "wg", "sm_90a").messages.into_iter().map(message).collect()
    }

    #[test]
    fn messages_are_kept_with_the_kernel_that_they_name() {
        let of = |kernel: &str, text: &str| ((!kernel.is_empty()).then(|| kernel.to_string()), text.to_string());
        let expected = [
            of(
                "k$wg__256",
                "Value of threads per SM for entry k$wg__256 is out of range. .minnctapersm will be ignored",
            ),
            of(
                "k$wg__128",
                "(C7517) warpgroup.wait is injected in around line 65 by compiler to allow use of registers defined by GMMA in \
                 function 'k$wg__128'",
            ),
            of(
                "",
                "(C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.",
            ),
        ];
        assert_eq!(messages(WITH_MESSAGES), expected);
        let registers: Vec<u32> = parse(WITH_MESSAGES, "wg", "sm_90a").kernels.iter().map(|k| k.registers).collect();
        assert_eq!(registers, [4, 58, 8]);
    }

    #[test]
    fn every_wording_is_kept() {
        // What ptxas 12.0 and 13.0 said when they were made to, except for the stack's size, whose
        // wording is from their binaries.
        for line in [
            "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma \
             instructions reading accumulator registers of  a wgmma between start and end of the pipeline stage in the function 'k$wg__64'",
            "ptxas info    : (C7519) warpgroup.arrive is injected in around line 47 by compiler to allow use of registers in GMMA in \
             function 'k$wg__64'",
            "ptxas warning : For entry k$wg__64 adjusting per thread register count of 8 to lower bound of 24",
            "ptxas warning : Too many maxnreg specified for entry k$wg__64, will be ignored",
            "ptxas warning : Value of minnctapersm for entry k$wg__64 is out of range. minnctapersm will be ignored",
            "ptxas warning : Stack size for entry function 'k$wg__64' cannot be statically determined",
            "something that nobody has said so far, of k$wg__64",
        ] {
            let others = "ptxas info    : Compiling entry function 'k$wg__6' for 'sm_90a'\nptxas info    : Compiling entry function 'k$wg__64' for 'sm_90a'\n";
            let found = messages(&format!("{line}\n{others}"));
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0.as_deref(), Some("k$wg__64"), "{line}");
            assert!(line.ends_with(&found[0].1) && !found[0].1.contains("ptxas "), "{found:?}");
        }
        // The only kernel of a module is meant where none is named; a function is named by its
        // path.
        let one = "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\nptxas info    : Compiling entry function 'k' for 'sm_90a'\n";
        assert_eq!(messages(one)[0].0.as_deref(), Some("k"));
        let called = "ptxas warning : Stack size for function '_RNvCs1234_4user6helper' is unknown\n";
        assert_eq!(messages(called), [(None, "Stack size for function 'user::helper' is unknown".to_string())]);
    }

    #[test]
    fn errors_are_placed() {
        assert_eq!(error_line("ptxas e.ptx, line 5; error   : Unknown modifier '.x'\nptxas fatal   : x"), Some(5));
        assert_eq!(error_line("ptxas w.ptx, line 5; fatal   : Parsing error near '.x': syntax error"), Some(5));
        let ptx = ".version 7.0\n.visible .entry k(\n)\n{\n\tbad;\n}\n.func  (.param .b32 r) helper(\n)\n{\n";
        assert_eq!(function_at(ptx, 5), Some("k"));
        assert_eq!(function_at(ptx, 9), Some("helper"));
        assert_eq!(function_at(ptx, 1), None);
        let fatal = "ptxas fatal   : (C7602) Insufficient registers (24) to compile instruction at line 49 in function k$wg__64. Try to \
                     compile with register target of 58 or higher.\nptxas fatal   : Ptx assembly aborted due to errors";
        assert_eq!((error_line(fatal), error_function(fatal)), (None, Some("k$wg__64")));
        assert_eq!(error_function("ptxas fatal   : Ptx assembly aborted due to errors"), None);
    }
}
