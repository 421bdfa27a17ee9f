//! Compiles every program under `fail/` and `pass/`.

use std::env;
use std::process::Command;

/// Keeps the standard library's source out of the messages, which would otherwise differ where
/// `rust-src` is installed.
const RUSTC_FLAG: &str = "-Ztranslate-remapped-path-to-local-path=no";

/// trybuild drops `RUSTFLAGS` and passes its own flags as cargo configuration, to which cargo adds
/// those of this variable.
const FLAGS_OF_TARGET: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS";

/// Without debug information an accepted program takes half a megabyte on disk, and 20 with it:
/// hundreds of them would fill a small disk.
const SMALL_PROGRAMS: [(&str, &str); 2] = [("CARGO_PROFILE_DEV_DEBUG", "none"), ("CARGO_PROFILE_DEV_STRIP", "symbols")];

/// The `pass` cases also make trybuild build the `fail` cases instead of checking them, so that
/// assertions on generic constants are evaluated.
#[test]
fn misuse_is_rejected_and_its_neighbour_is_accepted() {
    if env::var(FLAGS_OF_TARGET).is_ok_and(|flags| flags.contains(RUSTC_FLAG)) {
        let cases = trybuild::TestCases::new();
        cases.compile_fail("fail/*.rs");
        cases.pass("pass/*.rs");
    } else {
        run_again_with_flag();
    }
}

/// Runs this test in a process of its own with [`RUSTC_FLAG`] set (a test can't change its own
/// environment safely).
fn run_again_with_flag() {
    let test = env::current_exe().expect("the running test has a path");
    let flags = env::var(FLAGS_OF_TARGET).unwrap_or_default();
    let output = Command::new(test)
        .args(env::args_os().skip(1))
        .env(FLAGS_OF_TARGET, format!("{flags} {RUSTC_FLAG}"))
        .envs(SMALL_PROGRAMS)
        .output()
        .expect("the running test can be started again");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
