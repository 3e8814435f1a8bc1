//! Regions of scalar code taken from one operation to another, and changed on the way.

use mdh_dialect::{marks, ops};
use std::collections::HashSet;

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use melior::ir::operation::{Operation, OperationBuilder, OperationLike};
use melior::ir::{
    Attribute, Block, BlockLike, BlockRef, Identifier, Location, Region, RegionLike, RegionRef,
    Type, TypeLike, ValueLike,
};
use mlir_sys::*;

/// A copy of a region of an operation; empty if it has none of that number.
pub fn copy<'c>(op: Op<'c>, index: usize) -> Region<'c> {
    if index >= op.region_count() {
        return Region::new();
    }
    // SAFETY: the clone is new, has the same regions, and goes once its region is taken.
    unsafe {
        let clone = ir::op_from_raw(mlirOperationClone(op.to_raw()));
        let region = take(clone, index);
        mlirOperationDestroy(clone.to_raw());
        region
    }
}

/// The contents of a region, which is empty afterwards.
pub fn take<'c>(op: Op<'c>, index: usize) -> Region<'c> {
    let region = Region::new();
    // SAFETY: both regions are valid.
    unsafe { mlirRegionTakeBody(region.to_raw(), ir::region(op, index).to_raw()) }
    region
}

/// The only block of a region that has one.
pub fn block<'c>(region: &Region<'c>) -> BlockRef<'c, 'c> {
    // SAFETY: only lifetimes change, see `ir::Op`.
    let region = unsafe { RegionRef::from_raw(region.to_raw()) };
    ir::only_block(region)
        .unwrap_or_else(|| panic!("the verifier lets only regions of one block pass"))
}

/// The only block of an operation's region that has one.
pub fn block_of<'c>(region: RegionRef<'c, 'c>) -> BlockRef<'c, 'c> {
    ir::only_block(region)
        .unwrap_or_else(|| panic!("the verifier lets only regions of one block pass"))
}

/// The first operation of a block.
pub fn first<'c>(block: BlockRef<'c, 'c>) -> Op<'c> {
    let first = block.first_operation().map(|op| ir::op(&op));
    first.unwrap_or_else(|| panic!("the verifier lets no empty block pass"))
}

/// Returns the operands of a block's terminator.
pub fn yields<'c>(block: BlockRef<'c, 'c>) -> Vec<Val<'c>> {
    terminator(block).operands().map(ir::value).collect()
}

/// Makes a block's terminator yield these values.
pub fn set_yields<'c>(block: BlockRef<'c, 'c>, values: &[Val<'c>]) {
    let raw: Vec<MlirValue> = values.iter().map(|v| v.to_raw()).collect();
    // SAFETY: the terminator and the values are valid.
    unsafe {
        mlirOperationSetOperands(terminator(block).to_raw(), raw.len() as isize, raw.as_ptr());
    }
}

/// The last operation of a block.
pub fn terminator<'c>(block: BlockRef<'c, 'c>) -> Op<'c> {
    let last = ir::last_of(block);
    last.unwrap_or_else(|| panic!("the verifier lets no empty block pass"))
}

/// Adds an argument to a block.
pub fn add_argument<'c>(block: BlockRef<'c, 'c>, ty: Type<'c>, location: Location<'c>) -> Val<'c> {
    // SAFETY: block, type and location are valid.
    unsafe {
        Val::from_raw(mlirBlockAddArgument(
            block.to_raw(),
            ty.to_raw(),
            location.to_raw(),
        ))
    }
}

/// Keeps the arguments with these numbers, in this order; each that goes must be unused.
pub fn keep_arguments<'c>(block: BlockRef<'c, 'c>, kept: &[usize]) {
    let before = arguments(block);
    for argument in kept {
        let old = before[*argument];
        // SAFETY: only lifetimes change.
        let location = unsafe { Location::from_raw(mlirValueGetLocation(old.to_raw())) };
        replace_all_uses(old, add_argument(block, old.r#type(), location));
    }
    for number in (0..before.len()).rev() {
        // SAFETY: nothing uses the argument any more.
        unsafe { mlirBlockEraseArgument(block.to_raw(), number as u32) }
    }
}

/// Copies an operation with one result, such as a constant, to the start of a block.
pub fn copy_into<'c>(block: BlockRef<'c, 'c>, op: Op<'c>) -> Val<'c> {
    // SAFETY: the clone is new and goes to the block.
    let copy = unsafe { Operation::from_raw(mlirOperationClone(op.to_raw())) };
    let copy = block.insert_operation(0, copy);
    let result = copy.result(0);
    ir::value(result.unwrap_or_else(|error| panic!("{}: {error}", ir::name_of(op))))
}

