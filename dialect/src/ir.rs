//! Shorthands over melior: operations, values and attributes that live as long as the context.

use crate::ops;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{
    Attribute, AttributeLike, BlockLike, BlockRef, Location, RegionLike, RegionRef, Type, TypeLike,
    Value, ValueLike,
};
use melior::{Context, ContextRef};
use mlir_sys::*;

use crate::ffi;

mod attributes;

pub use attributes::{
    CC, PS, PW, array, axis_groups, class_of, dense_integers, dictionary, elements, integer,
    integers, is_cc, is_ps, is_pw, is_unit, pairs, strings, symbol, text,
};

/// An operation in the IR.
///
/// One lifetime stands for context and parent: rewrites create and erase operations while they
/// hold others, which MLIR's ownership allows and a borrow could not express.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A value in the IR.
pub type Val<'c> = Value<'c, 'c>;

/// Mistakes that a run of a pass or a verifier found, in whole sentences.
pub type Errors = Vec<String>;

pub use mdh_algebra::amounts::counted as count;

/// The operation behind a raw handle.
///
/// # Safety
///
/// The operation must live as long as it is used.
pub unsafe fn op_from_raw<'c>(raw: MlirOperation) -> Op<'c> {
    // SAFETY: by contract.
    unsafe { OperationRef::from_raw(raw) }
}

/// The same value under the context's lifetime.
pub fn value<'c>(value: impl ValueLike<'c>) -> Val<'c> {
    // SAFETY: the handle is valid; only the lifetime of its parent is widened, see `Op`.
    unsafe { Value::from_raw(value.to_raw()) }
}

/// The same operation under the context's lifetime.
pub fn op<'c>(op: &impl OperationLike<'c, 'c>) -> Op<'c> {
    // SAFETY: as for `value`.
    unsafe { OperationRef::from_raw(op.to_raw()) }
}

/// The operation's name, such as `mdh.compute`.
pub fn name_of<'c>(op: Op<'c>) -> &'c str {
    // SAFETY: identifiers live as long as the context.
    unsafe { string(mlirIdentifierStr(mlirOperationGetName(op.to_raw()))) }
}

/// The text of a string of MLIR's.
///
/// # Safety
///
/// The string must be valid for the lifetime that is asked for.
pub unsafe fn string<'a>(raw: MlirStringRef) -> &'a str {
    // SAFETY: by contract.
    std::str::from_utf8(unsafe { bytes(raw) }).unwrap_or("<not UTF-8>")
}

/// The bytes of a string of MLIR's.
///
/// # Safety
///
/// As for [`string`].
pub unsafe fn bytes<'a>(raw: MlirStringRef) -> &'a [u8] {
    if raw.length == 0 {
        return &[];
    }
    // SAFETY: by contract; the length belongs to the pointer.
    unsafe { std::slice::from_raw_parts(raw.data.cast::<u8>(), raw.length) }
}

/// An operand of an operation, if it has one of that number. (melior's own accessor prints the whole
/// operation where it has none, after it has verified the function around it.)
pub fn operand<'c>(op: Op<'c>, number: usize) -> Option<Val<'c>> {
    // SAFETY: the operation is valid, and the operand is there.
    (number < op.operand_count())
        .then(|| unsafe { Value::from_raw(mlirOperationGetOperand(op.to_raw(), number as isize)) })
}

/// A result of an operation, if it has one of that number.
pub fn result<'c>(op: Op<'c>, number: usize) -> Option<Val<'c>> {
    // SAFETY: the operation is valid, and the result is there.
    (number < op.result_count())
        .then(|| unsafe { Value::from_raw(mlirOperationGetResult(op.to_raw(), number as isize)) })
}

/// The operation that defines a value, if it is a result.
pub fn defining_op<'c>(value: Val<'c>) -> Option<Op<'c>> {
    // SAFETY: the value is valid.
    unsafe {
        if mlirValueIsAOpResult(value.to_raw()) {
            Some(OperationRef::from_raw(mlirOpResultGetOwner(value.to_raw())))
        } else {
            None
        }
    }
}

/// The operation around another one.
pub fn parent<'c>(op: Op<'c>) -> Option<Op<'c>> {
    // SAFETY: the operation is valid; a null parent is none.
    unsafe {
        let raw = mlirOperationGetParentOperation(op.to_raw());
        (!raw.ptr.is_null()).then(|| op_from_raw(raw))
    }
}

/// An operation, and those around it, from the inside out.
pub fn ancestors<'c>(op: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    std::iter::successors(Some(op), |op| parent(*op))
}

