//! Nobody but the seam names an instruction, an intrinsic or an address space.
//!
//! In no crate has code of its own for them: inline assembly, `core::arch`, functions of another
//! language. The crates that kernels are made with do not even have texts that name them, but for
//! what stands in [`ALLOWED`]: the builder reads what the compiler made of the seam. Programs of
//! tests may do all of it.

use std::collections::BTreeSet;
use std::path::Path;

use super::source::{RustFile, rust_files};
use super::tokens::tokens;
use super::{Files, Finding};

/// Where all of it belongs.
const SEAM: [&str; 2] = ["device/src/isa", "device/src/runtime.ll"];

/// The folders of the crates whose texts are looked at too.
const MADE_WITH: [&str; 4] = ["build", "device", "host", "kernels"];

const ASSEMBLY: &str = "inline assembly";
const FOREIGN: &str = "a function of another language";
const INTRINSIC: &str = "an intrinsic";
const SPACE: &str = "an address space";
const INSTRUCTION: &str = "an instruction";
const SYMBOL: &str = "a name of runtime.ll's";

/// What is named all the same: a crate's sources, the module by its last name, what, and why.
const ALLOWED: &[(&str, &str, &str, &str)] = &[
    ("build/src", "check", SYMBOL, "the one global that may change is the panic record's address"),
    ("build/src", "check", INTRINSIC, "what LLVM declares is no memory of the program's"),
    ("build/src", "check", SPACE, "shared memory may change"),
    ("build/src", "checks", INSTRUCTION, "what a failed check does is written in line (docs/decisions/80)"),
    ("build/src", "contract", SYMBOL, "contracts are found by the call that the seam makes"),
    ("build/src", "contract", SPACE, "a kernel's contract becomes a constant in the module"),
    ("build/src", "convergent", INTRINSIC, "intrinsics carry their own marks"),
    ("build/src", "convergent", SPACE, "the type of a call may have one"),
    ("build/src", "dependent", INSTRUCTION, "where a kernel waits depends on its instructions (docs/decisions/96)"),
    ("build/src", "ends", INSTRUCTION, "those that end a last partition are left out (docs/decisions/65)"),
    ("build/src", "entry", INTRINSIC, "entry points may call those that the compiler puts in"),
    ("build/src", "marked", SYMBOL, "a wait is found by the labels that the seam gives it (docs/decisions/97)"),
    ("build/src", "module", SPACE, "a type of the IR may have one"),
    ("build/src", "needs", INSTRUCTION, "what a kernel's PTX needs of a GPU follows from its instructions"),
    ("build/src", "needs", INTRINSIC, "it follows from LLVM's names of them too"),
    ("build/src", "settled", INSTRUCTION, "waits with nothing to wait for are left out (docs/decisions.md, 78)"),
    ("build/src", "specialise", INSTRUCTION, "one is replaced for newer GPUs (docs/decisions.md, 23)"),
    ("build/src", "specialise", SYMBOL, "it is found by the name that the seam gives its predicate"),
    ("build/src", "thread_level", INTRINSIC, "those that tell threads apart are refused outside of the seam"),
    ("device/src", "panic_record", SYMBOL, "the host sets the variable, which it finds by its name"),
];

/// What texts name instructions, intrinsics and address spaces by.
const WORDS: [(&str, &str); 13] = [
    ("llvm.", INTRINSIC),
    ("addrspace", SPACE),
    ("cp.async", INSTRUCTION),
    ("mbarrier.", INSTRUCTION),
    ("bar.sync", INSTRUCTION),
    ("bar.warp", INSTRUCTION),
    ("barrier.sync", INSTRUCTION),
    ("shfl.", INSTRUCTION),
    ("vote.", INSTRUCTION),
    ("griddepcontrol.", INSTRUCTION),
    ("ld.global", INSTRUCTION),
    ("st.global", INSTRUCTION),
    ("%tid", INSTRUCTION),
];

pub fn check(files: &Files) -> Vec<Finding> {
    with_allowed(files, ALLOWED)
}

fn with_allowed(files: &Files, allowed: &[(&str, &str, &str, &str)]) -> Vec<Finding> {
    let symbols = symbols(files.text(SEAM[1]).unwrap_or_default());
    let mut findings = Vec::new();
    let mut left: BTreeSet<(&str, &str, &str)> =
        allowed.iter().map(|(of, name, what, _)| (*of, *name, *what)).collect();
    for folder in sources(files) {
        let seam = |path: &Path| SEAM.iter().any(|seam| path.starts_with(seam));
        for file in rust_files(files, folder).iter().filter(|file| !seam(&file.path)) {
            let mut named = in_code(file);
            if MADE_WITH.iter().any(|made| file.path.starts_with(made)) {
                named.extend(in_texts(file, &symbols));
            }
            for (at, what, text) in named {
                let key = (folder, file.name(), what);
                if allowed.iter().any(|(of, name, what, _)| (*of, *name, *what) == key) {
                    left.retain(|one| *one != key);
                } else {
                    let what = format!("`{text}` names {what}: write a function for it in {}", SEAM[0]);
                    findings.push(Finding::new(&file.path, file.line(at), what));
                }
            }
        }
        let ir =
            files.below(folder).filter(|(path, ..)| path.extension().is_some_and(|kind| kind == "ll") && !seam(path));
        findings.extend(ir.map(|(path, ..)| Finding::new(path, 0, format!("LLVM IR: move it into {}", SEAM[1]))));
    }
    for (folder, name, what) in left {
        let what = format!(
            "the module `{name}` names {what} no more: take it out of `ALLOWED` in xtask/src/tidy/instructions.rs"
        );
        findings.push(Finding::new(folder.as_ref(), 0, what));
    }
    findings
}

