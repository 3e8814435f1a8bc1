//! Regions of scalar code into the algebra's [`Code`], for the oracle.

mod apply;

use crate::ops;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mdh_algebra::code::{Block, Code, Instruction, Register, Sign};
use mdh_algebra::scalar::ScalarType;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, RegionLike, RegionRef, Type, ValueLike};
use mlir_sys::{MlirValue, mlirBlockGetArgument, mlirBlockGetNumArguments};

pub use self::apply::scalar_operation;
use crate::ir::{self, Errors, Op, Val};
use crate::types;

/// Calls deeper than this are taken for recursion, which scalar code has not.
const MAX_CALL_DEPTH: usize = 64;

/// The arguments of a block.
pub fn arguments<'c>(block: BlockRef<'c, 'c>) -> Vec<Val<'c>> {
    // SAFETY: the block is valid, and the numbers are those of its arguments.
    unsafe {
        (0..mlirBlockGetNumArguments(block.to_raw()))
            .map(|i| Val::from_raw(mlirBlockGetArgument(block.to_raw(), i)))
            .collect()
    }
}

/// The types of a region's arguments and of its terminator's operands, without its code.
pub fn signature(region: RegionRef, what: &str) -> Result<Code, Errors> {
    let block = ir::only_block(widen(region))
        .ok_or_else(|| vec![format!("{what} must be a region with one block")])?;
    let yielded = match ir::ops_of(block).last() {
        Some(last) if ir::name_of(*last) == ops::mdh::YIELD => operands(*last),
        _ => return Err(vec![format!("{what} must end in mdh.yield")]),
    };
    Ok(Code {
        inputs: scalar_types(&arguments(block), what)?,
        results: scalar_types(&yielded, what)?,
        registers: 0,
        body: Block::default(),
    })
}

/// A region as code that the oracle can run.
pub fn code(region: RegionRef, what: &str) -> Result<Code, Errors> {
    Ok(with_registers(region, what)?.0)
}

/// The same, with the register of each value, by its address.
pub fn with_registers(
    region: RegionRef,
    what: &str,
) -> Result<(Code, HashMap<usize, Register>), Errors> {
    let block = ir::only_block(widen(region))
        .ok_or_else(|| vec![format!("{what} must be a region with one block")])?;
    let mut translator = Translator::default();
    let code = translator.function(block, what, 0)?;
    Ok((code, translator.registers))
}

/// The region of a `linalg.generic` as code, and the values from outside that it uses: they are
/// further arguments, after those of the first `inputs` operands, and so are the results of the extractions
/// that are given. What it asserts is left to those who run it.
pub fn nest<'c>(
    region: RegionRef<'c, 'c>,
    inputs: usize,
    extracted: &[Val<'c>],
    what: &str,
) -> Result<(Code, Vec<Val<'c>>), Errors> {
    let block = ir::only_block(region)
        .ok_or_else(|| vec![format!("{what} must be a region with one block")])?;
    let mut captured = captured(region);
    if !extracted.is_empty() {
        captured.retain(|v| types::scalar_type(v.r#type()).is_some());
    }
    let mut values = arguments(block);
    let outputs = values.split_off(inputs.min(values.len()));
    let read = captured.iter().chain(extracted).copied();
    values.extend(read.chain(outputs));
    let mut translator = Translator {
        asserts: Asserts::LeftOut,
        ..Translator::default()
    };
    Ok((
        translator.with_arguments(block, &values, what, 0)?,
        captured,
    ))
}

/// The values from outside of a region that it uses, in the order of their first uses.
pub fn captured<'c>(region: RegionRef<'c, 'c>) -> Vec<Val<'c>> {
    let (mut own, mut found) = (HashSet::new(), Vec::new());
    let mut open = vec![region];
    let mut users = Vec::new();
    while let Some(region) = open.pop() {
        for block in std::iter::successors(region.first_block(), |b| b.next_in_region()) {
            own.extend(arguments(block).iter().map(|v| key(v.to_raw())));
            for op in ir::ops_of(block) {
                own.extend(results(op).iter().map(|v| key(v.to_raw())));
                open.extend((0..op.region_count()).map(|r| ir::region(op, r)));
                users.push(op);
            }
        }
    }
    for value in users.into_iter().flat_map(operands) {
        if own.insert(key(value.to_raw())) {
            found.push(value);
        }
    }
    found
}

fn widen<'c>(region: RegionRef<'_, '_>) -> RegionRef<'c, 'c> {
    // SAFETY: only lifetimes change, see `ir::Op`.
    unsafe { RegionRef::from_raw(region.to_raw()) }
}

fn operands<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.operands().map(ir::value).collect()
}

