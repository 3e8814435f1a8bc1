//! Text, preconditions, what is open, claims that are wrong, launches, and with-loops.

use super::*;
use crate::domain::{Grid, points};
use crate::index::{Expr, Facts, IndexProgram, Interval, Name};
use crate::layout::Answer;
use crate::random::Random;

fn mapped(text: &str) -> Mapping {
    mapping(text, &Facts::new()).unwrap_or_else(|e| panic!("{}", e.in_source(text)))
}

fn error(text: &str) -> (String, String) {
    let error = mapping(text, &Facts::new()).unwrap_err();
    (text[error.span].to_string(), error.message)
}

fn cuda() -> Device {
    Device {
        name: "cuda".into(),
        grid: vec![(1 << 31) - 1, 65535, 65535],
        block: vec![1024, 1024, 64],
        threads: 1024,
        warp: 32,
    }
}

#[test]
fn text_is_read_back() {
    for text in [
        "[]",
        "[8]",
        "[1 to n step 3 width 2, m].shift_lb.compress_grid([0]).permute([1,0])",
        "[n].pad_last(32).split_last(32)",
        "[-3 to 9, 2 to 4 step 2].shift_lb.prune_grid.fold_last2.compress_grid([])",
    ] {
        assert_eq!(mapped(text).to_string(), text);
    }
    let steps = chain("shift_lb . split_last(128)").unwrap();
    assert_eq!(steps, [Step::ShiftLb, Step::SplitLast(128.into())]);
    assert_eq!(space("[2 to 5]").unwrap().to_string(), "[2 to 5]");
}

/// Wrong mappings: the text, its part that is wrong, and the message.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "[12].split_last(5)",
        "split_last(5)",
        "split_last: found the last size 12, expected a multiple of 5 (pad_last(5) makes it one)",
    ),
    (
        "[3 to 12 step 2].compress_grid([0])",
        "compress_grid([0])",
        "compress_grid: found the lower bound 3 in dimension 0, expected 0 (shift_lb makes it 0)",
    ),
    (
        "[4, 12 step 3 width 2].fold_last2",
        "fold_last2",
        "fold_last2: found step 3 and width 2 in dimension 1, expected a dense space \
         (compress_grid or prune_grid makes it one)",
    ),
    (
        "[4].shift_lb.fold_last2",
        "fold_last2",
        "fold_last2: found a space of 1 dimensions, expected 2 or more",
    ),
    (
        "[].pad_last(4)",
        "pad_last(4)",
        "pad_last: found a space of 0 dimensions, expected 1 or more",
    ),
    (
        "[4].pad_last(0)",
        "pad_last(0)",
        "pad_last: found the size 0, expected 1 or more",
    ),
    (
        "[4,5].permute([0])",
        "permute([0])",
        "permute: found a permutation of 1 dimensions, expected 2",
    ),
    (
        "[4,5].permute([1,1])",
        "permute([1,1])",
        "permute: the permutation lacks 0, expected each of 0 to 1 once",
    ),
    (
        "[4].compress_grid([1])",
        "compress_grid([1])",
        "compress_grid: found dimension 1 of a space of 1 dimensions, expected less than 1",
    ),
    (
        "[4].compress_grid([0,0])",
        "compress_grid([0,0])",
        "compress_grid: found dimension 0 twice, expected it once",
    ),
    (
        "[4 step 2 width 3]",
        "[4 step 2 width 3]",
        "found the width 3 in dimension 0, expected at most its step 2",
    ),
    (
        "[4 step 0]",
        "[4 step 0]",
        "found the step 0 in dimension 0, expected 1 or more",
    ),
    (
        "[4].split(2)",
        "split",
        "found no mapping 'split', expected one of 'shift_lb', 'compress_grid', 'prune_grid', \
         'split_last', 'fold_last2', 'permute', 'pad_last'",
    ),
];

#[test]
fn what_is_wrong_has_its_place_and_both_numbers() {
    for (text, place, message) in MISTAKES {
        assert_eq!(error(text), (place.to_string(), message.to_string()));
    }
}

