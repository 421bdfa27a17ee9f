//! Code that a thread could tell itself from another by, or meet others in, outside of the device
//! crate.
//!
//! Block-level code is uniform because its thread's identity, a clock, or what one thread does to
//! another, reaches it through the device crate's types alone. Inline assembly, NVIDIA's intrinsics
//! and the functions of `runtime.ll` know no such types.

use std::collections::{HashMap, HashSet, VecDeque};

use super::mangling::{CrateId, owner};
use super::module::{Callee, Function, Module, Use, names};
use super::{demangle, global_name};
use crate::Error;

/// Who may contain such code.
pub(crate) struct Allowed<'a> {
    /// The device crate.
    pub device: Option<CrateId<'a>>,
    /// The functions and globals of the runtime that is linked.
    pub runtime: HashSet<&'a str>,
}

/// The functions and globals that a module defines, or has in shared memory.
pub(crate) fn symbols(module: &str) -> HashSet<&str> {
    module
        .lines()
        .filter(|line| line.starts_with("define ") || line.starts_with('@'))
        .filter_map(|line| names(line).next())
        .collect()
}

/// Refuses such code in what the kernels reach, except for the device crate's.
///
/// # Errors
///
/// [`Error::ThreadLevelCode`].
pub(crate) fn check(module: &Module<'_>, allowed: &Allowed<'_>) -> Result<(), Error> {
    for line in &module.tables {
        if let Some(symbol) = names(line).skip(1).find(|name| allowed.runtime.contains(name)) {
            let name = global_name(line).map_or(*line, |(name, _)| name);
            let what = format!("has the address of `{symbol}`");
            return Err(Error::ThreadLevelCode { function: demangle(name), what, chain: Vec::new() });
        }
    }
    let functions = module.functions.iter().enumerate();
    for (at, function) in functions.filter(|(_, function)| !allowed.runtime.contains(function.symbol)) {
        for one in &function.uses {
            let Some(what) = fault(one, allowed) else { continue };
            let written_in = module.written_in(function, one);
            let owner = owner(written_in[0]);
            if owner.is_some() && owner == allowed.device {
                continue;
            }
            let mut chain = written_in.iter().map(|symbol| named(symbol, allowed)).collect::<Vec<_>>();
            chain.extend(callers(module, at).into_iter().map(|symbol| named(symbol, allowed)));
            chain.dedup();
            return Err(Error::ThreadLevelCode { function: chain.remove(0), what, chain });
        }
    }
    Ok(())
}

/// What is wrong with an instruction outside of the device crate, if something is.
fn fault(one: &Use<'_>, allowed: &Allowed<'_>) -> Option<String> {
    match &one.callee {
        Some(Callee::Assembly { inert: false }) => Some("contains inline assembly".to_string()),
        Some(Callee::Function(name)) if is_refused_intrinsic(name) => Some(format!("uses the intrinsic `{name}`")),
        _ => {
            let symbol = names(one.instruction).find(|name| allowed.runtime.contains(name))?;
            Some(format!("uses `{symbol}`, which is the device crate's own"))
        }
    }
}

