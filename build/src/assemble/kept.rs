//! What a stage of the build made, kept under a hash of what went in.
//!
//! A file of the store begins with its key and a hash of what follows. One that was cut off,
//! changed or put under another name is not used, and what it should hold is made again.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::Error;
use crate::compile::cache::{self, Key};

/// What the files begin with.
const MAGIC: &str = "tilepipe-build kept 1";
/// How long a file stays that no build asks for.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a file stays that a build has left unfinished.
const UNFINISHED: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder of results, which any number of builds may use at once.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in a folder, which is made when something is kept.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Store { folder }
    }

    /// What was kept under a key, or else what `make` makes, which is kept then.
    ///
    /// A result that cannot be kept is an error: the compiled crates lie beside the store, so that
    /// a build whose store has no room or belongs to somebody else would fail at another place, or
    /// take minutes each time and nobody would know why.
    ///
    /// # Errors
    ///
    /// Those of `make`, and [`Error::Io`] with the store's folder if the result cannot be kept;
    /// nothing of it is left then.
    pub(crate) fn get(&self, key: Key, make: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<Vec<u8>, Error> {
        let key = key.finish();
        let path = self.folder.join(&key[..2]).join(&key);
        if let Some(content) = read(&path, &key) {
            return Ok(content);
        }
        let content = make()?;
        let folder = path.parent().unwrap_or(&self.folder);
        let made = std::fs::create_dir_all(folder).map_err(Error::io("create", folder));
        let mut file = header(&key, &content).into_bytes();
        file.extend_from_slice(&content);
        match made.and_then(|()| cache::write_atomically(&path, &file)) {
            Ok(()) => Ok(content),
            Err(Error::Io { reason, .. }) => Err(Error::io("keep what was built in", &self.folder)(reason)),
            Err(other) => Err(other),
        }
    }

    /// Removes what was not asked for in a month. What cannot be removed stays.
    pub(crate) fn prune(&self) {
        for folder in entries(&self.folder) {
            for file in entries(&folder) {
                let limit = if file.extension().is_some() { UNFINISHED } else { UNUSED };
                let used = std::fs::metadata(&file).and_then(|data| data.modified());
                if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > limit)) {
                    let _ = std::fs::remove_file(&file);
                }
            }
        }
    }
}

/// The content of a file, if it is whole and of this key.
fn read(path: &Path, key: &str) -> Option<Vec<u8>> {
    let mut file = std::fs::read(path).ok()?;
    let length = header(key, b"").len();
    let content = file.get(length..)?;
    if file[..length] != *header(key, content).as_bytes() {
        return None;
    }
    // So that pruning sees that it is used. It may be somebody else's file.
    let _ = std::fs::File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
    file.drain(..length);
    Some(file)
}

fn header(key: &str, content: &[u8]) -> String {
    format!("{MAGIC}\n{key}\n{}\n", cache::hash(content))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        let mut key = Key::new();
        key.add(text.as_bytes());
        key
    }

    fn the_file(folder: &Path) -> PathBuf {
        entries(&entries(folder)[0])[0].clone()
    }

    /// What the store has for `text`: `made` if that was made for it, and else what was kept.
    fn get(store: &Store, text: &str, made: &str) -> String {
        String::from_utf8(store.get(key(text), || Ok(made.as_bytes().to_vec())).unwrap()).unwrap()
    }

    #[test]
    fn a_result_is_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("kept"));
        assert_eq!(get(&store, "a", "1"), "1");
        assert_eq!(get(&store, "a", "2"), "1");
        assert_eq!(get(&store, "b", "2"), "2");
    }

    #[test]
    fn what_is_damaged_or_of_another_key_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("kept");
        let store = Store::new(folder.clone());
        assert_eq!(get(&store, "a", "one"), "one");
        let file = the_file(&folder);
        let whole = std::fs::read(&file).unwrap();
        let mut edited = whole.clone();
        *edited.last_mut().unwrap() ^= 1;
        let other = Store::new(dir.path().join("other"));
        get(&other, "b", "foreign");
        let foreign = std::fs::read(the_file(&dir.path().join("other"))).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole[..10], b"", &edited, &foreign] {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(get(&store, "a", "anew"), "anew");
            std::fs::remove_file(&file).unwrap();
            assert_eq!(get(&store, "a", "one"), "one");
        }
    }

    #[test]
    fn a_failure_keeps_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_path_buf());
        assert!(store.get(key("a"), || Err(Error::GlobalAssembly)).is_err());
        assert_eq!(get(&store, "a", "1"), "1");
    }

    #[test]
    fn a_store_that_cannot_be_written_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("kept");
        std::fs::write(&folder, "a file").unwrap();
        let store = Store::new(folder.clone());
        let error = store.get(key("a"), || Ok(Vec::new())).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot keep what was built in `{}`: ", folder.display())), "{error}");
        std::fs::remove_file(folder).unwrap();
        assert_eq!(get(&store, "a", "1"), "1");
    }

    /// Set where this program is to run with little room, to the store's folder.
    #[cfg(unix)]
    const WITHOUT_ROOM: &str = "TILEPIPE_TEST_WITHOUT_ROOM";

    #[cfg(unix)]
    #[test]
    #[ignore = "another test runs it with little room"]
    fn as_a_program_without_room() {
        if let Some(folder) = std::env::var_os(WITHOUT_ROOM) {
            println!("{}", Store::new(folder.into()).get(key("a"), || Ok(vec![7; 100_000])).unwrap_err());
        }
    }

    /// No file can have more than 16 KiB in the program, so that a part of one is written before
    /// there is no room for the rest.
    #[cfg(unix)]
    #[test]
    fn what_has_no_room_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("kept");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", "assemble::kept::tests::as_a_program_without_room", "--ignored", "--nocapture"]);
        let output = command.env(WITHOUT_ROOM, &folder).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains(&format!("cannot keep what was built in `{}`: ", folder.display())), "{output:?}");
        let files: Vec<PathBuf> = entries(&folder).iter().flat_map(|folder| entries(folder)).collect();
        assert!(files.is_empty(), "{files:?}");
        let again = Store::new(folder).get(key("a"), || Ok(vec![8; 100_000])).unwrap();
        assert_eq!(again, vec![8; 100_000]);
    }

    #[test]
    fn what_nobody_asks_for_goes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("kept"));
        get(&store, "a", "1");
        let file = the_file(&store.folder);
        store.prune();
        assert!(file.is_file());
        let set = |age: Duration| {
            std::fs::File::open(&file).unwrap().set_modified(SystemTime::now() - age - Duration::from_secs(60)).unwrap()
        };
        set(UNUSED);
        assert_eq!(get(&store, "a", "2"), "1");
        store.prune();
        assert!(file.is_file(), "it was asked for");
        set(UNUSED);
        store.prune();
        assert!(!file.exists());
    }
}
