//! Making the folder of a bundle.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::sources::{BENCH_LIBRARY, Sources, TOOLCHAIN};
use super::suite::{self, Part, Suite};
use crate::process;
use crate::size::mib;
use crate::test::targets::GPU;

/// The most bytes that a bundle's folder may have, so that it travels anywhere.
pub const LIMIT: u64 = 32 << 20;

/// The archive in the folder. Programs and machine code are an eighth as large in it.
pub const ARCHIVE: &str = "packed.tar.xz";

/// What a bundle is for.
pub struct Bundle<'a> {
    /// The suites that it has.
    pub suites: &'a [Suite],
    /// The architecture of its machine code.
    pub gpu: &'a str,
    /// The commit that it is made from.
    pub commit: &'a str,
}

/// How large a bundle is.
#[derive(Debug)]
pub struct Sizes {
    /// Bytes of the folder as it travels.
    pub packed: u64,
    /// Bytes of what is in its archive.
    pub unpacked: u64,
}

impl Bundle<'_> {
    /// The names of its suites, for people.
    pub fn what(&self) -> String {
        let word = if self.suites.len() == 1 { "suite" } else { "suites" };
        format!("{word} {}", self.names(", "))
    }

    /// Replaces `folder` by the bundle. Programs are copied by `copy_program`.
    ///
    /// # Errors
    ///
    /// What cannot be copied or packed, or more than [`LIMIT`] bytes.
    pub fn make(
        &self,
        sources: &Sources,
        copy_program: fn(&Path, &Path) -> Result<()>,
        folder: &Path,
    ) -> Result<Sizes> {
        let partial = folder.with_extension("part");
        let contents = partial.join("contents");
        remove(&partial)?;
        self.gather(sources, copy_program, &contents)?;
        let unpacked = size(&contents)?;
        archive(&contents, &partial.join(ARCHIVE))?;
        remove(&contents)?;
        self.write_script(&partial.join("run.sh"))?;
        let commit = partial.join("commit");
        fs::write(&commit, self.commit).with_context(|| format!("cannot write {}", commit.display()))?;
        let packed = size(&partial)?;
        self.check_size(packed, &partial)?;
        remove(folder)?;
        fs::rename(&partial, folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Sizes { packed, unpacked })
    }

    /// Copies all that the suites need to one folder.
    fn gather(&self, sources: &Sources, copy_program: fn(&Path, &Path) -> Result<()>, to: &Path) -> Result<()> {
        let need = |part| suite::need(self.suites, part);
        create(to)?;
        if need(Part::Kernels) {
            self.copy_images(&sources.kernels, &to.join("ptx"))?;
        }
        if need(Part::Runner) {
            copy_program(&sources.runner, &to.join("tilepipe-run"))?;
        }
        if need(Part::TestKernels) {
            self.copy_images(&sources.test_kernels, &to.join("test-ptx/kernels"))?;
        }
        if need(Part::Bench) {
            copy_program(&sources.bench, &to.join("tilepipe-bench"))?;
            copy_program(&sources.bench_library, &to.join(BENCH_LIBRARY))?;
            self.copy_images(&sources.twins, &to.join("twins"))?;
            let versions = to.join("ptx").join(TOOLCHAIN);
            fs::write(&versions, &sources.toolchain).with_context(|| format!("cannot write {}", versions.display()))?;
        }
        if need(Part::Peers) {
            copy_files(&sources.peers, &to.join("peers"), |_| true)?;
        }
        if need(Part::Wheel) {
            let extension = to.join("pytorch");
            copy_files(&sources.extension.join("tests"), &extension.join("tests"), |name| name.ends_with(".py"))?;
            copy_files(&sources.extension, &extension, |name| name == "compare.py")?;
            // Without it the command says so.
            if let Some(wheel) = &sources.wheel {
                let from = wheel.parent().context("a wheel in a folder")?;
                copy_files(from, &extension, |name| wheel.ends_with(name))?;
            }
        }
        for suite in self.suites {
            for part in suite.parts() {
                ensure!(
                    sources.tests.iter().any(|(package, _)| part.has_tests_of(package)) || !part.is_tests(),
                    "the suite `{}` needs GPU tests that the workspace does not have",
                    suite.name()
                );
            }
        }
        let tests = to.join("tests");
        for (package, program) in &sources.tests {
            if suite::need_tests_of(self.suites, package) {
                create(&tests)?;
                copy_program(program, &tests.join(format!("{package}-{GPU}")))?;
            }
        }
        Ok(())
    }

    /// Copies PTX, from which the driver makes machine code of other GPUs, and machine code for the
    /// one that this is for. All of a folder: a launch of what is missing would fail on the GPU
    /// machine only.
    fn copy_images(&self, from: &Path, to: &Path) -> Result<()> {
        // Kernels with instructions of this architecture alone have code for `sm_90a`, say.
        let endings = ["", "a"].map(|suffix| format!(".{}{suffix}.cubin", self.gpu));
        copy_files(from, to, |name| name.ends_with(".ptx"))?;
        let codes = copy_files(from, to, |name| endings.iter().any(|ending| name.ends_with(ending)))?;
        let mut texts = 0;
        for path in files(to)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "ptx")) {
            let ptx = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            texts += usize::from(runs_on(&ptx, self.gpu));
        }
        ensure!(
            texts > 0 && texts == codes,
            "{} has {texts} PTX files for {} and {codes} files of machine code for it",
            from.display(),
            self.gpu
        );
        Ok(())
    }

    fn write_script(&self, path: &Path) -> Result<()> {
        let mut script = include_str!("../../bundle/run.sh").to_owned();
        for (place, value) in [("@SUITES@", self.names(" ")), ("@GPU@", self.gpu.to_owned())] {
            ensure!(script.matches(place).count() == 1, "run.sh has not one place `{place}`");
            script = script.replace(place, &value);
        }
        fs::write(path, script).with_context(|| format!("cannot write {}", path.display()))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))
                .with_context(|| format!("cannot make {} executable", path.display()))?;
        }
        Ok(())
    }

    pub(super) fn check_size(&self, bytes: u64, folder: &Path) -> Result<()> {
        ensure!(
            bytes <= LIMIT,
            "the bundle of the {} has {}, and {} are allowed; it lies in {}",
            self.what(),
            mib(bytes),
            mib(LIMIT),
            folder.display()
        );
        Ok(())
    }

    fn names(&self, between: &str) -> String {
        self.suites.iter().map(|suite| suite.name()).collect::<Vec<_>>().join(between)
    }
}

