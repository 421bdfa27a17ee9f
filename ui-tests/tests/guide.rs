//! The documentation quotes compile errors as rustc prints them.
//!
//! A quoted error is a `text` block that begins with `error`; its first place names the program
//! under `fail/`, and the block before it is that program. With `TRYBUILD=overwrite` the quotes are
//! written anew from `fail/`: run `--test ui` first, and read what changed.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The pages that quote errors, from the workspace's root, and how many each quotes.
const PAGES: [(&str, usize); 2] = [("docs/guide/errors.md", 10), ("docs/thread-scope-race.md", 1)];

#[test]
fn quoted_errors_are_what_rustc_prints_for_the_programs_before_them() {
    for (page, expected) in PAGES {
        let path = workspace().join(page);
        let text = read(&path);
        let (mut renewed, mut quotes) = (text.clone(), 0);
        let blocks = blocks(&text);
        for (number, block) in blocks.iter().enumerate().filter(|(_, block)| is_error(block)) {
            quotes += 1;
            let name =
                program_of(block.body).unwrap_or_else(|| panic!("{page}: an error without a place: {}", block.body));
            let program = number.checked_sub(1).map(|before| &blocks[before]);
            let program = program.unwrap_or_else(|| panic!("{page}: no program stands before the error of `{name}`"));
            renewed = renewed.replace(block.body, &printed(name)).replace(program.body, &source(name));
            assert_eq!(
                program.fence,
                format!("rust,compile_fail,{}", code(block.body)),
                "{page}: the fence of `{name}`"
            );
        }
        assert_eq!(quotes, expected, "{page}: quoted errors");
        if env::var_os("TRYBUILD").is_some_and(|mode| mode == "overwrite") {
            fs::write(&path, renewed).expect("a writable page");
        } else {
            assert!(renewed == text, "{page} quotes something else:\n{}", first_difference(&text, &renewed));
        }
    }
}

#[test]
fn a_quoted_error_names_the_rule_then_the_place_then_the_way_out() {
    for (page, _) in PAGES {
        let text = read(&workspace().join(page));
        for block in blocks(&text).iter().filter(|block| is_error(block)) {
            let lines: Vec<&str> = block.body.lines().collect();
            assert!(
                lines[0].starts_with("error[E0") && lines[0].len() > "error[E0000]: ".len(),
                "{page}: {}",
                lines[0]
            );
            assert!(lines[1].trim_start().starts_with("--> ") && !lines[1].contains('/'), "{page}: {}", lines[1]);
            let way_out = lines.iter().any(|line| line.trim_start().starts_with("= note: ") && line.contains('`'));
            assert!(way_out, "{page}: no note says what to do:\n{}", block.body);
            let name = program_of(block.body).unwrap_or_default();
            assert!(package().join("pass").join(format!("{name}.rs")).is_file(), "{page}: `{name}` has no neighbour");
        }
    }
}

/// A fenced block of a page: what follows the opening fence, and the lines up to the closing one.
struct Block<'a> {
    fence: &'a str,
    body: &'a str,
}

/// All fenced blocks of a page, in order.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let parts: Vec<&str> = page.split("```").collect();
    // Text and blocks take turns.
    parts
        .iter()
        .skip(1)
        .step_by(2)
        .map(|part| part.split_once('\n').expect("a fence ends its line"))
        .map(|(fence, body)| Block { fence, body })
        .collect()
}

fn is_error(block: &Block) -> bool {
    block.fence == "text" && block.body.starts_with("error")
}

/// The program that an error's first place names: `name` of `--> name.rs:7:5`.
fn program_of(error: &str) -> Option<&str> {
    error.split_once("--> ")?.1.split_once(".rs:").map(|(name, _)| name)
}

/// The code of an error, such as `E0277`.
fn code(error: &str) -> &str {
    error.split(['[', ']']).nth(1).unwrap_or_default()
}

/// What rustc prints for a program under `fail/`, without the folders of its places.
fn printed(name: &str) -> String {
    let text = read(&package().join("fail").join(format!("{name}.stderr")));
    text.replace("$DIR/fail/", "").replace("$WORKSPACE/", "").replace("fail/", "")
}

fn source(name: &str) -> String {
    read(&package().join("fail").join(format!("{name}.rs")))
}

fn first_difference(one: &str, other: &str) -> String {
    let pair = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    pair.map_or_else(|| "one ends early".to_owned(), |(one, other)| format!("page:  {one}\nrustc: {other}"))
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn workspace() -> PathBuf {
    package().parent().expect("the package lies in the workspace").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
