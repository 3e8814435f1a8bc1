//! Types and attributes of integers in the place of those of floats.

use mdh_algebra::exact;
use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::code::arguments;
use mdh_dialect::function::constants;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::{CombinePart, Fold, Operators, combine_part};
use mdh_dialect::types;
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, AttributeLike, BlockLike, RegionLike, Type, TypeLike, ValueLike};
use mlir_sys::*;

use crate::support::region;

/// Returns whether an operation has operands, results, block arguments or attributes of floats.
pub fn has_floats(op: Op) -> bool {
    let context = ir::context_of(op);
    let is_float = |ty: Type| retyped(context, ty) != ty;
    op.operands().any(|value| is_float(value.r#type()))
        || values(op).iter().any(|value| is_float(value.r#type()))
        || region::attributes(op)
            .iter()
            .any(|(_, own)| mapped(context, *own) != *own)
}

/// Gives results, block arguments and attributes of an operation types of integers.
pub fn retype(op: Op) {
    let context = ir::context_of(op);
    for value in values(op) {
        let ty = retyped(context, value.r#type());
        // SAFETY: the value is valid, and all uses of it become ones of integers, too.
        unsafe { mlirValueSetType(value.to_raw(), ty.to_raw()) }
    }
    for (name, attribute) in region::attributes(op) {
        let new = mapped(context, attribute);
        if new != attribute {
            ir::set_attribute(op, name, new);
        }
    }
}

/// The results of an operation and the arguments of its blocks.
fn values<'c>(op: Op<'c>) -> Vec<ir::Val<'c>> {
    let mut values: Vec<ir::Val> = op.results().map(ir::value).collect();
    for number in 0..op.region_count() {
        let first = ir::region(op, number).first_block();
        let blocks = std::iter::successors(first, |block| block.next_in_region());
        values.extend(blocks.flat_map(arguments));
    }
    values
}

/// The type with integers as elements.
pub fn retyped<'c>(context: &'c Context, ty: Type<'c>) -> Type<'c> {
    if let Some(scalar) = types::scalar_type(ty) {
        return match scalar.is_float() {
            true => types::mlir_type(context, exact::integer(scalar)),
            false => ty,
        };
    }
    let raw = ty.to_raw();
    // SAFETY: the type is valid, and its kind is known before more is asked of it.
    unsafe {
        if mlirTypeIsAFunction(raw) {
            let types_of =
                |count: isize, nth: unsafe extern "C" fn(MlirType, isize) -> MlirType| {
                    let listed = (0..count).map(|n| Type::from_raw(nth(raw, n)));
                    listed.map(|ty| retyped(context, ty)).collect::<Vec<Type>>()
                };
            let inputs = types_of(mlirFunctionTypeGetNumInputs(raw), mlirFunctionTypeGetInput);
            let results = types_of(
                mlirFunctionTypeGetNumResults(raw),
                mlirFunctionTypeGetResult,
            );
            return FunctionType::new(context, &inputs, &results).into();
        }
        if !mlirTypeIsAShaped(raw) {
            return ty;
        }
        let element = Type::from_raw(mlirShapedTypeGetElementType(raw));
        let new = retyped(context, element);
        match new == element {
            true => ty,
            false => of_elements(ty, new),
        }
    }
}

/// A vector, tensor or memref of other elements.
fn of_elements<'c>(ty: Type<'c>, element: Type<'c>) -> Type<'c> {
    let (raw, new, sizes) = (ty.to_raw(), element.to_raw(), types::sizes(ty));
    let (rank, shape) = (sizes.len() as isize, sizes.as_ptr());
    // SAFETY: the type's kind is known before more is asked of it, and there are as many sizes as its rank.
    unsafe {
        if mlirTypeIsAMemRef(raw) {
            return types::memref_of(element, ty);
        }
        let made = if mlirTypeIsARankedTensor(raw) {
            mlirRankedTensorTypeGet(rank, shape, new, mlirRankedTensorTypeGetEncoding(raw))
        } else if mlirTypeIsAVector(raw) {
            let scalable = (0..rank).map(|n| mlirVectorTypeIsDimScalable(raw, n));
            let scalable: Vec<bool> = scalable.collect();
            mlirVectorTypeGetScalable(rank, shape, scalable.as_ptr(), new)
        } else if mlirTypeIsAUnrankedMemRef(raw) {
            mlirUnrankedMemRefTypeGet(new, mlirUnrankedMemrefGetMemorySpace(raw))
        } else if mlirTypeIsAUnrankedTensor(raw) {
            mlirUnrankedTensorTypeGet(new)
        } else {
            raw
        };
        Type::from_raw(made)
    }
}

/// The attribute with integers in the place of floats.
fn mapped<'c>(context: &'c Context, attribute: Attribute<'c>) -> Attribute<'c> {
    let raw = attribute.to_raw();
    if attribute.is_array() {
        let elements = ir::elements(attribute);
        let new: Vec<Attribute> = elements.iter().map(|e| mapped(context, *e)).collect();
        return match elements == new {
            true => attribute,
            false => ArrayAttribute::new(context, &new).into(),
        };
    }
    if let Some(scalar) = types::scalar(attribute).filter(|scalar| scalar.ty.is_float()) {
        return types::attribute(context, exact::number(scalar));
    }
    // SAFETY: the attribute is valid, and its kind is known before more is asked of it.
    unsafe {
        if mlirAttributeIsAType(raw) {
            let ty = Type::from_raw(mlirTypeAttrGetValue(raw));
            let new = retyped(context, ty);
            return match new == ty {
                true => attribute,
                false => TypeAttribute::new(new).into(),
            };
        }
    }
    let dense = dense(context, attribute);
    dense
        .or_else(|| combine(context, attribute))
        .unwrap_or(attribute)
}

/// The type of a dense constant's elements.
fn element_type(attribute: Attribute) -> Option<ScalarType> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is one of elements, whose type is shaped.
    unsafe {
        let is_dense =
            mlirAttributeIsADenseElements(raw) || mlirAttributeIsADenseResourceElements(raw);
        let element = || mlirShapedTypeGetElementType(mlirAttributeGetType(raw));
        is_dense
            .then(element)
            .and_then(|element| types::scalar_type(Type::from_raw(element)))
    }
}

/// The elements of a dense constant; one if all are the same.
pub fn elements(attribute: Attribute) -> Option<Vec<Scalar>> {
    constants::elements(attribute, element_type(attribute)?)
}

/// The elements of a constant as integers, where they are floats.
fn dense<'c>(context: &'c Context, attribute: Attribute<'c>) -> Option<Attribute<'c>> {
    let scalar = element_type(attribute).filter(|scalar| scalar.is_float())?;
    let elements = elements(attribute)?;
    let width = scalar.byte_width();
    let bytes = |number: Scalar| exact::number(number).to_bytes().into_iter().take(width);
    // One element stands for all where they are the same.
    let bytes: Vec<u8> = elements.into_iter().flat_map(bytes).collect();
    // SAFETY: the bytes are those of all elements of the type, or of one for all of them.
    unsafe {
        let ty = Type::from_raw(mlirAttributeGetType(attribute.to_raw()));
        let ty = retyped(context, ty).to_raw();
        let made = mlirDenseElementsAttrRawBufferGet(ty, bytes.len(), bytes.as_ptr().cast());
        Some(Attribute::from_raw(made))
    }
}

/// The combine operator on integers of a built-in one on floats.
fn combine<'c>(context: &'c Context, attribute: Attribute<'c>) -> Option<Attribute<'c>> {
    let (class, _) = ir::class_of(attribute);
    if ![ir::PW, ir::PS].contains(&class) {
        return None;
    }
    let Ok(CombinePart::Fold(fold, Operators::Builtin(names))) = combine_part(attribute) else {
        return None;
    };
    let of_integers = |name: &String| {
        let builtin = Builtin::parse(name).filter(|builtin| builtin.is_float());
        builtin
            .and_then(Builtin::counterpart)
            .map_or_else(|| name.clone(), |builtin| builtin.name().to_owned())
    };
    let new: Vec<String> = names.iter().map(of_integers).collect();
    let class = match fold {
        Fold::Pw => "pw",
        Fold::Ps => "ps",
    };
    (new != names).then(|| {
        let text = format!("#mdh.{class}<{}>", new.join(", "));
        Attribute::parse(context, &text).unwrap_or_else(|| panic!("{text} is a combine operator"))
    })
}
