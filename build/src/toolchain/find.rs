//! Looking for a toolchain, in a fixed order.

use std::path::{Path, PathBuf};

use super::{FOLDER, LLVM_TOOLS, LlvmTools, OVERRIDE, Toolchain, cache, in_path, with_libraries};
use crate::{Error, process};

/// The least release of `ptxas`: it must know `sm_90`.
const LEAST_CUDA: (u32, u32) = (12, 0);

/// Finds the first complete toolchain: the folder that `TILEPIPE_TOOLCHAIN` names; the active Rust
/// toolchain with its `rust-src` and LLVM's tools; the folder `tilepipe-toolchain` in `target_dir`;
/// the user's own folder ([`cache`]). The last two are made by [`install`](super::install).
///
/// `ptxas` comes from the same folder, else from `CUDA_HOME`, `CUDA_PATH`, the search path or
/// `/usr/local/cuda`.
///
/// # Errors
///
/// [`Error::BadOverride`] if the variable is set and its folder incomplete; else
/// [`Error::NoToolchain`], which says what was missing at each place.
pub fn find(target_dir: Option<&Path>) -> Result<Toolchain, Error> {
    if let Some(dir) = std::env::var_os(OVERRIDE).filter(|dir| !dir.is_empty()) {
        let dir = PathBuf::from(dir);
        return installed(&dir).map_err(|missing| Error::BadOverride { dir, missing });
    }
    let folder = target_dir.map(|target_dir| target_dir.join(FOLDER));
    first(rustup(), folder.as_deref(), cache().as_deref())
}

/// The first of the active toolchain, that in a target folder, and the user's own.
pub(super) fn first(
    active: Result<Toolchain, String>,
    folder: Option<&Path>,
    cache: Option<&Path>,
) -> Result<Toolchain, Error> {
    let mut tried = Vec::new();
    match active {
        Ok(toolchain) => return Ok(toolchain),
        Err(missing) => tried.push(format!("- the active Rust toolchain: {missing}")),
    }
    let unknown = [
        format!("- an installed `{FOLDER}`: no target folder is known"),
        "- the user's cache: neither XDG_CACHE_HOME nor HOME names a folder".to_string(),
    ];
    for (dir, unknown) in [folder, cache].into_iter().zip(unknown) {
        match dir.map(|dir| (dir, installed(dir))) {
            Some((_, Ok(toolchain))) => return Ok(toolchain),
            Some((dir, Err(missing))) => tried.push(format!("- `{}`: {missing}", dir.display())),
            None => tried.push(unknown),
        }
    }
    Err(Error::NoToolchain { tried: tried.join("\n") })
}

/// The toolchain in a folder that `install` made.
///
/// # Errors
///
/// What is missing, for people.
pub(super) fn installed(dir: &Path) -> Result<Toolchain, String> {
    if !dir.is_dir() {
        return Err("there is no such folder".to_string());
    }
    let dir = dir.canonicalize().map_err(|error| error.to_string())?;
    let sysroot = dir.join("root/usr");
    let rustc = sysroot.join("bin/rustc");
    require_file(&rustc)?;
    let llvm = subfolders(&sysroot.join("lib"))
        .into_iter()
        .filter(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("llvm-")))
        .map(|folder| LlvmTools { dir: folder.join("bin"), suffix: String::new() })
        .find(|llvm| llvm.missing().is_empty())
        .ok_or_else(|| format!("no {} in root/usr/lib/llvm-*/bin", LLVM_TOOLS.join(", ")))?;
    let ptxas = subfolders(&dir.join("cuda/nvidia"))
        .into_iter()
        .map(|folder| folder.join("bin/ptxas"))
        .find(|file| file.is_file());
    let libraries =
        subfolders(&sysroot.join("lib")).into_iter().find(|folder| has_file_like(folder, "librustc_driver"));
    let parts = Parts {
        rustc,
        cargo: outer_cargo(),
        sysroot,
        llvm,
        libraries,
        ptxas: ptxas.or_else(system_ptxas).ok_or("no ptxas in cuda/nvidia/*/bin")?,
    };
    parts.into_toolchain(format!("the unpacked packages in `{}`", dir.display()))
}