/// Whether PTX is for an architecture, or for an older one whose code runs on it.
pub(super) fn runs_on(ptx: &str, gpu: &str) -> bool {
    let target = ptx.lines().find_map(|line| line.strip_prefix(".target "));
    let target = target.and_then(|target| target.split(',').next()).unwrap_or_default().trim();
    let number = |name: &str| name.strip_prefix("sm_").and_then(|number| number.parse::<u32>().ok());
    match (target.strip_suffix(['a', 'f']), number(gpu)) {
        (Some(alone), gpu) => number(alone) == gpu,
        // What says nothing of itself is no reason to leave machine code out.
        (None, gpu) => number(target) <= gpu,
    }
}

/// Copies a program or a library without the symbols that nobody links with, and without line
/// tables.
///
/// # Errors
///
/// Those of `strip`.
pub fn copy_stripped(from: &Path, to: &Path) -> Result<()> {
    process::run(Command::new("strip").arg("-o").arg(to).arg(from))
        .context("`strip` comes with the linker that Rust uses (package binutils)")
}

/// Packs what is in a folder.
fn archive(folder: &Path, to: &Path) -> Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        names.push(entry?.file_name());
    }
    names.sort();
    // More effort takes much longer, and makes little of it.
    let compressed = ["--use-compress-program", "xz -2 -T0", "-cf"];
    process::run(Command::new("tar").args(compressed).arg(to).arg("-C").arg(folder).args(names))
        .context("`tar` and `xz` pack the bundle")
}

fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// Copies the files of a folder whose names are `wanted`, and returns how many they are.
fn copy_files(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<usize> {
    create(to)?;
    let mut copied = 0;
    for path in files(from)? {
        let name = path.file_name().unwrap_or_default();
        if wanted(&name.to_string_lossy()) {
            let copy = to.join(name);
            fs::copy(&path, &copy).with_context(|| format!("cannot copy {} to {}", path.display(), copy.display()))?;
            copied += 1;
        }
    }
    Ok(copied)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
