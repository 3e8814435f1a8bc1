//! The paper's examples by number, and what else layouts are asked.

use super::*;
use crate::index::parse::{Scope, expression};

pub(super) fn layout(text: &str) -> Layout {
    parse::layout(text, &Facts::new()).unwrap_or_else(|e| panic!("{}", e.in_source(text)))
}

fn refused(text: &str) -> String {
    let error = parse::layout(text, &Facts::new()).unwrap_err();
    error.in_source(text)
}

/// All offsets, in the order of the view's indices.
fn offsets(layout: &Layout) -> Vec<i64> {
    let sizes = layout.numbers().unwrap();
    let total: i64 = sizes.iter().product();
    let row_major = format!("GroupBy({})", indices::list(&sizes));
    let row_major = self::layout(&row_major);
    let index = |flat| row_major.inv_at(flat).unwrap();
    (0..total)
        .map(|flat| layout.apply_at(&index(flat)).unwrap())
        .collect()
}

pub(super) const FIGURE_9: &str = "OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag))\
    .OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])";

#[test]
fn figure_9() {
    let whole = layout(FIGURE_9);
    let o2 = layout("OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])");
    assert_eq!(4 * 6 + 2, 26);
    assert_eq!(o2.apply_at(&[4, 2]), Ok(23));
    assert_eq!(whole.apply_at(&[4, 2]), Ok(15));
    assert_eq!(whole.inv_at(15), Ok(vec![4, 2]));
    assert_eq!(*whole.answer(), Answer::Proved);
    assert_eq!(whole.to_string(), FIGURE_9);
}

#[test]
fn equations_7_and_8() {
    let equation_7 = layout("GroupBy([2,2,2,2,2]).OrderBy(RegP([2,2,2,2,2],[5,2,4,3,1]))");
    let strides = (0..5).map(|d| {
        let mut index = [0; 5];
        index[d] = 1;
        equation_7.apply_at(&index).unwrap()
    });
    assert_eq!(strides.collect::<Vec<i64>>(), [1, 8, 2, 4, 16]);
    let cute = equation_7.to_cute().unwrap();
    assert_eq!(cute.to_string(), "(2,2,2,2,2):(1,8,2,4,16)");
    // Equation 8's first mode of each tuple: the same five digits.
    let equation_8 = layout("(2,2,2,2,2):(1,8,2,4,16)");
    assert_eq!(equation_7.equal(&equation_8), Answer::Proved);
    // As a matrix of 4 by 8 (figure 10, column by column in memory order).
    let figure_10 = layout("((2,2),(2,2,2)):((1,2),(4,8,16))");
    assert_eq!(figure_10.apply_at(&[1, 0]), Ok(1));
    assert_eq!(figure_10.apply_at(&[0, 1]), Ok(4));
    assert_eq!(figure_10.to_cute().unwrap().to_string(), "(4,8):(1,4)");
}

/// Figure 8, as a user writes it.
const ANTIDIAG: &str = "(i, j) -> let d = i + j + 1 in let e = 2 * n - d in \
    select(d <= n, i + d * (d - 1) / 2, n * n - n + i - e * (e - 1) / 2), \
    x0 -> (let s = n * (n + 1) / 2 in let x = select(x0 < s, x0, n * n - 1 - x0) in \
      let r = isqrt(2 * x) in let d = r + (x >= r * (r + 1) / 2) in \
      let i = x - d * (d - 1) / 2 in select(x0 < s, i, n - 1 - i), \
      let s = n * (n + 1) / 2 in let x = select(x0 < s, x0, n * n - 1 - x0) in \
      let r = isqrt(2 * x) in let d = r + (x >= r * (r + 1) / 2) in \
      let j = d - (x - d * (d - 1) / 2) - 1 in select(x0 < s, j, n - 1 - j))";

