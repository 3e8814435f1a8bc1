//! Decoding of instructions' names: a table of those that are known, with their types. A name that
//! is not here is no instruction, whatever it looks like.

use crate::instruction::{
    Bytes, Class, Compare, Conversion, Extreme, Four, Logic, Mixed, One, Op, ProductPart, Rounding,
    Shuffle, Space, Three, Two, Type, Vote, Way,
};

const SHORT: &[Type] = &[Type::S(16), Type::U(16)];
const WORDS: &[Type] = &[Type::S(32), Type::U(32)];
const LONG: &[Type] = &[Type::S(64), Type::U(64)];
const SIGNED: &[Type] = &[Type::S(16), Type::S(32), Type::S(64)];
const UNSIGNED: &[Type] = &[Type::U(16), Type::U(32), Type::U(64)];
const PACKED: &[Type] = &[Type::S16x2, Type::U16x2];
const PRED: &[Type] = &[Type::Pred];
const B16: &[Type] = &[Type::B(16)];
const B32: &[Type] = &[Type::B(32)];
const B64: &[Type] = &[Type::B(64)];
const F32: &[Type] = &[Type::F32];
const F64: &[Type] = &[Type::F64];
const HALVES: &[Type] = &[Type::F16, Type::BF16, Type::F16x2, Type::BF16x2];
const F32X2: &[Type] = &[Type::F32x2];
const IEEE_HALVES: &[Type] = &[Type::F16, Type::F16x2];

/// Names up to the type, the types, and the operation: as many operands as that takes.
type Row = (&'static [&'static str], &'static [&'static [Type]], Op);

