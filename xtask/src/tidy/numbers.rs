//! A number that stands in several places is the same in all of them.
//!
//! Tests of a crate compare what the compiler sees. Here are the numbers that texts say, and those
//! of crates that do not know each other.

use std::path::Path;

use super::tokens::tokens;
use super::{Files, Finding};

/// A number: where it is defined and where else it is said. A place is a file or a folder, and a
/// phrase in it that has the number for its `{}`. Line breaks and what begins a comment's line
/// count as a space. In a folder any file may have the phrase, and all that do say the number.
struct Number {
    what: &'static str,
    defined: Place,
    /// What `1` stands for where it is said.
    unit: u64,
    said: &'static [Place],
}

type Place = (&'static str, &'static str);

const NUMBERS: &[Number] = &[
    Number {
        what: "bytes of the collectives' scratch memory",
        defined: ("device/src", "@tilepipe_scratch_bytes = internal constant i32 {}, align"),
        unit: 1,
        said: &[
            ("device/src", "two `bar.sync` and {} bytes of shared memory"),
            ("device/src", "the last {} bytes of the launch's dynamic shared memory"),
            ("SOUNDNESS.md", "The scratch memory is the last {} bytes of the dynamic shared memory"),
        ],
    },
    Number {
        what: "alignment of the dynamic shared memory",
        defined: ("device/src", "const SHARED_ALIGNMENT: usize = {};"),
        unit: 1,
        said: &[
            ("device/src", "`ALIGNMENT`, a power of two of at most {}, and what"),
            ("device/src", "shared memory is aligned to at most {} bytes"),
        ],
    },
    Number {
        what: "bytes per stage of a pipeline between roles",
        defined: ("device/src", "(stages * ({}) + 2 * ("),
        unit: 1,
        said: &[("device/src", "{} bytes per stage and"), ("docs/guide/roles.md", "takes {} bytes per stage and")],
    },
    Number {
        what: "bytes more of a pipeline between roles",
        defined: ("device/src", "(stages * (2 * 8 + 3 * 4) + {}).next_multiple_of(16)"),
        unit: 1,
        said: &[("device/src", "bytes per stage and {} more"), ("docs/guide/roles.md", "bytes per stage and {} more")],
    },
    Number {
        what: "threads of a warp",
        defined: ("device/src", "const WARP: usize = {};"),
        unit: 1,
        said: &[("runner/src", "const WARP: usize = {};"), ("docs/guide.md", "{} threads in a row are a **warp**")],
    },
    Number {
        what: "threads of a block at most",
        defined: ("device/src", "assert!(THREADS >= 1 && THREADS <= {}, "),
        unit: 1,
        said: &[
            ("device/src", "a block has 1 to {} threads"),
            ("device/src", "`THREADS` is the block's size, 1 to {}."),
            ("host/src", "const THREADS_LIMIT: u32 = {};"),
            ("build/src", "if !(1..={}).contains(&threads)"),
            ("build/src", "declare it with #[kernel] and 1 to {}\""),
        ],
    },
    Number {
        what: "shared memory of a block on the CPU",
        defined: ("host/src", "const SHARED_LIMIT: usize = {};"),
        unit: 1 << 10,
        said: &[("host/src", "what a GPU grants on request, {} KiB on the CPU")],
    },
    Number {
        what: "registers of a thread at most",
        defined: ("build/src", "const MOST_REGISTERS: u32 = {};"),
        unit: 1,
        said: &[("docs/guide.md", "A thread has up to {} registers")],
    },
    Number {
        what: "registers of a part of a multiprocessor",
        defined: ("build/src", "const REGISTERS: u32 = {};"),
        unit: 1,
        said: &[("docs/guide.md", "from four parts of {}.")],
    },
    Number {
        what: "instances of an image at most",
        defined: ("build/src", "const PART: usize = {};"),
        unit: 1,
        said: &[("build/src", "A kernel function with more than {} instances")],
    },
    Number {
        what: "size of a bundle at most",
        defined: ("xtask/src/bundle", "const LIMIT: u64 = {};"),
        unit: 1 << 20,
        said: &[
            ("xtask/src/main.rs", "it has at most {} MiB"),
            ("xtask/front/help/bundle.txt", "it has at most {} MiB"),
            ("docs/development.md", "If a folder is larger than {} MiB"),
        ],
    },
    Number {
        what: "columns of a comment's line at most",
        defined: ("xtask/src/tidy/comments.rs", "const WIDTH: usize = {};"),
        unit: 1,
        said: &[("docs/development.md", "A comment line has at most {} columns")],
    },
    Number {
        what: "files in a folder at most",
        defined: ("xtask/src/tidy/folders.rs", "const MOST: usize = {};"),
        unit: 1,
        said: &[("docs/development.md", "holds at most {} files")],
    },
];

pub fn check(files: &Files) -> Vec<Finding> {
    of(files, NUMBERS)
}

fn of(files: &Files, numbers: &[Number]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Number { what, defined, unit, said } in numbers {
        let definitions = found(files, defined);
        let [(file, at, number)] = *definitions.as_slice() else {
            let what = format!(
                "{} places say `{}`, which defines the {what}: name the one place in xtask/src/tidy/numbers.rs",
                definitions.len(),
                defined.1
            );
            findings.push(Finding::new(defined.0.as_ref(), 0, what));
            continue;
        };
        let right = number / unit;
        for one in *said {
            let found = found(files, one);
            if found.is_empty() {
                let what = format!("nothing says `{}` of the {what}: mend one, or xtask/src/tidy/numbers.rs", one.1);
                findings.push(Finding::new(one.0.as_ref(), 0, what));
            }
            for (path, line, number) in found.into_iter().filter(|(.., number)| *number != right) {
                let what = format!("{what}: {number} here, and {right} by {}:{at}; write the same", file.display());
                findings.push(Finding::new(path, line, what));
            }
        }
    }
    findings
}

