//! The safety contract of an unsafe function of the seam stands once: in the documentation of the
//! seam's own file.
//!
//! There it has a heading with its name, perhaps beside others. What its `# Safety` says is
//! [`REFERENCE`] alone, in each backend and in the seam's own traits. Functions that a backend has
//! for itself are not of the seam, and say at their place what they ask for.

use std::collections::BTreeMap;

use anyhow::Result;

use super::super::{Files, Finding};
use super::SEAM;
use super::items::Item;

/// What the contracts begin with, up to the next heading of this level.
const CONTRACTS: &str = "//! # Safety contracts";
/// What the `# Safety` of such a function says.
const REFERENCE: &str = "This function's safety contract in [`isa`](crate::isa) holds.";

/// A heading's name.
struct Contract {
    name: String,
    line: usize,
    /// Whether it has a text below the heading.
    says: bool,
}

/// Given the items of the seam's own file and of the backends.
pub fn check(files: &Files, parts: [&BTreeMap<String, Item>; 3]) -> Result<Vec<Finding>> {
    let contracts = contracts(files.text(SEAM)?);
    let is_unsafe = |item: &Item| item.function.as_ref().is_some_and(|function| function.is_unsafe());
    let of_seam: Vec<(&String, &Item)> = parts.into_iter().flatten().filter(|(_, item)| is_unsafe(item)).collect();

    let mut findings = Vec::new();
    let mut find = |file: &str, line, what: String| findings.push(Finding::new(file.as_ref(), line, what));
    let mut lines = BTreeMap::new();
    for Contract { name, line, says } in &contracts {
        if !of_seam.iter().any(|(unsafe_one, _)| *unsafe_one == name) {
            find(SEAM, *line, format!("`{name}` is no unsafe function of the seam: take its contract out"));
        }
        if !says {
            find(SEAM, *line, format!("the contract of `{name}` says nothing: write what its caller promises"));
        }
        if let Some(first) = lines.insert(name, *line) {
            find(SEAM, *line, format!("`{name}` has a contract in line {first} too: make one of the two"));
        }
    }
    for (name, item) in of_seam {
        let place = item.file.to_string_lossy();
        if !lines.contains_key(name) {
            find(&place, item.line, format!("`{name}` is unsafe and has no contract in {SEAM}: write it there"));
        }
        if safety(files.text(&item.file)?, item.begin) != REFERENCE {
            let what = format!("the `# Safety` of `{name}` is not \"{REFERENCE}\": say the rest in {SEAM}");
            find(&place, item.line, what);
        }
    }
    Ok(findings)
}

/// The contracts in the documentation of the seam's own file.
fn contracts(text: &str) -> Vec<Contract> {
    let mut found: Vec<Contract> = Vec::new();
    // The first of those that the heading above names.
    let mut latest = 0;
    let all = text.lines().zip(1..).skip_while(|(line, _)| *line != CONTRACTS).skip(1);
    for (line, at) in all.take_while(|(line, _)| line.starts_with("//!") && !line.starts_with("//! # ")) {
        if let Some(heading) = line.strip_prefix("//! ## ") {
            latest = found.len();
            let names = heading.split('`').skip(1).step_by(2);
            found.extend(names.map(|name| Contract { name: name.to_owned(), line: at, says: false }));
        } else if line != "//!" {
            found[latest..].iter_mut().for_each(|contract| contract.says = true);
        }
    }
    found
}

/// What stands below `# Safety` in the documentation above a line; nothing if there is none.
fn safety(text: &str, line: usize) -> String {
    let above: Vec<&str> = text.lines().take(line - 1).map(str::trim).collect();
    let own = above.iter().rposition(|line| !line.starts_with("///") && !line.starts_with("#["));
    let mut is_safety = false;
    let mut said = Vec::new();
    for doc in above[own.map_or(0, |last| last + 1)..].iter().filter_map(|line| line.strip_prefix("///")) {
        let doc = doc.trim();
        if let Some(heading) = doc.strip_prefix("# ") {
            is_safety = heading == "Safety";
        } else if is_safety && !doc.is_empty() {
            said.push(doc);
        }
    }
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::files;
    use super::super::check;
    use super::*;

    const OWN: &str = r"//! | function | PTX |
//! |---|---|
//! | `wait`, `poll` | x |
//! | `clock` | x |
//! | `Values` | x |
//! | `Lanes` | x |
//!
//! | function of `nvptx` alone | PTX |
//! |---|---|
//! | `claim` | x |
//!
//! # Safety contracts
//!
//! ## `wait`, `poll`
//!
//! 0. The barrier is valid.
//!
//! ## `Values::any`
//!
//! All threads make the call.
//!
//! ## `Lanes::above`
//!
//! As for `Values::any`.
//!
//! ## `claim`
//!
//! The address is valid.
//!
//! # More
//!
//! ## `clock`

pub(crate) trait Lanes {
    const WIDTH: usize;
    fn own(&self) {}
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    unsafe fn above(&self);
}
";

    const BACKEND: &str = r"macro_rules! waits {
    ($name:ident) => {
        /// Waits.
        ///
        /// # Safety
        ///
        /// This function's safety contract in [`isa`](crate::isa) holds.
        ///
        /// # Panics
        ///
        /// Never.
        #[inline(always)]
        pub(crate) unsafe fn $name() {}
    };
}
waits!(wait);
waits!(poll);
pub(crate) fn clock() {}
pub(crate) struct Values;
impl Values {
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    pub(crate) unsafe fn any(&self) {}
}
/// # Safety
///
/// The caller is a thread.
unsafe fn helper() {}
";

    const CLAIM: &str = r"/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