#[test]
fn figure_8() {
    let written = layout(&format!("GenP([n,n],{ANTIDIAG})"));
    assert_eq!(
        written.answer().to_string(),
        "not proven; open: f and f_inv are each other's inverse on [n,n]"
    );
    for n in 1..=12 {
        let bound = written.bind(&[("n".into(), n)]).unwrap();
        let builtin = layout(&format!("GenP([{n},{n}],antidiag)"));
        assert_eq!(*bound.answer(), Answer::Proved);
        assert_eq!(bound.equal(&builtin), Answer::Proved);
        // In the order of the antidiagonals, each from the first row on.
        let mut points: Vec<(i64, i64)> = (0..n * n).map(|x| (x / n, x % n)).collect();
        points.sort_by_key(|(i, j)| (i + j, *i));
        for (offset, (i, j)) in (0..).zip(points) {
            assert_eq!(builtin.apply_at(&[i, j]), Ok(offset));
            assert_eq!(builtin.inv_at(offset), Ok(vec![i, j]));
        }
    }
    assert_eq!(
        layout("GenP([n,n],antidiag)").answer().to_string(),
        "proved"
    );
}

#[test]
fn figure_4() {
    let text = "GroupBy([6,4]).OrderBy(RegP([2,2],[2,1]),GenP([3,2],(i, j) -> \
                (2 - i) * 2 + 1 - j, x -> (2 - x / 2, 1 - x % 2)))";
    let figure_4 = layout(text);
    let first = [5, 4, 3, 2, 1, 0, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6];
    assert_eq!(offsets(&figure_4)[..18], first);
    let reverse = layout("GroupBy([6,4]).OrderBy(RegP([2,2],[2,1]),GenP([3,2],reverse))");
    assert_eq!(figure_4.equal(&reverse), Answer::Proved);
    let printed = layout(&figure_4.to_string());
    assert_eq!(printed.to_string(), figure_4.to_string());
}

#[test]
fn tile_by_and_tile_order_by() {
    // TileBy_3x2 and TileBy_2x3 have the permutations of section 3.2.
    let three = layout("TileBy([2,3],[4,5],[6,7])");
    assert_eq!(
        three.to_string(),
        "OrderBy(RegP([2,3,4,5,6,7],[1,3,5,2,4,6])).GroupBy([2,3],[4,5],[6,7])"
    );
    let two = layout("TileBy([2,3,4],[5,6,7])");
    assert_eq!(
        two.to_string(),
        "OrderBy(RegP([2,3,4,5,6,7],[1,4,2,5,3,6])).GroupBy([2,3,4],[5,6,7])"
    );
    // Element (i, j) of the 2 x 2 tile (a, b) of a 4 x 6 matrix of 2 x 3 tiles, in row-major order.
    let tiles = layout("TileBy([2,2],[2,3])");
    assert_eq!(tiles.apply_at(&[1, 0, 1, 2]), Ok((2 + 1) * 6 + 2));
    // The same with the tiles one after the other.
    let order = layout("TileOrderBy(Row([2,2]),Row([2,3])).GroupBy([4,6])");
    assert_eq!(
        order.to_string(),
        "OrderBy(RegP([2,2],[1,2]),RegP([2,3],[1,2])).OrderBy(RegP([2,2,2,3],[1,3,2,4]))\
         .GroupBy([4,6])"
    );
    assert_eq!(order.apply_at(&[3, 2]), Ok(2 * 6 + 3 + 2));
    assert_eq!(order.equal(&layout("Bricks([4,6],[2,3])")), Answer::Proved);
    // Tiles of tiles undo the order of tiles: row-major again.
    let both = layout("TileOrderBy(Row([2,2]),Row([2,3])).TileBy([2,2],[2,3])");
    let plain = layout("GroupBy([2,2],[2,3])");
    assert_eq!(both.equal(&plain), Answer::Proved);
}

#[test]
fn row_and_col() {
    assert_eq!(offsets(&layout("Row([2,3])")), [0, 1, 2, 3, 4, 5]);
    assert_eq!(offsets(&layout("Col([2,3])")), [0, 2, 4, 1, 3, 5]);
    assert_eq!(layout("Col([n,m])").answer(), &Answer::Proved);
}

