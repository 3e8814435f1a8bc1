//! Packages as files.

use mdh_algebra::scalar::ScalarType;
use serde::{Deserialize, Serialize};

use crate::archive::{self, Files};
use crate::{Error, Result};

/// The only format there is so far.
const FORMAT: u32 = 1;
/// The manifest.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The kernels.
const KERNELS: &str = "kernels.ptx";
/// The code that launches them.
const HOST: &str = "host.so";

/// Manifest of a package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format, 1.
    pub format: u32,
    /// The producer, with its version.
    pub producer: String,
    /// The function's name.
    pub function: String,
    /// The symbol in the host's code that takes pointers to all arguments.
    pub symbol: String,
    /// The chip that the kernels are for, such as `sm_90`.
    pub chip: String,
    /// The schedules of the function's computations, as attributes.
    pub schedules: Vec<String>,
    /// The arguments, in order.
    pub arguments: Vec<Array>,
    /// The results, in order.
    pub results: Vec<Array>,
    /// Expected results, at some places.
    pub expected: Vec<Expected>,
    /// Operations of one run.
    pub flops: f64,
    /// Bytes of one run, each buffer counted once.
    pub bytes: f64,
}

/// An array, or a scalar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its elements' type, by MLIR's name.
    pub dtype: String,
    /// Its extents.
    pub shape: Vec<i64>,
    /// True if it is passed as a value.
    pub is_scalar: bool,
    /// Contents before a run.
    pub fill: Fill,
}

impl Array {
    /// The type of its elements.
    pub fn element(&self) -> Result<ScalarType> {
        let known = ScalarType::ALL
            .into_iter()
            .find(|ty| ty.name() == self.dtype);
        known.ok_or_else(|| {
            Error::input(format!(
                "the array '{}' of the package has elements of type '{}', which is none",
                self.name, self.dtype
            ))
        })
    }
}

/// Contents of an array before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fill {
    /// Random numbers, see [`mdh_arrays::Tensor::random`].
    Random {
        /// The seed.
        seed: u64,
        /// The stream of that seed.
        stream: u64,
    },
    /// Random numbers in a range, see [`mdh_arrays::Tensor::uniform`].
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// The seed.
        #[serde(default, skip_serializing_if = "is_zero")]
        seed: u64,
        /// The stream of that seed.
        stream: u64,
    },
    /// Bytes that no computation gives.
    Poison,
    /// The bits of a scalar.
    Bits(u64),
}

fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

/// An expected result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Its array.
    pub place: ArraySlot,
    /// The places in it.
    pub indices: Vec<Vec<i64>>,
    /// The bits of the right value at each of these.
    pub bits: Vec<u64>,
    /// Permitted distance from the expected value; `null` where anything is right.
    pub errors: Vec<Option<f64>>,
}

/// An array of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArraySlot {
    /// An argument, by number.
    Argument(usize),
    /// A result.
    Result(usize),
}

/// A package.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// Its manifest.
    pub manifest: Manifest,
    /// The kernels' PTX; empty if there are none.
    pub kernels: String,
    /// The code that launches them, a shared library.
    pub host: Vec<u8>,
}

impl Manifest {
    /// The format that is written.
    pub const FORMAT: u32 = FORMAT;
}

impl Package {
    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let manifest = serde_json::to_string_pretty(&self.manifest).unwrap_or_default() + "\n";
        let files = [
            (MANIFEST, manifest.as_bytes()),
            (KERNELS, self.kernels.as_bytes()),
            (HOST, &self.host),
        ];
        archive::write(&files.map(|(name, bytes)| (name.to_string(), bytes)))
    }

    /// Reads a file: all of it must be as it was written.
    pub fn read(bytes: &[u8]) -> Result<Package> {
        let mut files = Files::read(bytes)?;
        let manifest = files.take(MANIFEST)?;
        let [kernels, host] = [files.take(KERNELS)?, files.take(HOST)?];
        files.end()?;
        check_format(&manifest)?;
        let manifest: Manifest = serde_json::from_slice(&manifest)
            .map_err(|error| archive::damaged(format!("{MANIFEST}: {error}")))?;
        let package = Package {
            manifest,
            kernels: archive::text(kernels, KERNELS)?,
            host,
        };
        package.manifest.check()?;
        Ok(package)
    }
}