/// Copies an operation, with all that is inside, before another one.
pub fn copy_before<'c>(op: Op<'c>, before: Op<'c>) -> Op<'c> {
    // SAFETY: the clone is new and goes to the block of an operation of the module.
    unsafe {
        let copy = mlirOperationClone(op.to_raw());
        let block = mlirOperationGetBlock(before.to_raw());
        mlirBlockInsertOwnedOperationBefore(block, before.to_raw(), copy);
        ir::op_from_raw(copy)
    }
}

/// Copies an operation, with all that is inside, to the end of a block.
pub fn append_copy<'c>(block: BlockRef<'c, 'c>, op: Op<'c>) -> Op<'c> {
    // SAFETY: the clone is new and goes to the block.
    let copy = unsafe { Operation::from_raw(mlirOperationClone(op.to_raw())) };
    ir::op(&block.append_operation(copy))
}

/// Changes one operand of an operation.
pub fn set_operand<'c>(op: Op<'c>, number: usize, value: Val<'c>) {
    assert!(number < op.operand_count(), "an operand of that number");
    // SAFETY: the operand is there.
    unsafe { mlirOperationSetOperand(op.to_raw(), number as isize, value.to_raw()) }
}

/// Ends a block without a terminator: it yields these values.
pub fn yield_from<'c>(block: BlockRef<'c, 'c>, location: Location<'c>, values: &[Val<'c>]) {
    end_with(block, location, ops::mdh::YIELD, values);
}

/// Ends a block with an operation of some operands and no results.
pub fn end_with<'c>(
    block: BlockRef<'c, 'c>,
    location: Location<'c>,
    name: &str,
    values: &[Val<'c>],
) {
    let last = OperationBuilder::new(name, location)
        .add_operands(values)
        .build();
    block.append_operation(last.unwrap_or_else(|error| panic!("{name}: {error}")));
}

/// Redirects the uses of a value in an operation, and in all that is inside of it.
pub fn replace_in_op<'c>(op: Op<'c>, old: Val<'c>, new: Val<'c>) {
    for inner in ir::all(op) {
        for i in 0..inner.operand_count() {
            if ir::operand(inner, i) == Some(old) {
                set_operand(inner, i, new);
            }
        }
    }
}

/// A region of one empty block with arguments of these types.
pub fn with_arguments<'c>(types: &[Type<'c>], location: Location<'c>) -> Region<'c> {
    let arguments: Vec<_> = types.iter().map(|ty| (*ty, location)).collect();
    let region = Region::new();
    region.append_block(Block::new(&arguments));
    region
}

/// Takes the operations of scalar code out of a block whose results nothing uses.
pub fn erase_dead(block: BlockRef) {
    let terminator = terminator(block);
    for op in ir::ops_of(block).into_iter().rev() {
        let is_used = op.results().any(|r| ir::has_uses(ir::value(r)));
        if op != terminator && !is_used {
            erase(op);
        }
    }
}

/// Takes out arithmetic, sizes and empty tensors that nothing uses any more, and what only these have used.
pub fn erase_unused(mut values: Vec<Val>) {
    let known = [ops::tensor::DIM, ops::memref::DIM, ops::tensor::EMPTY];
    while let Some(value) = values.pop() {
        // An operation that is gone is asked for nothing.
        if values.contains(&value) {
            continue;
        }
        let Some(op) = ir::defining_op(value).filter(|op| op.result_count() == 1) else {
            continue;
        };
        let name = ir::name_of(op);
        let is_free = name.starts_with("arith.") || known.contains(&name);
        if is_free && !ir::has_uses(value) {
            values.extend(op.operands().map(ir::value));
            erase(op);
        }
    }
}

/// A constant at the start of a block.
pub fn constant<'c>(block: BlockRef<'c, 'c>, value: Attribute<'c>, ty: Type<'c>) -> Val<'c> {
    let location = terminator(block).location();
    let name = Identifier::new(ir::context_of(terminator(block)), "value");
    let op = OperationBuilder::new(ops::arith::CONSTANT, location)
        .add_attributes(&[(name, value)])
        .add_results(&[ty])
        .build();
    let op = block.insert_operation(0, op.unwrap_or_else(|e| panic!("arith.constant: {e}")));
    ir::value(
        op.result(0)
            .unwrap_or_else(|e| panic!("arith.constant: {e}")),
    )
}

/// The values that an operation uses, those used inside of it too.
pub fn used_by<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let ops = ir::all(op).into_iter();
    ops.flat_map(|op| op.operands().map(ir::value).collect::<Vec<_>>())
        .collect()
}

/// Redirects every use of a value.
pub fn replace_all_uses<'c>(old: Val<'c>, new: Val<'c>) {
    // SAFETY: both values are valid and of one type.
    unsafe { mlirValueReplaceAllUsesOfWith(old.to_raw(), new.to_raw()) }
}

