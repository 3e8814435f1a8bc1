//! Workloads that combine numbers by built-in operators.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{CmpiPredicate, Code};
use mdh_algebra::computation::Combine::{Cc, Ps, Pw};
use mdh_algebra::op::Op;
use mdh_algebra::operator::{Builtin, Operator, UserOperator};
use mdh_algebra::scalar::{Scalar, ScalarType};

use super::super::generator::Generator;
use super::draft::Draft;
use super::types::{floats, numbers};
use crate::builder::CodeBuilder;
use crate::choices::Choices;

use ScalarType::{I8, I32};

fn any_builtin(c: &mut Choices, name: &str, ty: ScalarType) -> Builtin {
    let accepting: Vec<Builtin> = Builtin::all().filter(|b| b.accepts(ty)).collect();
    c.pick(name, &accepting)
}

fn sum_of(ty: ScalarType) -> Operator {
    Operator::Builtin(vec![match ty.is_float() {
        true => Builtin::Addf,
        false => Builtin::Addi,
    }])
}

/// The argument in another type.
fn converted(from: ScalarType, to: ScalarType) -> Code {
    let mut code = CodeBuilder::new(&[from]);
    let result = code.convert(0, to);
    code.finish(&[result])
}

/// `s = x[0] + x[1] + ..`, in one to three dimensions, by any operator.
pub fn reduce(c: &mut Choices, g: &mut Generator) {
    let rank = 1 + c.weighted("rank", &[60, 25, 15]);
    let (read, combined) = numbers(c);
    let operator = any_builtin(c, "operator", combined);
    let mut draft = Draft::new(c, g, rank);
    let names = &["i", "j", "k"][..rank];
    let point: Vec<Expr> = names.iter().map(|name| draft.dim(name, Pw(0))).collect();
    draft.read("x", read, vec![point]);
    draft.hom(
        converted(read, combined),
        Some(Operator::Builtin(vec![operator])),
    );
    draft.write("s", 0, combined, vec![]);
    draft.finish();
}

/// Two reductions in one pass.
pub fn reduce2(c: &mut Choices, g: &mut Generator) {
    let (read, combined) = numbers(c);
    let first = any_builtin(c, "first", combined);
    let second = any_builtin(c, "second", read);
    let mut draft = Draft::new(c, g, 1);
    let i = draft.dim("i", Pw(0));
    draft.read("x", read, vec![vec![i]]);
    let mut code = CodeBuilder::new(&[read]);
    let s = code.convert(0, combined);
    draft.hom(
        code.finish(&[s, 0]),
        Some(Operator::Builtin(vec![first, second])),
    );
    draft.write("s", 0, combined, vec![]);
    draft.write("m", 1, read, vec![]);
    draft.finish();
}

/// `y[i] = x[0] + .. + x[i]`, by any operator.
pub fn scan(c: &mut Choices, g: &mut Generator) {
    let (read, combined) = numbers(c);
    let operator = any_builtin(c, "operator", combined);
    let is_reversed = c.chance("reversed", 30);
    let mut draft = Draft::new(c, g, 1);
    let i = draft.dim("i", Ps(0));
    let from = if is_reversed {
        i.clone() * -1
    } else {
        i.clone()
    };
    draft.read("x", read, vec![vec![from]]);
    draft.hom(
        converted(read, combined),
        Some(Operator::Builtin(vec![operator])),
    );
    draft.write("y", 0, combined, vec![i]);
    draft.finish();
}

/// Prefix sums in two or three dimensions.
pub fn sat(c: &mut Choices, g: &mut Generator) {
    let rank = 2 + c.weighted("rank", &[80, 20]);
    let (read, combined) = numbers(c);
    let mut draft = Draft::new(c, g, rank);
    let names = &["i", "j", "k"][..rank];
    let point: Vec<Expr> = names.iter().map(|name| draft.dim(name, Ps(0))).collect();
    draft.read("x", read, vec![point.clone()]);
    draft.hom(converted(read, combined), Some(sum_of(combined)));
    draft.write("y", 0, combined, point);
    draft.finish();
}

/// The largest sum of the lowest rows.
pub fn mbbs(c: &mut Choices, g: &mut Generator) {
    let (read, combined) = floats(c);
    let mut draft = Draft::new(c, g, 2);
    draft.may_be_empty = false;
    let (i, j) = (draft.dim("i", Ps(0)), draft.dim("j", Pw(0)));
    draft.read("x", read, vec![vec![i * -1, j]]);
    draft.hom(converted(read, combined), Some(sum_of(combined)));
    let mut code = CodeBuilder::new(&[combined]);
    let zero = code.float(combined, 0.0);
    let positive = code.same(Op::Maximumf, &[0, zero]);
    let largest = Operator::Builtin(vec![Builtin::Maximumf]);
    draft.then(code.finish(&[positive]), vec![Pw(0), Pw(0)], Some(largest));
    draft.write("m", 0, combined, vec![]);
    draft.finish();
}

/// One combined dimension among kept ones, or several, in any order.
pub fn rows(c: &mut Choices, g: &mut Generator) {
    let forms: [&[mdh_algebra::computation::Combine]; 10] = [
        &[Cc, Ps(0)],
        &[Ps(0), Cc],
        &[Cc, Pw(0)],
        &[Pw(0), Cc],
        &[Ps(0), Pw(0)],
        &[Pw(0), Ps(0)],
        &[Cc, Ps(0), Cc],
        &[Cc, Pw(0), Ps(0)],
        &[Ps(0), Cc, Pw(0)],
        &[Ps(0), Cc, Ps(0)],
    ];
    let form = c.pick("form", &forms);
    let (read, combined) = numbers(c);
    let mut draft = Draft::new(c, g, form.len());
    let pairs = ["i", "j", "k"].iter().zip(form);
    let point: Vec<Expr> = pairs
        .map(|(name, combine)| draft.dim(name, *combine))
        .collect();
    draft.read("x", read, vec![point.clone()]);
    draft.hom(converted(read, combined), Some(sum_of(combined)));
    let output_index = point
        .into_iter()
        .zip(form)
        .filter(|(_, combine)| !combine.is_pw());
    let output_index = output_index.map(|(index, _)| index).collect();
    draft.write("y", 0, combined, output_index);
    draft.finish();
}

