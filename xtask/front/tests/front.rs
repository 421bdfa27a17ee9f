//! The front as a user meets it, with a script in the place of cargo and of the program that it
//! builds.
#![cfg(unix)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use xtask_front::help;

/// A target folder with a cargo that makes, at `xtask/xtask-tools`, a program that says what it was
/// called with.
fn target() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("xtask")).unwrap();
    let program = folder.path().join("xtask/xtask-tools");
    let cargo = format!(
        "echo \"cargo $*\" >&2\nprintf '#!/bin/sh\\necho \"$$ tools $*\"\\nexit 7\\n' > '{0}'\nchmod +x '{0}'",
        program.display()
    );
    write_script(&folder.path().join("cargo"), &cargo);
    folder
}

/// A shell script, made by a process of its own: a file that this one writes may still be open for
/// it in a program that another test is just starting, and then cannot be run ("Text file busy").
fn write_script(path: &Path, script: &str) {
    let make = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && chmod 755 \"$2\"";
    let made = Command::new("sh").args(["-c", make, "sh", script]).arg(path).status().unwrap();
    assert!(made.success(), "{}", path.display());
}

fn front(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(arguments).env("CARGO", folder.path().join("cargo")).env("CARGO_TARGET_DIR", folder.path());
    command
}

/// The exit status and both texts.
fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn help_and_what_is_unknown_need_no_build() {
    let folder = target();
    let kept = |name| help::of(name).unwrap().to_owned();
    for (arguments, text) in [
        (&[][..], help::ALL.to_owned()),
        (&["--help"], help::ALL.to_owned()),
        (&["run", "--help"], kept("run")),
        (&["run", "--kernel", "sum", "-h"], kept("run")),
        (&["help", "ptx"], kept("ptx")),
    ] {
        assert_eq!(ended(&mut front(&folder, arguments)), (Some(0), text, String::new()), "{arguments:?}");
    }
    let (status, printed, message) = ended(&mut front(&folder, &["tset"]));
    assert_eq!((status, printed.as_str()), (Some(2), ""));
    assert!(message.starts_with("error: `tset` is not a subcommand") && message.contains("`test`?"), "{message}");
    for (arguments, part) in [
        (["bundle", "--suite", "tset"], "did you mean `test`? There are: test, sanitize, bench, quick"),
        (["bundle", "--gpu", "sm_75"], "no machine code for `sm_75`; there is: sm_80"),
    ] {
        let (status, printed, message) = ended(&mut front(&folder, &arguments));
        assert_eq!((status, printed.as_str()), (Some(2), ""));
        assert!(message.starts_with("error: ") && message.contains(part), "{message}");
    }
    assert_eq!(fs::read_dir(folder.path().join("xtask")).unwrap().count(), 0, "nothing was built");
}

#[test]
fn the_rest_becomes_the_tools_with_the_same_arguments() {
    let folder = target();
    let call = |arguments: &[&str]| {
        let mut child = front(&folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let id = child.id();
        let _ = child.wait().unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(text(stdout), format!("{id} tools {}\n", arguments.join(" ")), "it runs in our place");
        assert_eq!(status.code(), Some(7));
        text(stderr)
    };
    let first = call(&["run", "--kernel", "sum"]);
    let lines: Vec<&str> = first.lines().collect();
    assert!(lines[0].starts_with("building the commands of `cargo xtask` (about "), "{first}");
    assert!(lines[0].contains("the first time"), "{first}");
    assert_eq!(
        lines[1..],
        ["cargo build --profile xtask --package xtask-tools --bin xtask-tools"],
        "its progress is seen"
    );
    let second = call(&["bench", "--", "--help"]);
    assert_eq!(second, "cargo build --profile xtask --package xtask-tools --bin xtask-tools --quiet\n");
}

#[test]
fn a_build_that_takes_long_is_announced_though_it_is_not_the_first() {
    let folder = target();
    write_script(&folder.path().join("xtask/xtask-tools"), "exit 0");
    write_script(&folder.path().join("cargo"), "exec sleep 3");
    let (status, _, message) = ended(&mut front(&folder, &["lint"]));
    assert_eq!(
        (status, message.as_str()),
        (Some(0), "building the commands of `cargo xtask`, of which something has changed\n")
    );
}

#[test]
fn a_build_that_fails_and_a_program_that_is_not_there_are_errors() {
    let folder = target();
    write_script(&folder.path().join("cargo"), "exit 101");
    let (status, _, message) = ended(&mut front(&folder, &["lint"]));
    assert!(
        status == Some(1) && message.contains("error: the commands of `cargo xtask` could not be built"),
        "{message}"
    );
    write_script(&folder.path().join("cargo"), "exit 0");
    let (status, _, message) = ended(&mut front(&folder, &["lint"]));
    assert!(status == Some(1) && message.contains("error: cannot start"), "{message}");
    fs::remove_file(folder.path().join("cargo")).unwrap();
    let (status, _, message) = ended(&mut front(&folder, &["lint"]));
    assert!(status == Some(1) && message.contains("error: cannot start cargo"), "{message}");
}

#[test]
fn standard_output_that_is_full_is_an_error_and_a_reader_that_is_gone_is_a_failure_without_words() {
    let folder = target();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = front(&folder, &["--help"]).stdout(full).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && message.contains("cannot write to standard output"), "{message}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = front(&folder, &["--help"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), b"".as_slice()));
}
