//! `mdh-layout-to-arith`: operations on layouts become arithmetic, simplified with all known facts.
//!
//! ```mlir
//! func.func @place(%i: index, %j: index) -> index {
//!   %p = mdh.layout.apply #mdh.layout<GenP([8,8],xor)>[%i, %j]
//!   return %p : index
//! }
//! // becomes
//! func.func @place(%i: index, %j: index) -> index {
//!   %0 = arith.xori %j, %i : index
//!   %c8 = arith.constant 8 : index
//!   %1 = arith.muli %i, %c8 : index
//!   %2 = arith.addi %0, %1 : index
//!   return %2 : index
//! }
//! ```
//!
//! And elements of memory under the indices of a layout are those of the memory itself:
//!
//! ```mlir
//! func.func @element(%m: memref<64xf32>, %i: index, %j: index) -> f32 {
//!   %x = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>
//!   %v = memref.load %x[%i, %j] : memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>
//!   return %v : f32
//! }
//! // becomes
//! func.func @element(%m: memref<64xf32>, %i: index, %j: index) -> f32 {
//!   %0 = affine.apply affine_map<(d0, d1) -> (-d1 - d0 * 8 + 63)>(%i, %j)
//!   %v = memref.load %m[%0] : memref<64xf32>
//!   return %v : f32
//! }
//! ```
//!
//! So are vectors of them: of lanes that are proved to be neighbours in memory in one piece, of others
//! lane by lane (`crate::support::layout_vectors`).
//!
//! A view that computations use stays until they are loads and stores. With `views=none` that is over,
//! and what uses one that stays is an error.
//!
//! An index lies in the layout's view, an offset below its size, and symbols in the bounds that
//! the layout has for them; operands that are constants count as what they are. Divisions of what
//! is proved to be 0 or more round to 0, which processors do. That no operation overflows must be
//! proved, too. Where all that is asked is affine, it becomes `affine.apply`, unless
//! `affine=false`.

use mdh_algebra::index::emit::Function;
use mdh_algebra::index::simplify::simplify;
use mdh_algebra::index::{Expr, Facts, Name};
use mdh_algebra::layout::Layout;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::layout::{self, Asked, Question};
use mdh_dialect::ops;
use mdh_dialect::pass::{self, Options, Pass, emit_all};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::llvm::lower_to_loops::access;
use crate::support::builder::{Builder, known};
use crate::support::draft::Rewriter;
use crate::support::indices::{self, IndexDialect};
use crate::support::layout_vectors::{self, View};
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-layout-to-arith",
    description: "what is asked of layouts to arithmetic",
    operation: ops::builtin::MODULE,
    options: &[
        (
            "affine",
            "affine.apply where what is asked is affine",
            "true",
        ),
        ("views", "'none' if no view may stay, or 'any'", "any"),
    ],
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let form = match options.flag("affine")? {
        true => IndexDialect::Affine,
        false => IndexDialect::Arith,
    };
    for name in layout::OPERATIONS {
        pass::each(module, name, |op| lower(module, op, form))?;
    }
    let views = Views::new(options)?;
    pass::each(module, layout::VIEW, |op| flatten(module, op, form, views))
}

/// The views that may stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Views {
    Any,
    None,
}

impl Views {
    fn new(options: &Options) -> Result<Self, Errors> {
        match options.get("views") {
            "any" => Ok(Views::Any),
            "none" => Ok(Views::None),
            other => Err(vec![format!(
                "option 'views' is '{other}': expected 'none' or 'any'"
            )]),
        }
    }
}

const DIM: &str = ops::memref::DIM;

/// Accesses to a view become accesses to its memory.
fn flatten<'c>(module: Op<'c>, op: Op<'c>, form: IndexDialect, views: Views) -> Result<(), Errors> {
    let ends = ir::operand(op, 0);
    let ends = ends.zip(ir::result(op, 0));
    let Some((memory, view)) = ends else {
        return Ok(());
    };
    // Axes before those of the layout are the memory's own; the others have sizes that are known.
    for user in ir::users(view) {
        let axis = ir::operand(user, 1).and_then(known);
        if let (DIM, Some(axis)) = (ir::name_of(user), axis) {
            let size = Builder::before(user).dim(memory, axis as usize);
            Rewriter::Direct.replace(user, &[size]);
        }
    }
    let users = ir::users(view);
    let other = users.iter().find(|user| !is_access(**user, view));
    if let (Some(other), Views::None) = (other, views) {
        return emit_all(*other, vec![refusal(view)]);
    }
    if let Some(other) = other {
        let name = ir::name_of(*other);
        let text = format!("stays a view: found '{name}', expected loads and stores alone");
        ir::remark_at(op, &text);
    }
    let layout = layout::of_type(view.r#type()).filter(|_| other.is_none());
    let Some(layout) = layout else {
        return Ok(());
    };
    let names = layout.names_of_whole();
    let facts = layout.facts_of_whole(&names);
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let offset = layout.apply(&layout.components(&index));
    let outputs = simplify(&facts, &[offset]);
    let function = Function {
        name: layout::VIEW,
        inputs: &names,
        outputs: &outputs,
        facts: &facts,
    };
    let place = |builder: &mut Builder<'c>, index: &[Val<'c>]| -> Result<Vec<Val<'c>>, Errors> {
        let (outer, inner) = index.split_at(index.len() - names.len());
        let place = indices::build(builder, module, &function, inner, form);
        let place = place.map_err(|e| vec![format!("cannot be lowered: {e}")])?;
        Ok([outer, &place].concat())
    };
    let vectors = View {
        memory,
        ty: view.r#type(),
        place: &place,
    };
    for user in users {
        let loaded = accessed(user, &vectors)?;
        Rewriter::Direct.replace(user, &loaded);
    }
    region::erase(op);
    Ok(())
}

