//! Linear forms over numbered variables, and systems of linear equations and inequalities over the
//! integers: is there a solution, and which? Aliasing and injectivity are decided by it.
//!
//! Equations are solved first, by substitutions that have an inverse over the integers, Euclid's
//! algorithm on their coefficients. Inequalities fall apart into groups that share no variable;
//! of each, Fourier and Motzkin's elimination takes one variable after the other, those first of
//! which a solution over the integers is sure to exist (Pugh, The Omega test, 1991, section 2.3).
//! Backwards through the eliminated ones, values are tried that the bounds leave. So an answer is
//! exact, or `Unknown` where bounds are missing, numbers are too large or too much is to be tried.
//!
//! Index functions ([`crate::affine`]) are forms over dimensions, what bounds them and index
//! expressions ([`crate::index`]) are the intervals here, and whether accesses share elements
//! ([`crate::reuse::alias`], [`crate::rules`]) is asked of systems. Products of symbols are no forms:
//! `index` has polynomials for them, and says why.

mod form;
mod interval;

pub use form::{Form, Integer, terms};
pub use interval::{INFINITE, Interval};

/// So many values are tried at most.
const TRIED: usize = 1 << 14;
/// So many inequalities are held at most.
const HELD: usize = 1 << 11;
/// So many are made at once at most, of which some say the same or nothing.
const MADE: usize = 1 << 13;
/// So many values are tried of a variable that one side does not bound.
const WINDOW: i128 = 16;

impl Form {
    fn divisor(&self) -> i128 {
        self.coefficients.iter().fold(0, |g, c| gcd(g, *c))
    }

    /// With the value of a variable in its place.
    fn substitute(&self, variable: usize, value: &Form) -> Option<Form> {
        let factor = self.coefficient(variable);
        if factor == 0 {
            return Some(self.clone());
        }
        let mut rest = self.clone();
        rest.coefficients[variable] = 0;
        rest.add(factor, value)
    }
}

/// The greatest common divisor: 0 of zeros.
pub fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Equations and inequalities over integer variables.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Number of variables.
    variables: usize,
    equations: Vec<Form>,
    /// Forms that are not negative.
    inequalities: Vec<Form>,
}

/// Existence of a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This one: the value of each variable.
    Solution(Vec<i128>),
    /// There is none.
    None,
    /// Neither is shown.
    Unknown,
}

impl System {
    /// One more variable.
    pub fn variable(&mut self) -> Form {
        self.variables += 1;
        Form::variable(self.variables - 1)
    }

    /// Asks for `form == 0`.
    pub fn zero(&mut self, form: Form) {
        self.equations.push(form);
    }

    /// Asks for `form >= 0`.
    pub fn not_negative(&mut self, form: Form) {
        self.inequalities.push(form);
    }

    /// Asks for `least <= form <= most`; `None` if that overflows.
    pub fn between(&mut self, least: i128, form: &Form, most: i128) -> Option<()> {
        self.not_negative(form.plus(-1, &Form::constant(least))?);
        self.not_negative(Form::constant(most).plus(-1, form)?);
        Some(())
    }

    /// Looks for a solution.
    pub fn solve(&self) -> Answer {
        self.try_solve().unwrap_or(Answer::Unknown)
    }

    /// `None` for an overflow.
    fn try_solve(&self) -> Option<Answer> {
        let mut rest = self.clone();
        let Some(substituted) = rest.solve_equations()? else {
            return Some(Answer::None);
        };
        let mut values = vec![0; self.variables];
        let mut is_known = true;
        for group in groups(rest.inequalities) {
            match Elimination::eliminate(group) {
                Eliminated::Contradiction => return Some(Answer::None),
                Eliminated::TooLarge => is_known = false,
                Eliminated::Levels(elimination) => {
                    match elimination.search(&mut values) {
                        Answer::None => return Some(Answer::None),
                        Answer::Unknown => is_known = false,
                        Answer::Solution(found) => values = found,
                    };
                }
            }
        }
        if !is_known {
            return Some(Answer::Unknown);
        }
        for (variable, value) in substituted.iter().rev() {
            values[*variable] = value.eval(&values)?;
        }
        Some(Answer::Solution(values))
    }

