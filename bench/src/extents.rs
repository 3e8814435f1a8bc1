//! Numbers of a workload's size: given, or chosen for the machine that measures.

use mdh_algebra::scalar::ScalarType;
use mdh_machine::Caches;
use serde::Deserialize;

use mdh_compiler::error::{Error, Result};

/// A number of a size, as the table of workloads has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Extent {
    /// That number.
    Given(i64),
    /// A number that the machine decides.
    Chosen(Chosen),
}

/// Property of the machine that decides a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The smallest power of two elements that the largest cache does not hold.
    BeyondCaches,
}

/// Bytes that are taken for the largest cache of a machine that says nothing of its caches: more
/// than those of most.
const UNKNOWN: u64 = 64 << 20;

impl Extent {
    /// The number for elements of a type, by MLIR's name, on a machine with these caches.
    ///
    /// # Errors
    /// If there is no such type.
    pub fn number(self, dtype: &str, caches: &Caches) -> Result<i64> {
        match self {
            Extent::Given(number) => Ok(number),
            Extent::Chosen(Chosen::BeyondCaches) => {
                let elements = beyond(caches, width(dtype)?);
                i64::try_from(elements).map_err(|_| Error::bug("a cache holds 2^63 elements"))
            }
        }
    }

    /// Returns a note about a number that was chosen.
    ///
    /// # Errors
    /// If there is no such type.
    pub fn note(self, name: &str, dtype: &str, caches: &Caches) -> Result<Option<String>> {
        let Extent::Chosen(Chosen::BeyondCaches) = self else {
            return Ok(None);
        };
        let number = self.number(dtype, caches)?;
        let mebibytes = (number as u64 * width(dtype)?) >> 20;
        Ok(Some(format!(
            "{name} is {number}: {mebibytes} MiB of {dtype}, more than the caches hold"
        )))
    }
}

/// Bytes of an element.
fn width(dtype: &str) -> Result<u64> {
    let mut types = ScalarType::ALL.into_iter();
    let element = types.find(|ty| ty.name() == dtype);
    let element = element.ok_or_else(|| Error::bug(format!("there is no type '{dtype}'")))?;
    Ok(element.byte_width() as u64)
}

/// The smallest power of two elements of so many bytes that caches do not hold.
fn beyond(caches: &Caches, width: u64) -> u64 {
    let largest = [caches.l1, caches.l2, caches.l3]
        .into_iter()
        .flatten()
        .max();
    (largest.unwrap_or(UNKNOWN) / width + 1).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_is_the_next_power_of_two() {
        let mut caches = Caches::default();
        assert_eq!(beyond(&caches, 8), 1 << 24);
        caches.l2 = Some(2 << 20);
        assert_eq!(beyond(&caches, 8), 1 << 19);
        caches.l3 = Some(480 << 20);
        assert_eq!(beyond(&caches, 8), 1 << 26);
        assert_eq!(beyond(&caches, 4), 1 << 27);
    }

    #[test]
    fn only_chosen_numbers_are_said() {
        let caches = Caches::default();
        let given = Extent::Given(7);
        assert_eq!(given.number("f64", &caches).unwrap(), 7);
        assert_eq!(given.note("n", "f64", &caches).unwrap(), None);
        let chosen = Extent::Chosen(Chosen::BeyondCaches);
        let number = chosen.number("f64", &caches).unwrap();
        let note = chosen.note("n", "f64", &caches).unwrap().unwrap();
        assert!(note.starts_with(&format!("n is {number}: ")), "{note}");
        assert!(chosen.number("f65", &caches).is_err());
    }
}
