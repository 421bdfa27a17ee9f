//! Builds the crates in `tests/fixtures` with the real tools.
//!
//! Without a toolchain each test prints why it is skipped and passes; `TILEPIPE_TOOLCHAIN` names
//! one.

mod common;

use std::path::Path;
use std::process::Command;

use common::{body, build, builder, copy_changed, fixtures, strict};
use tilepipe_build::{Artifact, Builder, Error, build_all, toolchain};

#[test]
fn a_good_kernel_gets_bounds_report_and_machine_code() {
    let Some(builder) = builder("good") else {
        return;
    };
    let artifact = builder.build().unwrap();
    assert!(!artifact.fresh);
    let ptx = artifact.ptx().unwrap();
    assert!(ptx.contains(".entry fixture_reverse"), "{ptx}");
    assert!(ptx.contains(".reqntid 256, 1, 1"), "{ptx}");
    assert!(ptx.contains(".version 7.1") && ptx.contains(".target sm_80"), "{ptx}");
    assert_eq!(body(&ptx, "fixture_reverse(").matches("bar.sync").count(), 1);
    assert!(ptx.contains("ld.shared") && ptx.contains("st.shared"), "{ptx}");
    assert!(!ptx.contains("__tilepipe_bounds__"), "{ptx}");
    // The panic's file name survives, without a folder of this machine.
    let ir = artifact.ir().unwrap();
    assert!(ir.contains("c\"good/src/lib.rs"), "{ir}");
    assert!(!ir.contains(env!("CARGO_TARGET_TMPDIR")), "{ir}");

    assert_eq!(artifact.images.len(), 1);
    let cubins = &artifact.images[0].cubins;
    let archs: Vec<&str> = cubins.iter().map(|cubin| cubin.arch.as_str()).collect();
    assert_eq!(archs, ["sm_80", "sm_90", "sm_100"]);
    for cubin in cubins {
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
    assert!(fewer.ptx().unwrap().contains(".target sm_90"));
}

#[test]
fn ptx_does_not_depend_on_the_folder() {
    let Some(here) = build("good") else { return };
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workspace = elsewhere.path().join("another/place");
    copy_changed(&fixtures().join("good"), &workspace.join("good"));
    std::fs::write(workspace.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"good\"]\n").unwrap();
    let target = elsewhere.path().join("target");
    let there = Builder::new(workspace.join("good")).runtime(fixtures().join("runtime.ll")).target_dir(target);
    let there = there.allow_thread_level_code().build().unwrap();
    assert_eq!(here.unwrap().ptx().unwrap(), there.ptx().unwrap());
}

#[test]
fn several_crates_are_built_as_each_is_alone() {
    let outputs = tempfile::tempdir().unwrap();
    let of = |name: &str, folder: &str| {
        builder(name).map(|builder| builder.architectures(["sm_80"]).output_dir(outputs.path().join(folder).join(name)))
    };
    // One folder twice: who comes second waits for it, and finds all there.
    let crates = ["good", "barriers", "good", "mbarrier"];
    let Some(together) = crates.map(|name| of(name, "together")).into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let artifacts = build_all(&together).unwrap();
    assert_eq!(artifacts.len(), crates.len());
    for (name, artifact) in crates.iter().zip(&artifacts) {
        let alone = of(name, "alone").unwrap().build().unwrap();
        assert_eq!(artifact.ptx().unwrap(), alone.ptx().unwrap(), "{name}");
        assert_eq!(artifact.report, alone.report, "{name}");
    }
    assert_eq!(artifacts.iter().map(|artifact| artifact.fresh).collect::<Vec<_>>(), [false, false, true, false]);

    let refused = of("ptxas_error", "refused").unwrap();
    let uncompiled = of("good", "uncompiled").unwrap().features(["not-there"]);
    let error = build_all(&[of("good", "before").unwrap(), uncompiled.clone(), of("good", "behind").unwrap()]);
    assert!(matches!(error, Err(Error::Compile { .. })));
    assert!(outputs.path().join("before/good/report.json").is_file());
    assert!(!outputs.path().join("behind").exists());
    let error = build_all(&[refused, uncompiled]);
    assert!(matches!(error, Err(Error::Ptxas { .. })), "the first error");
    assert!(build_all(&[]).unwrap().is_empty());
}

#[test]
fn barriers_are_as_many_as_written() {
    let Some(artifact) = build("barriers") else {
        return;
    };
    let ptx = artifact.unwrap().ptx().unwrap();
    let count = |name| body(&ptx, name).matches("bar.sync").count();
    assert_eq!(count("fixture_between_branches("), 1, "{ptx}");
    assert_eq!(count("fixture_in_both_arms("), 2, "{ptx}");
    assert_eq!(count("fixture_generic_twice("), 0, "{ptx}");
    assert_eq!(body(&ptx, "fixture_generic_twice(").matches("call.uni").count(), 2, "{ptx}");
    assert_eq!(count("exchange"), 1, "{ptx}");
}

/// The machine code of one kernel on one architecture, as text; none if there is no disassembler.
fn sass(artifact: &Artifact, arch: &str, kernel: &str) -> Option<String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let Some(nvdisasm) = toolchain::find(Some(target)).unwrap().nvdisasm() else {
        eprintln!("SKIPPED: no nvdisasm beside ptxas or in the search path");
        return None;
    };
    let cubins = artifact.images.iter().filter(|image| kernel.starts_with(&image.name)).flat_map(|image| &image.cubins);
    let cubin = cubins.into_iter().find(|cubin| cubin.arch == arch).unwrap();
    let output = Command::new(nvdisasm).arg("-c").arg(&cubin.path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, function) =
        text.split_once(&format!(".text.{kernel}:")).unwrap_or_else(|| panic!("no `{kernel}`:\n{text}"));
    Some(function.split(".section").next().unwrap().to_string())
}

