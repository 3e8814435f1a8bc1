//! Interface of a C function made of a compiled one: the one description that its header, its code
//! and its checks go by.
//!
//! ```text
//! int matvec(const float *M, int64_t M_n0, int64_t M_n1, const float *v, int64_t v_n0,
//!            float *w, int64_t w_n0);
//!
//! matvec 1
//! buffer M f32 read ? ? rows
//! buffer v f32 read ? rows
//! buffer w f32 written ?=0.0 rows
//! ```
//!
//! The second is the text that compiled code carries ([`Interface`] prints and parses it): the last one
//! of the parameters is a result, and is as long as the first, number 0, along its axis 0.

use std::fmt;
use std::str::FromStr;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its parameters and results, in the order in which C passes them. (Compiled code takes them
    /// in the same order, but scalar results.)
    pub parameters: Vec<Parameter>,
    /// The number of these, from the last one on, that are the function's results; the others are its arguments.
    pub results: usize,
}

/// A parameter or a result: one or several arguments of the C function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in C.
    pub name: String,
    /// The type of the value, or of the elements.
    pub element: Element,
    /// Its kind.
    pub kind: ParameterKind,
}

/// Kind of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A scalar, by value.
    Value,
    /// A scalar result: a pointer to where it goes.
    Result,
    /// A pointer to elements, the extents that are open, the strides that are.
    Buffer(Buffer),
}

/// Elements in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Access to the elements.
    pub access: Access,
    /// Extent of each axis.
    pub extents: Vec<Extent>,
    /// Layout of the elements.
    pub layout: BufferLayout,
}

/// Access of a call to elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Written, whatever they were before.
    Written,
    /// Read, then possibly written.
    Changed,
}

/// An extent of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A number that the program says.
    Fixed(u64),
    /// An argument; of a result, one that must be this.
    Given(Option<Formula>),
}

/// A number that follows from other arguments, in postfix order: `0.1 2 mul`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula(pub Vec<Term>);

/// A step of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A number.
    Number(i64),
    /// The extent of a parameter along an axis.
    Extent {
        /// Its number.
        parameter: usize,
        /// The axis.
        axis: usize,
    },
    /// The value of a scalar parameter.
    Value(usize),
    /// An operation on the last two numbers.
    Operation(Operation),
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// a + b
    Add,
    /// a - b
    Subtract,
    /// a * b
    Multiply,
    /// The largest integer that is at most a / b.
    DivideDown,
    /// The smallest integer that is at least a / b.
    DivideUp,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

/// Layout of a buffer's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferLayout {
    /// One after the other, the last index first.
    Rows,
    /// Element `i` is at `offset + sum of i_d * strides_d`; `None` is an argument.
    Strided {
        /// In elements.
        offset: i64,
        /// In elements, one for each axis.
        strides: Vec<Option<i64>>,
    },
}

/// An argument of the C function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The parameter that it belongs to.
    pub parameter: usize,
    /// Its name.
    pub name: String,
    /// The part of the parameter.
    pub part: ParameterPart,
}

/// Part of a parameter that an argument gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterPart {
    /// The value of a scalar.
    Value,
    /// Address of elements, or of a result.
    Pointer,
    /// An extent, as an `int64_t`.
    Extent(usize),
    /// A stride, as an `int64_t`.
    Stride(usize),
}

impl Interface {
    /// Returns the number of parameters that are the function's arguments.
    pub fn inputs(&self) -> usize {
        self.parameters.len() - self.results
    }

    /// The arguments of the C function, in order.
    pub fn arguments(&self) -> Vec<Argument> {
        let parameters = self.parameters.iter().enumerate();
        let parts = |(number, parameter): (usize, &Parameter)| {
            let parts = parameter.parts().into_iter();
            let arguments = parts.map(move |part| Argument {
                parameter: number,
                name: String::new(),
                part,
            });
            arguments.collect::<Vec<_>>()
        };
        let mut arguments: Vec<Argument> = parameters.flat_map(parts).collect();
        for argument in &mut arguments {
            argument.name = self.name_of(argument.parameter, argument.part);
        }
        arguments
    }

