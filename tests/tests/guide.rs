//! The documentation's pages: the files that the guide shows are those of the example and of
//! `cargo tilepipe new`, and every link leads somewhere.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of `examples/standalone` as the guide shows them, in its order.
const SHOWN: [&str; 6] =
    ["rust-toolchain.toml", "kernels/Cargo.toml", "kernels/src/lib.rs", "Cargo.toml", "build.rs", "src/main.rs"];

#[test]
fn the_guides_first_kernel_is_the_example_that_the_tests_build() {
    let guide = read(&root().join("docs/guide.md"));
    let section = guide.split("\n## ").find(|section| section.starts_with("A first kernel\n"));
    // The first block draws the folders.
    let blocks: Vec<&str> = section.expect("the section").split("```").skip(1).step_by(2).skip(1).collect();
    assert_eq!(blocks.len(), SHOWN.len());
    for (file, block) in SHOWN.iter().zip(blocks) {
        let body = block.split_once('\n').map_or("", |(_, body)| body);
        // Lines that rustdoc hides make the program of a test; the user's crate lies beside the
        // checkout, the example in it.
        let shown: String = body.split_inclusive('\n').filter(|line| !is_hidden(file, line)).collect();
        let shown = shown.replace("../../tilepipe/", "../../../").replace("../tilepipe/", "../../");
        assert_eq!(shown, read(&root().join("examples/standalone").join(file)), "{file}");
    }
}

#[test]
fn cargo_tilepipe_new_writes_the_examples_files() {
    for file in SHOWN {
        let template = root().join("cargo-tilepipe/templates").join(format!("{file}.in"));
        assert_eq!(read(&template), read(&root().join("examples/standalone").join(file)), "{file}");
    }
}

#[test]
fn every_link_of_the_documentation_leads_to_a_file_and_a_heading() {
    let mut links = 0;
    let others = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "SOUNDNESS.md",
        "bench/results/README.md",
    ];
    let others = others.map(|page| root().join(page));
    for page in pages().into_iter().chain(others) {
        for (target, anchor) in prose(&read(&page)).flat_map(links_of) {
            links += 1;
            let file = if target.is_empty() { page.clone() } else { page.parent().expect("a folder").join(target) };
            let link = format!("{}: ({target}#{anchor})", page.display());
            assert!(file.exists(), "{link}: there is no such file");
            assert!(
                anchor.is_empty() || headings(&read(&file)).any(|one| one == anchor),
                "{link}: there is no such heading"
            );
        }
    }
    assert!(links > 40, "{links} links: the pages have more");
}

#[test]
fn the_programs_of_every_page_are_run() {
    // The page about cudarc has programs that need a GPU; the host crate compiles them.
    let tests = ["kernels/src/lib.rs", "host/src/lib.rs"].map(|file| read(&root().join(file))).concat();
    let mut with_programs = 0;
    for page in pages() {
        let path = page.strip_prefix(root()).expect("a page of the repository").display().to_string();
        // A program has its language alone beside the fence; what the decisions show is not run.
        let is_program = |line: &str| line == "```rust" || line == "```rust,no_run";
        let has_programs = read(&page).lines().any(is_program) && !path.starts_with("docs/decisions/");
        let is_run = tests.contains(&format!("include_str!(\"../../{path}\")"));
        assert!(!has_programs || is_run, "{path} has programs that no test runs");
        with_programs += usize::from(has_programs);
    }
    assert!(with_programs > 8, "{with_programs} pages with programs");
}

/// Whether rustdoc hides a line of a Rust file.
fn is_hidden(file: &str, line: &str) -> bool {
    file.ends_with(".rs") && line.starts_with("# ")
}

/// The README and all pages under `docs/`.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for folder in ["docs", "docs/guide", "docs/decisions"] {
        let entries =
            fs::read_dir(root().join(folder)).expect("the folder").map(|entry| entry.expect("an entry").path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    pages
}

/// The lines of a page that are in no fenced block.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The relative links of a line: file and anchor, each perhaps empty.
fn links_of(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).map(|target| target.split_once('#').unwrap_or((target, "")))
}

/// The anchors of a page's headings, as GitHub makes them: lower case, spaces as hyphens, of the
/// rest letters and digits.
fn headings(page: &str) -> impl Iterator<Item = String> {
    let titles = prose(page).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    titles.map(|title| {
        let kept = title.to_lowercase().replace(' ', "-");
        kept.chars().filter(|one| one.is_alphanumeric() || ['-', '_'].contains(one)).collect()
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