#[test]
fn machine_code_for_newer_gpus_suspends_waits_and_only_them() {
    const SUSPENDS: &str = "SYNCS.PHASECHK.TRANS64.TRYWAIT";
    let Some(builder) = builder("mbarrier") else {
        return;
    };
    let artifact = builder.architectures(["sm_80", "sm_90", "sm_90a", "sm_100"]).build().unwrap();
    let ptx = artifact.ptx().unwrap();
    assert!(ptx.contains(".version 7.1\n.target sm_80\n"), "{ptx}");
    assert_eq!(
        (ptx.matches("mbarrier.test_wait.").count(), ptx.matches("mbarrier.try_wait.").count()),
        (2, 0),
        "{ptx}"
    );
    for arch in ["sm_90", "sm_90a", "sm_100"] {
        let Some(blocking) = sass(&artifact, arch, "fixture_blocking") else {
            return;
        };
        assert!(blocking.contains(SUSPENDS), "{arch}: {blocking}");
        let polling = sass(&artifact, arch, "fixture_polling").unwrap();
        assert!(polling.contains("SYNCS.PHASECHK") && !polling.contains(SUSPENDS), "{arch}: {polling}");
    }
    let old = sass(&artifact, "sm_80", "fixture_blocking").unwrap();
    assert!(!old.contains("SYNCS"), "{old}");
}

#[test]
fn ptx_for_newer_targets_suspends_waits_and_only_them() {
    let Some(builder) = builder("mbarrier") else {
        return;
    };
    let artifact = builder.target_cpu("sm_90").architectures(["sm_90", "sm_100"]).build().unwrap();
    let ptx = artifact.ptx().unwrap();
    assert!(ptx.contains(".version 7.8\n.target sm_90\n"), "{ptx}");
    let counts = |name| {
        let body = body(&ptx, name);
        (body.matches("mbarrier.test_wait.").count(), body.matches("mbarrier.try_wait.").count())
    };
    assert_eq!((counts("fixture_blocking("), counts("fixture_polling(")), ((0, 1), (1, 0)), "{ptx}");
}

