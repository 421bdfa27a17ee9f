//! How many tests passed, read from what the programs print.

use std::ops::AddAssign;

/// Numbers of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Not run.
    pub skipped: u64,
}

impl Count {
    /// One check that passed or failed.
    pub fn one(passed: bool) -> Self {
        Count { passed: u64::from(passed), failed: u64::from(!passed), skipped: 0 }
    }

    /// Reads a line of output: the summary of one test executable, or that of `tilepipe-run`. Other
    /// lines count nothing.
    pub fn of_line(line: &str) -> Self {
        let line = line.trim();
        if let Some(result) = line.strip_prefix("test result: ") {
            return Count {
                passed: before(result, "passed"),
                failed: before(result, "failed"),
                skipped: before(result, "ignored"),
            };
        }
        if line.contains(" configuration: ") || line.contains(" configurations: ") {
            return Count {
                passed: before(line, "verified"),
                failed: before(line, "differ") + before(line, "differs") + before(line, "failed"),
                skipped: before(line, "not run"),
            };
        }
        Count::default()
    }
}

impl Count {
    /// Reads what Python's `unittest` prints: how many tests there were, and what came of them.
    /// None without both.
    pub fn of_unittest(text: &str) -> Option<Self> {
        let ran = text.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<u64>().ok())?;
        let result = text.lines().rfind(|line| line.starts_with("OK") || line.starts_with("FAILED"))?;
        let named = |name: &str| {
            let mut parts = result.split(['(', ')', ',']).filter_map(|part| part.trim().split_once('='));
            parts.find(|(key, _)| *key == name).map_or(0, |(_, number)| number.parse().unwrap_or(0))
        };
        let failed = named("failures") + named("errors") + named("unexpected successes");
        let skipped = named("skipped");
        Some(Count { passed: ran.saturating_sub(failed + skipped), failed, skipped })
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// The number that stands before `word` in a line such as `3 passed; 0 failed`, or 0.
fn before(line: &str, word: &str) -> u64 {
    let parts = line.split([';', ',', '.', ':']);
    let number = parts.filter_map(|part| part.trim().strip_suffix(word)).find_map(|number| number.trim().parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_read() {
        let line = "test result: ok. 12 passed; 1 failed; 2 ignored; 0 measured; 3 filtered out; finished in 0.00s";
        assert_eq!(Count::of_line(line), Count { passed: 12, failed: 1, skipped: 2 });
        let line = "14 configurations: 9 verified, 2 differ, 1 failed, 2 not run";
        assert_eq!(Count::of_line(line), Count { passed: 9, failed: 3, skipped: 2 });
        let line = "1 configuration: 0 verified, 1 differs, 0 failed, 0 not run";
        assert_eq!(Count::of_line(line), Count { passed: 0, failed: 1, skipped: 0 });
        assert_eq!(Count::of_line("test reads ... ok"), Count::default());
    }

    #[test]
    fn summaries_of_python_are_read() {
        let text = |result| format!("test_a ... ok\n\nRan 26 tests in 0.639s\n\n{result}\n");
        let read = |result| Count::of_unittest(&text(result));
        assert_eq!(read("OK"), Some(Count { passed: 26, failed: 0, skipped: 0 }));
        assert_eq!(read("OK (skipped=1)"), Some(Count { passed: 25, failed: 0, skipped: 1 }));
        let failed = read("FAILED (failures=1, errors=2, skipped=4)");
        assert_eq!(failed, Some(Count { passed: 19, failed: 3, skipped: 4 }));
        assert_eq!(Count::of_unittest("Segmentation fault"), None);
        assert_eq!(Count::of_unittest("Ran 3 tests in 0.1s"), None);
    }
}