#[test]
fn both_orders_of_writing_are_the_same() {
    let (a, b) = (
        "OrderBy(Col([4,6]))",
        "OrderBy(GenP([2,2],reverse),Col([6]))",
    );
    let first = layout(&format!("{a}.{b}.GroupBy([4,6])"));
    let last = layout(&format!("GroupBy([4,6]).{a}.{b}"));
    assert_eq!(first.to_string(), last.to_string());
    assert_eq!(
        refused("OrderBy(Row([4])).GroupBy([4]).OrderBy(Row([4]))"),
        "the view stands between reorderings, expected it before all of them or after them\n  \
         OrderBy(Row([4])).GroupBy([4]).OrderBy(Row([4]))\n                    ^^^^^^^^^^^^"
    );
}

#[test]
fn levels_may_have_different_ranks() {
    let layout = layout("OrderBy(RegP([4],[1]),RegP([2,3,1],[3,1,2])).GroupBy([2,2],[6])");
    assert_eq!(layout.apply_at(&[1, 0, 5]), Ok(2 * 6 + 5));
}

#[test]
fn composition_applies_one_after_the_other() {
    let first = layout("OrderBy(Col([4,6])).GroupBy([4,6])");
    let second = layout("OrderBy(GenP([2,12],reverse)).GroupBy([24])");
    let both = second.after(&first).unwrap();
    for i in 0..4 {
        for j in 0..6 {
            let through = second.apply_at(&[first.apply_at(&[i, j]).unwrap()]);
            assert_eq!(both.apply_at(&[i, j]), through);
        }
    }
    let error = layout("GroupBy([25]).Row([25])").after(&first).unwrap_err();
    assert_eq!(
        error.message,
        "the sizes of OrderBy(RegP([25],[1])) have the product 25, those of the view 24, \
         expected the same"
    );
}

#[test]
fn equality_is_of_functions() {
    let a = layout("OrderBy(Row([2,12])).GroupBy([4,6])");
    assert_eq!(a.equal(&layout("GroupBy([4,6])")), Answer::Proved);
    assert_eq!(
        a.equal(&layout("Col([4,6])")).to_string(),
        "refuted: [0,1] is at 1 in one, at 4 in the other"
    );
    assert_eq!(
        a.equal(&layout("Col([6,4])")).to_string(),
        "refuted: one has indices of [4,6], the other of [6,4]"
    );
    let symbolic = layout("OrderBy(RegP([n,m,k],[1,2,3])).GroupBy([n*m,k])");
    assert_eq!(symbolic.equal(&layout("GroupBy([n*m,k])")), Answer::Proved);
    assert_eq!(
        layout("Row([n,m])")
            .equal(&layout("Col([n,m])"))
            .to_string(),
        "refuted: with n = 2, m = 2, [0,1] is at 1 in one, at 2 in the other"
    );
    assert_eq!(
        layout("GenP([n],table(p,q))")
            .equal(&layout("Row([n])"))
            .to_string(),
        "not proven; open: both have the same offset for every index of [n]"
    );
}

#[test]
fn padding_is_masked() {
    let tiles = layout("TileBy([2,2],[3,4]).Within([5,7])");
    let names: Vec<Name> = ["a", "b", "i", "j"].map(Name::from).to_vec();
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let program = IndexProgram::with_inputs(&names, &[tiles.mask(&index).unwrap()]);
    let mut meant = 0;
    for flat in 0..48 {
        let at = tiles.inv_at(flat).unwrap();
        let [row, column] = [at[0] * 3 + at[2], at[1] * 4 + at[3]];
        let inside = program.run(&at).unwrap()[0];
        assert_eq!(inside == 1, row < 5 && column < 7);
        meant += inside;
    }
    assert_eq!(meant, 35);
    assert!(layout("GroupBy([4])").mask(&[Expr::constant(0)]).is_none());
    assert_eq!(
        layout("TileBy([(n+3)/4],[4]).Within([n])")
            .answer()
            .to_string(),
        "proved"
    );
    assert_eq!(
        refused("GroupBy([4]).Within([5])"),
        "'Within' has the size 5 for dimension 1, expected at most the view's 4\n  \
         GroupBy([4]).Within([5])\n               ^^^^^^^^^^^"
    );
    assert_eq!(
        refused("GroupBy([4],[2,2]).Within([5])")
            .lines()
            .next()
            .unwrap(),
        "'Within' has 1 sizes, but [2,2] has 2, expected one for each dimension"
    );
}