/// Whether an intrinsic is one that kernels must not use: one of NVIDIA's that is not known to be
/// harmless, or one that reads a clock, a register or where the stack is.
fn is_refused_intrinsic(name: &str) -> bool {
    /// The same in all threads of a block.
    const UNIFORM: [&str; 4] = ["ctaid.", "nctaid.", "ntid.", "warpsize"];
    /// Arithmetic on the operands, by the names' first parts.
    const ARITHMETIC: [&str; 43] = [
        "abs", "add", "bitcast", "ceil", "cos", "d2f", "d2i", "d2ll", "d2ui", "d2ull", "div", "ex2", "f2bf16", "f2h",
        "f2i", "f2ll", "f2ui", "f2ull", "fabs", "floor", "fma", "fmax", "fmin", "i2d", "i2f", "idp2a", "idp4a", "lg2",
        "ll2d", "ll2f", "mul", "mul24", "mulhi", "neg", "prmt", "rcp", "round", "rsqrt", "sad", "saturate", "sin",
        "sqrt", "trunc",
    ];
    const READS: [&str; 14] = [
        "addressofreturnaddress",
        "frameaddress",
        "get.",
        "localaddress",
        "read_register",
        "read_volatile_register",
        "readcyclecounter",
        "readsteadycounter",
        "returnaddress",
        "set.",
        "sponentry",
        "stacksave",
        "thread.pointer",
        "write_register",
    ];
    let Some(name) = name.strip_prefix("llvm.") else { return false };
    if let Some(register) = name.strip_prefix("nvvm.read.ptx.sreg.") {
        return !UNIFORM.iter().any(|uniform| register.starts_with(uniform));
    }
    match name.strip_prefix("nvvm.") {
        Some(name) => !ARITHMETIC.contains(&name.split('.').next().unwrap_or(name)),
        None => READS.iter().any(|read| name.starts_with(read)),
    }
}

/// A function's path in Rust; with the crate's id if the crate only has the device crate's name.
fn named(symbol: &str, allowed: &Allowed<'_>) -> String {
    match owner(symbol) {
        Some(owner) if owner.name == "tilepipe" && Some(owner) != allowed.device => {
            format!("{} (of another crate named tilepipe)", demangle(symbol))
        }
        _ => demangle(symbol),
    }
}

