//! Resolution of a schedule's names to positions: layers, levels, part counts, orders and
//! assignments.

use mdh_algebra::mapping::{axis_name, axis_number};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::numbers::{Count, MOST_POINTS, Parts, ceil_div};
use super::resolved::{Level, PerLevel, PhasePlan};
use super::schedule_path::SchedulePath;
use super::violation::{Constraint, Violation, find};
use crate::asm::Asm;
use crate::schedule::{Layer, LevelName, Phase};

/// The written layers, and after their predecessors those that were left out.
pub(super) fn layers(written: &[Layer], asm: &Asm, found: &mut Vec<Violation>) -> Vec<String> {
    let known: Vec<&str> = asm.layers.iter().map(|l| l.name()).collect();
    let mut names: Vec<String> = Vec::new();
    for (n, layer) in written.iter().enumerate() {
        let name = &layer.name;
        if !known.contains(&name.as_str()) {
            let message = format!(
                "found layer '{name}', expected one of {} ('{}')",
                known.join(", "),
                asm.name
            );
            find(
                found,
                Constraint::UnknownLayer,
                SchedulePath::layer(name).name(),
                message,
            );
        } else if names.contains(name) {
            let message = format!("layer '{name}' stands twice, expected 1 entry for each layer");
            let place = SchedulePath::root().entry("layers").item(n);
            find(found, Constraint::DuplicateLayer, place, message);
        } else {
            names.push(name.clone());
        }
    }
    for (n, name) in known.iter().enumerate() {
        if !names.iter().any(|l| l == name) {
            let before = n
                .checked_sub(1)
                .and_then(|n| names.iter().position(|l| l == known[n]));
            names.insert(before.map_or(0, |n| n + 1), (*name).into());
        }
    }
    names
}

/// Dimensions of which a schedule's first layer has no count, and takes what is left.
#[derive(Default)]
pub(super) struct LeftOut {
    pub(super) levels: Vec<Level>,
    /// These, and all layers with them: the end of a sentence.
    pub(super) text: String,
}

/// Finds dimensions that a schedule leaves out, where layers, dimensions and counts are resolved.
pub(super) fn left_out(
    (written, asm): (&[Layer], &Asm),
    (layers, dimensions): (&[String], &[String]),
    counts: &PerLevel<Count>,
) -> LeftOut {
    let first = written.first();
    let outermost = first.and_then(|first| layers.iter().position(|l| *l == first.name));
    let (Some(first), Some(layer)) = (first, outermost) else {
        return LeftOut::default();
    };
    let is_left = |dimension: &usize| {
        let name = &dimensions[*dimension];
        let derived = |layer: &Layer| layer.parts.get(name) == Some(&Parts::Derived);
        let is_written = first.parts.contains_key(name) || written.iter().any(derived);
        !is_written && !counts[layer][*dimension].is_one()
    };
    let left: Vec<usize> = (0..dimensions.len()).filter(is_left).collect();
    if left.is_empty() {
        return LeftOut::default();
    }
    let parts = |row: &Vec<Count>| {
        let parts = row.iter().zip(dimensions).filter(|(n, _)| !n.is_one());
        let count_text = |(count, name): (&Count, &String)| {
            let count = count.known().map_or("*".to_string(), |n| n.to_string());
            format!("{name}: {count}")
        };
        parts.map(count_text).collect::<Vec<_>>().join(", ")
    };
    let rows = layers.iter().zip(counts.iter().map(parts));
    let rows = rows.filter(|(_, parts)| !parts.is_empty());
    let rows: Vec<String> = rows.map(|(l, parts)| format!("{l} {{{parts}}}")).collect();
    let names: Vec<String> = left
        .iter()
        .map(|d| format!("'{}'", dimensions[*d]))
        .collect();
    let stars: Vec<String> = left
        .iter()
        .map(|d| format!("{}: *", dimensions[*d]))
        .collect();
    let mut text = format!(
        "; '{}', the outermost layer that is written, has no count of {} and takes what the others \
         leave, so that the layers are {}",
        first.name,
        names.join(" and "),
        rows.join(", ")
    );
    let loops = asm.layers[0].name();
    if first.name != loops {
        text += &format!(
            ": write {loops} {{{}}} in front of it to leave that to a loop",
            stars.join(", ")
        );
    }
    let levels = left.into_iter().map(|dimension| Level { layer, dimension });
    LeftOut {
        levels: levels.collect(),
        text,
    }
}