#[test]
fn tables_are_given_now_or_at_run_time() {
    let table = layout("GenP([2,2],table([2,0,3,1]))");
    assert_eq!(offsets(&table), [2, 0, 3, 1]);
    assert_eq!(table.inv_at(3), Ok(vec![1, 0]));
    assert_eq!(layout(&table.to_string()).equal(&table), Answer::Proved);
    let later = layout("GenP([n],table(p, p_inv))");
    assert_eq!(
        later.answer().to_string(),
        "not proven; open: p_inv[p[x]] == x for every x below n; p[x] is below n"
    );
    assert_eq!(later.apply(&[Expr::symbol("i")]).to_string(), "p[i]");
    assert_eq!(later.inv(&Expr::symbol("x"))[0].to_string(), "p_inv[x]");
    assert_eq!(
        refused("GenP([4],table([2,0,3,3]))")
            .lines()
            .next()
            .unwrap(),
        "the table [2,0,3,3] lacks 1, expected each of 0 to 3 once"
    );
    assert_eq!(
        refused("GenP([5],table([1,0]))").lines().next().unwrap(),
        "the table has 2 entries, expected 5, one for each element of [5]"
    );
}

#[test]
fn cute_layouts_are_read_and_written() {
    let forms = [
        ("Row([4,6])", "(4,6):(6,1)"),
        ("Col([4,6])", "(4,6):(1,4)"),
        ("Row([7])", "7:1"),
        ("Bricks([4,6],[2,3])", "((2,2),(3,2)):((3,12),(1,6))"),
        ("TileBy([2,2],[2,3])", "(2,2,2,3):(12,3,6,1)"),
        ("GroupBy([1,3])", "(1,3):(0,1)"),
        ("GroupBy([4,8]).Within([4,6])", "(4,6):(8,1)"),
        ("Col([8,5]).GroupBy([8,5]).Within([6,5])", "(6,5):(1,8)"),
        ("Row([n,m*2])", "(n,m * 2):(m * 2,1)"),
        (
            "TileBy([m,n],[b,c]).Col([m*b,n*c])",
            "(m,n,b,c):(b,c * m * b,1,m * b)",
        ),
    ];
    for (text, cute) in forms {
        let layout = layout(text);
        assert_eq!(layout.to_cute().unwrap().to_string(), cute, "{text}");
        assert_eq!(self::layout(cute).equal(&layout), Answer::Proved, "{text}");
    }
    let none = |text: &str| layout(text).to_cute().unwrap_err();
    assert_eq!(
        none("GenP([3,3],antidiag)"),
        "this layout has no shape:stride form: [0,2] is at 3, but its components alone would put \
         it at 2"
    );
    assert!(none("GenP([4,4],reverse)").starts_with("this layout has no shape:stride form"));
    assert_eq!(
        none("GenP([n,2],antidiag)"),
        "this layout has no shape:stride form that is proved, with a stride for each size; the \
         sizes have symbols, expected numbers for 'n'"
    );
    for (text, stride, size, expected) in [
        ("(4,8):(4,1)", 4, 4, 8),
        ("((2,3),4):((1,4),12)", 4, 3, 2),
        ("4:2", 2, 4, 1),
        ("(2,3,2):(1,2,7)", 7, 2, 6),
    ] {
        assert_eq!(
            refused(text).lines().next().unwrap(),
            format!(
                "'{text}' is no bijection: found the stride {stride} of a mode of size {size}, \
                 expected {expected}, the product of the sizes of smaller strides"
            )
        );
    }
    assert_eq!(
        layout("(n,m):(ld,1)").answer().to_string(),
        "not proven; open: m <= ld"
    );
    assert_eq!(layout("n:1").equal(&layout("Row([n])")), Answer::Proved);
    assert_eq!(
        refused("(4,(2,2)):(4,1)"),
        "shape and strides are nested differently, expected a stride for each size\n  \
         (4,(2,2)):(4,1)\n  ^^^^^^^^^^^^^^^"
    );
}