    /// Replaces variables until no equation is left: each variable with its value, which may
    /// contain another one in its place. `Some(None)` if there is a contradiction.
    #[allow(
        clippy::type_complexity,
        reason = "an overflow, a contradiction, or the values"
    )]
    fn solve_equations(&mut self) -> Option<Option<Vec<(usize, Form)>>> {
        let mut substituted = Vec::new();
        while let Some(mut equation) = self.equations.pop() {
            let divisor = equation.divisor();
            if divisor == 0 && equation.constant == 0 {
                continue;
            }
            if divisor == 0 || equation.constant % divisor != 0 {
                return Some(None);
            }
            let coefficients = equation.coefficients.iter_mut();
            coefficients
                .chain([&mut equation.constant])
                .for_each(|c| *c /= divisor);
            let smallest = equation.terms().min_by_key(|(_, c)| c.unsigned_abs());
            let (variable, _) = smallest?;
            let value = value_of(variable, &equation)?;
            if equation.coefficient(variable).abs() != 1 {
                self.equations.push(equation);
            }
            for form in self.equations.iter_mut().chain(&mut self.inequalities) {
                *form = form.substitute(variable, &value)?;
            }
            substituted.push((variable, value));
        }
        Some(Some(substituted))
    }
}

/// Substitutes for a variable by an equation: `a x + b y + c = 0` is `a x' + (b mod a) y + c mod a
/// = 0` with `x = x' - (b div a) y - c div a`, and has no `x'` if `a` is 1 or -1.
fn value_of(variable: usize, equation: &Form) -> Option<Form> {
    let factor = equation.coefficient(variable);
    let mut value = equation.clone();
    let coefficients = value.coefficients.iter_mut().chain([&mut value.constant]);
    for c in coefficients {
        // What is left of the coefficients is less than the factor.
        *c = c.div_euclid(factor).checked_neg()?;
    }
    value.coefficients[variable] = i128::from(factor.abs() != 1);
    Some(value)
}

/// Inequalities by the variables that they share, directly or by way of others.
fn groups(inequalities: Vec<Form>) -> Vec<Vec<Form>> {
    let mut groups: Vec<(Vec<usize>, Vec<Form>)> = Vec::new();
    for form in inequalities {
        let mut variables: Vec<usize> = form.terms().map(|(v, _)| v).collect();
        let mut forms = vec![form];
        let is_shared =
            |(other, _): &(Vec<usize>, Vec<Form>)| variables.iter().any(|v| other.contains(v));
        let (shared, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_shared);
        for (more, others) in shared {
            variables.extend(more);
            forms.extend(others);
        }
        groups = apart;
        groups.push((variables, forms));
    }
    groups.into_iter().map(|(_, forms)| forms).collect()
}

/// Variables that were eliminated, each with the inequalities that it had.
struct Elimination {
    levels: Vec<(usize, Vec<Form>)>,
}

enum Eliminated {
    Levels(Elimination),
    Contradiction,
    TooLarge,
}

impl Elimination {
    fn eliminate(group: Vec<Form>) -> Eliminated {
        let mut levels = Vec::new();
        let mut held = group;
        loop {
            held = match tightened(held) {
                Some(held) => held,
                None => return Eliminated::Contradiction,
            };
            if held.len() > HELD {
                return Eliminated::TooLarge;
            }
            let Some(variable) = easiest(&held) else {
                return Eliminated::Levels(Elimination { levels });
            };
            let (with, mut without): (Vec<Form>, Vec<Form>) = held
                .into_iter()
                .partition(|form| form.coefficient(variable) != 0);
            let lower = with.iter().filter(|form| form.coefficient(variable) > 0);
            let lowers = lower.clone().count();
            if lowers * (with.len() - lowers) > MADE {
                return Eliminated::TooLarge;
            }
            for (a, b) in lower.flat_map(|a| with.iter().map(move |b| (a, b))) {
                if b.coefficient(variable) < 0 {
                    let scaled = a.clone().times(-b.coefficient(variable));
                    let sum = scaled.and_then(|scaled| scaled.add(a.coefficient(variable), b));
                    match sum {
                        Some(sum) => without.push(sum),
                        None => return Eliminated::TooLarge,
                    }
                }
            }
            levels.push((variable, with));
            held = without;
        }
    }

