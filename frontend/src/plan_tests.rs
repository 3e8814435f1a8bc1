//! Plans give what the language defines, store no product, and take the cheapest order.

use insta::assert_snapshot;
use mdh_algebra::random::Random;
use proptest::prelude::*;

use crate::check::CheckedProgram;
use crate::interpret::{self, Elements};
use crate::mlir::{self, Origin, Results};
use crate::plan::{Source, StatementPlan, Step};
use crate::read;

fn plans(program: &CheckedProgram) -> Vec<StatementPlan> {
    let statements = program.statements.iter();
    statements
        .map(|a| StatementPlan::new(&a.statement, &a.shapes))
        .collect()
}

fn module(text: &str) -> String {
    let program = read(text).unwrap();
    let origin = Origin {
        function: "f",
        file: "f.tdsl",
        text,
        results: Results::InPlace,
    };
    mlir::module(&program, origin).unwrap()
}

/// The points of each step.
fn points(plan: &StatementPlan) -> Vec<u64> {
    let elements_of = |step: &Step| {
        plan.shape(&[&step.kept[..], &step.sums].concat())
            .elements()
    };
    plan.steps
        .iter()
        .map(|step| elements_of(step).unwrap())
        .collect()
}

fn plan(text: &str) -> StatementPlan {
    plans(&read(text).unwrap()).remove(0)
}