/// Checks: what symbols leave open is kept, what they prove is not, and values decide.
#[test]
fn symbols_leave_conditions_open() {
    let open = |text: &str| mapped(text).answer();
    let conditions = |all: &[&str]| Answer::Open(all.iter().map(ToString::to_string).collect());
    assert_eq!(open("[n].pad_last(32).split_last(32)"), Answer::Proved);
    assert_eq!(open("[32*n].split_last(32)"), Answer::Proved);
    assert_eq!(open("[n].split_last(32)"), conditions(&["n % 32 == 0"]));
    assert_eq!(
        open("[l to n].shift_lb.pad_last(b).split_last(b)"),
        Answer::Proved
    );
    assert_eq!(
        open("[n step t width w].compress_grid([0])"),
        conditions(&["w <= t"])
    );
    let strided = mapped("[l to u step 4 width 3].shift_lb.compress_grid([0])");
    assert_eq!(strided.answer(), Answer::Proved);
    let bound = mapped("[n].split_last(32)").bind(&[("n".into(), 48)]);
    assert!(
        bound
            .unwrap_err()
            .message
            .contains("found the last size 48")
    );
}

/// Symbolic mappings agree with the definition at small values of their symbols.
#[test]
fn symbols_are_right_at_small_values() {
    for text in [
        "[l to n step 3 width 2].shift_lb.compress_grid([0]).pad_last(4).split_last(4)",
        "[n, m].fold_last2.pad_last(4).split_last(4).permute([1,0])",
        "[n step t width w].prune_grid.pad_last(b).split_last(b)",
        "[l to n step t width w].shift_lb.compress_grid([0])",
        "[n].split_last(b)",
        "[n, m].pad_last(3).split_last(3).permute([1,2,0]).pad_last(2).split_last(2)",
    ] {
        let answer = mapped(text).decide();
        assert!(matches!(answer, Answer::Open(_)), "{text}: {answer}");
    }
}

/// Checks: bounds that leave few values are as good as numbers.
#[test]
fn bounded_symbols_are_decided() {
    for text in [
        "[n].pad_last(4).split_last(4) where n = 0..40",
        "[n, m].fold_last2.pad_last(3).split_last(3) where n = 1..5, m = 2..6",
        "[n step t].prune_grid where n = 3..9, t = 2..5",
    ] {
        assert_eq!(
            bounded::parse(text).unwrap().decide(),
            Answer::Proved,
            "{text}"
        );
    }
    let few = bounded::parse("[n step t].prune_grid where n = 3..9, t = 2..").unwrap();
    assert!(matches!(few.decide(), Answer::Open(_)));
}

/// Answers that a mapped space stands for the original one, by this index and where none of these conditions
/// discards it.
fn claim(original: &str, mapped: &str, index: &[Expr], exits: &[Expr]) -> Answer {
    let (original, mapped) = (space(original).unwrap(), space(mapped).unwrap());
    let names: Vec<Name> = (0..mapped.rank()).map(|d| format!("i{d}").into()).collect();
    let back = Back {
        index: index.to_vec(),
        exits: exits.to_vec(),
    };
    equivalence(&Claim {
        original: &original,
        mapped: &mapped,
        names: &names,
        back: &back,
        facts: &Facts::new(),
        conditions: &[],
    })
}

fn refuted(why: &str) -> Answer {
    Answer::Refuted(why.to_string())
}

