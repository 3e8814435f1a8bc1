//! Arrays in memory that processes share: files without a name, which are gone with the process
//! that made them, however it ends.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

use mdh_compiler::error::{Error, Result};

/// A file in memory.
pub struct Shared {
    file: File,
}

impl Shared {
    /// An empty file.
    pub fn new() -> Result<Shared> {
        // SAFETY: the name is a C string; the descriptor is checked and then ours.
        let descriptor = unsafe { libc::memfd_create(c"mdh".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(failed(&std::io::Error::last_os_error()));
        }
        // SAFETY: as above.
        let file = unsafe { File::from_raw_fd(descriptor) };
        Ok(Shared { file })
    }

    /// A file that holds these bytes.
    pub fn with(bytes: &[u8]) -> Result<Shared> {
        let mut shared = Shared::new()?;
        shared
            .file
            .write_all(bytes)
            .map_err(|error| failed(&error))?;
        Ok(shared)
    }

    /// The path by which other processes of this user open it.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Reads the data that others have written.
    pub fn read(&self) -> Result<Vec<u8>> {
        std::fs::read(self.path()).map_err(|error| failed(&error))
    }
}

/// Fills `bytes` from a file of that size.
pub fn read_into(path: &str, bytes: &mut [u8]) -> Result<()> {
    let mut file = File::open(path).map_err(|error| failed(&error))?;
    file.read_exact(bytes).map_err(|error| failed(&error))
}

/// Overwrites a file.
pub fn write_to(path: &str, bytes: &[u8]) -> Result<()> {
    let options = File::options()
        .write(true)
        .truncate(true)
        .open(Path::new(path));
    let mut file = options.map_err(|error| failed(&error))?;
    file.write_all(bytes).map_err(|error| failed(&error))
}

fn failed(error: &std::io::Error) -> Error {
    Error::resources(format!(
        "arrays cannot be shared between processes: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_by_path_is_read() {
        let shared = Shared::with(&[1, 2, 3]).unwrap();
        let mut bytes = [0; 3];
        read_into(&shared.path(), &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3]);
        write_to(&shared.path(), &[9, 8]).unwrap();
        assert_eq!(shared.read().unwrap(), [9, 8]);
    }
}
