//! Files and standard output that the program cannot write, and signals while it writes: each is
//! one clear error, and nothing partial is left.
#![cfg(unix)]

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tilepipe_runner::npy;
use tilepipe_runner::work::Shape;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tilepipe-run");

/// A run of one configuration with so many elements, which writes to `output`.
fn run_to(output: &Path, elements: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["--device", "cpu", "--kernel", "without_memcpy_async", "--dtype", "f64", "--block", "256"]);
    command.args(["--elements", elements, "--output"]).arg(output);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The run must fail with one error that has every one of `parts`.
#[track_caller]
fn fails(command: &mut Command, parts: &[&str]) {
    let Output { status, stderr, .. } = command.output().expect("the program starts");
    let message = text(&stderr);
    assert_eq!(status.code(), Some(1), "{message}");
    assert!(!message.contains("panicked") && message.matches("error:").count() == 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

/// A folder with an array in `old.npy`, and the path of something else in it.
fn folder_with(name: &str) -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.npy");
    npy::write(&old, &[1.0, 2.0, 3.0], Shape::Row(3)).unwrap();
    let other = folder.path().join(name);
    (folder, old, other)
}

/// The names in a folder, in order.
fn names(folder: &TempDir) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_symbolic_link_stays_and_what_it_leads_to_is_replaced() {
    let (folder, old, link) = folder_with("link.npy");
    let second = folder.path().join("second.npy");
    symlink("second.npy", &link).unwrap();
    symlink(&old, &second).unwrap();
    succeeds(&mut run_to(&link, "1000"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fs::symlink_metadata(&second).unwrap().is_symlink());
    assert_eq!(npy::read::<f64>(&old).unwrap().len(), 1000);
    assert_eq!(names(&folder), ["link.npy", "old.npy", "second.npy"]);
}

#[test]
fn a_symbolic_link_to_nothing_gets_its_file() {
    let (folder, _, link) = folder_with("link.npy");
    fs::create_dir(folder.path().join("inner")).unwrap();
    symlink("inner/new.npy", &link).unwrap();
    succeeds(&mut run_to(&link, "1000"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(npy::read::<f64>(&folder.path().join("inner/new.npy")).unwrap().len(), 1000);
    fs::remove_file(&link).unwrap();
    symlink("no/folder/new.npy", &link).unwrap();
    fails(&mut run_to(&link, "1000"), &["cannot write", "link.npy", "nothing was run"]);
    fs::remove_file(&link).unwrap();
    symlink("link.npy", &link).unwrap();
    fails(&mut run_to(&link, "1000"), &["cannot write", "link.npy", "nothing was run"]);
    assert_eq!(names(&folder), ["inner", "link.npy", "old.npy"]);
}

#[test]
fn a_fifo_a_socket_and_a_folder_are_left_alone() {
    let (folder, _, fifo) = folder_with("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let link = folder.path().join("link");
    symlink("fifo", &link).unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fails(&mut run_to(&fifo, "1000"), &["nothing was run", "it is a FIFO", "fifo"]);
    fails(&mut run_to(&link, "1000"), &["nothing was run", "it is a FIFO", "link"]);
    fails(&mut run_to(&socket, "1000"), &["nothing was run", "it is a socket"]);
    fails(&mut run_to(&inner, "1000"), &["nothing was run", "it is a folder"]);
    fails(&mut run_to(&folder.path().join("new.npy/"), "1000"), &["nothing was run", "it is a folder"]);
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
    assert_eq!(names(&folder), ["fifo", "inner", "link", "old.npy", "socket"]);
}

#[test]
fn a_device_is_left_alone() {
    let (folder, _, full) = folder_with("full");
    // A node of its own with the numbers of /dev/full: the real one is at stake as little as
    // possible.
    if let Err(error) = mknodat(CWD, &full, FileType::CharacterDevice, Mode::RUSR | Mode::WUSR, makedev(1, 7)) {
        println!("skipped: a device node cannot be made here ({error})");
        return;
    }
    fails(&mut run_to(&full, "1000"), &["nothing was run", "it is a device"]);
    assert!(fs::symlink_metadata(&full).unwrap().file_type().is_char_device());
    assert_eq!(names(&folder), ["full", "old.npy"]);
}

#[test]
fn the_input_is_not_the_output() {
    let (folder, old, hard) = folder_with("hard.npy");
    let link = folder.path().join("link.npy");
    symlink("old.npy", &link).unwrap();
    fs::hard_link(&old, &hard).unwrap();
    let dotted = folder.path().join("./old.npy");
    for (input, output) in [(&old, &old), (&old, &link), (&link, &old), (&old, &hard), (&hard, &link), (&old, &dotted)]
    {
        let mut command = Command::new(PROGRAM);
        command.args(["--device", "cpu", "--kernel", "without_memcpy_async", "--input"]).arg(input);
        command.arg("--output").arg(output);
        fails(&mut command, &["--output", "--input", "nothing was run"]);
    }
    assert_eq!(npy::read::<f64>(&old).unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(fs::metadata(&hard).unwrap().nlink(), 2);
}

/// Waits until a partial file with content is in the folder, or the program has ended.
fn wait_for_partial(folder: &TempDir, child: &mut Child) {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        let is_partial = |entry: &fs::DirEntry| {
            entry.file_name().to_string_lossy().ends_with(".part") && entry.metadata().is_ok_and(|data| data.len() > 0)
        };
        if fs::read_dir(folder).unwrap().filter_map(Result::ok).any(|entry| is_partial(&entry)) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "nothing was written");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Ends a program while it writes to `output`, and returns its exit status; tries again where it
/// was quicker.
fn end_while_writing(folder: &TempDir, output: &Path, signal: Signal) -> ExitStatus {
    for _ in 0..10 {
        // These tests may have been started to ignore a signal, as `nohup` does with SIGHUP.
        let mut command = Command::new("env");
        command.arg("--default-signal").arg(PROGRAM).args(run_to(output, "2^23").get_args());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_partial(folder, &mut child);
        if child.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        let status = child.wait().unwrap();
        if !status.success() {
            return status;
        }
        npy::write(output, &[1.0, 2.0, 3.0], Shape::Row(3)).unwrap();
    }
    panic!("ten times, the file was whole before the signal came");
}

#[test]
fn a_signal_while_it_writes_leaves_nothing_partial() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (folder, old, _) = folder_with("-");
        let status = end_while_writing(&folder, &old, signal);
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        assert_eq!(npy::read::<f64>(&old).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(names(&folder), ["old.npy"]);
    }
}

#[test]
fn a_signal_that_it_was_started_to_ignore_is_ignored() {
    let (folder, old, _) = folder_with("-");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", PROGRAM]).args(run_to(&old, "2^21").get_args());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    wait_for_partial(&folder, &mut child);
    // Ended already or not: it succeeds.
    let _ = kill_process(Pid::from_child(&child), Signal::HUP);
    assert!(child.wait().unwrap().success());
    assert_eq!(npy::read::<f64>(&old).unwrap().len(), 1 << 21);
}

/// Runs with this standard output; the run must fail, with a message that has `part`.
#[track_caller]
fn fails_printing(arguments: &[&str], stdout: impl Into<Stdio>, part: &str) {
    let output = Command::new(PROGRAM).args(arguments).stdout(stdout).output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
    assert!(message.contains(part) && !message.contains("panicked"), "{arguments:?}: {message}");
}

const PRINTING: [&[&str]; 4] = [
    &["--list"],
    &["--help"],
    &["--device", "cpu", "--probe"],
    &["--device", "cpu", "--elements", "1000", "--kernel", "with_staging"],
];

#[test]
fn a_full_standard_output_is_an_error() {
    for arguments in PRINTING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        fails_printing(arguments, full, "cannot write to standard output");
    }
}

#[test]
fn a_closed_standard_output_is_an_error() {
    for arguments in PRINTING {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" >&-", PROGRAM]).args(arguments);
        fails(&mut command, &["cannot write to standard output", "closed"]);
    }
    let (folder, old, _) = folder_with("-");
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" >&-", PROGRAM]).args(run_to(&old, "1000").get_args());
    fails(&mut command, &["cannot write to standard output"]);
    assert_eq!((names(&folder), npy::read::<f64>(&old).unwrap()), (vec!["old.npy".to_owned()], vec![1.0, 2.0, 3.0]));
}

#[test]
fn a_reader_that_has_gone_away_is_a_failure_without_words() {
    for arguments in PRINTING {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(PROGRAM).args(arguments).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), String::new()), "{arguments:?}");
    }
}

#[test]
fn no_standard_output_wanted_is_no_error() {
    for arguments in PRINTING {
        succeeds(Command::new(PROGRAM).args(arguments).stdout(Stdio::null()));
        let null = File::options().read(true).write(true).open("/dev/null").unwrap();
        let status = Command::new(PROGRAM).args(arguments).stdout(null).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }
}