    /// The name of an argument.
    pub fn name_of(&self, parameter: usize, part: ParameterPart) -> String {
        let name = &self.parameters[parameter].name;
        match part {
            ParameterPart::Value | ParameterPart::Pointer => name.clone(),
            ParameterPart::Extent(axis) => format!("{name}_n{axis}"),
            ParameterPart::Stride(axis) => format!("{name}_stride{axis}"),
        }
    }

    /// An extent as C writes it: a number or an argument.
    pub fn extent(&self, parameter: usize, axis: usize) -> String {
        match &self.parameters[parameter].kind {
            ParameterKind::Buffer(buffer) => match buffer.extents.get(axis) {
                Some(Extent::Fixed(n)) => n.to_string(),
                _ => self.name_of(parameter, ParameterPart::Extent(axis)),
            },
            ParameterKind::Value | ParameterKind::Result => "1".to_string(),
        }
    }

    /// A formula as C writes it.
    pub fn formula(&self, formula: &Formula) -> String {
        let mut stack: Vec<String> = Vec::new();
        for term in &formula.0 {
            let text = match *term {
                Term::Number(n) => n.to_string(),
                Term::Extent { parameter, axis } => self.extent(parameter, axis),
                Term::Value(parameter) => self.name_of(parameter, ParameterPart::Value),
                Term::Operation(operation) => {
                    let (b, a) = (
                        stack.pop().unwrap_or_default(),
                        stack.pop().unwrap_or_default(),
                    );
                    match operation {
                        Operation::Add => format!("({a} + {b})"),
                        Operation::Subtract => format!("({a} - {b})"),
                        Operation::Multiply => format!("({a} * {b})"),
                        Operation::DivideDown => format!("floor({a} / {b})"),
                        Operation::DivideUp => format!("ceil({a} / {b})"),
                        Operation::Min => format!("min({a}, {b})"),
                        Operation::Max => format!("max({a}, {b})"),
                    }
                }
            };
            stack.push(text);
        }
        let text = stack.pop().unwrap_or_default();
        let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        match inner.filter(|inner| !inner.contains(['(', ')'])) {
            Some(inner) => inner.to_string(),
            None => text,
        }
    }
}

impl Parameter {
    /// Returns the parts of it that are arguments, in order.
    pub fn parts(&self) -> Vec<ParameterPart> {
        let buffer = match &self.kind {
            ParameterKind::Value => return vec![ParameterPart::Value],
            ParameterKind::Result => return vec![ParameterPart::Pointer],
            ParameterKind::Buffer(buffer) => buffer,
        };
        let given = |extent: &Extent| matches!(extent, Extent::Given(_));
        let extents = (0..buffer.extents.len()).filter(|&axis| given(&buffer.extents[axis]));
        let mut parts = vec![ParameterPart::Pointer];
        parts.extend(extents.map(ParameterPart::Extent));
        if let BufferLayout::Strided { strides, .. } = &buffer.layout {
            let open = (0..strides.len()).filter(|&axis| strides[axis].is_none());
            parts.extend(open.map(ParameterPart::Stride));
        }
        parts
    }
}

impl Formula {
    /// Its value, given those of its terms that are no numbers; `None` if a number leaves the
    /// 64-bit range or is divided by zero.
    pub fn value(&self, of: impl Fn(Term) -> Option<i64>) -> Option<i64> {
        /// More numbers than any formula has at a time.
        const DEEPEST: usize = 32;
        let mut stack = [0; DEEPEST];
        let mut height: usize = 0;
        for term in &self.0 {
            let number = match *term {
                Term::Number(n) => n,
                Term::Operation(operation) => {
                    height = height.checked_sub(2)?;
                    operation.apply(stack[height], stack[height + 1])?
                }
                open => of(open)?,
            };
            *stack.get_mut(height)? = number;
            height += 1;
        }
        stack.get(height.checked_sub(1)?).copied()
    }
}

