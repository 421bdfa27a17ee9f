//! The typed API is the same on the GPU and on the host: of all that could depend on the target
//! only the items in [`ALLOWED`] do. The seam is what may differ.

use std::collections::BTreeMap;

use super::source::{RustFile, rust_files};
use super::tokens::{Token, closed, tokens};
use super::{Files, Finding};

/// The sources of the typed API, and of what `#[kernel]` writes.
const CRATES: [&str; 2] = ["device/src", "device/macros/src"];
/// The seam in them.
const SEAM: &str = "device/src/isa";

/// What depends on the target: the crate's sources, the module by its last name, the item, how
/// often, and why.
const ALLOWED: &[(&str, &str, &str, usize, &str)] = &[
    ("device/src", "lib", "no_std", 1, "the GPU has no standard library"),
    ("device/src", "lib", "feature", 1, "the seam has inline assembly for the GPU"),
    ("device/src", "lib", "mod cpu", 1, "launchers run blocks on the CPU"),
    ("device/src", "lib", "mod launch", 1, "launchers read what a kernel is"),
    ("device/src", "entry", "use function", 1, "launchers make instances of kernels"),
    ("device/src", "entry", "use parameter", 1, "a build for the host checks the parameters of kernels"),
    ("device/src", "parameter", "fn is_parameter", 1, "a build for the host checks the parameters of kernels"),
    ("device/src", "function", "const PARAMETERS", 2, "launchers check arguments"),
    ("device/src", "function", "fn instance", 1, "launchers make instances of kernels"),
    ("device/src", "function", "fn instance_without_cpu", 1, "launchers make instances of kernels"),
    ("device/src", "function", "fn on_cpu", 1, "launchers run kernels on the CPU"),
    ("device/src", "parameter", "const INFO", 9, "launchers check arguments"),
    ("device/src", "value", "const INFO", 2, "launchers check arguments"),
    ("device/src", "fault", "fn out_of_range", 1, "the host panics as every program does"),
    ("device/src", "fault", "use gpu", 1, "the GPU's panic handler"),
    ("device/src", "fault", "mod gpu", 1, "the GPU's panic handler"),
    (
        "device/macros/src",
        "lib",
        "const _",
        3,
        "entry points are the GPU's, instances and what a launch needs launchers'",
    ),
    ("device/macros/src", "lib", "static INSTANCES", 1, "launchers look instances up"),
    ("device/macros/src", "lib", "struct Key", 1, "launchers look instances up"),
    ("device/macros/src", "lib", "fn launch", 1, "launchers call it"),
    ("device/macros/src", "checks", "const _", 1, "a build for the host checks a kernel's parameters, warps and roles"),
    ("device/macros/src", "bounds", "const _", 1, "a build for the host checks the bounds of launches"),
];

/// What tells one target from another.
const TARGET: [&str; 7] = [
    "target_arch",
    "target_os",
    "target_env",
    "target_vendor",
    "target_family",
    "target_feature",
    "target_pointer_width",
];

pub fn check(files: &Files) -> Vec<Finding> {
    with_allowed(files, ALLOWED)
}

