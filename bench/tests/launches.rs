//! `tilepipe-bench launches` beside a build of itself, on the CPU.

use std::process::{Command, Output};

/// Runs `tilepipe-bench launches` with some arguments.
fn launches(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_tilepipe-bench");
    Command::new(program).arg("launches").args(arguments).output().unwrap()
}

#[test]
fn two_builds_run_in_turns_and_both_medians_are_shown() {
    let output = launches(&["--rounds", "3", "--launches", "5", "--against", env!("CARGO_BIN_EXE_tilepipe-bench")]);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // So few launches say nothing about which is faster.
    assert!(output.status.success() || errors.contains("of the other build"), "{errors}");
    let pairs: Vec<serde_json::Value> =
        text.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pairs.len(), 2, "{text}");
    for pair in pairs {
        for build in ["own", "other"] {
            assert_eq!(pair[build]["nanoseconds"].as_array().map(Vec::len), Some(3), "{pair}");
            assert_eq!(pair[build]["launches"], 5, "{pair}");
        }
    }
    for heading in ["ratio", "ns more"] {
        assert!(text.contains(heading), "{text}");
    }
}

#[test]
fn a_module_for_one_build_alone_and_a_build_that_fails_are_errors() {
    let own = env!("CARGO_BIN_EXE_tilepipe-bench");
    for (arguments, message) in [
        (&["--module", "ptx", "--against", own][..], "--against-module"),
        (&["--against", "no-such-program"][..], "cannot run no-such-program"),
        (&["--against-module", "ptx"][..], "--against"),
    ] {
        let output = launches(&[arguments, &["--rounds", "1", "--launches", "1"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(message), "{arguments:?}: {errors}");
    }
}
