//! What `cargo tilepipe new` writes builds and passes outside of this repository as it is: on a
//! machine without a device compiler on the CPU, and with one its kernels are built too; of a
//! checkout's crates, and of the packages alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tilepipe_build::toolchain;

/// A workspace that `cargo tilepipe new` has written, and the environment of its user.
struct Demo {
    folder: PathBuf,
    cache: PathBuf,
    /// Whether a nightly compiler has all that the workspace's toolchain file asks for.
    nightly: bool,
    /// All of them compile into one folder, one after another.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Demo {
    fn new(inside: &Path, options: &[&str]) -> Demo {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let demo = Demo { folder: inside.join("demo"), cache: inside.join("cache"), nightly: has_nightly(), _turn };
        fs::create_dir_all(demo.cache.join("tilepipe")).unwrap();
        let output = demo.tilepipe(inside, &[&["new", "demo"], options].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        if !demo.nightly {
            // What a nightly compiler does by itself.
            println!(
                "no nightly compiler with its components: built by the default one, with its unstable features opened"
            );
            fs::remove_file(demo.folder.join("rust-toolchain.toml")).unwrap();
        }
        // The versions that this repository was tested with.
        fs::copy(root().join("Cargo.lock"), demo.folder.join("Cargo.lock")).unwrap();
        demo
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        self.run(Command::new("cargo").args(arguments).current_dir(&self.folder))
    }

    fn tilepipe(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-tilepipe"));
        self.run(command.arg("tilepipe").args(arguments).current_dir(folder))
    }

    /// Runs a command with nothing of this workspace's environment, and without a GPU.
    fn run(&self, command: &mut Command) -> Output {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let ours = text.starts_with("CARGO") && text != "CARGO_HOME";
            if ours
                || text.starts_with("RUSTC")
                || text.starts_with("RUSTUP_TOOLCHAIN")
                || text.starts_with("RUSTFLAGS")
            {
                command.env_remove(&name);
            }
        }
        command.env_remove("TILEPIPE_TOOLCHAIN").env("XDG_CACHE_HOME", &self.cache).env("CUDA_VISIBLE_DEVICES", "");
        // What does not depend on the demo's place is compiled once.
        command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo"));
        if !self.nightly {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        command.output().unwrap()
    }

    /// Does what `cargo tilepipe setup` does: it leaves a device compiler in the user's cache.
    fn set_up(&self) {
        std::os::unix::fs::symlink(toolchain(), self.cache.join("tilepipe/toolchain")).unwrap();
    }

    /// Runs the tests and the program; returns what cargo said of the program.
    fn passes(&self) -> String {
        let tests = self.cargo(&["test"]);
        assert!(tests.status.success(), "{}{}", text(&tests.stdout), text(&tests.stderr));
        let passed = "the_slope_of_a_line_is_the_same_everywhere ... ok";
        assert!(text(&tests.stdout).contains(passed), "{}", text(&tests.stdout));
        let program = self.cargo(&["run"]);
        assert!(program.status.success(), "{}", text(&program.stderr));
        assert!(text(&program.stdout).contains("100003 slopes are right on "), "{}", text(&program.stdout));
        text(&tests.stderr) + &text(&program.stderr)
    }
}

#[test]
fn a_new_workspace_passes_with_and_without_a_device_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::new(folder.path(), &["--path", root().to_str().unwrap()]);
    let doctor = text(&demo.tilepipe(&demo.folder, &["doctor"]).stdout);
    if doctor.contains("ok       device compiler") {
        println!("the machine has a device compiler of its own: only with that");
    } else {
        let said = demo.passes();
        let warning = "no kernels were built for GPUs, as this machine has no device compiler";
        assert!(said.contains(warning) && said.contains("`cargo tilepipe setup`"), "{said}");
        let report = demo.tilepipe(&demo.folder, &["report"]);
        assert!(!report.status.success() && text(&report.stderr).contains("`cargo tilepipe setup`"));
        demo.set_up();
    }

