//! The order in which tiles are taken (program ids): a layout over the parts of neighbouring levels.
//!
//! ```text
//! for t in 0 .. size { (p_1, .., p_n) = inv(t); the tile of part p_1 of the first level, .. }
//! ```
//!
//! A grouped order, in which 4 rows of 16 columns of tiles are taken column by column before the next
//! 4 rows, so that what they read of both matrices stays in a cache, is
//! `OrderBy(RegP([4,4,16],[1,3,2])).GroupBy([16,16])`.

use super::names::{Names, Spot};
use super::numbers::Count;
use super::resolved::{Level, PerLevel, PhasePlan, Resolved, TilePlan};
use super::schedule_path::SchedulePath;
use super::violation::{Constraint, Violation, find};
use crate::schedule::TileOrder;
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::index::Expr;

impl Names<'_> {
    pub(super) fn tile_order(
        &mut self,
        written: Option<&TileOrder>,
        counts: &PerLevel<Count>,
        phase: &PhasePlan,
    ) -> Option<TilePlan> {
        let written = written?;
        let place = "tile_order";
        let whole = SchedulePath::root().entry(place);
        let list = whole.clone().entry("levels");
        let layout_place = whole.entry("layout");
        let levels = written.levels.iter().enumerate().map(|(n, name)| {
            let spot = Spot {
                text: place.to_string(),
                place: list.clone().item(n),
            };
            self.level(name, &spot)
        });
        let levels: Option<Vec<Level>> = levels.collect();
        let Some(layout) = written.layout.algebra().cloned() else {
            let message = format!(
                "{place}: found {}, expected the text of a layout, such as \"GenP([4,4],hilbert)\"",
                written.layout
            );
            self.find(Constraint::TileOrder, layout_place, message);
            return None;
        };
        let levels = levels?;
        if let Err(message) = written.layout.check(levels.len()) {
            let message = message.replace("axes", "levels");
            self.find(
                Constraint::TileOrder,
                layout_place,
                format!("{place}: {message}"),
            );
            return None;
        }
        let is_loop = |l: &&Level| !counts[l.layer][l.dimension].is_one() || levels.contains(l);
        let loops: Vec<Level> = phase.order.iter().filter(is_loop).copied().collect();
        if levels.is_empty() || !loops.windows(levels.len()).any(|w| w == levels) {
            let names: Vec<String> = written.levels.iter().map(ToString::to_string).collect();
            let message = format!(
                "{place}: found the levels {}, expected some that follow each other in the order \
                 of the loops",
                names.join(", ")
            );
            self.find(Constraint::TileOrder, list, message);
            return None;
        }
        Some(TilePlan { levels, layout })
    }
}

/// Parts may be taken in any order if none is combined with another one, and all are taken if the
/// layout has their counts.
pub(super) fn check(
    resolved: &Resolved,
    computation: &Computation,
    violations: &mut Vec<Violation>,
) {
    let Some(TilePlan { levels, layout }) = &resolved.tile_order else {
        return;
    };
    let name = |level: &Level| resolved.name(*level);
    let mut refuse = |message: String| {
        find(
            violations,
            Constraint::TileOrder,
            SchedulePath::root().entry("tile_order"),
            message,
        );
    };
    for level in levels {
        if computation.dimensions[level.dimension].combine != Combine::Cc {
            refuse(format!(
                "'{}' is combined, expected levels of dimensions that are concatenated (cc)",
                name(level)
            ));
        }
    }
    let is_parallel = |level: &Level| resolved.is_parallel(&resolved.decompose, *level);
    if let [first, rest @ ..] = &levels[..]
        && let Some(other) = rest.iter().find(|l| is_parallel(l) != is_parallel(first))
    {
        refuse(format!(
            "one of '{}' and '{}' is given to cores, expected both or none",
            name(first),
            name(other)
        ));
    }
    if resolved.nests().len() > 1 {
        refuse("the phases are separate loop nests, expected one".into());
    }
    let counts: Vec<Option<i64>> = levels.iter().map(|l| resolved.count(*l).known()).collect();
    let sizes: Vec<Option<i64>> = layout.sizes().iter().map(Expr::as_constant).collect();
    if counts != sizes {
        let text = |numbers: &[Option<i64>]| {
            let numbers = numbers
                .iter()
                .map(|n| n.map_or("?".into(), |n| n.to_string()));
            numbers.collect::<Vec<String>>().join(", ")
        };
        refuse(format!(
            "the levels have [{}] parts, and the layout '{layout}' sizes of [{}]: expected the same",
            text(&counts),
            text(&sizes)
        ));
    }
}
