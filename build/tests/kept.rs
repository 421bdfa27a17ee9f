//! What a build makes is kept by kernel and by content, and nothing wrong comes out of what was
//! kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tilepipe_build::{Artifact, Builder, toolchain};

/// The crate with three kernels, in a folder of the test's own.
struct Crate {
    folder: tempfile::TempDir,
    toolchain: toolchain::Toolchain,
}

impl Crate {
    /// None if there is no toolchain.
    fn new() -> Option<Self> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let toolchain = toolchain::find(target.parent()).inspect_err(|error| eprintln!("SKIPPED: {error}")).ok()?;
        let folder = tempfile::tempdir_in(target).unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let manifest = std::fs::read_to_string(fixture.join("barriers/Cargo.toml")).unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), manifest + "\n[workspace]\n").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::copy(fixture.join("barriers/src/lib.rs"), folder.path().join("src/lib.rs")).unwrap();
        std::fs::copy(fixture.join("runtime.ll"), folder.path().join("runtime.ll")).unwrap();
        Some(Crate { folder, toolchain })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn builder(&self, output: &str) -> Builder {
        builder(self.folder.path(), output).toolchain(self.toolchain.clone())
    }

    /// Builds to an empty folder, so that all has to be made or to be had from what was kept.
    fn build(&self) -> Artifact {
        let _ = std::fs::remove_dir_all(self.path("output"));
        self.builder("output").build().unwrap()
    }

    fn replace(&self, old: &str, new: &str) {
        let path = self.path("src/lib.rs");
        let source = std::fs::read_to_string(&path).unwrap();
        assert!(source.contains(old));
        std::fs::write(path, source.replace(old, new)).unwrap();
    }

    /// The files of what was kept.
    fn kept(&self) -> BTreeSet<PathBuf> {
        let list = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        list(&self.path("target/kept")).iter().flat_map(|folder| list(folder)).collect()
    }
}

/// A builder for the crate in a folder, to an output folder in it.
fn builder(folder: &Path, output: &str) -> Builder {
    Builder::new(folder)
        .runtime(folder.join("runtime.ll"))
        .allow_thread_level_code()
        .architectures(["sm_80", "sm_90"])
        .target_dir(folder.join("target"))
        .output_dir(folder.join(output))
}

/// Set where this program is only to build, to the crate's folder.
const TO_BUILD: &str = "TILEPIPE_TEST_TO_BUILD";

#[test]
#[ignore = "another test runs it, and kills it"]
fn as_a_program_that_builds() {
    let Some(folder) = std::env::var_os(TO_BUILD) else { return };
    let toolchain = toolchain::find(Path::new(env!("CARGO_TARGET_TMPDIR")).parent()).unwrap();
    builder(Path::new(&folder), "killed").toolchain(toolchain).build().unwrap();
}

/// The work folders in an output folder.
fn work_folders(output: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(output).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".work-"))).collect()
}

/// The content of each file of an artifact, by its name.
fn content(artifact: &Artifact) -> BTreeMap<String, Vec<u8>> {
    let files = artifact
        .images
        .iter()
        .flat_map(|image| [&image.ptx, &image.ir].into_iter().chain(image.cubins.iter().map(|cubin| &cubin.path)));
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    files.map(|file| (name(file), std::fs::read(file).unwrap())).collect()
}

/// What is kept of each kernel: optimised IR, PTX, and machine code for two architectures.
const OF_A_KERNEL: usize = 4;

#[test]
fn a_kernel_is_made_again_if_it_changed_or_what_was_kept_is_damaged() {
    let Some(krate) = Crate::new() else { return };
    let first = krate.build();
    let names: Vec<&str> = first.images.iter().map(|image| image.name.as_str()).collect();
    assert_eq!(names, ["fixture_between_branches", "fixture_generic_twice", "fixture_in_both_arms"]);
    let (before, kept) = (content(&first), krate.kept());
    assert_eq!(kept.len(), 3 * OF_A_KERNEL);

    // A comment moves every line, and changes no kernel.
    krate.replace("//! Kernels", "//! A line more.\n//! Kernels");
    let commented = krate.build();
    assert!(!commented.fresh);
    assert_eq!((content(&commented), krate.kept()), (before.clone(), kept.clone()));

    // One kernel's body: that kernel alone.
    krate.replace("write(4)", "write(5)");
    let changed = content(&krate.build());
    assert_eq!(krate.kept().difference(&kept).count(), OF_A_KERNEL);
    let differ: BTreeSet<&str> = changed
        .iter()
        .filter(|(name, bytes)| before[*name] != **bytes)
        .map(|(name, _)| name.rsplit_once("fixture_").unwrap().1.split('.').next().unwrap())
        .collect();
    assert_eq!(differ, BTreeSet::from(["in_both_arms"]));

    // Cut off, emptied, edited, and put under each other's names.
    let all: Vec<PathBuf> = krate.kept().into_iter().collect();
    let whole: Vec<Vec<u8>> = all.iter().map(|file| std::fs::read(file).unwrap()).collect();
    for damage in 0..4 {
        for (at, file) in all.iter().enumerate() {
            let bytes = match damage {
                0 => whole[at][..whole[at].len() - 1].to_vec(),
                1 => Vec::new(),
                2 => [&whole[at][..], b"\n"].concat(),
                _ => whole[(at + 1) % whole.len()].clone(),
            };
            std::fs::write(file, bytes).unwrap();
        }
        assert_eq!(content(&krate.build()), changed, "damage {damage}");
    }

    // A build that was killed leaves such files.
    let unfinished = all[0].with_extension("1-1.partial");
    std::fs::write(&unfinished, "half").unwrap();
    assert_eq!(content(&krate.build()), changed);

    // One that is killed while it links leaves its work folder, and the next one removes it.
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "as_a_program_that_builds", "--ignored"]).env(TO_BUILD, krate.folder.path());
    let mut child = program.stdout(Stdio::null()).spawn().unwrap();
    while work_folders(&krate.path("killed")).is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(work_folders(&krate.path("killed")).len(), 1);
    assert_eq!(content(&krate.builder("killed").build().unwrap()), changed);
    assert!(work_folders(&krate.path("killed")).is_empty());

    // Two at once, with nothing kept.
    std::fs::remove_dir_all(krate.path("target/kept")).unwrap();
    let artifacts = std::thread::scope(|scope| {
        let threads = ["one", "other"].map(|output| scope.spawn(|| krate.builder(output).build().unwrap()));
        threads.map(|thread| content(&thread.join().unwrap()))
    });
    assert!(artifacts.iter().all(|artifact| *artifact == changed));

    // Without a place to keep it: one error that names the place, and the next build is right.
    std::fs::remove_dir_all(krate.path("target/kept")).unwrap();
    std::fs::write(krate.path("target/kept"), "no folder").unwrap();
    std::fs::remove_dir_all(krate.path("one")).unwrap();
    let error = krate.builder("one").build().unwrap_err().to_string();
    assert!(error.contains("cannot keep what was built in `") && error.contains("target/kept`: "), "{error}");
    std::fs::remove_file(krate.path("target/kept")).unwrap();
    assert_eq!(content(&krate.builder("one").build().unwrap()), changed);
}
