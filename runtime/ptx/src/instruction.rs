//! Instructions of PTX, as far as compiled kernels have them (PTX ISA, chapter 9).

/// Threads of a warp.
pub const LANES: usize = 32;

/// The type of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A truth value.
    Pred,
    /// Bits.
    B(u8),
    /// A signed integer of so many bits.
    S(u8),
    /// An unsigned one.
    U(u8),
    /// IEEE half precision.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Two signed integers of 16 bits.
    S16x2,
    /// Two unsigned ones.
    U16x2,
    /// Two of IEEE half precision.
    F16x2,
    /// Two of bfloat16.
    BF16x2,
    /// Two of IEEE single precision.
    F32x2,
}

impl Type {
    /// The type of that name.
    pub fn parse(text: &str) -> Option<Type> {
        Some(match text {
            "pred" => Type::Pred,
            "f16" => Type::F16,
            "bf16" => Type::BF16,
            "f32" => Type::F32,
            "f64" => Type::F64,
            "s16x2" => Type::S16x2,
            "u16x2" => Type::U16x2,
            "f16x2" => Type::F16x2,
            "bf16x2" => Type::BF16x2,
            "f32x2" => Type::F32x2,
            _ => {
                let (letter, bits) = text.split_at_checked(1)?;
                let bits = bits.parse().ok().filter(|n| [8, 16, 32, 64].contains(n))?;
                match letter {
                    "b" => Type::B(bits),
                    "s" => Type::S(bits),
                    "u" => Type::U(bits),
                    _ => return None,
                }
            }
        })
    }

    /// Returns its width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::B(bits) | Type::S(bits) | Type::U(bits) => u32::from(bits),
            Type::F16 | Type::BF16 => 16,
            Type::F32 | Type::S16x2 | Type::U16x2 | Type::F16x2 | Type::BF16x2 => 32,
            Type::F64 | Type::F32x2 => 64,
        }
    }

    /// The type of each of the two numbers that a register of this type has.
    pub fn half(self) -> Option<Type> {
        match self {
            Type::S16x2 => Some(Type::S(16)),
            Type::U16x2 => Some(Type::U(16)),
            Type::F16x2 => Some(Type::F16),
            Type::BF16x2 => Some(Type::BF16),
            Type::F32x2 => Some(Type::F32),
            _ => None,
        }
    }

    /// Returns its size in memory, in bytes.
    pub fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Returns whether it is one number with a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::BF16 | Type::F32 | Type::F64)
    }

    /// Returns whether it is one integer.
    pub fn is_integer(self) -> bool {
        matches!(self, Type::S(_) | Type::U(_))
    }
}

/// State space of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Anywhere: addresses say where.
    Generic,
    /// The device's memory.
    Global,
    /// A block's.
    Shared,
    /// A thread's.
    Local,
    /// The kernel's arguments.
    Param,
}

/// Comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `eq`, false for NaN; with `or_nan`, `equ` and so on, true for NaN.
    Order {
        /// True if less counts.
        less: bool,
        /// True if equal counts.
        equal: bool,
        /// True if greater counts.
        greater: bool,
        /// True if NaN counts.
        or_nan: bool,
    },
    /// Neither is NaN.
    Numbers,
    /// One of them is.
    Nan,
}

impl Compare {
    /// The comparison of that name.
    pub fn parse(text: &str) -> Option<Compare> {
        let order = |less, equal, greater, or_nan| Compare::Order {
            less,
            equal,
            greater,
            or_nan,
        };
        Some(match text {
            "eq" => order(false, true, false, false),
            // Of floats, NaN is not equal; PTX's `ne` of floats is ordered.
            "ne" => order(true, false, true, false),
            "lt" | "lo" => order(true, false, false, false),
            "le" | "ls" => order(true, true, false, false),
            "gt" | "hi" => order(false, false, true, false),
            "ge" | "hs" => order(false, true, true, false),
            "equ" => order(false, true, false, true),
            "neu" => order(true, false, true, true),
            "ltu" => order(true, false, false, true),
            "leu" => order(true, true, false, true),
            "gtu" => order(false, false, true, true),
            "geu" => order(false, true, true, true),
            "num" => Compare::Numbers,
            "nan" => Compare::Nan,
            _ => return None,
        })
    }
}

/// Part of a product that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductPart {
    /// The lower half.
    Low,
    /// The upper half.
    High,
    /// Both, in a type twice as wide.
    Wide,
}

/// Rounding of a number to one of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// The nearest, of two the even one.
    Nearest,
    /// That towards zero.
    Zero,
    /// The lower.
    Down,
    /// The upper.
    Up,
}

/// A value in another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The type that it comes from.
    pub from: Type,
    /// Rounding, to whole numbers where that is asked for, else to those of the new type.
    pub rounding: Rounding,
    /// True if it is rounded to a whole number.
    pub is_whole: bool,
    /// True if what is beyond the new type becomes its last number; of floats, whether it ends at 0
    /// and 1.
    pub saturates: bool,
    /// True if what is negative becomes zero.
    pub is_positive: bool,
}

/// Class of floats that is tested for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Neither infinite nor NaN.
    Finite,
    /// Infinite.
    Infinite,
    /// All but NaN.
    Number,
    /// NaN.
    Nan,
    /// Those with all of their digits.
    Normal,
    /// Those without.
    Subnormal,
}

/// Combination of predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum Logic {
    And,
    Or,
    Xor,
}

