//! The end of a search: the best is measured once more, since whoever is the best of many may have been
//! lucky.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use super::{Evaluation, Run};
use crate::measure::Measure;
use crate::space::value::Configuration;

/// The name of such measurements, in the place of a technique's.
pub(super) const CONFIRMED: &str = "confirmed";

/// Rounds in which what was confirmed is measured beside each other.
const ROUNDS: usize = 2;

impl Run<'_> {
    /// Measures the default and the best once more, and, if the best was lucky, the next ones: until
    /// the one of least cost is confirmed, or so many were measured.
    pub(super) fn confirm(&mut self, measure: &mut dyn Measure, most: usize) {
        if most == 0 {
            return;
        }
        let works = |number: &usize| self.evaluations[*number].outcome.cost().is_some();
        if let Some(default) = self.default.filter(works) {
            self.again(measure, default, CONFIRMED);
            let last = self.evaluations.len() - 1;
            if self.evaluations[last].configuration == self.evaluations[default].configuration {
                self.default = Some(last);
            }
        }
        // What was confirmed in a search of before was so at another pace.
        let made = self.resumed;
        let is_confirmed = |own: &Evaluation| own.number >= made && own.technique == CONFIRMED;
        for _ in 0..most {
            match self.least(|_| true) {
                Some(best) if !is_confirmed(&self.evaluations[best]) => {
                    self.again(measure, best, CONFIRMED);
                }
                _ => break,
            }
            if self.failure.is_some() || self.interrupted.load(Ordering::Relaxed) {
                break;
            }
        }
        if self.interrupted.load(Ordering::Relaxed) {
            self.best = self.least(|_| true);
            return;
        }
        let confirmed = self.least(is_confirmed);
        self.best = confirmed.or_else(|| self.least(|_| true));
        if self.pace.is_kept() {
            self.take_turns(measure);
        }
    }

    /// Measures what was confirmed in turns, and takes what is the best of most rounds: the machine may have
    /// another pace a second later.
    fn take_turns(&mut self, measure: &mut dyn Measure) {
        let first: Vec<usize> = self.rounds().iter().map(|(_, round)| round[0]).collect();
        if first.len() < 2 {
            return;
        }
        for number in std::iter::repeat_n(first, ROUNDS).flatten() {
            self.again(measure, number, CONFIRMED);
            if self.failure.is_some() || self.interrupted.load(Ordering::Relaxed) {
                return;
            }
        }
        let default = self.default.map(|n| &self.evaluations[n].configuration);
        let rounds = self.rounds();
        let base = rounds.iter().find(|(own, _)| Some(*own) == default);
        let base = base.map(|(_, round)| round.clone()).unwrap_or_default();
        let cost = |number: usize| self.evaluations[number].outcome.cost();
        // Of each the round in the middle, by its cost over the default's of that round.
        let middle = |(own, round): &(&Configuration, Vec<usize>)| {
            let ratio = |(n, number): (usize, &usize)| {
                let beside = base.get(n).map_or(Some(1.0), |base| cost(*base))?;
                Some((cost(*number)? / beside, n, *number))
            };
            let mut ratios: Vec<_> = round.iter().enumerate().filter_map(ratio).collect();
            ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
            let is_sound = ratios.len() == round.len() && self.may_be_best(own);
            is_sound.then(|| ratios[ratios.len() / 2])
        };
        let least = rounds.iter().filter_map(middle);
        let least = least.min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, n, best)) = least {
            self.best = Some(best);
            self.default = base.get(n).copied().or(self.default);
        }
    }

    /// The configurations that were confirmed, each with its evaluations.
    fn rounds(&self) -> Vec<(&Configuration, Vec<usize>)> {
        let mut found: Vec<(&Configuration, Vec<usize>)> = Vec::new();
        let made = self.evaluations[self.resumed..].iter();
        for one in made.filter(|one| one.technique == CONFIRMED) {
            match found.iter_mut().find(|(own, _)| *own == &one.configuration) {
                Some((_, round)) => round.push(one.number),
                None => found.push((&one.configuration, vec![one.number])),
            }
        }
        found
    }

    /// Makes an evaluation once more.
    pub(super) fn again(&mut self, measure: &mut dyn Measure, evaluation: usize, name: &str) {
        // It was made from such a candidate.
        if let Some(candidate) = self.candidate(&self.evaluations[evaluation].configuration) {
            self.evaluate(measure, vec![candidate], name);
        }
    }

    /// The evaluation of least cost, of those that are chosen, and may be: of each configuration the
    /// last one counts, and none if it has ever failed for a reason that stays.
    fn least(&self, choose: impl Fn(&Evaluation) -> bool) -> Option<usize> {
        let mut last: HashMap<&Configuration, usize> = HashMap::new();
        let mut failed: HashSet<&Configuration> = HashSet::new();
        let may_be_best = |own: &&Evaluation| self.may_be_best(&own.configuration);
        for evaluation in self.evaluations.iter().filter(may_be_best) {
            last.insert(&evaluation.configuration, evaluation.number);
            let failure = evaluation.outcome.failure();
            if failure.is_some_and(|kind| !kind.is_transient()) {
                failed.insert(&evaluation.configuration);
            }
        }
        let sound = last.into_iter().filter(|(own, _)| !failed.contains(own));
        let costs = sound
            .map(|(_, number)| number)
            .filter(|number| choose(&self.evaluations[*number]))
            .filter_map(|number| Some((self.paced(number)?, number)));
        costs
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|(_, number)| number)
    }
}
