//! One computation.

use mdh_algebra::computation::Combine;
use mdh_algebra::operator::Operator;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::types::BufferKind;

use super::back::{self, Back, Written};
use super::buffers::{self, Names, ViewContext};
use super::generator::{Generator, Purpose};
use super::operators::{self, Needs};
use super::{domain, scalar, types};
use crate::choices::Choices;
use crate::program::{Carry, Definition, Dim, Hom, Notation, Statement, Step, Type, ValueId, View};

/// Adds a computation to the program.
pub fn step(c: &mut Choices, g: &mut Generator) {
    let form = match c.chance("compute", 40) {
        true => Notation::Compute,
        false => Notation::Triple,
    };
    let back = read_back(c, g);
    let mut dims = match &back {
        Some(back) => back.dims.clone(),
        None => domain::dims(c, &g.hints()),
    };
    let plans = plans(c, g, form, &dims);
    let mut names = Names(dims.iter().map(|d| d.name.clone()).collect());
    let grids = domain::reach(&dims);
    let mut place = ViewContext {
        grids: &grids,
        names: &mut names,
    };
    // Without a hom, the tuple is what is read.
    let tuple = plans.last().map(|plan| plan.components.clone());
    let kept_dims: Vec<usize> = (0..dims.len())
        .filter(|d| plans.iter().all(|plan| !plan.combine[*d].is_pw()))
        .collect();
    let mut stored = Stored {
        kept: kept_dims,
        outputs: Vec::new(),
        carries: Vec::new(),
    };
    if let Some(tuple) = &tuple {
        stored.outputs = outputs(c, g, &mut place, tuple, &stored.kept);
    }
    if let Some(plan) = plans.last() {
        stored.carries = carries(c, g, &mut place, plan, &stored);
    }
    let like = tuple.as_deref().unwrap_or(&[]);
    let mut inputs = inputs(c, g, &mut place, like, &stored);
    if let Some(back) = &back {
        inputs.push(buffers::read_back(c, g, &mut place, back));
    }
    let read: Vec<ScalarType> = inputs
        .iter()
        .flat_map(|view| vec![g.ty(view.value).element; view.accesses.len()])
        .collect();
    if tuple.is_none() {
        stored.outputs = outputs(c, g, &mut place, &read, &stored.kept);
    }
    let homs = homs(c, g, plans, read, form);
    open_bounds(c, g, &mut dims);
    let results = store(g, &dims, &stored);
    g.program.body.push(Statement::Step(Box::new(Step {
        form,
        dims,
        inputs,
        homs,
        outputs: stored.outputs,
        carries: stored.carries,
        results,
    })));
}

/// A map before this computation, to be read the other way round.
fn read_back(c: &mut Choices, g: &Generator) -> Option<Back> {
    if g.maps.is_empty() || !c.chance("read back", 60) {
        return None;
    }
    let number = c.below("of", g.maps.len() as u64) as usize;
    Some(back::back(c, &g.maps[number]))
}

/// The homomorphisms, without their scalar functions.
fn plans(c: &mut Choices, g: &Generator, form: Notation, dims: &[Dim]) -> Vec<HomPlan> {
    let count = match form {
        Notation::Triple => {
            let weights = g.purpose.pick([85, 9, 3, 3], [100, 0, 0, 0]);
            [1, 2, 3, 0][c.weighted("homs", &weights)]
        }
        Notation::Compute => 1,
    };
    // Only what combines nothing can move into a computation that follows.
    let maps = if g.is_last { 5 } else { 55 };
    let mut plans: Vec<HomPlan> = Vec::new();
    for n in 0..count {
        c.scope(format!("hom{n}"), |c| {
            if c.keep() || count == 1 {
                plans.push(plan(c, dims, &plans, maps));
            }
        });
    }
    plans
}

/// Leaves some bounds of dimensions open.
fn open_bounds(c: &mut Choices, g: &mut Generator, dims: &mut [Dim]) {
    for (n, dim) in dims.iter_mut().enumerate() {
        c.scope(format!("bounds{n}"), |c| {
            for (b, bound) in dim.bounds.iter_mut().enumerate() {
                // Steps and widths are to be known where tiles are cut.
                let can_be_open = b < 2 || c.chance("open", g.purpose.pick(100, 10));
                if can_be_open {
                    *bound = c.scope(b, |c| g.bound(c, bound.number));
                }
            }
        });
    }
}