/// Vote among lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// True if it holds for all.
    All,
    /// True if it holds for one of them.
    Any,
    /// True if it is the same for all.
    Uniform,
    /// The lanes for which it holds.
    Ballot,
}

/// Choice of bytes of two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// The bytes that a number names, four bits each.
    Any,
    /// Four from a place on.
    Forward,
    /// Four from a place on, downwards.
    Backward,
    /// One, four times.
    Replicated,
    /// From a place to the left end, which is repeated.
    Left,
    /// From the right end, which is repeated, to a place.
    Right,
    /// A half, twice.
    Half,
}

/// Source lane of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// The lane whose number differs in these bits.
    Butterfly,
    /// A lane before.
    Up,
    /// A lane behind.
    Down,
    /// A lane by its number.
    Index,
}

/// The caches that a copy goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All of them: `ca`.
    AllLevels,
    /// Only that of the whole device: `cg`.
    Global,
}

/// Operation on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum One {
    Neg,
    Abs,
    Not,
    Clz,
    Popc,
    Brev,
    /// The place of the highest bit that counts, or how far it is from the top.
    Bfind {
        is_shift: bool,
    },
    Rcp,
    Sqrt,
    Rsqrt,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
    Testp(Class),
}

/// Operation on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum Two {
    Add,
    Sub,
    Mul(ProductPart),
    Div,
    Rem,
    Min(Extreme),
    Max(Extreme),
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Copysign,
}

/// Variant of a minimum or maximum of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// Of a number and NaN, the number.
    Plain,
    /// NaN is kept.
    Nan,
    /// Negative results become zero.
    Relu,
}

/// Operation on three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum Three {
    Fma {
        /// True if what is negative becomes zero.
        is_positive: bool,
    },
    Mad(ProductPart),
    Min(Extreme),
    Max(Extreme),
    Bfe,
    Prmt(Bytes),
    /// A shift of two registers as one.
    Shf {
        is_left: bool,
        wraps: bool,
    },
}

/// Operation on four operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum Four {
    Bfi,
    Lop3,
}

/// Operation on operands of two types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum Mixed {
    Add,
    Sub,
    Fma,
}

/// Operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum Op {
    Mov,
    Ld(Space),
    St(Space),
    One(One),
    Two(Two),
    Three(Three),
    Four(Four),
    /// The first operand, and of a product the second one too, are of a narrower type.
    Mixed(Mixed, Type),
    Setp(Compare, Option<Logic>),
    Selp,
    Cvt(Conversion),
    /// Two numbers to two of half as many bits in one register, the first one on top.
    CvtPair(Conversion),
    /// To or from generic addresses.
    Cvta {
        space: Space,
        from_generic: bool,
    },
    Bra,
    /// To one of several places, by number.
    Brx,
    BarSync,
    /// Of the lanes of a warp.
    WarpSync,
    Shfl(Shuffle),
    Vote(Vote),
    /// A copy to shared memory that is not waited for.
    CpAsync(Way),
    CpCommit,
    CpWait,
    /// `m16n8k16`, of factors of that type.
    Mma(Type),
    /// Orders memory, which is in order here.
    Fence,
    Ret,
    Trap,
}

/// Operand of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, by number.
    Register(u32),
    /// A value.
    Immediate(u64),
    /// `%tid.x` and its like.
    Special(Special),
    /// Several, in braces.
    Vector(Vec<Operand>),
    /// `[base + offset]`.
    Address(Box<Operand>, i64),
    /// A place in the body.
    Label(u32),
    /// `dst|p`: a result, and whether there was one.
    Pair(u32, u32),
    /// `_`
    Nothing,
}

/// A register that a thread starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// The thread's number in its block, along an axis.
    Thread(u8),
    /// The block's extent.
    Threads(u8),
    /// The block's number in the grid.
    Block(u8),
    /// The grid's extent.
    Blocks(u8),
    /// The thread's number in its warp.
    Lane,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The predicate under which it is done, and whether that is negated.
    pub guard: Option<(u32, bool)>,
    /// The operation.
    pub op: Op,
    /// Its type.
    pub ty: Type,
    /// Number of elements of an access.
    pub width: u8,
    /// Operands, results first.
    pub operands: Vec<Operand>,
    /// Its line in the text, counted from 1.
    pub line: u32,
    /// Its name there, with all that belongs to it.
    pub name: String,
}

impl Instruction {
    /// The registers that it writes, results in order.
    pub fn targets(&self) -> Vec<u32> {
        let results = self.operands.iter().take(usize::from(self.has_result()));
        results.flat_map(Operand::registers).collect()
    }

    /// Returns whether its first operand is a result.
    pub fn has_result(&self) -> bool {
        let has_none = matches!(
            self.op,
            Op::St(_)
                | Op::Bra
                | Op::Brx
                | Op::BarSync
                | Op::WarpSync
                | Op::Fence
                | Op::Ret
                | Op::Trap
        );
        let is_copy = matches!(self.op, Op::CpAsync(_) | Op::CpCommit | Op::CpWait);
        !has_none && !is_copy
    }
}

impl Operand {
    /// The registers that it names.
    pub fn registers(&self) -> Vec<u32> {
        match self {
            Operand::Register(number) => vec![*number],
            Operand::Vector(parts) => parts.iter().flat_map(Operand::registers).collect(),
            Operand::Address(base, _) => base.registers(),
            Operand::Pair(a, b) => vec![*a, *b],
            Operand::Immediate(_) | Operand::Special(_) | Operand::Label(_) | Operand::Nothing => {
                Vec::new()
            }
        }
    }
}
