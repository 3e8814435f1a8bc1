//! Sums of products of narrow numbers, and the machine's instructions for them.
//!
//! | factors | points | sum | instruction | feature |
//! | --- | --- | --- | --- | --- |
//! | i8, with or without a sign | 4 | i32 | `vpdpbusd` | `avx512_vnni` |
//! | i16 with a sign, or i8 | 2 | i32 | `vpdpwssd` | `avx512_vnni` |
//! | bf16 | 2 | f32 | `vdpbf16ps` | `avx512_bf16` |
//!
//! All sums of integers wrap, so that none of these changes a result. `vdpbf16ps` takes denormal
//! numbers for zeros, which only a product with `fastmath<fast>` permits. So do the conversions to
//! `bf16` of machines that have it, which nobody has permitted: code is generated for a machine
//! without either, and the instruction is written as assembly.

use mdh_algebra::computation::Computation;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Parts;
use mdh_dialect::types;
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type, ValueLike};

use super::lanes::vector_type;
use crate::support::builder::Builder;

/// One of the two factors.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    /// Its buffer, among the inputs.
    pub buffer: usize,
    /// The access to it.
    pub access: usize,
    /// Its type in memory.
    pub ty: ScalarType,
    /// True if it has a sign.
    pub is_signed: bool,
    /// True if its highest bit is flipped.
    pub is_flipped: bool,
}

/// The instruction, by what it multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DotInstruction {
    /// Four products of bytes, the first without a sign.
    Bytes,
    /// Two products of 16 bits with a sign.
    Words,
    /// Two products of bf16.
    Floats,
}

/// The sum that one instruction adds to each lane.
#[derive(Clone, Copy, Debug)]
pub struct Dot {
    kind: DotInstruction,
    /// In the order in which the instruction takes them, but for `is_swapped`.
    pub factors: [Factor; 2],
    /// True if the second factor is what the instruction takes first.
    is_swapped: bool,
    /// True if 128 times the second factor is to be taken away.
    pub is_flipped: bool,
    /// The lanes of a sum.
    lanes: i64,
}

/// A number of neighbouring points of a sum in each of a number of lanes.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Lanes.
    pub lanes: i64,
    /// Points of each.
    pub points: i64,
}

/// The product that a computation sums up: its factors, widened to the type of the sum.
struct Product {
    factors: [Factor; 2],
    sum: ScalarType,
    may_flush: bool,
}

/// The factors of a sum of products, widened to the type of the sum; `None` if it is none.
pub fn factors(op: Op, parts: &Parts, computation: &Computation) -> Option<[Factor; 2]> {
    Some(product(op, parts, computation)?.factors)
}