/// A value that is an argument of a block.
pub struct BlockArgument<'c> {
    /// Its number in the block.
    pub number: usize,
    /// The operation that the block is in.
    pub of: Op<'c>,
    /// The number of the block's region in that operation.
    pub region: usize,
}

/// The operation that a block is in, if it is in one.
pub fn around<'c>(block: BlockRef<'c, '_>) -> Option<Op<'c>> {
    // SAFETY: the block is valid; a null parent is none.
    unsafe {
        let raw = mlirBlockGetParentOperation(block.to_raw());
        (!raw.ptr.is_null()).then(|| op_from_raw(raw))
    }
}

/// Returns the block argument that a value is, if it is one.
pub fn block_argument<'c>(value: Val<'c>) -> Option<BlockArgument<'c>> {
    // SAFETY: the value is valid, and a block argument where its block is asked for.
    unsafe {
        if !mlirValueIsABlockArgument(value.to_raw()) {
            return None;
        }
        let block = mlirBlockArgumentGetOwner(value.to_raw());
        let parent = mlirBlockGetParentOperation(block);
        if parent.ptr.is_null() {
            return None;
        }
        let (own, count) = (
            mlirBlockGetParentRegion(block),
            mlirOperationGetNumRegions(parent),
        );
        let mut regions = 0..count;
        let region = regions.find(|i| mlirRegionEqual(mlirOperationGetRegion(parent, *i), own))?;
        Some(BlockArgument {
            number: usize::try_from(mlirBlockArgumentGetArgNumber(value.to_raw())).ok()?,
            of: OperationRef::from_raw(parent),
            region: usize::try_from(region).ok()?,
        })
    }
}

/// Returns the number of the operation's result that a value is, if it is one.
pub fn result_number(value: Val) -> Option<usize> {
    // SAFETY: the value is valid, and a result where its number is asked for.
    unsafe {
        mlirValueIsAOpResult(value.to_raw())
            .then(|| mlirOpResultGetResultNumber(value.to_raw()))
            .and_then(|number| usize::try_from(number).ok())
    }
}

/// Returns whether the value has uses.
pub fn has_uses(value: Val) -> bool {
    // SAFETY: the value is valid.
    unsafe { !mlirOpOperandIsNull(mlirValueGetFirstUse(value.to_raw())) }
}

/// The operations that use a value, once for each use.
pub fn users<'c>(value: Val<'c>) -> Vec<Op<'c>> {
    let mut users = Vec::new();
    // SAFETY: the value and its uses are valid.
    unsafe {
        let mut operand = mlirValueGetFirstUse(value.to_raw());
        while !mlirOpOperandIsNull(operand) {
            users.push(OperationRef::from_raw(mlirOpOperandGetOwner(operand)));
            operand = mlirOpOperandGetNextUse(operand);
        }
    }
    users
}

/// The only operation that uses a value, if it uses it once.
pub fn only_user<'c>(value: Val<'c>) -> Option<Op<'c>> {
    // SAFETY: the value and its uses are valid.
    unsafe {
        let first = mlirValueGetFirstUse(value.to_raw());
        if mlirOpOperandIsNull(first) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(first)) {
            return None;
        }
        Some(OperationRef::from_raw(mlirOpOperandGetOwner(first)))
    }
}

/// The last operation of a block, if it has any.
pub fn last_of<'c>(block: BlockRef<'_, '_>) -> Option<Op<'c>> {
    // SAFETY: the block is valid, only lifetimes change; what is null is none.
    unsafe {
        let terminator = mlirBlockGetTerminator(block.to_raw());
        match terminator.ptr.is_null() {
            false => Some(OperationRef::from_raw(terminator)),
            true => ops_of(BlockRef::from_raw(block.to_raw())).last().copied(),
        }
    }
}

/// The operations of a block in order.
pub fn ops_of<'c>(block: BlockRef<'c, 'c>) -> Vec<Op<'c>> {
    let mut operations = Vec::new();
    // SAFETY: the block and its operations are valid.
    unsafe {
        let mut raw = mlirBlockGetFirstOperation(block.to_raw());
        while !raw.ptr.is_null() {
            operations.push(OperationRef::from_raw(raw));
            raw = mlirOperationGetNextInBlock(raw);
        }
    }
    operations
}

