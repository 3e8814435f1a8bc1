//! Workloads whose operators are users' own, on tuples.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{CmpfPredicate, CmpiPredicate};
use mdh_algebra::computation::Combine::{self, Cc, Ps, Pw};
use mdh_algebra::op::Op;
use mdh_algebra::operator::{Operator, UserOperator};
use mdh_algebra::scalar::{Scalar, ScalarType};

use super::super::generator::Generator;
use super::super::operators::{self, Needs};
use super::super::scalar;
use super::draft::Draft;
use super::types::{floats, numbers};
use crate::builder::CodeBuilder;
use crate::choices::Choices;
use crate::program::View;

use ScalarType::{F64, I32, I64};

fn user(code: CodeBuilder, yields: &[usize], neutral: Option<Vec<Scalar>>) -> Operator {
    Operator::User(UserOperator {
        name: "op".into(),
        code: code.finish(yields),
        neutral,
        commutative: true,
        associative: true,
    })
}

/// The larger value, NaN being larger than all numbers; of equal ones the smaller number.
fn larger(ty: ScalarType) -> Operator {
    let mut b = CodeBuilder::new(&[ty, I64, ty, I64]);
    let no = b.constant(Scalar::from_bool(false));
    let mut above = |x: usize, y: usize| {
        let is_number = b.cmpf(CmpfPredicate::Ord, y, y);
        let above = b.cmpf(CmpfPredicate::Ult, y, x);
        b.same(Op::Andi, &[is_number, above])
    };
    let (left, right) = (above(0, 2), above(2, 0));
    let earlier = b.cmpi(CmpiPredicate::Slt, 1, 3);
    let tie = b.select(right, no, earlier);
    let take = b.same(Op::Ori, &[left, tie]);
    let yields = [b.select(take, 0, 2), b.select(take, 1, 3)];
    let low = Scalar::from_f64(ty, f64::NEG_INFINITY);
    user(b, &yields, Some(vec![low, Scalar::from_i64(I64, i64::MAX)]))
}

/// The largest element of each row, and where it stands first.
pub fn argmax(c: &mut Choices, g: &mut Generator) {
    let rank = 1 + c.weighted("rank", &[30, 70]);
    let (read, combined) = floats(c);
    let mut draft = Draft::new(c, g, rank);
    let mut kept_index = Vec::new();
    if rank == 2 {
        kept_index.push(draft.dim("i", Cc));
    }
    let j = draft.dim("j", Pw(0));
    let access = kept_index.iter().cloned().chain([j]).collect();
    draft.read("x", read, vec![access]);
    let mut code = CodeBuilder::new(&[read]);
    let x = code.convert(0, combined);
    let index = code.index(rank - 1);
    let number = code.convert(index, I64);
    draft.hom(code.finish(&[x, number]), Some(larger(combined)));
    draft.write("largest", 0, combined, kept_index.clone());
    draft.write("at", 1, I64, kept_index);
    draft.finish();
}

/// `y[i] = log(sum over j of exp(x[i, j]))`.
pub fn logsumexp(c: &mut Choices, g: &mut Generator) {
    let (read, combined) = floats(c);
    let is_rows = c.chance("rows", 70);
    let mut draft = Draft::new(c, g, 1 + usize::from(is_rows));
    draft.may_be_empty = false;
    let mut kept_index: Vec<Expr> = Vec::new();
    if is_rows {
        kept_index.push(draft.dim("i", Cc));
    }
    let j = draft.dim("j", Pw(0));
    let access = kept_index.iter().cloned().chain([j]).collect();
    draft.read("x", read, vec![access]);
    let mut code = CodeBuilder::new(&[read]);
    let x = code.convert(0, combined);
    let unit = code.float(combined, 1.0);
    draft.hom(code.finish(&[x, unit]), Some(join(combined)));
    let mut code = CodeBuilder::new(&[combined, combined]);
    let log = code.same(Op::Log, &[1]);
    let y = code.same(Op::Addf, &[0, log]);
    let combines = vec![Cc; 1 + usize::from(is_rows)];
    draft.then(code.finish(&[y]), combines, None);
    draft.write("y", 0, combined, kept_index);
    draft.finish();
}