/// The functions from a caller of this one to a kernel, by the shortest way.
fn callers<'a>(module: &Module<'a>, function: usize) -> Vec<&'a str> {
    let mut callers: HashMap<usize, (usize, &Use<'a>)> = HashMap::new();
    let entries = module.functions.iter().enumerate().filter(|(_, function)| function.entry).map(|(at, _)| at);
    let mut next: VecDeque<usize> = entries.collect();
    let mut seen: HashSet<usize> = next.iter().copied().collect();
    while let Some(caller) = next.pop_front() {
        for one in &module.functions[caller].uses {
            for called in module.named(one) {
                if seen.insert(called) {
                    callers.insert(called, (caller, one));
                    next.push_back(called);
                }
            }
        }
    }
    let (mut chain, mut at) = (Vec::new(), function);
    while let Some((caller, one)) = callers.get(&at) {
        let around: &Function<'a> = &module.functions[*caller];
        chain.extend(module.written_in(around, one));
        at = *caller;
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::{Allowed, check, is_refused_intrinsic, symbols};
    use crate::Error;
    use crate::ir::mangling::owner;
    use crate::ir::module::Module;

    const RUNTIME: &str = "@tilepipe_words = addrspace(3) global [16 x i8] undef, align 16\n\
        declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n\
        define i32 @tilepipe_thread_rank() #1 {\ndefine void @tilepipe_barrier() #1 {\n";

    const DEVICE: &str = "_RNvCsAb1_8tilepipe4wait";

    /// Checks a kernel that calls `@{function}`, which has `body` and was written where `table`
    /// says.
    fn result(function: &str, body: &str, table: &str) -> Result<(), Error> {
        let text = format!(
            "define ptx_kernel void @k() {{\n  call void @{function}()\n  ret void\n}}\n\
             define internal void @{function}() {{\n{body}\n  ret void\n}}\n\
             define internal i32 @tilepipe_thread_rank() {{\n  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  ret i32 %1\n}}\n{table}"
        );
        let runtime = symbols(RUNTIME);
        let allowed = Allowed { device: owner(DEVICE), runtime };
        check(&Module::read(&text).unwrap(), &allowed)
    }

    const FAULTS: [(&str, &str); 7] = [
        ("  call void asm sideeffect \"bar.sync 0;\", \"~{memory}\"() #3", "inline assembly"),
        ("  %1 = call i32 asm \"\", \"=r\"() #3", "inline assembly"),
        ("  %\"\" = call i32 asm \"mov.u32 $0, %laneid;\", \"=r\"() #3", "inline assembly"),
        ("  store i32 0, ptr addrspacecast (ptr addrspace(3) @tilepipe_words to ptr), align 4", "`tilepipe_words`"),
        ("  %1 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()", "`llvm.nvvm.read.ptx.sreg.laneid`"),
        ("  %1 = call i32 @tilepipe_thread_rank() #3", "`tilepipe_thread_rank`"),
        ("  store ptr @tilepipe_thread_rank, ptr %0", "`tilepipe_thread_rank`"),
    ];

    #[test]
    fn thread_level_code_is_refused_but_in_the_device_crate() {
        for (body, named) in FAULTS {
            assert!(result(DEVICE, body, "").is_ok(), "{body}");
            for other in ["_RNvCsAb2_8tilepipe4wait", "_RNvCsAb1_4user4wait", "wait"] {
                match result(other, body, "") {
                    Err(Error::ThreadLevelCode { function, what, chain }) => {
                        assert!(function.contains("wait") && what.contains(named), "{function} {what}");
                        assert_eq!(chain, ["k"]);
                    }
                    other => panic!("{body}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn what_counts_is_the_function_that_wrote_it() {
        let table = |inlined: &str, around: &str| {
            format!(
                "!1 = distinct !DISubprogram(name: \"a\", linkageName: \"{around}\", line: 1)\n\
                 !2 = distinct !DISubprogram(name: \"b\", linkageName: \"{inlined}\", line: 1)\n\
                 !3 = !DILocation(line: 1, scope: !1)\n!4 = !DILocation(line: 1, scope: !2, inlinedAt: !3)\n"
            )
        };
        let user = "_RNvCsAb1_4user4mine";
        for (body, _) in FAULTS {
            let body = format!("{body}, !dbg !4");
            assert!(result(user, &body, &table(DEVICE, user)).is_ok(), "{body}");
            match result(DEVICE, &body, &table(user, DEVICE)) {
                Err(Error::ThreadLevelCode { function, chain, .. }) => {
                    assert_eq!((function.as_str(), chain), ("user::mine", vec!["tilepipe::wait".into(), "k".into()]));
                }
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[test]
    fn harmless_code_is_everybodys() {
        for body in [
            "  call void asm sideeffect \"\", \"r,~{memory}\"(ptr %0) #3",
            "  %1 = call float @llvm.nvvm.ex2.approx.f(float %0)",
            "  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            "  call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %1, i64 4, i1 false)",
            "  store [2 x i8] c\"@tilepipe_barrier\", ptr %0",
        ] {
            assert!(result("_RNvCsAb1_4user4mine", body, "").is_ok(), "{body}");
        }
    }

    #[test]
    fn a_static_with_the_address_of_a_runtime_function_is_refused() {
        let error =
            result(DEVICE, "", "@_RNvCsAb1_4user5TABLE = constant [1 x ptr] [ptr @tilepipe_barrier]\n").unwrap_err();
        assert!(matches!(&error, Error::ThreadLevelCode { function, .. } if function == "user::TABLE"), "{error}");
    }

    #[test]
    fn intrinsics_that_are_not_known_are_refused() {
        for name in [
            "llvm.nvvm.barrier.cta.sync.aligned.all",
            "llvm.nvvm.read.ptx.sreg.tid.x",
            "llvm.nvvm.read.ptx.sreg.globaltimer",
            "llvm.nvvm.shfl.sync.idx.i32",
            "llvm.nvvm.something.new",
            "llvm.nvvm.addition",
            "llvm.readcyclecounter",
            "llvm.readsteadycounter",
            "llvm.read_register.i32",
        ] {
            assert!(is_refused_intrinsic(name), "{name}");
        }
        for name in
            ["llvm.nvvm.add.rn.f", "llvm.nvvm.fma.rn.f16x2", "llvm.nvvm.read.ptx.sreg.ntid.y", "llvm.usub.sat.i32"]
        {
            assert!(!is_refused_intrinsic(name), "{name}");
        }
    }
}
