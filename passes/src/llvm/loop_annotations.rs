//! `mdh-loop-annotations`: what a program asks of LLVM for a loop stands where LLVM IR is made from.
//!
//! ```mlir
//! #rolled = #llvm.loop_annotation<unroll = <disable = true>>
//! llvm.func @f(%n: i64) {
//!   %zero = llvm.mlir.constant(0 : i64) : i64
//!   %one = llvm.mlir.constant(1 : i64) : i64
//!   llvm.br ^head(%zero : i64)
//! ^head(%i: i64):
//!   %more = llvm.icmp "slt" %i, %n : i64
//!   llvm.cond_br %more, ^body, ^end
//! ^body:
//!   %next = llvm.add %i, %one : i64
//!   llvm.br ^head(%next : i64) {llvm.loop_annotation = #rolled}
//! ^end:
//!   llvm.return
//! }
//! // becomes
//! #loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
//! ..
//!     llvm.br ^bb1(%next : i64) {loop_annotation = #loop_annotation}
//! ```
//!
//! Upstream's conversions hand the attribute of an `scf.for` down to the branch that goes back, but
//! under the name with the dialect's prefix, which the translation to LLVM IR does not read. On what
//! is no branch it stays, with a remark.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::Attribute;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-loop-annotations",
    description: "annotations of loops become their branches' own",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// The attribute of a loop, before it is one of the branch itself; its class has the same name.
const LOOP: &str = "llvm.loop_annotation";

/// The same as a part of a branch.
const BRANCH: &str = "loop_annotation";

/// The end of the remark on an annotation that stays.
const NOT_TOLD: &str = "so that LLVM is not told: expected it on a loop that --convert-scf-to-cf \
                        and --convert-cf-to-llvm have lowered";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for branch in ir::all(module) {
        let Some(annotation) = ir::attribute(branch, LOOP) else {
            continue;
        };
        if ![ops::llvm::BR, ops::llvm::COND_BR].contains(&ir::name_of(branch)) {
            ir::remark_at(branch, &format!("has {LOOP}, but is no branch, {NOT_TOLD}"));
            continue;
        }
        if ir::class_of(annotation).0 != LOOP {
            ir::error_at(
                branch,
                &format!("has {LOOP} = {annotation}: expected #{LOOP}<..>"),
            );
            return Err(Vec::new());
        }
        ir::remove_attribute(branch, LOOP);
        ir::set_attribute(branch, BRANCH, annotation);
    }
    Ok(())
}

/// Asks LLVM to leave a loop around others as it is. Unrolled, small loops of copies become bodies
/// of a hundred loads and stores, which are no faster, and take its vectorizer half a second.
pub fn keep_rolled(of: Op) {
    annotate(of, "unroll");
}

/// Asks LLVM not to vectorize a loop.
pub fn keep_from_vectorizer(of: Op) {
    annotate(of, "vectorize");
}

/// Switches a transformation of LLVM's off for a loop, beside what is said of others.
fn annotate(of: Op, transformation: &str) {
    let disabled = format!("{transformation} = <disable = true>");
    let said = ir::attribute(of, LOOP).map(|said| said.to_string());
    let said = said.as_deref().and_then(|said| said.strip_suffix('>'));
    let text = match said {
        Some(said) if said.contains(&disabled) => return,
        Some(said) => format!("{said}, {disabled}>"),
        None => format!("#{LOOP}<{disabled}>"),
    };
    let annotation = Attribute::parse(ir::context_of(of), &text);
    let annotation = annotation.unwrap_or_else(|| panic!("{text} is an attribute"));
    ir::set_attribute(of, LOOP, annotation);
}