/// Instructions that make one value of some.
const TABLE: &[Row] = &[
    (&["add"], &[SHORT, WORDS, LONG, PACKED], Op::Two(Two::Add)),
    (
        &["add", "add.rn"],
        &[F32, F64, HALVES, F32X2],
        Op::Two(Two::Add),
    ),
    (&["sub"], &[SHORT, WORDS, LONG, PACKED], Op::Two(Two::Sub)),
    (
        &["sub", "sub.rn"],
        &[F32, F64, HALVES, F32X2],
        Op::Two(Two::Sub),
    ),
    (
        &["mul.lo"],
        &[SHORT, WORDS, LONG],
        Op::Two(Two::Mul(ProductPart::Low)),
    ),
    (
        &["mul.hi"],
        &[SHORT, WORDS, LONG],
        Op::Two(Two::Mul(ProductPart::High)),
    ),
    (
        &["mul.wide"],
        &[SHORT, WORDS],
        Op::Two(Two::Mul(ProductPart::Wide)),
    ),
    (
        &["mul", "mul.rn"],
        &[F32, F64, HALVES, F32X2],
        Op::Two(Two::Mul(ProductPart::Low)),
    ),
    (
        &["mad.lo"],
        &[SHORT, WORDS, LONG],
        Op::Three(Three::Mad(ProductPart::Low)),
    ),
    (
        &["mad.hi"],
        &[SHORT, WORDS, LONG],
        Op::Three(Three::Mad(ProductPart::High)),
    ),
    (
        &["mad.wide"],
        &[SHORT, WORDS],
        Op::Three(Three::Mad(ProductPart::Wide)),
    ),
    (
        &["fma.rn"],
        &[F32, F64, HALVES, F32X2],
        Op::Three(Three::Fma { is_positive: false }),
    ),
    (
        &["fma.rn.relu"],
        &[HALVES],
        Op::Three(Three::Fma { is_positive: true }),
    ),
    (&["div"], &[SHORT, WORDS, LONG], Op::Two(Two::Div)),
    (&["div.rn"], &[F32, F64], Op::Two(Two::Div)),
    (&["div.approx", "div.full"], &[F32], Op::Two(Two::Div)),
    (&["rem"], &[SHORT, WORDS, LONG], Op::Two(Two::Rem)),
    (
        &["min"],
        &[SHORT, WORDS, LONG, PACKED, F32, F64, HALVES],
        Op::Two(Two::Min(Extreme::Plain)),
    ),
    (
        &["max"],
        &[SHORT, WORDS, LONG, PACKED, F32, F64, HALVES],
        Op::Two(Two::Max(Extreme::Plain)),
    ),
    (
        &["min.NaN"],
        &[F32, HALVES],
        Op::Two(Two::Min(Extreme::Nan)),
    ),
    (
        &["max.NaN"],
        &[F32, HALVES],
        Op::Two(Two::Max(Extreme::Nan)),
    ),
    (
        &["min.relu"],
        &[&[Type::S(32), Type::S16x2]],
        Op::Two(Two::Min(Extreme::Relu)),
    ),
    (
        &["max.relu"],
        &[&[Type::S(32), Type::S16x2]],
        Op::Two(Two::Max(Extreme::Relu)),
    ),
    (&["min"], &[F32], Op::Three(Three::Min(Extreme::Plain))),
    (&["max"], &[F32], Op::Three(Three::Max(Extreme::Plain))),
    (&["min.NaN"], &[F32], Op::Three(Three::Min(Extreme::Nan))),
    (&["max.NaN"], &[F32], Op::Three(Three::Max(Extreme::Nan))),
    (&["neg"], &[SIGNED, F32, F64, HALVES], Op::One(One::Neg)),
    (&["abs"], &[SIGNED, F32, F64, HALVES], Op::One(One::Abs)),
    (&["and"], &[PRED, B16, B32, B64], Op::Two(Two::And)),
    (&["or"], &[PRED, B16, B32, B64], Op::Two(Two::Or)),
    (&["xor"], &[PRED, B16, B32, B64], Op::Two(Two::Xor)),
    (&["not"], &[PRED, B16, B32, B64], Op::One(One::Not)),
    (&["shl"], &[B16, B32, B64], Op::Two(Two::Shl)),
    (
        &["shr"],
        &[B16, B32, B64, SIGNED, UNSIGNED],
        Op::Two(Two::Shr),
    ),
    (
        &["shf.l.wrap"],
        &[B32],
        Op::Three(Three::Shf {
            is_left: true,
            wraps: true,
        }),
    ),
    (
        &["shf.l.clamp"],
        &[B32],
        Op::Three(Three::Shf {
            is_left: true,
            wraps: false,
        }),
    ),
    (
        &["shf.r.wrap"],
        &[B32],
        Op::Three(Three::Shf {
            is_left: false,
            wraps: true,
        }),
    ),
    (
        &["shf.r.clamp"],
        &[B32],
        Op::Three(Three::Shf {
            is_left: false,
            wraps: false,
        }),
    ),
    (&["bfe"], &[WORDS, LONG], Op::Three(Three::Bfe)),
    (&["bfi"], &[B32, B64], Op::Four(Four::Bfi)),
    (&["lop3"], &[B32], Op::Four(Four::Lop3)),
    (&["clz"], &[B32, B64], Op::One(One::Clz)),
    (&["popc"], &[B32, B64], Op::One(One::Popc)),
    (&["brev"], &[B32, B64], Op::One(One::Brev)),
    (
        &["bfind"],
        &[WORDS, LONG],
        Op::One(One::Bfind { is_shift: false }),
    ),
    (
        &["bfind.shiftamt"],
        &[WORDS, LONG],
        Op::One(One::Bfind { is_shift: true }),
    ),
    (&["rcp.rn"], &[F32, F64], Op::One(One::Rcp)),
    (&["rcp.approx"], &[F32], Op::One(One::Rcp)),
    (&["sqrt.rn"], &[F32, F64], Op::One(One::Sqrt)),
    (&["sqrt.approx"], &[F32], Op::One(One::Sqrt)),
    (&["rsqrt.approx"], &[F32, F64], Op::One(One::Rsqrt)),
    (&["ex2.approx"], &[F32, IEEE_HALVES], Op::One(One::Ex2)),
    (&["lg2.approx"], &[F32], Op::One(One::Lg2)),
    (&["sin.approx"], &[F32], Op::One(One::Sin)),
    (&["cos.approx"], &[F32], Op::One(One::Cos)),
    (&["tanh.approx"], &[F32, HALVES], Op::One(One::Tanh)),
    (&["copysign"], &[F32, F64], Op::Two(Two::Copysign)),
    (
        &["testp.finite"],
        &[F32, F64],
        Op::One(One::Testp(Class::Finite)),
    ),
    (
        &["testp.infinite"],
        &[F32, F64],
        Op::One(One::Testp(Class::Infinite)),
    ),
    (
        &["testp.number"],
        &[F32, F64],
        Op::One(One::Testp(Class::Number)),
    ),
    (
        &["testp.notanumber"],
        &[F32, F64],
        Op::One(One::Testp(Class::Nan)),
    ),
    (
        &["testp.normal"],
        &[F32, F64],
        Op::One(One::Testp(Class::Normal)),
    ),
    (
        &["testp.subnormal"],
        &[F32, F64],
        Op::One(One::Testp(Class::Subnormal)),
    ),
    (
        &["selp"],
        &[B16, B32, B64, SIGNED, UNSIGNED, F32, F64],
        Op::Selp,
    ),
    (
        &["mov"],
        &[PRED, B16, B32, B64, SIGNED, UNSIGNED, F32, F64],
        Op::Mov,
    ),
];

