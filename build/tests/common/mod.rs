//! The crates in `tests/fixtures`, as builders and built.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tilepipe_build::{Artifact, Builder, Error, toolchain};

/// The fixtures' workspace, copied out of the repository so that cargo writes nothing into it.
pub fn fixtures() -> PathBuf {
    static COPIED: OnceLock<PathBuf> = OnceLock::new();
    COPIED
        .get_or_init(|| {
            let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
            copy_changed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &to);
            to
        })
        .clone()
}

/// Copies a folder, leaving equal files alone: cargo looks at their times.
pub fn copy_changed(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let to = to.join(name);
        if from.is_dir() {
            copy_changed(&from, &to);
        } else {
            let content = std::fs::read(&from).unwrap();
            if std::fs::read(&to).ok().as_ref() != Some(&content) {
                std::fs::write(&to, content).unwrap();
            }
        }
    }
}

/// A builder for a fixture whose kernels are thread-level code throughout, or none if there is no
/// toolchain.
pub fn builder(name: &str) -> Option<Builder> {
    strict(name).map(Builder::allow_thread_level_code)
}

/// A builder for a fixture as users' crates are built, or none if there is no toolchain.
pub fn strict(name: &str) -> Option<Builder> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let toolchain = match toolchain::find(Some(target)) {
        Ok(toolchain) => toolchain,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
    };
    let fixtures = fixtures();
    // A test's thread has the test's name.
    let test = std::thread::current().name().unwrap_or("test").to_string();
    let output = fixtures.join("output").join(test);
    let _ = std::fs::remove_dir_all(&output);
    Some(
        Builder::new(fixtures.join(name))
            .runtime(fixtures.join("runtime.ll"))
            .target_dir(fixtures.join("target"))
            .toolchain(toolchain)
            .output_dir(output),
    )
}

/// Builds a fixture; none if there is no toolchain.
pub fn build(name: &str) -> Option<Result<Artifact, Error>> {
    builder(name).map(|builder| builder.build())
}

/// The body of one entry or function of PTX whose name contains `name`.
pub fn body<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|at| ptx[*at..].split_once(['{', ';']).is_some_and(|(head, _)| ptx[*at + head.len()..].starts_with('{')))
        .unwrap_or_else(|| panic!("no function `{name}` in:\n{ptx}"));
    let text = &ptx[start..];
    &text[..text.find("\n}").unwrap()]
}