/// The folders of sources of all crates but those of tests.
fn sources(files: &Files) -> BTreeSet<&str> {
    let folders = files.files.iter().filter_map(|(path, _)| {
        let path = path.to_str()?;
        path.find("/src/").map(|end| &path[..end + "/src".len()])
    });
    folders.filter(|folder| !folder.split('/').any(|part| part == "tests")).collect()
}

/// A place, the kind of what is named there, and its name.
type Named<'a> = (usize, &'static str, &'a str);

/// What a file's code names.
fn in_code(file: &RustFile) -> Vec<Named<'_>> {
    let tokens = tokens(&file.code);
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let next = |by: usize| tokens.get(place + by).map_or("", |token| token.text);
        let what = match token.text {
            "asm" | "global_asm" | "naked_asm" if next(1) == "!" => ASSEMBLY,
            "arch" | "intrinsics" if place >= 2 && matches!(tokens[place - 2].text, "core" | "std") => INTRINSIC,
            "extern" if next(1) == "{" || (next(1) == "\"" && next(3) == "{") => FOREIGN,
            _ => continue,
        };
        found.push((token.at, what, token.text));
    }
    found
}

/// What a file's literals name; a symbol of the seam's IR anywhere in it.
fn in_texts<'a>(file: &'a RustFile, symbols: &BTreeSet<&str>) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    for (at, text) in file.literals() {
        found.extend(WORDS.iter().filter(|(word, _)| text.contains(word)).map(|(word, what)| (at, *what, *word)));
    }
    let words = tokens(&file.text).into_iter().filter(|token| symbols.contains(token.text));
    found.extend(words.map(|token| (token.at, SYMBOL, token.text)));
    found
}

/// The names in the seam's IR that are its own.
fn symbols(ir: &str) -> BTreeSet<&str> {
    tokens(ir).into_iter().map(|token| token.text).filter(|name| name.starts_with("tilepipe_")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const IR: (&str, &str) = ("device/src/runtime.ll", "@tilepipe_scratch = addrspace(3) global [656 x i8] undef\n");

    fn found(path: &str, text: &str, allowed: &[(&str, &str, &str, &str)]) -> Vec<String> {
        with_allowed(&files(&[IR, (path, text)]), allowed).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn code_and_texts_that_name_what_is_the_seams_are_found() {
        for (code, text, what) in [
            ("unsafe { core::arch::asm!(\"\") }", "arch", INTRINSIC),
            ("unsafe { asm!(\"nop;\") }", "asm", ASSEMBLY),
            ("use std::intrinsics::unlikely;", "intrinsics", INTRINSIC),
            ("unsafe extern \"C\" { fn f(); }", "extern", FOREIGN),
            ("const A: &str = \"@llvm.nvvm.x\";", "llvm.", INTRINSIC),
            ("const A: &str = r\"ptr addrspace(3)\";", "addrspace", SPACE),
            ("const A: &str = \"cp.async.x\";", "cp.async", INSTRUCTION),
            ("const A: &str = \"@tilepipe_scratch \";", "tilepipe_scratch", SYMBOL),
        ] {
            let found = found("device/src/tile.rs", &format!("\n{code}\n"), &[]);
            let expected =
                format!("device/src/tile.rs:2: `{text}` names {what}: write a function for it in device/src/isa");
            assert!(found.contains(&expected), "{expected}: {found:?}");
        }
        assert_eq!(found("host/src/a.ll", "", &[]), ["host/src/a.ll: LLVM IR: move it into device/src/runtime.ll"]);
    }

    #[test]
    fn the_seam_comments_tests_and_ordinary_code_are_left_alone() {
        let code = "unsafe { core::arch::asm!(\"cp.async.x\") }\n";
        for path in ["device/src/isa/nvptx/mod.rs", "tests/twins/src/lib.rs", "build/tests/fixtures/x/src/lib.rs"] {
            assert_eq!(found(path, code, &[]), [""; 0]);
        }
        let harmless = "//! `cp.async`\nunsafe extern \"C\" fn entry() {}\nfn f(llvm: Llvm) { llvm.missing(); core::mem::take(x) }\n\
            \n#[cfg(test)]\nmod tests {\n    const A: &str = \"addrspace(3)\";\n}\n";
        assert_eq!(found("device/src/tile.rs", harmless, &[]), [""; 0]);
        assert_eq!(found("bench/src/table.rs", "const A: &str = \"cp.async\";", &[]), [""; 0]);
    }

    #[test]
    fn what_is_allowed_only_gets_fewer() {
        let allowed = [("build/src", "entry", INTRINSIC, "a reason")];
        assert_eq!(found("build/src/ir/entry.rs", "const A: &str = \"llvm.x\";", &allowed), [""; 0]);
        assert_eq!(found("build/src/ir/entry.rs", "const A: &str = \"llvm.x addrspace(1)\";", &allowed).len(), 1);
        assert_eq!(
            found("build/src/ir/entry.rs", "", &allowed),
            ["build/src: the module `entry` names an intrinsic no more: take it out of `ALLOWED` in \
              xtask/src/tidy/instructions.rs"]
        );
    }
}