impl Manifest {
    /// Returns whether what the manifest says fits together.
    pub(crate) fn check(&self) -> Result<()> {
        let manifest = self;
        let wrong = |what: String| Err(Error::input(format!("the package is wrong: {what}")));
        for array in manifest.arguments.iter().chain(&manifest.results) {
            array.element()?;
            if array.is_scalar && !array.shape.is_empty() {
                return wrong(format!("the scalar '{}' has extents", array.name));
            }
        }
        for expected in &manifest.expected {
            let array = match expected.place {
                ArraySlot::Argument(n) => manifest.arguments.get(n),
                ArraySlot::Result(n) => manifest.results.get(n),
            };
            let Some(array) = array else {
                return wrong("it expects something of an array that is not there".to_string());
            };
            let count = expected.indices.len();
            let is_inside = |index: &Vec<i64>| {
                let mut pairs = index.iter().zip(&array.shape);
                index.len() == array.shape.len() && pairs.all(|(i, n)| (0..*n).contains(i))
            };
            let fits = expected.bits.len() == count && expected.errors.len() == count;
            if !fits || !expected.indices.iter().all(is_inside) {
                return wrong(format!("what it expects of '{}' is not in it", array.name));
            }
        }
        Ok(())
    }
}

/// The part of a manifest that no format changes.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Checks: a manifest has the format that is read here.
pub(crate) fn check_format(manifest: &[u8]) -> Result<()> {
    let version: std::result::Result<Version, _> = serde_json::from_slice(manifest);
    match version {
        Ok(Version { format }) if format != FORMAT => Err(Error::input(format!(
            "the package has format {format}: expected {FORMAT}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn package() -> Package {
        let array = |name: &str, shape: &[i64]| Array {
            name: name.to_string(),
            dtype: "f32".to_string(),
            shape: shape.to_vec(),
            is_scalar: shape.is_empty(),
            fill: Fill::Random { seed: 1, stream: 0 },
        };
        let manifest = Manifest {
            format: FORMAT,
            producer: "a test".to_string(),
            function: "f".to_string(),
            symbol: "f".to_string(),
            chip: "sm_90".to_string(),
            schedules: Vec::new(),
            arguments: vec![array("x", &[2, 3])],
            results: vec![array("y", &[])],
            expected: vec![Expected {
                place: ArraySlot::Argument(0),
                indices: vec![vec![1, 2]],
                bits: vec![7],
                errors: vec![None],
            }],
            flops: 1.0,
            bytes: 2.0,
        };
        let (kernels, host) = ("// PTX".to_string(), vec![1, 2, 3]);
        Package {
            manifest,
            kernels,
            host,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Package::read(&package().write()), Ok(package()));
    }

    #[test]
    fn no_byte_can_change() {
        let bytes = package().write();
        let mut refused = 0;
        for place in 0..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 1;
            match Package::read(&other) {
                Err(error) => {
                    assert_eq!(error.code, 1, "{error}");
                    refused += 1;
                }
                // Times, owners and padding of the archive mean nothing.
                Ok(read) => assert_eq!(read, package(), "byte {place}"),
            }
        }
        assert!(refused > 2000, "{refused} of {}", bytes.len());
        for length in [0, 1, 511, 512, 1000, bytes.len() - 1600] {
            assert!(Package::read(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let message = |change: fn(&mut Manifest)| {
            let mut other = package();
            change(&mut other.manifest);
            Package::read(&other.write()).unwrap_err().message
        };
        assert_eq!(
            message(|m| m.format = 2),
            "the package has format 2: expected 1"
        );
        assert!(message(|m| m.arguments[0].dtype = "f33".to_string()).contains("'f33'"));
        assert!(message(|m| m.expected[0].indices[0][0] = 2).contains("not in it"));
        assert!(message(|m| m.expected[0].place = ArraySlot::Result(1)).contains("not there"));
        assert!(message(|m| m.expected[0].bits.clear()).contains("not in it"));
    }
}