pub(crate) unsafe fn claim() {}
";

    const HOST: &str = "device/src/isa/host/mod.rs";
    const NVPTX: &str = "device/src/isa/nvptx/mod.rs";

    fn found(own: &str, host: &str, nvptx: &str) -> Vec<String> {
        let tree = files(&[(SEAM, own), (HOST, host), (NVPTX, nvptx)]);
        check(&tree).unwrap().iter().map(ToString::to_string).collect()
    }

    /// What is found with `from` replaced in the seam's own file.
    fn found_in_own(from: &str, to: &str) -> Vec<String> {
        assert!(OWN.contains(from), "{from}");
        found(&OWN.replace(from, to), BACKEND, &format!("{BACKEND}{CLAIM}"))
    }

    #[test]
    fn contracts_of_all_unsafe_functions_are_accepted() {
        assert_eq!(found_in_own("", ""), [""; 0]);
    }

    #[test]
    fn an_unsafe_function_without_a_contract_is_found() {
        let missing = |name: &str, file: &str, line: usize| {
            format!("{file}:{line}: `{name}` is unsafe and has no contract in {SEAM}: write it there")
        };
        assert_eq!(
            found_in_own("`wait`, `poll`\n//!\n//! 0", "`wait`\n//!\n//! 0"),
            [missing("poll", HOST, 17), missing("poll", NVPTX, 17)]
        );
        assert_eq!(
            found_in_own("//! ## `Values::any`\n", ""),
            [missing("Values::any", HOST, 24), missing("Values::any", NVPTX, 24)]
        );
        assert_eq!(found_in_own("//! ## `claim`\n", ""), [missing("claim", NVPTX, 33)]);
        let end = OWN.lines().position(|line| line.contains("unsafe fn above")).unwrap() + 1;
        assert_eq!(found_in_own("//! ## `Lanes::above`\n", ""), [missing("Lanes::above", SEAM, end - 1)]);
    }

    #[test]
    fn a_contract_of_no_unsafe_function_is_found() {
        let left = |name: &str, line: usize| {
            [format!("{SEAM}:{line}: `{name}` is no unsafe function of the seam: take its contract out")]
        };
        assert_eq!(found_in_own("## `claim`", "## `claim`, `clock`"), left("clock", 26));
        assert_eq!(found_in_own("## `Values::any`", "## `Values::any`, `Values::all`"), left("Values::all", 18));
        assert_eq!(found_in_own("## `Lanes::above`", "## `Lanes::above`, `Lanes::own`"), left("Lanes::own", 22));
        // A backend's own function is not of the seam.
        assert_eq!(found_in_own("## `claim`", "## `claim`, `helper`"), left("helper", 26));
    }

    #[test]
    fn a_contract_that_says_nothing_and_a_second_one_are_found() {
        assert_eq!(
            found_in_own("//! The address is valid.\n", ""),
            [format!("{SEAM}:26: the contract of `claim` says nothing: write what its caller promises")]
        );
        assert_eq!(
            found_in_own("## `claim`", "## `claim`, `wait`"),
            [format!("{SEAM}:26: `wait` has a contract in line 14 too: make one of the two")]
        );
    }

    #[test]
    fn a_safety_section_with_a_text_of_its_own_is_found() {
        let other = |name: &str, file: &str, line: usize| {
            format!("{file}:{line}: the `# Safety` of `{name}` is not \"{REFERENCE}\": say the rest in {SEAM}")
        };
        let nvptx = format!("{BACKEND}{CLAIM}");
        let line = "    /// This function's safety contract in [`isa`](crate::isa) holds.\n    pub";
        for to in [
            "    /// All threads make the call.\n    pub",
            "    /// None here.\n    ///\n    /// This function's safety contract in [`isa`](crate::isa) holds.\n    pub",
            "    pub",
        ] {
            let host = BACKEND.replace(line, to);
            let at = host.lines().position(|line| line.contains("unsafe fn any")).unwrap() + 1;
            assert_eq!(found(OWN, &host, &nvptx), [other("Values::any", HOST, at)], "{to}");
        }
        // A macro's functions have its documentation.
        let host = BACKEND.replace("holds.\n        ///\n", "holds.\n        /// On the GPU the same.\n        ///\n");
        assert_eq!(found(OWN, &host, &nvptx), [other("poll", HOST, 18), other("wait", HOST, 17)]);
        // Without documentation.
        assert_eq!(
            found(OWN, BACKEND, &format!("{BACKEND}pub(crate) unsafe fn claim() {{}}\n")),
            [other("claim", NVPTX, 30)]
        );
        // And in a trait of the seam's own.
        let own = "/// This function's safety contract in [`isa`](crate::isa) holds.\n    unsafe fn above";
        let at = OWN.lines().position(|line| line.contains("unsafe fn above")).unwrap() + 1;
        assert_eq!(found_in_own(own, "/// Converged.\n    unsafe fn above"), [other("Lanes::above", SEAM, at)]);
    }
}