impl Operation {
    const ALL: [(Operation, &'static str); 7] = [
        (Operation::Add, "add"),
        (Operation::Subtract, "sub"),
        (Operation::Multiply, "mul"),
        (Operation::DivideDown, "floordiv"),
        (Operation::DivideUp, "ceildiv"),
        (Operation::Min, "min"),
        (Operation::Max, "max"),
    ];

    fn apply(self, a: i64, b: i64) -> Option<i64> {
        let down = |a: i64, b: i64| {
            let quotient = a.checked_div(b)?;
            let is_above = a % b != 0 && (a < 0) != (b < 0);
            Some(quotient - i64::from(is_above))
        };
        match self {
            Operation::Add => a.checked_add(b),
            Operation::Subtract => a.checked_sub(b),
            Operation::Multiply => a.checked_mul(b),
            Operation::DivideDown => down(a, b),
            Operation::DivideUp => down(a.checked_neg()?, b)?.checked_neg(),
            Operation::Min => Some(a.min(b)),
            Operation::Max => Some(a.max(b)),
        }
    }
}

/// The types of values and elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A truth value: a byte, 0 or 1.
    I1,
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits; an index too.
    I64,
    /// IEEE half precision, as its bits.
    F16,
    /// bfloat16, as its bits.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Element {
    const ALL: [(Element, &'static str, usize); 9] = [
        (Element::I1, "i1", 1),
        (Element::I8, "i8", 1),
        (Element::I16, "i16", 2),
        (Element::I32, "i32", 4),
        (Element::I64, "i64", 8),
        (Element::F16, "f16", 2),
        (Element::BF16, "bf16", 2),
        (Element::F32, "f32", 4),
        (Element::F64, "f64", 8),
    ];

    /// Its size in bytes, and what its address is a multiple of.
    pub fn bytes(self) -> usize {
        self.row().2
    }

    fn row(self) -> &'static (Element, &'static str, usize) {
        &Element::ALL[self as usize]
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().1)
    }
}

const ACCESSES: [(Access, &str); 3] = [
    (Access::Read, "read"),
    (Access::Written, "written"),
    (Access::Changed, "changed"),
];

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.results)?;
        for parameter in &self.parameters {
            let (kind, rest) = match &parameter.kind {
                ParameterKind::Value => ("value", String::new()),
                ParameterKind::Result => ("result", String::new()),
                ParameterKind::Buffer(buffer) => ("buffer", buffer.to_string()),
            };
            write!(f, "\n{kind} {} {}{rest}", parameter.name, parameter.element)?;
        }
        Ok(())
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " {}", ACCESSES[self.access as usize].1)?;
        for extent in &self.extents {
            match extent {
                Extent::Fixed(n) => write!(f, " {n}")?,
                Extent::Given(None) => f.write_str(" ?")?,
                Extent::Given(Some(formula)) => write!(f, " ?={formula}")?,
            }
        }
        match &self.layout {
            BufferLayout::Rows => f.write_str(" rows"),
            BufferLayout::Strided { offset, strides } => {
                write!(f, " strides {offset}")?;
                strides.iter().try_for_each(|stride| match stride {
                    Some(stride) => write!(f, " {stride}"),
                    None => f.write_str(" ?"),
                })
            }
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let term = |term: &Term| match *term {
            Term::Number(n) => n.to_string(),
            Term::Extent { parameter, axis } => format!("{parameter}.{axis}"),
            Term::Value(parameter) => format!("v{parameter}"),
            Term::Operation(operation) => Operation::ALL[operation as usize].1.to_string(),
        };
        f.write_str(&self.0.iter().map(term).collect::<Vec<_>>().join(","))
    }
}

/// The text is none that an interface prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl FromStr for Interface {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Interface, Malformed> {
        let mut lines = text.lines();
        let (name, results) = lines
            .next()
            .and_then(|line| line.rsplit_once(' '))
            .ok_or(Malformed)?;
        let results = results.parse().map_err(|_| Malformed)?;
        let parameters: Option<Vec<Parameter>> = lines.map(parameter).collect();
        let parameters = parameters.filter(|parameters| parameters.len() >= results);
        Ok(Interface {
            name: name.to_string(),
            parameters: parameters.ok_or(Malformed)?,
            results,
        })
    }
}

fn parameter(line: &str) -> Option<Parameter> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    let (name, element) = (words.next()?.to_string(), words.next()?);
    let element = Element::ALL.iter().find(|row| row.1 == element)?.0;
    let kind = match kind {
        "value" => ParameterKind::Value,
        "result" => ParameterKind::Result,
        "buffer" => ParameterKind::Buffer(buffer(words)?),
        _ => return None,
    };
    Some(Parameter {
        name,
        element,
        kind,
    })
}

