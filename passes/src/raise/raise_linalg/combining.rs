//! The combine operator of a computation that is raised: what a body accumulates into its destinations.

use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::marks;
use mdh_dialect::parts::Laws;
use mdh_dialect::structured::{Operand, Structured};
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Region, ValueLike};

use super::accumulate::Body;
use super::accumulators::{filled_before, uniform};
use super::loops::Loops;
use super::masks;
use super::operators::{Law, Operator, Wanted};
use super::options::Licence;
use crate::support::region;

/// Combine operator of a computation, and what is known of it.
pub struct Combining<'c> {
    /// The names of built-in operators.
    pub label: String,
    /// Its laws.
    pub laws: Laws<'c>,
    /// The code of an operator of its own.
    pub code: Region<'c>,
    /// Its neutral elements.
    pub neutral: Option<Vec<Scalar>>,
    /// Laws that the program grants.
    pub granted: Vec<String>,
}

impl<'c> Combining<'c> {
    /// There is no dimension to combine along.
    pub fn nothing() -> Self {
        Combining {
            label: String::new(),
            laws: Laws::default(),
            code: Region::new(),
            neutral: None,
            granted: Vec::new(),
        }
    }

    /// Takes what a body accumulates into its destinations out of it, and out of what it yields.
    pub fn new(
        of: &Structured<'c>,
        block: BlockRef<'c, 'c>,
        outputs: &[Operand<'c>],
        yields: &mut Vec<Val<'c>>,
        licence: Licence<'c>,
        several: bool,
    ) -> Result<Self, String> {
        let starts: Vec<Option<Scalar>> = outputs.iter().map(|o| start(of.op, o)).collect();
        let is_told = |code: &Region<'c>, _: &[Val<'c>]| licence.is_for(code);
        let wanted = licence.digest.map(|_| &is_told as &Wanted);
        let operator = accumulation(of, block, outputs, (&starts, yields), wanted)?;
        let licence = licence.of_operator(&operator);
        let neutral = neutrals(&operator, outputs, &starts);
        let granted = granted(&operator, licence, several);
        let (label, mut laws, code) = laws(operator, licence, several)?;
        let context = ir::context_of(of.op);
        // Built-in operators have theirs, and declare no laws.
        let declared = neutral.as_ref().filter(|_| laws.associative);
        let attribute = |number: &Scalar| types::attribute(context, *number);
        laws.neutral = declared.map(|numbers| numbers.iter().map(attribute).collect());
        Ok(Combining {
            label,
            laws,
            code,
            neutral,
            granted,
        })
    }
}

/// Splits a body into elements, which are what `yields` is afterwards, and an operator.
pub fn accumulation<'c>(
    of: &Structured<'c>,
    block: BlockRef<'c, 'c>,
    outputs: &[Operand<'c>],
    (starts, yields): (&[Option<Scalar>], &mut Vec<Val<'c>>),
    wanted: Option<&Wanted<'_, 'c>>,
) -> Result<Operator<'c>, String> {
    let arguments = arguments(block);
    let accumulators = outputs.iter().map(|o| o.argument.map(|n| arguments[n]));
    let accumulators: Option<Vec<Val>> = accumulators.collect();
    let accumulators = accumulators.ok_or("its body does not take what it accumulates")?;
    let unread = accumulators.iter().position(|a| !ir::has_uses(*a));
    if let Some(n) = unread {
        return Err(format!(
            "its body does not use what destination {n} holds, so that the last iteration of a \
             reduction would win: expected it to accumulate"
        ));
    }
    let is_paired = of.inputs.len() == of.outputs.len() && outputs.len() == of.outputs.len();
    masks::lift(block, &accumulators);
    let loops = Loops::new(of, &outputs[0]);
    let several = loops.is_kept.iter().filter(|kept| !**kept).count() > 1;
    let mut body = Body {
        block,
        accumulators: &accumulators,
        starts,
        yields: region::yields(block),
        paired: is_paired.then(|| arguments[..of.inputs.len()].to_vec()),
        loops: several.then_some(&loops),
        wanted,
    };
    let operator = body.split()?;
    *yields = body.yields;
    Ok(operator)
}

/// The number that a destination is known to hold everywhere before.
pub fn start(op: Op, output: &Operand) -> Option<Scalar> {
    match op.result_count() {
        0 => filled_before(op, output.value).map(|(_, number)| number),
        _ => uniform(output.value),
    }
}

/// The neutral elements of an operator: of one's own where accumulators start from them.
fn neutrals(
    operator: &Operator,
    outputs: &[Operand],
    starts: &[Option<Scalar>],
) -> Option<Vec<Scalar>> {
    let operators = match operator {
        Operator::Own(own) if own.from_neutral => return starts.iter().copied().collect(),
        Operator::Own(_) => return None,
        Operator::Builtin(operators) => operators,
    };
    let neutral = |(operator, output): (&Builtin, &Operand)| {
        operator.neutral(types::buffer_type(output.value.r#type())?.element)
    };
    operators.iter().zip(outputs).map(neutral).collect()
}

/// Laws that are not known to hold, or known not to, and are granted.
fn granted(operator: &Operator, licence: Licence, several: bool) -> Vec<String> {
    let Operator::Own(own) = operator else {
        return Vec::new();
    };
    let commutative = (licence.commutative && several).then_some(marks::COMMUTATIVE.name);
    let laws = [
        (&own.associative, licence.associative, "associative"),
        (&own.commutative, commutative, "commutative"),
    ];
    let say = |(law, by, what): (&Law, Option<&str>, &str)| match (law, by?) {
        (Law::Broken(broken), by) => Some(format!("'{by}' grants it: {}", broken.rule)),
        (Law::Open, by) => Some(format!(
            "'{by}' grants it: its operator is not known to be {what}"
        )),
        (Law::Holds, _) => None,
    };
    laws.into_iter().filter_map(say).collect()
}

/// The text of `pw`'s function, its laws and its code.
fn laws<'c>(
    operator: Operator<'c>,
    licence: Licence,
    several: bool,
) -> Result<(String, Laws<'c>, Region<'c>), String> {
    let code = match operator {
        Operator::Builtin(operators) => {
            let names: Vec<&str> = operators.iter().map(|o| o.name()).collect();
            let list = names.join(", ");
            return Ok((list, Laws::default(), Region::new()));
        }
        Operator::Own(own) => own,
    };
    let rule = |law: &Law, open: &str| match law {
        Law::Holds => None,
        Law::Open => Some(open.to_owned()),
        Law::Broken(broken) => Some(format!("{}: {}", broken.rule, broken.expected)),
    };
    let associative = rule(
        &code.associative,
        "its body accumulates by an operator that is not known to be associative: where it is, put \
         'mdh.associative' on the operation, and 'mdh.commutative' where it is that",
    );
    let commutative = rule(
        &code.commutative,
        "its body accumulates over several loops by an operator that is not known to be \
         commutative: where it is, put 'mdh.commutative' on the operation",
    );
    let associative = associative.filter(|_| licence.associative.is_none());
    let commutative = commutative.filter(|_| !licence.commutative);
    if let Some(rule) = associative {
        return Err(rule);
    }
    if let Some(rule) = commutative.clone().filter(|_| several) {
        return Err(rule);
    }
    let laws = Laws {
        commutative: commutative.is_none(),
        associative: true,
        neutral: None,
    };
    Ok((format!("\"{}\"", code.name), laws, code.code))
}
