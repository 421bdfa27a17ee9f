//! Running the tools, in an environment of our own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Error;
use crate::toolchain::Toolchain;

/// What a tool left behind.
pub(crate) struct Output {
    /// Whether it exited with 0.
    pub success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// Everything it printed, standard output first.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr).trim_end().to_string()
    }

    /// The last `count` lines of everything it printed.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }
}

/// Runs a command to its end and collects what it prints.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be started; a failing exit status is no error here.
pub(crate) fn run(command: &mut Command) -> Result<Output, Error> {
    let program = command.get_program().to_os_string();
    let output = command.stdin(Stdio::null()).output().map_err(Error::io("run", program.as_ref()))?;
    Ok(Output {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Runs one of LLVM's tools for the kernel crate `name` in the folder `work`, to make the file
/// `output`.
///
/// # Errors
///
/// [`Error::Llvm`] with the end of what it printed; [`Error::Io`] if it cannot be started.
pub(crate) fn llvm<A: AsRef<OsStr>>(
    toolchain: &Toolchain,
    name: &str,
    tool: &str,
    work: &Path,
    arguments: impl IntoIterator<Item = A>,
    output: &Path,
) -> Result<(), Error> {
    let result = run(toolchain.llvm(tool).current_dir(work).args(arguments).arg("-o").arg(output))?;
    if result.success {
        return Ok(());
    }
    Err(Error::Llvm { tool: tool.to_string(), name: name.to_string(), output: result.last_lines(30) })
}

/// Removes from a cargo command what an outer cargo, rustup or user has set for another build than
/// this one.
///
/// Where packages come from (`CARGO_HOME`, `CARGO_HTTP_*`, `CARGO_NET_*`, `CARGO_REGISTR*`) stays.
pub(crate) fn clean_cargo_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        if is_foreign(text) {
            command.env_remove(&name);
        }
    }
    // A wrapper from somebody's configuration file may not know the target.
    command.env("RUSTC_WRAPPER", "").env("RUSTC_WORKSPACE_WRAPPER", "").env("RUSTC_BOOTSTRAP", "1");
}

/// Whether a variable belongs to another build.
fn is_foreign(name: &str) -> bool {
    const KEPT: [&str; 4] = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR"];
    const REMOVED: [&str; 5] = ["RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTUP_TOOLCHAIN", "DEP_"];
    // Set by cargo for build scripts.
    const SCRIPT: [&str; 9] =
        ["TARGET", "HOST", "OUT_DIR", "PROFILE", "NUM_JOBS", "OPT_LEVEL", "DEBUG", "MAKEFLAGS", "MFLAGS"];
    if name.starts_with("CARGO") {
        return !KEPT.iter().any(|kept| name.starts_with(kept));
    }
    REMOVED.iter().any(|prefix| name.starts_with(prefix)) || SCRIPT.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn outer_build_is_hidden_and_user_network_kept() {
        for name in
            ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN", "TARGET"]
        {
            assert!(is_foreign(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_HTTP_PROXY", "CARGO_REGISTRIES_X_TOKEN", "RUSTUP_HOME", "PATH", "HTTPS_PROXY"]
        {
            assert!(!is_foreign(name), "{name}");
        }
    }
}
