//! Writing results: to standard output, and to files that are there in full or not at all.

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use tempfile::NamedTempFile;

use crate::error::{Error, ErrorKind, Result};
use crate::progress;

/// Writes to standard output. A reader that has gone away is [`ErrorKind::OutputClosed`].
pub fn print(bytes: impl AsRef<[u8]>) -> Result<()> {
    print_with(|| io::stdout().write_all(bytes.as_ref()))
}

/// The same for a function that writes to standard output itself.
pub fn print_with(write: impl FnOnce() -> io::Result<()>) -> Result<()> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(cannot_print("it is closed"));
    }
    let written = progress::aside(|| write().and_then(|()| io::stdout().flush()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Error::new(ErrorKind::OutputClosed, ""),
        _ => cannot_print(&error.to_string()),
    })
}

fn cannot_print(reason: &str) -> Error {
    Error::input(format!("cannot write to standard output: {reason}"))
}

/// True if the process was started without standard output. Rust opens `/dev/null` in its place
/// before `main`, so it must be asked earlier.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

#[used]
#[unsafe(link_section = ".init_array")]
static ASK: extern "C" fn() = {
    extern "C" fn ask() {
        // SAFETY: asks for the flags of a number that may be no file.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        WAS_CLOSED.store(flags < 0, Ordering::Relaxed);
    }
    ask
};

/// Writes a file of `bytes`; `-` is standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return print(bytes);
    }
    write_with(path, |file| file.write_all(bytes))
}

/// Writes a file with `contents`. Until all of it is written it has another name in the same
/// directory, and it goes if that fails or is interrupted. Links stay and lead to the new file.
/// What is no ordinary file (a pipe, a device) and what the process has open already
/// (`/dev/stdout`) is written directly.
pub fn write_with(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| cannot_write(path, &error);
    let target = match Target::new(path)? {
        Target::File(target) => target,
        other => {
            let mut file = BufWriter::new(other.open().map_err(failed)?);
            let written = contents(&mut file).and_then(|()| file.flush());
            return written.map_err(failed);
        }
    };
    let temporary = Temporary::beside(&target).map_err(failed)?;
    let mut file = BufWriter::new(temporary.file.as_file());
    contents(&mut file)
        .and_then(|()| file.flush())
        .map_err(failed)?;
    drop(file);
    temporary.become_file(&target).map_err(failed)
}

/// Fails as [`write()`] would, without changing anything: to be asked before a long computation.
pub fn check_writable(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let tried = match Target::new(path)? {
        Target::File(target) => Temporary::beside(&target).map(drop),
        Target::Special(pipe) if is_pipe(&pipe) => is_permitted(&pipe),
        other => other.open().map(drop),
    };
    tried.map_err(|error| cannot_write(path, &error))
}

/// A pipe's reader has all there is to read when the pipe is closed, so that it is opened once only.
fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|existing| existing.file_type().is_fifo())
}

/// Asks whether the process may write what is there, without opening it.
fn is_permitted(path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the name is a C string.
    match unsafe { libc::access(name.as_ptr(), libc::W_OK) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Fails where bytes that are no text would go to a terminal, which they may leave unusable: `what` names them.
pub fn expect_no_terminal(path: &Path, what: &str) -> Result<()> {
    match is_terminal(path) {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "{what} is no text, and is not written to a terminal: expected -o FILE, or a pipe"
        ))),
    }
}

fn is_terminal(path: &Path) -> bool {
    if path == Path::new("-") {
        return io::stdout().is_terminal();
    }
    let is_device = |path: &Path| {
        fs::metadata(path).is_ok_and(|existing| existing.file_type().is_char_device())
    };
    match Target::new(path) {
        Ok(Target::File(_)) | Err(_) => false,
        // A pipe is opened once only.
        Ok(Target::Special(path)) if !is_device(&path) => false,
        Ok(other) => other.open().is_ok_and(|file| file.is_terminal()),
    }
}

