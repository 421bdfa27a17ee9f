//! `cargo xtask run` and the program that it starts, with a script in the program's place.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A target folder where the program is this shell script, and the cargo that builds it is another
/// one.
fn target(script: &str, cargo: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("xtask")).unwrap();
    write_script(&folder.path().join("xtask/tilepipe-run"), script);
    write_script(&folder.path().join("cargo"), cargo);
    folder
}

/// A shell script, made by a process of its own: a file that this one writes may still be open for
/// it in a program that another test is just starting, and then cannot be run ("Text file busy").
fn write_script(path: &Path, script: &str) {
    let make = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && chmod 755 \"$2\"";
    let made = Command::new("sh").args(["-c", make, "sh", script]).arg(path).status().unwrap();
    assert!(made.success(), "{}", path.display());
}

/// `cargo xtask run` with these arguments in such a folder.
fn run(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask-tools"));
    command.arg("run").args(arguments);
    command.env("CARGO", folder.path().join("cargo")).env("CARGO_TARGET_DIR", folder.path());
    command
}

/// The exit status and both texts.
fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Says what it was called with; there is no GPU.
const WITHOUT_GPU: &str = r#"case "$1" in --print-architecture) exit 3;; *) echo "run: $*";; esac"#;
/// A cargo that may not be called.
const NO_BUILD: &str = "echo 'a build' >&2; exit 1";

#[test]
fn the_programs_exit_status_is_ours() {
    let folder = target("exit 3", "exit 0");
    assert_eq!(ended(&mut run(&folder, &["--list"])).0, Some(3));
}

#[test]
fn a_signal_ends_the_program_too() {
    let folder = target("echo $$\nexec sleep 60", "exit 0");
    let mut child = run(&folder, &["--list"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), child.id().to_string(), "the program runs in our place");
    assert!(Command::new("kill").arg(line.trim()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

#[test]
fn wrong_arguments_are_answered_before_anything_is_built() {
    let folder = target(WITHOUT_GPU, NO_BUILD);
    for (arguments, part) in [
        (&["--kernel", "with_stagin"][..], "a similar value exists: 'with_staging'"),
        (&["--dtype", "f8"], "choose one of u8"),
        (&["--elements", "0"], "at least 1"),
        (&["--schedule", "lazy", "--device", "gpu"], "use --device cpu"),
        (&["--kernal", "sum"], "'--kernel'"),
    ] {
        let (status, printed, message) = ended(&mut run(&folder, arguments));
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{arguments:?}: {message}");
        assert!(message.contains(part) && message.starts_with("error: "), "{message}");
        assert!(!message.contains("build"), "{message}");
    }
    let (status, printed, _) = ended(&mut run(&folder, &["--help"]));
    assert!(status == Some(0) && printed.contains("Usage: cargo xtask run [OPTIONS]"), "{printed}");
}

#[test]
fn the_list_is_kept_for_who_has_no_program_yet() {
    let folder = target("echo the list of the program", "exit 0");
    assert_eq!(ended(&mut run(&folder, &["--list"])).1, "the list of the program\n");
    fs::remove_file(folder.path().join("xtask/tilepipe-run")).unwrap();
    write_script(&folder.path().join("cargo"), NO_BUILD);
    let (status, printed, message) = ended(&mut run(&folder, &["--list"]));
    assert_eq!((status, message.as_str()), (Some(0), ""), "{printed}");
    assert!(tilepipe_runner_cli::KERNELS.iter().all(|name| printed.contains(name)), "{printed}");
}

#[test]
fn a_run_without_a_gpu_builds_no_kernels() {
    let folder = target(WITHOUT_GPU, "exit 0");
    for arguments in [&["--device", "cpu"][..], &["--kernel", "sum", "--schedule", "eager"], &["--module", "here"], &[]]
    {
        let (status, printed, message) = ended(&mut run(&folder, arguments));
        assert_eq!((status, message.as_str()), (Some(0), ""), "{arguments:?}");
        assert_eq!(printed.trim_end(), format!("run: {}", arguments.join(" ")).trim_end(), "as they are");
    }
    let built: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(built.len(), 2, "nothing but what was there: {built:?}");
}

#[test]
fn a_gpu_that_is_not_there_has_an_exit_status_of_its_own() {
    let folder = target("echo 'error: no driver' >&2; exit 3", "exit 0");
    assert_eq!(
        ended(&mut run(&folder, &["--device", "gpu"])),
        (Some(3), String::new(), "error: no driver\n".to_owned())
    );
}

#[test]
fn what_the_program_refuses_is_refused_before_kernels_are_built() {
    let folder = target("echo 'error: no such block' >&2; exit 1", "exit 0");
    for device in ["gpu", "auto"] {
        let (status, printed, message) = ended(&mut run(&folder, &["--device", device, "--block", "97"]));
        assert_eq!((status, printed.as_str(), message.as_str()), (Some(1), "", "error: no such block\n"));
    }
    write_script(&folder.path().join("xtask/tilepipe-run"), "echo nonsense");
    let (status, _, message) = ended(&mut run(&folder, &[]));
    assert!(status == Some(1) && message.contains("nonsense"), "{message}");
}

#[test]
fn what_runs_on_the_cpu_is_compiled_and_more_only_if_it_was_before() {
    let folder = target(WITHOUT_GPU, "echo \"$TILEPIPE_INSTANCES\" | cut -d';' -f1 >> \"$CARGO_TARGET_DIR/asked\"");
    let asked = |arguments: &[&str]| {
        assert_eq!(ended(&mut run(&folder, arguments)).0, Some(0));
        fs::read_to_string(folder.path().join("asked")).unwrap().lines().last().unwrap().to_owned()
    };
    let all = tilepipe_runner_cli::KERNELS.join(",");
    assert_eq!(asked(&["--kernel", "sum"]), "sum");
    assert_eq!(asked(&["--kernel", "sum", "--kernel", "dot"]), "sum,dot");
    assert_eq!(asked(&[]), all);
    assert_eq!(asked(&["--kernel", "sum"]), all, "it is there");
    assert_eq!(asked(&["--kernel", "sum", "--dtype", "u8"]), "sum");
    fs::write(folder.path().join("xtask/tilepipe-run.instances"), "").unwrap();
    assert_eq!(asked(&["--kernel", "dot"]), "dot", "what is not understood is not relied on");
}

#[test]
fn a_first_build_is_announced_and_a_failed_one_is_an_error() {
    let folder = target(WITHOUT_GPU, "echo \"cargo $*\" >&2; exit 101");
    let failed = |name: &str| {
        let (status, printed, message) = ended(&mut run(&folder, &["--device", "cpu"]));
        assert_eq!((status, printed.as_str()), (Some(1), ""), "{name}: {message}");
        assert!(message.contains("error: the runner could not be built"), "{name}: {message}");
        message
    };
    let again = failed("again");
    assert!(!again.contains("the first time") && again.contains("--quiet"), "{again}");
    fs::remove_file(folder.path().join("xtask/tilepipe-run")).unwrap();
    let first = failed("first");
    assert!(first.starts_with("building the runner (about ") && first.contains(" the first time"), "{first}");
    assert!(!first.contains("--quiet"), "cargo's progress is seen: {first}");
}
