//! Pages of records in a headless Chromium, at the width of a phone and of a screen: nothing lies
//! on anything else, and nothing is cut off. `cargo xtask test --layer page` runs these tests where
//! there is a Chromium.

mod browser;
mod record;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use browser::{Measured, open};

/// A phone and a screen.
const WIDTHS: [u32; 2] = [390, 1280];

/// The page of a record.
fn page(record: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_tilepipe-bench");
    let output = Command::new(program).arg("report").arg(record).arg("--output").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(folder.path().join("index.html")).unwrap()
}

/// The record of the repository that was measured last.
fn newest() -> PathBuf {
    let results = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("results")).unwrap();
    let dated = results.filter_map(|entry| {
        let path = entry.unwrap().path().join("bench.json");
        let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).ok()?).unwrap();
        Some((report["date"].as_str().unwrap().to_owned(), path))
    });
    dated.max().unwrap().1
}

#[track_caller]
fn is_laid_out(page: &str, least: [u64; 4]) {
    for width in WIDTHS {
        let Measured { counts, findings } = open(page, width);
        assert!(findings.is_empty(), "{width} pixels wide: {} findings\n{}", findings.len(), findings.join("\n"));
        // Charts that are not there overlap nothing.
        assert!(counts.iter().zip(least).all(|(count, least)| *count >= least), "{width}: {counts:?}");
    }
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test --layer page`"]
fn the_page_of_the_newest_record_is_laid_out_without_overlaps() {
    is_laid_out(&page(&newest()), [10, 300, 50, 50]);
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test --layer page`"]
fn the_page_of_a_record_with_long_names_and_all_states_is_laid_out_without_overlaps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.json");
    fs::write(&path, record::text()).unwrap();
    is_laid_out(&page(&path), [10, 200, 100, 20]);
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test --layer page`"]
fn the_chart_of_the_readme_is_laid_out_without_overlaps() {
    let chart = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/bench.svg")).unwrap();
    let Measured { counts, findings } = open(&with(&chart), WIDTHS[1]);
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(counts[0] == 1 && counts[1] > 20 && counts[2] > 10, "{counts:?}");
}

/// A page with this in its body, in place of a chart where it begins with `<text` or `<circle`.
fn with(content: &str) -> String {
    let chart = |inside: &str| {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"300\" height=\"100\"><title>t</title><desc>d</desc>{inside}</svg>"
        )
    };
    let is_chart = ["<text", "<circle"].iter().any(|name| content.starts_with(name));
    let body = if is_chart { chart(content) } else { content.to_owned() };
    format!("<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body>{body}</body></html>")
}

#[track_caller]
fn finds(content: &str, wanted: &[&str]) {
    for width in WIDTHS {
        let findings = open(&with(content), width).findings;
        let all =
            findings.len() == wanted.len() && findings.iter().zip(wanted).all(|(one, wanted)| one.contains(wanted));
        assert!(all, "{width} pixels wide: {findings:?}, not {wanted:?}, in {content}");
    }
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test --layer page`"]
fn what_lies_on_something_else_is_found() {
    finds("<text x=\"10\" y=\"20\">one</text><text x=\"100\" y=\"20\">other</text>", &[]);
    finds(
        "<text x=\"10\" y=\"20\">one</text><text x=\"20\" y=\"24\">other</text>",
        &["overlap: text \"one\" and text \"other\""],
    );
    let points = |x: u32| {
        format!(
            "<circle class=\"marker\" cx=\"50\" cy=\"50\" r=\"5\"/><circle class=\"marker\" cx=\"{x}\" cy=\"50\" r=\"5\"/>"
        )
    };
    finds(&points(80), &[]);
    finds(&points(55), &["overlap: marker and marker"]);
    finds("<p>above</p><p style=\"margin-top: -40px\">below</p>", &["overlap: p \"above\" and p \"below\""]);
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test --layer page`"]
fn what_is_cut_off_is_found() {
    finds("<text x=\"280\" y=\"20\">longer than that</text>", &["cut off: text \"longer than that\""]);
    finds("<text x=\"10\" y=\"2\">too high</text>", &["cut off: text \"too high\""]);
    finds(
        "<p style=\"width: 50px; overflow: hidden; white-space: nowrap\">more than 50 pixels</p>",
        &["cut off: p", "runs over: p"],
    );
    finds("<p style=\"width: 50px; white-space: nowrap\">more than 50 pixels</p>", &["runs over: p"]);
    finds("<div style=\"width: 2000px\">wide</div>", &["pixels wide, the window", "cut off: div \"wide\""]);
    finds("<div style=\"overflow-x: auto\"><div style=\"width: 2000px\">wide</div></div>", &[]);
}

#[test]
#[ignore = "needs Chromium: `cargo xtask test --layer page`"]
fn a_chart_without_a_text_and_a_red_line_below_the_first_screen_are_found() {
    finds("<svg width=\"10\" height=\"10\"></svg>", &["a chart without a text"]);
    finds("<ul class=\"below\"><li>slow</li></ul>", &[]);
    finds(
        "<ul class=\"below\" style=\"margin-top: 800px\"><li>slow</li></ul>",
        &["not on the first screen: li \"slow\""],
    );
}