/// The places where the thesis's text is loose: each wrong formula has a counter-example.
#[test]
fn wrong_index_maps_are_refuted() {
    let [i, j] = ["i0", "i1"].map(Expr::symbol);
    // A size that the split does not divide: the rest is lost.
    assert_eq!(
        claim("[10]", "[2, 4]", &[&i * 4 + &j], &[]),
        refuted("no index stands for [8]")
    );
    // The tail of a compressed grid is `min(u mod t, w)`, not 0 and not `w`.
    let compressed = [&i / 2 * 5 + &i % 2];
    assert_eq!(
        claim("[11 step 5 width 2]", "[4]", &compressed, &[]),
        refuted("no index stands for [10]")
    );
    assert_eq!(
        claim("[11 step 5 width 2]", "[6]", &compressed, &[]),
        refuted("[5] stands for [11], which is not in [11 step 5 width 2]")
    );
    assert_eq!(
        claim("[11 step 5 width 2]", "[5]", &compressed, &[]),
        Answer::Proved
    );
    // `>` for `>=` in the pruning condition, as in the thesis's listing.
    let (index, exit) = (std::slice::from_ref(&i), [(&i % 3).le(2)]);
    assert_eq!(
        claim("[6 step 3 width 2]", "[6]", index, &exit),
        refuted("[2] stands for [2], which is not in [6 step 3 width 2]")
    );
}

#[test]
fn index_maps_that_are_not_one_to_one_are_refuted() {
    let i = Expr::symbol("i0");
    let identity = std::slice::from_ref(&i);
    // Nothing discards what padding adds.
    assert_eq!(
        claim("[3]", "[4]", identity, &[]),
        refuted("[3] stands for [3], which is not in [3]")
    );
    assert_eq!(
        claim("[2]", "[4]", &[&i / 2], &[]),
        refuted("[0] and [1] both stand for [0]")
    );
    assert_eq!(
        claim("[2]", "[2]", &[&i / &i], &[]),
        refuted("of [0]: found 0 / 0, expected a positive divisor")
    );
    assert_eq!(
        claim("[n]", "[n+1]", identity, &[]),
        refuted("with n = 0, [0] stands for [0], which is not in [0]")
    );
}

/// Two negative bounds are two empty dimensions, not a positive product.
#[test]
fn empty_spaces_stay_empty() {
    for text in [
        "[-2, -3].fold_last2",
        "[-2, -3].prune_grid.fold_last2.pad_last(4).split_last(4)",
        "[-1].split_last(3).fold_last2",
        "[5 to 3].pad_last(4).shift_lb",
        "[0, 7].fold_last2.pad_last(32).split_last(32)",
        "[7, 0].fold_last2.pad_last(32)",
    ] {
        let mapping = mapped(text);
        assert_eq!(mapping.decide(), Answer::Proved, "{text}");
        let count = mapping.original().count(mapping.facts());
        assert_eq!(count, 0.into(), "{text}");
    }
}

fn shape(launch: &Launch) -> String {
    let list = |sizes: Vec<Expr>| {
        let sizes: Vec<String> = sizes.iter().map(Expr::to_string).collect();
        sizes.join(",")
    };
    let chain: Vec<String> = launch
        .mapping()
        .chain()
        .iter()
        .map(Step::to_string)
        .collect();
    let (blocks, block, wasted) = (list(launch.blocks()), list(launch.block()), launch.wasted());
    format!("<{blocks}|{block}> {wasted} {}", chain.join("."))
}

fn chosen(text: &str, strategy: Strategy) -> Result<Launch, String> {
    choose(&space(text).unwrap(), &Facts::new(), &cuda(), strategy)
}

