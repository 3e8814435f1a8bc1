//! A package of candidates (`.mdhtune`): an archive as a package is, in which arrays and expected
//! values stand once.
//!
//! | file | what it is |
//! |---|---|
//! | `digest` | the SHA-256 sums of the others |
//! | `manifest.json` | a [`TuneManifest`] |
//! | `<n>.ptx`, `<n>.so` | kernels of candidate n, and the code that launches them |

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::archive::{self, Files};
use crate::package::{MANIFEST, Manifest, Package, check_format};
use crate::{Error, Result};

/// Manifest of a package of candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneManifest {
    /// The format, 1.
    pub format: u32,
    /// The program's name, for people.
    pub name: String,
    /// A digest of the program without its sizes.
    pub program: String,
    /// Its sizes.
    pub sizes: BTreeMap<String, i64>,
    /// All that candidates have in common: arrays, and what is expected of them.
    pub common: Manifest,
    /// The candidates, the default first, then those with the least estimated time.
    pub candidates: Vec<Candidate>,
}

/// A program with schedules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// True for what the model chooses.
    pub is_default: bool,
    /// The configuration of the space of schedules.
    pub configuration: Value,
    /// The schedules, as `mdh run --schedule` reads them.
    pub schedules: Value,
    /// Estimated milliseconds.
    pub estimate_ms: Option<f64>,
    /// Its code; none if there is none.
    pub code: Option<CandidateCode>,
    /// Reason for which it has no code.
    pub failure: Option<String>,
}

/// Code of a candidate, beside its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateCode {
    /// The symbol in the host's code.
    pub symbol: String,
    /// Permitted distances from expected values, as the order of its sums makes them.
    pub errors: Vec<Vec<Option<f64>>>,
}

/// A package of candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct TunePackage {
    /// Its manifest.
    pub manifest: TuneManifest,
    /// Kernels and code of each candidate that has some.
    pub files: BTreeMap<usize, (String, Vec<u8>)>,
}

impl TunePackage {
    /// The package of candidates, without any.
    pub fn new(name: &str, program: &str, sizes: BTreeMap<String, i64>, common: Manifest) -> Self {
        TunePackage {
            manifest: TuneManifest {
                format: Manifest::FORMAT,
                name: name.to_string(),
                program: program.to_string(),
                sizes,
                common: Manifest {
                    schedules: Vec::new(),
                    ..common
                },
                candidates: Vec::new(),
            },
            files: BTreeMap::new(),
        }
    }

    /// Adds a candidate with a package of its own, or with the reason for which it has none.
    ///
    /// # Errors
    /// Those of a package of another program.
    pub fn add(
        &mut self,
        candidate: Candidate,
        package: std::result::Result<Package, String>,
    ) -> Result<()> {
        let number = self.manifest.candidates.len();
        let (code, failure) = match package {
            Err(why) => (None, Some(why)),
            Ok(package) => {
                let manifest = package.manifest;
                let errors = manifest.expected.iter().map(|e| e.errors.clone()).collect();
                let symbol = manifest.symbol.clone();
                let common = &self.manifest.common;
                if alike(common) != alike(&manifest) {
                    return Err(Error::input(format!(
                        "bug: candidate {number} computes something else than the default"
                    )));
                }
                self.files.insert(number, (package.kernels, package.host));
                (Some(CandidateCode { symbol, errors }), None)
            }
        };
        self.manifest.candidates.push(Candidate {
            code,
            failure,
            ..candidate
        });
        Ok(())
    }