/// Position of names: in words, and as a path.
#[derive(Clone)]
pub(super) struct Spot {
    pub(super) text: String,
    pub(super) place: SchedulePath,
}

impl Spot {
    /// The same words of another place.
    pub(super) fn at(&self, place: SchedulePath) -> Spot {
        let text = self.text.clone();
        Spot { text, place }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Resolver of names to positions.
pub(super) struct Names<'a> {
    pub(super) asm: &'a Asm,
    pub(super) layers: &'a [String],
    pub(super) dimensions: &'a [String],
    pub(super) found: &'a mut Vec<Violation>,
    pub(super) left_out: LeftOut,
}

impl Names<'_> {
    pub(super) fn find(&mut self, constraint: Constraint, place: SchedulePath, message: String) {
        find(self.found, constraint, place, message);
    }

    pub(super) fn dimension(&mut self, name: &str, spot: &Spot) -> Option<usize> {
        let position = self.dimensions.iter().position(|d| d == name);
        if position.is_none() {
            let known = self.dimensions.join(", ");
            let message = format!("{spot}: found dimension '{name}', expected one of {known}");
            self.find(Constraint::UnknownDimension, spot.place.clone(), message);
        }
        position
    }

    pub(super) fn level(&mut self, name: &LevelName, spot: &Spot) -> Option<Level> {
        let layer = self.layers.iter().position(|l| *l == name.layer);
        if layer.is_none() {
            let (found, known) = (&name.layer, self.layers.join(", "));
            let message = format!("{spot}: found layer '{found}', expected one of {known}");
            self.find(Constraint::UnknownLayer, spot.place.clone(), message);
        }
        let dimension = self.dimension(&name.dimension, spot)?;
        Some(Level {
            layer: layer?,
            dimension,
        })
    }

    pub(super) fn counts(&mut self, written: &[Layer], points: &[Option<i64>]) -> PerLevel<Count> {
        let ranks = self.dimensions.len();
        let mut given: PerLevel<Option<Parts>> = vec![vec![None; ranks]; self.layers.len()];
        for layer in written {
            let spot = Spot {
                text: format!("layer '{}'", layer.name),
                place: SchedulePath::layer(&layer.name),
            };
            let position = self.layers.iter().position(|l| *l == layer.name);
            for (name, parts) in &layer.parts {
                let here = spot.place.clone().entry(name);
                let dimension = self.dimension(name, &spot.at(here.clone().name()));
                if let Parts::Fixed(count) = parts
                    && *count < 1
                {
                    let message =
                        format!("{spot} has {count} parts in '{name}', expected 1 or more");
                    self.find(Constraint::Parts, here, message);
                }
                if let (Some(l), Some(d)) = (position, dimension) {
                    given[l][d] = Some(*parts);
                }
            }
        }
        let first = written.first().map(|w| w.name.as_str());
        let outermost = self.layers.iter().position(|l| Some(l.as_str()) == first);
        let mut counts = vec![vec![Count::Known(1); ranks]; self.layers.len()];
        for d in 0..ranks {
            let column: Vec<_> = given.iter().map(|row| row[d]).collect();
            for (l, count) in self.column(d, column, outermost.unwrap_or(0), points[d]) {
                counts[l][d] = count;
            }
        }
        counts
    }

    /// A layer's part count of a dimension.
    fn parts_place(&self, layer: usize, dimension: &str) -> SchedulePath {
        SchedulePath::layer(&self.layers[layer]).entry(dimension)
    }

