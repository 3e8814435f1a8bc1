//! The shape *tiles*: a block copies tiles of two inputs to shared memory, and each of its threads
//! keeps the results of a few points in registers.

use super::draft::{Draft, all, fixed};
use super::{BLOCKS, Model, QUAD, REUSE};
use crate::choose::views::{View, view_moves};
use crate::numbers::ceil_div;
use crate::{Parts, Step};

/// The fewest steps of a block's part of a sum: what others do of it takes longer than another kernel.
const STEPS: i64 = 16;

impl Model<'_> {
    /// The same where there are few blocks: several share a long sum.
    pub(super) fn shared_sums(&self) -> Option<Draft> {
        let mut draft = self.tiles()?;
        let parts = |d: usize| {
            let is_inner = |layer: &str| !matches!(layer, "device" | "block");
            let inner = draft.layers.iter().filter(|(layer, _)| is_inner(layer));
            let own = inner
                .flat_map(|(_, parts)| parts)
                .filter(|(of, _)| *of == d);
            let own = own.map(|(_, parts)| match parts {
                Parts::Fixed(n) => *n,
                Parts::Derived => 1,
            });
            own.product::<i64>()
        };
        let (_, cut) = draft.stage_at?;
        let along = self.kept.iter().map(|d| ceil_div(self.size(*d), parts(*d)));
        let blocks = along.fold(1, i64::saturating_mul);
        let steps = ceil_div(self.size(cut), parts(cut));
        let split = (BLOCKS / blocks).min(steps / STEPS);
        if split < 2 {
            return None;
        }
        let split = 1 << split.ilog2();
        let of = draft
            .layers
            .iter_mut()
            .find(|(layer, _)| *layer == "block")?;
        of.1.push((cut, Parts::Fixed(split)));
        let inside = draft
            .order
            .iter()
            .position(|(layer, _)| *layer != "block")?;
        draft.order.insert(inside, ("block", cut));
        draft.reason += &format!(", and {split} blocks share a sum");
        Some(draft)
    }

    pub(super) fn tiles(&self) -> Option<Draft> {
        if self.sums.is_empty() || !self.scans.is_empty() || self.kept.len() < 2 {
            return None;
        }
        let x = self.kept[0];
        let moves = |view: &View, d: usize| view_moves(view, d);
        let along = |d: usize, not: usize| {
            let mut inputs = self.copied();
            inputs.find(|view| moves(view, d) && !moves(view, not))
        };
        // The other dimension of a tile is one of many points, along which other inputs move.
        let can = |y: &&usize| {
            **y != x
                && self.size(**y) >= REUSE
                && along(x, **y).is_some()
                && along(**y, x).is_some()
        };
        let y = *self
            .kept
            .iter()
            .filter(can)
            .max_by_key(|y| self.size(**y))?;
        if self.size(x) < REUSE {
            return None;
        }
        let (of_x, of_y) = (along(x, y)?, along(y, x)?);
        // What is cut into parts is what both depend on.
        let both = |k: &&usize| moves(of_x, **k) && moves(of_y, **k);
        let cut = *self
            .sums
            .iter()
            .filter(both)
            .max_by_key(|k| self.size(**k))?;
        let mut threads = [self.at_most(x, 16), self.at_most(y, 16)];
        let register = |d: usize, threads: i64, most: i64| {
            self.at_most(d, threads * most).div_euclid(threads).max(1)
        };
        let mut each = [register(x, threads[0], 4), register(y, threads[1], 8)];
        let rest: Vec<usize> = self
            .kept
            .iter()
            .copied()
            .filter(|d| *d != x && *d != y)
            .collect();
        // Few large blocks leave a device idle, and many threads hide what smaller tiles wait for.
        let blocks = |threads: [i64; 2], each: [i64; 2]| {
            let along = |n: usize, d: usize| ceil_div(self.size(d), threads[n] * each[n]);
            along(0, x)
                .saturating_mul(along(1, y))
                .saturating_mul(self.points_of(&rest))
        };
        while blocks(threads, each) < BLOCKS && each[0] * each[1] > 4 {
            let n = usize::from(each[1] > each[0] || each[0] == 1);
            each[n] /= 2;
        }
        while threads[0] * threads[1] < 64 && each[0] * each[1] > 4 {
            let n = usize::from(self.size(y) > threads[1] * each[1] || each[0] == 1);
            if each[n] == 1 {
                break;
            }
            (threads[n], each[n]) = (threads[n] * 2, each[n] / 2);
        }
        // In registers: what lies in a row of an input that is read along what is cut.
        let most = self.at_most(cut, 4 * QUAD);
        let quad = if most >= 2 * QUAD { QUAD } else { 1 };
        let depth = most / quad;
        // Small sums and small tiles are not worth a copy.
        if depth < 2 || each[0] * each[1] * quad == 1 {
            return None;
        }
        let mut draft = Draft {
            layers: vec![
                ("device", self.derived(&self.sums)),
                ("block", self.blocks()),
                ("shared", fixed(&[(cut, depth)])),
                ("thread", fixed(&[(x, threads[0]), (y, threads[1])])),
                (
                    "register",
                    fixed(&[(y, each[1]), (x, each[0]), (cut, quad)]),
                ),
            ],
            axes: vec![x, y],
            reason: format!(
                "blocks of {} x {} points of '{}' and '{}' read {} points of '{}' at a time \
                 from shared memory, each thread has {} x {} results in registers",
                threads[1] * each[1],
                threads[0] * each[0],
                self.name(y),
                self.name(x),
                depth * quad,
                self.name(cut),
                each[1],
                each[0]
            ),
            ..Draft::default()
        };
        for view in self.copied() {
            // A thread reads several points of one of these at once.
            let along = match (moves(view, x), moves(view, y)) {
                (true, false) => x,
                (false, true) => y,
                _ => continue,
            };
            if moves(view, cut) {
                draft
                    .staged
                    .insert(view.buffer, self.in_rows(view, [along, cut]));
            }
        }
        if draft.staged.len() < 2 {
            return None;
        }
        // Long sums are cut outermost, short ones are inside of them.
        let mut outer = self.sums.clone();
        outer.sort_by_key(|k| *k == cut);
        draft.order = all("block", &self.kept);
        draft.order.extend([("thread", y), ("thread", x)]);
        let first = draft.order.len();
        draft.order.extend(all("device", &outer));
        draft.sum_at = draft.order.get(first).copied();
        draft.order.push(("shared", cut));
        draft
            .order
            .extend([("register", y), ("register", x), ("register", cut)]);
        draft.stage_at = Some(("shared", cut));
        Some(draft)
    }

    /// Layout of a tile in shared memory: the last axis is one along which a thread reads several
    /// points, as it is in the buffer if that can be. Rows that neighbouring threads read are a few
    /// banks apart.
    fn in_rows(&self, view: &View, [kept, cut]: [usize; 2]) -> Vec<Step> {
        let axes = view.axes.as_deref().unwrap_or_default();
        let Some(last) = axes.last() else {
            return Vec::new();
        };
        if last.coefficients[kept] != 0 {
            return Vec::new();
        }
        let mut pads = vec![0; axes.len()];
        pads[axes.len() - 1] = QUAD;
        let padded = Step::Padded(pads);
        let of = axes.iter().rposition(|form| form.coefficients[kept] != 0);
        match of {
            Some(axis) if last.coefficients[cut] == 0 => {
                let mut order: Vec<usize> = (1..=axes.len()).filter(|a| *a != axis + 1).collect();
                order.push(axis + 1);
                vec![Step::Permuted(order), padded]
            }
            _ => vec![padded],
        }
    }
}
