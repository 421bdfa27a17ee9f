//! One change to the linked PTX for newer GPUs: waits at mbarriers suspend the thread instead of spinning.
//!
//! The device crate waits at an mbarrier in a loop around `mbarrier.test_wait`, which every GPU from `sm_80` on has. It marks a
//! wait whose loop does nothing else by the name of the predicate that receives the answer:
//!
//! ```text
//! mbarrier.test_wait.parity.shared.b64 tilepipe_blocking, [%r1], %r2;
//! ```
//!
//! For `sm_90` and newer this becomes the instruction that waits by itself, for as long as the GPU sees fit:
//!
//! ```text
//! mbarrier.try_wait.parity.shared.b64 tilepipe_blocking, [%r1], %r2;
//! ```
//!
//! Both have the same operands, the same default memory order, and a false answer that sends the loop round again, so nothing
//! around them changes. (`try_wait` can be told how long to wait; without that it is faster, and the assembler lets the loop give
//! way to threads of the warp that took another path: docs/performance.md.) A `test_wait` with any other predicate is a poll, and stays: its thread has something
//! else to do. PTX ISA 9.0, section "Parallel Synchronization and Communication Instructions: mbarrier.test_wait,
//! mbarrier.try_wait". Why the text is changed and not compiled anew: docs/decisions.md, 23.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::architecture::Architecture;

/// What a wait begins with. What follows up to the first space are further qualifiers.
const TEST_WAIT: &str = "mbarrier.test_wait.";
/// What it becomes; PTX 7.8, `sm_90`.
const TRY_WAIT: &str = "mbarrier.try_wait.";
/// The predicate of waits in a loop that does nothing else.
const BLOCKING: &str = "tilepipe_blocking";

/// The file to use for `architecture`: one made beside `ptx` if [`text`] has one for it, and `ptx` itself if not.
///
/// # Errors
///
/// [`Error::Io`].
pub(crate) fn file(ptx: &Path, architecture: &Architecture) -> Result<PathBuf, Error> {
    let module = std::fs::read_to_string(ptx).map_err(Error::io("read", ptx))?;
    let Some(text) = text(&module, architecture) else {
        return Ok(ptx.to_path_buf());
    };
    let path = ptx.with_extension(format!("{architecture}.ptx"));
    std::fs::write(&path, text).map_err(Error::io("write", &path))?;
    Ok(path)
}

/// The module's text for `architecture`, with `.target` set to it and `.version` raised to what it needs.
///
/// None if the text is to be used as it is: the architecture is below `sm_90`, or the module has no blocking wait by
/// `test_wait`.
fn text(module: &str, architecture: &Architecture) -> Option<String> {
    if !architecture.suspends_waits() {
        return None;
    }
    let waiting = suspend(module)?;
    Some(with_header(&waiting, architecture))
}

/// The module with every blocking wait replaced; none if there is no such wait.
fn suspend(module: &str) -> Option<String> {
    let mut out = String::with_capacity(module.len() + module.len() / 64);
    let mut rest = module;
    let mut found = false;
    while let Some(at) = rest.find(TEST_WAIT) {
        out.push_str(&rest[..at]);
        rest = &rest[at + TEST_WAIT.len()..];
        match rest.split_once(';').filter(|(instruction, _)| is_blocking(instruction)) {
            Some((instruction, following)) => {
                out.push_str(&format!("{TRY_WAIT}{instruction};"));
                rest = following;
                found = true;
            }
            None => out.push_str(TEST_WAIT),
        }
    }
    out.push_str(rest);
    found.then_some(out)
}

/// Whether the first operand of an instruction, given from its qualifiers on, is the blocking waits' predicate.
fn is_blocking(instruction: &str) -> bool {
    let operands = instruction.split_once(char::is_whitespace).map(|(_, operands)| operands);
    operands.and_then(|operands| operands.split_once(',')).is_some_and(|(first, _)| first.trim() == BLOCKING)
}

/// The module with the header of PTX for `architecture`. Options behind the target, such as `debug`, stay.
fn with_header(module: &str, architecture: &Architecture) -> String {
    let (header, body) = module.split_at(module.find(".address_size").unwrap_or(module.len()));
    let mut out = String::with_capacity(module.len() + 8);
    for line in header.split_inclusive('\n') {
        if let Some(version) = line.strip_prefix(".version ") {
            let needed = architecture.least_ptx_version();
            let kept = tenths(version.trim()).filter(|version| *version >= needed);
            let version = kept.unwrap_or(needed);
            out.push_str(&format!(".version {}.{}\n", version / 10, version % 10));
        } else if let Some(target) = line.strip_prefix(".target ") {
            let options = target.find(',').map_or("\n", |at| &target[at..]);
            out.push_str(&format!(".target {architecture}{options}"));
        } else {
            out.push_str(line);
        }
    }
    out + body
}

