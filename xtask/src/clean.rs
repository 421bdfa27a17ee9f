//! `cargo xtask clean`: removes what `cargo xtask` has built, and says what that frees.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use tilepipe_build::toolchain;

use crate::lock::{self, Lock};
use crate::project;
use crate::size::mib;

/// The options of `cargo xtask clean`.
#[derive(Args)]
pub struct Options {
    /// Also remove the compiler for device code that was fetched to target/; the next build of
    /// kernels fetches it again
    #[arg(long)]
    toolchain: bool,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// What lies in the target folder. One within another comes first.
const PLACES: [(&str, &str); 7] = [
    ("device/kept", "results of earlier builds of kernels"),
    ("device", "crates compiled for the GPU"),
    ("ptx", "the kernels' PTX and machine code"),
    ("test-ptx", "those of the tests' kernels"),
    ("run-ptx", "those of the last `cargo xtask run`"),
    ("bundle-ptx", "those of bundles"),
    ("pytorch", "the extension for Python, with what builds and tests it"),
];

/// What the folders' names begin with that `cargo xtask bundle` makes.
const BUNDLE: &str = "bundle";

/// The folders that a build of kernels, or of a bundle, locks while it works.
const LOCKED: [&str; 8] = [
    "device/sm_80",
    "ptx",
    "run-ptx",
    "run-ptx/stress",
    "test-ptx/codegen-kernels",
    "test-ptx/kernels",
    "test-ptx/twins",
    "bundle-ptx",
];

/// Removes it, and prints a line for each folder with its size, and the sum.
///
/// # Errors
///
/// A build that is under way, or what cannot be removed.
pub fn command(options: &Options) -> Result<()> {
    clean(&project::target(), options, |line| println!("{line}"))
}

fn clean(target: &Path, options: &Options, mut say: impl FnMut(&str)) -> Result<()> {
    let places = places(target, options)?;
    // Until all is done, no build begins. The locks' files stay, or else one that waits would have
    // the lock of a file that is gone, and another one that of a new file.
    let (mut held, mut kept) = (Vec::new(), Vec::new());
    for name in LOCKED {
        let folder = target.join(name);
        // A folder within one that is there may be made by a build that begins now.
        let top = folder.ancestors().take_while(|part| *part != target).last().unwrap_or(&folder);
        let (top, this) = (Place::of(target, top)?, Place::of(target, &folder)?);
        if top == Place::Folder && matches!(this, Place::Folder | Place::Missing) {
            kept.push(folder.join(lock::FILE));
            if !options.dry_run {
                let lock = Lock::try_acquire(&folder)?;
                ensure!(lock.is_some(), "a build is under way in {}; nothing was removed", folder.display());
                held.push(lock);
            }
        }
    }
    let mut counted = HashSet::new();
    let (mut all_files, mut all_bytes) = (0, 0);
    for (path, what) in places {
        match Place::of(target, &path)? {
            Place::Folder => {}
            Place::Other(what) => {
                say(&format!("{} is {what} and stays as it is", path.display()));
                continue;
            }
            Place::Missing => continue,
        }
        let (files, bytes) = measure(&path, &kept, &mut counted)?;
        if !options.dry_run {
            remove(&path, &kept).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        if files > 0 {
            say(&format!("{:>12}  {} ({what})", mib(bytes), path.display()));
        }
        (all_files, all_bytes) = (all_files + files, all_bytes + bytes);
    }
    drop(held);
    match (all_files, options.dry_run) {
        (0, _) => say("nothing to free"),
        (_, false) => say(&format!("{:>12}  freed", mib(all_bytes))),
        (_, true) => say(&format!("{:>12}  would be freed", mib(all_bytes))),
    }
    Ok(())
}

/// What lies at a path in the target folder.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Nothing, or what is in another folder: the way there has a link, or a file.
    Missing,
    /// A folder of the target folder.
    Folder,
    /// Something else, which this is.
    Other(&'static str),
}

impl Place {
    fn of(target: &Path, path: &Path) -> Result<Place> {
        let parts: Vec<&Path> = path.ancestors().take_while(|part| *part != target).collect();
        for part in parts.into_iter().rev() {
            let kind = match fs::symlink_metadata(part) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Place::Missing),
                metadata => metadata.with_context(|| format!("cannot read {}", part.display()))?.file_type(),
            };
            if !kind.is_dir() {
                let what = if kind.is_symlink() { "a symbolic link" } else { "not a folder" };
                return Ok(if part == path { Place::Other(what) } else { Place::Missing });
            }
        }
        Ok(Place::Folder)
    }
}

