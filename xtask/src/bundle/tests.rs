//! What is packed, and that `run.sh` finds all of it: bundles of programs that only look whether
//! what they need is there.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use tempfile::TempDir;
use tilepipe_build::toolchain;
use xtask_front::bundle::{ARCHITECTURES, SUITES};

use super::pack::{ARCHIVE, Bundle, LIMIT};
use super::sources::Sources;
use super::suite::Suite;
use crate::project;

mod records;

/// The commands of `run.sh` that a suite's bundle has.
const COMMANDS: [(Suite, &[&str]); 5] = [
    (Suite::Test, &["run", "quick", "test", "stress", "exhaustive"]),
    (Suite::Sanitize, &["run", "stress", "sanitize", "race"]),
    (Suite::Bench, &["bench", "torch", "race"]),
    (Suite::Quick, &["run", "quick", "stress"]),
    (Suite::Pytorch, &["pytorch"]),
];
/// All that there are.
const ALL: [&str; 10] =
    ["run", "quick", "test", "stress", "exhaustive", "sanitize", "bench", "torch", "pytorch", "race"];

/// `tilepipe-run`: by default the kernels lie beside it, and those of the stress run in another
/// folder. Their machine code is that of one architecture.
const RUNNER: &str = r#"folder=$(dirname "$0")/ptx
case $* in *--stress*) folder=$(dirname "$0")/test-ptx/kernels ;; esac
[ -e "$folder/k.one.ptx" ] && [ -e "$folder/k.one.sm_90.cubin" ] || exit 1
[ "$(ls "$folder" | grep -c ^k)" = 4 ] || exit 1"#;
/// A program of GPU tests: it reads the kernels in the folders that the variables name.
const TESTS: &str = r#"for folder in "$TILEPIPE_PTX_DIR" "$TILEPIPE_TEST_PTX_DIR/kernels"; do
    [ -e "$folder/k.two.0.ptx" ] && [ -e "$folder/k.two.0.sm_90.cubin" ] || exit 1
done"#;
/// `tilepipe-bench`: whatever is named must be there, and the record is written.
const BENCH: &str = r#"case $1 in measure | launches | merge) shift ;; *) exit 1 ;; esac
while [ $# -gt 0 ]; do
    case $1 in
    --module) [ -s "$2/toolchain.txt" ] && [ -e "$2/k.one.ptx" ] && [ -e "$2/k.one.sm_90.cubin" ] || exit 1; shift 2 ;;
    --twins) [ -e "$2/k.one.ptx" ] && [ -e "$2/k.one.sm_90.cubin" ] || exit 1; shift 2 ;;
    --peers) [ -e "$2/peers.ptx" ] && [ -e "$2/peers.sm_90.cubin" ] && [ -s "$2/versions.txt" ] || exit 1; shift 2 ;;
    --output) echo measured >"$2" || exit 1; shift 2 ;;
    --torch) [ -s "$2" ] || exit 1; shift 2 ;;
    --kernel) shift 2 ;;
    --bare) shift ;;
    --launches) [ -s "$2" ] || exit 1; shift 2 ;;
    *.json) [ -s "$1" ] || exit 1; shift ;;
    --ceilings) [ -e "$2" ] || exit 1; shift 2 ;;
    --commit) [ "$2" = "of a test" ] || exit 1; shift 2 ;;
    --command) shift 2 ;;
    *) exit 1 ;;
    esac
done"#;
/// `nvcc -O3 ... -o TARGET SOURCE`: the source and what it and the others include must be there. It
/// has a version, and preprocesses nothing.
const NVCC: &str = r#"case $1 in
--version) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit ;;
-E) exit 1 ;;
esac
while [ "$1" != -o ]; do shift; done
[ -s "$3" ] || exit 1
cd "$(dirname "$3")"
for header in $(sed -n 's/^ *# *include *"\(.*\)".*/\1/p' *.cu *.cuh); do
    [ -s "$header" ] || { echo "no $header" >&2; exit 1; }
