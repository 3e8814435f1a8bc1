//! Testing an operator's declared laws on random tuples (`--check-laws`).
//!
//! `f(f(x, y), z) = f(x, f(y, z))` if it is declared associative, `f(x, y) = f(y, x)` if
//! commutative, `f(e, x) = x = f(x, e)` if it has a neutral element `e`. Integers must agree
//! exactly, floats up to what reordering may change. NaN, infinities and -0.0 are tried where that
//! is asked for: many an operator on floats has its laws for finite numbers only.
//!
//! NaN agrees with NaN, and -0.0 with 0.0. Where one component is NaN on both sides, the tuple as
//! a whole is no value, and NaN in another component of it agrees with any float: a pair of a
//! maximum and a sum may spoil the sum when the maximum is spoilt.
//!
//! An operator may have its laws for the values of its program only (a count is not negative). So a
//! check of results asks them again of tuples that the program itself combines (`Observed`): a bound
//! on what reordering changes means nothing for an operator that must not be reordered.

use std::fmt;

use crate::machine::{EvalError, Machine};
use crate::operator::Operator;
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType};

/// A law of a combine operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// `f(f(x, y), z) = f(x, f(y, z))`.
    Associative,
    /// `f(x, y) = f(y, x)`.
    Commutative,
    /// `f(e, x) = x`.
    LeftNeutral,
    /// `f(x, e) = x`.
    RightNeutral,
}

/// A counter-example to a law.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The law that does not hold.
    pub law: Law,
    /// The operator, as messages name it.
    pub operator: String,
    /// The tuples `x`, `y`, `z`, as many as the law has.
    pub tuples: Vec<Vec<Scalar>>,
    /// The left-hand side's value.
    pub left: Vec<Scalar>,
    /// The right-hand side's value.
    pub right: Vec<Scalar>,
}

impl Law {
    /// Its name, and its two sides.
    fn texts(self) -> [&'static str; 3] {
        match self {
            Law::Associative => ["associative", "f(f(x, y), z)", "f(x, f(y, z))"],
            Law::Commutative => ["commutative", "f(x, y)", "f(y, x)"],
            Law::LeftNeutral => ["neutral on the left", "f(neutral, x)", "x"],
            Law::RightNeutral => ["neutral on the right", "f(x, neutral)", "x"],
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.texts()[0])
    }
}

impl Violation {
    /// The tuples with both sides: `for x = (1), y = (2), f(x, y) = (1), but f(y, x) = (2)`.
    pub fn example(&self) -> String {
        let [_, left, right] = self.law.texts();
        let tuples = ["x", "y", "z"].iter().zip(&self.tuples);
        let tuples = tuples.map(|(name, tuple)| format!("{name} = {}", tuple_text(tuple)));
        let tuples: Vec<String> = tuples.collect();
        let (a, b) = (tuple_text(&self.left), tuple_text(&self.right));
        format!("for {}, {left} = {a}, but {right} = {b}", tuples.join(", "))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = self.operator.trim_start_matches('@');
        let ([name, ..], example) = (self.law.texts(), self.example());
        let subject = match self.law {
            Law::Associative | Law::Commutative => "",
            _ => "the neutral element of ",
        };
        write!(f, "{subject}operator '{operator}' is not {name}: {example}")
    }
}

/// `(1.0, 3)`.
pub fn tuple_text(tuple: &[Scalar]) -> String {
    let values: Vec<_> = tuple.iter().map(|v| v.to_string()).collect();
    format!("({})", values.join(", "))
}

/// Relative to the largest value involved, floats may differ by so many epsilons.
const TOLERANCE: f64 = 64.0;

/// Returns the number of laws that an operator on these component types declares: those that
/// [`check_laws`] tests.
pub fn declared(operator: &Operator, components: &[ScalarType]) -> usize {
    let neutral = operator.neutral(components).map_or(0, |_| 2);
    usize::from(operator.is_associative()) + usize::from(operator.is_commutative()) + neutral
}

