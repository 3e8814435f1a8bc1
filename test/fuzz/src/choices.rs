//! Random choices that have names, so that a failing case can be made smaller.
//!
//! A generator asks for one choice after the other; each is known by its path, the names of the
//! scopes around it and its own. Its value follows from the seed and the path alone: changing
//! one choice leaves all others as they are, also where fewer or more choices are made
//! afterwards. 0 is always the simplest value, so that reducing a case is setting choices to 0,
//! and whatever their values, the generator makes a valid program of them.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::str::FromStr;

use mdh_algebra::random::Random;

/// Values of some choices, by their paths: `steps=0,step0/dim1/drop=1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(pub BTreeMap<String, u64>);

/// A choice that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The names of its scopes and its own, with `/` between them.
    pub path: String,
    /// The chosen value.
    pub value: u64,
    /// True if it is of [`Choices::keep`].
    pub is_drop: bool,
}

/// Makes choices and records them.
pub struct Choices {
    seed: u64,
    overrides: Overrides,
    path: String,
    trail: Vec<Choice>,
}

impl Choices {
    /// Choices of a seed, but for those that are overridden.
    pub fn new(seed: u64, overrides: Overrides) -> Choices {
        Choices {
            seed,
            overrides,
            path: String::new(),
            trail: Vec::new(),
        }
    }

    /// All choices so far.
    pub fn trail(&self) -> &[Choice] {
        &self.trail
    }

    /// Runs a part of the generator, whose choices have `name` in front of theirs.
    pub fn scope<R>(&mut self, name: impl Display, part: impl FnOnce(&mut Choices) -> R) -> R {
        let length = self.path.len();
        // Writing to a string cannot fail.
        let _ = write!(self.path, "{name}/");
        let result = part(self);
        self.path.truncate(length);
        result
    }

    /// A number in `0..bound`, all alike (0 if `bound` is).
    pub fn below(&mut self, name: &str, bound: u64) -> u64 {
        let value = self.random(name).below(bound);
        self.make(name, value, bound)
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, name: &str, from: &[T]) -> T {
        from[self.below(name, from.len() as u64) as usize]
    }

    /// A number below that of the weights, each as often as its weight says.
    pub fn weighted(&mut self, name: &str, weights: &[u64]) -> usize {
        let mut number = self.random(name).below(weights.iter().sum());
        let position = weights.iter().position(|weight| {
            let here = number < *weight;
            number = number.saturating_sub(*weight);
            here
        });
        let value = position.unwrap_or(0) as u64;
        self.make(name, value, weights.len() as u64) as usize
    }

    /// Yes in so many of 100 cases; no is simpler.
    pub fn chance(&mut self, name: &str, percent: u64) -> bool {
        self.weighted(name, &[100 - percent, percent]) == 1
    }

    /// Returns whether the thing that this scope is about is there at all: always, but for the overrides
    /// that reducing a case tries.
    pub fn keep(&mut self) -> bool {
        let is_kept = self.make("drop", 0, 2) == 0;
        if let Some(choice) = self.trail.last_mut() {
            choice.is_drop = true;
        }
        is_kept
    }

    fn random(&self, name: &str) -> Random {
        // FNV-1a over the path, then mixed with the seed.
        let bytes = self.path.bytes().chain(name.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let start = Random::new(hash).bits();
        Random::new(start ^ Random::new(self.seed).bits())
    }

    fn make(&mut self, name: &str, value: u64, bound: u64) -> u64 {
        let path = format!("{}{name}", self.path);
        let value = match self.overrides.0.get(&path) {
            Some(value) => (*value).min(bound.saturating_sub(1)),
            None => value,
        };
        self.trail.push(Choice {
            path,
            value,
            is_drop: false,
        });
        value
    }
}

impl Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|(p, v)| format!("{p}={v}")).collect();
        f.write_str(&pairs.join(","))
    }
}

impl FromStr for Overrides {
    type Err = String;

    fn from_str(text: &str) -> Result<Overrides, String> {
        let pair = |text: &str| {
            let (path, value) = text.split_once('=')?;
            Some((path.to_string(), value.parse().ok()?))
        };
        let pairs = text.split(',').filter(|text| !text.is_empty());
        let pairs: Result<_, String> = pairs
            .map(|text| pair(text).ok_or(format!("found '{text}', expected path=number")))
            .collect();
        Ok(Overrides(pairs?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(choices: &mut Choices, count: usize) -> Vec<u64> {
        let number = |i| choices.scope(i, |c| c.below("n", 1000));
        (0..count).map(number).collect()
    }

    #[test]
    fn choices_depend_on_their_paths_alone() {
        let drawn = numbers(&mut Choices::new(7, Overrides::default()), 5);
        let overrides: Overrides = "1/n=3,4/n=5000".parse().unwrap();
        assert_eq!(overrides.to_string().parse(), Ok(overrides.clone()));
        let some = numbers(&mut Choices::new(7, overrides), 5);
        assert_eq!(some, [drawn[0], 3, drawn[2], drawn[3], 999]);
        assert_ne!(
            drawn,
            numbers(&mut Choices::new(8, Overrides::default()), 5)
        );
    }

    #[test]
    fn weights_are_kept() {
        let mut counts = [0; 3];
        for seed in 0..1000 {
            let mut choices = Choices::new(seed, Overrides::default());
            counts[choices.weighted("w", &[6, 0, 4])] += 1;
        }
        assert!(
            counts[0] > 500 && counts[1] == 0 && counts[2] > 300,
            "{counts:?}"
        );
    }

    #[test]
    fn only_overrides_drop() {
        let mut choices = Choices::new(1, Overrides::default());
        assert!(choices.scope("a", Choices::keep));
        assert!(choices.trail()[0].is_drop);
        let overrides: Overrides = "a/drop=1".parse().unwrap();
        assert!(!Choices::new(1, overrides).scope("a", Choices::keep));
    }
}
