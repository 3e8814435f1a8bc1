//! Layouts: the attribute `#mdh.layout<...>`, which holds the text of a [`Layout`], the operations
//! `mdh.layout.apply` and `mdh.layout.inv`, which ask one, and memory in which elements lie as a
//! layout has them.
//!
//! MLIR's own layouts of memrefs are affine maps, which a swizzle is none of. So a layout stands
//! where a memory space does: `memref<8x8xf32, #mdh.layout<GenP([8,8],xor)>>` is a view
//! (`mdh.layout.view`) of `memref<64xf32>`, and what knows nothing of layouts refuses it as memory
//! that it has no access to. A layout is that of the innermost axes, as many as it has dimensions;
//! the axes before count tiles of it.

use crate::ops;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mdh_algebra::index::Name;
use mdh_algebra::layout::runs::Run;
use mdh_algebra::layout::{Answer, Layout, bounded};
pub use mdh_algebra::program::Asked;
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, AttributeLike, Type, TypeLike, ValueLike};
use mlir_sys::{
    mlirAffineMapIsIdentity, mlirMemRefTypeContiguousGet, mlirMemRefTypeGetAffineMap,
    mlirMemRefTypeGetMemorySpace, mlirTypeIsAMemRef,
};

use crate::ir::{self, Errors, Op, Val, count};
use crate::types;

/// The operations.
pub const OPERATIONS: [&str; 2] = [ops::mdh::LAYOUT_APPLY, ops::mdh::LAYOUT_INV];

/// The operation that makes a view of memory.
pub const VIEW: &str = ops::mdh::LAYOUT_VIEW;

/// The attribute's class.
const CLASS: &str = "mdh.layout";

/// An operation's question to a layout.
pub struct Question<'c> {
    /// The layout.
    pub layout: Arc<Layout>,
    /// The question.
    pub asked: Asked,
    /// The components of the index, or the offset.
    pub operands: Vec<Val<'c>>,
    /// The layout's symbols.
    pub sizes: Vec<(Name, Val<'c>)>,
}

/// Reads an operation's question.
pub fn read<'c>(op: Op<'c>) -> Result<Question<'c>, Errors> {
    let asked = match ir::name_of(op) {
        ops::mdh::LAYOUT_INV => Asked::Inv,
        _ => Asked::Apply,
    };
    let Some(attribute) = ir::attribute(op, "layout") else {
        return Err(vec![format!("has no layout: expected #{CLASS}<...>")]);
    };
    let Some(layout) = of_attribute(attribute) else {
        return Err(vec![format!(
            "has {attribute} as its layout: expected #{CLASS}<...>"
        )]);
    };
    let mut operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
    let symbols = ir::strings(op, "symbols");
    if operands.len() < symbols.len() {
        return Err(vec!["has fewer operands than symbols".into()]);
    }
    let sizes = operands.split_off(operands.len() - symbols.len());
    let names = symbols.iter().map(|s| Name::from(s.as_str()));
    Ok(Question {
        layout,
        asked,
        operands,
        sizes: names.zip(sizes).collect(),
    })
}

/// The layout that an attribute holds.
fn of_attribute(attribute: Attribute) -> Option<Arc<Layout>> {
    let (class, parameters) = ir::class_of(attribute);
    let text = parameters.first().and_then(|text| ir::text(*text));
    let text = text.filter(|_| class == CLASS)?;
    known(bare(text).0).ok()
}

/// The layout in which a memref's elements lie, if its type has one.
pub fn of_type(ty: Type) -> Option<Arc<Layout>> {
    // SAFETY: the type is valid, and a memref where its memory space is asked for.
    let space = unsafe {
        if !mlirTypeIsAMemRef(ty.to_raw()) {
            return None;
        }
        mlirMemRefTypeGetMemorySpace(ty.to_raw())
    };
    if space.ptr.is_null() {
        return None;
    }
    // SAFETY: the attribute is valid.
    of_attribute(unsafe { Attribute::from_raw(space) })
}

