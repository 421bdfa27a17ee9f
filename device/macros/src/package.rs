//! The package that is being compiled, as cargo tells the compiler.

use std::env;

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