/// Instructions whose names are all there is to know, and the least and the most operands.
const PLAIN: &[(&[&str], [usize; 2], Op)] = &[
    (&["bra", "bra.uni"], [1, 1], Op::Bra),
    (&["brx.idx", "brx.idx.uni"], [2, 2], Op::Brx),
    (&["ret", "exit"], [0, 0], Op::Ret),
    (&["trap"], [0, 0], Op::Trap),
    (
        &[
            "bar.sync",
            "bar.cta.sync",
            "barrier.sync",
            "barrier.cta.sync",
        ],
        [1, 1],
        Op::BarSync,
    ),
    (
        &["barrier.sync.aligned", "barrier.cta.sync.aligned"],
        [1, 1],
        Op::BarSync,
    ),
    (&["bar.warp.sync"], [1, 1], Op::WarpSync),
    (
        &["shfl.sync.bfly.b32"],
        [5, 5],
        Op::Shfl(Shuffle::Butterfly),
    ),
    (&["shfl.sync.up.b32"], [5, 5], Op::Shfl(Shuffle::Up)),
    (&["shfl.sync.down.b32"], [5, 5], Op::Shfl(Shuffle::Down)),
    (&["shfl.sync.idx.b32"], [5, 5], Op::Shfl(Shuffle::Index)),
    (&["vote.sync.all.pred"], [3, 3], Op::Vote(Vote::All)),
    (&["vote.sync.any.pred"], [3, 3], Op::Vote(Vote::Any)),
    (&["vote.sync.uni.pred"], [3, 3], Op::Vote(Vote::Uniform)),
    (&["vote.sync.ballot.b32"], [3, 3], Op::Vote(Vote::Ballot)),
    (&["cp.async.commit_group"], [0, 0], Op::CpCommit),
    (&["cp.async.wait_all"], [0, 0], Op::CpWait),
    (&["cp.async.wait_group"], [1, 1], Op::CpWait),
    (&["prmt.b32"], [4, 4], Op::Three(Three::Prmt(Bytes::Any))),
    (
        &["prmt.b32.f4e"],
        [4, 4],
        Op::Three(Three::Prmt(Bytes::Forward)),
    ),
    (
        &["prmt.b32.b4e"],
        [4, 4],
        Op::Three(Three::Prmt(Bytes::Backward)),
    ),
    (
        &["prmt.b32.rc8"],
        [4, 4],
        Op::Three(Three::Prmt(Bytes::Replicated)),
    ),
    (
        &["prmt.b32.ecl"],
        [4, 4],
        Op::Three(Three::Prmt(Bytes::Left)),
    ),
    (
        &["prmt.b32.ecr"],
        [4, 4],
        Op::Three(Three::Prmt(Bytes::Right)),
    ),
    (
        &["prmt.b32.rc16"],
        [4, 4],
        Op::Three(Three::Prmt(Bytes::Half)),
    ),
    (
        &["membar.cta", "membar.gl", "membar.sys"],
        [0, 0],
        Op::Fence,
    ),
    (
        &["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"],
        [4, 4],
        Op::Mma(Type::F16),
    ),
    (
        &["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"],
        [4, 4],
        Op::Mma(Type::BF16),
    ),
];

/// Meaning of an instruction's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The operation.
    pub op: Op,
    /// Its type.
    pub ty: Type,
    /// Number of elements of an access.
    pub width: u8,
}

