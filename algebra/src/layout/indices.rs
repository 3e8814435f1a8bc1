//! Indices of tiles: row-major offsets, components in another order, and their text.

use crate::index::{Expr, Facts, normal};

/// The row-major offset of an index: `B_n(i)`.
pub fn flatten(sizes: &[Expr], index: &[Expr]) -> Expr {
    let pairs = sizes.iter().zip(index);
    pairs.fold(Expr::constant(0), |flat, (n, i)| flat * n + i)
}

/// Its inverse; the first component takes all that is left.
pub fn unflatten(sizes: &[Expr], offset: &Expr) -> Vec<Expr> {
    let mut rest = offset.clone();
    let mut index = Vec::with_capacity(sizes.len());
    for (d, n) in sizes.iter().enumerate().rev() {
        index.push(if d == 0 { rest.clone() } else { &rest % n });
        rest = rest / n;
    }
    index.reverse();
    index
}

/// `B^-1_to(B_from(index))`, without what one undoes of the other: where the first dimensions of
/// both have the same product, they are taken apart from the others.
pub(super) fn regroup(from: &[Expr], index: &[Expr], to: &[Expr]) -> Vec<Expr> {
    let (mut regrouped, mut at) = (Vec::with_capacity(to.len()), (0, 0));
    for (i, j) in common_products(from, to) {
        let part = flatten(&from[at.0..i], &index[at.0..i]);
        match (&from[at.0..i], &to[at.1..j]) {
            (mine, others) if mine == others => regrouped.extend_from_slice(&index[at.0..i]),
            (_, others) => regrouped.extend(unflatten(others, &part)),
        }
        at = (i, j);
    }
    regrouped
}

/// Pairs of lengths whose first dimensions have the same product, ending with both whole lists.
fn common_products(from: &[Expr], to: &[Expr]) -> Vec<(usize, usize)> {
    let products = |sizes: &[Expr]| -> Vec<Expr> {
        (1..=sizes.len())
            .map(|n| Expr::product(&sizes[..n]))
            .collect()
    };
    let same = |a: &Expr, b: &Expr| match (a.as_constant(), b.as_constant()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => normal::equal(&Facts::new(), a, b),
        _ => false,
    };
    let (mine, others) = (products(from), products(to));
    let (mut pairs, mut next) = (Vec::new(), 0);
    for (i, product) in mine[..mine.len() - 1].iter().enumerate() {
        // The last dimension of each stays for the last pair.
        let rest = next..others.len() - 1;
        if let Some(j) = rest.into_iter().find(|j| same(product, &others[*j])) {
            pairs.push((i + 1, j + 1));
            next = j + 1;
        }
    }
    pairs.push((from.len(), to.len()));
    pairs
}

/// `sigma(x)_k = x[sigma_k]`, 1-based.
pub(super) fn permute(x: &[Expr], sigma: &[usize]) -> Vec<Expr> {
    sigma.iter().map(|k| x[k - 1].clone()).collect()
}

/// The permutation that undoes one.
pub fn inverse(sigma: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; sigma.len()];
    for (k, s) in sigma.iter().enumerate() {
        inverse[s - 1] = k + 1;
    }
    inverse
}

/// `[a,b]`.
pub(super) fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    format!("[{}]", items.join(","))
}
