//! Kernels whose threads do together what only some of them come to, and others that are right.

use super::*;
use crate::parse::parse;

/// Returns the findings in a kernel of blocks of a shape with that code.
fn found(shape: &str, code: &str) -> Vec<Finding> {
    let text = format!(
        ".version 8.0\n.target sm_90a\n.visible .entry f(.param .u64 f_param_0, .param .u32 f_param_1)\n\
         .maxntid {shape}\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<9>;\n{code}\nret;\n}}"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let kernel = &module.kernels["f"];
    check(kernel, kernel.shape.unwrap())
}

/// The lines of instructions and branches, counted from the code's first.
fn lines(shape: &str, code: &str) -> Vec<(u32, Option<u32>)> {
    let findings = found(shape, code).into_iter();
    findings
        .map(|one| (one.line - 8, one.branch.map(|line| line - 8)))
        .collect()
}

const MMA: &str = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \
    {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, {%r1,%r2,%r3,%r4};";
const SHUFFLE: &str = "shfl.sync.bfly.b32 %r11, %r12, 1, 31, -1;";

/// Code that some threads do.
fn under(predicate: &str, what: &str) -> String {
    format!("{predicate}\n@%p1 bra L;\n{what}\nL:")
}

#[test]
fn a_branch_of_the_lane_is_wrong_for_a_warp() {
    let lane = "mov.u32 %r20, %tid.x; setp.gt.u32 %p1, %r20, 15;";
    for what in [
        MMA,
        SHUFFLE,
        "bar.warp.sync -1;",
        "vote.sync.any.pred %p2, %p3, -1;",
        "bar.sync 0;",
    ] {
        assert_eq!(
            lines("32, 4, 1", &under(lane, what)),
            [(3, Some(2))],
            "{what}"
        );
    }
    // Half of a warp, of threads along the second axis.
    let row = "mov.u32 %r20, %tid.y; setp.gt.u32 %p1, %r20, 3;";
    assert_eq!(lines("4, 8, 1", &under(row, MMA)), [(3, Some(2))]);
}

#[test]
fn a_branch_of_the_warp_is_wrong_for_a_block_only() {
    let row = "mov.u32 %r20, %tid.y; setp.gt.u32 %p1, %r20, 1;";
    let warp = "mov.u32 %r20, %tid.x; shr.u32 %r21, %r20, 5; setp.ne.s32 %p1, %r21, 0;";
    let product = "mov.u32 %r20, %tid.x; mov.u32 %r21, %tid.y; mov.u32 %r22, %ntid.x;\n\
                   mad.lo.s32 %r23, %r21, %r22, %r20; shr.u32 %r24, %r23, 5; setp.eq.s32 %p1, %r24, 1;";
    for (shape, predicate) in [
        ("32, 4, 1", row),
        ("128, 1, 1", warp),
        ("8, 16, 1", product),
    ] {
        assert_eq!(found(shape, &under(predicate, MMA)), [], "{predicate}");
        assert_eq!(found(shape, &under(predicate, SHUFFLE)), [], "{predicate}");
        assert_eq!(
            found(shape, &under(predicate, "bar.sync 0;")).len(),
            1,
            "{predicate}"
        );
    }
    // A row of 24 threads is no warp.
    assert_eq!(found("24, 4, 1", &under(row, SHUFFLE)).len(), 1);
}

#[test]
fn a_branch_that_is_uniform_is_right() {
    let argument = "ld.param.b32 %r20, [f_param_1]; setp.gt.u32 %p1, %r20, 15;";
    let block = "mov.u32 %r20, %ctaid.x; setp.gt.u32 %p1, %r20, 15;";
    let condition = "mov.u32 %r20, %tid.z; setp.gt.u32 %p1, %r20, 0;";
    for predicate in [argument, block, condition] {
        for what in [MMA, SHUFFLE, "bar.sync 0;"] {
            assert_eq!(
                found("32, 4, 1", &under(predicate, what)),
                [],
                "{predicate} {what}"
            );
        }
    }
}

#[test]
fn what_is_loaded_or_exchanged_may_differ() {
    let loaded =
        "ld.param.b64 %rd1, [f_param_0]; ld.global.b32 %r20, [%rd1]; setp.gt.u32 %p1, %r20, 5;";
    assert_eq!(found("32, 1, 1", &under(loaded, MMA)).len(), 1);
    let code = |how: &str| {
        format!("mov.u32 %r20, %laneid; shfl.sync.{how}, -1; setp.gt.u32 %p1, %r21, 5;")
    };
    assert_eq!(
        found("32, 1, 1", &under(&code("bfly.b32 %r21, %r20, 1, 31"), MMA)).len(),
        1
    );
    assert_eq!(
        found(
            "32, 1, 1",
            &under(&code("idx.b32 %r21, %r20, 3, 7199"), MMA)
        )
        .len(),
        1
    );
    // All read one lane.
    assert_eq!(
        found("32, 1, 1", &under(&code("idx.b32 %r21, %r20, 3, 31"), MMA)),
        []
    );
    let vote = "mov.u32 %r20, %laneid; setp.gt.u32 %p3, %r20, 5; vote.sync.any.pred %p1, %p3, -1;";
    assert_eq!(found("32, 1, 1", &under(vote, MMA)), []);
}

#[test]
fn a_register_that_some_lanes_write_differs() {
    let code = format!(
        "mov.u32 %r20, %tid.x; setp.gt.u32 %p1, %r20, 5;\nmov.b32 %r21, 0;\n@%p1 bra A;\n\
         mov.b32 %r21, 1;\nA: setp.eq.s32 %p2, %r21, 0;\n@%p2 bra B;\n{MMA}\nB:"
    );
    assert_eq!(lines("32, 1, 1", &code), [(7, Some(6))]);
    let selected = "mov.u32 %r20, %tid.x; setp.gt.u32 %p2, %r20, 5;\nmov.b32 %r21, 0; @%p2 mov.b32 %r21, 1;\n\
                    setp.eq.s32 %p1, %r21, 0;";
    assert_eq!(found("32, 1, 1", &under(selected, MMA)).len(), 1);
}

#[test]
fn loops() {
    // As many iterations as an argument says, and as the lane's number says.
    let code = |end: &str| {
        format!(
            "mov.b32 %r20, 0; mov.u32 %r21, %tid.x; ld.param.b32 %r22, [f_param_1];\nL:\n{MMA}\n\
             bar.sync 0;\nadd.s32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, {end};\n@%p1 bra L;\n{SHUFFLE}"
        )
    };
    assert_eq!(found("32, 2, 1", &code("%r22")), []);
    assert_eq!(
        lines("32, 2, 1", &code("%r21")),
        [(3, Some(6)), (4, Some(6))]
    );
}

#[test]
fn a_register_that_is_used_again_is_another_one() {
    let argument = "ld.param.b32 %r22, [f_param_1]; setp.gt.u32 %p2, %r22, 15;";
    let again = |between: &str| {
        format!(
            "mov.u32 %r20, %tid.x; setp.gt.u32 %p1, %r20, 5; @%p1 mov.b32 %r21, 1;\n{argument}\n\
             {between} setp.gt.u32 %p1, %r20, 15;"
        )
    };
    let count = |code: String| found("32, 4, 1", &under(&code, "bar.sync 0;")).len();
    assert_eq!(count(again("mov.b32 %r20, %r22;")), 0);
    // The first value may still be there: where the second one is skipped, or not written.
    assert_eq!(count(again("@%p2 mov.b32 %r20, 7;")), 1);
    assert_eq!(count(again("@%p2 bra A;\nmov.b32 %r20, 7;\nA:")), 1);
    // Or it comes from the iteration before.
    let code = |next: &str| {
        format!(
            "mov.b32 %r20, 0; {argument}\nL: setp.gt.u32 %p1, %r20, 5;\n@%p1 bra B;\nbar.sync 0;\n\
             B: mov.u32 %r20, %tid.x; {next}\nsub.s32 %r22, %r22, 1; setp.gt.u32 %p2, %r22, 0;\n\
             @%p2 bra L;"
        )
    };
    assert_eq!(found("32, 4, 1", &code("")).len(), 1);
    assert_eq!(found("32, 4, 1", &code("mov.b32 %r20, %r22;")), []);
}

#[test]
fn counters_of_nested_loops_are_one_register() {
    // The inner loop counts on for as long as the thread's number says, then the outer one goes on
    // with its own next value.
    let code = |next: &str| {
        format!(
            "mov.b32 %r20, 0; mov.u32 %r21, %tid.x; ld.param.b32 %r22, [f_param_1];\nL: bar.sync 0;\n\
             add.s32 %r23, %r20, 16;\nI: add.s32 %r20, %r20, 4; setp.lt.u32 %p1, %r20, %r21;\n\
             @%p1 bra I;\nmov.b32 %r20, {next}; setp.lt.u32 %p2, %r20, %r22;\n@%p2 bra L;"
        )
    };
    assert_eq!(found("32, 2, 1", &code("%r23")), []);
    assert_eq!(lines("32, 2, 1", &code("%r20")), [(2, Some(7))]);
}

#[test]
fn a_value_of_another_iteration_differs() {
    // A vote is the same in all lanes, but lanes leave the loop with those of different iterations.
    let code = format!(
        "mov.u32 %r20, %tid.x; mov.b32 %r21, 0;\nL: setp.gt.u32 %p3, %r21, 3;\n\
         vote.sync.ballot.b32 %r22, %p3, 1;\nadd.s32 %r21, %r21, 1; setp.lt.u32 %p1, %r21, %r20;\n\
         @%p1 bra L;\nsetp.eq.u32 %p2, %r22, 0;\n@%p2 bra M;\n{MMA}\nM:"
    );
    assert!(lines("32, 1, 1", &code).contains(&(8, Some(7))));
}

#[test]
fn predicates_and_early_ends() {
    let lane = "mov.u32 %r20, %tid.x; setp.gt.u32 %p1, %r20, 15;";
    assert_eq!(
        lines("32, 1, 1", &format!("{lane}\n@%p1 {SHUFFLE}")),
        [(2, Some(2))]
    );
    assert_eq!(
        lines("32, 1, 1", &format!("{lane}\n@%p1 ret;\n{MMA}")),
        [(3, Some(2))]
    );
    // Behind a trap nobody goes on.
    let trap = format!("{lane}\n@%p1 bra T;\n{MMA}\nbar.sync 0;\nret;\nT: trap;");
    assert_eq!(lines("32, 1, 1", &trap), []);
}

#[test]
fn branches_to_one_of_several_places() {
    let code = |number: &str| {
        format!(
            "{number}\nS: .branchtargets A, B, C;\nbrx.idx %r20, S;\nA: bra C;\nB:\n{MMA}\nC:\n{SHUFFLE}"
        )
    };
    assert_eq!(
        lines("32, 1, 1", &code("mov.u32 %r20, %tid.x;")),
        [(6, Some(3))]
    );
    assert_eq!(
        lines("32, 1, 1", &code("ld.param.b32 %r20, [f_param_1];")),
        []
    );
}

#[test]
fn a_mask_names_the_lanes_that_come() {
    let lane = "mov.u32 %r20, %tid.x; setp.gt.u32 %p1, %r20, 15;";
    let masked = |mask: &str| format!("shfl.sync.bfly.b32 %r11, %r12, 1, 31, {mask};");
    assert_eq!(found("32, 1, 1", &under(lane, &masked("65535"))), []);
    assert_eq!(
        lines("32, 1, 1", &under(lane, &masked("255"))),
        [(3, Some(2))]
    );
    // The second warp comes whole.
    let first = "mov.u32 %r20, %tid.x; setp.lt.u32 %p1, %r20, 16;";
    assert_eq!(found("64, 1, 1", &under(first, &masked("-65536"))).len(), 1);
    assert_eq!(found("32, 1, 1", &under(first, &masked("-65536"))), []);
    assert_eq!(lines("32, 1, 1", &masked("65535")), [(1, None)]);
    // A warp of fewer lanes, all of which come.
    assert_eq!(found("8, 1, 1", &masked("-1")), []);
}

#[test]
fn messages_say_where() {
    let lane = "mov.u32 %r20, %tid.x; setp.gt.u32 %p1, %r20, 15;";
    let said = found("32, 4, 1", &under(lane, "bar.sync 0;"))[0].say("f");
    assert_eq!(
        said,
        "kernel 'f': line 11: 'bar.sync' is for all threads of a block, but the branch of line 10 \
         to it depends on the thread"
    );
}