/// Decodes the name of an instruction with so many operands; `None` if there is no such instruction
/// here.
pub fn decode(name: &str, operands: usize) -> Option<Decoded> {
    let plain = PLAIN.iter().find(|(names, ..)| names.contains(&name));
    if let Some((_, [least, most], op)) = plain {
        let is_right = (*least..=*most).contains(&operands);
        return is_right.then(|| decoded(*op, Type::B(32)));
    }
    let words: Vec<&str> = name.split('.').collect();
    let (base, rest) = words.split_first()?;
    match (*base, operands) {
        ("ld" | "ldu", 2) => access(rest, Op::Ld),
        ("st", 2) => access(rest, Op::St),
        ("setp", 3 | 4) => comparison(rest, operands),
        ("cvt", 2 | 3) => conversion(rest, operands),
        ("cvta", 2) => address(rest),
        ("cp", 3 | 4) => copy(rest),
        ("fence", 0) => fence(rest),
        ("add" | "sub" | "fma", 3 | 4) => {
            mixed(base, rest, operands).or_else(|| row(name, operands))
        }
        _ => row(name, operands),
    }
}

fn decoded(op: Op, ty: Type) -> Decoded {
    Decoded { op, ty, width: 1 }
}

/// Returns the number of operands, the result included.
fn count(op: Op) -> usize {
    match op {
        Op::One(_) | Op::Mov => 2,
        Op::Two(_) => 3,
        Op::Three(_) | Op::Selp => 4,
        _ => 5,
    }
}

fn row(name: &str, operands: usize) -> Option<Decoded> {
    let (stem, ty) = name.rsplit_once('.')?;
    let ty = Type::parse(ty)?;
    let mut rows = TABLE.iter();
    let (.., op) = rows.find(|(names, types, op)| {
        let has_type = types.iter().any(|some| some.contains(&ty));
        has_type && names.contains(&stem) && count(*op) == operands
    })?;
    Some(decoded(*op, ty))
}

/// `.volatile.global.L1::evict_last.v4.b32` and its like: order and caches make no difference here.
fn access(words: &[&str], op: fn(Space) -> Op) -> Option<Decoded> {
    const IGNORED: [&str; 17] = [
        "weak", "volatile", "relaxed", "acquire", "release", "cta", "cluster", "gpu", "sys", "ca",
        "cg", "cs", "lu", "cv", "wb", "wt", "nc",
    ];
    let (ty, words) = words.split_last()?;
    let ty =
        Type::parse(ty).filter(|ty| *ty != Type::Pred && !matches!(ty, Type::F16 | Type::BF16))?;
    if ty.half().is_some() {
        return None;
    }
    let (mut space, mut width) = (None, 1);
    for word in words {
        let named = match *word {
            "global" => Space::Global,
            "shared" | "shared::cta" => Space::Shared,
            "local" => Space::Local,
            "param" | "param::entry" => Space::Param,
            "v2" | "v4" | "v8" => {
                width = word[1..].parse().ok()?;
                continue;
            }
            word if IGNORED.contains(&word) => continue,
            word if word.starts_with("L1::") || word.starts_with("L2::") => continue,
            _ => return None,
        };
        if space.replace(named).is_some() {
            return None;
        }
    }
    let op = op(space.unwrap_or(Space::Generic));
    // Kernels do not write their arguments.
    (op != Op::St(Space::Param)).then_some(Decoded { op, ty, width })
}

/// `.lt.and.f32`
fn comparison(words: &[&str], operands: usize) -> Option<Decoded> {
    let (how, logic, ty) = match words {
        [how, ty] => (*how, None, *ty),
        [how, "and", ty] => (*how, Some(Logic::And), *ty),
        [how, "or", ty] => (*how, Some(Logic::Or), *ty),
        [how, "xor", ty] => (*how, Some(Logic::Xor), *ty),
        _ => return None,
    };
    let ty = Type::parse(ty)?;
    let is_known = match ty.half().unwrap_or(ty) {
        Type::B(16 | 32 | 64) => matches!(how, "eq" | "ne"),
        Type::S(16 | 32 | 64) => ["eq", "ne", "lt", "le", "gt", "ge"].contains(&how),
        Type::U(16 | 32 | 64) => {
            ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"].contains(&how)
        }
        ty => ty.is_float() && !["lo", "ls", "hi", "hs"].contains(&how),
    };
    let is_packed = matches!(ty, Type::S16x2 | Type::U16x2);
    if !is_known || is_packed || operands != 3 + usize::from(logic.is_some()) {
        return None;
    }
    Some(decoded(Op::Setp(Compare::parse(how)?, logic), ty))
}

