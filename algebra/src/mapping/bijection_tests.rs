//! Mapping equivalence by definition 2.7: of all short chains over all small spaces, and of random
//! chains over spaces of up to six dimensions. What the code says of a space and of an index is
//! held against the formulas on numbers, written out once more.

use std::collections::HashMap;
use std::rc::Rc;

use super::*;
use crate::domain::{Grid, points, total_points};
use crate::index::{Expr, Facts, IndexProgram};
use crate::layout::Answer;
use crate::random::Random;

/// The table at the top of [`super`], on numbers.
mod definition {
    use super::*;

    fn number(e: &Expr) -> i64 {
        e.as_constant().unwrap()
    }

    /// The mapped space; `None` where the mapping is not defined.
    pub(super) fn space(from: &[Grid], step: &Step) -> Option<Vec<Grid>> {
        let normalised = from.iter().all(|g| g.lower == 0);
        let dense = normalised && from.iter().all(|g| g.step == g.width);
        let span = |g: &Grid| (g.upper - g.lower).max(0);
        let (rank, mut to) = (from.len(), from.to_vec());
        match step {
            Step::ShiftLb => to.iter_mut().for_each(|g| {
                g.upper = span(g);
                g.lower = 0;
            }),
            Step::CompressGrid(dims) if normalised => {
                for d in dims {
                    let (u, t, w) = (span(&from[*d]), from[*d].step, from[*d].width);
                    to[*d] = Grid::dense((u / t) * w + (u % t).min(w));
                }
            }
            Step::PruneGrid if normalised => {
                to.iter_mut().for_each(|g| *g = Grid::dense(span(g)));
            }
            Step::SplitLast(l) if dense && rank > 0 && number(l) > 0 => {
                let (u, l) = (span(&to.pop().unwrap()), number(l));
                if u % l != 0 {
                    return None;
                }
                to.extend([Grid::dense(u / l), Grid::dense(l)]);
            }
            Step::FoldLast2 if dense && rank > 1 => {
                let (minor, major) = (to.pop().unwrap(), to.pop().unwrap());
                to.push(Grid::dense(span(&major) * span(&minor)));
            }
            Step::Permute(order) => to = order.iter().map(|d| from[*d]).collect(),
            Step::PadLast(p) if rank > 0 && number(p) > 0 => {
                let (last, p) = (to.last_mut().unwrap(), number(p));
                while last.upper % p != 0 {
                    last.upper += 1;
                }
            }
            _ => return None,
        }
        Some(to)
    }

    /// The index that one of the mapped space stands for; `None` is discarded.
    pub(super) fn back(from: &[Grid], step: &Step, index: &[i64]) -> Option<Vec<i64>> {
        let mut back = index.to_vec();
        let operative = match step {
            Step::ShiftLb => {
                back.iter_mut().zip(from).for_each(|(i, g)| *i += g.lower);
                true
            }
            Step::CompressGrid(dims) => {
                for d in dims {
                    let (t, w) = (from[*d].step, from[*d].width);
                    back[*d] = (index[*d] / w) * t + index[*d] % w;
                }
                true
            }
            Step::PruneGrid => index.iter().zip(from).all(|(i, g)| i % g.step < g.width),
            Step::SplitLast(l) => {
                let (minor, major) = (back.pop().unwrap(), back.pop().unwrap());
                back.push(number(l) * major + minor);
                true
            }
            Step::FoldLast2 => {
                let (i, minor) = (back.pop().unwrap(), from.last().unwrap().upper);
                back.extend([i / minor, i % minor]);
                true
            }
            Step::Permute(order) => {
                for (k, d) in order.iter().enumerate() {
                    back[*d] = index[k];
                }
                true
            }
            Step::PadLast(_) => index.last() < from.last().map(|g| &g.upper),
        };
        operative.then_some(back)
    }
}

fn numbers(space: &Space) -> Vec<Grid> {
    space.numbers().unwrap()
}

/// For each point of a mapping's mapped space, the original index, or none.
fn compiled(mapping: &Mapping) -> Vec<Option<Vec<i64>>> {
    let names = mapping.index_names();
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let back = mapping.back(&index);
    let outputs = [back.index.as_slice(), &back.exits].concat();
    let program = IndexProgram::with_inputs(&names, &outputs);
    let back_of = |point: Vec<i64>| {
        let mut values = program.run(&point).unwrap();
        let exits = values.split_off(back.index.len());
        (!exits.contains(&0)).then_some(values)
    };
    points(&numbers(mapping.mapped())).map(back_of).collect()
}

