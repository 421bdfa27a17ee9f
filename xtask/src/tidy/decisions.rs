//! The decisions under `docs/decisions/`: each has a status, what one says of another is said by
//! both, the index has all of them, and every citation has its file.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Files, Finding};

/// Where they lie, `NN-slug.md` each; they are cited by the folder and the number.
const FOLDER: &str = "docs/decisions";
const INDEX: &str = "README.md";

/// What the earlier decision says of the later one in its status, and the later one of the earlier
/// one in a line of its own.
const RELATIONS: [(&str, &str); 2] = [("superseded by ", "Supersedes: "), ("amended by ", "Amends: ")];

pub fn check(files: &Files) -> Vec<Finding> {
    let (mut findings, mut decisions) = (Vec::new(), BTreeMap::new());
    for (path, inside, text) in files.below(FOLDER).filter(|(_, inside, _)| *inside != Path::new(INDEX)) {
        match Decision::read(path, inside, text) {
            Ok(one) => {
                if let Some(other) = decisions.insert(one.number, one) {
                    findings.push(other.finding("its number is that of another decision"));
                }
            }
            Err(what) => findings.push(Finding::new(path, 0, what)),
        }
    }
    let index = files.text(format!("{FOLDER}/{INDEX}")).unwrap_or_default();
    for one in decisions.values() {
        findings.extend(one.one_sided(&decisions));
        if !index.lines().any(|line| line == one.row()) {
            findings.push(one.finding(&format!("{INDEX} has no row `{}`", one.row())));
        }
    }
    findings.extend(uncovered_citations(files, &decisions));
    findings
}

/// A decision's file.
struct Decision<'a> {
    path: &'a Path,
    file: &'a str,
    /// As [`is_number`] says.
    number: &'a str,
    title: &'a str,
    status: &'a str,
    text: &'a str,
}

impl<'a> Decision<'a> {
    /// The error says what is wrong with the file.
    fn read(path: &'a Path, inside: &'a Path, text: &'a str) -> Result<Self, String> {
        let file = inside.to_str().unwrap_or_default();
        let number = file.split('-').next().filter(|number| is_number(number) && file.ends_with(".md"));
        let number = number.ok_or("the name of a decision is NN-slug.md")?;
        let begin = format!("# {}. ", number.trim_start_matches('0'));
        let title = text.lines().next().and_then(|first| first.strip_prefix(&begin));
        let title = title.ok_or_else(|| format!("the first line does not begin with `{begin}`"))?;
        let mut statuses = text.lines().filter_map(|line| line.strip_prefix("Status: "));
        let status = statuses.next().filter(|status| is_status(status) && statuses.next().is_none());
        let status = status.ok_or("not one line `Status: accepted`, `superseded by NN` or `amended by NN, NN`")?;
        Ok(Decision { path, file, number, title, status, text })
    }

    /// The line of the index for it.
    fn row(&self) -> String {
        format!("| {} | [{}]({}) | {} |", self.number, self.title, self.file, self.status)
    }

    /// What it says of other decisions that these do not say of it.
    fn one_sided(&self, decisions: &BTreeMap<&str, Decision>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (earlier, later) in RELATIONS {
            for other in self.later(earlier) {
                if !decisions.get(other).is_some_and(|other| other.earlier(later).any(|one| one == self.number)) {
                    findings.push(self.finding(&format!("{other} has no `{later}{}`", self.number)));
                }
            }
            for other in self.earlier(later) {
                if !decisions.get(other).is_some_and(|other| other.later(earlier).any(|one| one == self.number)) {
                    findings.push(self.finding(&format!("the status of {other} is not `{earlier}{}`", self.number)));
                }
            }
        }
        findings
    }

    /// The decisions that its status names in that relation.
    fn later(&self, relation: &str) -> impl Iterator<Item = &'a str> {
        self.status.strip_prefix(relation).into_iter().flat_map(|numbers| numbers.split(", "))
    }

    /// The decisions that its lines of that relation name.
    fn earlier(&self, relation: &str) -> impl Iterator<Item = &'a str> {
        self.text.lines().filter_map(move |line| line.strip_prefix(relation)).flat_map(|numbers| numbers.split(", "))
    }

    fn finding(&self, what: &str) -> Finding {
        Finding::new(self.path, 0, what)
    }
}

/// Two digits, or more from 100 on.
fn is_number(text: &str) -> bool {
    text.bytes().all(|one| one.is_ascii_digit()) && (text.len() == 2 || text.len() > 2 && !text.starts_with('0'))
}

fn is_status(status: &str) -> bool {
    let numbers = RELATIONS.iter().find_map(|(relation, _)| status.strip_prefix(relation));
    status == "accepted" || numbers.is_some_and(|numbers| numbers.split(", ").all(is_number))
}

