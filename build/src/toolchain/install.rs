//! Installing a toolchain into a folder, without root.
//!
//! On Debian the distribution's own packages are downloaded and unpacked, not installed; `ptxas`
//! comes as a Python wheel. The ordinary clients (`apt-get`, `pip`) know where packages come from
//! and check them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{LLVM_TOOLS, MANIFEST, Toolchain, find};
use crate::compile::cache::Lock;
use crate::{Error, process};

/// The wheels, by what they contain. `ptxas` is held at the release that the oldest supported
/// driver (580) can load; the readers of its output may be newer.
const WHEELS: [&str; 3] = ["nvidia-cuda-nvcc==13.0.*", "nvidia-cuda-nvdisasm", "nvidia-cuda-cuobjdump"];

/// The programs of the wheels that are kept.
const CUDA_TOOLS: [&str; 3] = ["ptxas", "nvdisasm", "cuobjdump"];

/// Installs a toolchain into `dir`, where [`find`](super::find()) looks for it if `dir` is
/// [`FOLDER`](super::FOLDER) in a target folder or [`cache`](super::cache()). Does nothing if one
/// is there.
///
/// About 160 MB are downloaded and 500 MB kept. Everything is unpacked beside `dir` and renamed at
/// the end, so an interrupted installation leaves nothing that could be mistaken for a whole one.
/// While another process installs into the same folder, this one waits, and then takes what that
/// one made. `progress` gets a line before each step. Called by `cargo tilepipe setup` and
/// `cargo xtask setup`; never from a build script.
///
/// # Errors
///
/// [`Error::Install`] with the last lines of the command that failed (each is tried twice), or
/// [`Error::Io`].
pub fn install(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<Toolchain, Error> {
    install_by(dir, progress, &mut |partial, progress| {
        let packages = debian(partial, progress)?;
        Ok([packages, cuda(partial, progress)?].concat())
    })
}

/// Puts a toolchain into an empty folder; returns the names of what it is made of.
pub(super) type Unpack<'a> = &'a mut dyn FnMut(&Path, &mut dyn FnMut(&str)) -> Result<Vec<String>, Error>;

/// The same with another way to get the tools.
pub(super) fn install_by(dir: &Path, progress: &mut dyn FnMut(&str), unpack: Unpack<'_>) -> Result<Toolchain, Error> {
    let mut there = || {
        let toolchain = find::installed(dir).ok()?;
        progress("the GPU toolchain is already installed");
        Some(toolchain)
    };
    if let Some(toolchain) = there() {
        return Ok(toolchain);
    }
    let dir = std::path::absolute(dir).map_err(Error::io("find", dir))?;
    let partial = dir.with_extension("partial");
    // Without it two installations would remove each other's partial folder.
    let _lock = Lock::of(&dir.with_extension("lock"))?;
    if let Some(toolchain) = there() {
        return Ok(toolchain);
    }
    remove(&partial)?;
    create(&partial)?;
    let files = unpack(&partial, progress)?;

    progress("checking the tools");
    // The same check as every later use, before the folder gets its name.
    let checked = find::installed(&partial).map_err(|missing| Error::Install {
        step: "checking the unpacked tools".to_string(),
        output: missing,
        way_out: "Install what is missing with the system's package manager, and run this again.".to_string(),
    })?;
    let manifest = format!("{}\n\n{}", files.join("\n"), checked.versions());
    let file = partial.join(MANIFEST);
    std::fs::write(&file, manifest).map_err(Error::io("write", &file))?;
    remove(&dir)?;
    std::fs::rename(&partial, &dir).map_err(Error::io("create", &dir))?;
    find::installed(&dir).map_err(|missing| Error::BadOverride { dir, missing })
}

/// Downloads and unpacks the compiler, its library's source and LLVM's tools; returns the packages'
/// file names.
fn debian(partial: &Path, progress: &mut dyn FnMut(&str)) -> Result<Vec<String>, Error> {
    const WAY_OUT: &str = "The Debian packages `rustc-web`, `rust-web-src` and `llvm-NN` are needed (Debian 12 or 13 with \
                           the security archive, and a network). Elsewhere: `rustup component add rust-src llvm-tools`, and a \
                           CUDA toolkit.";
    let apt = partial.join("apt");
    let downloads = apt.join("debs");
    for folder in ["state/lists/partial", "cache/archives/partial", "debs"] {
        create(&apt.join(folder))?;
    }
    let configuration = apt.join("apt.conf");
    let text = format!(
        "Dir::State \"{0}/state\";\nDir::State::Lists \"{0}/state/lists\";\nDir::Cache \"{0}/cache\";\n\
         Dir::State::status \"/var/lib/dpkg/status\";\nAPT::Sandbox::User \"\";\n",
        apt.display()
    );
    std::fs::write(&configuration, text).map_err(Error::io("write", &configuration))?;
    let tool = |name: &str| {
        let mut command = Command::new(name);
        command.env("APT_CONFIG", &configuration).env("LC_ALL", "C").current_dir(&downloads);
        command
    };

    progress("reading the distribution's package lists");
    step(tool("apt-get").args(["-q", "update"]), WAY_OUT)?;
    // The names carry versions that move on, so they are read from the dependencies.
    let depends = |package: &str| -> Result<Vec<String>, Error> {
        let text = step(tool("apt-cache").args(["depends", "--important", package]), WAY_OUT)?;
        let names = text.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        Ok(names.filter(|name| !name.starts_with('<')).map(str::to_string).collect())
    };
    let mut packages = vec!["rustc-web".to_string(), "rust-web-src".to_string()];
    let mut at = 0;
    while at < packages.len() {
        for dependency in depends(&packages[at].clone())? {
            let wanted =
                ["libstd-rust-web", "libllvm", "libpfm", "libz3"].iter().any(|name| dependency.starts_with(name));
            if !wanted || packages.contains(&dependency) {
                continue;
            }
            // `libllvm22` asks for the tools `llvm-22`.
            if let Some(major) = dependency.strip_prefix("libllvm") {
                packages.push(format!("llvm-{}", major.trim_end_matches(|c: char| !c.is_ascii_digit())));
            }
            packages.push(dependency);
        }
        at += 1;
    }

    progress(&format!("downloading {}", packages.join(", ")));
    step(tool("apt-get").args(["-q", "download"]).args(&packages), WAY_OUT)?;
    let files = list(&downloads)?;
    let root = partial.join("root");
    for file in &files {
        progress(&format!("unpacking {}", name(file)));
        step(tool("dpkg-deb").arg("-x").arg(file).arg(&root), WAY_OUT)?;
    }
    remove(&apt)?;
    prune(&root)?;
    Ok(files.iter().map(|file| name(file)).collect())
}

/// Removes from the unpacked packages what a build never reads: about half.
fn prune(root: &Path) -> Result<(), Error> {
    let usr = root.join("usr");
    for folder in ["share", "libexec"] {
        remove(&usr.join(folder))?;
    }
    keep(&usr.join("bin"), |name| name == "rustc")?;
    for sources in list(&usr.join("src"))? {
        keep(&sources, |name| name == "library" || name == "COPYRIGHT" || name.starts_with("LICENSE"))?;
    }
    for folder in list(&usr.join("lib"))?.iter().filter(|folder| name(folder).starts_with("llvm-")) {
        keep(&folder.join("bin"), |name| LLVM_TOOLS.contains(&name))?;
    }
    Ok(())
}

/// Downloads and unpacks the CUDA tools; returns the wheels' file names.
fn cuda(partial: &Path, progress: &mut dyn FnMut(&str)) -> Result<Vec<String>, Error> {
    const WAY_OUT: &str = "Python 3 with pip and a network are needed; or install a CUDA toolkit of 12.0 or newer, and let \
                           CUDA_HOME name its folder.";
    let wheels = partial.join("wheels");
    let cuda = partial.join("cuda");
    create(&wheels)?;
    create(&cuda)?;
    progress(&format!("downloading {}", WHEELS.join(", ")));
    let download = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest"];
    step(Command::new("python3").args(download).arg(&wheels).args(WHEELS), WAY_OUT)?;
    let files = list(&wheels)?;
    for file in &files {
        progress(&format!("unpacking {}", name(file)));
        step(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(file).arg(&cuda), WAY_OUT)?;
    }
    remove(&wheels)?;
    for release in list(&cuda.join("nvidia"))? {
        keep(&release, |name| name == "bin")?;
        keep(&release.join("bin"), |name| CUDA_TOOLS.contains(&name))?;
        for tool in list(&release.join("bin"))? {
            make_executable(&tool)?;
        }
    }
    Ok(files.iter().map(|file| name(file)).collect())
}

/// Runs a command, a second time if it fails; returns its standard output.
fn step(command: &mut Command, way_out: &str) -> Result<String, Error> {
    let mut output = process::run(command);
    if !matches!(&output, Ok(output) if output.success) {
        std::thread::sleep(std::time::Duration::from_secs(2));
        output = process::run(command);
    }
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let typed = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let failure = |output: String| Error::Install { step: format!("`{typed}`"), output, way_out: way_out.to_string() };
    match output {
        Ok(output) if output.success => Ok(output.stdout),
        Ok(output) => Err(failure(output.last_lines(12))),
        Err(error) => Err(failure(error.to_string())),
    }
}

/// Removes everything in a folder whose name is not wanted.
fn keep(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<(), Error> {
    for path in list(dir)? {
        if !wanted(&name(&path)) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// A folder's entries, sorted.
fn list(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(dir).map_err(Error::io("read", dir))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    Ok(paths)
}

fn create(dir: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(dir).map_err(Error::io("create", dir))
}

/// Removes a file or a whole folder, if it is there; a link, not what it points to.
fn remove(path: &Path) -> Result<(), Error> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    let result = if metadata.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    result.map_err(Error::io("remove", path))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).map_err(Error::io("make executable", path))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), Error> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::step;
    use crate::Error;
    use std::process::Command;

    #[test]
    fn a_failed_step_shows_the_commands_own_words() {
        let error =
            step(Command::new("sh").args(["-c", "echo no route >&2; exit 1"]), "Check the network.").unwrap_err();
        assert!(matches!(&error, Error::Install { output, .. } if output == "no route"), "{error}");
        assert!(error.to_string().contains("Check the network."));
        let missing = step(&mut Command::new("tilepipe-no-such-program"), "").unwrap_err();
        assert!(matches!(missing, Error::Install { .. }));
    }
}
