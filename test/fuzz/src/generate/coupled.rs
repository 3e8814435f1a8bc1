//! Computations of coupled operators: tuples of integers, whose components scalar code makes of what is read.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{Code, Op};
use mdh_algebra::computation::Combine;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType;

use super::operators::{self, Needs};
use super::types;
use crate::builder::CodeBuilder;
use crate::choices::Choices;
use crate::program::{
    Bound, Carry, Definition, Dim, Hom, Kind, Notation, Program, Statement, Step, Type, ValueId,
    View,
};

/// So many operators are drawn, of which the first that is one's own on a tuple of integers is taken.
const DRAWN: usize = 20;

/// One computation, whose results are exact.
pub fn coupled(c: &mut Choices) -> Program {
    let mut program = Program {
        seed: c.below("seed", 1 << 20),
        ..Program::default()
    };
    let kept = c.below("kept", 3) as usize;
    let combined = 1 + c.below("combined", 2) as usize;
    let dims = dims(c, kept, combined);
    let combine: Vec<Combine> = (0..dims.len())
        .map(|d| match d {
            d if d < kept => Combine::Cc,
            d if c.chance(&format!("prefix{d}"), 15) => Combine::Ps(0),
            _ => Combine::Pw(0),
        })
        .collect();
    let (operator, types) = operator(c, combined > 1);
    let inputs = inputs(c, &mut program, &dims, &types);
    let read = inputs
        .iter()
        .map(|view| program.values[view.value].ty.element);
    let scalar = elements(c, dims.len(), &read.collect::<Vec<_>>(), &types);
    let map: Vec<usize> = (0..dims.len()).filter(|d| !combine[*d].is_pw()).collect();
    let carries = carries(c, &mut program, (&dims, &types), (kept, &map));
    let outputs = types.iter().enumerate().map(|(n, ty)| View {
        component: n,
        ..view(
            &mut program,
            &dims,
            (&format!("y{n}"), *ty, &map),
            Role::Output,
        )
    });
    let outputs: Vec<View> = outputs.collect();
    let results = outputs.iter().map(|view| {
        let ty = program.values[view.value].ty.clone();
        program.value(format!("r{}", view.component), ty, Definition::Result)
    });
    let results: Vec<ValueId> = results.collect();
    let hom = Hom {
        scalar,
        captured: Vec::new(),
        combine,
        operator: Some(operator),
    };
    program.returns.clone_from(&results);
    program.body.push(Statement::Step(Box::new(Step {
        form: Notation::Compute,
        dims,
        inputs,
        homs: vec![hom],
        outputs,
        carries,
        results,
    })));
    program
}

/// Dimensions of few points, one of which may have more.
fn dims(c: &mut Choices, kept: usize, combined: usize) -> Vec<Dim> {
    let names = ["i", "j"][..kept].iter().chain(&["k", "l"][..combined]);
    let large = c.chance("large", 40);
    let large = large.then(|| c.below("large one", (kept + combined) as u64) as usize);
    let dim = |(n, name)| {
        let size = match large == Some(n) {
            true => 8 + c.below(&format!("large{n}"), 90),
            false => 1 + c.below(&format!("size{n}"), 7),
        };
        Dim::dense(name, size as i64)
    };
    names.copied().enumerate().map(dim).collect()
}

/// The carry of a combined dimension, if there is one: always there, and not carried out, as linalg has it.
fn carries(
    c: &mut Choices,
    program: &mut Program,
    (dims, types): (&[Dim], &[ScalarType]),
    (kept, map): (usize, &[usize]),
) -> Vec<Carry> {
    if !c.chance("carry", 30) {
        return Vec::new();
    }
    let dim = kept + c.below("carried", (dims.len() - kept) as u64) as usize;
    let map: Vec<usize> = map.iter().copied().filter(|d| *d != dim).collect();
    let incoming = types.iter().enumerate().map(|(n, ty)| View {
        component: n,
        ..view(program, dims, (&format!("c{n}"), *ty, &map), Role::Input)
    });
    vec![Carry {
        dim,
        incoming: incoming.collect(),
        valid: None,
        outgoing: Vec::new(),
    }]
}