    /// Goes back through the variables, with values that the bounds leave.
    fn search(&self, values: &mut [i128]) -> Answer {
        let mut search = Search {
            levels: &self.levels,
            tried: 0,
            is_complete: true,
        };
        match search.extend(self.levels.len(), values) {
            Some(true) => Answer::Solution(values.to_vec()),
            Some(false) if search.is_complete => Answer::None,
            _ => Answer::Unknown,
        }
    }
}

/// Divides by common divisors, which rounds constants, and leaves out what follows from others;
/// `None` for a contradiction.
fn tightened(forms: Vec<Form>) -> Option<Vec<Form>> {
    let mut tight: Vec<Form> = Vec::new();
    for mut form in forms {
        while form.coefficients.last() == Some(&0) {
            form.coefficients.pop();
        }
        let divisor = form.divisor();
        if divisor == 0 {
            if form.constant < 0 {
                return None;
            }
            continue;
        }
        form.coefficients.iter_mut().for_each(|c| *c /= divisor);
        form.constant = form.constant.div_euclid(divisor);
        let same = tight
            .iter_mut()
            .find(|k| k.coefficients == form.coefficients);
        match same {
            Some(same) => same.constant = same.constant.min(form.constant),
            None => tight.push(form),
        }
    }
    Some(tight)
}

/// The variable whose elimination keeps all solutions over the integers, if there is one, and
/// makes the fewest inequalities.
fn easiest(held: &[Form]) -> Option<usize> {
    let mut variables: Vec<usize> = held
        .iter()
        .flat_map(|form| form.terms().map(|(v, _)| v))
        .collect();
    variables.sort_unstable();
    variables.dedup();
    variables.into_iter().min_by_key(|v| {
        let bounds = |sign: i128| {
            let coefficients = held.iter().map(move |form| form.coefficient(*v) * sign);
            coefficients.filter(|c| *c > 0)
        };
        let is_exact = bounds(1).all(|c| c == 1) || bounds(-1).all(|c| c == 1);
        (!is_exact, bounds(1).count() * bounds(-1).count())
    })
}

struct Search<'a> {
    levels: &'a [(usize, Vec<Form>)],
    tried: usize,
    is_complete: bool,
}

