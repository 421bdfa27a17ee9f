//! What the numbers of checks in panic records stand for.

use std::collections::HashMap;

use tilepipe::panic_record::SITE;

/// A check's message and its place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gpu) struct Check {
    pub(in crate::gpu) message: String,
    pub(in crate::gpu) file: String,
    pub(in crate::gpu) line: u32,
    pub(in crate::gpu) column: u32,
}

/// The checks of all modules that were loaded, by their numbers.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Checks(HashMap<u64, Check>);

impl Checks {
    /// Adds those of a module, which are comments in its PTX.
    pub(in crate::gpu) fn read(&mut self, ptx: &str) {
        self.0.extend(ptx.lines().rev().map_while(|line| line.strip_prefix(SITE)).filter_map(check));
    }

    /// The check of this number.
    pub(in crate::gpu) fn get(&self, site: u64) -> Check {
        let unknown = || Check {
            message: format!("check {site:016x} failed, of which no module that was loaded here says what it is"),
            ..Check::default()
        };
        self.0.get(&site).cloned().unwrap_or_else(unknown)
    }
}

/// A check as the builder writes it, behind the prefix.
fn check(line: &str) -> Option<(u64, Check)> {
    let [_, number, line, column, file, message] = line.splitn(6, '\t').collect::<Vec<_>>().try_into().ok()?;
    let check = Check {
        message: message.to_owned(),
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    };
    Some((u64::from_str_radix(number, 16).ok()?, check))
}

#[cfg(test)]
mod tests {
    use super::{Check, Checks};

    #[test]
    fn checks_are_the_comments_at_a_modules_end() {
        let mut checks = Checks::default();
        let first = "// tilepipe.panic\t00000000000000ff\t55\t48\ta b.rs\tindex {}\tof {}";
        checks.read(&format!("// tilepipe.panic\t1\t1\t1\tnot\tat the end\n.version 7.1\n{first}\n"));
        checks.read("// tilepipe.panic\tffffffffffffffff\t1\t2\tc.rs\tother\n// tilepipe.panic\tbroken\n");
        let wanted = Check { message: "index {}\tof {}".into(), file: "a b.rs".into(), line: 55, column: 48 };
        assert_eq!(checks.get(0xff), wanted);
        assert_eq!(checks.get(u64::MAX).message, "other");
        assert!(checks.get(1).message.starts_with("check 0000000000000001 failed"));
        assert_eq!(checks.0.len(), 2);
    }
}
