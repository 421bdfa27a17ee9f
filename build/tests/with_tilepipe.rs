//! Builds a kernel crate that depends on the device crate, and on a crate that only has its name.
//!
//! Without a toolchain each test prints why it is skipped and passes; `TILEPIPE_TOOLCHAIN` names
//! one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tilepipe_build::{Artifact, Builder, Error, toolchain};

const FILES: [&str; 8] = [
    "Cargo.toml",
    "src/lib.rs",
    "impostor/Cargo.toml",
    "impostor/src/lib.rs",
    "local/Cargo.toml",
    "local/src/lib.rs",
    "shadowed/Cargo.toml",
    "shadowed/src/lib.rs",
];

/// Builds the crate with features, in a folder of the test's own; none if there is no toolchain.
fn build(test: &str, features: &[&str]) -> Option<Result<Artifact, Error>> {
    build_in("", test, features)
}

/// As `build` for the crate in that folder.
fn build_in(folder: &str, test: &str, features: &[&str]) -> Option<Result<Artifact, Error>> {
    build_with(folder, test, features, |builder| builder)
}

/// As `build_in`, with other options of the builder.
fn build_with(
    folder: &str,
    test: &str,
    features: &[&str],
    options: impl FnOnce(Builder) -> Builder,
) -> Option<Result<Artifact, Error>> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let toolchain = match toolchain::find(target.parent()) {
        Ok(toolchain) => toolchain,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
    };
    let builder =
        Builder::new(copy().join(folder)).toolchain(toolchain).target_dir(target.join("with_tilepipe/target/tilepipe"));
    Some(
        options(builder)
            .output_dir(target.join("with_tilepipe/output").join(test))
            .features(features.iter().copied())
            .architectures(["sm_80"])
            .build(),
    )
}

/// Copies the crates out of the repository, with the versions that it was tested with, and returns
/// their folder.
fn copy() -> PathBuf {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("with_tilepipe");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/with_tilepipe");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let device = root.join("device");
    for file in FILES {
        let text = fs::read_to_string(from.join(file)).unwrap();
        let device = format!("{:?}", device.to_str().unwrap());
        let text = text.replace("\"../../../device\"", &device).replace("\"../../../../device\"", &device);
        write_changed(&to.join(file), text.as_bytes());
    }
    for folder in [&to, &to.join("shadowed")] {
        write_changed(&folder.join("Cargo.lock"), &fs::read(root.join("Cargo.lock")).unwrap());
    }
    to
}

/// Writes a file unless it is like that: cargo looks at its time.
fn write_changed(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if fs::read(path).ok().as_deref() != Some(content) {
        fs::write(path, content).unwrap();
    }
}

/// What a build script with the crate `local`, or with `BOTH`, prints, run as cargo would.
fn printed_by_script(crates: &str) -> String {
    let folder = copy();
    let target = folder.join("target");
    write_changed(&target.join("CACHEDIR.TAG"), b"Signature: 8a477f597d28d172789f06886806bc55");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "as_a_build_script", "--ignored", "--nocapture"]);
    command.env(IN_SCRIPT, crates).env("OUT_DIR", target.join("script/out")).env("CARGO_MANIFEST_DIR", &folder);
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(toolchain::FOLDER);
    if std::env::var_os(toolchain::OVERRIDE).is_none() && installed.is_dir() {
        command.env(toolchain::OVERRIDE, installed);
    }
    fs::create_dir_all(target.join("script/out")).unwrap();
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Set where this program is to be a build script, to the kernel crate's folder.
const IN_SCRIPT: &str = "TILEPIPE_TEST_SCRIPT";
/// In place of a folder: the crate `local`, and of the one around it a kernel.
const BOTH: &str = "local and add_rank";

#[test]
#[ignore = "another test runs it as a build script"]
fn as_a_build_script() {
    if let Some(folder) = std::env::var_os(IN_SCRIPT) {
        if folder == BOTH {
            let crates = [("local", &[][..]), (".", &["add_rank"])];
            let [local, around] = tilepipe_build::build_all_in_script(crates).unwrap();
            println!("fresh: {} and {}", local.fresh, around.fresh);
            return;
        }
        let artifact = tilepipe_build::build_in_script(folder).unwrap();
        println!("fresh: {}", artifact.fresh);
    }
}

