//! Scalar code of a step: operands converted to one type, and multiplied; and its combine operator.

use super::element::{Element, NumberClass};
use super::operator::{Operator, OperatorCode};

/// Operators of an einsum on its types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arithmetic<'r> {
    pub(super) combine: &'r Operator,
    pub(super) scalar: &'r Operator,
    /// The type of the result, and of everything that is stored.
    pub(super) result: Element,
}

/// A combine operator in a computation: what `pw` names, and its region, if it has one.
pub(super) struct Combining {
    pub(super) function: String,
    pub(super) region: String,
}

/// The name of a combine operator that is a region.
const COMBINED: &str = "combined";
/// The name of a scalar operator that is a function.
pub(super) const SCALAR: &str = "scalar";

impl Arithmetic<'_> {
    /// The type that a step computes in: sums and products of floats of 16 bits are of 32 bits until they are stored.
    pub(super) fn computed(&self, sources: usize, sums: usize) -> Element {
        use super::operator::Name::{First, Max, Min};
        let is_exact = |operator: &Operator| {
            matches!(
                operator,
                Operator::Named(First | Max | Min) | Operator::Region(_)
            )
        };
        let is_region = |operator: &Operator| matches!(operator, Operator::Region(_));
        let operators = [self.combine, self.scalar];
        let is_simple = sums == 0 && sources <= 2 || operators.iter().all(|o| is_exact(o));
        match self.result {
            Element::F16 | Element::Bf16
                if !is_simple && !operators.iter().any(|o| is_region(o)) =>
            {
                Element::F32
            }
            other => other,
        }
    }

    /// The scalar function of operands of these types.
    pub(super) fn function(&self, operands: &[Element], element: Element) -> String {
        let is_plain = operands.iter().all(|operand| *operand == element);
        if let ([_], true) = (operands, is_plain) {
            return "id".to_string();
        }
        match (operands, self.scalar, self.scalar.code(element)) {
            ([_, _], _, Some(OperatorCode::Arith(name))) if is_plain => return name.to_string(),
            (_, Operator::Region(region), _) if is_plain && region.arity() == operands.len() => {
                return region.code();
            }
            _ => {}
        }
        let mut code = Code::default();
        let arguments: Vec<String> = operands.iter().map(|o| code.arguments(*o)).collect();
        let values: Vec<Vec<String>> = (1..)
            .zip(operands)
            .map(|(n, operand)| code.converted(n, *operand, element))
            .collect();
        let value = self.applied(&mut code, &values, element);
        let types = vec![element.mlir(); value.len()].join(", ");
        format!(
            "({}) {{\n{}      mdh.yield {} : {types}\n    }}",
            arguments.join(", "),
            code.text,
            value.join(", ")
        )
    }

    /// The scalar operator on all values, from left to right.
    fn applied(&self, code: &mut Code, values: &[Vec<String>], element: Element) -> Vec<String> {
        if let Operator::Region(region) = self.scalar
            && region.arity() == values.len()
        {
            return vec![code.call(&values.concat(), element)];
        }
        let apply = |a: Vec<String>, b: &Vec<String>| match self.scalar.code(element) {
            Some(operator) => code.apply(operator, &a, b, element),
            None => vec![code.call(&[a, b.clone()].concat(), element)],
        };
        let first = values.first().cloned().unwrap_or_default();
        values.iter().skip(1).fold(first, apply)
    }

    /// The combine operator.
    pub(super) fn combining(&self, element: Element) -> Combining {
        let ty = element.mlir();
        let built_in = |function: String| Combining {
            function,
            region: String::new(),
        };
        let of_region = |region: String| Combining {
            function: COMBINED.to_string(),
            region: format!("\n    combine {COMBINED} {region}"),
        };
        match (self.combine, self.combine.code(element)) {
            (Operator::Region(region), _) => {
                of_region(format!("{}{}", region.laws_text(), region.code()))
            }
            (_, Some(OperatorCode::Arith(name))) => built_in(name.to_string()),
            (_, Some(OperatorCode::OnParts(name))) => built_in(format!("{name}, {name}")),
            (_, Some(code)) => {
                let neutral = match code {
                    OperatorCode::Logaddexp => format!("{} : {ty}", infinity(element)),
                    _ => format!("1.0 : {ty}, 0.0 : {ty}"),
                };
                let count = 1 + usize::from(element.is_complex());
                let named = |letter: &str| -> Vec<String> {
                    (1..=count).map(|n| format!("%{letter}{n}")).collect()
                };
                let (a, b) = (named("a"), named("b"));
                let arguments = a.iter().chain(&b).map(|name| format!("{name}: {ty}"));
                let arguments: Vec<String> = arguments.collect();
                let mut lines = Code::default();
                let value = lines.apply(code, &a, &b, element);
                of_region(format!(
                    "commutative associative neutral({neutral}) ({}) {{\n{}      mdh.yield {} : {}\n    }}",
                    arguments.join(", "),
                    lines.text,
                    value.join(", "),
                    vec![ty; count].join(", "),
                ))
            }
            (_, None) => built_in(String::new()), // refused before
        }
    }
}

