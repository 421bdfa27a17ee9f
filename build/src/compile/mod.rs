//! Compiling the kernel crate and its dependencies, `core` included, to unoptimised bitcode.

pub(crate) mod cache;
mod hint;
pub(crate) mod rlib;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::toolchain::Toolchain;
use crate::{Error, process};

/// The compiler's name for NVIDIA GPUs.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// What is compiled and how.
pub(crate) struct Compilation<'a> {
    pub toolchain: &'a Toolchain,
    pub package: &'a Package,
    pub features: &'a [String],
    /// The kernel functions that are to have entry points; all if there are none.
    pub kernels: &'a [String],
    pub target_cpu: &'a str,
    /// Cargo's target folder for this and no other build, so that an outer cargo holds no lock on
    /// it.
    pub target_dir: &'a Path,
    /// Whether the compiler's messages are shown while it works.
    pub show: bool,
}

/// The compiled crates.
pub(crate) struct Compiled {
    /// The kernel crate's rlib.
    pub kernels: PathBuf,
    /// The rlibs of its dependencies, each before those it depends on.
    pub dependencies: Vec<PathBuf>,
    /// The device crate, if the kernel crate depends on that.
    pub device: Option<Device>,
}

/// The device crate: the dependency with a library `tilepipe` and a `runtime.ll`.
pub(crate) struct Device {
    pub manifest: PathBuf,
    /// Its rlib, which is one of the dependencies too.
    pub rlib: PathBuf,
    pub runtime: PathBuf,
}

impl Compiled {
    /// The source files of the kernel crate and of its path dependencies, from the compiler's
    /// dependency file.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let text = std::fs::read_to_string(self.kernels.with_extension("d")).unwrap_or_default();
        dependency_file(&text)
    }
}

/// The kernel crate's package, as cargo knows it.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// The package's name.
    pub name: String,
    pub version: String,
    pub manifest: PathBuf,
    pub workspace_root: PathBuf,
    /// Cargo's target folder for the package's workspace.
    pub target_dir: PathBuf,
}

impl Package {
    /// Reads the package in a folder.
    ///
    /// # Errors
    ///
    /// [`Error::NoCrate`] if there is none, or none with a library.
    pub(crate) fn read(manifest_dir: &Path, toolchain: &Toolchain) -> Result<Package, Error> {
        let manifest = manifest_dir.join("Cargo.toml");
        let no_crate = |reason: String| Error::NoCrate { manifest: manifest.clone(), reason };
        let canonical = manifest.canonicalize().map_err(|error| no_crate(error.to_string()))?;
        let mut command = toolchain.cargo();
        process::clean_cargo_environment(&mut command);
        command.env("RUSTC", toolchain.rustc()).args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--manifest-path",
        ]);
        let output = process::run(command.arg(&canonical))?;
        if !output.success {
            return Err(no_crate(output.stderr.trim().to_string()));
        }
        let metadata: Value = serde_json::from_str(&output.stdout).map_err(|error| no_crate(error.to_string()))?;
        let package = list(&metadata["packages"]).find(|package| path(&package["manifest_path"]) == canonical);
        let package = package
            .ok_or_else(|| no_crate("it is a workspace without a package; name the kernel crate's folder".into()))?;
        if !list(&package["targets"])
            .any(|target| list(&target["kind"]).any(|kind| matches!(kind.as_str(), Some("lib" | "rlib"))))
        {
            return Err(no_crate("it has no library; put the kernels into src/lib.rs".into()));
        }
        Ok(Package {
            name: package["name"].as_str().unwrap_or_default().to_string(),
            version: package["version"].as_str().unwrap_or_default().to_string(),
            manifest: canonical,
            workspace_root: path(&metadata["workspace_root"]),
            target_dir: path(&metadata["target_directory"]),
        })
    }
}

