//! Destinations that other operations make: filled, or computed element by element.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Combine;
use mdh_algebra::domain::Grid;

use super::generator::Generator;
use super::{buffers, domain, scalar, types};
use crate::choices::Choices;
use crate::program::{Bound, Definition, Dim, Hom, Notation, Statement, Step, Type, ValueId, View};

/// The most axes of what a computation makes.
const RANK: usize = 4;

/// A tensor of this type.
pub fn produced(c: &mut Choices, g: &mut Generator, ty: Type) -> ValueId {
    let into = buffers::empty(c, g, ty.clone());
    if !(1..=RANK).contains(&ty.shape.len()) || c.chance("filled", 40) {
        let with = types::constant(c, ty.element);
        let name = g.name("f");
        return g
            .program
            .define(name, ty, Definition::Filled { with, into });
    }
    computed(c, g, ty, into)
}

fn computed(c: &mut Choices, g: &mut Generator, ty: Type, into: ValueId) -> ValueId {
    let x = g.argument("x", ty.clone());
    let mut dims: Vec<Dim> = Vec::new();
    let mut is_partly_written = false;
    for (axis, size) in ty.shape.iter().enumerate() {
        let is_part = *size > 1 && c.scope(axis, |c| c.chance("part", 8));
        let grid = Grid {
            lower: i64::from(is_part),
            ..Grid::dense(*size)
        };
        let mut dim = domain::dim(axis, grid);
        dim.bounds[1] = c.scope(axis, |c| g.bound(c, *size));
        dims.push(dim);
        is_partly_written |= is_part;
    }
    let map: Vec<Expr> = (0..dims.len()).map(Expr::Dim).collect();
    let view = |g: &Generator, value: ValueId| View {
        value,
        name: g.program.values[value].name.clone(),
        accesses: vec![map.clone()],
        component: 0,
        origin: vec![Bound::fixed(0); map.len()],
        pad: None,
    };
    let mut scope = scalar::Scope {
        rank: dims.len(),
        callees: &mut g.program.callees,
        neutral: None,
    };
    let hom = Hom {
        scalar: scalar::function(c, &mut scope, &[ty.element], &[ty.element]),
        captured: Vec::new(),
        combine: vec![Combine::Cc; dims.len()],
        operator: None,
    };
    let (inputs, outputs) = (vec![view(g, x)], vec![view(g, into)]);
    let name = g.name("r");
    let result = g.program.value(name, ty, Definition::Result);
    g.program.body.push(Statement::Step(Box::new(Step {
        form: Notation::Compute,
        dims,
        inputs,
        homs: vec![hom],
        outputs,
        carries: Vec::new(),
        results: vec![result],
    })));
    // It has other users, too.
    if c.chance("used", 25) {
        g.results.push(result);
        if !is_partly_written {
            g.written.push(result);
        }
    }
    if is_partly_written {
        g.undefined.push(result);
    }
    result
}