    let said = demo.passes();
    assert!(!said.contains("no kernels were built"), "{said}");
    let again = demo.cargo(&["run"]);
    assert!(again.status.success() && !text(&again.stderr).contains("Compiling"), "{}", text(&again.stderr));

    let report = demo.tilepipe(&demo.folder, &["report", "--gpu", "sm_90"]);
    assert!(report.status.success(), "{}", text(&report.stderr));
    let table = text(&report.stdout);
    let line = |name: &str| {
        let line = table.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {table}"));
        let cells = line.split(['│', '┆']).map(|cell| cell.trim().to_string());
        cells.filter(|cell| !cell.is_empty()).collect::<Vec<String>>()
    };
    for (name, threads) in [("slope__128", 128), ("slope__256", 256)] {
        let cells = line(name);
        assert_eq!(cells[1], threads.to_string(), "{table}");
        // Three stages of a tile with four neighbours on either side.
        assert_eq!(cells[4], (3 * 4 * (threads + 8)).to_string(), "{table}");
        let (blocks, warps): (u32, u32) = (cells[5].parse().unwrap(), threads / 32);
        assert!(blocks > 0 && cells[6].starts_with(&format!("{} of 64", blocks * warps)), "{table}");
    }
}

#[test]
fn a_new_workspace_passes_with_the_packages_alone() {
    let folder = tempfile::tempdir().unwrap();
    let crates = ["tilepipe", "tilepipe-macros", "tilepipe-host", "tilepipe-build"];
    let mut package = Command::new(env!("CARGO"));
    package.args(["package", "--offline", "--no-verify", "--allow-dirty", "--target-dir"]).arg(folder.path());
    package.args(crates.iter().flat_map(|name| ["--package", *name]));
    let output = package.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));

    let demo = Demo::new(folder.path(), &[]);
    demo.set_up();
    // In the place of a registry, which does not have them yet.
    let mut patch = "[patch.crates-io]\n".to_string();
    for name in crates {
        let unpacked = folder.path().join("package").join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
        let archive = unpacked.display().to_string() + ".crate";
        let mut tar = Command::new("tar");
        assert!(tar.arg("xzf").arg(archive).current_dir(folder.path().join("package")).status().unwrap().success());
        patch.push_str(&format!("{name} = {{ path = {unpacked:?} }}\n"));
    }
    fs::create_dir_all(demo.folder.join(".cargo")).unwrap();
    fs::write(demo.folder.join(".cargo/config.toml"), patch).unwrap();

    let said = demo.passes();
    assert!(!said.contains("no kernels were built"), "{said}");
    let metadata = text(&demo.cargo(&["metadata", "--format-version", "1"]).stdout);
    let inside = |path: &Path| metadata.contains(&path.display().to_string());
    assert!(inside(folder.path()) && !inside(&root().join("device")), "the packages are what was built");
}

/// Whether rustup has a nightly compiler with what the workspace asks for: it would be downloaded
/// otherwise.
fn has_nightly() -> bool {
    let mut probe = Command::new("rustc");
    probe.args(["+nightly", "--print", "sysroot"]).env_remove("RUSTUP_TOOLCHAIN");
    let Ok(output) = probe.output() else { return false };
    let sysroot = PathBuf::from(text(&output.stdout).trim());
    let tools = fs::read_dir(sysroot.join("lib/rustlib")).into_iter().flatten().flatten();
    let has_tools = tools.into_iter().any(|host| host.path().join("bin/llvm-link").is_file());
    output.status.success() && has_tools && sysroot.join("lib/rustlib/src/rust/library/core").is_dir()
}

/// The tools for GPU code that this workspace uses.
fn toolchain() -> PathBuf {
    let named = std::env::var_os(toolchain::OVERRIDE).map(PathBuf::from);
    let own = root().join("target").join(toolchain::FOLDER);
    let places = [named, Some(own), toolchain::cache()].into_iter().flatten();
    places.into_iter().find(|folder| folder.is_dir()).expect("a device compiler: `cargo xtask setup`")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