fn buffer<'t>(mut words: impl Iterator<Item = &'t str>) -> Option<Buffer> {
    let access = words.next()?;
    let access = ACCESSES.iter().find(|row| row.1 == access)?.0;
    let mut extents = Vec::new();
    let layout = loop {
        match words.next()? {
            "rows" => break BufferLayout::Rows,
            "strides" => {
                let offset = words.next()?.parse().ok()?;
                let stride = |word: &str| match word {
                    "?" => Some(None),
                    number => number.parse().ok().map(Some),
                };
                let strides = words.by_ref().map(stride).collect::<Option<_>>()?;
                break BufferLayout::Strided { offset, strides };
            }
            "?" => extents.push(Extent::Given(None)),
            word => extents.push(match word.strip_prefix("?=") {
                Some(formula) => {
                    let terms = formula.split(',').map(term).collect::<Option<_>>()?;
                    Extent::Given(Some(Formula(terms)))
                }
                None => Extent::Fixed(word.parse().ok()?),
            }),
        }
    };
    Some(Buffer {
        access,
        extents,
        layout,
    })
}

fn term(word: &str) -> Option<Term> {
    if let Some((operation, _)) = Operation::ALL.iter().find(|row| row.1 == word) {
        return Some(Term::Operation(*operation));
    }
    if let Some(parameter) = word.strip_prefix('v') {
        return parameter.parse().ok().map(Term::Value);
    }
    match word.split_once('.') {
        Some((parameter, axis)) => Some(Term::Extent {
            parameter: parameter.parse().ok()?,
            axis: axis.parse().ok()?,
        }),
        None => word.parse().ok().map(Term::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
f 1
buffer x f32 read ? 8 rows
value n i64
buffer m bf16 changed 4 4 strides -5 ? 2
buffer w i1 written ?=0.0,v1,2,mul,add ?=3 rows
result s f64";

    #[test]
    fn text_and_back() {
        let interface: Interface = TEXT.parse().unwrap();
        assert_eq!(interface.to_string(), TEXT);
        for wrong in [
            "f",
            "f 1",
            "f x",
            "f 0\nvalue n i4",
            "f 0\nbuffer x f32 read 1",
            "f 0\nx y i8",
        ] {
            assert_eq!(wrong.parse::<Interface>(), Err(Malformed), "{wrong}");
        }
    }

    #[test]
    fn arguments_in_order() {
        let interface: Interface = TEXT.parse().unwrap();
        let arguments = interface.arguments();
        let names: Vec<&str> = arguments.iter().map(|a| a.name.as_str()).collect();
        let expected = ["x", "x_n0", "n", "m", "m_stride0", "w", "w_n0", "w_n1", "s"];
        assert_eq!(names, expected);
    }

    #[test]
    fn formulas() {
        let interface: Interface = TEXT.parse().unwrap();
        let ParameterKind::Buffer(w) = &interface.parameters[3].kind else {
            panic!("w is a buffer")
        };
        let Extent::Given(Some(formula)) = &w.extents[0] else {
            panic!("w has a formula")
        };
        assert_eq!(interface.formula(formula), "(x_n0 + (n * 2))");
        let value_of = |term| match term {
            Term::Extent { .. } => Some(5),
            _ => Some(7),
        };
        assert_eq!(formula.value(value_of), Some(19));
        assert_eq!(formula.value(|_| Some(i64::MAX)), None);
    }

    #[test]
    fn divisions_are_those_of_arith() {
        for (a, b) in [
            (7i64, 2i64),
            (-7, 2),
            (7, -2),
            (-7, -2),
            (6, 3),
            (-6, 3),
            (0, 5),
        ] {
            let exact = a as f64 / b as f64;
            let applied = |operation: Operation| operation.apply(a, b).map(|n| n as f64);
            assert_eq!(
                applied(Operation::DivideDown),
                Some(exact.floor()),
                "{a} {b}"
            );
            assert_eq!(applied(Operation::DivideUp), Some(exact.ceil()), "{a} {b}");
        }
        assert_eq!(Operation::DivideDown.apply(1, 0), None);
    }
}
