//! Workloads that combine nothing.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{CmpfPredicate, CmpiPredicate, Code};
use mdh_algebra::computation::Combine::Cc;
use mdh_algebra::op::Op;
use mdh_algebra::scalar::ScalarType;

use super::super::generator::Generator;
use super::draft::Draft;
use super::types::{floats, numbers};
use crate::builder::CodeBuilder;
use crate::choices::Choices;

use ScalarType::{F64, I32};

const NAMES: [&str; 3] = ["i", "j", "k"];

/// `y[i] = c * (x[i] + its neighbours)`.
pub fn jacobi(c: &mut Choices, g: &mut Generator, rank: usize) {
    let (read, combined) = floats(c);
    let mut draft = Draft::new(c, g, rank);
    let point: Vec<Expr> = NAMES[..rank]
        .iter()
        .map(|name| draft.dim(name, Cc))
        .collect();
    let mut accesses = vec![point.clone()];
    for axis in 0..rank {
        for offset in [-1, 1] {
            let mut access = point.clone();
            access[axis] = access[axis].clone() + offset;
            accesses.push(access);
        }
    }
    let count = accesses.len();
    draft.read("x", read, accesses);
    draft.read_scalar("c", read);
    let mut code = CodeBuilder::new(&vec![read; count + 1]);
    let mut sum = code.convert(0, combined);
    for n in 1..count {
        let next = code.convert(n, combined);
        sum = code.same(Op::Addf, &[sum, next]);
    }
    let factor = code.convert(count, combined);
    let scaled = code.same(Op::Mulf, &[factor, sum]);
    draft.hom(code.finish(&[scaled]), None);
    draft.write("y", 0, combined, point);
    draft.finish();
}

/// `y[i] = 1 / (1 + exp(-x[i]))`.
pub fn map(c: &mut Choices, g: &mut Generator) {
    let rank = 1 + c.below("rank", 2) as usize;
    let (read, combined) = floats(c);
    let mut draft = Draft::new(c, g, rank);
    let point: Vec<Expr> = NAMES[..rank]
        .iter()
        .map(|name| draft.dim(name, Cc))
        .collect();
    draft.read("x", read, vec![point.clone()]);
    let mut code = CodeBuilder::new(&[read]);
    let x = code.convert(0, combined);
    let minus = code.same(Op::Negf, &[x]);
    let exp = code.same(Op::Exp, &[minus]);
    let unit = code.float(combined, 1.0);
    let sum = code.same(Op::Addf, &[unit, exp]);
    let y = code.same(Op::Divf, &[unit, sum]);
    draft.hom(code.finish(&[y]), None);
    draft.write("y", 0, combined, point);
    draft.finish();
}

/// `y[j, i] = x[i, j]`, or the axes of three in any order.
pub fn transpose(c: &mut Choices, g: &mut Generator) {
    let orders: [&[usize]; 4] = [&[1, 0], &[2, 0, 1], &[0, 2, 1], &[2, 1, 0]];
    let order = c.pick("order", &orders);
    let (read, _) = numbers(c);
    let mut draft = Draft::new(c, g, order.len());
    let names = &NAMES[..order.len()];
    let point: Vec<Expr> = names.iter().map(|name| draft.dim(name, Cc)).collect();
    draft.read("x", read, vec![point.clone()]);
    draft.hom(Code::identity(&[read]), None);
    let map = order.iter().map(|d| point[*d].clone()).collect();
    draft.write("y", 0, read, map);
    draft.finish();
}

/// `count[y, x] =` steps until `z <- z^2 + c` leaves the circle of radius 2.
pub fn mandelbrot(c: &mut Choices, g: &mut Generator) {
    let mut draft = Draft::new(c, g, 2);
    let point: Vec<Expr> = ["y", "x"].iter().map(|name| draft.dim(name, Cc)).collect();
    draft.hom(steps(), None);
    draft.write("count", 0, I32, point);
    draft.finish();
}

fn steps() -> Code {
    let mut code = CodeBuilder::new(&[]);
    let b = &mut code;
    let coordinate = |b: &mut CodeBuilder, dimension: usize, start: f64, scale: f64| {
        let index = b.index(dimension);
        let number = b.convert(index, F64);
        let (start, scale) = (b.float(F64, start), b.float(F64, scale));
        let distance = b.same(Op::Divf, &[number, scale]);
        b.same(Op::Addf, &[start, distance])
    };
    let (im, re) = (coordinate(b, 0, -1.0, 10.0), coordinate(b, 1, -2.0, 15.0));
    let (zero, four) = (b.float(F64, 0.0), b.float(F64, 4.0));
    let (none, one, most) = (b.number(I32, 0), b.number(I32, 1), b.number(I32, 30));
    let results = b.while_loop(
        &[zero, zero, none],
        |b, z| {
            let (re2, im2) = (
                b.same(Op::Mulf, &[z[0], z[0]]),
                b.same(Op::Mulf, &[z[1], z[1]]),
            );
            let distance = b.same(Op::Addf, &[re2, im2]);
            let inside = b.cmpf(CmpfPredicate::Ole, distance, four);
            let more = b.cmpi(CmpiPredicate::Slt, z[2], most);
            b.same(Op::Andi, &[inside, more])
        },
        |b, z| {
            let (re2, im2) = (
                b.same(Op::Mulf, &[z[0], z[0]]),
                b.same(Op::Mulf, &[z[1], z[1]]),
            );
            let cross = b.same(Op::Mulf, &[z[0], z[1]]);
            let difference = b.same(Op::Subf, &[re2, im2]);
            let twice = b.same(Op::Addf, &[cross, cross]);
            vec![
                b.same(Op::Addf, &[difference, re]),
                b.same(Op::Addf, &[twice, im]),
                b.same(Op::Addi, &[z[2], one]),
            ]
        },
    );
    let steps = results[2];
    code.finish(&[steps])
}