/// The larger maximum, and the sum of both sums scaled to it.
fn join(ty: ScalarType) -> Operator {
    let mut b = CodeBuilder::new(&[ty, ty, ty, ty]);
    let zero = b.float(ty, 0.0);
    let largest = b.same(Op::Maximumf, &[0, 2]);
    let mut scaled = |maximum: usize, sum: usize| {
        // Of two infinities, the difference would be NaN.
        let same = b.cmpf(CmpfPredicate::Oeq, maximum, largest);
        let less = b.same(Op::Subf, &[maximum, largest]);
        let by = b.select(same, zero, less);
        let factor = b.same(Op::Exp, &[by]);
        b.same(Op::Mulf, &[sum, factor])
    };
    let (left, right) = (scaled(0, 1), scaled(2, 3));
    let sum = b.same(Op::Addf, &[left, right]);
    let low = Scalar::from_f64(ty, f64::NEG_INFINITY);
    user(
        b,
        &[largest, sum],
        Some(vec![low, Scalar::from_f64(ty, 0.0)]),
    )
}

/// The best match of each new record among existing ones.
pub fn prl(c: &mut Choices, g: &mut Generator) {
    let fields = match c.chance("all fields", 15) {
        true => 8,
        false => 3,
    };
    let [agree, disagree] = c.scope("weights", |c| weights(c, g, fields));
    c.scope("matches", |c| {
        let mut draft = Draft::new(c, g, 2);
        let (i, j) = (draft.dim("i", Cc), draft.dim("j", Pw(0)));
        let record_of = |d: &Expr| {
            (0..fields)
                .map(|f| vec![d.clone(), Expr::Const(f)])
                .collect()
        };
        draft.read("n", I32, record_of(&i));
        draft.read("e", I32, record_of(&j));
        for view in [agree, disagree] {
            let base = view.accesses[0][0].clone();
            let at = |f: i64| vec![base.substitute(&[Expr::Const(f)])];
            draft.again(View {
                accesses: (0..fields).map(at).collect(),
                ..view
            });
        }
        let fields = fields as usize;
        let mut types = vec![I32; 2 * fields];
        types.extend(vec![F64; 2 * fields]);
        let mut code = CodeBuilder::new(&types);
        let (mut weight, mut agreeing) = (code.float(F64, 0.0), code.number(I32, 0));
        for f in 0..fields {
            let registers = [f, fields + f, 2 * fields + f, 3 * fields + f];
            (weight, agreeing) = field(&mut code, weight, agreeing, registers);
        }
        let index = code.index(1);
        let number = code.convert(index, I64);
        draft.hom(code.finish(&[number, weight, agreeing]), Some(wins()));
        draft.write("match", 0, I64, vec![i.clone()]);
        draft.write("best", 1, F64, vec![i.clone()]);
        draft.write("agreeing", 2, I32, vec![i]);
        draft.finish();
    });
}

/// Returns the weights of agreement and disagreement of each field.
fn weights(c: &mut Choices, g: &mut Generator, fields: i64) -> [View; 2] {
    let mut draft = Draft::new(c, g, 1);
    let f = draft.dim_of(crate::program::Dim::dense("f", fields), Cc);
    draft.read("m", F64, vec![vec![f.clone()]]);
    draft.read("u", F64, vec![vec![f.clone()]]);
    let mut b = CodeBuilder::new(&[F64, F64]);
    let (low, one) = (b.float(F64, 0.0625), b.float(F64, 1.0));
    let high = b.same(Op::Subf, &[one, low]);
    let mut between = |p: usize| {
        let size = b.same(Op::Absf, &[p]);
        let least = b.same(Op::Maximumf, &[size, low]);
        b.same(Op::Minimumf, &[least, high])
    };
    let (m, u) = (between(0), between(1));
    let mut ratio = |m: usize, u: usize| {
        let ratio = b.same(Op::Divf, &[m, u]);
        b.same(Op::Log2, &[ratio])
    };
    let yes = ratio(m, u);
    let (m, u) = (b.same(Op::Subf, &[one, m]), b.same(Op::Subf, &[one, u]));
    let ratio = b.same(Op::Divf, &[m, u]);
    let no = b.same(Op::Log2, &[ratio]);
    draft.hom(b.finish(&[yes, no]), None);
    // In their own type: the matches compare them.
    let types = [F64, F64];
    for (n, name) in ["agree", "disagree"].iter().enumerate() {
        draft.write_as(name, n, types[n], vec![f.clone()]);
    }
    let mut written = draft.finish();
    let disagree = written.remove(1);
    [written.remove(0), disagree]
}