/// What is to be removed, with words of what it is.
fn places(target: &Path, options: &Options) -> Result<Vec<(PathBuf, &'static str)>> {
    let mut places: Vec<_> = PLACES.map(|(name, what)| (target.join(name), what)).into();
    let mut bundles = Vec::new();
    match fs::read_dir(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        entries => {
            for entry in entries.with_context(|| format!("cannot read {}", target.display()))? {
                let name = entry?.file_name();
                if is_bundle(&name.to_string_lossy()) {
                    bundles.push((target.join(name), "a bundle"));
                }
            }
        }
    }
    bundles.sort();
    places.extend(bundles);
    if options.toolchain {
        places.push((target.join(toolchain::FOLDER), "the compiler for device code"));
    }
    Ok(places)
}

/// `bundle`, `bundle-NAME` of a suite, and either with `.part` where it was not finished.
fn is_bundle(name: &str) -> bool {
    let name = name.strip_suffix(".part").unwrap_or(name);
    let suites = xtask_front::bundle::SUITES;
    name.strip_prefix(BUNDLE)
        .is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|suite| suites.contains(&suite)))
}

/// The number of files and their bytes. A file under several names counts once, and a link counts
/// as a link.
fn measure(folder: &Path, kept: &[PathBuf], counted: &mut HashSet<Identity>) -> Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let metadata = fs::symlink_metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if metadata.is_dir() {
            let (inner_files, inner_bytes) = measure(&path, kept, counted)?;
            (files, bytes) = (files + inner_files, bytes + inner_bytes);
        } else if !kept.contains(&path) && counted.insert(identity(&path, &metadata)) {
            (files, bytes) = (files + 1, bytes + metadata.len());
        }
    }
    Ok((files, bytes))
}

/// What tells a file from others, whatever its name.
#[cfg(unix)]
fn identity(_: &Path, metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}
#[cfg(unix)]
type Identity = (u64, u64);

/// What tells a file from others.
#[cfg(not(unix))]
fn identity(path: &Path, _: &Metadata) -> Identity {
    path.to_owned()
}
#[cfg(not(unix))]
type Identity = PathBuf;

