//! Index functions: one expression for each axis, over dimensions that exist.

use super::finding::{Report, Rule, Subject, buffer_text, count};
use crate::computation::{Access, Computation, Place};

pub(super) fn accesses(computation: &Computation, report: &mut Report) {
    for place in computation.places() {
        buffer(computation, place, report);
    }
}

fn buffer(computation: &Computation, place: Place, report: &mut Report) {
    let Some(buffer) = computation.buffer(place) else {
        return;
    };
    let axes = buffer.shape.len();
    let text = buffer_text(computation, place);
    let subject = Subject::Buffer(place);
    // An origin that nobody wrote has as many indices as the accesses, which then are what is wrong.
    let of_accesses = buffer.accesses.first().map(|access| access.map.len());
    if buffer.origin.len() != axes && of_accesses != Some(buffer.origin.len()) {
        report.find(
            Rule::OriginRank,
            subject,
            format!(
                "has an origin of {} for {text}, which has {}: expected one for each axis",
                count(buffer.origin.len(), "index"),
                count(axes, "axis"),
            ),
        );
    }
    if buffer.pad.is_some() && !matches!(place, Place::Input(_)) {
        report.find(
            Rule::PadOnOutput,
            subject,
            format!("pads {text}: only inputs are read outside of themselves; remove the 'pad'"),
        );
    }
    for access in &buffer.accesses {
        if access.map.len() != axes {
            report.find(
                Rule::AccessRank,
                subject,
                format!(
                    "accesses {text} by {}, but it has {}: expected one index for each axis",
                    count(access.map.len(), "index"),
                    count(axes, "axis"),
                ),
            );
        }
        dimensions(computation, place, access, report);
    }
}

fn dimensions(computation: &Computation, place: Place, access: &Access, report: &mut Report) {
    let rank = computation.dimensions.len();
    let text = buffer_text(computation, place);
    let subject = Subject::Buffer(place);
    let used = access.map.iter().flat_map(|e| e.dims());
    for d in used {
        if d >= rank {
            report.find(
                Rule::AccessDimension,
                subject,
                format!(
                    "accesses {text} by dimension {d}, but it has {}",
                    count(rank, "dimension"),
                ),
            );
        } else if computation.dimensions[d].combine.is_pw() && matches!(place, Place::Output(_)) {
            report.find(
                Rule::PwInOutput,
                subject,
                format!(
                    "uses dimension '{}' in {text}, but that is combined point-wise: a 'pw' \
                         dimension shrinks to one point, which outputs do not use; drop it from \
                         the index function, or combine it by 'cc' or 'ps'",
                    computation.dimensions[d].name,
                ),
            );
        }
    }
}
