//! Running combinations in associations that compiled code may have.

use super::{Fold, State};
use crate::machine::Noise;
use crate::operator::{Operator, UserOperator};
use crate::scalar::Scalar;

/// The order in which a chunk of running combinations is combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    LeftToRight,
    Doubling,
}

impl Fold<'_> {
    /// For each state the scanned shadows; nothing if there are none.
    pub(super) fn chunked_shadows(&mut self, states: &mut [State]) -> Vec<Vec<Vec<Scalar>>> {
        let Some(Operator::User(user)) = self.operator else {
            return Vec::new();
        };
        let mut all_present = self.associations > 0;
        for state in states.iter_mut() {
            match state {
                State::User(state) => self.settle(user, state),
                _ => all_present = false,
            }
        }
        if !all_present {
            return Vec::new();
        }
        let mut scanned: Vec<Vec<Vec<Scalar>>> = vec![Vec::new(); states.len()];
        for shadow in 0..self.associations {
            let column: Vec<&[Scalar]> = (states.iter())
                .map(|s| match s {
                    State::User(s) => s.shadows[shadow].as_slice(),
                    _ => &[],
                })
                .collect();
            self.noisy.set_noise(Some(Noise::Library(shadow as u64)));
            let order = match shadow % 2 {
                0 => Within::LeftToRight,
                _ => Within::Doubling,
            };
            let scans = self.chunked_scan(user, &column, 1 << (shadow / 2 % 8), order);
            for (place, scan) in scanned.iter_mut().zip(scans) {
                place.push(scan);
            }
        }
        scanned
    }

    /// The running combinations, in chunks: each by itself, from left to right or (as lanes do) in
    /// steps of doubled distance, then with all that is before it.
    fn chunked_scan(
        &mut self,
        user: &UserOperator,
        column: &[&[Scalar]],
        length: usize,
        order: Within,
    ) -> Vec<Vec<Scalar>> {
        let mut scans: Vec<Vec<Scalar>> = Vec::with_capacity(column.len());
        let mut rest = column;
        while !rest.is_empty() {
            let next = match order {
                Within::LeftToRight => 1 + self.random.below(2 * length as u64) as usize,
                Within::Doubling => length,
            };
            let (chunk, others) = rest.split_at(next.min(rest.len()));
            rest = others;
            let mut local: Vec<Vec<Scalar>> = chunk.iter().map(|tuple| tuple.to_vec()).collect();
            match order {
                Within::LeftToRight => {
                    for n in 1..local.len() {
                        local[n] = self.noisy_apply(user, &local[n - 1], &local[n]);
                    }
                }
                Within::Doubling => {
                    let distances = (0..usize::BITS).map(|step| 1usize << step);
                    for distance in distances.take_while(|d| *d < chunk.len()) {
                        for n in (distance..local.len()).rev() {
                            local[n] = self.noisy_apply(user, &local[n - distance], &local[n]);
                        }
                    }
                }
            }
            if let Some(carry) = scans.last().cloned() {
                for tuple in &mut local {
                    *tuple = self.noisy_apply(user, &carry, tuple);
                }
            }
            scans.extend(local);
        }
        scans
    }
}
