//! What the tests that failed have said, to be shown once more at the end.

/// The most lines that are kept of what one program says of its failures.
const MOST_LINES: usize = 80;

/// Collects what test programs print of failures: libtest's section `failures:` from its beginning
/// to the program's summary, and lines that begin with `error: `.
#[derive(Default)]
pub struct Failures {
    lines: Vec<String>,
    /// Lines that this section has.
    section: Option<usize>,
}

impl Failures {
    /// Looks at a line of output.
    pub fn line(&mut self, line: &str) {
        match &mut self.section {
            Some(_) if line.starts_with("test result: ") => {
                self.section = None;
                self.lines.push(line.to_owned());
            }
            Some(count) => {
                *count += 1;
                if *count <= MOST_LINES {
                    self.lines.push(line.to_owned());
                } else if *count == MOST_LINES + 1 {
                    self.lines.push("(more of this program's failures is above)".to_owned());
                }
            }
            None if line == "failures:" => {
                self.section = Some(0);
                self.lines.push(line.to_owned());
            }
            None if line.starts_with("error: ") => self.lines.push(line.to_owned()),
            None => {}
        }
    }

    /// What was collected.
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut failures = Failures::default();
        lines.into_iter().for_each(|line| failures.line(line));
        failures.into_lines()
    }

    #[test]
    fn what_a_failed_test_says_is_kept_and_nothing_else() {
        let of_one = ["failures:", "", "---- reads stdout ----", "left: 1, right: 2", "", "failures:", "    reads", ""];
        let end = "test result: FAILED. 1 passed; 1 failed; 0 ignored";
        let before = ["running 2 tests", "test reads ... FAILED", "test writes ... ok", ""];
        let after =
            ["running 1 test", "test other ... ok", "test result: ok. 1 passed; 0 failed", "error: `cargo` failed"];
        let all = before.iter().chain(&of_one).chain([&end]).chain(&after).copied();
        let expected: Vec<&str> = of_one.into_iter().chain([end, "error: `cargo` failed"]).collect();
        assert_eq!(collected(all), expected);
        assert!(collected(before).is_empty());
    }

    #[test]
    fn a_long_section_is_cut_and_the_summary_after_it_kept() {
        let long = std::iter::repeat_n("a line", 3 * MOST_LINES);
        let kept = collected(std::iter::once("failures:").chain(long).chain(["test result: FAILED. 0 passed"]));
        assert_eq!(kept.len(), MOST_LINES + 3);
        assert_eq!(kept[MOST_LINES + 1], "(more of this program's failures is above)");
        assert_eq!(kept[MOST_LINES + 2], "test result: FAILED. 0 passed");
    }
}
