//! Instructions of PTX, as far as compiled kernels have them (PTX ISA, chapter 9).

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

    /// How many bits it has.
    pub fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::B(bits) | Type::S(bits) | Type::U(bits) => u32::from(bits),
            Type::F16 | Type::BF16 => 16,
            Type::F32 => 32,
            Type::F64 => 64,
        }
    }

    /// How many bytes it takes in memory.
    pub fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Whether it is a number with a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::BF16 | Type::F32 | Type::F64)
    }
}

/// Where memory is.
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

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `eq`, false for NaN; with `or_nan`, `equ` and so on, true for NaN.
    Order {
        /// Whether less counts.
        less: bool,
        /// Whether equal counts.
        equal: bool,
        /// Whether greater counts.
        greater: bool,
        /// Whether NaN counts.
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

/// Which part of a product counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The lower half.
    Low,
    /// The upper half.
    High,
    /// Both, in a type twice as wide.
    Wide,
}

/// How a float becomes an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Down.
    Down,
    /// Up.
    Up,
}

/// What a shuffle reads.
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

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the PTX ISA")]
pub enum Op {
    Mov,
    Ld(Space),
    St(Space),
    Add,
    Sub,
    Mul(Part),
    Mad(Part),
    Fma,
    Div,
    Rem,
    Min {
        nan: bool,
    },
    Max {
        nan: bool,
    },
    Neg,
    Abs,
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,
    Bfe,
    Clz,
    Popc,
    Rcp,
    Sqrt,
    Rsqrt,
    Ex2,
    Lg2,
    Copysign,
    Testp,
    Setp(Compare),
    Selp,
    Cvt {
        from: Type,
        rounding: Option<Rounding>,
        saturates: bool,
    },
    /// To or from generic addresses.
    Cvta {
        space: Space,
        from_generic: bool,
    },
    Bra,
    BarSync,
    /// Of the lanes of a warp.
    WarpSync,
    Shfl(Shuffle),
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

/// What an instruction works on.
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
    /// What it does.
    pub op: Op,
    /// Its type.
    pub ty: Type,
    /// How many elements an access has.
    pub width: u8,
    /// What it works on, results first.
    pub operands: Vec<Operand>,
    /// Its line in the text, counted from 1.
    pub line: u32,
}