/// The type of a view of tiles in a layout of numbers; `outer` are the numbers of tiles along the
/// outer axes.
pub fn view_type<'c>(outer: &[i64], layout: &Layout, element: Type<'c>) -> Option<Type<'c>> {
    let sizes: Option<Vec<i64>> = layout.sizes().iter().map(|n| n.as_constant()).collect();
    let shape: Vec<i64> = outer.iter().copied().chain(sizes?).collect();
    // SAFETY: the element type lives in a context, which outlives the attribute.
    let context = ir::context(unsafe { mlir_sys::mlirTypeGetContext(element.to_raw()) });
    let space = Attribute::parse(context, &attribute_text(layout))?;
    let (rank, sizes) = (shape.len() as isize, shape.as_ptr());
    // SAFETY: the element type is valid, and so are as many sizes as the rank says.
    Some(unsafe {
        Type::from_raw(mlirMemRefTypeContiguousGet(
            element.to_raw(),
            rank,
            sizes,
            space.to_raw(),
        ))
    })
}

/// Returns whether lanes along an axis of memory in a layout are one after the other where the memory itself
/// is: the indices of a run are proved to be. The outer axes have no runs.
pub fn is_run(ty: Type, axis: usize, run: Run) -> bool {
    type Asked = (Arc<Layout>, usize, Run);
    static KNOWN: OnceLock<Mutex<HashMap<Asked, bool>>> = OnceLock::new();
    let cache = KNOWN.get_or_init(Mutex::default);
    let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    let rank = types::buffer_type(ty).map_or(0, |ty| ty.shape.len());
    let Some(layout) = of_type(ty) else {
        return false;
    };
    let outer = rank.saturating_sub(layout.sizes().len());
    let Some(axis) = axis.checked_sub(outer) else {
        return false;
    };
    let asked = (layout, axis, run);
    if let Some(known) = lock().get(&asked) {
        return *known;
    }
    let answer = asked.0.is_run(axis, run) == Answer::Proved;
    lock().insert(asked, answer);
    answer
}

/// The operation that gives the offset of an index of whole dimensions in a layout of numbers.
pub fn apply<'c>(context: &'c Context, layout: &Layout) -> Option<(&'static str, Attributes<'c>)> {
    let text = attribute_text(&layout.of_whole());
    let segments = format!("array<i32: {}, 0>", layout.sizes().len());
    let parse = |text: &str| Attribute::parse(context, text);
    let attributes = [
        ("layout", parse(&text)?),
        ("operandSegmentSizes", parse(&segments)?),
        ("symbols", parse("[]")?),
    ];
    Some((OPERATIONS[0], attributes))
}

/// Name and attributes of the operation that asks for an offset.
type Attributes<'c> = [(&'static str, Attribute<'c>); 3];

/// Verifies a view.
pub(crate) fn view_errors(op: Op) -> Result<(), Errors> {
    let ends = (op.operand(0), op.result(0));
    let (Ok(memory), Ok(view)) = ends else {
        return Err(vec!["lacks its memory or its result".into()]);
    };
    let (memory, view) = (ir::value(memory).r#type(), ir::value(view).r#type());
    let Some(layout) = of_type(view) else {
        return Err(vec![format!(
            "makes {view}: expected a layout as its memory space, memref<.., #{CLASS}<..>>"
        )]);
    };
    let refuse = |expected: String| Err(vec![format!("makes {view} of {memory}: {expected}")]);
    let is_plain = |ty: Type| {
        // SAFETY: the operation's definition says that it is a memref.
        unsafe { mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(ty.to_raw())) }
    };
    if !is_plain(memory) || !is_plain(view) {
        return refuse("expected memory in row-major order".into());
    }
    let (Some(from), Some(to)) = (types::buffer_type(memory), types::buffer_type(view)) else {
        return refuse("expected elements that the dialect computes with".into());
    };
    let size = layout.size().as_constant();
    let sizes: Vec<Option<i64>> = layout.sizes().iter().map(|n| n.as_constant()).collect();
    let Some(outer) = to.shape.len().checked_sub(sizes.len()) else {
        return refuse(format!(
            "expected at least {}, those of the layout",
            count(sizes.len(), "axis")
        ));
    };
    let expected_shape: Vec<Option<i64>> =
        to.shape[..outer].iter().copied().chain([size]).collect();
    if to.shape[outer..] != sizes || size.is_none() {
        let sizes: Vec<String> = layout.sizes().iter().map(ToString::to_string).collect();
        return refuse(format!(
            "expected {} as the sizes of its last axes, those of the layout",
            sizes.join("x")
        ));
    }
    if from.shape != expected_shape || from.element != to.element {
        return refuse(format!(
            "expected memory of the axes before, and of one of {} elements",
            size.unwrap_or(0)
        ));
    }
    Ok(())
}