/// Code for an access to a view, and what it loads.
fn accessed<'c>(op: Op<'c>, view: &View<'_, 'c>) -> Result<Vec<Val<'c>>, Errors> {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let mut builder = Builder::before(op);
    match ir::name_of(op) {
        ops::memref::LOAD => {
            let place = (view.place)(&mut builder, &operands[1..])?;
            Ok(vec![access::load(&mut builder, view.memory, &place)])
        }
        ops::memref::STORE => {
            let place = (view.place)(&mut builder, &operands[2..])?;
            access::store(&mut builder, operands[0], view.memory, &place);
            Ok(Vec::new())
        }
        _ => layout_vectors::lowered(op, view).or_else(|e| emit_all(op, e).map(|()| Vec::new())),
    }
}

/// Returns the message about a user of a view that may not stay.
fn refusal(view: Val) -> String {
    let known = [&ELEMENTS[..], &layout_vectors::NAMES[..]].concat();
    format!(
        "uses memory in a layout ({}), for which it has no code: expected {}, or a computation of \
         mdh",
        view.r#type(),
        known.join(", ")
    )
}

/// The operations that access one element.
const ELEMENTS: [&str; 2] = [ops::memref::LOAD, ops::memref::STORE];

/// Returns whether an operation accesses elements of a view, and does not store the view itself.
fn is_access(user: Op, view: Val) -> bool {
    let name = ir::name_of(user);
    let uses = user
        .operands()
        .filter(|operand| ir::value(*operand) == view);
    (ELEMENTS.contains(&name) || layout_vectors::NAMES.contains(&name)) && uses.count() == 1
}

fn lower<'c>(module: Op<'c>, op: Op<'c>, form: IndexDialect) -> Result<(), Errors> {
    let question = layout::read(op)?;
    let answer = Answer::new(&question)?;
    let function = Function {
        name: ir::name_of(op),
        inputs: &answer.names,
        outputs: &answer.outputs,
        facts: &answer.facts,
    };
    let mut builder = Builder::before(op);
    let results = indices::build(&mut builder, module, &function, &answer.inputs, form);
    let results = results.map_err(|e| vec![format!("cannot be lowered: {e}")])?;
    Rewriter::Direct.replace(op, &results);
    Ok(())
}

/// An operation's results, as functions of inputs.
struct Answer<'c> {
    names: Vec<Name>,
    inputs: Vec<Val<'c>>,
    outputs: Vec<Expr>,
    facts: Facts,
}

impl<'c> Answer<'c> {
    fn new(question: &Question<'c>) -> Result<Answer<'c>, Errors> {
        let layout = with_known_sizes(question)?;
        let (own, mut facts) = match question.asked {
            Asked::Apply => {
                let names = layout.index_names();
                let facts = layout.facts_of_index(&names);
                (names, facts)
            }
            Asked::Inv => {
                let name = layout.offset_name();
                let facts = layout.facts_of_offset(&name);
                (vec![name], facts)
            }
        };
        let (mut names, mut inputs, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in own.iter().zip(&question.operands) {
            // What lies outside has no meaning, and is not worth one more.
            let number = known(*value).filter(|n| facts.interval(name).contains(*n));
            asked.push(match number {
                Some(number) => Expr::constant(number),
                None => {
                    names.push(name.clone());
                    inputs.push(*value);
                    Expr::symbol(name)
                }
            });
        }
        for (name, value) in &question.sizes {
            if layout.symbols().contains(name) {
                names.push(name.clone());
                inputs.push(*value);
            }
        }
        facts.and(layout.facts());
        let outputs = match question.asked {
            Asked::Apply => vec![layout.apply(&asked)],
            Asked::Inv => layout.inv(&asked[0]),
        };
        Ok(Answer {
            outputs: simplify(&facts, &outputs),
            names,
            inputs,
            facts,
        })
    }
}

/// The layout with the numbers that are known of its symbols.
fn with_known_sizes(question: &Question) -> Result<Layout, Errors> {
    let sizes = question.sizes.iter();
    let numbers = sizes.filter_map(|(name, value)| Some((name.clone(), known(*value)?)));
    let numbers: Vec<(Name, i64)> = numbers.collect();
    question.layout.of_sizes(&numbers).map_err(|e| vec![e])
}
