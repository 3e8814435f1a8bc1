//! Archives of files with their sums.

use std::collections::BTreeMap;
use std::io::Read;

use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The sums of the other files.
const DIGEST: &str = "digest";

/// The bytes of an archive.
pub fn write(files: &[(String, &[u8])]) -> Vec<u8> {
    let sums = files
        .iter()
        .map(|(name, bytes)| format!("{}  {name}\n", sum(bytes)));
    let sums: String = sums.collect();
    let mut archive = tar::Builder::new(Vec::new());
    let digest = [(DIGEST, sums.as_bytes())];
    let files = files.iter().map(|(name, bytes)| (name.as_str(), *bytes));
    for (name, bytes) in digest.into_iter().chain(files) {
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

/// Files of an archive that are taken one by one.
pub struct Files {
    files: BTreeMap<String, Vec<u8>>,
    sums: String,
}

impl Files {
    /// Reads an archive.
    pub fn read(bytes: &[u8]) -> Result<Files> {
        let mut files = BTreeMap::new();
        let mut archive = tar::Archive::new(bytes);
        let entries = archive.entries().map_err(damaged)?;
        for entry in entries {
            let mut entry = entry.map_err(damaged)?;
            let name = entry.path().map_err(damaged)?;
            let name = name.to_string_lossy().into_owned();
            let mut content = Vec::new();
            let read = entry.read_to_end(&mut content);
            read.map_err(|error| damaged(format!("{name}: {error}")))?;
            if files.insert(name.clone(), content).is_some() {
                return Err(damaged(format!("it has '{name}' twice")));
            }
        }
        let sums = files.remove(DIGEST);
        let sums = sums.ok_or_else(|| damaged(format!("it has no '{DIGEST}'")))?;
        Ok(Files {
            files,
            sums: text(sums, DIGEST)?,
        })
    }

    /// A file as it was written.
    pub fn take(&mut self, name: &str) -> Result<Vec<u8>> {
        let file = self.files.remove(name);
        let file = file.ok_or_else(|| damaged(format!("it has no '{name}'")))?;
        let line = format!("{}  {name}", sum(&file));
        match self.sums.lines().any(|known| known == line) {
            true => Ok(file),
            false => Err(damaged(format!("the sum of '{name}' is another one"))),
        }
    }

    /// Checks: nothing is left.
    pub fn end(self) -> Result<()> {
        match self.files.keys().next() {
            Some(name) => Err(damaged(format!("'{name}' is no part of one"))),
            None => Ok(()),
        }
    }
}

/// A package that is none, or not as it was written.
pub fn damaged(what: impl std::fmt::Display) -> Error {
    Error::input(format!("the package is damaged, or is none: {what}"))
}

/// A file as text.
pub fn text(bytes: Vec<u8>, name: &str) -> Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| Error::input(format!("the package is damaged: '{name}' is no text")))
}

/// The SHA-256 sum, in hexadecimal.
pub fn sum(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}