/// Removes the files that are being written: called when the process ends early.
pub fn discard_temporaries() {
    // The thread that has the list may be the one that ends the process.
    let mut tries = 0..TRIES;
    let paths = tries.find_map(|_| match PATHS.try_lock() {
        Ok(paths) => Some(paths),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::yield_now();
            None
        }
    });
    for path in paths.iter().flat_map(|paths| paths.iter()) {
        let _ = fs::remove_file(path);
    }
}

/// So often the list is asked for while it changes.
const TRIES: usize = 1000;

static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The files that are being written.
fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    PATHS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A file that is removed unless it becomes the file it stands for.
struct Temporary {
    file: NamedTempFile,
    _listed: Listed,
}

/// A file in the list of those that are being written.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        temporaries().retain(|path| *path != self.0);
    }
}

impl Temporary {
    /// A new file in the directory of `target`, with the permissions `target` has or would get.
    fn beside(target: &Path) -> io::Result<Temporary> {
        let directory = directory(target);
        let existing = fs::metadata(target).ok();
        if existing.is_some() {
            // Renaming would get around a file that is write-protected.
            File::options().write(true).open(target)?;
        }
        let file = tempfile::Builder::new()
            .prefix(".mdh-")
            .permissions(Permissions::from_mode(0o666)) // less what the umask takes away
            .tempfile_in(directory)?;
        if let Some(existing) = existing {
            fs::set_permissions(file.path(), existing.permissions())?;
        }
        let path = file.path().to_path_buf();
        temporaries().push(path.clone());
        Ok(Temporary {
            file,
            _listed: Listed(path),
        })
    }

    /// Gives it its name.
    fn become_file(self, target: &Path) -> io::Result<()> {
        let persisted = self.file.persist(target);
        persisted.map(drop).map_err(|error| error.error)
    }
}

/// Target of a path, through symbolic links.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// An ordinary file, or a free name for one.
    File(PathBuf),
    /// A pipe, a device.
    Special(PathBuf),
    /// A file that the process has open under that number.
    Open(i32),
}

/// As many links as the system follows.
const MOST_LINKS: usize = 40;

impl Target {
    fn new(path: &Path) -> Result<Target> {
        if path.is_dir() {
            return Err(Error::input(format!(
                "cannot write '{}': it is a directory",
                path.display()
            )));
        }
        let mut target = path.to_path_buf();
        for _ in 0..=MOST_LINKS {
            if let Some(number) = open_file(&target) {
                return Ok(Target::Open(number));
            }
            let Ok(next) = fs::read_link(&target) else {
                return Ok(match fs::metadata(&target) {
                    Ok(existing) if !existing.is_file() => Target::Special(target),
                    _ => Target::File(target),
                });
            };
            target = directory(&target).join(next);
        }
        Err(cannot_write(
            path,
            &io::Error::from_raw_os_error(libc::ELOOP),
        ))
    }

    /// Opens what is to be written directly.
    fn open(&self) -> io::Result<File> {
        match self {
            Target::File(path) | Target::Special(path) => File::options().write(true).open(path),
            Target::Open(number) => {
                // SAFETY: the system says whether there is such a file; the copy is ours.
                let copy = unsafe { libc::dup(*number) };
                match copy {
                    -1 => Err(io::Error::last_os_error()),
                    // SAFETY: it was made just now.
                    copy => Ok(unsafe { File::from_raw_fd(copy) }),
                }
            }
        }
    }
}

/// The number of an open file of this process, if a path is its name: `/proc/self/fd/1`.
fn open_file(path: &Path) -> Option<i32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = format!("/proc/{}/fd", std::process::id());
    let directory = fs::canonicalize(directory(path)).ok()?;
    (directory == Path::new(&folder)).then_some(number)
}

/// The directory that a path's last name is in.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if directory != Path::new("") => directory,
        _ => Path::new("."),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Error::new(ErrorKind::OutputClosed, "");
    }
    let message = format!("cannot write '{}': {}", path.display(), reason(error));
    Error::input(message)
}