/// A point's number in its space, in lexicographic order.
fn flat(grids: &[Grid], index: &[i64]) -> usize {
    let number = grids.iter().zip(index).fold(0, |flat, (grid, i)| {
        let number = grid.number(*i);
        flat * grid.count() + number.unwrap_or_else(|| panic!("{index:?} is not in {grids:?}"))
    });
    usize::try_from(number).unwrap()
}

/// One step on one space: the mapped space, and for each of its points which of the original.
struct Mapped {
    space: usize,
    rank: usize,
    from: Vec<Option<usize>>,
}

/// Every step on every space that occurs, each computed once.
struct Steps {
    /// For each rank.
    table: Vec<Vec<Step>>,
    numbers: HashMap<Vec<Grid>, usize>,
    spaces: Vec<Vec<Grid>>,
    /// For each space and step, once it is known.
    known: Vec<Vec<Option<Option<Rc<Mapped>>>>>,
}

impl Steps {
    fn new(sizes: i64) -> Steps {
        Steps {
            table: (0..6).map(|rank| steps(rank, sizes)).collect(),
            numbers: HashMap::new(),
            spaces: vec![],
            known: vec![],
        }
    }

    fn number(&mut self, grids: &[Grid]) -> usize {
        if let Some(number) = self.numbers.get(grids) {
            return *number;
        }
        let number = self.spaces.len();
        self.numbers.insert(grids.to_vec(), number);
        self.spaces.push(grids.to_vec());
        self.known.push(vec![None; self.table[grids.len()].len()]);
        number
    }

    fn mapped(&mut self, space: usize, step: usize) -> Option<Rc<Mapped>> {
        if let Some(known) = &self.known[space][step] {
            return known.clone();
        }
        let grids = self.spaces[space].clone();
        let step_taken = self.table[grids.len()][step].clone();
        let mapped = one_step(&grids, &step_taken).map(|(mapped, from)| {
            let (space, rank) = (self.number(&mapped), mapped.len());
            Rc::new(Mapped { space, rank, from })
        });
        self.known[space][step] = Some(mapped.clone());
        mapped
    }
}

/// By the code, which must say what the definition does.
fn one_step(grids: &[Grid], step: &Step) -> Option<(Vec<Grid>, Vec<Option<usize>>)> {
    let mapping = Mapping::new(Space::of_grids(grids), vec![step.clone()], &Facts::new());
    let expected = definition::space(grids, step);
    let Some(mapped) = expected else {
        let error = mapping.expect_err("not defined here");
        assert_eq!(error.step, Some(0), "{grids:?}.{step}");
        return None;
    };
    let mapping = mapping.unwrap_or_else(|e| panic!("{grids:?}.{step}: {e}"));
    assert_eq!(mapping.answer(), Answer::Proved, "{mapping}");
    let same = numbers(mapping.mapped());
    assert!(points(&same).eq(points(&mapped)), "{mapping}: {same:?}");
    let back = compiled(&mapping);
    for (point, found) in points(&mapped).zip(&back) {
        let expected = definition::back(grids, step, &point);
        assert_eq!(*found, expected, "{mapping} of {point:?}");
    }
    let number = |index: Option<Vec<i64>>| index.map(|i| flat(grids, &i));
    Some((same, back.into_iter().map(number).collect()))
}

/// Every point of the original space is stood for exactly once.
fn is_bijective(from: &[Option<usize>], original: &[Grid]) -> bool {
    let total = total_points(original).and_then(|n| usize::try_from(n).ok());
    let mut seen = vec![false; total.unwrap()];
    let mut operative = 0;
    for place in from.iter().flatten() {
        operative += 1;
        seen[*place] = true;
    }
    operative == seen.len() && !seen.contains(&false)
}

fn subsets(rank: usize) -> Vec<Vec<usize>> {
    let subset = |bits: u32| (0..rank).filter(|d| bits >> d & 1 == 1).collect();
    (0..1 << rank).map(subset).collect()
}