/// The values that laws are tested on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Finite numbers.
    Finite,
    /// NaN, infinities and -0.0 among them.
    Special,
}

/// Tests every declared law on `trials` random tuples of these component types; small numbers
/// come first, so that counter-examples are readable. Reports one violation of each law at most.
///
/// Tuples for which the operator is undefined (a division by zero) are left out.
pub fn check_laws(
    operator: &Operator,
    components: &[ScalarType],
    values: Values,
    seed: u64,
    trials: usize,
) -> Vec<Violation> {
    let mut test = Test {
        operator,
        machine: Machine::with_step_limit(1 << 20),
        violations: Vec::new(),
    };
    let mut random = Random::new(seed);
    for trial in 0..trials {
        let tuple = |random: &mut Random| -> Vec<Scalar> {
            let value = |ty: &ScalarType| match values {
                Values::Special if is_special(*ty, random, trial) => special(*ty, random),
                _ => random_scalar(*ty, random, trial, trials),
            };
            components.iter().map(value).collect()
        };
        let (x, y, z) = (tuple(&mut random), tuple(&mut random), tuple(&mut random));
        if operator.is_associative() {
            test.associative(&x, &y, &z);
        }
        if operator.is_commutative() {
            test.commutative(&x, &y);
        }
        if let Some(neutral) = operator.neutral(components) {
            test.neutral(&neutral, &x);
        }
    }
    test.violations
}

/// Values that calculations with floats often forget.
const SPECIAL: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];

/// Every second float in every fourth trial.
fn is_special(ty: ScalarType, random: &mut Random, trial: usize) -> bool {
    trial % 4 == 3 && ty.is_float() && random.below(2) == 0
}

fn special(ty: ScalarType, random: &mut Random) -> Scalar {
    let number = random.below(SPECIAL.len() as u64) as usize;
    Scalar::from_f64(ty, SPECIAL[number])
}

/// In the first half of the trials small integers, of which ties and zeros are many.
fn random_scalar(ty: ScalarType, random: &mut Random, trial: usize, trials: usize) -> Scalar {
    if trial * 2 < trials || random.below(4) == 0 {
        let reach = 2 + (trial as u64 % 4);
        let small = random.below(2 * reach + 1) as i64 - reach as i64;
        return Scalar::from_i64(ty, small);
    }
    if ty.is_float() {
        return Scalar::from_f64(ty, random.signed_unit() * 8.0);
    }
    Scalar::from_bits(ty, random.bits())
}

/// Laws that an operator declares, tested on tuples that are combined in order.
#[derive(Clone, Debug)]
pub(crate) struct Observed<'a> {
    test: Test<'a>,
    /// So many more triples are tested.
    left: usize,
}

/// So many triples of a computation are tested.
const TRIPLES: usize = 1 << 12;

impl<'a> Observed<'a> {
    /// Nothing where no law of a user's operator is declared.
    pub(crate) fn new(operator: Option<&'a Operator>) -> Option<Self> {
        let user = operator.filter(|o| matches!(o, Operator::User(_)));
        let operator = user.filter(|o| o.is_associative() || o.is_commutative())?;
        let test = Test {
            operator,
            machine: Machine::new(),
            violations: Vec::new(),
        };
        Some(Observed {
            test,
            left: TRIPLES,
        })
    }

    /// Returns whether more triples are wanted.
    pub(crate) fn is_open(&self) -> bool {
        self.left > 0
    }

    /// A law that three tuples which follow each other refute. Numbers that are none, infinite or
    /// denormal say nothing: what comes to such depends on the order, whatever laws hold for others.
    pub(crate) fn triple(&mut self, [x, y, z]: [&[Scalar]; 3]) -> Option<Violation> {
        self.left = self.left.saturating_sub(1);
        let (xy, yz) = (self.test.apply(x, y).ok()?, self.test.apply(y, z).ok()?);
        let [left, right] = [(&xy[..], z), (x, &yz[..])].map(|(a, b)| self.test.apply(a, b).ok());
        let (left, right) = left.zip(right)?;
        let tuples = [x, y, z, &xy, &yz, &left, &right];
        if !tuples.iter().all(|tuple| tuple.iter().all(is_ordinary)) {
            return None;
        }
        if self.test.operator.is_associative() {
            let scale = scale(&tuples[..5]);
            self.test
                .compare(Law::Associative, &[x, y, z], left, right, scale);
        }
        if self.test.operator.is_commutative() {
            self.test.commutative(x, y);
        }
        self.test.violations.pop()
    }
}