#[test]
fn a_build_script_without_a_device_compiler_says_why_there_are_no_kernels() {
    let target = tempfile::tempdir().unwrap();
    let (out, cache) = (target.path().join("out"), target.path().join("cache"));
    fs::create_dir_all(&out).unwrap();
    fs::write(target.path().join("CACHEDIR.TAG"), "").unwrap();
    let script = |changed: &dyn Fn(&mut Command)| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "as_a_build_script", "--ignored", "--nocapture"]);
        command.env(IN_SCRIPT, "kernels").env("OUT_DIR", &out).env("CARGO_MANIFEST_DIR", target.path());
        command.env_remove(toolchain::OVERRIDE).env("XDG_CACHE_HOME", &cache).env("RUSTC", "no-such-rustc");
        changed(&mut command);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (success, printed) = script(&|_| {});
    assert!(success, "{printed}");
    let warnings: Vec<&str> = printed.lines().filter(|line| line.starts_with("cargo::warning=")).collect();
    let [warning] = warnings[..] else { panic!("{printed}") };
    assert!(warning.contains("no kernels were built for GPUs") && warning.contains("`cargo tilepipe setup`"));
    let manifest = cache.join("tilepipe/toolchain/manifest.txt");
    assert!(printed.contains(&format!("cargo::rerun-if-changed={}\n", manifest.display())), "{printed}");
    let list = fs::read_to_string(out.join("tilepipe-kernels.txt")).unwrap();
    assert!(list.lines().all(|line| line.starts_with("absent ")), "{list}");
    assert!(list.contains("no-such-rustc") && list.contains(&cache.display().to_string()), "{list}");

    // Who names a toolchain does not want a program without kernels.
    let (success, printed) = script(&|command| {
        command.env(toolchain::OVERRIDE, &cache);
    });
    assert!(!success, "{printed}");
}

