//! Sums of products, by the index functions of their three buffers.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Combine;
use mdh_algebra::op::Op;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType;

use super::super::generator::Generator;
use super::super::scalar::under_condition;
use super::draft::Draft;
use crate::builder::CodeBuilder;
use crate::choices::Choices;

/// A sum of products: kept dimensions, summed ones, and the indices of A, B and C.
pub struct Product {
    /// Its name.
    pub name: &'static str,
    kept: &'static str,
    summed: &'static str,
    buffers: [&'static str; 3],
}

const fn row(
    name: &'static str,
    kept: &'static str,
    summed: &'static str,
    buffers: [&'static str; 3],
) -> Product {
    Product {
        name,
        kept,
        summed,
        buffers,
    }
}

const T: &str = "a b c d e f";

/// All of them.
pub const PRODUCTS: [Product; 17] = [
    row("dot", "", "i", ["i", "i", ""]),
    row("matvec", "i", "k", ["i k", "k", "i"]),
    row("matmul", "i j", "k", ["i k", "k j", "i j"]),
    row("matmul_t", "i j", "k", ["k i", "j k", "j i"]),
    row("bmatmul", "b i j", "k", ["b i k", "b k j", "b i j"]),
    row("conv2d", "p q", "r s", ["p+r q+s", "r s", "p q"]),
    row(
        "mcc",
        "n p q k",
        "r s c",
        ["n 2p+r 2q+s c", "k r s c", "n p q k"],
    ),
    row(
        "mcc_capsule",
        "n p q k u v",
        "r s c w",
        ["n 2p+r 2q+s c u w", "k r s c w v", "n p q k u v"],
    ),
    row("ccsdt", T, "g", ["g d a b", "e f g c", T]),
    row("ccsdt", T, "g", ["g d a c", "e f g b", T]),
    row("ccsdt", T, "g", ["g d b c", "e f g a", T]),
    row("ccsdt", T, "g", ["g e a b", "d f g c", T]),
    row("ccsdt", T, "g", ["g e a c", "d f g b", T]),
    row("ccsdt", T, "g", ["g e b c", "d f g a", T]),
    row("ccsdt", T, "g", ["g f a b", "d e g c", T]),
    row("ccsdt", T, "g", ["g f a c", "d e g b", T]),
    row("ccsdt", T, "g", ["g f b c", "d e g a", T]),
];

/// So often each is chosen: the nine contractions of ccsdt count as one.
pub const OFTEN: [u64; 17] = [9, 9, 15, 9, 9, 9, 6, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1];
/// The same of products that are to have two factors of several dimensions each.
pub const OF_MATRICES: [u64; 17] = [0, 0, 40, 20, 15, 2, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

/// `C = sum of A * B`, whose factors are read in the one type, and multiplied in the other.
pub fn product(
    c: &mut Choices,
    g: &mut Generator,
    of: &Product,
    (read, combined): (ScalarType, ScalarType),
) {
    let names: Vec<&str> = of.kept.split(' ').chain(of.summed.split(' ')).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let mut draft = Draft::new(c, g, names.len());
    for name in &names {
        let is_kept = of.kept.split(' ').any(|kept| kept == *name);
        draft.dim(name, if is_kept { Combine::Cc } else { Combine::Pw(0) });
    }
    let [a, b, result] = of.buffers.map(|text| indices(text, &names));
    draft.read("A", read, vec![a]);
    draft.read("B", read, vec![b]);
    let mut code = CodeBuilder::new(&[read, read]);
    let factors = [code.convert(0, combined), code.convert(1, combined)];
    let (times, plus) = match combined.is_float() {
        true => (Op::Mulf, Builtin::Addf),
        false => (Op::Muli, Builtin::Addi),
    };
    let mut values = vec![code.same(times, &factors)];
    if let (Some(neutral), true) = (plus.neutral(combined), draft.c.chance("condition", 25)) {
        values = under_condition(draft.c, &mut code, names.len(), &values, &[neutral]);
    }
    draft.hom(code.finish(&values), Some(Operator::Builtin(vec![plus])));
    draft.write("C", 0, combined, result);
    draft.finish();
}

/// `2p+r q`: the index functions of a buffer's axes.
fn indices(text: &str, names: &[&str]) -> Vec<Expr> {
    let term = |term: &str| {
        let (factor, name) = match term.strip_prefix('2') {
            Some(name) => (2, name),
            None => (1, term),
        };
        let d = Expr::Dim(names.iter().position(|n| *n == name).unwrap_or_default());
        if factor == 1 { d } else { d * factor }
    };
    let index = |axis: &str| axis.split('+').map(term).reduce(|a, b| a + b);
    text.split(' ')
        .filter(|axis| !axis.is_empty())
        .filter_map(index)
        .collect()
}