impl Search<'_> {
    /// Returns whether values of the first `level` variables fit those of the others; `None` if that
    /// takes too long or overflows.
    fn extend(&mut self, level: usize, values: &mut [i128]) -> Option<bool> {
        let Some(level) = level.checked_sub(1) else {
            return Some(true);
        };
        let (variable, forms) = &self.levels[level];
        let (mut low, mut high): (Option<i128>, Option<i128>) = (None, None);
        values[*variable] = 0;
        for form in forms {
            let (rest, factor) = (form.eval(values)?, form.coefficient(*variable));
            if factor > 0 {
                // factor * x >= -rest, rounded up.
                let bound = rest.div_euclid(factor).checked_neg()?;
                low = Some(low.map_or(bound, |low| low.max(bound)));
            } else {
                let bound = rest.div_euclid(-factor);
                high = Some(high.map_or(bound, |high| high.min(bound)));
            }
        }
        let (first, last) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low.checked_add(WINDOW)?),
            (None, Some(high)) => (high.checked_sub(WINDOW)?, high),
            (None, None) => (0, WINDOW),
        };
        let mut value = first;
        while value <= last {
            self.tried += 1;
            if self.tried > TRIED {
                return None;
            }
            values[*variable] = value;
            if self.extend(level, values)? {
                return Some(true);
            }
            value = value.checked_add(1)?;
        }
        self.is_complete &= low.is_some() && high.is_some();
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A system of these equations and inequalities, each the coefficients and the constant.
    fn system<const N: usize>(equations: &[[i128; N]], inequalities: &[[i128; N]]) -> System {
        let mut system = System::default();
        (1..N).for_each(|_| drop(system.variable()));
        let form = |row: &[i128; N]| Form {
            coefficients: row[..N - 1].to_vec(),
            constant: row[N - 1],
        };
        equations.iter().for_each(|row| system.zero(form(row)));
        let inequalities = inequalities.iter();
        inequalities.for_each(|row| system.not_negative(form(row)));
        system
    }

    fn holds(system: &System, values: &[i128]) -> bool {
        let mut zero = system.equations.iter();
        let mut not_negative = system.inequalities.iter();
        zero.all(|form| form.eval(values) == Some(0))
            && not_negative.all(|form| form.eval(values) >= Some(0))
    }

    #[test]
    fn equations_have_solutions_over_the_integers_or_not() {
        assert_eq!(system(&[[2, 4, 1]], &[]).solve(), Answer::None);
        let equation = system(&[[6, 10, 15, 1]], &[]);
        let Answer::Solution(solution) = equation.solve() else {
            panic!("6x + 10y + 15z = -1 has solutions");
        };
        assert!(holds(&equation, &solution), "{solution:?}");
    }

    /// Rational solutions are between integers: 27 <= 11x + 13y <= 45, -10 <= 7x - 9y <= 4 (Pugh's
    /// example, which has none).
    #[test]
    fn what_only_fractions_solve_has_no_solution() {
        let pugh = [[11, 13, -27], [-11, -13, 45], [7, -9, 10], [-7, 9, 4]];
        assert_eq!(system(&[], &pugh).solve(), Answer::None);
        assert_eq!(system(&[], &[[2, -1], [-2, 1]]).solve(), Answer::None);
    }

    #[test]
    fn what_has_no_bounds_may_stay_unknown_but_is_never_wrong() {
        assert_eq!(system::<2>(&[], &[]).solve(), Answer::Solution(vec![0]));
        let far = system(&[], &[[1, -1_000_000]]);
        assert_eq!(far.solve(), Answer::Solution(vec![1_000_000]));
        let large = i128::MAX / 2;
        let answer = system(&[[large, large - 1, 1]], &[[large, 1, 1]]).solve();
        assert!(answer != Answer::None);
    }

    /// Against all points of a box.
    #[test]
    fn answers_are_those_of_enumeration() {
        let mut random = Random::new(5);
        let mut row =
            |size: u64| [0; 4].map(|_: i32| random.below(2 * size + 1) as i128 - size as i128);
        for case in 0..20_000u32 {
            let equations: Vec<[i128; 4]> = (0..case % 3).map(|_| row(5)).collect();
            let mut inequalities: Vec<[i128; 4]> = (0..case / 3 % 4).map(|_| row(5)).collect();
            for v in 0..3 {
                for (sign, bound) in [(1, 3), (-1, 3)] {
                    let mut row = [0; 4];
                    (row[v], row[3]) = (sign, bound);
                    inequalities.push(row);
                }
            }
            let system = system(&equations, &inequalities);
            let points = (0..343).map(|n| [n % 7 - 3, n / 7 % 7 - 3, n / 49 - 3]);
            let has_solution = points.clone().any(|values| holds(&system, &values));
            match system.solve() {
                Answer::Solution(found) => assert!(holds(&system, &found), "{system:?}: {found:?}"),
                Answer::None => assert!(!has_solution, "{system:?}"),
                Answer::Unknown => panic!("{system:?} has small numbers"),
            }
        }
    }
}
