//! What the arguments ask for.

use std::ffi::OsString;

use crate::{bundle, help};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Print this text.
    Help(&'static str),
    /// Refuse with this message.
    Unknown(String),
    /// Start `xtask-tools` with the arguments.
    Tools,
}

/// Reads the arguments, as far as that needs no build: the rest of them is for `xtask-tools` to
/// understand.
pub fn understand(arguments: &[OsString]) -> Request {
    let mut words = arguments.iter().map(|argument| argument.to_string_lossy());
    let Some(first) = words.next() else { return Request::Help(help::ALL) };
    match &*first {
        "--help" | "-h" => Request::Help(help::ALL),
        "help" => match words.next() {
            Some(subcommand) if subcommand != "help" && !is_help(&subcommand) => help_of(&subcommand),
            _ => Request::Help(help::ALL),
        },
        subcommand => {
            let rest: Vec<_> = words.collect();
            match help_of(subcommand) {
                // What follows `--` is for other programs.
                Request::Help(_) if !rest.iter().take_while(|word| *word != "--").any(|word| is_help(word)) => {
                    let checked = if subcommand == "bundle" { bundle::check(&rest) } else { Ok(()) };
                    checked.map_or_else(Request::Unknown, |()| Request::Tools)
                }
                answer => answer,
            }
        }
    }
}

fn is_help(word: &str) -> bool {
    matches!(word, "--help" | "-h")
}

fn help_of(subcommand: &str) -> Request {
    if let Some(text) = help::of(subcommand) {
        return Request::Help(text);
    }
    let names = help::SUBCOMMANDS.map(|(name, _)| name);
    let hint = nearest(subcommand, &names).map_or(String::new(), |name| format!("did you mean `{name}`? "));
    Request::Unknown(format!(
        "`{subcommand}` is not a subcommand of `cargo xtask`; {hint}There are: {}. `cargo xtask help` says what they do",
        names.join(", ")
    ))
}

/// The name that takes the fewest changes to get to; `None` if that would be most of its letters.
pub(crate) fn nearest(word: &str, names: &[&'static str]) -> Option<&'static str> {
    let distances = names.iter().map(|name| (changes(word, name), *name));
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance * 2 <= name.len()).then_some(name)
}

/// How many letters must be inserted, removed, replaced or swapped with the next one to get from
/// one word to the other.
fn changes(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // The distances between the first letters of both, row by row.
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut current = vec![row];
        for column in 1..=to.len() {
            let same = from[row - 1] == to[column - 1];
            let mut least = (last[column - 1] + usize::from(!same)).min(last[column] + 1).min(current[column - 1] + 1);
            if row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1] {
                least = least.min(before_last[column - 2] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Request {
        understand(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn every_way_to_ask_for_help_is_answered() {
        for line in ["", "--help", "-h", "help", "help help", "help --help"] {
            assert_eq!(request(line), Request::Help(help::ALL), "{line}");
        }
        for (name, text) in help::SUBCOMMANDS {
            for line in ["help {}", "{} --help", "{} -h", "{} --quiet --help", "{} -h -- x"] {
                assert_eq!(request(&line.replace("{}", name)), Request::Help(text), "{line} of {name}");
            }
        }
    }

    #[test]
    fn everything_else_is_for_the_tools() {
        for line in [
            "run",
            "run --kernel sum",
            "run --kernal sum",
            "bench -- --help",
            "test --layer cpu",
            "ptx help",
            "bundle",
            "bundle --suite test --gpu sm_100",
            "test --suite tset",
        ] {
            assert_eq!(request(line), Request::Tools, "{line}");
        }
    }

    #[test]
    fn an_unknown_subcommand_gets_the_nearest_one() {
        let refusal = |line| match request(line) {
            Request::Unknown(message) => message,
            other => panic!("{line}: {other:?}"),
        };
        for (line, name) in
            [("rnu --help", "run"), ("tests", "test"), ("help bnech", "bench"), ("bundel", "bundle"), ("linnt", "lint")]
        {
            let message = refusal(line);
            assert!(message.contains(&format!("did you mean `{name}`?")), "{message}");
        }
        for line in ["measure", "--kernel", "x"] {
            let message = refusal(line);
            assert!(!message.contains("did you mean") && message.contains("run, test, bench"), "{message}");
        }
    }

    #[test]
    fn what_a_bundle_cannot_be_is_refused() {
        for line in ["bundle --suite tset", "bundle --gpu 90", "bundle --suite test --gpu=sm_75"] {
            assert!(matches!(request(line), Request::Unknown(_)), "{line}");
        }
        assert!(matches!(request("bundle --suite tset --help"), Request::Help(_)));
    }

    #[test]
    fn changes_are_counted() {
        for (from, to, count) in
            [("run", "run", 0), ("", "run", 3), ("rnu", "run", 1), ("bench", "bundle", 4), ("lint", "list", 1)]
        {
            assert_eq!((changes(from, to), changes(to, from)), (count, count), "{from} {to}");
        }
    }
}