done
cd "$OLDPWD"
printf '#!/bin/sh\n' >"$2"
chmod +x "$2""#;
/// `python3` with PyTorch, which writes what it measured: the script and the modules of ours that
/// are imported must be there, and whatever is named.
/// With the extension for PyTorch, the wheel is installed before tests and comparison are run.
const PYTHON: &str = r#"case "$1 $2" in
'-c '*) exit 0 ;;
'-m pip')
    while [ "$1" != --target ]; do shift; done
    [ -s "$3" ] && mkdir "$2" && cp "$3" "$2"
    exit ;;
'-m unittest')
    while [ "$1" != --start-directory ]; do shift; done
    [ -s "$2/test_torch.py" ] && [ -s "$2/reference.py" ] && [ -s "$PYTHONPATH/the.whl" ]
    exit ;;
'pytorch/compare.py '*)
    [ -s "$1" ] && [ -s "$PYTHONPATH/the.whl" ] || exit 1
    [ "$2" != --json ] || echo measured >"$3"
    exit ;;
esac
[ -s "$1" ] || exit 1
cd "$(dirname "$1")"
for module in $(sed -n 's/^ *\(from\|import\) \(torch_[a-z]*\).*/\2/p' *.py); do
    [ -s "$module.py" ] || { echo "no $module" >&2; exit 1; }
done
cd "$OLDPWD"
shift
while [ $# -gt 0 ]; do
    case $1 in
    --library) [ -e "$2" ] || exit 1; shift 2 ;;
    --module) [ -e "$2/k.one.ptx" ] && [ -e "$2/k.one.sm_90.cubin" ] || exit 1; shift 2 ;;
    --commit) [ "$2" = "of a test" ] || exit 1; shift 2 ;;
    --cublaslt | --cub | --sgemm) [ -e "$2" ] || exit 1; shift 2 ;;
    --output) printf '{\n  "commit": "of a test"\n}\n' >"$2"; shift 2 ;;
    --command) shift 2 ;;
    *) exit 1 ;;
    esac
done"#;
/// `python3` without PyTorch.
const PYTHON_ALONE: &str = "exit 1";
/// `compute-sanitizer --tool TOOL ... PROGRAM ..`: racecheck finds hazards in what races alone.
const SANITIZER: &str = r#"hazards=0
case $* in *'--variant printed '*) hazards=2 ;; esac
case $3 in --*) shift 4 ;; *) shift 2 ;; esac
"$@" || exit
echo "========= RACECHECK SUMMARY: $hazards hazards displayed""#;

