//! The scalar function against the accesses, its results against the components, and the
//! components against what is stored.

use super::finding::{Report, Rule, Subject, buffer_text, count};
use super::operators::types_text;
use crate::computation::{Computation, Place};
use crate::scalar::ScalarType;

pub(super) fn tuples(computation: &Computation, report: &mut Report) {
    inputs(computation, report);
    let (results, components) = (&computation.scalar.results, &computation.components);
    if results != components {
        report.find(
            Rule::ScalarResults,
            Subject::Scalar,
            format!(
                "has a scalar function that returns ({}): expected the tuple that is combined, \
                 ({})",
                types_text(results),
                types_text(components),
            ),
        );
    }
    let rank = computation.dimensions.len();
    if let Some(d) = computation
        .scalar
        .dimensions()
        .into_iter()
        .find(|d| *d >= rank)
    {
        report.find(
            Rule::ScalarIndex,
            Subject::Scalar,
            format!(
                "has a scalar function that uses the index of dimension {d}, but it has {}",
                count(rank, "dimension"),
            ),
        );
    }
    outputs(computation, report);
}

fn inputs(computation: &Computation, report: &mut Report) {
    let mut read: Vec<(usize, ScalarType)> = Vec::new();
    for (n, buffer) in computation.inputs.iter().enumerate() {
        read.extend(
            buffer
                .accesses
                .iter()
                .map(|a| (a.component, buffer.element)),
        );
        if let Some(pad) = buffer.pad.filter(|p| p.ty != buffer.element) {
            report.find(
                Rule::PadType,
                Subject::Buffer(Place::Input(n)),
                format!(
                    "pads input '{}' by a value of type {}: expected its element type, {}",
                    buffer.name, pad.ty, buffer.element,
                ),
            );
        }
    }
    read.sort_by_key(|(component, _)| *component);
    if read
        .iter()
        .enumerate()
        .any(|(n, (component, _))| n != *component)
    {
        let numbers: Vec<_> = read.iter().map(|(c, _)| c.to_string()).collect();
        report.find(
            Rule::InputComponents,
            Subject::Computation,
            format!(
                "bug: numbers its input accesses {}: expected 0 to {}, each once",
                numbers.join(", "),
                read.len().saturating_sub(1),
            ),
        );
    }
    let read: Vec<ScalarType> = read.into_iter().map(|(_, ty)| ty).collect();
    if read != computation.scalar.inputs {
        report.find(
            Rule::ScalarInputs,
            Subject::Scalar,
            format!(
                "has a scalar function of ({}), but its input accesses read ({}): expected an \
                 argument of the element type for each access",
                types_text(&computation.scalar.inputs),
                types_text(&read),
            ),
        );
    }
}

fn outputs(computation: &Computation, report: &mut Report) {
    let mut stored: Vec<Option<usize>> = vec![None; computation.components.len()];
    for (n, buffer) in computation.outputs.iter().enumerate() {
        let place = Place::Output(n);
        let text = buffer_text(computation, place);
        for access in &buffer.accesses {
            let component = access.component;
            let Some(first) = stored.get_mut(component) else {
                report.find(
                    Rule::OutputComponent,
                    Subject::Buffer(place),
                    format!(
                        "stores component {component} in {text}, but its tuple has {}",
                        count(computation.components.len(), "component"),
                    ),
                );
                continue;
            };
            if let Some(first) = *first {
                report.find(
                    Rule::StoredTwice,
                    Subject::Buffer(place),
                    format!(
                        "stores component {component} in '{}' and in '{}': expected one place \
                         for each component",
                        computation.outputs[first].name, buffer.name,
                    ),
                );
            }
            *first = Some(n);
            let ty = computation.components[component];
            if ty != buffer.element && ty.is_float() != buffer.element.is_float() {
                report.find(
                    Rule::StoreType,
                    Subject::Buffer(place),
                    format!(
                        "stores component {component} of type {ty} in {text} of {}: a store \
                         converts floats to floats and integers to integers only; convert it in \
                         the scalar function",
                        buffer.element,
                    ),
                );
            }
        }
    }
}