/// The files, lines and numbers of a phrase.
fn found<'a>(files: &'a Files, (place, phrase): &'a Place) -> Vec<(&'a Path, usize, u64)> {
    let all = files.below(place).flat_map(|(path, _, text)| {
        numbers_of(text, phrase).into_iter().map(move |(line, number)| (path, line, number))
    });
    all.collect()
}

/// The numbers that a text has in a phrase, with their lines.
fn numbers_of(text: &str, phrase: &str) -> Vec<(usize, u64)> {
    let Some((before, after)) = phrase.split_once("{}") else { return Vec::new() };
    let mut whole = String::new();
    // Where in it each line begins.
    let mut begins = Vec::new();
    for line in text.lines() {
        begins.push(whole.len());
        let bare = line.trim().trim_start_matches(['/', '!', '#', ';']).trim_start();
        // An attribute keeps its mark: the phrases have some.
        whole.push_str(if line.trim_start().starts_with("#[") { line.trim() } else { bare });
        whole.push(' ');
    }
    let places: Vec<(usize, usize)> = if before.is_empty() {
        let start = |end| whole[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        whole.match_indices(after).map(|(end, _)| (start(end), end)).collect()
    } else {
        let starts = whole.match_indices(before).map(|(at, _)| at + before.len());
        starts.filter_map(|start| Some((start, start + whole[start..].find(after)?))).collect()
    };
    let line = |start| begins.partition_point(|begin| *begin <= start);
    places.into_iter().filter_map(|(start, end)| Some((line(start), value(&whole[start..end])?))).collect()
}

/// What a number, a sum, a product or a shift of numbers is.
fn value(text: &str) -> Option<u64> {
    let tokens: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
    let mut left = tokens.as_slice();
    let value = shifted(&mut left)?;
    left.is_empty().then_some(value)
}

fn shifted(left: &mut &[&str]) -> Option<u64> {
    let mut value = sum(left)?;
    while let ["<", "<", rest @ ..] = *left {
        *left = rest;
        value = value.checked_shl(u32::try_from(sum(left)?).ok()?)?;
    }
    Some(value)
}

fn sum(left: &mut &[&str]) -> Option<u64> {
    let mut value = product(left)?;
    while let ["+", rest @ ..] = *left {
        *left = rest;
        value = value.checked_add(product(left)?)?;
    }
    Some(value)
}

fn product(left: &mut &[&str]) -> Option<u64> {
    let mut value = one(left)?;
    while let ["*", rest @ ..] = *left {
        *left = rest;
        value = value.checked_mul(one(left)?)?;
    }
    Some(value)
}

fn one(left: &mut &[&str]) -> Option<u64> {
    let (first, rest) = left.split_first()?;
    *left = rest;
    if *first != "(" {
        return first.replace('_', "").parse().ok();
    }
    let value = shifted(left)?;
    *left = left.strip_prefix(&[")"])?;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const SLOTS: Number = Number {
        what: "slots",
        defined: ("device/src", "= [{} x i8]"),
        unit: 16,
        said: &[("device/src", "{} slots of 16 bytes"), ("SOUNDNESS.md", "through {} slots")],
    };

    fn found(definition: &str, comment: &str, text: &str) -> Vec<String> {
        let tree = [("device/src/runtime.ll", definition), ("device/src/x/y.rs", comment), ("SOUNDNESS.md", text)];
        of(&files(&tree), &[SLOTS]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_that_agree_are_accepted_wherever_the_file_is() {
        let (definition, comment) =
            ("; IR\n@x = [656 x i8]\n", "fn f() {}\n    /// Memory of 41\n    /// slots of 16 bytes.\n");
        assert_eq!(found(definition, comment, "Values travel\nthrough 41 slots."), [""; 0]);
    }

    #[test]
    fn a_number_that_differs_and_one_that_is_not_said_are_found() {
        let definition = "; IR\n@x = [656 x i8]\n";
        let comment = "fn f() {}\n    /// Memory of 40\n    /// slots of 16 bytes.\n";
        assert_eq!(
            found(definition, comment, "Values travel.\n"),
            [
                "device/src/x/y.rs:2: slots: 40 here, and 41 by device/src/runtime.ll:2; write the same",
                "SOUNDNESS.md: nothing says `through {} slots` of the slots: mend one, or xtask/src/tidy/numbers.rs",
            ]
        );
        assert_eq!(
            found("@x = [n x i8]\n", comment, "through 41 slots"),
            ["device/src: 0 places say `= [{} x i8]`, which defines the slots: name the one place in \
              xtask/src/tidy/numbers.rs"]
        );
        assert_eq!(found(&definition.repeat(2), comment, "").len(), 1);
    }

    #[test]
    fn expressions_are_worked_out() {
        assert_eq!(value("32 << 20"), Some(32 << 20));
        assert_eq!(value("2 * (8 + 2 * 4)"), Some(32));
        assert_eq!(value("12_000"), Some(12_000));
        assert_eq!(["WARPS + 1", "2 *", "(1", "", "1 2"].map(value), [None; 5]);
    }
}
