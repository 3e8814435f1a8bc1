//! Every kind of bad input.

use super::tests::{FIGURE_9, layout};
use super::*;

/// Bad input: its text, what is marked of it, and the first line of the message.
type Refusal = (&'static str, &'static str, &'static str);

/// Sizes, and the numbers of permuted dimensions.
const SIZES: &[Refusal] = &[
    (
        "OrderBy(RegP([2,2],[1,1])).GroupBy([4])",
        "RegP([2,2],[1,1])",
        "the permutation [1,1] lacks 2, expected each of 1 to 2 once",
    ),
    (
        "OrderBy(RegP([2,2],[1])).GroupBy([4])",
        "RegP([2,2],[1])",
        "the permutation [1] has 1 entries, expected one for each of 2 sizes",
    ),
    (
        "RegP([2,2],[0,1])",
        "0",
        "found '0', expected the number of a dimension, from 1 on",
    ),
    (
        "OrderBy(Row([2,3])).GroupBy([4,2])",
        "OrderBy(Row([2,3]))",
        "the sizes of OrderBy(RegP([2,3],[1,2])) have the product 6, those of the view 8, expected the same",
    ),
    (
        "OrderBy(Row([n,3])).GroupBy([n,2])",
        "OrderBy(Row([n,3]))",
        "the sizes of OrderBy(RegP([n,3],[1,2])) have the product n * 3, those of the view n * 2, expected the same",
    ),
    (
        "GroupBy([4,0])",
        "GroupBy([4,0])",
        "found the size 0 in [4,0], expected 1 or more",
    ),
    (
        "OrderBy(Row([-2,2])).GroupBy([4])",
        "Row([-2,2])",
        "found the size -2 in [-2,2], expected 1 or more",
    ),
    (
        "GroupBy([4294967296,4294967296])",
        "GroupBy([4294967296,4294967296])",
        "the product of the sizes [4294967296,4294967296] is more than 9223372036854775807",
    ),
    ("GroupBy([])", "GroupBy([])", "found a view without sizes"),
    ("GroupBy()", "GroupBy()", "found a view without sizes"),
    (
        "TileBy([2,2],[3])",
        "TileBy([2,2],[3])",
        "found levels of 2 and of 1 dimensions, expected the same for all",
    ),
    (
        "Bricks([6,6],[4,3])",
        "Bricks([6,6],[4,3])",
        "bricks of 4 do not divide 6; pad it to a multiple, and say with 'Within([..])' what is meant",
    ),
];

/// Pairs of written functions.
const FUNCTIONS: &[Refusal] = &[
    (
        "GenP([2,2],(i, j) -> i + j, x -> (x / 2, x % 2))",
        "GenP([2,2],(i, j) -> i + j, x -> (x / 2, x % 2))",
        "f gives 1 for [1,0], but f_inv gives [0,1] for 1, expected [1,0]",
    ),
    (
        "GenP([2,2],(i, j) -> i * 3 + j, x -> (x / 3, x % 3))",
        "GenP([2,2],(i, j) -> i * 3 + j, x -> (x / 3, x % 3))",
        "f gives 4 for [1,1], expected an offset of 0 to 3",
    ),
    (
        "GenP([n],i -> n - i, x -> n - x)",
        "GenP([n],i -> n - i, x -> n - x)",
        "with n = 1, f gives 1 for [0], expected an offset of 0 to 0",
    ),
    (
        "GenP([4],i -> 3 / i, x -> x)",
        "GenP([4],i -> 3 / i, x -> x)",
        "'3 / i' divides by 'i', which may be 0, expected 1 or more",
    ),
    (
        "GenP([4,4],(i, j) -> i, x -> x)",
        "GenP([4,4],(i, j) -> i, x -> x)",
        "f_inv gives 1 indices, expected 2, one for each size",
    ),
    (
        "GenP([4],(i, j) -> i, x -> (x, x))",
        "GenP([4],(i, j) -> i, x -> (x, x))",
        "f takes 2 indices, expected 1, one for each size",
    ),
    (
        "OrderBy(GenP([4],i -> select(i == 0, 1, i), x -> x),Row([i])).GroupBy([4,i])",
        "GenP([4],i -> select(i == 0, 1, i), x -> x)",
        "f gives 1 for [0], but f_inv gives [1] for 1, expected [0]",
    ),
];

/// Names in pairs of functions.
const NAMES: &[Refusal] = &[
    ("GenP([4],i -> k, x -> x)", "k", "found 'k', expected 'i'"),
    (
        "GenP([3,3],(i, i) -> i, x -> (x, x))",
        "(i, i)",
        "found the index 'i' twice, expected another name for each",
    ),
    (
        "GenP([n],i -> i, n -> n)",
        "n",
        "found the offset 'n', which is a size already",
    ),
    (
        "GenP([4,n],(n, j) -> n, x -> (x, x))",
        "(n, j)",
        "found the index 'n', which is a size already",
    ),
    (
        "GenP([n],table(n,q))",
        "GenP([n],table(n,q))",
        "found the table 'n', which is a size already",
    ),
];

/// Pairs of functions with names, which not all sizes have.
const PAIRS: &[Refusal] = &[
    (
        "GenP([3,4,2],antidiag)",
        "GenP([3,4,2],antidiag)",
        "'antidiag' has the sizes [3,4,2], expected two, rows and columns",
    ),
    (
        "GenP([3,4],morton)",
        "GenP([3,4],morton)",
        "'morton' has the sizes [3,4], expected powers of two, such as [4,4] with Within([3,4])",
    ),
    (
        "GenP([4,8],hilbert)",
        "GenP([4,8],hilbert)",
        "'hilbert' has the sizes [4,8], expected a square whose side is a power of two, such as \
         [8,8] with Within([4,8])",
    ),
    (
        "GenP([4,6],xor)",
        "GenP([4,6],xor)",
        "'xor' has the sizes [4,6], expected rows and a power of two of columns",
    ),
    (
        "GenP([64],swizzle(3,0,2))",
        "GenP([64],swizzle(3,0,2))",
        "'swizzle(3, 0, 2)' has a shift of 2, expected 3 or more, so that no bit changes itself",
    ),
    (
        "GenP([40],swizzle(2,2,2))",
        "GenP([40],swizzle(2,2,2))",
        "'swizzle(2, 2, 2)' has the sizes [40], expected a multiple of 2^4 elements, which it maps onto \
         themselves",
    ),
    (
        "GenP([48],swizzle(2,2))",
        "(2,2)",
        "'swizzle' has 2 parameters, expected (bits, base, shift)",
    ),
];

/// Parts of a layout: unknown ones, and those that are missing or there twice.
const FORM: &[Refusal] = &[
    (
        "OrderBy().GroupBy([2])",
        "OrderBy()",
        "'OrderBy' has no permutation, expected one for each level",
    ),
    (
        "GroupBy([8]).Within([4]).Within([5])",
        "Within([5])",
        "found a second 'Within', expected one",
    ),
    (
        "GenP([4,4],mortom)",
        "mortom",
        "found no pair of functions 'mortom', expected one of 'antidiag', 'reverse', 'morton', 'hilbert', 'xor', 'swizzle', 'table'; did you mean 'morton'?",
    ),
    (
        "OrdreBy(Row([2])).GroupBy([2])",
        "OrdreBy",
        "found no layout 'OrdreBy', expected one of 'OrderBy', 'TileOrderBy', 'GroupBy', 'TileBy', 'Bricks', 'Within', 'RegP', 'GenP', 'Row', 'Col'; did you mean 'OrderBy'?",
    ),
    (
        "OrderBy(Rwo([2])).GroupBy([2])",
        "Rwo",
        "found no permutation 'Rwo', expected one of 'RegP', 'GenP', 'Row', 'Col'; did you mean 'Row'?",
    ),
    (
        "GroupBy([2]).TileBy([2])",
        "TileBy([2])",
        "found a second view, 'TileBy', expected one",
    ),
    ("GroupBy([2]) x", "x", "found 'x', expected the end"),
    (
        "",
        " ",
        "found the end, expected a layout, such as OrderBy(..).GroupBy([..])",
    ),
    (
        "Within([3])",
        "Within([3])",
        "found no view and no reordering, expected at least GroupBy([..])",
    ),
];

fn assert_refused(refusals: &[Refusal]) {
    for (text, marked, message) in refusals {
        let error = parse::layout(text, &Facts::new()).unwrap_err();
        assert_eq!(error.message, *message, "{text}");
        let found = text.get(error.span.clone()).filter(|t| !t.is_empty());
        assert_eq!(found.unwrap_or(" "), *marked, "{text}");
    }
}

#[test]
fn sizes_and_permutations_are_refused() {
    assert_refused(SIZES);
}

#[test]
fn functions_that_are_not_inverse_are_refused() {
    assert_refused(FUNCTIONS);
}

#[test]
fn wrong_names_are_refused() {
    assert_refused(NAMES);
}

#[test]
fn sizes_of_named_functions_are_refused() {
    assert_refused(PAIRS);
}

#[test]
fn what_is_no_layout_is_refused() {
    assert_refused(FORM);
}

#[test]
fn divisors_that_may_be_0_are_refused() {
    let mut facts = Facts::new();
    facts.within("B", crate::index::Interval::from(0));
    let error = parse::layout("GroupBy([M/B])", &facts).unwrap_err();
    assert_eq!(
        error.message,
        "'M / B' divides by 'B', which may be 0, expected 1 or more"
    );
}

#[test]
fn indices_and_offsets_outside_are_refused() {
    let layout = layout(FIGURE_9);
    assert_eq!(
        layout.apply_at(&[6, 0]).unwrap_err(),
        "found 6 for component 1 of the index, expected 0 to 5"
    );
    assert_eq!(
        layout.apply_at(&[1]).unwrap_err(),
        "the index has 1 components, expected 2, one for each of [6, 6]"
    );
    assert_eq!(
        layout.inv_at(36).unwrap_err(),
        "found the offset 36, expected 0 to 35"
    );
}
