//! Schedules with warp-level MMA, of products of matrices, to start from.

use std::collections::BTreeMap;

use mdh_algebra::computation::Combine;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType;
use mdh_schedule::asm::{Asm, MATRIX};
use mdh_schedule::{Layer, LevelName, Parts, Schedule};

use super::targets::Target;
use crate::choices::Choices;

/// The dimensions of a product of matrices: rows, columns and terms.
#[derive(Clone, Debug)]
pub struct Factors([String; 3]);

/// The products that a computation is: each of two dimensions moves one of two factors. There are no instructions
/// for terms that indices choose.
pub fn factors(target: &Target) -> Vec<Factors> {
    let computation = &target.known;
    let halves = [ScalarType::F16, ScalarType::BF16];
    let accesses = computation.inputs.iter().flat_map(|input| {
        let accesses = input.accesses.iter();
        accesses.map(|access| (input.element, access))
    });
    let accesses: Vec<_> = accesses.collect();
    let sums = [Operator::Builtin(vec![Builtin::Addf])];
    let [(a_type, a), (b_type, b)] = accesses[..] else {
        return Vec::new();
    };
    let has_types = a_type == b_type && halves.contains(&a_type);
    if target.asks_indices
        || !has_types
        || computation.components != [ScalarType::F32]
        || computation.operators != sums
    {
        return Vec::new();
    }
    let dimensions = computation.dimensions.iter().enumerate();
    let (kept, summed): (Vec<_>, Vec<_>) = dimensions.partition(|(_, d)| d.combine == Combine::Cc);
    let moves = |access: &mdh_algebra::computation::Access, d: usize| {
        access.map.iter().any(|expr| expr.dims().contains(&d))
    };
    let is_of = |x: usize| [moves(a, x), moves(b, x)];
    let mut products = Vec::new();
    for (rows, of_rows) in &kept {
        for (columns, of_columns) in &kept {
            let pair = [is_of(*rows), is_of(*columns)];
            if ![
                [[true, false], [false, true]],
                [[false, true], [true, false]],
            ]
            .contains(&pair)
            {
                continue;
            }
            for (_, terms) in &summed {
                let names = [of_rows, of_columns, terms].map(|d| d.name.clone());
                products.push(Factors(names));
            }
        }
    }
    products
}

/// The part counts of a layer.
type Row<'a> = (&'static str, Vec<(&'a str, Parts)>);

/// Blocks of warps, each with some tiles of 16 x 8 results.
fn layers<'a>(c: &mut Choices, target: &'a Target, factors: &'a Factors) -> Vec<Row<'a>> {
    let [rows, columns, terms] = factors.0.each_ref().map(String::as_str);
    let mut small = |name: &str, counts: &[i64]| Parts::Fixed(c.pick(name, counts));
    let derived = |is_kept: bool| {
        let dimensions = target.known.dimensions.iter();
        let chosen = dimensions.filter(move |d| (d.combine == Combine::Cc) == is_kept);
        chosen.map(|d| (d.name.as_str(), Parts::Derived)).collect()
    };
    let both = |[a, b]: [Parts; 2]| vec![(rows, a), (columns, b)];
    let warps = [small("warp rows", &[1, 2]), small("warp columns", &[1, 2])];
    let tile = [small("rows", &[1, 2]), small("columns", &[1, 2, 3])];
    let mut instruction = both([2, 2].map(Parts::Fixed));
    instruction.push((terms, Parts::Fixed(16)));
    vec![
        ("device", derived(false)),
        ("block", derived(true)),
        ("warp", both(warps)),
        ("shared", vec![(terms, small("shared", &[1, 2, 3]))]),
        ("thread", both([8, 4].map(Parts::Fixed))),
        ("register", both(tile)),
        (MATRIX, instruction),
    ]
}

/// Threads go around what they go through, one tile of terms after the other.
const ORDER: [&str; 7] = [
    "block", "warp", "thread", "device", "shared", "register", MATRIX,
];

/// Blocks of warps, with and without tiles in shared memory.
pub fn schedule(c: &mut Choices, target: &Target, asm: &Asm, of: &Factors) -> Schedule {
    let layers = layers(c, target, of);
    let mut schedule = Schedule {
        asm: Some(asm.name.clone()),
        ..Schedule::default()
    };
    let mut ordered: Vec<&Row> = layers.iter().collect();
    ordered.sort_by_key(|(layer, _)| ORDER.iter().position(|name| name == layer));
    let names = |(layer, parts): &Row| -> Vec<LevelName> {
        let names = parts.iter();
        names.map(|(name, _)| LevelName::new(layer, name)).collect()
    };
    schedule.decompose.order = Some(ordered.into_iter().flat_map(names).collect());
    let [rows, columns, terms] = of.0.each_ref().map(String::as_str);
    let axes = [[rows, "y"], [columns, "x"]];
    let axes = axes.map(|pair| pair.map(|name| LevelName::new("thread", name)));
    schedule.decompose.assign = axes.map(|[level, axis]| (level, axis)).into();
    for (name, parts) in layers {
        let parts = parts.into_iter().map(|(d, count)| (d.to_string(), count));
        schedule.layers.push(Layer {
            name: name.into(),
            parts: parts.collect(),
        });
    }
    stage(c, target, &mut schedule, terms);
    if c.chance("in registers", 85) {
        for output in &target.known.outputs {
            let plan = schedule.outputs.entry(output.name.clone()).or_default();
            let level = LevelName::new("device", terms);
            plan.combine = BTreeMap::from([(level, "register".to_string())]);
        }
    }
    schedule
}

/// Tiles in shared memory, in one buffer or several, of both inputs, of one or of none.
fn stage(c: &mut Choices, target: &Target, schedule: &mut Schedule, terms: &str) {
    let is_staged = c.chance("staged", 65);
    for input in &target.known.inputs {
        c.scope(&input.name, |c| {
            if !is_staged || !c.chance("staged", 85) {
                return;
            }
            let level = LevelName::new(c.pick("level", &["shared", "device"]), terms);
            let count = c.pick("count", &[2, 3, 4, 1]);
            let plan = schedule.inputs.entry(input.name.clone()).or_default();
            plan.stage = BTreeMap::from([(level, "shared".to_string())]);
            plan.stages = c.chance("stages", 50).then_some(count);
        });
    }
}
