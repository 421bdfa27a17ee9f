//! Assembling PTX and reading what `ptxas -v` says about it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::artifact::KernelReport;
use crate::toolchain::Toolchain;
use crate::{Error, ir, process};

/// Assembles `ptx` for `arch` into `cubin`; returns what `ptxas` says about it, which [`parse`] reads.
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
    let kernel = error_line(&text).and_then(|line| function_at(&source, line)).map(ir::demangle);
    // The temporary file's folder says nothing to the user.
    let folder = format!("{}/", ptx.parent().unwrap_or(Path::new("")).display());
    Err(Error::Ptxas { kernel, arch: arch.to_string(), message: message.join("\n").replace(&folder, "") })
}

/// What each kernel uses, without its thread count, as `ptxas -v` reports it.
pub(crate) fn parse(text: &str, arch: &str) -> Vec<KernelReport> {
    let mut kernels: BTreeMap<String, KernelReport> = BTreeMap::new();
    let mut order = Vec::new();
    let (mut entry, mut function) = (String::new(), String::new());
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            entry = rest.split('\'').next().unwrap_or_default().to_string();
            order.push(entry.clone());
            let report = KernelReport { kernel: entry.clone(), arch: arch.to_string(), ..KernelReport::default() };
            kernels.insert(entry.clone(), report);
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            function = name.trim().to_string();
        } else if line.contains(" bytes stack frame") {
            // Properties of the functions that a kernel calls follow its own.
            let Some(kernel) = kernels.get_mut(&function) else {
                continue;
            };
            kernel.stack_frame = number_before(line, " bytes stack frame");
            kernel.spill_stores = number_before(line, " bytes spill stores");
            kernel.spill_loads = number_before(line, " bytes spill loads");
        } else if line.contains(" registers") {
            let Some(kernel) = kernels.get_mut(&entry) else {
                continue;
            };
            kernel.registers = number_before(line, " registers");
            kernel.barriers = number_before(line, " barriers");
            kernel.shared_bytes = number_before(line, " bytes smem");
            kernel.constant_bytes = line
                .split(", ")
                .filter(|part| part.contains(" bytes cmem["))
                .map(|part| number_before(part, " bytes cmem["))
                .sum();
        }
    }
    order.iter().filter_map(|name| kernels.remove(name)).collect()
}

/// The number that stands before `unit`, 0 if there is none.
fn number_before(line: &str, unit: &str) -> u32 {
    let Some((head, _)) = line.split_once(unit) else {
        return 0;
    };
    let digits = head.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    head[digits..].parse().unwrap_or(0)
}

/// The line, from 1, of the first error: `ptxas k.ptx, line 50; error   : ..`.
fn error_line(text: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.contains("; error"))?;
    line.split_once(", line ")?.1.split(';').next()?.parse().ok()
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
    use super::{error_line, function_at, parse};

    #[test]
    fn report_is_read() {
        let text = "\
ptxas info    : 35 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 12 registers, used 2 barriers, 64 bytes cumulative stack size, 4096 bytes smem, 376 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Function properties for helper
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'a' for 'sm_80'
ptxas info    : Used 255 registers
";
        let report = parse(text, "sm_80");
        assert_eq!(report.iter().map(|k| k.kernel.as_str()).collect::<Vec<_>>(), ["k", "a"]);
        let k = &report[0];
        assert_eq!((k.registers, k.barriers, k.shared_bytes, k.constant_bytes), (12, 2, 4096, 384));
        assert_eq!((k.stack_frame, k.spill_stores, k.spill_loads), (64, 8, 12));
        assert_eq!(report[1].registers, 255);
    }

    #[test]
    fn errors_are_placed() {
        assert_eq!(error_line("ptxas e.ptx, line 5; error   : Unknown modifier '.x'\nptxas fatal   : x"), Some(5));
        let ptx = ".version 7.0\n.visible .entry k(\n)\n{\n\tbad;\n}\n.func  (.param .b32 r) helper(\n)\n{\n";
        assert_eq!(function_at(ptx, 5), Some("k"));
        assert_eq!(function_at(ptx, 9), Some("helper"));
        assert_eq!(function_at(ptx, 1), None);
    }
}