    /// The package of one candidate; none if it has no code.
    pub fn candidate(&self, number: usize) -> Option<Package> {
        let candidate = self.manifest.candidates.get(number)?;
        let (code, (kernels, host)) = (candidate.code.as_ref()?, self.files.get(&number)?);
        let mut manifest = self.manifest.common.clone();
        manifest.symbol = code.symbol.clone();
        for (expected, errors) in manifest.expected.iter_mut().zip(&code.errors) {
            expected.errors = errors.clone();
        }
        Some(Package {
            manifest,
            kernels: kernels.clone(),
            host: host.clone(),
        })
    }

    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let manifest = serde_json::to_string(&self.manifest).unwrap_or_default() + "\n";
        let mut files = vec![(MANIFEST.to_string(), manifest.as_bytes())];
        for (number, (kernels, host)) in &self.files {
            files.push((format!("{number}.ptx"), kernels.as_bytes()));
            files.push((format!("{number}.so"), host));
        }
        archive::write(&files)
    }

    /// Reads a file: all of it must be as it was written.
    pub fn read(bytes: &[u8]) -> Result<TunePackage> {
        let mut files = Files::read(bytes)?;
        let text = files.take(MANIFEST)?;
        check_format(&text)?;
        let manifest: TuneManifest = serde_json::from_slice(&text).map_err(|error| {
            let what = format!("{MANIFEST}: {error}");
            Error::input(format!(
                "{}; expected one that `mdh tune --package` made",
                archive::damaged(what)
            ))
        })?;
        let mut code = BTreeMap::new();
        for (number, candidate) in manifest.candidates.iter().enumerate() {
            if candidate.code.is_some() {
                let name = format!("{number}.ptx");
                let kernels = archive::text(files.take(&name)?, &name)?;
                code.insert(number, (kernels, files.take(&format!("{number}.so"))?));
            }
        }
        files.end()?;
        let package = TunePackage {
            manifest,
            files: code,
        };
        package.manifest.common.check()?;
        let numbers = package.files.keys();
        for entry in numbers.filter_map(|number| package.candidate(*number)) {
            entry.manifest.check()?;
        }
        Ok(package)
    }
}

/// A manifest with what candidates of one program have in common.
fn alike(manifest: &Manifest) -> Manifest {
    let mut same = manifest.clone();
    (same.symbol, same.schedules) = (String::new(), Vec::new());
    same.expected.iter_mut().for_each(|e| e.errors.clear());
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::tests::package;

    fn candidates() -> TunePackage {
        let base = package();
        let sizes = BTreeMap::from([("0.i".to_string(), 6)]);
        let mut tune_package = TunePackage::new("f", "abc", sizes, base.manifest.clone());
        let mut other = package();
        other.manifest.symbol = "g".to_string();
        other.manifest.expected[0].errors = vec![Some(0.5)];
        let none = Candidate {
            is_default: true,
            configuration: Value::Null,
            schedules: Value::Null,
            estimate_ms: Some(1.0),
            code: None,
            failure: None,
        };
        tune_package.add(none.clone(), Ok(base)).unwrap();
        tune_package
            .add(none.clone(), Err("too large".to_string()))
            .unwrap();
        tune_package.add(none, Ok(other)).unwrap();
        tune_package
    }

    #[test]
    fn what_is_written_is_read() {
        let packed = candidates();
        let read = TunePackage::read(&packed.write()).unwrap();
        assert_eq!(read, packed);
        assert_eq!(read.candidate(1), None);
        let third = read.candidate(2).unwrap().manifest;
        assert_eq!(
            (third.symbol.as_str(), &third.expected[0].errors),
            ("g", &vec![Some(0.5)])
        );
    }

    #[test]
    fn no_byte_can_change() {
        let (all, bytes) = (candidates(), candidates().write());
        for place in (0..bytes.len()).step_by(3) {
            let mut other = bytes.clone();
            other[place] ^= 1;
            let read = TunePackage::read(&other);
            assert!(read.is_err() || read == Ok(all.clone()), "byte {place}");
        }
    }

    #[test]
    fn candidates_compute_the_same() {
        let mut packed = candidates();
        let mut other = package();
        other.manifest.expected[0].bits = vec![8];
        let same = packed.manifest.candidates[0].clone();
        let error = packed.add(same, Ok(other)).unwrap_err();
        assert!(
            error
                .message
                .contains("candidate 3 computes something else"),
            "{error}"
        );
    }

    #[test]
    fn a_package_of_one_is_refused() {
        let error = TunePackage::read(&package().write()).unwrap_err();
        assert!(
            error
                .message
                .contains("expected one that `mdh tune --package` made"),
            "{error}"
        );
    }
}