#[test]
fn kernels_are_built_for_the_least_class_that_they_need() {
    let Some(builder) = builder("classes") else {
        return;
    };
    let build = |architectures: &[&str]| builder.clone().architectures(architectures.iter().copied()).build().unwrap();
    let artifact = build(&["sm_80", "sm_90", "sm_100"]);
    let image = |name: &str| artifact.images.iter().find(|image| image.name == name).unwrap();
    let facts = artifact.images.iter().map(|image| {
        let ptx = std::fs::read_to_string(&image.ptx).unwrap();
        let header = |name: &str| ptx.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_string();
        assert_eq!(header(".target "), image.target);
        let archs: Vec<&str> = image.cubins.iter().map(|cubin| cubin.arch.as_str()).collect();
        (image.name.as_str(), header(".version "), image.target.as_str(), archs.join(" "))
    });
    let expected = [
        ("anywhere", "7.1", "sm_80", "sm_80 sm_90 sm_100"),
        ("arrives.sm_90", "7.8", "sm_90", "sm_90 sm_100"),
        ("copies.sm_90", "8.6", "sm_90", "sm_90 sm_100"),
        ("fences", "7.1", "sm_80", "sm_80 sm_90 sm_100"),
        ("fences.sm_90", "8.0", "sm_90", "sm_90 sm_100"),
        ("multiplies.sm_90a", "8.0", "sm_90a", "sm_90a"),
    ];
    let facts: Vec<_> = facts.collect();
    let facts: Vec<_> =
        facts.iter().map(|(name, ptx, target, archs)| (*name, ptx.as_str(), *target, archs.as_str())).collect();
    assert_eq!(facts, expected);
    let ptx = std::fs::read_to_string(&image("fences.sm_90").ptx).unwrap();
    assert!(ptx.contains(".entry fences__2(") && ptx.contains(".entry fences__3("), "{ptx}");
    // In the order of what was asked for, which `sm_90a` stands for `sm_90` in.
    let mut reported: Vec<&str> = artifact.report.iter().map(|kernel| kernel.arch.as_str()).collect();
    reported.dedup();
    let multiplies = artifact.report.iter().filter(|kernel| kernel.kernel == "multiplies").collect::<Vec<_>>();
    assert_eq!((multiplies.len(), multiplies[0].arch.as_str()), (1, "sm_90a"));
    assert_eq!(reported, ["sm_80", "sm_90", "sm_90a", "sm_100"]);
    assert!(build(&["sm_80", "sm_90", "sm_100"]).fresh);

    // What does not run there has PTX alone, and a GPU's launch says what it needs.
    let old = build(&["sm_80"]);
    assert!(old.images.iter().all(|image| image.cubins.is_empty() == (image.target != "sm_80")));
    // One architecture that has all of it, named twice, is assembled for once.
    let both = build(&["sm_90", "sm_90a"]);
    let multiplies = both.images.iter().find(|image| image.name == "multiplies.sm_90a").unwrap();
    assert_eq!(multiplies.cubins.len(), 1);
}

