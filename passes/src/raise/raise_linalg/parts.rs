//! Accumulators of one body that have nothing to do with each other: each group of coupled ones has an
//! operator of its own, with its own laws.
//!
//! An arg-min beside a sum is a choice on pairs and an addition. Both together are an operator on triples,
//! which has the laws that both have.

use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Region, ValueLike};

use super::accumulate::Body;
use super::operators::{Law, Operator, Own, append, dependent, key, tuples};
use super::steps::{Family, Step};
use crate::support::region;

/// The operator of one part: one of each accumulator, which is still in its chain, or one on tuples.
enum Found<'c> {
    Chains(Vec<Vec<Step<'c>>>),
    Tuples(Own<'c>),
}

impl<'c> Body<'_, 'c> {
    /// The operators of independent parts as one on tuples, if there are several parts, and each is an
    /// operator. Leaves the elements as `yields` then, and the body as it was otherwise.
    pub fn in_parts(&mut self) -> Option<Own<'c>> {
        let parts = self.independent();
        if parts.len() < 2 {
            return None;
        }
        let inputs_of = |part: &Vec<usize>| {
            let accumulators: Vec<Val> = part.iter().map(|n| self.accumulators[*n]).collect();
            let starts: Vec<Option<Scalar>> = part.iter().map(|n| self.starts[*n]).collect();
            (accumulators, starts)
        };
        let owned: Vec<_> = parts.iter().map(inputs_of).collect();
        let mut forms = Vec::new();
        for (part, (accumulators, starts)) in parts.iter().zip(&owned) {
            let mut body = Body {
                block: self.block,
                accumulators,
                starts,
                yields: part.iter().map(|n| self.yields[*n]).collect(),
                paired: None,
                loops: self.loops,
                wanted: None,
            };
            let form = match body.chains() {
                Some(chains) => Found::Chains(chains),
                None => match body.of_a_known_form() {
                    Some(tuples) => Found::Tuples(tuples),
                    None => Found::Tuples(body.on_tuples().ok()?),
                },
            };
            forms.push((body, form));
        }
        let mut whole = WholeOperator::new(self.accumulators);
        for (part, (mut body, form)) in parts.iter().zip(forms) {
            let pieces = match form {
                Found::Chains(chains) => body.pieced(&chains),
                Found::Tuples(tuples) => tuples,
            };
            for (n, element) in part.iter().zip(&body.yields) {
                self.yields[*n] = *element;
            }
            whole.take(part, pieces);
        }
        Some(whole.finish())
    }

    /// The numbers of accumulators that depend on each other, in their order.
    fn independent(&self) -> Vec<Vec<usize>> {
        let reached: Vec<_> = (self.accumulators.iter())
            .map(|one| dependent(self.block, &[*one]))
            .collect();
        let depends = |n: usize, m: usize| reached[m].contains(&key(self.yields[n]));
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for n in 0..self.accumulators.len() {
            let (mut met, others): (Vec<_>, Vec<_>) = parts
                .into_iter()
                .partition(|part| part.iter().any(|m| depends(n, *m) || depends(*m, n)));
            met.push(vec![n]);
            let mut met = met.concat();
            met.sort_unstable();
            parts = others;
            parts.push(met);
        }
        parts.sort();
        parts
    }

    /// The operator of chains as code on tuples.
    fn pieced(&mut self, chains: &[Vec<Step<'c>>]) -> Own<'c> {
        let families: Vec<Family> = chains.iter().map(|chain| chain[0].family).collect();
        match self.separate(chains) {
            Operator::Own(own) => own,
            Operator::Builtin(operators) => Own {
                code: self.pieces(&families),
                name: String::new(),
                associative: Law::Holds,
                commutative: Law::Holds,
                from_neutral: self.are_neutral(&operators),
            },
        }
    }

    /// Returns whether accumulators start from the neutral elements of these operators.
    fn are_neutral(&self, operators: &[Builtin]) -> bool {
        let mut triples = operators.iter().zip(self.accumulators).zip(self.starts);
        triples.all(|((operator, accumulator), start)| {
            let ty = types::scalar_type(accumulator.r#type());
            let neutral = ty.and_then(|ty| operator.neutral(ty));
            start.is_some() && *start == neutral
        })
    }
}

/// The code of several operators, on all accumulators.
struct WholeOperator<'c> {
    code: Region<'c>,
    location: Location<'c>,
    arguments: Vec<Val<'c>>,
    results: Vec<Option<Val<'c>>>,
    associative: Law,
    commutative: Law,
    from_neutral: bool,
}

impl<'c> WholeOperator<'c> {
    fn new(accumulators: &[Val<'c>]) -> Self {
        let (code, arguments) = tuples(accumulators);
        WholeOperator {
            code,
            location: Location::unknown(ir::context_of_value(accumulators[0])),
            arguments,
            results: vec![None; accumulators.len()],
            associative: Law::Holds,
            commutative: Law::Holds,
            from_neutral: true,
        }
    }

    /// Adds an operator on some of the accumulators.
    fn take(&mut self, part: &[usize], own: Own<'c>) {
        let count = self.results.len();
        let places = part.iter().copied().chain(part.iter().map(|n| n + count));
        let given: Vec<Val> = places.map(|n| self.arguments[n]).collect();
        let results = append(&self.code, &own.code, &given);
        for (n, result) in part.iter().zip(results) {
            self.results[*n] = Some(result);
        }
        self.location = region::terminator(region::block(&own.code)).location();
        if self.associative.holds() {
            self.associative = own.associative;
        }
        if self.commutative.holds() {
            self.commutative = own.commutative;
        }
        self.from_neutral &= own.from_neutral;
    }

    fn finish(self) -> Own<'c> {
        let results: Vec<Val> = self.results.into_iter().flatten().collect();
        region::yield_from(region::block(&self.code), self.location, &results);
        Own {
            code: self.code,
            name: "parts".into(),
            associative: self.associative,
            commutative: self.commutative,
            from_neutral: self.from_neutral,
        }
    }
}