impl Compilation<'_> {
    /// Compiles; cargo decides what is out of date.
    ///
    /// # Errors
    ///
    /// [`Error::Compile`] with the compiler's messages.
    pub(crate) fn run(&self) -> Result<Compiled, Error> {
        let mut command = self.toolchain.cargo();
        process::clean_cargo_environment(&mut command);
        command
            .env("RUSTC", self.toolchain.rustc())
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags())
            .args(["rustc", "--lib", "--crate-type", "rlib", "--release", "--target", TARGET])
            .args(["-Zbuild-std=core", "-Zbuild-std-features=compiler-builtins-mem"])
            .args(["--message-format", "json-render-diagnostics", "--manifest-path"])
            .arg(&self.package.manifest)
            .arg("--target-dir")
            .arg(self.target_dir)
            .current_dir(&self.package.workspace_root)
            .stdin(Stdio::null());
        // `#[kernel]` reads it.
        match self.kernels {
            [] => command.env_remove("TILEPIPE_KERNELS"),
            kernels => command.env("TILEPIPE_KERNELS", kernels.join(",")),
        };
        for setting in [
            "opt-level=3",
            "lto=\"off\"",
            "codegen-units=1",
            "panic=\"abort\"",
            "debug=false",
            "strip=\"none\"",
            "incremental=false",
            "overflow-checks=false",
            "debug-assertions=false",
        ] {
            command.arg("--config").arg(format!("profile.release.{setting}"));
        }
        if !self.features.is_empty() {
            command.arg("--features").arg(self.features.join(","));
        }
        if self.show {
            command.stderr(Stdio::piped()).stdout(Stdio::piped());
            if std::io::stderr().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
                command.env("CARGO_TERM_COLOR", "always");
            }
        }
        let output = if self.show { run_shown(command)? } else { process::run(&mut command)? };
        if !output.success {
            let hints = hint::hints(&output.stderr);
            let shown = if self.show { "(see the messages above)\n" } else { output.stderr.as_str() };
            return Err(Error::Compile { name: self.package.name.clone(), output: format!("{shown}{hints}") });
        }
        self.collect(&output.stdout)
    }

    /// The flags for the GPU's crates alone; with `--target`, cargo keeps them from build scripts
    /// and macros.
    fn flags(&self) -> OsString {
        let mut flags: Vec<OsString> = Vec::new();
        flags.push("-Cno-prepopulate-passes".into());
        flags.push("-Cpanic=abort".into());
        flags.push(format!("-Ctarget-cpu={}", self.target_cpu).into());
        // Up to 1.96 this pass duplicates collective operations into both arms of a branch.
        flags.push("-Zmir-enable-passes=-JumpThreading".into());
        // Which function each line of a function is from, once rustc has inlined: `ir::scopes`
        // reads it, the link removes it.
        flags.push("-Cdebuginfo=line-tables-only".into());
        // The crate that a function's body is from is in its symbol: `ir::mangling` reads it.
        flags.push("-Csymbol-mangling-version=v0".into());
        // The same PTX in every folder, with the file names of panics still in it. The last match
        // wins.
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
        let library = self.toolchain.sysroot().join("lib/rustlib/src/rust");
        let folders = [
            home.map(|home| (home, "cargo")),
            Some((self.package.workspace_root.clone(), "")),
            Some((library, "/rustc")),
        ];
        for (from, to) in folders.into_iter().flatten() {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(&from);
            flag.push("=");
            flag.push(to);
            flags.push(flag);
        }
        flags.join("\u{1f}".as_ref())
    }

    /// Reads the compiled crates from cargo's messages, which come in the order of dependencies.
    fn collect(&self, messages: &str) -> Result<Compiled, Error> {
        let mut compiled = Compiled { kernels: PathBuf::new(), dependencies: Vec::new(), device: None };
        let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for message in messages.filter(|message| message["reason"] == "compiler-artifact") {
            let files = list(&message["filenames"]).map(path);
            // What the host needs, macros and build scripts, lies elsewhere.
            let rlib = files
                .into_iter()
                .find(|file| is_rlib(file) && file.components().any(|part| part.as_os_str() == TARGET));
            let Some(rlib) = rlib else { continue };
            let manifest = path(&message["manifest_path"]);
            if manifest == self.package.manifest {
                compiled.kernels = rlib;
                continue;
            }
            let runtime = manifest.with_file_name("src").join("runtime.ll");
            if message["target"]["name"] == "tilepipe" && runtime.is_file() {
                if let Some(first) = compiled.device {
                    return Err(Error::TwoDeviceCrates { first: first.manifest, second: manifest });
                }
                compiled.device = Some(Device { manifest, rlib: rlib.clone(), runtime });
            }
            compiled.dependencies.insert(0, rlib);
        }
        if compiled.kernels.as_os_str().is_empty() {
            let reason = "cargo reported no compiled library for it".to_string();
            return Err(Error::NoCrate { manifest: self.package.manifest.clone(), reason });
        }
        Ok(compiled)
    }
}

/// Runs a command whose standard error goes to the user while it works, and is collected too.
fn run_shown(mut command: std::process::Command) -> Result<process::Output, Error> {
    let program = PathBuf::from(command.get_program());
    let mut child = command.spawn().map_err(Error::io("run", &program))?;
    let messages = child.stderr.take();
    let showing = std::thread::spawn(move || {
        let mut collected = Vec::new();
        for line in
            messages.into_iter().flat_map(|messages| BufReader::new(messages).split(b'\n')).map_while(Result::ok)
        {
            collected.extend(line.iter().chain(b"\n"));
            // A user who does not listen is no reason to stop.
            let _ = std::io::stderr().write_all(&[&line[..], b"\n"].concat());
        }
        collected
    });
    let output = child.wait_with_output().map_err(Error::io("run", &program))?;
    let messages = showing.join().unwrap_or_default();
    let [stdout, stderr] = [&output.stdout, &messages].map(|text| String::from_utf8_lossy(text).into_owned());
    Ok(process::Output { success: output.status.success(), stdout, stderr })
}

fn is_rlib(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rlib")
}

fn path(value: &Value) -> PathBuf {
    PathBuf::from(value.as_str().unwrap_or_default())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The prerequisites in a dependency file: `target: file file\ with\ space`.
fn dependency_file(text: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for (_, prerequisites) in text.lines().filter_map(|line| line.split_once(": ")) {
        let mut file = String::new();
        let mut characters = prerequisites.chars().chain([' ']);
        while let Some(character) = characters.next() {
            match character {
                '\\' => file.extend(characters.next()),
                ' ' if !file.is_empty() => files.push(PathBuf::from(std::mem::take(&mut file))),
                ' ' => {}
                other => file.push(other),
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::dependency_file;
    use std::path::PathBuf;

    #[test]
    fn dependency_files_are_read() {
        let files = dependency_file("/t/libk.rlib: /a/lib.rs /a/with\\ space.rs\n");
        assert_eq!(files, [PathBuf::from("/a/lib.rs"), PathBuf::from("/a/with space.rs")]);
    }
}
