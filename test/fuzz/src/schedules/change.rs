//! Changes of a schedule, parameter by parameter (MDH paper, table 1).

use mdh_algebra::computation::Extent;
use mdh_algebra::layout::bounded;
use mdh_algebra::mapping::axis_name;
use mdh_schedule::asm::Asm;
use mdh_schedule::{LevelName, Parts, Schedule, StagedLayout, Step, TailCode, TileOrder};

use super::Style;
use super::plan::{PhaseOf, ValidSchedule, complete_orders, phase_mut, phase_of, set_parts};
use crate::choices::Choices;

/// A change, and how often it is made: where other parameters are the focus, to a tame schedule,
/// and to a wild one.
type Change = (&'static str, [u64; 3], fn(&mut Choices, &mut ValidSchedule));

/// In this order: what others depend on first.
const CHANGES: [Change; 22] = [
    ("layers", [2, 4, 25], layers),
    ("parts", [40, 45, 60], parts),
    ("parts again", [20, 25, 50], parts),
    ("core", [20, 22, 30], core),
    ("lanes", [12, 14, 30], lanes),
    ("D1", [16, 25, 70], |c, p| order(c, p, PhaseOf::Decompose)),
    ("D2", [0, 3, 60], |c, p| assign(c, p, PhaseOf::Decompose)),
    ("tile order", [6, 8, 40], tile_order),
    ("S1", [0, 6, 92], |c, p| order(c, p, PhaseOf::Scalar)),
    ("S2", [0, 3, 75], |c, p| assign(c, p, PhaseOf::Scalar)),
    ("R1", [6, 7, 75], |c, p| order(c, p, PhaseOf::Recompose)),
    ("late", [6, 8, 20], deferred),
    ("R2", [0, 3, 75], |c, p| assign(c, p, PhaseOf::Recompose)),
    ("D3 D4", [20, 25, 75], stage),
    ("D3 D4 again", [6, 10, 60], stage),
    ("stages", [35, 40, 50], stages),
    ("S3 S4", [0, 4, 85], scalar_of_input),
    ("R3 R4", [8, 12, 75], combine),
    ("S5 S6", [0, 4, 90], scalar_of_output),
    ("tails", [8, 12, 50], tails),
    ("deterministic", [8, 10, 40], deterministic),
    ("asm", [8, 10, 20], |_, p| {
        // Without a name, a schedule is for the processor.
        if p.asm.name != "cpu" {
            return;
        }
        p.change(|s| {
            s.asm = if s.asm.is_none() {
                Some("cpu".into())
            } else {
                None
            }
        });
    }),
];

/// So many times a change is tried until one is valid.
const TRIES: usize = 4;

/// Makes some of the changes.
pub fn all(c: &mut Choices, plan: &mut ValidSchedule, style: Style) {
    for (name, percents, change) in CHANGES {
        let percent = match style {
            Style::Focused => percents[0],
            Style::Tame => percents[1],
            Style::Wild => percents[2],
        };
        plan.step(c, name, |c, plan| {
            if !c.chance("made", percent) {
                return;
            }
            for n in 0..TRIES {
                let before = plan.schedule.clone();
                c.scope(n, |c| change(c, plan));
                if plan.schedule != before {
                    return;
                }
            }
        });
    }
}

/// One of these, if there are any.
pub fn pick<T: Clone>(c: &mut Choices, name: &str, from: &[T]) -> Option<T> {
    let number = c.below(name, from.len() as u64) as usize;
    from.get(number).cloned()
}

fn any_level(c: &mut Choices, plan: &ValidSchedule, layers: &[&str]) -> Option<LevelName> {
    let layer = pick(c, "layer", layers)?;
    let dimension = pick(c, "dimension", &plan.dimensions())?;
    Some(LevelName::new(layer, &dimension))
}

/// Two layers change places.
fn layers(c: &mut Choices, plan: &mut ValidSchedule) {
    let count = plan.schedule.layers.len() as u64;
    let (a, b) = (c.below("a", count) as usize, c.below("b", count) as usize);
    plan.change(|s| {
        if a != b {
            s.layers.swap(a, b);
            complete_orders(s);
        }
    });
}

/// The part count of a level; the outermost layer's follows.
fn parts(c: &mut Choices, plan: &mut ValidSchedule) {
    let names: Vec<String> = plan.asm.layers.iter().map(|l| l.name().into()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let Some(level) = any_level(c, plan, &names) else {
        return;
    };
    let count = 1 + c.below("count", 5) as i64;
    set_count(plan, &level, Parts::Fixed(count));
}

fn set_count(plan: &mut ValidSchedule, level: &LevelName, parts: Parts) {
    let asm = plan.asm;
    let derive = |s: &mut Schedule| {
        set_parts(s, asm, level, parts);
        let is_derived = |s: &Schedule| {
            let mut layers = s.layers.iter();
            layers.any(|l| l.parts.get(&level.dimension) == Some(&Parts::Derived))
        };
        let is_derived = is_derived(s);
        if let Some(first) = s.layers.first_mut()
            && first.name != level.layer
            && !is_derived
        {
            first.parts.remove(&level.dimension);
        }
        complete_orders(s);
    };
    plan.change(derive);
}

/// Several cores, in any dimension.
fn core(c: &mut Choices, plan: &mut ValidSchedule) {
    let layers: &[&str] = match plan.asm.has_kernels() {
        true => &["block", "warp", "thread"],
        false => &["core"],
    };
    if let Some(level) = any_level(c, plan, layers) {
        let count = 2 + c.below("count", 2) as i64;
        set_count(plan, &level, Parts::Fixed(count));
    }
}

/// Lanes in another dimension; results of threads that are combined in registers.
fn lanes(c: &mut Choices, plan: &mut ValidSchedule) {
    if plan.asm.has_kernels() {
        return threads(c, plan);
    }
    if plan.asm.lanes().is_none() {
        return;
    }
    let Some(level) = any_level(c, plan, &["simd"]) else {
        return;
    };
    let count = c.pick("count", &[4, 8, 2, 3, 16]);
    plan.change(|s| {
        if let Some(simd) = s.layers.iter_mut().find(|layer| layer.name == "simd") {
            // What another dimension had goes to its outermost level.
            simd.parts.clear();
        }
    });
    set_count(plan, &level, Parts::Fixed(count));
}

/// Results of the threads of a warp are combined in registers, those of warps in the block's memory.
fn threads(c: &mut Choices, plan: &mut ValidSchedule) {
    let known = &plan.target.known;
    let is_pw = |level: &LevelName| {
        let mut dims = known.dimensions.iter();
        dims.any(|d| d.name == level.dimension && d.combine.is_pw())
    };
    let mut order = plan.loops(PhaseOf::Decompose);
    let of_threads: Vec<LevelName> = (order.iter())
        .filter(|level| level.layer == "thread" && is_pw(level))
        .cloned()
        .collect();
    let Some(own) = pick(c, "level", &of_threads) else {
        return;
    };
    let warps: Vec<LevelName> = (order.iter())
        .filter(|level| level.layer == "warp" && is_pw(level))
        .cloned()
        .collect();
    if c.chance("inside", 80) {
        order.retain(|level| *level != own);
        let is_core = |level: &LevelName| ["warp", "thread"].contains(&level.layer.as_str());
        let place = order.iter().rposition(is_core).map_or(0, |last| last + 1);
        order.insert(place, own.clone());
        sort_layers(plan, &mut order);
    }
    let outputs = outputs(plan);
    plan.change(|s| {
        s.decompose.order = Some(order);
        for (name, _) in outputs {
            let output = s.outputs.entry(name).or_default();
            output.combine.clear();
            for warp in &warps {
                output.combine.insert(warp.clone(), "shared".into());
            }
            output.combine.insert(own.clone(), "register".into());
        }
    });
}

/// Some levels of a phase's order change places.
pub fn order(c: &mut Choices, plan: &mut ValidSchedule, of: PhaseOf) {
    let mut order = plan.loops(of);
    let count = order.len() as u64;
    if count < 2 {
        return;
    }
    match c.weighted("how", &[60, 25, 15]) {
        0 => {
            let n = c.below("which", count - 1) as usize;
            order.swap(n, n + 1);
        }
        1 => {
            let (a, b) = (c.below("a", count) as usize, c.below("b", count) as usize);
            order.swap(a, b);
        }
        _ => {
            for n in (1..order.len()).rev() {
                let other = c.scope(n, |c| n - c.below("swap", n as u64 + 1) as usize);
                order.swap(n, other);
            }
        }
    }
    if c.chance("as layers", 60) {
        sort_layers(plan, &mut order);
    }
    plan.change(|s| phase_mut(s, of).order = Some(order));
}

/// Of each dimension, outer layers stand outside.
fn sort_layers(plan: &ValidSchedule, order: &mut [LevelName]) {
    let resolved = plan.total();
    let position = |level: &LevelName| resolved.layers.iter().position(|name| *name == level.layer);
    for dimension in plan.dimensions() {
        let places: Vec<usize> = (0..order.len())
            .filter(|n| order[*n].dimension == dimension)
            .collect();
        let mut levels: Vec<LevelName> = places.iter().map(|n| order[*n].clone()).collect();
        levels.sort_by_key(position);
        for (place, level) in places.into_iter().zip(levels) {
            order[place] = level;
        }
    }
}

/// The levels of combined dimensions inside of sequential ones are combined after these.
fn deferred(c: &mut Choices, plan: &mut ValidSchedule) {
    let order = plan.loops(PhaseOf::Recompose);
    let known = &plan.target.known;
    let is_pw = |level: &LevelName| {
        let mut dims = known.dimensions.iter();
        dims.any(|d| d.name == level.dimension && d.combine.is_pw())
    };
    let is_inner = |level: &LevelName| level.layer == "simd" || level.layer == "register";
    let from = c.below("from", order.len() as u64) as usize;
    let (moved, stay): (Vec<_>, Vec<_>) = order
        .iter()
        .cloned()
        .partition(|level| is_pw(level) && is_inner(level));
    let place = from.min(stay.len());
    let order = [&stay[..place], &moved, &stay[place..]].concat();
    plan.change(|s| s.recompose.order = Some(order));
}

/// Two levels change their ASM levels.
fn assign(c: &mut Choices, plan: &mut ValidSchedule, of: PhaseOf) {
    let loops = plan.loops(of);
    let Some(a) = pick(c, "level", &loops) else {
        return;
    };
    let dimensions = plan.dimensions();
    let names: Vec<String> = plan.asm.layers.iter().map(|l| l.name().into()).collect();
    let b = match c.chance("another layer", 60) {
        true => pick(c, "layer", &names).map(|layer| LevelName::new(&layer, &a.dimension)),
        false => pick(c, "dimension", &dimensions).map(|d| LevelName::new(&a.layer, &d)),
    };
    let Some(b) = b.filter(|b| *b != a) else {
        return;
    };
    exchange(plan, of, &a, &b);
}

/// Two levels change their ASM levels in a phase.
pub fn exchange(plan: &mut ValidSchedule, of: PhaseOf, a: &LevelName, b: &LevelName) {
    let resolved = plan.total();
    let (phase, dimensions) = (phase_of(&resolved, of), plan.dimensions());
    let to = |level: &LevelName| {
        let layer = resolved
            .layers
            .iter()
            .position(|name| *name == level.layer)?;
        let dimension = dimensions
            .iter()
            .position(|name| *name == level.dimension)?;
        let to = phase.assign[layer][dimension];
        let name = axis_name(to.dimension);
        Some(LevelName::new(plan.asm.layers[to.layer].name(), &name))
    };
    let (Some(to_a), Some(to_b)) = (to(a), to(b)) else {
        return;
    };
    plan.change(|s| {
        let assign = &mut phase_mut(s, of).assign;
        assign.insert(a.clone(), to_b);
        assign.insert(b.clone(), to_a);
    });
}

fn region(c: &mut Choices, asm: &Asm) -> String {
    if asm.has_kernels() {
        let regions = ["shared", "register", "device"];
        return regions[c.weighted("region", &[60, 30, 10])].into();
    }
    let regions = ["L2", "L1", "L3", "register", "main"];
    regions[c.weighted("region", &[28, 28, 20, 20, 4])].into()
}

/// A layout of tiles of a buffer of this shape.
pub fn layout(c: &mut Choices, shape: &[Extent]) -> StagedLayout {
    let rank = shape.len();
    let sizes: Option<Vec<i64>> = shape.iter().copied().collect();
    let sizes = sizes.filter(|sizes| rank > 0 && sizes.iter().all(|n| (1..=256).contains(n)));
    if let Some(sizes) = sizes.filter(|_| c.chance("algebra", 25))
        && let Some(layout) = of_algebra(c, &sizes)
    {
        return layout;
    }
    steps(c, rank)
}

/// One of the algebra in which a tile of these sizes has room; none if that takes too much of it.
fn of_algebra(c: &mut Choices, sizes: &[i64]) -> Option<StagedLayout> {
    let powers = sizes.iter().map(|n| n.cast_unsigned().next_power_of_two());
    let powers: Vec<u64> = powers.collect();
    let text = match c.weighted("kind", &[20, 20, 20, 25, 15]) {
        0 => format!("GenP({sizes:?},reverse)"),
        1 => format!("GenP({powers:?},morton)"),
        2 if sizes.len() == 2 => format!("GenP([{},{}],xor)", sizes[0], powers[1]),
        3 if sizes.len() > 1 => format!("Col({sizes:?})"),
        _ => {
            let halves: Vec<u64> = powers.iter().map(|n| (n / 2).max(1)).collect();
            format!("Bricks({powers:?},{halves:?})")
        }
    };
    let layout = bounded::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let layout = StagedLayout::step(Step::Algebra(layout.into()));
    (layout.elements(sizes) <= 1 << 16).then_some(layout)
}

fn steps(c: &mut Choices, rank: usize) -> StagedLayout {
    let mut axes: Vec<usize> = (1..=rank).collect();
    for n in (1..rank).rev() {
        let other = c.scope(n, |c| n - c.below("swap", n as u64 + 1) as usize);
        axes.swap(n, other);
    }
    let small = |c: &mut Choices, name: &str, least: i64, most: u64| -> Vec<i64> {
        let number = |n| {
            c.scope(format!("{name}{n}"), |c| {
                least + c.below("size", most) as i64
            })
        };
        (0..rank).map(number).collect()
    };
    let steps = match c.weighted("layout", &[45, 20, 20, 15]) {
        0 => vec![Step::Permuted(axes)],
        1 => vec![Step::Padded(small(c, "pad", 0, 3))],
        2 => vec![Step::Blocked(small(c, "block", 1, 8))],
        _ => vec![Step::Permuted(axes), Step::Padded(small(c, "pad", 0, 3))],
    };
    StagedLayout { steps }
}

/// The tiles of two neighbouring levels in an order of their own.
fn tile_order(c: &mut Choices, plan: &mut ValidSchedule) {
    let loops = plan.loops(PhaseOf::Decompose);
    let pairs: Vec<&[LevelName]> = loops.windows(2).collect();
    let Some(levels) = pick(c, "levels", &pairs).map(<[LevelName]>::to_vec) else {
        return;
    };
    let resolved = plan.total();
    let count = |name: &LevelName| {
        let layer = resolved.layers.iter().position(|l| *l == name.layer)?;
        let dimension = resolved
            .dimensions
            .iter()
            .position(|d| *d == name.dimension)?;
        resolved.counts[layer][dimension].of(resolved.points[dimension])
    };
    // An empty dimension has levels without parts, which have no order.
    let counts = levels.iter().map(count).collect::<Option<Vec<i64>>>();
    let Some(counts) = counts.filter(|counts| counts.iter().all(|count| *count > 0)) else {
        return;
    };
    let text = match c.below("kind", 3) {
        0 => format!("GenP({counts:?},reverse)"),
        1 if counts.len() == 2 => format!("GenP({counts:?},antidiag)"),
        _ => format!("Col({counts:?})"),
    };
    let layout = bounded::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let layout = StagedLayout::step(Step::Algebra(layout.into()));
    plan.change(|s| s.tile_order = Some(TileOrder { levels, layout }));
}

/// An input's tiles in a region, in a layout (D3, D4).
fn stage(c: &mut Choices, plan: &mut ValidSchedule) {
    let inputs = plan.target.known.inputs.iter();
    let inputs: Vec<(String, Vec<Extent>)> =
        inputs.map(|b| (b.name.clone(), b.shape.clone())).collect();
    let (Some((name, shape)), Some(level)) = (
        pick(c, "input", &inputs),
        pick(c, "level", &plan.loops(PhaseOf::Decompose)),
    ) else {
        return;
    };
    let region = region(c, plan.asm);
    let layout = c.chance("layout", 50).then(|| layout(c, &shape));
    plan.change(|s| {
        let input = s.inputs.entry(name).or_default();
        if let Some(layout) = layout {
            input.layout.insert(level.clone(), layout);
        }
        input.stage.insert(level, region);
    });
}

/// Tiles of an input in several buffers of shared memory, where they are copied asynchronously: at a
/// level where they are, or at another one inside of a loop that goes from tile to tile.
fn stages(c: &mut Choices, plan: &mut ValidSchedule) {
    const SHARED: &str = "shared";
    let inputs = plan.target.known.inputs.iter().map(|b| b.name.clone());
    let loops = plan.loops(PhaseOf::Decompose);
    let (Some(name), Some(level)) = (
        pick(c, "input", &inputs.collect::<Vec<_>>()),
        pick(c, "level", &loops),
    ) else {
        return;
    };
    let is_moved = c.chance("moved", 50);
    let count = 1 + c.below("count", 4) as i64;
    if !plan.asm.has_kernels() {
        return;
    }
    plan.change(|s| {
        let input = s.inputs.entry(name).or_default();
        if is_moved {
            input.stage = [(level, SHARED.into())].into();
        }
        input.stages = Some(count);
    });
}

/// Rule: where the scalar function reads an input, and its layout there (S3, S4).
fn scalar_of_input(c: &mut Choices, plan: &mut ValidSchedule) {
    let inputs = plan.target.known.inputs.iter();
    let inputs: Vec<(String, Vec<Extent>)> =
        inputs.map(|b| (b.name.clone(), b.shape.clone())).collect();
    let Some((name, shape)) = pick(c, "input", &inputs) else {
        return;
    };
    let region = (!c.chance("same region", 15)).then(|| region(c, plan.asm));
    let layout = c.chance("layout", 65).then(|| layout(c, &shape));
    plan.change(|s| {
        let input = s.inputs.entry(name).or_default();
        input.scalar = region.or(input.scalar.take());
        input.scalar_layout = layout.or(input.scalar_layout.take());
    });
}

/// The outputs' names and shapes.
pub fn outputs(plan: &ValidSchedule) -> Vec<(String, Vec<Extent>)> {
    let outputs = plan.target.known.outputs.iter();
    outputs.map(|b| (b.name.clone(), b.shape.clone())).collect()
}

/// Partial results in a region, in a layout (R3, R4): of one output, or of all of them.
fn combine(c: &mut Choices, plan: &mut ValidSchedule) {
    let mut outputs = outputs(plan);
    let Some(level) = pick(c, "level", &plan.loops(PhaseOf::Recompose)) else {
        return;
    };
    if c.chance("one", 30) {
        let only = pick(c, "output", &outputs);
        outputs.retain(|output| Some(output) == only.as_ref());
    }
    let region = region(c, plan.asm);
    let has_layout = c.chance("layout", 55);
    let mut layouts = Vec::new();
    for (name, shape) in &outputs {
        layouts.push(c.scope(name, |c| has_layout.then(|| layout(c, shape))));
    }
    plan.change(|s| {
        for ((name, _), layout) in outputs.into_iter().zip(layouts) {
            let output = s.outputs.entry(name).or_default();
            if let Some(layout) = layout {
                output.layout.insert(level.clone(), layout);
            }
            output.combine.insert(level.clone(), region.clone());
        }
    });
}

/// Rule: where the scalar function writes an output, and its layout there (S5, S6).
fn scalar_of_output(c: &mut Choices, plan: &mut ValidSchedule) {
    let Some((name, shape)) = pick(c, "output", &outputs(plan)) else {
        return;
    };
    let region = (!c.chance("same region", 15)).then(|| region(c, plan.asm));
    let layout = c.chance("layout", 65).then(|| layout(c, &shape));
    plan.change(|s| {
        let output = s.outputs.entry(name).or_default();
        output.scalar = region.or(output.scalar.take());
        output.scalar_layout = layout.or(output.scalar_layout.take());
    });
}

fn tails(c: &mut Choices, plan: &mut ValidSchedule) {
    let Some(dimension) = pick(c, "dimension", &plan.dimensions()) else {
        return;
    };
    let code = match c.chance("masked", 35) {
        true => TailCode::Mask,
        false => TailCode::Peel,
    };
    plan.change(|s| {
        s.tails.insert(dimension, code);
    });
}

fn deterministic(c: &mut Choices, plan: &mut ValidSchedule) {
    let is = !c.chance("false", 20);
    plan.change(|s| s.deterministic = Some(is));
}
