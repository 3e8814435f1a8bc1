//! Techniques of search. Each proposes points; what has become of all points, also those of other
//! techniques, it sees in the [`Known`] ones. With the same seed, space and costs a technique
//! proposes the same points.

mod annealing;
mod bandit;
mod evolution;
mod exhaustive;
mod pattern;
mod random;
mod round_robin;
mod rounds;
mod search;
mod surrogate;
mod torczon;

use crate::error::{Error, Result, did_you_mean, repeated};
use rounds::InRounds;
use search::generator;

pub use search::{CostModel, Known, Search, Technique};

/// The names of all techniques.
pub const NAMES: [&str; 10] = [
    "auto",
    "bandit",
    "surrogate",
    "annealing",
    "pattern",
    "torczon",
    "evolution",
    "round-robin",
    "random",
    "exhaustive",
];

/// Those of which `bandit` and `round-robin` consist: the techniques of ATF.
const CLASSICAL: [&str; 5] = ["annealing", "pattern", "torczon", "evolution", "random"];

/// Those of which `auto` consists: one that learns from all of the space, and one that climbs. More
/// of them share the evaluations, and found less in spaces of which all times were known.
const PAYING: [&str; 2] = ["surrogate", "pattern"];

/// The technique of these names: of several, the AUC bandit over them.
pub fn of_names(names: &[String], seed: u64) -> Result<Box<dyn Technique>> {
    if let [one] = names {
        return named(one, seed);
    }
    if let Some(twice) = repeated(names.iter().map(String::as_str)) {
        let message = format!("found the technique '{twice}' twice, expected each once");
        return Err(Error::input(message));
    }
    let arms = names
        .iter()
        .zip(1..)
        .map(|(name, n)| named(name, seed_of(seed, n)));
    let arms = arms.collect::<Result<Vec<_>>>()?;
    let random = generator(seed, &names.join(","));
    Ok(Box::new(bandit::Bandit::new("bandit", arms, random)))
}

/// The seed of the technique of that number among several.
fn seed_of(seed: u64, n: u64) -> u64 {
    seed.wrapping_mul(31).wrapping_add(n)
}

/// The technique of that name.
pub fn named(name: &str, seed: u64) -> Result<Box<dyn Technique>> {
    let arms = |names: &[&str]| -> Result<Vec<Box<dyn Technique>>> {
        let numbered = names.iter().zip(1..);
        numbered
            .map(|(name, n)| named(name, seed_of(seed, n)))
            .collect()
    };
    Ok(match name {
        "auto" => Box::new(bandit::Bandit::new(
            "auto",
            arms(&PAYING)?,
            generator(seed, name),
        )),
        "bandit" => Box::new(bandit::Bandit::new(
            "bandit",
            arms(&CLASSICAL)?,
            generator(seed, name),
        )),
        "round-robin" => Box::new(round_robin::RoundRobin::new(arms(&CLASSICAL)?)),
        "surrogate" => Box::new(surrogate::Surrogate::new(generator(seed, name))),
        "random" => Box::new(random::Random::new(generator(seed, name))),
        "exhaustive" => Box::new(exhaustive::Exhaustive::default()),
        "annealing" => InRounds::boxed(annealing::Annealing::new(generator(seed, name)), seed),
        "pattern" => InRounds::boxed(pattern::Pattern::new(generator(seed, name)), seed),
        "torczon" => InRounds::boxed(torczon::Torczon::new(generator(seed, name)), seed),
        "evolution" => InRounds::boxed(evolution::Evolution::new(generator(seed, name)), seed),
        _ => {
            let error = Error::input(format!(
                "found the technique '{name}', expected one of {}",
                NAMES.join(", ")
            ));
            return Err(did_you_mean(name, NAMES)
                .into_iter()
                .fold(error, Error::help));
        }
    })
}

#[cfg(test)]
mod tests;