/// Takes an operation that nothing uses out of the IR.
pub fn erase(op: Op) {
    // SAFETY: nothing refers to the operation.
    unsafe {
        mlirOperationRemoveFromParent(op.to_raw());
        mlirOperationDestroy(op.to_raw());
    }
}

/// The place before an operation, to find what is put there later.
pub struct Marker<'c>(Option<Op<'c>>);

impl<'c> Marker<'c> {
    /// Marks the place before an operation.
    pub fn before(op: Op<'c>) -> Self {
        Marker(ir::previous(op))
    }

    /// The operations between the place and an operation behind it, in order.
    pub fn since(&self, op: Op<'c>) -> Vec<Op<'c>> {
        let before = std::iter::successors(ir::previous(op), |op| ir::previous(*op));
        let mut made: Vec<Op> = before.take_while(|op| Some(*op) != self.0).collect();
        made.reverse();
        made
    }

    /// Erases these operations, which nothing else uses.
    pub fn erase_since(&self, op: Op<'c>) {
        self.since(op).into_iter().rev().for_each(erase);
    }
}

/// All operations in a region, outer ones before those nested in them.
pub fn operations<'c>(region: &Region<'c>) -> Vec<Op<'c>> {
    // SAFETY: only lifetimes change, see `ir::Op`.
    operations_of(unsafe { RegionRef::from_raw(region.to_raw()) })
}

/// The same of a region that an operation has.
pub fn operations_of<'c>(region: RegionRef<'c, 'c>) -> Vec<Op<'c>> {
    let mut captured = Vec::new();
    collect(region, &mut captured);
    captured
}

fn collect<'c>(region: RegionRef<'c, 'c>, found: &mut Vec<Op<'c>>) {
    let mut block = region.first_block();
    while let Some(current) = block {
        for op in ir::ops_of(current) {
            found.push(op);
            for r in 0..op.region_count() {
                collect(ir::region(op, r), found);
            }
        }
        block = current.next_in_region();
    }
}

/// The values from outside that a region uses, each once.
pub fn captured<'c>(region: &Region<'c>) -> Vec<Val<'c>> {
    let key = |v: Val| v.to_raw().ptr as usize;
    let mut defined: HashSet<usize> = HashSet::new();
    let ops = operations(region);
    defined.extend(arguments(block(region)).into_iter().map(key));
    for op in &ops {
        defined.extend(op.results().map(|r| key(ir::value(r))));
        for r in 0..op.region_count() {
            let mut nested = ir::region(*op, r).first_block();
            while let Some(current) = nested {
                defined.extend(arguments(current).into_iter().map(key));
                nested = current.next_in_region();
            }
        }
    }
    let mut operands: Vec<Val> = Vec::new();
    for value in ops.iter().flat_map(|op| op.operands().map(ir::value)) {
        if defined.insert(key(value)) {
            operands.push(value);
        }
    }
    operands
}

/// Redirects the uses of a value from outside, inside a region only.
pub fn replace_inside<'c>(region: &Region<'c>, old: Val<'c>, new: Val<'c>) {
    for op in operations(region) {
        for i in 0..op.operand_count() {
            if ir::operand(op, i) == Some(old) {
                set_operand(op, i, new);
            }
        }
    }
}

/// An operation's attributes, inherent ones too.
pub fn attributes<'c>(op: Op<'c>) -> Vec<(&'c str, Attribute<'c>)> {
    // SAFETY: the operation is valid, and the numbers are those of its attributes.
    unsafe {
        (0..mlirOperationGetNumAttributes(op.to_raw()))
            .map(|i| {
                let named = mlirOperationGetAttribute(op.to_raw(), i);
                let name = ir::string(mlirIdentifierStr(named.name));
                (name, Attribute::from_raw(named.attribute))
            })
            .collect()
    }
}

/// Copies those discardable attributes of an operation that also hold for its replacement.
pub fn copy_attributes(from: Op, to: Op) {
    // SAFETY: both operations are valid, and the numbers are those of attributes.
    unsafe {
        for i in 0..mlirOperationGetNumDiscardableAttributes(from.to_raw()) {
            let named = mlirOperationGetDiscardableAttribute(from.to_raw(), i);
            let name = mlirIdentifierStr(named.name);
            if ir::string(name) == marks::FITS.name {
                continue;
            }
            mlirOperationSetDiscardableAttributeByName(to.to_raw(), name, named.attribute);
        }
    }
}

/// Returns whether a value is defined in one of an operation's regions.
pub fn is_defined_in(value: Val, op: Op) -> bool {
    let mut around = match ir::defining_op(value) {
        Some(definition) => definition.parent_operation().map(|p| ir::op(&p)),
        None => ir::block_argument(value).map(|argument| argument.of),
    };
    while let Some(current) = around {
        if current == op {
            return true;
        }
        around = current.parent_operation().map(|p| ir::op(&p));
    }
    false
}
