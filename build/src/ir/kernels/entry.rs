//! What an entry point does: it hands its parameters to tilepipe, and nothing else.
//!
//! `#[kernel]` writes entry points with one `unsafe` call, of a path that a crate can put something
//! of its own behind. Here, in unoptimised code, what is called has a symbol: it is `enter` of the
//! device crate, known by that crate's id, or the entry point is refused. Where rustc has inlined
//! `enter`, line tables say that an instruction is from it, directly below the entry point.

use std::collections::BTreeMap;

use super::super::mangling::{CrateId, owner};
use super::super::module::{Callee, Function, Module};
use super::super::{Passed, demangle};
use crate::Error;

/// The function that runs a kernel: its path, to which its generic arguments follow.
const ENTER: &str = "tilepipe::entry::function::enter::<";
/// How a parameter of a kernel is passed: as bytes that the entry point finds at an address.
const PARAMETER: &str = "ptr";

/// Refuses entry points that do anything but to enter their kernel. `parameters` has those of each
/// kernel that has a contract; with `others`, entry points without one may be
/// there too, of which nothing is known.
///
/// # Errors
///
/// [`Error::Contract`].
pub(crate) fn check(
    module: &Module<'_>,
    device: Option<CrateId<'_>>,
    parameters: &BTreeMap<String, Vec<Passed>>,
    others: bool,
) -> Result<(), Error> {
    let checked = |one: &&Function<'_>| one.entry && (!others || parameters.contains_key(one.symbol));
    for function in module.functions.iter().filter(checked) {
        if let Some(problem) = problem(module, function, device, parameters.get(function.symbol).map(Vec::len)) {
            return Err(Error::Contract { kernel: function.symbol.to_string(), problem });
        }
    }
    Ok(())
}

