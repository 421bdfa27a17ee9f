//! `cargo xtask bundle`: one folder that runs and tests everything on a GPU machine without Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::test::targets::{self, GPU};
use crate::{process, project, ptx};

/// The most bytes that the folder may have, so that it travels anywhere.
const LIMIT: u64 = 62 << 20;

/// What a launch needs of `target/ptx/`, which also has the kernels' LLVM IR: machine code for `sm_90`, and PTX, from which the
/// driver makes that of other GPUs.
const FOR_LAUNCH: [&str; 2] = [".ptx", ".sm_90.cubin"];

/// Makes `target/bundle/` anew.
///
/// # Errors
///
/// What could not be built or copied, or a folder over 62 MiB.
pub fn bundle() -> Result<()> {
    ptx::command()?;
    ptx::ensure_for_tests()?;
    process::run(&mut process::cargo([
        "build",
        "--release",
        "--package",
        "tilepipe-run",
        "--package",
        "tilepipe-bench",
    ]))?;
    let tests = build_tests()?;

    let folder = project::target().join("bundle");
    let partial = project::target().join("bundle.part");
    for old in [&folder, &partial] {
        if old.exists() {
            fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
    }
    create(&partial.join("tests"))?;
    copy_stripped(&project::program("release", "tilepipe-run"), &partial.join("tilepipe-run"))?;
    for (name, executable) in &tests {
        copy_stripped(executable, &partial.join("tests").join(name))?;
    }
    copy_folder(&project::ptx(), &partial.join("ptx"), is_for_launch)?;
    drop_comments(&partial.join("ptx"))?;
    copy_folder(&project::test_ptx().join("twins"), &partial.join("twins"), is_for_launch)?;
    copy_stripped(&project::program("release", "tilepipe-bench"), &partial.join("tilepipe-bench"))?;
    copy_folder(&project::root().join("bench/peers"), &partial.join("peers"), |_| true)?;
    write_script(&partial.join("run.sh"))?;
    fs::write(partial.join("commit"), commit()).context("cannot write the commit's name")?;

    let bytes = size(&partial)?;
    ensure!(
        bytes <= LIMIT,
        "the bundle in {} has {bytes} bytes, and {LIMIT} are allowed; build fewer kernel instances",
        partial.display()
    );
    fs::rename(&partial, &folder).with_context(|| format!("cannot make {}", folder.display()))?;
    println!("{}: {:.1} MiB, {} GPU test programs", folder.display(), bytes as f64 / f64::from(1 << 20), tests.len());
    Ok(())
}

/// Returns the commit that is built from, for the results that are measured; marked where the working tree differs.
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(project::root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match (git(&["rev-parse", "HEAD"]), git(&["status", "--porcelain"])) {
        (Some(head), Some(changes)) if changes.is_empty() => head,
        (Some(head), _) => format!("{head} and changes"),
        _ => "unknown".to_owned(),
    }
}

/// Builds the GPU tests of every package and returns a name and the executable of each.
fn build_tests() -> Result<Vec<(String, PathBuf)>> {
    let mut built = Vec::new();
    for target in targets::all()?.into_iter().filter(|target| target.name == GPU) {
        let package = target.package.as_str();
        let messages = process::capture(&mut process::cargo([
            "test",
            "--release",
            "--no-run",
            "--message-format=json-render-diagnostics",
            "--package",
            package,
            "--test",
            GPU,
        ]))?;
        let executable =
            messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
                let is_test = message["target"]["name"] == GPU && message["profile"]["test"] == true;
                is_test.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
            });
        let Some(executable) = executable else {
            bail!("cargo built no executable for test `{GPU}` of package `{package}`");
        };
        built.push((format!("{package}-{GPU}"), executable));
    }
    Ok(built)
}

fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}

/// Copies an executable without its symbols and line tables.
fn copy_stripped(from: &Path, to: &Path) -> Result<()> {
    process::run(Command::new("strip").arg("-o").arg(to).arg(from))
        .context("`strip` comes with the linker that Rust uses (package binutils)")
}

/// Copies the files whose names are `wanted`, and all folders.
fn copy_folder(from: &Path, to: &Path, wanted: fn(&str) -> bool) -> Result<()> {
    create(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let destination = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &destination, wanted)?;
        } else if wanted(&entry.file_name().to_string_lossy()) {
            fs::copy(entry.path(), &destination)
                .with_context(|| format!("cannot copy {} to {}", entry.path().display(), destination.display()))?;
        }
    }
    Ok(())
}

fn is_for_launch(name: &str) -> bool {
    FOR_LAUNCH.iter().any(|ending| name.ends_with(ending))
}

/// Drops comments, empty lines and needless blanks from the PTX files of a folder: half of their bytes.
fn drop_comments(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let ptx = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            fs::write(&path, shortened(&ptx)).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// PTX without comments, empty lines, and blanks around words.
fn shortened(ptx: &str) -> String {
    let mut short = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        // The text of a string is left as it is.
        if line.contains('"') {
            short.push_str(line);
        } else {
            let code = line.split("//").next().unwrap_or_default();
            let start = short.len();
            for word in code.split_whitespace() {
                if short.len() > start && !short.ends_with([',', '{', '(']) {
                    short.push(' ');
                }
                short.push_str(word);
            }
            if short.len() == start {
                continue;
            }
        }
        short.push('\n');
    }
    short
}

fn write_script(path: &Path) -> Result<()> {
    fs::write(path, include_str!("../bundle/run.sh")).with_context(|| format!("cannot write {}", path.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn ptx_keeps_its_words_and_its_strings() {
        let ptx = "// made by\n\n.visible .global .b8 x[2] = {97, 98};\n\t@%p1 bra \t$L__BB0_2; // back\n\t.file 1 \"a  // b\"\n";
        assert_eq!(
            shortened(ptx),
            ".visible .global .b8 x[2] = {97,98};\n@%p1 bra $L__BB0_2;\n\t.file 1 \"a  // b\"\n"
        );
    }
}
