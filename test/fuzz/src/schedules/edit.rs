//! Wild edits of a schedule, parameter by parameter (MDH paper, table 1): what no search would draw.

use mdh_algebra::computation::Extent;
use mdh_algebra::layout::bounded;
use mdh_algebra::mapping::axis_name;
use mdh_schedule::edit::PhaseName::{Decompose, Recompose, Scalar};
use mdh_schedule::edit::Role::{Input, Output};
use mdh_schedule::edit::{Edit, PhaseName, Role};
use mdh_schedule::{LevelName, Parts, Schedule, StagedLayout, Step, TailCode};

use super::plan::{ValidSchedule, complete_orders, phase_mut, phase_of};
use super::{Style, coverage};
use crate::choices::Choices;

/// Range of values that an edit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// All that the checks accept, of which much is not lowered.
    Any,
    /// Those of which most are lowered.
    Lowered,
}

type Change = fn(&mut Choices, &mut ValidSchedule, Range);

/// A change, and how often it is made: where other parameters are the focus, to a tame schedule,
/// to a wild one, and, among other foci, as the focus itself. Then the parameters that it has its name of are
/// away from their defaults afterwards, if there is a way.
type Row = (&'static str, [u64; 4], Change);

/// In this order: what others depend on first.
const CHANGES: [Row; 22] = [
    ("layers", [2, 4, 25, 0], layers),
    ("parts", [45, 50, 60, 0], parts),
    ("parts again", [25, 30, 50, 0], parts),
    ("core", [32, 34, 40, 0], core),
    ("lanes", [14, 16, 30, 0], lanes),
    ("D1", [16, 25, 70, 5], |c, p, r| order(c, p, r, Decompose)),
    ("D2", [0, 3, 60, 10], |c, p, r| assign(c, p, r, Decompose)),
    ("tile order", [6, 8, 40, 0], tile_order),
    ("S1", [0, 6, 92, 17], |c, p, r| order(c, p, r, Scalar)),
    ("S2", [0, 3, 75, 8], |c, p, r| assign(c, p, r, Scalar)),
    ("R1", [6, 7, 75, 10], |c, p, r| order(c, p, r, Recompose)),
    ("late", [6, 8, 20, 0], deferred),
    ("R2", [0, 3, 75, 11], |c, p, r| assign(c, p, r, Recompose)),
    ("D3 D4", [20, 25, 75, 4], |c, p, r| place(c, p, r, Input)),
    ("D3 D4 again", [6, 10, 60, 0], |c, p, r| {
        place(c, p, r, Input)
    }),
    ("stages", [35, 40, 50, 0], stages),
    ("S3 S4", [0, 4, 85, 15], |c, p, r| scalar(c, p, r, Input)),
    ("R3 R4", [8, 12, 75, 13], |c, p, r| place(c, p, r, Output)),
    ("S5 S6", [0, 4, 90, 18], |c, p, r| scalar(c, p, r, Output)),
    ("tails", [8, 12, 50, 0], tails),
    ("deterministic", [8, 10, 40, 0], deterministic),
    ("asm", [8, 10, 20, 0], |_, p, _| {
        // Without a name, a schedule is for the processor.
        let name = p.schedule.asm.is_none().then(|| "cpu".to_string());
        if !p.asm.has_kernels() {
            p.change(|s| s.asm = name);
        }
    }),
];

/// So many times a change is tried until one is valid, and until a focus is away from its default.
const TRIES: [usize; 2] = [4, 6];

/// Makes some of the changes.
pub fn all(c: &mut Choices, plan: &mut ValidSchedule, style: Style) {
    for (name, percents, change) in CHANGES {
        step(c, plan, name, |c, plan| {
            if !c.chance("made", percents[style as usize]) {
                return;
            }
            let before = plan.schedule.clone();
            for n in 0..TRIES[0] {
                c.scope(n, |c| change(c, plan, Range::Any));
                if plan.schedule != before {
                    return;
                }
            }
        });
    }
    if style == Style::Focused {
        c.scope("focus", |c| foci(c, plan));
    }
}

/// Changes some parameters for sure, if there is a way.
fn foci(c: &mut Choices, plan: &mut ValidSchedule) {
    let count = 1 + c.weighted("foci", &[35, 40, 25]);
    let weights = CHANGES.map(|(_, percents, _)| percents[3]);
    let mut chosen: Vec<usize> = (0..count)
        .map(|n| c.scope(n, |c| c.weighted("parameter", &weights)))
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    for (name, _, change) in chosen.into_iter().map(|n| CHANGES[n]) {
        step(c, plan, name, |c, plan| {
            for n in 0..TRIES[1] {
                let covered = coverage::of_schedule(&plan.schedule, plan.target, plan.asm);
                if name
                    .split(' ')
                    .all(|wanted| covered.iter().any(|f| f == wanted))
                {
                    return;
                }
                c.scope(n, |c| change(c, plan, Range::Lowered));
            }
        });
    }
}

/// Changes a schedule by choices of their own, in a scope that reducing a case may drop.
fn step(
    c: &mut Choices,
    plan: &mut ValidSchedule,
    name: &str,
    change: impl FnOnce(&mut Choices, &mut ValidSchedule),
) {
    c.scope(name, |c| {
        if c.keep() {
            change(c, plan);
        }
    });
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
fn layers(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
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
fn parts(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
    let names: Vec<&str> = plan.asm.layers.iter().map(|l| l.name()).collect();
    let Some(level) = any_level(c, plan, &names) else {
        return;
    };
    let parts = match c.chance("derived", 12) {
        true => Parts::Derived,
        false => Parts::Fixed(1 + c.below("count", 5) as i64),
    };
    set_count(plan, level, parts);
}

fn set_count(plan: &mut ValidSchedule, level: LevelName, parts: Parts) {
    let asm = plan.asm;
    let LevelName { layer, dimension } = level;
    plan.change(|s| {
        let mut inner = s.layers.iter();
        let inner = inner.find(|own| asm.position(&own.name) > asm.position(&layer));
        let is_there = s.layers.iter().any(|own| own.name == layer);
        let edit = Edit::Parts {
            outside: inner.filter(|_| !is_there).map(|own| own.name.clone()),
            layer: layer.clone(),
            counts: [(dimension.clone(), parts)].into(),
        };
        let is_derived = |own: &mdh_schedule::Layer| {
            own.name != layer && own.parts.get(&dimension) == Some(&Parts::Derived)
        };
        if parts == Parts::Derived {
            for own in s.layers.iter_mut().filter(|own| is_derived(own)) {
                own.parts.remove(&dimension);
            }
        }
        // What cannot be applied changes nothing.
        let _ = edit.apply(s);
        let is_derived = parts == Parts::Derived || s.layers.iter().any(is_derived);
        if let Some(first) = s.layers.first_mut()
            && first.name != layer
        {
            first.parts.remove(&dimension);
            if is_derived {
                first.parts.insert(dimension.clone(), Parts::Fixed(1));
            }
        }
        complete_orders(s);
    });
}

/// Several cores, in any dimension.
fn core(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
    let layers: &[&str] = match plan.asm.has_kernels() {
        true => &["block", "warp", "thread"],
        false => &["core"],
    };
    if let Some(level) = any_level(c, plan, layers) {
        let count = 2 + c.below("count", 2) as i64;
        set_count(plan, level, Parts::Fixed(count));
    }
}

/// Lanes in another dimension.
fn lanes(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
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
    set_count(plan, level, Parts::Fixed(count));
}

/// Some levels of a phase's order change places. What is lowered are mostly neighbours of different dimensions; when
/// parts in registers are combined is mostly the affair of those alone.
fn order(c: &mut Choices, plan: &mut ValidSchedule, range: Range, phase: PhaseName) {
    let mut order = plan.loops(phase);
    let is_lowered = |n: &usize| {
        let (a, b) = (&order[*n], &order[n + 1]);
        let is_deferred = phase == Recompose && (is_inner(a) || is_inner(b));
        range == Range::Any || a.dimension != b.dimension && !is_deferred
    };
    let last = order.len().saturating_sub(1);
    let places: Vec<usize> = (0..last).filter(is_lowered).collect();
    let Some(place) = pick(c, "place", &places) else {
        return;
    };
    let chances = if range == Range::Any {
        [25, 15]
    } else {
        [0, 0]
    };
    let count = order.len() as u64;
    match c.weighted("how", &[60, chances[0], chances[1]]) {
        0 => order.swap(place, place + 1),
        1 => order.swap(place, c.below("other", count) as usize),
        _ => shuffle(c, &mut order),
    }
    if range == Range::Any && c.chance("as layers", 60) {
        sort_layers(plan, &mut order);
    }
    plan.change(|s| phase_mut(s, phase).order = Some(order));
}

fn shuffle<T>(c: &mut Choices, items: &mut [T]) {
    for n in (1..items.len()).rev() {
        let other = c.scope(n, |c| n - c.below("swap", n as u64 + 1) as usize);
        items.swap(n, other);
    }
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

/// Returns whether a level is in registers by its name.
fn is_inner(level: &LevelName) -> bool {
    ["register", "simd"].contains(&level.layer.as_str())
}

/// The levels of combined dimensions inside of sequential ones are combined after these.
fn deferred(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
    let order = plan.loops(Recompose);
    let known = &plan.target.known;
    let is_pw = |level: &LevelName| {
        let mut dims = known.dimensions.iter();
        dims.any(|d| d.name == level.dimension && d.combine.is_pw())
    };
    let from = c.below("from", order.len() as u64) as usize;
    let (moved, stay): (Vec<_>, Vec<_>) = order
        .iter()
        .cloned()
        .partition(|level| is_pw(level) && is_inner(level));
    let place = from.min(stay.len());
    let order = [&stay[..place], &moved, &stay[place..]].concat();
    plan.change(|s| s.recompose.order = Some(order));
}

/// Two levels change their ASM levels in a phase. What is lowered are mostly sequential loops with other homes: a level
/// of a memory layer, and one that is not given to it.
fn assign(c: &mut Choices, plan: &mut ValidSchedule, range: Range, phase: PhaseName) {
    let is_memory = |name: &str| {
        let memory = ["main", "L3", "L2", "L1", "device", "shared"];
        range == Range::Any || memory.contains(&name)
    };
    let mut loops = plan.loops(phase);
    loops.retain(|level| is_memory(&level.layer));
    let layers = plan.asm.layers.iter().map(|layer| layer.name());
    let layers: Vec<&str> = layers.filter(|name| is_memory(name)).collect();
    let Some(a) = pick(c, "level", &loops) else {
        return;
    };
    let dimensions = plan.dimensions();
    let b = match c.chance("another dimension", 35) {
        true => pick(c, "dimension", &dimensions).map(|d| LevelName::new(&a.layer, &d)),
        false => pick(c, "layer", &layers).map(|layer| LevelName::new(layer, &a.dimension)),
    };
    let Some(b) = b.filter(|b| *b != a) else {
        return;
    };
    let resolved = plan.total();
    let to = |level: &LevelName| {
        let layer = resolved.layers.iter().position(|l| *l == level.layer)?;
        let dimension = dimensions.iter().position(|d| *d == level.dimension)?;
        let to = phase_of(&resolved, phase).assign[layer][dimension];
        let layer = plan.asm.layers[to.layer].name();
        Some(LevelName::new(layer, &axis_name(to.dimension)))
    };
    if let (Some(to_a), Some(to_b)) = (to(&a), to(&b)) {
        let levels = [(a, to_b), (b, to_a)].into();
        plan.apply(&[Edit::Assign { phase, levels }]);
    }
}

fn region(c: &mut Choices, plan: &ValidSchedule, range: Range) -> String {
    let (regions, weights) = match (plan.asm.has_kernels(), range) {
        (true, Range::Any) => (["shared", "device", "register"], [60, 10, 30]),
        (true, Range::Lowered) => (["shared", "device", "register"], [45, 45, 10]),
        (false, Range::Any) => return c.pick("region", &CPU_REGIONS).into(),
        (false, Range::Lowered) => {
            let weights = [30, 30, 30, 10, 0];
            return CPU_REGIONS[c.weighted("region", &weights)].into();
        }
    };
    regions[c.weighted("region", &weights)].into()
}

const CPU_REGIONS: [&str; 5] = ["L1", "L2", "L3", "register", "main"];

/// A layout of tiles of a buffer of this shape. What is lowered are mostly axes in another order, or with room behind
/// them.
fn layout(c: &mut Choices, shape: &[Extent], range: Range) -> StagedLayout {
    let rank = shape.len();
    let sizes: Option<Vec<i64>> = shape.iter().copied().collect();
    let sizes = sizes.filter(|sizes| rank > 0 && sizes.iter().all(|n| (1..=256).contains(n)));
    let (algebra, blocked) = match range {
        Range::Any => (25, 20),
        Range::Lowered => (3, 2),
    };
    if let Some(sizes) = sizes.filter(|_| c.chance("algebra", algebra))
        && let Some(layout) = of_algebra(c, &sizes)
    {
        return layout;
    }
    let mut axes: Vec<usize> = (1..=rank).collect();
    shuffle(c, &mut axes);
    let small = |c: &mut Choices, name: &str, most: u64| -> Vec<i64> {
        let number = |n| c.scope(format!("{name}{n}"), |c| c.below("size", most) as i64);
        (0..rank).map(number).collect()
    };
    let mut pads = small(c, "pad", 3);
    if let Some(last) = pads.last_mut() {
        *last += 1;
    }
    let steps = match c.weighted("layout", &[45, 30, 15, blocked]) {
        0 if rank > 1 => vec![Step::Permuted(axes)],
        2 if rank > 1 => vec![Step::Permuted(axes), Step::Padded(pads)],
        3 => {
            let blocks = small(c, "block", 8).into_iter();
            vec![Step::Blocked(blocks.map(|n| n + 1).collect())]
        }
        _ => vec![Step::Padded(pads)],
    };
    StagedLayout { steps }
}

/// One of the algebra in which a tile of these sizes has room; none if that takes too much of it.
fn of_algebra(c: &mut Choices, sizes: &[i64]) -> Option<StagedLayout> {
    let powers = sizes.iter().map(|n| n.cast_unsigned().next_power_of_two());
    let powers: Vec<u64> = powers.collect();
    let layout = algebra(&match c.weighted("kind", &[20, 20, 20, 25, 15]) {
        0 => format!("GenP({sizes:?},reverse)"),
        1 => format!("GenP({powers:?},morton)"),
        2 if sizes.len() == 2 => format!("GenP([{},{}],xor)", sizes[0], powers[1]),
        3 if sizes.len() > 1 => format!("Col({sizes:?})"),
        _ => {
            let halves: Vec<u64> = powers.iter().map(|n| (n / 2).max(1)).collect();
            format!("Bricks({powers:?},{halves:?})")
        }
    });
    (layout.elements(sizes) <= 1 << 16).then_some(layout)
}

fn algebra(text: &str) -> StagedLayout {
    let layout = bounded::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    StagedLayout::step(Step::Algebra(layout.into()))
}

/// The tiles of two neighbouring levels in an order of their own.
fn tile_order(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
    let loops = plan.loops(Decompose);
    let pairs: Vec<&[LevelName]> = loops.windows(2).collect();
    let Some(levels) = pick(c, "levels", &pairs).map(<[LevelName]>::to_vec) else {
        return;
    };
    let resolved = plan.total();
    let count = |name: &LevelName| {
        let layer = resolved.layers.iter().position(|l| *l == name.layer)?;
        let mut dimensions = resolved.dimensions.iter();
        let dimension = dimensions.position(|d| *d == name.dimension)?;
        resolved.counts[layer][dimension].for_points(resolved.points[dimension])
    };
    // An empty dimension has levels without parts, which have no order.
    let counts = levels.iter().map(count).collect::<Option<Vec<i64>>>();
    let Some(counts) = counts.filter(|counts| counts.iter().all(|count| *count > 0)) else {
        return;
    };
    let layout = algebra(&match c.below("kind", 3) {
        0 => format!("GenP({counts:?},reverse)"),
        1 if counts.len() == 2 => format!("GenP({counts:?},antidiag)"),
        _ => format!("Col({counts:?})"),
    });
    plan.apply(&[Edit::TileOrder { levels, layout }]);
}

/// The names and shapes of inputs, or of outputs.
fn buffers(plan: &ValidSchedule, role: Role) -> Vec<(String, Vec<Extent>)> {
    let known = &plan.target.known;
    let inputs = known.inputs.iter().map(|b| (&b.name, &b.shape));
    let outputs = known.outputs.iter().map(|b| (&b.name, &b.shape));
    let cloned = |(name, shape): (&String, &Vec<Extent>)| (name.clone(), shape.clone());
    match role {
        Input => inputs.map(cloned).collect(),
        Output => outputs.map(cloned).collect(),
    }
}

/// Tiles of an input (D3, D4), or partial results of one output or of all (R3, R4), in a region, in a layout.
fn place(c: &mut Choices, plan: &mut ValidSchedule, range: Range, role: Role) {
    let is_input = role == Input;
    let mut levels = plan.loops(match is_input {
        true => Decompose,
        false => Recompose,
    });
    levels.retain(|level| range == Range::Any || !is_inner(level));
    let Some(at) = pick(c, "level", &levels) else {
        return;
    };
    let mut buffers = buffers(plan, role);
    if is_input || range == Range::Lowered || c.chance("one", 30) {
        buffers = Vec::from_iter(pick(c, "buffer", &buffers));
    }
    let region = Some(region(c, plan, range));
    let has_layout = range == Range::Lowered || c.chance("layout", 50);
    let edit = |(name, shape): (String, Vec<Extent>)| {
        let layout = has_layout.then(|| c.scope(&name, |c| layout(c, &shape, range)));
        let (at, region) = (at.clone(), region.clone());
        match role {
            Input => Edit::Stage {
                input: name,
                at,
                region,
                layout,
            },
            Output => Edit::Combine {
                output: name,
                at,
                region,
                layout,
            },
        }
    };
    let edits: Vec<Edit> = buffers.into_iter().map(edit).collect();
    change_places(plan, range, &edits);
}

/// Rule: where the scalar function reads an input, or writes an output, and its layout there (S3 to S6).
fn scalar(c: &mut Choices, plan: &mut ValidSchedule, range: Range, role: Role) {
    let Some((buffer, shape)) = pick(c, "buffer", &buffers(plan, role)) else {
        return;
    };
    let region = (!c.chance("same region", 20)).then(|| region(c, plan, range));
    let may_have = range == Range::Any || region.as_deref() != Some("register");
    let layout = (may_have && c.chance("layout", 65)).then(|| layout(c, &shape, range));
    let edit = Edit::Scalar {
        role,
        buffer,
        region,
        layout,
    };
    change_places(plan, range, &[edit]);
}

/// Applies edits of places. What is in registers from a level on has no other place further in, if it is to be lowered.
fn change_places(plan: &mut ValidSchedule, range: Range, edits: &[Edit]) {
    let leave_registers = |s: &mut Schedule, edit: &Edit| {
        let (inputs, outputs) = (&mut s.inputs, &mut s.outputs);
        let places = match edit {
            Edit::Stage { input: buffer, .. }
            | Edit::Scalar {
                role: Input,
                buffer,
                ..
            } => inputs.get_mut(buffer).map(|plan| &mut plan.stage),
            Edit::Combine { output: buffer, .. } | Edit::Scalar { buffer, .. } => {
                outputs.get_mut(buffer).map(|plan| &mut plan.combine)
            }
            _ => None,
        };
        if let Some(places) = places {
            places.retain(|_, region| region != "register");
        }
    };
    plan.change(|s| {
        for edit in edits {
            if range == Range::Lowered {
                leave_registers(s, edit);
            }
            let _ = edit.apply(s);
        }
    });
}

/// Tiles of an input in several buffers of shared memory, where they are copied asynchronously: at a
/// level where they are, or at another one inside of a loop that goes from tile to tile.
fn stages(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
    let loops = plan.loops(Decompose);
    let (Some((input, _)), Some(level)) = (
        pick(c, "input", &buffers(plan, Input)),
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
        let plan = s.inputs.entry(input).or_default();
        if is_moved {
            plan.stage = [(level, "shared".into())].into();
        }
        plan.stages = Some(count);
    });
}

fn tails(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
    let Some(dimension) = pick(c, "dimension", &plan.dimensions()) else {
        return;
    };
    let code = match c.chance("masked", 35) {
        true => TailCode::Mask,
        false => TailCode::Peel,
    };
    let dimensions = [(dimension, code)].into();
    plan.apply(&[Edit::Tails { dimensions }]);
}

fn deterministic(c: &mut Choices, plan: &mut ValidSchedule, _: Range) {
    let value = !c.chance("false", 20);
    plan.apply(&[Edit::Deterministic { value }]);
}