fn field(
    b: &mut CodeBuilder,
    weight: usize,
    agreeing: usize,
    [n, e, agree, disagree]: [usize; 4],
) -> (usize, usize) {
    let (zero, nothing) = (b.number(I32, 0), b.float(F64, 0.0));
    // A bitwise or is negative if one of its operands is.
    let both = b.same(Op::Ori, &[n, e]);
    let known = b.cmpi(CmpiPredicate::Sge, both, zero);
    let same = b.cmpi(CmpiPredicate::Eq, n, e);
    let agrees = b.same(Op::Andi, &[known, same]);
    let verdict = b.select(same, agree, disagree);
    let counts = b.select(known, verdict, nothing);
    let weight = b.same(Op::Addf, &[weight, counts]);
    let counted = b.convert(agrees, I32);
    (weight, b.same(Op::Addi, &[agreeing, counted]))
}

/// The larger weight; of equal ones the smaller number.
fn wins() -> Operator {
    let types = [I64, F64, I32];
    let mut b = CodeBuilder::new(&[types, types].concat());
    let heavier = b.cmpf(CmpfPredicate::Ogt, 1, 4);
    let equal = b.cmpf(CmpfPredicate::Oeq, 1, 4);
    let earlier = b.cmpi(CmpiPredicate::Slt, 0, 3);
    let same = b.cmpi(CmpiPredicate::Eq, 0, 3);
    let more = b.cmpi(CmpiPredicate::Sge, 2, 5);
    let same_more = b.same(Op::Andi, &[same, more]);
    let before = b.same(Op::Ori, &[earlier, same_more]);
    let tie = b.same(Op::Andi, &[equal, before]);
    let first = b.same(Op::Ori, &[heavier, tie]);
    let yields = [0, 1, 2].map(|n| b.select(first, n, n + 3));
    let neutral = vec![
        Scalar::from_i64(I64, i64::MAX),
        Scalar::from_f64(F64, f64::NEG_INFINITY),
        Scalar::from_i64(I32, 0),
    ];
    user(b, &yields, Some(neutral))
}

/// A random operator on a tuple, not commutative where it need not be, in one dimension.
pub fn user_reduce(c: &mut Choices, g: &mut Generator) {
    of_user(c, g, Pw(0));
}

/// A prefix sum by such an operator.
pub fn user_scan(c: &mut Choices, g: &mut Generator) {
    of_user(c, g, Ps(0));
}

fn of_user(c: &mut Choices, g: &mut Generator, combine: Combine) {
    let form = c.weighted("form", &[40, 30, 20, 10]);
    let combines: &[Combine] = match form {
        0 => &[combine],
        1 => &[Cc, combine],
        2 => &[combine, Cc],
        _ => &[Cc, combine, Cc],
    };
    let needs = Needs {
        commutative: false,
        neutral: c.chance("neutral", 40),
    };
    let (operator, components) = operators::operator(c, needs);
    let (read, _) = numbers(c);
    let mut callees = std::mem::take(&mut g.program.callees);
    let mut draft = Draft::new(c, g, combines.len());
    draft.may_be_empty = needs.neutral;
    let pairs = ["i", "j", "k"].iter().zip(combines);
    let point: Vec<Expr> = pairs
        .map(|(name, combine)| draft.dim(name, *combine))
        .collect();
    draft.read("x", read, vec![point.clone()]);
    draft.read("z", read, vec![vec![point[0].clone()]]);
    let mut scope = scalar::Scope {
        rank: combines.len(),
        callees: &mut callees,
        neutral: None,
    };
    let code = scalar::function(draft.c, &mut scope, &[read, read], &components);
    draft.hom(code, Some(operator));
    let kept_index = point.into_iter().zip(combines);
    let kept_index: Vec<Expr> = kept_index
        .filter(|(_, c)| !c.is_pw())
        .map(|(index, _)| index)
        .collect();
    for (n, ty) in components.iter().enumerate() {
        draft.write(
            ["y0", "y1", "y2", "y3"][n.min(3)],
            n,
            *ty,
            kept_index.clone(),
        );
    }
    draft.finish();
    g.program.callees = callees;
}