/// The bits of -infinity.
fn infinity(element: Element) -> &'static str {
    match element {
        Element::F16 => "0xFC00",
        Element::Bf16 => "0xFF80",
        Element::F32 => "0xFF800000",
        _ => "0xFFF0000000000000",
    }
}

/// Lines of scalar code.
#[derive(Default)]
struct Code {
    text: String,
    count: usize,
    operands: usize,
}

impl Code {
    /// Adds an operation, and returns its value.
    fn line(&mut self, operation: &str, ty: &str) -> String {
        self.count += 1;
        let name = format!("%v{}", self.count);
        self.text += &format!("      {name} = {operation} : {ty}\n");
        name
    }

    /// The arguments of the next operand.
    fn arguments(&mut self, operand: Element) -> String {
        self.operands += 1;
        let (n, ty) = (self.operands, operand.mlir());
        match operand.is_complex() {
            true => format!("%x{n}: {ty}, %y{n}: {ty}"),
            false => format!("%x{n}: {ty}"),
        }
    }

    /// The components of an operand as those of a type.
    fn converted(&mut self, n: usize, operand: Element, element: Element) -> Vec<String> {
        let (from, to) = (operand.part(), element.part());
        let real = self.convert(format!("%x{n}"), from, to);
        if !element.is_complex() {
            return vec![real];
        }
        let imaginary = match operand.is_complex() {
            true => self.convert(format!("%y{n}"), from, to),
            false => self.line("arith.constant 0.0", to.mlir()),
        };
        vec![real, imaginary]
    }

    fn convert(&mut self, value: String, from: Element, to: Element) -> String {
        use NumberClass::{Bool, Float, Signed, Unsigned};
        if from == to {
            return value;
        }
        let operation = match (from.class(), to.class()) {
            (Float, _) => "extf",
            (Signed, Float) => "sitofp",
            (Bool | Unsigned, Float) => "uitofp",
            (Signed, _) => "extsi",
            _ => "extui",
        };
        let types = format!("{} to {}", from.mlir(), to.mlir());
        self.line(&format!("arith.{operation} {value}"), &types)
    }

    /// A call of the user's scalar operator.
    fn call(&mut self, values: &[String], element: Element) -> String {
        let ty = element.mlir();
        let types = vec![ty; values.len()].join(", ");
        let call = format!("func.call @{SCALAR}({})", values.join(", "));
        self.line(&call, &format!("({types}) -> {ty}"))
    }

    fn apply(
        &mut self,
        code: OperatorCode,
        a: &[String],
        b: &[String],
        element: Element,
    ) -> Vec<String> {
        let ty = element.mlir();
        let mut binary =
            |operation: &str, a: &str, b: &str| self.line(&format!("{operation} {a}, {b}"), ty);
        match code {
            OperatorCode::First => a.to_vec(),
            OperatorCode::Arith(name) => vec![binary(&format!("arith.{name}"), &a[0], &b[0])],
            OperatorCode::Math(name) => vec![binary(&format!("math.{name}"), &a[0], &b[0])],
            OperatorCode::OnParts(name) => {
                let parts = a.iter().zip(b);
                parts
                    .map(|(a, b)| binary(&format!("arith.{name}"), a, b))
                    .collect()
            }
            OperatorCode::ComplexProduct => {
                let [rr, ii] = [0, 1].map(|n| binary("arith.mulf", &a[n], &b[n]));
                let [ri, ir] = [(0, 1), (1, 0)].map(|(n, m)| binary("arith.mulf", &a[n], &b[m]));
                let real = binary("arith.subf", &rr, &ii);
                let imaginary = binary("arith.addf", &ri, &ir);
                vec![real, imaginary]
            }
            OperatorCode::Logaddexp => vec![self.logaddexp(&a[0], &b[0], ty)],
        }
    }

    /// `max(a, b) + log1p(exp(-|a - b|))`, and `a + log(2)` where both are the same, infinities too.
    fn logaddexp(&mut self, a: &str, b: &str, ty: &str) -> String {
        let most = self.line(&format!("arith.maximumf {a}, {b}"), ty);
        let difference = self.line(&format!("arith.subf {a}, {b}"), ty);
        let distance = self.line(&format!("math.absf {difference}"), ty);
        let negated = self.line(&format!("arith.negf {distance}"), ty);
        let exponential = self.line(&format!("math.exp {negated}"), ty);
        let logarithm = self.line(&format!("math.log1p {exponential}"), ty);
        let two = self.line("arith.constant 0.69314718055994530942", ty);
        let is_same = self.line(&format!("arith.cmpf oeq, {a}, {b}"), ty);
        let more = self.line(&format!("arith.select {is_same}, {two}, {logarithm}"), ty);
        self.line(&format!("arith.addf {most}, {more}"), ty)
    }
}