/// Notes in the generator what a computation writes, and returns its results.
fn store(g: &mut Generator, dims: &[Dim], stored: &Stored) -> Vec<ValueId> {
    let outgoing = stored.carries.iter().flat_map(|carry| &carry.outgoing);
    let views: Vec<&View> = stored.outputs.iter().chain(outgoing).collect();
    let written: Vec<ValueId> = views.iter().map(|view| view.value).collect();
    let is_undefined: Vec<bool> = views
        .iter()
        .map(|view| leaves_some(g, view, dims))
        .collect();
    let (results, written) = match g.kind {
        BufferKind::MemRef => (Vec::new(), written),
        _ => {
            let result = |value: &ValueId| {
                let (name, ty) = (g.name("r"), g.ty(*value).clone());
                g.program.value(name, ty, Definition::Result)
            };
            let results: Vec<ValueId> = written.iter().map(result).collect();
            (results.clone(), results)
        }
    };
    g.results.extend(&results);
    if g.kind == BufferKind::Tensor && stored.kept.len() == dims.len() {
        let maps = results.iter().zip(&stored.outputs);
        let maps = maps.filter_map(|(result, view)| Written::new(*result, view, dims));
        g.maps.extend(maps);
    }
    for (value, is_undefined) in written.into_iter().zip(is_undefined) {
        match (is_undefined, g.kind) {
            (false, _) => {
                g.undefined.retain(|other| *other != value);
                g.written.push(value);
            }
            (true, BufferKind::MemRef) => {}
            (true, _) => g.undefined.push(value),
        }
    }
    results
}

/// Returns true if a destination still has elements that nobody wrote when this output is there.
fn leaves_some(g: &Generator, view: &View, dims: &[Dim]) -> bool {
    if !g.undefined.contains(&view.value) {
        return false;
    }
    let is_indexed = |d: &usize| view.accesses[0].iter().any(|e| e.uses(*d));
    let indexed = (0..dims.len()).filter(is_indexed);
    let points: i64 = indexed.map(|d| dims[d].grid.count()).product();
    let elements: i64 = g.ty(view.value).shape.iter().product();
    // What is stored at one point is stored at no other.
    points * (view.accesses.len() as i64) < elements
}

/// Views that a computation stores to, and the dimensions of its results.
struct Stored {
    /// The dimensions.
    kept: Vec<usize>,
    outputs: Vec<View>,
    carries: Vec<Carry>,
}

/// A homomorphism without its scalar function.
struct HomPlan {
    combine: Vec<Combine>,
    operator: Option<Operator>,
    components: Vec<ScalarType>,
}

/// `maps` percent combine nothing.
fn plan(c: &mut Choices, dims: &[Dim], before: &[HomPlan], maps: u64) -> HomPlan {
    if c.chance("map", maps) {
        return HomPlan {
            combine: vec![Combine::Cc; dims.len()],
            operator: None,
            components: operators::components(c),
        };
    }
    let is_single = c.chance("one dimension", 20);
    let only = c.below("which", dims.len() as u64) as usize;
    let combine = |d| {
        c.scope(format!("combine{d}"), |c| {
            let combine = match is_single {
                true => c.weighted("only", &[0, 60, 40]),
                false => c.weighted("combine", &[45, 35, 20]),
            };
            match (combine, is_single && d != only) {
                (0, _) | (_, true) => Combine::Cc,
                (1, _) => Combine::Pw(0),
                _ => Combine::Ps(0),
            }
        })
    };
    let combine: Vec<Combine> = (0..dims.len()).map(combine).collect();
    let combined: Vec<usize> = (0..dims.len())
        .filter(|d| combine[*d].operator().is_some())
        .collect();
    if combined.is_empty() {
        return HomPlan {
            combine,
            operator: None,
            components: operators::components(c),
        };
    }
    let is_one_point = |d: usize| before.iter().any(|plan| plan.combine[d].is_pw());
    let needs = Needs {
        commutative: combined.len() > 1,
        neutral: combined
            .iter()
            .any(|d| dims[*d].grid.is_empty() && !is_one_point(*d)),
    };
    let (operator, components) = operators::operator(c, needs);
    HomPlan {
        combine,
        operator: Some(operator),
        components,
    }
}

/// Destinations for some of the components, in their order.
fn outputs(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    tuple: &[ScalarType],
    kept: &[usize],
) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    let mut component = 0;
    while component < tuple.len() {
        let first = tuple[component];
        component += c.scope(format!("output{component}"), |c| {
            let is_last = component + 1 == tuple.len();
            let is_skipped = !c.keep() || c.chance("skipped", g.purpose.pick(12, 4));
            if is_skipped && !(is_last && views.is_empty()) {
                return 1;
            }
            let alike = tuple[component..]
                .iter()
                .take_while(|ty| ty.is_float() == first.is_float());
            let alike = alike.count();
            let accesses = match alike > 1 && c.chance("several", 30) {
                true => 2 + c.below("accesses", alike as u64 - 1) as usize,
                false => 1,
            };
            let element = match c.chance("as it is", g.purpose.pick(0, 75)) {
                true => first,
                false => types::stored(c, first),
            };
            let view = buffers::destination(c, g, place, element, kept, accesses);
            views.push(View { component, ..view });
            accesses
        });
    }
    views
}

fn carries(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    plan: &HomPlan,
    stored: &Stored,
) -> Vec<Carry> {
    if plan.operator.is_none() || !c.chance("carries", g.purpose.pick(14, 25)) {
        return Vec::new();
    }
    let mut carries = Vec::new();
    for dim in (0..plan.combine.len()).filter(|d| plan.combine[*d].operator().is_some()) {
        c.scope(format!("carry{dim}"), |c| {
            if c.keep() && c.chance("split", 75) {
                carries.push(carry(c, g, place, plan, dim, stored));
            }
        });
    }
    if carries.len() > 1 && c.chance("turned", 25) {
        carries.reverse();
    }
    carries
}