#[test]
fn a_kernel_for_one_architecture_alone_is_refused_for_a_newer_target() {
    let Some(builder) = builder("classes") else {
        return;
    };
    let error = builder.target_cpu("sm_100").architectures(["sm_100"]).build().unwrap_err();
    assert!(
        matches!(&error, Error::Target { kernel, needs, target } if kernel == "multiplies" && needs == "sm_90a" && target == "sm_100"),
        "{error}"
    );
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
fn what_ptxas_says_is_in_the_artifact_also_when_it_was_kept_or_is_up_to_date() {
    let Some(builder) = builder("messages") else { return };
    let kernel = "fixture_blocks";
    let output = fixtures().join("output").join(kernel);
    let builder = builder.architectures(["sm_120"]).features(["blocks"]).output_dir(&output);
    for (fresh, empty) in [(false, true), (true, false), (false, true)] {
        if empty {
            let _ = std::fs::remove_dir_all(&output);
        }
        let artifact = builder.build().unwrap();
        assert_eq!(artifact.fresh, fresh);
        let [message] = &artifact.messages[..] else { panic!("{:?}", artifact.messages) };
        assert_eq!(
            (message.kernel.as_deref(), message.image.as_str(), message.arch.as_str()),
            (Some(kernel), kernel, "sm_120")
        );
        assert!(message.text.contains(".minnctapersm will be ignored"), "{}", message.text);
        assert_eq!(artifact.warnings(), [format!("kernel `{kernel}` (sm_120): ptxas: {}", message.text)]);
    }
}

#[test]
fn what_ptxas_ignores_of_tensor_cores_and_registers_is_an_error_each_time() {
    let Some(builder) = builder("messages") else { return };
    let output = fixtures().join("output").join("fixture_registers");
    let _ = std::fs::remove_dir_all(&output);
    let builder = builder.architectures(["sm_90"]).output_dir(&output);
    // What was assembled may be kept, and must be refused all the same.
    for _ in 0..2 {
        let error = builder.build().unwrap_err();
        // The kernel's instruction is of `sm_90a` alone.
        assert!(
            matches!(&error, Error::Products { kernel, arch, message }
                if kernel == "fixture_registers" && arch == "sm_90a"
                    && message.contains("'setmaxnreg' ignored; unable to determine register count at entry.")),
            "{error:?}"
        );
    }
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

#[test]
fn architectures_that_ptxas_does_not_know_are_refused_before_anything_is_compiled() {
    let Some(builder) = builder("good") else { return };
    let dir = tempfile::tempdir().unwrap();
    let (target, output) = (dir.path().join("target"), dir.path().join("output"));
    let builder = builder.target_dir(&target).output_dir(&output);
    for (wrong, arch) in [
        (builder.clone().architectures(["sm_80", "sm_999"]), "sm_999"),
        (builder.clone().architectures(["sm_99"]), "sm_99"),
        (builder.clone().target_cpu("sm_99").architectures(["sm_100"]), "sm_99"),
        (builder.clone().target_cpu("sm_99").architectures([] as [&str; 0]), "sm_99"),
    ] {
        let message = wrong.build().unwrap_err().to_string();
        let expected = format!("cannot build for the architecture `{arch}`: ptxas of CUDA ");
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.contains("it knows sm_80, ") && message.contains(", sm_90, sm_90a"), "{message}");
        assert!(!target.exists() && !output.exists());
    }
}

/// The function, the fault and the callers that the refusal of thread-level code names.
fn thread_level(result: Result<Artifact, Error>) -> (String, String, Vec<String>) {
    match result.map(|artifact| artifact.images) {
        Err(Error::ThreadLevelCode { function, what, chain }) => (function, what, chain),
        other => panic!("{other:?}"),
    }
}

#[test]
fn thread_level_code_is_refused_by_function_and_chain() {
    const KERNEL: &str = "fixture_thread_level";
    for (feature, function, what, callers) in [
        ("assembly", "fixture_thread_level::value", "inline assembly", &[KERNEL][..]),
        ("dependency", "fixture_helper::clock", "inline assembly", &["fixture_thread_level::value", KERNEL]),
        (
            "intrinsic",
            "core::core_arch::nvptx::_thread_idx_x",
            "llvm.nvvm.read.ptx.sreg.tid.x",
            &["fixture_thread_level::value", KERNEL],
        ),
        ("runtime", "fixture_thread_level::value", "fixture_thread", &[KERNEL]),
        ("address", "fixture_thread_level::value::WAYS", "fixture_thread", &[]),
    ] {
        let Some(builder) = strict("thread_level") else { return };
        let builder = builder.features([feature]);
        let refusal = thread_level(builder.build());
        assert!(refusal.1.contains(what), "{feature}: {refusal:?}");
        assert_eq!((refusal.0.as_str(), refusal.2), (function, callers.iter().map(|name| name.to_string()).collect()));
        assert!(builder.allow_thread_level_code().build().is_ok(), "{feature}");
    }
}

#[test]
fn thread_level_code_that_no_kernel_reaches_is_accepted() {
    let Some(builder) = strict("thread_level") else { return };
    let artifact = builder.architectures(["sm_80"]).build().unwrap();
    assert!(!artifact.ptx().unwrap().contains("%globaltimer"));
}

#[test]
fn a_build_that_allowed_thread_level_code_is_not_up_to_date_without() {
    let Some(builder) = strict("thread_level") else { return };
    let builder = builder.features(["assembly"]).architectures(["sm_80"]);
    assert!(!builder.clone().allow_thread_level_code().build().unwrap().fresh);
    assert!(builder.clone().allow_thread_level_code().build().unwrap().fresh);
    thread_level(builder.build());
}

#[test]
fn recursion_is_refused_also_where_thread_level_code_is_allowed() {
    for (feature, names, by_address) in [
        ("direct", &["fixture_recursion::ways::of"][..], false),
        ("mutual", &["fixture_recursion::ways::odd", "fixture_recursion::ways::of"], false),
        ("by_address", &["<fixture_recursion::ways::On as fixture_recursion::ways::Way>::walk"], true),
    ] {
        for allowed in [false, true] {
            let Some(builder) = strict("recursion") else { return };
            let builder = if allowed { builder.allow_thread_level_code() } else { builder };
            match builder.features([feature]).build().map(|artifact| artifact.images) {
                Err(Error::Recursion { kernel, mut cycle, by_address: found }) => {
                    cycle.sort();
                    assert_eq!((kernel.as_str(), found), ("fixture_recursion", by_address));
                    assert_eq!(cycle, names);
                }
                other => panic!("{feature}: {other:?}"),
            }
        }
    }
}

#[test]
fn calls_by_address_and_panics_with_formatted_messages_are_no_recursion() {
    let Some(builder) = strict("recursion") else { return };
    builder.architectures(["sm_80"]).build().unwrap();
}
