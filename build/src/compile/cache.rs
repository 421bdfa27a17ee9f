//! Doing nothing twice: keys over inputs, and outputs that are replaced whole.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use crate::Error;

/// Collects everything that the outputs depend on.
pub(crate) struct Key(Sha256);

impl Key {
    /// An empty key for the builder of these very sources (`build.rs`): which passes run, and what
    /// is checked, changes with them.
    pub(crate) fn new() -> Key {
        let mut key = Key(Sha256::new());
        key.add(concat!("tilepipe-build ", env!("TILEPIPE_BUILDER_SOURCES")).as_bytes());
        key
    }

    /// Adds one input; two inputs never run into each other.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The key as text.
    pub(crate) fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

/// A hash of bytes as text.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Keeps a folder from other builds, in this process and in others, until it is dropped.
pub(crate) struct Lock {
    // The system releases the lock when the file is closed, also when the process dies.
    _file: File,
}

impl Lock {
    /// Creates the folder if it is not there, and waits until nobody else has it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub(crate) fn acquire(dir: &Path) -> Result<Lock, Error> {
        Lock::of(&dir.join(".lock"))
    }

    /// The same by a file of that name, for a folder that is itself replaced: that file stays, and
    /// whoever waits for it waits for the right one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub(crate) fn of(path: &Path) -> Result<Lock, Error> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
        }
        let file = File::create(path).map_err(Error::io("create", path))?;
        file.lock().map_err(Error::io("lock", path))?;
        Ok(Lock { _file: file })
    }
}

/// What the names of files end with that are being written.
pub(crate) const PARTIAL: &str = ".partial";

/// Writes a file beside its place and renames it, so that a reader sees the old or the new one,
/// never a part.
///
/// # Errors
///
/// [`Error::Io`].
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<(), Error> {
    // No other thread and no other process has this name.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}-{}{PARTIAL}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let partial = path.with_file_name(name);
    let written = std::fs::write(&partial, content).map_err(Error::io("write", &partial));
    let placed = written.and_then(|()| std::fs::rename(&partial, path).map_err(Error::io("replace", path)));
    if placed.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::{Key, Lock};

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

    #[test]
    fn a_folder_has_one_owner_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _lock = Lock::acquire(dir.path()).unwrap();
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                });
            }
        });
    }
}