fn carry(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    plan: &HomPlan,
    dim: usize,
    stored: &Stored,
) -> Carry {
    let over: Vec<usize> = stored.kept.iter().copied().filter(|d| *d != dim).collect();
    let components = plan.components.iter().enumerate();
    let can_be_own = g.purpose == Purpose::Tile && plan.combine[dim].is_pw();
    let in_place = match can_be_own && c.chance("in place", 85) {
        true => buffers::in_place(g, place, &plan.components, &stored.outputs),
        false => None,
    };
    let incoming = match in_place {
        Some(views) => views,
        None => components
            .clone()
            .map(|(n, ty)| {
                c.scope(format!("in{n}"), |c| {
                    buffers::incoming(c, g, place, *ty, &over)
                })
            })
            .collect(),
    };
    let valid = match c.weighted("valid", &[40, 30, 30]) {
        0 => None,
        1 => {
            let name = g.name("b");
            let value = mdh_algebra::scalar::Scalar::from_bool(c.chance("is valid", 60));
            let ty = Type::scalar(ScalarType::I1);
            Some(g.program.define(name, ty, Definition::Constant(value)))
        }
        _ => Some(g.argument("b", Type::scalar(ScalarType::I1))),
    };
    let outgoing = match c.chance("carried out", g.purpose.pick(60, 15)) {
        true => components
            .map(|(n, ty)| {
                c.scope(format!("out{n}"), |c| {
                    buffers::destination(c, g, place, *ty, &over, 1)
                })
            })
            .collect(),
        false => Vec::new(),
    };
    Carry {
        dim,
        incoming,
        valid,
        outgoing,
    }
}

fn inputs(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    tuple: &[ScalarType],
    stored: &Stored,
) -> Vec<View> {
    // Buffers that may be read: on memrefs, none that the computation writes.
    let written = |value: ValueId| {
        let outgoing = stored.carries.iter().flat_map(|carry| &carry.outgoing);
        let mut views = stored.outputs.iter().chain(outgoing);
        views.any(|view| view.value == value)
    };
    let is_buffer = |v: &ValueId| {
        let value = &g.program.values[*v];
        value.ty.kind == g.kind && !g.undefined.contains(v)
    };
    let can_be_read = |v: &ValueId| g.kind == BufferKind::Tensor || !written(*v);
    let readable: Vec<ValueId> = (0..g.program.values.len())
        .filter(is_buffer)
        .filter(can_be_read)
        .collect();
    let earlier: Vec<ValueId> = g.written.iter().copied().filter(can_be_read).collect();
    let count = match tuple.is_empty() {
        true => 1 + c.weighted("inputs", &[60, 30, 10]),
        false => [1, 2, 3, 4, 0][c.weighted("inputs", &[40, 36, 14, 5, 5])],
    };
    let mut views = Vec::new();
    for n in 0..count {
        c.scope(format!("input{n}"), |c| {
            if c.keep() || (tuple.is_empty() && views.is_empty()) {
                let existing: &[ValueId] = match n {
                    0 if !earlier.is_empty() => &earlier,
                    _ if c.chance("again", 15) => &readable,
                    _ => &[],
                };
                let element = match tuple.is_empty() || c.chance("own type", 40) {
                    true => types::any(c, "type"),
                    false => c.pick("like", tuple),
                };
                views.push(buffers::input(c, g, place, element, existing));
            }
        });
    }
    views
}

/// The scalar functions.
fn homs(
    c: &mut Choices,
    g: &mut Generator,
    plans: Vec<HomPlan>,
    mut tuple: Vec<ScalarType>,
    form: Notation,
) -> Vec<Hom> {
    let mut homs = Vec::new();
    for (n, plan) in plans.into_iter().enumerate() {
        let hom = c.scope(format!("scalar{n}"), |c| {
            let mut captured = Vec::new();
            if form == Notation::Triple && c.chance("captured", 10) {
                captured.push(outside(c, g));
            }
            let types = captured.iter().map(|v| g.ty(*v).element);
            let inputs: Vec<ScalarType> = tuple.iter().copied().chain(types).collect();
            let mut scope = scalar::Scope {
                rank: plan.combine.len(),
                callees: &mut g.program.callees,
                neutral: (plan.operator.as_ref()).and_then(|own| own.neutral(&plan.components)),
            };
            Hom {
                scalar: scalar::function(c, &mut scope, &inputs, &plan.components),
                captured,
                combine: plan.combine,
                operator: plan.operator,
            }
        });
        tuple = hom.components().to_vec();
        homs.push(hom);
    }
    homs
}

/// A scalar that is defined outside of scalar code.
fn outside(c: &mut Choices, g: &mut Generator) -> ValueId {
    let value = scalar::outside(c);
    match c.chance("argument", 50) {
        true => g.argument("s", Type::scalar(value.ty)),
        false => {
            let name = g.name("k");
            g.program
                .define(name, Type::scalar(value.ty), Definition::Constant(value))
        }
    }
}