/// The operation before another one in its block.
pub fn previous<'c>(op: Op<'c>) -> Option<Op<'c>> {
    let block = op.block()?;
    // SAFETY: only lifetimes change, see `Op`.
    let operations = ops_of(unsafe { BlockRef::from_raw(block.to_raw()) });
    let place = operations.iter().position(|other| *other == op)?;
    place.checked_sub(1).map(|place| operations[place])
}

/// The region with a number.
pub fn region<'c>(op: Op<'c>, index: usize) -> RegionRef<'c, 'c> {
    // SAFETY: callers name a region that the operation's definition has.
    unsafe { RegionRef::from_raw(mlirOperationGetRegion(op.to_raw(), index as isize)) }
}

/// The operator's region of an `mdh.compute`, if it has one.
pub fn combiner<'c>(op: Op<'c>) -> Option<RegionRef<'c, 'c>> {
    (op.region_count() > 1).then(|| region(op, 1))
}

/// The only block of a region, if it has exactly one.
pub fn only_block<'c>(region: RegionRef<'c, 'c>) -> Option<BlockRef<'c, 'c>> {
    let first = region.first_block()?;
    first.next_in_region().is_none().then_some(first)
}

/// Returns whether a region has no block, as that of a function which is declared only.
pub fn is_empty(region: RegionRef) -> bool {
    region.first_block().is_none()
}

/// All operations below `root` (itself included) with one of the names, in order.
pub fn find_all<'c>(root: Op<'c>, names: &[&str]) -> Vec<Op<'c>> {
    let mut operations = all(root);
    operations.retain(|op| names.contains(&name_of(*op)));
    operations
}

/// All operations below `root` (itself included), in order.
pub fn all<'c>(root: Op<'c>) -> Vec<Op<'c>> {
    let mut operations = Vec::new();
    collect(root, &mut operations);
    operations
}

fn collect<'c>(op: Op<'c>, found: &mut Vec<Op<'c>>) {
    found.push(op);
    for index in 0..op.region_count() {
        let mut block = region(op, index).first_block();
        while let Some(current) = block {
            for nested in ops_of(current) {
                collect(nested, found);
            }
            block = current.next_in_region();
        }
    }
}

/// The names of all symbols that an operation's attributes refer to.
pub fn symbols_named_by<'c>(op: Op<'c>) -> Vec<&'c str> {
    let mut symbols = Vec::new();
    // SAFETY: the operation is valid, and the numbers are those of its attributes.
    unsafe {
        for i in 0..mlirOperationGetNumAttributes(op.to_raw()) {
            let attribute = mlirOperationGetAttribute(op.to_raw(), i).attribute;
            collect_symbols(Attribute::from_raw(attribute), &mut symbols);
        }
    }
    symbols
}

fn collect_symbols<'c>(attribute: Attribute<'c>, found: &mut Vec<&'c str>) {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked before the name is read, which lives as long as the context.
    unsafe {
        if mlirAttributeIsASymbolRef(raw) {
            found.push(string(mlirSymbolRefAttrGetRootReference(raw)));
            found.push(string(mlirSymbolRefAttrGetLeafReference(raw)));
        }
    }
    for part in class_of(attribute).1 {
        collect_symbols(part, found);
    }
}

/// An attribute of an operation, inherent or discardable.
pub fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    // SAFETY: the operation is valid; a missing attribute is null.
    unsafe {
        Attribute::from_option_raw(mlirOperationGetAttributeByName(
            op.to_raw(),
            ffi::string_ref(name),
        ))
    }
}

/// Gives an operation an attribute.
pub fn set_attribute(op: Op, name: &str, value: Attribute) {
    // SAFETY: the operation is valid, and the attribute belongs to its context.
    unsafe { mlirOperationSetAttributeByName(op.to_raw(), ffi::string_ref(name), value.to_raw()) }
}

/// Takes an attribute away from an operation, if it has it.
pub fn remove_attribute(op: Op, name: &str) {
    // SAFETY: the operation is valid.
    unsafe { mlirOperationRemoveAttributeByName(op.to_raw(), ffi::string_ref(name)) };
}

extern "C" fn push<T>(data: *mut std::ffi::c_void, item: T) {
    // SAFETY: `data` is the vector that the caller below passed.
    unsafe { &mut *data.cast::<Vec<T>>() }.push(item);
}

/// The number of the axis that an attribute of `scf.forall` maps parts to; `None` if it is no mapping.
pub fn mapping_id(attribute: Attribute) -> Option<usize> {
    // SAFETY: the attribute is valid.
    usize::try_from(unsafe { ffi::mdhMappingId(attribute.to_raw()) }).ok()
}

