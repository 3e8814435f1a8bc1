//! `mdh-locate-assertions`: messages of assertions begin with their location.
//!
//! ```mlir
//! func.func @f(%ok: i1) {
//!   cf.assert %ok, "there is nothing to add"
//!   return
//! }
//! // becomes, in a file a.mlir
//! func.func @f(%ok: i1) {
//!   cf.assert %ok, "a.mlir:2:3: error: there is nothing to add"
//!   return
//! }
//! ```
//!
//! For programs that are run: the compiled program does not know its locations any more. The
//! assertions of upstream's `generate-runtime-verification` end in their location as MLIR writes
//! it and begin with a line of no use; they get the same form.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::location::SourceLocation;
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::Attribute;
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::OperationLike;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-locate-assertions",
    description: "assertions say where they are",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// With what the messages of upstream's `generate-runtime-verification` begin.
pub const VERIFICATION: &str = "ERROR: Runtime op verification failed\n";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::cf::ASSERT]) {
        let Some(place) = SourceLocation::from_location(op.location()) else {
            ir::remark_at(op, "stays without a place: it has no location in a file");
            continue;
        };
        if let Some(message) = ir::attribute(op, "msg").and_then(ir::text) {
            let located = format!("{place}: error: {}", plain(message));
            let attribute: Attribute = StringAttribute::new(ir::context_of(op), &located).into();
            ir::set_attribute(op, "msg", attribute);
        }
    }
    Ok(())
}

/// A message of upstream's without the lines around what it says:
///
/// ```text
/// ERROR: Runtime op verification failed
/// %0 = memref.load %m[%i] : memref<4xf32>
/// ^ out-of-bounds access
/// Location: loc("a.mlir":2:6)
/// ```
fn plain(message: &str) -> String {
    let parts = || {
        let text = message.strip_prefix(VERIFICATION)?;
        let (text, _) = text.rsplit_once("\nLocation: ")?;
        text.rsplit_once("\n^ ")
    };
    match parts() {
        Some((operation, wrong)) => format!("{wrong}: {operation}"),
        None => message.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn upstream_s_messages_become_one_line() {
        let text = "ERROR: Runtime op verification failed\n%0 = memref.load %m[%i] : memref<4xf32>\
                    \n^ out-of-bounds access\nLocation: loc(\"a.mlir\":2:6)";
        assert_eq!(
            plain(text),
            "out-of-bounds access: %0 = memref.load %m[%i] : memref<4xf32>"
        );
        assert_eq!(plain("there is nothing to add"), "there is nothing to add");
    }
}
