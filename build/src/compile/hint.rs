//! What the compiler's messages don't know of: the functions of `tilepipe::math`.

use std::collections::BTreeSet;

/// Methods of `f32` and `f64` that are in `std` alone, and the functions that replace them.
const FUNCTIONS: [(&str, &str); 13] = [
    ("cos", "cos"),
    ("exp", "exp"),
    ("exp2", "exp2"),
    ("floor", "floor"),
    ("ln", "log"),
    ("log2", "log2"),
    ("mul_add", "fma"),
    ("powi", "powi"),
    ("round", "round"),
    ("round_ties_even", "round_ties_even"),
    ("sin", "sin"),
    ("sqrt", "sqrt"),
    ("tanh", "tanh"),
];

/// One line for each method of a float that the compiler did not find: what to call instead.
pub(crate) fn hints(messages: &str) -> String {
    let mut hints = BTreeSet::new();
    for line in messages.lines().filter(|line| line.contains("error")) {
        let mut quoted = line.split('`').skip(1).step_by(2);
        let (Some(method), Some(float)) = (quoted.next(), quoted.next()) else { continue };
        if !line.contains(&format!("named `{method}` found for type")) || !["f32", "f64"].contains(&float) {
            continue;
        }
        let instead = match FUNCTIONS.iter().find(|(name, _)| *name == method) {
            Some((_, function)) => format!("call `tilepipe::math::{function}`"),
            None => "`tilepipe::math` has the functions that there are".to_owned(),
        };
        hints.insert(format!("help: a GPU has no `{float}::{method}`: {instead}\n"));
    }
    hints.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::hints;

    #[test]
    fn a_method_of_std_is_answered_by_its_function() {
        let messages = "error[E0599]: no method named `sin` found for type `f32` in the current scope\n\
                        error[E0599]: no method named `sin` found for type `f32` in the current scope\n\
                        \x1b[1merror[E0599]\x1b[0m: no function or associated item named `ln` found for type `f64` in the\n\
                        error[E0599]: no method named `tan` found for type `f32` in the current scope\n";
        assert_eq!(
            hints(messages),
            "help: a GPU has no `f32::sin`: call `tilepipe::math::sin`\n\
             help: a GPU has no `f32::tan`: `tilepipe::math` has the functions that there are\n\
             help: a GPU has no `f64::ln`: call `tilepipe::math::log`\n"
        );
    }

    #[test]
    fn other_messages_have_no_answer() {
        for message in [
            "error[E0599]: no method named `sin` found for type `u32` in the current scope",
            "error[E0599]: no method named `sin` found for reference `&f32` in the current scope",
            "warning: a method named `sin` found for type `f32`",
            "error: could not compile `sin` (lib) due to 1 previous error",
        ] {
            assert_eq!(hints(message), "", "{message}");
        }
    }
}