/// A PTX version such as `8.0` in tenths.
fn tenths(version: &str) -> Option<u32> {
    let (major, minor) = version.split_once('.')?;
    Some(major.parse::<u32>().ok()? * 10 + minor.parse::<u32>().ok().filter(|minor| *minor < 10)?)
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::architecture::Architecture;

    /// Two blocking waits, one of them not alone on its line, and what looks like one: a poll, a predicate whose name goes on,
    /// and another instruction with the predicate.
    const MODULE: &str = "\
//
// Generated by LLVM NVPTX Back-End
//

.version 7.1
.target sm_80
.address_size 64

.visible .entry k()
{
\tmbarrier.init.shared.b64 [%r1], 256;
\t// begin inline asm
\t{
\t.reg .pred tilepipe_blocking;
\tmbarrier.test_wait.parity.shared.b64 tilepipe_blocking, [%r1], %r2;
\t}
\t// end inline asm
\tmbarrier.test_wait.parity.shared.b64 done, [%r1], %r2;
\tmbarrier.test_wait.parity.shared.b64 tilepipe_blocking_not, [%r1], %r2;
\t{ .reg .pred tilepipe_blocking; mbarrier.test_wait.parity.shared.b64 tilepipe_blocking, [%r3+8], 1; selp.b32 %r4, 1, 0, tilepipe_blocking; }
\tret;
}
";

    fn on(name: &str) -> Option<String> {
        text(MODULE, &Architecture::parse(name).unwrap())
    }

    /// The lines of `MODULE` that differ in `changed`, as they are there.
    fn differences(changed: &str) -> Vec<&str> {
        assert_eq!(MODULE.lines().count(), changed.lines().count(), "{changed}");
        MODULE.lines().zip(changed.lines()).filter(|(old, new)| old != new).map(|(_, new)| new.trim()).collect()
    }

    #[test]
    fn blocking_waits_and_header_change_and_nothing_else() {
        assert_eq!(
            differences(&on("sm_90").unwrap()),
            [
                ".version 7.8",
                ".target sm_90",
                "mbarrier.try_wait.parity.shared.b64 tilepipe_blocking, [%r1], %r2;",
                "{ .reg .pred tilepipe_blocking; mbarrier.try_wait.parity.shared.b64 tilepipe_blocking, [%r3+8], 1; \
                 selp.b32 %r4, 1, 0, tilepipe_blocking; }",
            ]
        );
    }

    #[test]
    fn each_architecture_gets_its_own_header() {
        for (name, version) in [("sm_90a", "8.0"), ("sm_100", "8.6"), ("sm_100f", "8.8"), ("sm_120", "8.7")] {
            let changed = on(name).unwrap();
            assert_eq!(differences(&changed)[..2], [format!(".version {version}"), format!(".target {name}")]);
            assert_eq!(changed.matches("mbarrier.try_wait.").count(), 2, "{name}");
        }
    }

    #[test]
    fn text_for_older_architectures_stays() {
        for name in ["sm_80", "sm_86", "sm_89"] {
            assert_eq!(on(name), None, "{name}");
        }
    }

    #[test]
    fn text_without_blocking_waits_stays() {
        let sm_90 = Architecture::parse("sm_90").unwrap();
        let polls = MODULE.replace("tilepipe_blocking,", "done,");
        assert!(polls.contains("mbarrier.test_wait."));
        assert_eq!(text(&polls, &sm_90), None);
        let sm_100 = Architecture::parse("sm_100").unwrap();
        assert_eq!(text(&on("sm_90").unwrap(), &sm_100), None, "they suspend already");
    }

    #[test]
    fn newer_version_and_options_of_the_target_stay() {
        let module = MODULE.replace(".version 7.1\n.target sm_80\n", ".version 8.5\n.target sm_80, debug\n");
        let changed = text(&module, &Architecture::parse("sm_90").unwrap()).unwrap();
        assert!(changed.contains("\n.version 8.5\n.target sm_90, debug\n.address_size 64\n"), "{changed}");
    }
}