/// A folder of programs that say what they are called with in the file `log`, and look for what
/// they need.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Machine { folder: tempfile::tempdir().unwrap() };
        for (name, script) in [
            ("runner", RUNNER),
            ("host-tests", TESTS),
            ("kernel-tests", TESTS),
            ("bench", BENCH),
            ("bench-library", ""),
            ("nvcc", NVCC),
            ("python", PYTHON),
            ("python-alone", PYTHON_ALONE),
            ("compute-sanitizer", SANITIZER),
        ] {
            machine.program(name, script);
        }
        fs::write(machine.path("the.whl"), "a wheel").unwrap();
        for folder in ["kernels", "test-kernels", "twins"] {
            fs::create_dir(machine.path(folder)).unwrap();
            for image in ["one", "two.0"] {
                for ending in ["ptx", "ll", "sm_80.cubin", "sm_90.cubin"] {
                    fs::write(machine.path(folder).join(format!("k.{image}.{ending}")), "text").unwrap();
                }
            }
            fs::write(machine.path(folder).join("report.json"), "[]").unwrap();
            File::create(machine.path(folder).join(".lock")).unwrap();
        }
        machine
    }

    /// Makes a program, or another one in its place.
    fn program(&self, name: &str, script: &str) {
        let script = format!("#!/bin/sh\necho \"$(basename \"$0\") $*\" >>\"$LOG\"\n{script}\n");
        let make = "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"";
        made(Command::new("sh").args(["-c", make, "sh", &script]).arg(self.path(name)));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sources(&self) -> Sources {
        let tests = [("tilepipe-host", "host-tests"), ("tilepipe-tests", "kernel-tests")];
        Sources {
            runner: self.path("runner"),
            bench: self.path("bench"),
            bench_library: self.path("bench-library"),
            tests: tests.map(|(package, program)| (package.to_owned(), self.path(program))).into(),
            kernels: self.path("kernels"),
            test_kernels: self.path("test-kernels"),
            twins: self.path("twins"),
            peers: project::root().join("bench/peers"),
            wheel: Some(self.path("the.whl")),
            extension: project::root().join("examples/pytorch"),
            toolchain: "release: 1.96.0\n".to_owned(),
        }
    }

    /// Makes a bundle and returns its folder.
    fn bundle(&self, suites: &[Suite]) -> PathBuf {
        let folder = self.path("bundle");
        self.make(suites, &self.sources()).unwrap();
        folder
    }

    fn make(&self, suites: &[Suite], sources: &Sources) -> Result<()> {
        let bundle = Bundle { suites, gpu: "sm_90", commit: "of a test" };
        let copy = |from: &Path, to: &Path| {
            made(Command::new("cp").args([from, to]));
            Ok(())
        };
        bundle.make(sources, copy, &self.path("bundle")).map(|_| ())
    }

    /// Runs `run.sh` and returns its exit status, what it printed, and what was called.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        self.run_with(arguments, &[])
    }

    /// The same with other programs for some: the variable that names each, and its file.
    fn run_with(&self, arguments: &[&str], others: &[(&str, &str)]) -> (i32, String, String) {
        self.call(arguments, |command| {
            command.envs(others.iter().map(|(variable, name)| (variable, self.path(name))));
        })
    }

    /// The same with a variable that names no program.
    fn run_with_text(&self, arguments: &[&str], variable: &str, text: &str) -> (i32, String, String) {
        self.call(arguments, |command| {
            command.env(variable, text);
        })
    }

    fn call(&self, arguments: &[&str], change: impl Fn(&mut Command)) -> (i32, String, String) {
        let log = self.path("log");
        fs::write(&log, "").unwrap();
        let mut command = Command::new(self.path("bundle/run.sh"));
        command.args(arguments).env("LOG", &log).env_remove("PROCESSES");
        let tools = [("NVCC", "nvcc"), ("PYTHON", "python"), ("TILEPIPE_SANITIZER", "compute-sanitizer")];
        command.envs(tools.iter().map(|(variable, name)| (variable, self.path(name))));
        change(&mut command);
        let Output { status, stdout, stderr } = loop {
            match command.output() {
                // This process wrote `run.sh` (see `made`).
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::sleep(Duration::from_millis(1)),
                output => break output.unwrap(),
            }
        };
        let printed = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (status.code().unwrap(), printed, fs::read_to_string(log).unwrap())
    }
}

