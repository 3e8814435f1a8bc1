//! The end of a search: the best is measured once more, since whoever is the best of many may have been
//! lucky.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Evaluation, Run, StopReason};
use crate::measure::Measure;
use crate::space::value::Configuration;

/// The name of such measurements, in the place of a technique's.
pub(super) const CONFIRMED: &str = "confirmed";

/// Rounds in which what was confirmed is measured beside each other.
const ROUNDS: usize = 2;

impl Run<'_> {
    /// The time that is left for it at the end of a search: that of measuring the default and the best in
    /// each round, but at most half of all.
    pub(super) fn confirmation(&self) -> Duration {
        let limit = self.abort.latest().filter(|_| !self.is_confirming);
        let (Some(limit), 1..) = (limit, self.confirmations) else {
            return Duration::ZERO;
        };
        let configuration_of = |number: usize| &self.evaluations[number].configuration;
        let mut round: Vec<_> = [self.default, self.best]
            .into_iter()
            .flatten()
            .map(configuration_of)
            .collect();
        round.dedup();
        let times = round
            .iter()
            .map(|configuration| self.time_of(configuration));
        let rounds = if self.pace.is_kept() { 1 + ROUNDS } else { 1 };
        let total = times.sum::<Duration>() * rounds as u32;
        total.min(limit / 2)
    }

    /// The time of measuring a configuration: that of the last time in this search, or, of one that was measured in
    /// another one only, the longest that any has taken in this one.
    fn time_of(&self, configuration: &Configuration) -> Duration {
        let made = self.evaluations[self.resumed..].iter();
        let mut matching = made.filter(|e| e.configuration == *configuration);
        let took = matching.next_back().map(|e| self.took[e.number]);
        let longest = || self.took[self.resumed..].iter().copied().max();
        took.or_else(longest).unwrap_or_default()
    }

    /// Chooses the best at the end of a search, and returns the reason for the end.
    pub(super) fn choose(&mut self, measure: &mut dyn Measure, stop: StopReason) -> StopReason {
        if stop != StopReason::Interrupted && stop.error().is_none() {
            self.is_confirming = true;
            if self.confirmations > 0 && !self.evaluations.is_empty() {
                self.tell();
            }
            self.confirm(measure);
        }
        if let Some(best) = self.best.filter(|_| self.failure.is_none()) {
            let chosen = self.keep.choose(&self.evaluations[best]);
            self.failure = chosen.err().map(StopReason::NotKept);
        }
        // Also where the interrupt has cut the confirmation short.
        match (&self.failure, self.interrupted.load(Ordering::Relaxed)) {
            (Some(failure), _) => failure.clone(),
            (None, true) => StopReason::Interrupted,
            (None, false) => stop,
        }
    }

    /// Measures the default and the best once more, and, if the best was lucky, the next ones: until
    /// the one of least cost is confirmed, or so many were measured, or the time is over.
    fn confirm(&mut self, measure: &mut dyn Measure) {
        if self.confirmations == 0 {
            return;
        }
        let works = |number: &usize| self.evaluations[*number].outcome.cost().is_some();
        let default = self.default.filter(works);
        let mut first: Vec<usize> = default.into_iter().chain(self.least(|_| true)).collect();
        first.dedup_by_key(|number| &self.evaluations[*number].configuration);
        if !self.is_cut() {
            self.again(measure, &first, CONFIRMED);
        }
        if let Some(default) = default {
            let configuration = &self.evaluations[default].configuration;
            let last = self
                .evaluations
                .iter()
                .rposition(|e| e.configuration == *configuration);
            self.default = last.or(self.default);
        }
        // What was confirmed in a search of before was so at another pace.
        let made = self.resumed;
        let is_confirmed = |evaluation: &Evaluation| {
            evaluation.number >= made && evaluation.technique == CONFIRMED
        };
        for _ in 1..self.confirmations {
            match self.least(|_| true) {
                Some(best) if !self.is_cut() && !is_confirmed(&self.evaluations[best]) => {
                    self.again(measure, &[best], CONFIRMED);
                }
                _ => break,
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

    /// Returns whether nothing more can be measured.
    fn is_cut(&mut self) -> bool {
        let is_over = |limit| self.clock.now() >= limit;
        let is_over = self.abort.latest().is_some_and(is_over);
        is_over || self.failure.is_some() || self.interrupted.load(Ordering::Relaxed)
    }

    /// Measures what was confirmed in turns, and takes what is the best of most rounds: the machine may have
    /// another pace a second later.
    fn take_turns(&mut self, measure: &mut dyn Measure) {
        let first: Vec<usize> = self.rounds().iter().map(|(_, round)| round[0]).collect();
        if first.len() < 2 {
            return;
        }
        for _ in 0..ROUNDS {
            if !self.is_cut() {
                self.again(measure, &first, CONFIRMED);
            }
        }
        let default = self.default.map(|n| &self.evaluations[n].configuration);
        let mut rounds = self.rounds();
        // The last one may have been cut short.
        let whole = rounds.iter().map(|(_, round)| round.len()).min();
        for (_, round) in &mut rounds {
            round.truncate(whole.unwrap_or_default());
        }
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
        let mut rounds: Vec<(&Configuration, Vec<usize>)> = Vec::new();
        let made = self.evaluations[self.resumed..].iter();
        for evaluation in made.filter(|evaluation| evaluation.technique == CONFIRMED) {
            match rounds
                .iter_mut()
                .find(|(configuration, _)| *configuration == &evaluation.configuration)
            {
                Some((_, round)) => round.push(evaluation.number),
                None => rounds.push((&evaluation.configuration, vec![evaluation.number])),
            }
        }
        rounds
    }

    /// Makes evaluations once more.
    pub(super) fn again(&mut self, measure: &mut dyn Measure, numbers: &[usize], name: &str) {
        // They were made from such candidates.
        let configurations = numbers
            .iter()
            .map(|number| &self.evaluations[*number].configuration);
        let candidates = configurations.filter_map(|c| self.candidate(c)).collect();
        self.evaluate(measure, candidates, name);
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
