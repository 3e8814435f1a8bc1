//! Refusals, each by the least schedule that asks for what there is no code for; and what the model
//! makes, which is always legal.

use super::super::named_tests::name;
use super::*;
use crate::asm::{Asm, CpuFacts};
use crate::schedule::Schedule;
use mdh_algebra::code::{Code, Op};
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::examples::{Builder, d};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType::F32;

/// `y[l] = sum of A[l, i, j] * B[l, m]`, where `i` and `j` have any number of points.
fn open_sums() -> Computation {
    let combines = [Combine::Pw(0), Combine::Pw(0), Combine::Cc, Combine::Pw(0)];
    let add = vec![Operator::Builtin(vec![Builtin::Addf])];
    let mut c = Builder::new(&[1, 1, 17, 12], &combines, add)
        .input(F32, &[17, 16, 1], &[d(2), d(0), d(1)])
        .input(F32, &[17, 12], &[d(2), d(3)])
        .scalar(Code::single(Op::Mulf, F32))
        .output(F32, &[17], &[d(2)])
        .0;
    (c.dimensions[0].upper, c.dimensions[1].upper) = (None, None);
    name(&mut c, &["i", "j", "l", "m"], &["A", "B"], &["y"]);
    c.inputs[0].shape[2] = None;
    c
}

fn refusals(schedule: &Schedule, computation: &Computation, asm: &Asm) -> Vec<Reason> {
    let resolved = crate::check(schedule, computation, asm).unwrap();
    let subject = Subject {
        computation,
        schedule,
        resolved: &resolved,
    };
    let refusals = check(&subject).err().unwrap_or_default();
    refusals.into_iter().map(|refusal| refusal.reason).collect()
}

/// Unrolled parts that are combined after the loops around them are a block, whether or not a loop
/// goes over the blocks: 'L1.j' has one part.
#[test]
fn unrolled_parts_of_one_block_are_deferred() {
    let c = open_sums();
    let asm = Asm::cpu(&CpuFacts::default());
    let text = "#mdh.schedule<asm = cpu, layers = [core {i: 2}, main {j: *}, L3 {l: *}, \
                L1 {i: *, j: 1, m: *}, register {j: 8}, simd {j: 16}], decompose = {order: \
                [core.i, L3.l, main.j, L1.i, L1.j, L1.m, register.j, simd.j]}, recompose = {order: \
                [core.i, L3.l, main.j, register.j, simd.j, L1.i, L1.j, L1.m]}, outputs = {y: \
                {combine: {register.j: register}}}>";
    let schedule: Schedule = text.parse().unwrap();
    assert_eq!(refusals(&schedule, &c, &asm), []);
    let resolved = crate::check(&schedule, &c, &asm).unwrap();
    let subject = Subject {
        computation: &c,
        schedule: &schedule,
        resolved: &resolved,
    };
    let name = |l: &Loop| resolved.name(l.level).to_string();
    let (leaf, form) = subject.leaf(&subject.loops());
    assert_eq!(leaf, 3);
    assert_eq!(
        form.loops.iter().map(name).collect::<Vec<_>>(),
        ["L1.i", "L1.m"]
    );
    assert_eq!(
        form.block.iter().map(name).collect::<Vec<_>>(),
        ["register.j"]
    );
    assert!(subject.is_deferred(&form));
}

/// The combination of each part of a prefix-sum is a sum in that dimension, too, with its own parts in lanes.
#[test]
fn parts_of_prefix_sums_are_sums() {
    let combines = [Combine::Ps(0), Combine::Pw(0)];
    let add = vec![Operator::Builtin(vec![Builtin::Addf])];
    let mut c = Builder::new(&[2, 32], &combines, add)
        .input(F32, &[2, 32], &[d(0), d(1)])
        .scalar(Code::identity(&[F32]))
        .output(F32, &[2], &[d(0)])
        .0;
    name(&mut c, &["i", "j"], &["x"], &["y"]);
    let asm = Asm::cpu(&CpuFacts::default());
    let reasons = |cores: i64| {
        let text = format!(
            "#mdh.schedule<asm = cpu, layers = [core {{i: {cores}}}, L1 {{i: *, j: *}}, register {{j: 2}}, \
             simd {{i: 4}}], decompose = {{order: [core.i, core.j, L1.i, L1.j, register.j, simd.j, simd.i]}}, \
             recompose = {{order: [core.i, core.j, L1.i, register.j, simd.j, L1.j, simd.i]}}, inputs = {{x: \
             {{stage: {{L1.j: L1}}, layout: {{L1.j: permuted(2, 1)}}}}}}, outputs = {{y: {{combine: {{register.j: \
             register}}}}}}>"
        );
        let schedule: Schedule = text.parse().unwrap();
        refusals(&schedule, &c, &asm)
    };
    assert_eq!(reasons(1), []);
    assert_eq!(reasons(2), [Reason::Deferred]);
}

/// The model takes nothing less for sums of which sizes are open.
#[test]
fn the_model_chooses_lanes() {
    let c = open_sums();
    let asm = Asm::cpu(&CpuFacts::default());
    let choice = crate::choose(&c, &asm).unwrap();
    assert!(
        choice
            .schedule
            .layers
            .iter()
            .any(|layer| layer.name == "simd")
    );
    assert!(
        choice
            .reasons
            .iter()
            .all(|reason| !reason.contains("no code"))
    );
    assert_eq!(refusals(&choice.schedule, &c, &asm), []);
}

/// Inputs that a loop nest of its own stages are copied by a computation of its own, whatever is
/// deferred in the other: nothing is said of the order of the two together.
#[test]
fn nests_are_asked_about_when_they_are_computations() {
    let c = open_sums();
    let asm = Asm::cpu(&CpuFacts::default());
    let decided = |phases: &str| {
        let text = format!(
            "#mdh.schedule<asm = cpu, layers = [L1 {{i: *, j: *, l: *, m: *}}, register {{l: 2}}], {phases}>"
        );
        let schedule: Schedule = text.parse().unwrap();
        let resolved = crate::check(&schedule, &c, &asm).unwrap();
        let apart = (resolved.stages_apart(), resolved.combines_apart(&c));
        assert_eq!(resolved.is_apart(&c), apart.0 || apart.1);
        (apart, refusals(&schedule, &c, &asm))
    };
    let stages = "[L1.i, L1.j, L1.l, L1.m, register.l]";
    let scalar = "[L1.j, L1.i, L1.l, L1.m, register.l]";
    let deferred = "[L1.m, L1.j, L1.i, L1.l, register.l]";
    let text = format!(
        "scalar = {{order: {scalar}}}, recompose = {{order: {deferred}}}, tails = {{i: mask}}"
    );
    let staged = format!("decompose = {{order: {stages}}}, {text}");
    assert_eq!(decided(&staged), ((true, false), vec![]));
    // Of one nest the mask of a combined dimension is refused at once.
    let fused = format!("decompose = {{order: {scalar}}}, {text}");
    assert_eq!(decided(&fused), ((false, false), vec![Reason::Tail]));
}