fn results<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.results().map(ir::value::<'c>).collect()
}

fn scalar_types(values: &[Val], what: &str) -> Result<Vec<ScalarType>, Errors> {
    values
        .iter()
        .map(|v| scalar_type(v.r#type(), what))
        .collect()
}

fn scalar_type(ty: Type, what: &str) -> Result<ScalarType, Errors> {
    types::scalar_type(ty).ok_or_else(|| {
        vec![format!(
            "{what} has a value of type {ty}: expected one of {}",
            ScalarType::names()
        )]
    })
}

/// Assigns registers while it walks the regions of one function.
#[derive(Default)]
struct Translator {
    registers: HashMap<usize, Register>,
    count: usize,
    asserts: Asserts,
}

/// Says what becomes of assertions: code of the dialect has none, since its points are in no order and may
/// be more than there are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Asserts {
    #[default]
    Refused,
    LeftOut,
}

fn key(value: MlirValue) -> usize {
    value.ptr as usize
}

impl Translator {
    fn function(
        &mut self,
        block: BlockRef<'_, '_>,
        what: &str,
        depth: usize,
    ) -> Result<Code, Errors> {
        // SAFETY: only lifetimes change, see `ir::Op`.
        let block = unsafe { BlockRef::from_raw(block.to_raw()) };
        self.with_arguments(block, &arguments(block), what, depth)
    }

    fn with_arguments(
        &mut self,
        block: BlockRef<'_, '_>,
        args: &[Val],
        what: &str,
        depth: usize,
    ) -> Result<Code, Errors> {
        let inputs = scalar_types(args, what)?;
        self.define(args);
        let body = self.block(block, what, depth)?;
        // SAFETY: only lifetimes change, see `ir::Op`.
        let terminator = ir::ops_of(unsafe { BlockRef::from_raw(block.to_raw()) });
        let terminator = terminator.last().copied();
        let results = terminator.map_or(Vec::new(), operands);
        Ok(Code {
            inputs,
            results: scalar_types(&results, what)?,
            registers: self.count,
            body,
        })
    }

    fn define(&mut self, values: &[Val]) -> Vec<Register> {
        let first = self.count;
        for value in values {
            self.registers.insert(key(value.to_raw()), self.count);
            self.count += 1;
        }
        (first..self.count).collect()
    }

    fn uses(&self, values: &[Val], what: &str) -> Result<Vec<Register>, Errors> {
        values
            .iter()
            .map(|value| {
                self.registers
                    .get(&key(value.to_raw()))
                    .copied()
                    .ok_or_else(|| {
                        vec![format!(
                            "{what} uses a value from outside: {value}; pass it as an input"
                        )]
                    })
            })
            .collect()
    }

    /// A block and what its terminator yields.
    fn block(
        &mut self,
        block: BlockRef<'_, '_>,
        what: &str,
        depth: usize,
    ) -> Result<Block, Errors> {
        // SAFETY: only lifetimes change, see `ir::Op`.
        let ops = ir::ops_of(unsafe { BlockRef::from_raw(block.to_raw()) });
        let Some((last, body)) = ops.split_last() else {
            return Err(vec![format!("{what} has an empty block")]);
        };
        let mut instructions = Vec::new();
        for op in body {
            // What is an argument is not extracted here.
            let is_given = [ops::tensor::EXTRACT, ops::memref::LOAD].contains(&ir::name_of(*op))
                && (results(*op).iter()).all(|r| self.registers.contains_key(&key(r.to_raw())));
            if !is_given {
                instructions.extend(self.instructions(*op, what, depth)?);
            }
        }
        Ok(Block {
            instructions,
            yields: self.uses(&operands(*last), what)?,
        })
    }

    fn nested(
        &mut self,
        op: Op,
        region: usize,
        what: &str,
        depth: usize,
    ) -> Result<(Vec<Register>, Block), Errors> {
        let Some(block) = ir::only_block(ir::region(op, region)) else {
            return Err(vec![format!(
                "{what} has a region with more or less than one block"
            )]);
        };
        let arguments = self.define(&arguments(block));
        Ok((arguments, self.block(block, what, depth)?))
    }

    fn instructions(
        &mut self,
        op: Op,
        what: &str,
        depth: usize,
    ) -> Result<Vec<Instruction>, Errors> {
        let instruction = match ir::name_of(op) {
            ops::arith::CONSTANT => self.constant(op, what),
            ops::mdh::INDEX | ops::linalg::INDEX => {
                let dimension = ir::attribute(op, "dim")
                    .and_then(|a| IntegerAttribute::try_from(a).ok())
                    .map_or(0, |a| a.value() as usize);
                Ok(Instruction::Index {
                    result: self.define(&results(op))[0],
                    dimension,
                })
            }
            ops::scf::IF => self.conditional(op, what, depth),
            ops::scf::FOR => self.for_loop(op, what, depth),
            ops::scf::WHILE => self.while_loop(op, what, depth),
            ops::func::CALL => self.call(op, what, depth),
            ops::cf::ASSERT if self.asserts == Asserts::LeftOut => return Ok(Vec::new()),
            _ => return self.apply(op, what),
        };
        Ok(vec![instruction?])
    }

    fn constant(&mut self, op: Op, what: &str) -> Result<Instruction, Errors> {
        let value = ir::attribute(op, "value")
            .and_then(types::scalar)
            .ok_or_else(|| vec![format!("{what} has a constant that is not a scalar: {op}")])?;
        Ok(Instruction::Constant {
            result: self.define(&results(op))[0],
            value,
        })
    }

    fn conditional(&mut self, op: Op, what: &str, depth: usize) -> Result<Instruction, Errors> {
        let condition = self.uses(&operands(op), what)?[0];
        let (_, then) = self.nested(op, 0, what, depth)?;
        let has_else = ir::only_block(ir::region(op, 1)).is_some();
        let otherwise = if has_else {
            self.nested(op, 1, what, depth)?.1
        } else {
            Block::default()
        };
        Ok(Instruction::If {
            condition,
            then,
            otherwise,
            results: self.define(&results(op)),
        })
    }

    fn for_loop(&mut self, op: Op, what: &str, depth: usize) -> Result<Instruction, Errors> {
        let uses = self.uses(&operands(op), what)?;
        let (mut arguments, body) = self.nested(op, 0, what, depth)?;
        let induction = arguments.remove(0);
        let sign = match ir::attribute(op, "unsignedCmp") {
            Some(_) => Sign::Unsigned,
            None => Sign::Signed,
        };
        Ok(Instruction::For {
            sign,
            lower: uses[0],
            upper: uses[1],
            step: uses[2],
            induction,
            initial: uses[3..].to_vec(),
            arguments,
            body,
            results: self.define(&results(op)),
        })
    }

    fn while_loop(&mut self, op: Op, what: &str, depth: usize) -> Result<Instruction, Errors> {
        let initial = self.uses(&operands(op), what)?;
        let (before_arguments, before) = self.nested(op, 0, what, depth)?;
        let (after_arguments, after) = self.nested(op, 1, what, depth)?;
        Ok(Instruction::While {
            initial,
            before_arguments,
            before,
            after_arguments,
            after,
            results: self.define(&results(op)),
        })
    }

    fn call(&mut self, op: Op, what: &str, depth: usize) -> Result<Instruction, Errors> {
        let callee = ir::attribute(op, "callee")
            .and_then(ir::symbol)
            .unwrap_or_default()
            .to_owned();
        if depth >= MAX_CALL_DEPTH {
            return Err(vec![format!(
                "{what} calls @{callee} more than {MAX_CALL_DEPTH} levels deep: scalar code must \
                 not recurse"
            )]);
        }
        let function =
            ir::lookup_symbol(op, &callee).filter(|f| ir::name_of(*f) == ops::func::FUNC);
        let has_body = |f: Op| f.region_count() > 0 && !ir::is_empty(ir::region(f, 0));
        if function.is_some_and(|f| !has_body(f)) {
            return Err(vec![format!(
                "{what} calls @{callee}, which has no body here: the definition of what it \
                 computes is not known; expected a function with a body, or an operation of math"
            )]);
        }
        let function = function.and_then(|f| ir::only_block(ir::region(f, 0)));
        let function = function.ok_or_else(|| {
            vec![format!(
                "{what} calls @{callee}: expected a function with one block"
            )]
        })?;
        let callee_name = format!("the function @{callee}");
        let mut called = Translator {
            asserts: self.asserts,
            ..Translator::default()
        };
        let code = called.function(function, &callee_name, depth + 1)?;
        Ok(Instruction::Call {
            callee: Arc::new(code),
            operands: self.uses(&operands(op), what)?,
            results: self.define(&results(op)),
        })
    }
}
