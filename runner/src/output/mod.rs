//! Files that are replaced whole or not at all.
//!
//! The content is written to a partial file beside the final one, which then takes its place in one
//! step. The partial file is removed if that fails, and if SIGINT, SIGTERM or SIGHUP ends the
//! program. SIGKILL leaves it.

use std::collections::BTreeSet;
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf, is_separator};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// How many symbolic links are followed, as many as Linux follows.
const LINKS: usize = 40;

/// A file that is not whole yet.
pub struct Partial {
    file: NamedTempFile,
    /// Where it belongs.
    to: PathBuf,
}

/// The partial files of this process.
struct Files {
    paths: BTreeSet<PathBuf>,
    /// Whether signals remove them.
    are_watched: bool,
}

static FILES: Mutex<Files> = Mutex::new(Files { paths: BTreeSet::new(), are_watched: false });

impl Partial {
    /// Creates an empty file beside the one that `path` names, or that the symbolic links from
    /// there lead to. Its own name ends in `.part`.
    ///
    /// # Errors
    ///
    /// If that is no regular file and not a new one, or if its folder cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let to = destination(path)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tilepipe-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The usual permissions of a new file (less the umask), not those of a private
            // temporary one.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        // While the lock is held, no signal ends the program: the file is listed before.
        let mut files = files();
        if !files.are_watched {
            #[cfg(unix)]
            signals::watch()?;
            files.are_watched = true;
        }
        let file = builder.tempfile_in(folder(&to))?;
        files.paths.insert(file.path().to_owned());
        Ok(Self { file, to })
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Puts the file, which is whole now, in its place.
    ///
    /// # Errors
    ///
    /// If it cannot be written or moved. It is removed then, and what is in its place stays.
    pub fn put(self) -> io::Result<()> {
        let path = self.file.path().to_owned();
        // Some file systems report only now that there was no room.
        let put = self.file.as_file().sync_data().and_then(|()| Ok(self.file.persist(&self.to)?));
        files().paths.remove(&path);
        put.map(drop)
    }
}

/// Whether two paths name one file, by way of symbolic or hard links too. A file that is not there
/// is no other's.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    let identity = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
    };
    #[cfg(not(unix))]
    let identity = |path: &Path| path.canonicalize().ok();
    identity(one).is_some_and(|file| identity(other) == Some(file))
}

/// The regular file that a path leads to over symbolic links, or the place for a new one.
fn destination(path: &Path) -> io::Result<PathBuf> {
    if path.file_name().is_none() || path.to_string_lossy().ends_with(is_separator) {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    let check = |file: FileType| if file.is_file() { Ok(()) } else { Err(io::Error::other(refusal(file))) };
    // Some links of /proc lead to what has no path.
    if let Ok(metadata) = fs::metadata(path) {
        check(metadata.file_type())?;
    }
    let mut path = path.to_owned();
    for _ in 0..=LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => path = folder(&path).join(fs::read_link(&path)?),
            Ok(metadata) => return check(metadata.file_type()).map(|()| path),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("it is a symbolic link that leads to itself"))
}

/// Why what is no regular file is not replaced.
fn refusal(file: FileType) -> String {
    #[cfg(unix)]
    use std::os::unix::fs::FileTypeExt;
    let what = match file {
        file if file.is_dir() => "folder",
        #[cfg(unix)]
        file if file.is_fifo() => "FIFO",
        #[cfg(unix)]
        file if file.is_socket() => "socket",
        #[cfg(unix)]
        file if file.is_char_device() || file.is_block_device() => "device",
        _ => "special file",
    };
    format!("it is a {what}, and only a regular file is replaced")
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
mod signals {
    use std::ffi::c_int;
    use std::{fs, io, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Starts a thread that removes all partial files when a signal ends the program.
    pub fn watch() -> io::Result<()> {
        let ignored = ignored();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].iter().filter(|signal| !ignored(**signal)))?;
        let end = move || {
            if let Some(signal) = signals.forever().next() {
                // The lock is kept to the end, so that no file is created any more.
                let files = super::files();
                for path in &files.paths {
                    let _ = fs::remove_file(path);
                }
                let _ = emulate_default_handler(signal);
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(end).map(drop)
    }

    /// Says which signals the program was started to ignore, as `nohup` does with SIGHUP and a
    /// shell with SIGINT of what it runs in the background. Nothing is known without Linux's /proc.
    fn ignored() -> impl Fn(c_int) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        move |signal| mask >> (signal - 1) & 1 == 1
    }
}
