//! The help texts of the front are those that clap prints.

use std::fs;

use clap::{Command, CommandFactory};
use xtask_front::help;

use crate::{Cli, project};

/// The longest line of a text, in characters, unless one word is longer.
const WIDTH: usize = 100;

/// How to write the texts.
const WRITE: &str = "write them anew: TILEPIPE_HELP=write cargo test -p xtask-tools help";

#[test]
fn the_front_has_the_help_of_each_subcommand() {
    let mut command = Cli::command();
    command.build();
    let mut texts = vec![("xtask".to_owned(), rendered(&mut command))];
    for subcommand in command.get_subcommands_mut() {
        let text = match subcommand.get_name() {
            "help" => continue,
            "run" => rendered(&mut tilepipe_runner_cli::Cli::command().bin_name("cargo xtask run")),
            _ => rendered(subcommand),
        };
        texts.push((subcommand.get_name().to_owned(), text));
    }
    let folder = project::root().join("xtask/front/help");
    if std::env::var_os("TILEPIPE_HELP").is_some_and(|wish| wish == "write") {
        for (name, text) in &texts {
            fs::write(folder.join(name).with_extension("txt"), text).unwrap();
        }
        return;
    }
    assert_eq!(help::ALL, texts[0].1, "{WRITE}");
    for ((name, text), (known, kept)) in texts[1..].iter().zip(help::SUBCOMMANDS) {
        assert_eq!(known, name, "the subcommands of the front are in the order of clap's");
        assert_eq!(kept, text, "{WRITE}");
    }
    assert_eq!(help::SUBCOMMANDS.len(), texts.len() - 1, "each subcommand has a line in `SUBCOMMANDS` of the front");
    assert_eq!(fs::read_dir(folder).unwrap().count(), texts.len(), "no text is left of a subcommand that is gone");
}

#[test]
fn long_lines_are_folded_under_their_beginning() {
    let words = ["word"; 25].join(" ");
    let folded = folded(&format!("  -x, --long  {words}\n          {words}\n\nend"));
    let lines: Vec<&str> = folded.lines().collect();
    assert_eq!(lines.len(), 6, "{folded}");
    assert!(lines.iter().all(|line| line.len() <= WIDTH), "{folded}");
    assert!(lines[1].starts_with("              word") && lines[3].starts_with("          word"), "{folded}");
}

/// A command's long help, which clap does not fold to the terminal's width: it is the same
/// everywhere. The front has no other for `-h`.
fn rendered(command: &mut Command) -> String {
    folded(&command.render_long_help().to_string().replace(" (see a summary with '-h')", ""))
}

/// The text with lines of at most [`WIDTH`] characters. What is folded begins under the second
/// column of its line, if that has two, as in a list of subcommands; else under its first word.
fn folded(text: &str) -> String {
    let mut folded = String::new();
    for line in text.lines() {
        let first = line.len() - line.trim_start().len();
        let second = line[first..].find("  ").map(|gap| first + gap);
        let indent = second.map_or(first, |gap| gap + line[gap..].len() - line[gap..].trim_start().len());
        let mut current = line[..indent].to_owned();
        let mut is_empty = true;
        for word in line[indent..].split(' ') {
            if !is_empty && current.len() + 1 + word.len() > WIDTH {
                folded.push_str(current.trim_end());
                folded.push('\n');
                current = " ".repeat(indent);
                is_empty = true;
            }
            if !is_empty {
                current.push(' ');
            }
            current.push_str(word);
            is_empty = false;
        }
        folded.push_str(current.trim_end());
        folded.push('\n');
    }
    folded
}