/// Views of new arguments: one for each component, most of them of its type, and perhaps another one.
fn inputs(c: &mut Choices, program: &mut Program, dims: &[Dim], types: &[ScalarType]) -> Vec<View> {
    let count = types.len() + c.below("more inputs", 2) as usize;
    let input = |n| {
        c.scope(format!("input{n}"), |c| {
            let own = types.get(n).filter(|_| !c.chance("other type", 20));
            let ty = own.copied().unwrap_or_else(|| types::integer(c, "type"));
            let is_index = |d: &usize| !c.chance(&format!("without{d}"), 20);
            let map: Vec<usize> = (0..dims.len()).filter(is_index).collect();
            view(program, dims, (&format!("x{n}"), ty, &map), Role::Input)
        })
    };
    (0..count).map(input).collect()
}

/// An operator with a neutral element, and the types of its tuple.
fn operator(c: &mut Choices, commutative: bool) -> (Operator, Vec<ScalarType>) {
    let needs = Needs {
        commutative,
        neutral: true,
    };
    let drawn = |n| c.scope(format!("operator{n}"), |c| operators::operator(c, needs));
    let is_wanted = |(operator, types): &(Operator, Vec<ScalarType>)| {
        let is_exact = types.iter().all(|ty| !ty.is_float());
        is_exact && types.len() > 1 && matches!(operator, Operator::User(_))
    };
    let none = || {
        let sums = Operator::Builtin(vec![Builtin::Addi; 2]);
        (sums, vec![ScalarType::I64; 2])
    };
    (0..DRAWN).map(drawn).find(is_wanted).unwrap_or_else(none)
}

enum Role {
    Input,
    Output,
}

/// A new buffer with an axis for each of some dimensions.
fn view(
    program: &mut Program,
    dims: &[Dim],
    (name, element, map): (&str, ScalarType, &[usize]),
    role: Role,
) -> View {
    let shape: Vec<i64> = map.iter().map(|d| dims[*d].grid.count()).collect();
    let ty = Type::buffer(Kind::Tensor, element, &shape);
    let value = match role {
        Role::Input => program.value(name.to_owned(), ty, Definition::Argument(None)),
        Role::Output => program.define(name.to_owned(), ty, Definition::Empty(Vec::new())),
    };
    View {
        value,
        name: name.to_owned(),
        accesses: vec![map.iter().map(|d| Expr::Dim(*d)).collect()],
        component: 0,
        origin: vec![Bound::fixed(0); shape.len()],
        pad: None,
    }
}

/// Scalar code that makes each component of its own input or another one, by at most one operation.
fn elements(c: &mut Choices, rank: usize, read: &[ScalarType], types: &[ScalarType]) -> Code {
    let mut code = CodeBuilder::new(read);
    let mut yields = Vec::new();
    for (n, ty) in types.iter().enumerate() {
        let register = c.scope(format!("element{n}"), |c| {
            let from = match c.chance("another", 15) {
                true => c.below("from", read.len() as u64) as usize,
                false => n,
            };
            let own = code.convert(from, *ty);
            let other = c.below("other", read.len() as u64) as usize;
            match c.weighted("kind", &[50, 12, 10, 10, 6, 6, 6]) {
                1 => {
                    let zero = code.number(*ty, 0);
                    code.same(Op::Subi, &[zero, own])
                }
                2 => {
                    let factor = c.pick("factor", &[-1, 2, 3]);
                    let factor = code.number(*ty, factor);
                    code.same(Op::Muli, &[own, factor])
                }
                3 => {
                    let other = code.convert(other, *ty);
                    let op = c.pick("op", &[Op::Addi, Op::Muli, Op::Subi, Op::Xori]);
                    code.same(op, &[own, other])
                }
                4 => {
                    let index = code.index(c.below("dimension", rank as u64) as usize);
                    code.convert(index, *ty)
                }
                5 => code.number(*ty, c.below("number", 3) as i64),
                6 => code.convert(other, *ty),
                _ => own,
            }
        });
        yields.push(register);
    }
    code.finish(&yields)
}
