//! The program as a user starts it, on a machine without a device compiler, and with one that only
//! says what it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `cargo tilepipe` in a folder, with a cache in it, without any other compiler for device code.
fn tilepipe(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-tilepipe"));
    command.arg("tilepipe").args(arguments).current_dir(folder);
    command.env_remove("TILEPIPE_TOOLCHAIN").env("XDG_CACHE_HOME", folder.join("cache")).env("RUSTC", "no-such-rustc");
    command
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// Puts a toolchain into the cache whose programs print their versions, and beside it a host
/// compiler of that kind.
fn fake_toolchain(folder: &Path) {
    let script = r#"
        set -e
        mkdir -p root/usr/bin root/usr/lib/llvm-22/bin root/usr/lib/rustlib/src/rust/library/core cuda/nvidia/cu13/bin
        tool() { printf '#!/bin/sh\n%s\n' "$2" > "$1"; chmod 755 "$1"; }
        tool root/usr/bin/rustc 'echo "rustc 1.95.0"; echo "LLVM version: 22.1.0"'
        for name in llvm-link opt llc; do tool root/usr/lib/llvm-22/bin/$name 'echo "LLVM version 22.1.0"'; done
        tool cuda/nvidia/cu13/bin/ptxas 'echo "release 13.0, V13.0.88"'
        tool ../../rustc 'test "$1" = -vV && echo "release: 1.97.0-nightly"'
    "#;
    let dir = folder.join("cache/tilepipe/toolchain");
    fs::create_dir_all(&dir).unwrap();
    assert!(Command::new("sh").args(["-c", script]).current_dir(dir).status().unwrap().success());
}

/// The example whose texts `new` writes.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/standalone")
}

#[test]
fn a_new_workspace_has_the_examples_texts_but_for_names() {
    let folder = tempfile::tempdir().unwrap();
    let output = tilepipe(folder.path(), &["new", "some/my-demo"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    for line in ["cd some/my-demo", "cargo test", "cargo run", "`cargo tilepipe setup`"] {
        assert!(text(&output).contains(line), "{}", text(&output));
    }
    let made = folder.path().join("some/my-demo");
    for file in
        ["Cargo.toml", "rust-toolchain.toml", "build.rs", "src/main.rs", "kernels/Cargo.toml", "kernels/src/lib.rs"]
    {
        let original = fs::read_to_string(example().join(file)).unwrap();
        let written = fs::read_to_string(made.join(file)).unwrap();
        let back = written.replace("my_demo", "standalone").replace("my-demo", "standalone");
        let up = if file.starts_with("kernels/") { "../../../" } else { "../../" };
        let back = ["device", "host", "build"].iter().fold(back, |text, name| {
            let key = if *name == "device" { "tilepipe".to_string() } else { format!("tilepipe-{name}") };
            text.replace(&format!("\n{key} = \"0.1\"\n"), &format!("\n{key} = {{ path = \"{up}{name}\" }}\n"))
        });
        assert_eq!(back, original, "{file}");
    }
    assert_eq!(fs::read_to_string(made.join(".gitignore")).unwrap(), "/target\n");
}

#[test]
fn what_cannot_be_made_is_one_error_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/kept.txt"), "kept").unwrap();
    fs::create_dir_all(folder.path().join("empty")).unwrap();
    for (arguments, problem) in [
        (&["new", "full"][..], "`full` is there and not empty"),
        (&["new", "Demo"], "`Demo` cannot be the name of a crate"),
        (&["new", "while"], "`while` cannot be the name of a crate"),
        (&["new", ".."], "`` cannot be the name of a crate"),
        (&["new", "demo", "--path", "none"], "there is no checkout `none`"),
        (&["new", "demo", "--path", "empty"], "`empty` is no checkout of tilepipe"),
    ] {
        let output = tilepipe(folder.path(), arguments).output().unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with(&format!("error: {problem}")), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_dir(folder.path().join("full")).unwrap().count(), 1);
    assert!(!folder.path().join("demo").exists() && !folder.path().join("Demo").exists());
    // An empty folder is one to write to.
    let output = tilepipe(folder.path(), &["new", "empty"]).output().unwrap();
    assert!(output.status.success() && folder.path().join("empty/build.rs").is_file(), "{}", text(&output));
}

#[test]
fn doctor_names_each_missing_thing_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let output = tilepipe(folder.path(), &["doctor"]).output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let cache = folder.path().join("cache/tilepipe/toolchain").display().to_string();
    for part in ["MISSING  host compiler", "`rustup toolchain install nightly`", "MISSING  device compiler", &cache] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.contains("-> `cargo tilepipe setup`") && said.contains("MISSING  ptxas"), "{said}");
}

#[test]
fn doctor_and_setup_find_what_is_in_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    fake_toolchain(folder.path());
    // One that says its version, and is no device compiler.
    let rustc = folder.path().join("cache/rustc");
    let of = |arguments: &[&str]| {
        let output = tilepipe(folder.path(), arguments).env("RUSTC", &rustc).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let said = of(&["doctor"]);
    let cache = folder.path().join("cache/tilepipe/toolchain").canonicalize().unwrap();
    for part in [
        "ok       host compiler    rustc 1.97.0-nightly",
        "ok       device compiler",
        "LLVM version 22.1.0",
        "of CUDA 13.0",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.contains(&cache.display().to_string()), "{said}");
    let said = of(&["setup"]);
    assert!(said.starts_with("device code is built with ") && said.contains(&cache.display().to_string()), "{said}");
}

#[test]
fn a_setup_that_cannot_download_says_what_failed_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = tilepipe(folder.path(), &["setup"]).env("PATH", folder.path()).output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("apt-get -q update` failed twice") && said.contains("rustup component add"), "{said}");
    assert!(!folder.path().join("cache/tilepipe/toolchain").exists());
}

#[test]
fn a_report_without_kernels_or_of_an_unknown_gpu_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str]| {
        let output = tilepipe(folder.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        text(&output)
    };
    assert!(said(&["report", "--gpu", "sm_75"]).contains("they are sm_80, sm_86"));
    assert!(said(&["report"]).contains("could not find `Cargo.toml`"));
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), "").unwrap();
    fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"plain\"\nedition = \"2024\"\n").unwrap();
    let plain = said(&["report"]);
    assert!(plain.contains("no library of this workspace depends on `tilepipe`"), "{plain}");
}
