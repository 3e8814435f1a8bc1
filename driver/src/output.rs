//! Writing results: to standard output, and to files that are there in full or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::NamedTempFile;

use crate::error::{Error, Kind, Result};

/// Writes to standard output. A reader that has gone away is [`Kind::OutputClosed`].
pub fn print(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(bytes.as_ref())
        .and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Error::new(Kind::OutputClosed, ""),
        _ => Error::input(format!("cannot write to standard output: {error}")),
    })
}

/// Writes a file of `bytes`; `-` is standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return print(bytes);
    }
    write_with(path, |file| file.write_all(bytes))
}

/// Writes a file with `contents`. Until all of it is written it has another name in the same
/// directory, and it goes if that fails or is interrupted. What is no ordinary file (a pipe, a
/// device) is written directly.
pub fn write_with(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| cannot_write(path, &error);
    let target = target(path)?;
    if !is_replaceable(&target) {
        let mut file = BufWriter::new(File::options().write(true).open(&target).map_err(failed)?);
        return contents(&mut file)
            .and_then(|()| file.flush())
            .map_err(failed);
    }
    let temporary = Temporary::beside(&target).map_err(failed)?;
    let mut file = BufWriter::new(temporary.file.as_file());
    contents(&mut file)
        .and_then(|()| file.flush())
        .map_err(failed)?;
    drop(file);
    temporary.become_file(&target).map_err(failed)
}

/// Fails as [`write`] would, without changing anything: to be asked before a long computation.
pub fn check_writable(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let target = target(path)?;
    let tried = match is_replaceable(&target) {
        true => Temporary::beside(&target).map(drop),
        false => File::options().write(true).open(&target).map(drop),
    };
    tried.map_err(|error| cannot_write(path, &error))
}

/// Removes the files that are being written: called when the process ends early.
pub fn discard_temporaries() {
    for path in temporaries().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// The files that are being written.
fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
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
        let directory = match target.parent() {
            Some(directory) if directory != Path::new("") => directory,
            _ => Path::new("."),
        };
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

/// Where a path leads: through symbolic links, which stay links.
fn target(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return Err(Error::input(format!(
            "cannot write '{}': it is a directory",
            path.display()
        )));
    }
    Ok(fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// Whether a path is an ordinary file, or free for one.
fn is_replaceable(target: &Path) -> bool {
    fs::metadata(target).map_or(true, |existing| existing.is_file())
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
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
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
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
}