/// What is wrong with an entry point, if something is.
fn problem<'a>(
    module: &Module<'a>,
    function: &Function<'a>,
    device: Option<CrateId<'_>>,
    parameters: Option<usize>,
) -> Option<String> {
    let Some(parameters) = parameters else {
        return Some("runs no kernel".to_string());
    };
    let raw = function.parameters.iter().filter(|one| **one == PARAMETER).count();
    if raw != parameters || function.parameters.len() != parameters {
        let found = function.parameters.join(", ");
        return Some(format!("has the parameters ({found}), and the kernel that it runs has {parameters}"));
    }
    let is_enter =
        |symbol: &str| owner(symbol).is_some_and(|owner| Some(owner) == device) && demangle(symbol).starts_with(ENTER);
    let mut enters = false;
    for one in &function.uses {
        // The last is the entry point itself, the one before it what that called.
        let called = module.written_in(function, one).into_iter().rev().nth(1);
        let own_address = one.addresses().next().is_some();
        match (&one.callee, called) {
            (_, Some(called)) if is_enter(called) => enters = true,
            (_, Some(called)) => return Some(format!("calls `{}`", demangle(called))),
            (Some(Callee::Function(name)), None) if is_enter(name) && !own_address => enters = true,
            (Some(Callee::Function(name)), None) if name.starts_with("llvm.") && !own_address => {}
            (Some(Callee::Function(name)), None) => return Some(format!("calls `{}`", demangle(name))),
            _ => return Some(format!("does more than to enter its kernel: `{}`", one.instruction.trim())),
        }
    }
    (!enters).then(|| "enters no kernel".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTER_OF_TILEPIPE: &str = "_RINvNtNtCs1234_8tilepipe5entry8function5enterNvCsabcd_4user1kE";
    const ENTER_OF_OTHERS: &str = "_RINvNtNtCs5678_8tilepipe5entry8function5enterNvCsabcd_4user1kE";
    const DEVICE: &str = "_RNvCs1234_8tilepipe4some";

    fn refused(parameters: &str, body: &str) -> Option<String> {
        let module = format!("define ptx_kernel void @k({parameters}) {{\n{body}  ret void\n}}\n{SCOPES}");
        let kernels = BTreeMap::from([("k".to_string(), vec![Passed { bytes: 16, alignment: 8, in_place: false }])]);
        match check(&Module::read(&module).unwrap(), owner(DEVICE), &kernels, false) {
            Ok(()) => None,
            Err(Error::Contract { problem, .. }) => Some(problem),
            Err(other) => panic!("{other}"),
        }
    }

    fn call(name: &str) -> String {
        format!("  call void @{name}(ptr %1) #3, !dbg !4\n")
    }

    /// A call of `name` at the location `!place`: 5 is in tilepipe's `enter`, inlined into the
    /// entry point; 6 in another crate's function of that path; 7 in tilepipe's `enter`, inlined
    /// into that.
    fn call_at(name: &str, place: u32) -> String {
        format!("  call void @{name}(ptr %1), !dbg !{place}\n")
    }

    const SCOPES: &str = concat!(
        "!4 = !DILocation(line: 1, column: 1, scope: !10)\n",
        "!5 = !DILocation(line: 1, column: 1, scope: !11, inlinedAt: !4)\n",
        "!6 = !DILocation(line: 1, column: 1, scope: !12, inlinedAt: !4)\n",
        "!7 = !DILocation(line: 1, column: 1, scope: !11, inlinedAt: !6)\n",
        "!10 = distinct !DISubprogram(name: \"k\", linkageName: \"k\", scope: !1)\n",
        "!11 = distinct !DISubprogram(name: \"enter\", linkageName: \"_RINvNtNtCs1234_8tilepipe5entry8function5enterNvCsabcd_4user1kE\", scope: !1)\n",
        "!12 = distinct !DISubprogram(name: \"enter\", linkageName: \"_RINvNtNtCs5678_8tilepipe5entry8function5enterNvCsabcd_4user1kE\", scope: !1)\n",
    );

    #[test]
    fn an_entry_point_into_which_enter_was_inlined_is_accepted_if_it_is_tilepipes() {
        let run = "_RNvCs1234_8tilepipe3run";
        assert_eq!(refused("ptr %0", &call_at(run, 5)), None);
        for body in [call_at(run, 6), call_at(run, 7), call_at(run, 5) + &call_at("memcpy", 6)] {
            assert!(refused("ptr %0", &body).is_some_and(|problem| problem.contains("calls")), "{body}");
        }
    }

    #[test]
    fn an_entry_point_that_enters_its_kernel_is_accepted() {
        let moves =
            "  %1 = alloca [32 x i8], align 8\n  call void @llvm.memcpy.p0.p0.i64(ptr %1, ptr %2, i64 32, i1 false)\n";
        assert_eq!(refused("ptr %0", &(moves.to_string() + &call(ENTER_OF_TILEPIPE))), None);
    }

    #[test]
    fn one_that_does_something_else_is_refused() {
        let enter = call(ENTER_OF_TILEPIPE);
        for (parameters, body, expected) in [
            ("ptr %0, ptr %1", enter.clone(), "has the parameters"),
            ("[500 x i64] %0", enter.clone(), "has the parameters"),
            ("ptr %0", call(ENTER_OF_OTHERS), "calls `tilepipe::entry::function::enter"),
            ("ptr %0", call("_RINvNtCs9_4core3ptr5writeNvCsabcd_4user1kE"), "calls `core::ptr::write"),
            ("ptr %0", call("memcpy"), "calls `memcpy`"),
            ("ptr %0", String::new(), "enters no kernel"),
            ("ptr %0", format!("{enter}  store ptr @x, ptr %1\n"), "does more"),
            ("ptr %0", format!("{enter}  call void asm \"trap;\", \"\"()\n"), "does more"),
        ] {
            let problem = refused(parameters, &body).unwrap_or_default();
            assert!(problem.contains(expected), "{problem} for {parameters}: {body}");
        }
        let module = format!("define ptx_kernel void @k(ptr %0) {{\n{enter}  ret void\n}}\n");
        let (module, none) = (Module::read(&module).unwrap(), BTreeMap::new());
        assert!(check(&module, owner(DEVICE), &none, false).is_err(), "without a contract");
        assert!(check(&module, owner(DEVICE), &none, true).is_ok(), "a kernel of another kind");
    }
}
