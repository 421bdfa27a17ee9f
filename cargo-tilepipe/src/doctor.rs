//! `cargo tilepipe doctor`: what is there, what is missing, and where to get it.

use std::ffi::OsStr;
use std::process::{Command, ExitCode};

use anyhow::Result;
use tilepipe_build::toolchain;

use crate::workspace;

/// The oldest release of Rust that compiles tilepipe's crates.
const LEAST_RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// What opens the compiler's unstable features in one that is no nightly.
const BOOTSTRAP: &str = "RUSTC_BOOTSTRAP";

/// Looks at everything, and prints a line for each, with the way out where something is missing.
///
/// # Errors
///
/// None: what is missing is in the exit status.
pub fn command() -> Result<ExitCode> {
    let opened = std::env::var_os(BOOTSTRAP).is_some_and(|value| value != "0");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let [compiler, assembler] = device_compiler(toolchain::find(workspace::target_dir().as_deref()));
    let found = [host_compiler(version_of(&rustc), opened), compiler, assembler, driver(driver_version())];
    found.iter().for_each(|finding| println!("{finding}"));
    Ok(if found.iter().any(|finding| finding.state == State::Missing) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    There,
    /// It is not, and kernels cannot be built without it.
    Missing,
    /// It is not, and nothing has to be built with it.
    Absent,
}

/// What was found of one thing.
#[derive(Debug)]
struct Finding {
    state: State,
    name: &'static str,
    /// What it is, or what is wrong.
    what: String,
    /// What to do, where it is not there.
    way_out: &'static str,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = match self.state {
            State::There => "ok",
            State::Missing => "MISSING",
            State::Absent => "absent",
        };
        // Further lines stand under the first.
        write!(f, "{state:<8} {:<16} {}", self.name, self.what.replace('\n', "\n                          "))?;
        if self.state != State::There {
            write!(f, "\n                          -> {}", self.way_out)?;
        }
        Ok(())
    }
}

/// The compiler of the host program, and of the kernels for the CPU, by what `rustc -vV` says.
fn host_compiler(version: Result<String, String>, opened: bool) -> Finding {
    let finding = |state, what| Finding {
        state,
        name: "host compiler",
        what,
        way_out: "`rustup toolchain install nightly`, and a rust-toolchain.toml with `channel = \"nightly\"`, which `cargo tilepipe \
                  new` writes",
    };
    let version = match version {
        Ok(version) => version,
        Err(error) => return finding(State::Missing, error),
    };
    let Some(release) = version.lines().find_map(|line| line.strip_prefix("release: ")) else {
        return finding(State::Missing, "`rustc -vV` names no release".to_string());
    };
    let number = release.split('-').next().unwrap_or_default();
    if numbers(number) < numbers(LEAST_RUST) {
        return finding(State::Missing, format!("rustc {release} is older than {LEAST_RUST}"));
    }
    let unstable = release.contains("-nightly") || release.contains("-dev");
    match (unstable, opened) {
        (true, _) => finding(State::There, format!("rustc {release}")),
        (false, true) => finding(State::There, format!("rustc {release}, whose unstable features {BOOTSTRAP} opens")),
        (false, false) => finding(
            State::Missing,
            format!("rustc {release} is no nightly compiler, and tilepipe uses unstable features of rustc"),
        ),
    }
}

/// The compiler of the kernels for GPUs, and its assembler.
fn device_compiler(found: Result<toolchain::Toolchain, tilepipe_build::Error>) -> [Finding; 2] {
    let finding = |state, name, what| Finding {
        state,
        name,
        what,
        way_out: "`cargo tilepipe setup` installs one for all of your crates (Debian 12 or 13, no root needed); elsewhere \
                  `rustup component add rust-src llvm-tools`, and a CUDA toolkit of 12.0 or newer",
    };
    match found {
        Ok(found) => {
            let versions = found.versions().lines().map(str::trim);
            let named = versions.filter(|line| line.starts_with("rustc ") || line.contains("LLVM version "));
            let what = std::iter::once(found.origin()).chain(named).collect::<Vec<_>>().join("\n");
            let (major, minor) = found.cuda_version();
            let ptxas = format!("{} of CUDA {major}.{minor}", found.ptxas().display());
            [finding(State::There, "device compiler", what), finding(State::There, "ptxas", ptxas)]
        }
        Err(error) => {
            // The rest of the message is the way out, which stands below.
            let error = error.to_string();
            let what = error.split("\nInstall one with").next().unwrap_or_default().to_string();
            let ptxas = "it is found with the device compiler, or not at all".to_string();
            let assembler =
                Finding { way_out: "as for the device compiler", ..finding(State::Missing, "ptxas", ptxas) };
            [finding(State::Missing, "device compiler", what), assembler]
        }
    }
}

