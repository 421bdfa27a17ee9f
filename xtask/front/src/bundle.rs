//! What `cargo xtask bundle` can be asked for. It is checked before anything is built.

use crate::request::nearest;

/// The suites of which a bundle can have one alone.
pub const SUITES: [&str; 5] = ["test", "sanitize", "bench", "quick", "pytorch"];

/// The GPU architectures that machine code can be packed for: those of `ptxas` from the kernels'
/// least one on.
pub const ARCHITECTURES: [&str; 11] =
    ["sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"];

/// Checks the values of `--suite` and `--gpu`; whatever else is wrong with the arguments is for
/// `xtask-tools` to say.
///
/// # Errors
///
/// The first wrong value, with what there is.
pub fn check<S: AsRef<str>>(arguments: &[S]) -> Result<(), String> {
    let mut words = arguments.iter().map(AsRef::as_ref).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let (option, value) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        let check = match option {
            "--suite" => check_suite,
            "--gpu" => check_architecture,
            _ => continue,
        };
        if let Some(value) = value.or_else(|| words.next()) {
            check(value)?;
        }
    }
    Ok(())
}

/// Checks the name of a suite.
///
/// # Errors
///
/// There is none of this name; with those that there are.
pub fn check_suite(name: &str) -> Result<(), String> {
    if SUITES.contains(&name) {
        return Ok(());
    }
    let hint = nearest(name, &SUITES).map_or(String::new(), |name| format!("did you mean `{name}`? "));
    Err(format!("`{name}` is not a suite of `cargo xtask bundle`; {hint}There are: {}", SUITES.join(", ")))
}

/// Checks the name of a GPU architecture.
///
/// # Errors
///
/// There is none of this name; with those that there are.
pub fn check_architecture(name: &str) -> Result<(), String> {
    if ARCHITECTURES.contains(&name) {
        return Ok(());
    }
    Err(format!("a bundle can have no machine code for `{name}`; there is: {}", ARCHITECTURES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(line: &str) -> Result<(), String> {
        check(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn every_suite_and_architecture_passes() {
        for suite in SUITES {
            for line in ["--suite {}", "--suite={}", "--gpu sm_90 --suite {}"] {
                assert_eq!(checked(&line.replace("{}", suite)), Ok(()), "{line} with {suite}");
            }
        }
        for architecture in ARCHITECTURES {
            assert_eq!(checked(&format!("--gpu {architecture}")), Ok(()));
            assert_eq!(checked(&format!("--suite test --gpu={architecture}")), Ok(()));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_there_is() {
        for (line, parts) in [
            ("--suite tset", ["`tset` is not a suite", "did you mean `test`?", "test, sanitize, bench, quick"]),
            ("--gpu sm_90 --suite=benhc", ["`benhc` is not a suite", "did you mean `bench`?", "There are: test"]),
            ("--gpu=sm_75", ["no machine code for `sm_75`", "there is: sm_80", "sm_120, sm_121"]),
            ("--suite bench --gpu h200", ["no machine code for `h200`", "there is", "sm_90"]),
            ("--gpu sm_90a", ["no machine code for `sm_90a`", "there is", "sm_90"]),
            ("--gpu 90", ["no machine code for `90`", "there is", "sm_90"]),
            ("--suite=", ["`` is not a suite", "There are", "quick"]),
        ] {
            let message = checked(line).unwrap_err();
            assert!(parts.iter().all(|part| message.contains(part)), "{line}: {message}");
        }
    }

    #[test]
    fn the_rest_is_for_the_tools() {
        for line in ["", "test", "--suite", "--gpu", "--siute test", "-- --suite x", "--suite test extra"] {
            assert_eq!(checked(line), Ok(()), "{line}");
        }
    }
}
