//! Errors, as values.

use std::fmt;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Reason for which there is no array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A shape whose size in bytes does not fit into 63 bits, or with a negative extent.
    Size {
        /// The shape.
        shape: Vec<i64>,
        /// Bytes of one element.
        element: usize,
    },
    /// There is not enough memory; nothing was allocated.
    Memory {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are available.
        available: u64,
    },
    /// The bytes of an array are not as many as its shape needs.
    Bytes {
        /// Number of dimensions found.
        found: usize,
        /// Number of dimensions expected.
        expected: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Size { shape, element } => {
                let shape: Vec<String> = shape.iter().map(i64::to_string).collect();
                write!(
                    f,
                    "a buffer of {} elements of {element} bytes is too large to be addressed",
                    shape.join(" x ")
                )
            }
            Error::Memory { needed, available } => write!(
                f,
                "not enough memory: {} are needed, {} are available",
                Bytes(*needed),
                Bytes(*available)
            ),
            Error::Bytes { found, expected } => {
                write!(f, "an array has {found} bytes, its shape needs {expected}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// A number of bytes, printed for people and exactly: `1.5 GiB (1610612736 bytes)`.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut size = self.0 as f64;
        let mut unit = None;
        for candidate in units {
            if size < 1024.0 {
                break;
            }
            size /= 1024.0;
            unit = Some(candidate);
        }
        match unit {
            Some(unit) => write!(f, "{size:.1} {unit} ({} bytes)", self.0),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_numbers_are_shown() {
        let error = Error::Memory {
            needed: 3 << 30,
            available: 1000,
        };
        assert_eq!(
            error.to_string(),
            "not enough memory: 3.0 GiB (3221225472 bytes) are needed, 1000 bytes are available"
        );
    }

    #[test]
    fn a_size_names_the_shape() {
        let error = Error::Size {
            shape: vec![1 << 40, 1 << 40],
            element: 4,
        };
        assert!(
            error
                .to_string()
                .contains("1099511627776 x 1099511627776 elements of 4 bytes")
        );
    }
}