/// What runs the kernels on a GPU, by the CUDA version that it says, in thousands.
fn driver(version: Result<i32, String>) -> Finding {
    let finding = |state, what| Finding {
        state,
        name: "NVIDIA driver",
        what,
        way_out: "programs run on the CPU; for a GPU install driver 525 or newer",
    };
    match version {
        Ok(version) if version >= LEAST_DRIVER => finding(State::There, format!("CUDA {}", release(version))),
        Ok(version) => finding(State::Absent, format!("it is too old: it is for CUDA {}", release(version))),
        Err(error) => finding(State::Absent, error),
    }
}

/// The oldest driver that `tilepipe-host` opens, for CUDA 12.0.
const LEAST_DRIVER: i32 = 12_000;

/// `13.0` of 13000.
fn release(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// What a compiler says of itself.
fn version_of(rustc: &OsStr) -> Result<String, String> {
    let output = Command::new(rustc).arg("-vV").output();
    let output = output.map_err(|error| format!("cannot run `{}`: {error}", rustc.display()))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(format!("`{} -vV` fails: {error}", rustc.display()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The CUDA version that the driver supports, in thousands.
fn driver_version() -> Result<i32, String> {
    const LIBRARY: &str = "libcuda.so.1";
    // SAFETY: what the driver's library does when it is loaded has no conditions, and every program
    // that uses a GPU does it.
    let library = unsafe { libloading::Library::new(LIBRARY) };
    let library = library.map_err(|_| format!("{LIBRARY} cannot be loaded: there is no driver"))?;
    // SAFETY: `CUresult cuDriverGetVersion(int *)` is the function's type in the driver's API.
    let ask = unsafe { library.get::<unsafe extern "C" fn(*mut i32) -> i32>(b"cuDriverGetVersion\0") };
    let ask = ask.map_err(|_| format!("{LIBRARY} has no `cuDriverGetVersion`"))?;
    let mut version = 0;
    // SAFETY: it writes one integer, which is there, and may be called before the driver is
    // initialised.
    match unsafe { ask(&raw mut version) } {
        0 => Ok(version),
        error => Err(format!("{LIBRARY} does not say its version (error {error})")),
    }
}

/// A version's numbers, which compare as the versions do.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_rustc(release: &str, opened: bool) -> (State, String) {
        let version = format!("rustc {release}\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: {release}\n");
        let finding = host_compiler(Ok(version), opened);
        (finding.state, finding.to_string())
    }

    #[test]
    fn a_nightly_compiler_is_needed_or_one_that_is_opened() {
        assert_eq!(of_rustc("1.97.0-nightly", false).0, State::There);
        assert_eq!(of_rustc("1.95.0", true).0, State::There);
        for (release, opened, reason) in [
            ("1.95.0", false, "is no nightly compiler"),
            ("1.96.0-beta.3", false, "is no nightly compiler"),
            ("1.94.0-nightly", false, "is older than 1.95"),
            ("1.9.0-nightly", false, "is older than 1.95"),
        ] {
            let (state, text) = of_rustc(release, opened);
            assert_eq!(state, State::Missing, "{release}");
            assert!(text.contains(reason) && text.contains("-> `rustup toolchain install nightly`"), "{text}");
        }
        let none = host_compiler(version_of("no-such-rustc".as_ref()), false);
        assert!(none.state == State::Missing && none.what.contains("no-such-rustc"), "{none}");
    }

    #[test]
    fn a_missing_device_compiler_says_where_was_looked_and_what_to_do() {
        let tried = "- here: nothing\n- there: nothing".to_string();
        let [compiler, ptxas] = device_compiler(Err(tilepipe_build::Error::NoToolchain { tried }));
        assert_eq!([compiler.state, ptxas.state], [State::Missing; 2]);
        let text = compiler.to_string();
        for part in ["- here: nothing", "- there: nothing", "-> `cargo tilepipe setup`"] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(text.matches("cargo tilepipe setup").count(), 1, "{text}");
    }

    #[test]
    fn a_driver_is_not_needed_to_build() {
        assert_eq!(driver(Ok(13_000)).to_string(), "ok       NVIDIA driver    CUDA 13.0");
        assert_eq!(driver(Ok(12_080)).what, "CUDA 12.8");
        for one in [driver(Ok(11_080)), driver(Err("none".to_string()))] {
            assert_eq!(one.state, State::Absent);
            assert!(one.to_string().contains("programs run on the CPU"), "{one}");
        }
    }
}