/// The system's words, without the name of the temporary file that tempfile adds to them.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((reason, _)) => reason.to_string(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(directory: &Path) -> Vec<String> {
        let name =
            |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_written_and_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        write(&path, b"one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(entries(directory.path()), ["a"]);
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        write(&path, b"old").unwrap();
        let error = write_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        })
        .unwrap_err();
        assert!(
            error.to_string().ends_with("a': the disk is full"),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(entries(directory.path()), ["a"]);
    }

    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        fs::write(path("folder/file"), "old").unwrap();
        let links = [
            ("absolute", path("folder/file")),
            ("relative", PathBuf::from("folder/file")),
            ("second", PathBuf::from("relative")),
            ("dangling", PathBuf::from("folder/new")),
        ];
        for (name, target) in &links {
            std::os::unix::fs::symlink(target, path(name)).unwrap();
            check_writable(&path(name)).unwrap();
            write(&path(name), name.as_bytes()).unwrap();
            assert_eq!(fs::read_link(path(name)).unwrap(), *target);
            let written = path("folder").join(if *name == "dangling" { "new" } else { "file" });
            assert_eq!(fs::read_to_string(written).unwrap(), *name);
        }
        assert_eq!(entries(&path("folder")), ["file", "new"]);
        std::os::unix::fs::symlink("nowhere/new", path("lost")).unwrap();
        let text = write(&path("lost"), b"x").unwrap_err().to_string();
        assert!(
            text.ends_with("lost': No such file or directory (os error 2)"),
            "{text}"
        );
        assert!(path("lost").is_symlink());
    }

    #[test]
    fn links_without_an_end_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (a, b) = (directory.path().join("a"), directory.path().join("b"));
        std::os::unix::fs::symlink(&a, &b).unwrap();
        std::os::unix::fs::symlink(&b, &a).unwrap();
        for attempt in [write(&a, b"x"), check_writable(&a)] {
            let text = attempt.unwrap_err().to_string();
            assert!(
                text.contains("a': Too many levels of symbolic links"),
                "{text}"
            );
        }
        assert_eq!(entries(directory.path()), ["a", "b"]);
    }

    #[test]
    fn open_files_are_written_where_they_are() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before ").unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        for name in [
            format!("/dev/fd/{number}"),
            format!("/proc/self/fd/{number}"),
        ] {
            check_writable(Path::new(&name)).unwrap();
            write(Path::new(&name), b"x").unwrap();
        }
        let mut text = String::new();
        io::Seek::rewind(&mut file).unwrap();
        io::Read::read_to_string(&mut file, &mut text).unwrap();
        assert_eq!(text, "before xx");
        let stdout = Target::new(Path::new("/dev/stdout")).unwrap();
        assert_eq!(stdout, Target::Open(1));
    }

    #[test]
    fn unwritable_places_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("no/such/file");
        for attempt in [write(&missing, b"x"), check_writable(&missing)] {
            let text = attempt.unwrap_err().to_string();
            let expected = "no/such/file': No such file or directory (os error 2)";
            assert!(text.ends_with(expected), "{text}");
        }
        let text = check_writable(directory.path()).unwrap_err().to_string();
        assert!(text.ends_with("it is a directory"), "{text}");
    }

    #[test]
    fn asking_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        check_writable(&directory.path().join("a")).unwrap();
        assert!(entries(directory.path()).is_empty());
        let here = |path: &PathBuf| path.starts_with(directory.path());
        assert!(!temporaries().iter().any(here));
    }

    #[test]
    fn devices_are_written_directly() {
        write(Path::new("/dev/null"), b"x").unwrap();
        check_writable(Path::new("/dev/null")).unwrap();
    }

    #[test]
    fn a_pipe_is_opened_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let name = CString::new(pipe.as_os_str().as_bytes()).unwrap();
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        // Without a reader, opening it would wait.
        check_writable(&pipe).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        check_writable(&pipe).unwrap();
        write(&pipe, b"all of it").unwrap();
        assert_eq!(reader.join().unwrap(), b"all of it");
    }
}