const INTERPOLATION: &str = "
    var A : [7 7]  var B : [7 7]  var C : [7 7]  var u : [7 7 7]  var v : [7 7 7]
    v = (A # B # C # u) . [[2 9] [4 8] [6 7]]";

#[test]
fn the_interpolation_takes_three_steps_of_n_to_the_fourth() {
    assert_eq!(points(&plan(INTERPOLATION)), [7u64.pow(4); 3]);
    assert_snapshot!(module(INTERPOLATION));
}

#[test]
fn the_cheapest_order_is_taken() {
    // (A B) v is A (B v).
    let declared = "var A : [50 60] var B : [60 70] var v : [70] var w : [50]\n";
    let chain = plan(&format!("{declared}w = ((A # B) . [2 3] # v) . [2 3]"));
    assert_eq!(points(&chain), [60 * 70, 50 * 60]);
    // A trace is one step before what it scales.
    let trace = plan("var x : [90] var u : [80 80] x = (x # u) . [2 3]");
    assert_eq!(points(&trace), [80, 90]);
    // A function is computed once for each of its elements.
    let layer = plan("var W : [50 60] var x : [60] var y : [50] y = (W # exp(x)) . [2 3]");
    assert_eq!(points(&layer), [60, 50 * 60]);
    let scaled = plan("var s : [] var x : [60] x = exp(s) * x / (2 * s)");
    assert_eq!(points(&scaled), [1, 1, 60]);
    // What is computed at every point anyway is computed there.
    let fused = plan("var A : [50 60] var x : [60] var y : [50] y = (tanh(A) # x) . [2 3]");
    assert_eq!(points(&fused), [50 * 60]);
    let elementwise = plan("var x : [9] var y : [9] y = 2 * x + exp(x - y) / 3");
    assert_eq!(points(&elementwise), [9]);
}

#[test]
fn computations_are_written_as_they_are_planned() {
    assert_snapshot!(module(
        "var s : [] var i1 : [4] var A : [4 4] var t : []
        i1 = s * i1
        t = (i1 # A # i1) . [[1 2] [3 4]]
        i1 = sigmoid(A # i1 . [2 3]) + relu(i1) # t"
    ));
}

#[test]
fn the_interpolation_in_one_statement_contracts_other_dimensions_than_in_steps() {
    // The thesis gives both as one kernel (section 6.3, figure 18): its steps contract A with the first
    // dimension of u and C with the last one, its single statement the other way round.
    let last = |statements: &str| {
        let declared = "var A : [2 2] var B : [2 2] var C : [2 2] var u : [2 2 2] var v : [2 2 2]
            var t : [2 2 2] var r : [2 2 2]";
        let program = read(&format!("{declared}\n{statements}")).unwrap();
        let mut values = values(&program, &mut Random::new(1));
        interpret::run(&program, &mut values);
        values[program.statements[program.statements.len() - 1]
            .statement
            .target]
            .clone()
    };
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    let steps = last("t = C # u . [2 5]  r = B # t . [2 5]  v = A # r . [2 5]");
    let printed = last("v = A # B # C # u . [[2 9] [4 8] [6 7]]");
    let equal = last("v = A # B # C # u . [[2 7] [4 8] [6 9]]");
    assert!(near(&steps, &equal) && !near(&steps, &printed));
}

#[test]
fn what_is_assigned_is_no_part_of_sums() {
    let declared = "var A : [2 2] var B : [50 2 2] var M : [50 50] var x : [50] var y : [50]";
    // To sum all of it at once costs less, with memory for the result.
    let text = format!("{declared} x = ((x # A) * B) . [2 3]");
    let last = plan(&text).steps.pop().unwrap();
    assert!(last.sums.is_empty(), "{last:?}");
    // What reads nothing of the variable writes into its memory, too.
    let text = format!("{declared} y = (M # x) . [2 3] + y  x = (M # y) . [2 3]");
    let module = module(&text);
    assert!(module.contains("out_view(x = %x_given["), "{module}");
}

#[test]
fn intermediate_results_have_limits() {
    let text = "var x : [4000000000] var y : [] \n y = exp(x # x) # exp(x # x) . [[1 3] [2 4]]";
    let plan = plan(text);
    assert_eq!(plan.steps.len(), 1);
    let text = "var x : [4000000000 2] var y : [] \n y = exp((x # x) . [2 4]) . [1 2] + exp((x # x) . [2 4] # x . [1 4]) . [[1 2]] # x . [1 2]";
    assert!(read(text).is_err());
    let text = "var x : [4000000000 2] var y : [] \n y = (exp((x # x) . [2 4]) # exp((x # x) . [2 4])) . [[1 3] [2 4]]";
    let program = read(text).unwrap();
    let origin = Origin {
        function: "f",
        file: "f.tdsl",
        text,
        results: Results::InPlace,
    };
    let wrong = mlir::module(&program, origin).unwrap_err();
    assert_eq!(
        wrong[0].message,
        "an intermediate result of shape [4000000000 4000000000] has too many elements: expected fewer \
         than 2^63 bytes, of 8 each"
    );
}

/// Expressions by their ranks; sizes are all [`SIZE`].
const SIZE: u64 = 2;
const DECLARED: &str = "var s : [] var t : [] var u : [2] var v : [2] var A : [2 2] var B : [2 2]
    var X : [2 2 2] var Y : [2 2 2]\n";
const NAMES: [[&str; 2]; 4] = [["s", "t"], ["u", "v"], ["A", "B"], ["X", "Y"]];

/// An expression of a rank, of at most so many operations below each other.
fn expression(rank: usize, depth: u64, random: &mut Random) -> String {
    let pick = |random: &mut Random| NAMES[rank][random.below(2) as usize].to_string();
    if depth == 0 || random.below(8) == 0 {
        return match random.below(6) {
            0 if rank == 0 => format!("{}", 1 + random.below(3)),
            _ => pick(random),
        };
    }
    let mut inner = |rank: usize| expression(rank, depth - 1, random);
    match random_kind(rank, depth, &mut inner) {
        Some(text) => text,
        None => pick(random),
    }
}

/// One operation; what it is follows from the text of an operand.
fn random_kind(rank: usize, depth: u64, inner: &mut impl FnMut(usize) -> String) -> Option<String> {
    let first = inner(rank);
    let bytes = first.bytes().map(u64::from);
    let kind = bytes.fold(depth, |a, b| a.wrapping_mul(31).wrapping_add(b)) % 11;
    let (m, n) = (
        (kind + depth) % rank.max(1) as u64 + 1,
        kind % rank.max(1) as u64 + 1,
    );
    Some(match kind {
        0 => format!("({first} + {})", inner(rank)),
        1 => format!("({first} - {})", inner(rank)),
        2 => format!("({first} * {})", inner(rank)),
        3 => format!("({first} / (2 + tanh({})))", inner(0)),
        4 => format!("({} * {first})", inner(0)),
        5 => format!("tanh({first})"),
        6 if m != n => format!("(({first}) ^ [{m} {n}])"),
        6 | 7 if rank < 2 => format!("(({first} # {}) . [{} {}])", inner(2), rank + 1, rank + 2),
        6 | 7 => format!("(({first} # {}) . [{rank} {}])", inner(2), rank + 1),
        8 if rank == 1 => format!("(({} # {} # {first}) . [[2 4] [3 5]])", inner(2), inner(2)),
        8 if rank == 2 => {
            format!("(({} # {first} # {}) . [[2 4] [3 5]])", inner(2), inner(2))
        }
        8 | 9 if rank > 0 => format!("({} # {})", inner(rank - 1), inner(1)),
        9 => format!("(({} # {}) . [1 2])", inner(1), inner(1)),
        _ if rank < 2 => format!("(({}) . [{} {}])", inner(rank + 2), 1, rank + 2),
        _ => format!("(({} # {}) . [2 3])", inner(2), inner(rank)),
    })
}

/// Statements, each an assignment of its own expression.
fn statements(count: u64, random: &mut Random) -> String {
    let mut text = DECLARED.to_string();
    for _ in 0..count {
        let rank = random.below(4) as usize;
        let value = expression(rank, 4, random);
        text += &format!("{} = {value}\n", NAMES[rank][random.below(2) as usize]);
    }
    text
}

fn values(program: &CheckedProgram, random: &mut Random) -> Vec<Elements> {
    let ranks = program
        .context
        .variables
        .iter()
        .map(|v| v.shape.rank() as u32);
    ranks
        .map(|rank| (0..SIZE.pow(rank)).map(|_| random.signed_unit()).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_give_what_the_language_defines(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let text = statements(1, &mut random);
        let program = read(&text).unwrap();
        let values = values(&program, &mut random);
        let plan = &plans(&program)[0];
        let planned = interpret::run_plan(plan, &program, &values);
        let defined = interpret::value(&program.statements[0], &values);
        prop_assert_eq!(planned.len(), defined.len());
        for (planned, defined) in planned.iter().zip(&defined) {
            // Sums are bounded by products of numbers below 3, of which a few hundred are added.
            let near = (planned - defined).abs() <= 1e-9 * defined.abs().max(1.0);
            prop_assert!(near, "{planned}, expected {defined}:\n{text}{plan:#?}");
        }
        let results = Results::InPlace;
        let origin = Origin { function: "f", file: "f.tdsl", text: &text, results };
        prop_assert!(mlir::module(&program, origin).is_ok());
    }

    #[test]
    fn no_product_that_is_contracted_is_stored(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let ranks: Vec<usize> = (0..2 + random.below(11)).map(|_| random.below(4) as usize).collect();
        let factors = ranks.iter().map(|rank| NAMES[*rank][random.below(2) as usize]);
        let factors = factors.collect::<Vec<_>>().join(" # ");
        // Half of the dimensions or more, in random pairs; at most 3 are left.
        let mut free: Vec<usize> = (1..=ranks.iter().sum()).collect();
        let mut pairs = String::new();
        while free.len() > 3 || (free.len() > 1 && pairs.is_empty()) {
            let mut take = || free.remove(random.below(free.len() as u64) as usize);
            pairs += &format!("[{} {}]", take(), take());
        }
        prop_assume!(!pairs.is_empty());
        let target = NAMES[free.len()][0];
        let text = format!("{DECLARED}{target} = {factors} . [{pairs}]");
        let program = read(&text).unwrap();
        let plan = &plans(&program)[0];
        for step in &plan.steps[..plan.steps.len() - 1] {
            // But factors of one element, or with the same indices, are multiplied once.
            let largest = step.reads.iter().map(|read| read.at.len()).max();
            let is_outer = Some(step.kept.len()) > largest;
            prop_assert!(!step.sums.is_empty() || !is_outer, "{text}\n{plan:#?}");
        }
        let reads = plan.steps.iter().flat_map(|step| &step.reads);
        let of_variables = reads.filter(|read| matches!(read.source, Source::Variable(_)));
        prop_assert!(of_variables.count() <= ranks.len());
        let whole: f64 = plan.sizes.iter().map(|size| *size as f64).product();
        prop_assert!(points(plan).iter().all(|points| *points as f64 <= whole));
        if whole <= 4096.0 {
            let values = values(&program, &mut random);
            let planned = interpret::run_plan(plan, &program, &values);
            let defined = interpret::value(&program.statements[0], &values);
            for (planned, defined) in planned.iter().zip(&defined) {
                prop_assert!((planned - defined).abs() <= 1e-9, "{planned}, expected {defined}: {text}");
            }
        }
    }
}
