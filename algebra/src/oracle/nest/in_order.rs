//! Accumulators of nests that go in order, in the exact world and in those beside it.

use super::super::element::{Element, distance, moved};
use crate::nest::Chain;
use crate::random::hash;
use crate::scalar::Scalar;

/// So many worlds a nest that goes in order runs in besides the exact one.
const WORLDS: u64 = 16;
/// Bounds are so many times what the worlds are apart.
const SPREAD: f64 = 4.0;

/// Holds what comes together in order, of each output in each cell.
pub(super) struct InOrder {
    pub(super) values: Vec<Vec<Scalar>>,
    /// The same in each world; nothing as long as they are all alike.
    pub(super) worlds: Vec<Vec<Vec<Scalar>>>,
    pub(super) uncertain: Vec<Vec<bool>>,
    /// Outputs that it is about: others combine in any order, and are left to that.
    pub(super) is_own: Vec<bool>,
}

impl InOrder {
    pub(super) fn new(
        before: &[Vec<Element>],
        tensor: impl Fn(usize) -> u64,
        is_parted: bool,
        chains: &[Option<Chain>],
    ) -> InOrder {
        let cells = |cells: &Vec<Element>| cells.iter().map(|e| e.value).collect();
        let uncertain = |cells: &Vec<Element>| cells.iter().map(Element::is_arbitrary).collect();
        let mut state = InOrder {
            values: before.iter().map(cells).collect(),
            worlds: Vec::new(),
            uncertain: before.iter().map(uncertain).collect(),
            is_own: (0..before.len())
                .map(|n| !matches!(chains.get(n), Some(Some(_))))
                .collect(),
        };
        let is_exact = before.iter().flatten().all(|e| e.error == 0.0);
        if is_parted || !is_exact {
            state.part();
        }
        for (world, outputs) in state.worlds.iter_mut().enumerate() {
            for (n, (places, elements)) in outputs.iter_mut().zip(before).enumerate() {
                for (flat, (place, element)) in places.iter_mut().zip(elements).enumerate() {
                    *place = moved(*element, hash([tensor(n), flat as u64]), world as u64);
                }
            }
        }
        state
    }

    /// From now on worlds may differ.
    pub(super) fn part(&mut self) {
        self.worlds = vec![self.values.clone(); WORLDS as usize];
    }

    pub(super) fn finish(self) -> Vec<Vec<Element>> {
        let element = |n: usize, cell: usize, value: Scalar| {
            let worlds = self.worlds.iter();
            let off = worlds.map(|world| distance(world[n][cell], value));
            let error = match self.uncertain[n][cell] {
                true => f64::INFINITY,
                false => SPREAD * off.fold(0.0, f64::max),
            };
            Element { value, error }
        };
        let outputs = self.values.iter().enumerate();
        outputs
            .map(|(n, cells)| {
                let cells = cells.iter().enumerate();
                cells
                    .map(|(cell, value)| element(n, cell, *value))
                    .collect()
            })
            .collect()
    }
}