fn permutations(rank: usize) -> Vec<Vec<usize>> {
    if rank == 0 {
        return vec![vec![]];
    }
    let smaller = permutations(rank - 1);
    let longer = smaller.iter().flat_map(|p| {
        (0..rank).map(|at| {
            let mut longer = p.clone();
            longer.insert(at, rank - 1);
            longer
        })
    });
    longer.collect()
}

/// All steps that may be tried on a space of a rank; most preconditions are the spaces' matter.
fn steps(rank: usize, sizes: i64) -> Vec<Step> {
    let mut steps = vec![Step::ShiftLb, Step::PruneGrid, Step::FoldLast2];
    steps.extend(subsets(rank).into_iter().map(Step::CompressGrid));
    steps.extend(permutations(rank).into_iter().map(Step::Permute));
    steps.extend((0..=sizes).map(|l| Step::SplitLast(l.into())));
    steps.extend((0..=sizes).map(|p| Step::PadLast(p.into())));
    steps
}

/// All grids with bounds up to an extent, steps beyond it, and every width.
fn grids(extent: i64) -> Vec<Grid> {
    let mut grids = Vec::new();
    for (lower, upper) in (0..=extent).flat_map(|l| (0..=extent).map(move |u| (l, u))) {
        for (step, width) in (1..=extent + 1).flat_map(|t| (1..=t).map(move |w| (t, w))) {
            grids.extend(Grid::new(lower, upper, step, width));
        }
    }
    grids
}

/// All chains of three steps at most. What a chain's index map is has two answers: that of its
/// steps one after the other and, for every `sampled`-th, that of its expressions.
struct Chains<'a> {
    original: &'a [Grid],
    steps: &'a mut Steps,
    chain: Vec<Step>,
    count: usize,
    sampled: usize,
}

impl Chains<'_> {
    fn all(&mut self, space: usize, rank: usize, from: &[Option<usize>]) {
        for step in 0..self.steps.table[rank].len() {
            let Some(mapped) = self.steps.mapped(space, step) else {
                continue;
            };
            let back = |place: &Option<usize>| place.and_then(|place| from[place]);
            let composed: Vec<Option<usize>> = mapped.from.iter().map(back).collect();
            self.chain.push(self.steps.table[rank][step].clone());
            let named = || format!("{:?}.{:?}", self.original, self.chain);
            assert!(is_bijective(&composed, self.original), "{}", named());
            self.count += 1;
            if self.count.is_multiple_of(self.sampled) {
                self.by_expressions(&composed);
            }
            if self.chain.len() < 3 {
                self.all(mapped.space, mapped.rank, &composed);
            }
            self.chain.pop();
        }
    }

    fn by_expressions(&self, composed: &[Option<usize>]) {
        let space = Space::of_grids(self.original);
        let mapping = Mapping::new(space, self.chain.clone(), &Facts::new()).unwrap();
        let flats = compiled(&mapping).into_iter();
        let flats = flats.map(|index| index.map(|i| flat(self.original, &i)));
        assert!(flats.eq(composed.iter().copied()), "{mapping}");
        assert_eq!(mapping.answer(), Answer::Proved);
    }
}

fn all_chains(spaces: impl Iterator<Item = Vec<Grid>>, sizes: i64, sampled: usize) -> usize {
    let (mut steps, mut count) = (Steps::new(sizes), 0);
    for original in spaces {
        let total = total_points(&original).and_then(|n| usize::try_from(n).ok());
        let identity: Vec<Option<usize>> = (0..total.unwrap()).map(Some).collect();
        let space = steps.number(&original);
        let mut chains = Chains {
            original: &original,
            steps: &mut steps,
            chain: vec![],
            count,
            sampled,
        };
        chains.all(space, original.len(), &identity);
        count = chains.count;
    }
    count
}

#[test]
fn all_chains_of_three_over_one_dimension() {
    let spaces = grids(6).into_iter().map(|grid| vec![grid]);
    let count = all_chains(spaces, 7, 11);
    println!("{count} chains");
    assert!(count > 100_000);
}

#[test]
fn all_chains_of_three_over_two_dimensions() {
    let inner = grids(3);
    let outer = inner.clone();
    let spaces = outer
        .iter()
        .flat_map(|a| inner.iter().map(move |b| vec![*a, *b]));
    let count = all_chains(spaces, 4, 997);
    println!("{count} chains");
    assert!(count > 1_000_000);
}

