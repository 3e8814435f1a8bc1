//! Views of buffers: new ones of the right sizes, and such as are there already.

use mdh_algebra::affine::Expr;
use mdh_algebra::domain::Grid;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::types::BufferKind;

use super::back::Back;
use super::generator::{Generator, Purpose};
use super::maps::{self, AxisRange};
use super::{producer, types};
use crate::choices::Choices;
use crate::program::{Bound, Definition, Type, ValueId, View};

/// Names of views and dimensions within one computation.
pub struct Names(pub Vec<String>);

impl Names {
    /// The name of the value, or one like it.
    fn fresh(&mut self, g: &Generator, value: ValueId) -> String {
        let base = &g.program.values[value].name;
        let numbered = (1..).map(|n| format!("{base}_{n}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        let name = candidates
            .find(|name| !self.0.contains(name))
            .unwrap_or_default();
        self.0.push(name.clone());
        name
    }
}

/// Context of a computation's views.
pub struct ViewContext<'a> {
    /// The domain's grids.
    pub grids: &'a [Option<Grid>],
    /// Names that are taken.
    pub names: &'a mut Names,
}

fn view(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    value: ValueId,
    accesses: Vec<Vec<Expr>>,
    origin: &[i64],
) -> View {
    let bound = |(axis, origin): (usize, &i64)| {
        c.scope(format!("origin{axis}"), |c| match *origin {
            0 => Bound::fixed(0),
            origin => g.bound(c, origin),
        })
    };
    let origin = origin.iter().enumerate().map(bound).collect();
    View {
        value,
        name: place.names.fresh(g, value),
        accesses,
        component: 0,
        origin,
        pad: None,
    }
}

/// A type with some extents left open.
fn open(c: &mut Choices, g: &Generator, mut ty: Type) -> Type {
    for axis in 0..ty.shape.len() {
        ty.dynamic[axis] = g.is_open && c.scope(format!("open{axis}"), |c| c.chance("open", 40));
    }
    ty
}

fn extents(axes: &[AxisRange]) -> Vec<i64> {
    axes.iter().map(|axis| axis.extent).collect()
}

fn origins(axes: &[AxisRange]) -> Vec<i64> {
    axes.iter().map(|axis| axis.origin).collect()
}

/// An input: a new argument, or a buffer that is there and that no output of the computation is.
pub fn input(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    element: ScalarType,
    existing: &[ValueId],
) -> View {
    let over: Vec<usize> = (0..place.grids.len()).collect();
    let fitting: Vec<ValueId> = existing
        .iter()
        .copied()
        .filter(|v| g.ty(*v).kind != BufferKind::Scalar)
        .collect();
    if !fitting.is_empty() && c.chance("existing", 60) {
        let value = c.pick("buffer", &fitting);
        return existing_input(c, g, place, value, &over);
    }
    let rank = c.weighted("rank", &[8, 32, 34, 16, 8, 2]);
    if rank == 0 {
        let kind = match c.chance("plain", 50) {
            true => BufferKind::Scalar,
            false => g.kind,
        };
        let value = g.argument("s", Type::buffer(kind, element, &[]));
        return view(c, g, place, value, vec![vec![]], &[]);
    }
    let axis = |axis| c.scope(format!("axis{axis}"), |c| maps::read(c, &over));
    let mut accesses = vec![(0..rank).map(axis).collect::<Vec<Expr>>()];
    for n in 1..1 + c.weighted("accesses", &[78, 14, 6, 2]) {
        c.scope(format!("access{n}"), |c| {
            if c.keep() {
                accesses.push(maps::beside(c, &accesses[0]));
            }
        });
    }
    let mut axes = maps::fit(c, &mut accesses, place.grids);
    let pad = padding(c, element, &mut axes);
    let ty = open(c, g, Type::buffer(g.kind, element, &extents(&axes)));
    let value = g.argument("x", ty);
    View {
        pad,
        ..view(c, g, place, value, accesses, &origins(&axes))
    }
}

/// Chooses whether an input is smaller than what is read of it, and what is read beyond it.
pub fn padding(c: &mut Choices, element: ScalarType, axes: &mut [AxisRange]) -> Option<Scalar> {
    let pad = c
        .chance("padded", 20)
        .then(|| types::constant(c, element))?;
    for (n, axis) in axes.iter_mut().enumerate() {
        c.scope(format!("cut{n}"), |c| cut(c, axis));
    }
    Some(pad)
}

/// Makes a padded axis smaller than what is read of it.
fn cut(c: &mut Choices, axis: &mut AxisRange) {
    let extent = axis.extent as u64;
    match c.weighted("cut", &[30, 35, 35]) {
        0 => {}
        1 => axis.extent = c.below("extent", extent + 1) as i64,
        _ => {
            let before = c.below("before", extent.min(5)) as i64;
            axis.origin += before;
            axis.extent -= before;
        }
    }
}

/// Returns a view of an earlier computation's output.
pub fn read_back(c: &mut Choices, g: &mut Generator, place: &mut ViewContext, back: &Back) -> View {
    view(
        c,
        g,
        place,
        back.value,
        vec![back.map.clone()],
        &back.origin,
    )
}

fn existing_input(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    value: ValueId,
    over: &[usize],
) -> View {
    let Type { shape, element, .. } = g.ty(value).clone();
    let is_padded = shape.contains(&0) || c.chance("padded", 12);
    if is_padded {
        let axis = |n| {
            c.scope(format!("axis{n}"), |c| {
                (maps::read(c, over), c.below("origin", 4))
            })
        };
        let (map, origin): (Vec<Expr>, Vec<u64>) = (0..shape.len()).map(axis).unzip();
        let origin: Vec<i64> = origin.into_iter().map(|o| o as i64).collect();
        return View {
            pad: Some(types::constant(c, element)),
            ..view(c, g, place, value, vec![map], &origin)
        };
    }
    let map = maps::into(c, &shape, over, place.grids);
    let origin = vec![0; shape.len()];
    view(c, g, place, value, vec![map], &origin)
}

/// A destination that all these dimensions' points are stored in, by so many accesses. One point is
/// told from no other: its dimension need not have a place in the index functions.
pub fn destination(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    element: ScalarType,
    over: &[usize],
    accesses: usize,
) -> View {
    let has_others = |d: &usize| place.grids[*d].is_none_or(|grid| grid.count() > 1);
    let mut is_told =
        |d: &usize| has_others(d) || !c.scope(format!("single{d}"), |c| c.chance("left out", 50));
    let over: Vec<usize> = over.iter().copied().filter(|d| is_told(d)).collect();
    let (accesses, axes) = maps::write(c, &over, place.grids, accesses);
    let ty = open(c, g, Type::buffer(g.kind, element, &extents(&axes)));
    let value = destination_value(c, g, ty, &place.names.0);
    view(c, g, place, value, accesses, &origins(&axes))
}

fn destination_value(c: &mut Choices, g: &mut Generator, ty: Type, taken: &[String]) -> ValueId {
    let is_free = |v: &ValueId| {
        let value = &g.program.values[*v];
        value.ty == ty && (ty.kind == BufferKind::Tensor || !taken.contains(&value.name))
    };
    let same: Vec<ValueId> = (0..g.program.values.len()).filter(is_free).collect();
    let can_be_produced = g.purpose == Purpose::Tile && ty.kind == BufferKind::Tensor;
    if can_be_produced && c.chance("produced", 60) {
        return c.scope("producer", |c| producer::produced(c, g, ty));
    }
    let can_be_constant = ty.kind == BufferKind::Tensor && !ty.dynamic.contains(&true);
    match c.weighted("destination", &[40, 30, 12, 18]) {
        1 => g.argument("y", ty),
        2 if can_be_constant => {
            let value = types::constant(c, ty.element);
            let name = g.name("z");
            g.program.define(name, ty, Definition::Constant(value))
        }
        3 if !same.is_empty() => c.pick("same", &same),
        _ if ty.kind == BufferKind::MemRef && !c.chance("allocated", 15) => g.argument("y", ty),
        _ => empty(c, g, ty),
    }
}

/// A buffer that holds nothing.
pub fn empty(c: &mut Choices, g: &mut Generator, ty: Type) -> ValueId {
    let open = (0..ty.shape.len()).filter(|axis| ty.dynamic[*axis]);
    let open: Vec<i64> = open.map(|axis| ty.shape[axis]).collect();
    let size = |(n, size): (usize, &i64)| c.scope(format!("size{n}"), |c| g.index(c, *size));
    let sizes = open.iter().enumerate().map(size).collect();
    let name = g.name("e");
    let value = g.program.define(name, ty, Definition::Empty(sizes));
    g.undefined.push(value);
    value
}

/// The contents of outputs, as a carry: one view for each component, if one output each has it in its type.
pub fn in_place(
    g: &Generator,
    place: &mut ViewContext,
    components: &[ScalarType],
    outputs: &[View],
) -> Option<Vec<View>> {
    let access_of = |(n, ty): (usize, &ScalarType)| {
        outputs.iter().find_map(|view| {
            let access = view.accesses.get(n.checked_sub(view.component)?)?;
            (g.ty(view.value).element == *ty).then(|| (view, access.clone()))
        })
    };
    let views: Option<Vec<_>> = components.iter().enumerate().map(access_of).collect();
    let incoming = views?.into_iter().map(|(view, access)| View {
        name: place.names.fresh(g, view.value),
        accesses: vec![access],
        component: 0,
        ..view.clone()
    });
    Some(incoming.collect())
}

/// A carry that comes in: any element for each point of some dimensions.
pub fn incoming(
    c: &mut Choices,
    g: &mut Generator,
    place: &mut ViewContext,
    element: ScalarType,
    over: &[usize],
) -> View {
    let rank = c.below("rank", over.len() as u64 + 2);
    let axis = |axis| c.scope(format!("axis{axis}"), |c| maps::read(c, over));
    let mut accesses = vec![(0..rank).map(axis).collect::<Vec<Expr>>()];
    let axes = maps::fit(c, &mut accesses, place.grids);
    let ty = open(c, g, Type::buffer(g.kind, element, &extents(&axes)));
    let value = g.argument("c", ty);
    view(c, g, place, value, accesses, &origins(&axes))
}