/// Has a process of its own make a file that will be run: one that this process writes may still be
/// open for it in a program that another test is just starting, and then it cannot be run ("Text
/// file busy").
fn made(by: &mut Command) {
    assert!(by.status().unwrap().success(), "{by:?}");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn machine_code_is_wanted_of_what_runs_on_the_gpu() {
    for (target, gpu, runs) in [
        ("sm_80", "sm_90", true),
        ("sm_90", "sm_90", true),
        ("sm_90", "sm_80", false),
        ("sm_90a", "sm_90", true),
        ("sm_90a", "sm_100", false),
        ("sm_80, debug", "sm_80", true),
    ] {
        assert_eq!(super::pack::runs_on(&format!(".version 8.0\n.target {target}\n"), gpu), runs, "{target} {gpu}");
    }
    assert!(super::pack::runs_on("no PTX", "sm_90"));
}

#[test]
fn the_front_knows_the_suites() {
    let here: Vec<String> =
        Suite::value_variants().iter().map(|suite| suite.to_possible_value().unwrap().get_name().to_owned()).collect();
    assert_eq!(here, SUITES);
    assert_eq!(Suite::value_variants().iter().map(|suite| suite.name()).collect::<Vec<_>>(), SUITES);
}

/// Without a compiler for device code the test prints why it is skipped, and passes.
#[test]
fn machine_code_can_be_made_for_every_architecture() {
    match toolchain::find(Some(&project::target())) {
        Ok(toolchain) if toolchain.cuda_version() >= (13, 0) => {
            let help = Command::new(toolchain.ptxas()).arg("--help").output().unwrap().stdout;
            let help = String::from_utf8(help).unwrap();
            for architecture in ARCHITECTURES {
                assert!(help.contains(&format!("'{architecture}'")), "{architecture}: {help}");
            }
        }
        Ok(toolchain) => println!("skipped: ptxas of CUDA {:?} is too old to know all", toolchain.cuda_version()),
        Err(error) => println!("skipped: {error}"),
    }
}

#[test]
fn every_command_of_a_suite_finds_what_it_needs_and_no_other_begins() {
    let machine = Machine::new();
    for (suite, commands) in COMMANDS {
        for command in ALL {
            machine.bundle(&[suite]);
            let (status, printed, called) = machine.run(&[command]);
            if commands.contains(&command) {
                assert_eq!(status, 0, "{suite:?} {command}: {printed}");
                assert!(printed.ends_with(" passed, 0 failed, 0 skipped\n"), "{suite:?} {command}: {printed}");
                assert!(!called.is_empty(), "{suite:?} {command}: {printed}");
            } else {
                assert_eq!((status, called.as_str()), (2, ""), "{suite:?} {command}: {printed}");
                assert_eq!(printed.lines().count(), 1, "{printed}");
                let (own, other) = (format!("has the suite `{}` alone", suite.name()), format!("`{command}` needs"));
                assert!(printed.contains(&own) && printed.contains(&other), "{printed}");
            }
        }
    }
}

#[test]
fn the_suite_that_an_error_names_has_the_command() {
    let machine = Machine::new();
    for (suite, commands) in COMMANDS {
        machine.bundle(&[suite]);
        for command in ALL.into_iter().filter(|command| !commands.contains(command)) {
            let (_, printed, _) = machine.run(&[command]);
            let named = printed.trim_end().rsplit_once("cargo xtask bundle --suite ").unwrap().1;
            let (_, commands) = COMMANDS.iter().find(|(suite, _)| suite.name() == named).unwrap();
            assert!(commands.contains(&command), "{printed}");
        }
    }
}

#[test]
fn a_bundle_of_all_suites_has_every_command() {
    let machine = Machine::new();
    machine.bundle(Suite::value_variants());
    for command in ALL {
        let (status, printed, _) = machine.run(&[command]);
        assert!(status == 0 && printed.ends_with(" passed, 0 failed, 0 skipped\n"), "{command}: {printed}");
    }
    let (status, printed, called) = machine.run(&["all"]);
    assert!(status == 0 && printed.ends_with(" passed, 0 failed, 0 skipped\n"), "{printed}");
    for part in [
        "--stress 10000",
        "tilepipe-host-gpu",
        "tilepipe-tests-gpu",
        "--tool racecheck",
        "measure",
        "torch_peers.py",
        "compare.py --json pytorch.json",
        "--variant",
    ] {
        assert!(called.contains(part), "{part} in {called}");
    }
    let (status, printed, called) = machine.run(&[]);
    assert_eq!((status, called.as_str()), (0, "tilepipe-run \n"), "{printed}");
}

#[test]
fn a_suite_alone_is_the_default_and_has_no_more_than_it_needs() {
    let machine = Machine::new();
    for (suite, packed, tests) in [
        (Suite::Test, "ptx test-ptx tests tilepipe-run", "tilepipe-host-gpu tilepipe-tests-gpu"),
        (Suite::Sanitize, "peers ptx test-ptx tests tilepipe-run", "tilepipe-tests-gpu"),
        (Suite::Bench, "libtilepipe_bench_c.so peers ptx tilepipe-bench twins", ""),
        (Suite::Quick, "ptx test-ptx tests tilepipe-run", "tilepipe-host-gpu"),
        (Suite::Pytorch, "pytorch", ""),
    ] {
        let folder = machine.bundle(&[suite]);
        assert_eq!(names(&folder), ["commit", ARCHIVE, "run.sh"]);
        let (status, printed, called) = machine.run(&[]);
        assert_eq!(status, 0, "{printed}");
        let (_, _, called_by_name) = machine.run(&[suite.name()]);
        // The second one compiles and calls the same; compilers run side by side.
        let sorted = |called: &str| called.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(sorted(&called), sorted(&called_by_name), "{suite:?}");
        let is_packed = |name: &String| !["commit", "run.sh", ".lock"].contains(&&**name) && !name.ends_with(".json");
        let rest: Vec<String> = names(&folder).into_iter().filter(is_packed).collect();
        assert_eq!(rest.join(" "), packed, "{suite:?}");
        if !tests.is_empty() {
            assert_eq!(names(&folder.join("tests")).join(" "), tests);
        }
        if !packed.contains("ptx ") {
            continue;
        }
        let kernels = ["k.one.ptx", "k.one.sm_90.cubin", "k.two.0.ptx", "k.two.0.sm_90.cubin"];
        let with_versions = if suite == Suite::Bench { &["toolchain.txt"][..] } else { &[] };
        let expected = [&kernels[..], with_versions].concat();
        assert_eq!(names(&folder.join("ptx")), expected, "of one architecture, and nothing else");
    }
}

#[test]
fn without_pytorch_the_comparison_with_it_is_skipped_and_says_why() {
    let machine = Machine::new();
    machine.bundle(&[Suite::Bench]);
    for (python, why) in [("python-alone", "has no PyTorch"), ("no-python", "is not installed")] {
        let (status, printed, called) = machine.run_with(&["torch"], &[("PYTHON", python)]);
        assert_eq!(status, 0, "{printed}");
        assert!(printed.contains("=== comparison with PyTorch: skipped: ") && printed.contains(why), "{printed}");
        assert!(printed.ends_with("0 passed, 0 failed, 1 skipped\n"), "{printed}");
        assert!(!called.contains("torch_peers.py") && !called.contains("nvcc"), "{called}");
    }
}

#[test]
fn without_its_wheel_or_numpy_or_pytorch_the_extension_is_skipped_and_says_why() {
    let machine = Machine::new();
    machine.make(&[Suite::Pytorch], &Sources { wheel: None, ..machine.sources() }).unwrap();
    let (status, printed, called) = machine.run(&["pytorch"]);
    assert!(status == 0 && printed.contains("its wheel could not be built"), "{printed}");
    assert!(printed.ends_with("0 passed, 0 failed, 1 skipped\n") && called.is_empty(), "{printed}");

    let folder = machine.bundle(&[Suite::Pytorch]);
    for python in ["python-alone", "no-python"] {
        let (status, printed, called) = machine.run_with(&["pytorch"], &[("PYTHON", python)]);
        assert!(status == 0 && printed.contains("has no pip or no NumPy"), "{printed}");
        assert!(printed.ends_with("0 passed, 0 failed, 1 skipped\n") && !called.contains("install"), "{printed}");
    }
    machine.program("python", &PYTHON.replacen("'-c '*) exit 0", r#"'-c '*) [ "$2" != "import torch" ]; exit"#, 1));
    let (status, printed, called) = machine.run(&["pytorch"]);
    assert!(status == 0 && printed.contains("has no PyTorch"), "{printed}");
    assert!(printed.ends_with("2 passed, 0 failed, 1 skipped\n") && !called.contains("compare.py"), "{printed}");
    assert_eq!(names(&folder.join("pytorch")), ["compare.py", "installed", "tests", "the.whl"]);
    machine.program("python", PYTHON);
    let (status, printed, called) = machine.run(&["pytorch", "--rows", "64"]);
    assert!(status == 0 && printed.ends_with("3 passed, 0 failed, 0 skipped\n"), "{printed}");
    assert!(called.contains("pytorch/compare.py --rows 64\n"), "{called}");
}

#[test]
fn cublaslt_is_a_contestant_only_where_it_was_built() {
    let machine = Machine::new();
    machine.bundle(&[Suite::Bench]);
    // No compiler: the rest is compared.
    let (status, printed, called) = machine.run_with(&["torch", "--command", "x"], &[("NVCC", "no-nvcc")]);
    assert!(status == 0 && printed.contains("1 passed, 0 failed, 0 skipped\n"), "{printed}");
    assert!(called.contains("torch_peers.py --library ./libtilepipe_bench_c.so") && !called.contains("--cublaslt"));
    assert!(called.contains("--command ./run.sh torch --command x --command x"), "{called}");
    // A compiler in a toolkit that has the header and the library.
    let toolkit = machine.path("toolkit");
    for folder in ["bin", "include", "lib64"] {
        fs::create_dir_all(toolkit.join(folder)).unwrap();
    }
    made(Command::new("cp").args([machine.path("nvcc"), toolkit.join("bin/nvcc")]));
    fs::write(toolkit.join("include/cublasLt.h"), "").unwrap();
    let with_toolkit =
        |arguments: &[&str]| machine.run_with(arguments, &[("NVCC", "toolkit/bin/nvcc"), ("CUDA_HOME", "toolkit")]);
    let (status, printed, called) = with_toolkit(&["torch"]);
    assert!(status == 0 && printed.contains("cublaslt.cu is left out: there is no libcublasLt.so"), "{printed}");
    assert!(!called.contains("--cublaslt"), "{called}");
    fs::write(toolkit.join("lib64/libcublasLt.so.13"), "").unwrap();
    let (status, printed, called) = with_toolkit(&["torch"]);
    assert!(status == 0 && printed.ends_with("1 passed, 0 failed, 0 skipped\n"), "{printed}");
    assert!(
        called.contains("libcublasLt.so.13") && called.contains("--cublaslt peers/built/libcublaslt.so"),
        "{called}"
    );
    assert!(called.contains("--cub peers/built/libcub.so"), "{called}");
}

#[test]
fn help_says_what_the_bundle_has() {
    let machine = Machine::new();
    for (suite, commands) in COMMANDS {
        let folder = machine.bundle(&[suite]);
        let (status, printed, _) = machine.run(&["help"]);
        assert_eq!(status, 0);
        assert!(printed.contains("./run.sh stress [LAUNCHES]"), "{printed}");
        assert!(
            printed.contains(&format!("with machine code for sm_90 and the suites: {}.", suite.name())),
            "{printed}"
        );
        assert!(printed.ends_with(&format!("Its commands: {} all\n", in_order(commands))), "{printed}");
        assert!(folder.join(ARCHIVE).exists(), "help unpacks nothing");
    }
    let (status, printed, called) = machine.run(&["tset"]);
    assert_eq!((status, called.as_str()), (2, ""));
    assert!(printed.contains("unknown command `tset`; choose run, quick, test"), "{printed}");
}

fn in_order(commands: &[&str]) -> String {
    ALL.into_iter().filter(|command| commands.contains(command)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_newer_bundle_in_the_same_folder_replaces_what_an_older_one_unpacked() {
    let machine = Machine::new();
    let folder = machine.bundle(&[Suite::Test]);
    assert_eq!(machine.run(&["unpack"]).0, 0);
    assert!(!folder.join(ARCHIVE).exists() && folder.join("tilepipe-run").exists());
    // As a copy over the old folder does it.
    fs::write(folder.join("ptx/k.removed.ptx"), "old").unwrap();
    fs::write(folder.join("tilepipe-run"), "old").unwrap();
    let unpacked = machine.path("unpacked");
    fs::rename(&folder, &unpacked).unwrap();
    machine.bundle(&[Suite::Test]);
    for name in names(&folder) {
        fs::copy(folder.join(&name), unpacked.join(&name)).unwrap();
    }
    fs::remove_dir_all(&folder).unwrap();
    fs::rename(&unpacked, &folder).unwrap();
    let (status, printed, _) = machine.run(&["run"]);
    assert_eq!(status, 0, "{printed}");
    assert!(!folder.join("ptx/k.removed.ptx").exists());
}

#[test]
fn two_that_begin_at_once_unpack_once() {
    let machine = Machine::new();
    let folder = machine.bundle(&[Suite::Quick]);
    let log = machine.path("log");
    let start = || {
        let mut command = Command::new(folder.join("run.sh"));
        command.arg("quick").env("LOG", &log).stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    for mut child in [start(), start(), start()] {
        assert!(child.wait().unwrap().success());
    }
    assert!(!folder.join(ARCHIVE).exists() && !folder.join(".unpacking").exists());
}

#[test]
fn an_archive_that_was_cut_off_is_an_error_and_nothing_runs() {
    let machine = Machine::new();
    let archive = machine.bundle(&[Suite::Quick]).join(ARCHIVE);
    let whole = fs::read(&archive).unwrap();
    fs::write(&archive, &whole[..whole.len() / 2]).unwrap();
    let (status, printed, called) = machine.run(&["quick"]);
    assert_eq!((status, called.as_str()), (1, ""));
    assert!(printed.contains("cannot be unpacked (see above); copy the bundle anew"), "{printed}");
    fs::write(&archive, whole).unwrap();
    assert_eq!(machine.run(&["quick"]).0, 0, "a whole one in its place is unpacked");
}

#[test]
fn what_was_not_built_is_an_error_before_the_old_bundle_goes() {
    let machine = Machine::new();
    let folder = machine.bundle(&[Suite::Test]);
    let failed = |sources: &Sources, suite| machine.make(&[suite], sources).unwrap_err().to_string();
    let error = failed(&Sources { tests: Vec::new(), ..machine.sources() }, Suite::Quick);
    assert!(error.contains("`quick` needs GPU tests that the workspace does not have"), "{error}");
    fs::remove_file(machine.path("kernels/k.one.sm_90.cubin")).unwrap();
    let error = failed(&machine.sources(), Suite::Test);
    assert!(error.contains("has 2 PTX files for sm_90 and 1 files of machine code for it"), "{error}");
    assert_eq!(names(&folder), ["commit", ARCHIVE, "run.sh"]);
}

#[test]
fn a_bundle_that_is_too_large_is_refused_with_suite_size_and_limit() {
    for (suites, what) in [
        (&[Suite::Sanitize][..], "suite sanitize has 32.5 MiB"),
        (Suite::value_variants(), "suites test, sanitize, bench, quick, pytorch has 32.5 MiB"),
    ] {
        let bundle = Bundle { suites, gpu: "sm_90", commit: "of a test" };
        assert!(bundle.check_size(LIMIT, Path::new("here")).is_ok());
        let error = bundle.check_size(LIMIT + (1 << 19), Path::new("here")).unwrap_err().to_string();
        assert_eq!(error, format!("the bundle of the {what}, and 32.0 MiB are allowed; it lies in here"));
    }
}