    fn column(
        &mut self,
        dimension: usize,
        column: Vec<Option<Parts>>,
        outermost: usize,
        points: Option<i64>,
    ) -> Vec<(usize, Count)> {
        let Some(derived) = self.derived(dimension, &column, outermost) else {
            return vec![];
        };
        let name = &self.dimensions[dimension];
        let fixed = |parts: &Option<Parts>| match parts {
            Some(Parts::Fixed(count)) => (*count).max(1),
            _ => 1,
        };
        let product = column.iter().map(fixed).fold(1, i64::saturating_mul);
        if product > MOST_POINTS {
            let message = format!(
                "the parts of dimension '{name}' cover {product} points or more, expected at most \
                 {MOST_POINTS}, so that indices of 64 bits reach behind them"
            );
            let largest = (0..column.len()).max_by_key(|l| fixed(&column[*l]));
            let place = self.parts_place(largest.unwrap_or(0), name);
            self.find(Constraint::Parts, place, message);
            return vec![];
        }
        let mut counts: Vec<_> = column
            .iter()
            .map(fixed)
            .map(Count::Known)
            .enumerate()
            .collect();
        match (derived, points) {
            (Some(l), Some(points)) => counts[l].1 = Count::Known(ceil_div(points, product)),
            (Some(l), None) => counts[l].1 = Count::Dynamic { divisor: product },
            (None, Some(points)) if points > product => {
                let message = format!(
                    "dimension '{name}' has {points} points, but its parts cover {product}: \
                     leave the outermost count out or write '*'"
                );
                let place = self.parts_place(outermost, name);
                self.find(Constraint::Cover, place, message);
            }
            // A tile has a size of its own in each iteration, and at most what its parts cover.
            (None, _) => {}
        }
        counts
    }

    /// The layer whose part count of a dimension follows from the others, if one's does; `None` where several would.
    fn derived(
        &mut self,
        dimension: usize,
        column: &[Option<Parts>],
        outermost: usize,
    ) -> Option<Option<usize>> {
        let layers = 0..column.len();
        let derived: Vec<usize> = layers
            .filter(|l| column[*l] == Some(Parts::Derived))
            .collect();
        if let [_, second, ..] = derived[..] {
            let name = &self.dimensions[dimension];
            let message = format!(
                "dimension '{name}' has {} derived part counts ('*'), expected at most 1",
                derived.len()
            );
            let place = self.parts_place(second, name);
            self.find(Constraint::Parts, place, message);
            return None;
        }
        let open = (column.get(outermost) == Some(&None)).then_some(outermost);
        Some(derived.first().copied().or(open))
    }

    pub(super) fn phase(
        &mut self,
        place: &str,
        written: &Phase,
        counts: &PerLevel<Count>,
        before: Option<&PhasePlan>,
    ) -> PhasePlan {
        let (layers, ranks) = (self.layers.len(), self.dimensions.len());
        let levels = || {
            (0..layers)
                .flat_map(move |layer| (0..ranks).map(move |dimension| Level { layer, dimension }))
        };
        let order = match (&written.order, before) {
            (Some(order), _) => self.order(place, order, counts, levels().collect()),
            (None, Some(before)) => before.order.clone(),
            (None, None) => levels().collect(),
        };
        let mut assign: PerLevel<Level> = match before {
            Some(before) => before.assign.clone(),
            None => vec![
                vec![
                    Level {
                        layer: 0,
                        dimension: 0
                    };
                    ranks
                ];
                layers
            ],
        };
        if before.is_none() {
            for level in levels() {
                let layer = self.asm.position(&self.layers[level.layer]);
                let dimension = level.dimension;
                let layer = layer.unwrap_or(0);
                assign[level.layer][level.dimension] = Level { layer, dimension };
            }
        }
        for (from, to) in &written.assign {
            let here = SchedulePath::root()
                .entry(place)
                .entry("assign")
                .entry(from.to_string());
            let spot = Spot {
                text: format!("'assign' of {place}"),
                place: here.clone().name(),
            };
            let (from, to) = (self.level(from, &spot), self.asm_level(to, &spot.at(here)));
            if let (Some(from), Some(to)) = (from, to) {
                assign[from.layer][from.dimension] = to;
            }
        }
        self.bijection(place, &assign);
        PhasePlan { order, assign }
    }