/// The active Rust toolchain, with its own LLVM tools or those of the same version in the search
/// path.
fn rustup() -> Result<Toolchain, String> {
    let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    let sysroot = print(&rustc, &["--print", "sysroot"])?;
    let sysroot = PathBuf::from(sysroot.trim());
    let version = print(&rustc, &["-vV"])?;
    let host = field(&version, "host: ").ok_or("`rustc -vV` names no host")?;
    let major =
        field(&version, "LLVM version: ").and_then(|llvm| llvm.split('.').next()).ok_or("`rustc -vV` names no LLVM")?;

    let mut missing = Vec::new();
    if !sysroot.join("lib/rustlib/src/rust/library/core").is_dir() {
        missing.push("`rust-src` (rustup component add rust-src)".to_string());
    }
    let own = LlvmTools { dir: sysroot.join("lib/rustlib").join(host).join("bin"), suffix: String::new() };
    let llvm = Some(own).filter(|own| own.missing().is_empty()).or_else(|| system_llvm(major));
    if llvm.is_none() {
        missing.push(format!("{} of LLVM {major} (rustup component add llvm-tools)", LLVM_TOOLS.join(", ")));
    }
    let ptxas = system_ptxas();
    if ptxas.is_none() {
        missing.push("`ptxas` (a CUDA toolkit; CUDA_HOME may name its folder)".to_string());
    }
    let (Some(llvm), Some(ptxas), true) = (llvm, ptxas, missing.is_empty()) else {
        return Err(format!("it lacks {}", missing.join(" and ")));
    };
    let cargo = Some(sysroot.join("bin/cargo")).filter(|cargo| cargo.is_file()).unwrap_or_else(outer_cargo);
    let parts =
        Parts { rustc: sysroot.join("bin/rustc"), cargo, sysroot: sysroot.clone(), llvm, libraries: None, ptxas };
    parts.into_toolchain(format!("the Rust toolchain `{}`", sysroot.display()))
}

/// A toolchain whose versions are not yet asked for.
struct Parts {
    rustc: PathBuf,
    cargo: PathBuf,
    sysroot: PathBuf,
    llvm: LlvmTools,
    libraries: Option<PathBuf>,
    ptxas: PathBuf,
}

impl Parts {
    fn into_toolchain(self, origin: String) -> Result<Toolchain, String> {
        if !self.sysroot.join("lib/rustlib/src/rust/library/core").is_dir() {
            return Err("no library source in lib/rustlib/src/rust/library".to_string());
        }
        let ask = |program: &Path, argument: &str| {
            let output = process::run(with_libraries(program, self.libraries.as_deref()).arg(argument))
                .map_err(|e| e.to_string())?;
            if output.success {
                Ok(output.stdout)
            } else {
                Err(format!("`{} {argument}` fails: {}", program.display(), output.last_lines(3)))
            }
        };
        let rustc = ask(&self.rustc, "-vV")?;
        let opt = ask(&self.llvm.tool("opt"), "--version")?;
        let ptxas = ask(&self.ptxas, "--version")?;
        let architectures = architectures(&ask(&self.ptxas, "--help")?);
        let major = |text: &str| {
            text.split("LLVM version").nth(1)?.trim_start_matches([':', ' ']).split('.').next().map(str::to_string)
        };
        if major(&rustc) != major(&opt) {
            return Err("rustc and LLVM's tools are of different LLVM versions".to_string());
        }
        let cuda = cuda_release(&ptxas).ok_or("`ptxas --version` names no release")?;
        if cuda < LEAST_CUDA {
            return Err(format!("ptxas is of CUDA {}.{}, and 12.0 is needed", cuda.0, cuda.1));
        }
        Ok(Toolchain {
            rustc: self.rustc,
            cargo: self.cargo,
            sysroot: self.sysroot,
            llvm: self.llvm,
            libraries: self.libraries,
            ptxas: self.ptxas,
            cuda,
            architectures,
            identity: format!("{rustc}{opt}{ptxas}"),
            origin,
        })
    }
}