fn is_ordinary(value: &Scalar) -> bool {
    let size = value.as_f64().abs();
    let smallest = value.ty.min_denormal() / value.ty.epsilon();
    !value.ty.is_float() || size == 0.0 || (size.is_finite() && size >= smallest)
}

#[derive(Clone, Debug)]
struct Test<'a> {
    operator: &'a Operator,
    machine: Machine,
    violations: Vec<Violation>,
}

impl Test<'_> {
    fn apply(&mut self, x: &[Scalar], y: &[Scalar]) -> Result<Vec<Scalar>, EvalError> {
        let mut result = x.to_vec();
        let mut scratch = Vec::new();
        self.operator
            .apply(&mut self.machine, x, y, &mut result, &mut scratch)?;
        Ok(result)
    }

    fn associative(&mut self, x: &[Scalar], y: &[Scalar], z: &[Scalar]) {
        let Ok(xy) = self.apply(x, y) else { return };
        let Ok(yz) = self.apply(y, z) else { return };
        let sides = self.apply(&xy, z).ok().zip(self.apply(x, &yz).ok());
        let Some((left, right)) = sides else { return };
        let scale = scale(&[x, y, z, &xy, &yz]);
        self.compare(Law::Associative, &[x, y, z], left, right, scale);
    }

    fn commutative(&mut self, x: &[Scalar], y: &[Scalar]) {
        let sides = self.apply(x, y).ok().zip(self.apply(y, x).ok());
        let Some((left, right)) = sides else { return };
        let scale = scale(&[x, y]);
        self.compare(Law::Commutative, &[x, y], left, right, scale);
    }

    fn neutral(&mut self, neutral: &[Scalar], x: &[Scalar]) {
        let scale = scale(&[x]);
        if let Ok(left) = self.apply(neutral, x) {
            self.compare(Law::LeftNeutral, &[x], left, x.to_vec(), scale);
        }
        if let Ok(left) = self.apply(x, neutral) {
            self.compare(Law::RightNeutral, &[x], left, x.to_vec(), scale);
        }
    }

    fn compare(
        &mut self,
        law: Law,
        tuples: &[&[Scalar]],
        left: Vec<Scalar>,
        right: Vec<Scalar>,
        scale: f64,
    ) {
        let known = self.violations.iter().any(|v| v.law == law);
        if known || agree(&left, &right, scale) {
            return;
        }
        self.violations.push(Violation {
            law,
            operator: self.operator.to_string(),
            tuples: tuples.iter().map(|t| t.to_vec()).collect(),
            left,
            right,
        });
    }
}

/// The largest finite float among the values.
fn scale(tuples: &[&[Scalar]]) -> f64 {
    let values = tuples.iter().flat_map(|t| t.iter());
    let floats = values.filter(|v| v.ty.is_float()).map(|v| v.as_f64().abs());
    floats.filter(|v| v.is_finite()).fold(0.0, f64::max)
}

fn agree(left: &[Scalar], right: &[Scalar], scale: f64) -> bool {
    let mut pairs = left.iter().zip(right);
    let is_spoilt = pairs.clone().any(|(a, b)| a.is_nan() && b.is_nan());
    let either_is_nan = |a: &Scalar, b: &Scalar| a.is_nan() || b.is_nan();
    pairs.all(|(a, b)| (is_spoilt && either_is_nan(a, b)) || is_near(*a, *b, scale))
}

