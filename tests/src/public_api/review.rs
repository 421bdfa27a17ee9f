//! The reviewed list: a function a line, four spaces, and why nothing has to be earned to call it.

use std::collections::BTreeMap;

/// Stands for the reason that somebody has yet to write.
pub const UNREVIEWED: &str = "REVIEW";

/// What is between a function and its reason.
const GAP: &str = "    ";

/// Compares the functions that were found with the list.
///
/// # Errors
///
/// Each function that is not listed, each line that is of none, and each one without a reason or
/// out of order.
pub fn compare(found: &[String], list: &str) -> Result<(), String> {
    let listed = entries(list);
    let mut wrong = Vec::new();
    for function in found {
        match listed.iter().find(|(own, _)| own == function) {
            None => wrong.push(format!("new: {function}")),
            Some((_, reason)) if reason.is_empty() || *reason == UNREVIEWED => {
                wrong.push(format!("no reason: {function}"))
            }
            Some(_) => {}
        }
    }
    let gone = listed.iter().filter(|(own, _)| !found.iter().any(|function| function == own));
    wrong.extend(gone.map(|(own, _)| format!("gone: {own}")));
    wrong.extend(
        listed.windows(2).filter(|pair| pair[0].0 >= pair[1].0).map(|pair| format!("not in order: {}", pair[1].0)),
    );
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// Returns the list with a line for each function: the reasons that there were are kept, and so is
/// the text before the list.
pub fn rewrite(found: &[String], list: &str) -> String {
    let reasons: BTreeMap<&str, &str> = entries(list).into_iter().collect();
    let mut text: String = list.split_inclusive('\n').take_while(|line| is_comment(line)).collect();
    for function in found {
        let reason = reasons.get(function.as_str()).filter(|reason| !reason.is_empty()).unwrap_or(&UNREVIEWED);
        text += &format!("{function}{GAP}{reason}\n");
    }
    text
}

/// The functions of a list, each with its reason.
fn entries(list: &str) -> Vec<(&str, &str)> {
    let lines = list.lines().filter(|line| !is_comment(line));
    lines.map(|line| line.split_once(GAP).map_or((line.trim(), ""), |(own, reason)| (own, reason.trim()))).collect()
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.trim().is_empty()
}