/// Citations anywhere in the repository of a decision that is not there.
fn uncovered_citations(files: &Files, decisions: &BTreeMap<&str, Decision>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in &files.files {
        for (at, line) in text.lines().enumerate() {
            for rest in line.split(&format!("{FOLDER}/")).skip(1) {
                let number = rest.split(|one: char| !one.is_ascii_digit()).next().unwrap_or_default();
                if !number.is_empty() && !decisions.contains_key(number) {
                    findings.push(Finding::new(path, at + 1, format!("there is no decision {number}")));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const FIRST: &str = "# 1. One loop\n\nStatus: superseded by 02\n";
    const SECOND: &str = "# 2. Two loops\n\nStatus: amended by 03\n\nSupersedes: 01\n";
    const THIRD: &str = "# 3. Whole tiles\n\nStatus: accepted\n\nAmends: 02\n";
    const ROWS: &str = "| 01 | [One loop](01-one-loop.md) | superseded by 02 |\n\
        | 02 | [Two loops](02-two-loops.md) | amended by 03 |\n\
        | 03 | [Whole tiles](03-whole-tiles.md) | accepted |\n";

    /// What is found with these decisions, this index and a source file that cites `cited`.
    fn found(first: &str, second: &str, index: &str, cited: &str) -> Vec<String> {
        let source = format!("//! As measured ({FOLDER}/{cited}).\n");
        let files = files(&[
            ("docs/decisions/01-one-loop.md", first),
            ("docs/decisions/02-two-loops.md", second),
            ("docs/decisions/03-whole-tiles.md", THIRD),
            ("docs/decisions/README.md", index),
            ("a.rs", &source),
        ]);
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn decisions_that_agree_are_accepted() {
        for cited in ["01", "03-whole-tiles.md", "README.md", "NN"] {
            assert_eq!(found(FIRST, SECOND, ROWS, cited), [""; 0], "{cited}");
        }
    }

    #[test]
    fn a_citation_without_a_file_is_named_with_its_line() {
        for number in ["04", "1", "011"] {
            assert_eq!(found(FIRST, SECOND, ROWS, number), [format!("a.rs:1: there is no decision {number}")]);
        }
    }

    #[test]
    fn a_status_of_another_form_is_refused() {
        let forms = "not one line `Status: accepted`, `superseded by NN` or `amended by NN, NN`";
        for status in
            ["", "Status: open", "Status: amended by 3", "Status: superseded by", "Status: accepted\nStatus: accepted"]
        {
            let first = FIRST.replace("Status: superseded by 02", status);
            let here = format!("docs/decisions/01-one-loop.md: {forms}");
            assert_eq!(found(&first, &SECOND.replace("Supersedes: 01", ""), ROWS, "02"), [here], "{status}");
        }
    }

    #[test]
    fn numbers_have_two_digits_and_more_from_100_on() {
        for (number, is) in [("01", true), ("99", true), ("100", true), ("1", false), ("099", false), ("1a", false)] {
            assert_eq!(is_number(number), is, "{number}");
        }
    }

    #[test]
    fn what_one_decision_says_of_another_is_said_by_both() {
        let forgotten = SECOND.replace("Supersedes: 01", "");
        assert_eq!(found(FIRST, &forgotten, ROWS, "01"), ["docs/decisions/01-one-loop.md: 02 has no `Supersedes: 01`"]);
        let (accepted, rows) = ("Status: accepted", ROWS.replace("superseded by 02", "accepted"));
        assert_eq!(
            found(&FIRST.replace("Status: superseded by 02", accepted), SECOND, &rows, "01"),
            ["docs/decisions/02-two-loops.md: the status of 01 is not `superseded by 02`"]
        );
        let (to_none, rows) = ("Status: amended by 03, 09", ROWS.replace("amended by 03", "amended by 03, 09"));
        assert_eq!(
            found(FIRST, &SECOND.replace("Status: amended by 03", to_none), &rows, "01"),
            ["docs/decisions/02-two-loops.md: 09 has no `Amends: 02`"]
        );
    }

    #[test]
    fn a_file_with_another_name_title_or_row_is_refused() {
        let others = [("docs/decisions/notes.md", ""), ("docs/decisions/12-b.md", "# 11. B\n")];
        let found_there: Vec<String> = check(&files(&others)).iter().map(ToString::to_string).collect();
        let expected = [
            "docs/decisions/notes.md: the name of a decision is NN-slug.md",
            "docs/decisions/12-b.md: the first line does not begin with `# 12. `",
        ];
        assert_eq!(found_there, expected);
        assert_eq!(
            found(FIRST, SECOND, &ROWS.replace("One loop", "Another loop"), "01"),
            [
                "docs/decisions/01-one-loop.md: README.md has no row `| 01 | [One loop](01-one-loop.md) | superseded by 02 |`"
            ]
        );
        let same = [("docs/decisions/03-a.md", THIRD), ("docs/decisions/03-b.md", THIRD)];
        let found_there = check(&files(&same));
        assert!(found_there.iter().any(|one| one.what == "its number is that of another decision"), "{found_there:?}");
    }
}
