//! Linear forms: sums of multiples of numbered variables, and a constant.
//!
//! Arithmetic is checked: what leaves the range of the numbers is `None`.

use std::ops::Neg;

/// The numbers of a form: 64 bits where its values are indices, 128 where eliminating variables
/// multiplies coefficients.
pub trait Integer: Copy + Ord + Default + From<i64> + Neg<Output = Self> {
    /// The sum, if it is in range.
    fn add(self, other: Self) -> Option<Self>;
    /// The product, if it is in range.
    fn mul(self, other: Self) -> Option<Self>;
    /// The quotient, rounded down, and the remainder of a division by something positive.
    fn divide(self, divisor: Self) -> (Self, Self);
}

macro_rules! integers {
    ($($of:ty)*) => {$(
        impl Integer for $of {
            fn add(self, other: Self) -> Option<Self> {
                self.checked_add(other)
            }

            fn mul(self, other: Self) -> Option<Self> {
                self.checked_mul(other)
            }

            fn divide(self, divisor: Self) -> (Self, Self) {
                (self.div_euclid(divisor), self.rem_euclid(divisor))
            }
        }
    )*};
}

integers!(i64 i128);

/// `sum coefficients[v] * v + constant`; variables beyond the coefficients do not occur.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Form<N = i128> {
    /// One for each of the first variables.
    pub coefficients: Vec<N>,
    /// The constant term.
    pub constant: N,
}

impl<N: Integer> Form<N> {
    /// A number.
    pub fn constant(constant: N) -> Self {
        let coefficients = Vec::new();
        Form {
            coefficients,
            constant,
        }
    }

    /// A variable.
    pub fn variable(variable: usize) -> Self {
        let mut coefficients = vec![N::default(); variable + 1];
        coefficients[variable] = N::from(1);
        Form::linear(coefficients)
    }

    /// The sum of so many times each variable.
    pub fn linear(coefficients: Vec<N>) -> Self {
        let constant = N::default();
        Form {
            coefficients,
            constant,
        }
    }

    /// `self + factor * other`; `None` if it overflows.
    pub fn plus(&self, factor: N, other: &Self) -> Option<Self> {
        self.clone().add(factor, other)
    }

    /// The same of a form that nobody else needs.
    pub fn add(mut self, factor: N, other: &Self) -> Option<Self> {
        if self.coefficients.len() < other.coefficients.len() {
            let length = other.coefficients.len();
            self.coefficients.resize(length, N::default());
        }
        for (a, b) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *a = a.add(factor.mul(*b)?)?;
        }
        self.constant = self.constant.add(factor.mul(other.constant)?)?;
        Some(self)
    }

    /// `factor * self`; `None` if it overflows.
    pub fn times(mut self, factor: N) -> Option<Self> {
        for c in self.coefficients.iter_mut().chain([&mut self.constant]) {
            *c = c.mul(factor)?;
        }
        Some(self)
    }

    /// `self / divisor`, rounded down, and the remainder, if that is the same for all values of the
    /// variables.
    pub fn divided(&self, divisor: N) -> Option<(Self, N)> {
        let exactly = |c: &N| {
            let (quotient, rest) = c.divide(divisor);
            (rest == N::default()).then_some(quotient)
        };
        let coefficients = self.coefficients.iter().map(exactly);
        let (constant, rest) = self.constant.divide(divisor);
        let quotient = Form {
            coefficients: coefficients.collect::<Option<_>>()?,
            constant,
        };
        Some((quotient, rest))
    }

    /// Its value if it is a number.
    pub fn as_constant(&self) -> Option<N> {
        let is_constant = self.terms().next().is_none();
        is_constant.then_some(self.constant)
    }

    /// Its value for these of the variables.
    #[inline]
    pub fn eval(&self, values: &[N]) -> Option<N> {
        let mut sum = self.constant;
        for (c, value) in self.coefficients.iter().zip(values) {
            if *c != N::default() {
                sum = sum.add(c.mul(*value)?)?;
            }
        }
        Some(sum)
    }

    /// The coefficient of a variable.
    pub fn coefficient(&self, variable: usize) -> N {
        let coefficient = self.coefficients.get(variable);
        coefficient.copied().unwrap_or_default()
    }

    /// The variables that occur, with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (usize, N)> + '_ {
        terms(&self.coefficients)
    }
}

/// The coefficients that are not 0, with their variables.
pub fn terms<N: Integer>(coefficients: &[N]) -> impl Iterator<Item = (usize, N)> + '_ {
    coefficients
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, c)| *c != N::default())
}
