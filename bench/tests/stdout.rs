//! The program where standard output takes nothing.
#![cfg(unix)]

use std::fs::File;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tilepipe-bench");
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results/2026-11-22-h200/bench.json");

#[track_caller]
fn fails(command: &mut Command) {
    let Output { status, stderr, .. } = command.output().unwrap();
    let message = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(1), "{message}");
    assert!(message.starts_with("error: cannot write to standard output: "), "{message}");
}

#[test]
fn a_full_or_closed_standard_output_is_an_error() {
    for arguments in [["compare", RECORD, RECORD].as_slice(), &["--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        fails(Command::new(PROGRAM).args(arguments).stdout(full));
        fails(Command::new("sh").args(["-c", "exec \"$0\" \"$@\" >&-", PROGRAM]).args(arguments));
        assert!(Command::new(PROGRAM).args(arguments).output().unwrap().status.success());
    }
}
