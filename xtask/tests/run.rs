//! `cargo xtask run` and the program that it starts, with a script in the program's place.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Starts `cargo xtask run --list` where the program is this shell script, and nothing is built.
fn start(script: &str) -> (TempDir, Child) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("release/tilepipe-run");
    fs::create_dir(folder.path().join("release")).unwrap();
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["run", "--list"]).env("CARGO", "true").env("CARGO_TARGET_DIR", folder.path());
    (folder, command.stdout(Stdio::piped()).spawn().unwrap())
}

#[test]
fn the_programs_exit_status_is_ours() {
    let (_folder, mut child) = start("exit 3");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_signal_ends_the_program_too() {
    let (_folder, mut child) = start("echo $$\nexec sleep 60");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), child.id().to_string(), "the program runs in our place");
    assert!(Command::new("kill").arg(line.trim()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}
