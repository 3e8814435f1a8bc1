//! Texts of the assertions.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Place;
use mdh_dialect::parts::{BufferPart, Parts};

/// One of a computation's buffers.
pub fn buffer<'p, 'c>(parts: &'p Parts<'c>, place: Place) -> &'p BufferPart<'c> {
    match place {
        Place::Input(n) => &parts.inputs[n],
        Place::Output(n) => &parts.outputs[n],
        Place::Incoming { carry, component } => &parts.carries[carry].incoming[component],
        Place::Outgoing { carry, component } => &parts.carries[carry].outgoing[component],
    }
}

/// Returns its name in messages.
pub fn text(parts: &Parts, place: Place) -> String {
    let kind = match place {
        Place::Input(_) => "input",
        Place::Output(_) => "output",
        Place::Incoming { .. } => "carry",
        Place::Outgoing { .. } => "carried-out",
    };
    format!("{kind} '{}'", buffer(parts, place).name)
}

/// Returns the message about an access out of range, with advice.
pub fn range_message(parts: &Parts, place: Place, axis: usize, expr: &Expr) -> String {
    let verb = match place {
        Place::Input(_) => "reads",
        Place::Incoming { .. } => "receives",
        Place::Output(_) => "writes",
        Place::Outgoing { .. } => "carries out",
    };
    let way_out = match place {
        Place::Input(_) => {
            "enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'"
        }
        _ => "enlarge the buffer or shrink the domain",
    };
    let (text, names) = (text(parts, place), parts.dim_names());
    let expr = expr.display(&names);
    format!("{verb} {text} outside of its extent in axis {axis} ('{expr}'): {way_out}")
}

/// Returns the message about an index that does not fit 64 bits.
pub fn overflow_message(parts: &Parts, place: Place, axis: usize, expr: &Expr) -> String {
    let (text, names) = (text(parts, place), parts.dim_names());
    let expr = expr.display(&names);
    format!(
        "reads {text} at an index '{expr}' in axis {axis} that does not fit 64 bits: expected \
         smaller factors, or a smaller domain"
    )
}
