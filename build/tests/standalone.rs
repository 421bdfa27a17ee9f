//! The examples build and run outside of this repository, in a user's environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tilepipe_build::toolchain;

/// The files of each example, without what a build leaves there.
const FILES: [&str; 6] =
    ["Cargo.toml", "build.rs", "rust-toolchain.toml", "src/main.rs", "kernels/Cargo.toml", "kernels/src/lib.rs"];

#[test]
fn a_crate_of_a_user_builds_its_kernels_and_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned();
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy_example(&root, "standalone", folder.path());

    let first = cargo_run(folder.path());
    assert!(first.status.success(), "{}", text(&first.stderr));
    assert!(text(&first.stdout).contains("100003 slopes are right"), "{}", text(&first.stdout));

    let again = cargo_run(folder.path());
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(!text(&again.stderr).contains("Compiling"), "built twice without a change:\n{}", text(&again.stderr));

    let kernels = folder.path().join("kernels/src/lib.rs");
    let broken = fs::read_to_string(&kernels).expect("the copied kernels").replace("/ 2.0", "/ 4.0");
    fs::write(&kernels, broken).expect("a writable copy");
    let changed = cargo_run(folder.path());
    assert!(!changed.status.success(), "a changed kernel is built anew, and its results differ");
    assert!(text(&changed.stderr).contains("element "), "{}", text(&changed.stderr));
}

#[test]
fn a_crate_that_uses_cudarc_builds_and_runs_or_says_that_it_needs_a_gpu() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned();
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy_example(&root, "cudarc", folder.path());
    let run = cargo_run(folder.path());
    assert!(run.status.success(), "{}", text(&run.stderr));
    let said = text(&run.stdout);
    assert!(said.contains("262144 results are right") || said.contains("needs an NVIDIA GPU: "), "{said}");
}

/// Copies an example and points its dependencies to this repository's crates.
fn copy_example(root: &Path, example: &str, folder: &Path) {
    for file in FILES {
        let target = folder.join(file);
        fs::create_dir_all(target.parent().expect("a file in a folder")).expect("a writable folder");
        let source = fs::read_to_string(root.join("examples").join(example).join(file)).expect("a file of the example");
        let root = root.display();
        let source = source
            .replace("\"../../../device\"", &format!("\"{root}/device\""))
            .replace("\"../../../host\"", &format!("\"{root}/host\""))
            .replace("\"../../host\"", &format!("\"{root}/host\""))
            .replace("\"../../build\"", &format!("\"{root}/build\""));
        fs::write(target, source).expect("a writable folder");
    }
    // The versions that this repository was tested with.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
}

/// Runs the copy with nothing of this workspace's environment but the tools for GPU code.
fn cargo_run(folder: &Path) -> Output {
    let mut command = Command::new("cargo");
    command.arg("run").current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let ours = name.starts_with("CARGO_") && name != "CARGO_HOME";
        if ours || name.starts_with("RUSTC") || name.starts_with("RUSTUP_TOOLCHAIN") || name.starts_with("RUSTFLAGS") {
            command.env_remove(name);
        }
    }
    command.env("TILEPIPE_TOOLCHAIN", toolchain());
    if !has_nightly(folder) {
        // What a nightly compiler does by itself: the machine has none, and none can be fetched.
        println!("no nightly compiler: built by the default one, with its unstable features opened");
        fs::remove_file(folder.join("rust-toolchain.toml")).ok();
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command.output().expect("cargo")
}

/// Whether rustup has the compiler that the example asks for.
fn has_nightly(folder: &Path) -> bool {
    let mut probe = Command::new("cargo");
    probe.args(["+nightly", "--version"]).env_remove("RUSTUP_TOOLCHAIN").current_dir(folder);
    probe.output().is_ok_and(|output| output.status.success())
}

/// The tools for GPU code that this workspace uses.
fn toolchain() -> PathBuf {
    let named = std::env::var_os(toolchain::OVERRIDE).map(PathBuf::from);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(toolchain::FOLDER);
    let places = [named, Some(own), toolchain::cache()].into_iter().flatten();
    places.into_iter().find(|folder| folder.is_dir()).expect("a device compiler: `cargo xtask setup`")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
