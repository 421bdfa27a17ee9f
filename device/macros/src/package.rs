//! The package that is being compiled, as cargo tells the compiler.

use std::path::PathBuf;
use std::{env, fs};

/// The package's name and version; empty where cargo does not run the compiler.
pub(crate) fn name_and_version() -> (String, String) {
    let variable = |name| env::var(name).unwrap_or_default();
    (variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"))
}

/// The symbol of the kernel `name` of this crate: `crate$name`. PTX allows a `$`, and no Rust name
/// has one.
pub(crate) fn symbol(name: &str) -> String {
    let krate = env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| name_and_version().0);
    let krate: String = krate.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("{krate}${name}")
}

/// Whether the package's manifest does not name `tilepipe-host`, which a typed launch needs. If
/// there is no manifest to be read, nothing is said.
pub(crate) fn lacks_host() -> bool {
    let folder = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = folder.and_then(|folder| fs::read_to_string(folder.join("Cargo.toml")).ok());
    manifest.is_some_and(|manifest| !names_host(&manifest))
}

/// Whether a line of the manifest that is no comment names the crate, as a dependency or as the
/// package that one is renamed from.
fn names_host(manifest: &str) -> bool {
    manifest.lines().any(|line| !line.trim_start().starts_with('#') && line.contains("tilepipe-host"))
}

#[cfg(test)]
mod tests {
    use super::names_host;

    #[test]
    fn a_dependency_on_the_host_crate_is_found_however_it_is_written() {
        for manifest in [
            "[dependencies]\ntilepipe-host = \"0.1\"\n",
            "[target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]\ntilepipe-host = { path = \"../host\" }\n",
            "[dependencies.tilepipe-host]\nversion = \"0.1\"\n",
            "[dependencies]\ntilepipe_host = { package = \"tilepipe-host\", version = \"0.1\" }\n",
            "[dev-dependencies]\ntilepipe-host.workspace = true\n",
        ] {
            assert!(names_host(manifest), "{manifest}");
        }
        for manifest in ["[dependencies]\ntilepipe = \"0.1\"\n", "# tilepipe-host = \"0.1\"\n", ""] {
            assert!(!names_host(manifest), "{manifest}");
        }
    }
}