#[test]
fn the_table_is_the_thesis_s() {
    let launch = |text| shape(&chosen(text, Strategy::Table).unwrap());
    assert_eq!(launch("[100]"), "<4|32> 28 pad_last(32).split_last(32)");
    assert_eq!(
        launch("[64, 100]"),
        "<4,2|32,32> 1792 pad_last(32).split_last(32).permute([1,2,0]).pad_last(32)\
         .split_last(32).permute([2,0,3,1])"
    );
    assert_eq!(launch("[7, 8, 100]"), "<7|100,8> 0 ");
    assert_eq!(launch("[6, 7, 8, 100]"), "<7,6|100,8> 0 ");
    assert_eq!(launch("[5, 6, 7, 8, 100]"), "<7,6,5|100,8> 0 ");
    assert_eq!(
        launch("[2 to 66 step 4]"),
        "<2|32> 48 shift_lb.prune_grid.pad_last(32).split_last(32)"
    );
    let refused = |text| chosen(text, Strategy::Table).unwrap_err();
    assert_eq!(
        refused("[2, 11, 100]"),
        "table 3.4, d_0 = 100 and d_1 = 11: threads per block: found 1100, expected at most 1024 \
         on 'cuda'"
    );
    assert_eq!(
        refused("[1,1,1,1,1,1]"),
        "table 3.4: found 6 dimensions, expected 1 to 5 (the strategy 'cost' takes any number)"
    );
    assert_eq!(
        refused("[2, 70000, 2, 8, 8]"),
        "table 3.4, d_0 = 8 and d_1 = 8: blocks along y: found 70000, expected at most 65535 on \
         'cuda'"
    );
    assert!(refused("[]").starts_with("table 3.4: found 0 dimensions"));
    let open = chosen("[k, m, n]", Strategy::Table).unwrap();
    let open: Vec<String> = open.conditions().iter().map(Expr::to_string).collect();
    assert_eq!(
        open,
        ["k <= 2147483647", "n <= 1024", "m <= 1024", "m * n <= 1024"]
    );
}

#[test]
fn sparse_dimensions_are_compressed_and_dense_ones_pruned() {
    let launch = |text| shape(&chosen(text, Strategy::Sparse).unwrap());
    assert_eq!(
        launch("[96 step 4 width 2, 96 step 4 width 3]"),
        "<3,2|32,32> 2688 compress_grid([0]).prune_grid.pad_last(32).split_last(32)\
         .permute([1,2,0]).pad_last(32).split_last(32).permute([2,0,3,1])"
    );
    assert_eq!(
        launch("[1 to 1001 step 10]"),
        "<4|32> 28 shift_lb.compress_grid([0]).pad_last(32).split_last(32)"
    );
}

/// The cheapest launch is within the device's limits, maps one to one, and reads whole sectors.
#[test]
fn the_cheapest_launch_suits_any_rank() {
    for text in [
        "[]",
        "[1]",
        "[1000]",
        "[1000000]",
        "[1000, 3]",
        "[3, 1000]",
        "[100000, 40]",
        "[1 to 90 step 10, 7, 33]",
        "[3, 5, 2, 4, 3, 7, 2]",
        "[70000, 1, 3, 1, 5]",
        "[8, 100 step 4 width 3]",
        "[0, 4]",
    ] {
        let launch = chosen(text, Strategy::Cost).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(launch.conditions().is_empty(), "{text}");
        if launch.launched().as_constant().unwrap() < 1 << 20 {
            assert_eq!(launch.mapping().decide(), Answer::Proved, "{text}");
        }
    }
    let launch = |text| shape(&chosen(text, Strategy::Cost).unwrap());
    let texts = [
        "[1000000]",
        "[4096, 4096]",
        "[100000, 40]",
        "[1000, 3]",
        "[16,16,16,16,16,16]",
        "[1 to 1000 step 10, 64]",
    ];
    let text = texts
        .map(|text| format!("{text}: {}\n", launch(text)))
        .concat();
    insta::assert_snapshot!(text);
}

#[test]
fn symbols_make_conditions_of_a_launch() {
    let mut facts = Facts::new();
    facts.within("n", Interval::new(1, 1 << 20));
    let space = space("[n]").unwrap();
    let launch = choose(&space, &facts, &cuda(), Strategy::Cost).unwrap();
    assert!(launch.conditions().is_empty());
    assert_eq!(launch.names().len(), 2);
    let unknown = choose(&space, &Facts::new(), &cuda(), Strategy::Cost).unwrap();
    assert_eq!(unknown.conditions().len(), 1, "the number of blocks");
}

