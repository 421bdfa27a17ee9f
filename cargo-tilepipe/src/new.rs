//! `cargo tilepipe new`: a workspace that builds and passes as it is.
//!
//! Its files are those of the repository's `examples/standalone`, which the guide shows, under the
//! new crate's names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

/// The options of `cargo tilepipe new`.
#[derive(Args)]
pub struct Options {
    /// The folder to make; its last part is the program's name
    name: PathBuf,
    /// Depend on the crates of a checkout of tilepipe, not on the published ones
    #[arg(long, value_name = "CHECKOUT")]
    path: Option<PathBuf>,
}

/// The files and their texts. In `templates/` are links to the example's files, which `cargo
/// package` follows.
const FILES: [(&str, &str); 7] = [
    ("Cargo.toml", include_str!("../templates/Cargo.toml.in")),
    ("rust-toolchain.toml", include_str!("../templates/rust-toolchain.toml.in")),
    ("build.rs", include_str!("../templates/build.rs.in")),
    ("src/main.rs", include_str!("../templates/src/main.rs.in")),
    ("kernels/Cargo.toml", include_str!("../templates/kernels/Cargo.toml.in")),
    ("kernels/src/lib.rs", include_str!("../templates/kernels/src/lib.rs.in")),
    (".gitignore", "/target\n"),
];

/// The example's name, in the texts.
const EXAMPLE: &str = "standalone";

/// How the example depends on the crates of its repository, and the folders of these.
const DEPENDENCIES: [(&str, &str); 4] = [
    ("{ path = \"../../../device\" }", "device"),
    ("{ path = \"../../../host\" }", "host"),
    ("{ path = \"../../host\" }", "host"),
    ("{ path = \"../../build\" }", "build"),
];

/// Writes the workspace, and says what to do with it.
///
/// # Errors
///
/// A name that no crate can have, a folder that is not empty, a checkout that is none, or what
/// cannot be written.
pub fn command(options: &Options) -> Result<ExitCode> {
    let folder = &options.name;
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    check(name)?;
    let checkout = options.path.as_deref().map(checkout).transpose()?;
    if let Ok(mut entries) = fs::read_dir(folder) {
        ensure!(entries.next().is_none(), "`{}` is there and not empty: name another folder", folder.display());
    }
    for (file, text) in FILES {
        let path = folder.join(file);
        let written = fs::create_dir_all(path.parent().unwrap_or(folder))
            .and_then(|()| fs::write(&path, named(text, name, checkout.as_deref())));
        written.with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    println!(
        "created `{0}`: a program and a crate with one kernel\n\n    cd {0}\n    cargo test     # the kernel, on the CPU\n    \
         cargo run      # the program, on a GPU where there is one, else on the CPU\n\nThe kernel is {0}/kernels/src/lib.rs. For a GPU it \
         takes a device compiler: `cargo tilepipe setup` installs one, and `cargo tilepipe doctor` says what there is.",
        folder.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Names that a crate of a program cannot have: keywords, crates that are always there, those that
/// the program depends on, and what cargo makes folders of.
const RESERVED: [&str; 65] = [
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "_",
    "alloc",
    "core",
    "std",
    "test",
    "proc_macro",
    "build",
    "deps",
    "examples",
    "incremental",
    "tilepipe",
    "tilepipe_host",
    "tilepipe_build",
    "tilepipe_macros",
];

/// Checks that a program can have this name, in any folder of cargo's.
///
/// # Errors
///
/// What is wrong, and what is allowed.
fn check(name: &str) -> Result<()> {
    let allowed = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || matches!(one, '-' | '_');
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.chars().all(allowed) {
        bail!(
            "`{name}` cannot be the name of a crate: it begins with a letter, and has small letters, digits, `-` and `_`"
        );
    }
    ensure!(
        !RESERVED.contains(&identifier(name).as_str()),
        "`{name}` cannot be the name of a crate: the word is taken; choose another one, such as `my-{name}`"
    );
    Ok(())
}

/// The crate's name in Rust.
fn identifier(name: &str) -> String {
    name.replace('-', "_")
}

/// The whole path of a checkout of tilepipe.
///
/// # Errors
///
/// If it has none of the crates.
fn checkout(path: &Path) -> Result<PathBuf> {
    let whole = path.canonicalize().with_context(|| format!("there is no checkout `{}`", path.display()))?;
    for (_, folder) in DEPENDENCIES {
        let manifest = whole.join(folder).join("Cargo.toml");
        ensure!(manifest.is_file(), "`{}` is no checkout of tilepipe: it has no `{folder}/Cargo.toml`", path.display());
    }
    Ok(whole)
}

/// A text of the example under this name, and with these crates.
fn named(text: &str, name: &str, checkout: Option<&Path>) -> String {
    let text = DEPENDENCIES.iter().fold(text.to_string(), |text, (path, folder)| {
        let dependency = match checkout {
            Some(checkout) => format!("{{ path = {:?} }}", checkout.join(folder)),
            None => format!("{:?}", version()),
        };
        text.replace(path, &dependency)
    });
    // In Rust the name has another form.
    text.replace(&format!("{EXAMPLE}_"), &format!("{}_", identifier(name))).replace(EXAMPLE, name)
}

/// The version of tilepipe's crates to depend on: any that is compatible with this program's.
fn version() -> String {
    let parts: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').collect();
    let compatible = if parts[0] == "0" { &parts[..2] } else { &parts[..1] };
    compatible.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_example_is_left_but_its_texts() {
        for checkout in [None, Some(Path::new("/some/where"))] {
            for (file, text) in FILES {
                let text = named(text, "my-demo", checkout);
                assert!(!text.contains(EXAMPLE) && !text.contains("\"../"), "{file}: {text}");
            }
        }
        let of = |file: &str, checkout| {
            let (_, text) = FILES.iter().find(|(name, _)| *name == file).unwrap();
            named(text, "my-demo", checkout)
        };
        assert!(of("src/main.rs", None).contains("use my_demo_kernels::"));
        let published = of("Cargo.toml", None);
        for line in ["name = \"my-demo\"", "my-demo-kernels = { path = \"kernels\" }", "tilepipe-build = \"0.1\""] {
            assert!(published.lines().any(|one| one == line), "{line}: {published}");
        }
        let local = of("kernels/Cargo.toml", Some(Path::new("/some/where")));
        assert!(local.contains("\ntilepipe = { path = \"/some/where/device\" }\n"), "{local}");
    }

    #[test]
    fn names_that_no_crate_can_have_are_refused() {
        for name in ["demo", "my-demo", "d2", "a_b", "selfish"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for (name, reason) in [
            ("", "begins with a letter"),
            ("2d", "begins with a letter"),
            ("-a", "begins with a letter"),
            ("Demo", "small letters"),
            ("dé", "small letters"),
            ("a b", "small letters"),
            ("a.b", "small letters"),
            ("match", "the word is taken"),
            ("proc-macro", "the word is taken"),
            ("tilepipe-host", "the word is taken"),
            ("deps", "the word is taken"),
        ] {
            let error = check(name).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(&format!("`{name}`")), "{name}: {error}");
        }
    }
}