    fn order(
        &mut self,
        place: &str,
        written: &[LevelName],
        counts: &PerLevel<Count>,
        all: Vec<Level>,
    ) -> Vec<Level> {
        let (mut order, mut taken) = (Vec::new(), BTreeSet::new());
        let whole = SchedulePath::root().entry(place).entry("order");
        let mut times: BTreeMap<&LevelName, usize> = BTreeMap::new();
        for name in written {
            *times.entry(name).or_default() += 1;
        }
        for (n, name) in written.iter().enumerate() {
            let spot = Spot {
                text: format!("'order' of {place}"),
                place: whole.clone().item(n),
            };
            if let Some(level) = self.level(name, &spot) {
                if !taken.insert(level) {
                    let times = times[name];
                    let message = format!(
                        "'order' of {place} names level '{name}' {times} times, expected 1: an \
                         order is a permutation of the levels"
                    );
                    self.find(Constraint::Permutation, spot.place, message);
                } else {
                    order.push(level);
                }
            }
        }
        let named = order.len();
        let rest: Vec<Level> = all.iter().copied().filter(|l| !taken.contains(l)).collect();
        for level in &rest {
            if !counts[level.layer][level.dimension].is_one() {
                let name =
                    LevelName::new(&self.layers[level.layer], &self.dimensions[level.dimension]);
                let left = &self.left_out;
                let left = left.levels.contains(level).then_some(left.text.as_str());
                let message = format!(
                    "'order' of {place} names {named} of {} levels and lacks '{name}', which has \
                     more than 1 part: an order is a permutation of the levels{}",
                    all.len(),
                    left.unwrap_or_default()
                );
                self.find(Constraint::Permutation, whole.clone(), message);
            }
        }
        order.extend(rest);
        order
    }

    fn asm_level(&mut self, name: &LevelName, spot: &Spot) -> Option<Level> {
        let layer = self.asm.position(&name.layer);
        if layer.is_none() {
            let known: Vec<_> = self.asm.layers.iter().map(|l| l.name()).collect();
            let message = format!(
                "{spot}: found ASM layer '{}', expected one of {}",
                name.layer,
                known.join(", ")
            );
            self.find(Constraint::UnknownLayer, spot.place.clone(), message);
        }
        let dimension = axis_number(&name.dimension);
        let ranks = self.dimensions.len();
        let dimension = dimension.filter(|d| *d < ranks);
        if dimension.is_none() {
            let known: Vec<_> = (0..ranks).map(axis_name).collect();
            let message = format!(
                "{spot}: found ASM dimension '{}', expected one of {}",
                name.dimension,
                known.join(", ")
            );
            self.find(Constraint::UnknownDimension, spot.place.clone(), message);
        }
        Some(Level {
            layer: layer?,
            dimension: dimension?,
        })
    }

    fn bijection(&mut self, place: &str, assign: &PerLevel<Level>) {
        let mut taken: BTreeMap<Level, Vec<LevelName>> = BTreeMap::new();
        for (row, layer) in assign.iter().zip(self.layers) {
            for (to, dimension) in row.iter().zip(self.dimensions) {
                let name = LevelName::new(layer, dimension);
                taken.entry(*to).or_default().push(name);
            }
        }
        for (to, levels) in taken.iter().filter(|(_, levels)| levels.len() > 1) {
            let layer = self.asm.layers[to.layer].name();
            let to = LevelName::new(layer, &axis_name(to.dimension));
            let names: Vec<_> = levels.iter().map(|l| format!("'{l}'")).collect();
            let message = format!(
                "'assign' of {place} gives {} levels, {}, to ASM level '{to}', expected 1: an \
                 assignment is a bijection, so give the others to the ASM levels that are free",
                levels.len(),
                names.join(" and ")
            );
            let here = SchedulePath::root().entry(place).entry("assign");
            let written = here.entry(levels[levels.len() - 1].to_string());
            self.find(Constraint::Bijection, written, message);
        }
    }
}