#[test]
fn sizes_may_be_symbols() {
    let facts = Facts::new();
    let proved = |text: &str| layout(text).answer().clone();
    assert_eq!(
        proved("TileBy([m,n],[b,c]).OrderBy(Col([m*b,n*c]))"),
        Answer::Proved
    );
    assert_eq!(
        proved("TileBy([M/B,N/C],[B,C]).OrderBy(Col([M,N]))").to_string(),
        "not proven; open: M / B >= 1; N / C >= 1; M * N == M / B * (N / C) * B * C"
    );
    assert_eq!(
        proved("GroupBy([n-1])").to_string(),
        "not proven; open: n - 1 >= 1"
    );
    let reversed = "GenP([n,m],(i, j) -> (n-1-i)*m + m-1-j, x -> (n-1-x/m, m-1-x%m))";
    assert_eq!(proved(reversed), Answer::Proved);
    let matrix = layout("TileBy([m,n],[b,c]).OrderBy(Col([m*b,n*c]))");
    let names: Vec<Name> = ["p", "q", "i", "j"].map(Name::from).to_vec();
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let offset = matrix.apply(&index);
    let simple = crate::index::normal::normal(&matrix.facts_of_index(&names), &offset);
    let expected = expression("(q*c + j)*m*b + p*b + i", &Scope::default()).unwrap();
    assert!(
        crate::index::normal::equal(&facts, &simple, &expected),
        "{simple}"
    );
    let bound = matrix.bind(&[("m", 2), ("n", 3), ("b", 4), ("c", 5)].map(|(n, v)| (n.into(), v)));
    assert_eq!(
        bound.unwrap().to_cute().unwrap().to_string(),
        "(2,3,4,5):(4,40,1,8)"
    );
}

/// Checks: what is said of a symbol is not said of an index or offset of that name, which a pair of functions
/// has for itself.
#[test]
fn names_of_a_pair_are_its_own() {
    let mut facts = Facts::new();
    facts.within("i", crate::index::Interval::exactly(2));
    let values = [("i".into(), 2)];
    for pair in ["i -> 3 - i, x -> 3 - x", "k -> 3 - k, i -> 3 - i"] {
        let parsed = parse::layout_of(&format!("GenP([4],{pair}).GroupBy([i,2])"), &facts, &values);
        assert_eq!(offsets(&parsed.unwrap()), [3, 2, 1, 0], "{pair}");
    }
    let symbolic = layout("OrderBy(GenP([4],i -> 3 - i, x -> 3 - x),Row([i])).GroupBy([4,i])");
    let bound = symbolic.bind(&[("i".into(), 2)]).unwrap();
    assert_eq!(offsets(&bound), [6, 7, 4, 5, 2, 3, 0, 1]);
}

/// Symbols whose bounds leave few values are decided by trying all of them.
#[test]
fn bounded_sizes_are_tried() {
    let parsed = |text: &str, max: i128| {
        let mut facts = Facts::new();
        facts.within("n", crate::index::Interval::new(1, max));
        parse::layout(text, &facts)
    };
    let rotated = "GenP([n],i -> (i + 1) % n, x -> (x - 1) % n)";
    assert_eq!(*parsed(rotated, 100).unwrap().answer(), Answer::Proved);
    assert_eq!(
        parsed(rotated, 1 << 20).unwrap().answer().to_string(),
        "not proven; open: f and f_inv are each other's inverse on [n]"
    );
    let late = "GenP([n],i -> select(n < 90, i, 0), x -> x)";
    assert_eq!(
        parsed(late, 100).unwrap_err().message,
        "with n = 90, f gives 0 for [1], but f_inv gives [0] for 0, expected [1]"
    );
}