/// Removes a folder, but for the files that are `kept` and the folders that they are in. Links are
/// removed, and what they name is not.
fn remove(folder: &Path, kept: &[PathBuf]) -> io::Result<()> {
    if !kept.iter().any(|file| file.starts_with(folder) && file.exists()) {
        return fs::remove_dir_all(folder);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    use std::os::unix::fs::symlink;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use tempfile::TempDir;

    const NOTHING: Options = Options { toolchain: false, dry_run: false };

    /// A target folder with files of so many KiB.
    fn target(files: &[(&str, usize)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, kib) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![1; kib << 10]).unwrap();
        }
        folder
    }

    /// What was built, and other things in the target folder.
    fn built() -> TempDir {
        target(&[
            ("device/kept/ab/abc", 1024),
            ("device/sm_80/.lock", 0),
            ("device/sm_80/deps/one", 2048),
            ("ptx/.lock", 0),
            ("ptx/k.ptx", 512),
            ("test-ptx/twins/.lock", 0),
            ("test-ptx/twins/k.ptx", 1024),
            ("run-ptx/.lock", 0),
            ("run-ptx/.work-1/k.ptx", 1024),
            ("bundle-ptx/.lock", 0),
            ("bundle-ptx/sm_90/kernels/.lock", 0),
            ("bundle-ptx/sm_90/kernels/k.ptx", 1024),
            ("bundle/run.sh", 1024),
            ("bundle-quick/run.sh", 1024),
            ("bundle-test.part/run.sh", 1024),
            ("bundles-of-mine/file", 1),
            ("debug/xtask-tools", 1),
            ("bench/bench.json", 1),
            ("tilepipe-toolchain/root/usr/bin/rustc", 4096),
        ])
    }

    /// The lines, with `T` for the target folder.
    fn cleaned(target: &Path, options: &Options) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        clean(target, options, |line| lines.push(line.replace(&*target.to_string_lossy(), "T")))?;
        Ok(lines)
    }

    /// The files that are left, by name.
    fn left(folder: &Path) -> Vec<String> {
        fn add(folder: &Path, from: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                match entry.file_type().unwrap().is_dir() {
                    true => add(&path, from, names),
                    false => names.push(path.strip_prefix(from).unwrap().display().to_string()),
                }
            }
        }
        let mut names = Vec::new();
        add(folder, folder, &mut names);
        names.sort();
        names
    }

    const LINES: [&str; 10] = [
        "     1.0 MiB  T/device/kept (results of earlier builds of kernels)",
        "     2.0 MiB  T/device (crates compiled for the GPU)",
        "     0.5 MiB  T/ptx (the kernels' PTX and machine code)",
        "     1.0 MiB  T/test-ptx (those of the tests' kernels)",
        "     1.0 MiB  T/run-ptx (those of the last `cargo xtask run`)",
        "     1.0 MiB  T/bundle-ptx (those of bundles)",
        "     1.0 MiB  T/bundle (a bundle)",
        "     1.0 MiB  T/bundle-quick (a bundle)",
        "     1.0 MiB  T/bundle-test.part (a bundle)",
        "     9.5 MiB  freed",
    ];

    #[test]
    fn what_was_built_goes_with_its_sizes_and_the_rest_stays() {
        let folder = built();
        assert_eq!(cleaned(folder.path(), &NOTHING).unwrap(), LINES);
        let others =
            ["bench/bench.json", "bundles-of-mine/file", "debug/xtask-tools", "tilepipe-toolchain/root/usr/bin/rustc"];
        let files = left(folder.path());
        let (locks, files): (Vec<_>, Vec<_>) = files.iter().partition(|name| name.ends_with(lock::FILE));
        assert_eq!(files, others);
        assert_eq!(locks.len(), LOCKED.len(), "{locks:?}");
        assert!(!folder.path().join("bundle").exists() && !folder.path().join("device/kept").exists());
        assert_eq!(cleaned(folder.path(), &NOTHING).unwrap(), ["nothing to free"]);
    }

    #[test]
    fn a_dry_run_says_the_same_and_removes_nothing() {
        let folder = built();
        let before = left(folder.path());
        let lines = cleaned(folder.path(), &Options { dry_run: true, ..NOTHING }).unwrap();
        assert_eq!(lines[..9], LINES[..9]);
        assert_eq!(lines[9..], ["     9.5 MiB  would be freed"]);
        assert_eq!(left(folder.path()), before);
    }

    #[test]
    fn the_compiler_goes_where_that_is_asked_for() {
        let folder = built();
        let lines = cleaned(folder.path(), &Options { toolchain: true, ..NOTHING }).unwrap();
        assert_eq!(lines[9], "     4.0 MiB  T/tilepipe-toolchain (the compiler for device code)");
        assert_eq!(lines[10], "    13.5 MiB  freed");
        assert!(!folder.path().join("tilepipe-toolchain").exists());
    }

    #[test]
    fn where_nothing_is_there_is_nothing_to_free_and_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        for options in [NOTHING, Options { dry_run: true, toolchain: true }] {
            assert_eq!(cleaned(folder.path(), &options).unwrap(), ["nothing to free"]);
            assert_eq!(cleaned(&folder.path().join("missing"), &options).unwrap(), ["nothing to free"]);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn links_are_not_followed() {
        let outside =
            target(&[("device/kept/ab/abc", 64), ("device/sm_80/deps/one", 64), ("rustc", 64), ("twins/k.ptx", 64)]);
        let before = left(outside.path());
        // Folders of the target folder that are links stay; links within go, and not what they
        // name.
        let folder = target(&[("ptx/k.ptx", 64), ("test-ptx/codegen-kernels/k.ptx", 64)]);
        let link = |to: &str, from: &str| symlink(outside.path().join(to), folder.path().join(from)).unwrap();
        link("device", "device");
        link("", "tilepipe-toolchain");
        link("device", "ptx/folder");
        link("rustc", "ptx/file");
        link("twins", "test-ptx/twins");
        link("nowhere", "bundle");
        let lines = cleaned(folder.path(), &Options { toolchain: true, ..NOTHING }).unwrap();
        for stays in ["device", "bundle", "tilepipe-toolchain"] {
            assert!(lines.contains(&format!("T/{stays} is a symbolic link and stays as it is")), "{lines:?}");
            assert!(folder.path().join(stays).is_symlink());
        }
        assert_eq!(left(outside.path()), before, "no lock either");
        assert!(!folder.path().join("ptx/folder").is_symlink() && !folder.path().join("test-ptx/twins").is_symlink());
        assert_eq!(lines.last().unwrap(), "     0.1 MiB  freed");
    }

    #[test]
    fn a_target_folder_that_is_a_link_itself_is_cleaned() {
        let folder = built();
        let elsewhere = tempfile::tempdir().unwrap();
        let target = elsewhere.path().join("target");
        symlink(folder.path(), &target).unwrap();
        assert_eq!(cleaned(&target, &NOTHING).unwrap(), LINES);
    }

    #[test]
    fn a_file_with_two_names_counts_once() {
        let folder = target(&[("device/sm_80/deps/one", 1024)]);
        fs::hard_link(folder.path().join("device/sm_80/deps/one"), folder.path().join("device/sm_80/one")).unwrap();
        assert_eq!(cleaned(folder.path(), &NOTHING).unwrap().last().unwrap(), "     1.0 MiB  freed");
    }

    #[test]
    fn while_a_build_is_under_way_nothing_goes() {
        let folder = built();
        let before = left(folder.path());
        for name in LOCKED {
            let lock = Lock::acquire(&folder.path().join(name)).unwrap();
            let error = cleaned(folder.path(), &NOTHING).unwrap_err().to_string();
            assert!(error.contains(&format!("/{name}; nothing was removed")), "{error}");
            drop(lock);
        }
        for made in ["run-ptx/stress", "test-ptx/codegen-kernels", "test-ptx/kernels"] {
            fs::remove_dir_all(folder.path().join(made)).unwrap();
        }
        assert_eq!(left(folder.path()), before);
    }

    #[test]
    fn a_build_that_waited_and_the_next_one_have_the_same_lock() {
        let folder = built();
        let ptx = folder.path().join("ptx");
        let first = Lock::acquire(&ptx).unwrap();
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let lock = Lock::acquire(&ptx).unwrap();
                send.send(()).unwrap();
                thread::sleep(Duration::from_millis(200));
                drop(lock);
            });
            thread::sleep(Duration::from_millis(50));
            remove(&ptx, &[ptx.join(lock::FILE)]).unwrap();
            drop(first);
            receive.recv().unwrap();
            assert!(Lock::try_acquire(&ptx).unwrap().is_none(), "the one that waited has it");
        });
    }

    #[test]
    fn bundles_are_known_by_their_names() {
        for name in ["bundle", "bundle.part", "bundle-test", "bundle-quick.part"] {
            assert!(is_bundle(name), "{name}");
        }
        for name in ["bundle-ptx", "bundles", "bundle-mine", "bundle.old", "my-bundle"] {
            assert!(!is_bundle(name), "{name}");
        }
    }

    #[test]
    fn what_builds_and_bundles_make_is_cleaned() {
        let places: Vec<PathBuf> =
            places(Path::new("missing"), &NOTHING).unwrap().into_iter().map(|(path, _)| path).collect();
        let target = project::target();
        for folder in
            [project::ptx(), project::test_ptx(), project::run_ptx(), project::bundle_ptx(), project::device()]
        {
            assert!(places.contains(&Path::new("missing").join(folder.strip_prefix(&target).unwrap())), "{folder:?}");
        }
        // The folder that crates are compiled in has the name of the processor that the builder
        // takes where none is named.
        assert!(include_str!("../../build/src/builder.rs").contains("target_cpu: \"sm_80\".to_string()"));
        for suite in [None].into_iter().chain(xtask_front::bundle::SUITES.map(Some)) {
            assert!(is_bundle(&project::bundle(suite).file_name().unwrap().to_string_lossy()), "{suite:?}");
        }
    }
}