#[test]
fn launches_need_dense_spaces_and_few_dimensions() {
    let refused = |text: &str, threads| Launch::new(mapped(text), threads, &cuda()).unwrap_err();
    assert_eq!(
        refused("[2 to 9]", 1),
        "found the mapped space [2 to 9], expected a dense one (shift_lb, then compress_grid or \
         prune_grid makes it one)"
    );
    assert_eq!(
        refused("[2,2,2,2,2]", 1),
        "dimensions of blocks: found 4, expected at most 3 on 'cuda' (fold_last2 makes one of two)"
    );
    assert_eq!(
        refused("[2,65,2,2]", 3),
        "threads along z: found 65, expected at most 64 on 'cuda'"
    );
    assert_eq!(
        refused("[2]", 2),
        "found 2 dimensions of threads, expected at most the 1 of [2]"
    );
}

#[test]
fn conditions_are_tested_in_the_order_in_which_they_are_known() {
    let mapping = mapped("[20 step 3 width 2].prune_grid.pad_last(8).split_last(8)");
    let launch = Launch::new(mapping, 1, &cuda()).unwrap();
    let back = launch.back();
    let exits: Vec<String> = back.exits.iter().map(Expr::to_string).collect();
    assert_eq!(
        exits,
        [
            "block_x * 8 + thread_x < 20",
            "(block_x * 8 + thread_x) % 3 < 2"
        ]
    );
    assert!(back.operative().is_some());
    assert_eq!(
        mapped("[4, 5].fold_last2").back(&[3.into()]).operative(),
        None
    );
    assert_eq!(Discard::with(Barrier::Follows), Discard::Branchless);
    assert_eq!(Discard::with(Barrier::None), Discard::Branching);
}

/// Side by side, partitions do what they do one after the other.
#[test]
fn of_overlapping_partitions_the_later_one_wins() {
    let mut random = Random::new(3);
    let mut grid = || {
        let mut below = |n: u64| i64::try_from(random.below(n)).unwrap();
        let (lower, step) = (below(6) - 1, 1 + below(4));
        let upper = lower + below(8) - 1;
        Grid::new(lower, upper, step, 1 + below(step as u64)).unwrap()
    };
    let mut skipped = 0;
    for _ in 0..2000 {
        let grids: Vec<[Grid; 2]> = (0..4).map(|_| [grid(), grid()]).collect();
        let spaces = grids.iter().map(|g| Space::of_grids(g)).collect();
        let partitions = WithLoop::new(spaces, &Facts::new()).unwrap();
        let names: [Name; 2] = ["i".into(), "j".into()];
        let index = [Expr::symbol("i"), Expr::symbol("j")];
        let compiled = |e: Expr| IndexProgram::with_inputs(&names, &[e]);
        let is_default = compiled(partitions.is_default(&index));
        let wins: Vec<Option<IndexProgram>> = (0..4)
            .map(|n| partitions.wins(n, &index).map(compiled))
            .collect();
        skipped += wins[..3].iter().filter(|w| w.is_none()).count();
        for (i, j) in (-2..13).flat_map(|i| (-2..13).map(move |j| (i, j))) {
            let last = grids.iter().rposition(|g| points(g).any(|p| p == [i, j]));
            let true_of = |p: &IndexProgram| p.run(&[i, j]).unwrap()[0] == 1;
            assert_eq!(true_of(&is_default), last.is_none());
            let has = |n: usize| {
                grids[n]
                    .iter()
                    .zip([i, j])
                    .all(|(g, i)| g.number(i).is_some())
            };
            let winners = (0..4).filter(|n| has(*n) && wins[*n].as_ref().is_none_or(true_of));
            assert_eq!(winners.collect::<Vec<_>>(), Vec::from_iter(last));
        }
    }
    assert!(skipped > 100, "partitions that are apart need no condition");
    let ranks = vec![space("[4]").unwrap(), space("[4, 4]").unwrap()];
    assert_eq!(
        WithLoop::new(ranks, &Facts::new()).unwrap_err(),
        "partition 1: found 2 dimensions, expected 1 as in the first"
    );
}