/// `h[b] =` how many `x[i]` are `b`, modulo the number of bins.
pub fn histo(c: &mut Choices, g: &mut Generator) {
    let counted = c.pick("counted", &[I32, ScalarType::I64, ScalarType::F32]);
    let mut draft = Draft::new(c, g, 2);
    let (b, i) = (draft.dim("b", Cc), draft.dim("i", Pw(0)));
    let bins = draft.count(0);
    draft.read("x", I32, vec![vec![i]]);
    let mut code = CodeBuilder::new(&[I32]);
    let value = match counted.is_float() {
        true => code.float(counted, 1.0),
        false => code.number(counted, 1),
    };
    let value = in_bin(&mut code, bins, value);
    draft.hom(code.finish(&[value]), Some(sum_of(counted)));
    draft.write("h", 0, counted, vec![b]);
    draft.finish();
}

/// `value` if the first argument is the index of dimension 0, modulo the number of bins, else 0.
fn in_bin(code: &mut CodeBuilder, bins: i64, value: usize) -> usize {
    let ty = code.ty(value);
    let bins = code.number(I32, bins.max(1));
    let rest = code.same(Op::Remui, &[0, bins]);
    let bin = code.convert(rest, ScalarType::Index);
    let b = code.index(0);
    let here = code.cmpi(CmpiPredicate::Eq, b, bin);
    let nothing = code.number_of(ty, 0);
    code.select(here, value, nothing)
}

/// `h[b] = min(255, sum of w[i] over all i with key[i] = b)`, modulo the number of bins.
pub fn genhisto(c: &mut Choices, g: &mut Generator) {
    let mut draft = Draft::new(c, g, 2);
    let (b, i) = (draft.dim("b", Cc), draft.dim("i", Pw(0)));
    let bins = draft.count(0);
    draft.read("key", I32, vec![vec![i.clone()]]);
    draft.read("w", I8, vec![vec![i]]);
    let mut code = CodeBuilder::new(&[I32, I8]);
    let value = in_bin(&mut code, bins, 1);
    draft.hom(code.finish(&[value]), Some(saturate()));
    draft.write("h", 0, I8, vec![b]);
    draft.finish();
}

fn saturate() -> Operator {
    let mut code = CodeBuilder::new(&[I8, I8]);
    let most = code.number(I8, -1);
    let sum = code.same(Op::Addi, &[0, 1]);
    let wrapped = code.cmpi(CmpiPredicate::Ult, sum, 0);
    let saturated = code.select(wrapped, most, sum);
    Operator::User(UserOperator {
        name: "op".into(),
        code: code.finish(&[saturated]),
        neutral: Some(vec![Scalar::from_i64(I8, 0)]),
        commutative: true,
        associative: true,
    })
}

/// Three computations, one after the other.
pub fn softmax(c: &mut Choices, g: &mut Generator) {
    let (read, combined) = floats(c);
    let (x, m, [row, column]) = c.scope("largest", |c| {
        let mut draft = Draft::new(c, g, 2);
        draft.may_be_empty = false;
        let (i, j) = (draft.dim("i", Cc), draft.dim("j", Pw(0)));
        let x = draft.read("x", read, vec![vec![i.clone(), j]]);
        let largest = Operator::Builtin(vec![Builtin::Maximumf]);
        draft.hom(converted(read, combined), Some(largest));
        draft.write("m", 0, combined, vec![i]);
        let dims = [draft.dimension(0), draft.dimension(1)];
        (x, draft.finish().swap_remove(0), dims)
    });
    // What is read is in the type that the results before are stored in.
    let stored =
        |g: &Generator, view: &crate::program::View| g.program.values[view.value].ty.element;
    let m_type = stored(g, &m);
    let below = |code: &mut CodeBuilder| {
        let (x, m) = (code.convert(0, combined), code.convert(1, combined));
        let less = code.same(Op::Subf, &[x, m]);
        code.same(Op::Exp, &[less])
    };
    let s = c.scope("sums", |c| {
        let mut draft = Draft::new(c, g, 2);
        let i = draft.dim_of(row.clone(), Cc);
        draft.dim_of(column.clone(), Pw(0));
        draft.again(x.clone());
        draft.again(m.clone());
        let mut code = CodeBuilder::new(&[read, m_type]);
        let exp = below(&mut code);
        draft.hom(code.finish(&[exp]), Some(sum_of(combined)));
        draft.write("s", 0, combined, vec![i]);
        draft.finish().swap_remove(0)
    });
    let s_type = stored(g, &s);
    c.scope("scaled", |c| {
        let mut draft = Draft::new(c, g, 2);
        let (i, j) = (draft.dim_of(row, Cc), draft.dim_of(column, Cc));
        draft.again(x);
        draft.again(m);
        draft.again(s);
        let mut code = CodeBuilder::new(&[read, m_type, s_type]);
        let exp = below(&mut code);
        let sum = code.convert(2, combined);
        let y = code.same(Op::Divf, &[exp, sum]);
        draft.hom(code.finish(&[y]), None);
        draft.write("y", 0, combined, vec![i, j]);
        draft.finish();
    });
}
