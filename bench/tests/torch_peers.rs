//! The script that calls PyTorch: what of it can be run without a GPU. Without Python the tests
//! print why they are skipped, and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCRIPT: &str = "torch_peers.py";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Runs Python in the script's folder; none if there is no Python.
fn python(arguments: &[&str]) -> Option<Output> {
    // A `__pycache__` would be left in the sources.
    let mut command = Command::new("python3");
    command.args(arguments).current_dir(folder()).env("PYTHONDONTWRITEBYTECODE", "1");
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: python3 cannot be started: {error}");
            None
        }
    }
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[test]
fn every_script_is_python() {
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let scripts: Vec<String> = names.filter(|name| name.ends_with(".py")).collect();
    assert!(scripts.len() >= 3, "{scripts:?}");
    for script in &scripts {
        let read = "import sys; compile(open(sys.argv[1], encoding='utf-8').read(), sys.argv[1], 'exec')";
        let Some(output) = python(&["-c", read, script]) else { return };
        assert!(output.status.success(), "{}", text(&output));
    }
}

#[test]
fn the_script_tests_itself() {
    let Some(output) = python(&[SCRIPT, "--self-test"]) else { return };
    let printed = text(&output);
    println!("{printed}");
    assert!(output.status.success() && printed.contains("self-test passed"), "{printed}");
}

#[test]
fn pytorchs_operations_give_what_is_expected_on_the_cpu() {
    let Some(output) = python(&[SCRIPT, "--self-test"]) else { return };
    let printed = text(&output);
    if printed.contains("without PyTorch") {
        println!("skipped: python3 has no PyTorch");
        return;
    }
    assert!(output.status.success() && printed.contains("contestants on the CPU"), "{printed}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for (arguments, part) in [
        (&["--tasks", "tripel"][..], "no task tripel; there are triple, sum"),
        (&[], "--library and --module are needed"),
        (&["--library", "a", "--module", "b", "--repetitions", "0"], "--repetitions is at least 1"),
        (&["--library", "a", "--module", "b", "--elements-log2", "40"], "takes numbers from 10 to 32"),
    ] {
        let Some(output) = python(&[&[SCRIPT], arguments].concat()) else { return };
        let printed = text(&output);
        assert!(output.status.code() == Some(2) && printed.contains(part), "{part} in {printed}");
    }
}