fn with_allowed(files: &Files, allowed: &[(&str, &str, &str, usize, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in CRATES {
        let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
        for file in rust_files(files, folder).iter().filter(|file| !file.path.starts_with(SEAM)) {
            for (line, item) in dependent(file) {
                let count = found.entry((file.name().to_owned(), item.clone())).or_default();
                *count += 1;
                let is_here = |(of, name, one, ..): &&(&str, &str, &str, usize, &str)| {
                    *of == folder && *name == file.name() && *one == item
                };
                if *count > allowed.iter().find(is_here).map_or(0, |(.., most, _)| *most) {
                    let what = format!(
                        "`{item}` depends on the target: write it the same for both, with what differs in {SEAM}, or give \
                         the reason in `ALLOWED` of xtask/src/tidy/target.rs"
                    );
                    findings.push(Finding::new(&file.path, line, what));
                }
            }
        }
        for (_, name, item, most, _) in allowed.iter().filter(|(of, ..)| *of == folder) {
            let count = found.get(&((*name).to_owned(), (*item).to_owned())).copied().unwrap_or(0);
            if count < *most {
                let what = format!(
                    "`{item}` of the module `{name}` depends on the target in {count} places, and `ALLOWED` of \
                     xtask/src/tidy/target.rs says {most}: write {count} there, or take it out"
                );
                findings.push(Finding::new(folder.as_ref(), 0, what));
            }
        }
    }
    findings
}

/// The items of a file that depend on the target, with the lines that say so.
fn dependent(file: &RustFile) -> Vec<(usize, String)> {
    let tokens = tokens(&file.code);
    let places = tokens.iter().enumerate().filter(|(_, token)| TARGET.contains(&token.text));
    let mut found: Vec<(usize, String)> =
        places.map(|(place, token)| (file.line(token.at), item(&tokens, place))).collect();
    // A condition may name several.
    found.dedup();
    found
}

/// What depends on the condition that names the target there.
fn item(tokens: &[Token<'_>], place: usize) -> String {
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
    let bracket = |start: usize| start + 1 + usize::from(text(start + 1) == "!");
    let attribute = (0..place).rev().find(|start| text(*start) == "#" && closed(tokens, bracket(*start)) > place);
    let Some(start) = attribute.filter(|start| text(bracket(*start)) == "[") else { return "cfg!".to_owned() };
    let open = bracket(start);
    if text(open + 1) == "cfg_attr" {
        let mut at = open + 3;
        while at < tokens.len() && text(at) != "," {
            at = if text(at) == "(" { closed(tokens, at) } else { at + 1 };
        }
        return text(at + 1).to_owned();
    }
    let mut at = closed(tokens, open);
    loop {
        at = match text(at) {
            "#" => closed(tokens, bracket(at)),
            "pub" if text(at + 1) == "(" => closed(tokens, at + 1),
            "pub" | "unsafe" | "async" => at + 1,
            "const" if matches!(text(at + 1), "unsafe" | "fn" | "async") => at + 1,
            "fn" | "mod" | "const" | "static" | "struct" | "enum" | "trait" | "type" | "use" | "impl" => {
                return format!("{} {}", text(at), text(at + 1));
            }
            other => return other.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    fn found(text: &str, allowed: &[(&str, &str, &str, usize, &str)]) -> Vec<String> {
        let tree = files(&[
            ("device/src/fault/mod.rs", text),
            ("device/src/isa/mod.rs", "#[cfg(target_arch = \"x\")]\nmod x;\n"),
        ]);
        with_allowed(&tree, allowed).iter().map(ToString::to_string).collect()
    }

    fn items(text: &str) -> Vec<String> {
        let tree = files(&[("device/src/a.rs", text)]);
        rust_files(&tree, "device/src").iter().flat_map(dependent).map(|(_, item)| item).collect()
    }

    #[test]
    fn what_depends_on_the_target_is_named() {
        let cfg = "#[cfg(not(target_arch = \"nvptx64\"))]\n";
        for (code, expected) in [
            ("#[cold]\n#[doc = \"a\"]\npub(crate) const unsafe fn f() {}", "fn f"),
            ("pub const A: u32 = 1;", "const A"),
            ("pub use gpu::f;", "use gpu"),
            ("x += 1;", "x"),
        ] {
            assert_eq!(items(&format!("#[inline]\nfn before() {{}}\n{cfg}{code}\n")), [expected]);
        }
        assert_eq!(items("#![cfg_attr(any(target_arch = \"a\", target_os = \"b\"), no_std)]\n"), ["no_std"]);
        assert_eq!(items("fn f() { if cfg!(target_arch = \"nvptx64\") { g() } }\n"), ["cfg!"]);
        assert_eq!(items("// #[cfg(target_arch)]\n#[cfg(test)]\nfn f() {}\n"), [""; 0]);
    }

    #[test]
    fn what_has_no_reason_is_found_and_reasons_only_get_fewer() {
        let handler = "#[cfg(target_arch = \"nvptx64\")]\nmod gpu {}\n";
        let allowed = [("device/src", "fault", "mod gpu", 1, "the GPU's panic handler")];
        assert_eq!(found(handler, &allowed), [""; 0]);
        let wrong = "device/src/fault/mod.rs:1: `mod gpu` depends on the target: write it the same for both, with what \
                     differs in device/src/isa, or give the reason in `ALLOWED` of xtask/src/tidy/target.rs";
        assert_eq!(found(handler, &[]), [wrong]);
        assert_eq!(found(&handler.repeat(2), &allowed), [wrong.replace(":1:", ":3:")]);
        assert_eq!(
            found("", &allowed),
            ["device/src: `mod gpu` of the module `fault` depends on the target in 0 places, and `ALLOWED` of \
              xtask/src/tidy/target.rs says 1: write 0 there, or take it out"]
        );
    }
}
