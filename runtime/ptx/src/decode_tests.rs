//! Instructions of the table can be computed, and others are refused.

use super::*;
use crate::arithmetic::{four, one, three, two};

fn op(name: &str, operands: usize) -> Option<Op> {
    decode(name, operands).map(|found| found.op)
}

#[test]
fn what_the_table_has_can_be_computed() {
    for (names, types, op) in TABLE {
        for ty in types.iter().flat_map(|some| some.iter()) {
            let has_value = match op {
                Op::One(op) => one(*op, *ty, 1).is_some(),
                Op::Two(op) => two(*op, *ty, 1, 2).is_some(),
                Op::Three(op) => three(*op, *ty, 1, 2, 3).is_some(),
                Op::Four(op) => four(*op, *ty, [1, 2, 3, 4]).is_some(),
                _ => true,
            };
            assert!(has_value, "{names:?} {ty:?}");
        }
    }
}

#[test]
fn what_can_be_converted_has_a_value() {
    let scalars = "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64";
    let roundings = [
        "", ".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi",
    ];
    let mut known = 0;
    for (to, from) in scalars
        .split(' ')
        .flat_map(|to| scalars.split(' ').map(move |f| (to, f)))
    {
        for rounding in roundings {
            let name = format!("cvt{rounding}.{to}.{from}");
            if let Some(found) = decode(&name, 2) {
                let Op::Cvt(how) = found.op else {
                    panic!("{name}");
                };
                assert!(
                    crate::convert::convert(found.ty, how, 1).is_some(),
                    "{name}"
                );
                known += 1;
            }
        }
    }
    assert!(known > 150, "{known}");
}

#[test]
fn packed_numbers_are_no_words() {
    let ty = |name, operands| decode(name, operands).map(|found| found.ty);
    assert_eq!(ty("add.rn.f16x2", 3), Some(Type::F16x2));
    assert_eq!(ty("max.u16x2", 3), Some(Type::U16x2));
    assert_eq!(ty("fma.rn.bf16x2", 4), Some(Type::BF16x2));
    assert_eq!(ty("cvt.rn.f16x2.f32", 3), Some(Type::F16x2));
    assert_eq!(ty("setp.lt.f16x2", 3), Some(Type::F16x2));
    assert_eq!(ty("fma.rn.f32x2", 4), Some(Type::F32x2));
    assert_eq!(
        op("add.rn.f32.f16", 3),
        Some(Op::Mixed(Mixed::Add, Type::F16))
    );
    assert_eq!(
        op("fma.rn.f32.bf16", 4),
        Some(Op::Mixed(Mixed::Fma, Type::BF16))
    );
}

#[test]
fn what_is_not_known_is_refused() {
    let refused = [
        ("add.sat.s32", 3),
        ("add.ftz.f32", 3),
        ("add.rz.f32", 3),
        ("add.b32", 3),
        ("add.f8x4", 3),
        ("add.s32", 2),
        ("mul.s32", 3),
        ("min.NaN.f64", 3),
        ("setp.lo.s32", 3),
        ("setp.lt.b32", 3),
        ("setp.lt.ftz.f32", 3),
        ("setp.lt.and.f32", 3),
        ("cvt.s32.f32", 2),
        ("cvt.f16.f32", 2),
        ("cvt.rn.satfinite.e4m3x2.f32", 3),
        ("cvt.rna.tf32.f32", 2),
        ("ld.const.b32", 2),
        ("ld.global.b128", 2),
        ("ld.global.f16", 2),
        ("st.param.b32", 2),
        ("bar.sync", 2),
        ("atom.global.add.u32", 3),
        ("cp.async.cg.shared.global.L2::cache_hint", 4),
        ("cp.async.mbarrier.arrive.shared.b64", 1),
        ("cp.async.bulk.wait_group", 1),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4),
        ("fence.proxy.async", 0),
        ("call.uni", 2),
    ];
    for (name, operands) in refused {
        assert_eq!(decode(name, operands), None, "{name}");
    }
}

#[test]
fn accesses() {
    let load = decode("ld.volatile.global.nc.L1::no_allocate.v4.b32", 2).unwrap();
    assert_eq!((load.op, load.width), (Op::Ld(Space::Global), 4));
    let generic = decode("st.b16", 2).unwrap();
    assert_eq!(
        (generic.op, generic.ty),
        (Op::St(Space::Generic), Type::B(16))
    );
}

#[test]
fn copies_that_are_not_waited_for() {
    let copy = op("cp.async.ca.shared.global.L2::128B", 3);
    assert_eq!(copy, Some(Op::CpAsync(Way::AllLevels)));
    let global = op("cp.async.cg.shared::cta.global", 4);
    assert_eq!(global, Some(Op::CpAsync(Way::Global)));
    assert_eq!(op("cp.async.commit_group", 0), Some(Op::CpCommit));
    assert_eq!(op("cp.async.wait_group", 1), Some(Op::CpWait));
}
