//! Memory spaces: the attribute `#mdh.memory<"shared", block>`, which says in a memref's type what
//! region of the machine the memory stays in, and whose it is.
//!
//! A type goes wherever a value goes: what views memory, takes it or makes its sizes known keeps both.
//! They stand from the loops of a schedule on (`mdh-tile`), and are gone before code accesses memory
//! (`mdh-erase-memory-spaces`): to a processor all memory is one.

use melior::Context;
use melior::ir::{Attribute, AttributeLike, Type, TypeLike};
use mlir_sys::{
    MlirAttribute, mlirMemRefTypeGet, mlirMemRefTypeGetLayout, mlirMemRefTypeGetMemorySpace,
    mlirShapedTypeGetElementType, mlirTypeGetContext, mlirTypeIsAMemRef,
};

use crate::{ir, types};

/// The attribute's class.
const CLASS: &str = "mdh.memory";

/// A region of the machine, and whose part of it some memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space<'t> {
    /// The region that the memory is meant to stay in.
    pub region: &'t str,
    /// The layer of cores each of which has it alone, blocks or threads of a GPU; `None` where memory
    /// is everybody's.
    pub owner: Option<&'t str>,
}

impl<'t> Space<'t> {
    /// A region of which everybody has all.
    pub fn region(region: &'t str) -> Space<'t> {
        let owner = None;
        Space { region, owner }
    }

    /// That of a memref; `None` where a type has none of the dialect's.
    pub fn new(ty: Type<'t>) -> Option<Space<'t>> {
        let (class, parameters) = ir::class_of(attribute_of(ty)?);
        let mut parameters = parameters.into_iter().map(ir::text);
        let region = parameters.next().flatten().filter(|_| class == CLASS)?;
        let owner = parameters.next().flatten();
        Some(Space { region, owner })
    }

    fn attribute(self, context: &Context) -> Attribute<'_> {
        let owner = self
            .owner
            .map_or(String::new(), |owner| format!(", {owner}"));
        let text = format!("#{CLASS}<{:?}{owner}>", self.region);
        Attribute::parse(context, &text).unwrap_or_else(|| panic!("{text} is a memory space"))
    }
}

/// The attribute that is the memory space of a memref; `None` of another type.
fn attribute_of(ty: Type) -> Option<Attribute> {
    // SAFETY: the type is valid, and a memref where its memory space is asked for, which is valid unless
    // it is null.
    unsafe {
        if !mlirTypeIsAMemRef(ty.to_raw()) {
            return None;
        }
        let space = mlirMemRefTypeGetMemorySpace(ty.to_raw());
        (!space.ptr.is_null()).then(|| Attribute::from_raw(space))
    }
}

/// The type of a memref in another memory space; any other type itself.
pub fn within<'c>(ty: Type<'c>, space: Option<Space>) -> Type<'c> {
    let (raw, sizes) = (ty.to_raw(), types::sizes(ty));
    // SAFETY: the type is valid, and a memref where more is asked of it; that in another space is
    // valid, too.
    unsafe {
        if !mlirTypeIsAMemRef(raw) {
            return ty;
        }
        let context = ir::context(mlirTypeGetContext(raw));
        let none = MlirAttribute {
            ptr: std::ptr::null_mut(),
        };
        let space = space.map_or(none, |space| space.attribute(context).to_raw());
        Type::from_raw(mlirMemRefTypeGet(
            mlirShapedTypeGetElementType(raw),
            sizes.len() as isize,
            sizes.as_ptr(),
            mlirMemRefTypeGetLayout(raw),
            space,
        ))
    }
}