fn product(op: Op, parts: &Parts, computation: &Computation) -> Option<Product> {
    let ([sum], [Operator::Builtin(operators)]) =
        (&computation.components[..], &computation.operators[..])
    else {
        return None;
    };
    let multiply = match (&operators[..], sum) {
        ([Builtin::Addi], ScalarType::I32) => ops::arith::MULI,
        ([Builtin::Addf], ScalarType::F32) => ops::arith::MULF,
        _ => return None,
    };
    let block = ir::only_block(ir::region(op, 0))?;
    let accesses: Vec<(usize, usize)> = (parts.inputs.iter().enumerate())
        .flat_map(|(b, buffer)| (0..buffer.accesses.len()).map(move |access| (b, access)))
        .collect();
    let arguments = arguments(block);
    let factor = |value: Val| {
        let extension = ir::defining_op(value)?;
        let is_signed = match ir::name_of(extension) {
            ops::arith::EXTSI | ops::arith::EXTF => true,
            ops::arith::EXTUI => false,
            _ => return None,
        };
        let narrow = ir::operand(extension, 0)?;
        let number = arguments.iter().position(|argument| *argument == narrow)?;
        let (buffer, access) = *accesses.get(number)?;
        Some(Factor {
            buffer,
            access,
            ty: types::scalar_type(narrow.r#type())?,
            is_signed,
            is_flipped: false,
        })
    };
    let terminator = *ir::ops_of(block).last()?;
    let result = ir::operand(terminator, 0)?;
    let product = ir::defining_op(result).filter(|op| ir::name_of(*op) == multiply)?;
    let operands = [product.operand(0).ok()?, product.operand(1).ok()?];
    let flags = ir::attribute(product, "fastmath").map(|flags| flags.to_string());
    Some(Product {
        factors: [
            factor(ir::value(operands[0]))?,
            factor(ir::value(operands[1]))?,
        ],
        sum: *sum,
        may_flush: flags.is_some_and(|flags| flags.contains("fast>")),
    })
}

/// The largest number of neighbouring points of a sum that one instruction of a machine with these
/// features combines in each of so many lanes, where a computation has the form for it; 1
/// otherwise.
pub fn points(
    op: Op,
    parts: &Parts,
    computation: &Computation,
    lanes: i64,
    features: &[&str],
) -> i64 {
    let at_once = |points: &i64| {
        let shape = Shape {
            lanes,
            points: *points,
        };
        Dot::new(op, parts, computation, shape, features).is_some()
    };
    [4, 2].into_iter().find(at_once).unwrap_or(1)
}

impl Dot {
    /// The instruction for these points of a computation at once, if the machine has one.
    pub fn new(
        op: Op,
        parts: &Parts,
        computation: &Computation,
        shape: Shape,
        features: &[&str],
    ) -> Option<Dot> {
        let product = product(op, parts, computation)?;
        let all_factors = |fits: fn(&Factor) -> bool| product.factors.iter().all(fits);
        let is_integer = product.sum == ScalarType::I32 && features.contains(&"avx512_vnni");
        let (bytes, floats) = (
            all_factors(|f| f.ty == ScalarType::I8),
            all_factors(|f| f.ty == ScalarType::BF16) && product.may_flush,
        );
        let words =
            all_factors(|f| f.ty == ScalarType::I8 || f.ty == ScalarType::I16 && f.is_signed);
        if ![4, 8, 16].contains(&shape.lanes) {
            return None;
        }
        let kind = match shape.points {
            4 if is_integer && bytes => DotInstruction::Bytes,
            2 if is_integer && words => DotInstruction::Words,
            2 if floats && features.contains(&"avx512_bf16") => DotInstruction::Floats,
            _ => return None,
        };
        Some(Dot {
            kind,
            factors: product.factors,
            is_swapped: false,
            is_flipped: false,
            lanes: shape.lanes,
        })
    }

    /// The same with that factor first which is the same in all lanes: turning its highest bits,
    /// where the instruction wants that, takes the least.
    pub fn with_first(mut self, first: usize) -> Dot {
        if first == 1 {
            self.factors.reverse();
        }
        if self.kind != DotInstruction::Bytes {
            return self;
        }
        let [a, b] = self.factors.map(|factor| factor.is_signed);
        self.is_flipped = a == b;
        self.factors[0].is_flipped = a == b;
        // The first one has no sign: by itself, or since it had one.
        self.is_swapped = if a == b { !a } else { a };
        self
    }

    /// The type of the elements that the instruction takes.
    pub fn element<'c>(&self, builder: &Builder<'c>) -> Type<'c> {
        let ty = match self.kind {
            DotInstruction::Bytes => ScalarType::I8,
            DotInstruction::Words => ScalarType::I16,
            DotInstruction::Floats => ScalarType::BF16,
        };
        types::mlir_type(builder.context, ty)
    }

    /// Elements of a factor as the instruction takes them.
    pub fn widened<'c>(
        &self,
        builder: &mut Builder<'c>,
        factor: Factor,
        elements: Val<'c>,
        count: i64,
    ) -> Val<'c> {
        if self.kind != DotInstruction::Words || factor.ty != ScalarType::I8 {
            return elements;
        }
        let name = match factor.is_signed {
            true => ops::arith::EXTSI,
            false => ops::arith::EXTUI,
        };
        let ty = vector_type(self.element(builder), count);
        builder.op(name, &[elements], &[ty], &[])[0]
    }

    /// `sum + first * second`, group by group.
    pub fn emit<'c>(&self, builder: &mut Builder<'c>, operands: [Val<'c>; 3]) -> Val<'c> {
        let [sum, first, second] = operands;
        let operands = match self.is_swapped {
            true => [sum, second, first],
            false => operands,
        };
        let stem = match self.kind {
            DotInstruction::Bytes => "vpdpbusd",
            DotInstruction::Words => "vpdpwssd",
            DotInstruction::Floats => return self.assembly(builder, operands),
        };
        let bits = 32 * self.lanes;
        let name = format!("llvm.x86.avx512.{stem}.{bits}");
        let name = StringAttribute::new(builder.context, &name);
        let sizes = |text: &str| {
            Attribute::parse(builder.context, text).unwrap_or_else(|| panic!("{text} parses"))
        };
        let attributes = [
            ("intrin", name.into()),
            ("operandSegmentSizes", sizes("array<i32: 3, 0>")),
            ("op_bundle_sizes", sizes("array<i32>")),
        ];
        builder.op(
            ops::llvm::CALL_INTRINSIC,
            &operands,
            &[sum.r#type()],
            &attributes,
        )[0]
    }

    /// The instruction for bf16: its name says how many lanes it has.
    fn assembly<'c>(&self, builder: &mut Builder<'c>, operands: [Val<'c>; 3]) -> Val<'c> {
        let [sum, first, second] = operands;
        let words = vector_type(
            types::mlir_type(builder.context, ScalarType::I32),
            self.lanes,
        );
        let mut pairs = |value| builder.op(ops::vector::BITCAST, &[value], &[words], &[])[0];
        let operands = [sum, pairs(first), pairs(second)];
        let text = |text: &str| StringAttribute::new(builder.context, text).into();
        let attributes = [
            ("asm_string", text("vdpbf16ps $3, $2, $0")),
            ("constraints", text("=v,0,v,v")),
        ];
        builder.op(
            ops::llvm::INLINE_ASM,
            &operands,
            &[sum.r#type()],
            &attributes,
        )[0]
    }
}