/// `(13, 0)` of `Cuda compilation tools, release 13.0, V13.0.88`.
fn cuda_release(version: &str) -> Option<(u32, u32)> {
    let (major, rest) = version.split_once("release ")?.1.split_once('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((major.parse().ok()?, rest[..digits].parse().ok()?))
}

/// The architectures that `ptxas --help` lists, as `'sm_90'` among others. None if it has another
/// form than it has had so far.
fn architectures(help: &str) -> Vec<String> {
    let quoted = help.split('\'').filter(|text| text.starts_with("sm_") && !text.contains(char::is_whitespace));
    let mut all: Vec<String> = quoted.map(str::to_string).collect();
    // By number: 100 stands after 90.
    let number = |one: &str| one.trim_start_matches("sm_").trim_end_matches(char::is_alphabetic).parse::<u32>();
    all.sort_by_cached_key(|one| (number(one).unwrap_or(u32::MAX), one.clone()));
    all.dedup();
    all
}

/// The cargo that runs us, else the one in the search path.
fn outer_cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// LLVM's tools of one version in the search path, as `opt-22` or as `opt`.
fn system_llvm(major: &str) -> Option<LlvmTools> {
    let path = std::env::var_os("PATH")?;
    let suffixes = [format!("-{major}"), String::new()];
    let candidates = std::env::split_paths(&path)
        .flat_map(|dir| suffixes.clone().map(|suffix| LlvmTools { dir: dir.clone(), suffix }))
        .filter(|llvm| llvm.missing().is_empty());
    for llvm in candidates {
        let version = print(&llvm.tool("opt"), &["--version"]).unwrap_or_default();
        if version.contains(&format!("LLVM version {major}.")) {
            return Some(llvm);
        }
    }
    None
}

/// `ptxas` of a CUDA toolkit on this machine.
fn system_ptxas() -> Option<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(|dir| PathBuf::from(dir).join("bin/ptxas"));
    let usual = PathBuf::from("/usr/local/cuda/bin/ptxas");
    named.chain(in_path("ptxas")).chain([usual]).find(|file| file.is_file())
}

/// The value of a `name: value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

/// What a program prints.
fn print(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = process::run(with_libraries(program, None).args(arguments)).map_err(|error| error.to_string())?;
    if output.success {
        Ok(output.stdout)
    } else {
        Err(format!("`{}` fails: {}", program.display(), output.last_lines(3)))
    }
}

fn require_file(path: &Path) -> Result<(), String> {
    if path.is_file() { Ok(()) } else { Err(format!("no `{}`", path.display())) }
}

/// The folders in a folder, sorted; none if it cannot be read.
fn subfolders(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Whether a folder has a file whose name begins so.
fn has_file_like(dir: &Path, prefix: &str) -> bool {
    let mut entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::{architectures, cuda_release, installed};

    #[test]
    fn release_is_read_from_the_version() {
        assert_eq!(cuda_release("Cuda compilation tools, release 12.8, V12.8.93\n"), Some((12, 8)));
        assert_eq!(cuda_release("nothing"), None);
    }

    #[test]
    fn architectures_are_read_from_the_help() {
        // From ptxas 13.0.
        let help = "\
        PTX for .target sm_XYa can only be compiled to GPU target sm_XYa.
        Allowed values for this option:  'compute_100','compute_100a','lto_90a','sm_100',
        'sm_100a','sm_100f','sm_75','sm_80',
        'sm_90','sm_90a'.
        Default value:  'sm_75'.
";
        assert_eq!(architectures(help), ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f"]);
        assert!(architectures("--gpu-name <gpu name>").is_empty());
    }

    #[test]
    fn an_incomplete_folder_names_what_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        assert!(installed(dir.path()).unwrap_err().contains("rustc"));
        assert!(installed(&dir.path().join("none")).unwrap_err().contains("no such folder"));
    }
}
