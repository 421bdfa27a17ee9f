//! The program as a user meets it, on the CPU: results verified, every bad input one clear error.

use std::path::Path;
use std::process::{Command, Output};

use tilepipe_runner::work::Shape;
use tilepipe_runner::{data, npy, reference};

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilepipe-run")).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs on the CPU and returns what was printed; the run must succeed.
#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = program(&[&["--device", "cpu"], arguments].concat());
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Runs on the CPU; the run must fail with one error that has every one of `parts`, and without a
/// panic.
#[track_caller]
fn fails(arguments: &[&str], parts: &[&str]) {
    fails_on("cpu", arguments, parts);
}

#[track_caller]
fn fails_on(device: &str, arguments: &[&str], parts: &[&str]) {
    let output = program(&[&["--device", device], arguments].concat());
    let message = text(&output.stderr);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert!(output.status.code().is_some_and(|code| code == 1 || code == 2), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    assert_eq!(message.matches("error:").count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("a temporary path is UTF-8")
}

#[test]
fn a_small_run_is_verified_under_each_schedule() {
    for schedule in ["eager", "lazy", "random:3"] {
        let printed = succeeds(&["--elements", "5000", "--schedule", schedule]);
        assert!(printed.contains(&format!("schedule {schedule}")), "{printed}");
        assert!(printed.trim_end().ends_with("0 differ, 0 failed, 0 not run"), "{printed}");
    }
}

#[test]
fn a_random_schedule_prints_its_seed() {
    let printed = succeeds(&["--elements", "300", "--kernel", "with_staging", "--schedule", "random"]);
    assert!(printed.contains("schedule random:"), "{printed}");
}

#[test]
fn a_stress_run_loses_no_tile_under_any_schedule() {
    for schedule in ["eager", "lazy", "random:11"] {
        let printed = succeeds(&["--stress", "100", "--schedule", schedule]);
        assert!(printed.contains("stress: 100 launches") && printed.contains("none lost"), "{printed}");
    }
    fails(&["--stress", "0"], &["--stress"]);
    fails(&["--stress", "5", "--kernel", "sum"], &["--stress", "--kernel"]);
}

/// `cargo xtask run --list` shows that text where the program is not built yet.
#[test]
fn the_kept_list_is_what_the_program_prints() {
    let (printed, path) = (succeeds(&["--list"]), concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/list.txt"));
    if std::env::var_os("TILEPIPE_HELP").is_some_and(|wish| wish == "write") {
        std::fs::write(path, printed).unwrap();
    } else {
        assert_eq!(
            tilepipe_runner_cli::LIST,
            printed,
            "write it anew: TILEPIPE_HELP=write cargo test -p tilepipe-run --test cli"
        );
    }
}

#[test]
fn list_names_every_kernel() {
    let printed = succeeds(&["--list"]);
    for instances in tilepipe_kernels::registry() {
        assert!(printed.contains(instances[0].kernel()), "{printed}");
    }
    for part in [
        "│ gemm ",
        "2 rows",
        "1 matrix",
        "bf16",
        "float3",
        "complex",
        "S=ThreadScope, WarpScope, BlockScope",
        "PAD=0, 1, 2",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn real_arrays_go_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.npy"), folder.path().join("out.npy"));
    let signal: Vec<f32> = data::generate(1003, 5).unwrap();
    npy::write(&input, &signal, Shape::Row(1003)).unwrap();
    std::fs::write(&output, "an older file").unwrap();
    let printed =
        succeeds(&["--kernel", "moving_average", "--input", path_text(&input), "--output", path_text(&output)]);
    assert!(printed.contains("f32") && printed.contains("1003"), "{printed}");
    let written: Vec<f32> = npy::read(&output).unwrap();
    assert_eq!(reference::compare(&written, &reference::moving_average(&signal)), None);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn every_kernel_runs_by_default() {
    let printed = succeeds(&["--elements", "3001"]);
    for instances in tilepipe_kernels::registry() {
        assert!(printed.contains(&format!("│ {} ", instances[0].kernel())), "{printed}");
    }
    assert!(!printed.contains("│ gemm "), "it is compared in another way: {printed}");
    assert!(printed.contains("41 x 71") && printed.contains(" 3001 "), "a matrix of about as many: {printed}");
}

#[test]
fn every_instance_runs_where_all_are_asked_for() {
    let instances = tilepipe_kernels::registry().into_iter().flatten().count();
    let printed = succeeds(&["--elements", "1003", "--dtype", "all", "--block", "all", "--stages", "all", "--quiet"]);
    let summary = format!("{instances} configurations: {instances} verified, 0 differ, 0 failed, 0 not run");
    assert_eq!(printed.trim_end().lines().last(), Some(summary.as_str()));
}

#[test]
fn a_variant_is_chosen_by_name() {
    let printed = succeeds(&["--elements", "500", "--kernel", "scale_own", "--variant", "S=WarpScope,E=CpAsync"]);
    assert!(printed.contains("E=CpAsync S=WarpScope") && !printed.contains("ThreadScope"), "{printed}");
    fails(
        &["--kernel", "scale_own", "--variant", "S=GridScope"],
        &["S=GridScope", "ThreadScope, WarpScope, BlockScope"],
    );
    fails(&["--kernel", "scale_own", "--variant", "LEN=4"], &["no generic argument LEN", "E, S"]);
    fails(&["--variant", "fast"], &["NAME=VALUE"]);
}

#[test]
fn two_arrays_go_into_kernels_that_take_two() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.npy", "b.npy", "out.npy"].map(|name| folder.path().join(name));
    let [left, right, output] = paths.each_ref().map(|path| path_text(path));
    let arrays: Vec<Vec<f64>> = data::inputs(2, 700, 9).unwrap();
    npy::write(&paths[0], &arrays[0], Shape::Row(700)).unwrap();
    npy::write(&paths[1], &arrays[1], Shape::Row(700)).unwrap();
    let printed = succeeds(&["--input", left, "--input", right]);
    assert!(printed.contains("example_kernel") && printed.contains(" dot ") && !printed.contains("│ sum"), "{printed}");
    succeeds(&["--kernel", "example_kernel", "--input", left, "--input", right, "--output", output]);
    let expected = reference::two_inputs(&arrays[0], &arrays[1], 256);
    assert_eq!(reference::compare(&npy::read::<f64>(&paths[2]).unwrap(), &expected), None);

    fails(&["--kernel", "dot", "--input", left], &["`dot` takes 2 inputs", "given 1 time;"]);
    fails(&["--kernel", "sum", "--input", left, "--input", right], &["`sum` takes 1 input,", "given 2 times"]);
    npy::write(&paths[1], &arrays[1][1..], Shape::Row(699)).unwrap();
    fails(&["--input", left, "--input", right], &["one type and shape", "700 of f64", "699 of f64"]);
}

#[test]
fn matrices_go_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.npy"), folder.path().join("out.npy"));
    let matrix: Vec<u32> = data::generate(37 * 53, 4).unwrap();
    npy::write(&input, &matrix, Shape::Matrix { height: 37, width: 53 }).unwrap();
    let printed = succeeds(&["--input", path_text(&input)]);
    assert!(
        printed.contains("transpose") && printed.contains("stencil_2d") && printed.contains("37 x 53"),
        "{printed}"
    );
    assert!(!printed.contains("with_staging"), "{printed}");
    succeeds(&["--kernel", "transpose", "--input", path_text(&input), "--output", path_text(&output)]);
    assert_eq!(npy::read::<u32>(&output).unwrap(), reference::transposed(&matrix, 53));
    assert_eq!(npy::describe(&output).unwrap()[0].shape, Shape::Matrix { height: 53, width: 37 });
    fails(&["--kernel", "sum", "--input", path_text(&input)], &["`sum` takes a row", "37 x 53 of u32", "reshape"]);
    npy::write(&input, &matrix, Shape::Row(37 * 53)).unwrap();
    fails(&["--kernel", "stencil_2d", "--input", path_text(&input)], &["takes a matrix", "1961 of u32"]);
}

#[test]
fn batches_go_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.npy"), folder.path().join("out.npy"));
    let batch: Vec<i32> = data::generate(5 * 37 * 53, 4).unwrap();
    npy::write(&input, &batch, Shape::Batch { matrices: 5, height: 37, width: 53 }).unwrap();
    let printed = succeeds(&["--input", path_text(&input)]);
    assert!(printed.contains("│ batched_transpose ") && printed.contains("5 x 37 x 53"), "{printed}");
    assert!(!printed.contains("│ transpose"), "{printed}");
    succeeds(&["--kernel", "batched_transpose", "--input", path_text(&input), "--output", path_text(&output)]);
    let expected: Vec<i32> = batch.chunks(37 * 53).flat_map(|matrix| reference::transposed(matrix, 53)).collect();
    assert_eq!(npy::read::<i32>(&output).unwrap(), expected);
    assert_eq!(npy::describe(&output).unwrap()[0].shape, Shape::Batch { matrices: 5, height: 53, width: 37 });
    fails(&["--kernel", "transpose", "--input", path_text(&input)], &["takes a matrix", "5 x 37 x 53 of i32"]);
    npy::write(&input, &batch, Shape::Matrix { height: 5 * 37, width: 53 }).unwrap();
    fails(
        &["--kernel", "batched_transpose", "--input", path_text(&input)],
        &["a batch of matrices", "185 x 53 of i32"],
    );
}

#[test]
fn unknown_names_say_what_is_known() {
    fails(&["--kernel", "with_stagin"], &["'with_stagin'", "exists: 'with_staging'", "with_staging_unified"]);
    fails(&["--dtype", "f8"], &["f8", "f32x4", "complex"]);
    fails_on("tpu", &[], &["tpu", "gpu, cpu, auto"]);
    fails(&["--schedule", "sometimes"], &["eager, lazy, random"]);
    fails(&["--schedule", "random:x"], &["not a seed"]);
}

#[test]
fn impossible_sizes_say_what_is_possible() {
    fails(&["--elements", "0"], &["at least 1"]);
    fails(&["--elements", "-5"], &["--elements"]);
    fails(&["--elements", "many"], &["not a count"]);
    fails(&["--elements", "2^64"], &["overflows"]);
    fails(&["--elements", "2^63"], &["overflow the address space", "--elements"]);
    fails(&["--elements", "2^50"], &["MiB", "--elements"]);
}

#[test]
fn configurations_that_were_not_built_say_what_was() {
    fails(&["--block", "97"], &["block size 97", "128, 256, 512, 1024"]);
    fails(&["--block", "wide"], &["wide"]);
    fails(&["--kernel", "with_staging_unified", "--stages", "9"], &["stage count 9", "1, 2, 3, 4, 5, 6, 7, 8"]);
    fails(&["--kernel", "with_single_stage", "--stages", "2"], &["fixed number of stages"]);
}

#[test]
fn bad_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.npy");
    let input = path_text(&path);
    fails(&["--input", input], &["cannot read", "in.npy"]);
    fails(&["--input", path_text(folder.path())], &["cannot read"]);
    std::fs::write(&path, "1,2,3\n4,5,6\n").unwrap();
    fails(&["--input", input], &["not a .npy file", "numpy.save"]);
    npy::write(&path, &[1.0f64, 2.0], Shape::Row(2)).unwrap();
    fails(&["--input", input, "--dtype", "i32"], &["f64", "i32", "--dtype"]);
    fails(&["--input", input, "--input", input, "--input", input], &["given 3 times", "1 input"]);
    fails(&["--input", input, "--elements", "5"], &["--elements"]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    fails(&["--input", input], &["truncated", "16 bytes", "13"]);
}

#[test]
fn an_output_is_refused_before_anything_runs_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.npy");
    fails(&["--output", path_text(&path), "--elements", "100"], &["one configuration", "--kernel"]);
    let nowhere = folder.path().join("no/such/out.npy");
    fails(
        &["--kernel", "with_staging", "--output", path_text(&nowhere), "--elements", "100"],
        &["cannot write", "out.npy"],
    );
    fails(&["--kernel", "with_staging", "--output", path_text(folder.path())], &["folder"]);
    fails(&["--kernel", "with_staging", "--output", path_text(&path), "--elements", "2^50"], &["--elements"]);
    let (kernel, input) = ("with_staging_unified", ["--dtype", "i128", "--stages", "2"]);
    fails(&[&["--kernel", kernel, "--output", path_text(&path)], &input[..]].concat(), &["NumPy has no type", "i128"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_schedule_is_no_matter_of_a_gpu() {
    fails_on("gpu", &["--schedule", "lazy"], &["--schedule", "--device cpu"]);
}

#[test]
fn one_configuration_is_not_several() {
    let printed = succeeds(&["--kernel", "with_staging", "--dtype", "i32", "--block", "256", "--elements", "1"]);
    assert_eq!(
        printed.trim_end().lines().last(),
        Some("1 configuration: 1 verified, 0 differ, 0 failed, 0 not run"),
        "{printed}"
    );
}

#[test]
fn the_command_line_and_its_errors_speak_of_options() {
    fails_on("gpu", &["--schedule", "lazy"], &["--device cpu"]);
    let output = program(&["--help"]);
    assert!(text(&output.stdout).contains("Usage: tilepipe-run [OPTIONS]"), "{}", text(&output.stdout));
}

#[test]
fn the_cpu_has_no_architecture_and_what_cannot_be_run_is_refused_before_it_is_asked_for() {
    let output = program(&["--device", "cpu", "--print-architecture"]);
    assert_eq!(
        (output.status.code(), text(&output.stdout), text(&output.stderr)),
        (Some(3), String::new(), String::new())
    );
    for arguments in [["--device", "auto"], ["--device", "gpu"]] {
        let output = program(&[&arguments[..], &["--print-architecture"]].concat());
        match output.status.code() {
            Some(0) => assert!(text(&output.stdout).starts_with("sm_"), "{}", text(&output.stdout)),
            status => assert_eq!((status, text(&output.stdout)), (Some(3), String::new()), "{}", text(&output.stderr)),
        }
        fails_on(arguments[1], &["--print-architecture", "--block", "97"], &["block size 97"]);
        fails_on(arguments[1], &["--print-architecture", "--output", "out.npy"], &["one configuration"]);
    }
}

#[test]
fn a_missing_gpu_has_an_exit_status_of_its_own() {
    let output = program(&["--device", "gpu", "--elements", "100"]);
    if output.status.code() == Some(3) {
        assert!(text(&output.stderr).contains("use the CPU"), "{}", text(&output.stderr));
    }
}