/// Verifies an operation that asks a layout.
pub(crate) fn errors(op: Op) -> Result<(), Errors> {
    let question = read(op)?;
    let mut errors = Errors::new();
    let rank = question.layout.dims().len();
    let (components, what) = match question.asked {
        Asked::Apply => (question.operands.len(), "component"),
        Asked::Inv => (op.result_count(), "result"),
    };
    if components != rank {
        errors.push(format!(
            "has {}, but the layout's view has {}: expected one for each",
            count(components, what),
            count(rank, "dimension")
        ));
    }
    let symbols = question.layout.symbols();
    for symbol in &symbols {
        match question.sizes.iter().filter(|(s, _)| s == symbol).count() {
            1 => {}
            0 => errors.push(format!("lacks a value for the layout's symbol '{symbol}'")),
            n => errors.push(format!(
                "has {n} values for the layout's symbol '{symbol}', expected one"
            )),
        }
    }
    for (given, _) in &question.sizes {
        if !symbols.contains(given) {
            let known: Vec<String> = symbols.iter().map(|s| format!("'{s}'")).collect();
            errors.push(match known.is_empty() {
                true => format!("has a value for '{given}', but its layout has no symbols"),
                false => format!(
                    "has a value for '{given}', which is no symbol of its layout: expected {}",
                    known.join(", ")
                ),
            });
        }
    }
    errors.is_empty().then_some(()).ok_or(errors)
}

/// The text between `<` and `>` as the attribute keeps it, or what is wrong with one and the
/// offset of it.
pub(crate) fn canonical(text: &[u8]) -> Result<String, (String, usize)> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let message = "found bytes that are not UTF-8, expected a layout";
        (message.to_owned(), error.valid_up_to())
    })?;
    let (bare, offset) = bare(text);
    let layout = known(bare).map_err(|(message, at)| (message, at + offset))?;
    Ok(quoted(&bounded::spelling(&layout)))
}

/// The text of an attribute that holds a layout.
pub fn attribute_text(layout: &Layout) -> String {
    format!("#{CLASS}<{}>", quoted(&bounded::spelling(layout)))
}

/// MLIR takes `<` and `>` for parentheses, but for those of `->` and in a string.
pub(crate) fn quoted(text: &str) -> String {
    match text.replace("->", "").contains(['<', '>']) {
        true => format!("\"{text}\""),
        false => text.to_owned(),
    }
}

/// The text in the quotes if there are some, and its offset.
pub(crate) fn bare(text: &str) -> (&str, usize) {
    let inside = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    inside.map_or((text, 0), |inside| (inside, 1))
}

/// Reads a layout, once: to prove that it is one may take trying all indices.
fn known(text: &str) -> Result<Arc<Layout>, (String, usize)> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Arc<Layout>>>> = OnceLock::new();
    let cache = KNOWN.get_or_init(Mutex::default);
    let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(layout) = lock().get(text) {
        return Ok(layout.clone());
    }
    let layout = bounded::parse(text).map_err(|e| (e.message, e.span.start))?;
    let layout = Arc::new(layout);
    lock().insert(text.to_owned(), layout.clone());
    Ok(layout)
}
