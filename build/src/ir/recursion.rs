//! Recursion: a thread's stack on the GPU has a fixed size that nothing guards, so none is allowed
//! to grow with the data.

use std::collections::HashSet;

use super::demangle;
use super::module::{Callee, Module, Use};
use crate::Error;

/// Refuses a function that a kernel can call and that can call itself, perhaps by way of others.
///
/// A call by address counts as one of every function of the same parameters whose address is taken
/// anywhere in the module.
///
/// # Errors
///
/// [`Error::Recursion`].
pub(crate) fn check(module: &Module<'_>) -> Result<(), Error> {
    let mut done: HashSet<usize> = HashSet::new();
    for (entry, _) in module.functions.iter().enumerate().filter(|(_, function)| function.entry) {
        // The functions on the way from the kernel, each with its calls that are still to be
        // followed.
        let mut way = vec![(entry, calls(module, entry))];
        let mut on_way = HashSet::from([entry]);
        while let Some((function, left)) = way.last_mut() {
            let Some((one, called)) = left.next() else {
                done.insert(*function);
                on_way.remove(function);
                way.pop();
                continue;
            };
            if on_way.contains(&called) {
                let first = way.iter().position(|(function, _)| *function == called).unwrap_or(0);
                return Err(error(module, entry, &way[first..].iter().map(|(at, _)| *at).collect::<Vec<_>>(), one));
            }
            if !done.contains(&called) {
                on_way.insert(called);
                way.push((called, calls(module, called)));
            }
        }
    }
    Ok(())
}

/// The calls in a function, each with a function that it may be of.
fn calls<'m, 'a>(module: &'m Module<'a>, function: usize) -> Box<dyn Iterator<Item = (&'m Use<'a>, usize)> + 'm> {
    let uses = module.functions[function].uses.iter();
    Box::new(uses.flat_map(move |one| module.targets(one).iter().map(move |target| (one, *target))))
}

/// The error for functions of which each calls the next one, and the last one the first by `last`.
fn error(module: &Module<'_>, entry: usize, ring: &[usize], last: &Use<'_>) -> Error {
    let mut cycle = Vec::new();
    let mut by_address = false;
    for (at, function) in ring.iter().enumerate() {
        let one = match ring.get(at + 1) {
            Some(next) => calls(module, *function).find(|(_, called)| called == next).map_or(last, |(one, _)| one),
            None => last,
        };
        by_address |= matches!(one.callee, Some(Callee::Address(_)));
        // From the function itself to the one inlined into it that makes the call.
        let written_in = module.written_in(&module.functions[*function], one);
        cycle.extend(written_in.iter().rev().map(|symbol| demangle(symbol)));
    }
    cycle.dedup();
    Error::Recursion { kernel: demangle(module.functions[entry].symbol), cycle, by_address }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Error;
    use crate::ir::module::Module;

    /// A module of functions, each with the instructions in it; the first one is the kernel.
    fn result(functions: &[(&str, &[&str])]) -> Result<(), Error> {
        let mut text = String::new();
        for (at, (name, body)) in functions.iter().enumerate() {
            let kind = if at == 0 { "ptx_kernel" } else { "internal" };
            text += &format!("define {kind} void @{name}(ptr %0) {{\n");
            for line in *body {
                text += &format!("  {line}\n");
            }
            text += "  ret void\n}\n";
        }
        check(&Module::read(&text).unwrap())
    }

    #[test]
    fn functions_that_call_themselves_are_refused_by_name() {
        const TO_A: &str = "call void @a(ptr %0)";
        const TO_B: &str = "call void @b(ptr %0)";
        for (functions, names) in [
            (&[("k", &[TO_A][..]), ("a", &[TO_A])][..], &["a"][..]),
            (&[("k", &[TO_A]), ("a", &[TO_B]), ("b", &[TO_A])], &["a", "b"]),
            (&[("k", &["call void @k(ptr %0)"])], &["k"]),
        ] {
            match result(functions) {
                Err(Error::Recursion { kernel, cycle, by_address: false }) => {
                    assert_eq!((kernel.as_str(), cycle), ("k", names.iter().map(|name| name.to_string()).collect()));
                }
                other => panic!("{functions:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn calls_by_address_are_followed_to_whatever_fits() {
        let kernel = ("k", &["call void @a(ptr @a)"][..]);
        let by_address = ("a", &["call void %0(ptr %0)"][..]);
        assert!(matches!(result(&[kernel, by_address]), Err(Error::Recursion { by_address: true, .. })));
        assert!(result(&[kernel, ("a", &["call void %0(i32 1)"])]).is_ok(), "other parameters");
        assert!(result(&[("k", &["call void @a(ptr %0)"]), by_address]).is_ok(), "no address is taken");
    }

    #[test]
    fn functions_that_are_called_twice_or_never_are_none() {
        let twice = &["call void @b(ptr %0)", "call void @b(ptr %0)"][..];
        let address = &["call void @b(ptr @never)"][..];
        let itself = &["call void @never(ptr %0)"][..];
        assert!(result(&[("k", address), ("a", twice), ("b", &[]), ("never", itself)]).is_ok());
        assert!(result(&[("k", &["call void @a(ptr %0)", "call void @b(ptr %0)"]), ("a", twice), ("b", &[])]).is_ok());
    }
}
