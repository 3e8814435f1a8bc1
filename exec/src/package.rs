//! Packages as files.

use std::collections::BTreeMap;
use std::io::Read;

use mdh_algebra::scalar::ScalarType;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The only format there is so far.
const FORMAT: u32 = 1;
/// The sums of the other files.
const DIGEST: &str = "digest";
/// The manifest.
const MANIFEST: &str = "manifest.json";
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
        let sums = files.map(|(name, bytes)| format!("{}  {name}\n", sum(bytes)));
        let sums = sums.concat();
        let mut archive = tar::Builder::new(Vec::new());
        for (name, bytes) in [(DIGEST, sums.as_bytes())].into_iter().chain(files) {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            let added = archive.append_data(&mut header, name, bytes);
            added.unwrap_or_else(|error| panic!("memory can be written: {error}"));
        }
        archive
            .into_inner()
            .unwrap_or_else(|error| panic!("memory can be written: {error}"))
    }

    /// Reads a file: all of it must be as it was written.
    pub fn read(bytes: &[u8]) -> Result<Package> {
        let damaged =
            |what: String| Error::input(format!("the package is damaged, or is none: {what}"));
        let mut files = BTreeMap::new();
        let mut archive = tar::Archive::new(bytes);
        let entries = archive
            .entries()
            .map_err(|error| damaged(error.to_string()))?;
        for entry in entries {
            let mut entry = entry.map_err(|error| damaged(error.to_string()))?;
            let name = entry.path().map_err(|error| damaged(error.to_string()))?;
            let name = name.to_string_lossy().into_owned();
            let mut content = Vec::new();
            let read = entry.read_to_end(&mut content);
            read.map_err(|error| damaged(format!("{name}: {error}")))?;
            if files.insert(name.clone(), content).is_some() {
                return Err(damaged(format!("it has '{name}' twice")));
            }
        }
        let mut take = |name: &str| {
            let file = files.remove(name);
            file.ok_or_else(|| damaged(format!("it has no '{name}'")))
        };
        let sums = text(take(DIGEST)?, DIGEST)?;
        let [manifest, kernels, host] = [take(MANIFEST)?, take(KERNELS)?, take(HOST)?];
        if let Some(name) = files.keys().next() {
            return Err(damaged(format!("'{name}' is no part of one")));
        }
        for (name, content) in [(MANIFEST, &manifest), (KERNELS, &kernels), (HOST, &host)] {
            let line = format!("{}  {name}", sum(content));
            if !sums.lines().any(|known| known == line) {
                return Err(damaged(format!("the sum of '{name}' is another one")));
            }
        }
        let found: std::result::Result<Version, _> = serde_json::from_slice(&manifest);
        if let Ok(Version { format }) = found
            && format != FORMAT
        {
            return Err(Error::input(format!(
                "the package has format {format}: expected {FORMAT}"
            )));
        }
        let manifest: Manifest = serde_json::from_slice(&manifest)
            .map_err(|error| damaged(format!("{MANIFEST}: {error}")))?;
        let package = Package {
            manifest,
            kernels: text(kernels, KERNELS)?,
            host,
        };
        package.check()?;
        Ok(package)
    }

    /// Returns whether what the manifest says fits together.
    fn check(&self) -> Result<()> {
        let manifest = &self.manifest;
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

fn text(bytes: Vec<u8>, name: &str) -> Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| Error::input(format!("the package is damaged: '{name}' is no text")))
}

/// The SHA-256 sum, in hexadecimal.
fn sum(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> Package {
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