/// The folder is one for all of them, so this is one test.
#[test]
fn only_the_real_tilepipe_may_contain_thread_level_code_and_only_what_is_asked_for_is_built() {
    let Some(honest) = build("honest", &[]) else { return };
    let ptx = honest.unwrap().ptx().unwrap();
    assert!(ptx.contains("%tid.x") && ptx.contains("cp.async"), "{ptx}");

    let of = |kernels: &'static [&'static str]| {
        let artifact = build_with("", "kernels", &["two"], |builder| builder.kernels(kernels.iter().copied()));
        artifact.unwrap().map(|artifact| {
            let texts =
                artifact.images.iter().map(|image| (image.name.clone(), fs::read_to_string(&image.ptx).unwrap()));
            texts.collect::<Vec<_>>()
        })
    };
    let both = of(&[]).unwrap();
    assert_eq!(both.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["add_rank", "double"]);
    assert_eq!(of(&["double"]).unwrap(), both[1..]);
    assert_eq!(of(&["add_rank"]).unwrap(), both[..1]);
    assert_eq!(of(&["double", "add_rank"]).unwrap(), both);
    let message = of(&["double", "triple"]).unwrap_err().to_string();
    assert!(message.contains("no kernel `triple`"), "{message}");

    // A build script's warnings, from a build and from one that finds everything up to date.
    let _ = fs::remove_dir_all(copy().join("target/script"));
    let expected = "cargo::warning=kernel `occurrences` (2 of 2 instances, sm_80, sm_90, sm_100): a stack of up to 64 bytes a thread in \
                    local memory (`occurrences__64` on sm_80)";
    for fresh in [false, true] {
        let printed = printed_by_script("local");
        assert!(printed.contains(&format!("fresh: {fresh}\n")), "{printed}");
        assert_eq!(printed.matches("cargo::warning=").count(), 1, "{printed}");
        assert!(printed.lines().any(|line| line == expected), "{printed}");
    }

    // Two crates for one program, each with its files in the list.
    for fresh in ["false", "true"] {
        let printed = printed_by_script(BOTH);
        assert!(printed.contains(&format!("fresh: true and {fresh}\n")), "{printed}");
        let list = fs::read_to_string(copy().join("target/script/out/tilepipe-kernels.txt")).unwrap();
        let images: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("ptx ")).collect();
        let [first, second] = images[..] else { panic!("{list}") };
        assert!(first.contains("occurrences") && second.contains("add_rank"), "{list}");
        assert!(images.iter().all(|image| Path::new(image).is_file()), "{list}");
    }

    // Launch bounds: directives where they are given, and one error for those that no GPU has room
    // for.
    let bounded = build("bounds", &["bounds", "two"]).unwrap().unwrap();
    let head = |kernel: &str| {
        let ptx = bounded.ptx().unwrap();
        let (_, rest) = ptx.split_once(&format!(".entry with_tilepipe${kernel}(")).unwrap();
        let (_, rest) = rest.split_once(")\n").unwrap();
        let lines =
            rest.split_once('{').unwrap().0.lines().map(|line| line.split("//").next().unwrap().trim().to_string());
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(head("bounded__64"), [".reqntid 64, 1, 1", ".minnctapersm 16", ".maxnreg 64"]);
    assert_eq!(head("bounded__1024"), [".reqntid 1024, 1, 1", ".minnctapersm 1", ".maxnreg 64"]);
    assert_eq!(head("double__64"), [".reqntid 64, 1, 1"]);
    let dynamic =
        |instance: &str| bounded.report.iter().find(|one| one.kernel.ends_with(instance)).unwrap().dynamic_shared;
    // Two stages with a `u32` of each thread.
    assert_eq!(["double__64", "double__128"].map(dynamic), [512, 1024]);
    for (feature, expected) in [
        (
            "few_registers",
            "the kernel `with_tilepipe$bounded__1024` has `max_registers = 8` with 1024 threads a block: it is 24 to 64",
        ),
        (
            "many_blocks",
            "the kernel `with_tilepipe$bounded__1024` has `min_blocks = 3` with 1024 threads a block: it is 1 to 2",
        ),
        (
            "no_blocks",
            "the kernel `with_tilepipe$bounded__1024` has `min_blocks = 0` with 1024 threads a block: it is 1 to 2",
        ),
    ] {
        let error = build(feature, &[feature]).unwrap().map(|artifact| artifact.images).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::LaunchBounds { .. }) && message.starts_with(expected), "{feature}: {message}");
    }

    for (feature, function, what) in [
        ("impostor", "tilepipe::isa::thread_rank (of another crate named tilepipe)", "inline assembly"),
        ("runtime", "with_tilepipe::another_rank", "tilepipe_thread_rank"),
    ] {
        let error = build(feature, &[feature]).unwrap().map(|artifact| artifact.images).unwrap_err();
        let message = error.to_string();
        let Error::ThreadLevelCode { function: found, what: why, chain } = error else {
            panic!("{feature}: {message}")
        };
        assert_eq!(found, function, "{message}");
        assert!(why.contains(what), "{message}");
        assert!(chain.last().unwrap().contains("add_rank"), "{message}");
    }

    // Entry points of a crate that puts something of its own behind the paths of the generated
    // code.
    build_in("shadowed", "unshadowed", &[]).unwrap().unwrap();
    for (feature, expected) in [("own_parameters", "calls `"), ("other_function", "calls `core::ptr::write")] {
        for allowed in [false, true] {
            let options = |builder: Builder| if allowed { builder.allow_thread_level_code() } else { builder };
            let built = build_with("shadowed", feature, &[feature], options).unwrap();
            let error = built.map(|artifact| artifact.images).unwrap_err();
            let message = error.to_string();
            assert!(matches!(error, Error::Contract { .. }) && message.contains(expected), "{feature}: {message}");
        }
    }
    let error =
        build_in("shadowed", "more", &["more_parameters"]).unwrap().map(|artifact| artifact.images).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::Compile { .. }), "{message}");
    assert!(message.contains("an entry point has the parameters of its kernel"), "{message}");

    let error = build("std_math", &["std_math"]).unwrap().map(|artifact| artifact.images).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("src/lib.rs") && message.contains("(rank as f32).sin()"), "{message}");
    assert!(message.contains("a GPU has no `f32::sin`: call `tilepipe::math::sin`"), "{message}");

    // With a runtime it could pass for the device crate.
    let runtime = copy().join("impostor/src/runtime.ll");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../device/src/runtime.ll"), &runtime).unwrap();
    let error = build("two", &["impostor"]).unwrap().map(|artifact| artifact.images);
    fs::remove_file(runtime).unwrap();
    assert!(matches!(error, Err(Error::TwoDeviceCrates { .. })), "{error:?}");
}
