//! Doing nothing twice: keys over inputs, and outputs that are replaced whole.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::Error;

/// Collects everything that the outputs depend on.
pub(crate) struct Key(Sha256);

impl Key {
    /// An empty key for this version of the builder.
    pub(crate) fn new() -> Key {
        let mut key = Key(Sha256::new());
        key.add(concat!("tilepipe-build ", env!("CARGO_PKG_VERSION"), " format 1").as_bytes());
        key
    }

    /// Adds one input; two inputs never run into each other.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The key as text.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Writes a file beside its place and renames it, so that a reader sees the old or the new one, never a part.
///
/// # Errors
///
/// [`Error::Io`].
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    std::fs::write(&partial, content).map_err(Error::io("write", &partial))?;
    std::fs::rename(&partial, path).map_err(Error::io("replace", path))
}

#[cfg(test)]
mod tests {
    use super::Key;

    fn key(inputs: &[&str]) -> String {
        let mut key = Key::new();
        inputs.iter().for_each(|input| key.add(input.as_bytes()));
        key.finish()
    }

    #[test]
    fn inputs_do_not_run_into_each_other() {
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
        assert_ne!(key(&["ab", ""]), key(&["a", "b"]));
    }
}