fn is_near(a: Scalar, b: Scalar, scale: f64) -> bool {
    if a.same_value(b) || a.ty.is_integer() {
        return a.same_value(b);
    }
    // What is beyond the largest number is about as large.
    let finite = |x: f64| x.clamp(-a.ty.max_finite(), a.ty.max_finite());
    let (x, y) = (finite(a.as_f64()), finite(b.as_f64()));
    let scale = scale.max(x.abs()).max(y.abs());
    let allowed = TOLERANCE * a.ty.epsilon() * scale + a.ty.min_denormal();
    (x - y).abs() <= allowed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Block, Code, Instruction, Op};
    use crate::operator::{Builtin, UserOperator};
    use ScalarType::{F32, I32};

    fn user(op: Op, ty: ScalarType, neutral: Option<i64>) -> Operator {
        Operator::User(UserOperator {
            name: "f".into(),
            code: Code::single(op, ty),
            neutral: neutral.map(|v| vec![Scalar::from_i64(ty, v)]),
            commutative: true,
            associative: true,
        })
    }

    #[test]
    fn builtin_operators_keep_their_laws() {
        for op in Builtin::all() {
            for ty in ScalarType::ALL.into_iter().filter(|ty| op.accepts(*ty)) {
                let violations =
                    check_laws(&Operator::Builtin(vec![op]), &[ty], Values::Special, 1, 400);
                assert_eq!(violations, [], "{op} {ty}");
            }
        }
    }

    #[test]
    fn subtraction_breaks_all_of_them() {
        let violations = check_laws(
            &user(Op::Subi, I32, Some(0)),
            &[I32],
            Values::Finite,
            1,
            100,
        );
        let laws: Vec<_> = violations.iter().map(|v| v.law).collect();
        assert!(laws.contains(&Law::Associative) && laws.contains(&Law::Commutative));
        assert!(laws.contains(&Law::LeftNeutral) && !laws.contains(&Law::RightNeutral));
        let text = violations.iter().find(|v| v.law == Law::Commutative);
        let text = text.unwrap().to_string();
        assert!(
            text.starts_with("operator 'f' is not commutative: for x = ("),
            "{text}"
        );
    }

    #[test]
    fn the_message_shows_both_sides() {
        let x = vec![Scalar::from_i64(I32, 3)];
        let violation = Violation {
            law: Law::LeftNeutral,
            operator: "@f".into(),
            tuples: vec![x.clone()],
            left: vec![Scalar::from_i64(I32, -3)],
            right: x,
        };
        assert_eq!(
            violation.to_string(),
            "the neutral element of operator 'f' is not neutral on the left: for x = (3), \
             f(neutral, x) = (-3), but x = (3)"
        );
    }

    #[test]
    fn rounding_is_not_a_violation() {
        assert_eq!(
            check_laws(
                &user(Op::Addf, F32, Some(0)),
                &[F32],
                Values::Special,
                3,
                2000
            ),
            []
        );
        assert_eq!(
            check_laws(
                &user(Op::Mulf, F32, Some(1)),
                &[F32],
                Values::Special,
                3,
                2000
            ),
            []
        );
        assert_ne!(
            check_laws(
                &user(Op::Addf, F32, Some(1)),
                &[F32],
                Values::Finite,
                3,
                100
            ),
            []
        );
    }

    /// `a > b ? a : b` takes NaN or not, depending on where it stands.
    #[test]
    fn special_values_are_tried() {
        use crate::op::CmpfPredicate::Ogt;
        for ty in [ScalarType::F16, ScalarType::BF16, F32, ScalarType::F64] {
            let instructions = [
                (2, Op::Cmpf(Ogt), vec![0, 1], ScalarType::I1),
                (3, Op::Select, vec![2, 0, 1], ty),
            ];
            let instructions = instructions.map(|(result, op, operands, ty)| Instruction::Apply {
                result,
                op,
                operands,
                ty,
            });
            let code = Code {
                inputs: vec![ty; 2],
                results: vec![ty],
                registers: 4,
                body: Block {
                    instructions: instructions.to_vec(),
                    yields: vec![3],
                },
            };
            let larger = Operator::User(UserOperator {
                name: "larger".into(),
                code,
                neutral: Some(vec![Scalar::from_f64(ty, f64::NEG_INFINITY)]),
                commutative: true,
                associative: true,
            });
            let violations = check_laws(&larger, &[ty], Values::Special, 0, 200);
            let laws: Vec<_> = violations.iter().map(|v| v.law).collect();
            assert!(laws.contains(&Law::Commutative), "{ty}: {violations:?}");
            assert!(violations.iter().any(|v| v.to_string().contains("NaN")));
            // Of finite numbers it is a maximum.
            assert_eq!(check_laws(&larger, &[ty], Values::Finite, 0, 200), []);
        }
    }

    #[test]
    fn infinities_agree_with_themselves_only() {
        let float = |x| Scalar::from_f64(F32, x);
        let (inf, largest) = (float(f64::INFINITY), float(F32.max_finite()));
        assert!(is_near(inf, inf, 1.0) && is_near(inf, largest, 1.0));
        assert!(!is_near(inf, float(1.0), 1.0) && !is_near(inf, float(f64::NEG_INFINITY), 1.0));
        assert!(!is_near(float(f64::NAN), inf, 1.0));
    }

    /// A pair whose first component is NaN on both sides has no other value.
    #[test]
    fn spoilt_tuples() {
        let float = |x| Scalar::from_f64(F32, x);
        let (nan, one, two) = (float(f64::NAN), float(1.0), float(2.0));
        assert!(agree(&[nan, one], &[nan, nan], 1.0));
        assert!(!agree(&[nan, one], &[nan, two], 1.0));
        assert!(!agree(&[nan, one], &[one, one], 1.0));
        let (three, four) = (Scalar::from_i64(I32, 3), Scalar::from_i64(I32, 4));
        assert!(!agree(&[nan, three], &[nan, four], 1.0));
    }

    #[test]
    fn what_is_undefined_is_left_out() {
        let violations = check_laws(&user(Op::Divsi, I32, None), &[I32], Values::Finite, 1, 200);
        assert!(!violations.is_empty());
    }

    /// `|x - y|` is no way to combine parts, and three numbers that are far enough apart show it; a sum and
    /// what overflows in some order show nothing.
    #[test]
    fn triples_of_a_program_refute_a_law() {
        let float = |x: f64| vec![Scalar::from_f64(F32, x)];
        let triple = |operator: &Operator, [x, y, z]: [f64; 3]| {
            let mut observed = Observed::new(Some(operator)).unwrap();
            let violation = observed.triple([&float(x), &float(y), &float(z)]);
            violation.map(|violation| violation.law)
        };
        let distance = Operator::User(UserOperator {
            name: "f".into(),
            code: Code {
                inputs: vec![F32; 2],
                results: vec![F32],
                registers: 4,
                body: Block {
                    instructions: [(2, Op::Subf, vec![0, 1]), (3, Op::Absf, vec![2])]
                        .map(|(result, op, operands)| Instruction::Apply {
                            result,
                            op,
                            operands,
                            ty: F32,
                        })
                        .to_vec(),
                    yields: vec![3],
                },
            },
            neutral: None,
            commutative: true,
            associative: true,
        });
        let associative = Some(Law::Associative);
        assert_eq!(triple(&distance, [0.25, 0.5, 0.75]), associative);
        assert_eq!(triple(&distance, [0.25, f64::NAN, 0.75]), None);
        assert_eq!(
            triple(&user(Op::Subf, F32, None), [0.0, 1.0, 0.0]),
            Some(Law::Commutative)
        );
        assert_eq!(triple(&user(Op::Addf, F32, None), [0.1, 0.2, -0.3]), None);
        assert_eq!(
            triple(&user(Op::Mulf, F32, None), [1e30, 1e30, 1e-30]),
            None
        );
        assert_eq!(
            triple(&user(Op::Mulf, F32, None), [1e-30, 1e-10, 1e30]),
            None
        );
        assert!(Observed::new(Some(&Operator::Builtin(vec![Builtin::Addf]))).is_none());
    }
}
