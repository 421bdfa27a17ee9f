//! Folders that one process at a time may change.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result};

/// The file that is locked: the builder of kernels locks its folders by one of this name too.
pub const FILE: &str = ".lock";

/// Keeps a folder from other processes until it is dropped.
#[derive(Debug)]
pub struct Lock {
    // The system releases the lock when the file is closed, also when the process dies.
    _file: File,
}

impl Lock {
    /// Makes the folder if it is not there, and waits until nobody else has it.
    ///
    /// # Errors
    ///
    /// If the folder or its file cannot be made or locked.
    pub fn acquire(folder: &Path) -> Result<Self> {
        let file = open(folder)?;
        file.lock().with_context(|| cannot_lock(folder))?;
        Ok(Lock { _file: file })
    }

    /// As [`acquire`](Self::acquire), but returns `None` where somebody else has it.
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Self::acquire).
    pub fn try_acquire(folder: &Path) -> Result<Option<Self>> {
        let file = open(folder)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| cannot_lock(folder)),
        }
    }
}

fn open(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    File::create(folder.join(FILE)).with_context(|| cannot_lock(folder))
}

fn cannot_lock(folder: &Path) -> String {
    format!("cannot lock {}", folder.join(FILE).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_owner() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::acquire(&folder.path().join("a/b")).unwrap();
        assert!(Lock::try_acquire(&folder.path().join("a/b")).unwrap().is_none());
        assert!(Lock::try_acquire(&folder.path().join("a")).unwrap().is_some());
        drop(lock);
        assert!(Lock::try_acquire(&folder.path().join("a/b")).unwrap().is_some());
    }

    #[test]
    fn the_builder_locks_a_file_of_this_name() {
        let builder = include_str!("../../build/src/compile/cache.rs");
        assert!(builder.contains(&format!("dir.join(\"{FILE}\")")) && builder.contains("file.lock()"));
    }
}
