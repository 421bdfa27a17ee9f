//! Builds the crates in `tests/fixtures` with the real tools.
//!
//! Without a toolchain each test prints why it is skipped and passes; `TILEPIPE_TOOLCHAIN` names one.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tilepipe_build::{Artifact, Builder, Error, toolchain};

/// The fixtures' workspace, copied out of the repository so that cargo writes nothing into it.
fn fixtures() -> PathBuf {
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
fn copy_changed(from: &Path, to: &Path) {
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

/// A builder for a fixture, or none if there is no toolchain.
fn builder(name: &str) -> Option<Builder> {
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
fn build(name: &str) -> Option<Result<Artifact, Error>> {
    builder(name).map(|builder| builder.build())
}

/// The body of one entry or function of PTX whose name contains `name`.
fn body<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|at| ptx[*at..].split_once(['{', ';']).is_some_and(|(head, _)| ptx[*at + head.len()..].starts_with('{')))
        .unwrap_or_else(|| panic!("no function `{name}` in:\n{ptx}"));
    let text = &ptx[start..];
    &text[..text.find("\n}").unwrap()]
}

#[test]
fn a_good_kernel_gets_bounds_report_and_machine_code() {
    let Some(builder) = builder("good") else {
        return;
    };
    let artifact = builder.build().unwrap();
    assert!(!artifact.fresh);
    let ptx = std::fs::read_to_string(&artifact.ptx).unwrap();
    assert!(ptx.contains(".entry fixture_reverse"), "{ptx}");
    assert!(ptx.contains(".reqntid 256, 1, 1"), "{ptx}");
    assert!(ptx.contains(".version 7.0") && ptx.contains(".target sm_80"), "{ptx}");
    assert_eq!(body(&ptx, "fixture_reverse(").matches("bar.sync").count(), 1);
    assert!(ptx.contains("ld.shared") && ptx.contains("st.shared"), "{ptx}");
    assert!(!ptx.contains("__tilepipe_threads__"), "{ptx}");
    // The panic's file name survives, without a folder of this machine.
    let ir = std::fs::read_to_string(&artifact.ir).unwrap();
    assert!(ir.contains("c\"good/src/lib.rs"), "{ir}");
    assert!(!ir.contains(env!("CARGO_TARGET_TMPDIR")), "{ir}");

    let archs: Vec<&str> = artifact.cubins.iter().map(|cubin| cubin.arch.as_str()).collect();
    assert_eq!(archs, ["sm_80", "sm_90", "sm_100"]);
    for cubin in &artifact.cubins {
        assert!(std::fs::read(&cubin.path).unwrap().starts_with(b"\x7fELF"));
    }
    assert_eq!(artifact.report.len(), 3);
    for kernel in &artifact.report {
        assert_eq!((kernel.kernel.as_str(), kernel.threads, kernel.barriers), ("fixture_reverse", 256, 1));
        assert!(kernel.registers > 0 && kernel.spill_stores == 0, "{kernel:?}");
    }

    let again = builder.build().unwrap();
    assert!(again.fresh, "nothing changed");
    assert_eq!(again.report, artifact.report);
    let fewer = builder.clone().architectures(["sm_90"]).target_cpu("sm_90").build().unwrap();
    assert!(!fewer.fresh, "other options");
    assert!(std::fs::read_to_string(&fewer.ptx).unwrap().contains(".target sm_90"));
}

#[test]
fn ptx_does_not_depend_on_the_folder() {
    let Some(here) = build("good") else { return };
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workspace = elsewhere.path().join("another/place");
    copy_changed(&fixtures().join("good"), &workspace.join("good"));
    std::fs::write(workspace.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"good\"]\n").unwrap();
    let target = elsewhere.path().join("target");
    let there =
        Builder::new(workspace.join("good")).runtime(fixtures().join("runtime.ll")).target_dir(target).build().unwrap();
    assert_eq!(std::fs::read_to_string(here.unwrap().ptx).unwrap(), std::fs::read_to_string(there.ptx).unwrap());
}

#[test]
fn barriers_are_as_many_as_written() {
    let Some(artifact) = build("barriers") else {
        return;
    };
    let ptx = std::fs::read_to_string(artifact.unwrap().ptx).unwrap();
    let count = |name| body(&ptx, name).matches("bar.sync").count();
    assert_eq!(count("fixture_between_branches("), 1, "{ptx}");
    assert_eq!(count("fixture_in_both_arms("), 2, "{ptx}");
    assert_eq!(count("fixture_generic_twice("), 0, "{ptx}");
    assert_eq!(body(&ptx, "fixture_generic_twice(").matches("call.uni").count(), 2, "{ptx}");
    assert_eq!(count("exchange"), 1, "{ptx}");
}

#[test]
fn a_mutable_static_is_refused_by_name() {
    let Some(result) = build("mutable_static") else {
        return;
    };
    let error = result.unwrap_err();
    assert!(
        matches!(&error, Error::MutableStatic { symbol } if symbol == "fixture_mutable_static::COUNTER"),
        "{error}"
    );
}

#[test]
fn a_static_with_interior_mutability_is_refused_by_name() {
    let Some(result) = build("atomic_static") else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::MutableStatic { symbol } if symbol == "fixture_atomic_static::TICKETS"), "{error}");
}

#[test]
fn an_allocator_is_refused() {
    let Some(result) = build("allocator") else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::Allocator { symbol } if symbol == "malloc"), "{error}");
}

#[test]
fn an_unresolved_function_is_refused_by_name() {
    let Some(result) = build("unresolved") else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::Unresolved { symbol } if symbol == "nowhere_to_be_found"), "{error}");
}

#[test]
fn a_crate_without_kernels_is_refused() {
    let Some(result) = build("no_kernel") else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::NoKernel { name } if name == "fixture-no_kernel"), "{error}");
}

#[test]
fn an_assembly_error_names_the_kernel() {
    let Some(result) = build("ptxas_error") else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(&error, Error::Ptxas { kernel: Some(kernel), .. } if kernel == "fixture_nonsense"), "{error}");
    assert!(error.to_string().contains("nonsense"), "{error}");
}

#[test]
fn a_compile_error_carries_the_compilers_message() {
    let Some(builder) = builder("good") else {
        return;
    };
    let error = builder.features(["not-there"]).build().unwrap_err();
    assert!(matches!(&error, Error::Compile { output, .. } if output.contains("not-there")), "{error}");
}

#[test]
fn a_folder_without_a_crate_is_refused() {
    let Some(builder) = builder("none") else {
        return;
    };
    assert!(matches!(builder.build(), Err(Error::NoCrate { .. })));
}

#[test]
fn architectures_below_the_target_are_refused() {
    let Some(builder) = builder("good") else {
        return;
    };
    let error = builder.target_cpu("sm_90").build().unwrap_err();
    assert!(matches!(&error, Error::Architecture { arch, .. } if arch == "sm_80"), "{error}");
}
