//! One computation of a workload in the making: dimensions, then what is read and written by
//! index functions over them.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::Code;
use mdh_algebra::computation::Combine;
use mdh_algebra::domain::Grid;
use mdh_algebra::operator::Operator;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::types::BufferKind;

use super::super::generator::Generator;
use super::super::{buffers, domain, maps, types};
use crate::choices::Choices;
use crate::program::{Bound, Definition, Dim, Hom, Notation, Statement, Step, Type, ValueId, View};

/// So many points a computation has at most, about.
const POINTS: f64 = 3000.0;
/// The longest dimension.
const LONGEST: f64 = 150.0;

/// A computation in the making.
pub struct Draft<'a> {
    pub c: &'a mut Choices,
    pub g: &'a mut Generator,
    dims: Vec<Dim>,
    combine: Vec<Combine>,
    /// Points that are left for the dimensions to come, and how many these are.
    left: f64,
    to_come: usize,
    /// True if combined dimensions may be empty.
    pub may_be_empty: bool,
    inputs: Vec<View>,
    outputs: Vec<View>,
    homs: Vec<Hom>,
}

impl<'a> Draft<'a> {
    /// A computation of so many dimensions.
    pub fn new(c: &'a mut Choices, g: &'a mut Generator, rank: usize) -> Draft<'a> {
        Draft {
            c,
            g,
            dims: Vec::new(),
            combine: Vec::new(),
            left: POINTS,
            to_come: rank,
            may_be_empty: true,
            inputs: Vec::new(),
            outputs: Vec::new(),
            homs: Vec::new(),
        }
    }

    /// One more dimension, of a random size.
    pub fn dim(&mut self, name: &str, combine: Combine) -> Expr {
        let share = self.left.powf(1.0 / self.to_come.max(1) as f64);
        let limit = (share * 2.0).clamp(2.0, LONGEST).min(self.left.max(1.0)) as i64;
        let may_be_empty = combine == Combine::Cc || self.may_be_empty;
        let is_odd = self.g.odd_domains;
        let grid = self.c.scope(name, |c| match is_odd {
            true => odd(domain::grid(c, limit, &[]), may_be_empty),
            false => Grid::dense(size(c, limit, may_be_empty)),
        });
        self.dim_of(Dim::new(name, grid), combine)
    }

    /// One more dimension, like one of another computation.
    pub fn dim_of(&mut self, dim: Dim, combine: Combine) -> Expr {
        self.left /= dim.grid.count().max(1) as f64;
        self.to_come = self.to_come.saturating_sub(1);
        self.dims.push(dim);
        self.combine.push(combine);
        Expr::Dim(self.dims.len() - 1)
    }

    /// A dimension that is there.
    pub fn dimension(&self, dimension: usize) -> Dim {
        let dim = &self.dims[dimension];
        // Whether its bounds are open is decided for each computation.
        Dim::new(&dim.name, dim.grid)
    }

    /// Returns the number of a dimension's points.
    pub fn count(&self, dimension: usize) -> i64 {
        self.dims[dimension].grid.count()
    }

    /// A new argument that these accesses fit; some are smaller, with padding around them.
    pub fn read(&mut self, name: &str, element: ScalarType, accesses: Vec<Vec<Expr>>) -> View {
        let grids = domain::reach(&self.dims);
        let mut accesses = accesses;
        // Extents that follow from sizes are those that accesses need.
        let can_be_padded = !self.g.sized;
        let (axes, pad) = self.c.scope(name, |c| {
            let mut axes = maps::fit(c, &mut accesses, &grids);
            let pad = can_be_padded.then(|| buffers::padding(c, element, &mut axes));
            (axes, pad.flatten())
        });
        let shape: Vec<i64> = axes.iter().map(|axis| axis.extent).collect();
        let ty = self.open(name, Type::buffer(self.g.kind, element, &shape));
        let value = self.argument(name, ty);
        let origin = axes.iter().map(|axis| Bound::fixed(axis.origin)).collect();
        self.again(View {
            value,
            name: name.to_string(),
            accesses,
            component: 0,
            origin,
            pad,
        })
    }

    /// A new argument that is a scalar.
    pub fn read_scalar(&mut self, name: &str, element: ScalarType) -> View {
        let value = self.argument(name, Type::scalar(element));
        self.again(View {
            value,
            name: name.to_string(),
            accesses: vec![vec![]],
            component: 0,
            origin: vec![],
            pad: None,
        })
    }

    /// Reads by a view of another computation.
    pub fn again(&mut self, view: View) -> View {
        self.inputs.push(view.clone());
        view
    }

    /// A destination for a component of that type, which may be stored in another one.
    pub fn write(&mut self, name: &str, component: usize, ty: ScalarType, map: Vec<Expr>) -> View {
        let element = self.c.scope(name, |c| types::stored(c, ty));
        self.write_as(name, component, element, map)
    }

    /// A destination of that type.
    pub fn write_as(
        &mut self,
        name: &str,
        component: usize,
        element: ScalarType,
        map: Vec<Expr>,
    ) -> View {
        let grids = domain::reach(&self.dims);
        let range = |expr: &Expr| expr.range(&grids).map_or((0, 0), |r| (r.min, r.max));
        let (origin, shape): (Vec<i64>, Vec<i64>) = map
            .iter()
            .map(|expr| {
                let (min, max) = range(expr);
                let origin = min.min(0);
                (origin, max - origin + 1)
            })
            .unzip();
        let ty = self.open(name, Type::buffer(self.g.kind, element, &shape));
        let view = View {
            value: self.destination(name, ty),
            name: name.to_string(),
            accesses: vec![map],
            component,
            origin: origin.into_iter().map(Bound::fixed).collect(),
            pad: None,
        };
        self.outputs.push(view.clone());
        view
    }

    /// The homomorphism; a later one is applied to what the one before leaves.
    pub fn hom(&mut self, scalar: Code, operator: Option<Operator>) {
        let combine = self.combine.clone();
        self.then(scalar, combine, operator);
    }

    /// A homomorphism that combines in its own way.
    pub fn then(&mut self, scalar: Code, combine: Vec<Combine>, operator: Option<Operator>) {
        self.homs.push(Hom {
            scalar,
            captured: Vec::new(),
            combine,
            operator,
        });
    }

    /// Adds it to the program. Each output as an input of computations to come.
    pub fn finish(mut self) -> Vec<View> {
        self.bounds();
        let form = match self.homs.len() == 1 && self.c.chance("compute", 40) {
            true => Notation::Compute,
            false => Notation::Triple,
        };
        let g = self.g;
        let result = |view: &View| {
            if g.kind == BufferKind::MemRef {
                return view.value;
            }
            let ty = g.program.values[view.value].ty.clone();
            g.program.value(view.name.clone(), ty, Definition::Result)
        };
        let values: Vec<ValueId> = self.outputs.iter().map(result).collect();
        let is_memref = g.kind == BufferKind::MemRef;
        let results = if is_memref {
            Vec::new()
        } else {
            values.clone()
        };
        g.results.extend(&results);
        let written = self.outputs.iter().zip(values);
        let written = written.map(|(view, value)| View {
            value,
            component: 0,
            ..view.clone()
        });
        let written = written.collect();
        g.program.body.push(Statement::Step(Box::new(Step {
            form,
            dims: self.dims,
            inputs: self.inputs,
            homs: self.homs,
            outputs: self.outputs,
            carries: Vec::new(),
            results,
        })));
        written
    }

    /// Leaves some extents open.
    fn open(&mut self, name: &str, mut ty: Type) -> Type {
        let is_open = self.g.is_open || self.g.sized;
        self.c.scope(name, |c| {
            for (axis, dynamic) in ty.dynamic.iter_mut().enumerate() {
                *dynamic = is_open && c.scope(axis, |c| c.chance("open", 60));
            }
        });
        ty
    }

    fn argument(&mut self, name: &str, ty: Type) -> ValueId {
        if self.g.sized {
            // Its extents follow from the sizes.
            let definition = Definition::Argument(None);
            return self.g.program.value(name.to_string(), ty, definition);
        }
        let value = self.g.argument(name, ty);
        self.g.program.values[value].name = name.to_string();
        value
    }

    fn destination(&mut self, name: &str, ty: Type) -> ValueId {
        let is_open = ty.dynamic.contains(&true);
        if ty.kind == BufferKind::MemRef {
            return self.argument(name, ty);
        }
        let init = format!("{name}_init");
        if (is_open && self.g.sized) || self.c.scope(name, |c| c.chance("given", 15)) {
            return self.argument(&init, ty);
        }
        let open = (0..ty.shape.len()).filter(|axis| ty.dynamic[*axis]);
        let open: Vec<i64> = open.map(|axis| ty.shape[axis]).collect();
        let mut sizes = Vec::new();
        for (n, size) in open.iter().enumerate() {
            let g = &mut *self.g;
            sizes.push(
                self.c
                    .scope(format!("{name}/size{n}"), |c| g.index(c, *size)),
            );
        }
        self.g.program.define(init, ty, Definition::Empty(sizes))
    }

    /// Leaves some bounds open.
    fn bounds(&mut self) {
        for d in 0..self.dims.len() {
            if self.g.sized {
                self.size(d);
                continue;
            }
            for b in 0..4 {
                let (bound, g) = (self.dims[d].bounds[b], &mut *self.g);
                let scope = format!("bounds{d}/{b}");
                let bound = self.c.scope(scope, |c| g.bound(c, bound.number));
                self.dims[d].bounds[b] = bound;
            }
        }
    }

    /// Leaves an upper bound to `--size`: an argument's extent, or an argument.
    fn size(&mut self, d: usize) {
        let Dim { name, grid, .. } = self.dims[d].clone();
        if grid.upper < 0 || !self.c.scope(format!("sized{d}"), |c| c.chance("open", 60)) {
            return;
        }
        let values = &self.g.program.values;
        let extent = self.inputs.iter().find_map(|view| {
            let ty = &values[view.value].ty;
            let fits = |axis: &usize| {
                let is_bound = |map: &Vec<Expr>| map[*axis] == Expr::Dim(d);
                let is_new = matches!(values[view.value].definition, Definition::Argument(_));
                is_new
                    && ty.dynamic[*axis]
                    && ty.shape[*axis] == grid.upper
                    && view.origin[*axis] == Bound::fixed(0)
                    && view.accesses.iter().all(is_bound)
            };
            let axis = (0..ty.shape.len()).find(fits)?;
            Some((view.value, axis))
        });
        let index = Type::scalar(ScalarType::Index);
        let value =
            match extent.filter(|_| self.c.scope(format!("of{d}"), |c| c.chance("extent", 50))) {
                Some((of, axis)) => {
                    let name = self.g.name("d");
                    let definition = Definition::Dim { of, axis };
                    self.g.program.define(name, index, definition)
                }
                None => {
                    let name = self.g.name("n");
                    let definition = Definition::Argument(None);
                    self.g.program.value(name, index, definition)
                }
            };
        self.dims[d].bounds[1] = Bound {
            number: grid.upper,
            value: Some(value),
        };
        let size = (name, grid.upper);
        if !self.g.program.sizes.contains(&size) {
            self.g.program.sizes.push(size);
        }
    }
}

/// A size: some that vectors and cores have several parts of, 1, and 0.
fn size(c: &mut Choices, limit: i64, may_be_empty: bool) -> i64 {
    match c.weighted("edge", &[90, 6, 4]) {
        0 => 2.min(limit) + c.below("size", (limit - 1).max(1) as u64) as i64,
        2 if may_be_empty => 0,
        _ => 1,
    }
}

fn odd(grid: Grid, may_be_empty: bool) -> Grid {
    match grid.is_empty() && !may_be_empty {
        true => Grid {
            upper: grid.lower + 1,
            ..grid
        },
        false => grid,
    }
}
