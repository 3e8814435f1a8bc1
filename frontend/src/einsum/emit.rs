//! Steps as MLIR: one `mdh.compute` each.

use std::fmt::Write;

use super::contraction::{Contraction, Source};
use super::element::Element;
use super::indices::{Indices, Label};
use super::operator::Operator;
use super::scalar::{Arithmetic, SCALAR};
use super::{Operand, RESULT, argument};
use crate::plan::Loop;

/// Everything that a module is made of.
pub(super) struct Einsum<'r> {
    pub(super) entry: &'r str,
    pub(super) operands: &'r [Operand],
    pub(super) indices: &'r Indices,
    pub(super) steps: &'r [Contraction],
    pub(super) arithmetic: Arithmetic<'r>,
}

impl Einsum<'_> {
    /// The module: a function of the operands.
    pub(super) fn module(&self) -> String {
        let mut text = String::new();
        let arguments = self.operands.iter().enumerate().map(|(n, operand)| {
            format!(
                "%{}: {}",
                argument(n),
                tensor(&operand.in_memory(&operand.shape), operand.element)
            )
        });
        let arguments: Vec<String> = arguments.collect();
        let ty = self.result_type(&self.indices.result);
        let _ = writeln!(
            text,
            "func.func @{}({}) -> {ty} {{",
            self.entry,
            arguments.join(", ")
        );
        for (number, step) in self.steps.iter().enumerate() {
            self.step(&mut text, number, step);
        }
        let _ = writeln!(text, "  return %{RESULT} : {ty}\n}}");
        if let Operator::Region(region) = self.arithmetic.scalar
            && text.contains(&format!("@{SCALAR}("))
        {
            text += &region.function(SCALAR, self.arithmetic.result.mlir());
        }
        text
    }

    fn step(&self, text: &mut String, number: usize, step: &Contraction) {
        let name = match number + 1 == self.steps.len() {
            true => RESULT.to_string(),
            false => stored(number),
        };
        let ty = self.result_type(&step.kept);
        let element = self
            .arithmetic
            .computed(step.sources.len(), step.sums.len());
        let operands: Vec<Element> = step.sources.iter().map(|s| self.element(*s)).collect();
        let loops = step.kept.iter().chain(&step.sums);
        let sizes = loops.map(|l| format!("{} = {}", self.name(*l), self.indices.sizes[*l]));
        let mut domain: Vec<String> = sizes.collect();
        let combining = self.arithmetic.combining(element);
        let point_wise = format!("pw({})", combining.function);
        let mut combine = vec!["cc"; step.kept.len()];
        combine.extend(step.sums.iter().map(|_| point_wise.as_str()));
        if domain.is_empty() {
            // A domain has a dimension.
            domain.push("e0 = 1".to_string());
            combine.push("cc");
        }
        let region = match step.sums.is_empty() {
            true => "",
            false => &combining.region,
        };
        let inputs: Vec<String> = step.sources.iter().map(|s| self.input(*s)).collect();
        let result_axes: Vec<Option<Loop>> = step.kept.iter().copied().map(Some).collect();
        let _ = write!(
            text,
            "  %{name}_init = tensor.empty() : {ty}\n  %{name} = mdh.compute ({})\n    \
             out_view({name} = %{name}_init{} : {ty})\n    md_hom({}, ({}))\n    inp_view({}){region}\n",
            domain.join(", "),
            self.accesses(&result_axes, self.arithmetic.result),
            self.arithmetic.function(&operands, element),
            combine.join(", "),
            inputs.join(", "),
        );
    }

    /// `op1 = %op1[i, k] : tensor<2x3xf32>`
    fn input(&self, source: Source) -> String {
        let element = self.element(source);
        let (name, accesses, ty) = match source {
            Source::Operand(n) => (
                argument(n),
                self.accesses(
                    &self.operands[n].in_memory(&self.indices.operands[n].0),
                    element,
                ),
                tensor(
                    &self.operands[n].in_memory(&self.operands[n].shape),
                    element,
                ),
            ),
            Source::Step(n) => {
                let stored_axes = &self.steps[n].kept;
                let loops: Vec<Option<Loop>> = stored_axes.iter().copied().map(Some).collect();
                (
                    stored(n),
                    self.accesses(&loops, element),
                    self.result_type(stored_axes),
                )
            }
        };
        format!("{name} = %{name}{accesses} : {ty}")
    }

    /// `[i, k]`, or both parts of complex elements: `[i, k, 0][i, k, 1]`.
    fn accesses(&self, axes: &[Option<Loop>], element: Element) -> String {
        let index = |axis: &Option<Loop>| axis.map_or("0".to_string(), |l| self.name(l));
        let access = |part: Option<&str>| {
            let indices = axes.iter().map(index);
            let indices = indices.chain(part.map(str::to_string));
            format!("[{}]", indices.collect::<Vec<_>>().join(", "))
        };
        match element.is_complex() {
            true => access(Some("0")) + &access(Some("1")),
            false => access(None),
        }
    }

    fn element(&self, source: Source) -> Element {
        match source {
            Source::Operand(n) => self.operands[n].element,
            Source::Step(_) => self.arithmetic.result,
        }
    }

    fn result_type(&self, loops: &[Loop]) -> String {
        tensor(&self.indices.shape(loops), self.arithmetic.result)
    }

    /// The name of a dimension: its letter; `e1` is the last axis of the ellipsis.
    fn name(&self, l: Loop) -> String {
        match self.indices.labels[l] {
            Label::Letter(letter) if letter.is_ascii() => letter.to_string(),
            Label::Letter(letter) => format!("u{:x}", u32::from(letter)),
            Label::Ellipsis(n) => format!("e{}", n + 1),
        }
    }
}

/// The name of a step's result that is not the last one.
fn stored(step: usize) -> String {
    format!("part{}", step + 1)
}

/// `tensor<2x3xf32>`; complex numbers are an axis more.
fn tensor(shape: &[u64], element: Element) -> String {
    let extents = shape.iter().map(|extent| format!("{extent}x"));
    let parts = match element.is_complex() {
        true => "2x",
        false => "",
    };
    format!(
        "tensor<{}{parts}{}>",
        extents.collect::<String>(),
        element.mlir()
    )
}
