//! What a kernel must not contain.
//!
//! Block-level code is uniform because nothing thread-dependent can reach it. A static that
//! changes, or an address from a heap, would be a way around that which no type can close, so they
//! are refused on the linked module. Immutable statics are `constant`s in LLVM IR; statics with
//! interior mutability, and `static mut`, are `global`s.

use super::{demangle, global_name};
use crate::Error;

/// The one changing global that is allowed: where the host stores the address of the panic record.
pub(crate) const PANIC_RECORD: &str = "tilepipe_panic_record";

/// Checks a linked module from which everything unused was removed.
///
/// # Errors
///
/// The first of [`Error::GlobalAssembly`], [`Error::ThreadLocal`], [`Error::MutableStatic`],
/// [`Error::Allocator`] and [`Error::Unresolved`] that applies.
pub(crate) fn check(module: &str) -> Result<(), Error> {
    // Allocators first: an allocator's own state is a mutable static too, and the less helpful
    // message.
    module.lines().try_for_each(allocation)?;
    module.lines().try_for_each(line)
}

/// The non-intrinsic functions and statics that a module uses and nothing in it defines.
pub(crate) fn unresolved(module: &str) -> Vec<&str> {
    module.lines().filter_map(undefined_symbol).collect()
}

/// Refuses a line that declares or defines an allocator.
fn allocation(line: &str) -> Result<(), Error> {
    let function = line.starts_with("define ") || line.starts_with("declare ");
    let symbol = if function { line.find('@').and_then(|at| global_name(&line[at..])) } else { global_name(line) };
    match symbol {
        Some((symbol, _)) if is_allocator(symbol) => Err(Error::Allocator { symbol: demangle(symbol) }),
        _ => Ok(()),
    }
}

/// Refuses everything else.
fn line(line: &str) -> Result<(), Error> {
    if line.starts_with("module asm ") {
        return Err(Error::GlobalAssembly);
    }
    if let Some(symbol) = undefined_symbol(line) {
        return Err(Error::Unresolved { symbol: demangle(symbol) });
    }
    let Some(global) = Global::parse(line) else {
        return Ok(());
    };
    if global.name.starts_with("llvm.") || global.shared {
        return Ok(());
    }
    let symbol = demangle(global.name);
    if global.thread_local {
        return Err(Error::ThreadLocal { symbol });
    }
    if global.mutable && global.name != PANIC_RECORD {
        return Err(Error::MutableStatic { symbol });
    }
    Ok(())
}

/// The symbol that a line declares without defining it; intrinsics and dynamic shared memory need
/// no definition.
fn undefined_symbol(line: &str) -> Option<&str> {
    if line.starts_with("declare ") {
        let (name, _) = global_name(&line[line.find('@')?..])?;
        return (!name.starts_with("llvm.")).then_some(name);
    }
    let global = Global::parse(line)?;
    (global.declared && !global.shared).then_some(global.name)
}

/// Whether a symbol is one through which memory is allocated.
fn is_allocator(symbol: &str) -> bool {
    const C: [&str; 6] = ["malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"];
    // Also inside mangled names: `_RNvCs..._7___rustc12___rust_alloc`.
    const RUST: [&str; 9] = [
        "__rust_alloc",
        "__rust_dealloc",
        "__rust_realloc",
        "__rust_no_alloc_shim",
        "__rg_alloc",
        "__rg_dealloc",
        "__rg_realloc",
        "__rdl_alloc",
        "__rust_alloc_error_handler",
    ];
    C.contains(&symbol) || RUST.iter().any(|name| symbol.contains(name))
}

/// One line `@name = .. global|constant ..`.
struct Global<'a> {
    name: &'a str,
    declared: bool,
    mutable: bool,
    thread_local: bool,
    /// In address space 3. Rust cannot write such a global, only `runtime.ll` can.
    shared: bool,
}

impl<'a> Global<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, rest) = global_name(line)?;
        let mut global = Global { name, declared: false, mutable: false, thread_local: false, shared: false };
        for word in rest.strip_prefix(" = ")?.split(' ') {
            match word {
                "external" | "extern_weak" => global.declared = true,
                "addrspace(3)" => global.shared = true,
                "constant" => return Some(global),
                "global" => {
                    global.mutable = true;
                    return Some(global);
                }
                "alias" | "ifunc" => return None,
                _ if word.starts_with("thread_local") => global.thread_local = true,
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{check, unresolved};
    use crate::Error;

    #[test]
    fn what_kernels_need_is_allowed() {
        for line in [
            "@anon.1 = private unnamed_addr constant [11 x i8] c\" global x \", align 1",
            "@shared = external addrspace(3) global [0 x i8], align 128",
            "@scratch = internal addrspace(3) global [4 x i32] undef, align 16",
            "@tilepipe_panic_record = local_unnamed_addr global i64 0, align 8",
            "declare void @llvm.assume(i1 noundef) #1",
            "  %1 = load i32, ptr @global, align 4",
            "define void @f() #1 {",
        ] {
            assert!(check(line).is_ok(), "{line}");
            assert!(unresolved(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn what_they_must_not_have_is_named() {
        let name = "_RNvCs1234_3foo7COUNTER";
        type Case = (String, fn(&Error) -> bool);
        let cases: [Case; 9] = [
            (
                format!("@{name} = internal global [4 x i8] zeroinitializer, align 4"),
                |e| matches!(e, Error::MutableStatic { symbol } if symbol == "foo::COUNTER"),
            ),
            ("@x = internal addrspace(1) global i32 0".into(), |e| matches!(e, Error::MutableStatic { .. })),
            ("@x = internal thread_local global i32 0".into(), |e| matches!(e, Error::ThreadLocal { .. })),
            ("@x = internal thread_local(localexec) constant i32 0".into(), |e| matches!(e, Error::ThreadLocal { .. })),
            ("@x = external global i32".into(), |e| matches!(e, Error::Unresolved { .. })),
            ("declare i32 @puts(ptr)".into(), |e| matches!(e, Error::Unresolved { symbol } if symbol == "puts")),
            ("declare noalias ptr @malloc(i64) #1".into(), |e| matches!(e, Error::Allocator { .. })),
            ("declare ptr @_RNvCs1234_7___rustc12___rust_alloc(i64, i64)".into(), |e| {
                matches!(e, Error::Allocator { .. })
            }),
            ("module asm \".global .u32 x;\"".into(), |e| matches!(e, Error::GlobalAssembly)),
        ];
        for (line, expected) in cases {
            let error = check(&line).expect_err(&line);
            assert!(expected(&error), "{line}: {error}");
        }
    }

    #[test]
    fn an_allocator_is_named_before_its_state() {
        let module = "@HEAP = internal global i64 0\ndefine ptr @__rg_alloc(i64 %0) {\n";
        assert!(matches!(check(module), Err(Error::Allocator { .. })));
    }
}
