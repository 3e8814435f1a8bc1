//! Mapping equivalence, asked of the definition: point by point. The theorems say the same of a chain's
//! construction; an answer that shared their reasoning, or any other, would be no check of them.

use super::chain::Mapping;
use super::space::Space;
use super::step::Back;
use crate::domain::{points, total_points};
use crate::index::{Expr, Facts, IndexProgram, Name};
use crate::layout::Answer;

/// So many points are tried at most.
const TRIED: i64 = 1 << 20;

/// That an index map is mapping equivalent (definition 2.7).
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The original space.
    pub original: &'a Space,
    /// The mapped space.
    pub mapped: &'a Space,
    /// Names of the components of an index of the mapped space.
    pub names: &'a [Name],
    /// The index that such an index stands for.
    pub back: &'a Back,
    /// Facts about symbols.
    pub facts: &'a Facts,
    /// Conditions on symbols.
    pub conditions: &'a [Expr],
}

impl Mapping {
    /// Returns whether it is mapping equivalent by definition, whatever its construction says.
    pub fn decide(&self) -> Answer {
        let names = self.index_names();
        let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
        equivalence(&Claim {
            original: self.original(),
            mapped: self.mapped(),
            names: &names,
            back: &self.back(&index),
            facts: self.facts(),
            conditions: self.conditions(),
        })
    }

    /// Names for the components of an index of the mapped space that are no symbols of it: `i0`, ..
    pub fn index_names(&self) -> Vec<Name> {
        let free = |name: &String| !self.facts().knows(name);
        let candidates = |d: usize| (0..).map(move |tail| format!("i{d}") + &"_".repeat(tail));
        let names = (0..self.mapped().rank()).filter_map(|d| candidates(d).find(free));
        names.map(Name::from).collect()
    }
}

/// Tries all points: of numbers and of all values of symbols whose bounds leave few, which proves
/// or refutes it wherever the conditions hold, or of small values for symbols, which may refute it.
pub fn equivalence(claim: &Claim) -> Answer {
    let symbols = symbols(claim);
    let trials = claim.facts.trials(&symbols);
    let (mut complete, mut left) = (trials.are_all, TRIED);
    for values in trials.values {
        let value = |name: &str| {
            let at = symbols.iter().position(|s| &**s == name)?;
            Some(Expr::constant(values[at]))
        };
        let holds = |c: &Expr| c.substitute(&value).as_constant() == Some(1);
        if !claim.conditions.iter().all(holds) {
            continue;
        }
        let back = Back {
            index: bound(&claim.back.index, &value),
            exits: bound(&claim.back.exits, &value),
        };
        let (original, mapped) = (claim.original.bound(&value), claim.mapped.bound(&value));
        match bijective([&original, &mapped], claim.names, &back, &mut left) {
            Tried::Wrong(why) => {
                let values = symbols.iter().zip(&values);
                let with: Vec<String> = values.map(|(s, v)| format!("{s} = {v}")).collect();
                return Answer::Refuted(match with.is_empty() {
                    true => why,
                    false => format!("with {}, {why}", with.join(", ")),
                });
            }
            Tried::All => {}
            Tried::Some => complete = false,
        }
    }
    match complete {
        true => Answer::Proved,
        false => Answer::Open(vec![format!(
            "the operative part of {} is mapped one to one onto {}",
            claim.mapped, claim.original
        )]),
    }
}

fn bound(all: &[Expr], value: &dyn Fn(&str) -> Option<Expr>) -> Vec<Expr> {
    all.iter().map(|e| e.substitute(value)).collect()
}

fn symbols(claim: &Claim) -> Vec<Name> {
    let axes = claim.original.axes.iter().chain(&claim.mapped.axes);
    let of_spaces = axes.flat_map(|a| [&a.lower, &a.upper, &a.step, &a.width]);
    let of_back = claim.back.index.iter().chain(&claim.back.exits);
    let mut symbols = Vec::new();
    for symbol in of_spaces.chain(of_back).flat_map(Expr::symbols) {
        if !claim.names.contains(&symbol) && !symbols.contains(&symbol) {
            symbols.push(symbol);
        }
    }
    symbols
}

enum Tried {
    Wrong(String),
    All,
    Some,
}

/// Definition 2.7 on numbers.
fn bijective(
    [original, mapped]: [&Space; 2],
    names: &[Name],
    back: &Back,
    left: &mut i64,
) -> Tried {
    let (Some(grids), Some(domain)) = (original.numbers(), mapped.numbers()) else {
        return Tried::Some;
    };
    let few = |grids: &[_]| total_points(grids).filter(|n| *n <= *left);
    let (Some(total), Some(tried)) = (few(&grids), few(&domain)) else {
        return Tried::Some;
    };
    *left -= total.max(tried);
    let outputs = [back.index.as_slice(), &back.exits].concat();
    let program = IndexProgram::with_inputs(names, &outputs);
    let rank = back.index.len();
    let mut from: Vec<Option<Vec<i64>>> = vec![None; usize::try_from(total).unwrap_or(0)];
    for point in points(&domain) {
        let values = match program.run(&point) {
            Ok(values) => values,
            Err(error) => return Tried::Wrong(format!("of {point:?}: {error}")),
        };
        let (index, exits) = values.split_at(rank);
        if exits.contains(&0) {
            continue;
        }
        let mut components = grids.iter().zip(index);
        let flat = components.try_fold(0, |flat, (grid, i)| {
            grid.number(*i).map(|number| flat * grid.count() + number)
        });
        let place = flat.and_then(|n| from.get_mut(usize::try_from(n).ok()?));
        match place {
            None => {
                return Tried::Wrong(format!(
                    "{point:?} stands for {index:?}, which is not in {original}"
                ));
            }
            Some(Some(first)) => {
                return Tried::Wrong(format!("{first:?} and {point:?} both stand for {index:?}"));
            }
            Some(place) => *place = Some(point),
        }
    }
    match points(&grids).zip(&from).find(|(_, from)| from.is_none()) {
        Some((lost, _)) => Tried::Wrong(format!("no index stands for {lost:?}")),
        None => Tried::All,
    }
}