/// `.rn.relu.f16.f32`, `.rzi.s32.f32`, `.sat.u8.s32`
fn conversion(words: &[&str], operands: usize) -> Option<Decoded> {
    let [words @ .., to, from] = words else {
        return None;
    };
    let (to, from) = (Type::parse(to)?, Type::parse(from)?);
    let (rounding, is_whole, words) = match words {
        ["rn", rest @ ..] => (Some(Rounding::Nearest), false, rest),
        ["rz", rest @ ..] => (Some(Rounding::Zero), false, rest),
        ["rm", rest @ ..] => (Some(Rounding::Down), false, rest),
        ["rp", rest @ ..] => (Some(Rounding::Up), false, rest),
        ["rni", rest @ ..] => (Some(Rounding::Nearest), true, rest),
        ["rzi", rest @ ..] => (Some(Rounding::Zero), true, rest),
        ["rmi", rest @ ..] => (Some(Rounding::Down), true, rest),
        ["rpi", rest @ ..] => (Some(Rounding::Up), true, rest),
        rest => (None, false, rest),
    };
    let (is_positive, saturates) = match words {
        [] => (false, false),
        ["relu"] => (true, false),
        ["sat"] => (false, true),
        _ => return None,
    };
    let how = Conversion {
        from,
        rounding: rounding.unwrap_or(Rounding::Nearest),
        is_whole,
        saturates,
        is_positive,
    };
    if operands == 3 {
        let is_pair = matches!(to, Type::F16x2 | Type::BF16x2) && from == Type::F32;
        let is_known = rounding.is_some() && !is_whole && !saturates;
        return (is_pair && is_known).then(|| decoded(Op::CvtPair(how), to));
    }
    let (is_rounded, is_narrower) = (rounding.is_some(), to.bits() < from.bits());
    let is_known = match (from.is_float(), to.is_float()) {
        // Between numbers of 16 bits, one does not hold the other.
        (true, true) => match (to == from, is_narrower || to.bits() == 16) {
            (true, _) => is_whole || !is_rounded,
            (false, true) => is_rounded && !is_whole,
            (false, false) => !is_rounded,
        },
        (true, false) => to.is_integer() && is_whole && !is_positive,
        (false, true) => from.is_integer() && is_rounded && !is_whole && !is_positive,
        (false, false) => to.is_integer() && from.is_integer() && !is_rounded && !is_positive,
    };
    is_known.then(|| decoded(Op::Cvt(how), to))
}

/// `.rn.f32.bf16`
fn mixed(base: &str, words: &[&str], operands: usize) -> Option<Decoded> {
    let from = match words {
        ["rn", "f32", "f16"] | ["f32", "f16"] => Type::F16,
        ["rn", "f32", "bf16"] | ["f32", "bf16"] => Type::BF16,
        _ => return None,
    };
    let op = match (base, operands) {
        ("add", 3) => Mixed::Add,
        ("sub", 3) => Mixed::Sub,
        ("fma", 4) => Mixed::Fma,
        _ => return None,
    };
    Some(decoded(Op::Mixed(op, from), Type::F32))
}

/// `.to.global.u64`, `.shared.u64`
fn address(words: &[&str]) -> Option<Decoded> {
    let (from_generic, words) = match words {
        ["to", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (space, ty) = match words {
        ["global", ty] => (Space::Global, ty),
        ["shared" | "shared::cta", ty] => (Space::Shared, ty),
        ["local", ty] => (Space::Local, ty),
        _ => return None,
    };
    let op = Op::Cvta {
        space,
        from_generic,
    };
    // Addresses of 32 bits are none of this machine's.
    (*ty == "u64").then(|| decoded(op, Type::U(64)))
}

/// `.async.cg.shared.global.L2::128B`
fn copy(words: &[&str]) -> Option<Decoded> {
    let ["async", way, "shared" | "shared::cta", "global", rest @ ..] = words else {
        return None;
    };
    let way = match *way {
        "ca" => Way::AllLevels,
        "cg" => Way::Global,
        _ => return None,
    };
    let are_hints = rest
        .iter()
        .all(|word| word.starts_with("L2::") && *word != "L2::cache_hint");
    are_hints.then(|| decoded(Op::CpAsync(way), Type::B(32)))
}

/// `.acq_rel.gpu`
fn fence(words: &[&str]) -> Option<Decoded> {
    match words {
        ["sc" | "acq_rel", "cta" | "cluster" | "gpu" | "sys"] => {
            Some(decoded(Op::Fence, Type::B(32)))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