/// The sizes and component types of an `!mdh.mda`; `None` if the type is another one.
pub fn mda<'c>(ty: Type<'c>) -> Option<(Vec<i64>, Vec<Type<'c>>)> {
    let (mut sizes, mut types): (Vec<i64>, Vec<MlirType>) = (Vec::new(), Vec::new());
    // SAFETY: the type is valid, and an mda where its shape is asked for.
    unsafe {
        if string(ffi::mdhTypeName(ty.to_raw())) != "mdh.mda" {
            return None;
        }
        ffi::mdhMdaShape(ty.to_raw(), (&raw mut sizes).cast(), push);
        ffi::mdhTypeParameters(ty.to_raw(), (&raw mut types).cast(), push);
        Some((
            sizes,
            types.into_iter().map(|t| Type::from_raw(t)).collect(),
        ))
    }
}

/// Emits an error at an operation, with its name in front as MLIR does.
pub fn error_at(op: Op, message: &str) {
    emit(
        op.location(),
        &format!("'{}' op {message}", name_of(op)),
        mlirEmitError,
    );
}

/// Emits an error at a place in the program.
pub fn error_in(location: Location, message: &str) {
    emit(location, message, mlirEmitError);
}

/// Emits a warning at a place in the program.
pub fn warning_in(location: Location, message: &str) {
    emit(location, message, ffi::mdhEmitWarning);
}

/// Emits a warning at an operation.
pub fn warning_at(op: Op, message: &str) {
    emit(op.location(), message, ffi::mdhEmitWarning);
}

/// Emits a remark at a location.
pub fn remark_in(location: Location, message: &str) {
    emit(location, message, ffi::mdhEmitRemark);
}

/// Emits a remark at an operation.
pub fn remark_at(op: Op, message: &str) {
    emit(op.location(), message, ffi::mdhEmitRemark);
}

fn emit(
    location: Location,
    message: &str,
    with: unsafe extern "C" fn(MlirLocation, *const std::ffi::c_char),
) {
    let text = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    // SAFETY: the location is valid and the text ends in a null byte.
    unsafe { with(location.to_raw(), text.as_ptr()) }
}

/// The operation of a symbol in the nearest enclosing symbol table that has it.
pub fn lookup_symbol<'c>(from: Op<'c>, name: &str) -> Option<Op<'c>> {
    // SAFETY: operations are valid; a table lives no longer than the look-up.
    unsafe {
        let mut current = mlirOperationGetParentOperation(from.to_raw());
        while !current.ptr.is_null() {
            let table = mlirSymbolTableCreate(current);
            if !table.ptr.is_null() {
                let symbol = mlirSymbolTableLookup(table, ffi::string_ref(name));
                mlirSymbolTableDestroy(table);
                if !symbol.ptr.is_null() {
                    return Some(OperationRef::from_raw(symbol));
                }
            }
            current = mlirOperationGetParentOperation(current);
        }
        None
    }
}

/// Returns whether an operation is a call of a function that does nothing.
pub fn calls_nothing(op: Op) -> bool {
    let callee = attribute(op, "callee").and_then(symbol);
    let function = callee.and_then(|name| lookup_symbol(op, name));
    let body = function.and_then(|function| only_block(region(function, 0)));
    name_of(op) == ops::func::CALL
        && op.result_count() == 0
        && body.is_some_and(|b| ops_of(b).len() == 1)
}

/// The context of an operation or type, by its handle.
pub fn context<'c>(raw: MlirContext) -> &'c Context {
    // A `Context` is a handle; the reference needs one that outlives every call. There is one for
    // each address (as a number, so that the map can be shared), which says the same for any
    // context that is ever created there.
    static HANDLES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = *handles.entry(raw.ptr as usize).or_insert_with(|| {
        // SAFETY: the handle is only used under the lifetime that is asked for.
        std::ptr::from_mut(Box::leak(Box::new(unsafe { ContextRef::from_raw(raw) }))) as usize
    });
    // SAFETY: the number is the address of a leaked handle.
    unsafe { (*(handle as *const ContextRef<'c>)).to_ref() }
}

/// The context that an operation belongs to.
pub fn context_of<'c>(op: Op<'c>) -> &'c Context {
    // SAFETY: the operation is valid.
    context(unsafe { mlirOperationGetContext(op.to_raw()) })
}

/// The context that a value's type belongs to.
pub fn context_of_value<'c>(value: Val<'c>) -> &'c Context {
    // SAFETY: the value is valid.
    context(unsafe { mlirTypeGetContext(mlirValueGetType(value.to_raw())) })
}