/// A space without dimensions has one point, and few mappings.
#[test]
fn all_chains_of_three_over_no_dimension() {
    assert_eq!(all_chains(std::iter::once(vec![]), 3, 1), 4 + 16 + 64);
}

fn random_grid(random: &mut Random, most: u64) -> Grid {
    let mut below = |bound: u64| i64::try_from(random.below(bound)).unwrap();
    let lower = below(9) - 4;
    let span = below(most + 2) - 1;
    let step = 1 + below(4);
    Grid::new(lower, lower + span, step, 1 + below(step as u64)).unwrap()
}

fn random_step(random: &mut Random, rank: usize) -> Step {
    let some = |random: &mut Random| 1 + i64::try_from(random.below(5)).unwrap();
    match random.below(10) {
        0 => Step::ShiftLb,
        1 => Step::PruneGrid,
        2 => Step::CompressGrid((0..rank).filter(|_| random.below(2) == 0).collect()),
        3 | 4 => Step::SplitLast(some(random).into()),
        5 | 6 => Step::FoldLast2,
        7 => {
            let mut order: Vec<usize> = (0..rank).collect();
            for d in (1..rank).rev() {
                order.swap(d, random.below(d as u64 + 1) as usize);
            }
            Step::Permute(order)
        }
        _ => Step::PadLast(some(random).into()),
    }
}

/// A random chain of mappings that are defined where they stand.
fn random_mapping(random: &mut Random) -> Mapping {
    let rank = 1 + random.below(6);
    let most = [40, 9, 5, 4, 3, 2][rank as usize - 1];
    let grids: Vec<Grid> = (0..rank).map(|_| random_grid(random, most)).collect();
    let length = 1 + random.below(8) as usize;
    let (mut chain, mut at) = (Vec::new(), grids.clone());
    // Most chains begin as those of a strategy do: hardly anything else is defined on a grid.
    if random.below(4) > 0 {
        chain.push(Step::ShiftLb);
        at = definition::space(&at, &Step::ShiftLb).unwrap();
    }
    for _ in 0..4 * length {
        let step = random_step(random, at.len());
        let small = |grids: &[Grid]| total_points(grids).is_some_and(|n| n <= 300);
        if let Some(mapped) = definition::space(&at, &step).filter(|m| small(m)) {
            chain.push(step);
            at = mapped;
        }
        if chain.len() >= length {
            break;
        }
    }
    Mapping::new(Space::of_grids(&grids), chain, &Facts::new()).unwrap()
}

fn random_chains(seed: u64, cases: u64) {
    let mut random = Random::new(seed);
    let mut lengths = 0;
    for _ in 0..cases {
        let mapping = random_mapping(&mut random);
        let original = numbers(mapping.original());
        let spaces: Vec<Vec<Grid>> = mapping.spaces().iter().map(numbers).collect();
        lengths += mapping.chain().len();
        let images = compiled(&mapping);
        for (point, image) in points(&spaces[spaces.len() - 1]).zip(&images) {
            let mut steps = mapping.chain().iter().zip(&spaces).rev();
            let expected = steps.try_fold(point.clone(), |index, (step, from)| {
                definition::back(from, step, &index)
            });
            assert_eq!(*image, expected, "{mapping} of {point:?}");
        }
        let number = |index: Option<Vec<i64>>| index.map(|i| flat(&original, &i));
        let from: Vec<Option<usize>> = images.into_iter().map(number).collect();
        assert!(is_bijective(&from, &original), "{mapping}");
        assert_eq!(mapping.answer(), Answer::Proved, "{mapping}");
        assert_eq!(mapping.decide(), Answer::Proved, "{mapping}");
    }
    assert!(
        lengths as u64 > 3 * cases,
        "the chains are short: {lengths}"
    );
}

/// `MDH_SEED` and `MDH_RANDOM_CASES` change which chains and how many.
#[test]
fn random_chains_over_up_to_six_dimensions() {
    let number = |name: &str, default: u64| {
        let set = std::env::var(name).ok();
        set.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let cases = number("MDH_RANDOM_CASES", 100_000);
    random_chains(number("MDH_SEED", 1), cases);
}
