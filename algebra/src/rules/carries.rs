//! Carries: the dimensions that they split, and their fit to the tuple.

use super::finding::{Report, Rule, Subject, count};
use super::operators::types_text;
use crate::computation::{Buffer, Carry, Computation};

pub(super) fn carries(computation: &Computation, report: &mut Report) {
    let mut split: Vec<usize> = Vec::new();
    for (n, carry) in computation.carries.iter().enumerate() {
        let subject = Subject::Carry(n);
        let Some(dimension) = computation.dimensions.get(carry.dimension) else {
            let d = carry.dimension;
            let message = format!("bug: has a carry for dimension {d}, which it has not");
            report.find(Rule::CarryDimension, subject, message);
            continue;
        };
        let name = &dimension.name;
        if dimension.combine.operator().is_none() {
            report.find(
                Rule::CarryDimension,
                subject,
                format!(
                    "has a carry for dimension '{name}', which is concatenated: parts of a 'cc' \
                     dimension are independent; expected a 'pw' or 'ps' dimension"
                ),
            );
        }
        if split.contains(&carry.dimension) {
            report.find(
                Rule::CarryTwice,
                subject,
                format!("has two carries for dimension '{name}': expected one"),
            );
        }
        split.push(carry.dimension);
        tuple(computation, n, &carry.incoming, "receives", report);
        if !carry.outgoing.is_empty() {
            tuple(computation, n, &carry.outgoing, "carries out", report);
        }
        maps(computation, n, carry, report);
    }
}

fn tuple(computation: &Computation, n: usize, buffers: &[Buffer], verb: &str, report: &mut Report) {
    let components = &computation.components;
    let name = &computation.dimensions[computation.carries[n].dimension].name;
    let types: Vec<_> = buffers.iter().map(|b| b.element).collect();
    if types.len() != components.len() {
        report.find(
            Rule::CarryArity,
            Subject::Carry(n),
            format!(
                "{verb} {} as the carry of dimension '{name}': expected one for each of {}",
                count(types.len(), "buffer"),
                count(components.len(), "component"),
            ),
        );
    } else if types != *components {
        report.find(
            Rule::CarryType,
            Subject::Carry(n),
            format!(
                "{verb} a carry of types ({}) in dimension '{name}': expected the types that are \
                 combined, ({})",
                types_text(&types),
                types_text(components),
            ),
        );
    }
    for buffer in buffers.iter().filter(|b| b.accesses.len() != 1) {
        report.find(
            Rule::CarryArity,
            Subject::Carry(n),
            format!(
                "accesses '{}', part of the carry of dimension '{name}', {}: expected one access",
                buffer.name,
                count(buffer.accesses.len(), "time"),
            ),
        );
    }
}

/// One value comes in for a whole line of the dimension, and for all points of `pw` ones.
fn maps(computation: &Computation, n: usize, carry: &Carry, report: &mut Report) {
    for buffer in carry.incoming.iter().chain(&carry.outgoing) {
        let used = buffer.accesses.iter().flat_map(|a| &a.map);
        for d in used.flat_map(|e| e.dims()) {
            let Some(dimension) = computation.dimensions.get(d) else {
                continue;
            };
            let why = if d == carry.dimension {
                "its own dimension"
            } else if dimension.combine.is_pw() {
                "a point-wise combined dimension"
            } else {
                continue;
            };
            let carried = &computation.dimensions[carry.dimension].name;
            report.find(
                Rule::CarryMap,
                Subject::Carry(n),
                format!(
                    "uses dimension '{}' in '{}', part of the carry of dimension '{carried}': a carry \
                     does not depend on {why}; drop it from the index function",
                    dimension.name, buffer.name,
                ),
            );
        }
    }
}
